"""dwell instrument: what still waits when the recording or its process ends has waited until then."""
import glob
import os
import signal
import time

from harness import cases, children, expect, paths, require

MS = 1000
WAITS = {"wait_condition": "blocking_calls", "wait_read": "io_calls", "wait_accept": "blocking_calls",
         "wait_epoll": "blocking_calls", "wait_futex": "blocking_calls", "wait_sleep": "blocking_calls"}
PART = 0.98  # of a call's time


def by_name(rows):
    return {row["function_name"]: row for row in rows}


def slowest(context):
    found = {}
    for row in context.report("slowest")["rows"]:
        name = row["function_name"]
        if name not in found or found[name]["elapsed_inclusive_time"] < row["elapsed_inclusive_time"]:
            found[name] = row
    return found


def check_sums(context, facts):
    threads = context.report("threads")["rows"]
    expect(len(threads), 8, "threads")
    lives = sum(row["elapsed_exclusive_time"] + row["time_exclusive_probe_overhead"]
                for row in threads)
    require(abs(lives - facts["threads_lifetime_ns"]) < 1e-4 * lives,
            f"all times are {lives}, threads lived {facts['threads_lifetime_ns']}")
    for row in threads:
        known = row["application_exclusive_time"] + row["exclusive_blocked_time"]
        require(known <= row["elapsed_exclusive_time"] + 1000, f"more than there was: {row}")


def check(context, least_ns):
    report = context.report("functions")
    rows, slow = by_name(report["rows"]), slowest(context)
    for name, counted in WAITS.items():
        row = rows[name]
        all_ns, blocked_ns = row["elapsed_inclusive_time"], row["inclusive_blocked_time"]
        expect(row["number_of_calls"], 1, f"calls of {name}")
        require(all_ns >= least_ns, f"{name} took {all_ns} ns of {least_ns}")
        require(all_ns >= blocked_ns >= PART * all_ns, f"{name}: {blocked_ns} of {all_ns} ns blocked")
        if context.paths is not None:  # then no single calls are known
            continue
        # The slowest calls are less what probes cost in loops, extremes less what they cost here.
        near = 1000 + row["time_inclusive_probe_overhead"] / 2
        longest = row["max_elapsed_inclusive_time"], slow[name]["elapsed_inclusive_time"]
        require(abs(longest[0] - longest[1]) < near, f"the longest call of {name}: {longest}, within {near}")
        require(abs(slow[name]["elapsed_inclusive_time"] - all_ns) < 100_000,
                f"{name}: {slow[name]['elapsed_inclusive_time']} of {all_ns} ns in its slowest call")
        require(slow[name]["inclusive_blocked_time"] >= PART * all_ns, f"blocked in the slowest {name}")
        expect(slow[name][counted], 1, f"{counted} of {name}")
    require(rows["run"]["elapsed_inclusive_time"] >= least_ns, "callers of what waits")
    if context.paths is None:
        require(slow["run"]["elapsed_inclusive_time"] >= least_ns, "slow callers of what waits")
    check_sums(context, report["session"])


@cases("exit", "exit_group", "kill")
@paths(0)
def test_process_ends(context, how):
    status = 128 + signal.SIGKILL if how == "kill" else 0
    context.instrument("--", context.target("parked"), str(MS), how, status=status)
    check(context, 0.7 * MS * 1e6)
    computed = by_name(context.report("functions")["rows"])["compute"]
    if how != "kill":  # whose clock nobody reads
        require(computed["application_inclusive_time"] > 0, "what computes until the end")


@paths(0)
def test_wait_shorter_than_a_slice(context):
    context.instrument("--", context.target("parked"), str(MS // 2), "kill", "later",
                       status=128 + signal.SIGKILL)
    check(context, 0.15 * MS * 1e6)


@paths(0)
def test_every_function_of_the_c_library(context):
    context.instrument("--module", "*", "--", context.target("parked"), str(MS), "kill",
                       status=128 + signal.SIGKILL)
    check(context, 0.7 * MS * 1e6)


def start(context, *options):
    return context.start(context.dwell, "instrument", "-q", *context.path_options(), *options,
                         "-o", "run.dwell", "--",
                         context.target("parked"), "1000000", "stay")


def is_parked(done):
    """Whether all threads of the target that wait do so."""
    for pid in children(done.pid):
        states = []
        for path in glob.glob(f"/proc/{pid}/task/*/stat"):
            with open(path) as f:
                states.append(f.read().rpartition(")")[2].split()[0])
        return states.count("S") > len(WAITS)
    return False


def end(context, done):
    """The session is there; the command goes on."""
    try:
        context.wait_for(lambda: os.path.exists(context.path("run.dwell")), "the session")
    finally:
        os.killpg(done.pid, signal.SIGKILL)
        done.communicate()


@paths(0)
def test_duration_ends(context):
    end(context, start(context, "--duration", "1"))
    check(context, 0.3e9)


@paths(0)
def test_interrupted_while_it_lives(context):
    done = start(context)
    context.wait_for(lambda: os.path.exists(context.path("run.dwell.partial")), "the recording")
    context.wait_for(lambda: is_parked(done), "all threads, to wait")
    time.sleep(1)
    done.send_signal(signal.SIGINT)
    time.sleep(0.1)
    done.send_signal(signal.SIGINT)
    end(context, done)
    check(context, 0.3e9)
