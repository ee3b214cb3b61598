// A managed program for stored sessions: small, large and pinned objects that die young, late or not,
// allocated by recursion, generics, a lambda, an iterator and a second thread.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Runtime.CompilerServices;
using System.Threading;

namespace Shop
{
    class Article { public int Number; public string Name; }

    class Shelf<T> where T : new()
    {
        readonly List<T> things = new List<T>();

        [MethodImpl(MethodImplOptions.NoInlining)]
        public void Fill(int n) { for (int i = 0; i < n; i++) things.Add(new T()); }
    }

    static class Program
    {
        static readonly List<object> kept = new List<object>();

        [MethodImpl(MethodImplOptions.NoInlining)]
        static object Boxes(int depth) => depth == 0 ? new object[2] : new object[] { Boxes(depth - 1), new Article() };

        [MethodImpl(MethodImplOptions.NoInlining)]
        static object Ways(int depth, int way)
        {
            if (depth == 0)
                return new byte[32];
            return way % 2 == 0 ? Ways(depth - 1, way / 2) : Other(depth - 1, way / 2);
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        static object Other(int depth, int way)
        {
            if (depth == 0)
                return new Article();
            return way % 2 == 0 ? Ways(depth - 1, way / 2) : Other(depth - 1, way / 2);
        }

        static IEnumerable<string> Names(int n)
        {
            for (int i = 0; i < n; i++)
                yield return "article " + i;
        }

        static void Main(string[] words)
        {
            int depth = words.Length > 0 ? int.Parse(words[0]) : 4;
            var shelf = new Shelf<Article>();
            shelf.Fill(200);
            var clerk = new Thread(() => new Shelf<object>().Fill(300));
            clerk.Start();
            clerk.Join();
            for (int i = 0; i < 3; i++) {
                kept.Add(Boxes(10));
                kept.Add(Names(20).ToList());
                for (int way = 0; way < 1 << depth; way++)
                    Ways(depth, way);
                GC.Collect(i);
            }
            kept.Add(new byte[100000]);
            kept.Add(GC.AllocateArray<byte>(1000, true));
            GC.Collect();
            Console.WriteLine(kept.Count + shelf.GetHashCode() * 0);
        }
    }
}
