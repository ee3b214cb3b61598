"""The collector on its own (tests/tools/collect-run): processes, threads, files and refusals."""
import os
import re
import shutil
import subprocess

from harness import File, expect, needs, require

FILE = File(is_alone=True)  # all recordings of one user share what it may lock
SPIN = "import time\nend = time.process_time() + {}\nwhile time.process_time() < end: pass\n"


class Result:
    """What collect-run printed."""

    def __init__(self, done):
        self.status, self.text, self.errors = done.returncode, done.stdout, done.stderr
        lines = re.findall(r"^(?:kept|processes) \d+ .*", self.text, re.M)
        numbers = dict(re.findall(r"\b([a-z-]+) (\d+)\b", " ".join(lines)))
        self.counts = {key: int(value) for key, value in numbers.items()}
        self.modules = dict(re.findall(r"^module (.*) ((?:file|memory|none).*) build-id", self.text,
                                       re.M))
        self.processes = re.findall(r"^process (\d+) parent (\d+) name (.*) begin \d+ end (-?\d+)",
                                    self.text, re.M)


def collect(context, *words, prefix=(), **options):
    tool = os.path.join(os.path.dirname(context.targets), "tools", "collect-run")
    return Result(context.run(*prefix, tool, *words, **options))


def test_thousand_short_processes(context):
    got = collect(context, "sh", "-c", "for i in $(seq 1000); do /bin/true; done")
    expect(got.status, 0, "status")
    expect(got.counts["records-lost"], 0, "records lost")
    expect(len(got.processes), 1002, "processes: the shell, seq and a thousand")
    expect(sum(name == "true" for _, _, name, _ in got.processes), 1000, "rows called true")
    require(all(int(end) >= 0 for _, _, _, end in got.processes), "every process has an end")


def test_five_hundred_threads(context):
    program = ("import threading\nb = threading.Barrier(500)\n"
               "ts = [threading.Thread(target=b.wait) for _ in range(500)]\n"
               "[t.start() for t in ts]\n[t.join() for t in ts]\n")
    got = collect(context, "python3", "-c", program)
    expect(got.status, 0, "status")
    expect(got.counts["records-lost"], 0, "records lost")
    require(got.counts["threads"] >= 501, f"501 threads or more, not {got.counts['threads']}")


def test_exec_chain(context):
    got = collect(context, "sh", "-c", "exec sh -c 'exec sh -c \"exec /bin/sleep 0.1\"'")
    expect([(parent, name) for _, parent, name, _ in got.processes], [("0", "sleep")], "processes")


def test_vfork(context):
    """posix_spawn() of a shell's child shares its parent's memory until it executes."""
    program = ("import os\nfor i in range(20):\n"
               " os.waitpid(os.posix_spawn('/bin/true', ['true'], {}), 0)\n")
    got = collect(context, "python3", "-c", program)
    expect(sum(name == "true" for _, _, name, _ in got.processes), 20, "children called true")
    require(any("libpython" in m or "python" in m for m in got.modules), "python is a module")


def test_deleted_executable(context):
    spin = shutil.copy(shutil.which("perl"), context.path("gone"))
    got = collect(context, spin, "-e", f"unlink '{spin}'; for (1..20000000) {{ $x++ }}")
    expect(got.status, 0, "status")
    require(got.modules[spin].startswith("file"), f"module of the executable: {got.modules}")
    require(got.counts["cut"] * 50 <= got.counts["kept"], f"few stacks cut: {got.counts}")


@needs("namespaces")
def test_other_mount_namespace(context):
    inner = context.path("inner")
    os.mkdir(inner)
    shutil.copy(shutil.which("perl"), os.path.join(inner, "there"))
    os.mkdir(context.path("mnt"))
    script = (f"mount --bind {inner} {context.path('mnt')} && "
              f"exec {context.path('mnt')}/there -e 'for (1..20000000) {{ $x++ }}'")
    got = collect(context, "unshare", "-m", "sh", "-c", script)
    expect(got.status, 0, f"status ({got.errors})")
    require(got.modules[context.path("mnt") + "/there"].startswith("file"),
            f"the file that only the namespace has: {got.modules}")


def test_as_nobody_with_little_locked_memory(context):
    with open("/proc/sys/kernel/perf_event_paranoid") as level:
        if int(level.read()) > 2:
            context.skip("perf_event_paranoid is above 2")
    prefix = ("prlimit", "--memlock=65536", *context.ordinary_user())
    got = collect(context, "python3", "-c", SPIN.format(0.5), prefix=prefix)
    expect(got.status, 0, f"status ({got.errors})")
    require(got.counts["kept"] > 20, f"samples kept: {got.counts}")
    require(int(re.search(r"ring_bytes (\d+)", got.text)[1]) < 16 << 20, "rings within the limit")


@needs("root")
def test_file_that_its_user_may_not_read(context):
    """Run by root, a target of nobody's: its file is unwound, but not given away."""
    prefix = context.ordinary_user()
    secret = shutil.copy(shutil.which("perl"), context.path("secret"))
    os.chmod(secret, 0o711)
    got = collect(context, *prefix, secret, "-e", "for (1..20000000) { $x++ }")
    expect(got.status, 0, f"status ({got.errors})")
    expect(got.modules[secret].split()[0], "none", "source of the module")


def test_perf_refused_by_seccomp(context):
    refuse = context.target("without-perf")
    got = collect(context, "true", prefix=(refuse,))
    expect(got.status, 125, "status")
    line = got.errors.strip()
    expect(len(line.splitlines()), 1, f"lines of {line!r}")
    require("seccomp" in line and "perf_event_paranoid" in line, f"cause and cure in {line!r}")


def test_exec_failures(context):
    searched = {**context.env, "PATH": "/usr/bin:/bin"}  # another folder might be closed to us
    expect(collect(context, "no-such-command", env=searched).status, 127, "status when not found")
    expect(collect(context, "/etc/passwd").status, 126, "status when not executable")


def test_ended_by_signal(context):
    expect(collect(context, "sh", "-c", "kill -9 $$").status, 137, "status")


def test_plain_run_is_the_same(context):
    """Environment, descriptors and limits of the target are those of a plain run."""
    script = ("env | sort; ls -l /proc/self/fd | wc -l; ulimit -a; "
              "grep -E 'Sig(Blk|Ign|Cgt)' /proc/self/status")
    plain = subprocess.run(["sh", "-c", script], cwd=context.scratch, env=context.env,
                           capture_output=True, text=True, stdin=subprocess.DEVNULL)
    got = collect(context, "sh", "-c", script)
    require(got.text.startswith(plain.stdout),
            f"plain:\n{plain.stdout}\nrecorded:\n{got.text[:len(plain.stdout)]}")


def test_deep_recursion(context):
    """Stacks of 16,000 frames, far deeper than any dump, reach main's caller.

    A late collector loses some at either end of the run, so it is long enough for these to be few.
    """
    got = collect(context, "-f", context.target("deep-recursion"), "16000", "1600")
    expect(got.status, 0, "status")
    require(got.counts["deepest"] > 15900, f"frames of the deepest stack: {got.counts}")
    require(got.counts["cut"] * 50 <= got.counts["kept"], f"few stacks cut: {got.counts}")
