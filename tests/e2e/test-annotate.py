"""One function's source and machine code with their values, against the source itself and objdump."""
import os
import re

from harness import NOBODY, cases, expect, require

GROUP = 1234
SOURCE = r"""
#include <stdio.h>

static int unused(int a)
{
	return a;
}

__attribute__((noinline)) unsigned long spin(unsigned long n)
{
	volatile unsigned long x = 1;

	while (n--)
		x = x * 6364136223846793005ul + 1;
	if (x == 1)
		puts("never");
	return x;
}

int main(void)
{
	unsigned long x = spin(300000000);

	return x == 77 ? unused(1) : 0;
}
"""


def build(context, compiler):
    os.makedirs(context.path("src"))
    with open(context.path("src/spin.c"), "w") as f:
        f.write(SOURCE)
    context.make(compiler, "-O1", "-g", "-o", context.path("spin"), context.path("src/spin.c"))
    return context.path("spin")


def objdump(context, program, function):
    """(address, first word) of the function's instructions, without the padding behind it."""
    symbol = re.search(rf"^(\w+) (\w+) \w {function}$", context.run("nm", "-S", program).stdout, re.M)
    start, size = (int(digits, 16) for digits in symbol.groups())
    text = context.run("objdump", "-d", "--no-show-raw-insn", program).stdout
    found = [(int(a, 16), word) for a, word in re.findall(r"^ +([0-9a-f]+):\t(\S+)", text, re.M)]
    return [(a, word) for a, word in found if start <= a < start + size]


def address_of(row):
    return int(row["instruction_address"], 16)


def value_of(report, function, key):
    return [row[key] for row in report["rows"] if row["function_name"] == function][0]


@cases("gcc", "clang")
def test_code(context, compiler):
    """All instructions of the function, as objdump sees them; all its samples are on them."""
    program = build(context, compiler)
    context.sample("--", program)
    rows = context.report("instructions", "spin")["rows"]
    want = objdump(context, program, "spin")
    expect([address_of(row) for row in rows], [a for a, _ in want], "addresses")
    for row, (_, word) in zip(rows, want):
        ours = row["instruction"].split()[0]
        require(ours.startswith(word[:3]) or {ours, word} <= {"jnz", "jne", "jz", "je"}, (row, word))
    calls = [row["instruction"] for row in context.report("instructions", "main")["rows"]
             if row["instruction"].startswith("call")]
    require(any(call.endswith("<spin>") for call in calls), calls)
    own = value_of(context.report("functions"), "spin", "exclusive_samples")
    expect(sum(row["exclusive_samples"] for row in rows), own, "samples of the function")
    intel = context.report("instructions", "spin", "--intel")["rows"]
    require(all("%" not in row["instruction"] for row in intel), "a % in Intel's syntax")
    expect(len(intel), len(rows), "rows in Intel's syntax")


@cases("gcc", "clang")
def test_calls_are_one_instruction(context, compiler):
    """The call of the hot function has its time, at the address where it begins."""
    program = build(context, compiler)
    context.sample("--", program)
    call = [row for row in context.report("instructions")["rows"]
            if row["function_name"] == "main" and row["instruction"].startswith("call")][0]
    starts = [a for a, word in objdump(context, program, "main") if word.startswith("call")]
    require(address_of(call) in starts, call)
    own = value_of(context.report("functions"), "spin", "inclusive_samples")
    expect(call["inclusive_samples"], own, "samples in the call")


@cases("gcc", "clang")
def test_source(context, compiler):
    """The function's lines from its declaration to its brace; the loop has the samples."""
    program = build(context, compiler)
    context.sample("--", program)
    text = SOURCE.split("\n")
    first, last = [i for i, line in enumerate(text, 1) if "spin(unsigned" in line][0], 0
    last = text.index("}", first) + 1
    rows = context.report("lines", "spin", "--source")["rows"]
    known = [row for row in rows if row["source_line_begin"]]  # others are of no line, as clang says of moves
    expect(sorted({row["source_line_begin"] for row in known}), list(range(first, last + 1)), "lines")
    for row in known:
        expect(row["source_text"] or "", text[row["source_line_begin"] - 1].expandtabs(8), "text")
    own = value_of(context.report("functions"), "spin", "exclusive_samples")
    expect(sum(row["exclusive_samples"] for row in rows), own, "samples of the function")
    loop = [i for i, line in enumerate(text, 1) if "while (n--)" in line][0]
    require(sum(row["exclusive_samples"] for row in rows
                if row["source_line_begin"] in (loop, loop + 1)) > own * .9, rows)
    flat = [row for row in context.report("lines", "--source")["rows"]
            if row["source_line_begin"] in (loop, loop + 1)]
    expect(flat[0]["source_text"], text[flat[0]["source_line_begin"] - 1].strip(), "text without its indentation")


def test_source_elsewhere(context):
    """The source has moved: it is found below a folder; where it is not, one line says so."""
    program = build(context, "gcc")
    context.sample("--", program)
    os.makedirs(context.path("moved/deep"))
    os.rename(context.path("src"), context.path("moved/deep/src"))
    done = context.run(context.dwell, "report", context.path("run.dwell"), "lines", "spin", "--source")
    expect(done.returncode, 0, done.stderr)
    expect(done.stderr.count("--source-dir"), 1, done.stderr)
    require("while (n--)" not in done.stdout, done.stdout)
    for folder in ("moved/deep", "moved/deep/src"):
        rows = context.report("lines", "spin", "--source-dir", context.path(folder))["rows"]
        require(any("while (n--)" in (row["source_text"] or "") for row in rows), rows)
    os.remove(context.path("moved/deep/src/spin.c"))
    os.mkfifo(context.path("moved/deep/src/spin.c"))
    done = context.run(context.dwell, "report", context.path("run.dwell"), "lines", "spin",
                       "--source-dir", context.path("moved/deep/src"))
    expect(done.returncode, 0, done.stderr)
    require("while (n--)" not in done.stdout, done.stdout)


@cases("sample", "instrument")
def test_source_in_the_session(context, method):
    """A session recorded with --source needs no file."""
    program = build(context, "gcc")
    getattr(context, method)("--source", "--", program)
    os.remove(context.path("src/spin.c"))
    report = context.report("lines", "spin" if method == "sample" else "main", "--source")
    expect(report["session"]["source_files"] >= 1, True, "packed files")
    text = "\n".join(row["source_text"] or "" for row in report["rows"])
    require(("while (n--)" if method == "sample" else "spin(300000000)") in text, text)


@cases("sample", "instrument")
def test_source_for_an_ordinary_user(context, method):
    """Whoever is in more groups than one may read no less for it."""
    context.need("root")
    program = build(context, "gcc")
    os.chmod(context.path("src/spin.c"), 0o640)
    os.chown(context.path("src/spin.c"), 0, GROUP)
    context.ordinary_user()
    context.env["XDG_CACHE_HOME"] = context.path("cache")
    done = context.run("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", f"--groups={NOBODY},{GROUP}",
                       context.dwell, method, "-q", "-o", "run.dwell", "--source", "--", program)
    expect((done.returncode, done.stderr), (0, ""), f"status and errors of dwell {method}")
    require(context.report("lines", "--source")["session"]["source_files"] >= 1, "no file is packed")


def test_source_that_is_none(context):
    """What stands where the source was when the recording ends is packed only if it is a file."""
    program = build(context, "gcc")
    os.remove(context.path("src/spin.c"))
    os.mkfifo(context.path("src/spin.c"))
    context.sample("--source", "--", program)
    rows = context.report("lines", "spin")["session"]
    expect(rows["source_files"], 0, "packed files")
