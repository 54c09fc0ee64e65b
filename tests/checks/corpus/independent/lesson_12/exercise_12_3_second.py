# %% setup
import math

import torch
import torch.nn.functional as F
from torch import nn

from course_utils.layers import RMSNorm, SwiGLU
from course_utils.masks import causal_mask
from course_utils.multi_head import MultiHeadAttention
from course_utils.positions import RotaryPositions, apply_rope, rotary_angles

# %% wrong: feeds the last new token too, so the model is called max_new_tokens + 1 times
@torch.no_grad()
def generate_greedy(model, prompt, max_new_tokens):
    cache = model.start_cache(prompt.shape[0], prompt.shape[1] + max_new_tokens)
    logits = model(prompt, cache=cache)
    out = prompt
    for _ in range(max_new_tokens):
        token = logits[:, -1].argmax(dim=-1, keepdim=True)
        out = torch.cat((out, token), dim=1)
        logits = model(token, cache=cache)
    return out

# %% wrong: returns only the new tokens, without the prompt
@torch.no_grad()
def generate_greedy(model, prompt, max_new_tokens):
    cache = model.start_cache(prompt.shape[0], prompt.shape[1] + max_new_tokens)
    fed, new = prompt, []
    for _ in range(max_new_tokens):
        fed = model(fed, cache=cache)[:, -1].argmax(dim=-1, keepdim=True)
        new.append(fed)
    return torch.cat(new, dim=1)

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

# %% right: collects columns in a list, prefill outside the loop, topk instead of argmax
@torch.no_grad()
def generate_greedy(model, prompt, max_new_tokens):
    cache = model.start_cache(len(prompt), prompt.size(1) + max_new_tokens + 3)
    columns = [prompt, model(prompt, cache=cache)[:, -1].topk(1).indices]
    while len(columns) <= max_new_tokens:
        columns.append(model(columns[-1], cache=cache)[:, -1].topk(1).indices)
    return torch.hstack(columns)
