# %% setup
import math

import torch


# %% wrong: stops as soon as one sequence is finished
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
        if done:
            break
    done.sort(key=lambda o: o[1], reverse=True)
    return [s for s, _ in done[:num_beams]], [x for _, x in done[:num_beams]]


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


# %% wrong: the candidates are ranked by their score, divided by the length, during the search too (all have one length, so the order is kept), and the division comes a second time at the end
def beam_search(step, num_beams, max_len, end_id, alpha):
    beams, done = [([], 0.0)], []
    for t in range(1, max_len + 1):
        options = []
        for seq, lp in beams:
            options += [(seq + [i], (lp + p) / t**alpha) for i, p in enumerate(step(seq).tolist())]
        options.sort(key=lambda o: o[1], reverse=True)
        for seq, lp in options[:num_beams]:
            if seq[-1] == end_id or t == max_len:
                done.append((seq, lp / len(seq) ** alpha))
        beams = [o for o in options if o[0][-1] != end_id][:num_beams]
        if len(done) >= num_beams:
            break
    done.sort(key=lambda o: o[1], reverse=True)
    return [s for s, _ in done[:num_beams]], [x for _, x in done[:num_beams]]


# %% wrong: the sequences come without their end symbol
def beam_search(step, num_beams, max_len, end_id, alpha):
    beams, done = [([], 0.0)], []
    for t in range(1, max_len + 1):
        options = []
        for seq, lp in beams:
            options += [(seq + [i], lp + p) for i, p in enumerate(step(seq).tolist())]
        options.sort(key=lambda o: o[1], reverse=True)
        for seq, lp in options[:num_beams]:
            if seq[-1] == end_id:
                done.append((seq[:-1], lp / t**alpha))
            elif t == max_len:
                done.append((seq, lp / t**alpha))
        beams = [o for o in options if o[0][-1] != end_id][:num_beams]
        if len(done) >= num_beams:
            break
    done.sort(key=lambda o: o[1], reverse=True)
    return [s for s, _ in done[:num_beams]], [x for _, x in done[:num_beams]]


# %% right: log-probabilities as a matrix of beams and symbols, the best places by a full argsort, scores in a zip
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
