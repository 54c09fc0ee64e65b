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
# Nine exercises, 18 points. At the end you can bring text into the shape `(B, L, d_model)` and move its axes without scrambling it.
#
# {{colab_link}} · about 65 minutes · builds on {{lesson_link}}
#
# Write your code where it says `YOUR CODE HERE`, run the cell, then run the check below it. A check that fails says what differs and, if it knows your mistake,
# what your answer did. You may try as often as you like. Hints are folded under each check. A function of `course_utils` that does what an exercise asks for is off limits in it. Nowhere in this course may an answer change the arguments it is given. In this lesson all
# numbers with a fraction are 32-bit floats where nothing else is said.

# %% tags=["setup"]
import torch

from course_utils.checks import check

# %% [markdown]
# ### 0.1 · Shares of a row
# 2 points · difficulty 1 of 5 · 5 minutes
#
# Write `shares(x)`: each number divided by the sum of its row, so that every row sums to 1. The lesson checked a loop; write it in one line, by broadcasting. `x` itself must stay as it is.
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
# Write `pad_batch(sequences, pad_id)`: one tensor from sentences of unequal length. Shorter ones are filled up at the end with `pad_id`, to the length of the longest. The lists you are given must stay as they are.
#
# | argument | what it is |
# |---|---|
# | `sequences` | a list of `B` lists of ids, none of them empty |
# | `pad_id` | a whole number |
# | returns | `(B, L)`, whole numbers (int64); `L` is the length of the longest sequence |
#
# Example: `pad_batch([[5, 3], [7]], 0)` is `[[5, 3], [7, 0]]`. PyTorch's `pad_sequence` is off limits here.

# %% tags=["exercise"]
def pad_batch(sequences, pad_id):
    # BEGIN SOLUTION
    longest = max(len(ids) for ids in sequences)
    rows = [ids + [pad_id] * (longest - len(ids)) for ids in sequences]  # new lists, all of one length
    return torch.tensor(rows)  # (B, L)
    # END SOLUTION


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
# 2 points · difficulty 1 of 5 · 5 minutes
#
# Write `inputs_and_targets(ids)` for next-token prediction: at every position the input is a token and the target is the token that follows it.
#
# | argument | shape |
# |---|---|
# | `ids` | `(B, L)`, whole numbers, `L` at least 2 |
# | returns `inputs`, `targets` | `(B, L-1)`, `(B, L-1)` |
#
# Example: for `[[5, 7, 2]]` the inputs are `[[5, 7]]`, the targets `[[7, 2]]`.

# %% tags=["exercise"]
def inputs_and_targets(ids):
    # BEGIN SOLUTION
    return ids[:, :-1], ids[:, 1:]  # all but the last, all but the first
    # END SOLUTION


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

# %% [markdown]
# ### 0.4 · Embed a batch
# 2 points · difficulty 1 of 5 · 5 minutes
#
# Write `embed(table, ids)`: the row of the table for every id.
#
# | argument | shape |
# |---|---|
# | `table` | `(V, d)` |
# | `ids` | `(B, L)`, whole numbers from 0 to V-1 |
# | returns | `(B, L, d)`; entry `[b, i]` is row `ids[b, i]` of the table |
#
# Example: with the table `[[0., 1.], [2., 3.], [4., 5.]]` the ids `[[2, 0]]` give `[[[4., 5.], [0., 1.]]]`. `nn.Embedding` and `F.embedding` are off limits here.

# %% tags=["exercise"]
def embed(table, ids):
    # BEGIN SOLUTION
    return table[ids]  # (B, L, d): a tensor of ids in the brackets picks a row for each
    # END SOLUTION


# %% tags=["check"]
check("0.4", embed)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# Row 3 of the table is `table[3]`. What happens if a tensor of whole numbers stands in the brackets?
# </details>
# <details><summary>Hint 2</summary>
#
# Two loops, over sentences and over positions, are a right answer too. Start with zeros of shape `(B, L, d)`.
# </details>

# %% [markdown]
# ### 0.5 · All pairs by einsum
# 2 points · difficulty 2 of 5 · 5 minutes
#
# Write `all_products(x, y)`, best with one call of `torch.einsum`: the dot product of every row of `x` with every row of `y`.
#
# | argument | shape |
# |---|---|
# | `x` | `(n, d)` |
# | `y` | `(m, d)` |
# | returns | `(n, m)`; entry `[i, j]` is row `i` of `x` times row `j` of `y` |
#
# Example: `x = [[1., 2.]]` and `y = [[3., 4.], [5., 7.]]` give `[[11., 19.]]`. Matrix products (`@`, `matmul`, `mm`, `inner` and their kin) are off limits here.

# %% tags=["exercise"]
def all_products(x, y):
    # BEGIN SOLUTION
    return torch.einsum("id,jd->ij", x, y)  # (n, m)
    # END SOLUTION


# %% tags=["check"]
check("0.5", all_products)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# Give every axis a letter: two for `x`, two for `y`. Which axis do the two have in common?
# </details>
# <details><summary>Hint 2</summary>
#
# Three different letters are enough. Behind the arrow stand the two that the result keeps, in the order of its axes.
# </details>

# %% [markdown]
# ### 0.6 · Split a dimension into heads
# 3 points · difficulty 3 of 5 · 10 minutes
#
# Write `split_heads(x, num_heads)`: cut the vector of every token into `num_heads` equal parts. Head 0 gets the first `d_head` numbers of every token, head 1 the next, and so on.
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


# %% tags=["check"]
check("0.6", split_heads)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# It takes two moves. One cuts an axis in two, the other swaps two axes. Which must come first?
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
# 3 points · difficulty 3 of 5 · 10 minutes
#
# PyTorch's recurrent layers hand their states back as `(L, B, d)`, positions first. The function below wants the average state of each sentence. It brings the batch to the front, averages over the positions, and
# returns the right shape. Run the cell: the first sentence has the states 1, 2, 3, the second 10, 20, 30. What should the averages be?

# %%
def sentence_means_broken(states):
    length, batch, size = states.shape
    batch_first = states.reshape(batch, length, size)  # (B, L, d)
    return batch_first.mean(dim=1)  # (B, d)


states = torch.tensor([[[1.0], [10.0]], [[2.0], [20.0]], [[3.0], [30.0]]])  # (L=3, B=2, d=1)
print("states of sentence 0:", states[:, 0, 0].tolist(), "  of sentence 1:", states[:, 1, 0].tolist())
print("averages computed   :", [round(mean, 2) for mean in sentence_means_broken(states)[:, 0].tolist()])

# %% [markdown]
# Write `sentence_means(states)` so that it is right: `(L, B, d)` gives `(B, d)`, row `b` the average over all positions of sentence `b`.

# %% tags=["exercise"]
def sentence_means(states):
    # BEGIN SOLUTION
    batch_first = states.transpose(0, 1)  # (L, B, d) -> (B, L, d): the axes trade places, nothing is regrouped
    return batch_first.mean(dim=1)  # (B, d)
    # END SOLUTION


# %% tags=["check"]
check("0.7", sentence_means)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# Print `batch_first` in the broken function. Which sentence does each number come from?
# </details>
# <details><summary>Hint 2</summary>
#
# In memory the numbers stand as 1, 10, 2, 20, 3, 30. A reshape keeps that order and breaks the lines elsewhere. You need a move that swaps axes.
# </details>

# %% [markdown]
# ### 0.8 · Name the shape
# 1 point · difficulty 2 of 5 · 5 minutes
#
# `x` has shape `(8, 10, 64)`. What is the shape of `x.view(8, 10, 4, 16).transpose(1, 2).mean(dim=2)`?
#
# - **a.** (8, 10, 16)
# - **b.** (8, 4, 10, 16)
# - **c.** (8, 4, 16)
# - **d.** (8, 4, 1, 16)

# %% tags=["quiz"]
quiz_0_8 = ""  # your letter between the quotes
# BEGIN SOLUTION
quiz_0_8 = "c"
# END SOLUTION

# %% tags=["check"]
check("0.8", quiz_0_8)

# %% [markdown]
# ### 0.9 · How far a convolution sees
# 1 point · difficulty 2 of 5 · 5 minutes
#
# Three convolution layers stand on top of each other, each with kernel size 5 and no gaps. How many input positions can one output position depend on?
#
# - **a.** 5
# - **b.** 13
# - **c.** 15
# - **d.** 125

# %% tags=["quiz"]
quiz_0_9 = ""  # your letter between the quotes
# BEGIN SOLUTION
quiz_0_9 = "b"
# END SOLUTION

# %% tags=["check"]
check("0.9", quiz_0_9)

# %% [markdown]
# {{next_steps}}
