"""What the end-to-end tests share: running dwell in a scratch folder, reading its reports.

A test is a function of tests/e2e/test-NAME.py whose name starts with test_ and that takes a
Context. @cases(a, b, ...) runs it once for each value, which it gets as second argument. It fails
by raising (AssertionError with the values), and is skipped by context.skip(reason).
"""
import json
import os
import subprocess
import time

DEFAULT_SECONDS = 60
# With far more to do than processors, nobody drains a ring in time: losses are then counted, not wrong.
IS_MACHINE_BUSY = os.getloadavg()[0] > 2 * os.cpu_count()


class Skip(Exception):
    """This test cannot run here; the argument says why."""


def cases(*values):
    def mark(function):
        function.cases = values
        return function
    return mark


class Context:
    """One test: its scratch folder, the program under test and the folder of targets."""

    def __init__(self, scratch, dwell, targets):
        self.scratch, self.dwell, self.targets = scratch, dwell, targets
        self.env = {**os.environ, "XDG_CACHE_HOME": scratch + "-cache", "LC_ALL": "C.UTF-8"}

    def path(self, name):
        return os.path.join(self.scratch, name)

    def target(self, name):
        path = os.path.join(self.targets, name)
        if not os.path.exists(path):
            raise Skip(f"target {name} was not built")
        return path

    def skip(self, reason):
        raise Skip(reason)

    def run(self, *command, seconds=DEFAULT_SECONDS, **options):
        """Run a command in the scratch folder; its result has text streams and returncode."""
        options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "env": self.env,
                   "stdin": subprocess.DEVNULL, **options}
        return subprocess.run(command, cwd=self.scratch, timeout=seconds, text=True,
                              errors="replace", **options)

    def start(self, *command, **options):
        """Start a command in the scratch folder, in a process group of its own."""
        options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "env": self.env,
                   "stdin": subprocess.DEVNULL, "start_new_session": True, **options}
        return subprocess.Popen(command, cwd=self.scratch, text=True, errors="replace", **options)

    def sample(self, *words, session="run.dwell", status=0, **options):
        """`dwell sample -q -o SESSION WORDS`, which must end with @status."""
        done = self.run(self.dwell, "sample", "-q", "-o", session, *words, **options)
        expect(done.returncode, status, f"status of dwell sample {' '.join(words)}\n{done.stderr}")
        return done

    def report(self, view, *words, session="run.dwell"):
        """A report as the object in its JSON: session facts and rows."""
        done = self.run(self.dwell, "report", session, view, *words, "--format", "json")
        expect(done.returncode, 0, f"status of dwell report {view}\n{done.stderr}")
        return json.loads(done.stdout)

    def wait_for(self, condition, what, seconds=20):
        """Poll until condition() is true."""
        end = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > end:
                raise AssertionError(f"waited {seconds} s for {what}")
            time.sleep(0.02)


def expect(got, want, what):
    """Both are equal, or the test fails and shows them."""
    if got != want:
        raise AssertionError(f"{what}: got {got!r}, want {want!r}")


def require(condition, what):
    """The condition holds, or the test fails with what it was about."""
    if not condition:
        raise AssertionError(what)


def expect_no_loss(facts):
    """No process, thread or mapping was missed, and no sample unless the machine is busy."""
    expect(facts["records_lost"], 0, "lost records")
    if not IS_MACHINE_BUSY:
        expect(facts["samples_lost"], 0, "lost samples")


def one_line(text, what):
    """@text is exactly one line, and not a crash report."""
    require(len(text.splitlines()) == 1, f"{what}: want one line, got {text!r}")
    return text.strip()
