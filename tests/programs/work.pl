# Perl: hashes, regular expressions, die and eval, closures, sort, sprintf, an alarm.
use strict;
use warnings;
my %count;
while (my $line = <STDIN>) {
    $count{lc $_}++ for $line =~ /(\w+)/g;
}
my @words = sort { $count{$b} <=> $count{$a} || $a cmp $b } keys %count;
print join(" ", map { "$_=$count{$_}" } @words[0 .. 9]), "\n";
my $failed = 0;
for my $i (1 .. 3000) {
    eval { die { number => $i } if $i % 3 == 0; 1 } or $failed += $@->{number};
}
sub fib { my $n = shift; $n < 2 ? $n : fib($n - 1) + fib($n - 2) }
my @adders = map { my $n = $_; sub { $_[0] + $n } } 1 .. 50;
my $sum = 0;
$sum = $_->($sum) for @adders;
(my $text = "the quick brown fox " x 500) =~ s/(\w)(\w*)/\U$1\E$2/g;
my $alarms = 0;
local $SIG{ALRM} = sub { $alarms++ };
kill ALRM => $$ for 1 .. 100;
printf "%d %d %d %s %d %.6f\n", $failed, fib(18), $sum, substr($text, 0, 20), $alarms, sqrt(2);
my @forked = map { open(my $from, "-|") // die; $from ? do { my $l = <$from>; $l } : do { print "child $_\n"; exit } } 1 .. 3;
print @forked;
