"""Where many threads are busy the recorder's priority is raised; nobody else's is changed."""
import contextlib
import os
import subprocess

from harness import DEFAULT_SECONDS, File, cases, expect, needs, require

# What dwell does for each command, then its target's own priority.
LOOK = ("sh", "-c", "ps -o ni= -p $PPID; nice; nice -n 3 nice")
OWN = os.nice(0)  # of this test, which somebody may have lowered
FILE = File(is_alone=True)  # hundreds of threads take every processor
CROWD = 14 * os.cpu_count()  # threads that want the processors


@contextlib.contextmanager
def crowd(context, n):
    """A process of so many busy threads."""
    # Of one session with the recorder: the kernel divides processors between sessions first.
    process = context.start(context.target("attach"), "shares", str(n), stdin=subprocess.PIPE,
                            start_new_session=False, process_group=0)
    context.wait_for(lambda: len(os.listdir(f"/proc/{process.pid}/task")) > n, "its threads")
    try:
        yield process
    finally:
        process.stdin.close()
        process.wait(DEFAULT_SECONDS)


def look(context, *before, method):
    done = context.run(*before, context.dwell, method, "-q", "-o", "run.dwell", "--", *LOOK)
    expect(done.returncode, 0, f"status: {done.stderr}")
    return [int(word) for word in done.stdout.split()]


@cases("sample", "instrument")
def test_target_keeps_its_own(context, method):
    with crowd(context, CROWD):
        ours, *target = look(context, method=method)
    expect(target, [OWN, OWN + 3], "priority of the target and its child")
    expect(ours, -20 if os.geteuid() == 0 else OWN, "of the recorder")


def test_chosen_one_stays(context):
    with crowd(context, CROWD):
        expect(look(context, "nice", "-n", "5", method="sample"), [OWN + 5, OWN + 5, OWN + 8], "priorities")


@needs("root")
def test_hundreds_of_busy_threads(context):
    """They take every processor, but not the recorder's part."""
    with crowd(context, 100 * os.cpu_count()) as process:
        done = context.run(context.dwell, "sample", "-q", "-o", "run.dwell", "--duration", "2",
                           "-p", str(process.pid))
    expect((done.returncode, done.stderr), (0, ""), "status and errors")
    facts = context.report("summary")["session"]
    kept, lost = facts["samples_kept"], facts["samples_lost"]
    require(kept > 100 and lost < kept, f"{kept} samples kept, {lost} lost")
