// Native functions between managed ones: a library's that was loaded by the program, and the
// runtime's own.
using System;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

class Called { long a; public long A => a; }
class Reflected { long a; public long A => a; }

static unsafe class Callbacks
{
    delegate long Callback(void* context, long n);

    static long made;

    [MethodImpl(MethodImplOptions.NoInlining)]
    static long Make(long n)
    {
        made++;
        GC.KeepAlive(new Called());
        return n;
    }

    static long ByDelegate(void* context, long n) => Make(n) + 1;

    [UnmanagedCallersOnly]
    static long ByPointer(void* context, long n) => Make(n) + 1;

    static void Reflect() => GC.KeepAlive(new Reflected());

    // The library comes and goes each time, and others may take its place.
    static void Call(string library, int n)
    {
        IntPtr handle = NativeLibrary.Load(library);
        var outer = (delegate* unmanaged<void*, void*, long, long>)NativeLibrary.GetExport(handle, "dwell_native_outer");
        Callback callback = ByDelegate;
        delegate* unmanaged<void*, long, long> pointer = &ByPointer;

        for (int i = 0; i < n; i++)
        {
            outer((void*)Marshal.GetFunctionPointerForDelegate(callback), null, i);
            outer(pointer, null, i);
        }
        GC.KeepAlive(callback);
        NativeLibrary.Free(handle);
    }

    // callbacks N LIBRARY...: N times both ways through each of the libraries, in turn twice.
    public static void Run(int n, string[] libraries)
    {
        MethodInfo reflect = typeof(Callbacks).GetMethod(nameof(Reflect), BindingFlags.NonPublic | BindingFlags.Static);

        for (int turn = 0; turn < 2; turn++)
            foreach (string library in libraries)
                Call(library, n);
        for (int i = 0; i < n; i++)
            reflect.Invoke(null, null);
        Console.WriteLine($"called {made}");
    }
}
