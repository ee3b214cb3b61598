"""What a target names is read with its user's rights: root's recording of nobody's program has nothing
that nobody could not read, and has it where he could."""
import os
import struct
import time

from harness import AS_NOBODY, File, cases, expect, require

FILE = File(needs=("root",))
SECRET = "nobody_may_know_this"
PYTHON = "/usr/bin/python3"  # others may lie in a home

PROGRAM = """static volatile unsigned long sum;
__attribute__((noinline)) void FUNCTION(void)
{
	for (unsigned long i = 0; i < 600000000; i++) /* COMMENT */
		sum += i;
}
int main(void) { FUNCTION(); }
"""

# Runs code that it has made itself, after it has done what its first argument says.
MADE = r"""
import ctypes, mmap, os, struct, sys
code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
# mov ecx, 1000000000; loop: dec ecx; jnz loop; ret
code.write(b"\xb9\x00\xca\x9a\x3b\xff\xc9\x75\xfc\xc3")
address = ctypes.addressof(ctypes.c_char.from_buffer(code))
way, secret, folder = sys.argv[1:]
if way == "map":
    name = f"/tmp/perf-{os.getpid()}.map"
    os.symlink(secret, name)
else:
    name = f"{folder}/jit-{os.getpid()}.dump"
    with open(name, "w+b") as own:
        own.truncate(4096)
        mapped = mmap.mmap(own.fileno(), 4096, prot=mmap.PROT_READ | mmap.PROT_EXEC)
        if way == "own":
            own.seek(0)
            own.write(open(secret, "rb").read())
    if way == "dump":
        os.rename(name, folder + "/own")
        os.symlink(secret, name)
ctypes.CFUNCTYPE(None)(address)()
os.unlink(name)
"""


def let_in(context):
    os.chmod(context.scratch, 0o755)


def is_known(context, *files):
    """Whether the session tells of the secret, without @files."""
    for name in files:
        os.unlink(context.path(name))
    text = ""
    require(context.report("functions")["rows"], "no samples")
    for words in (("functions",), ("lines",), ("lines", "spin", "--source")):
        done = context.run(context.dwell, "report", "run.dwell", *words, "-f", "csv")
        text += done.stdout
    with open(context.path("run.dwell"), "rb") as f:
        return SECRET in text or SECRET.encode() in f.read()


def build(context, function, comment):
    with open(context.path("program.c"), "w", encoding="ascii") as f:
        f.write(PROGRAM.replace("FUNCTION", function).replace("COMMENT", comment))
    context.make("gcc", "-g", "-O1", "-o", "program", context.path("program.c"))


@cases("600", "644")
def test_source(context, mode):
    let_in(context)
    build(context, "spin", SECRET)
    os.chmod(context.path("program.c"), int(mode, 8))
    context.sample("--source", "--", *AS_NOBODY, context.path("program"))
    expect(is_known(context, "program.c"), mode == "644", "known")


@cases("600", "644")
def test_debug_information(context, mode):
    let_in(context)
    build(context, SECRET, "")
    for words in (("objcopy", "--only-keep-debug", "program", "program.debug"), ("strip", "-s", "program"),
                  ("objcopy", "--add-gnu-debuglink=program.debug", "program")):
        context.make(*words)
    os.chmod(context.path("program.debug"), int(mode, 8))
    context.sample("--", *AS_NOBODY, context.path("program"))
    expect(is_known(context, "program.debug"), mode == "644", "known")


def jitdump():
    """A dump that says that all memory is one function's code."""
    header = struct.pack("<IIIIIIQQ", 0x4A695444, 1, 40, 62, 0, 1, 1, 0)
    name = SECRET.encode() + b"\0"
    size = 16 + 40 + len(name)
    return header + struct.pack("<IIQIIQQQQ", 0, size, 1, 1, 1, 0, 0x1000, 0x7fffffff0000, 1) + name


# What stands in the place of a jitdump that was mapped is never read.
@cases("map 600 no", "map 644 yes", "dump 600 no", "dump 644 no", "own 644 yes")
def test_jit_code(context, case):
    """A perf map, or a jitdump that was mapped, is a link now, or the file itself."""
    let_in(context)
    way, mode, known = case.split()
    os.mkdir(context.path("free"))
    os.chmod(context.path("free"), 0o777)
    with open(context.path("secret"), "wb") as f:
        f.write(jitdump() if way != "map" else f"1000 7fffffff0000 {SECRET}\n".encode())
    os.chmod(context.path("secret"), int(mode, 8))
    os.utime(context.path("secret"), (time.time() + 1000,) * 2)  # maps older than their process are no maps
    context.sample("--", *AS_NOBODY, PYTHON, "-c", MADE, way, context.path("secret"), context.path("free"))
    expect(is_known(context, "secret"), known == "yes", "known")
