/*
 * What keys do, one function for each row of the table in keys.c, which says it in words.
 */
#pragma once

struct dw_reader;

/* Down, j: the next row. */
void dw_press_down(struct dw_reader *r, int key);

/* Up, k: the row before. */
void dw_press_up(struct dw_reader *r, int key);

/* PageDown, Ctrl-F: a page on. */
void dw_press_page_down(struct dw_reader *r, int key);

/* PageUp, Ctrl-B: a page back. */
void dw_press_page_up(struct dw_reader *r, int key);

/* Home, g: the first row. */
void dw_press_home(struct dw_reader *r, int key);

/* End, G: the last row. */
void dw_press_end(struct dw_reader *r, int key);

/* Right: numbers that had no room. */
void dw_press_right(struct dw_reader *r, int key);

/* Left: and back. */
void dw_press_left(struct dw_reader *r, int key);

/* /: search a word, small letters mean capitals, too. */
void dw_press_search(struct dw_reader *r, int key);

/* n: the next row with it, in a tree the folded ones, too. */
void dw_press_next(struct dw_reader *r, int key);

/* N: the one before. */
void dw_press_previous(struct dw_reader *r, int key);

/* Tab: the next view. */
void dw_press_next_tab(struct dw_reader *r, int key);

/* Shift-Tab: the view before. */
void dw_press_previous_tab(struct dw_reader *r, int key);

/* Enter: who calls the function, and what it calls. */
void dw_press_enter(struct dw_reader *r, int key);

/* a: the function's source, once more: its instructions. */
void dw_press_annotate(struct dw_reader *r, int key);

/* z: the call tree below the function. */
void dw_press_zoom(struct dw_reader *r, int key);

/* s, Backspace: back to where you were. */
void dw_press_back(struct dw_reader *r, int key);

/* +: unfold the row. */
void dw_press_unfold(struct dw_reader *r, int key);

/* -: fold the row, or the one above it. */
void dw_press_fold(struct dw_reader *r, int key);

/* Space: unfold it, or fold it. */
void dw_press_toggle(struct dw_reader *r, int key);

/* E: unfold the hot path below the row. */
void dw_press_hot_path(struct dw_reader *r, int key);

/* <: by the column before. */
void dw_press_sort_left(struct dw_reader *r, int key);

/* >: by the next column. */
void dw_press_sort_right(struct dw_reader *r, int key);

/* o: by any column, by its name. */
void dw_press_sort_by(struct dw_reader *r, int key);

/* r: turn it round. */
void dw_press_reverse(struct dw_reader *r, int key);

/* C: choose the columns. */
void dw_press_columns(struct dw_reader *r, int key);

/* f: only what the row is of: its process, thread, module or type. */
void dw_press_filter_row(struct dw_reader *r, int key);

/* p: only one process, by id or name. */
void dw_press_process(struct dw_reader *r, int key);

/* t: only one thread, by id or name. */
void dw_press_thread(struct dw_reader *r, int key);

/* m: only one module, by name or glob. */
void dw_press_module(struct dw_reader *r, int key);

/* T: only a range of time. */
void dw_press_time(struct dw_reader *r, int key);

/* R: choose a range on the timeline. */
void dw_press_range(struct dw_reader *r, int key);

/* x: everything again. */
void dw_press_clear(struct dw_reader *r, int key);

/* c: the command that reports the same. */
void dw_press_command(struct dw_reader *r, int key);

/* w: write the rows to a file: NAME.csv or NAME.json. */
void dw_press_write(struct dw_reader *r, int key);

/* A: all code, or with the system's folded. */
void dw_press_all_code(struct dw_reader *r, int key);

/* P: stop showing what a recording that goes on adds, or go on with that. */
void dw_press_freeze(struct dw_reader *r, int key);

/* ?: these keys. */
void dw_press_help(struct dw_reader *r, int key);

/* q, Ctrl-C: leave. */
void dw_press_quit(struct dw_reader *r, int key);

/* 1 ... 9, 0: that view. */
void dw_press_digit(struct dw_reader *r, int key);
