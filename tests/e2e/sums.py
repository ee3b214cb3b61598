"""What the views of one recording of calls have in common: their sums."""
from harness import expect

OWN_TIME = "application_exclusive_time"


def tree(context, *words):
    return context.report("calltree", "--no-fold", "--trim", "0", *words)["rows"]


def with_children(rows):
    """Each row with those right below it."""
    above, below = [], [[] for _ in rows]
    for i, row in enumerate(rows):
        above = above[:row["level"]]
        if above:
            below[above[-1]].append(row)
        above.append(i)
    return zip(rows, below)


def sum_of(rows, column):
    return sum(row[column] for row in rows)


def expect_sums(context, functions):
    """Calls and the program's time of the tree are those of @functions, and each of its rows has its
    own time and that of the rows below it. Its rows."""
    rows = tree(context)
    expect(sum_of(rows[1:], "number_of_calls"), sum_of(functions, "number_of_calls"), "calls in the tree")
    expect(sum_of(rows, OWN_TIME), sum_of(functions, OWN_TIME), "the program's time in the tree")
    for row, below in with_children(rows):
        for column in ("elapsed_inclusive_time", "application_inclusive_time"):
            own = row[column.replace("inclusive", "exclusive")]
            expect(row[column], own + sum_of(below, column), f"{column} of {row['function_name']}")
    return rows
