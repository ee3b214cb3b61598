/* Native functions below managed ones and above others, none of which keeps a frame pointer. */
typedef long callback_fn(void *context, long n);

long dwell_native_outer(callback_fn *fn, void *context, long n);

/* What stands behind the call, so that it is no jump, and changes the frame's size. */
static __attribute__((noinline)) long inner(callback_fn *fn, void *context, long n)
{
#ifdef SECOND
	volatile char room[400];
#else
	volatile char room[40];
#endif

	room[n % 40] = 1;
	return fn(context, n) + room[n % 40];
}

static __attribute__((noinline)) long middle(callback_fn *fn, void *context, long n)
{
	long sum = 0;

	for (long i = 0; i < 3; i++)
		sum += inner(fn, context, n + i);
	return sum;
}

long dwell_native_outer(callback_fn *fn, void *context, long n)
{
	return middle(fn, context, n) + 1;
}
