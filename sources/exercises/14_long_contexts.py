# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 14 · Long contexts: exercises
#
# Ten exercises, 31 points. You send gradients back through attention without a table of all weights, and write a cache that never grows. Then you write attention with a state, in steps and in chunks, and find out what such layers reach and remember. At the end pieces of yours meet two trained models.
#
# {{colab_link}} · short path about 48 minutes, everything about 135 · builds on {{lesson_link}}
#
# Write your code where it says `YOUR CODE HERE`, run the cell, then run the check below it. A check that fails says what differs and, if it knows your mistake,
# what your answer did; `hint()`, or a second failure, adds what to try. You may try as often as you like, and `failing_case()` hands you what the last failed check called your answer with. Hints are folded under each check. A function of `course_utils` that does what an exercise asks for is off limits in it. Tensors may be float32 or float64; what you return has the dtype of what you are given, and no answer may change its arguments.

# %% tags=["setup"]
import math
import time

import torch
import torch.nn.functional as F

from course_checks import check, failing_case, hint
from course_utils import pretrained, widgets
from course_utils.datasets.documentation import documentation_split
from course_utils.datasets.text_windows import decode_text, encode_text
from course_utils.decoding.sampling import draw_token
from course_utils.linear_attention import feature_map
from course_utils.memory import peak_memory
from course_utils.positions import apply_rope, rotary_angles
from course_utils.results import read_rows
from course_utils.small_models import recall

torch.set_printoptions(precision=3, sci_mode=False, linewidth=88)
torch.set_num_threads(1)  # the tensors here are small: more threads would wait

# %% [markdown]
# ### 14.1 · Back through a softmax with a sink
# 2 points · difficulty 2 of 5 · 6 minutes · core
#
# In gpt-oss (2025) each head has one extra learned score, its **sink**. The softmax runs over a row's scores *and* the sink, but the sink has no value. So the weights of the keys sum to less than 1, and the rest is the sink's weight. A head that finds nothing can leave nearly everything there. (Section 14.3 says more of sinks.)
#
# The loss depends on the weights of the keys, and `d_weights` says how: each entry is the derivative of the loss with respect to one weight. Write `softmax_backward(weights, d_weights)`, the derivatives with respect to the keys' scores and to the sink's score.
#
# | argument | shape |
# |---|---|
# | `weights` | `(..., L_k)`, what the softmax gave the keys; a row sums to 1 or less |
# | `d_weights` | `(..., L_k)`, the derivative of the loss with respect to each of these weights |
# | returns | a tuple of two: `(..., L_k)`, the derivative with respect to each key's score, and `(...)`, that with respect to the sink's score in each row |
#
# In a softmax one score moves all weights of its row, by $\partial a_j / \partial s_i = a_j (1 - a_i)$ if $j = i$ and by $-a_j a_i$ otherwise. That's also true of the sink. Written out, that's a table of `L_k` × `L_k` for every row, and there is no need to make it. In one case the check watches what you hold, and such a table is too much. The lesson has the keys' part for rows that sum to 1. What changes when a row sums to less? The scores themselves aren't given. Weights may be exactly 0, where a mask was. PyTorch's automatic differentiation is off limits.
#
# Example: `softmax_backward(torch.tensor([0.5, 0.25, 0.125]), torch.tensor([8.0, 0.0, 4.0]))` is `([1.75, -1.125, -0.0625], -0.5625)`. The sink has the weight 1/8.

# %% tags=["exercise"]
def softmax_backward(weights, d_weights):
    # BEGIN SOLUTION
    mean = (weights * d_weights).sum(dim=-1, keepdim=True)  # (..., 1)
    d_scores = weights * (d_weights - mean)  # (..., L_k)
    of_sink = 1 - weights.sum(dim=-1)  # (...)
    return d_scores, -of_sink * mean[..., 0]  # no value, so its own derivative is 0
    # END SOLUTION


# %% [markdown] tags=["mistakes"]
# Try: raising one score also lowers all other weights of its row. Where is that in your formula?
# each weight's derivative is multiplied by the weight, and nothing is taken off.
#     (d_weights - mean) => d_weights
# only the effect of each score on its own weight is there, a (1 - a) times the derivative.
#     (d_weights - mean) => (1 - weights) * d_weights
# Try: the sink's derivative counts in the sum as well, and it is 0. Are the weights that you use those that you were given?
# the keys' weights are made to sum to 1 for what is taken off, as if the sink weren't there.
#     mean = (weights * d_weights).sum(dim=-1, keepdim=True) => mean = (weights * d_weights).sum(dim=-1, keepdim=True) / weights.sum(dim=-1, keepdim=True)
# Try: raising the sink's score lowers every weight of the row. By how much, and what does that do to the loss?
# the sink is taken to have no derivative, since it has no value.
#     -of_sink * mean[..., 0] => 0 * of_sink
# the sink's derivative has the wrong sign: raising its score takes weight from the keys.
#     -of_sink * mean[..., 0] => of_sink * mean[..., 0]
# the sink's derivative isn't multiplied by the sink's weight.
#     -of_sink * mean[..., 0] => -mean[..., 0]
# the sink's derivative is multiplied by what is left for the keys, not by the sink's own weight.
#     of_sink = 1 - weights.sum(dim=-1) => of_sink = weights.sum(dim=-1)
# Try: what is taken off is a mean of the derivatives in which each counts as much as its weight.
# the plain mean of the derivatives is taken off, in which all keys count alike.
#     (weights * d_weights).sum(dim=-1, keepdim=True) => d_weights.mean(dim=-1, keepdim=True)
# the sum of the derivatives is taken off, not weighted by the weights.
#     (weights * d_weights).sum => d_weights.sum
# the products of weights and derivatives are averaged, not added up.
#     (weights * d_weights).sum => (weights * d_weights).mean
# the weighted mean is taken off after the multiplication, and so it counts whole for every key.
#     weights * (d_weights - mean) => weights * d_weights - mean
# the derivatives have their weighted mean taken off, and aren't multiplied by the weights.
#     weights * (d_weights - mean) => d_weights - mean
# the weighted mean is added.
#     d_weights - mean => d_weights + mean
# what is taken off leaves out the weight's own share, which (1 - a) counts already in another form.
#     (d_weights - mean) => (d_weights - mean + weights * d_weights)
# Try: every row has a sum of its own, over the keys.
# the sum runs over the queries and not over the keys.
#     mean = (weights * d_weights).sum(dim=-1, keepdim=True) => mean = (weights * d_weights).sum(dim=-2 if weights.dim() > 1 else -1, keepdim=True)
# one sum is taken over all rows together.
#     mean = (weights * d_weights).sum(dim=-1, keepdim=True) => mean = (weights * d_weights).sum() + torch.zeros_like(weights[..., :1])

# %% tags=["check"]
check("14.1", softmax_backward)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# Score $i$ is in every weight of its row, so its derivative is a sum over all weights $j$: the derivative with respect to weight $j$ times $\partial a_j / \partial s_i$. Write the sum out, with the term for $j = i$ apart.
# </details>
# <details><summary>Hint 2</summary>
#
# The sink is one more entry of the row. Its weight isn't in the loss, so the derivative with respect to its weight is 0. With respect to its score it isn't 0.
# </details>

# %% [markdown]
# ### 14.2 · Back through attention, in blocks
# 5 points · difficulty 4 of 5 · 25 minutes · more
#
# The forward pass has gone through causal attention in blocks. It has kept its output, and for each query one more number, the logarithm of the sum of the exponentials of its scores:
#
# $$\ell_i = \log \sum_{j \le i} e^{s_{ij}} \qquad s_{ij} = \frac{q_i \cdot k_j}{\sqrt{d_k}}$$
#
# Write the way back, `attention_backward(query, key, value, output, log_sums, d_output, block_size)`. It works out the weights again, block by block, and drops each block before it makes the next.
#
# | argument | shape |
# |---|---|
# | `query`, `key` | `(B, L, d_k)` |
# | `value` | `(B, L, d_v)` |
# | `output` | `(B, L, d_v)`, what the forward pass gave |
# | `log_sums` | `(B, L)`, $\ell_i$ |
# | `d_output` | `(B, L, d_v)`, the derivative of the loss with respect to each number of the output |
# | `block_size` | queries, and keys, of a block; the last block may be smaller |
# | returns | a tuple of the derivatives with respect to `query`, `key` and `value`, in their shapes |
#
# No table of `L` × `L` may exist at any time, nor all blocks of one in a list. In one case the check watches what you hold, be it tensors, arrays or lists. In another the scores lie above 1,000. PyTorch's automatic differentiation and ready-made attention are off limits.
#
# `softmax_backward` of 14.1 needs whole rows, for $\sum_n a_{in}\, g_{in}$. Here you only ever see a piece of a row. The lesson says where else that sum comes from.
#
# Example, with `L = 2` and all sizes 1: `query = [[[1.], [1.]]]`, `key = [[[0.], [1.0986]]]`, `value = [[[4.], [8.]]]`, `output = [[[4.], [7.]]]`, `log_sums = [[0., 1.3863]]` and `d_output = [[[1.], [2.]]]`. The second query has the weights 1/4 and 3/4. The derivatives are `[[[0.], [1.648]]]`, `[[[-1.5], [1.5]]]` and `[[[1.5], [1.5]]]`.

# %% tags=["exercise"]
def attention_backward(query, key, value, output, log_sums, d_output, block_size):
    # BEGIN SOLUTION
    L, scale = query.shape[1], query.shape[-1] ** -0.5
    d_query, d_key, d_value = (torch.zeros_like(x) for x in (query, key, value))
    mean = (d_output * output).sum(dim=-1, keepdim=True)  # (B, L, 1)
    for start in range(0, L, block_size):
        rows = slice(start, start + block_size)
        q, d_o = query[:, rows], d_output[:, rows]  # (B, n, d) each
        for first in range(0, start + 1, block_size):
            keys = slice(first, first + block_size)
            k, v = key[:, keys], value[:, keys]  # (B, m, d) each
            scores = scale * (q @ k.mT)  # (B, n, m)
            weights = (scores - log_sums[:, rows, None]).exp()
            weights = weights.tril(diagonal=start - first)  # in the last block only
            d_weights = d_o @ v.mT  # (B, n, m)
            d_scores = weights * (d_weights - mean[:, rows])
            d_value[:, keys] += weights.mT @ d_o
            d_query[:, rows] += scale * (d_scores @ k)
            d_key[:, keys] += scale * (d_scores.mT @ q)
    return d_query, d_key, d_value
    # END SOLUTION


# %% [markdown] tags=["mistakes"]
# Try: the weighted mean of a whole row is the row's output times d_output, added up over d_v. A block alone doesn't know it.
# what 14.1 takes off is taken over the keys of one block, not over the whole row.
#     d_weights - mean[:, rows] => d_weights - (weights * d_weights).sum(dim=-1, keepdim=True)
# nothing is taken off the derivatives of the weights, as if the sum of the row weren't there.
#     (d_weights - mean[:, rows]) => d_weights
# Try: exp(score - log_sum) is the weight itself. No other division is needed.
# every block's weights are made to sum to 1 within the block.
#     (scores - log_sums[:, rows, None]).exp() => (scores - scores.amax(-1, keepdim=True)).exp()\n            weights = weights / weights.tril(diagonal=start - first).sum(-1, keepdim=True)
# the exponentials are taken for the weights: log_sums plays no part.
#     (scores - log_sums[:, rows, None]).exp() => scores.exp()
# exponentials of the scores as they are, divided by those of log_sums: they overflow where scores are large.
#     (scores - log_sums[:, rows, None]).exp() => scores.exp() / log_sums[:, rows, None].exp()
# Try: the scores are divided by the root of d_k, so the factor comes once more in what reaches queries and keys.
# the factor 1 / sqrt(d_k) is in the scores, and missing on the way back to queries and keys.
#     scale * (d_scores @ k) => d_scores @ k
#     scale * (d_scores.mT @ q) => d_scores.mT @ q
# the scores are made anew without the factor 1 / sqrt(d_k).
#     scale * (q @ k.mT) => q @ k.mT
# Try: a query sees itself and what comes before it, in the block on the diagonal too.
# weights that are hidden are multiplied by 0, but some of their exponentials are infinite, and that gives NaN.
#     weights.tril(diagonal=start - first) => weights * torch.ones_like(weights).tril(diagonal=start - first)
# the triangle is cut out of every block, though before the diagonal all keys may be seen.
#     .tril(diagonal=start - first) => .tril()
# nothing is hidden within the block on the diagonal, so queries see what comes after them.
#     .tril(diagonal=start - first) => .tril(diagonal=max(start - first, block_size))
# only the blocks on the diagonal are there: what lies more than a block back is missing.
#     range(0, start + 1, block_size) => range(start, start + 1, block_size)
# the block on the diagonal is left out.
#     range(0, start + 1, block_size) => range(0, start, block_size)
# Try: a key is seen from several blocks of queries. Its derivative is the sum of what comes from each.
# the derivatives of keys and values keep only what the last block of queries gave.
#     d_value[:, keys] += => d_value[:, keys] =
#     d_key[:, keys] += => d_key[:, keys] =
# Try: which of the two tables, weights or their derivatives, leads from the output to the values?
# the derivatives of the values come from those of the scores, not from the weights.
#     weights.mT @ d_o => d_scores.mT @ d_o

# %% tags=["check"]
check("14.2", attention_backward)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# Write it first for one block that holds everything. Weights from scores and `log_sums`. From `d_output` to the values and to the weights, as back through any matrix product. From the weights to the scores as in 14.1. From the scores to queries and keys.
# </details>
# <details><summary>Hint 2</summary>
#
# $\sum_n a_{in}\, (\bar o_i \cdot v_n) = \bar o_i \cdot \sum_n a_{in} v_n$, and the last sum is something that you have.
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# 1. three tensors of zeros; the number of hint 2 for each query
# 2. for every block of queries, for every block of keys that isn't after it: the weights again, 0 where the key is later
# 3. add to the values' part: weights, transposed, times `d_output`
# 4. derivatives of weights, then of scores
# 5. add to the queries' part and to the keys' part, each with the factor of the scores
# </details>

# %% [markdown]
# The long run, with your own function: 8,192 queries and keys. The table of all weights would take 268 MB, and on the way back there would be several of them. How much more memory does your process need? (Some seconds.)


# %% tags=["nbval-ignore-output"]
def forward_in_rows(query, key, value, size):
    """Output and log_sums; one block of queries against all keys that it may see."""
    outputs, log_sums = [], []
    for start in range(0, query.shape[1], size):
        q, stop = query[:, start : start + size], start + size
        scores = q @ key[:, :stop].mT / query.shape[-1] ** 0.5  # (B, size, stop)
        later = torch.ones_like(scores, dtype=torch.bool).triu(start + 1)
        scores = scores.masked_fill(later, -math.inf)
        outputs.append(scores.softmax(dim=-1) @ value[:, :stop])
        log_sums.append(scores.logsumexp(dim=-1))
    return torch.cat(outputs, dim=1), torch.cat(log_sums, dim=1)


# %% tags=["nbval-ignore-output"]
random = torch.Generator().manual_seed(0)
queries, keys, values, d_outputs = torch.randn(4, 1, 8192, 32, generator=random)
outputs, all_log_sums = forward_in_rows(queries, keys, values, 256)
try:
    gradients, megabytes = peak_memory(
        lambda: attention_backward(
            queries, keys, values, outputs, all_log_sums, d_outputs, 256
        )
    )
except NotImplementedError:
    print("Still missing: your answer to 14.2. Then run this cell again.")
else:
    sees_all = queries[:, -1:].clone().requires_grad_()  # the last query sees every key
    F.scaled_dot_product_attention(sees_all, keys, values).backward(d_outputs[:, -1:])
    is_same = torch.allclose(gradients[0][:, -1:], sees_all.grad, atol=1e-5)
    print(f"the last query's derivative is PyTorch's: {is_same}; {megabytes:.0f} MB")

# %% [markdown]
# ### 14.3 · A cache that never grows
# 3 points · difficulty 3 of 5 · 12 minutes · core
#
# A model writes, one position after another, with a cache of fixed size. The cache keeps the first `sinks` positions of the text and the latest `window`, so there is room for `sinks + window`. Write one step, `cached_step(query, key, value, keys, values, window, sinks)`: put the newest position into the cache, drop one if there is no room, and attend.
#
# | argument | shape |
# |---|---|
# | `query`, `key` | `(B, d)` of the newest position, not yet turned; `d` is even |
# | `value` | `(B, d_v)` |
# | `keys`, `values` | `(B, n, d)` and `(B, n, d_v)`, what is kept so far, the oldest first, keys not turned; `n` is 0 at first, and never more than `sinks + window` |
# | `window`, `sinks` | `window` is 1 or more and counts the newest position, too; `sinks` is 0 or more |
# | returns | a tuple of the output `(B, d_v)`, and of the keys and the values that are kept now, in the same form: the oldest first, keys not turned |
#
# As long as there is room, every position is kept. The newest one attends to all that are kept after the step, itself included, and scores are divided by the square root of `d`, as always. Each key is turned to its **place in the cache** after the step, counted from 0, and the query to the place of its own key. The library turns for you: `angles = rotary_angles(places, d)`, with places as whole numbers `(m,)`, has shape `(m, d // 2)`, and `apply_rope(x, angles.cos(), angles.sin())` turns `x`, `(..., m, d)`. The library's caches are off limits.
#
# Example, with `window=2` and `sinks=1`: kept are the keys `[[[1., 0.], [0., 1.], [1., 1.]]]` with the values `[[[1.], [5.], [3.]]]`. Now come the query `[[1., 0.]]`, the key `[[1., 0.]]` and the value `[[4.]]`. The second of the kept ones has to go. The output is `[[3.0991]]`, and kept are `[[[1., 0.], [1., 1.], [1., 0.]]]` and `[[[1.], [3.], [4.]]]`.

# %% tags=["exercise"]
def cached_step(query, key, value, keys, values, window, sinks):
    # BEGIN SOLUTION
    keys = torch.cat((keys, key[:, None]), dim=1)  # (B, n + 1, d)
    values = torch.cat((values, value[:, None]), dim=1)
    if keys.shape[1] > sinks + window:  # the oldest that is no sink goes
        keys, values = (
            torch.cat((x[:, :sinks], x[:, sinks + 1 :]), dim=1) for x in (keys, values)
        )
    d = key.shape[-1]
    angles = rotary_angles(torch.arange(keys.shape[1]), d).to(key.dtype)  # (n, d // 2)
    turned = apply_rope(keys, angles.cos(), angles.sin())  # (B, n, d)
    last = angles[-1:]
    query = apply_rope(query[:, None], last.cos(), last.sin())  # (B, 1, d)
    weights = (query @ turned.mT / d**0.5).softmax(dim=-1)  # (B, 1, n)
    return (weights @ values)[:, 0], keys, values
    # END SOLUTION


# %% [markdown] tags=["mistakes"]
# Try: which position goes when there is no room? Not the very first, if there are sinks.
# the oldest of all goes, sinks or not.
#     torch.cat((x[:, :sinks], x[:, sinks + 1 :]), dim=1) for x => x[:, 1:] for x
# the newest of the kept ones goes, not the oldest that is no sink.
#     torch.cat((x[:, :sinks], x[:, sinks + 1 :]), dim=1) for x => torch.cat((x[:, :-2], x[:, -1:]), dim=1) for x
# one sink too few is kept.
#     torch.cat((x[:, :sinks], x[:, sinks + 1 :]), dim=1) for x => torch.cat((x[:, : max(sinks - 1, 0)], x[:, max(sinks - 1, 0) + 1 :]), dim=1) for x
# Try: as long as there is room nothing is dropped, and no position is there twice.
# the first and the latest are put together in short texts too, so some positions are there twice.
#     if keys.shape[1] > sinks + window: => if True:
#     torch.cat((x[:, :sinks], x[:, sinks + 1 :]), dim=1) for x => torch.cat((x[:, :sinks], x[:, -window:]), dim=1) for x
# the sinks aren't counted as room of their own: the cache has window positions in all.
#     keys.shape[1] > sinks + window => keys.shape[1] > window
# where the cache is full nothing is dropped, as if the newest position didn't count.
#     if keys.shape[1] > sinks + window: => if False:
# one position less than there is room for is kept.
#     keys.shape[1] > sinks + window => keys.shape[1] > sinks + window - 1 and keys.shape[1] > 1
# Try: attend to what is kept after the step, the newest position included.
# the newest position doesn't see itself.
#     weights = (query @ turned.mT / d**0.5).softmax(dim=-1) => weights = (query @ turned.mT / d**0.5); weights[..., -1] = -1e9 if turned.shape[1] > 1 else 0.0; weights = weights.softmax(dim=-1)
# it attends before it drops, so one position too many is seen.
#     keys = torch.cat((keys, key[:, None]), dim=1) => all_keys = keys = torch.cat((keys, key[:, None]), dim=1)
#     values = torch.cat((values, value[:, None]), dim=1) => all_values = values = torch.cat((values, value[:, None]), dim=1)
#     torch.arange(keys.shape[1]) => torch.arange(all_keys.shape[1])
#     apply_rope(keys, => apply_rope(all_keys,
#     (weights @ values)[:, 0] => (weights @ all_values)[:, 0]
# Try: places are counted in the cache, and keys are handed on as they came.
# the keys that are kept are turned ones, and in the next step they are turned again.
#     return (weights @ values)[:, 0], keys, values => return (weights @ values)[:, 0], turned, values
# neither the keys nor the query are turned.
#     turned = apply_rope(keys, angles.cos(), angles.sin()) => turned = keys
#     query = apply_rope(query[:, None], last.cos(), last.sin()) => query = query[:, None]
# the keys are turned, and the query isn't.
#     query = apply_rope(query[:, None], last.cos(), last.sin()) => query = query[:, None]
# the query is turned, and the keys aren't.
#     turned = apply_rope(keys, angles.cos(), angles.sin()) => turned = keys
# the query has the place that was free before one was dropped, one too far once the cache is full.
#     keys = torch.cat((keys, key[:, None]), dim=1) => before = keys.shape[1]; keys = torch.cat((keys, key[:, None]), dim=1)
#     last = angles[-1:] => last = rotary_angles(torch.tensor([before]), d).to(key.dtype)
# the query always has the last place of a full cache, while there is still room, too.
#     last = angles[-1:] => last = rotary_angles(torch.tensor([sinks + window - 1]), d).to(key.dtype)
# the places are counted before one is dropped, so there is a gap behind the sinks.
#     keys = torch.cat((keys, key[:, None]), dim=1) => before = keys.shape[1]; keys = torch.cat((keys, key[:, None]), dim=1)
#     torch.arange(keys.shape[1]) => torch.tensor([i for i in range(before + 1) if before < sinks + window or i != sinks])
# the query stands one place behind its own key.
#     last = angles[-1:] => last = rotary_angles(torch.tensor([keys.shape[1]]), d).to(key.dtype)
# the places run backward: the newest has place 0.
#     torch.arange(keys.shape[1]) => torch.arange(keys.shape[1]).flip(0)
# the values are turned as well.
#     (weights @ values)[:, 0], keys => (weights @ (apply_rope(values, *(f(rotary_angles(torch.arange(values.shape[1]), values.shape[-1])).to(key.dtype) for f in (torch.cos, torch.sin))) if values.shape[-1] % 2 == 0 else values))[:, 0], keys
# Try: scores are divided by the root of d, then comes the softmax.
# the scores aren't divided by the root of d.
#     query @ turned.mT / d**0.5 => query @ turned.mT
# the scores are divided by the root of d_v, not of d.
#     turned.mT / d**0.5 => turned.mT / value.shape[-1] ** 0.5
# the scores are divided by d, not by its root.
#     turned.mT / d**0.5 => turned.mT / d
# Try: the newest position comes last, in the keys and in the values.
# the newest is written into the place of the one that went, so the order is lost.
#     torch.cat((x[:, :sinks], x[:, sinks + 1 :]), dim=1) for x => torch.cat((x[:, :sinks], x[:, -1:], x[:, sinks + 1 : -1]), dim=1) for x
#     last = angles[-1:] => last = angles[sinks : sinks + 1] if keys.shape[1] == sinks + window and not torch.equal(keys[:, -1], key) else angles[-1:]
# the newest position is put first, though the oldest stands there.
#     torch.cat((keys, key[:, None]), dim=1) => torch.cat((key[:, None], keys), dim=1)
#     torch.cat((values, value[:, None]), dim=1) => torch.cat((value[:, None], values), dim=1)

# %% tags=["check"]
check("14.3", cached_step)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# Put the newest position at the end first. Then there's at most one too many. At which index is the oldest one that is no sink?
# </details>
# <details><summary>Hint 2</summary>
#
# Turn copies of the keys for this step, and hand on the keys as they came. The query belongs to the last place.
# </details>

# %% [markdown]
# ### 14.4 · What can still matter
# 3 points · difficulty 3 of 5 · 12 minutes · more
#
# A model with windows: in a layer with window $w$ a position sees itself and the $w - 1$ before it. A layer without a limit sees all that came before. A layer may also keep **sinks**, the first $s$ positions of the text, which every later position sees beside its window. Layers differ in both. Each position hands on what it had, too, as residual connections do.
#
# Which characters of the text can have any influence on what the last layer says at `position`? Write `reached(layers, position)`.
#
# | argument | meaning |
# |---|---|
# | `layers` | a list of pairs `(window, sinks)`, the first layer first; `window` is 1 or more, or `None` for no limit; `sinks` is 0 or more |
# | `position` | counted from 0 |
# | returns | a tuple of two whole numbers `(first, count)` |
#
# The stretch without a gap that ends at `position` begins at `first`: from there on every position can have an influence. `count` says how many positions can have one, those before the stretch included. Positions may be as large as $10^{15}$, so no table and no loop over positions will do.
#
# Examples: `reached([(4, 0), (3, 1)], 20)` is `(15, 7)`, the six positions from 15 to 20 and position 0. `reached([(4, 0), (3, 1)], 6)` is `(0, 7)`, because there the sink closes the gap.

# %% tags=["exercise"]
def reached(layers, position):
    # BEGIN SOLUTION
    first, sinks = position, 0
    for window, sinks_here in layers:
        first = 0 if window is None else max(first - (window - 1), 0)
        sinks = max(sinks, sinks_here)
    if sinks >= first:  # the two stretches touch
        return 0, position + 1
    return first, position - first + 1 + sinks
    # END SOLUTION


# %% [markdown] tags=["mistakes"]
# Try: a window of 4 reaches 3 positions back. How far do two such layers reach?
# every window is taken to reach as many positions back as it holds, itself included.
#     (window - 1) => window
# the widest window alone counts, though every layer hands on what those below it saw.
#     max(first - (window - 1), 0) => min(first, max(position - (window - 1), 0))
# the last layer's window alone counts.
#     max(first - (window - 1), 0) => max(position - (window - 1), 0)
# Try: a layer without a limit reaches everything, wherever in the stack it is.
# a layer without a limit is taken to add nothing.
#     0 if window is None else => first if window is None else
# Try: no text begins before position 0.
# the stretch begins before the text does.
#     max(first - (window - 1), 0) => first - (window - 1)
#     if sinks >= first: => if False:
# Try: a sink sees only what comes before it. What can the sinks of several layers reach together?
# the sinks of all layers are added up.
#     max(sinks, sinks_here) => sinks + sinks_here
# only the last layer's sinks count.
#     max(sinks, sinks_here) => sinks_here
# only the first layer's sinks count.
#     max(sinks, sinks_here) => layers[0][1]
# the smallest number of sinks counts, as if all layers had to keep a position.
#     max(sinks, sinks_here) => min(other for _, other in layers)
# the sinks play no part.
#     max(sinks, sinks_here) => 0
# Try: where the sinks meet the stretch there is no gap, and no position counts twice.
# sinks that lie within the stretch count twice, and they never make it longer.
#     if sinks >= first: => if False:
# where the sinks end right before the stretch, a gap is seen between them.
#     sinks >= first => sinks > first
# Try: the position itself counts.
# the position itself isn't counted.
#     position - first + 1 + sinks => position - first + sinks
#     return 0, position + 1 => return 0, position

# %% tags=["check"]
check("14.4", reached)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# Walk down from the last layer. It sees some positions. For each of these, ask what the layer below sees. Draw it for two windows of 3.
# </details>
# <details><summary>Hint 2</summary>
#
# Position 0 can't know anything of position 5. So a way through a sink leads to the sink and to what comes before it, and never to the middle of the text.
# </details>

# %% [markdown]
# ### 14.5 · A state and its normalizer
# 3 points · difficulty 3 of 5 · 10 minutes · core
#
# Attention with a softmax divides by the sum of a row's exponentials. Linear attention as it was first published (Katharopoulos et al., 2020) also divides, so that each output is a mean of values:
#
# $$o_i = \frac{\sum_{j \le i} \big(\phi(q_i) \cdot \phi(k_j)\big)\, v_j}{\sum_{j \le i} \phi(q_i) \cdot \phi(k_j)} \qquad \phi(x) = \mathrm{elu}(x) + 1$$
#
# Write `linear_attention(query, key, value, state, normalizer)`, one position after another, without a table of all queries and keys. For the numerator, one matrix holds all that must be kept of the past. For the denominator, something smaller will do. You're given what earlier text left of each, and you hand both on, so that a text can come in pieces.
#
# | argument | shape |
# |---|---|
# | `query`, `key` | `(B, L, d_k)`, before $\phi$ |
# | `value` | `(B, L, d_v)` |
# | `state` | `(B, d_k, d_v)`, what earlier positions left; zeros at the start of a text |
# | `normalizer` | `(B, d_k)`, what they left for the denominator; zeros at the start |
# | returns | a tuple of the output `(B, L, d_v)`, the state and the normalizer after the last position |
#
# `feature_map` is $\phi$. A position sees itself. Leave the tensors that you are given as they are. In one case the check watches what you hold, and a table of `L` × `L` is too much.
#
# Example, with `d_k = 2`, `d_v = 1` and zeros to start from: `query = [[[0., 1.], [0., 2.]]]`, `key = [[[1., 0.], [1., 2.]]]` and `value = [[[4.], [12.]]]` give the output `[[[4.], [9.5]]]`, the state `[[[32.], [40.]]]` and the normalizer `[[4., 4.]]`. The second query has 5 for the first key and 11 for the second, so its output is $(5 \cdot 4 + 11 \cdot 12) / 16$.

# %% tags=["exercise"]
def linear_attention(query, key, value, state, normalizer):
    # BEGIN SOLUTION
    q, k = feature_map(query), feature_map(key)  # (B, L, d_k) each
    outputs = []
    for t in range(query.shape[1]):
        state = state + k[:, t, :, None] * value[:, t, None, :]  # (B, d_k, d_v)
        normalizer = normalizer + k[:, t]  # (B, d_k)
        read = (q[:, t, :, None] * state).sum(dim=1)  # (B, d_v)
        total = (q[:, t] * normalizer).sum(dim=-1, keepdim=True)  # (B, 1)
        outputs.append(read / total)
    return torch.stack(outputs, dim=1), state, normalizer
    # END SOLUTION


# %% [markdown] tags=["mistakes"]
# Try: the denominator adds up over all keys so far, as the state does.
# nothing is divided: the outputs grow with the text.
#     read / total => read
# what divides is the product with the latest key alone, not with all keys so far.
#     total = (q[:, t] * normalizer) => total = (q[:, t] * k[:, t])
# the outputs are divided by the number of positions so far, not by the sum of their weights.
#     read / total => read / (t + 1)
# Try: both parts begin with what the text before left, and the state that is handed on is never divided.
# the normalizer starts from zeros: what the text before left for it is ignored.
#     outputs = [] => outputs, normalizer = [], torch.zeros_like(normalizer)
# the state starts from zeros: what the text before left in it is ignored.
#     outputs = [] => outputs, state = [], torch.zeros_like(state)
# state and normalizer both start from zeros, so the text before is forgotten.
#     outputs = [] => outputs, state, normalizer = [], torch.zeros_like(state), torch.zeros_like(normalizer)
# Try: every query and every key goes through the feature map, and the values don't.
# the feature map is missing: queries and keys are used as they came.
#     q, k = feature_map(query), feature_map(key) => q, k = query, key
# the feature map is applied to the keys only.
#     q, k = feature_map(query), => q, k = query,
# the feature map is applied to the queries only.
#     feature_map(key) => key
# elu is there, and the 1 that is added to it isn't.
#     q, k = feature_map(query), feature_map(key) => q, k = F.elu(query), F.elu(key)
# Try: write first, then read. A position sees itself.
# each position reads before it writes, so it doesn't see itself.
#     (q[:, t, :, None] * state) => (q[:, t, :, None] * (state - k[:, t, :, None] * value[:, t, None, :]))
#     (q[:, t] * normalizer) => (q[:, t] * (normalizer - k[:, t]))
# a position's value is in the state before it reads, but its key isn't yet in what divides.
#     (q[:, t] * normalizer) => (q[:, t] * (normalizer - k[:, t]))

# %% tags=["check"]
check("14.5", linear_attention)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# In both sums $\phi(q_i)$ is the same in every term. Take it out of the sums. What is left of the denominator?
# </details>
# <details><summary>Hint 2: pseudocode</summary>
#
# For every position: add its key times its value, a table of `d_k` × `d_v`, to the state. Add its key to the normalizer. Read the state with the query, read the normalizer with the query, and divide the one by the other. Keys and queries are those after the feature map.
# </details>

# %% [markdown]
# ### 14.6 · Decay, in chunks
# 5 points · difficulty 5 of 5 · 25 minutes · more
#
# Now nothing is divided. Instead every position has a decay $\alpha_i$, which multiplies the whole state before the position writes into it:
#
# $$S_i = \alpha_i\, S_{i-1} + k_i^\top v_i \qquad o_i = q_i S_i$$
#
# Write `decayed_chunks(query, key, value, decay, chunk_size, state)`, which gives the same with few operations. Within a chunk it works with a table of queries by keys, and from chunk to chunk it hands on a state.
#
# | argument | shape |
# |---|---|
# | `query`, `key` | `(B, L, d_k)`; no feature map |
# | `value` | `(B, L, d_v)` |
# | `decay` | `(B, L)`, above 0 and at most 1 |
# | `chunk_size` | positions of a chunk; the last one may have fewer |
# | `state` | `(B, d_k, d_v)`, what earlier text left |
# | returns | a tuple of the output `(B, L, d_v)` and the state after the last position |
#
# Decays may be so small that what they leave, multiplied over a chunk, is 0 in float32. Nothing may become NaN then. In one case the check counts the operations: 16 chunks of 256 positions, and 2,000 operations of PyTorch. One loop over the chunks has plenty of room, and a loop over 4,096 positions hasn't. It also watches what you hold, as in 14.2. The three forms of `course_utils.linear_attention` are off limits.
#
# Example, with all sizes 1 and `chunk_size = 2`: `query = [[[1.], [1.], [1.]]]`, `key = [[[1.], [1.], [1.]]]`, `value = [[[4.], [6.], [1.]]]`, `decay = [[0.5, 0.25, 0.5]]`, `state = [[[8.]]]` give the output `[[[8.], [8.], [5.]]]` and the state `[[[5.]]]`. The first state is $0.5 \cdot 8 + 4$, the second $0.25 \cdot 8 + 6$.

# %% tags=["exercise"]
def decayed_chunks(query, key, value, decay, chunk_size, state):
    # BEGIN SOLUTION
    outputs = []
    for start in range(0, query.shape[1], chunk_size):
        here = slice(start, start + chunk_size)
        q, k, v = query[:, here], key[:, here], value[:, here]  # (B, C, d) each
        logs = decay[:, here].log().cumsum(dim=1)  # (B, C)
        gaps = logs[:, :, None] - logs[:, None, :]  # (B, C, C)
        left = gaps.tril().exp().tril()  # of what position j wrote, at position i
        of_state = logs.exp()[:, :, None]  # (B, C, 1)
        inside = (left * (q @ k.mT)) @ v  # (B, C, d_v)
        outputs.append(of_state * (q @ state) + inside)
        written = (left[:, -1, :, None] * k).mT @ v  # (B, d_k, d_v)
        state = of_state[:, -1:] * state + written
    return torch.cat(outputs, dim=1), state
    # END SOLUTION


# %% [markdown] tags=["mistakes"]
# Try: a quotient of two products that are both 0 is NaN. Is there another way to say how much of position j is left at i?
# products of decays are divided by one another: 0 / 0 where both have faded away.
#     gaps.tril().exp().tril() => (decay[:, here].cumprod(dim=1)[:, :, None] / decay[:, here].cumprod(dim=1)[:, None, :]).tril()
#     of_state = logs.exp() => of_state = decay[:, here].cumprod(dim=1)
# where products of decays are 0, a small number stands in for them: what two neighbors share is lost.
#     gaps.tril().exp().tril() => (logs.exp()[:, :, None] / (logs.exp()[:, None, :] + 1e-12)).tril()
# exponentials above the diagonal overflow, and they are multiplied by 0, which gives NaN.
#     gaps.tril().exp().tril() => gaps.exp() * torch.ones_like(gaps).tril()
# Try: at position i the state before the chunk has faded by the decays of this chunk up to i.
# what earlier chunks left is read as if nothing of it had faded within the chunk.
#     of_state * (q @ state) => q @ state
# what earlier chunks left isn't read.
#     of_state * (q @ state) + inside => inside
# within a chunk nothing fades.
#     gaps.tril().exp().tril() => torch.ones_like(gaps).tril()
# nothing is hidden within a chunk: positions see later ones.
#     gaps.tril().exp().tril() => gaps.clamp(max=0).exp()
# Try: a position's decay comes before it writes, so its own writing hasn't faded when it reads.
# what a position wrote is faded by its own decay already: written first, then faded.
#     logs[:, :, None] - logs[:, None, :] => logs[:, :, None] - (logs - decay[:, here].log())[:, None, :]
# Try: at the end of a chunk the old state has faded by all its decays, and each writing by those that came after it.
# the old state goes on to the next chunk as if it hadn't faded.
#     of_state[:, -1:] * state => state
# the old state isn't carried over: the next chunk knows the one before it alone.
#     of_state[:, -1:] * state + written => written
# what a chunk wrote goes on to the next as if none of it had faded.
#     left[:, -1, :, None] * k => k
# what a chunk wrote is faded as if all of it had stood at the chunk's beginning.
#     (left[:, -1, :, None] * k) => (of_state[:, -1:] * k)
# the logarithms are added up over the whole text, so the state fades by all earlier chunks again.
#     decay[:, here].log().cumsum(dim=1) => decay.log().cumsum(dim=1)[:, here]
# Try: begin with the state that you are given.
# it begins with an empty state, whatever it is given.
#     outputs = [] => outputs, state = [], torch.zeros_like(state)

# %% tags=["check"]
check("14.6", decayed_chunks)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# An output is a sum of two parts, one from the state that the chunk began with and one from the chunk itself. For position 3 of a chunk, by which decays is each multiplied? Write them down for the positions 1, 2 and 3 of the chunk and for the state.
# </details>
# <details><summary>Hint 2</summary>
#
# The product of the decays from $j + 1$ to $i$ is a quotient of two running products, which may be 0 / 0. As logarithms it is a difference of two running sums, and these stay moderate. Above the diagonal the difference is positive, maybe large. Get rid of it before the exponential.
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# 1. running sums of the logarithms of the chunk's decays
# 2. a table: what is left at $i$ of position $j$, and 0 above the diagonal
# 3. the output: the old state as each query reads it, faded, and the table times the products of queries and keys, applied to the values
# 4. the new state: the old one, faded by the whole chunk, and the keys times the values, each faded by what the table's last row says
# </details>

# %% [markdown]
# ### 14.7 · Fade, then replace
# 2 points · difficulty 2 of 5 · 6 minutes · core
#
# The lesson has two remedies for a state that only ever adds: let everything fade, or replace what is under a key. Put them together. First the whole state fades. Then the write looks up what the faded state says of the key, and moves that toward the new value. Write one such write, `delta_write(state, key, value, decay, beta)`.
#
# | argument | shape |
# |---|---|
# | `state` | `(B, d_k, d_v)` |
# | `key` | `(B, d_k)`, of any length but 0 |
# | `value` | `(B, d_v)` |
# | `decay` | `(B,)`, above 0, and at most 1 (nothing fades) |
# | `beta` | `(B,)`, from 0 (write nothing) to 1 (replace) |
# | returns | `(B, d_k, d_v)`, the state after it, as a new tensor |
#
# Bring each key to length 1 first. Let the state have said $u$ of this unit key, and let the decay be $\alpha$. Afterwards it must say $(1 - \beta)\, \alpha u + \beta v$. Of every key at a right angle to it, it must say $\alpha$ times what it said before.
#
# Example: `state = [[[10.], [5.]]]`, `key = [[3., 4.]]`, `value = [[20.]]`, `decay = [0.5]`, `beta = [0.5]`. The unit key is `[0.6, 0.8]`, of which the faded state says 5. After the write it says 12.5, and the state is `[[[9.5], [8.5]]]`.

# %% tags=["exercise"]
def delta_write(state, key, value, decay, beta):
    # BEGIN SOLUTION
    unit = key / key.norm(dim=-1, keepdim=True)  # (B, d_k)
    faded = decay[:, None, None] * state  # (B, d_k, d_v)
    stored = (unit[:, :, None] * faded).sum(dim=1)  # (B, d_v)
    change = beta[:, None] * (value - stored)  # (B, d_v)
    return faded + unit[:, :, None] * change[:, None, :]  # (B, d_k, d_v)
    # END SOLUTION


# %% [markdown] tags=["mistakes"]
# Try: read with the key before you write. What is there has to go as far as the new value comes in.
# the new value is added, and the old one stays as it was.
#     (value - stored) => value
# the new value comes in with the share beta, and the old one is taken out whole.
#     beta[:, None] * (value - stored) => beta[:, None] * value - stored
# the old value goes with the share beta, and the new one comes in whole.
#     beta[:, None] * (value - stored) => value - beta[:, None] * stored
# beta plays no part: each write replaces all.
#     beta[:, None] * (value => 1.0 * (value
# beta and 1 - beta are exchanged.
#     beta[:, None] * => (1 - beta[:, None]) *
# what is stored is added once more in place of being taken out.
#     value - stored => value + stored
# Try: only what the state says of this key may change. A key at a right angle to it must find what it found before.
# the whole state fades by 1 - beta, whatever the key: other keys lose their values too.
#     return faded + => return (1 - beta[:, None, None]) * faded +
#     (value - stored) => value
# Try: the decay comes before everything else, for the lookup as well as for what is handed on.
# the value is looked up in the state as it was, before it faded.
#     (unit[:, :, None] * faded) => (unit[:, :, None] * state)
# the lookup knows of the decay, and the state that is handed on hasn't faded.
#     return faded + => return state +
# nothing fades: the decay plays no part.
#     faded = decay[:, None, None] * state => faded = state
# what is written fades as well.
#     return faded + unit[:, :, None] * change[:, None, :] => return faded + decay[:, None, None] * unit[:, :, None] * change[:, None, :]
# Try: read and write with the same key, of length 1.
# the key is used as it came, not brought to length 1.
#     key / key.norm(dim=-1, keepdim=True) => key
# the key is brought to length 1 for the read only, and written as it came.
#     return faded + unit => return faded + key
# the key is brought to length 1 for the write only, and read as it came.
#     (unit[:, :, None] * faded) => (key[:, :, None] * faded)
# the key is divided by the square of its length.
#     key.norm(dim=-1, keepdim=True) => key.norm(dim=-1, keepdim=True) ** 2
# all keys of the batch are divided by one length.
#     key.norm(dim=-1, keepdim=True) => key.norm()

# %% tags=["check"]
check("14.7", delta_write)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# What does a read with the unit key find? What should it find afterwards? Write the difference under the key, as linear attention writes a value.
# </details>
# <details><summary>Hint 2</summary>
#
# If you write a vector $u$ under a key of length 1, a read with this key finds exactly $u$ more than before. With a key of length 5 it would be 25 times as much.
# </details>

# %% [markdown]
# ### 14.8 · Find the bug
# 2 points · difficulty 2 of 5 · 10 minutes · core
#
# Linear attention of 14.5 in chunks, with what divides and without decay. Each output is a mean of values, so if all values are 1, every output must be 1. In a text of one chunk that's so. In longer ones something is wrong:


# %%
def mean_in_chunks_broken(query, key, value, chunk_size):
    q, k = feature_map(query), feature_map(key)  # (B, L, d_k) each
    state = q.new_zeros(len(q), q.shape[-1], value.shape[-1])  # (B, d_k, d_v)
    outputs = []
    for start in range(0, q.shape[1], chunk_size):
        here = slice(start, start + chunk_size)
        table = (q[:, here] @ k[:, here].mT).tril()  # (B, C, C)
        above = table @ value[:, here] + q[:, here] @ state  # (B, C, d_v)
        below = table.sum(dim=-1, keepdim=True)  # (B, C, 1)
        outputs.append(above / below)
        state = state + k[:, here].mT @ value[:, here]
    return torch.cat(outputs, dim=1)


q, k = torch.randn(2, 1, 12, 8, generator=torch.Generator().manual_seed(0))
for size in (12, 4):
    print(size, mean_in_chunks_broken(q, k, torch.ones(1, 12, 1), size).flatten())

# %% [markdown]
# Write `mean_in_chunks(query, key, value, chunk_size)`, repaired: whatever the chunk size, the output is that of the formula in 14.5 for a text that begins with this one.
#
# | argument | shape |
# |---|---|
# | `query`, `key` | `(B, L, d_k)`, before the feature map |
# | `value` | `(B, L, d_v)` |
# | `chunk_size` | positions of a chunk; the last one may have fewer |
# | returns | `(B, L, d_v)` |
#
# It must stay in chunks. In one case the check watches what you hold, and allows at most 2,000 operations for 16 chunks.

# %% tags=["exercise"]
def mean_in_chunks(query, key, value, chunk_size):
    # BEGIN SOLUTION
    q, k = feature_map(query), feature_map(key)  # (B, L, d_k) each
    state = q.new_zeros(len(q), q.shape[-1], value.shape[-1])  # (B, d_k, d_v)
    normalizer = q.new_zeros(len(q), q.shape[-1], 1)  # (B, d_k, 1)
    outputs = []
    for start in range(0, q.shape[1], chunk_size):
        here = slice(start, start + chunk_size)
        table = (q[:, here] @ k[:, here].mT).tril()  # (B, C, C)
        above = table @ value[:, here] + q[:, here] @ state  # (B, C, d_v)
        below = table.sum(dim=-1, keepdim=True) + q[:, here] @ normalizer  # (B, C, 1)
        outputs.append(above / below)
        state = state + k[:, here].mT @ value[:, here]
        normalizer = normalizer + k[:, here].sum(dim=1)[:, :, None]
    return torch.cat(outputs, dim=1)
    # END SOLUTION


# %% [markdown] tags=["mistakes"]
# Try: what is above the line also reads the state. What is below it must know of earlier chunks as well.
# the bug is still there: what divides begins anew in every chunk.
#     ` + q[:, here] @ normalizer` =>
# every chunk forgets those before it, above the line too: a mean, but of one chunk's values.
#     ` + q[:, here] @ normalizer` =>
#     ` + q[:, here] @ state` =>
# Try: the sum of the products of a query with all earlier keys is its product with the sum of these keys.
# the next chunk gets the last query's total, but every query has products of its own with the old keys.
#     q[:, here] @ normalizer => normalizer
#     q.new_zeros(len(q), q.shape[-1], 1) => q.new_zeros(len(q), 1, 1)
#     normalizer + k[:, here].sum(dim=1)[:, :, None] => below[:, -1:]
# only the keys of the chunk right before are added up, not those of all chunks before.
#     normalizer + k[:, here].sum(dim=1)[:, :, None] => k[:, here].sum(dim=1)[:, :, None]
# the keys of earlier chunks are averaged, not added up.
#     k[:, here].sum(dim=1) => k[:, here].mean(dim=1)
# only the last key of each chunk is added to what divides.
#     k[:, here].sum(dim=1)[:, :, None] => k[:, here][:, -1, :, None]
# the keys that are added up didn't go through the feature map.
#     normalizer + k[:, here].sum(dim=1) => normalizer + key[:, here].sum(dim=1)
# Try: the chunk's own keys are in the table already.
# the chunk's own keys are added to the normalizer before it is read, so they count twice.
#     q[:, here] @ normalizer => q[:, here] @ (normalizer + k[:, here].sum(dim=1)[:, :, None])
# Try: add up what is above the line, add up what is below it, and divide once.
# the chunk's part and the past's part are divided each by its own sum, and then added.
#     outputs.append(above / below) => inside = table @ value[:, here] / table.sum(dim=-1, keepdim=True)\n        past = q[:, here] @ state / (q[:, here] @ normalizer).clamp(min=1e-9)\n        outputs.append(inside + past)
# the chunk's part is divided by its own sum, and what comes from the state isn't divided at all.
#     outputs.append(above / below) => outputs.append(table @ value[:, here] / table.sum(dim=-1, keepdim=True) + q[:, here] @ state)
# the outputs are divided by the number of positions so far.
#     above / below => above / torch.arange(start + 1, start + 1 + above.shape[1])[:, None]

# %% tags=["check"]
check("14.8", mean_in_chunks)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# Print `above` and `below` for a text of two chunks, values 1. Which of the two is already right in the second chunk?
# </details>
# <details><summary>Hint 2</summary>
#
# With values 1 the state itself says what is missing. What does it consist of then?
# </details>

# %% [markdown]
# ### 14.9 · Why recall falls
# 2 points · difficulty 3 of 5 · 4 minutes · core
#
# A layer with linear attention reads pairs and is asked for the value of a key. It has learned on texts of 4 to 64 pairs, and with 64 pairs it's right half of the time. To find the reason, each row changes something. Rows 2 to 5 are new trainings, row 2 with one seed only. The last row tests the layers of the first row on 8 pairs, each of them eight times with the same value, in a random order. All use the learning rate that was chosen for this kind. These are the shares of right answers, for texts of 8 pairs and of 64, and with 64 pairs also by the place of the pair that is asked for. (Where values are twice as large, so are the embeddings. Queries have the size of keys.)
#
# Run the cell below for the numbers. Which cause fits all its rows?
#
# - **a.** The state fades. By the time of the question, what came early is gone.
# - **b.** The state has too few numbers. It makes no difference how many of them are for keys and how many for values.
# - **c.** The keys overlap, so other values are mixed in as noise, and among it the right one is hard to tell.
# - **d.** The training was too short. The layer knows how to recall, and hasn't finished learning long texts.
# - **e.** The texts are too long. After so many writes something in the layer gets out of hand.

# %%
rows = [row for row in read_rows("recall") if row["part"] == "shown"]
rows = [row for row in rows if (row["kind"], row["task"]) == ("linear", "once")]
columns = ("8 pairs", "64 pairs", "first of 64", "last of 64")
changes = {  # what is changed -> size of keys, size of values, updates
    "nothing": ("8", "64", "1000"),
    "ten times as many updates": ("8", "64", "10000"),
    "keys half, values twice as large": ("4", "128", "1000"),
    "keys twice as large": ("16", "64", "1000"),
    "values twice as large": ("8", "128", "1000"),
}


def mean_share(change, column):
    """The mean over all seeds of this training."""
    names = ("d_head", "d_model", "updates")
    found = [r for r in rows if tuple(r[n] for n in names) == changes[change]]
    return sum(float(row[column]) for row in found) / len(found)


print(f"{'what is changed':34}", *(f"{name:>11}" for name in columns))
for change in changes:
    shares = [mean_share(change, column) for column in columns]
    print(f"{change:34}", *(f"{share:11.2f}" for share in shares))
print(f"{'8 pairs, eight times each':34} {mean_share('nothing', '8 repeated'):11.2f}")

# %% tags=["quiz"]
quiz_14_9 = ""  # your letter between the quotes
# BEGIN SOLUTION
quiz_14_9 = "c"
# END SOLUTION

# %% [markdown] tags=["solution"]
# Why each option is right or wrong:
#
# - **a.** then the first pairs would be recalled less often than the last. They are recalled just as often.
# - **b.** in the third row the state has as many numbers as in the first, and it recalls about half as much. In the fourth and the fifth it has twice as many, and larger keys help more than larger values. So it matters what the numbers are for.
# - **c.** more numbers in a key are more directions that are at right angles to one another, and that helps most. Larger values help as well, since they are easier to tell from a mixture. (The lesson has both for random keys and values, with nothing trained.) It hits early and late pairs alike, and it's there after any training.
# - **d.** ten times as many updates bring a few hundredths at most. What is missing is half.
# - **e.** with repetitions the text is as long and as much is written, and it's right as often as with 8 pairs alone. The whole state is multiplied by eight, and the norm behind the layer takes that out.

# %% tags=["check"]
check("14.9", quiz_14_9)

# %% [markdown]
# ### 14.10 · Experiment: a larger state or a better rule?
# 4 points · difficulty 3 of 5 · 25 minutes · more
#
# Two ways to recall more. Make the state larger, or write into it by a better rule. In these texts every key comes twice with two values, and the later one counts (`twice=True`). Train the layer of the lesson in four forms, `"linear"` and `"delta"`, each with a `d_head` of 4 and of 16, and give each just 200 updates. The states of the two with 16 have four times as many numbers. All four have nearly the same number of parameters.

# %%
widgets.predict(
    "14.E",
    "After 200 updates, which of these two recalls more, with 8 pairs and with 64?",
    choices=["linear with d_head 16, both", "delta with d_head 4, both", "one each"],
)

# %% [markdown]
# `recall.train(kind, seed, d_head=4, twice=True, steps=200, every=200)` is an iterator. It hands out `(200, model)`, so get the model with `for` or `next`. `recall.accuracy(model, pairs, twice=True)` is the share of right answers on 256 new texts of so many pairs. Leave the learning rate as it is, and use the seeds 0 and 1.
#
# Is a layer done after 200 updates? Its curve can't say, because the learning rate falls to 0 over the 200, and so every curve gets flat at its end. So train longer and compare. Train each of the four forms once more from seed 0, with `steps=400, every=400`. All twelve trainings take about a minute, more on a busy machine.
#
# Put into `recall_results`:
#
# | entry | what |
# |---|---|
# | `(kind, d_head, pairs)` | a list of two numbers, one for each seed, the share after 200 updates. For both kinds, both sizes, and 8, 32 and 64 pairs. That makes 12 lists |
# | `(kind, d_head, "longer")` | the share for 64 pairs after the training of 400 updates. That makes 4 numbers |
# | `("more", 8)`, `("more", 64)` | `("linear", 16)` or `("delta", 4)`, the one that recalls more of so many pairs after 200 updates, by the mean of the two seeds |
# | `"not done"` | the list of all pairs `(kind, d_head)` whose share in `"longer"` is at least 1.25 times what seed 0 had for 64 pairs after 200 updates. For these 200 updates were too few to compare them |
# | `("more", "longer")` | the one of the two that recalls more of 64 pairs after the longer training. Does your answer under `("more", 64)` stand? |

# %% tags=["exercise"]
recall_results = {}
# BEGIN SOLUTION
FORMS = [(kind, d_head) for kind in ("linear", "delta") for d_head in (4, 16)]


def trained(form, seed, steps):
    how = {"d_head": form[1], "twice": True, "steps": steps, "every": steps}
    ((_, model),) = recall.train(form[0], seed, **how)
    return model


for form in FORMS:
    models = [trained(form, seed, 200) for seed in (0, 1)]
    for pairs in (8, 32, 64):
        recall_results[*form, pairs] = [
            recall.accuracy(model, pairs, twice=True) for model in models
        ]
    longer = recall.accuracy(trained(form, 0, 400), 64, twice=True)
    recall_results[*form, "longer"] = longer

means = {key: sum(v) / 2 for key, v in recall_results.items() if key[-1] != "longer"}
for pairs in (8, 64):
    both = [("linear", 16), ("delta", 4)]
    recall_results["more", pairs] = max(both, key=lambda form: means[*form, pairs])
recall_results["not done"] = [
    (kind, d_head)
    for kind, d_head in FORMS
    if recall_results[kind, d_head, "longer"]
    >= 1.25 * recall_results[kind, d_head, 64][0]
]
both = [("linear", 16), ("delta", 4)]
longer = max(both, key=lambda form: recall_results[*form, "longer"])
recall_results["more", "longer"] = longer
# END SOLUTION

# %% tags=["check"]
check("14.10", recall_results)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# A function that trains one layer and returns it saves much writing, with kind, `d_head`, seed and number of updates as its arguments. Then two loops, over the four forms and over the seeds.
# </details>
# <details><summary>Hint 2</summary>
#
# "After 400 updates" is another training, with another learning rate at each step. So don't mix its shares with the others: compare a layer's two trainings for `"not done"`, and the two layers' longer trainings for `("more", "longer")`.
# </details>

# %% tags=["solution", "nbval-ignore-output"]
print("8, 32 and 64 pairs; 64 by seed 0 alone, after 400")
for form in FORMS:
    row = [f"{means[*form, pairs]:.2f}" for pairs in (8, 32, 64)]
    alone = f"{recall_results[*form, 64][0]:.2f}, {recall_results[*form, 'longer']:.2f}"
    print(f"{form[0]:7} {form[1]:2}  ", *row, f"  {alone}")
for key in (("more", 8), ("more", 64), "not done", ("more", "longer")):
    print(key, recall_results[key])

# %% [markdown] tags=["solution"]
# It depends on how much there is to keep. With 8 pairs there are 4 keys, which have room in a `d_head` of 4. The rule decides, since adding up leaves both values in the state and the layer can only guess which of them came later. The linear rule is right about half of the time, with either size. With 64 pairs there are 32 keys. Now a `d_head` of 4 is much too small whatever the rule, and the larger state wins, though it adds up. A better rule and a larger state cure different troubles, and the layer that has both is ahead everywhere.
#
# Not done are both layers with the delta rule. With 400 updates they recall about one and a half times as much, the two linear ones hardly more. So after 200 updates you compare two layers that are nearly done with two that aren't. `("more", 64)` stands all the same, since after 400 updates the larger linear layer is still far ahead of the small one with the delta rule. But how much the delta rule *can* recall, 200 updates can't tell.

# %% tags=["nbval-ignore-output"]
if isinstance(recall_results, dict) and ("more", 64) in recall_results:
    few, many = (tuple(recall_results["more", pairs]) for pairs in (8, 64))
    both = f"{few[0]} with d_head {few[1]}, both"
    display(widgets.came_out("14.E", both if few == many else "one each"))
else:
    print("Solve 14.10 first.")

# %% [markdown]
# ## Payoff: your pieces in trained models
#
# First lesson 12's language model. Its four layers look at windows of 16 characters, with the first 2 as sinks. It reads 100 characters one after another, and then says what comes next. Which characters have an influence on that? The next cell replaces one character at a time and looks whether any logit changes. Your `reached` says beforehand how many such characters there must be.

# %%
language = pretrained.load("language_model").requires_grad_(False)


def influences(model, window, sinks, length=100):
    """The positions at which another character changes the logits after the last."""
    text = encode_text(documentation_split().test)[:length]
    texts = text.repeat(length + 1, 1)  # (length + 1, length), the last row as it is
    texts.diagonal()[:] = (text + 1) % model.config.vocab_size
    cache = model.start_window(length + 1, window, sinks=sinks)
    for place in range(length):
        logits = model.next_logits(texts[:, place : place + 1], cache=cache)
    differ = (logits[:-1] - logits[-1]).abs().amax(dim=-1) > 1e-10  # (length,)
    return differ.nonzero().flatten().tolist()


# %% tags=["nbval-ignore-output"]
try:
    first, count = reached([(16, 2)] * 4, 99)
except NotImplementedError:
    print("Solve 14.4 first: this cell needs your answer.")
else:
    found = influences(language.double(), 16, 2)
    language.float()
    print(f"your answer: {count} positions, without a gap from {first} on")
    print(f"the model's: {len(found)} positions, {found[:4]} and so on")

# %% [markdown]
# Now it writes, with 4 sinks and the latest 252 characters in each layer, a cache that never grows. The time for each 500 characters should stay the same, however long the text gets. Set `characters` to 20,000 if you have a few minutes. (It stops by itself after `most_seconds`, and then it has written less.)


# %% tags=["nbval-ignore-output"]
def write(characters, most_seconds=60):
    """Ids, and the seconds that each 500 took."""
    cache = language.start_window(1, 252, sinks=4)
    rng = torch.Generator().manual_seed(0)
    token, written, seconds = encode_text("T")[None], [], []
    started = time.perf_counter()
    while len(written) < characters and sum(seconds) < most_seconds:
        logits = language.next_logits(token, cache=cache)
        token = draw_token(logits, temperature=0.8, generator=rng)  # (1, 1)
        written.append(token.item())
        if len(written) % 500 == 0:
            seconds.append(time.perf_counter() - started)
            started = time.perf_counter()
    return written, seconds


written, seconds = write(characters=2000)
print("seconds for each 500:", [f"{s:.1f}" for s in seconds])
print("...", repr(decode_text(torch.tensor(written[-60:]))))
try:
    first, count = reached([(252, 4)] * 4, len(written))
    print(f"for the next one, {count} of {len(written) + 1} can matter")
except NotImplementedError:
    print("Solve 14.4, and this cell says which of them can still matter.")

# %% [markdown]
# Finally, your chunks and your writes go to work inside layers that are trained to recall. Two of them get 200 updates here, which takes about ten seconds. Then the queries, keys, values and gates that the layers make go through **your** functions in place of the library's.


# %% tags=["nbval-ignore-output"]
def with_your_pieces(model, keys, values):
    """The logits of a Recaller, by decayed_chunks or by delta_write."""
    x, y = model.key_of(keys), model.value_of(values)  # (n, L, d_model) each
    q, k, v = model.q_proj(x), F.normalize(model.k_proj(x), dim=-1), model.v_proj(y)
    question = values == recall.SYMBOLS  # it writes nothing
    k = k.masked_fill(question[..., None], 0.0)
    gate = model.gate(x + y).squeeze(-1).sigmoid()  # (n, L)
    state = x.new_zeros(len(x), k.shape[-1], v.shape[-1])
    if model.kind == "decay":
        found, _ = decayed_chunks(q, k, v, gate, 16, state)
    else:
        reads, all_stays = [], torch.ones(len(x))  # a decay of 1
        for t in range(x.shape[1]):
            if not question[0, t]:  # in all rows the same places are questions
                state = delta_write(state, k[:, t], v[:, t], all_stays, gate[:, t])
            reads.append((q[:, t, :, None] * state).sum(dim=1))  # (n, d_model)
        found = torch.stack(reads, dim=1)  # (n, L, d_model)
    return model.answer(model.norm(found))


# %% tags=["nbval-ignore-output"]
for kind, number in (("delta", "14.7"), ("decay", "14.6")):
    for _, model in recall.train(kind, 0, d_head=32, steps=200, every=200):
        model.requires_grad_(False)
    keys, values, answers = recall.make_batch(128, 8, torch.Generator().manual_seed(5))
    try:
        yours, its = with_your_pieces(model, keys, values), model(keys, values)
    except NotImplementedError:
        print(f"{kind}: solve {number} first, this part needs your answer")
        continue
    same = torch.allclose(yours, its, atol=1e-3)
    right = (yours[:, 8:].argmax(dim=-1) == answers).float().mean().item()
    print(f"{kind}: {right:.0%} right with your pieces, same logits: {same}")

# %% [markdown]
# *Both layers keep their whole past in a state of 32 × 64 numbers. How many pairs would a cache of as many numbers hold? And what happens to your chunks with a decay of exactly 0?*
#
# <details><summary>Answers</summary>
#
# A key and a value are 32 + 64 numbers, so 2,048 numbers hold 21 pairs. With a decay of 0 its logarithm is minus infinity. If your chunks take differences of such logarithms, they get minus infinity minus minus infinity, which is NaN. A sigmoid is never 0 in exact numbers, but in float32 it can be.
# </details>

# %% [markdown]
# {{next_steps}}
