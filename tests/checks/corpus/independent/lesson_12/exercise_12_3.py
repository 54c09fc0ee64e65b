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


# %% right: the result is allotted beforehand and each call feeds a slice of it; the cache has only the room needed, the last token is never fed
@torch.no_grad()
def generate_greedy(model, prompt, max_new_tokens):
    B, L = prompt.shape
    tokens = prompt.new_zeros(B, L + max_new_tokens)
    tokens[:, :L] = prompt
    cache = model.start_cache(B, L + max_new_tokens - 1)
    start = 0
    for stop in range(L, L + max_new_tokens):
        logits = model(tokens[:, start:stop], cache=cache)
        tokens[:, stop] = logits[:, -1].argmax(dim=1)
        start = stop
    return tokens


# %% right: collects the pieces in a list and joins them once, with topk instead of argmax
@torch.no_grad()
def generate_greedy(model, prompt, max_new_tokens):
    cache = model.start_cache(prompt.size(0), prompt.size(1) + max_new_tokens)
    pieces = [prompt]
    while len(pieces) <= max_new_tokens:
        logits = model(pieces[-1], cache=cache)
        pieces.append(logits[:, -1, :].topk(1, dim=-1).indices)
    return torch.hstack(pieces)


# %% right: a while loop over how many are still to come, no_grad inside, columns stacked
def generate_greedy(model, prompt, max_new_tokens):
    with torch.no_grad():
        cache = model.start_cache(batch_size=prompt.shape[0], max_len=prompt.shape[1] + max_new_tokens)
        columns = list(prompt.unbind(dim=1))  # each (B,)
        fed, left = prompt, max_new_tokens
        while left > 0:
            best = model(fed, cache=cache).select(1, -1).max(dim=-1).indices  # (B,)
            columns.append(best)
            fed, left = best.unsqueeze(1), left - 1
        return torch.stack(columns, dim=1)
