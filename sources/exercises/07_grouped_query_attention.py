# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 07 · Multi-query and grouped-query attention: exercises
#
# Eight exercises, 21 points. At the end you have written a key/value cache, grouped-query attention with a mask, and the conversion of a trained layer to it.
#
# {{colab_link}} · about 70 minutes · builds on {{lesson_link}}
#
# Write your code where it says `YOUR CODE HERE`, run the cell, then run the check below it. A check that fails says what differs and, if it knows your mistake,
# what your answer did. You may try as often as you like. Hints are folded under each check. A function of `course_utils` that does what an exercise asks for is off limits in it. No answer may change its arguments.

# %% tags=["setup"]
import torch

from course_utils.checks import check
from course_utils.masks import causal_mask

# %% [markdown]
# ### 7.1 · The size of a cache
# 2 points · difficulty 1 of 5 · 5 minutes
#
# Write `cache_bytes(...)`: how many bytes the key/value cache of a whole model needs. All arguments are whole numbers.
#
# | argument | meaning |
# |---|---|
# | `num_layers` | attention layers |
# | `batch_size` | sequences generated side by side |
# | `num_heads`, `num_kv_heads` | query heads, key/value heads |
# | `d_head` | size of a head |
# | `length` | positions kept |
# | `bytes_per_number` | 4 for float32, 2 for float16 |
# | returns | bytes, one whole number |
#
# Example: 1 layer, 1 sequence, 6 heads of which 3 for keys and values, heads of size 4, 5 positions and 4 bytes per number give 480. Not every argument is needed.

# %% tags=["exercise"]
def cache_bytes(num_layers, batch_size, num_heads, num_kv_heads, d_head, length, bytes_per_number):
    # BEGIN SOLUTION
    one_tensor = batch_size * num_kv_heads * length * d_head * bytes_per_number  # the keys of one layer
    return 2 * num_layers * one_tensor  # keys and values, in every layer
    # END SOLUTION


# %% tags=["check"]
check("7.1", cache_bytes)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# What is the shape of the keys that one layer keeps? How many numbers are that?
# </details>
# <details><summary>Hint 2</summary>
#
# A layer keeps two such tensors, and every layer has its own. Which number of heads stands in their shape?
# </details>

# %% [markdown]
# ### 7.2 · A key/value cache
# 4 points · difficulty 3 of 5 · 15 minutes
#
# Write the class `Cache` for one attention layer. Room for `max_len` positions is set aside once; each update writes the new positions behind the old ones.
#
# | what | shape, meaning |
# |---|---|
# | `Cache(batch_size, num_kv_heads, max_len, d_head)` | an empty cache of float32 numbers |
# | `.length` | how many positions are written so far |
# | `.update(key, value)` | `key`, `value`: `(B, H_kv, L_new, d_head)`, with any `L_new` from 1 |
# | returns `keys`, `values` | all positions so far, each `(B, H_kv, length, d_head)`, oldest first |
#
# If the new positions do not fit, `update` raises a `ValueError` with a sentence of yours and leaves the cache as it was. Filling the room to the last position is allowed.
#
# What comes back may be views or copies. What is kept is the cache's own: whatever happens to `key` and `value` after the call, or in another cache, does not change it. The course's `KVCache` is off limits.
#
# Example: a cache with `max_len=4` gets one position, then two. The first update returns shapes with length 1, the second with length 3; a third update with two more raises the error.

# %% tags=["exercise"]
class Cache:
    def __init__(self, batch_size, num_kv_heads, max_len, d_head):
        # BEGIN SOLUTION
        self.max_len = max_len
        self.keys = torch.zeros(batch_size, num_kv_heads, max_len, d_head)  # (B, H_kv, max_len, d_head)
        self.values = torch.zeros(batch_size, num_kv_heads, max_len, d_head)
        self.length = 0
        # END SOLUTION

    def update(self, key, value):
        # BEGIN SOLUTION
        end = self.length + key.shape[2]
        if end > self.max_len:
            raise ValueError(f"{end} positions do not fit into a cache of {self.max_len}")
        self.keys[:, :, self.length : end] = key  # (B, H_kv, L_new, d_head)
        self.values[:, :, self.length : end] = value
        self.length = end
        return self.keys[:, :, :end], self.values[:, :, :end]  # (B, H_kv, length, d_head)
        # END SOLUTION


# %% tags=["check"]
check("7.2", Cache)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# The first free position is `length`. Where do the new positions end, if `L_new` of them come?
# </details>
# <details><summary>Hint 2</summary>
#
# What lies behind the last written position is zeros. A key of zeros has a score of 0, and a score of 0 gets weight: those positions must not be handed back.
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# 1. in the constructor: two tensors of zeros with room for all positions, and a count of 0
# 2. in an update: work out where the new positions end; complain if that is beyond the room
# 3. assign keys and values to a slice of axis 2
# 4. move the count, and return both tensors up to it
# </details>

# %% [markdown]
# ### 7.3 · Share the key/value heads
# 2 points · difficulty 2 of 5 · 5 minutes
#
# Write `repeat_kv(x, num_repeats)`: each key/value head `num_repeats` times in a row, so that query head $h$ finds its partner $\lfloor h / \text{num\_repeats} \rfloor$ at index $h$.
#
# | argument | shape |
# |---|---|
# | `x` | `(B, H_kv, L, d_head)` |
# | `num_repeats` | a whole number from 1, $H / H_{kv}$ |
# | returns | `(B, H_kv * num_repeats, L, d_head)` |
#
# Example: heads that hold the numbers 1 and 2, with `num_repeats=2`, become 1, 1, 2, 2. Any of PyTorch's operations may be used; the course's `repeat_kv` is off limits. The dtype stays, and gradients must flow through your answer: use torch operations from first to last.

# %% tags=["exercise"]
def repeat_kv(x, num_repeats):
    # BEGIN SOLUTION
    return x.repeat_interleave(num_repeats, dim=1)  # (B, H_kv * num_repeats, L, d_head)
    # END SOLUTION


# %% tags=["check"]
check("7.3", repeat_kv)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# PyTorch has two functions that repeat. One gives 1 2 1 2, the other 1 1 2 2.
# </details>
# <details><summary>Hint 2</summary>
#
# Without an axis to work along, the right one of the two flattens everything first.
# </details>

# %% [markdown]
# ### 7.4 · Grouped-query attention with a mask
# 5 points · difficulty 4 of 5 · 20 minutes
#
# Write the whole layer as a function, self-attention from `x` to the output. The weights are stored as `nn.Linear` stores them, `(out, in)`; there are no biases. The head size is `d_model // num_heads`.
#
# | argument | shape |
# |---|---|
# | `x` | `(B, L, d_model)` |
# | `W_q`, `W_o` | `(d_model, d_model)` |
# | `W_k`, `W_v` | `(H_kv * d_head, d_model)` |
# | `num_heads`, `num_kv_heads` | whole numbers, $H$ and $H_{kv}$; $H_{kv}$ divides $H$ |
# | `mask` | boolean, True = may attend, broadcastable to `(B, H, L, L)`; every query may attend to something |
# | returns | `(B, L, d_model)` |
#
# The scores are divided by $\sqrt{d_{head}}$. With `num_kv_heads = num_heads` it must be the layer of lesson 06. Gradients must reach `x` and all four weights: use torch operations from first to last. You may call your own `repeat_kv`; ready-made attention is off limits, and so are `split_heads`, `merge_heads` and `repeat_kv` of the course.

# %% tags=["exercise"]
def grouped_query_attention(x, W_q, W_k, W_v, W_o, num_heads, num_kv_heads, mask):
    # BEGIN SOLUTION
    B, L, d_model = x.shape
    d_head = d_model // num_heads
    q = (x @ W_q.T).view(B, L, num_heads, d_head).transpose(1, 2)  # (B, H, L, d_head)
    k = (x @ W_k.T).view(B, L, num_kv_heads, d_head).transpose(1, 2)  # (B, H_kv, L, d_head)
    v = (x @ W_v.T).view(B, L, num_kv_heads, d_head).transpose(1, 2)  # (B, H_kv, L, d_head)
    k, v = (repeat_kv(t, num_heads // num_kv_heads) for t in (k, v))  # (B, H, L, d_head)
    scores = q @ k.transpose(-2, -1) / d_head**0.5  # (B, H, L, L)
    weights = scores.masked_fill(~mask, float("-inf")).softmax(dim=-1)  # (B, H, L, L)
    heads = weights @ v  # (B, H, L, d_head)
    return heads.transpose(1, 2).reshape(B, L, d_model) @ W_o.T  # (B, L, d_model)
    # END SOLUTION


# %% tags=["check"]
check("7.4", grouped_query_attention)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# Only three things differ from lesson 06: two of the projections are smaller, their results are split into fewer heads, and those heads are shared before the scores are computed.
# </details>
# <details><summary>Hint 2</summary>
#
# Splitting: first view as `(B, L, heads, d_head)`, then exchange axes 1 and 2. Merging goes the same way back.
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# 1. project `x` three times; split the queries into $H$ heads, keys and values into $H_{kv}$
# 2. share keys and values so that there are $H$ of each (7.3)
# 3. scaled scores; minus infinity where the mask is False; softmax over the keys
# 4. weighted sum of the values; merge the heads; output projection
# </details>

# %% [markdown]
# ### 7.5 · From multi-head to grouped-query
# 3 points · difficulty 3 of 5 · 10 minutes
#
# A trained layer has a key (or value) projection with $H$ heads. Write `pool_heads(weight, num_heads, num_kv_heads)`: the projection with $H_{kv}$ heads, each the **mean** of the heads of its group. Group $j$ holds the
# heads that will share key/value head $j$.
#
# | argument | shape |
# |---|---|
# | `weight` | `(H * d_head, d_in)`, stored as `nn.Linear` stores it: head 0 in the first `d_head` rows, and so on |
# | returns | `(H_kv * d_head, d_in)` |
#
# Example: four heads with `d_head` 1 and the rows `[1.], [3.], [10.], [20.]`, pooled into two heads, give `[2.], [15.]`. The dtype stays, and gradients must flow through your answer: use torch operations from first to last.

# %% tags=["exercise"]
def pool_heads(weight, num_heads, num_kv_heads):
    # BEGIN SOLUTION
    d_head, d_in = weight.shape[0] // num_heads, weight.shape[1]
    heads = weight.view(num_kv_heads, num_heads // num_kv_heads, d_head, d_in)  # (H_kv, H / H_kv, d_head, d_in)
    return heads.mean(dim=1).reshape(num_kv_heads * d_head, d_in)  # (H_kv * d_head, d_in)
    # END SOLUTION


# %% tags=["check"]
check("7.5", pool_heads)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# View the rows with an axis for the group, one for the head inside the group, and one for the feature of the head. In which order do they stand in memory?
# </details>
# <details><summary>Hint 2</summary>
#
# The heads of a group are neighbors: 0 and 1 share key/value head 0. So the group is the first of the three axes.
# </details>

# %% [markdown]
# ### 7.6 · Find the bug
# 3 points · difficulty 2 of 5 · 10 minutes
#
# The function below attends with heads already split, key/value heads fewer than query heads. All its shapes are right, and a model trained with it even learns. But it is not grouped-query attention: weights
# trained elsewhere give nonsense with it. In the cell, value head 0 is full of zeros and value head 1 full of ones. Four query heads share them, two by two. Run it, and look at which query head met which value head.

# %%
def grouped_attention_broken(query, key, value, mask):
    repeats = query.shape[1] // key.shape[1]
    k = key.repeat(1, repeats, 1, 1)  # (B, H, L_k, d_k)
    v = value.repeat(1, repeats, 1, 1)  # (B, H, L_k, d_v)
    scores = query @ k.transpose(-2, -1) / query.shape[-1] ** 0.5  # (B, H, L_q, L_k)
    weights = scores.masked_fill(~mask, float("-inf")).softmax(dim=-1)  # (B, H, L_q, L_k)
    return weights @ v  # (B, H, L_q, d_v)


rng = torch.Generator().manual_seed(0)
query, key = torch.randn(1, 4, 3, 2, generator=rng), torch.randn(1, 2, 3, 2, generator=rng)
value = torch.tensor([0.0, 1.0]).view(1, 2, 1, 1).expand(1, 2, 3, 1)
met = grouped_attention_broken(query, key, value, causal_mask(3))[0, :, 0, 0]
print("value head met by query heads 0 to 3:", [round(x) for x in met.tolist()])

# %% [markdown]
# Write `grouped_attention(query, key, value, mask)` so that it is right for all sizes. Ready-made attention and the course's `repeat_kv` are off limits. Gradients must flow through your answer: use torch operations from first to last.
#
# | argument | shape |
# |---|---|
# | `query` | `(B, H, L_q, d_k)` |
# | `key`, `value` | `(B, H_kv, L_k, d_k)`, `(B, H_kv, L_k, d_v)` |
# | `mask` | boolean, True = may attend, `(1, 1, L_q, L_k)`, causal or not; every query may attend to something |
# | returns | `(B, H, L_q, d_v)` |

# %% tags=["exercise"]
def grouped_attention(query, key, value, mask):
    # BEGIN SOLUTION
    repeats = query.shape[1] // key.shape[1]
    k = key.repeat_interleave(repeats, dim=1)  # (B, H, L_k, d_k): 0 0 1 1
    v = value.repeat_interleave(repeats, dim=1)  # (B, H, L_k, d_v)
    scores = query @ k.transpose(-2, -1) / query.shape[-1] ** 0.5  # (B, H, L_q, L_k)
    weights = scores.masked_fill(~mask, float("-inf")).softmax(dim=-1)  # (B, H, L_q, L_k)
    return weights @ v  # (B, H, L_q, d_v)
    # END SOLUTION


# %% tags=["check"]
check("7.6", grouped_attention)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# Query heads 0 and 1 form the first group. Which value head should both have met?
# </details>
# <details><summary>Hint 2</summary>
#
# Two lines put the shared heads into the wrong order. The rest of the function is right.
# </details>

# %% [markdown]
# ### 7.7 · Why no query is kept
# 1 point · difficulty 1 of 5 · 2 minutes
#
# A cache keeps keys and values of all earlier positions. Why are the queries of those positions not kept as well?
#
# - **a.** Queries are too large to keep.
# - **b.** Queries change at every step, keys and values do not.
# - **c.** The queries can be computed back from the keys.
# - **d.** The query of an old position is never used again.

# %% tags=["quiz"]
quiz_7_7 = ""  # your letter between the quotes
# BEGIN SOLUTION
quiz_7_7 = "d"
# END SOLUTION

# %% tags=["check"]
check("7.7", quiz_7_7)

# %% [markdown]
# ### 7.8 · What becomes smaller
# 1 point · difficulty 2 of 5 · 3 minutes
#
# A model with 32 heads is changed from 32 key/value heads to 8. The size of a head stays. What becomes smaller?
#
# - **a.** The cache, `k_proj` and `v_proj`: each to a quarter.
# - **b.** Only the cache; the projections keep their sizes.
# - **c.** The cache, all four projections and the scores: each to a quarter.
# - **d.** The scores: there are only 8 maps of weights instead of 32.

# %% tags=["quiz"]
quiz_7_8 = ""  # your letter between the quotes
# BEGIN SOLUTION
quiz_7_8 = "a"
# END SOLUTION

# %% tags=["check"]
check("7.8", quiz_7_8)

# %% [markdown]
# {{next_steps}}
