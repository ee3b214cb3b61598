// What bench/memory.py measures: allocate KIND N, prints objects made and milliseconds of collections.
using System;
using System.Runtime.CompilerServices;

class Node
{
    Node left, right;

    public static Node Make(int depth)
    {
        Node node = new Node();
        if (depth > 0)
        {
            node.left = Make(depth - 1);
            node.right = Make(depth - 1);
        }
        return node;
    }

    public int Count() => left == null ? 1 : 1 + left.Count() + right.Count();
}

class Small { public long Value; }

static class Program
{
    static object sink;
    static long made;

    // The game of benchmarks: short and long lived trees up to depth N.
    static void Trees(int n)
    {
        made += Node.Make(n + 1).Count();
        Node kept = Node.Make(n);
        for (int depth = 4; depth <= n; depth += 4)
            for (int i = 1 << (n - depth + 4); i > 0; i--)
                made += Node.Make(depth).Count();
        made += kept.Count();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Loop(int n)
    {
        for (int i = 0; i < n; i++)
            sink = new Small();
        made += n;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Deep(int depth, int n)
    {
        if (depth > 0)
            return 1 + Deep(depth - 1, n);
        Loop(n);
        return 0;
    }

    // 2^(N+1) - 1 stacks, all others, of one object each.
    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Branch(int n)
    {
        sink = new Small();
        made++;
        if (n == 0)
            return 1;
        int left = Branch(n - 1);
        int right = Branch(n - 1);
        return left + right;
    }

    static object[] Keep(int n)
    {
        var all = new object[n];
        for (int i = 0; i < n; i++)
            all[i] = new Small();
        made += n + 1;
        return all;
    }

    static int Main(string[] args)
    {
        int n = int.Parse(args[1]);
        object kept = null;

        for (int i = 0; i < 4; i++)
            Loop(50000); // compiled as it will be
        if (args[0] == "trees")
            Trees(n);
        else if (args[0] == "loop")
            Loop(n);
        else if (args[0] == "deep")
            Deep(100, n);
        else if (args[0] == "stacks")
            Branch(n);
        else if (args[0] == "keep")
            kept = Keep(n);
        Console.WriteLine($"{made} {GC.GetTotalPauseDuration().TotalMilliseconds:f0} {GC.CollectionCount(0)}");
        GC.KeepAlive(kept);
        return 0;
    }
}
