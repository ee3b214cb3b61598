/* Conditions; see condition.h. */
#include "compare/condition.h"

#include "base/quantity.h"
#include "compare/columns.h"
#include "compare/verdict.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int wrong(const char *text, const char *why, struct dw_error *err)
{
	return dw_error_set(err, DWELL_ERR_USAGE,
			    "--fail-if '%s': %s; it takes [VIEW:[NAME:]]COLUMN > NUMBER[%%], as in "
			    "'calls > 0 %%' or 'functions:parse*:application_inclusive > 5 %%'",
			    text, why);
}

/* The words before '>', without blanks around them. */
static char *words_before(const char *text, const char *end)
{
	while (isspace((unsigned char)*text))
		text++;
	while (end > text && isspace((unsigned char)end[-1]))
		end--;
	return strndup(text, (size_t)(end - text));
}

static int parse_allowed(struct dw_condition *condition, const char *at, const char *text,
			 struct dw_error *err)
{
	const char *end;
	uint64_t ns;

	at += strspn(at, " \t");
	if (dw_quantity_number(at, &condition->allowed, &end))
		return wrong(text, "there is no number behind '>'", err);
	end += strspn(end, " \t");
	condition->is_pct = *end == '%';
	if (condition->is_pct)
		end += 1 + strspn(end + 1, " \t");
	if (!*end)
		return 0;
	condition->is_time = !dw_quantity_time_ns(at, &ns);
	if (condition->is_pct || !condition->is_time)
		return wrong(text, "what stands behind the number is no unit", err);
	condition->allowed = (double)ns;
	return 0;
}

int dw_condition_parse(struct dw_condition *condition, const char *text, struct dw_error *err)
{
	const char *sign = strrchr(text, '>');
	char *words, *first, *last;
	int rc;

	*condition = (struct dw_condition){0};
	if (!sign || sign == text)
		return wrong(text, "there is no '>'", err);
	rc = parse_allowed(condition, sign + 1, text, err);
	if (rc)
		return rc;
	words = words_before(text, sign);
	first = words ? strchr(words, ':') : NULL;
	last = words ? strrchr(words, ':') : NULL;
	condition->name = words ? strdup(last ? last + 1 : words) : NULL;
	if (first && last > first + 1)
		condition->glob = strndup(first + 1, (size_t)(last - first) - 1);
	if (first)
		*first = 0;
	condition->view = first ? dw_view_find(words) : NULL;
	if (!words || !condition->name || (first && last > first + 1 && !condition->glob))
		rc = -ENOMEM;
	else if (first && !condition->view)
		rc = wrong(text, "there is no such view", err);
	else if (!*condition->name)
		rc = wrong(text, "it names no column", err);
	free(words);
	return rc;
}

int dw_condition_resolve(struct dw_condition *condition, const struct dw_view_ops *view,
			 const struct dw_profile *p, struct dw_error *err)
{
	const char *name = condition->name;
	enum dw_column all[DWELL_COLUMNS_N], found;
	struct dw_buf longer = DW_BUF_INIT;
	bool is_time;

	dw_view_columns(view, p, DWELL_BY_NONE, false, all);
	found = dw_column_find(all, name, strlen(name));
	dw_buf_printf(&longer, "%s_time", name);
	if (!found)
		found = dw_column_find(all, dw_buf_str(&longer), longer.len);
	dw_buf_release(&longer);
	if (!found || !dw_compared_column_is_amount(found))
		return dw_error_set(err, DWELL_ERR_USAGE,
				    "--fail-if: the view %s has no amounts called '%s' of these "
				    "sessions",
				    view->name, name);
	is_time = dw_column_info(found)->kind != DWELL_CELL_COUNT;
	if (condition->is_time && !is_time)
		return dw_error_set(err, DWELL_ERR_USAGE,
				    "--fail-if: '%s' is no time, and is compared with a number or "
				    "with percent",
				    name);
	if (is_time && !condition->is_time && !condition->is_pct)
		condition->allowed *= 1e9;
	condition->column = found;
	return 0;
}

static bool matches(const struct dw_condition *condition, const char *text)
{
	return *text && !fnmatch(condition->glob, text, 0);
}

/* Whether @row goes by a name that fits on either side; modules have one, and no text. */
static bool fits(const struct dw_condition *condition, const struct dw_comparison *c, size_t row)
{
	const struct dw_compared_name *other = dw_comparison_other(c, row);
	const char *text = dw_comparison_text(c, row);

	if (!condition->glob)
		return true;
	if (*text)
		return matches(condition, text) ||
		       (other &&
			matches(condition, dw_strings_get(&c->names.strings, other->text)));
	return matches(condition, dw_comparison_module(c, row)) ||
	       (other &&
		matches(condition, dw_strings_get(&c->names.strings, other->module_shown)));
}

/* By how much more than is allowed. */
static double excess(const struct dw_condition *condition, const struct dw_change *change,
		     double more)
{
	if (!condition->is_pct)
		return more - condition->allowed;
	if (change->base <= 0)
		return more > 0 ? INFINITY : 0;
	return 100 * more / change->base - condition->allowed;
}

struct checking {
	const struct dw_condition *condition;
	const struct dw_comparison *c;
	size_t column;	       /* index */
	DW_VEC(uint32_t) rows; /* that are tested */
	DW_VEC(double) p;
	DW_VEC(double) shift;
	struct dw_condition_finding *ret;
	double worst;
};

/* @row is at fault by so much. */
static void find(struct checking *k, enum dw_condition_result result, size_t row,
		 const struct dw_change *change)
{
	double off = excess(k->condition, change, change->now - change->base);

	k->ret->meeting += result == DWELL_IS_MET;
	if (result < k->ret->result || (result == k->ret->result && off <= k->worst))
		return;
	k->ret->result = result;
	k->ret->row = row;
	k->ret->base = change->base;
	k->ret->now = change->now;
	k->worst = off;
}

/* Whether the row stands for two functions only since they are alike: the new one may be another.
 */
static bool is_guessed(const struct dw_comparison *c, uint32_t row)
{
	return dw_comparison_other(c, row) &&
	       dw_names_get(&c->names, c->rows.v[row].name)->likeness == DWELL_LIKE_CODE;
}

static int check_row(struct checking *k, uint32_t row, bool *fitting)
{
	struct dw_change change;
	double p, shift;

	if (!fits(k->condition, k->c, row))
		return 0;
	*fitting = true;
	change = dw_change_get(k->c, row, k->column);
	if (dw_change_is_counted(k->c, k->column, &change)) {
		change.base = is_guessed(k->c, row) ? 0 : change.base;
		if (excess(k->condition, &change, change.now - change.base) > 0)
			find(k, DWELL_IS_MET, row, &change);
		return 0;
	}
	/* A row that is asked for by name is tested however small it is. */
	if (!k->condition->glob && !dw_comparison_is_large(k->c, row, k->column))
		return 0;
	if (!dw_change_test(k->c, row, k->column, &p, &shift) || dw_vec_push(&k->rows, row) ||
	    dw_vec_push(&k->p, p) || dw_vec_push(&k->shift, shift))
		return -ENOMEM;
	return 0;
}

static int check_tests(struct checking *k)
{
	bool suffice = dw_runs_suffice(k->c->runs_n[0], k->c->runs_n[1], k->rows.n);

	if (!dw_adjust_p(k->p.v, k->p.n))
		return -ENOMEM;
	for (size_t i = 0; i < k->rows.n; i++) {
		struct dw_change change = dw_change_get(k->c, k->rows.v[i], k->column);

		if (excess(k->condition, &change, k->shift.v[i]) <= 0)
			continue;
		if (k->p.v[i] <= DWELL_SIGNIFICANCE)
			find(k, DWELL_IS_MET, k->rows.v[i], &change);
		else if (!suffice)
			find(k, DWELL_IS_UNDECIDED, k->rows.v[i], &change);
	}
	if (k->ret->result == DWELL_IS_UNDECIDED)
		k->ret->runs_wanted = dw_runs_wanted(k->rows.n);
	return 0;
}

int dw_condition_check(const struct dw_condition *condition, const struct dw_comparison *c,
		       struct dw_condition_finding *ret, struct dw_error *err)
{
	struct checking k = {.condition = condition, .c = c, .ret = ret, .worst = -INFINITY};
	bool fitting = false;
	int rc = 0;

	*ret = (struct dw_condition_finding){0};
	k.column = dw_compared_column_find(c, condition->column);
	for (uint32_t row = 0; row < c->rows.n && !rc; row++)
		rc = check_row(&k, row, &fitting);
	if (!rc && !fitting && condition->glob)
		rc = dw_error_set(err, DWELL_ERR_NOT_FOUND, "--fail-if: nothing fits '%s'",
				  condition->glob);
	if (!rc)
		rc = check_tests(&k);
	dw_vec_release(&k.rows);
	dw_vec_release(&k.p);
	dw_vec_release(&k.shift);
	return rc;
}

void dw_condition_release(struct dw_condition *condition)
{
	free(condition->glob);
	free(condition->name);
}
