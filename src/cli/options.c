/*
 * Option tables; see options.h.
 *
 * getopt_long() is not used: it prints by itself, and what it does with operands hangs on an
 * environment variable. One table entry holds everything that is known of an option, so that help
 * and parser cannot disagree (the option parser is the worst function of most command-line tools).
 */
#include "cli/options.h"

#include "base/cleanup.h"
#include "base/quantity.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEBUGINFOD_MS	  10000
#define DEBUGINFOD_MAX_NS (86400ull * 1000000000)

int dw_option_index(const char *word, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(word, list[i]))
			return (int)i;
	return -1;
}

void dw_candidates_begin(struct dw_candidates *c, const char *word, size_t n)
{
	dw_suggestion_begin(&c->nearest, word, n);
}

void dw_candidates_offer(struct dw_candidates *c, const char *candidate)
{
	dw_suggestion_offer(&c->nearest, candidate);
	dw_buf_printf(&c->list, " %s", candidate);
}

int dw_candidates_unknown(struct dw_candidates *c, const char *kind, struct dw_error *err)
{
	dw_auto(dw_buf) hint = DW_BUF_INIT;
	int rc;

	dw_suggestion_put(&c->nearest, "", &hint);
	rc = dw_misuse(err, "unknown %s '%.*s'%s; there are%s", kind, (int)c->nearest.n,
		       c->nearest.word, dw_buf_str(&hint), dw_buf_str(&c->list));
	dw_buf_release(&c->list);
	return rc;
}

int dw_option_text(const char *value, void *into, struct dw_error *err)
{
	(void)err;
	*(const char **)into = value;
	return 0;
}

int dw_option_list(const char *value, void *into, struct dw_error *err)
{
	if (dw_vec_push((struct dw_option_list *)into, value))
		return dw_error_set(err, -ENOMEM, "out of memory");
	return 0;
}

int dw_option_flag(const char *value, void *into, struct dw_error *err)
{
	(void)value;
	(void)err;
	*(bool *)into = true;
	return 0;
}

int dw_option_count(const char *value, void *into, struct dw_error *err)
{
	char *end;
	uint64_t v;

	errno = 0;
	v = strtoull(value, &end, 10);
	if (*value < '0' || *value > '9' || *end || errno)
		return dw_misuse(err, "'%s' is not a number", value);
	*(uint64_t *)into = v;
	return 0;
}

int dw_option_percent(const char *value, void *into, struct dw_error *err)
{
	double v;
	const char *end;

	if (dw_quantity_number(value, &v, &end) || (*end && strcmp(end, "%")) || v > 100)
		return dw_misuse(err, "'%s' is not a percentage", value);
	*(double *)into = v;
	return 0;
}

int dw_option_time_ns(const char *value, void *into, struct dw_error *err)
{
	if (!dw_quantity_time_ns(value, into))
		return 0;
	return dw_misuse(err, "'%s' is not a time (try 2, 500ms, 1.5s, 2m)", value);
}

static const struct dw_option *find_long(const struct dw_option *table, const char *s, size_t n)
{
	for (; table->name; table++)
		if (strlen(table->name) == n && !memcmp(table->name, s, n))
			return table;
	return NULL;
}

/* Hidden options are there for old scripts only: they are not what anybody should write. */
static int unknown_option(const struct dw_option *table, const char *s, size_t n,
			  struct dw_error *err)
{
	dw_auto(dw_buf) hint = DW_BUF_INIT;
	struct dw_suggestion nearest;

	dw_suggestion_begin(&nearest, s, n);
	for (; table->name; table++)
		if (table->help)
			dw_suggestion_offer(&nearest, table->name);
	dw_suggestion_put(&nearest, "--", &hint);
	return dw_misuse(err, "unknown option '--%.*s'%s", (int)n, s, dw_buf_str(&hint));
}

static const struct dw_option *find_letter(const struct dw_option *table, char letter)
{
	for (; table->name; table++)
		if (table->letter == letter)
			return table;
	return NULL;
}

static int apply(const struct dw_option *o, const char *value, void *into, struct dw_error *err)
{
	int rc = o->take(value, (char *)into + o->offset, err);

	if (rc)
		dw_error_prefix(err, "--%s", o->name);
	return rc;
}

/* The value of @o: what stands behind it in the same word, or else the next word, which is used up.
 */
static int take_value(const struct dw_option *o, const char *rest, char ***next, void *into,
		      struct dw_error *err)
{
	if (!rest)
		rest = *(*next)++;
	if (!rest)
		return dw_misuse(err, "--%s needs a value (%s)", o->name, o->value);
	return apply(o, rest, into, err);
}

static int parse_long(const struct dw_option *table, char ***next, void *into, struct dw_error *err)
{
	const char *word = *(*next)++ + 2;
	size_t n = strcspn(word, "=");
	const struct dw_option *o = find_long(table, word, n);

	if (!strcmp(word, "help"))
		return 1;
	if (!o)
		return unknown_option(table, word, n, err);
	if (o->value && *o->value == '[' && !word[n])
		return apply(o, NULL, into, err);
	if (o->value)
		return take_value(o, word[n] ? word + n + 1 : NULL, next, into, err);
	if (word[n])
		return dw_misuse(err, "--%s takes no value", o->name);
	return apply(o, NULL, into, err);
}

static int parse_short(const struct dw_option *table, char ***next, void *into,
		       struct dw_error *err)
{
	const char *letter = *(*next)++ + 1;
	int rc = 0;

	for (; *letter && !rc; letter++) {
		const struct dw_option *o = find_letter(table, *letter);

		if (!o && *letter == 'h')
			return 1;
		if (!o)
			return dw_misuse(err, "unknown option '-%c'", *letter);
		if (o->value)
			return take_value(o, letter[1] ? letter + 1 : NULL, next, into, err);
		rc = apply(o, NULL, into, err);
	}
	return rc;
}

/* Apply the options of @argv and collect its operands. 0, 1 = help, or an error. */
static int parse_words(const struct dw_option *table, bool leading, char **argv, void *into,
		       struct dw_option_list *operands, struct dw_error *err)
{
	bool options = true;
	char **next = argv + 1;
	int rc = 0;

	while (!rc && *next) { /* one whose value is missing went beyond the end */
		if (options && !strcmp(*next, "--")) {
			options = false;
			next++;
		} else if (options && !strncmp(*next, "--", 2)) {
			rc = parse_long(table, &next, into, err);
		} else if (options && **next == '-' && (*next)[1]) {
			rc = parse_short(table, &next, into, err);
		} else {
			options = options && !leading;
			rc = dw_option_list(*next++, operands, err);
		}
	}
	return rc;
}

int dw_options_parse(const struct dw_option *table, bool leading, char **argv, void *into,
		     int *first, struct dw_error *err)
{
	struct dw_option_list operands = {0};
	int rc = parse_words(table, leading, argv, into, &operands, err);
	size_t argc = 0;

	while (argv[argc])
		argc++;
	*first = (int)(argc - operands.n);
	/* Each word was read, and values are kept as pointers to the words: the slots are free. */
	for (size_t i = 0; !rc && i < operands.n; i++)
		argv[argc - operands.n + i] = (char *)operands.v[i];
	dw_vec_release(&operands);
	return rc;
}

void dw_options_help(const struct dw_option *table, struct dw_out *out)
{
	for (; table->name; table++) {
		enum { LEFT_COLUMNS = 26 };
		char left[64];

		if (!table->help)
			continue;
		snprintf(left, sizeof left, "%c%c%s --%s%s%s", table->letter ? '-' : ' ',
			 table->letter ? table->letter : ' ', table->letter ? "," : " ",
			 table->name, table->value && *table->value != '[' ? " " : "",
			 table->value ? table->value : "");
		if (strlen(left) > LEFT_COLUMNS)
			dw_out_printf(out, "  %s\n  %-*s %s\n", left, LEFT_COLUMNS, "",
				      table->help);
		else
			dw_out_printf(out, "  %-*s %s\n", LEFT_COLUMNS, left, table->help);
	}
}

int dw_option_debuginfod(const char *value, void *into, struct dw_error *err)
{
	struct dw_debuginfod_choice *c = into;

	(void)value, (void)err;
	c->is_wanted = true;
	return 0;
}

int dw_option_debuginfod_timeout(const char *value, void *into, struct dw_error *err)
{
	struct dw_debuginfod_choice *c = into;
	int rc = dw_option_time_ns(value, &c->timeout_ns, err);

	if (!rc && (c->timeout_ns < 1000000 || c->timeout_ns > DEBUGINFOD_MAX_NS))
		rc = dw_misuse(err, "'%s' is not from 1 ms to a day", value);
	c->is_wanted = true;
	return rc;
}

uint32_t dw_debuginfod_choice_ms(const struct dw_debuginfod_choice *c)
{
	if (!c->is_wanted)
		return 0;
	return c->timeout_ns ? (uint32_t)(c->timeout_ns / 1000000) : DEBUGINFOD_MS;
}

struct dw_filter_words dw_filter_options_words(const struct dw_filter_options *o)
{
	return (struct dw_filter_words){
		.processes = o->processes.v,
		.processes_n = o->processes.n,
		.threads = o->threads.v,
		.threads_n = o->threads.n,
		.modules = o->modules.v,
		.modules_n = o->modules.n,
		.types = o->types.v,
		.types_n = o->types.n,
		.from_ns = o->from_ns,
		.to_ns = o->to_ns,
		.waits_left_out = o->waits.is_given ? o->waits.left_out : DWELL_WAITS_FOLDED,
	};
}

int dw_filter_options_resolve(const struct dw_filter_options *o, const struct dw_profile *p,
			      struct dw_filter_owned *ret, struct dw_error *err)
{
	const struct dw_filter_words words = dw_filter_options_words(o);

	*ret = (struct dw_filter_owned){0};
	if (o->types.n && dw_profile_method(p) != DWELL_METHOD_MEMORY)
		return dw_misuse(err, "--type is for sessions of dwell memory");
	return dw_filter_resolve(p, &words, ret, err);
}

void dw_filter_options_release(struct dw_filter_options *o)
{
	dw_vec_release(&o->processes);
	dw_vec_release(&o->threads);
	dw_vec_release(&o->modules);
	dw_vec_release(&o->types);
	dw_vec_each(word, &o->words)
		free(*word);
	dw_vec_release(&o->words);
}

static int unknown_wait(const char *word, size_t n, struct dw_error *err)
{
	struct dw_candidates candidates = DW_CANDIDATES_INIT;

	dw_candidates_begin(&candidates, word, n);
	dw_candidates_offer(&candidates, "all");
	dw_candidates_offer(&candidates, "none");
	for (enum dw_wait_kind kind = 0; kind < DWELL_WAIT_KINDS; kind++)
		dw_candidates_offer(&candidates, dw_wait_kind_name(kind));
	return dw_candidates_unknown(&candidates, "kind of waiting", err);
}

int dw_option_waits(const char *value, void *into, struct dw_error *err)
{
	struct dw_waits_choice *c = into;
	dw_wait_kinds set;
	const char *unknown = dw_wait_kinds_read(value, &set);

	if (unknown)
		return unknown_wait(unknown, strcspn(unknown, ","), err);
	c->is_given = true;
	c->left_out = DWELL_WAITS_ALL & ~set;
	return 0;
}

int dw_option_my_code(const char *value, void *into, struct dw_error *err)
{
	struct dw_my_code_options *o = into;

	o->is_given = true;
	for (const char *word = value; word && *word; word += *word == ',') {
		size_t n = strcspn(word, ",");

		if (n == strlen("caller") && !memcmp(word, "caller", n))
			o->keeps_callers = true;
		else if (n == strlen("callee") && !memcmp(word, "callee", n))
			o->keeps_callees = true;
		else
			return dw_misuse(err, "takes caller, callee or both, not '%.*s'", (int)n,
					 word);
		word += n;
	}
	return 0;
}

int dw_my_code_apply(const struct dw_my_code_options *o, bool is_table, uint32_t opened,
		     struct dw_profile *p, size_t *ret, struct dw_error *err)
{
	const struct dw_my_code_rule rule = {
		.keeps_callers = o->keeps_callers,
		.keeps_callees = o->keeps_callees || !o->is_given,
		.opened = opened,
		.mine = o->mine.v,
		.mine_n = o->mine.n,
		.systems = o->systems.v,
		.systems_n = o->systems.n,
	};

	*ret = 0;
	if (o->shows_all && (o->is_given || o->mine.n || o->systems.n))
		return dw_misuse(err, "--all-code folds nothing, so there is nothing to choose");
	if (o->shows_all || !(o->is_given || o->mine.n || o->systems.n || is_table))
		return 0;
	return dw_fold_system_code(p, &rule, ret, err);
}

void dw_my_code_options_release(struct dw_my_code_options *o)
{
	dw_vec_release(&o->mine);
	dw_vec_release(&o->systems);
}
