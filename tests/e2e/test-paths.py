"""Trees of programs that have more paths than there is room for agree with all that is exact."""
import collections

import exported
from harness import cases, expect, more, paths, require
from sums import OWN_TIME, expect_sums, sum_of, tree

NOT_DRAWN = "(paths not drawn)"
# Calls itself through several functions, and each of its operators from many places.
PROGRAM = ("sub a { my $n = shift; return $n < 1 ? 1 : b($n - 1) + c($n - 2) } "
           "sub b { my $n = shift; return join('', map { $_ + $n } 1 .. 3) % 7 + a($n - 1) } "
           "sub c { my $n = shift; return sprintf('%d', $n * 2) + a($n - 2) } "
           "print a(40), \"\\n\";")
FEW = 0, 8, *more(64)


def record(context, more=""):
    context.instrument("--", "perl", "-e", PROGRAM + more)
    facts = context.report("functions")["session"]
    if context.paths is not None:
        require(facts["calls_truncated"] > 100_000, f"calls without paths: {facts['calls_truncated']}")
    return facts


@paths(*FEW)
def test_tree_adds_up(context):
    record(context)
    functions = context.report("functions")["rows"]
    rows = expect_sums(context, functions)
    if context.paths is None:
        require(all(row["function_name"] != NOT_DRAWN for row in rows), "a row for paths not drawn")
        return
    # A function's calls in the tree are among those that it has.
    calls, all_calls = collections.Counter(), collections.Counter()
    for row in rows:
        calls[row["function_name"]] += row["number_of_calls"]
    for row in functions:
        all_calls[row["function_name"]] += row["number_of_calls"]
    del calls[NOT_DRAWN], calls[rows[0]["function_name"]]
    for name, n in calls.items():
        require(n <= all_calls[name], f"{name}: {n} calls of {all_calls[name]}")


@paths(*FEW)
def test_hot_path_has_functions_only(context):
    record(context)
    names = [row["function_name"] for row in context.report("calltree", "--hot-path")["rows"]]
    require(len(names) > 3 and NOT_DRAWN not in names, f"{names}")


@paths(*FEW)
def test_callers_have_all_calls(context):
    record(context)
    functions = context.report("functions")["rows"]
    for row in functions[:12]:
        if row["function_name"].startswith("["):
            continue
        rows = context.report("callers", row["function_name"])["rows"]
        callers = [r for r in rows if r["type"] == 1]
        expect(sum_of(callers, "number_of_calls"), row["number_of_calls"],
               f"calls of {row['function_name']} by its callers")
        # Of the program's own time callers have all, and not more; of other times, where it calls itself.
        require(all(r["elapsed_inclusive_time"] <= row["elapsed_inclusive_time"] for r in callers),
                f"a caller of {row['function_name']} has more than all")


@paths(*FEW)
def test_ranges_add_up(context):
    """Ranges are of whole slices, of a second."""
    record(context, "select(undef, undef, undef, 2); print a(36);")
    whole = context.report("functions")["rows"]
    pieces = [tree(context, *words)[1:] for words in (("--to", "1"), ("--from", "1"))]
    got = [sum_of(piece, "number_of_calls") for piece in pieces]
    require(all(got), f"calls before and behind the first second: {got}")
    expect(sum(got), sum_of(whole, "number_of_calls"), "calls before and behind it")
    expect(sum(sum_of(piece, OWN_TIME) for piece in pieces), sum_of(whole, OWN_TIME), "the program's time")


@cases("pprof", "callgrind", "firefox")
@paths(*FEW)
def test_exports_are_the_tree(context, to):
    record(context)
    rows = tree(context)
    want = collections.Counter()
    for row in rows:
        want[row["function_name"]] += row[OWN_TIME]
    del want[rows[0]["function_name"]]  # the process
    path = context.path("out")
    words = () if to != "firefox" else ("--values", "application")
    done = context.run(context.dwell, "export", "run.dwell", "--to", to, "-o", path, *words)
    expect((done.returncode, done.stderr), (0, ""), f"export to {to}")
    if to == "firefox":
        flat = exported.READERS[to](path)
    else:
        flat = {"pprof": exported.read_pprof, "callgrind": exported.read_callgrind}[to](path)["application"]
    expect(flat.total, sum(want.values()), f"total in {to}")
    for name, time in want.most_common(8):
        expect(flat.exclusive[name], time, f"{name} in {to}")
