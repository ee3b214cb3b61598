// Loops in methods that are called once: the runtime goes on with better code in the middle of them,
// whose beginnings differ by the registers that they need.
using System.Runtime.CompilerServices;

static class Replaced
{
    [MethodImpl(MethodImplOptions.NoInlining)]
    static ulong Step(ulong x, long k)
    {
        return x * 6364136223846793005 + (ulong)k;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static ulong Two(ulong x, long n)
    {
        while (n > 0)
            x = Step(x, n--);
        return x;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static ulong Three(ulong x, long n)
    {
        ulong y = 1;

        while (n > 0)
        {
            x = Step(x, n);
            y ^= x;
            n--;
        }
        return x + y;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static ulong ThreeOfThree(ulong x, long n, ulong y)
    {
        while (n > 0)
        {
            x = Step(x, n);
            y ^= x;
            n--;
        }
        return x + y;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static ulong Four(ulong x, long n, ulong y, ulong z)
    {
        while (n > 0)
        {
            x = Step(x, n);
            y ^= x;
            z += y;
            n--;
        }
        return x + y + z;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static ulong Many(ulong a, long n, ulong b, ulong c, ulong d, ulong e)
    {
        ulong f = 1, g = 2;

        while (n > 0)
        {
            a = a * 31 + b;
            b = b * 31 + c;
            c = c * 31 + d;
            d = d * 31 + e;
            e = e * 31 + f;
            f = f * 31 + g;
            g = g * 31 + a;
            n--;
        }
        return a + b + c + d + e + f + g;
    }

    public static void Run(int million)
    {
        long n = million * 1000000L;

        System.Console.WriteLine(Two(1, n) ^ Three(2, n) ^ ThreeOfThree(3, n, 4) ^
            Four(5, n, 6, 7) ^ Many(8, n, 9, 10, 11, 12));
    }
}
