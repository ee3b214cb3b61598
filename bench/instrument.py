#!/usr/bin/env python3
"""What time probes cost, and how true the times are, against uftrace and dwell's own sampling.

Programs run in turns: as they are, from clones without probes, with time probes, for fib under
uftrace too. Floor: what two readings of the TSC take. Cost of a call: (processor time with probes -
without) / calls. Then, for each program, the session's Application time beside the plain run's
processor time, and the functions that sampling finds the heaviest beside their Application time. Last, what is left of the
cost under a limit, in a first run and in one that knows what an earlier one has found out, and the
inclusive shares of the largest functions that were not switched off.

bench/instrument.py --build FOLDER [--rounds 5] [cost|truth|limit]...
"""
import argparse
import csv
import fnmatch
import io
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import clone

HERE = os.path.dirname(os.path.abspath(__file__))
FIB = "34"
TOP = 20
LIMIT = "30"
LIBRARIES = "", "[libraries]"
MODULES = ["--module", "liblua5.4*", "--module", "libperl*"]


class Bench:
    def __init__(self, build, rounds, scratch):
        self.dwell, self.rounds, self.scratch = os.path.join(build, "dwell"), rounds, scratch
        os.environ["XDG_CACHE_HOME"] = self.path("cache")
        for name, source, flags in (("spent", "spent.c", []), ("fib", "fib.c", []),
                                    ("fib-pg", "fib.c", ["-pg"])):
            subprocess.run(["gcc", "-O2", "-fno-optimize-sibling-calls", *flags, "-o", self.path(name),
                            os.path.join(HERE, source)], check=True)
        with open(self.path("many.c"), "w", encoding="ascii") as file:
            file.write(clone.c_source(250))
        cc1 = subprocess.run(["gcc", "-print-prog-name=cc1"], check=True, text=True,
                             stdout=subprocess.PIPE).stdout.strip()
        self.programs = {
            "fib": [self.path("fib"), FIB],
            "lua5.4": ["lua5.4", "-e", clone.LUA],
            "gawk": ["gawk", clone.GAWK],
            "perl": ["perl", "-e", clone.PERL],
            "cc1 -O2": [cc1, "-quiet", "-O2", self.path("many.c"), "-o", "/dev/null"],
        }

    def path(self, name):
        return os.path.join(self.scratch, name)

    def instrument(self, *options):
        return [self.dwell, "instrument", "-q", *MODULES, *options, "--"]

    def spend(self, words, before):
        """(processor seconds of the program, of all processes) of @words behind @before."""
        report = self.path("spent.txt")
        start = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run([*before, self.path("spent"), report, *words], cwd=self.scratch,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        end = resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode:
            sys.exit(f"{before} {words}: status {done.returncode}: {done.stderr}")
        with open(report, encoding="ascii") as file:
            own = float(file.read())
        return own, end.ru_utime + end.ru_stime - start.ru_utime - start.ru_stime

    def report(self, session, view):
        done = subprocess.run([self.dwell, "report", session, view, "--format", "json"], check=True,
                              text=True, stdout=subprocess.PIPE)
        return json.loads(done.stdout)

    def record(self, words):
        """The session of one run of @words, and what that spent."""
        session = self.path("calls.dwell")
        if os.path.exists(session):
            os.unlink(session)
        spent = self.spend(words, self.instrument("-o", session))
        return session, spent

    def floor(self):
        done = subprocess.run([self.path("fib"), FIB, "floor"], check=True, text=True,
                              stdout=subprocess.PIPE)
        return float(done.stdout)


def uftrace(bench, words, patched):
    """Processor seconds of all processes, None without uftrace."""
    if not shutil.which("uftrace"):
        return None
    data = bench.path("uftrace.data")
    shutil.rmtree(data, ignore_errors=True)
    before = ["uftrace", "record", "-d", data, *(["-P", "."] if patched else []), "--"]
    start = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([*before, *words], check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    end = resource.getrusage(resource.RUSAGE_CHILDREN)
    shutil.rmtree(data, ignore_errors=True)
    return end.ru_utime + end.ru_stime - start.ru_utime - start.ru_stime


def middle(values):
    return statistics.median(values)


def cost_of(bench, words):
    """Medians of a program: plain, relocated, probed, all processes, ns a call, floor, calls."""
    plain, relocated, probed, whole, cost, floors = [], [], [], [], [], []
    bench.spend(words, bench.instrument("--probes=none"))  # makes the images
    session, _ = bench.record(words)
    calls = bench.report(session, "modules")["session"]["number_of_calls"]
    for _ in range(bench.rounds):
        floors.append(bench.floor())
        plain.append(bench.spend(words, [])[0])
        relocated.append(bench.spend(words, bench.instrument("--probes=none"))[0])
        own, everything = bench.record(words)[1]
        probed.append(own)
        whole.append(everything)
        cost.append((own - relocated[-1]) / calls * 1e9)
    return *(middle(v) for v in (plain, relocated, probed, whole, cost, floors)), calls


def cost(bench):
    rows = [("program", "plain s", "cloned s", "probed s", "all s", "calls M", "ns a call", "floor",
             "ratio", "above")]
    for name, words in bench.programs.items():
        plain, relocated, probed, whole, ns, floor, calls = cost_of(bench, words)
        rows.append((name, f"{plain:.3f}", f"{relocated:.3f}", f"{probed:.3f}", f"{whole:.3f}",
                     f"{calls / 1e6:.2f}", f"{ns:.1f}", f"{floor:.1f}", f"{ns / floor:.2f}",
                     f"{ns - floor:+.1f}"))
    clone.table(rows)
    rows = [("fib", "all processes, CPU s")]
    for name, words, patched in (("uftrace record -P .", bench.programs["fib"], True),
                                 ("uftrace record, built with -pg", [bench.path("fib-pg"), FIB],
                                  False)):
        spent = [uftrace(bench, words, patched) for _ in range(min(bench.rounds, 3))]
        rows.append((name, f"{middle(spent):.3f}" if None not in spent else "no uftrace"))
    clone.table(rows)


def is_probed(words, module):
    """Whether @module, of the program @words, runs with probes."""
    return module == os.path.basename(os.path.realpath(words[0])) or any(
        fnmatch.fnmatch(module or "", glob) for glob in MODULES[1::2])


def shares(of):
    """{key: percent} of {key: amount}."""
    whole = sum(of.values())
    return {key: 100 * n / max(whole, 1) for key, n in of.items()}


def measured_shares(report, words):
    """{(module, function): percent of Application}, summed over processes. All code without probes is
    one row: whom a library's function calls or jumps to has its time there, and samples of its own
    in plain runs."""
    of = {}
    for row in report["rows"]:
        key = row["module_name"], row["function_name"]
        key = key if is_probed(words, row["module_name"]) else LIBRARIES
        of[key] = of.get(key, 0) + (row["application_exclusive_time"] or 0)
    return shares(of)


def sampled_shares(bench, words, measured):
    """Likewise of the samples of a plain run. What has no row in @measured has no probes: it is its
    caller's there, and so here."""
    samples, of, owners = bench.path("samples.dwell"), {}, []
    if os.path.exists(samples):
        os.unlink(samples)
    subprocess.run([bench.dwell, "sample", "-q", "-F", "5000", "--kernel", "never", "-o", samples,
                    *words], check=True, stdout=subprocess.DEVNULL)
    tree = subprocess.run([bench.dwell, "report", samples, "calltree", "--format", "csv"], check=True,
                          text=True, stdout=subprocess.PIPE).stdout
    for row in csv.DictReader(io.StringIO(tree)):
        del owners[int(row["Level"]):]
        key = row["Module Name"], row["Function Name"]
        if not is_probed(words, row["Module Name"]):
            key = LIBRARIES
        elif key not in measured:
            key = owners[-1] if owners else LIBRARIES
        owners.append(key)
        of[key] = of.get(key, 0) + int(row["Exclusive Samples"])
    return shares(of)


def means(rounds):
    """The means of several {key: percent}."""
    keys = set().union(*rounds)
    return {key: sum(one.get(key, 0) for one in rounds) / len(rounds) for key in keys}


def truth_of(bench, words):
    """A program's (plain s, Application s, calls, shares by sampling and by Application of each
    round)."""
    plain, application, sampled, measured = [], [], [], []
    bench.record(words)  # makes the images
    for _ in range(bench.rounds):
        plain.append(bench.spend(words, [])[0])
        session, _ = bench.record(words)
        calls = bench.report(session, "functions")
        application.append(calls["session"]["application_exclusive_time"] / 1e9)
        measured.append(measured_shares(calls, words))
        sampled.append(sampled_shares(bench, words, measured[0]))
    return (middle(plain), middle(application), calls["session"]["number_of_calls"], sampled,
            measured)


def truth(bench):
    rows = [("program", "plain s", "Application s", "off", "limit", "worst of top 20",
             "plain runs apart")]
    details = []
    for name, words in bench.programs.items():
        plain, application, calls, sampled, measured = truth_of(bench, words)
        by_samples, by_clock = means(sampled), means(measured)
        top = sorted(by_samples, key=by_samples.get, reverse=True)[:TOP]
        worst = max((by_clock.get(key, 0) - by_samples[key] for key in top), key=abs)
        apart = max(max(one.get(key, 0) for one in sampled) - min(one.get(key, 0) for one in sampled)
                    for key in top)
        limit = max(0.25 * plain, 2e-9 * calls)
        rows.append((name, f"{plain:.3f}", f"{application:.3f}", f"{application - plain:+.3f}",
                     f"{limit:.3f}", f"{worst:+.1f}", f"{apart:.1f}"))
        details += [(name, key[1][:50],
                     *(f"{mean.get(key, 0):.1f} ({min(all_of):.1f}-{max(all_of):.1f})"
                       for mean, all_of in ((by_samples, [one.get(key, 0) for one in sampled]),
                                            (by_clock, [one.get(key, 0) for one in measured]))))
                    for key in top]
    clone.table(rows)
    clone.table([("program", "function", "samples %", "Application %"), *details])


def inclusive(report, column, all_of):
    """{(module, function): percent of the whole that @all_of adds up to}, summed over processes."""
    whole, of = sum(row[all_of] or 0 for row in report["rows"]), {}
    for row in report["rows"]:
        key = row["module_name"], row["function_name"]
        of[key] = of.get(key, 0) + 100 * (row[column] or 0) / max(whole, 1)
    return of


def take(bench, words, before):
    """(seconds on the clock, processor seconds of the program) of @words behind @before."""
    start = time.perf_counter()
    own, _ = bench.spend(words, before)
    return time.perf_counter() - start, own


def limit_of(bench, words):
    """A program's ([(clock s, processor s)] of plain, first and later runs, functions off, calls,
    worst of what was measured)."""
    samples, session = bench.path("samples.dwell"), bench.path("limited.dwell")
    limited = bench.instrument("--overhead", LIMIT, "-o", session)
    ways = [], [*limited[:-1], "--forget", "--"], limited
    took = [[] for _ in ways]
    bench.record(words)  # makes the images
    for _ in range(bench.rounds):
        for way, times in zip(ways, took):
            for path in (session, samples):
                if os.path.exists(path):
                    os.unlink(path)
            times.append(take(bench, words, way))
    subprocess.run([bench.dwell, "sample", "-q", "-F", "5000", "-o", samples, *words], check=True,
                   stdout=subprocess.DEVNULL)
    calls = bench.report(session, "functions")
    sampled = inclusive(bench.report(samples, "functions"), "inclusive_samples", "exclusive_samples")
    measured = inclusive(calls, "application_inclusive_time", "application_exclusive_time")
    off = {(row["module_name"], row["function_name"]) for row in calls["rows"]
           if row["switched_off_at"] is not None}
    top = sorted((key for key in measured if key in sampled and key not in off),
                 key=measured.get, reverse=True)[:TOP]
    worst = max(((measured[key] - sampled[key]) for key in top), key=abs, default=0)
    seconds = [(middle(wall), middle(own)) for wall, own in (zip(*times) for times in took)]
    return seconds, len(off), calls["session"]["number_of_calls"], worst


def limit(bench):
    rows = [("program", "plain s", "first s", "ratio", "later s", "ratio", "CPU first", "CPU later",
             "switched off", "calls M", "worst of 20 not off")]
    for name, words in bench.programs.items():
        (plain, first, later), off, calls, worst = limit_of(bench, words)
        rows.append((name, f"{plain[0]:.3f}", f"{first[0]:.3f}", f"{first[0] / plain[0]:.2f}",
                     f"{later[0]:.3f}", f"{later[0] / plain[0]:.2f}", f"{first[1] / plain[1]:.2f}",
                     f"{later[1] / plain[1]:.2f}", str(off), f"{calls / 1e6:.2f}",
                     f"{worst:+.1f}"))
    clone.table(rows)


PARTS = {"cost": cost, "truth": truth, "limit": limit}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", required=True, type=os.path.abspath)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("part", nargs="*", default=list(PARTS))
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="dwell-bench-") as scratch:
        bench = Bench(arguments.build, arguments.rounds, scratch)
        for part in arguments.part:
            PARTS[part](bench)


if __name__ == "__main__":
    main()
