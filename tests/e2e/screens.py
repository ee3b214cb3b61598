"""A terminal for tests: a program on a pty, and what its screen shows, by an emulator (pyte)."""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time

from harness import DEFAULT_SECONDS, expect, require

# Where the distribution puts it, whichever Python comes first.
sys.path.append("/usr/lib/python3/dist-packages")
try:
    import pyte
except ImportError:
    pyte = None  # such tests are skipped (harness.NEEDS)

TERM = "xterm-256color"
UP, DOWN, RIGHT, LEFT = "\033OA", "\033OB", "\033OC", "\033OD"
HOME, END, PAGE_UP, PAGE_DOWN, BACK_TAB = "\033OH", "\033OF", "\033[5~", "\033[6~", "\033[Z"
BACKSPACE, ESCAPE, ENTER = "\177", "\033", "\r"


if pyte:
    class Screen(pyte.Screen):
        """With what xterm can and pyte cannot: scrolling by lines, and repeating a character."""

        def scroll_up(self, n=1):
            y, (_, bottom) = self.cursor.y, self.margins or (0, self.lines - 1)
            self.cursor.y = bottom
            for _ in range(n or 1):
                self.index()
            self.cursor.y = y

        def scroll_down(self, n=1):
            y, (top, _) = self.cursor.y, self.margins or (0, self.lines - 1)
            self.cursor.y = top
            for _ in range(n or 1):
                self.reverse_index()
            self.cursor.y = y

        def repeat(self, n=1):
            self.draw(self.buffer[self.cursor.y][self.cursor.x - 1].data * (n or 1))

    class Stream(pyte.ByteStream):
        csi = {**pyte.ByteStream.csi, "S": "scroll_up", "T": "scroll_down", "b": "repeat"}
        events = pyte.ByteStream.events | {"scroll_up", "scroll_down", "repeat"}


class Terminal:
    def __init__(self, context, *command, rows=50, columns=200, env=None):
        self.screen = Screen(columns, rows)
        self.stream = Stream(self.screen)
        self.raw = b""
        self.pid, self.fd = pty.fork()
        if not self.pid:
            os.chdir(context.scratch)
            signal.signal(signal.SIGHUP, signal.SIG_DFL)  # whoever started the tests may ignore it
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
            os.execvpe(command[0], command, {**context.env, "TERM": TERM, **(env or {})})
        self.modes = termios.tcgetattr(self.fd)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.fd)  # hangs up
        if self.pid:
            os.waitpid(self.pid, 0)

    def read(self, seconds=.02):
        """Take in what comes within a moment. False: nothing will come any more."""
        if select.select([self.fd], [], [], seconds)[0]:
            try:
                data = os.read(self.fd, 1 << 16)
            except OSError:
                return False
            self.raw += data
            self.stream.feed(data)
        return True

    def lines(self):
        return [line.rstrip() for line in self.screen.display]

    def text(self):
        return "\n".join(self.lines())

    def status(self):
        """The last line."""
        return self.lines()[-1]

    def until(self, condition, what):
        """Wait until condition() holds of a screen that is drawn to its end."""
        end = time.monotonic() + DEFAULT_SECONDS
        while not (is_met := condition()) or self.is_drawing():
            if not self.read() or time.monotonic() > end:
                if is_met:
                    return
                raise AssertionError(f"waited for {what}; the screen:\n{self.text()}")

    def is_drawing(self):
        """Whether more comes within a moment, as it does of screens that are longer than one write."""
        return bool(select.select([self.fd], [], [], .02)[0])

    def shows(self, text):
        self.until(lambda: text in self.text(), repr(text))

    def press(self, keys):
        os.write(self.fd, keys.encode())

    def resize(self, rows, columns):
        self.screen.resize(rows, columns)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def chosen(self):
        """The number of the line that is shown in reverse from its first column on, None = none is.
        That of tabs is none."""
        for y in range(2, self.screen.lines):
            if self.screen.buffer[y][0].reverse:
                return y
        return None

    def end(self):
        """Wait for the end; its status, below 0 for a signal. The terminal must be as it was."""
        end = time.monotonic() + DEFAULT_SECONDS
        while self.read():
            require(time.monotonic() < end, f"waited for the end; the screen:\n{self.text()}")
        _, status = os.waitpid(self.pid, 0)
        self.pid = 0
        expect(termios.tcgetattr(self.fd), self.modes, "modes of the terminal")
        left = self.raw.rfind(b"\033[?1049l")
        expect(left > self.raw.rfind(b"\033[?1049h"), True, "the screen was left")
        return os.waitstatus_to_exitcode(status)


def cells(line):
    """What stands in the columns of a line, where none is empty."""
    return re.split(r"\s{2,}", line.strip())
