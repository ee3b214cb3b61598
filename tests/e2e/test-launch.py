"""What is the same for all methods: how the command is started, and what limits leave of dwell."""
import os
import resource
import shutil
import signal
import time

from harness import DEFAULT_SECONDS, NOBODY, cases, children, expect, needs, one_line, require, rows_of

FAILED = 125
METHODS = {
    "instrument": ["instrument"],
    "memory": ["memory"],
    "sample": ["sample"],
    "sample-inside": ["sample", "--sampler", "in-process"],
}


@cases(*METHODS)
def test_signals_of_the_caller_are_the_commands(context, method):
    """Dwell ignores some signals itself; the command has those that the caller ignores."""
    words = ["grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status"]
    for caller in ("trap - PIPE XFSZ", "trap '' PIPE", "trap '' PIPE XFSZ QUIT IO"):
        script = f'{caller}; exec "$@"'
        plain = context.run("bash", "-c", script, "bash", *words, restore_signals=True)
        got = context.run("bash", "-c", script, "bash", context.dwell, *METHODS[method], "-q",
                          "--", *words, restore_signals=True)
        expect(got.stdout, plain.stdout, f"signals after {caller}\n{got.stderr}")


@cases(*METHODS)
def test_file_size_limit_at_the_start(context, method):
    """No session can be made: that is said, and the command does not start."""
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))

    marker = context.path("ran")
    done = context.run(context.dwell, *METHODS[method], "-o", "run.dwell", "--", "touch", marker,
                       preexec_fn=limit)
    expect(done.returncode, FAILED, f"status\n{done.stderr}")
    one_line(done.stderr, "stderr")
    require("cannot write the session" in done.stderr, done.stderr)
    require(not os.path.exists(marker), "the command was started")
    expect([n for n in os.listdir(context.path(".")) if n.startswith("run.")], [], "files left")


@cases("instrument", "memory")
def test_command_that_dies_before_it_runs(context, method):
    """Killed while it is held, before dwell takes signals: nobody tells of its end."""
    context.make("strace", "-V")
    slow = ("strace", "-qq", "-o", "/dev/null", "-P", "/proc/loadavg", "-e", "trace=openat",
            "-e", "inject=openat:delay_enter=700000")
    run = context.start(*slow, context.dwell, *METHODS[method], "-q", "-o", "run.dwell", "--",
                        "sleep", "60")
    held = []

    def is_held():
        held[:] = [child for dwell in children(run.pid) for child in children(dwell)]
        return held

    context.wait_for(is_held, "the command to be held")
    os.kill(held[-1], signal.SIGKILL)
    run.communicate(timeout=20)
    expect(run.returncode, 128 + signal.SIGKILL, "status")


def copy_to(context, name):
    """dwell and its agents in the folder @name."""
    folder = context.path(name)
    os.makedirs(folder)
    build = os.path.dirname(context.dwell)
    for file in ("dwell", "libdwell-clr.so", "libdwell-probe.so", "libdwell-sample.so"):
        shutil.copy(os.path.join(build, file), folder)
    return os.path.join(folder, "dwell")


FOLDERS = {"space": "a b", "colon": "a:b", "token": "$LIB", "long": "/".join(6 * ["long-" * 40])}


@cases(*FOLDERS)
def test_dwell_lies_anywhere(context, kind):
    """The loader parts what is preloaded at spaces and colons; agents come all the same."""
    dwell = copy_to(context, os.path.join("x", FOLDERS[kind]))
    words = context.target("calls"), "fork", "20"
    plain = context.run(*words)
    for options in (["sample", "--sampler", "in-process", "--dotnet", "always"], ["instrument"]):
        done = context.run(dwell, *options, "-q", "-o", "run.dwell", "--", *words)
        expect((done.returncode, done.stdout, done.stderr),
               (plain.returncode, plain.stdout, plain.stderr), f"{options}")
    rows = rows_of(context.report("functions"), "in_child")
    expect(sum(row["number_of_calls"] for row in rows), 200, "calls of in_child in children")


def test_sampling_from_anywhere(context):
    """The same, with samples of the program and of what it executes, by another user."""
    user = context.ordinary_user()
    dwell = copy_to(context, "x/a b")
    script = f'{context.target("large-frames")} 300; sh -c "exec {context.target("large-frames")} 300"'
    done = context.run(*user, dwell, "sample", "-q", "--sampler", "in-process", "-o", "run.dwell", "--",
                       "sh", "-c", script)
    expect((done.returncode, done.stderr), (0, ""), "status and errors")
    names = [row["name"] for row in context.report("processes")["rows"]
             if row["inclusive_samples"] > 5]
    expect(names.count("large-frames"), 2, f"processes with samples in {names}")


DUMPER = """
import signal, time
seen = 0
def count(number, frame):
    global seen
    seen += 1
signal.signal(signal.SIGQUIT, count)
print("ready", flush=True)
end = time.time() + 1.5
while time.time() < end:
    pass
print(seen)
"""


def start_dumper(context, *options):
    """A program that counts its SIGQUITs, recorded; and a line when it is ready."""
    return context.start(context.dwell, *options, "-q", "-o", "run.dwell", "--", "python3", "-c",
                         DUMPER)


@cases(*METHODS)
def test_sigquit_is_the_programs(context, method):
    """A runtime answers it with a dump and goes on, and so does the recording."""
    running = start_dumper(context, *METHODS[method])
    expect(running.stdout.readline(), "ready\n", "first line")
    os.kill(running.pid, signal.SIGQUIT)
    out, errors = running.communicate(timeout=DEFAULT_SECONDS)
    expect((running.returncode, out), (0, "1\n"), f"status, signals seen\n{errors}")
    duration_ns = context.report("summary")["session"]["duration_ns"]
    require(duration_ns > 1.2e9, f"the recording took {duration_ns} ns")


def test_sigquit_ends_an_attached_recording(context):
    program = context.start(context.target("large-frames"), "20000", "1000")
    running = context.start(context.dwell, "sample", "-o", "run.dwell", "-p", str(program.pid))
    context.wait_for(lambda: os.path.exists(context.path("run.dwell.partial")), "a session")
    time.sleep(0.5)
    running.send_signal(signal.SIGQUIT)
    _, errors = running.communicate(timeout=DEFAULT_SECONDS)
    require(running.returncode >= 0, f"died of {running.returncode}\n{errors}")
    require(program.poll() is None, "the program ended")
    program.kill()
    program.wait()
    require(context.report("functions")["session"]["samples_kept"] > 10, "samples")


def bad_commands(context):
    """Commands that cannot be executed, and the status that tells so."""
    def make(name, contents, mode=0o755):
        with open(context.path(name), "wb") as f:
            f.write(contents)
        os.chmod(context.path(name), mode)
        return context.path(name)

    yield make("no-interpreter", b"#!/no/such/interpreter\n"), 127
    yield make("text-interpreter", b"#!/etc/passwd\n"), 126
    yield make("broken-elf", b"\x7fELF is all there is"), 126
    yield make("not-executable", b"#!/bin/sh\n", 0o644), 126
    yield context.path("absent"), 127


@cases("sample", "instrument", "memory")
def test_no_session_of_what_cannot_be_executed(context, method):
    for command, status in bad_commands(context):
        done = context.run(context.dwell, *METHODS[method], "-o", "run.dwell", "--", command)
        expect(done.returncode, status, f"status with {command}\n{done.stderr}")
        require("cannot execute the command" in done.stderr, done.stderr)
        expect([n for n in os.listdir(context.path(".")) if n.startswith("run.")], [], command)


@cases(*METHODS)
def test_sessions_are_private(context, method):
    """A session holds what its owner could read, so nobody else may, as with perf.data."""
    running = context.start(context.dwell, *METHODS[method], "-q", "-o", "run.dwell", "--", "sleep",
                            "1")
    partial = context.path("run.dwell.partial")
    context.wait_for(lambda: os.path.exists(partial), "a session that is written")
    expect(os.stat(partial).st_mode & 0o777, 0o600, "mode while it is written")
    running.communicate(timeout=DEFAULT_SECONDS)
    expect(os.stat(context.path("run.dwell")).st_mode & 0o777, 0o600, "mode")


@needs("root")
@cases("sample", "instrument")
def test_sessions_under_sudo_belong_to_the_caller(context, method):
    env = {**context.env, "SUDO_UID": str(NOBODY), "SUDO_GID": str(NOBODY)}
    context.run(context.dwell, *METHODS[method], "-q", "-o", "run.dwell", "--", "true", env=env)
    made = os.stat(context.path("run.dwell"))
    expect((made.st_uid, made.st_gid), (NOBODY, NOBODY), "owner")
    for uid in ("", "-1", "x", "4294967296", "12x"):
        os.unlink(context.path("run.dwell"))
        context.run(context.dwell, *METHODS[method], "-q", "-o", "run.dwell", "--", "true",
                    env={**env, "SUDO_UID": uid})
        expect(os.stat(context.path("run.dwell")).st_uid, 0, f"owner with SUDO_UID={uid}")
