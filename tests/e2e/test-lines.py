"""dwell instrument --lines: what lines of tests/targets/lines.c took, which says so itself."""
from harness import cases, expect, line_of, paths, require

SOURCE = "lines.c"
VARIANTS = [f"{compiler}-{level}" for compiler in ("gcc", "clang") for level in ("O0", "O1", "O2")]
PARTS = [("MIX(x, first);", 50000), ("MIX(x, second);", 100000), ("MIX(x, third);", 200000)]


def record(context, variant, *words):
    done = context.instrument("--lines", *words, "--", context.target(f"lines-{variant}"))
    return [int(line) for line in done.stdout.split()]


def total(rows, key):
    return sum(row[key] or 0 for row in rows)


def rows_at(report, function, *lines):
    return [row for row in report["rows"]
            if row["function_name"] == function and row["source_line_begin"] in lines]


def loop_rows(lines, text):
    """The rows of a loop's body, and of its head."""
    line = line_of(SOURCE, text)
    return rows_at(lines, "three_parts", line), rows_at(lines, "three_parts", line - 1)


def measure(context, variant):
    """Lines of a run, and what of it is not as the thread's clock says."""
    truth = record(context, variant)
    lines, wrong = context.report("lines"), []
    for (text, _), ns in zip(PARTS, truth):
        rows = sum(loop_rows(lines, text), [])
        measured = total(rows, "application_exclusive_time")
        probes = total(rows, "time_exclusive_probe_overhead")
        if abs(measured + probes - ns) > ns / 10:
            wrong.append(f"{text} took {measured} ns and {probes} in probes, not {ns}")
    return lines, wrong


@cases(*VARIANTS)
@paths(0, 8, 64)
def test_times_of_lines(context, variant):
    """Each loop's two lines took what the thread's clock says, and were come to as often as it
    ran; all lines of the function make up its own time. Of three runs one must: where others take the
    processor the thread's clock has what a switch takes, too."""
    for _ in range(3):
        lines, wrong = measure(context, variant)
        if not wrong:
            break
    require(not wrong, f"{wrong}")
    for text, n in PARTS:
        body, loop = loop_rows(lines, text)
        measured = total(body + loop, "application_exclusive_time")
        require(total(body, "application_exclusive_time") > measured / 2 or variant[-1] != "0",
                f"{text}: {body} {loop}")
        if variant.endswith("O0"):
            expect(total(body, "number_of_calls"), n, f"arrivals at {text}")
    functions = context.report("functions")
    own = total(rows_at(lines, "three_parts", *range(1000)),
                "elapsed_exclusive_time")
    whole = [row for row in functions["rows"] if row["function_name"] == "three_parts"]
    expect(len(whole), 1, "rows of three_parts")
    require(own <= whole[0]["elapsed_exclusive_time"], "lines have more than their function")
    require(own >= whole[0]["elapsed_exclusive_time"] * .9, "lines lack what their function has")
    expect(total(whole, "number_of_calls"), 1, "calls of three_parts")


@cases("gcc-O0", "clang-O2")
@paths(0, 8, 64)
def test_inclusive_times(context, variant):
    """A line has its callees' time once, in recursion too; the views of functions are the same as
    without probes at lines."""
    record(context, variant)
    lines = context.report("lines")
    functions = {row["function_name"]: row for row in context.report("functions")["rows"]}
    call = rows_at(lines, "main", line_of(SOURCE, "x += callee(x);"))
    inside = functions["callee"]["elapsed_inclusive_time"]
    # Without paths inclusive times are measured apart.
    least = inside if context.paths is None else .9 * inside
    require(total(call, "elapsed_inclusive_time") >= least, "a call is not its line's")
    require(total(call, "elapsed_exclusive_time") < inside / 10, "a call is its line's alone")
    again = rows_at(lines, "recursive", line_of(SOURCE, "x = recursive(x, depth - 1) / 3 + 1;"))
    require(0 < max(row["elapsed_inclusive_time"] for row in again)
            <= functions["recursive"]["elapsed_inclusive_time"], "recursion counts twice")
    expect(functions["callee"]["number_of_calls"], 20, "calls of callee")
    expect(functions["recursive"]["number_of_calls"], sum(range(1, 101)), "calls of recursive")
    for row in lines["rows"]:
        for key, value in row.items():
            require(not key.endswith("_percent") or value is None or value <= 100,
                    f"{key} of {row}")
    for row in functions.values():
        for kind in ("elapsed_inclusive", "elapsed_exclusive"):
            low, mean, high = (row[f"{what}_{kind}_time"] for what in ("min", "avg", "max"))
            require(None in (low, mean, high) or low <= mean <= high, f"{kind} of {row}")
    for view in ("functions", "calltree", "threads", "processes"):
        report = context.report(view)
        for key in ("elapsed_exclusive_time", "time_exclusive_probe_overhead"):
            expect(total(report["rows"], key), report["session"][key], f"{key} of {view}")


def test_no_debug_information(context):
    """Without it functions are measured, and the summary says why there are no lines."""
    context.run("strip", "-s", "-o", "stripped", context.target("lines-gcc-O2"))
    done = context.run(context.dwell, "instrument", "--lines", "-o", "run.dwell", "--",
                       context.path("stripped"))
    expect(done.returncode, 0, f"status: {done.stderr}")
    require("no debug information" in done.stderr, done.stderr)
    require(len(context.report("functions")["rows"]) > 3, "no functions")
