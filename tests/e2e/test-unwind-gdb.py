"""The unwinder against gdb: the same registers and memory, the same program counters.

At random stops of real programs, gdb's frames (set backtrace past-main on) must be ours. Twenty
stops of each program here; DWELL_GDB_STOPS=200 for the long run. A recording from inside is compared
as a whole: gdb stops the program at each of the sampler's signals, before it gets it.
"""
import bisect
import json
import os
import signal
import struct
import subprocess

from harness import DEFAULT_SECONDS, cases, children, expect, require

STOPS = int(os.environ.get("DWELL_GDB_STOPS", "20"))
SCRIPTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "unwind-gdb")
SIGNAL = 62  # the in-process sampler's
CUT = ("", -1)  # as recorded_stacks() has the place where a stack was cut
DUMPED_FRAMES = 1000  # deeper than these a stack of small frames is beyond a dump

SQL = """
create table t(a integer primary key, b text, c real);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 200000)
insert into t select i, printf('name %d', i * 7919 % 100003), i * 0.37 from n;
create index t_b on t(b);
with recursive again(k) as (select 1 union all select k + 1 from again where k < 100000)
select k, (select count(*) from t join t as u on t.b = u.b
           where t.c > k % 900 and u.a % 13 = k % 13 and t.b like '%1%') from again;
"""

PYTHON = """
import json, re, functools
@functools.lru_cache(50)
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
def nested(n): return [] if n == 0 else [nested(n - 1), n]
class K:
    def __lt__(self, other): return id(self) < id(other)
while True:
    fib.cache_clear(); fib(30)
    json.loads(json.dumps(nested(80)))
    sorted([K() for _ in range(300)])
    re.sub(r'(a+)+b', lambda m: m.group().upper(), 'aaab' * 200)
    sum(map(lambda x: x * x, range(1000)))
"""


def command(context, program):
    """What to run for @program, and the text for its standard input."""
    if program == "sqlite3":
        return ["sqlite3", ":memory:"], SQL
    if program == "python3":
        with open(context.path("program.py"), "w") as f:
            f.write(PYTHON)
        return [os.path.realpath("/usr/bin/python3"), f.name], ""
    return [context.target(program)], ""


def take_stops(context, program):
    """Run @program under gdb. The file of stops, and gdb's frames of each."""
    words, text = command(context, program)
    with open(context.path("input"), "w") as f:
        f.write(text)
    request = {"count": STOPS, "seed": 1, "file": context.path("stops"),
               "frames": context.path("frames")}
    env = {**context.env, "DWELL_STOPS": json.dumps(request)}
    with open(context.path("input")) as stdin:
        done = context.run("gdb", "-q", "-nx", "-batch", "-x", SCRIPTS + "/stops.py", "--args", *words, env=env,
                           stdin=stdin, stdout=subprocess.DEVNULL, seconds=60 + 10 * STOPS)
    require(os.path.exists(request["frames"]), f"gdb made no stops: {done.stderr[-2000:]}")
    with open(request["frames"]) as f:
        frames = [json.loads(line) for line in f]
    require(len(frames) == STOPS, f"gdb made {len(frames)} stops: {done.stderr[-2000:]}")
    return request["file"], frames


def our_frames(context, stops):
    """Per stop: why the walk ended, and (pc, text) of each frame."""
    tool = os.path.join(context.targets, "..", "tools", "unwind-dump")
    done = context.run(tool, stops, seconds=300)
    require(done.returncode == 0, f"unwind-dump: {done.returncode} {done.stderr}")
    found = []
    for line in done.stdout.splitlines():
        words = line.split(" ", 2)
        if words[0] == "stop":
            found.append((words[1], []))
        else:
            found[-1][1].append((int(words[0], 16), words[2]))
    return found


def compare(number, gdb, end, ours):
    """The lines that describe how stop @number differs."""
    exact = [True] + gdb["signal"][:-1]
    want = [pc if is_exact else pc - 1 for pc, is_exact in zip(gdb["pc"], exact)]
    # a signal frame's own pc is where the handler returns to, for gdb an address it executes at
    for i in range(max(len(want), len(ours))):
        theirs = want[i] if i < len(want) else None
        mine, where = ours[i] if i < len(ours) else (None, "")
        if mine is None and end == "no-rule" and ours[-1][1].startswith("?"):
            # Both came to an address where no code is: the C++ runtime had just overwritten the
            # registers it saved, to install a handler. gdb guesses on from there, we stop.
            print(f"# stop {number}: gdb guesses {len(want) - i} frames beyond {hex(ours[-1][0])}")
            return []
        if mine != theirs:
            names = gdb["name"]
            inner = f"{names[i - 1]}" if 0 < i <= len(names) else "?"
            return [f"stop {number}: frame {i} above {inner}: "
                    f"{mine and hex(mine)} {where}, gdb {theirs and hex(theirs)} "
                    f"({names[i] if i < len(names) else None}); "
                    f"{len(ours)} frames ({end}), gdb {len(want)} ({gdb['reason']})"]
    return [] if end == "complete" else [f"stop {number}: ended as {end}"]


@cases("sqlite3", "python3", "unwind-zoo", "deep-recursion")
def test_same_frames(context, program):
    stops, gdb_frames = take_stops(context, program)
    ours = our_frames(context, stops)
    require(len(ours) == len(gdb_frames), f"{len(ours)} stops unwound of {len(gdb_frames)}")
    lines = []
    for number, (gdb, (end, frames)) in enumerate(zip(gdb_frames, ours)):
        lines += compare(number, gdb, end, frames)
    depth = max(len(gdb["pc"]) for gdb in gdb_frames)
    print(f"# {program}: {len(ours)} stops, up to {depth} frames, {len(lines)} differ")
    require(not lines, "\n".join(lines))


class Module:
    """Where a file's bytes lie in addresses of its own."""

    def __init__(self, path):
        self.segments = []
        with open(path, "rb") as f:
            head = f.read(64)
            at, size, n = struct.unpack_from("<Q14xHH", head, 32)
            f.seek(at)
            table = f.read(size * n)
        for i in range(n):
            kind, _, offset, address, _, length = struct.unpack_from("<IIQQQQ", table, i * size)
            if kind == 1:
                self.segments.append((offset, length, address))

    def svma(self, offset):
        return next(offset - start + address for start, length, address in self.segments
                    if start <= offset < start + length)


class Places:
    """From addresses to (file, address in it), by a list of mappings."""

    modules = {}

    def __init__(self, maps):
        self.rows = []
        for line in maps.splitlines():
            words = line.split(None, 5)
            start, end = (int(part, 16) for part in words[0].split("-"))
            self.rows.append((start, end, int(words[2], 16), words[5] if len(words) > 5 else ""))

    def of(self, pc):
        i = bisect.bisect_right(self.rows, (pc, 1 << 64)) - 1
        start, end, offset, path = self.rows[i] if i >= 0 else (0, 0, 0, "")
        if not start <= pc < end:
            return "", pc
        if not path.startswith("/"):
            return path, pc - start if path == "[vdso]" else pc
        if path not in self.modules:
            self.modules[path] = Module(path)
        return path, self.modules[path].svma(pc - start + offset)


def is_sampled(pid):
    with open(f"/proc/{pid}/maps") as f:
        return "/dwell-" in f.read()


def stop_at_ticks(context, dwell):
    """Attach gdb to what @dwell samples from inside; then that is killed."""
    context.wait_for(lambda: children(dwell.pid) and is_sampled(children(dwell.pid)[0]),
                     "the program's region")
    pid, = children(dwell.pid)
    request = {"pid": pid, "signal": SIGNAL, "count": STOPS, "frames": context.path("frames")}
    env = {**context.env, "DWELL_TICKS": json.dumps(request)}
    try:
        done = context.run("gdb", "-q", "-nx", "-batch", "-x", SCRIPTS + "/ticks.py", env=env,
                           stdout=subprocess.DEVNULL, seconds=60 + 10 * STOPS)
    finally:
        os.kill(pid, signal.SIGKILL)
    require(os.path.exists(context.path("frames")), f"gdb made no stops: {done.stderr[-2000:]}")


def ticks_by_gdb(context, program):
    """Record @program from inside: by thread, gdb's frames at STOPS of its ticks, and how many of them
    are to be compared, None = all."""
    words, text = command(context, program)
    with open(context.path("input"), "w") as f:
        f.write(text)
    with open(context.path("input")) as stdin:
        dwell = context.start(context.dwell, "sample", "-q", "--sampler", "in-process", "--no-off-cpu",
                              "-o", "run.dwell", "--", *words, stdin=stdin, stdout=subprocess.DEVNULL)
    stop_at_ticks(context, dwell)
    dwell.wait(DEFAULT_SECONDS)
    ticks, places = {}, None
    with open(context.path("frames")) as f:
        for line in f:
            tick = json.loads(line)
            places = Places(tick["maps"]) if tick["maps"] else places
            exact = [True] + tick["signal"][:-1]
            frames = [places.of(pc if is_exact else pc - 1) for pc, is_exact in zip(tick["pc"], exact)]
            # What a handler on a stack of its own has interrupted is known with its registers, but
            # its callers are read from the running thread.
            n = tick["signal"].index(True) + 2 if True in tick["signal"] else None
            ticks.setdefault(tick["tid"], []).append((frames[:n], n))
    return ticks


def recorded_stacks(context):
    """By thread, the stacks of the samples in their order: (file, address) of each frame."""
    done = context.run(context.dwell, "export", "run.dwell", "--to", "firefox", "-o", "firefox.json")
    require(done.returncode == 0, done.stderr)
    with open(context.path("firefox.json")) as f:
        document = json.load(f)
    shared, paths = document["shared"], [lib["path"] for lib in document["libs"]]
    frames, stacks = shared["frameTable"], []
    for prefix, frame in zip(shared["stackTable"]["prefix"], shared["stackTable"]["frame"]):
        outer = stacks[prefix] if prefix is not None else None
        if not frames["inlineDepth"][frame]:
            lib = shared["funcTable"]["resource"][frames["func"][frame]]
            outer = ((paths[lib] if lib >= 0 else "", frames["address"][frame]), outer)
        stacks.append(outer)
    return {int(thread["tid"]): [stacks[i] for i in thread["samples"]["stack"]]
            for thread in document["threads"]}


def listed(stack):
    frames = []
    while stack:
        frames.append(stack[0])
        stack = stack[1]
    return frames


def aligned(got, wanted):
    """Which samples of a thread @wanted, ticks that follow each other, are: where most are equal."""
    def pairs(start):
        return [(ours[:n], theirs) for ours, (theirs, n) in zip(got[start:], wanted)]
    starts = range(max(1, len(got) - len(wanted) + 1))
    return max(map(pairs, starts), key=lambda found: sum(ours == theirs for ours, theirs in found))


def difference(ours, theirs):
    """In words; None where both come to an address without code, which the C++ runtime leaves while it
    installs a handler: gdb guesses on from there, we stop."""
    at = next((i for i, pair in enumerate(zip(ours, theirs)) if pair[0] != pair[1]),
              min(len(ours), len(theirs)))
    outer = ours[at + 1:]  # may be known
    if ours[at:at + 1] == [CUT] and at < len(theirs) and not theirs[at][0] and \
            theirs[len(theirs) - len(outer):] == outer:
        return None
    return (f"frame {at}: {ours[at:at + 1]}, gdb {theirs[at:at + 1]}; {len(ours)} and {len(theirs)} "
            "frames")


def is_cut_beyond_dump(ours, theirs):
    """What is deeper than a dump is read while the thread goes on, and is cut where it has moved on;
    the outermost frames may be known."""
    at = ours.index(CUT) if CUT in ours else 0
    outer = ours[at + 1:]
    return at >= DUMPED_FRAMES and ours[:at] == theirs[:at] and theirs[len(theirs) - len(outer):] == outer


# Not python3, whose own functions stand in place of frames of its interpreter.
@cases("sqlite3", "unwind-zoo", "deep-recursion")
def test_same_frames_inside(context, program):
    ticks, recorded = ticks_by_gdb(context, program), recorded_stacks(context)
    found = {tid: aligned([listed(stack) for stack in recorded.get(tid, ())], wanted)
             for tid, wanted in ticks.items()}
    differ = [(tid, number, pair) for tid, pairs in found.items() for number, pair in enumerate(pairs)
              if pair[0] != pair[1] and difference(*pair)]
    lines = [f"{tid}, {number}: {difference(*pair)}" for tid, number, pair in differ
             if not is_cut_beyond_dump(*pair)]
    compared = sum(map(len, found.values()))
    depth = max(len(theirs) for pairs in found.values() for _, theirs in pairs)
    print(f"# {program}: {compared} samples, up to {depth} frames, {len(lines)} differ")
    expect(compared, STOPS, "samples of the ticks")
    require(not lines, "\n".join(lines))
    require(len(differ) <= 1 + compared // 50, f"{len(differ)} of {compared} stacks are cut")
