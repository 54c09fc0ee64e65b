# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 12 · Decoder-only language model: exercises
#
# Eight exercises, 25 points. At the end you have written the block of today's language models, the loop that generates with a cache, the rule by which tokens are drawn, and the figure by which models are compared.
#
# {{colab_link}} · about 100 minutes · builds on {{lesson_link}}
#
# Write your code where it says `YOUR CODE HERE`, run the cell, then run the check below it. A check that fails says what differs and, if it knows your mistake,
# what your answer did. You may try as often as you like. Hints are folded under each check. A function of `course_utils` that does what an exercise asks for is off limits in it.
#
# In all exercises masks are boolean, and True means **may attend**.

# %% tags=["setup"]
import math

import torch
import torch.nn.functional as F
from torch import nn

from course_utils.checks import check
from course_utils.layers import RMSNorm, SwiGLU
from course_utils.masks import causal_mask
from course_utils.multi_head import MultiHeadAttention
from course_utils.positions import RotaryPositions, apply_rope, rotary_angles

# %% [markdown]
# ### 12.1 · SwiGLU
# 3 points · difficulty 2 of 5 · 10 minutes
#
# Write `swiglu(x, params)`: two matrices lead up to `d_ff` features. The gate branch passes through SiLU, then the two are multiplied feature by feature, and a third matrix leads down again. No biases. The matrices have shape `(out, in)`, as `nn.Linear` keeps them.
#
# | argument | shape |
# |---|---|
# | `x` | `(B, L, d_model)` |
# | `params["gate_proj.weight"]`, `params["up_proj.weight"]` | `(d_ff, d_model)` |
# | `params["down_proj.weight"]` | `(d_model, d_ff)` |
# | returns | `(B, L, d_model)` |
#
# SiLU is $z \, \sigma(z)$, with $\sigma$ the sigmoid. Example: one feature everywhere, `x = [[[2.]]]`, all three matrices `[[1.]]`: $2 \cdot \sigma(2) \cdot 2 = 3.523$. `params` stays as it is, the dtype stays, and gradients must flow through your answer to `x` and the three matrices: use torch operations from first to last. `F.silu` and `F.linear` are allowed; the course's own network is off limits.

# %% tags=["exercise"]
def swiglu(x, params):
    # BEGIN SOLUTION
    gate = F.silu(F.linear(x, params["gate_proj.weight"]))  # (B, L, d_ff)
    up = F.linear(x, params["up_proj.weight"])  # (B, L, d_ff)
    return F.linear(gate * up, params["down_proj.weight"])  # (B, L, d_model)
    # END SOLUTION


# %% tags=["check"]
check("12.1", swiglu)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# How many of the three matrices see `x` itself? Only one of them is followed by SiLU.
# </details>
# <details><summary>Hint 2</summary>
#
# The gate says how much of each feature of the other branch comes through. What does a gate do with a signal: add, or multiply?
# </details>

# %% [markdown]
# ### 12.2 · A decoder block
# 5 points · difficulty 3 of 5 · 20 minutes
#
# Write the `forward` of `DecoderBlock`, the layer of today's language models: causal self-attention with a residual connection around it, then the feed-forward network with another. Pre-norm: `norm_1` before the attention, `norm_2` before the network. The block makes the causal mask itself.
#
# | argument | shape |
# |---|---|
# | `x` | `(B, L, d_model)`: all positions, or with a cache the new ones |
# | `cache` | `None`, or a `KVCache` that holds `cache.length` earlier positions |
# | returns | `(B, L, d_model)` |
#
# The parts are those of the course: `self.self_attention(y, mask=..., cache=...)` attends, turns queries and keys to their positions, and appends to the cache. `causal_mask(L_q, L_k)` is yours from lesson 05: the queries are the last `L_q` of `L_k` positions. Leave the constructor as it is. The course's ready-made layers (`DecoderOnlyLayer` and the like) and `Residual` are off limits; the parts above are not.
#
# The check feeds whole sequences, and sequences in pieces with a cache, which may hold positions already; it compares gradients too. Example: if all parameters of attention and network are 0, the block gives `x` back unchanged. And `x` itself must stay as it is; keep nothing in the block from one call to the next.

# %% tags=["exercise"]
class DecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, d_ff):
        super().__init__()
        rotary = RotaryPositions(d_model // num_heads)
        self.self_attention = MultiHeadAttention(d_model, num_heads, num_kv_heads=num_kv_heads, bias=False, rotary=rotary)
        self.feed_forward = SwiGLU(d_model, d_ff)
        self.norm_1, self.norm_2 = RMSNorm(d_model), RMSNorm(d_model)

    def forward(self, x, cache=None):
        # BEGIN SOLUTION
        start = 0 if cache is None else cache.length
        mask = causal_mask(x.shape[1], start + x.shape[1])  # (1, 1, L, L_all)
        x = x + self.self_attention(self.norm_1(x), mask=mask, cache=cache)  # (B, L, d_model)
        return x + self.feed_forward(self.norm_2(x))  # (B, L, d_model)
        # END SOLUTION


# %% tags=["check"]
check("12.2", DecoderBlock)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# It is the pre-norm layer of exercise 9.5 with other parts. New is the mask: how many queries are there, and how many keys, once the cache has been appended to?
# </details>
# <details><summary>Hint 2</summary>
#
# Read `cache.length` before the attention is called: the call changes it. And `x += ...` writes into the caller's tensor.
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# 1. how many positions does the cache hold (none, if there is no cache)?
# 2. a causal mask for the new queries against old and new keys together
# 3. normalize by norm 1, attend under the mask with the cache, add to x
# 4. normalize the sum by norm 2, network, add to the sum
# </details>

# %% [markdown]
# ### 12.3 · Generate with a cache
# 4 points · difficulty 3 of 5 · 15 minutes
#
# Write `generate_greedy(model, prompt, max_new_tokens)`: go on with each prompt by always taking the most probable token, and compute nothing twice.
#
# | argument | shape |
# |---|---|
# | `model(tokens, cache=cache)` | ids `(B, L_new)` to logits `(B, L_new, V)`; the tokens are those after the ones in the cache |
# | `model.start_cache(batch_size, max_len)` | an empty cache with room for `max_len` positions |
# | `prompt` | `(B, L)`, ids |
# | `max_new_tokens` | a whole number, at least 1 |
# | returns | `(B, L + max_new_tokens)`: prompt and new tokens |
#
# The first call feeds the whole prompt and thereby fills the cache (the **prefill**); each further call feeds one token for each sequence. That makes `max_new_tokens` calls in all, and the check counts them. The last new token is never fed, so room for `L + max_new_tokens - 1` positions is enough; more does no harm. No id is an end symbol: every prompt gets all its new tokens. The course's `generate` is off limits.
#
# Example: for a prompt of 4 tokens and `max_new_tokens=3` the model is fed tensors of shape `(B, 4)`, `(B, 1)`, `(B, 1)`.

# %% tags=["exercise"]
@torch.no_grad()  # a cache keeps no gradients
def generate_greedy(model, prompt, max_new_tokens):
    # BEGIN SOLUTION
    cache = model.start_cache(len(prompt), prompt.shape[1] + max_new_tokens)
    tokens, fed = prompt, prompt  # the first call fills the cache
    for _ in range(max_new_tokens):
        logits = model(fed, cache=cache)[:, -1]  # (B, V), after the last position
        fed = logits.argmax(dim=-1, keepdim=True)  # (B, 1)
        tokens = torch.cat((tokens, fed), dim=1)  # (B, L + 1, then one more each time)
    return tokens
    # END SOLUTION


# %% tags=["check"]
check("12.3", generate_greedy)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# Write it without a cache first: feed everything so far, take the last logits, append. Which of the positions that you feed in the second step does the cache know already?
# </details>
# <details><summary>Hint 2</summary>
#
# Keep two tensors: all tokens so far, for the result, and what is fed next. After the first call the second one holds the newest token alone.
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# 1. start a cache with room for prompt and new tokens
# 2. feed the prompt
# 3. repeat: the most probable token after the last position is new; append it; feed it alone
# 4. stop when enough are appended, before feeding once more
# </details>

# %% [markdown]
# ### 12.4 · Temperature, top-k and top-p
# 5 points · difficulty 4 of 5 · 20 minutes
#
# Write `next_token_distribution(logits, temperature, top_k, top_p)`: the probabilities from which the next token is drawn. In this order:
#
# 1. divide the logits by `temperature`, and take the softmax. If `temperature` is 0, all probability goes to the most probable token, and steps 2 and 3 are left out;
# 2. keep the `top_k` most probable tokens and renormalize. `None`, or more than there are: keep all;
# 3. of these keep the fewest most probable ones whose probabilities together reach `top_p`, that is, are `top_p` or more: **the token that crosses the threshold stays**, and the most probable one always does. Renormalize. `None`: keep all.
#
# Of equally probable tokens, those with lower ids come first. In the check a sum is either clearly above or below `top_p`, or equal to it without any rounding.
#
# | argument | shape |
# |---|---|
# | `logits` | `(B, V)`; leave it as it is |
# | `temperature` | a number, 0 or more |
# | `top_k` | `None`, or a whole number from 1 on |
# | `top_p` | `None`, or a number from 0 to 1 |
# | returns | probabilities `(B, V)`, in the dtype of `logits` and the order of the ids, each row summing to 1 |
#
# Example: for the probabilities 0.5, 0.3, 0.15, 0.05 and `top_p=0.6` the result is 0.625, 0.375, 0, 0. The course's own function is off limits.

# %% tags=["exercise"]
def next_token_distribution(logits, temperature, top_k, top_p):
    # BEGIN SOLUTION
    if temperature == 0:
        return F.one_hot(logits.argmax(dim=-1), logits.shape[-1]).to(logits.dtype)  # (B, V)
    scores, ids = (logits / temperature).sort(dim=-1, descending=True, stable=True)  # (B, V) each
    if top_k is not None:
        scores[:, top_k:] = float("-inf")
    probs = scores.softmax(dim=-1)  # (B, V), falling; renormalized after top-k
    if top_p is not None:
        before = probs.cumsum(dim=-1) - probs  # (B, V), what the more probable ones have together
        ruled_out = before >= top_p
        ruled_out[:, 0] = False
        probs = probs.masked_fill(ruled_out, 0.0)
        probs = probs / probs.sum(dim=-1, keepdim=True)
    return torch.zeros_like(probs).scatter(-1, ids, probs)  # (B, V), back in the order of the ids
    # END SOLUTION


# %% tags=["check"]
check("12.4", next_token_distribution)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# Work in sorted order, most probable first: `sort` with `descending=True, stable=True` gives values and ids. Then top-k is a slice, and top-p a running sum.
# </details>
# <details><summary>Hint 2</summary>
#
# A token stays if the tokens *before* it have not reached `top_p` yet. `cumsum` gives the sum *with* the token; subtract the token itself.
# </details>
# <details><summary>Hint 3</summary>
#
# `torch.zeros_like(p).scatter(-1, ids, p)` puts sorted values back in their places.
# </details>
# <details><summary>Hint 4: pseudocode</summary>
#
# 1. temperature 0: one-hot of the argmax, done
# 2. divide, sort, rule out what stands behind place `top_k`, softmax
# 3. sum of the tokens before each; rule out those where it has reached `top_p`, but never the first; renormalize
# 4. put everything back in the order of the ids
# </details>

# %% [markdown]
# ### 12.5 · Perplexity
# 3 points · difficulty 2 of 5 · 10 minutes
#
# Write `perplexity(batches, pad_id)`: `exp` of the mean negative log-likelihood over **all tokens of all batches**. Batches differ in size, and positions whose label is padding do not count; a batch may hold nothing but padding.
#
# | argument | shape |
# |---|---|
# | `batches` | a list of pairs `(logits, labels)`, `(B, L, V)` and `(B, L)`; `B` and `L` differ from batch to batch |
# | `pad_id` | one of the ids from 0 to `V - 1`, not always 0 |
# | returns | a number |
#
# Example: two tokens whose labels got the probabilities 1/2 and 1/4 give $e^{(\ln 2 + \ln 4) / 2} = \sqrt 8 = 2.828$. `F.cross_entropy` is allowed; the course's own functions are off limits.

# %% tags=["exercise"]
def perplexity(batches, pad_id):
    # BEGIN SOLUTION
    total, number = 0.0, 0
    for logits, labels in batches:
        loss = F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=pad_id, reduction="sum")
        total += loss.item()
        number += int((labels != pad_id).sum())
    return math.exp(total / number)
    # END SOLUTION


# %% tags=["check"]
check("12.5", perplexity)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# A mean of means weighs every batch the same, however few tokens it holds. Which two numbers must be carried from batch to batch?
# </details>
# <details><summary>Hint 2</summary>
#
# `F.cross_entropy` wants the classes on axis 1, or everything flat. Look at its arguments `ignore_index` and `reduction`.
# </details>

# %% [markdown]
# ### 12.6 · Find the bug
# 3 points · difficulty 3 of 5 · 15 minutes
#
# The function below is one step of attention with rotary positions and a cache. `keys` and `values` hold what earlier calls kept; `query`, `key` and `value` belong to the new tokens; `cos` and `sin` have a row for each position. It returns the output and everything kept so far. Fed a whole sequence at once, it is right. Run the cell: the same sequence in pieces gives something else.

# %%
def attend_step_broken(query, key, value, keys, values, cos, sin):
    new = query.shape[2]
    query = apply_rope(query, cos[:new], sin[:new])  # (B, H, L_new, d_head)
    key = apply_rope(key, cos[:new], sin[:new])  # (B, H, L_new, d_head)
    keys, values = torch.cat((keys, key), dim=2), torch.cat((values, value), dim=2)  # (B, H, L_all, d_head), (B, H, L_all, d_v)
    mask = causal_mask(new, keys.shape[2])  # (1, 1, L_new, L_all)
    return F.scaled_dot_product_attention(query, keys, values, attn_mask=mask), keys, values


def in_pieces(step, pieces):
    rng = torch.Generator().manual_seed(0)
    q, k, v = (torch.randn(1, 2, 5, 4, generator=rng) for _ in range(3))  # (B=1, H=2, L=5, d_head=4)
    angles = rotary_angles(torch.arange(5), 4).float()  # (L, d_head / 2)
    keys, values, outputs = k[:, :, :0], v[:, :, :0], []
    for parts in zip(*(t.split(pieces, dim=2) for t in (q, k, v)), strict=True):
        output, keys, values = step(*parts, keys, values, angles.cos(), angles.sin())
        outputs.append(output)
    return torch.cat(outputs, dim=2)  # (1, 2, 5, 4)


whole = in_pieces(attend_step_broken, [5])
for pieces in ([4, 1], [2, 3], [1, 1, 1, 1, 1]):
    difference = (in_pieces(attend_step_broken, pieces) - whole).abs().amax((0, 1, 3))  # (L,)
    print(f"pieces {pieces!s:16} difference at each position {[round(d, 2) for d in difference.tolist()]}")

# %% [markdown]
# Write `attend_step(query, key, value, keys, values, cos, sin)` so that the pieces do not matter. Shapes: `query` and `key` `(B, H, L_new, d_head)`, `value` `(B, H, L_new, d_v)`, `keys` `(B, H, L_old, d_head)`, `values` `(B, H, L_old, d_v)`, `cos` and `sin` `(max_len, d_head / 2)`. The first position is 0, and the keys that you return are turned, as those in `keys` are.

# %% tags=["exercise"]
def attend_step(query, key, value, keys, values, cos, sin):
    # BEGIN SOLUTION
    old, new = keys.shape[2], query.shape[2]
    here = slice(old, old + new)  # the positions of the new tokens
    query, key = apply_rope(query, cos[here], sin[here]), apply_rope(key, cos[here], sin[here])  # (B, H, L_new, d_head)
    keys, values = torch.cat((keys, key), dim=2), torch.cat((values, value), dim=2)  # (B, H, L_all, d_head), (B, H, L_all, d_v)
    mask = causal_mask(new, keys.shape[2])  # (1, 1, L_new, L_all)
    return F.scaled_dot_product_attention(query, keys, values, attn_mask=mask), keys, values
    # END SOLUTION


# %% tags=["check"]
check("12.6", attend_step)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# In which positions is the difference 0? Those belong to the first piece. What is different about the second?
# </details>
# <details><summary>Hint 2</summary>
#
# `cos[:new]` are the rows of positions 0 to `new - 1`. At which position does a token stand if three came before it?
# </details>

# %% [markdown]
# ### 12.7 · What is left to draw from
# 1 point · difficulty 2 of 5 · 3 minutes
#
# Four tokens have the probabilities 0.5, 0.3, 0.15 and 0.05. With temperature 1, `top_k=3` and `top_p=0.83`, in the order of exercise 12.4: how many tokens can be drawn?
#
# - **a.** One: the first has 0.5, and the second would cross 0.83.
# - **b.** Two: among the three that top-k leaves, the first two have 0.84 together.
# - **c.** Three: 0.5 and 0.3 are only 0.8 together, so the third is needed.
# - **d.** Four: temperature 1 keeps them all.

# %% tags=["quiz"]
quiz_12_7 = ""  # your letter between the quotes
# BEGIN SOLUTION
quiz_12_7 = "b"
# END SOLUTION

# %% tags=["check"]
check("12.7", quiz_12_7)

# %% [markdown]
# ### 12.8 · A text twice as long
# 1 point · difficulty 3 of 5 · 3 minutes
#
# A model has written $L$ tokens and writes one more. In this one step, how many scores (products of a query and a key) are computed, compared with the same step after $2L$ tokens?
#
# - **a.** With the cache the same as before, without it twice as many.
# - **b.** Twice as many in both cases.
# - **c.** With the cache twice as many, without it about four times as many.
# - **d.** With the cache four times as many, without it eight times.

# %% tags=["quiz"]
quiz_12_8 = ""  # your letter between the quotes
# BEGIN SOLUTION
quiz_12_8 = "c"
# END SOLUTION

# %% tags=["check"]
check("12.8", quiz_12_8)

# %% [markdown]
# {{next_steps}}
