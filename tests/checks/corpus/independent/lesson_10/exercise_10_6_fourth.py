# %% setup
import torch


# %% wrong: counts the start symbol as one of the max_len symbols
def greedy(model, source, max_len, start_id, end_id, pad_id):
    out = torch.full((len(source), 1), start_id)
    done = torch.zeros(len(source), dtype=torch.bool)
    while out.shape[1] < max_len and not done.all():
        new = model(source, out)[:, -1].argmax(-1)
        new[done] = pad_id
        done |= new == end_id
        out = torch.cat([out, new[:, None]], 1)
    return out[:, 1:]


# %% wrong: notes who has ended before it fills in padding, so the end symbol itself is overwritten
def greedy(model, source, max_len, start_id, end_id, pad_id):
    out = torch.full((len(source), 1), start_id)
    done = torch.zeros(len(source), dtype=torch.bool)
    for _ in range(max_len):
        new = model(source, out)[:, -1].argmax(-1)
        done = done | (new == end_id)
        new = torch.where(done, pad_id, new)
        out = torch.cat([out, new[:, None]], 1)
        if done.all():
            break
    return out[:, 1:]


# %% wrong: a sequence that has ended starts again when the model's next word is not the end symbol
def greedy(model, source, max_len, start_id, end_id, pad_id):
    out = torch.full((len(source), 1), start_id)
    done = torch.zeros(len(source), dtype=torch.bool)
    for _ in range(max_len):
        new = model(source, out)[:, -1].argmax(-1)
        new = new.masked_fill(done, pad_id)
        done = new == end_id
        out = torch.cat([out, new[:, None]], 1)
        if done.all():
            break
    return out[:, 1:]


# %% wrong: the start symbol is returned too
def greedy(model, source, max_len, start_id, end_id, pad_id):
    out = torch.full((len(source), 1), start_id)
    done = torch.zeros(len(source), dtype=torch.bool)
    for _ in range(max_len):
        new = model(source, out)[:, -1].argmax(-1).masked_fill(done, pad_id)
        done |= new == end_id
        out = torch.cat([out, new[:, None]], 1)
        if done.all():
            break
    return out


# %% right: a list of columns, stacked at the end; everything is decoded to max_len and cut afterwards
def greedy(model, source, max_len, start_id, end_id, pad_id):
    B = len(source)
    columns = [torch.full((B,), start_id)]
    for _ in range(max_len):
        columns.append(model(source, torch.stack(columns, 1))[:, -1].argmax(-1))
    said = torch.stack(columns[1:], 1)
    ends = said == end_id
    behind = ends.cumsum(1) - ends.long() > 0
    length = int((~behind).sum(1).max())
    return said.masked_fill(behind, pad_id)[:, :length]
