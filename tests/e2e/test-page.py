"""The page of real recordings: what WebAssembly answers is what the program answers, and that is what reports say; and
who may read what `dwell view` serves."""
import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess

from harness import cases, children, expect, needs, require
from readers import end, start_recording

HERE = os.path.dirname(os.path.abspath(__file__))
TEMPLATE = ('<!doctype html><meta content="connect-src @CONNECT@"><script type="application/octet-stream" id="engine">@ENGINE@</script>\n'
            '<script type="application/octet-stream" id="data">@DATA@</script>\n')


def engine_of(context):
    return os.path.join(os.path.dirname(context.dwell), "src/page/engine.wasm")


def template(context):
    """A folder with the least page that there can be, for dwell to fill."""
    context.need("WebAssembly")
    folder = context.path("page")
    if not os.path.exists(folder):
        require(os.path.exists(engine_of(context)), "the engine was not built")
        os.makedirs(folder)
        with open(os.path.join(folder, "page.html"), "w") as f:
            f.write(TEMPLATE)
        shutil.copy(engine_of(context), os.path.join(folder, "engine.wasm"))
    return {**context.env, "DWELL_PAGE": folder}


def record(context, method):
    if method == "samples":
        context.sample("--", context.target("truth-gcc-O2"), "libraries", "0.3")
    elif method == "calls":
        context.instrument("--", context.target("call-times"))
    else:
        context.need("dotnet")
        done = context.run(context.dwell, "memory", "-q", "-o", "run.dwell", "--", context.target("dotnet/managed"),
                           "trees", "9", "10", "1")
        expect(done.returncode, 3, done.stderr)


def export(context, *words, session="run.dwell"):
    return context.run(context.dwell, "export", session, "--to", "html", "-o", "run.html", *words, env=template(context))


def requests_for(opened, function):
    """What a page may ask of each view, and all else."""
    half = {"until": opened["duration_ns"] // 2}
    for chosen in ({}, half, {"waits": "all"}, {"all_code": False}, {}):
        for view in opened["views"]:
            if view["name"] == "file-io" and chosen == half:
                continue
            about = {"function": function} if view["function"] == "must" else {}
            yield {"op": "rows", "view": view["name"], "filter": chosen, "count": 1000, **about}
            yield {"op": "rows", "view": view["name"], "filter": chosen, "count": 10, "from": 1, "search": "a",
                   "sort": view["columns"][-1]["id"], "descending": False, **about}
            if view["is_tree"]:
                yield {"op": "tree", "view": view["name"], "filter": chosen, "node": 0 if view["name"] == "file-io" else 1}
        for op in ("open", "summary", "hotpath", "flame", "timeline"):
            yield {"op": op, "filter": chosen}
        yield {"op": "function", "function": function, "filter": chosen}
        yield {"op": "annotate", "function": function, "filter": chosen}
        yield {"op": "annotate", "function": function, "filter": chosen, "kind": "instructions"}


def ask(context, command, requests):
    done = context.run(*command, input="".join(json.dumps(r) + "\n" for r in requests))
    expect(done.returncode, 0, f"status of {command}\n{done.stderr}")
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    expect(len(answers), len(requests), "answers")
    return answers


@cases("samples", "calls", "objects")
@needs("node")
def test_engine(context, method):
    record(context, method)
    program = os.path.join(os.path.dirname(context.dwell), "src/page/page-engine"), "run.dwell"
    opened, functions = ask(context, program, [{"op": "open"}, {"op": "rows", "view": "functions", "count": 1000}])
    function = next(i for i in functions["functions"] if i)
    rows = [dict(zip(functions["columns"], row)) for row in functions["rows"]]
    expect(rows, context.report("functions")["rows"][:1000], "functions")
    requests = list(requests_for(opened, function))
    expect(export(context).returncode, 0, "export")
    told = ask(context, ("node", os.path.join(HERE, "page-engine.mjs"), "run.html"), requests)
    answers = ask(context, program, requests)
    first = requests.index(requests[-1]) + 1
    expect(answers[-first:], answers[:first], "without a filter again")
    for request, here, there in zip(requests, answers, told):
        # Only who opened a file knows its name.
        here.pop("title", None)
        there.pop("title", None)
        expect(there, here, request)
        require("error" not in here, (request, here))


def test_export_says_what_is_wrong(context):
    context.sample("--", context.target("truth-gcc-O2"), "libraries", "0.1")
    done = context.run(context.dwell, "export", "run.dwell", "--to", "html", "-o", "run.html",
                       env={**context.env, "DWELL_PAGE": context.path("nowhere")})
    expect((done.returncode, os.path.exists(context.path("run.html"))), (1, False), done.stderr)
    done = export(context, "--process", "1")
    expect(done.returncode, 2, done.stderr)
    require("filters by itself" in done.stderr, done.stderr)
    with open(context.path("run.dwell"), "rb") as whole, open(context.path("cut.dwell"), "wb") as cut:
        cut.write(whole.read(5000))
    for name in ("nothing.dwell", "cut.dwell", "."):
        done = export(context, session=name)
        expect(done.returncode, 1, done.stderr)
        expect(len(done.stderr.splitlines()), 1, done.stderr)
        expect(done.stderr.split(": ")[:2], ["dwell", name], "which file")


class Server:
    """dwell view of run.dwell, by a user."""
    def __init__(self, context, *words, user=(), session="run.dwell", **variables):
        self.process = subprocess.Popen([*user, context.dwell, "view", *words, session], cwd=context.scratch, text=True,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**template(context), **variables})
        self.url = self.process.stdout.readline().strip()
        match = re.fullmatch(r"http://127\.0\.0\.1:(\d+)(/[0-9a-f]{32}/)", self.url)
        require(match, self.url or self.process.stderr.read())
        self.port, self.path = int(match[1]), match[2]

    def get(self, path=None, method="GET", **headers):
        """Status and body of an answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        connection.putrequest(method, path or self.path, skip_host="Host" in headers)
        for name, value in headers.items():
            connection.putheader(name, value)
        connection.endheaders()
        answer = connection.getresponse()
        return answer.status, answer.read(), dict(answer.getheaders())

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        self.said = self.process.communicate(timeout=60)[1]
        return self.process.returncode


def test_view(context):
    context.sample("--", context.target("truth-gcc-O2"), "libraries", "0.1")
    expect(export(context).returncode, 0, "export")
    server = Server(context, "--no-browser")
    try:
        status, body, headers = server.get()
        with open(context.path("run.html"), "rb") as f:
            expect((status, body == f.read()), (200, True), "the page")
        expect((headers["Cache-Control"], headers["X-Frame-Options"], headers["Cross-Origin-Resource-Policy"]),
               ("no-store", "DENY", "same-origin"), "headers")
        local = f"127.0.0.1:{server.port}"
        for what, want in (({"method": "HEAD"}, 200), ({"Host": f"localhost:{server.port}"}, 200),
                           ({"Origin": f"http://{local}"}, 200),
                           ({"Host": "evil.example"}, 403), ({"Host": f"evil.example:{server.port}"}, 403),
                           ({"Origin": "http://evil.example"}, 403), ({"Origin": "null"}, 403),
                           ({"path": "/"}, 404), ({"path": server.path[:-2] + "/"}, 404),
                           ({"path": server.path + "../../etc/passwd"}, 404), ({"method": "POST"}, 403),
                           ({"method": "POST", "Origin": f"http://{local}"}, 405), ({"method": "PUT"}, 405),
                           ({"Cookie": "x" * 20000}, 431)):
            status, body, _ = server.get(**what)
            expect((status, bool(body)), (want, want == 200 and what.get("method") != "HEAD"), what)
    finally:
        expect(server.stop(), 0, "status at the end")


def posted(server, name, body=b"", **headers):
    """Status and answer of what the page of a recording that goes on asks."""
    local = f"127.0.0.1:{server.port}"
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    connection.request(headers.pop("method", "POST"), server.path + name, body=body,
                       headers={key: value for key, value in {"Host": local, "Origin": f"http://{local}", **headers}.items() if value})
    answer = connection.getresponse()
    text = answer.read()
    return answer.status, json.loads(text) if answer.getheader("Content-Type") == "application/json" else text


@cases("run.dwell", "run.dwell.partial")
def test_view_of_what_runs(context, name):
    """Who may not read a page may not ask in its place either; answers are of one reading of the session; the end is the
    finished session."""
    variables = template(context)
    recorder = start_recording(context, "sample", "-q", "-o", "run.dwell", "--", context.target("truth-gcc-O2"), "plain", "100")
    server = Server(context, "--no-browser", session=name)
    rows = json.dumps({"op": "rows", "view": "functions", "count": 5})
    try:
        status, page, _ = server.get()
        require(status == 200 and b"connect-src 'self'" in page and b'id="data"></script>' in page, page[-200:])
        status, look = posted(server, "look")
        expect((status, look["state"], look["file"]), (200, "runs", "run.dwell.partial"), look)
        first = look["reading"]
        for headers, want in (({"Origin": None}, 403), ({"Origin": "null"}, 403), ({"Origin": "http://evil.example"}, 403),
                              ({"Host": "evil.example"}, 403), ({"method": "GET"}, 405), ({"method": "PUT"}, 405),
                              ({"Transfer-Encoding": "chunked", "body": b""}, 400), ({"body": b" " * (1 << 19)}, 413)):
            expect(posted(server, f"ask?{first}", **{"body": rows, **headers})[0], want, headers)
        expect([posted(server, what)[0] for what in ("session", "../run.dwell", "asks", "")], [404, 404, 404, 405], "what there is not")
        expect(server.get(server.path[:-2] + "x/look", "POST", Origin=f"http://127.0.0.1:{server.port}")[0], 404, "another token")
        for body in (b"", b"{", b"[]", b"\xff" * 100, b'{"op": "nothing"}'):
            status, answer = posted(server, f"ask?{first}", body)
            require(status == 200 and answer.get("error"), (body, answer))
        status, answer = posted(server, f"ask?{first}", rows)
        require(any("alpha" in row for row in answer["rows"]), answer)

        def newer():
            return posted(server, "look")[1]["reading"] > first
        context.wait_for(newer, "a newer reading")
        expect(posted(server, f"ask?{first}", rows), (200, {"is_old": True}), "of the one before")
        end(recorder)
        context.wait_for(lambda: posted(server, "look")[1]["state"] == "ended", "the end")
        packed = posted(server, "session")
        expect((packed[0], packed[1][:2]), (200, b"\x1f\x8b"), "the finished session")
        status, page, _ = server.get()
        expect(context.run(context.dwell, "export", "run.dwell", "--to", "html", "-o", "run.html", env=variables).returncode, 0, "export")
        with open(context.path("run.html"), "rb") as f:
            expect((status, page == f.read()), (200, True), "the page of the finished session")
    finally:
        expect(server.stop(), 0, "status at the end")


@cases("calls", "objects")
def test_view_of_counts_that_go_on(context, method):
    """Also of calls and objects there is a timeline while they are counted, and any part of the time, of one reading."""
    template(context)
    if method == "calls":
        words = ("instrument", "-q", "-o", "run.dwell", "--", context.target("truth-gcc-O2"), "plain", "100")
    else:
        context.need("dotnet")
        words = ("memory", "-q", "-o", "run.dwell", "--", context.target("dotnet/managed"), "trees", "14", "20000", "2")
    recorder = context.start(context.dwell, *words)
    context.wait_for(lambda: os.path.exists(context.path("run.dwell.partial")), "the file")
    server = Server(context, "--no-browser", session="run.dwell.partial")
    view, column = ("functions", "number_of_calls") if method == "calls" else ("lifetime", "instances")
    try:
        def asked(op, **more):
            reading = posted(server, "look")[1]["reading"]
            return posted(server, f"ask?{reading}", json.dumps({"op": op, **more}))[1]

        def drawn():
            return sum(sum(thread["running"]) for thread in asked("timeline").get("threads", [])) > 0
        context.wait_for(drawn, "something on the timeline")
        context.wait_for(lambda: asked("open")["duration_ns"] > 3e9, "some slices")
        duration = asked("open")["duration_ns"]
        whole, half = (asked("rows", view=view, columns=[column], count=1000, filter=part)["rows"]
                       for part in ({}, {"until": duration // 2}))
        require(sum(row[0] or 0 for row in whole) > sum(row[0] or 0 for row in half) > 0, (whole, half))
        end(recorder)
        context.wait_for(lambda: posted(server, "look")[1]["state"] == "ended", "the end")
    finally:
        expect(server.stop(), 0, "status at the end")


def test_view_of_what_was_left(context):
    """A recorder that was killed is told; recovered, it is the finished session. One that is gone keeps nobody from a
    session of the same name that is finished."""
    recorder = start_recording(context, "sample", "-q", "-o", "run.dwell", "--", context.target("truth-gcc-O2"), "plain", "100")
    targets = children(recorder.pid)
    server = Server(context, "--no-browser")
    try:
        recorder.kill()
        for pid in targets:
            os.kill(pid, signal.SIGKILL)
        recorder.communicate()
        context.wait_for(lambda: posted(server, "look")[1]["state"] == "left", "that it was left")
        look = posted(server, "look")[1]
        answer = posted(server, f"ask?{look['reading']}", b'{"op": "rows", "view": "functions"}')[1]
        require(any("alpha" in row for row in answer["rows"]), answer)
        shutil.copy(context.path("run.dwell.partial"), context.path("kept"))
        expect(context.run(context.dwell, "recover", "run.dwell.partial").returncode, 0, "dwell recover")
        context.wait_for(lambda: posted(server, "look")[1]["state"] == "ended", "the end")
    finally:
        expect(server.stop(), 0, "status at the end")
    shutil.copy(context.path("kept"), context.path("run.dwell.partial"))
    server = Server(context, "--no-browser")
    try:
        require(b"connect-src 'none'" in server.get()[1], "the finished session")
    finally:
        expect(server.stop(), 0, "status at the end")


def test_view_of_many(context):
    """Connections that say nothing, or go away, keep nobody from the page; from elsewhere there is none."""
    context.sample("--", context.target("truth-gcc-O2"), "libraries", "0.1")
    server = Server(context, "--no-browser")
    try:
        idle = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(40)]
        for connection in idle[::2]:
            connection.send(b"GET ")
        expect(server.get()[0], 200, "beside idle connections")
        for connection in idle:
            connection.close()
        expect(server.get()[0], 200, "after them")
        with open(f"/proc/{server.process.pid}/net/tcp") as f:
            listening = [line.split()[1] for line in f if line.split()[3] == "0A"]
        require(f"0100007F:{server.port:04X}" in listening, listening)
        require(f"00000000:{server.port:04X}" not in listening, listening)
    finally:
        expect(server.stop(), 0, "status at the end")


OPENER = """#!/bin/sh
{ echo "$#"; echo "$1"; stat -c %a "$1"; cut -d' ' -f5 /proc/$$/stat; grep SigIgn /proc/$$/status; cat "$1"; } > opened.new
mv opened.new opened
"""


@cases("desktop", "no-opener", "root")
def test_browser(context, case):
    """The desktop gets a file that is the user's alone, leads to the page, and is gone in the end; what opens it is not
    what Ctrl-C is for, and ignores no signal."""
    if case == "root" and os.geteuid():
        context.skip("not root")
    template(context)
    user = () if case == "root" else context.ordinary_user()
    user = (shutil.which(user[0]), *user[1:]) if user else ()
    context.sample("--", context.target("truth-gcc-O2"), "libraries", "0.1")
    os.chmod(context.path("run.dwell"), 0o644)
    folder = context.path("bin")
    os.makedirs(folder)
    if case != "no-opener":
        with open(os.path.join(folder, "xdg-open"), "w") as f:
            f.write(OPENER)
        os.chmod(os.path.join(folder, "xdg-open"), 0o755)
    server = Server(context, user=user, DISPLAY="x", XDG_RUNTIME_DIR=context.scratch,
                    PATH=folder if case == "no-opener" else folder + ":/usr/bin:/bin")
    try:
        if case == "desktop":
            context.wait_for(lambda: os.path.exists(context.path("opened")), "that the page is opened")
            with open(context.path("opened")) as f:
                count, path, mode, group, ignored, *link = f.read().splitlines()
            expect((count, os.path.dirname(path), mode), ("1", context.scratch, "600"), "argument, and who may read it")
            require(f"url={server.url}\"" in link[0], link)
            require(int(group) not in (os.getpgid(server.process.pid), os.getpgid(0)), group)
            for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGCHLD, signal.SIGINT):
                require(not int(ignored.split()[1], 16) >> (number - 1) & 1, (number, ignored))
        expect(server.get()[0], 200, "the page")
    finally:
        expect(server.stop(), 0, "status at the end")
    expect("yourself" in server.said, case == "desktop", server.said)
    expect(os.path.exists(context.path("opened")), case == "desktop", "whether it was opened")
    expect([name for name in os.listdir(context.scratch) if name.startswith("dwell-")], [], "links left")
