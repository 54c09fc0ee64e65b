# %% setup
import torch

# %% wrong: the finished weights are divided by the temperature and renormalized, so the temperature cancels
def with_temperature(scores, temperature):
    weights = torch.softmax(scores, dim=-1) / temperature
    weights = weights / weights.sum(dim=-1, keepdim=True)
    logs = weights.clamp(min=1e-30).log()
    return weights, -(weights * logs).sum(dim=-1)

# %% right: the zero weights are masked only after the logarithm, so the values are right but the gradient of the entropy is NaN where a weight is 0 (the statement leaves that gradient out)
def with_temperature(scores, temperature):
    weights = torch.softmax(scores / temperature, dim=-1)
    terms = torch.where(weights > 0, weights * weights.log(), torch.zeros_like(weights))
    return weights, -terms.sum(dim=-1)

# %% wrong: the entropy is taken with the logarithm to base 2
def with_temperature(scores, temperature):
    weights = torch.softmax(scores / temperature, dim=-1)
    logs = torch.log2(weights.clamp(min=1e-30))
    return weights, -(weights * logs).sum(dim=-1)

# %% wrong: the entropy is computed from detached weights, so no gradient flows through it
def with_temperature(scores, temperature):
    weights = torch.softmax(scores / temperature, dim=-1)
    w = weights.detach().clamp(min=1e-30)
    return weights, -(w * w.log()).sum(dim=-1)

# %% right: the logarithm comes from log_softmax, the weights from its exponential
def with_temperature(scores, temperature):
    log_weights = torch.log_softmax(scores / temperature, dim=-1)
    weights = log_weights.exp()
    return weights, -(weights * log_weights).sum(dim=-1)

# %% right: H = ln Z - sum of w times the shifted score, so no logarithm of a weight is needed
def with_temperature(scores, temperature):
    z = (scores - scores.amax(dim=-1, keepdim=True)) / temperature
    exp = z.exp()
    total = exp.sum(dim=-1, keepdim=True)
    weights = exp / total
    entropy = total.squeeze(-1).log() - torch.einsum("qk,qk->q", weights, z)
    return weights, entropy
