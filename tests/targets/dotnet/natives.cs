// Managed code below native code below managed code.
using System;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

class Compared { long a; public long A => a; }

static unsafe class Natives
{
    delegate int Comparer(void* a, void* b);

    [DllImport("libc")]
    static extern void qsort(int* numbers, nint n, nint bytes, Comparer comparer);

    static int count;

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Compare(void* a, void* b)
    {
        count++;
        GC.KeepAlive(new Compared());
        return *(int*)a - *(int*)b;
    }

    // natives N TIMES: the C library sorts N numbers and asks managed code about each two of them.
    public static void Run(int n, int times)
    {
        var numbers = new int[n];

        for (int i = 0; i < times; i++)
        {
            for (int k = 0; k < n; k++)
                numbers[k] = k * 7919 % n;
            fixed (int* first = numbers)
                qsort(first, n, sizeof(int), Compare);
        }
        Console.WriteLine($"compared {count}");
    }
}
