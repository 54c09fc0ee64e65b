# %% setup
import torch


# %% wrong: starts the total with the view states[0] and adds to it in place, so the averages are right but the argument is changed
def sentence_means(states):
    total = states[0]
    for t in range(1, len(states)):
        total += states[t]
    return total / len(states)


# %% wrong: moves the positions to the last axis but then reshapes to (B, L, d), which is right only for d = 1 as in the printed example
def sentence_means(states):
    length, batch, size = states.shape
    batch_first = states.permute(1, 2, 0).reshape(batch, length, size)
    return batch_first.mean(dim=1)


# %% wrong: adds over the positions but divides by the number of sentences
def sentence_means(states):
    return states.sum(dim=0) / states.shape[1]


# %% wrong: keeps a running average by halving at every step, so later positions weigh more
def sentence_means(states):
    average = states[0].clone()
    for state in states[1:]:
        average = (average + state) / 2
    return average


# %% two mistakes: averages over the sentences instead of the positions; and keeps the averaged axis, so it gives (L, 1, d)
def sentence_means(states):
    return states.mean(dim=1, keepdim=True)


# %% right: sums over the positions by einsum and divides by their number
def sentence_means(states):
    return torch.einsum("lbd->bd", states) / states.shape[0]


# %% right: pools over the positions, which stand last, down to one
def sentence_means(states):
    return torch.nn.functional.adaptive_avg_pool1d(states.permute(1, 2, 0), 1).squeeze(-1)
