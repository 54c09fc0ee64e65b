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
# Nine exercises, 30 points. At the end you can write a mask for any lengths, turn four conventions into one, work out who reaches whom through a stack of layers, and read off who sees whom in a model that you can't look into.
#
# {{colab_link}} · core exercises about 23 minutes, all of them about two hours · builds on {{lesson_link}}
#
# Write your code where it says `YOUR CODE HERE`, run the cell, then run the check below it. A check that fails says what differs and, if it knows your mistake,
# what your answer did; `hint()`, or a second failure, adds what to try. You may try as often as you like, and `failing_case()` hands you what the last failed check called your answer with. Hints are folded under each check.
#
# In all exercises masks are boolean, and True means **may attend**. No answer may change its arguments, and all numbers that you are given are finite, except for NaN in some scores of 5.5 and minus infinity in a mask of 5.4.
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
# 2 points · difficulty 1 of 5 · 5 minutes · core
#
# Write `padding_mask(tokens, pad_id)`: every query may attend to every key that is not padding. The mask must broadcast against scores of shape `(B, H, L_q, L_k)`.
#
# | argument | shape |
# |---|---|
# | `tokens` | `(B, L_k)`, whole numbers |
# | `pad_id` | a whole number, not always 0 |
# | returns | `(B, 1, 1, L_k)`, boolean |
#
# Padding is usually on the right, but not always. Judge each token by itself. Example: `padding_mask(torch.tensor([[5, 7, 0], [5, 5, 7]]), 5)` is `[[[[False, True, True]]], [[[False, False, True]]]]`.

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
# 3 points · difficulty 3 of 5 · 10 minutes · core
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
# Try: a query sees its own position too: <= and not <, or one diagonal further.
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
# True stands where a key is hidden; here it must stand where a key may be seen.
#     <= pos => > pos
# True stands where a key is hidden, the other way around, and the triangle begins at the first key, whatever the lengths.
#     torch.arange(L_k - L_q, L_k) => torch.arange(L_q)
#     <= pos => > pos
# Try: the last query stands at the last key: by how much is it shifted if there are L_k keys?
# the diagonal is shifted by L_q, not by L_k - L_q: right where L_k is twice L_q.
#     torch.arange(L_k - L_q, L_k) => torch.arange(L_q, 2 * L_q)

# %% tags=["check"]
check("5.2", causal_mask)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# If the queries are the last `L_q` of `L_k` positions, what is the position of query 0? And of query `i`?
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
# ### 5.3 · Packed texts
# 4 points · difficulty 3 of 5 · 15 minutes · more
#
# Several short texts share one row, one after another from the left, and what is left of the row is padding. Write `packed(lengths, L)`, which needs nothing but the lengths. Every border between two texts matters three times: in the mask, in the positions, and in the targets.
#
# - The **mask**: a token sees itself and the earlier tokens of its own text. Padding isn't seen and sees nothing.
# - The **positions** start anew at 0 in each text. Padding has position 0.
# - **Asked**: the model predicts the next token of the row. At which tokens is that a fair question? Only where the next token belongs to the same text.
#
# | argument | shape |
# |---|---|
# | `lengths` | `(B, N)`, whole numbers: how many tokens each text of a row has. Rows with fewer than `N` texts have zeros at the end |
# | `L` | how many tokens a row has, at least the sum of its lengths |
# | returns `mask`, `positions`, `asked` | `(B, 1, L, L)`, boolean; `(B, L)`, whole numbers (`torch.int64`); `(B, L)`, boolean |
#
# Example: `packed(torch.tensor([[2, 1]]), 4)` gives the mask `[[[[1, 0, 0, 0], [1, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0]]]]` (as True and False), the positions `[[0, 1, 0, 0]]` and asked `[[True, False, False, False]]`.

# %% tags=["exercise"]
def packed(lengths, L):
    # BEGIN SOLUTION
    places = torch.arange(L)  # (L,)
    ends = lengths.cumsum(dim=1)  # (B, N), where each text is over
    starts = ends - lengths  # (B, N)
    inside = (starts[..., None] <= places) & (places < ends[..., None])  # (B, N, L)
    same = (inside[:, :, :, None] & inside[:, :, None, :]).any(dim=1)  # (B, L_q, L_k)
    mask = same & (places <= places[:, None])  # (B, L_q, L_k)
    positions = (places - starts[..., None]) * inside  # (B, N, L), 0 outside
    asked = inside & (places < ends[..., None] - 1)  # (B, N, L), all but the last
    return mask[:, None], positions.sum(dim=1), asked.any(dim=1)
    # END SOLUTION


# %% [markdown] tags=["mistakes"]
# Try: look at the last token of a text: which token comes next in the row, and whose is it?
# the last token of a text is asked for the first token of the next one.
#     places < ends[..., None] - 1 => places < lengths.sum(dim=1)[:, None, None] - 1
# every token of a text is asked, its last one too.
#     places < ends[..., None] - 1 => places < ends[..., None]
# the last token of a row is asked where the texts fill the row: nothing comes after it.
#     places < ends[..., None] - 1 => places < ends[..., None] - (ends[..., None] < L).long()
# the first token of a text is left out of those asked, not the last one.
#     (places < ends[..., None] - 1) => (places > starts[..., None])
# all tokens of the texts are asked, but for one at the very end of the row.
#     (places < ends[..., None] - 1) => (places < L - 1)
# Try: within a text too, no token may see a later one.
# tokens see the later tokens of their own text.
#     ` & (places <= places[:, None])` =>
# Try: positions start anew in each text.
# positions count through the whole row.
#     (places - starts[..., None]) * inside => places * inside
# Try: the first token of a text is at position 0.
# positions start at 1.
#     (places - starts[..., None]) * inside => (places - starts[..., None] + 1) * inside
# Try: the order is (B, H, L_q, L_k): add an axis of size 1 for the heads behind the batch.
# a mask of shape (B, L, L): the batch would line up with the heads.
#     mask[:, None], => mask,
# Try: a text begins where all the texts before it are over: add up their lengths.
# every text begins at the start of the row.
#     starts = ends - lengths => starts = torch.zeros_like(ends)
# Try: the texts of one row lie along the second axis of lengths.
# the lengths are added up over the rows of the batch.
#     lengths.cumsum(dim=1) => lengths.cumsum(dim=0)
# Try: a text of n tokens that begins at s has the places s to s + n - 1: the place s + n is the next text's.
# the first token of each text counts to the text before it.
#     (starts[..., None] <= places) & (places < ends[..., None]) => ((starts[..., None] < places) | ((places == 0) & (starts[..., None] == 0) & (ends[..., None] > 0))) & (places <= ends[..., None]) & (places < ends[:, -1:, None])
#     inside & (places < ends[..., None] - 1) => inside & (places < torch.minimum(ends[..., None], ends[:, -1:, None] - 1))
# Try: a key must belong to the text of the query.
# the texts aren't kept apart: tokens see all that comes before them in the row.
#     (inside[:, :, :, None] & inside[:, :, None, :]).any(dim=1) => inside.any(dim=1)[:, :, None] & inside.any(dim=1)[:, None, :]

# %% tags=["check"]
check("5.3", packed)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# Where in the row does the third text begin? You know that as soon as you have the lengths of the first two.
# </details>
# <details><summary>Hint 2</summary>
#
# Make a table with a row for each text and a column for each place: does this place belong to this text? Two places see each other if one row of that table holds both.
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# 1. ends: the lengths added up along the row; starts: the ends minus the lengths
# 2. inside, `(B, N, L)`: start of the text ≤ place < its end
# 3. mask: some text holds the query's place and the key's place, and the key isn't later
# 4. positions: place minus the start of its text; asked: inside, and not the text's last place
# </details>

# %% [markdown]
# ### 5.4 · Four conventions, one mask
# 3 points · difficulty 3 of 5 · 12 minutes · more
#
# A program takes its masks from four places, and each says "hidden" in its own way. Write `masked_scores(scores, attend, ignore, keep, add)`, the border at which all four become one. It returns the scores as they go into the softmax: $-\infty$ where *any* of the masks hides the key, elsewhere the score plus the bias, if there is one.
#
# | argument | shape and convention; each mask may be `None` |
# |---|---|
# | `scores` | `(B, H, L_q, L_k)`, float16, float32 or float64 |
# | `attend` | boolean, True = may attend; broadcasts to the scores |
# | `ignore` | boolean, True = hidden; broadcasts to the scores |
# | `keep` | `(B, L_k)`, whole numbers, 1 = a real token, 0 = padding, as a tokenizer gives them |
# | `add` | floating point, of any type; broadcasts to the scores. Hidden is either $-\infty$ or the lowest number of *its own* type, `torch.finfo(add.dtype).min`. Every other entry is a bias, to be added to the score |
# | returns | `(B, H, L_q, L_k)`, in the type of `scores` |
#
# Example: with `scores = [[[[0., 1., 2., 3.]]]]`, `ignore = [[[[False, True, False, False]]]]`, `keep = [[1, 1, 0, 1]]`, `add = [[-0.5, 0., 0., -3.4028e38]]` (float32, the last entry its lowest number) and `attend = None` the result is `[[[[-0.5, -inf, -inf, -inf]]]]`.

# %% tags=["exercise"]
def masked_scores(scores, attend, ignore, keep, add):
    # BEGIN SOLUTION
    hidden = torch.zeros_like(scores, dtype=torch.bool)  # (B, H, L_q, L_k)
    if attend is not None:
        hidden = hidden | ~attend
    if ignore is not None:
        hidden = hidden | ignore
    if keep is not None:
        hidden = hidden | (keep == 0)[:, None, None, :]  # (B, 1, 1, L_k)
    if add is not None:
        hidden = hidden | (add <= torch.finfo(add.dtype).min)  # -inf lies below it
        scores = scores + add.to(scores.dtype)  # (B, H, L_q, L_k)
    return scores.masked_fill(hidden, float("-inf"))
    # END SOLUTION


# %% [markdown] tags=["mistakes"]
# Try: turn each mask into "what does it hide?" before you join them.
# `ignore` was read as if True meant may attend.
#     hidden | ignore => hidden | ~ignore
# `attend` was read as if True meant hidden.
#     hidden | ~attend => hidden | attend
# `keep` was read as if 1 meant padding.
#     keep == 0 => keep == 1
# Try: `keep` speaks of keys: it needs an axis for the heads and one for the queries.
# `keep` hides rows, the queries of the padding.
#     [:, None, None, :] => [:, None, :, None]
# Try: a key is hidden if any of the masks says so.
# a key is hidden only where every mask hides it.
#     torch.zeros_like(scores, dtype=torch.bool) => torch.ones_like(scores, dtype=torch.bool)
#     `hidden | ` => `hidden & `
# only the last mask that was given counts.
#     hidden | (keep == 0) => (keep == 0)
#     hidden | ignore => ignore
#     hidden | (add <= torch.finfo(add.dtype).min) => (add <= torch.finfo(add.dtype).min)
# Try: the lowest number of one type is an ordinary number of another: find it in `add` itself.
# the lowest number of its type was added like a bias: nothing is minus infinity there.
#     (add <= torch.finfo(add.dtype).min) => (add == float("-inf"))
# every entry of `add` below -10,000 was taken for hidden: biases can be lower.
#     (add <= torch.finfo(add.dtype).min) => (add < -1e4)
# only entries of `add` below -1e9 were taken for hidden: the lowest number of float16 is above that.
#     (add <= torch.finfo(add.dtype).min) => (add < -1e9)
# the lowest number was looked for after the scores were added: where their type is wider, it is another number by then.
#     (add <= torch.finfo(add.dtype).min) => ((scores + add) <= torch.finfo(add.dtype).min)
# the lowest number was looked for in the type of the scores, not in that of `add`.
#     torch.finfo(add.dtype).min => torch.finfo(scores.dtype).min
# Try: entries of `add` that don't hide are biases: add them to the scores.
# the biases were dropped.
#     scores + add.to(scores.dtype) => scores
# every entry of `add` that isn't 0 was taken for hidden.
#     add <= torch.finfo(add.dtype).min => add != 0
# Try: the result has the type of the scores.
# adding the two gave a result of another type than the scores.
#     add.to(scores.dtype) => add
# Try: hidden is minus infinity, in every type.
# a finite number stands where the scores are hidden.
#     float("-inf") => torch.finfo(scores.dtype).min

# %% tags=["check"]
check("5.4", masked_scores)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# Start from "nothing is hidden", a boolean of the scores' shape. Let each mask add what it hides. Fill once, at the end.
# </details>
# <details><summary>Hint 2</summary>
#
# Which entries of `add` hide? Ask `add` before anything is added or converted: the lowest number of float16 is about -65,504, an ordinary number in float32.
# </details>

# %% [markdown]
# ### 5.5 · Rows in which everything is masked
# 4 points · difficulty 4 of 5 · 15 minutes · more
#
# Write `masked_softmax(scores, mask)`: a softmax over the last axis in which hidden keys get weight 0. Three things make it hard:
#
# - A row in which **everything** is hidden gets zeros. Its gradient must be finite, too: the check takes the gradient of a sum of your weights, each times a factor, with respect to the scores. It must be 0 wherever a key is hidden.
# - Scores can be very low: a mask has been added before they reach you, and all the allowed scores of a row lie near $-10^{30}$. A hidden key must not win there.
# - A score that is **NaN at an allowed place** is an error made further up, and it must stay visible: the allowed weights of that row are NaN (its hidden ones may be 0 or NaN), and all other rows are as usual. So `nan_to_num` on the whole result is not enough. Hidden scores are never NaN.
#
# | argument | shape |
# |---|---|
# | `scores` | `(..., L_q, L_k)`, some of them above 100, hidden or not, some near $-10^{30}$, some NaN at an allowed place |
# | `mask` | boolean, broadcasts to the shape of `scores` |
# | returns | weights in the shape of `scores`; each row sums to 1, or to 0 if everything is hidden, or to NaN if an allowed score is NaN |
#
# Example: scores `[[0., 1.], [0., 1.], [-1e30, 5.], [nan, 1.]]` and the mask `[[True, True], [False, False], [True, False], [True, True]]` give `[[0.2689, 0.7311], [0., 0.], [1., 0.], [nan, nan]]`. `torch.softmax` is allowed; PyTorch's `torch.masked.softmax` and the course's own `masked_softmax` are off limits.

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
# ### 5.6 · Through a stack of layers
# 3 points · difficulty 3 of 5 · 12 minutes · more
#
# One mask says what *one* layer's queries see. In a stack, a token also learns what its neighbors have learned in the layers below, and the layers may have different masks: some models let most layers see a short window and a few layers see everything. Write `reach(masks)`: can the last layer's output at position `i` depend on the input at position `j`?
#
# In each layer a token looks at the keys that the layer's mask allows, and what it finds is *added* to what it had (the residual path, lesson 09). So no token loses what it has, whatever the mask says.
#
# | argument | shape |
# |---|---|
# | `masks` | `(n, L, L)`, boolean, one for each layer, the **first layer first**; `n` can be several hundred |
# | returns | `(L, L)`, boolean: row `i`, column `j` is True if input `j` reaches output `i` |
#
# Example: in layer 1 token 1 may look at token 0, in layer 2 token 2 at token 1, and that is all: `masks = [[[0, 0, 0], [1, 0, 0], [0, 0, 0]], [[0, 0, 0], [0, 0, 0], [0, 1, 0]]]` (as True and False). Token 2 is reached by all three: `[[1, 0, 0], [1, 1, 0], [1, 1, 1]]`. With the two layers exchanged, token 0 doesn't get to token 2: `[[1, 0, 0], [1, 1, 0], [0, 1, 1]]`.

# %% tags=["exercise"]
def reach(masks):
    # BEGIN SOLUTION
    itself = torch.eye(masks.shape[-1], dtype=torch.bool)  # (L, L)
    reached = itself  # before the first layer
    for mask in masks:
        step = (mask | itself).double()  # (L, L), the residual path included
        reached = step @ reached.double() > 0  # (L, L): through some token in between
    return reached
    # END SOLUTION


# %% [markdown] tags=["mistakes"]
# Try: a token keeps what it has, also where the mask hides it from itself.
# the residual path is missing: a token that doesn't look at itself loses what it had.
#     (mask | itself) => mask
# Try: the latest layer's queries look at what the layers below it have gathered: which factor stands on the left?
# the layers are taken in the wrong order, the last one first.
#     step @ reached.double() > 0 => reached.double() @ step > 0
# Try: a path may use one layer's mask for its first step and the next layer's for its second.
# the residual path is there in the first layer only: later layers lose what they don't look at.
#     reached = itself  # before => masks = torch.cat([(masks[:1] | itself), masks[1:]]); reached = itself  # before
#     (mask | itself) => mask
# the pairs that some layer allows, with no paths through several layers.
#     step @ reached.double() > 0 => (step + reached.double()) > 0
# only pairs that every layer allows.
#     reached = itself  # before => reached = torch.ones_like(itself)  # before
#     step @ reached.double() > 0 => step * reached.double() > 0
# Try: after each layer only "reached or not" counts.
# paths were counted through all layers, and with many layers the counts are too large for their type.
#     step @ reached.double() > 0 => step @ reached.double()
#     return reached => return reached.float() > 0
#     .double() => .float()
#     (mask | itself).float() => (mask | itself).long()
#     reached.float() => reached.long()
# numbers of paths were kept as floats, and with many layers they grow to infinity, then to NaN.
#     step @ reached.double() > 0 => step @ reached.double()
#     return reached => return reached > 0
#     .double() => .float()
#     (mask | itself).float() => (mask.float() + itself)
# shares were multiplied through all layers, and with many layers they get too small: they end at 0.
#     step = (mask | itself).double() => step = (mask | itself).float() / (mask | itself).sum(dim=-1, keepdim=True)
#     step @ reached.double() > 0 => step @ reached.float()
#     return reached => return reached > 0
# Try: rows are outputs, columns inputs.
# rows and columns are exchanged.
#     return reached => return reached.mT
# only the first layer was looked at.
#     for mask in masks => for mask in masks[:1]
# the first layer's mask was used for all layers.
#     (mask | itself) => (masks[0] | itself)

# %% tags=["check"]
check("5.6", reach)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# Keep a table of who has been reached by whom so far. Before the first layer everyone has only itself. What does one layer do to a row of that table?
# </details>
# <details><summary>Hint 2</summary>
#
# Row `i` after a layer is everything that was reached by any token that `i` may look at. "There is a token in between" is a sum of products, in other words a product of matrices. Mind the order of the two factors, and mind how fast such numbers grow.
# </details>

# %% [markdown]
# ### 5.7 · Who sees whom?
# 5 points · difficulty 4 of 5 · 20 minutes · more
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
# What counts as "depends"? **Report a pair if the gradient of output `i` at input `j` has an entry larger than 1e-7 in size**, and only then. (The faintest pairs in the check have gradients above 1e-5. What isn't seen has less than 1e-9, which is rounding, and seldom exactly 0.) If you'd rather change one input and compare outputs: what is seen moves an output by more than a millionth, what isn't by less.
#
# The check hides its leaks well: in one item of the batch, in one entry of a token, in two entries that change by opposite amounts, behind a normalization. Read section 5.8 of the lesson first. It shows which sums cancel.

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
# A gradient needs one number. Section 5.8 of the lesson tries three ways to turn an output into one number, and one of them tells the truth. And when you look at the gradient, take sizes (`abs`) before you reduce.
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# 1. a copy of `x` that asks for gradients; the outputs for it; one random factor for each entry of an output
# 2. for every position `i`: the gradient, at the copy, of the sum of output `i` times the factors (`retain_graph=True` keeps the graph for the next `i`)
# 3. for every position `j`: is the largest size in that gradient, over the items and the entries of token `j`, above rounding? That is row `i`
# </details>

# %% [markdown]
# ### 5.8 · Find the bug
# 2 points · difficulty 3 of 5 · 8 minutes · core
#
# The function below is meant to hide padding. `keep` is True at real tokens. It runs, its weights sum to 1, nothing is NaN. Yet the value of the padding, 900, turns up in the output of real tokens. Run the cell, look at the weights, and write a mended version below.

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

# %% [markdown] tags=["solution"]
# **The cause.** `keep.unsqueeze(1).unsqueeze(3)` has the shape `(B, 1, L, 1)`. Its last axis but one lines up with the queries, so the mask fills *rows*: all scores of a padded query become -1e9, and equal scores give equal weights. No key is hidden from anybody. With minus infinity instead of -1e9 that row would be NaN, and the bug would have shown itself. With `L_q` different from `L_k` it would have been an error.

# %% tags=["check"]
check("5.8", attend)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# Which row of the weights looks unlike the others? That is where the mask acted. Which *column* ought to be 0?
# </details>
# <details><summary>Hint 2</summary>
#
# Print `mask.shape`. The axes are batch, heads, queries, keys. On which axis did the tokens end up?
# </details>
# <details><summary>Hint 3</summary>
#
# Replace the fill value by minus infinity in the broken function, and the bug shows itself: a whole row turns to NaN.
# </details>

# %% [markdown]
# ### 5.9 · How far does information travel, and how much of it arrives? An experiment
# 4 points · difficulty 3 of 5 · 20 minutes · more
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
widgets.predict("5.E", question, choices=choices)

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
# Then look for the cause: a window gets narrower and the stack deeper at the same time, and each layer has a residual path, `x + ...`. Which of these three makes the share fall? Write down a guess. The solution takes them apart. (These stacks are untrained. Training can change how much arrives, but not how far it can come.)

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
        "equal for one and two layers, and falls to almost 0 for sixteen.")
else:
    print("Still missing: the five shares of each stack, exercise 5.9")

# %%
if all(key in reach_results for key in STACKS):
    means = {key: sum(reach_results[key]) / 5 for key in STACKS}
    wide, deep = means[STACKS[0]], means[STACKS[-1]]
    alike = 0.5 < wide / deep < 2
    display(widgets.came_out("5.E", choices[2 if alike else int(deep < wide)]))

# %% [markdown] tags=["solution"]
# **Why the share falls.** Follow one path from the last output back to an input. In each layer it either stays where it is, on the residual path, or it moves back by 0 to `w - 1` positions through the attention. That is a random walk. Such a guess says what to change: take the residual path away, so that every layer has to move. Then compare with two random walks whose steps are all equally likely. One moves in every layer, the other stays where it is in four layers of five:

# %% tags=["solution"]
class NoResidual(Windowed):
    def forward(self, x):
        return super().forward(x) - x  # what the attention adds, and nothing else


class Stronger(Windowed):
    def forward(self, x):
        return x + 10 * (super().forward(x) - x)  # the attention counts ten times


def share_far(layer, window, layers, seed):
    torch.manual_seed(seed)
    x = tokens(seed).requires_grad_()  # (B, L, d)
    last = nn.Sequential(*(layer(window) for _ in range(layers)))(x)[:, -1]  # (B, d)
    (gradient,) = torch.autograd.grad((last * torch.randn(last.shape)).sum(), x)
    sizes = gradient.norm(dim=-1).mean(dim=0).flip(0)  # (L,)
    return (sizes[5:].sum() / sizes.sum()).item()


def mean_share(layer, window, layers):
    return sum(share_far(layer, window, layers, seed) for seed in range(5)) / 5


def walk_share(window, layers, moves=1.0):
    chances = torch.tensor([1.0])  # of being 0, 1, ... positions back
    for _ in range(layers):
        moved = [F.pad(chances, (k, window - 1 - k)) for k in range(window)]
        stayed = F.pad(chances, (0, window - 1))
        chances = moves * torch.stack(moved).mean(dim=0) + (1 - moves) * stayed
    return chances[5:].sum().item()


print("window layers  residual  attention x 10  no residual   walk  walk, 1 move in 5")
for window, layers in STACKS:
    kinds = Windowed, Stronger, NoResidual
    as_it_is, stronger, without = (mean_share(kind, window, layers) for kind in kinds)
    walks = walk_share(window, layers), walk_share(window, layers, moves=0.2)
    print(f"{window:6} {layers:6} {as_it_is:9.3f} {stronger:15.3f}", end="")
    print(f" {without:12.3f} {walks[0]:6.3f} {walks[1]:18.3f}")

# %% [markdown] tags=["solution"]
# Without the residual path the order turns around: now the *most* arrives through sixteen layers of two keys, and all five numbers are close to those of the walk. A walk of `n` steps of `(w - 1) / 2` each on average ends about 8 positions back in all five stacks, and with many small steps it hardly ever ends near the start. With the residual path the walk mostly stays where it is, and when it does move in the narrow stacks, it moves by little. The last column shows that staying most of the time is enough to make the share fall like that, though yours falls further at the narrow end. If that's right, an attention that counts ten times as much should make the walk move more often, and indeed the share rises in all five stacks. The depth isn't to blame. Here are stacks in which one thing changes at a time:

# %% tags=["solution"]
for name, kinds in (
    ("window 3, more layers", [(3, 2), (3, 4), (3, 8), (3, 16)]),
    ("2 layers, wider windows", [(3, 2), (5, 2), (9, 2), (17, 2)]),
):
    found = [f"{mean_share(Windowed, *kind):.3f}" for kind in kinds]
    print(f"{name:25}", "  ".join(found))

# %% [markdown] tags=["solution"]
# More layers with the same window bring more from afar, and narrower windows with the same number of layers bring less. (Two layers of three keys don't reach 5 positions back at all.) It takes both the residual path and the narrow windows to make the share fall.

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# This is one row of 5.7's table, with sizes instead of True and False. Index 32 is the last position; `flip(0)` makes the index say how far back.
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
# No points, only something to look at. First, your masks on a sentence of your own. Each goes into an attention that applies it with your 5.4, and your detector is set on that attention. Does it read back what you wrote? For 5.6 it is set on three layers, one on top of another, and must find what your `reach` says.

# %%
# Change it: up to 12 words.
SENTENCE = "ada wrote notes . babbage built engines".split()
FIRST, WINDOW = 4, 2  # how many words the first text has; how many keys a window holds
L = len(SENTENCE)


def my_stacks():
    """Name -> the masks of the layers, (n, L, L)."""
    texts = packed(torch.tensor([[FIRST, L - FIRST]]), L)[0]  # (1, 1, L, L)
    window = causal_mask(L, L).triu(1 - WINDOW)  # (L, L)
    stacks = {"5.2 causal": causal_mask(L, L)[None], "5.3 packed": texts[0]}
    return stacks | {"5.6 three layers": window.expand(3, L, L)}


# %%
def missing(**attempts):
    found = []
    for number, attempt in attempts.items():
        try:
            attempt()
        except NotImplementedError:
            found.append("5." + number[1:])
    return found


def layered(masks):
    def attend(x):
        for mask in masks:
            scores = (x @ x.transpose(1, 2))[:, None] / x.shape[-1]  # (B, 1, L, L)
            scores = masked_scores(scores, mask, None, None, None)
            x = x + torch.softmax(scores, dim=-1)[:, 0] @ x  # (B, L, d)
        return x

    return attend


# %%
two = torch.ones(1, 2).long()
needed = missing(_2=lambda: causal_mask(2, 2), _3=lambda: packed(two, 2))
needed += missing(_4=lambda: masked_scores(torch.zeros(1, 1, 1, 1), *[None] * 4))
needed += missing(_6=lambda: reach(torch.ones(1, 2, 2).bool()))
needed += missing(_7=lambda: sees(torch.tanh, torch.zeros(1, 2, 1)))
if needed:
    print("Still missing for this picture:", ", ".join(needed))
else:
    tables = {name: reach(masks) for name, masks in my_stacks().items()}
    plotting.show(diagrams.mask_gallery(SENTENCE, tables))
    x = torch.randn(1, L, 8, generator=torch.Generator().manual_seed(0))  # (1, L, d)
    for name, masks in my_stacks().items():
        found = sees(layered(masks), x)
        agrees, ahead = torch.equal(found, tables[name]), bool(found.triu(1).any())
        print(f"{name:16} read back as written: {agrees}   sees ahead: {ahead}")

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
