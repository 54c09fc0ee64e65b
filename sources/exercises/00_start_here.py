# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 00 · Start here: exercises
#
# Nine exercises, 22 points. By the end you can bring text into the shape `(B, L, d_model)` and move its axes without scrambling it. The last cell makes the attention of a trained model out of your answers.
#
# {{colab_link}} · core exercises about 20 minutes, all of them about 105 · builds on {{lesson_link}}
#
# Write your code where it says `YOUR CODE HERE`, run the cell, then run the check below it. A check that fails says what differs and, if it knows your mistake, what your answer did; `hint()`, or a second failure, adds what to try. You may try as often as you like. Hints are folded under each check. A function of `course_utils` that does what an exercise asks for is off limits in it. Nowhere in this course may an answer change the arguments that it is given. In this lesson all numbers with a fraction are 32-bit floats where nothing else is said.

# %% tags=["setup"]
import math
from statistics import median

import torch
from torch import nn

from course_checks import check, failing_case, hint
from course_utils import attention, plotting, pretrained, recording
from course_utils.pretrained.pronunciation import SOUNDS, SPELLING, pronounce

# %% [markdown]
# ### 0.1 · Shares without the padding
# 2 points · difficulty 2 of 5 · 10 minutes · more
#
# Write `shares(x, real)`. In every row of a sentence, the numbers of real tokens are divided by their sum, so that these shares add up to 1, and padding gets exactly 0. Let broadcasting do all rows of all sentences at once: the check stops an answer after 60 operations of PyTorch, and in two of its cases there are more sentences or rows than that. `x` and `real` must stay as they are.
#
# | argument | shape |
# |---|---|
# | `x` | `(B, n, m)`, floating-point numbers, all positive, those of padding too |
# | `real` | `(B, m)`, True where a column of that sentence is a real token; in every sentence at least one is |
# | returns | `(B, n, m)`, a new tensor of the same dtype as `x` |
#
# Example: for `x = [[[1., 3., 4.], [2., 2., 4.]], [[1., 1., 2.], [3., 1., 4.]]]` and `real = [[True, True, False], [True, True, True]]` the shares are `[[[0.25, 0.75, 0.], [0.5, 0.5, 0.]], [[0.25, 0.25, 0.5], [0.375, 0.125, 0.5]]]`. PyTorch's `F.normalize` is off limits here.

# %% tags=["exercise"]
def shares(x, real):
    # BEGIN SOLUTION
    kept = x * real[:, None]  # (B, n, m) * (B, 1, m) -> (B, n, m)
    return kept / kept.sum(dim=-1, keepdim=True)  # (B, n, m) / (B, n, 1)
    # END SOLUTION


# %% [markdown] tags=["mistakes"]
# Try: write the shapes of x and real one below the other, from the right; where must real get an axis of size 1?
# real is used as it is, of shape (B, m): its sentences line up with the rows of x, not with the sentences.
#     real[:, None] => real
# real got its new axis at the end: it hides rows, not columns.
#     real[:, None] => real[:, :, None]
# Try: take the padding out first, and sum what is left.
# padding gets nothing, but it is still in the sums: your rows add up to less than 1.
#     kept.sum => x.sum
# the padding is forgotten: it gets a share like any other number.
#     x * real[:, None] => x
# the real tokens are right, but padding keeps a share besides: your rows add up to more than 1.
#     return kept / => return x /
# Try: padding gets a 0; its column stays.
# the columns of padding are cut off, so that the result is narrower than x.
#     x * real[:, None] => (x * real[:, None])[..., : int(real.sum(1).max())]
# Try: the summed axis has to stay, with size 1; look up what keepdim does.
# a division by sums of shape (B, n): they line up with the columns, not with the rows.
#     , keepdim=True =>
# Try: a row runs along the last axis; think about which axis of x has to go away in the sums.
# the shares of each column: your columns sum to 1, your rows should.
#     dim=-1 => dim=-2
# the shares of each column: your columns sum to 1, your rows should; padding is 0.
#     kept.sum(dim=-1, keepdim=True) => kept.sum(dim=-2, keepdim=True).clamp(min=1e-30)
# each number divided by the sum of the whole tensor, not of its own row.
#     kept.sum(dim=-1, keepdim=True) => kept.sum()
# each number divided by the sum of its whole sentence, not of its own row.
#     dim=-1 => dim=(-2, -1)
# Try: [1, 3] has the shares 1/4 and 3/4: divide the numbers as they are.
# a softmax: its rows sum to 1 too, but it takes exponentials first.
#     kept / kept.sum(dim=-1, keepdim=True) => x.masked_fill(~real[:, None], -torch.inf).softmax(-1)
# Try: real is True where a number is to be kept.
# real and padding are exchanged: your shares are those of the padding.
#     real[:, None] => ~real[:, None]
# Try: divide by these sums.
# the sum of each row; the division is still missing.
#     kept / kept.sum => kept.sum

# %% tags=["check"]
check("0.1", shares)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# Two things have to line up with `x`: `real`, and a sum for each row. Write the three shapes one below the other, from the right. Which axis is missing in each?
# </details>
# <details><summary>Hint 2</summary>
#
# True counts as 1 and False as 0 when you multiply. If padding is 0 before you sum, it's neither in the sum nor in the result.
# </details>

# %% [markdown]
# ### 0.2 · Pad a batch
# 2 points · difficulty 2 of 5 · 10 minutes · more
#
# Write `pad_batch(sequences, pad_id)`: one tensor from sentences of unequal length. Shorter ones are filled up at the end with `pad_id`, to the length of the longest. The lists that you are given must stay as they are, and 0 may be the id of an ordinary token.
#
# | argument | what it is |
# |---|---|
# | `sequences` | a list of `B` lists of ids, none of them empty |
# | `pad_id` | a whole number |
# | returns | `(B, L)`, whole numbers (int64); `L` is the length of the longest sequence |
#
# Example: `pad_batch([[5, 0], [7], [2, 4, 6]], 9)` is `[[5, 0, 9], [7, 9, 9], [2, 4, 6]]`. PyTorch's `pad_sequence` is off limits here.

# %% tags=["exercise"]
def pad_batch(sequences, pad_id):
    # BEGIN SOLUTION
    longest = max(len(ids) for ids in sequences)
    # new lists, all of one length
    rows = [ids + [pad_id] * (longest - len(ids)) for ids in sequences]
    return torch.tensor(rows)  # (B, L)
    # END SOLUTION


# %% [markdown] tags=["mistakes"]
# Try: the ids come first in each new list, then the pads.
# the padding stands in front of the ids; here it belongs behind them.
#     ids + [pad_id] * (longest - len(ids)) => [pad_id] * (longest - len(ids)) + ids
# Try: fill with pad_id from the start: then nothing has to be replaced.
# every 0 became pad_id, also where 0 is a token of the sentence.
#     torch.tensor(rows) => torch.tensor(rows).masked_fill(torch.tensor(rows) == 0, pad_id)
# Try: fill with pad_id.
# padded with 0, whatever pad_id is.
#     [pad_id] => [0]
# Try: keep the rows in the order of the list.
# the sequences are sorted by length, the longest first.
#     for ids in sequences] => for ids in sorted(sequences, key=len, reverse=True)]
# Try: [row] * B is one list, B times; make a new list for each sentence.
# all rows are alike: each holds what the sentences wrote into it one after the other.
#     rows = [ids + [pad_id] * (longest - len(ids)) for ids in sequences] => rows = [[pad_id] * longest] * len(sequences)\n    for row, ids in zip(rows, sequences):\n        row[: len(ids)] = ids
# Try: the longest sequence needs no padding: L is its length.
# one pad too many at the end of every row, the longest included.
#     max(len(ids) for ids in sequences) => max(len(ids) for ids in sequences) + 1
# Try: fill up with pad_id.
# the last id of each sequence is repeated, as if the sentence went on.
#     [pad_id] => ids[-1:]
# Try: take the largest of the lengths, over all sequences.
# the length is that of the list that sorts last, max(sequences), not of the longest one.
#     max(len(ids) for ids in sequences) => len(max(sequences))
#     `ids + ` => `ids[:longest] + `
# every sequence is brought to the length of the first, not of the longest.
#     max(len(ids) for ids in sequences) => len(sequences[0])
#     `ids + ` => `ids[:longest] + `

# %% tags=["check"]
check("0.2", pad_batch)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# First find the length of the longest sequence. How many pads does a sequence of length `n` need?
# </details>
# <details><summary>Hint 2</summary>
#
# In Python `[0] * 3` is `[0, 0, 0]`, `[0] * 0` is the empty list, and `a + b` joins two lists into a new one.
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# 1. the maximum of all lengths
# 2. for each sequence: a new list, the ids first, then as many pads as are missing
# 3. a tensor from the list of these lists
# </details>

# %% [markdown]
# ### 0.3 · Inputs and targets
# 2 points · difficulty 2 of 5 · 8 minutes · core
#
# Write `inputs_and_targets(ids, pad_id)` for next-token prediction. At every position the input is a token and the target is the token that follows it. Where the target would be padding there's nothing to predict: put **-100** there, the number that PyTorch's loss leaves out. `ids` itself must stay as it is.
#
# | argument | what it is |
# |---|---|
# | `ids` | `(B, L)`, whole numbers, padded at the end, `L` at least 2 |
# | `pad_id` | the id of padding; not always 0 |
# | returns `inputs`, `targets` | `(B, L-1)`, `(B, L-1)` |
#
# Example: for `[[5, 7, 2], [4, 9, 0]]` with `pad_id = 0` the inputs are `[[5, 7], [4, 9]]` and the targets `[[7, 2], [9, -100]]`.

# %% tags=["exercise"]
def inputs_and_targets(ids, pad_id):
    # BEGIN SOLUTION
    targets = ids[:, 1:]  # (B, L-1): all but the first
    return ids[:, :-1], targets.masked_fill(targets == pad_id, -100)  # a copy, filled
    # END SOLUTION


# %% [markdown] tags=["mistakes"]
# Try: what must not be padding is the target itself.
# a target is hidden where the input is padding: the pad after the last token still counts.
#     targets == pad_id => ids[:, :-1] == pad_id
# Try: -100 goes wherever a target is pad_id.
# padding is still among the targets.
#     targets == pad_id => targets != targets
# Try: compare with pad_id.
# targets that are 0 are hidden, whatever pad_id is.
#     targets == pad_id => targets == 0
# Try: the model reads the inputs with their padding; only the targets are marked.
# -100 stands in the inputs, too.
#     return ids[:, :-1], targets => return ids[:, :-1].masked_fill(ids[:, :-1] == pad_id, -100), targets
# Try: write one sentence on a line and shift it by one below: which token has no place in each of the two lines?
# inputs and targets the wrong way around: each target is the token before its input.
#     return ids[:, :-1], targets => return ids[:, 1:], targets
#     = ids[:, 1:] => = ids[:, :-1]
# the targets are the inputs: nothing is shifted.
#     ids[:, 1:] => ids[:, :-1]
# a shift with wrap-around: the last target is the first token of the same sentence.
#     ids[:, 1:] => ids.roll(-1, 1)
#     ids[:, :-1] => ids
# Try: keep all rows, and cut along the second axis.
# whole sentences were left out, not the last and the first token of each.
#     ids[:, 1:] => ids[1:]
#     ids[:, :-1] => ids[:-1]
# Try: mind the sign.
# padding is marked by 100; the loss leaves out -100.
#     -100 => 100

# %% tags=["check"]
check("0.3", inputs_and_targets)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# One column of `ids` is never an input, because nothing follows it. One is never a target. Which?
# </details>
# <details><summary>Hint 2</summary>
#
# Keep all sentences and cut along the second axis. In Python `a[:-1]` leaves out the last element, `a[1:]` the first.
# </details>
# <details><summary>Hint 3</summary>
#
# Does the check say that you changed `ids`? A slice is a window on the same numbers. Look for a way to fill that makes a new tensor, or make a clone first.
# </details>

# %% [markdown]
# ### 0.4 · Undo a permute
# 2 points · difficulty 3 of 5 · 10 minutes · more
#
# You are handed an `x` that was made by `x = original.permute(order)`. Write `undo_permute(x, order)`, which gives `original` back, whatever the order was.
#
# | argument | what it is |
# |---|---|
# | `x` | a tensor of 2 to 5 axes, permuted |
# | `order` | a tuple with every axis number once: place `i` of `x` holds axis `order[i]` of `original` |
# | returns | the original, with its axes where they were |
#
# Example: `original = torch.arange(6.0).view(1, 2, 3)` and `order = (1, 2, 0)` give an `x` of shape `(2, 3, 1)`. From it `undo_permute` makes `[[[0, 1, 2], [3, 4, 5]]]`, of shape `(1, 2, 3)`. (A second `permute(1, 2, 0)` would give shape `(3, 1, 2)`.)

# %% tags=["exercise"]
def undo_permute(x, order):
    # BEGIN SOLUTION
    back = [order.index(axis) for axis in range(len(order))]  # where each one is now
    return x.permute(back)
    # END SOLUTION


# %% [markdown] tags=["mistakes"]
# Try: old axis order[i] went to place i; so ask of each old axis at which place of order it stands.
# the same permute once more: that undoes a swap of two axes, but not a cycle of three.
#     [order.index(axis) for axis in range(len(order))] => order
# a permute by the order read backwards, which does not undo it.
#     [order.index(axis) for axis in range(len(order))] => order[::-1]
# x as it came: no axis has moved.
#     [order.index(axis) for axis in range(len(order))] => sorted(order)
# Try: reshape moves no axis; permute does.
# a reshape or view to the right shape: the numbers stay in the order in which they were.
#     x.permute(back) => x.reshape([x.shape[place] for place in back])
# Try: reshape moves no axis; permute does, and old axis order[i] is at place i now.
# a reshape, and to the sizes that a second permute by order would give.
#     x.permute(back) => x.reshape([x.shape[axis] for axis in order])
# Try: find the whole inverse order first, then permute once.
# one transpose after the other: each swap moves axes that a later one counts on.
#     return x.permute(back) => for place, axis in enumerate(order):\n        x = x.transpose(place, axis)\n    return x
# Try: order says where each axis has gone; another order needs another answer.
# all axes in reverse, whatever order says.
#     [order.index(axis) for axis in range(len(order))] => list(range(len(order)))[::-1]
# the last two axes exchanged, whatever order says.
#     x.permute(back) => x.transpose(-2, -1)
# the first two axes exchanged, whatever order says.
#     x.permute(back) => x.transpose(0, 1)
# Try: write down where each axis stands now, and where it stood.
# the same permute twice more: that undoes a cycle of three axes, not a swap of two.
#     x.permute(back) => x.permute(order).permute(order)

# %% tags=["check"]
check("0.4", undo_permute)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# Do it by hand for `order = (1, 2, 0)`. Old axis 0 must come back to place 0. At which place of `x` is it now?
# </details>
# <details><summary>Hint 2</summary>
#
# For each old axis 0, 1, 2, ... you need the place where its number stands in `order`. Then one `permute` with these places is enough.
# </details>

# %% [markdown]
# ### 0.5 · Mix in every head, and lay the heads side by side
# 2 points · difficulty 3 of 5 · 12 minutes · more
#
# In attention, a table of shares says how much each position takes of every other one. Write `mix_heads(weights, values)`. In every sentence and head, position `i` gets the sum of all rows of `values`, row `j` times `weights[..., i, j]`. What the heads found is then laid side by side, head 0 first, so that each position has one vector again. `torch.einsum` can do the first part and bring the axes into the order that you need for the second; sentences don't mix, and neither do heads.
#
# | argument | shape |
# |---|---|
# | `weights` | `(B, H, n, m)` |
# | `values` | `(B, H, m, d)` |
# | returns | `(B, n, H * d)` of the same dtype; the first `d` numbers of a position come from head 0, the next from head 1, and so on |
#
# Example with one sentence, two heads, two positions and `d = 1`: `weights = [[[[1., 0.], [0.5, 0.5]], [[0., 1.], [0.25, 0.75]]]]` and `values = [[[[2.], [4.]], [[10.], [20.]]]]` give `[[[2., 20.], [3., 17.5]]]`. Matrix products (`@`, `matmul`, `mm`, `inner` and their kin) are off limits here.

# %% tags=["exercise"]
def mix_heads(weights, values):
    # BEGIN SOLUTION
    mixed = torch.einsum("bhij,bhjd->bihd", weights, values)  # (B, n, H, d)
    return mixed.flatten(2)  # (B, n, H, d) -> (B, n, H * d)
    # END SOLUTION


# %% [markdown] tags=["mistakes"]
# Try: axes can be merged only if they are neighbors, and in the order in which they are to be read: which order of the letters is that?
# the heads stand before the positions when the axes are merged: a row holds several positions of one head.
#     bihd => bhid
#     mixed.flatten(2) => mixed.reshape(mixed.shape[0], mixed.shape[2], -1)
# the heads are interleaved: the first number of every head, then the second of every head.
#     bihd => bidh
# the positions of one head are laid side by side: your shape is (B, H, n * d).
#     bihd => bhid
# the heads are laid one below the other, not side by side: your shape is (B, H * n, d).
#     bihd => bhid
#     flatten(2) => flatten(1, 2)
# Try: merge the two axes that belong to one position.
# the heads are not laid side by side: there is one axis too many.
#     mixed.flatten(2) => mixed
# Try: every head has its own d places in the result: collect what all of them found.
# one head alone, the last one: a position has d numbers, not H * d.
#     mixed.flatten(2) => mixed[:, :, -1]
# Try: a letter that doesn't come back after the arrow is summed over, and any other stays.
# the heads are added up: a position has d numbers, not H * d.
#     bihd => bid
#     mixed.flatten(2) => mixed
# the heads are averaged: a position has d numbers, not H * d.
#     bihd => bid
#     mixed.flatten(2) => mixed / weights.shape[1]
# the sentences are added up.
#     bihd => ihd
#     mixed.flatten(2) => mixed.flatten(1).expand(len(weights), -1, -1)
# Try: the axis that is mixed away is that of the rows of values: it has the same letter in both.
# the weights are used the wrong way around: row j of the table in place of its column.
#     bhij => bhji
# each position gets its own row of values, times the sum of its weights: the values have the letter of the position that takes.
#     bhjd-> => bhid->
# the sum is over the positions that take, not over those that give: your shape has m in the place of n.
#     bihd => bjhd
# each row of weights is summed alone, and so are the values: in an einsum, two letters for the mixed axis.
#     bhjd-> => bhkd->
# Try: weights and values of one head belong together: the same letter for it in both.
# every head mixes the values of all heads: in an einsum they have a letter of their own.
#     bhjd-> => bgjd->
# the values of all sentences are mixed: in an einsum they have a letter of their own.
#     bhjd-> => chjd->
# Try: the weights are used as they are.
# each row of weights is divided by its sum first.
#     weights, values)  # => weights / weights.sum(-1, keepdim=True), values)  #
# a softmax of the weights is taken first.
#     weights, values)  # => weights.softmax(-1), values)  #
# a mean over the positions, not the sum: the result is divided by their number.
#     weights, values)  # => weights, values) / values.shape[2]  #

# %% tags=["check"]
check("0.5", mix_heads)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# Give every axis a letter: sentence, head, the position that takes, the position that gives, the place in the vector. Which one is in both operands, but not in the result?
# </details>
# <details><summary>Hint 2</summary>
#
# After the arrow you may write the letters in any order. `flatten` and `reshape` merge neighbors and read them in order, so which two letters have to be the last ones?
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# 1. for each sentence, position, head and place: the sum over the positions that give, of weight times value
# 2. merge the axes of head and place, the last two
# </details>

# %% [markdown]
# ### 0.6 · Split into heads, and copy nothing
# 3 points · difficulty 3 of 5 · 12 minutes · more
#
# Write `split_heads(x, num_heads)`, which cuts the vector of every token into `num_heads` equal parts without moving a number in memory. Head 0 gets the first `d_head` numbers of every token, head 1 the next, and so on. The result must be a *window* on `x`: if you write into `x` afterwards, you see it in the heads. A loop that fills a new tensor, `stack` and `contiguous` all copy.
#
# | argument | shape |
# |---|---|
# | `x` | `(B, L, d_model)`, its numbers in order in memory |
# | `num_heads` | a whole number `H` that divides `d_model` |
# | returns | `(B, H, L, d_head)` with `d_head = d_model // H`, in the memory of `x` |
#
# Example: `x = torch.arange(8).view(1, 2, 4)` holds the tokens `[0, 1, 2, 3]` and `[4, 5, 6, 7]`. With two heads, head 0 is `[[0, 1], [4, 5]]` and head 1 is `[[2, 3], [6, 7]]`. After `x[0, 1, 2] = 60` head 1 is `[[2, 3], [60, 7]]`, with no second call.

# %% tags=["exercise"]
def split_heads(x, num_heads):
    # BEGIN SOLUTION
    batch, length, d_model = x.shape
    parts = x.view(batch, length, num_heads, d_model // num_heads)  # (B, L, H, d_head)
    return parts.transpose(1, 2)  # (B, H, L, d_head)
    # END SOLUTION


# %% [markdown] tags=["mistakes"]
# Try: it takes two moves: cut the last axis in two, then exchange two axes.
# the parts are cut, but the axes stay as (B, L, H, d_head).
#     parts.transpose(1, 2) => parts
# a reshape straight to (B, H, L, d_head): a head gets whole tokens, not parts.
#     x.view(batch, length, num_heads, d_model // num_heads) => x.reshape(batch, num_heads, length, d_model // num_heads)
#     parts.transpose(1, 2) => parts
# positions and numbers are exchanged before the cut, and a reshape makes the shape: it scrambles both.
#     x.view(batch, length, num_heads, d_model // num_heads) => x.mT.reshape(batch, num_heads, length, d_model // num_heads)
#     parts.transpose(1, 2) => parts
# Try: one view makes all parts at once, each with an index of its own.
# a tuple or a list of the heads, not one tensor.
#     return parts.transpose(1, 2) => return parts.unbind(2)
# Try: num_heads is the number of parts, d_head the size of one.
# number and size of the heads are exchanged: parts of num_heads numbers each.
#     x.view(batch, length, num_heads, d_model // num_heads) => x.view(batch, length, d_model // num_heads, num_heads)
# Try: two axes that stand in the wrong order need an exchange, not a reshape.
# the heads were brought in front of the batch, and a reshape made (B, H, ...): it mixes sentences and heads.
#     parts.transpose(1, 2) => parts.permute(2, 0, 1, 3).reshape(batch, num_heads, length, -1)
# Try: which of your moves makes a new tensor? view and transpose only change the rule by which memory is read.
# the heads are right, but they are a copy: the numbers were written into new memory.
#     parts.transpose(1, 2) => parts.transpose(1, 2).contiguous()
# Try: head 0 gets the first d_head numbers of every token: neighbors stay together.
# every head takes every H-th number of a token: the numbers are dealt out like cards.
#     x.view(batch, length, num_heads, d_model // num_heads) => x.view(batch, length, d_model // num_heads, num_heads).mT

# %% tags=["check"]
check("0.6", split_heads)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# It takes two moves. One cuts an axis in two, the other swaps two axes. Which has to come first?
# </details>
# <details><summary>Hint 2</summary>
#
# The numbers of one head stand next to each other inside the vector of a token. So the last axis can be cut by a `view` to four axes, the first two unchanged.
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# 1. read the three sizes from the shape
# 2. view as (batch, length, heads, size of a head)
# 3. swap the axes of length and heads
# </details>

# %% [markdown]
# ### 0.7 · Find the bug
# 3 points · difficulty 3 of 5 · 12 minutes · core
#
# The function below wants the average vector of each sentence. It knows that padding must not count, and sets the vectors of padding to 0. Its author tried it on two sentences of equal length, and it was right. Run the cell: the same sentence stands alone first, and then beside a longer one. Should its average change?

# %%
def sentence_means_broken(x, ids, pad_id):
    real = (ids != pad_id)[:, :, None]  # (B, L, 1)
    return (x * real).mean(dim=1)  # (B, L, d) -> (B, d)


# (B=2, L=3, d=2)
x = torch.tensor([[[1.0, 3], [2, 2], [6, 1]], [[8, 4], [9, 9], [9, 9]]])
ids = torch.tensor([[4, 7, 5], [6, 0, 0]])  # (B, L); 0 is padding
print("alone           :", sentence_means_broken(x[1:, :1], ids[1:, :1], 0)[0])
print("beside a longer :", sentence_means_broken(x, ids, 0)[1])

# %% [markdown]
# Write `sentence_means(x, ids, pad_id)` so that a sentence has the same average in any company.
#
# | argument | shape |
# |---|---|
# | `x` | `(B, L, d)`, the tokens' vectors; those of padding hold any numbers |
# | `ids` | `(B, L)`, padded at the end; every sentence has at least one real token |
# | `pad_id` | a whole number, not always 0 |
# | returns | `(B, d)`; row `b` is the average over the real tokens of sentence `b` |
#
# Example: the two sentences above give `[[3., 2.], [8., 4.]]`. Try it with `d = B`, too: a wrong line-up of shapes may run there and nowhere else.

# %% tags=["exercise"]
def sentence_means(x, ids, pad_id):
    # BEGIN SOLUTION
    real = (ids != pad_id)[:, :, None]  # (B, L, 1)
    return (x * real).sum(dim=1) / real.sum(dim=1)  # (B, d) / (B, 1)
    # END SOLUTION


# %% [markdown] tags=["mistakes"]
# Try: count the real tokens sentence by sentence.
# the bug is still there: the sum leaves padding out, the number it is divided by does not.
#     / real.sum(dim=1) => / real.shape[1]
# the plain mean: padding counts like any token.
#     (x * real) => x
#     / real.sum(dim=1) => / x.shape[1]
# divided by the number of real tokens of the whole batch.
#     / real.sum(dim=1) => / real.sum()
# every sentence divided by the largest count.
#     / real.sum(dim=1) => / real.sum(dim=1).max()
# Try: which shape lines up with (B, d), one number for each row?
# the counts have shape (B,): they line up with the features, not with the sentences.
#     / real.sum(dim=1) => / real[:, :, 0].sum(dim=1)
# Try: make them 0 before you add up.
# the counts are right, but the vectors of padding are in the sum.
#     (x * real) => x
# Try: compare the ids with pad_id.
# id 0 is taken for padding, whatever pad_id is.
#     ids != pad_id => ids != 0
# Try: real tokens are those whose id is not pad_id.
# real and padding are exchanged: your average is over the padding.
#     ids != pad_id => ids == pad_id
# Try: let each sentence keep all of its real tokens.
# every sentence is cut to the length of the shortest: real tokens are lost.
#     (x * real) => x[:, : real.sum(1).min()]
#     / real.sum(dim=1) => / real.sum(dim=1).min()
# Try: the ids say what is padding, not the vectors.
# a real token whose vector is all zeros is not counted.
#     ids != pad_id => (ids != pad_id) & x.any(dim=-1)

# %% tags=["check"]
check("0.7", sentence_means)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# A mean is a sum, divided by a number. Which of the two does the broken function get right?
# </details>
# <details><summary>Hint 2</summary>
#
# Count the real tokens of each sentence. What shape must these counts have to be divided into `(B, d)`?
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# 1. mark the real tokens, with an axis of size 1 for the features
# 2. add up the vectors of the real tokens, over the positions
# 3. add up the marks, over the positions: that leaves (B, 1)
# 4. divide
# </details>

# %% [markdown]
# ### 0.8 · Where does attention's work go?
# 1 point · difficulty 2 of 5 · 5 minutes · more
#
# A layer of attention needs $4nd^2$ multiplications for its four matrices and $2n^2d$ for comparing and mixing all pairs. With $d = 512$, from which length on do the pairs cost more than the matrices?
#
# - **a.** above 256 tokens
# - **b.** above 512 tokens
# - **c.** above 1,024 tokens
# - **d.** above 2,048 tokens

# %% tags=["quiz"]
quiz_0_8 = ""  # your letter between the quotes
# BEGIN SOLUTION
quiz_0_8 = "c"
# END SOLUTION

# %% [markdown] tags=["solution"]
# Why each option is right or wrong:
#
# - **a.** at n = 256 the pairs cost a quarter of what the four matrices cost.
# - **b.** at n = d the pairs cost half of the four matrices; only the orders n²d and nd² are level there, and the factors 2 and 4 make the difference.
# - **c.** 2n²d is larger than 4nd² as soon as n is larger than 2d, here 1,024.
# - **d.** at n = 4d the pairs cost twice as much as the matrices; they overtook them earlier.

# %% tags=["check"]
check("0.8", quiz_0_8)

# %% [markdown]
# ### 0.9 · How far does influence reach?
# 5 points · difficulty 3 of 5 · 25 minutes · more
#
# An open experiment; it takes a few seconds of computing. A fresh layer with random weights reads `n` tokens. How much of its **last** output depends on the **first** token? If all tokens counted the same, the share would be $1/n$. Before you measure, write down: does the share of a recurrence fall as $1/n$, faster, or slower? And that of attention? And what would you change in the recurrence to make it remember longer, besides the two changes of section 0.7?
#
# This cell holds all that you need. `make_layer(kind, seed)` makes a fresh layer, `"recurrence"` or `"attention"`. `share_of_first(layer, n, seed)` gives the share, a number from 0 to 1; the seed chooses the tokens.

# %%
D, attend = 16, attention.scaled_dot_product_attention


def make_layer(kind, seed):  # a function from (1, n, D) to (1, n, D)
    torch.manual_seed(seed)
    rnn = nn.RNN(D, D, batch_first=True)
    W_q, W_k, W_v = (torch.randn(D, D) / math.sqrt(D) for _ in range(3))
    if kind == "recurrence":
        return lambda x: rnn(x)[0]
    return lambda x: attend(x @ W_q, x @ W_k, x @ W_v)[0]


# %%
def share_of_first(layer, n, seed):
    rng = torch.Generator().manual_seed(1000 + seed)
    x = torch.randn(1, n, D, generator=rng).requires_grad_()  # (1, n, D)
    y = layer(x)[0, -1] @ torch.randn(D, generator=rng)  # along a random direction
    (gradient,) = torch.autograd.grad(y, x)  # (1, n, D)
    sizes = gradient[0].norm(dim=-1)  # (n,)
    return (sizes[0] / sizes.sum()).item()


# %% [markdown]
# Measure both layers at 4, 8, 16 and 32 tokens, five times each: take the seeds 0 to 4, and use each for a fresh layer and for its tokens. Put the five shares of every pair into `reach[kind, n]`. Then read off three things from your numbers (`median` of a list is imported). The check can't see which seeds you took. It looks whether such numbers are possible, and whether what you read off follows from them.
#
# | entry | what it is |
# |---|---|
# | `reach["recurrence", 4]`, ..., `reach["attention", 32]` | a list of five shares, one for each seed |
# | `reach["fades at"]` | the smallest of the four lengths at which the recurrence's median share is below a tenth of the equal share, below $0.1 / n$ |
# | `reach["attention loses"]` | by what factor attention's median falls from 4 to 32 tokens: the median at 4, divided by the median at 32 |
# | `reach["below equal"]` | how many of attention's five runs at 32 tokens lie below the equal share $1/32$ |
#
# Example of reading off: with medians 0.05, 0.02, 0.005 and 0.0001 at the four lengths, the tenths of the equal share are 0.025, 0.0125, 0.00625 and 0.003125, so the recurrence fades at 16.

# %% tags=["exercise"]
reach = {}  # (kind, n) -> five shares; and what you read off
# BEGIN SOLUTION
lengths = (4, 8, 16, 32)
for kind in ("recurrence", "attention"):
    for n in lengths:
        layers = [make_layer(kind, seed) for seed in range(5)]
        reach[kind, n] = [share_of_first(f, n, seed) for seed, f in enumerate(layers)]
middle = {key: median(row) for key, row in reach.items()}
faded = [n for n in lengths if middle["recurrence", n] < 0.1 / n]
reach["fades at"] = faded[0]
reach["attention loses"] = middle["attention", 4] / middle["attention", 32]
reach["below equal"] = sum(share < 1 / 32 for share in reach["attention", 32])
# END SOLUTION

# %% tags=["check"]
check("0.9", reach)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# Three loops: over the kinds, the lengths and the seeds. The innermost makes a fresh layer and measures once.
# </details>
# <details><summary>Hint 2: pseudocode</summary>
#
# 1. for each kind and each length: a list of five shares, one for each seed
# 2. a dictionary of the medians
# 3. go through the lengths from the smallest and stop at the first median of the recurrence that is too small
# 4. divide two medians; count the shares below 1/32
# </details>

# %% [markdown]
# Here are your runs beside the equal share. *Each mark is one seed, and the vertical axis counts in powers of ten. The recurrence falls away from the dashed line within a few tokens.* The numbers below the figure say how far attention is from it. Compare them with what you wrote down.

# %%
kinds, sizes = ("recurrence", "attention"), (4, 8, 16, 32)
measured = all((kind, n) in reach for kind in kinds for n in sizes)
if measured:
    ax = plotting.new_axes(5.6, 3.4)
    for kind, color, mark in zip(kinds, plotting.COLORS, "os"):
        ax.plot(sizes, [reach[kind, n] for n in sizes], mark, color=color, alpha=0.7)
        ax.plot([], [], mark, color=color, label=kind)
    ax.plot(sizes, [1 / n for n in sizes], "k--", label="equal share 1/n")
    ax.set(xscale="log", yscale="log", xlabel="tokens", ylabel="share of first token")
    ax.set_xticks(sizes, [str(n) for n in sizes])
    ax.minorticks_off()
    ax.legend(frameon=False)
    plotting.show(ax, "Shares of the first token against the number of tokens, on "
                  "log axes: the recurrence falls fast, attention about as one over n.")
else:
    print("Nothing to draw yet: fill reach in 0.9 first.")

# %%
if measured:
    print("median share, divided by the equal share 1/n")
    for kind in kinds:
        parts = (f"{n * median(reach[kind, n]):10.2g}" for n in sizes)
        print(f"{kind:11}", *parts)

# %% [markdown] tags=["solution"]
# **As $1/n$, faster or slower?** The table under your figure divides by $1/n$ already. The recurrence begins at a fifth of the equal share, and at 32 tokens it's below a billionth. Its share falls far faster than $1/n$. Attention's median stays between about a half of the equal share and all of it, so it falls about as $1/n$ does, with a lot of scatter from seed to seed.
#
# **What would you have to change in the recurrence?** Section 0.7 changed the two things that shrink a gradient on its way back, the matrix and the slope of the tanh. The cell below does that here, too. It makes $W_h$ a rotation, hands in a tenth of the inputs (where the tanh is nearly straight), and does both. Then it tries gates: a GRU as PyTorch starts it, and one whose gates begin by keeping nearly all of the old state, with a bias of 3. Twenty seeds each, at 32 tokens.

# %% tags=["solution"]
def make_other(kind, seed):
    torch.manual_seed(seed)
    gated, scale = "GRU" in kind, 0.1 if "inputs / 10" in kind else 1.0
    layer = (nn.GRU if gated else nn.RNN)(D, D, batch_first=True)
    if "rotation" in kind:
        nn.init.orthogonal_(layer.weight_hh_l0)
    if "bias" in kind:
        layer.bias_hh_l0.data[D : 2 * D] = 3.0  # the gates that keep the old state
    if scale < 1:  # nothing is handed in but the small inputs
        layer.bias_ih_l0.data.zero_(), layer.bias_hh_l0.data.zero_()
    return lambda x: layer(scale * x)[0]


# %% tags=["solution"]
print("median share of the first of 32 tokens, divided by 1/32")
for kind in ("recurrence", "inputs / 10", "rotation", "rotation, inputs / 10", "GRU",
             "GRU, bias 3"):
    at_32 = [share_of_first(make_other(kind, seed), 32, seed) for seed in range(20)]
    print(f"{kind:22} {32 * median(at_32):8.2g}")
own = [share_of_first(make_layer("attention", seed), 32, seed) for seed in range(20)]
print(f"{'attention':22} {32 * median(own):8.2g},  below 1/32 in "
      f"{sum(share < 1 / 32 for share in own)} of 20")

# %% [markdown] tags=["solution"]
# Neither the rotation nor the small inputs are enough alone. Together they keep the first of 32 tokens about as visible as attention does. Having gates isn't enough, either. A fresh GRU keeps thousands of times more of the first token than a fresh recurrence, and still next to nothing. At this length it remembers once its gates start out holding on to the old state. (For the LSTM, Jozefowicz, Zaremba and Sutskever, *An Empirical Exploration of Recurrent Network Architectures*, 2015, recommend such a bias for its forget gate.)

# %% [markdown]
# ## Your answers, at work
#
# No points, no check. The Transformer of lesson 11 comes with the course. Here your answers to 0.1, 0.2, 0.3, 0.5 and 0.6 compute its attention from sounds to letters, first the weights and then the mixture, and we compare both with the model's own. Change the word and run the cells again. Try your name, for instance.

# %%
my_word = "knights"
some, one = torch.ones(1, 1, 1, 2), torch.ones(1, 2, dtype=torch.long)
needed = {
    "0.1 shares": lambda: shares(some[0], one > 0),
    "0.2 pad_batch": lambda: pad_batch([[1]], 0),
    "0.3 inputs_and_targets": lambda: inputs_and_targets(one, 0),
    "0.5 mix_heads": lambda: mix_heads(some, some.mT),
    "0.6 split_heads": lambda: split_heads(some[0], 2),
}

# %%
missing = []
for name, call in needed.items():
    try:
        call()
    except Exception:
        missing.append(name)

# %%
def my_attention(block, q, k, v, real):
    """Weights and mixture of all heads, from what was projected, by my functions."""
    q, k, v = (split_heads(x, block.num_heads) for x in (q, k, v))  # (1, H, L, d_head)
    scores = torch.einsum("bhid,bhjd->bhij", q, k) / math.sqrt(block.d_head)
    weights = shares(scores[0].exp(), real.expand(block.num_heads, -1))  # (H, L_t, L_s)
    return weights, mix_heads(weights[None], v)  # (H, L_t, L_s), (1, L_t, d_model)


# %%
def look(model, word, layer="decoder_layers.3.cross_attention"):
    """By my functions and by the model itself: weights and output; and the sounds."""
    sounds = pronounce(model, [word])[0]
    letters = pad_batch([SPELLING.encode(word)], 0)  # (1, L_s)
    said = pad_batch([SOUNDS.encode(sounds, start=True, end=True)], 0)  # (1, L_t + 1)
    block, kept = model.get_submodule(layer), {}
    for name in ("q_proj", "k_proj", "v_proj", "o_proj"):  # keep what these put out
        keep = lambda module, given, out, name=name: kept.update({name: out})
        block.get_submodule(name).register_forward_hook(keep)
    with torch.no_grad(), recording.record_attention(model) as seen:
        model(letters, inputs_and_targets(said, 0)[0])
        q, k, v, output = kept.values()
        weights, mixed = my_attention(block, q, k, v, letters != 0)
        return weights, seen[layer][0], block.o_proj(mixed), output, sounds


# %%
if missing:
    print("Nothing to see yet. Your answers to these are needed:", ", ".join(missing))
else:
    mine, own, my_output, output, sounds = look(pretrained.load("transformer"), my_word)
    print("my weights are the model's own:", torch.allclose(mine, own, atol=1e-5))
    print("and so is what they mix:", torch.allclose(my_output, output, atol=1e-4))
    ax = plotting.attention_heatmap(mine.mean(dim=0), [*sounds, "<end>"], list(my_word))
    ax.set(xlabel="letter", ylabel="sound", title="made of my answers")
    plotting.show(ax, "Sounds against letters: where the Transformer looks before each "
                  "sound, computed from your own answers.")

# %% [markdown]
# {{next_steps}}
