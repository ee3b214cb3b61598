"""What dwell says to people who slipped, or who look where there is nothing to see: what is so, and
what to do. Each message is read here."""
import fcntl
import os
import pty
import re
import struct
import termios

from harness import cases, expect, needs, require

CPP = r"""
#include <cstdio>
#include <cstdlib>
namespace shop {
__attribute__((noinline)) int step(int n)
{
	volatile int sum = 0;
	for (int i = 0; i < 4000; i++)
		sum += i ^ n;
	return sum;
}
template <class T> struct Box {
	T t;
	__attribute__((noinline)) T get(T n) { return t + step((int)n); }
};
} // namespace shop
__attribute__((noinline)) int step(int n) { return shop::step(n) + shop::step(n + 1); }
int main(int argc, char **argv)
{
	shop::Box<long> box{3};
	long sum = 0;
	for (int i = 0; i < (argc > 1 ? atoi(argv[1]) : 20000); i++)
		sum += box.get(i) + step(i);
	printf("%ld\n", sum);
}
"""


def program(context):
    source = context.path("shop.cc")
    with open(source, "w") as f:
        f.write(CPP)
    context.make("g++", "-O1", "-g", "-o", context.path("shop"), source)
    return context.path("shop")


def sampled(context, *words):
    """A session of samples, run.dwell."""
    context.sample(*words, program(context))


def counted(context):
    """A session of calls, run.dwell."""
    context.instrument(program(context), "100")


def said(context, status, *command):
    """What dwell writes to standard error."""
    done = context.run(context.dwell, *command)
    expect(done.returncode, status, f"status of {command}: {done.stderr}")
    return done.stderr


def expect_said(context, wanted, status, *command):
    text = said(context, status, *command)
    require(wanted in text, f"{command}: {text!r} lacks {wanted!r}")
    return text


def test_commands(context):
    text = expect_said(context, "unknown command 'rereport' (did you mean dwell report?); there is", 2,
                       "rereport")
    require(" doctor, help, version\n" in text, text)
    expect_said(context, "unknown command 'xyz'; there is", 2, "xyz")
    expect_said(context, "(did you mean dwell sample?)", 2, "help", "ssample")
    expect_said(context, "unknown command 'functions', which is a view: dwell report FILE functions; there is", 2,
                "functions", "run.dwell")
    expect_said(context, "no view: dwell report FILE VIEW shows one", 2, "run.dwell", "functions")
    expect_said(context, "which session?", 2, "read")


def test_version(context):
    long, short = (context.run(context.dwell, word) for word in ("--version", "version"))
    expect((long.returncode, short.returncode, short.stdout), (0, 0, long.stdout), "versions")
    require(short.stdout.startswith("dwell "), short.stdout)
    require("  version " in context.run(context.dwell, "help").stdout, "help names version")


def test_options(context):
    expect_said(context, "unknown option '--srot' (did you mean --sort?)", 2, "report", "x", "--srot")
    expect_said(context, "unknown option '--quite' (did you mean --quiet?)", 125, "sample", "--quite")
    # Hidden ones, as --road, --to and --nodes, are no advice.
    for command, option, hidden in (("sample", "--raod", "road"), ("report", "--too", "to"),
                                    ("export", "--ot", "to"), ("instrument", "--noeds", "nodes")):
        text = said(context, 125 if command in ("sample", "instrument") else 2, command, option)
        require(f"mean --{hidden}?" not in text, text)


def test_views_and_formats(context):
    text = expect_said(context, "unknown view 'func' (did you mean functions?); there are summary", 2,
                       "report", "x.dwell", "func")
    require("lines" in text, text)
    expect_said(context, "unknown format 'jason' (did you mean json?); there are table csv json xml", 2,
                "report", "x.dwell", "--format", "jason")
    expect_said(context, "unknown format 'callgrid' (did you mean callgrind?); there are html pprof", 2,
                "export", "x.dwell", "--format", "callgrid")
    expect_said(context, "which --format? there are html pprof", 2, "export", "x.dwell")


def test_attach_to_instrument(context):
    for words in (("-p", "17"), ("--pid=17",)):
        text = expect_said(context, "dwell sample -p 17", 125, "instrument", *words)
        require("measured from a program's start on" in text, text)
    require("--pid" not in context.run(context.dwell, "help", "instrument").stdout, "it is hidden")


def test_columns(context):
    sampled(context)
    by_key = context.run(context.dwell, "report", "run.dwell", "functions", "--sort",
                         "exclusive_samples_percent", "--columns", "function_name,inclusive_cpu_time")
    expect(by_key.returncode, 0, by_key.stderr)
    for sort, columns in (("Excl %", "Function Name,CPU Incl"), ("excl%", "function name,cpu_incl")):
        done = context.run(context.dwell, "report", "run.dwell", "functions", "--sort", sort,
                           "--columns", columns)
        expect((done.returncode, done.stdout), (0, by_key.stdout), f"by {sort} with {columns}")
    text = expect_said(context, "unknown column 'functoin_name' (did you mean function_name?); there are ",
                       2, "report", "run.dwell", "functions", "--columns", "functoin_name")
    require(" exclusive_samples " in text and " exclusive_cpu_time" in text, text)


def test_columns_of_calls(context):
    counted(context)
    header = context.run(context.dwell, "report", "run.dwell", "functions").stdout.split("\n")[0]
    for heading in "Elapsed Incl", "EI %", "App Excl", "Calls":
        require(heading in header, f"{heading} in {header}")
        done = context.run(context.dwell, "report", "run.dwell", "functions", "--sort", heading,
                           "--columns", heading)
        expect(done.returncode, 0, f"{heading}: {done.stderr}")
    done = context.run(context.dwell, "report", "run.dwell", "threads", "--sort", "Blocked")
    expect(done.returncode, 0, done.stderr)


def test_functions(context):
    sampled(context)
    names = {}
    for name in "step", "shop::step", "get", "main":
        done = context.run(context.dwell, "report", "run.dwell", "callers", name, "--format", "csv")
        expect(done.returncode, 0, f"{name}: {done.stderr}")
        names[name] = done.stdout
    require("step(int)" in names["step"] and names["step"] != names["shop::step"],
            "step and shop::step are two functions")
    text = expect_said(context, "no function 'setp' in this session (did you mean", 1, "report",
                       "run.dwell", "callers", "setp")
    require("step?" in text, text)
    expect_said(context, "no process 'shp' in this session (did you mean", 1, "report", "run.dwell",
                "--process", "shp")
    expect_said(context, "no thread 'shpo' in this session (did you mean shop?)", 1, "report", "run.dwell",
                "--thread", "shpo")
    expect_said(context, "no module 'shpo' in this session (did you mean shop?)", 1, "report", "run.dwell",
                "--module", "shpo")


def test_ranges(context):
    sampled(context)
    rows = [context.run(context.dwell, "report", "run.dwell", "functions", "--format", "csv", *words)
            for words in (("--until", "50ms"), ("--to", "50ms"))]
    expect((rows[0].returncode, rows[0].stdout), (0, rows[1].stdout), "--to is --until")
    require("--to " not in context.run(context.dwell, "help", "report").stdout, "--to is hidden")
    folded = [context.run(context.dwell, "export", "run.dwell", option, "folded", "--until", "50ms")
              for option in ("--format", "-f", "--to", "-t")]
    require(all(done.returncode == 0 and done.stdout == folded[0].stdout for done in folded),
            "--to is --format")
    expect_said(context, "--until must be later than --from", 2, "report", "run.dwell", "--from", "2",
                "--until", "1")
    for command in (("report", "run.dwell", "functions"), ("export", "run.dwell", "-f", "folded")):
        expect_said(context, "nothing to show: the recording ended at", 0,
                    *command, "--from", "1000")
        expect_said(context, "choose another --from and --until", 0, *command, "--until", "1ns")


def test_filters_that_leave_nothing(context):
    sampled(context)
    idle = [row["module_name"] for row in context.report("modules")["rows"]
            if row["level"] == 0 and row["exclusive_samples"] == 0]
    for name in idle[:1]:
        expect_said(context, "nothing to show: there are no samples of what --process, --thread, --module and --type "
                    "choose", 0, "report", "run.dwell", "functions", "--module", name)


def test_functions_without_probes(context):
    counted(context)
    text = expect_said(context, "what has no probes is a part of its callers: inlined functions", 1,
                       "report", "run.dwell", "callers", "no_such_function")
    require("no function 'no_such_function' in this session\n" in text, text)


def test_short_functions_without_probes(context):
    source = context.path("short.c")
    with open(source, "w") as f:
        f.write("__attribute__((noipa)) int tiny(int n) { return n + 1; }\n"
                "__attribute__((noipa)) int work(int n) { for (int i = 0; i < 9; i++) n += tiny(i); "
                "return n; }\n"
                "int main(int argc, char **argv) { (void)argv; return work(argc) < 0; }\n")
    context.make("gcc", "-O1", "-o", context.path("short"), source)
    context.instrument(context.path("short"))
    expect_said(context, "1 short ones (record with --all-functions)", 1, "report", "run.dwell",
                "callers", "tiny")


def test_memory_without_dotnet(context):
    done = context.run(context.dwell, "memory", "-o", "run.dwell", "--", "true")
    for text in done.stderr, context.run(context.dwell, "report", "run.dwell").stdout:
        require("No .NET code ran that dwell knows of" in text and "dwell instrument show" in text, text)


@needs("perf events")
def test_few_events(context):
    done = context.run(context.dwell, "sample", "-e", "page-faults", "-o", "run.dwell", "--", "true")
    require("one for each of the program's page-faults: there were no more." in done.stderr,
            done.stderr)
    done = context.run(context.dwell, "sample", "-e", "page-faults", "-c", "20", "-o", "run.dwell",
                       "--", "true")
    require("too few to trust the percentages; run longer or with a lower --period." in done.stderr or
            "No sample was taken; run longer or with a lower --period." in done.stderr, done.stderr)


def test_names_that_are_missing(context):
    shop = program(context)
    context.make("strip", shop)
    context.sample(shop)
    text = context.run(context.dwell, "report", "run.dwell").stdout
    require("% is code of shop without names: no symbols; --debuginfod may have them." in text, text)


def test_units(context):
    """One unit for each column of a table, which fits its largest cell; machines get nanoseconds."""
    sampled(context)
    lines = context.run(context.dwell, "report", "run.dwell", "functions", "--all-code", "--columns",
                        "exclusive_samples,exclusive_cpu_time").stdout.split("\n")
    cells = [line.split() for line in lines[1:] if line and line[0] != "("]
    period = 1000000000 // context.report("functions")["session"]["frequency_hz"]
    unit = cells[0][1].lstrip("0123456789.")
    scale = {"ms": 1e6, "s": 1e9}[unit]
    for samples, time in cells:
        want = int(samples) * period
        require(time == "0" if not want else time.endswith(unit), f"{time} of {samples}")
        got = float(time.removesuffix(unit) or 0) * scale
        require(abs(got - want) <= 1e6, f"{time} for {samples} samples")
    require("exclusive_cpu_time" not in context.report("functions")["rows"][0], "only when asked for")


def test_lines_are_rows(context):
    """A line of two statements is one row, where no column tells these apart."""
    source = context.path("pair.c")
    with open(source, "w") as f:
        f.write("#include <stdio.h>\n__attribute__((noipa)) int work(int n) { return puts(n > 1 ? \"b\" : \"a\"); }\n"
                "int main(int argc, char **argv) { (void)argv; return work(argc) + work(argc + 1) < 0; }\n")
    context.make("gcc", "-O1", "-g", "-o", context.path("pair"), source)
    context.instrument(context.path("pair"))
    split = [row for row in context.report("lines", "main")["rows"] if row["number_of_calls"]]
    expect([(row["source_line_begin"], row["number_of_calls"]) for row in split], [(3, 1), (3, 1)], "statements")
    require(split[0]["source_character_begin"] != split[1]["source_character_begin"], split)
    for columns in "source_line_begin,number_of_calls", "Line,Calls":
        rows = context.report("lines", "main", "--columns", columns)["rows"]
        expect(rows, [{"source_line_begin": 3, "number_of_calls": 2}], "lines")
    for view, wanted in (("lines", "main"), ("function", "main")):
        text = context.run(context.dwell, "report", "run.dwell", view, wanted).stdout
        expect(len(re.findall(r"^ *2 .* 3$|^line +2 .* line 3$", text, re.M)), 1, text)


def test_function_details(context):
    """One view has the callers, the function, its lines and its callees, and all measures."""
    counted(context)
    callers = context.report("callers", "shop::step")["rows"]
    rows = context.report("function", "shop::step")["rows"]
    wanted = [(row["type"], row["function_name"], row["number_of_calls"]) for row in callers]
    expect([(row["type"], row["function_name"], row["number_of_calls"]) for row in rows
            if row["type"] != 3], wanted, "callers, itself and callees")
    rows = context.report("function", "main")["rows"]
    lines = [row for row in rows if row["type"] == 3]
    expect([row["line_name"] for row in lines],
           [row["line_name"] for row in context.report("lines", "main")["rows"]], "its lines")
    text = context.run(context.dwell, "report", "run.dwell", "function", "main").stdout
    for wanted in "current ", "callee ", "line ", "  in shop, ", "shop.cc:", "Avg Elapsed Exclusive Time", \
            "Context Switches":
        require(wanted in text, f"{wanted} in {text}")
    expect_said(context, "the view function needs a function", 2, "report", "run.dwell", "function")


def test_function_details_of_many_threads(context):
    """Threads that have most come first, and of many not all are told in every measure."""
    source = context.path("many.c")
    with open(source, "w") as f:
        f.write("#include <pthread.h>\n#include <unistd.h>\n"
                "__attribute__((noipa)) void rest(long n) { usleep((useconds_t)(1000 + n * 2000)); }\n"
                "static void *run(void *n) { rest((long)n); return 0; }\n"
                "int main(void) { pthread_t t[20]; for (long i = 0; i < 20; i++) pthread_create(t + i, 0, run, (void *)i);"
                " for (int i = 0; i < 20; i++) pthread_join(t[i], 0); }\n")
    context.make("gcc", "-O1", "-g", "-pthread", "-o", context.path("many"), source)
    context.instrument(context.path("many"))
    # Waits for a processor count here, too: a busy machine adds them.
    rows = context.report("function", "rest", "--by", "thread", "--waits", "all")["rows"]
    blocks = [row for row in rows if row["type"] == 0]
    times = [row["elapsed_inclusive_time"] for row in blocks]
    expect((len(times), times), (20, sorted(times, reverse=True)), "threads")
    for at, row in enumerate(rows):
        if row["type"] == 0:
            expect([(r["type"], r["thread_id"]) for r in rows[at - 1:at + 3]],
                   [(kind, row["thread_id"]) for kind in (1, 0, 3, 2)], "a block")
    text = context.run(context.dwell, "report", "run.dwell", "function", "rest", "--by", "thread").stdout
    expect(text.count("Avg Elapsed Inclusive Time"), 8, "threads with all measures")
    require("(all measures of 12 more: --process and --thread choose" in text, text)


def on_terminal(context, width, *words):
    """The lines that dwell writes to a terminal of so many columns."""
    ours, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
    process = context.start(context.dwell, *words, stdout=terminal,
                            env={**context.env, "PAGER": "cat", "NO_COLOR": "1", "TERM": "xterm"})
    os.close(terminal)
    text = b""
    try:
        while True:
            text += os.read(ours, 65536)
    except OSError:  # nobody writes any more
        pass
    os.close(ours)
    expect((process.communicate()[1], process.returncode), ("", 0), "errors and status")
    return text.decode().replace("\r\n", "\n").split("\n")


def test_narrow_terminals(context):
    """Numbers of samples give way to times, shares of waits to names, and own names stay."""
    sampled(context, "--off-cpu")
    for width in 80, 160:
        lines = on_terminal(context, width, "report", "run.dwell", "functions")
        require(all(len(line) <= width for line in lines), "\n".join(lines))
        expect(("CPU Excl" in lines[0], "  Exclusive" in lines[0]), (True, width > 80), lines[0])
        require(any("Box<…>::get" in line or "Box<long>::get" in line for line in lines),
                "\n".join(lines))


def test_sentences_fit_the_terminal(context):
    """What a summary says goes on in the next line, and long names are shortened in it, too."""
    source = context.path("wait.cc")
    with open(source, "w") as f:
        f.write("#include <map>\n#include <string>\n#include <unistd.h>\ntemplate <class T> struct Patience {\n"
                "\t__attribute__((noinline)) void wait_for_a_long_while(T t)\n"
                "\t{ for (int i = 0; i < 20; i++) usleep(5000 + (unsigned)t.size()); }\n};\n"
                "int main() { Patience<std::map<std::string, std::map<std::string, int>>> p; "
                "p.wait_for_a_long_while({}); }\n")
    context.make("g++", "-O1", "-o", context.path("wait"), source)
    context.instrument(context.path("wait"))
    whole = " ".join(" ".join(on_terminal(context, 120, "report", "run.dwell", "--details")).split())
    for width in 80, 60:
        lines = on_terminal(context, width, "report", "run.dwell", "--details")
        expect([line for line in lines if len(line) > width and not re.match(r" +[\d.]+ %  ", line)], [], f"wider than {width}")
        text = " ".join(" ".join(lines).split())
        require("off-CPU in sleep, most in Patience<…>::wait_for_a_long_while" in text, text)
        for sentence in "Where code waits for memory, probes shift shares: some waits get longer, others hide.", \
                "of the program's time is in ", "dwell sample is the judge there.":
            expect(sentence in text, sentence in whole, f"{sentence} in {text}")


def test_narrow_terminals_keep_what_tells_most(context):
    """How long collections took, and what a slow call waited for, before what is zero or said beside it."""
    maker = os.path.join(context.targets, "../golden/golden-session")
    for name in "memory", "calls":
        expect(context.run(maker, name, f"{name}.dwell").returncode, 0, "status of golden-session")
    gc = on_terminal(context, 80, "report", "memory.dwell", "gc")
    require(re.match(r"GC +Gen +Begin Time +Pause ", gc[0]), gc[0])
    slowest = on_terminal(context, 80, "report", "calls.dwell", "slowest")
    require(re.search(r" I/O +Switched +(.* )?Function Name +Deepest Call$", slowest[0]) and
            "Blocking" not in slowest[0], slowest)


@cases("plain", "calls", "memory")
def test_no_row_is_wider_than_the_terminal(context, name):
    """Whatever has no room is left out, but what rows are sorted by."""
    maker = os.path.join(context.targets, "../golden/golden-session")
    expect(context.run(maker, name, f"{name}.dwell").returncode, 0, "status of golden-session")
    views = {"plain": ("instructions",), "calls": ("slowest",), "memory": ("allocations", "lifetime", "gc")}[name]
    function = "App.Tree.Make(int)" if name == "memory" else "main"
    for view in ("functions", "calltree", "modules", "lines", "processes", "threads", "callers F", "function F", *views):
        words = [function if word == "F" else word for word in view.split()]
        for width in (100, 80, 60):
            for by in ((), ("--by", "process"), ("--by", "thread")):
                if by and view in ("processes", "threads", "slowest", "gc"):
                    continue
                lines = on_terminal(context, width, "report", f"{name}.dwell", *words, *by)
                wide = [line for line in lines if len(line) > width and line[:1] != "("]
                expect(wide, [], f"rows of {view} {by} wider than {width}")
                require(len(lines) > 2, lines)


def test_programs(context):
    """The summary of several programs says how much each did, all processes of a name together."""
    slow, fast = context.target("waits-O2"), context.target("waits-O0")
    sampled = f"{slow} spin 4; {fast} spin 1; {slow} spin 2; true"
    context.sample("--", "sh", "-c", sampled, session="programs.dwell")
    lines = context.run(context.dwell, "report", "programs.dwell").stdout.split("\n")
    told, = (line for line in lines if line.startswith("  By program: "))
    shares = {name: float(share) for name, share in re.findall(r"(\S+) (\d+) %", told)}
    require(set(shares) >= {"waits-O2", "waits-O0"} and sum(shares.values()) <= 100.1, f"programs: {shares}")
    require(shares["waits-O2"] > 2 * shares["waits-O0"] > 0, f"shares: {shares}")
    require(re.search(r"waits-O2 \d+ % in 2 processes", told), "processes of one program")


def test_commands(context):
    """Where one program did it all the summary says what it was asked to do."""
    for name, kb in ("large.txt", 24 << 10), ("small.txt", 6 << 10):
        with open(context.path(name), "wb") as f:
            f.write(os.urandom(kb << 10))
    # The shell does something, too, or it would be one program that did all.
    work = "i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done"
    context.sample("--", "sh", "-c", f"{work}; gzip large.txt; gzip small.txt; true", session="commands.dwell")
    lines = context.run(context.dwell, "report", "commands.dwell").stdout.split("\n")
    programs, commands = (next(line for line in lines if line.startswith(f"  By {what}: "))
                          for what in ("program", "command"))
    shares = {name: float(share) for name, share in re.findall(r"gzip (\w+).txt (\d+) %", commands)}
    require(set(shares) == {"large", "small"} and shares["large"] > 2 * shares["small"] > 0, commands)
    (all_of_it,) = re.findall(r"gzip (\d+) % in 2 processes", programs)
    require(abs(sum(shares.values()) - float(all_of_it)) <= 1, f"{programs}, {commands}")


@cases("sample", "instrument")
def test_first_screen(context, method):
    """The summary of a program with work and waits is one screen, shares are of the work that is told, and
    the same as of all its rows; details come when they are asked for, and say more."""
    done = context.run(context.dwell, method, "-o", "run.dwell", "--", context.target("waits-O2"),
                       "spin,sleep,pipe", "1")
    require("Where the time went" in done.stderr, done.stderr)
    lines = on_terminal(context, 80, "report", "run.dwell")
    busy = any(line.startswith("  No processor was free") for line in lines)
    require(len(lines[:-1]) <= 24 + busy, lines)
    expect([line for line in lines if len(line) > 80], [], "wide lines")
    at, = (i for i, line in enumerate(lines) if line.startswith("Where the time went"))
    shares = [float(re.match(r" +([\d.]+) % ", line)[1]) for line in lines[at + 1:lines.index("", at)]
              if "%" in line]
    require(99 < sum(shares) < 100.1 and len(shares) > 2, f"shares: {lines}")
    for kind in "in sleep", "for pipes":
        require(any(f" {kind}, most in " in line for line in lines[at:]), f"waits {kind}: {lines}")
    path = [line for line in lines[lines.index("", at):] if re.match(r" +\d+\.\d\d % +[^█▒░· ]", line)]
    require(0 < len(path) <= 5, f"hot path: {lines}")
    details = on_terminal(context, 80, "report", "run.dwell", "--details")
    require(set(line for line in lines if not line.startswith("Next")) <= set(details)
            and len(details) > len(lines) - (method == "sample"), details)
    expect("How far to trust this" in details, method == "instrument", "trust")
    for words in ("functions", "--details"), ("--details", "-f", "json"):
        expect_said(context, "--details is for the view summary, as a table", 2, "report", "run.dwell", *words)
