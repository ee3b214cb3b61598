// N objects, each with a stack of its own: every method calls one of five, by the digits of a number.
// After twelve of them the first ones come again. Tells of each method and call on how many stacks it
// is.
using System;
using System.Runtime.CompilerServices;

class Even { long a; public long A => a; }
class Odd { long a, b; public long A => a + b; }

static class Paths
{
    const MethodImplOptions Alone = MethodImplOptions.NoInlining;
    const int Rows = 12, Width = 5, Methods = Rows * Width;
    static readonly int[] on = new int[Methods], own = new int[Methods], stamp = new int[Methods];
    static readonly int[] calls = new int[Methods * Methods], callStamp = new int[Methods * Methods];
    static object sink;
    static int path, last, done;

    // The program is in @id now. Whether it goes on.
    [MethodImpl(Alone)]
    static bool See(int id, int left)
    {
        int call = last * Methods + id;

        if (stamp[id] != path)
            on[id]++;
        stamp[id] = path;
        if (last >= 0 && callStamp[call] != path)
            calls[call]++;
        if (last >= 0)
            callStamp[call] = path;
        last = id;
        if (left == 0)
            own[id]++;
        return left > 0;
    }

    [MethodImpl(Alone)]
    static Action<int, long> Next(int id, long rest) =>
        all[(id / Width + 1) % Rows * Width + (int)(rest % Width)];

    public static void Run(int n, int levels)
    {
        const long step = 1000003; // no multiple of 5: all numbers are others
        long numbers = 1;

        for (int i = 0; i < levels - 2 && i < 20; i++)
            numbers *= Width;
        for (path = 1; path <= n; path++)
        {
            // As many stacks of each of three depths.
            long rest = path / 3 * step % numbers;
            rest += numbers * (rest % (Width * Width));

            last = -1;
            all[(int)(rest % Width)](levels - 3 + path % 3, rest / Width);
        }
        for (int id = 0; id < Methods; id++)
            Console.WriteLine($"Paths.{all[id].Method.Name} {on[id]} {own[id]}");
        for (int call = 0; call < calls.Length; call++)
            if (calls[call] > 0)
                Console.WriteLine($"{all[call / Methods].Method.Name}-{all[call % Methods].Method.Name} {calls[call]}");
        Console.WriteLine($"done {done}");
    }

    [MethodImpl(Alone)]
    static void A0(int left, long rest)
    {
        if (See(0, left))
            Next(0, rest)(left - 1, rest / Width);
        else
            sink = new Even();
        done++;
    }

    [MethodImpl(Alone)]
    static void A1(int left, long rest)
    {
        if (See(1, left))
            Next(1, rest)(left - 1, rest / Width);
        else
            sink = new Odd();
        done++;
    }

    [MethodImpl(Alone)]
    static void A2(int left, long rest)
    {
        if (See(2, left))
            Next(2, rest)(left - 1, rest / Width);
        else
            sink = new Even();
        done++;
    }

    [MethodImpl(Alone)]
    static void A3(int left, long rest)
    {
        if (See(3, left))
            Next(3, rest)(left - 1, rest / Width);
        else
            sink = new Odd();
        done++;
    }

    [MethodImpl(Alone)]
    static void A4(int left, long rest)
    {
        if (See(4, left))
            Next(4, rest)(left - 1, rest / Width);
        else
            sink = new Even();
        done++;
    }

    [MethodImpl(Alone)]
    static void B0(int left, long rest)
    {
        if (See(5, left))
            Next(5, rest)(left - 1, rest / Width);
        else
            sink = new Odd();
        done++;
    }

    [MethodImpl(Alone)]
    static void B1(int left, long rest)
    {
        if (See(6, left))
            Next(6, rest)(left - 1, rest / Width);
        else
            sink = new Even();
        done++;
    }

    [MethodImpl(Alone)]
    static void B2(int left, long rest)
    {
        if (See(7, left))
            Next(7, rest)(left - 1, rest / Width);
        else
            sink = new Odd();
        done++;
    }

    [MethodImpl(Alone)]
    static void B3(int left, long rest)
    {
        if (See(8, left))
            Next(8, rest)(left - 1, rest / Width);
        else
            sink = new Even();
        done++;
    }

    [MethodImpl(Alone)]
    static void B4(int left, long rest)
    {
        if (See(9, left))
            Next(9, rest)(left - 1, rest / Width);
        else
            sink = new Odd();
        done++;
    }

    [MethodImpl(Alone)]
    static void C0(int left, long rest)
    {
        if (See(10, left))
            Next(10, rest)(left - 1, rest / Width);
        else
            sink = new Even();
        done++;
    }

    [MethodImpl(Alone)]
    static void C1(int left, long rest)
    {
        if (See(11, left))
            Next(11, rest)(left - 1, rest / Width);
        else
            sink = new Odd();
        done++;
    }

    [MethodImpl(Alone)]
    static void C2(int left, long rest)
    {
        if (See(12, left))
            Next(12, rest)(left - 1, rest / Width);
        else
            sink = new Even();
        done++;
    }

    [MethodImpl(Alone)]
    static void C3(int left, long rest)
    {
        if (See(13, left))
            Next(13, rest)(left - 1, rest / Width);
        else
            sink = new Odd();
        done++;
    }

    [MethodImpl(Alone)]
    static void C4(int left, long rest)
    {
        if (See(14, left))
            Next(14, rest)(left - 1, rest / Width);
        else
            sink = new Even();
        done++;
    }

    [MethodImpl(Alone)]
    static void D0(int left, long rest)
    {
        if (See(15, left))
            Next(15, rest)(left - 1, rest / Width);
        else
            sink = new Odd();
        done++;
    }

    [MethodImpl(Alone)]
    static void D1(int left, long rest)
    {
        if (See(16, left))
            Next(16, rest)(left - 1, rest / Width);
        else
            sink = new Even();
        done++;
    }

    [MethodImpl(Alone)]
    static void D2(int left, long rest)
    {
        if (See(17, left))
            Next(17, rest)(left - 1, rest / Width);
        else
            sink = new Odd();
        done++;
    }

    [MethodImpl(Alone)]
    static void D3(int left, long rest)
    {
        if (See(18, left))
            Next(18, rest)(left - 1, rest / Width);
        else
            sink = new Even();
        done++;
    }

    [MethodImpl(Alone)]
    static void D4(int left, long rest)
    {
        if (See(19, left))
            Next(19, rest)(left - 1, rest / Width);
        else
            sink = new Odd();
        done++;
    }

    [MethodImpl(Alone)]
    static void E0(int left, long rest)
    {
        if (See(20, left))
            Next(20, rest)(left - 1, rest / Width);
        else
            sink = new Even();
        done++;
    }

    [MethodImpl(Alone)]
    static void E1(int left, long rest)
    {
        if (See(21, left))
            Next(21, rest)(left - 1, rest / Width);
        else
            sink = new Odd();
        done++;
    }

    [MethodImpl(Alone)]
    static void E2(int left, long rest)
    {
        if (See(22, left))
            Next(22, rest)(left - 1, rest / Width);
        else
            sink = new Even();
        done++;
    }

    [MethodImpl(Alone)]
    static void E3(int left, long rest)
    {
        if (See(23, left))
            Next(23, rest)(left - 1, rest / Width);
        else
            sink = new Odd();
        done++;
    }

    [MethodImpl(Alone)]
    static void E4(int left, long rest)
    {
        if (See(24, left))
            Next(24, rest)(left - 1, rest / Width);
        else
            sink = new Even();
        done++;
    }

    [MethodImpl(Alone)]
    static void F0(int left, long rest)
    {
        if (See(25, left))
            Next(25, rest)(left - 1, rest / Width);
        else
            sink = new Odd();
        done++;
    }

    [MethodImpl(Alone)]
    static void F1(int left, long rest)
    {
        if (See(26, left))
            Next(26, rest)(left - 1, rest / Width);
        else
            sink = new Even();
        done++;
    }

    [MethodImpl(Alone)]
    static void F2(int left, long rest)
    {
        if (See(27, left))
            Next(27, rest)(left - 1, rest / Width);
        else
            sink = new Odd();
        done++;
    }

    [MethodImpl(Alone)]
    static void F3(int left, long rest)
    {
        if (See(28, left))
            Next(28, rest)(left - 1, rest / Width);
        else
            sink = new Even();
        done++;
    }

    [MethodImpl(Alone)]
    static void F4(int left, long rest)
    {
        if (See(29, left))
            Next(29, rest)(left - 1, rest / Width);
        else
            sink = new Odd();
        done++;
    }

    [MethodImpl(Alone)]
    static void G0(int left, long rest)
    {
        if (See(30, left))
            Next(30, rest)(left - 1, rest / Width);
        else
            sink = new Even();
        done++;
    }

    [MethodImpl(Alone)]
    static void G1(int left, long rest)
    {
        if (See(31, left))
            Next(31, rest)(left - 1, rest / Width);
        else
            sink = new Odd();
        done++;
    }

    [MethodImpl(Alone)]
    static void G2(int left, long rest)
    {
        if (See(32, left))
            Next(32, rest)(left - 1, rest / Width);
        else
            sink = new Even();
        done++;
    }

    [MethodImpl(Alone)]
    static void G3(int left, long rest)
    {
        if (See(33, left))
            Next(33, rest)(left - 1, rest / Width);
        else
            sink = new Odd();
        done++;
    }

    [MethodImpl(Alone)]
    static void G4(int left, long rest)
    {
        if (See(34, left))
            Next(34, rest)(left - 1, rest / Width);
        else
            sink = new Even();
        done++;
    }

    [MethodImpl(Alone)]
    static void H0(int left, long rest)
    {
        if (See(35, left))
            Next(35, rest)(left - 1, rest / Width);
        else
            sink = new Odd();
        done++;
    }

    [MethodImpl(Alone)]
    static void H1(int left, long rest)
    {
        if (See(36, left))
            Next(36, rest)(left - 1, rest / Width);
        else
            sink = new Even();
        done++;
    }

    [MethodImpl(Alone)]
    static void H2(int left, long rest)
    {
        if (See(37, left))
            Next(37, rest)(left - 1, rest / Width);
        else
            sink = new Odd();
        done++;
    }

    [MethodImpl(Alone)]
    static void H3(int left, long rest)
    {
        if (See(38, left))
            Next(38, rest)(left - 1, rest / Width);
        else
            sink = new Even();
        done++;
    }

    [MethodImpl(Alone)]
    static void H4(int left, long rest)
    {
        if (See(39, left))
            Next(39, rest)(left - 1, rest / Width);
        else
            sink = new Odd();
        done++;
    }

    [MethodImpl(Alone)]
    static void I0(int left, long rest)
    {
        if (See(40, left))
            Next(40, rest)(left - 1, rest / Width);
        else
            sink = new Even();
        done++;
    }

    [MethodImpl(Alone)]
    static void I1(int left, long rest)
    {
        if (See(41, left))
            Next(41, rest)(left - 1, rest / Width);
        else
            sink = new Odd();
        done++;
    }

    [MethodImpl(Alone)]
    static void I2(int left, long rest)
    {
        if (See(42, left))
            Next(42, rest)(left - 1, rest / Width);
        else
            sink = new Even();
        done++;
    }

    [MethodImpl(Alone)]
    static void I3(int left, long rest)
    {
        if (See(43, left))
            Next(43, rest)(left - 1, rest / Width);
        else
            sink = new Odd();
        done++;
    }

    [MethodImpl(Alone)]
    static void I4(int left, long rest)
    {
        if (See(44, left))
            Next(44, rest)(left - 1, rest / Width);
        else
            sink = new Even();
        done++;
    }

    [MethodImpl(Alone)]
    static void J0(int left, long rest)
    {
        if (See(45, left))
            Next(45, rest)(left - 1, rest / Width);
        else
            sink = new Odd();
        done++;
    }

    [MethodImpl(Alone)]
    static void J1(int left, long rest)
    {
        if (See(46, left))
            Next(46, rest)(left - 1, rest / Width);
        else
            sink = new Even();
        done++;
    }

    [MethodImpl(Alone)]
    static void J2(int left, long rest)
    {
        if (See(47, left))
            Next(47, rest)(left - 1, rest / Width);
        else
            sink = new Odd();
        done++;
    }

    [MethodImpl(Alone)]
    static void J3(int left, long rest)
    {
        if (See(48, left))
            Next(48, rest)(left - 1, rest / Width);
        else
            sink = new Even();
        done++;
    }

    [MethodImpl(Alone)]
    static void J4(int left, long rest)
    {
        if (See(49, left))
            Next(49, rest)(left - 1, rest / Width);
        else
            sink = new Odd();
        done++;
    }

    [MethodImpl(Alone)]
    static void K0(int left, long rest)
    {
        if (See(50, left))
            Next(50, rest)(left - 1, rest / Width);
        else
            sink = new Even();
        done++;
    }

    [MethodImpl(Alone)]
    static void K1(int left, long rest)
    {
        if (See(51, left))
            Next(51, rest)(left - 1, rest / Width);
        else
            sink = new Odd();
        done++;
    }

    [MethodImpl(Alone)]
    static void K2(int left, long rest)
    {
        if (See(52, left))
            Next(52, rest)(left - 1, rest / Width);
        else
            sink = new Even();
        done++;
    }

    [MethodImpl(Alone)]
    static void K3(int left, long rest)
    {
        if (See(53, left))
            Next(53, rest)(left - 1, rest / Width);
        else
            sink = new Odd();
        done++;
    }

    [MethodImpl(Alone)]
    static void K4(int left, long rest)
    {
        if (See(54, left))
            Next(54, rest)(left - 1, rest / Width);
        else
            sink = new Even();
        done++;
    }

    [MethodImpl(Alone)]
    static void L0(int left, long rest)
    {
        if (See(55, left))
            Next(55, rest)(left - 1, rest / Width);
        else
            sink = new Odd();
        done++;
    }

    [MethodImpl(Alone)]
    static void L1(int left, long rest)
    {
        if (See(56, left))
            Next(56, rest)(left - 1, rest / Width);
        else
            sink = new Even();
        done++;
    }

    [MethodImpl(Alone)]
    static void L2(int left, long rest)
    {
        if (See(57, left))
            Next(57, rest)(left - 1, rest / Width);
        else
            sink = new Odd();
        done++;
    }

    [MethodImpl(Alone)]
    static void L3(int left, long rest)
    {
        if (See(58, left))
            Next(58, rest)(left - 1, rest / Width);
        else
            sink = new Even();
        done++;
    }

    [MethodImpl(Alone)]
    static void L4(int left, long rest)
    {
        if (See(59, left))
            Next(59, rest)(left - 1, rest / Width);
        else
            sink = new Odd();
        done++;
    }

    static readonly Action<int, long>[] all =
    {
        A0, A1, A2, A3, A4,
        B0, B1, B2, B3, B4,
        C0, C1, C2, C3, C4,
        D0, D1, D2, D3, D4,
        E0, E1, E2, E3, E4,
        F0, F1, F2, F3, F4,
        G0, G1, G2, G3, G4,
        H0, H1, H2, H3, H4,
        I0, I1, I2, I3, I4,
        J0, J1, J2, J3, J4,
        K0, K1, K2, K3, K4,
        L0, L1, L2, L3, L4,
    };
}
