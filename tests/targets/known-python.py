"""A program of which every stack is known: CALLS says which of its functions calls which. Work is spread
over calls of 50 ns, recursion, generators, exceptions, callbacks from C through three levels, and threads.

known-python.py SECONDS [KIND]: KIND is "fork" (the work is a child's) or "spawn" (multiprocessing)."""
import functools
import sys
import threading
import time

# The functions that may call each; "" = a thread begins with it, or the module does.
CALLS = {
    "k_main": {"<module>", "k_child", "k_thread"},
    "k_thread": {""},
    "k_child": {"", "<module>"},
    "k_chain_1": {"k_main"},
    **{f"k_chain_{i}": {f"k_chain_{i - 1}"} for i in range(2, 9)},
    "k_short": {"k_chain_8"},
    "k_recurse": {"k_main", "k_recurse"},
    "k_bottom": {"k_recurse"},
    "k_consume": {"k_main"},
    "k_outer": {"k_consume"},
    "k_inner": {"k_outer"},
    "k_given": {"k_inner"},
    "k_sort": {"k_main"},
    "k_key": {"k_sort"},
    "k_combine": {"k_key"},
    "k_map": {"k_combine"},
    "k_try": {"k_main"},
    "k_raise_1": {"k_try"},
    "k_raise_2": {"k_raise_1"},
    "k_raise_3": {"k_raise_2"},
    "k_hot": {"k_main"},
    **{f"k_made_{i}": {"k_main"} for i in range(50)},
}


def k_short(x):
    return x + 1


def k_chain_8(x):
    for _ in range(20):
        x = k_short(x)
    return x


def k_chain_7(x):
    return k_chain_8(x)


def k_chain_6(x):
    return k_chain_7(x)


def k_chain_5(x):
    return k_chain_6(x)


def k_chain_4(x):
    return k_chain_5(x)


def k_chain_3(x):
    return k_chain_4(x)


def k_chain_2(x):
    return k_chain_3(x)


def k_chain_1(x):
    return k_chain_2(x)


def k_bottom(x):
    return x * 3


def k_recurse(n):
    return k_recurse(n - 1) if n else k_bottom(n)


def k_given(x):
    return x * x


def k_inner(n):
    for i in range(n):
        yield k_given(i)


def k_outer(n):
    yield from k_inner(n)
    for x in k_inner(n):
        yield x + 1


def k_consume(n):
    return sum(k_outer(n))


def k_map(x):
    return x & 7


def k_combine(a, b):
    return a + sum(map(k_map, range(b)))


def k_key(x):
    return functools.reduce(k_combine, (x, 3, 4))


def k_sort(n):
    return sorted(range(n), key=k_key)


def k_raise_3(x):
    raise ValueError(x)


def k_raise_2(x):
    k_raise_3(x)


def k_raise_1(x):
    try:
        k_raise_2(x)
    finally:
        x += 1


def k_try(x):
    try:
        k_raise_1(x)
    except ValueError:
        return x


def k_hot(n):
    s = 0
    for i in range(n):
        s += i
    return s


def k_main(end):
    made = 0
    while time.thread_time() < end:
        for i in range(20):
            k_chain_1(i)
            k_recurse(30)
            k_try(i)
        k_consume(60)
        k_sort(40)
        k_hot(2000)
        # Functions that go, and whose memory others use again: each is one line further down
        # than the last.
        scope = {}
        made = (made + 1) % 50
        exec(compile(f"{chr(10) * made}def k_made_{made}(n):\n while n: n -= 1", f"/made-{made}", "exec"), scope)
        scope[f"k_made_{made}"](2000)
        scope.clear()


def k_thread(end):
    k_main(end)


def k_child(end):
    k_main(end)


if __name__ == "__main__":
    seconds = float(sys.argv[1])
    kind = sys.argv[2] if len(sys.argv) > 2 else ""
    if kind == "fork":
        import os
        if not os.fork():
            k_child(seconds)
            os._exit(0)
        os.wait()
    elif kind == "spawn":
        import multiprocessing
        multiprocessing.set_start_method("spawn")
        child = multiprocessing.Process(target=k_child, args=(seconds,))
        child.start()
        child.join()
    elif kind == "threads":
        threads = [threading.Thread(target=k_thread, args=(seconds / 3,)) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    else:
        k_main(seconds)
