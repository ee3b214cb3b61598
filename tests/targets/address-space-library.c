/* A library that address-space opens and closes: it is larger than the holes that that makes. */
static volatile char room[64 << 10] = {1};

static int part(int n)
{
	room[(unsigned int)n % sizeof room]++;
	return n > 1 ? part(n - 1) + part(n - 2) : n + PART;
}

int library_work(int n)
{
	return part(n) + room[0] - room[0];
}
