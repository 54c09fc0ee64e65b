# %% setup
import torch
import torch.nn.functional as F

from course_utils.metrics import edit_distance

# %% wrong: a row that says pad_id is taken to have ended, though only end_id ends a row
def greedy_decode(step, state, start_id, end_id, pad_id, max_len):
    tokens = torch.full((state.shape[0],), start_id, dtype=torch.long)
    ended = torch.zeros(state.shape[0], dtype=torch.bool)
    result = []
    for _ in range(max_len):
        scores, state = step(tokens, state)
        tokens = scores.argmax(dim=-1).masked_fill(ended, pad_id)
        result.append(tokens)
        ended = (tokens == end_id) | (tokens == pad_id)
        if ended.all():
            break
    return torch.stack(result, dim=1)

# %% wrong: it stops only if all rows say the end symbol at the very same step, so rows that end at different steps run on to max_len with columns of padding
def greedy_decode(step, state, start_id, end_id, pad_id, max_len):
    tokens = torch.full((state.shape[0],), start_id, dtype=torch.long)
    ended = torch.zeros(state.shape[0], dtype=torch.bool)
    result = []
    for _ in range(max_len):
        scores, state = step(tokens, state)
        tokens = torch.where(ended, torch.full_like(tokens, pad_id), scores.argmax(dim=-1))
        ended = ended | (tokens == end_id)
        result.append(tokens)
        if (tokens == end_id).all():
            break
    return torch.stack(result, dim=1)

# %% wrong: makes at most max_len - 1 steps, because the start symbol is counted as one of the max_len
def greedy_decode(step, state, start_id, end_id, pad_id, max_len):
    tokens = torch.full((state.shape[0],), start_id, dtype=torch.long)
    ended = torch.zeros(state.shape[0], dtype=torch.bool)
    result = [tokens]
    while len(result) < max_len and not ended.all():
        scores, state = step(tokens, state)
        tokens = scores.argmax(dim=-1).masked_fill(ended, pad_id)
        ended = ended | (tokens == end_id)
        result.append(tokens)
    return torch.stack(result, dim=1)[:, 1:]

# %% wrong: the next state is thrown away, so every step starts from the first state
def greedy_decode(step, state, start_id, end_id, pad_id, max_len):
    tokens = torch.full((state.shape[0],), start_id, dtype=torch.long)
    ended = torch.zeros(state.shape[0], dtype=torch.bool)
    result = []
    for _ in range(max_len):
        scores, _next = step(tokens, state)
        tokens = scores.argmax(dim=-1).masked_fill(ended, pad_id)
        ended = ended | (tokens == end_id)
        result.append(tokens)
        if ended.all():
            break
    return torch.stack(result, dim=1)

# %% two mistakes: it stops as soon as any row has ended; and the start symbol is part of the result
def greedy_decode(step, state, start_id, end_id, pad_id, max_len):
    tokens = torch.full((state.shape[0],), start_id, dtype=torch.long)
    result = [tokens]
    for _ in range(max_len):
        scores, state = step(tokens, state)
        tokens = scores.argmax(dim=-1)
        result.append(tokens)
        if (tokens == end_id).any():
            break
    return torch.stack(result, dim=1)

# %% right: Python lists, one a row, padded at the end to the longest
def greedy_decode(step, state, start_id, end_id, pad_id, max_len):
    rows = [[] for _ in range(len(state))]
    tokens = torch.tensor([start_id] * len(rows))
    for _ in range(max_len):
        scores, state = step(tokens, state)
        tokens = scores.max(dim=1).indices
        for row, token in zip(rows, tokens.tolist()):
            if not row or row[-1] != end_id:
                row.append(token)
        if all(row[-1] == end_id for row in rows):
            break
    longest = max(len(row) for row in rows)
    return torch.tensor([row + [pad_id] * (longest - len(row)) for row in rows])

# %% right: the raw symbols are kept and cut back afterwards, by counting the end symbols before each position
def greedy_decode(step, state, start_id, end_id, pad_id, max_len):
    tokens = torch.full((state.size(0),), start_id)
    raw = torch.empty(state.size(0), 0, dtype=torch.long)
    while raw.size(1) < max_len:
        scores, state = step(tokens, state)
        tokens = scores.topk(1, dim=-1).indices[:, 0]
        raw = torch.cat((raw, tokens[:, None]), dim=1)
        if bool((raw == end_id).any(dim=1).all()):
            break
    is_end = (raw == end_id).long()
    before = is_end.cumsum(dim=1) - is_end
    return raw.masked_fill(before > 0, pad_id)
