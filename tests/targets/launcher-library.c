/*
 * A library that holds the work of the executable that is called like it (launcher.c): 256
 * functions, of which run_work(N) calls each N times.
 */
#define OWN extern __attribute__((noinline, noclone, used))

unsigned run_work(unsigned n);

#define FUNCTION(n)                                       \
	OWN unsigned work_##n(unsigned x);                \
	unsigned work_##n(unsigned x)                     \
	{                                                 \
		unsigned sum = 0x##n;                     \
                                                          \
		for (volatile unsigned i = 0; i < 4; i++) \
			sum = sum * 31 + (x ^ i);         \
		return sum;                               \
	}
#define FOUR(M, n, a, b, c, d) M(n##a) M(n##b) M(n##c) M(n##d)
#define ROW(M, n)              \
	FOUR(M, n, 0, 1, 2, 3) \
	FOUR(M, n, 4, 5, 6, 7) \
	FOUR(M, n, 8, 9, a, b) \
	FOUR(M, n, c, d, e, f)
#define ROWS(M, a, b, c, d) ROW(M, a) ROW(M, b) ROW(M, c) ROW(M, d)
#define ALL(M)              \
	ROWS(M, 0, 1, 2, 3) \
	ROWS(M, 4, 5, 6, 7) \
	ROWS(M, 8, 9, a, b) \
	ROWS(M, c, d, e, f)

ALL(FUNCTION)

#define CALL(n) sum += work_##n(sum);

unsigned run_work(unsigned n)
{
	unsigned sum = 0;

	while (n--) {
		ALL(CALL)
	}
	return sum;
}
