"""What every row of every view of real programs must keep: nothing above 100 %, shortest <= mean <=
longest, exclusive <= inclusive, by both rules of intervals."""
import os
import sys

from harness import IS_LONG, cases, expect, paths, require

INPUTS = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../programs"))
# What to run, in a folder with the file "text"; {} = INPUTS.
PROGRAMS = {
    "lua": ("lua5.4", "{}/work.lua"),
    "gawk": ("gawk", "-f", "{}/work.awk", "text"),
    "perl": ("sh", "-c", "perl {}/work.pl <text"),
    "python": (os.path.realpath(sys.executable), "-S", "{}/work.py", "text"),
    "cc1": ("gcc", "-O2", "-S", "-o", "/dev/null", "{}/work.c"),
}
LONG = "python", "cc1"  # hundreds of thousands of rows
VIEWS = "functions", "calltree", "modules", "lines", "instructions", "processes", "threads", "slowest"
TIMES = [f"{kind}_{side}_time" for kind in ("elapsed", "application")
         for side in ("inclusive", "exclusive")]


def faults(row):
    """What @row breaks."""
    found = [key for key, value in row.items()
             if key.endswith("_percent") and value is not None and not 0 <= value <= 100]
    for name in TIMES:
        low, mean, high = (row.get(f"{what}_{name}") for what in ("min", "avg", "max"))
        if None not in (low, mean, high) and not low <= mean <= high:
            found.append(name)
    for more, less in (("elapsed_inclusive_time", "elapsed_exclusive_time"),
                       ("elapsed_inclusive_time", "application_inclusive_time"),
                       ("elapsed_exclusive_time", "application_exclusive_time"),
                       ("application_inclusive_time", "application_exclusive_time")):
        if None not in (row.get(more), row.get(less)) and row[less] > row[more]:
            found.append(f"{less} > {more}")
    return [(what, row) for what in found]


@cases(*(name for name in PROGRAMS if IS_LONG or name not in LONG))
@paths(0, 64)
def test_bounds(context, name):
    words = [word.format(INPUTS) for word in PROGRAMS[name]]
    with open(context.path("text"), "w", encoding="ascii") as file:
        file.writelines(f"word{i % 97} {i} the end of line {i * 7919 % 1000}\n" for i in range(3000))
    done = context.run(context.dwell, "instrument", "-q", *context.path_options(), "-o", "run.dwell",
                       "--module", "liblua*", "--module", "libperl*", "--module", "libpython*", "--", *words)
    expect(done.returncode, 0, f"status of dwell instrument {words}\n{done.stderr}")
    seen = 0
    for rule in ("event", "probe"):
        heavy = next(row["function_name"]
                     for row in context.report("functions", "--intervals", rule)["rows"]
                     if not row["function_name"].startswith("["))
        for view in (*VIEWS, "callers"):
            focus = [heavy] if view == "callers" else ["--trim", "0"] if view == "calltree" else []
            rows = context.report(view, *focus, "--intervals", rule)["rows"]
            seen += len(rows)
            found = [fault for row in rows for fault in faults(row)]
            require(not found, f"{view} by {rule}: {len(found)} of {len(rows)}, {found[:3]}")
    require(seen > 500, f"{seen} rows")
    print(f"# {name}: {seen} rows")
