// Work in known shares by the processor time of the thread that does it: half, three tenths, and a
// twentieth for each of four kinds of calls.
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading.Tasks;

static class Shares
{
    struct Time
    {
        public long Seconds, Nanoseconds;
    }

    delegate int Compare(in long a, in long b);

    const int ThreadClock = 3, Rounds = 20000;
    static readonly Compare byValue = ByValue;
    static ulong state = 1;

    [DllImport("libc", EntryPoint = "clock_gettime")]
    static extern int ClockGetTime(int clock, out Time ret);

    [DllImport("libc", EntryPoint = "qsort")]
    static extern void Sort(long[] items, nint n, nint bytes, Compare compare);

    static long Now()
    {
        ClockGetTime(ThreadClock, out Time t);
        return t.Seconds * 1000000000 + t.Nanoseconds;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static long Half()
    {
        long begin = Now();
        ulong x = state;

        for (int i = 0; i < Rounds; i++)
            x = x * 6364136223846793005 + 1442695040888963407; // all of it
        state = x;
        return Now() - begin;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static ulong Deep(int n)
    {
        ulong x = state;

        if (n > 0)
            return Deep(n - 1) + 1;
        for (int i = 0; i < Rounds; i++)
            x = x * 31 + 7; // all of it
        return x;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static long Recursion()
    {
        long begin = Now();

        state += Deep(40);
        return Now() - begin;
    }

    class Box<T>
    {
        [MethodImpl(MethodImplOptions.NoInlining)]
        public long Fill(T value)
        {
            long begin = Now();
            ulong sum = 0;

            for (int i = 0; i < Rounds; i++)
                sum = sum * 31 + (ulong)EqualityComparer<T>.Default.GetHashCode(value);
            state += sum;
            return Now() - begin;
        }
    }

    static long Generic()
    {
        return new Box<string>().Fill("text") + new Box<int>().Fill(3);
    }

    static int ByValue(in long a, in long b)
    {
        return a.CompareTo(b);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static long Native()
    {
        long begin = Now();
        var items = new long[1000];

        for (int i = 0; i < items.Length; i++)
            items[i] = (long)(state = state * 6364136223846793005 + 1442695040888963407);
        Sort(items, items.Length, sizeof(long), byValue);
        return Now() - begin;
    }

    static async Task<long> Later()
    {
        await Task.Yield();

        long begin = Now();
        ulong x = state;

        // Long beside what it takes to wake the other thread, which is no part of what is told.
        for (int i = 0; i < 20 * Rounds; i++)
            x = x * 31 + 7;
        state = x;
        return Now() - begin;
    }

    static long Wait()
    {
        return Later().Result;
    }

    class Part(string name, long due, Func<long> work)
    {
        public readonly string Name = name;
        public readonly long Due = due;
        public readonly Func<long> Work = work;
        public long Spent;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Spend(Part part, long piece)
    {
        long until = part.Spent + piece;

        while (part.Spent < until)
            part.Spent += part.Work();
    }

    // The part that got least of what is due to it.
    static Part Next(Part[] parts)
    {
        Part best = parts[0];

        foreach (Part part in parts)
            if ((double)part.Spent / part.Due < (double)best.Spent / best.Due)
                best = part;
        return best;
    }

    // In pieces of 0.3 to 1 ms, so that a time that nobody samples takes from all parts alike.
    public static void Run(int milliseconds)
    {
        long share = milliseconds * 1000000L / 20;
        var random = new Random(1);
        Func<long> lambda = () => {
            long begin = Now();
            ulong x = state;

            for (int i = 0; i < Rounds; i++)
                x = x * 37 + 7;
            state = x;
            return Now() - begin;
        };
        Part[] parts = {
            new("Shares.Half", 10 * share, Half),
            new("Shares.Recursion", 6 * share, Recursion),
            new("Shares.Box<T>.Fill", share, Generic),
            new("Shares.Run.lambda", share, lambda),
            new("Shares.Native", share, Native),
            new("Shares.Later.MoveNext", share, Wait),
        };

        for (Part part = Next(parts); part.Spent < part.Due; part = Next(parts))
            Spend(part, random.Next(300000, 1000000));
        foreach (Part part in parts)
            Console.WriteLine($"{part.Name} {part.Spent}");
    }
}
