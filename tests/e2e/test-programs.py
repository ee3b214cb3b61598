"""Programs of the distribution do real work unchanged (programs.py).

Each runs plain and again under each engine (unchanged.py; DWELL_TRIALS names others). Most of
the third that needs no further packages run always, all with DWELL_LONG=1. KNOWN ones differ, with the reason; they are
expected failures, and one that stops differing fails.
"""
import os
import pwd
import shutil

from harness import IS_LONG, File, Known, cases, require
from programs import PACKAGES, PROGRAMS
from unchanged import DEFAULT_ENGINES, Trial

FILE = File(parts=2)
INPUTS = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../programs"))
BY_NAME = {program.name: program for program in PROGRAMS}
# The name of a program -> why it differs today.
KNOWN = {}
MISSED = {"gdb": ("processes_not_instrumented",)}  # it kills the program that it debugs


def search_path():
    """Where servers and compilers hide."""
    versions = "/usr/lib/postgresql"
    found = sorted(os.listdir(versions)) if os.path.isdir(versions) else []
    return os.pathsep.join([os.path.expanduser("~/.cargo/bin")] +
                           [os.path.join(versions, version, "bin") for version in found[-1:]] +
                           ["/usr/bin", "/bin", "/usr/sbin", "/sbin", "/usr/local/bin"])


def make_trial(context, program):
    user = None
    if program.user:
        if os.getuid():
            user = None
        else:
            user = pwd.getpwnam(program.user)
            context.let_others_in()
    env = {"P": INPUTS, "PATH": search_path(), "RUSTUP_HOME": os.path.expanduser("~/.rustup"),
           **program.env}
    words = [word.replace("$P", INPUTS) for word in program.command()]
    return Trial(words, program.setup, env=env, ignore=program.ignore, user=user,
                 must_work=True, may_miss=MISSED.get(program.name, ()))


@cases(*(name for name, program in BY_NAME.items() if IS_LONG or program.is_quick))
def test_unchanged(context, name):
    program = BY_NAME[name]
    package = PACKAGES.get(program.needs, program.needs)
    require(shutil.which(program.needs, path=search_path()), f"{program.needs} is not installed: {package}")
    engines = os.environ.get("DWELL_TRIALS", DEFAULT_ENGINES).split(",")
    found = [f"{engine}: {difference}" for engine, difference in
             make_trial(context, program).differences(context.scratch, context.dwell, engines)
             if difference]
    if name in KNOWN and engines != ["plain"]:
        require(found, f"is listed as known ({KNOWN[name]}) but ran unchanged")
        raise Known(KNOWN[name])
    require(not found, "\n".join(found))


def test_names(context):
    require(len(BY_NAME) == len(PROGRAMS), "two programs have one name")
    require(set(KNOWN) <= set(BY_NAME), "unknown names in KNOWN")
