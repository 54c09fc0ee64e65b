# %% setup
import torch

# %% wrong: averages over the batch axis (dim=1), which gives (L, d): one average for each position
def sentence_means(states):
    return states.mean(dim=1)

# %% wrong: divides the sum over the positions by the number of sentences instead of the number of positions, right only when B equals L
def sentence_means(states):
    L, B, d = states.shape
    return states.sum(dim=0) / B

# %% wrong: still brings the batch to the front by a reshape to (B, L, d) and not by a transpose, so the sentences are mixed
def sentence_means(states):
    L, B, d = states.shape
    return states.view(-1).view(B, L, d).sum(dim=1) / L

# %% wrong: takes the mean of the running mean and the new state at each step, so later positions weigh more (right for L = 1 and 2 only)
def sentence_means(states):
    mean = states[0]
    for t in range(1, states.shape[0]):
        mean = (mean + states[t]) / 2
    return mean

# %% wrong: counts states that are all zero as padding and leaves them out of the average
def sentence_means(states):
    real = (states != 0).any(dim=-1, keepdim=True)
    count = real.sum(dim=0).clamp(min=1)
    return states.sum(dim=0) / count

# %% wrong: squeezes the result, so the batch axis is lost for one sentence, or the last axis for d = 1
def sentence_means(states):
    return states.transpose(0, 1).mean(dim=1).squeeze()

# %% two mistakes: brings the batch to the front by a reshape, which mixes the sentences; and sums over the positions without dividing
def sentence_means(states):
    L, B, d = states.shape
    return states.reshape(B, L, d).sum(dim=1)

# %% right: sums over the positions by einsum and divides by their number
def sentence_means(states):
    return torch.einsum("lbd->bd", states) / len(states)

# %% right: goes through the sentences one by one, takes the average of each and stacks them
def sentence_means(states):
    return torch.stack([sentence.mean(dim=0) for sentence in states.unbind(dim=1)], dim=0)

# %% right: turns the positions into the last axis and uses average pooling over the whole of it
def sentence_means(states):
    pooled = torch.nn.functional.adaptive_avg_pool1d(states.permute(1, 2, 0), 1)
    return pooled.squeeze(-1)
