# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 10 · The Transformer: exercises
#
# Nine exercises, 27 points. At the end you have assembled a Transformer, its masks, its loss, its schedule and its decoding, and all of your answers together learn to copy.
#
# {{colab_link}} · about 100 minutes · builds on {{lesson_link}}
#
# Write your code where it says `YOUR CODE HERE`, run the cell, then run the check below it. A check that fails says what differs and, if it knows your mistake,
# what your answer did. You may try as often as you like. Hints are folded under each check. A function of `course_utils` that does what an exercise asks for is off limits in it.
#
# In all exercises masks are boolean, and True means **may attend**. An answer never changes its arguments.

# %% tags=["setup"]
import sys

import torch
import torch.nn.functional as F
from torch import nn
from tqdm import tqdm

from course_utils.checks import check
from course_utils.datasets.tasks import copy_task
from course_utils.layers import DecoderLayer, EncoderLayer, InputEmbedding, LayerNorm
from course_utils.positions import SinusoidalPositions

torch.set_num_threads(1)  # the tensors here are small: sharing them out among threads takes longer than the work

# %% [markdown]
# ### 10.1 · Masks for a batch of pairs
# 3 points · difficulty 2 of 5 · 10 minutes
#
# Write `batch_masks(source, target, pad_id)`. `target` is what the decoder is given: nothing is to be cut off here. The source mask hides the padding of the source. The target mask hides the padding of the target **and** the future.
#
# | argument | shape |
# |---|---|
# | `source` | `(B, L_s)`, ids |
# | `target` | `(B, L_t)`, ids |
# | `pad_id` | a whole number, not always 0 |
# | returns `source_mask`, `target_mask` | `(B, 1, 1, L_s)`, `(B, 1, L_t, L_t)`, boolean |
#
# Padding is hidden as a key; its rows stay. Usually it stands on the right, but judge each id by itself. Example: for `target = [[5, 0]]` and `pad_id = 0` the target mask is `[[[[True, False], [True, False]]]]`. The course's own masks are off limits.

# %% tags=["exercise"]
def batch_masks(source, target, pad_id):
    # BEGIN SOLUTION
    L_t = target.shape[1]
    source_mask = (source != pad_id)[:, None, None, :]  # (B, 1, 1, L_s)
    causal = torch.ones(L_t, L_t, dtype=torch.bool).tril()  # (L_t, L_t)
    target_mask = (target != pad_id)[:, None, None, :] & causal  # (B, 1, 1, L_t) and (L_t, L_t) -> (B, 1, L_t, L_t)
    return source_mask, target_mask
    # END SOLUTION


# %% tags=["check"]
check("10.1", batch_masks)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# A padding mask has its tokens in the last axis, where the keys are. Two axes of size 1 stand in between.
# </details>
# <details><summary>Hint 2</summary>
#
# The causal mask has the shape `(L_t, L_t)`. Joined with a mask of shape `(B, 1, 1, L_t)`, which shape comes out? And which operator says "both must allow it"?
# </details>

# %% [markdown]
# ### 10.2 · Shift the target
# 2 points · difficulty 1 of 5 · 5 minutes
#
# Write `shift_target(target, pad_id)`. From the full target, with start and end symbol, make what the decoder is given and what it is asked for. Count the labels that are not padding: by that number the loss will be divided.
#
# | argument | shape |
# |---|---|
# | `target` | `(B, L_t + 1)`, ids: each row is start, symbols, end, perhaps padding |
# | `pad_id` | a whole number, not always 0 |
# | returns `decoder_input`, `labels`, `count` | `(B, L_t)`, `(B, L_t)`, a whole number or a tensor that holds one |
#
# Example: `target = [[1, 5, 2, 0]]` with `pad_id = 0` gives `[[1, 5, 2]]`, `[[5, 2, 0]]` and 2.

# %% tags=["exercise"]
def shift_target(target, pad_id):
    # BEGIN SOLUTION
    decoder_input, labels = target[:, :-1], target[:, 1:]  # (B, L_t) each
    return decoder_input, labels, (labels != pad_id).sum()
    # END SOLUTION


# %% tags=["check"]
check("10.2", shift_target)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# Which symbol is never asked for, because it is always given? And after which symbol is nothing asked any more?
# </details>

# %% [markdown]
# ### 10.3 · Label smoothing
# 4 points · difficulty 4 of 5 · 15 minutes
#
# Write `smoothed_loss(logits, labels, smoothing, pad_id)`. At a position with the label $y$, symbol $v$ gets the share $q_v$: $1 - \varepsilon$ if it is $y$; 0 if it is padding; and $\varepsilon / (V - 2)$ otherwise. The loss of the position is $-\sum_v q_v \log p_v$. Return the mean over the positions whose label is **not** padding.
#
# | argument | shape |
# |---|---|
# | `logits` | `(B, L_t, V)`, scores before the softmax; `V` is at least 3 |
# | `labels` | `(B, L_t)`, ids; at least one is not padding |
# | `smoothing` | $\varepsilon$, at least 0 and below 1 |
# | `pad_id` | a whole number, not always 0 |
# | returns | a scalar of the dtype of `logits`, through which gradients flow |
#
# Example: with all logits 0 and $V = 4$ every log-probability is $-\ln 4$, so the loss is $\ln 4 = 1.3863$, whatever the smoothing. Some logits of the check are as large as 500. PyTorch's `cross_entropy` is allowed; its argument `label_smoothing` does something else.

# %% tags=["exercise"]
def smoothed_loss(logits, labels, smoothing, pad_id):
    # BEGIN SOLUTION
    V = logits.shape[-1]
    q = torch.full_like(logits, smoothing / (V - 2))  # (B, L_t, V)
    q[..., pad_id] = 0.0
    q.scatter_(-1, labels[..., None], 1.0 - smoothing)
    each = -(q * logits.log_softmax(dim=-1)).sum(dim=-1)  # (B, L_t)
    return each[labels != pad_id].mean()
    # END SOLUTION


# %% tags=["check"]
check("10.3", smoothed_loss)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# Begin with the shares for one label, as in section 10.8, then find a way to make them for all positions at once.
# </details>
# <details><summary>Hint 2</summary>
#
# `scatter_(dim, index, value)` writes a value into the places that `index` names. The labels need one more axis to serve as an index into the last one.
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# 1. shares: everywhere the same small number; 0 in the column of padding; the large number at each label
# 2. log-probabilities over the last axis; minus the sum of share times log-probability
# 3. keep the positions whose label is real; their mean
# </details>

# %% [markdown]
# ### 10.4 · The warm-up schedule
# 3 points · difficulty 2 of 5 · 10 minutes
#
# Write `warmup_rate(done, d_model, warmup)`: the learning rate of the **next** update, when `done` updates have been made. PyTorch's schedulers call such a function with 0 first. With $s$ the number of the next update, counted from 1, and $w$ the steps of warm-up,
#
# $$r = d_{model}^{-1/2} \cdot \min\!\left(s^{-1/2},\; s \cdot w^{-3/2}\right) .$$
#
# | argument | meaning |
# |---|---|
# | `done` | updates made so far, 0 before the first |
# | `d_model`, `warmup` | whole numbers, at least 1 |
# | returns | the rate, a number |
#
# Example: `warmup_rate(3, 4, 4)` is 0.25, the largest rate of that schedule.

# %% tags=["exercise"]
def warmup_rate(done, d_model, warmup):
    # BEGIN SOLUTION
    s = done + 1
    return d_model**-0.5 * min(s**-0.5, s * warmup**-1.5)
    # END SOLUTION


# %% tags=["check"]
check("10.4", warmup_rate)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# When no update has been made, which number does the next one have?
# </details>

# %% [markdown]
# ### 10.5 · Assemble the model
# 6 points · difficulty 4 of 5 · 25 minutes
#
# Write the class `MyTransformer`, an `nn.Module`, from the parts you wrote in lesson 09. Take the library's (imported above), so that the check can set your weights by their names. It needs exactly these attributes:
#
# | attribute | what it is |
# |---|---|
# | `source_embedding`, `target_embedding` | `InputEmbedding(vocabulary, d_model, positions=SinusoidalPositions(d_model, max_len))` |
# | `encoder_layers` | `nn.ModuleList` of `num_layers` times `EncoderLayer(d_model, num_heads, d_ff, dropout=0.0)` |
# | `decoder_layers` | the same with `DecoderLayer` |
# | `encoder_norm`, `decoder_norm` | `LayerNorm(d_model)`, after the last layer of each stack |
# | `generator` | `nn.Linear(d_model, tgt_vocab)` |
#
# | method | arguments and result |
# |---|---|
# | `__init__` | `(src_vocab, tgt_vocab, num_layers, d_model, d_ff, num_heads, max_len)`, in this order |
# | `forward` | `(source, target, pad_id)`, ids `(B, L_s)` and `(B, L_t)`; returns **logits** `(B, L_t, tgt_vocab)` |
#
# An encoder layer is called as `layer(x, mask)`, a decoder layer as `layer(y, memory, target_mask=..., memory_mask=...)`. You may call your `batch_masks` of 10.1. The library's `Transformer` and PyTorch's are off limits. Keep nothing from one call of `forward` to the next, and let gradients reach every part. Example: `MyTransformer(5, 6, 1, 4, 8, 2, 10)` has 522 parameters.

# %% tags=["exercise"]
class MyTransformer(nn.Module):
    def __init__(self, src_vocab, tgt_vocab, num_layers, d_model, d_ff, num_heads, max_len):
        super().__init__()
        # BEGIN SOLUTION
        self.source_embedding = InputEmbedding(src_vocab, d_model, positions=SinusoidalPositions(d_model, max_len))
        self.target_embedding = InputEmbedding(tgt_vocab, d_model, positions=SinusoidalPositions(d_model, max_len))
        self.encoder_layers = nn.ModuleList(EncoderLayer(d_model, num_heads, d_ff, dropout=0.0) for _ in range(num_layers))
        self.decoder_layers = nn.ModuleList(DecoderLayer(d_model, num_heads, d_ff, dropout=0.0) for _ in range(num_layers))
        self.encoder_norm, self.decoder_norm = LayerNorm(d_model), LayerNorm(d_model)
        self.generator = nn.Linear(d_model, tgt_vocab)
        # END SOLUTION

    def forward(self, source, target, pad_id):
        # BEGIN SOLUTION
        source_mask, target_mask = batch_masks(source, target, pad_id)
        x = self.source_embedding(source)  # (B, L_s, d_model)
        for layer in self.encoder_layers:
            x = layer(x, source_mask)
        memory = self.encoder_norm(x)  # (B, L_s, d_model)
        y = self.target_embedding(target)  # (B, L_t, d_model)
        for layer in self.decoder_layers:
            y = layer(y, memory, target_mask=target_mask, memory_mask=source_mask)
        return self.generator(self.decoder_norm(y))  # (B, L_t, tgt_vocab)
        # END SOLUTION


# %% tags=["check"]
check("10.5", MyTransformer)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# `super().__init__()` stays the first line of `__init__`. Each layer must be a new object: make them inside the loop or the comprehension.
# </details>
# <details><summary>Hint 2</summary>
#
# Which of the two masks belongs to the encoder's self-attention, to the decoder's self-attention, to the cross-attention? Ask each time: who are the keys?
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# 1. masks; embed the source; encoder layers one after another; its norm: the memory
# 2. embed the target; decoder layers one after another, each with the memory; its norm
# 3. the generator
# </details>

# %% [markdown]
# ### 10.6 · Greedy decoding
# 4 points · difficulty 3 of 5 · 15 minutes
#
# Write `greedy(model, source, max_len, start_id, end_id, pad_id)`. `model(source, target)` gives the logits `(B, L_t, V)` of the symbol after each position of `target`. Begin with the start symbol; at each step take the most probable symbol and append it. A sequence that has said `end_id` gets `pad_id` from then on. Stop when all have ended, or after
# `max_len` steps. Nothing but `end_id` ends a sequence: the start symbol and padding may be said like any other symbol, and `start_id` may be the same as `end_id`.
#
# | argument | shape |
# |---|---|
# | `model` | a function, ids `(B, L_s)` and `(B, L_t)` to logits `(B, L_t, V)`, also for some of the rows |
# | `source` | `(B, L_s)`, ids |
# | `max_len` | most symbols to say, the end symbol included |
# | returns | `(B, L_out)`, ids: what was said, without the start symbol, with the end symbol |
#
# `L_out` is the number of steps that were needed. Example: two sequences say `7 end` and `8 9 end`. The result is `[[7, end, pad], [8, 9, end]]`. The library's `greedy_decode` is off limits.

# %% tags=["exercise"]
def greedy(model, source, max_len, start_id, end_id, pad_id):
    # BEGIN SOLUTION
    said = torch.full((len(source), 1), start_id)  # (B, 1)
    ended = torch.zeros(len(source), dtype=torch.bool)  # (B,)
    for _ in range(max_len):
        chosen = model(source, said)[:, -1].argmax(dim=-1)  # (B,)
        chosen = chosen.masked_fill(ended, pad_id)
        said = torch.cat([said, chosen[:, None]], dim=1)  # (B, so far + 1)
        ended = ended | (chosen == end_id)
        if ended.all():
            break
    return said[:, 1:]
    # END SOLUTION


# %% tags=["check"]
check("10.6", greedy)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# The model answers at every position. Which of its answers is the new one?
# </details>
# <details><summary>Hint 2</summary>
#
# Keep a boolean for each sequence that says whether it has ended. When must it be updated: before or after the padding is filled in?
# </details>

# %% [markdown]
# ### 10.7 · Find the bug
# 3 points · difficulty 3 of 5 · 10 minutes
#
# The function below computes the loss of a batch. `model(source, decoder_input, source_mask, target_mask)` gives logits `(B, L_t, V)`. It runs, a model trains with it, and the loss becomes wonderfully small. Then decoding gives nonsense. In the cell below, a "model" that has learned nothing repeats the last symbol it is allowed to see. On
# random symbols it should be right no more often than chance. Run it.

# %%
def batch_loss_broken(model, source, target, pad_id):
    decoder_input, labels = target[:, :-1], target[:, 1:]  # (B, L_t) each
    L_t = decoder_input.shape[1]
    causal = torch.ones(L_t, L_t, dtype=torch.bool).tril(diagonal=1)  # (L_t, L_t)
    target_mask = (decoder_input != pad_id)[:, None, None, :] & causal  # (B, 1, L_t, L_t)
    source_mask = (source != pad_id)[:, None, None, :]  # (B, 1, 1, L_s)
    logits = model(source, decoder_input, source_mask, target_mask)  # (B, L_t, V)
    return F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=pad_id)


def repeats_what_it_sees(source, decoder_input, source_mask, target_mask):
    places = torch.arange(decoder_input.shape[1])  # (L_t,)
    latest = (target_mask[:, 0] * places).amax(dim=-1)  # (B, L_t): the latest position that each may see
    return 9.0 * F.one_hot(decoder_input.gather(1, latest), 11).float()  # (B, L_t, V)


source, target = copy_task(64, 10, 11, torch.Generator().manual_seed(0))
print(f"loss of a model that knows nothing: {batch_loss_broken(repeats_what_it_sees, source, target, 0).item():.2f}")

# %% [markdown]
# A loss that low cannot be honest; even a model that guesses evenly among 11 symbols has 2.40. (It is not 0, because nobody gave away the last symbol.) Write `batch_loss(model, source, target, pad_id)` so that no position can see its label. Each may see itself and all before it, and all else stays as it was: padding, wherever it stands, is hidden as a key and left out of the loss. The arguments are `(B, L_s)` and `(B, L_t + 1)` ids; the result is a scalar, through which gradients flow.

# %% tags=["exercise"]
def batch_loss(model, source, target, pad_id):
    # BEGIN SOLUTION
    decoder_input, labels = target[:, :-1], target[:, 1:]  # (B, L_t) each
    L_t = decoder_input.shape[1]
    causal = torch.ones(L_t, L_t, dtype=torch.bool).tril()  # (L_t, L_t)
    target_mask = (decoder_input != pad_id)[:, None, None, :] & causal  # (B, 1, L_t, L_t)
    source_mask = (source != pad_id)[:, None, None, :]  # (B, 1, 1, L_s)
    logits = model(source, decoder_input, source_mask, target_mask)  # (B, L_t, V)
    return F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=pad_id)
    # END SOLUTION


# %% tags=["check"]
check("10.7", batch_loss)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# For a target of start, a, b, end: write down the input, the labels, and which inputs position 0 may see.
# </details>
# <details><summary>Hint 2</summary>
#
# The label of position `t` stands in the input at position `t + 1`. Print `causal.int()`.
# </details>

# %% [markdown]
# ### 10.8 · A loss that is too good
# 1 point · difficulty 2 of 5 · 3 minutes
#
# A translator is trained on a large corpus. After 30 steps its loss has come to rest near the lowest possible value. Decoded freely, it says the start symbol over and over. What has happened?
#
# - **a.** The learning rate is too high.
# - **b.** The model has learned the training set by heart.
# - **c.** The target is not shifted.
# - **d.** Decoding should use beam search.

# %% tags=["quiz"]
quiz_10_8 = ""  # your letter between the quotes
# BEGIN SOLUTION
quiz_10_8 = "c"
# END SOLUTION

# %% tags=["check"]
check("10.8", quiz_10_8)

# %% [markdown]
# ### 10.9 · A loss that does not fall
# 1 point · difficulty 3 of 5 · 3 minutes
#
# Vocabulary of 1,000 symbols, the plain cross-entropy as the loss. The share of right symbols has risen to 95 %, but the loss stays just above 5.9. What is the most likely cause?
#
# - **a.** The model ends in a softmax, and cross_entropy applies a log-softmax to the result.
# - **b.** The model ends in a log-softmax, and cross_entropy applies another one.
# - **c.** The padding is left out of the loss.
# - **d.** The warm-up is too long.

# %% tags=["quiz"]
quiz_10_9 = ""  # your letter between the quotes
# BEGIN SOLUTION
quiz_10_9 = "a"
# END SOLUTION

# %% tags=["check"]
check("10.9", quiz_10_9)

# %% [markdown]
# ## All together
#
# No points here, but the reward: your model, masks, shift, loss, schedule and decoding learn to copy. The cell uses your answers to 10.1 to 10.6 and nothing else of that kind. It takes 10 to 30 seconds.

# %%
def learn_to_copy(steps=240, d_model=64, warmup=60):
    torch.manual_seed(0)
    rng = torch.Generator().manual_seed(0)
    model = MyTransformer(11, 11, 2, d_model, 128, 4, 16)
    optimizer = torch.optim.Adam(model.parameters(), betas=(0.9, 0.98), eps=1e-9)
    for done in tqdm(range(steps), unit="step", mininterval=1, file=sys.stdout):
        source, target = copy_task(64, 10, 11, rng)  # (B, 10), (B, 12)
        decoder_input, labels, _ = shift_target(target, 0)
        loss = smoothed_loss(model(source, decoder_input, 0), labels, 0.1, 0)
        for group in optimizer.param_groups:
            group["lr"] = 0.3 * warmup_rate(done, d_model, warmup)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    source, target = copy_task(1000, 10, 11, torch.Generator().manual_seed(10**6))  # never seen in training
    with torch.no_grad():
        said = greedy(lambda s, t: model(s, t, 0), source, 11, 1, 2, 0)
    right = (said == target[:, 1:]).all(dim=1).float().mean().item() if said.shape == (1000, 11) else 0.0
    print(f"last loss {loss.item():.2f}; {100 * right:.1f} % of 1,000 unseen sequences copied without a mistake")

# %% tags=["nbval-ignore-output"]
try:
    learn_to_copy()
except NotImplementedError:
    print("This cell needs your answers to exercises 10.1 to 10.6: solve them first, then run it again.")

# %% [markdown]
# {{next_steps}}
