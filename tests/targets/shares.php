<?php
/* shares.php MILLISECONDS: spends that on functions of known shares, and prints what each has taken of the process's
   time, in ns. */

function half($n) {
    $s = 0;
    for ($i = 0; $i < $n; $i++) {
        $s += $i * 31;
    }
    return $s;
}

function third($n) {
    $s = 0;
    foreach (step($n) as $x) $s += $x;
    return $s;
}

function step($n) {
    for ($i = 0; $i < $n; $i++) yield $i ^ 5;
}

class Sixth {
    function spend($n) {
        for ($i = 0; $i < $n / 100; $i++) array_map(fn($x) => $x * $x, range(0, 99));
    }
}

/* User and system time: the kernel knows only their sum exactly, and divides it by what ticks have met. */
function now() {
    $u = getrusage();
    return ($u['ru_utime.tv_sec'] + $u['ru_stime.tv_sec']) * 1000000 + $u['ru_utime.tv_usec'] + $u['ru_stime.tv_usec'];
}

function run($end) {
    $sixth = new Sixth;
    $parts = ['half' => ['half', 60000], 'third' => ['third', 20000], 'spend' => [[$sixth, 'spend'], 10000]];
    $took = ['half' => 0, 'third' => 0, 'spend' => 0];
    $last = now();
    $end += $last;
    mt_srand(7);
    while ($last < $end) {
        foreach ($parts as $name => [$part, $n]) {
            $part((int)($n * mt_rand(10, 190) / 100));
            $now = now();
            $took[$name] += $now - $last;
            $last = $now;
        }
    }
    return $took;
}

foreach (run($argv[1] * 1000) as $name => $us) echo $name, ' ', $us * 1000, "\n";
