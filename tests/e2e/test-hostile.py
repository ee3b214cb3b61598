"""Programs that break engines which move code (tests/targets/hostile/) run unchanged.

Each case runs plain and again under each engine (unchanged.py) in every flavour in which its program
was built. KNOWN cases differ, with the reason; they are expected failures, and one that stops differing fails,
so that the list stays true. DWELL_TRIALS names other engines: with "plain", plain runs are compared
with plain runs, which proves the cases.
"""
import glob
import os
import pwd
import shutil

from harness import IS_LONG, File, Known, cases, expect, needs, require, runs_32_bit
from unchanged import DEFAULT_ENGINES, Trial


# Program -> its cases; those in LONG are for long runs only (DWELL_LONG=1).
PROGRAMS = {
    "signals": "rate own-function change-register continue-elsewhere nested raise altstack query "
               "at-start reset wait queue interrupted threads single-step system-call "
               "unwind",
    "faults": "segv-skip ill-skip fpe-skip trap fixup-table leave bus write-barrier "
              "stack-overflow float unhandled",
    "jumps": "levels handler timer altstack builtin context noreturn after-vfork nested-function",
    "throw": "deep through-c library-throws constructors destructors other-thread specification "
             "terminate from-handler foreign forced thread-exit filters",
    "cancel": "deferred asynchronous state exit blocked small-stack signals-too main-leaves",
    "stacks": "by-hand with-signals contexts context-ends pivot red-zone frame-size "
              "exit-misaligned call-misaligned",
    "shapes": "table-in-text byte-table one-byte-blocks computed-target absolute-table shared-code "
              "falls-through two-entries loop-at-entry tiny data-after-call returns-elsewhere "
              "pops-return skips-a-frame call-next pc-thunk own-middle push-and-return retpoline "
              "callee-removes interrupt-return overlapping prefix count-jumps transaction "
              "repeated-return bounded-jump long-instructions through-stack through-memory "
              "pop-stack-pointer constants-in-text exchanges conditional-tail system-call bare "
              "elsewhere very-large calls-back",
    "conventions": "registers flag-argument flag-results flags-over-jump direction vectors "
                   "wide-vectors x87 below-stack rounding float-state values local-calls",
    "control": "switches interpreter tail-calls callbacks identity cold-parts frames",
    "addresses": "return-address second-address backtrace symbols symbols-to-file unwinder modules "
                 "module-list dladdr frame-table relative-table trusted-caller",
    "libraries": "next open by-run-path namespace library ifunc order quick-exit link-map",
    "rseq": "counters aborted registration",
    "text": "operand static-key redirect breakpoint through-file hash-body hash-all copy file "
            "jit-code",
    "processes": "fork ten-thousand-forks fork-exit grandchildren vfork spawn exec exec-chain clone "
                 "clone-beside raw-fork fork-in-threads trace trace-all no-children",
    "surroundings": "descriptors descriptor-folder closefrom close-range close-all environment "
                    "environment-file environment-of-child attributes name limits tasks errno",
    "allocator": "count threads library child start",
    "limits": "address-space data file-size file-size-written few-descriptors small-stack "
              "no-locked-memory no-queued-signals locked no-new-privileges no-new-code strict "
              "filter filter-start other-user other-root",
    "threads": "some thousand barrier detached raw-exit names",
    "coroutines": "generators exceptions thread-locals static-objects virtual",
    "split": "deep threads",
    "oddities": "trampolines target-clones weak assembly hooks",
    "panic": "catch threads names message sort",
    "numbers": "recursion internal arrays stop",
}
CASES = [f"{program}/{case}" for program, names in PROGRAMS.items() for case in names.split()]
LONG = {"processes/ten-thousand-forks", "processes/trace-all", "threads/thousand"}
# Once more where perf is refused: what the in-process sampler may disturb.
INSIDE = "signals", "cancel", "coroutines", "threads", "processes", "limits", "surroundings"
FILE = File(parts=4, without_perf=tuple(f"unchanged/{program}/*" for program in INSIDE))
PROBES = {"count", "libraries", "time", "libraries-time", "lines"}
ALL = {"none", "system-calls"} | PROBES
# Case -> the engines under which it differs today, and why.
KNOWN = {
    "addresses/second-address": (ALL, "a frame's own return address is kept, not its caller's"),
    "addresses/module-list": (ALL | {"inside"}, "the agent and the clones are listed as modules"),
    "addresses/relative-table": (ALL, "distances of 32 bits in data are not taken for addresses"),
    "libraries/link-map": (ALL | {"inside"}, "the agent is a library of the process"),
    "text/hash-all": (ALL, "entries are jumps: a documented limit"),
    "text/copy": (ALL, "entries are jumps: a documented limit"),
    "shapes/system-call": (ALL, "rcx holds the clone's address after a system call"),
    "surroundings/environment-file": (ALL | {"inside"}, "the kernel's copy of the environment keeps its length"),
    "signals/at-start": ({"inside"}, "/proc tells that the sampler's signal has a handler"),
    "conventions/below-stack": (PROBES, "probes save registers where this convention has values"),
}
# Case -> what dwell need not do there (unchanged.py), which its session says: agents keep out.
MISSED = {
    "limits/address-space": {"processes_not_instrumented"},  # a child has no memory for an agent
    "limits/no-new-code": {"processes_not_instrumented"},  # nor may this one change code
    "limits/filter": {"threads_filtered", "left_alone_filter"},
    "limits/filter-start": {"threads_filtered", "processes_not_instrumented", "children_unsampled", "left_alone_filter"},
    # What an ordinary user may lock is the program's.
    "limits/locked": {"threads_dropped", "processes_not_instrumented", "children_unsampled"} if os.geteuid() else set(),
    "limits/no-queued-signals": {"threads_unsampled"},  # a timer takes one
    # There is no folder of the session's.
    "limits/other-root": {"processes_not_instrumented", "children_unsampled"},
    "processes/clone-beside": {"threads_dropped"},  # a task on the memory of a thread is not measured as that
    "processes/trace": {"left_alone_traced"},
    "processes/trace-all": {"left_alone_traced"},
}
# Flavours that run untouched, and the one line that says so.
NOTICES = {"static": b"is statically linked: it runs as it is",
           "m32": b"is no program for x86-64: it runs as it is"}


def built(context, program):
    """The program's flavours that this machine runs."""
    found = sorted(glob.glob(os.path.join(context.targets, "hostile", program + "-*")))
    return [path for path in found if not path.endswith("-m32") or runs_32_bit(context)]


def flavours_with(context, program, case):
    """Those of the program's flavours that have this case."""
    flavours = built(context, program)
    require(flavours, "not built")
    flavours = [path for path in flavours if case in context.run(path).stdout.split()]
    require(flavours, "no flavour has this case")
    return flavours


def turn_of(name, flavours):
    """Every fourth of the flavours, others for each case: all of them in long runs, and where a difference is
    known, which need not be in each."""
    return flavours if IS_LONG or name in KNOWN else flavours[CASES.index(name) % 4::4] or flavours[:1]


def compare(context, path, case, engines):
    """The differences of one flavour, as (engine, text)."""
    if path.rpartition("-")[2] in NOTICES:
        engines = [engine for engine in engines if engine != "inside"]  # says so, and runs nothing
    name = os.path.basename(path).partition("-")[0] + "/" + case
    trial = Trial([path, case], notice=NOTICES.get(path.rpartition("-")[2]), may_miss=MISSED.get(name, ()))
    for engine, difference in trial.differences(context.scratch, context.dwell, engines):
        if difference:
            yield engine, f"{os.path.basename(path)} {case}, {engine}: {difference}"


@cases(*(name for name in CASES if IS_LONG or name not in LONG))
def test_unchanged(context, name):
    program, case = name.split("/")
    if context.without_perf and name == "surroundings/attributes":
        context.skip("the filter that refuses perf is an attribute itself")
    if name == "limits/other-user":
        context.let_others_in()
    engines = os.environ.get("DWELL_TRIALS", DEFAULT_ENGINES).split(",")
    found = [pair for path in turn_of(name, flavours_with(context, program, case))
             for pair in compare(context, path, case, engines)]
    known, reason = KNOWN.get(name, (set(), ""))
    surprises = [text for engine, text in found if engine not in known]
    require(not surprises, "\n".join(surprises))
    if known & set(engines):
        require(found, f"is listed as known ({reason}) but ran unchanged")
        raise Known(reason)


@cases("processes/fork", "processes/raw-fork", "processes/fork-in-threads", "processes/vfork",
       "processes/clone-beside", "signals/unwind", "signals/threads")
def test_unchanged_while_switched_off(context, name):
    """The limit is so low that functions are switched off while all this goes on: some programs are so
    short that they have ended before, mostly."""
    program, case = name.split("/")
    switched_off, paths = 0, flavours_with(context, program, case)
    for i, path in enumerate(12 * paths):
        if switched_off and i >= 3 * len(paths):
            break
        found = [text for _, text in compare(context, path, case, ["limit"])]
        require(not found, "\n".join(found))
        if path.rpartition("-")[2] not in NOTICES:
            switched_off += context.report("summary", session="session.dwell")["session"]["functions_switched_off"]
    require(switched_off > 0, "nothing was switched off")


@needs("root")
def test_child_with_more_rights(context):
    """A program that gives its caller more rights runs without the agent, and nobody complains."""
    context.let_others_in()
    program = shutil.copy(context.target("hostile/surroundings-gcc-O2"), context.path("more-rights"))
    os.chmod(program, 0o4755)
    trial = Trial(["sh", "-c", f"{program} attributes && {program} environment && id -u"],
                  user=pwd.getpwnam("nobody"), must_work=True,
                  may_miss=("processes_not_instrumented", "children_unsampled"))
    engines = os.environ.get("DWELL_TRIALS", DEFAULT_ENGINES).split(",")
    found = [f"{engine}: {difference}" for engine, difference in
             trial.differences(context.scratch, context.dwell, engines) if difference]
    require(not found, "\n".join(found))


@cases(*PROGRAMS)
def test_table(context, program):
    """The table above names all cases of all programs."""
    flavours = built(context, program)
    require(flavours, "not built")
    found = {case for path in flavours for case in context.run(path).stdout.split()}
    expect(found, set(PROGRAMS[program].split()), "cases")


def test_known_exist(context):
    expect((set(KNOWN) | set(MISSED) | LONG) - set(CASES), set(), "unknown names")
