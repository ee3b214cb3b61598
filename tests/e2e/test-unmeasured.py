"""Threads that are not measured: few, for a reason that is told, and they cost next to nothing."""
from harness import cases, expect, require
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
