#!/usr/bin/env python3
"""Programs of the distribution with all their libraries instrumented: coverage, calls and cost.

Each of tests/e2e/programs.py that is installed, or those named, runs plain and under `dwell instrument
--module '*'` (tests/e2e/unchanged.py): output, status and files must be the same, calls counted, and no
thread or process unmeasured but for a reason that the session names and that is no fault: a program that
filters its own system calls, children that take no agent. Prints a row for each: functions cloned
and left alone, calls, processor time plain and instrumented, and their ratio. Ends with 1 if one
program is wrong.

bench/coverage.py --build FOLDER [--seconds 300] [NAME]...
"""
import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../tests/e2e"))
sys.dont_write_bytecode = True

from programs import PROGRAMS  # noqa: E402
from unchanged import Trial, difference  # noqa: E402

INPUTS = os.path.join(HERE, "../tests/programs")
ENGINE = "libraries-time"
# What a session may say of a program that is measured as far as can be.
REASONS = ("threads_filtered",)
ROW = "{:18} {:>8} {:>6} {:>12} {:>8} {:>9} {:>6}  {}"


class NotReady(Exception):
    """What the program needs is not here, or does not work."""


def search_path():
    versions = "/usr/lib/postgresql"
    found = sorted(os.listdir(versions)) if os.path.isdir(versions) else []
    return os.pathsep.join([os.path.join(versions, v, "bin") for v in found[-1:]] +
                           ["/usr/bin", "/bin", "/usr/sbin", "/sbin", "/usr/local/bin"])


def used_s():
    """Processor time of children that were waited for."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def facts_of(dwell, session):
    shown = subprocess.run([dwell, "report", session, "processes", "--format", "json"],
                           stdout=subprocess.PIPE, check=True)
    return json.loads(shown.stdout)["session"]


def compare(program, dwell, seconds, scratch):
    """(what is wrong or None, facts, plain s, instrumented s)."""
    words = [word.replace("$P", INPUTS) for word in program.command()]
    env = {"P": INPUTS, "PATH": search_path(), **program.env}
    trial = Trial(words, program.setup, env=env, ignore=program.ignore, seconds=seconds, must_work=True,
                  may_miss=("processes_not_instrumented", *REASONS))
    try:
        trial.prepare(scratch)
    except AssertionError as error:
        raise NotReady(error) from error
    start = used_s()
    plain = trial.run(scratch, dwell, None)
    plain_s = used_s() - start
    if plain.status or not (plain.stdout or plain.files):
        return f"plain: status {plain.status}, {plain.stderr[-200:]}", {}, plain_s, 0
    other = trial.run(scratch, dwell, ENGINE)
    wrong = difference(plain, other) or other.idle
    session = os.path.join(scratch, "session.dwell")
    facts = facts_of(dwell, session) if os.path.exists(session) else {}
    taken = (facts.get("user_cpu_ns", 0) + facts.get("kernel_cpu_ns", 0)) / 1e9
    return wrong, facts, plain_s, taken


def notes(facts):
    """What the session says of what was not measured."""
    names = ("processes_not_instrumented", "modules_not_instrumented", "threads_filtered", "calls_dropped",
             "calls_truncated", "events_dropped")
    return ", ".join(f"{name}: {facts[name]}" for name in names if facts.get(name))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", required=True, type=os.path.abspath)
    parser.add_argument("--seconds", type=float, default=300, help="that a run may take")
    parser.add_argument("name", nargs="*")
    arguments = parser.parse_args()
    dwell = os.path.join(arguments.build, "dwell")
    chosen = [p for p in PROGRAMS if p.name in arguments.name or not arguments.name]
    wrong_n = ran = 0
    print(ROW.format("program", "cloned", "left", "calls", "plain s", "instr. s", "ratio", ""), flush=True)
    for program in chosen:
        if program.user or not shutil.which(program.needs, path=search_path()):
            continue
        with tempfile.TemporaryDirectory(prefix="dwell-coverage-") as scratch:
            try:
                wrong, facts, plain_s, taken = compare(program, dwell, arguments.seconds, scratch)
            except NotReady as reason:
                print(f"{program.name:18} not run: {str(reason).splitlines()[0]}", flush=True)
                continue
        ran += 1
        wrong_n += wrong is not None
        ratio = f"{taken / plain_s:.1f}" if plain_s > 0 else "-"
        print(ROW.format(program.name, facts.get("functions_instrumented", "-"),
                         facts.get("functions_left_alone", "-"), facts.get("number_of_calls", "-"),
                         f"{plain_s:.2f}", f"{taken:.2f}", ratio,
                         f"WRONG: {wrong}" if wrong else notes(facts)), flush=True)
    print(f"{ran} programs, {wrong_n} wrong")
    sys.exit(wrong_n != 0)


if __name__ == "__main__":
    main()
