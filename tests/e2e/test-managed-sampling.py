"""Sampling of managed code: names, lines and shares against what the program measures itself."""
import json
import math
import os
import signal

from harness import DEFAULT_SECONDS, File, cases, expect, long, more, require
from managed import (SDK, SINGLE_FILES, STATUS, VERSIONS, expect_callers, program, publish, report,
                     single_file)

FILE = File(needs=("dotnet",))
SIGMA = 3.5
MILLISECONDS = "1500"
TUNINGS = {"default": {}, "one-tier": {"DOTNET_TieredCompilation": "0"},
           "no-precompiled": {"DOTNET_ReadyToRun": "0", "DOTNET_TieredPGO": "0"}}


def sample(context, *words, options=(), env=None, status=STATUS, quiet=True, name="run.dwell"):
    done = context.run(context.dwell, "sample", *(["-q"] if quiet else []), *options, "-o", name,
                       "--", *words, env={**context.env, **(env or {})})
    expect(done.returncode, status, f"status of {' '.join(words)}\n{done.stderr}")
    return done


def shares_of(context, version=SDK, env=None):
    """What the program says of its parts: {function: nanoseconds}."""
    said = sample(context, program(context, version), "shares", MILLISECONDS, env=env).stdout
    lines = [line.split() for line in said.splitlines()]
    return {name: int(ns[0]) for name, *ns in lines if name.startswith("Shares.")}


def named(rows, name):
    """Rows of the function; lambdas have numbers behind."""
    return [row for row in rows if row["function_name"] == name
            or row["function_name"].startswith(name + "_")]


def expect_shares(context, said, cut=0.01):
    rows = report(context, "functions")["rows"]
    # Below the state machine are its making and what wakes others, which is not in what is said.
    kind = {name: "exclusive" if name.endswith(".MoveNext") else "inclusive" for name in said}
    got = {name: sum(row[f"{kind[name]}_samples"] for row in named(rows, name)) for name in said}
    facts = report(context, "summary")["session"]
    n, wanted, lost = sum(got.values()), sum(said.values()), facts["samples_lost"]
    require(n, f"no samples of {list(said)}")
    for name, ns in said.items():
        share = ns / wanted
        allowed = SIGMA * math.sqrt(share * (1 - share) * n) + lost
        require(abs(got[name] - share * n) <= allowed,
                f"{name}: {got[name]} of {n} samples ({lost} lost), its share is {share}")
    require(facts["stacks_cut"] <= cut * facts["samples_kept"] + 3,
            f"{facts['stacks_cut']} of {facts['samples_kept']} stacks cut")
    expect((facts["runtimes"], facts["managed_code_lost"]), (1, 0), "runtimes, lost code")
    return rows


def expect_lines(context, source, least=0.95):
    """The samples of loops are on their lines, @least of them at least."""
    with open(source) as text:
        marked = {i for i, line in enumerate(text, 1) if "// all of it" in line}
    rows = [row for row in report(context, "lines")["rows"]
            if row["function_name"] in ("Shares.Half", "Shares.Deep")]
    expect({os.path.basename(row["source_file"]) for row in rows if row["source_file"]},
           {"shares.cs"}, "source file")
    # Of a loop of one statement, its head is the rest, on some processors more than half.
    near = sum(row["exclusive_samples"] for row in rows
               if any(0 <= line - row["source_line_begin"] <= 1 for line in marked))
    total = sum(row["exclusive_samples"] for row in rows)
    require(near >= least * total - 3, f"{near} of {total} samples on the lines {marked}")
    exact = sum(row["exclusive_samples"] for row in rows if row["source_line_begin"] in marked)
    require(exact >= 0.3 * least * total, f"{exact} of {total} samples in {marked}")


def test_waits_are_what_methods_say(context):
    """The runtime sleeps and locks by conditions of the C library: names of methods tell."""
    said = sample(context, program(context, SDK), "timed", "10", options=("--off-cpu",)).stdout
    said = {line.split()[0]: int(line.split()[1]) / 1e3 for line in said.splitlines()}
    got = {row["waits_for"]: row["wait_time"] / 1e6 for row in report(context, "waits")["rows"]}
    # While main waits for the lock the other thread sleeps with it.
    for kind, ms in ("lock", said["waited"]), ("sleep", said["slept"] + said["waited"]):
        require(abs(got.get(kind, 0) - ms) <= 0.1 * ms + 20, f"{kind}: {got}, of {said}")


def test_shares_from_inside(context):
    """As an ordinary user whom perf is refused: two agents in one process."""
    env = {**context.env, "XDG_CACHE_HOME": context.path("cache"), "HOME": context.scratch}
    done = context.run(*context.ordinary_user(), context.target("without-perf"), context.dwell, "sample", "-q", "-o",
                       "run.dwell", "--", program(context), "shares", MILLISECONDS, env=env)
    expect(done.returncode, STATUS, f"status\n{done.stderr}")
    said = {line.split()[0]: int(line.split()[1]) for line in done.stdout.splitlines()
            if line.startswith("Shares.")}
    expect_shares(context, said, 0.05)  # on a busy machine more stacks are cut
    expect(report(context, "summary")["session"]["road"], "inside", "road")
    expect_callers(context, "Shares.Half", "Shares.Spend")
    expect_lines(context, os.path.join(os.path.dirname(program(context)), "source/shares.cs"))


@cases("unset", "empty", "own")
def test_two_agents_are_hidden(context, preload):
    """Neither shows in the environment, and children of children have both."""
    own = "libm.so.6" if preload == "own" else ""
    env = {name: value for name, value in context.env.items() if name != "LD_PRELOAD"}
    if preload != "unset":
        env["LD_PRELOAD"] = own
    look = ("sh", "-c", "env | sort; tr '\\0' '\\n' < /proc/self/environ | grep . | sort")
    plain = context.run(*look, env=env).stdout
    done = context.run(context.dwell, "sample", "-q", "--sampler", "in-process", "--dotnet", "always", "-o",
                       "run.dwell", "--", *look, env=env)
    clean = [[line for line in text.splitlines() if not line.startswith("_=")]
             for text in (plain, done.stdout)]
    expect(clean[1], clean[0], "environment")
    script = "sh -c 'perl -e \"exec q(cat), q(/proc/self/maps)\"; :'; :"
    done = context.run(context.dwell, "sample", "-q", "--sampler", "in-process", "--dotnet", "always", "-o",
                       "run.dwell", "--", "sh", "-c", script, env=env)
    found = {line.split("/")[-1] for line in done.stdout.splitlines() if "libdwell" in line}
    expect(found, {"libdwell-sample.so", "libdwell-clr.so"}, "agents in the child")


@cases(*TUNINGS)
def test_shares(context, tuning):
    said = shares_of(context, env=TUNINGS[tuning])
    rows = expect_shares(context, said)
    expect({row["module_name"] for row in rows if row["function_name"].startswith("Shares.")},
           {"managed.dll"}, "module")
    require(any(row["function_name"] == "System.Threading.Tasks.Task.TrySetResult"
                or row["module_name"] == "System.Private.CoreLib.dll" for row in rows),
            "no name of the framework")
    expect_callers(context, "Shares.Half", "Shares.Spend")
    expect_callers(context, "Shares.Spend", "Shares.Run")
    expect_callers(context, "Shares.Recursion", "Shares.Spend")
    expect_lines(context, os.path.join(os.path.dirname(program(context)), "source/shares.cs"))


@cases("net8.0", *more("net9.0"))
def test_versions(context, version):
    expect_shares(context, shares_of(context, version))
    expect_callers(context, "Shares.Half", "Shares.Spend")


@cases(SDK, "net8.0", *more("net9.0"))
def test_replaced_while_they_run(context, version):
    """Methods whose loops go on in better code have their callers, however that code begins."""
    sample(context, program(context, version), "replaced", "60", options=("-F", "2000"))
    rows = report(context, "functions")["rows"]
    for name in "Two", "Three", "ThreeOfThree", "Four", "Many":
        got = sum(row["inclusive_samples"] for row in named(rows, f"Replaced.{name}"))
        require(got > 50, f"{got} samples of {name}")
        expect_callers(context, f"Replaced.{name}", "Replaced.Run")
    facts = report(context, "summary")["session"]
    require(facts["stacks_cut"] <= 0.01 * facts["samples_kept"] + 3,
            f"{facts['stacks_cut']} of {facts['samples_kept']} stacks cut")


def test_precompiled_single_file(context):
    """Its assemblies have the program's path before their name, and lines: as long as code is
    precompiled, the first one of the method."""
    command = single_file(context, "precompiled")
    sample(context, command, "shares", "1500")
    expect_lines(context, os.path.join(os.path.dirname(command), "source/shares.cs"), 0.4)
    expect({row["module_path"] for row in named(report(context, "functions")["rows"], "Shares.Half")},
           {f"{command}/managed.dll"}, "path of the module")


def samples_so_far(context, name):
    """Of the function @name, in a recording that goes on."""
    done = context.run(context.dwell, "report", "run.dwell.partial", "functions", "--format", "json")
    rows = json.loads(done.stdout)["rows"] if not done.returncode else []
    return sum(row["exclusive_samples"] for row in named(rows, name))


@cases(SDK, "net8.0", "precompiled", "detached", "killed", "user", *more("net9.0", "pdb-beside", "pdb-inside"))
def test_lines_of_code_that_runs_already(context, case):
    """What was compiled before and what is compiled since has lines, whoever ends first."""
    user = context.ordinary_user() if case == "user" else ()
    command = (single_file(context, case) if case in SINGLE_FILES
               else program(context, case if case in VERSIONS else SDK))
    env = {**context.env, "XDG_CACHE_HOME": context.path("cache"), "HOME": context.scratch}
    ends = case not in ("detached", "killed")
    with context.start(*user, command, "shares", "3000" if ends else "60000", env=env) as running:
        socket = f"dotnet-diagnostic-{running.pid}-"
        context.wait_for(lambda: any(name.startswith(socket) for name in os.listdir("/tmp")),
                         "the runtime's socket")
        recording = context.start(*user, context.dwell, "sample", "-q", "-o", "run.dwell", "-p",
                                  str(running.pid), env=env)
        if not ends:
            context.wait_for(lambda: samples_so_far(context, "Shares.Half") > 500, "samples")
            (recording.send_signal(signal.SIGINT) if case == "detached" else running.kill())
        _, said = recording.communicate(timeout=DEFAULT_SECONDS)
        expect((recording.returncode, said), (0, ""), "status and errors of dwell")
        if case == "detached":
            expect(running.poll(), None, "status of the program that is left alone")
            running.kill()
        expect(running.wait(), STATUS if ends else -signal.SIGKILL, "status of the program")
    rows = named(report(context, "functions")["rows"], "Shares.Half")
    require(sum(row["exclusive_samples"] for row in rows) > 50, f"samples of Half: {rows}")
    # Precompiled code has none, until it is compiled again.
    expect_lines(context, os.path.join(os.path.dirname(context.target("dotnet/managed")), "source/shares.cs"),
                 0.5 if case == "precompiled" else 0.9)


@long
def test_compiled_ahead(context):
    """NativeAOT: names as C# writes them, from mangled symbols; code of each type has its own."""
    folder = publish(context, "ahead", SDK, "-p:PublishAot=true", "-p:TrimmerSingleWarn=true")
    said = {line.split()[0]: int(line.split()[1]) for line in sample(
        context, os.path.join(folder, "managed"), "shares", "3000").stdout.splitlines()
            if line.startswith("Shares.")}
    rows = report(context, "functions")["rows"]
    names = [row["function_name"] for row in rows if row["module_name"] == "managed"]
    for name in ("Shares.Half", "Shares.Deep", "Shares.Recursion", "Shares.Box<T>.Fill",
                 "Shares.Box<int>.Fill", "Shares.Later.MoveNext", "Shares.Run.lambda_21_0"):
        require(names.count(name) == 1, f"{name} in {names}")
    total = sum(row["exclusive_samples"] for row in rows)
    half = sum(row["inclusive_samples"] for row in named(rows, "Shares.Half"))
    share = said["Shares.Half"] / sum(said.values())
    require(abs(half - share * total) < 0.15 * total, f"{half} of {total} samples in Half")


def test_children(context):
    """Programs that .NET is not seen in have names by --dotnet always, their children too."""
    command = f"'{program(context)}' shares 200; '{program(context)}' shares 200"
    sample(context, "sh", "-c", command, options=["--dotnet", "always"])
    expect(report(context, "summary")["session"]["runtimes"], 2, "runtimes")
    require(named(report(context, "functions")["rows"], "Shares.Half"), "no names")


@cases("sample", "memory")
def test_rows_say_what_runs(context, method):
    """All that the SDK's command runs is called as it is: the rest tells which it is."""
    assembly = f"{program(context)}.dll"
    done = context.run(context.dwell, method, "-q", "-o", "run.dwell", "--", "dotnet", assembly, "shares", "300")
    expect(done.returncode, STATUS, f"status\n{done.stderr}")
    names = [row["name"] for row in report(context, "processes")["rows"]]
    expect(names, ["dotnet managed.dll shares 300"], "processes")
    rows = report(context, "functions", "--process", "dotnet")["rows"]
    require(named(rows, "Shares.Run"), "a process by what it is called")


def test_scripts(context):
    """A script that names the SDK's command is seen as one of .NET."""
    script = context.path("run")
    with open(script, "w") as text:
        text.write(f"#!/bin/sh\n# without dotnet\n'{program(context)}' shares 200\n")
    os.chmod(script, 0o755)
    sample(context, script)
    require(named(report(context, "functions")["rows"], "Shares.Half"), "no names")


def ours(names):
    return [line for line in names.splitlines()
            if line.startswith(("managed DWELL_", "managed CORECLR_", "kernel CORECLR_"))]


def test_runtime_left_alone(context):
    for when in "never", "always":
        done = sample(context, program(context), "environment", options=["--dotnet", when])
        expect(ours(done.stdout), [], f"variables with --dotnet {when}")
    done = sample(context, "sh", "-c", '"$PROGRAM" shares 200', quiet=False,
                  env={"PROGRAM": program(context)})
    require(".NET code has no names: " in done.stderr and "--dotnet" in done.stderr, done.stderr)


def test_other_profiler(context):
    """The program keeps the profiler that it was to have."""
    env = {"CORECLR_ENABLE_PROFILING": "1",
           "CORECLR_PROFILER": "{00000000-0000-0000-0000-000000000001}"}
    done = sample(context, program(context), "shares", "200", env=env, quiet=False)
    require(".NET code has no names: " in done.stderr and "CORECLR_PROFILER" in done.stderr,
            done.stderr)


def test_collector_killed(context):
    """Names are in the session as they come."""
    with context.start(context.dwell, "sample", "-q", "-o", "run.dwell", "--", program(context),
                       "shares", "8000") as running:
        path = context.path("run.dwell.partial")
        context.wait_for(lambda: os.path.exists(path) and os.path.getsize(path) > 20000, "samples")
        running.send_signal(signal.SIGKILL)
        running.wait()
        done = context.run(context.dwell, "recover", "run.dwell.partial")
        expect(done.returncode, 0, f"status of recover\n{done.stderr}")
        require(named(report(context, "functions")["rows"], "Shares.Half"), "no names")
