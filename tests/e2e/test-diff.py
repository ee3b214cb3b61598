"""dwell diff of builds with a known difference: each is found with its cause, and nothing else.

The program is compiled by the test, as it was and with one change. What it calls is counted, so
that every difference of calls is exact; times are compared over several runs, and only for
differences far larger than what a busy machine does.
"""
import csv
import glob
import io
import json
import os
import signal

from harness import cases, expect, needs, one_line, require, rows_of

SOURCE = """
#include <pthread.h>
#include <stddef.h>
#define OWN __attribute__((noinline))
#ifndef LINES
#define LINES 100
#endif
#ifndef HASH
#define HASH 8000
#endif
#ifndef THREADS
#define THREADS 1
#endif
static volatile unsigned long sink;
OWN void leaf(int n) { for (int i = 0; i < 90; i++) sink += n; }
#ifdef INLINED
static inline __attribute__((always_inline)) void mix(int n) { leaf(n); sink += n; leaf(n + 1); }
#else
static OWN void mix(int n) { leaf(n); sink += n; leaf(n + 1); }
#endif
#ifdef STORE_ELSEWHERE
void store(int n);
#else
OWN void store(int n) { for (int i = 0; i < 2000; i++) sink += n; }
#endif
OWN void field(int n) { for (int i = 0; i < 500; i++) sink += n; }
OWN void PARSE(int n) { for (int i = 0; i < 3000; i++) sink += n; field(n); field(n + 1); }
OWN void hash_key(int n) { for (int i = 0; i < HASH; i++) sink += n; mix(n); }
#ifdef SPLIT
OWN void load_rest(void) { for (int i = 50; i < LINES; i++) PARSE(i); }
OWN void load(void) { for (int i = 0; i < 50; i++) PARSE(i); load_rest(); }
#else
OWN void load(void) { for (int i = 0; i < LINES; i++) PARSE(i); }
#endif
OWN void *work(void *unused) { for (int i = 0; i < 100; i++) hash_key(i); return unused; }
int main(void)
{
	pthread_t threads[THREADS];
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	load();
	for (int i = 0; i < 100; i++)
		store(i);
	return 0;
}
"""
STORE = """
static volatile unsigned long kept;
__attribute__((noinline)) void store(int n) { for (int i = 0; i < 2000; i++) kept += n; }
"""
COMPILE = "gcc", "-g", "-O1", "-fno-optimize-sibling-calls", "-pthread"
COUNTS = {"new", "gone", "more_calls", "fewer_calls", "as_callers", "inlined", "no_longer_inlined"}


def build(context, name, *flags):
    """Compile the program with @flags to NAME/program, as builds of one program are."""
    os.makedirs(context.path(name), exist_ok=True)
    for file, text in (("main.c", SOURCE), ("store.c", STORE)):
        with open(context.path(file), "w", encoding="ascii") as f:
            f.write(text)
    if not any(flag.startswith("-DPARSE") for flag in flags):
        flags += ("-DPARSE=parse_line",)
    context.make(*COMPILE, "-o", f"{name}/program", "main.c", *flags)
    return f"{name}/program"


def record(context, session, program, *options):
    context.instrument(*options, "--", f"./{program}", session=session)
    return session


def diff(context, *words, status=0):
    done = context.run(context.dwell, "diff", *words)
    expect(done.returncode, status, f"status of dwell diff {' '.join(words)}\n{done.stderr}")
    return done


def compare(context, *words, status=0):
    return json.loads(diff(context, *words, "--format", "json", status=status).stdout)


def counted(report):
    """What happened to counts, by name."""
    found = {row["name"]: COUNTS & set(row["what"]) for row in report["rows"]}
    return {name: what for name, what in found.items() if what}


def row_of(report, name):
    found = [row for row in report["rows"] if row["name"] == name]
    expect(len(found), 1, f"rows of {name}")
    return found[0]


def pair(context, *flags, options=()):
    """Sessions of the program as it was and with @flags."""
    record(context, "base.dwell", build(context, "base"), *options)
    record(context, "new.dwell", build(context, "changed", *flags), *options)
    return "base.dwell", "new.dwell"


def test_more_calls_and_what_follows_from_them(context):
    sessions = pair(context, "-DLINES=300")
    report = compare(context, *sessions)
    expect(counted(report), {"parse_line": {"more_calls"}, "field": {"more_calls", "as_callers"}}, "counts")
    row = row_of(report, "parse_line")
    expect((row["number_of_calls"]["base"], row["number_of_calls"]["new"]), ([100], [300]), "calls")
    expect((row["callers"], row["number_of_calls"]["exact"]), ("main > load", True), "cause")
    base, new = (row["application_exclusive_time"][side][0] for side in ("base", "new"))
    require(abs(row["by_calls"] + row["by_cost"] - (new - base)) < 1, f"parts of the difference: {row}")
    require(abs(row["by_calls"] - 2 * base) < 1, f"200 calls more at the old cost: {row}")
    words = diff(context, *sessions).stdout
    require("parse_line is called 3 times as often (100 -> 300 calls)" in words, words)
    require("from main > load" in words, words)
    require("field is called" not in words, f"an effect is told as a cause: {words}")
    diff(context, *sessions, "--fail-if", "modules:prog*:calls > 0", status=3)
    diff(context, *sessions, "--fail-if", "functions:parse*:application_exclusive > 0 %", status=4)
    diff(context, *sessions, "--fail-if", "functions:parse*:application_exclusive > 1000")  # not by so much


def test_counts_are_called_by_what_they_count(context):
    sessions = pair(context, "-DLINES=300")
    report = compare(context, *sessions, "--sort", "calls")
    expect({row["name"]: (row["what"], row["trust"]) for row in report["rows"]},
           {name: (["slower"], "counted") for name in ("parse_line", "field")}, "rows")
    words = diff(context, *sessions, "--sort", "calls").stdout
    require("parse_line has more calls (100 -> 300)" in words and "+200  +200.0  more calls  parse_line" in words, words)


def test_a_split_function(context):
    report = compare(context, *pair(context, "-DSPLIT"))
    expect(counted(report), {"load_rest": {"new"}}, "counts")
    expect(row_of(report, "load_rest")["callers"], "main > load", "callers")


def test_an_inlined_function(context):
    sessions = pair(context, "-DINLINED")
    expect(counted(compare(context, *sessions)), {"mix": {"gone", "inlined"}}, "counts")
    expect(counted(compare(context, *reversed(sessions))), {"mix": {"new", "no_longer_inlined"}}, "turned round")


def test_a_renamed_function(context):
    sessions = pair(context, "-DPARSE=read_line")
    report = compare(context, *sessions, "--all")
    row = row_of(report, "read_line")
    expect((row["base_name"], row["matched"]), ("parse_line", "renamed"), "the pair")
    expect(counted(report), {}, "counts")
    require("read_line, which was parse_line" in diff(context, *sessions).stdout, "it is told")


def test_a_function_in_another_file(context):
    sessions = pair(context, "-DSTORE_ELSEWHERE", "store.c")
    expect(counted(compare(context, *sessions)), {}, "counts")
    require("store is in store.c now, and was in main.c" in diff(context, *sessions).stdout, "it is told")


def test_a_function_in_another_library(context):
    context_library = context.path("libstore.so")
    base = build(context, "base")
    context.make("gcc", "-g", "-O1", "-shared", "-fPIC", "-o", context_library, "store.c")
    changed = build(context, "changed", "-DSTORE_ELSEWHERE", context_library)
    scope = "--module", "program", "--module", "libstore.so"
    record(context, "base.dwell", base, "--module", "program")
    record(context, "new.dwell", changed, *scope)
    report = compare(context, "base.dwell", "new.dwell", "--all")
    row = row_of(report, "store")
    expect((row["matched"], row["module_name"], row["base_module_name"]), ("moved", "libstore.so", "program"),
           "the pair")
    expect(counted(report), {}, "counts")


def test_one_more_thread(context):
    sessions = pair(context, "-DTHREADS=2")
    report = compare(context, *sessions)
    causes, effects = ("work", "pthread_create", "pthread_join"), ("hash_key", "mix", "leaf")
    expect(counted(report), {**{name: {"more_calls"} for name in causes},
                             **{name: {"more_calls", "as_callers"} for name in effects}}, "counts")
    require("There are more threads: 2 -> 3." in diff(context, *sessions).stdout, "it is told")
    mixed = "--base", "base.dwell", "--base", "new.dwell", "--new", "new.dwell", "--new", "base.dwell"
    require("threads" not in diff(context, *mixed).stdout, "it is not where runs differ by themselves")


def test_many_conditions_on_many_columns(context):
    sessions = pair(context, "-DLINES=300")
    columns = [f"{kind}{which} Time" for which in ("Elapsed Inclusive", "Elapsed Exclusive", "Application Inclusive",
                                                   "Application Exclusive") for kind in ("", "Avg ", "Max ", "Min ")]
    conditions = [word for column in columns[1:] for word in ("--fail-if", f"functions:load:{column} > 10 %")]
    done = diff(context, *sessions, *conditions, "--fail-if", "calls > 0", status=3)
    expect(len(done.stderr.splitlines()), len(columns), "each is held against it")


def test_names_of_one_function_do_not_depend_on_who_called_first(context):
    """A function that is called by two names has the same one whichever of them comes first."""
    for side, names in ("base", ("fopen", "fopen64")), ("new", ("fopen64", "fopen")):
        with open(context.path("main.c"), "w", encoding="ascii") as f:
            f.write("typedef struct file FILE; FILE *fopen(const char *, const char *), *fopen64(const char *, const char *);"
                    "static __attribute__((noinline)) int is_open(FILE *f) { return f != 0; } int main(void) { return " +
                    " + ".join(f'is_open({name}("/nowhere", "r"))' for name in names) + "; }")
        os.makedirs(context.path(side))
        context.make("gcc", "-O1", "-o", f"{side}/program", "main.c")
        record(context, f"{side}.dwell", f"{side}/program")
        rows = context.report("functions", session=f"{side}.dwell")["rows"]
        expect([(row["function_name"], row["number_of_calls"]) for row in rows if "fopen" in row["function_name"]],
               [("fopen", 2)], f"names in {side}")
    expect(counted(compare(context, "base.dwell", "new.dwell")), {}, "counts")


def test_rows_of_one_name_have_no_sums_of_averages(context):
    """Two functions of one name, one of them rare and slow: their mean, longest and shortest call."""
    for name, calls, loops in ("rare", 3, 200000), ("often", 300, 400):
        with open(context.path(f"{name}.c"), "w", encoding="ascii") as f:
            f.write(f"""static volatile unsigned long sink;
                static __attribute__((noinline)) void same(int n) {{ for (int i = 0; i < {loops} * MORE; i++) sink += n; }}
                void {name}(void) {{ for (int i = 0; i < {calls}; i++) same(i); }}""")
    with open(context.path("start.c"), "w", encoding="ascii") as f:
        f.write("void rare(void); void often(void); int main(void) { rare(); often(); return 0; }")
    for side, more in ("base", 1), ("new", 10):
        os.makedirs(context.path(side))
        context.make(*COMPILE, f"-DMORE={more}", "-o", f"{side}/program", "start.c", "rare.c", "often.c")
        record(context, f"{side}.dwell", f"{side}/program")
    rows = [rows_of(context.report("functions", "--columns", "all", session=f"{side}.dwell"), "same")
            for side in ("base", "new")]
    expect([len(side) for side in rows], [2, 2], "rows of the name")
    for kind, join in (("avg", lambda side, key: sum(row[key] * row["number_of_calls"] for row in side) /
                        sum(row["number_of_calls"] for row in side)),
                       ("max", lambda side, key: max(row[key] for row in side)),
                       ("min", lambda side, key: min(row[key] for row in side))):
        column = f"{kind}_elapsed_exclusive_time"
        more = join(rows[1], column) - join(rows[0], column)
        require(more > 0, f"{column} has grown, not by {more}")
        for slack, status in (-100, 4), (100, 0):  # one run a side: what is more is undecided
            diff(context, "base.dwell", "new.dwell", "--fail-if", f"functions:same:{column} > {more + slack:.0f}ns",
                 status=status)


def runs(context, base, new, n):
    """The words for @n recordings of each program, made in turns: what else the machine does is the same for both."""
    return [word for i in range(n) for side, program in (("base", base), ("new", new))
            for word in (f"--{side}", record(context, f"{side}-{i}.dwell", program))]


def test_slower_calls_over_six_runs(context):
    words = runs(context, build(context, "base"), build(context, "changed", "-DHASH=64000"), 6)
    report = compare(context, *words, "--least-change", "50")
    expect({row["name"]: row["what"] for row in report["rows"]}, {"hash_key": ["slower"]}, "rows")
    row = row_of(report, "hash_key")
    expect(row["trust"], "tested", "trust")
    require(row["p"] <= .05, f"p: {row}")
    shift = row["application_exclusive_time"]
    require(0 < shift["low"] <= shift["shift"] <= shift["high"], f"shift: {row}")
    require(row["by_calls"] == 0 and row["by_cost"] > 0, f"parts: {row}")
    condition = "functions:hash*:application_exclusive > 50 %"
    done = diff(context, *words, "--fail-if", condition, "--fail-if", "calls > 0 %", status=3)
    require(f"regression: --fail-if '{condition}': hash_key: Application Exclusive Time" in one_line(
        done.stderr, "why"), done.stderr)
    diff(context, *words, "--fail-if", "functions:hash*:application_exclusive > 5000 %")


def test_runs_of_one_program_are_alike(context):
    program = build(context, "base")
    words = runs(context, program, program, 6)
    for view in "functions", "calltree", "modules":
        report = compare(context, *words, view, "--least-change", "50")
        expect(report["rows"], [], f"rows of {view}")
        require(report["comparison"]["tests"] > 0, f"rows of {view} that were tested")
    report = compare(context, *words, "--all")
    expect(row_of(report, "parse_line")["number_of_calls"],
           {"base": [100] * 6, "new": [100] * 6, "shift": 0, "low": 0, "high": 0, "exact": True}, "calls")
    done = diff(context, *words, "--fail-if", "calls > 0 %")
    expect(done.stderr, "", "errors")
    few = [word for side in ("base", "new") for i in range(3) for word in (f"--{side}", f"{side}-{i}.dwell")]
    done = diff(context, *few, "--fail-if", "functions:*:application_exclusive > 0 %", status=4)
    require("runs a side to tell" in one_line(done.stderr, "why"), done.stderr)


def test_sampled_sessions(context):
    for name, flags in ("base", ("-DHASH=2000000",)), ("new", ("-DHASH=2000000", "-DLINES=60000")):
        context.sample("--", "./" + build(context, name, *flags), session=f"{name}.dwell")
    report = compare(context, "base.dwell", "new.dwell")
    found = {row["name"]: row["what"] for row in report["rows"]}
    require(found.get("parse_line") in (["slower"], ["new"]), f"parse_line: {found}")
    expect({row["trust"] for row in report["rows"]}, {"not tested"}, "one run a side")
    done = diff(context, "base.dwell", "new.dwell", "--fail-if", "functions:parse*:exclusive_samples > 0 %", status=4)
    require("undecided" in one_line(done.stderr, "why"), done.stderr)


def test_sessions_of_different_things_are_refused(context):
    program = "./" + build(context, "base", "-DHASH=2000000")
    for session, options in (("time", ("--no-off-cpu",)), ("slower", ("--no-off-cpu", "-F", "100")), ("waits", ())):
        context.sample(*options, "--", program, session=f"{session}.dwell")
    done = diff(context, "waits.dwell", "time.dwell", status=1)
    expect(one_line(done.stderr, "why").strip(),
           "dwell: 'time.dwell' has no Exclusive Work Time, but 'waits.dwell' has", "what is missing")
    done = diff(context, "time.dwell", "slower.dwell", "--fail-if", "exclusive_samples > 1", status=1)
    require("different intervals between samples" in one_line(done.stderr, "why"), done.stderr)
    # Of times that does not matter.
    report = compare(context, "time.dwell", "slower.dwell", "--all")
    base, new = (session["all"] for session in report["sessions"])
    require(base / 2 < new < base * 2, f"times by either: {report['sessions']}")


@needs("perf events")
def test_events_are_compared_with_the_same_ones(context):
    for event in "page-faults", "cpu-clock":
        context.sample("-e", event, "--", "./" + build(context, "base"), session=f"{event}.dwell")
    done = diff(context, "page-faults.dwell", "cpu-clock.dwell", status=1)
    require("of samples of time, but 'page-faults.dwell' of samples of all page-faults" in
            one_line(done.stderr, "why"), done.stderr)


FILES = """
#include <fcntl.h>
#include <unistd.h>
#ifndef READS
#define READS 10
#endif
static char text[100];
static void load(const char *path, int n)
{
	int fd = open(path, O_RDONLY);
	for (int i = 0; i < n; i++)
		if (pread(fd, text, 10, 0) < 0)
			_exit(1);
	close(fd);
}
int main(void)
{
	int fd = open("written", O_WRONLY | O_CREAT, 0600);
	for (int i = 0; i < 50 + EXTRA; i++)
		if (write(fd, text, 100) < 0)
			return 1;
	close(fd);
	load("written", 20);
	load("files.c", READS);
	return 0;
}
"""


def test_files_are_told_by_what_was_done_to_them(context):
    with open(context.path("files.c"), "w", encoding="ascii") as f:
        f.write(FILES)
    for side, flags in ("base", ("-DEXTRA=0",)), ("new", ("-DEXTRA=7", "-DREADS=30")):
        os.makedirs(context.path(side), exist_ok=True)
        context.make("gcc", "-O1", "-o", f"{side}/files", "files.c", *flags)
        record(context, f"{side}.dwell", f"{side}/files")
    report = compare(context, "base.dwell", "new.dwell", "file-io", "--all")
    times = [[row["io_time"][side][0] for row in report["rows"]] for side in ("base", "new")]
    expect([session["all"] for session in report["sessions"]], [sum(side) for side in times], "all of the time")
    rows = {os.path.basename(row["name"]): row for row in report["rows"]}
    expect({name: set(row["what"]) & COUNTS for name, row in rows.items()},
           {"written": {"more_calls"}, "files.c": {"more_calls"}}, "counts")
    words = " ".join(diff(context, "base.dwell", "new.dwell", "file-io").stdout.split())
    require("files.c has more reads (10 -> 30)" in words, words)
    require("written has more writes (50 -> 57)" in words, words)
    require("50 -> 57 writes" in words and "10 -> 30 reads" in words, f"the table: {words}")


@needs("dotnet")
def test_objects_are_counted(context):
    for name, trees in ("base", "4"), ("new", "8"):
        done = context.run(context.dwell, "memory", "-q", "-o", f"{name}.dwell", "--",
                           context.target("dotnet/managed"), "trees", "10", trees, "1")
        expect(done.returncode, 3, f"status of the managed program\n{done.stderr}")
    for view, who in ("functions", "Node.Make"), ("lifetime", "Node"):
        row = row_of(compare(context, "base.dwell", "new.dwell", view), who)
        column = row["instances" if view == "lifetime" else "exclusive_allocations"]
        # A tree of ten levels has 2^11 - 1 nodes, and 4 more are made of each.
        require(column["new"][0] - column["base"][0] >= 4 * 2047, f"objects: {row}")
        expect((row["what"], row["trust"], row["by_cost"]), (["more_calls"], "counted", 0), f"{who}")
    words = diff(context, "base.dwell", "new.dwell").stdout
    require("Node.Make has more objects" in words and "all of it more objects" in words, words)
    diff(context, "base.dwell", "new.dwell", "--fail-if", "exclusive_bytes > 10 %", status=3)


def test_trees_show_where(context):
    sessions = pair(context, "-DLINES=300")
    report = compare(context, *sessions, "calltree")
    rows = {row["name"]: row for row in report["rows"] if COUNTS & set(row["what"])}
    expect(set(rows), {"parse_line", "field"}, "rows with other counts")
    above, level = [], rows["parse_line"]["level"]
    for row in reversed(report["rows"][:report["rows"].index(rows["parse_line"])]):
        if row["level"] == level - 1:
            above, level = [row["name"], *above], level - 1
    expect(above[-2:], ["main", "load"], "above it")
    expect(rows["field"]["level"], rows["parse_line"]["level"] + 1, "levels")
    report = compare(context, *sessions, "callers", "parse_line")
    part = [row for row in report["rows"] if row["part"] == "caller"]
    expect([(row["name"], row["number_of_calls"]["new"]) for row in part], [("load", [300])], "callers")


def test_formats_agree(context):
    sessions = pair(context, "-DLINES=300")
    report = compare(context, *sessions)
    table = list(csv.DictReader(io.StringIO(diff(context, *sessions, "--format", "csv").stdout)))
    expect([row["Name"] for row in table], [row["name"] for row in report["rows"]], "rows")
    expect([int(row["Number of Calls New"]) for row in table],
           [row["number_of_calls"]["new"][0] for row in report["rows"]], "calls")
    diff(context, *sessions, "--format", "csv", "-o", "out.csv")
    with open(context.path("out.csv"), "rb") as f:
        raw = f.read()
    expect((raw.count(b"\r\n"), raw.count(b"\n")), (len(table) + 1, len(table) + 1), "ends of lines")
    expect({row["p"] for row in table}, {""}, "p of what was not tested")
    text = diff(context, *sessions, "calltree", "--format", "markdown").stdout
    require("| &nbsp;&nbsp;" in text and "\n|  " not in text, f"indentation: {text}")
    text = diff(context, *sessions, "--format", "markdown").stdout
    require("| 100 -\\> 300 | more calls" in text, text)
    diff(context, *sessions, "-o", "out.txt")
    with open(context.path("out.txt"), encoding="utf-8") as f:
        require("100 -> 300  more calls" in f.read(), "the table")
    require("more rows)" in diff(context, *sessions, "--top", "1").stdout, "rows that are left out")


def test_commands_are_recorded_in_turns(context):
    base, new = build(context, "base"), build(context, "changed", "-DLINES=300")
    context.env["TMPDIR"] = context.path("tmp")
    os.mkdir(context.path("tmp"))
    words = "--run", f"./{base}", "--run", f"./{new} 'an argument'"
    report = compare(context, *words, "-n", "2", "--method", "instrument")
    expect(counted(report), {"parse_line": {"more_calls"}, "field": {"more_calls", "as_callers"}}, "counts")
    expect([session["side"] for session in report["sessions"]], ["base", "new", "new", "base"], "turns")
    expect(os.listdir(context.path("tmp")), [], "what is left")
    compare(context, *words, "-n", "1", "--keep", context.path("kept"))
    expect(sorted(map(os.path.basename, glob.glob(context.path("kept/*")))), ["base-1.dwell", "new-1.dwell"], "kept")


def start_sleeping(context, seconds, *before):
    """Start a comparison whose first recording lasts, with temporary files in tmp."""
    context.env["TMPDIR"] = context.path("tmp")
    os.mkdir(context.path("tmp"))
    words = [word for _ in range(2) for word in ("--run", f"sleep {seconds}")]
    process = context.start(*before, context.dwell, "diff", *words, "--method", "sample", "-n", "2")
    context.wait_for(lambda: glob.glob(context.path("tmp/dwell-diff-*/*.partial")), "the first recording")
    context.wait_for(lambda: is_running("sleep", seconds), "its command")
    return process


def is_running(*words):
    for path in glob.glob("/proc/[0-9]*/cmdline"):
        try:
            with open(path, encoding="utf-8", errors="replace") as f:
                if f.read() == "".join(f"{word}\0" for word in words):
                    return True
        except OSError:
            pass
    return False


@cases(signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT)
def test_interrupted_recordings_leave_nothing(context, number):
    process = start_sleeping(context, "1000.25")
    process.send_signal(number)
    process.communicate(timeout=60)
    expect((process.returncode, os.listdir(context.path("tmp"))), (128 + number, []), "status, what is left")
    require(not is_running("sleep", "1000.25"), "the command ended, too")


def test_what_is_ignored_does_not_interrupt(context):
    process = start_sleeping(context, "1.5", "sh", "-c", "trap '' HUP; exec \"$@\"", "sh")
    process.send_signal(signal.SIGHUP)
    process.communicate(timeout=60)
    require(process.returncode < 128, f"status: {process.returncode}")


def test_recordings_end_when_dwell_is_killed(context):
    process = start_sleeping(context, "1000.75")
    process.kill()
    process.communicate(timeout=60)
    context.wait_for(lambda: not is_running("sleep", "1000.75"), "the end of what was recorded")


def test_an_interrupted_report_leaves_nothing(context):
    program = build(context, "base")
    context.env["TMPDIR"] = context.path("tmp")
    os.mkdir(context.path("tmp"))
    os.mkfifo(context.path("report"))
    words = "--run", f"./{program}", "--run", f"./{program}", "-n", "1", "-o", "report"
    process = context.start(context.dwell, "diff", *words)
    with open(f"/proc/{process.pid}/wchan", encoding="ascii") as f:
        # Until the second session is there, and nobody reads the report.
        context.wait_for(lambda: os.path.exists((glob.glob(context.path("tmp/*")) or ["none"])[0] + "/new-1.dwell") and
                         (f.seek(0) or f.read()) not in ("0", "do_wait"), "the report")
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    expect((process.returncode, os.listdir(context.path("tmp"))), (128 + signal.SIGTERM, []), "status, what is left")


def test_what_was_recorded_is_shown_whatever_conditions_do_not_fit(context):
    program = build(context, "base")
    done = diff(context, "--run", f"./{program}", "--run", f"./{program}", "-n", "1",
                "--fail-if", "functions:zzz*:calls > 0", status=1)
    require("nothing fits 'zzz*'" in one_line(done.stderr, "why") and done.stdout.startswith("From "), done.stdout)


def test_recordings_that_fail_are_no_results(context):
    os.mkdir(context.path("kept"))
    program = build(context, "base")
    record(context, "kept/base-1.dwell", program)
    record(context, "kept/new-1.dwell", program)
    words = "--run", f"./{program}", "--run", "sh -c 'kill -9 $PPID'", "-n", "1", "--keep", "kept"
    done = diff(context, *words, status=1)
    require("was not recorded: dwell instrument was ended by signal 9" in one_line(done.stderr, "why"), done.stderr)
    expect(glob.glob(context.path("kept/new-1.dwell")), [], "the session of yesterday")


def test_commands_that_end_differently_are_told(context):
    program = build(context, "base")
    words = "--run", f"./{program}", "--run", f"sh -c './{program}; exit 3'", "--method", "sample", "-n", "2"
    done = context.run(context.dwell, "diff", *words)
    told = [line for line in done.stderr.splitlines() if "ended with status" in line]
    expect(told, [f"dwell: a run of '{words[3]}' ended with status 3, but the base's first with 0"], "told once")


@cases(("--fail-if", "kalls > 0"), ("--sort", "nothing"), ("-o", "nowhere/report"), ("lifetime",))
def test_what_is_wrong_is_told_before_all_is_recorded(context, words):
    program = build(context, "base")
    words = "--run", f"./{program}", "--run", f"./{program}", *words, "-n", "2", "--keep", "kept"
    done = context.run(context.dwell, "diff", *words)
    one_line(done.stderr, "error")
    require(done.returncode in (1, 2), f"status: {done.returncode}")
    require(len(glob.glob(context.path("kept/*"))) <= 1, "recorded once at most")


ACROSS = """
#include <stdlib.h>
#include <string.h>
#define OWN __attribute__((noinline))
static volatile unsigned long sink;
static int numbers[400000];
static inline __attribute__((always_inline)) void inlined(int n) { for (int i = 0; i < n; i++) sink += i; }
OWN void plain(void) { for (int i = 0; i < 360000000; i++) sink += i; }
OWN void changed(void) { for (int i = 0; i < 180000000 * CHANGED; i++) sink += i; }
OWN void around(void) { inlined(180000000); }
OWN int by_value(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
OWN void sorts(void)
{
	for (int i = 0; i < 400000; i++)
		numbers[i] = (i * 7919) % 400009;
	qsort(numbers, 400000, sizeof *numbers, by_value);
}
int main(void) { plain(); changed(); around(); for (int i = 0; i < 3; i++) sorts(); return 0; }
"""


def test_across_methods(context):
    """What has probes, beside what samples say of it without them: a planted difference is named, and what is
    below a function of a library is that function's on both sides."""
    with open(context.path("main.c"), "w", encoding="ascii") as f:
        f.write(ACROSS)
    for side, changed in ("plain", 1), ("measured", 6):
        os.makedirs(context.path(side))
        context.make(*COMPILE, f"-DCHANGED={changed}", "-o", f"{side}/program", "main.c")
    context.sample("-F", "4000", "--", "plain/program", session="plain.dwell")
    for program in "plain", "measured":
        record(context, f"{program}-calls.dwell", f"{program}/program")
    names = {"plain", "changed", "around", "sorts", "qsort"}
    for session, other in ("plain-calls.dwell", False), ("measured-calls.dwell", True):
        report = compare(context, session, "plain.dwell", "--all")
        about, rows = report["across_methods"], report["rows"]
        expect((about["plain"], about["measured"], about["view"]), ("plain.dwell", session, "functions"), "sides")
        sampled = context.report("functions", session="plain.dwell")["session"]
        expect(about["samples"], sampled["samples_reported"], "samples")
        for side in "plain", "measured":
            require(abs(sum(row[f"{side}_percent"] for row in rows) - 100) < .01, f"shares of {side}")
            require(abs(sum(row[f"{side}_ns"] for row in rows) - about[f"{side}_ns"]) <= len(rows), f"all of {side}")
        require(names <= {row["name"] for row in rows}, f"functions: {rows}")
        require(not any("msort" in row["name"] or row["name"] == "inlined" for row in rows), "no row of what has no probes")
        for row in rows:
            require(abs(row["measured_percent"] - row["plain_percent"] - row["points"]) < 1e-9, f"points: {row}")
            expect(row["beyond"], abs(row["points"]) > row["points_allowed"] > 0, f"beyond: {row}")
            if row["name"] in names and not other:
                # What a busy machine does to the caches of one of the two.
                require(abs(row["points"]) < 35, f"the same program: {row}")
        expect([abs(row["points"]) for row in rows], sorted((abs(row["points"]) for row in rows), reverse=True), "order")
        text = diff(context, "plain.dwell", session).stdout
        require(text.startswith("Plain, plain.dwell: ") and "probes not counted" in text, text)
    expect((rows[0]["name"], rows[0]["beyond"], rows[0]["points"] > 15), ("changed", True, True), "what was planted")
    require("The probes changed most: changed +" in " ".join(text.split()), text)
    modules = compare(context, "plain.dwell", "plain-calls.dwell", "modules", "--all")
    require({"program", "libc.so.6"} <= {row["module_name"] for row in modules["rows"]}, modules)
    rows = list(csv.DictReader(io.StringIO(diff(context, "plain.dwell", "plain-calls.dwell", "--all", "-f", "csv").stdout)))
    report = compare(context, "plain.dwell", "plain-calls.dwell", "--all")
    expect([(row["Name"], float(row["Points"]), int(row["Plain Time"])) for row in rows],
           [(row["name"], row["points"], row["plain_ns"]) for row in report["rows"]], "CSV and JSON")
    text = diff(context, "plain.dwell", "plain-calls.dwell", "-f", "markdown", "--top", "2").stdout
    expect(sum(line.startswith("| ") for line in text.splitlines()), 3, "rows of Markdown, with titles")


@cases((2, "which two sessions", ()),
       (2, "unknown view", ("base.dwell", "base.dwell", "funktions")),
       (2, "cannot be compared", ("base.dwell", "base.dwell", "slowest")),
       (2, "unknown format", ("base.dwell", "base.dwell", "-f", "yaml")),
       (2, "needs a function", ("base.dwell", "base.dwell", "callers")),
       (2, "--fail-if 'calls'", ("base.dwell", "base.dwell", "--fail-if", "calls")),
       (2, "no amounts called 'kalls'", ("base.dwell", "base.dwell", "--fail-if", "kalls > 1")),
       (2, "no column of sums", ("base.dwell", "base.dwell", "--sort", "nothing")),
       (2, "no column of sums", ("base.dwell", "base.dwell", "--sort", "avg elapsed inclusive time")),
       (2, "'calls' is no time", ("base.dwell", "base.dwell", "--fail-if", "calls > 10ms")),
       (2, "--base and --new go together", ("--base", "base.dwell")),
       (2, "given twice", ("--run", "true")),
       (2, "no words that a program", ("--run", "true | true", "--run", "true")),
       (1, "no function", ("base.dwell", "base.dwell", "callers", "nowhere")),
       (1, "none.dwell", ("base.dwell", "none.dwell")),
       (1, "a session of samples of time, but 'base.dwell' of calls", ("--base", "base.dwell", "--base", "base.dwell",
                                                                       "--new", "sampled.dwell")),
       (2, "of two methods: the views functions and modules compare such", ("base.dwell", "sampled.dwell", "lines")),
       (2, "of two methods, and --fail-if is for two of one", ("base.dwell", "sampled.dwell", "--fail-if", "calls > 0")),
       (2, "of two methods, and a filter is for two of one", ("base.dwell", "sampled.dwell", "--process", "1")),
       (1, "the sampled session has nothing to compare", ("quick.dwell", "base.dwell")),
       (1, "the sampled and the instrumented session have no function in common", ("sampled.dwell", "other.dwell")),
       (1, "different programs", ("base.dwell", "other.dwell")),
       (1, "nothing fits 'zzz*'", ("base.dwell", "base.dwell", "--fail-if", "functions:zzz*:calls > 0")))
def test_bad_input_gets_one_line(context, case):
    status, part, words = case
    record(context, "base.dwell", build(context, "base"))
    context.sample("-F", "10000", "--", "./base/program", session="sampled.dwell")
    context.sample("--no-off-cpu", "--", "true", session="quick.dwell")
    with open(context.path("other.c"), "w", encoding="ascii") as f:
        f.write("__attribute__((noinline)) int count(int n) { return n > 1 ? n + count(n / 2) : 1; }\n"
                "int main(int n, char **v) { return !v[0] + count(n + 9) * 0; }\n")
    context.make("gcc", "-O1", "-o", "other", "other.c")
    record(context, "other.dwell", "other")
    done = diff(context, *words, status=status)
    require(part in one_line(done.stderr, "error"), f"{part} in {done.stderr}")
    expect(done.stdout, "", "output")
