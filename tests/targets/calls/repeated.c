/*
 * Recursion in which an edge, a call site and a module come again below themselves, while their
 * callees have time from elsewhere too. With -DLIBRARY the library that is called back into.
 */
typedef void callback(void);

void library_outer(callback *back);
void library_inner(void);

static inline __attribute__((always_inline)) void work(void)
{
	for (volatile unsigned i = 0; i < 1000000; i++)
		;
}

#ifdef LIBRARY

void library_inner(void)
{
	work();
}

void library_outer(callback *back)
{
	back();
	__asm__ volatile("");
}

#else

enum { TIMES = 10, DEPTH = 21 };

__attribute__((noinline)) void worker(int depth);

/* Two sites, in turn. */
__attribute__((noinline)) void caller(int depth)
{
	if (depth % 2)
		worker(depth - 1);
	else if (depth)
		worker(depth - 2);
	__asm__ volatile("");
}

__attribute__((noinline)) void worker(int depth)
{
	if (depth > 0)
		caller(depth);
	else
		work();
	__asm__ volatile("");
}

__attribute__((noinline)) static void called_back(void)
{
	library_inner();
	__asm__ volatile("");
}

int main(void)
{
	for (int i = 0; i < TIMES; i++) {
		caller(DEPTH);
		for (int k = 0; k < 3; k++)
			worker(0);
		library_outer(called_back);
	}
	return 0;
}

#endif
