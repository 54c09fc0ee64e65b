# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 05 · Masking: exercises
#
# Nine exercises, 29 points. At the end you have written every mask this course needs, a softmax that survives any of them, and a detector that reads off who sees whom in a model that you can't look into.
#
# {{colab_link}} · about 110 minutes · builds on {{lesson_link}}
#
# Write your code where it says `YOUR CODE HERE`, run the cell, then run the check below it. A check that fails says what differs and, if it knows your mistake,
# what your answer did; `hint()`, or a second failure, adds what to try. You may try as often as you like, and `failing_case()` hands you what the last failed check called your answer with. Hints are folded under each check.
#
# In all exercises masks are boolean, and True means **may attend**. No answer may change its arguments, and all numbers that you are given are finite, except for one kind of NaN in 5.5.
# The mask functions and attention functions of `course_utils` are off limits on this page, and so are PyTorch's `scaled_dot_product_attention` and `causal_lower_right`.

# %% tags=["setup"]
import torch
import torch.nn.functional as F
from IPython.display import display
from torch import nn

from course_checks import check, failing_case, hint
from course_utils import diagrams, plotting, widgets
from course_utils.pretrained.pronunciation import PAD_ID, SOUNDS, SPELLING, START_ID
from course_utils.pretrained.shipped import load

torch.set_num_threads(1)  # the tensors here are small

# %% [markdown]
# ### 5.1 · A padding mask
# 2 points · difficulty 1 of 5 · 5 minutes
#
# Write `padding_mask(tokens, pad_id)`: every query may attend to every key that is not padding. The mask must broadcast against scores of shape `(B, H, L_q, L_k)`.
#
# | argument | shape |
# |---|---|
# | `tokens` | `(B, L_k)`, whole numbers |
# | `pad_id` | a whole number, not always 0 |
# | returns | `(B, 1, 1, L_k)`, boolean |
#
# Padding usually stands on the right, but not always: judge each token by itself. Example: `padding_mask(torch.tensor([[5, 7, 0], [5, 5, 7]]), 5)` is `[[[[False, True, True]]], [[[False, False, True]]]]`.

# %% tags=["exercise"]
def padding_mask(tokens, pad_id):
    # BEGIN SOLUTION
    return (tokens != pad_id)[:, None, None, :]  # (B, 1, 1, L_k)
    # END SOLUTION


# %% [markdown] tags=["mistakes"]
# Try: the order is (B, H, L_q, L_k); the tokens are the keys, the last of the four.
# a mask of shape (B, 1, L, 1): it hides rows, the queries.
#     [:, None, None, :] => [:, None, :, None]
# a mask of shape (B, L_k): it would line up the batch with the queries.
#     [:, None, None, :] =>
# a mask of shape (B, 1, L_k, L_k): the padding is hidden among the queries as well.
#     (tokens != pad_id)[:, None, None, :] => (tokens != pad_id)[:, None, None, :] & (tokens != pad_id)[:, None, :, None]
# Try: compare with pad_id alone; in some vocabularies 0 is a real token.
# a mask that looks for 0, whatever pad_id says.
#     (tokens != pad_id) => (tokens != 0)
# Try: ask whether a token differs from pad_id, not whether it is larger.
# every token whose id is below pad_id was hidden as well.
#     (tokens != pad_id) => (tokens > pad_id)
# Try: ask each token by itself whether it is padding.
# a mask that puts all real tokens first, but padding may stand on the left or in between.
#     (tokens != pad_id) => (torch.arange(tokens.shape[1]) < (tokens != pad_id).sum(-1, keepdim=True))
# everything behind the first padding is hidden, real tokens too.
#     (tokens != pad_id) => ((tokens == pad_id).cumsum(-1) == 0)

# %% tags=["check"]
check("5.1", padding_mask)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# A comparison of a tensor with a number gives booleans, one for each entry. No loop is needed.
# </details>
# <details><summary>Hint 2</summary>
#
# The axes of the scores are batch, heads, queries, keys. The tokens here are keys. Give the other two axes the size 1, with `None` in an index or with `unsqueeze`.
# </details>

# %% [markdown]
# ### 5.2 · A causal mask that works with a cache
# 3 points · difficulty 3 of 5 · 10 minutes
#
# Write `causal_mask(L_q, L_k)`: no query may see a key of its future. There are at least as many keys as queries, and the queries are the **last** `L_q` of the `L_k` positions, as they are when earlier keys come
# from a cache. The last query sees every key.
#
# | argument | meaning |
# |---|---|
# | `L_q` | number of queries |
# | `L_k` | number of keys, at least `L_q` |
# | returns | `(L_q, L_k)`, boolean: two axes, no more |
#
# Example: `causal_mask(2, 4)` is `[[True, True, True, False], [True, True, True, True]]`.

# %% tags=["exercise"]
def causal_mask(L_q, L_k):
    # BEGIN SOLUTION
    positions = torch.arange(L_k - L_q, L_k)  # (L_q,), where the queries stand
    return torch.arange(L_k) <= positions[:, None]  # (L_q, L_k)
    # END SOLUTION


# %% [markdown] tags=["mistakes"]
# Try: query i stands at position i + (L_k - L_q): that many earlier keys there are.
# aligned top-left: with L_q < L_k the queries miss the newest keys.
#     torch.arange(L_k - L_q, L_k) => torch.arange(L_q)
# the shift has the wrong sign: with L_q < L_k the first queries see nothing.
#     torch.arange(L_k - L_q, L_k) => torch.arange(L_q) - (L_k - L_q)
# shifted by 1 whatever the lengths are; that fits L_k = L_q + 1 only.
#     torch.arange(L_k - L_q, L_k) => torch.arange(1, L_q + 1)
# Try: use <=, not <.
# the diagonal is masked too: no token can see itself.
#     <= pos => < pos
# Try: the last key a query may see is the one at its own position.
# every query sees one key of the future: the diagonal is off by one.
#     torch.arange(L_k) <= positions[:, None] => torch.arange(L_k) <= positions[:, None] + 1
# Try: the new queries may not see one another's future either: only the last L_q columns hold a triangle.
# the triangle stands at the oldest keys, and the newest ones are open to all queries.
#     torch.arange(L_k) <= positions[:, None] => torch.cat([torch.ones(L_q, L_q).tril(), torch.ones(L_q, L_k - L_q)], 1).bool()
# Try: rows are queries and columns keys; keep the lower triangle.
# queries see themselves and the future, not the past: the other triangle.
#     <= pos => >= pos
# Try: the last query stands at the last key: by how much is it shifted if there are L_k keys?
# the diagonal is shifted by L_q, not by L_k - L_q: right where L_k is twice L_q.
#     torch.arange(L_k - L_q, L_k) => torch.arange(L_q, 2 * L_q)

# %% tags=["check"]
check("5.2", causal_mask)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# If the queries are the last `L_q` of `L_k` positions, at which position does query 0 stand? And query `i`?
# </details>
# <details><summary>Hint 2</summary>
#
# Compare a row of key positions with a column of query positions: broadcasting gives the whole table. Or look at what the argument `diagonal` of `tril` does.
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# 1. query positions: the last `L_q` numbers below `L_k`, as a column
# 2. key positions: 0 to `L_k - 1`, as a row
# 3. True where the key's position is at most the query's
# </details>

# %% [markdown]
# ### 5.3 · Packed documents
# 4 points · difficulty 3 of 5 · 15 minutes
#
# Several short documents share one row. Write `packed(document)`: the mask that keeps them apart, and each token's position in its *own* document, which is what a model must be told in the place of the position in the row.
#
# A token sees itself and the earlier tokens of its own document, nothing else. Documents are numbered from 1, in any order; the tokens of one stand side by side, and a number doesn't come back later in the row. 0 is padding: nobody sees it, and it sees nothing.
#
# | argument | shape |
# |---|---|
# | `document` | `(B, L)`, whole numbers: which document each token belongs to, 0 for padding |
# | returns `mask`, `positions` | `(B, 1, L, L)`, boolean; `(B, L)`, whole numbers (`torch.int64`), 0 where there is padding |
#
# Example: `packed(torch.tensor([[2, 2, 1, 0]]))` gives the mask `[[[[1, 0, 0, 0], [1, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0]]]]` (as True and False) and the positions `[[0, 1, 0, 0]]`.

# %% tags=["exercise"]
def packed(document):
    # BEGIN SOLUTION
    places = torch.arange(document.shape[1])  # (L,)
    same = document[:, :, None] == document[:, None, :]  # (B, L_q, L_k)
    real = (document != 0)[:, None, :]  # (B, 1, L_k)
    mask = same & real & (places <= places[:, None])  # (B, L_q, L_k)
    before = mask.sum(dim=-1) - 1  # (B, L), how many tokens of the document came before
    positions = before.clamp(min=0)  # (B, L)
    return mask[:, None], positions
    # END SOLUTION


# %% [markdown] tags=["mistakes"]
# Try: the position of padding is to be 0.
# padding has the position -1.
#     before.clamp(min=0) => before
# Try: a key must belong to the query's document, be no later, and be no padding: join all three by &.
# tokens see the later tokens of their own document.
#     & (places <= places[:, None]) =>
#     mask.sum(dim=-1) - 1 => (mask & (places <= places[:, None])).sum(dim=-1) - 1
# Try: the order is (B, H, L_q, L_k): add an axis of size 1 for the heads behind the batch.
# a mask of shape (B, L, L): the batch would line up with the heads.
#     mask[:, None], => mask,
# Try: count the tokens of the same document that come before each; the first of a document is at 0.
# positions count through the whole row; they start anew in each document.
#     before.clamp(min=0) => places.expand_as(document).masked_fill(document == 0, 0)
# positions start at 1.
#     mask.sum(dim=-1) - 1 => mask.sum(dim=-1)
# Try: 0 is no document: join the mask with document != 0, and give padding the position 0.
# padding is treated as a document of its own: its tokens see one another, and have positions.
#     `& real ` =>
# padding sees padding: two tokens of padding have the same number, 0.
#     `& real ` =>
#     before.clamp(min=0) => before.masked_fill(document == 0, 0)

# %% tags=["check"]
check("5.3", packed)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# Three things must hold for a key: same document, not later, no padding. Write each as a table of booleans, with the axes in the same order, then join them.
# </details>
# <details><summary>Hint 2</summary>
#
# A column of document numbers against a row of them compares all pairs. With a batch in front, the column is `(B, L, 1)` and the row `(B, 1, L)`. Two tokens of padding have the same number as well.
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# 1. same: is the query's document the key's? past: is the key's place at most the query's? real: is the key's document not 0?
# 2. mask: all three, with an axis of size 1 for the heads
# 3. position: how many keys a token sees, without itself; padding sees none, so mind that this doesn't fall below 0
# </details>

# %% [markdown]
# ### 5.4 · A prefix
# 3 points · difficulty 3 of 5 · 10 minutes
#
# The first tokens of each row were given (a question, say), the others are predicted. Write `prefix_mask(prefix, L)`: tokens of the prefix see the whole prefix, both ways; every other token sees the prefix and what stands before it, itself included. The prefixes of a batch aren't equally long.
#
# | argument | shape |
# |---|---|
# | `prefix` | `(B,)`, whole numbers from 0 to `L`: how many tokens were given |
# | `L` | a whole number, how many tokens a row has |
# | returns | `(B, 1, L, L)`, boolean |
#
# Example: `prefix_mask(torch.tensor([2, 0]), 3)` is `[[[[1, 1, 0], [1, 1, 0], [1, 1, 1]]], [[[1, 0, 0], [1, 1, 0], [1, 1, 1]]]]` (as True and False).

# %% tags=["exercise"]
def prefix_mask(prefix, L):
    # BEGIN SOLUTION
    places = torch.arange(L)  # (L,)
    causal = places <= places[:, None]  # (L_q, L_k)
    given = places < prefix[:, None]  # (L_k,) against (B, 1) -> (B, L_k)
    return causal | given[:, None, None, :]  # (B, 1, L_q, L_k)
    # END SOLUTION


# %% [markdown] tags=["mistakes"]
# Try: a key is seen if it is past or belongs to the prefix: two tables joined by |.
# the two rules are joined by and: what is no longer prefix is hidden from everybody.
#     causal | given[:, None, None, :] => causal & given[:, None, None, :]
# the queries of the prefix see the whole row, also what was not given.
#     given[:, None, None, :] => given[:, None, :, None]
# the tokens after the prefix don't see it: only what came after it.
#     causal | given[:, None, None, :] => (given[:, None, None, :] & given[:, None, None, :].mT) | (causal & ~given[:, None, None, :] & ~given[:, None, None, :].mT)
# Try: use <=, not <.
# a token after the prefix doesn't see itself.
#     places <= places => places < places
# Try: the prefix is the places below its length: 0 to prefix - 1.
# the prefix is one token too long.
#     places < prefix[:, None] => places <= prefix[:, None]
# Try: compare the places with prefix[:, None], one length for each item.
# the prefix of the first item was used for every item.
#     places < prefix[:, None] => places < prefix[:1, None].expand(len(prefix), 1)
# the longest prefix of the batch was used for every item.
#     places < prefix[:, None] => places < prefix.max().expand(len(prefix), 1)
# Try: the order is (B, H, L_q, L_k): add an axis of size 1 for the heads behind the batch.
# a mask of shape (B, L, L): the batch would line up with the heads.
#     given[:, None, None, :] => given[:, None, :]

# %% tags=["check"]
check("5.4", prefix_mask)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# There are two reasons why a key may be seen. Which of `&` and `|` joins reasons?
# </details>
# <details><summary>Hint 2</summary>
#
# Whether a key belongs to the prefix is a property of the key and of the item, not of the query: one boolean for each, `(B, L)`. Where do these two axes belong in `(B, H, L_q, L_k)`?
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# 1. past: is the key's place at most the query's? (a table of places against places)
# 2. given: is the key's place below this item's prefix? (a table of items against places)
# 3. give both four axes, and allow what either allows
# </details>

# %% [markdown]
# ### 5.5 · Rows in which everything is masked
# 4 points · difficulty 4 of 5 · 15 minutes
#
# Write `masked_softmax(scores, mask)`: a softmax over the last axis in which hidden keys get weight 0. Three things make it hard:
#
# - A row in which **everything** is hidden gets zeros. Its gradient must be finite, too: the check takes the gradient of a sum of your weights, each times a factor, with respect to the scores. It must be 0 wherever a key is hidden.
# - Scores can be very low: somebody before you has added a mask of their own, and all the allowed scores of a row lie near $-10^{30}$. A hidden key must not win there.
# - A score that is **NaN at an allowed place** is an error that somebody made before you, and it must stay visible: the allowed weights of that row are NaN (its hidden ones may be 0 or NaN), and all other rows are as usual. So `nan_to_num` on the whole result is not enough. Hidden scores are never NaN.
#
# | argument | shape |
# |---|---|
# | `scores` | `(..., L_q, L_k)`, some of them above 100, hidden or not, some near $-10^{30}$, some NaN at an allowed place |
# | `mask` | boolean, broadcasts to the shape of `scores` |
# | returns | weights in the shape of `scores`; each row sums to 1, or to 0 if everything is hidden, or to NaN if an allowed score is NaN |
#
# Example: scores `[[0., 1.], [0., 1.], [-1e30, 5.], [nan, 1.]]` and the mask `[[True, True], [False, False], [True, False], [True, True]]` give `[[0.2689, 0.7311], [0., 0.], [1., 0.], [nan, nan]]`. `torch.softmax` is allowed.

# %% tags=["exercise"]
def masked_softmax(scores, mask):
    # BEGIN SOLUTION
    open_rows = mask.any(dim=-1, keepdim=True)  # (..., L_q, 1)
    filled = scores.masked_fill(~mask, float("-inf"))  # hidden keys
    filled = filled.masked_fill(~open_rows, 0.0)  # a row of -inf would give 0 / 0
    weights = torch.softmax(filled, dim=-1)  # uniform in such rows
    return weights.masked_fill(~mask, 0.0)  # and taken back
    # END SOLUTION


# %% [markdown] tags=["mistakes"]
# Try: find the rows in which nothing is allowed (mask.any over the keys) and treat them apart.
# minus infinity everywhere in a row: the softmax divides 0 by 0, and the row becomes NaN.
#     filled.masked_fill(~open_rows, 0.0) => filled
#     weights.masked_fill(~mask, 0.0) => weights
# Try: treat only the rows apart in which nothing is allowed: ~mask.any over the keys.
# every NaN is replaced by 0 in the end, also where an allowed score is NaN: an error upstream would go unseen.
#     filled.masked_fill(~open_rows, 0.0) => filled
#     weights.masked_fill(~mask, 0.0) => weights.nan_to_num(0.0)
# Try: set the weights to 0 where the mask is False, after the softmax.
# a row in which everything is masked became uniform: all its keys got the same score.
#     weights.masked_fill(~mask, 0.0) => weights
# a row in which everything is masked became uniform: a finite fill value gives all its keys the same score.
#     scores.masked_fill(~mask, float("-inf")) => scores.masked_fill(~mask, -1e9)
#     filled.masked_fill(~open_rows, 0.0) => filled
#     weights.masked_fill(~mask, 0.0) => weights
# Try: fill instead of multiplying: masked_fill(~mask, float('-inf')).
# the mask is multiplied by minus infinity, and 0 times infinity is NaN.
#     scores.masked_fill(~mask, float("-inf")) => scores + (~mask).to(scores.dtype) * -torch.inf
#     filled.masked_fill(~open_rows, 0.0) => filled
#     weights.masked_fill(~mask, 0.0) => weights
# Try: fill with float('-inf') in rows that allow something: nothing lies below it.
# a fill value that is not low enough: where the allowed scores lie lower, the hidden keys win.
#     scores.masked_fill(~mask, float("-inf")) => scores.masked_fill(~mask, -1e9)
#     filled.masked_fill(~open_rows, 0.0) => filled
# Try: normalize over the keys, dim=-1.
# a softmax over the queries (dim=-2).
#     torch.softmax(filled, dim=-1) => torch.softmax(filled, dim=-2)
# Try: hide the scores before the softmax, so that they take no part in the maximum or the sum.
# a softmax over all keys: the mask plays no part.
#     scores.masked_fill(~mask, float("-inf")) => scores
#     filled.masked_fill(~open_rows, 0.0) => filled
#     weights.masked_fill(~mask, 0.0) => weights
# the hidden keys were taken out after the exponentials: where a hidden score is large, nothing is left.
#     scores.masked_fill(~mask, float("-inf")) => scores
#     filled.masked_fill(~open_rows, 0.0) => filled
#     weights.masked_fill(~mask, 0.0) => weights * mask / ((weights * mask).sum(-1, keepdim=True) + 1e-9)
# Try: use torch.softmax, or subtract the largest allowed score of each row.
# exponentials without a shift: exp(100) overflows, and exp(-100000) is 0.
#     scores.masked_fill(~mask, float("-inf")) => scores
#     filled.masked_fill(~open_rows, 0.0) => filled
#     torch.softmax(filled, dim=-1) => filled.exp()
#     weights.masked_fill(~mask, 0.0) => weights * mask / ((weights * mask).sum(-1, keepdim=True) + 1e-9)

# %% tags=["check"]
check("5.5", masked_softmax)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# Minus infinity is right for rows that allow something. For a row that allows nothing, any finite scores will do, if the weights are taken back afterwards.
# </details>
# <details><summary>Hint 2</summary>
#
# `mask.any(dim=-1, keepdim=True)` tells which rows allow something. With `keepdim=True` the answer still broadcasts against the scores. A NaN among the allowed scores stays visible by itself if you leave all other rows to the softmax.
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# 1. hidden scores become minus infinity
# 2. in rows without any allowed key, all scores become 0 instead
# 3. softmax over the keys
# 4. hidden weights become 0
# </details>

# %% [markdown]
# ### 5.6 · A sliding window
# 2 points · difficulty 2 of 5 · 5 minutes
#
# Write `sliding_window_mask(L_q, L_k, window)`: causal, and no further back than the `window` newest keys, the query's own position included. The queries are the last `L_q` of the `L_k` positions, as in 5.2.
#
# | argument | meaning |
# |---|---|
# | `L_q`, `L_k` | numbers of queries and keys, `L_k` at least `L_q` |
# | `window` | how many keys a query sees at most, at least 1 |
# | returns | `(L_q, L_k)`, boolean: two axes, no more |
#
# Example: `sliding_window_mask(2, 4, 2)` is `[[False, True, True, False], [False, False, True, True]]`.

# %% tags=["exercise"]
def sliding_window_mask(L_q, L_k, window):
    # BEGIN SOLUTION
    queries, keys = torch.arange(L_k - L_q, L_k), torch.arange(L_k)  # where they stand
    behind = queries[:, None] - keys  # (L_q, L_k), how far key j lies behind query i
    return (behind >= 0) & (behind < window)  # (L_q, L_k)
    # END SOLUTION


# %% [markdown] tags=["mistakes"]
# Try: the queries are the last positions: query i stands at i + (L_k - L_q), for both edges.
# aligned top-left: with L_q < L_k the queries miss the newest keys.
#     torch.arange(L_k - L_q, L_k), => torch.arange(L_q),
# too wide with earlier keys: the window's far edge is not shifted.
#     (behind < window) => (behind - (L_k - L_q) < window)
# Try: the query's own position counts: distances 0 to window - 1 are allowed.
# a window off by one: queries see window + 1 keys.
#     (behind < window) => (behind <= window)
# a window off by one: queries see window - 1 keys.
#     (behind < window) => (behind < window - 1)
# the window ends before the query: no token can see itself.
#     (behind >= 0) => (behind > 0)
#     (behind < window) => (behind <= window)
# Try: the distance, query minus key, must also be at least 0.
# a window to both sides: queries see the future.
#     (behind >= 0) & (behind < window) => behind.abs() < window
# Try: both conditions must hold at once: join them by & (and).
# every query sees every key, as where the two conditions are joined by or (|).
#     >= 0) & ( => >= 0) | (
# Try: cut nothing; window may be larger than L_q.
# the window is cut to the number of queries: with earlier keys they see too few.
#     (behind < window) => (behind < min(window, L_q))
# Try: count back from each query's own position.
# all queries have one window, the newest keys of the whole sequence.
#     (behind < window) => (keys > L_k - 1 - window)
# Try: the distance, query minus key, must also be at least 0.
# the future is not hidden: queries see every later key.
#     `(behind >= 0) & ` =>

# %% tags=["check"]
check("5.6", sliding_window_mask)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# Compute for every pair how far the key lies behind the query. Two conditions on that distance make the mask.
# </details>
# <details><summary>Hint 2</summary>
#
# With `window = 1` a query sees itself only: distance 0. Which is the largest distance for `window = 2`?
# </details>

# %% [markdown]
# ### 5.7 · Who sees whom?
# 5 points · difficulty 4 of 5 · 20 minutes
#
# Write `sees(attend, x)`. You are given a function `attend` that turns `x` into outputs of the same length, and you don't know what is inside. Return the table of who sees whom: row `i`, column `j` is True if output `i` depends on input `j` **in any item of the batch and through any entry**, and False if it does not. A leak is a True above the diagonal.
#
# | argument | shape |
# |---|---|
# | `attend` | a function, `(B, L, d)` to `(B, L, d)`, for the `B`, `L` and `d` of `x`; it gives the same output each time, and gradients flow through it |
# | `x` | `(B, L, d)`, float32 or float64, not asking for gradients; leave it as it is, and ask for gradients on a copy |
# | returns | `(L, L)`, boolean |
#
# Example: `sees(lambda x: x.cumsum(1), torch.randn(1, 3, 2))` is `[[True, False, False], [True, True, False], [True, True, True]]`. For `lambda x: x - x.mean(-1, keepdim=True)` it is True on the diagonal alone: each token looks at itself.
#
# Some functions in the check have a single pair that sees ahead, some in a single item of the batch. Some see *faintly*: the output moves by about a ten-thousandth, and no entry of its gradient is above 0.0002. What isn't seen moves an output by less than a millionth and has a gradient below $10^{-9}$. That is rounding, and it is seldom exactly 0: one function in the check divides by a size that all tokens decide on, and multiplies by it again. Some move two entries of an output by opposite amounts; some normalize their tokens at the end, or at the beginning. Whatever adds up before it compares will miss one of them.

# %% tags=["exercise"]
def sees(attend, x):
    # BEGIN SOLUTION
    x = x.detach().clone().requires_grad_()  # (B, L, d)
    out = attend(x)  # (B, L, d)
    factors = torch.randn(out.shape[-1], dtype=out.dtype)  # (d,), so nothing cancels
    rows = []
    for i in range(x.shape[1]):
        number = (out[:, i] @ factors).sum()
        (gradient,) = torch.autograd.grad(number, x, retain_graph=True)  # (B, L, d)
        rows.append(gradient.abs().amax(dim=(0, 2)) > 1e-7)  # (L,)
    return torch.stack(rows)  # (L, L)
    # END SOLUTION


# %% [markdown] tags=["mistakes"]
# Try: what is seen has gradients of about 0.0001, what isn't below 1e-9: take a number between.
# whatever isn't exactly 0 counts as seen, rounding too.
#     > 1e-7 => > 0
# Try: multiply the entries by random factors before you add them up, or compare each by itself.
# the entries of an output were added up before anything was compared: opposite ones cancel.
#     (out[:, i] @ factors).sum() => out[:, i].sum()
# the squares of an output's entries were added up: behind a normalization that hardly changes.
#     (out[:, i] @ factors).sum() => out[:, i].square().sum()
# Try: ask all items together.
# only the first item of the batch was asked.
#     (out[:, i] @ factors).sum() => (out[0, i] @ factors)
# Try: rows are outputs, columns inputs, all L times L of them.
# rows and columns are exchanged: row i must say what output i sees.
#     return torch.stack(rows) => return torch.stack(rows).mT
# Try: set grad to None before each backward(), or use torch.autograd.grad, which adds nothing up.
# row i also holds what the rows above it see: each backward() adds to the gradients there already.
#     return torch.stack(rows) => return torch.stack(rows).int().cummax(0).values.bool()
# Try: find out what this function sees; not all of them are causal.
# your table is the causal mask, whatever `attend` does.
#     return torch.stack(rows) => return torch.stack(rows).logical_or(torch.tensor(True)).tril()

# %% tags=["check"]
check("5.7", sees)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# You may ask autograd, or change one input at a time and see which outputs move. By gradient one call of `attend` is enough: a row of the table is the gradient of one output.
# </details>
# <details><summary>Hint 2</summary>
#
# A gradient needs one number. Section 5.7 of the lesson tried three ways to make one number of an output; one of them told the truth. And when you look at the gradient, take sizes (`abs`) before you reduce.
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# 1. a copy of `x` that asks for gradients; the outputs for it; one random factor for each entry of an output
# 2. for every position `i`: the gradient, at the copy, of the sum of output `i` times the factors (`retain_graph=True` keeps the graph for the next `i`)
# 3. for every position `j`: is the largest size in that gradient, over the items and the entries of token `j`, above rounding? That is row `i`
# </details>

# %% [markdown]
# ### 5.8 · Find the bug
# 2 points · difficulty 3 of 5 · 10 minutes
#
# The function below is meant to hide padding. `keep` is True at real tokens. It runs, its weights sum to 1, nothing is NaN. Yet the value of the padding, 900, is found in the output of real tokens. Run the cell, look at the weights, and write a mended version below.

# %%
def attend_broken(query, key, value, keep):
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5  # (B, H, L_q, L_k)
    mask = keep.unsqueeze(1).unsqueeze(3)
    weights = torch.softmax(scores.masked_fill(~mask, -1e9), dim=-1)  # (B, H, L_q, L_k)
    return weights @ value, weights  # (B, H, L_q, d_v), (B, H, L_q, L_k)


rng = torch.Generator().manual_seed(0)
q, k = torch.randn(1, 1, 3, 4, generator=rng), torch.randn(1, 1, 3, 4, generator=rng)
v = torch.tensor([10.0, 20.0, 900.0]).view(1, 1, 3, 1)
output, weights = attend_broken(q, k, v, torch.tensor([[True, True, False]]))
for row, out in zip(weights[0, 0].tolist(), output.flatten().tolist(), strict=True):
    print("weights", [f"{w:.2f}" for w in row], f"  output {out:.0f}")

# %% [markdown]
# Write `attend(query, key, value, keep)` so that it is right for all sizes: `(B, H, L_q, d_k)`, `(B, H, L_k, d_k)`, `(B, H, L_k, d_v)` and `(B, L_k)` give the output `(B, H, L_q, d_v)` and the weights `(B, H, L_q, L_k)`. Each item of the batch has at least one real token, and gradients must flow through your answer. With the numbers above, all three outputs must lie between 10 and 20.

# %% tags=["exercise"]
def attend(query, key, value, keep):
    # BEGIN SOLUTION
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5  # (B, H, L_q, L_k)
    mask = keep.unsqueeze(1).unsqueeze(2)  # (B, 1, 1, L_k): columns, the keys
    scores = scores.masked_fill(~mask, float("-inf"))
    weights = torch.softmax(scores, dim=-1)  # (B, H, L_q, L_k)
    return weights @ value, weights  # (B, H, L_q, d_v), (B, H, L_q, L_k)
    # END SOLUTION


# %% [markdown] tags=["mistakes"]
# Try: padding is to be hidden as a key: the tokens belong in the last axis, and nowhere else.
# the fill value is changed and the axis is not: the mask hides rows, now as NaN.
#     unsqueeze(2) => unsqueeze(3)
# padding is hidden on both axes: the row of a padded query is -inf throughout, and becomes NaN.
#     unsqueeze(2) => unsqueeze(2) & keep[:, None, :, None]
# padding is hidden on both axes.
#     unsqueeze(2) => unsqueeze(2) & keep[:, None, :, None]
#     float("-inf") => -1e9
# the bug is still there: the mask hides rows, the queries of the padding.
#     unsqueeze(2) => unsqueeze(3)
#     float("-inf") => -1e9
# Try: add an axis of size 1 for the heads and one for the queries.
# a mask of shape (B, 1, L_k): against four axes it lines up the batch with the heads.
#     .unsqueeze(1).unsqueeze(2) => [:, None]
# Try: add two axes of size 1 between the batch and the keys.
# a mask of shape (B, L_k): it lines up the batch with the queries.
#     .unsqueeze(1).unsqueeze(2) =>
# Try: True means may attend: fill where it is False.
# the mask was read the other way round.
#     ~mask => mask
# Try: hide the scores before the softmax, so that they take no part in the maximum or the sum.
# hidden scores were set to 0 before the softmax, and exp(0) is 1: they keep weight.
#     float("-inf") => 0.0
# Try: fill with float('-inf'), below which there is nothing.
# a fill value such as -1e4: where the allowed scores lie lower, hidden keys win all the weight.
#     float("-inf") => -1e4
# Try: hide the scores before the softmax, so that they take no part in the maximum or the sum.
# weights were set to 0 after the softmax: the rows no longer sum to 1.
#     `~mask, ` => `mask & ~mask, `
#     torch.softmax(scores, dim=-1) => torch.softmax(scores, dim=-1) * mask
# Try: keep the scale.
# the scores are not divided by the root of d_k.
#     ` / query.shape[-1] ** 0.5` =>

# %% tags=["check"]
check("5.8", attend)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# Which row of the weights looks unlike the others? That is where the mask acted. Which *column* ought to be 0?
# </details>
# <details><summary>Hint 2</summary>
#
# Print `mask.shape`. The axes are batch, heads, queries, keys. Where do the tokens stand?
# </details>
# <details><summary>Hint 3</summary>
#
# Replace the fill value by minus infinity in the broken function, and the bug shows itself: a whole row turns to NaN.
# </details>

# %% [markdown]
# ### 5.9 · How far does information travel, and how much of it arrives? An experiment
# 4 points · difficulty 3 of 5 · 20 minutes
#
# Through `n` layers with windows of `w` keys, information comes from up to `n (w - 1)` positions back. These five stacks of windowed attention all reach equally far, with one layer or with sixteen:

# %%
class Windowed(nn.Module):
    """One head. No mask: each query is handed its window of keys and no other."""

    def __init__(self, window, d=32):
        super().__init__()
        self.window, self.norm = window, nn.LayerNorm(d)
        self.to_q, self.to_k, self.to_v, self.to_o = (nn.Linear(d, d) for _ in range(4))

    def forward(self, x):
        y, before = self.norm(x), (0, 0, self.window - 1, 0)  # (B, L, d)
        keys = F.pad(self.to_k(y), before).unfold(1, self.window, 1)  # (B, L, d, w)
        values = F.pad(self.to_v(y), before).unfold(1, self.window, 1)  # (B, L, d, w)
        scores = self.to_q(y)[:, :, None] @ keys / keys.shape[2] ** 0.5  # (B, L, 1, w)
        mixed = scores.softmax(dim=-1) @ values.transpose(2, 3)  # (B, L, 1, d)
        return x + self.to_o(mixed[:, :, 0])  # (B, L, d)


# %%
STACKS = [(17, 1), (9, 2), (5, 4), (3, 8), (2, 16)]  # window, layers


def stack(window, layers, seed):
    torch.manual_seed(seed)
    return nn.Sequential(*(Windowed(window) for _ in range(layers)))


def tokens(seed):
    rng = torch.Generator().manual_seed(seed)
    return torch.randn(8, 33, 32, generator=rng)  # (B, L, d)


# %% [markdown]
# **Predict first.** All five reach equally far. Does the same amount arrive through all of them, or does it depend on how wide the windows are and how many layers there are?

# %%
choices = ["17 keys, 1 layer", "2 keys, 16 layers", "much the same through all"]
question = "Through which stack does the least arrive from 5 or more positions back?"
widgets.predict("5.9", question, choices=choices)

# %% [markdown]
# **Measure.** For each stack, with the seeds 0 to 4 (for the weights and for the tokens): take the gradient of the **last** output, times random factors, at all inputs. Its *size* at a position is the norm over the `d` entries, averaged over the 8 items. `reach_results[(window, layers)]` is a list of five numbers: the share of all these sizes that lies **5 or more positions back** (the last position is 0 back).
#
# **Then read off**, from your own numbers:
#
# | entry | what |
# |---|---|
# | `reach_results["farthest"]` | how many positions back the farthest input lies whose gradient isn't 0 (look: it is the same in all five stacks) |
# | `reach_results["least"]` | the stack, as `(window, layers)`, with the smallest mean share |
# | `reach_results["ratio"]` | the largest mean share divided by the smallest |
#
# The check judges your numbers, not your prediction. (These stacks are untrained. Training can change how much arrives, but not how far it can come.)

# %% tags=["exercise"]
reach_results = {}  # (window, layers) -> five shares, and what you read off
# BEGIN SOLUTION
farthest = set()
for window, layers in STACKS:
    shares = []
    for seed in range(5):
        x = tokens(seed).requires_grad_()  # (B, L, d)
        last = stack(window, layers, seed)(x)[:, -1]  # (B, d)
        number = (last * torch.randn(last.shape)).sum()
        (gradient,) = torch.autograd.grad(number, x)  # (B, L, d)
        sizes = gradient.norm(dim=-1).mean(dim=0).flip(0)  # (L,), by positions back
        shares.append((sizes[5:].sum() / sizes.sum()).item())
        farthest.add(int(sizes.nonzero().max()))
    reach_results[(window, layers)] = shares
means = {key: sum(row) / 5 for key, row in reach_results.items()}
reach_results["farthest"] = max(farthest)
reach_results["least"] = min(means, key=means.get)
reach_results["ratio"] = max(means.values()) / min(means.values())
# END SOLUTION

# %% tags=["check"]
check("5.9", reach_results)

# %%
if all(key in reach_results for key in STACKS):
    ax = plotting.new_axes(6.0, 3.4)
    for place, key in enumerate(STACKS):
        percent = [100 * share for share in reach_results[key]]
        ax.plot([place] * 5, percent, "o", color=plotting.COLORS[0], alpha=0.6)
    ax.set_xticks(range(5), [f"{w} keys\n{n} layer{'s' * (n > 1)}" for w, n in STACKS])
    ax.set(ylabel="share from 5 or more back, %", ylim=(0, None))
    plotting.show(ax, "For each of five stacks that reach equally far, five dots: the "
        "share of the influence that comes from 5 or more positions back. It is about "
        "equal for one and two layers, and falls to almost 0 for sixteen.")  # fmt: skip
else:
    print("Still missing: the five shares of each stack, exercise 5.9")

# %%
if all(key in reach_results for key in STACKS):
    means = {key: sum(reach_results[key]) / 5 for key in STACKS}
    wide, deep = means[STACKS[0]], means[STACKS[-1]]
    alike = 0.5 < wide / deep < 2
    display(widgets.came_out("5.9", choices[2 if alike else int(deep < wide)]))

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# This is one row of 5.7's table, with sizes in the place of True and False. Index 32 is the last position; `flip(0)` makes the index say how far back.
# </details>
# <details><summary>Hint 2</summary>
#
# Look at the sizes of the farthest positions themselves, not at rounded ones: a very small number isn't 0.
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# 1. for every stack and every seed: the tokens, asking for gradients; the stack; its last output
# 2. the gradient of the sum of that output times random factors; norms over the entries, mean over the items
# 3. the share: the sum of the sizes 5 or more back, divided by the sum of all; note also the largest index whose size isn't 0
# </details>

# %% [markdown]
# ## What you have built
#
# No points, only something to look at. First, your masks on a sentence of your own, each of them put into an attention, and your detector set on that attention. Does it read back what you wrote?

# %%
# Change it: up to 12 words.
SENTENCE = "ada wrote notes . babbage built engines".split()
GIVEN, FIRST = 3, 4  # how long the prefix is, and how many words the first document has


def my_masks():
    L = len(SENTENCE)
    document = torch.tensor([[1] * FIRST + [2] * (L - FIRST)])  # (B=1, L)
    mine = {"5.2 causal": causal_mask(L, L), "5.3 packed": packed(document)[0]}
    mine["5.4 prefix"] = prefix_mask(torch.tensor([GIVEN]), L)
    return mine | {"5.6 window": sliding_window_mask(L, L, 3)}


# %%
def missing(**attempts):
    found = []
    for number, attempt in attempts.items():
        try:
            attempt()
        except NotImplementedError:
            found.append("5." + number[1:])
    return found


def read_back(mask):
    rng = torch.Generator().manual_seed(0)
    x = torch.randn(1, len(SENTENCE), 8, generator=rng)  # (B=1, L, d)
    mask = mask.reshape(1, len(SENTENCE), -1)  # (1, L, L)
    return sees(lambda y: F.scaled_dot_product_attention(y, y, y, mask), x)


# %%
two = torch.ones(1, 2).long()
needed = missing(_2=lambda: causal_mask(2, 2), _3=lambda: packed(two))
needed += missing(_4=lambda: prefix_mask(two[0], 2))
needed += missing(_6=lambda: sliding_window_mask(2, 2, 1))
needed += missing(_7=lambda: sees(torch.tanh, torch.zeros(1, 2, 1)))
if needed:
    print("Still missing for this picture:", ", ".join(needed))
else:
    plotting.show(diagrams.mask_gallery(SENTENCE, my_masks()))
    for name, mask in my_masks().items():
        table = read_back(mask)
        agrees = torch.equal(table, mask.reshape(table.shape))
        print(f"{name:11} read back as written: {agrees}", end="   ")
        print(f"sees ahead: {bool(table.triu(1).any())}")

# %% [markdown]
# Second, your masks inside a model that can do something: the pronouncer of the lesson. It reads words of unequal length in one batch, with your padding mask. At each step it goes over all the sounds it has said so far, with your causal mask. Put your own name in.

# %%
@torch.no_grad()
def say(words):
    model, source = load("transformer"), SPELLING.batch(words)  # (B, L_k)
    padding = padding_mask(source, PAD_ID)  # (B, 1, 1, L_k), yours
    memory = model.encode(source, padding)  # (B, L_k, d_model)
    sounds = torch.full((len(words), 1), START_ID)  # (B, 1)
    for step in range(1, 20):
        past = causal_mask(step, step)[None, None]  # (1, 1, L_t, L_t), yours
        hidden = model.decode(sounds, memory, memory_mask=padding, target_mask=past)
        best = model.generator(hidden[:, -1]).argmax(dim=-1)  # (B,)
        sounds = torch.cat([sounds, best[:, None]], dim=1)  # (B, L_t + 1)
    return [" ".join(SOUNDS.decode(row)) for row in sounds]


# %%
NAMES = ["ada", "grace", "alexander"]  # letters a to z

needed = missing(_1=lambda: padding_mask(two, 0), _2=lambda: causal_mask(2, 2))
if needed:
    print("Still missing for the pronouncer:", ", ".join(needed))
else:
    for name, sounds in zip(NAMES, say(NAMES), strict=True):
        print(f"{name:12} {sounds}")

# %% [markdown]
# {{next_steps}}
