"""dwell live on a terminal: the reader, on a recording that goes on. What it shows changes by itself, nothing that somebody
has chosen is lost by that, and in the end it is what reports say."""
import contextlib
import fcntl
import glob
import os
import re
import signal
import struct
import threading

from harness import DEFAULT_SECONDS, File, cases, children, expect, more, one_line, require
from readers import command_of, end, expect_rows, shown_rows, report_of, start_recording
from screens import BACKSPACE, DOWN, ENTER, ESCAPE, HOME, Terminal, cells

FILE = File(needs=("pyte",), parts=2)
INTERVAL = ("-i", "200ms")
SECONDS = "100"  # of a program's processor time: longer than any test looks at it


def record(context, how="sample"):
    """A recording of truth-gcc-O2 that goes on until somebody ends it."""
    return start_recording(context, how, "-q", "-o", "run.dwell", "--", context.target("truth-gcc-O2"), "plain", SECONDS)


def live(context, *words, rows=40, columns=200, **options):
    return Terminal(context, context.dwell, "live", *words, *INTERVAL, rows=rows, columns=columns, **options)


def count(terminal):
    """The samples that the first line tells."""
    found = re.search(r"(\d+) samples", terminal.lines()[0])
    return int(found[1]) if found else 0


def changes(terminal, times=1):
    """What is shown has changed by itself."""
    for _ in range(times):
        before = count(terminal)
        terminal.until(lambda before=before: count(terminal) > before, f"more than {before} samples")


def name_at_cursor(terminal):
    """The name in the row at the cursor."""
    line = terminal.lines()[terminal.chosen()] if terminal.chosen() else ""
    return re.findall(r"(?<![\w.])[a-z]\w+", line)[:1]


def ended(terminal):
    terminal.until(lambda: "  ended, " in terminal.lines()[0], "the end of the recording")
    terminal.shows("the recording has ended")
    terminal.press(ESCAPE)
    terminal.until(lambda: "has ended" not in terminal.status(), "the last line as ever")


@cases("run.dwell", "run.dwell.partial")
def test_runs_and_ends(context, name):
    """It says for how long it has been running, changes by itself, and stays with the finished session."""
    recorder = record(context)
    with live(context, name, rows=150) as terminal:
        terminal.shows("1 summary")
        terminal.until(lambda: re.search(r"  running for \d+\.\d s, ", terminal.lines()[0]), "for how long it runs")
        terminal.press("2")
        terminal.shows("alpha")
        changes(terminal, 2)
        require("run.dwell.partial" in command_of(terminal), "the command while it runs")
        end(recorder)
        ended(terminal)
        expect(command_of(terminal)[2], "run.dwell", "the session of the command afterwards")
        rows = report_of(context, terminal)
        expect_rows(terminal, rows, "samples", "functions of the finished session")
        expect(count(terminal), context.report("functions")["session"]["samples_kept"], "samples")
        require(rows and count(terminal) > 0, "nothing was recorded")
        terminal.press("P")
        terminal.shows("there is no recording that goes on here")
        terminal.press("5")
        terminal.until(lambda: re.match(r"1 of", terminal.status()), "lines")
        # Statements of one line are one row, but for machines, which tell them apart.
        lines = {tuple(row[key] for key in ("module_path", "function_name", "function_address", "source_file",
                                         "source_line_begin"))
                 for row in report_of(context, terminal) if row["inclusive_work_time"]}
        expect(len(shown_rows(terminal, "samples")), len(lines), "lines")
        terminal.press("q")
        expect(terminal.end(), 0, "status")


def test_calls(context):
    """Calls are counted while they are measured, also of a range of time; the end is exact."""
    recorder = record(context, "instrument")
    with live(context, "run.dwell", columns=240) as terminal:
        terminal.shows("1 summary")
        terminal.press("2/alpha" + ENTER)
        terminal.until(lambda: name_at_cursor(terminal) == ["alpha"], "alpha")

        def calls():
            line = next((line for line in terminal.lines()[3:-1] if " alpha " in line), "0")
            return int(cells(line)[0])
        before = calls()
        terminal.until(lambda: calls() > before, "more calls")
        expect(name_at_cursor(terminal), ["alpha"], "the row at the cursor")
        terminal.press("T0 1" + ENTER)
        terminal.shows("[time 0 ns to ")
        terminal.until(lambda: re.match(r"\d+ of", terminal.status()), "rows of the range")
        require("running" in terminal.lines()[0], terminal.text())
        end(recorder)
        ended(terminal)
        terminal.until(lambda: re.match(r"\d+ of", terminal.status()), "rows of the range")
        expect_rows(terminal, report_of(context, terminal), "time", "a range")
        terminal.press("x")
        terminal.until(lambda: "[time" not in terminal.text() and re.match(r"\d+ of", terminal.status()), "everything")
        rows = report_of(context, terminal)
        require(rows, "nothing was recorded")
        expect_rows(terminal, rows, "time", "everything")


@contextlib.contextmanager
def functions(context):
    """A recording, and its functions on the screen, which have changed."""
    recorder = record(context)
    with live(context, "run.dwell") as terminal:
        terminal.shows("1 summary")
        terminal.press("2")
        terminal.shows("alpha")
        changes(terminal)
        yield recorder, terminal


@cases("calltree", "summary", *more("functions", "callers"))
def test_nothing_is_lost(context, view):
    """Where somebody is, what he has unfolded, chosen, ordered and searched: all of it is there after the next look, and
    at the end."""
    recorder = record(context)
    with live(context, "run.dwell") as terminal:
        terminal.shows("1 summary")
        changes(terminal)
        if view == "functions":
            terminal.press("2m*truth*" + ENTER + "ofunction name" + ENTER + "/beta" + ENTER)
            said = "by Function Name"
        elif view == "calltree":
            # Another child than the heaviest one, and the tree below it.
            terminal.press("3r/beta" + ENTER + "+")
            said = "by Inclusive Work Time, reversed"
        elif view == "callers":
            terminal.press("2/beta" + ENTER + ENTER)
            said = "by"
        else:
            terminal.press(DOWN * 6)
            said = "Tab: next view"
        if view == "callers":
            terminal.shows("[around beta]")
        all_pressed(terminal)
        terminal.until(lambda: said in terminal.status() and name_at_cursor(terminal), said)
        name, shape = name_at_cursor(terminal), unfolded(terminal)
        wanted = {"summary": name, "callers": ["current"]}.get(view, ["beta"])  # the row of beta itself
        expect(name, wanted, "the row at the cursor")
        for _ in range(2):
            changes(terminal)
            terminal.until(lambda: (name_at_cursor(terminal), unfolded(terminal)) == (name, shape),
                           f"{name} at the cursor, and {shape} unfolded")
            terminal.until(lambda: said in terminal.status(), said)
            require(view != "functions" or "[module *truth*]" in terminal.text(), terminal.text())
        if view != "summary":
            terminal.press(HOME + "n" if view == "functions" else "")
            terminal.until(lambda: name_at_cursor(terminal) == name, "what was searched")
        end(recorder)
        ended(terminal)
        require(context.report("functions")["session"]["samples_kept"] > 0, "nothing was recorded")
        expect(name_at_cursor(terminal), name, "the row at the cursor in the end")
        if view == "callers":
            require("[around beta]" in terminal.text(), terminal.text())
            expect_rows(terminal, report_of(context, terminal), "samples", "callers in the end")
            terminal.press(BACKSPACE)
            terminal.until(lambda: name_at_cursor(terminal) == ["beta"], "beta")


def all_pressed(terminal):
    """All keys that were pressed have done what they do."""
    terminal.press("Z")
    terminal.shows("this key does nothing")
    terminal.press(ESCAPE)
    terminal.until(lambda: "this key" not in terminal.status(), "the last line as ever")


def unfolded(terminal):
    """What of a tree is unfolded: its order is that of numbers, which change."""
    return sorted(sum((re.findall(r" - \w+", line) for line in terminal.lines()[2:-1]), []))


def test_freeze(context):
    """A key stops what is new; everything works on what is there, and the key goes on."""
    with functions(context) as (recorder, terminal):
        terminal.press("P")
        terminal.shows("stopped at")
        before = count(terminal)
        rows = terminal.lines()[2:-1]

        def runs():
            return float(re.search(r"running for (\d+\.\d) s", terminal.lines()[0])[1])
        since = runs()
        terminal.until(lambda: runs() > since + 2, "two seconds")
        expect((count(terminal), terminal.lines()[2:-1]), (before, rows), "what was stopped")
        terminal.press("3")
        terminal.until(lambda: re.match(r"1 of", terminal.status()), "the tree")
        expect(count(terminal), before, "samples of another view")
        terminal.press("P")
        terminal.until(lambda: "stopped" not in terminal.lines()[0] and count(terminal) > before, "the rest")
        terminal.press("q")
        expect(terminal.end(), 0, "status")
    end(recorder)
    require(context.report("functions")["session"]["samples_kept"] > before, "the recording")


def test_sizes_while_it_runs(context):
    """Any size will do while what is shown changes."""
    recorder = record(context)
    with live(context, "run.dwell") as terminal:
        terminal.shows("1 summary")
        for tab in "123":
            terminal.press(tab)
            for rows, columns in ((24, 80), (5, 20), (1, 1), (3, 12), (60, 220), (40, 200)):
                terminal.resize(rows, columns)
                terminal.read(.1)
        terminal.until(lambda: re.match(r"1 of", terminal.status()), "the tree")
        changes(terminal)
        require(all(len(line) <= 200 for line in terminal.lines()), terminal.text())
        terminal.press("q")
        expect(terminal.end(), 0, "status")
    end(recorder)
    require(context.report("functions")["session"]["samples_kept"] > 0, "the recording")


def test_window(context):
    """The last part of the run alone, which moves on; everything by key x."""
    recorder = record(context)
    with live(context, "run.dwell", "--window", "1") as terminal:
        terminal.shows("1 summary")
        terminal.press("2")

        def begin():
            found = re.search(r"\[time (\d+\.\d+) s to the end\]", terminal.text())
            return float(found[1]) if found else 0
        terminal.until(begin, "a range")
        first = begin()
        terminal.until(lambda: begin() > first, "a later range")
        terminal.press("x")
        terminal.until(lambda: "[time" not in terminal.text(), "everything")
        changes(terminal)
        require("[time" not in terminal.text(), terminal.text())
    end(recorder)
    require(context.report("functions")["session"]["samples_kept"] > 0, "the recording")


@cases("target", "recorder")
def test_killed(context, what):
    """The end of a target is that of the recording; what a killed recorder leaves is told, and read on when it is finished."""
    with functions(context) as (recorder, terminal):
        before = count(terminal)
        target = children(recorder.pid)[0]
        os.kill(target if what == "target" else recorder.pid, signal.SIGKILL)
        recorder.wait(timeout=DEFAULT_SECONDS)
        if what == "recorder":
            os.kill(target, signal.SIGKILL)
            terminal.shows("'dwell recover' finishes what was written")
            require("  left unfinished, " in terminal.lines()[0], terminal.text())
            require(count(terminal) >= before, terminal.text())
            expect_rows(terminal, report_of(context, terminal), "samples", "what was left")
            expect(context.run(context.dwell, "recover", "run.dwell.partial").returncode, 0, "status of dwell recover")
        ended(terminal)
        expect_rows(terminal, report_of(context, terminal), "samples", "the finished session")
        require(context.report("functions")["session"]["samples_kept"] >= before > 0, "the recording")
        terminal.press("q")
        expect(terminal.end(), 0, "status")


def test_removed(context):
    """A session that somebody removes is told once, and what was read of it stays."""
    with functions(context) as (recorder, terminal):
        os.rename(context.path("run.dwell.partial"), context.path("elsewhere"))
        terminal.until(lambda: "run.dwell" in terminal.status(), "what is wrong")
        terminal.shows("  not to be read any more, ")
        terminal.press("j")
        terminal.until(lambda: re.match(r"\d+ of", terminal.status()), "the last line as ever")
        before = count(terminal)
        require(before > 0 and "alpha" in terminal.text(), terminal.text())
        os.rename(context.path("elsewhere"), context.path("run.dwell.partial"))
        changes(terminal)
        require("  running for " in terminal.lines()[0], terminal.text())
        terminal.press("q")
        expect(terminal.end(), 0, "status")
    end(recorder)
    require(context.report("functions")["session"]["samples_kept"] > before, "the recording")


def folders():
    return set(glob.glob("/tmp/dwell-live-*"))


@cases("q", "SIGTERM", "SIGKILL")
def test_process(context, how):
    """A process is sampled as long as somebody looks, however that ends; nothing is left of it, and the process goes on."""
    target = context.start(context.target("truth-gcc-O2"), "plain", SECONDS)
    before = folders()
    with live(context, str(target.pid)) as terminal:
        terminal.shows("1 summary")
        terminal.press("2")
        terminal.shows("alpha")
        changes(terminal, 2)
        folder = (folders() - before).pop()
        if how == "q":
            terminal.press("q")
            expect(terminal.end(), 0, "status")
        else:
            os.kill(terminal.pid, getattr(signal, how))
            if how == "SIGTERM":
                expect(terminal.end(), -signal.SIGTERM, "status")
        context.wait_for(lambda: not os.path.exists(folder), "the folder to be removed")
    expect(target.poll(), None, "the process")
    end(target)


def test_process_that_ends(context):
    """When the process ends the reader stays with all of it, which -o keeps."""
    target = context.start(context.target("truth-gcc-O2"), "plain", SECONDS)
    with live(context, str(target.pid), "-o", "kept.dwell") as terminal:
        terminal.shows("1 summary")
        terminal.press("2")
        changes(terminal)
        end(target)
        ended(terminal)
        rows = report_of(context, terminal)
        require(any(row["function_name"] == "alpha" for row in rows), rows)
        expect_rows(terminal, rows, "samples", "functions in the end")
        terminal.press("q")
        expect(terminal.end(), 0, "status")
    require(context.report("functions", session="kept.dwell")["session"]["samples_kept"] > 0, "the kept session")


def test_not_to_be_seen(context):
    """What cannot be watched is told in one line, before there is a screen."""
    user = context.ordinary_user()
    with open(context.path("garbage.dwell"), "w") as f:
        f.write("garbage" * 1000)
    recorder = record(context)
    os.chmod(context.path("run.dwell.partial"), 0o600)
    others = (("run.dwell",), ("1",)) if user else ()
    for words in (("nothing.dwell",), ("garbage.dwell",), ("4194303",), *others):
        before = () if words not in others else user
        with Terminal(context, *before, context.dwell, "live", *words) as terminal:
            while terminal.read():
                pass
            require(b"\033[?1049h" not in terminal.raw, f"a screen for {words}")
            require(one_line(terminal.text().strip(), words).startswith("dwell"), terminal.text())
            expect(os.waitstatus_to_exitcode(os.waitpid(terminal.pid, 0)[1]), 1, f"status for {words}")
            terminal.pid = 0
    end(recorder)
    require(context.report("functions")["session"]["samples_kept"] > 0, "the recording")


def cpu_seconds(pid):
    """Of the thread that draws."""
    with open(f"/proc/{pid}/task/{pid}/stat") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


F_OFD_SETLK = 37


class Writer:
    """Whoever writes a session: he holds it, and something in it is always new."""
    def __init__(self, path):
        self.path, self.fd, self.goes_on = path, os.open(path, os.O_RDWR), threading.Event()
        fcntl.fcntl(self.fd, F_OFD_SETLK, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 2 ** 63 - 2, 1, 0))
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        while not self.goes_on.wait(.05):
            os.utime(self.path)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.goes_on.set()
        self.thread.join()
        os.close(self.fd)


@cases("3", *more("2"))
def test_a_million_samples(context, tab):
    """However much is loaded anew, keys take next to nothing of the thread that draws."""
    maker = os.path.join(context.targets, "../tools/make-session")
    words = "samples=1000000 stacks=200000 threads=4 depth=25 addresses=20000 functions=4000 modules=20 partial=1"
    expect(context.run(maker, "run.dwell", *words.split()).returncode, 0, "status of make-session")
    with Writer(context.path("run.dwell.partial")), live(context, "run.dwell") as terminal:
        terminal.shows("1 summary")
        terminal.press(tab)
        terminal.until(lambda: re.match(r"1 of \d+", terminal.status()), "rows")
        expect(count(terminal), 1000000, "samples")
        before = cpu_seconds(terminal.pid)
        for i in range(40):
            terminal.press(DOWN if i % 2 == 0 else "k")
            terminal.until(lambda i=i: terminal.status().startswith("2 of" if i % 2 == 0 else "1 of"), "the next row")
            terminal.read(.1)
        used = cpu_seconds(terminal.pid) - before
        require("  running" in terminal.lines()[0], terminal.text())
        require(used < 40 * .05, f"{used} s for 40 keys")
        terminal.press("q")
        expect(terminal.end(), 0, "status")
