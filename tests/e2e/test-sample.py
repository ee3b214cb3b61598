"""dwell sample as a command: status, streams, output files, signals, and all that can go wrong."""
import json
import os
import pty
import re
import resource
import shutil
import signal
import time

from harness import (DEFAULT_SECONDS, File, cases, children, expect, expect_all_counted, needs, one_line,
                     require)

FILE = File(without_perf=("*",))
FAILED, NOT_EXECUTABLE, NOT_FOUND = 125, 126, 127


def is_complete(context, session="run.dwell"):
    """The session stands under its own name, nothing half-done beside it; its facts."""
    require(os.path.exists(context.path(session)), f"no {session}")
    left = [name for name in os.listdir(context.scratch) if ".partial" in name]
    expect(left, [], "left-overs of the recording")
    return context.report("summary", session=session)["session"]


@cases(0, 1, 7, 125, 255)
def test_status_is_passed_on(context, status):
    context.sample(context.target("nasty"), "exit", str(status), status=status)
    is_complete(context)


@cases(signal.SIGTERM, signal.SIGSEGV, signal.SIGKILL)
def test_death_by_signal(context, number):
    context.sample(context.target("nasty"), "signal", str(int(number)), status=128 + number)
    require(is_complete(context)["samples_kept"] > 0, "samples before the death are missing")


def test_no_such_program(context):
    done = context.sample("./no-such-program", status=NOT_FOUND)
    require("no-such-program" in one_line(done.stderr, "stderr"), done.stderr)
    expect(os.listdir(context.scratch), [], "files after a command that was not found")


def test_names_stay_on_their_line(context):
    done = context.sample("./no\nsuch\033[31mprogram", status=NOT_FOUND)
    require(r"no\x0asuch\x1b[31mprogram" in one_line(done.stderr, "stderr"), done.stderr)


def test_program_is_searched_in_path(context):
    context.sample("true")
    is_complete(context)


@cases("file", "folder")
def test_not_executable(context, kind):
    path = context.path("thing")
    if kind == "file":
        open(path, "w").close()
    else:
        os.mkdir(path)
    done = context.sample("./thing", status=NOT_EXECUTABLE)
    require("thing" in one_line(done.stderr, "stderr"), done.stderr)
    expect(os.listdir(context.scratch), ["thing"], "files after a command that could not run")


@cases("-F 0", "-F x", "-F", "--no-such-option", "--stack-bytes 100000000", "--duration never",
       "--duration 0", "--duration 0.0000000001", "")
def test_wrong_usage(context, words):
    command = ["--", "touch", "ran"] if words and words != "-F" else []
    done = context.run(context.dwell, "sample", *words.split(), *command)
    expect(done.returncode, FAILED, f"status of dwell sample {words}")
    one_line(done.stderr, "stderr")
    expect(done.stdout, "", "stdout")
    expect(os.listdir(context.scratch), [], "files after wrong usage")


def test_stdout_belongs_to_the_target(context):
    program = context.target("exceptions")
    plain = context.run(program)
    done = context.run(context.dwell, "sample", "-o", "run.dwell", program)
    expect((done.returncode, done.stdout), (plain.returncode, plain.stdout), "status and stdout")
    require("storm::" in done.stderr, f"no function of the program in the summary:\n{done.stderr}")
    require("dwell report" in done.stderr, f"no next command in the summary:\n{done.stderr}")
    require("\x1b" not in done.stderr and "\r" not in done.stderr, "terminal codes in a pipe")
    expect(context.sample(program).stderr, "", "stderr with -q")


def test_stdin_reaches_the_target(context):
    with open(context.path("in"), "w") as f:
        f.write("some words\n")
    with open(context.path("in")) as f:
        expect(context.sample("cat", stdin=f).stdout, "some words\n", "stdout of cat")


def test_default_output(context):
    done = context.run(context.dwell, "sample", "-q", context.target("nasty"), "work", "20")
    expect(done.returncode, 0, done.stderr)
    expect(os.listdir(context.scratch), ["nasty.dwell"], "files")


def test_existing_session_is_replaced(context):
    context.sample(context.target("nasty"), "work", "20")
    first = os.stat(context.path("run.dwell")).st_ino
    context.sample(context.target("nasty"), "work", "20")
    require(os.stat(context.path("run.dwell")).st_ino != first, "the old file was written into")
    is_complete(context)


@cases("text", "empty", "device", "folder", "no-folder", "not-writable")
def test_output_is_refused_before_the_command_starts(context, kind):
    prefix, output = [], context.path("out")
    if kind in ("text", "empty"):
        with open(output, "w") as f:
            f.write("precious" if kind == "text" else "")
    elif kind == "folder":
        os.mkdir(output)
    elif kind == "device":
        output = "/dev/null"
    elif kind == "no-folder":
        output = context.path("no/such/folder/out")
    else:
        prefix, output = context.ordinary_user(), "/proc/out"
    marker = context.path("ran")
    done = context.run(*prefix, context.dwell, "sample", "-q", "-o", output, "touch", marker)
    expect(done.returncode, FAILED, done.stderr)
    one_line(done.stderr, "stderr")
    require(not os.path.exists(marker), "the command was started")
    if kind == "text":
        expect(open(output).read(), "precious", "contents of a foreign file")


def test_file_size_limit(context):
    """A disk that gives out: the target runs on, what was collected opens."""
    def forbid_growth(collector):
        size = os.path.getsize(context.path("run.dwell.partial"))
        resource.prlimit(collector.pid, resource.RLIMIT_FSIZE, (size, size))

    check_full_disk(context, "run.dwell", forbid_growth)


@needs("namespaces")
def test_full_disk(context):
    folder = context.path("small")
    os.mkdir(folder)
    context.make("mount", "-t", "tmpfs", "-o", "size=1m", "none", folder)

    def fill(_):
        with open(os.path.join(folder, "filler"), "wb", buffering=0) as f:
            try:
                while f.write(bytes(4096)):
                    pass
            except OSError:
                pass

    try:
        check_full_disk(context, "small/run.dwell", fill)
    finally:
        context.run("umount", "-l", folder)


def check_full_disk(context, session, take_room):
    """Record, take the room away once something was written, and look at what is left."""
    running = context.start(context.dwell, "sample", "-q", "-F", "5000", "-o", session,
                            context.target("nasty"), "altstack", "3000")
    context.wait_for(lambda: kept_so_far(context, session) > 300, "samples in the .partial")
    take_room(running)
    _, errors = running.communicate(timeout=DEFAULT_SECONDS)
    expect(running.returncode, FAILED, f"status with a full disk\n{errors}")
    one_line(errors, "stderr")
    partial = session + ".partial"
    require(os.path.exists(context.path(partial)), f"no {partial}")
    facts = context.report("summary", session=partial)["session"]
    require(facts["samples_kept"] > 300, f"only {facts['samples_kept']} samples are left")


def kept_so_far(context, session="run.dwell"):
    """Samples in the .partial of a recording that runs."""
    done = context.run(context.dwell, "report", session + ".partial", "--format", "json")
    return json.loads(done.stdout)["session"]["samples_kept"] if done.returncode == 0 else 0


def start_graceful(context, *words):
    """Start a recording of a program that ends itself on a signal with 42, once it has worked."""
    running = context.start(context.dwell, "sample", "-q", "-o", "run.dwell", *words,
                            context.target("nasty"), "graceful")
    expect(running.stdout.readline(), "ready\n", "first line of the target")
    return running


@cases(signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
def test_signal_to_the_collector(context, number):
    running = start_graceful(context)
    running.send_signal(number)
    _, errors = running.communicate(timeout=DEFAULT_SECONDS)
    require(running.returncode in (42, 128 + number), f"status {running.returncode}: {errors}")
    require(is_complete(context)["samples_kept"] > 20, "samples before the signal are missing")


def test_ctrl_c_reaches_the_target_once(context):
    """A terminal sends SIGINT to the whole group; the program ends with 42 if it came once."""
    pid, terminal = pty.fork()
    if not pid:
        os.chdir(context.scratch)
        os.execve(context.dwell, [context.dwell, "sample", "-o", "run.dwell",
                                  context.target("nasty"), "graceful"], context.env)
    text = b""
    while b"ready" not in text:
        text += os.read(terminal, 4096)
    os.write(terminal, b"\x03")
    try:
        while more := os.read(terminal, 4096):
            text += more
    except OSError:  # the other end is closed
        pass
    _, status = os.waitpid(pid, 0)
    expect(os.waitstatus_to_exitcode(status), 42, f"status on a terminal that showed {text}")
    is_complete(context)


def test_target_killed(context):
    running = start_graceful(context)
    context.wait_for(lambda: children(running.pid), "the target")
    os.kill(children(running.pid)[0], signal.SIGKILL)
    running.communicate(timeout=DEFAULT_SECONDS)
    expect(running.returncode, 137, "status after kill -9 of the target")
    is_complete(context)


def runs_on(context, target):
    """The target uses the processor, as it did."""
    def ticks():
        with open(f"/proc/{target}/stat") as f:
            return int(f.read().rpartition(")")[2].split()[11])
    before = ticks()
    context.wait_for(lambda: ticks() > before + 2, "the target, to run on")


def test_collector_killed(context):
    """The target runs on; the .partial alone opens; recover finishes it."""
    running = start_graceful(context)
    context.wait_for(lambda: kept_so_far(context) > 200, "samples in the .partial")
    (target,) = children(running.pid)
    running.kill()
    running.wait()
    runs_on(context, target)
    os.kill(target, signal.SIGKILL)
    os.mkdir(context.path("alone"))
    partial = shutil.move(context.path("run.dwell.partial"), context.path("alone/run.dwell.partial"))
    facts = context.report("summary", session=partial)["session"]
    require(facts["samples_kept"] > 200, f"only {facts['samples_kept']} samples are left")
    done = context.run(context.dwell, "recover", partial, "-o", "recovered.dwell")
    expect(done.returncode, 0, done.stderr)
    report = context.report("functions", session="recovered.dwell")
    require(any(row["function_name"] == "work_ms" for row in report["rows"]), "no names recovered")
    require(report["session"]["samples_kept"] >= facts["samples_kept"], "samples were lost")


@cases("sample SIGSEGV", "sample SIGABRT", "instrument SIGSEGV", "memory SIGBUS")
def test_collector_crashes(context, how):
    """Its end is not taken for the target's, which runs on."""
    method, name = how.split()
    running = context.start(context.dwell, method, "-o", "run.dwell", "--",
                            context.target("nasty"), "work", "600000")
    context.wait_for(lambda: os.path.exists(context.path("run.dwell.partial"))
                     and children(running.pid), "the .partial")
    (target,) = children(running.pid)
    # Before it is executed the target is a copy of dwell.
    context.wait_for(lambda: "nasty" in os.readlink(f"/proc/{target}/exe"), "the target")
    number = getattr(signal, name)
    running.send_signal(number)
    # Its end holds the same descriptors.
    running.wait(DEFAULT_SECONDS)
    runs_on(context, target)
    os.kill(target, signal.SIGKILL)
    said = running.communicate(timeout=DEFAULT_SECONDS)[1]
    expect((running.returncode, said),
           (FAILED, f"dwell: the collector ended by signal {int(number)}; what was recorded until "
                    "then is in run.dwell.partial\n"), "status and errors")
    done = context.run(context.dwell, "recover", "run.dwell.partial")
    expect(done.returncode, 0, f"status of recover\n{done.stderr}")


def test_duration(context):
    start = time.monotonic()
    context.sample("--duration", "300ms", context.target("nasty"), "work", "1500")
    require(time.monotonic() - start > 1.4, "dwell did not wait for the target")
    facts = is_complete(context)
    require(facts["samples_kept"] > 0 and facts["samples_kept"] + facts["samples_lost"] < 1000,
            f"samples in 300 of 1,500 ms: {facts}")


def test_duration_passes_status_on(context):
    context.sample("--duration", "0.1", "sh", "-c", "sleep 0.4; exit 9", status=9)


def test_orphan_is_left_alone(context):
    orphan = int(context.sample(context.target("nasty"), "orphan", "600000").stdout)
    with open(f"/proc/{orphan}/stat") as f:
        require(f.read().rpartition(")")[2].split()[0] in "RS", "the descendant does not run on")
    os.kill(orphan, signal.SIGKILL)
    is_complete(context)


def test_wait_all(context):
    context.sample("--wait-all", context.target("nasty"), "orphan", "600")
    rows = context.report("processes")["rows"]
    expect(len(rows), 2, "processes")
    is_complete(context)
    least = min(row["exclusive_samples"] for row in rows)
    most = max(row["exclusive_samples"] for row in rows)
    require(most > 100 and most > 3 * least, f"a descendant worked for 600 ms, not 20: {rows}")


def test_perf_refused(context):
    done = context.run(context.target("without-perf"), context.dwell, "sample", "--sampler", "perf",
                       "-o", "run.dwell", "touch", "ran")
    expect(done.returncode, FAILED, done.stderr)
    text = one_line(done.stderr, "stderr")
    require(re.search(r"perf_event_paranoid|CAP_PERFMON|cap_perfmon|seccomp|container", text),
            f"neither cause nor cure in: {text}")
    expect(os.listdir(context.scratch), [], "files after a refusal")


def test_ordinary_user(context):
    done = context.run(*context.ordinary_user(), context.dwell, "sample", "-q", "-o", "run.dwell",
                       context.target("nasty"), "work", "500")
    expect(done.returncode, 0, done.stderr)
    kept = context.report("summary")["session"]["samples_kept"]
    require(kept > 50, f"{kept} samples of 500 ms")


def test_target_sees_nothing(context):
    """Descriptors, signals, limits, children and environment are those of a plain run."""
    program = context.target("nasty")
    plain, profiled = context.run(program, "inspect"), context.sample(program, "inspect")
    before, after = plain.stdout.splitlines(), profiled.stdout.splitlines()
    expect([line for line in after if line not in before], [], "what only the profiled run sees")
    expect([line for line in before if line not in after], [], "what only the plain run sees")


def test_frequency(context):
    # Without perf samples come with the kernel's ticks, or every so many of them.
    hz = round(1 / time.clock_getres(6)) // 2  # CLOCK_MONOTONIC_COARSE
    context.sample("-F", str(hz), context.target("nasty"), "work", "1000")
    facts = context.report("summary")["session"]
    expect(facts["frequency_hz"], hz, "frequency")
    expect_all_counted(facts)


def test_time_of_daemons(context):
    """Nobody has waited for them, so the command's accounting knows nothing of their time."""
    context.sample("-F", "1000", "--", context.target("daemons"), "300")
    facts = context.report("functions")["session"]
    computed_ns = (300 / 4 + 2 * 300) * 1e6
    seen_ns = facts["samples_kept"] * 1e9 / facts["frequency_hz"]
    require(seen_ns > computed_ns / 2, f"{facts['samples_kept']} samples")
    told_ns = facts["user_cpu_ns"] + facts["kernel_cpu_ns"]
    require(told_ns >= 0.9 * computed_ns, f"{told_ns} ns of {computed_ns}")


def test_just_my_code(context):
    """What the system's code took is told of who called it: all samples are there, and one's own functions keep
    what they and all below them took."""
    with open(os.path.join(context.scratch, "lines"), "w", encoding="ascii") as f:
        f.writelines(f"{i * 7919 % 300007:x} line {i}\n" for i in range(1200000))
    context.sample("sort", "-o", "sorted", "lines")
    reports = {rule: context.report("functions", rule)["rows"]
               for rule in ("--all-code", "--just-my-code=callee", "--just-my-code")}
    whole = sum(row["exclusive_samples"] for row in reports["--all-code"])
    require(whole > 50, f"{whole} samples")
    own = {rule: {row["function_name"]: row for row in rows if row["module_name"] == "sort"}
           for rule, rows in reports.items()}
    inclusive = {rule: {name: row["inclusive_samples"] for name, row in rows.items()} for rule, rows in own.items()}
    require(len(inclusive["--all-code"]) > 2, f"functions of sort: {inclusive['--all-code']}")
    starts = {name for name, n in inclusive["--all-code"].items() if inclusive["--just-my-code"].get(name) != n}
    require(len(starts) <= 1, f"where the program starts: {starts}")
    for name in starts:  # the system's code calls it: told are what it took itself, if anything, and handlers of exit()
        for row in [rows[name] for rule, rows in own.items() if rule != "--all-code" and name in rows]:
            others = row["inclusive_samples"] - row["exclusive_samples"]
            require(others <= whole / 20, f"{others} of {whole} samples below where the program starts, {name}")
        for functions in inclusive.values():
            functions.pop(name, None)
    for rule, rows in reports.items():
        expect(sum(row["exclusive_samples"] for row in rows), whole, f"samples with {rule}")
        expect(inclusive[rule], inclusive["--all-code"], f"inclusive samples of sort's functions with {rule}")
    theirs = {rule: {row["function_name"] for row in rows if row["module_name"] != "sort"}
              for rule, rows in reports.items()}
    require(theirs["--just-my-code"] < theirs["--just-my-code=callee"] < theirs["--all-code"],
            f"functions of others: {theirs}")
    text = context.run(context.dwell, "report", "run.dwell", "functions").stdout
    # What the loader did before the program began is told whole, and has its own _start.
    starts = [line for line in text.splitlines() if line.split()[-2:] == ["_start", "sort"]]
    require("--all-code" in text and not starts, text)


TITLES = r"""
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static void work(char *title, size_t room, const char *text)
{
	volatile long sum = 0;
	clock_t end = clock() + CLOCKS_PER_SEC * 3 / 10;

	memset(title, 0, room);
	snprintf(title, room, "%s", text);
	while (clock() < end)
		sum++;
}

int main(int argc, char **argv)
{
	size_t room = 0;

	for (char **at = argv; at < argv + argc; at++)
		room += strlen(*at) + 1;
	for (char **at = environ; *at; at++)
		room += strlen(*at) + 1;
	work(argv[0], room, "shop: master /etc/shop.conf");
	for (int i = 0; i < 2; i++) {
		if (!fork()) {
			work(argv[0], room, i ? "shop: clerk" : "shop: cook");
			_exit(0);
		}
		wait(NULL); /* at once, all of one might fall between the ticks that sample */
	}
}
"""


@cases("auto", "in-process")
def test_titles(context, sampler):
    """Processes that were forked and call themselves something else are called so."""
    with open(context.path("titles.c"), "w") as f:
        f.write(TITLES)
    context.make("gcc", "-O1", "-o", context.path("titles"), context.path("titles.c"))
    context.sample("--sampler", sampler, context.path("titles"))
    expect(sorted(row["command"] for row in context.report("processes")["rows"]),
           ["shop: clerk", "shop: cook", "shop: master /etc/shop.conf"], "titles")
