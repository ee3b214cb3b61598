"""dwell doctor: what it says of this machine is what is tried here."""
from harness import expect, require


def doctor(context, *before, status=0):
    done = context.run(*before, context.dwell, "doctor")
    expect((done.returncode, done.stderr), (status, ""), "status and errors of dwell doctor")
    return done.stdout


def test_lists_system_calls(context):
    words = context.run(context.dwell, "doctor").stdout.split()
    for name in "read", "write", "futex", "clock_nanosleep", "sched_yield":
        require(name in words, f"{name} in {words}")
    for name in "getpid", "exit_group", "execve":
        require(name not in words, f"{name} in {words}")


def test_names_what_is_refused(context):
    text = doctor(context, context.target("without-perf"), status=1)
    require("perf_event_open is blocked" in text, text)
    require("used: the sequence" in text or "used: none" in text, text)


def test_sources_that_work(context):
    done = context.run(context.dwell, "doctor")
    works = "page of a perf event: works" in done.stdout
    require(works == ("used: the page" in done.stdout), done.stdout)
    without = context.run(context.dwell, "doctor",
                          env={**context.env, "GLIBC_TUNABLES": "glibc.pthread.rseq=0"})
    require("restartable sequence: the C library has registered none" in without.stdout,
            without.stdout)


def test_wrong_usage(context):
    done = context.run(context.dwell, "doctor", "x")
    expect((done.returncode, done.stdout), (2, ""), "status and output")
