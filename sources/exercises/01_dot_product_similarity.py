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
# Nine exercises, 24 points. By the end you can compare vectors, alone and in batches, you've made word vectors yourself, and your own functions search Python's documentation with them.
#
# {{colab_link}} · about 115 minutes, the core of it (1.1 and 1.3) 15 · builds on {{lesson_link}}
#
# Write your code where it says `YOUR CODE HERE`, run the cell, then run the check below it. A check that fails says what differs and, if it knows your mistake,
# what your answer did; `hint()`, or a second failure, adds what to try. You may try as often as you like. Hints are folded under each check. If a function of `course_utils` does what an exercise asks for, don't use it there. All vectors hold 32-bit floats unless we say otherwise.

# %% tags=["setup"]
import collections
from pydoc_data.topics import topics

import torch
import torch.nn.functional as F

from course_checks import check, failing_case, hint
from course_utils import plotting, similarity, widgets
from course_utils.datasets import documentation, word_vectors

# %% [markdown]
# ### 1.1 · A dot product for pictures
# 2 points · difficulty 1 of 5 · 5 minutes · core
#
# A gray picture is a table of numbers, a color picture a stack of three tables. Two of them have a dot product too, if they have the same shape: multiply number by number, and add up all the products. It's large where both are bright in the same places.
#
# Write `dot(a, b)` for two tensors of any shape.
#
# | argument | shape |
# |---|---|
# | `a`, `b` | the same for both, with one axis or more: `(d,)`, `(H, W)`, `(3, H, W)`, ... |
# | returns | one number: a tensor without dimensions, or a Python number |
#
# Examples: `dot(torch.tensor([2., 3.]), torch.tensor([1., 4.]))` is 14, and `dot(torch.tensor([[1., 2.], [3., 4.]]), torch.tensor([[5., 6.], [7., 8.]]))` is 70. (The entries of the matrix product `a @ b` sum to 134, those on its diagonal to 69.)

# %% tags=["exercise"]
def dot(a, b):
    # BEGIN SOLUTION
    return (a * b).sum()
    # END SOLUTION


# %% [markdown] tags=["mistakes"]
# Try: add up along all axes: one number is left.
# the products of all the numbers, not yet added up.
#     .sum() =>
# a number for each row: the products are added up along the last axis only.
#     () => (dim=-1)
# the products are added up along the first axis only, as a loop over a[i] * b[i] does.
#     () => (dim=0)
# Try: hand back a number, not a tensor with an axis in which it is alone.
# the number is right for vectors, but it has an axis of its own.
#     () => (dim=0, keepdim=True)
# Try: every number counts, from the first to the last.
# only the first two rows count, or the first two numbers of a vector, and rows aren't added up.
#     (a * b).sum() => (a[0] * b[0] + a[1] * b[1])
# the last row is left out, or the last number of a vector.
#     (a * b) => (a * b)[:-1]
# Try: a number of a meets the number of b in the same place, and no other: multiply number by number, then add.
# every number of a meets every number of b: that makes the sum of a times the sum of b.
#     (a * b).sum() => a.sum() * b.sum()
# a matrix product: every row of a meets every column of b.
#     (a * b).sum() => (a @ b).sum()
# a @ b is the dot product of two vectors, but the matrix product of two tables, where every row of a meets every column of b.
#     (a * b).sum() => a @ b
# Try: divide by nothing: the sum itself is asked for.
# the mean of the products, not their sum: too small.
#     sum => mean
# Try: [2, 3] times [-1, -2] is -8.
# the sum of the absolute products: the sign is lost.
#     (a * b) => (a * b).abs()
# Try: multiply number by number first, then add.
# the sum of all numbers of a and b: nothing is multiplied.
#     a * b => a + b
# Try: leave int out.
# each product is cut to a whole number.
#     (a * b) => (a * b).trunc()
# Try: leave the lengths in.
# the dot product divided by both lengths: that is the cosine.
#     .sum() => .sum() / (a.norm() * b.norm())

# %% tags=["check"]
check("1.1", dot)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# What does the lesson's loop give for two tables? Print it for the second example. How would you go on from there?
# </details>
# <details><summary>Hint 2</summary>
#
# `a * b` multiplies two tensors of one shape number by number, however many axes they have.
# </details>

# %% [markdown] tags=["solution"]
# **About this solution.** A dot product doesn't care how the numbers are laid out. Flatten both tensors and it's the lesson's sum again. On two tables the lesson's loop multiplies row by row and adds up the rows, so one axis is left; `torch.dot` refuses tables, and `@` takes them for matrices.

# %% [markdown]
# ### 1.2 · Cosine similarity, zero vectors included
# 3 points · difficulty 2 of 5 · 10 minutes · more
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
# ### 1.3 · Distances without differences
# 3 points · difficulty 3 of 5 · 10 minutes · core
#
# You have lost the vectors. All that is left are three tables of their dot products: every query with every query, every query with every key, every key with every key. How far is each query from each key?
#
# Write `squared_distances(QQ, QK, KK)`: the squared distance $|q - k|^2$ of every query $q$ and every key $k$, within each item of the batch.
#
# | argument | shape |
# |---|---|
# | `QQ` | `(B, L_q, L_q)`; entry `[b, i, m]` is query `i` times query `m` of item `b` |
# | `QK` | `(B, L_q, L_k)`; entry `[b, i, j]` is query `i` times key `j` |
# | `KK` | `(B, L_k, L_k)`; entry `[b, j, n]` is key `j` times key `n` |
# | returns | `(B, L_q, L_k)`; entry `[b, i, j]` is the squared distance of query `i` and key `j` |
#
# Begin with one pair: multiply out $(q - k) \cdot (q - k)$. Which entries of the tables do you need?
#
# Example: with the lesson's `happy` and `sad` as queries, and `joyful` and `noise` as keys, `QQ = [[[13., -8.], [-8., 5.]]]`, `QK = [[[14., 80.], [-9., -40.]]]` and `KK = [[[17., 40.], [40., 1600.]]]` give `[[[2., 1453.], [40., 1685.]]]`. (`happy` and `joyful` are [2, 3] and [1, 4], and $1^2 + 1^2 = 2$. If you spread the squared lengths of the queries along the wrong axis, you get 1445 and 48 off the diagonal.)

# %% tags=["exercise"]
def squared_distances(QQ, QK, KK):
    # BEGIN SOLUTION
    of_queries = QQ.diagonal(dim1=-2, dim2=-1)  # (B, L_q), each query with itself
    of_keys = KK.diagonal(dim1=-2, dim2=-1)  # (B, L_k), each key with itself
    return of_queries[:, :, None] + of_keys[:, None, :] - 2 * QK  # (B, L_q, L_k)
    # END SOLUTION


# %% [markdown] tags=["mistakes"]
# Try: multiply out (q - k) times (q - k): q times k comes twice, with a minus.
# the products of query and key are taken off once only; they come twice.
#     2 * QK => QK
# the products of query and key are added; they come with a minus.
#     - 2 * QK => + 2 * QK
# Try: three terms: q times q, k times k, and q times k twice.
# the squared lengths of the keys are missing.
#     of_queries[:, :, None] + of_keys[:, None, :] => of_queries[:, :, None]
# the squared lengths of the queries are missing.
#     of_queries[:, :, None] + of_keys[:, None, :] => of_keys[:, None, :]
# Try: q times q is the squared length; leave it squared.
# lengths are added where squared lengths belong.
#     of_queries[:, :, None] + of_keys[:, None, :] => of_queries.sqrt()[:, :, None] + of_keys.sqrt()[:, None, :]
# squared lengths are squared once more.
#     of_queries[:, :, None] + of_keys[:, None, :] => of_queries.square()[:, :, None] + of_keys.square()[:, None, :]
# Try: a query's product with itself is on the diagonal of QQ.
# whole rows of QQ and KK are added up; a vector's product with itself is one entry.
#     QQ.diagonal(dim1=-2, dim2=-1) => QQ.sum(dim=-1)
#     KK.diagonal(dim1=-2, dim2=-1) => KK.sum(dim=-1)
# the first row of QQ and KK is taken, the products with the first vector.
#     QQ.diagonal(dim1=-2, dim2=-1) => QQ[:, 0]
#     KK.diagonal(dim1=-2, dim2=-1) => KK[:, 0]
# Try: each query and each key has a squared length of its own.
# each diagonal is added up, so that all queries of an item have the same squared length, and all keys.
#     QQ.diagonal(dim1=-2, dim2=-1) => QQ.diagonal(dim1=-2, dim2=-1).sum(-1, keepdim=True)
#     KK.diagonal(dim1=-2, dim2=-1) => KK.diagonal(dim1=-2, dim2=-1).sum(-1, keepdim=True)
# Try: each item of the batch has diagonals of its own.
# every item gets the lengths of item 0.
#     QQ.diagonal(dim1=-2, dim2=-1) => QQ[:1].diagonal(dim1=-2, dim2=-1)
#     KK.diagonal(dim1=-2, dim2=-1) => KK[:1].diagonal(dim1=-2, dim2=-1)
# Try: queries are the rows of the result: their squared lengths need a new last axis.
# rows and columns are mixed up: a query's squared length is added along a column.
#     of_queries[:, :, None] + of_keys[:, None, :] => of_queries[:, None, :] + of_keys[:, :, None]
# Try: put the queries first: entry [b, i, j] is query i and key j.
# keys by queries: your rows are keys, your columns queries.
#     of_queries[:, :, None] + of_keys[:, None, :] - 2 * QK => of_queries[:, None, :] + of_keys[:, :, None] - 2 * QK.mT

# %% tags=["check"]
check("1.3", squared_distances)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# $(q - k) \cdot (q - k) = q \cdot q - 2 \, q \cdot k + k \cdot k$.
# </details>
# <details><summary>Hint 2</summary>
#
# Where in `QQ` is the product of query 2 with itself? `tensor.diagonal(dim1=..., dim2=...)` takes such entries from the last two axes of each item.
# </details>
# <details><summary>Hint 3</summary>
#
# A number for each query, `(B, L_q)`, has to be added along a row of the result, and a number for each key, `(B, L_k)`, along a column. An axis of size 1 does it.
# </details>

# %% [markdown] tags=["solution"]
# **About this solution.** Dot products hold all there is to know about lengths, angles and distances; where the vectors point in space doesn't matter. Libraries for vector search use the same sum, since one matrix product is faster than all differences (which take `d` times as much memory).
#
# It also says when three rankings agree. If all vectors have length 1, the squared distance is $2 - 2 \cos\theta$, so the nearest key, the one with the largest cosine and the one with the largest dot product are the same. If lengths differ they need not be: `noise` has the largest dot product with `happy` and the largest distance.

# %% [markdown]
# ### 1.4 · All queries against all keys
# 2 points · difficulty 2 of 5 · 5 minutes · more
#
# Write `all_pairs_einsum(queries, keys)`: the dot product of every query with every key, within each item of the batch.
#
# | argument | shape |
# |---|---|
# | `queries` | `(B, L_q, d)` |
# | `keys` | `(B, L_k, d)` |
# | returns | `(B, L_q, L_k)`; entry `[b, i, j]` is query `i` times key `j` of item `b` |
#
# Do it without a loop (one call of `torch.einsum` will do): one case of the check has 2,400 pairs, and allows 100 operations. Matrix products (`@`, `matmul`, `bmm` and their kin) are off limits here.
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
# Try: a letter that is missing after the arrow is summed over, and any other stays.
# the products for every d, not added up.
#     ij", => ijd",
# the products are added up over the keys, and d stays.
#     ij", => id",
# the products are added up over the items.
#     ->b => ->
# Try: the order of the letters after the arrow is the order of the axes.
# keys times queries: your rows are keys, your columns queries.
#     ij", => ji",
# Try: write the letters of queries and keys in the order of the table above.
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

# %% [markdown] tags=["solution"]
# **About this solution.** The other way is `queries @ keys.transpose(-2, -1)`. There the last two axes of the keys trade places and the batch stays in front. (`keys.T` reverses all axes, so the batch would end up last.)

# %% [markdown]
# ### 1.5 · Nearest neighbors
# 3 points · difficulty 3 of 5 · 10 minutes · more
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
# `similarities.topk(k)` hands back two things, the largest values and their positions.
# </details>

# %% [markdown]
# ### 1.6 · Word vectors from a text
# 3 points · difficulty 4 of 5 · 20 minutes · more
#
# Now make the vectors yourself, in the three steps of the lesson. Write `make_vectors(words, vocabulary, window, r)`.
#
# 1. **Count company.** Two words meet if they're at most `window` places apart in `words`. Each meeting counts twice, once from either side. Words that aren't in `vocabulary` keep their place in the text, but aren't counted.
# 2. **Compare with chance.** Turn the counts into PPMI as section 1.5 does for the six words: natural logarithm, negative values become 0, and so does a pair that never met. Every word of the vocabulary meets at least one other, so no row is empty.
# 3. **Keep `r` directions.** Take the SVD of the table. A word's vector is the first `r` numbers of its row of `U`, each multiplied by the **root** of the singular value that goes with it.
#
# | argument | what it is |
# |---|---|
# | `words` | the text: a list of strings |
# | `vocabulary` | a list of `V` different strings |
# | `window` | a whole number, 1 or more |
# | `r` | a whole number from 1 to `V` |
# | returns | `(V, r)`: row `i` belongs to `vocabulary[i]`, the column of the largest singular value comes first |
#
# An SVD leaves the sign of each column open, and so does the check. In its texts no two of the first singular values are alike. The course's functions for words (`word_vectors`) are off limits here.
#
# Example: with `words = "cats chase the mice mice chase cats dogs chase mice".split()`, `vocabulary = ["cats", "chase", "dogs", "mice"]`, `window=1` and `r=2` the result is `[[0.69, 0.72], [0.58, -0.31], [0.62, -0.55], [0.27, 0.07]]`, rounded, up to the signs of the columns. (`chase` and the first `mice` don't meet, since `the` is between them. If you take `the` out first, you get 0.73 and 0.75 for `cats`.)

# %% tags=["exercise"]
def make_vectors(words, vocabulary, window, r):
    # BEGIN SOLUTION
    row = {word: i for i, word in enumerate(vocabulary)}
    counts = torch.zeros(len(row), len(row))  # (V, V)
    for gap in range(1, window + 1):
        for one, other in zip(words, words[gap:]):
            if one in row and other in row:
                counts[row[one], row[other]] += 1
    counts = counts + counts.T  # seen from either side
    share = counts.sum(dim=1) / counts.sum()  # (V,)
    ratio = counts / counts.sum() / (share[:, None] * share)  # (V, V)
    ppmi = torch.log(ratio).clamp(min=0)  # log(0) is -inf and becomes 0
    U, sizes, _ = torch.linalg.svd(ppmi)
    return U[:, :r] * sizes[:r].sqrt()  # (V, r)
    # END SOLUTION


# %% [markdown] tags=["mistakes"]
# Try: count each meeting from either side: add the counts and their transpose.
# each pair is counted from one side only, in the order of the text.
#     counts = counts + counts.T => counts = counts
# each pair is counted from one side only, and first and second words have shares of their own.
#     counts = counts + counts.T => counts = counts
#     (share[:, None] * share) => (share[:, None] * counts.sum(dim=0) / counts.sum())
#     torch.log(ratio) => torch.log(ratio).nan_to_num(0.0, 0.0, 0.0)
# Try: a word that stands twice in a row meets itself, and is counted.
# no word is taken to meet itself.
#     one in row and other in row => one in row and other in row and one != other
# Try: window=2 means one place and two places apart.
# only words exactly window places apart meet; those nearer don't.
#     range(1, window + 1) => range(window, window + 1)
# the window is one place too small: if it is 1 no words meet.
#     range(1, window + 1) => range(1, window)
#     torch.log(ratio) => torch.log(ratio.nan_to_num())
# Try: a word outside the vocabulary keeps its place: skip it when you count, not before.
# the words outside the vocabulary are taken out first, so that words meet across the gap.
#     row = {word: i for i, word in enumerate(vocabulary)} => row = {word: i for i, word in enumerate(vocabulary)}\n    words = [word for word in words if word in row]
# Try: compare with chance, P(w) P(c), then take the logarithm and set negative values to 0.
# the share of a word is how often it stands in the text, not its share of the meetings.
#     counts.sum(dim=1) / counts.sum()  # => torch.tensor([words.count(word) / len(words) for word in vocabulary])  #
# the shares of the contexts are smoothed with the power 0.75, as the library does; this exercise has plain PPMI.
#     (share[:, None] * share) => (share[:, None] * counts.sum(dim=0) ** 0.75 / (counts.sum(dim=0) ** 0.75).sum())
# each row is divided by its own sum, not by the sum of all, and then by both shares besides.
#     counts / counts.sum() / (share => counts / counts.sum(dim=1, keepdim=True) / (share
# the counts themselves are taken apart: nothing is compared with chance.
#     torch.log(ratio).clamp(min=0) => counts
# the ratio to chance without its logarithm.
#     torch.log(ratio).clamp(min=0) => ratio
# a logarithm to the base 2; the natural one is asked for.
#     torch.log(ratio) => torch.log2(ratio)
# the negative values are kept (what never met is 0).
#     .clamp(min=0) => .masked_fill(counts == 0, 0.0)
# Try: multiply column j of U by the root of singular value j.
# the columns of U as they are: the singular values are left out.
#     return U[:, :r] * sizes[:r].sqrt() => return U[:, :r]
# the whole singular values where their roots belong.
#     sizes[:r].sqrt() => sizes[:r]
# Try: take the SVD of the table itself, and the columns of U in the order in which they come.
# the mean of each column is subtracted before the SVD.
#     svd(ppmi) => svd(ppmi - ppmi.mean(dim=0))
# eigenvalues in the place of singular values, the largest first by value: large negative ones come last.
#     U, sizes, _ = torch.linalg.svd(ppmi) => sizes, U = torch.linalg.eigh(ppmi)\n    sizes, U = sizes.flip(0).abs(), U.flip(1)
# Try: leave each vector as long as it comes out.
# every vector is brought to length 1.
#     return U[:, :r] * sizes[:r].sqrt() => return torch.nn.functional.normalize(U[:, :r] * sizes[:r].sqrt(), dim=-1)
# Try: a word's vector is its row of U: keep the first r columns.
# columns of the third matrix of the SVD, which has its directions in rows.
#     U, sizes, _ = => _, sizes, U =
# rows of U where its columns belong.
#     return U[:, :r] => return U.T[:, :r]
# a column for each word; asked for is a row for each.
#     return U[:, :r] * sizes[:r].sqrt() => return (U[:, :r] * sizes[:r].sqrt()).T

# %% tags=["check"]
check("1.6", make_vectors)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# `zip(words, words[2:])` gives all pairs of words that are two places apart.
# </details>
# <details><summary>Hint 2</summary>
#
# With a dictionary from word to row you can ask whether a word is in the vocabulary and where its row is. `counts + counts.T` counts each meeting from the other side too.
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# 1. for each gap from 1 to `window`, for each pair of words so far apart: if both have a row, add 1 to their cell
# 2. add the transpose
# 3. share of each word: its row's sum by the sum of all; chance: every share times every share
# 4. logarithm of (counts by their sum) by chance; below 0 becomes 0
# 5. SVD; the first `r` columns of `U`, times the root of the first `r` sizes
# </details>

# %% [markdown]
# **Your vectors on real text.** The cell below hands your function all of the documentation. The first columns of your vectors are what a smaller `r` would have given, so one call is enough to see what more numbers bring. Ask for other words!

# %%
text = documentation.split_words(documentation.python_documentation())
frequency = collections.Counter(text).most_common()
vocabulary = [word for word, n in frequency if n >= 10]


def neighbors(word, vectors, k=5):
    query = vectors[vocabulary.index(word)]  # (r,)
    _, order = similarity.nearest_neighbors(query, vectors, k + 1)  # the library's 1.5
    return ", ".join(vocabulary[i] for i in order[1:].tolist())

# %% tags=["nbval-ignore-output"]
try:
    vectors = make_vectors(text, vocabulary, window=2, r=100)
    for word in ("float", "left", "except"):
        for r in (2, 10, 100):
            print(f"{word:7} {r:3} numbers: {neighbors(word, vectors[:, :r])}")
except NotImplementedError:
    print("This needs your answer to 1.6.")

# %% [markdown]
# ### 1.7 · Does arithmetic with words work?
# 1 point · difficulty 3 of 5 · 15 minutes · more
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
# - **a.** with leave_out=False, look at the second share: every answer is a word of the question.
# - **b.** compare the rule with both guessers: the one that looks at c alone does as well.
# - **c.** the difference b - a adds nothing here: looking near c alone finds as many.
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
# 4 points · difficulty 3 of 5 · 15 minutes · more
#
# In exercise 1.4 item `b` of the queries met item `b` of the keys. A search engine needs something else. It has `B_q` questions of `L_q` words each and `B_k` pages of `L_k` words each, and **every question meets every page**. Here is how a page gets its score for a question: each word of the question takes its *best* dot product with any word of that page, and these best ones are added up over the words of the question.
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
# In `einsum` the two batches get two letters, and both stay after the arrow. With `@` you need new axes: questions as `(B_q, 1, L_q, d)`, pages as `(1, B_k, L_k, d)`.
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
# 3 points · difficulty 3 of 5 · 25 minutes · more
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
from course_utils.datasets.word_vectors import two_halves

first, second = two_halves(seed=0)  # counts of company, two tables for the same words
print(tuple(first.shape), "most often in the first half:", int(first.max()))

# %% [markdown]
# Fill `found_shares`: for each of the four keys, such as `("counts", "cosine")`, a list of five numbers from 0 to 1, the share of the words whose row finds its own word. A row of the first half asks; the rows of the second half are the keys; the best one counts. `word_vectors.positive_pmi(counts)` turns a table of counts into PPMI. The whole experiment takes about a second. The check can't see how you measured. It checks that such shares are possible and that what you read off follows from them.
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
# Split once for each seed, so that all four combinations see the same words. The scores of all words at once are a table `(V, V)`, as in exercise 1.4 but without a batch.
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

# %% tags=["solution", "nbval-ignore-output"]
for key, value in mean.items():
    print(f"{' by '.join(key):22} {value:.1%}")
tables = two_halves(seed=0)
best = (tables[0] @ tables[1].T).argmax(dim=-1)  # (V,): counts by dot product
often = best.bincount()
for name, change in (("counts", lambda t: t), ("ppmi", word_vectors.positive_pmi)):
    lengths = change(tables[1]).norm(dim=-1)  # (V,)
    print(f"{name:7} longest row / median row {lengths.max() / lengths.median():.1f}")
print(f"{often.max() / len(best):.0%} of all words find one and the same row;", end=" ")
print("the longest:", bool(often.argmax() == tables[1].norm(dim=-1).argmax()))

# %% [markdown] tags=["solution"]
# **About this solution.** By dot product of raw counts, more than half of all words find one and the same row, the longest. Its length is what makes it win. Divide all lengths out, and most words find themselves. PPMI gains more still. It makes the rows much more alike in length, and little is left for the cosine to do there. It wins in three of the five splits, so we can't call it reliably better.

# %% [markdown]
# ## Your own search engine
#
# The cells below put your answers together. `make_vectors` makes a vector for each word that occurs at least twenty times, `best_matches` compares your question with the first 30 words of every topic of the documentation, and `nearest` shows which word of the best topic each of your words found. The 40 most common words are left out of the question, and so are words too rare to have a vector. Change the questions!

# %%
questions = ["handle an error", "repeat while true", "add two numbers"]


def pages_of(known, length=30):
    texts = {name: documentation.split_words(text) for name, text in topics.items()}
    pages = {name: [w for w in text if w in known] for name, text in texts.items()}
    return {name: ws[:length] for name, ws in pages.items() if len(ws) >= length}

# %%
def search(question, known, vectors, pages):
    place = {word: i for i, word in enumerate(known)}
    unit = F.normalize(vectors, dim=-1)  # (V, d)
    stack = lambda words: unit[[place[w] for w in words]]
    asked = [w for w in question.split() if w in known[40:]]
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
    known = [word for word, n in frequency if n >= 20]
    vectors = make_vectors(text, known, window=2, r=100)
    pages = pages_of(known)
    for question in questions:
        search(question, known, vectors, pages)
except NotImplementedError:
    print("The search needs your answers to 1.5, 1.6 and 1.8.")

# %% [markdown]
# Some answers are good and some are silly. Where a page is found by a word that your question doesn't contain, your dot products did more than look up letters. But every word has only one vector, whatever is around it. Attention will give it one that depends on its neighbors.

# %% [markdown]
# {{next_steps}}
