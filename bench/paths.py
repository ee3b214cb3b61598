#!/usr/bin/env python3
"""Whether estimated paths are right: the largest paths of compilers with an exact tree and with drawn ones.

Each of ROWS (bench/workloads.py) is recorded once with memory for all its paths, then with the default. Of the
COUNT largest paths of the exact tree, by inclusive time of the program, shares must be within three standard
deviations of what so many looks tell, and a point: two runs differ by as much. Prints a line for each row
and those outside; ends with 1 if more than two of a row are.

bench/paths.py --build FOLDER [--memory 4000] [NAME]...
"""
import argparse
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True

import workloads  # noqa: E402

ROWS = "cc1plus -O2", "clang++ -O1"
COUNT, OUTSIDE_MAX = 50, 2
SIGMAS, POINTS = 3, 1
TIME = "application_inclusive_time"
CUT = "0.05"  # percent of a row that a tree shows at least


def tree(dwell, session):
    """({path: share of the program's time}, facts)."""
    done = subprocess.run([dwell, "report", session, "calltree", "--no-fold", "--trim", CUT, "--format", "json"],
                          stdout=subprocess.PIPE, check=True)
    report = json.loads(done.stdout)
    above, shares, whole = [], {}, None
    for row in report["rows"]:
        above = above[:row["level"]] + [row["function_name"] or "-"]
        whole = whole or row[TIME]
        path = tuple(above[1:])
        shares[path] = shares.get(path, 0) + row[TIME] / whole
    return shares, report["session"]


def record(dwell, workload, inputs, scratch, options):
    session = os.path.join(scratch, "session.dwell")
    modules = [word for glob in workload.modules for word in ("--module", glob)]
    subprocess.run(["setarch", "-R", dwell, "instrument", "-q", *options, *modules, "-o", session, "--",
                    *workload.words], cwd=inputs, check=True, stdout=subprocess.DEVNULL)
    return tree(dwell, session)


def compare(name, workload, inputs, arguments):
    """Print what there is to say. How many paths lie outside."""
    dwell = os.path.join(arguments.build, "dwell")
    with tempfile.TemporaryDirectory(prefix="dwell-paths-") as scratch:
        exact, facts = record(dwell, workload, inputs, scratch, ("--memory", str(arguments.memory)))
        if facts["calls_truncated"]:
            print(f"{name}: {facts['calls_truncated']:,} calls have no exact path in {arguments.memory} MB")
            return COUNT
        drawn, facts = record(dwell, workload, inputs, scratch, arguments.option)
    n = facts["paths_drawn"]
    largest = sorted((path for path in exact if len(path) > 1), key=exact.get, reverse=True)[:COUNT]
    outside = []
    for path in largest:
        share, got = exact[path], drawn.get(path, 0)
        sigma = math.sqrt(share * (1 - share) / n) if n else 0
        if abs(got - share) > SIGMAS * sigma + POINTS / 100:
            outside.append((path, share, got, sigma))
    off = sorted(abs(drawn.get(path, 0) - exact[path]) for path in largest)
    print(f"{name}: {facts['calls_truncated']:,} of {facts['number_of_calls']:,} calls beyond paths, {n:,} looks: "
          f"{len(largest) - len(outside)} of {len(largest)} paths within, median {100 * off[len(off) // 2]:.2f} and "
          f"worst {100 * off[-1]:.2f} points off", flush=True)
    for path, share, got, sigma in outside:
        print(f"  {100 * share:6.2f} % exact, {100 * got:6.2f} % here, sigma {100 * sigma:.2f}: ... {' > '.join(path[-4:])}")
    return len(outside)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", required=True, type=os.path.abspath)
    parser.add_argument("--memory", type=int, default=4000, help="MB for the exact tree")
    parser.add_argument("--option", action="append", default=[], help="of the other recording")
    parser.add_argument("name", nargs="*")
    arguments = parser.parse_args()
    rows, inputs, wrong = workloads.workloads(), workloads.Inputs(workloads.FOLDER), 0
    for name in arguments.name or ROWS:
        if not all(map(shutil.which, rows[name].needs)):
            print(f"{name}: needs {', '.join(rows[name].needs)}")
            continue
        inputs.make(rows[name])
        wrong += compare(name, rows[name], inputs.folder, arguments) > OUTSIDE_MAX
    sys.exit(wrong != 0)


if __name__ == "__main__":
    main()
