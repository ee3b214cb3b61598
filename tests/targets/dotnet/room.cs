// N objects that live, each between others that die: as many pieces of the heap survive. Tells how much
// memory the process had at most.
using System;
using System.IO;
using System.Runtime.CompilerServices;

class Kept { long a; public long A => a; }
class Gone { long a; public long A => a; }

static class Room
{
    static object sink;

    [MethodImpl(MethodImplOptions.NoInlining)]
    static object[] Make(int n)
    {
        var all = new object[n];

        for (int i = 0; i < n; i++)
        {
            all[i] = new Kept();
            sink = new Gone();
        }
        return all;
    }

    public static void Run(int n)
    {
        object[] all = Make(n);

        GC.Collect();
        GC.Collect();
        foreach (string line in File.ReadLines("/proc/self/status"))
            if (line.StartsWith("VmHWM:"))
                Console.WriteLine($"peak {line.Substring(6, line.Length - 9)}");
        GC.KeepAlive(all);
    }
}
