// What makes life hard for whoever follows objects: code that comes and goes, threads, exceptions.
using System;
using System.Collections;
using System.Collections.Generic;
using System.Linq.Expressions;
using System.Reflection.Emit;
using System.Runtime.CompilerServices;
using System.Runtime.Loader;
using System.Threading;
using System.Threading.Tasks;

public class Thing { public object Value; }

static class Stress
{
    static object sink;

    // An assembly that can be unloaded, 101 things of its own.
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Load(string path)
    {
        var context = new AssemblyLoadContext("stress", true);
        Type type = context.LoadFromAssemblyPath(path).GetType("Thing");
        for (int i = 0; i < 100; i++)
            sink = Activator.CreateInstance(type);
        var list = (IList)Activator.CreateInstance(typeof(List<>).MakeGenericType(type));
        list.Add(Activator.CreateInstance(type));
        sink = null;
        context.Unload();
    }

    static void Collect()
    {
        GC.Collect();
        GC.WaitForPendingFinalizers();
        GC.Collect();
    }

    static void MakeCode(int n)
    {
        for (int i = 0; i < n; i++)
        {
            var method = new DynamicMethod("made", typeof(object), Type.EmptyTypes);
            ILGenerator il = method.GetILGenerator();
            il.Emit(OpCodes.Newobj, typeof(Thing).GetConstructor(Type.EmptyTypes));
            il.Emit(OpCodes.Ret);
            var made = (Func<object>)method.CreateDelegate(typeof(Func<object>));
            Expression<Func<object>> expression = () => new Thing();
            Func<object> compiled = expression.Compile();
            for (int k = 0; k < 10; k++)
            {
                sink = made();
                sink = compiled();
            }
            if (i % 16 == 0)
                Collect();
        }
    }

    static void RunThreads(int n)
    {
        var all = new Thread[n];
        for (int i = 0; i < n; i++)
        {
            all[i] = new Thread(() => { for (int k = 0; k < 100; k++) Volatile.Write(ref sink, new Thing()); },
                128 * 1024);
            all[i].Start();
        }
        foreach (Thread thread in all)
            thread.Join();
    }

    static int Deep(int depth)
    {
        if (depth % 100 == 0)
            sink = new Thing();
        return depth == 0 ? 0 : 1 + Deep(depth - 1);
    }

    // stress N: prints how many things there were.
    public static void Run(int n)
    {
        for (int i = 0; i < n; i++)
        {
            Load(typeof(Stress).Assembly.Location);
            if (i % 4 == 0)
                Collect();
        }
        MakeCode(n);
        RunThreads(10 * n);
        for (int i = 0; i < n; i++)
        {
            try { throw new InvalidOperationException(); }
            catch (Exception e) { sink = new Thing { Value = e.StackTrace }; }
        }
        Parallel.For(0, 100 * n, i => { sink = new Thing(); if (i % 500 == 0) GC.Collect(0); });
        Deep(10000);
        Console.WriteLine($"things {n * (101 + 20 + 1000 + 1 + 100) + 101}");
    }
}
