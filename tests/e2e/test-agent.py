"""The agents' core inside programs: unseen, passed on to children, never in the way.

The collector is this file: it makes the folder and the environment, and reads regions by their
layout (src/wire/region.h). The agent is the core with a part that counts events
(tests/tools/agent-part.c), so that nothing waits for clone images.
"""
import ctypes.util
import glob
import os
import re
import resource
import shutil
import signal
import struct
import sys
import tempfile
import threading
import time

from harness import DEFAULT_SECONDS, NOBODY, cases, expect, needs, require, runs_32_bit

HEADER = struct.Struct("=8sII20sIIIIIQQQ16Q128xII")
CHUNKS_AT = HEADER.size
MODULE_AT, MODULE_BYTES, MODULES = CHUNKS_AT + 512 * 24, 328, 256
# Behind two words of each answer: which probes an earlier run has disabled.
ANSWER_AT, ANSWER_BYTES = MODULE_AT + MODULES * MODULE_BYTES + 8, 272
STARTING, RUNNING, ENDED = range(3)
CHILDREN, CLASS, SETUID, STATIC = 1, 2, 3, 4


class Region:
    """One process, as its region tells."""

    def __init__(self, path):
        with open(path, "rb") as f:
            data = f.read()
        (self.magic, self.version, self.header_bytes, self.maker, self.state, self.off_reason, self.pid,
         self.parent_pid, self.is_fork, self.start_ns, self.agent_start_ns, self.bytes,
         *rest) = HEADER.unpack_from(data)
        self.drops, (self.module_n, self.chunk_n) = rest[:16], rest[16:]
        chunk = struct.unpack_from("=IIQQ", data, CHUNKS_AT) if self.chunk_n else (0, 0, 0, 0)
        self.counts = struct.unpack_from("=QQ", data, chunk[2]) if self.chunk_n else (0, 0)
        self.module_state = struct.unpack_from("=I", data, MODULE_AT)[0]
        expect(self.magic, b"dwregion", f"magic of {path}")
        require(self.bytes <= len(data), f"{path}: {self.bytes} of {len(data)} bytes in use")


class Folder:
    """A session's folder, and the environment of a target."""

    def __init__(self, context, mode="count", path=None, own_preload=None):
        self.path = path or tempfile.mkdtemp(prefix="dwell-test-", dir="/dev/shm")
        os.chmod(self.path, 0o1733)
        self.alive = open(self.path + "/.alive", "w+b", buffering=0)
        self.alive.write(struct.pack("=II", 1, 0).ljust(4096, b"\0"))
        build = os.path.dirname(context.dwell)
        # Where every user can read it.
        self.agent = shutil.copy(os.path.join(build, "tests/tools/libagent-core-test.so"),
                                 os.path.join(os.path.dirname(context.scratch), "libagent.so"))
        with open("/proc/self/status") as f:
            filters = re.search(r"^Seccomp_filters:\s*(\d+)", f.read(), re.M)
        self.plain = {"A": "1", "PATH": os.environ["PATH"], "Z": "2"}
        if own_preload:
            self.plain = {"LD_PRELOAD": own_preload, **self.plain}
        self.env = {**self.plain, "DWELL_FOLDER": self.path, "DWELL_MODE": mode,
                    "DWELL_FILTERS": filters[1] if filters else "0",
                    "LD_PRELOAD": f"{own_preload}:{self.agent}" if own_preload else self.agent}

    def __enter__(self):
        return self

    def die(self):
        """As the kernel says it of a task that has ended (FUTEX_OWNER_DIED)."""
        self.alive.seek(0)
        self.alive.write(struct.pack("=I", 1 | 1 << 30))

    def __exit__(self, *error):
        self.alive.close()
        shutil.rmtree(self.path, ignore_errors=True)

    def regions(self):
        return [Region(path) for path in glob.glob(self.path + "/*") if "." not in os.path.basename(path)]

    def clear(self):
        for path in glob.glob(self.path + "/*"):
            os.unlink(path)

    def run(self, context, *command, **options):
        return context.run(*command, **{"env": self.env, **options})


def compare(context, folder, *command, **options):
    """The command with the agent does what it does without; its regions."""
    plain = context.run(*command, **{"env": folder.plain, **options})
    folder.clear()
    done = folder.run(context, *command, **options)
    expect((done.stdout, done.stderr, done.returncode),
           (plain.stdout, plain.stderr, plain.returncode), f"what {command} does")
    return folder.regions()


def test_region(context):
    """A region says who it is from, and when it ends."""
    with Folder(context) as folder:
        done = folder.run(context, context.target("agent-target"), "forks", "3")
        expect(done.returncode, 0, "status")
        regions = folder.regions()
        parent, = [r for r in regions if not r.is_fork]
        children = [r for r in regions if r.is_fork]
        expect(len(children), 3, "regions of children")
        expect([r.counts[0] for r in regions], [1] * 4, "events of each process")
        expect({r.parent_pid for r in children}, {parent.pid}, "parents of children")
        expect({r.state for r in children}, {RUNNING}, "states of children that called _exit()")
        expect(parent.state, ENDED, "state of the parent")
        require(0 < parent.agent_start_ns < 10**9, f"agent's start: {parent.agent_start_ns} ns")
        notes = context.run("readelf", "-n", folder.agent).stdout
        require(parent.maker.hex() in notes, f"build-id {parent.maker.hex()} in {notes}")


@cases("see", "fail", "clones", "real")
def test_sees_a_plain_run(context, mode):
    with Folder(context) as folder:
        regions = compare(context, folder, context.target("agent-target"), mode) \
            if mode != "clones" else clones(context, folder)
        require(regions, "no region")


def clones(context, folder):
    """Children that share memory are not the process; those that do not have regions."""
    done = folder.run(context, context.target("agent-target"), "clones")
    expect(done.stdout, "not counted: own memory 0, shared memory 1, vfork and its parent 2\n",
           f"output\n{done.stderr}")
    regions = folder.regions()
    expect(sorted(r.counts[0] for r in regions), [1, 1, 1], "events of each process")
    expect(len({r.pid for r in regions}), 3, "processes")
    return regions


def test_environment_holds_no_trace(context):
    """Also with preloads of the user, which stay as they are."""
    libm = ctypes.util.find_library("m")
    for preload in None, libm, libm + ":libutil.so.1":
        with Folder(context, own_preload=preload) as folder:
            compare(context, folder, "env")
            compare(context, folder, "env", "env")
            compare(context, folder, "sh", "-c", "env; exec env A=3 env")
            shown = folder.run(context, "cat", "/proc/self/environ").stdout
            plain = context.run("cat", "/proc/self/environ", env=folder.plain).stdout
            expect(shown.strip("\0").split("\0"), plain.strip("\0").split("\0"), "/proc/self/environ")


def expected_regions(how, child, script):
    """exec-roads itself, then the child; the script is a shell's and runs env."""
    if child == script and how.startswith("fexecve"):  # closed before its interpreter opens it
        return 1
    return 2 + (child == script) + (how in ("system", "popen"))


def test_children_by_every_exec(context):
    """The child runs as in a plain run, and has the agent."""
    program, script = context.target("exec-roads"), executable(context, "script", "#!/bin/sh\nexec env\n")
    for how in context.run(program).stdout.split():
        for child in "/usr/bin/env", script:
            with Folder(context) as folder:
                regions = compare(context, folder, program, how, child)
                facts = f"{how} {child}: {[(r.pid, r.drops[:5]) for r in regions]}"
                dropped = sum(r.drops[CHILDREN] for r in regions)
                if how == "full-environment":
                    require(dropped > 0, f"{facts}: nothing was too large")
                else:
                    expect(dropped, 0, f"drops, {facts}")
                    expect(len(regions), expected_regions(how, child, script), f"regions, {facts}")


def test_failures_by_every_exec(context):
    """What cannot be executed, or only by a shell, ends as without the agent."""
    program = context.target("exec-roads")
    shell_text = executable(context, "shell-text", "echo run by a shell\n")
    for how in context.run(program).stdout.split():
        for child in "/nowhere", context.scratch, "/etc/passwd", "true", shell_text:
            with Folder(context) as folder:
                compare(context, folder, program, how, child)


def test_debuggers_see_a_plain_run(context):
    """What a tracer starts runs as it is, and is counted."""
    with Folder(context) as folder:
        regions = compare(context, folder, sys.executable, "-c", TRACED, "/usr/bin/env")
        expect([r.drops[CHILDREN] for r in regions], [1], "drops")


TRACED = """
import ctypes, os, sys
libc, child = ctypes.CDLL(None), os.fork()
if not child:
    libc.ptrace(0, 0, 0, 0)  # PTRACE_TRACEME
    os.execv(sys.argv[1], sys.argv[1:])
print(os.waitpid(child, 0)[1], flush=True)
libc.ptrace(7, child, 0, 0)  # PTRACE_CONT
print(os.waitpid(child, 0)[1])
"""


def executable(context, name, content, mode=0o755):
    path = context.path(name)
    with open(path, "wb") as f:
        f.write(content if isinstance(content, bytes) else content.encode())
    os.chmod(path, mode)
    return path


def program_32_bit(context):
    """exit(7) for i386."""
    code = bytes.fromhex("b801000000bb07000000cd80")
    start, size = 0x8048000, 84 + len(code)
    return executable(context, "program-32", struct.pack(
        "<16sHHIIIIIHHHHHH8I", b"\x7fELF\1\1\1", 2, 3, 1, start + 84, 52, 0, 0, 52, 32, 1, 40, 0, 0,
        1, 0, start, start, size, size, 5, 4096) + code)


def test_children_that_cannot_take_it(context):
    """They run as in a plain run, without a word from the loader, and are counted."""
    narrow = (1, 1, 0, 0) if runs_32_bit(context) else (0,) * 4
    chain, musl = program_32_bit(context), os.path.join(context.targets, "musl-program")
    for i in range(4):
        chain = executable(context, f"script-{i}", f"#!{chain}\n")
    looping = executable(context, "looping", f"#!{context.path('looping')}\n")
    unknown = executable(context, "unknown", "no format at all\n")
    for child, counted in (
            (context.target("static-program"), (1, 0, 0, 1)),
            (musl, (1, 0, 0, 1) if os.path.exists(musl) else (0,) * 4),
            (program_32_bit(context), narrow),
            (chain, narrow),
            (looping, (0, 0, 0, 0)),
            (unknown, (0, 0, 0, 0)),
            ("/lib/ld-linux.so.2", narrow if os.path.exists("/lib/ld-linux.so.2") else (0,) * 4)):
        with Folder(context) as folder:
            regions = compare(context, folder, context.target("exec-roads"), "vfork", child)
            expect([tuple(r.drops[1:5]) for r in regions], [counted], f"drops of {child}")


@needs("root")
def test_children_with_other_rights(context):
    """setuid, setgid and capabilities: the child gets nothing of ours, also not in its environment."""
    os.chmod(context.scratch, 0o755)
    context.let_others_in()
    as_user = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
    for name, mode, counted in ("setuid", 0o4755, 1), ("setgid", 0o2755, 1), ("capable", 0o755, 1), \
            ("plain", 0o755, 0):
        child = shutil.copy("/usr/bin/env", context.path(name))
        os.chmod(child, mode)
        if name == "capable":
            os.setxattr(child, "security.capability", struct.pack("<5I", 0x02000001, 1 << 13, 0, 0, 0))
        with Folder(context) as folder:
            regions = compare(context, folder, context.target("exec-roads"), "execve", child, **as_user)
            expect(sum(r.drops[SETUID] for r in regions), counted, f"drops of {name}")
            expect(sum(r.drops[CHILDREN] for r in regions), counted, f"drops of {name}")


@needs("root")
def test_other_root(context):
    """In a root folder without the agent's file, programs run without it and silently."""
    needed = re.findall(r"(/\S+)", context.run("ldd", "/usr/bin/env").stdout)
    for path in ["/usr/bin/env", *needed]:
        os.makedirs(context.path("root" + os.path.dirname(path)), exist_ok=True)
        shutil.copy(path, context.path("root" + path))
    with Folder(context) as folder:
        regions = compare(context, folder, "/usr/sbin/chroot", context.path("root"), "/usr/bin/env")
        expect([r.drops[CHILDREN] for r in regions], [1], "drops")


def limits(**values):
    """A function that sets limits in a child: soft, or (soft, hard)."""
    def set_limits():
        for name, value in values.items():
            which = getattr(resource, "RLIMIT_" + name)
            resource.setrlimit(which, value if isinstance(value, tuple) else
                               (value, resource.getrlimit(which)[1]))
    return set_limits


@cases("FSIZE=0", "FSIZE=(0, 0)", "FSIZE=65536", "AS=6000000", "DATA=1000000", "MEMLOCK=0", "NOFILE=4",
       "STACK=65536")
def test_limits(context, limit):
    """No signal, no message; where there can be no region, no agent."""
    program = context.target("agent-target")
    with Folder(context, mode="late") as folder:
        regions = compare(context, folder, program, "forks", "2",
                          preexec_fn=eval(f"lambda: limits({limit})()", {"limits": limits}))
        impossible = "(0" in limit
        if impossible:
            expect(regions, [], f"regions under {limit}")
        elif "AS" not in limit:
            expect(len(regions), 3, f"regions under {limit}")
            lost = limit.startswith("FSIZE")
            expect([r.chunk_n for r in regions], [0 if lost else 1] * 3, f"chunks under {limit}")


@needs("root")
def test_locked_memory(context):
    """A user's few pages that may be locked are the program's: the agent does without."""
    os.chmod(context.scratch, 0o755)
    context.let_others_in()
    as_user = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
    for limit, chunks in (4096, [0, 1]), (65536, [1, 1]):
        with Folder(context, mode="late") as folder:
            regions = compare(context, folder, context.target("agent-target"), "locked",
                              preexec_fn=limits(MEMLOCK=(limit, limit)), **as_user)
            expect([r.chunk_n for r in sorted(regions, key=lambda r: r.is_fork)], chunks, "chunks")


def test_small_address_space(context):
    """Children for which memory is scarce run without the agent, and without the loader's words."""
    with Folder(context) as folder:
        for megabytes, dropped in (3, 1), (1000, 0):
            regions = compare(context, folder, "sh", "-c", f"ulimit -v {megabytes * 1024}; exec env")
            expect(sum(r.drops[CHILDREN] for r in regions), dropped, f"drops in {megabytes} MB")


@needs("namespaces")
def test_full_folder(context):
    """A full tmpfs refuses the region: no SIGBUS, no half file."""
    small = context.path("small")
    os.mkdir(small)
    for size, regions, uncounted in ("16k", 0, 0), ("44k", 1, 3):
        context.run("mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", small)
        try:
            folder = Folder(context, mode="late", path=small)
            done = folder.run(context, context.target("agent-target"), "forks", "3")
            expect((done.returncode, done.stderr), (uncounted, ""), f"end in {size}")
            expect(len(folder.regions()), regions, f"regions in {size}")
            folder.alive.close()
        finally:
            context.run("umount", small)


@cases("<&-", ">&-", "2>&-", "<&- >&-", "<&- >&- 2>&-")
def test_closed_streams(context, closed):
    with Folder(context) as folder:
        compare(context, folder, "sh", "-c", f"exec {context.target('agent-target')} see {closed}")


@cases("threads 1000", "storm 200", "forks 300", "alarms 50")
def test_storms(context, words):
    """No thread, fork or handler is disturbed, and each event of a process is counted."""
    mode, number = words.split()
    with Folder(context) as folder:
        done = folder.run(context, context.target("agent-target"), mode, number)
        expect((done.returncode, done.stderr), (0, ""), words)
        regions = folder.regions()
        events = sorted(r.counts[0] for r in regions)
        number = int(number)
        if mode == "threads":
            expect(events, [number], "events")
        elif mode == "alarms":
            expect(len(regions), number + 1, "regions")
            require(events[0] >= 100 and events[-1] >= 1000 * number, f"events: {events}")
        else:
            expect(events, [1] * number + [number if mode == "storm" else 1], "events")


def test_many_forks(context):
    """1,000 children, 10,000 with DWELL_FORKS=10000; a collector takes their regions away."""
    number = int(os.environ.get("DWELL_FORKS", "1000"))
    with Folder(context) as folder:
        stop = threading.Event()
        seen = []

        def collect():
            while not stop.wait(0.05):
                for path in glob.glob(folder.path + "/*"):
                    try:
                        region = Region(path)
                    except (AssertionError, OSError, struct.error):
                        continue
                    if region.is_fork and region.counts[0]:
                        seen.append(region.counts[0])
                        os.unlink(path)
        collector = threading.Thread(target=collect)
        collector.start()
        try:
            done = folder.run(context, context.target("agent-target"), "forks", str(number), seconds=600)
        finally:
            stop.set()
            collector.join()
        expect((done.returncode, done.stderr), (0, ""), "end")
        seen += [r.counts[0] for r in folder.regions() if r.is_fork]
        expect(seen, [1] * number, "events of children")


@cases("prctl", "syscall")
def test_own_filter(context, by):
    """After the program's own filter the agent makes no system call that could kill it."""
    with Folder(context) as folder:
        regions = compare(context, folder, context.target("agent-target"), "filter",
                          "1" if by == "syscall" else "0")
        expect([r.counts[0] for r in regions], [1], "events before the filter")


def test_inherited_filter(context):
    """Under filters that dwell did not run under the agent stays off, unseen."""
    with Folder(context) as folder:
        folder.env["DWELL_FILTERS"] = "0"
        program = [sys.executable, "-c", FILTERED, context.target("agent-target"), "see"]
        regions = compare(context, folder, *program)
        expect(len(regions), 1, "regions")  # of the interpreter


def test_no_executable_memory(context):
    """Where the kernel refuses changed code, children have the agent by execve() only."""
    program = context.target("exec-roads")
    if context.run(sys.executable, "-c", REFUSING, "true").returncode:
        context.skip("the kernel has no PR_SET_MDWE")
    for how in context.run(program).stdout.split():
        with Folder(context) as folder:
            regions = compare(context, folder, sys.executable, "-c", REFUSING, program, how, "/usr/bin/env")
            require(len(regions) >= 2 + (how == "execve"), f"{how}: {len(regions)} regions")


REFUSING = """
import ctypes, os, sys
if ctypes.CDLL(None).prctl(65, 1, 0, 0, 0):
    sys.exit(1)
os.execvp(sys.argv[1], sys.argv[1:])
"""

FILTERED = """
import ctypes, os, struct, sys
libc = ctypes.CDLL(None)
code = ctypes.create_string_buffer(struct.pack("=HBBI", 6, 0, 0, 0x7fff0000))  # allow everything
libc.prctl(38, 1, 0, 0, 0)
libc.prctl(22, 2, struct.pack("=H6xQ", 1, ctypes.addressof(code)), 0, 0)
os.execv(sys.argv[1], sys.argv[1:])
"""


class Answers(threading.Thread):
    """Answers asks for images: (seconds of work with a heartbeat, state, path)."""

    def __init__(self, folder, work, state, path):
        super().__init__()
        self.folder, self.work, self.state, self.answer = folder, work, state, path
        self.asked, self.stop = [], threading.Event()

    def run(self):
        while not self.stop.wait(0.002):
            for path in glob.glob(self.folder.path + "/*.*"):
                os.unlink(path)
                self.asked.append(path)
                self.reply(path.rpartition(".")[0])

    def reply(self, region):
        with open(region, "r+b", buffering=0) as f:
            for beat in range(1, int(self.work * 10) + 1):
                if self.stop.wait(0.1):
                    return
                os.pwrite(f.fileno(), struct.pack("=II", 1, beat), ANSWER_AT)
            os.pwrite(f.fileno(), self.answer + b"\0", ANSWER_AT + 8)
            os.pwrite(f.fileno(), struct.pack("=I", self.state), ANSWER_AT)


@cases("image", "none", "slow", "nobody")
def test_asks_for_images(context, case):
    """It waits for as long as it hears of work, and 2 s where it hears nothing."""
    work, state = {"image": (0, 2), "none": (0, 3), "slow": (3, 2), "nobody": (0, 0)}[case]
    with Folder(context, mode="ask") as folder:
        collector = Answers(folder, work, state, b"/some/image")
        if case != "nobody":
            collector.start()
        start = time.monotonic()
        done = folder.run(context, context.target("agent-target"), "forks", "1")
        took = time.monotonic() - start
        if case != "nobody":
            collector.stop.set()
            collector.join()
            expect(len(collector.asked), 1, "asks")
        expect((done.returncode, done.stderr), (0, ""), "end")
        parent, = [r for r in folder.regions() if not r.is_fork]
        expect(parent.counts, (1, len("/some/image") if state == 2 else 0), "events, answer")
        expect(parent.module_state, {2: 1, 3: 3, 0: 4}[state], "the module's state")
        require(took >= {"slow": 3, "nobody": 2}.get(case, 0), f"took {took:.2f} s")


class Works(Answers):
    """A collector that works for longer than any agent waits; ends with its `with` block."""

    def __init__(self, folder):
        super().__init__(folder, 600, 2, b"/some/image")

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *error):
        self.stop.set()
        self.join()


def test_dead_collector(context):
    """Who waits for it goes on at once; what starts later does so without the agent."""
    target = context.target("agent-target")
    with Folder(context, mode="ask") as folder:
        with Works(folder) as collector:
            program = context.start(target, "forks", "0", env=folder.env)
            context.wait_for(lambda: collector.asked, "a question")
            folder.die()
            expect(program.wait(DEFAULT_SECONDS), 0, "end")
        expect(compare(context, folder, "sh", "-c", f"env; {target} forks 1"), [], "regions")
    expect(folder.run(context, "env", "env").stdout.split(),
           context.run("env", env=folder.plain).stdout.split(), "environment, when the folder is gone")


def test_interrupts_do_not_wait(context):
    """While the program waits for an image in dlopen(), it can be ended."""
    with Folder(context, mode="late-ask") as folder, Works(folder) as collector:
        program = context.start(context.target("agent-target"), "forks", "0", env=folder.env)
        context.wait_for(lambda: collector.asked, "a question")
        program.send_signal(signal.SIGTERM)
        expect(program.wait(DEFAULT_SECONDS), -signal.SIGTERM, "end")


def test_loader_is_asked(context):
    """Who asks the loader what it loads is not told of the agent."""
    with Folder(context) as folder:
        for variable in "LD_TRACE_LOADED_OBJECTS=1", "LD_DEBUG=libs":
            done = folder.run(context, "sh", "-c", f"{variable} /bin/true")
            text = done.stdout + done.stderr
            require("libc.so" in text and "agent" not in text, f"{variable}: {text}")


AGENT_FLAGS = ["-shared", "-fPIC", "-O2", "-nostdlib", "-fvisibility=hidden", "-Wl,-z,now", "-Wl,-z,initfirst"]
BAD_AGENTS = {
    "double half(double x) { return x / 2; }": ([], "half uses a vector or x87 register"),
    "long double half(long double x) { return x / 2; }": ([], "half uses a vector or x87 register"),
    "void *malloc(unsigned long); void *get(void) { return malloc(1); }": ([], "needs malloc"),
    "__attribute__((visibility(\"default\"))) int malloc_hook;": ([], "shows malloc_hook"),
    "__thread char big[2000]; char *get(void) { return big; }": (
        ["-ftls-model=initial-exec"], "has 2000 bytes of thread-local storage"),
    "__thread int x; __attribute__((used)) static int *get(void) { return &x; }": (
        ["-ftls-model=global-dynamic", "-Wl,--no-relax"], "__tls_get_addr"),
    "int good;": (["-Wl,-z,execstack"], "asks for an executable stack"),
    "int better;": (["-Wl,-z,lazy"], "is not linked with -z now"),
    "int best;": (["-Wl,--no-as-needed", "-lc"], "links libc.so.6"),
    "__asm__(\".text; .quad .text\");": (["-Wl,-z,notext"], "relocates its text"),
}


@cases(*range(len(BAD_AGENTS) + 1))
def test_check_finds_bad_agents(context, case):
    """tools/check-agent passes the real agent and names what others do wrong."""
    check = os.path.join(os.path.dirname(__file__), "../../tools/check-agent")
    if case == len(BAD_AGENTS):
        done = context.run(check, os.path.join(os.path.dirname(context.dwell), "libdwell-probe.so"))
        expect((done.stdout, done.returncode), ("agents keep the rules\n", 0), "the real agent")
        return
    code, (flags, complaint) = list(BAD_AGENTS.items())[case]
    source = context.path("bad.c")
    with open(source, "w") as f:
        f.write(code + "\n")
    done = context.run("gcc", *AGENT_FLAGS, "-o", "bad.so", source, *flags)
    expect(done.returncode, 0, f"compiling {code}\n{done.stderr}")
    done = context.run(check, "bad.so")
    expect(done.returncode, 1, f"status for {code}")
    require(complaint in done.stdout, f"{complaint!r} is missing for {code}: {done.stdout}")


def test_stack_grows_to_its_limit(context):
    """Images lie beside modules, and not where the stack will be: without random addresses both are close."""
    calls = "f() { [ $1 -gt 0 ] && f $(($1 - 1)); }; f 5000; echo done"
    words = "setarch", "-R", "sh", "-c", 'ulimit -s 16384 && exec "$0" "$@"', "bash", "-c", calls
    plain = context.run(*words)
    expect((plain.returncode, plain.stdout), (0, "done\n"), "status and output of a plain run")
    done = context.run(*words[:5], context.dwell, "instrument", "-q", "-o", "run.dwell", "--", *words[5:])
    expect((done.returncode, done.stdout, done.stderr), (0, "done\n", ""), "status, output and errors")
    require(context.report("functions")["session"]["number_of_calls"] > 100_000, "calls of bash")
