"""What agents need of the address space of a program is never in its way: not in holes that it has made
and comes back to, nor under limits that it sets itself."""
import os
import random
import re

from harness import cases, expect, require

ENGINES = {
    "time": ("instrument",),
    "count": ("instrument", "--probes=count"),
    "lines": ("instrument", "--lines"),
    "libraries": ("instrument", "--module", "*"),
    "inside": ("sample", "--sampler=in-process"),
}


def record(context, engine, *words, before=()):
    """The program's output under @engine, which must have measured it."""
    command, *options = ENGINES[engine]
    program = context.target("agent-memory")
    done = context.run(*before, context.dwell, command, "-q", "-o", "run.dwell", *options, "--", program, *words)
    expect(done.returncode, 0, f"status of {engine}\n{done.stderr}")
    expect_measured(context, engine)
    return done.stdout, done.stderr


def expect_measured(context, engine):
    if engine == "count":
        with open(context.path("run.dwell")) as f:
            rows = f.readlines()[1:]
    else:
        rows = context.report("functions")["rows"]
    require(rows, f"{engine} measured nothing")


@cases(*ENGINES)
def test_holes_stay_free(context, engine):
    """A program that unmaps pieces of its memory finds their addresses free when it comes back."""
    expect(record(context, engine, "holes"), ("0 holes taken\n", ""), "output and errors")


# MB of the hole, MB that the program maps before it; beyond 2 GB of both the agent has no room that is surely its own.
HOLES = {"near": ("800", "0"), "far": ("800", "3072"), "beyond": ("3072", "3072")}


@cases(*HOLES)
def test_images_lie_in_no_hole(context, where):
    """Libraries that a program opens while it has a hole work when it has filled that: they are measured where there
    is room near them that it cannot know to be free, and else run as they are, which the session says."""
    libraries = [context.target(f"libaddress-space-{i}.so") for i in range(3)]
    plain = context.run(context.target("agent-memory"), "library", *HOLES[where], *libraries)
    require("hole free" in plain.stdout and "elsewhere" not in plain.stdout, f"plain run: {plain.stdout}{plain.stderr}")
    expect(record(context, "libraries", "library", *HOLES[where], *libraries), (plain.stdout, ""), "output and errors")
    inner = {row["module_name"]: row["number_of_calls"] for row in context.report("functions")["rows"]
             if row["function_name"] == "part"}
    shown = context.run(context.dwell, "report", "run.dwell", "summary").stdout
    if where == "beyond":
        expect(inner, {}, "calls inside the libraries")
        require("5 modules chosen, but not instrumented" in shown, shown)
    else:
        expect(inner, {"libaddress-space-0.so": 45, "libaddress-space-1.so": 30, "libaddress-space-2.so": 45},
               f"calls inside the libraries\n{shown}")


@cases("time", "libraries", "inside")
def test_children_begin_at_the_top_of_a_stack(context, engine):
    """The child of a posix_spawn() finds nothing above its stack that may be read, and starts its program."""
    expect(record(context, engine, "spawn")[0], "begin\n" + 4 * "error 0 status 0\n", "output")


@cases(*ENGINES)
def test_nothing_is_mapped_anew(context, engine):
    """After the start agents map in what they reserved before it only."""
    expect(record(context, engine, "maps"), ("begin\n0 ranges mapped anew\n", ""), "output and errors")


@cases(*ENGINES)
def test_address_space_is_given_back(context, engine):
    """Threads and memory have the room that the program's own limit leaves in a plain run."""
    plain = context.run(context.target("agent-memory"), "space", "512")
    expect(record(context, engine, "space", "512"), (plain.stdout, ""), "output and errors")
    expect(plain.stdout, f"all taken\nlimit {512 << 20}\n", "plain output")


def test_images_lie_where_they_were_made_for(context):
    """A process has to itself only those pages of clone images whose trampolines find the thread: the C library's image,
    too, lies at the distance for which its code was written."""
    done = context.run(context.dwell, "instrument", "-q", "-o", "run.dwell", "--", "cat", "/proc/self/smaps")
    expect(done.returncode, 0, f"status\n{done.stderr}")
    expect_measured(context, "time")
    own, image = {}, None
    for line in done.stdout.splitlines():
        if re.match(r"[0-9a-f]+-[0-9a-f]+ ", line):
            image = line.split()[-1] if line.endswith(".clone") else None
        elif image and line.startswith("Anonymous:"):
            own[image] = own.get(image, 0) + int(line.split()[1])
    expect(len(own), 2, f"images, of cat and of the C library: {own}")
    require(all(0 < kb <= 16 for kb in own.values()), f"KB of images that are the process's own: {own}")


@cases("time", "libraries", "inside")
def test_data_stay_small(context, engine):
    """Under a limit of data agents leave it to the program, and count what they then lack."""
    expect(record(context, engine, "data", "32"), ("all taken\n", ""), "output and errors")
    if engine == "time":
        summary = context.run(context.dwell, "report", "run.dwell", "summary").stdout
        require(re.search(r"Paths of [\d,]+ calls are estimates", summary), summary)


def test_memory_can_be_locked(context):
    """mlockall() by a user with a limit locks what the program has, as in a plain run."""
    user = context.ordinary_user()
    context.env["XDG_CACHE_HOME"] = context.path("cache")
    plain = context.run(*user, context.target("agent-memory"), "locked", "8")
    if plain.stdout != "locked\nall taken\n":
        context.skip(f"plain run: {plain.stdout}{plain.stderr}")
    expect(record(context, "time", "locked", "8", before=user), (plain.stdout, ""), "output and errors")


# Sequences of tests/targets/address-space.c; DWELL_LONG=1 takes a thousand.
SEQUENCES, A_RUN = (1000, 20) if os.environ.get("DWELL_LONG") else (3, 3)
DORMANT = {"dormant": ("memory",)}  # .NET's agent, preloaded into a program that has no .NET


def run_sequences(context, seed, before=(), env=None):
    libraries = [context.target(f"libaddress-space-{i}.so") for i in range(3)]
    return context.run(*before, context.target("address-space"), str(seed), str(A_RUN), *libraries,
                       env={**context.env, **(env or {})}, seconds=900)


def first_difference(plain, done):
    """The first step of a thread that went otherwise."""
    def steps(run, thread):
        return [line for line in run.stderr.splitlines() if line.startswith(thread)]
    for thread in "01234567":
        for a, b in zip(steps(plain, thread), steps(done, thread)):
            if a != b:
                return f"{a!r} became {b!r}"
    return "other steps in another run"


@cases(*ENGINES, "dormant")
def test_random_changes(context, engine):
    """Eight threads that map, unmap, move, fork, execute and open libraries at random see results, errors,
    contents and rights of a plain run."""
    command, *options = {**ENGINES, **DORMANT}[engine]
    begin = int(os.environ.get("DWELL_SEED", 0)) or random.randrange(1, 1 << 40)
    for seed in range(begin, begin + SEQUENCES, A_RUN):
        recorder = (context.dwell, command, "-q", "-o", "run.dwell", *options, "--")
        plain, done = run_sequences(context, seed), run_sequences(context, seed, recorder)
        what = f"{engine}, DWELL_SEED={seed}"
        expect((plain.returncode, plain.stderr), (0, ""), f"plain run, {what}")
        if (done.returncode, done.stdout, done.stderr) != (0, plain.stdout, ""):
            log = {"ADDRESS_SPACE_LOG": "1"}
            difference = first_difference(run_sequences(context, seed, env=log),
                                          run_sequences(context, seed, recorder, env=log))
            raise AssertionError(f"{what}: status {done.returncode}, {done.stderr!r}, {difference}")
        if engine != "dormant":
            expect_measured(context, engine)
