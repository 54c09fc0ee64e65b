# %% setup
import torch


# %% wrong: rolls the ids after the last one was cut off, so the last target of each sentence is its first token
def inputs_and_targets(ids):
    inputs = ids[:, :-1]
    return inputs, inputs.roll(-1, dims=1)


# %% wrong: takes len(ids) for the length of the sentences, which is the number of sentences, and so cuts at the wrong place unless B equals L
def inputs_and_targets(ids):
    length = len(ids)
    return ids[:, : length - 1], ids[:, 1:length]


# %% wrong: lays all sentences end to end and cuts B pieces of L-1 tokens, so from the second row on the rows begin in another sentence
def inputs_and_targets(ids):
    B, L = ids.shape
    stream = ids.flatten()
    n = B * (L - 1)
    return stream[:n].view(B, L - 1), stream[1 : n + 1].view(B, L - 1)


# %% wrong: gives only the very last token of each sentence as target, which is enough only for sentences of two tokens
def inputs_and_targets(ids):
    return ids[:, :-1], ids[:, -1:]


# %% right: slides a window of two tokens over the sentences and takes the window apart
def inputs_and_targets(ids):
    inputs, targets = ids.unfold(1, 2, 1).unbind(dim=-1)
    return inputs, targets


# %% right: picks the columns by their numbers, 0 to L-2 and each plus one
def inputs_and_targets(ids):
    columns = torch.arange(ids.shape[1] - 1, device=ids.device)
    return ids.index_select(1, columns), ids.index_select(1, columns + 1)
