"""The same commands under callgrind and uftrace: what a call costs there, and whether counts are ours.

Counts are compared by name, summed where several functions share one: of functions that both know, in
modules with probes (in others dwell knows what was called by which name, callgrind which of a function's
versions ran). Both name only what has a symbol, exported functions in stripped programs; uftrace puts its
probes into those that have room for one. Inlined functions are nobody's calls. callgrind counts before
main() what dwell does not see, and follows jumps from function to function by rules of its own, so a few
counts may differ. Costs are comparable as what a recording takes more, by each one's own number of calls:
callgrind counts instructions and no time, uftrace writes each call to a file.
"""
import collections
import os
import re
import shutil
import statistics
import subprocess

import workloads

ROUNDS_MAX = 3  # they are slow


def callgrind(place, words):
    """(the command that runs @words, a function that reads {function: calls} of it)."""
    out = os.path.join(place, "callgrind.out")
    return ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", *words], lambda: callgrind_counts(out)


def callgrind_counts(path):
    """Calls by the name of the function that is called."""
    names, counts, callee = {}, collections.Counter(), None
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            found = re.match(r"c?fn=\((\d+)\)(?: (.*))?$", line)
            if found:
                number, name = found.groups()
                if name:
                    names[number] = re.sub(r"'\d+$", "", name)
                if line.startswith("cfn"):
                    callee = names[number]
            elif line.startswith("calls="):
                counts[callee] += int(line[len("calls="):].split()[0])
    return counts


def uftrace(place, words):
    data = os.path.join(place, "uftrace.data")
    shutil.rmtree(data, ignore_errors=True)
    return ["uftrace", "record", "-P", ".", "--no-libcall", "-d", data, *words], lambda: uftrace_counts(data)


def uftrace_counts(data):
    shown = subprocess.run(["uftrace", "report", "-d", data, "--no-pager", "-f", "call"], check=False, text=True,
                           stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    rows = (line.split(None, 1) for line in shown.splitlines())
    return collections.Counter({row[1].strip(): int(row[0]) for row in rows if len(row) == 2 and row[0].isdigit()})


TOOLS = {"callgrind": ("valgrind", callgrind), "uftrace": ("uftrace", uftrace)}


def our_counts(bench, name, workload):
    counts = collections.Counter()
    for row in bench.runner.report(bench.builds[name], bench.runner.session(workload), "functions")["rows"]:
        if workload.is_probed(row["module_name"]):
            counts[row["function_name"]] += row["number_of_calls"] or 0
    return counts


def plain_name(name):
    """Without parameters and the hash of Rust: demanglers differ in what they show."""
    return re.sub(r"::h[0-9a-f]{16}$", "", re.sub(r"\(.*", "", name))


def compared(ours, theirs):
    """What is said of two {function: calls}."""
    both = [collections.Counter(), collections.Counter()]
    for of, counts in zip(both, (ours, theirs)):
        for name, n in counts.items():
            of[plain_name(name)] += n
    common = [name for name in both[0] if name in both[1] and both[0][name]]
    different = [name for name in common if both[0][name] != both[1][name]]
    if not common:
        return "no function that both name"
    worst = max(different, key=lambda name: abs(both[0][name] - both[1][name]), default=None)
    more = f"; {worst}: {both[0][worst]:,} here, {both[1][worst]:,} there" if worst else ""
    return (f"{len(common)} functions in both with {sum(both[0][name] for name in common) / 1e6:.2f} M calls here, "
            f"{len(common) - len(different)} equal{more}")


def under(bench, workload, words, tool):
    """(processor seconds, {function: calls}) of @words under @tool."""
    place = os.path.join(bench.runner.scratch, "peers")
    os.makedirs(place, exist_ok=True)
    command, counts = TOOLS[tool][1](place, words)
    return bench.runner.plain(workload, command).cpu_s, counts()


def compare(bench, rows):
    """Print a line for each row and tool. {row: {tool: figures}}."""
    print(f"{'program':9} {'tool':10} {'CPU s':>8} {'plain s':>8} {'M calls':>8} {'ns a call':>9}  counts", flush=True)
    known = {}
    for name, workload in rows.items():
        words = workload.peers
        bench.inputs.make(workload)
        known[name] = one_row(bench, name, workload, words)
    return known


def one_row(bench, row, workload, words):
    rounds = range(min(bench.n, ROUNDS_MAX))
    plain = statistics.median(bench.runner.plain(workload, words).cpu_s for _ in rounds)
    figures, ours = {}, None
    for name in bench.builds:
        bench.take(name, workload, words)
        taken = [bench.take(name, workload, words) for _ in rounds]
        ours = our_counts(bench, name, workload)
        cpu = statistics.median(one.cpu_s for one in taken)
        figures[name] = told(row, name, cpu, plain, taken[0].calls, "")
    for tool, (program, _) in TOOLS.items():
        if not workloads.which(program):
            print(f"{row:9} {tool:10} is not installed", flush=True)
            continue
        taken = [under(bench, workload, words, tool) for _ in rounds]
        calls = sum(taken[0][1].values())
        cpu = statistics.median(one for one, _ in taken)
        figures[tool] = told(row, tool, cpu, plain, calls, compared(ours, taken[0][1]))
    return figures


def told(row, tool, cpu_s, plain_s, calls, counts):
    """Print a line. What it says."""
    ns = (cpu_s - plain_s) / calls * 1e9 if calls else None
    print(f"{row:9} {tool:10} {cpu_s:8.2f} {plain_s:8.2f} {calls / 1e6:8.2f} "
          f"{'' if ns is None else format(ns, '9.1f'):>9}  {counts}", flush=True)
    return {"cpu_s": cpu_s, "plain_s": plain_s, "calls": calls, "ns": ns, "counts": counts}
