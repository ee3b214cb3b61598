"""Functions of PHP and Ruby in samples of launched programs, where perf is allowed and where it is refused; those of
Python have tests of their own (test-python.py)."""
import collections
import math
import os

from harness import File, cases, expect, require, stacks_of

FILE = File(without_perf=("*callers*", "*first_screen*"))
SIGMA = 3.5
TARGETS = os.path.realpath(os.path.join(os.path.dirname(__file__), os.pardir, "targets"))

# What may call each function of known.php and known.rb; "" = the program begins with it.
PHP_CALLS = {
    "known.php": {""},
    "k_main": {"known.php", "k_child"},
    "k_child": {"known.php"},
    "k_chain_1": {"k_main"},
    **{f"k_chain_{i}": {f"k_chain_{i - 1}"} for i in range(2, 5)},
    "k_short": {"k_chain_4"},
    "k_recurse": {"k_main", "k_recurse"},
    "k_bottom": {"k_recurse"},
    "k_consume": {"k_main"},
    "k_generate": {"k_consume"},
    "k_given": {"k_generate", "{closure}"},
    "k_sort": {"k_main"},
    "usort": {"k_sort"},
    "k_key": {"usort"},
    "array_map": {"k_key"},
    "k_map": {"array_map"},
    "k_try": {"k_main"},
    "k_raise_1": {"k_try"},
    "k_raise_2": {"k_raise_1"},
    "k_raise_3": {"k_raise_2"},
    "k_methods": {"k_main"},
    "KBase::inherited": {"k_methods"},
    "KBase::fixed": {"KBase::inherited"},
    "KBase::__get": {"KBase::inherited"},
    "KOne::shared": {"k_methods"},
    "KTwo::shared": {"k_methods"},
    "k_closure": {"k_main"},
    "{closure}": {"k_closure", "k_main"},
    "k_fiber": {"k_main"},
    "Fiber::start": {"k_fiber"},
    "Fiber::resume": {"k_fiber"},
    "k_body": {"Fiber::start", "Fiber::resume"},
    "k_in_fiber": {"k_body", "k_in_fiber"},
    "k_hot": {"k_main"},
}
RUBY_CALLS = {
    "<main>": {""},
    "block in <main>": {"<main>"},
    "block (2 levels) in <main>": {""},  # a thread
    "k_child": {"block in <main>"},
    "k_thread": {"block (2 levels) in <main>"},
    "k_main": {"<main>", "k_child", "k_thread", "eval"},  # what is evaluated has the name of who does so
    "eval": {"k_main"},
    "block in k_main": {"k_main"},
    "k_chain_1": {"block in k_main"},
    **{f"k_chain_{i}": {f"k_chain_{i - 1}"} for i in range(2, 5)},
    "k_short": {"k_chain_4"},
    "k_recurse": {"block in k_main", "k_recurse"},
    "k_bottom": {"k_recurse"},
    "k_consume": {"k_main"},
    "k_generate": {"k_consume"},
    "block in k_generate": {"k_generate"},
    "block in k_consume": {"block in k_generate"},
    "k_given": {"block in k_generate", "block in k_closure"},
    "k_sort": {"k_main"},
    "sort_by": {"k_sort"},
    "block in k_sort": {"sort_by"},
    "k_key": {"block in k_sort"},
    "block in k_key": {"map"},
    "map": {"k_key", "<main>"},
    "k_map": {"block in k_key"},
    "k_try": {"block in k_main"},
    "rescue in k_try": {"k_try"},
    "k_raise_1": {"k_try"},
    "ensure in k_raise_1": {"k_raise_1"},
    "k_raise_2": {"k_raise_1"},
    "k_raise_3": {"k_raise_2"},
    "raise": {"k_raise_3"},
    "k_methods": {"k_main"},
    "block in k_methods": {"k_methods"},
    "inherited_one": {"block in k_methods"},
    "fixed": {"inherited_one"},
    "method_missing": {"inherited_one"},
    "block in <class:KBase>": {"block in k_methods"},
    "k_closure": {"k_main"},
    "block in k_closure": {"k_closure"},
    "k_fiber": {"k_main"},
    "block in k_fiber": {""},  # the stack of a fiber begins there
    "k_body": {"block in k_fiber"},
    "block in k_body": {"k_body"},
    "k_in_fiber": {"block in k_body", "k_in_fiber"},
    "k_hot": {"k_main"},
}
LANGUAGES = {
    "php": {"known": "known.php", "shares": "shares.php", "waiting": "waiting.php", "calls": PHP_CALLS,
            "machine": ("execute_ex", "zend_", "php8"),
            "loop": ("    for ($i = 0; $i < $n; $i++) {", "        $s += $i * 31;"), "spend": "Sixth::spend",
            "between": ("usort", "k_key"), "kinds": ("once", "fork", "spawn"),
            "compiles_now": ("-r", "exit(opcache_get_status()['jit']['on'] ? 0 : 1);"),
            "compiles": ("-d", "opcache.enable_cli=1", "-d", "opcache.jit=tracing", "-d", "opcache.jit_buffer_size=32M")},
    "ruby": {"known": "known.rb", "shares": "shares.rb", "waiting": "waiting.rb", "calls": RUBY_CALLS, "machine": ("libruby", "rb_"),
             "loop": ("  while i < n", "    s += i * 31", "    i += 1"), "spend": "spend",
             "between": ("sort_by", "block in k_sort"), "kinds": ("once", "fork", "spawn", "threads"),
             "compiles_now": ("-e", "exit(RubyVM::YJIT.enabled?)"), "compiles": ("--yjit",)},
}


def target(language, name):
    return os.path.join(TARGETS, LANGUAGES[language][name])


def sample(context, language, *words):
    context.need(language)
    done = context.sample("--", language, *words)
    facts = context.report("summary")["session"]
    expect((facts["road"], facts["samples_lost"], facts["records_lost"]), ("inside", 0, 0), "sampler, lost")
    unread = facts.get(f"{language}_unread", 0)  # there may be no samples, where all is waiting
    require(unread <= 0.02 * facts["samples_kept"] + 2, f"{unread} samples were not read")
    return done, facts


def check_callers(context, calls):
    """How many samples there are, how many are in the program's functions, in how many of these one has a caller
    that does not call it, and which functions were met."""
    total, told, wrong, met = 0, 0, collections.Counter(), collections.Counter()
    for names, n in stacks_of(context):
        # Before the program begins its interpreter runs code of its own, by the same names.
        is_program = any(name.startswith("k_") for name in names)
        known = [name for name in names if is_program and name in calls]
        total += n
        told += n if known else 0
        caller, bad = "", ""
        for name in known:
            if caller not in calls[name]:
                bad = bad or f"{caller} > {name}"
            caller = name
        met.update({name: n for name in set(known)})
        if bad:
            wrong[bad] += n
    return total, told, wrong, met


@cases(*(f"{language}-{kind}" for language, of in LANGUAGES.items() for kind in of["kinds"]))
def test_each_function_has_its_callers(context, case):
    language, kind = case.split("-")
    calls = LANGUAGES[language]["calls"]
    done, facts = sample(context, language, target(language, "known"), "1.5", *([] if kind == "once" else [kind]))
    expect(done.stdout, "done\n" if kind != "spawn" else "done\ndone\n", "output")
    total, told, wrong, met = check_callers(context, calls)
    require(told >= 200, f"{told} of {total} samples are in the program's functions")
    require(sum(wrong.values()) <= 0.02 * told, f"wrong callers: {wrong}, of {told} samples")
    start = 20  # samples before the program begins, of slow machines
    require(facts[f"{language}_samples"] >= 0.9 * (total - start), f"{facts[f'{language}_samples']} of {total} samples")
    require(len(met) > 0.6 * len(calls), f"functions that were met: {met}")


@cases(*LANGUAGES)
def test_compiled_code_is_its_functions(context, language):
    """Of code that the interpreter compiles the native frames are cut, and its own are told."""
    context.need(language)
    options = LANGUAGES[language]["compiles"]
    if context.run(language, *options, *LANGUAGES[language]["compiles_now"]).returncode:
        context.skip(f"this {language} compiles nothing")
    context.sample("--", language, *options, target(language, "known"), "1.5")
    total, told, wrong, _ = check_callers(context, LANGUAGES[language]["calls"])
    require(told >= 200 and told >= 0.85 * total, f"{told} of {total} samples are in the program's functions")
    require(sum(wrong.values()) <= 0.02 * told, f"wrong callers: {wrong}, of {told} samples")
    made = sum(n for names, n in stacks_of(context) if names[-1].startswith(("[anon]", "zero+")))
    require(made <= 0.05 * total, f"{made} of {total} samples in code without functions")


@cases(*LANGUAGES)
def test_native_frames_stand_between(context, language):
    """What C calls back is above what called it, with native frames between them."""
    outer, inner = LANGUAGES[language]["between"]
    sample(context, language, target(language, "known"), "1")
    between, apart = 0, 0
    for names, n in stacks_of(context):
        if outer in names and inner in names:
            between += n
            apart += n if names.index(inner) > names.index(outer) + 1 else 0
    require(between > 5, f"only {between} samples in {inner}")
    expect(apart, between, f"samples with native frames between {outer} and {inner}")


@cases(*LANGUAGES)
def test_shares_lines_and_first_screen(context, language):
    facts_of = LANGUAGES[language]
    shares = target(language, "shares")
    done, _ = sample(context, language, shares, "2000")
    said = {name: int(ns) for name, ns in (line.split() for line in done.stdout.splitlines())}
    rows = context.report("functions")["rows"]
    got = {name: sum(row["inclusive_samples"] for row in rows if row.get("source_file") == shares
                     and row["function_name"] == (facts_of["spend"] if name == "spend" else name))
           for name in said}
    n, wanted = sum(got.values()), sum(said.values())
    require(n > 200, f"samples: {got}")
    for name, ns in said.items():
        share = ns / wanted
        allowed = SIGMA * math.sqrt(share * (1 - share) * n) + 0.02 * n
        require(abs(got[name] - share * n) <= allowed, f"{name}: {got[name]} of {n}, its share is {share}")
    with open(shares) as source:
        text = source.read().splitlines()
    lines = [row for row in context.report("lines", "--just-my-code")["rows"] if row["function_name"] == "half"]
    total = sum(row["exclusive_samples"] for row in lines)
    loop = sum(row["exclusive_samples"] for row in lines if row["source_file"] == shares
               and row["source_line_begin"] in [text.index(line) + 1 for line in facts_of["loop"]])
    require(total and loop >= 0.95 * total - 3, f"{loop} of {total} samples of half in its loop: {lines}")
    done = context.run(context.dwell, "report", "run.dwell")
    expect(done.returncode, 0, done.stderr)
    functions = done.stdout.split("Functions by time of their own")[1].split("\n\n")[0].splitlines()[1:]
    require("half" in functions[0] or "step" in functions[0], done.stdout)
    for word in facts_of["machine"]:
        require(word not in "\n".join(functions[:3]), f"{word} on the first screen: {done.stdout}")


@cases(*LANGUAGES)
def test_waits_are_of_functions(context, language):
    done, facts = sample(context, language, target(language, "waiting"), "30")
    took = {name: int(ns) for name, ns in (line.split() for line in done.stdout.splitlines())}
    read, unread = (facts[f"waits_{language}_{name}"] for name in ("read", "unread"))
    require(read > 10 and read > 20 * unread, f"stacks of waits: {read} read, {unread} not")
    rows = {row["function_name"]: row for row in context.report("functions", "--waits", "all")["rows"]}
    for name in ("naps", "reads"):
        waited = rows[name]["inclusive_blocked_time"]
        require(0.5 * took[name] < waited < 1.3 * took[name], f"{name} waited {waited} of {took[name]}")
    waits = {row["waits_for"]: row for row in context.report("waits")["rows"]}
    expect(waits["sleep"]["function_name"], "naps", f"who sleeps: {waits}")
    require(waits["sleep"]["function_wait_time"] > 0.5 * took["naps"], f"{waits['sleep']} of {took['naps']}")
