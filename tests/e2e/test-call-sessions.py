"""Sessions of instrumented commands: what is in them, whatever becomes of command and collector."""
import contextlib
import json
import os
import re
import signal
import sqlite3

from harness import DEFAULT_SECONDS, cases, children, expect, more, paths, require, rows_of
from sums import expect_sums

FEW = 0, 8, *more(64)  # paths of each thread


def calls(context, session="run.dwell"):
    """Calls by function, over all processes."""
    found = {}
    for row in context.report("functions", session=session)["rows"]:
        function = row["function_name"]
        found[function] = found.get(function, 0) + row["number_of_calls"]
    return found


def expect_calls(got, **want):
    for name, n in want.items():
        expect(got.get(name, 0), n, f"calls of {name}")


def test_calls_and_callers(context):
    context.instrument("--", context.target("calls"))
    expect_calls(calls(context), leaf=1000, even=51, odd=50, main=1)
    rows = {row["function_name"]: row for row in context.report("functions")["rows"]}
    expect(rows["leaf"]["module_name"], "calls", "module of leaf")
    facts = context.report("functions")["session"]
    expect(facts["method"], "instrumentation", "method")
    expect((facts["nodes_dropped"], facts["calls_truncated"]), (0, 0), "dropped, truncated")
    tree = context.report("calltree", "--trim", "0")["rows"]
    expect([row["function_name"] for row in tree[:3]], ["calls", "[thread main]", "main"],
           "start of the tree")
    callers = context.report("callers", "even")["rows"]
    require(any(row["function_name"] == "odd" for row in callers), f"callers of even: {callers}")


def test_external_callees_have_names(context):
    context.instrument("--", context.target("calls"), "threads", "2")
    rows = {row["function_name"]: row for row in context.report("functions")["rows"]}
    joined = [row for function, row in rows.items() if "pthread_join" in function]
    require(joined, f"no pthread_join among {sorted(rows)}")
    require(joined[0]["module_name"].startswith("libc.so"), f"module {joined[0]['module_name']}")
    expect(joined[0]["number_of_calls"], 2, "calls of pthread_join")
    nameless = [function for function in rows if "+0x" in function or function == "[unknown]"]
    expect(nameless, [], "callees without a name")


def test_names_are_kept_for_later(context):
    """What was found out about a library with a separate debug file need not be found out again."""
    cache = context.path("cache")
    seen = []
    for words in (["threads", "2"], ["threads", "2"], ["exec", "3"], ["threads", "2"]):
        context.instrument("--", context.target("calls"), *words,
                           before=["env", f"XDG_CACHE_HOME={cache}"])
        rows = context.report("functions")["rows"]
        seen.append((sorted((row["module_name"] or "", row["function_name"], row["source_file"] or "",
                             row["function_line_number"] or 0) for row in rows),
                     {file: os.stat(os.path.join(cache, "dwell", file)).st_ino
                      for file in os.listdir(os.path.join(cache, "dwell"))
                      if file.endswith(".known")}))
    (first, kept), (second, used), (_, widened), (last, stayed) = seen
    expect(second, first, "rows by what was kept")
    expect(last, first, "rows when more is known")
    require(kept, "no library here has a separate debug file: scripts/setup check installs libc6-dbg")
    expect(used, kept, "files that nothing new was asked of")
    expect(sorted(widened), sorted(kept), "one file for each library")
    require(widened != kept, "other callees were not added")
    expect(stayed, widened, "files that know both")


@cases(("threads", "8", {"in_thread": 8000}), ("fork", "20", {"in_child": 200, "main": 1}),
       ("exec", "5", {"before_exec": 6, "main": 6}), ("spawn", "8", {"leaf": 8000, "main": 9}))
@paths(*FEW)
def test_processes_and_threads(context, case):
    mode, n, want = case
    context.instrument("--wait-all", "--", context.target("calls"), mode, n)
    expect_calls(calls(context), **want)
    expect_sums(context, context.report("functions")["rows"])


@cases(("orphan", 30, {"leaf": 10 + 60, "in_child": 60}),
       ("threads", 10, {"in_child": 400, "leaf": 400 + 400}),
       ("exec", 4, {"leaf": 4 * 201, "before_exec": 4, "main": 5}),
       ("vfork", 50, {"leaf": 2000}))
@paths(*FEW)
def test_families(context, case):
    """Threads that fork, execute and vfork, and a parent that ends before its child."""
    mode, n, want = case
    context.instrument("--wait-all", "--", context.target("families"), mode, str(n))
    expect_calls(calls(context), **want)
    expect_sums(context, context.report("functions")["rows"])


def test_exec_stays_a_process(context):
    context.instrument("--", context.target("calls"), "exec", "3")
    expect(len(context.report("processes")["rows"]), 1, "processes")
    expect(len(context.report("threads")["rows"]), 4, "threads")


def test_children_know_their_parents(context):
    context.instrument("--", "sh", "-c", f"{context.target('calls')}; true")
    rows = {row["name"]: row["unique_id"] for row in context.report("processes")["rows"]}
    expect(sorted(rows), ["calls", "sh"], "names")
    with contextlib.closing(sqlite3.connect(context.path("run.dwell"))) as session:
        parents = dict(session.execute("SELECT id, parent FROM process"))
    expect(parents, {rows["sh"]: None, rows["calls"]: rows["sh"]}, "parents")


def test_opened_libraries(context):
    library = context.target("calls-library.so")
    context.instrument("--", context.target("calls"), "open", library)
    expect_calls(calls(context), library_work=150)  # through a pointer to there


def test_times_sum_up(context):
    """Elapsed times and overhead of all rows of a thread are its lifetime, but for its first moment
    and its last, in which it may lose the processor."""
    context.instrument("--", context.target("calls"), "sleep", "3", status=5)
    facts = context.report("threads")["session"]
    lifetime = facts["threads_lifetime_ns"]
    got = facts["elapsed_exclusive_time"] + facts["time_exclusive_probe_overhead"]
    require(lifetime >= 3_000_000_000 and abs(lifetime - got) <= lifetime * 0.01,
            f"lifetime {lifetime}, elapsed and overhead {got}")


@cases(signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV)
def test_target_dies(context, number):
    """What it did up to then is there."""
    context.instrument("--", context.target("calls"), "signal", str(int(number)),
                       status=128 + number)
    expect_calls(calls(context), leaf=10, main=1)


def has_calls(context, name):
    """Whether the unfinished session holds the program's calls already."""
    done = context.run(context.dwell, "report", name, "functions", "--format", "json")
    if done.returncode:
        return False
    return any(row["function_name"] == "leaf" for row in json.loads(done.stdout)["rows"])


def start_sleeper(context, *options):
    process = context.start(context.dwell, "instrument", "-q", "-o", "run.dwell", *options, "--",
                            context.target("calls"), "sleep", "1000")
    context.wait_for(lambda: has_calls(context, "run.dwell.partial"), "a slice with calls")
    return process


def test_killed_collector(context):
    """The target lives; what was written opens and is finished by `dwell recover`."""
    process = start_sleeper(context)
    target = children(process.pid)[0]
    process.kill()
    process.wait()
    os.kill(target, 0)
    os.kill(target, signal.SIGKILL)
    expect_calls(calls(context, "run.dwell.partial"), leaf=10, main=1)
    done = context.run(context.dwell, "recover", "run.dwell.partial")
    expect(done.returncode, 0, f"status of recover\n{done.stderr}")
    expect_calls(calls(context), leaf=10, main=1)


def test_killed_collector_leaves_slow_calls(context):
    """Those that were there a slice before."""
    process = start_sleeper(context)
    context.wait_for(
        lambda: context.report("slowest", "leaf", session="run.dwell.partial")["rows"],
        "a slow call")
    target = children(process.pid)[0]
    process.kill()
    process.wait()
    os.kill(target, signal.SIGKILL)
    done = context.run(context.dwell, "recover", "run.dwell.partial")
    expect(done.returncode, 0, f"status of recover\n{done.stderr}")
    row = context.report("slowest", "leaf")["rows"][0]
    expect(row["call_path"].split(" > ")[-1], "leaf", f"path of {row}")
    leaf = rows_of(context.report("functions"), "leaf")[0]
    require(leaf["max_elapsed_inclusive_time"] is not None, f"longest of {leaf}")


@cases(signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
def test_signal_ends_with_a_session(context, number):
    process = start_sleeper(context)
    process.send_signal(number)
    expect(process.wait(DEFAULT_SECONDS), 128 + number, "status")
    expect_calls(calls(context), leaf=10, main=1)
    require(not os.path.exists(context.path("run.dwell.partial")), "a .partial is left")


def test_duration(context):
    """The recording ends, the command goes on, and dwell passes its status."""
    context.instrument("--duration", "1", "--", context.target("calls"), "sleep", "2", status=5)
    expect_calls(calls(context), leaf=10, main=1)
    facts = context.report("threads")["session"]
    require(1e9 <= facts["duration_ns"] < 60e9, f"duration {facts['duration_ns']}")
    rows = context.report("threads")["rows"]
    require(rows[0]["inclusive_blocked_time"] < facts["duration_ns"], "more than the recording")


def mappings(smaps):
    """(rights, path or "", kB of pages that were written to) of each line of /proc/PID/smaps."""
    found = []
    for words in map(str.split, smaps.splitlines()):
        if "-" in words[0] and not words[0].endswith(":"):
            found.append([words[1], words[5] if len(words) > 5 else "", 0])
        elif words[0] == "Anonymous:":
            found[-1][2] = int(words[1])
    return found


def test_modules_run_by_themselves_afterwards(context):
    """Once the recording is over, a fork copies no code: modules have their own text again, and children
    share the clones that still run. System calls have probes in the C library of both."""
    script = "sleep 2; while read -r line; do echo \"$line\"; done </proc/self/smaps"
    for modules in [], ["--module", "*"]:
        shown = context.instrument(*modules, "--duration", "1", "--", "/bin/sh", "-c", script).stdout
        require(calls(context), "nothing was recorded")
        code = [row for row in mappings(shown) if "x" in row[0]]
        finals = [row for row in code if row[1].endswith(".clone")]
        # Images of libraries with probes lie elsewhere than they were made for: those are copies.
        require(len(finals) == (1 if modules else 2), f"final code of the shell's and the C library's clones: {shown}")
        changed = [row for row in code if row[0] != "r-xs" and row[2]]
        require(not changed, f"code that a fork copies: {changed}")
        require(any(os.path.basename(row[1]) == "libc.so.6" for row in code), f"the C library's: {code}")


def test_forks_copy_little_afterwards(context):
    """A child that is forked once the recording is over has little of the agent's, does without what it
    has not, and finds all as in a plain run: its own memory where that was, and what it changes."""
    command = [context.target("afterwards"), "2", context.target("libcrossing-now.so")]
    plain = context.run(command[0], "0", command[2])
    for modules in [], ["--module", "*"]:
        done = context.run(context.dwell, "instrument", "-q", "-o", "run.dwell", *modules, "--duration", "1", "--",
                           *command)
        expect((done.returncode, done.stdout), (0, plain.stdout), f"status and output\n{done.stderr}")
        require(calls(context).get("work", 0) > 100, "calls of work() were recorded")
        shown, had = done.stderr.splitlines(), plain.stderr.splitlines()
        maps = [line for line in shown if re.match("[0-9a-f]+-[0-9a-f]+ ", line)]
        require(any("libdwell" in line for line in maps), f"the agent: {maps}")
        # Tables and final code of images are files' pages, which a fork does not copy.
        changed = [line for line in maps if ".clone" not in line or line.split()[1] not in ("r--p", "r-xp")]
        for trace in "/dev/shm", "perf_event", ".clone":
            require(not any(trace in line for line in changed), f"{trace} in {maps}")
        # Four of each image, the agent's own, and what is between.
        require(len(maps) <= len(had) + 2 * 4 + 6, f"{len(maps)} mappings, plain {len(had)}: {maps}")


def test_children_are_plain_afterwards(context):
    """What is executed once the recording is over has no agent, and sees nothing of it."""
    script = "sleep 2; cat /proc/self/maps; cat /proc/self/environ | tr '\\0' '\\n'"
    for command in ["instrument"], ["sample", "--sampler", "in-process"]:
        done = context.run(context.dwell, *command, "-o", "after.dwell", "--duration", "1", "--", "/bin/sh",
                           "-c", script)
        expect(done.returncode, 0, f"status\n{done.stderr}")
        require("libc.so.6" in done.stdout and "PATH=" in done.stdout, f"maps of cat: {done.stdout}")
        for trace in "libdwell", "DWELL_", "LD_PRELOAD", "/dev/shm":
            require(trace not in done.stdout, f"{trace} in {done.stdout}")


def test_processes_beyond_the_limit_of_nodes(context):
    """They run, and the session says how many of them are left out."""
    target = context.target("calls")
    done = context.instrument("--nodes", "1", "--", "/bin/sh", "-c",
                              f"sleep 1; {target}; {target}; echo done", status=0)
    require(done.stdout.endswith("done\n"), done.stdout)
    report = context.report("functions", "--by", "process")
    expect(report["session"]["processes_left_out"], 3, "processes left out, sleep among them")
    require(any(row["process_name"] == "sh" for row in report["rows"]), "the shell's functions")
    require(not any(row["process_name"] == "calls" for row in report["rows"]), "functions of others")
    require("system_calls_without_probe" in report["session"], "the last fact about modules")


def test_what_sleeps_is_charged(context):
    """A call that is still running when the recording ends has the time until then."""
    context.instrument("--duration", "1", "--", context.target("calls"), "sleep", "2", status=5)
    rows = {row["function_name"]: row for row in context.report("functions")["rows"]}
    sleeping = next(row for function, row in rows.items() if "sleep" in function)
    require(0.5e9 < sleeping["elapsed_exclusive_time"] < 60e9, f"{sleeping}")


def test_output_is_refused(context):
    with open(context.path("text"), "w") as f:
        f.write("mine\n")
    done = context.run(context.dwell, "instrument", "-o", "text", "--", "touch", "ran")
    expect(done.returncode, 125, "status")
    require(not os.path.exists(context.path("ran")), "the command ran")
    expect(open(context.path("text")).read(), "mine\n", "the file")


def test_session_has_the_commands_name(context):
    done = context.run(context.dwell, "instrument", "--", "true")
    expect(done.returncode, 0, f"status\n{done.stderr}")
    require(os.path.exists(context.path("true.dwell")), f"no true.dwell\n{done.stderr}")
    require("Next: dwell report true.dwell" in done.stderr, done.stderr)
