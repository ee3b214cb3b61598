// A service for the tests: web, which prints its port, and at the end what its endpoints were asked for.
using System;
using System.Collections.Concurrent;
using System.Diagnostics;
using System.IO;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Hosting.Server;
using Microsoft.AspNetCore.Hosting.Server.Features;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace Service;

static class Endpoints
{
    static readonly object gate = new();
    static readonly ConcurrentDictionary<string, int> asked = new();

    static void Count(string name) => asked.AddOrUpdate(name, 1, (_, n) => n + 1);

    static int Sum(int n)
    {
        int sum = 0;

        for (int i = 0; i < 1000 * n; i++)
            sum = sum * 31 + i;
        return sum;
    }

    public static string Compute(int n)
    {
        Count("Compute");
        return Sum(n).ToString();
    }

    public static async Task<string> Delays(int ms)
    {
        Count("Delays");
        await Task.Delay(ms);
        return Sum(1).ToString();
    }

    public static string Sleeps(int ms)
    {
        Count("Sleeps");
        Thread.Sleep(ms);
        return "slept";
    }

    // Sync over async: a thread of the pool waits for another one's work.
    public static string Joins(int ms)
    {
        Count("Joins");
        return Task.Delay(ms).ContinueWith(_ => "joined").Result;
    }

    static void Hold(int ms)
    {
        long end = Stopwatch.GetTimestamp() + ms * (Stopwatch.Frequency / 1000);

        while (Stopwatch.GetTimestamp() < end)
            Sum(1);
    }

    public static string Locks(int ms)
    {
        Count("Locks");
        lock (gate)
            Hold(ms);
        return "locked";
    }

    // What is at the other end writes late: the pipe has to be waited for.
    public static string Reads(string path)
    {
        Count("Reads");
        using FileStream file = new(path, FileMode.Open, FileAccess.Read, FileShare.ReadWrite, 0);

        return file.ReadByte().ToString();
    }

    public static void Tell()
    {
        foreach (var (name, n) in asked.OrderBy(a => a.Key))
            Console.WriteLine($"calls {n} Service.Endpoints.{name}");
    }
}

static class Program
{
    static void Main(string[] args)
    {
        WebApplicationBuilder builder = WebApplication.CreateBuilder(args);

        builder.Logging.ClearProviders();
        builder.WebHost.UseUrls("http://127.0.0.1:0");
        WebApplication app = builder.Build();
        app.MapGet("/compute", Endpoints.Compute);
        app.MapGet("/delays", Endpoints.Delays);
        app.MapGet("/sleeps", Endpoints.Sleeps);
        app.MapGet("/joins", Endpoints.Joins);
        app.MapGet("/locks", Endpoints.Locks);
        app.MapGet("/reads", Endpoints.Reads);
        app.MapGet("/stop", () =>
        {
            app.Lifetime.StopApplication();
            return "stopped";
        });
        app.Lifetime.ApplicationStarted.Register(() =>
        {
            Console.WriteLine(app.Services.GetRequiredService<IServer>().Features.Get<IServerAddressesFeature>().Addresses.First());
            Console.Out.Flush();
        });
        app.Run();
        Endpoints.Tell();
    }
}
