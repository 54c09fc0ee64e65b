# %% setup
import random

import torch

from course_utils import metrics, pretrained
from course_utils.datasets.pronunciations import pronunciations
from course_utils.metrics import edit_distance
from course_utils.pretrained.pronunciation import pronounce

# %% wrong: finished sequences stay among the beams and are extended beyond the end symbol
def beam_search(step, num_beams, max_len, end_id, alpha):
    beams, finished = [([], 0.0)], []
    for n in range(1, max_len + 1):
        candidates = []
        for prefix, log_p in beams:
            for symbol, new in enumerate(step(prefix).tolist()):
                candidates.append((prefix + [symbol], log_p + new))
        candidates.sort(key=lambda c: c[1], reverse=True)
        best = candidates[:num_beams]
        finished += [c for c in best if c[0][-1] == end_id or n == max_len]
        beams = best
        if not beams or (len(finished) >= num_beams and beams[0][1] / max_len**alpha <= max(p / len(s) ** alpha for s, p in finished)):
            break
    ranked = sorted(((p / len(s) ** alpha, s) for s, p in finished), key=lambda r: -r[0])[:num_beams]
    return [s for _, s in ranked], [score for score, _ in ranked]

# %% wrong: the score is log_p / length * alpha
def beam_search(step, num_beams, max_len, end_id, alpha):
    beams, finished = [([], 0.0)], []
    for n in range(1, max_len + 1):
        candidates = []
        for prefix, log_p in beams:
            for symbol, new in enumerate(step(prefix).tolist()):
                candidates.append((prefix + [symbol], log_p + new))
        candidates.sort(key=lambda c: c[1], reverse=True)
        best = candidates[:num_beams]
        finished += [c for c in best if c[0][-1] == end_id or n == max_len]
        beams = [c for c in candidates if c[0][-1] != end_id][:num_beams]
        if not beams or (len(finished) >= num_beams and beams[0][1] / max_len**alpha <= max(p / len(s) ** alpha for s, p in finished)):
            break
    ranked = sorted(((p / len(s) * alpha, s) for s, p in finished), key=lambda r: -r[0])[:num_beams]
    return [s for _, s in ranked], [score for score, _ in ranked]

# %% wrong: the score is log_p / (length * alpha)
def beam_search(step, num_beams, max_len, end_id, alpha):
    beams, finished = [([], 0.0)], []
    for n in range(1, max_len + 1):
        candidates = []
        for prefix, log_p in beams:
            for symbol, new in enumerate(step(prefix).tolist()):
                candidates.append((prefix + [symbol], log_p + new))
        candidates.sort(key=lambda c: c[1], reverse=True)
        best = candidates[:num_beams]
        finished += [c for c in best if c[0][-1] == end_id or n == max_len]
        beams = [c for c in candidates if c[0][-1] != end_id][:num_beams]
        if not beams or (len(finished) >= num_beams and beams[0][1] / max_len**alpha <= max(p / len(s) ** alpha for s, p in finished)):
            break
    ranked = sorted(((p / (len(s) * alpha), s) for s, p in finished), key=lambda r: -r[0])[:num_beams]
    return [s for _, s in ranked], [score for score, _ in ranked]

# %% wrong: the finished come back in the order in which they were found, cut to num_beams, not ranked
def beam_search(step, num_beams, max_len, end_id, alpha):
    beams, finished = [(0.0, [])], []
    for n in range(1, max_len + 1):
        c = sorted([(t + l, [*s, i]) for t, s in beams for i, l in enumerate(step(s).tolist())], reverse=True)
        for t, s in c[:num_beams]:
            if s[-1] == end_id or n == max_len:
                finished.append((t / n**alpha, s))
        beams = [x for x in c if x[1][-1] != end_id][:num_beams]
        if not beams or (len(finished) >= num_beams and beams[0][0] / max_len**alpha <= max(finished)[0]):
            break
    finished = finished[:num_beams]
    return [s for _, s in finished], [t for t, _ in finished]

# %% wrong: the last symbol of every sequence is cut off, also where the search ended at max_len
def beam_search(step, num_beams, max_len, end_id, alpha):
    beams, finished = [(0.0, [])], []
    for n in range(1, max_len + 1):
        c = sorted([(t + l, [*s, i]) for t, s in beams for i, l in enumerate(step(s).tolist())], reverse=True)
        for t, s in c[:num_beams]:
            if s[-1] == end_id or n == max_len:
                finished.append((t / n**alpha, s))
        beams = [x for x in c if x[1][-1] != end_id][:num_beams]
        if not beams or (len(finished) >= num_beams and beams[0][0] / max_len**alpha <= max(finished)[0]):
            break
    finished = sorted(finished, reverse=True)[:num_beams]
    return [s[:-1] for _, s in finished], [t for t, _ in finished]

# %% wrong: ranks the finished by the plain log-probability; only the returned scores are divided by the length
def beam_search(step, num_beams, max_len, end_id, alpha):
    beams, finished = [([], 0.0)], []
    for n in range(1, max_len + 1):
        candidates = [(p + [s], l + v) for p, l in beams for s, v in enumerate(step(list(p)).tolist())]
        candidates.sort(key=lambda c: c[1], reverse=True)
        finished += [c for c in candidates[:num_beams] if n == max_len or c[0][-1] == end_id]
        beams = [c for c in candidates if c[0][-1] != end_id][:num_beams]
        if not beams or (len(finished) >= num_beams and beams[0][1] / max_len**alpha <= max(p / len(s) ** alpha for s, p in finished)):
            break
    finished.sort(key=lambda c: c[1], reverse=True)
    finished = finished[:num_beams]
    return [s for s, _ in finished], [l / len(s) ** alpha for s, l in finished]

# %% setup
import heapq
import math

import torch

# %% wrong: at the last step adds the beams without an end symbol that would go on, also those that are not among the num_beams best candidates
def beam_search(step, num_beams, max_len, end_id, alpha):
    beams, finished = [(0.0, [])], []
    for _ in range(max_len):
        candidates = [(log_p + new, [*s, v]) for log_p, s in beams for v, new in enumerate(step(s).tolist())]
        candidates.sort(reverse=True)
        finished += [c for c in candidates[:num_beams] if c[1][-1] == end_id]
        beams = [c for c in candidates if c[1][-1] != end_id][:num_beams]
        if not beams or (len(finished) >= num_beams and beams[0][0] / max_len**alpha <= max(p / len(s) ** alpha for p, s in finished)):
            break
    else:
        finished += beams
    scored = sorted(((log_p / len(s) ** alpha, s) for log_p, s in finished), reverse=True)[:num_beams]
    return [s for _, s in scored], [score for score, _ in scored]

# %% wrong: stops as soon as num_beams sequences are finished, whatever the beams could still become
def beam_search(step, num_beams, max_len, end_id, alpha):
    beams, finished = [(0.0, [])], []
    for n in range(1, max_len + 1):
        candidates = []
        for total, seq in beams:
            for symbol, lp in enumerate(step(seq).tolist()):
                candidates.append((total + lp, seq + [symbol]))
        candidates.sort(key=lambda c: c[0], reverse=True)
        for total, seq in candidates[:num_beams]:
            if seq[-1] == end_id or n == max_len:
                finished.append((total / len(seq) ** alpha, seq))
        beams = [c for c in candidates if c[1][-1] != end_id][:num_beams]
        if len(finished) >= num_beams:
            break
    finished.sort(key=lambda c: c[0], reverse=True)
    return [s for _, s in finished[:num_beams]], [x for x, _ in finished[:num_beams]]

# %% wrong: divides the log-probability of a live beam by its length of now for the bound
def beam_search(step, num_beams, max_len, end_id, alpha):
    beams, finished = [(0.0, [])], []
    for n in range(1, max_len + 1):
        candidates = []
        for total, seq in beams:
            for symbol, lp in enumerate(step(seq).tolist()):
                candidates.append((total + lp, seq + [symbol]))
        candidates.sort(key=lambda c: c[0], reverse=True)
        for total, seq in candidates[:num_beams]:
            if seq[-1] == end_id or n == max_len:
                finished.append((total / len(seq) ** alpha, seq))
        beams = [c for c in candidates if c[1][-1] != end_id][:num_beams]
        if len(finished) >= num_beams and beams:
            best = max(f[0] for f in finished)
            if all(total / len(seq) ** alpha <= best for total, seq in beams):
                break
    finished.sort(key=lambda c: c[0], reverse=True)
    return [s for _, s in finished[:num_beams]], [x for x, _ in finished[:num_beams]]

# %% wrong: the bound divides by the length that the beam has after one more symbol (an end at once)
def beam_search(step, num_beams, max_len, end_id, alpha):
    beams, finished = [(0.0, [])], []
    for n in range(1, max_len + 1):
        candidates = [
            (total + lp, seq + [v])
            for total, seq in beams
            for v, lp in enumerate(step(seq).tolist())
        ]
        candidates.sort(key=lambda c: -c[0])
        for total, seq in candidates[:num_beams]:
            if seq[-1] == end_id or n == max_len:
                finished.append((total / len(seq) ** alpha, seq))
        beams = [c for c in candidates if c[1][-1] != end_id][:num_beams]
        if len(finished) >= num_beams and max(t for t, _ in beams) / (n + 1) ** alpha <= max(finished)[0]:
            break
    finished.sort(key=lambda c: -c[0])
    return [s for _, s in finished[:num_beams]], [x for x, _ in finished[:num_beams]]

# %% wrong: compares the bound of the beams with the worst of the num_beams best finished ones, so it goes on too long and returns others
def beam_search(step, num_beams, max_len, end_id, alpha):
    beams, finished = [(0.0, [])], []
    for n in range(1, max_len + 1):
        candidates = [
            (total + lp, seq + [v])
            for total, seq in beams
            for v, lp in enumerate(step(seq).tolist())
        ]
        candidates.sort(key=lambda c: -c[0])
        for total, seq in candidates[:num_beams]:
            if seq[-1] == end_id or n == max_len:
                finished.append((total / len(seq) ** alpha, seq))
        beams = [c for c in candidates if c[1][-1] != end_id][:num_beams]
        if len(finished) >= num_beams:
            finished.sort(key=lambda c: -c[0])
            worst = finished[num_beams - 1][0]
            if not beams or beams[0][0] / max_len**alpha <= worst:
                break
    finished.sort(key=lambda c: -c[0])
    return [s for _, s in finished[:num_beams]], [x for x, _ in finished[:num_beams]]

# %% wrong: never stops before max_len
def beam_search(step, num_beams, max_len, end_id, alpha):
    beams, finished = [(0.0, [])], []
    for n in range(1, max_len + 1):
        candidates = [
            (total + lp, seq + [v])
            for total, seq in beams
            for v, lp in enumerate(step(seq).tolist())
        ]
        candidates.sort(key=lambda c: -c[0])
        finished += [c for c in candidates[:num_beams] if c[1][-1] == end_id or n == max_len]
        beams = [c for c in candidates if c[1][-1] != end_id][:num_beams]
    ranked = sorted(((t / len(s) ** alpha, s) for t, s in finished), key=lambda c: -c[0])[:num_beams]
    return [s for _, s in ranked], [x for x, _ in ranked]

# %% wrong: a finished sequence uses up a beam, so that fewer beams go on
def beam_search(step, num_beams, max_len, end_id, alpha):
    beams, finished = [(0.0, [])], []
    for n in range(1, max_len + 1):
        candidates = [
            (total + lp, seq + [v])
            for total, seq in beams
            for v, lp in enumerate(step(seq).tolist())
        ]
        candidates.sort(key=lambda c: -c[0])
        top = candidates[:num_beams]
        finished += [c for c in top if c[1][-1] == end_id or n == max_len]
        beams = [c for c in top if c[1][-1] != end_id]
        if not beams:
            break
        if len(finished) >= num_beams:
            best = max(t / len(s) ** alpha for t, s in finished)
            if beams[0][0] / max_len**alpha <= best:
                break
    ranked = sorted(((t / len(s) ** alpha, s) for t, s in finished), key=lambda c: -c[0])[:num_beams]
    return [s for _, s in ranked], [x for x, _ in ranked]

# %% wrong: every candidate that ends is finished, also those that are not among the num_beams best
def beam_search(step, num_beams, max_len, end_id, alpha):
    beams, finished = [(0.0, [])], []
    for n in range(1, max_len + 1):
        candidates = [
            (total + lp, seq + [v])
            for total, seq in beams
            for v, lp in enumerate(step(seq).tolist())
        ]
        candidates.sort(key=lambda c: -c[0])
        finished += [c for c in candidates if c[1][-1] == end_id]
        beams = [c for c in candidates if c[1][-1] != end_id][:num_beams]
        if n == max_len:
            finished += beams
            break
        if len(finished) >= num_beams:
            best = max(t / len(s) ** alpha for t, s in finished)
            if beams[0][0] / max_len**alpha <= best:
                break
    ranked = sorted(((t / len(s) ** alpha, s) for t, s in finished), key=lambda c: -c[0])[:num_beams]
    return [s for _, s in ranked], [x for x, _ in ranked]

# %% wrong: multiplies probabilities, which become 0 after many small ones
def beam_search(step, num_beams, max_len, end_id, alpha):
    beams, finished = [(1.0, [])], []

    def score(p, length):
        return (math.log(p) if p > 0 else -math.inf) / length**alpha

    for n in range(1, max_len + 1):
        candidates = [
            (p * q, seq + [v])
            for p, seq in beams
            for v, q in enumerate(step(seq).exp().tolist())
        ]
        candidates.sort(key=lambda c: -c[0])
        finished += [c for c in candidates[:num_beams] if c[1][-1] == end_id or n == max_len]
        beams = [c for c in candidates if c[1][-1] != end_id][:num_beams]
        if len(finished) >= num_beams:
            best = max(score(p, len(s)) for p, s in finished)
            if not beams or score(beams[0][0], max_len) <= best:
                break
    ranked = sorted(((score(p, len(s)), s) for p, s in finished), key=lambda c: -c[0])[:num_beams]
    return [s for _, s in ranked], [x for x, _ in ranked]

# %% wrong: at the last step only what takes the end symbol is finished
def beam_search(step, num_beams, max_len, end_id, alpha):
    beams, finished = [(0.0, [])], []
    for n in range(1, max_len + 1):
        candidates = [
            (total + lp, seq + [v])
            for total, seq in beams
            for v, lp in enumerate(step(seq).tolist())
        ]
        candidates.sort(key=lambda c: -c[0])
        finished += [c for c in candidates[:num_beams] if c[1][-1] == end_id]
        beams = [c for c in candidates if c[1][-1] != end_id][:num_beams]
        if len(finished) >= num_beams:
            best = max(t / len(s) ** alpha for t, s in finished)
            if not beams or beams[0][0] / max_len**alpha <= best:
                break
    ranked = sorted(((t / len(s) ** alpha, s) for t, s in finished), key=lambda c: -c[0])[:num_beams]
    return [s for _, s in ranked], [x for x, _ in ranked]

# %% wrong: orders the candidates of each step by the score divided by the length to the power alpha of the step before, that is, keeps running means instead of sums
def beam_search(step, num_beams, max_len, end_id, alpha):
    beams, finished = [(0.0, [])], []
    for n in range(1, max_len + 1):
        candidates = [
            ((total + lp) / n**alpha, seq + [v])
            for total, seq in beams
            for v, lp in enumerate(step(seq).tolist())
        ]
        candidates.sort(key=lambda c: -c[0])
        finished += [c for c in candidates[:num_beams] if c[1][-1] == end_id or n == max_len]
        beams = [c for c in candidates if c[1][-1] != end_id][:num_beams]
        if len(finished) >= num_beams:
            best = max(t for t, s in finished)
            if not beams or beams[0][0] * n**alpha / max_len**alpha <= best:
                break
    ranked = sorted(finished, key=lambda c: -c[0])[:num_beams]
    return [s for _, s in ranked], [x for x, _ in ranked]

# %% wrong: the length doesn't count the end symbol
def beam_search(step, num_beams, max_len, end_id, alpha):
    def score(total, seq):
        length = len(seq) - (seq[-1] == end_id)
        return total / max(1, length) ** alpha

    beams, finished = [(0.0, [])], []
    for n in range(1, max_len + 1):
        candidates = [
            (total + lp, seq + [v])
            for total, seq in beams
            for v, lp in enumerate(step(seq).tolist())
        ]
        candidates.sort(key=lambda c: -c[0])
        finished += [c for c in candidates[:num_beams] if c[1][-1] == end_id or n == max_len]
        beams = [c for c in candidates if c[1][-1] != end_id][:num_beams]
        if len(finished) >= num_beams:
            best = max(score(t, s) for t, s in finished)
            if not beams or beams[0][0] / max_len**alpha <= best:
                break
    ranked = sorted(((score(t, s), s) for t, s in finished), key=lambda c: -c[0])[:num_beams]
    return [s for _, s in ranked], [x for x, _ in ranked]

# %% wrong: stops as soon as one sequence is finished and no beam can win, without waiting for num_beams
def beam_search(step, num_beams, max_len, end_id, alpha):
    beams, finished = [(0.0, [])], []
    for n in range(1, max_len + 1):
        candidates = [
            (total + lp, seq + [v])
            for total, seq in beams
            for v, lp in enumerate(step(seq).tolist())
        ]
        candidates.sort(key=lambda c: -c[0])
        finished += [c for c in candidates[:num_beams] if c[1][-1] == end_id or n == max_len]
        beams = [c for c in candidates if c[1][-1] != end_id][:num_beams]
        if finished:
            best = max(t / len(s) ** alpha for t, s in finished)
            if not beams or beams[0][0] / max_len**alpha <= best:
                break
    ranked = sorted(((t / len(s) ** alpha, s) for t, s in finished), key=lambda c: -c[0])[:num_beams]
    return [s for _, s in ranked], [x for x, _ in ranked]

# %% wrong: keeps only the best num_beams finished after every step by their log-probability and not by their score
def beam_search(step, num_beams, max_len, end_id, alpha):
    beams, finished = [(0.0, [])], []
    for n in range(1, max_len + 1):
        candidates = [
            (total + lp, seq + [v])
            for total, seq in beams
            for v, lp in enumerate(step(seq).tolist())
        ]
        candidates.sort(key=lambda c: -c[0])
        finished += [c for c in candidates[:num_beams] if c[1][-1] == end_id or n == max_len]
        finished = sorted(finished, key=lambda c: -c[0])[:num_beams]
        beams = [c for c in candidates if c[1][-1] != end_id][:num_beams]
        if len(finished) >= num_beams:
            best = max(t / len(s) ** alpha for t, s in finished)
            if not beams or beams[0][0] / max_len**alpha <= best:
                break
    ranked = sorted(((t / len(s) ** alpha, s) for t, s in finished), key=lambda c: -c[0])
    return [s for _, s in ranked], [x for x, _ in ranked]

# %% wrong: returns all that is finished, not only the best num_beams
def beam_search(step, num_beams, max_len, end_id, alpha):
    beams, finished = [(0.0, [])], []
    for n in range(1, max_len + 1):
        candidates = [
            (total + lp, seq + [v])
            for total, seq in beams
            for v, lp in enumerate(step(seq).tolist())
        ]
        candidates.sort(key=lambda c: -c[0])
        finished += [c for c in candidates[:num_beams] if c[1][-1] == end_id or n == max_len]
        beams = [c for c in candidates if c[1][-1] != end_id][:num_beams]
        if len(finished) >= num_beams:
            best = max(t / len(s) ** alpha for t, s in finished)
            if not beams or beams[0][0] / max_len**alpha <= best:
                break
    ranked = sorted(((t / len(s) ** alpha, s) for t, s in finished), key=lambda c: -c[0])
    return [s for _, s in ranked], [x for x, _ in ranked]

# %% two mistakes: stops as soon as num_beams are finished; and ranks and reports plain log-probabilities
def beam_search(step, num_beams, max_len, end_id, alpha):
    beams, finished = [(0.0, [])], []
    for n in range(1, max_len + 1):
        candidates = [
            (total + lp, seq + [v])
            for total, seq in beams
            for v, lp in enumerate(step(seq).tolist())
        ]
        candidates.sort(key=lambda c: -c[0])
        finished += [c for c in candidates[:num_beams] if c[1][-1] == end_id or n == max_len]
        beams = [c for c in candidates if c[1][-1] != end_id][:num_beams]
        if len(finished) >= num_beams:
            break
    finished = sorted(finished, key=lambda c: -c[0])[:num_beams]
    return [s for _, s in finished], [t for t, _ in finished]

# %% two mistakes: the bound divides by the beam's present length, and the end symbol isn't returned
def beam_search(step, num_beams, max_len, end_id, alpha):
    beams, finished = [(0.0, [])], []
    for n in range(1, max_len + 1):
        candidates = [
            (total + lp, seq + [v])
            for total, seq in beams
            for v, lp in enumerate(step(seq).tolist())
        ]
        candidates.sort(key=lambda c: -c[0])
        finished += [
            (t / n**alpha, s) for t, s in candidates[:num_beams] if s[-1] == end_id or n == max_len
        ]
        beams = [c for c in candidates if c[1][-1] != end_id][:num_beams]
        if len(finished) >= num_beams and beams[0][0] / n**alpha <= max(finished)[0]:
            break
    ranked = sorted(finished, key=lambda c: -c[0])[:num_beams]
    return [s[:-1] if s[-1] == end_id else s for _, s in ranked], [x for x, _ in ranked]

# %% right: tensors and topk on the flat scores; with alpha 0 the bound is the beam itself
def beam_search(step, num_beams, max_len, end_id, alpha):
    beams, totals, finished = [[]], torch.zeros(1, dtype=torch.float64), []
    for n in range(1, max_len + 1):
        table = torch.stack([step(list(b)).double() for b in beams]) + totals[:, None]
        values, order = table.flatten().sort(descending=True)
        vocab = table.shape[1]
        going, new_totals = [], []
        for rank, (value, at) in enumerate(zip(values.tolist(), order.tolist())):
            symbol = at % vocab
            seq = beams[at // vocab] + [symbol]
            if rank < num_beams and (symbol == end_id or n == max_len):
                finished.append((value / n**alpha, seq))
            if symbol != end_id and len(going) < num_beams:
                going.append(seq)
                new_totals.append(value)
        if not going:
            break
        beams, totals = going, torch.tensor(new_totals, dtype=torch.float64)
        if len(finished) >= num_beams and float(totals.max()) / max_len**alpha <= max(finished)[0]:
            break
    finished.sort(key=lambda f: -f[0])
    return [s for _, s in finished[:num_beams]], [x for x, _ in finished[:num_beams]]

# %% right: heapq, the tree of prefixes by back pointers, a while loop
def beam_search(step, num_beams, max_len, end_id, alpha):
    def unroll(node):
        out = []
        while node is not None:
            parent, symbol = node
            out.append(symbol)
            node = parent
        return out[::-1]

    live = [(0.0, None)]
    done, n = [], 0
    while n < max_len and live:
        n += 1
        pool = []
        for total, node in live:
            prefix = unroll(node)
            for symbol, lp in enumerate(step(prefix)):
                pool.append((total + float(lp), (node, symbol)))
        best = heapq.nlargest(2 * num_beams, pool, key=lambda p: p[0])
        for total, node in best[:num_beams]:
            if n == max_len or node[1] == end_id:
                done.append((total * n**-alpha, unroll(node)))
        # one end candidate for each beam at most, so 2 K hold K that go on
        live = [p for p in best if p[1][1] != end_id][:num_beams]
        if len(done) >= num_beams and all(t * max_len**-alpha <= max(d[0] for d in done) for t, _ in live):
            break
    done.sort(key=lambda d: d[0], reverse=True)
    return [d[1] for d in done][:num_beams], [d[0] for d in done][:num_beams]

# %% right: asks every possible final length for the bound, and gives the scores as 0-d tensors
def beam_search(step, num_beams, max_len, end_id, alpha):
    def can_win(total, length, best):
        return any(total / future**alpha > best for future in range(length + 1, max_len + 1))

    beams, finished = {(): torch.tensor(0.0, dtype=torch.float64)}, {}
    for length in range(1, max_len + 1):
        grown = {}
        for prefix, total in beams.items():
            for symbol, lp in enumerate(step(list(prefix)).double()):
                grown[prefix + (symbol,)] = total + lp
        order = sorted(grown, key=grown.get, reverse=True)
        for sequence in order[:num_beams]:
            if sequence[-1] == end_id or length == max_len:
                finished[sequence] = grown[sequence] / length**alpha
        beams = {s: grown[s] for s in [s for s in order if s[-1] != end_id][:num_beams]}
        if len(finished) >= num_beams:
            best = max(finished.values())
            if not any(can_win(total, length, best) for total in beams.values()):
                break
    winners = sorted(finished, key=finished.get, reverse=True)[:num_beams]
    return [list(w) for w in winners], [finished[w] for w in winners]
