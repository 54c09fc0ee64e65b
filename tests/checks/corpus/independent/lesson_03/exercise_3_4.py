# %% setup
import torch
import torch.nn.functional as F

from course_utils.metrics import edit_distance

# %% wrong: stops as soon as any row has ended instead of when all have
def greedy_decode(step, state, start_id, end_id, pad_id, max_len):
    tokens = torch.full((state.shape[0],), start_id)
    done = torch.zeros(state.shape[0], dtype=torch.bool)
    out = []
    for _ in range(max_len):
        scores, state = step(tokens, state)
        tokens = scores.argmax(dim=-1).masked_fill(done, pad_id)
        out.append(tokens)
        done = done | (tokens == end_id)
        if done.any():
            break
    return torch.stack(out, dim=1)

# %% wrong: treats pad_id as an end too, so a row that says pad_id of its own accord is taken to have ended
def greedy_decode(step, state, start_id, end_id, pad_id, max_len):
    tokens = torch.full((state.shape[0],), start_id)
    out = []
    for _ in range(max_len):
        done = (tokens == end_id) | (tokens == pad_id)
        if out and done.all():
            break
        if not out:
            done = torch.zeros_like(done)
        scores, state = step(tokens, state)
        tokens = scores.argmax(dim=-1)
        tokens = torch.where(done, torch.full_like(tokens, pad_id), tokens)
        out.append(tokens)
    return torch.stack(out, dim=1)

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

# %% wrong: remembers only the rows that ended in the step before, so a row goes on after one pad and decoding stops only when all rows end in the same step
def greedy_decode(step, state, start_id, end_id, pad_id, max_len):
    tokens = torch.full((state.shape[0],), start_id)
    done = torch.zeros(state.shape[0], dtype=torch.bool)
    out = []
    for _ in range(max_len):
        scores, state = step(tokens, state)
        tokens = scores.argmax(dim=-1)
        tokens = torch.where(done, torch.full_like(tokens, pad_id), tokens)
        out.append(tokens)
        done = tokens == end_id
        if done.all():
            break
    return torch.stack(out, dim=1)

# %% wrong: forbids pad_id and start_id by setting their scores to minus infinity, though they may be chosen like any symbol
def greedy_decode(step, state, start_id, end_id, pad_id, max_len):
    tokens = torch.full((state.shape[0],), start_id)
    done = torch.zeros(state.shape[0], dtype=torch.bool)
    out = []
    for _ in range(max_len):
        scores, state = step(tokens, state)
        scores = scores.clone()
        scores[:, [pad_id, start_id]] = float("-inf")
        tokens = scores.argmax(dim=-1).masked_fill(done, pad_id)
        out.append(tokens)
        done = done | (tokens == end_id)
        if done.all():
            break
    return torch.stack(out, dim=1)

# %% wrong: writes pad_id in the place of the end symbol, so the end symbol is missing from the result
def greedy_decode(step, state, start_id, end_id, pad_id, max_len):
    tokens = torch.full((state.shape[0],), start_id)
    done = torch.zeros(state.shape[0], dtype=torch.bool)
    out = []
    for _ in range(max_len):
        scores, state = step(tokens, state)
        tokens = scores.argmax(dim=-1)
        done = done | (tokens == end_id)
        out.append(tokens.masked_fill(done, pad_id))
        if done.all():
            break
    return torch.stack(out, dim=1)

# %% two mistakes: the result begins with the start symbol; and rows that have ended are not filled with pad_id but go on with whatever step gives
def greedy_decode(step, state, start_id, end_id, pad_id, max_len):
    tokens = torch.full((state.shape[0],), start_id)
    done = torch.zeros(state.shape[0], dtype=torch.bool)
    out = [tokens]
    for _ in range(max_len):
        scores, state = step(tokens, state)
        tokens = scores.argmax(dim=-1)
        out.append(tokens)
        done = done | (tokens == end_id)
        if done.all():
            break
    return torch.stack(out, dim=1)

# %% right: lets all rows go on until each has said the end symbol once, and overwrites what comes after the first end at the very end
def greedy_decode(step, state, start_id, end_id, pad_id, max_len):
    tokens = torch.full((len(state),), start_id, dtype=torch.int64)
    columns = []
    while len(columns) < max_len:
        scores, state = step(tokens, state)
        tokens = scores.max(dim=1).indices
        columns.append(tokens)
        if (torch.stack(columns, dim=1) == end_id).any(dim=1).all():
            break
    out = torch.stack(columns, dim=1)
    is_end = (out == end_id).long()
    after = is_end.cumsum(dim=1) - is_end > 0
    return out.masked_fill(after, pad_id)

# %% right: keeps Python lists for the rows and a set of the rows that are still open
def greedy_decode(step, state, start_id, end_id, pad_id, max_len):
    B = state.shape[0]
    rows = [[] for _ in range(B)]
    running = set(range(B))
    last = [start_id] * B
    for _ in range(max_len):
        scores, state = step(torch.tensor(last), state)
        best = scores.argmax(dim=1).tolist()
        for b in range(B):
            rows[b].append(best[b] if b in running else pad_id)
        running = {b for b in running if best[b] != end_id}
        last = best
        if not running:
            break
    return torch.tensor(rows, dtype=torch.long)

# %% right: writes into a prepared tensor full of pad_id, only in the rows still open, and cuts off the columns that were not used
def greedy_decode(step, state, start_id, end_id, pad_id, max_len):
    B = state.size(0)
    out = torch.empty((B, max_len), dtype=torch.int64).fill_(pad_id)
    tokens = torch.empty(B, dtype=torch.int64).fill_(start_id)
    is_open = torch.ones(B, dtype=torch.bool)
    for t in range(max_len):
        scores, state = step(tokens, state)
        tokens = scores.topk(1, dim=-1).indices[:, 0]
        out[is_open, t] = tokens[is_open]
        is_open = is_open & tokens.ne(end_id)
        if is_open.sum() == 0:
            return out[:, : t + 1]
    return out
