# %% setup
import torch
import torch.nn.functional as F

# %% wrong: takes the ids to be numbered from 1, so every row is the one before the asked one
def embed(table, ids):
    return table[ids - 1]

# %% wrong: the one-hot vectors get as many classes as the largest id in the batch needs, not V, so it fails unless id V-1 occurs
def embed(table, ids):
    hot = F.one_hot(ids).to(table.dtype)
    return hot @ table

# %% right: the one-hot vectors are float32, so a float64 table gives a dtype error (32-bit floats are all that the lesson has)
def embed(table, ids):
    hot = F.one_hot(ids, num_classes=table.shape[0]).float()
    return torch.matmul(hot, table)

# %% wrong: only the ids of the first sentence are looked up and repeated for all, right only for a batch of 1
def embed(table, ids):
    B, L = ids.shape
    rows = torch.stack([table[i] for i in ids[0]])
    return rows.unsqueeze(0).expand(B, L, table.shape[1])

# %% two mistakes: the looked up rows are reshaped to (L, B, d), scrambling the sentences; and the result is forced to float32
def embed(table, ids):
    B, L = ids.shape
    rows = table[ids.reshape(-1)]
    return rows.reshape(L, B, -1).float()

# %% right: gather along the rows of an expanded table
def embed(table, ids):
    B, L = ids.shape
    V, d = table.shape
    index = ids.long().unsqueeze(-1).expand(B, L, d)
    return table.unsqueeze(0).expand(B, V, d).gather(1, index)

# %% right: a double loop with stacks, sentence by sentence and token by token
def embed(table, ids):
    return torch.stack([torch.stack([table[i] for i in sentence.tolist()]) for sentence in ids])
