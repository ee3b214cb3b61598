#!/usr/bin/env python3
"""Which costs have grown since another commit? Both builds run in turns on this machine.

For each cost: the medians of both, the median of the paired ratios new/old and its 95 % interval
(order statistics, so nothing is assumed of how times are spread). A cost grows when the whole
interval lies above 1.03; then the exit status is 1. Costs are processor time, user and system, of
all processes or of the program alone, and for .NET memory too. bench/processes.c is the program of
many processes.

bench/compare.py --build FOLDER --against FOLDER [--pairs 10] [PATTERN...]
"""
import argparse
import fnmatch
import glob
import math
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile

import clone
import memory

HERE = os.path.dirname(os.path.abspath(__file__))
GROWS = 1.03
LIBRARIES = 215
SESSIONS = {
    "samples": ["samples=1000000", "stacks=100000", "threads=4", "depth=40", "addresses=50000",
                "functions=10000", "modules=20"],
    "calls": ["call_nodes=1000000", "slices=10", "addresses=60000", "functions=10000", "modules=20"],
}


class Missing(Exception):
    """What this machine lacks for a cost."""


class Side:
    """One of the two builds, with a cache of its own."""

    def __init__(self, build, scratch):
        self.build, self.scratch = os.path.abspath(build), scratch
        self.dwell = os.path.join(self.build, "dwell")
        os.makedirs(self.path("cache"))

    def path(self, name):
        return os.path.join(self.scratch, name)

    def run(self, *words):
        """What @words print, and the processor seconds of all their processes."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(words, cwd=self.scratch, stdout=subprocess.PIPE, text=True, check=False,
                              errors="replace", env={**os.environ, "XDG_CACHE_HOME": self.path("cache")})
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode:
            sys.exit(f"{' '.join(words)}: status {done.returncode}")
        return done.stdout, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    def record(self, method, words):
        """(processor seconds of the program, of all processes) of @words under @method."""
        session, spent = self.path("run.dwell"), self.path("spent.txt")
        if os.path.exists(session):
            os.unlink(session)
        whole = self.run(self.dwell, *method, "-q", "-o", session, "--", self.tools["spent"], spent,
                         *words)[1]
        with open(spent, encoding="ascii") as file:
            return float(file.read()), whole


class Tools(dict):
    """The programs that both sides run: name -> path, built when first asked for."""

    def __init__(self, scratch, build):
        super().__init__()
        self.scratch, self.build = scratch, build

    def __missing__(self, name):
        self[name] = path = os.path.join(self.scratch, name)
        if name in SESSIONS:
            subprocess.run([os.path.join(self.build, "tests/tools/make-session"), path,
                            *SESSIONS[name]], check=True)
        elif name == "libraries":
            self.link_libraries(path)
        elif name == "many.c":
            with open(path, "w", encoding="ascii") as file:
                file.write(clone.c_source(250))
        else:
            subprocess.run(["gcc", "-O2", "-g", "-fno-optimize-sibling-calls",
                            "-Wno-infinite-recursion", "-o", path,
                            os.path.join(HERE, name + ".c")], check=True)
        return path

    def link_libraries(self, path):
        """A program of LIBRARIES small libraries, that ends at once."""
        names = [f"f{i}" for i in range(LIBRARIES)]
        for name in names:
            subprocess.run(["gcc", "-O2", "-shared", "-fPIC", "-nostdlib", "-x", "c", "-", "-o",
                            f"{path}-{name}.so"], input=f"int {name}(int x) {{ return x + 1; }}",
                           text=True, check=True)
        calls = "".join(f"x = {name}(x);" for name in names)
        subprocess.run(["gcc", "-x", "c", "-", "-x", "none", *(f"{path}-{name}.so" for name in names),
                        "-o", path], text=True, check=True,
                       input="".join(f"int {name}(int);" for name in names) +
                       f"int main(void) {{ int x = 0; {calls} return x != {LIBRARIES}; }}")


SAMPLE, INSIDE = ["sample"], ["sample", "--road", "inside"]
METHODS = {"instrument": ["instrument"], "sample": SAMPLE, "sample from inside": INSIDE}


def own_of(method, *words):
    return lambda side: side.record(method, words_of(side, words))[0]


def all_of(method, *words):
    return lambda side: side.record(method, words_of(side, words))[1]


def words_of(side, words):
    """Words in braces are tools."""
    return [side.tools[word[1:-1]] if word[0] + word[-1] == "{}" else word for word in words]


def collector_of(method):
    """What a recording of the C compiler takes beside it, its end included."""
    def measure(side):
        cc1 = subprocess.run(["gcc", "-print-prog-name=cc1"], check=True, text=True,
                             stdout=subprocess.PIPE).stdout.strip()
        own, whole = side.record(method, [cc1, "-quiet", "-O2", side.tools["many.c"], "-o",
                                          "/dev/null"])
        return whole - own
    return measure


def frame(side):
    """ns to unwind a frame, of the benchmark's line of ours."""
    found = re.search(r"dwell +\d+ +([\d.]+)", side.run(os.path.join(side.build, "bench/bench-unwind"))[0])
    return float(found[1])


def first_image(side):
    """Images of a large library, made anew."""
    tool = shutil.which("llvm-addr2line")
    if not tool or not glob.glob("/usr/lib/x86_64-linux-gnu/libLLVM*.so*"):
        raise Missing("no libLLVM")
    shutil.rmtree(side.path("cache"))
    os.makedirs(side.path("cache"))
    return side.record(["instrument", "--module", "libLLVM*"], [tool, "--version"])[1]


def report_of(session, *view):
    return lambda side: side.run(side.dwell, "report", side.tools[session], *view)[1]


def managed(column, *words, options=()):
    """A column of what bench/memory.py measures of a .NET program."""
    def measure(side):
        if not shutil.which("dotnet"):
            raise Missing("no dotnet")
        folder = os.path.join(side.tools.scratch, "managed")
        os.makedirs(folder, exist_ok=True)
        return memory.Bench(side.build, 1, folder).run(words, list(options))[column]
    return measure


COSTS = {
    "probe: fib(32), program": own_of(["instrument"], "{fib}", "32"),
    "sample: 10 kHz, all": all_of([*SAMPLE, "-F", "10000"], "{spinner}", "400"),
    "sample: 10 kHz, 200 KB of stack, all": all_of([*SAMPLE, "-F", "10000"], "{spinner}", "400", "200"),
    "sample: from inside, all": all_of(INSIDE, "{spinner}", "400", "32"),
    "unwind: ns a frame": frame,
    **{f"start: 200 processes of a script, {name}":
       all_of(method, "sh", "-c", "i=0; while [ $i -lt 200 ]; do /bin/true; i=$((i+1)); done")
       for name, method in METHODS.items()},
    **{f"start: 2,000 forks, {name}": all_of(method, "{processes}", "2000")
       for name, method in METHODS.items()},
    f"start: {LIBRARIES} libraries, program": own_of(["instrument", "--module", "*"], "{libraries}"),
    "image: libLLVM for the first time": first_image,
    "end: cc1 instrumented, collector": collector_of(["instrument"]),
    "end: cc1 sampled, collector": collector_of([*SAMPLE, "-F", "5000"]),
    "report: functions of samples": report_of("samples", "functions"),
    "report: calltree of samples": report_of("samples", "calltree", "--top", "1000"),
    "report: lines of samples": report_of("samples", "lines"),
    "report: functions of calls": report_of("calls", "functions"),
    "report: calltree of calls": report_of("calls", "calltree", "--top", "1000"),
    "memory: 10 million objects, program": managed(0, "loop", "10000000"),
    "memory: KB for 10 million live objects": managed(4, "keep", "10000000"),
}


def interval(values):
    """The median's 95 % interval: between two of the sorted values that are as far from the ends."""
    values, n, k, below = sorted(values), len(values), 0, 0.0
    while 2 * (below + math.comb(n, k) / 2 ** n) <= 0.05:
        below += math.comb(n, k) / 2 ** n
        k += 1
    return values[k - 1], values[n - k]


def pairs_of(measure, old, new, n):
    """[(old, new)] of @n pairs, which begin with either side in turn; the first ones do not count."""
    measure(old), measure(new)
    pairs = []
    for i in range(n):
        first, second = (old, new) if i % 2 else (new, old)
        one, other = measure(first), measure(second)
        pairs.append((one, other) if first is old else (other, one))
    return pairs


def compare(name, measure, old, new, n):
    """Print a cost's line. Whether it grows."""
    try:
        pairs = pairs_of(measure, old, new, n)
    except Missing as what:
        print(f"{name:42} not measured: {what}", flush=True)
        return False
    ratios = [after / before for before, after in pairs]
    low, high = interval(ratios)
    verdict = "grows" if low > GROWS else "shrinks" if high < 1 / GROWS else ""
    before, after = (statistics.median(column) for column in zip(*pairs))
    print(f"{name:42} {before:11.4g} {after:11.4g} {statistics.median(ratios):7.3f}   "
          f"{low:.3f} to {high:.3f}  {verdict}", flush=True)
    return verdict == "grows"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", required=True)
    parser.add_argument("--against", required=True)
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("pattern", nargs="*", default=["*"])
    options = parser.parse_args()
    if options.pairs < 6:
        parser.error("a 95 % interval takes 6 pairs at least")
    wanted = [name for name in COSTS
              if any(fnmatch.fnmatch(name, pattern) for pattern in options.pattern)]
    with tempfile.TemporaryDirectory(prefix="dwell-bench-") as scratch:
        tools = Tools(scratch, os.path.abspath(options.against))
        sides = [Side(build, os.path.join(scratch, name))
                 for name, build in (("old", options.against), ("new", options.build))]
        for side in sides:
            side.tools = tools
        print(f"{'cost':42} {'old':>11} {'new':>11} {'ratio':>7}   95 % interval")
        grown = sum(compare(name, COSTS[name], *sides, options.pairs) for name in wanted)
    print(f"{grown} of {len(wanted)} costs grow")
    sys.exit(1 if grown else 0)


if __name__ == "__main__":
    main()
