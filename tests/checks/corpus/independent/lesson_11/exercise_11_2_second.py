# %% setup
import random

import torch

from course_utils import metrics, zoo
from course_utils.datasets.pronunciations import pronunciations
from course_utils.metrics import edit_distance
from course_utils.zoo.pronunciation import pronounce

# %% wrong: candidates that take the end symbol use up places of the beam, so fewer than num_beams beams go on
def beam_search(step, num_beams, max_len, end_id, alpha):
    beams, finished = [([], 0.0)], []
    for n in range(1, max_len + 1):
        candidates = []
        for prefix, logp in beams:
            for symbol, value in enumerate(step(list(prefix)).tolist()):
                candidates.append((prefix + [symbol], logp + value))
        candidates.sort(key=lambda c: -c[1])
        best = candidates[:num_beams]
        finished += [c for c in best if n == max_len or c[0][-1] == end_id]
        beams = [c for c in best if c[0][-1] != end_id]
        if len(finished) >= num_beams or not beams:
            break
    ranked = sorted(((s, l / len(s) ** alpha) for s, l in finished), key=lambda c: -c[1])[:num_beams]
    return [s for s, _ in ranked], [v for _, v in ranked]

# %% wrong: ranks the finished by the plain log-probability; only the returned scores are divided by the length
def beam_search(step, num_beams, max_len, end_id, alpha):
    beams, finished = [([], 0.0)], []
    for n in range(1, max_len + 1):
        candidates = [(p + [s], l + v) for p, l in beams for s, v in enumerate(step(list(p)).tolist())]
        candidates.sort(key=lambda c: c[1], reverse=True)
        finished += [c for c in candidates[:num_beams] if n == max_len or c[0][-1] == end_id]
        beams = [c for c in candidates if c[0][-1] != end_id][:num_beams]
        if len(finished) >= num_beams or not beams:
            break
    finished.sort(key=lambda c: c[1], reverse=True)
    finished = finished[:num_beams]
    return [s for s, _ in finished], [l / len(s) ** alpha for s, l in finished]

# %% wrong: every candidate that takes the end symbol is set aside as finished, even if it is not among the num_beams best of the step
def beam_search(step, num_beams, max_len, end_id, alpha):
    beams, finished = [([], 0.0)], []
    for n in range(1, max_len + 1):
        candidates = [(p + [s], l + v) for p, l in beams for s, v in enumerate(step(list(p)).tolist())]
        candidates.sort(key=lambda c: c[1], reverse=True)
        if n == max_len:
            finished += candidates[:num_beams]
            break
        finished += [c for c in candidates if c[0][-1] == end_id]
        beams = [c for c in candidates if c[0][-1] != end_id][:num_beams]
        if len(finished) >= num_beams or not beams:
            break
    ranked = sorted(finished, key=lambda c: c[1] / len(c[0]) ** alpha, reverse=True)[:num_beams]
    return [s for s, _ in ranked], [l / len(s) ** alpha for s, l in ranked]

# %% wrong: at step max_len the unfinished among the best are dropped, only those that take the end symbol count
def beam_search(step, num_beams, max_len, end_id, alpha):
    beams, finished = [([], 0.0)], []
    for n in range(max_len):
        candidates = [(p + [s], l + v) for p, l in beams for s, v in enumerate(step(list(p)).tolist())]
        candidates.sort(key=lambda c: c[1], reverse=True)
        finished += [c for c in candidates[:num_beams] if c[0][-1] == end_id]
        beams = [c for c in candidates if c[0][-1] != end_id][:num_beams]
        if len(finished) >= num_beams or not beams:
            break
    ranked = sorted(finished, key=lambda c: c[1] / len(c[0]) ** alpha, reverse=True)[:num_beams]
    return [s for s, _ in ranked], [l / len(s) ** alpha for s, l in ranked]

# %% right: keeps the candidates of a step in a two-dimensional double tensor and sorts its flattened entries
def beam_search(step, num_beams, max_len, end_id, alpha):
    prefixes, logps = [[]], torch.zeros(1, dtype=torch.float64)
    finished = []
    for n in range(1, max_len + 1):
        table = logps[:, None] + torch.stack([step(list(p)).double() for p in prefixes])
        V = table.shape[1]
        values, places = table.flatten().sort(descending=True)
        next_prefixes, next_logps = [], []
        for rank, (value, place) in enumerate(zip(values.tolist(), places.tolist())):
            sequence = prefixes[place // V] + [place % V]
            if rank < num_beams and (n == max_len or place % V == end_id):
                finished.append((value / n**alpha, sequence))
            if place % V != end_id and len(next_prefixes) < num_beams:
                next_prefixes.append(sequence)
                next_logps.append(value)
        if len(finished) >= num_beams or not next_prefixes:
            break
        prefixes, logps = next_prefixes, torch.tensor(next_logps, dtype=torch.float64)
    finished.sort(key=lambda pair: pair[0], reverse=True)
    return [s for _, s in finished[:num_beams]], [v for v, _ in finished[:num_beams]]

# %% right: a while loop with tuples as prefixes and heapq.nlargest
def beam_search(step, num_beams, max_len, end_id, alpha):
    import heapq
    beams, done, n = {(): 0.0}, {}, 0
    while beams and n < max_len and len(done) < num_beams:
        n += 1
        candidates = {}
        for prefix, logp in beams.items():
            for symbol, value in enumerate(step(list(prefix))):
                candidates[prefix + (symbol,)] = logp + float(value)
        for sequence in heapq.nlargest(num_beams, candidates, key=candidates.get):
            if n == max_len or sequence[-1] == end_id:
                done[sequence] = candidates[sequence] / n**alpha
        going = [s for s in candidates if s[-1] != end_id]
        beams = {s: candidates[s] for s in heapq.nlargest(num_beams, going, key=candidates.get)}
    best = heapq.nlargest(num_beams, done, key=done.get)
    return [list(s) for s in best], [done[s] for s in best]
