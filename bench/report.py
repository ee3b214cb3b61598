#!/usr/bin/env python3
"""How long each view and export of a large session takes, loading included, and how much memory.

Three sessions of 1 million samples on 100,000 stacks, 4 threads: as a program has them, with long
stacks that share little, and with many lines and instructions. A fourth of calls: a million nodes
in 10 slices, which follow one another in memory without any order. A fifth of allocations: a million
groups of objects, 500 types, in 10 slices. The goal for any view is 0.3 s and
200 MB, for an export 1 s; the table says how many lines were written.

bench/report.py --build FOLDER [--rounds N]
"""
import argparse
import os
import subprocess
import sys
import tempfile
import time

SESSIONS = {
    "usual": ["depth=25", "addresses=20000", "functions=4000", "modules=20"],
    "long stacks": ["depth=100", "addresses=20000", "functions=4000", "modules=20"],
    "many lines": ["depth=40", "addresses=50000", "functions=10000", "modules=20"],
    "calls": ["call_nodes=1000000", "slices=10", "addresses=60000", "functions=10000",
              "modules=20"],
    "allocations": ["alloc_groups=1000000", "alloc_types=500", "slices=10", "depth=25",
                    "addresses=20000", "functions=4000", "modules=20"],
}
EXPORTS = ["pprof", "speedscope", "firefox", "folded", "callgrind"]
OF_ALLOCATIONS = ["allocations", "allocations --format json", "lifetime", "gc"]
VIEWS = ["summary", "functions", "calltree", "callers {function}", "modules", "lines",
         "instructions", "processes", "threads", "functions --format json",
         "calltree --format csv --top 1000", "modules --format json", "modules --top 20",
         "functions --from 100ms --to 500ms", "lines --thread {thread}",
         "functions --module {module}"]


def once(words, output):
    """Wall time in seconds, CPU time in seconds, peak memory in MB."""
    with open(output, "wb") as out:
        start = time.monotonic()
        child = subprocess.Popen(words, stdout=out)
        _, status, usage = os.wait4(child.pid, 0)
    if status:
        sys.exit(f"{' '.join(words)}: status {status}")
    return time.monotonic() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def measure(words, output, rounds):
    runs = [once(words, output) for _ in range(rounds)]
    with open(output, "rb") as f:
        rows = sum(1 for _ in f)
    return min(r[0] for r in runs), min(r[1] for r in runs), max(r[2] for r in runs), rows


def first_row(dwell, session, view, columns):
    done = subprocess.run([dwell, "report", session, view, "--top", "1", "--format", "csv",
                           "--columns", columns], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()[1].split(",")


def names_in(dwell, session):
    """What views and filters are to be about. A function as `callers` takes it: module and name,
    so that it is the only one."""
    module, address = first_row(dwell, session, "functions", "module_name,function_address")
    return {"function": f"{module}!{address}", "module": module,
            "thread": first_row(dwell, session, "threads", "id")[0]}


def show(what, wall, cpu, mb, lines):
    print(f"{what:36} {wall:7.3f} {cpu:7.3f} {mb:6.1f} {lines:8}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", required=True)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    dwell = os.path.join(options.build, "dwell")
    with tempfile.TemporaryDirectory() as scratch:
        session, output = os.path.join(scratch, "big.dwell"), os.path.join(scratch, "out")
        for name, shape in SESSIONS.items():
            subprocess.run([os.path.join(options.build, "tests/tools/make-session"), session,
                            "samples=1000000", "stacks=100000", "threads=4", *shape], check=True)
            names = names_in(dwell, session)
            print(f"\n{name}: {' '.join(shape)}, {os.path.getsize(session) / 1e6:.1f} MB\n")
            print(f"{'view':36} {'wall s':>7} {'CPU s':>7} {'MB':>6} {'lines':>8}")
            for view in VIEWS + (OF_ALLOCATIONS if name == "allocations" else []):
                words = [dwell, "report", session, *view.format(**names).split(" ")]
                show(view, *measure(words, output, options.rounds))
            for to in EXPORTS:
                words = [dwell, "export", session, "--to", to]
                show("export --to " + to, *measure(words, output, options.rounds))


if __name__ == "__main__":
    main()
