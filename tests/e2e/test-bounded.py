"""dwell instrument counts the same in little memory: a compiler at a file full of <regex>, whose
call tree takes ten times what there is. Only with DWELL_LONG=1."""
import sqlite3

from harness import expect, long, require

SOURCE = """#include <regex>
int main(int, char **v) { return std::regex_search(v[0], std::regex("a(b|c)*d")); }
"""
WHOLE_MB = "2000"
PART_OF_LIFE = 0.005
# A compiler hashes pointers: where its own maps lie decides how often it compares.
HASHED, HASHED_CALLS, HASHED_PART = 0.001, 0.05, 0.0001


def prepare(context):
    """The words that compile SOURCE, preprocessed."""
    with open(context.path("regex.cc"), "w", encoding="ascii") as file:
        file.write(SOURCE)
    done = context.run("g++", "-E", "regex.cc", "-o", "regex.ii")
    expect(done.returncode, 0, f"status of g++ -E: {done.stderr}")
    compiler = context.run("g++", "-print-prog-name=cc1plus").stdout.strip()
    return [compiler, "-quiet", "-fpreprocessed", "regex.ii", "-o", "/dev/null"]


def counts(report):
    """{function: calls}, summed over processes."""
    of = {}
    for row in report["rows"]:
        key = row["module_name"], row["function_name"], row["function_address"]
        of[key] = of.get(key, 0) + (row["number_of_calls"] or 0)
    return of


def edges(path):
    """{(caller, callee): calls} of those with a share of the time."""
    file = sqlite3.connect(path)
    names = {i: (module, address) for i, module, address in
             file.execute("SELECT id, module, address FROM function")}
    found = {(names.get(caller, caller), names.get(callee)): calls for caller, callee, calls in
             file.execute("SELECT e.caller, e.callee, t.calls FROM edge e"
                          " JOIN total t ON t.id = e.total")}
    file.close()
    return found


def require_same(few, whole, what):
    """But for what hashes of pointers decide."""
    both = set(few) & set(whole)
    differ = [(key, few[key], whole[key]) for key in both if few[key] != whole[key]]
    print(f"# {len(both)} {what}, {len(differ)} differ: {differ[:5]}")
    require(len(differ) <= max(3, HASHED * len(both)), f"{what}: {differ[:10]}")
    for key, got, want in differ:
        require(abs(got - want) <= HASHED_CALLS * want, f"{what}: {key}: {got}, {want}")
    return both


@long
def test_counts_are_those_of_an_unbounded_run(context):
    words = prepare(context)
    reports = []
    for name, options in (("few", ()), ("whole", ("--memory", WHOLE_MB))):
        done = context.run("setarch", "-R", context.dwell, "instrument", "-q", *options, "-o",
                           f"{name}.dwell", "--", *words, seconds=1800)
        expect((done.returncode, done.stderr), (0, ""), f"status and errors of {name}")
        reports.append(context.report("functions", session=f"{name}.dwell"))
        facts = reports[-1]["session"]
        got = facts["elapsed_exclusive_time"] + facts["time_exclusive_probe_overhead"]
        life = facts["threads_lifetime_ns"]
        print(f"# {name}: {facts['call_nodes']} nodes, {facts['calls_truncated']} calls truncated,"
              f" {got} of {life} ns")
        require(abs(got - life) <= PART_OF_LIFE * life, f"{name}: {got} of {life} ns")
    require(reports[0]["session"]["calls_truncated"], "there was room enough")
    expect(reports[1]["session"]["calls_truncated"], 0, "calls truncated with all the memory")
    few, whole = (counts(report) for report in reports)
    expect(sorted(few, key=str), sorted(whole, key=str), "functions")
    require_same(few, whole, "functions")
    few, whole = (edges(context.path(f"{name}.dwell")) for name in ("few", "whole"))
    require(len(require_same(few, whole, "edges")) > 1000, "few edges in common")
    for view in ("modules", "threads"):
        few, whole = ({row["name"]: row["number_of_calls"] for row in
                       context.report(view, session=f"{session}.dwell")["rows"]
                       if not row.get("level")} for session in ("few", "whole"))
        expect(sorted(few), sorted(whole), view)
        for key, calls in few.items():
            require(abs(calls - whole[key]) <= HASHED_PART * whole[key],
                    f"{view}: {key}: {calls}, {whole[key]}")
