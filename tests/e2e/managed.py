"""The managed test program, on each version of .NET, and what is asked of its sessions."""
import json
import os
import subprocess

from harness import IS_LONG, expect, require

STATUS = 3  # of the program when all is well
# The SDK's own runtime, and those that a program brings along.
SDK = "net10.0"
VERSIONS = (SDK, "net9.0", "net8.0")


def on_versions(kinds, versions=VERSIONS):
    """Cases "KIND-VERSION": each kind, each version with the first kind, and the rest in long runs."""
    first = next(iter(kinds))
    return [f"{kind}-{version}" for kind in kinds for version in versions if IS_LONG or version == SDK or kind == first]


PUBLISH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../targets/dotnet/publish")

SINGLE_FILES = {
    "pdb-beside": ("net9.0", "-p:PublishSingleFile=true"),
    "pdb-inside": ("net8.0", "-p:PublishSingleFile=true", "-p:EnableCompressionInSingleFile=true",
                   "-p:DebugType=embedded"),
    # Of these the runtime says that they are precompiled, and it lies elsewhere.
    "precompiled": (SDK, "-p:PublishSingleFile=true", "-p:PublishReadyToRun=true",
                    "-p:SelfContained=false"),
}

published = {}  # what became of each folder


def publish(context, name, framework, *options):
    """Folder of the program with a runtime of its own, made once."""
    source = os.path.join(os.path.dirname(context.target("dotnet/managed")), "source")
    folder = os.path.join(os.path.dirname(source), name)
    if folder not in published:
        published[folder] = subprocess.run([PUBLISH, source, folder, framework, *options],
                                           stdout=subprocess.PIPE, text=True, errors="replace")
    done = published[folder]
    expect(done.returncode, 0, f"status of publish {name}\n{done.stdout}")
    return folder


def single_file(context, name):
    """The program with all assemblies, and mostly the runtime, in one file."""
    return os.path.join(publish(context, name, *SINGLE_FILES[name]), "managed")


def program(context, version=SDK):
    if version == SDK:
        return context.target("dotnet/managed")
    return os.path.join(publish(context, version, version), "managed")


def record(context, *words, options=(), name="run.dwell", status=STATUS, env=None, command=None):
    """Record the program (or @command) with @words; what it prints as {first word: numbers}."""
    done = context.run(context.dwell, "memory", "-q", *options, "-o", name, "--",
                       command or program(context), *words, env={**context.env, **(env or {})})
    expect(done.returncode, status, f"status of {' '.join(words)}\n{done.stderr}")
    return {line.split()[0]: [int(word) for word in line.split()[1:]]
            for line in done.stdout.splitlines() if line.split()[1:]}


def report(context, view, *words, name="run.dwell"):
    done = context.run(context.dwell, "report", name, view, "--format", "json", *words)
    expect(done.returncode, 0, f"status of report {view}\n{done.stderr}")
    return json.loads(done.stdout)


def expect_callers(context, callee, caller, least=0.95):
    """Nearly all samples of @callee are called by @caller."""
    itself, callers = 0, 1  # types of rows
    rows = report(context, "callers", callee)["rows"]
    own = sum(row["inclusive_samples"] for row in rows if row["type"] == itself)
    by = sum(row["inclusive_samples"] for row in rows
             if row["type"] == callers and row["function_name"] == caller)
    require(own and by >= least * own - 3, f"{by} of {own} samples of {callee} by {caller}")


def types(context, name="run.dwell"):
    return {row["class_name"]: row for row in report(context, "lifetime", name=name)["rows"]}


def expect_facts(facts):
    """Nothing was lost, and the runtime announced everything."""
    expect({key: facts[key] for key in ("objects_lost", "objects_untracked", "rows_dropped")},
           {"objects_lost": 0, "objects_untracked": 0, "rows_dropped": 0}, "losses")
    expect(facts["processes_instrumented"], 1, "processes")
