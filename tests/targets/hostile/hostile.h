/*
 * What the hostile programs share. Each program is one topic and each of its cases one thing that
 * an engine which moves code gets wrong easily: `PROGRAM CASE` runs one, `PROGRAM` lists them.
 *
 * A case prints what it found, the same on every run, and CHECKs what it knows. A failed check is
 * told on stdout, where a comparison with a plain run sees it too, and makes the status 1.
 * One thread at a time may check.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline, noipa))
#ifdef __clang__
#undef NOINLINE
#define NOINLINE __attribute__((noinline))
#endif

/* One case: its name and what it runs. A table of them ends with an empty one. */
struct hostile_case {
	const char *name;
	void (*run)(void);
};

#define CHECK(condition) hostile_check((condition), #condition, __LINE__)

static int hostile_failures;
/* The program's own path, for cases that start it again. */
static const char *hostile_self __attribute__((unused));

static inline bool hostile_check(bool is_true, const char *what, int line)
{
	if (!is_true && hostile_failures++ < 10)
		printf("line %d: not so: %s\n", line, what);
	return is_true;
}

static inline int hostile_main(int argc, char **argv, const struct hostile_case *cases)
{
	hostile_self = argv[0];
	for (; cases->name; cases++) {
		if (argc < 2) {
			puts(cases->name);
		} else if (!strcmp(argv[1], cases->name)) {
			cases->run();
			fflush(stdout);
			return hostile_failures != 0;
		}
	}
	return argc < 2 ? 0 : 2;
}

/* Is this an address of the program's own code, where its file was mapped? */
static inline bool hostile_is_own_code(uintptr_t address)
{
	extern char __executable_start[], etext[];

	return address >= (uintptr_t)__executable_start && address < (uintptr_t)etext;
}
