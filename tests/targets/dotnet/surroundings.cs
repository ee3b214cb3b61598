// What a program sees of its environment, in all the ways there are.
using System;
using System.Collections;
using System.Diagnostics;
using System.IO;
using System.Linq;

static class Surroundings
{
    static void Print(string way, string variable) => Console.WriteLine($"{way} {variable}");

    // environment [COMMAND ARG...]: the runtime's view, the kernel's, then the command's output.
    public static void Run(string[] command)
    {
        foreach (DictionaryEntry entry in Environment.GetEnvironmentVariables())
            Print("managed", $"{entry.Key}={entry.Value}");
        foreach (string name in new[] { "LD_PRELOAD", "CORECLR_PROFILER", "CORECLR_ENABLE_PROFILING" })
            Print("asked", $"{name}={Environment.GetEnvironmentVariable(name)}");
        foreach (string entry in File.ReadAllText("/proc/self/environ").Split('\0').Where(e => e != ""))
            Print("kernel", entry);
        if (command.Length == 0)
            return;
        var start = new ProcessStartInfo(command[0]) { UseShellExecute = false, RedirectStandardOutput = true };
        foreach (string word in command.Skip(1))
            start.ArgumentList.Add(word);
        using Process child = Process.Start(start);
        foreach (string line in child.StandardOutput.ReadToEnd().Split('\n').Where(l => l != ""))
            Print("child", line);
        child.WaitForExit();
    }
}
