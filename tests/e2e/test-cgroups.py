"""Programs whose group of processes may take little memory: agents reserve gigabytes of addresses, and use little."""
import contextlib
import os

from harness import cases, expect, memory_group, needs, require, rows_of

LIMIT_BYTES = 300 << 20
THREADS, LEAVES, CALLERS = 8, 100, 200  # of tests/targets/many-edges


@contextlib.contextmanager
def group(limit_bytes):
    """A group of processes that may take so much memory, as what puts the command behind it there."""
    folder = memory_group()
    try:
        name = "memory.max" if os.path.exists(folder + "/memory.max") else "memory.limit_in_bytes"
        with open(f"{folder}/{name}", "w") as f:
            f.write(str(limit_bytes))
        yield folder, ("sh", "-c", f'echo $$ >{folder}/cgroup.procs && exec "$@"', "sh")
    finally:
        os.rmdir(folder)


@needs("memory groups")
@cases("time", "count", "in-process")
def test_little_memory(context, method):
    # Samples take some time.
    program = context.target("many-edges"), str(THREADS), "100" if method == "in-process" else "1"
    dwell = (("sample", "--sampler", "in-process") if method == "in-process" else
             ("instrument", "--all-functions") + (() if method == "time" else ("--probes", "count")))
    out = ("-o", "calls.csv" if method == "count" else "run.dwell")
    plain = context.make(*program)
    with group(LIMIT_BYTES) as (folder, inside):
        taker = context.run(*inside, "perl", "-e", f"$x = 'x' x {2 * LIMIT_BYTES}; print 'has it'")
        require(taker.returncode and not taker.stdout, f"the limit holds nobody: {taker.stdout} {taker.stderr}")
        done = context.run(context.dwell, dwell[0], "-q", *dwell[1:], *out, "--", *inside, *program)
        expect((done.returncode, done.stdout), (0, plain), f"status and output\n{done.stderr}")
    if method == "time":
        rows = context.report("functions")
        for n in range(100, 100 + LEAVES):
            expect(sum(row["number_of_calls"] for row in rows_of(rows, f"leaf_{n}")), THREADS * CALLERS,
                   f"calls of leaf_{n}")
        expect(rows["session"]["threads_dropped"], 0, "threads without memory")
    elif method == "count":
        with open(context.path("calls.csv")) as f:
            require(f"{THREADS * CALLERS},leaf_150," in f.read(), "calls of leaf_150")
    else:
        require(context.report("functions")["session"]["samples_kept"] > 0, "samples")
