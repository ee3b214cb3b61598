"""Filters in files: what --save-filter writes shows with --filter what the options show, in every command
that has them."""
import glob
import os
import signal

from harness import cases, expect, more, needs, require
from readers import make, read
from screens import ENTER

FIRST_LINE = "# A part of a session, an option a line: dwell report FILE --filter THIS\n"
# For each session: options, and the lines that they are.
CHOICES = {
    "plain": (("--process", "201", "--module=libwork.so", "--from", "0.005", "--until", "900ms"),
              "--process=201\n--module=libwork.so\n--from=5ms\n--until=900ms\n"),
    "calls": (("--thread", "pool_main", "--from=60ms", "--until", "0.1", "--waits", "all"),
              "--thread=pool_main\n--waits=all\n--from=60ms\n--until=100ms\n"),
    "memory": (("--type", "string", "--type", "*Node*", "--process", "201"),
               "--process=201\n--type=string\n--type=*Node*\n"),
}
COMMANDS = (("report", "{}", "functions", "-f", "json"), ("report", "{}"), ("export", "{}", "-f", "speedscope"),
            ("diff", "{}", "{}", "functions", "--all", "-f", "csv"), ("read", "{}"))


def run(context, command, path, *words):
    return context.run(context.dwell, *(word.format(path) for word in command), *words)


@cases(*CHOICES)
def test_the_same_rows(context, name):
    """Each command shows with the file what it shows with the options, and saves the same file."""
    path = make(context, name)
    options, lines = CHOICES[name]
    for number, command in enumerate(COMMANDS):
        plain = run(context, command, path)
        chosen = run(context, command, path, *options, "--save-filter", f"filter-{number}")
        expect((chosen.returncode, chosen.stderr), (0, ""), f"{command} with options")
        with open(context.path(f"filter-{number}")) as f:
            expect(f.read(), FIRST_LINE + lines, f"what {command} saves")
        again = run(context, command, path, "--filter", f"filter-{number}")
        expect((again.returncode, again.stderr, again.stdout), (0, "", chosen.stdout), f"{command} with the file")
        require(plain.stdout != chosen.stdout, f"{command}: the filter changes nothing")


def test_the_folder(context):
    """--all goes by it, too, and options beside it are added."""
    path = make(context, "plain")
    with open(context.path("child"), "w") as f:
        f.write("\n# those of the child\n--process 201\n")
    done = context.run(context.dwell, "report", path, "--all", "-o", "out", "--filter", "child", "--module",
                       "libwork.so", "--save-filter", "both")
    expect((done.returncode, done.stderr), (0, ""), "--all")
    wanted = context.run(context.dwell, "report", path, "functions", "-f", "csv", "--process", "201", "--module",
                         "libwork.so").stdout
    with open(context.path("out/functions.csv")) as f:
        expect(f.read(), wanted, "functions.csv")
    with open(context.path("both")) as f:
        expect(f.read(), FIRST_LINE + "--process=201\n--module=libwork.so\n", "both")


@cases("old", *more("new"))
def test_an_interrupted_folder(context, kind):
    """A signal while views are written leaves nothing of them, and what was there as it was."""
    maker = os.path.join(context.targets, "../tools/make-session")
    words = "samples=1000000 stacks=200000 threads=4 depth=25 addresses=20000 functions=4000 modules=20"
    expect(context.run(maker, "large.dwell", *words.split()).returncode, 0, "status of make-session")
    if kind == "old":
        os.mkdir(context.path("out"))
        with open(context.path("out/summary.csv"), "w") as f:
            f.write("before")
    child = context.start(context.dwell, "report", "large.dwell", "--all", "-o", "out")
    context.wait_for(lambda: glob.glob(context.path("out/*.partial-*")), "a file")
    child.send_signal(signal.SIGTERM)
    expect(child.wait(60), -signal.SIGTERM, "status")
    expect(os.path.exists(context.path("out")), kind == "old", "the folder")
    if kind == "old":
        expect(os.listdir(context.path("out")), ["summary.csv"], "what is in it")
        with open(context.path("out/summary.csv")) as f:
            expect(f.read(), "before", "the file")


def test_links_are_followed(context):
    """What is written whole goes where a link leads, also one that leads nowhere yet."""
    path = make(context, "plain")
    os.makedirs(context.path("elsewhere"))
    os.symlink("elsewhere/second", context.path("first"))
    os.symlink("third", context.path("elsewhere/second"))
    os.symlink("loop", context.path("loop"))
    for number in "201", "202":
        done = context.run(context.dwell, "report", path, "--process", "201", "--save-filter", "first")
        expect((done.returncode, done.stderr), (0, ""), f"--save-filter {number}")
        require(os.path.islink(context.path("first")) and os.path.islink(context.path("elsewhere/second")), "the links")
        with open(context.path("elsewhere/third")) as f:
            expect(f.read(), FIRST_LINE + "--process=201\n", "the file")
    done = context.run(context.dwell, "report", path, "--process", "201", "--save-filter", "loop")
    expect(done.returncode, 1, "status of a link to itself")
    require("loop" in done.stderr and done.stderr.count("\n") == 1, done.stderr)


def test_what_is_wrong(context):
    """One line says where and what, and nothing is written."""
    path = make(context, "plain")
    with open(context.path("slip"), "w") as f:
        f.write("--process=201\n\n--modul=x\n")
    with open(context.path("absent"), "w") as f:
        f.write("--process=nobody\n")
    for words, status, text in (
            (("report", path, "--filter", "slip"), 2, "dwell report: --filter: slip:3: unknown option '--modul' "
             "(did you mean --module?) (see 'dwell help report')\n"),
            (("export", path, "-f", "folded", "--filter", "slip"), 2, "dwell export: --filter: slip:3: "),
            (("diff", path, path, "--filter", "slip"), 2, "dwell diff: --filter: slip:3: "),
            (("read", path, "--filter", "slip"), 2, "dwell read: --filter: slip:3: "),
            (("report", path, "--filter", "nowhere"), 1, "dwell: --filter: cannot read 'nowhere': No such file"),
            (("report", path, "--filter", path), 1, f"dwell: --filter: {path}:1: a NUL byte"),
            (("report", path, "--filter", "absent", "--save-filter", "new"), 1,
             "dwell: no process 'nobody' in this session\n"),
            (("report", path, "--process", "201", "--save-filter", path), 1,
             f"dwell: '{path}' exists and is no filter file, not overwriting it\n"),
            (("report", path, "--process", "201", "--save-filter", "no/where"), 1, "dwell: cannot write 'no/where': "),
            (("export", path, "-f", "html", "-o", "page.html", "--filter", "absent"), 2, "it filters by itself")):
        done = context.run(context.dwell, *words)
        expect(done.returncode, status, f"status of {words}: {done.stderr}")
        require(text in done.stderr and done.stderr.count("\n") == 1, f"{words}: {done.stderr!r}")
    require(not os.path.exists(context.path("new")), "saved all the same")
    expect(context.run(context.dwell, "report", path).returncode, 0, "the session is still one")
    done = context.run(context.dwell, "report", path, "-o", "rows", "--process", "201", "--save-filter", "/dev/stdout")
    expect((done.returncode, done.stdout), (0, FIRST_LINE + "--process=201\n"), "/dev/stdout")


@needs("pyte")
def test_from_the_screen(context):
    """What was chosen on the full screen is saved when it is left."""
    path = make(context, "plain")
    with open(context.path("start"), "w") as f:
        f.write("--from=5ms\n")
    with read(context, path, "--filter", "start", "--save-filter", "chosen") as terminal:
        terminal.shows("1 summary")
        terminal.press("2p201" + ENTER)
        terminal.shows("[process 201]")
        terminal.press("q")
        while terminal.read():
            pass
    with open(context.path("chosen")) as f:
        expect(f.read(), FIRST_LINE + "--process=201\n--from=5ms\n", "chosen")
