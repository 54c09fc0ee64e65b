# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 13 · Looking inside: exercises
#
# Ten exercises, 28 points. By the end you have written the instruments of the lesson, two detectors, a head as two matrices, the shares of a logit and a cut path. You have set an induction head's matrices by hand, and found out how few lengths a model has to see before it learns the rule. And then your detectors go looking in a model of real text.
#
# {{colab_link}} · short path about 25 minutes, everything about 135 · builds on {{lesson_link}}
#
# Write your code where it says `YOUR CODE HERE`, run the cell, then run the check below it. A check that fails says what differs and, if it knows your mistake,
# what your answer did; `hint()`, or a second failure, adds what to try. You may try as often as you like, and `failing_case()` hands you what the last failed check called your answer with. Hints are folded under each check. A function of `course_utils` that does what an exercise asks for is off limits in it. What you return has the dtype of what you are given, and no answer may change its arguments.

# %% tags=["setup"]
import math

import torch
import torch.nn.functional as F

from course_checks import check, failing_case, hint
from course_utils import plotting, pretrained, widgets
from course_utils.circuits import cut_path, replaced_heads
from course_utils.datasets.documentation import documentation_split
from course_utils.datasets.text_windows import encode_text
from course_utils.masks import causal_mask
from course_utils.recording import record_attention
from course_utils.small_models import induction
from course_utils.training import seed_everything

torch.set_printoptions(precision=3, sci_mode=False, linewidth=88)
torch.set_num_threads(1)  # the tensors here are small: more threads would wait

# %% [markdown]
# ### 13.1 · A detector that isn't easily fooled
# 4 points · difficulty 3 of 5 · 12 minutes · core
#
# An induction head looks at the letter that came right **after** an earlier copy of the query's letter. How much of its weight does it put there? Five made-up heads on one string, so that you have something to try:


# %%
def five_heads():
    """Weights of five heads on "abcabca", (B=1, H=5, L=7, L=7), and its ids, (1, 7)."""
    ids = torch.tensor([[0, 1, 2, 0, 1, 2, 0]])
    itself = torch.eye(7)
    even = torch.ones(7, 7).tril() / torch.arange(1, 8)[:, None]
    first = torch.zeros(7, 7)
    first[:, 0] = 1.0
    before = itself.roll(-1, dims=1)  # one to the left, (7, 7)
    before[0] = itself[0]  # the first letter has nothing else to look at
    finder = itself.clone()
    for query, keys in {3: [1], 4: [2], 5: [3], 6: [1, 4]}.items():
        finder[query, query] = 0.1
        finder[query, keys] = 0.9 / len(keys)
    return torch.stack([itself, even, first, before, finder])[None], ids


# %% [markdown]
# Write `induction_score(weights, tokens)`, the score of each head. For a query at position $i$, the keys that count are all $j \le i$ for which position $j - 1$ is **earlier than** $i$ and holds the same token as position $i$. Add up the query's weight on all of them. The score is the mean of these sums over the queries that have at least one such key, from all strings together, each query counting once.
#
# | argument | shape |
# |---|---|
# | `weights` | `(B, H, L, L)`, the weights of a causal head, which sum to 1 in each row |
# | `tokens` | `(B, L)`, ids |
# | returns | `(H,)`, a score for each head |
#
# A string may have no token twice, but at least one string has. If a token comes twice in a row, as the *a* in *aa*, the key after the first copy is the query itself, and it counts.
#
# Example: `induction_score(*five_heads())` is `[0, 0.226, 0, 0, 0.9]`. The head that looks everywhere alike can't have 0, and the finder has 0.9 and not less, because the last query's two keys get 0.45 each. The masks of `course_utils.circuits` and its `mean_weight` are off limits.

# %% tags=["exercise"]
def induction_score(weights, tokens):
    # BEGIN SOLUTION
    same = tokens[:, :, None] == tokens[:, None, :]  # (B, L, L)
    earlier = same.tril(diagonal=-1)  # (B, L, L)
    after = F.pad(earlier, (1, 0))[:, :, :-1]  # (B, L, L), one key further on
    has_any = after.any(dim=-1)  # (B, L)
    found = (weights * after[:, None]).sum(dim=-1)  # (B, H, L)
    return found.transpose(0, 1)[:, has_any].mean(dim=-1)  # (H,)
    # END SOLUTION


# %% [markdown] tags=["mistakes"]
# Try: the key that counts is one further on than the copy. Which key is that for the first a of "abcabca"?
# it looks for weight on the copy itself, not on the letter after it.
#     after = F.pad(earlier, (1, 0))[:, :, :-1] => after = earlier
# it looks for weight on the letter before the copy, not after it.
#     F.pad(earlier, (1, 0))[:, :, :-1] => F.pad(earlier, (0, 1))[:, :, 1:]
# Try: a position isn't an earlier copy of itself, and later copies don't count either.
# every position is taken for an earlier copy of itself, so queries count that have none.
#     same.tril(diagonal=-1) => same.tril()
# later copies count as well, so queries count that have no earlier one.
#     same.tril(diagonal=-1) => same & ~torch.eye(same.shape[-1], dtype=torch.bool)
# later copies count as well, and what falls out on the right comes in again on the left.
#     same.tril(diagonal=-1) => same & ~torch.eye(same.shape[-1], dtype=torch.bool)
#     F.pad(earlier, (1, 0))[:, :, :-1] => earlier.roll(1, dims=2)
# Try: the first position has none before it. What is tokens[j - 1] for j = 0?
# for the key at position 0, position j - 1 is taken to be the last of the text: in Python, index -1.
#     after = F.pad(earlier, (1, 0))[:, :, :-1] => after = torch.cat([same[:, :, -1:], earlier[:, :, :-1]], dim=-1)
# Try: in "aa" the key after the first a is the query itself, and it counts.
# copies directly before the query are left out, as the first a of "aa".
#     same.tril(diagonal=-1) => same.tril(diagonal=-2)
# Try: all earlier copies count. Which two keys count for the last a of "abcabca"?
# only the key after the most recent copy counts.
#     F.pad(earlier, (1, 0)) => F.pad(earlier & (earlier.flip(-1).cumsum(dim=-1).flip(-1) == 1), (1, 0))
# only the key after the very first copy counts.
#     F.pad(earlier, (1, 0)) => F.pad(earlier & (earlier.cumsum(dim=-1) == 1), (1, 0))
# Try: average over the queries that have a key to look at. How many of the seven letters of "abcabca" have one?
# the mean runs over all queries, those that have no earlier copy too.
#     found.transpose(0, 1)[:, has_any].mean(dim=-1) => found.mean(dim=(0, 2))
# the weight is averaged over all keys that count, all queries together: a query with two keys counts twice.
#     [:, has_any].mean(dim=-1) => [:, has_any].sum(dim=-1) / after.sum()
# a query's weights on its keys are averaged, not added up.
#     (weights * after[:, None]).sum(dim=-1) => (weights * after[:, None]).sum(dim=-1) / after.sum(-1).clamp(min=1)[:, None]
# only the largest weight on one of the keys counts, not their sum.
#     (weights * after[:, None]).sum(dim=-1) => (weights * after[:, None]).amax(dim=-1)
# Try: add up the weights themselves, however large the other weights of the row are.
# it counts the queries whose largest weight is on a key that counts, and not the weight.
#     (weights * after[:, None]).sum(dim=-1) => after[:, None].expand_as(weights).gather(-1, weights.argmax(dim=-1, keepdim=True))[..., 0].to(weights.dtype)
# queries that give their keys no weight at all are left out of the mean.
#     found.transpose(0, 1)[:, has_any].mean(dim=-1) => (found.sum(dim=(0, 2)) / (found > 0).sum(dim=(0, 2)).clamp(min=1))
# Try: put all queries of all strings together first, then take one mean for each head.
# each string's own mean is taken first, and then the mean over the strings, those without any copy as 0.
#     found.transpose(0, 1)[:, has_any].mean(dim=-1) => (found.sum(dim=-1) / has_any.sum(dim=-1, keepdim=True).clamp(min=1)).mean(dim=0)
# each string's own mean is taken first, and one without any copy has 0 / 0, NaN.
#     found.transpose(0, 1)[:, has_any].mean(dim=-1) => (found.sum(dim=-1) / has_any.sum(dim=-1, keepdim=True)).mean(dim=0)
# each string's own mean is taken first, and then the mean over the strings that have a copy.
#     found.transpose(0, 1)[:, has_any].mean(dim=-1) => (found.sum(dim=-1) / has_any.sum(dim=-1, keepdim=True))[has_any.any(dim=-1)].mean(dim=0)
# Try: the queries are the last axis but one of `weights`, the keys the last.
# queries and keys are exchanged in `weights`.
#     (weights * after => (weights.mT * after
# one number for all heads came back: the mean over the heads as well.
#     .mean(dim=-1) => .mean()

# %% tags=["check"]
check("13.1", induction_score)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# Build a table `(B, L, L)` that is True where the key counts for the query. Begin with an easier one, in which the key holds the same token as the query and comes earlier.
# </details>
# <details><summary>Hint 2</summary>
#
# From "the key holds the earlier copy" to "the key comes right after it" is one step to the right for every row of the table. What moves in on the left, and what falls out on the right?
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# 1. compare all tokens with all tokens of the same string, keep what lies below the diagonal
# 2. move every row one place to the right, and fill in False
# 3. add up the weights where the table is True, for each head and query
# 4. of these sums keep the queries whose row has a True somewhere, and average over them and the batch
# </details>

# %% [markdown]
# ### 13.2 · Find the bug
# 3 points · difficulty 3 of 5 · 10 minutes · core
#
# This detector looks for heads that look at the letter before. The strings of a batch have different lengths and are padded on the right. `lengths` says how many letters each has, and what comes after them mustn't count. For the stripe that we look for it says 1.00, as it should. For a head that only ever looks at itself, it says something else on short strings than on long ones:


# %%
def previous_score_broken(weights, lengths):
    query = torch.arange(weights.shape[-1])  # (L,)
    before = (query - 1).clamp(min=0)  # there is no position -1
    on_target = weights[:, :, query, before]  # (B, H, L)
    real = query < lengths[:, None]  # (B, L), not padding
    on_target = on_target * real[:, None]
    return on_target.sum(dim=(0, 2)) / real.sum()  # (H,)


for letters in (2, 4, 32):
    itself = torch.eye(letters)
    stripe = itself.roll(-1, dims=1)  # one to the left, (L, L)
    stripe[0] = itself[0]
    two_heads = torch.stack([stripe, itself])[None]  # (B=1, H=2, L, L)
    scores = previous_score_broken(two_heads, torch.tensor([letters])).tolist()
    print(f"{letters:2} letters: stripe {scores[0]:.2f}, itself {scores[1]:.2f}")

# %% [markdown]
# Write `previous_score(weights, lengths)`, repaired: for each head the mean weight on the position before, over the real letters that have one, all strings together and each letter counting once. A string of one letter has none. At least one string has two letters or more. Whatever you change, the stripe keeps its 1.00, and the head that looks at itself gets 0 at every length.
#
# | argument | shape |
# |---|---|
# | `weights` | `(B, H, L, L)`, of a causal head; rows of padding hold numbers too |
# | `lengths` | `(B,)`, whole numbers from 1 to `L` |
# | returns | `(H,)` |
#
# `course_utils.circuits` has no lengths, and its masks and `mean_weight` are off limits.

# %% tags=["exercise"]
def previous_score(weights, lengths):
    # BEGIN SOLUTION
    query = torch.arange(1, weights.shape[-1])  # (L - 1,), all but the first
    on_target = weights[:, :, query, query - 1]  # (B, H, L - 1)
    real = query < lengths[:, None]  # (B, L - 1), not padding
    on_target = on_target * real[:, None]
    return on_target.sum(dim=(0, 2)) / real.sum()  # (H,)
    # END SOLUTION


# %% [markdown] tags=["mistakes"]
# Try: which position does `before` name for the first letter? How much weight does every causal head put there?
# the bug is still there: the first letter counts, and its weight on itself is taken for weight on the letter before.
#     torch.arange(1, weights.shape[-1]) => torch.arange(weights.shape[-1])
#     query - 1] => (query - 1).clamp(min=0)]
# the first letter is left out of the number of letters, but its weight on itself is still in the sum.
#     torch.arange(1, weights.shape[-1]) => torch.arange(weights.shape[-1])
#     query - 1] => (query - 1).clamp(min=0)]
#     real.sum() => (lengths - 1).sum()
# Try: leave the first letter out of the sum and out of the number that it's divided by.
# the first letter adds nothing to the sum any more, but it still counts in the number: a perfect stripe gets less than 1.
#     real.sum() => lengths.sum()
# for the whole batch one letter is taken off the number, not one for each string.
#     real.sum() => (lengths.sum() - 1)
# the padding counts, and so does the first letter in the number: the sum is divided by all places of all strings.
#     on_target * real[:, None] => on_target
#     real.sum() => (lengths.numel() * weights.shape[-1])
# a string of one letter counts as one letter; none of its letters has one before it.
#     real.sum() => real.sum(dim=1).clamp(min=1).sum()
# the broken score is corrected as if each string had L letters, but one with padding has fewer.
#     on_target.sum(dim=(0, 2)) / real.sum() => ((on_target.sum(dim=(0, 2)) + len(lengths)) / lengths.sum() - 1 / weights.shape[-1]) / (1 - 1 / weights.shape[-1])
# the second letter is left out along with the first.
#     torch.arange(1, weights.shape[-1]) => torch.arange(2, weights.shape[-1])
# Try: compare each position with the length of its own string. The last real letter is at position length - 1.
# the last real letter of each string is taken for padding.
#     query < lengths[:, None] => query < lengths[:, None] - 1
# the first position of the padding counts as well.
#     query < lengths[:, None] => query <= lengths[:, None]
# the padding counts.
#     query < lengths[:, None] => query < 10**9 * lengths[:, None]
# the padding is left out of the sum but counted in the number.
#     / real.sum() => / real.numel()
# Try: add up over all strings, then divide once.
# each string's sum is divided by its length, the first letter counted, and then the mean over the strings is taken.
#     on_target.sum(dim=(0, 2)) / real.sum() => (on_target.sum(dim=2) / lengths[:, None]).mean(dim=0)
# each string's own mean is taken first, and then the mean over the strings that have two letters or more.
#     on_target.sum(dim=(0, 2)) / real.sum() => (on_target.sum(dim=2) / real.sum(dim=1, keepdim=True))[lengths > 1].mean(dim=0)
# each string's own mean is taken first, and then the mean over the strings, those of one letter as 0.
#     on_target.sum(dim=(0, 2)) / real.sum() => (on_target.sum(dim=2) / real.sum(dim=1, keepdim=True).clamp(min=1)).mean(dim=0)
# Try: the query comes before the key: weights[..., query, key].
# query and key are exchanged: it reads how much each letter looks at the next.
#     query, query - 1] => query - 1, query]

# %% tags=["check"]
check("13.2", previous_score)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# With two letters the head that looks at itself gets 0.5, with four 0.25, and with 32 it gets 0.03. How many of the queries are responsible for that?
# </details>
# <details><summary>Hint 2</summary>
#
# `clamp` keeps the first letter's index from being -1. But the first letter has no position before it at all. What is it looking at there, and should it be counted?
# </details>

# %% [markdown] tags=["solution"]
# **The cause.** `clamp` turns the first letter's missing position into position 0, which is the first letter itself. A causal head can look nowhere else from there, so every head gets a full point for free, whatever it does. For a perfect stripe a free 1 among many ones changes nothing, and that's why the bug is so hard to see: **test a detector on what it must refuse**, not only on what it should find. Without `clamp` the index is -1, the last position, and the first letter adds 0 in place of 1. Then the stripe gets 0.97 at 32 letters, which looks like a head that is nearly perfect. The first letter has to go from the sum *and* from the number.

# %% [markdown]
# ### 13.3 · A head as two matrices, with grouped heads
# 3 points · difficulty 3 of 5 · 12 minutes · more
#
# Write `head_circuits(q, k, v, o, head, num_heads, num_kv_heads)`, which gives the QK and the OV matrix of one query head.
#
# The four weights are those of an attention's linear layers, so a **row** belongs to an output feature. Query head `h` has the rows from `h * d_head` on in `q`, and the same *columns* in `o`. As in lesson 07, consecutive query heads share a key/value head. With 6 query heads and 2 key/value heads, the heads 0, 1 and 2 use the first, the heads 3, 4 and 5 the second. There are no biases and no rotary positions.
#
# | argument | shape |
# |---|---|
# | `q` | `(num_heads * d_head, d_model)` |
# | `k`, `v` | `(num_kv_heads * d_head, d_model)` each |
# | `o` | `(d_model, num_heads * d_head)` |
# | `head`, `num_heads`, `num_kv_heads` | whole numbers |
# | returns | QK and OV, two matrices `(d_model, d_model)` |
#
# For two vectors of the stream, `x_q @ QK @ x_k` must be the head's score, as softmax gets it, divided by $\sqrt{d_{head}}$. And `OV @ x_k` must be what the head adds to the stream when it looks at `x_k` with all its weight. Don't take `d_head` to be `d_model / num_heads`. Often it is, and here it needn't be. `qk_circuit` and `ov_circuit` are off limits.
#
# Example, with two query heads of size 4 and one key/value head:

# %%
small_q, small_o = torch.zeros(8, 2), torch.zeros(2, 8)
small_k, small_v = torch.zeros(4, 2), torch.zeros(4, 2)
small_q[4, 0], small_q[5, 1] = 2.0, 1.0
small_k[0, 1], small_k[1, 0] = 1.0, 3.0
small_v[1, 1], small_v[2, 0] = 1.0, 2.0
small_o[0, 5], small_o[1, 6] = 1.0, 4.0

# %% [markdown]
# `head_circuits(small_q, small_k, small_v, small_o, 1, 2, 1)` is `[[0, 1], [1.5, 0]]` and `[[0, 1], [8, 0]]`. For head 0 both matrices are all zeros.

# %% tags=["exercise"]
def head_circuits(q, k, v, o, head, num_heads, num_kv_heads):
    # BEGIN SOLUTION
    d_head = len(q) // num_heads
    shared = head // (num_heads // num_kv_heads)  # the key/value head it uses
    own = slice(head * d_head, (head + 1) * d_head)
    theirs = slice(shared * d_head, (shared + 1) * d_head)
    qk = q[own].T @ k[theirs] / math.sqrt(d_head)  # (d_model, d_model)
    ov = o[:, own] @ v[theirs]  # (d_model, d_model)
    return qk, ov
    # END SOLUTION


# %% [markdown] tags=["mistakes"]
# Try: the heads of a group are neighbors. With 6 and 2 heads, which key/value head does query head 4 use?
# the key/value heads are dealt out in turn, head % num_kv_heads; here neighbors share one.
#     head // (num_heads // num_kv_heads) => head % num_kv_heads
# the query head's number divided by the number of key/value heads; it must be by the size of a group.
#     head // (num_heads // num_kv_heads) => head // num_kv_heads
# every query head uses the first key/value head.
#     head // (num_heads // num_kv_heads) => 0
# Try: divide the score by the root of d_head, once.
# QK isn't divided by the root of d_head.
#     / math.sqrt(d_head) =>
# QK is divided by d_head itself, not by its root.
#     / math.sqrt(d_head) => / d_head
# QK is divided by the root of d_model.
#     math.sqrt(d_head) => math.sqrt(q.shape[1])
# Try: x_q has to meet W_q, and x_k has to meet W_k. On which side of QK do they come in?
# QK is transposed: query and key are exchanged.
#     q[own].T @ k[theirs] => k[theirs].T @ q[own]
# Try: OV @ x reads from the right: first v, then o.
# OV is transposed.
#     o[:, own] @ v[theirs] => (o[:, own] @ v[theirs]).T
# Try: d_head is the number of rows of q divided by the number of heads.
# d_head is taken to be d_model / num_heads.
#     len(q) // num_heads => q.shape[1] // num_heads
# Try: o belongs to the query heads: each has its own columns there.
# `o` is cut by the key/value head's number: its columns belong to query heads.
#     o[:, own] => o[:, theirs]
# `o` is cut by rows, not by columns.
#     o[:, own] => o.reshape(-1, q.shape[1])[own].T
# Try: the features of a head are d_head neighboring rows, from head * d_head on.
# the features of a head are taken as every num_heads-th one, not as neighbors.
#     slice(head * d_head, (head + 1) * d_head) => slice(head, None, num_heads)
#     slice(shared * d_head, (shared + 1) * d_head) => slice(shared, None, num_kv_heads)

# %% tags=["check"]
check("13.3", head_circuits)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# Write the score for one head first, as $(W_q x_q) \cdot (W_k x_k)$, with only that head's rows. Then bring it into the form $x_q^\top (\dots)\, x_k$.
# </details>
# <details><summary>Hint 2</summary>
#
# You need two slices, one for what belongs to the query head and one for what it shares. Which of them cuts `o`?
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# 1. `d_head` from the rows of `q`
# 2. the number of the shared head, from the size of a group
# 3. the query head's rows of `q` turned, times the shared head's rows of `k`, divided by the root
# 4. the query head's columns of `o`, times the shared head's rows of `v`
# </details>

# %% [markdown]
# ### 13.4 · What two features can copy
# 1 point · difficulty 3 of 5 · 4 minutes · more
#
# A head has `d_head = 2`, so its OV matrix has a rank of at most 2, and so has its table of letters (row: the letter that it looks at, column: what that adds to each letter's logit). We say that it *copies* a letter if looking at that letter raises its own logit more than any other letter's. You may choose embeddings, W_o, W_v and the output matrix as you like. How many of the 26 letters can such a head copy?
#
# - **a.** Two at most: a table of rank 2 has two rows that differ, and the others are mixtures of them.
# - **b.** Three at most: two features tell apart three directions.
# - **c.** All 26.
# - **d.** None for certain: copying needs the identity, and that has a rank of 26.

# %% tags=["quiz"]
quiz_13_4 = ""  # your letter between the quotes
# BEGIN SOLUTION
quiz_13_4 = "c"
# END SOLUTION

# %% [markdown] tags=["solution"]
# Why each option is right or wrong:
#
# - **a.** mixtures of two rows can be 26 different rows, each with its maximum elsewhere. The rank limits the table, not the number of different rows.
# - **b.** on a line that would be nearly right, since only the two ends can win. In a plane there is room for as many directions as you like.
# - **c.** put the 26 letters on a circle, as vectors of length 1. The product of two is the cosine of the angle between them, which is largest for a letter with itself. The margin is small (0.029), but a large W_o makes it as large as you like.
# - **d.** the identity would copy, but a table needs only the largest number of each row in the right place.

# %% tags=["solution"]
angle = torch.arange(26) * 2 * math.pi / 26
on_a_circle = torch.stack([angle.cos(), angle.sin()], dim=1)  # (26, 2)
table = on_a_circle @ on_a_circle.T  # (26, 26)
print("rank", torch.linalg.matrix_rank(table).item(), end=", ")
print("copied", int((table.argmax(dim=1) == torch.arange(26)).sum()), "of 26", end=", ")
top_two = table.topk(2, dim=1).values  # (26, 2)
print(f"smallest margin {(top_two[:, 0] - top_two[:, 1]).min():.3f}")

# %% tags=["check"]
check("13.4", quiz_13_4)

# %% [markdown]
# ### 13.5 · Shares of a logit
# 3 points · difficulty 3 of 5 · 12 minutes · more
#
# In a pre-norm model the stream before the last norm is a sum of parts, such as the embedding and what each head added. The last norm is an RMSNorm, without a bias, which turns a stream $x$ into
#
# $$\frac{x}{\sqrt{\operatorname{mean}(x^2) + \varepsilon}} \odot w ,$$
#
# and a token's logit is the dot product of that with the token's row of the output matrix. Write `logit_shares(parts, norm_weight, eps, row)`, which divides this logit among the parts. Each share must be proportional to its part, by the same factors for all parts, and **the shares add up to the logit exactly**.
#
# | argument | shape |
# |---|---|
# | `parts` | a dict, name to `(B, L, d_model)`; leave it as it is |
# | `norm_weight` | `(d_model,)`, the $w$ above |
# | `eps` | a number, the $\varepsilon$ above |
# | `row` | `(d_model,)`, the token's row of the output matrix |
# | returns | a dict with the same names, name to `(B, L)` |
#
# Example: the parts `{"embedding": [[[3., 0.]]], "head": [[[0., 4.]]]}` with `norm_weight = [1., 2.]`, `eps = 0` and `row = [1., 1.]` have the shares 0.849 and 2.263. Together that's 3.111, the logit of the stream `[3., 4.]`. (Shares of 1.414 and 2.828 would add up to more than the logit.) The course's `contributions` is off limits.

# %% tags=["exercise"]
def logit_shares(parts, norm_weight, eps, row):
    # BEGIN SOLUTION
    stream = sum(parts.values())  # (B, L, d_model)
    size = torch.sqrt(stream.pow(2).mean(dim=-1) + eps)  # (B, L)
    return {name: (part * norm_weight) @ row / size for name, part in parts.items()}
    # END SOLUTION


# %% [markdown] tags=["mistakes"]
# Try: the norm divides the whole stream by one number at each position. Divide every part by that same number.
# each part is divided by its own size, not by that of the whole stream: the shares don't add up to the logit.
#     / size for => / torch.sqrt(part.pow(2).mean(dim=-1) + eps) for
# nothing is divided by the stream's size: the norm is left out.
#     / size for => for
# the stream's size is taken once for all positions, not at each position.
#     stream.pow(2).mean(dim=-1) => stream.pow(2).mean()
# the stream's size is taken once for each string, over all its positions.
#     stream.pow(2).mean(dim=-1) => stream.pow(2).mean(dim=(1, 2))[:, None]
# the size is the length of the stream: the squares are added up, not averaged.
#     stream.pow(2).mean(dim=-1) => stream.pow(2).sum(dim=-1)
# the sizes of the parts are added up, which isn't the size of their sum.
#     torch.sqrt(stream.pow(2).mean(dim=-1) + eps) => sum(torch.sqrt(part.pow(2).mean(dim=-1) + eps) for part in parts.values())
# the squares of all parts are added up, but squares of a sum hold the products of the parts as well.
#     stream.pow(2).mean(dim=-1) => sum(part.pow(2) for part in parts.values()).mean(dim=-1)
# Try: follow the formula: the mean of the squares, plus eps, then the root.
# eps is left out.
#     + eps) => )
# eps is added after the root, not before it.
#     .mean(dim=-1) + eps) => .mean(dim=-1)) + eps
# the stream is divided by the mean of its squares: the root is missing.
#     torch.sqrt(stream.pow(2).mean(dim=-1) + eps) => stream.pow(2).mean(dim=-1) + eps
# the mean is taken off first, as LayerNorm does; RMSNorm does not.
#     stream.pow(2) => (stream - stream.mean(dim=-1, keepdim=True)).pow(2)
# Try: the norm's weight multiplies each feature before the row is met.
# the norm's weight is left out.
#     (part * norm_weight) @ row => part @ row
# the norm's weight multiplies the parts before the size is taken: the size is that of another stream.
#     stream.pow(2) => (stream * norm_weight).pow(2)
# Try: a share must be proportional to its part, so the size has to stay that of the whole stream, whichever part you look at.
# a share is what the logit loses without the part, with the norm computed anew: the shares don't add up.
#     (part * norm_weight) @ row / size for => (stream * norm_weight) @ row / size - ((stream - part) * norm_weight) @ row / torch.sqrt((stream - part).pow(2).mean(dim=-1) + eps) for
# a share is what the logit grows by when the part is added to those before it: the shares add up, but they depend on the order.
#     (part * norm_weight) @ row / size for => (lambda logit, before: logit(before + part) - logit(before))(lambda x: ((x * norm_weight) @ row / torch.sqrt(x.pow(2).mean(dim=-1) + eps)).nan_to_num(), sum(list(parts.values())[: list(parts).index(name)], torch.zeros_like(part))) for
# each part goes through its own norm, and the shares are then scaled to add up to the logit.
#     (part * norm_weight) @ row / size for => (part * norm_weight) @ row / torch.sqrt(part.pow(2).mean(dim=-1) + eps) * ((stream * norm_weight) @ row / size) / sum((p * norm_weight) @ row / torch.sqrt(p.pow(2).mean(dim=-1) + eps) for p in parts.values()) for
# the logit is divided by how long the parts are, whichever way they point.
#     (part * norm_weight) @ row / size for => (stream * norm_weight) @ row / size * part.norm(dim=-1) / sum(p.norm(dim=-1) for p in parts.values()) for
# Try: a share is what the part itself brings to the logit, in the logit's own units.
# the shares are divided by the logit: they add up to 1, not to the logit.
#     return {name: (part * norm_weight) @ row / size => return {name: (part * norm_weight) @ row / ((stream * norm_weight) @ row)

# %% tags=["check"]
check("13.5", logit_shares)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# Everything in the formula but one number is linear in $x$. Which number is that, and from what must it be computed so that the shares add up?
# </details>
# <details><summary>Hint 2: pseudocode</summary>
#
# 1. the sum of all parts
# 2. its size at each position: mean of the squares, plus eps, root
# 3. for each part: times the norm's weight, dot product with the row, divided by that size
# </details>

# %% [markdown]
# ### 13.6 · Hide one head's note from the keys
# 3 points · difficulty 3 of 5 · 12 minutes · more
#
# An earlier head has written something into the stream. Write `attention_with_cut_path(x, written, norm_weight, eps, w_q, w_k)`, the weights of a later head **whose keys don't see it**, while its queries do. What reads the stream reads it through an RMSNorm, which is the formula of 13.5. For the keys, take the norm of the stream in which the note had never been written.
#
# | argument | shape |
# |---|---|
# | `x` | `(B, L, d_model)`, the stream, with everything in it |
# | `written` | `(B, L, d_model)`, the part of it that the earlier head wrote |
# | `norm_weight`, `eps` | `(d_model,)` and a number, of the norm |
# | `w_q`, `w_k` | `(d_head, d_model)` each, this head's rows |
# | returns | causal weights `(B, L, L)`, softmax of the scores divided by $\sqrt{d_{head}}$ |
#
# Example:

# %%
stream = torch.tensor([[[3.0, 0.0], [1.0, 2.0], [0.0, 4.0]]])  # (B=1, L=3, d_model=2)
note = torch.tensor([[[0.0, 0.0], [0.0, 2.0], [-3.0, 1.0]]])
head_q, head_k = torch.zeros(4, 2), torch.zeros(4, 2)
head_q[0, 1] = head_q[1, 0] = head_k[0, 0] = head_k[1, 1] = 1.0

# %% [markdown]
# With `norm_weight = [1., 2.]` and `eps = 0` the last row of the weights is `[0.391, 0.391, 0.218]`. Positions 0 and 1 get the same, because without the note they point in the same direction and the norm takes out how long they are. With nothing hidden the row is `[0.682, 0.226, 0.092]`. `cut_path` is off limits; `causal_mask` isn't.

# %% tags=["exercise"]
def attention_with_cut_path(x, written, norm_weight, eps, w_q, w_k):
    # BEGIN SOLUTION
    def norm(stream):
        size = torch.sqrt(stream.pow(2).mean(dim=-1, keepdim=True) + eps)
        return stream / size * norm_weight  # (B, L, d_model)

    queries = norm(x) @ w_q.T  # (B, L, d_head)
    keys = norm(x - written) @ w_k.T  # (B, L, d_head)
    scores = queries @ keys.transpose(1, 2) / math.sqrt(len(w_q))  # (B, L, L)
    length = x.shape[1]
    later = torch.ones(length, length, dtype=torch.bool).triu(diagonal=1)
    return scores.masked_fill(later, -math.inf).softmax(dim=-1)
    # END SOLUTION


# %% [markdown] tags=["mistakes"]
# Try: the keys read the norm of x - written; the queries read the norm of x.
# nothing is hidden: the keys see the note.
#     norm(x - written) @ w_k => norm(x) @ w_k
# the note is hidden from the queries, and the keys see it.
#     norm(x) @ w_q => norm(x - written) @ w_q
#     norm(x - written) @ w_k => norm(x) @ w_k
# the note is hidden from queries and keys.
#     norm(x) @ w_q => norm(x - written) @ w_q
# the keys see the note alone, and nothing else of the stream.
#     norm(x - written) => norm(written)
# the note is added once more, not taken out.
#     x - written => x + written
# x is taken for the stream without the note, and the note is added for the queries.
#     norm(x) @ w_q => norm(x + written) @ w_q
#     norm(x - written) @ w_k => norm(x) @ w_k
# Try: take the note out first, and then let the norm measure what is left.
# the norm of the note is taken off the norm of the stream: the norm of a difference is something else.
#     norm(x - written) => (norm(x) - norm(written))
# the norm of the note is taken off the norm of the stream, and nothing where there is no note: a norm isn't linear.
#     norm(x - written) => (norm(x) - norm(written).nan_to_num())
# the note is taken off the stream after the norm, as it was written.
#     norm(x - written) => (norm(x) - written)
# the note, times the norm's weight, is taken off the stream after the norm.
#     norm(x - written) => (norm(x) - written * norm_weight)
# the keys are divided by the size of the whole stream: the norm still sees the note.
#     norm(x - written) @ w_k => ((x - written) / torch.sqrt(x.pow(2).mean(dim=-1, keepdim=True) + eps) * norm_weight) @ w_k
# the keys aren't normalized.
#     norm(x - written) => ((x - written) * norm_weight)
# Try: follow the formula of 13.5, for queries and for keys.
# no norm at all, neither for queries nor for keys.
#     stream / size * norm_weight => stream
# the norm's weight is left out.
#     stream / size * norm_weight => stream / size
# eps is added after the root, not before it.
#     .mean(dim=-1, keepdim=True) + eps) => .mean(dim=-1, keepdim=True)) + eps
# the size is taken once for the whole string, not at each position.
#     .mean(dim=-1, keepdim=True) => .mean(dim=(1, 2), keepdim=True)
# the mean is taken off first, as LayerNorm does; RMSNorm does not.
#     size = torch.sqrt( => stream = stream - stream.mean(dim=-1, keepdim=True)\n        size = torch.sqrt(
# Try: a position sees itself and what came before it.
# the weights aren't causal: positions see what comes after them.
#     scores.masked_fill(later, -math.inf).softmax => scores.softmax
# a position doesn't see itself, so the first row has nothing to look at.
#     diagonal=1 => diagonal=0
# the mask is set after the softmax: the rows no longer sum to 1.
#     scores.masked_fill(later, -math.inf).softmax(dim=-1) => scores.softmax(dim=-1).masked_fill(later, 0.0)
# Try: the scores are divided by the root of d_head, the number of rows of w_q.
# the scores aren't divided by the root of d_head.
#     / math.sqrt(len(w_q)) =>
# the scores are divided by the root of d_model.
#     math.sqrt(len(w_q)) => math.sqrt(x.shape[-1])

# %% tags=["check"]
check("13.6", attention_with_cut_path)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# It's the attention that you know, with one change. Queries and keys don't read the same thing any more.
# </details>
# <details><summary>Hint 2: pseudocode</summary>
#
# 1. write the norm as a little function, since you need it twice
# 2. queries from the norm of the stream, keys from the norm of the stream without the note
# 3. products of all queries with all keys, divided by the root of `d_head`
# 4. hide later keys, softmax
# </details>

# %% [markdown]
# ### 13.7 · An induction head, made by hand
# 5 points · difficulty 4 of 5 · 25 minutes · more
#
# No training this time. You write down the matrices of a machine with two layers of one head each, and it has to do what a trained model does. And it has to keep quiet where there is nothing to say.
#
# Its stream has `3 * V` features in three blocks, **letter**, **note** and **answer**, of `V` features each. At first the letter's block holds the token as a one-hot vector, and the other two are empty. Token 0 is a **start sign**, with which every string begins, and which comes nowhere else. `run_machine` is all there is, without norms, networks or positions:


# %%
def run_machine(matrices, ids):
    """The answer's block after both heads, (B, L, V), and layer 2's weights."""
    size = len(matrices["ov_1"])  # 3 * V
    x = F.one_hot(ids, size).float()  # (B, L, 3 * V)
    before = F.pad(x, (0, 0, 1, 0))[:, :-1]  # layer 1: all weight on the one before
    x = x + before @ matrices["ov_1"].T  # (the start sign has none before it)
    scores = x @ matrices["qk_2"] @ x.transpose(1, 2)  # (B, L, L), query times key
    hidden = ~causal_mask(ids.shape[1])  # (1, 1, L, L)
    weights = scores.masked_fill(hidden[0], -math.inf).softmax(dim=-1)
    x = x + weights @ x @ matrices["ov_2"].T
    return x[..., 2 * size // 3 :], weights


# %% [markdown]
# Write `induction_by_hand(V)`, which returns the matrices `"ov_1"`, `"qk_2"` and `"ov_2"` of such a machine. As in the lesson, `OV @ x` is what a head hands on from a position `x` that it looks at, and `x_q @ QK @ x_k` is a score. After both heads, the answer's block must hold, up to 0.01 in each feature,
#
# - at a position whose letter came **before**: a one-hot vector of the letter that followed it there. If it came several times and different letters followed, it must hold the mean of their one-hot vectors, each earlier copy counting alike;
# - at a position whose letter comes for the **first** time, and at the start sign: zeros.
#
# | argument | shape |
# |---|---|
# | `V` | number of tokens with the start sign, from 3 to 27 |
# | returns | a dict of three float32 matrices, `(3 * V, 3 * V)` each, `"ov_1"`, `"qk_2"`, `"ov_2"` |
#
# The check runs your machine on strings of up to 100 tokens that you haven't seen, and looks at nothing but the answer's block. So any matrices that do it are right. Example: for `V = 4` and the tokens `[0, 1, 2, 3, 1, 2, 2, 2]` the answers are nothing four times, then 2 (after 1 came 2), 3 (after 2 came 3), half 3 and half 2, and at last a third 3 and two thirds 2. If a letter comes twice in a row, the copy's next letter is the query's own position, and that's fine.

# %% tags=["exercise"]
def induction_by_hand(V):
    # BEGIN SOLUTION
    letter, note, answer = slice(0, V), slice(V, 2 * V), slice(2 * V, 3 * V)
    ov_1, qk_2, ov_2 = (torch.zeros(3 * V, 3 * V) for _ in range(3))
    ov_1[note, letter] = torch.eye(V)  # the letter before goes into the note
    qk_2[letter, note] = 40 * torch.eye(V)  # a letter looks for itself in the notes
    qk_2[letter, 0] = 20.0  # and if it isn't there, it looks at the start sign
    ov_2[answer, letter] = torch.eye(V)  # what it looks at is the answer,
    ov_2[answer, 0] = 0.0  # but the start sign says nothing
    return {"ov_1": ov_1, "qk_2": qk_2, "ov_2": ov_2}
    # END SOLUTION


# %% tags=["solution"]
example = torch.tensor([[0, 1, 2, 3, 1, 2, 2, 2]])
answers, weights = run_machine(induction_by_hand(4), example)
print(answers[0].round(decimals=2))
print(weights[0].round(decimals=2))

# %% [markdown] tags=["solution"]
# The second table shows the two jobs of layer 2. From a letter that comes for the first time all weight goes to the start sign, whose value is zero. A head that has nothing to say must put its weight *somewhere*, since softmax gives 1 away whatever happens, and here it parks it. In trained language models the first token often serves as such an **attention sink** (Xiao et al., 2023). The numbers 40 and 20 matter only in that a match must beat the sink clearly, and the sink must beat all the keys that don't match, 98 of them at most. That needs $e^{20}$ against 98, which is plenty.

# %% [markdown] tags=["mistakes"]
# Try: a softmax has to give its weight away. Where could a letter look that has no copy, so that nothing is handed on?
# a letter that comes for the first time has nowhere to park: it looks at all keys alike, and answers with a mix of them.
#     qk_2[letter, 0] = 20.0 => pass
#     ov_2[answer, 0] = 0.0 => pass
# a letter without a copy looks at the start sign, but then says so: the start sign has a value.
#     ov_2[answer, 0] = 0.0 => pass
# the start sign draws as much as a match does: half of the weight goes to it where a copy is there.
#     = 20.0 => = 40.0
# Try: how much weight is left for one key with the score s among 100 others with the score 0?
# the scores are too small: among many keys a match doesn't get 0.99 of the weight.
#     40 * torch.eye(V) => 4 * torch.eye(V)
#     = 20.0 => = 2.0
# a match scores no more than 1, which softmax hardly notices.
#     40 * torch.eye(V) => torch.eye(V)
#     = 20.0 => = 0.5
# plain identities between the blocks: a match scores 1, which softmax hardly notices, and nothing keeps the machine quiet.
#     qk_2[letter, 0] = 20.0 => pass
#     40 * torch.eye(V) => torch.eye(V)
#     ov_2[answer, 0] = 0.0 => pass
# Try: QK[i, j] joins feature i of the query with feature j of the key. What does the query know, and what does the key?
# QK is turned around: the note of the query looks for the letter of the key.
#     qk_2[letter, note] = => qk_2[note, letter] =
# the letter of the query looks for the same letter in the keys, not for their notes: it finds itself and its copies.
#     qk_2[letter, note] = => qk_2[letter, letter] =
# the note of the query looks for the same note in the keys.
#     qk_2[letter, note] = => qk_2[note, note] =
# the place to park is turned around: the start sign, as a query, looks at the letters, and no letter looks at the start sign.
#     qk_2[letter, 0] = 20.0 => qk_2[0, letter] = 20.0
# Try: OV[i, j] writes feature j of the position looked at into feature i.
# layer 1 writes its note into the answer's block.
#     ov_1[note, letter] => ov_1[answer, letter]
# the second head hands on the note of the key, the letter before it: that's the query's own letter.
#     ov_2[answer, letter] => ov_2[answer, note]
#     ov_2[answer, 0] => ov_2[answer, V]
# the second head hands on the note of the key as well as its letter: the query's own letter is answered too.
#     ov_2[answer, letter] = torch.eye(V) => ov_2[answer, letter] = ov_2[answer, note] = torch.eye(V)
# Try: look at the weights that run_machine returns. If a letter with a copy looks at the right key, read "ov_2" again; if it looks at the start sign, read "ov_1" and "qk_2".
# nothing is ever answered: either no match is found, or the start sign beats it, or what is handed on comes from an empty block.
#     ov_1[note, letter] => ov_1[letter, note]
# Try: the answer is the one-hot vector itself, up to 0.01.
# the answers are twice as large as one-hot vectors.
#     ov_2[answer, letter] = torch.eye(V) => ov_2[answer, letter] = 2 * torch.eye(V)

# %% tags=["check"]
check("13.7", induction_by_hand)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# Draw the stream at the positions of `[0, 1, 2, 3, 1]` after layer 1, and write down what each of the three blocks holds. The last position must find the 2. In what do its own blocks and those of the 2 agree?
# </details>
# <details><summary>Hint 2</summary>
#
# A matrix between two blocks is a square of `V` by `V` numbers. If feature `n` of one block belongs to feature `n` of the other, it's a multiple of the identity. Softmax turns a difference of `s` between two scores into a factor of $e^s$ between the weights.
# </details>
# <details><summary>Hint 3</summary>
#
# A letter that has no copy has to look at something that says nothing. Every string has such a place, if you make it one. It must draw more than a key that doesn't match, and less than one that does.
# </details>
# <details><summary>Hint 4: pseudocode</summary>
#
# 1. `"ov_1"` from the letter's block to the note's block, identity
# 2. `"qk_2"` from the query's letter to the key's note, a large multiple of the identity
# 3. `"qk_2"` once more, for every letter of the query and a key that is the start sign, half of that
# 4. `"ov_2"` from the letter's block to the answer's block, identity, but for the start sign
# </details>

# %% [markdown]
# ### 13.8 · Experiment: how many lengths does it take?
# 4 points · difficulty 3 of 5 · 25 minutes · more
#
# The lesson trains on strings of 4 to 16 letters, and a model that has seen nothing but strings of 16 finds a trick, always looking back by the same distance. How many different lengths must it see before it learns the rule instead? Take three kinds of training:
#
# | name | lengths of the strings |
# |---|---|
# | `"only 16"` | 16 |
# | `"15 and 16"` | 15 or 16, drawn anew in each update |
# | `"12 to 16"` | 12, 13, 14, 15 or 16 |
#
# Judge all three on strings of 16, and on strings of **10**, which none of them has ever seen.

# %%
widgets.predict(
    "13.E",
    "After 400 updates, who can continue strings of 10 letters (below 1 bit)?",
    choices=["nobody", '"12 to 16" alone', '"15 and 16" as well', "all three"],
)

# %% [markdown]
# Train each kind from the seeds 0 and 1 for 400 updates. It takes one to two minutes. One model is made by `seed_everything(seed)`, then `model = induction.small_model()`, then `induction.train(model, seed, steps=400, lengths=(15, 16), after=look)`. It calls your `look(step)` after every update with its number, 1, 2, 3 and so on, and there you can measure with `induction.second_half_bits(model, judged(letters))`.


# %%
def judged(letters):
    """100 strings of so many letters, each written twice: (100, 2 * letters)."""
    return induction.twice(100, letters, torch.Generator().manual_seed(9))


# %% [markdown]
# Put into `length_results`:
#
# | entry | what |
# |---|---|
# | `(name, letters, updates)` | a list of two numbers, one for each seed: the bits on `judged(letters)` after so many updates. For each of the three names, for 16 and 10 letters, after 100, 200 and 400 updates. That makes 18 lists |
# | `("score", name)` | a list of two, one for each seed: after 400 updates, the largest score that your `induction_score` gives to any of the eight heads on `judged(16)` |
# | `"first"` | the name whose model needs the fewest bits on 16 letters after 100 updates (by the mean of the two seeds, as in everything below) |
# | `"rule"` | the list of all names that need less than 1 bit on 10 letters after 400 updates |
# | `"fooled"` | the list of all names that have a score above 0.5 and yet need more than 1 bit on 10 letters after 400 updates |
# | `"improving"` | the list of all names that need at least 1 bit less on 10 letters after 400 updates than after 200 |

# %% tags=["exercise"]
length_results = {}
# BEGIN SOLUTION
KINDS = {"only 16": (16, 16), "15 and 16": (15, 16), "12 to 16": (12, 16)}


def look(step):
    if step in (100, 200, 400):
        for letters in (16, 10):
            bits = induction.second_half_bits(model, judged(letters))
            length_results.setdefault((name, letters, step), []).append(bits)


for name, lengths in KINDS.items():
    for seed in (0, 1):
        seed_everything(seed)
        model = induction.small_model()
        induction.train(model, seed, steps=400, lengths=lengths, after=look)
        with record_attention(model) as seen, torch.no_grad():
            model(judged(16))
        scores = [induction_score(w, judged(16)) for w in seen.matching("layers.*")]
        best = torch.cat(scores).max().item()
        length_results.setdefault(("score", name), []).append(best)

means = {key: sum(values) / 2 for key, values in length_results.items()}
length_results["first"] = min(KINDS, key=lambda name: means[name, 16, 100])
length_results["rule"] = [name for name in KINDS if means[name, 10, 400] < 1]
length_results["fooled"] = [
    name for name in KINDS if means["score", name] > 0.5 and means[name, 10, 400] > 1
]
length_results["improving"] = [
    name for name in KINDS if means[name, 10, 200] - means[name, 10, 400] >= 1
]
# END SOLUTION

# %% tags=["check"]
check("13.8", length_results)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# `look` runs after every update. Let it do nothing unless the number is one of the three, and let it append to the list of that key. It finds the model that is being trained under the name by which your loop calls it.
# </details>
# <details><summary>Hint 2</summary>
#
# For the score, run the trained model once on `judged(16)` inside `record_attention`. `seen.matching("layers.*")` is a list of two tensors of weights, one for each layer.
# </details>

# %% tags=["solution", "nbval-ignore-output"]
print("bits, mean of two seeds, after 100, 200 and 400 updates, and the score")
for name in KINDS:
    for letters in (16, 10):
        row = [f"{means[name, letters, step]:6.2f}" for step in (100, 200, 400)]
        print(f"{name:10} {letters} letters", *row, f"  {means['score', name]:.2f}")
for key in ("first", "rule", "fooled", "improving"):
    print(key, length_results[key])

# %% [markdown] tags=["solution"]
# The fewer lengths there are, the earlier the model knows its own, and the less it has learned. With one length it has the trick within the first 100 updates. From then on its loss is nearly 0, there is nothing left to learn from, and strings of 10 letters cost more and more. (A guess: it grows surer of the wrong place.) With two lengths two distances will do, and strings of 16 letters cost hardly anything after 400 updates, yet those of 10 are still lost. With five lengths it takes longer, and then the model copies strings of 10 that it has never met. No distance that it saw would have helped it there.
#
# The scores of all three are high on strings of 16. A score says where the weight is, on these texts. Whether the head found the place by the letter or by counting, only a text can tell in which the two disagree.
#
# Would more updates help the one with two lengths? We gave it 1,600. From seed 2 it had the rule in the end (below 1 bit on strings of 10 letters). From seed 1 those strings only cost more and more. So two lengths can be enough, after a long time and from some starts.

# %% tags=["nbval-ignore-output"]
def who_can(names):
    if "only 16" in names:
        return "all three"
    if "15 and 16" in names:
        return '"15 and 16" as well'
    return '"12 to 16" alone' if names else "nobody"


found = length_results.get("rule") if isinstance(length_results, dict) else None
if found is None:
    print("Solve 13.8 first.")
else:
    display(widgets.came_out("13.E", who_can(found)))

# %% [markdown]
# Your numbers, a line for each seed:

# %% tags=["nbval-ignore-output"]
order, steps = ["only 16", "15 and 16", "12 to 16"], (100, 200, 400)
if all((name, 10, step) in length_results for name in order for step in steps):
    axes = plotting.new_axes(9.2, 3.0, columns=2)
    for ax, letters in zip(axes, (16, 10), strict=True):
        for color, name in zip(plotting.COLORS, order, strict=False):
            for seed in (0, 1):
                bits = [length_results[name, letters, step][seed] for step in steps]
                label = name if seed == 0 else None
                ax.plot(steps, bits, "o-", color=color, alpha=0.7, label=label)
        ax.set(xlabel="updates", ylabel="bits", title=f"strings of {letters} letters")
        ax.set_ylim(0, None)
    axes[0].legend()
    alt = "Bits by updates on strings of 16 and of 10 letters, for the three."
    plotting.show(axes[0], alt)

# %% [markdown]
# ### 13.9 · What a removal tells
# 1 point · difficulty 3 of 5 · 4 minutes · core
#
# Three heads of some model. For each one, its score on the letter after a copy, and how many more bits a letter costs when this head **alone** is taken out, once by putting its own mean in its place and once by putting zeros there. On the texts that were used the whole model needs 0.1 bits.
#
# | head | score | out, by its mean | out, by zeros |
# |---|---|---|---|
# | X | 0.92 | 0.0 | 0.0 |
# | Y | 0.04 | 2.1 | 2.2 |
# | Z | 0.02 | 0.0 | 1.7 |
#
# Which conclusion do these numbers allow?
#
# - **a.** X isn't used. A model that had been trained without it would lack nothing.
# - **b.** Y writes the notes that X looks for. That's why it's expensive, although its own score is low.
# - **c.** On these texts and next to the other heads, no news from Z is needed. The 1.7 bits are for a vector that it always adds.
# - **d.** X, Y and Z ranked by how much the model depends on what they find out: Y, then Z, then X.

# %% tags=["quiz"]
quiz_13_9 = ""  # your letter between the quotes
# BEGIN SOLUTION
quiz_13_9 = "c"
# END SOLUTION

# %% [markdown] tags=["solution"]
# Why each option is right or wrong:
#
# - **a.** each removal was done alone. If another head does the same job, X can be spared and is used all the same. You'd have to take out the two together to see it.
# - **b.** it may be so, but no number here is about a path between Y and X. Y may as well do something of its own. Cut the path from Y to the keys of X, and see what that costs.
# - **c.** with a constant in place of what Z hands on nothing is lost, so no news of it is needed as long as the others are there. Zeros take away the constant too, and the rest of the model is used to that.
# - **d.** zeros mix two things, what a head finds out and what it always adds. By its mean Z costs nothing, just like X, and X has no rank at all until its stand-ins are known.

# %% tags=["check"]
check("13.9", quiz_13_9)

# %% [markdown]
# ## Payoff: your detector in a model of text
#
# Lesson 12's language model was never asked to copy. It has read documentation, four layers of four heads, 16 pictures for every text. Your `induction_score` looks through all of them, once on random letters that are written twice and once on stretches of the test text that are written twice. Beside each score belongs its landmark, the score of a head that looks at all visible keys alike.

# %%
language = pretrained.load("language_model").requires_grad_(False)
test_text = encode_text(documentation_split().test)
LETTERS_WRITTEN = encode_text("abcdefghijklmnopqrstuvwxyz")


def twice_and_once(kind, number=32, rng_seed=0):
    """Ids whose second half is a copy, and ids with the same second half that isn't."""
    rng = torch.Generator().manual_seed(rng_seed)
    if kind == "random letters":
        drawn = induction.twice(2 * number, 24, rng)[:, :24]  # (2 * number, 24)
        first, other = LETTERS_WRITTEN[drawn].split(number)  # (number, 24) each
    else:
        starts = torch.randint(len(test_text) - 40, (2 * number, 1), generator=rng)
        first, other = test_text[starts + torch.arange(40)].split(number)
    return torch.cat((first, first), dim=1), torch.cat((other, first), dim=1)


@torch.no_grad()
def second_half(ids):
    """Bits per character of the second half, its first character left out."""
    half = ids.shape[1] // 2
    logits = language(ids[:, :-1])[:, half:].transpose(1, 2)  # (number, V, half - 1)
    return F.cross_entropy(logits, ids[:, half + 1 :]).item() / math.log(2)


# %% tags=["nbval-ignore-output"]
scores_found = {}
try:
    for kind in ("random letters", "stretches of text"):
        copied, fresh = twice_and_once(kind)
        with record_attention(language) as seen, torch.no_grad():
            language(copied)
        every = [induction_score(w, copied) for w in seen.matching("layers.*")]
        scores_found[kind] = torch.stack(every)  # (layers, H)
        length = copied.shape[1]
        even = torch.ones(length, length).tril() / torch.arange(1, length + 1)[:, None]
        even = even.expand(len(copied), 1, length, length)
        print(f"{kind}, all keys alike {induction_score(even, copied).item():.3f}")
        print(scores_found[kind])
except NotImplementedError:
    print("Solve 13.1 first: this cell needs your detector.")

# %% [markdown]
# Now take out the head with the highest score on random letters, and the one with the lowest as a control, each replaced by its mean. A copy **saves** what the second half costs after other text, less what it costs after the same text:

# %% tags=["nbval-ignore-output"]
if "random letters" in scores_found:
    flat = scores_found["random letters"].flatten()
    chosen = {"whole model": None, "highest": flat.argmax(), "lowest": flat.argmin()}
    for kind in scores_found:
        copied, fresh = twice_and_once(kind)
        print(kind)
        for name, number in chosen.items():
            out = {}
            if number is not None:
                layer, head = divmod(int(number), 4)
                out[f"layers.{layer}.self_attention", head] = "mean"
                name = f"without {layer}.{head} ({name})"
            with replaced_heads(language, out):
                costs, costs_copied = second_half(fresh), second_half(copied)
            saved = costs - costs_copied
            print(f"  {name:24} new {costs:.2f}, copied {costs_copied:.2f}", end=", ")
            print(f"saved {saved:.2f}")

# %% [markdown]
# Is the highest one an induction head as in the lesson? Then its **keys** must read what some earlier head wrote, best of all a head that looks at the letter before. So hide every earlier head from its keys, one at a time, and see how much less a copy of a stretch of text saves. Beside it the score that your `previous_score` gives to the earlier head. This takes about ten seconds.

# %% tags=["nbval-ignore-output"]
try:
    layer, head = divmod(int(scores_found["random letters"].argmax()), 4)
    reader = (f"layers.{layer}.self_attention", head)
    copied, fresh = twice_and_once("stretches of text", number=64)
    with record_attention(language) as seen, torch.no_grad():
        language(copied)
    full = torch.full((64,), copied.shape[1])  # no padding
    looks_back = [previous_score(w, full) for w in seen.matching("layers.*")]
    whole = second_half(fresh) - second_half(copied)
    lost = torch.zeros(layer, 4)
    for n in range(layer):
        for h in range(4):
            with cut_path(language, (f"layers.{n}.self_attention", h), reader, "k"):
                lost[n, h] = whole - (second_half(fresh) - second_half(copied))
    print("score on the letter before, a row for each layer")
    print(torch.stack(looks_back[:layer]))
    print(f"hidden from the keys of {layer}.{head}, bits saved less (of {whole:.3f})")
    print(lost)
except (NotImplementedError, KeyError):
    print("Solve 13.1 and 13.2 first: this cell needs both of your detectors.")

# %% [markdown] tags=["solution"]
# What came out is modest. One head, 3.1, has the highest score on random letters, about twice its landmark, which is a twentieth of its weight. On random letters a copy saves this model nothing at all. On stretches of text it saves about a quarter of a bit, part of which its letters alone would save, in any order (section 12.5). Without 3.1 it's about a tenth of a bit less. So a faint stripe can matter where a copy is of use. The control, 1.2, has the lowest score. Without it a copy saves nearly as much as before, and yet any text costs far more. It must be good for something else.
#
# And the path? No single head is 3.1's only source. Hiding one costs a sixth of the effect of 3.1 at most. What there is comes from four heads of the layers 1 and 2, and two of these, 1.3 and 1.2, look at the letter before more than any other. That's what one would expect of an induction head which gets its notes from several heads at once. It isn't a proof, with one model and 64 stretches. Try `"q"` and `"v"` in place of `"k"`. They should cost less, and they do.

# %% [markdown]
# ### 13.10 · Ten times the score
# 1 point · difficulty 2 of 5 · 8 minutes · more
#
# Look at the scores of the language model on stretches of text, and at their landmark. Nearly all heads score more than ten times what they have on random letters. What does that say?
#
# - **a.** On text nearly all heads are induction heads, and on random letters they don't recognize anything.
# - **b.** In text most characters come often, so many keys count for each query, and a head that looks anywhere at all gets a high score.
# - **c.** The score is wrong on text. Its sums over several keys should be means.

# %% tags=["quiz"]
quiz_13_10 = ""  # your letter between the quotes
# BEGIN SOLUTION
quiz_13_10 = "b"
# END SOLUTION

# %% [markdown] tags=["solution"]
# Why each option is right or wrong:
#
# - **a.** most scores are near that of a head that looks at all keys alike, on text as on random letters. A high number that has its landmark beside it is no find.
# - **b.** the landmark has grown just as much. What counts is how far a score lies above it, and on which texts a wrong guess would be found out.
# - **c.** a head that splits its weight among two right keys has done its job as well as one that chose a single one, so a sum is right. What's missing is the landmark, or a text in which each letter has one copy.

# %% tags=["check"]
check("13.10", quiz_13_10)

# %% [markdown]
# *Try the second highest head, or both at once, and text of your own. Where would you look for a head that copies from farther back?*

# %% [markdown]
# {{next_steps}}
