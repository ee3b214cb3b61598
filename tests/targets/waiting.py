"""Functions that wait, each for something else, and say how long it took them."""
import os
import sys
import threading
import time

took = {}


def timed(function):
    def call(*arguments):
        begin = time.monotonic()
        function(*arguments)
        took[function.__name__] = time.monotonic() - begin
    return call


@timed
def naps(n):
    for _ in range(n):
        time.sleep(0.02)


@timed
def reads(fd, n):
    for _ in range(n):
        os.read(fd, 1)


@timed
def locks(lock, n):
    for _ in range(n):
        with lock:
            pass
        time.sleep(0)


@timed
def waits(event):
    event.wait()


@timed
def spins(seconds):
    end, n = time.thread_time() + seconds, 0
    while time.thread_time() < end:
        n += 1


def main(rounds):
    ends, lock, event = os.pipe(), threading.Lock(), threading.Event()
    lock.acquire()
    threads = [threading.Thread(target=reads, args=(ends[0], rounds)), threading.Thread(target=locks, args=(lock, 1)),
               threading.Thread(target=waits, args=(event,)), threading.Thread(target=event.wait)]
    for thread in threads:
        time.sleep(0.05)  # who waits for the event has the most of it
        thread.start()
    for _ in range(rounds):
        os.write(ends[1], b"x")
        time.sleep(0.02)
    lock.release()
    naps(2 * rounds)
    event.set()
    threads += [threading.Thread(target=spins, args=(0.25,)) for _ in range(3)]
    for thread in threads[4:]:
        thread.start()
    for thread in threads:
        thread.join()
    for name, seconds in took.items():
        print(name, round(1e9 * seconds))


main(int(sys.argv[1]))
