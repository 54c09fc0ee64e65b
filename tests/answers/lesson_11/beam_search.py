# %% setup
import random

import torch

from course_utils import metrics, pretrained
from course_utils.datasets.pronunciations import pronunciations
from course_utils.metrics import edit_distance
from course_utils.pretrained.pronunciation import pronounce

# %% wrong: returns all finished sequences, which can be more than num_beams
def beam_search(step, num_beams, max_len, end_id, alpha):
    beams, finished = [(0.0, [])], []  # (log-probability, symbols)
    for n in range(1, max_len + 1):
        candidates = []
        for log_p, prefix in beams:
            for symbol, more in enumerate(step(prefix).tolist()):
                candidates.append((log_p + more, prefix + [symbol]))
        candidates.sort(key=lambda c: c[0], reverse=True)
        best = candidates[:num_beams]
        finished += best if n == max_len else [c for c in best if c[1][-1] == end_id]
        beams = [c for c in candidates if c[1][-1] != end_id][:num_beams]
        if not beams or (len(finished) >= num_beams and beams[0][0] / max_len**alpha <= max(p / len(s) ** alpha for p, s in finished)):
            break
    ranked = sorted(((log_p / len(s) ** alpha, s) for log_p, s in finished), key=lambda c: c[0], reverse=True)
    return [s for _, s in ranked], [score for score, _ in ranked]

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
        if not beams or (len(finished) >= num_beams and beams[0][1] / max_len**alpha <= max(p / len(s) ** alpha for s, p in finished)):
            break
    ranked = sorted(finished, key=lambda c: c[1] / len(c[0]) ** alpha, reverse=True)[:num_beams]
    return [s for s, _ in ranked], [l / len(s) ** alpha for s, l in ranked]

# %% setup
import heapq
import math
import random

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

# %% wrong: stops as soon as num_beams are finished, whatever still grows; calls itself for each step
def beam_search(step, num_beams, max_len, end_id, alpha):
    def search(beams, finished, number):
        everything = [(log_p + new, (*s, v)) for log_p, s in beams for v, new in enumerate(step(list(s)).tolist())]
        best = heapq.nlargest(num_beams, everything)
        finished = finished + [c for c in best if number == max_len or c[1][-1] == end_id]
        going_on = heapq.nlargest(num_beams, (c for c in everything if c[1][-1] != end_id))
        if number == max_len or len(finished) >= num_beams or not going_on:
            return finished
        return search(going_on, finished, number + 1)

    ranked = heapq.nlargest(num_beams, ((log_p / math.pow(len(s), alpha), s) for log_p, s in search([(0.0, ())], [], 1)))
    return [list(s) for _, s in ranked], [score for score, _ in ranked]

# %% setup
import math

import torch

# %% wrong: never stops early, goes on until max_len whatever is finished
def beam_search(step, num_beams, max_len, end_id, alpha):
    beams, done = [([], 0.0)], []
    for t in range(max_len):
        options = []
        for seq, lp in beams:
            options += [(seq + [i], lp + p) for i, p in enumerate(step(seq).tolist())]
        options.sort(key=lambda o: o[1], reverse=True)
        for seq, lp in options[:num_beams]:
            if seq[-1] == end_id or t == max_len - 1:
                done.append((seq, lp / len(seq) ** alpha))
        beams = [o for o in options if o[0][-1] != end_id][:num_beams]
    done.sort(key=lambda o: o[1], reverse=True)
    return [s for s, _ in done[:num_beams]], [x for _, x in done[:num_beams]]

# %% wrong: stops as soon as num_beams are finished; log-probabilities as a matrix of beams and symbols
def beam_search(step, num_beams, max_len, end_id, alpha):
    prefixes, totals, ended = [[]], torch.zeros(1, dtype=torch.float64), {}
    for t in range(1, max_len + 1):
        table = torch.stack([step(list(p)).double() for p in prefixes]) + totals[:, None]
        V = table.shape[1]
        order = table.flatten().argsort(descending=True).tolist()
        flat = table.flatten()
        for place in order[:num_beams]:
            if place % V == end_id or t == max_len:
                ended[tuple(prefixes[place // V]) + (place % V,)] = float(flat[place]) / t**alpha
        go_on = [place for place in order if place % V != end_id][:num_beams]
        if len(ended) >= num_beams or not go_on:
            break
        prefixes = [prefixes[place // V] + [place % V] for place in go_on]
        totals = flat[go_on]
    best = sorted(ended.items(), key=lambda item: -item[1])[:num_beams]
    return [list(s) for s, _ in best], [x for _, x in best]

# %% wrong: compares the score that the best beam has now, over its present length, with the best finished score
def beam_search(step, num_beams, max_len, end_id, alpha):
    alive, ended = {(): 0.0}, {}
    for n in range(1, max_len + 1):
        grown = {(*s, i): p + new for s, p in alive.items() for i, new in enumerate(step(list(s)).tolist())}
        order = sorted(grown, key=grown.get, reverse=True)
        ended |= {s: grown[s] / n**alpha for s in order[:num_beams] if s[-1] == end_id or n == max_len}
        alive = {s: grown[s] for s in [s for s in order if s[-1] != end_id][:num_beams]}
        if not alive or (len(ended) >= num_beams and max(alive.values()) / n**alpha <= max(ended.values())):
            break
    best = sorted(ended, key=ended.get, reverse=True)[:num_beams]
    return [list(s) for s in best], [ended[s] for s in best]

# %% wrong: stops as soon as no beam can beat the best finished one, even if fewer than num_beams are finished
def beam_search(step, num_beams, max_len, end_id, alpha):
    alive, ended = {(): 0.0}, {}
    for n in range(1, max_len + 1):
        grown = {(*s, i): p + new for s, p in alive.items() for i, new in enumerate(step(list(s)).tolist())}
        order = sorted(grown, key=grown.get, reverse=True)
        ended |= {s: grown[s] / n**alpha for s in order[:num_beams] if s[-1] == end_id or n == max_len}
        alive = {s: grown[s] for s in [s for s in order if s[-1] != end_id][:num_beams]}
        if not alive or (ended and max(alive.values()) / max_len**alpha <= max(ended.values())):
            break
    best = sorted(ended, key=ended.get, reverse=True)[:num_beams]
    return [list(s) for s in best], [ended[s] for s in best]

# %% right: calls itself for each step, finds the best candidates with heapq, and asks of every beam whether it can still win
def beam_search(step, num_beams, max_len, end_id, alpha):
    def search(beams, finished, number):
        everything = [(log_p + new, (*s, v)) for log_p, s in beams for v, new in enumerate(step(list(s)).tolist())]
        best = heapq.nlargest(num_beams, everything)
        finished = finished + [(p / len(s) ** alpha, s) for p, s in best if number == max_len or s[-1] == end_id]
        going_on = heapq.nlargest(num_beams, (c for c in everything if c[1][-1] != end_id))
        leader = max(finished, default=(-math.inf, ()))[0]
        hope = any(p / max_len**alpha > leader for p, _ in going_on)
        if number == max_len or not going_on or (len(finished) >= num_beams and not hope):
            return finished
        return search(going_on, finished, number + 1)

    import heapq

    ranked = heapq.nlargest(num_beams, search([(0.0, ())], [], 1))
    return [list(s) for _, s in ranked], [score for score, _ in ranked]

# %% right: a table of beams and symbols, the best places by argsort; tells from the most optimistic of all longer lengths when to stop
def beam_search(step, num_beams, max_len, end_id, alpha):
    prefixes, totals, ended = [[]], torch.zeros(1, dtype=torch.float64), {}
    for t in range(1, max_len + 1):
        table = torch.stack([step(list(p)).double() for p in prefixes]) + totals[:, None]
        V, flat = table.shape[1], table.flatten()
        order = flat.argsort(descending=True).tolist()
        for place in order[:num_beams]:
            if place % V == end_id or t == max_len:
                ended[tuple(prefixes[place // V]) + (place % V,)] = float(flat[place]) / t**alpha
        go_on = [place for place in order if place % V != end_id][:num_beams]
        if not go_on:
            break
        hope = max(float(flat[go_on[0]]) / n**alpha for n in range(t, max_len + 1))
        if len(ended) >= num_beams and hope <= max(ended.values()):
            break
        prefixes = [prefixes[place // V] + [place % V] for place in go_on]
        totals = flat[go_on]
    best = sorted(ended.items(), key=lambda item: -item[1])[:num_beams]
    return [list(s) for s, _ in best], [x for _, x in best]
