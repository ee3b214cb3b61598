// Binary trees whose number of nodes is known.
using System;
using System.Threading;

class Node
{
    public Node Left, Right;

    public static Node Make(int depth)
    {
        Node node = new Node();
        if (depth > 0)
        {
            node.Left = Make(depth - 1);
            node.Right = Make(depth - 1);
        }
        return node;
    }

    public int Count() => Left == null ? 1 : 1 + Left.Count() + Right.Count();
}

static class Trees
{
    static int Work(int depth, int rounds)
    {
        int nodes = 0;
        for (int i = 0; i < rounds; i++)
            nodes += Node.Make(depth).Count();
        return nodes;
    }

    // trees DEPTH ROUNDS THREADS: one tree that stays, and rounds of trees in main and threads.
    public static void Run(int depth, int rounds, int threads)
    {
        Node kept = Node.Make(depth);
        int nodes = kept.Count();
        var all = new Thread[threads];
        for (int i = 0; i < threads; i++)
        {
            all[i] = new Thread(() => Interlocked.Add(ref nodes, Work(depth, rounds)));
            all[i].Start();
        }
        foreach (var thread in all)
            thread.Join();
        nodes += Work(depth, rounds);
        GC.KeepAlive(kept);
        Console.WriteLine($"nodes {nodes}");
    }
}
