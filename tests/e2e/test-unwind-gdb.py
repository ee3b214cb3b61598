"""The unwinder against gdb: the same registers and memory, the same program counters.

At random stops of real programs, gdb's frames (set backtrace past-main on) must be ours. Twenty
stops of each program here; DWELL_GDB_STOPS=200 for the long run.
"""
import json
import os
import shutil
import subprocess

from harness import Skip, cases, require

STOPS = int(os.environ.get("DWELL_GDB_STOPS", "20"))
SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "unwind-gdb", "stops.py")

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
        path = shutil.which("sqlite3")
        return path and [path, ":memory:"], SQL
    if program == "python3":
        path = next((p for p in ("/usr/bin/python3", shutil.which("python3")) if p), None)
        with open(context.path("program.py"), "w") as f:
            f.write(PYTHON)
        return path and [os.path.realpath(path), f.name], ""
    return [context.target(program)], ""


def take_stops(context, program):
    """Run @program under gdb. The file of stops, and gdb's frames of each."""
    words, text = command(context, program)
    if not shutil.which("gdb") or not words:
        raise Skip(f"gdb or {program} is not installed")
    with open(context.path("input"), "w") as f:
        f.write(text)
    request = {"count": STOPS, "seed": 1, "file": context.path("stops"),
               "frames": context.path("frames")}
    env = {**context.env, "DWELL_STOPS": json.dumps(request)}
    with open(context.path("input")) as stdin:
        done = context.run("gdb", "-q", "-nx", "-batch", "-x", SCRIPT, "--args", *words, env=env,
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
