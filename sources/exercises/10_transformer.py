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
# Nine exercises, 30 points. At the end you have assembled a Transformer with its masks, its loss, its schedule and its decoding, and all of them together learn to put the letters of a word in order.
#
# {{colab_link}} · about 140 minutes · builds on {{lesson_link}}
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

from course_utils import plotting, widgets, zoo
from course_utils.checks import check, failing_case
from course_utils.datasets.pronunciations import split
from course_utils.datasets.tasks import copy_task
from course_utils.layers import DecoderLayer, EncoderLayer, InputEmbedding, LayerNorm
from course_utils.positions import SinusoidalPositions
from course_utils.tokenizers import END_ID, PAD_ID, START_ID, pad
from course_utils.training import label_smoothing_loss
from course_utils.zoo.pronunciation import SOUNDS, SPELLING

torch.set_num_threads(1)  # small tensors: threads would only get in each other's way

# %% [markdown]
# ### 10.1 · Masks for a batch of pairs
# 2 points · difficulty 2 of 5 · 10 minutes
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
# Padding is hidden as a key; its rows stay. Usually it stands on the right, but judge each id by itself. Example: for `source = [[4, 0, 6]]`, `target = [[5, 0, 7]]` and `pad_id = 0`, written as 1 and 0, the source mask is `[[[[1, 0, 1]]]]` and the target mask is `[[[[1, 0, 0], [1, 0, 0], [1, 0, 1]]]]`. The course's own masks are off limits.

# %% tags=["exercise"]
def batch_masks(source, target, pad_id):
    # BEGIN SOLUTION
    L_t = target.shape[1]
    source_mask = (source != pad_id)[:, None, None, :]  # (B, 1, 1, L_s)
    causal = torch.ones(L_t, L_t, dtype=torch.bool).tril()  # (L_t, L_t)
    target_mask = (target != pad_id)[:, None, None, :] & causal  # (B, 1, L_t, L_t)
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
# ### 10.2 · One matrix, two jobs
# 3 points · difficulty 3 of 5 · 15 minutes
#
# Section 10.3 counted a matrix once because several parts share it. Write the class `TiedEnds`, an `nn.Module` with both ends of a decoder: the embedding at the bottom and the generator at the top, with **one** matrix for the two. "One" means that there is one parameter: an optimizer sees it once, and an update through either end changes both.
#
# | attribute | what it is |
# |---|---|
# | `embedding` | an `nn.Embedding(vocab, d_model)` |
# | `generator` | an `nn.Linear(d_model, vocab)`, with its bias; its matrix is the embedding's |
#
# | method | arguments and result |
# |---|---|
# | `__init__` | `(vocab, d_model)` |
# | `embed` | ids `(B, L)` to vectors `(B, L, d_model)`, multiplied by $\sqrt{d_{model}}$ |
# | `logits` | hidden vectors `(B, L, d_model)` to `(B, L, vocab)`; nothing is multiplied by a root here |
#
# Example with `vocab = 3` and `d_model = 4`: there are 15 parameters. With the matrix `[[1, 0, 0, 0], [0, 2, 0, 0], [0, 0, 0, 3]]` and the bias `[0, 0.5, 0]`, `embed` of `[[1]]` gives `[[[0, 4, 0, 0]]]`, and `logits` of `[[[1, 1, 1, 1]]]` gives `[[[1, 2.5, 3]]]`.

# %% tags=["exercise"]
class TiedEnds(nn.Module):
    def __init__(self, vocab, d_model):
        super().__init__()
        # BEGIN SOLUTION
        self.embedding = nn.Embedding(vocab, d_model)
        self.generator = nn.Linear(d_model, vocab)
        self.generator.weight = self.embedding.weight
        # END SOLUTION

    def embed(self, ids):
        # BEGIN SOLUTION
        return self.embedding(ids) * self.embedding.embedding_dim**0.5
        # END SOLUTION

    def logits(self, hidden):
        # BEGIN SOLUTION
        return self.generator(hidden)
        # END SOLUTION


# %% tags=["check"]
check("10.2", TiedEnds)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# Which shape has the matrix of an embedding, and which that of a linear layer from `d_model` to `vocab`? Print both.
# </details>
# <details><summary>Hint 2</summary>
#
# Copying numbers is not sharing: after the first update the copies differ. Count the parameters of your module to see which you have.
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
# | returns | a scalar, through which gradients flow |
#
# Example: `logits = [[[0, 0, 0, 1.6094], [9, 0, 0, 0]]]`, `labels = [[3, 0]]`, `smoothing = 0.2`, `pad_id = 0`. The first position has the probabilities 1/8, 1/8, 1/8 and 5/8 (1.6094 is the logarithm of 5), and the shares are 0, 0.1, 0.1 and 0.8; the second is padding. The loss is 0.7919. (The plain cross-entropy would be 0.4700, PyTorch's own `label_smoothing` gives 0.7114.) Some logits of the check are as large as 500. PyTorch's `cross_entropy` is allowed; the course's `label_smoothing_loss` is off limits.

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
# Begin with the shares for one label, as worked out in section 10.4, then find a way to make them for all positions at once.
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
# 2 points · difficulty 2 of 5 · 10 minutes
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
# Example: `warmup_rate(0, 4, 4)` is 0.0625, `warmup_rate(3, 4, 4)` is 0.25, the largest rate of that schedule, and `warmup_rate(15, 4, 4)` is 0.125. The course's own schedules are off limits.

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
# 5 points · difficulty 4 of 5 · 25 minutes
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
    def __init__(
        self, src_vocab, tgt_vocab, num_layers, d_model, d_ff, num_heads, max_len
    ):
        super().__init__()
        # BEGIN SOLUTION
        self.source_embedding = InputEmbedding(
            src_vocab, d_model, positions=SinusoidalPositions(d_model, max_len)
        )
        self.target_embedding = InputEmbedding(
            tgt_vocab, d_model, positions=SinusoidalPositions(d_model, max_len)
        )
        sizes = (d_model, num_heads, d_ff)
        self.encoder_layers = nn.ModuleList(
            EncoderLayer(*sizes, dropout=0.0) for _ in range(num_layers)
        )
        self.decoder_layers = nn.ModuleList(
            DecoderLayer(*sizes, dropout=0.0) for _ in range(num_layers)
        )
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
# | `model` | a function, ids `(B, L_s)` and `(B, L_t)` to logits `(B, L_t, V)`; you may also call it with fewer rows, such as those that have not ended |
# | `source` | `(B, L_s)`, ids |
# | `max_len` | most symbols to say, the end symbol included |
# | returns | `(B, L_out)`, ids: what was said, without the start symbol, with the end symbol |
#
# `L_out` is the number of steps that were needed. Example: one sequence says `7 end` and would go on with `5`, the other says `8 9 end`. The result is `[[7, end, pad], [8, 9, end]]`. The library's `greedy_decode` is off limits.

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
    # (B, 1, L_t, L_t)
    target_mask = (decoder_input != pad_id)[:, None, None, :] & causal
    source_mask = (source != pad_id)[:, None, None, :]  # (B, 1, 1, L_s)
    logits = model(source, decoder_input, source_mask, target_mask)  # (B, L_t, V)
    return F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=pad_id)


def repeats_what_it_sees(source, decoder_input, source_mask, target_mask):
    places = torch.arange(decoder_input.shape[1])  # (L_t,)
    # the latest position that each may see
    latest = (target_mask[:, 0] * places).amax(dim=-1)  # (B, L_t)
    return 9.0 * F.one_hot(decoder_input.gather(1, latest), 11).float()  # (B, L_t, V)


source, target = copy_task(64, 10, 11, torch.Generator().manual_seed(0))
loss = batch_loss_broken(repeats_what_it_sees, source, target, 0).item()
print(f"loss of a model that knows nothing: {loss:.2f}")

# %% [markdown]
# A loss that low cannot be honest; even a model that guesses evenly among 11 symbols has 2.40. (It is not 0, because nobody gave away the last symbol.) Write `batch_loss(model, source, target, pad_id)` so that no position can see its label. Each may see itself and all before it, and all else stays as it was: padding, wherever it stands, is hidden as a key and left out of the loss. The arguments are `(B, L_s)` and `(B, L_t + 1)` ids; the result is a scalar, through which gradients flow.

# %% tags=["exercise"]
def batch_loss(model, source, target, pad_id):
    # BEGIN SOLUTION
    decoder_input, labels = target[:, :-1], target[:, 1:]  # (B, L_t) each
    L_t = decoder_input.shape[1]
    causal = torch.ones(L_t, L_t, dtype=torch.bool).tril()  # (L_t, L_t)
    # (B, 1, L_t, L_t)
    target_mask = (decoder_input != pad_id)[:, None, None, :] & causal
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
# ### 10.8 · Encode once, score many
# 4 points · difficulty 4 of 5 · 20 minutes
#
# How is *tear* pronounced? A model can be asked in another way than by decoding: give it several candidates, and let it say how probable each one is. Write `candidate_scores(encode, decode, source, candidates, pad_id)`. It returns the logarithm of the probability of each whole candidate, given the source:
#
# $$\log p(y \mid x) = \sum_t \log p(y_t \mid y_1, \dots, y_{t-1},\, x) ,$$
#
# the end symbol included, padding not. The memory is the same for all candidates, so `encode` may be called **once, with one sequence**. `decode` wants a memory for each of its rows.
#
# | argument | shape |
# |---|---|
# | `encode` | a function, ids `(B, L_s)` to the memory `(B, L_s, d_model)` |
# | `decode` | a function, what the decoder is given `(B, L_t)` and the memory `(B, L_s, d_model)` to logits `(B, L_t, V)` |
# | `source` | `(1, L_s)`, ids without padding |
# | `candidates` | `(K, L_t + 1)`, ids: each row is start, symbols, end, perhaps padding |
# | `pad_id` | a whole number, not always 0 |
# | returns | `(K,)`, log-probabilities |
#
# Example: with a `decode` whose logits are 0 for all 4 symbols, the candidates `[[1, 3, 2, 0], [1, 3, 3, 2]]` and `pad_id = 0` have the scores `[-2.7726, -4.1589]`: two and three times $-\ln 4$. Some logits of the check are as large as 500, and some candidates have hundreds of symbols: no score may become minus infinity or NaN there.

# %% tags=["exercise"]
def candidate_scores(encode, decode, source, candidates, pad_id):
    # BEGIN SOLUTION
    given, labels = candidates[:, :-1], candidates[:, 1:]  # (K, L_t) each
    memory = encode(source).expand(len(candidates), -1, -1)  # (K, L_s, d_model)
    log_probs = decode(given, memory).log_softmax(dim=-1)  # (K, L_t, V)
    each = log_probs.gather(-1, labels[..., None])[..., 0]  # (K, L_t)
    return (each * (labels != pad_id)).sum(dim=1)
    # END SOLUTION


# %% tags=["check"]
check("10.8", candidate_scores)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# At which position of the logits is the first symbol of a candidate judged? What was the decoder given there?
# </details>
# <details><summary>Hint 2</summary>
#
# A memory of one row can be shown K times without being computed K times: look up `expand` (lesson 07).
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# 1. the memory, once; the same for each candidate
# 2. shift the candidates; decode what is given; log-probabilities over the vocabulary
# 3. at each position pick the label's; add up those whose label is no padding, row by row
# </details>

# %% [markdown]
# Now ask the pronouncing model. *Tear* has two pronunciations, and *colonel* sounds like *kernel*. Does the model know? Try candidates of your own.

# %% tags=["nbval-ignore-output"]
def how_probable(word, spoken):
    model, source = zoo.load("transformer").eval(), SPELLING.batch([word])
    rows = [[START_ID, *SOUNDS.encode(one.split()), END_ID] for one in spoken]

    def decode(given, memory):
        return model.generator(model.decode(given, memory, memory_mask=None))

    with torch.no_grad():
        scores = candidate_scores(model.encode, decode, source, pad(rows), PAD_ID)
    for one, score in zip(spoken, scores.tolist(), strict=True):
        print(f"{word:8} {one:14} log-probability {score:7.2f}")


try:
    how_probable("tear", ["T IH R", "T EH R", "T IY R", "B EH R"])
    how_probable("colonel", ["K ER N AH L", "K AA L AH N AH L"])
except (NotImplementedError, AttributeError, TypeError):
    print("Solve 10.8 first.")

# %% [markdown]
# ### 10.9 · Open experiment: what does label smoothing change?
# 3 points · difficulty 3 of 5 · 20 minutes
#
# The generator is the last layer of the model. Take the hidden vectors that the pronouncing model's decoder makes, throw its generator away, and train a new one, from only 100 positions of held-out words. What changes with the smoothing: how often it is right, or how sure it is? How **sure** it is means the probability of the symbol that it thinks most likely. If a model is right about as often as it is sure, what it says about itself can be trusted, on average.
#
# Change one thing, the smoothing: 0, 0.05, 0.1, 0.2 and 0.4. First your prediction, for no smoothing at all, on positions that weren't in training:

# %%
widgets.predict(
    "10.9",
    "Without smoothing, is the new generator surer than it is right?",
    choices=["surer than right", "about as sure (within 0.02)", "less sure than right"],
)

# %% [markdown]
# The measurement is given. `five_generators(smoothing)` trains five of them, each on 100 positions drawn at random, and returns two lists of five numbers: the share of right symbols and how sure they are on average, on 600 other positions. All smoothings use the same positions, so the first number of one list goes with the first of every other, and so on.

# %% tags=["nbval-ignore-output"]
def hidden_vectors():
    words = dict(list(split("valid").items())[::40])  # about 150 words
    model, letters = zoo.load("transformer").eval(), SPELLING.batch(list(words))
    spoken = pad([[START_ID, *SOUNDS.encode(s[0]), END_ID] for s in words.values()])
    with torch.no_grad():
        memory, mask = model.encode(letters), (letters != PAD_ID)[:, None, None]
        hidden = model.decode(spoken[:, :-1], memory, memory_mask=mask)
    real = spoken[:, 1:] != PAD_ID
    return hidden[real], spoken[:, 1:][real]  # (n, d_model), (n,)


HIDDEN, SYMBOLS = hidden_vectors()
print(len(SYMBOLS), "positions")

# %% tags=["nbval-ignore-output"]
def five_generators(smoothing, steps=150):
    rng, pool = torch.Generator().manual_seed(0), len(SYMBOLS) - 600
    rows = torch.stack([torch.randperm(pool, generator=rng)[:100] for _ in range(5)])
    vectors, labels = HIDDEN[rows], SYMBOLS[rows]  # (5, 100, d_model), (5, 100)
    W = torch.zeros(5, HIDDEN.shape[1], len(SOUNDS), requires_grad=True)
    optimizer = torch.optim.Adam([W], lr=0.02)
    for _ in range(steps):
        optimizer.zero_grad()
        label_smoothing_loss(vectors @ W, labels, smoothing=smoothing).backward()
        optimizer.step()
    with torch.no_grad():
        probability, said = (HIDDEN[-600:] @ W).softmax(dim=-1).max(dim=-1)  # (5, 600)
    right = (said == SYMBOLS[-600:]).float().mean(dim=1)
    return right.tolist(), probability.mean(dim=1).tolist()

# %% [markdown]
# Fill `smoothing_results`:
#
# | key | what belongs there |
# |---|---|
# | `("right", smoothing)`, for the five smoothings 0, 0.05, 0.1, 0.2, 0.4 | the five shares of right symbols |
# | `("sure", smoothing)`, for the same | how sure the five are |
# | `"closest"` | the smoothing with which the mean of "sure" comes closest to the mean of "right" |
# | `"fall"` | the mean of "sure" at 0, less its mean at 0.4 |
# | `"gain"` | how much larger the share of right symbols is with smoothing 0.4 than with 0: the mean of the five paired differences, right at 0.4 less right at 0 |
# | `"what changes more"` | `"how often it is right"` or `"how sure it is"`: compare the sizes of the last two |
#
# Plot both against the smoothing before you read off anything.

# %% tags=["exercise", "nbval-ignore-output"]
smoothing_results = {}
# BEGIN SOLUTION
tried = (0, 0.05, 0.1, 0.2, 0.4)
for smoothing in tried:
    right, sure = five_generators(smoothing)
    smoothing_results["right", smoothing] = right
    smoothing_results["sure", smoothing] = sure
means = {
    what: torch.tensor([smoothing_results[what, s] for s in tried]).mean(dim=1)
    for what in ("right", "sure")
}
ax = plotting.curves(torch.tensor(tried), means, xlabel="smoothing", ylabel="share")
plotting.show(ax, "Right symbols: nearly level. How sure the model is: falls steeply.")
closest = (means["sure"] - means["right"]).abs().argmin().item()
smoothing_results["closest"] = tried[closest]
smoothing_results["fall"] = (means["sure"][0] - means["sure"][-1]).item()
smoothing_results["gain"] = (means["right"][-1] - means["right"][0]).item()
smoothing_results["what changes more"] = "how sure it is"
# END SOLUTION

# %% tags=["check"]
check("10.9", smoothing_results)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# A function that returns two things: `right, sure = five_generators(0.1)`. Keys of a dict may be pairs: `smoothing_results["right", 0.1] = right`.
# </details>
# <details><summary>Hint 2</summary>
#
# For the last entry compare sizes without the sign: a fall of 0.3 is more than a gain of -0.01.
# </details>

# %% tags=["nbval-ignore-output"]
def surer(results):
    right, sure = (sum(results[what, 0]) / 5 for what in ("right", "sure"))
    if abs(sure - right) < 0.02:
        return "about as sure (within 0.02)"
    return "surer than right" if sure > right else "less sure than right"


ready = isinstance(smoothing_results, dict) and ("sure", 0) in smoothing_results
outcome = surer(smoothing_results) if ready else None
widgets.came_out("10.9", outcome) if ready else print("Solve 10.9 first.")

# %% [markdown]
# ## It sorts
#
# Now all of it together: your model, masks, loss, schedule and decoding learn to put the letters of a word in order. The words are random, 3 to 6 letters long, and some letters come twice or more. So there is padding on both sides. The cell uses your answers to 10.1 and 10.3 to 10.6 and nothing else of that kind, and takes 5 to 20 seconds.

# %%
def words_to_sort(number, rng, longest=6):
    length = torch.randint(3, longest + 1, (number, 1), generator=rng)  # (B, 1)
    real = torch.arange(longest) < length  # (B, L_s)
    letters = torch.randint(3, 29, (number, longest), generator=rng)  # 3 is a, 28 is z
    other = torch.randint(longest, letters.shape, generator=rng)  # letters that recur
    again = torch.rand(letters.shape, generator=rng) < 0.3
    letters = torch.where(again, letters.gather(1, other), letters)  # (B, L_s)
    ordered = letters.masked_fill(~real, 99).sort(dim=1).values  # padding goes last
    target = F.pad(ordered.masked_fill(ordered == 99, 0), (1, 1))  # (B, L_t + 1)
    target[:, 0] = 1  # start
    return letters * real, target.scatter(1, length + 1, 2)  # end after the last letter


def learn_to_sort(steps=260, d_model=64):
    torch.manual_seed(0)
    rng = torch.Generator().manual_seed(0)
    model = MyTransformer(29, 29, 1, d_model, 128, 4, 16)
    optimizer = torch.optim.Adam(model.parameters(), betas=(0.9, 0.98), eps=1e-9)
    for done in tqdm(range(steps), unit="step", mininterval=1, file=sys.stdout):
        source, target = words_to_sort(48, rng)  # (B, L_s), (B, L_t + 1)
        given, labels = target[:, :-1], target[:, 1:]  # (B, L_t) each
        loss = smoothed_loss(model(source, given, 0), labels, 0.1, 0)
        for group in optimizer.param_groups:
            group["lr"] = 0.45 * warmup_rate(done, d_model, 60)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    return model.eval()

# %%
def sort_letters(model, words):
    ids = pad([[ord(letter) - ord("a") + 3 for letter in word] for word in words])
    with torch.no_grad():
        said = greedy(lambda s, t: model(s, t, 0), ids, 7, 1, 2, 0)  # (B, L_out)
    rows = [[chr(i - 3 + ord("a")) for i in row if i > 2] for row in said.tolist()]
    return ["".join(row) for row in rows]


# %% tags=["nbval-ignore-output"]
def share_sorted(model):
    ids = words_to_sort(500, torch.Generator().manual_seed(10**6))[0].tolist()
    words = ["".join(chr(i - 3 + ord("a")) for i in row if i) for row in ids]
    pairs = zip(words, sort_letters(model, words), strict=True)
    return sum(ordered == "".join(sorted(word)) for word, ordered in pairs) / 500


try:
    sorter = learn_to_sort()
    tried = ["sphinx", "quartz", "zebra", "banana", "waltz"]  # yours: 3 to 6 letters
    for word, ordered in zip(tried, sort_letters(sorter, tried), strict=True):
        right = "right" if ordered == "".join(sorted(word)) else "not quite"
        print(f"{word:9} {ordered:9} {right}")
    print(f"of 500 new random words, all in order: {share_sorted(sorter):.0%}")
except (NotImplementedError, TypeError):
    print("This cell needs your answers to 10.1 and 10.3 to 10.6: solve them first.")

# %% [markdown]
# *Nobody told it the alphabet.* From examples it had to find out which letter comes before which, how often each one is still missing, and when to stop. It isn't perfect, as the last line says. Find words that it gets wrong, then make it better: more steps, or a second layer.
#
# {{next_steps}}
