// Objects of which it is known in which generation they are collected.
using System;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

class Young { long a; public long A => a; }
class Middle { long a; public long A => a; }
class Old { long a; public long A => a; }
class Lasting { long a; public long A => a; }
class Resurrected
{
    static public Resurrected[] Saved;
    static public int Count;
    ~Resurrected() { Saved[Count++] = this; }
}
class Key { long a; public long A => a; }
class Dependent { long a; public long A => a; }
struct Spot { public long X; }
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

    [MethodImpl(MethodImplOptions.NoInlining)]
    static ConditionalWeakTable<Key, Dependent> Depend(int n)
    {
        var table = new ConditionalWeakTable<Key, Dependent>();
        held = new object[n];
        for (int i = 0; i < n; i++)
            table.Add((Key)(held[i] = new Key()), new Dependent());
        return table;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static GCHandle[] Pin(int n)
    {
        var pins = new GCHandle[n];
        for (int i = 0; i < n; i++)
        {
            pins[i] = GCHandle.Alloc(new Spot[3], GCHandleType.Pinned);
            GC.KeepAlive(new Young());
        }
        return pins;
    }

    // Values live as long as their keys; pinned arrays as long as their handles; what a finalizer
    // saves lives on.
    static void RunOdd(int n)
    {
        ConditionalWeakTable<Key, Dependent> table = Depend(n);
        GC.Collect(0);
        GC.Collect(1);
        held = null;
        GC.Collect(2);
        GCHandle[] pins = Pin(n);
        GC.Collect(0);
        GC.Collect(1);
        GC.Collect(2);
        foreach (GCHandle pin in pins)
            pin.Free();
        GC.Collect(2);
        Resurrected.Saved = new Resurrected[n];
        Drop<Resurrected>(n);
        GC.Collect(2);
        GC.WaitForPendingFinalizers();
        GC.Collect(2);
        Console.WriteLine($"resurrected {Resurrected.Count}");
        Resurrected.Saved = null;
        GC.Collect(2);
        GC.KeepAlive(table);
    }

    // lives N: N objects of each kind; induced collections only, when the heap is small.
    public static void Run(int n)
    {
        GC.Collect();
        RunOdd(n);
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
