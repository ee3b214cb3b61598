"""Sampling in-process, where perf is refused: which processes and threads are followed, and what
programs see of the sampler. That its numbers are true is shown by other tests, which run once more
with --without-perf (tests/e2e/run)."""
import os
import re
import signal
import sqlite3

from harness import expect, needs, one_line, require

SIGNAL = 62  # the sampler's
# Who asks for its own time all the time gives way between the kernel's ticks.
WORK = ("import time\ndef work(s):\n e = time.thread_time() + s\n"
        " while time.thread_time() < e: sum(range(20000))\n")


MASKS = r'''
import os, signal, sys, threading
signals, own = signal.valid_signals(), int(sys.argv[1])
def show(what):
    print(what, sorted(int(s) for s in signal.pthread_sigmask(signal.SIG_BLOCK, [])), flush=True)
show("begin")
if len(sys.argv) > 2:
    print(signal.getsignal(own))
    sys.exit()
def execute(what):
    child = os.fork()
    if not child:
        show(what)
        os.execv(sys.executable, [sys.executable, __file__, str(own), what])
    print(os.waitpid(child, 0)[1])
signal.pthread_sigmask(signal.SIG_BLOCK, signals)
show("all")
thread = threading.Thread(target=show, args=["thread"])
thread.start()
thread.join()
work(.1)
execute("with all")
signal.pthread_sigmask(signal.SIG_UNBLOCK, signals)
show("none")
signal.pthread_sigmask(signal.SIG_SETMASK, signals - {own})
show("but one")
signal.pthread_sigmask(signal.SIG_SETMASK, [own - 1, own + 1])
show("neighbours")
signal.pthread_sigmask(signal.SIG_SETMASK, [own])
show("one")
execute("with one")
os.kill(os.getpid(), own)
work(.1)
print(sorted(int(s) for s in signal.sigpending()))
print(signal.sigwaitinfo([own]).si_signo)
signal.signal(own, signal.SIG_IGN)
signal.pthread_sigmask(signal.SIG_SETMASK, [])
for s in range(50, own):
    signal.signal(s, signal.SIG_IGN)
execute("ignored")
os.kill(os.getpid(), own)
work(.1)
show("end")
'''


def sample(context, *words, status=0):
    """Record in-process; the session's facts."""
    context.sample("--sampler", "in-process", *words, status=status)
    facts = context.report("summary")["session"]
    expect((facts["road"], facts["event"], facts["records_lost"]), ("inside", "cpu-ticks", 0),
           "how it was sampled, and what was lost")
    return facts


def test_old_names(context):
    """--sampler was --road, which scripts may still have: it works, unseen, with its old values and the new."""
    for value in "inside", "in-process":
        context.sample("--road", value, "true")
        expect(context.report("summary")["session"]["road"], "inside", f"--road {value}")
    done = context.run(context.dwell, "sample", "--road", "outside", "true")
    expect(done.returncode, 125, "status")
    require("--sampler procfs needs --pid and --off-cpu" in done.stderr, done.stderr)
    require("--road" not in context.run(context.dwell, "help", "sample").stdout, "help shows the old name")


def python(context, text, status=0):
    # Not what PATH may have in its place, which starts many others.
    return sample(context, "/usr/bin/python3", "-c", WORK + text, status=status)


def processes(context):
    return context.report("processes")["rows"]


def threads(context):
    return context.report("threads")["rows"]


def test_thousand_short_processes(context):
    sample(context, "sh", "-c", "for i in $(seq 1000); do /bin/true; done")
    rows = processes(context)
    expect(len(rows), 1002, "processes: the shell, seq and a thousand")
    expect(sum(row["name"] == "true" for row in rows), 1000, "rows called true")
    require(all(row["end_time"] is not None for row in rows), "every process has an end")


def test_five_hundred_threads(context):
    facts = python(context, "import threading\nb = threading.Barrier(500)\n"
                   "ts = [threading.Thread(target=b.wait) for _ in range(500)]\n"
                   "[t.start() for t in ts]\n[t.join() for t in ts]\n")
    expect((len(threads(context)), facts["threads_unsampled"]), (501, 0), "threads, and not sampled")


def test_exec_chain(context):
    sample(context, "sh", "-c", "exec sh -c 'exec sh -c \"exec /bin/sleep 0.3\"'")
    expect([row["name"] for row in processes(context)], ["sleep"], "processes")


def test_forks(context):
    """Children that execute nothing have samples of their own, from threads that they start too."""
    python(context, "import os, threading\nfor i in range(4):\n"
           " if not os.fork():\n"
           "  t = threading.Thread(target=work, args=(.3,)); t.start(); work(.3); t.join()\n"
           "  os._exit(0)\n"
           "for i in range(4): os.wait()\n")
    rows = sorted(processes(context), key=lambda row: row["begin_time"])
    expect(len(rows), 5, "processes")
    for row in rows[1:]:
        require(row["exclusive_samples"] > 10, f"samples of a child: {row}")
    by_process = [row["exclusive_samples"] for row in threads(context)]
    require(sum(n > 5 for n in by_process) >= 8, f"two threads of each child work: {by_process}")


def test_spawned(context):
    """posix_spawn() of a child that shares its parent's memory until it executes."""
    python(context, "import os\nfor i in range(20):\n"
           " os.waitpid(os.posix_spawn('/bin/true', ['true'], {}), 0)\n")
    expect(sum(row["name"] == "true" for row in processes(context)), 20, "children called true")


def test_thread_names(context):
    python(context, "import ctypes, threading\ndef run():\n"
           " ctypes.CDLL(None).prctl(15, b'my thread', 0, 0, 0)\n work(.6)\n"
           "t = threading.Thread(target=run)\nt.start()\nt.join()\n")
    session = sqlite3.connect(context.path("run.dwell"))
    names = {name for name, in session.execute("select thread_name from threads")}
    require("my thread" in names, f"names of threads: {names}")


def test_all_signals_blocked(context):
    facts = python(context, "import signal\nsignal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))\n"
                   "work(.5)\n")
    require(facts["samples_kept"] > 20, f"samples with all signals blocked: {facts}")


def test_signal_of_its_own(context):
    """A program that handles the sampler's signal gets it, and is sampled by another one."""
    facts = python(context, f"import os, signal\ncame = []\n"
                   f"assert signal.getsignal({SIGNAL}) == signal.SIG_DFL\n"
                   f"signal.signal({SIGNAL}, lambda n, f: came.append(n))\nwork(.3)\n"
                   f"assert not came\nos.kill(os.getpid(), {SIGNAL})\nwork(.01)\n"
                   f"assert came == [{SIGNAL}]\nwork(.5)\nassert came == [{SIGNAL}]\n")
    expect(facts["left_alone_signal"], 0, "programs left alone")
    require(facts["samples_kept"] > 60, f"samples before and after: {facts}")


def test_all_signals_of_its_own(context):
    """A program that handles all of them is left alone from then on."""
    facts = python(context, "import os, signal\ncame = []\nfor s in range(34, 65):\n"
                   "    signal.signal(s, lambda n, f: came.append(n))\nwork(.1)\nassert not came\n"
                   "for s in range(34, 65):\n    os.kill(os.getpid(), s)\nwork(.01)\n"
                   "assert sorted(came) == list(range(34, 65))\n")
    expect(facts["left_alone_signal"], 1, "programs left alone")


def test_masks_are_the_programs(context):
    """Each mask that a program sets is the one it has, in threads, children and what it executes, too; and a
    signal that it blocks waits."""
    program = context.path("masks.py")
    with open(program, "w") as f:
        f.write(WORK + MASKS)
    plain = context.run("/usr/bin/python3", program, str(SIGNAL))
    expect(plain.returncode, 0, f"plain run\n{plain.stderr}")
    done = context.sample("--sampler", "in-process", "/usr/bin/python3", program, str(SIGNAL))
    expect((done.stdout, done.stderr), (plain.stdout, ""), "output and errors")
    facts = context.report("summary")["session"]
    require(facts["samples_kept"] > 40, f"samples: {facts}")


def test_signal_from_others(context):
    python(context, f"import os\nwork(.1)\nos.kill(os.getpid(), {SIGNAL})\nwork(9)\n",
           status=128 + SIGNAL)
    python(context, f"import os, signal\nsignal.signal({SIGNAL}, signal.SIG_IGN)\nwork(.1)\n"
           f"os.kill(os.getpid(), {SIGNAL})\nwork(.1)\n")


def test_child_that_is_traced(context):
    """A child that asks to be traced is left alone, and its parent is not."""
    facts = python(context, "import ctypes, os, signal\nlibc = ctypes.CDLL(None)\nchild = os.fork()\n"
                   "if not child:\n    libc.ptrace(0, 0, None, None)\n"
                   "    os.kill(os.getpid(), signal.SIGSTOP)\n    work(.3)\n    os._exit(7)\n"
                   "assert os.WSTOPSIG(os.waitpid(child, 0)[1]) == signal.SIGSTOP\n"
                   "libc.ptrace(7, child, None, None)\n"
                   "assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7\nwork(.3)\n")
    expect(facts["left_alone_traced"], 1, "programs left alone")
    require(facts["samples_kept"] > 20, f"samples of the parent: {facts}")


def test_system_call_filter(context):
    """A program that installs a filter is left alone, and what it executes then."""
    facts = sample(context, context.target("without-perf"), "perl", "-e", "for (1..3000000) { $x++ }")
    expect((facts["left_alone_filter"], facts["children_unsampled"]), (1, 1),
           "left alone, and children")


@needs("root")
def test_perf_without_rings(context):
    """Events can be opened, but there is no memory for rings: that is a refusal, too."""
    context.ordinary_user()
    user = ("setpriv", "--reuid=65533", "--regid=65533", "--clear-groups")
    rings = context.target("without-rings")
    program = ("perl", "-e", "for (1..20000000) { $x++ }")
    env = {**context.env, "XDG_CACHE_HOME": context.path("cache")}
    done = context.run(*user, rings, context.dwell, "sample", "-q", "--sampler", "perf", *program,
                       env=env)
    expect(done.returncode, 125, f"status with --sampler perf\n{done.stderr}")
    require("kernel.perf_event_mlock_kb" in done.stderr, done.stderr)
    done = context.run(*user, rings, context.dwell, "sample", "-q", "-o", "run.dwell", *program,
                       env=env)
    expect((done.returncode, done.stderr), (0, ""), "status and errors")
    facts = context.report("functions")["session"]
    expect(facts["road"], "inside", "road")
    require("kernel.perf_event_mlock_kb" in facts["road_why"], facts)
    require(facts["samples_kept"] > 10, facts)


def test_deep_recursion(context):
    """What is deeper than the copy is read from the program, but for some samples at either end."""
    facts = sample(context, context.target("deep-recursion"), "16000", "5000")
    require(facts["samples_kept"] > 50, f"samples: {facts}")
    require(facts["stacks_cut"] <= facts["samples_kept"] / 50 + 25, f"few stacks cut: {facts}")
    roots = [row for row in context.report("calltree", "--top", "3")["rows"] if row["level"] == 1]
    require(any(row["function_name"] == "_start" for row in roots), f"stacks begin: {roots}")


def test_static_program(context):
    done = context.run(context.dwell, "sample", "--sampler", "in-process", "-o", "run.dwell",
                       context.target("static-program"))
    expect(done.returncode, 125, "status")
    line = one_line(done.stderr, "stderr")
    require(re.search("statically linked.*perf", line), f"the cause in: {line}")
    expect(os.listdir(context.scratch), [], "files")


def test_killed_target_keeps_its_samples(context):
    facts = python(context, "import os, signal\nwork(.5)\nos.kill(os.getpid(), signal.SIGKILL)\n",
                   status=128 + signal.SIGKILL)
    require(facts["samples_kept"] > 20, f"samples: {facts}")


def test_nothing_is_left(context):
    """The session's folder, which the target is told, is gone at the end."""
    done = context.sample("--sampler", "in-process", "cat", "/proc/self/maps")
    folders = set(re.findall(r"/\S*/dwell-[^/\s]*(?=/)", done.stdout))
    expect([len(folders), [f for f in folders if os.path.exists(f)]], [1, []], f"folders: {folders}")
