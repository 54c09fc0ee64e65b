"""The edit distance made of its costs, and what students write in its place."""

from .parts import faults_of


def edits(a, b, insert=1, delete=1, substitute=1, border=(1, 1), swap=False):
    """The fewest edits from ``a`` to ``b`` (Wagner and Fischer 1974), each kind with a price of its own."""
    row = [border[0] * j * insert for j in range(len(b) + 1)]
    rows = [row]
    for i, x in enumerate(a, 1):
        before, row = row, [border[1] * i * delete]
        for j, y in enumerate(b, 1):
            row.append(min(before[j] + delete, row[-1] + insert, before[j - 1] + substitute * (x != y)))
            if swap and min(i, j) > 1 and (x, a[i - 2]) == (b[j - 2], y):
                row[j] = min(row[j], rows[i - 2][j - 2] + 1)
        rows.append(row)
    return row[-1]


DISTANCE_FAULTS = faults_of("distance", "use the edit distance (lesson 03, section 3.6), where one missing sound is one edit.",
    ("position by position", "compared position by position: one sound missing makes all that follow wrong.",
        lambda a, b: sum(x != y for x, y in zip(a, b, strict=False)) + abs(len(a) - len(b))),
    ("cut to the shorter", "compared position by position up to the end of the shorter one: what is missing is free.",
        lambda a, b: sum(x != y for x, y in zip(a, b, strict=False))),
    ("sounds as a set", "the sets of sounds are compared; their order and number are lost.", lambda a, b: len({*a} ^ {*b})),
)  # fmt: skip
