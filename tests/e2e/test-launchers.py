"""Executables whose work is in a library: that is measured without being named, and it is said."""
import csv
import io
import shutil

from harness import cases, expect, require

LINE = "launcher has little code of its own: measured with liblauncher.so (--module chooses otherwise)."
# Of main() and what it calls, and of the library's 256 functions and run_work().
WORK = 257


def instrument(context, *words):
    done = context.run(context.dwell, "instrument", "-o", "x.dwell", *words)
    expect(done.returncode, 0, f"status of dwell instrument {' '.join(words)}\n{done.stderr}")
    return done.stderr


def calls(context):
    """Calls by module and function of the last recording."""
    found = {}
    for row in context.report("functions", session="x.dwell")["rows"]:
        if row["number_of_calls"]:
            key = row["module_name"], row["function_name"]
            found[key] = found.get(key, 0) + row["number_of_calls"]
    return found


def calls_of_library(context):
    return {name: n for (module, name), n in calls(context).items() if module == "liblauncher.so"}


def facts(context):
    session = context.report("summary", session="x.dwell")["session"]
    return session.get("modules_chosen"), session.get("modules_chosen_for")


def expect_work(context, n):
    found = calls_of_library(context)
    expect(len(found), WORK, "functions of the library that were called")
    expect({name: k for name, k in found.items() if k != n and name != "run_work"}, {},
           f"calls other than {n}")


@cases("launched", "executed")
def test_its_library_is_measured(context, how):
    program = context.target("launcher")
    words = [program, "7"] if how == "launched" else ["sh", "-c", f"{program} 7; true"]
    summary = instrument(context, "--", *words)
    expect_work(context, 7)
    expect(facts(context), ("liblauncher.so", "launcher"), "facts")
    require(LINE in summary, summary)


def test_launchers_of_several_names_are_told(context):
    other = context.path("launcher-2")
    shutil.copy(context.target("launcher"), other)
    summary = instrument(context, "--", "sh", "-c", f"{context.target('launcher')}; {other}; {other}")
    expect(facts(context), ("liblauncher.so", "launcher,launcher-2"), "facts")
    require("launcher, launcher-2 have little code of their own: measured with liblauncher.so "
            "(--module" in summary, summary)
    expect_work(context, 3)


def test_library_of_another_name_is_not_measured(context):
    summary = instrument(context, "--", context.target("with-library"), "20")
    found = calls(context)
    expect({name: n for (_, name), n in found.items() if name.startswith(("own_", "work_"))},
           {"own_work": 20}, "calls")
    expect(facts(context), (None, None), "facts")
    require("little code" not in summary, summary)


def test_same_library_is_measured_for_its_launcher_alone(context):
    """Two programs that are linked to it, in one recording."""
    words = f"{context.target('with-library')} 20; {context.target('launcher')} 7"
    instrument(context, "--", "sh", "-c", words)
    expect_work(context, 7)


@cases("launcher", "libm.so*")
def test_naming_modules_is_all_that_counts(context, module):
    summary = instrument(context, "--module", module, "--", context.target("launcher"), "7")
    expect([name for name in calls_of_library(context) if name.startswith("work_")], [], "calls")
    expect(facts(context), (None, None), "facts")
    expect("no module was loaded that fits" in summary, module != "launcher", summary)


def test_functions_are_chosen_in_it(context):
    instrument(context, "--include", "work_a*", "--exclude", "work_a0", "--",
               context.target("launcher"), "7")
    expect(calls_of_library(context), {f"work_a{n:x}": 7 for n in range(1, 16)}, "calls")


def test_it_is_listed(context):
    for words, modules in ((["launcher"], {"launcher", "liblauncher.so"}),
                           (["with-library"], {"with-library"})):
        done = context.run(context.dwell, "instrument", "--list-functions", "-f", "csv", "--",
                           context.target(*words))
        expect(done.returncode, 0, done.stderr)
        rows = csv.DictReader(io.StringIO(done.stdout))
        expect({row["module"] for row in rows}, modules, f"modules of {words}")
