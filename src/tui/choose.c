/* Keys that choose a part of the session: by a word that is asked for, or by the row at hand. */
#include "base/cleanup.h"
#include "base/quantity.h"
#include "tui/actions.h"
#include "tui/reader-internal.h"
#include "tui/remember.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Use @word, or say why not. */
static void set_filter(struct dw_reader *r, enum dw_filter_kind kind, const char *word)
{
	struct dw_error err = DW_ERROR_INIT;

	if (dw_reading_set_filter(&r->reading, kind, word, &err))
		dw_reader_fail(r, &err);
}

static void ask_filter(struct dw_reader *r, enum dw_filter_kind kind, const char *label)
{
	const struct dw_filter_list *l = &r->reading.selection->lists[kind];

	if (dw_reader_ask(r, label, l->words.n ? l->words.v[0] : ""))
		set_filter(r, kind, dw_buf_str(&r->prompt.text));
}

void dw_press_process(struct dw_reader *r, int key)
{
	(void)key;
	ask_filter(r, DWELL_FILTER_PROCESS, "only the process (id or name): ");
}

void dw_press_thread(struct dw_reader *r, int key)
{
	(void)key;
	ask_filter(r, DWELL_FILTER_THREAD, "only the thread (id or name): ");
}

void dw_press_module(struct dw_reader *r, int key)
{
	(void)key;
	ask_filter(r, DWELL_FILTER_MODULE, "only the module (name or glob): ");
}

/* Read "FROM TO", "FROM", or nothing. False: that is no range. */
static bool read_range(const char *text, uint64_t *from_ns, uint64_t *to_ns)
{
	char from[32] = "0", to[32] = "";
	int n = sscanf(text, "%31s %31s", from, to);

	*from_ns = *to_ns = 0;
	if (n < 1)
		return true;
	if (dw_quantity_time_ns(from, from_ns))
		return false;
	return n < 2 || !dw_quantity_time_ns(to, to_ns);
}

void dw_press_time(struct dw_reader *r, int key)
{
	struct dw_error err = DW_ERROR_INIT;
	uint64_t from_ns, to_ns;

	(void)key;
	if (!dw_reader_ask(r, "only the time from and to (1.5 2, or 500ms 1s): ", ""))
		return;
	if (!read_range(dw_buf_str(&r->prompt.text), &from_ns, &to_ns))
		return dw_reader_say(r, "'%s' is no range of time", dw_buf_str(&r->prompt.text));
	if (dw_reading_set_range(&r->reading, from_ns, to_ns, &err))
		dw_reader_fail(r, &err);
}

void dw_press_clear(struct dw_reader *r, int key)
{
	struct dw_error err = DW_ERROR_INIT;

	(void)key;
	if (!dw_reading_is_filtered(&r->reading))
		return dw_reader_say(r, "everything is shown already");
	if (dw_reading_clear_filters(&r->reading, &err))
		dw_reader_fail(r, &err);
}

void dw_press_all_code(struct dw_reader *r, int key)
{
	struct dw_reading *reading = &r->reading;

	(void)key;
	if (dw_reading_may_fold(reading))
		return dw_reading_show_all_code(reading, !reading->shows_all_code);
	if (dw_profile_has_calls(&reading->profile))
		return dw_reader_say(r,
				     "calls are shown as they were measured, all code with them");
	dw_reader_say(r, "all code is shown here");
}

/* The word that chooses what @row is of, and its kind. False: it is of nothing. */
static bool word_of(const struct dw_reader *r, const struct dw_row *row, struct dw_buf *word,
		    enum dw_filter_kind *kind)
{
	const struct dw_profile *p = &r->reading.profile;
	const struct dw_process *process = dw_processes_get(&p->processes, row->process);
	const struct dw_thread *thread = dw_threads_get(&p->threads, row->thread);
	const struct dw_module *module = dw_modules_get(&p->modules, row->module);
	const struct dw_alloc_type *type = dw_allocations_get_type(&p->allocations, row->class_of);

	dw_buf_clear(word);
	if (row->name == DWELL_NAME_CLASS && type) {
		*kind = DWELL_FILTER_TYPE;
		return !dw_buf_puts(word, dw_strings_get(&p->strings, type->name));
	}
	if (row->name == DWELL_NAME_THREAD && thread) {
		*kind = DWELL_FILTER_THREAD;
		return !dw_buf_printf(word, "%" PRId32, thread->tid);
	}
	/* A root of a call tree has neither a function nor a module. */
	if (process && (row->name == DWELL_NAME_PROCESS ||
			(!row->function && !(row->flags & DWELL_ROW_HAS_MODULE)))) {
		*kind = DWELL_FILTER_PROCESS;
		return !dw_buf_printf(word, "%" PRId32, process->pid);
	}
	*kind = DWELL_FILTER_MODULE;
	return row->flags & DWELL_ROW_HAS_MODULE && module &&
	       !dw_buf_puts(word, dw_strings_get(&p->strings, module->name));
}

/* The view in which one sees what something did. */
static const struct dw_view_ops *view_of(enum dw_filter_kind kind)
{
	return kind == DWELL_FILTER_TYPE ? &dw_view_allocations : &dw_view_functions;
}

/* Show only what the row at hand is of. Pressed as Enter, in the view of what it did. */
void dw_press_filter_row(struct dw_reader *r, int key)
{
	dw_auto(dw_buf) word = DW_BUF_INIT;
	struct dw_error err = DW_ERROR_INIT;
	enum dw_filter_kind kind;
	struct dw_row row;

	if (!dw_place_row(dw_reading_here(&r->reading), &r->scratch, &row) ||
	    !word_of(r, &row, &word, &kind))
		return dw_reader_say(r, "this row is of no process, thread, module or type");
	dw_place_remember(dw_reading_here(&r->reading));
	if (key != DWELL_KEY_ENTER)
		return set_filter(r, kind, dw_buf_str(&word));
	if (dw_reading_enter(&r->reading, kind, dw_buf_str(&word),
			     dw_reading_find_tab(&r->reading, view_of(kind)), &err))
		dw_reader_fail(r, &err);
}
