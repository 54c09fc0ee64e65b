# %% setup
import math

import torch


# %% wrong: replaces NaN by 0 only after the sum, so a row with a weight of exactly 0 has entropy 0 even if the others are spread
def with_temperature(scores, temperature):
    weights = torch.softmax(scores / temperature, dim=-1)
    entropy = -(weights * weights.log()).sum(dim=-1)
    return weights, entropy.nan_to_num(0.0)


# %% wrong: computes the entropy as logsumexp minus the mean score but forgets to divide these mean scores by the temperature, which is right only for temperature 1
def with_temperature(scores, temperature):
    scaled = scores / temperature
    weights = torch.softmax(scaled, dim=-1)
    entropy = torch.logsumexp(scaled, dim=-1) - (weights * scores).sum(dim=-1)
    return weights, entropy


# %% wrong: adds up the entropy in Python numbers, so the numbers are right but no gradient flows through it
def with_temperature(scores, temperature):
    weights = torch.softmax(scores / temperature, dim=-1)
    entropy = []
    for row in weights.tolist():
        entropy.append(-sum(p * math.log(p) for p in row if p > 0))
    return weights, torch.tensor(entropy, dtype=scores.dtype)


# %% wrong: divides the scores by the temperature in place, so the argument is changed
def with_temperature(scores, temperature):
    scores /= temperature
    weights = torch.softmax(scores, dim=-1)
    return weights, torch.special.entr(weights).sum(dim=-1)


# %% right: multiplies the weights by the finite log_softmax, so no logarithm of 0 arises
def with_temperature(scores, temperature):
    log_weights = torch.log_softmax(scores / temperature, dim=-1)
    weights = log_weights.exp()
    return weights, -torch.einsum("qk,qk->q", weights, log_weights)


# %% right: row by row, the entropy over the weights above 0 only
def with_temperature(scores, temperature):
    weights, entropy = [], []
    for row in scores:
        w = (row / temperature).softmax(dim=0)
        positive = w[w > 0]
        weights.append(w)
        entropy.append(-torch.dot(positive, positive.log()))
    return torch.stack(weights), torch.stack(entropy)
