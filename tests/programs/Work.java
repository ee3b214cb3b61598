// Java: exceptions, threads, collections, a null check that the machine makes by a signal.
import java.util.*;
import java.util.concurrent.*;
import java.util.stream.*;

public class Work {
    static int fib(int n) {
        return n < 2 ? n : fib(n - 1) + fib(n - 2);
    }

    static int length(String text) {
        return text.length();
    }

    public static void main(String[] arguments) throws Exception {
        int failed = 0;
        for (int i = 0; i < 50000; i++) {
            try {
                failed += length(i % 3 == 0 ? null : "text");
            } catch (NullPointerException error) {
                failed += 100;
            }
        }
        ExecutorService pool = Executors.newFixedThreadPool(3);
        List<Future<Integer>> results = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            int n = 15 + i;
            results.add(pool.submit(() -> fib(n)));
        }
        long sum = 0;
        for (Future<Integer> result : results)
            sum += result.get();
        pool.shutdown();
        Map<String, Long> words = IntStream.range(0, 20000).mapToObj(i -> "word" + i * 7919L % 97)
            .collect(Collectors.groupingBy(w -> w, TreeMap::new, Collectors.counting()));
        System.out.println(failed + " " + sum + " " + words.size() + " " + words.get("word7"));
    }
}
