# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 01 · Dot-product similarity: exercises
#
# Nine exercises, 24 points. By the end you can compare vectors, alone and in batches, and your own functions search Python's documentation.
#
# {{colab_link}} · about 105 minutes · builds on {{lesson_link}}
#
# Write your code where it says `YOUR CODE HERE`, run the cell, then run the check below it. A check that fails says what differs and, if it knows your mistake,
# what your answer did; `hint()`, or a second failure, adds what to try. You may try as often as you like. Hints are folded under each check. A function of `course_utils` that does what an exercise asks for is off limits in it. All vectors hold 32-bit floats where nothing else is said.

# %% tags=["setup"]
import collections
from pydoc_data.topics import topics

import torch
import torch.nn.functional as F

from course_checks import check, failing_case, hint
from course_utils import plotting, widgets
from course_utils.datasets import documentation, word_vectors

# %% [markdown]
# ### 1.1 · The dot product
# 2 points · difficulty 1 of 5 · 5 minutes
#
# Write `dot(a, b)`: multiply the two vectors coordinate by coordinate, and add up the products.
#
# | argument | shape |
# |---|---|
# | `a`, `b` | `(d,)` |
# | returns | one number: a tensor without dimensions, or a Python number |
#
# Example: `dot(torch.tensor([2., 3.]), torch.tensor([1., 4.]))` is 14.

# %% tags=["exercise"]
def dot(a, b):
    # BEGIN SOLUTION
    return (a * b).sum()
    # END SOLUTION


# %% [markdown] tags=["mistakes"]
# Try: the dot product is one number.
# the products a_i b_i, one for each coordinate, not yet added up.
#     .sum() =>
# Try: every coordinate counts, from the first to the last.
# only the first two coordinates count.
#     (a * b) => (a * b)[:2]
# the last coordinate is left out.
#     (a * b) => (a * b)[:-1]
# the first coordinate is left out.
#     (a * b) => (a * b)[1:]
# Try: number i of a meets number i of b alone: multiply coordinate by coordinate, then add.
# every number of a meets every number of b: that makes the sum of a times the sum of b.
#     (a * b).sum() => a.sum() * b.sum()
# Try: don't divide by d.
# the mean of the products, not their sum: too small by the factor d.
#     sum => mean
# Try: [2, 3] times [-1, -2] is -8.
# the sum of the absolute products: the sign is lost.
#     (a * b) => (a * b).abs()
# Try: leave int out.
# each product is cut to a whole number.
#     (a * b) => (a * b).trunc()
# Try: leave out int and //.
# the dot product is cut to a whole number.
#     .sum() => .sum().trunc()
# Try: if you have a loop: should return stand in it, or behind it?
# only the first coordinate counts.
#     (a * b) => (a * b)[:1]
# Try: multiply coordinate by coordinate first, then add.
# the sum of all coordinates of a and b: nothing is multiplied.
#     a * b => a + b
# Try: leave the lengths in.
# the dot product divided by both lengths: that is the cosine.
#     .sum() => .sum() / (a.norm() * b.norm())

# %% tags=["check"]
check("1.1", dot)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# `a * b` multiplies two tensors of one shape entry by entry.
# </details>
# <details><summary>Hint 2</summary>
#
# Every tensor has a method that adds up all its entries.
# </details>

# %% [markdown]
# ### 1.2 · Cosine similarity, zero vectors included
# 3 points · difficulty 2 of 5 · 10 minutes
#
# Write `cosine(a, b)` for two stacks of vectors: the cosine of the angle between row `i` of `a` and row `i` of `b`. Where either of them is the zero vector, or both are, the result is 0.
# Vectors that are short but not zero count like any other, down to a length of `1e-7`: your guard must not change their cosine.
#
# | argument | shape |
# |---|---|
# | `a`, `b` | `(n, d)` |
# | returns | `(n,)`, values from -1 to 1, never NaN |
#
# Example: `cosine(torch.tensor([[2., 3.], [0., 0.]]), torch.tensor([[1., 4.], [1., 2.]]))` is `[0.9417, 0.0000]`. PyTorch's `cosine_similarity` and `normalize` are off limits here.

# %% tags=["exercise"]
def cosine(a, b):
    # BEGIN SOLUTION
    length_a = a.norm(dim=-1)  # (n,)
    length_b = b.norm(dim=-1)  # (n,)
    lengths = length_a * length_b  # (n,)
    safe = lengths.masked_fill(lengths == 0, 1.0)  # 0 / 1 is 0, but 0 / 0 is NaN
    return (a * b).sum(dim=-1) / safe  # (n,)
    # END SOLUTION


# %% [markdown] tags=["mistakes"]
# Try: a result is to be 0 as soon as one of the two lengths is 0.
# the formula without a guard: a zero vector has length 0, and 0 / 0 is NaN.
#     lengths.masked_fill(lengths == 0, 1.0) => lengths
# NaN where b is the zero vector: your guard looks at a only.
#     lengths.masked_fill(lengths == 0, 1.0) => length_a.masked_fill(length_a == 0, 1.0) * length_b
# NaN where a is the zero vector: your guard looks at b only.
#     lengths.masked_fill(lengths == 0, 1.0) => length_b.masked_fill(length_b == 0, 1.0) * length_a
# NaN where only one of the two is the zero vector: your guard wants both.
#     lengths == 0 => (length_a == 0) & (length_b == 0)
# Try: a vector is zero if all of its coordinates are; its length says it best.
# a vector with a 0 among its coordinates is taken for the zero vector.
#     (a * b).sum(dim=-1) / safe => (a * b).sum(dim=-1) / safe * ((a != 0).all(-1) & (b != 0).all(-1))
# a vector whose coordinates add up to 0 is taken for the zero vector.
#     (a * b).sum(dim=-1) / safe => (a * b).sum(dim=-1) / safe * ((a.sum(-1) != 0) & (b.sum(-1) != 0))
# Try: return 0 for it.
# 1 for a zero vector: that says "same direction".
#     (a * b).sum(dim=-1) / safe => (a * b).sum(dim=-1) / safe + (lengths == 0)
# Try: a vector is a row: add along it.
# everything is added up over the rows (dim=0), one result for each column.
#     dim=-1 => dim=0
# Try: tell norm the axis along which a vector lies.
# a.norm() without dim is one length for the whole matrix, not one for each row.
#     norm(dim=-1) => norm()
# Try: divide by both lengths; every result must then lie between -1 and 1.
# nothing was divided by the length of b, which still counts.
#     length_a * length_b => length_a
# nothing was divided by the length of a, which still counts.
#     length_a * length_b => length_b
# Try: the length is the square root of the sum of squares.
# the dot product divided by the squared lengths.
#     length_a * length_b => length_a**2 * length_b**2

# %% tags=["check"]
check("1.2", cosine)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# The cosine is the dot product divided by both lengths, row by row. Sum over the last dimension only.
# </details>
# <details><summary>Hint 2</summary>
#
# The length of every row: `a.norm(dim=-1)`, shape `(n,)`.
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# 1. the product of the two lengths, for each row
# 2. wherever that product is exactly 0, put 1 in its place
# 3. divide the dot products by it: the dot product with a zero vector is 0, and 0 / 1 = 0
# </details>

# %% [markdown] tags=["solution"]
# **About this solution.** Replacing a length of exactly 0 changes nothing else. Adding a small constant to every length changes every cosine a little, and those of short vectors a lot:
# beside a length of `1e-7`, `1e-8` is a tenth. PyTorch takes a third way: it never lets the length fall below `eps=1e-8`.

# %% [markdown]
# ### 1.3 · All queries against all keys, in a batch
# 3 points · difficulty 2 of 5 · 10 minutes
#
# Write `all_pairs(queries, keys)`: the dot product of every query with every key, within each item of the batch.
#
# | argument | shape |
# |---|---|
# | `queries` | `(B, L_q, d)` |
# | `keys` | `(B, L_k, d)` |
# | returns | `(B, L_q, L_k)`; entry `[b, i, j]` is query `i` times key `j` of item `b` |
#
# In most cases of the check `B`, `L_q`, `L_k` and `d` all differ. Loops are allowed; one line without a loop is better.
#
# Example: two items, one query and two keys each. `queries = [[[1., 2.]], [[0., 1.]]]` and `keys = [[[3., 1.], [0., 1.]], [[5., 7.], [1., 0.]]]` give `[[[5., 2.]], [[7., 0.]]]`.

# %% tags=["exercise"]
def all_pairs(queries, keys):
    # BEGIN SOLUTION
    return queries @ keys.transpose(-2, -1)  # (B, L_q, d) @ (B, d, L_k)
    # END SOLUTION


# %% [markdown] tags=["mistakes"]
# Try: leave the vectors as they are.
# the vectors are divided by their lengths: these are cosines, not dot products.
#     queries @ keys => F.normalize(queries, dim=-1) @ F.normalize(keys, dim=-1)
# Try: two axes of the keys trade places, and the batch stays in front: which two?
# the first and the last axis of the keys are exchanged, as .T or transpose(0, 2) does: the batch axis moves.
#     keys.transpose(-2, -1) => keys.permute(2, 1, 0)
# batch and positions of the keys are exchanged: transpose(0, 1).
#     keys.transpose(-2, -1) => keys.transpose(0, 1)
# the keys are multiplied as they are: their last two axes were not exchanged.
#     keys.transpose(-2, -1) => keys
# Try: reshape moves no axis, transpose does.
# the keys were brought into the right shape by reshape or view, which scrambles their numbers.
#     keys.transpose(-2, -1) => keys.reshape(keys.shape[0], keys.shape[2], keys.shape[1])
# Try: put the queries first: entry [b, i, j] is query i with key j.
# keys times queries: your rows are keys, your columns queries.
#     queries @ keys.transpose => keys @ queries.transpose
# Try: item b of the queries meets item b of the keys, and no other.
# every item meets the keys of item 0.
#     keys.transpose(-2, -1) => keys[0].T
# the keys of all items are added up.
#     keys.transpose(-2, -1) => keys.sum(0).T
# every item against every item: two batch axes in the result.
#     queries @ keys.transpose(-2, -1) => queries[:, None] @ keys.mT
# Try: the positions of the queries and those of the keys are two axes of the result.
# query i meets key i only; every query should meet every key.
#     queries @ keys.transpose(-2, -1) => (queries * keys).sum(-1)
# Try: leave the division out.
# the products are divided by the root of d. That comes in lesson 04; it is not asked for here.
#     keys.transpose(-2, -1) => keys.transpose(-2, -1) / keys.shape[-1] ** 0.5

# %% tags=["check"]
check("1.3", all_pairs)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# For one item of the batch it is $Q K^\top$. The operator `@` multiplies the last two axes and leaves the axes before them alone.
# </details>
# <details><summary>Hint 2</summary>
#
# The keys have to become `(B, d, L_k)`: exactly two axes trade places.
# </details>

# %% [markdown]
# ### 1.4 · The same by einsum
# 2 points · difficulty 2 of 5 · 5 minutes
#
# Write `all_pairs_einsum(queries, keys)` with the shapes of 1.3, without a loop (one call of `torch.einsum` will do): one case of the check has 2,400 pairs, and allows 100 operations. Matrix products (`@`, `matmul`, `bmm` and their kin) are off limits here.
#
# Example: one item, one query `[[[1., 2.]]]`, three keys `[[[3., 1.], [0., 1.], [2., 2.]]]` give `[[[5., 2., 6.]]]`, of shape `(1, 1, 3)`.

# %% tags=["exercise"]
def all_pairs_einsum(queries, keys):
    # BEGIN SOLUTION
    return torch.einsum("bid,bjd->bij", queries, keys)
    # END SOLUTION


# %% [markdown] tags=["mistakes"]
# Try: item b of the queries meets item b of the keys, and no other.
# the keys of all items are added up: in an einsum, two letters for the batch.
#     bjd-> => cjd->
# Try: axes that belong together share a letter: which ones do, of queries and keys?
# each vector is summed alone, and the sums are multiplied: in an einsum, two letters for d.
#     bjd-> => bje->
# Try: a letter that is missing behind the arrow is summed over, and any other stays.
# the products for every d, not added up.
#     ij", => ijd",
# the products are added up over the keys, and d stays.
#     ij", => id",
# the products are added up over the items.
#     ->b => ->
# Try: the order of the letters behind the arrow is the order of the axes.
# keys times queries: your rows are keys, your columns queries.
#     ij", => ji",
# Try: write the letters of queries and keys in the order of the table in 1.3.
# batch and positions are taken for each other: the batch is the first axis of both.
#     bid,bjd => ibd,jbd
# Try: leave the keys as they are.
# the keys were brought to (B, d, L_k) by reshape or view, which scrambles their numbers.
#     ", queries, keys) => ", queries, keys.reshape(keys.shape[0], keys.shape[2], keys.shape[1]).mT)
# Try: leave the division out.
# the products are divided by the root of d. That comes in lesson 04; it is not asked for here.
#     ", queries, keys) => ", queries, keys) / keys.shape[-1] ** 0.5
# Try: the batch has more than one item: einsum takes its axis along.
# only item 0 of the batch: the result has a batch of one.
#     "bid,bjd->bij", queries, keys => "bid,bjd->bij", queries[:1], keys[:1]

# %% tags=["check"]
check("1.4", all_pairs_einsum)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# Give every axis a letter. The same letter in both operands ties the two axes together; a letter that is missing on the right is summed over.
# </details>
# <details><summary>Hint 2</summary>
#
# Four letters are enough: one for the batch, one for the position of the query, one for the position of the key, one for the entries of the vectors.
# </details>

# %% [markdown]
# ### 1.5 · Nearest neighbors
# 3 points · difficulty 3 of 5 · 10 minutes
#
# Write `nearest(query, keys, k)`: the rows of the `k` keys whose **cosine** similarity to the query is largest, best first.
#
# | argument | shape |
# |---|---|
# | `query` | `(d,)`, not zero |
# | `keys` | `(L_k, d)`, none of them zero |
# | `k` | a whole number from 1 to `L_k` |
# | returns | `(k,)`, whole numbers (int64) |
#
# Example: among the keys `[1, 4]`, `[-1, -2]`, `[40, 0]`, `[0.4, 0.6]`, the two nearest to `[2, 3]` are rows 3 and 0. Row 2 has by far the largest dot product. In the check no two keys tie. PyTorch's `cosine_similarity` is off limits here, too.

# %% tags=["exercise"]
def nearest(query, keys, k):
    # BEGIN SOLUTION
    directions = F.normalize(keys, dim=-1)  # (L_k, d)
    similarities = directions @ query  # (L_k,); the query's length changes no ranking
    return similarities.topk(k).indices  # (k,)
    # END SOLUTION


# %% [markdown] tags=["mistakes"]
# Try: the length of a key must not count.
# a ranking by the dot product: long keys win, whatever their direction.
#     F.normalize(keys, dim=-1) => keys
# Try: the largest cosine comes first.
# the k least similar keys.
#     topk(k) => topk(k, largest=False)
# Try: leave them in the order of their similarity.
# the k nearest in the order of their rows, not the best first.
#     .indices => .indices.sort().values
# Try: keep the sign.
# opposite keys count as near: the sign of the cosine is lost.
#     directions @ query => (directions @ query).abs()
# Try: rank by cosine.
# a ranking by distance: it compares where the arrows end, not where they point.
#     directions @ query => -(keys - query).norm(dim=-1)
# Try: each key is a row, and has a length of its own.
# each column of the keys was divided by its length over all keys (dim=0).
#     dim=-1 => dim=0
# Try: the length of a key is the root of the sum of its squares.
# each product was divided by the squared length of the key: short keys win.
#     F.normalize(keys, dim=-1) => keys / (keys**2).sum(-1, keepdim=True)
# each product was divided by the sum of the key's absolute coordinates.
#     dim=-1 => p=1, dim=-1
# Try: no similarity may be larger than what crosses out a key.
# a key that was chosen gets the similarity 0, and wins again over keys that point away.
#     return similarities.topk(k).indices => rows = []\n    for _ in range(k):\n        rows.append(similarities.argmax())\n        similarities = similarities.index_fill(0, rows[-1], 0.0)\n    return torch.stack(rows)
# Try: the query is not one of the keys: start at the first of the ranking.
# the best key is left out.
#     topk(k).indices => argsort(descending=True)[1 : k + 1]

# %% tags=["check"]
check("1.5", nearest)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# Divide each key by its length, so that length no longer counts.
# </details>
# <details><summary>Hint 2</summary>
#
# `similarities.topk(k)` hands back two things, the largest values and the places where they stand.
# </details>

# %% [markdown]
# ### 1.6 · Find the bug
# 3 points · difficulty 3 of 5 · 10 minutes
#
# The function below computes the cosine of every query with every key. It is right for two matrices, and on a batch of three items with three queries, three keys and
# three entries each it runs without complaint. Its numbers are wrong all the same. Run the cell, see how far off one of them is, find out why, and write a version below that is right.

# %%
def batch_cosines_broken(queries, keys):
    queries = F.normalize(queries, dim=-1)
    keys = F.normalize(keys, dim=-1)
    return queries @ keys.permute(*range(keys.dim())[::-1])  # what keys.T means


rng = torch.Generator().manual_seed(0)
q, k = torch.randn(3, 3, 3, generator=rng), torch.randn(3, 3, 3, generator=rng)
expected = F.cosine_similarity(q[1, 2], k[1, 0], dim=0)
print(f"item 1, query 2, key 0: computed {batch_cosines_broken(q, k)[1, 2, 0]:.3f}")
print(f"by PyTorch's function   {expected:.3f}")

# %% [markdown]
# Write `batch_cosines(queries, keys)` so that it is right for every batch: `(B, L_q, d)` and `(B, L_k, d)` give `(B, L_q, L_k)` of the same dtype. No vector is zero. Mend the one line, and don't loop: the check allows 100 operations, and PyTorch's `cosine_similarity` is off limits.

# %% tags=["exercise"]
def batch_cosines(queries, keys):
    # BEGIN SOLUTION
    queries = F.normalize(queries, dim=-1)
    keys = F.normalize(keys, dim=-1)
    return queries @ keys.transpose(-2, -1)  # the batch axis stays where it is
    # END SOLUTION


# %% [markdown] tags=["mistakes"]
# Try: the normalization was right as it was given; the bug is in the line below it.
# lengths are taken over the positions (dim=1), not over each vector.
#     dim=-1 => dim=1
# the queries keep their lengths.
#     F.normalize(queries, dim=-1) => queries
# the keys keep their lengths.
#     F.normalize(keys, dim=-1) => keys
# vectors keep their lengths: these are dot products.
#     F.normalize(queries, dim=-1) => queries
#     F.normalize(keys, dim=-1) => keys
# Try: normalize first, then exchange axes.
# the keys' lengths are taken over the positions: dim=-1 after the transpose is another axis.
#     F.normalize(keys, dim=-1) => F.normalize(keys, dim=1)
# Try: two axes of the keys trade places, and the batch stays in front: which two?
# the first and the last axis of the keys are exchanged, as .T or transpose(0, 2) does: the batch axis moves.
#     keys.transpose(-2, -1) => keys.permute(2, 1, 0)
# batch and positions of the keys are exchanged: transpose(0, 1).
#     keys.transpose(-2, -1) => keys.transpose(0, 1)
# the keys are multiplied as they are: their last two axes were not exchanged.
#     keys.transpose(-2, -1) => keys
# Try: reshape moves no axis, transpose does.
# the keys were brought into the right shape by reshape or view, which scrambles their numbers.
#     keys.transpose(-2, -1) => keys.reshape(keys.shape[0], keys.shape[2], keys.shape[1])
# Try: put the queries first: entry [b, i, j] is query i with key j.
# keys times queries: your rows are keys, your columns queries.
#     queries @ keys.transpose => keys @ queries.transpose
# Try: item b of the queries meets item b of the keys, and no other.
# every item meets the keys of item 0.
#     keys.transpose(-2, -1) => keys[0].T
# the keys of all items are added up.
#     keys.transpose(-2, -1) => keys.sum(0).T
# every item against every item: two batch axes in the result.
#     queries @ keys.transpose(-2, -1) => queries[:, None] @ keys.mT
# Try: the positions of the queries and those of the keys are two axes of the result.
# query i meets key i only; every query should meet every key.
#     queries @ keys.transpose(-2, -1) => (queries * keys).sum(-1)
# Try: a length is the root of the sum of squares.
# divided by the squared lengths: the roots are missing.
#     F.normalize(queries, dim=-1) => queries / queries.square().sum(-1, keepdim=True)
#     F.normalize(keys, dim=-1) => keys / keys.square().sum(-1, keepdim=True)

# %% tags=["check"]
check("1.6", batch_cosines)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# Call the broken function on queries of shape `(2, 5, 3)` and keys of shape `(2, 7, 3)`. What does the error say about the shape of the second factor?
# </details>
# <details><summary>Hint 2</summary>
#
# After reversing all axes, `(B, L_k, d)` has become `(d, L_k, B)`. With `B = d` the product runs, and mixes batch items with vector entries.
# </details>

# %% [markdown]
# ### 1.7 · Does arithmetic with words work?
# 1 point · difficulty 3 of 5 · 15 minutes
#
# *object* is to *objects* as *function* is to what? The famous rule for the question $a : b = c : {?}$ says: compute $b - a + c$ and take the nearest word. The cells below ask it for plurals. `share_right(rule)` prints two shares of all questions: how often the nearest word is the right one, and how often it is one of the three words of the question.
#
# Measure, and don't guess:
#
# 1. the rule, `lambda a, b, c: b - a + c`, with `leave_out=False` (every word may be the answer);
# 2. the rule with `leave_out=True` (the three words of the question may not be the answer; that's how such results are usually reported);
# 3. with `leave_out=True`, two lazy guessers: `lambda a, b, c: c`, which looks at the last word alone, and `lambda a, b, c: b + c`.
#
# Which sentence do your numbers support?
#
# - **a.** The rule works: left to itself it finds the right plural for most questions, so the difference $b - a$ is the plural.
# - **b.** The rule works once the words of the question are left out: then it is right far more often than either lazy guesser.
# - **c.** Left to itself the rule gives back a word of the question. With these left out it's sometimes right, but only about as often as the guesser that looks at $c$ alone.
# - **d.** The vectors hold nothing about plurals: with the words of the question left out, every rule is right as rarely as a word drawn by chance.

# %%
nouns = "object value function method exception statement type name instance module"
nouns += " string list expression attribute sequence argument key clause pattern"
nouns += " number block tuple character context result mapping line item operator"


def plural_questions(library):
    rows = {word: i for i, word in enumerate(library.words)}
    known = [w for w in nouns.split() if w in rows and w + "s" in rows]
    pairs = [(rows[w], rows[w + "s"]) for w in known]
    return [(a, b, c, d) for a, b in pairs for c, d in pairs if a != c]

# %%
def share_right(rule, leave_out=True):
    library = word_vectors.word_vectors(min_count=10)
    unit = F.normalize(library.vectors, dim=-1)  # (V, d)
    questions, right, named = plural_questions(library), 0, 0
    for a, b, c, d in questions:
        scores = unit @ rule(unit[a], unit[b], unit[c])  # (V,)
        if leave_out:
            scores[[a, b, c]] = -torch.inf
        best = scores.argmax().item()
        right, named = right + (best == d), named + (best in (a, b, c))
    n = len(questions)
    print(f"right {right / n:.1%}, names a word of the question {named / n:.1%}")

# %%
# your measurements, such as share_right(lambda a, b, c: b - a + c, leave_out=False)

# %% tags=["quiz"]
quiz_1_7 = ""  # your letter between the quotes
# BEGIN SOLUTION
quiz_1_7 = "c"
# END SOLUTION

# %% [markdown] tags=["solution"]
# Why each option is right or wrong:
#
# - **a.** with leave_out=False, look at the second share: nearly every answer is a word of the question.
# - **b.** compare the rule with both guessers: the one that looks at c alone does as well.
# - **c.** so the difference b - a adds little here: c's own neighborhood does the work.
# - **d.** chance would be right about once in a thousand questions; compare that with your first share.

# %% tags=["check"]
check("1.7", quiz_1_7)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# A word drawn by chance is right about once in a thousand questions. Compare that, too.
# </details>
# <details><summary>Hint 2</summary>
#
# If a guesser that never looks at $a$ and $b$ is right as often as the rule, what did the difference $b - a$ add?
# </details>

# %% [markdown]
# ### 1.8 · Every question with every page
# 4 points · difficulty 3 of 5 · 15 minutes
#
# In 1.3 item `b` of the queries met item `b` of the keys. A search engine needs something else. It has `B_q` questions of `L_q` words each and `B_k` pages of `L_k` words each, and **every question meets every page**. Here is how a page gets its score for a question: each word of the question takes its *best* dot product with any word of that page, and these best ones are added up over the words of the question.
#
# Write `best_matches(queries, keys)`.
#
# | argument | shape |
# |---|---|
# | `queries` | `(B_q, L_q, d)`, the questions |
# | `keys` | `(B_k, L_k, d)`, the pages |
# | returns | `(B_q, B_k)`, of the same dtype; entry `[b, c]` is the score of page `c` for question `b` |
#
# Use the vectors as they are, and don't divide by lengths.
#
# Example: one question, `[[[1., 0.], [0., 1.]]]`, and two pages, `[[[3., 2.], [0., 1.]], [[4., -3.], [1., 0.]]]`. On page 0 the first word of the question has the products 3 and 0 and takes 3; the second has 2 and 1 and takes 2. The answer is `[[5., 4.]]`. (If you look for the best *question word* of each page word instead, you get `[[4., 5.]]`, and the other page wins. If you add before you take the best, you get `[[5., 1.]]`.)

# %% tags=["exercise"]
def best_matches(queries, keys):
    # BEGIN SOLUTION
    products = torch.einsum("bid,cjd->bcij", queries, keys)  # (B_q, B_k, L_q, L_k)
    best = products.amax(dim=-1)  # (B_q, B_k, L_q), for each word of the question
    return best.sum(dim=-1)  # (B_q, B_k)
    # END SOLUTION


# %% [markdown] tags=["mistakes"]
# Try: for each word of the question the best word of the page; then the sum over the question.
# for each word of the page the best word of the question, added up over the page.
#     products.amax(dim=-1) => products.amax(dim=-2)
# the products are added over the question first, then the best page word is taken.
#     products.amax(dim=-1) => products.sum(dim=-2)
#     best.sum(dim=-1) => best.amax(dim=-1)
# the sum of all products: every word of the page counts.
#     products.amax(dim=-1) => products.sum(dim=-1)
# the mean over the words of the page, not the best.
#     products.amax(dim=-1) => products.mean(dim=-1)
# the best product of all; the other words of the question don't count.
#     best.sum(dim=-1) => best.amax(dim=-1)
# the mean over the words of the question, not the sum.
#     best.sum => best.mean
# Try: question b meets every page c: the two batches are two axes, (B_q, B_k, L_q, L_k).
# a row for each page; asked for is a row for each question.
#     ->bcij => ->cbij
# Try: leave the vectors as they are.
# the vectors are divided by their lengths.
#     queries, keys)  # => F.normalize(queries, dim=-1), F.normalize(keys, dim=-1))  #
# Try: let it count.
# a best product below 0 counts as 0.
#     products.amax(dim=-1) => products.amax(dim=-1).clamp(min=0)
# Try: keep the sign.
# opposite words count as good matches.
#     products.amax(dim=-1) => products.abs().amax(dim=-1)
# Try: after a flattened product the axes run (B_q, L_q, B_k, L_k); view cannot change their order.
# the product of the flattened batches is read as (B_q, B_k, L_q, L_k), but its axes run (B_q, L_q, B_k, L_k).
#     torch.einsum("bid,cjd->bcij", queries, keys) => (queries.flatten(0, 1) @ keys.flatten(0, 1).T).reshape(len(queries), len(keys), queries.shape[1], keys.shape[1])

# %% tags=["check"]
check("1.8", best_matches)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# First make all products, of every word of every question with every word of every page. How many axes does that tensor have?
# </details>
# <details><summary>Hint 2</summary>
#
# In `einsum` the two batches get two letters, and both stay behind the arrow. With `@` you need new axes: questions as `(B_q, 1, L_q, d)`, pages as `(1, B_k, L_k, d)`.
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# 1. all products, of shape `(B_q, B_k, L_q, L_k)`
# 2. the largest over the words of the page, the last axis
# 3. the sum over the words of the question, which are the last axis now
# </details>

# %% [markdown] tags=["solution"]
# **About this solution.** Search engines really do this, with vectors that a Transformer has learned (Khattab and Zaharia, *ColBERT*, 2020). The maximum is not differentiable where two keys tie, and it forgets all keys but one. Replace it with a softmax over the keys and a weighted sum, and you have the attention of lesson 02.

# %% [markdown]
# ### 1.9 · Open experiment: what makes a word recognizable?
# 3 points · difficulty 3 of 5 · 25 minutes
#
# Split the documentation into two random halves. Count the company of each word in one half and, separately, in the other. Now take a word's row from the first table and look for the most similar row of the second. Is it the same word? A good measure of likeness should find it. A guess is right for one word in several hundred.
#
# You compare two **tables** (raw `"counts"`, and `"ppmi"` made from them) and two **measures** (`"dot product"` and `"cosine"`), each with five splits, seeds 0 to 4.
#
# **Predict first.** Which single change to raw counts by dot product will gain more: the other table, or the other measure?

# %%
widgets.predict(
    "1.9",
    "From counts by dot product, which single change gains more?",
    choices=["the table", "the measure"],
)

# %%
paragraphs = documentation.python_documentation().split("\n\n")
paragraphs = [documentation.split_words(paragraph) for paragraph in paragraphs]


def two_halves(seed):
    """Counts of company in two random halves: two tables (V, V) for the same words."""
    rng = torch.Generator().manual_seed(seed)
    order = torch.randperm(len(paragraphs), generator=rng).tolist()
    parts = order[: len(order) // 2], order[len(order) // 2 :]
    halves = [[word for i in part for word in paragraphs[i]] for part in parts]
    times = [collections.Counter(half) for half in halves]
    often = [{w for w, n in counter.items() if n >= 10} for counter in times]
    vocabulary = sorted(often[0] & often[1])  # what both halves use at least ten times
    count = word_vectors.cooccurrence_counts
    return [count(half, vocabulary, window=2) for half in halves]

# %% [markdown]
# Fill `found_shares`: for each of the four keys, such as `("counts", "cosine")`, a list of five numbers from 0 to 1, the share of the words whose row finds its own word. A row of the first half asks; the rows of the second half are the keys; the best one counts. `word_vectors.positive_pmi(counts)` turns a table of counts into PPMI. The whole experiment takes about a second. The check can't see how you measured. It looks whether such shares are possible, and whether what you read off follows from them.
#
# Then read off, from **your** numbers, and put into the same dict:
#
# - `found_shares["larger gain"]`: starting from `("counts", "dot product")`, which single change gains more on average, `"table"` (to PPMI, still by dot product) or `"measure"` (to the cosine, still of counts)?
# - `found_shares["seeds where cosine wins"]`: with PPMI, in how many of the five splits does the cosine find strictly more words than the dot product? The two see the same words in each split, so compare them split by split.
# - `found_shares["cosine reliably better"]`: `True` if that is so in all five, else `False`.

# %% tags=["exercise"]
found_shares = {}  # (table, measure) -> five shares, and what you read off
# BEGIN SOLUTION
for seed in range(5):
    counts = two_halves(seed)
    ppmi = [word_vectors.positive_pmi(half) for half in counts]
    for name, halves in (("counts", counts), ("ppmi", ppmi)):
        directions = [F.normalize(half, dim=-1) for half in halves]
        for measure, pair in (("dot product", halves), ("cosine", directions)):
            best = (pair[0] @ pair[1].T).argmax(dim=-1)  # (V,)
            found = (best == torch.arange(len(best))).float().mean().item()
            found_shares.setdefault((name, measure), []).append(found)

mean = {key: sum(shares) / 5 for key, shares in found_shares.items()}
by_table, by_measure = mean["ppmi", "dot product"], mean["counts", "cosine"]
found_shares["larger gain"] = "table" if by_table > by_measure else "measure"
by_split = zip(found_shares["ppmi", "cosine"], found_shares["ppmi", "dot product"])
wins = sum(new > old for new, old in by_split)
found_shares["seeds where cosine wins"] = wins
found_shares["cosine reliably better"] = wins == 5
# END SOLUTION

# %% tags=["check"]
check("1.9", found_shares)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# Split once for each seed, so that all four combinations see the same words. The scores of all words at once are a table `(V, V)`, as in 1.3 but without a batch.
# </details>
# <details><summary>Hint 2</summary>
#
# Row `i` of both halves belongs to the same word. So the answer is right where the `argmax` of row `i` is `i`.
# </details>
# <details><summary>Hint 3: which word wins?</summary>
#
# If a share is close to zero, look which word is found again and again. How long is its row?
# </details>

# %% tags=["nbval-ignore-output"]
measured = {key: row for key, row in found_shares.items() if isinstance(key, tuple)}
if measured and found_shares.get("larger gain") in ("table", "measure"):
    rows = {" by ".join(key): torch.tensor(row) for key, row in measured.items()}
    ax = plotting.curves(
        torch.arange(5), rows, xlabel="seed of the split", ylabel="share of words found"
    )
    ax.set_xticks(range(5))
    plotting.show(ax, "Share of words found in five splits, by table and measure.")
    display(widgets.came_out("1.9", f"the {found_shares['larger gain']}"))
else:
    print("Your numbers will be drawn here.")

# %% [markdown]
# ## Your own search engine
#
# The cells below put your answers together. `best_matches` compares your question with the first 30 words of every topic of the documentation, and `nearest` shows which word of the best topic each of your words found. The 40 commonest words are left out of the question, and so are words too rare to have a vector. Change the questions!

# %%
questions = ["handle an error", "repeat while true", "add two numbers"]


def pages_of(library, length=30):
    known = set(library.words)
    texts = {name: documentation.split_words(text) for name, text in topics.items()}
    pages = {name: [w for w in text if w in known] for name, text in texts.items()}
    return {name: ws[:length] for name, ws in pages.items() if len(ws) >= length}

# %%
def search(question, library, pages):
    vectors = F.normalize(library.vectors, dim=-1)  # (V, d)
    stack = lambda words: vectors[[library.index(w) for w in words]]
    asked = [w for w in question.split() if w in library.words[40:]]
    keys = torch.stack([stack(words) for words in pages.values()])  # (pages, 30, d)
    if not asked:
        print(f"{question:18} -> no word of it can be searched")
        return
    scores = best_matches(stack(asked)[None], keys)[0]  # (pages,)
    best = [list(pages)[i] for i in scores.argsort(descending=True)[:3].tolist()]
    words = pages[best[0]]
    rows = [int(nearest(stack([w])[0], stack(words), 1)[0]) for w in asked]
    found = [f"{w} found {words[row]}" for w, row in zip(asked, rows, strict=True)]
    print(f"{question:18} -> {', '.join(best)}")
    print(f"{'':18}    on the page {best[0]}: {'; '.join(found)}")

# %% tags=["nbval-ignore-output"]
try:
    nearest(torch.ones(2), torch.eye(2), 1)
    best_matches(torch.ones(1, 1, 2), torch.ones(1, 1, 2))
    library = word_vectors.word_vectors(min_count=20)
    pages = pages_of(library)
    for question in questions:
        search(question, library, pages)
except NotImplementedError:
    print("The search needs your answers to 1.5 and 1.8.")

# %% [markdown]
# Some answers are good and some are silly. Where a page is found by a word that your question doesn't hold, your dot products did more than look up letters. But every word has one vector, whatever stands around it. Attention will give it one that depends on its neighbors.

# %% [markdown]
# {{next_steps}}
