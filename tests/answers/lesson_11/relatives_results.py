# %% setup
import math

TABLE = {
    ("6 to 7", True): (1664, 384), ("6 to 7", False): (452, 142),
    ("8 to 9", True): (838, 166), ("8 to 9", False): (728, 257),
    ("10 or more", True): (505, 77), ("10 or more", False): (511, 166),
}
ONLY_CUT = {  # has a relative only if a training word less its last two letters is the same stem
    ("6 to 7", True): (1138, 269), ("6 to 7", False): (978, 257),
    ("8 to 9", True): (275, 63), ("8 to 9", False): (1291, 360),
    ("10 or more", True): (155, 27), ("10 or more", False): (861, 216),
}
CUT_ONE = {  # a training word begins with all letters but the last one
    ("6 to 7", True): (1138, 224), ("6 to 7", False): (978, 302),
    ("8 to 9", True): (582, 99), ("8 to 9", False): (984, 324),
    ("10 or more", True): (375, 50), ("10 or more", False): (641, 193),
}


def rates(table):
    sums = {r: [sum(pair[n] for (_, has), pair in table.items() if has == r) for n in (0, 1)] for r in (True, False)}
    return {r: (w / n, n) for r, (n, w) in sums.items()}


def filled(table):
    (p1, n1), (p2, n2) = rates(table)[True], rates(table)[False]
    difference = 100 * (p2 - p1)
    error = 100 * math.sqrt(p1 * (1 - p1) / n1 + p2 * (1 - p2) / n2)
    groups = ("6 to 7", "8 to 9", "10 or more")
    wer = {key: wrong / words for key, (words, wrong) in table.items()}
    return {**table, "lower with a relative": sum(wer[g, True] < wer[g, False] for g in groups),
            "difference": difference, "standard error": error, "may be chance": abs(difference) < 2 * error}

# %% wrong: a relative must begin with all letters but the last one
relatives_results = filled(CUT_ONE)

# %% wrong: True and False exchanged in the six entries
relatives_results = filled(TABLE) | {(g, not r): pair for (g, r), pair in TABLE.items()}

# %% wrong: the pairs are (wrong, words)
relatives_results = filled(TABLE) | {key: (wrong, words) for key, (words, wrong) in TABLE.items()}

# %% right: tensors instead of loops, the same readings
import torch

groups = ("6 to 7", "8 to 9", "10 or more")
counts = torch.tensor([[TABLE[g, r] for r in (True, False)] for g in groups], dtype=torch.float64)
words, wrong = counts.sum(0).unbind(-1)
p = wrong / words
points = 100 * (p[1] - p[0])
spread = 100 * (p * (1 - p) / words).sum().sqrt()
share = counts[..., 1] / counts[..., 0]
relatives_results = {(g, r): tuple(map(int, counts[i, j])) for i, g in enumerate(groups) for j, r in enumerate((True, False))}
relatives_results["lower with a relative"] = int((share[:, 0] < share[:, 1]).sum())
relatives_results |= {"difference": points.item(), "standard error": spread.item()}
relatives_results["may be chance"] = bool(points.abs() < 2 * spread)
