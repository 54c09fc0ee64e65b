# %% setup
import torch
from course_utils.metrics import edit_distance

# %% wrong: from the lengths alone: only the difference is missing or extra, all other edits are replacements, though a way with a deletion and an insertion may need fewer edits
def phoneme_error_rate(hypotheses, references):
    replaced = missing = extra = sounds = 0
    for said, accepted in zip(hypotheses, references):
        wanted = min(accepted, key=lambda r: edit_distance(said, r))
        edits = edit_distance(said, wanted)
        gap = len(wanted) - len(said)
        missing += max(gap, 0)
        extra += max(-gap, 0)
        replaced += edits - abs(gap)
        sounds += len(wanted)
    return replaced / sounds, missing / sounds, extra / sounds

# %% wrong: walks back through the table and prefers deleting and inserting to replacing when there is a tie
def phoneme_error_rate(hypotheses, references):
    def count(a, b):
        d = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
        for i in range(len(a) + 1):
            for j in range(len(b) + 1):
                if i == 0 or j == 0:
                    d[i][j] = i + j
                else:
                    d[i][j] = min(d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] != b[j - 1]))
        i, j = len(a), len(b)
        sub = ins = dele = 0
        while i > 0 or j > 0:
            if i > 0 and d[i][j] == d[i - 1][j] + 1:
                dele += 1
                i -= 1
            elif j > 0 and d[i][j] == d[i][j - 1] + 1:
                ins += 1
                j -= 1
            else:
                sub += a[i - 1] != b[j - 1]
                i -= 1
                j -= 1
        return sub, ins, dele

    totals, sounds = [0, 0, 0], 0
    for a, refs in zip(hypotheses, references):
        b = min(refs, key=lambda r: edit_distance(a, r))
        totals = [t + c for t, c in zip(totals, count(a, b))]
        sounds += len(b)
    return tuple(t / sounds for t in totals)

# %% wrong: missing and extra are interchanged
def phoneme_error_rate(hypotheses, references):
    def count(a, b):
        row = [(j, 0, 0, j) for j in range(len(b) + 1)]
        for i, x in enumerate(a, 1):
            new = [(i, 0, i, 0)]
            for j, y in enumerate(b, 1):
                e, r, m, t = row[j - 1]
                options = [(e + (x != y), r - (x != y), m, t)]
                e, r, m, t = row[j]
                options.append((e + 1, r, m + 1, t))
                e, r, m, t = new[j - 1]
                options.append((e + 1, r, m, t + 1))
                new.append(min(options))
            row = new
        return row[-1]

    rep = mis = ext = n = 0
    for a, refs in zip(hypotheses, references):
        b = min(refs, key=lambda r: edit_distance(a, r))
        _, r, m, t = count(a, b)
        rep, mis, ext, n = rep - r, mis + m, ext + t, n + len(b)
    return rep / n, mis / n, ext / n

# %% wrong: the mean of the words' own rates instead of all edits over all sounds
def phoneme_error_rate(hypotheses, references):
    rates = []
    for a, refs in zip(hypotheses, references):
        b = min(refs, key=lambda r: edit_distance(a, r))
        d = [[1001 * (i + j) for j in range(len(b) + 1)] for i in range(len(a) + 1)]
        for i in range(1, len(a) + 1):
            for j in range(1, len(b) + 1):
                d[i][j] = min(d[i - 1][j] + 1001, d[i][j - 1] + 1001, d[i - 1][j - 1] + 1000 * (a[i - 1] != b[j - 1]))
        edits, gaps = divmod(d[-1][-1], 1000)
        missing = (gaps + len(b) - len(a)) // 2
        extra = gaps - missing
        rates.append(((edits - gaps) / len(b), missing / len(b), extra / len(b)))
    return tuple(sum(r[k] for r in rates) / len(rates) for k in range(3))

# %% wrong: of equally near pronunciations takes the last, because it compares with <=
def phoneme_error_rate(hypotheses, references):
    rep = mis = ext = n = 0
    for a, refs in zip(hypotheses, references):
        best = 10**9
        for r in refs:
            if edit_distance(a, r) <= best:
                best, b = edit_distance(a, r), r
        d = [[1001 * (i + j) for j in range(len(b) + 1)] for i in range(len(a) + 1)]
        for i in range(1, len(a) + 1):
            for j in range(1, len(b) + 1):
                d[i][j] = min(d[i - 1][j] + 1001, d[i][j - 1] + 1001, d[i - 1][j - 1] + 1000 * (a[i - 1] != b[j - 1]))
        edits, gaps = divmod(d[-1][-1], 1000)
        m = (gaps + len(b) - len(a)) // 2
        rep, mis, ext, n = rep + edits - gaps, mis + m, ext + gaps - m, n + len(b)
    return rep / n, mis / n, ext / n

# %% wrong: compares with the first accepted pronunciation only
def phoneme_error_rate(hypotheses, references):
    rep = mis = ext = n = 0
    for a, refs in zip(hypotheses, references):
        b = refs[0]
        d = [[1001 * (i + j) for j in range(len(b) + 1)] for i in range(len(a) + 1)]
        for i in range(1, len(a) + 1):
            for j in range(1, len(b) + 1):
                d[i][j] = min(d[i - 1][j] + 1001, d[i][j - 1] + 1001, d[i - 1][j - 1] + 1000 * (a[i - 1] != b[j - 1]))
        edits, gaps = divmod(d[-1][-1], 1000)
        m = (gaps + len(b) - len(a)) // 2
        rep, mis, ext, n = rep + edits - gaps, mis + m, ext + gaps - m, n + len(b)
    return rep / n, mis / n, ext / n

# %% wrong: divides by the number of sounds that were said
def phoneme_error_rate(hypotheses, references):
    rep = mis = ext = n = 0
    for a, refs in zip(hypotheses, references):
        b = min(refs, key=lambda r: edit_distance(a, r))
        d = [[1001 * (i + j) for j in range(len(b) + 1)] for i in range(len(a) + 1)]
        for i in range(1, len(a) + 1):
            for j in range(1, len(b) + 1):
                d[i][j] = min(d[i - 1][j] + 1001, d[i][j - 1] + 1001, d[i - 1][j - 1] + 1000 * (a[i - 1] != b[j - 1]))
        edits, gaps = divmod(d[-1][-1], 1000)
        m = (gaps + len(b) - len(a)) // 2
        rep, mis, ext, n = rep + edits - gaps, mis + m, ext + gaps - m, n + len(a)
    return rep / n, mis / n, ext / n

# %% wrong: nearest by the rate (edits divided by the pronunciation's length) instead of by the number of edits
def phoneme_error_rate(hypotheses, references):
    rep = mis = ext = n = 0
    for a, refs in zip(hypotheses, references):
        b = min(refs, key=lambda r: edit_distance(a, r) / len(r))
        d = [[1001 * (i + j) for j in range(len(b) + 1)] for i in range(len(a) + 1)]
        for i in range(1, len(a) + 1):
            for j in range(1, len(b) + 1):
                d[i][j] = min(d[i - 1][j] + 1001, d[i][j - 1] + 1001, d[i - 1][j - 1] + 1000 * (a[i - 1] != b[j - 1]))
        edits, gaps = divmod(d[-1][-1], 1000)
        m = (gaps + len(b) - len(a)) // 2
        rep, mis, ext, n = rep + edits - gaps, mis + m, ext + gaps - m, n + len(b)
    return rep / n, mis / n, ext / n

# %% wrong: inserting and deleting cost 1.5 to make replacing cheaper, so the way found may have more edits than needed
def phoneme_error_rate(hypotheses, references):
    rep = mis = ext = n = 0
    for a, refs in zip(hypotheses, references):
        b = min(refs, key=lambda r: edit_distance(a, r))
        d = [[(1.5 * (i + j), 0, j, i) for j in range(len(b) + 1)] for i in range(len(a) + 1)]
        for i in range(1, len(a) + 1):
            for j in range(1, len(b) + 1):
                c, s, m, e = d[i - 1][j - 1]
                wrong = int(a[i - 1] != b[j - 1])
                diagonal = (c + wrong, s + wrong, m, e)
                c, s, m, e = d[i - 1][j]
                up = (c + 1.5, s, m, e + 1)
                c, s, m, e = d[i][j - 1]
                left = (c + 1.5, s, m + 1, e)
                d[i][j] = min(diagonal, up, left, key=lambda t: t[0])
        _, s, m, e = d[-1][-1]
        rep, mis, ext, n = rep + s, mis + m, ext + e, n + len(b)
    return rep / n, mis / n, ext / n

# %% wrong: the blocks of Python's difflib, which does not look for the fewest edits
import difflib

def phoneme_error_rate(hypotheses, references):
    rep = mis = ext = n = 0
    for a, refs in zip(hypotheses, references):
        b = min(refs, key=lambda r: edit_distance(a, r))
        for tag, i1, i2, j1, j2 in difflib.SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
            if tag != "equal":
                both = min(i2 - i1, j2 - j1)
                rep += both
                ext += i2 - i1 - both
                mis += j2 - j1 - both
        n += len(b)
    return rep / n, mis / n, ext / n

# %% wrong: compares place by place; what is left over at the end is missing or extra
def phoneme_error_rate(hypotheses, references):
    rep = mis = ext = n = 0
    for a, refs in zip(hypotheses, references):
        b = min(refs, key=lambda r: edit_distance(a, r))
        rep += sum(x != y for x, y in zip(a, b))
        mis += max(0, len(b) - len(a))
        ext += max(0, len(a) - len(b))
        n += len(b)
    return rep / n, mis / n, ext / n

# %% wrong: counts sounds without their order (a Counter): what is in one and not in the other
from collections import Counter

def phoneme_error_rate(hypotheses, references):
    rep = mis = ext = n = 0
    for a, refs in zip(hypotheses, references):
        b = min(refs, key=lambda r: edit_distance(a, r))
        lacking = sum((Counter(b) - Counter(a)).values())
        surplus = sum((Counter(a) - Counter(b)).values())
        both = min(lacking, surplus)
        rep, mis, ext, n = rep + both, mis + lacking - both, ext + surplus - both, n + len(b)
    return rep / n, mis / n, ext / n

# %% wrong: every pronunciation of a word counts, not the nearest one
def phoneme_error_rate(hypotheses, references):
    rep = mis = ext = n = 0
    for a, refs in zip(hypotheses, references):
        for b in refs:
            d = [[1001 * (i + j) for j in range(len(b) + 1)] for i in range(len(a) + 1)]
            for i in range(1, len(a) + 1):
                for j in range(1, len(b) + 1):
                    d[i][j] = min(d[i - 1][j] + 1001, d[i][j - 1] + 1001, d[i - 1][j - 1] + 1000 * (a[i - 1] != b[j - 1]))
            edits, gaps = divmod(d[-1][-1], 1000)
            m = (gaps + len(b) - len(a)) // 2
            rep, mis, ext, n = rep + edits - gaps, mis + m, ext + gaps - m, n + len(b)
    return rep / n, mis / n, ext / n

# %% wrong: among equally near pronunciations the one with the most replacements, not the one listed first
def phoneme_error_rate(hypotheses, references):
    rep = mis = ext = n = 0
    for a, refs in zip(hypotheses, references):
        found = []
        for b in refs:
            d = [[1001 * (i + j) for j in range(len(b) + 1)] for i in range(len(a) + 1)]
            for i in range(1, len(a) + 1):
                for j in range(1, len(b) + 1):
                    d[i][j] = min(d[i - 1][j] + 1001, d[i][j - 1] + 1001, d[i - 1][j - 1] + 1000 * (a[i - 1] != b[j - 1]))
            found.append((d[-1][-1], len(b)))
        price, length = min(found, key=lambda f: f[0])
        edits, gaps = divmod(price, 1000)
        m = (gaps + length - len(a)) // 2
        rep, mis, ext, n = rep + edits - gaps, mis + m, ext + gaps - m, n + length
    return rep / n, mis / n, ext / n

# %% wrong: each kind as a share of all edits instead of a share of the sounds
def phoneme_error_rate(hypotheses, references):
    rep = mis = ext = 0
    for a, refs in zip(hypotheses, references):
        b = min(refs, key=lambda r: edit_distance(a, r))
        d = [[1001 * (i + j) for j in range(len(b) + 1)] for i in range(len(a) + 1)]
        for i in range(1, len(a) + 1):
            for j in range(1, len(b) + 1):
                d[i][j] = min(d[i - 1][j] + 1001, d[i][j - 1] + 1001, d[i - 1][j - 1] + 1000 * (a[i - 1] != b[j - 1]))
        edits, gaps = divmod(d[-1][-1], 1000)
        m = (gaps + len(b) - len(a)) // 2
        rep, mis, ext = rep + edits - gaps, mis + m, ext + gaps - m
    n = max(rep + mis + ext, 1)
    return rep / n, mis / n, ext / n

# %% wrong: a word for which nothing was said is skipped
def phoneme_error_rate(hypotheses, references):
    rep = mis = ext = n = 0
    for a, refs in zip(hypotheses, references):
        if not a:
            continue
        b = min(refs, key=lambda r: edit_distance(a, r))
        d = [[1001 * (i + j) for j in range(len(b) + 1)] for i in range(len(a) + 1)]
        for i in range(1, len(a) + 1):
            for j in range(1, len(b) + 1):
                d[i][j] = min(d[i - 1][j] + 1001, d[i][j - 1] + 1001, d[i - 1][j - 1] + 1000 * (a[i - 1] != b[j - 1]))
        edits, gaps = divmod(d[-1][-1], 1000)
        m = (gaps + len(b) - len(a)) // 2
        rep, mis, ext, n = rep + edits - gaps, mis + m, ext + gaps - m, n + len(b)
    return rep / n, mis / n, ext / n

# %% wrong: walks back through the plain table and replaces wherever that is among the best steps, which isn't yet the way that replaces the most
def phoneme_error_rate(hypotheses, references):
    rep = mis = ext = n = 0
    for a, refs in zip(hypotheses, references):
        b = min(refs, key=lambda r: edit_distance(a, r))
        d = [[i + j for j in range(len(b) + 1)] for i in range(len(a) + 1)]
        for i in range(1, len(a) + 1):
            for j in range(1, len(b) + 1):
                d[i][j] = min(d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] != b[j - 1]))
        i, j = len(a), len(b)
        while i or j:
            if i and j and d[i][j] == d[i - 1][j - 1] + (a[i - 1] != b[j - 1]):
                rep += a[i - 1] != b[j - 1]
                i, j = i - 1, j - 1
            elif i and d[i][j] == d[i - 1][j] + 1:
                ext, i = ext + 1, i - 1
            else:
                mis, j = mis + 1, j - 1
        n += len(b)
    return rep / n, mis / n, ext / n

# %% wrong: inserting and deleting cost 1.1, which is too much: several of them add up to a whole edit
def phoneme_error_rate(hypotheses, references):
    rep = mis = ext = n = 0
    for a, refs in zip(hypotheses, references):
        b = min(refs, key=lambda r: edit_distance(a, r))
        d = [[1.1 * (i + j) for j in range(len(b) + 1)] for i in range(len(a) + 1)]
        for i in range(1, len(a) + 1):
            for j in range(1, len(b) + 1):
                d[i][j] = min(d[i - 1][j] + 1.1, d[i][j - 1] + 1.1, d[i - 1][j - 1] + (a[i - 1] != b[j - 1]))
        edits = edit_distance(a, b)
        gaps = round((d[-1][-1] - edits) * 10)
        m = (gaps + len(b) - len(a)) // 2
        rep, mis, ext, n = rep + edits - gaps, mis + m, ext + gaps - m, n + len(b)
    return rep / n, mis / n, ext / n

# %% two mistakes: from the lengths alone, and missing and extra interchanged
def phoneme_error_rate(hypotheses, references):
    replaced = missing = extra = sounds = 0
    for said, accepted in zip(hypotheses, references):
        distances = [edit_distance(said, r) for r in accepted]
        edits = min(distances)
        wanted = accepted[distances.index(edits)]
        if len(said) > len(wanted):
            missing += len(said) - len(wanted)
        else:
            extra += len(wanted) - len(said)
        replaced += edits - abs(len(said) - len(wanted))
        sounds += len(wanted)
    return replaced / sounds, missing / sounds, extra / sounds

# %% two mistakes: ties go to deleting and inserting, and it divides by the number of sounds said
def phoneme_error_rate(hypotheses, references):
    rep = mis = ext = n = 0
    for a, refs in zip(hypotheses, references):
        b = min(refs, key=lambda r: edit_distance(a, r))
        d = [[999 * (i + j) for j in range(len(b) + 1)] for i in range(len(a) + 1)]
        for i in range(1, len(a) + 1):
            for j in range(1, len(b) + 1):
                d[i][j] = min(d[i - 1][j] + 999, d[i][j - 1] + 999, d[i - 1][j - 1] + 1000 * (a[i - 1] != b[j - 1]))
        edits = edit_distance(a, b)
        gaps = 1000 * edits - d[-1][-1]
        m = (gaps + len(b) - len(a)) // 2
        rep, mis, ext, n = rep + edits - gaps, mis + m, ext + gaps - m, n + len(a)
    return rep / n, mis / n, ext / n

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

# %% right: a recursion with a memory over what is left of both words; compares pairs (edits, gaps) as tuples
from functools import lru_cache

def phoneme_error_rate(hypotheses, references):
    def ways(a, b):
        @lru_cache(maxsize=None)
        def best(i, j):  # edits, gaps, missing, extra
            if i == len(a):
                return len(b) - j, len(b) - j, len(b) - j, 0
            if j == len(b):
                return len(a) - i, len(a) - i, 0, len(a) - i
            e, g, m, x = best(i + 1, j + 1)
            keep = (e + (a[i] != b[j]), g, m, x)
            e, g, m, x = best(i + 1, j)
            drop = (e + 1, g + 1, m, x + 1)
            e, g, m, x = best(i, j + 1)
            put = (e + 1, g + 1, m + 1, x)
            return min(keep, drop, put)

        return best(0, 0)

    n, kinds = 0, [0, 0, 0]
    for a, refs in zip(hypotheses, references):
        results = [ways(tuple(a), tuple(b)) for b in refs]
        k = min(range(len(refs)), key=lambda k: results[k][0])
        e, g, m, x = results[k]
        kinds = [kinds[0] + e - g, kinds[1] + m, kinds[2] + x]
        n += len(refs[k])
    return [kind / n for kind in kinds]

# %% right: Dijkstra's search with a heap over (edits, gaps), and exact fractions
import heapq
from fractions import Fraction

def phoneme_error_rate(hypotheses, references):
    total, sounds = [0, 0, 0], 0
    for a, refs in zip(hypotheses, references):
        b = sorted(refs, key=lambda r: edit_distance(a, r))[0]  # sorted is stable
        heap, done = [(0, 0, 0, 0, 0, 0)], set()
        while True:
            edits, gaps, i, j, missing, extra = heapq.heappop(heap)
            if (i, j) == (len(a), len(b)):
                break
            if (i, j) in done:
                continue
            done.add((i, j))
            if i < len(a) and j < len(b):
                heapq.heappush(heap, (edits + (a[i] != b[j]), gaps, i + 1, j + 1, missing, extra))
            if i < len(a):
                heapq.heappush(heap, (edits + 1, gaps + 1, i + 1, j, missing, extra + 1))
            if j < len(b):
                heapq.heappush(heap, (edits + 1, gaps + 1, i, j + 1, missing + 1, extra))
        total = [total[0] + edits - gaps, total[1] + missing, total[2] + extra]
        sounds += len(b)
    return tuple(Fraction(t, sounds) for t in total)

# %% right: a table for each number of extra sounds instead of one table: tries few gaps first, until the edits are the fewest
def phoneme_error_rate(hypotheses, references):
    def most_equal(a, b, extra):  # replacements with exactly that many sounds of a left out
        missing = len(b) - len(a) + extra
        if missing < 0:
            return None
        inf = 10**6
        # cost[x][m]: fewest replacements so far with x left out and m put in, after k pairs
        cost = [[inf] * (missing + 1) for _ in range(extra + 1)]
        pairs = len(a) - extra
        for k in range(pairs + 1):
            for x in range(extra + 1):
                for m in range(missing + 1):
                    options = [0] if k == x == m == 0 else []
                    if k:
                        options.append(cost[x][m] + (a[k - 1 + x] != b[k - 1 + m]))
                    if x:
                        options.append(cost[x - 1][m])
                    if m:
                        options.append(cost[x][m - 1])
                    cost[x][m] = min(options)
        return cost[extra][missing], missing, extra

    sums, sounds = torch.zeros(3, dtype=torch.float64), 0
    for a, refs in zip(hypotheses, references):
        distances = torch.tensor([edit_distance(a, r) for r in refs])
        edits = int(distances.min())
        b = refs[int((distances == edits).nonzero()[0])]
        for extra in range(len(a) + 1):
            kinds = most_equal(a, b, extra)
            if kinds is not None and sum(kinds) == edits:
                break
        sums += torch.tensor(kinds, dtype=torch.float64)
        sounds += len(b)
    replaced, missing, extra = (sums / sounds).tolist()
    return replaced, missing, extra

# %% right: inserting and deleting cost 1.01, which is little enough where nobody says more than 100 sounds
def phoneme_error_rate(hypotheses, references):
    rep = mis = ext = n = 0
    for a, refs in zip(hypotheses, references):
        b = min(refs, key=lambda r: edit_distance(a, r))
        d = [[1.01 * (i + j) for j in range(len(b) + 1)] for i in range(len(a) + 1)]
        for i in range(1, len(a) + 1):
            for j in range(1, len(b) + 1):
                d[i][j] = min(d[i - 1][j] + 1.01, d[i][j - 1] + 1.01, d[i - 1][j - 1] + (a[i - 1] != b[j - 1]))
        edits = edit_distance(a, b)
        gaps = round((d[-1][-1] - edits) * 100)
        m = (gaps + len(b) - len(a)) // 2
        rep, mis, ext, n = rep + edits - gaps, mis + m, ext + gaps - m, n + len(b)
    return rep / n, mis / n, ext / n

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
