#!/usr/bin/env python3
"""What does not depend on the memory for paths: counts of programs with little of it and with much.

Each of NAMES that is installed, or those named (tests/e2e/programs.py), is recorded twice
with `--memory 2000`, where all its paths fit, then with each of LITTLE, under `setarch -R`: calls of functions,
edges, sites, lines, modules and threads must be equal, shares of the largest functions within two points, and what two runs
with all paths differ by. Where a
command is one program of one thread, callgrind's counts stand beside them (bench/peers.py says what of these
can be compared). Prints a row for each program; ends with 1 if one differs.

bench/exact.py --build FOLDER [--callgrind] [--points 2] [NAME]...
"""
import argparse
import collections
import json
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../tests/e2e"))
sys.dont_write_bytecode = True

import peers  # noqa: E402
from programs import PROGRAMS  # noqa: E402

from coverage import INPUTS, search_path  # noqa: E402

NAMES = ("lua", "gawk", "mawk", "perl", "python", "ruby", "php", "tcl", "bc", "dc", "m4", "gzip", "gunzip", "bzip2",
         "bunzip2", "unxz", "tar", "cc1", "cc1-O0", "cc1plus", "gcc-made", "g++-made", "clang-format", "ld", "as",
         "objdump", "readelf", "bison", "flex", "sed", "grep", "sort-locale", "diff", "sqlite", "jq", "dash", "dot",
         "xmllint", "ctags", "groff")
MUCH = ("--memory", "2000")
LITTLE = ("--memory", "64"), ("--memory", "8"), ("--paths", "64")
LARGEST = 50  # functions whose shares are compared
CALLED = 30  # functions whose edges are
UNSTEADY = 0.05  # of the rows may differ from run to run: they are left out
CALLER, CALLEE = 1, 3  # type of rows
VIEWS = "functions", "edges", "sites", "lines", "modules", "threads"
ROW = "{:14} {:14} {:>12} {:>12} {:>6} {:>6} {:>6} {:>6} {:>6} {:>7}  {}"
ENVIRONMENT = {"LC_ALL": "C.UTF-8", "TZ": "UTC", "PERL_HASH_SEED": "0", "PYTHONHASHSEED": "0",
               "PYTHONDONTWRITEBYTECODE": "1"}


class NotReady(Exception):
    """The program cannot be compared here."""


class Recording:
    """What a session says: {view: {row: calls}}, and shares of functions."""

    def __init__(self, dwell, session):
        self.dwell, self.session = dwell, session
        self.calls = {view: collections.Counter() for view in VIEWS}
        functions = self.add("functions", "functions", ("module_name", "function_name"))
        self.facts = functions["session"]
        self.add("modules", "modules", ("name",), lambda row: row["level"] == 0)
        self.add("lines", "lines", ("function_name", "source_file", "line_number"))
        self.add("sites", "instructions", ("function_name", "address"))
        self.add("threads", "threads", ("name",))
        by_calls = sorted(functions["rows"], key=lambda row: (-row["number_of_calls"], row["function_name"]))
        for row in by_calls[:CALLED]:
            self.add_edges(row)
        self.shares = self.shares_of(functions["rows"])
        self.module_calls = collections.Counter()
        for row in functions["rows"]:
            self.module_calls[row["function_name"]] += row["number_of_calls"]

    def report(self, *words):
        shown = subprocess.run([self.dwell, "report", self.session, *words, "--format", "json"],
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
        return json.loads(shown.stdout)

    def add(self, kind, view, columns, is_wanted=lambda row: True):
        report = self.report(view)
        for row in filter(is_wanted, report["rows"]):
            self.calls[kind][tuple(row.get(column) for column in columns)] += row["number_of_calls"] or 0
        return report

    def add_edges(self, function):
        """Whom @function, a row, calls and is called by, unless there is another of its name."""
        name = f"{function['module_name']}!{function['function_name']}"
        try:
            rows = self.report("callers", name)["rows"]
        except subprocess.CalledProcessError:
            return
        for row in rows:
            if row["type"] in (CALLER, CALLEE):
                self.calls["edges"][name, row["type"], row["module_name"], row["function_name"]] += \
                    row["number_of_calls"]

    @staticmethod
    def shares_of(rows):
        shares = collections.Counter()
        for row in rows:
            for column in ("application_exclusive_time", "application_inclusive_time"):
                shares[row["function_name"], column] += row[f"{column}_percent"] or 0
        return shares


def prepare(program, folder, words):
    environment = {**os.environ, **ENVIRONMENT, "P": INPUTS, "PATH": search_path(), **program.env}
    os.makedirs(folder)
    if program.setup:
        subprocess.run(["sh", "-ec", program.setup], cwd=folder, env=environment, check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with open(os.path.join(folder, "output"), "wb") as out, open(os.devnull, "rb") as nothing:
        done = subprocess.run(words, cwd=folder, env=environment, stdin=nothing, stdout=out, stderr=subprocess.PIPE,
                              timeout=600, check=False)
    return done


def record(program, dwell, scratch, words, options):
    """Always in the same folder, fresh."""
    folder, session = os.path.join(scratch, "work"), os.path.join(scratch, "session.dwell")
    shutil.rmtree(folder, ignore_errors=True)
    done = prepare(program, folder, ["setarch", "-R", dwell, "instrument", "-q", *options, "-o", session, "--", *words])
    if done.returncode:
        raise NotReady(f"status {done.returncode}: {done.stderr[-200:]}")
    return Recording(dwell, session)


def other_rows(a, b, view):
    return {row for row in a.calls[view].keys() | b.calls[view].keys() if a.calls[view][row] != b.calls[view][row]}


def off_by(few, much):
    """(points, the function and column) of the share that differs most."""
    largest = [key for key, _ in much.shares.most_common(LARGEST)]
    return max(((abs(few.shares[key] - much.shares[key]), key) for key in largest), default=(0, None))


def differences(few, much, unsteady, points):
    """({view: rows that differ}, largest difference of shares, words about the first that does)."""
    differ, first = {}, ""
    for view in VIEWS:
        a, b = few.calls[view], much.calls[view]
        rows = sorted(other_rows(few, much, view) - unsteady[view], key=str)
        differ[view] = len(rows)
        if rows and not first:
            first = f"{view}: {rows[0]}: {a[rows[0]]:,} and {b[rows[0]]:,}"
    off, worst = off_by(few, much)
    if off > points and not first:
        first = f"{worst[0]}: {few.shares[worst]:.1f} and {much.shares[worst]:.1f} % {worst[1]}"
    return differ, off, first


def callgrind(program, scratch, words, recording):
    """What callgrind says of the same command."""
    if words[0] == "sh" or len(recording.calls["threads"]) > 1 or not shutil.which("valgrind"):
        return "-"
    folder, out = os.path.join(scratch, "work"), os.path.join(scratch, "callgrind.out")
    shutil.rmtree(folder, ignore_errors=True)
    done = prepare(program, folder, ["setarch", "-R", "valgrind", "--tool=callgrind", f"--callgrind-out-file={out}",
                                     *words])
    if done.returncode:
        return f"callgrind: status {done.returncode}"
    return peers.compared(recording.module_calls, peers.callgrind_counts(out))


def compare(program, arguments, dwell):
    """Print the rows of @program. How many are wrong."""
    wrong = 0
    words = [word.replace("$P", INPUTS) for word in program.command()]
    with tempfile.TemporaryDirectory(prefix="dwell-exact-") as scratch:
        much = record(program, dwell, scratch, words, MUCH)
        again = record(program, dwell, scratch, words, MUCH)
        unsteady = {view: other_rows(again, much, view) for view in VIEWS}
        for view in VIEWS[:4]:
            if len(unsteady[view]) > UNSTEADY * len(much.calls[view]):
                raise NotReady(f"{len(unsteady[view])} of {len(much.calls[view])} {view} differ from run to run")
        if much.facts["calls_truncated"]:
            raise NotReady("its paths do not fit")
        points = arguments.points + off_by(again, much)[0]
        for options in LITTLE:
            few = record(program, dwell, scratch, words, options)
            differ, off, first = differences(few, much, unsteady, points)
            bad = sum(differ.values()) or off > points
            wrong += bool(bad)
            print(ROW.format(program.name, " ".join(options), few.facts["number_of_calls"], few.facts["calls_truncated"],
                             *(differ[view] for view in VIEWS[:5]), f"{off:.1f}/{points:.1f}", first), flush=True)
        if arguments.callgrind:
            print(f"{program.name:14} callgrind      {callgrind(program, scratch, words, much)}", flush=True)
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", required=True, type=os.path.abspath)
    parser.add_argument("--points", type=float, default=2)
    parser.add_argument("--callgrind", action="store_true")
    parser.add_argument("name", nargs="*")
    arguments = parser.parse_args()
    names = arguments.name or NAMES
    ran = wrong = 0
    print(ROW.format("program", "", "calls", "beyond paths", "funcs", "edges", "sites", "lines", "mods", "points", ""))
    for program in PROGRAMS:
        if program.name not in names or not shutil.which(program.needs, path=search_path()):
            continue
        try:
            wrong += compare(program, arguments, os.path.join(arguments.build, "dwell"))
            ran += 1
        except (NotReady, subprocess.SubprocessError) as reason:
            print(f"{program.name:14} not compared: {reason}", flush=True)
    print(f"{ran} programs, {wrong} recordings with other counts or shares than with all paths")
    sys.exit(wrong != 0)


if __name__ == "__main__":
    main()
