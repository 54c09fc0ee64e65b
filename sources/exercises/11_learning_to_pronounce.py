# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 11 · Learning to pronounce: exercises
#
# Eight exercises, 26 points. At the end you have written the batches and the beam search, have measured how much harder a word is without a relative among the training words, and *your* search pronounces words of your own.
#
# {{colab_link}} · core about 29 minutes, everything about 2 hours · builds on {{lesson_link}}
#
# Write your code where it says `YOUR CODE HERE`, run the cell, then run the check below it. A check that fails says what differs and, if it knows your mistake,
# what your answer did; `hint()`, or a second failure, adds what to try. You may try as often as you like. Hints are folded under each check. A function of `course_utils` that does what an exercise asks for is off limits in it.

# %% tags=["setup"]
import random

import torch

from course_checks import check, failing_case, hint
from course_utils import metrics, plotting, pretrained, widgets
from course_utils.datasets.pronunciations import pronunciations, split
from course_utils.metrics import edit_distance
from course_utils.pretrained.pronunciation import SOUNDS, SPELLING, pronounce
from course_utils.recording import record_attention
from course_utils.tokenizers import END_ID

torch.set_num_threads(1)

# %% [markdown]
# ### 11.1 · Batches by length
# 4 points · difficulty 3 of 5 · 15 minutes · more
#
# Write `batches_by_length(lengths, limit, seed)`: which pairs go together in a batch. A batch of $n$ pairs is padded to its longest source and its longest target, so it has $n \cdot (\text{longest source} + \text{longest target})$ symbols, padding included. That must be at most `limit`.
#
# | argument | meaning |
# |---|---|
# | `lengths` | a list with one `(source length, target length)` for each pair |
# | `limit` | most symbols in a batch, padding included; every pair alone fits |
# | `seed` | a whole number: the same seed gives the same batches, another seed (the next epoch) different ones |
# | returns | a list of batches; each is a list of places in `lengths`, whole numbers from 0 on |
#
# - Every pair is in exactly one batch.
# - Pairs of similar length share a batch, so that little is padding: put the pairs in order of length (of the source, the target or both, as you like), then cut. A batch is filled as long as the next pair in this order fits (exactly `limit` symbols still fit); then it is closed for good, and the next one opens.
# - The batches come in mixed order, not from short to long. With another seed, other pairs share a batch too: pairs of equal length change places.
#
# Example: `batches_by_length([(2, 3), (9, 9), (2, 2)], limit=20, seed=0)` gives `[1]` and a batch of `0` and `2`, in some order: together they take $2 \cdot (2 + 3) = 10$ symbols. The course's own `batches_by_length` is off limits.

# %% tags=["exercise"]
def batches_by_length(lengths, limit, seed):
    # BEGIN SOLUTION
    rng = random.Random(seed)
    places = list(range(len(lengths)))
    rng.shuffle(places)
    places.sort(key=lambda place: lengths[place])  # equal ones stay in shuffled order
    batches = [[]]
    for place in places:
        group = [lengths[i] for i in [*batches[-1], place]]
        size = len(group) * (max(s for s, _ in group) + max(t for _, t in group))
        if size > limit:
            batches.append([])
        batches[-1].append(place)
    rng.shuffle(batches)
    return batches
    # END SOLUTION


# %% [markdown] tags=["mistakes"]
# Try: before a pair goes in, work out n * (longest source + longest target) of the batch with the pair in it.
# the limit is held to the symbols without padding.
#     len(group) * (max(s for s, _ in group) + max(t for _, t in group)) => sum(map(sum, group))
# a batch may have a symbol more than the limit.
#     > limit => > limit + 1
# a batch passes the limit where its longest source and its longest target are of two pairs.
#     len(group) * (max(s for s, _ in group) + max(t for _, t in group)) => len(group) * max(map(sum, group))
# Try: open a new batch only if its size with the next pair is above the limit; its maxima are those of its own pairs.
# a batch is closed although the next pair would just fill it.
#     > limit => >= limit
# every pair is a batch by itself.
#     size > limit => batches[-1]

# %% tags=["check"]
check("11.1", batches_by_length)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# Three steps: shuffle the places, sort them by length, cut. Python's sort is stable: what is equal stays in the order it had. And a last step, for the order of the batches.
# </details>
# <details><summary>Hint 2</summary>
#
# Before you put a pair into the open batch, work out the size that the batch would have *with* it. Too large: this pair opens the next batch.
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# 1. a random generator from the seed
# 2. all places, shuffled by it, then sorted by their lengths
# 3. go through them; maximum of the sources and maximum of the targets of the open batch and the new pair, added, times their number; above the limit: open a new batch
# 4. shuffle the batches by the same generator
# </details>

# %% [markdown]
# ### 11.2 · Beam search that stops in time, and not before
# 6 points · difficulty 5 of 5 · 25 minutes · core
#
# Write `beam_search(step, num_beams, max_len, end_id, alpha)`. At every step:
#
# 1. Extend every beam by every symbol. The log-probability of a candidate is that of its beam plus that of the new symbol. Order all candidates of the step, best first.
# 2. Those of the `num_beams` best that take `end_id` are **finished**: set aside, and not extended. At step number `max_len` all of the `num_beams` best are taken as they stand.
# 3. The `num_beams` best candidates that do **not** take `end_id` are the beams of the next step (fewer, if there are fewer).
# 4. Stop as soon as two things hold: at least `num_beams` are finished, and **no beam can still win**, which means that none could end up with a score above that of the best finished one, whatever symbols the model adds to it. (Or after `max_len` steps.)
#
# The score of a sequence is $\text{log-probability} / \text{length}^{\alpha}$ with $\alpha \ge 0$, where the length counts every symbol, the end symbol too. How to tell that a beam can't win is for you to find out. You know two things about what may still come: no log-probability is above 0, and no sequence is longer than `max_len`. At the end, rank the finished ones by their score.
#
# | argument | meaning |
# |---|---|
# | `step(prefix)` | takes the list of symbols so far (at first `[]`), gives a tensor `(V,)`: the log-probability of each next symbol |
# | `num_beams`, `max_len`, `end_id` | whole numbers |
# | `alpha` | exponent of the length, at least 0 |
# | returns `sequences`, `scores` | the best `num_beams` finished ones, best first: a list of lists of symbols, the end symbol included, and a list of their scores |
#
# One case of the check has very small probabilities and 40 steps. (Its probabilities need not sum to 1: the rest belongs to symbols that are not listed.) No probability in the check is 0, and no two candidates are equally good. The course's own searches are off limits.
#
# Example: symbol 2 ends, and these are the probabilities of the symbols 0, 1, 2:
#
# | after | 0 | 1 | 2 |
# |---|---|---|---|
# | `[]` | 0.55 | 0.20 | 0.25 |
# | `[0]` | 0.05 | 0.90 | 0.05 |
# | `[1]` | 0.05 | 0.05 | 0.90 |
# | `[0, 1]` | 0.05 | 0.05 | 0.90 |
# | anything else | 0.30 | 0.30 | 0.40 |
#
# With two beams, $\alpha = 0$ and `max_len = 6` the search returns `[0, 1, 2]` (probability 0.4455) and `[2]` (0.25). After two steps two sequences are finished, `[2]` and `[1, 2]` with 0.18, but the beam `[0, 1]` has 0.495 and is still growing. A search that stops there returns `[2]`.

# %% tags=["exercise"]
def beam_search(step, num_beams, max_len, end_id, alpha):
    # BEGIN SOLUTION
    beams, finished = [(0.0, [])], []
    for length in range(1, max_len + 1):
        candidates = [
            (total + log_prob, [*sequence, symbol])
            for total, sequence in beams
            for symbol, log_prob in enumerate(step(sequence).tolist())
        ]
        candidates.sort(reverse=True)
        for total, sequence in candidates[:num_beams]:
            if sequence[-1] == end_id or length == max_len:
                finished.append((total / length**alpha, sequence))
        open_ones = [one for one in candidates if one[1][-1] != end_id]
        beams = open_ones[:num_beams]
        if not beams:
            break
        at_most = beams[0][0] / max_len**alpha  # the log-probability can only fall
        if len(finished) >= num_beams and at_most <= max(finished)[0]:
            break
    best = sorted(finished, reverse=True)[:num_beams]
    return [sequence for _, sequence in best], [score for score, _ in best]
    # END SOLUTION


# %% [markdown] tags=["mistakes"]
# Try: the num_beams best candidates that do not end go on, at every step; look further down the list for them.
# where one of the best candidates of a step ends, fewer beams go on.
#     for one in candidates => for one in candidates[:num_beams]
# each finished sequence takes a place away: fewer and fewer beams go on.
#     open_ones[:num_beams] => open_ones[: max(0, num_beams - len(finished))]
# Try: of the num_beams best candidates of a step, set aside those that ended; at step max_len all of them.
# every candidate with an end symbol is set aside, however improbable.
#     in candidates[:num_beams] => in (candidates if length < max_len else candidates[:num_beams])
# what has not ended after max_len steps is missing.
#     if sequence[-1] == end_id or length == max_len: => if sequence[-1] == end_id:
# Try: rank by log-probability / length ** alpha, the highest first; the length counts every symbol, the end too.
# the finished are cut to num_beams before they are ranked.
#     sorted(finished, => sorted(finished[:num_beams],
# of the finished, those with the highest log-probability are kept, not those with the highest score.
#     `        open_ones =` => `        finished = sorted(finished, key=lambda one: one[0] * len(one[1]) ** alpha)[-num_beams:]\n        open_ones =`
# the end symbol is missing in the sequences.
#     [sequence for _, sequence in best] => [[x for x in s if x != end_id] for _, s in best]
# Try: extend each beam by every symbol, put all candidates into one list, and take the best of that.
# each beam is extended by its num_beams best symbols only.
#     enumerate(step(sequence).tolist()) => sorted(enumerate(step(sequence).tolist()), key=lambda offer: -offer[1])[:num_beams]
# each beam is extended by its num_beams best symbols only, with topk.
#     enumerate(step(sequence).tolist()) => zip(*(x.tolist() for x in step(sequence).topk(num_beams)[::-1]))
# Try: the num_beams best candidates that do not end go on, at every step; look further down the list for them.
# a sequence that has ended keeps its place among the beams, so that fewer go on.
#     enumerate(step(sequence).tolist()) => (enumerate(step(sequence).tolist()) if end_id not in sequence else [(end_id, 0.0)])
#     [*sequence, symbol] => sequence if end_id in sequence else [*sequence, symbol]
#     `        for total, sequence in candidates[:num_beams]` => `        finished = []\n        for total, sequence in candidates[:num_beams]`
#     length**alpha => len(sequence) ** alpha
#     = open_ones => = candidates
# Try: of the num_beams best candidates of a step, set aside those that ended; at step max_len all of them.
# the last step takes beams that are not among its best.
#     if sequence[-1] == end_id or length == max_len: => if sequence[-1] == end_id:
#     `    best = ` => `    else:\n        finished += [(total / length**alpha, sequence) for total, sequence in beams]\n    best = `
# Try: when num_beams are finished, ask besides what the best beam could still reach, and compare it with the best finished score.
# the search stops as soon as num_beams have ended, though a better beam is still growing.
#     ` and at_most <= max(finished)[0]` =>
# the search stops as soon as one sequence has ended.
#     len(finished) >= num_beams and at_most <= max(finished)[0] => finished
# the search goes on although no beam can win any more.
#     len(finished) >= num_beams and at_most <= max(finished)[0] => False
# the search doesn't wait until num_beams have ended.
#     len(finished) >= num_beams and => finished and
# Try: a beam may still grow up to max_len symbols, and a longer one is divided by more: what is the most its score can come to?
# a beam's score is compared as it is now, divided by its present length; a longer sequence may score better.
#     max_len**alpha  # => length**alpha  #
# the bound counts one more symbol only, as if every beam could just end now; a longer sequence may score better.
#     max_len**alpha  # => (length + 1) ** alpha  #
# the log-probabilities are compared, not the scores: the length plays no part in when it stops.
#     beams[0][0] / max_len**alpha => beams[0][0]
#     max(finished)[0] => max(score * len(sequence) ** alpha for score, sequence in finished)

# %% tags=["check"]
check("11.2", beam_search)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# Keep two lists of pairs (log-probability, sequence): the beams that go on, and what is finished. The search starts with a single beam, the empty sequence, whose log-probability is 0.
# </details>
# <details><summary>Hint 2</summary>
#
# If every candidate carries its whole sequence, no wrong prefix can be copied. Sort one list of all candidates; do not sort beam by beam.
#
# For the stop, imagine the luckiest future of a beam: every symbol still to come has probability 1. What is then its log-probability, and which length would give it the highest score?
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# 1. beams: the empty sequence; finished: nothing
# 2. for each step: all candidates of all beams in one list, sorted
# 3. look at the first `num_beams`: which go to the finished? At the last step: all of them
# 4. new beams: from the whole list, those without an end symbol, cut to `num_beams`
# 5. enough finished, and the bound of the best beam is not above the best finished score: leave the loop. After it: sort by score
# </details>

# %% [markdown]
# ### 11.3 · One step for many words
# 4 points · difficulty 4 of 5 · 15 minutes · more
#
# To search for $B$ words at once, the beams of all words go through the model as one batch of $B \cdot K$ rows: first the $K$ beams of word 0, then those of word 1, and so on. Write `beam_step(totals, log_probs)`: for **each word**, the $K$ best of its $K \cdot V$ candidates, best first. (What has ended is taken care of elsewhere: here every beam goes on.)
#
# | argument | shape |
# |---|---|
# | `totals` | `(B, K)`: the log-probability of each beam so far; minus infinity for a beam that doesn't exist yet |
# | `log_probs` | `(B * K, V)`: the log-probability of each next symbol, one row per beam; in the dtype of `totals` or a narrower one |
# | returns `new_totals` | `(B, K)`, with the dtype of `totals`: the log-probabilities of the new beams, the highest first |
# | `symbols` | `(B, K)`: which symbol each new beam ends with |
# | `rows` | `(B * K,)`: which of the `B * K` rows each new beam goes on from. The model's cache is put in this order. |
#
# No two candidates of a word are equally good, and each word has at least $K$ possible ones.
#
# Example, with two words, two beams and three symbols:
#
# ```
# totals = [[-1, -2],        log_probs = [[-1.0, -3.0, -9.0],
#           [-1, -3]]                     [-0.5, -1.0, -9.0],
#                                         [-4.0, -1.5, -0.5],
#                                         [-1.0, -9.0, -9.0]]
# ```
#
# gives `new_totals = [[-2, -2.5], [-1.5, -2.5]]`, `symbols = [[0, 0], [2, 1]]`, `rows = [0, 1, 2, 2]`. Both new beams of the second word go on from its first beam, which is row 2. The course's own searches are off limits.

# %% tags=["exercise"]
def beam_step(totals, log_probs):
    # BEGIN SOLUTION
    B, K = totals.shape
    V = log_probs.shape[-1]
    candidates = totals[:, :, None] + log_probs.view(B, K, V)  # (B, K, V)
    new_totals, places = candidates.flatten(1).topk(K)  # (B, K) each
    first_rows = K * torch.arange(B)[:, None]  # (B, 1)
    return new_totals, places % V, (first_rows + places // V).flatten()
    # END SOLUTION


# %% [markdown] tags=["mistakes"]
# Try: the beams of word b begin at row b * K: add that to the beam's number.
# rows holds each beam's number within its own word.
#     K * torch.arange(B)[:, None] => 0
# in rows each word is taken to have V rows.
#     K * torch.arange(B)[:, None] => V * torch.arange(B)[:, None]
# Try: a place in a word's long row is beam * V + symbol: place // V is the beam, place % V the symbol.
# for rows the place is divided by the number of beams.
#     places // V => places // K
# symbols is the rest of a division by the number of beams.
#     places % V => places % K
# the candidates of a word were laid out as (V, K), but their places are read as if it were (K, V).
#     candidates.flatten(1) => candidates.transpose(1, 2).flatten(1)
# Try: put all K * V candidates of a word into one long row, flatten(1), and take topk(K) of it.
# the best candidates of all words together: one word takes another's places.
#     candidates.flatten(1).topk(K) => (x.view(B, K) for x in candidates.flatten().topk(B * K))
#     K * torch.arange(B)[:, None] => 0
# Try: word 0 has the first K rows: view(B, K, V).
# the rows are read as if all words' first beams came first.
#     log_probs.view(B, K, V) => log_probs.view(K, B, V).transpose(0, 1)
# Try: add each beam's total to its row: totals[:, :, None] + the log-probabilities as (B, K, V).
# what the beams had before is left out.
#     `totals[:, :, None] + ` =>
# totals and log-probabilities are multiplied.
#     `totals[:, :, None] + ` => `totals[:, :, None] * `
# a beam that doesn't exist yet (minus infinity) counts as if its log-probability were 0.
#     `totals[:, :, None] + ` => `totals.masked_fill(totals.isinf(), 0.0)[:, :, None] + `

# %% tags=["check"]
check("11.3", beam_step)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# Give the log-probabilities the shape `(B, K, V)`, and add to each beam's row what the beam had before. Then one `topk` for each word, over all its candidates in one long row.
# </details>
# <details><summary>Hint 2</summary>
#
# The place of a candidate in that long row tells both its beam and its symbol: with $V = 10$, place 27 is in the third beam. Which two operations on whole numbers find the beam, and which the symbol?
# </details>
# <details><summary>Hint 3</summary>
#
# A beam's number within its word is not yet its row: how many rows belong to the words before it?
# </details>

# %% [markdown]
# ### 11.4 · One letter for each sound, never going back
# 3 points · difficulty 4 of 5 · 15 minutes · more
#
# A word is said from left to right, but in a single row of weights the largest one may belong to a letter far behind. Write `letters_of(weights)`, which gives each sound one letter so that the letters **never go back**. First take the mean of the weights over all layers and heads. Of all ways to give each sound a letter at the same place as the sound before it or further right, return the one whose weights have the largest sum. The last row belongs to the end symbol, which is no sound: leave it out.
#
# | argument | shape |
# |---|---|
# | `weights` | `(layers, heads, L_t, L_s)`, one row for each sound and one for the end symbol; each row sums to 1 |
# | returns | `(L_t - 1,)`, whole numbers: places in the word |
#
# Several sounds may share a letter, and letters may be skipped. In the check no two ways have the same sum. Words have up to 12 letters and 9 sounds, which makes 167,960 ways, too many to try them all.
#
# Example: one layer, one head, the rows `[0.30, 0.25, 0.45]`, `[0.60, 0.20, 0.20]`, `[0.10, 0.70, 0.20]` and for the end `[0, 0, 1]` give `tensor([0, 0, 1])`, with the sum 0.30 + 0.60 + 0.70. The largest weight of each row would give `[2, 0, 1]`, which goes back. If you took the largest weight at each step among the letters still allowed, you would get `[2, 2, 2]`, with a sum of only 0.85. The course's own `align` is off limits.

# %% tags=["exercise"]
def letters_of(weights):
    # BEGIN SOLUTION
    mean = weights.mean(dim=(0, 1))[:-1]  # (L_t - 1, L_s)
    best, came_from = mean[0], []  # the best sum of a path that ends at each letter
    for row in mean[1:]:
        before, place = best.cummax(dim=0)  # ... that ends there or further left
        came_from.append(place)
        best = before + row
    path = [int(best.argmax())]
    for place in reversed(came_from):
        path.append(int(place[path[-1]]))
    return torch.tensor(path[::-1])  # (L_t - 1,)
    # END SOLUTION


# %% [markdown] tags=["mistakes"]
# Try: leave out the last row, the end symbol, and no other.
# the end symbol has a letter too.
#     [:-1]  # (L_t => [:]  # (L_t
# the first row is left out instead of the last.
#     [:-1]  # (L_t => [1:]  # (L_t
# the end symbol's row helped to choose the path, although its letter is left out.
#     [:-1]  # (L_t => [:]  # (L_t
#     path[::-1] => path[::-1][:-1]
# Try: decide about a letter only when you know what all later sounds can still get from there.
# for each sound the letter with the largest weight: the letters go back.
#     best.cummax(dim=0) => (best * 0, mean[len(came_from)].argmax().expand(len(row)))
# letters that go back are moved up to the furthest letter so far: a running maximum, not the best path.
#     [int(best.argmax())] => mean.argmax(dim=-1).cummax(dim=0).values.tolist()[::-1]
#     reversed(came_from) => ()
# the letters with the largest weights are sorted: they no longer belong to their sounds.
#     [int(best.argmax())] => mean.argmax(dim=-1).sort(descending=True).values.tolist()
#     reversed(came_from) => ()
# each sound takes the best letter that the one before has left open: early sounds can't give way.
#     `path = [int(best.argmax())]` => `path = [int(mean[0].argmax())]\n    for row in mean[1:]:\n        path.append(path[-1] + int(row[path[-1] :].argmax()))\n    path.reverse()`
#     reversed(came_from) => ()
# the path is chosen from its end: each sound takes the best letter up to the one of the next sound.
#     best.cummax(dim=0) => (best * 0, torch.stack([mean[len(came_from), : n + 1].argmax() for n in range(len(row))]))
# the surest sound gets its letter first, and the others what is left between: it can't give way.
#     `path = [int(best.argmax())]` => `path = [None] * len(mean)\n    for t in mean.amax(dim=-1).argsort(descending=True).tolist():\n        low = max((p for p in path[:t] if p is not None), default=0)\n        high = min((p for p in path[t + 1 :] if p is not None), default=mean.shape[1] - 1)\n        path[t] = low + int(mean[t, low : high + 1].argmax())\n    path.reverse()`
#     reversed(came_from) => ()
# Try: a letter may be shared by several sounds: the sound before may end at the same place, too.
# each sound has to move on: no two sounds share a letter.
#     best.cummax(dim=0) => torch.cat((best.new_full((1,), -1e3), best[:-1])).cummax(dim=0)
#     append(place) => append((place - 1).clamp(min=0))
# Try: take the mean over the heads and the layers first, then look for the path.
# the last layer only.
#     weights.mean(dim=(0, 1)) => weights[-1].mean(dim=0)
# the largest weight of any head: one sure head wins.
#     weights.mean(dim=(0, 1)) => weights.amax(dim=(0, 1))
# the largest product instead of the largest sum.
#     weights.mean(dim=(0, 1))[:-1] => weights.mean(dim=(0, 1))[:-1].log()
# Try: turn the path round at the end: it was found from the last sound to the first.
# the letters come in the order from the last sound to the first.
#     [::-1] =>

# %% tags=["check"]
check("11.4", letters_of)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# If you knew, for every letter, the best sum of all paths for the first sounds that end at this letter *or further left*, what would the next sound need to know besides its own row?
# </details>
# <details><summary>Hint 2</summary>
#
# `torch.cummax` gives a running maximum and where it was found. Keep both for every sound.
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# 1. the mean; without the end's row
# 2. `best`: the first row
# 3. for each further row: the running maximum of `best` and its places; note the places; the new `best` is this maximum plus the row
# 4. the last sound's letter is where `best` is largest; from there go back through the noted places
# </details>

# %% [markdown]
# ### 11.5 · Your own words
# 1 point · difficulty 1 of 5 · 10 minutes · more
#
# Which words would *you* like to hear from the model? Write `own_words()`, which returns a dictionary from each word to its sounds, as you would say it. Afterwards the model says them too, and at the end of this notebook your own search does.
#
# - at least 10 words, in small letters from a to z, which do not all sound alike;
# - at least 5 of them not in the dictionary (`"knight" in pronunciations()` asks it): names, towns, products, words you made up;
# - the sounds as a tuple (or list) of the 39 symbols in capitals, without stress marks, for example `("N", "AY", "T")`.
#
# The vowels are `AA AE AH AO AW AY EH ER EY IH IY OW OY UH UW`, as in *odd, at, hut, ought, cow, hide, Ed, hurt, ate, it, eat, oat, toy, hood, two*. The others are `B CH D DH F G HH JH K L M N NG P R S SH T TH V W Y Z ZH`, as you would guess; `DH` as in *thee*, `TH` as in *theta*, `JH` as in *gee*, `ZH` as in *seizure*.

# %%
for word in ("knight", "window", "knightly", "windowly"):
    listed = pronunciations().get(word, ())
    print(f"{word:9} in the dictionary: {bool(listed)!s:6}", *map(" ".join, listed))

# %% tags=["exercise"]
def own_words():
    # BEGIN SOLUTION
    words = {
        "knight": "N AY T", "phoenix": "F IY N IH K S", "through": "TH R UW",
        "attention": "AH T EH N SH AH N", "gruntle": "G R AH N T AH L",
        "snozzle": "S N AA Z AH L", "wikify": "W IH K AH F AY",
        "voxling": "V AA K S L IH NG", "blorptastic": "B L AO R P T AE S T IH K",
        "ranjitha": "R AA N JH IY T AH",
    }  # fmt: skip
    return {word: tuple(sounds.split()) for word, sounds in words.items()}
    # END SOLUTION


# %% tags=["check"]
check("11.5", own_words)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# `pronunciations()["window"]` shows how the dictionary writes a word. Look up some that sound like parts of yours.
# </details>
# <details><summary>Hint 2</summary>
#
# To spare quotation marks, write the sounds of a word as one string and take it apart with `split`.
# </details>

# %% [markdown]
# What does the model say? When your answer is accepted, this cell compares. Where you differ, who is right?

# %% tags=["nbval-ignore-output"]
def compare(words):
    said = pronounce(pretrained.load("transformer"), list(words))
    for (word, yours), model in zip(words.items(), said, strict=True):
        both = f"you: {' '.join(yours):28} model: {' '.join(model):28}"
        print(f"{word:14} {both} {edit_distance(yours, model)} edits")
    per = metrics.phoneme_error_rate(said, [[list(s)] for s in words.values()])
    print(f"phoneme error rate, your list being the truth: {per:.2f}")


try:
    compare(own_words())
except NotImplementedError:
    print("write your words first")

# %% [markdown]
# ### 11.6 · Find the bug
# 3 points · difficulty 4 of 5 · 10 minutes · more
#
# The function below measures a model's phoneme error rate. It runs, and its numbers look good. The toy model below knows one rule: after symbol 3 comes 4, after 4 comes 5, and so on, up to 7. Its only fault is that it begins with 4 where it should begin with 3, so that **every** sound it says by itself is one too high. Run the cell. Does the printed rate say how the model would do on its own? Write a mended version.

# %%
def evaluate_broken(step, references, start_id, end_id, max_len):
    wrong = total = 0
    all_said = []
    for word, reference in enumerate(references):
        prefix, said = [start_id], []
        for sound in reference:
            symbol = int(step(word, prefix).argmax())
            said.append(symbol)
            prefix.append(sound)
            wrong, total = wrong + (symbol != sound), total + 1
        all_said.append(said)
    return wrong / total, all_said


def one_too_high(word, prefix):
    following = {1: 4, 7: 2}.get(prefix[-1], prefix[-1] + 1)  # 1 starts, 2 ends
    return torch.nn.functional.one_hot(torch.tensor(following), 9).float()  # (V=9,)


print(evaluate_broken(one_too_high, [[3, 4, 5, 6]], start_id=1, end_id=2, max_len=9))

# %% [markdown]
# Write `evaluate(step, references, start_id, end_id, max_len)`:
#
# | argument | meaning |
# |---|---|
# | `step(word, prefix)` | takes the number of a word and the list of symbols so far, the start symbol first; gives scores `(V,)` of the next symbol |
# | `references` | one list of symbols for each word, without start and end symbol |
# | `start_id`, `end_id` | what stands before the first symbol, and what ends a word (a `start_id` that the model says later is a symbol like any other) |
# | `max_len` | most symbols said; some words might not end by themselves |
# | returns | the phoneme error rate (edits over all words, divided by the symbols of all references), and what was said: a list of symbols for each word, without the start symbol put in front and without the end symbol |
#
# You may call `edit_distance(a, b)`. Take the symbol with the highest score each time.

# %% tags=["exercise"]
def evaluate(step, references, start_id, end_id, max_len):
    # BEGIN SOLUTION
    edits = length = 0
    all_said = []
    for word, reference in enumerate(references):
        said = []
        while len(said) < max_len:
            symbol = int(step(word, [start_id, *said]).argmax())  # it reads its own
            if symbol == end_id:
                break
            said.append(symbol)
        edits, length = edits + edit_distance(said, reference), length + len(reference)
        all_said.append(said)
    return edits / length, all_said
    # END SOLUTION


# %% [markdown] tags=["mistakes"]
# Try: append the model's own symbol to the prefix, not the reference's, from the first one on.
# it still reads the true sounds, not its own.
#     [start_id, *said] => [start_id, *reference[:len(said)]]
# it still reads the true sounds, and its own only behind their end.
#     [start_id, *said] => [start_id, *reference[:len(said)], *said[len(reference):]]
# it still reads the true sounds, and is stopped where they end.
#     [start_id, *said] => [start_id, *reference[:len(said)], *said[len(reference):]]
#     while len(said) < max_len: => while len(said) < len(reference):
# Try: stop when the model says end_id, or after max_len symbols, whatever the reference.
# the model reads its own sounds, but says as many as the reference has.
#     while len(said) < max_len: => while len(said) < len(reference):
#     if symbol == end_id: => if False:
# the model may end early, but it is always stopped where the reference ends.
#     while len(said) < max_len: => while len(said) < len(reference):
# a word that does not end by itself has max_len - 1 symbols.
#     while len(said) < max_len: => while len(said) < max_len - 1:
# Try: two totals over all words, edits and lengths of the references; then one division, and nothing cut off.
# a rate for each word, then their mean.
#     edit_distance(said, reference) => edit_distance(said, reference) / len(reference)
#     length + len(reference) => length + 1
# the edits are divided by what the model said.
#     length + len(reference) => length + len(said)
# Try: use edit_distance: one sound too many must not make all that follow wrong.
# places are compared one by one, as far as both go: what is too long or too short does not count.
#     edit_distance(said, reference) => sum(a != b for a, b in zip(said, reference))
# places are compared one by one; what is too long or too short counts besides.
#     edit_distance(said, reference) => sum(a != b for a, b in zip(said, reference)) + abs(len(said) - len(reference))
# Try: the start symbol stands in the prefix only.
# the start symbol stands in what was said.
#     all_said.append(said) => all_said.append([start_id, *said])
# Try: only end_id ends a word, and it may be the first thing that the model says; it is no sound.
# the end symbol counts as a sound.
#     if symbol == end_id: => if symbol == end_id:\n                said.append(symbol)
# the start symbol ends a word as well.
#     if symbol == end_id: => if symbol in (start_id, end_id):
# a word cannot end before it has a sound.
#     if symbol == end_id: => if symbol == end_id and said:
# the end symbol is left out of the choice of the first symbol.
#     .argmax()) => .index_fill(0, torch.tensor([end_id][len(said) :], dtype=torch.long), -torch.inf).argmax())
# Try: put the model's own symbol into the prefix, and stop when it says end_id.
# the function as it was: the true sounds and their number are given, and places are compared.
#     [start_id, *said] => [start_id, *reference[:len(said)], *said[len(reference):]]
#     while len(said) < max_len: => while len(said) < len(reference):
#     if symbol == end_id: => if False:
#     edit_distance(said, reference) => sum(a != b for a, b in zip(said, reference)) + abs(len(said) - len(reference))

# %% tags=["check"]
check("11.6", evaluate)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# What would this function need in order to pronounce a word of which nobody knows the pronunciation? Which of its lines could then not run?
# </details>
# <details><summary>Hint 2</summary>
#
# Two things are given away: the sounds so far, and how many there are. And once the lengths may differ, places can no longer be compared one by one.
# </details>

# %% [markdown] tags=["solution"]
# The printed rate says nothing about the model on its own. The broken function puts the *true* sound into the prefix at each step, so a wrong sound never leads to the next one, and it stops where the reference stops. It counts one wrong sound of four, 0.25. By itself the model says 4, 5, 6, 7 in place of 3, 4, 5, 6. That takes two edits, one sound out at the front and one in at the end, which makes 0.5.

# %% [markdown]
# ### 11.7 · Open experiment: reading or remembering?
# 4 points · difficulty 3 of 5 · 25 minutes · more
#
# If the model was trained on *attended*, it may not be so hard to say *attend*. Are words without such relatives harder? We say that a held-out word **has a relative** if some training word begins with all of its letters but the last two: *attended* has a relative if a training word begins with *attend*.
#
# Longer words have fewer relatives, and might be harder anyway. So compare words of about the same length: of 6 to 7, 8 to 9, and 10 or more letters. First your prediction:

# %%
widgets.predict(
    "11.E",
    "By how many points is the word error rate higher without a relative?",
    between=(-10, 40),
    step=1,
)

# %% [markdown]
# The model is given all words of *valid* with at least 6 letters, which takes it about half a minute. `wrong[word]` tells whether it got a word wrong.

# %% tags=["nbval-ignore-output"]
sample = [word for word in split("valid") if len(word) >= 6]
said = pronounce(pretrained.load("transformer"), sample)
wrong = {
    word: sounds not in split("valid")[word]
    for word, sounds in zip(sample, said, strict=True)
}
print(f"{len(wrong)} words, {sum(wrong.values())} of them wrong")

# %% [markdown]
# Fill `relatives_results`. Plot the rates before you read them off.
#
# | key | what belongs there |
# |---|---|
# | `(lengths, relative)`, for lengths `"6 to 7"`, `"8 to 9"`, `"10 or more"` and relative True and False | a pair: how many words of `wrong` these are, and how many of them the model got wrong. Six entries. |
# | `"lower with a relative"` | in how many of the three groups of lengths the words with a relative have the lower word error rate |
# | `"difference"` | word error rate of all words without a relative, less that of all words with one, in percentage points |
# | `"standard error"` | of this difference, in points: $100 \sqrt{p_1 (1 - p_1) / n_1 + p_2 (1 - p_2) / n_2}$, with the two rates $p$ and the two numbers of words $n$ |
# | `"may be chance"` | True if the difference, without its sign, is less than two standard errors |

# %% tags=["exercise", "nbval-ignore-output"]
relatives_results = {}  # (lengths, relative) -> (words, wrong), and what you read off
# BEGIN SOLUTION
beginnings = {word[:n] for word in split("train") for n in range(4, len(word) + 1)}
groups = {"6 to 7": (6, 7), "8 to 9": (8, 9), "10 or more": (10, 99)}
for lengths, (low, high) in groups.items():
    for relative in (True, False):
        part = [
            word
            for word in wrong
            if low <= len(word) <= high and (word[:-2] in beginnings) == relative
        ]
        relatives_results[lengths, relative] = len(part), sum(map(wrong.get, part))


def rate_of(relative):
    counts = [relatives_results[lengths, relative] for lengths in groups]
    n = sum(words for words, _ in counts)
    return sum(errors for _, errors in counts) / n, n


rates = {
    relative: torch.tensor(
        [100 * b / a for a, b in (relatives_results[g, relative] for g in groups)]
    )
    for relative in (True, False)
}
named = {"with a relative": rates[True], "without": rates[False]}
axes = {"xlabel": "letters", "ylabel": "word error rate (%)"}
ax = plotting.curves(torch.tensor([0, 1, 2]), named, **axes)
ax.set(ylim=(0, None))
ax.set_xticks(range(3), list(groups))
plotting.show(ax, "Word error rate by length, with and without a relative in train.")
(p_with, n_with), (p_without, n_without) = rate_of(True), rate_of(False)
difference = 100 * (p_without - p_with)
spread = p_with * (1 - p_with) / n_with + p_without * (1 - p_without) / n_without
relatives_results["lower with a relative"] = int((rates[True] < rates[False]).sum())
relatives_results["difference"] = difference
relatives_results["standard error"] = 100 * spread**0.5
relatives_results["may be chance"] = abs(difference) < 200 * spread**0.5
# END SOLUTION

# %% tags=["check"]
check("11.7", relatives_results)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# Looking through 100,000 training words for each held-out one is slow. Collect all beginnings of training words in a `set` once; then it is one question a word.
# </details>
# <details><summary>Hint 2</summary>
#
# Two loops, over the three groups of lengths and over True and False, fill six entries. Add them up for the two rates over all lengths.
# </details>

# %% tags=["nbval-ignore-output"]
found = isinstance(relatives_results, dict) and relatives_results.get("difference")
widgets.came_out("11.E", float(found)) if found else print("Solve 11.7 first.")

# %% [markdown]
# Words without a relative may differ in more than that: they may be names more often, or have a less usual spelling (section 11.7 of the lesson). An experiment that *changes* one thing would train a model without the relatives. This one only sorts the words. It tells how much more often the model gets them wrong, but not why. And the number of words matters: try the same with every eighth word, and look at the standard error.

# %% [markdown]
# ### 11.8 · How many beams are enough?
# 1 point · difficulty 3 of 5 · 4 minutes · core
#
# The most probable of all sequences that a model can say has the probability 0.4 as a whole. You can't see which one it is, and you want a beam search (as in 11.2, with $\alpha = 0$) that is sure to return it first, whatever the model's other probabilities are. What is the smallest number of beams that will do?
#
# - **a.** 1
# - **b.** 2
# - **c.** 3
# - **d.** No number is sure to do, because any beam can be dropped at some step.

# %% tags=["quiz"]
quiz_11_8 = ""  # your letter between the quotes
# BEGIN SOLUTION
quiz_11_8 = "b"
# END SOLUTION

# %% [markdown] tags=["solution"]
# Why each option is right or wrong:
#
# - **a.** greedy decoding may take a first symbol of probability 0.45 that leads nowhere, and never see the sequence.
# - **b.** each beginning of the sequence has at least 0.4 itself. The candidates of a step exclude each other, so their probabilities sum to at most 1, and at most one other can have more than 0.4: the sequence is always among the best two. And the search of 11.2 doesn't stop before, because nothing that is finished has more than 0.4.
# - **c.** three do, but fewer are enough. Count how many candidates of one step can have more than 0.4.
# - **d.** improbable ones can be dropped. But a beginning of this sequence has at least 0.4, and what is in the other candidates of the step can't sum to more than 0.6.

# %% tags=["check"]
check("11.8", quiz_11_8)

# %% [markdown]
# ## Your search pronounces your words
#
# Now your answers work together: `beam_search` of 11.2 looks for the sounds of your own words of 11.5 in the trained model, and `letters_of` of 11.4 finds a letter for each sound.

# %%
@torch.no_grad()
def speak(model, word):
    source = SPELLING.batch([word])  # (1, L_s)

    def step(prefix):
        given = torch.tensor([[1, *prefix]])  # 1 is the start symbol
        return model(source, given)[0, -1].log_softmax(-1)  # (V,)

    sequences, scores = beam_search(step, 3, 32, END_ID, 1.0)
    with record_attention(model) as seen:
        model(source, torch.tensor([[1, *sequences[0][:-1]]]))
    layers = torch.stack(seen.matching("decoder_layers.*.cross_attention"))[:, 0]
    return SOUNDS.decode(sequences[0]), letters_of(layers), scores

# %% tags=["nbval-ignore-output"]
try:
    model = pretrained.load("transformer").eval()
    for word in list(own_words())[:6]:
        sounds, letters, _ = speak(model, word)
        pairs = zip(sounds, letters, strict=True)
        said = "  ".join(f"{s}({word[i]})" for s, i in pairs)
        print(f"{word:12} {said}")
except NotImplementedError:
    print("Solve 11.2, 11.4 and 11.5 first.")

# %% [markdown]
# *In brackets: the letter of each sound, on the path of 11.4.* Everything between the letters and the sounds was learned from pairs of words and sounds, and found by your own search.
#
# {{next_steps}}
