"""dwell instrument counts calls as callgrind does, by the address where each function starts.

Compared are all functions of the program itself that have probes. callgrind takes a jump into
another symbol for a call; one to where a function starts is a tail call, which dwell counts too, the
others are to no function's start. Functions that were left alone are listed with their reason, and
must be few.
"""
import collections
import csv
import os

from harness import cases, expect, paths, require


def callgrind_calls(path, program):
    """{address: calls} of the code in @program."""
    calls, here, callee = collections.Counter(), None, None
    with open(path, errors="replace") as file:
        for line in file:
            name, _, rest = line.partition("=")
            if name == "ob":
                here = rest.strip()
            elif name == "cob":
                callee = rest.strip()
            elif name == "calls":
                n, address = rest.split()[:2]
                if (callee or here) == program:
                    calls[int(address, 16)] += int(n)
                callee = None
    return calls


def run_callgrind(context, words):
    printed = context.make("valgrind", "--tool=callgrind", "--dump-instr=yes", "--compress-strings=no",
                           "--compress-pos=no", "--callgrind-out-file=callgrind.out", *words)
    return printed, callgrind_calls(context.path("callgrind.out"), os.path.realpath(words[0]))


def probed_functions(context, words):
    """{address: name} of the program's functions that have probes, {name: reason} of the others."""
    done = context.run(context.dwell, "instrument", "--list-functions", "--all-functions",
                       "--format", "csv", *words)
    rows = [row for row in csv.DictReader(done.stdout.splitlines())
            if row["module"] == os.path.basename(words[0])]
    return ({int(row["address"], 16): row["function"] for row in rows if row["probed"] == "yes"},
            {row["function"]: row["reason"] for row in rows if row["probed"] != "yes"})


def instrument(context, probes, output, words, *options):
    """What @words printed when run with @probes."""
    done = context.run(context.dwell, "instrument", "-q", "--all-functions", "--probes", probes,
                       *options, "-o", output, *words)
    expect(done.returncode, 0, f"status of dwell instrument\n{done.stderr}")
    return done.stdout


def counted(context, words):
    """Output and {address: calls} of a run whose calls are only counted."""
    output = instrument(context, "count", "calls.csv", words)
    with open(context.path("calls.csv"), newline="") as file:
        rows = [row for row in csv.DictReader(file)
                if row["module"] == os.path.basename(words[0])]
    return output, {int(row["address"], 16): int(row["calls"]) for row in rows}


def timed(context, words):
    """The same of a run whose calls are measured."""
    output = instrument(context, "time", "calls.dwell", words, *context.path_options())
    report = context.report("functions", session="calls.dwell")
    rows = [row for row in report["rows"] if row["module_name"] == os.path.basename(words[0])]
    expect(report["session"]["calls_dropped"] + report["session"]["events_dropped"], 0, "dropped")
    return output, {int(row["function_address"], 16): row["number_of_calls"] for row in rows}


def commands(context):
    """The programs: a C interpreter, C++, and dwell itself, a report of a session."""
    context.sample(context.target("interpreter"))
    return {"interpreter": [context.target("interpreter")], "words": [context.target("words")],
            "dwell": [context.dwell, "report", context.path("run.dwell"), "functions"]}


PROGRAMS = "interpreter", "words", "dwell"


@cases(*PROGRAMS)
def test_counted_calls_equal_callgrinds(context, program):
    check(context, program, counted)


@cases(*PROGRAMS)
@paths(0, 64)
def test_calls_equal_callgrinds(context, program):
    check(context, program, timed)


def check(context, program, record):
    words = commands(context)[program]
    output, want = run_callgrind(context, words)
    probed, others = probed_functions(context, words)
    got_output, got = record(context, words)
    expect(got_output, output, "output")
    wrong = {f"{name} at {address:#x}": (got.get(address, 0), want[address])
             for address, name in probed.items() if got.get(address, 0) != want[address]}
    expect(wrong, {}, "calls by dwell and callgrind that differ")
    require(sum(want[address] > 0 for address in probed) >= 10, f"too few functions: {probed}")
    require(len(others) <= 0.05 * len(probed) + 5, f"left alone: {others}")
    print(f"# {program}: left alone: {others}")
