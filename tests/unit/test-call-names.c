/*
 * Unit tests of what keys and call sites of a process mean: of a module that is this very program,
 * with an image of it.
 */
#include "check.h"
#include "scratch.h"

#include "record/call-names.h"

#include <fcntl.h>

#include "region-writer.h"

enum { FIRST_ID = 100, AREA = 0x500000, START = 0x7f0000000000 };

/* The session's modules with this program as its one, whose image is made, and a process's names.
 */
struct names {
	struct dw_profile p;
	struct dw_call_modules modules;
	struct dw_module_image *image;
	struct dw_call_methods methods;
	struct dw_call_names n;
	struct dw_region_names callbacks;
	struct region_writer w;
};

static void open_names(struct names *x)
{
	struct dw_image_plan plan = {.session_dir = "images", .probes = DWELL_PROBES_TIME};
	struct dw_region_process process = {.uid = geteuid(), .gid = getegid()};
	struct dw_call_module *module;
	struct dw_region_module *m;
	struct dw_region_head head;

	*x = (struct names){.modules.p = &x->p,
			    .n = {.modules = &x->modules, .methods = &x->methods}};
	dw_call_methods_init(&x->methods, &x->p);
	x->image = dw_module_image_new(open("/proc/self/exe", O_RDONLY | O_CLOEXEC), "/bin/self",
				       geteuid(), getegid());
	if (!x->image)
		abort();
	x->image->probes = plan.probes;
	dw_module_image_make(x->image, &plan);
	x->image->state = x->image->rc ? DWELL_IMAGE_NONE : DWELL_IMAGE_READY;
	x->w = region_write(".", "region", 0);
	m = &x->w.h->modules[0];
	*m = (struct dw_region_module){.state = DWELL_MODULE_CLONED,
				       .start = START,
				       .bytes = 1 << 30,
				       .area = START + AREA,
				       .headers_hash = 7,
				       .first_id = FIRST_ID,
				       .ids_n = x->image->header.functions.n +
						x->image->header.imports.n,
				       .path = "/bin/self"};
	x->w.h->module_n = 1;
	module = dw_call_modules_add(&x->modules, m, "/bin/self",
				     open("/proc/self/exe", O_RDONLY | O_CLOEXEC), &process);
	if (!module || dw_region_read_head(x->w.fd, &head) ||
	    dw_call_names_update(&x->n, x->w.fd, &head))
		abort();
	module->image = x->image;
	x->callbacks = dw_call_names_of(&x->n);
}

static void close_names(struct names *x)
{
	region_leave(&x->w);
	unlink("region");
	dw_call_names_release(&x->n);
	dw_call_methods_release(&x->methods);
	dw_call_modules_release(&x->modules);
	dw_module_image_free(x->image);
	dw_profile_release(&x->p);
}

static const struct dw_frame *frame_of(const struct names *x, uint32_t id)
{
	static const struct dw_frame none = {.module = UINT32_MAX};
	const struct dw_frame *f = dw_frames_get(&x->p.frames, id);

	return f ? f : &none;
}

TEST(functions_are_frames_of_their_module)
{
	struct names x;
	uint32_t frame, again;
	bool is_external = true;

	open_names(&x);
	CHECK_INT(x.image->state, DWELL_IMAGE_READY);
	CHECK_INT(x.callbacks.callee(x.callbacks.ctx, FIRST_ID + 3, &frame, &is_external), 0);
	CHECK(!is_external);
	CHECK_INT(frame_of(&x, frame)->module, 1);
	CHECK_INT(frame_of(&x, frame)->svma, x.image->start + x.image->functions[3].start);
	CHECK_INT(x.callbacks.callee(x.callbacks.ctx, FIRST_ID + 3, &again, &is_external), 0);
	CHECK_INT(again, frame);
	close_names(&x);
}

TEST(addresses_and_strangers)
{
	struct names x;
	uint32_t frame;
	bool is_external = false;

	open_names(&x);
	CHECK_INT(x.callbacks.callee(x.callbacks.ctx, DWELL_KEY_ADDRESS | (START + 0x1234), &frame,
				     &is_external),
		  0);
	CHECK(is_external);
	CHECK_INT(frame_of(&x, frame)->svma, x.image->start + 0x1234);
	CHECK_INT(
		x.callbacks.callee(x.callbacks.ctx, DWELL_KEY_ADDRESS | 0x77, &frame, &is_external),
		0);
	CHECK_INT(frame_of(&x, frame)->module, 0);
	CHECK_INT(x.callbacks.callee(x.callbacks.ctx, 5, &frame, &is_external), 0);
	CHECK_INT(frame, 0);
	CHECK(is_external);
	close_names(&x);
}

TEST(all_bytes_of_a_clone_come_from_its_instructions)
{
	struct names x;
	const struct dw_clone_function_entry *f = NULL;
	struct dw_clone_origin origin, last = {0};
	struct dw_clone_map map;
	uint32_t instructions = 0;

	open_names(&x);
	for (uint32_t i = 0; i < x.image->header.functions.n; i++)
		if (!f || x.image->functions[i].clone_bytes > f->clone_bytes)
			f = &x.image->functions[i];
	CHECK_INT(dw_clone_map_load(&map, x.image->image, &x.image->header, x.image->functions), 0);
	for (uint32_t i = 0; i < f->clone_bytes; i++) {
		CHECK_INT(dw_clone_map_find(&map, f->clone_at + i, &origin), 0);
		if (!i || last.behind == 0) {
			CHECK_INT(origin.at, i ? last.at + last.bytes : f->start);
			instructions++;
		} else {
			CHECK_INT(origin.at, last.at);
			CHECK_INT(origin.behind, last.behind - 1);
		}
		last = origin;
	}
	CHECK(instructions > 64); /* further than the marks of walks are apart */
	CHECK_INT(last.behind, 0);
	CHECK_INT(last.at + last.bytes, f->start + f->bytes);
	dw_clone_map_release(&map);
	close_names(&x);
}

TEST(probes_at_entries_are_known)
{
	struct names x;
	struct dw_clone_map map;
	uint32_t probed = 0;

	open_names(&x);
	CHECK_INT(dw_clone_map_load(&map, x.image->image, &x.image->header, x.image->functions), 0);
	for (uint32_t i = 0; i < x.image->header.functions.n; i++) {
		const struct dw_clone_function_entry *f = &x.image->functions[i];

		if (!f->clone_at)
			continue;
		CHECK(!dw_clone_map_is_probe(&map, i, f->clone_at + f->prefix_bytes));
		CHECK(!dw_clone_map_is_probe(&map, i, f->clone_at - 1));
		if (!(f->flags & DWELL_CLONE_PROBED))
			continue;
		CHECK(f->prefix_bytes && dw_clone_map_is_probe(&map, i, f->clone_at));
		CHECK(dw_clone_map_is_probe(&map, i, f->clone_at + f->prefix_bytes - 1u));
		probed++;
	}
	CHECK(probed > 4);
	dw_clone_map_release(&map);
	close_names(&x);
}

TEST(sites_lie_in_the_original_call)
{
	struct names x;
	const struct dw_clone_function_entry *f = NULL;
	struct dw_clone_origin origin;
	struct dw_clone_map map;
	struct dw_region_site site;
	uint32_t low;

	open_names(&x);
	for (uint32_t i = 0; i < x.image->header.functions.n && !f; i++)
		if (x.image->functions[i].clone_at && x.image->functions[i].clone_bytes > 64)
			f = &x.image->functions[i];
	CHECK(f);
	CHECK_INT(dw_clone_map_load(&map, x.image->image, &x.image->header, x.image->functions), 0);
	CHECK_INT(dw_clone_map_find(&map, f->clone_at, &origin), 0);
	CHECK_INT(origin.at, f->start);
	CHECK_INT(dw_clone_map_find(&map, f->clone_at + f->clone_bytes - 1, &origin), 0);
	CHECK(origin.at - f->start < f->bytes);
	CHECK_INT(dw_clone_map_find(&map, 0, &origin), DWELL_ERR_NOT_FOUND);
	CHECK_INT(dw_clone_map_find(&map, UINT32_MAX, &origin), DWELL_ERR_NOT_FOUND);
	dw_clone_map_release(&map);
	low = (uint32_t)(START + AREA + f->clone_at + f->clone_bytes);
	CHECK_INT(x.callbacks.site(x.callbacks.ctx, FIRST_ID, low, true, &site), 0);
	CHECK(frame_of(&x, site.frame)->svma - x.image->start - f->start < f->bytes);
	/* A call that has kept its return address. */
	low = (uint32_t)(START + f->start + 9);
	CHECK_INT(x.callbacks.site(x.callbacks.ctx, FIRST_ID, low, true, &site), 0);
	CHECK_INT(frame_of(&x, site.frame)->svma, x.image->start + f->start + 8);
	CHECK_INT(site.trampolines, 0);
	close_names(&x);
}

TEST(exports_are_found_by_name)
{
	struct dw_exports t = {0};
	struct dw_elf *elf;
	uint64_t svma = 0;
	int fd = open("/lib/x86_64-linux-gnu/libc.so.6", O_RDONLY | O_CLOEXEC);

	CHECK(fd >= 0);
	CHECK_INT(dw_elf_open(fd, &elf, NULL), 0);
	CHECK_INT(dw_exports_load(&t, elf), 0);
	CHECK_INT(dw_exports_find(&t, "qsort", &svma), 0);
	CHECK(svma);
	CHECK_INT(dw_exports_find(&t, "memcpy", &svma), 0);
	CHECK_INT(dw_exports_find(&t, "no_such_function", &svma), DWELL_ERR_NOT_FOUND);
	CHECK_INT(dw_exports_find(&t, "", &svma), DWELL_ERR_NOT_FOUND);
	dw_exports_release(&t);
	dw_elf_free(elf);
	close(fd);
}

TEST_MAIN()
