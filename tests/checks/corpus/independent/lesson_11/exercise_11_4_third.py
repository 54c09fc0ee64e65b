# %% setup
import torch


# %% wrong: lets every head of every layer vote for its letter and takes the most frequent vote, instead of the largest mean
def letters_of(weights):
    votes = weights[:, :, :-1].argmax(dim=-1)  # (layers, heads, L_t - 1)
    return votes.flatten(0, 1).mode(dim=0).values


# %% wrong: leaves out the last letter too, as if the last column were an end symbol
def letters_of(weights):
    return weights.mean(dim=(0, 1))[:-1, :-1].argmax(dim=-1)


# %% wrong: never goes back: a sound whose letter stands before that of an earlier sound gets the earlier sound's letter
def letters_of(weights):
    letters = weights.mean(dim=(0, 1)).argmax(dim=-1)[:-1]
    return letters.cummax(dim=0).values if len(letters) else letters


# %% wrong: takes the mean over the heads but the largest over the layers
def letters_of(weights):
    return weights.mean(dim=1).amax(dim=0)[:-1].argmax(dim=-1)


# %% two mistakes: takes the last layer alone; and leaves out the first row instead of the last
def letters_of(weights):
    return weights[-1].mean(dim=0)[1:].argmax(dim=-1)


# %% right: an einsum adds up layers and heads, a stable sort puts the heaviest letter first
def letters_of(weights):
    total = torch.einsum("lhts->ts", weights)
    return total.narrow(0, 0, total.shape[0] - 1).sort(dim=-1, descending=True, stable=True).indices[:, 0]


# %% right: adds up and compares number by number in Python
def letters_of(weights):
    table = weights.tolist()
    letters = []
    for t in range(weights.shape[2] - 1):
        sums = [sum(head[t][s] for layer in table for head in layer) for s in range(weights.shape[3])]
        letters.append(max(range(len(sums)), key=sums.__getitem__))
    return torch.tensor(letters, dtype=torch.long)
