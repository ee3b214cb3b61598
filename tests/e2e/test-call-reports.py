"""dwell report of instrumented programs: the values of all views hold together and are true.

The program is tests/targets/call-times.c, whose sleeps and calls are known; what it computes only
has to be more than nothing.
"""
import re
import xml.etree.ElementTree

from harness import cases, expect, line_of, more, paths, require, rows_of

MS = 1000000
VIEWS = ("summary", "functions", "calltree", "modules", "lines", "instructions", "processes",
         "threads")
SOURCE = "call-times.c"


recordings = {}  # sessions of the program, by the number of paths: what tests ask of one they may share


def record(context, is_new=False):
    if is_new or context.paths not in recordings:
        context.instrument("--", context.target("call-times"))
        with open(context.path("run.dwell"), "rb") as f:
            recordings[context.paths] = f.read()
    with open(context.path("run.dwell"), "wb") as f:
        f.write(recordings[context.paths])


def row_of(report, name):
    found = rows_of(report, name)
    expect(len(found), 1, f"rows of {name}")
    return found[0]


def total(report, key):
    return sum(row[key] or 0 for row in report["rows"])


def check_row(row):
    for kind in ("elapsed", "application"):
        for side in ("inclusive", "exclusive"):
            name = f"{kind}_{side}_time"
            low, mean, high = (row[f"{what}_{name}"] for what in ("min", "avg", "max"))
            require(None in (low, mean, high) or low <= mean <= high, f"{name} of {row}")
    for key, value in row.items():
        require(not key.endswith("_percent") or value is None or value <= 100, f"{key} of {row}")
    if row["elapsed_exclusive_time"] is not None:
        require(row["elapsed_exclusive_time"] <= row["elapsed_inclusive_time"], f"EE of {row}")
        require(row["application_exclusive_time"] <= row["elapsed_exclusive_time"], f"AE of {row}")


@paths(0, 8, *more(64))
def test_values_hold_together(context):
    record(context)
    for view in VIEWS:
        report = context.report(view)
        for row in report["rows"]:
            check_row(row)
        if view in ("functions", "calltree", "processes", "threads"):
            for key in ("elapsed_exclusive_time", "application_exclusive_time",
                        "time_exclusive_probe_overhead", "exclusive_blocked_time",
                        "context_switches", "io_calls"):
                expect(total(report, key), report["session"][key], f"{key} of {view}")
    for thread in context.report("threads")["rows"]:
        rows = context.report("functions", "--thread", str(thread["id"]))
        life = thread["end_time"] - thread["begin_time"]
        known = total(rows, "elapsed_exclusive_time") + total(rows, "time_exclusive_probe_overhead")
        require(abs(known - life) <= life / 200, f"{known} of {life} ns of {thread['name']}")


@paths(0, 8, *more(64))
def test_times_calls_and_names(context):
    record(context)
    report = context.report("functions")
    rests, worker, even = (row_of(report, name) for name in ("rests", "worker", "even"))
    expect(rests["number_of_calls"], 21, "calls of rests")
    expect(worker["number_of_calls"], 2, "calls of worker")
    require(rests["inclusive_blocked_time"] >= 2780 * MS, f"blocked {rests}")
    require(rests["application_inclusive_time"] < 300 * MS, f"the program's part {rests}")
    expect(row_of(report, "odd")["number_of_calls"] + even["number_of_calls"], 550, "even and odd")
    require(even["elapsed_inclusive_time"] <= row_of(report, "main")["elapsed_inclusive_time"],
            "even is below main")
    names = sorted(row["name"] for row in context.report("threads")["rows"])
    expect(names, ["main", "worker", "worker"], "threads by their start routines")
    tree = [row["function_name"] for row in context.report("calltree")["rows"] if row["level"] == 1]
    expect(sorted(tree), ["[thread main]", "[thread worker]"], "rows below the process")


@paths(0, 8, *more(64))
def test_callers_and_lines(context):
    record(context)
    rows = context.report("callers", "rests")["rows"]
    callers = {row["function_name"]: row["number_of_calls"] for row in rows if row["type"] == 1}
    expect(callers, {"main": 1, "worker": 20}, "who calls rests")
    lines = {row["source_line_begin"]: row for row in context.report("lines")["rows"]
             if row["function_name"] in ("main", "worker")}
    at_main, at_worker = lines[line_of(SOURCE, "rests(24, 100);")], lines[line_of(SOURCE, "rests(1, 20);")]
    expect(at_main["number_of_calls"], 1, "calls on main's line")
    expect(at_worker["number_of_calls"], 20, "calls on worker's line")
    require(at_main["elapsed_inclusive_time"] >= 2400 * MS, f"time of main's line {at_main}")
    expect(at_main["elapsed_exclusive_time"], None, "a line's own time")
    expect(lines[line_of(SOURCE, "even(i % 10);")]["number_of_calls"], 100, "calls of even by main")


@paths(0, 8, *more(64))
def test_shortest_and_longest(context):
    record(context)
    rests = row_of(context.report("functions"), "rests")
    for key, least, most in (("min_elapsed_inclusive_time", 20, 100),
                             ("max_elapsed_inclusive_time", 2400, 10000)):
        require(least * MS <= rests[key] <= most * MS, f"{key} of {rests}")
    require(rests["max_application_inclusive_time"] < 300 * MS, f"the program's part {rests}")
    even = row_of(context.report("functions"), "even")
    require(even["min_elapsed_exclusive_time"] < 1 * MS, f"shortest of {even}")
    for view, words in (("functions", ("--to", "1500ms")), ("calltree", ())):
        for row in context.report(view, *words)["rows"]:
            expect(row["max_elapsed_inclusive_time"], None, f"longest in {view} {words}")


def test_slowest_calls(context):
    record(context)
    rows = context.report("slowest")["rows"]
    times = [row["elapsed_inclusive_time"] for row in rows]
    expect(times, sorted(times, reverse=True), "order")
    expect([row["call_path"] for row in rows[:2]], ["main", "main > rests"], "slowest of all")
    expect([row["deepest_call"] for row in rows[:2]], ["rests", None], "what explains them")
    for row in rows:
        parts = sum(row[key] for key in ("application_exclusive_time", "callees_application_time",
                                         "io_time", "blocking_call_time", "switched_away_time"))
        expect(parts, row["elapsed_inclusive_time"], f"parts of {row}")
    rests = context.report("slowest", "rests")["rows"]
    expect(len(rests), 3, "threads that call rests")
    expect({row["function_name"] for row in rests}, {"rests"}, "functions")
    require(rests[0]["blocking_call_time"] >= 2390 * MS, f"in nanosleep: {rests[0]}")
    require(rests[0]["blocking_calls"] == 24, f"calls of nanosleep: {rests[0]}")
    later = context.report("slowest", "--from", "1500ms")["rows"]
    require(later and all(row["begin_time"] >= 1500 * MS for row in later), "a range takes by begin")
    why = ("report", "run.dwell", "--details")
    summary = context.run(context.dwell, *why).stdout
    for _ in range(2):  # among the functions that are looked at it is one of the last, and may miss that
        if not re.search(r"rests +\(at", summary):
            record(context, is_new=True)
            summary = context.run(context.dwell, *why).stdout
    require(re.search(r"rests +\(at .*: (blocked|\S*nanosleep\(\) blocked) 2\.\d+ s\)", summary),
            f"why rests took long:\n{summary}")


@cases("event", "probe")
def test_filters_take_parts(context, rule):
    record(context)
    whole = context.report("functions", "--intervals", rule)
    expect(whole["session"]["intervals"], rule, "rule")
    parts = [context.report("functions", "--intervals", rule, *words)
             for words in (("--to", "1500ms"), ("--from", "1500ms"))]
    require(0 < parts[0]["session"]["range_to_ns"] < whole["session"]["duration_ns"], "two slices")
    for key in ("elapsed_exclusive_time", "application_exclusive_time", "number_of_calls"):
        expect(sum(total(part, key) for part in parts), total(whole, key), f"{key} of ranges")
    modules = [row["name"] for row in context.report("modules")["rows"]
               if row["level"] == 0 and row["name"][0] != "["]
    of_modules = sum(total(context.report("functions", "--intervals", rule, "--module", name),
                           "application_exclusive_time") for name in modules)
    roots = sum(row["application_exclusive_time"] for row in whole["rows"]
                if row["function_name"][0] == "[")
    expect(of_modules + roots, total(whole, "application_exclusive_time"), "modules and roots")


def test_formats_agree(context):
    record(context)
    rows = context.report("calltree")["rows"]
    done = context.run(context.dwell, "report", "run.dwell", "calltree", "-f", "xml")
    tree = xml.etree.ElementTree.fromstring(done.stdout)
    got = [[cell.text or "" for cell in row] for row in tree.iter("row")]
    expect(len(got), len(rows), "rows of XML")
    calls = [row.find("number_of_calls").text for row in tree.iter("row")]
    expect(calls, [str(row["number_of_calls"]) for row in rows], "calls in XML")
    table = context.run(context.dwell, "report", "run.dwell", "functions").stdout
    for title in ("Calls", "Elapsed Incl", "Elapsed Excl", "App Incl", "App Excl"):
        require(title in table.splitlines()[0], f"no {title} in {table.splitlines()[0]}")


def record_single_calls(context, *words):
    """What each function saw of its shortest and longest call: [inside], [outside], ns."""
    done = context.instrument(*words, "--", context.target("single-calls"))
    lines = [line.split() for line in done.stdout.splitlines()]
    return {name: [int(n) for n in numbers] for name, *numbers in lines}


@paths(0, 8, *more(64))
def test_shortest_and_longest_calls(context):
    seen = record_single_calls(context)
    report = context.report("functions")
    slow = report["session"]["slow_path_ns"]  # after a switch away, say: in what calls see of themselves alone
    for name, (inner_min, inner_max, outer_min, outer_max) in seen.items():
        row = row_of(report, name)
        check_row(row)
        for what, inner, outer in (("min", inner_min, outer_min), ("max", inner_max, outer_max)):
            got = row[f"{what}_elapsed_inclusive_time"]
            slack = 20000 + inner // 100  # probes, and two clocks
            least = inner - slack - (slow if what == "max" else 0)
            require(least <= got <= outer + slack, f"{what} of {name}: {got}, {inner} to {outer}")
    rest = row_of(report, "rest")
    require(rest["max_application_inclusive_time"] < rest["min_elapsed_inclusive_time"], f"sleep in {rest}")


def test_slowest_calls_of_chosen_functions(context):
    seen = record_single_calls(context, "--slowest", "sp*")
    rows = context.report("slowest")["rows"]
    expect({row["function_name"] for row in rows}, {"spin"}, "functions with single calls")
    expect(len(rows), 16, "calls of spin")
    times = [row["elapsed_inclusive_time"] for row in rows]
    expect(times, sorted(times, reverse=True), "order")
    require(times[0] <= seen["spin"][3] * 1.01 + 20000, f"{times[0]} of {seen}")
    record_single_calls(context)
    rows = context.report("slowest", "rest")["rows"]
    require(rows and rows[0]["blocking_call_time"] >= 8 * MS, f"rest: {rows}")


MANY = r"""
#include <stdio.h>
static volatile int sum;
__attribute__((noipa)) void leaf(int n) { for (int i = 0; i < 3; i++) sum += i ^ n; }
__attribute__((noipa)) void branch(int n) { leaf(n); leaf(n + 1); leaf(n + 2); }
__attribute__((noipa)) void trunk(void) { for (int i = 0; i < 300000; i++) branch(i); }
int main(void) { trunk(); return puts("done") < 0; }
"""


def test_one_call_is_its_function(context):
    """What a call took, and a function that was called once, is the same time."""
    with open(context.path("many.c"), "w") as f:
        f.write(MANY)
    context.make("gcc", "-O1", "-o", context.path("many"), context.path("many.c"))
    context.instrument("--all-functions", "--", context.path("many"))
    functions = context.report("functions")
    calls = context.report("slowest")
    for name in "main", "trunk":
        row, call = row_of(functions, name), row_of(calls, name)
        expect(row["number_of_calls"], 1, f"calls of {name}")
        for key in ("elapsed_inclusive_time", "elapsed_exclusive_time", "application_inclusive_time",
                    "application_exclusive_time"):
            expect(call[key], row[key], f"{key} of {name}")
