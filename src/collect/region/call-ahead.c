/* Times charged ahead; see call-ahead.h. */
#include "collect/region/call-ahead.h"

int64_t dw_call_ahead_settle(int64_t *ahead, int64_t rise, int64_t more)
{
	int64_t give = rise + more - *ahead;

	if (give < 0)
		give = 0;
	*ahead += give - rise;
	return give;
}

/* Take up to *@excess off *@from. */
static int64_t take(int64_t *from, int64_t *excess)
{
	int64_t n = *from < *excess ? *from : *excess;

	n = n > 0 ? n : 0;
	*from -= n;
	*excess -= n;
	return n;
}

void dw_call_ahead_move(struct dw_call_ahead *a, struct dw_call_rise *from, struct dw_call_rise *to)
{
	int64_t all = a->elapsed - a->new_elapsed, program = a->application - a->new_application;
	int64_t of_system = from->elapsed - from->application;
	int64_t system, blocked, cpu, moved, whole;

	program = program < 0 ? 0 : program < all ? program : all;
	system = all - program;
	moved = take(&from->application, &program);
	whole = moved;
	a->application -= moved;
	take(&from->whole, &whole);
	a->whole -= moved - whole;
	blocked = (int64_t)from->blocked;
	cpu = (int64_t)from->os_cpu;
	system = take(&of_system, &system);
	a->elapsed -= moved + system;
	from->elapsed -= moved + system;
	moved = take(&blocked, &system);
	from->blocked -= (uint64_t)moved;
	to->blocked += (uint64_t)moved;
	moved = take(&cpu, &system);
	from->os_cpu -= (uint64_t)moved;
	to->os_cpu += (uint64_t)moved;
}
