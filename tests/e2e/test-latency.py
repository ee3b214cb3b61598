"""Latency: of a program that works alone and then, as long by the clock, in four threads, both parts have as much."""
import re

from harness import expect, require

PROGRAM = r"""
#include <pthread.h>
#include <stdio.h>
#include <time.h>

static double end;

static double now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

#define WORK(name)                                                                  \
	__attribute__((noinline)) void *name(void *arg)                             \
	{                                                                           \
		while (now(CLOCK_MONOTONIC) < end)                                  \
			for (volatile int i = 0; i < 100000; i++) {}                \
		return arg;                                                         \
	}
WORK(alone)
WORK(together)

int main(void)
{
	pthread_t threads[4];
	double cpu;

	end = now(CLOCK_MONOTONIC) + 0.8;
	alone(NULL);
	cpu = now(CLOCK_PROCESS_CPUTIME_ID);
	printf("alone %f\n", cpu);
	end = now(CLOCK_MONOTONIC) + 0.8;
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, together, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	printf("together %f\n", now(CLOCK_PROCESS_CPUTIME_ID) - cpu);
}
"""
COLUMNS = "function_name,inclusive_samples,inclusive_cpu_time,exclusive_latency,inclusive_latency,inclusive_latency_percent"


def test_parallel_parts(context):
    with open(context.path("parts.c"), "w", encoding="utf-8") as f:
        f.write(PROGRAM)
    done = context.run("gcc", "-O1", "-g", "-pthread", "-o", "parts", "parts.c")
    expect((done.returncode, done.stderr), (0, ""), "gcc")
    done = context.run(context.dwell, "sample", "-q", "-o", "run.dwell", "--", context.path("parts"))
    expect(done.returncode, 0, done.stderr)
    truth = {name: float(s) for name, s in re.findall(r"(\w+) ([\d.]+)", done.stdout)}
    report = context.report("functions", "--columns", COLUMNS, "--sort", "inclusive_latency")
    rows = {row["function_name"]: row for row in report["rows"]}
    alone, together = rows["alone"], rows["together"]
    for name in ("alone", "together"):
        require(abs(rows[name]["inclusive_cpu_time"] / 1e9 - truth[name]) < 0.1 * truth[name], (rows[name], truth))
    # Nothing runs beside what works alone.
    require(0.97 * alone["inclusive_cpu_time"] <= alone["inclusive_latency"] <= alone["inclusive_cpu_time"], alone)
    # Other programs may be on the processors, which delay who is alone more than one of four.
    if truth["alone"] > 0.65:
        require(0.6 < together["inclusive_latency"] / alone["inclusive_latency"] < 1.6, (alone, together))
    require(together["inclusive_latency"] < 1.15 * 0.8e9, together)
    if truth["together"] > 1.2:  # two processors and more were theirs
        require(together["inclusive_latency"] < 0.85 * together["inclusive_cpu_time"], together)
    percent = alone["inclusive_latency_percent"] + together["inclusive_latency_percent"]
    require(90 < percent <= 100.001, percent)
    expect([row["inclusive_latency"] for row in report["rows"]],
           sorted((row["inclusive_latency"] for row in report["rows"]), reverse=True), "the order")
    # Who does not ask for it does not get it; the call tree, modules and callers add up to the same.
    require("inclusive_latency" not in context.report("functions")["rows"][0], "without being asked")
    tree = context.report("calltree", "--columns", "level,inclusive_latency,exclusive_latency", "--trim", "0", "--no-fold")["rows"]
    modules = context.report("modules", "--columns", "level,inclusive_latency,exclusive_latency")["rows"]
    whole = sum(row["inclusive_latency"] for row in tree if row["level"] == 0)
    expect(sum(row["exclusive_latency"] for row in tree), whole, "exclusive ones of the call tree")
    expect(sum(row["exclusive_latency"] for row in modules if row["level"] == 0), whole, "those of modules")
    callers = context.report("callers", "together", "--columns", "type,inclusive_latency")["rows"]
    expect([row["inclusive_latency"] for row in callers if row["type"] == 0], [together["inclusive_latency"]], "callers")
