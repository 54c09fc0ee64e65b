# %% setup
import random

import torch

from course_utils import metrics, zoo
from course_utils.datasets.pronunciations import pronunciations
from course_utils.metrics import edit_distance
from course_utils.zoo.pronunciation import pronounce


# %% wrong: the length that divides the score does not count the end symbol
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
        if len(finished) >= num_beams or not beams:
            break
    ranked = sorted(((log_p / max(1, len(s) - (s[-1] == end_id)) ** alpha, s) for log_p, s in finished), key=lambda c: c[0], reverse=True)
    ranked = ranked[:num_beams]
    return [s for _, s in ranked], [score for score, _ in ranked]


# %% wrong: a finished candidate takes a beam's place: the next beams are only those of the num_beams best that do not end
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
        beams = [c for c in best if c[1][-1] != end_id]
        if len(finished) >= num_beams or not beams:
            break
    ranked = sorted(((log_p / len(s) ** alpha, s) for log_p, s in finished), key=lambda c: c[0], reverse=True)
    ranked = ranked[:num_beams]
    return [s for _, s in ranked], [score for score, _ in ranked]


# %% wrong: multiplies probabilities and takes the logarithm at the end, so with many small probabilities all products become 0
def beam_search(step, num_beams, max_len, end_id, alpha):
    beams, finished = [(1.0, [])], []  # (probability, symbols)
    for n in range(1, max_len + 1):
        candidates = []
        for p, prefix in beams:
            for symbol, more in enumerate(step(prefix).exp().tolist()):
                candidates.append((p * more, prefix + [symbol]))
        candidates.sort(key=lambda c: c[0], reverse=True)
        best = candidates[:num_beams]
        finished += best if n == max_len else [c for c in best if c[1][-1] == end_id]
        beams = [c for c in candidates if c[1][-1] != end_id][:num_beams]
        if len(finished) >= num_beams or not beams:
            break
    import math

    finished = [(math.log(p) if p > 0 else -math.inf, s) for p, s in finished]
    ranked = sorted(((log_p / len(s) ** alpha, s) for log_p, s in finished), key=lambda c: c[0], reverse=True)
    ranked = ranked[:num_beams]
    return [s for _, s in ranked], [score for score, _ in ranked]


# %% wrong: every beam proposes only its num_beams best symbols (topk), so a candidate that does not end is lost when the end symbol is among them, and with fewer symbols than beams topk raises an error
def beam_search(step, num_beams, max_len, end_id, alpha):
    beams, finished = [(0.0, [])], []  # (log-probability, symbols)
    for n in range(1, max_len + 1):
        candidates = []
        for log_p, prefix in beams:
            values, symbols = step(prefix).topk(num_beams)
            for more, symbol in zip(values.tolist(), symbols.tolist(), strict=True):
                candidates.append((log_p + more, prefix + [symbol]))
        candidates.sort(key=lambda c: c[0], reverse=True)
        best = candidates[:num_beams]
        finished += best if n == max_len else [c for c in best if c[1][-1] == end_id]
        beams = [c for c in candidates if c[1][-1] != end_id][:num_beams]
        if len(finished) >= num_beams or not beams:
            break
    ranked = sorted(((log_p / len(s) ** alpha, s) for log_p, s in finished), key=lambda c: c[0], reverse=True)
    ranked = ranked[:num_beams]
    return [s for _, s in ranked], [score for score, _ in ranked]


# %% wrong: at the last step only candidates that take the end symbol are kept, the unfinished beams are thrown away
def beam_search(step, num_beams, max_len, end_id, alpha):
    beams, finished = [(0.0, [])], []  # (log-probability, symbols)
    for n in range(1, max_len + 1):
        candidates = []
        for log_p, prefix in beams:
            for symbol, more in enumerate(step(prefix).tolist()):
                candidates.append((log_p + more, prefix + [symbol]))
        candidates.sort(key=lambda c: c[0], reverse=True)
        best = candidates[:num_beams]
        finished += [c for c in best if c[1][-1] == end_id]
        beams = [c for c in candidates if c[1][-1] != end_id][:num_beams]
        if len(finished) >= num_beams or not beams:
            break
    ranked = sorted(((log_p / len(s) ** alpha, s) for log_p, s in finished), key=lambda c: c[0], reverse=True)
    ranked = ranked[:num_beams]
    return [s for _, s in ranked], [score for score, _ in ranked]


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
        if len(finished) >= num_beams or not beams:
            break
    ranked = sorted(((log_p / len(s) ** alpha, s) for log_p, s in finished), key=lambda c: c[0], reverse=True)
    return [s for _, s in ranked], [score for score, _ in ranked]


# %% two mistakes: the score is multiplied by length to the power alpha instead of divided; and the finished are ranked from the lowest score to the highest
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
        if len(finished) >= num_beams or not beams:
            break
    ranked = sorted(((log_p * len(s) ** alpha, s) for log_p, s in finished), key=lambda c: c[0])
    ranked = ranked[:num_beams]
    return [s for _, s in ranked], [score for score, _ in ranked]


# %% right: one tensor of all candidates (beams x symbols), sorted flat in double precision
def beam_search(step, num_beams, max_len, end_id, alpha):
    prefixes, log_p = [[]], torch.zeros(1, dtype=torch.float64)
    finished = []
    for n in range(1, max_len + 1):
        table = torch.stack([step(list(prefix)).double() for prefix in prefixes]) + log_p[:, None]  # (beams, V)
        V = table.shape[1]
        values, order = table.flatten().sort(descending=True, stable=True)
        new_prefixes, new_log_p = [], []
        for rank, (value, place) in enumerate(zip(values.tolist(), order.tolist(), strict=True)):
            beam, symbol = divmod(place, V)
            sequence = [*prefixes[beam], symbol]
            if rank < num_beams and (symbol == end_id or n == max_len):
                finished.append((value / len(sequence) ** alpha, sequence))
            if symbol != end_id and len(new_prefixes) < num_beams:
                new_prefixes.append(sequence)
                new_log_p.append(value)
        prefixes, log_p = new_prefixes, torch.tensor(new_log_p, dtype=torch.float64)
        if len(finished) >= num_beams or not prefixes:
            break
    finished.sort(key=lambda pair: -pair[0])
    return [sequence for _, sequence in finished[:num_beams]], [score for score, _ in finished[:num_beams]]


# %% right: one step as a function of the beams, with heapq for the best
def beam_search(step, num_beams, max_len, end_id, alpha):
    import heapq

    def best(candidates):
        return heapq.nlargest(num_beams, candidates, key=lambda c: c[0])

    def extend(beams):
        return [(log_p + float(more), prefix + [symbol]) for log_p, prefix in beams for symbol, more in enumerate(step(prefix))]

    beams, finished, n = [(0.0, [])], [], 0
    while n < max_len and beams and len(finished) < num_beams:
        n += 1
        candidates = extend(beams)
        finished.extend(c for c in best(candidates) if n == max_len or c[1][-1] == end_id)
        beams = best(c for c in candidates if c[1][-1] != end_id)
    ranked = best((log_p * len(symbols) ** -alpha, symbols) for log_p, symbols in finished)
    return [symbols for _, symbols in ranked], [score for score, _ in ranked]


# %% right: a dictionary from sequences (as tuples) to log-probabilities, and the scores as they are in a second list
def beam_search(step, num_beams, max_len, end_id, alpha):
    beams, finished, steps = {(): 0.0}, {}, 0
    while beams and steps < max_len and len(finished) < num_beams:
        steps += 1
        candidates = {}
        for prefix, log_p in beams.items():
            following = step(list(prefix))
            for symbol in range(len(following)):
                candidates[(*prefix, symbol)] = log_p + following[symbol].item()
        order = sorted(candidates, key=candidates.get, reverse=True)
        for sequence in order[:num_beams]:
            if sequence[-1] == end_id or steps == max_len:
                finished[sequence] = candidates[sequence]
        going = [sequence for sequence in order if sequence[-1] != end_id]
        beams = {sequence: candidates[sequence] for sequence in going[:num_beams]}
    scores = {sequence: log_p / len(sequence) ** alpha for sequence, log_p in finished.items()}
    best = sorted(scores, key=scores.get, reverse=True)[:num_beams]
    return [list(sequence) for sequence in best], [scores[sequence] for sequence in best]


# %% wrong: named in the review: multiplies probabilities, the logarithm comes at the end
import math

def beam_search(step, num_beams, max_len, end_id, alpha):
    beams, finished = [([], 1.0)], []
    for n in range(1, max_len + 1):
        candidates = []
        for prefix, log_p in beams:
            for symbol, new in enumerate(step(prefix).tolist()):
                candidates.append((prefix + [symbol], log_p * math.exp(new)))
        candidates.sort(key=lambda c: c[1], reverse=True)
        best = candidates[:num_beams]
        finished += [c for c in best if c[0][-1] == end_id or n == max_len]
        beams = [c for c in candidates if c[0][-1] != end_id][:num_beams]
        if len(finished) >= num_beams:
            break
    ranked = sorted((((math.log(p) if p > 0 else float("-inf")) / len(s) ** alpha, s) for s, p in finished), key=lambda r: -r[0])[:num_beams]
    return [s for _, s in ranked], [score for score, _ in ranked]


# %% wrong: named in the review: multiplies probabilities and ranks by the probability divided by length ** alpha
import math

def beam_search(step, num_beams, max_len, end_id, alpha):
    beams, finished = [([], 1.0)], []
    for n in range(1, max_len + 1):
        candidates = []
        for prefix, log_p in beams:
            for symbol, new in enumerate(step(prefix).tolist()):
                candidates.append((prefix + [symbol], log_p * math.exp(new)))
        candidates.sort(key=lambda c: c[1], reverse=True)
        best = candidates[:num_beams]
        finished += [c for c in best if c[0][-1] == end_id or n == max_len]
        beams = [c for c in candidates if c[0][-1] != end_id][:num_beams]
        if len(finished) >= num_beams:
            break
    ranked = sorted(((p / len(s) ** alpha, s) for s, p in finished), key=lambda r: -r[0])[:num_beams]
    return [s for _, s in ranked], [score for score, _ in ranked]


# %% wrong: named in the review: finished sequences stay among the beams and are extended beyond the end symbol
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
        if len(finished) >= num_beams:
            break
    ranked = sorted(((p / len(s) ** alpha, s) for s, p in finished), key=lambda r: -r[0])[:num_beams]
    return [s for _, s in ranked], [score for score, _ in ranked]


# %% wrong: named in the review: finished sequences stay among the beams with their log-probability, not extended
def beam_search(step, num_beams, max_len, end_id, alpha):
    beams, finished = [([], 0.0)], []
    for n in range(1, max_len + 1):
        candidates = []
        for prefix, log_p in beams:
            if prefix and prefix[-1] == end_id:
                candidates.append((prefix, log_p))
                continue
            for symbol, new in enumerate(step(prefix).tolist()):
                candidates.append((prefix + [symbol], log_p + new))
        candidates.sort(key=lambda c: c[1], reverse=True)
        best = candidates[:num_beams]
        finished = [c for c in best if c[0][-1] == end_id or n == max_len]
        beams = best
        if len(finished) >= num_beams:
            break
    ranked = sorted(((p / len(s) ** alpha, s) for s, p in finished), key=lambda r: -r[0])[:num_beams]
    return [s for _, s in ranked], [score for score, _ in ranked]


# %% wrong: named in the review: one list is shared by all candidates of a beam
def beam_search(step, num_beams, max_len, end_id, alpha):
    beams, finished = [([], 0.0)], []
    for n in range(1, max_len + 1):
        candidates = []
        for prefix, log_p in beams:
            for symbol, new in enumerate(step(prefix).tolist()):
                prefix.append(symbol)
                candidates.append((prefix, log_p + new))
        candidates.sort(key=lambda c: c[1], reverse=True)
        best = candidates[:num_beams]
        finished += [c for c in best if c[0][-1] == end_id or n == max_len]
        beams = [c for c in candidates if c[0][-1] != end_id][:num_beams]
        if len(finished) >= num_beams:
            break
    ranked = sorted(((p / len(s) ** alpha, s) for s, p in finished), key=lambda r: -r[0])[:num_beams]
    return [s for _, s in ranked], [score for score, _ in ranked]


# %% wrong: named in the review: the prefix of a beam is shared: the last symbol is changed in place
def beam_search(step, num_beams, max_len, end_id, alpha):
    beams, finished = [([], 0.0)], []
    for n in range(1, max_len + 1):
        candidates = []
        for prefix, log_p in beams:
            longer = prefix + [0]
            for symbol, new in enumerate(step(prefix).tolist()):
                longer[-1] = symbol
                candidates.append((longer, log_p + new))
        candidates.sort(key=lambda c: c[1], reverse=True)
        best = candidates[:num_beams]
        finished += [c for c in best if c[0][-1] == end_id or n == max_len]
        beams = [c for c in candidates if c[0][-1] != end_id][:num_beams]
        if len(finished) >= num_beams:
            break
    ranked = sorted(((p / len(s) ** alpha, s) for s, p in finished), key=lambda r: -r[0])[:num_beams]
    return [s for _, s in ranked], [score for score, _ in ranked]


# %% wrong: named in the review: fewer beams after each finish
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
        beams = [c for c in candidates if c[0][-1] != end_id][: num_beams - len(finished)]
        if len(finished) >= num_beams:
            break
    ranked = sorted(((p / len(s) ** alpha, s) for s, p in finished), key=lambda r: -r[0])[:num_beams]
    return [s for _, s in ranked], [score for score, _ in ranked]


# %% wrong: named in the review: the score is log_p / length * alpha
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
        if len(finished) >= num_beams:
            break
    ranked = sorted(((p / len(s) * alpha, s) for s, p in finished), key=lambda r: -r[0])[:num_beams]
    return [s for _, s in ranked], [score for score, _ in ranked]


# %% wrong: named in the review: the score is log_p / (length * alpha)
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
        if len(finished) >= num_beams:
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
        if len(finished) >= num_beams:
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
        if len(finished) >= num_beams:
            break
    finished = sorted(finished, reverse=True)[:num_beams]
    return [s[:-1] for _, s in finished], [t for t, _ in finished]
