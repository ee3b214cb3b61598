<?php
// PHP: arrays, closures, generators, exceptions, regular expressions.
function fib($n) { return $n < 2 ? $n : fib($n - 1) + fib($n - 2); }
function numbers($n) { for ($i = 0; $i < $n; $i++) yield $i => $i * $i; }
$count = array_count_values(preg_split('/\W+/', strtolower(file_get_contents($argv[1]))));
arsort($count);
$failed = 0;
for ($i = 0; $i < 3000; $i++) {
    try {
        if ($i % 3 == 0) throw new RuntimeException("no $i");
        intdiv(1, $i % 3 - 1);
    } catch (DivisionByZeroError $e) {
        $failed += 1;
    } catch (RuntimeException $e) {
        $failed += 2;
    } finally {
        $failed += 0;
    }
}
$sum = 0;
foreach (numbers(1000) as $key => $value) $sum += $key * $value;
$words = array_map(fn($i) => "w" . $i * 7919 % 997, range(1, 5000));
sort($words);
echo max($count), " ", fib(20), " $failed $sum $words[77] ", md5(implode($words)), "\n";
echo json_encode(['a' => [1, 2, ['b' => null]]]), preg_replace_callback('/(\d)/', fn($m) => $m[1] + 1, "a1b2"), "\n";
