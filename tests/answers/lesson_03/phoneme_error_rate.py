# %% setup
import torch
import torch.nn.functional as F

from course_utils.metrics import edit_distance

# %% wrong: takes what the lengths differ by for the missing or extra sounds and all other edits for replacements, so a word with both has too many replacements
def phoneme_error_rate(hypotheses, references):
    r = m = x = n = 0
    for said, accepted in zip(hypotheses, references):
        best = min(accepted, key=lambda a: edit_distance(said, a))
        edits = edit_distance(said, best)
        diff = len(best) - len(said)
        r += edits - abs(diff)
        m += max(diff, 0)
        x += max(-diff, 0)
        n += len(best)
    return r / n, m / n, x / n

# %% wrong: goes back through the table and deletes or inserts before it replaces, so ties go to the gaps
def phoneme_error_rate(hypotheses, references):
    def kinds(a, b):
        D = [[i + j if i == 0 or j == 0 else 0 for j in range(len(b) + 1)] for i in range(len(a) + 1)]
        for i in range(1, len(a) + 1):
            for j in range(1, len(b) + 1):
                D[i][j] = min(D[i-1][j] + 1, D[i][j-1] + 1, D[i-1][j-1] + (a[i-1] != b[j-1]))
        i, j, out = len(a), len(b), [0, 0, 0]
        while i or j:
            if i and D[i][j] == D[i-1][j] + 1:
                out[2] += 1
                i -= 1
            elif j and D[i][j] == D[i][j-1] + 1:
                out[1] += 1
                j -= 1
            else:
                out[0] += a[i-1] != b[j-1]
                i, j = i - 1, j - 1
        return out

    total, n = [0, 0, 0], 0
    for said, accepted in zip(hypotheses, references):
        best = min(accepted, key=lambda a: edit_distance(said, a))
        total = [t + k for t, k in zip(total, kinds(said, best))]
        n += len(best)
    return tuple(t / n for t in total)

# %% wrong: compares with the first accepted pronunciation only
def phoneme_error_rate(hypotheses, references):
    r = m = x = n = 0
    for said, accepted in zip(hypotheses, references):
        best = accepted[0]
        row = [(j, j) for j in range(len(best) + 1)]
        for i, s in enumerate(said, 1):
            new = [(i, i)]
            for j, t in enumerate(best, 1):
                new.append(min((row[j-1][0] + (s != t), row[j-1][1]), (row[j][0] + 1, row[j][1] + 1), (new[j-1][0] + 1, new[j-1][1] + 1)))
            row = new
        edits, gaps = row[-1]
        diff = len(best) - len(said)
        r, m, x, n = r + edits - gaps, m + (gaps + diff) / 2, x + (gaps - diff) / 2, n + len(best)
    return r / n, m / n, x / n

# %% two mistakes: missing and extra are exchanged; and it divides by the number of sounds that were said
def phoneme_error_rate(hypotheses, references):
    r = m = x = n = 0
    for said, accepted in zip(hypotheses, references):
        best = min(accepted, key=lambda a: edit_distance(said, a))
        row = [(j, j) for j in range(len(best) + 1)]
        for i, s in enumerate(said, 1):
            new = [(i, i)]
            for j, t in enumerate(best, 1):
                new.append(min((row[j-1][0] + (s != t), row[j-1][1]), (row[j][0] + 1, row[j][1] + 1), (new[j-1][0] + 1, new[j-1][1] + 1)))
            row = new
        edits, gaps = row[-1]
        diff = len(said) - len(best)
        r, m, x, n = r + edits - gaps, m + (gaps + diff) / 2, x + (gaps - diff) / 2, n + len(said)
    return r / n, m / n, x / n

# %% right: a table of pairs, edits and gaps, of which the smaller is kept
def phoneme_error_rate(hypotheses, references):
    r = m = x = n = 0
    for said, accepted in zip(hypotheses, references):
        best = min(accepted, key=lambda a: edit_distance(said, a))
        row = [(j, j) for j in range(len(best) + 1)]
        for i, s in enumerate(said, 1):
            new = [(i, i)]
            for j, t in enumerate(best, 1):
                new.append(min((row[j-1][0] + (s != t), row[j-1][1]), (row[j][0] + 1, row[j][1] + 1), (new[j-1][0] + 1, new[j-1][1] + 1)))
            row = new
        edits, gaps = row[-1]
        diff = len(best) - len(said)
        r, m, x, n = r + edits - gaps, m + (gaps + diff) / 2, x + (gaps - diff) / 2, n + len(best)
    return r / n, m / n, x / n

# %% right: recursion over the two words with a memory, counting edits, minus the replacements, missing and extra sounds in one tuple
def phoneme_error_rate(hypotheses, references):
    from functools import lru_cache

    def count(a, b):
        @lru_cache(None)
        def go(i, j):
            if i == 0:
                return (j, 0, j, 0)
            if j == 0:
                return (i, 0, 0, i)
            e, r, m, x = go(i - 1, j - 1)
            d = int(a[i - 1] != b[j - 1])
            best = (e + d, r - d, m, x)
            e, r, m, x = go(i, j - 1)
            best = min(best, (e + 1, r, m + 1, x))
            e, r, m, x = go(i - 1, j)
            return min(best, (e + 1, r, m, x + 1))
        return go(len(a), len(b))

    out, n = [0, 0, 0], 0
    for said, refs in zip(hypotheses, references):
        scored = [edit_distance(said, ref) for ref in refs]
        ref = refs[scored.index(min(scored))]
        _, r, m, x = count(tuple(said), tuple(ref))
        out[0] -= r
        out[1] += m
        out[2] += x
        n += len(ref)
    return out[0] / n, out[1] / n, out[2] / n
