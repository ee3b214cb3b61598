# Tcl: procedures, dictionaries, errors, coroutines, regular expressions.
proc fib {n} { expr {$n < 2 ? $n : [fib [expr {$n - 1}]] + [fib [expr {$n - 2}]]} }
set file [open [lindex $argv 0]]
foreach word [regexp -all -inline {\w+} [string range [read $file] 0 50000]] { dict incr count $word }
set failed 0
for {set i 0} {$i < 3000} {incr i} {
    if {[catch {if {$i % 3 == 0} {error "no $i"}; expr {1 / ($i % 3 - 1)}} message]} { incr failed }
}
proc numbers {n} { yield; for {set i 0} {$i < $n} {incr i} { yield $i } }
coroutine next numbers 500
set sum 0
for {set i 0} {$i < 500} {incr i} { incr sum [next] }
puts "[dict size $count] [fib 17] $failed $sum [lrange [lsort [dict keys $count]] 0 5]"
puts [string map {a b} [format %s-%05d banana 42]][expr {2 ** 100}]
