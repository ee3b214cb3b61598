"""Code that runtimes make, by what they write about it: perf maps and jitdumps of node, .NET, Java."""
import math
import os

from harness import cases, expect, needs, require
from managed import STATUS, expect_callers, program

SIGMA = 3.5
SCRIPT = os.path.join(os.path.dirname(__file__), os.pardir, "targets", "shares.js")
SOURCE = os.path.realpath(SCRIPT)
MILLISECONDS = "1200"
# What a runtime writes, and how it is told to.
WAYS = {"map": ("--perf-basic-prof",), "dump": ("--perf-prof",),
        "both": ("--perf-basic-prof", "--perf-prof")}
DOTNET = {"map": "3", "both": "1"}

JAVA = """public class Hot {
    static int hot(int n) { int s = 1; for (int i = 0; i < n; i++) s = s * 31 + i; return s; }
    public static void main(String[] a) {
        int s = 0;
        for (int i = 0; i < 8000; i++) s ^= hot(100000);
        System.out.println(s);
    }
}
"""


def node(context, *words, command=()):
    """Sample node: what the script says of its parts, {function: nanoseconds}."""
    done = context.sample("--", *command, "node", *words)
    return {name: int(ns) for name, ns in (line.split() for line in done.stdout.splitlines())}


def expect_shares(rows, said, facts, tier_share):
    """@tier_share of the samples may lie in code that has not been made yet: interpreters."""
    got = {name: sum(row["inclusive_samples"] for row in rows if row["function_name"] == name)
           for name in said}
    n, wanted, lost = sum(got.values()), sum(said.values()), facts["samples_lost"]
    require(n, f"no samples of {list(said)}")
    for name, ns in said.items():
        share = ns / wanted
        allowed = SIGMA * math.sqrt(share * (1 - share) * n) + tier_share * n + lost
        require(abs(got[name] - share * n) <= allowed,
                f"{name}: {got[name]} of {n} samples ({lost} lost), its share is {share}")
    require(facts["stacks_cut"] <= 0.01 * facts["samples_kept"] + 3,
            f"{facts['stacks_cut']} of {facts['samples_kept']} stacks cut")


@cases(*WAYS)
def test_functions_of_scripts(context, way):
    said = node(context, *WAYS[way], SCRIPT, MILLISECONDS)
    functions = context.report("functions")
    expect_shares(functions["rows"], said, functions["session"], 0.02)
    half = next(row for row in functions["rows"] if row["function_name"] == "half")
    expect((half["module_name"], half["source_file"]), ("[JIT]", SOURCE), "module, file")


@cases("map", "dump")
def test_code_that_comes_and_goes(context, way):
    """A new function's code may lie where another's lay: it takes over no samples of that."""
    said = node(context, *WAYS[way], "--expose-gc", SCRIPT, MILLISECONDS, "move")
    functions = context.report("functions")
    expect_shares(functions["rows"], said, functions["session"], 0.02)


def test_stacks_of_scripts(context):
    """From native code through JIT code to native code; --interpreted-frames-native-stack gives
    interpreted functions frames that can be named, too."""
    node(context, *WAYS["map"], "--interpreted-frames-native-stack", SCRIPT, MILLISECONDS)
    expect_callers(context, "half", "run")
    rows = context.report("functions")["rows"]
    total = sum(row["exclusive_samples"] for row in rows)
    start = max(row["inclusive_samples"] for row in rows if row["function_name"] == "run")
    require(start >= 0.5 * total, f"{start} of {total} samples in run")
    main = max(row["inclusive_samples"] for row in rows
               if row["function_name"] == "node::Start(int, char**)")
    require(main >= start, f"{main} samples in node::Start, {start} in run")


def test_lines_of_scripts(context):
    node(context, *WAYS["dump"], SCRIPT, MILLISECONDS)
    with open(SCRIPT) as script:
        text = script.read().splitlines()
    rows = [row for row in context.report("lines")["rows"] if row["function_name"] == "half"]
    total = sum(row["exclusive_samples"] for row in rows)
    loop = sum(row["exclusive_samples"] for row in rows
               if row["source_file"] == SOURCE and row["source_line_begin"]
               and "sum * 31 + i" in text[row["source_line_begin"] - 1])
    require(total and loop >= 0.9 * total - 3, f"{loop} of {total} samples of half in its loop: {rows}")


@needs("dotnet")
@cases(*DOTNET)
def test_managed_code_without_the_agent(context, way):
    done = context.sample("--dotnet", "never", "--", program(context), "shares", MILLISECONDS,
                          status=STATUS, env={**context.env, "DOTNET_PerfMapEnabled": DOTNET[way]})
    lines = [line.split() for line in done.stdout.splitlines()]
    said = {name: int(ns[0]) for name, *ns in lines if name.startswith("Shares.")}
    functions = context.report("functions")
    rows = [{**row, "function_name": "Shares.Run.lambda"}
            if row["function_name"].startswith("Shares.Run.lambda") else row
            for row in functions["rows"]]
    expect_shares(rows, said, functions["session"], 0.01)
    expect_callers(context, "Shares.Half", "Shares.Spend")
    expect({row["module_name"] for row in rows if row["function_name"] == "Shares.Half"},
           {"managed.dll"}, "module")


@needs("dotnet")
def test_managed_code_that_runs_already(context):
    """Its runtime is asked for a map, which does not stay."""
    with context.start(program(context), "shares", "4000") as running:
        socket = f"dotnet-diagnostic-{running.pid}-"
        context.wait_for(lambda: any(name.startswith(socket) for name in os.listdir("/tmp")),
                         "the runtime's socket")
        done = context.run(context.dwell, "sample", "-o", "run.dwell", "-p", str(running.pid))
        expect(done.returncode, 0, f"status\n{done.stderr}")
        expect(running.wait(), STATUS, "status of the program")
    require(" samples at " in done.stderr and "no names" not in done.stderr, done.stderr)
    expect(os.path.exists(f"/tmp/perf-{running.pid}.map"), False, "a map is left")
    rows = context.report("functions")["rows"]
    total = sum(row["exclusive_samples"] for row in rows)
    half = sum(row["inclusive_samples"] for row in rows if row["function_name"] == "Shares.Half")
    require(half >= 0.25 * total, f"{half} of {total} samples in Half")
    # A row without one is of samples whose stack could not be read.
    modules = [row["module_path"] for row in context.report("modules")["rows"] if not row["level"] and row["module_path"]]
    names = [os.path.basename(path) for path in modules]
    require({"managed.dll", "System.Private.CoreLib.dll"} <= set(names), f"{names}")
    expect([name for name in modules if f"{name}.dll" in names], [], "modules beside their file")
    expect(len(set(modules)), len(modules), "each module once")


def test_map_that_is_written_at_the_end(context):
    with open(context.path("Hot.java"), "w") as source:
        source.write(JAVA)
    expect(context.run("javac", "Hot.java").returncode, 0, "javac")
    context.sample("--", "java", "-XX:+UnlockDiagnosticVMOptions", "-XX:+DumpPerfMapAtExit",
                   "-XX:+PreserveFramePointer", "Hot")
    rows = context.report("functions")["rows"]
    total = sum(row["exclusive_samples"] for row in rows)
    hot = sum(row["exclusive_samples"] for row in rows
              if row["function_name"] == "int Hot.hot(int)")
    require(hot >= 0.5 * total, f"{hot} of {total} samples in hot")


LATE = r"""
import ctypes, mmap, os
code = mmap.mmap(-1, 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS,
                 prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
code.write(b"\xb9\x00\xca\x9a\x3b\xff\xc9\x75\xfc\xc3")  # as below
address = ctypes.addressof(ctypes.c_char.from_buffer(code))
run = ctypes.CFUNCTYPE(None)(address)
run()
path = f"/tmp/perf-{os.getpid()}.map"
with open(path, "w") as out:
    out.write(f"{address:x} a late\n{address + 64:x} a other\n")
for _ in range(4):
    run()
os.unlink(path)
"""


def test_names_that_come_late(context):
    """What ran before the map was written has its name, too, also where code that runs later has had it read."""
    with open(context.path("late.py"), "w") as script:
        script.write(LATE)
    context.sample("--kernel", "never", "--", "sh", "-c", "python3 late.py; sleep 0.5")  # it ends before the recording
    rows = context.report("functions")["rows"]
    late = sum(row["exclusive_samples"] for row in rows if row["function_name"] == "late")
    unnamed = sum(row["exclusive_samples"] for row in rows if row["module_name"] == "[anon]"
                  and row["function_name"] != "late")
    require(late > 100, f"{late} samples in late")
    require(unnamed <= late / 50, f"{unnamed} samples without a name, {late} with one")


HOSTILE = r"""
import os, sys, time
path = f"/tmp/perf-{os.getpid()}.map"
kind = sys.argv[1]
if os.path.lexists(path):  # of another program
    os.unlink(path)
if kind == "fifo":
    os.mkfifo(path)
elif kind == "shadow":
    os.symlink("/etc/shadow", path)
else:
    with open(path, "w") as out:
        for i in range(300000):
            out.write(f"{i * 16:x} 1000 <b>\x1b[31m{i}\x01\t\"'&,\n")
        out.write("7f0000000000 ffffffffff evil\x1b[2J</table>\n" * 3)
        out.write("0 7fffffffffff all\x1b[2J<script>\r\n")
import mmap, ctypes
code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
# mov ecx, 1000000000; loop: dec ecx; jnz loop; ret
code.write(b"\xb9\x00\xca\x9a\x3b\xff\xc9\x75\xfc\xc3")
ctypes.CFUNCTYPE(None)(ctypes.addressof(ctypes.c_char.from_buffer(code)))()
os.unlink(path)
"""


@cases("flood", "fifo", "shadow")
def test_hostile_maps(context, kind):
    context.sample("--", "python3", "-c", HOSTILE, kind)
    for form in ("table", "xml"):
        text = context.run(context.dwell, "report", "run.dwell", "functions", "-f", form)
        expect(text.returncode, 0, form)
        require("\x1b" not in text.stdout, f"an escape in {form}")
    rows = context.report("functions")["rows"]
    names = [row["function_name"] for row in rows if row["module_name"] == "[JIT]"]
    if kind == "flood":
        require(any("script" in name or "evil" in name for name in names), f"not named: {names}")
    else:
        expect(names, [], "names")
