"""dwell FILE on a terminal: what it shows is what dwell report says, every key does what the help says,
and the terminal is given back."""
import os
import re
import signal
import subprocess
import time

from harness import DEFAULT_SECONDS, File, cases, expect, one_line, require
from readers import MEASURED, command_of, expect_rows, header_of, make, read, report_of
from screens import (BACKSPACE, BACK_TAB, DOWN, END, ENTER, ESCAPE, HOME, LEFT, PAGE_DOWN, PAGE_UP, RIGHT, UP,
                     Terminal, cells)

FILE = File(needs=("pyte",))


def unfold_all(terminal):
    """Every row of a tree is unfolded, one by one."""
    terminal.press(HOME)
    at, n = 0, 1
    while at < n:
        terminal.until(lambda at=at: re.match(f"{at + 1} of ", terminal.status()), f"row {at + 1}")
        terminal.press("+")
        expected = terminal.status()
        terminal.read(.05)
        n = int(re.match(r"\d+ of (\d+)", terminal.status())[1])
        require(expected, "an empty last line")
        at += 1
        if at < n:
            terminal.press(DOWN)


@cases("plain", "calls", "memory")
def test_views_are_reports(context, name):
    """Each tab shows the numbers of the report that key c names."""
    kind = MEASURED[name]
    with read(context, make(context, name), rows=60, columns=240) as terminal:
        terminal.shows("1 summary")
        tabs = re.findall(r"[a-z-]+", terminal.lines()[1])
        compared = 0
        for tab in tabs[1:]:
            terminal.press("\t")
            terminal.until(lambda: re.match(r"\d+ of|nothing", terminal.status()) and
                           re.search(r"Name|Command|Instruction|GC Reason|Call Path", terminal.text()), f"rows of {tab}")
            expect(command_of(terminal)[3], tab, "view of the command")
            if tab in ("gc", "lifetime", "slowest", "waits", "file-io", "processes", "threads", "instructions"):
                continue  # other columns: golden tables have them
            if tab in ("calltree", "allocations"):
                unfold_all(terminal)
            rows = report_of(context, terminal)
            if tab == "modules":
                rows = [row for row in rows if not row["level"]]
            expect_rows(terminal, rows, kind, tab)
            compared += 1
        require(compared >= 4, f"only {compared} of {tabs} were compared")


@cases("callers", "lines", "instructions", "calltree")
def test_about_a_function(context, view):
    """Enter, a, a once more and z show the function at hand; s goes back."""
    keys = {"callers": ENTER, "lines": "a", "instructions": "aa", "calltree": "z"}[view]
    with read(context, make(context, "plain"), rows=60, columns=240) as terminal:
        terminal.shows("1 summary")
        terminal.press("2")
        terminal.shows("1 of 5")
        terminal.press("/fib" + ENTER)
        terminal.shows("2 of 5")
        terminal.press(keys)
        terminal.shows({"callers": "[around fib]", "calltree": "[below fib]"}.get(view, "[of fib"))
        words = command_of(terminal)
        expect(words[3], view, "view of the command")
        require("fib" in words, words)
        if view in ("callers", "lines"):
            rows = report_of(context, terminal)
            require(len(rows) > 1, rows)
            if view == "lines":  # what was not seen is blank
                rows = [row for row in rows if row["inclusive_samples"]]
            expect_rows(terminal, rows, "samples", view)
        terminal.press("s" * len(keys))
        terminal.shows("2 of 5")


def functions(terminal):
    """Names of functions on the screen, from the top."""
    rows = [cells(line) for line in terminal.lines()[3:-1] if line]
    return [row[5] for row in rows if len(row) > 5]


def test_order(context):
    """< and > go through the columns, o takes any, r turns round: rows are in the order of the report."""
    with read(context, make(context, "plain"), rows=40, columns=200) as terminal:
        terminal.shows("1 summary")
        terminal.press("2")
        terminal.shows("by Exclusive Samples")
        for key, said in (("<", "by Exclusive Samples %"), (">", "by Exclusive Samples"),
                          (">", "by Inclusive Samples %"), ("r", "by Inclusive Samples %, reversed"),
                          ("ofunction_line_number" + ENTER, "by Function Line Number"),
                          ("r", "by Function Line Number, reversed"), (">", "by Exclusive Samples %"),
                          ("ofunction name" + ENTER, "by Function Name")):
            terminal.press(key)
            terminal.until(lambda said=said: re.fullmatch(rf"1 of 5, {said}(  .*)?", terminal.status()), said)
            expect_rows(terminal, report_of(context, terminal), "samples", said)
        terminal.press("onothing" + ENTER)
        terminal.shows("there is no column 'nothing' here")
        terminal.press("1")
        terminal.shows("Hot path")
        terminal.press("r")
        terminal.shows("the summary has an order of its own")


@cases("p201\r", "pchild\r", "t101\r", "mlibwork.so\r", "mlib*\r", "T0 600ms\r", "T1ms 50ms\r")
def test_filters(context, keys):
    """What is asked for is filtered, a chip says so, and x takes it back."""
    with read(context, make(context, "plain"), rows=40, columns=200) as terminal:
        terminal.shows("1 summary")
        terminal.press("2")
        terminal.shows("1 of 5")
        terminal.press(keys)
        terminal.until(lambda: terminal.lines()[2].startswith("["), "a chip")
        words = command_of(terminal)
        require(len(words) > 4, words)
        expect_rows(terminal, report_of(context, terminal), "samples", keys)
        terminal.press("x")
        terminal.shows("1 of 5")
        require("[" not in terminal.lines()[2], terminal.text())
        terminal.press("x")
        terminal.shows("everything is shown already")


@cases("calls", "memory")
def test_ranges_of_slices(context, name):
    """Sessions that are added up while they are read are read once more for another range."""
    with read(context, make(context, name), rows=40, columns=240) as terminal:
        terminal.shows("1 summary")
        terminal.press("2")
        terminal.shows("1 of")
        before = terminal.lines()[3:]
        terminal.press("T0 100ms" + ENTER)
        terminal.shows("[time 0 ns to 100.0 ms]")
        rows = report_of(context, terminal)
        expect_rows(terminal, rows, MEASURED[name], "a range")
        terminal.press("x")
        terminal.until(lambda: terminal.lines()[3:-1] == before[:-1], "everything again")


def test_words_that_fit_nothing(context):
    """A filter that fits nothing is told, and all stays as it was."""
    with read(context, make(context, "plain"), rows=40, columns=200) as terminal:
        terminal.shows("1 summary")
        terminal.press("2")
        terminal.shows("1 of 5")
        for keys, said in (("p4711", "4711"), ("tnobody", "nobody"), ("mnothing*", "nothing*"),
                           ("T2 1", "the range of time is empty"), ("Tsoon", "'soon' is no range of time")):
            terminal.press(keys + ENTER)
            terminal.until(lambda said=said: said in terminal.status(), said)
            at = [y for y, line in enumerate(terminal.lines()) if "Function Name" in line][0]
            expect(len([line for line in terminal.lines()[at + 1:-1] if line]), 5, "rows")
        terminal.press("p4711" + ESCAPE)
        terminal.shows("1 of 5")


@cases("7", "8", "4")
def test_enter_on_what_did_it(context, tab):
    """Enter on a process, a thread or a module shows what it did; f stays in the view."""
    with read(context, make(context, "plain"), rows=40, columns=200) as terminal:
        terminal.shows("1 summary")
        terminal.press(tab)
        terminal.shows("1 of")
        terminal.press("f")
        terminal.until(lambda: terminal.lines()[2].startswith("["), "a chip")
        chip = terminal.lines()[2]
        terminal.press("x")
        terminal.until(lambda: not terminal.lines()[2].startswith("["), "no chip")
        terminal.press(ENTER)
        terminal.shows("Function Name")
        expect(terminal.lines()[2], chip, "the chip")
        expect_rows(terminal, report_of(context, terminal), "samples", "functions")
        terminal.press(BACKSPACE)
        terminal.until(lambda: "Function Name" not in terminal.text(), "the view before")


def test_type_of_objects(context):
    with read(context, make(context, "memory"), rows=40, columns=240) as terminal:
        terminal.shows("1 summary")
        terminal.press("0")
        terminal.shows("Class Name")
        terminal.press(ENTER)
        terminal.shows("[type ")
        require("--type" in command_of(terminal), terminal.text())
        require("Incl Allocs" in terminal.text(), terminal.text())


# By the name that the help gives them: keys, and whether what they do can be seen, given screens before and
# after. They are pressed one after the other, from the functions of the golden session on.
STEPS = (
    ("End, G", (END, "G"), lambda t: "5 of 5" in t.status()),
    ("Home, g", (HOME, "g"), lambda t: "1 of 5" in t.status()),
    ("Down, j", (DOWN, "j"), lambda t: "3 of 5" in t.status()),
    ("Up, k", (UP, "k"), lambda t: "1 of 5" in t.status()),
    ("PageDown, Ctrl-F", (PAGE_DOWN, "\6"), lambda t: "5 of 5" in t.status()),
    ("PageUp, Ctrl-B", (PAGE_UP, "\2"), lambda t: "1 of 5" in t.status()),
    ("Right", (RIGHT,), lambda t: "Excl %" not in t.text()),
    ("Left", (LEFT,), lambda t: "Excl %" in t.text()),
    ("/", ("/INT" + ENTER, "/int" + ENTER), lambda t: "of 5" in t.status() and t.chosen()),
    ("n", ("n",), lambda t: "3 of 5" in t.status()),
    ("N", ("N",), lambda t: "1 of 5" in t.status()),
    ("<", ("<",), lambda t: "by Exclusive Samples %" in t.status()),
    (">", (">",), lambda t: "by Exclusive Samples  " in t.status()),
    ("o", ("oname" + ENTER,), lambda t: "no column 'name'" in t.status()),
    ("r", ("r",), lambda t: "reversed" in t.status()),
    ("C", ("C", " ", ENTER), lambda t: "Excl %" not in t.text() and "1 of 5" in t.text()),
    ("C", ("C", "d", ENTER), lambda t: "Excl %" in t.text() and "1 of 5" in t.text()),
    ("Enter", (ENTER,), lambda t: "[around " in t.text()),
    ("s, Backspace", ("a", BACKSPACE, "s"), lambda t: "[around" not in t.text() and "1 of 5" in t.text()),
    ("a", ("a",), lambda t: "[of " in t.text()),
    ("z", ("s", "z"), lambda t: "[below " in t.text()),
    ("Tab", ("\t",), lambda t: "Function Name" in t.text() and "[below" not in t.text()),
    ("Shift-Tab", ("\t", BACK_TAB), lambda t: "Function Name" in t.text()),
    ("1 ... 9, 0", ("1", "9", "3"), lambda t: "of 7" in t.status()),
    ("-", (HOME, "-"), lambda t: "1 of 1," in t.status()),
    ("+", ("+",), lambda t: "1 of 7" in t.status()),
    ("Space", (" ",), lambda t: "1 of 1," in t.status()),
    ("E", (DOWN, "E"), lambda t: "of 1," not in t.status()),
    ("f", ("2", HOME, "f"), lambda t: "[module " in t.text()),
    ("A", ("x", "A"), lambda t: "all code" in t.lines()[0]),
    ("A", ("A",), lambda t: "system's code folded" in t.lines()[0]),
    ("x", ("f", "x"), lambda t: "[module " not in t.text()),
    ("p", ("p101" + ENTER,), lambda t: "[process 101]" in t.text()),
    ("t", ("t101" + ENTER,), lambda t: "[thread 101]" in t.text()),
    ("m", ("mprog" + ENTER,), lambda t: "[module prog]" in t.text()),
    ("T", ("T0 1" + ENTER,), lambda t: "[time " in t.text()),
    ("R", ("R", RIGHT, "\t", LEFT, ENTER), lambda t: "[time 0 ns" not in t.text() and "[time " in t.text()),
    ("c", ("c",), lambda t: "--thread 101" in t.text()),
    ("P", ("P",), lambda t: "there is no recording that goes on here" in t.status()),
    ("w", ("w" + ENTER,), lambda t: "wrote 'functions.csv'" in t.status()),
)


def test_every_key(context):
    """Each key that the help shows is pressed, and what it does is seen."""
    with read(context, make(context, "plain"), rows=60, columns=160) as terminal:
        terminal.shows("1 summary")
        terminal.press("?")
        terminal.shows("these keys")
        names = {line[2:24].strip() for line in terminal.lines() if line.startswith("  ")} - {""}
        terminal.press("q")  # the help alone
        terminal.shows("1 summary")
        expect(names - {name for name, *_ in STEPS}, {"?", "q, Ctrl-C"}, "keys that nothing presses")
        terminal.press("2")
        terminal.shows("1 of 5")
        for name, keys, is_seen in STEPS:
            for key in keys:
                terminal.press(key)
                terminal.read(.1)
            terminal.until(lambda: is_seen(terminal), f"what {name} does")
        terminal.press("q")
        expect(terminal.end(), 0, "status")


def test_help_says_all(context):
    """The manual page names the keys of the help."""
    with open(os.path.join(os.path.dirname(__file__), "../../docs/man/dwell-read.1")) as f:
        page = f.read().replace("\\-", "-")
    with read(context, make(context, "plain"), rows=60, columns=160) as terminal:
        terminal.shows("1 summary")
        terminal.press("?")
        terminal.shows("these keys")
        names = {line[2:24].strip() for line in terminal.lines() if line.startswith("  ")} - {""}
    missing = [name for name in names if f".B {name}\n" not in page]
    expect(missing, [], "keys that docs/man/dwell-read.1 does not name")


def test_help_on_small_screens(context):
    """Text that has no room says so, and is read through to its end."""
    with read(context, make(context, "plain"), rows=24, columns=80) as terminal:
        terminal.shows("summary")
        terminal.press("?")
        terminal.until(lambda: re.match(r"1 to 23 of \d+ lines: Space goes on, q goes back", terminal.status()), "a page")
        terminal.press("  ")
        terminal.until(lambda: re.match(r"\d+ to (\d+) of \1 lines", terminal.status()), "the last line")
        require("leave" in terminal.text(), terminal.text())
        terminal.press("q")
        terminal.shows("Hot path")


def test_folded_rows_are_found(context):
    """A search in a tree unfolds what it finds."""
    with read(context, make(context, "plain"), rows=40, columns=160) as terminal:
        terminal.shows("1 summary")
        terminal.press("3")
        terminal.shows("1 of 7")
        terminal.press(" ")
        terminal.shows("1 of 1,")
        terminal.press("/clamp" + ENTER)
        terminal.until(lambda: "clamp" in terminal.lines()[terminal.chosen() or 0], "clamp at the cursor")
        terminal.press("/nobody" + ENTER)
        terminal.shows("'nobody' is in no row")


@cases("functions.csv", "tree.json")
def test_save(context, name):
    """What is written is what dwell report writes; nothing is replaced."""
    with read(context, make(context, "plain"), rows=40, columns=160) as terminal:
        terminal.shows("1 summary")
        terminal.press("2")
        terminal.shows("1 of 5")
        terminal.press("p101" + ENTER)
        terminal.shows("[process 101]")
        for said in (f"wrote '{name}'", "is there already"):
            terminal.press("w\25" + name + ENTER)
            terminal.shows(said)
    with open(context.path(name)) as f:
        written = f.read()
    done = context.run(context.dwell, "report", "plain.dwell", "functions", "--process", "101",
                       "--just-my-code=callee", "-f",
                       name.split(".")[1])
    expect(written, done.stdout, "the file")


SIZES = ((24, 80), (10, 40), (5, 20), (3, 12), (2, 7), (1, 1), (1, 80), (50, 4), (60, 200), (24, 80))


@cases("plain", "calls", "memory", "hostile")
def test_sizes(context, name):
    """At any size the screen is what it would have been if the reader had begun with it."""
    path = make(context, name)
    with read(context, path, rows=24, columns=80) as terminal:
        terminal.shows("summary")
        for keys in ("", "2", "3"):
            terminal.press(keys)
            for rows, columns in SIZES:
                terminal.resize(rows, columns)
                with read(context, path, rows=rows, columns=columns) as fresh:
                    fresh.until(lambda: b"\033[?1049h" in fresh.raw, "a screen")
                    fresh.read(.1)
                    fresh.press(keys)
                    end = time.monotonic() + DEFAULT_SECONDS
                    while terminal.lines() != fresh.lines():
                        terminal.read()
                        fresh.read()
                        require(time.monotonic() < end,
                                f"{rows} x {columns}:\n{terminal.text()}\nwanted\n{fresh.text()}")
        terminal.press("q")
        expect(terminal.end(), 0, "status")


@cases("plain", "calls", "memory")
def test_narrow_screens(context, name):
    """What decides the order and the names have room on any screen that people use; few columns have
    more to say than many that are cut."""
    kept = {"plain": ("Excl %", "Exclusive", "Incl %", "Inclusive"), "calls": ("Calls", "Elapsed Excl", "App Excl"),
            "memory": ("Excl %", "Excl Bytes", "Incl %")}[name]
    with read(context, make(context, name), rows=24, columns=80) as terminal:
        terminal.shows("summary")
        terminal.press("2")
        terminal.shows("Function Name")
        header = header_of(terminal)
        expect([title for title in kept if title not in header], [], f"left out of {header}")
        terminal.resize(24, 40)
        terminal.until(lambda: {kept[1], "Function Name"} <= set(header_of(terminal)),
                       "what has room")


def test_wide_names(context):
    """What stands behind a name of wide characters is in its column."""
    name = "日本語の関数名"
    with open(context.path("wide.c"), "w") as f:
        f.write(f"__attribute__((noinline)) unsigned {name}(unsigned n) {{ unsigned s = 0; "
                "for (unsigned i = 0; i < n; i++) s += i * i % 7; return s; }\n"
                f"int main(void) {{ return {name}(500000000) == 1; }}\n")
    context.make("gcc", "-g", "-O1", "wide.c", "-o", "wide")
    context.sample("./wide")
    with read(context, "run.dwell", rows=24, columns=100) as terminal:
        terminal.shows("summary")
        terminal.press("2")
        terminal.shows("Module Name")
        x = next(line for line in terminal.lines() if "Module Name" in line).index("Module Name")
        terminal.until(lambda: any(name in line for line in terminal.lines()), name)
        row = terminal.screen.buffer[[y for y, line in enumerate(terminal.lines()) if name in line][0]]
        terminal.until(lambda: "".join(row[i].data for i in range(x, x + 4)) == "wide",
                       "the module's name below its header")


def test_unknown_keys(context):
    with read(context, make(context, "plain")) as terminal:
        terminal.shows("1 summary")
        terminal.press("Z")
        terminal.shows("this key does nothing")
        terminal.press(ESCAPE)
        terminal.until(lambda: "this key" not in terminal.status(), "silence")


def test_hostile_names(context):
    """Names of a forged session write nothing but text."""
    with read(context, make(context, "hostile"), rows=50, columns=160) as terminal:
        terminal.shows("summary")
        for keys in ("2", "3", "E", " ", "4", "E", "5", "6", "7", "8", ENTER, "c", "x", "a", "s", "1", DOWN,
                     ENTER, "/\\x1b" + ENTER, "n", "c", "?", "q"):
            terminal.press(keys)
            terminal.read(.1)
        terminal.press("2")
        terminal.shows("esc\\x1b[31mape\\x07")
        terminal.press("q")
        expect(terminal.end(), 0, "status")
        own = re.sub(rb"\033\[[?>]?[\d;]*[A-Za-z]|\033[()][0B]|\033[=>7-8M]", b"", terminal.raw)
        rest = re.findall(rb"[\0-\x07\x0b\x0c\x0e-\x1f\x7f].{0,20}", own)
        expect(rest, [], "what controls the terminal")
        require(b"2J" not in re.sub(rb"\033\[H\033\[2J", b"", own).replace(b"\\x1b[2J", b""), "cleared by a name")


@cases("q", "Ctrl-C", "SIGTERM", "SIGHUP", "SIGSEGV", "SIGABRT")
def test_terminal_is_given_back(context, what):
    with read(context, make(context, "plain")) as terminal:
        terminal.shows("1 summary")
        if what.startswith("SIG"):
            os.kill(terminal.pid, getattr(signal, what))
            expect(terminal.end(), -getattr(signal, what), "status")
        else:
            terminal.press("q" if what == "q" else "\3")
            expect(terminal.end(), 0 if what == "q" else -signal.SIGINT, "status")


def test_stop_and_go_on(context):
    """Ctrl-Z gives the terminal to the shell, fg takes it back, at whatever size it is then."""
    script = '"$0" "$1"; echo stopped; read line; fg >/dev/null; echo ended $?'
    path = make(context, "plain")
    with Terminal(context, "bash", "-mc", script, context.dwell, path, rows=24, columns=100) as terminal:
        terminal.shows("summary")
        terminal.press("2")
        terminal.shows("1 of 5")
        terminal.press("\x1a")
        terminal.shows("stopped")
        require("1 of 5" not in terminal.screen.display[-1] or b"\033[?1049l" in terminal.raw, "still on screen")
        terminal.resize(30, 90)
        terminal.press("go\n")
        terminal.until(lambda: "1 of 5" in terminal.lines()[29], "the reader again")
        terminal.press(DOWN)
        terminal.shows("2 of 5")
        terminal.press("q")
        terminal.shows("ended 0")


def test_no_screen(context):
    """Without a terminal, or on one that can do nothing, it is the summary."""
    path = make(context, "plain")
    summary = context.run(context.dwell, "report", path).stdout
    for words in ((path,), ("read", path)):
        done = context.run(context.dwell, *words)
        expect((done.returncode, done.stderr, done.stdout), (0, "", summary), "piped")
    narrowed = context.run(context.dwell, "report", path, "--process", "101").stdout
    expect(context.run(context.dwell, path, "--process", "101").stdout, narrowed, "piped with a filter")
    for term in ("dumb", "no-such-terminal"):
        with read(context, path, columns=80, env={"TERM": term, "PAGER": "cat"}) as terminal:
            while terminal.read():
                pass
            require(b"\033[?1049h" not in terminal.raw, "a screen")
            require("Hot path" in terminal.text(), terminal.text())


def test_no_colour(context):
    path = make(context, "plain")
    with read(context, path) as terminal:
        terminal.shows("1 summary")
        terminal.press("2")
        terminal.shows("1 of 5")
        require(re.search(rb"\033\[[\d;]*31m", terminal.raw), "no colour where there should be")
    with read(context, path, env={"NO_COLOR": "1"}) as terminal:
        terminal.shows("1 summary")
        terminal.press("2p101" + ENTER)
        terminal.shows("[process 101]")
        expect(re.findall(rb"\033\[(?:\d+;)*[34]\d[;m]", terminal.raw), [], "colours")


def test_what_is_no_session(context):
    """One line, and the status of dwell report, with a terminal and without."""
    with open(context.path("text.dwell"), "w") as f:
        f.write("not a session\n" * 100)
    for path in ("missing.dwell", "./missing", "text.dwell", "/"):
        want = context.run(context.dwell, "report", path)
        done = context.run(context.dwell, path)
        expect((done.returncode, done.stdout, done.stderr), (want.returncode, "", want.stderr), path)
        one_line(done.stderr, path)
        with read(context, path) as terminal:
            while terminal.read():
                pass
            expect(terminal.text().strip(), want.stderr.strip(), f"{path} on a terminal")
            expect(os.waitstatus_to_exitcode(os.waitpid(terminal.pid, 0)[1]), want.returncode, "status")
            terminal.pid = 0
    done = context.run(context.dwell, "no-command")
    expect((done.returncode, done.stdout), (2, ""), "an unknown command")
    require("unknown command 'no-command'" in one_line(done.stderr, "no-command"), done.stderr)
    make(context, "plain")
    for words in (("plain.dwell", "functions"), ("plain.dwell", "--sort", "x"), ("read",)):
        done = context.run(context.dwell, *words)
        expect((done.returncode, done.stdout), (2, ""), f"wrong usage {words}")
        one_line(done.stderr, "wrong usage")


def test_partial(context):
    """A recording that goes on, or whose collector was killed, is read as well."""
    recorder = context.start(context.dwell, "sample", "-q", "-o", "run.dwell", "--",
                             context.target("truth-gcc-O2"), "plain", "20")

    def is_told():
        done = context.run(context.dwell, "report", "run.dwell.partial", "functions", "-f", "csv")
        return "alpha" in done.stdout
    context.wait_for(is_told, "the first commit")
    with read(context, "run.dwell.partial") as terminal:
        terminal.shows("summary")
        terminal.press("2")
        terminal.shows("alpha")
        terminal.press("q")
        expect(terminal.end(), 0, "status")
    os.killpg(recorder.pid, signal.SIGTERM)
    recorder.communicate(timeout=DEFAULT_SECONDS)


def cpu_seconds(pid):
    """Of the thread that draws: what is computed ahead is another one's."""
    with open(f"/proc/{pid}/task/{pid}/stat") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_a_million_nodes(context):
    """Of a large tree only what is seen is computed: keys take next to no processor time."""
    maker = os.path.join(context.targets, "../tools/make-session")
    words = "samples=1000000 stacks=200000 threads=4 depth=25 addresses=20000 functions=4000 modules=20"
    expect(context.run(maker, "large.dwell", *words.split()).returncode, 0, "status of make-session")
    with read(context, "large.dwell", rows=40, columns=120) as terminal:
        terminal.shows("summary")
        terminal.press("3")
        terminal.until(lambda: re.match(r"1 of \d+", terminal.status()), "the tree")
        before = cpu_seconds(terminal.pid)
        for i in range(20):
            terminal.press(DOWN)
            terminal.until(lambda i=i: terminal.status().startswith(f"{i + 2} of"), "the next row")
        terminal.press(END + "E" + HOME + "r")
        terminal.until(lambda: "reversed" in terminal.status(), "the other order")
        used = cpu_seconds(terminal.pid) - before
        require(used < 24 * .05, f"{used} s for 24 keys")
        terminal.press("/nothing is called that" + ENTER)
        terminal.shows("is in no row")
        terminal.press("q")
        expect(terminal.end(), 0, "status")
