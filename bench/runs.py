"""One run of a command, as it is or under dwell, and all that can be told of it from outside and by its
session."""
import json
import os
import subprocess
import sys
import threading
import time
from typing import NamedTuple

import workloads

PERIOD_S = 0.04
TICKS = os.sysconf("SC_CLK_TCK")


class Plain(NamedTuple):
    """@cpu_s: user and system, of all processes. @peak_mb: of the largest."""
    cpu_s: float
    peak_mb: float


class Instrumented(NamedTuple):
    """@cpu_s, @peak_mb: as of a plain run, without dwell's own. @told_s, @os_s: what the session calls the
    program's, and processor time in system calls. @beyond: calls that the tree had no room for. @finish_s,
    @finish_cpu_s: from the command's end to dwell's, on the clock and by dwell's processor time.
    @agent_mb: call trees of the largest process."""
    cpu_s: float
    calls: int
    told_s: float
    os_s: float
    beyond: int
    collector_mb: float
    collector_cpu_s: float
    finish_s: float
    finish_cpu_s: float
    session_mb: float
    agent_mb: float
    peak_mb: float
    nodes: int


class Watcher(threading.Thread):
    """Looks at a command's processes, and at dwell's, until all is over. Peaks are the kernel's own, so
    only what comes in the last moments of a process is missed. (Those that wait4() tells are not the
    command's alone: it was forked from this program.)"""

    def __init__(self, pid, dwell=""):
        super().__init__()
        self.pid, self.dwell, self.is_over = pid, os.path.realpath(dwell), threading.Event()
        self.collector_kb = self.program_kb = self.over_s = 0
        self.spent = []  # (seconds since 1970, processor seconds of dwell alone)

    def run(self):
        while not self.is_over.wait(PERIOD_S):
            own = 0
            for pid in family(self.pid):
                try:
                    kb = peak_kb(pid)
                    if os.path.realpath(f"/proc/{pid}/exe") == self.dwell:
                        own += kb
                    else:
                        self.program_kb = max(self.program_kb, kb)
                except OSError:
                    pass  # it has ended
            self.collector_kb = max(self.collector_kb, own)
            try:
                with open(f"/proc/{self.pid}/stat", encoding="ascii", errors="replace") as file:
                    fields = file.read().rsplit(")", 1)[1].split()
                self.spent.append((time.time(), (int(fields[11]) + int(fields[12])) / TICKS))
            except OSError:
                pass

    def stop(self):
        self.over_s = time.time()
        self.is_over.set()
        self.join()

    def spent_after(self, when):
        """Processor seconds of dwell alone from @when on."""
        before = [cpu for at, cpu in self.spent if at <= when]
        return self.spent[-1][1] - (before[-1] if before else 0) if self.spent else 0


def family(pid):
    """@pid and all below it."""
    pids = [pid]
    for one in pids:
        try:
            for task in os.listdir(f"/proc/{one}/task"):
                with open(f"/proc/{one}/task/{task}/children", encoding="ascii") as file:
                    pids += [int(word) for word in file.read().split()]
        except OSError:
            pass
    return pids


def peak_kb(pid):
    """0 of a process that has ended but is still there."""
    with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
        return int(next((line for line in file if line.startswith("VmHWM:")), "VmHWM: 0").split()[1])


class Runner:
    """Runs commands of one workload after another. @refused: a program in front of dwell that has perf
    refused, or none."""

    def __init__(self, inputs, scratch, seconds=3600, refused=()):
        self.inputs, self.scratch, self.seconds, self.refused = inputs, scratch, seconds, tuple(refused)

    def start(self, workload, words, before=()):
        user = workloads.as_ordinary() if workload.ordinary else ()
        return subprocess.Popen([*user, *before, *words], cwd=self.inputs.place(workload, self.scratch),
                                env={**workloads.environment(), "XDG_CACHE_HOME": self.cache(before, user)},
                                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                text=True)

    def cache(self, before, user):
        """A folder for images: each build's own, and each user's."""
        build = next((word for word in before if word.endswith("/dwell")), "plain").replace("/", "_")
        folder = os.path.join(self.scratch, "cache", build + ("-ordinary" if user else ""))
        if not os.path.isdir(folder):
            os.makedirs(folder)
            if user:
                self.inputs.give(folder)
        return folder

    def end(self, process, words, dwell=""):
        """Wait for it. (its usage, with its children's; who has watched it)."""
        timer, watcher = threading.Timer(self.seconds, process.terminate), Watcher(process.pid, dwell)
        timer.start()
        watcher.start()
        error = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        timer.cancel()
        watcher.stop()
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            sys.exit(f"{' '.join(words)[:200]}: status {process.returncode}: {error[-500:]}")
        return usage, watcher

    def plain(self, workload, words):
        usage, watcher = self.end(self.start(workload, words), words)
        return Plain(usage.ru_utime + usage.ru_stime, watcher.program_kb / 1024)

    def instrumented(self, dwell, workload, words, *options):
        """A run under @dwell with @options; its session stays as self.session(workload)."""
        session = self.session(workload)
        modules = [word for glob in workload.modules for word in ("--module", glob)]
        before = [*self.refused, dwell, "instrument", "-q", "-o", session, *modules, *options, "--"]
        process = self.start(workload, words, before)
        usage, watcher = self.end(process, [*before, *words], dwell)
        facts = self.facts(dwell, session)
        return instrumented_of(facts, usage, watcher, os.path.getsize(session))

    def sampled(self, dwell, workload, words, *options):
        """The session of a run under `dwell sample`."""
        session = self.session(workload)
        before = [*self.refused, dwell, "sample", "-q", "-o", session, *options, "--"]
        self.end(self.start(workload, words, before), [*before, *words], dwell)
        return session

    def session(self, workload):
        """Where its user may write. An earlier one is replaced."""
        folder = os.path.join(self.scratch, "ordinary" if workload.ordinary else "own")
        if not os.path.isdir(folder):
            os.makedirs(folder)
            if workload.ordinary:
                self.inputs.give(folder)
        return os.path.join(folder, "calls.dwell")

    @staticmethod
    def report(dwell, session, view):
        return json.loads(subprocess.run([dwell, "report", session, view, "--format", "json"], check=True,
                                         text=True, stdout=subprocess.PIPE).stdout)

    def facts(self, dwell, session):
        return self.report(dwell, session, "processes")["session"]


def instrumented_of(facts, usage, watcher, size):
    """What @facts of a session of @size say, and the rest: @usage of dwell with the command."""
    cpu = (facts["user_cpu_ns"] + facts["kernel_cpu_ns"]) / 1e9
    ended = (facts["start_realtime_ns"] + facts["duration_ns"]) / 1e9
    return Instrumented(
        cpu, facts["number_of_calls"], facts["application_exclusive_time"] / 1e9,
        facts["os_interval_cpu_time"] / 1e9, facts.get("calls_truncated", 0), watcher.collector_kb / 1024,
        max(0, usage.ru_utime + usage.ru_stime - cpu), max(0, watcher.over_s - ended), watcher.spent_after(ended),
        size / 1e6, facts.get("tree_bytes_max", 0) / 2 ** 20, watcher.program_kb / 1024, facts.get("call_nodes", 0))
