/*
 * Compiled with -finstrument-functions for oddities.c: each call tells where it came from.
 */
long hooked_fib(long n);

long hooked_fib(long n)
{
	return n < 2 ? n : hooked_fib(n - 1) + hooked_fib(n - 2);
}
