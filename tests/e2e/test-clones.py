"""Programs that run from their clones: what is counted, what unwinders see, what is refused."""
import csv
import os

from harness import cases, expect, needs, require

STEP_KINDS = ("libdwell-probe.so", "image", "step-unwind")  # where stops must have been made


def instrument(context, *words, **options):
    """`dwell instrument WORDS`, which must end with 0 and print no error."""
    done = context.run(context.dwell, "instrument", *words, **options)
    expect(done.returncode, 0, f"status of dwell instrument {' '.join(words)}\n{done.stderr}")
    return done


def calls_of(context, function, *words):
    """How often the function of the program was called."""
    instrument(context, "-q", "--probes=count", "--all-functions", "-o", "calls.csv", "--", *words)
    with open(context.path("calls.csv"), newline="") as file:
        return sum(int(row["calls"]) for row in csv.DictReader(file) if row["function"] == function)


@cases((0, 0), (0, 8), (20, 0), (10, 4), (2, 200))
def test_every_call_counts(context, processes_threads):
    """In the process, its threads, its forks' children and their threads."""
    forks, threads = processes_threads
    times = 1000
    found = calls_of(context, "counted", context.target("clones"), "count", str(forks), str(threads),
                     str(times))
    expect(found, times * (1 + threads + 2 * forks), "calls of counted()")


@cases("plugin-a.so", "plugin-b.so")
def test_opened_libraries(context, name):
    """Opened and closed again and again, a library is one module, and nothing is lost."""
    program = context.target("hostile/libraries-gcc-O2")
    done = instrument(context, "--probes=count", "--all-functions", "--module", "*plugin*", "--",
                      program, "open")
    line, = [line for line in done.stderr.splitlines() if name in line]
    require("ran from clones in 1 process" in line and "653 calls" in line, line)


def test_libraries_opened_by_code_that_is_left_alone(context):
    program = context.target("hostile/libraries-gcc-O2")
    done = instrument(context, "--probes=count", "--all-functions", "--module", "*plugin*",
                      "--exclude", "run_*", "--", program, "open")
    require("plugin-a.so: 6 of 6 functions ran" in done.stderr, done.stderr)


def stops(context, path):
    """The stops of step-unwind as (end, frames), frames as (pc, cfa, place)."""
    tool = os.path.join(context.targets, "..", "tools", "unwind-dump")
    done = context.run(tool, path)
    require(done.returncode == 0, f"unwind-dump: {done.returncode} {done.stderr}")
    found = []
    for line in done.stdout.splitlines():
        words = line.split()
        if words[0] == "stop":
            found.append((words[1], []))
        else:
            found[-1][1].append((words[0], words[1], words[2] if len(words) > 2 else ""))
    return found


def kind(place):
    name = os.path.basename(place).split("+")[0]
    return name if name in STEP_KINDS or ".so" in name else "image"


def test_every_instruction_unwinds(context):
    """Clones, trampolines, the agent and its ways out: from each instruction to the program's start."""
    instrument(context, "-q", "--probes=count", "--all-functions", "--", context.target("step-unwind"),
               "stops")
    found = stops(context, "stops")
    outermost = [frame[:2] for frame in found[0][1][-4:]]
    kinds = {name: 0 for name in STEP_KINDS}
    for end, frames in found:
        where = kind(frames[0][2])
        kinds[where] = kinds.get(where, 0) + 1
        # Libraries' own start and end code has no unwind table.
        if where not in STEP_KINDS:
            continue
        require(end == "complete", f"{end} at {frames}")
        # main()'s caller and its callers stay; main() itself goes on.
        expect([frame[:2] for frame in frames[-3:]], outermost[1:], f"the outermost of {frames}")
        expect(frames[-4][1], outermost[0][1], f"main() in {frames}")
    require(all(kinds[name] for name in STEP_KINDS), f"stops by place: {kinds}")


def test_unchangeable_code_stays(context):
    """Where the kernel lets no code be changed the program runs as it is, and that is said."""
    done = instrument(context, "--probes=count", "--", context.target("clones"), "refuse")
    if "no MDWE" in done.stdout:
        context.skip("this kernel has no PR_SET_MDWE")
    require("refused memory" in done.stderr, done.stderr)


@needs("namespaces")
def test_images_that_may_not_be_executed(context):
    """A cache on a noexec mount: code is copied into memory."""
    cache = context.path("noexec")
    os.mkdir(cache)
    script = f"mount -t tmpfs -o noexec none {cache} && exec \"$@\""
    done = context.run("unshare", "-m", "sh", "-c", script, "sh", context.dwell, "instrument",
                       "--probes=count", "--", context.target("clones"), "count", "1", "1", "10",
                       env={**context.env, "XDG_CACHE_HOME": cache})
    expect(done.returncode, 0, f"status\n{done.stderr}")
    require("ran from clones" in done.stderr, done.stderr)
