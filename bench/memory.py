#!/usr/bin/env python3
"""What recording allocations of .NET costs, next to an agent whose callbacks do nothing.

Programs (bench/memory/allocate.cs) run in turns: as they are, with the empty agent, under `dwell memory`
with fewer and more parts. Cost of an allocation: (processor time - plain) / objects, of the program
alone. Then what collections take, the agent's memory for each live object, and what stays exact when
two million stacks are more than fits.

bench/memory.py --build FOLDER [--rounds 5] [cost|room]...
"""
import argparse
import itertools
import json
import os
import statistics
import subprocess
import sys
import tempfile

import clone

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAMS = {
    "trees 16": ["trees", "16"],
    "loop of 24 bytes": ["loop", "10000000"],
    "100 frames deep": ["deep", "4000000"],
}
# Events: objects, stacks, code that is compiled, modules; collections, suspensions.
OBJECTS, COLLECTIONS = 0x10800124, 0x10080
AGENTS = {
    "plain": None,
    "empty agent": OBJECTS,
    "empty agent, collections": OBJECTS | COLLECTIONS,
    "--no-stacks --no-lifetime": ["--no-stacks", "--no-lifetime"],
    "--no-stacks": ["--no-stacks"],
    "--no-lifetime": ["--no-lifetime"],
    "dwell memory": [],
}
# One that lets many objects come together before it looks at them, so that most pieces survive at once.
LATE = {"DOTNET_GCgen0size": "0x60000000"}
COLLECTORS = {"workstation": {}, "late": LATE, "server, late": {**LATE, "DOTNET_gcServer": "1"},
              "segments, late": {**LATE, "DOTNET_GCName": "libclrgc.so"}}


class Bench:
    def __init__(self, build, rounds, scratch):
        self.dwell, self.rounds, self.scratch = os.path.join(build, "dwell"), rounds, scratch
        for output, source, flags in (("spent", "spent.c", []),
                                      ("empty.so", "memory/empty-agent.c", ["-shared", "-fPIC"])):
            subprocess.run(["gcc", "-O2", *flags, "-o", self.path(output),
                            os.path.join(HERE, source)], check=True)
        if not os.path.exists(self.path("stamp")):
            subprocess.run([os.path.join(HERE, "../tests/targets/dotnet/build"),
                            os.path.join(HERE, "memory/allocate.csproj"),
                            self.path("program"), self.path("stamp")], check=True)

    def path(self, name):
        return os.path.join(self.scratch, name)

    def run(self, words, agent, session="run.dwell", more=()):
        """Processor seconds, objects, milliseconds of collections, collections, kilobytes of a run."""
        env, before = {**os.environ, **dict(more)}, []
        if isinstance(agent, int):
            env.update(CORECLR_ENABLE_PROFILING="1", CORECLR_PROFILER_PATH=self.path("empty.so"),
                       CORECLR_PROFILER="{00000000-0000-0000-0000-000000000001}",
                       EMPTY_EVENTS=hex(agent))
        elif agent is not None:
            if os.path.exists(self.path(session)):
                os.unlink(self.path(session))
            before = [self.dwell, "memory", "-q", *agent, "-o", self.path(session), "--"]
        done = subprocess.run([*before, self.path("spent"), self.path("spent.txt"),
                               self.path("program/allocate"), *words], env=env, text=True,
                              stdout=subprocess.PIPE, check=True)
        with open(self.path("spent.txt"), encoding="ascii") as file:
            return float(file.read()), *(int(word) for word in done.stdout.split())

    def report(self, view, session="run.dwell"):
        done = subprocess.run([self.dwell, "report", self.path(session), view, "--format", "json"],
                              check=True, text=True, stdout=subprocess.PIPE)
        return json.loads(done.stdout)


def cost(bench):
    rows = [("program", "agent", "CPU s", "ns an object", "collections ms", "of them")]
    for name, words in PROGRAMS.items():
        runs = {agent: [] for agent in AGENTS}
        for _ in range(bench.rounds):
            for agent, how in AGENTS.items():
                runs[agent].append(bench.run(words, how))
        for agent, all_of in runs.items():
            extra = [(one[0] - plain[0]) / one[1] * 1e9
                     for one, plain in zip(all_of, runs["plain"])]
            spent, _, pause, n, _ = (statistics.median(column) for column in zip(*all_of))
            rows.append((name, agent, f"{spent:.2f}", f"{statistics.median(extra):.0f}",
                         f"{pause:.0f}", f"{n:.0f}"))
    clone.table(rows)


def room(bench):
    rows = [("program", "objects alive M", "bytes of the agent an object")]
    for kind, collector in itertools.product(("keep", "sparse"), COLLECTORS):
        words = [kind, "10000000"]
        without, whole = (bench.run(words, how, more=COLLECTORS[collector])[4]
                          for how in (["--no-lifetime"], []))
        rows.append((f"{kind}, {collector}", "10.0", f"{(whole - without) * 1024 / 1e7:.1f}"))
    clone.table(rows)
    rows = [("2,097,151 stacks", "CPU s", "stack nodes", "without recursion", "of Branch", "MB")]
    for memory in ("4096", "64", "8"):
        spent, *_, kilobytes = bench.run(["stacks", "20"], ["--memory", memory])
        report = bench.report("functions")
        of = {row["function_name"]: row["inclusive_allocations"] for row in report["rows"]}
        facts = report["session"]
        rows.append((f"--memory {memory}", f"{spent:.2f}", str(facts["stack_nodes"]),
                     str(facts["objects_folded"]), str(of["Program.Branch"]), f"{kilobytes / 1024:.0f}"))
    clone.table(rows)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--build", required=True)
    parser.add_argument("--scratch", help="a folder that stays: the program is built once")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("parts", nargs="*", default=["cost", "room"])
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        bench = Bench(os.path.abspath(arguments.build), arguments.rounds,
                      os.path.abspath(arguments.scratch or scratch))
        for part in arguments.parts:
            {"cost": cost, "room": room}[part](bench)


if __name__ == "__main__":
    sys.exit(main())
