/*
 * A library that programs open and close: it talks when it comes and goes. NAME tells copies apart.
 */
#include <stdio.h>

#define TEXT2(name) #name
#define TEXT(name)  TEXT2(name)

static long total;

__attribute__((constructor)) static void come(void)
{
	total = 1000;
}

__attribute__((destructor)) static void go(void)
{
	printf("%s goes at %ld\n", TEXT(NAME), total);
}

static long plus(long number)
{
	return number + 1;
}

static long minus(long number)
{
	return number - 1;
}

/* An ifunc: which function it is, is decided when the library is loaded. */
static long (*choose(void))(long)
{
	return sizeof(TEXT(NAME)) & 1 ? plus : minus;
}

long plugin_chosen(long number) __attribute__((ifunc("choose")));

/* Recursion with a switch, so that there is something to move. */
long plugin_work(long number);
long plugin_work(long number)
{
	total++;
	switch (number % 6) {
	case 0:
		return number ? plugin_work(number - 1) * 3 : 1;
	case 1:
		return plugin_work(number - 1) + 5;
	case 2:
		return plugin_work(number - 1) ^ number;
	case 3:
		return plugin_work(number - 1) - 7;
	case 4:
		return plugin_work(number - 1) % 1000003;
	default:
		return plugin_chosen(plugin_work(number - 1));
	}
}

/* Calls back into the program. */
long plugin_call(long (*function)(long), long number);
long plugin_call(long (*function)(long), long number)
{
	return function(number) + function(number + 1);
}
