// Methods that count their own calls, in all the ways in which methods are entered and left.
using System;
using System.Collections.Generic;
using System.IO;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;
using System.Threading.Tasks;

namespace Knowing;

static class Hits
{
    static readonly Dictionary<string, int[]> all = new();

    // The counter of the method that reports call @name.
    public static int[] Of(string name)
    {
        lock (all) {
            if (!all.TryGetValue(name, out var one))
                all[name] = one = new int[1];
            return one;
        }
    }

    public static void Add(int[] one)
    {
        Interlocked.Increment(ref one[0]);
    }

    public static void Print()
    {
        foreach (var (name, one) in all)
            Console.WriteLine($"calls {one[0]} {(name.StartsWith("Tailing") ? "" : "Knowing.")}{name}");
    }
}

static class Recursion
{
    static readonly int[] fib = Hits.Of("Recursion.Fib"), even = Hits.Of("Recursion.IsEven"),
        odd = Hits.Of("Recursion.IsOdd"), deep = Hits.Of("Recursion.Deep");

    static int Fib(int n)
    {
        Hits.Add(fib);
        return n < 2 ? n : Fib(n - 1) + Fib(n - 2);
    }

    static bool IsEven(int n)
    {
        Hits.Add(even);
        return n == 0 || IsOdd(n - 1);
    }

    static bool IsOdd(int n)
    {
        Hits.Add(odd);
        return n != 0 && IsEven(n - 1);
    }

    static int Deep(int n)
    {
        Span<byte> room = stackalloc byte[64];

        Hits.Add(deep);
        room[n % 64] = 1;
        return n == 0 ? 0 : Deep(n - 1) + room[n % 64];
    }

    public static void Run()
    {
        Fib(20);
        IsEven(101);
        Deep(5000);
    }
}

abstract class Shape
{
    public abstract int Area(int k);
    public virtual int Edges(int k)
    {
        Hits.Add(Shapes.edges);
        return k;
    }
}

sealed class Square : Shape
{
    public override int Area(int k)
    {
        Hits.Add(Shapes.square);
        return k * k;
    }
}

sealed class Circle : Shape, IComparable<Circle>
{
    public override int Area(int k)
    {
        Hits.Add(Shapes.circle);
        return 3 * k * k;
    }

    public int CompareTo(Circle other)
    {
        Hits.Add(Shapes.compare);
        return other.GetHashCode() - GetHashCode();
    }
}

sealed class Box<T>
{
    static readonly int[] put = Hits.Of("Box<T>.Put");
    T value;

    public Box<T> Put(T one)
    {
        Hits.Add(put);
        value = one;
        return this;
    }
}

static class Shapes
{
    public static readonly int[] square = Hits.Of("Square.Area"), circle = Hits.Of("Circle.Area"),
        edges = Hits.Of("Shape.Edges"), compare = Hits.Of("Circle.CompareTo"),
        generic = Hits.Of("Shapes.Largest<T>"), lambda = Hits.Of("Shapes.Run.lambda_1"),
        local = Hits.Of("Shapes.Run.Local"), twice = Hits.Of("Shapes.Twice");

    static T Largest<T>(T a, T b) where T : IComparable<T>
    {
        Hits.Add(generic);
        return a.CompareTo(b) > 0 ? a : b;
    }

    static int Twice(int k)
    {
        Hits.Add(twice);
        return 2 * k;
    }

    public static void Run()
    {
        Shape[] shapes = { new Square(), new Circle(), new Square() };
        Func<int, int> all = Twice;
        int sum = 0, seen = 0;

        int Local(int k)
        {
            Hits.Add(local);
            return seen += k;
        }

        all += Twice;
        all += k => { Hits.Add(lambda); return k + seen; };
        for (int i = 0; i < 300; i++) {
            foreach (var shape in shapes)
                sum += shape.Area(i) + shape.Edges(i);
            sum += all(i) + Local(i);
            new Box<int>().Put(i);
            new Box<string>().Put("x");
            new Box<(int, long)>().Put((i, i));
            Largest(i, i + 1);
            Largest("a", "b");
            Largest(new Circle(), new Circle());
        }
    }
}

static class Sequences
{
    static readonly int[] next = Hits.Of("Sequences.Numbers.MoveNext"), step = Hits.Of("Sequences.Steps.MoveNext"),
        inner = Hits.Of("Sequences.Inner.MoveNext");

    // Each MoveNext is a call: one more than there are numbers.
    static IEnumerable<int> Numbers(int n)
    {
        for (int i = 0; i < n; i++) {
            Hits.Add(next);
            yield return i;
        }
        Hits.Add(next);
    }

    // And here: the first, and one for each time that it goes on.
    static async Task<int> Steps(int n)
    {
        int sum = 0;

        Hits.Add(step);
        for (int i = 0; i < n; i++) {
            await Task.Yield();
            Hits.Add(step);
            if (i % 10 == 9) {
                sum += await new Later(Inner(i));
                Hits.Add(step);
            } else {
                sum += await Inner(i);
            }
        }
        return sum;
    }

    static async ValueTask<int> Inner(int i)
    {
        Hits.Add(inner);
        if (i % 10 == 9) {
            await Task.Yield();
            Hits.Add(inner);
        }
        return i;
    }

    // To await this is to go on later, also when the task has ended meanwhile on another thread.
    class Later(ValueTask<int> task) : INotifyCompletion
    {
        readonly Task<int> task = task.AsTask();

        public Later GetAwaiter() => this;
        public bool IsCompleted => false;
        public int GetResult() => task.Result;
        public void OnCompleted(Action next) => task.ContinueWith(_ => next());
    }

    public static void Run()
    {
        int sum = 0;

        for (int i = 0; i < 20; i++)
            foreach (int k in Numbers(50))
                sum += k;
        for (int i = 0; i < 10; i++)
            Steps(100).Wait();
    }
}

static class Exceptions
{
    static readonly int[] thrower = Hits.Of("Exceptions.Thrower"), middle = Hits.Of("Exceptions.Middle"),
        final = Hits.Of("Exceptions.Final"), again = Hits.Of("Exceptions.Again"),
        filter = Hits.Of("Exceptions.Filter"), passes = Hits.Of("Exceptions.Passes"),
        cleanup = Hits.Of("Exceptions.Cleanup"), nulls = Hits.Of("Exceptions.Nulls"),
        after = Hits.Of("Exceptions.After"), nested = Hits.Of("Exceptions.Nested"),
        retried = Hits.Of("Exceptions.Retried"), foreign = Hits.Of("Exceptions.Foreign");

    static int Thrower(int depth, int kind)
    {
        Hits.Add(thrower);
        if (depth > 0)
            return Thrower(depth - 1, kind) + 1;
        throw kind == 0 ? new InvalidOperationException("zero") : new ArgumentException("one");
    }

    static int Middle(int kind)
    {
        Hits.Add(middle);
        return Thrower(3, kind) + 1;
    }

    static void Cleanup(int k)
    {
        Hits.Add(cleanup);
        after[0] += 0;
    }

    static int Final(int kind)
    {
        Hits.Add(final);
        try {
            return Middle(kind);
        } finally {
            Cleanup(kind);
        }
    }

    static int Again(int kind)
    {
        Hits.Add(again);
        try {
            return Final(kind);
        } catch (InvalidOperationException) {
            Cleanup(1);
            throw;
        }
    }

    static bool Passes(Exception e, int k)
    {
        Hits.Add(passes);
        return k % 2 == 0;
    }

    static int Filter(int k)
    {
        Hits.Add(filter);
        try {
            return Again(k % 3 == 0 ? 0 : 1);
        } catch (Exception e) when (Passes(e, k)) {
            return After(k);
        } catch (ArgumentException e) {
            return e.Message.Length + After(k);
        } catch (InvalidOperationException e) {
            return e.Message.Length + After(k);
        }
    }

    static int After(int k)
    {
        Hits.Add(after);
        return k + 1;
    }

    static int Nulls(string text)
    {
        Hits.Add(nulls);
        try {
            return text.Length;
        } catch (NullReferenceException) {
            return After(1);
        }
    }

    static int Nested(int k)
    {
        Hits.Add(nested);
        try {
            try {
                return Middle(1);
            } catch (ArgumentException) {
                return Middle(0) + After(k);
            } finally {
                Cleanup(k);
            }
        } catch (InvalidOperationException) {
            return After(k);
        }
    }

    // Its catch is code of the framework.
    static int Foreign(int k)
    {
        var task = Task.Run(() => Middle(1));

        Hits.Add(foreign);
        try {
            task.Wait();
        } catch (AggregateException) {
            return After(k);
        }
        return 0;
    }

    // It goes on in a loop behind the catch, so that a frame left open would show.
    static int Retried(int n)
    {
        int caught = 0;

        Hits.Add(retried);
        while (caught < n) {
            try {
                caught += Final(1);
            } catch (ArgumentException) {
                caught++;
            }
        }
        return After(caught);
    }

    public static void Run()
    {
        for (int i = 0; i < 120; i++) {
            Filter(i);
            Nulls(i % 2 == 0 ? null : "text");
            Nested(i);
        }
        for (int i = 0; i < 20; i++)
            Foreign(i);
        Retried(50);
        Console.WriteLine($"trace {Trace()}");
    }

    // Lines of exceptions are those of a plain run.
    static string Trace()
    {
        try {
            return Middle(1).ToString();
        } catch (ArgumentException e) {
            var lines = e.StackTrace.Split('\n');
            var words = new List<string>();

            foreach (var line in lines)
                words.Add(line[(line.LastIndexOf('.') + 1)..].Trim());
            return string.Join(' ', words);
        }
    }
}

static unsafe class Native
{
    static readonly int[] compare = Hits.Of("Native.Compare"), sorts = Hits.Of("Native.Sorts"),
        called = Hits.Of("Native.Called");

    [DllImport("libc.so.6")]
    static extern void qsort(int* at, nint n, nint bytes, delegate* unmanaged[Cdecl]<int*, int*, int> compare);

    [DllImport("libc.so.6", EntryPoint = "qsort")]
    static extern void Sort(int[] at, nint n, nint bytes, Comparer compare);

    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    delegate int Comparer(ref int a, ref int b);

    [UnmanagedCallersOnly(CallConvs = new[] { typeof(CallConvCdecl) })]
    static int Compare(int* a, int* b)
    {
        Hits.Add(compare);
        return a[0].CompareTo(b[0]);
    }

    static int Called(ref int a, ref int b)
    {
        Hits.Add(called);
        return a.CompareTo(b);
    }

    static void Sorts(int[] numbers)
    {
        Hits.Add(sorts);
        fixed (int* at = numbers)
            qsort(at, numbers.Length, sizeof(int), &Compare);
        Array.Reverse(numbers);
        Sort(numbers, numbers.Length, sizeof(int), Called);
    }

    public static void Run()
    {
        for (int k = 0; k < 20; k++) {
            var numbers = new int[100];

            for (int i = 0; i < numbers.Length; i++)
                numbers[i] = i * 7919 % 101;
            Sorts(numbers);
        }
    }
}

sealed class Finalized
{
    static readonly int[] final = Hits.Of("Finalized.Finalize"), made = Hits.Of("Finalized..ctor");
    readonly int number;

    public Finalized(int k)
    {
        Hits.Add(made);
        number = k;
    }

    ~Finalized()
    {
        if (number >= 0)
            Hits.Add(final);
    }
}

static class Loops
{
    static readonly int[] loop = Hits.Of("Loops.Long"), body = Hits.Of("Loops.Body"), work = Hits.Of("Loops.Work"),
        kind = Hits.Of("Loops.Kind"), first = Hits.Of("Loops.First");
    static readonly int[] place = new int[1];

    static int Body(int k, int sum)
    {
        Hits.Add(body);
        return (sum ^ k) + 1;
    }

    // Long enough to be replaced while it runs.
    static int Long(int n)
    {
        int sum = 0;

        Hits.Add(loop);
        for (int i = 0; i < n; i++)
            sum = Body(i, sum);
        return sum;
    }

    static ref int First(int[] of)
    {
        Hits.Add(first);
        return ref of[0];
    }

    static string Kind(int k)
    {
        Hits.Add(kind);
        switch (k % 6) {
        case 0: return "zero";
        case 1: return "one";
        case 2: return "two";
        case 3: goto case 1;
        case 4: return null;
        default: return Kind(k + 1);
        }
    }

    static void Work(object n)
    {
        Hits.Add(work);
        for (int i = 0; i < (int)n; i++) {
            Body(i, i);
            Kind(i);
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Drop()
    {
        for (int i = 0; i < 100; i++)
            new Finalized(i);
    }

    public static void Run()
    {
        var threads = new Thread[8];

        Long(300000);
        Long(300000);
        for (int i = 0; i < 100; i++)
            First(place)++;
        for (int i = 0; i < threads.Length; i++)
            (threads[i] = new Thread(Work)).Start(20000);
        foreach (var thread in threads)
            thread.Join();
        Parallel.For(0, 5000, i => Work(1));
        Drop();
        GC.Collect();
        GC.WaitForPendingFinalizers();
    }
}

// This assembly once more, in a context that can be unloaded: its counters are others.
static class Contexts
{
    public static void Run()
    {
        for (int i = 0; i < 3; i++) {
            Once();
            GC.Collect();
            GC.WaitForPendingFinalizers();
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Once()
    {
        var context = new System.Runtime.Loader.AssemblyLoadContext("again", true);
        var assembly = context.LoadFromAssemblyPath(typeof(Contexts).Assembly.Location);
        var counted = (int)assembly.GetType("Knowing.Contexts").GetMethod("Again").Invoke(null, null);

        Interlocked.Add(ref Hits.Of("Contexts.Counted")[0], counted);
        context.Unload();
    }

    static int calls;

    static void Counted(int k)
    {
        if (k >= 0)
            Interlocked.Increment(ref calls);
        else
            throw new ArgumentException("k");
    }

    public static int Again()
    {
        for (int i = 0; i < 1000; i++)
            Counted(i);
        return calls;
    }
}

#if NET9_0_OR_GREATER
// Calls with the prefix for tail calls, which C# does not write.
static class Tails
{
    static readonly int[] down = Hits.Of("Tailing.Down"), up = Hits.Of("Tailing.Up");

    static void Define(System.Reflection.Emit.TypeBuilder type, System.Reflection.Emit.MethodBuilder from,
        MethodInfo to, string name)
    {
        var il = from.GetILGenerator();
        var end = il.DefineLabel();

        il.Emit(System.Reflection.Emit.OpCodes.Ldarg_1);
        il.Emit(System.Reflection.Emit.OpCodes.Dup);
        il.Emit(System.Reflection.Emit.OpCodes.Ldc_I4_0);
        il.Emit(System.Reflection.Emit.OpCodes.Ldelem_I4);
        il.Emit(System.Reflection.Emit.OpCodes.Pop);
        il.Emit(System.Reflection.Emit.OpCodes.Pop);
        il.Emit(System.Reflection.Emit.OpCodes.Ldarg_0);
        il.Emit(System.Reflection.Emit.OpCodes.Brfalse, end);
        il.Emit(System.Reflection.Emit.OpCodes.Ldarg_0);
        il.Emit(System.Reflection.Emit.OpCodes.Ldc_I4_1);
        il.Emit(System.Reflection.Emit.OpCodes.Sub);
        il.Emit(System.Reflection.Emit.OpCodes.Ldarg_1);
        il.Emit(System.Reflection.Emit.OpCodes.Tailcall);
        il.Emit(System.Reflection.Emit.OpCodes.Call, to);
        il.MarkLabel(end);
        il.Emit(System.Reflection.Emit.OpCodes.Ret);
    }

    public static void Run()
    {
        var made = new System.Reflection.Emit.PersistedAssemblyBuilder(new AssemblyName("tailing"), typeof(int).Assembly);
        var type = made.DefineDynamicModule("tailing").DefineType("Tailing", TypeAttributes.Public);
        var flags = MethodAttributes.Public | MethodAttributes.Static;
        var arguments = new[] { typeof(int), typeof(int[]) };
        var a = type.DefineMethod("Down", flags, typeof(void), arguments);
        var b = type.DefineMethod("Up", flags, typeof(void), arguments);
        var file = Path.Combine(Path.GetTempPath(), $"tailing-{Environment.ProcessId}.dll");

        Define(type, a, b, "Down");
        Define(type, b, a, "Up");
        type.CreateType();
        made.Save(file);
        Assembly.LoadFrom(file).GetType("Tailing").GetMethod("Down").Invoke(null, new object[] { 400001, new int[1] });
        File.Delete(file);
        down[0] = up[0] = 200001;
    }
}
#endif

static class Known
{
    public static void Run()
    {
        Recursion.Run();
        Shapes.Run();
        Sequences.Run();
        Exceptions.Run();
        Native.Run();
        Loops.Run();
        if (typeof(Known).Assembly.Location != "")
            Contexts.Run();
#if NET9_0_OR_GREATER
        Tails.Run();
#endif
        Hits.Print();
    }
}

// Calls whose times the program knows, in microseconds.
static unsafe class Timed
{
    struct Moment { public long Seconds, Nanoseconds; }

    [DllImport("libc.so.6")]
    static extern int clock_gettime(int clock, Moment* at);

    static readonly object gate = new();

    static long Processor()
    {
        Moment at;

        clock_gettime(3, &at); // CLOCK_THREAD_CPUTIME_ID
        return at.Seconds * 1000000 + at.Nanoseconds / 1000;
    }

    static long Now() => System.Diagnostics.Stopwatch.GetTimestamp() / (System.Diagnostics.Stopwatch.Frequency / 1000000);

    static void Nap(int ms)
    {
        Thread.Sleep(ms);
        Thread.Sleep(0);
    }

    // Clocks are read inside of what is measured: a busy machine takes long to compile it.
    static long Sleeps(int n)
    {
        long from = Now();

        for (int i = 0; i < n; i++)
            Nap(40);
        return Now() - from;
    }

    static int Chew(int k)
    {
        int sum = k;

        for (int i = 0; i < 2000000; i++)
            sum = sum * 31 + i;
        return sum;
    }

    static long Spins(int n, out int sum)
    {
        long from = Processor();

        sum = 0;
        for (int i = 0; i < n; i++)
            sum ^= Chew(i);
        return Processor() - from;
    }

    static void Holds(object ms)
    {
        lock (gate)
            Thread.Sleep((int)ms);
    }

    // Waits for a lock that another thread has.
    static void Waits(int ms)
    {
        var other = new Thread(Holds);

        other.Start(ms);
        while (!Monitor.IsEntered(gate) && Monitor.TryEnter(gate)) {
            Monitor.Exit(gate);
            Thread.Yield();
        }
        Enters();
        other.Join();
    }

    static void Enters()
    {
        long from = Now();

        lock (gate)
            Console.WriteLine($"waited {Now() - from}");
    }

    public static void Run(int n)
    {
        Now();
        Processor();
        Console.WriteLine($"slept {Sleeps(n)}");
        Chew(1);
        Console.WriteLine($"spun {Spins(10 * n, out _)}");
        Waits(40 * n);
    }
}
