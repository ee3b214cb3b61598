"""What `dwell memory` counts against every oracle there is: the program's own knowledge, the runtime's
counters, its generations at each collection, its heap at the end."""
import os

from harness import File, cases, expect, require
from managed import on_versions, program, record, report, types

FILE = File(needs=("dotnet",), parts=2)
CONFIGURATIONS = {
    "workstation": {},
    "server": {"DOTNET_gcServer": "1", "DOTNET_GCHeapCount": "2"},
    "segments": {"DOTNET_GCName": "libclrgc.so"},
    "optimized": {"DOTNET_TieredCompilation": "0"},
    "not-concurrent": {"DOTNET_gcConcurrent": "0"},
    "experimental": {"DOTNET_GCName": "libclrgcexp.so"},
    "many-heaps": {"DOTNET_gcServer": "1", "DOTNET_GCHeapCount": "8", "DOTNET_gcConcurrent": "0",
                   "DOTNET_GCDynamicAdaptationMode": "0"},
    "server-segments": {"DOTNET_gcServer": "1", "DOTNET_GCHeapCount": "2",
                        "DOTNET_GCName": "libclrgc.so", "DOTNET_TieredCompilation": "0"},
    "compiled-here": {"DOTNET_ReadyToRun": "0", "DOTNET_TieredPGO": "0"},
    "compacting": {"DOTNET_GCConserveMemory": "7", "DOTNET_gcServer": "1", "DOTNET_GCHeapCount": "2"},
}
SMALL_BUDGET = {"DOTNET_GCgen0size": "0x80000", "DOTNET_GCgen0MaxBudget": "80000"}


CASES = [case for case in on_versions(CONFIGURATIONS) if case != "experimental-net8.0"]  # has no such collector


def start(context, case):
    """The arguments for record() in @case: to compare with the runtime's heap there."""
    configuration, version = case.rsplit("-", 1)
    return {"options": ["--check-heap"], "env": CONFIGURATIONS[configuration],
            "command": program(context, version)}


def expect_truth(facts):
    """Nothing was lost, and wherever the runtime was asked it said the same."""
    keys = ("objects_lost", "objects_untracked", "rows_dropped", "labels_different",
            "heap_unannounced", "heap_stale")
    expect({key: facts[key] for key in keys}, dict.fromkeys(keys, 0), "differences")
    expect((facts["processes_instrumented"], facts["announces_all"]), (1, 1), "announced")
    # A thread's counter is not known where all its objects came before counters were found.
    require(0 <= facts["bytes_announced"] - facts["frozen_bytes"] -
            facts["bytes_counted_by_runtime"] <= 512, f"bytes by counters of threads: {facts}")


def counts(context, n, how):
    """What each kind of N objects made: by the program and by us, (objects, bytes) by name."""
    name = f"{n}.dwell"
    said = record(context, "exact", str(n), name=name, **how)
    facts = report(context, "functions", name=name)
    rows = {row["function_name"]: row for row in facts["rows"]}
    facts = facts["session"]
    expect_truth(facts)
    require(facts["labels_checked"] > 0, "no label was checked")
    expect(facts["bytes_announced"] - facts["frozen_bytes"], said["all"][-1],
           "bytes, without frozen objects, by GC.GetTotalAllocatedBytes(true)")
    threads = {row["id"]: row["inclusive_bytes"]
               for row in report(context, "threads", name=name)["rows"]}
    counted = {int(word[len("thread-"):]): values[0]
               for word, values in said.items() if word.startswith("thread-")}
    expect(len(counted), n // 10, "threads")
    expect({tid: threads.get(tid) for tid in counted}, counted, "bytes of threads")
    kinds = {word[len("kind-"):]: tuple(values)
             for word, values in said.items() if word.startswith("kind-")}
    return kinds, {kind: (rows[f"Exact.{kind}"]["inclusive_allocations"],
                          rows[f"Exact.{kind}"]["inclusive_bytes"])
                   if f"Exact.{kind}" in rows else (0, 0) for kind in kinds}


@cases(*CASES)
def test_every_kind_is_exact(context, case):
    """Two runs: their difference is free of what first calls make. Bytes are the runtime's own; of
    objects it has no counter. What it makes once for itself now and then falls into another part of
    one run: then the runs are made again. Sums over all parts are right in each."""
    how = start(context, case)

    def increment(a, b):
        return {kind: (b[kind][0] - a[kind][0], b[kind][1] - a[kind][1]) for kind in a}

    def by_kind(increments, i):
        return {kind: pair[i] for kind, pair in increments.items()}
    for _ in range(3):
        (few, seen_few), (many, seen_many) = (counts(context, n, how) for n in (100, 600))
        seen, made = increment(seen_few, seen_many), increment(few, many)
        wrong = {kind: (few, many, seen_few[kind], seen_many[kind])
                 for kind, few, many in ((k, few[k], many[k]) for k in made)
                 if seen[kind][1] != made[kind][1]}
        if not wrong and by_kind(seen, 0) == by_kind(made, 0):
            return
    expect(wrong, {}, "bytes by kind, the runtime's and ours, of both runs, in three pairs of runs")
    expect(by_kind(seen, 0), by_kind(made, 0), "objects by kind, in three pairs of runs")


@cases(*CASES)
def test_heap_and_generations_are_the_runtimes(context, case):
    how = start(context, case)
    for words, more in ((("lives", "300"), {}), (("trees", "10", "60", "2"), SMALL_BUDGET),
                        (("stress", "8"), {})):
        record(context, *words, **{**how, "env": {**how["env"], **more}})
        facts = report(context, "lifetime")["session"]
        expect_truth(facts)
        require(facts["labels_checked"] > 0, f"asked nothing: {facts}")
        # The runtime of .NET 8 does not show its heap.
        expect(facts["heap_objects"] > 0, not case.endswith("net8.0"), "the heap was seen")


@cases(*on_versions(("workstation", "optimized")))
def test_stacks_that_look_alike(context, case):
    """Every stack against the runtime's, then without that: functions and lines by the numbers."""
    n, how = 2100, start(context, case)
    record(context, "hostile", str(n), **{**how, "options": ["--check-stacks", "1"]})
    facts = report(context, "lifetime")["session"]
    expect(facts["stacks_different"], 0, "stacks that differ")
    require(facts["stacks_checked"] > 2 * n, f"{facts['stacks_checked']} stacks checked")
    said = record(context, "hostile", str(n), **how)
    expect_truth(report(context, "lifetime")["session"])
    rows = {row["function_name"]: row for row in report(context, "functions")["rows"]}
    expect(rows["[unknown]"]["exclusive_allocations"],
           report(context, "lifetime")["session"]["objects_without_stack"], "objects without a stack")
    wanted = {name: values[0] for name, values in said.items() if "." in name}
    expect(len(wanted), 8, "functions")
    expect({name: rows[name]["inclusive_allocations"] for name in wanted}, wanted, "allocations")
    source = os.path.join(os.path.dirname(context.target("dotnet/managed")),
                          "source/hostile.cs")
    with open(source, encoding="utf-8") as file:
        numbers = {i: part for i, line in enumerate(file, 1) for part in
                   ("Left(first)", "Left(second)", "Right(first)", "second.Other()", "first.Other()",
                    "// even", "// odd") if f"= {part};" in line or line.rstrip().endswith(part)}
    lines = {numbers[row["source_line_begin"]]: row["inclusive_allocations"]
             for row in report(context, "lines")["rows"] if row["source_line_begin"] in numbers
             and row["function_name"].startswith("Hostile.")}
    expect(lines, {"Left(first)": n // 2, "Left(second)": n // 2, "Right(first)": n // 3,
                   "second.Other()": n // 5, "first.Other()": n // 7,
                   "// even": n * 8 // 10, "// odd": n * 9 // 10}, "allocations by line")


ENDINGS = {  # what more the environment has, how many objects there are for each of N
    "exception": ({}, 1), "thread-exception": ({}, 1), "fail-fast": ({}, 1),
    "exit-in-thread": ({}, 1), "kill": ({}, 1), "stack-overflow": ({}, 1),
    "out-of-memory": ({"DOTNET_GCHeapHardLimit": "0x4000000"}, 1),
    "caught-out-of-memory": ({"DOTNET_GCHeapHardLimit": "0x4000000"}, 2),
}


@cases(*on_versions(ENDINGS))
def test_endings(context, case):
    """Whatever ends the program, it ends as it would, and all objects before are there."""
    way, version = case.rsplit("-", 1)
    n, (more, times) = 30000, ENDINGS[way]
    env = {**context.env, "DOTNET_DbgEnableMiniDump": "0", **more}
    command = [program(context, version), "end", str(n), way]

    def outcome(*before):
        done = context.run(*before, *command, env=env)
        lines = [line.split(" in /")[0] for line in (done.stdout + done.stderr).splitlines()]
        # How often the runtime saw the overflowing frame depends on what else the stack has.
        return done.returncode, [line for line in lines
                                 if "0x" not in line and not line.startswith("Repeat")]
    plain = outcome()
    status = plain[0] if plain[0] >= 0 else 128 - plain[0]
    expect(outcome(context.dwell, "memory", "-q", "-o", "run.dwell", "--"), (status, plain[1]),
           "status and output")
    expect(types(context)["Counted"]["instances"], times * n, "objects")
