"""What tests of the full-screen reader share: sessions, what its screen says, and the report of the same."""
import json
import os
import re
import shlex
import signal

from harness import DEFAULT_SECONDS, expect, require
from screens import ESCAPE, Terminal, cells

# Headers of tables that numbers stand below, and their keys in JSON. PREFIX is what a method measures first.
KEYS = {
    "Excl %": "exclusive_{0}_percent", "Exclusive": "exclusive_samples", "Incl %": "inclusive_{0}_percent",
    "Inclusive": "inclusive_samples", "Excl Bytes": "exclusive_bytes", "Incl Bytes": "inclusive_bytes",
    "Excl Allocs": "exclusive_allocations", "Incl Allocs": "inclusive_allocations", "Calls": "number_of_calls",
    "EI %": "elapsed_inclusive_time_percent", "Elapsed Incl": "elapsed_inclusive_time",
    "EE %": "elapsed_exclusive_time_percent", "Elapsed Excl": "elapsed_exclusive_time",
    "AI %": "application_inclusive_time_percent", "App Incl": "application_inclusive_time",
    "AE %": "application_exclusive_time_percent", "App Excl": "application_exclusive_time",
    "Latency Incl": "inclusive_latency", "Latency Excl": "exclusive_latency", "Process ID": "process_id", }
UNITS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
MEASURED = {"plain": "samples", "hostile": "samples", "calls": "time", "memory": "bytes"}


def start_recording(context, *command):
    """A recording of alpha that goes on, and its first commit is there."""
    recorder = context.start(context.dwell, *command)

    def is_told():
        done = context.run(context.dwell, "report", "run.dwell.partial", "functions", "-f", "csv")
        return "alpha" in done.stdout
    context.wait_for(is_told, "the first commit")
    return recorder


def end(recorder):
    os.killpg(recorder.pid, signal.SIGTERM)
    recorder.communicate(timeout=DEFAULT_SECONDS)


def make(context, name):
    """One of the sessions that golden texts are made from."""
    maker = os.path.join(context.targets, "../golden/golden-session")
    path = f"{name}.dwell"
    if not os.path.exists(context.path(path)):
        expect(context.run(maker, name, path).returncode, 0, "status of golden-session")
    return path


def read(context, path, *words, **options):
    return Terminal(context, context.dwell, path, *words, **options)


def text_of(key, value, like):
    """A number of a report as screens show it, a time in the unit and with the digits of @like."""
    if key.endswith("_percent"):
        return f"{value:.2f}"
    if not key.endswith(("_time", "_latency")) or not value:
        return str(value)
    _, fraction, unit = re.fullmatch(r"(\d+)(?:\.(\d+))?([num]?s)", like).groups()
    return f"{value / UNITS[unit]:.{len(fraction or '')}f}{unit}"


def command_of(terminal):
    """The command that reports what is seen, by key c."""
    def is_long():
        return terminal.lines()[0].startswith("dwell report")
    terminal.press("c")
    terminal.until(lambda: is_long() or terminal.status().startswith("dwell report"), "the command")
    if not is_long():
        return shlex.split(re.sub(r"  +enter more.*", "", terminal.status()))
    words = shlex.split("\n".join(terminal.lines()[:-1]).replace("\\\n", ""))
    terminal.press(ESCAPE)
    terminal.until(lambda: not is_long(), "what was below the command")
    return words


def report_of(context, terminal):
    words = command_of(terminal)
    done = context.run(context.dwell, *words[1:], "--format", "json")
    expect(done.returncode, 0, f"status of {words}\n{done.stderr}")
    return json.loads(done.stdout)["rows"]


def shown_rows(terminal, kind):
    """The numbers of each row on the screen as (key, text), and the header's columns that they are in."""
    lines = terminal.lines()
    at = [y for y, line in enumerate(lines[:5]) if re.search(r"Name|Instruction|Source Text|GC Reason|Call Path", line)]
    require(at, f"no header on\n{terminal.text()}")
    header = cells(lines[at[0]])
    rows = []
    for line in filter(None, lines[at[0] + 1:-1]):
        row = cells(line)
        rows.append({KEYS[title].format(kind): cell.strip("<=*+") for title, cell in zip(header, row)
                     if title in KEYS})
    require(rows and rows[0], f"no rows that can be compared on\n{terminal.text()}")
    return rows


def expect_rows(terminal, rows, kind, what):
    """The screen shows these rows of a report, all of which have room."""
    shown = shown_rows(terminal, kind)
    wanted = [{key: text_of(key, row[key], cell) for key, cell in seen.items()} for row, seen in zip(rows, shown)]
    expect(len(rows), len(shown), f"{what}: rows")
    expect(shown, wanted, what)


def header_of(terminal):
    """The titles above the columns of a table."""
    return cells(next((line for line in terminal.lines() if "Name" in line), ""))
