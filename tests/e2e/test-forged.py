"""Targets that lie to their collector (tests/targets/forger.c), which root runs: it neither crashes
nor hangs nor grows, makes a whole session, and reads nothing for them that they may not read."""
import glob
import os
import shutil

from harness import cases, expect, needs, require, rows_of

SECONDS = "2"
MOST_BYTES = 4 << 30  # of addresses; the files promise 7 GB
SECRET = "nobody_may_know_this"
SAMPLES = ("forger", "sample", "--sampler", "in-process")
RUNS = {
    "samples 600": SAMPLES,
    "samples 644": SAMPLES,
    "objects": ("forger-static", "memory"),
    "sparse": ("forger-static", "memory"),
    "sparse-code": ("forger-static", "sample", "--dotnet", "always"),
    "sparse-calls": ("forger", "instrument"),
}
TAKEN = {  # what shows that it was taken in, by the facts of the session
    "samples": lambda facts: facts["samples_kept"] > 0,
    "objects": lambda facts: facts["rows_dropped"] > 0,
    "sparse": lambda facts: facts["processes_instrumented"] > 0,
    "sparse-code": lambda facts: facts["runtimes"] > 0,
    "sparse-calls": lambda facts: facts["tree_bytes_max"] == (32 << 20) + 240 * (640 << 10),
}


def secret_program(context, mode):
    """A program with a function that must not be named where only root may read it. It comes first in
    its code, where the forged samples are."""
    with open(context.path("secret.c"), "w", encoding="ascii") as f:
        f.write(f"volatile long s; void {SECRET}(void) {{ for (;;) s++; }} int main(void) {{ {SECRET}(); }}")
    context.make("gcc", "-g", "-o", "secret", "secret.c")
    os.unlink(context.path("secret.c"))
    os.chmod(context.path("secret"), mode)
    return context.path("secret")


def strange_files(context, mode):
    """Names of the secret, and of files that hurt who opens or reads them without looking."""
    os.mkfifo(context.path("pipe"))
    os.chmod(context.path("pipe"), 0o666)
    with open(context.path("huge"), "wb") as f:
        f.truncate(100 << 30)
    return [secret_program(context, mode), context.path("pipe"), context.path("huge"), "/dev/zero",
            "/proc/self/mem"]


def expect_secret(context, is_known):
    """Samples of the program with the secret function have come, and its name has or has not."""
    functions = context.report("functions")
    require(any(row["module_name"] == "secret" for row in functions["rows"]), "no sample in the program")
    expect(bool(rows_of(functions, SECRET)), is_known, "secret function")
    with open(context.path("run.dwell"), "rb") as f:
        require(is_known or SECRET.encode() not in f.read(), "the secret is in the session")


@needs("root")
@cases(*RUNS)
def test_forged(context, case):
    os.chmod(context.scratch, 0o755)
    program, *words = RUNS[case]
    lie, _, mode = case.partition(" ")
    folders = set(glob.glob("/dev/shm/dwell-*"))
    files = strange_files(context, int(mode or "600", 8))
    done = context.run("prlimit", f"--as={MOST_BYTES}", context.dwell, words[0], "-q", "-o", "run.dwell",
                       *words[1:], "--", shutil.copy(context.target(program), context.scratch),
                       lie.split("-")[0], SECONDS, *files)
    expect((done.returncode, done.stderr, done.stdout), (0, "", "forged\n"), "status and output")
    for view in "functions", "calltree", "modules", "threads", "lines", "instructions":
        for form in "table", "json", "xml", "csv":
            report = context.run(context.dwell, "report", "run.dwell", view, "--format", form)
            expect((report.returncode, report.stderr), (0, ""), f"{view} as {form}")
    facts = context.report("summary")["session"]
    require(TAKEN[lie](facts), facts)
    if lie == "samples":
        expect_secret(context, mode == "644")
    left = {name for name in set(glob.glob("/dev/shm/dwell-*")) - folders
            if context.run("flock", "-n", name + "/.lock", "true").returncode == 0}
    expect(left, set(), "folders left")
