"""dwell instrument: the call tree stays right whatever the program does.

The programs count their functions' calls themselves (tests/targets/calls/counted.h).
"""
from harness import cases, expect, more, paths, require
from sums import expect_sums

FLAVOURS = ("gcc-O0", "gcc-O2", "clang-O2-nopie")
FEW = 0, 8, *more(64)  # paths: then all calls are without, or from somewhere in the middle on
CALLER, CALLEE = 1, 2  # types of rows


def instrument(context, flavour, program, *words, options=()):
    """A recording of @program; the calls that it says it has made."""
    done = context.instrument("--all-functions", *options, "--",
                              context.target(f"counted-{program}-{flavour}"), *words)
    lines = (line.split() for line in done.stdout.splitlines())
    return {words[0]: int(words[1]) for words in lines if len(words) == 2 and words[1].isdigit()}


def calls(rows, name):
    return sum(row["number_of_calls"] for row in rows if row["function_name"] == name)


def check_calls(context, flavour, program, *words, options=()):
    """Every function's calls are those that it has counted, and the tree has the sums of all."""
    want = instrument(context, flavour, program, *words, options=options)
    rows = context.report("functions")["rows"]
    got = {name: calls(rows, name) for name in want}
    expect(got, want, f"calls of {program} {' '.join(words)}")
    expect_sums(context, rows)
    return rows


def calls_by_path(context):
    """By path: names from a thread's root down, joined by slashes."""
    above, found = [], {}
    for row in context.report("calltree")["rows"]:
        above = above[:row["level"]] + [row["function_name"] or "-"]
        path = "/".join(above[1:])
        found[path] = found.get(path, 0) + row["number_of_calls"]
    return found


def on_path(found, path):
    """Calls of all paths that end in @path."""
    return sum(n for p, n in found.items() if ("/" + p).endswith("/" + path))


def expect_on_paths(context, want, what):
    """The paths @want have so many calls, where there is room for all."""
    if context.paths is None:
        found = calls_by_path(context)
        expect({path: on_path(found, path) for path in want}, want, what)


def expect_callers(context, name, want, names=None):
    """How often each called @name: the functions @names, by default those that @want names."""
    rows = [row for row in context.report("callers", name)["rows"] if row["type"] == CALLER]
    got = {caller: calls(rows, caller) for caller in names or want}
    expect({caller: n for caller, n in got.items() if n}, want, f"callers of {name}")


def calls_of_callees(context, name):
    """How often @name called anything."""
    rows = context.report("callers", name)["rows"]
    return sum(row["number_of_calls"] for row in rows if row["type"] == CALLEE)


@cases(*FLAVOURS)
@paths(*FEW)
def test_recursion(context, flavour):
    check_calls(context, flavour, "recursion")


@cases(*FLAVOURS)
@paths(*FEW)
def test_longjmp(context, flavour):
    check_calls(context, flavour, "jumps")
    expect_callers(context, "after", {"around": 2000, "raiser": 4000})
    expect_on_paths(context, {"main/around/after": 2000, "main/raiser/after": 4000},
                    "calls behind longjmp() and siglongjmp()")


@cases(*FLAVOURS)
@paths(*FEW)
def test_exceptions(context, flavour):
    check_calls(context, flavour, "throws")
    expect_on_paths(context, {"main/catches/destroyed": 1000}, "calls without an exception")


@cases(*FLAVOURS)
@paths(*FEW)
def test_threads(context, flavour):
    check_calls(context, flavour, "threads", "300", "30")
    rows = context.report("threads")["rows"]
    expect(len(rows), 301, "threads")


@cases(*FLAVOURS)
@paths(*FEW)
def test_coroutines(context, flavour):
    for kind in ("context", "own"):
        check_calls(context, flavour, "coroutines", kind)
        if context.paths is not None:
            continue
        found = calls_by_path(context)
        for body in ("ping", "pong"):
            require(not on_path(found, f"main/round_and_round/go/{body}"), "no tree of its own")
            expect(on_path(found, f"{body}/round_and_round/rest"), 10000, f"calls of {body}")
        expect(on_path(found, "main/round_and_round/rest"), 10000, "calls of main")


@cases("frame", "static")
def test_order_of_first_calls(context, where):
    """Siblings as they were called first; a coroutine's stack in a frame has a tree of its own, too."""
    context.instrument("--all-functions", "--", context.target("inner-stack"), where)
    words = "calltree", "--order", "first-call", "--trim", "0", "--no-fold"
    rows = context.report(*words)["rows"]
    expect([(row["level"], row["function_name"], row["number_of_calls"]) for row in rows[2:]],
           [(2, "main", 1), (3, "getcontext", 1), (3, "makecontext", 1), (3, "resume", 4),
            (4, "swapcontext", 4), (3, "own", 4), (4, "leaf", 4), (3, "printf", 1), (2, "body", 1),
            (3, "helper", 3), (4, "leaf", 6), (4, "yield", 3), (5, "swapcontext", 3)], "the tree")
    for option in ("csv", "xml", "table"):
        text = context.make(context.dwell, "report", "run.dwell", *words, "--format", option)
        places = [text.index(name) for name in ("getcontext", "makecontext", "resume", "printf",
                                                "helper", "yield")]
        expect(places, sorted(places), f"order in {option}")
    done = context.run(context.dwell, "report", "run.dwell", "calltree", "--order", "name")
    expect((done.returncode, "time or first-call" in done.stderr), (2, True), done.stderr)


@cases(*FLAVOURS)
@paths(*FEW)
def test_signals(context, flavour):
    for words in ((), ("alternate",)):
        rows = check_calls(context, flavour, "signals", *words)
        require(calls(rows, "handler") > 10, "no signals came")
        expect_on_paths(context, {"handler": calls(rows, "handler")}, "handlers in the tree")


@cases(*FLAVOURS)
@paths(*FEW)
def test_small_stacks(context, flavour):
    """What the agent takes of the program's stack is little: docs/architecture.md says how much."""
    room = 1024 if flavour == "gcc-O0" else 768
    for mode in "coroutine", "thread", "handler":
        check_calls(context, flavour, "small-stacks", mode, str(room))
    instrument(context, flavour, "small-stacks", "child", "2048")
    rows = context.report("functions")["rows"]
    expect((calls(rows, "forks"), calls(rows, "in_small")), (40, 40), "calls of fork's children")
    want = instrument(context, flavour, "small-stacks", "nested")
    rows = context.report("functions")["rows"]
    expect([calls(rows, name) for name in ("keeps", "comes", "twig")],
           [want[name] for name in ("keeps", "comes", "twig")], "calls of handlers")


@paths(*FEW)
def test_tails(context):
    """What a function jumps to at its end is its callee, and over when its caller goes on."""
    count = 20_000  # what happens once to one of them is little then
    context.instrument("--all-functions", "--", context.target("tails"), str(count))
    want = {"clear": (3 * count, 3 * count), "clear_odd": (count, 0),  # calls, and jumps out
            "copy_some": (count, count // 2), "sort": (count, count)}
    for name, edges in want.items():
        expect_callers(context, name, {"each": edges[0]})
        expect(calls_of_callees(context, name), edges[1], f"jumps of {name}")
    compared = calls_of_callees(context, "qsort")
    require(compared > 64 * count, f"{compared} comparisons")
    expect_callers(context, "compare", {"qsort": compared})
    expect_on_paths(context, {f"[thread main]/main/each/{name}": edges[0] for name, edges in want.items()} | {
        "main/each/sort/qsort/compare": compared}, "calls, jumps among them")
    expect_sums(context, context.report("functions")["rows"])
    rows = context.report("functions")["rows"]
    own = {row["function_name"]: row["application_exclusive_time"] for row in rows}
    spent = sum(own.values())
    for name in "each", "clear", "clear_odd", "copy_some", "sort":
        require(own[name] < 0.05 * spent, f"{name} has {own[name]} of {spent} ns")


@cases(*FLAVOURS)
@paths(*FEW)
def test_children(context, flavour):
    want = instrument(context, flavour, "children")
    rows = context.report("functions")["rows"]
    for name in ("outer", "inner", "quick"):
        expect(calls(rows, name), want[name], f"calls of {name}")
    expect_sums(context, rows)
    expect(calls(rows, "in_child"), 200, "calls in fork's children")
    expect(calls(rows, "work"), want["work"] + 200, "calls of work")
    expect_callers(context, "in_child", {"inner": 200})
    expect_on_paths(context, {"main/outer/inner/in_child": 200}, "calls below open frames")


@cases("lazy", "now")
@paths(*FEW)
def test_calls_between_modules(context, when):
    """Each call counts once, for its callee, on one path."""
    words = [context.target(f"crossing-{when}")]
    for options in ("--module", "libcrossing*"), ():
        done = context.instrument("--all-functions", *options, "--", *words)
        want = {name: int(n) for name, n in (line.split() for line in done.stdout.splitlines())}
        rows = context.report("functions")["rows"]
        if not options:  # the library's own calls of its functions are not seen
            want = {name: n for name, n in want.items() if name in ("called_back", "recurses")}
        expect({name: calls(rows, name) for name in want}, want, f"calls with {options}")
        expect_sums(context, rows)
        expect_callers(context, "library_leaf", {
            "through_pointer": 1000, "main": 1000, **({"library_calls_back": 1000} if options else {})})
        expect_callers(context, "called_back", {"library_calls_back": 1000, "through_pointer": 1000})
        expect_on_paths(context, dict.fromkeys((
            "main/through_pointer/library_leaf", "main/library_leaf",
            "main/library_calls_back/called_back", "main/through_pointer/called_back"), 1000),
            f"calls with {options}")


@paths(*FEW)
def test_what_comes_again_counts_once(context):
    """Of an edge and a module in recursion the outermost calls have the time."""
    context.instrument("--all-functions", "--module", "librepeated*", "--", context.target("repeated"))
    functions = {row["function_name"]: row["elapsed_inclusive_time"]
                 for row in context.report("functions")["rows"]}
    callers = {row["function_name"]: row["elapsed_inclusive_time"]
               for row in context.report("callers", "worker")["rows"] if row["type"] == CALLER}
    modules = {row["name"]: row["elapsed_inclusive_time"] for row in context.report("modules")["rows"]}

    def check(got, want, what):
        require(abs(got - want) <= 0.03 * want, f"{what}: {got} ns, not {want}")

    check(callers["caller"], functions["caller"], "calls of worker() by caller()")
    check(callers["main"], functions["worker"] - functions["caller"], "those by main()")
    if context.paths is None:
        check(modules["librepeated.so"], functions["library_outer"], "the library")
    else:  # an upper bound
        require(functions["library_outer"] * .97 <= modules["librepeated.so"]
                <= 2.1 * functions["library_outer"], "the library has too much")


@cases("--memory=1", "--paths=64", "--paths=0")
def test_exported_functions_without_paths(context, option):
    """A call through the PLT is one of the function that it leads to, with paths and without."""
    words = "--all-functions", "--module", "*", option, "--", context.target("exported")
    done = context.instrument(*words)
    want = {name: int(n) for name, n in (line.split() for line in done.stdout.splitlines())}
    report = context.report("functions")
    expect({name: calls(report["rows"], name) for name in want}, want, "calls")
    facts = report["session"]
    require(facts["calls_truncated"] > 100000 and not facts["nodes_dropped"],
            f"{facts['calls_truncated']} calls beyond the tree, {facts['nodes_dropped']} nodes dropped")
    # Each calls it once, but for the loop of the program.
    levels = {name: n for name, n in want.items() if name.startswith("level_") or name == "back"}
    expect_callers(context, "next_level", names=[*want, "paths"],
                   want={"paths": want["next_level"] - sum(levels.values()), **levels})
    done = context.run(context.dwell, "report", "run.dwell", "slowest")
    require("1 thread used up the memory for paths" in done.stdout, f"of single calls: {done.stdout}")


@paths(*FEW)
def test_loader_waits_in_a_first_call(context):
    """What waits while the loader looks a callee up is the caller's, and the call counts once."""
    context.instrument("--module", "libsleeper*", "--", context.target("sleeper"), "50")
    rows = context.report("functions")["rows"]
    found = {row["function_name"]: row["number_of_calls"] for row in rows
             if row["module_name"] == "libsleeper.so" and row["number_of_calls"] > 1}
    expect(list(found.values()), [50], f"calls of the implementation: {found}")
    waited = [row["function_name"] for row in rows if row["exclusive_blocked_time"] > 10e6]
    expect(waited, ["main"], "who waited")


def test_processes_share_the_memory(context):
    """One after the other, each when the one before has been read, they have smaller trees and all their calls."""
    program, times = context.target("counted-paths-gcc-O2"), 20
    done = context.instrument("--all-functions", "--memory", "1", "--", "/bin/sh", "-c",
                              f"for i in $(seq {times}); do {program}; sleep 0.1; done")
    lines = [line.split() for line in done.stdout.splitlines()]
    report = context.report("functions", "--by", "process")
    for name, n in {words[0]: int(words[1]) for words in lines[:len(lines) // times]}.items():
        expect([row["number_of_calls"] for row in report["rows"] if row["function_name"] == name],
               [n] * times, f"calls of {name}")
    facts = report["session"]
    expect((facts["processes_left_out"], facts["nodes_dropped"]), (0, 0), "lost")
    a_process = (1 << 20) // 64
    require(5 * a_process < facts["call_nodes"] < 12 * a_process, f"{facts['call_nodes']} nodes")


def test_many_threads_with_many_calls(context):
    """200 threads that call from 20,000 places each: no call is dropped, what functions have is exact,
    and it is said of how many calls the callers are not known. The memory is that of the manual."""
    threads, leaves, callers = 200, 100, 200
    program = context.target("many-edges")
    plain = context.run(program, str(threads), "1")
    done = context.instrument("--", program, str(threads), "1")
    expect(done.stdout, plain.stdout, "what the program says")
    report = context.report("functions")
    facts = report["session"]
    want = {f"leaf_{n}": threads * callers for n in range(100, 100 + leaves)}
    want.update({f"caller_{n}": threads for n in range(100, 100 + callers)}, run=threads)
    expect({name: calls(report["rows"], name) for name in want}, want, "calls of functions")
    expect((facts["calls_dropped"], facts["threads_dropped"]), (0, 0), "what was not measured")
    require(facts["tree_bytes_max"] <= (40 + 24 << 20) + (threads + 1 - 16) * (640 << 10),
            f"{facts['tree_bytes_max']} bytes of call trees")
    rows = [row for row in context.report("callers", "leaf_150")["rows"] if row["type"] == CALLER]
    expect(sum(row["number_of_calls"] for row in rows), want["leaf_150"], "calls by all callers")
    unknown = calls(rows, "[outermost]")
    require(0 < unknown < want["leaf_150"], f"{unknown} calls without a caller")
    require(unknown * leaves / 2 < facts["calls_without_caller"] < sum(want.values()), str(facts))


@cases("gcc-O2", *more("gcc-O0", "clang-O2-nopie"))
def test_memory_is_bounded(context, flavour):
    check_calls(context, flavour, "paths", options=("--memory", "1024"))
    views = {view: context.report(view) for view in ("functions", "modules", "instructions")}
    facts = views["functions"]["session"]
    expect((facts["calls_truncated"], facts["callees_without_extremes"]), (0, 0), "lost in 1 GB")
    check_calls(context, flavour, "paths", options=("--memory", "1"))
    for view, full in views.items():
        cut = context.report(view)
        facts = cut["session"]
        require(facts["calls_truncated"] > 100000 and not facts["nodes_dropped"], str(facts))
        expect(facts["callees_without_extremes"], 0, "callees without their slowest calls")
        keys = [key for key in ("function_name", "module_name", "instruction_address")
                if key in cut["rows"][0]]
        got, want = (sorted((str([row[key] for key in keys]), row["number_of_calls"])
                            for row in report["rows"]) for report in (cut, full))
        expect(got, want, f"calls of {view}")
        for row in cut["rows"]:
            require((row["elapsed_inclusive_time"] or 0) <= facts["elapsed_inclusive_time"], str(row))
        known = facts["elapsed_inclusive_time"] + facts["time_inclusive_probe_overhead"]
        require(abs(known - facts["threads_lifetime_ns"]) <= 0.02 * facts["threads_lifetime_ns"],
                f"{known} of {facts['threads_lifetime_ns']} ns")
