#!/usr/bin/env python3
"""How exact counts are from run to run: which functions have the same number of calls in all of them.

Each of NAMES that is installed, or those named (tests/e2e/programs.py), is instrumented so many times: as anybody runs it,
and with what differs by itself switched off (`setarch -R`, seeds of hashes, the clock's zone and the language). Prints for
either how many functions were called, how many of them equally often in all runs, the share of all calls that these
make, and of the others by how much the most frequent run is above the least one: the median, and the worst that has at least 100
calls. That is what conditions of `dwell diff` on counts may rely on.

bench/spread.py --build FOLDER [--runs 10] [NAME]...
"""
import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../tests/e2e"))
sys.dont_write_bytecode = True

from programs import PROGRAMS, Program  # noqa: E402

from coverage import INPUTS, search_path  # noqa: E402
from exact import ENVIRONMENT, NotReady  # noqa: E402

NAMES = ("cc1", "lua", "sqlite", "gawk", "python", "git", "dotnet", "managed")
FEW = 100  # calls: one more is no large share of fewer
ROW = "{:8} {:9} {:>10} {:>10} {:>8} {:>10} {:>9} {:>9}  {}"


def run(words, folder, environment):
    done = subprocess.run(words, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, timeout=600, check=False)
    if done.returncode:
        raise NotReady(f"status {done.returncode}: {done.stderr[-200:]}")


def calls_of(dwell, session):
    """Calls by module and name: functions of one name together, as dwell diff takes them."""
    shown = subprocess.run([dwell, "report", session, "functions", "--format", "json"], stdout=subprocess.PIPE, check=True)
    calls = {}
    for row in json.loads(shown.stdout)["rows"]:
        key = row["module_name"], row["function_name"]
        if row["number_of_calls"]:
            calls[key] = calls.get(key, 0) + row["number_of_calls"]
    return calls


def record(program, dwell, scratch, is_fixed):
    """Calls in one run, always in the same folder, fresh."""
    folder, session = os.path.join(scratch, "work"), os.path.join(scratch, "session.dwell")
    environment = {**os.environ, **(ENVIRONMENT if is_fixed else {}), "P": INPUTS, "PATH": search_path(), **program.env}
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    if program.setup:
        run(["sh", "-ec", program.setup], folder, environment)
    words = [word.replace("$P", INPUTS) for word in program.command()]
    run([*(("setarch", "-R") if is_fixed else ()), dwell, "instrument", "-q", "-o", session, "--", *words], folder,
        environment)
    return calls_of(dwell, session)


def compare(program, dwell, runs, is_fixed):
    with tempfile.TemporaryDirectory(prefix="dwell-spread-") as scratch:
        found = [record(program, dwell, scratch, is_fixed) for _ in range(runs)]
    counts = {key: [calls.get(key, 0) for calls in found] for key in set().union(*found)}
    equal = {key for key, n in counts.items() if min(n) == max(n)}
    spreads = {key: (max(n) - min(n)) / statistics.median(n) for key, n in counts.items()
               if key not in equal and statistics.median(n)}
    worst = max((key for key in spreads if statistics.median(counts[key]) >= FEW), key=spreads.get, default=None)
    print(ROW.format(program.name, "fixed" if is_fixed else "as it is", len(counts), len(equal),
                     f"{100 * len(equal) / len(counts):.2f}",
                     f"{100 * sum(counts[key][0] for key in equal) / sum(found[0].values()):.2f}",
                     f"{100 * statistics.median(spreads.values()):.2g}" if spreads else "-",
                     f"{100 * spreads[worst]:.2g}" if worst else "-",
                     f"{worst[1][:60]} {min(counts[worst])}..{max(counts[worst])}" if worst else ""), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", required=True, type=os.path.abspath)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("name", nargs="*")
    arguments = parser.parse_args()
    managed = os.path.join(arguments.build, "tests/targets/dotnet/managed")
    programs = [*PROGRAMS, Program("managed", managed, f"sh -c '{managed} trees 12 20 2; test $? = 3'")]
    print(ROW.format("program", "runs", "functions", "equal", "%", "% of calls", "median %", "worst %", ""))
    for program in programs:
        if program.name not in (arguments.name or NAMES) or not shutil.which(program.needs, path=search_path()):
            continue
        for is_fixed in False, True:
            try:
                compare(program, os.path.join(arguments.build, "dwell"), arguments.runs, is_fixed)
            except (NotReady, subprocess.SubprocessError) as reason:
                print(f"{program.name:8} not compared: {reason}", flush=True)


if __name__ == "__main__":
    main()
