#!/usr/bin/env python3
"""What running from clones costs: plain runs and dwell instrument --probes=none in turns.

Prints, for each program, the processor time of the program itself (user and system, the collector's
and the making of the image not counted: the image is in the cache), the median of several runs,
and the median of the ratios of neighbouring runs; then what the start of cc1 takes longer, from the
cache and the first time, in wall time, with an empty file to compile.

bench/clone.py --build FOLDER [--rounds 9] [run|start]...
"""
import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

LUA = """
local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
local s, t = 0, {}
for i = 1, 3e7 do s = s + (i % 7) * 2 end
for i = 1, 2e6 do t[#t + 1] = tostring(i):sub(1, 3) end
print(s, #t, fib(31))
"""
LUA_LOOP = "local s = 0 for i = 1, 1e8 do s = s + (i % 7) * 2 end print(s)"
GAWK = """BEGIN { for (i = 0; i < 8000000; i++) { s += i % 7; a[i % 100] += s }
for (i = 0; i < 500000; i++) n += length(substr("abc" i, 2)); print s, n }"""
PERL = """my %h; for my $i (1 .. 4000000) { $h{$i % 1000} += $i; my $x = "a$i";
$h{x}++ if $x =~ /9$/ } print $h{x}, "\\n";"""


def c_source(functions):
    """A file of many functions for a compiler, which needs no include path: cc1 alone has none."""
    lines = ["int printf(const char *, ...);", "unsigned long strlen(const char *);"]
    for i in range(functions):
        lines.append(f"""
static int f{i}(int *a, int n, const char *s) {{
	int sum = {i}, k = (int)strlen(s);
	for (int j = 0; j < n; j++) {{
		switch ((a[j] + k) % 9) {{
		case 0: sum += a[j]; break; case 1: sum ^= k; break; case 2: sum -= j * {i + 1}; break;
		case 3: sum = sum * 31 + a[j]; break; case 5: a[j] = sum; break; case 7: sum += s[j % k]; break;
		default: sum += {"f" + str(i - 1) + "(a, j / 2, s)" if i else "1"};
		}}
	}}
	return sum;
}}""")
    lines.append(f'int main(void) {{ int a[64] = {{ 1 }}; printf("%d\\n", f{functions - 1}(a, 64, "abc")); }}')
    return "\n".join(lines)


def spent(command):
    """Processor seconds of the program that @command ends in, and wall seconds of all."""
    start = time.monotonic()
    run = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    wall = time.monotonic() - start
    if run.returncode:
        sys.exit(f"{command}: status {run.returncode}: {run.stderr}")
    user, system = run.stderr.splitlines()[-1].split()
    return float(user) + float(system), wall


def table(rows):
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        print("  ".join(cell.ljust(widths[0]) if not i else cell.rjust(width)
                        for i, (cell, width) in enumerate(zip(row, widths))))
    print(flush=True)


class Bench:
    def __init__(self, build, rounds, scratch):
        self.rounds, self.scratch = rounds, scratch
        self.dwell = [os.path.join(build, "dwell"), "instrument", "-q", "--probes=none"]
        self.cc1 = subprocess.run(["gcc", "-print-prog-name=cc1"], check=True, text=True,
                                  stdout=subprocess.PIPE).stdout.strip()
        os.environ["XDG_CACHE_HOME"] = self.path("cache")
        with open(self.path("many.c"), "w", encoding="ascii") as file:
            file.write(c_source(250))
        with open(self.path("empty.c"), "w", encoding="ascii") as file:
            file.write("\n")

    def path(self, name):
        return os.path.join(self.scratch, name)

    def timed(self, words, of):
        """@words under a shell's `time`-like wrapper that tells what the program itself used."""
        report = ("import os,resource,subprocess,sys\n"
                  "code = subprocess.run(sys.argv[1:]).returncode\n"
                  "r = resource.getrusage(resource.RUSAGE_CHILDREN)\n"
                  "print(r.ru_utime, r.ru_stime, file=sys.stderr)\nsys.exit(code)")
        return of + [sys.executable, "-c", report] + words

    def run(self):
        programs = {
            "lua5.4": ["lua5.4", "-e", LUA],
            "lua5.4, a loop alone": ["lua5.4", "-e", LUA_LOOP],
            "gawk": ["gawk", GAWK],
            "mawk": ["mawk", GAWK],
            "perl": ["perl", "-e", PERL],
            "cc1 -O2": [self.cc1, "-quiet", "-O2", self.path("many.c"), "-o", "/dev/null"],
        }
        rows = [("program", "plain s", "cloned s", "ratio")]
        for name, words in programs.items():
            plain, cloned = [], []
            spent(self.timed(words, self.dwell + ["--"]))  # makes the image
            for _ in range(self.rounds):
                plain.append(spent(self.timed(words, []))[0])
                cloned.append(spent(self.timed(words, self.dwell + ["--"]))[0])
            ratios = [b / a for a, b in zip(plain, cloned)]
            rows.append((name, *(f"{statistics.median(of):.3f}" for of in (plain, cloned, ratios))))
        table(rows)

    def start(self):
        words = [self.cc1, "-quiet", self.path("empty.c"), "-o", "/dev/null"]
        walls = {"plain": [], "image in the cache": [], "first time": []}
        for _ in range(self.rounds):
            shutil.rmtree(self.path("cache"), ignore_errors=True)
            for name, of in (("plain", []), ("first time", self.dwell + ["--"]),
                             ("image in the cache", self.dwell + ["--"])):
                begin = time.monotonic()
                subprocess.run(of + words, check=True)
                walls[name].append(time.monotonic() - begin)
        rows = [("start of cc1", "wall s", "more than plain s")]
        for name, times in walls.items():
            rows.append((name, f"{min(times):.3f}", f"{min(times) - min(walls['plain']):.3f}"))
        table(rows)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("parts", nargs="*", default=["run", "start"])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="dwell-bench-") as scratch:
        bench = Bench(os.path.abspath(options.build), options.rounds, scratch)
        for part in options.parts or ["run", "start"]:
            {"run": bench.run, "start": bench.start}[part]()


if __name__ == "__main__":
    main()
