"""dwell instrument bears what comes: targets and collectors that are killed, crowds of threads, and
programs that run for long. DWELL_LONG=1 takes more of each."""
import glob
import json
import mmap
import os
import random
import signal
import statistics
import struct
import time

from harness import DEFAULT_SECONDS, IS_LONG, cases, children, expect, require, stolen_ns

KILLS = 50 if IS_LONG else 10
EARLY_KILLS = 1000 if IS_LONG else 150  # of 30 to 100 one hits a slow path
GROWTH_SECONDS = 1800 if IS_LONG else 12
PAGE = 4096
ROUNDS, STOP, STEPS = 0, 1, 2
THREADS = 3  # of tests/targets/endure.c
STATUS = 3
PART_OF_LIFE, PART_OF_CPU = 0.005, 0.01
MISSED = 5  # of 200 threads: what a host takes shows in steps of 10 ms only, and falls into some
ENDS_NS = 100_000  # of a thread, which no clock of both sides has


class Page:
    """What a target publishes."""

    def __init__(self, context):
        self.path = context.path("page")
        with open(self.path, "wb") as f:
            f.truncate(PAGE)
        with open(self.path, "r+b") as f:
            self.map = mmap.mmap(f.fileno(), PAGE)

    def word(self, i):
        return struct.unpack_from("<Q", self.map, 8 * i)[0]

    def set(self, i, value):
        struct.pack_into("<Q", self.map, 8 * i, value)

    def steps(self):
        return sum(self.word(STEPS + 8 * i) for i in range(THREADS))


def start(context, *words):
    return context.start(context.dwell, "instrument", "-q", "-o", "run.dwell", "--",
                         context.target("endure"), *words)


def child_of(context, process, name="endure"):
    """The id of the command that @process has started."""
    def find():
        for pid in children(process.pid):
            with open(f"/proc/{pid}/comm") as comm:
                if comm.read().strip() == name:
                    return pid
        return 0
    context.wait_for(find, "the command")
    return find()


def report(context, session, view):
    """A report that may be of an unfinished session. None: it has nothing yet."""
    done = context.run(context.dwell, "report", session, view, "--format", "json")
    return json.loads(done.stdout) if not done.returncode else None


def calls(got, name):
    return sum(row["number_of_calls"] for row in got["rows"] if row["function_name"] == name)


def require_sums(facts, part=PART_OF_LIFE):
    """The threads' lives are told in full."""
    life = facts["threads_lifetime_ns"]
    got = facts["elapsed_exclusive_time"] + facts["time_exclusive_probe_overhead"]
    require(abs(got - life) <= part * life + ENDS_NS, f"{got} of {life} ns: {facts}")
    require(facts["application_inclusive_time"] <= facts["elapsed_inclusive_time"], str(facts))


def test_killed_targets(context):
    """What they did is there, up to their last call."""
    seed = random.randrange(1 << 30)
    rng = random.Random(seed)
    for i in range(KILLS):
        page, delay = Page(context), rng.choice((0.01, 0.1, 1.5)) * rng.random()
        process = start(context, "count", page.path, str(1 << 40))
        context.wait_for(page.steps, "the first step")
        time.sleep(delay)
        os.kill(child_of(context, process), signal.SIGKILL)
        out, errors = process.communicate(timeout=DEFAULT_SECONDS)
        expect((process.returncode, out, errors), (128 + signal.SIGKILL, "", ""), "status")
        steps = page.steps()
        got = context.report("functions")
        what = f"run {i} of seed {seed}, killed after {delay:.3f} s"
        require(steps <= calls(got, "step") <= steps + THREADS,
                f"{what}: {calls(got, 'step')} calls of {steps}")
        require(calls(got, "leaf") >= steps, f"{what}: calls of leaf")
        require_sums(got["session"])
        tree = context.report("calltree", "--trim", "0")
        expect(calls(tree, "step"), calls(got, "step"), f"{what}: calls in the tree")


def test_targets_killed_as_they_begin(context):
    """Where a slow path is cut short, what was charged in it is in the thread's life."""
    page = Page(context)
    for _ in range(EARLY_KILLS):
        for i in range(THREADS):
            page.set(STEPS + 8 * i, 0)
        process = start(context, "count", page.path, str(1 << 40))
        context.wait_for(page.steps, "the first step")
        time.sleep(random.choice((0.001, 0.01)) * random.random())
        os.kill(child_of(context, process), signal.SIGKILL)
        process.communicate(timeout=DEFAULT_SECONDS)
        got = context.report("functions")
        require(calls(got, "step") >= page.steps() > 0, f"{calls(got, 'step')} calls")
        require_sums(got["session"])


def test_running_call_of_a_killed_target(context):
    """It has its time, and that it was on the processor, up to the last slice."""
    page = Page(context)
    process = start(context, "spin", page.path)
    context.wait_for(page.steps, "the step")
    pid = child_of(context, process)

    def spun():
        got = report(context, "run.dwell.partial", "functions")
        return got and any(row["function_name"] == "spin" and row["elapsed_exclusive_time"] > 2e9
                           for row in got["rows"])
    context.wait_for(spun, "slices")
    with open(f"/proc/{pid}/schedstat") as f:
        ran = int(f.read().split()[0])
    os.kill(pid, signal.SIGKILL)
    process.communicate(timeout=DEFAULT_SECONDS)
    row, = (row for row in context.report("functions")["rows"] if row["function_name"] == "spin")
    elapsed, program = row["elapsed_exclusive_time"], row["application_exclusive_time"]
    # The part before the last slice: a second and a bit of it may be missing.
    least = min(ran, elapsed) - 3e9 if ran < 6e9 else ran * 0.5
    require(0 < program <= elapsed, f"{program} of {elapsed} ns")
    require(program >= max(least, 0.1 * ran), f"{program} of {ran} ns on the processor")


def folders_of(pid):
    """The sessions' folders in which the collector has something open."""
    links = (os.readlink(name) for name in glob.glob(f"/proc/{pid}/fd/*") if os.path.islink(name))
    return {"/".join(link.split("/")[:4]) for link in links if link.startswith("/dev/shm/dwell-")}


@cases(*range(3 if IS_LONG else 1))
def test_killed_collector(context, i):
    """The target ends as if nothing had happened; what was written is finished; nothing is left."""
    page, steps = Page(context), 30000000
    command = f"{context.target('endure')} count {page.path} {steps}; echo status $?"
    process = context.start(context.dwell, "instrument", "-q", "-o", "run.dwell", "--", "sh", "-c",
                            command)
    context.wait_for(lambda: (got := report(context, "run.dwell.partial", "functions")) and
                     calls(got, "step"), "a slice with calls")
    own = folders_of(process.pid)
    require(own, "no folder")
    process.kill()
    out = process.stdout.read()  # of the command, to its end
    process.communicate()
    expect(out, f"{steps * THREADS}\nstatus {STATUS}\n", "output")
    got = report(context, "run.dwell.partial", "functions")
    require(0 < calls(got, "step") <= steps * THREADS, "calls in the unfinished session")
    done = context.run(context.dwell, "recover", "run.dwell.partial")
    expect(done.returncode, 0, f"status of recover\n{done.stderr}")
    expect(calls(context.report("functions"), "step"), calls(got, "step"), "recovered calls")
    require(not os.path.exists(context.path("run.dwell.partial")), "a .partial is left")
    expect([path for path in own if os.path.exists(path)], [], "folders left in /dev/shm")


def resident_bytes(pid):
    with open(f"/proc/{pid}/smaps_rollup") as f:
        fields = dict(line.split(":", 1) for line in f if ":" in line)
    return sum(int(fields[name].split()[0]) for name in ("Pss_Anon", "Pss_Shmem")) << 10


def region_bytes(pid):
    """Of the files that the process has mapped from a session's folder."""
    with open(f"/proc/{pid}/maps") as f:
        paths = {line.split()[5] for line in f if "/dwell-" in line and len(line.split()) == 6}
    return sum(os.stat(path).st_blocks * 512 for path in paths if os.path.exists(path))


def growth(values):
    """From the middle of the run to its end."""
    third = len(values) // 3
    return statistics.median(values[-third:]) - statistics.median(values[third:2 * third])


def test_nothing_grows(context):
    """But for what the session says of each process and each thread, once."""
    page = Page(context)
    process = start(context, "churn", page.path, context.target("calls-library.so"))
    context.wait_for(lambda: page.word(ROUNDS) > 5, "rounds")
    pid = child_of(context, process)
    seen, rounds, end = [], [], time.monotonic() + GROWTH_SECONDS
    while time.monotonic() < end:
        time.sleep(GROWTH_SECONDS / 60)
        seen.append((resident_bytes(process.pid), resident_bytes(pid), region_bytes(pid)))
        rounds.append(page.word(ROUNDS))
    page.set(STOP, 1)
    out, errors = process.communicate(timeout=DEFAULT_SECONDS)
    expect((process.returncode, errors), (STATUS, ""), "status and errors")
    got = context.report("functions")
    expect(calls(got, "step"), int(out) * 9, "steps of threads and children")
    require_sums(got["session"], 0.02)
    collector, target, region = (growth(values) for values in zip(*seen))
    passed = growth(rounds)
    said = f"in {passed:.0f} rounds: collector {collector}, target {target}, region {region} bytes"
    print(f"# {said}")
    # The first 8192 threads keep lines of their own in the region, for which the collector keeps 48
    # bytes a line and 72 more if it is no node; after that a round costs the rows that the session
    # has of its process, some 450 bytes.
    # Lists grow by doubling, which few rounds on a slow machine do not hide.
    require(collector <= passed * (1000 if IS_LONG else 45000) + (6 << 20), said)
    require(region <= passed * (1000 if IS_LONG else 15000) + (1 << 20), said)
    require(target - region <= 1 << 20, said)


def test_crowd(context):
    """Each of 200 threads has its whole life, and its time on the processor."""
    milliseconds, stolen = 100 if IS_LONG else 25, stolen_ns()
    done = context.instrument("--", context.target("endure"), "crowd", "200", str(milliseconds),
                              status=STATUS)
    lives = {tid: clocks for tid, *clocks in (map(int, line.split())
                                              for line in done.stdout.splitlines())}
    expect(len(lives), 200, "threads that say something")
    rows = {row["id"]: row for row in context.report("threads")["rows"]}
    require_sums(context.report("threads")["session"])
    stolen, lives_wrong, times_wrong = stolen_ns() - stolen, [], []
    for tid, (wall, cpu, whole) in lives.items():
        row = rows[tid]
        life = row["end_time"] - row["begin_time"]
        overhead = row["time_exclusive_probe_overhead"]
        elapsed = row["elapsed_exclusive_time"] + overhead
        ran = elapsed - row["exclusive_blocked_time"]
        if abs(elapsed - life) > PART_OF_LIFE * life + ENDS_NS or life < wall:
            lives_wrong.append(f"life of {tid}: {elapsed} of {life}, itself {wall}")
        allowed = PART_OF_CPU * cpu + 5 * ENDS_NS + stolen
        if not cpu - allowed < ran < whole + allowed:
            times_wrong.append(f"processor of {tid}: {ran}, itself {cpu}, {whole} with its beginning")
    expect(lives_wrong, [], "lives that are wrong")
    require(len(times_wrong) <= MISSED, f"{len(times_wrong)} wrong: {times_wrong[:5]}")


def test_threads_that_come_and_go(context):
    n = 8000 if IS_LONG else 1000
    context.instrument("--", context.target("endure"), "relay", str(n), status=STATUS)
    got = context.report("functions")
    expect((calls(got, "step"), calls(got, "one_step")), (n, n), "calls")
    expect(len(context.report("threads")["rows"]), n + 1, "threads")
    require_sums(got["session"])
