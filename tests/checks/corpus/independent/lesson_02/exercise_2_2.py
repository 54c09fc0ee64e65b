# %% setup
import torch

# %% wrong: multiplies the scores by the temperature instead of dividing
def with_temperature(scores, temperature):
    weights = torch.softmax(scores * temperature, dim=-1)
    entropy = torch.special.entr(weights).sum(dim=-1)
    return weights, entropy

# %% wrong: takes the plain logarithm of the weights, so a weight of exactly 0 makes the entropy NaN
def with_temperature(scores, temperature):
    weights = torch.softmax(scores / temperature, dim=-1)
    return weights, -(weights * weights.log()).sum(dim=-1)

# %% wrong: replaces NaN by 0 only after the sum, so a row with one weight of exactly 0 has the entropy 0 as a whole
def with_temperature(scores, temperature):
    weights = torch.softmax(scores / temperature, dim=-1)
    entropy = -(weights * torch.log(weights)).sum(dim=-1)
    return weights, torch.nan_to_num(entropy)

# %% wrong: computes the entropy of the weights without the temperature, right only for temperature 1
def with_temperature(scores, temperature):
    weights = torch.softmax(scores / temperature, dim=-1)
    plain = torch.softmax(scores, dim=-1)
    return weights, -torch.xlogy(plain, plain).sum(dim=-1)

# %% wrong: returns the entropy with shape (L_q, 1) instead of (L_q,)
def with_temperature(scores, temperature):
    weights = torch.softmax(scores / temperature, dim=-1)
    entropy = -torch.xlogy(weights, weights).sum(dim=-1, keepdim=True)
    return weights, entropy

# %% wrong: takes the softmax first and divides the weights by the temperature, so they no longer sum to 1
def with_temperature(scores, temperature):
    weights = torch.softmax(scores, dim=-1) / temperature
    entropy = -torch.xlogy(weights, weights).sum(dim=-1)
    return weights, entropy

# %% two mistakes: takes the softmax over the queries (dim=0) instead of the last dimension; and uses the logarithm to base 2 in the entropy
def with_temperature(scores, temperature):
    weights = torch.softmax(scores / temperature, dim=0)
    logs = torch.where(weights > 0, weights, torch.ones_like(weights)).log2()
    return weights, -(weights * logs).sum(dim=-1)

# %% right: lets a Categorical distribution compute both
def with_temperature(scores, temperature):
    distribution = torch.distributions.Categorical(logits=scores / temperature)
    return distribution.probs, distribution.entropy()

# %% right: loops over the rows and adds up only over the positive weights
def with_temperature(scores, temperature):
    weights = torch.softmax(scores / temperature, dim=1)
    entropy = []
    for row in weights:
        positive = row[row > 0]
        entropy.append(-torch.dot(positive, torch.log(positive)))
    return weights, torch.stack(entropy)

# %% right: gets the logarithms from log_softmax, the weights as their exponentials, and returns a list
def with_temperature(scores, temperature):
    logs = torch.log_softmax(scores / temperature, dim=-1)
    weights = logs.exp()
    safe = logs.masked_fill(weights == 0, 0.0)
    return [weights, -torch.einsum("ij,ij->i", weights, safe)]
