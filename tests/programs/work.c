/* C with some of everything a compiler has to do: input of the compiler trials. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIST(X) X(add, +) X(sub, -) X(mul, *) X(or, |) X(xor, ^) X(and, &)
#define FUNCTIONS(n)                                                   \
	static double poly_##n(double x)                               \
	{                                                              \
		double sum = n;                                        \
		for (int i = 1; i < n % 7 + 3; i++)                    \
			sum = sum * x + sin(x * i) / (i + n);          \
		return sum > n ? sqrt(sum) : sum;                      \
	}                                                              \
	static int parse_##n(const char *s)                            \
	{                                                              \
		int value = 0, state = n % 3;                          \
		for (; *s; s++) {                                      \
			switch (*s) {                                  \
			case 'a' ... 'f':                              \
				value = value * 16 + *s - 'a' + 10;    \
				break;                                 \
			case '0' ... '9':                              \
				value = value * 10 + *s - '0';         \
				break;                                 \
			case '-':                                      \
				value = -value;                        \
				break;                                 \
			case '/':                                      \
				value = state ? value / state : value; \
				break;                                 \
			case '(':                                      \
				state++;                               \
				break;                                 \
			case ')':                                      \
				state--;                               \
				break;                                 \
			case '.':                                      \
				return value;                          \
			default:                                       \
				value ^= *s << (state & 7);            \
			}                                              \
		}                                                      \
		return value;                                          \
	}
#define TEN(n)	     FUNCTIONS(n##0) FUNCTIONS(n##1) FUNCTIONS(n##2) FUNCTIONS(n##3) FUNCTIONS(n##4)
#define CALLS(n)     total += poly_##n(total / 1e3) + parse_##n("12-34/(5)x(6)7a.b");
#define TEN_CALLS(n) CALLS(n##0) CALLS(n##1) CALLS(n##2) CALLS(n##3) CALLS(n##4)
#define EACH(X)	     X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8)

EACH(TEN)
struct node {
	struct node *left, *right;
	long key;
	char text[20];
};
#define OPERATION(name, op)              \
	static long name(long a, long b) \
	{                                \
		return a op b;           \
	}
LIST(OPERATION)
#define ENTRY(name, op) name,
static long (*const operations[])(long, long) = {LIST(ENTRY)};

static struct node *insert(struct node *tree, long key)
{
	if (!tree) {
		tree = calloc(1, sizeof(*tree));
		tree->key = key;
		snprintf(tree->text, sizeof(tree->text), "node %ld", key);
	} else if (key < tree->key) {
		tree->left = insert(tree->left, key);
	} else if (key > tree->key) {
		tree->right = insert(tree->right, key);
	}
	return tree;
}

static long walk(const struct node *tree, int depth)
{
	return tree ? walk(tree->left, depth + 1) + tree->key * depth +
			       walk(tree->right, depth + 1) + (long)strlen(tree->text)
		    : 0;
}

static int compare(const void *a, const void *b)
{
	return (*(const long *)a > *(const long *)b) - (*(const long *)a < *(const long *)b);
}

int main(int argc, char **argv)
{
	struct node *tree = NULL;
	static long numbers[50000];
	int rounds = argc > 1 ? atoi(argv[1]) : 2000;
	double total = 1;
	long sum = 0;

	for (int round = 0; round < rounds; round++) {
		EACH(TEN_CALLS)
		total = fmod(total, 1e6);
	}
	for (long i = 0; i < 50000; i++) {
		numbers[i] = i * 7919 % 50021;
		sum += operations[i % 6](numbers[i], i);
		tree = insert(tree, numbers[i]);
	}
	qsort(numbers, 50000, sizeof(long), compare);
	printf("%.9g %ld %ld %ld\n", total, sum, walk(tree, 0), numbers[4711]);
	return 0;
}
