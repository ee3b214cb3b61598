"""dwell report of managed programs: the values of all views hold together, in SQL too."""
import os
import shutil
import signal
import sqlite3

from harness import File, children, expect, require

FILE = File(needs=("dotnet",))
MANAGED = "dotnet/managed"
STATUS = 3  # of the managed program when all is well
MEMORY = ("allocations", "bytes")
COLLECTED = [f"{heap}_{what}_collected" for what in ("instances", "bytes")
             for heap in ("gen_0", "gen_1", "gen_2", "large_object_heap", "pinned_object_heap")]
ALIVE = ["instances_alive_at_end", "bytes_alive_at_end"]


def record(context, *words):
    done = context.run(context.dwell, "memory", "-q", "-o", "run.dwell", "--",
                       context.target(MANAGED), *words)
    expect(done.returncode, STATUS, f"status of {' '.join(words)}\n{done.stderr}")


def total(rows, key):
    return sum(row[key] for row in rows)


def check_row(row):
    """What died and what lives is all of the inclusive part."""
    for what, inclusive in (("instances", "inclusive_allocations"), ("bytes", "inclusive_bytes")):
        ends = sum(row[key] for key in COLLECTED + ALIVE if what in key)
        expect(ends, row[inclusive], f"ends of {what} in {row}")
    for what in MEMORY:
        require(row[f"exclusive_{what}"] <= row[f"inclusive_{what}"], f"{what} of {row}")
        require(row[f"inclusive_{what}_percent"] <= 100, f"{what} of {row}")


def test_values_hold_together(context):
    record(context, "trees", "11", "20", "2")
    for view in ("functions", "calltree", "lines", "instructions", "processes", "threads"):
        report = context.report(view)
        for row in report["rows"]:
            check_row(row)
        for what in MEMORY:
            expect(total(report["rows"], f"exclusive_{what}"),
                   report["session"][f"exclusive_{what}"], f"{what} of {view}")
    types = context.report("lifetime")
    facts, rows = types["session"], types["rows"]
    expect(total(rows, "instances"), facts["inclusive_allocations"], "instances of all types")
    expect(total(rows, "total_bytes_allocated"), facts["inclusive_bytes"], "bytes of all types")
    for key in COLLECTED + ALIVE:
        expect(total(rows, key), facts[key], key)


def test_ways_to_allocate(context):
    record(context, "trees", "10", "4", "1")
    rows = context.report("allocations", "--trim", "0")["rows"]
    types = {row["class_name"]: row["instances"] for row in context.report("lifetime")["rows"]}
    for i, row in enumerate(rows):
        check_row(row)
        below = [r for r in rows[i + 1:i + 400]]
        children = []
        for r in below:
            if r["level"] <= row["level"]:
                break
            if r["level"] == row["level"] + 1:
                children.append(r)
        sum_ = total(children, "inclusive_allocations")
        require(sum_ <= row["inclusive_allocations"], f"callers of {row}: {sum_}")
        if row["level"] == 0:
            expect(row["inclusive_allocations"], types[row["name"]], row["name"])
    makers = [row for row in rows if row["level"] == 1 and row["name"] == "Node.Make"]
    expect(total(makers, "inclusive_allocations"), types["Node"], "nodes by who allocates them")


def test_filters_and_ranges(context):
    record(context, "trees", "11", "4", "2")
    whole = context.report("threads")
    parts = [context.report("functions", "--thread", str(row["id"]))["session"]["inclusive_bytes"]
             for row in whole["rows"]]
    expect(sum(parts), whole["session"]["inclusive_bytes"], "bytes by thread")
    nodes = context.report("functions", "--type", "Node")
    expect({row["function_name"] for row in nodes["rows"] if row["exclusive_bytes"]},
           {"Node.Make"}, "who allocates nodes")
    strings = context.report("functions", "--type", "System.String")["session"]["inclusive_bytes"]
    for part in "String", "Strin?":
        expect(context.report("functions", "--type", part)["session"]["inclusive_bytes"], strings,
               f"bytes by the last part of a type, {part}")
    expect(context.run(context.dwell, "report", "run.dwell", "functions", "--type", "Strin").returncode,
           1, "status with a type that there is not")
    late = context.report("lifetime", "--from", "0", "--to", "1000")["session"]
    expect(late["inclusive_bytes"], whole["session"]["inclusive_bytes"], "bytes of all time")
    require("range_to_ns" in late, "the range that was taken")
    expect((late["bytes_alive_at_begin"], late["bytes_alive_at_end"]),
           (0, whole["session"]["bytes_alive_at_end"]), "what is alive when a range of all begins and ends")


def test_alive_in_ranges(context):
    """What lived before, what of that lives on, what came and went, and what was left, by type and by who
    allocated it."""
    n = 1000
    done = context.run(context.dwell, "memory", "-q", "-o", "run.dwell", "--",
                       context.target(MANAGED), "phases", str(n), "3000")
    expect(done.returncode, STATUS, f"status\n{done.stderr}")
    at = {words[0]: words[1] for words in (line.split() for line in done.stdout.splitlines())}
    span = "--from", f"{at['first']}ms", "--to", f"{at['second']}ms"
    types = context.report("lifetime", *span)
    rows = {row["class_name"]: row for row in types["rows"]}
    keys = ("instances_alive_at_begin", "instances", "instances_alive_at_end", "instances_growth",
            "instances_surviving_at_least", "instances_surviving_at_most")
    for name, want in (("Stays", (n, 0, n, 0, n, n)), ("Leaves", (n, 0, 0, -n, 0, 0)), ("Comes", (0, n, n, n, 0, 0)),
                       ("Halves", (n, 0, n // 2, -n // 2, n // 2, n // 2))):
        expect(tuple(rows[name][key] for key in keys), want, name)
        expect((rows[name]["bytes_growth"], rows[name]["bytes_surviving_at_least"]), (24 * want[3], 24 * want[4]),
               f"bytes of {name}")
    require("Garbage" not in rows, "what came later")
    gone = rows["Leaves"]
    expect(sum(gone[f"gen_{g}_instances_collected"] for g in range(3)), n, "collected in the range")
    facts = types["session"]
    for key in ("bytes_alive_at_begin", "bytes_alive_at_end", "bytes_surviving_at_least", "bytes_surviving_at_most"):
        expect(total(types["rows"], key), facts[key], key)
        functions = context.report("calltree", *span, "--trim", "0")["rows"]
        expect(sum(row[key] for row in functions if row["level"] == 0), facts[key],
               f"{key} of the call tree")
    text = context.run(context.dwell, "report", "run.dwell", "lifetime", *span).stdout
    require(f"{-24 * n:+}" in text and f"{24 * n:+}" in text, text)
    csv = context.run(context.dwell, "report", "run.dwell", "lifetime", *span, "-f", "csv").stdout
    require(f",{-24 * n}" in csv, csv)


def test_sql_agrees(context):
    record(context, "lives", "300")
    database = sqlite3.connect(f"file:{context.path('run.dwell')}?mode=ro", uri=True)
    database.row_factory = sqlite3.Row
    for view in ("functions", "lifetime", "gc", "processes", "threads", "summary"):
        rows = [dict(row) for row in database.execute(f"select * from {view}")]
        report = context.report(view)["rows"]
        expect(len(rows), len(report), f"rows of {view}")
        keys = [key for key, value in report[0].items()
                if isinstance(value, int) and "id" not in key.split("_")]
        for key in keys:
            expect(sorted(row[key] or 0 for row in rows), sorted(row[key] or 0 for row in report),
                   f"{key} of {view}")


def test_summary(context):
    done = context.run(context.dwell, "memory", "-o", "run.dwell", "--",
                       context.target(MANAGED), "lives", "300")
    details = context.run(context.dwell, "report", "run.dwell", "--details").stdout
    for text in ("What became of it", "died old, in generation 2", "collections (",
                 "Types with most memory allocated", "What dies old", "  (7200 B = 300 "):
        require(text in done.stderr and text in details, f"'{text}' in {done.stderr}")
    for text in "background collections off", "Types with most instances":
        expect((text in done.stderr, text in details), (False, True), text)


def recover(context, partial, name):
    done = context.run(context.dwell, "recover", partial, "-o", name)
    expect(done.returncode, 0, f"status of recover\n{done.stderr}")


def sources(context, name):
    """The files of lines of Node.Make."""
    return {row["source_file"] for row in context.report("lines", session=name)["rows"]
            if row["function_name"] == "Node.Make"}


def test_killed_collector(context):
    """What was written opens and is finished by `dwell recover`, with lines if they are the same."""
    for name in ("managed", "managed.dll", "managed.pdb", "managed.runtimeconfig.json"):
        shutil.copy2(os.path.join(os.path.dirname(context.target(MANAGED)), name), context.scratch)
    process = context.start(context.dwell, "memory", "-q", "-o", "run.dwell", "--",
                            "./managed", "trees", "16", "100000", "0")
    partial = context.path("run.dwell.partial")

    def has_nodes():
        done = context.run(context.dwell, "report", partial, "lifetime", "--format", "csv")
        return done.returncode == 0 and "\nNode," in done.stdout
    try:
        context.wait_for(has_nodes, "a slice with nodes")
        target = children(process.pid)[0]
    finally:
        process.kill()
        process.wait()
    os.kill(target, signal.SIGKILL)
    before = context.report("functions", session="run.dwell.partial")
    shutil.copy(partial, context.path("later.partial"))
    recover(context, "run.dwell.partial", "run.dwell")
    after = context.report("functions")
    expect(after["rows"], before["rows"], "rows")
    require(any(row["function_name"] == "Node.Make" for row in after["rows"]), "names")
    source = os.path.join(os.path.dirname(context.target(MANAGED)), "source/trees.cs")
    expect(sources(context, "run.dwell"), {source}, "files of lines")
    os.utime(context.path("managed.dll"))
    recover(context, "later.partial", "later.dwell")
    expect(sources(context, "later.dwell"), {None}, "files of lines of an assembly that changed")
