"""Calls of managed methods: against what the program counts and times itself."""
import os

from harness import File, cases, expect, require
from managed import SDK, SINGLE_FILES, STATUS, VERSIONS, on_versions, program, publish, single_file

FILE = File(needs=("dotnet",), parts=2)
MODES = {
    "usual": {},
    "one-tier": {"DOTNET_TieredCompilation": "0"},
    "no-profile": {"DOTNET_TieredPGO": "0"},
    "all-at-once": {"DOTNET_TC_QuickJitForLoops": "0", "DOTNET_ReadyToRun": "0"},
    "server": {"DOTNET_gcServer": "1", "DOTNET_GCHeapCount": "2"},
}
# Of 16 bytes of IL or less: their code is as good as their callers'.
SMALL = {"Knowing.Square.Area", "Knowing.Circle.Area", "Knowing.Shape.Edges", "Knowing.Shapes.Twice",
         "Knowing.Exceptions.After", "Knowing.Loops.Body"}
# In a context that can be unloaded, where the runtime replaces no body.
CONTEXT = "Knowing.Contexts.Counted"
LOSSES = ("calls_dropped", "events_dropped", "threads_dropped", "nodes_dropped", "calls_truncated")


def kept(text):
    """What a program prints but for bytes that the runtime has allocated, which differ from run to run."""
    return [line for line in text.splitlines() if line.split()[0] not in ("main", "total", "collections")]


def counts_said(text):
    return {line.split()[2]: int(line.split()[1]) for line in text.splitlines() if line.startswith("calls ")}


def rows_by_name(context):
    """The rows of functions by name, and the session's facts."""
    report = context.report("functions")
    rows = {}
    for row in report["rows"]:
        rows.setdefault(row["function_name"], []).append(row)
    return rows, report["session"]


def sum_of(rows, name, column="number_of_calls"):
    return sum(row[column] for row in rows.get(name, ()))


def instrument(context, command, *words, options=(), env=None, status=STATUS):
    """Run @command plainly, then instrumented: what it prints must be the same. What it prints."""
    env = {**context.env, **(env or {})}
    plain = context.run(command, *words, env=env)
    expect(plain.returncode, status, f"status of a plain run\n{plain.stderr}")
    done = context.run(context.dwell, "instrument", "-q", *options, "-o", "run.dwell", "--", command, *words, env=env)
    expect(done.returncode, status, f"status of {' '.join(words)}\n{done.stderr}")
    expect(done.stderr, plain.stderr, "errors")
    return kept(plain.stdout), done.stdout


def expect_known(context, command, *options, env=None, small=SMALL, unloaded=True):
    """All calls that the known program counts are there, and no others; it runs as it would."""
    plain, text = instrument(context, command, "known", options=options, env=env)
    expect(kept(text), plain, "output")
    rows, facts = rows_by_name(context)
    said = counts_said(text)
    require(len(said) > 35, f"counted: {said}")
    want = {name: 0 if name in small or (unloaded and name == CONTEXT) else n for name, n in said.items()}
    expect({name: sum_of(rows, name) for name in said}, want, "calls")
    expect({name: facts[name] for name in LOSSES}, dict.fromkeys(LOSSES, 0), "losses")
    expect(facts["runtimes"], 0, "runtimes without")
    # Each counts once in its thread, whatever exceptions have ended.
    require(abs(facts["residual_elapsed_ns"]) < 0.005 * facts["threads_lifetime_ns"],
            f"elapsed times and lifetimes: {facts}")
    return rows, facts


@cases("--paths=0", "--paths=50", "--os-source=rseq", "--os-source=none")
def test_other_ways_to_measure(context, option):
    """Calls are the same beyond the room for paths, and however switches are seen."""
    plain, text = instrument(context, program(context), "known", options=(option, "--all-functions"))
    expect(kept(text), plain, "output")
    rows, facts = rows_by_name(context)
    want = {name: 0 if name == CONTEXT else n for name, n in counts_said(text).items()}
    expect({name: sum_of(rows, name) for name in want}, want, "calls")
    require((facts["calls_truncated"] > 100000) == option.startswith("--paths"), f"beyond the room: {facts}")


@cases(*on_versions(MODES))
def test_counts(context, case):
    mode, version = case.rsplit("-", 1)
    rows, facts = expect_known(context, program(context, version), "--all-functions", env=MODES[mode], small=())
    expect(facts["methods_short"], 0, "small methods")
    require(facts["methods_left_alone"] > 0, "methods that can be unloaded")
    # Those too that nobody counts: of generic and nested types, constructors, state machines.
    expect(sum_of(rows, "Knowing.Recursion..cctor"), 1, "static constructors")
    expect(sum_of(rows, "Knowing.Sequences.Steps"), 10, "beginnings of asynchronous methods")


@cases(*VERSIONS)
def test_small_methods_are_their_callers(context, version):
    _, facts = expect_known(context, program(context, version))
    require(facts["methods_short"] > 50, f"small methods: {facts['methods_short']}")
    require(50 < facts["methods_instrumented"] < 80, f"methods: {facts['methods_instrumented']}")


@cases(*SINGLE_FILES)
def test_single_files(context, name):
    """The runtime's own code in the program's file has no probes, unless that is named."""
    rows, _ = expect_known(context, single_file(context, name), unloaded=False)
    modules = {row["module_name"] for name in rows for row in rows[name]}
    require("managed.dll" in modules, f"modules: {modules}")
    if name != "precompiled":  # the runtime lies elsewhere
        require("managed" not in modules, f"modules: {modules}")


def test_precompiled_code(context):
    """What is compiled ahead of time has copies of methods in others."""
    folder = publish(context, "calls-precompiled", SDK, "-p:PublishReadyToRun=true", "-p:SelfContained=false")
    expect_known(context, os.path.join(folder, "managed"), "--all-functions", small=())


def test_paths(context):
    """Callers are those that the source has, whatever exceptions, native code and threads lie between."""
    instrument(context, program(context), "known")
    callers = {}
    for callee in ("Exceptions.Thrower", "Exceptions.Middle", "Native.Compare", "Exceptions.Passes", "Exceptions.Cleanup"):
        rows = context.report("callers", "Knowing." + callee)["rows"]
        callers[callee] = {row["function_name"].replace("Knowing.", "") for row in rows if row["type"] == 1}
    expect(callers["Exceptions.Thrower"], {"Exceptions.Thrower", "Exceptions.Middle"}, "callers of Thrower")
    expect(callers["Native.Compare"], {"Native.Sorts"}, "callers of Compare")
    expect(callers["Exceptions.Cleanup"] - {"Exceptions.Filter"},
           {"Exceptions.Final", "Exceptions.Again", "Exceptions.Nested"}, "callers of Cleanup")
    require("Exceptions.Filter" in callers["Exceptions.Passes"], f"callers of Passes: {callers}")
    require({"Exceptions.Final", "Exceptions.Nested", "Exceptions.Trace"} <= callers["Exceptions.Middle"],
            f"callers of Middle: {callers}")


def test_native_libraries_in_the_same_paths(context):
    library = context.target("dotnet/libfirst.so")
    plain, text = instrument(context, program(context), "callbacks", "40", library, options=("--module", "libfirst.so"))
    expect(kept(text), plain, "output")
    made = int(text.split("called ")[1].split()[0])
    rows, _ = rows_by_name(context)
    expect(sum_of(rows, "Callbacks.Make"), made, "calls back")
    expect(sum_of(rows, "dwell_native_outer"), made // 3, "calls of the library")
    down = context.report("callers", "dwell_native_outer")["rows"]
    expect({row["function_name"] for row in down if row["type"] == 1}, {"Callbacks.Call"}, "who calls the library")
    tree = context.report("calltree", "--trim", "0")["rows"]
    levels = {row["function_name"]: row["level"] for row in tree}
    require(levels["Callbacks.Call"] < levels["dwell_native_outer"] < levels["inner"] < levels["Callbacks.Make"],
            f"levels {levels}")


def test_times(context):
    """What sleeps, waits for a lock and computes has the time that it says: within 2 %."""
    done = context.run(context.dwell, "instrument", "-q", "-o", "run.dwell", "--", program(context), "timed", "10")
    expect(done.returncode, STATUS, f"status\n{done.stderr}")
    said = {line.split()[0]: 1000 * int(line.split()[1]) for line in done.stdout.splitlines()}
    rows, facts = rows_by_name(context)

    def near(name, column, want, least):
        got = sum_of(rows, "Knowing.Timed." + name, column)
        require(abs(got - want) <= 0.02 * want + least, f"{column} of {name}: {got}, said {want}")

    near("Sleeps", "elapsed_inclusive_time", said["slept"], 5000000)
    near("Sleeps", "inclusive_blocked_time", said["slept"], 10000000)
    near("Spins", "application_inclusive_time", said["spun"], 2000000)
    near("Enters", "inclusive_blocked_time", said["waited"], 5000000)
    expect(sum_of(rows, "Knowing.Timed.Chew"), 101, "calls that compute")
    require(abs(facts["residual_elapsed_ns"]) < 0.005 * facts["threads_lifetime_ns"], f"lifetimes: {facts}")


def test_threads_of_the_pool_are_idle_between_pieces_of_work(context):
    """Nobody waits there, in whatever thread; who sleeps in a method does."""
    rounds = 10
    plain, text = instrument(context, program(context), "pool", str(rounds), options=("--include", "Waiting.*"))
    said = {line.split()[0]: int(line.split()[1]) for line in text.splitlines() if len(line.split()) == 2}
    rows, _ = rows_by_name(context)
    expect(sum_of(rows, "Waiting.Piece"), said["done"], "pieces")
    paused = 1000 * said["paused"]
    slept = sum_of(rows, "Waiting.Pause", "inclusive_blocked_time")
    require(abs(slept - paused) < 0.02 * paused + 10000000, f"slept {slept} of {paused}")
    waits = {row["waits_for"]: row for row in context.report("waits")["rows"]}
    # The first pause begins before a worker has waited for more, and the last one may end as workers go.
    idle, sleep = waits["idle"], waits["sleep"]
    require(idle["wait_time"] > 0.8 * paused and idle["counts_in_reports"] == "no", f"idle: {waits}")
    require(abs(sleep["wait_time"] - paused) < 0.1 * paused, f"waits that count: {waits}")
    expect(sleep["function_name"], "Waiting.Pause", "most of it")


def test_collections_are_waits_of_their_own(context):
    """Who is stopped for one waits for that, in the method that it is in, as long as the runtime says."""
    _, text = instrument(context, program(context), "collected", "30", "1", options=("--all-functions",))
    said = {line.split()[0]: int(line.split()[1]) for line in text.splitlines() if len(line.split()) == 2}
    rows, facts = rows_by_name(context)
    require(abs(facts["residual_elapsed_ns"]) < 0.005 * facts["threads_lifetime_ns"], f"lifetimes: {facts}")
    stopped = [row for row in context.report("callers", "[garbage collection]")["rows"] if row["type"] == 1]
    callers = {row["function_name"]: row for row in stopped}
    require("Waiting.Collects" in callers, f"who collects: {callers}")
    require("[garbage collection]" not in callers, f"one within another: {callers}")
    n = callers["Waiting.Collects"]["number_of_calls"]
    require(abs(n - said["collected"]) <= 1, f"{n} collections of {said['collected']}")
    # One that is not on its processor stops later than the others, which the runtime's time has.
    collection = {row["waits_for"]: row for row in context.report("waits")["rows"]}["collection"]
    expect(collection["function_name"], "Waiting.Piece", "who is stopped")
    paused = 1000 * said["paused"]
    require(0.5 * paused < collection["function_wait_time"] < 1.5 * paused, f"{collection}, paused {paused}")


def test_lines(context):
    """A method stands at its first line in the source."""
    instrument(context, program(context), "known")
    rows, _ = rows_by_name(context)
    file = os.path.join(os.path.dirname(context.target("dotnet/managed")), "source/known.cs")
    with open(file) as source:
        at = [i for i, line in enumerate(source, 1) if "static int Fib" in line]
    row = rows["Knowing.Recursion.Fib"][0]
    expect(row["source_file"], file, "file")
    require(at[0] <= row["function_line_number"] <= at[0] + 2, f"line {row['function_line_number']}, {at}")


def test_chosen_modules(context):
    """--module takes assemblies of the framework in, of the runtime's core only the methods that wait, as ever."""
    _, text = instrument(context, program(context), "known", options=("--module", "System.Console.dll", "--module", "*CoreLib.dll"))
    rows, _ = rows_by_name(context)
    modules = {row["module_name"] for name in rows for row in rows[name]}
    require("System.Console.dll" in modules, f"modules: {modules}")
    core = {name for name in rows for row in rows[name] if row["module_name"] == "System.Private.CoreLib.dll"}
    require(all(name.startswith(("System.Threading.", "[garbage")) for name in core), f"the core's: {core}")
    expect(sum_of(rows, "Interop.Sys.Write"), len(text.splitlines()), f"writes, one for each line: {sorted(rows)}")


@cases(*VERSIONS)
def test_chosen_methods(context, version):
    """--include and --exclude go by the names that reports show; others have no probe, and run as fast as ever."""
    options = ("--include", "Knowing.Recursion.*", "--include", "Knowing.Sequences.Steps", "--include", "*.Exceptions.*",
               "--exclude", "*.Exceptions.Middle", "--all-functions")
    plain, text = instrument(context, program(context, version), "known", options=options)
    expect(kept(text), plain, "output")
    rows, facts = rows_by_name(context)
    said = counts_said(text)

    def is_chosen(name):
        # An asynchronous method has all its parts.
        return name.startswith(("Knowing.Recursion.", "Knowing.Sequences.Steps", "Knowing.Exceptions.")) and \
            name != "Knowing.Exceptions.Middle"

    chosen = {name: n for name, n in said.items() if is_chosen(name)}
    require(len(chosen) > 8, f"chosen: {chosen}")
    expect({name: sum_of(rows, name) for name in said}, {name: chosen.get(name, 0) for name in said}, "calls")
    expect(sum_of(rows, "Knowing.Sequences.Steps"), 10, "beginnings of asynchronous methods")
    expect([name for name in rows if name.startswith("Knowing.") and not is_chosen(name)], [], "others")
    require(facts["methods_instrumented"] < 40, f"methods: {facts['methods_instrumented']}")


def test_too_many_names_are_said(context):
    """Names that do not fit: the program runs, without probes, and dwell says so."""
    done = context.run(context.dwell, "instrument", "--include", "Knowing." + 800 * "x", "-o", "run.dwell", "--",
                       program(context), "timed", "1")
    expect(done.returncode, STATUS, "status")
    require("more than 768 bytes of names were given: methods of .NET are not measured" in done.stderr, done.stderr)


def test_slowest_calls_of_chosen_methods(context):
    """--slowest keeps sixteen calls of a method, those that took longest, and none of others."""
    instrument(context, program(context), "timed", "40", options=("--slowest", "Knowing.Timed.*", "--all-functions"))
    rows = context.report("slowest")["rows"]
    kept_of = {}
    for row in rows:
        kept_of.setdefault(row["function_name"], []).append(row["elapsed_inclusive_time"])
    require(all(name.startswith("Knowing.Timed.") for name in kept_of), f"slowest: {sorted(kept_of)}")
    expect(len(kept_of["Knowing.Timed.Nap"]), 16, "calls of Nap that are kept")
    times, _ = rows_by_name(context)
    nap = times["Knowing.Timed.Nap"][0]
    require(min(kept_of["Knowing.Timed.Nap"]) >= 40000000, f"{kept_of['Knowing.Timed.Nap']}")
    mean = nap["elapsed_inclusive_time"] / nap["number_of_calls"]
    require(max(kept_of["Knowing.Timed.Nap"]) >= mean, f"mean {mean}, slowest {kept_of['Knowing.Timed.Nap']}")


@cases("exception", "thread-exception", "fail-fast", "exit-in-thread", "kill", "caught-out-of-memory")
def test_ends(context, how):
    """A program ends as it would, and what it has called until then is there."""
    plain = context.run(program(context), "end", "50", how)
    done = context.run(context.dwell, "instrument", "-q", "-o", "run.dwell", "--", program(context), "end", "50", how)
    status = plain.returncode if plain.returncode >= 0 else 128 - plain.returncode
    expect((done.returncode, done.stdout), (status, plain.stdout), f"status and output\n{done.stderr}")
    expect(done.stderr, plain.stderr, "errors")
    rows, _ = rows_by_name(context)
    expect(sum_of(rows, "Endings.Run"), 1, f"calls: {sorted(rows)}")


def test_recordings_that_end_before_the_program(context):
    """The program runs on, measured no more, and ends as it would. It sleeps for longer than the recording lasts."""
    done = context.run(context.dwell, "instrument", "-q", "--duration", "1", "-o", "run.dwell", "--",
                       program(context), "timed", "30")
    expect((done.returncode, done.stderr), (STATUS, ""), "status and errors")
    expect([line.split()[0] for line in done.stdout.splitlines()][:3], ["slept", "spun", "waited"], "output")
    rows, _ = rows_by_name(context)
    expect([sum_of(rows, f"Knowing.Timed.{name}") for name in ("Sleeps", "Enters")], [1, 0],
           "calls while it was recorded, and after")


def test_another_profiler_keeps_its_place(context):
    """A runtime that has one already is not measured, which is said."""
    env = {**context.env, "CORECLR_ENABLE_PROFILING": "1", "CORECLR_PROFILER_PATH": "/no/such/file",
           "CORECLR_PROFILER": "{01234567-89AB-CDEF-0123-456789ABCDEF}"}
    done = context.run(context.dwell, "instrument", "-o", "run.dwell", "--", program(context), "known", env=env)
    expect(done.returncode, STATUS, f"status\n{done.stderr}")
    rows, facts = rows_by_name(context)
    expect((facts["runtimes"], sum_of(rows, "Knowing.Recursion.Fib")), (1, 0), "runtimes without, and calls")
    require("1 .NET runtime ran without probes in its methods" in done.stderr, done.stderr)


def test_environment_shows_nothing(context):
    """Neither the program nor a child of it sees how the runtime found its profiler."""
    words = "environment", "/usr/bin/env"
    plain, text = instrument(context, program(context), *words)
    require(not [line for line in text.splitlines() if "DWELL" in line or "libdwell" in line], text)
    expect(sorted(kept(text)), sorted(plain), "output")
