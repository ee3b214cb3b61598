// D: exceptions, closures, scope guards, garbage collection.
import std.algorithm, std.array, std.conv, std.range, std.stdio, std.string;

int destroyed;

int deep(int n)
{
    scope (exit) destroyed++;
    if (n == 0)
        throw new Exception("bottom");
    return deep(n - 1) + 1;
}

void main()
{
    int failed, sum;
    foreach (i; 0 .. 500)
        try
            sum += deep(i % 30);
        catch (Exception error)
            failed += error.msg.length;
    auto words = iota(5000).map!(i => "word" ~ to!string(i * 7919 % 997)).array;
    int[string] count;
    foreach (word; words)
        count[word]++;
    string[][] garbage;
    foreach (i; 0 .. 2000)
        garbage ~= words[0 .. i % 100].dup;
    sort(words);
    writeln(failed, " ", sum, " ", destroyed, " ", count.length, " ", words[77], " ", garbage.map!(g => g.length).sum);
}
