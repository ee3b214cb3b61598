// Threads of the pool with work now and then: what they do, and that nobody does anything between.
using System;
using System.Diagnostics;
using System.Threading;
using System.Threading.Tasks;

static class Waiting
{
    static int done;

    static int Piece(int n)
    {
        int sum = n;

        for (int i = 0; i < 100000; i++)
            sum = sum * 31 + i;
        Interlocked.Increment(ref done);
        return sum;
    }

    static int Give(int n)
    {
        return Task.Run(() => Piece(n)).Result;
    }

    // The first thread waits, with all others idle, so long in all (microseconds).
    static long Pause(int ms)
    {
        long begin = Stopwatch.GetTimestamp();

        Thread.Sleep(ms);
        return (Stopwatch.GetTimestamp() - begin) / (Stopwatch.Frequency / 1000000);
    }

    public static void Pool(int rounds)
    {
        long paused = 0;
        int sum = 0;

        for (int i = 0; i < rounds; i++)
        {
            sum += Give(i);
            paused += Pause(100);
        }
        Console.WriteLine($"paused {paused}");
        Console.WriteLine($"done {done}");
        Console.WriteLine($"sum {sum}");
    }

    static volatile bool ends;

    // A loop that is stopped where it calls.
    static long Computes()
    {
        long n = 0;

        while (!ends)
            n += Piece((int)n) & 1;
        return n;
    }

    static object Collects(int rounds)
    {
        object[] kept = new object[100000];

        for (int i = 0; i < rounds; i++)
        {
            for (int k = 0; k < kept.Length; k++)
                kept[k] = new int[8];
            GC.Collect();
        }
        return kept;
    }

    // Collections while others compute: how long all were stopped, by the runtime (microseconds).
    public static void Collections(int rounds, int others)
    {
        Thread[] threads = new Thread[others];

        for (int i = 0; i < others; i++)
        {
            threads[i] = new Thread(() => Computes());
            threads[i].Start();
        }
        Thread.Sleep(200);

        TimeSpan before = GC.GetTotalPauseDuration();
        int collected = GC.CollectionCount(0);

        GC.KeepAlive(Collects(rounds));
        Console.WriteLine($"paused {(long)(GC.GetTotalPauseDuration() - before).TotalMicroseconds}");
        Console.WriteLine($"collected {GC.CollectionCount(0) - collected}");
        ends = true;
        foreach (Thread thread in threads)
            thread.Join();
    }
}
