# %% setup
import torch
import torch.nn.functional as F
from torch import nn


# %% wrong: fills the cache with the prompt token by token, so the model is called once for each token of the prompt
@torch.no_grad()
def generate_greedy(model, prompt, max_new_tokens):
    B, L = prompt.shape
    cache = model.start_cache(B, L + max_new_tokens)
    tokens = prompt
    for place in range(L + max_new_tokens - 1):
        logits = model(tokens[:, place : place + 1], cache=cache)
        if place >= L - 1:
            tokens = torch.cat((tokens, logits[:, -1].argmax(dim=-1, keepdim=True)), dim=1)
    return tokens


# %% wrong: goes on with each prompt by itself with a cache of its own, so the model is called B times as often
@torch.no_grad()
def generate_greedy(model, prompt, max_new_tokens):
    rows = []
    for row in prompt.split(1):
        cache = model.start_cache(1, row.shape[1] + max_new_tokens)
        fed = row
        for _ in range(max_new_tokens):
            fed = model(fed, cache=cache)[:, -1].argmax(dim=-1, keepdim=True)
            row = torch.cat((row, fed), dim=1)
        rows.append(row)
    return torch.cat(rows)


# %% wrong: stops early when all sequences say token 0, as if it were an end symbol
@torch.no_grad()
def generate_greedy(model, prompt, max_new_tokens):
    cache = model.start_cache(prompt.shape[0], prompt.shape[1] + max_new_tokens)
    tokens = fed = prompt
    for _ in range(max_new_tokens):
        fed = model(fed, cache=cache)[:, -1].argmax(dim=-1, keepdim=True)
        tokens = torch.cat((tokens, fed), dim=1)
        if not fed.any():
            break
    return tokens


# %% wrong: collects the tokens in a table of zeros without a dtype, so the ids come back as floating-point numbers
@torch.no_grad()
def generate_greedy(model, prompt, max_new_tokens):
    B, L = prompt.shape
    cache = model.start_cache(B, L + max_new_tokens)
    tokens = torch.zeros(B, L + max_new_tokens)
    tokens[:, :L] = prompt
    fed = prompt
    for place in range(L, L + max_new_tokens):
        newest = model(fed, cache=cache)[:, -1].argmax(dim=-1)
        tokens[:, place] = newest
        fed = newest[:, None]
    return tokens


# %% right: a generator yields the newest tokens column by column, and the columns are joined at the end
@torch.no_grad()
def generate_greedy(model, prompt, max_new_tokens):
    def columns():
        cache = model.start_cache(len(prompt), prompt.size(1) + max_new_tokens - 1)
        fed = prompt
        for _ in range(max_new_tokens):
            last = model(fed, cache=cache).select(dim=1, index=-1)
            fed = last.sort(dim=-1, descending=True, stable=True).indices[:, :1]
            yield fed

    return torch.hstack([prompt, *columns()])


# %% right: fills a table of ids in place and feeds the part of it that the cache does not hold yet
@torch.no_grad()
def generate_greedy(model, prompt, max_new_tokens):
    B, L = prompt.shape
    cache = model.start_cache(B, L + max_new_tokens)
    table = F.pad(prompt, (0, max_new_tokens))
    known = 0
    for end in range(L, L + max_new_tokens):
        logits = model(table[:, known:end].clone(), cache=cache)
        table[:, end] = torch.max(logits[:, end - known - 1], dim=1).indices
        known = end
    return table
