"""dwell sample --pid: what runs already is seen as it is, and goes on as if nobody had looked."""
import os
import re
import signal
import subprocess

from harness import (DEFAULT_SECONDS, cases, expect, expect_all_counted, needs, one_line,
                     perf_program, require, rows_of)

SECONDS = "1.5"


class Running:
    """tests/targets/attach.c in one of its modes, until the end of the with block."""

    def __init__(self, context, *words, before=()):
        self.process = context.start(*before, context.target("attach"), *words,
                                     stdin=subprocess.PIPE)
        expect(self.process.stdout.readline(), "ready\n", "first line of the target")
        self.pid = self.process.pid

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait(DEFAULT_SECONDS)

    def end(self):
        """Let it end; what it says then."""
        self.process.stdin.close()
        text = self.process.stdout.read()
        expect(self.process.wait(DEFAULT_SECONDS), 0, "status of the target")
        return text


def attach(context, *pids, words=("--duration", SECONDS), **options):
    return context.sample(*words, "--pid", ",".join(map(str, pids)), **options)


def share_of(context, name, session="run.dwell"):
    report = context.report("functions", session=session)
    kept = report["session"]["samples_kept"]
    require(kept >= 50, f"{kept} samples")
    return sum(row["exclusive_samples"] for row in rows_of(report, name)) / kept


def expect_share(got, want, what):
    require(abs(got - want) < 0.1, f"{what}: {got:.3f}, want {want:.3f}")


def state_of(pid):
    """What somebody who looks at a process can see of it."""
    status = open(f"/proc/{pid}/status").read()
    return {"fds": sorted(os.listdir(f"/proc/{pid}/fd")),
            "tasks": sorted(os.listdir(f"/proc/{pid}/task")),
            "maps": [line for line in open(f"/proc/{pid}/maps") if "[stack" not in line],
            "status": re.findall(r"(?:TracerPid|SigPnd|SigBlk|SigIgn|SigCgt|Seccomp|Threads):.*", status)}


def test_shares(context):
    with Running(context, "shares", "2") as target:
        attach(context, target.pid)
        session = context.report("summary")["session"]
        expect(session["attached"], str(target.pid), "whom the session says it was attached to")
        require("shares 2" in session["command"], session["command"])
        expect_all_counted(session)
    expect(session["stacks_cut"], 0, "cut stacks")
    expect_share(share_of(context, "outer_work"), 0.75, "share of outer_work")
    expect_share(share_of(context, "inner_work"), 0.25, "share of inner_work")
    tasks = context.report("threads")["rows"]
    expect(len(tasks), 3, "threads")
    start = rows_of(context.report("functions"), "work_on")
    require(start and start[0]["inclusive_samples"] == session["samples_kept"], start)


@needs("perf events")
def test_as_perf_sees_it(context):
    with Running(context, "shares", "1") as target:
        data = context.path("perf.data")
        perf = context.start(perf_program(), "record", "-q", "-F", "1000", "-e", "cpu-clock:u", "-o", data,
                             "-p", str(target.pid))
        context.wait_for(lambda: "[perf_event]" in open(f"/proc/{perf.pid}/maps").read(),
                         "perf to record")
        attach(context, target.pid)
        perf.send_signal(signal.SIGINT)
        said = perf.communicate(timeout=DEFAULT_SECONDS)
    done = context.run(perf_program(), "report", "-i", data, "--stdio", "--no-children", "-F",
                       "overhead,symbol")
    theirs = {m[2]: float(m[1]) / 100
              for m in re.finditer(r"([\d.]+)%\s+\[\.\] (\w+)", done.stdout)}
    require(len(theirs) >= 2, (done.stdout, done.stderr, said))
    for name in "outer_work", "inner_work":
        expect_share(share_of(context, name), theirs[name], f"share of {name}, perf beside")


def test_leaves_nothing(context):
    with Running(context, "shares", "4") as target:
        before = state_of(target.pid)
        attach(context, target.pid)
        expect(state_of(target.pid), before, "the process")


def test_own_process_as_ordinary_user(context):
    user = context.ordinary_user()
    with Running(context, "shares", "1", before=user) as target:
        done = context.run(*user, context.dwell, "sample", "-q", "-o", "run.dwell",
                           "--duration", SECONDS, "-p", str(target.pid))
        expect(done.returncode, 0, f"status\n{done.stderr}")
    expect_share(share_of(context, "outer_work"), 0.75, "share of outer_work")


def test_two_collectors(context):
    with Running(context, "shares", "1") as target:
        other = context.start(context.dwell, "sample", "-q", "-o", "other.dwell", "--duration",
                              SECONDS, "-p", str(target.pid))
        attach(context, target.pid)
        expect(other.wait(DEFAULT_SECONDS), 0, "status of the other collector")
    for session in "run.dwell", "other.dwell":
        expect_share(share_of(context, "outer_work", session), 0.75, f"outer_work in {session}")
        expect_all_counted(context.report("summary", session=session)["session"])


def test_several_processes(context):
    with Running(context, "shares", "1") as one, Running(context, "shares", "1") as two:
        attach(context, one.pid, two.pid)
        rows = context.report("processes")["rows"]
        expect(sorted(row["id"] for row in rows), sorted([one.pid, two.pid]), "processes")
        for row in rows:
            require(row["inclusive_samples"] > 0, row)


@cases(signal.SIGINT, signal.SIGTERM)
def test_ends_by_signal(context, number):
    with Running(context, "shares", "1") as target:
        dwell = context.start(context.dwell, "sample", "-q", "-o", "run.dwell", "-p",
                              str(target.pid))
        context.wait_for(lambda: "outer_work" in context.run(
            context.dwell, "report", "run.dwell.partial", "functions", "-f", "csv").stdout, "samples")
        dwell.send_signal(number)
        expect((dwell.wait(DEFAULT_SECONDS), dwell.stderr.read()), (0, ""), "status and errors of dwell")
        expect(target.process.poll(), None, "the target still runs")
    require(context.report("summary")["session"]["samples_kept"] > 0, "samples")


def test_ends_with_the_target(context):
    with Running(context, "shares", "1") as target:
        dwell = context.start(context.dwell, "sample", "-q", "-o", "run.dwell", "-p",
                              str(target.pid))
        context.wait_for(lambda: os.path.exists(context.path("run.dwell.partial")), "the session")
        target.end()
        expect((dwell.wait(DEFAULT_SECONDS), dwell.stderr.read()), (0, ""), "status and errors of dwell")
    rows = context.report("processes")["rows"]
    require(rows[0]["end_time"] is not None, rows)


def test_threads_made_meanwhile(context):
    with Running(context, "storm") as target:
        for _ in range(5):
            attach(context, target.pid, words=("--duration", "1", "-F", "5000"))
            facts = context.report("summary")["session"]
            expect_all_counted(facts)
            expect(facts["attach_unsettled"], 0, "threads that were not attached to")


def test_three_hundred_threads(context):
    with Running(context, "shares", "300") as target:
        attach(context, target.pid)
        facts = context.report("summary")["session"]
        expect_all_counted(facts)
        expect(len(context.report("threads")["rows"]), 301, "threads")


def test_many_forks(context):
    with Running(context, "forks") as target:
        attach(context, target.pid, words=("--duration", "2", "-F", "5000"))
        rows = context.report("processes")["rows"]
        forks = int(target.end())
    require(rows_of(context.report("functions"), "work_ms"), "the children's work")
    require(10 < len(rows) <= forks + 2, f"{len(rows)} processes, {forks} forks")
    expect(context.report("summary")["session"]["records_lost"], 0, "lost records")


@needs("root")
def test_all_processes(context):
    with Running(context, "shares", "1") as one, Running(context, "shares", "1") as two:
        context.sample("--all", "--duration", SECONDS)
        found = {row["id"]: row for row in context.report("processes")["rows"]}
        for target in one, two:
            require(target.pid in found, f"{target.pid} is not among {list(found)}")
            expect(found[target.pid]["name"], "attach", "name")
            require(found[target.pid]["inclusive_samples"] > 0, found[target.pid])
    expect(len(found), len(context.report("processes")["rows"]), "processes, each once")
    expect(context.report("summary")["session"]["system_wide"], 1, "what the session says")
    outer = sum(row["exclusive_samples"] for row in rows_of(context.report("functions"), "outer_work"))
    inner = sum(row["exclusive_samples"] for row in rows_of(context.report("functions"), "inner_work"))
    require(outer + inner >= 50, f"{outer} and {inner} samples")
    expect_share(outer / (outer + inner), 0.75, "share of outer_work")


@needs("root")
def test_all_processes_while_a_command_runs(context):
    with Running(context, "shares", "1") as target:
        context.sample("--all", "--", "sh", "-c", "sleep 1; exit 7", status=7)
        names = {row["name"] for row in context.report("processes")["rows"]}
    require({"attach", "sh"} <= names, f"{names} with {target.pid}")


def test_all_processes_take_rights(context):
    text = refused(context, "--all", before=context.ordinary_user())
    if int(open("/proc/sys/kernel/perf_event_paranoid").read()) > 2:
        require("cap_perfmon" in text, text)
    else:
        require("watching all processes" in text and "perf_event_paranoid=0" in text, text)


def refused(context, *words, before=()):
    done = context.run(*before, context.dwell, "sample", "-o", "run.dwell", *words)
    expect((done.returncode, done.stdout), (125, ""), f"status and output of {words}")
    require(not os.path.exists(context.path("run.dwell.partial")), "no session is left")
    return one_line(done.stderr, f"sample {words}")


def test_no_such_process(context):
    gone = context.start("true")
    gone.wait()
    text = refused(context, "-p", str(gone.pid))
    require(f"no process {gone.pid}" in text, text)


def test_dead_process(context):
    zombie = context.start("true")
    os.waitid(os.P_PID, zombie.pid, os.WEXITED | os.WNOWAIT)
    text = refused(context, "-p", str(zombie.pid))
    require(f"process {zombie.pid} has ended" in text, text)
    zombie.wait()


@needs("root")
def test_process_of_another_user(context):
    with Running(context, "shares", "1") as target:
        text = refused(context, "-p", str(target.pid), before=context.ordinary_user())
    require(f"process {target.pid} belongs to user 0" in text, text)


def test_a_thread_is_no_process(context):
    with Running(context, "shares", "1") as target:
        tid = max(map(int, os.listdir(f"/proc/{target.pid}/task")))
        text = refused(context, "-p", str(tid))
    require(f"{tid} is a thread of process {target.pid}" in text, text)


def test_too_few_descriptors(context):
    with Running(context, "shares", "100") as target:
        text = refused(context, "-p", str(target.pid), before=("prlimit", "--nofile=64:64"))
    require("descriptors" in text and "ulimit -n" in text, text)


@cases("0", "x", "1,", "1,x", "-1", "99999999999")
def test_wrong_numbers(context, words):
    done = context.run(context.dwell, "sample", f"--pid={words}")
    expect(done.returncode, 125, "status")
    require("process number" in done.stderr, done.stderr)


def test_command_and_pid(context):
    done = context.run(context.dwell, "sample", "-p", "1", "true")
    require(done.returncode == 125 and "either a command or --pid" in done.stderr, done.stderr)
    done = context.run(context.dwell, "sample", "-a", "-p", "1")
    require(done.returncode == 125 and "either --all or --pid" in done.stderr, done.stderr)
