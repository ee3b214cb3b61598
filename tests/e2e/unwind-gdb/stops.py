"""Runs inside gdb: stops a program many times and writes down what both unwinders need.

Wants from the environment (DWELL_STOPS, JSON): count, seed, file (registers, maps and memory
of each stop, as tests/tools/unwind-dump.c reads them), frames (JSON, one line a stop: gdb's own
frames). Every second stop is moved on by some single steps, so that prologues, epilogues and stubs
come up too.
"""
import json
import os
import random
import struct
import subprocess

import gdb

REGISTERS = ("rax rdx rcx rbx rsi rdi rbp rsp r8 r9 r10 r11 r12 r13 r14 r15 rip").split()
MASK = (1 << 64) - 1
MAX_STEPS = 40


def register(frame, name):
    return int(frame.read_register(name)) & MASK


def interrupt_later(pid, seconds):
    return subprocess.Popen(["sh", "-c", f"sleep {seconds:.4f}; kill -INT {pid}"])


def real_frames(frame):
    """gdb's frames without those it adds for inlined and tail-called functions."""
    found = []
    while frame is not None and frame.is_valid():
        if frame.type() in (gdb.NORMAL_FRAME, gdb.SIGTRAMP_FRAME):
            found.append(frame)
        elif frame.type() not in (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME):
            raise gdb.GdbError(f"frame of type {frame.type()}")
        last, frame = frame, frame.older()
    return found, gdb.frame_stop_reason_string(last.unwind_stop_reason())


def run_to_entry():
    """Leave the dynamic linker's own start behind: gdb invents frames above it."""
    auxv = gdb.execute("info auxv", to_string=True)
    entry = next(line.split()[-1] for line in auxv.splitlines() if "AT_ENTRY" in line)
    if gdb.newest_frame().pc() != int(entry, 0):  # a static program starts there
        gdb.execute(f"tbreak *{entry}", to_string=True)
        gdb.execute("continue", to_string=True)


def memory_areas(maps, frames):
    """The stacks from the red zone on: the current one and those left by signal handlers. A stack
    that has just grown may end above its red zone."""
    wanted = [register(frames[0], "rsp")]
    for inner, outer in zip(frames, frames[1:]):
        if inner.type() == gdb.SIGTRAMP_FRAME:
            wanted.append(register(outer, "rsp"))
    areas = {}
    for line in maps.splitlines():
        start, end = (int(part, 16) for part in line.split()[0].split("-"))
        inside = [sp for sp in wanted if start <= sp < end]
        if inside:
            areas[end] = max(start, min(inside) - 128 & ~7)
        elif line.endswith("[vdso]"):
            areas[end] = start
    return [(start, end) for end, start in areas.items()]


def note_stop(out, frames_out):
    inferior = gdb.selected_inferior()
    with open(f"/proc/{inferior.pid}/maps") as f:
        maps = f.read()
    newest = gdb.newest_frame()
    regs = [register(newest, name) for name in REGISTERS]
    frames, reason = real_frames(newest)
    areas = memory_areas(maps, frames)
    out.write(b"DWSTOP1\n" + struct.pack("<17Q", *regs))
    out.write(struct.pack("<I", len(maps)) + maps.encode())
    out.write(struct.pack("<I", len(areas)))
    for start, end in areas:
        out.write(struct.pack("<QQ", start, end - start))
        out.write(bytes(inferior.read_memory(start, end - start)))
    shown = frames if len(frames) < 400 else []
    json.dump({"pc": [frame.pc() for frame in frames], "reason": reason,
               "signal": [frame.type() == gdb.SIGTRAMP_FRAME for frame in frames],
               "name": [frame.name() for frame in shown]}, frames_out)
    frames_out.write("\n")


def prepare():
    """Settings: all frames are shown, and signals are the program's."""
    for line in ("pagination off", "confirm off", "backtrace past-main on",
                 "backtrace limit unlimited", "debuginfod enabled off", "startup-with-shell off",
                 "print thread-events off"):
        gdb.execute(f"set {line}")
    gdb.execute("handle all nostop noprint pass", to_string=True)


def main(count, seed, file, frames):
    chance = random.Random(seed)
    prepare()
    gdb.execute("handle SIGINT stop nopass", to_string=True)
    gdb.execute("handle SIGTRAP stop nopass", to_string=True)
    gdb.execute("starti", to_string=True)
    run_to_entry()
    pid = gdb.selected_inferior().pid
    with open(file, "wb") as out, open(frames, "w") as frames_out:
        for number in range(count):
            later = interrupt_later(pid, chance.uniform(0.003, 0.03))
            gdb.execute("continue", to_string=True)
            later.wait()
            if not gdb.selected_inferior().pid:
                raise gdb.GdbError(f"the program ended at stop {number}")
            if number % 2:
                gdb.execute(f"stepi {chance.randint(1, MAX_STEPS)}", to_string=True)
            note_stop(out, frames_out)
    gdb.execute("kill", to_string=True)


if os.environ.get("DWELL_STOPS"):
    main(**json.loads(os.environ.pop("DWELL_STOPS")))
