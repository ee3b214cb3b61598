"""What is not measured: threads, few and for a reason that is told, and programs when their recording
has ended. It costs next to nothing."""
import os
import re
import signal
import subprocess
import time

from harness import cases, expect, needs, require
from unchanged import Trial

LEAVES = 1000  # tests/targets/unmeasured.c


def measured(context, *command, options=()):
    """The report of the functions of `unmeasured COMMAND`, and what it printed."""
    done = context.instrument(*options, "--", context.target("unmeasured"), *command)
    return context.report("functions"), done.stdout


def calls_of(report, name):
    return sum(row["number_of_calls"] for row in report["rows"] if row["function_name"] == name)


# Programs whose loader lists modules behind the C library: these are cloned when it runs from clones.
@cases("ls /", "sed -n s/a/b/p /etc/passwd", "perl -e print(42)")
def test_modules_behind_the_c_library(context, command):
    """Agents run no code that may have probes by then, or let these pass."""
    trial = Trial(command.split(), must_work=True)
    engines = ("libraries", "libraries-time", "system-calls")
    found = [f"{engine}: {difference}" for engine, difference in
             trial.differences(context.scratch, context.dwell, engines) if difference]
    require(not found, "\n".join(found))


def test_first_probe_in_a_borrowed_thread(context):
    """A child of vfork() meets the first probe: the thread whose storage it uses is measured later."""
    report, _ = measured(context, "borrow", options=("--include", "leaf"))
    expect(calls_of(report, "leaf"), LEAVES, "calls of leaf()")
    expect(report["session"]["threads_dropped"], 0, "unmeasured threads")


def test_thread_under_a_filter(context):
    """A thread that begins under a filter of system calls is not measured, which is told, and its
    probes take a fraction of what they took when each looked again (40 times a plain round)."""
    plain = int(context.run(context.target("unmeasured"), "filtered").stdout)
    report, output = measured(context, "filtered")
    expect(calls_of(report, "leaf"), LEAVES, "calls of leaf(), all before the filter")
    facts = report["session"]
    expect((facts["threads_dropped"], facts["threads_filtered"]), (1, 1), "unmeasured threads")
    require(int(output) < 20 * plain, f"a round takes {output.strip()} ns, a plain one {plain}")


ALL_WAYS = 20 * (1 + 8 + 64 + 512 + 4096)  # calls of all() in tests/targets/dropped.c, going all ways once


def go_all_ways(context, how):
    """Calls of all(), the session's facts, and ms of the processor, of `dropped HOW`, instrumented."""
    done = context.instrument("--", context.target("dropped"), how)
    report = context.report("functions")
    return calls_of(report, "all"), report["session"], int(done.stdout)


@needs("root")
@cases("user", "root", "limits")
def test_rights_given_away(context, how):
    """A server that becomes another user, takes another root or limits its files is measured on, its threads too;
    its children are, or that they are not is told. Nothing is tried at each call."""
    calls, _, plain_ms = go_all_ways(context, "nothing")
    expect(calls, 5 * ALL_WAYS, "calls in the process, three threads and a child")
    calls, facts, ms = go_all_ways(context, how)
    missed = facts["processes_not_instrumented"]
    expect(missed, int(how != "user"), "children that were not measured")
    expect(calls, (5 - missed) * ALL_WAYS, "calls in all others")
    expect((facts["threads_dropped"], facts["calls_dropped"]), (0, 0), "what was not measured")
    require(ms < 6 * plain_ms + 50, f"{ms} ms of the processor, with all rights {plain_ms}")


def test_children_without_room(context):
    """A fork's child that may make its region, but nothing larger, runs as it is."""
    done = context.instrument("--all-functions", "--", context.target("small-files"))
    expect(done.stdout, "256 of 256\n", "children that ended well")
    report = context.report("functions")
    measured = calls_of(report, "leaf") / 100
    require(0 < measured < 256 and measured == int(measured), f"{measured} children measured")
    require(report["session"]["threads_dropped"] > 0, "none was without room")


@cases("prctl", "seccomp", "threads")
def test_own_filters(context, by):
    """From before a filter of the program's own is there no agent makes system calls: neither on the way back
    from the call that installs it, nor in other threads that it is for."""
    expect(context.run(context.target("confined"), by).stdout, "5 of 5\n", "a plain run")
    done = context.instrument("--module", "*", "--", context.target("confined"), by)
    expect(done.stdout, "5 of 5\n", "children that ended well")
    require(calls_of(context.report("functions"), "leaf") > LEAVES, "calls of leaf() were counted")


def rounds_of(process):
    """The times of rounds, in ns, as they come."""
    for line in process.stdout:
        yield int(line)


ROUNDS = 20  # of which each line tells the least


def expect_speed_back(context, process, plain, seconds):
    """Of rounds of calls in @process, which nobody measures any more, one takes at most 1.1 times what it took plain
    within @seconds of the program's own processor time, however busy the machine is. Where it is another machine by then
    (its processors are shared, or slower), what a plain run takes now counts."""
    seen, spent = [], 0
    for took in rounds_of(process):
        seen.append(took)
        spent += ROUNDS * took
        if took < 1.1 * plain or spent > seconds * 1e9:
            break
    if seen and min(seen) >= 1.1 * plain:
        plain = max(plain, plain_round(context))
    require(seen and min(seen) < 1.1 * plain, f"rounds take {seen} ns, plain {plain}")


def plain_round(context):
    return int(context.run(context.target("unmeasured"), "loop", "0").stdout)


def start_loop(context, *options):
    """`unmeasured loop`, recorded, and the time of a plain round."""
    command = [context.target("unmeasured"), "loop"]
    plain = plain_round(context)
    process = subprocess.Popen([context.dwell, "instrument", "-q", "-o", context.path("run.dwell"), *options,
                                "--", *command, "30"], stdout=subprocess.PIPE, text=True,
                               start_new_session=True)
    return process, plain


def end(process):
    """Its pipe closes, so the loop ends, whoever waits for it."""
    process.stdout.close()
    process.wait(timeout=60)


@cases("SIGINT", "SIGKILL")
def test_speed_comes_back_after(context, name):
    """The collector ends, which records 3 s more, or is killed, and its target lives on."""
    process, plain = start_loop(context)
    try:
        slow = next(rounds_of(process))
        require(slow > 3 * plain, f"a round takes {slow} ns while it is recorded, plain {plain}")
        os.kill(process.pid, getattr(signal, name))
        expect_speed_back(context, process, plain, 5 if name == "SIGINT" else 2)
    finally:
        end(process)


def test_speed_comes_back_after_duration(context):
    process, plain = start_loop(context, "--duration", "3")
    try:
        deadline = time.monotonic() + 30
        while not os.path.exists(context.path("run.dwell")) and time.monotonic() < deadline:
            next(rounds_of(process))
        expect_speed_back(context, process, plain, 2)
    finally:
        end(process)
    require(calls_of(context.report("functions"), "leaf") > LEAVES, "calls of leaf() were recorded")


COPIES_KB = 60  # of two images: two pages of trampolines or three, that of the header, two of slots


def images(pid):
    """What a process has of clone images once it is measured no more: the KB of copies of their code, of executable
    mappings of their files, and what it has of each file to itself."""
    sizes, own, kind, name = {"copies": 0, "code": 0}, {}, None, None
    with open(f"/proc/{pid}/smaps") as f:
        for line in f:
            if re.match(r"[0-9a-f]+-[0-9a-f]+ ", line):
                name = line.split()[-1] if line.endswith(".clone\n") else None
                kind = "copies" if "/dev/zero" in line else "code" if name and line.split()[1] == "r-xp" else None
            elif kind and line.startswith("Size:"):
                sizes[kind] += int(line.split()[1])
            elif name and line.startswith("Anonymous:"):
                own[name] = own.get(name, 0) + int(line.split()[1])
    return sizes, own


def test_images_are_shared_afterwards(context):
    """A process that is measured no more has of its images' code a copy of the trampolines alone; the rest and their
    tables are those of the files. The C library is among them."""
    process, _ = start_loop(context, "--duration", "2")
    try:
        next(rounds_of(process))
        with open(f"/proc/{process.pid}/task/{process.pid}/children") as f:
            child = int(f.read().split()[0])
        context.wait_for(lambda: list(images(child)[1].values()) == [0, 0], "both images to be the files'")
        sizes, _ = images(child)
        require(0 < sizes["copies"] <= COPIES_KB and sizes["code"] > COPIES_KB, f"KB of code afterwards: {sizes}")
    finally:
        end(process)
    require(calls_of(context.report("functions"), "leaf") > LEAVES, "calls of leaf() were recorded")


def timers(pid):
    with open(f"/proc/{pid}/timers") as f:
        return f.read().count("ID:")


def test_no_timers_are_left(context):
    """Sampling in-process for a time: then the program's timers are gone."""
    process = subprocess.Popen([context.dwell, "sample", "--sampler", "in-process", "-q", "--duration", "2", "-o",
                                context.path("run.dwell"), "--", context.target("unmeasured"), "loop", "30"],
                               stdout=subprocess.PIPE, text=True, start_new_session=True)
    try:
        next(rounds_of(process))
        with open(f"/proc/{process.pid}/task/{process.pid}/children") as f:
            child = int(f.read().split()[0])
        had = timers(child)
        context.wait_for(lambda: os.path.exists(context.path("run.dwell")), "the session")
        context.wait_for(lambda: not timers(child), "timers to go")
    finally:
        end(process)
    require(had, "there were no timers while it was sampled")
