# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 03 · Attention in sequence-to-sequence models: exercises
#
# Eight exercises, 27 points. At the end you have written the attention step, a loss, the decoding and the error rate of a model that pronounces words, and put them to work on your own name.
#
# {{colab_link}} · core exercises 20 minutes, all of them 130 · builds on {{lesson_link}}
#
# Write your code where it says `YOUR CODE HERE`, run the cell, then run the check below it. A check that fails says what differs and, if it knows your mistake, what your answer did; `hint()`, or a second failure, adds what to try. You may try as often as you like. Hints are folded under each check. A function of `course_utils` that does what an exercise asks for is off limits in it.
#
# An answer never changes its arguments in place, and what it computes has their dtype. In 3.1, 3.2, 3.3 and 3.6 gradients must flow through it: use torch operations from first to last.

# %% tags=["setup"]
import copy

import torch
import torch.nn.functional as F
from torch import nn

from course_checks import check, failing_case, hint
from course_utils import plotting, pretrained
from course_utils.datasets.pronunciations import split
from course_utils.metrics import edit_distance
from course_utils.models.recurrent import RecurrentState
from course_utils.pretrained.pronunciation import SOUNDS, SPELLING
from course_utils.pretrained.pronunciation import error_rates, require_word
from course_utils.tokenizers import END_ID, PAD_ID, START_ID

speller = pretrained.load("recurrent_attention")

# %% [markdown]
# ### 3.1 · One attention step, wherever the padding is
# 4 points · difficulty 3 of 5 · 15 minutes · core
#
# Write `attention_step(state, encoded, W_q, W_k, w_v, mask)`, for all words of a batch at once. The state of the decoder asks all encoder states. The score of letter $j$ is
#
# $$e_j = w_v^\top \tanh(W_q\, s + W_k\, h_j) ,$$
#
# the weights are the softmax of the scores over the **real** letters, and the context is the weighted sum of the encoder states $h_j$. Padding gets weight 0, however low the scores of the real letters are and however high its own: in one case of the check the real letters' scores lie near -800 and the padding's near 800. Some libraries pad on the left: the mask alone says which letters are real.
#
# | argument | shape |
# |---|---|
# | `state` | `(B, d_hidden)`, one $s$ for each word |
# | `encoded` | `(B, L_s, d_enc)`, all $h_j$ |
# | `W_q` | `(d_att, d_hidden)` |
# | `W_k` | `(d_att, d_enc)` |
# | `w_v` | `(d_att,)` |
# | `mask` | `(B, L_s)`, boolean, True at real letters; each word has at least one, and padding may be anywhere |
# | returns `context`, `weights` | `(B, d_enc)`, `(B, L_s)` |
#
# Example, one word with its padding on the left: `state = [[1.]]`, `encoded = [[[9., 9.], [0., 4.], [1., 0.]]]`, `mask = [[False, True, True]]`, `W_q = [[1.]]`, `W_k = [[1., 0.]]`, `w_v = [2.]`. The real letters' scores are $2 \tanh 1 = 1.523$ and $2 \tanh 2 = 1.928$. The weights are `[[0.000, 0.400, 0.600]]`, the context is `[[0.600, 1.601]]`.
#
# `torch.softmax` is allowed; the course's own attention and `masked_softmax` are off limits.

# %% tags=["exercise"]
def attention_step(state, encoded, W_q, W_k, w_v, mask):
    # BEGIN SOLUTION
    hidden = torch.tanh((state @ W_q.T)[:, None] + encoded @ W_k.T)  # (B, L_s, d_att)
    scores = hidden @ w_v  # (B, L_s)
    hidden_away = scores.masked_fill(~mask, float("-inf"))
    weights = torch.softmax(hidden_away, dim=-1)  # (B, L_s), each row sums to 1
    context = (weights[:, :, None] * encoded).sum(dim=1)  # (B, d_enc)
    return context, weights
    # END SOLUTION


# %% [markdown] tags=["mistakes"]
# Try: padding must have no share from the start: hide its scores before the softmax, by a number that exp makes 0.
# the mask comes after the softmax: rows of words with padding sum to less than 1.
#     torch.softmax(hidden_away, dim=-1) => torch.softmax(scores, dim=-1) * mask
# the mask plays no part: padding gets weight.
#     scores.masked_fill(~mask, float("-inf")) => scores
# the padding's scores become 0, or nearly so, and exp(0) is 1.
#     scores.masked_fill(~mask, float("-inf")) => scores * mask
# padding takes part in the softmax and is taken out after it: where its scores are far higher, nothing is left.
#     torch.softmax(hidden_away, dim=-1) => torch.softmax(scores, dim=-1) * mask\n    weights = weights / weights.sum(-1, keepdim=True)
# Try: fill with float("-inf"), or with a number that lies below every score, such as -1e9.
# what hides the padding is not low enough: where the real letters' scores lie near -800, padding takes all the weight.
#     float("-inf") => -100.0
# Try: mask is True at real letters, and masked_fill fills where its first argument is True.
# the mask is read the other way round: the real letters are hidden, and the padding is seen.
#     scores.masked_fill(~mask, float("-inf")) => scores.masked_fill(mask, -1e9)
# the mask is read the other way round: the real letters are hidden, and a word without padding is NaN.
#     scores.masked_fill(~mask, float("-inf")) => scores.masked_fill(mask, float("-inf"))
# Try: padding may be anywhere: use the mask itself, not its sum.
# as many letters as are real are taken, but always from the front.
#     scores.masked_fill(~mask, float("-inf")) => scores.masked_fill(torch.arange(mask.shape[1]) >= mask.sum(1, keepdim=True), float("-inf"))
# Try: follow the formula from the inside: everything is added up, then one tanh, then the product with w_v.
# the tanh is left out: the state shifts all scores alike.
#     torch.tanh =>
# each projection has a tanh of its own: the state shifts all scores of a word alike, and changes no weight.
#     torch.tanh((state @ W_q.T)[:, None] + encoded @ W_k.T) => (state @ W_q.T).tanh()[:, None] + (encoded @ W_k.T).tanh()
# the scores are divided by the root of d_att.
#     hidden @ w_v => hidden @ w_v / len(w_v) ** 0.5
# the two projections are multiplied.
#     torch.tanh((state @ W_q.T)[:, None] + encoded @ W_k.T) => torch.tanh((state @ W_q.T)[:, None] * (encoded @ W_k.T))

# %% tags=["check"]
check("3.1", attention_step)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# Project both sides first: the state once for each word, the encoder states once for each letter. To add the two, the projected state needs an axis of size 1 where the letters are.
# </details>
# <details><summary>Hint 2</summary>
#
# `masked_fill(where, number)` fills where its first argument is True. Which number has the exponential 0?
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# 1. project the state, `(B, 1, d_att)`, and the encoder states, `(B, L_s, d_att)`; add; tanh
# 2. dot product with `w_v`: scores `(B, L_s)`
# 3. hide the padding's scores; softmax over the letters
# 4. multiply each encoder state by its weight; add over the letters
# </details>

# %% [markdown]
# ### 3.2 · A score that knows where it looked last
# 5 points · difficulty 4 of 5 · 20 minutes · more
#
# The score of 3.1 sees contents only. In a word like `banana` it cannot tell the second *an* from the first by its letters. Chorowski et al. (2015) let the score see the *previous* step's weights too. A few **filters** of odd width slide over them. Filter $k$, whose middle entry is number $r$, gives letter $j$ the number
#
# $$f_{jk} = \sum_{o=-r}^{r} \text{filters}_{k,\, r+o}\; \alpha^{\text{previous}}_{j+o} ,$$
#
# where weights beyond either end of the row count as 0. So entry 0 of a filter meets the letter $r$ places to the *left*. Then
#
# $$e_j = w_v^\top \tanh(W_q\, s + W_k\, h_j + W_f\, f_j) ,$$
#
# and the weights are the softmax over the real letters, as in 3.1, also where all their scores lie near -800. Write `location_weights(state, encoded, previous, filters, W_q, W_k, W_f, w_v, mask)`.
#
# | argument | shape |
# |---|---|
# | `state`, `encoded`, `W_q`, `W_k`, `w_v`, `mask` | as in 3.1 |
# | `previous` | `(B, L_s)`, the weights of the step before; 0 at padding |
# | `filters` | `(n, 2 r + 1)` |
# | `W_f` | `(d_att, n)` |
# | returns the new weights | `(B, L_s)` |
#
# Example: `previous = [[0., 1., 0., 0.]]` and the one filter `[[1., 0., 0.]]` give $f = 0, 0, 1, 0$: the letter *after* the one looked at. With `W_f = [[1.]]`, `w_v = [3.]`, `W_q` and `W_k` all 0, and all four letters real, the scores are $0, 0, 3 \tanh 1, 0$ and the weights `[[0.078, 0.078, 0.766, 0.078]]`.
#
# The course's own attention is off limits.

# %% tags=["exercise"]
def location_weights(state, encoded, previous, filters, W_q, W_k, W_f, w_v, mask):
    # BEGIN SOLUTION
    r = filters.shape[1] // 2
    wide = F.pad(previous, (r, r))  # (B, L_s + 2 r), zeros beyond the ends
    windows = wide.unfold(1, filters.shape[1], 1)  # (B, L_s, 2 r + 1)
    features = windows @ filters.T  # (B, L_s, n)
    keys = encoded @ W_k.T + features @ W_f.T  # (B, L_s, d_att)
    scores = torch.tanh((state @ W_q.T)[:, None] + keys) @ w_v  # (B, L_s)
    return torch.softmax(scores.masked_fill(~mask, float("-inf")), dim=-1)
    # END SOLUTION


# %% [markdown] tags=["mistakes"]
# Try: work out the example for j = 2: which entry of the filter meets the letter that was looked at?
# the filters are turned round.
#     windows @ filters.T => windows @ filters.flip(1).T
# Try: the window's middle is the letter itself, with r weights on either side; beyond the ends they are 0.
# beyond one end of the word the window goes on at the other.
#     F.pad(previous, (r, r)) => previous[:, torch.arange(-r, previous.shape[1] + r) % previous.shape[1]]
# beyond the ends the outermost weight is repeated.
#     F.pad(previous, (r, r)) => previous[:, torch.arange(-r, previous.shape[1] + r).clamp(0, previous.shape[1] - 1)]
# each window begins at its letter.
#     F.pad(previous, (r, r)) => F.pad(previous, (0, 2 * r))
# each window ends at its letter.
#     F.pad(previous, (r, r)) => F.pad(previous, (2 * r, 0))
# a filter meets its own letter's weight alone.
#     windows @ filters.T => previous[:, :, None] * filters[:, r]
# every letter gets the same f: it comes from the whole row of weights.
#     windows @ filters.T => (previous.sum(1)[:, None, None] * filters.sum(1)).expand(*previous.shape, -1)
# Try: fill with float("-inf"), or with a number that lies below every score, such as -1e9.
# what hides the padding is not low enough: where the real letters' scores lie near -800, padding takes all the weight.
#     float("-inf") => -100.0
# Try: padding must have no share from the start: hide its scores before the softmax, by a number that exp makes 0.
# the mask comes after the softmax: rows of words with padding sum to less than 1.
#     torch.softmax(scores.masked_fill(~mask, float("-inf")), dim=-1) => torch.softmax(scores, dim=-1) * mask
# the mask plays no part: padding gets weight.
#     scores.masked_fill(~mask, float("-inf")) => scores
# Try: follow the formula from the inside: everything is added up, then one tanh, then the product with w_v.
# the tanh is left out: the state shifts all scores alike.
#     torch.tanh =>
# the scores are divided by the root of d_att.
#     keys) @ w_v => keys) @ w_v / len(w_v) ** 0.5
# Try: mask is True at real letters, and masked_fill fills where its first argument is True.
# the mask is read the other way round: the real letters are hidden, and the padding is seen.
#     scores.masked_fill(~mask, float("-inf")) => scores.masked_fill(mask, -1e9)
# Try: follow the formula from the inside: everything is added up, then one tanh, then the product with w_v.
# W_f f_j is added after the tanh.
#     ` + features @ W_f.T` =>
#     torch.tanh((state @ W_q.T)[:, None] + keys) => (torch.tanh((state @ W_q.T)[:, None] + keys) + features @ W_f.T)

# %% tags=["check"]
check("3.2", location_weights)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# Work out the example by hand for $j = 2$: which $o$ brings you to the letter that was looked at, and which entry of the filter belongs to it?
# </details>
# <details><summary>Hint 2</summary>
#
# Put $r$ zeros on either side of the previous weights. Then each letter has a full window of $2 r + 1$ weights around it, and a filter's number is a dot product with that window.
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# 1. pad the previous weights with $r$ zeros at both ends of the letters' axis
# 2. for each offset 0 to $2 r$: the slice of length `L_s` that begins there, times that column of the filters; add up: `(B, L_s, n)`
# 3. project to `(B, L_s, d_att)`, add it inside the tanh; then as in 3.1
# </details>

# %% [markdown]
# ### 3.3 · A loss for words with several right answers
# 3 points · difficulty 4 of 5 · 20 minutes · more
#
# *Either* may be spoken `IY DH ER` or `AY DH ER`. The loss of section 3.5 is given one of the two, and a model that says the other pays for it. It would be fairer to ask for the probability that the model says *one of* the accepted pronunciations, whichever it is. The probability of a pronunciation is the product of the probabilities of its symbols, each with the true symbols before it given, the end symbol included.
#
# Write `forced_loss(model, source, target, pad_id)`: for each word, minus the logarithm of the probability of all its accepted pronunciations together; then the mean over the words.
#
# | argument | meaning |
# |---|---|
# | `model(source, prefix)` | takes ids `(N, L_s)` and `(N, L)` for any N, gives logits `(N, L, V)`; those at position `t` score the symbol **after** `prefix[:, t]` |
# | `source` | `(B, L_s)`, a word in each row |
# | `target` | `(B, R, L_t)`, up to R different pronunciations for each word, each between a start and an end symbol as in `<start> N EY SH AH N <end>`, and padded at the end with `pad_id`. A word with fewer than R has them first; the rest of its rows is nothing but padding |
# | `pad_id` | one of the `V` symbols, not always 0 |
# | returns | the mean over the words, a tensor with no dimensions through which gradients flow |
#
# Example: $V = 5$, padding is 0, start 1, end 2, and a model always gives the end symbol probability $\tfrac12$ and each other symbol $\tfrac18$. The targets `[[[1, 3, 2, 0], [1, 4, 3, 2]], [[1, 4, 2, 0], [0, 0, 0, 0]]]` are two words, the second with one pronunciation. The first has the probability $\tfrac18 \cdot \tfrac12 + \tfrac18 \cdot \tfrac18 \cdot \tfrac12 = \tfrac{9}{128}$, the second $\tfrac{1}{16}$. The loss is $(\ln \tfrac{128}{9} + \ln 16) / 2 = 2.714$.
#
# Some probabilities in the check are so small that the computer stores 0 for them. `F.cross_entropy` is allowed; the course's own losses are off limits.

# %% tags=["exercise"]
def forced_loss(model, source, target, pad_id):
    # BEGIN SOLUTION
    B, R, L_t = target.shape
    rows = target.reshape(B * R, L_t)  # (B R, L_t): a pronunciation in each row
    sources = source.repeat_interleave(R, dim=0)  # (B R, L_s)
    logits = model(sources, rows[:, :-1])  # (B R, L_t - 1, V)
    right = rows[:, 1:]  # (B R, L_t - 1): the symbol after each position
    losses = F.cross_entropy(logits.mT, right, ignore_index=pad_id, reduction="none")
    log_p = -losses.sum(dim=1)  # (B R,): logarithm of a product
    log_p = log_p.masked_fill((right == pad_id).all(dim=1), -torch.inf)
    return -log_p.view(B, R).logsumexp(dim=1).mean()
    # END SOLUTION


# %% [markdown] tags=["solution"]
# Where the gradient goes: that of a logsumexp is a softmax. Each accepted pronunciation is trained with the weight that is its share in what the model would say of them. The one that it prefers already gets most of the training, and the other isn't punished. It's a soft lookup once more.

# %% [markdown] tags=["mistakes"]
# Try: a row of nothing but padding is no pronunciation: its probability is 0, and the logarithm of that is minus infinity.
# rows of nothing but padding count as pronunciations that are certain: a sum over no symbols is 0, the logarithm of 1.
#     `    log_p = log_p.masked_fill((right == pad_id).all(dim=1), -torch.inf)\n` =>
# Try: a product's logarithm is a sum: add up the symbols of a pronunciation, and divide by nothing.
# the mean over the symbols of a pronunciation, not their sum.
#     losses.sum(dim=1) => losses.sum(dim=1) / (right != pad_id).sum(dim=1).clamp(min=1)
# Try: the mean is over the words; divide by B.
# the sum over the words.
#     .logsumexp(dim=1).mean() => .logsumexp(dim=1).sum()
# Try: the probabilities of a word's pronunciations are added up, so logsumexp over them.
# only the most probable pronunciation of each word counts.
#     .logsumexp(dim=1) => .amax(dim=1)
# only the first pronunciation of each word counts.
#     .logsumexp(dim=1) => [:, 0]
# the mean over all symbols of all pronunciations, as in section 3.5: every pronunciation is asked for.
#     -log_p.view(B, R).logsumexp(dim=1).mean() => losses.sum() / (right != pad_id).sum()
# the mean over a word's pronunciations of their losses: all of them are asked for, not one of them.
#     log_p.view(B, R).logsumexp(dim=1) => (log_p.masked_fill(log_p.isinf(), 0.0).view(B, R).sum(dim=1) / log_p.view(B, R).isfinite().sum(dim=1))
# the mean of the losses of all pronunciations of all words: all of them are asked for.
#     -log_p.view(B, R).logsumexp(dim=1).mean() => -log_p[log_p.isfinite()].mean()
# the losses of a word's pronunciations are added up: the model would have to say all of them.
#     log_p.view(B, R).logsumexp(dim=1) => log_p.masked_fill(log_p.isinf(), 0.0).view(B, R).sum(dim=1)
# the probabilities of a word's pronunciations are averaged, not added up.
#     log_p.view(B, R).logsumexp(dim=1).mean() => (log_p.view(B, R).logsumexp(dim=1) - log_p.view(B, R).isfinite().sum(dim=1).log()).mean()
# Try: a pronunciation's probability is a product over its own symbols; only these products are added.
# at each position the probabilities of a word's pronunciations are added, and the product comes after that.
#     return -log_p.view(B, R).logsumexp(dim=1).mean() => there = (right != pad_id).view(B, R, -1)\n    at = (-losses).view(B, R, -1).masked_fill(~there, -torch.inf).logsumexp(dim=1)\n    return -at.masked_fill(~there.any(dim=1), 0.0).sum(dim=1).mean()
# Try: stay with logarithms: logsumexp takes the exponentials for you, without rounding to 0.
# exponentials, a sum and its logarithm: an unlikely word's probability is rounded to 0, and its loss is infinite.
#     -log_p.view(B, R).logsumexp(dim=1).mean() => -log_p.view(B, R).exp().sum(dim=1).log().mean()
# Try: minus the logarithm comes first, for each word; the mean comes last.
# the probabilities of the words are averaged, and the logarithm is taken of that.
#     -log_p.view(B, R).logsumexp(dim=1).mean() => torch.tensor(float(B)).log() - log_p.logsumexp(dim=0)
# Try: the mean is over the words; divide by B.
# the loss is divided by the number of symbols.
#     .logsumexp(dim=1).mean() => .logsumexp(dim=1).sum() / (right != pad_id).sum()
# Try: each word R times in a row, as its pronunciations are: repeat_interleave.
# words and pronunciations are mixed up: the whole batch of words is repeated, not each word.
#     source.repeat_interleave(R, dim=0) => source.repeat(R, 1)
# Try: write the target twice, the lower one moved to the left by one: what goes in, and what is it compared with?
# not shifted: each position is asked for the symbol that it was given.
#     rows[:, :-1] => rows
#     rows[:, 1:] => rows
# the last column of the targets is left out: the end symbols of the longest pronunciations are never asked for.
#     rows[:, :-1] => rows[:, :-2]
#     rows[:, 1:] => rows[:, 1:-1]
# Try: leave out the positions whose right answer is padding, pad_id.
# the padding counts as if it were to be predicted.
#     , ignore_index=pad_id =>
# the padding right after each end symbol counts: what is left out is chosen by the prefix, not by the symbol after it.
#     , ignore_index=pad_id, reduction="none") => , reduction="none").masked_fill(rows[:, :-1] == pad_id, 0.0)
# the padding is taken to be 0, whatever pad_id is.
#     index=pad_id => index=0
#     right == pad_id => right == 0
# Try: return a tensor with its graph: no .item(), no .detach().
# no gradient reaches the model, so it could not learn.
#     .logsumexp(dim=1).mean() => .logsumexp(dim=1).mean().detach()

# %% tags=["check"]
check("3.3", forced_loss)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# Take one pronunciation first. Write `<start> N EY SH AH N <end>` twice, one below the other, the lower one moved to the left by one: what goes in, and what is it compared with? What is the logarithm of a product?
# </details>
# <details><summary>Hint 2</summary>
#
# The model takes a source and a prefix in each row and doesn't care which rows belong to one word. How often must each source be there? `F.cross_entropy(..., reduction="none")` gives a loss for each symbol; it wants logits `(N, V, L)` and answers `(N, L)`, and has an argument for answers that don't count.
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# 1. make rows of the pronunciations, `(B R, L_t)`, and repeat each source R times
# 2. logits; the loss of every symbol, 0 at padding; the sum of each row is minus the logarithm of that pronunciation's probability
# 3. what sum does a row of nothing but padding get, and which one should it have?
# 4. for each word, the logarithm of the sum of its probabilities (`logsumexp`); minus; the mean over the words
# </details>

# %% [markdown]
# ### 3.4 · Greedy decoding with an end symbol
# 4 points · difficulty 4 of 5 · 15 minutes · more
#
# Write `greedy_decode(step, state, start_id, end_id, pad_id, max_len)`. Every row begins with `start_id` and takes the symbol with the highest score at each step. Any symbol may have the highest score, `pad_id` and `start_id` too; only `end_id` ends a row. After its end symbol a row holds `pad_id` only. Decoding stops when **all** rows have ended, or after `max_len` steps.
#
# | argument | meaning |
# |---|---|
# | `step(tokens, state)` | takes whole numbers `(B,)` and a state, gives scores `(B, V)` of the next symbol and the next state |
# | `state` | a tensor with `B` rows, the state before the first step |
# | `start_id`, `end_id`, `pad_id` | three different whole numbers |
# | `max_len` | at most this many steps, at least 1 |
# | returns | whole numbers `(B, L_out)`: without the start symbol, with the end symbol; `L_out` is the number of steps made |
#
# Example: if row 0 says `7, end` and row 1 says `8, 9, end`, the result is `[[7, end, pad], [8, 9, end]]`. It does not matter what you give to `step` for a row that has ended. The course's own `greedy_decode` is off limits.

# %% tags=["exercise"]
def greedy_decode(step, state, start_id, end_id, pad_id, max_len):
    # BEGIN SOLUTION
    tokens = torch.full((len(state),), start_id)  # (B,)
    ended = torch.zeros(len(state), dtype=torch.bool)  # (B,)
    output = []
    for _ in range(max_len):
        scores, state = step(tokens, state)  # (B, V)
        tokens = scores.argmax(dim=-1).masked_fill(ended, pad_id)  # (B,)
        output.append(tokens)
        ended = ended | (tokens == end_id)
        if ended.all():
            break
    return torch.stack(output, dim=1)  # (B, L_out)
    # END SOLUTION


# %% [markdown] tags=["mistakes"]
# Try: stop when every row has ended, in whichever step each of them did.
# decoding stops as soon as one row ends.
#     ended.all() => ended.any()
# the loop stops early only if all rows end in the same step.
#     ended.all() => (tokens == end_id).all()
# Try: keep a boolean for each row that says whether it has ended, and once it is True let it stay True.
# rows that have ended are not padded: they go on until all have.
#     .masked_fill(ended, pad_id) =>
# no padding, and a stop only where all rows end in one step.
#     .masked_fill(ended, pad_id) =>
#     ended.all() => (tokens == end_id).all()
# a row is padded once after its end, then goes on.
#     ended = ended | (tokens == end_id) => ended = tokens == end_id
# Try: only end_id ends a row: what else a row says is an ordinary symbol.
# padding that the model itself says ends a row.
#     ended = ended | (tokens == end_id) => ended = ended | (tokens == end_id) | (tokens == pad_id)
# pad_id and start_id are never said: their scores are not looked at.
#     scores.argmax(dim=-1) => scores.index_fill(1, torch.tensor([start_id, pad_id]), -float('inf')).argmax(dim=-1)
# Try: it belongs to the result.
# the end symbol is replaced by padding too.
#     output.append(tokens) => output.append(tokens.masked_fill(ended | (tokens == end_id), pad_id))
# Try: return what the model said.
# the start symbol stands in front of the result.
#     torch.stack(output => torch.stack([torch.full((len(state),), start_id), *output]
# Try: what does the next step need from this one?
# every step begins from the first state.
#     scores, state = step(tokens, state) => scores, _ = step(tokens, state)
# every step is given the start symbol.
#     scores, state = step(tokens, state) => scores, state = step(torch.full((len(state),), start_id), state)
# Try: stop when every row has ended, in whichever step each of them did.
# rows that have ended are padded, but the loop runs to max_len.
#     `        if ended.all():\n            break\n` =>

# %% tags=["check"]
check("3.4", greedy_decode)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# Keep one boolean for each row: has it ended? Once True, it stays True.
# </details>
# <details><summary>Hint 2</summary>
#
# At which moment may a row be marked as ended: before or after its symbol of this step is stored? The end symbol itself belongs to the result.
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# 1. tokens: `start_id` for each row; ended: False for each row
# 2. at most `max_len` times: ask `step`; take the best symbol of each row, or padding where the row has ended; store; mark the rows that said the end symbol; leave the loop if all are marked
# 3. stack what was stored, one column for each step
# </details>

# %% [markdown]
# ### 3.5 · Phoneme error rate, by kind of error
# 3 points · difficulty 4 of 5 · 20 minutes · more
#
# A phoneme error rate doesn't say what goes wrong. Does a speller say wrong sounds, too few, or too many? Split it in three. For each word take the **nearest** accepted pronunciation, the one with the fewest edits (of several, the one listed first), and count, among the edits that turn what was said into it,
#
# - the sounds that are **replaced**,
# - the sounds that were **missing** and are inserted,
# - the sounds that were **extra** and are deleted.
#
# There may be several ways with equally few edits. From `S K` to `K S` you can replace both sounds, or delete the `S` and insert one after the `K`. Count the way that **replaces the most**.
#
# Write `phoneme_error_rate(hypotheses, references)`: add up each kind over all words, and divide each by the number of sounds in those nearest pronunciations.
#
# | argument | meaning |
# |---|---|
# | `hypotheses` | a list with one list of phonemes for each word, perhaps an empty one; none has more than 100 |
# | `references` | a list with, for each word, the list of its accepted pronunciations, at least one, none empty |
# | returns `replaced`, `missing`, `extra` | three numbers; their sum is the PER, which may be above 1 |
#
# Example: `[["R", "IY", "D"], ["AH", "B"], ["T", "AE", "S", "K"]]` against `[[["R", "EH", "D"], ["R", "IY", "D"]], [["EY"]], [["T", "AE", "K", "S"]]]`. The first word needs no edit. In the second, one sound is replaced and one was extra, and in the third two are replaced. There are 3 + 1 + 4 sounds, and the answer is `(0.375, 0.0, 0.125)`. You may call `edit_distance(a, b)`; the course's own error rates are off limits.

# %% tags=["exercise"]
def phoneme_error_rate(hypotheses, references):
    # BEGIN SOLUTION
    replaced, missing, extra, length = 0, 0, 0, 0
    for said, accepted in zip(hypotheses, references, strict=True):
        right = min(accepted, key=lambda each: edit_distance(said, each))
        row = [1001 * j for j in range(len(right) + 1)]  # a gap costs a little more
        for sound in said:
            above, row = row, [row[0] + 1001]
            for j, wanted in enumerate(right):
                diagonal = above[j] + 1000 * (sound != wanted)
                row.append(min(diagonal, above[j + 1] + 1001, row[j] + 1001))
        edits, gaps = divmod(row[-1], 1000)  # gaps: missing and extra ones together
        more = len(right) - len(said)  # missing ones less extra ones
        replaced += edits - gaps
        missing += (gaps + more) // 2
        extra += (gaps - more) // 2
        length += len(right)
    return replaced / length, missing / length, extra / length
    # END SOLUTION


# %% [markdown] tags=["solution"]
# Why these prices: with 1000 for a replacement and 1001 for a gap, fewer than 1000 gaps never outweigh a single edit, so the cheapest way still has the fewest edits, and among those the fewest gaps. You could also keep a pair in each cell of the table, the edits and the gaps, and take the smaller pair. Going back through an ordinary table and stepping along the diagonal wherever you can is *nearly* right. Now and then such a step at the end costs two gaps further on.

# %% [markdown] tags=["mistakes"]
# Try: of the ways with equally few edits, count the one that replaces the most.
# a replacement is counted as one deletion and one insertion wherever both ways need equally few edits.
#     1001 => 999
#     edits, gaps = divmod(row[-1], 1000) => edits = -(-row[-1] // 1000)\n        gaps = 1000 * edits - row[-1]
# the difference of the two lengths is taken for all that is missing or extra; but a word can have both.
#     edits, gaps = divmod(row[-1], 1000) => edits, gaps = row[-1] // 1000, abs(len(right) - len(said))
# Try: missing sounds were not said and are inserted; extra ones were said and are deleted.
# missing and extra are exchanged.
#     missing / length, extra / length => extra / length, missing / length
# Try: add up all edits of a kind, add up all lengths, and divide once, at the end.
# the mean of the words' rates.
#     edits - gaps => (edits - gaps) / len(right)
#     (gaps + more) // 2 => (gaps + more) / 2 / len(right)
#     (gaps - more) // 2 => (gaps - more) / 2 / len(right)
#     length += len(right) => length += 1
# the edits are divided by the number of words.
#     length += len(right) => length += 1
# shares of all edits are given, which sum to 1.
#     length += len(right) => length += edits
# counts are given, not divided by the number of sounds.
#     replaced / length, missing / length, extra / length => replaced, missing, extra
# Try: the nearest pronunciation is the one with the fewest edits; its own length counts.
# the lengths are those of the hypotheses.
#     length += len(right) => length += len(said)
# the pronunciation with the lowest rate is taken.
#     key=lambda each: edit_distance(said, each) => key=lambda each: edit_distance(said, each) / len(each)
# the length is the first pronunciation's.
#     length += len(right) => length += len(accepted[0])
# only the first pronunciation is looked at.
#     min(accepted, key=lambda each: edit_distance(said, each)) => accepted[0]
# all accepted pronunciations are counted, not the nearest alone.
#     for said, accepted in zip(hypotheses, references, strict=True): => for said, right in ((s, r) for s, several in zip(hypotheses, references) for r in several):
#     `        right = min(accepted, key=lambda each: edit_distance(said, each))\n` =>
# of several pronunciations that are equally near, the last one is taken.
#     min(accepted, => min(accepted[::-1],
# of several pronunciations that are equally near, the shortest one is taken.
#     key=lambda each: edit_distance(said, each) => key=lambda each: (edit_distance(said, each), len(each))
# the farthest pronunciation is taken.
#     min(accepted => max(accepted
# Try: one missing sound is one edit, and the sounds after it are still right.
# sounds are compared position by position.
#     replaced += edits - gaps => replaced += sum(a != b for a, b in zip(said, right))
#     (gaps + more) // 2 => max(0, more)
#     (gaps - more) // 2 => max(0, -more)
# Try: the order counts: `AE T` is not `T AE`.
# sounds are counted without their order.
#     edits, gaps = divmod(row[-1], 1000) => lost = sum(max(0, right.count(s) - said.count(s)) for s in set(right))\n        edits, gaps = max(lost, lost + len(said) - len(right)), abs(len(right) - len(said))
# Try: nothing said, all of them missing.
# words with an empty hypothesis are left out.
#     `        right = ` => `        if not said:\n            continue\n        right = `

# %% tags=["check"]
check("3.5", phoneme_error_rate)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# Lengths help. If 5 sounds were said and 7 were wanted, how many more are missing than extra? With the number of edits that leaves one number to find out.
# </details>
# <details><summary>Hint 2</summary>
#
# The table of section 3.6 (`edit_table`) keeps only the number of edits, so two ways with equally few look alike to it. What else would an entry have to know of a way, and which of two such ways should it prefer?
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# 1. for each word, the nearest pronunciation
# 2. fill a table like that of section 3.6, but compare ways by their edits first, and among equals by how many of those are insertions or deletions
# 3. read from its last entry the edits, and how many of them are insertions or deletions
# 4. with the difference of the lengths these give the three kinds; add up, and divide once at the end
# </details>

# %% [markdown]
# ### 3.6 · Find the bug
# 3 points · difficulty 4 of 5 · 10 minutes · more
#
# The function below runs the decoder over a whole target whose embeddings are given. It is meant to follow Bahdanau's order, as in section 3.4 of the lesson. It runs, the shapes are right, the weights sum to 1. In the toy below the state counts the steps, and `attend` looks at the letter whose number is the state. So sound 0 should look at letter 0, sound 1 at letter 1, sound 2 at letter 2. Run the cell, look at the rows of weights, and write a mended version.

# %%
def decode_broken(embedded, state, attend, cell):
    context = torch.zeros_like(attend(state)[0])  # (B, d_enc)
    features, all_weights = [], []
    for t in range(embedded.shape[1]):
        joined = torch.cat((embedded[:, t], context), dim=-1)  # (B, d_embed + d_enc)
        state = cell(joined, state)  # (B, d_hidden)
        context, weights = attend(state)  # (B, d_enc), (B, L_s)
        features.append(torch.cat((state, context), dim=-1))
        all_weights.append(weights)
    # (B, L_t, d_hidden + d_enc), (B, L_t, L_s)
    return torch.stack(features, 1), torch.stack(all_weights, 1)

# %%
letters = torch.tensor([[10.0], [20.0], [30.0], [40.0]])  # (L_s=4, d_enc=1)


def look_at_letter(state):
    weights = F.one_hot(state[:, 0].long(), 4).float()  # (B, L_s)
    return weights @ letters, weights


toy = torch.zeros(1, 3, 2), torch.zeros(1, 1), look_at_letter, lambda x, s: s + 1
features, weights = decode_broken(*toy)
for t in range(3):
    print(f"sound {t}: weights {weights[0, t].tolist()}", end="   ")
    print(f"state and context {features[0, t].tolist()}")

# %% [markdown]
# Write `decode(embedded, state, attend, cell)`:
#
# | argument | takes and gives |
# |---|---|
# | `embedded` | `(B, L_t, d_embed)`, the embeddings of the previous sounds, step by step |
# | `state` | `(B, d_hidden)`, before the first step |
# | `attend(state)` | gives the context `(B, d_enc)` and the weights `(B, L_s)` |
# | `cell(x, state)` | takes `(B, d_embed + d_enc)`, embedding first, and `(B, d_hidden)`; gives the new state `(B, d_hidden)` |
# | returns `features`, `weights` | `(B, L_t, d_hidden + d_enc)`: at each step the new state, then the context that the cell has read; `(B, L_t, L_s)`: the weights of that context |
#
# Example: in the toy, sound 0 has the weights `[1, 0, 0, 0]` and the features `[1, 10]`.

# %% tags=["exercise"]
def decode(embedded, state, attend, cell):
    # BEGIN SOLUTION
    features, all_weights = [], []
    for t in range(embedded.shape[1]):
        context, weights = attend(state)  # from the state before the step
        joined = torch.cat((embedded[:, t], context), dim=-1)
        state = cell(joined, state)  # (B, d_hidden)
        features.append(torch.cat((state, context), dim=-1))  # (B, d_hidden + d_enc)
        all_weights.append(weights)
    return torch.stack(features, dim=1), torch.stack(all_weights, dim=1)
    # END SOLUTION


# %% [markdown] tags=["mistakes"]
# Try: write the index beside each line: which state does each context come from, and who reads it?
# the features hold the next step's context.
#     torch.cat((state, context), dim=-1) => torch.cat((state, attend(state)[0]), dim=-1)
# every step begins again from the first state.
#     state = cell(joined, state) => new = cell(joined, state)
#     torch.cat((state, context), dim=-1) => torch.cat((new, context), dim=-1)
# Try: look up in the table what goes in and comes out, and in which order.
# the features hold the state before the step.
#     state = cell(joined, state) => old, state = state, cell(joined, state)
#     torch.cat((state, context), dim=-1) => torch.cat((old, context), dim=-1)
# the features hold the context, then the state.
#     torch.cat((state, context), dim=-1) => torch.cat((context, state), dim=-1)
# the cell reads the context, then the embedding.
#     torch.cat((embedded[:, t], context), dim=-1) => torch.cat((context, embedded[:, t]), dim=-1)
# the embeddings are moved one step on; they are those of the sounds before already.
#     embedded[:, t] => (embedded[:, t - 1] if t else torch.zeros_like(embedded[:, 0]))
# the steps stand in the first axis, (L_t, B, ...).
#     dim=1 => dim=0
# Try: row t holds what the cell has read in step t: the context and the weights of the state before that step.
# the cell reads the right context, but each row holds the context and the weights of the state after the step.
#     `        features.append` => `        context, weights = attend(state)\n        features.append`
# Try: write the index beside each line: which state does each context come from, and who reads it?
# the cell reads the context of the step before, zeros at first.
#     `    for t in range` => `    context = torch.zeros_like(attend(state)[0])\n    for t in range`
#     `        context, weights = attend(state)  # from the state before the step\n` => `        new, weights = attend(state)  # from the state before the step\n`
#     `        features.append` => `        context = new\n        features.append`
# attend is asked about the first state only: all rows of weights are alike.
#     attend(state) => attend(first)
#     `    features, all_weights = [], []\n` => `    features, all_weights = [], []\n    first = state\n`

# %% tags=["check"]
check("3.6", decode)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# Which letter does no sound look at? When, in the loop, is `attend` asked for the first time?
# </details>
# <details><summary>Hint 2</summary>
#
# Write the indices beside the lines: $c_t$ needs $s_{t-1}$, and $s_t$ needs $c_t$. In which order can they be computed?
# </details>

# %% [markdown]
# ### 3.7 · Who asked?
# 1 point · difficulty 3 of 5 · 5 minutes · core
#
# The shipped speller was rewired, and of one step of `physics`, the one after `F`, only a log of its weights is left, rounded to two decimals. Bahdanau's decoder asks with the state before the step. Luong's (2015) steps first, and asks with the state after it. A third kind asks with $s_0$ at every step. Measure: feed each vector to `speller.attention(query[:, None], h, h, real)`, which returns context and weights, and compare with `logged`. Which one asked?
#
# - **a.** The first state, `asked["s_0"]`, as at every step.
# - **b.** The state before the step, `asked["before"]`, in Bahdanau's order.
# - **c.** The state after the step, `asked["after"]`, in Luong's order.
# - **d.** None of the three.

# %%
logged = torch.tensor([[0.00, 0.00, 0.07, 0.92, 0.00, 0.00, 0.00]])  # p h y s i c s
with torch.no_grad():
    s_0 = speller.start_decoding(SPELLING.batch(["physics"]))
    _, before = speller.decode_step(s_0, torch.tensor([START_ID]))
    _, after = speller.decode_step(before, torch.tensor([SOUNDS.symbols.index("F")]))
states = {"s_0": s_0, "before": before, "after": after}
asked = {name: state.hidden for name, state in states.items()}  # (1, d_hidden) each
h, real = s_0.encoded.states, s_0.encoded.mask

# %% tags=["quiz"]
quiz_3_7 = ""  # your letter between the quotes
# BEGIN SOLUTION
quiz_3_7 = "c"
# END SOLUTION

# %% [markdown] tags=["solution"]
# Why each option is right or wrong:
#
# - **a.** with s_0 the p gets most of the weight, as in the first step; in the log the s does. Feed the other two.
# - **b.** that is the speller as it was trained, and the y gets most of the weight; in the log the s does. This decoder was rewired.
# - **c.** its weights are the logged ones. The new state has made the step already and looks one letter further on, at the s.
# - **d.** one of them gives the logged weights. Print all three rows with two decimals.

# %% tags=["check"]
check("3.7", quiz_3_7)

# %% [markdown]
# ### 3.8 · Open experiment: how many letters does a sound need?
# 4 points · difficulty 4 of 5 · 25 minutes · more
#
# An alignment shows where the model looks. Does it need all that it looks at? Section 3.9 of the lesson *hides* the best letter of every step, and the speller falls apart. Now the other way round. **Predict first**, in writing: by how much will the phoneme error rate rise if every step may see *only* its best letter? Its best two?
#
# The scaffolding below puts a function between the softmax and the context: `keep(weights)` gets the weights of one step, `(B, 1, L_s)`, and returns those that may stay, with zeros for the rest. `Narrow` divides by what is left, so that they sum to 1 again. A measurement takes about a second.

# %%
class Narrow(nn.Module):
    """The speller's attention, with only those weights that ``keep`` leaves."""

    def __init__(self, attention, keep):
        super().__init__()
        self.attention, self.keep = attention, keep

    def forward(self, query, key, value, mask):
        _, weights = self.attention(query, key, value, mask)
        weights = self.keep(weights)
        weights = weights / weights.sum(-1, keepdim=True)
        return weights @ value, weights


# %%
words = list(split("test").items())
samples = [dict(words[n::20]) for n in range(5)]  # five samples of words of test


def five_runs(keep):
    model = copy.deepcopy(speller)
    model.attention = Narrow(speller.attention, keep)
    return [error_rates(model, sample)["PER"] for sample in samples]

# %% [markdown]
# Fill `narrow_results`:
#
# | key | value |
# |---|---|
# | `"all"` | the five error rates with all weights kept |
# | `1`, `2`, `4` | the five error rates with only the 1, 2 or 4 largest weights of each step kept, no more |
# | `"best hidden"` | the five error rates with the largest weight of each step taken away and all the others kept (a word of one letter keeps its weight). An error rate may be above 1: then more edits are needed than there are sounds |
# | `"enough"` | read off: the smallest of 1, 2 and 4 whose mean error rate is at most 0.005 above that of `"all"` |
# | `"worse with one"` | read off: in how many of the five samples a single letter is worse than all. The samples are the same, so compare them one by one |
# | `"hiding against one"` | read off: the mean error rate of `"best hidden"` divided by the mean error rate of `1` |
#
# Before you write down what was read off, plot the rows, or print them side by side.

# %% tags=["exercise"]
narrow_results = {}  # what was kept -> five error rates, and what was read off
# BEGIN SOLUTION
def largest(k):
    def keep(weights):
        kth = weights.topk(min(k, weights.shape[-1]), dim=-1).values[..., -1:]
        return weights * (weights >= kth)

    return keep


def without_best(weights):
    if weights.shape[-1] == 1:
        return weights
    rest = weights.scatter(-1, weights.argmax(-1, keepdim=True), 0.0)
    return torch.where(rest.sum(-1, keepdim=True) > 0, rest, weights)


narrow_results["all"] = five_runs(lambda weights: weights)
for k in (1, 2, 4):
    narrow_results[k] = five_runs(largest(k))
narrow_results["best hidden"] = five_runs(without_best)
means = {kept: sum(row) / 5 for kept, row in narrow_results.items()}
for kept, row in narrow_results.items():
    rates = " ".join(f"{rate:.3f}" for rate in row)
    print(f"{kept!s:11} {rates}   mean {means[kept]:.3f}")
near = [k for k in (1, 2, 4) if means[k] <= means["all"] + 0.005]
narrow_results["enough"] = min(near)
pairs = zip(narrow_results[1], narrow_results["all"], strict=True)
narrow_results["worse with one"] = sum(one > every for one, every in pairs)
narrow_results["hiding against one"] = means["best hidden"] / means[1]
# END SOLUTION

# %% tags=["check"]
check("3.8", narrow_results)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# `topk(k, dim=-1).values` gives the k largest, in order. A word may have fewer letters than k. Then compare the weights with the smallest of them.
# </details>
# <details><summary>Hint 2</summary>
#
# To hide the best: find its place with `argmax`, and put a 0 there. `scatter` writes numbers at given places; so does a comparison with `F.one_hot`.
# </details>
# <details><summary>What to make of it</summary>
#
# Compare your rows with sections 3.8 and 3.9 of the lesson. One state is nearly enough, and it has read its neighbors too. And yet those beside a hidden best state don't make up for it. Listen to what the model says then: pronounce a few words with `keep` set to your function, and look at what repeats.
# </details>

# %% [markdown]
# ## Your speller, your name
#
# No points here: this puts your answers together. The speller was trained with the library's attention and decoding. Below, `attention_step` (3.1) takes the place of its attention, and `greedy_decode` (3.4) makes it speak. Change the name.

# %%
name = "ashish"  # letters from a to z


class MyAttention(nn.Module):
    """Exercise 3.1 in the speller's place for attention."""

    def forward(self, query, key, value, mask):
        att = speller.attention
        matrices = att.q_proj.weight, att.k_proj.weight, att.v_proj.weight[0]
        context, weights = attention_step(query[:, 0], key, *matrices, mask[:, 0])
        return context[:, None], weights[:, None]

# %%
@torch.no_grad()
def spell_out(word):
    """What my attention and my decoding say, and where they looked."""
    model, looks = copy.deepcopy(speller), []
    model.attention = MyAttention()
    first = model.start_decoding(SPELLING.batch([require_word(word)]))

    def step(tokens, hidden):
        state = RecurrentState(hidden, first.encoded)
        scores, state = model.decode_step(state, tokens)
        looks.append(state.weights[0])  # (L_s,)
        return scores, state.hidden

    said = greedy_decode(step, first.hidden, START_ID, END_ID, PAD_ID, 32)
    return [SOUNDS.symbols[i] for i in said[0].tolist()], torch.stack(looks)

# %%
try:
    sounds, looks = spell_out(name)
    ax = plotting.attention_heatmap(looks, sounds, list(name))
    ax.set(xlabel="letter", ylabel="sound")
    plotting.show(ax, f"Where my attention looked while my decoder pronounced {name}.")
    print(name, "is", " ".join(sounds))
except NotImplementedError:
    print("Still missing: solve 3.1 and 3.4, run their cells, then run this one again.")

# %% [markdown]
# {{next_steps}}
