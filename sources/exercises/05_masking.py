# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 05 · Masking: exercises
#
# Ten exercises, 24 points. At the end you have written every mask this course needs, an attention that survives any of them, and a detector that tells whether a model can see the future.
#
# {{colab_link}} · about 75 minutes · builds on {{lesson_link}}
#
# Write your code where it says `YOUR CODE HERE`, run the cell, then run the check below it. A check that fails says what differs and, if it knows your mistake,
# what your answer did. You may try as often as you like. Hints are folded under each check.
#
# In all exercises masks are boolean, and True means **may attend**. All numbers that you are given are finite, and no answer may change its arguments. Where the course's
# own masks and attention do what you are asked to write, they are off limits, except in 5.8.

# %% tags=["setup"]
import torch

from course_utils.checks import check

# %% [markdown]
# ### 5.1 · A padding mask
# 2 points · difficulty 1 of 5 · 5 minutes
#
# Write `padding_mask(tokens, pad_id)`: every query may attend to every key that is not padding. The mask must broadcast against scores of shape `(B, H, L_q, L_k)`.
#
# | argument | shape |
# |---|---|
# | `tokens` | `(B, L_k)`, whole numbers |
# | `pad_id` | a whole number, not always 0 |
# | returns | `(B, 1, 1, L_k)`, boolean |
#
# Padding usually stands on the right, but not always: judge each token by itself. Example: `padding_mask(torch.tensor([[5, 7, 0]]), 0)` is `[[[[True, True, False]]]]`.

# %% tags=["exercise"]
def padding_mask(tokens, pad_id):
    # BEGIN SOLUTION
    return (tokens != pad_id)[:, None, None, :]  # (B, 1, 1, L_k)
    # END SOLUTION


# %% tags=["check"]
check("5.1", padding_mask)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# A comparison of a tensor with a number gives booleans, one for each entry. No loop is needed.
# </details>
# <details><summary>Hint 2</summary>
#
# The axes of the scores are batch, heads, queries, keys. The tokens here are keys. Give the other two axes the size 1, with `None` in an index or with `unsqueeze`.
# </details>

# %% [markdown]
# ### 5.2 · A causal mask that works with a cache
# 3 points · difficulty 3 of 5 · 10 minutes
#
# Write `causal_mask(L_q, L_k)`: no query may see a key of its future. There are at least as many keys as queries, and the queries are the **last** `L_q` of the `L_k` positions, as they are when earlier keys come
# from a cache. The last query sees every key.
#
# | argument | meaning |
# |---|---|
# | `L_q` | number of queries |
# | `L_k` | number of keys, at least `L_q` |
# | returns | `(L_q, L_k)`, boolean |
#
# Example: `causal_mask(2, 3)` is `[[True, True, False], [True, True, True]]`.

# %% tags=["exercise"]
def causal_mask(L_q, L_k):
    # BEGIN SOLUTION
    positions = torch.arange(L_k - L_q, L_k)  # (L_q,), where the queries stand
    return torch.arange(L_k) <= positions[:, None]  # (L_k,) against (L_q, 1) -> (L_q, L_k)
    # END SOLUTION


# %% tags=["check"]
check("5.2", causal_mask)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# If the queries are the last `L_q` of `L_k` positions, at which position does query 0 stand? And query `i`?
# </details>
# <details><summary>Hint 2</summary>
#
# Compare a row of key positions with a column of query positions: broadcasting gives the whole table. Or look at what the argument `diagonal` of `tril` does.
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# 1. query positions: the last `L_q` numbers below `L_k`, as a column
# 2. key positions: 0 to `L_k - 1`, as a row
# 3. True where the key's position is at most the query's
# </details>

# %% [markdown]
# ### 5.3 · Masked attention
# 3 points · difficulty 2 of 5 · 10 minutes
#
# Write `masked_attention(query, key, value, mask)`: scaled dot-product attention in which a hidden key gets weight 0 and each row still sums to 1.
#
# | argument | shape |
# |---|---|
# | `query` | `(B, L_q, d_k)` |
# | `key` | `(B, L_k, d_k)` |
# | `value` | `(B, L_k, d_v)` |
# | `mask` | boolean, broadcasts to `(B, L_q, L_k)`; every row allows something |
# | returns `output`, `weights` | `(B, L_q, d_v)`, `(B, L_q, L_k)`, in the dtype of the query |
#
# One case of the check is in half precision (`float16`), in one all scores are near -100000, and in one the hidden scores lie far above all others. Gradients must flow through your answer: use torch operations from first to last. Example: a query of zeros, values `[[[10.], [20.], [90.]]]` and the mask `[[True, True, False]]` give the output `[[[15.]]]`. PyTorch's ready-made function and the course's are off
# limits; `torch.softmax` is allowed.

# %% tags=["exercise"]
def masked_attention(query, key, value, mask):
    # BEGIN SOLUTION
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5  # (B, L_q, L_k)
    scores = scores.masked_fill(~mask, float("-inf"))  # hidden keys: exp(-inf) is 0
    weights = torch.softmax(scores, dim=-1)  # (B, L_q, L_k), each row sums to 1
    return weights @ value, weights  # (B, L_q, d_v), (B, L_q, L_k)
    # END SOLUTION


# %% tags=["check"]
check("5.3", masked_attention)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# Begin with your attention of lesson 04. The mask acts between the scores and the softmax.
# </details>
# <details><summary>Hint 2</summary>
#
# `masked_fill(where, number)` fills where its first argument is True. Your mask is True where nothing is to be filled.
# </details>
# <details><summary>Hint 3</summary>
#
# `torch.finfo(torch.float16).min` is not very small. Which fill value exists in every floating-point type, and has the exponential 0?
# </details>

# %% [markdown]
# ### 5.4 · Combine masks
# 2 points · difficulty 2 of 5 · 5 minutes
#
# Write `combine_masks(*masks)`: a key may be seen if **all** masks allow it. An entry that is `None` means "no mask from this side". If nothing but `None` is given, or nothing at all, return `None`.
#
# | argument | shape |
# |---|---|
# | `masks` | any number of boolean tensors whose shapes broadcast together, or `None` |
# | returns | boolean, the broadcast shape; or `None` |
#
# Example: shapes `(2, 1, 1, 7)` and `(1, 1, 5, 7)` give `(2, 1, 5, 7)`. The masks that are handed in must stay as they are; a mask that is alone may be handed back itself.

# %% tags=["exercise"]
def combine_masks(*masks):
    # BEGIN SOLUTION
    combined = None
    for mask in masks:
        if mask is not None:
            combined = mask if combined is None else combined & mask  # the shapes broadcast
    return combined
    # END SOLUTION


# %% tags=["check"]
check("5.4", combine_masks)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# With True = may attend, two conditions must both hold. Which of `&`, `|`, `^` says that?
# </details>
# <details><summary>Hint 2</summary>
#
# `a &= b` writes into `a`, which belongs to somebody else, and `a` cannot grow to a broadcast shape. Make a new tensor instead.
# </details>

# %% [markdown]
# ### 5.5 · Rows in which everything is masked
# 4 points · difficulty 4 of 5 · 15 minutes
#
# Write `masked_softmax(scores, mask)`: a softmax over the last axis in which hidden keys get weight 0. A row in which **everything** is hidden gets zeros. And its gradient must be finite: the check takes the gradient of
# a sum of your weights, each times a factor, with respect to the scores. It must be 0 wherever a key is hidden.
#
# | argument | shape |
# |---|---|
# | `scores` | `(..., L_q, L_k)`, some of them above 100, hidden or not, some near -100000 |
# | `mask` | boolean, broadcasts to the shape of `scores` |
# | returns | weights in the shape of `scores`; each row sums to 1, or to 0 if everything is hidden |
#
# Example: scores `[[0., 1.], [0., 1.]]` and the mask `[[True, True], [False, False]]` give `[[0.2689, 0.7311], [0., 0.]]`. `torch.softmax` is allowed.

# %% tags=["exercise"]
def masked_softmax(scores, mask):
    # BEGIN SOLUTION
    open_rows = mask.any(dim=-1, keepdim=True)  # (..., L_q, 1)
    filled = scores.masked_fill(~mask, float("-inf"))  # hidden keys
    filled = filled.masked_fill(~open_rows, 0.0)  # a row of nothing but -inf would give 0 / 0
    return torch.softmax(filled, dim=-1).masked_fill(~mask, 0.0)  # and its uniform weights are taken back
    # END SOLUTION


# %% tags=["check"]
check("5.5", masked_softmax)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# Minus infinity is right for rows that allow something. For a row that allows nothing, any finite scores will do, if the weights are taken back afterwards.
# </details>
# <details><summary>Hint 2</summary>
#
# `mask.any(dim=-1, keepdim=True)` tells which rows allow something. With `keepdim=True` the answer still broadcasts against the scores.
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# 1. hidden scores become minus infinity
# 2. in rows without any allowed key, all scores become 0 instead
# 3. softmax over the keys
# 4. hidden weights become 0
# </details>

# %% [markdown]
# ### 5.6 · A sliding window
# 2 points · difficulty 2 of 5 · 5 minutes
#
# Write `sliding_window_mask(L_q, L_k, window)`: causal, and no further back than the `window` newest keys, the query's own position included. The queries are the last `L_q` of the `L_k` positions, as in 5.2.
#
# | argument | meaning |
# |---|---|
# | `L_q`, `L_k` | numbers of queries and keys, `L_k` at least `L_q` |
# | `window` | how many keys a query sees at most, at least 1 |
# | returns | `(L_q, L_k)`, boolean |
#
# Example: `sliding_window_mask(3, 3, 2)` is `[[True, False, False], [True, True, False], [False, True, True]]`.

# %% tags=["exercise"]
def sliding_window_mask(L_q, L_k, window):
    # BEGIN SOLUTION
    behind = torch.arange(L_k - L_q, L_k)[:, None] - torch.arange(L_k)  # (L_q, L_k), how far key j lies behind query i
    return (behind >= 0) & (behind < window)  # (L_q, L_k)
    # END SOLUTION


# %% tags=["check"]
check("5.6", sliding_window_mask)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# Compute for every pair how far the key lies behind the query. Two conditions on that distance make the mask.
# </details>
# <details><summary>Hint 2</summary>
#
# With `window = 1` a query sees itself only: distance 0. Which is the largest distance for `window = 2`?
# </details>

# %% [markdown]
# ### 5.7 · Write the leak detector
# 4 points · difficulty 4 of 5 · 15 minutes
#
# Write `leaks(attend, x)`. You are given a function `attend` that turns `x` into outputs of the same length, and you do not know what is inside. Return `True` if the output at **any** position depends on
# the input at a **later** position, and `False` if it does not.
#
# | argument | shape |
# |---|---|
# | `attend` | a function, `(B, L, d)` to `(B, L, d)`, for the `B` and `d` of `x` and any `L`; it gives the same output each time, and gradients flow through it |
# | `x` | `(B, L, d)`, with `L` at least 3; leave it as it is |
# | returns | `True` or `False` |
#
# Example: a function that adds up all positions so far, `lambda x: x.cumsum(1)`, does not leak. One that subtracts the mean over all positions does. In the check some functions leak at a single pair of positions, some in a single item of
# the batch or through a single entry of the vectors, and some faintly: an output moves by a few ten-thousandths, while rounding stays below a millionth. Opposite changes may cancel in a sum, and lengths may stay as they are. Some normalize each token first: they look at its entries in relation to one another, and do not
# notice if all of them are moved, or stretched, by the same number. A check that fails names the function by what it does.

# %% tags=["exercise"]
def leaks(attend, x):
    # BEGIN SOLUTION
    before = attend(x)  # (B, L, d)
    for t in range(1, x.shape[1]):
        changed = x.clone()  # (B, L, d)
        changed[:, t:] = torch.randn_like(x[:, t:])  # another future, from position t on
        if not torch.allclose(attend(changed)[:, :t], before[:, :t], atol=1e-6):
            return True
    return False
    # END SOLUTION


# %% tags=["check"]
check("5.7", leaks)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# Change the future, compare the past. If a past output moves, it has seen the future.
# </details>
# <details><summary>Hint 2</summary>
#
# One place to divide past from future is not enough: a leak from position 2 to position 1 shows only if the division lies between them.
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# 1. note the outputs for `x`
# 2. for every `t` from 1 to `L - 1`: copy `x`, put random numbers into the copy from `t` on, call `attend` on it
# 3. if any output before `t` differs from the one you noted, by more than rounding: it leaks
# 4. if no `t` showed anything: it does not
# </details>

# %% [markdown]
# ### 5.8 · Find the bug
# 2 points · difficulty 3 of 5 · 10 minutes
#
# The function below is to hide padding. `keep` is True at real tokens. It runs, its weights sum to 1, nothing is NaN. Yet the value of the padding, 900, is found in the output of real tokens. Run the cell, look at the weights, and write a mended version below.

# %%
def attend_broken(query, key, value, keep):
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5  # (B, H, L_q, L_k)
    mask = keep.unsqueeze(1).unsqueeze(3)
    weights = torch.softmax(scores.masked_fill(~mask, -1e9), dim=-1)  # (B, H, L_q, L_k)
    return weights @ value, weights  # (B, H, L_q, d_v), (B, H, L_q, L_k)


rng = torch.Generator().manual_seed(0)
q, k = torch.randn(1, 1, 3, 4, generator=rng), torch.randn(1, 1, 3, 4, generator=rng)
v = torch.tensor([10.0, 20.0, 900.0]).view(1, 1, 3, 1)
output, weights = attend_broken(q, k, v, torch.tensor([[True, True, False]]))
for row, out in zip(weights[0, 0].tolist(), output.flatten().tolist(), strict=True):
    print("weights", [f"{w:.2f}" for w in row], f"  output {out:.0f}")

# %% [markdown]
# Write `attend(query, key, value, keep)` so that it is right for all sizes: `(B, H, L_q, d_k)`, `(B, H, L_k, d_k)`, `(B, H, L_k, d_v)` and `(B, L_k)` give the output `(B, H, L_q, d_v)` and the weights `(B, H, L_q, L_k)`. Each item of the batch has at least one real token, and gradients must flow through your answer.

# %% tags=["exercise"]
def attend(query, key, value, keep):
    # BEGIN SOLUTION
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5  # (B, H, L_q, L_k)
    mask = keep.unsqueeze(1).unsqueeze(2)  # (B, 1, 1, L_k): columns, the keys
    weights = torch.softmax(scores.masked_fill(~mask, float("-inf")), dim=-1)  # (B, H, L_q, L_k)
    return weights @ value, weights  # (B, H, L_q, d_v), (B, H, L_q, L_k)
    # END SOLUTION


# %% tags=["check"]
check("5.8", attend)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# Which row of the weights looks unlike the others? That is where the mask acted. Which *column* ought to be 0?
# </details>
# <details><summary>Hint 2</summary>
#
# Print `mask.shape`. The axes are batch, heads, queries, keys. Where do the tokens stand?
# </details>
# <details><summary>Hint 3</summary>
#
# Replace the fill value by minus infinity in the broken function, and the bug shows itself: a whole row turns to NaN.
# </details>

# %% [markdown]
# ### 5.9 · Whose True is it?
# 1 point · difficulty 2 of 5 · 2 minutes
#
# `keep` has shape `(B, L_k)` and is True at real tokens. You call a module of class `nn.MultiheadAttention`. Which argument hides the padding?
#
# - **a.** key_padding_mask=keep
# - **b.** key_padding_mask=~keep
# - **c.** key_padding_mask=keep.float()
# - **d.** key_padding_mask=keep[:, None, None, :]

# %% tags=["quiz"]
quiz_5_9 = ""  # your letter between the quotes
# BEGIN SOLUTION
quiz_5_9 = "b"
# END SOLUTION

# %% tags=["check"]
check("5.9", quiz_5_9)

# %% [markdown]
# ### 5.10 · Zero after the softmax
# 1 point · difficulty 3 of 5 · 3 minutes
#
# Somebody builds causal self-attention by computing the softmax over all positions and then setting the weights of the future to 0. On which tokens does the output at position 0 depend?
#
# - **a.** On token 0 only: the other weights are 0.
# - **b.** On nothing: its row is masked entirely.
# - **c.** On all tokens: the future is still in the denominator.
# - **d.** On all tokens, and dividing each row by its sum does not help.

# %% tags=["quiz"]
quiz_5_10 = ""  # your letter between the quotes
# BEGIN SOLUTION
quiz_5_10 = "c"
# END SOLUTION

# %% tags=["check"]
check("5.10", quiz_5_10)

# %% [markdown]
# {{next_steps}}
