#!/usr/bin/env python3
"""How far shares of time by probes are from those by samples.

Programs of bench/workloads.py run in turns with time probes, and without under dwell's own sampling. For
each program: the largest difference of a function's share of the Application time from its share of
samples, of the 20 functions that sampling finds the heaviest, and how far sampled runs are apart; then
these functions. Functions without probes are part of their callers in both.

bench/shares.py --build FOLDER [--runs 5] [--only GLOB]...
"""
import argparse
import csv
import io
import os
import subprocess
import tempfile

import clone
import runs
import workloads

TOP = 20
ROWS = "lua", "gawk", "perl", "cc1plus -O0"
LIBRARIES = "", "[libraries]"


def shares(of):
    """{key: percent} of {key: amount}."""
    whole = sum(of.values())
    return {key: 100 * n / max(whole, 1) for key, n in of.items()}


def measured_shares(report, workload):
    """{(module, function): percent of Application}, summed over processes. All code without probes is
    one row: whom a library's function calls or jumps to has its time there, and samples of its own
    in plain runs."""
    of = {}
    for row in report["rows"]:
        key = row["module_name"], row["function_name"]
        key = key if workload.is_probed(row["module_name"]) else LIBRARIES
        of[key] = of.get(key, 0) + (row["application_exclusive_time"] or 0)
    return shares(of)


def sampled_shares(dwell, session, workload, measured):
    """Likewise of the samples of a plain run. What has no row in @measured has no probes: it is its
    caller's there, and so here."""
    of, owners = {}, []
    tree = subprocess.run([dwell, "report", session, "calltree", "--format", "csv"], check=True, text=True,
                          stdout=subprocess.PIPE).stdout
    for row in csv.DictReader(io.StringIO(tree)):
        del owners[int(row["Level"]):]
        key = row["Module Name"], row["Function Name"]
        if not workload.is_probed(row["Module Name"]):
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


def shares_of(runner, dwell, workload, n):
    """Shares by sampling and by Application time of each of @n rounds."""
    sampled, measured = [], []
    runner.inputs.make(workload)
    runner.instrumented(dwell, workload, workload.idle)  # makes the images
    for _ in range(n):
        runner.instrumented(dwell, workload, workload.words)
        report = runner.report(dwell, runner.session(workload), "functions")
        measured.append(measured_shares(report, workload))
        session = runner.sampled(dwell, workload, workload.words, "-F", "5000", "--kernel", "never")
        sampled.append(sampled_shares(dwell, session, workload, measured[0]))
    return sampled, measured


def range_of(key, rounds):
    """(mean, least, most) of @key in @rounds."""
    values = [one.get(key, 0) for one in rounds]
    return sum(values) / len(values), min(values), max(values)


def compare(runner, dwell, rows, n):
    lines, details = [("program", "worst of top 20", "sampled apart")], []
    for name, workload in rows.items():
        sampled, measured = shares_of(runner, dwell, workload, n)
        by_samples, by_clock = means(sampled), means(measured)
        top = sorted(by_samples, key=by_samples.get, reverse=True)[:TOP]
        worst = max((by_clock.get(key, 0) - by_samples[key] for key in top), key=abs)
        apart = max(most - least for _, least, most in (range_of(key, sampled) for key in top))
        lines.append((name, f"{worst:+.1f}", f"{apart:.1f}"))
        details += [(name, key[1][:50], *("{:.1f} ({:.1f}-{:.1f})".format(*range_of(key, rounds))
                                          for rounds in (sampled, measured))) for key in top]
    clone.table(lines)
    clone.table([("program", "function", "samples %", "Application %"), *details])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", required=True, type=os.path.abspath)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--only", action="append", metavar="GLOB", help="rows")
    parser.add_argument("--folder", default=workloads.FOLDER, help="where inputs are kept")
    options = parser.parse_args()
    rows = workloads.chosen(options.only, ROWS if not options.only else workloads.workloads())
    with tempfile.TemporaryDirectory(prefix="dwell-bench-") as scratch:
        runner = runs.Runner(workloads.Inputs(options.folder), scratch)
        compare(runner, os.path.join(options.build, "dwell"), rows, options.runs)


if __name__ == "__main__":
    main()
