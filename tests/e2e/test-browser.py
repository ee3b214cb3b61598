"""The page in a real browser, without any network: what it shows is what reports say, and it can be used
by mouse, keyboard and link (page/test/browser.mjs). Names from programs stay text."""
import os
import re
import signal
import subprocess

from harness import IS_LONG, PAGE, File, cases, children, expect, needs, require
from readers import start_recording

FILE = File(needs=("chromium", "node", "npm packages", "WebAssembly"), parts=2)
SECONDS = 600
NUMBERS = ("summary_leads_to_functions", "views_show_what_reports_say", "inverted_trees_begin_at_functions",
           "filters_are_those_of_reports", "butterfly_has_the_numbers_of_callers",
           "summary_has_the_shares_of_the_terminal", "timeline_adds_up_to_what_reports_say",
           "flame_graph_has_the_tree_s_frames", "fetches_nothing")
HANDLING = ("errors_leave_no_old_numbers", "old_numbers_are_seen_to_be_old", "sorts_by_any_column", "searches",
            "searches_within_a_function", "sheets_stay_open_and_views_as_they_were", "butterfly_recentres",
            "flame_graph_leads_to_the_function_itself", "flame_graph_zooms_and_finds", "range_is_dragged_and_undone",
            "links_restore", "keys_do_everything", "chips_take_ticks_back", "marks_are_of_what_is_seen", "csv_is_what_the_table_shows")
# The page is handled alike whatever it shows.
TESTS = {method: NUMBERS + (HANDLING if IS_LONG or method == "calls" else ()) for method in ("samples", "calls", "memory")}


def record_samples(context):
    context.sample("--", context.target("truth-gcc-O2"), "libraries", "0.5")


def record_calls(context):
    context.instrument("--", context.target("call-times"))


def record_memory(context):
    context.need("dotnet")
    done = context.run(context.dwell, "memory", "-q", "-o", "run.dwell", "--",
                       context.target("dotnet/managed"), "lives", "300")
    expect(done.returncode, 3, done.stderr)


METHODS = {"samples": record_samples, "calls": record_calls, "memory": record_memory}


def built(context):
    """The variables that make dwell take the shell as its sources are now."""
    folder = context.path("page")
    os.makedirs(folder)
    subprocess.run(["node", os.path.join(PAGE, "build.mjs"), os.path.join(folder, "page.html")], check=True)
    os.symlink(os.path.join(os.path.dirname(context.dwell), "src/page/engine.wasm"), os.path.join(folder, "engine.wasm"))
    return {**context.env, "DWELL_PAGE": folder}


def export(context):
    """The exported page of run.dwell."""
    done = context.run(context.dwell, "export", "run.dwell", "--format", "html", "-o", "run.html", env=built(context))
    expect((done.returncode, done.stderr), (0, ""), "export")
    return context.path("run.html")


def look(context, *tests):
    """Run tests of page/test/browser.mjs; all must have run, and passed."""
    page = export(context)
    done = context.run("node", os.path.join(PAGE, "test/browser.mjs"), context.dwell, context.path("run.dwell"), page, *tests,
                       seconds=SECONDS)
    passed = re.findall(r"^ok \d+ - (\w+)$", done.stdout, re.M)
    require(done.returncode == 0, f"{done.stdout}\n{done.stderr}")
    expect(sorted(passed), sorted(tests), "tests that passed")


OWN = {"memory": ["lifetime_is_a_picture"], "samples": ["latency_is_what_reports_say"]}


@cases(*METHODS)
def test_page(context, method):
    METHODS[method](context)
    look(context, *TESTS[method], *OWN.get(method, ()))


HOSTILE = r"""
#define NAMED(name, text) __attribute__((noinline)) void name(void) __asm__("\"" text "\""); \
	void name(void) { for (volatile int i = 0; i < 60000000; i++) {} }
NAMED(markup, "<img src=x onerror=document.title=1><script>document.title=2</script>")
NAMED(turned, "safe\xe2\x80\xaegnp.exe")
NAMED(controls, "bell\x07 escape\x1b[31m")
NAMED(attribute, "x' onmouseover='document.title=3")
NAMED(lengthy, LENGTHY)
int main(void) { markup(); turned(); controls(); attribute(); lengthy(); }
"""


def test_names_are_text(context):
    """Markup, controls and turned letters in names of functions are shown as they are, and do nothing."""
    with open(context.path("hostile.c"), "w", encoding="utf-8") as f:
        f.write(HOSTILE.replace("LENGTHY", '"std::' + "map<int, " * 1100 + '"'))
    done = context.run("gcc", "-O1", "-g0", "-o", "hostile", "hostile.c")
    expect((done.returncode, done.stderr), (0, ""), "gcc")
    context.sample("--", context.path("hostile"))
    look(context, "names_are_text", "fetches_nothing")


STAYS = ("says_that_it_is_live", "functions_stay_as_they_were", "trees_stay_open", "the_flame_graph_stays_zoomed",
         "a_range_is_of_the_same_reading")
LIVE = {"samples": ("sample", "recorder", (*STAYS, "nobody_looks_while_it_is_hidden", "slow_answers_do_not_queue")),
        "calls": ("instrument", "target", STAYS if IS_LONG else STAYS[-1:]),
        "killed": ("sample", "killed", ())}


@cases(*LIVE)
def test_live(context, case):
    """The page of a recording that goes on changes by itself and keeps what somebody has chosen; it becomes that of the
    finished session, and says so where the recorder was killed."""
    method, how, tests = LIVE[case]
    tests += ("becomes_the_finished_session",)
    variables = built(context)
    recorder = start_recording(context, method, "-q", "-o", "run.dwell", "--", context.target("truth-gcc-O2"), "plain", "100")
    server = subprocess.Popen([context.dwell, "view", "--no-browser", "run.dwell"], cwd=context.scratch, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=variables)
    try:
        url = server.stdout.readline().strip()
        [target] = children(recorder.pid)
        done = context.run("node", os.path.join(PAGE, "test/live.mjs"), context.dwell, context.path("run.dwell"), url, how,
                           str(target if how == "target" else recorder.pid), str(server.pid), *tests, seconds=SECONDS)
        passed = re.findall(r"^ok \d+ - (\w+)$", done.stdout, re.M)
        require(done.returncode == 0, f"{done.stdout}\n{done.stderr}")
        expect(sorted(passed), sorted(tests), "tests that passed")
        expect(server.wait(timeout=60), 0, "status of dwell view")
    finally:
        server.kill()
        server.communicate()
    if how == "killed":
        os.kill(target, signal.SIGKILL)
    recorder.communicate(timeout=60)


TWIN = r"""
static __attribute__((noinline)) void twin(void) { for (volatile int i = 0; i < TIMES; i++) {} }
void ENTRY(void) { twin(); }
"""


def test_same_names_are_apart(context):
    """Two functions of one name in one module are two wherever one is chosen."""
    with open(context.path("main.c"), "w", encoding="utf-8") as f:
        f.write("void one(void); void other(void); int main(void) { one(); other(); }\n")
    for entry, times in (("one", 100), ("other", 200)):
        with open(context.path(f"{entry}.c"), "w", encoding="utf-8") as f:
            f.write(TWIN)
        done = context.run("gcc", "-O1", "-g", "-c", f"-DENTRY={entry}", f"-DTIMES={times}000000", f"{entry}.c")
        expect((done.returncode, done.stderr), (0, ""), "gcc")
    done = context.run("gcc", "-O1", "-g", "-o", "names", "main.c", "one.o", "other.o")
    expect((done.returncode, done.stderr), (0, ""), "gcc")
    context.sample("--", context.path("names"))
    look(context, "same_names_are_apart")


def test_units_of_the_shell(context):
    """The shell's own unit tests, in node."""
    done = context.run("node", os.path.join(PAGE, "test/run.mjs"))
    require(done.returncode == 0, f"{done.stdout}\n{done.stderr}")
    require(int(re.search(r"^# pass (\d+)", done.stdout, re.M)[1]) >= 30, done.stdout)
    checked = context.run("node", os.path.join(PAGE, "node_modules/typescript/bin/tsc"), "--noEmit", "-p", PAGE)
    expect((checked.returncode, checked.stdout), (0, ""), "tsc")
