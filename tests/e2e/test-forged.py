"""Targets that lie to their collector (tests/targets/forger.c), which root runs: it neither crashes
nor hangs nor grows, makes a whole session, and reads nothing for them that they may not read."""
import glob
import os
import shutil

from harness import cases, expect, require

SECONDS = "2"
MOST_BYTES = 4 << 30  # of addresses; the files promise 13 GB
SECRET = "nobody_may_know_this"
ROADS = {
    "samples": ("forger", "sample", "--road", "inside"),
    "objects": ("forger-static", "memory"),
    "sparse": ("forger-static", "memory"),
    "sparse-code": ("forger-static", "sample", "--dotnet", "always"),
    "sparse-calls": ("forger", "instrument"),
}


def need_root(context):
    if os.geteuid():
        context.skip("only root can read for others")
    os.chmod(context.scratch, 0o755)


def secret_program(context):
    """A program that only root may read, with a function that must not be named."""
    with open(context.path("secret.c"), "w", encoding="ascii") as f:
        f.write(f"volatile long s; void {SECRET}(void) {{ for (;;) s++; }} int main(void) {{ {SECRET}(); }}")
    done = context.run("gcc", "-g", "-o", "secret", "secret.c")
    expect(done.returncode, 0, done.stderr)
    os.unlink(context.path("secret.c"))
    os.chmod(context.path("secret"), 0o600)
    return context.path("secret")


def strange_files(context):
    """Names of files that hurt who opens or reads them without looking."""
    os.mkfifo(context.path("pipe"))
    os.chmod(context.path("pipe"), 0o666)
    with open(context.path("huge"), "wb") as f:
        f.truncate(100 << 30)
    return [secret_program(context), context.path("pipe"), context.path("huge"), "/dev/zero",
            "/proc/self/mem"]


def holds(context, path, text):
    """Whether a session has @text in it, unpacked."""
    done = context.run(context.dwell, "report", path, "modules", "--format", "json", "--columns", "all")
    expect(done.returncode, 0, done.stderr)
    with open(path, "rb") as f:
        return text in done.stdout or text.encode() in f.read()


@cases(*ROADS)
def test_forged(context, case):
    need_root(context)
    program, *words = ROADS[case]
    folders = set(glob.glob("/dev/shm/dwell-*"))
    files = strange_files(context)
    done = context.run("prlimit", f"--as={MOST_BYTES}", context.dwell, words[0], "-q", "-o", "run.dwell",
                       *words[1:], "--", shutil.copy(context.target(program), context.scratch),
                       case.split("-")[0], SECONDS, *files)
    expect((done.returncode, done.stderr, done.stdout), (0, "", "forged\n"), "status and output")
    for view in "functions", "calltree", "modules", "threads", "lines", "instructions":
        for form in "table", "json", "xml", "csv":
            report = context.run(context.dwell, "report", "run.dwell", view, "--format", form)
            expect((report.returncode, report.stderr), (0, ""), f"{view} as {form}")
    require(not holds(context, context.path("run.dwell"), SECRET), "the secret is in the session")
    left = {name for name in set(glob.glob("/dev/shm/dwell-*")) - folders
            if context.run("flock", "-n", name + "/.lock", "true").returncode == 0}
    expect(left, set(), "folders left")
