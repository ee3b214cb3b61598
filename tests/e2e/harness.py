"""What the end-to-end tests share: running dwell in a scratch folder, reading its reports.

A test is a function of tests/e2e/test-NAME.py whose name starts with test_ and that takes a
Context. @cases(a, b, ...) runs it once for each value, which it gets as second argument,
@paths(a, b, ...) once more for each number of paths that a recording has room for. It fails
by raising (AssertionError with the values). @needs("root") skips it where that is not to be had;
context.skip(reason) is for what only the test can find out, and tests/allowed-skips must list it.

A file is run beside others, as one test of Meson; FILE = File(...) says what is different with it.

No test may depend on how fast or idle the machine is: work is measured in CPU time of the program,
waiting is for a condition, and samples that nobody had the time to fetch are lost but counted.
"""
import ctypes
import functools
import glob
import json
import math
import os
import shutil
import signal
import struct
import subprocess
import tempfile
import time
from typing import NamedTuple

# Ends what hangs, no more: a busy machine may take ten times as long as an idle one.
DEFAULT_SECONDS = 100

NOBODY = 65534
AS_NOBODY = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups")


# The sources of the page for browsers.
PAGE = os.path.realpath(os.path.join(os.path.dirname(__file__), "../../page"))

# Whether tests that take too long for every change run, too (make check-long).
IS_LONG = bool(os.environ.get("DWELL_LONG"))



def opens_perf_events():
    """Whether the kernel counts the processor time of an ordinary process."""
    SYS_PERF_EVENT_OPEN, SOFTWARE, SIZE, EXCLUDE_KERNEL_HV = 298, 1, 64, 3 << 5
    attributes = struct.pack("<IIQQQQQ", SOFTWARE, SIZE, 0, 0, 0, 0, EXCLUDE_KERNEL_HV).ljust(SIZE, b"\0")
    event = ctypes.CDLL(None).syscall(SYS_PERF_EVENT_OPEN, attributes, 0, -1, -1, 0)
    if event >= 0:
        os.close(event)
    return event >= 0


def makes_wasm():
    """Whether clang and its friends make WebAssembly, of which the page is."""
    command = "clang", "--target=wasm32-wasi", "-mexec-model=reactor", "-x", "c", "-o", "/dev/null", "/dev/null"
    return bool(shutil.which("clang")) and subprocess.run(command, stderr=subprocess.DEVNULL).returncode == 0


def makes_namespaces():
    command = "unshare", "--mount", "--pid", "--fork", "mount", "-t", "tmpfs", "none", "/tmp"
    return subprocess.run(command, stderr=subprocess.DEVNULL).returncode == 0


def memory_group():
    """The folder of a new control group whose processes' memory can be limited. The caller removes it.
    OSError where none can be made."""
    root = "/sys/fs/cgroup/memory" if os.path.isdir("/sys/fs/cgroup/memory") else "/sys/fs/cgroup"
    folder = tempfile.mkdtemp(prefix="dwell-e2e-", dir=root)
    if any(os.path.exists(f"{folder}/memory.{name}") for name in ("max", "limit_in_bytes")):
        return folder
    os.rmdir(folder)
    raise OSError(f"{root} limits no memory")


def limits_memory():
    try:
        os.rmdir(memory_group())
    except OSError:
        return False
    return True


def has_rseq():
    """Whether the C library registers restartable sequences of the size that agents know."""
    try:
        return 0 < ctypes.c_uint.in_dll(ctypes.CDLL(None), "__rseq_size").value <= 32
    except ValueError:
        return False


PYTHONS = ("3.9", "3.10", "3.11", "3.12", "3.13")


def find_python(version):
    """The interpreter of @version: the distribution's, or one of pyenv's. None = there is none."""
    return (shutil.which(f"python{version}", path="/usr/bin:/usr/local/bin")
            or next(iter(glob.glob(os.path.expanduser(f"~/.pyenv/versions/{version}.*/bin/python{version}"))), None))


# What a test may need and a machine lack though scripts/setup check has done what it can.
NEEDS = {
    "root": lambda: os.geteuid() == 0,
    "dotnet": lambda: shutil.which("dotnet"),
    "WebAssembly": functools.cache(makes_wasm),
    "node": lambda: shutil.which("node"),
    "chromium": lambda: shutil.which("chromium"),
    "npm packages": lambda: os.path.exists(os.path.join(PAGE, "node_modules/playwright-core")),
    "namespaces": functools.cache(makes_namespaces),
    "perf events": functools.cache(opens_perf_events),
    "memory groups": functools.cache(limits_memory),
    "rseq": has_rseq,
    **{f"python{version}": functools.partial(find_python, version) for version in PYTHONS},
    "php": lambda: shutil.which("php"),
    "ruby": lambda: shutil.which("ruby"),
    "strace": lambda: shutil.which("strace"),
    "pyte": lambda: os.path.exists("/usr/lib/python3/dist-packages/pyte"),
}


class File(NamedTuple):
    """How a file of tests is run. @needs: what all its tests need. @parts: as so many tests of Meson,
    since it takes long. @is_alone: nothing may run beside it. @without_perf: patterns of those tests that
    run once more where perf is refused."""
    needs: tuple = ()
    parts: int = 1
    is_alone: bool = False
    without_perf: tuple = ()


class Skip(Exception):
    """This test cannot run here; the argument says why."""


class Known(Exception):
    """This test has failed as is known; the argument says why. It must fail if it does not."""


def cases(*values):
    def mark(function):
        function.cases = values
        return function
    return mark


def paths(*values):
    """Run the test once more for each of @values, with that many paths in a thread's tree at most
    (context.paths)."""
    def mark(function):
        function.paths = values
        return function
    return mark


def long(function):
    """For long runs only."""
    return function if IS_LONG else None


def more(*values):
    """Cases and numbers of paths for long runs only: those beside them are of the same kind."""
    return values if IS_LONG else ()


def needs(*names):
    """Names of NEEDS that the test cannot do without."""
    def mark(function):
        function.needs = names
        return function
    return mark


def lacking(names):
    """The reason of a skip by what is needed and not here, or None."""
    missing = [name for name in names if not NEEDS[name]()]
    return f"needs: {missing[0]}" if missing else None


class Context:
    """One test: its scratch folder, the program under test and the folder of targets."""

    def __init__(self, scratch, dwell, targets, without_perf=False):
        self.scratch = scratch
        self.without_perf = without_perf  # dwell is refused it, and samples in the process
        self.use_build(dwell, targets)
        self.groups = []  # process groups of what was started
        self.paths = None  # `dwell instrument` records so many of each thread, None = all
        self.env = {**os.environ, "XDG_CACHE_HOME": scratch + "-cache", "LC_ALL": "C.UTF-8"}

    def path(self, name):
        return os.path.join(self.scratch, name)

    def target(self, name):
        path = os.path.join(self.targets, name)
        require(os.path.exists(path), f"target {name} was not built")
        return path

    def skip(self, reason):
        raise Skip(reason)

    def need(self, name):
        """Skip where this of NEEDS is not to be had."""
        reason = lacking([name])
        if reason:
            raise Skip(reason)

    def use_build(self, dwell, targets):
        self.dwell, self.targets = dwell, targets
        if self.without_perf:
            self.dwell = os.path.join(os.path.dirname(self.scratch), "dwell")
            with open(self.dwell, "w") as f:
                f.write("#!/usr/bin/perl\n"  # a shell would add variables, Python ignore signals
                        f"exec '{targets}/without-perf', '{dwell}', @ARGV or exit 126;\n")
            os.chmod(self.dwell, 0o755)

    def let_others_in(self):
        """Make dwell and the targets what any user can reach, here as where they are installed: root's
        folders are closed to others. Before either is named."""
        if os.geteuid() or self.run(*AS_NOBODY, "test", "-x", self.target("without-perf")).returncode == 0:
            return
        build, copy = os.path.dirname(os.path.dirname(self.targets)), self.scratch + "-build"
        for folder in "tests/targets", "tests/tools":
            shutil.copytree(os.path.join(build, folder), os.path.join(copy, folder), symlinks=True)
        for path in (os.path.join(build, "dwell"), *glob.glob(build + "/libdwell-*.so")):
            shutil.copy(path, copy)
        self.use_build(os.path.join(copy, "dwell"), os.path.join(copy, "tests/targets"))

    def ordinary_user(self):
        """What makes the command behind it an ordinary user's, who may write to the scratch folder.
        dwell and targets are to be named after it."""
        os.chmod(self.scratch, 0o777)
        self.let_others_in()
        return () if os.geteuid() else AS_NOBODY

    def run(self, *command, seconds=DEFAULT_SECONDS, **options):
        """Run a command in the scratch folder; its result has text streams and returncode."""
        options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "env": self.env,
                   **({} if "input" in options else {"stdin": subprocess.DEVNULL}), **options}
        return subprocess.run(command, cwd=self.scratch, timeout=seconds, text=True,
                              errors="replace", **options)

    def make(self, *command):
        """The output of a command that must succeed."""
        require(shutil.which(command[0]), f"{command[0]} is not installed: scripts/setup check does that")
        done = self.run(*command)
        expect(done.returncode, 0, f"status of {command}\n{done.stderr[-2000:]}")
        return done.stdout

    def start(self, *command, **options):
        """Start a command in the scratch folder, in a process group of its own."""
        options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "env": self.env,
                   "stdin": subprocess.DEVNULL, "start_new_session": True, **options}
        process = subprocess.Popen(command, cwd=self.scratch, text=True, errors="replace", **options)
        if options["start_new_session"]:
            self.groups.append(process.pid)
        return process

    def kill_left(self):
        """End what a test that failed, or killed a recorder, has left: it would keep processors busy."""
        for group in self.groups:
            try:
                os.killpg(group, signal.SIGKILL)
            except OSError:
                pass

    def sample(self, *words, session="run.dwell", status=0, **options):
        """`dwell sample -q -o SESSION WORDS`, which must end with @status."""
        done = self.run(self.dwell, "sample", "-q", "-o", session, *words, **options)
        expect(done.returncode, status, f"status of dwell sample {' '.join(words)}\n{done.stderr}")
        return done

    def path_options(self):
        """What `dwell instrument` is to be told of the number of paths."""
        return () if self.paths is None else (f"--paths={self.paths}",)

    def instrument(self, *words, before=(), session="run.dwell", status=0):
        """`dwell instrument -q -o SESSION WORDS` behind the command @before, which must end with
        @status and without errors."""
        done = self.run(*before, self.dwell, "instrument", "-q", *self.path_options(), "-o", session,
                        *words)
        expect((done.returncode, done.stderr), (status, ""),
               f"status and errors of dwell instrument {' '.join(words)}")
        return done

    def report(self, view, *words, session="run.dwell"):
        """A report as the object in its JSON: session facts and rows."""
        done = self.run(self.dwell, "report", session, view, *words, "--format", "json")
        expect(done.returncode, 0, f"status of dwell report {view}\n{done.stderr}")
        return json.loads(done.stdout)

    def wait_for(self, condition, what, seconds=DEFAULT_SECONDS):
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


def stacks_of(context):
    """Of all samples of run.dwell: the names of a stack, outermost first, and how many."""
    done = context.run(context.dwell, "export", "run.dwell", "--format", "folded")
    expect(done.returncode, 0, done.stderr)
    for line in done.stdout.splitlines():
        names, n = line.rsplit(" ", 1)
        yield names.split(";")[1:], int(n)


def rows_of(report, name):
    """The report's rows of the functions called @name."""
    return [row for row in report["rows"] if row["function_name"] == name]


def line_of(source, text):
    """The number of the line of tests/targets/@source that is @text."""
    with open(os.path.join(os.path.dirname(__file__), "../targets", source)) as f:
        return [line.strip() for line in f].index(text) + 1


def perf_program():
    """The perf that runs here: a distribution's wrapper may look for that of another kernel."""
    for path in ["perf", *sorted(glob.glob("/usr/lib/linux-tools*/**/perf", recursive=True))]:
        if shutil.which(path) and subprocess.run([path, "--version"], stdout=subprocess.DEVNULL,
                                                 stderr=subprocess.DEVNULL).returncode == 0:
            return path
    raise AssertionError("perf is not installed: scripts/setup check does that")


def runs_32_bit(context):
    """Whether this machine runs programs for i386: kernels can be told not to."""
    try:
        return context.run(context.target("narrow")).returncode >= 0
    except OSError:
        return False


def is_helper(pid):
    """Whether that is one of dwell's own helpers, which read files beside a recording."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as f:
            return f.read().startswith(b"dwell\0--helper\0")
    except (FileNotFoundError, ProcessLookupError):
        return False


def children(pid):
    """The processes that the main thread of @pid has started and not waited for, but for dwell's helpers."""
    try:
        f = open(f"/proc/{pid}/task/{pid}/children")
    except FileNotFoundError:  # it has ended meanwhile
        return []
    with f:
        return [int(word) for word in f.read().split() if not is_helper(word)]


def stolen_ns():
    """Processor time that the host has taken so far, which no thread's clock has."""
    with open("/proc/stat") as f:
        return int(f.readline().split()[8]) * 1_000_000_000 // os.sysconf("SC_CLK_TCK")


def expect_all_counted(facts):
    """No process, thread or mapping was missed, and each tick of the program's CPU time is a sample
    that was kept, discarded or counted as lost.

    A collector that gets no processor loses samples, and a host that takes the processor away makes
    time without ticks; neither makes ticks without time. How much of that is the kernel's, where
    nothing is sampled, the kernel only estimates. Where others want the processors, too, ticks find the
    program by chance.
    """
    expect(facts["records_lost"], 0, "lost records")
    counted = sum(facts[f"samples_{fate}"] for fate in ("kept", "lost", "discarded"))
    least, most = (ns / 1e9 * facts["frequency_hz"] for ns in
                   (0.25 * facts["user_cpu_ns"], facts["user_cpu_ns"] + facts["kernel_cpu_ns"]))
    require(least <= counted <= max(1.05 * most, most + 4 * math.sqrt(most)) + 5,
            f"{counted} samples in CPU time for {least:.0f} to {most:.0f}: {facts}")


def one_line(text, what):
    """@text is exactly one line, and not a crash report."""
    require(len(text.splitlines()) == 1, f"{what}: want one line, got {text!r}")
    return text.strip()
