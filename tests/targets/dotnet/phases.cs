// What lives and dies between two points of time, which are printed in milliseconds.
using System;
using System.Diagnostics;
using System.Runtime.CompilerServices;
using System.Threading;

class Stays { long a; public long A => a; }
class Leaves { long a; public long A => a; }
class Comes { long a; public long A => a; }
class Halves { long a; public long A => a; }
class Garbage { long a; public long A => a; }

static class Phases
{
    static object[] kept, gone, halved, fresh;
    static object tick;

    [MethodImpl(MethodImplOptions.NoInlining)]
    static object[] Make<T>(int n) where T : class, new()
    {
        var made = new object[n];
        for (int i = 0; i < n; i++)
            made[i] = new T();
        return made;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Drop<T>(int n) where T : class, new()
    {
        for (int i = 0; i < n; i++)
            GC.KeepAlive(new T());
    }

    // Wait, and tell the middle of that.
    static void Wait(string name, int milliseconds)
    {
        for (int i = 0; i < milliseconds; i += 100)
        {
            if (i == milliseconds / 2)
                Console.WriteLine($"{name} {(long)(DateTime.Now - Process.GetCurrentProcess().StartTime).TotalMilliseconds}");
            tick = new object();
            Thread.Sleep(100);
        }
    }

    // phases N MILLISECONDS
    public static void Run(int n, int milliseconds)
    {
        kept = Make<Stays>(n);
        gone = Make<Leaves>(n);
        halved = Make<Halves>(n);
        GC.Collect();
        Wait("first", milliseconds);
        gone = null;
        Array.Clear(halved, 0, n / 2);
        fresh = Make<Comes>(n);
        GC.Collect();
        Wait("second", milliseconds);
        Drop<Garbage>(n);
        GC.KeepAlive(tick);
    }
}
