"""shares.py MILLISECONDS: spends that on functions of known shares, and prints what each has taken of the thread's
time, in ns."""
import random
import sys
import time


def half(n):
    s = 0
    for i in range(n):
        s += i * 31
    return s


def third(n):
    return sum(step(n))


def step(n):
    for i in range(n):
        yield i ^ 5


class Sixth:
    def spend(self, n):
        for _ in range(n // 100):  # short lists: large ones are the kernel's work, which is not sampled
            [x * x for x in range(100)]


PARTS = {"half": (half, 60000), "third": (third, 20000), "spend": (Sixth().spend, 10000)}


def run(end):
    took = dict.fromkeys(PARTS, 0)
    last = time.thread_time_ns()
    chance = random.Random(7)
    while last < end:
        for name, (part, n) in PARTS.items():
            part(int(n * chance.uniform(0.1, 1.9)))  # in no step with the sampler's ticks
            now = time.thread_time_ns()
            took[name] += now - last
            last = now
    return took


for name, ns in run(int(sys.argv[1]) * 1000000).items():
    print(name, ns)
