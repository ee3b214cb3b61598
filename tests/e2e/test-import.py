"""dwell import: what perf record wrote, in all its forms, has the shares that perf report shows."""
import os
import re
import shutil
import struct

from harness import DEFAULT_SECONDS, cases, expect, perf_program, require, rows_of

CORPUS = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))),
                      "fuzz", "corpus", "perf-data")
FORMS = {
    "dwarf": ("--call-graph", "dwarf"),
    "frame-pointers": ("-g",),
    "flat": (),
    "compressed": ("-z", "--call-graph", "dwarf"),
    "build-ids": ("--buildid-mmap", "--call-graph", "dwarf"),
    "stream": ("--call-graph", "dwarf"),
    "folder": ("--threads", "--call-graph", "dwarf"),
    "compressed-folder": ("--threads", "-z", "--call-graph", "dwarf"),
}
MAGIC = b"PERFILE2"


def perf(context, *words, **options):
    context.need("perf events")
    done = context.run(perf_program(), *words, **options)
    expect(done.returncode, 0, f"status of perf {' '.join(words)}\n{done.stderr}")
    return done.stdout


def record(context, *words, event="cpu-clock:u", program=("truth-gcc-O2", "libraries", "0.5")):
    """perf.data of a program. 997: no multiple of the timer's tick."""
    path = context.path("perf.data")
    perf(context, "record", "-q", "-e", event, "-F", "997", *words, "-o", path, "--",
         context.target(program[0]), *program[1:])
    return path


def import_file(context, path, *words):
    done = context.run(context.dwell, "import", "-q", path, "-o", "run.dwell", *words)
    expect((done.returncode, done.stdout), (0, ""), f"status of import\n{done.stderr}")
    return done.stderr


def shares_of_perf(context, path, *words):
    """Function -> percent of samples, and their number."""
    text = perf(context, "report", "-i", path, "--stdio", "--no-children", "-g", "none", "-F",
                "overhead,sample,sym", *words)
    rows = re.findall(r"^ +([\d.]+)% +(\d+) +\[\.\] (\S+)", text, re.M)
    return {name: int(n) for _, n, name in rows}


@cases(*FORMS)
def test_like_perf_report(context, form):
    path = record(context, *FORMS[form])
    if form == "stream":
        with open(path, "wb") as f:
            streamed = context.start(perf_program(), "record", "-q", "-e", "cpu-clock:u", "-F", "997",
                                     *FORMS[form], "-o", "-", "--",
                                     context.target("truth-gcc-O2"), "libraries", "0.5", stdout=f)
            expect(streamed.wait(DEFAULT_SECONDS), 0, "status of perf record")
    import_file(context, path)
    found = {row["function_name"]: row["exclusive_samples"]
             for row in context.report("functions")["rows"]}
    wanted = shares_of_perf(context, path)
    require(sum(wanted.values()) > 100, f"perf has few samples: {wanted}")
    for name in ("alpha", "library_beta", "library_gamma"):
        expect(found[name], wanted[name], f"samples in {name}")


def test_stacks_go_to_the_start(context):
    import_file(context, record(context, "--call-graph", "dwarf"))
    report = context.report("functions")
    below = [rows_of(report, name)[0]["inclusive_samples"] for name in ("main", "_start")]
    # What comes before main() and after it may have one, too.
    require(100 < below[0] <= below[1] <= below[0] + 2, f"samples below main and _start: {below}")
    require(report["session"]["stacks_cut"] * 50 <= report["session"]["samples_kept"],
            f"{report['session']['stacks_cut']} stacks were cut")


def test_standard_input(context):
    path = record(context, "-g")
    with open(path, "rb") as f:
        done = context.run(context.dwell, "import", "-q", "-", "-o", "run.dwell", stdin=f)
    expect((done.returncode, done.stderr), (0, ""), "import from standard input")
    require(rows_of(context.report("functions"), "alpha"), "alpha is there")


def test_events(context):
    clock, faults = "cpu-clock:u", "page-faults:u"  # perf adds the mark for users who may sample no kernel
    path = record(context, "-g", event=f"{clock},{faults}")
    first = context.run(context.dwell, "import", path, "-o", "first.dwell")
    expect(first.returncode, 0, first.stderr)
    counts = {}
    for event in (clock, faults, "all"):
        import_file(context, path, "--event", event)
        session = context.report("functions")["session"]
        counts[event] = session["samples_kept"] + session["samples_discarded"]
    expect(counts["all"], counts[clock] + counts[faults], f"samples of {counts}")
    require(min(counts.values()) > 0, f"{counts}")
    session = context.report("functions", session="first.dwell")["session"]
    expect(session["samples_kept"] + session["samples_discarded"], counts[clock],
           "samples of the first event")
    require(f"left out samples of {faults}" in first.stderr, first.stderr)
    done = context.run(context.dwell, "import", path, "-o", "run.dwell", "-e", "cycles")
    expect(done.returncode, 1, "status of an unknown event")
    require(f"{clock} {faults}" in done.stderr, done.stderr)


def test_processes_and_threads(context):
    """Forks, names and threads are those of a recording of our own."""
    path = record(context, "-g", program=("truth-gcc-O2", "libraries", "0.5", "3"))
    import_file(context, path)
    threads = [row for row in context.report("threads")["rows"] if row["inclusive_samples"] > 20]
    expect(len(threads), 3, f"threads with samples: {threads}")
    process, = [r for r in context.report("processes")["rows"] if r["inclusive_samples"] > 60]
    expect(process["name"], "truth-gcc-O2", "the process's name")


def test_other_build_is_no_file(context):
    """A file that is another one by now gives no names: they would be wrong ones."""
    copy = context.path("copied")
    shutil.copy(context.target("truth-gcc-O2"), copy)
    perf(context, "record", "-q", "-N", "-e", "cpu-clock:u", "-F", "997", "-o",
         context.path("perf.data"), "--", copy, "plain", "0.3")
    shutil.copy(context.target("truth-clang-O2"), copy)
    context.env["HOME"] = context.scratch
    import_file(context, context.path("perf.data"))
    names = [row["function_name"] for row in context.report("functions")["rows"][:2]]
    require(all(name.startswith("copied+0x") for name in names), f"names {names}")


@cases("dwarf", "frame-pointers", "two-events", "compressed", "stream", "stream-compressed",
       "build-ids")
def test_files_of_perf_6(context, name):
    """Files that are kept: what perf 6.1 wrote must be read for ever."""
    import_file(context, os.path.join(CORPUS, name), "-e", "all")
    require(context.report("functions")["session"]["samples_kept"] > 0, "samples")


def refused(context, path, status=1):
    done = context.run(context.dwell, "import", path, "-o", "refused.dwell")
    expect(done.returncode, status, f"status of {path}")
    require(done.stderr.startswith("dwell") and done.stderr.count("\n") == 1, done.stderr)
    require(not os.path.exists(context.path("refused.dwell")), "a session")
    require(not os.path.exists(context.path("refused.dwell.partial")), "a partial session")
    return done.stderr


def test_bad_input(context):
    with open(os.path.join(CORPUS, "dwarf"), "rb") as f:
        good = f.read()
    bad = {"empty": b"", "text": b"hello, world\n" * 10, "short": b"hello\n",
           "start": good[:60],
           "swapped": MAGIC[::-1] + struct.pack(">Q", 104) + good[16:],
           "size": good[:8] + struct.pack("<Q", 77) + good[16:],
           "attributes": good[:24] + struct.pack("<Q", 1 << 40) + good[32:],
           "data": good[:40] + struct.pack("<QQ", 1 << 50, 1 << 50) + good[56:]}
    for name, data in bad.items():
        with open(context.path(name), "wb") as f:
            f.write(data)
        message = refused(context, context.path(name))
        require(name != "swapped" or "byte order" in message, message)
        require(name not in ("empty", "text", "short") or "no perf.data" in message, message)
    refused(context, context.path("absent"))
    os.mkdir(context.path("folder"))
    require("folder" in refused(context, context.path("folder")), "a folder without data")
    os.symlink(os.path.join(CORPUS, "dwarf"), context.path("folder/data"))
    refused(context, context.path("folder"))
    os.unlink(context.path("folder/data"))
    shutil.copy(os.path.join(CORPUS, "dwarf"), context.path("folder/data"))
    os.mkfifo(context.path("folder/data.0"))
    refused(context, context.path("folder"))
    os.unlink(context.path("folder/data.0"))
    for data, status in (b"hello, world" * 10, 0), (b"\0" * 5000, 1):  # a cut record, none
        with open(context.path("folder/data.0"), "wb") as f:
            f.write(data)
        done = context.run(context.dwell, "import", "-q", context.path("folder"), "-o",
                           "some.dwell")
        expect(done.returncode, status, f"status with {data[:5]}\n{done.stderr}")
    done = context.run(context.dwell, "import")
    expect(done.returncode, 2, "status without a file")


def test_cut_file(context):
    """The end is missing, as after a full disk: what was before counts."""
    with open(os.path.join(CORPUS, "dwarf"), "rb") as f:
        data = bytearray(f.read())
    begin, size = struct.unpack_from("<QQ", data, 40)
    struct.pack_into("<Q", data, 48, 0)
    with open(context.path("cut"), "wb") as f:
        f.write(data[:begin + size - 100])
    done = context.run(context.dwell, "import", "-q", "cut", "-o", "run.dwell")
    expect(done.returncode, 0, done.stderr)
    require("ends early" in done.stderr, done.stderr)
    require(context.report("functions")["session"]["samples_kept"] > 0, "samples")


def test_kernel_names(context):
    """Of the kernel that runs, at the place where it lay: functions of any other have no names."""
    with open("/proc/kallsyms") as f:
        if not int(f.readline().split()[0], 16):
            context.skip("the kernel hides its addresses")
    path = context.path("perf.data")
    perf(context, "record", "-q", "-e", "cpu-clock", "-F", "997", "-g", "-o", path, "--", "dd",
         "if=/dev/zero", "of=/dev/null", "bs=1M", "count=4000")
    text = perf(context, "report", "-i", path, "--stdio", "--no-children", "-g", "none", "-F",
                "sample,sym")
    wanted = {name: int(n) for n, name in re.findall(r"^ +(\d+) +\[k\] ([a-z]\w+)$", text, re.M)}
    require(wanted, f"perf names nothing of the kernel: {text}")
    with open(path, "rb") as f:
        whole = f.read()
    ids = perf(context, "buildid-list", "-i", path)
    kernel = bytes.fromhex(re.search(r"(\w+) \[kernel.kallsyms\]", ids).group(1))
    at = whole.index(b"[kernel.kallsyms]_") - 8
    moved = struct.pack("<Q", struct.unpack("<Q", whole[at:at + 8])[0] + 0x200000)
    other = whole.replace(kernel, bytes(reversed(kernel)))
    for bad in whole[:at] + moved + whole[at + 8:], other:
        with open(path, "wb") as f:
            f.write(bad)
        import_file(context, path)
        rows = [row for row in context.report("functions")["rows"]
                if row["module_name"] == "[kernel]"]
        require(rows and all(row["function_name"].startswith("[kernel]+") for row in rows), rows)
    with open(path, "wb") as f:
        f.write(whole)
    expect(import_file(context, path), "", "nothing to say of names")
    got = {row["function_name"]: row["exclusive_samples"]
           for row in context.report("functions")["rows"]}
    most = max(wanted, key=wanted.get)
    expect(got.get(most), wanted[most], f"samples of {most}: {wanted}, {got}")


def test_kernel_without_build_id(context):
    """Which kernel it was nobody can tell, and that is said."""
    path = context.path("perf.data")
    words = ("record", "-q", "-e", "cpu-clock", "-F", "997", "-o", path, "--", "dd", "if=/dev/zero",
             "of=/dev/null", "bs=1M", "count=4000")
    perf(context, words[0], "-B", "-N", *words[1:])
    said = import_file(context, path)
    require("does not tell the build-id of its kernel" in said and "record without -B" in said, said)
    rows = context.report("functions", "--module", "[[]kernel]")["rows"]
    require(rows and all(row["function_name"].startswith("[kernel]+") for row in rows), rows)
    perf(context, *words)
    expect(import_file(context, path), "", "of a kernel that is told")
