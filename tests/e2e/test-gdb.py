"""gdb of an instrumented program: clones' frames have names, and it leaves them by their unwind tables.

The target (tests/targets/debugged.c) stands still in chains of calls that are known, one of them through a
library that it opens and that has a list for debuggers itself; gdb attaches, shows all stacks and goes.
"""
import os
import re
import shutil
import subprocess

from harness import DEFAULT_SECONDS, cases, children, expect, require

FIRST = ["wait_for_line", "called_back", "library_inner", "library_outer", "through_library", "main"]
LATER = ["wait_for_line", "main"]
SECOND = ["second_inner", "second_outer", "second"]
FRAME = re.compile(r"^#\d+ +(?:0x[0-9a-f]+ in )?(\S+) \(", re.M)
OUTPUT = "waiting\n18\nwaiting\n1\n9\n"


def stacks_by_gdb(context, pid, *commands):
    """The names of frames, by thread, and all that gdb says."""
    words = [word for command in (*commands, "thread apply all backtrace") for word in ("-ex", command)]
    done = context.run("gdb", "-q", "-nx", "-batch", "-p", str(pid), *words)
    require(done.returncode == 0, done.stderr)
    return [FRAME.findall(part) for part in done.stdout.split("\nThread ")[1:]], done.stdout


def functions_of(program):
    """The names of the functions of @program by the names that nameless ones get."""
    rows = [line.split() for line in subprocess.check_output(["nm", program], text=True).splitlines()]
    return {"fn_" + row[0].lstrip("0"): row[2] for row in rows if len(row) == 3 and row[1] in "tT"}


def expect_chain(stacks, chain, all_said):
    """One of the stacks ends in @chain, and above that are none without a name."""
    for stack in stacks:
        at = next((i for i in range(len(stack)) if stack[i:i + len(chain)] == chain), None)
        if at is not None:
            return expect("??" in stack[:at], False, f"a frame without a name in {stack}")
    raise AssertionError(f"no stack has {chain}:\n{all_said}")


def start(context, program, *options):
    """Start it under dwell, its input a pipe with a name. dwell, and the number of the program when it waits."""
    if not os.path.exists(context.path("input")):
        os.mkfifo(context.path("input"))
    with open(context.path("input"), "r+b", buffering=0) as stdin:
        dwell = context.start(context.dwell, "instrument", "-q", "--all-functions", "-o", "run.dwell", *options, "--",
                              program, context.target("libdebugged.so"), stdin=stdin, stdout=subprocess.PIPE)
    expect(dwell.stdout.readline(), "waiting\n", "the program's first line")
    pid, = children(dwell.pid)
    return dwell, pid


def go_on(context, lines=1):
    with open(context.path("input"), "w") as f:
        f.write(lines * "\n")


def finish(dwell, output):
    rest, _ = dwell.communicate(timeout=DEFAULT_SECONDS)
    expect(dwell.returncode, 0, "exit status")
    expect(output + rest, OUTPUT, "the program's output")


@cases("*", "own", "lines", "limit")
def test_clones_have_names(context, case):
    options = {"*": ["--module", "*"], "own": ["--module", "libdebugged*"], "lines": ["--lines"],
               "limit": ["--overhead=1", "--module", "*"]}[case]
    dwell, pid = start(context, context.target("debugged"), *options)
    stacks, said = stacks_by_gdb(context, pid)
    expect_chain(stacks, FIRST, said)
    expect_chain(stacks, SECOND, said)
    if case == "*":
        require("??" not in said, f"frames without a name:\n{said}")
    go_on(context)
    output = "waiting\n" + dwell.stdout.readline() + dwell.stdout.readline()
    stacks, said = stacks_by_gdb(context, pid)
    expect_chain(stacks, LATER, said)
    expect_chain(stacks, SECOND, said)
    go_on(context)
    finish(dwell, output)


def test_clones_of_stripped_programs(context):
    """Their functions are called by their places."""
    dwell, pid = start(context, context.target("debugged-stripped"), "--module", "*")
    names = functions_of(context.target("debugged"))
    stacks, said = stacks_by_gdb(context, pid)
    go_on(context, 2)
    finish(dwell, "waiting\n")
    stacks = [[names.get(name, name) for name in stack] for stack in stacks]
    expect_chain(stacks, FIRST, said)
    expect_chain(stacks, SECOND, said)


def test_stripped_agent(context):
    """It shows nothing, and hurts nobody."""
    for name in "dwell", "libdwell-probe.so":
        shutil.copy(f"{context.dwell.rpartition('/')[0]}/{name}", context.path(name))
    subprocess.run(["strip", "-s", context.path("libdwell-probe.so")], check=True)
    context.dwell = context.path("dwell")
    dwell, pid = start(context, context.target("debugged"))
    _, said = stacks_by_gdb(context, pid)
    require("wait_for_line" not in said, f"names without symbols:\n{said}")
    go_on(context, 2)
    finish(dwell, "waiting\n")


def images_shown(said):
    """How many images each of the answers to "maint info jit" lists."""
    return [len(re.findall("^0x", part, re.M)) for part in said.split("jit_code_entry address")[1:]]


def test_gdb_that_stays(context):
    """It is told of images as they go while the program runs on, and stops in clones."""
    dwell, pid = start(context, context.target("debugged"), "--module", "libdebugged*")
    stacks, said = stacks_by_gdb(context, pid, "maint info jit", "break wait_for_line",
                                 f"shell printf '\\n\\n' > {context.path('input')}", "continue", "maint info jit")
    expect_chain(stacks, LATER, said)
    before, after = images_shown(said)
    expect(after, before - 1, "images that gdb knows when the library is closed")
    finish(dwell, "waiting\n")
