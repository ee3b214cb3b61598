"""Bad pointers (tests/targets/pointers.c) end as without an agent: with the same results and errno."""
from harness import cases, expect, require

AGENTS = {"probe": ["instrument", "--all-functions"], "sample": ["sample", "--sampler", "in-process"],
          "clr": ["memory"]}


@cases(*AGENTS)
def test_ends_as_a_plain_run(context, agent):
    program, maps = context.target("pointers"), context.path("maps")
    plain = context.run(program, context.path("plain-maps"))
    expect(plain.returncode, 0, "status of a plain run")
    require("here one: -1 EFAULT" in plain.stdout and "posix_spawn one: 14" in plain.stdout,
            "a plain run has no bad pointers")
    done = context.run(context.dwell, *AGENTS[agent], "-q", "-o", context.path("session.dwell"), "--",
                       program, maps)
    differing = [pair for pair in zip(plain.stdout.splitlines(), done.stdout.splitlines())
                 if pair[0] != pair[1]]
    require(plain.stdout == done.stdout, f"plain, with the agent: {differing[:20]}\n{done.stderr}")
    expect(done.returncode, 0, "status")
    with open(maps, encoding="utf-8") as file:
        require(f"libdwell-{agent}.so" in file.read(), "the agent was not there at the end")
    if agent == "probe":
        calls = context.report("summary", session="session.dwell")["session"]["number_of_calls"]
        require(calls > 100000, f"{calls} calls")
    if agent == "sample":
        samples = context.report("summary", session="session.dwell")["session"]["samples_kept"]
        require(samples > 20, f"{samples} samples")
