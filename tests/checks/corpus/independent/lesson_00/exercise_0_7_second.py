# %% setup
import torch

# %% wrong: averages over the batch axis instead of the positions and returns (L, d)
def sentence_means(states):
    return states.mean(dim=1)

# %% wrong: adds up into a view of the first position, so the caller's states are changed
def sentence_means(states):
    total = states[0]
    for t in range(1, states.shape[0]):
        total += states[t]
    return total / states.shape[0]

# %% wrong: the sum over the positions is divided by the batch size instead of the length, right only if L == B
def sentence_means(states):
    batch_first = states.transpose(0, 1)
    return batch_first.sum(dim=1) / len(states[0])

# %% wrong: the result is squeezed, so a batch of 1 or a size of 1 loses its axis
def sentence_means(states):
    return states.permute(1, 0, 2).mean(dim=1).squeeze()

# %% two mistakes: the loop leaves out the last position; and the running total is a float32 buffer, so float64 comes back as float32
def sentence_means(states):
    length, batch, size = states.shape
    total = torch.zeros(batch, size)
    for t in range(length - 1):
        total = total + states[t].float()
    return total / length

# %% right: a sum by einsum, divided by the length
def sentence_means(states):
    return torch.einsum("lbd->bd", states) / states.shape[0]

# %% right: sentence by sentence, each as its own (L, d) matrix, stacked
def sentence_means(states):
    return torch.stack([sentence.mean(0) for sentence in states.unbind(dim=1)], dim=0)
