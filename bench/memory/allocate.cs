// What bench/memory.py measures: allocate KIND N, prints objects made, milliseconds of collections and
// their number, kilobytes of memory at most.
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
    static void Branch(int n)
    {
        sink = new Small();
        made++;
        if (n == 0)
            return;
        Branch(n - 1);
        Branch(n - 1);
    }

    // N objects that live, each beside one that dies if they are sparse.
    static object[] Keep(int n, bool is_sparse)
    {
        var all = new object[n];
        for (int i = 0; i < n; i++)
        {
            all[i] = new Small();
            if (is_sparse)
                sink = new Small();
        }
        made += is_sparse ? 2 * n : n;
        GC.Collect();
        return all;
    }

    static long PeakKilobytes()
    {
        foreach (string line in System.IO.File.ReadLines("/proc/self/status"))
            if (line.StartsWith("VmHWM:"))
                return long.Parse(line.Substring(6, line.Length - 9));
        return 0;
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
        else if (args[0] == "keep" || args[0] == "sparse")
            kept = Keep(n, args[0] == "sparse");
        double pause = GC.GetTotalPauseDuration().TotalMilliseconds;
        Console.WriteLine($"{made} {pause:f0} {GC.CollectionCount(0)} {PeakKilobytes()}");
        GC.KeepAlive(kept);
        return 0;
    }
}
