"""dwell instrument: the operating system's time is told from the program's, by each source.

The program measures itself (tests/targets/os-truth.c). What a host takes from this machine is in no
clock of a thread, so it widens what is allowed.
"""
import os
import sys

from harness import File, cases, expect, more, paths, require, stolen_ns

FILE = File(is_alone=True)  # what others take of the processors is time between the two truths

SOURCES = "perf", "rseq"
PART = 0.02  # of what a function took, for each of its values
PART_OF_THREAD = 0.01
LEAST_NS = 1_000_000
INSIDE = "read_zeros", "write_file"  # system calls that use the processor
WAITING = "sleep_often", "read_pipe", "wait_locked", "spawn"
WORKING = "compute", "handle"
WITHOUT_SLACK = """import ctypes, os, sys
PR_SET_TIMERSLACK = 29
assert ctypes.CDLL(None).prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0) == 0
os.execvp(sys.argv[1], sys.argv[1:])"""


class Run:
    """A recording of os-truth, its own truth, and the rows of its functions."""

    def __init__(self, context, source, *words, before=()):
        forced = ("--os-source", source) if source else ()
        stolen = stolen_ns()
        done = context.instrument(*forced, "--", context.target("os-truth"), *words, before=before)
        lines = (line.split() for line in done.stdout.splitlines())
        self.truth = {name: [int(n) for n in numbers] for name, *numbers in lines}
        self.stolen = stolen_ns() - stolen
        report = context.report("functions", "--by", "process")
        self.facts = report["session"]
        self.pid, = {row["process_id"] for row in report["rows"]
                     if row["function_name"] == "compute"}
        self.rows = {row["function_name"]: Values(row, "inclusive") for row in report["rows"]
                     if row["process_id"] == self.pid}
        self.threads = [Values(row, "exclusive") for row in context.report("threads")["rows"]
                        if row["process_id"] == self.pid]

    def allowed(self, of, part=PART):
        return max(part * of, LEAST_NS) + self.stolen

    def near(self, got, want, of, what, part=PART):
        """@got is @want but for a part of @of."""
        allowed = self.allowed(of, part)
        require(abs(got - want) <= allowed, differs(what, got, want, allowed))


class Values:
    """A row's times: of it all, on the processor for itself, waiting, in system calls."""

    def __init__(self, row, kind):
        self.row = row
        overhead = row[f"time_{kind}_probe_overhead"]
        self.elapsed = row[f"elapsed_{kind}_time"] + overhead
        self.program = row[f"application_{kind}_time"] + overhead
        self.blocked = row[f"{kind}_blocked_time"]
        self.inside = self.elapsed - self.program - self.blocked


def differs(what, got, want, allowed):
    return f"{what}: {got / 1e6:.2f} ms, want {want / 1e6:.2f} +- {allowed / 1e6:.2f}"


def misplaced(run):
    """What of the functions' times is not where the program's own clocks have it."""
    wrong = []
    for name, (wall, cpu, inside) in run.truth.items():
        if name == "all":
            continue
        row, of = run.rows[name], wall or cpu
        values = [(row.program + row.inside, cpu, "processor time")]
        if wall:
            values += [(row.elapsed, wall, "elapsed time"), (row.blocked, wall - cpu, "blocked time")]
        if name in INSIDE:
            values.append((row.inside, inside, "time in system calls"))
        if name in WORKING:
            values.append((row.program, cpu, "program's time"))
        if name in WAITING and row.program > 0.02 * wall + LEAST_NS:
            wrong.append(f"program in {name}: {row.program} of {wall} ns, {cpu} on the processor")
        wrong += [differs(f"{what} of {name}", got, want, run.allowed(of)) for got, want, what in values
                  if abs(got - want) > run.allowed(of)]
    return wrong


def need(context, source):
    """Skip where the machine does not have @source."""
    line = {"perf": "page of a perf event", "rseq": "restartable sequence"}[source]
    context.need("perf events" if source == "perf" else "rseq")
    require(f"{line}: works" in context.run(context.dwell, "doctor").stdout, f"dwell does not have {source}")


@cases(*SOURCES)
@paths(8, *more(0, 64))
def test_each_where_it_belongs(context, source):
    """Of three runs in one: a thread that loses the processor between our clock and the program's
    differs by a time slice, wherever that was."""
    need(context, source)
    for _ in range(3):
        run = Run(context, source, "200")
        expect(run.facts["os_source"], source, "source")
        expect(run.facts["system_calls_seen"], 1, "system calls seen")
        wrong = misplaced(run)
        if not wrong:
            break
    require(not wrong, "; ".join(wrong))


@paths(8, *more(0, 64))
def test_calls_are_counted(context):
    run = Run(context, None, "50")
    require(run.rows["sleep_often"].row["blocking_calls"] == 0, "calls of sleep_often itself")
    sleeps = run.rows["usleep"].row
    expect((sleeps["number_of_calls"], sleeps["blocking_calls"]), (24, 24), "sleeps")
    reads = run.rows.get("read") or run.rows["__libc_read"]
    expect(reads.row["io_calls"], reads.row["number_of_calls"], "reads")


@paths(8, *more(0, 64))
def test_children_on_borrowed_memory_are_not_counted(context):
    run = Run(context, None, "50")
    expect([name for name in run.rows if name in ("write", "__write", "execl")], [], "calls of a child")
    lives = sorted(t.elapsed for t in run.threads)
    require(len(lives) == 2 and lives[0] < lives[1] / 2, f"a thread ends when it does: {lives}")


@paths(0, 8, 64)
def test_tasks_on_borrowed_memory_are_not_counted(context):
    """Leak checkers clone one that does millions of calls on another's thread-local storage."""
    mine, others = 1000, 300000
    done = context.instrument("--all-functions", "--", context.target("borrower"), str(mine), str(others))
    expect(done.stdout.strip(), str(mine * (mine - 1) + others * (others - 1) // 2), "the sum")
    report = context.report("functions")
    rows = {row["function_name"]: row for row in report["rows"]}
    expect((rows["work"]["number_of_calls"], rows["mine"]["number_of_calls"]), (2 * mine, 2), "calls")
    require("others" not in rows, "the task's function has a row")
    thread, = context.report("threads")["rows"]
    require(thread["time_exclusive_probe_overhead"] < 0.1 * thread["elapsed_exclusive_time"],
            f"probes of the task: {thread['time_exclusive_probe_overhead']} ns")


def test_daemons_are_explained(context):
    """Nobody has waited for them, so the command's accounting knows nothing of their time."""
    context.instrument("--", context.target("daemons"), "300")
    facts = context.report("functions")["session"]
    require(facts["processes_cpu_ns"] >= 0.6e9, f"processor time of all: {facts['processes_cpu_ns']}")
    require(abs(facts["residual_ns"]) < 0.3 * facts["processes_cpu_ns"],
            f"not explained: {facts['residual_ns']} of {facts['processes_cpu_ns']} ns")


def test_only_who_has_a_filter_is_an_upper_bound(context):
    need(context, "perf")
    context.instrument("--os-source", "perf", "--", context.target("daemons"), "100", "filter")
    report = context.report("processes")
    facts, rows = report["session"], report["rows"]
    expect((facts["os_source"], len(rows)), ("perf", 2), "source, processes")
    child = max(rows, key=lambda row: row["unique_id"])
    expect(facts["switches_unseen_in"], str(child["unique_id"]), "processes without switches")
    table = context.run(context.dwell, "report", "run.dwell", "functions", "--by", "process").stdout
    computing = [line for line in table.splitlines() if line.split()[-2:] == ["compute", "daemons"]]
    expect(sorted("<=" in line for line in computing), [False, True], "marked rows")
    summary = context.run(context.dwell, "report", "run.dwell").stdout
    require(f"context switches by perf but in daemons ({child['id']})," in summary, summary)
    require("at most" not in summary.splitlines()[3], "all of the program's time is no upper bound")


def with_spinners(context, source, before=()):
    """A program that computes, with as many others as there are processors."""
    spinners = [context.start(context.target("os-truth"), "1000000", "compute")
                for _ in range(os.cpu_count())]
    try:
        return Run(context, source, "1000", "compute", before=before)
    finally:
        for spinner in spinners:
            spinner.kill()
            spinner.communicate()


def check_sums(run):
    thread, = run.threads
    wall, cpu, _ = run.truth["all"]
    run.near(thread.program + thread.inside, cpu, cpu, "processor time", PART_OF_THREAD)
    run.near(thread.elapsed, wall, wall, "lifetime", PART_OF_THREAD)
    require(thread.row["context_switches"] > 0, "switches")


@cases(*SOURCES)
@paths(8, *more(0, 64))
def test_sums_when_processors_are_shared(context, source):
    need(context, source)
    run = with_spinners(context, source)
    expect(run.facts["os_source"], source, "source")
    check_sums(run)


def test_sums_where_perf_is_refused(context):
    need(context, "rseq")
    run = with_spinners(context, None, before=(context.target("without-perf"),))
    expect(run.facts["os_source"], "rseq", "source")
    check_sums(run)


@cases(*SOURCES)
def test_sources_prove_themselves_to_exact_timers(context, source):
    """Timers of real-time tasks, and of those that asked for it, have no slack."""
    need(context, source)
    run = Run(context, source, "10", before=(sys.executable, "-c", WITHOUT_SLACK))
    expect(run.facts["os_source"], source, "source")


def test_without_source_system_calls_are_told(context):
    run = Run(context, "none", "100")
    expect((run.facts["os_source"], run.facts["system_calls_seen"]), ("none", 1), "source")
    for name in "sleep_often", "wait_locked", "read_pipe":
        wall, cpu, _ = run.truth[name]
        row = run.rows[name]
        require(row.blocked > 0.5 * (wall - cpu), f"blocked time of {name}")
        run.near(row.elapsed, wall, wall, f"elapsed time of {name}")
    compute = run.rows["compute"]
    require(compute.program >= run.truth["compute"][1] * 0.99 - LEAST_NS, "an upper bound")


@cases(*SOURCES)
def test_traced(context, source):
    """Where each system call is a switch, as for who is traced, not each call reads the clocks."""
    need(context, source)
    n, log = 50000, context.path("log")
    context.make("strace", "-V")
    strace = "strace", "-f", "-qq", "-o", log, "-e", "trace=clock_gettime"
    context.instrument("--os-source", source, "--all-functions", "--", context.target("clones"),
                       "count", "0", "0", str(n), before=strace)
    report = context.report("functions")
    expect(report["session"]["os_source"], source, "source")
    expect(sum(row["number_of_calls"] for row in report["rows"]
               if row["function_name"] == "counted"), n,
           "calls")
    with open(log) as file:
        readings = sum(1 for _ in file)
    require(0 < readings < n / 10, f"readings of clocks: {readings}")
