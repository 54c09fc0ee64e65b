# %% setup
import torch
import torch.nn.functional as F

from course_utils.metrics import edit_distance

# %% wrong: always makes max_len steps, so the result has columns of padding after all rows have ended
def greedy_decode(step, state, start_id, end_id, pad_id, max_len):
    B = state.shape[0]
    tokens = torch.full((B,), start_id)
    done = torch.zeros(B, dtype=torch.bool)
    out = torch.full((B, max_len), pad_id)
    for t in range(max_len):
        scores, state = step(tokens, state)
        tokens = scores.argmax(dim=-1)
        out[:, t] = torch.where(done, out[:, t], tokens)
        done |= tokens == end_id
    return out

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

# %% wrong: makes all max_len steps, fills up behind the end symbols afterwards and drops every column that is all padding, also one where unfinished rows said pad_id
def greedy_decode(step, state, start_id, end_id, pad_id, max_len):
    tokens = torch.full((state.shape[0],), start_id)
    columns = []
    for _ in range(max_len):
        scores, state = step(tokens, state)
        tokens = scores.argmax(dim=-1)
        columns.append(tokens)
    symbols = torch.stack(columns, dim=1)
    is_end = (symbols == end_id).long()
    behind_end = is_end.cumsum(dim=1) - is_end > 0
    symbols = symbols.masked_fill(behind_end, pad_id)
    return symbols[:, (symbols != pad_id).any(dim=0)]

# %% wrong: no row is ever padded, and the loop stops early only if all rows say the end symbol in the same step
def greedy_decode(step, state, start_id, end_id, pad_id, max_len):
    tokens, output = torch.full((len(state),), start_id), []
    for _ in range(max_len):
        scores, state = step(tokens, state)
        tokens = scores.argmax(dim=-1)
        output.append(tokens)
        if (tokens == end_id).all():
            break
    return torch.stack(output, dim=1)

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

# %% right: keeps one Python list for each row and looks for the end symbol in the list
def greedy_decode(step, state, start_id, end_id, pad_id, max_len):
    rows = [[] for _ in range(state.shape[0])]
    tokens = torch.tensor([start_id] * len(rows))
    made = 0
    while made < max_len and not all(end_id in row for row in rows):
        scores, state = step(tokens, state)
        best = scores.max(dim=1).indices
        for row, symbol in zip(rows, best.tolist()):
            if end_id not in row:
                row.append(symbol)
        tokens, made = best, made + 1
    return torch.tensor([row + [pad_id] * (made - len(row)) for row in rows])

# %% setup
import torch

# %% wrong: keeps the start symbol in the result
def greedy_decode(step, state, start_id, end_id, pad_id, max_len):
    tokens = torch.full((len(state),), start_id)
    ended, out = torch.zeros(len(state), dtype=torch.bool), [tokens]
    for _ in range(max_len):
        scores, state = step(tokens, state)
        tokens = scores.argmax(-1).masked_fill(ended, pad_id)
        out.append(tokens)
        ended = ended | (tokens == end_id)
        if ended.all():
            break
    return torch.stack(out, dim=1)

# %% right: collects what all rows say and pads behind the first end symbol afterwards
def greedy_decode(step, state, start_id, end_id, pad_id, max_len):
    said = torch.full((len(state), 1), start_id)
    while said.shape[1] <= max_len:
        scores, state = step(said[:, -1], state)
        said = torch.cat([said, scores.argmax(-1, keepdim=True)], dim=1)
        if (said[:, 1:] == end_id).any(dim=1).all():
            break
    said = said[:, 1:]
    is_end = said.eq(end_id).long()
    return said.masked_fill(is_end.cumsum(1) - is_end > 0, pad_id)
