// Managed code for the tests: managed MODE NUMBER..., then what the runtime says.
using System;

static class Program
{
    static int Main(string[] args)
    {
        int Number(int i) => int.Parse(args[i]);

        switch (args.Length > 0 ? args[0] : "")
        {
        case "trees":
            Trees.Run(Number(1), Number(2), Number(3));
            break;
        case "lives":
            Lives.Run(Number(1));
            break;
        case "known":
            Knowing.Known.Run();
            break;
        case "timed":
            Knowing.Timed.Run(Number(1));
            break;
        case "pool":
            Waiting.Pool(Number(1));
            break;
        case "collected":
            Waiting.Collections(Number(1), Number(2));
            break;
        case "kinds":
            Kinds.Run(Number(1));
            break;
        case "stress":
            Stress.Run(Number(1));
            break;
        case "natives":
            Natives.Run(Number(1), Number(2));
            break;
        case "callbacks":
            Callbacks.Run(Number(1), args[2..]);
            break;
        case "overloads":
            Overloading.Run(Number(1));
            break;
        case "emitted":
            Emitted.Run(Number(1));
            break;
        case "names":
            Names.Run(Number(1));
            break;
        case "phases":
            Phases.Run(Number(1), Number(2));
            break;
        case "triggers":
            Triggers.Run(Number(1), Number(2));
            break;
        case "hostile":
            Hostile.Run(Number(1));
            break;
        case "exact":
            Exact.Run(Number(1));
            break;
        case "end":
            Endings.Run(Number(1), args[2]);
            return 5;
        case "paths":
            Paths.Run(Number(1), Number(2));
            break;
        case "generated":
            Generated.Run(Number(1));
            break;
        case "pauses":
            Pauses.Run(Number(1), Number(2));
            break;
        case "replaced":
            Replaced.Run(Number(1));
            break;
        case "room":
            Room.Run(Number(1));
            break;
        case "shares":
            Shares.Run(Number(1));
            break;
        case "environment":
            Surroundings.Run(args[1..]);
            break;
        case "crash":
            Trees.Run(10, 1, 0);
            Environment.FailFast("on purpose");
            break;
        default:
            return 2;
        }
        Console.WriteLine($"main {GC.GetAllocatedBytesForCurrentThread()}");
        Console.WriteLine($"total {GC.GetTotalAllocatedBytes(true)}");
        Console.WriteLine($"collections {GC.CollectionCount(0)} {GC.CollectionCount(1)} {GC.CollectionCount(2)}");
        return 3;
    }
}
