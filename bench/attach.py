#!/usr/bin/env python3
"""What attaching costs a server under load: bench/attach.py --build FOLDER [--pairs 10].

redis-server serves redis-benchmark again and again, in pairs of a plain run and one that dwell is
attached to, in alternating order. Printed are requests per second, the latency that 99.9 % of the
requests keep (redis-benchmark's 99.902 %), the ratio of each pair and its median, failed requests,
and whether the server's descriptors, threads and tracer are what they were before.
"""
import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time


def state_of(pid):
    status = open(f"/proc/{pid}/status").read()
    return (sorted(os.listdir(f"/proc/{pid}/fd")), len(os.listdir(f"/proc/{pid}/task")),
            re.search(r"TracerPid:\s+(\d+)", status)[1])


def load(port, requests):
    """One run of the benchmark: requests per second, ms at 99.9 %, failed requests."""
    done = subprocess.run(["redis-benchmark", "-p", str(port), "-t", "get", "-n", str(requests),
                           "-c", "20"], capture_output=True, text=True)
    rate = re.search(r"throughput summary: ([\d.]+) requests", done.stdout)
    tail = re.search(r"99\.902% <= ([\d.]+) milliseconds", done.stdout)
    failed = len(re.findall(r"(?i)\berror\b", done.stdout + done.stderr)) + (done.returncode != 0)
    if not rate or not tail:
        sys.exit(f"redis-benchmark says:\n{done.stdout[-2000:]}{done.stderr}")
    return float(rate[1]), float(tail[1]), failed


def attached(arguments, server, folder):
    """The same with dwell attached, and how many samples it took."""
    session = os.path.join(folder, "run.dwell")
    dwell = subprocess.Popen([os.path.join(arguments.build, "dwell"), "sample", "-q", "-o", session,
                              "-p", str(server.pid)])
    while not os.path.exists(session + ".partial") and dwell.poll() is None:
        time.sleep(0.01)
    result = load(arguments.port, arguments.requests)
    dwell.terminate()
    if dwell.wait():
        sys.exit("dwell failed")
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", required=True)
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--requests", type=int, default=200000)
    parser.add_argument("--port", type=int, default=16379)
    arguments = parser.parse_args()
    if not shutil.which("redis-server") or not shutil.which("redis-benchmark"):
        print("not measured: redis-server and redis-benchmark are not installed")
        return
    with tempfile.TemporaryDirectory() as folder:
        server = subprocess.Popen(["redis-server", "--port", str(arguments.port), "--save", "",
                                   "--dir", folder], stdout=subprocess.DEVNULL)
        try:
            time.sleep(1)
            load(arguments.port, arguments.requests)
            before = state_of(server.pid)
            ratios, failures = [], 0
            for i in range(arguments.pairs):
                runs = [lambda: load(arguments.port, arguments.requests),
                        lambda: attached(arguments, server, folder)]
                order = (0, 1) if i % 2 == 0 else (1, 0)
                got = {k: runs[k]() for k in order}
                plain, with_dwell = got[0], got[1]
                failures += plain[2] + with_dwell[2]
                ratios.append((with_dwell[1] / plain[1], with_dwell[0] / plain[0]))
                print(f"plain {plain[0]:9.0f}/s {plain[1]:7.3f} ms   attached "
                      f"{with_dwell[0]:9.0f}/s {with_dwell[1]:7.3f} ms   p99.9 x "
                      f"{ratios[-1][0]:.3f}  rate x {ratios[-1][1]:.3f}", flush=True)
            tail, rate = (statistics.median(column) for column in zip(*ratios))
            print(f"median of {arguments.pairs} pairs: p99.9 x {tail:.3f}, rate x {rate:.3f}; "
                  f"{failures} failed requests; server "
                  f"{'as before' if state_of(server.pid) == before else 'CHANGED'}")
        finally:
            server.terminate()
            server.wait()


if __name__ == "__main__":
    main()
