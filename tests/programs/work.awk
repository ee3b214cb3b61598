# awk: fields, arrays, regular expressions, user functions.
function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2) }
{
    for (i = 1; i <= NF; i++) count[tolower($i)]++
    changed += gsub(/[aeiou]+/, "<&>")
    if (match($0, /<o>.*<e>/)) longest = RLENGTH > longest ? RLENGTH : longest
}
END {
    for (word in count) { total += count[word] * length(word); different++ }
    printf "%d lines, %d words, %d, changed %d, longest %d, fib %d, %.10f\n", NR, different, total,
        changed, longest, fib(20), sin(1) + exp(2) + log(3)
}
