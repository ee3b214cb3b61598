"""Functions of Python in samples of launched programs: of each interpreter that is here, where perf is allowed
and where it is refused."""
import collections
import importlib.util
import math
import os

from harness import File, IS_LONG, PYTHONS, cases, expect, find_python, require, stacks_of

# The distribution's, with which all is tried; with others in long runs alone.
USUAL = next((v for v in PYTHONS if os.path.realpath("/usr/bin/python3").endswith(f"python{v}")), "3.11")
SOME = tuple(v for v in PYTHONS if IS_LONG or v in (PYTHONS[0], USUAL, PYTHONS[-1]))
FILE = File(parts=2, without_perf=(f"*/{USUAL}*",))
SIGMA = 3.5
TARGETS = os.path.join(os.path.dirname(__file__), os.pardir, "targets")
KNOWN = os.path.realpath(os.path.join(TARGETS, "known-python.py"))
SHARES = os.path.realpath(os.path.join(TARGETS, "shares.py"))
WAITING = os.path.realpath(os.path.join(TARGETS, "waiting.py"))
KINDS = ("once", "threads", "fork", "spawn")


def calls():
    spec = importlib.util.spec_from_file_location("known", KNOWN)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.CALLS


def sample(context, version, *words, lost=0):
    context.need(f"python{version}")
    done = context.sample("--", find_python(version), *words)
    facts = context.report("summary")["session"]
    expect((facts["road"], facts["records_lost"]), ("inside", 0), "sampler, lost")
    require(facts["samples_lost"] <= lost, f"{facts['samples_lost']} samples lost")
    require(facts["python_unread"] <= 0.01 * facts["samples_kept"], f"unread: {facts['python_unread']}")
    return done, facts


def check_callers(context, allowed):
    """How many samples there are, and in how many each function of the program has a caller that calls it."""
    total, told, wrong = 0, 0, collections.Counter()
    for names, n in stacks_of(context):
        known = [name for name in names if name in allowed]
        total += n
        told += n if known else 0
        caller = "<module>" if known and "<module>" in names[:names.index(known[0])] else ""
        for name in known:
            if caller not in allowed[name]:
                wrong[caller, name] += n
            caller = name
    return total, told, wrong


@cases(*(f"{version}-{kind}" for version in PYTHONS for kind in KINDS
         if IS_LONG or version == USUAL or kind == KINDS[0]))
def test_each_function_has_its_callers(context, case):
    version, kind = case.rsplit("-", 1)
    seconds = "3" if kind == "spawn" else "1.5"
    _, facts = sample(context, version, KNOWN, seconds, *([] if kind == "once" else [kind]))
    total, told, wrong = check_callers(context, calls())
    start = 50  # samples at 250 Hz before there is an interpreter, of slow machines
    require(told >= 100, f"{told} of {total} samples are in the program's functions")
    require(sum(wrong.values()) <= 0.01 * told, f"wrong callers: {wrong}, of {told} samples")
    require(facts["python_samples"] >= 0.95 * (total - start), f"{facts['python_samples']} of {total} samples")


@cases(*PYTHONS)
def test_native_frames_stand_between(context, version):
    """What C calls back is above what called it: sorted() is between its caller and its key."""
    sample(context, version, KNOWN, "1.5")
    between, apart = 0, 0
    for names, n in stacks_of(context):
        if "k_key" in names and "k_sort" in names:
            native = names[names.index("k_sort") + 1:names.index("k_key")]
            between += n
            apart += n if native and "_PyEval_EvalFrameDefault" not in native else 0
    require(between > 5, f"only {between} samples in k_key")
    expect(apart, between, "samples with native frames between k_sort and k_key")


@cases(*SOME)
def test_functions_that_use_memory_again(context, version):
    """Each made function is told with its own name, file and line, though its memory was another's, and
    all have worked alike."""
    sample(context, version, KNOWN, "3")
    rows = [row for row in context.report("functions")["rows"] if row["function_name"].startswith("k_made_")]
    require(len(rows) > 5, f"rows: {rows}")
    for row in rows:
        number = int(row["function_name"].removeprefix("k_made_"))
        expect((row["module_name"], row["source_file"], row["function_line_number"]),
               (f"made-{number}", f"/made-{number}", number + 1), row["function_name"])
    most, total = max(row["exclusive_samples"] for row in rows), sum(row["exclusive_samples"] for row in rows)
    require(total > 15 and most <= 0.2 * total, f"{most} of {total} samples in one of 50 functions")


@cases(*SOME)
def test_shares_and_lines(context, version):
    done, _ = sample(context, version, SHARES, "2000")
    said = {name: int(ns) for name, ns in (line.split() for line in done.stdout.splitlines())}
    rows = context.report("functions")["rows"]
    got = {name: sum(row["inclusive_samples"] for row in rows
                     if row["function_name"].rpartition(".")[2] == name and row["source_file"] == SHARES)
           for name in said}
    n, wanted = sum(got.values()), sum(said.values())
    require(n > 200, f"samples: {got}")
    for name, ns in said.items():
        share = ns / wanted
        allowed = SIGMA * math.sqrt(share * (1 - share) * n) + 0.02 * n
        require(abs(got[name] - share * n) <= allowed, f"{name}: {got[name]} of {n}, its share is {share}")
    with open(SHARES) as source:
        text = source.read().splitlines()
    lines = [row for row in context.report("lines")["rows"] if row["function_name"] == "half"]
    total = sum(row["exclusive_samples"] for row in lines)
    loop = sum(row["exclusive_samples"] for row in lines if row["source_file"] == SHARES
               and row["source_line_begin"] in (text.index("    for i in range(n):") + 1,
                                                text.index("        s += i * 31") + 1))
    require(total and loop >= 0.95 * total - 3, f"{loop} of {total} samples of half in its loop: {lines}")


@cases(*PYTHONS)
def test_the_first_screen_is_about_the_script(context, version):
    """No function of the interpreter's, nor of its library, is among the first ones, and the hot path is the
    script's."""
    sample(context, version, SHARES, "1000")
    done = context.run(context.dwell, "report", "run.dwell")
    expect(done.returncode, 0, done.stderr)
    functions = done.stdout.split("Functions by time of their own")[1].split("\n\n")[0].splitlines()[1:]
    require("shares.py:" in functions[0] and ("half" in functions[0] or "step" in functions[0]), done.stdout)
    require("_Py" not in done.stdout and "python3." not in functions[0], done.stdout)


@cases(*PYTHONS)
def test_deep_recursion(context, version):
    """1,000 calls are told whole; what is beyond the bound is told as a cut stack."""
    program = ("import sys\nsys.setrecursionlimit(10000)\ndef deep(n):\n if n: return deep(n - 1)\n"
               " s = 0\n for i in range(3000000): s += i\n return s\nfor i in range(3): deep(int(sys.argv[1]))\n")
    _, facts = sample(context, version, "-c", program, "899")
    depths = collections.Counter()
    for names, n in stacks_of(context):
        depths[names.count("deep")] += n
    require(depths[900] >= 0.8 * sum(depths.values()) - 10, f"depths: {depths}")
    require(facts["stacks_cut"] <= 3, f"{facts['stacks_cut']} stacks cut")
    _, facts = sample(context, version, "-c", program, "5000", lost=50)  # they are large
    deep = sum(n for names, n in stacks_of(context) if names.count("deep") > 900)
    require(deep > 10 and facts["stacks_cut"] >= 0.9 * deep, f"{deep} deep stacks, {facts['stacks_cut']} cut")


@cases(*PYTHONS)
def test_waits_are_of_functions(context, version):
    """Whoever waits stands in the function that does, and waiting for the interpreter's lock has a name."""
    done, facts = sample(context, version, WAITING, "30")
    took = {name: int(ns) for name, ns in (line.split() for line in done.stdout.splitlines())}
    require(facts["waits_python_read"] > 50 * (facts["waits_python_unread"] + 1), f"stacks: {facts}")
    rows = {row["function_name"]: row for row in context.report("functions", "--waits", "all")["rows"]}
    waits = {row["waits_for"]: row for row in context.report("waits")["rows"]}
    for name, kind in ("naps", "sleep"), ("reads", "pipe"), ("locks", "lock"), ("waits", "idle"):
        waited = rows[name]["inclusive_blocked_time"]
        require(0.7 * took[name] < waited < 1.1 * took[name], f"{name} waited {waited} of {took[name]}")
        expect(waits[kind]["function_name"], name, f"who waits: {waits}")
        require(waits[kind]["function_wait_time"] > 0.6 * took[name], f"{name}: {waits[kind]} of {took[name]}")
    expect(waits["child"]["function_name"], "main", f"who waits for threads to end: {waits}")
    # What machine code does for a function of Python's library is that function's.
    folded = context.report("functions", "--waits", "all", "--just-my-code")["rows"]
    library = [row["exclusive_blocked_time"] for row in folded
               if row["function_name"].rpartition(".")[2] == "wait" and row["module_name"] == "threading.py"]
    require(sum(library) > 0.7 * took["waits"], f"waits of the library's: {library} of {took['waits']}")
    spins = rows["spins"]["inclusive_blocked_time"]
    require(spins > 0.3 * waits["interpreter"]["wait_time"] > 0, f"{waits['interpreter']}, spins {spins}")
