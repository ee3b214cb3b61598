// Ways to make objects: how many each makes stands beside it, their bytes are counted by the runtime.
// All are stored, so that no compiler leaves them out.
using System;
using System.Collections.Generic;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;

struct Small { public byte A; }
struct Mixed { public object A; public long B; public short C; }
record Point(int X, int Y);
interface IShape { int Sides(); }
struct Square : IShape { public int Sides() => 4; }
enum Colour { Red, Green }
class Generic<T> { public T Value; }
class Dying { ~Dying() { } }
class Storm { public long A; }

class Cell
{
    public int Value = 1;
    public Cell Copy() => (Cell)MemberwiseClone();
}

static class Exact
{
    static object sink;
    static readonly int[] lengths = { 3 }, lower = { 5 };
    static readonly Action first = Called, second = Called;
    static readonly Cell cell = new Cell();
    static readonly ConstructorInfo constructor = typeof(Cell).GetConstructor(Type.EmptyTypes);

    // One function for all: the first call of each makes objects.
    [DllImport("libc", EntryPoint = "syscall")]
    static extern unsafe nint SystemCall(nint number, nint a, byte* text, nint bytes);
    const int WRITE = 1, GETTID = 186, EXIT = 231;

    static readonly (string name, int objects, Func<int, object> make)[] kinds = {
        ("Plain", 1, Plain), ("Strings", 3, Strings), ("Arrays", 8, Arrays), ("Ranks", 6, Ranks),
        ("Bounds", 1, Bounds), ("Boxes", 8, Boxes), ("Nullables", 1, Nullables), ("Delegates", 4, Delegates),
        ("Closures", 2, Closures), ("Generics", 5, Generics), ("Copies", 3, Copies), ("Made", 3, Made),
        ("Iterated", 1, Iterated), ("Handles", 3, Handles), ("OnStack", 0, OnStack), ("Records", 2, Records),
        ("Interfaces", 2, Interfaces), ("Finalizers", 1, Finalizers), ("Large", 1, Large), ("Pinned", 2, Pinned),
        ("Enums", 1, Enums), ("Bare", 2, Bare),
    };

    static object Plain(int i) => sink = new Cell();
    static object Strings(int i)
    {
        sink = new string('x', i % 70 + 1);
        sink = string.Concat((string)sink, "abc");
        return sink = string.Create(i % 9 + 1, i, (span, _) => span.Fill('y'));
    }
    static object Arrays(int i)
    {
        sink = new byte[i % 100 + 1];
        sink = new char[i % 10 + 1];
        sink = new double[i % 50 + 1];
        sink = new object[i % 7];
        sink = new string[3];
        sink = new Mixed[i % 5];
        sink = new Small[i % 6];
        return sink = new decimal[2];
    }
    static object Ranks(int i)
    {
        sink = new int[2, 3];
        sink = new object[2, 3, 4];
        sink = new Small[1, 2, 3, 4];
        sink = new long[1, 1, 1, 1, 1];
        sink = new Cell[i % 3, 2];
        return sink = new byte[1, 2, 1, 2, 1, 2, 1];
    }
    static object Bounds(int i) => sink = Array.CreateInstance(typeof(short), lengths, lower);
    static object Boxes(int i)
    {
        sink = i;
        sink = (byte)i;
        sink = (double)i;
        sink = new Small();
        sink = new Mixed { B = i };
        sink = (i, i);
        sink = DateTime.UnixEpoch;
        return sink = (nint)i;
    }
    static object Nullables(int i)
    {
        long? some = i, none = null;
        sink = none;
        return sink = some;
    }
    static void Called() { }
    static object Delegates(int i)
    {
        sink = new Action(Called);
        sink = new Func<string>("abc".Trim);
        return sink = Delegate.Combine(first, second); // and the array of both
    }
    static object Closures(int i)
    {
        Func<int> closure = () => i;
        return sink = closure;
    }
    static T MakeOf<T>() where T : new() => new T();
    static object BoxOf<T>(T value) => value;
    static object Generics(int i)
    {
        sink = new Generic<int>();
        sink = new Generic<string>();
        sink = new Generic<Mixed>();
        sink = BoxOf(new KeyValuePair<string, int>("a", i));
        return sink = MakeOf<Cell>();
    }
    static object Copies(int i)
    {
        sink = cell.Copy();
        sink = lengths.Clone();
        return sink = "abcdef".Substring(i % 5 + 1);
    }
    static object Made(int i)
    {
        sink = RuntimeHelpers.GetUninitializedObject(typeof(Cell));
        sink = Activator.CreateInstance(typeof(Cell));
        return sink = Array.CreateInstance(typeof(Cell), 3);
    }
    static IEnumerable<int> Numbers()
    {
        yield return 1;
    }
    static object Iterated(int i) => sink = Numbers();
    static object Handles(int i)
    {
        var array = new int[i % 9 + 1];
        GCHandle pinned = GCHandle.Alloc(array, GCHandleType.Pinned);
        GCHandle weak = GCHandle.Alloc(array, GCHandleType.WeakTrackResurrection);
        weak.Free();
        pinned.Free();
        sink = new WeakReference(array);
        return sink = new WeakReference<object>(array);
    }
    static unsafe object OnStack(int i)
    {
        byte* bytes = stackalloc byte[i % 200 + 1];
        Span<long> more = stackalloc long[10];
        more[0] = i;
        bytes[0] = (byte)more[0];
        return cell;
    }
    static object Records(int i)
    {
        var point = new Point(i, i);
        sink = point;
        return sink = point with { X = 1 };
    }
    static object Interfaces(int i)
    {
        IShape shape = new Square();
        sink = shape;
        return shape.Sides();
    }
    static object Finalizers(int i) => sink = new Dying();
    static object Large(int i) => sink = i % 50 == 0 ? new byte[90000 + i] : new byte[1];
    static object Pinned(int i)
    {
        sink = GC.AllocateArray<byte>(i % 64 + 1, pinned: true);
        return sink = GC.AllocateUninitializedArray<long>(i % 8 + 1, pinned: true);
    }
    static object Enums(int i) => sink = (Colour)(i & 1);
    static object Bare(int i)
    {
        sink = GC.AllocateUninitializedArray<byte>(i % 4000 + 1);
        return sink = new object();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void RunKind(Func<int, object> make, int n)
    {
        for (int i = 0; i < n; i++)
            make(i);
    }

    // Threads that allocate and end; what each has counted, by the kernel's number of it.
    static void RunThreads(int n)
    {
        var all = new Thread[n];
        var said = new (int number, long bytes)[n];
        for (int i = 0; i < n; i++)
        {
            int k = i;
            all[i] = new Thread(() =>
            {
                for (int j = 0; j < 100 * (k % 5 + 1); j++)
                    Volatile.Write(ref sink, new Storm());
                said[k] = (ThreadNumber(), GC.GetAllocatedBytesForCurrentThread());
            });
        }
        for (int i = 0; i < n; i += 4)
        {
            for (int k = i; k < n && k < i + 4; k++)
                all[k].Start();
            for (int k = i; k < n && k < i + 4; k++)
                all[k].Join();
        }
        foreach ((int number, long bytes) in said)
            Console.WriteLine($"thread-{number} {bytes}");
    }

    static unsafe int ThreadNumber() => (int)SystemCall(GETTID, 0, null, 0);
    static unsafe void Leave() => SystemCall(EXIT, 3, null, 0);

    // Print a number without making an object.
    static unsafe void Print(long number)
    {
        byte* text = stackalloc byte[32];
        int at = 31;

        text[at] = (byte)'\n';
        for (; number > 0; number /= 10)
            text[--at] = (byte)('0' + number % 10);
        foreach (char c in " lla")
            text[--at] = (byte)c;
        SystemCall(WRITE, 1, text + at, 32 - at);
    }

    // exact N: N times each kind, N / 10 threads; ends without telling the runtime. Its last words are
    // all bytes ever allocated, and nothing is between that and the end.
    public static void Run(int n)
    {
        Print(1);
        foreach ((string name, int objects, Func<int, object> make) in kinds)
        {
            long before = GC.GetAllocatedBytesForCurrentThread();
            RunKind(make, n);
            Console.WriteLine($"kind-{name} {objects * n} {GC.GetAllocatedBytesForCurrentThread() - before}");
        }
        RunThreads(n / 10);
        Console.Out.Flush();
        Thread.Sleep(1);
        GC.Collect();
        GC.WaitForPendingFinalizers();
        GC.Collect();
        long total;
        do
        { // until the runtime's own threads, which compile again what is often called, are done
            total = GC.GetTotalAllocatedBytes(true);
            Thread.Sleep(200);
        } while (GC.GetTotalAllocatedBytes(true) != total);
        Print(total);
        Leave();
    }
}
