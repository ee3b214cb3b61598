#!/usr/bin/env python3
"""Does an instrumented program, or one sampled from inside, do what it does in a plain run?

Runs a command plain and under `dwell instrument` or `dwell sample` in equal fresh folders at the same path and
compares exit status, stdout, stderr and the bytes of all files that it leaves behind. The plain run
is the oracle, so the command must do the same on every run. A run in which dwell did nothing proves
nothing: what it says of processes, functions, calls and threads must show that it worked.

    tests/e2e/unchanged.py --dwell build/dwell [--engine NAME]... [--setup SHELL] -- COMMAND...

prints one line a comparison, or the first difference, and ends with 1 if there is one.
"""
import argparse
import fnmatch
import json
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import tempfile

# How a command is instrumented: a name for it and the options. "plain" runs it once more as it is:
# it proves that a command can be compared at all.
ENGINES = {
    "plain": None,
    "none": ["--probes=none", "--all-functions"],
    "count": ["--probes=count", "--all-functions"],
    "time": ["--probes=time", "--all-functions"],
    "lines": ["--lines", "--all-functions"],
    "limit": ["--overhead=0.1", "--all-functions"],
    "libraries": ["--probes=count", "--all-functions", "--module", "*"],
    "libraries-time": ["--probes=time", "--all-functions", "--module", "*"],
    "system-calls": ["--probes=system-calls", "--module", "*"],
    "inside": ["--sampler=in-process"],  # not instrumented: sampled by an agent
}
# Facts of a session that say what was not measured or not sampled.
MISSED = ("threads_dropped", "threads_filtered", "processes_not_instrumented", "threads_unsampled", "children_unsampled",
          "left_alone_signal", "left_alone_filter", "left_alone_timer", "left_alone_traced")
# What dwell says at the end of a run without a session.
SUMMARY = re.compile(rb"^dwell: (\d+) of (\d+) process(?:es)? instrumented\n(?:  .*\n)*", re.M)
RAN = re.compile(rb"(\d+) of \d+ functions? ran from clones in \d+ process(?:es)?(?:, (\d+) calls?)?")
COUNTING = ("count", "libraries")
USUAL = ("none", "time")
DEFAULT_ENGINES = ",".join(USUAL)
SECONDS = 600 if os.environ.get("DWELL_LONG") else 120
ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "LC_ALL": "C.UTF-8",
               "TZ": "UTC", "USER": "nobody", "TERM": "dumb"}
SHOWN = 300  # characters of a differing line


class Outcome:
    """What one run left: status (negative: a signal, None: no end in time), streams, files."""

    def __init__(self, status, stdout, stderr, files):
        self.status, self.stdout, self.stderr, self.files = status, stdout, stderr, files
        self.idle = None  # what dwell has not done


def content(path):
    """What stands for a file in a comparison: its kind and permissions, and its bytes or target."""
    info = os.lstat(path)
    kind = stat.filemode(info.st_mode)
    if stat.S_ISLNK(info.st_mode):
        return kind, os.readlink(path).encode()
    if stat.S_ISREG(info.st_mode):
        with open(path, "rb") as file:
            return kind, file.read()
    return kind, b""


def files_below(folder):
    found = {}
    for where, folders, names in os.walk(folder):
        for name in folders + names:
            path = os.path.join(where, name)
            found[os.path.relpath(path, folder)] = content(path)
    return found


def run_once(command, folder, environment, seconds):
    """Run in @folder; the streams are pipes, so that no limit on files meets them."""
    process = subprocess.Popen(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               start_new_session=True)
    status = None
    try:
        stdout, stderr = process.communicate(timeout=seconds)
        status = process.returncode
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        try:
            stdout, stderr = process.communicate(timeout=5)
        except subprocess.TimeoutExpired:  # somebody left the group and holds the pipes
            stdout, stderr = b"", b""
    return Outcome(status, stdout, stderr, {})


def shell_status(status):
    """A signal as dwell and shells report it."""
    return status if status is None or status >= 0 else 128 - status


class Trial:
    """One command to compare, and what stands around it.

    @setup: shell commands that prepare the folder, once. @ignore: patterns of files that are not
    compared. @user: a pwd entry, the user that runs it all. @must_work: the plain run ends with 0
    and leaves something, or there is nothing to compare. @notice: the end of a line that dwell says on
    stderr, and that is not compared: why it cannot instrument. @may_miss: MISSED facts that need not be
    0, "calls" too; "all": nothing need be measured.
    """

    def __init__(self, command, setup=None, env=None, seconds=SECONDS, ignore=(), user=None,
                 must_work=False, notice=None, may_miss=()):
        self.command, self.setup, self.seconds = list(command), setup, seconds
        self.must_work, self.notice, self.may_miss = must_work, notice, set(may_miss)
        self.ignore, self.user = ignore, user
        self.env = {**ENVIRONMENT, **(env or {})}

    def as_user(self, command):
        if not self.user:
            return command
        return ["setpriv", f"--reuid={self.user.pw_uid}", f"--regid={self.user.pw_gid}",
                "--clear-groups", "--", *command]

    def prepare(self, scratch):
        """Make what each run finds in its folder, and return its place."""
        folder, template = os.path.join(scratch, "here"), os.path.join(scratch, "template")
        shutil.rmtree(template, ignore_errors=True)
        os.makedirs(folder)
        if self.user:
            os.chown(scratch, self.user.pw_uid, self.user.pw_gid)
            os.chown(folder, self.user.pw_uid, self.user.pw_gid)
        if self.setup:
            done = subprocess.run(self.as_user(["sh", "-ec", self.setup]), cwd=folder,
                                  env=self.environment(folder), stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120)
            if done.returncode:
                raise AssertionError(f"setup failed: {done.stdout.decode(errors='replace')[-SHOWN:]}")
        os.rename(folder, template)
        return template

    def environment(self, folder):
        cache = os.path.join(os.path.dirname(folder), "cache")
        return {**self.env, "HOME": folder, "TMPDIR": folder, "XDG_CACHE_HOME": cache}

    def run(self, scratch, dwell, engine):
        """Run it under one of ENGINES, or plain with None, in a copy of the prepared folder."""
        folder, template = os.path.join(scratch, "here"), os.path.join(scratch, "template")
        subprocess.run(["cp", "-a", template, folder], check=True)
        command, options = self.command, ENGINES[engine] if engine else None
        has_session = "time" in engine if engine else False
        has_session |= engine in ("lines", "limit", "inside")
        session = os.path.join(scratch, "session.dwell")
        if options:
            says = ["-q"] if has_session or self.notice else []
            says += ["-o", session] if has_session else []
            method = "sample" if engine == "inside" else "instrument"
            command = [dwell, method, *options, *says, "--", *command]
        try:
            outcome = run_once(self.as_user(command), folder, self.environment(folder),
                               self.seconds)
            if options and self.notice:
                first, _, rest = outcome.stderr.partition(b"\n")
                outcome.stderr = rest if first.endswith(self.notice) else b"no notice"
            elif options and has_session and outcome.status is not None:
                outcome.idle = self.idle_by_session(dwell, session)
            elif options and outcome.status is not None:
                self.take_summary(outcome, engine)
            outcome.files = {name: what for name, what in files_below(folder).items()
                             if not any(fnmatch.fnmatch(name, rule) for rule in self.ignore)}
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        return outcome

    def is_missing(self, what):
        return not self.may_miss & {what, "all"}

    def idle_by_session(self, dwell, session):
        """What a run has not measured by its session, in words, or None."""
        shown = subprocess.run([dwell, "report", session, "processes", "--format", "json"],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        if shown.returncode:
            return f"no session: {shown.stderr.decode(errors='replace')[:SHOWN]}"
        report = json.loads(shown.stdout)
        facts = report["session"]
        facts["threads_dropped"] = facts.get("threads_dropped", 0) - facts.get("threads_filtered", 0)
        if not report["rows"] and self.is_missing("processes"):
            return "no process was recorded"
        for fact in MISSED:
            if facts.get(fact) and self.is_missing(fact):
                return f"{fact}: {facts[fact]}"
        # Under a limit all functions may have been off from the start, as an earlier run has found.
        done = facts.get("number_of_calls", 1) or facts.get("functions_switched_off", 0)
        if not done and self.is_missing("calls"):
            return "no calls were counted"
        return None

    def take_summary(self, outcome, engine):
        """Take dwell's words off stderr: what they tell that it has not done."""
        found = list(SUMMARY.finditer(outcome.stderr))
        if not found:
            outcome.idle = "no summary of what was instrumented"
            return
        last = found[-1]
        outcome.stderr = outcome.stderr[:last.start()] + outcome.stderr[last.end():]
        ran = [(int(functions), int(calls or 0)) for functions, calls in RAN.findall(last[0])]
        if last[1] != last[2] and self.is_missing("processes_not_instrumented"):
            outcome.idle = f"{last[1].decode()} of {last[2].decode()} processes instrumented"
        elif not sum(functions for functions, _ in ran) and self.is_missing("functions"):
            outcome.idle = "no function ran from a clone"
        elif engine in COUNTING and not sum(calls for _, calls in ran) and self.is_missing("calls"):
            outcome.idle = "no calls were counted"

    def differences(self, scratch, dwell, engines=USUAL):
        """Compare with the plain run; yields (engine, None or the first difference)."""
        self.prepare(scratch)
        plain = self.run(scratch, dwell, None)
        if plain.status is None:
            yield "plain", f"no end within {self.seconds} s"
            return
        if self.must_work and (plain.status or not (plain.stdout or plain.files)):
            yield "plain", f"status {plain.status}, {plain.stdout[-SHOWN:]}, {plain.stderr[-SHOWN:]}"
            return
        for engine in engines:
            other = self.run(scratch, dwell, engine)
            yield engine, difference(plain, other) or other.idle


def first_line(text, number):
    lines = text.splitlines()
    return repr(lines[number][:SHOWN].decode(errors="replace")) if number < len(lines) else "no line"


def text_difference(what, plain, other):
    """The first line in which two texts differ."""
    if plain == other:
        return None
    pairs = list(zip(plain.splitlines(), other.splitlines()))
    number = next((i for i, (a, b) in enumerate(pairs) if a != b), len(pairs))
    return (f"{what}, line {number + 1}: plain {first_line(plain, number)}, "
            f"here {first_line(other, number)}")


def file_difference(plain, other):
    for name in sorted(plain.keys() | other.keys()):
        if name not in plain or name not in other:
            return f"file {name}: only in the {'plain run' if name in plain else 'other run'}"
        if plain[name] != other[name]:
            (kind, before), (other_kind, after) = plain[name], other[name]
            if kind != other_kind:
                return f"file {name}: {kind}, here {other_kind}"
            at = next((i for i, (a, b) in enumerate(zip(before, after)) if a != b),
                      min(len(before), len(after)))
            return (f"file {name}: {len(before)} bytes, here {len(after)}, first difference at "
                    f"{at}: plain {before[at:at + 40]!r}, here {after[at:at + 40]!r}")
    return None


def difference(plain, other):
    """The first difference of two outcomes in words, or None. All are told when the status differs,
    since a crash explains itself on stderr."""
    found = []
    if shell_status(plain.status) != shell_status(other.status):
        found.append(f"status {plain.status}, here " +
                     ("no end in time" if other.status is None else str(other.status)))
    found += [text_difference("stderr", plain.stderr, other.stderr),
              text_difference("stdout", plain.stdout, other.stdout),
              file_difference(plain.files, other.files)]
    found = [text for text in found if text]
    return ("; ".join(found[:3]) if "status" in found[0] else found[0]) if found else None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dwell", required=True, type=os.path.abspath)
    parser.add_argument("--engine", action="append", choices=list(ENGINES))
    parser.add_argument("--setup", help="shell commands that prepare the folder")
    parser.add_argument("--seconds", type=float, default=SECONDS)
    parser.add_argument("command", nargs="+")
    arguments = parser.parse_args()
    bad = 0
    with tempfile.TemporaryDirectory(prefix="dwell-unchanged-") as scratch:
        trial = Trial(arguments.command, arguments.setup, seconds=arguments.seconds)
        for engine, found in trial.differences(scratch, arguments.dwell,
                                               arguments.engine or USUAL):
            print(f"{engine}: {found or 'unchanged'}")
            bad += found is not None
    sys.exit(bad != 0)


if __name__ == "__main__":
    main()
