// Stacks that look the same to whoever reads them carelessly: methods without frames of their own, of
// equal size, in turns at the same place of the stack.
using System;
using System.Runtime.CompilerServices;

class Tiny
{
    long value;

    // Nothing but the call that allocates.
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static Tiny Make() => new Tiny();

    public long Value => value;
}

abstract class Maker
{
    protected long calls;

    public abstract Tiny Make();
    public virtual Tiny Other() { Tiny made = Tiny.Make(); calls++; return made; }
}

class First : Maker
{
    public override Tiny Make() { Tiny made = Tiny.Make(); calls++; return made; }
}

class Second : Maker
{
    public override Tiny Make() { Tiny made = Tiny.Make(); calls++; return made; }
    public override Tiny Other() { Tiny made = base.Other(); calls++; return made; }
}

static class Hostile
{
    static Tiny sink;

    [MethodImpl(MethodImplOptions.NoInlining)]
    static Tiny Left(Maker maker) { Tiny made = maker.Make(); GC.KeepAlive(maker); return made; }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static Tiny Right(Maker maker) { Tiny made = maker.Make(); GC.KeepAlive(maker); return made; }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Turn(int i, Maker first, Maker second)
    {
        if (i % 2 == 0)
            sink = Left(first);
        else
            sink = Left(second);
        if (i % 3 == 0)
            sink = Right(first);
        if (i % 5 == 0)
            sink = second.Other(); // Second.Other, Maker.Other
        if (i % 7 == 0)
            sink = first.Other(); // Maker.Other
        Deepen(i % 10, first);
    }

    // The outer frames stay, one in the middle is another.
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Deepen(int depth, Maker first)
    {
        if (depth == 0)
            sink = Tiny.Make();
        else if (depth % 2 == 0)
            Deepen(depth - 1, first); // even
        else
        {
            Deepen(depth - 1, null); // odd
            calls += 2;
        }
        calls++;
    }
    static int calls;

    // hostile N, a multiple of 210.
    public static void Run(int n)
    {
        Maker first = new First(), second = new Second();
        for (int i = 0; i < n; i++)
            Turn(i, first, second);
        GC.KeepAlive(sink.Value + calls);
        Console.WriteLine($"Tiny.Make {n + n / 3 + n / 5 + n / 7 + n}");
        Console.WriteLine($"First.Make {n / 2 + n / 3}");
        Console.WriteLine($"Second.Make {n / 2}");
        Console.WriteLine($"Second.Other {n / 5}");
        Console.WriteLine($"Maker.Other {n / 5 + n / 7}");
        Console.WriteLine($"Hostile.Left {n}");
        Console.WriteLine($"Hostile.Right {n / 3}");
        Console.WriteLine($"Hostile.Deepen {n}");
    }
}
