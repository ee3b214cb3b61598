// Kinds of types and ways to allocate: their names, and what the runtime does not announce.
using System;
using System.Collections.Generic;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Threading.Tasks;

struct Pair { public long A, B; }
class Outer<T> { public class Inner { public T Value; } }

static class Kinds
{
    static object sink;
    static int field = 1;

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Box(int n)
    {
        for (int i = 0; i < n; i++)
            sink = new Pair { A = i };
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void BoxNullable(int n)
    {
        for (int i = 0; i < n; i++)
        {
            Pair? pair = new Pair { A = i };
            sink = pair;
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Reflect(int n)
    {
        FieldInfo info = typeof(Kinds).GetField("field", BindingFlags.Static | BindingFlags.NonPublic);
        int[] array = { 1 };
        for (int i = 0; i < n; i++)
        {
            sink = info.GetValue(null);
            sink = array.GetValue(0);
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Names(int n)
    {
        for (int i = 0; i < n; i++)
        {
            sink = new Outer<string>.Inner();
            sink = new Dictionary<string, List<int>>();
            sink = new Pair[2, 3];
            sink = new int[1][];
        }
    }

    static async Task<object> Wait(int n)
    {
        for (int i = 0; i < n; i++)
        {
            await Task.Yield();
            sink = new Version(1, 2);
        }
        return sink;
    }

    static IEnumerable<object> Each(int n)
    {
        for (int i = 0; i < n; i++)
            yield return new UriBuilder();
    }

    // kinds N: N objects in each way.
    public static void Run(int n)
    {
        object Local() => new Random(1);
        Func<object> lambda = () => new Exception();
        Box(n);
        BoxNullable(n);
        Reflect(n);
        Names(n);
        for (int i = 0; i < n; i++)
        {
            sink = Local();
            sink = lambda();
        }
        Wait(n).Wait();
        foreach (object each in Each(n))
            sink = each;
        GC.KeepAlive(field);
    }
}
