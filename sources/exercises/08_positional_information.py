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
# Nine exercises, 26 points. You read positions off a table, move keys that are in a cache already, write a test that tells relative positions from absolute ones, and convert a checkpoint. At the end a language model writes with *your* rotation in it.
#
# {{colab_link}} · core about 20 minutes, everything about 120 · builds on {{lesson_link}}
#
# Write your code where it says `YOUR CODE HERE`, run the cell, then run the check below it. A check that fails says what differs and, if it knows your mistake,
# what your answer did; `hint()`, or a second failure, adds what to try. You may try as often as you like. Hints are folded under each check.
#
# The course's own `positions` module is off limits here, because you are writing it.

# %% tags=["setup"]
import math
import sys

import torch
from tqdm import tqdm

from course_checks import check, failing_case, hint
from course_utils import plotting, positions, pretrained, widgets
from course_utils.datasets.documentation import documentation_split
from course_utils.datasets.text_windows import decode_text, encode_text
from course_utils.small_models import places

torch.set_num_threads(1)

# %% [markdown]
# ### 8.1 · Tell the time
# 2 points · difficulty 3 of 5 · 10 minutes · core
#
# Section 8.2 goes from a position to its vector. Go back. You get vectors from the sinusoidal table, but each entry is off by up to 0.05, as if someone had read the dials in a hurry. Write `which_position(vectors, num_positions)`, which says which position each vector belongs to.
#
# | argument | meaning |
# |---|---|
# | `vectors` | `(n, d_model)`, in the layout of section 8.2: column `2 i` is about $\sin(pos \cdot \omega_i)$, column `2 i + 1` about $\cos(pos \cdot \omega_i)$, with $\omega_i = 10000^{-2i/d_{model}}$; `d_model` is even, at least 4 |
# | `num_positions` | the positions run from 0 to `num_positions - 1` (at most 3,000 in the check) |
# | returns | `(n,)`, `int64`: the positions |
#
# Example: `which_position(torch.tensor([[0.66, 0.75, 0.10, 1.00]]), 100)` is `[7]`. The fast hand alone fits 7, 51 and 95 about equally well. The slow hand alone says 10.

# %% tags=["exercise"]
def which_position(vectors, num_positions):
    # BEGIN SOLUTION
    d_model = vectors.shape[1]
    frequency = 10000 ** (-torch.arange(0, d_model, 2) / d_model)  # (d_model / 2,)
    # (num_positions, d_model / 2)
    angle = torch.arange(num_positions)[:, None] * frequency
    # (num_positions, d_model)
    table = torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)
    # all rows have the same length, so the nearest has the largest dot product
    return (vectors @ table.T).argmax(dim=-1)  # (n,)
    # END SOLUTION


# %% [markdown] tags=["mistakes"]
# Try: no hand knows enough alone. Compare all of a vector's entries with all of a row's.
# only the fastest hand is read: after one round it says the same times again.
#     vectors @ table.T => vectors[:, :2] @ table[:, :2].T
# only the slowest hand is read: an error of 0.05 there is many positions.
#     vectors @ table.T => vectors[:, -2:] @ table[:, -2:].T
# only the fastest hand is read, by its angle: the result never gets beyond one round.
#     (vectors @ table.T).argmax(dim=-1) => (torch.atan2(vectors[:, 0], vectors[:, 1]) % 6.283185).round().long()
# only the slowest hand is read, by its angle: an error of 0.05 there is many positions.
#     (vectors @ table.T).argmax(dim=-1) => (torch.atan2(vectors[:, -2], vectors[:, -1]) / frequency[-1]).round().long().clamp(0, num_positions - 1)
# only the fastest hand is read, by its distances: after one round it says the same times again.
#     (vectors @ table.T).argmax => torch.cdist(vectors[:, :2], table[:, :2]).argmin
# only the slowest hand is read, by its distances: an error of 0.05 there is many positions.
#     (vectors @ table.T).argmax => torch.cdist(vectors[:, -2:], table[:, -2:]).argmin
# only the sines are compared.
#     vectors @ table.T => vectors[:, 0::2] @ table[:, 0::2].T
# only the cosines are compared.
#     vectors @ table.T => vectors[:, 1::2] @ table[:, 1::2].T
# only the sines are compared, by their distances.
#     (vectors @ table.T).argmax => torch.cdist(vectors[:, 0::2], table[:, 0::2]).argmin
# only the cosines are compared, by their distances.
#     (vectors @ table.T).argmax => torch.cdist(vectors[:, 1::2], table[:, 1::2]).argmin
# Try: in the vectors sines and cosines take turns, column by column.
# the table has all sines first, then all cosines.
#     torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1) => torch.cat([angle.sin(), angle.cos()], dim=-1)
# the table has cosines in the even columns and sines in the odd ones.
#     [angle.sin(), angle.cos()] => [angle.cos(), angle.sin()]
# Try: the exponent of pair i is -2 i / d: torch.arange(0, d, 2) holds the numbers 2 i.
# the exponent i / d_model instead of 2 i / d_model: from pair to pair the speeds fall half as fast.
#     torch.arange(0, d_model, 2) / d_model => torch.arange(d_model // 2) / d_model
# the exponent 4 i / d_model: the 2 is counted twice.
#     torch.arange(0, d_model, 2) / d_model => 2 * torch.arange(0, d_model, 2) / d_model
# Try: row 0 of the table is position 0.
# positions are counted from 1.
#     .argmax(dim=-1) => .argmax(dim=-1) + 1
# the table begins at position 1: each answer is one too low.
#     torch.arange(num_positions) => torch.arange(1, num_positions + 1)
# Try: which row is the nearest?
# the least similar position wins.
#     .argmax => .argmin
# Try: several rows may be near enough. Take the nearest of them.
# the first row whose entries are all within 0.2 wins, and a later one may be nearer.
#     (vectors @ table.T).argmax => ((vectors[:, None] - table).abs().amax(-1) < 0.2).long().argmax
# Try: each vector chooses among the positions, and not each position among the vectors.
# for each position you say which vector is the nearest.
#     .argmax(dim=-1) => .argmax(dim=0)

# %% tags=["check"]
check("8.1", which_position)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# A fast hand narrows it down to a few places in each round. A slow hand says roughly which round. You needn't work out either: you can try all positions.
# </details>
# <details><summary>Hint 2</summary>
#
# Work out the vectors of all positions at once. A column of positions times a row of frequencies broadcasts to all the angles. Sine and cosine of the same angle then go side by side: slices with step 2, or a new last axis that is flattened.
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# 1. a table with the exact vector of each position
# 2. how near is each vector to each row? (Every row has the same length. What does that say about dot products?)
# 3. the nearest row's number
# </details>

# %% [markdown]
# ### 8.2 · The shift matrix
# 3 points · difficulty 3 of 5 · 15 minutes · more
#
# Write `shift_matrix(delta, d_model)`, the matrix $M_\delta$ that takes the sinusoidal vector of any position to the one `delta` positions further on, $p_{pos+\delta} = M_\delta \, p_{pos}$. (Vectors are columns here, so with the rows of a table, `table[pos + delta] = M @ table[pos]`.)
#
# | argument | meaning |
# |---|---|
# | `delta` | whole number or fraction; may be negative or 0 (in the check between -40 and 40: `float32` is precise enough) |
# | `d_model` | even |
# | returns | `(d_model, d_model)`, `float32` |
#
# The lesson says that there is such a matrix, but not what it is. Example: `shift_matrix(1, 2)` is `[[0.5403, 0.8415], [-0.8415, 0.5403]]`.

# %% tags=["exercise"]
def shift_matrix(delta, d_model):
    # BEGIN SOLUTION
    angle = delta * 10000 ** (-torch.arange(0, d_model, 2) / d_model)  # (d_model / 2,)
    M = torch.zeros(d_model, d_model)
    # (d_model / 2,) each: where the sines are, and the cosines
    even, odd = torch.arange(0, d_model, 2), torch.arange(1, d_model, 2)
    M[even, even], M[even, odd] = angle.cos(), angle.sin()
    M[odd, even], M[odd, odd] = -angle.sin(), angle.cos()
    return M
    # END SOLUTION


# %% [markdown] tags=["mistakes"]
# Try: the first row of a pair is sin(a + b) = cos(b) sin(a) + sin(b) cos(a).
# the matrix that goes delta positions back.
#     = angle.cos(), angle.sin() => = angle.cos(), -angle.sin()
#     = -angle.sin(), angle.cos() => = angle.sin(), angle.cos()
# Try: in the table a pair stands side by side: columns 2 i and 2 i + 1.
# the pairs (i, i + d_model / 2), for a table with all sines first.
#     even, odd = torch.arange(0, d_model, 2), torch.arange(1, d_model, 2) => even, odd = torch.arange(d_model).chunk(2)
# Try: the exponent of pair i is -2 i / d: torch.arange(0, d, 2) holds the numbers 2 i.
# the exponent i / d_model instead of 2 i / d_model.
#     torch.arange(0, d_model, 2) / d_model => torch.arange(d_model // 2) / d_model
# the exponent 4 i / d_model: the 2 is counted twice.
#     torch.arange(0, d_model, 2) / d_model => 2 * torch.arange(0, d_model, 2) / d_model
# all pairs turn at the same speed, that of pair 0.
#     torch.arange(0, d_model, 2) / d_model => 0 * torch.arange(0, d_model, 2) / d_model
# a positive exponent: the pairs turn faster and faster.
#     (-torch.arange(0, d_model, 2) / d_model) => (torch.arange(0, d_model, 2) / d_model)
# Try: multiply delta by the frequencies as it is.
# a negative delta moves forward, as the positive one does.
#     angle = delta => angle = abs(delta)
# a negative delta does not move at all.
#     angle = delta => angle = max(delta, 0)
# delta is cut to a whole number.
#     angle = delta => angle = int(delta)
# Try: take the sine of the angle itself.
# the sines have lost their sign.
#     angle.sin() => angle.sin().abs()
# Try: what is cos(0)?
# sine and cosine of the angle are exchanged.
#     angle.cos() => angle#()
#     angle.sin() => angle.cos()
#     angle#() => angle.sin()

# %% tags=["check"]
check("8.2", shift_matrix)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# Begin with one pair. Write down the addition theorems for `sin(a + b)` and `cos(a + b)`, and read off the four numbers that multiply `sin a` and `cos a`.
# </details>
# <details><summary>Hint 2</summary>
#
# Each pair has its own angle and its own 2 x 2 block on the diagonal, and all other entries are 0. A loop over pairs is fine.
# </details>
# <details><summary>Hint 3</summary>
#
# Test it with a table, yours of 8.1 or the loop of section 8.2: row 5 must equal `shift_matrix(3, 6)` times row 2.
# </details>

# %% [markdown]
# ### 8.3 · Move the keys in a cache
# 3 points · difficulty 3 of 5 · 12 minutes · core
#
# A chat has grown too long for its cache. You throw away the tokens in the middle and keep the first few and the latest. Now the kept keys ought to be next to one another, at positions 0, 1, 2 and so on. But with RoPE each key was turned by its old position *before* it went into the cache (section 8.5), and the unturned ones are gone. Write `move_keys(keys, old, new, base)`. It gets keys that were turned for the positions `old`, and returns what they would be if they had been turned for the positions `new`.
#
# | argument | shape |
# |---|---|
# | `keys` | `(B, H, L, d_head)`, turned already; pairs are $(i, i + d_{head}/2)$, and pair $i$ turns by $\text{base}^{-2i/d_{head}}$ radians for each position, counterclockwise |
# | `old`, `new` | `(L,)` each, whole numbers in any order, one for each token |
# | `base` | a number, such as 10000.0 |
# | returns | shape and dtype of `keys`; the argument stays as it was |
#
# Example: with `base = 100` and `d_head = 4`, pair 0 turns by 1 and pair 1 by 0.1 radians per position. The key `[[[[1., 0., 0., 1.]]]]`, moved from position 3 to position 1, becomes `[[[[-0.4161, 0.1987, -0.9093, 0.9801]]]]`.
#
# A key that hasn't been turned yet is one at position 0. With zeros for `old`, your function *is* RoPE, for queries and keys alike, and the last part of this page uses it so. A gradient must therefore reach `keys`. One case is in `float64`. Compute the angles in `float64`, and the result is as precise as that.

# %% tags=["exercise"]
def move_keys(keys, old, new, base):
    # BEGIN SOLUTION
    d_head = keys.shape[-1]
    pair = torch.arange(0, d_head, 2, dtype=torch.float64)  # (d_head / 2,): 0, 2, 4 ...
    # back by the old position and on by the new one: (L, d_head / 2)
    angle = (new - old)[:, None] * base ** (-pair / d_head)
    cos, sin = angle.cos().to(keys.dtype), angle.sin().to(keys.dtype)  # (L, d_head / 2)
    first, second = keys.chunk(2, dim=-1)  # (B, H, L, d_head / 2) each
    turned = [first * cos - second * sin, first * sin + second * cos]
    return torch.cat(turned, dim=-1)  # (B, H, L, d_head)
    # END SOLUTION


# %% [markdown] tags=["mistakes"]
# Try: the keys are turned already. What has to be added to a turn by 3 to get a turn by 1?
# the keys are turned by their new position on top of the old one.
#     (new - old) => new
# the keys go back to where they were before they were turned, and stay there.
#     (new - old) => -old
# the keys are turned by old and new together.
#     (new - old) => (new + old)
# the keys move by the right number of positions, but the wrong way.
#     (new - old) => (old - new)
# keys move in one direction only: the sign of the difference is lost.
#     (new - old) => (new - old).abs()
# all keys move as far as the last one.
#     (new - old) => (new - old)[-1:].expand(len(old))
# all keys move as far as the first one.
#     (new - old) => (new - old)[:1].expand(len(old))
# Try: cut the last axis into halves, and put the halves side by side again; entry i of each makes pair i.
# pairs of neighbors (2 i, 2 i + 1), as in the paper.
#     keys.chunk(2, dim=-1) => (keys[..., 0::2], keys[..., 1::2])
#     torch.cat(turned, dim=-1) => torch.stack(turned, dim=-1).flatten(-2)
# pairs of halves are turned, and put back as neighbors.
#     torch.cat(turned, dim=-1) => torch.stack(turned, dim=-1).flatten(-2)
# Try: (a, b) becomes (a cos - b sin, a sin + b cos).
# no minus sign: that is no rotation, and lengths change.
#     first * cos - second * sin => first * cos + second * sin
# the second half is computed from the new first half.
#     first * sin + second * cos => (first * cos - second * sin) * sin + second * cos
# sine and cosine are exchanged.
#     cos, sin = => sin, cos =
# Try: pair i turns by base ** (-2 i / d_head): torch.arange(0, d_head, 2) holds the numbers 2 i.
# the exponent i / d_head instead of 2 i / d_head.
#     torch.arange(0, d_head, 2, dtype=torch.float64) => torch.arange(d_head // 2, dtype=torch.float64)
# Try: use the argument base.
# the base 10000, whatever base says.
#     base ** => 10000.0 **
# Try: each key stays in its place in the tensor; only how far it is turned changes.
# the keys are also put in the order of their new positions.
#     torch.cat(turned, dim=-1) => torch.cat(turned, dim=-1)[:, :, new.argsort()]

# %% tags=["check"]
check("8.3", move_keys)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# You can undo a turn by turning back. Then turn again, for the new position. How do two turns in a row combine into one?
# </details>
# <details><summary>Hint 2</summary>
#
# A table of angles has one row for each token and one column for each pair, `(L, d_head / 2)`. It broadcasts against halves of shape `(B, H, L, d_head / 2)`, which `keys.chunk(2, dim=-1)` gives.
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# 1. how many positions each key has to go, with a sign, as a column; times one frequency for each pair
# 2. cut `keys` in halves `a` and `b`
# 3. new first half `a cos - b sin`, new second half `a sin + b cos`, side by side again
# </details>

# %% [markdown]
# ### 8.4 · Relative or absolute?
# 4 points · difficulty 4 of 5 · 15 minutes · more
#
# Write a test that tells relative positions from absolute ones. `distance_only(score, length)` gets a function `score(m, n)`, which returns the score of a query at position `m` with a key at position `n`. Query and key have the same content at every position. Return `True` if the score depends on
# the **distance** `m - n` only, for all positions from 0 to `length - 1`, and `False` if it doesn't. You don't know what is inside.
#
# | argument | meaning |
# |---|---|
# | `score` | a function of two whole numbers from 0 to `length - 1`; returns a number (a float) |
# | `length` | number of positions, at least 3 |
# | returns | `True` or `False` |
#
# Examples: `lambda m, n: -abs(m - n)` is relative. `lambda m, n: m * n` is not. Scores are rounded as in `float32`, and none is above 50 in size:
#
# | two scores that ought to be | differ by |
# |---|---|
# | equal | a millionth at most, whether they are large or near 0 |
# | different | a thousandth or more |
#
# In the check some scores break the rule at a single pair of positions. After a failed check `failing_case()["scores"]` is the table that was tried: `score(m, n)` is its entry `[m, n]`.

# %% tags=["exercise"]
def distance_only(score, length):
    # BEGIN SOLUTION
    for m in range(1, length):
        for n in range(1, length):
            # the same distance, one step earlier
            if abs(score(m, n) - score(m - 1, n - 1)) > 1e-4:
                return False
    return True
    # END SOLUTION


# %% [markdown] tags=["mistakes"]
# Try: allow a small absolute difference, between a millionth and a thousandth, and no relative one.
# numbers are compared exactly: rounding passes for a difference.
#     abs(score(m, n) - score(m - 1, n - 1)) > 1e-4 => score(m, n) != score(m - 1, n - 1)
# a tolerance in proportion to the score alone.
#     abs(score(m, n) - score(m - 1, n - 1)) > 1e-4 => not math.isclose(score(m, n), score(m - 1, n - 1), rel_tol=1e-4)
# a relative tolerance and a tiny absolute one.
#     > 1e-4 => > 1e-8 + 1e-5 * abs(score(m - 1, n - 1))
# differences of several thousandths pass for rounding.
#     1e-4 => 0.1
# the tolerance grows with the scores: a thousandth passes where they are large.
#     > 1e-4 => > 1e-5 + 1e-4 * abs(score(m - 1, n - 1))
# Try: the distance has a sign.
# scores of m - n and n - m must be equal, too.
#     abs(score(m, n) - score(m - 1, n - 1)) > 1e-4 => abs(score(m, n) - score(m - 1, n - 1)) > 1e-4 or abs(score(m, n) - score(n, m)) > 1e-4
# Try: go over all pairs that have a pair one step before: m and n up to length - 1, n > m too.
# only keys at or before the query are compared.
#     if abs => if n <= m and abs
# for each distance only the first two pairs are compared.
#     if abs => if min(m, n) == 1 and abs
# the last position plays no part.
#     range(1, length) => range(1, length - 1)
# only keys at or after the query are compared.
#     if abs => if n >= m and abs
# only distance 0 and its neighbors are compared.
#     if abs => if abs(m - n) <= 1 and abs
# position 0 plays no part.
#     range(1, length) => range(2, length)
# Try: take the difference first, then its absolute value.
# both scores are rounded, then compared: near a border they come out different.
#     abs(score(m, n) - score(m - 1, n - 1)) > 1e-4 => round(score(m, n), 4) != round(score(m - 1, n - 1), 4)
# the difference is compared without its absolute value.
#     abs(score(m, n) - score(m - 1, n - 1)) => score(m, n) - score(m - 1, n - 1)
# Try: keep m - n the same: move query and key together.
# only the key is moved, so the distance changes too.
#     score(m - 1, n - 1) => score(m, n - 1)
# Try: True only after both loops.
# the function returns after the first comparison.
#     return False\n => return False\n            return True\n

# %% tags=["check"]
check("8.4", distance_only)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# What does "depends on the distance only" say about `score(5, 3)` and `score(4, 2)`? Does it say anything about `score(3, 5)`?
# </details>
# <details><summary>Hint 2</summary>
#
# Go over all pairs, those with `n > m` too. Computers round, so `==` is too strict, and a tolerance of 0.1 is too generous.
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# 1. for each pair `(m, n)` that has a pair `(m - 1, n - 1)` before it:
# 2. if the two scores differ by more than rounding: not relative
# 3. if no pair showed anything: relative
# </details>

# %% [markdown]
# ### 8.5 · Convert a checkpoint
# 4 points · difficulty 4 of 5 · 20 minutes · more
#
# A model was trained whose RoPE pairs **halves**, $(i, i + d_{head}/2)$. You want to run it in code that pairs **neighbors**, $(2i, 2i+1)$. You don't have to train anything. Put the features of queries and keys in another order, so that each feature meets the same partner as before, with the same angle. Features of queries and keys are made by rows of the projections' weights. (In `nn.Linear`, row $r$ of the weight makes feature $r$.)
#
# Write `to_neighbors(weight, num_heads)`, which returns the projection for the other code. It's called with the weights of `q_proj` and `k_proj`, and with their biases, too.
#
# | argument | shape |
# |---|---|
# | `weight` | `(num_heads * d_head, d_in)`, or `(num_heads * d_head,)` for a bias; `d_head` is even |
# | `num_heads` | how many heads this projection makes; head 0 has the first `d_head` rows, and so on |
# | returns | shape and dtype of `weight`; the argument stays as it was |
#
# Example: a bias of one head of size 6, `[0., 1., 2., 3., 4., 5.]`, becomes `[0., 3., 1., 4., 2., 5.]`. (With a head of size 4 some wrong answers look right. Why?)

# %% tags=["exercise"]
def to_neighbors(weight, num_heads):
    # BEGIN SOLUTION
    # (H, 2, d_head / 2, ...): of each head the first half, then the second
    halves = weight.unflatten(0, (num_heads, 2, -1))
    return halves.transpose(1, 2).flatten(0, 2)  # (H * d_head, ...)
    # END SOLUTION


# %% [markdown] tags=["mistakes"]
# Try: new rows 0 and 1 are partners: old rows 0 and d_head / 2.
# converted the other way: from neighbors to halves.
#     , 2, -1) => , -1, 2)
# no row has moved.
#     .transpose(1, 2) =>
# the two halves are exchanged, and nothing else.
#     .transpose(1, 2) => .flip(1)
# in each pair the partners are exchanged.
#     transpose(1, 2) => flip(1).transpose(1, 2)
# Try: cut the rows into heads first, (num_heads, d_head, ...), and change the order within each head.
# all rows are treated as one head.
#     (num_heads, => (1,
# the rows are dealt out to the heads in turn.
#     weight.unflatten => weight.unflatten(0, (-1, num_heads)).transpose(0, 1).flatten(0, 1).unflatten
# Try: join all axes that you cut.
# the heads still have an axis of their own.
#     flatten(0, 2) => flatten(1, 2)
# partners still have an axis of their own.
#     flatten(0, 2) => flatten(0, 1)
# Try: every head has its own rows.
# only the first head is converted.
#     halves.transpose(1, 2).flatten(0, 2) => torch.cat([halves[0].transpose(0, 1).flatten(0, 1), weight[weight.shape[0] // num_heads :]])

# %% tags=["check"]
check("8.5", to_neighbors)

# %% [markdown] tags=["solution"]
# **Why a head of size 4 can hide a mistake.** The new order is 0, 2, 1, 3, which exchanges two features and is its own inverse. Converting the wrong way, from neighbors to halves, does the same. From size 6 on the two ways differ.

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# In the code for halves, features 0 and $d_{head}/2$ are partners and turn fastest. Where do these two have to be in the code for neighbors?
# </details>
# <details><summary>Hint 2</summary>
#
# Work on one head first. Which old row becomes new row 0, which new row 1, which new row 2? Then think of several heads, whose rows lie one head below the other, and keep each head's rows within the head.
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# 1. cut the first axis into heads, and each head's rows into its two halves
# 2. let the halves take turns: first of the one, first of the other, second of the one ...
# 3. join the axes again
# </details>

# %% [markdown]
# ### 8.6 · The biases of ALiBi
# 2 points · difficulty 2 of 5 · 10 minutes · more
#
# Write `alibi_bias(slopes, L_q, L_k)`, which returns what is added to the scaled scores, minus slope times distance. The queries are the **last** `L_q` of the `L_k` positions, as with a cache. The distance has no sign and is counted in both directions.
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


# %% [markdown] tags=["mistakes"]
# Try: query i stands at position i + (L_k - L_q).
# the queries stand at the first positions.
#     torch.arange(L_k - L_q, L_k) => torch.arange(L_q)
# several queries stand at the first positions; only a single one stands last.
#     torch.arange(L_k - L_q, L_k) => torch.arange(L_q) + (L_k - 1 if L_q == 1 else 0)
# the queries stand one position too far.
#     torch.arange(L_k - L_q, L_k) => torch.arange(L_k - L_q, L_k) + 1
# the queries stand one position too early.
#     torch.arange(L_k - L_q, L_k) => torch.arange(L_k - L_q, L_k) - 1
# all queries have the distances of the last one.
#     torch.arange(L_k - L_q, L_k) => torch.full((L_q,), L_k - 1)
# Try: the distance is counted in both directions.
# a distance with a sign: keys of the future get a bonus.
#     .abs() =>
# keys of the future get no bias at all.
#     .abs() => .clamp(min=0)
# Try: far keys are pushed down.
# the farthest key gets the largest bonus.
#     -slopes[:, None, None] => slopes[:, None, None]
# Try: a token has distance 0 to itself.
# every distance is one too large.
#     .abs() => .abs() + 1
# Try: begin every head with the distances.
# head h has the product of the slopes 0 to h.
#     slopes[:, None, None] => slopes.cumprod(0)[:, None, None]
# Try: the slopes need two more axes, so that they multiply the table head by head.
# the slopes meet the table of distances without axes of their own.
#     slopes[:, None, None] => slopes

# %% tags=["check"]
check("8.6", alibi_bias)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# Which position does query 0 have, if the queries are the last `L_q` of `L_k`? (Exercise 5.2 asked the same.)
# </details>
# <details><summary>Hint 2</summary>
#
# A column of query positions minus a row of key positions is a table of distances. The slopes need two more axes to multiply it head by head.
# </details>

# %% [markdown]
# ### 8.7 · Find the bugs
# 3 points · difficulty 4 of 5 · 15 minutes · more
#
# The function below computes scores with rotary positions, in pairs of **neighbors**, $(2i, 2i + 1)$. (Your function of 8.3 pairs halves, so it won't do here.) Keys have the positions 0 to `L_k - 1`, queries the last `L_q` of these. It runs, the shapes are right, a query at position 0 stays as it is, and the formula is there twice, for keys and for queries. Yet **two** lines are wrong. Two things must be true of rotary scores:
#
# 1. If all queries have the same content, and all keys too, a score depends on the distance only. All numbers along a diagonal, from upper left to lower right, are equal.
# 2. A query and a key at the *same* position score $q \cdot k / \sqrt{d_{head}}$, as if nothing had been turned.
#
# The second cell tries this with four queries and four keys, and it shows one of the two faults. It can't show the other one.

# %%
def scores_broken(query, key, base=10000.0):
    L_q, L_k, d_head = query.shape[-2], key.shape[-2], query.shape[-1]
    frequency = base ** (-torch.arange(0, d_head, 2) / d_head)  # (d_head / 2,)
    angle = torch.arange(L_k)[:, None] * frequency  # (L_k, d_head / 2)
    cos, sin = angle.cos(), angle.sin()
    turned_key = torch.empty_like(key)
    a, b = key[..., 0::2], key[..., 1::2]
    turned_key[..., 0::2] = a * cos - b * sin
    turned_key[..., 1::2] = a * sin + b * cos
    cos, sin = cos[:L_q], sin[:L_q]  # (L_q, d_head / 2) each
    turned_query = query.clone()
    a, b = turned_query[..., 0::2], turned_query[..., 1::2]
    turned_query[..., 0::2] = a * cos - b * sin
    turned_query[..., 1::2] = a * sin + b * cos
    return turned_query @ turned_key.transpose(-2, -1) / d_head**0.5


# %%
# (B, H, L, d_head): the same query at every position, and the same key
q = torch.tensor([1.0, 2.0, -1.0, 0.5]).expand(1, 1, 4, 4)
k = torch.tensor([0.5, -1.0, 2.0, 1.0]).expand(1, 1, 4, 4)
for row in scores_broken(q, k)[0, 0].tolist():
    print("  ".join(f"{score:6.2f}" for score in row))
print(f"q · k / sqrt(d_head) = {(q[0, 0, 0] @ k[0, 0, 0]).item() / 2:.2f}")

# %% [markdown]
# Write `rotary_scores(query, key)`, the function with both faults repaired (base 10000). Queries `(B, H, L_q, d_head)` and keys `(B, H, L_k, d_head)` give scores `(B, H, L_q, L_k)`. Both arguments stay as they were, and gradients must reach both.
#
# Example: with two queries `[1., 0.]` and three keys `[1., 0.]` (B, H and the rest as above, `d_head = 2`) the scores are `[[0.3821, 0.7071, 0.3821], [-0.2943, 0.3821, 0.7071]]`. The function above gives `[[0.7071, 0.3821, -0.2943], [0.3821, 0.4769, 0.1333]]`.

# %% tags=["exercise"]
def rotary_scores(query, key):
    # BEGIN SOLUTION
    L_q, L_k, d_head = query.shape[-2], key.shape[-2], query.shape[-1]
    frequency = 10000.0 ** (-torch.arange(0, d_head, 2) / d_head)  # (d_head / 2,)
    angle = torch.arange(L_k)[:, None] * frequency  # (L_k, d_head / 2)
    cos, sin = angle.cos(), angle.sin()
    turned_key = torch.empty_like(key)
    a, b = key[..., 0::2], key[..., 1::2]
    turned_key[..., 0::2] = a * cos - b * sin
    turned_key[..., 1::2] = a * sin + b * cos
    cos, sin = cos[L_k - L_q :], sin[L_k - L_q :]  # the LAST L_q positions
    turned_query = query.clone()
    a, b = query[..., 0::2], query[..., 1::2]  # of query, which nothing overwrites
    turned_query[..., 0::2] = a * cos - b * sin
    turned_query[..., 1::2] = a * sin + b * cos
    return turned_query @ turned_key.transpose(-2, -1) / d_head**0.5
    # END SOLUTION


# %% [markdown] tags=["mistakes"]
# Try: print a before and after the line that writes into turned_query.
# the function as it was, with both faults.
#     a, b = query[..., 0::2], query[..., 1::2] => a, b = turned_query[..., 0::2], turned_query[..., 1::2]
#     cos[L_k - L_q :], sin[L_k - L_q :] => cos[:L_q], sin[:L_q]
# the second fault is repaired; the fault that the cell shows is still there.
#     a, b = query[..., 0::2], query[..., 1::2] => a, b = turned_query[..., 0::2], turned_query[..., 1::2]
# Try: try two queries with three keys, and look at a query and a key at the same position.
# the fault that the cell shows is repaired; with fewer queries than keys the scores are still wrong.
#     cos[L_k - L_q :], sin[L_k - L_q :] => cos[:L_q], sin[:L_q]
# all queries have the last position, L_k - 1.
#     cos[L_k - L_q :], sin[L_k - L_q :] => cos[-1:], sin[-1:]
# the queries have one position too early.
#     cos[L_k - L_q :], sin[L_k - L_q :] => (angle[L_k - L_q :] - frequency).cos(), (angle[L_k - L_q :] - frequency).sin()
# the queries have one position too far.
#     cos[L_k - L_q :], sin[L_k - L_q :] => (angle[L_k - L_q :] + frequency).cos(), (angle[L_k - L_q :] + frequency).sin()
# the queries are turned the other way.
#     cos[L_k - L_q :], sin[L_k - L_q :] => cos[L_k - L_q :], -sin[L_k - L_q :]
# the sines are of the first positions, the cosines of the last.
#     cos[L_k - L_q :], sin[L_k - L_q :] => cos[L_k - L_q :], sin[:L_q]
# Try: the keys were right; compare what is done to them with what is done to the queries.
# now the keys are turned in the same wrong way as the queries.
#     a, b = key[..., 0::2], key[..., 1::2] => turned_key = key.clone()\n    a, b = turned_key[..., 0::2], turned_key[..., 1::2]
#     a, b = query[..., 0::2], query[..., 1::2] => a, b = turned_query[..., 0::2], turned_query[..., 1::2]
# Try: this function pairs neighbors, (2 i, 2 i + 1), in query and key alike.
# queries and keys are turned in pairs of halves.
#     key[..., 0::2], key[..., 1::2] => key.chunk(2, dim=-1)
#     query[..., 0::2], query[..., 1::2] => query.chunk(2, dim=-1)
# the queries are turned in pairs of halves, the keys in pairs of neighbors.
#     query[..., 0::2], query[..., 1::2] => query.chunk(2, dim=-1)
# the turned queries are put together as halves, the keys as neighbors.
#     turned_query[..., 0::2] = => turned_query[..., : d_head // 2] =
#     turned_query[..., 1::2] = => turned_query[..., d_head // 2 :] =
# Try: one division is missing.
# the scores are not divided by the root of d_head.
#     ` / d_head**0.5` =>

# %% tags=["check"]
check("8.7", rotary_scores)

# %% [markdown] tags=["solution"]
# **The two lines.** `a, b = turned_query[..., 0::2], ...` copies nothing. Both are *views* of `turned_query`. The next line overwrites the even features, so `a` is turned already when the line after it reads it. The keys' `a` and `b` are views of `key`, which nothing overwrites. And `cos[:L_q]` takes the first positions where the last ones are meant. With as many queries as keys the two are the same, so the cell couldn't show it. With fewer queries all distances are off by the same number, so the first property holds and only the second one fails.

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# For the first fault, compare the four lines for the keys with the four for the queries. They differ in one name. For the second, ask which queries the function is meant for.
# </details>
# <details><summary>Hint 2</summary>
#
# A slice of a tensor is a view: write into the tensor, and the slice changes. For the second fault, call the function with two queries and three keys, and check the second property.
# </details>

# %% [markdown]
# ### 8.8 · Hands that never came round
# 1 point · difficulty 3 of 5 · 5 minutes · more
#
# A model with RoPE, $d_{head} = 64$ and base 10000, was trained on texts of 2,048 tokens. How many of its 32 pairs have a wavelength longer than these texts, and so never came round in training? Work it out, or let the computer count.
#
# - **a.** None.
# - **b.** 5
# - **c.** 11
# - **d.** 21

# %% tags=["quiz"]
quiz_8_8 = ""  # your letter between the quotes
# BEGIN SOLUTION
quiz_8_8 = "c"
# END SOLUTION

# %% [markdown] tags=["solution"]
# Why each option is right or wrong:
#
# - **a.** the longest wavelength is 2 pi times 10000 ** (62 / 64), more than 47,000 tokens. With the exponent i/d in place of 2i/d there would be none.
# - **b.** 5 pairs turn by less than 1/2048 of a radian per token. Once around is 2 pi radians.
# - **c.** 2 pi * 10000 ** (2i / 64) is above 2,048 from pair 21 on: pairs 21 to 31. Their larger angles are new in a longer text.
# - **d.** 21 pairs, 0 to 20, did come round. The others are asked for.

# %% tags=["check"]
check("8.8", quiz_8_8)

# %% [markdown]
# ### 8.9 · Open experiment: beyond the trained length, without training
# 4 points · difficulty 3 of 5 · 20 minutes · more
#
# In the lesson, from position 41 on, the RoPE model trained on 12 tokens couldn't say which digit came three tokens earlier. People have run language models beyond their trained length by changing RoPE's angles and nothing else. We try two ways.
#
# - `"squeezed"`: all positions divided by 8, so that 96 tokens fall into the trained range;
# - `"larger base"`: the base raised from 10,000 to 1,000,000.
#
# `"as trained"` changes nothing. The model isn't trained any further. First, your prediction.

# %%
widgets.predict(
    "8.E",
    "Base 1,000,000, 96 tokens: what share of question 1 is wrong? (As trained: 0.46)",
    between=(0, 0.8),
    step=0.05,
)

# %% [markdown]
# The cells below train three models as in the lesson, with 250 updates (about ten seconds). `question_1(base, squeeze, length)` runs them with other angles, and returns their three shares of wrong answers to question 1.

# %% tags=["nbval-ignore-output"]
readers = []
for seed in tqdm(range(3), desc="models trained", unit="model", file=sys.stdout):
    *_, reader = places.train("RoPE", seed, steps=250)
    readers.append(reader)


# %%
class Angles(torch.nn.Module):
    """Rotary positions with another base, and positions divided by a number."""

    def __init__(self, base, squeeze):
        super().__init__()
        self.base, self.squeeze = base, squeeze

    def forward(self, x, start=0):
        where = torch.arange(start, start + x.shape[2]) / self.squeeze  # (L,)
        angles = positions.rotary_angles(where, x.shape[3], base=self.base)
        return positions.apply_rope(x, angles.cos(), angles.sin())


# %%
def question_1(base, squeeze, length):
    for reader in readers:
        reader.layers[0].rotary = Angles(base, squeeze)
    return [places.wrong(reader, length)[0].item() for reader in readers]

# %% tags=["nbval-ignore-output"]
print("as trained, 96 tokens:", [round(x, 2) for x in question_1(10000.0, 1, 96)])
for length in (12, 48, 96):
    print(f"knows no order, {length} tokens: {places.guesser(length)[0]:.2f}")

# %% [markdown]
# Fill `long_results`:
#
# | key | what belongs there |
# |---|---|
# | `(way, length)`, for the three ways and the lengths 12, 48 and 96 | the three numbers of `question_1`: nine entries |
# | `("turn", way)`, for the three ways | two numbers, in radians, to three digits or more: by how much pair 0 and pair 3 (the last; $d_{head} = 8$) turn from one token to the next |
# | `"best at 96"` | the way with the smallest mean error at 96 tokens |
# | `"worst at 12"` | the way with the largest mean error at 12 tokens |
#
# Plot the nine means before you read them off, for example with `plotting.curves`. Which way does worse than the guesser who knows no order? Then look at the turns. What has that way taken away that question 1 needs? (The cell after the check looks for the answer.)

# %% tags=["exercise", "nbval-ignore-output"]
long_results = {}  # what you measured, and what you read off
# BEGIN SOLUTION
lengths = (12, 48, 96)
ways = {"as trained": (1e4, 1), "squeezed": (1e4, 8), "larger base": (1e6, 1)}
for way, (base, squeeze) in ways.items():
    for n in lengths:
        long_results[way, n] = question_1(base, squeeze, n)
    long_results["turn", way] = [base ** (-2 * i / 8) / squeeze for i in (0, 3)]
means = {w: torch.tensor([sum(long_results[w, n]) / 3 for n in lengths]) for w in ways}
guesses = torch.tensor([places.guesser(n)[0] for n in lengths])
shown, said = {**means, "knows no order": guesses}, "share of wrong answers"
ax = plotting.curves(torch.tensor(lengths), shown, xlabel="tokens", ylabel=said)
ax.set_xticks(lengths)
plotting.show(
    ax,
    "Share of wrong answers to question 1 by length. As trained it rises from near 0, "
    "squeezed it is above the guesser at every length, with the larger base near 0.",
)
long_results["best at 96"] = "larger base"
long_results["worst at 12"] = "squeezed"
# END SOLUTION

# %% tags=["check"]
check("8.9", long_results)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# A dict may have pairs as keys: `long_results["squeezed", 12] = question_1(10000.0, 8, 12)`. Two loops fill all nine.
# </details>
# <details><summary>Hint 2</summary>
#
# Pair $i$ turns by $\omega_i = \text{base}^{-2i/d_{head}}$ for each whole position. How many positions lie between two neighbors if all are divided by 8?
# </details>

# %% [markdown]
# Chen et al. (2023), who squeeze, train their models a little further with the squeezed positions. We didn't. The heads may still look for a key that is turned by three whole steps, and squeezed, that key is 24 tokens back. Does the model answer with the digit from there? A guess would agree in 0.25 of the cases.

# %% tags=["nbval-ignore-output"]
question_1(10000.0, 8, 96)  # squeezes all three models
tokens, _ = places.test_batch(96)  # (n, L)
with torch.no_grad():
    said = torch.stack([reader(tokens)[..., 0, :].argmax(-1) for reader in readers])
for ago in (3, 12, 24, 36):
    there = (tokens % places.DIGITS).roll(ago, dims=1)  # (n, L): the digit so far back
    agree = (said[:, :, 36:] == there[:, 36:]).float().mean(dim=(1, 2))  # (models,)
    print(f"digit {ago:2} tokens ago:", *(f"{share:.2f}" for share in agree))

# %% [markdown]
# It does so far more often than a guess would, with all three seeds, and at 3 tokens it only guesses. Squeezing made it look too far back. But this is one small model and one question. Which way serves a language model better is another experiment.

# %% tags=["nbval-ignore-output"]
longest = ("larger base", 96)
answer = long_results.get(longest) if isinstance(long_results, dict) else None
print("Solve 8.9 first.") if answer is None else widgets.came_out(
    "8.E", sum(answer) / len(answer)
)

# %% [markdown]
# And the larger base? It leaves hand 0 as fast as it was and slows the other three. Does it take all three? We slow hand 1 alone, and then the two hands after it.

# %% tags=["nbval-ignore-output"]
class Speeds(torch.nn.Module):
    """Rotary positions, each hand with a speed of its own."""

    def __init__(self, speeds):
        super().__init__()
        self.speeds = torch.tensor(speeds)  # (d_head / 2,), radians per position

    def forward(self, x, start=0):
        where = torch.arange(start, start + x.shape[2])  # (L,)
        angles = where[:, None] * self.speeds  # (L, d_head / 2)
        return positions.apply_rope(x, angles.cos(), angles.sin())


for name, speeds in {
    "as trained": [1.0, 0.1, 0.01, 0.001],
    "hand 1 slower": [1.0, 0.0316, 0.01, 0.001],
    "hands 2 and 3 slower": [1.0, 0.1, 0.001, 0.0000316],
}.items():
    for reader in readers:
        reader.layers[0].rotary = Speeds(speeds)
    print(f"{name:20}", [round(places.wrong(x, 96)[0].item(), 2) for x in readers])

# %% [markdown]
# Hand 1 is enough. Within 12 tokens it turned by 1.1 radians at most. A key 47 tokens back looks three back to hand 0, and there hand 1 has turned by 4.7, an angle that training never showed. Slowed down, it gets to 3 radians at the far end of 96 tokens, which is new to the head as well but doesn't mislead it.

# %% [markdown]
# ## It writes
#
# The language model of lesson 12 knows positions by RoPE alone, and its pairs are halves. Here *your* `move_keys` of 8.3 turns its queries and keys, from position 0 to where they belong. Then we run it in code that pairs neighbors, first with its weights as they are, then converted by *your* `to_neighbors`, and last without any positions. Each time we count the bits per character on a piece of Python's documentation, and let it continue the text.

# %%
class Turned(torch.nn.Module):
    """Rotary positions, worked out by a function of your own."""

    def __init__(self, turn):
        super().__init__()
        self.turn = turn

    def forward(self, x, start=0):
        return self.turn(x, torch.arange(start, start + x.shape[2]))


# %%
def turn_neighbors(x, where):
    """Pairs of neighbors, by complex numbers."""
    d_head = x.shape[-1]
    angle = where[:, None] * 10000.0 ** (-torch.arange(0, d_head, 2) / d_head)
    turn = torch.polar(torch.ones_like(angle), angle)  # (L, d_head / 2)
    pairs = torch.view_as_complex(x.unflatten(-1, (-1, 2)).contiguous())
    return torch.view_as_real(pairs * turn).flatten(-2)  # (B, H, L, d_head)


# %%
def with_positions(turn, convert=None):
    """The model, its queries and keys turned by ``turn``, its weights converted."""
    model = pretrained.load("language_model").eval()
    for layer in model.layers:
        own = layer.self_attention
        own.rotary = Turned(turn)
        if convert is not None:
            q, k = own.q_proj.weight, own.k_proj.weight
            q.data = convert(q.data, own.num_heads)
            k.data = convert(k.data, own.num_kv_heads)
    return model


# %%
@torch.no_grad()
def bits_of(model):
    logits = model(prompt[None])[0, :-1]  # (L - 1, V)
    nats = torch.nn.functional.cross_entropy(logits, prompt[1:])
    return nats.item() / math.log(2)


# %%
@torch.no_grad()
def write(model, length=50):
    text, cache = [], model.start_cache(1, len(prompt) + length)
    following = model.next_logits(prompt[None], cache=cache)  # (1, V)
    for _ in range(length):
        text.append(following.argmax().item())
        following = model.next_logits(torch.tensor([text[-1:]]), cache=cache)
    return decode_text(text)


# %% tags=["nbval-ignore-output"]
prompt = encode_text(documentation_split()[1][:300])
ways = {
    "your move_keys": (lambda x, where: move_keys(x, 0 * where, where, 10000.0), None),
    "pairs of neighbors": (turn_neighbors, None),
    "the same, weights converted": (turn_neighbors, to_neighbors),
    "no positions": (lambda x, where: x, None),
}
try:
    for name, way in ways.items():
        model = with_positions(*way)
        print(f"{name:28} {bits_of(model):.2f} bits  {write(model)!r}")
except (NotImplementedError, TypeError):
    print("Solve 8.3 and 8.5 first: the model has no positions yet.")

# %% [markdown]
# *The first and the third line agree: one model, two conventions, and your converter between them. In the other two lines every weight is as it was trained, and only the positions are wrong.*
#
# {{next_steps}}
