"""dwell merge: what the merged session shows are the sums of what its sessions show, in every view."""
import collections
import os
import re
import signal
import sqlite3

from harness import File, cases, expect, more, one_line, require

FILE = File(without_perf=("sums/samples",))
SESSIONS = "a.dwell", "b.dwell", "c.dwell"
# What tells rows apart, in order of a tree's path; what is left of a row is added up.
NAMES = ("section", "process_name", "command", "thread_name", "module_name", "source_file", "file", "function_name",
         "name", "class_name", "waits_for", "caller_name", "callee_name", "root_function", "type", "source_line_begin", "source_line_end", "source_character_begin", "source_character_end")
VIEWS = {
    "samples": ("functions", "calltree", "modules", "lines", "instructions", "processes", "threads", "waits"),
    "calls": ("functions", "calltree", "modules", "lines", "processes", "threads", "waits", "file-io"),
    "lines": ("functions", "lines"),
    "few paths": ("functions", "calltree", "modules"),
    "memory": ("functions", "calltree", "modules", "lines", "allocations", "lifetime", "processes", "threads"),
}
# What is no sum: shares and means, places, single calls, and numbers that mean another thing in each session.
NO_SUMS = ("percent", "avg_", "at_most", "_max", "max_", "min_", "_min", "_ratio", "level", "line_number", "address", "_id",
           "process", "begin", "end_time", "first", "column", "line_end", "per_", "longest", "shortest", "number_of_threads",
           "switched_off", "parallel", "children", "start")


def record(context, method, session, number):
    if method == "samples":
        context.sample("--off-cpu", "-F", "2000", context.target("waits-O2"), "sleep,spin", session=session)
    elif method == "memory":
        context.run(context.dwell, "memory", "-q", "-o", session, "--", context.target("dotnet/managed"), "trees", "9",
                    str(3 + number), "1")
    else:
        options = {"calls": (), "lines": ("--lines",), "few paths": ("--paths=40",)}[method]
        program = {"calls": "files", "lines": "lines-gcc-O1", "few paths": "counted-paths-gcc-O2"}[method]
        context.run(context.dwell, "instrument", "-q", *options, "-o", session, context.target(program))
    require(os.path.exists(context.path(session)), f"{session} of {method} was recorded")


def merge(context, *sessions, to="merged.dwell", status=0):
    done = context.run(context.dwell, "merge", "-q", *sessions, "-o", to)
    expect(done.returncode, status, f"status of merging {sessions}\n{done.stderr}")
    require(not any(name.startswith(to + ".") for name in os.listdir(context.scratch)), "nothing is left beside")
    return done


def sums(context, view, *sessions):
    """Numbers that can be added, by names of rows and columns."""
    result = collections.Counter()
    for session in sessions:
        path = []
        words = ("--trim", "0") if view in ("calltree", "allocations") else ()
        fold = ("--no-fold",) if view in ("calltree", "allocations", "modules", "file-io") else ()
        for row in context.report(view, *words, *fold, "--all-code", "--columns", "all", session=session)["rows"]:
            name = tuple(str(row[key]) for key in NAMES if row.get(key) is not None and
                         (view != "waits" or key == "waits_for"))
            if isinstance(row.get("level"), int):
                path[row["level"]:] = [name if row["level"] else "root"]
                name = tuple(path)
            for column, value in row.items():
                if isinstance(value, (int, float)) and not any(part in column for part in NO_SUMS) and \
                        column not in NAMES and (view, column) != ("waits", "function_wait_time"):
                    result[name, column] += value
    return result


def expect_sums(context, method, merged, *sessions):
    for view in VIEWS[method]:
        got, want = sums(context, view, merged), sums(context, view, *sessions)
        # With few paths, inclusive times are estimates, which a row's bounds cut.
        wrong = [(key, got[key], want[key]) for key in got.keys() | want.keys() if got[key] != want[key] and
                 not (method == "few paths" and "inclusive" in key[1] and
                      abs(got[key] - want[key]) <= 0.1 * want[key])]
        require(len(want) > 1 and sum(want.values()), f"{view} of {method} has something, not {want}")
        require(not wrong, f"{len(wrong)} of {len(want)} numbers of {view}, got and want: {wrong[:4]}")


@cases(*VIEWS)
def test_sums(context, method):
    """Three sessions: each row is the sum of theirs, whatever their order, and merged again."""
    if method == "memory":
        context.need("dotnet")
    for number, session in enumerate(SESSIONS):
        record(context, method, session, number)
    merge(context, *SESSIONS)
    expect_sums(context, method, "merged.dwell", *SESSIONS)
    facts = [context.report("functions", session=name)["session"] for name in (*SESSIONS, "merged.dwell")]
    expect(facts[3]["merged"], 3, "how many")
    for key in ("duration_ns", "user_cpu_ns", "kernel_cpu_ns", "samples_kept", "samples_lost", "call_nodes",
                "number_of_calls", "objects_without_stack", "inclusive_allocations", "waits_stacks_whole"):
        if key in facts[0]:
            expect(facts[3][key], sum(f[key] for f in facts[:3]), key)
    merge(context, *reversed(SESSIONS), to="reversed.dwell")
    expect_sums(context, method, "reversed.dwell", *SESSIONS)
    merge(context, *SESSIONS[:2], to="two.dwell")
    merge(context, "two.dwell", SESSIONS[2], to="two.dwell")
    expect_sums(context, method, "two.dwell", *SESSIONS)
    expect(context.report("functions", session="two.dwell")["session"]["merged"], 3, "how many, in two steps")
    merge(context, SESSIONS[0], to="one.dwell")
    for view in (*VIEWS[method], "summary"):
        one, alone = (context.report(view, session=name) for name in ("one.dwell", SESSIONS[0]))
        expect(one["rows"], alone["rows"], f"{view} of one")
        expect({**one["session"], "code_bytes": 0}, {**alone["session"], "code_bytes": 0}, f"facts of one in {view}")


@cases("with a build-id", "without", "overwritten")
def test_programs_that_were_built_anew(context, kind):
    """What has the same path and other code is another module: at its addresses are other functions."""
    calls = {"first": 3, "second": 50, "third": 700}
    own = "__attribute__((noinline)) int {}(int n) {{ return n > 1 ? n + {}(n - 1) % 7 : 1; }}"
    for session, names in zip(SESSIONS, (("first", "second", "third"), ("third", "first", "second"))):
        with open(context.path("main.c"), "w", encoding="ascii") as f:
            f.write("\n".join(own.format(name, name) for name in names) +
                    "int main(void) { return " + " + ".join(f"{name}({n})" for name, n in calls.items()) + " == 0; }")
        context.make("gcc", "-O1", "-o", "fresh", "main.c", *(() if kind[:4] == "with" and kind[4:5] == " " else
                                                             ("-Wl,--build-id=none",)))
        if kind == "overwritten" and os.path.exists(context.path("program")):
            with open(context.path("fresh"), "rb") as f, open(context.path("program"), "wb") as to:
                to.write(f.read())
        else:
            os.rename(context.path("fresh"), context.path("program"))
        context.instrument("--", "./program", session=session)
    merge(context, *SESSIONS[:2])
    found = collections.Counter()
    for row in context.report("functions", session="merged.dwell")["rows"]:
        found[row["function_name"]] += row["number_of_calls"] or 0
    expect({name: found[name] for name in calls}, {name: 2 * n for name, n in calls.items()}, "calls")
    merge(context, SESSIONS[0], SESSIONS[0])
    rows = [row for row in context.report("functions", session="merged.dwell")["rows"] if row["function_name"] in calls]
    expect(len(rows), 3, "rows where the program is the same")


def test_facts_have_rules(context):
    """Each fact that the format's description names, but for those of SQL alone, has a rule in src/merge/facts.c."""
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
    with open(os.path.join(root, "docs/session-format.md"), encoding="utf-8") as f:
        rows = re.findall(r"^\| (`[a-z_]+`(?:, `[a-z_]+`)*) \| (?!SQL only)", f.read().split("\n## Facts\n")[1], re.M)
    with open(os.path.join(root, "src/merge/facts.c"), encoding="utf-8") as f:
        rules = set(re.findall(r'\{"([a-z_]+)", ', f.read()))
    facts = {name.strip("`") for row in rows for name in row.split(", ")}
    require(len(facts) > 100, f"facts: {len(facts)}")
    expect(sorted(facts - rules), [], "facts without a rule")


def test_extremes(context):
    """The longest and the shortest call are those of all sessions, and slow ones of each are there."""
    for session in SESSIONS:
        context.instrument("--", context.target("counted-paths-gcc-O2"), session=session)
    merge(context, *SESSIONS)
    every = [{(row["module_name"], row["function_name"]): row for row in
              context.report("functions", "--columns", "all", session=session)["rows"]}
             for session in (*SESSIONS, "merged.dwell")]
    seen = 0
    for name, row in every[3].items():
        if row["number_of_calls"] < 100:  # a few calls have extremes that fit their sum and mean
            continue
        for column, value in row.items():
            if column[:4] in ("max_", "min_") and value is not None:
                of = [rows[name][column] for rows in every[:3] if rows.get(name, {}).get(column) is not None]
                want = max(of) if column[:4] == "max_" else min(of)
                require(abs(value - want) <= 1 + want / 50, f"{column} of {name}: {value}, want {want}")
                seen += 1
    require(seen > 20, f"{seen} extremes")
    slow = [context.report("slowest", "main", session=session)["rows"] for session in (*SESSIONS, "merged.dwell")]
    require(slow[0] and len(slow[3]) == sum(map(len, slow[:3])), f"slow calls: {[len(rows) for rows in slow]}")


def test_outputs(context):
    """The merged session opens in each view, in SQL, as a page, in exports and in a comparison."""
    for session in SESSIONS[:2]:
        record(context, "calls", session, 0)
    merge(context, *SESSIONS[:2])
    done = context.run(context.dwell, "report", "merged.dwell", "--all", "-o", "folder")
    expect((done.returncode, done.stderr), (0, ""), "all views")
    require({"summary.csv", "functions.csv", "slowest.csv", "file-io.csv"} <= set(os.listdir(context.path("folder"))),
            os.listdir(context.path("folder")))
    text = context.make(context.dwell, "report", "merged.dwell", "--details")
    require("Merged from 2 sessions" in " ".join(text.split()), text)
    with sqlite3.connect(context.path("merged.dwell")) as sql:
        [calls], = sql.execute("select sum(number_of_calls) from functions where function_name = 'append'")
    expect(calls, sum(row["number_of_calls"] for name in SESSIONS[:2] for row in
                               context.report("functions", session=name)["rows"] if row["function_name"] == "append"),
           "calls in SQL")
    for form in ("pprof", "speedscope", "firefox", "folded"):
        context.make(context.dwell, "export", "merged.dwell", "-f", form, "-o", f"merged.{form}")
        require(os.path.getsize(context.path(f"merged.{form}")) > 500, form)
    merge(context, *SESSIONS[:2], to="again.dwell")
    text = context.make(context.dwell, "diff", "merged.dwell", "again.dwell", "functions", "-f", "csv", "--all")
    require("more calls" not in text and text.count("\n") > 5, text)
    duration = context.report("functions", session=SESSIONS[0])["session"]["duration_ns"]
    second = context.report("functions", "--from", f"{duration / 1e9}", session="merged.dwell")
    expect(sum(row["number_of_calls"] for row in second["rows"]),
           sum(row["number_of_calls"] for row in context.report("functions", session=SESSIONS[1])["rows"]),
           "the second one's part of the time")


def test_what_does_not_go_together(context):
    """One line says what, and what had the name stays."""
    record(context, "samples", "a.dwell", 0)
    context.sample("-F", "500", "--off-cpu", context.target("split"), session="slow.dwell")
    context.sample("-F", "2000", "--no-off-cpu", context.target("split"), session="plain.dwell")
    record(context, "lines", "calls.dwell", 0)
    with open(context.path("text"), "w") as f:
        f.write("no session")
    with open(context.path("a.dwell"), "rb") as f, open(context.path("cut.dwell"), "wb") as to:
        to.write(f.read()[:20000])
    merge(context, "a.dwell", to="out.dwell")
    with open(context.path("out.dwell"), "rb") as f:
        before = f.read()
    for words, status, text in (
            (("a.dwell", "calls.dwell", "-o", "out.dwell"), 1,
             "calls.dwell does not go with a.dwell: it was recorded by instrumentation, the other sampling"),
            (("a.dwell", "slow.dwell", "-o", "out.dwell"), 1, "frequency (Hz) of 500, the other 2000"),
            (("a.dwell", "plain.dwell", "-o", "out.dwell"), 1, "plain.dwell does not go with a.dwell"),
            (("a.dwell", "text", "-o", "out.dwell"), 1, "text: not a dwell session"),
            (("a.dwell", "cut.dwell", "-o", "out.dwell"), 1, "cut.dwell: cut short"),
            (("a.dwell", "nowhere.dwell", "-o", "out.dwell"), 1, "nowhere.dwell: cannot open: No such file"),
            (("a.dwell", "-o", "text"), 1, "text exists and is not a dwell session"),
            (("a.dwell", "-o", "no/where"), 1, "No such file or directory"),
            (("a.dwell", "slow.dwell"), 2, "needs -o FILE"),
            (("-o", "out.dwell"), 2, "takes sessions")):
        done = context.run(context.dwell, "merge", *words)
        expect(done.returncode, status, f"status of {words}: {done.stderr}")
        require(text in one_line(done.stderr, words), f"{words}: {done.stderr!r}")
        with open(context.path("out.dwell"), "rb") as f:
            require(f.read() == before, f"{words}: out.dwell has changed")
        require(not any(".partial" in name for name in os.listdir(context.scratch)), os.listdir(context.scratch))


@cases(signal.SIGINT, *more(signal.SIGTERM))
def test_interrupted(context, number):
    """It ends by the signal and leaves nothing."""
    record(context, "samples", "a.dwell", 0)
    child = context.start("env", "--default-signal=INT", context.dwell, "merge", *["a.dwell"] * 3000, "-o", "out.dwell")
    context.wait_for(lambda: os.path.exists(context.path("out.dwell.partial")), "a beginning")
    os.kill(child.pid, number)
    expect(child.wait(20), -number, "status")
    expect([name for name in os.listdir(context.scratch) if name.startswith("out")], [], "files")
