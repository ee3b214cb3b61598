/*
 * A small Lisp, for the calls that interpreters make: recursion, handlers called through a table,
 * tail calls, a comparison called back by qsort(), errors that leave by longjmp().
 *
 *	interpreter [N]		run its program with the number N (default 17), print the results
 */
#include <ctype.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kind { NUMBER, SYMBOL, PAIR, FUNCTION };

struct value {
	enum kind kind;
	long number;
	const char *name;
	struct value *head, *tail;		  /* of a pair; of a function: parameters, body */
	struct value *(*run)(struct value *args); /* a function of ours */
};

struct binding {
	struct value *name, *value;
	struct binding *next;
};

static struct value *symbols;
static struct binding *globals;
static jmp_buf failed;
static const char *reason;

static struct value *eval(struct value *v, struct binding *env);

static struct value *make(enum kind kind)
{
	struct value *v = calloc(1, sizeof *v);

	if (!v)
		exit(1);
	v->kind = kind;
	return v;
}

static struct value *number(long n)
{
	struct value *v = make(NUMBER);

	v->number = n;
	return v;
}

static struct value *pair(struct value *head, struct value *tail)
{
	struct value *v = make(PAIR);

	v->head = head;
	v->tail = tail;
	return v;
}

static struct value *symbol(const char *name, size_t n)
{
	struct value *all = symbols;

	for (; all; all = all->tail)
		if (strlen(all->head->name) == n && !memcmp(all->head->name, name, n))
			return all->head;
	symbols = pair(make(SYMBOL), symbols);
	symbols->head->name = strndup(name, n);
	return symbols->head;
}

static _Noreturn void fail(const char *why)
{
	reason = why;
	longjmp(failed, 1);
}

static const char *blanks(const char *s)
{
	while (isspace((unsigned char)*s))
		s++;
	return s;
}

static struct value *read_value(const char **s);

static struct value *read_list(const char **s)
{
	struct value *head;

	*s = blanks(*s);
	if (!**s)
		fail("a list does not end");
	if (**s == ')') {
		++*s;
		return NULL;
	}
	head = read_value(s);
	return pair(head, read_list(s));
}

static struct value *read_value(const char **s)
{
	const char *start = *s = blanks(*s);
	char *end;
	long n = strtol(start, &end, 10);

	if (end != start) {
		*s = end;
		return number(n);
	}
	if (*start == '(') {
		++*s;
		return read_list(s);
	}
	while (**s && !isspace((unsigned char)**s) && **s != '(' && **s != ')')
		++*s;
	return symbol(start, (size_t)(*s - start));
}

static struct value *look_up(struct value *name, struct binding *env)
{
	for (; env; env = env->next)
		if (env->name == name)
			return env->value;
	for (env = globals; env; env = env->next)
		if (env->name == name)
			return env->value;
	fail("a name without a value");
}

static void define(struct value *name, struct value *value)
{
	struct binding *b = calloc(1, sizeof *b);

	if (!b)
		exit(1);
	*b = (struct binding){name, value, globals};
	globals = b;
}

static struct value *eval_all(struct value *list, struct binding *env)
{
	struct value *head;

	if (!list)
		return NULL;
	head = eval(list->head, env);
	return pair(head, eval_all(list->tail, env));
}

static struct value *apply(struct value *f, struct value *args)
{
	struct binding bindings[8], *env = NULL;
	struct value *name = f ? f->head : NULL;

	if (!f || f->kind != FUNCTION)
		fail("called what is no function");
	if (f->run)
		return f->run(args);
	for (int i = 0; name && args && i < 8; i++) {
		bindings[i] = (struct binding){name->head, args->head, env};
		env = &bindings[i];
		name = name->tail;
		args = args->tail;
	}
	return eval(f->tail, env);
}

static int is_true(const struct value *v)
{
	return v && (v->kind != NUMBER || v->number);
}

static struct value *eval_if(struct value *v, struct binding *env)
{
	struct value *rest = v->tail;

	if (is_true(eval(rest->head, env)))
		return eval(rest->tail->head, env);
	return eval(rest->tail->tail->head, env);
}

static struct value *eval_define(struct value *v, struct binding *env)
{
	struct value *f, *name = v->tail->head;

	if (name->kind != PAIR) {
		define(name, eval(v->tail->tail->head, env));
		return NULL;
	}
	f = make(FUNCTION);
	f->head = name->tail;
	f->tail = v->tail->tail->head;
	define(name->head, f);
	return f;
}

static struct value *eval_pair(struct value *v, struct binding *env)
{
	struct value *f;

	if (v->head->kind == SYMBOL && !strcmp(v->head->name, "if"))
		return eval_if(v, env);
	if (v->head->kind == SYMBOL && !strcmp(v->head->name, "define"))
		return eval_define(v, env);
	f = eval(v->head, env);
	return apply(f, eval_all(v->tail, env));
}

static struct value *eval_self(struct value *v, struct binding *env)
{
	(void)env;
	return v;
}

static struct value *eval(struct value *v, struct binding *env)
{
	static struct value *(*const handlers[])(struct value *,
						 struct binding *) = {[NUMBER] = eval_self,
								      [SYMBOL] = look_up,
								      [PAIR] = eval_pair,
								      [FUNCTION] = eval_self};

	return v ? handlers[v->kind](v, env) : NULL;
}

static long value_of(const struct value *v)
{
	if (!v || v->kind != NUMBER)
		fail("no number");
	return v->number;
}

static struct value *run_add(struct value *args)
{
	return number(value_of(args->head) + value_of(args->tail->head));
}

static struct value *run_subtract(struct value *args)
{
	return number(value_of(args->head) - value_of(args->tail->head));
}

static struct value *run_less(struct value *args)
{
	return number(value_of(args->head) < value_of(args->tail->head));
}

static struct value *run_list(struct value *args)
{
	return args;
}

static int compare(const void *a, const void *b)
{
	long x = value_of(*(struct value *const *)a), y = value_of(*(struct value *const *)b);

	return (x > y) - (x < y);
}

static struct value *run_sort(struct value *args)
{
	struct value *values[64], *sorted = NULL;
	size_t n = 0;

	for (struct value *v = args->head; v && n < 64; v = v->tail)
		values[n++] = v->head;
	qsort(values, n, sizeof *values, compare);
	while (n)
		sorted = pair(values[--n], sorted);
	return sorted;
}

static void print(const struct value *v)
{
	if (v && v->kind == NUMBER)
		printf("%ld", v->number);
	else if (v && v->kind == SYMBOL)
		printf("%s", v->name);
	else
		putchar('(');
	for (; v && v->kind == PAIR; v = v->tail) {
		print(v->head);
		putchar(v->tail ? ' ' : ')');
	}
}

/* Evaluate the text, print what comes of it. */
static void run(const char *text)
{
	if (setjmp(failed)) {
		printf("%s\n", reason);
		return;
	}
	print(eval(read_value(&text), NULL));
	putchar('\n');
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		struct value *(*run)(struct value *);
	} ours[] = {{"+", run_add},
		    {"-", run_subtract},
		    {"<", run_less},
		    {"list", run_list},
		    {"sort", run_sort}};
	char text[64];

	for (size_t i = 0; i < sizeof ours / sizeof *ours; i++) {
		struct value *f = make(FUNCTION);

		f->run = ours[i].run;
		define(symbol(ours[i].name, strlen(ours[i].name)), f);
	}
	run("(define (fib n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2)))))");
	run("(define (count n) (if (< n 1) (list) (+ n (count (- n 1)))))");
	snprintf(text, sizeof text, "(fib %s)", argc > 1 ? argv[1] : "17");
	run(text);
	run("(sort (list 5 3 9 1 (fib 7) (- 0 4) 8 2 7))");
	for (int i = 0; i < 20; i++)
		run("(count 30)");
	run("(fib (sort (list 1");
	return 0;
}
