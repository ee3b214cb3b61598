/*
 * Writing LSDAs of clones; see unwind.h.
 *
 * Mostly landing pads are in the function itself: then their base is left out and numbers are
 * short. Pads in another clone or in the module (gcc puts cold parts elsewhere, and those may not
 * be cloned) count from the start of the area, in 4 signed bytes each. Types become distances:
 * absolute entries of a module that is loaded anywhere are filled in by its loader, so the clone's
 * entry leads to the module's.
 */
#include "clone/emit/unwind.h"

#include "clone/read/lsda.h"

#include <dwarf.h>
#include <string.h>

enum { BASE_MASK = 0x70 };

static size_t uleb_bytes(uint64_t v)
{
	size_t n = 1;

	while (v >>= 7)
		n++;
	return n;
}

/* The area offset of the landing pad at @svma, with its trampoline; 0: it is not cloned. */
static uint32_t pad_place(const struct dw_clone_module *m, uint64_t svma)
{
	const struct dw_clone_function *f = dw_clone_function_at(m, svma);

	if (!f || f->reason)
		return 0;
	return svma == f->start ? dw_clone_place(m, svma, true) : dw_clone_boundary(m, f, svma);
}

/* Whether all landing pads can be told by their distance from the start of @f. */
static bool pads_inside(const struct dw_lsda *lsda, const struct dw_clone_function *f)
{
	dw_vec_each(site, &lsda->sites) {
		if (site->pad && (site->pad <= f->start || site->pad >= f->end))
			return false;
	}
	return true;
}

static void put_short_sites(const struct dw_lsda *lsda, const struct dw_clone_function *f,
			    const struct dw_clone_module *m, struct dw_buf *b)
{
	dw_vec_each(site, &lsda->sites) {
		uint32_t start = dw_clone_boundary(m, f, site->start);

		dw_buf_put_uleb(b, start - f->clone_at);
		dw_buf_put_uleb(b, dw_clone_boundary(m, f, site->end) - start);
		dw_buf_put_uleb(b,
				site->pad ? dw_clone_boundary(m, f, site->pad) - f->clone_at : 0);
		dw_buf_put_uleb(b, site->action);
	}
}

/* Append the sites with their pads as distances from the start of the area. */
static void put_far_sites(const struct dw_lsda *lsda, const struct dw_clone_function *f,
			  struct dw_unwind_output *o)
{
	dw_vec_each(site, &lsda->sites) {
		uint32_t start = dw_clone_boundary(o->m, f, site->start);
		uint32_t pad = site->pad ? pad_place(o->m, site->pad) : 0;

		dw_unwind_put32(o, start - f->clone_at);
		dw_unwind_put32(o, dw_clone_boundary(o->m, f, site->end) - start);
		if (site->pad && !pad)
			dw_unwind_put_module(o, 0, site->pad);
		else
			dw_unwind_put32(o, pad);
		dw_buf_put_uleb(&o->buf, site->action);
	}
}

static size_t far_sites_bytes(const struct dw_lsda *lsda)
{
	size_t n = 0;

	dw_vec_each(site, &lsda->sites) {
		n += 3 * sizeof(uint32_t) + uleb_bytes(site->action);
	}
	return n;
}

/* Whether the loader fills in the entries, so that the file does not tell them. */
static bool by_loader(const struct dw_clone_module *m, uint8_t encoding)
{
	return !m->is_fixed && (encoding & BASE_MASK) == DW_EH_PE_absptr;
}

/* What the clone's type table is written in. */
static uint8_t type_encoding(const struct dw_clone_module *m, const struct dw_lsda *lsda)
{
	if (lsda->type_encoding == DW_EH_PE_omit)
		return DW_EH_PE_omit;
	if (by_loader(m, lsda->type_encoding) || lsda->type_encoding & DW_EH_PE_indirect)
		return DW_EH_PE_indirect | DW_EH_PE_pcrel | DW_EH_PE_sdata4;
	return DW_EH_PE_pcrel | DW_EH_PE_sdata4;
}

static void put_type(uint64_t svma, uint8_t encoding, struct dw_unwind_output *o)
{
	unsigned n = dw_lsda_type_bytes(encoding);
	const uint8_t *bytes = dw_clone_module_bytes(o->m, svma, n);
	uint64_t value = 0;

	if (by_loader(o->m, encoding)) {
		dw_unwind_put_module(o, dw_unwind_here(o), svma);
		return;
	}
	if (bytes)
		memcpy(&value, bytes, n);
	if (n == 4 && encoding & DW_EH_PE_signed)
		value = (uint64_t)(int64_t)(int32_t)value;
	if (value && (encoding & BASE_MASK) == DW_EH_PE_pcrel)
		value += svma;
	if (value)
		dw_unwind_put_module(o, dw_unwind_here(o), value);
	else /* catches all */
		dw_unwind_put32(o, 0);
}

/* Append what stands in front of the sites, which have @sites_n bytes. */
static void put_head(const struct dw_lsda *lsda, bool far, size_t sites_n,
		     struct dw_unwind_output *o)
{
	uint8_t encoding = type_encoding(o->m, lsda);
	size_t behind = 1 + uleb_bytes(sites_n) + sites_n + lsda->actions_n +
			(size_t)lsda->types_n * sizeof(uint32_t);

	dw_buf_putc(&o->buf, (char)(far ? DW_EH_PE_pcrel | DW_EH_PE_sdata4 : DW_EH_PE_omit));
	if (far)
		dw_unwind_put_area(o, 0);
	dw_buf_putc(&o->buf, (char)encoding);
	if (encoding != DW_EH_PE_omit)
		dw_buf_put_uleb(&o->buf, behind);
	dw_buf_putc(&o->buf, far ? DW_EH_PE_sdata4 : DW_EH_PE_uleb128);
	dw_buf_put_uleb(&o->buf, sites_n);
}

void dw_lsda_write(const struct dw_lsda *lsda, const struct dw_clone_function *f,
		   struct dw_unwind_output *o)
{
	if (pads_inside(lsda, f)) {
		struct dw_buf sites = DW_BUF_INIT;

		put_short_sites(lsda, f, o->m, &sites);
		put_head(lsda, false, sites.len, o);
		dw_buf_put(&o->buf, sites.data, sites.len);
		o->buf.failed |= sites.failed;
		dw_buf_release(&sites);
	} else {
		put_head(lsda, true, far_sites_bytes(lsda), o);
		put_far_sites(lsda, f, o);
	}
	dw_buf_put(&o->buf, lsda->actions, lsda->actions_n);
	for (uint32_t i = lsda->types_n; i; i--)
		put_type(lsda->types_end - (uint64_t)i * dw_lsda_type_bytes(lsda->type_encoding),
			 lsda->type_encoding, o);
	dw_buf_put(&o->buf, lsda->specs, lsda->specs_n);
}
