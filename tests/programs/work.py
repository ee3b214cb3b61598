# Python: dictionaries, json, re, exceptions, generators, threads, subprocess, sqlite3, decimal.
import collections, decimal, functools, hashlib, json, queue, random, re, sqlite3, subprocess, sys
import threading, zlib

text = open(sys.argv[1]).read()
count = collections.Counter(re.findall(r"\w+", text.lower()))
print(count.most_common(5), hashlib.sha256(text.encode()).hexdigest()[:16])


@functools.lru_cache(None)
def ways(n, k):
    return 1 if n == 0 else sum(ways(n - i, i) for i in range(1, min(n, k) + 1))


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


failed = 0
for i in range(5000):
    try:
        if i % 3 == 0:
            raise KeyError(i)
        [][i]
    except KeyError:
        failed += 1
    except IndexError:
        pass
    finally:
        failed += 0
random.seed(7)
data = [{"id": i, "value": random.random(), "tags": [str(i % 7)] * 3} for i in range(2000)]
again = json.loads(json.dumps(data, sort_keys=True))
print(failed, fib(18), ways(40, 40), len(zlib.compress(json.dumps(again).encode())))
results = queue.Queue()
threads = [threading.Thread(target=lambda n=n: results.put(fib(10 + n))) for n in range(8)]
[t.start() for t in threads]
[t.join() for t in threads]
print(sorted(results.queue))
base = sqlite3.connect(":memory:")
base.execute("create table t (a integer primary key, b text)")
base.executemany("insert into t values (?, ?)", ((i, str(i * 7919 % 1009)) for i in range(3000)))
print(base.execute("select b, count(*) c, sum(a) from t group by b order by c desc, b limit 3").fetchall())
print(decimal.Decimal(2).sqrt(), subprocess.run(["echo", "child"], capture_output=True).stdout)
print(sorted(data, key=lambda row: row["value"])[0]["id"], sum(x * x for x in range(1000)))
