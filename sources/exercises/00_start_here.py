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
# {{colab_link}} · about 100 minutes · builds on {{lesson_link}}
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
# ### 0.1 · Shares of a row
# 2 points · difficulty 1 of 5 · 5 minutes
#
# Write `shares(x)`: each number divided by the sum of its row, so that every row sums to 1. The lesson checked a loop; now let broadcasting do it. `x` itself must stay as it is.
#
# | argument | shape |
# |---|---|
# | `x` | `(n, m)`, floating-point numbers, all positive |
# | returns | `(n, m)`, a new tensor of the same dtype |
#
# Example: `shares(torch.tensor([[1., 3.], [2., 2.]]))` is `[[0.25, 0.75], [0.50, 0.50]]`. PyTorch's `F.normalize` is off limits here.

# %% tags=["exercise"]
def shares(x):
    # BEGIN SOLUTION
    totals = x.sum(dim=-1, keepdim=True)  # (n, 1)
    return x / totals  # (n, m) / (n, 1) -> (n, m)
    # END SOLUTION


# %% [markdown] tags=["mistakes"]
# Try: the summed axis has to stay, with size 1; look up what keepdim does.
# a division by sums of shape (n,): they line up with the columns, not with the rows.
#     , keepdim=True =>
# Try: a row runs along the last axis; think about which axis of x has to go away in the sums.
# the shares of each column: your columns sum to 1, your rows should.
#     dim=-1 => dim=0
# each number divided by the sum of the whole tensor, not of its own row.
#     x.sum(dim=-1, keepdim=True) => x.sum()
# Try: [1, 3] has the shares 1/4 and 3/4: divide the numbers as they are.
# a softmax: its rows sum to 1 too, but it takes exponentials first.
#     x / totals => x.softmax(-1)
# Try: divide x by these sums.
# the sum of each row; the division is still missing.
#     x / totals => totals

# %% tags=["check"]
check("0.1", shares)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# You need one sum for each row. Which `dim` does a row run along?
# </details>
# <details><summary>Hint 2</summary>
#
# Sums of shape `(n)` line up with the columns, since shapes are lined up from the right. Sums of shape `(n, 1)` line up with the rows.
# </details>

# %% [markdown]
# ### 0.2 · Pad a batch
# 2 points · difficulty 2 of 5 · 10 minutes
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
# 2 points · difficulty 2 of 5 · 10 minutes
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
# One token of each sentence is never an input, because nothing follows it. One is never a target. Which?
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
# 2 points · difficulty 3 of 5 · 10 minutes
#
# Somebody has called `x = original.permute(order)`. Write `undo_permute(x, order)`, which gives `original` back, whatever the order was.
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
# ### 0.5 · All pairs, in every sentence and head
# 2 points · difficulty 3 of 5 · 10 minutes
#
# Write `all_products(x, y)`, best with one call of `torch.einsum`: in every sentence and every head, the dot product of every row of `x` with every row of `y`. Sentences don't mix, and neither do heads.
#
# | argument | shape |
# |---|---|
# | `x` | `(B, H, n, d)` |
# | `y` | `(B, H, m, d)` |
# | returns | `(B, H, n, m)`; entry `[b, h, i, j]` is row `i` of `x[b, h]` times row `j` of `y[b, h]` |
#
# Example: with two sentences and one head, `x = [[[[1., 2.]]], [[[3., 0.]]]]` and `y = [[[[3., 4.], [5., 7.]]], [[[1., 1.], [2., 6.]]]]` give `[[[[11., 19.]]], [[[3., 6.]]]]`. Matrix products (`@`, `matmul`, `mm`, `inner` and their kin) are off limits here.

# %% tags=["exercise"]
def all_products(x, y):
    # BEGIN SOLUTION
    return torch.einsum("bhid,bhjd->bhij", x, y)  # (B, H, n, m)
    # END SOLUTION


# %% [markdown] tags=["mistakes"]
# Try: the order of the letters behind the arrow is the order of the axes.
# the transposed result: your rows belong to y, your columns to x.
#     ij", => ji",
# Try: a letter that is missing behind the arrow is summed over, and any other stays.
# the products for every d, not added up.
#     ij", => ijd",
# the products are added up over the sentences.
#     ->bh => ->h
# Try: axes that belong together share a letter: which ones do, of x and y?
# each row is summed alone, and the sums are multiplied: in an einsum, two letters for d.
#     bhjd-> => bhje->
# the heads of y are added up: in an einsum they have a letter of their own.
#     bhjd-> => bgjd->
# the sentences of y are added up: in an einsum they have a letter of their own.
#     bhjd-> => chjd->
# Try: the rows of x and those of y go through all pairs: two letters.
# row i of x meets row i of y only; every row should meet every row.
#     bhjd-> => bhid->
#     ij => i
# Try: leave y as it is.
# y was brought to (B, H, d, m) by reshape or view, which scrambles its numbers.
#     x, y)  # => x, y.reshape(*y.shape[:2], y.shape[3], y.shape[2]).mT)  #
# Try: leave out the division by d.
# the mean over d, not the sum.
#     x, y)  # => x, y) / x.shape[-1]  #

# %% tags=["check"]
check("0.5", all_products)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# Give every axis a letter. Which axes of `x` and `y` go hand in hand, and which go through all pairs?
# </details>
# <details><summary>Hint 2</summary>
#
# Five different letters are enough. Three of them stand in both operands, and one of these three is missing behind the arrow.
# </details>

# %% [markdown]
# ### 0.6 · Split a dimension into heads
# 3 points · difficulty 3 of 5 · 10 minutes
#
# Write `split_heads(x, num_heads)`: cut the vector of every token into `num_heads` equal parts. Two moves are enough, and no loop is needed. Head 0 gets the first `d_head` numbers of every token, head 1 the next, and so on.
#
# | argument | shape |
# |---|---|
# | `x` | `(B, L, d_model)` |
# | `num_heads` | a whole number `H` that divides `d_model` |
# | returns | `(B, H, L, d_head)` with `d_head = d_model // H` |
#
# Example: `x = torch.arange(8).view(1, 2, 4)` holds the tokens `[0, 1, 2, 3]` and `[4, 5, 6, 7]`. With two heads, head 0 is `[[0, 1], [4, 5]]` and head 1 is `[[2, 3], [6, 7]]`.

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
# Try: num_heads is the number of parts, d_head the size of one.
# number and size of the heads are exchanged: parts of num_heads numbers each.
#     x.view(batch, length, num_heads, d_model // num_heads) => x.view(batch, length, d_model // num_heads, num_heads)
# Try: two axes that stand in the wrong order need an exchange, not a reshape.
# the heads were brought in front of the batch, and a reshape made (B, H, ...): it mixes sentences and heads.
#     parts.transpose(1, 2) => parts.permute(2, 0, 1, 3).reshape(batch, num_heads, length, -1)
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
# 3 points · difficulty 3 of 5 · 15 minutes
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
# 1 point · difficulty 2 of 5 · 5 minutes
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
# - **b.** at n = d the pairs cost half of the four matrices; the orders n²d and nd² would be level, their factors are not.
# - **c.** 2n²d is larger than 4nd² as soon as n is larger than 2d, here 1,024.
# - **d.** at n = 4d the pairs cost twice as much as the matrices; they overtook them earlier.

# %% tags=["check"]
check("0.8", quiz_0_8)

# %% [markdown]
# ### 0.9 · How far does influence reach?
# 5 points · difficulty 3 of 5 · 25 minutes
#
# An open experiment; it takes a few seconds of computing. A fresh layer with random weights reads `n` tokens. How much of its **last** output depends on the **first** token? If all tokens counted the same, the share would be $1/n$. Before you measure, write down: does the share of a recurrence fall as $1/n$, faster, or slower? And that of attention?
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
# Here are your runs beside the equal share. *Each mark is one seed, and the vertical axis counts in powers of ten. Notice how fast the recurrence falls away from the dashed line, while attention stays around it.* Compare this with what you wrote down. What would you have to change in the recurrence to make its marks stay up?

# %%
kinds, sizes = ("recurrence", "attention"), (4, 8, 16, 32)
if all((kind, n) in reach for kind in kinds for n in sizes):
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
                  "log axes: the recurrence falls fast, attention as one over n.")
else:
    print("Nothing to draw yet: fill reach in 0.9 first.")

# %% [markdown]
# ## Your answers, at work
#
# No points, no check. The Transformer of lesson 11 comes with the course. Here your answers to 0.1, 0.2, 0.3, 0.5 and 0.6 compute its attention from sounds to letters, and then we ask the model itself. Change the word and run the cells again: your name, for instance.

# %%
my_word = "knight"
some, one = torch.ones(1, 1, 1, 2), torch.ones(1, 2, dtype=torch.long)
needed = {
    "0.1 shares": lambda: shares(some[0, 0]),
    "0.2 pad_batch": lambda: pad_batch([[1]], 0),
    "0.3 inputs_and_targets": lambda: inputs_and_targets(one, 0),
    "0.5 all_products": lambda: all_products(some, some),
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
def my_attention(block, q, k):
    """The weights of all heads, from projected queries and keys, by my functions."""
    heads = [split_heads(x, block.num_heads) for x in (q, k)]
    scores = all_products(*heads)[0] / math.sqrt(block.d_head)  # (H, L_t, L_s)
    return torch.stack([shares(head.exp()) for head in scores])  # (H, L_t, L_s)


# %%
def look(model, word, layer="decoder_layers.3.cross_attention"):
    """My weights and the model's own, each (H, L_t, L_s), and the sounds of a word."""
    sounds = pronounce(model, [word])[0]
    letters = pad_batch([SPELLING.encode(word)], 0)  # (1, L_s)
    said = pad_batch([SOUNDS.encode(sounds, start=True, end=True)], 0)  # (1, L_t + 1)
    block, kept = model.get_submodule(layer), {}
    for name in ("q_proj", "k_proj"):  # keep what these two put out
        keep = lambda module, given, out, name=name: kept.update({name: out})
        block.get_submodule(name).register_forward_hook(keep)
    with torch.no_grad(), recording.record_attention(model) as seen:
        model(letters, inputs_and_targets(said, 0)[0])
    return my_attention(block, kept["q_proj"], kept["k_proj"]), seen[layer][0], sounds


# %%
if missing:
    print("Nothing to see yet. Your answers to these are needed:", ", ".join(missing))
else:
    mine, own, sounds = look(pretrained.load("transformer"), my_word)
    same = torch.allclose(mine, own, atol=1e-5)
    print("my attention is the model's own:", same)
    ax = plotting.attention_heatmap(mine.mean(dim=0), [*sounds, "<end>"], list(my_word))
    ax.set(xlabel="letter", ylabel="sound", title="made of my answers")
    plotting.show(ax, "Sounds against letters: where the Transformer looks before each "
                  "sound, computed from your own answers.")

# %% [markdown]
# {{next_steps}}
