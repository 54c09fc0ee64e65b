# %% setup
import heapq
import math
import random

import torch


# %% wrong: extends each beam only by its num_beams best symbols, so where the end symbol is one of them a candidate for the next beams is missing
def beam_search(step, num_beams, max_len, end_id, alpha):
    beams, finished = [(0.0, [])], []
    for number in range(1, max_len + 1):
        candidates = []
        for log_p, sequence in beams:
            values, symbols = step(sequence).topk(min(num_beams, len(step(sequence))))
            for value, symbol in zip(values.tolist(), symbols.tolist(), strict=True):
                candidates.append((log_p + value, [*sequence, symbol]))
        candidates.sort(reverse=True)
        best = candidates[:num_beams]
        finished += best if number == max_len else [c for c in best if c[1][-1] == end_id]
        beams = [c for c in candidates if c[1][-1] != end_id][:num_beams]
        if len(finished) >= num_beams or not beams:
            break
    scored = sorted(((log_p / len(s) ** alpha, s) for log_p, s in finished), reverse=True)[:num_beams]
    return [s for _, s in scored], [score for score, _ in scored]


# %% wrong: keeps the num_beams that were finished first and ranks only those, so a better one of the last step may be thrown away
def beam_search(step, num_beams, max_len, end_id, alpha):
    beams, finished = [(0.0, [])], []
    for number in range(1, max_len + 1):
        candidates = [(log_p + new, [*s, v]) for log_p, s in beams for v, new in enumerate(step(s).tolist())]
        candidates.sort(reverse=True)
        for log_p, s in candidates[:num_beams]:
            if s[-1] == end_id or number == max_len:
                finished.append((log_p, s))
        beams = [c for c in candidates if c[1][-1] != end_id][:num_beams]
        if len(finished) >= num_beams or not beams:
            break
    scored = [(log_p / len(s) ** alpha, s) for log_p, s in finished[:num_beams]]
    scored.sort(reverse=True)
    return [s for _, s in scored], [score for score, _ in scored]


# %% wrong: at the last step adds the beams without an end symbol that would go on, also those that are not among the num_beams best candidates
def beam_search(step, num_beams, max_len, end_id, alpha):
    beams, finished = [(0.0, [])], []
    for _ in range(max_len):
        candidates = [(log_p + new, [*s, v]) for log_p, s in beams for v, new in enumerate(step(s).tolist())]
        candidates.sort(reverse=True)
        finished += [c for c in candidates[:num_beams] if c[1][-1] == end_id]
        beams = [c for c in candidates if c[1][-1] != end_id][:num_beams]
        if len(finished) >= num_beams or not beams:
            break
    else:
        finished += beams
    scored = sorted(((log_p / len(s) ** alpha, s) for log_p, s in finished), reverse=True)[:num_beams]
    return [s for _, s in scored], [score for score, _ in scored]


# %% wrong: does not count the end symbol in the length by which the log-probability is divided
def beam_search(step, num_beams, max_len, end_id, alpha):
    def score(candidate):
        log_p, sequence = candidate
        length = len(sequence) - 1 if sequence[-1] == end_id else len(sequence)
        return log_p / max(length, 1) ** alpha

    beams, finished = [(0.0, [])], []
    for number in range(1, max_len + 1):
        candidates = [(log_p + new, [*s, v]) for log_p, s in beams for v, new in enumerate(step(s).tolist())]
        candidates.sort(reverse=True)
        finished += [c for c in candidates[:num_beams] if c[1][-1] == end_id or number == max_len]
        beams = [c for c in candidates if c[1][-1] != end_id][:num_beams]
        if len(finished) >= num_beams or not beams:
            break
    best = sorted(finished, key=score, reverse=True)[:num_beams]
    return [s for _, s in best], [score(c) for c in best]


# %% right: one table of sums for all beams and symbols, sorted flat; beams and symbols come out of the flat place by division
def beam_search(step, num_beams, max_len, end_id, alpha):
    prefixes, sums = [[]], torch.zeros(1, dtype=torch.float64)
    done, done_sums = [], []
    for left in reversed(range(max_len)):
        table = torch.stack([step(list(p)).double() for p in prefixes]) + sums[:, None]  # (beams, V)
        V = table.shape[1]
        values, places = table.flatten().sort(descending=True)
        beams, symbols = places // V, places % V
        ends = symbols == end_id
        taken = torch.arange(len(places)) < num_beams
        if left:
            taken = taken & ends
        for i in taken.nonzero().flatten().tolist():
            done.append([*prefixes[int(beams[i])], int(symbols[i])])
            done_sums.append(values[i].item())
        if len(done) >= num_beams:
            break
        on = (~ends).nonzero().flatten()[:num_beams]
        if len(on) == 0:
            break
        prefixes = [[*prefixes[int(beams[i])], int(symbols[i])] for i in on]
        sums = values[on]
    lengths = torch.tensor([len(s) for s in done], dtype=torch.float64)
    scores, order = (torch.tensor(done_sums, dtype=torch.float64) / lengths**alpha).sort(descending=True)
    return [done[i] for i in order[:num_beams].tolist()], scores[:num_beams].tolist()


# %% right: calls itself for each step and finds the best candidates with heapq instead of sorting them all
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
