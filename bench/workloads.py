"""The programs that bench/instrument.py measures, and what they work on.

Every input is made here, the same each time: no network, nothing random. They are kept in a folder named
after the text of this file, so that a change makes them anew.
"""
import fnmatch
import glob
import hashlib
import os
import shutil
import subprocess
import sys
from typing import NamedTuple

import clone

# Where inputs are kept, unless the user chooses: other users must reach it, since PostgreSQL refuses root.
FOLDER = f"/var/tmp/dwell-bench-{os.geteuid()}"
NOBODY = 65534

REGEX = r"""
#include <iostream>
#include <map>
#include <regex>
#include <string>

int main(int argc, char **argv)
{
	std::regex word(argc > 1 ? argv[1] : "([a-z]+)([0-9]*)");
	std::regex other("^(a|b)*c{2,5}[^x-z]$", std::regex::icase);
	std::map<std::string, int> seen;
	std::string line;

	while (std::getline(std::cin, line)) {
		for (std::sregex_iterator i(line.begin(), line.end(), word), end; i != end; ++i)
			seen[(*i)[1]]++;
		if (std::regex_match(line, other))
			std::cout << std::regex_replace(line, word, "$2-$1") << '\n';
	}
	for (const auto &one : seen)
		std::cout << one.first << ' ' << one.second << '\n';
}
"""
PYTHON = """
import json, re
words = ["w%d" % (i * 7919 % 10007) for i in range(120000)]
count, total = {}, 0
for word in words: count[word] = count.get(word, 0) + 1
class Shape:
    def __init__(self, n): self.n = n
    def area(self): return self.n * self.n % 97
for i in range(1500000): total += Shape(i).area()
words.sort(key=lambda word: (len(word), word))
text = " ".join(words)
for i in range(10): total += len(json.loads(json.dumps(count))) + len(re.findall(r"w(\\d)\\d*3\\b", text))
print(total)
"""
SQL = """
create table t(i integer primary key, k integer, w text);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 300000)
insert into t select i, i * 7919 % 10007, 'w' || (i * 31 % 977) from n;
create index byk on t(k);
select count(*), sum(a.i * b.i % 7) from t a join t b on a.k = b.k + 1 where a.i % 3 = 0;
select w, count(*), sum(k) from t group by w order by 3 desc limit 5;
select count(distinct substr(w, 2) || k) from t;
"""
RUST = """
// calls N: some N calls, of trait objects, from those, and in recursion. None is short enough to be left
// without probes.
// (Of fib's two calls of itself the compiler makes a loop of one: 10,946 calls of fib for fib(20).)
use std::hint::black_box;
trait Step { fn step(&self, x: u64) -> u64; }
struct Add(u64);
struct Mix(u64);
impl Step for Add {
    #[inline(never)]
    fn step(&self, x: u64) -> u64 { twist(x.wrapping_add(self.0)).wrapping_add(x) }
}
impl Step for Mix {
    #[inline(never)]
    fn step(&self, x: u64) -> u64 { twist(x ^ self.0).wrapping_mul(31) }
}
#[inline(never)]
fn twist(x: u64) -> u64 { let mut y = x; while y > 1 << 62 { y /= 3; } y.rotate_left((x & 31) as u32) }
#[inline(never)]
fn fib(n: u64) -> u64 { if n < 2 { n } else { fib(n - 1) + fib(n - 2) } }
fn main() {
    let n: u64 = std::env::args().nth(1).map_or(0, |a| a.parse().unwrap());
    let steps: [Box<dyn Step>; 3] = [Box::new(Add(7)), Box::new(Mix(3)), Box::new(Add(1))];
    let mut x = 1u64;
    for i in 0..n / 3 { x = steps[(i % 3) as usize].step(x); }
    for _ in 0..n / 3 / 10946 { x = x.wrapping_add(fib(black_box(20))); }
    println!("{x}");
}
"""
JAVASCRIPT = r"""
const seen = new Map(); let text = "", total = 0;
for (let i = 0; i < 200000; i++) {
  const w = "w" + (i * 7919 % 10007); seen.set(w, (seen.get(w) || 0) + 1); text += w + " ";
}
for (let i = 0; i < 12; i++) {
  total += JSON.stringify(JSON.parse(JSON.stringify([...seen]))).length;
  total += text.split(" ").sort().filter(w => /w(\d)\d*3$/.test(w)).length + text.replace(/7/g, "seven").length;
}
console.log(total);
"""
# The server is this shell's child, so that the command's processor time is all that it and pgbench take.
PGBENCH = """
postgres -F -D data -k "$PWD" -h '' >log 2>&1 &
for i in $(seq 1000); do pg_isready -qh "$PWD" && break; sleep 0.05; done
pgbench -n -h "$PWD" -U bench -c 2 -t "$1" postgres >result 2>&1; status=$?
kill -INT $(head -n 1 data/postmaster.pid); wait; exit $status
"""
PG_MAKE = """
initdb -N -D data -A trust -U bench
postgres -F -D data -k "$PWD" -h '' >log 2>&1 &
for i in $(seq 1000); do pg_isready -qh "$PWD" && break; sleep 0.05; done
pgbench -q -i -s 2 -h "$PWD" -U bench postgres; status=$?
kill -INT $(head -n 1 data/postmaster.pid); wait; exit $status
"""


def large_c(lines=200000):
    """A C file of @lines lines: structures, enumerations, tables, and functions that use them."""
    out = ["int printf(const char *, ...);"]
    i = 0
    while len(out) < lines - 120:
        out += [f"struct s{i} {{", "\tint a;", f"\tunsigned char b[{i % 9 + 1}];", f"\tstruct s{i} *next;", "};",
                f"enum e{i} {{ E{i}_A, E{i}_B = {i % 50 + 3}, E{i}_C }};",
                f"extern int other{i}(struct s{i} *s, const char *name);",
                f"static const int table{i}[] = {{"]
        out += ["\t" + ", ".join(str((i * 31 + j * k) % 997) for k in range(1, 9)) + "," for j in range(90)]
        out += ["};", f"int f{i}(struct s{i} *s, int n)", "{", f"\tint sum = {i};", "",
                "\tfor (int j = 0; j < n && s; j++, s = s->next) {",
                f"\t\tsum += table{i}[j % 160] * (s->a ^ E{i}_B);", "\t\tif (s->b[0] == j)",
                f"\t\t\tsum ^= other{i}(s, \"name {i}\");", "\t}", "\treturn sum;", "}", ""]
        i += 1
    out += [f"int last{n};" for n in range(lines - len(out))]
    return "\n".join(out) + "\n"


def history(commits=5000, files=200):
    """What git fast-import makes a repository of: @commits changes of three of @files files each."""
    out, text = ["reset refs/heads/main\n"], [[f"file {f} line {n}" for n in range(120)] for f in range(files)]
    for c in range(commits):
        message = f"change {c}\n"
        out.append(f"commit refs/heads/main\ncommitter A <a@example.org> {1600000000 + c * 60} +0000\n"
                   f"data {len(message)}\n{message}\n")
        for f in ((c * 7 + k * 13) % files for k in range(3)):
            for j in range(5):
                text[f][(c * 11 + j * 17) % 120] = f"file {f} changed by {c}"
            if c % 4 == 0:
                text[f].insert(c % 100, f"new {c}")
            body = "\n".join(text[f]) + "\n"
            out.append(f"M 100644 inline dir{f % 9}/file{f}.txt\ndata {len(body)}\n{body}\n")
    return "".join(out)


class Workload(NamedTuple):
    """A row. @words: the command, made of the folder of inputs when all is there. @idle: the same
    program with nothing to do, which loads the same modules. @needs: programs. @files: inputs, made
    in this order. @modules: globs for --module. @peers: a shorter command for callgrind and uftrace.
    @ordinary: runs in a folder of its own, fresh each time, as a user without rights."""
    words: list
    idle: list
    needs: tuple
    files: tuple = ()
    modules: tuple = ()
    peers: list = None
    ordinary: bool = False

    def is_probed(self, module):
        """Whether @module, a file's name, runs with probes."""
        return module == os.path.basename(os.path.realpath(which(self.words[0]) or self.words[0])) or any(
            fnmatch.fnmatch(module or "", glob) for glob in self.modules)


def compiler_part(driver, part):
    """cc1 or cc1plus by itself: the drivers' own start is none of the row's."""
    if not which(driver):
        return part
    return subprocess.run([driver, f"-print-prog-name={part}"], check=True, text=True,
                          stdout=subprocess.PIPE).stdout.strip()


def python():
    """Not a script that chooses one."""
    return "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else os.path.realpath(sys.executable)


def cc1plus(level):
    words = [compiler_part("g++", "cc1plus"), "-quiet", "-fpreprocessed", level]
    return Workload([*words, "regex-gcc.ii", "-o", "/dev/null"], [*words, "empty.ii", "-o", "/dev/null"],
                    ("g++",), ("empty.ii", "regex.cc", "regex-gcc.ii"))


def workloads():
    cc1 = [compiler_part("gcc", "cc1"), "-quiet", "-fpreprocessed", "-O2"]
    clang = ["clang++", "-O1", "-S", "-o", "/dev/null"]
    gdb = ["gdb", "-nx", "-batch"]
    asked = ("info functions .", "info types .", "info variables .", "disassemble /s main",
             "info functions regex", "info scope main")
    ask = [word for name in asked for word in ("-ex", name)]
    shell = ["sh", "pgbench.sh"]
    return {
        "cc1plus -O2": cc1plus("-O2"),
        "cc1plus -O0": cc1plus("-O0"),
        "clang++ -O1": Workload([*clang, "regex-clang.ii"], [*clang, "empty.ii"], ("clang++",),
                                ("empty.ii", "regex.cc", "regex-clang.ii"), ("libclang-cpp*", "libLLVM*")),
        "gdb": Workload([*gdb, *ask, "./regex"], [*gdb, "./regex"], ("gdb", "g++"), ("regex.cc", "regex")),
        "python3": Workload([python(), "-S", "work.py"], [python(), "-S", "-c", ""], ("python3",),
                            ("work.py",), peers=[python(), "-S", "-c", PYTHON.replace("1500000", "20000")]),
        "perl": Workload(["perl", "-e", clone.PERL], ["perl", "-e", "1"], ("perl",), (), ("libperl*",)),
        "git log --stat": Workload(["git", "-C", "repository", "--no-pager", "log", "--stat", "main"],
                                   ["git", "-C", "repository", "--no-pager", "log", "-1", "main"], ("git",),
                                   ("repository",)),
        "gawk": Workload(["gawk", clone.GAWK], ["gawk", "BEGIN { }"], ("gawk",)),
        "objdump -d": Workload(["objdump", "-d", *["large.o"] * 6], ["objdump", "--version"], ("objdump", "gcc"),
                               ("large.c", "large.o"), ("libopcodes*", "libbfd*")),
        "cc1 -O2, 200,000 lines": Workload([*cc1, "large.c", "-o", "/dev/null"],
                                           [*cc1, "empty.i", "-o", "/dev/null"], ("gcc",), ("empty.i", "large.c")),
        "sqlite3": Workload(["sqlite3", ":memory:", ".read work.sql"], ["sqlite3", ":memory:", "select 1"],
                            ("sqlite3",), ("work.sql",), ("libsqlite3*",)),
        "node": Workload(["node", "work.js"], ["node", "-e", "0"], ("node",), ("work.js",), ("*",)),
        "postgres, pgbench": Workload([*shell, "4000"], [*shell, "1"], ("postgres", "initdb", "pgbench", "setpriv"),
                                      ("pgbench.sh", "data"), ordinary=True),
        "rust": Workload(["./calls", "100000000"], ["./calls", "0"], ("rustc",), ("calls.rs", "calls"),
                         peers=["./calls", "5000000"]),
        "lua": Workload(["lua5.4", "-e", clone.LUA], ["lua5.4", "-e", ""], ("lua5.4",), (), ("liblua5.4*",),
                        ["lua5.4", "-e", clone.LUA.replace("3e7", "1e5").replace("2e6", "1e5").replace("31", "20")]),
    }


# Rows that --overhead 30 is measured with, and those beside callgrind and uftrace.
LIMITED = "cc1plus -O2", "clang++ -O1", "lua", "gawk", "perl"
PEERS = "rust", "lua", "python3"

TEXTS = {
    "empty.i": "\n", "empty.ii": "\n", "regex.cc": REGEX, "work.py": PYTHON, "work.sql": SQL, "work.js": JAVASCRIPT,
    "calls.rs": RUST, "pgbench.sh": PGBENCH, "large.c": large_c,
}
COMMANDS = {
    "regex-gcc.ii": ["g++", "-E", "regex.cc", "-o"],
    "regex-clang.ii": ["clang++", "-E", "regex.cc", "-o"],
    "regex": ["g++", "-g", "-O0", "regex.cc", "-o"],
    "large.o": ["gcc", "-O0", "-c", "large.c", "-o"],
    "calls": ["rustc", "-O", "calls.rs", "-o"],
}


def own_text_hash():
    """Of this file and of clone.py, which has some of the commands."""
    text = b""
    for name in __file__, clone.__file__:
        with open(name, "rb") as file:
            text += file.read()
    return hashlib.sha256(text).hexdigest()[:12]


class Inputs:
    """The folder with what the workloads work on."""

    def __init__(self, folder):
        os.makedirs(folder, mode=0o755, exist_ok=True)
        if os.stat(folder).st_uid != os.geteuid():
            sys.exit(f"{folder} belongs to another user: choose a folder with --folder")
        self.folder = os.path.join(os.path.realpath(folder), own_text_hash())
        os.makedirs(self.folder, exist_ok=True)

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def make(self, workload):
        """Make what @workload needs and is not there yet."""
        for name in workload.files:
            temporary = self.path(f"{name}.{os.getpid()}")
            if os.path.exists(self.path(name)):
                continue
            if name in TEXTS:
                with open(temporary, "w", encoding="utf-8") as file:
                    file.write(TEXTS[name]() if callable(TEXTS[name]) else TEXTS[name])
            elif name == "repository":
                subprocess.run(["git", "init", "-q", "--bare", temporary], check=True)
                subprocess.run(["git", "-C", temporary, "fast-import", "--quiet"], check=True, text=True,
                               input=history())
            elif name == "data":
                self.make_cluster(temporary)
            else:
                subprocess.run([*COMMANDS[name], temporary], cwd=self.folder, check=True)
            os.rename(temporary, self.path(name))

    def make_cluster(self, folder):
        os.mkdir(folder)
        self.give(folder)
        done = subprocess.run([*as_ordinary(), "sh", "-c", PG_MAKE], cwd=folder, env=environment(), text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        if done.returncode:
            sys.exit(f"a PostgreSQL cluster could not be made: {done.stdout[-300:]}")

    @staticmethod
    def give(folder):
        """Let the user without rights own @folder."""
        if not os.geteuid():
            os.chown(folder, NOBODY, NOBODY)

    def place(self, workload, scratch):
        """The folder that @workload runs in next."""
        if not workload.ordinary:
            return self.folder
        fresh = os.path.join(scratch, "fresh")
        shutil.rmtree(fresh, ignore_errors=True)
        subprocess.run(["cp", "-a", self.path("data"), fresh], check=True)
        shutil.copy(self.path("pgbench.sh"), fresh)
        return fresh


def as_ordinary():
    """What makes the command behind it a user's without rights: PostgreSQL refuses root."""
    return () if os.geteuid() else ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups")


def environment():
    """The same for each run: no user's own configuration, no seed from the clock."""
    return {"PATH": search_path(), "LC_ALL": "C.UTF-8", "HOME": "/nonexistent", "PYTHONHASHSEED": "0",
            "PERL_HASH_SEED": "0", "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null"}


def search_path():
    """Debian keeps PostgreSQL's programs where no PATH leads."""
    return os.pathsep.join([*sorted(glob.glob("/usr/lib/postgresql/*/bin"))[-1:], "/usr/bin", "/bin",
                            *os.environ.get("PATH", "").split(os.pathsep)])


def which(program):
    """Its path, or None."""
    return shutil.which(program, path=search_path())


def chosen(globs, among):
    """{name: workload} of the rows @among these that fit one of @globs (None: all) and can run here; those
    that cannot are named."""
    known, rows = workloads(), {}
    wanted = [name for name in known
              if name in among and any(fnmatch.fnmatch(name, glob) for glob in globs or ["*"])]
    if not wanted:
        sys.exit(f"no such row; there are: {', '.join(name for name in known if name in among)}")
    for name in wanted:
        lacking = next((program for program in known[name].needs if not which(program)), None)
        if lacking:
            print(f"{name}: left out, {lacking} is not installed")
        else:
            rows[name] = known[name]
    return rows
