"""dwell instrument --overhead: what costs more than it measures is switched off while it runs.

tests/targets/overhead.c tells its own calls, and the processor time of what is heavy;
tests/targets/overhead-kinds.cpp what each kind of call came to.
"""
from harness import cases, expect, more, paths, require, rows_of

# Threads, ms of each, what else: each takes long enough to be decided about.
KINDS = ("4 700", "2 700 signals", "1 700 fork", *more("1 1500", "1 700 signals"))


def record(context, kind, *options):
    """The session of one run, and [{function: (calls, processor ns)}] of its processes."""
    done = context.instrument(*options, "--", context.target("overhead"), *kind.split())
    told = []
    for line in done.stdout.splitlines():
        name, *numbers = line.split()
        if name == "one_round":
            told.append({})
        told[-1][name] = [int(n) for n in numbers]
    return context.report("functions"), told


def off(row):
    return row["switched_off_at"] is not None


@cases(*KINDS)
def test_tiny_calls_are_switched_off(context, kind):
    report, told = record(context, kind, "--overhead", "3")
    facts = report["session"]
    require(facts["functions_switched_off"] >= 1, f"nothing was switched off: {facts}")
    tiny = rows_of(report, "tiny")
    require(tiny and all(off(row) for row in tiny), f"tiny is not marked: {tiny}")
    made = sum(t["tiny"][0] for t in told)
    require(0 < measured(tiny) < made / 2, f"{measured(tiny)} of {made} calls were measured")
    table = context.run(context.dwell, "report", "run.dwell", "functions")
    require(f"{tiny[0]['number_of_calls']}* " in table.stdout, f"no mark:\n{table.stdout}")
    require("only counted" in table.stdout, f"no footer:\n{table.stdout}")


def measured(rows):
    return sum(row["number_of_calls"] - row["calls_only_counted"] for row in rows)


@cases(*KINDS)
@paths(*more(64))
def test_all_calls_are_counted(context, kind):
    """By what was found out in this run, and in one that begins with it."""
    for _ in range(2):
        report, told = record(context, kind, "--overhead", "3")
        facts, threads = report["session"], context.report("threads")["rows"]
        require(facts["calls_only_counted"] > 1000, f"nothing was only counted: {facts}")
        expect((facts["calls_dropped"], facts["counters_dropped"]), (0, 0), "dropped")
        by_handlers = sum(row["number_of_calls"] for row in rows_of(report, "handled"))
        for name in ("one_round", "tiny", "light", "heavy"):
            made = sum(t[name][0] for t in told)
            made += 5 * by_handlers if name == "tiny" else 0  # tiny(3) makes five
            expect(sum(row["number_of_calls"] for row in rows_of(report, name)), made, f"calls of {name}")
        expect(sum(row["number_of_calls"] for row in threads),
               sum(row["number_of_calls"] for row in report["rows"]), "calls of all threads")


@cases("4 700", *more("1 700"))
def test_threads_have_their_own_counts(context, kind):
    """Each makes as many rounds as it has calls of light."""
    record(context, kind, "--overhead", "3")
    rounds = rows_of(context.report("functions"), "light")[0]["number_of_calls"]
    tiny = rows_of(context.report("functions"), "tiny")[0]["number_of_calls"]
    for thread in {row["thread_name"] for row in context.report("threads")["rows"]}:
        rows = context.report("functions", "--thread", thread)
        calls = [sum(row["number_of_calls"] for row in rows_of(rows, name)) for name in ("light", "tiny")]
        expect(calls[1] * rounds, calls[0] * tiny, f"calls of tiny in {thread}")


def test_nothing_is_counted_without_counts(context):
    for _ in range(2):
        report, told = record(context, "1 700", "--overhead", "3", "--counts=no")
        facts, tiny = report["session"], rows_of(report, "tiny")
        expect((facts["calls_only_counted"], facts["switched_off_counts"]), (0, 0), "counted")
        require(sum(row["number_of_calls"] for row in tiny) < told[0]["tiny"][0] / 2, f"{tiny}")
    report, told = record(context, "1 700", "--overhead", "3", "--counts=no", "--forget")
    tiny = rows_of(report, "tiny")
    table = context.run(context.dwell, "report", "run.dwell", "functions")
    require(f"{tiny[0]['number_of_calls']}+ " in table.stdout, f"no mark:\n{table.stdout}")


@cases("recursion", "jumps", "exceptions", "tails", "late-tails", "pointers", "imports", "threads", "forks")
@paths(*more(64))
def test_each_kind_of_call_is_counted(context, kind):
    """Three runs: what the first finds out the others begin with, but for what they try again."""
    counted = 0
    for _ in range(3):
        done = context.instrument("--overhead", "1", "--all-functions", "--", context.target("overhead-kinds"), kind)
        report = context.report("functions")
        counted += report["session"]["calls_only_counted"]
        for line in done.stdout.splitlines():
            name, calls = line.split()
            rows = rows_of(report, name)
            expect(sum(row["number_of_calls"] for row in rows), int(calls), f"calls of {name}")
        expect(report["session"]["calls_dropped"], 0, "calls dropped")
    require(counted > 1000, f"{counted} calls were only counted")


def test_jumps_to_libraries_are_counted_in_the_trampoline(context):
    """Half of the time late() ends in one: the slow path is 50 times as long."""
    context.instrument("--overhead", "1", "--all-functions", "--", context.target("overhead-kinds"), "late-tails")
    report = context.report("functions")
    late, rand = (sum(row["number_of_calls"] for row in rows_of(report, name)) for name in ("late", "rand"))
    require(rand > late / 10 > 1000, f"{rand} of {late} calls end in a jump")


def test_thousands_of_functions_are_counted(context):
    counted = 0
    for _ in range(3):
        done = context.instrument("--overhead", "1", "--all-functions", "--", context.target("overhead-many"))
        report = context.report("functions")
        facts, rounds = report["session"], int(done.stdout)
        expect((facts["calls_dropped"], facts["counters_dropped"]), (0, 0), "dropped")
        calls = [row["number_of_calls"] for row in report["rows"] if row["function_name"][1:].isdigit()]
        expect((len(calls), set(calls)), (9000, {rounds}), "functions and their calls")
        counted = max(counted, sum(row["calls_only_counted"] > 0 for row in report["rows"]))
    require(counted > 7000, f"{counted} functions were switched off")


def test_averages_are_of_measured_calls(context):
    report, _ = record(context, "1 700", "--overhead", "3")
    row = rows_of(report, "tiny")[0]
    calls = row["number_of_calls"] - row["calls_only_counted"]
    require(calls and row["calls_only_counted"], f"{row}")
    want = row["elapsed_exclusive_time"] / calls
    require(abs(row["avg_elapsed_exclusive_time"] - want) <= 1, f"{row}")


def test_who_called_is_not_known(context):
    """What was only counted has no caller, and its callers and the unknown one come to all calls."""
    report, _ = record(context, "1 700", "--overhead", "3")
    rows = context.report("callers", "tiny")["rows"]
    calls = sum(row["number_of_calls"] for row in rows if row["type"] == 1)
    expect(calls, rows_of(report, "tiny")[0]["number_of_calls"], "calls by callers")


@cases(*KINDS)
def test_what_is_heavy_stays_true(context, kind):
    for _ in range(3):  # others on the machine may make probes cost more than they are worth
        report, told = record(context, kind, "--overhead", "3", "--forget")
        if not any(off(row) for name in ("light", "heavy") for row in rows_of(report, name)):
            break
    for name in ("light", "heavy"):
        rows = rows_of(report, name)
        require(not any(off(row) for row in rows), f"{name} was switched off: {rows}")
        calls = sum(row["number_of_calls"] for row in rows)
        expect(calls, sum(t[name][0] for t in told), f"calls of {name}")
        # Time of this thread: what interrupts take is in both, the clock's own calls in one.
        spent = sum(t[name][1] for t in told)
        got = sum(row["application_inclusive_time"] for row in rows)
        require(abs(got - spent) < spent / 10, f"{name}: {got} ns, {spent} by the clock")


@cases(*KINDS)
def test_nothing_is_lost(context, kind):
    """What is switched off is in its callers, and threads' times add up."""
    report, told = record(context, kind, "--overhead", "3")
    facts = report["session"]
    lifetime = facts["threads_lifetime_ns"]
    require(abs(facts["residual_elapsed_ns"]) < max(lifetime / 100, 2e6), f"residual: {facts}")
    rows = rows_of(report, "tiny")
    tiny = sum(row["application_inclusive_time"] for row in rows)
    made, seen = sum(t["tiny"][0] for t in told), measured(rows)
    names = ("one_round", "work", "run", "main")
    callers = [row for row in report["rows"] if row["function_name"] in names or
               row["function_name"].startswith("[thread ")]
    own = sum(row["application_exclusive_time"] for row in callers)
    # A call that is measured comes out some times as long as it is without probes, which takes a
    # nanosecond at least.
    want = min(tiny / seen / 4, 1) * (made - seen)
    require(own > want, f"callers have {own} ns, {seen} of {made} calls of tiny {tiny}: {callers}")


def test_nothing_is_left_of_probes(context):
    """Also where all that still runs is switched off: no other probe tells the program then."""
    report, _ = record(context, "1 1 tiny", "--overhead", "3")
    facts = report["session"]
    require(facts["functions_switched_off"] >= 1, f"nothing was switched off: {facts}")
    expect(facts["switching_off_pending"], 0, "functions with probes")


def test_later_runs_begin_without(context):
    """What a run has found out is not measured in the next, but for one in 16, others in each run, until
    forgotten."""
    options = "1 1500", "--overhead", "3"
    record(context, *options)
    calls_of_tiny = []
    for _ in range(2):
        report, told = record(context, *options)
        facts = report["session"]
        require(facts["functions_switched_off_before"] >= 1, f"nothing was known: {facts}")
        calls_of_tiny.append(measured(rows_of(report, "tiny")))
        for name in ("light", "heavy"):
            expect(sum(row["number_of_calls"] for row in rows_of(report, name)), told[0][name][0],
                   f"calls of {name}")
        require(abs(facts["residual_elapsed_ns"]) < facts["threads_lifetime_ns"] / 100,
                f"residual: {facts}")
    require(0 in calls_of_tiny, f"calls of tiny: {calls_of_tiny}")
    report, _ = record(context, *options, "--forget")
    expect(report["session"]["functions_switched_off_before"], 0, "functions known")
    require(measured(rows_of(report, "tiny")), "no call of tiny was measured")


def test_forked_children_inherit_what_is_known(context):
    record(context, "1 700 fork", "--overhead", "3")
    report, told = record(context, "1 700 fork", "--overhead", "3")
    made, seen = sum(t["tiny"][0] for t in told), measured(rows_of(report, "tiny"))
    require(seen < made / 2, f"{seen} of {made} calls were measured")
    expect(sum(row["number_of_calls"] for row in rows_of(report, "heavy")),
           sum(t["heavy"][0] for t in told), "calls of heavy")


def test_within_the_limit_all_is_measured(context):
    for _ in range(3):  # others on the machine may make probes cost more than the limit
        report, told = record(context, "1 300", "--overhead", "100", "--forget")
        if not report["session"]["functions_switched_off"]:
            break
    expect(report["session"]["functions_switched_off"], 0, "functions switched off")
    for name in ("one_round", "tiny", "light", "heavy"):
        expect(sum(row["number_of_calls"] for row in rows_of(report, name)), told[0][name][0],
               f"calls of {name}")


def test_wrong_limits(context):
    for limit in ("0", "101", "-1", "much"):
        done = context.run(context.dwell, "instrument", f"--overhead={limit}", "--", "true")
        expect(done.returncode, 125, f"status with {limit}: {done.stderr}")
    for options in (["--counts=no"], ["--overhead=5", "--counts=maybe"]):
        done = context.run(context.dwell, "instrument", *options, "--", "true")
        expect(done.returncode, 125, f"status with {options}: {done.stderr}")
    done = context.run(context.dwell, "instrument", "--forget", "--", "true")
    expect(done.returncode, 125, f"status of --forget alone: {done.stderr}")
    done = context.run(context.dwell, "instrument", "--overhead=5", "--probes=count", "--", "true")
    expect(done.returncode, 125, f"status without a session: {done.stderr}")
