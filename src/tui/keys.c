/* The keys: one table of what each does, which `?` shows. */
#include "base/out.h"
#include "format/format.h"
#include "format/text.h"
#include "tui/actions.h"
#include "tui/reader-internal.h"

enum { KEYS_MAX = 3, NAME_COLUMNS = 22 };

struct key {
	const char *name; /* of the keys; of a heading NULL */
	const char *help;
	int keys[KEYS_MAX]; /* 0 = no more */
	void (*press)(struct dw_reader *r, int key);
	bool is_of_rows; /* it waits until they are there */
};

static const struct key table[] = {
	{NULL, "Moving", {0}, NULL},
	{"Down, j", "the next row", {DWELL_KEY_DOWN, 'j'}, dw_press_down, true},
	{"Up, k", "the row before", {DWELL_KEY_UP, 'k'}, dw_press_up, true},
	{"PageDown, Ctrl-F",
	 "a page on",
	 {DWELL_KEY_PAGE_DOWN, 'F' - '@'},
	 dw_press_page_down,
	 true},
	{"PageUp, Ctrl-B", "a page back", {DWELL_KEY_PAGE_UP, 'B' - '@'}, dw_press_page_up, true},
	{"Home, g", "the first row", {DWELL_KEY_HOME, 'g'}, dw_press_home, true},
	{"End, G", "the last row", {DWELL_KEY_END, 'G'}, dw_press_end, true},
	{"Right", "numbers that had no room", {DWELL_KEY_RIGHT}, dw_press_right, true},
	{"Left", "and back", {DWELL_KEY_LEFT}, dw_press_left, true},
	{"/", "search a word; small letters mean capitals, too", {'/'}, dw_press_search, true},
	{"n", "the next row with it, in a tree the folded ones, too", {'n'}, dw_press_next, true},
	{"N", "the one before", {'N'}, dw_press_previous, true},
	{NULL, "Views", {0}, NULL},
	{"Tab", "the next view", {DWELL_KEY_TAB}, dw_press_next_tab},
	{"Shift-Tab", "the view before", {DWELL_KEY_BACK_TAB}, dw_press_previous_tab},
	{"1 ... 9, 0", "that view", {0}, NULL},
	{"Enter",
	 "who calls the function, and what it calls",
	 {DWELL_KEY_ENTER},
	 dw_press_enter,
	 true},
	{"", "of a process, thread, module or type: what it did", {0}, NULL},
	{"a", "the function's source; once more: its instructions", {'a'}, dw_press_annotate, true},
	{"z", "the call tree below the function", {'z'}, dw_press_zoom, true},
	{"s, Backspace", "back to where you were", {'s', DWELL_KEY_BACKSPACE}, dw_press_back},
	{NULL, "Trees", {0}, NULL},
	{"+", "unfold the row", {'+'}, dw_press_unfold, true},
	{"-", "fold the row, or the one above it", {'-'}, dw_press_fold, true},
	{"Space", "unfold it, or fold it", {' '}, dw_press_toggle, true},
	{"E", "unfold the hot path below the row", {'E'}, dw_press_hot_path, true},
	{NULL, "Order and columns", {0}, NULL},
	{"<", "by the column before", {'<'}, dw_press_sort_left, true},
	{">", "by the next column", {'>'}, dw_press_sort_right, true},
	{"o", "by any column, by its name", {'o'}, dw_press_sort_by, true},
	{"r", "turn it round", {'r'}, dw_press_reverse, true},
	{"C", "choose the columns", {'C'}, dw_press_columns, true},
	{NULL, "What is shown", {0}, NULL},
	{"f",
	 "only what the row is of: its process, thread, module or type",
	 {'f'},
	 dw_press_filter_row,
	 true},
	{"p", "only one process, by id or name", {'p'}, dw_press_process},
	{"t", "only one thread, by id or name", {'t'}, dw_press_thread},
	{"m", "only one module, by name or glob", {'m'}, dw_press_module},
	{"T", "only a range of time", {'T'}, dw_press_time},
	{"R", "the same, chosen on the timeline", {'R'}, dw_press_range},
	{"A", "all code, or again with the system's folded", {'A'}, dw_press_all_code, true},
	{"x", "everything again", {'x'}, dw_press_clear},
	{NULL, "And", {0}, NULL},
	{"P",
	 "of a recording that goes on: stop showing what is new, and go on",
	 {'P'},
	 dw_press_freeze},
	{"c", "the command that reports the same", {'c'}, dw_press_command},
	{"w", "write the rows to a file: NAME.csv or NAME.json", {'w'}, dw_press_write, true},
	{"?", "these keys", {'?'}, dw_press_help},
	{"q, Ctrl-C", "leave", {'q'}, dw_press_quit},
};

enum { TABLE_N = sizeof table / sizeof *table };

void dw_keys_help(struct dw_out *out)
{
	for (size_t i = 0; i < TABLE_N; i++) {
		size_t n;

		if (!table[i].name) {
			dw_out_printf(out, "%s%s\n", i ? "\n" : "", table[i].help);
			continue;
		}
		n = dw_text_columns(table[i].name);
		dw_out_printf(out, "  %s", table[i].name);
		dw_out_fill(out, ' ', n < NAME_COLUMNS ? NAME_COLUMNS - n : 1);
		dw_out_printf(out, "%s\n", table[i].help);
	}
}

/* The row of the table for @key, NULL = there is none. */
static const struct key *find(int key)
{
	for (size_t i = 0; i < TABLE_N; i++)
		for (size_t k = 0; k < KEYS_MAX && table[i].keys[k]; k++)
			if (table[i].keys[k] == key)
				return &table[i];
	return NULL;
}

bool dw_key_is_of_rows(int key)
{
	const struct key *k = find(key);

	return k && k->is_of_rows;
}

void dw_reader_press(struct dw_reader *r, int key)
{
	const struct key *k = find(key);

	if (key >= '0' && key <= '9')
		return dw_press_digit(r, key);
	if (k)
		return k->press(r, key);
	if (key != DWELL_KEY_ESCAPE)
		dw_reader_say(r, "this key does nothing: ? shows those that do");
}
