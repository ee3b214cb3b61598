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
RATES = (1000, 5000, 10000)
SPINNER_MILLIONS = 1200
# Where whole stacks end; _start itself has no name in stripped programs.
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


def read_perf(output):
    """perf's samples: (n, n cut, exclusive counts by function)."""
    script = subprocess.Popen(["perf", "script", "-i", output, "--no-inline", "-F", "ip,sym"],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                              errors="replace")
    n = cut = 0
    counts, frames = collections.Counter(), []
    for line in script.stdout:
        if line.strip():
            frames.append(line.split(None, 1)[1].strip() if len(line.split()) > 1 else "?")
        elif frames:
            n += 1
            cut += not any(BOTTOM.match(name) for name in frames[-2:])
            counts[plain_name(frames[0])] += 1
            frames = []
    return n, cut, counts


def plain_name(name):
    """A function's name without parameters and versions, as the tools differ in those."""
    name = re.sub(r"@.*| \[clone .*|\.(?:part|cold|isra|constprop)\b.*", "", name)
    depth, end = 0, len(name)
    for i in range(len(name) - 1, -1, -1):
        depth += (name[i] == ")") - (name[i] == "(")
        if depth == 0 and name[i] == "(":
            end = i
            break
    return name[:end] or name


def read_dwell(bench, output):
    report = json.loads(run([bench.dwell, "report", output, "functions", "--format",
                             "json"]).stdout)
    counts = collections.Counter()
    for row in report["rows"]:
        counts[plain_name(row["function_name"])] += row["exclusive_samples"]
    return report["session"], counts


def compare_top(perf_counts, perf_n, dwell_counts, dwell_n):
    """(functions compared, within 3 sigma of two samplings) among perf's top 20 with names."""
    names = [name for name, _ in perf_counts.most_common(40) if name != "[unknown]"][:20]
    near = 0
    for name in names:
        a, b = perf_counts[name] / perf_n, dwell_counts[name] / dwell_n
        both = (perf_counts[name] + dwell_counts[name]) / (perf_n + dwell_n)
        near += abs(a - b) <= 3 * math.sqrt(both * (1 - both) * (1 / perf_n + 1 / dwell_n))
    return len(names), near


def programs(bench):
    make_inputs(bench)
    rows = [["program", "samples", "collector CPU", "perf's", "session", "no code", "perf.data",
             "ratio", "no code", "lost", "cut", "perf's cut", "top 20 near"]]
    for program in PROGRAMS:
        cpu, output = profile(bench, "dwell", program)
        facts, counts = read_dwell(bench, output)
        size = os.path.getsize(output)
        small = os.path.getsize(profile(bench, "dwell --no-code", program)[1])
        perf_cpu, perf_output = profile(bench, "perf", program)
        perf_size = os.path.getsize(perf_output)
        perf_n, perf_cut, perf_counts = read_perf(perf_output)
        os.unlink(perf_output)
        kept = facts["samples_kept"]
        compared, near = compare_top(perf_counts, perf_n, counts, kept)
        rows.append([program, kept, f"{100 * cpu:.1f} %", f"{100 * perf_cpu:.1f} %",
                     f"{size // 1024} KB", f"{small // 1024} KB", f"{perf_size // 1024} KB",
                     f"1/{perf_size // size}", f"1/{perf_size // small}",
                     f"{100 * facts['samples_lost'] / kept:.2f} %",
                     f"{100 * facts['stacks_cut'] / kept:.2f} %",
                     f"{100 * perf_cut / max(perf_n, 1):.1f} %", f"{near} of {compared}"])
        print(f"{program}: done", file=sys.stderr, flush=True)
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
    parser.add_argument("part", nargs="*", choices=[*PARTS, []], default=list(PARTS))
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="dwell-bench-") as scratch:
        bench = Bench(arguments.build, arguments.seconds, scratch)
        for part in arguments.part:
            PARTS[part](bench)


if __name__ == "__main__":
    main()
