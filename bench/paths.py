#!/usr/bin/env python3
"""Whether estimated paths are right: the largest paths of compilers with an exact tree and with drawn ones.

Each of ROWS (bench/workloads.py) is recorded once with memory for all its paths, then with the default. Of the
COUNT largest paths of the exact tree, by inclusive time of the program, shares must be within three standard
deviations of what so many path samples tell, and a point: two runs differ by as much.

They do so in what functions take, too: a tree of millions of nodes displaces what the program has in the caches,
so that some functions take several times as long. So the exact tree is compared twice: as it is told, and with the
exclusive time of each function as the other run has it, shared by the paths of the exact tree; which is what the
estimate is of. Prints a line for each, and those outside of the second; ends with 1 if more than two are.

bench/paths.py --build FOLDER [--memory 4000] [NAME]...
"""
import argparse
import collections
import csv
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
NAME, OWN = "Function Name", "Application Exclusive Time"
CUT = 0.0005  # of the program's time: paths that are kept


def rows_of(dwell, session, *view):
    """The header of a view as CSV, then its rows."""
    command = [dwell, "report", session, *view, "--format", "csv"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, encoding="utf-8") as done:
        yield from csv.reader(done.stdout)
    if done.returncode:
        raise subprocess.CalledProcessError(done.returncode, command)


def functions(dwell, session):
    """{name: exclusive time}."""
    rows, times = rows_of(dwell, session, "functions", "--top", "0"), collections.Counter()
    header = next(rows)
    name, own = header.index(NAME), header.index(OWN)
    for row in rows:
        times[row[name]] += int(row[own])
    return times


def tree(dwell, session, *weights):
    """For each of @weights, {name: factor of its exclusive time}, {path: share of the program's time}."""
    rows = rows_of(dwell, session, "calltree", "--no-fold", "--trim", "0")
    header = next(rows)
    name, own, level = header.index(NAME), header.index(OWN), header.index("Level")
    above, sums, found = [], [], [collections.Counter() for _ in weights]
    times = functions(dwell, session)
    least = [CUT * sum(times[f] * w.get(f, 1) for f in times) for w in weights]

    def close(depth):
        while len(above) > depth:
            path, times = tuple(above[1:]), sums.pop()
            above.pop()
            for i, time in enumerate(times):
                if time >= least[i]:
                    found[i][path] += time
                if sums:
                    sums[-1][i] += time
    for row in rows:
        close(int(row[level]))
        above.append(row[name] or "-")
        sums.append([int(row[own]) * w.get(row[name], 1) for w in weights])
    close(0)
    return [{path: time / all_of[()] for path, time in all_of.items()} for all_of in found]


def record(dwell, workload, inputs, session, options):
    """The session, and its facts."""
    modules = [word for glob in workload.modules for word in ("--module", glob)]
    subprocess.run(["setarch", "-R", dwell, "instrument", "-q", *options, *modules, "-o", session, "--",
                    *workload.words], cwd=inputs, check=True, stdout=subprocess.DEVNULL)
    return session, json.loads(subprocess.run([dwell, "report", session, "processes", "--format", "json"],
                                              stdout=subprocess.PIPE, check=True).stdout)["session"]


def outside(want, got, n):
    """Of the largest paths of @want those that differ more in @got than @n path samples make likely; and how far all do."""
    largest = sorted((path for path in want if len(path) > 1), key=want.get, reverse=True)[:COUNT]
    sigma = {path: math.sqrt(want[path] * (1 - want[path]) / n) if n else 0 for path in largest}
    off = {path: abs(got.get(path, 0) - want[path]) for path in largest}
    wrong = [(path, sigma[path]) for path in largest if off[path] > SIGMAS * sigma[path] + POINTS / 100]
    return wrong, sorted(off.values())


def compare(name, workload, inputs, arguments):
    """Print what there is to say. How many paths lie outside."""
    dwell = os.path.join(arguments.build, "dwell")
    with tempfile.TemporaryDirectory(prefix="dwell-paths-") as scratch:
        exact, facts = record(dwell, workload, inputs, os.path.join(scratch, "exact.dwell"),
                              ("--memory", str(arguments.memory)))
        if facts["calls_truncated"]:
            print(f"{name}: {facts['calls_truncated']:,} calls have no exact path in {arguments.memory} MB")
            return COUNT
        drawn, facts = record(dwell, workload, inputs, os.path.join(scratch, "drawn.dwell"), arguments.option)
        here, there = functions(dwell, drawn), functions(dwell, exact)
        told, same = tree(dwell, exact, {}, {f: here[f] / there[f] for f in there if there[f]})
        got, = tree(dwell, drawn, {})
    n = facts["paths_drawn"]
    print(f"{name}: {facts['calls_truncated']:,} of {facts['number_of_calls']:,} calls beyond paths, {n:,} path samples, "
          f"{facts['paths_not_drawn']:,} without room; told {sum(there.values()) / 1e9:.2f} s with the exact tree, "
          f"{sum(here.values()) / 1e9:.2f} s with this one")
    for words, want in ("as told", told), ("with functions' times of this run", same):
        wrong, off = outside(want, got, n)
        print(f"  {words}: {len(off) - len(wrong)} of {len(off)} paths within, median {100 * off[len(off) // 2]:.2f} "
              f"and worst {100 * off[-1]:.2f} points off", flush=True)
    for path, sigma in wrong:
        print(f"    {100 * told.get(path, 0):6.2f} % told, {100 * same[path]:6.2f} % wanted, {100 * got.get(path, 0):6.2f}"
              f" % here, sigma {100 * sigma:.2f}: ... {' > '.join(path[-4:])}")
    return len(wrong)


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
