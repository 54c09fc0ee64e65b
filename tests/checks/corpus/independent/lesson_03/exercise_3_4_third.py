# %% setup
import torch
import torch.nn.functional as F

from course_utils.metrics import edit_distance


# %% wrong: takes a row for ended as soon as it has said pad_id or end_id, but only end_id ends a row
def greedy_decode(step, state, start_id, end_id, pad_id, max_len):
    tokens = torch.full((state.shape[0],), start_id)
    columns = []
    for _ in range(max_len):
        scores, state = step(tokens, state)
        ended = (tokens == end_id) | (tokens == pad_id)
        tokens = torch.where(ended, pad_id, scores.argmax(dim=-1))
        columns.append(tokens)
        if ((tokens == end_id) | (tokens == pad_id)).all():
            break
    return torch.stack(columns, dim=1)


# %% wrong: stops only if all rows say the end symbol in the same step, so rows that end at different steps get columns of padding up to max_len
def greedy_decode(step, state, start_id, end_id, pad_id, max_len):
    tokens = torch.full((state.shape[0],), start_id)
    ended = torch.zeros(state.shape[0], dtype=torch.bool)
    columns = []
    for _ in range(max_len):
        scores, state = step(tokens, state)
        tokens = scores.argmax(dim=-1).masked_fill(ended, pad_id)
        columns.append(tokens)
        ended = ended | (tokens == end_id)
        if (tokens == end_id).all():
            break
    return torch.stack(columns, dim=1)


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


# %% wrong: sets the scores of pad_id and start_id to minus infinity, so these two are never chosen
def greedy_decode(step, state, start_id, end_id, pad_id, max_len):
    tokens = torch.full((state.shape[0],), start_id)
    ended = torch.zeros(state.shape[0], dtype=torch.bool)
    columns = []
    for _ in range(max_len):
        scores, state = step(tokens, state)
        scores = scores.clone()
        scores[:, [pad_id, start_id]] = float("-inf")
        tokens = torch.where(ended, pad_id, scores.argmax(dim=-1))
        columns.append(tokens)
        ended = ended | (tokens == end_id)
        if ended.all():
            break
    return torch.stack(columns, dim=1)


# %% two mistakes: keeps the start symbol as first column; and gives the old state to every step
def greedy_decode(step, state, start_id, end_id, pad_id, max_len):
    tokens = torch.full((state.shape[0],), start_id)
    ended = torch.zeros(state.shape[0], dtype=torch.bool)
    columns = [tokens]
    for _ in range(max_len):
        scores, _ = step(tokens, state)
        tokens = torch.where(ended, pad_id, scores.argmax(dim=-1))
        columns.append(tokens)
        ended = ended | (tokens == end_id)
        if ended.all():
            break
    return torch.stack(columns, dim=1)


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


# %% right: calls itself for the rest of the columns, with the rows that still run as a factor of 0 or 1
def greedy_decode(step, state, start_id, end_id, pad_id, max_len):
    def rest(tokens, state, running, left):
        scores, state = step(tokens, state)
        best = scores.topk(1, dim=-1).indices[:, 0]
        column = running * best + (1 - running) * pad_id
        running = running * (best != end_id).long()
        if left == 1 or running.sum() == 0:
            return column[:, None]
        return torch.cat((column[:, None], rest(column, state, running, left - 1)), dim=1)

    ones = torch.ones(len(state), dtype=torch.int64)
    return rest(ones * start_id, state, ones, max_len)

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
