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
# Eight exercises, 18 points. At the end you can compare vectors, alone and in batches, and find the nearest of many.
#
# {{colab_link}} · about 60 minutes · builds on {{lesson_link}}
#
# Write your code where it says `YOUR CODE HERE`, run the cell, then run the check below it. A check that fails says what differs and, if it knows your mistake,
# what your answer did. You may try as often as you like. Hints are folded under each check. A function of `course_utils` that does what an exercise asks for is off limits in it.

# %% tags=["setup"]
import torch
import torch.nn.functional as F

from course_utils.checks import check

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
# Write `cosine(a, b)` for two stacks of vectors: the cosine of the angle between row `i` of `a` and row `i` of `b`. Where one of the two is the zero vector, the result is 0.
# Vectors that are short but not zero count like any other, down to a length of `1e-7`: your guard must not change their cosine.
#
# | argument | shape |
# |---|---|
# | `a`, `b` | `(n, d)` |
# | returns | `(n,)`, values from -1 to 1, never NaN |
#
# Example: `cosine(torch.tensor([[2., 3.], [0., 0.]]), torch.tensor([[1., 4.], [1., 2.]]))` is `[0.9417, 0.0000]`. PyTorch's `cosine_similarity` is off limits here.

# %% tags=["exercise"]
def cosine(a, b):
    # BEGIN SOLUTION
    length_a = a.norm(dim=-1)  # (n,)
    length_b = b.norm(dim=-1)  # (n,)
    lengths = length_a * length_b  # (n,)
    safe = lengths.masked_fill(lengths == 0, 1.0)  # 0 / 1 is 0, while 0 / 0 would be NaN
    return (a * b).sum(dim=-1) / safe  # (n,)
    # END SOLUTION


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
# **About this solution.** Replacing a length of exactly 0 changes nothing else. Adding a small constant to every length changes every cosine a little, and that of short vectors much:
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
# In the check `B`, `L_q`, `L_k` and `d` all differ. Loops are allowed; one line without a loop is better.

# %% tags=["exercise"]
def all_pairs(queries, keys):
    # BEGIN SOLUTION
    return queries @ keys.transpose(-2, -1)  # (B, L_q, d) @ (B, d, L_k) -> (B, L_q, L_k)
    # END SOLUTION


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
# Write `all_pairs_einsum(queries, keys)` with the shapes of 1.3, best with one call of `torch.einsum`. Matrix products (`@`, `matmul`, `bmm` and their kin) are off limits here.

# %% tags=["exercise"]
def all_pairs_einsum(queries, keys):
    # BEGIN SOLUTION
    return torch.einsum("bid,bjd->bij", queries, keys)
    # END SOLUTION


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
# Example: among the keys `[1, 4]`, `[-1, -2]`, `[40, 0]`, `[0.4, 0.6]`, the two nearest to `[2, 3]` are rows 3 and 0. Row 2 has by far the largest dot product. In the check no two keys tie.

# %% tags=["exercise"]
def nearest(query, keys, k):
    # BEGIN SOLUTION
    directions = F.normalize(keys, dim=-1)  # (L_k, d)
    similarities = directions @ query  # (L_k,); the query's own length changes no ranking
    return similarities.topk(k).indices  # (k,)
    # END SOLUTION


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
# three entries each it runs without complaint. Its numbers are wrong all the same. Run the cell, see by how much, and write a mended version below.

# %%
def batch_cosines_broken(queries, keys):
    queries = F.normalize(queries, dim=-1)
    keys = F.normalize(keys, dim=-1)
    return queries @ keys.permute(*range(keys.dim())[::-1])  # what keys.T means when keys has any number of axes


rng = torch.Generator().manual_seed(0)
q, k = torch.randn(3, 3, 3, generator=rng), torch.randn(3, 3, 3, generator=rng)
expected = F.cosine_similarity(q[1, 2], k[1, 0], dim=0)
print(f"item 1, query 2, key 0: computed {batch_cosines_broken(q, k)[1, 2, 0]:.3f}, by PyTorch's function {expected:.3f}")

# %% [markdown]
# Write `batch_cosines(queries, keys)` so that it is right for every batch: `(B, L_q, d)` and `(B, L_k, d)` give `(B, L_q, L_k)` of the same dtype. No vector is zero.

# %% tags=["exercise"]
def batch_cosines(queries, keys):
    # BEGIN SOLUTION
    queries = F.normalize(queries, dim=-1)
    keys = F.normalize(keys, dim=-1)
    return queries @ keys.transpose(-2, -1)  # the last two axes trade places; the batch axis stays
    # END SOLUTION


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
# ### 1.7 · What length does
# 1 point · difficulty 1 of 5 · 2 minutes
#
# A key is multiplied by 2. What happens to its similarity with a query?
#
# - **a.** Both the dot product and the cosine double.
# - **b.** The cosine doubles, the dot product stays.
# - **c.** The dot product doubles, the cosine stays.
# - **d.** Neither changes, since the direction stays the same.

# %% tags=["quiz"]
quiz_1_7 = ""  # your letter between the quotes
# BEGIN SOLUTION
quiz_1_7 = "c"
# END SOLUTION

# %% tags=["check"]
check("1.7", quiz_1_7)

# %% [markdown]
# ### 1.8 · What zero means
# 1 point · difficulty 1 of 5 · 2 minutes
#
# The dot product of two vectors is 0. What can you conclude?
#
# - **a.** One of the two is the zero vector.
# - **b.** They are at a right angle, or one of them is the zero vector.
# - **c.** They point in opposite directions.
# - **d.** They are equal.

# %% tags=["quiz"]
quiz_1_8 = ""  # your letter between the quotes
# BEGIN SOLUTION
quiz_1_8 = "b"
# END SOLUTION

# %% tags=["check"]
check("1.8", quiz_1_8)

# %% [markdown]
# {{next_steps}}
