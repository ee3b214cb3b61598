// Ways in which a program ends: objects made before it are known, output and status are the plain run's.
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Threading;

class Counted { long value; public long Value => value; }

static class Endings
{
    static object sink;

    static void Make(int n)
    {
        for (int i = 0; i < n; i++)
            sink = new Counted();
    }

    // end N WAY: N objects, then the end.
    public static void Run(int n, string way)
    {
        Make(n);
        Console.WriteLine("made");
        switch (way)
        {
        case "exception":
            throw new InvalidOperationException("on purpose");
        case "thread-exception":
            var thrower = new Thread(() => throw new InvalidOperationException("on purpose"));
            thrower.Start();
            thrower.Join();
            break;
        case "fail-fast":
            Environment.FailFast("on purpose");
            break;
        case "exit-in-thread":
            new Thread(() => Environment.Exit(7)).Start();
            Thread.Sleep(Timeout.Infinite);
            break;
        case "kill":
            Process.GetCurrentProcess().Kill();
            Thread.Sleep(Timeout.Infinite);
            break;
        case "out-of-memory":
            var all = new List<byte[]>();
            while (true)
                all.Add(new byte[100000]);
        case "caught-out-of-memory":
            try
            {
                sink = new byte[int.MaxValue / 2];
            }
            catch (OutOfMemoryException)
            {
                Console.WriteLine("caught");
            }
            Make(n);
            break;
        case "stack-overflow":
            sink = Overflow(1);
            break;
        }
    }

    static long Overflow(long i) => i + Overflow(i + 1) + i;
}
