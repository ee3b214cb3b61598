/*
 * What must survive a call although no ABI says so, and the ABI's rarer ways to pass values.
 */
#include "hostile.h"

#include <complex.h>
#include <fenv.h>
#include <math.h>
#include <stdarg.h>

/* Defined in conventions-x86-64.S. */
extern long registers_kept(void);
extern long carry_argument(long carry);
extern long flag_results(long left, long right);
extern long flag_results_indirect(long left, long right);
extern long flags_over_jump(long which, long number);
extern long direction_kept(void);
extern long vectors_kept(const void *want, void *got);
extern long wide_vectors_kept(const void *want, void *got);
extern long x87_kept(double *got);
extern long below_stack(long number);
extern long result_below_stack(long number);

static void run_registers(void)
{
	for (int i = 0; i < 1000; i++)
		CHECK(registers_kept() == 0);
}

static void run_flag_argument(void)
{
	for (int i = 0; i < 1000; i++)
		CHECK(carry_argument(i) == (i & 1));
}

static void run_flag_results(void)
{
	for (int i = 0; i < 1000; i++) {
		CHECK(flag_results(i % 3, 1) == i % 3 + 1);
		CHECK(flag_results_indirect(i % 3, 1) == i % 3 + 1);
	}
}

static void run_flags_over_jump(void)
{
	for (int i = 0; i < 1000; i++) {
		CHECK(flags_over_jump(0, i) == (i < 100));
		CHECK(flags_over_jump(1, i) == (i == 100));
	}
}

static void run_direction(void)
{
	for (int i = 0; i < 1000; i++)
		CHECK(direction_kept() == 1);
}

static void run_vectors(void)
{
	static unsigned char want[512], got[512];

	if (!__builtin_cpu_supports("avx"))
		return;
	for (int i = 0; i < 512; i++)
		want[i] = (unsigned char)(i * 7 + 1);
	for (int i = 0; i < 1000; i++) {
		vectors_kept(want, got);
		CHECK(!memcmp(want, got, sizeof(want)));
	}
}

static void run_wide_vectors(void)
{
	static unsigned char want[64 * 33], got[64 * 33];

	if (!__builtin_cpu_supports("avx512f"))
		return;
	for (size_t i = 0; i < sizeof(want); i++)
		want[i] = (unsigned char)(i * 7 + 1);
	for (int i = 0; i < 1000; i++) {
		wide_vectors_kept(want, got);
		CHECK(!memcmp(want, got, 64 * 32));
		for (int mask = 1; mask < 8; mask++)
			CHECK(!memcmp(want + 64 * mask, got + 64 * 32 + 2 * mask, 2));
	}
}

static void run_x87(void)
{
	double got[8];

	for (int i = 0; i < 1000; i++) {
		CHECK(x87_kept(got) == 0);
		CHECK(got[0] == 1 && got[1] == 0 && got[6] > 3.14 && got[6] < 3.15 && got[7] == 1);
	}
}

static void run_below_stack(void)
{
	for (int i = 0; i < 1000; i++) {
		CHECK(below_stack(i) == i);
		CHECK(result_below_stack(i) == i + 1);
	}
}

NOINLINE static double third(double number)
{
	return number / 3;
}

NOINLINE static long double long_third(long double number)
{
	return number / 3;
}

/* Rounding and precision that the program chose hold in every function. */
static void run_rounding(void)
{
	static const int modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
	unsigned short word, single;

	for (int i = 0; i < 4; i++) {
		CHECK(!fesetround(modes[i]));
		printf("%a %La %ld\n", third(1), long_third(-1), lrint(third(8)));
		CHECK(fegetround() == modes[i]);
	}
	fesetround(FE_TONEAREST);
	__asm__ volatile("fnstcw %0" : "=m"(word));
	single = word & 0xfcff;
	__asm__ volatile("fldcw %0" : : "m"(single));
	printf("%La\n", long_third(1));
	__asm__ volatile("fldcw %0" : : "m"(word));
}

static void run_float_state(void)
{
	unsigned short word;
	unsigned mxcsr;

	__asm__ volatile("fnstcw %0\n\tstmxcsr %1" : "=m"(word), "=m"(mxcsr));
	printf("at start: %x %x, raised %x\n", word, mxcsr, fetestexcept(FE_ALL_EXCEPT));
	feclearexcept(FE_ALL_EXCEPT);
	for (int i = 0; i < 100; i++)
		CHECK(third(3) == 1 && !fetestexcept(FE_ALL_EXCEPT));
	CHECK(third(1) > 0 && fetestexcept(FE_ALL_EXCEPT) == FE_INEXACT);
}

NOINLINE static double add_all(int count, ...)
{
	va_list list;
	double sum = 0;

	va_start(list, count);
	for (int i = 0; i < count; i++)
		sum += i & 1 ? va_arg(list, double) : va_arg(list, int);
	va_end(list);
	return sum;
}

struct large {
	long numbers[20];
};

NOINLINE static struct large make_large(struct large from, int add)
{
	for (int i = 0; i < 20; i++)
		from.numbers[i] += add * i;
	return from;
}

NOINLINE static __int128 multiply(__int128 left, long right)
{
	return left * right;
}

NOINLINE static long double _Complex turn(long double _Complex number)
{
	return number * 1.0iL;
}

NOINLINE __attribute__((ms_abi)) static long other_abi(long a, long b, long c, long d, long e,
						       double f)
{
	return a + 2 * b + 3 * c + 4 * d + 5 * e + (long)f;
}

typedef int vector __attribute__((vector_size(32)));

__attribute__((noinline, target("avx2"))) static vector add_vectors(vector a, vector b)
{
	return a + b;
}

__attribute__((target("avx2"))) static void use_vectors(void)
{
	vector sum = {0}, one = {1, 2, 3, 4, 5, 6, 7, 8};

	for (int i = 0; i < 1000; i++)
		sum = add_vectors(sum, one);
	printf("vector %d %d\n", sum[0], sum[7]);
}

static void run_values(void)
{
	struct large large = {{1, 2, 3}};
	long double _Complex number = 1 + 2.0iL;

	printf("variable %g\n", add_all(9, 1, 2.5, 3, 4.5, 5, 6.5, 7, 8.5, 9));
	for (int i = 0; i < 100; i++)
		large = make_large(large, i);
	printf("large %ld %ld\n", large.numbers[0], large.numbers[19]);
	printf("wide %lx\n", (long)(multiply((__int128)1 << 70, 77) >> 60));
	for (int i = 0; i < 103; i++)
		number = turn(number);
	printf("complex %Lg %Lg\n", creall(number), cimagl(number));
	printf("other ABI %ld\n", other_abi(1, 2, 3, 4, 5, 6));
	if (__builtin_cpu_supports("avx2"))
		use_vectors();
}

/* The compiler sees what these leave alone, and its callers rely on it (-fipa-ra). */
__attribute__((noinline)) static long leaf(long number)
{
	return number * 3 + 1;
}

__attribute__((noinline)) static double double_leaf(double number)
{
	return number * 0.5;
}

__attribute__((noinline)) static double many_values(long n)
{
	double a = (double)n, b = a + 1, c = a + 2, d = a + 3;
	long i = n, j = n + 1, k = n + 2, l = n + 3, m = n + 4;

	for (int round = 0; round < 50; round++) {
		i += leaf(j);
		a = a * 0.5 + double_leaf(b);
		j ^= leaf(k) + i;
		b = c * 0.25 - double_leaf(d);
		k += leaf(l) - j;
		c = d * 0.25 + a * 0.5;
		l -= leaf(m) ^ k;
		d = double_leaf(a) - 0.25 * d;
		m += i & 15;
	}
	return a + b + c + d + (double)((i ^ j ^ k ^ l ^ m) & 0xffff);
}

static void run_local_calls(void)
{
	double sum = 0;

	for (int n = 0; n < 1000; n++)
		sum += many_values(n);
	printf("sum %.17g\n", sum);
}

static const struct hostile_case cases[] = {
	{"registers", run_registers},	    {"flag-argument", run_flag_argument},
	{"flag-results", run_flag_results}, {"flags-over-jump", run_flags_over_jump},
	{"direction", run_direction},	    {"vectors", run_vectors},
	{"wide-vectors", run_wide_vectors}, {"x87", run_x87},
	{"below-stack", run_below_stack},   {"rounding", run_rounding},
	{"float-state", run_float_state},   {"values", run_values},
	{"local-calls", run_local_calls},   {0},
};

int main(int argc, char **argv)
{
	return hostile_main(argc, argv, cases);
}
