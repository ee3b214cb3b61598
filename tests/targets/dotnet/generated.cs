// Methods made at run time between methods that were there: each way makes N leaves of a type of its
// own, in the made method or below it. None ends in a call, which would leave its frame before. Tells
// how many bytes that took, but for the first one.
using System;
using System.Collections.Generic;
using System.Linq.Expressions;
using System.Reflection.Emit;
using System.Runtime.CompilerServices;

class LeafOfExpression { long a; public long A => a; }
class LeafOfCall { long a; public long A => a; }
class LeafOfText { long a; public long A => a; }
class LeafOfList { long a; public long A => a; }
class LeafOfBinder { long a; public long A => a; }
class LeafOfEmit { long a; public long A => a; }
class LeafOfEmittedCall { long a; public long A => a; }
class LeafOfDepth { long a; public long A => a; }
class LeafOfSum { long a; public long A => a; }

class Bound
{
    [MethodImpl(MethodImplOptions.NoInlining)]
    public long Make(int i)
    {
        Generated.Keep(new LeafOfBinder());
        return i;
    }
}

class Texts
{
    // Called by code of the framework's that was compiled before.
    public override string ToString()
    {
        Generated.Keep(new LeafOfText());
        return "";
    }
}

class Comparer : IComparer<int>
{
    public int Compare(int a, int b)
    {
        Generated.Keep(new LeafOfList());
        return a.CompareTo(b);
    }
}

static class Generated
{
    const MethodImplOptions Alone = MethodImplOptions.NoInlining;
    static object last;

    [MethodImpl(Alone)]
    public static void Keep(object o) => last = o;

    // With one call it has no frame pointer.
    [MethodImpl(Alone)]
    public static long Call(int i)
    {
        last = new LeafOfCall();
        return i;
    }

    [MethodImpl(Alone)]
    public static long Emitted(int i)
    {
        last = new LeafOfEmittedCall();
        return i;
    }

    // With a frame of a size of its own.
    [MethodImpl(Alone)]
    public static long Sum(int i, long a, long b, long c)
    {
        Keep(new LeafOfSum());
        return i + a + b * a + c;
    }

    static readonly Expression one = Expression.Constant(1L);

    static Func<int, long> OfExpression()
    {
        var i = Expression.Parameter(typeof(int));

        var keep = Expression.Call(typeof(Generated).GetMethod("Keep"), Expression.New(typeof(LeafOfExpression)));

        return Expression.Lambda<Func<int, long>>(Expression.Block(keep, one), i).Compile();
    }

    static Func<int, long> OfCall()
    {
        var i = Expression.Parameter(typeof(int));

        return Expression.Lambda<Func<int, long>>(
            Expression.Add(Expression.Call(typeof(Generated).GetMethod("Call"), i), one), i).Compile();
    }

    static Func<int, long> OfText()
    {
        var i = Expression.Parameter(typeof(int));
        var concat = typeof(string).GetMethod("Concat", new[] { typeof(object), typeof(object) });

        return Expression.Lambda<Func<int, long>>(
            Expression.Block(Expression.Call(concat, Expression.Constant(new Texts()), Expression.Constant(null)),
                one), i).Compile();
    }

    static Func<int, long> OfList()
    {
        var i = Expression.Parameter(typeof(int));
        var list = new List<int> { 1, 2 };
        var search = typeof(List<int>).GetMethod("BinarySearch", new[] { typeof(int), typeof(IComparer<int>) });

        return Expression.Lambda<Func<int, long>>(Expression.Convert(
            Expression.Call(Expression.Constant(list), search, Expression.Constant(2),
                Expression.Constant(new Comparer())), typeof(long)), i).Compile();
    }

    static Func<int, long> OfBinder()
    {
        dynamic bound = new Bound();

        return i => (long)bound.Make(i) + 1;
    }

    static Func<int, long> OfEmit()
    {
        var method = new DynamicMethod("Emit", typeof(long), new[] { typeof(int) }, typeof(Generated).Module);
        var il = method.GetILGenerator();

        il.Emit(OpCodes.Newobj, typeof(LeafOfEmit).GetConstructor(Type.EmptyTypes));
        il.Emit(OpCodes.Call, typeof(Generated).GetMethod("Keep"));
        il.Emit(OpCodes.Ldc_I8, 1L);
        il.Emit(OpCodes.Ret);
        return (Func<int, long>)method.CreateDelegate(typeof(Func<int, long>));
    }

    static Func<int, long> OfEmittedCall()
    {
        var method = new DynamicMethod("EmitCall", typeof(long), new[] { typeof(int) }, typeof(Generated).Module);
        var il = method.GetILGenerator();

        il.Emit(OpCodes.Ldarg_0);
        il.Emit(OpCodes.Call, typeof(Generated).GetMethod("Emitted"));
        il.Emit(OpCodes.Ldc_I8, 1L);
        il.Emit(OpCodes.Add);
        il.Emit(OpCodes.Ret);
        return (Func<int, long>)method.CreateDelegate(typeof(Func<int, long>));
    }

    // Made methods that call each other, the innermost one allocates.
    static Func<int, long> OfDepth()
    {
        DynamicMethod inner = null;

        for (int depth = 0; depth < 3; depth++)
        {
            var method = new DynamicMethod("Depth" + depth, typeof(long), new[] { typeof(int) },
                                           typeof(Generated).Module);
            var il = method.GetILGenerator();

            if (inner == null)
            {
                il.Emit(OpCodes.Newobj, typeof(LeafOfDepth).GetConstructor(Type.EmptyTypes));
                il.Emit(OpCodes.Call, typeof(Generated).GetMethod("Keep"));
                il.Emit(OpCodes.Ldc_I8, 1L);
            }
            else
            {
                il.Emit(OpCodes.Ldarg_0);
                il.Emit(OpCodes.Call, inner);
                il.Emit(OpCodes.Ldc_I8, 1L);
                il.Emit(OpCodes.Add);
            }
            il.Emit(OpCodes.Ret);
            inner = method;
        }
        return (Func<int, long>)inner.CreateDelegate(typeof(Func<int, long>));
    }

    static Func<int, long> OfSum()
    {
        var i = Expression.Parameter(typeof(int));

        return Expression.Lambda<Func<int, long>>(Expression.Add(
            Expression.Call(typeof(Generated).GetMethod("Sum"), i, one, one, one), one), i).Compile();
    }

    static void Repeat(string name, Func<int, long> make, int n)
    {
        long sum = make(0);

        long before = GC.GetAllocatedBytesForCurrentThread();

        for (int i = 1; i < n; i++)
            sum += make(i);
        before = GC.GetAllocatedBytesForCurrentThread() - before;
        Console.WriteLine($"{name} {before} {sum}");
    }

    // Each way has a method of its own, which calls what is made.
    [MethodImpl(Alone)] static void ByExpression(int n) => Repeat("LeafOfExpression", OfExpression(), n);
    [MethodImpl(Alone)] static void ByCall(int n) => Repeat("LeafOfCall", OfCall(), n);
    [MethodImpl(Alone)] static void ByText(int n) => Repeat("LeafOfText", OfText(), n);
    [MethodImpl(Alone)] static void ByList(int n) => Repeat("LeafOfList", OfList(), n);
    [MethodImpl(Alone)] static void ByBinder(int n) => Repeat("LeafOfBinder", OfBinder(), n);
    [MethodImpl(Alone)] static void ByEmit(int n) => Repeat("LeafOfEmit", OfEmit(), n);
    [MethodImpl(Alone)] static void ByEmittedCall(int n) => Repeat("LeafOfEmittedCall", OfEmittedCall(), n);
    [MethodImpl(Alone)] static void ByDepth(int n) => Repeat("LeafOfDepth", OfDepth(), n);
    [MethodImpl(Alone)] static void BySum(int n) => Repeat("LeafOfSum", OfSum(), n);

    public static void Run(int n)
    {
        ByCall(n);
        ByExpression(n);
        ByText(n);
        ByList(n);
        ByBinder(n);
        ByEmit(n);
        ByEmittedCall(n);
        ByDepth(n);
        BySum(n);
        Keep(null);
    }
}
