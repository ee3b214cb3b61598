"""dwell instrument: what probes cost is taken off where it belongs.

In tests/targets/split.c every call does the same work, which no other program on the machine makes
longer for one function than for another; so shares are compared, not times.
"""
import re

from harness import cases, expect, needs, paths, require

CALLS = 200_000


def record(context, *options):
    """The functions of split by name, and the session's facts."""
    context.instrument(*options, "--", context.target("split"), str(CALLS))
    report = context.report("functions")
    return {row["function_name"]: row for row in report["rows"]}, report["session"]


def require_near(value, want, part, what):
    require(abs(value - want) <= part * want, f"{what}: {value:.1f}, not near {want:.1f}")


@cases("direct", "pointed")
@paths(0)
def test_caller_and_callee(context, name):
    rows, facts = record(context)
    caller, callee = (rows[f"{name}{suffix}"]["application_exclusive_time"] / CALLS
                      for suffix in ("", "_callee"))
    require_near(callee, (caller + callee) / 2, 0.2, "the callee's half, ns")
    require(facts["probes_pass_ps"] > 0 and facts["probes_function_ps"] > 0, f"costs: {facts}")


@paths(0)
def test_short_functions_are_their_callers(context):
    """By samples as well as by the clock."""
    rows, _ = record(context)
    caller, callee = (rows[name]["application_exclusive_time"] / CALLS / 25
                      for name in ("little", "little_callee"))
    require("short_work" not in rows, "short_work has probes")
    # Some 17 ns, of which processors do more or less while they read the clock.
    require_near(callee, (caller + callee) / 2, 0.35, "the callee's half, ns")


@needs("perf events")
def test_switches_are_not_what_samples_cost(context):
    """Programs that are switched often are sampled in windows: their switches would cost more than samples."""
    turns, work = 30_000, 300
    context.instrument("--all-functions", "--", context.target("handoff"), str(turns), str(work))
    often = context.report("functions")
    context.instrument("--all-functions", "--", context.target("handoff"), "2", str(turns * work // 2))
    seldom = context.report("functions")
    calls, rates = [], []
    for report in often, seldom:
        facts = report["session"]
        calls.append(sum(row["number_of_calls"] for row in report["rows"] if row["function_name"] == "step"))
        rates.append(facts["probes_samples"] / (facts["user_cpu_ns"] / 1e9))
    expect(calls, [2 * turns * work] * 2, "calls of step")
    require(often["session"]["context_switches"] > turns, f"switches: {often['session']['context_switches']}")
    require(rates[1] > 500, f"samples a second of user time, few switches: {rates[1]:.0f}")
    require(0 < rates[0] < rates[1] / 3, f"samples a second of user time: {rates[0]:.0f}, {rates[1]:.0f}")


def test_calls_beyond_the_memory(context):
    """The nearest of three runs: others on the machine make one phase of a run longer than another."""
    found = []
    for _ in range(3):
        rows, facts = record(context, "--memory", "2")
        require(facts["calls_truncated"] > CALLS / 20, f"calls cut: {facts['calls_truncated']}")
        expect(facts["calls_dropped"], 0, "calls dropped")
        paths_of = [row for name, row in rows.items() if re.fullmatch(r"(left|right)\d+", name)]
        calls = sum(row["number_of_calls"] for row in paths_of if row["function_name"].endswith("17"))
        expect(calls, (CALLS + 17) // 18, "calls at the ends of paths")
        # All of a path together: some processors read the clock before the work of its end is done.
        each = (sum(row["application_exclusive_time"] for row in paths_of)
                / sum(row["number_of_calls"] for row in paths_of))
        found.append(each / (rows["direct_callee"]["application_exclusive_time"] / CALLS))
        if abs(found[-1] - 1) < 0.4:
            return
    require(False, f"the time of a call beyond the memory over that of the same work elsewhere: {found}")


def test_is_measured_once(context):
    """Programs have the costs from the process that executes them."""
    costs = context.target("costs")
    done = context.instrument("--", "sh", "-c", f"{costs} && sh -c '{costs}; true'")
    lines = done.stdout.splitlines()
    require(len(lines) >= 4, f"regions seen:\n{done.stdout}")
    expect(len(set(lines)), 1, f"different costs:\n{done.stdout}")
    require(int(lines[0].split()[0]) > 0, f"no costs: {lines[0]}")
    require(context.report("summary")["session"]["number_of_calls"] > 0, "no calls")


@needs("perf events")
def test_loops_are_no_samples(context):
    """A short run: what its trampolines were found to cost is not what they did in the loops that measured them."""
    done = context.instrument("--all-functions", "--", context.target("costs"), "own")
    looped, facts = int(done.stdout.splitlines()[0]), context.report("summary")["session"]
    require(facts["number_of_calls"] > 3 and looped > 1000, f"{looped} ps, {facts}")
    require_near(facts["probes_function_ps"], looped, 0.5, "a function's probes, ps")


def test_what_is_too_short_to_be_told_says_so(context):
    """A function of a few instructions: what it may have taken at most, by the session's own costs."""
    n = 1_000_000
    plain = context.run(context.target("borrower"), str(n), "0")
    expect(plain.returncode, 0, "status of a plain run")
    context.instrument("--all-functions", "--", context.target("borrower"), str(n), "0")
    report = context.report("functions")
    facts, rows = report["session"], {row["function_name"]: row for row in report["rows"]}
    work = rows["work"]
    key = "application_exclusive_time_at_most"
    expect(work["number_of_calls"], 2 * n, "calls")
    require(work["application_exclusive_time"] / (2 * n) < facts["probes_function_ps"] / 1000,
            "it takes less than its probes")
    off_ns = (work[key] - work["application_exclusive_time"]) / (2 * n)
    require(off_ns * 1000 >= max(facts["probes_function_ps"], facts["probes_outside_ps"]) - 1000,
            f"{off_ns} ns a call beside {facts['probes_function_ps']} ps of probes")
    require(rows["printf"][key] is None, "one long call")
    table = context.run(context.dwell, "report", "run.dwell", "functions").stdout
    line, = [line for line in table.splitlines() if line.split()[-2:] == ["work", "borrower"]]
    require("At Most" in table.splitlines()[0] and f"{work[key] / 1e6:.3f}" in line, table)
    summary = context.run(context.dwell, "report", "run.dwell").stdout
    # It lists what has most time of its own, which may all be taken for that of probes.
    listed = [row["name"] for row in context.report("summary")["rows"] if row["section"] != "Hot Path"][:5]
    require("work" not in listed or not work["application_exclusive_time"]
            or re.search(r"work  \((2,000,000|2.0 M) calls, (\d+ ns to|at most) ", summary), summary)
