#!/usr/bin/env python3
"""Write tests/data/statistics.txt: random cases with what scipy says of them.

A line is "A|B|P|SHIFT|LOW|HIGH": the values of two sides, the p value of the exact two-sided test of Mann and Whitney,
the median of all differences, and its interval of 95 %. P is that of all permutations, so that it is exact with ties,
too. The interval is found by what it means, not by a formula: the shifts that the test does not reject. "-" where
values are tied: the interval then is none of a test. The last lines, "fdr P ...|ADJUSTED ...", are p values and
what they are after adjustment for their number, by the definition.
"""
import itertools
import math
import os
import random
import sys

import numpy
from scipy import stats

CASES = 1000


def p_value(a, b):
    ranks = stats.rankdata(a + b)
    result = stats.permutation_test((ranks[:len(a)], ranks[len(a):]), lambda x, y, axis: x.sum(axis=axis),
                                    vectorized=True, n_resamples=math.inf, alternative="two-sided")
    return min(1, result.pvalue)


def interval(a, b):
    differences = sorted({y - x for x in a for y in b})
    edges = [differences[0] - 2] + differences + [differences[-1] + 2]
    kept = [(low, high) for low, high in itertools.pairwise(edges)
            if stats.mannwhitneyu([x + (low + high) / 2 for x in a], b, method="exact").pvalue > .05]
    low, high = kept[0][0], kept[-1][1]
    return (-math.inf if low == edges[0] else low), (math.inf if high == edges[-1] else high)


def case(rng):
    n, m, widest = rng.randint(2, 8), rng.randint(2, 8), rng.choice((4, 20, 1000))
    a = [rng.randrange(widest) for _ in range(n)]
    b = [rng.randrange(widest) + rng.choice((0, widest // 3)) for _ in range(m)]
    shift = float(numpy.median([y - x for x in a for y in b]))
    tied = len({*a, *b}) < n + m
    low, high = ("-", "-") if tied else interval(a, b)
    return "|".join((",".join(map(str, a)), ",".join(map(str, b)), f"{p_value(a, b):.10g}", f"{shift:g}",
                     str(low), str(high)))


def adjusted(p):
    return [min(1, min(other * len(p) / sum(q <= other for q in p) for other in p if other >= own)) for own in p]


def main():
    rng = random.Random(1)
    folder = os.path.join(os.path.dirname(os.path.abspath(sys.argv[0])), "..", "data")
    with open(os.path.join(folder, "statistics.txt"), "w", encoding="ascii") as out:
        for _ in range(CASES):
            print(case(rng), file=out)
        for _ in range(50):
            p = [round(rng.random() ** 3, 4) for _ in range(rng.randint(1, 12))]
            print("fdr " + ",".join(map(str, p)) + "|" + ",".join(f"{q:.10g}" for q in adjusted(p)), file=out)


if __name__ == "__main__":
    main()
