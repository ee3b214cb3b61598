// Methods of all kinds that C# has words for: each makes N things.
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Threading.Tasks;

class Named { long a; public long A => a; }

class Bin<TItem>
{
    [MethodImpl(MethodImplOptions.NoInlining)]
    public object Fill(TItem item) => new Named();

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static object Turn<TOther>(TItem item, TOther other) => new Named();

    public class Label<TText>
    {
        [MethodImpl(MethodImplOptions.NoInlining)]
        public object Write(TItem item, TText text) => new Named();
    }

    public class Plain
    {
        [MethodImpl(MethodImplOptions.NoInlining)]
        public object Write() => new Named();
    }

    public static async Task<object> Later(TItem item)
    {
        await Task.Yield();
        return new Named();
    }
}

static class Names
{
    static object sink;

    static IEnumerable<object> Each(int n)
    {
        for (int i = 0; i < n; i++)
            yield return new Named();
    }

    // names N
    public static void Run(int n)
    {
        async Task<object> Local()
        {
            await Task.Yield();
            return new Named();
        }
        IEnumerable<object> LocalEach()
        {
            for (int i = 0; i < n; i++)
                yield return new Named();
        }
        Func<Task<object>> lambda = async () =>
        {
            await Task.Yield();
            return new Named();
        };

        for (int i = 0; i < n; i++)
        {
            sink = new Bin<string>().Fill("a");
            sink = Bin<int>.Turn<string>(1, "a");
            sink = new Bin<string>.Label<int>().Write("a", 1);
            sink = new Bin<string>.Plain().Write();
            sink = Bin<string>.Later("a").Result;
            sink = Local().Result;
            sink = lambda().Result;
        }
        foreach (object each in Each(n))
            sink = each;
        foreach (object each in LocalEach())
            sink = each;
    }
}
