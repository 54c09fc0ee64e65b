# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 08 · Positional information: exercises
#
# Nine exercises, 25 points. At the end you have written sinusoidal positions, their shift matrix, RoPE and ALiBi, and a test that tells relative positions from absolute ones.
#
# {{colab_link}} · about 90 minutes · builds on {{lesson_link}}
#
# Write your code where it says `YOUR CODE HERE`, run the cell, then run the check below it. A check that fails says what differs and, if it knows your mistake,
# what your answer did. You may try as often as you like. Hints are folded under each check.
#
# The course's own `positions` module is off limits in these exercises: you are writing it.

# %% tags=["setup"]
import torch

from course_utils.checks import check

# %% [markdown]
# ### 8.1 · The sinusoidal table
# 3 points · difficulty 2 of 5 · 10 minutes
#
# Write `sinusoidal_table(num_positions, d_model)`. For position `pos` (counted from 0) and pair `i` (counted from 0), with $\omega_i = 10000^{-2i/d_{model}}$:
#
# - column `2 i` holds $\sin(pos \cdot \omega_i)$,
# - column `2 i + 1` holds $\cos(pos \cdot \omega_i)$.
#
# | argument | meaning |
# |---|---|
# | `num_positions` | number of rows, at least 1 (in the check up to 600: angles in `float32` are precise enough) |
# | `d_model` | number of columns; if it is odd, raise a `ValueError` |
# | returns | `(num_positions, d_model)`, `float32` |
#
# Example: `sinusoidal_table(2, 4)` is `[[0., 1., 0., 1.], [0.8415, 0.5403, 0.0100, 0.9999]]`, to four digits.

# %% tags=["exercise"]
def sinusoidal_table(num_positions, d_model):
    # BEGIN SOLUTION
    if d_model % 2:
        raise ValueError(f"d_model ({d_model}) must be even: sine and cosine come in pairs")
    frequency = 10000 ** (-torch.arange(0, d_model, 2) / d_model)  # (d_model / 2,)
    angle = torch.arange(num_positions)[:, None] * frequency  # (num_positions, d_model / 2)
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)  # (num_positions, d_model)
    # END SOLUTION


# %% tags=["check"]
check("8.1", sinusoidal_table)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# `torch.arange(0, d_model, 2)` gives the numbers `2 i`: 0, 2, 4 ...
# </details>
# <details><summary>Hint 2</summary>
#
# A column of positions times a row of frequencies broadcasts to all the angles at once. Sine and cosine of the same angle then stand side by side: slices with step 2, or a new last axis that is flattened.
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# 1. odd `d_model`: raise a ValueError with a sentence that helps
# 2. one frequency for each pair; all angles, positions times frequencies
# 3. even columns: sines; odd columns: cosines of the same angles
# </details>

# %% [markdown]
# ### 8.2 · The shift matrix
# 3 points · difficulty 3 of 5 · 10 minutes
#
# Write `shift_matrix(delta, d_model)`: the matrix $M_\delta$ that takes the sinusoidal vector of any position to the one `delta` positions further on, $p_{pos+\delta} = M_\delta \, p_{pos}$, for the table of 8.1. (Vectors as columns, so with rows of a table: `table[pos + delta] = M @ table[pos]`.)
#
# | argument | meaning |
# |---|---|
# | `delta` | whole number or fraction; may be negative or 0 (in the check between -40 and 40: `float32` is precise enough) |
# | `d_model` | even |
# | returns | `(d_model, d_model)`, `float32` |
#
# Example: `shift_matrix(1, 2)` is `[[0.5403, 0.8415], [-0.8415, 0.5403]]`.

# %% tags=["exercise"]
def shift_matrix(delta, d_model):
    # BEGIN SOLUTION
    angle = delta * 10000 ** (-torch.arange(0, d_model, 2) / d_model)  # (d_model / 2,)
    M = torch.zeros(d_model, d_model)
    even, odd = torch.arange(0, d_model, 2), torch.arange(1, d_model, 2)  # (d_model / 2,) each: sines, cosines
    M[even, even], M[even, odd] = angle.cos(), angle.sin()
    M[odd, even], M[odd, odd] = -angle.sin(), angle.cos()
    return M
    # END SOLUTION


# %% tags=["check"]
check("8.2", shift_matrix)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# Begin with one pair. Write down the addition theorems for `sin(a + b)` and `cos(a + b)`, and read off the four numbers that multiply `sin a` and `cos a`.
# </details>
# <details><summary>Hint 2</summary>
#
# Each pair has its own angle and its own 2 x 2 block on the diagonal; all other entries are 0. A loop over pairs is fine.
# </details>
# <details><summary>Hint 3</summary>
#
# Test it with your table of 8.1: `sinusoidal_table(9, 6)[5]` must equal `shift_matrix(3, 6) @ sinusoidal_table(9, 6)[2]`.
# </details>

# %% [markdown]
# ### 8.3 · RoPE
# 4 points · difficulty 3 of 5 · 15 minutes
#
# Write `rope(x, positions, base)`: turn each pair of features `(i, i + d_head / 2)` by the angle $pos \cdot \text{base}^{-2i/d_{head}}$, counterclockwise: $(a, b)$ becomes $(a \cos - b \sin,\; a \sin + b \cos)$.
#
# | argument | shape |
# |---|---|
# | `x` | `(B, H, L, d_head)`, queries or keys; `d_head` is even |
# | `positions` | `(L,)`, whole numbers in any order, one for each token |
# | `base` | a number, such as 10000.0 |
# | returns | shape and dtype of `x` |
#
# Example: with `base = 1` all pairs turn by `pos` radians; `x = [[[[1., 0.]]]]` at position 2 becomes `[[[[-0.4161, 0.9093]]]]`. In the check one case is in `float64`; compute the angles in `float64` too, then the result is as precise as that. Queries and keys are learned, so a gradient must reach `x` through your result: work with tensor operations.

# %% tags=["exercise"]
def rope(x, positions, base):
    # BEGIN SOLUTION
    d_head = x.shape[-1]
    angle = positions[:, None] * base ** (-torch.arange(0, d_head, 2, dtype=torch.float64) / d_head)  # (L, d_head / 2)
    cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)  # (L, d_head / 2) each
    first, second = x.chunk(2, dim=-1)  # (B, H, L, d_head / 2) each
    return torch.cat([first * cos - second * sin, first * sin + second * cos], dim=-1)  # (B, H, L, d_head)
    # END SOLUTION


# %% tags=["check"]
check("8.3", rope)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# A table of angles has one row for each token and one column for each pair: `(L, d_head / 2)`. It broadcasts against `(B, H, L, d_head / 2)`.
# </details>
# <details><summary>Hint 2</summary>
#
# `x.chunk(2, dim=-1)` gives the two halves. Feature `i` of the first half and feature `i` of the second half make pair `i`.
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# 1. angles: positions as a column times one frequency for each pair
# 2. cut `x` in halves `a` and `b`
# 3. new first half `a cos - b sin`, new second half `a sin + b cos`, side by side again
# </details>

# %% [markdown]
# ### 8.4 · Relative or absolute?
# 4 points · difficulty 4 of 5 · 15 minutes
#
# Write the property test for relative positions. `distance_only(score, length)` gets a function `score(m, n)`: the score of a query at position `m` with a key at position `n`. Query and key have the same content wherever they stand; only the positions change. Return `True` if the score depends on
# the **distance** `m - n` only, for all positions from 0 to `length - 1`, and `False` if it does not. You do not know what is inside.
#
# | argument | meaning |
# |---|---|
# | `score` | a function of two whole numbers from 0 to `length - 1`; returns a number (a float) |
# | `length` | number of positions, at least 3 |
# | returns | `True` or `False` |
#
# Examples: `lambda m, n: -abs(m - n)` is relative. `lambda m, n: m * n` is not. Scores are rounded as in `float32`: two scores that ought to be equal may differ by about a millionth, whether they are large or near 0; scores that ought to differ do so by a thousandth or more, and no score is above 50 in size. In the check some scores break the rule at a single pair of positions. After a failed check `failing_case()["scores"]` is the table that was tried: `score(m, n)` is its entry `[m, n]`.

# %% tags=["exercise"]
def distance_only(score, length):
    # BEGIN SOLUTION
    for m in range(1, length):
        for n in range(1, length):
            if abs(score(m, n) - score(m - 1, n - 1)) > 1e-4:  # the same distance, one step earlier
                return False
    return True
    # END SOLUTION


# %% tags=["check"]
check("8.4", distance_only)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# What does "depends on the distance only" say about `score(5, 3)` and `score(4, 2)`? And about `score(3, 5)`?
# </details>
# <details><summary>Hint 2</summary>
#
# Go over all pairs, those with `n > m` too. Computers round, so that `==` is too strict; and a tolerance of 0.1 is too generous.
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# 1. for each pair `(m, n)` that has a pair `(m - 1, n - 1)` before it:
# 2. if the two scores differ by more than rounding: not relative
# 3. if no pair showed anything: relative
# </details>

# %% [markdown]
# ### 8.5 · The slopes of ALiBi
# 3 points · difficulty 3 of 5 · 10 minutes
#
# Write `alibi_slopes(num_heads)`.
#
# - If `num_heads` is a power of two, $H$: slope $2^{-8h/H}$ for $h = 1, \dots, H$, in this order.
# - If it is not: first all slopes of the next **lower** power of two; then, as many as are missing, every second slope of the next **higher** power of two, beginning with its first.
#
# | argument | meaning |
# |---|---|
# | `num_heads` | at least 1 (1 is a power of two) |
# | returns | `(num_heads,)`, `float32` |
#
# Example: `alibi_slopes(2)` is `[1/16, 1/256]`; `alibi_slopes(3)` is `[1/16, 1/256, 1/4]`.

# %% tags=["exercise"]
def alibi_slopes(num_heads):
    # BEGIN SOLUTION
    lower = 1
    while 2 * lower <= num_heads:
        lower = 2 * lower
    slopes = [2 ** (-8 * h / lower) for h in range(1, lower + 1)]
    higher = [2 ** (-8 * h / (2 * lower)) for h in range(1, 2 * lower + 1)]
    return torch.tensor(slopes + higher[0::2][: num_heads - lower])  # (num_heads,)
    # END SOLUTION


# %% tags=["check"]
check("8.5", alibi_slopes)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# Write a small function for powers of two first, and use it twice.
# </details>
# <details><summary>Hint 2</summary>
#
# The largest power of two that is not above a number: double 1 as long as you may. Every second entry of a list, from the first on: `[0::2]`.
# </details>

# %% [markdown]
# ### 8.6 · The biases of ALiBi
# 3 points · difficulty 2 of 5 · 10 minutes
#
# Write `alibi_bias(slopes, L_q, L_k)`: what is added to the scaled scores, minus slope times distance. The queries are the **last** `L_q` of the `L_k` positions, as with a cache. The distance has no sign: it is counted in both directions.
#
# | argument | shape |
# |---|---|
# | `slopes` | `(H,)`, positive, `float32`; they are not learned, so values are enough |
# | `L_q`, `L_k` | numbers of queries and keys, `L_k` at least `L_q` |
# | returns | `(H, L_q, L_k)`, `float32` |
#
# Example: slopes `[0.5]`, `L_q = 2`, `L_k = 3` give `[[[-0.5, 0., -0.5], [-1., -0.5, 0.]]]`.

# %% tags=["exercise"]
def alibi_bias(slopes, L_q, L_k):
    # BEGIN SOLUTION
    query_positions = torch.arange(L_k - L_q, L_k)  # (L_q,)
    distance = (query_positions[:, None] - torch.arange(L_k)).abs()  # (L_q, L_k)
    return -slopes[:, None, None] * distance  # (H, L_q, L_k)
    # END SOLUTION


# %% tags=["check"]
check("8.6", alibi_bias)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# At which position does query 0 stand, if the queries are the last `L_q` of `L_k`? (Exercise 5.2 asked the same.)
# </details>
# <details><summary>Hint 2</summary>
#
# A column of query positions minus a row of key positions is a table of distances. The slopes need two more axes to multiply it head by head.
# </details>

# %% [markdown]
# ### 8.7 · Find the bug
# 3 points · difficulty 3 of 5 · 10 minutes
#
# The function below computes scores with rotary positions. Keys stand at positions 0 to `L_k - 1`, queries at the last `L_q` of them. It runs, the shapes are right, lengths are kept, position 0 stays as it is, and a model trained with it learns. Yet it is not RoPE. In the cell below all queries have the same
# content, and so do all keys. Then each score must depend on the distance only: along each diagonal, from upper left to lower right, all numbers must be equal. Run it, and compare the two rotations line by line.

# %%
def scores_broken(query, key, base=10000.0):
    L_q, L_k, d_head = query.shape[-2], key.shape[-2], query.shape[-1]
    angle = torch.arange(L_k)[:, None] * base ** (-torch.arange(0, d_head, 2) / d_head)  # (L_k, d_head / 2)
    cos_q, sin_q = angle[L_k - L_q :].cos(), angle[L_k - L_q :].sin()  # (L_q, d_head / 2)
    a, b = query[..., : d_head // 2], query[..., d_head // 2 :]
    query = torch.cat([a * cos_q - b * sin_q, a * sin_q + b * cos_q], dim=-1)
    cos_k, sin_k = angle.cos(), angle.sin()  # (L_k, d_head / 2)
    a, b = key[..., 0::2], key[..., 1::2]
    key = torch.stack([a * cos_k - b * sin_k, a * sin_k + b * cos_k], dim=-1).flatten(-2)
    return query @ key.transpose(-2, -1) / d_head**0.5


q = torch.tensor([1.0, 2.0, -1.0, 0.5]).expand(1, 1, 4, 4)  # (B, H, L_q, d_head): the same query at every position
k = torch.tensor([0.5, -1.0, 2.0, 1.0]).expand(1, 1, 4, 4)  # (B, H, L_k, d_head)
for row in scores_broken(q, k)[0, 0].tolist():
    print("  ".join(f"{score:6.2f}" for score in row))

# %% [markdown]
# Write `rotary_scores(query, key)` so that it is right, with pairs `(i, i + d_head / 2)` as in 8.3 and base 10000: queries `(B, H, L_q, d_head)` and keys `(B, H, L_k, d_head)` give scores `(B, H, L_q, L_k)`, divided by the root of `d_head`. The queries stand at the last `L_q` of the `L_k` positions. You may call your `rope` of 8.3. Gradients must flow through your answer: use torch operations from first to last.

# %% tags=["exercise"]
def rotary_scores(query, key):
    # BEGIN SOLUTION
    L_q, L_k, d_head = query.shape[-2], key.shape[-2], query.shape[-1]
    key_positions = torch.arange(L_k)  # (L_k,)
    query = rope(query, key_positions[L_k - L_q :], 10000.0)  # (B, H, L_q, d_head)
    key = rope(key, key_positions, 10000.0)  # (B, H, L_k, d_head)
    return query @ key.transpose(-2, -1) / d_head**0.5  # (B, H, L_q, L_k)
    # END SOLUTION


# %% tags=["check"]
check("8.7", rotary_scores)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# Which features of the query are turned together? And which of the key?
# </details>
# <details><summary>Hint 2</summary>
#
# Turning query and key by the same angle cancels in the dot product only if both are turned in the same plane: the same two features, by the same frequency.
# </details>

# %% [markdown]
# ### 8.8 · What is turned?
# 1 point · difficulty 2 of 5 · 3 minutes
#
# Why does RoPE turn queries and keys, but not values?
#
# - **a.** Values have another size than queries and keys, so the rotation does not fit.
# - **b.** Turning values would change the attention weights.
# - **c.** Position is wanted in the scores; turned values would make the output depend on absolute positions.
# - **d.** Values are turned back by the output projection, so it makes no difference.

# %% tags=["quiz"]
quiz_8_8 = ""  # your letter between the quotes
# BEGIN SOLUTION
quiz_8_8 = "c"
# END SOLUTION

# %% tags=["check"]
check("8.8", quiz_8_8)

# %% [markdown]
# ### 8.9 · Longer than in training
# 1 point · difficulty 3 of 5 · 3 minutes
#
# A model was trained on sequences of 512 tokens. Its learned position table has 1024 rows. You give it 600 tokens. What happens?
#
# - **a.** An error: there are no positions from 512 on.
# - **b.** It runs; the rows from 512 on were never trained, so they carry whatever they started with.
# - **c.** It runs as well as before: rows from 512 on were filled in by their neighbors.
# - **d.** It runs as well as before: only the distance of two tokens matters.

# %% tags=["quiz"]
quiz_8_9 = ""  # your letter between the quotes
# BEGIN SOLUTION
quiz_8_9 = "b"
# END SOLUTION

# %% tags=["check"]
check("8.9", quiz_8_9)

# %% [markdown]
# {{next_steps}}
