// Collections of which it is known which code triggers them.
using System;
using System.Runtime.CompilerServices;
using System.Threading;

static class Triggers
{
    static object last;

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Ask()
    {
        GC.Collect(1);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Fill(int megabytes)
    {
        for (int i = 0; i < megabytes * 1000; i++)
            last = new byte[1000];
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Wait(object done)
    {
        ((ManualResetEvent)done).WaitOne();
    }

    // triggers N MB: N times a thread asks for a collection, another fills MB megabytes.
    public static void Run(int n, int megabytes)
    {
        var done = new ManualResetEvent(false);
        var idle = new Thread(Wait);

        idle.Start(done);
        for (int i = 0; i < n; i++)
        {
            var asks = new Thread(Ask);
            var fills = new Thread(() => Fill(megabytes));

            asks.Start();
            asks.Join();
            fills.Start();
            fills.Join();
        }
        done.Set();
        idle.Join();
        GC.KeepAlive(last);
        Console.WriteLine($"asked {n}");
    }
}
