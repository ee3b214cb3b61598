"""The page in a real browser, without any network: what it shows is what reports say, and it can be used
by mouse, keyboard and link (page/test/browser.mjs). Names from programs stay text."""
import os
import re
import subprocess

from harness import IS_LONG, PAGE, File, cases, expect, needs, require

FILE = File(needs=("chromium", "node", "npm packages", "WebAssembly"), parts=2)
SECONDS = 600
NUMBERS = ("summary_leads_to_functions", "views_show_what_reports_say", "inverted_trees_begin_at_functions",
           "filters_are_those_of_reports", "butterfly_has_the_numbers_of_callers",
           "summary_has_the_shares_of_the_terminal", "timeline_adds_up_to_what_reports_say",
           "flame_graph_has_the_tree_s_frames", "fetches_nothing")
HANDLING = ("errors_leave_no_old_numbers", "old_numbers_are_seen_to_be_old", "sorts_by_any_column", "searches",
            "searches_within_a_function", "sheets_stay_open_and_views_as_they_were", "butterfly_recentres",
            "flame_graph_leads_to_the_function_itself", "flame_graph_zooms_and_finds", "range_is_dragged_and_undone",
            "links_restore", "keys_do_everything", "csv_is_what_the_table_shows")
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


def export(context):
    """The exported page of run.dwell, with the shell as its sources are now."""
    folder = context.path("page")
    os.makedirs(folder)
    subprocess.run(["node", os.path.join(PAGE, "build.mjs"), os.path.join(folder, "page.html")], check=True)
    os.symlink(os.path.join(os.path.dirname(context.dwell), "src/page/engine.wasm"), os.path.join(folder, "engine.wasm"))
    done = context.run(context.dwell, "export", "run.dwell", "--format", "html", "-o", "run.html",
                       env={**context.env, "DWELL_PAGE": folder})
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


@cases(*METHODS)
def test_page(context, method):
    METHODS[method](context)
    look(context, *TESTS[method], *(["lifetime_is_a_picture"] if method == "memory" else []))


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


def test_units_of_the_shell(context):
    """The shell's own unit tests, in node."""
    done = context.run("node", os.path.join(PAGE, "test/run.mjs"))
    require(done.returncode == 0, f"{done.stdout}\n{done.stderr}")
    require(int(re.search(r"^# pass (\d+)", done.stdout, re.M)[1]) >= 30, done.stdout)
    checked = context.run("node", os.path.join(PAGE, "node_modules/typescript/bin/tsc"), "--noEmit", "-p", PAGE)
    expect((checked.returncode, checked.stdout), (0, ""), "tsc")
