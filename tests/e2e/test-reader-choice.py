"""dwell FILE on a terminal: what people choose there, columns, parts of the session and places, is what they get."""
import json
import os
import re
import signal

from harness import File, cases, expect, require
from readers import MEASURED, command_of, expect_rows, header_of, make, read, report_of
from screens import DOWN, END, ENTER, ESCAPE, HOME, RIGHT

FILE = File(needs=("pyte",))


def switch(terminal, *titles):
    """Choose columns: switch these in the list."""
    terminal.press("C")
    terminal.shows("Columns of")
    for title in titles:
        terminal.press(HOME)
        terminal.until(lambda: terminal.chosen() is None and terminal.screen.buffer[1][0].reverse, "the first column")
        for y, line in enumerate(terminal.lines()):
            if re.fullmatch(rf"\[[x ]] {re.escape(title)}(  .*)?", line):
                terminal.press(DOWN * (y - 1) + " ")
                terminal.until(lambda y=y, line=line: terminal.lines()[y][1] != line[1], f"{title} switched")
                break
        else:
            raise AssertionError(f"no {title} on\n{terminal.text()}")


@cases("plain", "calls", "memory")
def test_columns_are_chosen(context, name):
    """Columns that are switched on and off are those of the table, the command and the file, in this view alone."""
    off = {"plain": "Inclusive Samples %", "calls": "Elapsed Exclusive Time", "memory": "Exclusive Bytes %"}[name]
    with read(context, make(context, name), rows=50, columns=240) as terminal:
        terminal.shows("1 summary")
        terminal.press("C")
        terminal.shows("there are no columns here")
        terminal.press("2")
        terminal.shows("1 of")
        before = header_of(terminal)
        switch(terminal, off, "Module Path")
        terminal.press(ESCAPE)
        terminal.shows("1 of")
        expect(header_of(terminal), before, "what was taken back")
        switch(terminal, off, "Module Path")
        terminal.press(ENTER)
        terminal.until(lambda: "Module Path" in header_of(terminal), "the column")
        words = command_of(terminal)
        keys = words[words.index("--columns") + 1].split(",")
        expect(len(keys), len(before), "columns of the command")
        require("module_path" in keys and len(header_of(terminal)) == len(before), (keys, terminal.text()))
        rows = report_of(context, terminal)
        expect(list(rows[0]), keys, "columns of the report")
        expect_rows(terminal, rows, MEASURED[name], "chosen columns")
        terminal.press("w\25chosen.csv" + ENTER)
        terminal.shows("wrote 'chosen.csv'")
        with open(context.path("chosen.csv")) as f:
            written = f.read()
        expect(written, context.run(context.dwell, *words[1:], "-f", "csv").stdout, "the file")
        terminal.press("3")
        terminal.shows("calltree")
        require("--columns" not in command_of(terminal), "columns of another view")
        terminal.press("2Cd" + ENTER)
        terminal.until(lambda: header_of(terminal) == before, "the view's own columns")
        require("--columns" not in command_of(terminal), "columns that are the view's own")


def test_latency_where_it_is_asked_for(context):
    """What totals have for who asks alone is there once its column is chosen, or rows are to be ordered by it."""
    context.sample("--", context.target("truth-gcc-O2"), "plain", "0.3")
    with read(context, "run.dwell", rows=150, columns=240) as terminal:
        terminal.shows("1 summary")
        terminal.press("2")
        terminal.shows("1 of")
        require("Latency Incl" not in header_of(terminal), terminal.text())
        switch(terminal, "Inclusive Latency", "Exclusive Latency")
        terminal.press(ENTER)
        terminal.until(lambda: "Latency Incl" in header_of(terminal) and re.match(r"1 of", terminal.status()), "the columns")
        rows = report_of(context, terminal)
        require(max(row["inclusive_latency"] for row in rows) > 1e8, rows)
        expect_rows(terminal, rows, "work_time", "latency")
        terminal.press("3")
        terminal.shows("calltree")
        terminal.press("oexclusive latency" + ENTER)
        terminal.until(lambda: "by Exclusive Latency" in terminal.text(), "the order")
        require("main" in terminal.text() and "--sort" in " ".join(command_of(terminal)), terminal.text())


def test_columns_of_a_view(context):
    """What was chosen holds for the view of any function; a tree keeps its names, and a table one column."""
    with read(context, make(context, "plain"), rows=24, columns=80) as terminal:
        terminal.shows("summary")
        terminal.press("2")
        terminal.shows("1 of 5")
        terminal.press(ENTER)
        terminal.shows("[around ")
        switch(terminal, "Inclusive Samples")
        require(all(len(line) <= 80 for line in terminal.lines()), terminal.text())
        terminal.press(ENTER)
        terminal.until(lambda: "Inclusive" not in header_of(terminal), "a column less")
        terminal.press("s" + DOWN + ENTER)
        terminal.shows("[around ")
        expect("Inclusive" in header_of(terminal), False, "the column, around another function")
        terminal.press("3C")
        terminal.shows("Columns of calltree")
        terminal.press(HOME + "/")
        terminal.shows("this key does nothing here")
        at = [y for y, line in enumerate(terminal.lines()) if "Function Name" in line][0]
        terminal.press(DOWN * (at - 1) + " ")
        terminal.shows("the tree is in this column")


def name_at_cursor(terminal):
    """The words of the row at the cursor, without its numbers."""
    line = terminal.lines()[terminal.chosen()] if terminal.chosen() else ""
    return re.findall(r"[a-z_]\w+(?:<\w+>)?(?:\(\w*\))?", line)


@cases("threads", "processes", "functions", "modules", "calltree")
def test_cursor_stays_on_its_row(context, view):
    """Under another filter the cursor is on the row that it was on, wherever that is then."""
    tab, way, keys = {"threads": ("8", "r" + DOWN, "f"), "processes": ("7", "r" + DOWN, "f"),
                      "functions": ("2", "r" + DOWN, "p201" + ENTER), "modules": ("4", "r" + DOWN, "p201" + ENTER),
                      "calltree": ("3", "r/main" + ENTER, "p201" + ENTER)}[view]
    with read(context, make(context, "plain"), rows=30, columns=160) as terminal:
        terminal.shows("1 summary")
        terminal.press(tab)
        terminal.shows("1 of ")
        # The order of the screen is turned round, so that what the filter leaves something of is not the first row.
        terminal.press(way)
        terminal.until(lambda: re.match(r"[^1] of \d+, .*reversed", terminal.status()), "another row")
        name, at = name_at_cursor(terminal), terminal.status()
        require(name, terminal.text())
        terminal.press(keys)
        terminal.until(lambda: terminal.lines()[2].startswith("["), "a chip")
        terminal.until(lambda: re.match(r"\d+ of \d+", terminal.status()) and name_at_cursor(terminal) == name, name)
        terminal.press("x")
        terminal.until(lambda: terminal.status() == at and name_at_cursor(terminal) == name, name)


@cases("7", "8", "4")
def test_back_takes_back_what_enter_chose(context, tab):
    """Back in the list it is whole, on the row that was entered; a filter that was set since stays."""
    with read(context, make(context, "plain"), rows=40, columns=200) as terminal:
        terminal.shows("1 summary")
        terminal.press(tab)
        terminal.shows("1 of ")
        terminal.press(DOWN)
        terminal.shows("2 of ")
        before = terminal.text()
        for keys in ("", ENTER + "s", "\t"):  # through callers of a function, and through another view
            terminal.press(ENTER)
            terminal.until(lambda: terminal.lines()[2].startswith("["), "a chip")
            terminal.press(keys)
            terminal.read(.1)
            terminal.press("ss" if keys == "\t" else "s")
            terminal.until(lambda: terminal.text() == before, f"the list as it was\n{before}\n")
        terminal.press(ENTER)
        terminal.until(lambda: terminal.lines()[2].startswith("["), "a chip")
        terminal.press("m\x15prog" + ENTER + "p\x15101" + ENTER + "t\x15101" + ENTER)
        terminal.shows("[thread 101]")
        terminal.press("s")
        terminal.until(lambda: "Function Name" not in terminal.text(), "the list")
        require(all(chip in terminal.lines()[2] for chip in ("[module prog]", "[process 101]", "[thread 101]")),
                terminal.text())


def all_code_of(context, terminal):
    """Rows of all code, and with the system's folded, by key A: each is what the report of the command says."""
    folded = report_of(context, terminal)
    require("--just-my-code=callee" in command_of(terminal), "folded in the command")
    terminal.press("A")
    terminal.until(lambda: terminal.lines()[0].endswith(", all code") and has_rows(terminal), "all code")
    everything = report_of(context, terminal)
    require("--all-code" in command_of(terminal), "all code in the command")
    return everything, folded


@cases("plain", "memory", "recorded")
def test_system_code_is_folded(context, name):
    """Where tables of reports fold the system's code so do those of the reader, and key A shows all of it."""
    if name == "recorded":
        context.sample(context.target("truth-gcc-O2"), "plain", "1", session="recorded.dwell")
        kind, path = "samples", "recorded.dwell"
        require(context.report("functions", session=path)["session"]["samples_kept"] > 0, "nothing was recorded")
    else:
        kind, path = MEASURED[name], make(context, name)
    with read(context, path, rows=250, columns=240) as terminal:
        terminal.shows("1 summary")
        terminal.press("2")
        terminal.until(lambda: has_rows(terminal), "functions")
        # Of the golden objects there is none but what is called by the user's code.
        expect("system's code folded" in terminal.lines()[0], name != "memory", "what the first line says")
        expect_rows(terminal, report_of(context, terminal), kind, "folded")
        everything, folded = all_code_of(context, terminal)
        expect_rows(terminal, everything, kind, "all code")
        expect(everything != folded, name != "memory", "there is code to be folded")
        terminal.press("A" + ENTER)
        terminal.shows("[around ")
        require("--just-my-code=callee" in command_of(terminal), "callers")
        expect_rows(terminal, report_of(context, terminal), kind, "callers")
        terminal.press("4")  # a view that shows all code
        terminal.until(lambda: "[around" not in terminal.text() and has_rows(terminal), "modules")
        require("code" not in terminal.lines()[0].rsplit(",")[-1], terminal.text())
        terminal.press("A")
        terminal.shows("all code is shown here")


def test_asked_for_system_code(context):
    """The system's code is shown when somebody asks for it: around a function of its, by a module, below a function."""
    with read(context, make(context, "plain"), "--all-code", rows=60, columns=240) as terminal:
        terminal.shows("all code")
        terminal.press("2/_start" + ENTER + ENTER)
        terminal.shows("[around _start]")
        terminal.press("A")
        terminal.until(lambda: not terminal.lines()[0].endswith("all code") and has_rows(terminal), "callers, folded")
        expect_rows(terminal, report_of(context, terminal), "samples", "around the system's function")
        require("_start" in terminal.text(), terminal.text())
        for keys, said in (("2mprog" + ENTER, "[module prog]"), ("x2z", "[below ")):
            terminal.press(keys)
            terminal.shows(said)
            terminal.until(lambda: has_rows(terminal), "rows")
            require("--all-code" in command_of(terminal) and "folded" not in terminal.lines()[0], terminal.text())
            terminal.press("A")
            terminal.shows("all code is shown here")
    with read(context, make(context, "calls")) as terminal:
        terminal.shows("1 summary")
        terminal.press("A")
        terminal.shows("calls are shown as they were measured")


BARS = " ▁▂▃▄▅▆▇█"
PLAIN_BARS = " .:-=+*%#"
UTF8, NO_UTF8 = {"LC_ALL": "C.UTF-8"}, {"LC_ALL": "C"}


@cases("all", "io,lock")
def test_waits_that_count(context, kinds):
    """Which waits count is in the command, unless they are those that do by themselves."""
    with read(context, make(context, "calls"), "--waits", kinds) as terminal:
        terminal.shows("1 summary")
        words = command_of(terminal)
        expect(words[words.index("--waits") + 1].split(","), sorted(kinds.split(","), reverse=True), f"kinds in {words}")
    with read(context, make(context, "calls")) as terminal:
        terminal.shows("1 summary")
        require("--waits" not in command_of(terminal), "what goes without saying")


def timeline_of(terminal, bars=BARS):
    """How full each column of the timeline is, and its line. Empty: there is none."""
    width = terminal.screen.columns
    for y, line in enumerate(terminal.lines()[:5]):
        if y >= 2 and line and set(line) <= set(bars):
            return [bars.index(c) for c in line.ljust(width)], y
    return [], None


def measured(context, path, from_ms, until_ms):
    """What functions did themselves in a part of the session's time."""
    done = context.run(context.dwell, "report", path, "functions", "--from", f"{from_ms}ms", "--until", f"{until_ms}ms",
                       "-f", "json")
    column = {"plain": "exclusive_samples", "calls": "application_exclusive_time",
              "memory": "exclusive_bytes"}[path.split(".")[0]]
    return sum(row[column] or 0 for row in json.loads(done.stdout)["rows"]
               if not (row["function_name"] or "").startswith("["))


@cases("plain", "calls", "memory")
def test_timeline_is_the_session(context, name):
    """Bars are in proportion to what reports of their times say."""
    path = make(context, name)
    times = {"plain": (0, 100, 200, 300), "calls": (0, 50, 125, 200), "memory": (0, 50, 125, 200)}[name]
    duration = {"plain": 1234, "calls": 200, "memory": 200}[name]
    with read(context, path, rows=20, columns=200, env=UTF8) as terminal:
        terminal.until(lambda: 8 in timeline_of(terminal)[0], "a timeline")
        levels, _ = timeline_of(terminal)
        told = [measured(context, path, begin, end) / (end - begin) for begin, end in zip(times, times[1:])]
        shown = []
        for begin, end in zip(times, times[1:]):
            part = levels[begin * 200 // duration + 1:end * 200 // duration - 1]
            shown.append(sum(part) / len(part))
        for rate, bar in zip(told, shown):
            expect(abs(rate / max(told) - bar / max(shown)) < .2, True, f"{told} shown as {shown}")
        terminal.press("2m*r*" + ENTER)
        terminal.shows("[module *r*]")
        terminal.until(lambda: timeline_of(terminal)[0] == levels, "the same timeline, whatever is filtered")


@cases("plain", "calls", "memory")
def test_range_on_the_timeline(context, name):
    """Marks choose a range, which a chip and the command tell; Escape leaves it as it was."""
    with read(context, make(context, name), rows=30, columns=200, env=UTF8) as terminal:
        terminal.shows("1 summary")
        terminal.press("2")
        terminal.shows("1 of")
        before, bars = terminal.lines(), timeline_of(terminal)[0]
        terminal.press("R" + RIGHT * 3)
        terminal.until(lambda: terminal.lines()[3] == " " * 3 + "[" + " " * 195 + "]", "the mark moved")
        terminal.press(ESCAPE)
        terminal.until(lambda: terminal.lines() == before, "all as it was")
        terminal.press("R" + RIGHT * 3 + "\t" + HOME + RIGHT * 20)
        terminal.until(lambda: terminal.lines()[3] == " " * 3 + "[" + " " * 19 + "]", "both marks moved")
        require(" to " in terminal.status() and "Enter take" in terminal.status(), terminal.status())
        terminal.press(ENTER)
        terminal.until(lambda: terminal.lines()[2].startswith("[time "), "a chip")
        terminal.shows("1 of")
        expect(timeline_of(terminal), (bars, 3), "bars, below the chip")
        line = terminal.screen.buffer[3]
        expect([line[x].bold for x in (2, 3, 23, 24)], [False, True, True, False], "the range stands out")
        words = command_of(terminal)
        require("--from" in words and "--until" in words, words)
        expect_rows(terminal, report_of(context, terminal), MEASURED[name], "the range")
        terminal.press("R")
        terminal.until(lambda: terminal.lines()[4] == " " * 3 + "[" + " " * 19 + "]", "the marks of the range")
        terminal.press(HOME + "\t" + END + ENTER)
        terminal.until(lambda: terminal.lines()[3:] == before[3:], "all of the time")
        require("--from" not in command_of(terminal), "a range that is all")


def test_timeline_of_small_screens(context):
    """A screen with few lines has no timeline but while a range is chosen; where there is no UTF-8 it is ASCII."""
    with read(context, make(context, "plain"), rows=15, columns=60, env=NO_UTF8) as terminal:
        terminal.shows("summary")
        terminal.press("2")
        terminal.shows("1 of 5")
        terminal.until(lambda: 8 in timeline_of(terminal, PLAIN_BARS)[0], "a timeline")
        terminal.resize(14, 60)
        terminal.until(lambda: terminal.lines()[2].startswith("Excl"), "no timeline")
        terminal.press("R")
        terminal.shows("Enter take")
        require(timeline_of(terminal, PLAIN_BARS)[0], terminal.text())
        terminal.resize(14, 30)
        terminal.until(lambda: terminal.lines()[3] == "[" + " " * 28 + "]", "marks that fit")
        terminal.press(ESCAPE)
        terminal.until(lambda: not timeline_of(terminal, PLAIN_BARS)[0], "no timeline")


def large(context):
    """A session of which each view takes a while."""
    maker = os.path.join(context.targets, "../tools/make-session")
    done = context.run(maker, "large.dwell", *"call_nodes=1000000 slices=4 threads=2 functions=4000 modules=20".split())
    expect(done.returncode, 0, f"status of make-session\n{done.stderr}")
    return "large.dwell"


def has_rows(terminal):
    return re.match(r"\d+ of \d+", terminal.status())


def test_keys_while_it_computes(context):
    """What takes long leaves the screen alive: help, other views, Escape, which goes back to what was seen."""
    with read(context, large(context), rows=30, columns=160, env=UTF8) as terminal:
        terminal.press("3?")
        terminal.shows("a page on")
        terminal.press("q")
        terminal.until(lambda: has_rows(terminal) and "Function Name" in terminal.text(), "the tree")
        terminal.press("2")
        terminal.until(lambda: has_rows(terminal) and "calltree" in terminal.text(), "functions")
        terminal.press(DOWN)
        terminal.until(lambda: terminal.status().startswith("2 of "), "the second row")
        before = terminal.text()
        tid = re.findall(r"\d+", context.run(context.dwell, "report", "large.dwell", "threads", "--columns", "id", "-f",
                                             "csv").stdout)[0]
        for keys in ("z", "t" + tid + ENTER, "mnot*" + ENTER, "T0 1" + ENTER, "mlib*" + ENTER + "z"):
            terminal.press(keys + ESCAPE)
            terminal.until(lambda: terminal.text() == before, f"what was seen before {keys!r}:\n{before}\n")
        terminal.press("T0 1" + ENTER)
        terminal.shows("[time ")
        terminal.until(lambda: has_rows(terminal), "rows of the range")
        # What is pressed for rows that are not there yet is done when they are.
        terminal.press("x2" + HOME + "/nobody is called so" + ENTER)
        terminal.shows("'nobody is called so' is in no row")
        terminal.press(DOWN + "T0 1" + ENTER + "zs")
        terminal.shows("[time ")
        terminal.press("x")
        terminal.until(lambda: terminal.text() == before, "all again")


@cases("q", "SIGTERM")
def test_end_while_it_computes(context, how):
    """Nobody waits for what is computed to leave."""
    with read(context, large(context), rows=30, columns=160, env=UTF8) as terminal:
        terminal.press("2")
        terminal.until(lambda: has_rows(terminal), "functions")
        terminal.press("z")
        terminal.shows("computing calltree")
        if how == "q":
            terminal.press("q")
        else:
            os.kill(terminal.pid, signal.SIGTERM)
        expect(terminal.end(), 0 if how == "q" else -signal.SIGTERM, "status")


def test_end_while_it_loads(context):
    """A session that takes long to load is announced, and can be left."""
    with read(context, large(context), rows=30, columns=160, env=UTF8) as terminal:
        terminal.until(lambda: b"\033[?1049h" in terminal.raw, "a screen")
        terminal.until(lambda: "loading large.dwell" in terminal.status() or "summary" in terminal.text(), "what it does")
        terminal.press("q")
        expect(terminal.end(), 0, "status")
