"""dwell export of real recordings, read back by others: what they add up is what reports say."""
import json
import os
import subprocess

import exported
from harness import cases, expect, require

FORMATS = ("pprof", "speedscope", "firefox", "folded", "callgrind")
READERS = exported.READERS


def export(context, to, *words, session="run.dwell", said=""):
    path = context.path("out." + to)
    done = context.run(context.dwell, "export", session, "--to", to, "-o", path, *words)
    expect((done.returncode, done.stdout), (0, ""), f"export to {to}: {done.stderr}")
    require(said in done.stderr if said else not done.stderr, done.stderr)
    return path


def flats_of(context, to, kind):
    if to == "pprof":
        return exported.read_pprof(export(context, to))[kind]
    if to == "callgrind":
        return exported.read_callgrind(export(context, to))[kind]
    return READERS[to](export(context, to, "--values", kind))


def check(context, to, kind, total, columns, names):
    flat, rows = flats_of(context, to, kind), context.report("functions")["rows"]
    expect(flat.total, total, f"total of {kind} in {to}")
    for name in names:
        row = [r for r in rows if r["function_name"] == name]
        expect((flat.exclusive[name], flat.inclusive[name]),
               tuple(sum(r[column] for r in row) for column in columns), f"{name} in {to}")


@cases(*FORMATS)
def test_samples(context, to):
    context.sample("--", context.target("truth-gcc-O2"), "libraries", "0.3")
    session = context.report("functions")["session"]
    rows = context.report("functions")["rows"]
    # callgrind_annotate leaves out the last of a hundred percent.
    names = {row["function_name"] for row in rows[:8]
             if row["exclusive_samples"] * 50 > session["samples_reported"]}
    require(len(names) >= 3, rows[:8])
    check(context, to, "samples", session["samples_reported"],
          ("exclusive_samples", "inclusive_samples"), names)


@cases(*FORMATS)
def test_calls(context, to):
    context.instrument("--", context.target("call-times"))
    session = context.report("functions")["session"]
    recursive = {"even", "odd"} if to == "callgrind" else set()  # it adds up such calls
    for kind in ("elapsed", "application"):
        rows = [row["function_name"] for row in context.report("functions")["rows"]]
        once = {name for name in rows if rows.count(name) == 1} - recursive
        check(context, to, kind, session[f"{kind}_exclusive_time"],
              (f"{kind}_exclusive_time", f"{kind}_inclusive_time"), sorted(once)[:8])


def test_threads_have_labels(context):
    context.sample("--", context.target("truth-gcc-O2"), "libraries", "0.2")
    threads = {row["id"]: row["inclusive_samples"] for row in context.report("threads")["rows"]}
    found = dict.fromkeys(threads, 0)
    for _, labels, values in exported.Pprof(export(context, "pprof")).samples():
        found[labels["tid"]] += values[0]
    expect(found, threads, "samples by thread")


def test_mappings_have_build_ids(context):
    target = context.target("truth-gcc-O2")
    context.sample("--", target, "plain", "0.2")
    pprof = exported.Pprof(export(context, "pprof"))
    ids = {pprof.texts[exported.one(m, 5)]: pprof.texts[exported.one(m, 6)]
           for m in pprof.mappings.values()}
    notes = subprocess.run(["readelf", "-n", target], capture_output=True, text=True, check=True)
    require("Build ID: " + ids[os.path.realpath(target)] in notes.stdout, f"build ids {ids}")


def test_stdout_is_the_file(context):
    context.sample("--", context.target("truth-gcc-O2"), "libraries", "0.1")
    with open(export(context, "folded")) as f:
        want = f.read()
    done = context.run(context.dwell, "export", "run.dwell", "-t", "folded")
    expect(done.stdout, want, "standard output")


def test_empty_session(context):
    """Nothing to show is no error, and still a file, and told."""
    told = "nothing to show: the recording ended at"
    context.sample("--", "true")
    for to in FORMATS:
        words = ("--from", "1h")
        if to in READERS:
            expect(READERS[to](export(context, to, *words, said=told)).total, 0, to)
        elif to == "pprof":
            expect(exported.read_pprof(export(context, to, *words, said=told))["samples"].total, 0, to)
        else:
            export(context, to, *words, said=told)


def refused(context, status, *words):
    done = context.run(context.dwell, "export", *words)
    expect(done.returncode, status, f"status of {words}")
    require(done.stderr.startswith("dwell") and done.stderr.count("\n") == 1, done.stderr)
    expect(done.stdout, "", f"output of {words}")


def test_wrong_words(context):
    context.sample("--", "true")
    for words in ((), ("run.dwell",), ("run.dwell", "--to", "svg"), ("--to", "pprof"),
                  ("run.dwell", "more", "--to", "folded"),
                  ("run.dwell", "--to", "folded", "--values", "bytes"),
                  ("run.dwell", "--to", "folded", "--type", "string"),
                  ("run.dwell", "--to", "folded", "--from", "2", "--until", "1")):
        refused(context, 2, *words)


def test_bad_input(context):
    context.sample("--", "true")
    with open(context.path("run.dwell"), "rb") as f:
        session = f.read()
    for name, data in (("no", b""), ("text", b"hello\n"), ("cut", session[:len(session) // 2])):
        with open(context.path(name), "wb") as f:
            f.write(data)
        refused(context, 1, name, "--to", "pprof")
    refused(context, 1, "absent", "--to", "pprof")
    refused(context, 1, "run.dwell", "--to", "folded", "--thread", "nobody")
    refused(context, 1, "run.dwell", "--to", "folded", "-o", "run.dwell")
    refused(context, 1, "run.dwell", "--to", "folded", "-o", "no/such/folder")
    with open(context.path("run.dwell"), "rb") as f:
        expect(f.read() == session, True, "the session is as it was")


def test_full_disk(context):
    context.sample("--", context.target("truth-gcc-O2"), "libraries", "0.1")
    for to in FORMATS:
        done = context.run(context.dwell, "export", "run.dwell", "--to", to, "-o", "/dev/full")
        expect(done.returncode, 1, f"status of {to}")
        require("No space left" in done.stderr, done.stderr)


def test_speedscope_is_in_order(context):
    """A thread's samples stand as they came: the stack of the first is the first."""
    context.sample("--", context.target("truth-gcc-O2"), "libraries", "0.2")
    with open(export(context, "firefox")) as f:
        firefox = json.load(f)
    with open(export(context, "speedscope")) as f:
        speedscope = json.load(f)
    stacks = exported.firefox_stacks(firefox["shared"])
    frames = [frame["name"] for frame in speedscope["shared"]["frames"]]
    for thread, profile in zip(firefox["threads"], speedscope["profiles"], strict=True):
        wanted = [stacks[i] for i in thread["samples"]["stack"]]
        got = [[frames[i] for i in reversed(stack)]
               for stack, n in zip(profile["samples"], profile["weights"]) for _ in range(n)]
        expect(got, wanted, profile["name"])
