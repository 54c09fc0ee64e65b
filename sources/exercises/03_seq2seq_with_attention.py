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
# Eight exercises, 24 points. At the end you have written the attention step, the decoder step, the loss, the decoding and the error rate of a recurrent model that pronounces words.
#
# {{colab_link}} · about 75 minutes · builds on {{lesson_link}}
#
# Write your code where it says `YOUR CODE HERE`, run the cell, then run the check below it. A check that fails says what differs and, if it knows your mistake,
# what your answer did. You may try as often as you like. Hints are folded under each check. A function of `course_utils` that does what an exercise asks for is off limits in it.
#
# An answer never changes its arguments in place, and what it computes has their dtype. In 3.1, 3.2, 3.3 and 3.6 gradients must flow through it: use torch operations from first to last.

# %% tags=["setup"]
import torch
import torch.nn.functional as F

from course_utils.checks import check
from course_utils.metrics import edit_distance

# %% [markdown]
# ### 3.1 · One attention step with a source mask
# 4 points · difficulty 3 of 5 · 15 minutes
#
# Write `attention_step(state, encoded, W_q, W_k, w_v, mask)`. The state of the decoder asks all encoder states. The score of letter $j$ is
#
# $$e_j = w_v^\top \tanh(W_q\, s + W_k\, h_j) ,$$
#
# the weights are the softmax of the scores over the **real** letters, and the context is the weighted sum of the encoder states $h_j$. Padding gets weight 0.
#
# | argument | shape |
# |---|---|
# | `state` | `(B, d_state)`, one $s$ for each word |
# | `encoded` | `(B, L_s, d_enc)`, all $h_j$ |
# | `W_q` | `(d_att, d_state)` |
# | `W_k` | `(d_att, d_enc)` |
# | `w_v` | `(d_att,)` |
# | `mask` | `(B, L_s)`, boolean, True at real letters; each word has one at least, and padding may stand anywhere |
# | returns `context`, `weights` | `(B, d_enc)`, `(B, L_s)` |
#
# Example: if `w_v` is all zeros, then every real letter of a word has the same weight. `torch.softmax` is allowed; the course's own attention and `masked_softmax` are off limits.

# %% tags=["exercise"]
def attention_step(state, encoded, W_q, W_k, w_v, mask):
    # BEGIN SOLUTION
    hidden = torch.tanh((state @ W_q.T)[:, None] + encoded @ W_k.T)  # (B, 1, d_att) + (B, L_s, d_att)
    scores = hidden @ w_v  # (B, L_s)
    weights = torch.softmax(scores.masked_fill(~mask, float("-inf")), dim=-1)  # (B, L_s), each row sums to 1
    context = (weights[:, :, None] * encoded).sum(dim=1)  # (B, d_enc)
    return context, weights
    # END SOLUTION


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
# ### 3.2 · One decoder step
# 4 points · difficulty 3 of 5 · 10 minutes
#
# Write `decoder_step(embedded, state, attend, cell, output)`, one step of the decoder of lesson 03. The three parts come as functions:
#
# | function | takes | gives |
# |---|---|---|
# | `attend(state)` | `(B, d_state)` | the context `(B, d_enc)` and the weights `(B, L_s)` |
# | `cell(x, state)` | `(B, d_embed + d_enc)`, `(B, d_state)` | the new state `(B, d_state)` |
# | `output(features)` | `(B, d_state + d_enc + d_embed)` | the logits `(B, V)` |
#
# The order is Bahdanau's: the context comes from the state **before** the step. The cell reads `[embedding; context]`, the output reads `[new state; context; embedding]`.
#
# | argument | shape |
# |---|---|
# | `embedded` | `(B, d_embed)`, the embedding of the previous sound |
# | `state` | `(B, d_state)`, the state before the step |
# | returns `logits`, `new_state`, `weights` | `(B, V)`, `(B, d_state)`, `(B, L_s)` |
#
# Example: with `cell = lambda x, s: s + 1` the state counts the steps, and `new_state` is `state + 1`.

# %% tags=["exercise"]
def decoder_step(embedded, state, attend, cell, output):
    # BEGIN SOLUTION
    context, weights = attend(state)  # (B, d_enc), (B, L_s)
    new_state = cell(torch.cat((embedded, context), dim=-1), state)  # (B, d_state)
    logits = output(torch.cat((new_state, context, embedded), dim=-1))  # (B, V)
    return logits, new_state, weights
    # END SOLUTION


# %% tags=["check"]
check("3.2", decoder_step)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# Which of the three functions can run first, with what you are given? What does the next one need?
# </details>
# <details><summary>Hint 2</summary>
#
# `torch.cat(parts, dim=-1)` joins vectors side by side. The order of the parts matters: weights were trained for one order.
# </details>

# %% [markdown]
# ### 3.3 · The teacher-forced loss
# 3 points · difficulty 3 of 5 · 10 minutes
#
# Write `forced_loss(model, source, target, pad_id)`: the mean cross-entropy of each sound, the true sounds before it being given. The target stands between a start and an end symbol: `<start> N EY SH AH N <end>`. The end symbol must be predicted too; padding must not count.
#
# | argument | meaning |
# |---|---|
# | `model(source, prefix)` | takes ids `(B, L_s)` and `(B, L)`, gives logits `(B, L, V)`; those at position `t` score the symbol **after** `prefix[:, t]` |
# | `source` | `(B, L_s)` |
# | `target` | `(B, L_t)`, padded at the end with `pad_id` |
# | `pad_id` | one of the `V` symbols, not always 0 |
# | returns | the mean over all real symbols of the batch, a tensor with no dimensions through which gradients flow |
#
# Example: a model that gives the same logit to all of `V` symbols has the loss `log(V)`. `F.cross_entropy` is allowed; the course's own losses are off limits.

# %% tags=["exercise"]
def forced_loss(model, source, target, pad_id):
    # BEGIN SOLUTION
    logits = model(source, target[:, :-1])  # (B, L_t - 1, V)
    right = target[:, 1:]  # (B, L_t - 1): the symbol after each position
    return F.cross_entropy(logits.flatten(0, 1), right.flatten(), ignore_index=pad_id)
    # END SOLUTION


# %% tags=["check"]
check("3.3", forced_loss)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# Write `<start> N EY SH AH N <end>` twice, one below the other, the lower one moved to the left by one. What goes in, and what is it compared with?
# </details>
# <details><summary>Hint 2</summary>
#
# `F.cross_entropy` wants logits `(N, V)` and answers `(N,)`, or logits `(B, V, L)` and answers `(B, L)`. It has an argument for answers that do not count.
# </details>

# %% [markdown]
# ### 3.4 · Greedy decoding with an end symbol
# 4 points · difficulty 4 of 5 · 15 minutes
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
# 3. stack what was stored, one column a step
# </details>

# %% [markdown]
# ### 3.5 · Phoneme error rate with several accepted pronunciations
# 4 points · difficulty 3 of 5 · 10 minutes
#
# Write `phoneme_error_rate(hypotheses, references)`. For each word take the **nearest** accepted pronunciation, the one with the fewest edits. Add up these edits over all words, add up the lengths of these pronunciations, and divide.
#
# | argument | meaning |
# |---|---|
# | `hypotheses` | a list with one list of phonemes for each word, perhaps an empty one |
# | `references` | a list with, for each word, the list of its accepted pronunciations, at least one, none empty |
# | returns | a number, 0 if every word is right; it may be above 1. Where two pronunciations are as near, either may count |
#
# Example: `[["R", "IY", "D"], ["AH"]]` against `[[["R", "EH", "D"], ["R", "IY", "D"]], [["EY"]]]` is 1 edit on 3 + 1 phonemes: 0.25. You may call `edit_distance(a, b)`; the course's own error rates are off limits.

# %% tags=["exercise"]
def phoneme_error_rate(hypotheses, references):
    # BEGIN SOLUTION
    edits, length = 0, 0
    for hypothesis, accepted in zip(hypotheses, references, strict=True):
        nearest = min(accepted, key=lambda reference: edit_distance(hypothesis, reference))
        edits += edit_distance(hypothesis, nearest)
        length += len(nearest)
    return edits / length
    # END SOLUTION


# %% tags=["check"]
check("3.5", phoneme_error_rate)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# Two running totals, one loop over the words, and one division after the loop.
# </details>
# <details><summary>Hint 2</summary>
#
# Python's `min` takes a `key`: what it compares by.
# </details>

# %% [markdown]
# ### 3.6 · Find the bug
# 3 points · difficulty 4 of 5 · 10 minutes
#
# The function below runs the decoder over a whole target whose embeddings are given. It is meant to follow Bahdanau's order, as in 3.2. It runs, the shapes are right, the weights sum to 1. In the toy below the state counts the steps, and `attend` looks at the letter whose number is the state. So sound 0 should look at letter 0, sound 1 at letter 1, sound 2 at letter 2. Run the cell, look at the rows of weights, and write a mended version.

# %%
def decode_broken(embedded, state, attend, cell):
    context = torch.zeros_like(attend(state)[0])  # (B, d_enc)
    features, all_weights = [], []
    for t in range(embedded.shape[1]):
        state = cell(torch.cat((embedded[:, t], context), dim=-1), state)  # (B, d_state)
        context, weights = attend(state)  # (B, d_enc), (B, L_s)
        features.append(torch.cat((state, context), dim=-1))
        all_weights.append(weights)
    return torch.stack(features, 1), torch.stack(all_weights, 1)  # (B, L_t, d_state + d_enc), (B, L_t, L_s)


letters = torch.tensor([[10.0], [20.0], [30.0], [40.0]])  # (L_s=4, d_enc=1)


def look_at_letter(state):
    weights = F.one_hot(state[:, 0].long(), 4).float()  # (B, L_s)
    return weights @ letters, weights


features, weights = decode_broken(torch.zeros(1, 3, 2), torch.zeros(1, 1), look_at_letter, lambda x, s: s + 1)
for t in range(3):
    print(f"sound {t}: weights {weights[0, t].tolist()}   state and context {features[0, t].tolist()}")

# %% [markdown]
# Write `decode(embedded, state, attend, cell)`:
#
# | argument | shape |
# |---|---|
# | `embedded` | `(B, L_t, d_embed)`, the embeddings of the previous sounds, step by step |
# | `state` | `(B, d_state)`, before the first step |
# | `attend`, `cell` | as in 3.2 |
# | returns `features`, `weights` | `(B, L_t, d_state + d_enc)`: at each step the new state, then the context that the cell has read; `(B, L_t, L_s)`: the weights of that context |

# %% tags=["exercise"]
def decode(embedded, state, attend, cell):
    # BEGIN SOLUTION
    features, all_weights = [], []
    for t in range(embedded.shape[1]):
        context, weights = attend(state)  # from the state before the step
        state = cell(torch.cat((embedded[:, t], context), dim=-1), state)  # (B, d_state)
        features.append(torch.cat((state, context), dim=-1))  # (B, d_state + d_enc)
        all_weights.append(weights)
    return torch.stack(features, dim=1), torch.stack(all_weights, dim=1)
    # END SOLUTION


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
# ### 3.7 · Who asks whom
# 1 point · difficulty 2 of 5 · 2 minutes
#
# At step $t$ the decoder with attention looks at the word. What are query, keys and values?
#
# - **a.** The query is the embedding of the next sound, the keys and values are the letters' embeddings.
# - **b.** The query is the encoder's last state, the keys and values are the decoder's states.
# - **c.** The query is the decoder's state before the step, the keys and values are the encoder's states.
# - **d.** The query is the decoder's state after the step, the keys and values are the encoder's states.

# %% tags=["quiz"]
quiz_3_7 = ""  # your letter between the quotes
# BEGIN SOLUTION
quiz_3_7 = "c"
# END SOLUTION

# %% tags=["check"]
check("3.7", quiz_3_7)

# %% [markdown]
# ### 3.8 · Alone for the first time
# 1 point · difficulty 2 of 5 · 2 minutes
#
# A model was trained with teacher forcing. Given the true sounds so far, it names the next one well. Decoding greedily, it often goes from one wrong sound to several. Why?
#
# - **a.** Its loss was not the cross-entropy.
# - **b.** In training it always read the true previous sounds; now it reads its own, and has never seen its errors.
# - **c.** Greedy decoding takes the least probable symbol.
# - **d.** Attention cannot be used without the true sounds.

# %% tags=["quiz"]
quiz_3_8 = ""  # your letter between the quotes
# BEGIN SOLUTION
quiz_3_8 = "b"
# END SOLUTION

# %% tags=["check"]
check("3.8", quiz_3_8)

# %% [markdown]
# {{next_steps}}
