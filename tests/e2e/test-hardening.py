"""The collector is built so that its own mistakes are hard to exploit: it may be root and reads what others wrote."""
import re

from harness import require


def test_flags_of_the_collector(context):
    headers = context.make("readelf", "-hlW", context.dwell)
    dynamic = context.make("readelf", "-dW", context.dwell)
    require(re.search(r"^  Type: +DYN ", headers, re.M), "no position-independent executable")
    require(re.search(r"^  GNU_RELRO ", headers, re.M), "relocated data stays writable")
    require(re.search(r"\(FLAGS_1\).*\bNOW\b.*\bPIE\b", dynamic), f"functions are looked up late:\n{dynamic}")
    require(re.search(r"^  GNU_STACK .* RW +0x", headers, re.M), "an executable stack")
    require("TEXTREL" not in dynamic, "code is relocated")


def test_guards_of_the_collector(context):
    calls = context.make("objdump", "-d", "--no-show-raw-insn", context.dwell).count("<__stack_chk_fail@plt>\n")
    require(calls > 200, f"{calls} stack protectors")  # libiberty brings a hundred
    taken = re.findall(r" UND (\w+)", context.make("readelf", "--dyn-syms", "-W", context.dwell))
    checked = [name for name in taken if re.match(r"__\w+_chk$", name)]
    require(len(checked) >= 5, f"functions of _FORTIFY_SOURCE: {checked}")


def test_agents_have_no_guards(context):
    """They would be calls into the program's C library."""
    for agent in "probe", "sample", "clr":
        path = context.dwell.removesuffix("dwell") + f"libdwell-{agent}.so"
        taken = re.findall(r" UND (\w+)", context.make("readelf", "--dyn-syms", "-W", path))
        require(not [name for name in taken if "_chk" in name], f"{path} takes {taken}")
