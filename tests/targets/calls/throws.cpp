/* Exceptions through five frames with destructors, thrown again, and out of nested handlers. */
#include "counted.h"

#include <stdexcept>
#include <string>

enum { TIMES = 2000, DEPTH = 5 };

OWN void destroyed(int n)
{
	COUNTED();
	BARRIER();
	(void)n;
}

struct guard {
	int n;
	~guard()
	{
		destroyed(n);
	}
};

OWN int odd(int i)
{
	COUNTED();
	return i % 2;
}

OWN void throws(int i)
{
	COUNTED();
	if (odd(i))
		throw std::runtime_error("odd");
	BARRIER();
}

OWN void frame(int depth, int i)
{
	COUNTED();
	guard g{depth};

	if (depth == DEPTH)
		throws(i);
	else
		frame(depth + 1, i);
	BARRIER();
}

OWN void again(int i)
{
	COUNTED();
	try {
		frame(1, i);
	} catch (const std::exception &) {
		destroyed(0);
		throw;
	}
	BARRIER();
}

OWN int catches(int i)
{
	COUNTED();
	try {
		again(i);
	} catch (const std::runtime_error &e) {
		BARRIER();
		return static_cast<int>(std::string(e.what()).size());
	}
	destroyed(0);
	return 0;
}

int main()
{
	int sum = 0;

	for (int i = 0; i < TIMES; i++)
		sum += catches(i);
	printf("%d\n", sum);
	print_counts();
	return 0;
}
