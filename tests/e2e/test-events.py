"""dwell sample --event and --kernel: what is counted is what the program did, and where."""

from harness import cases, expect, needs, one_line, require, rows_of

PAGES = 3000
SLEEPS = 100


def inclusive(context, name, column="inclusive_samples"):
    return sum(row[column] for row in rows_of(context.report("functions"), name))


def facts_of(context):
    return context.report("summary")["session"]


def test_page_faults(context):
    context.sample("-e", "page-faults", "--kernel", "never", "--", context.target("attach"),
                   "faults", str(PAGES))
    facts = facts_of(context)
    expect((facts["event"], facts["period"]), ("page-faults", 1), "event and period")
    here = inclusive(context, "touch_pages")
    require(PAGES - facts["samples_lost"] <= here <= PAGES + 5, f"{here} faults: {facts}")
    table = context.run(context.dwell, "report", "run.dwell", "functions").stdout
    require("page-faults" in table.splitlines()[0], table)


def test_one_sample_each_ten(context):
    context.sample("-e", "page-faults", "-c", "10", "--kernel", "never", "--",
                   context.target("attach"), "faults", str(PAGES))
    facts = facts_of(context)
    expect((facts["period"], facts["samples_lost"]), (10, 0), "period and lost samples")
    here = inclusive(context, "touch_pages")
    require(abs(here - PAGES / 10) <= 2, f"{here} samples")
    summary = context.run(context.dwell, "report", "run.dwell").stdout
    require("one each 10" in summary, summary)


@needs("root")
def test_context_switches(context):
    context.sample("-e", "context-switches", "--", context.target("attach"), "sleeps", str(SLEEPS))
    here = inclusive(context, "sleep_on")
    require(SLEEPS <= here <= 2 * SLEEPS, f"{here} switches of {SLEEPS} sleeps")
    require(inclusive(context, "schedule") + inclusive(context, "__schedule") >= here,
            context.report("functions")["rows"])


def test_task_clock(context):
    context.sample("-e", "task-clock", "--kernel", "never", "--", "sh", "-c",
                   "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done")
    facts = facts_of(context)
    expect((facts["event"], facts["frequency_hz"]), ("task-clock", 1000), "event and frequency")
    require(facts["samples_kept"] > 0, facts)


def kernel_share(context):
    rows = context.report("modules")["rows"]
    total = sum(row["exclusive_samples"] for row in rows if row["level"] == 0)
    kernel = sum(row["exclusive_samples"] for row in rows
                 if row["level"] == 0 and row["module_name"] == "[kernel]")
    return kernel / total


DD = ("dd", "if=/dev/zero", "of=/dev/null", "bs=1M", "count=20000")


@needs("root")
def test_kernel_with_callers(context):
    context.sample("--", *DD)
    facts = facts_of(context)
    expect(facts["kernel_sampled"], 1, "the kernel was sampled")
    require(kernel_share(context) > 0.8, kernel_share(context))
    inside = sum(inclusive(context, name) for name in ("read", "__read", "write", "__libc_write"))
    require(inside > 0.8 * facts["samples_kept"],
            context.report("functions")["rows"][:10])
    hidden = open("/proc/kallsyms").readline().startswith("0000000000000000")
    if not hidden:
        require(inclusive(context, "do_syscall_64") > 0.8 * facts["samples_kept"],
                context.report("functions")["rows"][:10])


def test_kernel_only_where_wanted(context):
    context.sample("--kernel", "never", "--", *DD)
    facts = facts_of(context)
    expect(facts["kernel_sampled"], 0, "the kernel was not sampled")
    expect(kernel_share(context) if facts["samples_kept"] else 0, 0, "its share")


def paranoid():
    return int(open("/proc/sys/kernel/perf_event_paranoid").read())


def refused(context, *words, before=()):
    done = context.run(*before, context.dwell, "sample", "-o", "run.dwell", *words, "true")
    expect((done.returncode, done.stdout), (125, ""), f"status and output of {words}")
    return one_line(done.stderr, f"sample {words}")


@cases("-e context-switches", "--kernel always", "-e cpu-migrations")
def test_ordinary_users_are_told(context, words):
    if paranoid() != 2:
        context.skip("kernel.perf_event_paranoid is not 2 here")
    text = refused(context, *words.split(), before=context.ordinary_user())
    require("perf_event_paranoid=1" in text and "cap_perfmon" in text, text)


def test_ordinary_users_sample_the_program(context):
    if paranoid() != 2:
        context.skip("kernel.perf_event_paranoid is not 2 here")
    done = context.run(*context.ordinary_user(), context.dwell, "sample", "-q", "-o", "run.dwell", "--",
                       "sh", "-c", "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done")
    expect((done.returncode, done.stderr), (0, ""), "status and errors")
    expect(facts_of(context)["kernel_sampled"], 0, "the kernel was not sampled")


@cases("nix", "", "software/x=1/", "a:b:c", "../software/")
def test_no_such_event(context, name):
    text = refused(context, f"--event={name}")
    require("there is no event" in text and "--event list" in text, text)


def test_list(context):
    done = context.run(context.dwell, "sample", "-e", "list")
    expect((done.returncode, done.stderr), (0, ""), "status and errors")
    lines = done.stdout.splitlines()
    require("page-faults" in lines and "cpu-clock" in lines, done.stdout)
    for line in lines:
        if line.endswith("(no counter here)"):
            text = refused(context, "-e", line.split()[0])
            require("cannot count" in text, text)
            break
