/*
 * Folded stacks: "process;outermost;...;innermost COUNT", a line for each stack of each thread.
 *
 * flamegraph.pl, inferno and speedscope read them. A semicolon in a name would be a border, so it
 * becomes a colon, as other writers do; controls are escaped as in tables.
 */
#include "base/out.h"
#include "export/export.h"
#include "format/text.h"

#include <errno.h>
#include <stdlib.h>

/* A name as it stands in lines, in names.text. */
struct piece {
	size_t at, bytes; /* 0 bytes = not made yet */
};

struct names {
	struct dw_out text; /* a buffer */
	struct piece *by_symbol;
	struct dw_buf scratch[2];
	DW_VEC(uint32_t) stack; /* symbols, innermost first */
};

static void put_name(struct dw_out *out, const char *name, struct dw_buf *scratch)
{
	dw_buf_clear(scratch);
	dw_buf_puts(scratch, *name ? name : "[unknown]");
	for (size_t i = 0; i < scratch->len; i++)
		if (scratch->data[i] == ';')
			scratch->data[i] = ':';
	dw_text_put(out, dw_buf_str(scratch));
}

static void put_symbol(const struct dw_export *e, struct names *n, uint32_t symbol,
		       struct dw_out *out)
{
	struct piece *p = &n->by_symbol[symbol];

	if (!p->bytes) {
		p->at = n->text.buf.len;
		dw_out_puts(&n->text, ";");
		put_name(&n->text, dw_paths_name(&e->paths, symbol, &n->scratch[0]),
			 &n->scratch[1]);
		p->bytes = n->text.buf.len - p->at;
	}
	dw_out_write(out, dw_buf_str(&n->text.buf) + p->at, p->bytes);
}

/* Gather the functions of @path, innermost first. */
static int list_symbols(const struct dw_export *e, struct names *n, uint32_t path)
{
	n->stack.n = 0;
	do {
		uint32_t location = dw_paths_location(&e->paths, path);
		uint32_t lines = dw_paths_lines(&e->paths, location);

		for (uint32_t i = 0; i < lines; i++)
			if (dw_vec_push(&n->stack, dw_paths_line(&e->paths, location, i).symbol))
				return -ENOMEM;
		path = dw_paths_parent(&e->paths, path);
	} while (path);
	return 0;
}

static int put_row(const struct dw_export *e, struct names *n, size_t i, struct dw_out *out)
{
	const struct dw_sample_row *row = &e->values.rows.v[i];
	const struct dw_process *process = dw_paths_process(&e->paths, row->thread);
	uint64_t value = dw_sample_value(&e->values, i, e->kind);
	char digits[DWELL_DIGITS_MAX_BYTES];

	if (!value)
		return 0;
	if (list_symbols(e, n, row->path))
		return -ENOMEM;
	put_name(out, process ? dw_strings_get(&e->profile->strings, process->name) : "",
		 &n->scratch[1]);
	for (size_t at = n->stack.n; at-- > 0;)
		put_symbol(e, n, n->stack.v[at], out);
	dw_out_puts(out, " ");
	dw_out_puts(out, dw_digits_decimal(value, digits));
	dw_out_puts(out, "\n");
	return n->text.failed;
}

static int write_folded(const struct dw_export *e, struct dw_out *out)
{
	struct names n = {0};
	int rc;

	dw_out_init_buffer(&n.text);
	n.by_symbol = calloc(dw_paths_symbols(&e->paths), sizeof *n.by_symbol);
	rc = n.by_symbol ? 0 : -ENOMEM;
	for (size_t i = 0; i < e->values.rows.n && !rc && !out->failed; i++)
		rc = put_row(e, &n, i, out);
	free(n.by_symbol);
	dw_vec_release(&n.stack);
	dw_buf_release(&n.scratch[0]);
	dw_buf_release(&n.scratch[1]);
	dw_out_close(&n.text);
	return rc;
}

const struct dw_export_ops dw_export_folded = {
	.name = "folded",
	.help = "a line for each stack, for flame graphs",
	.single = true,
	.write = write_folded,
};
