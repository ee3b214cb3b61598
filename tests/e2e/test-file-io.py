"""dwell instrument: what a program reads and writes, by file, against its known truth and strace.

The program is tests/targets/files.c. strace prints the names of descriptors (-y), one file for each
task (-ff), so no line is cut in two.
"""
import collections
import glob
import os
import re
import sqlite3

from harness import File, cases, expect, needs, paths, require

FILE = File(without_perf=("*",))

MANY, TEMPORARIES = 300, 20

# File: reads, bytes read, writes, bytes written; by function below.
PARTS = {
    "data": {
        "make": (0, 0, 10, 10000),
        "read_small": (100, 7000, 0, 0),
        "read_to_end": (4, 10000, 0, 0),
        "use_vectors": (4, 255, 0, 0),
        "move": (3, 1700, 0, 0),
        "read_in_thread": (100, 1000, 0, 0),
        "do_executed": (6, 6, 0, 0),
    },
    "one": {
        "make": (0, 0, 10, 10000),
        "read_one": (10, 10, 0, 0),
        "duplicate": (2, 10, 0, 0),
        "fail": (0, 0, 1, 0),
        "use_fork": (1, 9, 0, 0),
        "read_many": (1, 13, 0, 0),
    },
    "two": {
        "make": (0, 0, 10, 10000),
        "read_one": (10, 10, 0, 0),
        "duplicate": (2, 16, 0, 0),
        "use_vfork": (2, 4, 0, 0),
    },
    "vectors": {"use_vectors": (0, 0, 4, 260)},
    "log": {"append": (0, 0, 50, 150)},
    "copy": {"move": (0, 0, 3, 1700)},
    "family": {"write_family": (0, 0, 9, 18)},
    "handled": {"on_alarm": (0, 0, 1, 1)},
    "[pipe]": {
        "move": (1, 200, 1, 200),
        "fail": (4, 0, 0, 0),
        "use_pipe": (5, 500, 5, 500),
        "be_interrupted": (1, 0, 0, 0),
    },
    "[socket]": {"use_sockets": (5, 64, 5, 64)},
    "[not open]": {"fail": (3, 0, 0, 0)},
    "[eventfd]": {"use_event": (1, 8, 1, 8)},
    "the program": {"read_one": (10, 40, 0, 0)},
    **{f"temp-{i}": {"use_temporaries": (0, 0, 1, 3)} for i in range(TEMPORARIES)},
    **{f"many-{i}": {"read_many": (2, 2, 1, 2)} for i in range(MANY)},
}

SIDES = {
    "r": "read pread64 readv preadv preadv2 recvfrom recvmsg recvmmsg".split(),
    "w": "write pwrite64 writev pwritev pwritev2 sendto sendmsg sendmmsg".split(),
    "wr": ["sendfile"],
    "rw": ["copy_file_range", "splice"],
}
CALLS = {call: sides for sides, calls in SIDES.items() for call in calls}


def values(row):
    return tuple(row[key] for key in ("reads", "bytes_read", "writes", "bytes_written"))


def add(rows):
    return tuple(map(sum, zip(*rows)))


def name(context, path):
    """As the truth has it: what lies in the scratch folder by its name there."""
    if path == os.path.realpath(context.target("files")):
        return "the program"
    return os.path.basename(path) if os.path.dirname(path) == os.path.realpath(context.scratch) else path


def files_of(context, *words):
    return {name(context, row["name"]): values(row)
            for row in context.report("file-io", *words)["rows"] if row["level"] == 0}


def parts_of(context, *words):
    """What functions did, by file."""
    parts = collections.defaultdict(dict)
    for row in context.report("file-io", *words)["rows"]:
        if row["level"] == 1:
            parts[name(context, row["file"])][row["function_name"]] = values(row)
    return dict(parts)


def descriptors(text):
    """The names of those that a call of strace's begins with, in their order."""
    return [kind and f"[{kind}]" or path.removeprefix("anon_inode:") for kind, path in
            re.findall(r"[(,] ?(?:\d+<(?:(pipe|socket|UNIX)[^>]*|([^>]*))>)", text)]


def bytes_of(call, text, result):
    if call.endswith("mmsg") and result > 0:
        return sum(map(int, re.findall(r"msg_len=(\d+)", text)))
    return max(result, 0)


def traced(context):
    """What strace saw of the files of the truth."""
    counts = collections.defaultdict(lambda: [0, 0, 0, 0])
    done = context.run("strace", "-ff", "-y", "-v", "-o", context.path("trace"), "-e",
                       "trace=" + ",".join(CALLS), context.target("files"))
    expect(done.returncode, 0, f"status of strace\n{done.stderr[-2000:]}")
    for path in glob.glob(context.path("trace.*")):
        for line in open(path, errors="replace"):
            found = re.match(r"(\w+)(\(.*\)) += (-?\d+|\?)", line)
            if not found or found[1] not in CALLS:
                continue
            call, text, result = found.groups()
            result = -1 if result == "?" else int(result)
            files = descriptors(text) or ["[not open]"]
            for side, file in zip(CALLS[call], files):
                at = 0 if side == "r" else 2
                counts[name(context, file)][at] += 1
                counts[name(context, file)][at + 1] += bytes_of(call, text, result)
    return {file.replace("[UNIX]", "[socket]"): tuple(n) for file, n in counts.items()}


@paths(1)
def test_counts_are_the_programs(context):
    context.instrument("--", context.target("files"))
    expect(files_of(context), {file: add(parts.values()) for file, parts in PARTS.items()}, "files")
    expect(parts_of(context), PARTS, "functions")
    times = {row["name"]: row["io_time"]
             for row in context.report("file-io")["rows"] if row["level"] == 0}
    require(times["[pipe]"] >= 40_000_000, f"a read waited 50 ms: {times['[pipe]']} ns in pipes")


@needs("strace")
def test_counts_are_straces(context):
    context.instrument("--", context.target("files"))
    ours, theirs = files_of(context), traced(context)
    differ = {file: (ours[file], theirs.get(file)) for file in ours if theirs.get(file) != ours[file]}
    expect(differ, {}, "files of which dwell and strace say something else")
    missing = [file for file in theirs if not file.startswith("/") and file not in ours]
    expect(missing, [], "files that strace alone saw")


def test_under_a_system_call_filter(context):
    """Agents make no system calls there: what is known stays known."""
    done = context.instrument("--", context.target("files"), "confined")
    expect(done.stderr, "", "what the program says")
    expect(parts_of(context)["one"], {"make": (0, 0, 10, 10000), "read_confined": (3, 9, 0, 0)}, "known before")
    expect(parts_of(context)["two"], {"make": (0, 0, 10, 10000)}, "another descriptor of that file")
    expect(parts_of(context)["[unnamed]"], {"read_confined": (2, 11, 0, 0)}, "opened later")


def test_filters(context):
    context.instrument("--", context.target("files"))
    expect(parts_of(context, "append"), {"log": PARTS["log"]}, "of append")
    expect(set(files_of(context, "--module", "files")), set(PARTS), "of the program's own code")
    split = [row for row in context.report("file-io", "--by", "process")["rows"] if row["level"] == 0]
    family = [values(row) for row in split if name(context, row["name"]) == "family"]
    expect(sorted(family), [(0, 0, 2, 4), (0, 0, 7, 14)], "by process")
    pid, = (row["process_id"] for row in split if values(row) == (0, 0, 7, 14))
    expect(files_of(context, "--process", str(pid)), {"family": (0, 0, 7, 14), "one": (1, 9, 0, 0)}, "of the child")
    done = context.run(context.dwell, "report", context.path("run.dwell"), "file-io", "--from", "1ms")
    expect(done.returncode, 2, "status with a range")


def test_sql_has_the_same(context):
    context.instrument("--", context.target("files"))
    db = sqlite3.connect(context.path("run.dwell"))
    rows = db.execute("SELECT file, function_name, sum(reads), sum(bytes_read), sum(writes), sum(bytes_written)"
                      " FROM file_io GROUP BY file, function_name")
    parts = collections.defaultdict(dict)
    for file, function, *numbers in rows:
        parts[name(context, file)][function] = tuple(numbers)
    expect(dict(parts), PARTS, "the view file_io")


def test_more_files_than_there_is_room_for(context):
    """Sums stay exact."""
    files, deep = 12_000, "d" * 200
    program = ("import os\n"
               f"os.makedirs('{deep}/{deep}/{deep}', exist_ok=True)\n"
               f"for i in range({files}):\n"
               f"    with open(f'{deep}/{deep}/{deep}/{{i}}', 'wb', 0) as f: f.write(b'abc')\n")
    context.instrument("--module", "python*", "--", "python3", "-c", program)
    rows = {file: numbers for file, numbers in files_of(context).items() if deep in file or file == "[other files]"}
    require(0 < rows.get("[other files]", (0,) * 4)[2] < files, "some files had no room, not all")
    expect(add(rows.values())[2:], (files, 3 * files), "writes")
