# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 15 · Across machines: exercises
#
# Ten exercises, 36 points. By the end you have divided attention's heads among ranks, merged attention over parts of the keys, written a program that real ranks run, counted what each of them sends, keeps and computes, and found out which division fits which job. Then your pieces run a language model on four processes.
#
# {{colab_link}} · short path about 61 minutes, everything about 2 hours · builds on {{lesson_link}}
#
# Write your code where it says `YOUR CODE HERE`, run the cell, then run the check below it. A check that fails says what differs and, if it knows your mistake,
# what your answer did; `hint()`, or a second failure, adds what to try. You may try as often as you like, and `failing_case()` hands you what the last failed check called your answer with. Hints are folded under each check. A function of `course_utils` that does what an exercise asks for is off limits in it.

# %% tags=["setup"]
import math

import torch
import torch.nn.functional as F

from course_checks import check, failing_case, hint
from course_utils import pretrained, widgets
from course_utils.attention import scaled_dot_product_attention
from course_utils.datasets.documentation import documentation_split
from course_utils.datasets.text_windows import encode_text
from course_utils.distributed.communication import Communicator, run_in_ring
from course_utils.distributed.layouts import layout
from course_utils.distributed.partial_attention import merge, partial_attention
from course_utils.distributed.processes import RanksFailed, run_on_ranks
from course_utils.distributed.tensor_memory import TensorMemory
from course_utils.masks import causal_mask
from course_utils.multi_head import MultiHeadAttention, merge_heads, split_heads
from course_utils.positions import apply_rope, rotary_angles

torch.set_printoptions(precision=3, sci_mode=False, linewidth=88)
torch.set_num_threads(1)

# %% [markdown]
# ### 15.1 · The weights of one rank
# 4 points · difficulty 3 of 5 · 12 minutes · core
#
# Write `head_shard(q, k, v, o, num_heads, num_kv_heads, rank, P)`, which cuts out what one rank needs of the weights of a multi-head attention. Rank 0 has the first `num_heads / P` query heads, rank 1 the next ones, and so on.
#
# Heads may be grouped as in lesson 07, so that `num_heads / num_kv_heads` query heads in a row share a key/value head. A rank holds exactly the key/value heads that its query heads use. There may be more ranks than key/value heads. Then several ranks hold a copy of the same one, which the class of the lesson refuses to do.
#
# | argument | shape |
# |---|---|
# | `q` | `(num_heads * d_head, d_model)`, the `weight` of PyTorch's `Linear` |
# | `k`, `v` | `(num_kv_heads * d_head, d_model)` |
# | `o` | `(d_model, num_heads * d_head)` |
# | `num_heads`, `num_kv_heads` | numbers; the second divides the first |
# | `rank`, `P` | numbers; `P` divides `num_heads`. Also, either `P` divides `num_kv_heads` or `num_kv_heads` divides `P` |
# | returns | the parts of `q`, `k`, `v` and `o` |
#
# Example: take 4 query heads of size 1, 2 key/value heads, and 4 ranks. Rank 1 gets row 1 of `q`, **row 0** of `k` and `v`, and column 1 of `o`.

# %% tags=["exercise"]
def head_shard(q, k, v, o, num_heads, num_kv_heads, rank, P):
    # BEGIN SOLUTION
    d_head = q.shape[0] // num_heads
    group = num_heads // num_kv_heads  # query heads that share a key/value head
    first = rank * (num_heads // P)
    last = first + num_heads // P - 1
    heads = slice(first * d_head, (last + 1) * d_head)
    shared = slice(first // group * d_head, (last // group + 1) * d_head)
    return q[heads], k[shared], v[shared], o[:, heads]
    # END SOLUTION


# %% [markdown] tags=["mistakes"]
# Try: which key/value head does the rank's first query head use, and which its last? Keep whole heads from the one to the other.
# the rows of k and v are cut into P equal parts, so with more ranks than key/value heads a head is torn apart.
#     shared = slice(first // group * d_head, (last // group + 1) * d_head) => shared = slice(rank * len(k) // P, (rank + 1) * len(k) // P)
# where ranks share key/value heads these are dealt out in turn, so a rank gets a head that its queries don't use.
#     shared = slice(first // group * d_head, (last // group + 1) * d_head) => shared = slice(rank * max(1, num_kv_heads // P) % num_kv_heads * d_head, (rank * max(1, num_kv_heads // P) % num_kv_heads + max(1, num_kv_heads // P)) * d_head)
# k and v are cut at the rows of the query heads, as if each query head had a key/value head of its own.
#     k[shared], v[shared] => k[heads], v[heads]
# every rank keeps all key/value heads.
#     k[shared], v[shared] => k, v
# only one key/value head is kept, even where the rank's query heads use several.
#     (last // group + 1) => (first // group + 1)
# Try: the inputs of o are the heads, side by side, and a Linear keeps its inputs in the columns of its weight.
# o is cut by rows: those are outputs, and every rank adds to all of them.
#     o[:, heads] => o[heads]
# o is left whole.
#     o[:, heads] => o
# Try: rank 0 has the first num_heads / P heads, all in a row, then comes rank 1.
# heads are dealt out like cards: rank r has the heads r, r + P, r + 2P.
#     q[heads] => q.unflatten(0, (num_heads, d_head))[rank::P].flatten(0, 1)
#     o[:, heads] => o.unflatten(1, (num_heads, d_head))[:, rank::P].flatten(1, 2)
# heads are dealt out like cards, with the key/value heads that those use.
#     slice(first * d_head, (last + 1) * d_head) => torch.arange(num_heads * d_head).view(num_heads, d_head)[rank::P].flatten()
#     slice(first // group * d_head, (last // group + 1) * d_head) => torch.cat([torch.arange(d_head) + h * d_head for h in sorted({h // group for h in range(rank, num_heads, P)})])
# Try: a head is d_head rows of q. Cut at multiples of d_head.
# a head is taken for one row or column: the sizes of the heads are forgotten.
#     d_head = q.shape[0] // num_heads => d_head = 1
# d_head is taken to be d_model / num_heads, but heads may have any size; the rows of q tell.
#     d_head = q.shape[0] // num_heads => d_head = q.shape[1] // num_heads

# %% tags=["check"]
check("15.1", head_shard)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# First write down the numbers of the query heads of a rank. Only then turn numbers of heads into rows.
# </details>
# <details><summary>Hint 2</summary>
#
# With `group` query heads to a key/value head, query head `h` uses key/value head `h // group`. What does that give for the rank's first query head, and for its last?
# </details>

# %% [markdown]
# Your shares on four real ranks, with two ranks to each key/value head. One `all_reduce` makes the layer's output out of their parts:


# %%
def my_heads(rank, P, weights, x):
    """One rank's part of the output, and its sum over all ranks."""
    q, k, v, o = head_shard(*weights, 4, 2, rank, P)
    query, key, value = (split_heads(x @ w.T, len(w) // 3) for w in (q, k, v))
    heads, _ = scaled_dot_product_attention(query, key, value)
    return Communicator().all_reduce(merge_heads(heads) @ o.T)


layer = MultiHeadAttention(12, num_heads=4, num_kv_heads=2, bias=False)
layer.requires_grad_(False)
projections = (layer.q_proj, layer.k_proj, layer.v_proj, layer.o_proj)
layer_weights, some_x = [one.weight for one in projections], torch.randn(1, 5, 12)
try:
    head_shard(*layer_weights, 4, 2, 0, 4)
    outputs = run_on_ranks(my_heads, 4, layer_weights, some_x).values
    close = [torch.allclose(y, layer(some_x), atol=1e-5) for y in outputs]
    print("each rank has the whole layer's output:", close)
except NotImplementedError:
    print("Solve 15.1 first.")
except Exception as error:  # what a share of the wrong shape brings about
    print(str(error).splitlines()[0])

# %% [markdown]
# ### 15.2 · Merge two partial results
# 3 points · difficulty 3 of 5 · 10 minutes · core
#
# Write `merge_parts(output_1, lse_1, output_2, lse_2)`, which makes attention over all keys out of attention over two parts of them. Each output was already divided by the sum of exponentials over its own part. The page says how much each part counts. Here you compute it from the `lse` alone, without overflow. A query that has seen nothing in a part has output 0 and an `lse` of minus infinity there. If it saw nothing in either part, the merged output is again 0 and the `lse` minus infinity. An `lse` can be a few hundred, positive or negative, and then $e^{\ell}$ overflows a float32 or underflows to 0. The two that belong to a query may also differ by hundreds.
#
# | argument | shape |
# |---|---|
# | `output_1`, `output_2` | `(B, H, L, d_v)`, attention over the keys of one part |
# | `lse_1`, `lse_2` | `(B, H, L)`, the log of the sum of exponentials of its scores |
# | returns | the output `(B, H, L, d_v)` and the `lse` `(B, H, L)` over both parts |
#
# Example: one query with output 4 and `lse` 0 in the first part, 8 and $\ln 3$ in the second, has output 7 and `lse` $\ln 4$. The mean would be 6. With `lse` 200 and $200 + \ln 3$ the output is 7 again.

# %% tags=["exercise"]
def merge_parts(output_1, lse_1, output_2, lse_2):
    # BEGIN SOLUTION
    lse = torch.logaddexp(lse_1, lse_2)  # (B, H, L)
    finite = lse.masked_fill(lse == -math.inf, 0.0)  # nothing seen: no inf - inf below
    share_1 = torch.exp(lse_1 - finite)[..., None]  # (B, H, L, 1)
    share_2 = torch.exp(lse_2 - finite)[..., None]  # (B, H, L, 1)
    return share_1 * output_1 + share_2 * output_2, lse
    # END SOLUTION


# %% [markdown] tags=["mistakes"]
# Try: look at the queries that have seen nothing in both parts. What is minus infinity less minus infinity?
# a query that has seen nothing in both parts comes out as NaN.
#     lse.masked_fill(lse == -math.inf, 0.0) => lse
# Try: take the larger of the two out before you take exponentials, or use a function that does.
# the exponential of a large lse is infinite, and so is what follows from it.
#     torch.logaddexp(lse_1, lse_2) => torch.log(torch.exp(lse_1) + torch.exp(lse_2))
# the largest lse of all queries is subtracted: a query whose own are far smaller loses everything.
#     lse = torch.logaddexp(lse_1, lse_2) => top = torch.maximum(lse_1.max(), lse_2.max()).clamp(min=-1e30); lse = top + torch.log(torch.exp(lse_1 - top) + torch.exp(lse_2 - top))
# Try: each part counts as much as its sum of exponentials, exp(lse), divided by that of both.
# the mean of both outputs: the part whose keys fit better counts no more than the other.
#     share_1 * output_1 + share_2 * output_2 => (output_1 + output_2) / 2
# the outputs are added up as they are.
#     share_1 * output_1 + share_2 * output_2 => output_1 + output_2
# each output gets the share of the other part.
#     share_1 * output_1 + share_2 * output_2 => share_2 * output_1 + share_1 * output_2
# of the two outputs the one with the larger lse is kept.
#     share_1 * output_1 + share_2 * output_2 => torch.where((lse_1 >= lse_2)[..., None], output_1, output_2)
# the shares do not sum to 1, because they were never divided by the sum of both.
#     lse_1 - finite => lse_1
#     lse_2 - finite => lse_2
# Try: of which number is lse the logarithm? Add those numbers, not their logarithms.
# the lse that comes back is the sum of both, which is the logarithm of a product.
#     share_2 * output_2, lse => share_2 * output_2, lse_1 + lse_2
# the lse that comes back is the larger of the two.
#     share_2 * output_2, lse => share_2 * output_2, torch.maximum(lse_1, lse_2)
# what comes back is the sum of exponentials itself, not its logarithm.
#     share_2 * output_2, lse => share_2 * output_2, torch.exp(lse)
# the lse lacks what was subtracted before the exponentials were taken.
#     share_2 * output_2, lse => share_2 * output_2, (lse - torch.maximum(lse_1, lse_2)).nan_to_num(nan=-math.inf, neginf=-math.inf)

# %% tags=["check"]
check("15.2", merge_parts)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# What is $\ln(e^a + e^b)$ if you first take the larger of $a$ and $b$ out of the bracket?
# </details>
# <details><summary>Hint 2</summary>
#
# `torch.logaddexp` does what hint 1 says. The share of a part is the exponential of a difference, so a large `lse` does no harm.
# </details>
# <details><summary>Hint 3</summary>
#
# There is one kind of query for which this difference isn't a number. Replace the subtracted `lse` by something finite there, and look at what the share becomes.
# </details>

# %% [markdown]
# ### 15.3 · One step of the ring, for several documents
# 4 points · difficulty 4 of 5 · 17 minutes · core
#
# Short documents are often packed into one long text, one after another, so that no place is wasted. Then a query sees the keys of its own document, at its own position in the text or before, and nothing of the other documents.
#
# A block of keys and values has just arrived at a rank. Write `ring_step(query, key, value, q_positions, k_positions, starts, output, lse)`, which lets the rank's queries attend to the block and merges that with what they have collected so far. The positions of the tokens, in whatever order, come along with the tensors. Where each document begins is known to all ranks.
#
# | argument | shape |
# |---|---|
# | `query` | `(B, H, n, d_k)`, the rank's own |
# | `key`, `value` | `(B, H_kv, n_k, d_k)` and `(B, H_kv, n_k, d_v)`, the block |
# | `q_positions`, `k_positions` | `(n,)` and `(n_k,)`, positions in the whole text |
# | `starts` | `(D,)`, the position of each document's first token, ascending, the first one 0 |
# | `output`, `lse` | `(B, H, n, d_v)` and `(B, H, n)`, collected so far; before the first step 0 and minus infinity |
# | returns | the new `output` and `lse` |
#
# - You may use the library's `partial_attention(query, key, value, mask)`, which takes fewer key/value heads than query heads, and your `merge_parts` or the library's `merge`. The mask is booleans, queries by keys, and a query that sees nothing gets zeros and an `lse` of minus infinity.
# - The first block need not be the rank's own, and scores may be a few hundred.
# - A query that has seen nothing so far keeps 0 and minus infinity.
# - The arguments must stay as they are.
#
# The check takes the ranks of several rings through their steps, one after the other. Some see nothing in a block.
#
# Example: a query at position 5 has seen a value 4 with `lse` 0. Now a block arrives with keys at positions 7 and 2, scores $0$ and $\ln 3$, and values 100 and 8. With a single document, `starts` `[0]`, the new output is 7. With documents that begin at 0 and 2 it is 7 as well, and with 0 and 3 the query sees neither key and the output stays 4.

# %% tags=["exercise"]
def ring_step(query, key, value, q_positions, k_positions, starts, output, lse):
    # BEGIN SOLUTION
    q_document = (q_positions[:, None] >= starts).sum(dim=1)  # (n,)
    k_document = (k_positions[:, None] >= starts).sum(dim=1)  # (n_k,)
    mask = k_positions <= q_positions[:, None]  # (n, n_k)
    mask = mask & (k_document == q_document[:, None])
    part = partial_attention(query, key, value, mask)
    return merge_parts(output, lse, *part)
    # END SOLUTION


# %% [markdown] tags=["mistakes"]
# Try: find out for each position in which document it lies. Two tokens may only meet if these agree.
# documents are ignored: queries see the keys of earlier documents too.
#     mask & (k_document == q_document[:, None]) => mask
# the first token of a document is counted to the document before it.
#     >= starts => > starts
# all keys of a block are taken to lie in one document, that of the first of them.
#     k_document == q_document => k_document[0] == q_document
# all queries of a rank are taken to lie in one document, that of the first of them.
#     q_document[:, None] => q_document[:1, None]
# a query that begins a document also sees the document before it.
#     mask & (k_document == q_document[:, None]) => mask & ((k_document == q_document[:, None]) | (k_document == ((q_positions - 1)[:, None] >= starts).sum(dim=1)[:, None]))
# only the last document counts: what lies before it counts as one document.
#     >= starts => >= starts[-1:]
# Try: within a document a query still sees only what comes before it, and itself.
# nothing but the document matters: queries see later keys of their own document.
#     k_positions <= q_positions[:, None] => torch.ones(len(q_positions), len(k_positions), dtype=torch.bool)
# Try: what do positions say about a block in which every key comes later than every query?
# the mask goes by places in the block, a triangle, and not by positions in the text.
#     k_positions <= q_positions[:, None] => torch.ones(len(q_positions), len(k_positions), dtype=torch.bool).tril()
# positions are counted on from the first of each block, as if the tokens were in a row.
#     k_positions <= q_positions[:, None] => k_positions[0] + torch.arange(len(k_positions)) <= (q_positions[0] + torch.arange(len(q_positions)))[:, None]
# a block is seen whole or not at all, by the position of its first key.
#     k_positions <= q_positions[:, None] => (k_positions[0] <= q_positions[:, None]).expand(-1, len(k_positions))
# Try: compare each key's position with each query's: key <= query.
# a query does not see the key at its own position.
#     k_positions <= q_positions => k_positions < q_positions
# the mask is turned round: queries see what comes later.
#     k_positions <= q_positions => k_positions >= q_positions
# the positions of the keys are sorted, but not the keys and values themselves.
#     k_document = (k_positions => k_positions = k_positions.sort().values; k_document = (k_positions
# Try: `starts` holds positions, and a document ends where the next one begins.
# the numbers in starts are taken for lengths and added up.
#     q_document = (q_positions => starts = starts.cumsum(0); q_document = (q_positions
# Try: `partial_attention` knows what to do with scores and with key/value heads.
# the scores aren't divided by the root of d_k.
#     partial_attention(query, key, value, mask) => partial_attention(query, key, value, mask, scale=1.0)
# the scores are divided by the root of d_v, not of d_k.
#     partial_attention(query, key, value, mask) => partial_attention(query, key, value, mask, scale=value.shape[-1] ** -0.5)
# key/value heads are repeated as 0, 1, 0, 1, but neighboring query heads share one: 0, 0, 1, 1.
#     partial_attention(query, key, value, mask) => partial_attention(query, key.repeat(1, query.shape[1] // key.shape[1], 1, 1), value.repeat(1, query.shape[1] // value.shape[1], 1, 1), mask)
# Try: merge what was collected and the new part, both with their lse.
# what had been collected before is thrown away.
#     merge_parts(output, lse, *part) => part
# the new output is added to the old one, without shares.
#     merge_parts(output, lse, *part) => output + part[0], torch.logaddexp(lse, part[1])
# the mean of old and new output, whatever their lse.
#     merge_parts(output, lse, *part) => (output + part[0]) / 2, torch.logaddexp(lse, part[1])
# the output is merged, but the lse that comes back is still the old one.
#     merge_parts(output, lse, *part) => merge_parts(output, lse, *part)[0], lse
# the output is merged, but the lse that comes back is that of the new block alone.
#     merge_parts(output, lse, *part) => merge_parts(output, lse, *part)[0], part[1]

# %% tags=["check"]
check("15.3", ring_step)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# There are three things to do, a mask of shape `(n, n_k)`, attention over this block alone, and a merge. No rank and no step number is needed.
# </details>
# <details><summary>Hint 2</summary>
#
# How many entries of `starts` are at or before a position? That number tells documents apart. A column of queries beside a row of keys compares every pair at once.
# </details>

# %% [markdown]
# ### 15.4 · Gather in a ring
# 3 points · difficulty 2 of 5 · 12 minutes · more
#
# After an **all-gather** every rank has what each rank had. Write that as a program of one rank that only ever hands something to the next rank. `gather_in_ring(rank, P, x)` is a generator, as in section 15.9. `arriving = yield (part,)` hands the tensor `part` to the next rank, and the last rank hands to rank 0. Then `(other,) = arriving()` waits for the tensor that the rank before has handed on. Call `arriving` once in each step. All ranks run the same program, each with its own `x`.
#
# | | |
# |---|---|
# | `rank`, `P` | numbers; `P` may be 1, and then nothing is handed on |
# | `x` | what this rank has, a tensor of any shape and type, the same on all ranks; it must stay as it is |
# | handed on | tensors like `x`, one in each step and no more steps than are needed |
# | returns | `(P, *x.shape)`, the tensors of all ranks, rank 0's first, on every rank |
#
# Example: on 3 ranks with the tensors 5, 6 and 7, each rank hands on two tensors of one number and returns `tensor([5, 6, 7])`. The check runs all ranks, and looks at what each hands on and returns.

# %% tags=["exercise"]
def gather_in_ring(rank, P, x):
    # BEGIN SOLUTION
    parts = [torch.zeros_like(x)] * P
    parts[rank] = x
    for step in range(P - 1):
        arriving = yield (parts[(rank - step) % P],)
        (other,) = arriving()
        parts[(rank - step - 1) % P] = other
    return torch.stack(parts)
    # END SOLUTION


# %% [markdown] tags=["mistakes"]
# Try: in step 0 each rank hands on its own tensor. Which one can it hand on in step 1 that the next rank doesn't have yet?
# every step hands on the rank's own tensor again, so nothing gets farther than one rank.
#     (parts[(rank - step) % P],) => (x,)
# Try: rank 1 gets the tensor of rank 0 first, then that of the last rank. Write down whose tensor arrives in which step.
# the tensors stand in the order in which they arrived, the rank's own first.
#     parts[(rank - step) % P] => parts[step]
#     parts[(rank - step - 1) % P] => parts[step + 1]
# it is taken for granted that tensors come from the rank after, but they come from the one before.
#     (rank - step) % P => (rank + step) % P
#     (rank - step - 1) % P => (rank + step + 1) % P
# what arrives is put one place too far: it comes from the rank before, not from the rank itself.
#     parts[(rank - step - 1) % P] = other => parts[(rank - step) % P] = other
# Try: how many tensors does a rank lack at first? One of them arrives in each step.
# there is one step too many: in the last one each rank gets its own tensor back.
#     range(P - 1) => range(P)
# there is one step too few: one tensor never arrives.
#     range(P - 1) => range(max(P - 2, 0))
# Try: hand on one tensor like x in each step. What you have collected before has been at the next rank already, or will come to it by other ranks.
# everything that was collected so far is handed on in every step.
#     (parts[(rank - step) % P],) => (torch.stack(parts),)
#     = other => = other[(rank - step - 1) % P]
# Try: `arriving()` gives a tuple, as large as the one that was handed on. Unpack it: `(other,) = arriving()`.
# what arrives is a tuple of one tensor, and it is kept without being unpacked.
#     (other,) = arriving() => other = arriving()
# what comes back from yield is a function that waits for what arrives, and it is never called.
#     (other,) = arriving() => other = arriving
# Try: the result has one more axis than x, of size P.
# the tensors are joined along an axis of x, and not along a new one.
#     torch.stack(parts) => torch.cat([part.view(-1) if not x.dim() else part for part in parts])
# the new axis is the last one, not the first.
#     torch.stack(parts) => torch.stack(parts, dim=-1)
# what arrives is added up: the sum of all comes back.
#     torch.stack(parts) => torch.stack(parts).sum(dim=0)
# Try: make room for tensors of the type of x.
# everything has become float32, whatever x was.
#     torch.stack(parts) => torch.stack(parts).float()

# %% tags=["check"]
check("15.4", gather_in_ring)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# Take three ranks and write down, step by step, what each hands on and what each has afterward. A rank hands on in each step what has just arrived.
# </details>
# <details><summary>Hint 2</summary>
#
# In step $s$, counted from 0, a tensor arrives that began $s + 1$ ranks before. With `%` you count around the ring.
# </details>

# %% [markdown]
# Now real processes run your program, and the communicator counts:

# %% tags=["nbval-ignore-output"]
def gather_on_a_rank(rank, P):
    communicator, x = Communicator(), torch.tensor([10.0 * rank, 10.0 * rank + 1])
    everything = run_in_ring(gather_in_ring(rank, P, x), communicator)
    return everything.tolist(), f"{communicator.bytes_sent} bytes sent"


try:
    print(run_on_ranks(gather_on_a_rank, 3, timeout=20))
except RanksFailed as error:
    print("Solve 15.4 first.", str(error).splitlines()[0])

# %% [markdown]
# ### 15.5 · Let the queries travel
# 4 points · difficulty 4 of 5 · 14 minutes · more
#
# You chat with a model that runs on several ranks. Each rank has kept its part of the keys and values of all that was said. Now you send a message, and its queries are divided among the ranks as well. Keys and values could travel, as on the page. Or they stay where they are and the **queries** travel:
#
# - Rank $r$ begins with its own queries. In each step a rank lets the queries that it holds attend to its own keys and values, and merges what it finds with what they have collected.
# - Then it hands all of it to the rank **before** it (rank 0 to the last one): the queries, their output so far, and their `lse`.
# - After the last step nobody needs the queries any more. Output and `lse` are handed on once more, in the same direction, and that brings them home.
#
# Write `query_ring(P, B, L_q, L_k, num_heads, num_kv_heads, d_head, num_bytes)`. The message has `L_q` tokens and the kept keys and values are of `L_k` tokens, both over all ranks, and `P` divides both. Queries, keys, values and outputs all have heads of size `d_head`. Every number takes `num_bytes` bytes, those of the `lse` too.
#
# | returned | what it is |
# |---|---|
# | `holders` | `(P, P)` whole numbers; row $r$, column $s$ says whose queries rank $r$ holds in step $s$, counted from 0 |
# | `keys_sent` | bytes that each rank sends if keys and values travel as on the page |
# | `queries_sent` | bytes that each rank sends if the queries travel |
#
# A single rank sends nothing in either way. Attention alone is counted, forward only, and the message's own keys and values are among the `L_k`.
#
# Examples: `query_ring(3, 1, 3, 12, 4, 2, 5, 2)` is `[[0, 1, 2], [1, 2, 0], [2, 0, 1]]` as a tensor, then 320 and 224. `query_ring(1, 1, 2, 8, 4, 2, 5, 2)` is `[[0]]`, then 0 and 0.

# %% tags=["exercise"]
def query_ring(P, B, L_q, L_k, num_heads, num_kv_heads, d_head, num_bytes):
    # BEGIN SOLUTION
    ranks, steps = torch.arange(P)[:, None], torch.arange(P)
    holders = (ranks + steps) % P  # (P, P)
    keys_values = 2 * B * num_kv_heads * (L_k // P) * d_head * num_bytes
    queries = B * num_heads * (L_q // P) * d_head * num_bytes
    lse = B * num_heads * (L_q // P) * num_bytes
    home = queries + lse if P > 1 else 0  # an output is as large as its queries
    keys_sent = (P - 1) * keys_values
    queries_sent = (P - 1) * (queries + queries + lse) + home
    return holders, keys_sent, queries_sent
    # END SOLUTION


# %% [markdown] tags=["mistakes"]
# Try: rank 1 hands its queries to rank 0. Whose queries has rank 0 in step 1?
# the queries travel the other way round, from each rank to the one after it.
#     (ranks + steps) % P => (ranks - steps) % P
# the table has numbers of ranks that there aren't: after the last one the ring isn't closed.
#     (ranks + steps) % P => ranks + steps
# Try: write down for one rank, hop by hop, what it hands on, and count the hops of each.
# output and lse are counted for P - 1 hops, but with the one that brings them home they make P.
#     ` + home` => 
# the queries go home as well, though nobody needs them after the last step.
#     home = queries + lse if => home = queries + queries + lse if
# only the queries are counted, and not what they have collected.
#     (queries + queries + lse) + home => queries
# the output is counted on its last hop alone, but it travels with the queries from the first.
#     (queries + queries + lse) => queries
# the lse is left out: without it nothing could be merged.
#     (queries + queries + lse) => (queries + queries)
#     home = queries + lse if => home = queries if
# keys and values are sent P times, but nobody needs them after the last step.
#     keys_sent = (P - 1) * => keys_sent = P * (P > 1) *
# a single rank sends its output home to itself.
#     home = queries + lse if P > 1 else 0 => home = queries + lse
# Try: queries have num_heads heads and L_q tokens; keys and values have num_kv_heads and L_k.
# keys and values are counted with all query heads.
#     2 * B * num_kv_heads => 2 * B * num_heads
# queries are counted with the few heads of the keys.
#     queries = B * num_heads => queries = B * num_kv_heads
# the lse has a number for each feature, but it is one number for each query and head.
#     lse = B * num_heads * (L_q // P) => lse = B * num_heads * (L_q // P) * d_head
# only keys are counted, or only values.
#     2 * B * num_kv => B * num_kv
# numbers are counted, not bytes.
#     d_head * num_bytes => d_head
#     (L_q // P) * num_bytes => (L_q // P)
# the whole text is taken for a rank's part of it.
#     (L_k // P) => L_k
#     (L_q // P) => L_q

# %% tags=["check"]
check("15.5", query_ring)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# Play three ranks with three slips of paper, one for each rank's queries. Write down after each step who holds which slip, and what goes along with it.
# </details>
# <details><summary>Hint 2</summary>
#
# The queries make $P - 1$ hops and what they have collected makes $P$. An output is as large as its queries, and an `lse` has one number for each query and head.
# </details>

# %% [markdown]
# Your counts for a chat with 65,536 tokens on 8 ranks, and heads as in a Llama with 64 query heads and 8 key/value heads of size 128. How long must a message be before you'd rather send the keys?

# %%
try:
    for L_q in (8, 512, 2048, 4096, 8192, 65_536):
        _, keys_sent, queries_sent = query_ring(8, 1, L_q, 65_536, 64, 8, 128, 2)
        less = "queries" if queries_sent < keys_sent else "keys and values"
        print(f"{L_q:6} tokens: keys {keys_sent / 1e6:6.0f} MB,", end=" ")
        print(f"queries {queries_sent / 1e6:8.2f} MB, so send {less}")
except NotImplementedError:
    print("Solve 15.5 first.")

# %% [markdown]
# <details><summary>Answer</summary>
#
# About 7,600 tokens. The keys cost 235 MB however long the message is. A token of the message costs about 31 kB, so from there on the queries and what they collect are more.
# </details>

# %% [markdown]
# ### 15.6 · Zigzag and back
# 3 points · difficulty 2 of 5 · 10 minutes · more
#
# Write `zigzag(L, P)`. It cuts the positions 0 to `L - 1` into `2 P` chunks in a row, and gives each rank two of them. Counted from 0, as ranks are, rank $r$ gets chunk $r$ from the front and then chunk $r$ from the end, so rank 0 has the very first and the very last. The tokens of a chunk stay in their order. `2 P` divides `L`.
#
# | returned | shape |
# |---|---|
# | `positions` | `(P, L / P)`, the positions of each rank's tokens |
# | `inverse` | `(L,)`; for any `x` of `L` tokens, `x[positions.flatten()][inverse]` is `x` again |
#
# Example: `zigzag(12, 3)` has the positions `[[0, 1, 10, 11], [2, 3, 8, 9], [4, 5, 6, 7]]` and the inverse `[0, 1, 4, 5, 8, 9, 10, 11, 6, 7, 2, 3]`.

# %% tags=["exercise"]
def zigzag(L, P):
    # BEGIN SOLUTION
    chunks = torch.arange(L).view(2 * P, -1)  # (2P, L / 2P)
    positions = torch.cat((chunks[:P], chunks[P:].flip(0)), dim=1)  # (P, L / P)
    return positions, positions.flatten().argsort()  # (L,)
    # END SOLUTION


# %% [markdown] tags=["mistakes"]
# Try: rank 0 has the first chunk and the last. Which two has rank 1?
# the second chunks are dealt out from the middle on: rank 0 does not get the last one.
#     chunks[P:].flip(0) => chunks[P:]
# the second chunk of each rank runs backward.
#     chunks[P:].flip(0) => chunks[P:].flip(0, 1)
# the chunk from the end comes before the one from the front.
#     (chunks[:P], chunks[P:].flip(0)) => (chunks[P:].flip(0), chunks[:P])
# the tokens of a rank's two chunks alternate.
#     torch.cat((chunks[:P], chunks[P:].flip(0)), dim=1) => torch.stack((chunks[:P], chunks[P:].flip(0)), dim=2).flatten(1)
# each rank holds two neighboring chunks: tokens in a row, and no zigzag.
#     torch.cat((chunks[:P], chunks[P:].flip(0)), dim=1) => chunks.view(P, -1)
# a chunk has tokens that stand 2P apart, not tokens in a row.
#     torch.arange(L).view(2 * P, -1) => torch.arange(L).view(-1, 2 * P).T
# rank r gets chunk -r from the end: rank 0 its own first chunk twice, and all others one too late.
#     chunks[P:].flip(0) => torch.cat((chunks[:1], chunks[P + 1 :].flip(0)))
# tokens are dealt out one by one: stripes, and no zigzag.
#     torch.cat((chunks[:P], chunks[P:].flip(0)), dim=1) => torch.arange(L).view(-1, P).T
# tokens are dealt out one by one, there and back: a zigzag of single tokens, not of chunks.
#     torch.cat((chunks[:P], chunks[P:].flip(0)), dim=1) => torch.stack([row.flip(0) if i % 2 else row for i, row in enumerate(torch.arange(L).view(-1, P))], dim=1)
# Try: the inverse says for each position of the text where its token is in the new order.
# the order itself comes back as its inverse, but doing it twice doesn't undo it.
#     positions.flatten().argsort() => positions.flatten()
# the inverse is the order read backward.
#     positions.flatten().argsort() => positions.flatten().flip(0)
# the inverse leaves everything where it is.
#     positions.flatten().argsort() => torch.arange(L)

# %% tags=["check"]
check("15.6", zigzag)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# A table of positions with one chunk in each row is quickly made. Its upper half has the first chunks of all ranks, in order.
# </details>
# <details><summary>Hint 2</summary>
#
# For the inverse, ask where in the new order position 0 is, then position 1, and so on. Either write the place into the entry of each position, or sort.
# </details>

# %% [markdown]
# ### 15.7 · Who has to wait
# 4 points · difficulty 3 of 5 · 13 minutes · core
#
# Write `work(positions)`, which counts for any layout, under a causal mask, how many pairs of a query and a key may be seen. In step $s$, counted from 0, rank $r$ holds the keys of rank $r - s$, counted round the ring. The lesson's table counts what is computed, in whole chunks. Here only what may be seen counts.
#
# All ranks wait for one another after every step. So a step takes as long as the rank with the most pairs in it, and the time of the ring is the sum over its steps.
#
# | | shape |
# |---|---|
# | `positions` | `(P, n)`, the positions of each rank's tokens, in any order |
# | returns `table` | `(P, P)` whole numbers, visible pairs of each rank (row) in each step (column) |
# | returns `time` | the time in pairs, a whole number or a tensor of one |
#
# Example: for the positions `[[0, 1], [4, 5], [2, 3]]` the table is `[[3, 0, 0], [3, 4, 4], [3, 0, 4]]` and the time 11.

# %% tags=["exercise"]
def work(positions):
    # BEGIN SOLUTION
    sees = positions[:, :, None, None] >= positions  # (P, n, P, n)
    pairs = sees.sum(dim=(1, 3))  # (P, P): whose queries, whose keys
    ranks = torch.arange(len(positions))  # (P,)
    holders = (ranks[:, None] - ranks) % len(positions)  # (P, P): rank, step
    table = pairs.gather(1, holders)  # (P, P)
    return table, table.amax(dim=0).sum()
    # END SOLUTION


# %% [markdown] tags=["mistakes"]
# Try: a column is a step. Which rank's keys does rank 1 hold in step 0, and which in step 1?
# the columns are the ranks that the keys belong to, not the steps.
#     pairs.gather(1, holders) => pairs
# the blocks travel the other way round, from each rank to the one before it.
#     ranks[:, None] - ranks => ranks[:, None] + ranks
# the rank in step s is taken to be s - r, not r - s.
#     ranks[:, None] - ranks => ranks - ranks[:, None]
# the steps in which a rank would have to count on from the last rank are left out.
#     table = pairs.gather(1, holders) => table = pairs.gather(1, holders).tril()
# Try: a pair counts if the key's position is at most the query's.
# a query does not see the key at its own position.
#     positions[:, :, None, None] >= positions => positions[:, :, None, None] > positions
# the mask is turned round: queries see what comes later.
#     positions[:, :, None, None] >= positions => positions[:, :, None, None] <= positions
# every pair counts, as without a causal mask.
#     positions[:, :, None, None] >= positions => (positions[:, :, None, None] >= positions) | True
# a block of another rank is seen whole or not at all, by its first position.
#     pairs = sees.sum(dim=(1, 3)) => n = positions.shape[1]; pairs = torch.where(positions[:, :1] > positions[:, 0], n * n, 0) + n * (n + 1) // 2 * torch.eye(len(positions), dtype=torch.long)
# positions are ignored: the tokens are taken to lie in a row, rank after rank.
#     sees = positions[:, :, None, None] >= positions => positions = torch.arange(positions.numel()).view_as(positions); sees = positions[:, :, None, None] >= positions
# Try: for each step take the rank that has most to do, then add up over steps.
# the time is that of the rank with most to do altogether, as if nobody waited after each step.
#     table.amax(dim=0).sum() => table.sum(dim=1).max()
# the time adds up each rank's longest step, not each step's slowest rank.
#     table.amax(dim=0).sum() => table.amax(dim=1).sum()
# the time is the work of all ranks together, as if one did it all.
#     table.amax(dim=0).sum() => table.sum()
# the time is that of the slowest step alone.
#     table.amax(dim=0).sum() => table.max()

# %% tags=["check"]
check("15.7", work)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# First make a table of whose queries see how many of whose keys. Two loops over ranks will do. Then put its columns into the order of the steps, for each row another one.
# </details>
# <details><summary>Hint 2</summary>
#
# In step 0 each rank holds its own block. In step 1 rank 0 holds the block of the last rank.
# </details>

# %% [markdown]
# Your counts for tokens in a row and for zigzag, 8 ranks and 64 tokens:

# %%
try:
    for name, positions in {
        "in a row": torch.arange(64).view(8, 8),
        "zigzag": torch.stack([layout("zigzag", 64, 8).positions(r) for r in range(8)]),
    }.items():
        table, time = work(positions)
        print(f"{name:9} each rank {table.sum(dim=1).tolist()}, time {int(time)}")
except NotImplementedError:
    print("Solve 15.7 first.")

# %% [markdown]
# *Rank 0 in a row is done early, and still the ring takes 484 pairs where zigzag takes 260. What does the ratio of the two become with many ranks?*
#
# <details><summary>Answer</summary>
#
# **2.** With blocks of $n$ tokens a ring in a row takes about $\tfrac12 n^2$ in step 0 and $n^2$ in each of the $P - 1$ others, because some rank always sees a whole block. In zigzag it's about $\tfrac12 n^2$ in every step. So the ratio is about $(P - \tfrac12) / (P / 2) = 2 - 1/P$. On 8 ranks that's 1.88, and $484 / 260$ is 1.86.
# </details>

# %% [markdown]
# ### 15.8 · Find the bug
# 3 points · difficulty 2 of 5 · 12 minutes · more
#
# Here each rank has gathered the keys of all ranks, those of rank 0 first. It attends with a **sliding window**, so that a query sees itself and the `window - 1` tokens before it. With tokens in a row all is well. In zigzag the numbers are wrong, although nobody raises an error and as many pairs are seen as before:


# %%
def rank_mask_broken(rank, positions, window):
    P, n = positions.shape
    query = positions[rank][:, None]  # (n, 1)
    key = torch.arange(P * n)  # (P * n,)
    distance = query - key  # (n, P * n)
    return (distance >= 0) & (distance < window)


def window_error(rank_mask, positions, window=3):
    """Largest difference to one process; also the number of visible pairs."""
    x = torch.randn(1, 1, 8, 4, generator=torch.Generator().manual_seed(0))
    band = causal_mask(8) & torch.ones(8, 8, dtype=torch.bool).triu(1 - window)
    whole, _ = scaled_dot_product_attention(x, x, x, band)
    errors, keys = [], torch.cat([x[:, :, own] for own in positions], dim=2)
    masks = [rank_mask(rank, positions, window) for rank in range(len(positions))]
    for own, mask in zip(positions, masks, strict=True):
        output, _ = scaled_dot_product_attention(x[:, :, own], keys, keys, mask)
        errors.append((output - whole[:, :, own]).abs().max())
    return f"error {max(errors):.2f}, {sum(int(mask.sum()) for mask in masks)} pairs"


in_a_row = torch.tensor([[0, 1, 2, 3], [4, 5, 6, 7]])
in_zigzag = torch.tensor([[0, 1, 6, 7], [2, 3, 4, 5]])
print("in a row", window_error(rank_mask_broken, in_a_row))
print("zigzag  ", window_error(rank_mask_broken, in_zigzag))

# %% [markdown]
# Write `rank_mask(rank, positions, window)`, repaired, for any layout.
#
# | argument | shape |
# |---|---|
# | `rank`, `window` | numbers |
# | `positions` | `(P, n)`, the positions of each rank's tokens, in any order |
# | returns | `(n, P * n)` booleans, a row for each query of the rank, a column for each gathered key |
#
# Example: `rank_mask(1, torch.tensor([[0, 3], [1, 2]]), 2)` is `[[True, False, True, False], [False, False, True, True]]`. The query at position 1 sees the keys at positions 0 and 1.

# %% tags=["exercise"]
def rank_mask(rank, positions, window):
    # BEGIN SOLUTION
    query = positions[rank][:, None]  # (n, 1)
    key = positions.flatten()  # (P * n,)
    distance = query - key  # (n, P * n)
    return (distance >= 0) & (distance < window)
    # END SOLUTION


# %% [markdown] tags=["mistakes"]
# Try: which position in the text has the third token of rank 0 in zigzag? Which has the third gathered key?
# both queries and keys are masked by their place in the order of the ranks.
#     positions[rank][:, None] => torch.arange(rank * positions.shape[1], (rank + 1) * positions.shape[1])[:, None]
#     positions.flatten() => torch.arange(positions.numel())
# the bug is still there: the queries go by their positions, but the keys by their place in the order of the ranks.
#     positions.flatten() => torch.arange(positions.numel())
# the keys go by their positions now, but the queries by their place in the order of the ranks.
#     positions[rank][:, None] => torch.arange(rank * positions.shape[1], (rank + 1) * positions.shape[1])[:, None]
# queries are counted from 0 on every rank.
#     positions[rank][:, None] => torch.arange(positions.shape[1])[:, None]
# Try: the keys come rank by rank, those of rank 0 first.
# the keys are read column by column: the first of every rank, then the second of every rank.
#     positions.flatten() => positions.T.flatten()
# the keys are taken to come as a ring brings them, the rank's own first.
#     positions.flatten() => torch.stack([positions[rank - step] for step in range(len(positions))]).flatten()
# where each position stands is taken for the position that stands there.
#     positions.flatten() => positions.flatten().argsort()
# Try: the rows stand in the order of positions[rank], ascending or not.
# the rank's queries are sorted first.
#     positions[rank][:, None] => positions[rank].sort().values[:, None]
# Try: a query sees itself and window - 1 before it. How many are that for a window of 1?
# the window is one token too long.
#     distance < window => distance <= window
# the window is one token too short.
#     distance < window => distance < window - 1
# there is no window any more: all earlier keys are seen.
#     (distance >= 0) & (distance < window) => distance >= 0
# the window looks both ways, at later tokens too.
#     distance >= 0 => distance > -window
# a query does not see itself.
#     distance >= 0 => distance > 0
# query and key are exchanged: the window looks ahead.
#     query - key => key - query

# %% tags=["check"]
check("15.8", rank_mask)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# Write down for zigzag which tokens of the text rank 0 has as queries, and in which order it has gathered the keys. Then print its mask. Which of the pairs in it are wrong?
# </details>
# <details><summary>Hint 2</summary>
#
# A token has a place in the order of the ranks, and a position in the text. The window is about distances in the text. For which of the two does the broken function look it up?
# </details>

# %% [markdown]
# ### 15.9 · Experiment: which division when?
# 5 points · difficulty 4 of 5 · 25 minutes · more
#
# The page divided a full text under a causal mask. Besides contiguous and zigzag there's **striped** (section 15.11), where token $i$ goes to rank $i$ modulo $P$. Real jobs differ. A batch holds a text that fills only half of its places, or the layers have a sliding window. And a kernel doesn't compute single pairs but **tiles**. It takes a rank's queries in the order in which the division lists them, the keys of a block likewise, and cuts all their pairs into squares. A square is computed whole if at least one pair in it may be seen.
#
# `pair_table(positions, seen, tile)` simulates a ring under any mask. It counts the pairs that each rank (row) computes in each step (column), in tiles of `tile` times `tile` pairs. As on the page, all ranks wait for one another after every step, so the **time** of a ring is the largest number of each column, added up. All three masks are causal, over 96 places:

# %%
from course_utils.distributed.simulation import pair_table

query, key = torch.arange(96)[:, None], torch.arange(96)
causal = key <= query
seen = {
    "full": causal,
    "half": causal & (query < 48) & (key < 48),  # 48 tokens, then padding
    "window": causal & (query - key < 16),  # a sliding window of 16 tokens
}


def divided(name, P):
    """The positions of each rank's tokens, (P, 96 / P), in a layout of the page."""
    of = layout(name, 96, P)
    return torch.stack([of.positions(rank) for rank in range(P)])


print(pair_table(divided("contiguous", 4), seen["full"], 4))

# %%
widgets.predict(
    "15.E",
    "Half of the places are padding. Which division finishes first on 4 ranks? (In "
    "tiles of 4.)",
    choices=["contiguous", "zigzag", "striped"],
)

# %% [markdown]
# Measure all three divisions in all three cases, with 3 and with 4 ranks, in tiles of 4. Then look at single pairs for the window, and finally make a division of your own. Put into `division_results`:
#
# | entry | what |
# |---|---|
# | `(case, name)` | a list of two times, with 3 ranks and with 4, in tiles of 4. For the cases `"full"`, `"half"`, `"window"` and the names `"contiguous"`, `"zigzag"`, `"striped"`. That makes 9 lists |
# | `("window, tile 1", name)` | the same for `"window"` in tiles of 1. That makes 3 lists |
# | `("best", case)` | the name that finishes first with 4 ranks, for the three cases and for `"window, tile 1"`. That makes 4 names |
# | `"times as fast"` | the speedup of zigzag on 4 ranks over a single rank, in the case `"half"` in tiles of 4. A single rank has all 96 places in a row |
# | `"mine"` | positions `(4, 24)` of a division of your own, each of the 96 places once. In tiles of 4 its time must be at most 5 % above the best of the three in each case, `"full"`, `"half"` and `"window"` |

# %% tags=["exercise"]
division_results = {}
# BEGIN SOLUTION
NAMES = ("contiguous", "zigzag", "striped")
CASES = {case: (case, 4) for case in seen} | {"window, tile 1": ("window", 1)}


def time_of(positions, case):
    mask, tile = CASES[case]
    return int(pair_table(positions, seen[mask], tile).amax(dim=0).sum())


for case in CASES:
    for name in NAMES:
        times = [time_of(divided(name, P), case) for P in (3, 4)]
        division_results[case, name] = times
    best = min(NAMES, key=lambda name: division_results[case, name][1])
    division_results["best", case] = best
alone = time_of(divided("contiguous", 1), "half")
division_results["times as fast"] = alone / division_results["half", "zigzag"][1]
rounds = torch.arange(96).view(6, 4, 4)  # six rounds, each a chunk of 4 for each rank
rounds[1::2] = rounds[1::2].flip(1)  # dealt there and back
division_results["mine"] = rounds.transpose(0, 1).flatten(1)  # (4, 24)
# END SOLUTION

# %% tags=["check"]
check("15.9", division_results)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# A function of a division, a mask and a tile that gives the time is one line. The rest is two loops.
# </details>
# <details><summary>Hint 2</summary>
#
# For your own division, list for each of the three the tiles in which some pairs may be seen and some not. What makes them many? And which rank has the most to do, always the same one?
# </details>

# %% tags=["solution"]
for case in CASES:
    print(f"{case:15}", {name: division_results[case, name] for name in NAMES})
mine = division_results["mine"]
print("mine, 4 ranks  ", {case: time_of(mine, case) for case in CASES})
times = division_results["times as fast"]
print(f"half, zigzag: {times:.2f} times as fast as one rank")
short = torch.arange(48).view(4, 12)  # a text of 48 tokens, in a row
time = pair_table(short, causal[:48, :48], 4).amax(dim=0).sum()
print(f"48 tokens in a row, without padding: {time}")
L, window = 960, torch.arange(960)[:, None] - torch.arange(960)  # ten times as long
for width in (16, 160):
    times = {}
    for name in NAMES:
        of = layout(name, L, 4)
        positions = torch.stack([of.positions(rank) for rank in range(4)])
        mask = (window >= 0) & (window < width)
        times[name] = int(pair_table(positions, mask, 4).amax(dim=0).sum())
    print(f"960 places, window {width}: {times}")

# %% [markdown] tags=["solution"]
# Each of the three wins once. Zigzag wins for a full text, striped for half a text, tokens in a row for a window in tiles of 4. The last one isn't a law. With single pairs striped wins there too, and so it does in tiles of 4 if text and window are ten times as long. What counts is how many places of the text a tile of the stripes spans, about four times its side on four ranks, beside the window.
#
# Why does zigzag lose with half a text? Each rank holds one early chunk and one late one, and the late chunks are all padding. What is left are the early chunks, 12 neighbors to each rank, which is the contiguous division of a text of 48 tokens. The last line above counts that, and it takes the same 528. A zigzag of the 48 tokens alone would even things out again, but then each batch needs a division of its own.
#
# Why do stripes lose with a window? A tile of 4 queries and 4 keys of one rank each spans 13 places of the text with 4 ranks, so many tiles are touched by the window and few are filled. With tiles of 1 that cannot happen, and the time falls from 704 to 360.
#
# The division of the solution deals out chunks of 4, there and back. A chunk is as long as a tile, so tiles stay filled, and each rank has a chunk in each sixth of the text, so half a text is divided as well as a whole one. It is never more than 4 % behind the best of the three, and with half a text it is ahead of them.

# %% tags=["nbval-ignore-output"]
if isinstance(division_results, dict) and ("best", "half") in division_results:
    display(widgets.came_out("15.E", division_results["best", "half"]))
else:
    print("Solve 15.9 first.")

# %% [markdown]
# ### 15.10 · What a ring costs
# 3 points · difficulty 2 of 5 · 9 minutes · core
#
# Before anyone rents a cluster, someone works out what a ring would cost. Write `ring_costs(L, P, num_heads, num_kv_heads, d_head, num_bytes, flops, bandwidth)` for the forward pass of one attention layer over one text. The mask is causal and the layout zigzag.
#
# | argument | what it is |
# |---|---|
# | `L`, `P` | tokens of the text, and ranks, at least 3 of them; `2 * P` divides `L` |
# | `num_heads`, `num_kv_heads` | query heads and key/value heads; the second divides the first |
# | `d_head`, `num_bytes` | size of a head, and bytes that each number takes |
# | `flops`, `bandwidth` | operations that a rank does in a second, and bytes that it sends in a second |
#
# | returned | what it is |
# |---|---|
# | `sent` | bytes of keys and values that each rank sends |
# | `kept` | bytes of keys and values that a rank has at once, at most. Its own stay, and a block that is arriving counts whole |
# | `fewest` | tokens that a rank needs at least, so that sending costs no time in any step. Count the operations as the page does, of what zigzag computes. Don't round |
#
# Example: `ring_costs(30, 5, 6, 2, 5, 4, 1350, 80)` is 1920, 1440 and 22.5.

# %% tags=["exercise"]
def ring_costs(L, P, num_heads, num_kv_heads, d_head, num_bytes, flops, bandwidth):
    # BEGIN SOLUTION
    keys_values = 2 * (L // P) * num_kv_heads * d_head * num_bytes  # of one rank
    sent = (P - 1) * keys_values
    kept = 3 * keys_values  # its own, the block in hand, the one that arrives
    share = 1 / 2  # of a block's pairs, in each step but the first
    operations = share * 4 * num_heads * d_head  # times n * n
    bytes_sent = 2 * num_kv_heads * d_head * num_bytes  # times n
    fewest = bytes_sent / bandwidth * flops / operations
    return sent, kept, fewest
    # END SOLUTION


# %% [markdown] tags=["mistakes"]
# Try: write down for one rank, step by step, how many bytes it hands on. What travels are keys and values, of the rank's own share of the text.
# keys and values are sent P times, but nobody needs them after the last step.
#     sent = (P - 1) * => sent = P *
# the bytes of all ranks are added up, not those of one.
#     sent = (P - 1) * => sent = P * (P - 1) *
# the way back is in it: forward, blocks go around once.
#     sent = (P - 1) * => sent = (3 * P - 2) *
# what an all_reduce sends of a block is taken for what a ring sends.
#     sent = (P - 1) * => sent = 2 * (P - 1) / P *
# a rank's keys and values are half of what they are: only keys are counted, or one of the rank's two chunks.
#     2 * (L // P) * num_kv_heads => (L // P) * num_kv_heads
# numbers are counted, not bytes.
#     num_kv_heads * d_head * num_bytes  # of one rank => num_kv_heads * d_head
# the whole text is taken for a rank's part of it.
#     (L // P) => L
# keys and values are counted with all query heads.
#     (L // P) * num_kv_heads => (L // P) * num_heads
# queries travel along: only keys and values have to.
#     sent = (P - 1) * keys_values => sent = (P - 1) * (keys_values + keys_values * num_heads // num_kv_heads // 2)
# Try: in the middle of a step, whose keys and values does a rank have? Don't forget its own, which are needed for the way back.
# of the three blocks at once only two are counted: its own, the one in hand or the one that arrives is missing.
#     kept = 3 * => kept = 2 *
# only a rank's own keys and values are counted, but one block more is in hand and another one arrives.
#     kept = 3 * => kept = 1 *
# what arrives is kept as if the rank gathered: a ring lets go of a block when it has been used.
#     kept = 3 * => kept = (P + 1) *
# every block of the text is kept: a ring lets go of a block when it has been used.
#     kept = 3 * => kept = P *
# two blocks are counted as arriving, or two as being sent: a copy that is sent is the block in hand.
#     kept = 3 * => kept = 4 *
# Try: write down the seconds that a step after the first computes, and the seconds that it sends, both with n; then set them equal.
# the bound is half of what it should be, as it would be without the mask: in each step after the first a rank computes half of the block's pairs.
#     share = 1 / 2 => share = 1
# the bound is a quarter of what it should be, as if the mask made it easier: with half of the work there is less for the sending to hide behind, so it takes more tokens.
#     share = 1 / 2 => share = 2
# the first step is taken for all steps: only there a rank computes three of the four squares.
#     share = 1 / 2 => share = 3 / 4
# all pairs are counted that a causal mask leaves, over the whole ring; a step has to hide its own sending.
#     share = 1 / 2 => share = 1 / 2 + 1 / (4 * P)
# nothing is gained from query heads that share keys: every query head computes, but only the key/value heads travel.
#     bytes_sent = 2 * num_kv_heads => bytes_sent = 2 * num_heads
# the bound grows with the query heads that share keys: with fewer keys to send, fewer tokens are enough.
#     flops / operations => flops / operations * (num_heads // num_kv_heads) ** 2
# the bound is divided by the key/value heads, not by the query heads that share one.
#     flops / operations => flops / operations * num_heads / num_kv_heads ** 2
# what comes back is F / S, the page's bound without a mask, without shared keys and for numbers of two bytes.
#     bytes_sent / bandwidth * flops / operations => flops / bandwidth
# numbers are taken to have two bytes, whatever num_bytes says.
#     bytes_sent = 2 * num_kv_heads * d_head * num_bytes => bytes_sent = 2 * num_kv_heads * d_head * 2
# what comes back is F / (g S), the page's bound without a mask and for numbers of two bytes; num_bytes doesn't come in.
#     bytes_sent = 2 * num_kv_heads * d_head * num_bytes => bytes_sent = 2 * num_kv_heads * d_head
# the bound is twice what it should be, as if a step had half of its operations: a multiplication and its addition are two, and of the squares half are computed.
#     share * 4 * num_heads => share * 2 * num_heads
# operations and bytes per second are taken for one another.
#     bytes_sent / bandwidth * flops / operations => bytes_sent / flops * bandwidth / operations
# the bound is rounded up to whole tokens.
#     return sent, kept, fewest => return sent, kept, math.ceil(fewest)
# the bound is rounded down to whole tokens.
#     return sent, kept, fewest => return sent, kept, int(fewest)
# what comes back is the length of the text, not the tokens of a rank.
#     return sent, kept, fewest => return sent, kept, P * fewest

# %% tags=["check"]
check("15.10", ring_costs)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# First the bytes of one rank's keys and values. How many such blocks does a rank hand on, and how many does it have in the middle of a step?
# </details>
# <details><summary>Hint 2</summary>
#
# For `fewest`, write two lines: the operations of a step and the bytes that are sent in it, for $n$ tokens. How many of the four squares does a rank compute in step 1 of zigzag?
# </details>

# %% tags=["solution"]
sent, kept, fewest = ring_costs(131_072, 8, 64, 8, 128, 2, 312e12, 12.5e9)
print(f"sent {sent / 1e6:.0f} MB, kept {kept / 1e6:.0f} MB, fewest {fewest:,.0f}")

# %% [markdown] tags=["solution"]
# That's the page's layer on 8 A100s over InfiniBand. Without a mask $F / (g S) = 3{,}120$ tokens would be enough. In zigzag each step after the first computes half of a block's pairs, so $2\,n^2 d$ operations for a head. The blocks still travel whole, because what this rank's queries don't see, those of another rank do. Work grows with the square of the tokens and bytes grow with the tokens, so it takes twice as many before the two are equal again. Each rank has 16,384, and nobody waits.

# %% [markdown]
# Your numbers for the page's layer, between machines and within one:

# %%
try:
    for link, bandwidth in (("InfiniBand", 12.5e9), ("NVLink", 300e9)):
        for P in (8, 16, 32, 64):
            costs = ring_costs(131_072, P, 64, 8, 128, 2, 312e12, bandwidth)
            sent, kept = (f"{x / 1e6:.0f} MB" for x in costs[:2])
            print(f"{link:10} {P:2} ranks: sent {sent}, kept {kept},", end=" ")
            print(f"has {131_072 // P:,} tokens, needs {costs[2]:,.0f}")
except NotImplementedError:
    print("Solve 15.10 first.")

# %% [markdown]
# *Between machines, from how many of these ranks on does the ring wait? And which cut would you take for this layer, on 8 GPUs of one machine, and on 8 machines with one GPU each?*
#
# <details><summary>Answers</summary>
#
# On 32 ranks each has 4,096 tokens and needs 6,240. So from there on it waits. Between machines it's the ring, which on 8 ranks hides all that it sends, while a sum over heads would come on top of computing. Within a machine both are fast, and what decides is the memory: by heads the weights are divided, by tokens the text. For a text as long as this one the ring keeps less (section 15.6).
# </details>

# %% [markdown]
# ## Payoff: a language model on four processes
#
# Lesson 12's language model reads 512 characters of its test text, the length it was trained on. In one process each layer has a table of 4 · 512 · 512 scores, 4 MB, and more than one of them at a time. Here no process may have more than 6 MB of tensors at once, and 3 of these are the model's weights. One process alone breaks that limit, as the first line of the output will say. The characters are dealt out to four processes. Each runs all four layers on its own characters, and only keys, values and positions travel.
#
# They travel in two ways. `"ring"` takes your `merge_parts` and your `ring_step`, which are on the short path. For the model the text is one document, so `starts` is `[0]`. (Everything together takes about half a minute.) Your `zigzag` deals the characters out, and until you've solved 15.6 they go in a row. `"gather"` takes your `gather_in_ring` and `merge_parts`, with the characters in a row.


# %%
def after_gathering(query, key, value, positions, communicator):
    """Attention of a rank's own queries, by your gather_in_ring and merge_parts."""
    gathered = []
    for x in (key, value, positions):
        program = gather_in_ring(communicator.rank, communicator.P, x)
        gathered.append(run_in_ring(program, communicator))  # (P, *x.shape)
    output, lse = torch.zeros_like(query), torch.full(query.shape[:-1], -math.inf)
    for k, v, k_positions in zip(*gathered, strict=True):
        part = partial_attention(query, k, v, k_positions <= positions[:, None])
        output, lse = merge_parts(output, lse, *part)
    return output


def in_a_ring(query, key, value, positions, communicator):
    """The same by your ring_step."""
    output, lse = torch.zeros_like(query), torch.full(query.shape[:-1], -math.inf)
    k_positions, starts = positions, torch.tensor([0])
    for step in range(communicator.P):
        if step < communicator.P - 1:
            arriving = communicator.exchange(key, value, k_positions)
        block = (key, value, positions, k_positions, starts)
        output, lse = ring_step(query, *block, output, lse)
        if step < communicator.P - 1:
            key, value, k_positions = arriving()
    return output


# %%
def my_attention(way, layer, y, positions, communicator):
    """Attention of one layer for a rank's own tokens, (B, n, d_model), by your code."""
    heads = layer.self_attention
    query = split_heads(heads.q_proj(y), heads.num_heads)  # (B, H, n, d_head)
    key = split_heads(heads.k_proj(y), heads.num_kv_heads)
    value = split_heads(heads.v_proj(y), heads.num_kv_heads)
    angles = rotary_angles(positions, heads.d_head).float()  # of the true positions
    query, key = (apply_rope(x, angles.cos(), angles.sin()) for x in (query, key))
    attend = in_a_ring if way == "ring" else after_gathering
    output = attend(query, key, value, positions, communicator)
    return heads.o_proj(merge_heads(output))


def my_model(rank, P, way, limit, tokens, targets, positions):
    model = pretrained.load("language_model").requires_grad_(False)
    communicator = Communicator()
    own = (tokens, targets, positions, *model.parameters())
    with TensorMemory(*own, limit=limit) as memory:
        x = model.embedding(tokens[None])  # (1, n, d_model)
        for layer in model.layers:
            y = layer.attention_norm(x)
            x = x + my_attention(way, layer, y, positions, communicator)
            x = x + layer.feed_forward(layer.feed_forward_norm(x))
        logits = model.generator(model.norm(x))[0]  # (n, V)
        nats = F.cross_entropy(logits, targets, reduction="sum")
    return nats.item(), memory.peak, communicator.bytes_sent


# %% tags=["nbval-ignore-output"]
test_text = encode_text(documentation_split().test)


def dealt_out(L, P):
    """Positions (P, L / P) by your zigzag, or in a row as long as there is none."""
    try:
        return zigzag(L, P)[0]
    except NotImplementedError:
        return torch.arange(L).view(P, -1)


def bits_on(P, way, L=512, limit=6_000_000):
    """Bits per character of the model on P processes, with your pieces."""
    positions = dealt_out(L, P) if way == "ring" else torch.arange(L).view(P, -1)
    shares = [(test_text[own], test_text[own + 1], own) for own in positions]
    ranks = run_on_ranks(my_model, P, way, limit, per_rank=shares).values
    for rank, (_, peak, sent) in enumerate(ranks):
        print(f"rank {rank} of {P}: {peak / 1e6:.1f} MB, sent {sent:,} bytes")
    return sum(nats for nats, _, _ in ranks) / L / math.log(2)


needed = {"ring": "15.2 and 15.3", "gather": "15.2 and 15.4"}
for P, way in ((1, "ring"), (4, "ring"), (4, "gather")):
    try:
        bits = bits_on(P, way)
        print(f"{way}, P = {P}, your pieces: {bits:.5f} bits per character")
    except (NotImplementedError, RanksFailed) as error:
        unsolved = "NotImplementedError" in f"{type(error).__name__} {error}"
        why = f"solve {needed[way]} first" if unsolved else str(error).splitlines()[0]
        print(f"{way}, P = {P}: {why}")

# %% tags=["nbval-ignore-output"]
language = pretrained.load("language_model").requires_grad_(False)
logits = language(test_text[None, :512])[0]  # (L, V)
nats = F.cross_entropy(logits, test_text[1:513])
print(f"the model in one process: {nats.item() / math.log(2):.5f} bits per character")

# %% [markdown]
# *Each rank says how much it sent. Can you account for every byte? (There are four layers with 2 key/value heads of size 32, and a position takes 8 bytes.) Then try `bits_on(8, "ring")` and `bits_on(8, "gather")`. What do twice as many ranks do to the memory of each, and to what it sends?*
#
# <details><summary>Answers</summary>
#
# On 4 ranks a rank has 128 characters. In each of 4 layers it sends three times keys and values, $2 \cdot 2 \cdot 32 \cdot 128$ numbers of 4 bytes, and 128 positions of 8 bytes: $4 \cdot 3 \cdot (65{,}536 + 1{,}024) = 798{,}720$. On 8 ranks it's $4 \cdot 7 \cdot (32{,}768 + 512) = 931{,}840$. A rank sends $(P - 1) / P$ of all keys, values and positions, so that stays below 1,064,960, however many ranks there are. The memory falls from 4.4 to 3.5 MB in the ring and from 4.6 to 3.7 MB when gathering. 3 MB of that are the weights, which every rank has whole. What is left falls by more than half.
# </details>

# %% [markdown]
# {{next_steps}}
