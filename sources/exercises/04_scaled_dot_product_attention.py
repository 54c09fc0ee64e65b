# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 04 · Scaled dot-product attention: exercises
#
# Eight exercises, 20 points. At the end you have measured why the scores are scaled, and written attention, self-attention, a fused projection and cross-attention yourself.
#
# {{colab_link}} · about 65 minutes · builds on {{lesson_link}}
#
# Write your code where it says `YOUR CODE HERE`, run the cell, then run the check below it. A check that fails says what differs and, if it knows your mistake,
# what your answer did. You may try as often as you like. Hints are folded under each check.
#
# As in the lesson, a matrix stands to the right of the rows that it projects: `x @ W_q` with `W_q` of shape `(d_model, d_k)`. Where you have written `attention` in 4.2, you may call it in the exercises after it; PyTorch's own function is allowed there too.
#
# An answer never changes its arguments in place. From 4.2 on, gradients must flow through it, and it has the dtype of its arguments: use torch operations from first to last.

# %% tags=["setup"]
import torch
import torch.nn.functional as F
from torch import nn

from course_utils.checks import check

# %% [markdown]
# ### 4.1 · Measure what the scale does
# 2 points · difficulty 1 of 5 · 5 minutes
#
# You are given `n` random queries and `n` random keys, and row `i` of the one belongs to row `i` of the other: that makes `n` dot products. Write `score_spread(query, key)`: the standard deviation of these `n` numbers, first as they are, then with each
# divided by $\sqrt{d_k}$.
#
# | argument | shape |
# |---|---|
# | `query`, `key` | `(n, d_k)`, with `n` = 600 or more; their entries need not have mean 0 or variance 1 |
# | returns `unscaled`, `scaled` | two numbers (Python numbers or tensors without axes) |
#
# Example: for 600 rows of standard normal entries with `d_k = 64`, the two numbers are near 8 and near 1. Use `.std()` for the standard deviation; with so many rows it does not matter whether one divides by `n` or by `n - 1`.

# %% tags=["exercise"]
def score_spread(query, key):
    # BEGIN SOLUTION
    scores = (query * key).sum(dim=-1)  # (n,), one dot product a row
    return scores.std(), (scores / query.shape[-1] ** 0.5).std()
    # END SOLUTION


# %% tags=["check"]
check("4.1", score_spread)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# You need `n` dot products, not `n` times `n`. Multiply the two tensors entry by entry. Over which axis must the products be added?
# </details>
# <details><summary>Hint 2</summary>
#
# `query.shape` is `(n, d_k)`. The scale uses its last entry. `number ** 0.5` is a square root.
# </details>

# %% [markdown]
# ### 4.2 · Scaled dot-product attention
# 4 points · difficulty 2 of 5 · 10 minutes
#
# Write `attention(query, key, value)`:
#
# $$\operatorname{softmax}\!\Big(\frac{Q K^\top}{\sqrt{d_k}}\Big)\, V ,$$
#
# and hand back the weights as well.
#
# | argument | shape |
# |---|---|
# | `query` | `(..., L_q, d_k)` |
# | `key` | `(..., L_k, d_k)` |
# | `value` | `(..., L_k, d_v)` |
# | returns `output`, `weights` | `(..., L_q, d_v)`, `(..., L_q, L_k)` |
#
# The dots stand for one or two leading axes, the same for all three. In most cases of the check `L_q` and `L_k` differ, and so do `d_k` and `d_v`. Example: `query = [[[2., 0., 0., 0.]]]`, `key = [[[1.0986, 0., 0., 0.], [0., 1., 0., 0.]]]`, `value = [[[8.], [4.]]]` give the
# weights `[[[0.75, 0.25]]]` and the output `[[[7.]]]`. In one case the scores of some queries lie above 100 and those of others below -100 (`torch.softmax` copes with them). PyTorch's `scaled_dot_product_attention` is off limits, the course's own too.

# %% tags=["exercise"]
def attention(query, key, value):
    # BEGIN SOLUTION
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5  # (..., L_q, L_k)
    weights = torch.softmax(scores, dim=-1)  # (..., L_q, L_k), each row sums to 1
    return weights @ value, weights  # (..., L_q, d_v), (..., L_q, L_k)
    # END SOLUTION


# %% tags=["check"]
check("4.2", attention)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# Count axes from the end: `-1` is the last and `-2` the one before, however many stand in front.
# </details>
# <details><summary>Hint 2</summary>
#
# Three questions to ask of your code: what is divided (the scores), by what (the root of the size of a *key*), and when (before the softmax)?
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# 1. every query with every key: shape `(..., L_q, L_k)`
# 2. divide by the square root of the last size of `query`
# 3. softmax over the keys
# 4. weighted sums of the values; return them with the weights
# </details>

# %% [markdown]
# ### 4.3 · Self-attention from weight matrices
# 3 points · difficulty 2 of 5 · 10 minutes
#
# Write `self_attention(x, W_q, W_k, W_v)`: each token makes a query, a key and a value of its own vector, and attends to all tokens of its sequence, itself included.
#
# | argument | shape |
# |---|---|
# | `x` | `(B, L, d_model)` |
# | `W_q`, `W_k` | `(d_model, d_k)` |
# | `W_v` | `(d_model, d_v)` |
# | returns `output`, `weights` | `(B, L, d_v)`, `(B, L, L)` |
#
# Row `i` of the weights belongs to token `i` as the *query*. Example: if `W_q` is all zeros, all scores are 0, every weight is `1 / L`, and every output is the mean of the values.

# %% tags=["exercise"]
def self_attention(x, W_q, W_k, W_v):
    # BEGIN SOLUTION
    query, key, value = x @ W_q, x @ W_k, x @ W_v  # (B, L, d_k), (B, L, d_k), (B, L, d_v)
    return attention(query, key, value)  # (B, L, d_v), (B, L, L)
    # END SOLUTION


# %% tags=["check"]
check("4.3", self_attention)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# One sequence goes in, and it plays three roles. Each role has a matrix.
# </details>
# <details><summary>Hint 2</summary>
#
# Which size goes under the root: the size of `x`, or the size of the vectors that are multiplied with one another?
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# 1. project `x` three times
# 2. 4.2 with the three results, in the order query, key, value
# </details>

# %% [markdown]
# ### 4.4 · One fused projection
# 2 points · difficulty 2 of 5 · 5 minutes
#
# Three products with the same `x` can be one product with a matrix three times as wide. Its first `d` **columns** are those of `W_q`, the next `d` those of `W_k`, the last `d` those of `W_v`. Write `project_qkv(x, W_qkv)`.
#
# | argument | shape |
# |---|---|
# | `x` | `(B, L, d)` |
# | `W_qkv` | `(d, 3 * d)` |
# | returns `query`, `key`, `value` | three tensors `(B, L, d)`, in a tuple or a list, not stacked to one |
#
# Example: `x = [[[1., 10.]]]` and `W_qkv = [[1., 2., 3., 4., 5., 6.], [0., 0., 0., 0., 0., 0.]]` give the query `[[[1., 2.]]]`, the key `[[[3., 4.]]]` and the value `[[[5., 6.]]]`.

# %% tags=["exercise"]
def project_qkv(x, W_qkv):
    # BEGIN SOLUTION
    query, key, value = (x @ W_qkv).chunk(3, dim=-1)  # (B, L, 3 d) -> three times (B, L, d)
    return query, key, value
    # END SOLUTION


# %% tags=["check"]
check("4.4", project_qkv)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# Multiply first. What is the shape of the product, and along which axis do the three parts lie side by side?
# </details>
# <details><summary>Hint 2</summary>
#
# `chunk` cuts a tensor into a given *number* of parts along an axis, `split` into parts of a given *size*. A `reshape` or `view` may give the right shape with the wrong content.
# </details>

# %% [markdown]
# ### 4.5 · Cross-attention
# 4 points · difficulty 3 of 5 · 15 minutes
#
# Write `cross_attention(x, memory, W_q, W_k, W_v)`: the tokens of `x` ask, the tokens of `memory` are asked. That is how a decoder reads the input of a translation.
#
# | argument | shape |
# |---|---|
# | `x` | `(B, L_q, d_x)` |
# | `memory` | `(B, L_k, d_m)` |
# | `W_q` | `(d_x, d_k)` |
# | `W_k`, `W_v` | `(d_m, d_k)`, `(d_m, d_v)` |
# | returns `output`, `weights` | `(B, L_q, d_v)`, `(B, L_q, L_k)` |
#
# In most cases of the check the lengths differ, and the sizes too. Example: with a memory of one token every weight is 1, and every output is that token's value, whatever `x` is.

# %% tags=["exercise"]
def cross_attention(x, memory, W_q, W_k, W_v):
    # BEGIN SOLUTION
    query = x @ W_q  # (B, L_q, d_k)
    key, value = memory @ W_k, memory @ W_v  # (B, L_k, d_k), (B, L_k, d_v)
    return attention(query, key, value)  # (B, L_q, d_v), (B, L_q, L_k)
    # END SOLUTION


# %% tags=["check"]
check("4.5", cross_attention)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# The output has as many rows as there are questions. Who asks?
# </details>
# <details><summary>Hint 2</summary>
#
# A key and its value come from the same token. So both come from the same one of the two sequences.
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# 1. queries: project the asking sequence
# 2. keys and values: project the other one, with a matrix for each
# 3. 4.2 with the three results
# </details>

# %% [markdown]
# ### 4.6 · Find the bug
# 3 points · difficulty 2 of 5 · 10 minutes
#
# The layer below runs, its shapes are right, and it even trains. Its last step is PyTorch's own function, which is allowed in this exercise and not to blame. Yet something is wrong. The values are added up linearly: if `v_proj` gives values
# twice as large, then the output must be twice as large. Run the cell, find out what the layer does instead, and write a mended version below.

# %%
class BrokenSelfAttention(nn.Module):
    def __init__(self, d_model, d_k, d_v):
        super().__init__()
        self.q_proj = nn.Linear(d_model, d_k)
        self.k_proj = nn.Linear(d_model, d_k)
        self.v_proj = nn.Linear(d_model, d_v)

    def forward(self, x):
        query, key, value = self.q_proj(x), self.k_proj(x), self.k_proj(x)  # (B, L, d_k), (B, L, d_k), (B, L, d_v)
        return F.scaled_dot_product_attention(query, key, value)  # (B, L, d_v)


torch.manual_seed(0)
layer, x = BrokenSelfAttention(6, 4, 4), torch.randn(1, 3, 6)
with torch.no_grad():
    before = layer(x)
    layer.v_proj.weight.mul_(2)
    layer.v_proj.bias.mul_(2)
    after = layer(x)
print(f"v_proj doubled: output times {(after / before).mean():.2f}, should be times 2.00")

# %% [markdown]
# Write the `forward` of `SelfAttention` so that it is right for all sizes: `(B, L, d_model)` gives `(B, L, d_v)`. Leave the constructor and its three names as they are: the check puts its own numbers into the three layers, and it looks at the output and at the
# gradients that reach the three layers.

# %% tags=["exercise"]
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k, d_v):
        super().__init__()
        self.q_proj = nn.Linear(d_model, d_k)
        self.k_proj = nn.Linear(d_model, d_k)
        self.v_proj = nn.Linear(d_model, d_v)

    def forward(self, x):
        # BEGIN SOLUTION
        query, key, value = self.q_proj(x), self.k_proj(x), self.v_proj(x)  # (B, L, d_k), (B, L, d_k), (B, L, d_v)
        return F.scaled_dot_product_attention(query, key, value)  # (B, L, d_v)
        # END SOLUTION


# %% tags=["check"]
check("4.6", SelfAttention)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# Which of the three layers does the output not feel at all? Set the weights of each to zero, one after the other, and see.
# </details>
# <details><summary>Hint 2</summary>
#
# Try `BrokenSelfAttention(6, 4, 5)`: how large is a row of its output, and how large should it be?
# </details>

# %% [markdown]
# ### 4.7 · Two tokens change places
# 1 point · difficulty 2 of 5 · 2 minutes
#
# The tokens at places 2 and 5 of a sequence are exchanged, before self-attention without positions and without a mask. What happens to its output?
#
# - **a.** Nothing: the output stays as it was, row by row.
# - **b.** Rows 2 and 5 of the output are exchanged, and all other rows stay as they were.
# - **c.** All rows change, since every token now sees another order.
# - **d.** Rows 2 and 5 get new values that appeared in no row before.

# %% tags=["quiz"]
quiz_4_7 = ""  # your letter between the quotes
# BEGIN SOLUTION
quiz_4_7 = "b"
# END SOLUTION

# %% tags=["check"]
check("4.7", quiz_4_7)

# %% [markdown]
# ### 4.8 · Four times as long
# 1 point · difficulty 1 of 5 · 2 minutes
#
# A text of 1000 tokens needs a certain memory for the weights of one self-attention. How much do the weights of a text of 4000 tokens need?
#
# - **a.** The same: the weights of each query sum to 1 in both.
# - **b.** Twice as much.
# - **c.** Four times as much.
# - **d.** Sixteen times as much.

# %% tags=["quiz"]
quiz_4_8 = ""  # your letter between the quotes
# BEGIN SOLUTION
quiz_4_8 = "d"
# END SOLUTION

# %% tags=["check"]
check("4.8", quiz_4_8)

# %% [markdown]
# {{next_steps}}
