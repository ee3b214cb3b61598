"""Names that try to break what shows them, from a real program: its file, its source, its functions,
its threads. Each output format is read back by its own reader and says what the others say."""
import json
import os
import re
import sqlite3
from importlib.machinery import SourceFileLoader

import exported
from harness import cases, expect, require

# Placeholder in the source -> what stands in the program in its place, of the same length.
FUNCTIONS = {old: new.ljust(len(old), b"_") for old, new in {
    b"markup_placeholder_": b"<b>&\"',;]]><!--",
    b"escape_placeholder_": b"\x1b]0;t\x07\x1b[2J\nf:\r\tg",
    b"bidi_placeholder_": b"x\xe2\x80\xaegnp.exe\xe2\x81\xa6",
    b"broken_placeholder_": b"bad\xff\xc0\xaf\xed\xa0\x80\xf4\x90\x80\x80_\xe2\x82",
    b"formula_placeholder_": b"=1+1;cmd|'/c'!\xc2\x85",
}.items()}
SOURCE = b"source_placeholder.c", b"s\x1b[1m\"<\n>&;,\xff'].c"[:-2].ljust(18, b"_") + b".c"
PROGRAM = b"p\x1b[2J\n<a href='x'>\"&;, \xff\xe2\x80\xae.so"
THREAD = b"t\x1b[m\n<>&\"\xff\xe2\x80\xae"

TEXT = """
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/prctl.h>
#include <time.h>
static volatile unsigned long sum;
static void spin(void)
{
	struct timespec t, start;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start);
	do {
		for (int i = 0; i < 10000; i++)
			sum += i;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	} while ((t.tv_sec - start.tv_sec) * 1000000000 + t.tv_nsec - start.tv_nsec < MS * 1000000);
}
#define FUNCTION(name) __attribute__((noinline)) void name(void) { spin(); sum++; }
#line 1 "SOURCE"
"""
CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2066-\u2069]")
VIEWS = ("functions", "calltree", "modules", "lines", "instructions", "processes", "threads")
FORMATS = ("pprof", "speedscope", "firefox", "folded", "callgrind")
# What each way of recording is asked for, and the values that its exports hold.
METHODS = {
    "perf": (("sample", "--kernel", "never"), "samples"),
    "inside": (("sample", "--sampler", "in-process"), "samples"),
    "calls": (("instrument",), "application"),
}

golden = SourceFileLoader("golden", os.path.join(os.path.dirname(__file__), "../golden/run")).load_module()


def decoded(name):
    """A name as JSON has it: U+FFFD for each byte that is no UTF-8."""
    return re.sub("[\udc80-\udcff]", "\ufffd", name.decode("utf-8", "surrogateescape"))


WANTED = {decoded(name) for name in FUNCTIONS.values()}


def build(context):
    """The program, whose file has a name of its own."""
    names = [name.decode() for name in FUNCTIONS]
    text = TEXT.replace("SOURCE", SOURCE[0].decode())
    text += "".join(f"FUNCTION({name})\n" for name in names)
    literal = "".join(f"\\{byte:03o}" for byte in THREAD)
    text += "static void *run(void *p) { prctl(PR_SET_NAME, \"%s\"); %s return p; }\n" % (
        literal, " ".join(f"{name}();" for name in names))
    text += ("int main(void) { pthread_t t; return pthread_create(&t, 0, run, 0) || "
             "pthread_join(t, 0); }\n")
    with open(context.path("program.c"), "w", encoding="ascii") as f:
        f.write(text)
    done = context.run("gcc", "-O1", "-g", "-DMS=60", "-o", "plain", "program.c", "-pthread")
    expect(done.returncode, 0, done.stderr)
    with open(context.path("plain"), "rb") as f:
        image = f.read()
    for old, new in (*FUNCTIONS.items(), SOURCE):
        expect(len(old), len(new), f"bytes of {new}")
        require(old in image, f"{old} in the program")
        image = image.replace(old, new)
    path = os.fsencode(context.scratch) + b"/" + PROGRAM
    with open(path, "wb") as f:
        f.write(image)
    os.chmod(path, 0o755)
    return os.fsdecode(path)


def record(context, method):
    """Record the program; the rows of functions have all of its names."""
    words, kind = METHODS[method]
    done = context.run(context.dwell, words[0], "-o", "run.dwell", *words[1:], "--", build(context))
    expect(done.returncode, 0, done.stderr)
    require(not CONTROL.search(done.stderr), f"controls in the summary: {done.stderr!r}")
    rows = context.report("functions")["rows"]
    expect(WANTED - {row["function_name"] for row in rows}, set(), "names that are missing")
    found = [row for row in rows if row["function_name"] in WANTED]
    expect({row["module_name"] for row in found}, {decoded(PROGRAM)}, "module")
    expect({os.path.relpath(row["source_file"], context.scratch) for row in found},
           {decoded(SOURCE[1])}, "source file")
    return kind


def check_report(context, *view):
    """All formats have the same rows."""
    texts = {}
    for form in ("table", "csv", "json", "xml"):
        path = context.path("report")
        with open(path, "w", encoding="ascii") as f:
            done = context.run(context.dwell, "report", "run.dwell", *view, "-f", form, stdout=f)
        expect((done.returncode, done.stderr), (0, ""), f"{view} as {form}")
        with open(path, encoding="utf-8", newline="") as f:  # all of it must be UTF-8
            texts[form] = f.read()
    rows = [golden.as_text(row) for row in json.loads(texts["json"])["rows"]]
    require(rows, f"{view} is empty")
    require(golden.same_rows(golden.read_csv(texts["csv"]), rows), f"{view}: CSV and JSON differ")
    require(golden.same_rows(golden.read_xml(texts["xml"]), rows), f"{view}: XML and JSON differ")
    for form in "table", "json", "xml":
        found = CONTROL.search(texts[form])
        require(not found, f"{view} as {form} has {found and found[0]!r}")


@cases(*METHODS)
def test_reports(context, method):
    record(context, method)
    for view in VIEWS:
        check_report(context, view)
    for name in FUNCTIONS.values():
        check_report(context, "callers", os.fsdecode(name))
    if method != "calls":  # which asks for a thread's name once, soon after it began
        check_report(context, "functions", "--thread", os.fsdecode(THREAD))
    done = context.run(context.dwell, "live", "--once", "run.dwell")
    expect((done.returncode, done.stderr), (0, ""), "live")
    require("!--" in done.stdout and not CONTROL.search(done.stdout), f"live: {done.stdout!r}")


@cases(*METHODS)
def test_sql(context, method):
    """SQL has the bytes themselves."""
    record(context, method)
    session = sqlite3.connect(context.path("run.dwell"))
    session.text_factory = bytes
    names = {name for name, in session.execute("select function_name from functions")}
    expect(set(FUNCTIONS.values()) - names, set(), "names that are missing")
    if method != "calls":
        names = {name for name, in session.execute("select thread_name from threads")}
        require(THREAD in names, f"names of threads: {names}")


@cases(*METHODS)
def test_exports(context, method):
    kind = record(context, method)
    report = context.report("functions")
    column = {"samples": "exclusive_samples", "application": "application_exclusive_time"}[kind]
    for to in FORMATS:
        words = () if to in ("pprof", "callgrind") else ("--values", kind)
        done = context.run(context.dwell, "export", "run.dwell", "--to", to, "-o", f"out.{to}", *words)
        expect((done.returncode, done.stderr), (0, ""), to)
        flat = {"pprof": exported.read_pprof, "callgrind": exported.read_callgrind,
                **exported.READERS}[to](context.path(f"out.{to}"))
        flat = flat[kind] if to in ("pprof", "callgrind") else flat
        expect(flat.total, sum(row[column] for row in report["rows"]), f"total of {to}")
        for name in FUNCTIONS.values():
            check_export(to, flat, decoded(name), report["rows"], column)


def check_export(to, flat, name, rows, column):
    """The function has in an export what it has in the report."""
    inclusive = column.replace("exclusive", "inclusive")
    want = [(row[column], row[inclusive]) for row in rows if row["function_name"] == name]
    if to in ("pprof", "folded", "callgrind"):
        name = exported.escaped(name)
    if to == "folded":
        name = name.replace(";", ":")
    expect([(flat.exclusive[name], flat.inclusive[name])], want, f"{name!r} in {to}")
