"""What is the same for all methods: how the command is started, and what limits leave of dwell."""
import os
import resource

from harness import cases, expect, one_line, require

FAILED = 125
METHODS = {
    "instrument": ["instrument"],
    "memory": ["memory"],
    "sample": ["sample"],
    "sample-inside": ["sample", "--road", "inside"],
}


@cases(*METHODS)
def test_signals_of_the_caller_are_the_commands(context, method):
    """Dwell ignores some signals itself; the command has those that the caller ignores."""
    words = ["grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status"]
    for caller in ("trap - PIPE XFSZ", "trap '' PIPE", "trap '' PIPE XFSZ QUIT IO"):
        script = f'{caller}; exec "$@"'
        plain = context.run("bash", "-c", script, "bash", *words, restore_signals=True)
        got = context.run("bash", "-c", script, "bash", context.dwell, *METHODS[method], "-q",
                          "--", *words, restore_signals=True)
        expect(got.stdout, plain.stdout, f"signals after {caller}\n{got.stderr}")


@cases(*METHODS)
def test_file_size_limit_at_the_start(context, method):
    """No session can be made: that is said, and the command does not start."""
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))

    marker = context.path("ran")
    done = context.run(context.dwell, *METHODS[method], "-o", "run.dwell", "--", "touch", marker,
                       preexec_fn=limit)
    expect(done.returncode, FAILED, f"status\n{done.stderr}")
    one_line(done.stderr, "stderr")
    require("cannot write the session" in done.stderr, done.stderr)
    require(not os.path.exists(marker), "the command was started")
    expect([n for n in os.listdir(context.path(".")) if n.startswith("run.")], [], "files left")
