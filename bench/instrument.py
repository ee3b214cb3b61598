#!/usr/bin/env python3
"""What `dwell instrument` costs large programs, and whether it tells the truth of them.

For each row of bench/workloads.py a plain run and one under each build in turns, image in the cache;
medians of all rounds. Without --against there is one build, with it two. Floor: two readings of the
TSC, measured in each round. ns a call: (processor time under dwell - plain) / calls, of the command with
all its processes and without dwell's own. Rows with few calls or little work are mostly start-up: ns a call
is also told without what the same program takes more when it has nothing to do. off: what is told of the
program and of its system calls ("in OS"), together, beside the plain run, whose processor time is both.

bench/instrument.py --build FOLDER [--against FOLDER] [--runs 5] [--only GLOB]... [--columns NAME,...]
                    [--json FILE] [--perf-refused] [--memory MB] [--overhead PCT | --peers]
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

import peers
import runs
import workloads

HERE = os.path.dirname(os.path.abspath(__file__))
FEW_CALLS, LITTLE_S = 10e6, 0.5

# Columns: name -> (title, how it is printed).
COLUMNS = {
    "plain_s": ("plain s", "{:.2f}"), "calls": ("M calls", "{:.1f}"), "cpu_s": ("CPU s", "{:.2f}"),
    "ns": ("ns a call", "{:.1f}"), "floors": ("x floor", "{:.2f}"), "start_s": ("start s", "{:.3f}"),
    "ns_without_start": ("without", "{:.1f}"), "told_s": ("told s", "{:.2f}"), "os_s": ("in OS s", "{:.2f}"),
    "off_percent": ("off %", "{:+.0f}"), "off_ns": ("off ns", "{:+.1f}"), "beyond": ("beyond M", "{:.1f}"),
    "nodes": ("M nodes", "{:.2f}"), "agent_mb": ("trees MB", "{:.1f}"), "more_mb": ("+ MB", "{:.0f}"),
    "collector_mb": ("coll. MB", "{:.0f}"), "collector_cpu_s": ("coll. s", "{:.2f}"),
    "finish_s": ("finish s", "{:.2f}"), "finish_cpu_s": ("its CPU", "{:.2f}"), "session_mb": ("file MB", "{:.2f}"),
}
MILLIONS = "calls", "beyond", "nodes"


class Bench:
    """The builds {name: dwell}, the runner, and what is compiled for itself."""

    def __init__(self, options, scratch):
        os.chmod(scratch, 0o755)
        self.builds = {"this": os.path.join(options.build, "dwell")}
        if options.against:
            self.builds = {"other": os.path.join(options.against, "dwell"), **self.builds}
        for dwell in self.builds.values():
            if not os.access(dwell, os.X_OK):
                sys.exit(f"{dwell} is not there: build it (ninja programs), or give the folder that holds it")
        self.n, self.options = options.runs, [] if options.memory is None else ["--memory", options.memory]
        self.fib = compiled(scratch, os.path.join(HERE, "fib.c"))
        refused = [compiled(scratch, os.path.join(HERE, "../tests/targets/without-perf.c"))] \
            if options.perf_refused else []
        self.inputs = workloads.Inputs(options.folder)
        self.runner = runs.Runner(self.inputs, scratch, options.seconds, refused)

    def floor(self):
        """Nanoseconds."""
        return float(subprocess.run([self.fib, "34", "floor"], check=True, text=True,
                                    stdout=subprocess.PIPE).stdout)

    def take(self, name, workload, words, *options):
        return self.runner.instrumented(self.builds[name], workload, words, *self.options, *options)

    def counts(self, name):
        """Whether a build counts what it switches off, and can be told not to."""
        return "--counts" in subprocess.run([self.builds[name], "help", "instrument"], check=True, text=True,
                                            stdout=subprocess.PIPE).stdout

    def counts_of(self, name, workload):
        """{function: its calls} of the last session of @workload, of all processes."""
        counts = {}
        for row in self.runner.report(self.builds[name], self.runner.session(workload), "functions")["rows"]:
            if row["number_of_calls"]:
                key = row["module_name"], row["function_name"], row["function_address"]
                counts[key] = counts.get(key, 0) + row["number_of_calls"]
        return counts

    def turns(self, i):
        """The builds' names, another one first in each round."""
        names = list(self.builds)
        return names[i % len(names):] + names[:i % len(names)]


def compiled(scratch, source):
    path = os.path.join(scratch, os.path.basename(source)[:-len(".c")])
    subprocess.run(["gcc", "-O2", "-fno-optimize-sibling-calls", "-o", path, source], check=True)
    return path


def medians(taken):
    """A record of medians of the @taken ones."""
    return type(taken[0])(*(statistics.median(column) for column in zip(*taken)))


def figures_of(plain, idle_plain, taken, idle, floor):
    """A row's figures {column: number}, of medians. @idle: of runs with nothing to do."""
    more, calls = taken.cpu_s - plain.cpu_s, max(taken.calls, 1)
    start, off = idle.cpu_s - idle_plain.cpu_s, taken.told_s + taken.os_s - plain.cpu_s
    figures = {**taken._asdict(), "plain_s": plain.cpu_s, "floor_ns": floor, "ns": more / calls * 1e9,
               "start_s": start, "more_mb": taken.peak_mb - plain.peak_mb,
               "off_percent": 100 * off / plain.cpu_s, "off_ns": off / calls * 1e9}
    figures["floors"] = figures["ns"] / floor
    if calls < FEW_CALLS or plain.cpu_s < LITTLE_S:
        figures["ns_without_start"] = (more - start) / max(calls - idle.calls, 1) * 1e9
        figures["floors"] = figures["ns_without_start"] / floor
    return figures


def measure(bench, workload):
    """{build: figures} of a row, and its single runs."""
    bench.inputs.make(workload)
    for name in bench.builds:
        bench.take(name, workload, workload.idle)  # makes the images
    plain, idle_plain, floors = [], [], []
    taken, idle = {name: [] for name in bench.builds}, {name: [] for name in bench.builds}
    for i in range(bench.n):
        floors.append(bench.floor())
        idle_plain.append(bench.runner.plain(workload, workload.idle))
        plain.append(bench.runner.plain(workload, workload.words))
        for name in bench.turns(i):
            idle[name].append(bench.take(name, workload, workload.idle))
            taken[name].append(bench.take(name, workload, workload.words))
    figures = {name: figures_of(medians(plain), medians(idle_plain), medians(taken[name]), medians(idle[name]),
                                statistics.median(floors)) for name in bench.builds}
    single = {"plain": [one._asdict() for one in plain], "floor_ns": floors,
              **{name: [one._asdict() for one in taken[name]] for name in bench.builds}}
    return figures, single


def limited(bench, workload):
    """{build: figures} of a row under a limit: a first run, and one that knows what that has found, each also
    without counts where the build has that. Counts of functions against a run without a limit; how many of
    them two such runs differ in, too, since many programs go by addresses."""
    bench.inputs.make(workload)
    kinds = {"first": ["--forget"], "later": [], "first_bare": ["--counts=no", "--forget"], "later_bare": ["--counts=no"]}
    plain, figures = [], {}
    taken = {name: {kind: [] for kind in kinds if not kind.endswith("_bare") or bench.counts(name)}
             for name in bench.builds}
    for name in bench.builds:
        bench.take(name, workload, workload.idle)
        figures[name] = {"calls": bench.take(name, workload, workload.words).calls}
        counts = bench.counts_of(name, workload)
        bench.take(name, workload, workload.words)
        figures[name]["differ"] = differing(counts, bench.counts_of(name, workload))
        for kind in taken[name]:
            bench.take(name, workload, workload.words, "--overhead", bench.limit, *kinds[kind])
            if not kind.endswith("_bare"):
                figures[name][kind + "_differ"] = differing(counts, bench.counts_of(name, workload))
    for i in range(bench.n):
        plain.append(bench.runner.plain(workload, workload.words))
        for name in bench.turns(i):
            for kind, all_of in taken[name].items():
                all_of.append(bench.take(name, workload, workload.words, "--overhead", bench.limit, *kinds[kind]))
    base = medians(plain).cpu_s
    for name in bench.builds:
        figures[name]["plain_s"] = base
        for kind, all_of in taken[name].items():
            one = medians(all_of)
            figures[name] |= {kind + "_ratio": one.cpu_s / base, kind + "_calls": one.calls, kind + "_told_s": one.told_s}
    return figures, {name: {kind: [one._asdict() for one in all_of] for kind, all_of in of.items()}
                     for name, of in taken.items()}


def differing(one, other):
    """The functions of which two runs have other counts."""
    return sum(one.get(name) != other.get(name) for name in one.keys() | other.keys())


LIMITED_COLUMNS = {
    "plain_s": ("plain s", "{:.2f}"), "first_ratio": ("first", "{:.2f}"), "later_ratio": ("later", "{:.2f}"),
    "first_bare_ratio": ("no counts", "{:.2f}"), "later_bare_ratio": ("later", "{:.2f}"),
    "later_told_s": ("told s", "{:.2f}"), "calls": ("M calls", "{:.3f}"), "first_calls": ("first M", "{:.3f}"),
    "later_calls": ("later M", "{:.3f}"), "differ": ("differ", "{}"), "first_differ": ("first", "{}"),
    "later_differ": ("later", "{}"),
}


def line(cells, widths):
    return "  ".join(cell.ljust(width) if i < 2 else cell.rjust(width)
                     for i, (cell, width) in enumerate(zip(cells, widths)))


def print_row(name, figures, columns):
    """A line for each build, as soon as it is known."""
    for build, of in figures.items():
        cells = [name, build]
        for key, (_, form) in columns.items():
            value = of.get(key)
            if value is not None and key.removeprefix("first_").removeprefix("later_") in MILLIONS:
                value /= 1e6
            cells.append("" if value is None else form.format(value))
        print(line(cells, widths_of(columns)), flush=True)


def widths_of(columns):
    return [23, 5, *(max(7, len(title)) for title, _ in columns.values())]


def print_rows(bench, rows, columns, of):
    """Measure and print @rows by the function @of. {row: what is known of it}."""
    print(line(["program", "build", *(title for title, _ in columns.values())], widths_of(columns)), flush=True)
    known = {}
    for name, workload in rows.items():
        figures, single = of(bench, workload)
        known[name] = {"medians": figures, "runs": single}
        print_row(name, figures, columns)
    floors = [of["floor_ns"] for row in known.values() for of in row["medians"].values() if "floor_ns" in of]
    if floors:
        print(f"floor: {min(floors):.1f} to {max(floors):.1f} ns; x floor without start where that is told apart")
    return known


def parsed():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", required=True, type=os.path.abspath)
    parser.add_argument("--against", type=os.path.abspath, help="a folder with another dwell")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--only", action="append", metavar="GLOB", help="rows")
    parser.add_argument("--columns", type=lambda text: text.split(","), help="of: " + ",".join(COLUMNS))
    parser.add_argument("--json", metavar="FILE", help="all medians and single runs")
    parser.add_argument("--folder", default=workloads.FOLDER, help="where inputs are kept")
    parser.add_argument("--seconds", type=float, default=3600, help="that a run may take")
    parser.add_argument("--perf-refused", action="store_true", help="as where the kernel refuses perf to dwell")
    parser.add_argument("--memory", metavar="MB", help="for call trees")
    parser.add_argument("--overhead", metavar="PCT", help="under this limit, instead")
    parser.add_argument("--peers", action="store_true", help="beside callgrind and uftrace, instead")
    options = parser.parse_args()
    unknown = set(options.columns or ()) - set(COLUMNS)
    if unknown:
        parser.error(f"no such column: {', '.join(sorted(unknown))}; there are: {', '.join(COLUMNS)}")
    if options.runs < 1:
        parser.error("a median takes 1 run at least")
    return options


def main():
    options = parsed()
    among = workloads.LIMITED if options.overhead else workloads.PEERS if options.peers else workloads.workloads()
    rows = workloads.chosen(options.only, among)
    with tempfile.TemporaryDirectory(prefix="dwell-bench-") as scratch:
        bench = Bench(options, scratch)
        if options.peers:
            known = peers.compare(bench, rows)
        elif options.overhead:
            bench.limit = options.overhead
            known = print_rows(bench, rows, LIMITED_COLUMNS, limited)
        else:
            columns = {key: COLUMNS[key] for key in options.columns or COLUMNS}
            known = print_rows(bench, rows, columns, measure)
    if options.json:
        with open(options.json, "w", encoding="ascii") as file:
            json.dump(known, file, indent=1)


if __name__ == "__main__":
    main()
