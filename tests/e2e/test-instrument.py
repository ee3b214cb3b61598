"""dwell instrument: programs run unchanged from clones, and their calls are counted."""
import csv
import glob
import json
import os
import shutil
import signal
import subprocess

import managed
from harness import (AS_NOBODY, DEFAULT_SECONDS, NOBODY, cases, children, expect, needs, one_line, require,
                     runs_32_bit)

FOLDERS = "/dev/shm/dwell-*"


def instrument(context, *words, status=0, quiet=True, **options):
    """`dwell instrument WORDS`, counting calls, which must end with @status."""
    done = context.run(context.dwell, "instrument", "--probes=count", *(["-q"] if quiet else []),
                       *words, **options)
    expect(done.returncode, status, f"status of dwell instrument {' '.join(words)}\n{done.stderr}")
    return done


def calls(context, *words, status=0):
    """Calls by function of a run with @words."""
    instrument(context, "-o", "calls.csv", *words, status=status)
    with open(context.path("calls.csv"), newline="") as f:
        rows = list(csv.DictReader(f))
    numbers = [int(row["calls"]) for row in rows]
    expect(numbers, sorted(numbers, reverse=True), "order of the calls")
    return {row["function"]: int(row["calls"]) for row in rows}


def expect_calls(got, **want):
    for name, n in want.items():
        expect(got.get(name, 0), n, f"calls of {name}")


@cases("none", "count")
def test_command_cannot_tell(context, probes):
    for words in (["env"], ["sh", "-c", "echo out; echo err >&2; exit 7"], ["cat", "/etc/passwd"],
                  ["sh", "-c", "cat | wc -c; ls -l /proc/self/fd | wc -l"],
                  [context.target("calls"), "plain"], [context.target("calls"), "signal", "15"],
                  ["sh", "-c", "kill -9 $$"]):
        plain = context.run(*words, input="text\n", stdin=None)
        got = context.run(context.dwell, "instrument", "-q", "--probes", probes, "--", *words,
                          input="text\n", stdin=None)
        expect(got.stdout.replace(context.dwell, words[0]), plain.stdout.replace(
            context.dwell, words[0]), f"output of {words}")
        expect(got.stderr, plain.stderr, f"errors of {words}")
        status = plain.returncode if plain.returncode >= 0 else 128 - plain.returncode
        expect(got.returncode, status, f"status of {words}")


def test_code_in_several_segments(context):
    done = instrument(context, "--", context.target("two-segments"), quiet=False)
    expect(done.stdout, "42\n", "output")
    require("as it is in 1 process: its code lies in several segments" in done.stderr, done.stderr)


def test_environment_shows_nothing(context):
    own = context.target("calls-library.so")
    for preload in ({}, {"LD_PRELOAD": own}):
        env = {**context.env, **preload}
        for words in (["env"], ["cat", "/proc/self/environ"]):
            plain, got = (set(run(*words, env=env).stdout.replace("\0", "\n").splitlines())
                          for run in (context.run, lambda *w, **o: instrument(context, *w, **o)))
            expect(got - {""}, plain - {""}, f"{words} with {preload}")


def test_calls_are_counted(context):
    expect_calls(calls(context, context.target("calls")), leaf=1000, even=51, odd=50, main=1)


def test_calls_of_threads_are_counted(context):
    expect_calls(calls(context, context.target("calls"), "threads", "8"), in_thread=8000)


def test_calls_of_children_are_counted(context):
    expect_calls(calls(context, context.target("calls"), "fork", "20"), in_child=200, main=1)


def test_calls_across_exec_are_counted(context):
    expect_calls(calls(context, context.target("calls"), "exec", "5"), before_exec=6, main=6)


def test_calls_of_processes_at_once_are_counted(context):
    expect_calls(calls(context, context.target("calls"), "spawn", "8"), leaf=8000, even=408, main=9)


@needs("namespaces")
def test_calls_in_another_pid_namespace_are_counted(context):
    command = ["unshare", "--pid", "--fork", context.target("calls")]
    expect_calls(calls(context, *command), leaf=1000, even=51)


@cases("SIGTERM", "SIGKILL", "SIGSEGV")
def test_calls_of_killed_processes_are_counted(context, name):
    number = getattr(signal, name)
    expect_calls(calls(context, context.target("calls"), "signal", str(int(number)),
                       status=128 + number), leaf=10)


def test_libraries_are_chosen_by_module(context):
    library = context.target("calls-library.so")
    command = ["env", f"LD_PRELOAD={library}", context.target("calls")]
    expect_calls(calls(context, "--module", "calls-lib*", *command), leaf=1000)
    expect_calls(calls(context, *command[2:], "open", library), library_work=0)
    expect_calls(calls(context, "--module", "calls-lib*", *command[2:], "open", library),
                 library_work=150)


def test_children_of_a_cloned_c_library(context):
    """Its own way to execute programs passes the agent too, from clones."""
    got = calls(context, "--module", "libc.so.6", "sh", "-c", f"env {context.target('calls')}; true")
    expect_calls(got, leaf=1000)
    require(got.get("execvp", 0) > 0, "libc ran from clones")


def test_functions_are_chosen_by_name(context):
    command = context.target("calls")
    got = calls(context, "--include", "leaf", "--include", "o*", command)
    expect(got, {"leaf": 1000, "odd": 50}, "included")
    got = calls(context, "--exclude", "[leo]*", command)
    expect([name for name in got if name[0] in "leo"], [], "excluded")
    expect_calls(got, main=1)
    got = calls(context, "--include", "*", "--exclude", "leaf", command)
    expect_calls(got, leaf=0, odd=50)


def test_list_of_functions(context):
    command = context.target("calls")
    rows = json.loads(instrument(context, "--list-functions", "--format", "json", "--exclude",
                                 "odd", command).stdout)["rows"]
    by_name = {row["function"]: row for row in rows}
    require(by_name["leaf"]["cloned"] and by_name["leaf"]["probed"], f"leaf is {by_name['leaf']}")
    expect(by_name["odd"]["reason"], "not chosen", "the reason of odd")
    require(by_name["_start"]["reason"], "_start has no reason")
    text = instrument(context, "--list-functions", "--format", "csv", "--module", "libm.so*",
                      "/usr/bin/awk").stdout
    modules = {row["module"] for row in csv.DictReader(text.splitlines())}
    require("libm.so.6" in modules and len(modules) == 2, f"modules listed: {modules}")
    table = instrument(context, "--list-functions", command).stdout
    require(" leaf\n" in table and "_start (" in table, f"table: {table}")


def test_summary_names_modules_and_reasons(context):
    done = instrument(context, context.target("calls"), "fork", "3", quiet=False)
    require("4 of 4 processes instrumented" in done.stderr, done.stderr)
    require("functions ran from clones in 4 processes" in done.stderr, done.stderr)
    require("left alone: " in done.stderr, done.stderr)


@cases("calls-static", "narrow")
def test_programs_that_take_no_agent_run_as_they_are(context, name):
    if name == "narrow" and not runs_32_bit(context):
        context.skip("this kernel runs no 32-bit programs")
    plain = context.run(context.target(name))
    done = instrument(context, context.target(name), status=plain.returncode)
    expect(done.stdout, plain.stdout, "output")
    reason = {"calls-static": "is statically linked", "narrow": "is no program for x86-64"}[name]
    require(reason in one_line(done.stderr, "notice"), done.stderr)


def test_children_that_take_no_agent_are_counted(context):
    done = instrument(context, "sh", "-c", f"{context.target('calls-static')} threads 1; "
                      f"{context.target('narrow')}; exit 0", quiet=False)
    require("1 child process not instrumented: static" in done.stderr, done.stderr)
    expect("1 child process not instrumented: 32-bit" in done.stderr, runs_32_bit(context),
           "a 32-bit child was counted")


def test_modules_that_never_came_are_named(context):
    done = instrument(context, "--module", "libnone*", "--module", "libc.so*", "true", quiet=False)
    require("fits --module libnone*\n" in done.stderr, done.stderr)
    require("fits --module libc" not in done.stderr, done.stderr)


def test_a_profiler_is_profiled(context):
    """dwell does not take itself for a .NET program, which would get an agent of its own."""
    context.sample(context.dwell, "instrument", "-q", "-o", "inner.dwell", "--",
                   context.target("calls"))
    rows = context.report("functions", session="inner.dwell")["rows"]
    expect_calls({row["function_name"]: row["number_of_calls"] for row in rows}, leaf=1000)


def test_short_functions_are_counted_on_request(context):
    expect_calls(calls(context, context.target("calls")), leaf=1000, brief=0)
    expect_calls(calls(context, "--all-functions", context.target("calls")), leaf=1000, brief=1000)


def test_scripts_are_followed(context):
    with open(context.path("script"), "w") as f:
        f.write(f"#!{context.target('calls')} plain\n")
    os.chmod(context.path("script"), 0o755)
    expect_calls(calls(context, "./script"), leaf=1000)


def test_failures_before_the_start(context):
    for status, words in {
            127: ["no-such-command"], 126: ["/etc/passwd"],
            125: ["--probes", "some", "true"]}.items():
        env = {**context.env, "PATH": "/usr/bin:/bin"}
        one_line(instrument(context, *words, status=status, env=env).stderr, str(words))
    with open(context.path("other"), "w") as f:
        f.write("precious\n")
    one_line(instrument(context, "-o", "other", "true", status=125).stderr, "refusal")
    expect(open(context.path("other")).read(), "precious\n", "the file that was refused")
    instrument(context, "-o", "new.csv", "true")
    instrument(context, "-o", "new.csv", "true")  # ours: replaced


def folder_of(process):
    folder = process.stdout.readline().strip()
    require(os.path.isdir(folder), f"the folder is {folder!r}")
    return folder


@cases("SIGINT", "SIGTERM", "SIGHUP")
def test_signal_ends_the_run_and_leaves_nothing(context, name):
    number = getattr(signal, name)
    process = context.start(context.dwell, "instrument", "--probes=count", "-q", "-o", "calls.csv",
                            "--",
                            context.target("region"), "sleep")
    folder = folder_of(process)
    process.send_signal(number)
    expect(process.wait(DEFAULT_SECONDS), 128 + number, "status")
    require(not os.path.exists(folder), f"{folder} is left")
    require("main" in open(context.path("calls.csv")).read(), "calls were not written")


def test_killed_collector(context):
    """The command runs on, and the next collector removes what the killed one left."""
    process = context.start(context.dwell, "instrument", "--", "sh", "-c",
                            f"{context.target('region')} folder; exec sleep 1000")
    folder = folder_of(process)
    commands = children(process.pid)
    process.kill()
    process.wait()
    for pid in commands:
        os.kill(pid, 0)  # lives
        os.kill(pid, signal.SIGKILL)
    require(os.path.isdir(folder), "the folder of the killed collector is gone already")
    instrument(context, "true")
    require(not os.path.exists(folder), f"{folder} is left")


def as_nobody(context, mode, *words, options=()):
    """A collector run by root, with the target program @mode run by nobody."""
    os.chmod(context.scratch, 0o755)
    context.let_others_in()
    program = shutil.copy(context.target("region"), context.path("region"))
    return context.run(context.dwell, "instrument", *options, "--", *AS_NOBODY, program, mode,
                       *words)


@needs("root")
@cases("forge", "rewrite", "trees", "flood", "links")
def test_hostile_target(context, mode):
    """The collector, run by root, neither crashes nor hangs nor grows nor leaves anything."""
    before = set(glob.glob(FOLDERS))
    done = as_nobody(context, mode, "2")
    expect(done.returncode, 0, f"status\n{done.stderr}")
    require("lock could be removed" not in done.stdout, done.stdout)
    require("Next: dwell report setpriv.dwell" in done.stderr, f"summary: {done.stderr}")
    report = context.run(context.dwell, "report", "setpriv.dwell", "calltree", "--trim", "0")
    expect((report.returncode, report.stderr), (0, ""), "status and errors of a report")
    left = [name for name in set(glob.glob(FOLDERS)) - before if not is_locked(name)]
    expect(left, [], "folders left")


def is_locked(folder):
    """Whether the folder belongs to a collector that runs, of another test perhaps."""
    return subprocess.run(["flock", "-n", folder + "/.lock", "true"],
                          stderr=subprocess.DEVNULL).returncode != 0


def test_hostile_target_does_not_make_the_collector_grow(context):
    program = ["flood", "3"]
    done = context.run("/usr/bin/env", "python3", "-c", f"""
import resource, subprocess
subprocess.run({[context.dwell, "instrument", "-q", "--", context.target("region"), *program]!r})
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)""")
    require("flooded\n" in done.stdout, f"output: {done.stdout}\n{done.stderr}")
    require(int(done.stdout.split()[-1]) < 200 << 10, f"peak memory in KB: {done.stdout}")


@needs("root")
@cases(0o755, 0o700)
def test_hostile_target_steals_nothing(context, mode):
    """A region that names what only root may read gets no answer, whatever else it claims."""
    secret = context.path("secret")
    context.run("cp", context.target("region"), secret)
    os.chmod(secret, mode)
    done = as_nobody(context, "steal", secret, options=["--module", "secret"])
    answer = "image" if mode & 0o5 else "none"
    expect(done.stdout, f"library:{answer}\nprocess:none\nparent:none\n",
           f"answers\n{done.stderr}")


@needs("root")
def test_other_users_get_a_copy_of_the_image(context):
    done = as_nobody(context, "ask", "20")
    require(done.stdout.startswith("slowest "), f"answers: {done.stdout}\n{done.stderr}")


@needs("root")
def test_images_of_others_files_are_not_kept(context):
    """What another user can change must not reach the images that root's programs run from."""
    for owner, kept in ((NOBODY, 0), (0, 1)):
        program = context.path(f"program-{owner}")
        context.run("cp", context.target("calls"), program)
        os.chown(program, owner, owner)
        expect_calls(calls(context, program), leaf=1000)
        images = glob.glob(context.env["XDG_CACHE_HOME"] + "/dwell/*.clone")
        expect(len(images), kept, f"images in the cache after a run of {program}")


@needs("dotnet")
@cases("library", "inside")
def test_managed_methods(context, where):
    """They are measured, wherever their runtime lies (test-clr-calls.py); of other programs none are missed."""
    command = managed.program(context) if where == "library" else \
        managed.single_file(context, "pdb-beside")
    done = context.run(context.dwell, "instrument", "-o", "run.dwell", "--", command, "trees", "8", "4", "1")
    expect(done.returncode, managed.STATUS, f"status\n{done.stderr}")
    require("without probes in its methods" not in done.stderr, done.stderr)
    facts = context.report("summary")["session"]
    expect(facts["runtimes"], 0, "runtimes without probes in their methods")
    require(facts["methods_instrumented"] > 5, f"methods: {facts}")
    done = context.run(context.dwell, "instrument", "-o", "run.dwell", "--", "true")
    require(".NET" not in done.stderr, done.stderr)
