// Methods of one name.
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;

class Made { long a; public long A => a; }

class Overloads<T>
{
    public class Inner { }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static object Make(T value) => new Made();

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static object Make(int[] a, string[,] b, ref double c) => new Made();

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static object Make(Dictionary<string, List<T>> a, Inner b, Environment.SpecialFolder c) => new Made();

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static unsafe object Make<A, B>(A a, B[] b, byte* c) => new Made();

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static object Alone(int a) => new Made();
}

static class Overloading
{
    // overloads N: each of them makes N things.
    public static unsafe void Run(int n)
    {
        double number = 0;

        for (int i = 0; i < n; i++)
        {
            GC.KeepAlive(Overloads<string>.Make("a"));
            GC.KeepAlive(Overloads<string>.Make(null, null, ref number));
            GC.KeepAlive(Overloads<string>.Make(null, null, 0));
            GC.KeepAlive(Overloads<string>.Make<int, long>(1, null, null));
            GC.KeepAlive(Overloads<string>.Alone(1));
        }
    }
}
