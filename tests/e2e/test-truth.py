#!/usr/bin/env python3
"""Sampling against a known truth: tests/targets/truth.c measures its own processor time.

Each case records one variant of the program in one mode and compares all views with what the
program printed. A share may be off by SIGMA standard deviations of a binomial with the number of
samples; those that a busy machine lost, or whose ticks found other programs, may have been of any
part.
Run by itself it counts how many shares of many recordings are that near:
tests/e2e/test-truth.py --dwell PROGRAM --targets FOLDER [--repeat 100] [--sigma 2]
"""
import argparse
import collections
import json
import math
import os
import sys
import tempfile

from harness import Context, File, cases, expect, require, rows_of

FILE = File(without_perf=("*",))
SIGMA = 3.5
SECONDS = "0.9"
THREADS = 8

Run = collections.namedtuple("Run", "context truth stripped")

CASES = (
    [f"{v} plain" for v in ("gcc-O0", "gcc-O2", "gcc-O2-nopie", "clang-O0", "clang-O2",
                            "gcc-O2-stripped", "clang-O2-stripped")] +
    [f"{v} recursion" for v in ("gcc-O0", "gcc-O2", "clang-O2", "gcc-O2-stripped")] +
    [f"{v} inlined" for v in ("gcc-O0", "gcc-O2", "gcc-O2-nopie", "clang-O0", "clang-O2")] +
    [f"{v} libraries" for v in ("gcc-O2", "gcc-O2-nopie", "clang-O0", "gcc-O2-stripped")] +
    [f"{v} threads" for v in ("gcc-O2", "clang-O2", "gcc-O2-stripped")])


def record(context, case):
    """Record one case; what the program printed about itself comes back with it."""
    variant, mode = case.split()
    words = ["plain", SECONDS, str(THREADS)] if mode == "threads" else [mode, SECONDS]
    # The program's own code is the truth, so the kernel stays out of it as for ordinary users.
    done = context.sample("--kernel", "never", "--", context.target("truth-" + variant), *words)
    return Run(context, json.loads(done.stdout), "stripped" in variant)


def name_of(part, run):
    """The part's row: its name, or module+0xOFFSET where symbols were stripped."""
    module = os.path.basename(part["module"])
    if run.stripped and module.endswith("-stripped"):
        return f"{module}+0x{part['offset']:x}"
    return part["function"]


def deviation(samples, kept, share):
    """How many standard deviations @samples of @kept are away from @share."""
    return (samples / kept - share) / math.sqrt(share * (1 - share) / kept)


def total(rows, column="exclusive_samples"):
    return sum(row[column] for row in rows)


def shares(run, report):
    """(what, samples, true share) of each part's exclusive samples."""
    for part in run.truth["parts"]:
        name = name_of(part, run)
        yield name, total(rows_of(report, name)), part["cpu_ns"] / run.truth["cpu_ns"]


def samples_missed(facts):
    """Samples that were lost, and those of ticks of the kernel that found another program."""
    if facts["event"] != "cpu-ticks":
        return facts["samples_lost"]
    due = facts["user_cpu_ns"] * facts["frequency_hz"] // 1000000000
    return max(facts["samples_lost"], due - facts["samples_kept"])


def check_near(what, samples, facts, share):
    """The part's share is as in the truth, if as many missed samples were of it as suits it best."""
    kept, lost = facts["samples_kept"], samples_missed(facts)
    of_part = min(max(share * (kept + lost) - samples, 0), lost)
    off = deviation(samples + of_part, kept + lost, share)
    require(abs(off) <= SIGMA, f"{what}: {samples} of {kept} samples are {samples / kept:.4f}, "
            f"truth {share:.4f}, {lost} missed: {off:+.1f} standard deviations")


def check_functions(run):
    report = run.context.report("functions")
    kept = report["session"]["samples_kept"]
    require(kept > 0 and kept + samples_missed(report["session"]) > 100, f"only {kept} samples kept")
    expect(total(report["rows"]), kept, "sum of exclusive samples")
    for row in report["rows"]:
        require(row["inclusive_samples"] <= kept and row["inclusive_samples_percent"] <= 100,
                f"over 100 %: {row}")
        require(row["exclusive_samples"] <= row["inclusive_samples"], f"exclusive > inclusive: {row}")
    for what, samples, share in shares(run, report):
        check_near(what, samples, report["session"], share)
    return report


def check_places(run, report):
    """Function lines and source files are right; inlined parts count for their callers too."""
    for part in run.truth["parts"]:
        if name_of(part, run) != part["function"]:
            continue
        (row,) = rows_of(report, part["function"])
        require(row["source_file"], f"{part['function']} has no source file")
        expect(os.path.basename(row["source_file"]), os.path.basename(part["source"]),
               f"source of {part['function']}")
        require(part["first_line"] <= row["function_line_number"] <= part["last_line"],
                f"{part['function']} starts at line {row['function_line_number']}, truth "
                f"{part['first_line']} to {part['last_line']}")
        if part["outer"]:
            (outer,) = rows_of(report, part["outer"])
            require(outer["inclusive_samples"] >= row["inclusive_samples"],
                    f"{part['outer']} has less than {part['function']}, which it inlines")
            expect(row["module_name"], outer["module_name"], "module of an inlined function")


def check_lines(run, functions):
    rows = run.context.report("lines")["rows"]
    for part in run.truth["parts"]:
        if name_of(part, run) != part["function"]:
            continue
        # Compilers give some instructions no line.
        own = [row for row in rows
               if row["function_name"] == part["function"] and row["source_line_begin"]]
        right = [row for row in own
                 if os.path.basename(row["source_file"]) == os.path.basename(part["source"])
                 and part["first_line"] <= row["source_line_begin"] <= part["last_line"]]
        whole = total(rows_of(functions, part["function"]))
        require(total(right) >= 0.97 * whole,
                f"{total(right)} of {whole} samples of {part['function']} have a right line")


def check_instructions(run, kept):
    rows = run.context.report("instructions")["rows"]
    expect(total(rows), kept, "sum of exclusive samples of instructions")


def check_modules(run, facts):
    kept = facts["samples_kept"]
    rows = [row for row in run.context.report("modules")["rows"] if row["level"] == 0]
    expect(total(rows), kept, "sum of exclusive samples of modules")
    truth = collections.Counter()
    for part in run.truth["parts"]:
        truth[os.path.basename(part["module"])] += part["cpu_ns"]
    for module, ns in truth.items():
        samples = total([row for row in rows if row["module_name"] == module])
        if ns == run.truth["cpu_ns"]:
            require(samples >= 0.99 * kept - 3, f"{module} has {samples} of {kept}")
        else:
            check_near(module, samples, facts, ns / run.truth["cpu_ns"])


def check_processes_and_threads(run, facts):
    kept = facts["samples_kept"]
    (process,) = run.context.report("processes")["rows"]
    expect(process["id"], run.truth["pid"], "process id")
    expect(process["exclusive_samples"], kept, "samples of the process")
    rows = run.context.report("threads")["rows"]
    expect(total(rows), kept, "sum of exclusive samples of threads")
    by_id = {row["id"]: row["exclusive_samples"] for row in rows}
    threads = run.truth["threads"]
    for thread in threads:
        require(thread["tid"] in by_id, f"no row for thread {thread['tid']}")
        if len(threads) > 1:
            check_near(f"thread {thread['tid']}", by_id[thread["tid"]], facts,
                       thread["cpu_ns"] / run.truth["cpu_ns"])


def check_calltree(run, kept):
    rows = run.context.report("calltree")["rows"]
    expect(total(rows), kept, "sum of exclusive samples of the call tree")
    roots = [row for row in rows if row["level"] == 0]
    expect(total(roots, "inclusive_samples"), kept, "inclusive samples of the call tree's root")


@cases(*CASES)
def test_all_views(context, case):
    run = record(context, case)
    functions = check_functions(run)
    facts = functions["session"]
    kept = facts["samples_kept"]
    check_places(run, functions)
    check_lines(run, functions)
    check_instructions(run, kept)
    check_modules(run, facts)
    check_processes_and_threads(run, facts)
    check_calltree(run, kept)


def count_near(arguments):
    """Record again and again; print how many shares are within the given deviation."""
    near, deviations = 0, []
    while len(deviations) < arguments.repeat:
        case = CASES[len(deviations) // 3 % len(CASES)]
        with tempfile.TemporaryDirectory(prefix="dwell-e2e-") as scratch:
            folder = os.path.join(scratch, "run")
            os.mkdir(folder)
            run = record(Context(folder, arguments.dwell, arguments.targets), case)
            report = run.context.report("functions")
        kept = report["session"]["samples_kept"]
        deviations += [deviation(samples, kept, share) for _, samples, share in
                       shares(run, report)][:arguments.repeat - len(deviations)]
    near = sum(abs(off) <= arguments.sigma for off in deviations)
    print(f"{near} of {len(deviations)} shares within {arguments.sigma:g} standard deviations, "
          f"worst {max(map(abs, deviations)):.2f}")
    return near


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dwell", required=True, type=os.path.abspath)
    parser.add_argument("--targets", required=True, type=os.path.abspath)
    parser.add_argument("--repeat", type=int, default=100)
    parser.add_argument("--sigma", type=float, default=2)
    arguments = parser.parse_args()
    sys.exit(0 if count_near(arguments) >= 0.9 * arguments.repeat else 1)


if __name__ == "__main__":
    main()
