"""dwell live as text: sessions that are being written, processes, and what is neither. On the full screen it is in
test-reader-live.py."""
import glob
import re

from harness import DEFAULT_SECONDS, cases, expect, needs, require
from readers import end, start_recording
from screens import Terminal


def first_row(text):
    """The first row of the first table."""
    lines = text.split("\n")
    header = [i for i, line in enumerate(lines) if "Function Name" in line][0]
    return lines[header + 1]


@cases("run.dwell", "run.dwell.partial")
def test_running_session(context, name):
    """What is on the processor shows while the recording goes on, and is not changed by that."""
    recorder = start_recording(context, "sample", "-q", "-o", "run.dwell", "--",
                               context.target("truth-gcc-O2"), "plain", "20")
    done = context.run(context.dwell, "live", "--once", name)
    expect((done.returncode, done.stderr), (0, ""), "status and errors")
    require(re.search(r"\d+ samples", done.stdout), done.stdout)
    require("alpha" in first_row(done.stdout), done.stdout)
    end(recorder)
    require(context.report("functions")["session"]["samples_kept"] > 0, "samples of the session")


def test_calls_and_the_end(context):
    """A session of calls shows them; the command ends with the recording, by itself."""
    recorder = start_recording(context, "instrument", "-q", "-o", "run.dwell", "--",
                               context.target("truth-gcc-O2"), "plain", "4")
    done = context.run(context.dwell, "live", "run.dwell", "--interval", "300ms")
    recorder.communicate(timeout=DEFAULT_SECONDS)
    expect((done.returncode, done.stderr), (0, ""), "status and errors")
    looks = done.stdout.split("Elapsed Incl")
    require(len(looks) > 3, f"{len(looks)} looks")
    require("it has ended" in done.stdout, done.stdout[-2000:])


def test_process(context):
    """A process is sampled as long as somebody looks; nothing is left of that."""
    target = context.start(context.target("truth-gcc-O2"), "plain", "20")
    before = set(glob.glob("/tmp/dwell-live-*"))
    done = context.run(context.dwell, "live", str(target.pid), "--once", "--interval", "2")
    expect((done.returncode, done.stderr), (0, ""), "status and errors")
    require("alpha" in first_row(done.stdout), done.stdout)
    expect(set(glob.glob("/tmp/dwell-live-*")), before, "folders left behind")
    done = context.run(context.dwell, "live", str(target.pid), "--once", "-o", "kept.dwell")
    expect((done.returncode, done.stderr), (0, ""), "status and errors")
    require(context.report("functions", session="kept.dwell")["rows"], "the kept session is empty")
    expect(target.poll(), None, "the process")
    end(target)


@needs("pyte")
def test_dumb_terminal(context):
    """A terminal that can do nothing gets the text that pipes get: one look behind the other."""
    recorder = start_recording(context, "sample", "-q", "-o", "run.dwell", "--",
                               context.target("truth-gcc-O2"), "plain", "3")
    with Terminal(context, context.dwell, "live", "run.dwell", "-i", "300ms", env={"TERM": "dumb"}) as terminal:
        while terminal.read():
            pass
        require(b"\033" not in terminal.raw, "what controls the terminal")
        text = terminal.raw.decode()
    recorder.communicate(timeout=DEFAULT_SECONDS)
    looks = text.split("Function Name")
    require(len(looks) > 3, f"{len(looks)} looks")
    require("it has ended" in text and "alpha" in first_row(text.replace("\r", "")), text[-2000:])
    require(context.report("functions")["session"]["samples_kept"] > 0, "samples of the session")


def test_neither(context):
    """What cannot be watched is told in one line."""
    with open(context.path("garbage"), "w") as f:
        f.write("garbage" * 1000)
    for words, status in ((["nothing.dwell"], 1), (["garbage"], 1), (["4194303"], 1), ([], 2),
                          (["a", "b"], 2)):
        done = context.run(context.dwell, "live", *words)
        expect(done.returncode, status, f"status of {words}: {done.stderr}")
        require(done.stderr.startswith("dwell") and done.stdout == "", (words, done))
        expect(done.stderr.count("\n"), 1, f"lines that say so: {done.stderr}")
