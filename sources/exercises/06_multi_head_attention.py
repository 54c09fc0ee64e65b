# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 06 · Multi-head attention: exercises
#
# Eight exercises, 22 points. At the end you have written multi-head attention in two layouts, and can load PyTorch's weights into yours.
#
# {{colab_link}} · about 70 minutes · builds on {{lesson_link}}
#
# Write your code where it says `YOUR CODE HERE`, run the cell, then run the check below it. A check that fails says what differs and, if it knows your mistake,
# what your answer did. You may try as often as you like. Hints are folded under each check.
#
# Gradients must flow through your answers: use torch operations from first to last. What you return has the dtype of what you are given, and no answer may change its arguments.

# %% tags=["setup"]
import torch

from course_utils.attention import masked_softmax
from course_utils.checks import check

# %% [markdown]
# ### 6.1 · Split into heads
# 3 points · difficulty 2 of 5 · 10 minutes
#
# Write `split_heads(x, num_heads)`. Head `h` holds the features `h * d_head` to `(h + 1) * d_head - 1` of **every** token.
#
# | argument | shape |
# |---|---|
# | `x` | `(B, L, d_model)` |
# | `num_heads` | a number that divides `d_model` |
# | returns | `(B, num_heads, L, d_head)` with `d_head = d_model / num_heads` |
#
# Example: for `x = [[[0, 1, 2, 3], [10, 11, 12, 13]]]` and 2 heads, the result is `[[[[0, 1], [10, 11]], [[2, 3], [12, 13]]]]`. In the check the numbers are such that every misplaced one shows. `x` may come
# from a transpose, so that its numbers do not lie in order in memory (then `view` may refuse, and `reshape` copies).

# %% tags=["exercise"]
def split_heads(x, num_heads):
    # BEGIN SOLUTION
    B, L, d_model = x.shape
    cut = x.reshape(B, L, num_heads, d_model // num_heads)  # (B, L, H, d_head)
    return cut.transpose(1, 2)  # (B, H, L, d_head)
    # END SOLUTION


# %% tags=["check"]
check("6.1", split_heads)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# Two moves: one that cuts the last axis in two, one that swaps two axes. Which of `view` and `transpose` does which?
# </details>
# <details><summary>Hint 2</summary>
#
# After the cut the shape is `(B, L, H, d_head)`. A cut may only touch the axis that is cut: `B` and `L` stay where they are.
# </details>
# <details><summary>Hint 3</summary>
#
# If one `view` takes you straight to the final shape, compare your result with the example: are the rows of a head pieces of one token, or one piece of every token?
# </details>

# %% [markdown]
# ### 6.2 · Merge the heads
# 2 points · difficulty 2 of 5 · 5 minutes
#
# Write `merge_heads(x)`, the inverse of 6.1: for every token, the heads' features side by side, head 0 first.
#
# | argument | shape |
# |---|---|
# | `x` | `(B, H, L, d_head)` |
# | returns | `(B, L, H * d_head)` |
#
# Example: `[[[[0, 1], [10, 11]], [[2, 3], [12, 13]]]]` becomes `[[[0, 1, 2, 3], [10, 11, 12, 13]]]`.

# %% tags=["exercise"]
def merge_heads(x):
    # BEGIN SOLUTION
    B, H, L, d_head = x.shape
    return x.transpose(1, 2).reshape(B, L, H * d_head)  # (B, L, H, d_head) -> (B, L, d_model)
    # END SOLUTION


# %% tags=["check"]
check("6.2", merge_heads)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# Do the two moves of 6.1 backwards: what was done last is undone first.
# </details>
# <details><summary>Hint 2</summary>
#
# If PyTorch says that a view is not compatible with the strides, the numbers do not lie in memory in the order you want. Section 6.5 names three ways to copy them into order.
# </details>

# %% [markdown]
# ### 6.3 · Multi-head attention
# 5 points · difficulty 3 of 5 · 15 minutes
#
# Write `multi_head_attention(query, memory, params, num_heads, mask)`. Queries are made from `query`, keys and values from `memory`. The parameters come in a dict, with matrices of shape `(out, in)` as `nn.Linear` keeps them.
#
# | argument | shape |
# |---|---|
# | `query` | `(B, L_q, d_in)` |
# | `memory` | `(B, L_k, d_in)` |
# | `params["q_proj.weight"]`, `["k_proj.weight"]`, `["v_proj.weight"]` | `(d_model, d_in)` each |
# | `params["q_proj.bias"]`, `["k_proj.bias"]`, `["v_proj.bias"]` | `(d_model,)` each |
# | `params["o_proj.weight"]`, `["o_proj.bias"]` | `(d_in, d_model)`, `(d_in,)` |
# | `num_heads` | a number that divides `d_model` |
# | `mask` | `None`, or boolean, broadcasts to `(B, H, L_q, L_k)`; True = may attend |
# | returns `output`, `weights` | `(B, L_q, d_in)`, `(B, H, L_q, L_k)` |
#
# In the check `d_in` and `d_model` differ, every query may attend to something, and gradients must reach all parameters. You may call your answers to 6.1 and 6.2, and `masked_softmax(scores, mask)` of lesson 05, which accepts `None` too. PyTorch's ready-made attention is off limits, and so are the course's own attention, `split_heads` and `merge_heads`.
#
# Example: if all key projections (weights and biases) are zero and there is no mask, then all weights are `1 / L_k`.

# %% tags=["exercise"]
def multi_head_attention(query, memory, params, num_heads, mask):
    # BEGIN SOLUTION
    q = query @ params["q_proj.weight"].T + params["q_proj.bias"]  # (B, L_q, d_model)
    k = memory @ params["k_proj.weight"].T + params["k_proj.bias"]  # (B, L_k, d_model)
    v = memory @ params["v_proj.weight"].T + params["v_proj.bias"]  # (B, L_k, d_model)
    q, k, v = (t.unflatten(-1, (num_heads, -1)).transpose(1, 2) for t in (q, k, v))  # (B, H, L, d_head)
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5  # (B, H, L_q, L_k)
    weights = masked_softmax(scores, mask)  # (B, H, L_q, L_k)
    merged = (weights @ v).transpose(1, 2).flatten(2)  # (B, L_q, d_model)
    return merged @ params["o_proj.weight"].T + params["o_proj.bias"], weights  # (B, L_q, d_in)
    # END SOLUTION


# %% tags=["check"]
check("6.3", multi_head_attention)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# `torch.nn.functional.linear(x, weight, bias)` does what `nn.Linear` does, for a weight of shape `(out, in)`.
# </details>
# <details><summary>Hint 2</summary>
#
# The size whose root divides the scores is the size of the vectors that are compared. After the split that is no longer `d_model`.
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# 1. project: queries from `query`, keys and values from `memory`
# 2. split each of the three into heads
# 3. scaled scores, masked softmax over the keys, weighted sum of the values
# 4. merge the heads, then the output projection with its bias
# </details>

# %% [markdown]
# ### 6.4 · The same by einsum
# 4 points · difficulty 4 of 5 · 15 minutes
#
# Write `heads_by_einsum(query, memory, W_q, W_k, W_v, num_heads)` in the layout `(B, L, H, d_head)`: no transpose is needed anywhere. No mask, no biases, no output projection. The weights are to be returned with the **heads last**.
#
# | argument | shape |
# |---|---|
# | `query` | `(B, L_q, d_in)` |
# | `memory` | `(B, L_k, d_in)` |
# | `W_q`, `W_k` | `(H * d_head, d_in)` each |
# | `W_v` | `(H * d_v, d_in)`, where `d_v` may differ from `d_head` |
# | returns `output`, `weights` | `(B, L_q, H * d_v)`, `(B, L_q, L_k, H)` |
#
# Example: if `W_k` is zero, all weights are `1 / L_k`. All sizes differ in the check, so a letter in the wrong place stops your code or gives another result. What counts is the result: other operations than einsum are allowed, but `F.scaled_dot_product_attention` is off limits, and so are the course's own attention, `split_heads` and `merge_heads`.

# %% tags=["exercise"]
def heads_by_einsum(query, memory, W_q, W_k, W_v, num_heads):
    # BEGIN SOLUTION
    q = torch.einsum("bli,oi->blo", query, W_q).unflatten(-1, (num_heads, -1))  # (B, L_q, H, d_head)
    k = torch.einsum("bli,oi->blo", memory, W_k).unflatten(-1, (num_heads, -1))  # (B, L_k, H, d_head)
    v = torch.einsum("bli,oi->blo", memory, W_v).unflatten(-1, (num_heads, -1))  # (B, L_k, H, d_v)
    scores = torch.einsum("bihd,bjhd->bijh", q, k) / q.shape[-1] ** 0.5  # (B, L_q, L_k, H)
    weights = scores.softmax(dim=2)  # (B, L_q, L_k, H), over the keys
    return torch.einsum("bijh,bjhd->bihd", weights, v).flatten(2), weights  # (B, L_q, H * d_v)
    # END SOLUTION


# %% tags=["check"]
check("6.4", heads_by_einsum)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# Give each axis a letter of its own: `b` batch, `i` query, `j` key, `h` head, `d` feature. A letter that stands in both inputs and in the result is kept aligned; one that is missing in the result is summed over.
# </details>
# <details><summary>Hint 2</summary>
#
# In `(B, L_q, L_k, H)`, which axis are the keys? It is not the last one.
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# 1. project with einsum, summing over the input features; cut the last axis into heads
# 2. scores: sum over the features of a head, keep batch, query, key and head
# 3. divide by the root of the size of a query within one head; softmax over the keys
# 4. sum over the keys against the values; the heads then stand next to their features, so they can be flattened
# </details>

# %% [markdown]
# ### 6.5 · Copy PyTorch's packed weights
# 3 points · difficulty 2 of 5 · 10 minutes
#
# Write `unpack(packed)`: from the parameters of `nn.MultiheadAttention`, as a dict, to those of this course's module, as a dict. PyTorch stacks query, key and value, in this order. Some modules have no biases. Then both keys with `bias` are missing, and all must be missing in the result too. Values are enough: views, copies and new parameters are equally good.
#
# | key of `packed` | shape | keys of the result |
# |---|---|---|
# | `in_proj_weight` | `(3 * d_model, d_model)` | `q_proj.weight`, `k_proj.weight`, `v_proj.weight` |
# | `in_proj_bias` | `(3 * d_model,)` | `q_proj.bias`, `k_proj.bias`, `v_proj.bias` |
# | `out_proj.weight` | `(d_model, d_model)` | `o_proj.weight` |
# | `out_proj.bias` | `(d_model,)` | `o_proj.bias` |
#
# Example: with `in_proj_weight = [[1, 2], [3, 4], [5, 6], [7, 8], [9, 10], [11, 12]]`, `k_proj.weight` is `[[5, 6], [7, 8]]`.

# %% tags=["exercise"]
def unpack(packed):
    # BEGIN SOLUTION
    unpacked = {}
    for part in ("weight", "bias"):
        if f"in_proj_{part}" in packed:
            thirds = packed[f"in_proj_{part}"].chunk(3)  # three of (d_model, d_model), or of (d_model,)
            for name, third in zip("qkv", thirds, strict=True):
                unpacked[f"{name}_proj.{part}"] = third
            unpacked[f"o_proj.{part}"] = packed[f"out_proj.{part}"]
    return unpacked
    # END SOLUTION


# %% tags=["check"]
check("6.5", unpack)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# A matrix of `nn.Linear` has shape `(out, in)`. Three of them stacked have three times as many *outputs*. Along which axis must they be cut?
# </details>
# <details><summary>Hint 2</summary>
#
# `tensor.chunk(3)` gives three equal parts along the first axis. It works for the biases as well.
# </details>

# %% [markdown]
# ### 6.6 · Find the bug
# 3 points · difficulty 3 of 5 · 10 minutes
#
# The function below is self-attention with several heads and without projections: queries, keys and values are the input itself. It runs, the shapes are right, and the weights sum to 1. With one head it is even correct. Yet something is wrong. Here is a property that must hold: a weighted
# average of equal vectors is that vector. In the cell below every token is the same, so every output must be that token. Run it, and find out what happens between the heads and the output.

# %%
def self_attention_broken(x, num_heads):
    B, L, d_model = x.shape
    heads = x.view(B, L, num_heads, d_model // num_heads).transpose(1, 2)  # (B, H, L, d_head)
    scores = heads @ heads.transpose(-2, -1) / heads.shape[-1] ** 0.5  # (B, H, L, L)
    weights = torch.softmax(scores, dim=-1)  # (B, H, L, L)
    mixed = weights @ heads  # (B, H, L, d_head)
    return mixed.reshape(B, L, d_model), weights  # (B, L, d_model)


tokens = torch.tensor([1.0, 2.0, 3.0, 4.0]).expand(1, 3, 4)  # (B=1, L=3, d_model=4): the same token three times
output, weights = self_attention_broken(tokens, num_heads=2)
print("tokens\n", tokens[0], "\noutput\n", output[0])

# %% [markdown]
# Write `self_attention(x, num_heads)` so that it is right for any number of heads: `(B, L, d_model)` gives the output `(B, L, d_model)` and the weights `(B, H, L, L)`. The course's `split_heads` and `merge_heads` are off limits.

# %% tags=["exercise"]
def self_attention(x, num_heads):
    # BEGIN SOLUTION
    B, L, d_model = x.shape
    heads = x.reshape(B, L, num_heads, d_model // num_heads).transpose(1, 2)  # (B, H, L, d_head)
    scores = heads @ heads.transpose(-2, -1) / heads.shape[-1] ** 0.5  # (B, H, L, L)
    weights = torch.softmax(scores, dim=-1)  # (B, H, L, L)
    mixed = weights @ heads  # (B, H, L, d_head)
    return mixed.transpose(1, 2).reshape(B, L, d_model), weights  # (B, L, H, d_head) -> (B, L, d_model)
    # END SOLUTION


# %% tags=["check"]
check("6.6", self_attention)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# Print `mixed[0]`. Is each head right? Then compare it with the output: in which order were its numbers read?
# </details>
# <details><summary>Hint 2</summary>
#
# The heads were brought forward by swapping two axes. `reshape` reads the numbers in the order of the axes as they stand; it swaps nothing.
# </details>

# %% [markdown]
# ### 6.7 · What heads cost
# 1 point · difficulty 2 of 5 · 3 minutes
#
# A model has $d_{model} = 512$ and 8 heads of size 64. You change it to 16 heads of size 32. What happens in one attention layer?
#
# - **a.** Parameters and multiplications double.
# - **b.** Parameters stay the same, multiplications double.
# - **c.** Parameters and multiplications stay the same, the number of attention weights doubles.
# - **d.** Nothing changes at all.

# %% tags=["quiz"]
quiz_6_7 = ""  # your letter between the quotes
# BEGIN SOLUTION
quiz_6_7 = "c"
# END SOLUTION

# %% tags=["check"]
check("6.7", quiz_6_7)

# %% [markdown]
# ### 6.8 · What a head does
# 1 point · difficulty 2 of 5 · 3 minutes
#
# A heatmap of a trained model shows a head that puts nearly all its weight on the previous token. Which of these would show that the model *uses* the head?
#
# - **a.** The heatmap looks the same on other sequences.
# - **b.** The error rises when the head's block of the output projection is set to zero.
# - **c.** Its weight on the previous token is far above that of uniform weights.
# - **d.** The weights of each of its rows sum to 1.

# %% tags=["quiz"]
quiz_6_8 = ""  # your letter between the quotes
# BEGIN SOLUTION
quiz_6_8 = "b"
# END SOLUTION

# %% tags=["check"]
check("6.8", quiz_6_8)

# %% [markdown]
# {{next_steps}}
