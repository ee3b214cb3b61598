"""Names and lines of addresses: the tool symbolize against the source, against addr2line and
llvm-addr2line, and one program against itself in every form in which debug information comes."""
import glob
import os
import re
import shutil

from harness import cases, expect, needs, require

CPP = r"""
#include <algorithm>
#include <iostream>
#include <map>
#include <set>
#include <string>
#include <vector>
namespace deep {
namespace {
struct Local {
	int v;
	int twice() const { return v * 2 + (int)std::string(v % 7, 'x').size(); }
};
} // namespace
template <class T> struct Box {
	T t;
	__attribute__((noinline)) T get(int n)
	{
		auto f = [&](int k) { return t + k * n; };
		return f(n) + f(n + 1);
	}
};
} // namespace deep
static inline int square(int x) { return x * x; }
extern "C" __attribute__((noinline)) int plain(int a) { return square(a) + square(a + 1); }
int main(int argc, char **argv)
{
	std::map<std::string, int> m;
	for (int i = 0; i < argc + 10; i++)
		m[std::to_string(i)] = plain(i);
	std::set<std::string> words(argv, argv + argc);
	deep::Local l{argc};
	deep::Box<long> b{3};
	std::vector<std::pair<std::string, int>> v(m.begin(), m.end());
	std::sort(v.begin(), v.end(), [](auto &x, auto &y) { return x.second < y.second; });
	std::cout << *words.begin() << l.twice() << b.get(argc) << v[0].first << "\n";
}
"""

RUST = r"""
use std::collections::HashMap;
#[inline(always)] fn square(x: u64) -> u64 { x.wrapping_mul(x) }
trait Shape { fn area(&self) -> u64; }
struct A(u64);
enum E { X(u64), Y }
impl Shape for A { fn area(&self) -> u64 { square(self.0) } }
impl E {
    #[inline(never)] fn val(&self) -> u64 { match self { E::X(v) => *v, E::Y => 1 } }
}
mod inner {
    #[export_name = "known_by_another_name"] #[inline(never)] pub fn renamed(x: u64) -> u64 { x.rotate_left(3) }
}
#[inline(never)] fn sum<T: Shape>(t: &T) -> u64 { (0..10).map(|i| t.area() + square(i)).sum() }
fn main() {
    let mut m = HashMap::new();
    for i in 0..100u64 { m.insert(i.to_string(), sum(&A(i)) + E::X(i).val() + E::Y.val() + inner::renamed(i)); }
    let mut v: Vec<_> = m.iter().collect();
    v.sort();
    println!("{:?}", v[0]);
}
"""

# What the linker calls such a function, which addr2line takes, and what the source does.
RENAMED = {"known_by_another_name": "program::inner::renamed",
           "rust_begin_unwind": "std::panicking::begin_panic_handler"}

D = r"""
import std.stdio, std.algorithm;
class C {
	int x;
	this(int a) { x = a; }
	int go(int n) { int f(int k) { return x + k * n; } return f(n) + f(n + 1); }
}
void main(string[] args)
{
	auto c = new C(4);
	int[] a = [3, 1, 2];
	a.sort!((x, y) => x < y);
	writeln(c.go(2), a);
}
"""

# Marks give addresses whose place in the source is known without any tool.
MARKED = r"""
#define MARK(name) __asm__ volatile(".globl " #name "\n" #name ": nop\n nop")
static inline __attribute__((always_inline)) int innermost(int a)
{
	a += 3;
	MARK(mark_inner); /* line of mark_inner */
	return a * 7;
}
static inline __attribute__((always_inline)) int middle(int a)
{
	return innermost(a + 1) /* call of innermost */ ^ a;
}
__attribute__((noinline)) int outer(int a)
{
	int b = middle(a); /* call of middle */
	MARK(mark_outer); /* line of mark_outer */
	return b;
}
int main(int argc, char **argv)
{
	(void)argv;
	return outer(argc) & 1;
}
"""


def write(context, name, text):
    os.makedirs(os.path.dirname(context.path(name)), exist_ok=True)
    with open(context.path(name), "w") as f:
        f.write(text)
    return context.path(name)


def symbolize(context, program, addresses, *options):
    """{address: [(name, "file:line", declaration), ...]} and the count of failed modules."""
    tool = os.path.join(context.targets, "..", "tools", "symbolize")
    result = context.run(tool, *options, program, "-", input="\n".join(addresses) + "\n",
                         stdin=None)
    assert result.returncode == 0, result.stderr
    chains, failed = {}, None
    for line in result.stdout.splitlines():
        if line.startswith("failed "):
            failed = int(line.split()[1])
        elif "\t" not in line:
            chain = chains.setdefault(int(line, 16), [])
        else:
            name, place, declared, _ = line.split("\t")
            chain.append((name, place.rsplit("-", 1)[0].rsplit(":", 1)[0], declared))
    return chains, failed


def instructions(context, program, step):
    lines = context.make("objdump", "-d", "--no-show-raw-insn", program).splitlines()
    return [line.split(":")[0].strip() for line in lines if re.match(r" +[0-9a-f]+:\t", line)][::step]


def symbol(context, program, name):
    for line in context.make("nm", program).splitlines():
        if line.split()[-1] == name:
            return line.split()[0]
    raise AssertionError(f"no symbol {name}")


def addr2line(context, tool, program, addresses):
    """{address: [(name, "file:line"), ...]} as @tool says."""
    text = context.run(tool, "-a", "-i", "-f", "-e", program, seconds=300, stdin=None,
                       input="\n".join(addresses) + "\n").stdout
    # One demangler for all: LLVM's own spells some names differently.
    lines = context.run("c++filt", "--no-verbose", input=text, stdin=None).stdout.splitlines()
    chains, i = {}, 0
    while i < len(lines):
        if re.match(r"0x[0-9a-f]+$", lines[i]):
            chain = chains.setdefault(int(lines[i], 16), [])
            i += 1
        else:
            place = re.sub(r" \(discriminator \d+\)$", "", lines[i + 1])
            chain.append((lines[i], re.sub(r"^\?\?", "", place).replace(":?", ":0")))
            i += 2
    return chains


def plain_name(name):
    """What is left of a name when spelling is put aside: clones, Rust's hashes, blanks."""
    name = re.sub(r"( \[clone [^]]*\])+$|(\.(cold|part|isra|constprop)(\.\d+)?)+$", "", name)
    return re.sub(r"::h[0-9a-f]{16}$|\[[0-9a-f]{14,16}\]", "", name).replace(" ", "")


def is_same_name(ours, theirs):
    """Ours has the scopes around a function that has no linkage name, addr2line has not."""
    ours, theirs = plain_name(ours), plain_name(theirs)
    return ours == theirs or ours.endswith("::" + theirs)


def is_named_by_symbol(ours, theirs, outermost):
    """DWARF has no linkage name for what depends on a local type. There addr2line takes the ELF
    symbol, for inlined functions too, where that is the outermost function's."""
    return "<lambda(" in ours and not ours.endswith(")") and (theirs == outermost or ours.split("<")[0] in theirs)


def is_same_place(ours, theirs):
    return os.path.normpath(ours) == os.path.normpath(theirs) or ours == theirs


def namesakes(context, program):
    """{name: names of symbols at the same address}: LLVM merges functions of the same code, addr2line
    takes any of them, DWARF tells one."""
    at = {}
    for line in context.run("c++filt", input=context.make("nm", "--defined-only", program), stdin=None).stdout.splitlines():
        address, _, name = line.split(" ", 2)
        at.setdefault(address, set()).add(plain_name(name))
    return {name: names for names in at.values() for name in names}


def explain(ours, oracles, same):
    """Why one chain differs from those of the oracles; None when it does not or cannot. @same: namesakes."""
    best = [o for o in oracles if o and o[0][0] != "??" and len(o) == len(ours)]
    if ours[0][0].endswith("@plt"):
        return "stub"
    if re.search(r"\+0x[0-9a-f]+$", ours[0][0]):
        return "no symbol"
    if not any(o and o[0][0] != "??" for o in oracles):
        return "oracles know nothing"
    for i, (name, place, _) in enumerate(ours):
        if not any(is_same_name(name, o[i][0]) or is_named_by_symbol(name, o[i][0], ours[-1][0]) for o in best):
            if any(o[i][0].startswith("_Z") for o in best):
                return "not demangled"
            if any(plain_name(o[i][0]) in same.get(plain_name(name), ()) for o in best):
                return "merged"
            if any(RENAMED.get(o[i][0]) == name for o in best):
                return "renamed"
            return "NAME"
        if not any(is_same_place(place, o[i][1]) for o in best):
            return "own source file" if place == ":0" else "PLACE"
    return None


def compare(context, program, step):
    """Compare with both tools over many addresses; every difference must have a cause."""
    addresses = instructions(context, program, step)
    ours, failed = symbolize(context, program, addresses)
    assert failed == 0 and len(ours) > 100
    oracles = [addr2line(context, tool, program, addresses)
               for tool in ("addr2line", "llvm-addr2line")]
    counts, unexplained, same = {}, [], namesakes(context, program)
    for address, chain in ours.items():
        theirs = [o.get(address, []) for o in oracles]
        why = explain(chain, theirs, same)
        counts[why] = counts.get(why, 0) + 1
        if why and why.isupper():
            unexplained.append((hex(address), why, [c[:2] for c in chain], theirs))
    assert not unexplained, (len(unexplained), counts, unexplained[:2])
    assert counts[None] > 0.5 * len(ours), counts
    return ours


@cases("gcc -gdwarf-5", "gcc -gdwarf-4", "clang -gdwarf-5", "clang -gdwarf-4",
       "gcc -gdwarf-5 -no-pie", "clang -gdwarf-5 -gsplit-dwarf", "gcc -gdwarf-5 -gsplit-dwarf")
def test_known_lines(context, case):
    source = write(context, "marked.c", MARKED)
    program = context.path("marked")
    context.make(*case.split(), "-O2", "-o", program, source)
    lines = MARKED.split("\n")

    def line_of(text):
        return [i for i, line in enumerate(lines, 1) if text in line][0]

    def place(text):
        return f"{source}:{line_of(text)}"

    inner, outer = (symbol(context, program, f"mark_{x}") for x in ("inner", "outer"))
    ours, failed = symbolize(context, program, [inner, outer])
    assert failed == 0
    want = [("innermost", place("line of mark_inner"), place("int innermost")),
            ("middle", place("call of innermost"), place("int middle")),
            ("outer", place("call of middle"), place("int outer"))]
    assert ours[int(inner, 16)] == want, (ours[int(inner, 16)], want)
    want = [("outer", place("line of mark_outer"), place("int outer"))]
    assert ours[int(outer, 16)] == want, (ours[int(outer, 16)], want)


# What the source calls a function, and what others do; only a plainer name of others is taken.
ALIASED = r"""
int __alias_source(int a) { return a * 3 + 1; }
int alias_plain(int a) __attribute__((alias("__alias_source")));
static int __alias_local(int a) { return a * 5 + 1; }
static int alias_local(int a) __attribute__((alias("__alias_local"), used));
int source_plain(int a) { return a * 7 + 1; }
int other_plain(int a) __attribute__((alias("source_plain")));
int _Z3fooi(int a) __attribute__((alias("__alias_mangled")));
int __alias_mangled(int a) { return a * 9 + 1; }
int main(int argc, char **argv)
{
	(void)argv;
	return __alias_source(argc) + __alias_local(argc) + source_plain(argc) + __alias_mangled(argc);
}
"""


@cases("gcc", "clang")
def test_names_that_others_use(context, compiler):
    program = context.path("aliased")
    context.make(compiler, "-O0", "-g", "-o", program, write(context, "aliased.c", ALIASED))
    for symbol_name, want in (("__alias_source", "alias_plain"), ("__alias_local", "__alias_local"),
                              ("source_plain", "source_plain"), ("__alias_mangled", "__alias_mangled")):
        address = symbol(context, program, symbol_name)
        assert symbolize(context, program, [address])[0][int(address, 16)][0][0] == want, symbol_name


@cases("g++ -gdwarf-5", "g++ -gdwarf-4 -no-pie", "clang++ -gdwarf-5", "clang++ -gdwarf-4")
def test_cpp_like_addr2line(context, case):
    source = write(context, "program.cpp", CPP)
    context.make(*case.split(), "-O2", "-o", context.path("program"), source)
    ours = compare(context, context.path("program"), 7)
    names = {name for chain in ours.values() for name, _, _ in chain}
    for name in ("main", "plain", "deep::Box<long>::get(int)"):
        assert name in names, (name, len(names))


def test_rust_like_addr2line(context):
    source = write(context, "program.rs", RUST)
    context.make("rustc", "-O", "-g", "-o", context.path("program"), source)
    ours = compare(context, context.path("program"), 23)
    names = {name for chain in ours.values() for name, _, _ in chain}
    assert "program::main" in names, [name for name in names if "program" in name]
    address = symbol(context, context.path("program"), "known_by_another_name")
    name = symbolize(context, context.path("program"), [address])[0][int(address, 16)][0][0]
    assert name == "program::inner::renamed", name


def test_d(context):
    source = write(context, "program.d", D)
    context.make("gdc", "-O2", "-g", "-o", context.path("program"), source)
    ours = symbolize(context, context.path("program"),
                     instructions(context, context.path("program"), 1))[0]
    places = {(name, declared) for chain in ours.values() for name, _, declared in chain}
    assert ("program.C.go(int)", source + ":6") in places, sorted(places)[:20]


def variant_split(context, plain, build):
    build("-gsplit-dwarf")


def variant_compressed(context, plain, build):
    context.make("objcopy", "--compress-debug-sections=zlib", plain, "program")


def variant_debuglink(context, plain, build):
    context.make("objcopy", "--only-keep-debug", plain, "program.debug")
    context.make("strip", "-s", "-o", "program", plain)
    context.make("objcopy", "--add-gnu-debuglink=program.debug", "program")


def variant_build_id(context, plain, build):
    build_id = re.search(r"Build ID: (\w+)", context.make("readelf", "-n", plain))[1]
    folder = context.path(f"debug/.build-id/{build_id[:2]}")
    os.makedirs(folder)
    context.make("objcopy", "--only-keep-debug", plain, f"{folder}/{build_id[2:]}.debug")
    context.make("strip", "-s", "-o", "program", plain)


def variant_dwz(context, plain, build):
    for copy in ("program", "other"):
        shutil.copy(plain, context.path(copy))
    context.make("dwz", "-m", "common.dwz", "program", "other")


@cases("split", "compressed", "debuglink", "build_id", "dwz")
def test_forms_say_the_same(context, variant):
    source = write(context, "program.cpp", CPP)

    def build(*options):
        context.make("g++", "-O2", "-g", "-Wl,--build-id", *options, "-o", "program", source)

    os.makedirs(context.path("plain"))
    build()
    os.rename(context.path("program"), context.path("plain/program"))
    globals()[f"variant_{variant}"](context, context.path("plain/program"), build)
    addresses = instructions(context, context.path("plain/program"), 5)
    want = symbolize(context, context.path("plain/program"), addresses)
    ours = symbolize(context, context.path("program"), addresses, "--dirs", context.path("debug"))
    assert want[1] == ours[1] == 0
    different = [(hex(a), want[0][a], ours[0][a]) for a in want[0] if want[0][a] != ours[0][a]]
    assert not different, (len(different), len(want[0]), different[:2])


def test_compressed_debug_files_are_unpacked_once(context):
    """The second time their sections come from the cache: the debug file may be gone. What is kept counts for
    one build-id alone, and damage does no harm. Only files of root's are kept."""
    plain, cache, dirs = context.path("plain/program"), context.path("cache"), context.path("debug")
    os.makedirs(context.path("plain"))
    context.make("g++", "-O2", "-g", "-Wl,--build-id", "-o", plain, write(context, "program.cpp", CPP))
    variant_build_id(context, plain, None)
    program, addresses = context.path("program"), instructions(context, plain, 5)
    want = symbolize(context, plain, addresses)
    debug = glob.glob(dirs + "/.build-id/*/*.debug")[0]
    kept = lambda: [os.path.join(cache, f) for f in os.listdir(cache)] if os.path.isdir(cache) else []
    ask = lambda: symbolize(context, program, addresses, "--dirs", dirs, "--cache", cache)

    assert ask() == want and not kept()  # nothing is packed
    context.make("objcopy", "--compress-debug-sections=zlib", debug)
    assert ask() == want
    if os.geteuid():
        return expect(kept(), [], "kept what is not root's")
    expect(len(kept()), 1, f"kept {kept()}")
    assert os.stat(kept()[0]).st_size > os.stat(debug).st_size
    os.rename(debug, debug + "-away")
    assert ask() == want
    with open(kept()[0], "r+b") as f:  # its sections are nowhere
        f.seek(0x28)
        f.write(b"\xff" * 8)
    assert ask()[1] == 0
    os.rename(debug + "-away", debug)
    assert ask() == want
    os.chmod(program, 0o777)  # anybody may have changed it
    os.remove(kept()[0])
    assert ask() == want and not kept()


def build_marked(context, *options):
    source = write(context, "marked.c", MARKED)
    context.make("gcc", "-O2", "-g", *options, "-o", "marked", source)
    return [symbol(context, context.path("marked"), f"mark_{x}") for x in ("inner", "outer")]


def names_of(context, addresses, *options):
    chains, failed = symbolize(context, context.path("marked"), addresses, *options)
    return [c[-1][0] for c in chains.values()], failed


def test_callees_are_called_as_their_callers_say(context):
    """strtol() is strtoimax(), too, and getpid() __getpid(): what was imported is what was called."""
    program = context.target("imports")
    imports = re.findall(r" U (\w*strtol)(?=[@\n])", context.make("nm", "-D", program))  # headers may name a newer one
    expect(len(imports), 1, f"imports {imports}")
    context.instrument(program)
    calls = {row["function_name"]: row["number_of_calls"]
             for row in context.report("functions")["rows"]}
    expect((calls.get(imports[0]), calls.get("getpid")), (7, 5), f"calls in {calls}")


def vdso_symbols(context):
    """Where the functions stand that the vdso has symbols of; kernels have helpers without."""
    with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb") as memory, \
            open(context.path("vdso.so"), "wb") as file:
        at, end = next(line.split()[0].split("-") for line in maps if line.endswith("[vdso]\n"))
        memory.seek(int(at, 16))
        file.write(memory.read(int(end, 16) - int(at, 16)))
    rows = [line.split() for line in context.make("readelf", "--dyn-syms", "-W", context.path("vdso.so")).splitlines()]
    return [(int(row[1], 16), int(row[1], 16) + int(row[2])) for row in rows if len(row) >= 8 and row[3] == "FUNC"]


def test_code_that_nothing_tells_of(context):
    """A symbol without a size ends where unwind rules tell of another function; and of the vdso there
    is no file, but it has names."""
    context.sample(context.target("imports"), "1000")
    rows = {row["function_name"]: row["exclusive_samples"]
            for row in context.report("functions")["rows"]}
    require("sizeless" not in rows, rows)
    nameless = [n for name, n in rows.items() if name.startswith("imports+0x")]
    require(nameless and max(nameless) > 20, rows)
    context.sample(context.target("large-frames"), "1000")
    names = {row["function_name"] for row in context.report("functions")["rows"]}
    require("__vdso_clock_gettime" in names, sorted(names))
    nameless = {int(name.split("+")[1], 16) for name in names if name.startswith("[vdso]+")}
    named = [at for at in nameless if any(start <= at < end for start, end in vdso_symbols(context))]
    expect(named, [], "code of the vdso that has names and was told without")


def test_stripped(context):
    addresses = build_marked(context)
    start = symbol(context, context.path("marked"), "outer")
    context.make("strip", "-s", "marked")
    names, failed = names_of(context, addresses)
    assert failed == 0 and names == [f"marked+0x{int(start, 16):x}"] * 2, names


def test_stripped_with_dynsym(context):
    addresses = build_marked(context, "-rdynamic")
    context.make("strip", "-s", "marked")
    assert names_of(context, addresses) == (["outer"] * 2, 0)


GO = """package main

import "fmt"

type shape struct{ sides int }

func (s *shape) Area() int { return s.sides * s.sides }

func main() {
	s := shape{3}
	fmt.Println(s.Area(), func() int { return s.sides }())
}
"""


@cases("exe", "pie")
def test_stripped_go(context, mode):
    """The runtime's own table has the names that the symbol table had."""
    source = write(context, "program.go", GO)
    go = ("env", f"GOCACHE={context.path('cache')}", "go", "build", f"-buildmode={mode}")
    context.make(*go, "-ldflags=-w", "-o", context.path("whole"), source)
    context.make(*go, "-ldflags=-s -w", "-o", context.path("stripped"), source)
    want = {}
    for line in context.make("nm", "whole").splitlines():
        address, kind, name = line.split(maxsplit=2)
        if kind in "tT" and name not in ("runtime.text", "runtime.etext", "go:buildid", "go.buildid"):
            want[int(address, 16)] = name.removesuffix(".abi0")
    ours, failed = symbolize(context, context.path("stripped"), [f"{a + 1:#x}" for a in want])
    got = {a: ours[a + 1][-1][0] for a in want}
    differ = {hex(a): (got[a], want[a]) for a in want if got[a] != want[a]}
    assert failed == 0 and len(want) > 1000 and len(differ) < len(want) / 100, \
        (failed, len(want), list(differ.items())[:5])
    assert "main.main" in got.values(), "main.main"


def test_minidebuginfo(context):
    addresses = build_marked(context)
    context.make("objcopy", "-S", "--keep-symbol=outer", "marked", "mini")
    context.make("xz", "mini")
    context.make("strip", "-s", "marked")
    context.make("objcopy", "--add-section", ".gnu_debugdata=mini.xz", "marked")
    assert names_of(context, addresses) == (["outer"] * 2, 0)


def test_cold_part_belongs_to_its_function(context):
    source = write(context, "cold.c", "__attribute__((cold, noinline)) void bad(int);\n"
                   "volatile int sink;\nvoid bad(int a) { sink = a; }\n"
                   "__attribute__((noinline)) int part(int a)\n{\n\tif (__builtin_expect(a > 99, 0))"
                   " {\n\t\tbad(a);\n\t\tsink += 2;\n\t}\n\treturn a + sink;\n}\n"
                   "int main(int c, char **v) { (void)v; return part(c); }\n")
    context.make("gcc", "-O2", "-g", "-o", "cold", source)
    cold = symbol(context, context.path("cold"), "part.cold")
    chain = symbolize(context, context.path("cold"), [cold])[0][int(cold, 16)]
    assert chain[-1][0] == "part", chain


# A loop with a part that is never run, which compilers put elsewhere: the inlined copy is in pieces.
PIECES = r"""
#include <stdlib.h>
static volatile double sink;
static __attribute__((cold, noinline)) void rare(void) { sink = 1; abort(); }
static inline __attribute__((always_inline)) double pieces(double x, int n)
{
	for (int i = 0; i < n; i++) {
		x = x * 1.0001 + i;
		if (__builtin_expect(x < 0, 0)) {
			sink = x;
			rare();
		}
	}
	return x;
}
int main(void)
{
	for (int i = 0; i < 2000000; i++)
		sink = pieces(sink > 1e9 ? 1 : sink, 50);
}
"""


def test_an_inlined_function_in_pieces_has_an_address(context):
    context.make("gcc", "-O2", "-g", "-o", "pieces", write(context, "pieces.c", PIECES))
    context.sample(context.path("pieces"))
    rows = {r["function_name"]: r for r in context.report("functions")["rows"]}
    main = int(symbol(context, context.path("pieces"), "main"), 16)
    address = int(rows["pieces"]["function_address"], 16)
    assert main <= address < main + 0x1000, (hex(main), rows["pieces"])


def test_pipe_instead_of_dwo(context):
    """A .dwo that would block its reader costs that file's names, not the run."""
    addresses = build_marked(context, "-gsplit-dwarf")
    dwo = [f for f in os.listdir(context.scratch) if f.endswith(".dwo")][0]
    os.unlink(context.path(dwo))
    os.mkfifo(context.path(dwo))
    names, failed = names_of(context, addresses)
    assert failed == 0 and all(name in ("outer", "mark_inner", "mark_outer") for name in names)


def test_late_helper_costs_one_module(context):
    source = write(context, "program.cpp", CPP)
    context.make("g++", "-O2", "-g", "-o", "program", source)
    main = symbol(context, context.path("program"), "main")
    # Thousands of addresses in a megabyte of DWARF keep a helper busy for more than one ms.
    addresses = [main] + instructions(context, context.path("program"), 1)
    chains, failed = symbolize(context, context.path("program"), addresses, "--timeout-ms", "1")
    assert failed == 1 and chains[int(main, 16)][0][0] == f"program+0x{int(main, 16):x}", \
        (failed, chains[int(main, 16)])


@needs("root")
def test_reads_with_the_owners_rights(context):
    addresses = build_marked(context)
    context.make("objcopy", "--only-keep-debug", "marked", "marked.debug")
    context.make("strip", "-s", "marked")
    context.make("objcopy", "--add-gnu-debuglink=marked.debug", "marked")
    os.chmod(context.scratch, 0o755)
    assert names_of(context, addresses, "--as", "65534:65534") == (["outer"] * 2, 0)
    os.chmod(context.path("marked.debug"), 0o600)
    assert names_of(context, addresses)[0] == ["outer"] * 2
    names, failed = names_of(context, addresses, "--as", "65534:65534")
    assert failed == 0 and all(name.startswith("marked+0x") for name in names), names


@needs("root")
def test_looks_in_the_targets_root(context):
    addresses = build_marked(context)
    context.make("objcopy", "--only-keep-debug", "marked", "marked.debug")
    context.make("strip", "-s", "marked")
    context.make("objcopy", "--add-gnu-debuglink=marked.debug", "marked")
    inside = context.path("root") + context.scratch
    os.makedirs(inside)
    assert names_of(context, addresses, "--root", context.path("root"))[0][0] != "outer"
    os.rename(context.path("marked.debug"), inside + "/marked.debug")
    assert names_of(context, addresses, "--root", context.path("root")) == (["outer"] * 2, 0)
