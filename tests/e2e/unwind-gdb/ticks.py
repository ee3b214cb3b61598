"""Runs inside gdb: stops a process at each of the sampler's signals before it gets it, and writes down
what gdb's frames are then. Debuggers that start a program see it without the sampler, so it is
attached to.

Wants from the environment (DWELL_TICKS, JSON): pid, signal, count, frames (the file: JSON, one line a
stop, with the thread, the mappings where they are others than before, and the frames).
"""
import json
import os
import sys

import gdb

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True

from stops import prepare, real_frames  # noqa: E402


def note_stop(out, last_maps):
    with open(f"/proc/{gdb.selected_inferior().pid}/maps") as f:
        maps = f.read()
    frames, _ = real_frames(gdb.newest_frame())
    json.dump({"tid": gdb.selected_thread().ptid[1],
               "maps": maps if maps != last_maps else None,
               "pc": [frame.pc() for frame in frames],
               "signal": [frame.type() == gdb.SIGTRAMP_FRAME for frame in frames]}, out)
    out.write("\n")
    return maps


def main(pid, signal, count, frames):
    prepare()
    gdb.execute(f"attach {pid}", to_string=True)
    gdb.execute(f"handle SIG{signal} stop print pass", to_string=True)
    maps = None
    with open(frames, "w") as out:
        for number in range(count):
            gdb.execute("continue", to_string=True)
            if not gdb.selected_inferior().pid:
                raise gdb.GdbError(f"the program ended at stop {number}")
            maps = note_stop(out, maps)
    gdb.execute("detach", to_string=True)


if os.environ.get("DWELL_TICKS"):
    main(**json.loads(os.environ.pop("DWELL_TICKS")))
