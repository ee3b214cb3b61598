// Collections of a heap with many objects of many types: tells of each how long the runtime says that
// threads stood still for it, in microseconds.
using System;
using System.Collections.Generic;

static class Pauses
{
    class Node { public Node Next; long a; public long A => a; }
    class Of<T> { public T Value; public object Next; }

    static readonly List<object> kept = new();

    // Some of what is made stays.
    static void Make(int n, Func<object, object>[] makers)
    {
        for (int i = 0; i < n; i++)
        {
            object made = makers[i % makers.Length](kept.Count > 0 ? kept[^1] : null);

            if (i % 4 == 0)
                kept.Add(made);
        }
    }

    public static void Run(int collections, int objects)
    {
        Func<object, object>[] makers = {
            o => new Node(), o => new Of<int> { Next = o }, o => new Of<long> { Next = o },
            o => new Of<byte> { Next = o }, o => new Of<string> { Next = o }, o => new byte[40],
            o => new object[3], o => new List<int>(4), o => new Dictionary<int, int>(), o => new int[6],
        };

        for (int i = 0; i < collections; i++)
        {
            int generation = i % 3;
            TimeSpan before;

            Make(objects, makers);
            before = GC.GetTotalPauseDuration();
            GC.Collect(generation, GCCollectionMode.Forced, true, false);
            Console.WriteLine($"pause {generation} {(long)(GC.GetTotalPauseDuration() - before).TotalMicroseconds}");
        }
    }
}
