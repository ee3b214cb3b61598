/* One part of truth's work in a shared library: built twice, with PART and PERCENT set. */
#include "truth.h"

#define TEXT_OF(x)    #x
#define TEXT(x)	      TEXT_OF(x)
#define JOIN_OF(a, b) a##b
#define JOIN(a, b)    JOIN_OF(a, b)

uint64_t PART(uint64_t x, long steps);
extern const struct part JOIN(part_, PART);

enum { first_line = __LINE__ };
OWN_FUNCTION uint64_t PART(uint64_t x, long steps)
{
	for (long i = 0; i < steps; i++)
		x = STEP(x);
	return x;
}
enum { last_line = __LINE__ };

const struct part JOIN(part_, PART) = {
	TEXT(PART), 0, PART, CODE(PART), PERCENT, first_line, last_line, __FILE__,
};
