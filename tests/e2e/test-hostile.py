"""Programs that break engines which move code (tests/targets/hostile/) run unchanged.

Each case runs plain and again under the engines that DWELL_TRIALS names (unchanged.py: none,count),
in every flavour in which its program was built. KNOWN cases differ, with the reason; they are run
too, and one that stops differing fails, so that the list stays true. The default, plain, compares
plain runs with plain runs: that proves the cases, not an engine.
"""
import glob
import os

from harness import Skip, cases, expect, require
from unchanged import Trial

# Program -> its cases; those in LONG are for long runs only (DWELL_LONG=1).
PROGRAMS = {
    "signals": "rate own-function change-register continue-elsewhere nested raise altstack query "
               "at-start reset wait queue interrupted threads single-step",
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
            "made-code",
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
# What a plain compiler may lack: without it the program is not built.
NEEDS = {"panic": "rustc", "numbers": "gfortran"}
LONG = {"processes/ten-thousand-forks", "threads/thousand"}
# Case -> why it differs today.
KNOWN = {}


def built(context, program):
    """The program's flavours."""
    return sorted(glob.glob(os.path.join(context.targets, "hostile", program + "-*")))


def has_case(context, path, case):
    return case in context.run(path).stdout.split()


@cases(*(f"{program}/{case}" for program, names in PROGRAMS.items() for case in names.split()))
def test_unchanged(context, name):
    program, case = name.split("/")
    if name in LONG and not os.environ.get("DWELL_LONG"):
        context.skip("for long runs")
    engines = os.environ.get("DWELL_TRIALS", "plain").split(",")
    flavours = built(context, program)
    if not flavours:
        raise Skip(f"needs {NEEDS[program]}") if program in NEEDS else AssertionError("not built")
    found, runs = [], 0
    for path in flavours:
        if not has_case(context, path, case):
            continue
        runs += 1
        for engine, difference in Trial([path, case], seconds=60).differences(
                context.scratch, context.dwell, engines):
            if difference:
                found.append(f"{os.path.basename(path)} {case}, {engine}: {difference}")
    require(runs > 0, "no flavour has this case")
    if name in KNOWN and engines != ["plain"]:
        require(found, f"is listed as known ({KNOWN[name]}) but ran unchanged")
        context.skip(f"known: {KNOWN[name]}")
    require(not found, "\n".join(found))


@cases(*PROGRAMS)
def test_table(context, program):
    """The table above names all cases of all programs."""
    flavours = built(context, program)
    if not flavours:
        raise Skip(f"needs {NEEDS[program]}") if program in NEEDS else AssertionError("not built")
    found = {case for path in flavours for case in context.run(path).stdout.split()}
    expect(found, set(PROGRAMS[program].split()), "cases")


def test_known_exist(context):
    names = {f"{program}/{case}" for program, text in PROGRAMS.items() for case in text.split()}
    expect((set(KNOWN) | LONG) - names, set(), "unknown names")
