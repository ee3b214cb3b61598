"""dwell live: sessions that are being written, processes, keys on a terminal, and what is neither."""
import fcntl
import glob
import os
import pty
import re
import select
import signal
import struct
import termios
import time

from harness import DEFAULT_SECONDS, cases, expect, require


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


def read_for(fd, seconds):
    text, until = b"", time.monotonic() + seconds
    while time.monotonic() < until:
        if select.select([fd], [], [], .1)[0]:
            try:
                text += os.read(fd, 1 << 16)
            except OSError:
                break
    return text.decode(errors="replace")


def read_until(fd, condition, what):
    """What comes until it fulfils the condition."""
    text, until = "", time.monotonic() + DEFAULT_SECONDS
    while not condition(text):
        require(time.monotonic() < until, f"waited for {what}: {text[-500:]!r}")
        text += read_for(fd, .2)
    return text


def test_keys(context):
    """On a terminal it is a screen that fits, obeys keys, and gives the terminal back."""
    recorder = start_recording(context, "sample", "-q", "-o", "run.dwell", "--",
                               context.target("truth-gcc-O2"), "plain", "30")
    pid, fd = pty.fork()
    if not pid:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 90, 0, 0))
        os.execve(context.dwell, ["dwell", "live", context.path("run.dwell"), "-i", "300ms"],
                  context.env)
    shown = read_until(fd, lambda text: text.count("\033[H") > 3, "four looks")
    require("\033[?1049h" in shown, "no screen")
    screens = shown.split("\033[H")
    require(all(screen.count("\n") < 24 for screen in screens), "more lines than the terminal has")
    os.write(fd, b"a")
    read_until(fd, lambda text: "in the whole run" in text, "what key a does")
    os.write(fd, b" ")
    read_until(fd, lambda text: "paused" in text, "what the space bar does")
    read_for(fd, .5)
    expect(read_for(fd, 1), "", "drawn while paused")
    os.write(fd, b"q")
    last = read_until(fd, lambda text: "\033[?1049l" in text, "the end")
    expect(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 0, "status")
    require(last.endswith("\033[?25h\033[?1049l"), repr(last[-80:]))
    end(recorder)


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
