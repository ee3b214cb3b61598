"""Debug information from servers: a real debuginfod, and servers that are dead, slow or lie."""
import contextlib
import http.server
import os
import shutil
import signal
import socket
import subprocess
import threading
import time

import managed
from harness import AS_NOBODY, cases, expect, needs, perf_program, require, rows_of

PROGRAM = r"""
#include <time.h>
static volatile unsigned long sink;
__attribute__((noinline)) static void hidden_work(void)
{
	for (unsigned i = 0; i < 100000; i++)
		sink += i * sink;
}
int main(void)
{
	while (clock() < CLOCKS_PER_SEC / 4)
		hidden_work();
	return 0;
}
"""


def strip(context, program, debug):
    """Move the debug information of @program to the file @debug: its build-id."""
    context.make("objcopy", "--only-keep-debug", program, debug)
    context.make("strip", program)
    return context.make("readelf", "-n", program).split("Build ID: ")[1].split()[0]


class Case:
    """A stripped program, whose debug file lies in the folder "served"."""

    def __init__(self, context, name="program", text=PROGRAM):
        self.context, self.program = context, context.path(name)
        os.makedirs(context.path("served"), exist_ok=True)
        self.debug = context.path(f"served/{name}.debug")
        with open(self.program + ".c", "w") as f:
            f.write(text)
        context.make("gcc", "-g", "-O1", "-Wl,--build-id", "-o", self.program,
                     self.program + ".c")
        self.id = strip(context, self.program, self.debug)

    def sample(self, url, *options, before=(), env=(), **more):
        """A session of the program; the facts of its report."""
        environment = {**self.context.env, **dict(env)}
        environment.pop("DEBUGINFOD_URLS", None)
        if url:
            environment["DEBUGINFOD_URLS"] = url
        self.context.sample(*options, *before, self.program, env=environment, **more)
        return self.context.report("functions")["session"]

    def cached(self):
        """Where the collector keeps the debug file."""
        return os.path.join(self.context.env["XDG_CACHE_HOME"], "debuginfod_client", self.id, "debuginfo")

    def is_named(self):
        return bool(rows_of(self.context.report("functions"), "hidden_work"))


class Server:
    """Answers /buildid/ID/debuginfo by @answer(id): bytes, or None = there is none."""

    def __init__(self, answer):
        self.asked = asked = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                asked.append(self.path)
                body = answer(self.path.split("/")[2])
                self.send_response(404 if body is None else 200)
                self.send_header("Content-Length", str(len(body or b"")))
                self.end_headers()
                self.wfile.write(body or b"")

            def log_message(self, *words):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


def read(path):
    with open(path, "rb") as f:
        return f.read()


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def start_debuginfod(context):
    """The real server over the folder "served", when it answers: its process and URL."""
    port = free_port()
    server = context.start("debuginfod", "-F", "-p", str(port), "-d", ":memory:",
                           context.path("served"), stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL)
    return server, f"http://127.0.0.1:{port}"


def test_real_server_and_its_cache(context):
    case = Case(context)
    server, url = start_debuginfod(context)
    try:
        # debuginfod-find keeps what it is told in a cache, so it has one of its own.
        env = {**context.env, "DEBUGINFOD_URLS": url, "DEBUGINFOD_CACHE_PATH": context.path("c")}

        def is_ready():
            shutil.rmtree(context.path("c"), ignore_errors=True)
            return not context.run("debuginfod-find", "debuginfo", case.id, env=env).returncode

        context.wait_for(is_ready, "the server to have read its folder")
        facts = case.sample(url, "--debuginfod-timeout", "100")
    finally:
        os.killpg(server.pid, signal.SIGKILL)
        server.wait()
    expect(facts["debuginfod"], "asked", "debuginfod")
    require(facts["debuginfod_found"] >= 1, facts)
    require(case.is_named(), "no hidden_work")
    lines = [row for row in context.report("lines")["rows"] if row["source_file"]]
    require(any(row["source_file"].endswith("program.c") for row in lines), lines)
    require(os.path.getsize(case.cached()) > 0, case.cached())
    facts = case.sample(url, "--debuginfod")
    require(case.is_named(), "the cache was not used")


def test_nobody_is_asked_unless_wanted(context):
    case = Case(context)
    with Server(lambda _: read(case.debug)) as server:
        facts = case.sample(server.url)
        expect((server.asked, "debuginfod" in facts), ([], False), "questions without the option")
        require(not case.is_named(), "hidden_work has a name")
        context.env["DEBUGINFOD_URLS"] = server.url
        context.instrument(case.program)
        for view in "summary", "lines":
            context.report(view)
        context.run(context.dwell, "report", "run.dwell", "instructions", "hidden_work")
        context.run(context.dwell, "doctor")
        expect(server.asked, [], "questions without the option")


def test_only_what_is_missing_is_asked_for(context):
    case = Case(context)
    with Server(lambda id: read(case.debug) if id == case.id else None) as server:
        case.sample(server.url, "--debuginfod")
        require(case.is_named(), "no hidden_work")
        require(f"/buildid/{case.id}/debuginfo" in server.asked, server.asked)
        require(all(p.endswith("/debuginfo") for p in server.asked), server.asked)
        server.asked.clear()
        context.make("gcc", "-g", "-O1", "-o", case.program, case.program + ".c")
        built = context.make("readelf", "-n", case.program).split("Build ID: ")[1].split()[0]
        case.sample(server.url, "--debuginfod")
        require(not any(built in p for p in server.asked), (built, server.asked))


def test_instrument(context):
    case = Case(context)
    with Server(lambda id: read(case.debug) if id == case.id else None) as server:
        context.env["DEBUGINFOD_URLS"] = server.url
        context.instrument("--debuginfod", case.program)
    require(case.is_named(), "no hidden_work")


@needs("dotnet")
def test_memory(context):
    """Native functions between managed ones get names, too."""
    debug, libraries = {}, []
    for name in ("first", "second"):
        libraries.append(shutil.copy(context.target(f"dotnet/lib{name}.so"),
                                     context.path(f"lib{name}.so")))
        debug[strip(context, libraries[-1], context.path(name))] = context.path(name)
    for options, wanted in ((["--native-frames"], set()),
                            (["--native-frames", "--debuginfod"], {"inner", "middle"})):
        with Server(lambda id: read(debug[id]) if id in debug else None) as server:
            managed.record(context, "callbacks", "20", *libraries, options=options,
                           env={"DEBUGINFOD_URLS": server.url})
        rows = managed.report(context, "allocations", "--trim", "0", "--type", "Called")["rows"]
        native = {(row["name"], row["module_name"]) for row in rows
                  if row["module_name"] in ("libfirst.so", "libsecond.so")}
        require(native, "no native frames")
        for library in ("libfirst.so", "libsecond.so"):
            expect({name for name, module in native if module == library} & {"inner", "middle"},
                   wanted, f"names in {library} with {options}")


@needs("perf events")
def test_import(context):
    case = Case(context)
    with Server(lambda id: read(case.debug) if id == case.id else None) as server:
        context.env["DEBUGINFOD_URLS"] = server.url
        context.make(perf_program(), "record", "-q", "-o", "perf.data", "-g", "-e", "cpu-clock:u", case.program)
        context.make(context.dwell, "import", "-q", "-o", "run.dwell", "perf.data")
        require(not case.is_named(), "hidden_work has a name")
        context.make(context.dwell, "import", "-q", "--debuginfod", "-o", "run.dwell", "perf.data")
        require(case.is_named(), "no hidden_work")


def test_recover(context):
    case = Case(context, text=PROGRAM.replace("CLOCKS_PER_SEC / 4", "CLOCKS_PER_SEC * 600"))
    with Server(lambda id: read(case.debug) if id == case.id else None) as server:
        context.env["DEBUGINFOD_URLS"] = server.url
        recording = context.start(context.dwell, "sample", "-q", "-o", "run.dwell", case.program)

        def has_samples():
            done = context.run(context.dwell, "report", "run.dwell.partial", "functions", "-f",
                               "csv")
            return case.program.split("/")[-1] in done.stdout

        try:
            context.wait_for(has_samples, "samples")
        finally:
            recording.kill()
            recording.wait()
            os.killpg(recording.pid, signal.SIGKILL)
        context.make(context.dwell, "recover", "--debuginfod", "run.dwell.partial")
        require(case.is_named(), "no hidden_work")


@needs("root")
def test_target_of_another_user(context):
    """The collector may read its cache, the target's user may not."""
    case = Case(context)
    os.chmod(context.scratch, 0o755)
    with Server(lambda id: read(case.debug) if id == case.id else None) as server:
        case.sample(server.url, "--debuginfod", before=AS_NOBODY)
    require(case.is_named(), "no hidden_work")
    cached = case.cached()
    expect(os.stat(cached).st_mode & 0o077, 0, "rights of others to the file in the cache")
    other = context.run(*AS_NOBODY, "cat", cached)
    require(other.returncode and "Permission denied" in other.stderr, f"cat as nobody: {other.stderr}")


def test_dead_server(context):
    case = Case(context)
    facts = case.sample(f"http://127.0.0.1:{free_port()}", "--debuginfod")
    expect((facts["debuginfod"], facts["debuginfod_found"], facts["debuginfod_late"]),
           ("asked", 0, 0), "what came of it")
    expect(facts["debuginfod_failed"], facts["debuginfod_modules"], "modules not answered")


@contextlib.contextmanager
def silent_server():
    """A socket that listens, and its URL: whoever is there does not answer by itself."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(64)
        yield listening, f"http://127.0.0.1:{listening.getsockname()[1]}"


@cases("never answers", "stops in the middle")
def test_slow_server(context, how):
    """The deadline holds: without it this would wait for ever."""
    case = Case(context)
    with silent_server() as (listening, url):
        def serve():
            held = []
            while True:
                try:
                    held.append(listening.accept()[0])
                    if how != "never answers":
                        held[-1].sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\nx")
                except OSError:
                    return

        threading.Thread(target=serve, daemon=True).start()
        facts = case.sample(url, "--debuginfod-timeout", "2s")
    require(facts["debuginfod_modules"] > 0, facts)
    expect(facts["debuginfod_late"], facts["debuginfod_modules"], "modules that came too late")
    require(not case.is_named(), "hidden_work has a name")


@cases("SIGINT", "SIGTERM")
def test_somebody_waits(context, name):
    """Who wants the end while servers are asked does not wait for their deadline."""
    case = Case(context)
    with silent_server() as (listening, url):
        env = {**context.env, "DEBUGINFOD_URLS": url}
        recording = context.start(context.dwell, "sample", "-q", "--debuginfod-timeout", "600s",
                                  "-o", "run.dwell", case.program, env=env)
        listening.settimeout(60)
        asked = listening.accept()[0]
        begin = time.monotonic()
        recording.send_signal(getattr(signal, name))
        recording.wait(60)
        asked.close()
    require(time.monotonic() - begin < 20, "dwell went on waiting")
    facts = context.report("functions")["session"]
    expect(facts["debuginfod_late"], facts["debuginfod_modules"], "modules that came too late")
    left = [f for _, _, files in os.walk(context.env["XDG_CACHE_HOME"]) for f in files
            if f.startswith("debuginfo.")]
    expect(left, [], "unfinished files")


@cases("another build", "garbage", "empty")
def test_lying_server(context, lie):
    case = Case(context)
    other = Case(context, "other", PROGRAM.replace("hidden_work", "other_work"))
    body = {"another build": read(other.debug), "garbage": os.urandom(5000), "empty": b""}[lie]
    with Server(lambda _: body) as server:
        facts = case.sample(server.url, "--debuginfod-timeout", "100")
    expect(facts["debuginfod_found"], 0, f"files found, {facts}")
    if lie != "empty":
        expect(facts["debuginfod_wrong"], facts["debuginfod_modules"], f"wrong answers, {facts}")
    functions = context.report("functions")
    require(not rows_of(functions, "other_work"), "names of another build")


def test_damaged_debug_file(context):
    """It has the right build-id; what else it says is read by a helper process."""
    case = Case(context)
    whole = read(case.debug)
    note = whole.index(bytes.fromhex(case.id)) + 20
    with Server(lambda _: whole[:note] + os.urandom(len(whole) - note - 4000) + whole[-4000:]
                ) as server:
        facts = case.sample(server.url, "--debuginfod")
    expect((facts["debuginfod"], facts["debuginfod_found"]), ("asked", 1), "what came of it")
    require(context.report("functions")["rows"], "no functions")


def test_no_library(context):
    case = Case(context)
    os.mkdir(context.path("lib"))
    open(context.path("lib/libdebuginfod.so.1"), "w").close()
    env = {"LD_LIBRARY_PATH": context.path("lib")}
    with Server(lambda _: read(case.debug)) as server:
        facts = case.sample(server.url, "--debuginfod", env=env)
    expect((facts["debuginfod"], server.asked), ("no library", []), "what came of it")
    done = context.run(context.dwell, "doctor", env={**context.env, **env})
    require("libdebuginfod.so.1 is not there" in done.stdout, done.stdout)
    require("not asked for, libdebuginfod.so.1" in
            context.run(context.dwell, "report", "run.dwell").stdout, "the summary is silent")


def test_no_servers(context):
    case = Case(context)
    facts = case.sample("", "--debuginfod")
    expect(facts["debuginfod"], "no servers", "what came of it")
    done = context.run(context.dwell, "doctor", env={
        **context.env, "DEBUGINFOD_URLS": "http://127.0.0.1:1"})
    require("debuginfod (--debuginfod): works" in done.stdout or
            "libdebuginfod.so.1 is not there" in done.stdout, done.stdout)


def test_supplementary_file(context):
    """Debug files of distributions refer to others, which have build-ids of their own."""
    case = Case(context)
    other = Case(context, "other", PROGRAM)
    context.make("dwz", "-m", "served/common.debug", "-M", "/nowhere/common.debug", case.debug, other.debug)
    common = context.make("readelf", "-n", "served/common.debug").split("Build ID: ")[1].split()[0]
    files = {case.id: case.debug, common: context.path("served/common.debug")}
    with Server(lambda id: read(files[id]) if id in files else None) as server:
        case.sample(server.url, "--debuginfod")
        require(f"/buildid/{common}/debuginfo" in server.asked, server.asked)
    require(case.is_named(), "no hidden_work")
