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
# Eight exercises, 23 points. At the end you have an attention that never holds all its weights. It reads 32,768 tokens, and it aligns your own name.
#
# {{colab_link}} · core exercises about 20 minutes, all about 120 · builds on {{lesson_link}}
#
# Write your code where it says `YOUR CODE HERE`, run the cell, then run the check below it. A check that fails says what differs and, if it knows your mistake, what your answer did; `hint()`, or a second failure, adds what to try. You may try as often as you like. Hints are folded under each check.
#
# As in the lesson, a matrix is written to the right of the rows that it projects: `x @ W_q`, with `W_q` of shape `(d_model, d_k)`. Once you have written `attention` in 4.1, you may call it in the exercises after it. The attention functions of PyTorch and of `course_utils` are off limits in 4.1, and allowed elsewhere.
#
# An answer never changes its arguments in place, and it has the dtype of its arguments. In 4.1 gradients must flow through it.

# %% tags=["setup"]
import math
import sys

import torch
import torch.nn.functional as F
from torch import nn
from tqdm import tqdm

from course_checks import check, failing_case, hint
from course_utils import plotting, pretrained
from course_utils.memory import peak_memory
from course_utils.pretrained.pronunciation import SOUNDS, SPELLING
from course_utils.tokenizers import END_ID, START_ID

torch.set_num_threads(1)  # the tensors are small: sharing them out takes longer

# %% [markdown]
# ### 4.1 · Scaled dot-product attention
# 3 points · difficulty 2 of 5 · 10 minutes · core
#
# The lesson has the loop. Write `attention(query, key, value)` without one:
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
# weights `[[[0.75, 0.25]]]` and the output `[[[7.]]]`. In one case the scores of some queries lie above 100 and those of others below -100 (`torch.softmax` copes with them). PyTorch's `scaled_dot_product_attention` is off limits, and so is the course's own.

# %% tags=["exercise"]
def attention(query, key, value):
    # BEGIN SOLUTION
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5  # (..., L_q, L_k)
    weights = torch.softmax(scores, dim=-1)  # (..., L_q, L_k), each row sums to 1
    return weights @ value, weights  # (..., L_q, d_v), (..., L_q, L_k)
    # END SOLUTION


# %% [markdown] tags=["mistakes"]
# Try: the root is that of the number of entries in one query, which is that of one key, too.
# the scores go into the softmax unscaled.
#     query.shape[-1] ** 0.5 => 1
# the scores are divided by the root of d_v, the size of a value, which has no part in them.
#     query.shape[-1] ** 0.5 => value.shape[-1] ** 0.5
# the scores are divided by d_k (or twice by its root): the weights are too even.
#     query.shape[-1] ** 0.5 => query.shape[-1]
# the scores are multiplied by the root of d_k: the weights are too sharp.
#     query.shape[-1] ** 0.5 => query.shape[-1] ** -0.5
# the scores are divided by the root of L_k, the number of keys.
#     query.shape[-1] ** 0.5 => key.shape[-2] ** 0.5
# the scores are divided by the root of query.shape[1], a length or a number of heads.
#     query.shape[-1] ** 0.5 => query.shape[1] ** 0.5
# the scores are divided by the root of len(query), which is the size of its first axis.
#     query.shape[-1] ** 0.5 => len(query) ** 0.5
# the scores are divided by the fourth root of d_k: half of the scaling is missing.
#     query.shape[-1] ** 0.5 => query.shape[-1] ** 0.25
# Try: divide the scores by the root first, then take the softmax.
# the division comes after the softmax; it belongs before it.
#     / query.shape[-1] ** 0.5 =>
#     torch.softmax(scores, dim=-1) => torch.softmax(scores, dim=-1) / query.shape[-1] ** 0.5
# the softmax is that of unscaled scores, and the output is divided instead.
#     / query.shape[-1] ** 0.5 =>
#     weights @ value => weights @ value / query.shape[-1] ** 0.5
# Try: count the axes from the end, so that it holds however many stand in front.
# axes 1 and 2 of the keys are exchanged: with two leading axes, others.
#     key.transpose(-2, -1) => key.transpose(1, 2)
# Try: the keys of one query share the weight among them: each row sums to 1.
# a softmax over the queries (dim=-2): the columns sum to 1.
#     torch.softmax(scores, dim=-1) => scores.softmax(-2)
# a softmax over axis 1: with one leading axis these are the queries, with two it is the second of them. dim=-1 is the keys always.
#     torch.softmax(scores, dim=-1) => scores.softmax(1)
# Try: subtract something that every row has for itself, or use torch.softmax.
# exponentials without a shift: exp(100) overflows, exp(-110) is 0: NaN.
#     torch.softmax(scores, dim=-1) => scores.exp() / scores.exp().sum(-1, keepdim=True)
# one maximum is subtracted from all rows: a row far below it becomes 0 / 0.
#     torch.softmax(scores, dim=-1) => (scores - scores.max()).exp() / (scores - scores.max()).exp().sum(-1, keepdim=True)
# Try: the values are multiplied with what you hand back.
# the weights are right, but the values are multiplied with the raw scores.
#     weights @ value => (scores * query.shape[-1] ** 0.5) @ value
# the weights are right, but the output is made with those of unscaled scores.
#     weights @ value => (scores * query.shape[-1] ** 0.5).softmax(-1) @ value
# Try: exchange the last two axes alone, and keep the numbers in their places.
# the keys were brought to (..., d_k, L_k) by reshape or view, which scrambles them.
#     key.transpose(-2, -1) => key.reshape(*key.shape[:-2], key.shape[-1], -1)

# %% tags=["check"]
check("4.1", attention)

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
# ### 4.2 · Who asks, who is asked, who answers?
# 3 points · difficulty 4 of 5 · 15 minutes · more
#
# You are handed an attention layer that you can't open: a function `layer(x, memory)` of two sequences of the same length and width. Inside it is what you know, $\operatorname{softmax}(Q K^\top / \sqrt{d_k})\, V$, where $Q$, $K$ and $V$ are each projected by a matrix of their own, without a bias. But each of the three may come from `x` *or* from `memory`, which makes eight kinds of layers. In the lesson's cross-attention the queries
# come from `x`, the keys and values from `memory`; in a layer whose inputs were mixed up the keys may come from `x` and the values from `memory`, and no shape gives it away.
#
# Write `roles(layer, L, d)`, which finds out. It may call the layer on inputs of its choice, up to 50 times.
#
# | argument | what it is |
# |---|---|
# | `layer` | a function: `layer(x, memory)` takes two tensors `(L, d)` and gives one `(L, d_v)` |
# | `L`, `d` | sizes, both at least 3 |
# | returns | a list of three texts, each `"x"` or `"memory"`: where queries, keys and values come from |
#
# The cell below makes such layers, so you can try your function on all eight kinds. For `layer_from("x", "memory", "memory")` it has to give `["x", "memory", "memory"]`, and for `layer_from("x", "memory", "x")`, whose keys and values come from different sequences, `["x", "memory", "x"]`. All projections are random numbers of moderate size. The layer takes float64 as well, where rounding errors are far smaller than any effect that you could be after.

# %%
def layer_from(queries, keys, values, d=5, d_k=6, d_v=4):
    """An attention layer whose three parts come from "x" or from "memory"."""
    matrices = [torch.randn(d, size) / d**0.5 for size in (d_k, d_k, d_v)]

    def layer(x, memory):
        given = {"x": x, "memory": memory}
        sources = given[queries], given[keys], given[values]
        pairs = zip(sources, matrices, strict=True)
        q, k, v = (tokens @ W.to(x) for tokens, W in pairs)
        return F.scaled_dot_product_attention(q[None], k[None], v[None])[0]

    return layer


layer = layer_from("x", "memory", "memory")
print("output", tuple(layer(torch.randn(3, 5), torch.randn(3, 5)).shape))

# %% tags=["exercise"]
def roles(layer, L, d):
    # BEGIN SOLUTION
    x, memory = torch.randn(2, L, d, dtype=torch.float64)
    given = {"x": x, "memory": memory}

    def moves(**changed):  # which rows of the output change, of L
        before, after = layer(**given), layer(**{**given, **changed})
        return (before - after).abs().amax(-1) > 1e-9

    # Values of 0 make an output of 0, whatever the weights are.
    values = "x" if (layer(0 * x, memory) == 0).all() else "memory"
    other = "memory" if values == "x" else "x"
    nudged = given[other].clone()
    nudged[1] += 1.0
    rows = moves(**{other: nudged})
    # A new key moves all rows, since every query meets it; a new query moves its own.
    keys = other if rows[0] else values
    doubled = layer(**{**given, values: 2 * given[values]})
    linear = torch.allclose(doubled, 2 * layer(**given), rtol=1e-9)
    # If the values' sequence gives the queries too, doubling it sharpens the weights.
    queries = other if (linear if keys == other else rows[1]) else values
    return [queries, keys, values]
    # END SOLUTION


# %% [markdown] tags=["mistakes"]
# Try: what does your function measure? Let the answer follow from what the layer does.
# a sequence that changes the output is taken to give what it gives in the lesson: "x" the queries, "memory" the keys.
#     [queries, keys, values] => ["memory" if torch.allclose(layer(x.flip(0), memory), layer(x, memory)) else "x", "x" if torch.allclose(layer(x, memory.flip(0)), layer(x, memory)) else "memory", values]
# always the lesson's cross-attention, whatever the layer does.
#     [queries, keys, values] => ["x", "memory", "memory"]
# Try: keys and values can come from different sequences: find out each by an experiment of its own.
# the keys are taken to come from where the values come from.
#     keys = other if rows[0] else values => keys = values
# keys and values are taken to come from one sequence, and the queries from the other.
#     [queries, keys, values] => [other, values, values]
# the values are taken to come from where the keys come from.
#     [queries, keys, values] => [queries, keys, keys]
# Try: the queries can come from any of the two, whoever gives the keys and the values.
# the queries are taken to come from the sequence that doesn't give the keys.
#     [queries, keys, values] => ["x" if keys == "memory" else "memory", keys, values]
# the queries are taken to come from the sequence that doesn't give the values.
#     [queries, keys, values] => [other, keys, values]
# Try: change one token: which rows of the output change if it is a query, and which if it is a key?
# queries and keys are exchanged.
#     [queries, keys, values] => [keys, queries, values]
# queries and keys are taken to come from the same sequence.
#     [queries, keys, values] => [keys, keys, values]
#     keys = other if rows[0] => keys = other if rows[1]
# Try: what comes out if all values are 0?
# the values' sequence is taken for the other one.
#     [queries, keys, values] => [queries, keys, other]
# the test of the values is read the wrong way round, and what is found with its help goes wrong too.
#     values = "x" if => values = "memory" if
#     .all() else "memory" => .all() else "x"
# a sequence that changes the output is taken to give the values; queries and keys change it too.
#     values = "x" if (layer(0 * x, memory) == 0).all() else "memory" => values = "memory" if moves(memory=torch.randn(L, d).double()).any() else "x"
# Try: the order is queries, keys, values.
# keys and values are exchanged.
#     [queries, keys, values] => [queries, values, keys]
# Try: use inputs in which no two tokens are alike, and changes that are larger than a rounding error.
# all three are said to come from where the values come from.
#     [queries, keys, values] => [values, values, values]

# %% tags=["check"]
check("4.2", roles)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# Begin with the values. The output is a mix of them. Which input makes an output of which you know every number?
# </details>
# <details><summary>Hint 2</summary>
#
# Change a single token of one sequence. If it was a query, how many rows of the output change? And if it was a key? Do it with the sequence that does not give the values, so that only these two are left.
# </details>
# <details><summary>Hint 3</summary>
#
# One case is left: that sequence gives the keys, and all rows change anyway. Then turn to the values' sequence and double it. If it gives nothing but the values, what does the output do? What if it gives the queries as well?
# </details>

# %% [markdown]
# ### 4.3 · Matrices that make the weights you want
# 4 points · difficulty 4 of 5 · 20 minutes · more
#
# Now the other way round. You get the tokens and a table of weights, and you look for two matrices with which self-attention makes exactly this table. Write `projections_for(x, wanted)`.
#
# | argument | shape |
# |---|---|
# | `x` | `(L, d_model)`, with `L <= d_model`; its rows are linearly independent |
# | `wanted` | `(L, L)`: all entries positive, each row sums to 1 |
# | returns `W_q`, `W_k` | `(d_model, d_k)` each, for a `d_k` of your choice |
#
# There are many right answers. The check takes your two matrices, computes the weights of `x` attending to itself, with the scores divided by the root of *your* `d_k`, and compares them with `wanted`.
#
# Example: `x = [[1., 1.], [0., 2.]]` and `wanted = [[0.75, 0.25], [0.5, 0.5]]`. One right answer has `d_k = 1`: `W_q = [[1.0986], [0.]]` and `W_k = [[1.], [0.]]` make the queries 1.0986 and 0 and the keys 1 and 0, so the scores are `[[1.0986, 0.], [0., 0.]]`. (With zeros added to `W_q` and `W_k` up to `d_k = 4`, the same numbers would give
# the weights 0.63 and 0.37 in the first row.) For most tables one column won't do.

# %% tags=["exercise"]
def projections_for(x, wanted):
    # BEGIN SOLUTION
    L = len(x)
    undo = torch.linalg.pinv(x)  # (d_model, L): x @ undo is the identity
    scores = wanted.log() * L**0.5  # (L, L), before the division by the root of d_k = L
    return undo @ scores, undo  # queries x @ W_q = scores, keys x @ W_k = identity
    # END SOLUTION


# %% [markdown] tags=["mistakes"]
# Try: ask which numbers the softmax turns into wanted.
# the wanted weights themselves stand where the scores should: far too even.
#     wanted.log() => wanted
# a softmax of the wanted weights stands where the scores should.
#     wanted.log() => wanted.softmax(-1)
# log(w / (1 - w)) stands where the scores should, which undoes a sigmoid.
#     wanted.log() => wanted.logit()
# a logarithm with base 2, but the softmax takes powers of e.
#     wanted.log() => wanted.log2()
# a logarithm with base 10, but the softmax takes powers of e.
#     wanted.log() => wanted.log10()
# Try: row i of the weights belongs to query i: x @ W_q @ (x @ W_k).T is the table of scores.
# your scores are turned: a transposed table, or W_q in the place of W_k.
#     undo @ scores, undo => undo @ scores.T, undo
# the matrices are turned: (d_k, d_model).
#     undo @ scores, undo => (undo @ scores).T, undo.T
# one matrix for both, so your scores are symmetric.
#     undo @ scores, undo => undo @ scores, undo @ scores
# Try: the tokens are multiplied with your matrices: what undoes that?
# x.T stands where an inverse should; it is one for orthonormal rows only.
#     torch.linalg.pinv(x) => x.T
# scores and identity are taken as the matrices themselves; x is still in front.
#     torch.linalg.pinv(x) => torch.eye(x.shape[1], L, dtype=x.dtype)
# queries and keys of shape (L, d_k) are handed back, not what makes them.
#     undo @ scores, undo => scores, torch.eye(L, dtype=x.dtype)
# Try: see the hints.
# torch.linalg.inv works for square x only.
#     torch.linalg.pinv(x) => torch.linalg.inv(x)
# Try: the check divides your scores by the root of your d_k: what must they be before that?
# right but for the division by the root of d_k, which nothing makes up for.
#     ` * L**0.5` =>
# the scores are divided by the root of d_k, and then once more, as always.
#     ` * L**0.5` => ` / L**0.5`
# the scores are multiplied by the root of d_model, but d_k is another.
#     ` * L**0.5` => ` * x.shape[1] ** 0.5`

# %% tags=["check"]
check("4.3", projections_for)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# Which scores have `wanted` as their softmax? What undoes an exponential?
# </details>
# <details><summary>Hint 2</summary>
#
# Suppose the keys `x @ W_k` were the identity matrix. What would the queries have to be, before the division by the root of `d_k`? And how large is `d_k` then?
# </details>
# <details><summary>Hint 3</summary>
#
# `torch.linalg.pinv(x)`, of shape `(d_model, L)`, is a matrix with `x @ torch.linalg.pinv(x)` equal to the identity. (`torch.linalg.inv` is for square matrices only.)
# </details>

# %% [markdown]
# ### 4.4 · Find the bug, and say when it shows
# 3 points · difficulty 3 of 5 · 10 minutes · core
#
# The author of this layer chose the scale by hand and compared the result with PyTorch's own before publishing it. The test passes, and still something is wrong. Some colleagues who used the layer report that its weights are too even, others that they are too sharp, and for some all is well. Find out what is wrong, and tell each colleague what to expect: write `verdict(B, L, d_model, d_k, d_v)`.
#
# | argument | what it is |
# |---|---|
# | `B`, `L`, `d_model` | the shape of `x` |
# | `d_k`, `d_v` | the sizes that the layer was made with |
# | returns | `"too even"` if the layer divides its scores by too much, `"too sharp"` if by too little, and `"right"` if its weights are always those of PyTorch |
#
# Judge the weights that come out, not the line that makes them. For the author's own sizes, `verdict(2, 16, 16, 16, 16)` is `"right"`; `verdict(2, 9, 16, 16, 16)` is `"too sharp"`, and `verdict(16, 40, 16, 16, 9)` is `"too even"`. Try sizes with `agrees_with_pytorch` before you decide.

# %%
class BrokenSelfAttention(nn.Module):
    def __init__(self, d_model, d_k, d_v):
        super().__init__()
        self.q_proj = nn.Linear(d_model, d_k)
        self.k_proj = nn.Linear(d_model, d_k)
        self.v_proj = nn.Linear(d_model, d_v)

    def forward(self, x):
        query, key, value = self.q_proj(x), self.k_proj(x), self.v_proj(x)
        batch, size = query.shape[:2]
        divided = {"scale": 1 / size**0.5}  # what the scores are multiplied by
        return F.scaled_dot_product_attention(query, key, value, **divided)

# %%
def agrees_with_pytorch(layer, x):
    query, key, value = layer.q_proj(x), layer.k_proj(x), layer.v_proj(x)
    right = F.scaled_dot_product_attention(query, key, value)
    return torch.allclose(layer(x), right, atol=1e-6)


torch.manual_seed(0)
layer, x = BrokenSelfAttention(16, 16, 16), torch.randn(2, 16, 16)
print("agrees with PyTorch:", agrees_with_pytorch(layer, x))

# %% tags=["exercise"]
def verdict(B, L, d_model, d_k, d_v):
    # BEGIN SOLUTION
    if L == d_k or L == 1:  # the weight of an only key is 1, whatever its score
        return "right"
    return "too even" if L > d_k else "too sharp"
    # END SOLUTION


# %% [markdown] tags=["mistakes"]
# Try: divided by more than they should be, scores come closer together; what does the softmax make of that?
# "too even" and "too sharp" are exchanged.
#     "too even" if L > d_k else "too sharp" => "too sharp" if L > d_k else "too even"
# Try: compare by how much the layer divides with the root of the size of one query; print both for some sizes.
# the number of tokens is compared with d_v, the size of a value.
#     L == d_k => L == d_v
#     L > d_k => L > d_v
# the number of tokens is compared with d_model, the width of x.
#     L == d_k => L == d_model
#     L > d_k => L > d_model
# the size of a value is compared with d_k, but the layer never looks at it.
#     L == d_k => d_v == d_k
#     L > d_k => d_v > d_k
# the size of the batch is compared with d_k.
#     L == d_k => B == d_k
#     L > d_k => B > d_k
# the number of all tokens in the batch is compared with d_k.
#     L == d_k => B * L == d_k
#     L > d_k => B * L > d_k
# the width of x is compared with d_k, whatever the number of tokens.
#     L == d_k => d_model == d_k
#     L > d_k => d_model > d_k
# Try: take a text with fewer tokens than a query has entries. Does the layer divide by too much there?
# all sizes but the author's own are told to be too even.
#     L == d_k or L == 1 => L == d_model == d_k == d_v
#     "too even" if L > d_k else "too sharp" => "too even"
# Try: keep L and d_k as they are and change d_model and d_v: does layer(x) stop agreeing?
# where L is d_k but another size differs, the weights are told to be too even.
#     L == d_k or L == 1 => L == d_model == d_k == d_v or L == 1
#     L > d_k => L >= d_k
# Try: run the layer on a text of one token.
# a text of a single token is told that its weights are wrong.
#     ` or L == 1` =>
# a batch of a single text is told that its weights are right, and a text of a single token isn't.
#     L == 1 => B == 1
# where a query is a single number the weights are told to be right, and for a text of a single token they aren't.
#     L == 1 => d_k == 1

# %% tags=["check"]
check("4.4", verdict)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# The test uses 16 nearly everywhere. Change one size at a time: which of them makes `agrees_with_pytorch` say no?
# </details>
# <details><summary>Hint 2</summary>
#
# Print `size` for an `x` of shape `(2, 9, 16)`. What does it count, and what should it count?
# </details>
# <details><summary>Hint 3</summary>
#
# Scores that are divided by too much are close together. And there's one length at which a wrong score can't do any harm. Which?
# </details>

# %% [markdown] tags=["solution"]
# The queries' shape is `(B, L, d_k)`, and its first two sizes are `B` and `L`, so `size` is the number of tokens. The layer divides by $\sqrt L$ where it should divide by $\sqrt{d_k}$. A model that is trained and tested at one length may never show it. Then a longer text comes, and its weights are too even.

# %% [markdown]
# ### 4.5 · Attention in blocks
# 5 points · difficulty 4 of 5 · 25 minutes · more
#
# The keys and values of a very long sequence come in blocks, as from a file, and they can be read **once**, from front to back. Write `attention_in_blocks(query, blocks)`: the same output as `attention(query, key, value)` with all blocks joined, but never more in memory than one block needs.
#
# | argument | shape |
# |---|---|
# | `query` | `(B, L_q, d_k)` |
# | `blocks` | an iterable of pairs `(key, value)`, of shapes `(B, l, d_k)` and `(B, l, d_v)`; `l` may differ from block to block |
# | returns `output` | `(B, L_q, d_v)` |
#
# Go through it with `for key, value in blocks:`. You can't ask for its length, and a second loop over it finds nothing. The check adds up all tensors that you hold at the same time, and what you hold must not grow with the number of blocks: no list of scores, no joined keys. Leave the blocks themselves as they are. In some cases scores lie above 30,000 or below -30,000.
#
# Example: `query = [[[1.]]]`, a first block with `key = [[[0.], [1.0986]]]` and `value = [[[4.], [8.]]]`, a second with `key = [[[2.4849]]]` and `value = [[[16.]]]`. The weights of the three keys are `1/16`, `3/16` and `12/16`, so the output is `[[[13.75]]]`. (The mean of both blocks' outputs would be 11.5.)

# %% tags=["exercise"]
def attention_in_blocks(query, blocks):
    # BEGIN SOLUTION
    highest, total, output = -math.inf, 0.0, 0.0
    for key, value in blocks:
        scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5  # (B, L_q, l)
        largest = scores.amax(-1, keepdim=True).clamp(min=highest)  # (B, L_q, 1)
        shrink = (highest - largest).exp()  # (B, L_q, 1), 0 at the first block
        powers = (scores - largest).exp()  # (B, L_q, l)
        total = total * shrink + powers.sum(-1, keepdim=True)  # (B, L_q, 1)
        output = output * shrink + powers @ value  # (B, L_q, d_v)
        highest = largest
    return output / total
    # END SOLUTION


# %% [markdown] tags=["mistakes"]
# Try: use up each block before the next one comes, and keep three things: maximum, sum, output.
# something of every block is kept to the end (its keys, scores or output).
#     for key, value in blocks: => kept = []\n    for key, value in blocks:\n        kept.append(value)
# Try: find maximum, sum and output in one and the same loop.
# a second loop over the blocks, which can be read only once.
#     for key, value in blocks: => list(blocks)\n    for key, value in blocks:
# Try: what divides must come from all blocks together.
# the mean of the blocks' own outputs: every block counts alike, whatever its scores.
#     scores.amax(-1, keepdim=True).clamp(min=highest) => scores.amax(-1, keepdim=True)
#     total * shrink + powers => total + 1 + 0 * powers
#     output * shrink + powers => output + powers / powers.sum(-1, keepdim=True)
# the sum of exponentials times values, never divided.
#     return output / total => return output
# Try: the root is that of the number of entries in one query, which is that of one key, too.
# the scores go into the softmax unscaled.
#     query.shape[-1] ** 0.5 => 1
# the scores are divided by d_k (or twice by its root): the weights are too even.
#     query.shape[-1] ** 0.5 => query.shape[-1]
# the scores are multiplied by the root of d_k: the weights are too sharp.
#     query.shape[-1] ** 0.5 => query.shape[-1] ** -0.5
# the scores are divided by the root of d_v, the size of a value, which has no part in them.
#     query.shape[-1] ** 0.5 => value.shape[-1] ** 0.5
# the scores are divided by the root of L_k, the number of keys.
#     query.shape[-1] ** 0.5 => key.shape[-2] ** 0.5
# Try: when the maximum rises from old to new, what was added up before is too large by exp(new - old).
# old sum and output are kept as they were when the maximum rises.
#     (highest - largest).exp() => 1
# the old output is kept as it was when the maximum rises; the sum shrinks.
#     output * shrink + powers => output + powers
# Try: every query has a maximum of its own, over all its scores so far.
# one maximum is subtracted for all queries: those far below it get 0 / 0.
#     scores.amax(-1, keepdim=True).clamp(min=highest) => scores.max().clamp(min=highest)
# exponentials of the scores as they are: exp(1000) overflows, exp(-1000) is 0.
#     scores.amax(-1, keepdim=True).clamp(min=highest) => 0 * scores.amax(-1, keepdim=True)
#     -math.inf => 0.0
# each block's own maximum is subtracted: too low where an earlier score is far higher.
#     scores.amax(-1, keepdim=True).clamp(min=highest) => scores.amax(-1, keepdim=True)
# Try: begin with what lies below every score.
# the running maximum begins too high: far below it all is 0, and 0 / 0 is NaN.
#     -math.inf => 0.0
# Try: add up without dividing, and divide once, after the last block.
# the output is divided by the sum in every block, and then goes on as if it were a sum.
#     \n        highest = largest => \n        highest = largest\n        output = output / total
#     return output / total => return output

# %% tags=["check"]
check("4.5", attention_in_blocks)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# What did the lesson keep for its one query: which three numbers? Here there are `B` times `L_q` queries. What shape has each of the three?
# </details>
# <details><summary>Hint 2</summary>
#
# If a block raises the maximum from 2 to 5, everything you have added up so far is too large by a factor of $e^3$. What about the first block, where there is no maximum yet? (`torch.exp(torch.tensor(-math.inf))` is 0.)
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# 1. start: maximum minus infinity, sum 0, output 0
# 2. for each block: scores; the new maximum of each query, old ones included; the factor by which the old sum and output shrink
# 3. exponentials relative to the new maximum; add them to the sum, add their products with the values to the output
# 4. at the end, divide once
# </details>

# %% [markdown]
# Now the long run, with your own function: 32,768 queries over 32,768 keys. The queries are cut too, since each of them is on its own. The table of all weights would take 4,295 MB. How much more memory does your process need? (Some seconds; twice as many on a busy machine.)

# %% tags=["nbval-ignore-output"]
def long_run(L=32768, d=16, block=512):
    query, key, value = torch.randn(3, 1, L, d)  # (B=1, L, d) each
    parts = []
    for some in tqdm(query.split(block, 1), mininterval=1, file=sys.stdout):
        blocks = zip(key.split(block, 1), value.split(block, 1), strict=True)
        parts.append(attention_in_blocks(some, blocks))  # (1, block, d)
    return query, key, value, torch.cat(parts, dim=1)


try:
    (q, k, v, output), megabytes = peak_memory(long_run)
except NotImplementedError:
    print("Still missing: your answer to 4.5. Then run this cell again.")
else:
    by_pytorch = F.scaled_dot_product_attention(q[:, ::1000], k, v)  # 33 of the queries
    same = torch.allclose(output[:, ::1000], by_pytorch, atol=1e-5)
    print(f"as PyTorch says: {same}; {megabytes:.0f} MB more, arguments included")

# %% [markdown]
# ### 4.6 · Open experiment: scale and width
# 3 points · difficulty 3 of 5 · 20 minutes · more
#
# Six players look for the card of the next name, as in section 4.4 of the lesson. Which scale can learn this, at which width? Before you run anything, write down your guess for each of the three scales: will it work at $d_k = 8$, at 64, at 512?
#
# The next three cells hold the game, the model and the training. `share_right(d_k, divisor)` trains five models side by side, from five starting points, whose scores are divided by `divisor`. It hands back a list of five shares of right answers on new games. (Always saying the commonest card gives about 0.47.)

# %%
NAMES, CARDS, SEEDS = 6, 4, 5


def deal(B, rng):
    """B games for each of five models: names, cards, and the card to be said."""
    names = torch.rand(SEEDS, B, NAMES, generator=rng).argsort(-1)  # (S, B, L)
    cards = torch.randint(CARDS, names.shape, generator=rng)  # (S, B, L)
    seat = names.argsort(-1)  # (S, B, NAMES): where each name sits
    wanted = cards.gather(-1, seat.gather(-1, (names + 1) % NAMES))  # (S, B, L)
    return names, cards, wanted

# %%
class Players(nn.Module):
    def __init__(self, d_k, divisor, d=16):
        super().__init__()
        rng, self.divisor = torch.Generator().manual_seed(0), divisor
        shapes = (NAMES, d), (CARDS, d), (d, d_k), (d, d_k), (d, d), (d, CARDS)
        parts = [torch.randn(SEEDS, 1, *shape, generator=rng) for shape in shapes]
        self.name, self.card = (part / 2**0.5 for part in parts[:2])  # not learned
        self.W = nn.ParameterList([part / d**0.5 for part in parts[2:]])

    def forward(self, names, cards):
        who, what = F.one_hot(names, NAMES).float(), F.one_hot(cards, CARDS).float()
        x = who @ self.name + what @ self.card  # (S, B, L, d_model)
        q, k, v = (x @ W for W in self.W[:3])
        mixed = F.scaled_dot_product_attention(q, k, v, scale=1 / self.divisor)
        return mixed @ self.W[3]  # (S, B, L, CARDS)

# %%
def share_right(d_k, divisor, steps=300, rate=0.7):
    rng, model = torch.Generator().manual_seed(1), Players(d_k, divisor)
    optimizer = torch.optim.SGD(model.parameters(), lr=rate)
    said = f"d_k {d_k}, divided by {divisor:.3g}"
    for _ in tqdm(range(steps), desc=said, mininterval=1, file=sys.stdout):
        names, cards, wanted = deal(16, rng)
        logits = model(names, cards).flatten(0, 2)  # (S * B * L, CARDS)
        loss = SEEDS * F.cross_entropy(logits, wanted.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    names, cards, wanted = deal(500, rng)  # new games
    with torch.no_grad():
        right = model(names, cards).argmax(-1) == wanted  # (S, B, L)
    return right.float().mean((1, 2)).tolist()

# %% [markdown]
# Fill the dict `scale_results`, with one list of five shares for each width and scale. The whole takes about ten seconds.
#
# | entry | what it is |
# |---|---|
# | `scale_results[d_k, scale]` | five shares, for `d_k` 8, 64 and 512 and `scale` `"none"`, `"root"` ($\sqrt{d_k}$) and `"d_k"`: nine entries, such as `scale_results[8, "root"]` |
# | `scale_results["none fails at"]` | the smallest of the three widths at which not all five seeds of `"none"` reach 0.99; `None` if they always do |
# | `scale_results["root fails at"]` | the same for `"root"` |
# | `scale_results["d_k fails at"]` | the same for `"d_k"` |
#
# Read the last three off *your* numbers, by eye or by code. The check judges them by your table, not by ours. It can tell whether such runs could give your shares, but not which divisors you used. Then compare with your guess. Which of the three surprised you? And does the figure of section 4.5 explain what you see, at $d_k = 64$ too? To find out, give a scale that fails ten times as many steps, or a smaller rate: `share_right` takes `steps` and `rate`.

# %% tags=["exercise", "nbval-ignore-output"]
scale_results = {}
# BEGIN SOLUTION
widths = (8, 64, 512)
divisors = {"none": lambda d: 1.0, "root": lambda d: d**0.5, "d_k": float}
for scale, divisor in divisors.items():
    for d_k in widths:
        scale_results[d_k, scale] = share_right(d_k, divisor(d_k))
    failing = [d_k for d_k in widths if min(scale_results[d_k, scale]) < 0.99]
    scale_results[f"{scale} fails at"] = failing[0] if failing else None
# END SOLUTION

# %% tags=["check"]
check("4.6", scale_results)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# Two loops, over widths and scales, and one call inside. The divisor of `"none"` is 1.
# </details>
# <details><summary>Hint 2</summary>
#
# `min(scale_results[512, "none"])` is the worst of the five seeds. For each scale, go through the widths from the smallest on, and stop at the first one where that is below 0.99.
# </details>

# %% tags=["solution", "nbval-ignore-output"]
worst = {}
for scale in divisors:
    worst[scale] = torch.tensor([min(scale_results[d_k, scale]) for d_k in widths])
worst["always the commonest card"] = torch.tensor([0.47] * len(widths))
names = {"xlabel": "d_k (log scale)", "ylabel": "worst of five seeds"}
ax = plotting.new_axes(5.6, 3.4)
plotting.curves(torch.tensor(widths), worst, **names, ax=ax)
ax.set_xscale("log", base=2)
ax.set_ylim(0.4, 1.02)
plotting.show(ax, "The worst of five seeds by d_k: it stays at 1 only with the root.")

# %% tags=["solution", "nbval-ignore-output"]
tries = {
    (64, "d_k"): {"3,000 steps": {"steps": 3000}},
    (64, "none"): {
        "3,000 steps": {"steps": 3000},
        "1,000 smaller steps": {"steps": 1000, "rate": 0.2},
    },
    (512, "none"): {"1,500 smaller steps": {"steps": 1500, "rate": 0.05}},
}
for (d_k, scale), ways in tries.items():
    for way, options in {"as above": {}, **ways}.items():
        shares = share_right(d_k, divisors[scale](d_k), **options)
        said = f"width {d_k:3}, scale {scale:4}, {way:20}"
        print(said, *(f"{share:.3f}" for share in shares))

# %% [markdown] tags=["solution"]
# The figure explains one of the two failures. **Divided by $d_k$** the derivative is small, so learning is slow. With ten times as many steps all five models reach 1.000 at $d_k = 64$: that's a delay, and it ends.
#
# **Without a scale** the figure would have us expect the best learner at 64, since its typical derivative is about the largest there. Four models do learn the game, and one stops short of it. Ten times as many steps of the same size don't help. A third of the steps with a smaller rate does. The gradient at the start can't be the reason, then, but the size of the steps is: for scores that aren't scaled, they are too large. (That such a step lands in a choice too hard to be undone is a guess.) At 512 the figure has the typical derivative collapse, and after 300 steps no seed has learned the game. Yet with small steps, and enough of them, all five do. A derivative that's small for most queries is no wall, then. The figure shows where learning starts, and not where a large step lands.

# %% [markdown]
# ### 4.7 · One matrix for two roles
# 1 point · difficulty 3 of 5 · 8 minutes · more
#
# A layer uses the same matrix for queries and keys, $W_q = W_k$. One of these tables holds scores (before the scale and the softmax) that it could have produced from two tokens. Which one? Symmetry alone doesn't decide it: think of the diagonal.
#
# - **a.** $\begin{pmatrix} 1 & 2 \\ 2 & 1 \end{pmatrix}$
# - **b.** $\begin{pmatrix} 4 & 1 \\ -1 & 4 \end{pmatrix}$
# - **c.** $\begin{pmatrix} 4 & -2 \\ -2 & 1 \end{pmatrix}$
# - **d.** $\begin{pmatrix} -1 & 0 \\ 0 & -1 \end{pmatrix}$

# %% tags=["quiz"]
quiz_4_7 = ""  # your letter between the quotes
# BEGIN SOLUTION
quiz_4_7 = "c"
# END SOLUTION

# %% [markdown] tags=["solution"]
# Why each option is right or wrong:
#
# - **a.** with one matrix these diagonals are q · q = 1: two vectors of length 1, whose dot product can't be 2.
# - **b.** one matrix makes q_i · q_j and q_j · q_i equal, and these are 1 and -1.
# - **c.** the two queries 2 and -1, of size 1, make it: 2 · 2, 2 · (-1) and (-1) · (-1).
# - **d.** with one matrix a token's score with itself is q · q, a sum of squares, and can't be negative.

# %% tags=["check"]
check("4.7", quiz_4_7)

# %% [markdown]
# ### 4.8 · A key projection that starts at zero
# 1 point · difficulty 3 of 5 · 8 minutes · more
#
# In a cross-attention $W_k$ is all zeros, while $W_q$, $W_v$ and the tokens are random. Some loss is computed from the output. Which of the three matrices get a gradient that isn't zero? Measure it if you like, with three matrices and your own 4.1: `requires_grad_()`, a sum of squares of the output, `backward()`.
#
# - **a.** $W_v$ alone, since with equal weights nothing depends on the scores.
# - **b.** $W_k$ and $W_v$.
# - **c.** $W_q$ and $W_v$.
# - **d.** All three.

# %% tags=["quiz"]
quiz_4_8 = ""  # your letter between the quotes
# BEGIN SOLUTION
quiz_4_8 = "b"
# END SOLUTION

# %% [markdown] tags=["solution"]
# Why each option is right or wrong:
#
# - **a.** the weights are equal now, but they would change if W_k did; that is what a gradient measures.
# - **b.** the scores move with W_k as soon as it moves, since the queries aren't zero. They don't move with W_q, since it's multiplied by keys that are zero.
# - **c.** it's the other way round: a change of W_q meets keys that are zero, a change of W_k meets queries that aren't.
# - **d.** W_q is multiplied by keys that are zero, so no small change of it changes a score.

# %% tags=["check"]
check("4.8", quiz_4_8)

# %% [markdown]
# ## Payoff: your attention pronounces your name
#
# Here your 4.5 replaces the attention in lesson 03's speller. The speller has additive scores, and there is a trick to hand them to a dot product: the query is 1, and the keys *are* the scores. A second trick shows where it looked, although blocks hand back no weights: each letter's value gets a row of the identity
# matrix at its side, so the output holds the weights themselves. The letters come two at a time. Put your own name in.

# %%
class InBlocks(nn.Module):
    """Your attention_in_blocks around the speller's own scores."""

    def __init__(self, old):
        super().__init__()
        self.old = old

    def forward(self, query, key, value, mask=None):
        asked = self.old.q_proj(query) + self.old.k_proj(key)  # (1, 1, d) + (1, L_k, d)
        scores = self.old.v_proj(torch.tanh(asked))  # (1, L_k, 1), as keys of size 1
        identity = torch.eye(value.shape[1])[None]  # (1, L_k, L_k)
        both = torch.cat((value, identity), dim=-1)  # (1, L_k, d_v + L_k)
        pairs = zip(scores.split(2, dim=1), both.split(2, dim=1), strict=True)
        output = attention_in_blocks(torch.ones(1, 1, 1), pairs)  # (1, 1, d_v + L_k)
        return output[..., : value.shape[-1]], output[..., value.shape[-1] :]

# %%
def speak(model, name):
    """The sounds, and where each one looked."""
    state = model.start_decoding(SPELLING.batch([name]))
    token, sounds, rows = torch.tensor([START_ID]), [], []
    while token.item() != END_ID and len(sounds) < 30:
        log_probs, state = model.decode_step(state, token)
        token = log_probs.argmax(-1)
        sounds.append(SOUNDS.symbols[token.item()])
        rows.append(state.weights[0])
    return sounds, torch.stack(rows)

# %%
my_name = "alexandra"  # small letters a to z

speller = pretrained.load("recurrent_attention").eval().requires_grad_(False)
before = speak(speller, my_name)
speller.attention = InBlocks(speller.attention)
try:
    sounds, rows = speak(speller, my_name)
except NotImplementedError:
    print("Still missing: your answer to 4.5. Then run this cell again.")
else:
    same = sounds == before[0] and torch.allclose(rows, before[1], atol=1e-5)
    print("same sounds, same weights as before:", same)
    title = " ".join(sounds[:-1])
    ax = plotting.attention_heatmap(rows, sounds, list(my_name), title=title)
    plotting.show(ax, f"Your attention in blocks aligns {my_name} with its sounds.")

# %% [markdown]
# {{next_steps}}
