"""Reading sessions: broken ones are refused in one line, views and pipes behave."""
import os
import sqlite3
import subprocess

from harness import cases, expect, one_line, require

BAD, MISUSE = 1, 2


def refuse(context, path, *words):
    done = context.run(context.dwell, "report", path, *words)
    expect(done.returncode, BAD, f"status for {path}\n{done.stdout[:200]}{done.stderr}")
    one_line(done.stderr, "stderr")
    expect(done.stdout, "", "stdout")
    return done.stderr


def record(context):
    context.sample(context.target("nasty"), "work", "300")
    with open(context.path("run.dwell"), "rb") as f:
        return f.read()


def write(context, data, name="bad.dwell"):
    with open(context.path(name), "wb") as f:
        f.write(data)
    return context.path(name)


def test_foreign_files(context):
    refuse(context, "no-such-file")
    refuse(context, "/")
    refuse(context, "/dev/null")
    refuse(context, write(context, b""))
    refuse(context, write(context, b"not a session\n" * 1000))
    refuse(context, context.target("nasty"))
    sqlite3.connect(context.path("other.db")).executescript("create table t(x); insert into t "
                                                            "values (1);").connection.close()
    refuse(context, context.path("other.db"))


def test_newer_session(context):
    record(context)
    database = sqlite3.connect(context.path("run.dwell"))
    (version,) = database.execute("pragma user_version").fetchone()
    require(version > 0, "a session has no version")
    database.execute(f"pragma user_version = {version + 1000}")
    database.commit()
    database.close()
    require("newer" in refuse(context, "run.dwell"), "the line does not say that it is newer")


@cases(1, 17, 50, 83, 99)
def test_truncated_session(context, percent):
    data = record(context)
    refuse(context, write(context, data[:len(data) * percent // 100]), "functions")


def test_damaged_session(context):
    """Damage anywhere is either harmless (unused bytes) or refused in one line; never a crash."""
    data = record(context)
    refused = 0
    for at in range(100, len(data), max(len(data) // 60, 1)):
        bad = bytearray(data)
        for i in range(at, min(at + 64, len(bad))):
            bad[i] ^= 0xa5
        done = context.run(context.dwell, "report", write(context, bytes(bad)), "calltree",
                           "--format", "json")
        require(done.returncode in (0, BAD), f"status {done.returncode} at {at}: {done.stderr}")
        if done.returncode:
            one_line(done.stderr, f"stderr with damage at {at}")
            refused += 1
    require(refused > 3, f"only {refused} of 60 damaged files were refused")


@cases("no-such-view", "functions --no-such-option", "functions --sort No-Such-Column",
       "functions --format x", "functions --top x")
def test_wrong_usage(context, words):
    record(context)
    done = context.run(context.dwell, "report", "run.dwell", *words.split())
    expect(done.returncode, MISUSE, f"status of report {words}\n{done.stderr}")
    one_line(done.stderr, "stderr")


@cases("-v 100000", "-d 50000")
def test_small_limits_are_enough(context, limit):
    """A small session needs no more than a shell's limit lets a small program have (KB)."""
    record(context)
    words = ["report", "run.dwell", "functions"]
    free = context.run(context.dwell, *words)
    done = context.run("sh", "-c", f'ulimit {limit}; exec "$@"', "sh", context.dwell, *words)
    expect((done.returncode, done.stderr), (0, ""), "status")
    require("nasty" in free.stdout, free.stdout)
    expect(done.stdout, free.stdout, "report")


def test_closed_pipe_is_quiet(context):
    record(context)
    command = f"'{context.dwell}' report run.dwell instructions --format csv | head -n 1"
    done = context.run("bash", "-c", f"set -o pipefail; {command}")
    expect(done.stderr, "", "stderr of report | head")
    expect(len(done.stdout.splitlines()), 1, "lines")


def test_session_is_self_contained(context):
    """Names and lines come from the session when the program is gone."""
    program = context.path("program")
    subprocess.run(["cp", context.target("nasty"), program], check=True)
    context.sample(program, "work", "300")
    os.unlink(program)
    rows = context.report("lines")["rows"]
    require(any(row["function_name"] == "work_ms" and row["source_line_begin"] for row in rows),
            "no lines of work_ms")


def test_sql_views(context):
    """sqlite3 FILE 'select * from functions' works and agrees with the report."""
    record(context)
    database = sqlite3.connect(f"file:{context.path('run.dwell')}?mode=ro", uri=True)
    database.row_factory = sqlite3.Row
    rows = [dict(row) for row in database.execute("select * from functions")]
    report = context.report("functions")["rows"]
    expect(sum(row["exclusive_samples"] for row in rows),
           sum(row["exclusive_samples"] for row in report), "exclusive samples")
    require(any(row["function_name"] == "work_ms" for row in rows), "no work_ms")


def check_same(sql, report, what):
    """Rows of a view are the report's: columns, order, values."""
    expect(len(sql), len(report), f"rows of {what}")
    for ours, theirs in zip(sql, report):
        expect(list(ours)[:len(theirs)], list(theirs), f"columns of {what}")
        for key, value in theirs.items():
            if isinstance(value, float) or isinstance(ours[key], float):
                require(abs(ours[key] - value) < 1e-9, f"{key} in {what}: {ours[key]}, {value}")
            else:
                expect(ours[key] or None, value or None, f"{key} in {what}")


def test_sql_views_of_calls(context):
    """With calls, every view has the report's rows, but for small ones of three views."""
    context.instrument("--", context.target("call-times"))
    database = sqlite3.connect(f"file:{context.path('run.dwell')}?mode=ro", uri=True)
    database.row_factory = sqlite3.Row
    facts = dict(tuple(row) for row in database.execute("select * from fact"))
    least = {"calltree": "calltree_elapsed_ns_min", "lines": "sql_rows_elapsed_ns_min",
             "instructions": "sql_rows_elapsed_ns_min"}
    for view in ("functions", "modules", "calltree", "lines", "instructions", "processes",
                 "threads", "summary"):
        rows = [dict(row) for row in database.execute(f"select * from {view}")]
        split = () if view in ("processes", "threads") else ("--by", "process")
        if view == "summary":  # SQL leaves out no waits
            split = "--waits", "all"
        report = [row for row in context.report(view, *split)["rows"] if view not in least or
                  row["elapsed_inclusive_time"] >= facts[least[view]]]
        require(rows, f"{view} is empty")
        for row in report:
            row.pop("instruction", None)  # SQL does not disassemble
            row.pop("application_exclusive_time_at_most", None)  # nor bound what is too short
        check_same(rows, report, view)


def test_closed_folder(context):
    """A session in a folder without write access opens."""
    record(context)
    user = context.ordinary_user()
    os.chmod(context.path("run.dwell"), 0o444)
    os.chmod(context.scratch, 0o555)
    done = context.run(*user, context.dwell, "report", "run.dwell", "functions", "-f", "csv")
    os.chmod(context.scratch, 0o755)
    expect((done.returncode, done.stderr), (0, ""), "status and errors")
    require("work_ms" in done.stdout, done.stdout)
