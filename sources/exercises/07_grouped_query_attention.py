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
# Eleven exercises, 38 points. At the end you have written a key/value cache and one that forgets, grouped-query attention with a mask, a layer that writes with a cache, and two conversions of trained layers.
#
# {{colab_link}} · core about 20 minutes, everything about 155 minutes · builds on {{lesson_link}}
#
# Write your code where it says `YOUR CODE HERE`, run the cell, then run the check below it. A check that fails says what differs and, if it knows your mistake,
# what your answer did; `hint()`, or a second failure, adds what to try. You may try as often as you like. Hints are folded under each check. A function of `course_utils` that does what an exercise asks for is off limits in it. No answer may change its arguments.

# %% tags=["setup"]
import math

import torch

from course_checks import check, failing_case, hint
from course_utils import plotting, pretrained
from course_utils.datasets.documentation import documentation_split
from course_utils.datasets.text_windows import encode_text
from course_utils.masks import causal_mask
from course_utils.recording import record_attention
from course_utils.small_models import lookups

torch.set_num_threads(1)  # the tensors of 7.9 are small: more threads would wait

# %% [markdown]
# ### 7.1 · How long a text fits
# 3 points · difficulty 3 of 5 · 6 minutes · core
#
# You have a certain amount of memory left for the key/value cache. How long may each sequence get? In some models part of the layers look back through a sliding window (lesson 05). Such a layer keeps only its latest `window` positions, the others keep every position. Write `longest_text(...)`, the largest length for which the whole cache fits.
#
# | argument | meaning |
# |---|---|
# | `memory` | bytes that the cache may take |
# | `num_layers` | attention layers in all, at least one of them without a window |
# | `num_windowed` | how many of them have a window, from 0 |
# | `window` | positions that a layer with a window keeps at most |
# | `batch_size` | sequences side by side, all equally long |
# | `num_heads`, `num_kv_heads` | query heads, key/value heads |
# | `d_head`, `bytes_per_number` | size of a head; 4 for float32, 2 for float16 |
# | returns | the length, a whole number; 0 if not even one position fits |
#
# All arguments are whole numbers, and some may be very large. Not every argument is needed.
#
# Example: 4 layers, 3 of them with a window of 6, one sequence, 4 heads of which one is for keys and values, heads of size 2, and 4 bytes per number. A layer keeps 16 bytes for each position. With `memory=500` the longest text has 13 positions (three layers keep 6 each and one keeps 13, together 31 times 16, which is 496). With `memory=200` it has 3: then no window is full.

# %% tags=["exercise"]
def longest_text(
    memory, num_layers, num_windowed, window,
    batch_size, num_heads, num_kv_heads, d_head, bytes_per_number,
):  # fmt: skip
    # BEGIN SOLUTION
    one = 2 * batch_size * num_kv_heads * d_head * bytes_per_number  # a position
    room = memory // one  # positions, over all layers
    if room <= num_layers * window:
        return room // num_layers  # no window is full yet
    return (room - num_windowed * window) // (num_layers - num_windowed)
    # END SOLUTION


# %% [markdown] tags=["mistakes"]
# Try: a layer keeps both.
# keys or values are counted, not both.
#     2 * batch_size => batch_size
# Try: only keys and values are kept: the query heads play no part.
# the queries are counted too, beside keys and values.
#     2 * batch_size * num_kv_heads => batch_size * (2 * num_kv_heads + num_heads)
# num_heads where num_kv_heads belongs, as in multi-head attention.
#     num_kv_heads * d_head => num_heads * d_head
# Try: each of the sequences has a cache of its own.
# one sequence is counted, whatever batch_size says.
#     `2 * batch_size * ` => `2 * `
# Try: use every argument on which the size depends.
# four bytes for each number, whatever bytes_per_number says.
#     d_head * bytes_per_number => d_head * 4
# Try: a layer with a window keeps at most `window` positions, and fewer while the text is short.
# the windows are counted as full, also where the text is shorter than they are.
#     if room <= num_layers * window: => if False:
# the windows are counted as full, also where the text is shorter than they are, and nothing below 0 comes back.
#     if room <= num_layers * window: => if False:
#     (room - num_windowed * window) => max(0, room - num_windowed * window)
# the windows play no part: every layer keeps every position.
#     if room <= num_layers * window: => if True:
# Try: with room for 27 positions, 4 layers and a window of 6, are the windows full?
# the part of each layer is cut down before it is compared with the window: 6.75 counts as 6.
#     room <= num_layers * window => room // num_layers <= window
# Try: once the windows are full, what is left belongs to the layers without one.
# the layers with a window and those without one have changed places.
#     return (room - num_windowed * window) // (num_layers - num_windowed) => return (room - (num_layers - num_windowed) * window) // num_windowed if num_windowed else room // num_layers
# the layers with a window take nothing.
#     (room - num_windowed * window) => room
# the layers with a window take nothing, however short the text is.
#     if room <= num_layers * window: => if False:
#     (room - num_windowed * window) => room
# once the windows are full, what is left is shared out to all layers.
#     (num_layers - num_windowed) => num_layers
# Try: keep to whole numbers: // cuts down to a whole one, exactly.
# the length isn't a whole number.
#     room // num_layers => memory / one / num_layers
#     (room - num_windowed * window) // => (memory / one - num_windowed * window) /
# the numbers go through floats, which lose the last digits of large ones.
#     room = memory // one => room = memory / one
#     room // num_layers => int(room / num_layers)
#     (room - num_windowed * window) // (num_layers - num_windowed) => int((room - num_windowed * window) / (num_layers - num_windowed))
# Try: is the length that you return one that still fits?
# the length is rounded to the nearest whole number: where that is the larger one, it doesn't fit.
#     room // num_layers => round(memory / (num_layers * one))
#     (room - num_windowed * window) // (num_layers - num_windowed) => round((memory - num_windowed * window * one) / (one * (num_layers - num_windowed)))
# the length is rounded up: it is the first that no longer fits.
#     room // num_layers => -(-room // num_layers)
#     (room - num_windowed * window) // (num_layers - num_windowed) => -(-(room - num_windowed * window) // (num_layers - num_windowed))

# %% tags=["check"]
check("7.1", longest_text)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# How many bytes does one layer keep for one position, with all sequences together? Count the memory in that unit.
# </details>
# <details><summary>Hint 2</summary>
#
# There are two cases. While the text is no longer than the window, all layers keep equally much. After that only some of them grow.
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# 1. positions that fit, over all layers together: memory by bytes for one position in one layer, cut down to a whole number
# 2. if they are no more than `num_layers` full windows: an equal part for each layer, cut down to a whole number
# 3. else: take away what the full windows hold, and share the rest out to the layers without a window
# </details>

# %% [markdown]
# ### 7.2 · A key/value cache
# 4 points · difficulty 3 of 5 · 15 minutes · more
#
# Write the class `Cache` for one attention layer. Room for `max_len` positions is set aside once; each update writes the new positions after the old ones.
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
# What comes back may be views or copies. What is kept is the cache's own: whatever happens to `key` and `value` after the call, or in another cache, does not change it. The course's own caches are off limits.
#
# Example: a cache with `max_len=4` gets the key 2, then the keys 5 and 7 (one head of size 1). The first update returns the keys `[2]`, the second `[2, 5, 7]`, without a fourth that nobody wrote; a third update with two more raises the error, and the length is still 3.

# %% tags=["exercise"]
class Cache:
    def __init__(self, batch_size, num_kv_heads, max_len, d_head):
        # BEGIN SOLUTION
        self.max_len = max_len
        shape = (batch_size, num_kv_heads, max_len, d_head)
        self.keys, self.values = torch.zeros(shape), torch.zeros(shape)
        self.length = 0
        # END SOLUTION

    def update(self, key, value):
        # BEGIN SOLUTION
        end = self.length + key.shape[2]
        if end > self.max_len:
            raise ValueError(f"{end} positions do not fit into {self.max_len}")
        self.keys[:, :, self.length : end] = key  # (B, H_kv, L_new, d_head)
        self.values[:, :, self.length : end] = value
        self.length = end
        # (B, H_kv, length, d_head)
        return self.keys[:, :, :end], self.values[:, :, :end]
        # END SOLUTION


# %% [markdown] tags=["mistakes"]
# Try: all positions so far are asked for, 0 to length - 1.
# the whole room came back, its unwritten tail too.
#     return self.keys[:, :, :end], self.values[:, :, :end] => return self.keys, self.values
# only the new keys and values came back.
#     return self.keys[:, :, :end], self.values[:, :, :end] => return key, value
# Try: keys and values, apart.
# update returns one tensor, not two.
#     return self.keys[:, :, :end], self.values[:, :, :end] => return self.keys
# Try: positions stand on axis 2 of (B, H_kv, L_new, d_head); all of them count.
# the length counts updates, not positions.
#     self.length = end => self.length += 1
# the axis of the heads is counted, key.shape[1].
#     key.shape[2] => key.shape[1]
# self.length stays 0: each update overwrites the one before.
#     self.length = end => pass
# self.length stays 0: nothing is handed back.
#     self.length = end => pass
#     return self.keys[:, :, :end], self.values[:, :, :end] => return self.keys[:, :, :self.length], self.values[:, :, :self.length]
# the length grows by 1 at each update.
#     self.length = end => self.length += 1
#     return self.keys[:, :, :end], self.values[:, :, :end] => return self.keys[:, :, :self.length], self.values[:, :, :self.length]
# Try: where does the first free position lie?
# every update is written to position 0, over the oldest.
#     self.keys[:, :, self.length : end] = key => self.keys[:, :, : key.shape[2]] = key
#     self.values[:, :, self.length : end] = value => self.values[:, :, : value.shape[2]] = value
# Try: keep the tensors in self, made in __init__; not on the class, in a global or in a default argument.
# all caches share one store: a second one writes over the first.
#     self.keys => Cache.keys
#     self.values => Cache.values
# Try: the last position is free too.
# an update that fills the room exactly is refused.
#     if end > self.max_len: => if end >= self.max_len:
# Try: look whether length + L_new fits before anything is written or counted.
# an update is refused only if it alone is too large.
#     if end > self.max_len: => if key.shape[2] > self.max_len:
# the refused positions were counted: the length is too large after the error.
#     end = self.length + key.shape[2] => start = self.length\n        self.length = end = self.length + key.shape[2]
#     self.length : end => start : end
# Try: hand it a sentence.
# the ValueError says nothing.
#     (f"{end} positions do not fit into {self.max_len}") =>
# Try: keep a copy of what comes.
# the tensors of the first update are kept themselves: whoever changes them afterwards changes the cache.
#     self.keys[:, :, self.length : end] = key => self.keys = torch.cat([self.keys[:, :, : self.length], key], dim=2) if self.length else key
#     self.values[:, :, self.length : end] = value => self.values = torch.cat([self.values[:, :, : self.length], value], dim=2) if self.length else value
# Try: end update with a return.
# update returns nothing.
#     return self.keys[:, :, :end], self.values[:, :, :end] => return None

# %% tags=["check"]
check("7.2", Cache)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# The first free position is `length`. Where do the new positions end, if `L_new` of them come?
# </details>
# <details><summary>Hint 2</summary>
#
# What comes after the last written position is zeros. A key of zeros has a score of 0, and a score of 0 gets weight: those positions must not be handed back.
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# 1. in the constructor: two tensors of zeros with room for all positions, and a count of 0
# 2. in an update: work out where the new positions end; complain if that is beyond the room
# 3. assign keys and values to a slice of axis 2
# 4. move the count, and return both tensors up to it
# </details>

# %% [markdown]
# ### 7.3 · Weights from a model with other partners
# 3 points · difficulty 3 of 5 · 10 minutes · more
#
# A layer was trained by code that shares heads with `repeat`. In it query head $h$ meets key/value head $h \bmod H_{kv}$. You want its weights in a layer that shares as this lesson does, where query head $h$ meets key/value head $\lfloor h / G \rfloor$ with $G = H / H_{kv}$. The keys and values stay as they are. Write `renumber_query_heads(W_q, W_o, num_heads, num_kv_heads)`: the query and the output projection with the query heads in another order, with which the new layer gives the same outputs as the old one.
#
# | argument | shape |
# |---|---|
# | `W_q` | `(H * d_head, d_in)`, stored as `nn.Linear` stores it: head 0 in the first `d_head` rows, and so on |
# | `W_o` | `(d_out, H * d_head)`, stored as `nn.Linear` stores it: head 0 in the first `d_head` *columns*, and so on |
# | returns `W_q`, `W_o` | new tensors of the same shapes |
#
# Query heads that share a key/value head keep their order. The dtype stays, and gradients must flow through your answer: use torch operations from first to last.
#
# Example: with 6 heads of size 1, 2 of keys and values, `W_q = [[0.], [1.], [2.], [3.], [4.], [5.]]` becomes `[[0.], [2.], [4.], [1.], [3.], [5.]]`, since heads 0, 2 and 4 met key/value head 0 and must now be the first three. `W_o = [[10., 11., 12., 13., 14., 15.]]` becomes `[[10., 12., 14., 11., 13., 15.]]`.

# %% tags=["exercise"]
def renumber_query_heads(W_q, W_o, num_heads, num_kv_heads):
    # BEGIN SOLUTION
    group = num_heads // num_kv_heads
    # old head h = i * H_kv + j met head j; its new number is j * G + i
    rows = W_q.unflatten(0, (group, num_kv_heads, -1))  # (G, H_kv, d_head, d_in)
    columns = W_o.unflatten(1, (group, num_kv_heads, -1))  # (d_out, G, H_kv, d_head)
    return rows.transpose(0, 1).flatten(0, 2), columns.transpose(1, 2).flatten(1)
    # END SOLUTION


# %% [markdown] tags=["mistakes"]
# Try: write down which old heads met key/value head 0. Where must they be now?
# the order is the inverse one: it leads from the lesson's layer to the old one.
#     (group, num_kv_heads, -1) => (num_kv_heads, group, -1)
# W_q in the inverse order, W_o in the right one.
#     W_q.unflatten(0, (group, num_kv_heads, -1)) => W_q.unflatten(0, (num_kv_heads, group, -1))
# W_o in the inverse order, W_q in the right one.
#     W_o.unflatten(1, (group, num_kv_heads, -1)) => W_o.unflatten(1, (num_kv_heads, group, -1))
# Try: what each head found goes through its own columns of W_o.
# W_o stays as it was.
#     columns.transpose(1, 2).flatten(1) => W_o.clone()
# Try: scores come from W_q, so its heads need another order too.
# W_q stays as it was.
#     rows.transpose(0, 1).flatten(0, 2) => W_q.clone()
# Try: a head has d_head neighboring rows of W_q: move them together.
# single rows and columns are put into another order, not whole heads.
#     W_q.unflatten(0, (group, num_kv_heads, -1)) => W_q.unflatten(0, (-1, num_kv_heads)).unsqueeze(2)
#     W_o.unflatten(1, (group, num_kv_heads, -1)) => W_o.unflatten(1, (-1, num_kv_heads)).unsqueeze(3)
# the rows and columns are split as (d_head, heads): each head would lie scattered.
#     rows.transpose(0, 1).flatten(0, 2) => W_q.unflatten(0, (-1, group, num_kv_heads)).transpose(1, 2).flatten(0, 2)
#     columns.transpose(1, 2).flatten(1) => W_o.unflatten(1, (-1, group, num_kv_heads)).transpose(2, 3).flatten(1)
# the features of the heads are dealt out anew, not the heads.
#     W_q.unflatten(0, (group, num_kv_heads, -1)) => W_q.unflatten(0, (num_heads, -1)).unsqueeze(2)
#     W_o.unflatten(1, (group, num_kv_heads, -1)) => W_o.unflatten(1, (num_heads, -1)).unsqueeze(3)
# Try: nn.Linear stores (out, in): the heads are in the rows of W_q, and in the columns of W_o.
# the rows of W_o are put into another order, not its columns.
#     W_o.unflatten(1, (group, num_kv_heads, -1)) => W_o.unflatten(0, (group, num_kv_heads, -1)).movedim(3, 0)
#     columns.transpose(1, 2).flatten(1) => columns.transpose(1, 2).flatten(1).mT
# Try: heads that share a key/value head keep their order.
# the heads of each group come in reversed order.
#     rows.transpose(0, 1) => rows.flip(0).transpose(0, 1)
#     columns.transpose(1, 2) => columns.flip(1).transpose(1, 2)

# %% tags=["check"]
check("7.3", renumber_query_heads)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# With 6 query heads and 2 of keys and values: write down, for each old query head, its key/value head. Which three must come first now?
# </details>
# <details><summary>Hint 2</summary>
#
# It's enough to make a list of old head numbers in their new order, and to pick whole heads by it. Give the heads an axis of their own first.
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# 1. order: for each key/value head from the first to the last, all old query heads that met it, smallest first
# 2. W_q: view the rows as heads by features, take the heads in that order, and merge
# 3. W_o: the same with its columns
# </details>

# %% [markdown]
# ### 7.4 · Grouped-query attention with a mask
# 5 points · difficulty 4 of 5 · 20 minutes · more
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
# The scores are divided by $\sqrt{d_{head}}$, and may be large, in the thousands. With `num_kv_heads = num_heads` it must be the layer of lesson 06. Gradients must reach `x` and all four weights: use torch operations from first to last. Ready-made attention is off limits, and so are `split_heads`, `merge_heads` and `repeat_kv` of the course.

# %% tags=["exercise"]
def grouped_query_attention(x, W_q, W_k, W_v, W_o, num_heads, num_kv_heads, mask):
    # BEGIN SOLUTION
    B, L, d_model = x.shape
    d_head = d_model // num_heads
    q = (x @ W_q.T).view(B, L, num_heads, d_head).transpose(1, 2)  # (B, H, L, d_head)
    k = (x @ W_k.T).view(B, L, num_kv_heads, d_head).transpose(1, 2)
    v = (x @ W_v.T).view(B, L, num_kv_heads, d_head).transpose(1, 2)
    # (B, H_kv, L, d_head) -> (B, H, L, d_head)
    k, v = (t.repeat_interleave(num_heads // num_kv_heads, dim=1) for t in (k, v))
    scores = q @ k.transpose(-2, -1) / d_head**0.5  # (B, H, L, L)
    weights = scores.masked_fill(~mask, float("-inf")).softmax(dim=-1)  # (B, H, L, L)
    heads = weights @ v  # (B, H, L, d_head)
    return heads.transpose(1, 2).reshape(B, L, d_model) @ W_o.T  # (B, L, d_model)
    # END SOLUTION


# %% [markdown] tags=["mistakes"]
# Try: each key/value head comes H / H_kv times in a row, 0 0 1 1 2 2.
# query head h meets key/value head h % H_kv, in the order 0 1 0 1.
#     (t.repeat_interleave(num_heads // num_kv_heads, dim=1) for t in (k, v)) => (t.repeat(1, num_heads // num_kv_heads, 1, 1) for t in (k, v))
# every query head meets key/value head 0.
#     (t.repeat_interleave(num_heads // num_kv_heads, dim=1) for t in (k, v)) => (t[:, :1].expand(-1, num_heads, -1, -1) for t in (k, v))
# Try: share keys and values in the same way, each head several times in a row.
# the values are shared in the order 0 1 0 1, the keys in the order 0 0 1 1.
#     (t.repeat_interleave(num_heads // num_kv_heads, dim=1) for t in (k, v)) => (k.repeat_interleave(num_heads // num_kv_heads, dim=1), v.repeat(1, num_heads // num_kv_heads, 1, 1))
# the keys are shared in the order 0 1 0 1, the values in the order 0 0 1 1.
#     (t.repeat_interleave(num_heads // num_kv_heads, dim=1) for t in (k, v)) => (k.repeat(1, num_heads // num_kv_heads, 1, 1), v.repeat_interleave(num_heads // num_kv_heads, dim=1))
# Try: divide by the square root of the size of one head.
# the scores are divided by the root of d_model.
#     d_head**0.5 => d_model**0.5
# the scores are divided by the root of d_model / num_kv_heads.
#     d_head**0.5 => (d_model // num_kv_heads) ** 0.5
# the scores are divided by the root of W_k.shape[0] / num_heads.
#     d_head**0.5 => (W_k.shape[0] / num_heads) ** 0.5
# Try: close the forbidden places before the softmax, with minus infinity.
# forbidden scores are set to 0, and still get weight.
#     float("-inf") => 0.0
# the weights are set to 0 after the softmax, so that rows no longer sum to 1.
#     scores.masked_fill(~mask, float("-inf")) => scores
#     .softmax(dim=-1) => .softmax(dim=-1) * mask
# Try: over the keys, the last axis; close the forbidden places before it, with minus infinity.
# the softmax is taken over the queries, and the forbidden weights are set to 0 afterwards.
#     scores.masked_fill(~mask, float("-inf")) => scores
#     .softmax(dim=-1) => .softmax(dim=-2) * mask
# Try: the mask may have a row of its own for each head, on axis 1: keep that axis.
# all heads get the mask of the first.
#     ~mask => ~(mask[:, :1] if mask.dim() == 4 else mask)
# Try: True: may attend.
# the mask is read the other way round.
#     ~mask => mask
#     float("-inf") => -1e9
# Try: view as (B, L, H, d_head), then exchange axes 1 and 2.
# the heads are split by a view alone: positions and heads are mixed.
#     .view(B, L, num_heads, d_head).transpose(1, 2) => .reshape(B, num_heads, L, d_head)
#     .view(B, L, num_kv_heads, d_head).transpose(1, 2) => .reshape(B, num_kv_heads, L, d_head)
# the heads are merged without transposing back.
#     heads.transpose(1, 2).reshape(B, L, d_model) => heads.reshape(B, L, d_model)
# Try: divide by the square root of the size of one head.
# the scores are not divided by the root of the head size.
#     ` / d_head**0.5` =>
# Try: which of the four weights is missing?
# the output projection W_o plays no part.
#     ` @ W_o.T` =>
# Try: nn.Linear stores its weight as (out, in): x @ W.T, for all four.
# W_q and W_o are multiplied as they are, not transposed: they are square, so that runs.
#     W_q.T => W_q
#     W_o.T => W_o

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
# 2. share keys and values so that there are $H$ of each, each head several times in a row
# 3. scaled scores; minus infinity where the mask is False; softmax over the keys
# 4. weighted sum of the values; merge the heads; output projection
# </details>

# %% [markdown]
# ### 7.5 · From multi-head to grouped-query
# 3 points · difficulty 3 of 5 · 10 minutes · more
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
    # (H_kv, H / H_kv, d_head, d_in)
    heads = weight.view(num_kv_heads, num_heads // num_kv_heads, d_head, d_in)
    return heads.mean(dim=1).reshape(num_kv_heads * d_head, d_in)
    # END SOLUTION


# %% [markdown] tags=["mistakes"]
# Try: neighboring heads form a group: view as (H_kv, H / H_kv, d_head, d_in), and take the mean inside each group.
# heads that stand H_kv apart are averaged.
#     view(num_kv_heads, num_heads // num_kv_heads, d_head, d_in) => view(num_heads // num_kv_heads, num_kv_heads, d_head, d_in)
#     dim=1 => dim=0
# each group has num_kv_heads heads.
#     view(num_kv_heads, num_heads // num_kv_heads, d_head, d_in) => view(num_heads // num_kv_heads, num_kv_heads, d_head, d_in)
#     .reshape(num_kv_heads * d_head, d_in) => .flatten(0, 1)
# the mean goes over the groups.
#     heads.mean(dim=1).reshape(num_kv_heads * d_head, d_in) => heads.mean(dim=0).flatten(0, 1)
# the mean of all heads, H_kv times.
#     heads.mean(dim=1) => heads.mean((0, 1)).repeat(num_kv_heads, 1)
# Try: take the mean of all heads of the group.
# the heads of each group are added up, not averaged.
#     heads.mean( => heads.sum(
# the first head of each group is kept.
#     heads.mean(dim=1) => heads[:, 0]
# the median of each group, not the mean.
#     heads.mean(dim=1) => heads.median(dim=1).values
# the last head of each group is kept.
#     heads.mean(dim=1) => heads[:, -1]
# the first H_kv heads are kept.
#     heads.mean(dim=1) => weight[: num_kv_heads * d_head].clone()
# Try: average feature i of one head with feature i of the others: keep d_head as an axis of its own.
# neighboring rows are averaged, which are features of the same head.
#     view(num_kv_heads, num_heads // num_kv_heads, d_head, d_in) => view(num_kv_heads, d_head, num_heads // num_kv_heads, d_in)
#     dim=1 => dim=2
# Try: divide by the size of a group.
# the sum of each group is divided by num_kv_heads, the number of groups.
#     heads.mean( => (heads / num_kv_heads).sum(
# Try: the result has H_kv * d_head rows.
# the means are copied back to all H heads: nothing is saved.
#     heads.mean(dim=1).reshape(num_kv_heads * d_head, d_in) => heads.mean(dim=1, keepdim=True).expand_as(heads).flatten(0, 2)
# Try: the heads stand in the rows: (out, in).
# d_head is worked out from the columns, which are inputs.
#     weight.shape[0] // => weight.shape[1] //
#     weight.view => weight[: num_heads * d_head].view
# Try: which axis goes away? Only that of the heads within a group.
# the features of a group's heads are averaged as well: one row is left for each group.
#     heads.mean(dim=1).reshape(num_kv_heads * d_head, d_in) => heads.mean(dim=(1, 2))

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
# 3 points · difficulty 3 of 5 · 12 minutes · core
#
# The function below has no loop and no `repeat`. It gives the query heads an axis for their group and lets the product broadcast over it. All its shapes are right, and a model trained with it even learns. But weights trained elsewhere give nonsense with it. In the cell, value head 0 is full of zeros and value head 1 full of ones. Four query heads share them, two by two. Run it, and look at which query head met which value head.

# %%
def grouped_attention_broken(query, key, value, mask):
    B, H, L_q, d_k = query.shape
    H_kv = key.shape[1]
    q = query.reshape(B, H // H_kv, H_kv, L_q, d_k)
    scores = q @ key[:, None].transpose(-2, -1) / d_k**0.5
    weights = scores.masked_fill(~mask[:, None], float("-inf")).softmax(dim=-1)
    output = weights @ value[:, None]
    return output.reshape(B, H, L_q, value.shape[-1])


rng = torch.Generator().manual_seed(0)
query = torch.randn(1, 4, 3, 2, generator=rng)  # (B, H, L_q, d_k)
key = torch.randn(1, 2, 3, 2, generator=rng)  # (B, H_kv, L_k, d_k)
value = torch.tensor([0.0, 1.0]).view(1, 2, 1, 1).expand(1, 2, 3, 1)
met = grouped_attention_broken(query, key, value, causal_mask(3))[0, :, 0, 0]
print("value head met by query heads 0 to 3:", [round(x) for x in met.tolist()])

# %% [markdown]
# Write `grouped_attention(query, key, value, mask)` so that it is right for all sizes, also where scores are in the thousands. Ready-made attention and the course's `repeat_kv` are off limits. Gradients must flow through your answer: use torch operations from first to last.
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
    B, H, L_q, d_k = query.shape
    H_kv = key.shape[1]
    # neighbors share, so the group is the inner of the two axes
    q = query.reshape(B, H_kv, H // H_kv, L_q, d_k)
    scores = q @ key[:, :, None].transpose(-2, -1) / d_k**0.5  # (B, H_kv, G, L_q, L_k)
    hidden = ~mask[:, :, None]  # (1, 1, 1, L_q, L_k)
    weights = scores.masked_fill(hidden, float("-inf")).softmax(dim=-1)
    output = weights @ value[:, :, None]  # (B, H_kv, G, L_q, d_v)
    return output.reshape(B, H, L_q, value.shape[-1])
    # END SOLUTION


# %% [markdown] tags=["mistakes"]
# Try: which of the two new axes tells neighbors apart? The group must be that one.
# query head h still meets key/value head h % H_kv: 0 1 0 1.
#     key[:, :, None] => key[:, (torch.arange(H) % H_kv).view(H_kv, H // H_kv)]
#     value[:, :, None] => value[:, (torch.arange(H) % H_kv).view(H_kv, H // H_kv)]
# query head h meets key/value heads in reversed order, 1 0 1 0.
#     key[:, :, None] => key.flip(1)[:, (torch.arange(H) % H_kv).view(H_kv, H // H_kv)]
#     value[:, :, None] => value.flip(1)[:, (torch.arange(H) % H_kv).view(H_kv, H // H_kv)]
# Try: queries, keys and values: each new axis stands where the queries have their group.
# the values still meet the query heads in the order 0 1 0 1; the keys fit.
#     value[:, :, None] => value[:, (torch.arange(H) % H_kv).view(H_kv, H // H_kv)]
# the positions of keys and values are repeated, not their heads: the content is scrambled.
#     key[:, :, None] => key.repeat_interleave(H // H_kv, dim=2).view(B, H_kv, H // H_kv, *key.shape[2:])
#     value[:, :, None] => value.repeat_interleave(H // H_kv, dim=2).view(B, H_kv, H // H_kv, *value.shape[2:])
# the queries are cut right, but keys and values are not: there the query heads of one group still meet several key/value heads.
#     key[:, :, None] => key[:, None]
#     value[:, :, None] => value[:, None]
# queries and keys fit now, the values do not: there the query heads of one group still meet several key/value heads.
#     value[:, :, None] => value[:, None]
# the keys still meet the query heads in the order 0 1 0 1; the values fit.
#     key[:, :, None] => key[:, (torch.arange(H) % H_kv).view(H_kv, H // H_kv)]
# queries and values fit now, the keys do not: there the query heads of one group still meet several key/value heads.
#     key[:, :, None] => key[:, None]
# Try: which of the two new axes tells neighbors apart? The group must be that one. Then no head has to move.
# each query head meets its own group, but the output heads are out of order.
#     return output. => return output.transpose(1, 2).
# the output heads are moved, while each query still meets another group's keys.
#     query.reshape(B, H_kv, H // H_kv, L_q, d_k) => query.reshape(B, H // H_kv, H_kv, L_q, d_k).transpose(1, 2)
# Try: use the mask that is handed over.
# a causal mask of its own, whatever `mask` says.
#     scores.masked_fill(hidden, float("-inf")) => scores.masked_fill(torch.ones_like(scores).triu(1 + scores.shape[-1] - L_q) > 0, -torch.inf)
# Try: divide by the square root of the size of one head.
# the scores are divided by the root of d_v, the size of a value.
#     d_k**0.5 => value.shape[-1] ** 0.5
# Try: normalize over the keys.
# the softmax goes over the queries.
#     dim=-1 => dim=-2
# Try: close the forbidden places before the softmax, with minus infinity.
# forbidden scores are set to 0, and still get weight.
#     float("-inf") => 0.0
# Try: True: may attend.
# the mask is read the other way round.
#     ~mask => mask
#     float("-inf") => -1e9
# Try: divide by the square root of the size of one head.
# the scores are not divided by the root of the head size.
#     ` / d_k**0.5` =>

# %% tags=["check"]
check("7.6", grouped_attention)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# Query heads 0 and 1 form the first group. Which value head should both have met, and which did they meet?
# </details>
# <details><summary>Hint 2</summary>
#
# `reshape` cuts an axis of 4 into 2 times 2. Which of the two new axes tells neighbors apart, the first or the second? The axis of the group must be that one; then everything after it has to follow.
# </details>

# %% [markdown]
# ### 7.7 · A layer that writes with a cache
# 5 points · difficulty 4 of 5 · 25 minutes · more
#
# Write the class `CachedAttention`: causal grouped-query self-attention of one layer that is fed a text piece by piece, and keeps what it needs. Whatever the pieces, its outputs together must be those of the whole text at once.
#
# | what | shape, meaning |
# |---|---|
# | `CachedAttention(W_q, W_k, W_v, W_o, num_heads, num_kv_heads)` | weights as in 7.4, stored as `nn.Linear` stores them; no biases |
# | `.step(x_new)` | `x_new`: `(B, L_new, d_model)`, the positions that come next; `L_new` is 1 or more, `B` the same in all steps |
# | returns | `(B, L_new, d_model)`, the outputs of the new positions |
#
# Each new position sees all the positions of earlier steps, itself, and in its own piece those before it. Two layers of the same class must not share anything. Any form of cache will do: your own `Cache` from 7.2 with enough room (the check feeds at most 16 positions), or joined tensors. But keys and values must be kept: every position is projected once, in the step that brings it. The check counts the multiplications over 16 steps of one position each, and projecting the earlier positions again in every step takes too many. (It counts what PyTorch multiplies; in a class, someone may look at an answer that works in NumPy or in lists.) You may call your own functions from above and `causal_mask(L_q, L_k)`; ready-made attention is off limits, and so are the course's own caches, `split_heads`, `merge_heads` and `repeat_kv`. All numbers are float32, and no gradients are asked for.
#
# Example: with all four weights the number 1 (`d_model = 1`, one head), the steps `[[[1.]]]` and `[[[2.], [0.]]]` give `[[[1.]]]` and `[[[1.8808], [1.]]]`: the 2 weighs the keys 1 and 2 by 0.1192 and 0.8808, and the 0 finds all three keys alike.

# %% tags=["exercise"]
class CachedAttention:
    def __init__(self, W_q, W_k, W_v, W_o, num_heads, num_kv_heads):
        # BEGIN SOLUTION
        self.weights = W_q, W_k, W_v, W_o
        self.num_heads, self.num_kv_heads = num_heads, num_kv_heads
        self.keys = self.values = None
        # END SOLUTION

    def step(self, x_new):
        # BEGIN SOLUTION
        W_q, W_k, W_v, W_o = self.weights
        B, L_new, d_model = x_new.shape
        d_head = d_model // self.num_heads

        def heads(W, count):
            return (x_new @ W.T).view(B, L_new, count, d_head).transpose(1, 2)

        q = heads(W_q, self.num_heads)  # (B, H, L_new, d_head)
        k, v = heads(W_k, self.num_kv_heads), heads(W_v, self.num_kv_heads)
        if self.keys is not None:
            k, v = torch.cat([self.keys, k], dim=2), torch.cat([self.values, v], dim=2)
        self.keys, self.values = k, v  # (B, H_kv, L_all, d_head)
        mask = causal_mask(L_new, k.shape[2])
        output = grouped_attention(q, k, v, mask)  # (B, H, L_new, d_head)
        return output.transpose(1, 2).reshape(B, L_new, d_model) @ W_o.T
        # END SOLUTION


# %% [markdown] tags=["mistakes"]
# Try: the mask has a row for each new position and a column for each one so far.
# nothing is hidden: a position sees those after it in its own piece.
#     causal_mask(L_new, k.shape[2]) => torch.ones(1, 1, L_new, k.shape[2]).bool()
# the first new position sees only the first key.
#     causal_mask(L_new, k.shape[2]) => torch.ones(1, 1, L_new, k.shape[2]).tril().bool()
# Try: divide by the square root of the size of one head.
# the scores are not divided by the root of the head size.
#     (q, => (q * d_head**0.5,
# the scores are divided by the root of d_model.
#     (q, => (q * (d_head / d_model) ** 0.5,
# Try: join along the positions, axis 2 of (B, H_kv, L, d_head), the old ones first, and keep the result.
# the new keys and values stand before the old ones.
#     [self.keys, k] => [k, self.keys]
#     [self.values, v] => [v, self.values]
# the new values stand before the old ones, the keys behind them.
#     [self.values, v] => [v, self.values]
# each step looks at its own piece only: what came before is forgotten.
#     self.keys, self.values = k, v => pass
# only the piece before is remembered.
#     self.keys, self.values = k, v => self.keys, self.values = k[:, :, -L_new:], v[:, :, -L_new:]
# Try: project x_new alone, and keep its keys and values.
# every step projects the earlier positions once more.
#     W_q, W_k, W_v, W_o = self.weights => n, self.keys = x_new.shape[1], None\n        x_new = self.text = torch.cat([self.text, x_new], dim=1) if hasattr(self, "text") else x_new\n        W_q, W_k, W_v, W_o = self.weights
#     @ W_o.T => @ W_o.T[:]
#     return output => return output[:, :, -n:]
#     (B, L_new, d_model) => (B, n, d_model)
# Try: each key/value head comes H / H_kv times in a row, 0 0 1 1 2 2.
# query head h meets key/value head h % H_kv, in the order 0 1 0 1.
#     grouped_attention(q, k, v, mask) => grouped_attention(q, *(t.repeat(1, q.shape[1] // t.shape[1], 1, 1) for t in (k, v)), mask)
# Try: return as many positions as x_new has.
# the outputs of the earlier positions come back again.
#     W_q, W_k, W_v, W_o = self.weights => n, self.keys = x_new.shape[1], None\n        x_new = self.text = torch.cat([self.text, x_new], dim=1) if hasattr(self, "text") else x_new\n        W_q, W_k, W_v, W_o = self.weights
# Try: keep the tensors in self, made in __init__; not on the class, in a global or in a default argument.
# all layers share one store: a second one reads and writes it too.
#     self.keys => CachedAttention.keys
#     self.values => CachedAttention.values
# Try: which of the four weights is missing?
# the output projection W_o plays no part.
#     ` @ W_o.T` =>

# %% tags=["check"]
check("7.7", CachedAttention)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# Which of query, key and value of an old position does a new position need? Those must be kept, and the others need not be.
# </details>
# <details><summary>Hint 2</summary>
#
# The mask has as many rows as there are new positions and as many columns as there are positions so far. `causal_mask` with two sizes is aligned at the bottom right.
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# 1. project the new positions three times; split into heads (7.4)
# 2. put the new keys and values after the kept ones, and keep all of them
# 3. grouped attention (7.6) of the new queries over all keys, causal
# 4. merge the heads; output projection
# </details>

# %% [markdown]
# ### 7.8 · A cache that forgets
# 4 points · difficulty 3 of 5 · 15 minutes · more
#
# With a cache of fixed size a model can write forever, if the cache forgets. Xiao et al. (2023, *Efficient Streaming Language Models with Attention Sinks*) found that it pays to keep the **first** few positions besides the **latest** ones: many heads put weight there that they don't need elsewhere. Write the class `ForgetfulCache`.
#
# | what | shape, meaning |
# |---|---|
# | `ForgetfulCache(num_first, num_latest)` | whole numbers, `num_first` from 0, `num_latest` from 1 |
# | `.update(key, value)` | `key`, `value`: `(B, H_kv, L_new, d_head)`, with any `L_new` from 1, also more than fit |
# | returns `keys`, `values` | what is kept after this update, each `(B, H_kv, kept, d_head)`, oldest first |
#
# It keeps the first `num_first` positions of the whole text and the latest `num_latest`, each position once. As long as there are no more than `num_first + num_latest`, it keeps all of them. What is kept is the cache's own: whatever happens to `key` and `value` after the call does not change it. The course's own caches are off limits.
#
# Example: with `num_first=1` and `num_latest=2`, the keys come as `[1, 2]`, `[3]`, `[4, 5, 6]`. The updates return `[1, 2]`, `[1, 2, 3]`, `[1, 5, 6]`.

# %% tags=["exercise"]
class ForgetfulCache:
    def __init__(self, num_first, num_latest):
        # BEGIN SOLUTION
        self.num_first, self.num_latest = num_first, num_latest
        self.kept = None
        # END SOLUTION

    def update(self, key, value):
        # BEGIN SOLUTION
        new = torch.stack([key, value])  # (2, B, H_kv, L_new, d_head)
        if self.kept is not None:
            new = torch.cat([self.kept, new], dim=3)
        if new.shape[3] > self.num_first + self.num_latest:
            latest = new[:, :, :, new.shape[3] - self.num_latest :]
            new = torch.cat([new[:, :, :, : self.num_first], latest], dim=3)
        self.kept = new  # (2, B, H_kv, kept, d_head)
        return new[0].clone(), new[1].clone()
        # END SOLUTION


# %% [markdown] tags=["mistakes"]
# Try: as long as the first num_first of the text are kept, they are the first of what is kept.
# the latest num_first + num_latest are kept; the first ones are lost.
#     torch.cat([new[:, :, :, : self.num_first], latest], dim=3) => new[:, :, :, -(self.num_first + self.num_latest) :]
# Try: where everything fits, keep and return everything.
# while the text is short, the first and the latest overlap: positions are kept twice.
#     if new.shape[3] > self.num_first + self.num_latest: => if True:
#     new.shape[3] - self.num_latest : => -self.num_latest :
# Try: join the piece as it came, then forget, then return.
# a new piece is cut to the latest num_latest before it is joined: a long first piece loses its beginning.
#     torch.stack([key, value]) => torch.stack([key, value])[:, :, :, -self.num_latest :]
# everything joined is returned, and forgotten only afterwards.
#     if new.shape[3] > => joined = new\n        if new.shape[3] >
#     return new[0].clone(), new[1].clone() => return joined[0].clone(), joined[1].clone()
# Try: of everything joined, the last num_latest positions stay.
# nothing is forgotten: the cache grows with the text.
#     if new.shape[3] > self.num_first + self.num_latest: => if False:
# the first num_first + num_latest are kept: nothing new gets in.
#     torch.cat([new[:, :, :, : self.num_first], latest], dim=3) => new[:, :, :, : (self.num_first + self.num_latest)]
# Try: keep a copy of what comes.
# the tensors of the first update are kept themselves: whoever changes them afterwards changes the cache.
#     [self.kept, new] => [torch.stack(list(self.kept)), new]
#     self.kept = new => self.kept = (key, value) if self.kept is None else new
# Try: join what is kept and what is new first, the old ones in front.
# the new positions stand before the old ones.
#     [self.kept, new] => [new, self.kept]
# Try: end update with a return.
# update returns nothing.
#     return new[0].clone(), new[1].clone() => return None
# Try: where everything fits, return everything.
# while the text is short, positions come back twice.
#     `self.kept = new ` =>
#     if new.shape[3] > self.num_first + self.num_latest: => self.kept = new\n        if True:
#     new.shape[3] - self.num_latest : => -self.num_latest :
# Try: oldest first.
# the latest ones stand before the first ones.
#     `self.kept = new ` =>
#     if new.shape[3] > self.num_first + self.num_latest: => self.kept = new\n        if new.shape[3] > self.num_first + self.num_latest:
#     torch.cat([new[:, :, :, : self.num_first], latest], dim=3) => torch.cat([latest, new[:, :, :, : self.num_first]], dim=3)

# %% tags=["check"]
check("7.8", ForgetfulCache)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# If everything is kept that the last update returned, are the first positions of the text still the first of what is kept?
# </details>
# <details><summary>Hint 2</summary>
#
# Join first, forget afterwards. Then a piece that is longer than the room needs no case of its own. When does the end overlap with the beginning, and what must not happen then?
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# 1. all = what is kept, and after it what is new
# 2. if that is more than both numbers together: the first `num_first` of it, and after them the last `num_latest`
# 3. keep it, and return it
# </details>

# %% [markdown]
# ### 7.9 · Experiment: what is too narrow?
# 3 points · difficulty 3 of 5 · 20 minutes · more
#
# In section 7.7 one shared head of size 8 hadn't learned all four lookups after 4,005 updates, and one of size 32 had with four of five seeds. Two things were made wider there, the key and the value. Which of them was too narrow for learning? Before you run anything, write down what you expect, and why: what does a shared key have to tell apart, and what does a shared value have to carry?
#
# `lookups.Lookups(1, key_size=32)` has one shared head with a key of 32 numbers (and queries of 32) and a value of 8. `value_size=32` makes the value wider. `lookups.train(model, steps, seed)` yields the number of updates and the accuracy every 45 updates, as in the cell below. Train three settings, nothing wider, a wider key, a wider value, with the seeds 0, 1 and 2, for **720 updates** each. Call `torch.manual_seed(seed)` before you make the model. It takes about half a minute. Put into `wider_results`:
#
# | entry | what |
# |---|---|
# | `"plain"`, `"key"`, `"value"` | what was made wider: a list of three accuracies each, in the order of the seeds, each the last one that `train` yields |
# | `"three solved"` | the accuracy of a model that does three of the four lookups and guesses the fourth |
# | `"above"` | a list of the settings whose worst seed lies above that level by more than 0.02 |
# | `"too narrow"` | `"key"` or `"value"`: which of the two, made wider alone, lifts the mean more? |
#
# The check trains nothing: it asks whether such models can give your numbers, and whether you read them off right.

# %%
torch.manual_seed(0)
for step, accuracy in lookups.train(lookups.Lookups(1, key_size=32), 90, seed=0):
    print(step, round(accuracy, 2))

# %% tags=["exercise"]
wider_results = {}
# BEGIN SOLUTION
settings = {
    "plain": {},
    "key": {"key_size": 32},
    "value": {"value_size": 32},
}
for name, sizes in settings.items():
    wider_results[name] = []
    for seed in range(3):
        torch.manual_seed(seed)
        *_, (step, accuracy) = lookups.train(lookups.Lookups(1, **sizes), 720, seed)
        wider_results[name].append(accuracy)
level = (3 + 1 / 6) / 4
wider_results["three solved"] = level
wider_results["above"] = [s for s in settings if min(wider_results[s]) > level + 0.02]
mean = {name: sum(wider_results[name]) / 3 for name in ("key", "value")}
wider_results["too narrow"] = max(mean, key=mean.get)
# END SOLUTION

# %% [markdown] tags=["solution"]
# The shared value. A wider key alone stays at the level of three lookups, give or take a hundredth, or below. A wider value alone leaves it behind with every seed. No query head has a key or a value of its own here. So a shared key has to tell the six names of each of four kinds apart, and a shared value has to carry an item's contents of all four kinds at once. Eight numbers are enough for either, as the weights in 7.7 show that were set by hand. (For the value four would do, one for each kind, with the six contents on a line.) With a value of 32 training gets further. But a wider value alone doesn't do all four lookups within these updates either. In 7.7 the head whose key *and* value are wide did, with four of five seeds. (Why the value helps more than the key isn't shown by these runs.)

# %% tags=["check"]
check("7.9", wider_results)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# `lookups.train` does its work while you loop over it. The last pair that it yields is the one you want.
# </details>
# <details><summary>Hint 2</summary>
#
# A guesser chooses one of six contents. For the other readings, write down the nine numbers first and look at them.
# </details>

# %% [markdown]
# ### 7.10 · Scores without keys
# 3 points · difficulty 4 of 5 · 15 minutes · more
#
# In multi-head latent attention the cache holds one vector $c_j$ of size `d_c` per position, and head $h$ would make its key from it: $k_j = W_h c_j$. The keys of all heads together are much larger than the cache. Write `latent_scores(query, latent, W_up)`: the scores $q \cdot k_j / \sqrt{d_{head}}$ of every head, **without ever making the keys**, not even head by head or position by position.
#
# | argument | shape |
# |---|---|
# | `query` | `(B, H, L_q, d_head)` |
# | `latent` | `(B, L_k, d_c)`, the cache |
# | `W_up` | `(H * d_head, d_c)`, stored as `nn.Linear` stores it: head 0 in the first `d_head` rows, and so on |
# | returns | `(B, H, L_q, L_k)` |
#
# The check watches: with 40 keys and 2 queries, no tensor of your answer may have as many numbers as the keys of all heads, and its matrix products together must take fewer multiplications than making those keys would. Gradients must reach all three arguments: use torch operations from first to last.
#
# Example: `query = [[[[1., 2.]]]]`, `latent = [[[1., 0., 1.], [0., 3., 0.]]]` and `W_up = [[1., 0., 2.], [0., 1., 1.]]` give the scores `[[[[3.5355, 4.2426]]]]`: the keys would be (3, 1) and (0, 3).

# %% tags=["exercise"]
def latent_scores(query, latent, W_up):
    # BEGIN SOLUTION
    H, d_head = query.shape[1], query.shape[3]
    W = W_up.view(H, d_head, -1)  # (H, d_head, d_c)
    asked = query @ W  # (B, H, L_q, d_c): the query, carried over to the latent's side
    return asked @ latent[:, None].transpose(-2, -1) / d_head**0.5  # (B, H, L_q, L_k)
    # END SOLUTION


# %% [markdown] tags=["mistakes"]
# Try: divide by the square root of the size of one head.
# the scores are divided by the root of the latent's size.
#     d_head**0.5 => latent.shape[-1] ** 0.5
# Try: head 0 has the first d_head rows of W_up, and so on.
# the rows of W_up are dealt out in turn to the heads.
#     W_up.view(H, d_head, -1) => W_up.view(d_head, H, -1).transpose(0, 1)
# every head uses the rows of head 0.
#     W_up.view(H, d_head, -1) => W_up[:d_head]
# Try: divide by the square root of the size of one head.
# the scores are not divided by the root of the head size.
#     ` / d_head**0.5` =>

# %% tags=["check"]
check("7.10", latent_scores)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# $q^\top (W c) = (q^\top W) c$. Which of the two products in brackets is needed once a key, and which once a query?
# </details>
# <details><summary>Hint 2</summary>
#
# View `W_up` with an axis of heads in front, then multiply the queries by it: what comes out has the size of the latent. The latent needs an axis of size 1 where the heads are.
# </details>

# %% [markdown]
# ### 7.11 · Reading that is worth more
# 2 points · difficulty 3 of 5 · 3 minutes · core
#
# In a decode step each number that is read from the *weights* of a projection is used once for each sequence that is written side by side. What about the numbers that are read from the *cache*? A model with 32 query heads and 32 key/value heads writes 4 sequences side by side. Which change makes every number that is read from the cache be used for more multiplications in a step?
#
# - **a.** Writing 16 sequences side by side.
# - **b.** Only 8 of the 32 key/value heads, still with 32 query heads.
# - **c.** A text twice as long.
# - **d.** 64 heads of half the size, for queries as well as for keys and values.

# %% tags=["quiz"]
quiz_7_11 = ""  # your letter between the quotes
# BEGIN SOLUTION
quiz_7_11 = "b"
# END SOLUTION

# %% [markdown] tags=["solution"]
# Why each option is right or wrong:
#
# - **a.** each sequence has keys and values of its own, and its new query reads those alone; only the weights are shared by the sequences.
# - **b.** four query heads share a key/value head now, so each number of a key goes into four scores, and each number of a value into four sums.
# - **c.** twice as many numbers are read and twice as many multiplications are done; each number is still used once.
# - **d.** every query head still has keys of its own, and each number of a key goes into one score.

# %% tags=["check"]
check("7.11", quiz_7_11)

# %% [markdown]
# ## Payoff: what does your cache forget?
#
# Your `ForgetfulCache`, put into all the layers of the course's language model (lesson 12 trains it). It reads eight pieces of Python's documentation, from the part that it wasn't trained on, 200 characters each and one character at a time. At each we ask how surprised it is by the next one. One curve keeps the latest positions only. The other keeps as many of the latest and the first three besides, so that the two differ in nothing but the first three. The gray line keeps everything.
#
# Would the first three help? That depends on whether the heads look at them. In the models of Xiao et al. many heads put much of their weight on the first few positions. We measure the weight that the heads of this model put there.

# %%
class InTheModel:
    """Your cache, and how far the text has come: the model turns its keys by that."""

    def __init__(self, num_first, num_latest):
        self.own, self.length = ForgetfulCache(num_first, num_latest), 0

    def update(self, key, value):
        self.length += key.shape[2]
        return self.own.update(key, value)


def surprise(num_first, num_latest):
    """Bits a character, over the last 99 of each piece."""
    caches = [InTheModel(num_first, num_latest) for layer in model.layers]
    steps = [model.next_logits(ids[:, None], cache=caches) for ids in texts.T]  # (B, V)
    logits = torch.stack(steps[100:-1], dim=2)  # (B, V, 99)
    nats = torch.nn.functional.cross_entropy(logits, texts[:, 101:])
    return nats.item() / math.log(2)


# %% tags=["nbval-ignore-output"]
model = pretrained.load("language_model").requires_grad_(False)
texts = encode_text(documentation_split().test[: 8 * 200]).view(8, 200)  # (B=8, L)
with record_attention(model) as seen:
    model(texts)
first = torch.stack(seen.matching("*self_attention"))[..., 100:, :3]  # of late queries
share = first.sum(-1).mean(dim=(1, 3))  # (layers, heads): weight on the first three
print(f"weight on the first three positions: {share.mean():.4f} in the mean", end="")
print(f" of {share.numel()} heads, {share.max():.4f} at most")
even = (3 / torch.arange(101.0, 201.0)).mean()
print(f"a head that looks everywhere alike: {even:.4f}")

# %% tags=["nbval-ignore-output"]
latest = (1, 4, 8, 16, 32, 64)
try:
    forgetful = {
        name: [surprise(first, n) for n in latest]
        for first, name in ((0, "the latest only"), (3, "and the first 3 besides"))
    }
    everything = surprise(0, 200)
except NotImplementedError:
    print("Solve 7.8 first: this cell puts your ForgetfulCache into a model.")
else:
    ax = plotting.curves(
        torch.tensor(latest, dtype=torch.float32),
        {name: torch.tensor(bits) for name, bits in forgetful.items()},
        xlabel="latest positions kept (log scale)", ylabel="bits a character",
    )
    ax.set_xscale("log", base=2)
    ax.set_xticks(latest, latest)
    ax.axhline(everything, color="0.6", label="everything")
    ax.legend(frameon=False)
    plotting.show(
        ax,
        "Bits a character against the latest positions that your cache keeps: one "
        "curve for these alone, one with the first three besides, a line for all.",
    )
    for name, bits in {**forgetful, "everything": [everything]}.items():
        print(f"{name:27}" + "  ".join(f"{b:.2f}" for b in bits))
    print(f"{sum(p.numel() for p in model.parameters()):,} parameters")

# %% [markdown]
# *How many positions does this model need? And what do the first three buy? Nothing. The heads give them less weight than a head would that looks everywhere alike, and from four latest positions on the two curves lie on one another. (With a single one, the first three even make it worse.) This model has no sinks, and all the room of your cache belongs to the latest positions. The paper's models have billions of parameters and read up to four million tokens. Whether their size makes the difference isn't something that one small model can tell. (One thing differs besides. The paper counts positions inside the cache, and here each key keeps the place that it had in the text.)*

# %% [markdown]
# {{next_steps}}
