# %% setup
import math

import torch
import torch.nn.functional as F
from torch import nn

from course_utils.layers import RMSNorm, SwiGLU
from course_utils.masks import causal_mask
from course_utils.multi_head import MultiHeadAttention
from course_utils.positions import RotaryPositions, apply_rope, rotary_angles

# %% wrong: feeds everything written so far in each step although the cache already holds it, so the earlier tokens are in the cache twice
@torch.no_grad()
def generate_greedy(model, prompt, max_new_tokens):
    cache = model.start_cache(prompt.shape[0], (prompt.shape[1] + max_new_tokens) * (max_new_tokens + 1))
    tokens = prompt
    for _ in range(max_new_tokens):
        logits = model(tokens, cache=cache)
        tokens = torch.cat((tokens, logits[:, -1:].argmax(dim=-1)), dim=1)
    return tokens

# %% wrong: returns the new tokens only, without the prompt
@torch.no_grad()
def generate_greedy(model, prompt, max_new_tokens):
    B, L = prompt.shape
    cache = model.start_cache(B, L + max_new_tokens)
    token = model(prompt, cache=cache)[:, -1:].argmax(dim=-1)
    new = [token]
    for _ in range(max_new_tokens - 1):
        token = model(token, cache=cache)[:, -1:].argmax(dim=-1)
        new.append(token)
    return torch.cat(new, dim=1)

# %% wrong: the model is called once more at the end, for a token that is not needed
@torch.no_grad()
def generate_greedy(model, prompt, max_new_tokens):
    B, L = prompt.shape
    cache = model.start_cache(B, L + max_new_tokens)
    logits = model(prompt, cache=cache)
    tokens = prompt
    for _ in range(max_new_tokens):
        token = logits[:, -1].argmax(dim=-1, keepdim=True)
        tokens = torch.cat((tokens, token), dim=1)
        logits = model(token, cache=cache)
    return tokens

# %% wrong: the cache has room only for the new tokens, not for the prompt
@torch.no_grad()
def generate_greedy(model, prompt, max_new_tokens):
    cache = model.start_cache(len(prompt), max_new_tokens)
    tokens, new = prompt, prompt
    for _ in range(max_new_tokens):
        new = model(new, cache=cache)[:, -1:].argmax(dim=-1)
        tokens = torch.cat((tokens, new), dim=1)
    return tokens

# %% wrong: the next token of each step is turned into one number with item(), which works only for a batch of 1
@torch.no_grad()
def generate_greedy(model, prompt, max_new_tokens):
    cache = model.start_cache(prompt.shape[0], prompt.shape[1] + max_new_tokens)
    tokens = prompt
    new = prompt
    for _ in range(max_new_tokens):
        best = model(new, cache=cache)[:, -1].argmax(dim=-1).item()
        new = torch.tensor([[best]])
        tokens = torch.cat((tokens, new), dim=1)
    return tokens

# %% wrong: the prompt is fed token by token, one call each, instead of in one call
@torch.no_grad()
def generate_greedy(model, prompt, max_new_tokens):
    B, L = prompt.shape
    cache = model.start_cache(B, L + max_new_tokens)
    tokens = prompt
    for i in range(L + max_new_tokens - 1):
        logits = model(tokens[:, i : i + 1], cache=cache)
        if i >= L - 1:
            tokens = torch.cat((tokens, logits[:, -1].argmax(dim=-1, keepdim=True)), dim=1)
    return tokens

# %% two mistakes: the next token is taken from the logits of the first fed position instead of the last; and one token fewer than asked for is generated
@torch.no_grad()
def generate_greedy(model, prompt, max_new_tokens):
    cache = model.start_cache(prompt.shape[0], prompt.shape[1] + max_new_tokens)
    tokens, new = prompt, prompt
    for _ in range(1, max_new_tokens):
        new = model(new, cache=cache)[:, 0].argmax(dim=-1)[:, None]
        tokens = torch.cat((tokens, new), dim=1)
    return tokens

# %% wrong: takes the first prompt's most probable token for all prompts, so it is right only for batch 1
@torch.no_grad()
def generate_greedy(model, prompt, max_new_tokens):
    B, L = prompt.shape
    cache = model.start_cache(B, L + max_new_tokens)
    out, fed = prompt, prompt
    for _ in range(max_new_tokens):
        logits = model(fed, cache=cache)
        token = int(logits[0, -1].argmax())
        fed = torch.full((B, 1), token, dtype=prompt.dtype)
        out = torch.cat((out, fed), dim=1)
    return out

# %% wrong: starts a new cache for each token and feeds the whole sequence again, so everything is computed anew
@torch.no_grad()
def generate_greedy(model, prompt, max_new_tokens):
    out = prompt
    for _ in range(max_new_tokens):
        cache = model.start_cache(out.shape[0], out.shape[1])
        logits = model(out, cache=cache)
        out = torch.cat((out, logits[:, -1].argmax(dim=-1, keepdim=True)), dim=1)
    return out

# %% right: collects the pieces in a list and joins them once, with topk instead of argmax
@torch.no_grad()
def generate_greedy(model, prompt, max_new_tokens):
    cache = model.start_cache(prompt.size(0), prompt.size(1) + max_new_tokens)
    pieces = [prompt]
    while len(pieces) <= max_new_tokens:
        logits = model(pieces[-1], cache=cache)
        pieces.append(logits[:, -1, :].topk(1, dim=-1).indices)
    return torch.hstack(pieces)

# %% right: writes into a result tensor made beforehand and feeds slices of it, with exactly the needed room
@torch.no_grad()
def generate_greedy(model, prompt, max_new_tokens):
    B, L = prompt.shape
    out = prompt.new_zeros(B, L + max_new_tokens)
    out[:, :L] = prompt
    cache = model.start_cache(B, L + max_new_tokens - 1)
    start = 0
    for stop in range(L, L + max_new_tokens):
        out[:, stop] = model(out[:, start:stop], cache=cache)[:, -1, :].max(dim=-1).indices
        start = stop
    return out

# %% setup
import torch
import torch.nn.functional as F
from torch import nn

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

# %% setup
import torch

# %% wrong: the cache has room for the prompt and one position less than the fed tokens need
@torch.no_grad()
def generate_greedy(model, prompt, max_new_tokens):
    B, L = prompt.shape
    cache = model.start_cache(B, max(L, L + max_new_tokens - 2))
    tokens, new = prompt, prompt
    for _ in range(max_new_tokens):
        new = model(new, cache=cache)[:, -1:].argmax(dim=-1)
        tokens = torch.cat([tokens, new], dim=1)
    return tokens
