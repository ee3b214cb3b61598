"""A service of ASP.NET Core under load, whose calls are measured: nothing fails, and what its requests wait for is told."""
import http.client
import os
import signal
import threading
import time

from harness import File, expect, require

FILE = File(needs=("dotnet",))
CLIENTS, ROUNDS = 4, 25
LATE = 0.03  # seconds until a reader of the pipe gets something
PATHS = ("/compute?n=20", "/delays?ms=20", "/sleeps?ms=20", "/joins?ms=20", "/locks?ms=4")


class Client(threading.Thread):
    """Asks for all endpoints in turn, over one connection."""

    def __init__(self, port):
        super().__init__()
        self.port = port
        self.failed = []

    def run(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=100)
        for _ in range(ROUNDS):
            for path in PATHS:
                connection.request("GET", path)
                response = connection.getresponse()
                body = response.read()
                if response.status != 200 or not body:
                    self.failed.append((path, response.status, body))
        connection.close()


def ask(port, path):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=100)
    connection.request("GET", path)
    response = connection.getresponse()
    expect(response.status, 200, f"status of {path}")
    return response.read()


def read_late(port, pipe):
    """A request that reads from a pipe whose other end writes late."""
    def write():
        with open(pipe, "wb", buffering=0) as file:
            time.sleep(LATE)
            file.write(b"x")

    writer = threading.Thread(target=write)
    writer.start()
    expect(ask(port, f"/reads?path={pipe}"), b"120", "what was read")
    writer.join()


def load(context, *options):
    """Run the service under load; how often it was asked for what, as it says itself."""
    pipe = os.path.join(context.scratch, "pipe")
    os.mkfifo(pipe)
    running = context.start(context.dwell, "instrument", "-q", *options, "-o", "run.dwell", "--",
                            context.target("dotnet/web/web"))
    try:
        port = int(running.stdout.readline().rsplit(":", 1)[1])
        clients = [Client(port) for _ in range(CLIENTS)]
        for client in clients:
            client.start()
        for client in clients:
            client.join()
        expect([client.failed for client in clients], [[]] * CLIENTS, "failed requests")
        for _ in range(5):
            read_late(port, pipe)
        expect(ask(port, "/stop"), b"stopped", "answer to stop")
        text, errors = running.communicate(timeout=100)
        expect((running.returncode, errors), (0, ""), "status and errors")
    finally:
        if running.poll() is None:
            running.send_signal(signal.SIGKILL)
    return {line.split()[2]: int(line.split()[1]) for line in text.splitlines()}


def test_requests_under_load(context):
    said = load(context, "--all-functions")
    expect(said, {f"Service.Endpoints.{name}": CLIENTS * ROUNDS for name in
                  ("Compute", "Delays", "Joins", "Locks", "Sleeps")} | {"Service.Endpoints.Reads": 5}, "requests")
    report = context.report("functions")
    rows = {row["function_name"]: row for row in report["rows"]}
    expect({name: rows[name]["number_of_calls"] for name in said}, said, "calls of handlers")
    # Each has slept once, so its handler was entered twice.
    expect(rows["Service.Endpoints.Delays.MoveNext"]["number_of_calls"], 2 * said["Service.Endpoints.Delays"],
           "parts of the asynchronous handler")
    expect({name: report["session"][name] for name in ("calls_dropped", "events_dropped", "threads_dropped")},
           {"calls_dropped": 0, "events_dropped": 0, "threads_dropped": 0}, "losses")

    waits = {row["waits_for"]: row for row in context.report("waits")["rows"]}
    least = CLIENTS * ROUNDS * 20000000
    require(least <= waits["sleep"]["wait_time"] < 2 * least, f"sleep: {waits['sleep']}")
    expect(waits["sleep"]["function_name"], "Service.Endpoints.Sleeps", "who sleeps")
    expect(waits["lock"]["function_name"], "Service.Endpoints.Locks", "who waits for a lock")
    require(waits["condition"]["wait_time"] > 0.4 * least, f"condition: {waits['condition']}")
    expect(waits["condition"]["function_name"], "Service.Endpoints.Joins", "who waits for others")
    require(waits["disk"]["wait_time"] > 5 * 0.8e9 * LATE, f"disk: {waits['disk']}")
    expect(waits["disk"]["function_name"], "Service.Endpoints.Reads", "who reads")
    # The pool's threads and the first one, which waits for the end of the service, do nothing there.
    require(waits["idle"]["counts_in_reports"] == "no" and waits["child"]["function_name"] == "Service.Program.Main",
            f"not counted: {waits}")
    require(waits.get("other", {"wait_time": 0})["wait_time"] < 0.3 * least, f"otherwise: {waits['other']}")


def test_slowest_requests(context):
    """The summary names the calls that the framework made that took longest, and what each waited for."""
    load(context, "--all-functions")
    text = context.make(context.dwell, "report", "run.dwell", "summary")
    lines = text.splitlines()
    # Names are cut from the left where a line has no room for them.
    told = dict((line.split()[2].rsplit(".", 1)[-1], line.split("  (")[1])
                for line in lines[lines.index("Slowest pieces of work") + 1:] if line.startswith("  ") and "  (at " in line)
    expect(len(told), 3, f"requests\n{text}")
    require(set(told) <= {"Compute", "Delays", "MoveNext", "Joins", "Locks", "Reads", "Sleeps"}, text)
    why = {"Sleeps": ("Thread.Sleep",), "Joins": ("Monitor.Wait", "InternalWaitCore"), "Reads": ("I/O took",)}
    require(set(told) & set(why), f"none of those that wait\n{text}")
    for name in set(told) & set(why):
        require(any(word in told[name] for word in why[name]), f"why {name} is slow: {told[name]}")
