/* Hazards: which calls keep their return address, which functions are left alone, and which not. */
#include "check.h"

#include "base/cleanup.h"
#include "clone/plan/plan.h"
#include "clone/plan/jumps.h"
#include "code/elf/elf.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <unistd.h>

struct sample {
	struct dw_elf *elf;
	void *library;
	uint64_t loaded;
	struct dw_clone_module m;
};

static bool open_sample(struct sample *s)
{
	dw_auto_close int fd = open(HAZARDS_SAMPLE, O_RDONLY | O_CLOEXEC);
	struct link_map *map;

	*s = (struct sample){.library = dlopen(HAZARDS_SAMPLE, RTLD_NOW)};
	if (!s->library || dlinfo(s->library, RTLD_DI_LINKMAP, &map) || fd < 0 ||
	    dw_elf_open(fd, &s->elf, NULL))
		return false;
	s->loaded = map->l_addr;
	return !dw_clone_module_read(s->elf, &s->m, NULL) && !dw_clone_module_decode(&s->m) &&
	       !dw_jumps_plan(&s->m) && !dw_hazards_find(&s->m);
}

static void release(struct sample *s)
{
	dw_clone_module_release(&s->m);
	dw_elf_free(s->elf);
	dlclose(s->library);
}

/* What became of the function called @name. */
struct fate {
	int reason; /* -1: there is none */
	int calls;
	int kept;
};

static struct fate fate_of(const struct sample *s, const char *name)
{
	uint64_t svma = (uint64_t)(uintptr_t)dlsym(s->library, name) - s->loaded;
	const struct dw_clone_function *f = dw_clone_function_at(&s->m, svma);
	struct fate ret = {-1, 0, 0};

	if (!f || f->start != svma)
		return ret;
	ret.reason = f->reason;
	for (uint32_t i = f->first; i < f->first + f->n; i++) {
		ret.calls += s->m.insns.v[i].kind == DWELL_INSN_CALL;
		ret.kept += s->m.marks.v[i] == DWELL_MARK_KEEP_RETURN;
	}
	return ret;
}

static const struct {
	const char *name;
	int reason, calls, kept;
} expected[] = {
	{"calls_harmless", 0, 1, 0},
	{"calls_reads", 0, 1, 1},
	{"calls_reads_by_frame", 0, 1, 1},
	{"calls_hides", 0, 1, 1},
	{"calls_takes_off", 0, 1, 1},
	{"calls_changes", DWELL_LEFT_RETURN_ADDRESS, 1, 0},
	{"calls_computes", DWELL_LEFT_RETURN_ADDRESS, 1, 0},
	{"calls_reads_code", DWELL_LEFT_RETURN_ADDRESS, 1, 0},
	{"calls_by_address", DWELL_LEFT_RETURN_ADDRESS, 1, 0},
	{"calls_hands_on", DWELL_LEFT_RETURN_ADDRESS, 1, 0},
	{"harmless", 0, 0, 0},
	{"changes", 0, 0, 0},
	{"named", 0, 2, 1},
	{"named_by_code", 0, 1, 1},
	{"ends", 0, 1, 0},
	{"follows", 0, 0, 0},
	{"own_call", DWELL_LEFT_OWN_CALL, 1, 0},
	{"restarts", DWELL_LEFT_RESTARTABLE, 0, 0},
	{"signed", DWELL_LEFT_RESTARTABLE, 0, 0},
	{"copied_stub", DWELL_LEFT_TEMPLATE, 0, 0},
	{"copied_barrier", DWELL_LEFT_TEMPLATE, 0, 0},
	{"from_kernel", DWELL_LEFT_START, 0, 0},
	{"begins_a_thread", DWELL_LEFT_START, 0, 0},
};

TEST(calls_and_functions)
{
	struct sample s;

	CHECK(open_sample(&s));
	for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
		struct fate got = fate_of(&s, expected[i].name);

		printf("# %s\n", expected[i].name);
		CHECK_INT(got.reason, expected[i].reason);
		CHECK_INT(got.calls, expected[i].calls);
		CHECK_INT(got.kept, expected[i].kept);
	}
	release(&s);
}

TEST(pointers_are_sorted)
{
	struct sample s;
	bool sorted = true;

	CHECK(open_sample(&s));
	CHECK(s.m.pointers.n > 1);
	for (size_t i = 1; i < s.m.pointers.n; i++) {
		const struct dw_clone_pointer *a = &s.m.pointers.v[i - 1], *b = a + 1;

		sorted &= a->to < b->to || (a->to == b->to && a->at <= b->at);
	}
	CHECK(sorted);
	release(&s);
}

TEST(runtime_of_go)
{
	static const uint8_t table[8] = {0xf1, 0xff, 0xff, 0xff, 0, 0, 1, 8};
	struct sample s;

	CHECK(open_sample(&s));
	dw_vec_each(f, &s.m.functions)
		f->reason = DWELL_CLONED;
	dw_vec_each(segment, &s.m.segments)
		if (!(segment->flags & PF_X) && segment->n >= 24)
			memcpy(segment->bytes + 16, table, sizeof table);
	CHECK_INT(dw_hazards_find(&s.m), 0);
	dw_vec_each(f, &s.m.functions)
		CHECK_INT(f->reason, DWELL_LEFT_RUNTIME);
	release(&s);
}

TEST_MAIN()
