<?php
/* A program of which every stack is known, as known-python.py is; who calls whom stands in tests/e2e/test-php-ruby.py.

   known.php SECONDS [KIND]: KIND is "fork" (the work is a child's) or "spawn" (of an interpreter that is executed). */

function k_short($x) { return $x + 1; }
function k_chain_4($x) { for ($i = 0; $i < 20; $i++) $x = k_short($x); return $x; }
function k_chain_3($x) { return k_chain_4($x); }
function k_chain_2($x) { return k_chain_3($x); }
function k_chain_1($x) { return k_chain_2($x); }

function k_bottom($x) { return $x * 3; }
function k_recurse($n) { return $n ? k_recurse($n - 1) : k_bottom($n); }

function k_given($x) { return $x * $x; }
function k_generate($n) { for ($i = 0; $i < $n; $i++) yield k_given($i); }
function k_consume($n) { $s = 0; foreach (k_generate($n) as $x) $s += $x; return $s; }

function k_map($x) { return $x & 7; }
function k_key($a, $b) { return array_sum(array_map('k_map', [$a, $b, 3])) <=> $a; }
function k_sort($n) { $all = range($n, 1); usort($all, 'k_key'); return $all; }

function k_raise_3($x) { throw new DomainException("$x"); }
function k_raise_2($x) { k_raise_3($x); }
function k_raise_1($x) { try { k_raise_2($x); } finally { $x++; } }
function k_try($x) { try { k_raise_1($x); } catch (DomainException $e) { return $x; } }

trait KTrait { function shared($n) { while ($n) $n--; } }
class KOne { use KTrait; }
class KTwo { use KTrait; }
class KBase {
    function inherited($n) { return self::fixed($n) + $this->made; }
    static function fixed($n) { return $n % 5; }
    function __get($name) { return strlen($name); }
}
class KObject extends KBase {}
function k_methods($n) {
    $object = new KObject;
    for ($i = 0; $i < $n; $i++) $object->inherited($i);
    (new KOne)->shared(50);
    (new KTwo)->shared(50);
}

function k_closure($n) {
    $given = fn($x) => k_given($x);
    for ($i = 0; $i < $n; $i++) $given($i);
}

function k_in_fiber($n) { return $n < 2 ? $n : k_in_fiber($n - 1) + k_in_fiber($n - 2); }
function k_body() { for ($i = 0; $i < 3; $i++) Fiber::suspend(k_in_fiber(8)); }
function k_fiber() { $fiber = new Fiber('k_body'); $fiber->start(); while (!$fiber->isTerminated()) $fiber->resume(); }

function k_hot($n) { $s = 0; for ($i = 0; $i < $n; $i++) $s += $i; return $s; }

function k_main($seconds) {
    $end = getrusage()['ru_utime.tv_sec'] + getrusage()['ru_utime.tv_usec'] / 1e6 + $seconds;
    $made = 0;
    while (getrusage()['ru_utime.tv_sec'] + getrusage()['ru_utime.tv_usec'] / 1e6 < $end) {
        for ($i = 0; $i < 20; $i++) {
            k_chain_1($i);
            k_recurse(30);
            k_try($i);
        }
        k_consume(60);
        k_sort(40);
        k_methods(60);
        k_closure(60);
        if (class_exists('Fiber')) k_fiber();
        k_hot(2000);
        /* Functions that go, and whose memory others use again: each is one line further down than the last. */
        $made = ($made + 1) % 50;
        $function = eval(str_repeat("\n", $made) . 'return function($n) { while ($n) $n--; };');
        $function(500);
        unset($function);
    }
}

function k_child($seconds) { k_main($seconds); }

$seconds = (float)$argv[1];
$kind = $argv[2] ?? '';
if ($kind == 'fork') {
    if (!pcntl_fork()) {
        k_child($seconds);
        exit(0);
    }
    pcntl_wait($status);
} elseif ($kind == 'spawn') {
    proc_close(proc_open([PHP_BINARY, __FILE__, $argv[1]], [], $pipes));
} else {
    k_main($seconds);
}
echo "done\n";
