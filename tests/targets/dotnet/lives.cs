// Objects of which it is known in which generation they are collected.
using System;
using System.Runtime.CompilerServices;

class Young { long a; public long A => a; }
class Middle { long a; public long A => a; }
class Old { long a; public long A => a; }
class Lasting { long a; public long A => a; }
class Finalized { static public int Count; ~Finalized() { Count++; } }

static class Lives
{
    static object[] held;
    static byte[][] large;
    static byte[][] pinned;

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Hold<T>(int n) where T : class, new()
    {
        held = new object[n];
        for (int i = 0; i < n; i++)
            held[i] = new T();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Drop<T>(int n) where T : class, new()
    {
        for (int i = 0; i < n; i++)
            GC.KeepAlive(new T());
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void MakeLarge(int n)
    {
        large = new byte[n][];
        pinned = new byte[n][];
        for (int i = 0; i < n; i++)
        {
            large[i] = new byte[200000];
            pinned[i] = GC.AllocateArray<byte>(1000, pinned: true);
        }
    }

    // lives N: N objects of each kind; induced collections only, when the heap is small.
    public static void Run(int n)
    {
        GC.Collect();
        Drop<Young>(n);
        GC.Collect(0);
        Hold<Middle>(n);
        GC.Collect(0);
        held = null;
        GC.Collect(1);
        Hold<Old>(n);
        GC.Collect(0);
        GC.Collect(1);
        held = null;
        GC.Collect(2);
        MakeLarge(n / 100);
        GC.Collect(2);
        large = pinned = null;
        GC.Collect(2);
        Drop<Finalized>(n);
        GC.Collect(0);
        GC.WaitForPendingFinalizers();
        GC.Collect(2);
        Hold<Lasting>(n);
        GC.Collect(2);
        Console.WriteLine($"finalized {Finalized.Count}");
        GC.KeepAlive(held);
    }
}
