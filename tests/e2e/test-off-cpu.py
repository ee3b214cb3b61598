"""dwell sample --off-cpu: where threads wait and for how long, by every sampler, as an ordinary user.

The target tells how long its waits were by its own clocks. A machine that others use makes them
longer, which both see."""
import json
import math
import os
import sqlite3
import subprocess

from harness import DEFAULT_SECONDS, cases, expect, more, needs, require, rows_of

LONG = {"wait_asleep", "wait_for_lock", "wait_for_pipe", "wait_for_child"}
SHARE, SLACK_MS = 0.05, 12  # of two looks, when others use the machine
FACTOR = "2"
KINDS = "lock,pipe,sleep,child,disk,condition,idle,io,other"  # all that is blocked


def refusal(context, run):
    refuse = run.endswith("refused") and not context.without_perf
    return (context.target("without-perf"),) if refuse else ()


def truth_of(text):
    """What the target said: milliseconds by the clock, without its processor time, and without the
    time it was ready: some of that was before the end of a wait, and some after a preemption."""
    rows = (line.split() for line in text.splitlines() if line != "ready")
    return {name: (int(wall) / 1e3, (int(wall) - int(cpu)) / 1e3,
                   (int(wall) - int(cpu) - int(ready)) / 1e3) for name, wall, cpu, ready in rows}


def record(context, run, level, parts):
    """Record the target. Its truth."""
    env = {**context.env, "HOME": context.scratch, "XDG_CACHE_HOME": context.path("cache")}
    user = context.ordinary_user()
    # What runs already is sampled by perf alone.
    unasked = run == "launched-unasked" or (run == "attached-unasked" and not context.without_perf)
    asked = () if unasked else ("--off-cpu",)
    dwell = (*user, *refusal(context, run), context.dwell, "sample", "-q", *asked, "-o", "run.dwell")
    target = context.target(f"waits-{level}")
    if run.startswith("launched"):
        done = context.run(*dwell, target, parts, FACTOR, env=env)
        expect((done.returncode, done.stderr), (0, ""), "status and errors")
        return truth_of(done.stdout)
    process = context.start(*user, target, parts, FACTOR, "ready", stdin=subprocess.PIPE)
    expect(process.stdout.readline(), "ready\n", "first line of the target")
    recorder = context.start(*dwell, "-p", str(process.pid), env=env)
    context.wait_for(lambda: os.path.exists(context.path("run.dwell.partial")), "the recording")
    process.stdin.write("x")
    process.stdin.close()
    text = process.stdout.read()
    expect(process.wait(DEFAULT_SECONDS), 0, "status of the target")
    expect((recorder.wait(DEFAULT_SECONDS), recorder.stderr.read()), (0, ""), "status and errors of dwell")
    return truth_of(text)


def blocked_ms(report, name):
    return sum(row["inclusive_blocked_time"] for row in rows_of(report, name)) / 1e6


def expect_between(got, truths, what, more_ms=0):
    """As long as all of @truths, or up to @more_ms longer. Whether a thread was ready at the end of a wait
    or after a preemption, nobody tells; a record of the end comes late: the kernel counts that as work."""
    most, least = (sum(truth[i] for truth in truths) for i in (0, 2))
    require((1 - SHARE) * least - SLACK_MS <= got <= (1 + SHARE) * most + SLACK_MS + more_ms,
            f"{what}: {got:.1f} ms of {least:.1f} to {most:.1f}")


RUNS = ("launched", "attached", "launched-refused", "attached-refused", "launched-unasked", "attached-unasked")


@cases(*(f"{run}-O2" for run in RUNS), "launched-O0", "attached-refused-O0", *more(
    *(f"{run}-O0" for run in RUNS if run not in ("launched", "attached-refused"))))
def test_truth(context, case):
    run, level = case.rsplit("-", 1)
    truth = record(context, run, level, "sleep,lock,pipe,child,spin")
    report = context.report("functions", "--by", "process", "--waits", KINDS)
    for name in LONG:
        expect_between(blocked_ms(report, name), [truth[name]], name)
    expect_between(blocked_ms(report, "spin"), [], "what only works")
    rows = rows_of(report, "main")
    require(rows, "no main")
    # The child has a main, too; what runs already also waits to be told to begin.
    expect_between(max(row["inclusive_blocked_time"] for row in rows) / 1e6,
                   [truth[name] for name in LONG], "main", 0 if run.startswith("launched") else math.inf)
    for row in rows:
        expect(row["exclusive_blocked_time"], 0, "main itself never waits")
    facts = report["session"]
    exact = run in RUNS[:2] and not context.without_perf
    expect(facts["off_cpu"], "switches" if exact else "times", "how waits were timed")
    if run.startswith("launched"):
        require(facts["samples_kept"] > 0, "samples are in the same session")


@cases(*RUNS)
def test_short_waits(context, run):
    """Thousands of waits shorter than the time between looks: sums are right, and shares nearly."""
    truth = record(context, run, "O2", "short")
    report = context.report("functions")
    here, there = (blocked_ms(report, f"wait_shortly_{place}") for place in ("here", "there"))
    want = [truth[f"wait_shortly_{place}"] for place in ("here", "there")]
    expect_between(here + there, want, "both")
    share, true_share = here / (here + there), want[0][1] / sum(w[1] for w in want)
    require(abs(share - true_share) < 0.12, f"share {share:.3f}, want {true_share:.3f}")


@cases("launched", "launched-refused")
def test_disk(context, run):
    truth = record(context, run, "O2", "disk")
    if truth["wait_for_disk"][2] < 2 * SLACK_MS:
        context.skip("nobody waits for this disk")
    report = context.report("functions")
    got = blocked_ms(report, "wait_for_disk")
    # Where perf is refused each wait is told to some ms, as long as a disk takes, and looks come late
    # while the disk is busy.
    least = truth["wait_for_disk"][2]
    if run == "launched" or got >= least:
        expect_between(got, truth.values(), "wait_for_disk")
    else:
        looks = {key: report["session"][key] for key in ("waits_stacks_whole", "waits_stacks_cut", "waits_unseen_ns")}
        require(got >= 0.5 * least, f"wait_for_disk: {got:.1f} ms of {truth['wait_for_disk']}, {looks}")


@cases(*RUNS)
def test_waits_as_short_as_a_look(context, run):
    """A look that takes longer than the wait still tells where it was."""
    truth = record(context, run, "O2", "brief")
    expect_between(blocked_ms(context.report("functions"), "wait_briefly"), truth.values(), "wait_briefly")


@cases(*RUNS[:4:2])
def test_frame_pointers_behind_stubs(context, run):
    """The kernel tells no rbp: it is looked for, and calls through stubs for CET lead to functions, too. What looks
    like a frame that a call through a pointer might have made is none."""
    context.run(*refusal(context, run), context.dwell, "sample", "-q", "--off-cpu", "-o", "run.dwell", "--",
                context.target("framed"), "400")
    report = context.report("functions")
    for name in "wait_framed", "wait_through_stub", "main":
        expect_between(blocked_ms(report, name), [(400, 400, 400)], name)
    expect(blocked_ms(report, "call_by_pointer"), 0, "what has returned")


def waits_of(context, *words):
    """Milliseconds by kind."""
    return {row["waits_for"]: row["wait_time"] / 1e6 for row in context.report("waits", *words)["rows"]}


def record_target(context, run, target, *words):
    """Record a target that tells its truth as lines "NAME MICROSECONDS": milliseconds by name."""
    asked = () if run.endswith("unasked") else ("--off-cpu",)
    done = context.run(*refusal(context, run), context.dwell, "sample", "-q", *asked, "-o", "run.dwell",
                       "--", context.target(target), *words)
    expect((done.returncode, done.stderr), (0, ""), "status and errors")
    return {name: int(us) / 1e3 for name, us in (line.split() for line in done.stdout.splitlines())}


@cases("launched", "launched-refused", "launched-unasked")
def test_kinds(context, run):
    """Each wait is of the kind that it is, and where it is; what is left out is in no other view."""
    truth = record_target(context, run, "wait-kinds", "2")
    expect(len(truth), 8, "kinds of the target")
    got = waits_of(context)
    # Looks that take their share are later on a busy machine.
    share = SHARE if run.endswith("unasked") else 0.02
    for kind, ms in truth.items():
        require(abs(got.get(kind, 0) - ms) <= share * ms + SLACK_MS, f"{kind}: {got.get(kind)} ms of {ms:.1f}")
    strange = sum(ms for kind, ms in got.items() if kind not in truth and kind != "ready")
    require(strange < 0.03 * sum(truth.values()) + SLACK_MS, f"of no kind: {strange:.1f} ms of {got}")
    for kind, function in ("lock", "wait_for_locks"), ("socket", "wait_for_sockets"), ("sleep", "wait_asleep"):
        row = next(row for row in context.report("waits")["rows"] if row["waits_for"] == kind)
        expect((row["function_name"], row["counts_in_reports"]), (function, "yes"), kind)
    report = context.report("functions")
    expect(blocked_ms(report, "wait_for_ends"), 0, "what waits for ends of others")
    require(blocked_ms(report, "wait_for_pipes") > 0.9 * truth["pipe"], "what waits for pipes")
    only = context.report("functions", "--waits", "child,pipe")
    expect(blocked_ms(only, "wait_for_locks"), 0, "locks, which were not asked for")
    require(blocked_ms(only, "wait_for_ends") > 0.9 * truth["child"], "ends, which were")
    total = context.report("functions", "--waits", "all")["session"]["inclusive_blocked_time"]
    expect(sum(row["wait_time"] for row in context.report("waits")["rows"]), total, "all kinds")
    db = sqlite3.connect(context.path("run.dwell"))
    expect(dict(db.execute("SELECT waits_for, wait_time FROM waits")),
           {row["waits_for"]: row["wait_time"] for row in context.report("waits")["rows"]}, "SQL")


def test_kinds_of_calls(context):
    """Instrumentation tells the same by the functions that wait and the descriptors that they read: of one that
    poll() and select() wait for it knows nothing, and takes them for those of event loops."""
    done = context.run(context.dwell, "instrument", "-q", "-o", "run.dwell", context.target("wait-kinds"), "2")
    expect((done.returncode, done.stderr), (0, ""), "status and errors")
    truth = {name: int(us) / 1e3 for name, us in (line.split() for line in done.stdout.splitlines())}
    got = waits_of(context)
    # What the target waits for with poll() and select(), twice as long.
    polled = {"socket": 2 * 140, "pipe": 2 * 140}
    for kind, ms in polled.items():
        truth[kind] -= ms
        truth["idle"] += ms
    for kind, ms in truth.items():
        require(abs(got.get(kind, 0) - ms) <= 0.02 * ms + SLACK_MS, f"{kind}: {got.get(kind)} ms of {ms:.1f}")
    strange = sum(ms for kind, ms in got.items() if kind not in truth and kind != "ready")
    require(strange < 0.01 * sum(truth.values()), f"of no kind: {strange:.1f} ms of {got}")
    working = [row["name"] for row in context.report("summary")["rows"] if row["section"] != "Hot Path"]
    require(working[0].endswith("nanosleep") and "epoll_wait" not in working, f"first what counts: {working}")


@cases("launched", "launched-refused", "launched-unasked")
def test_ready(context, run):
    """Who has no processor is ready, not blocked: also after a wait."""
    truth = record_target(context, run, "ready")
    require(truth["ready"] > 1000, f"ready for {truth['ready']} ms")
    got = waits_of(context)
    require(abs(got["ready"] - truth["ready"]) < 0.1 * truth["ready"] + SLACK_MS,
            f"ready {got['ready']:.1f} ms of {truth['ready']:.1f}")
    naps = blocked_ms(context.report("functions"), "nap")
    require(abs(naps - truth["nap"]) < 0.1 * truth["nap"] + SLACK_MS, f"naps {naps:.1f} ms of {truth['nap']:.1f}")


def test_looks_take_their_share(context):
    """Unless waits were asked for, looks at many threads that wait shortly become rare, and still tell where."""
    stacks = {}
    for run in "launched-unasked", "launched-refused":
        record_target(context, run, "waits-O2", "crowd", "2")
        report = context.report("functions")
        stacks[run] = report["session"]["waits_stacks_whole"]
        require(blocked_ms(report, "wait_shortly") >= 0.9 * report["session"]["inclusive_blocked_time"] / 1e6 > 100,
                f"{run}: waits that are where they are")
    require(100 <= stacks["launched-unasked"] < 0.6 * stacks["launched-refused"], f"stacks that were read: {stacks}")


def test_views_agree(context):
    """Every view adds up to the same blocked time, in SQL and in exports, too."""
    record(context, "launched", "O2", "sleep,lock,child,short")
    everything = "--waits", "all"
    session = context.report("summary", *everything)["session"]
    total = session["inclusive_blocked_time"]
    require(total > 1e9, f"blocked time {total}")
    for view in "functions", "lines", "instructions", "threads", "processes", "calltree":
        rows = context.report(view, *everything)["rows"]
        expect(sum(row["exclusive_blocked_time"] for row in rows), total, view)
    db = sqlite3.connect(context.path("run.dwell"))
    for view in "functions", "threads", "processes":
        expect(db.execute(f"SELECT sum(exclusive_blocked_time) FROM {view}").fetchone()[0], total,
               f"{view} in SQL")
    done = context.run(context.dwell, "export", "run.dwell", "--to", "folded", "--values",
                       "blocked", *everything)
    expect(sum(int(line.split()[-1]) for line in done.stdout.splitlines()), total, "folded stacks")
    half = session["duration_ns"] // 2
    parts = [context.report("functions", *everything, *words)["session"]["inclusive_blocked_time"]
             for words in (("--to", f"{half}ns"), ("--from", f"{half}ns"))]
    require(abs(sum(parts) - total) < 1e6, f"halves {parts} of {total}")


def test_recover(context):
    """Of a collector that was killed, what it had written counts."""
    process = context.start(context.dwell, "sample", "-q", "--off-cpu", "-o", "run.dwell",
                            context.target("waits-O2"), "sleep", "20")
    partial = context.path("run.dwell.partial")

    def waited():
        done = context.run(context.dwell, "report", partial, "functions", "--format", "json")
        return done.returncode == 0 and blocked_ms(json.loads(done.stdout), "wait_asleep") > 900
    context.wait_for(waited, "a wait in the session")
    process.kill()
    process.wait()
    done = context.run(context.dwell, "recover", partial)
    expect(done.returncode, 0, f"status of dwell recover: {done.stderr}")
    require(blocked_ms(context.report("functions"), "wait_asleep") > 900, "what was told is kept")


def test_both_wishes(context):
    done = context.run(context.dwell, "sample", "--off-cpu", "--no-off-cpu", "--", "true")
    require(done.returncode and "either --off-cpu or --no-off-cpu" in done.stderr, done.stderr)


@needs("perf events")
@cases("-e page-faults", "-e cpu-clock -c 1000000", "-e task-clock")
def test_events(context, event):
    """Waits stand beside samples of time, and beside others only if somebody asks for them."""
    context.sample(*event.split(), "--", context.target("waits-O2"), "sleep,spin")
    facts = context.report("functions")["session"]
    require(facts["samples_kept"] > 0, "samples")
    expect(facts.get("off_cpu"), "times" if event == "-e task-clock" else None, "waits")


def test_without_waits(context):
    """Sessions that were asked for no waits say nothing of them."""
    context.sample("--no-off-cpu", "--", context.target("waits-O2"), "sleep")
    report = context.report("functions")
    require("inclusive_blocked_time" not in report["session"], "a fact")
    require(all("inclusive_blocked_time" not in row for row in report["rows"]), "columns")
    done = context.run(context.dwell, "report", "run.dwell", "waits")
    expect(done.returncode, 2, "status of the view waits")
    require("dwell sample and dwell instrument record them" in done.stderr, done.stderr)


def test_make_waits_for_children(context):
    """It does so by reading the pipe in which they leave a token when they end."""
    with open(context.path("Makefile"), "w") as f:
        f.write("all: a b c d\na b c d:\n\t@sleep 0.3\n")
    done = context.run(context.dwell, "sample", "-q", "-o", "run.dwell", "--", "make", "-j2")
    expect((done.returncode, done.stderr), (0, ""), "status and errors")
    got = waits_of(context)
    require(got["sleep"] > 1000 and got["child"] > 400, f"children and who waits for them: {got}")
    require(got.get("pipe", 0) < 0.1 * got["child"], f"tokens are no input: {got}")


READER = r"""
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char buffer[1 << 20];

__attribute__((noinline)) static void fill(int fd)
{
	if (pread(fd, buffer, sizeof buffer, 0) < 0)
		abort();
}

static unsigned long long ready(void)
{
	unsigned long long ran, ns;
	FILE *f = fopen("/proc/thread-self/schedstat", "r");

	if (!f || fscanf(f, "%llu %llu", &ran, &ns) != 2)
		abort();
	fclose(f);
	return ns;
}

int main(int argc, char **argv)
{
	int fd = open(argv[argc - 1], O_RDONLY);
	unsigned long long before = ready();

	while (ready() < before + 400000000)
		for (int i = 0; i < 500; i++)
			fill(fd);
	printf("%llu\n", ready() - before);
}
"""


def test_ready_inside_calls(context):
    """Who is taken off the processor inside a system call waits for a processor, not for what was called for."""
    with open(context.path("reader.c"), "w") as f:
        f.write(READER)
    context.make("gcc", "-O1", "-o", context.path("reader"), context.path("reader.c"))
    with open(context.path("blob"), "wb") as f:
        f.write(os.urandom(1 << 20))
    busy = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(2 * len(os.sched_getaffinity(0)))]
    try:
        done = context.run(context.dwell, "instrument", "-q", "-o", "run.dwell", "--", context.path("reader"),
                           context.path("blob"))
    finally:
        for process in busy:
            process.kill()
            process.wait()
    expect((done.returncode, done.stderr), (0, ""), "status and errors")
    truth, got = int(done.stdout) / 1e6, waits_of(context)
    # A host that takes the processor away makes it longer, which the kernel does not count.
    require(0.85 * truth - SLACK_MS < got["ready"] < 1.3 * truth + SLACK_MS, f"{got['ready']:.1f} ms of {truth:.1f}")
    others = sum(ms for kind, ms in got.items() if kind != "ready")
    require(others < 0.1 * truth + SLACK_MS, f"of other kinds: {others:.1f} ms of {got}")
