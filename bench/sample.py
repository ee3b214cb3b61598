#!/usr/bin/env python3
"""dwell sample against perf record --call-graph dwarf, side by side on this machine.

Prints: the cost of a sample to the program (slope of its CPU time over the rate); for real programs
the collector's CPU, the sizes of the files, the stacks that were cut, and how far perf's top
functions are from dwell's; and the samples lost at small mlock limits. Both tools sample
cpu-clock:u and run in turns.

bench/sample.py --build FOLDER [--seconds 30] [cost|programs|lost]...
"""
import argparse
import collections
import json
import math
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROUNDS = 5
PROGRAM_ROUNDS = 2  # of each program under each tool, in turns
RATES = (1000, 5000, 10000)
SPINNER_MILLIONS = 1200
# Where whole stacks end; _start itself has no name in stripped programs.
FRAME = re.compile(r"\s+([0-9a-f]+) (.*) \((.*)\)$")
BOTTOM = re.compile(r"_start$|__libc_start_(main|call_main)|_*clone3?$|start_thread|_dl_start")

# {n} is a number of seconds to repeat for, {d} the scratch folder.
PROGRAMS = {
    "cc1plus": "g++ -O2 -S -o /dev/null {d}/large.cpp",
    "clang": "clang++ -O2 -S -o /dev/null {d}/large.cpp",
    "python": "python3 {d}/work.py",
    "xz (2 threads)": "xz -T2 -6 -k -c {d}/blob",
    "sqlite3": "sqlite3 :memory: '.read {d}/work.sql'",
}


class Bench:
    def __init__(self, build, seconds, scratch):
        self.dwell = os.path.join(build, "dwell")
        self.seconds, self.scratch = seconds, scratch
        self.spinner = self.path("spinner")
        subprocess.run(["gcc", "-O2", "-g", "-Wno-infinite-recursion", "-o", self.spinner,
                        os.path.join(HERE, "spinner.c")], check=True)
        os.environ["XDG_CACHE_HOME"] = self.path("cache")

    def path(self, name):
        return os.path.join(self.scratch, name)

    def command(self, tool, output, rate=1000):
        """The words that put a tool before a command."""
        return {
            "plain": [],
            "dwell": [self.dwell, "sample", "-q", "-F", str(rate), "-o", output],
            "dwell --no-code": [self.dwell, "sample", "-q", "--no-code", "-F", str(rate), "-o",
                                output],
            "perf": ["perf", "record", "-q", "-F", str(rate), "-e", "cpu-clock:u", "--call-graph",
                     "dwarf", "-o", output, "--"],
        }[tool]


def run(command, **options):
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, **options)


def table(rows):
    """Print rows of cells in columns, the first row is the head."""
    widths = [max(len(str(row[i])) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        print("  ".join(str(cell).ljust(width) if not i else str(cell).rjust(width)
                        for i, (cell, width) in enumerate(zip(row, widths))))
    print(flush=True)


def slope_us(points):
    """Least squares through (samples, ns of CPU): microseconds for each sample."""
    n = len(points)
    mean_x = sum(x for x, _ in points) / n
    mean_y = sum(y for _, y in points) / n
    return (sum((x - mean_x) * (y - mean_y) for x, y in points) /
            sum((x - mean_x) ** 2 for x, _ in points) / 1000)


def cost(bench):
    """What a sample takes from the program."""
    points = collections.defaultdict(list)
    for _ in range(ROUNDS):
        for rate in RATES:
            for tool in ("dwell", "perf"):
                words = bench.command(tool, bench.path("cost." + tool), rate)
                ns = int(run([*words, bench.spinner, str(SPINNER_MILLIONS)]).stdout)
                points[tool, rate].append(ns)
    rows = [["cost to the program"] + [f"{rate} Hz, s" for rate in RATES] + ["us a sample"]]
    for tool in ("dwell", "perf"):
        best = [min(points[tool, rate]) for rate in RATES]
        fit = [(rate * ns / 1e9, ns) for rate, ns in zip(RATES, best)]
        rows.append([tool] + [f"{ns / 1e9:.3f}" for ns in best] + [f"{slope_us(fit):.1f}"])
    table(rows)


def make_inputs(bench):
    """Inputs of the programs; all made here, from nothing that a machine may lack."""
    with open(bench.path("large.cpp"), "w") as f:
        f.write("#include <map>\n#include <regex>\n#include <string>\n#include <vector>\n")
        for i in range(12):
            f.write(f"struct k{i} {{ int a; bool operator<(const k{i} &o) const {{ return a < o.a; "
                    f"}} }};\nint f{i}(const std::string &s) {{ std::map<k{i}, std::vector<"
                    f"std::string>> m; std::regex r(\"a{i}.*(b|c)+\"); m[k{i}{{{i}}}].push_back(s);"
                    f" return std::regex_match(s, r) + (int)m.size(); }}\n")
    with open(bench.path("work.py"), "w") as f:
        f.write("import json, re\nwords = [f'word{i % 977}-{i}' for i in range(200000)]\n"
                "for n in range(4):\n    count = {}\n    for w in words:\n"
                "        k = re.sub('[0-9]+', '', w)\n        count[k] = count.get(k, 0) + len(w)\n"
                "    words = json.loads(json.dumps(sorted(words, key=lambda w: w[::-1])))\n")
    with open(bench.path("work.sql"), "w") as f:
        f.write("create table t(a, b, c); with recursive n(i) as (select 1 union all select i + 1 "
                "from n where i < 600000) insert into t select i, 'name ' || (i * 7919 % 10007), "
                "i % 101 from n; create index x on t(b);\n"
                "select count(*) from (select b, sum(a), group_concat(c) from t group by b);\n"
                "select count(*) from t where b like '%77%';\n"
                "select sum(length(upper(b))) from t order by b desc;\n")
    state, blob = 1, bytearray()
    while len(blob) < 12_000_000:
        state = (state * 6364136223846793005 + 1442695040888963407) % 2 ** 64
        blob += (b"%d lines of %x\n" % (state >> 54, state >> 40)) * (1 + (state >> 60))
    with open(bench.path("blob"), "wb") as f:
        f.write(blob)


def cpu_seconds(usage):
    return usage.ru_utime + usage.ru_stime


def profile(bench, tool, program):
    """Run a program again and again under a tool. (collector's CPU / wall, file)."""
    output, times = bench.path("out." + tool.split()[0]), bench.path("times")
    body = PROGRAMS[program].format(d=bench.scratch)
    script = (f"TIMEFORMAT='%R %U %S'; {{ time while [ $SECONDS -lt {bench.seconds} ]; do {body} "
              f">/dev/null 2>&1; done; }} 2>'{times}'")
    for path in (output, output + ".partial"):
        if os.path.exists(path):
            os.unlink(path)
    before = cpu_seconds(resource.getrusage(resource.RUSAGE_CHILDREN))
    subprocess.run([*bench.command(tool, output), "bash", "-c", script], check=True,
                   stderr=subprocess.DEVNULL)
    whole = cpu_seconds(resource.getrusage(resource.RUSAGE_CHILDREN)) - before
    with open(times) as f:
        wall, user, system = map(float, f.read().split())
    return (whole - user - system) / wall, output


def segments(path, cache={}):
    """Loadable segments of an ELF file as (offset, bytes, address)."""
    if path not in cache:
        lines = subprocess.run(["readelf", "-lW", path], stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, text=True).stdout.splitlines()
        words = [line.split() for line in lines if line.strip().startswith("LOAD")]
        cache[path] = [(int(w[1], 16), int(w[4], 16), int(w[2], 16)) for w in words]
    return cache[path]


def address_of(path, offset):
    """The address, in the file's terms, of code at an offset of the file, None when none is."""
    for start, length, address in segments(path):
        if start <= offset < start + length:
            return offset - start + address
    return None


def read_perf(output):
    """perf's samples: (n, n cut, {(file, name): [addresses of exclusive samples]})."""
    script = subprocess.Popen(["perf", "script", "-i", output, "--no-inline", "-F",
                               "pid,ip,sym,dso"],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                              errors="replace")
    n = cut = 0
    functions, frames = collections.defaultdict(list), []
    for line in script.stdout:
        match = FRAME.match(line)
        if match:
            frames.append(match.groups())
        elif frames:
            n += 1
            cut += not any(BOTTOM.match(name) for _, name, _ in frames[-2:])
            offset, name, path = frames[0]
            address = address_of(path, int(offset, 16)) if path.startswith("/") else None
            if address is not None:
                functions[os.path.realpath(path), name].append(address)
            frames = []
    return n, cut, functions


def read_dwell(bench, output):
    """dwell's (facts, {file: {address: exclusive samples}})."""
    report = json.loads(run([bench.dwell, "report", output, "instructions", "--format",
                             "json"]).stdout)
    counts = collections.defaultdict(collections.Counter)
    for row in report["rows"]:
        if row["module_path"] and row["exclusive_samples"]:
            path = os.path.realpath(row["module_path"])
            counts[path][int(row["instruction_address"], 16)] += row["exclusive_samples"]
    return report["session"], counts


def compare_top(functions, perf_n, counts, dwell_n):
    """
    (functions compared, within 3 sigma of two samplings, the worst) among perf's top 20 with a
    name. A function is the range of addresses at which perf saw it, whatever each tool calls it.
    """
    ranked = sorted(((len(at), file, name, min(at), max(at)) for (file, name), at in
                     functions.items() if name != "[unknown]"), reverse=True)[:20]
    near, worst = 0, (0.0, "")
    for perf_count, file, name, low, high in ranked:
        dwell_count = sum(n for at, n in counts[file].items() if low <= at <= high)
        both = (perf_count + dwell_count) / (perf_n + dwell_n)
        sigma = math.sqrt(both * (1 - both) * (1 / perf_n + 1 / dwell_n))
        off = (dwell_count / dwell_n - perf_count / perf_n) / sigma
        near += abs(off) <= 3
        worst = max(worst, (abs(off), f"{name} {100 * perf_count / perf_n:.2f} % against "
                                      f"{100 * dwell_count / dwell_n:.2f} %"))
    return len(ranked), near, worst


class Outcome:
    """What the rounds of one program under one tool add up to."""

    def __init__(self):
        self.cpu, self.size, self.n, self.lost, self.cut = [], [], 0, 0, 0
        self.counts = collections.defaultdict(collections.Counter)  # dwell: file, address
        self.functions = collections.defaultdict(list)  # perf: addresses of (file, name)

    def take_dwell(self, facts, counts):
        self.n += facts["samples_kept"]
        self.lost += facts["samples_lost"]
        self.cut += facts["stacks_cut"]
        for file, at in counts.items():
            self.counts[file].update(at)

    def take_perf(self, n, cut, functions):
        self.n += n
        self.cut += cut
        for key, addresses in functions.items():
            self.functions[key] += addresses


def one_round(bench, program, tool, outcome):
    cpu, output = profile(bench, tool, program)
    outcome.cpu.append(cpu)
    outcome.size.append(os.path.getsize(output))
    if tool == "dwell":
        outcome.take_dwell(*read_dwell(bench, output))
    elif tool == "perf":
        outcome.take_perf(*read_perf(output))
    os.unlink(output)


def percent(part, whole, digits=2):
    return f"{100 * part / max(whole, 1):.{digits}f} %"


def programs(bench):
    make_inputs(bench)
    rows = [["program", "samples", "collector CPU", "perf's", "session", "no code", "perf.data",
             "ratio", "no code", "lost", "cut", "perf's cut", "top 20 near"]]
    for program in PROGRAMS:
        dwell, small, perf = Outcome(), Outcome(), Outcome()
        for _ in range(PROGRAM_ROUNDS):
            one_round(bench, program, "dwell", dwell)
            one_round(bench, program, "perf", perf)
            one_round(bench, program, "dwell --no-code", small)
        compared, near, worst = compare_top(perf.functions, perf.n, dwell.counts, dwell.n)
        size, bare, data = (sum(o.size) / len(o.size) for o in (dwell, small, perf))
        rows.append([program, dwell.n, percent(sum(dwell.cpu), len(dwell.cpu), 1),
                     percent(sum(perf.cpu), len(perf.cpu), 1), f"{size / 1024:.0f} KB",
                     f"{bare / 1024:.0f} KB", f"{data / 1024:.0f} KB", f"1/{data // size:.0f}",
                     f"1/{data // bare:.0f}", percent(dwell.lost, dwell.n),
                     percent(dwell.cut, dwell.n), percent(perf.cut, perf.n, 1),
                     f"{near} of {compared}"])
        print(f"{program}: furthest of the top 20: {worst[0]:.1f} sigma, {worst[1]}", flush=True)
    table(rows)


def lost(bench):
    """Samples lost with 8 busy processes, as an ordinary user at small mlock limits."""
    os.chmod(bench.scratch, 0o777)
    dwell = shutil.copy(bench.dwell, bench.path("dwell"))
    user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    user = user if os.geteuid() == 0 else []
    script = "for i in 1 2 3 4 5 6 7 8; do \"$0\" 400 80 >/dev/null & done; wait"
    rows = [["8 busy processes", "samples", "lost", "lost %"]]
    for limit_kb in (8192, 64):
        output = bench.path(f"lost-{limit_kb}.dwell")
        run(["bash", "-c", f"ulimit -l {limit_kb}; exec \"$@\"", "bash", *user, dwell, "sample",
             "-q", "-o", output, "--", "bash", "-c", script, bench.spinner])
        facts, _ = read_dwell(bench, output)
        gone, kept = facts["samples_lost"], facts["samples_kept"]
        rows.append([f"mlock limit {limit_kb} KB", kept, gone,
                     f"{100 * gone / (kept + gone):.3f} %"])
    table(rows)


PARTS = {"cost": cost, "programs": programs, "lost": lost}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", required=True, type=os.path.abspath)
    parser.add_argument("--seconds", type=int, default=30)
    parser.add_argument("part", nargs="*", default=list(PARTS))
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="dwell-bench-") as scratch:
        bench = Bench(arguments.build, arguments.seconds, scratch)
        for part in arguments.part:
            PARTS[part](bench)


if __name__ == "__main__":
    main()
