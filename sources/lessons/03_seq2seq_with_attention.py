# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 03 · Attention in sequence-to-sequence models
#
# At the end you can build the recurrent encoder-decoder in which attention was invented, train it to pronounce English words, and show what attention changes.
#
# {{colab_link}} · about 90 minutes · builds on lessons 00 to 02

# %% tags=["setup"]
import hashlib
import math
from dataclasses import replace

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from course_utils import metrics, plotting, training, widgets, zoo
from course_utils.attention import AdditiveAttention
from course_utils.datasets.batches import batches_by_length, encode_pairs
from course_utils.datasets.pronunciations import pronunciations, split, split_of
from course_utils.decoding import greedy_decode
from course_utils.models.recurrent import RecurrentSeq2Seq
from course_utils.recording import record_attention
from course_utils.tokenizers import END_ID, PAD_ID, START_ID
from course_utils.training.losses import teacher_forced_loss
from course_utils.zoo.pronunciation import MAX_PHONEMES, SOUNDS, SPELLING, error_rates, error_rates_by_length, pronounce

torch.set_printoptions(precision=3, sci_mode=False, linewidth=110)
torch.set_num_threads(1)  # the tensors here are small: sharing them out among threads takes longer than the work

# %% [markdown]
# **You will learn to**
#
# 1. build a GRU encoder-decoder, and say where its bottleneck is;
# 2. let the decoder attend to all encoder states, with the right query, mask and time step;
# 3. train with teacher forcing, decode greedily until an end symbol, and say how the two differ;
# 4. measure a phoneme error rate where a word has several accepted pronunciations;
# 5. compare models with and without attention by word length, and read an alignment with due care.
#
# Lesson 02 built a soft lookup from a query, keys and values. Here is the task for which it was brought into deep learning, by Bahdanau, Cho and Bengio in 2014, three years before the Transformer. They translated sentences. We pronounce words: the same model on a task small
# enough for a laptop, and real. It will run through the whole course.

# %% [markdown]
# ## Predict first
#
# Say these words aloud: `nation`, `thought`, `box`. How many letters has each, and how many *sounds*? For every sound, write down the letters that you must look at to know it.

# %%
for word in ("nation", "thought", "box"):
    sounds = pronunciations()[word][0]
    print(f"{word:8} {len(word)} letters   {len(sounds)} sounds   {' '.join(sounds)}")

# %% [markdown]
# The symbols are ARPAbet, an alphabet of sounds: `SH` as in *she*, `EY` as in *day*, `TH` as in *thin*. In `nation` the sound `SH` takes the letters *ti*. In `thought` the vowel takes four letters, and in `box` one letter makes two sounds. What you wrote down is an **alignment**. The model of
# this lesson learns one without ever being shown any.

# %% [markdown]
# ## 3.1 The task: from spelling to sounds
#
# A **sequence-to-sequence** task has a sequence as input and another as output, and their lengths differ. Ours comes from the CMU Pronouncing Dictionary, installed with the course. Stress marks are removed. Some words have several **accepted** pronunciations.

# %% tags=["nbval-ignore-output"]
several = sum(len(accepted) > 1 for accepted in pronunciations().values())
print(f"{len(pronunciations()):,} words, {several:,} of them with several accepted pronunciations")
for accepted in pronunciations()["either"]:
    print("either:", " ".join(accepted))
print({name: f"{len(split(name)):,}" for name in ("train", "valid", "test")})

# %% [markdown]
# The words are split in three parts. The model learns from *train*. We make decisions on *valid*, and report on *test*. **A hash of the word decides where it goes**: the first 8 bytes of its SHA-256 as a number, modulo 20. Remainder 0 is test, 1 is valid, the rest is train. So a word stays on
# its side whatever release of the dictionary is installed, and nobody chose. What the split does not do: *attend* and *attended* may fall on different sides.

# %%
for word in ("nation", "knights", "physics"):
    remainder = int.from_bytes(hashlib.sha256(word.encode()).digest()[:8], "big") % 20
    assert split_of(word) == {0: "test", 1: "valid"}.get(remainder, "train")
    print(f"{word:8} remainder {remainder:2}: {split_of(word)}")

# %% [markdown]
# Letters and sounds become whole numbers. Number 0 is padding, 1 starts and 2 ends a sequence. The target stands between start and end symbol, because the decoder must learn where to begin and when to stop.

# %%
words = ["nation", "box", "thought"]
source = SPELLING.batch(words)  # (B=3, L_s=7)
target = SOUNDS.batch([pronunciations()[word][0] for word in words], start=True, end=True)  # (B=3, L_t=7)
print("source\n", source, "\ntarget\n", target)
print("row 1 again:", [SOUNDS.symbols[i] for i in target[1]])

# %% [markdown]
# ## 3.2 The encoder reads: a GRU in both directions
#
# A recurrent network (lesson 00) reads one letter after another and keeps a state. The **gated recurrent unit**, GRU, decides by two gates how much of the old state survives. With $x$ the embedding of a letter, shape $(d_{embed})$, and $h$ the state, shape $(d_{hidden})$:
#
# $$r = \sigma(W_r x + b_r + U_r h + c_r) , \qquad z = \sigma(W_z x + b_z + U_z h + c_z) ,$$
# $$n = \tanh\big(W_n x + b_n + r \odot (U_n h + c_n)\big) , \qquad h' = (1 - z) \odot n + z \odot h .$$
#
# $\sigma$ is the sigmoid and $\odot$ multiplies entry by entry. The matrices $W$ have shape $(d_{hidden}, d_{embed})$, the $U$ have $(d_{hidden}, d_{hidden})$, the biases $b$, $c$ have $(d_{hidden})$. The gate $z$ says what share of the old state is kept. (This is PyTorch's form. In the paper of Cho et al. $r$ multiplies $h$ before $U_n$ does.)
#
# By hand, with $d_{hidden} = 1$: let all weights be 0 but $b_z = \ln 3$. Then $z = \tfrac{3}{1 + 3} = \tfrac34$, $n = \tanh 0 = 0$, and a state of 4 becomes $\tfrac14 \cdot 0 + \tfrac34 \cdot 4 = 3$.

# %%
def gru_step(x, h, W, U, b, c):
    (W_r, W_z, W_n), (U_r, U_z, U_n), (b_r, b_z, b_n), (c_r, c_z, c_n) = (t.chunk(3) for t in (W, U, b, c))
    r = torch.sigmoid(x @ W_r.T + b_r + h @ U_r.T + c_r)  # (B, d_hidden)
    z = torch.sigmoid(x @ W_z.T + b_z + h @ U_z.T + c_z)  # (B, d_hidden)
    n = torch.tanh(x @ W_n.T + b_n + r * (h @ U_n.T + c_n))  # (B, d_hidden)
    return (1 - z) * n + z * h  # (B, d_hidden)


zeros = torch.zeros(3, 1)
after = gru_step(torch.zeros(1, 1), torch.tensor([[4.0]]), zeros, zeros, torch.tensor([0, math.log(3), 0]), torch.zeros(3))
print(f"by hand: the state 4 becomes {after.item():.2f}")

torch.manual_seed(0)
cell = nn.GRUCell(5, 6)  # PyTorch's own keeps the three matrices stacked, in the order r, z, n
x, h = torch.randn(2, 5), torch.randn(2, 6)  # (B, d_embed), (B, d_hidden)
assert torch.allclose(gru_step(x, h, *cell.parameters()), cell(x, h), atol=1e-6)
print("gru_step equals nn.GRUCell")

# %% [markdown]
# After the last letter, the first ones have passed through many gates. So the word is read twice, once from each end, and the two states of each letter are put side by side: $h_j$ of shape $(2 d_{hidden})$. As a loop, and held equal to the encoder of `course_utils`, which uses `nn.GRU`:

# %%
def read(embedded, *parameters):
    """All states of one direction, shape (L, d_hidden), for one word of shape (L, d_embed)."""
    h, states = torch.zeros(1, parameters[1].shape[1]), []  # (1, d_hidden)
    for x in embedded:
        h = gru_step(x[None], h, *parameters)
        states.append(h[0])
    return torch.stack(states)


torch.manual_seed(0)
plain = RecurrentSeq2Seq(len(SPELLING), len(SOUNDS), attention=False, d_embed=8, d_hidden=16).eval()
parameters = list(plain.encoder.gru.parameters())  # four tensors of the forward GRU, then four of the backward one
with torch.no_grad():
    encoded = plain.encoder(source)  # states (B, L_s, 2 d_hidden), summary (B, 2 d_hidden), mask (B, 1, L_s)
    for b, word in enumerate(words):
        embedded = plain.encoder.embedding(source[b, : len(word)])  # (L, d_embed), without padding
        forward, backward = read(embedded, *parameters[:4]), read(embedded.flip(0), *parameters[4:])  # (L, d_hidden) each
        states = torch.cat((forward, backward.flip(0)), dim=-1)  # (L, 2 d_hidden)
        assert torch.allclose(encoded.states[b, : len(word)], states, atol=1e-6)
        assert torch.allclose(encoded.summary[b], torch.cat((forward[-1], backward[-1])), atol=1e-6)
print("states", tuple(encoded.states.shape), "  summary", tuple(encoded.summary.shape), "  mask", tuple(encoded.mask.shape))

# %% [markdown]
# Each word of the batch came out as if it were read alone: the padding was never read (`pack_padded_sequence` sees to that inside). The mask, True at real letters, goes on to the attention.

# %% [markdown]
# ## 3.3 The decoder writes, and the bottleneck
#
# The **decoder** is a second GRU. It begins from what the encoder found, and writes one sound a step. At step $t$ it reads the sound it wrote before, $y_{t-1}$, and a **context** $c_t$:
#
# $$s_t = \text{GRU}\big([\,E(y_{t-1});\, c_t\,],\; s_{t-1}\big) , \qquad \text{logits}_t = W_o\,[\,s_t;\, c_t;\, E(y_{t-1})\,] + b_o .$$
#
# $s_t$, of shape $(d_{hidden})$, is the decoder's state, $E$ its table of embeddings, and $[\,;\,]$ puts vectors side by side. The logits have one entry for each of the $V$ sounds. Before attention, the context was the same at every step: the **summary**, the last state of each direction.
#
# **Predict first.** With $d_{hidden} = 16$, how many numbers does the decoder get to know about `ox`? And about `internationalization`?

# %%
for word in ("ox", "nation", "internationalization"):
    with torch.no_grad():
        encoded = plain.encoder(SPELLING.batch([word]))
    print(f"{word:21} {len(word):2} letters   summary {encoded.summary.numel()} numbers   all states {encoded.states.numel():3} numbers")

# %% [markdown]
# That is the **bottleneck**: a long word must pass through as many numbers as a short one. What is not in the summary is lost to the decoder. Shown: we replace *all states* by noise, and keep the summary. The decoder does not notice.

# %%
def first_step(model, states=None):
    with torch.no_grad():
        state = model.start_decoding(source)
        if states is not None:
            state = replace(state, encoded=state.encoded._replace(states=states))
        return model.decode_step(state, torch.full((len(source),), START_ID))[0]  # (B, V), log-probabilities


torch.manual_seed(0)
attentive = RecurrentSeq2Seq(len(SPELLING), len(SOUNDS), attention=True, d_embed=8, d_hidden=16).eval()
noise = torch.randn(3, 7, 32, generator=torch.Generator().manual_seed(0))  # (B, L_s, 2 d_hidden)
for name, model in (("without attention", plain), ("with attention", attentive)):
    print(f"{name:18} largest change {(first_step(model) - first_step(model, noise)).abs().max():.3f}")

# %% [markdown]
# The model with attention, which comes in section 3.5, does notice: it looks at all states, at every step.

# %% [markdown]
# ## 3.4 Teacher forcing
#
# What should the decoder read in training as $y_{t-1}$: what it *said*, or what it *should have said*? At first it says nonsense, and from nonsense there is little to learn. So it is given the true sounds. That is **teacher forcing**. The target is used twice, shifted by one:

# %%
given, wanted = target[:, :-1], target[:, 1:]  # (B, L_t - 1) each
for b in (0, 1):
    print("given ", " ".join(f"{SOUNDS.symbols[i]:7}" for i in given[b]))
    print("wanted", " ".join(f"{SOUNDS.symbols[i]:7}" for i in wanted[b]), "\n")

# %% [markdown]
# In each column the lower symbol is the answer to the upper one. The loss is the **cross-entropy**: the mean of $-\ln p$ over all wanted symbols, where $p$ is the probability that the model gave to the right one. Padding does not count; the end symbol does.
#
# By hand: for two symbols with $p = \tfrac12$ and $p = \tfrac18$ the loss is $\tfrac12(\ln 2 + \ln 8) = \ln 4$.

# %%
probabilities = torch.tensor([[0.5, 0.5], [0.125, 0.875]])  # (2, V=2); the right symbol is number 0 both times
print(f"by hand {math.log(4):.4f}   cross_entropy {F.cross_entropy(probabilities.log(), torch.tensor([0, 0])):.4f}")

with torch.no_grad():
    state, losses = plain.start_decoding(source), []
    for t in range(given.shape[1]):  # the loop: one step after another, the true symbol given
        log_probs, state = plain.decode_step(state, given[:, t])  # (B, V)
        losses += [-log_probs[b, wanted[b, t]] for b in range(len(words)) if wanted[b, t] != PAD_ID]
    logits = plain(source, given)  # (B, L_t - 1, V): all steps at once
    loss = F.cross_entropy(logits.flatten(0, 1), wanted.flatten(), ignore_index=PAD_ID)
    assert torch.allclose(torch.stack(losses).mean(), loss, atol=1e-5)
    assert torch.allclose(teacher_forced_loss(plain, (source, target)), loss, atol=1e-5)
print(f"{len(losses)} wanted symbols, loss of the untrained model {loss:.2f}")
print(f"guessing evenly among {len(SOUNDS)} symbols costs {math.log(len(SOUNDS)):.2f}")

# %% [markdown]
# ## 3.5 Attention: ask all letters, at every step
#
# Bahdanau's idea: let the decoder look the context up, anew at every step. It is the soft lookup of lesson 02.
#
# - The **query** is the decoder's state before the step, $s_{t-1}$: what has been said so far.
# - The **keys** are the encoder's states $h_1, \dots, h_{L_s}$: one for each letter.
# - The **values** are the same states.
#
# With the additive score, since query and keys differ in size:
#
# $$e_{tj} = w_v^\top \tanh(W_q\, s_{t-1} + W_k\, h_j) , \qquad \alpha_{tj} = \frac{e^{e_{tj}}}{\sum_{m \text{ real}} e^{e_{tm}}} , \qquad c_t = \sum_{j \text{ real}} \alpha_{tj}\, h_j .$$
#
# $W_q$ has shape $(d_{att}, d_{hidden})$, $W_k$ has $(d_{att}, 2 d_{hidden})$, $w_v$ has $(d_{att})$. The sums run over real letters only; padding gets weight 0. The weights $\alpha_{tj}$ are the alignment: how much sound $t$ looks at letter $j$.
#
# By hand: two letters and one padding, with states $h = (4, 0), (0, 8), (9, 9)$ and scores $0, \ln 3, 5$. The exponentials of the real ones are 1 and 3, so the weights are $\tfrac14, \tfrac34, 0$ and the context is $\tfrac14 (4, 0) + \tfrac34 (0, 8) = (1, 6)$.

# %%
def weigh(scores, states, mask):
    weights = torch.softmax(scores.masked_fill(~mask, -math.inf), dim=-1)  # (B, L_s): hidden scores have exp(-inf) = 0
    return (weights[:, None] @ states)[:, 0], weights  # (B, 1, L_s) @ (B, L_s, d) -> (B, d), (B, L_s)


scores, mask = torch.tensor([[0.0, math.log(3), 5.0]]), torch.tensor([[True, True, False]])  # (B=1, L_s=3) each
states = torch.tensor([[[4.0, 0.0], [0.0, 8.0], [9.0, 9.0]]])  # (B=1, L_s=3, 2)
context, weights = weigh(scores, states, mask)
print("weights", weights[0], "  context", context[0])

# %% [markdown]
# Now the scores: first a loop over the letters of one word, then all words and letters at once.

# %%
def attention_loop(s, h, mask, W_q, W_k, w_v):
    """One word: s (d_hidden,), h (L_s, 2 d_hidden), mask (L_s,)."""
    scores = {j: w_v @ torch.tanh(W_q @ s + W_k @ h[j]) for j in range(len(h)) if mask[j]}
    total = sum(score.exp() for score in scores.values())
    return sum(score.exp() / total * h[j] for j, score in scores.items())  # (2 d_hidden,)


def attention_step(s, h, mask, W_q, W_k, w_v):
    """All words: s (B, d_hidden), h (B, L_s, 2 d_hidden), mask (B, L_s)."""
    hidden = torch.tanh((s @ W_q.T)[:, None] + h @ W_k.T)  # (B, 1, d_att) + (B, L_s, d_att)
    return weigh(hidden @ w_v, h, mask)  # scores (B, L_s)


rng = torch.Generator().manual_seed(0)
B, L_s, d_hidden, d_att = 2, 5, 3, 4
s, h = torch.randn(B, d_hidden, generator=rng), torch.randn(B, L_s, 2 * d_hidden, generator=rng)
W_q, W_k, w_v = (torch.randn(*size, generator=rng) for size in ((d_att, d_hidden), (d_att, 2 * d_hidden), (d_att,)))
mask = torch.tensor([[True, True, True, True, True], [True, True, True, False, False]])  # (B, L_s): the second word has 3 letters

context, weights = attention_step(s, h, mask, W_q, W_k, w_v)
for b in range(B):
    assert torch.allclose(context[b], attention_loop(s[b], h[b], mask[b], W_q, W_k, w_v), atol=1e-5)
print("weights\n", weights, "\nsums", weights.sum(-1))

# %% [markdown]
# `course_utils.attention.AdditiveAttention` does the same for any number of queries at once, so it gets an axis for one query. PyTorch has no additive attention ready-made. It can do the second half, from scores to context: a query of 1 and keys that *are* the scores make its dot product give the scores back.

# %%
layer = AdditiveAttention(d_hidden, 2 * d_hidden, d_att)
with torch.no_grad():
    for projection, matrix in ((layer.q_proj, W_q), (layer.k_proj, W_k), (layer.v_proj, w_v[None])):
        projection.weight.copy_(matrix)
    library, library_weights = layer(s[:, None], h, h, mask[:, None])  # (B, 1, 2 d_hidden), (B, 1, L_s)
assert torch.allclose(library[:, 0], context, atol=1e-5) and torch.allclose(library_weights[:, 0], weights, atol=1e-6)

scores = torch.tanh((s @ W_q.T)[:, None] + h @ W_k.T) @ w_v  # (B, L_s)
by_pytorch = F.scaled_dot_product_attention(torch.ones(B, 1, 1), scores[..., None], h, mask[:, None], scale=1.0)  # (B, 1, 2 d_hidden)
assert torch.allclose(by_pytorch[:, 0], context, atol=1e-5)
print("the loop, the vectorized form, course_utils and PyTorch agree")

# %% [markdown]
# ## 3.6 One decoder step, and its order
#
# Everything together. The order is: **look, then step, then speak**.
#
# 1. $c_t$ from the query $s_{t-1}$, the state *before* the step;
# 2. $s_t$ from $[E(y_{t-1}); c_t]$ and $s_{t-1}$;
# 3. logits from $[s_t; c_t; E(y_{t-1})]$.
#
# It could not be otherwise: $s_t$ needs $c_t$, so $c_t$ cannot be made from $s_t$.

# %%
def decoder_step(model, previous, s, encoded):
    embedded = model.embedding(previous)  # (B, d_embed)
    att = model.attention
    context, weights = attention_step(s, encoded.states, encoded.mask[:, 0], att.q_proj.weight, att.k_proj.weight, att.v_proj.weight[0])
    s = model.cell(torch.cat((embedded, context), dim=-1), s)  # (B, d_hidden)
    logits = model.output(torch.cat((s, context, embedded), dim=-1))  # (B, V)
    return logits, s, weights


with torch.no_grad():
    with record_attention(attentive) as seen:
        logits = attentive(source, given)  # (B, L_t - 1, V)
    weights = torch.cat(seen.calls("attention"), dim=1)  # (B, L_t - 1, L_s): one call a step
    encoded = attentive.encoder(source)
    s = torch.tanh(attentive.first_state(encoded.summary))  # (B, d_hidden), the state before the first step
    for t in range(given.shape[1]):
        step_logits, s, step_weights = decoder_step(attentive, given[:, t], s, encoded)
        assert torch.allclose(step_logits, logits[:, t], atol=1e-5) and torch.allclose(step_weights, weights[:, t], atol=1e-5)
print("step by step equals course_utils.models.recurrent.RecurrentSeq2Seq:", tuple(logits.shape), tuple(weights.shape))

# %% [markdown]
# **Another order exists.** Luong and others (2015) step first, without the context, then look with the *new* state, and join the two afterwards. Both orders work, each with weights trained for it. Mixing them does not; section "What goes wrong" measures it.

# %% [markdown]
# ## 3.7 Greedy decoding: until the end symbol
#
# After training there are no true sounds to give. **Greedy decoding** gives the decoder its own most probable symbol, and stops when that is the end symbol. To see it work we load a model that was trained beforehand on all training words (section 3.10 says more). `knights` is a test word: it has never seen it.

# %%
trained = zoo.load("recurrent_attention")


@torch.no_grad()
def speak(model, word, max_len=MAX_PHONEMES, stop=True):
    state = model.start_decoding(SPELLING.batch([word]))
    token, sounds, probabilities, rows = torch.tensor([START_ID]), [], [], []
    for _ in range(max_len):
        log_probs, state = model.decode_step(state, token)  # (1, V)
        best, token = log_probs.max(dim=-1)  # (1,) each
        sounds.append(SOUNDS.symbols[token.item()])
        probabilities.append(best.exp().item())
        rows.append(state.weights[0])  # (L_s,): what this step looked at
        if stop and token.item() == END_ID:
            break
    return sounds, probabilities, torch.stack(rows)


assert split_of("knights") == "test"
for sound, probability, row in zip(*speak(trained, "knights"), strict=True):
    print(f"{sound:6} probability {probability:.2f}   looked most at {'knights'[row.argmax()]!r}")

# %% [markdown]
# Nothing else tells the loop to stop. Without that line the decoder goes on talking:

# %%
print("stopped:    ", " ".join(speak(trained, "knights")[0]))
print("not stopped:", " ".join(speak(trained, "knights", max_len=12, stop=False)[0]))

# %% [markdown]
# In a batch, words end at different steps. A row that has ended is filled with padding until the last one has ended:

# %%
@torch.no_grad()
def greedy(model, source, max_len=MAX_PHONEMES):
    state, tokens = model.start_decoding(source), torch.full((len(source),), START_ID)  # (B,)
    ended, output = torch.zeros(len(source), dtype=torch.bool), []  # (B,)
    for _ in range(max_len):
        log_probs, state = model.decode_step(state, tokens)  # (B, V)
        tokens = log_probs.argmax(-1).masked_fill(ended, PAD_ID)  # (B,)
        output.append(tokens)
        ended = ended | (tokens == END_ID)
        if ended.all():
            break
    return torch.stack(output, dim=1)  # (B, L_out)


batch = SPELLING.batch(["knights", "physics", "ox"])  # (B=3, L_s=7)
tokens = greedy(trained, batch)
assert torch.equal(tokens, greedy_decode(trained, batch, max_len=MAX_PHONEMES).tokens)
for row in tokens:
    print(" ".join(f"{SOUNDS.symbols[i]:6}" for i in row))

# %% [markdown]
# Greedy takes the best symbol at each step, which need not give the best *sequence*. Lesson 11 has a search that looks further.

# %% [markdown]
# ## 3.8 How wrong? Edit distance and phoneme error rate
#
# A pronunciation with one sound missing is better than one that is wrong throughout. The **edit distance** counts: the fewest insertions, deletions and substitutions that turn one sequence into the other. By hand: from `N AE SH N` to `N EY SH AH N` substitute `EY` for `AE` and insert `AH`: 2 edits.
#
# The computer fills a table. Entry $D_{ij}$ is the distance between the first $i$ symbols of $a$ and the first $j$ of $b$:
#
# $$D_{ij} = \min\big(D_{i-1,j} + 1,\;\; D_{i,j-1} + 1,\;\; D_{i-1,j-1} + [a_i \ne b_j]\big) , \qquad D_{i0} = i , \quad D_{0j} = j .$$
#
# The bracket is 1 if the symbols differ and 0 if not.

# %%
def edit_table(a, b):
    D = torch.zeros(len(a) + 1, len(b) + 1, dtype=torch.long)
    D[:, 0], D[0] = torch.arange(len(a) + 1), torch.arange(len(b) + 1)  # from nothing: one edit a symbol
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            D[i, j] = min(D[i - 1, j] + 1, D[i, j - 1] + 1, D[i - 1, j - 1] + (a[i - 1] != b[j - 1]))
    return D


hypothesis, truth = "N AE SH N".split(), "N EY SH AH N".split()
table = edit_table(hypothesis, truth)
assert table[-1, -1] == metrics.edit_distance(hypothesis, truth) == 2
ax = plotting.number_grid(table, shades=table, ax=plotting.new_axes(4.2, 3.4))
ax.set_xticks([j + 0.5 for j in range(6)], ["", *truth])
ax.set_yticks([i + 0.5 for i in range(5)], ["", *hypothesis])
ax.set(xlabel="dictionary", ylabel="model says")
plotting.show(ax, "Table of edit distances between the beginnings of N AE SH N and N EY SH AH N; the last entry, at the lower right, is 2.")

# %% [markdown]
# *Each box is the distance between what stands to its left, read from the top, and what stands below it, read from the left. The answer is in the lower right corner.*
#
# The **phoneme error rate**, PER, adds up the edits over all words and divides by the number of sounds in the references. If a word has several accepted pronunciations, the nearest one counts. The **word error rate**, WER, is the share of words that match none of theirs. By hand for two words:
#
# - `either`: the model says `AY DH ER`. Accepted are `IY DH ER` and `AY DH ER`. The nearest needs 0 edits and has 3 sounds.
# - `nation`: `N AE SH N` against `N EY SH AH N`: 2 edits, 5 sounds.
#
# PER $= \tfrac{0 + 2}{3 + 5}$, WER $= \tfrac12$.

# %%
hypotheses = ["AY DH ER".split(), hypothesis]
references = [["IY DH ER".split(), "AY DH ER".split()], [truth]]


def phoneme_error_rate(hypotheses, references):
    edits = length = 0
    for said, accepted in zip(hypotheses, references, strict=True):
        nearest = min(accepted, key=lambda reference: metrics.edit_distance(said, reference))
        edits, length = edits + metrics.edit_distance(said, nearest), length + len(nearest)
    return edits / length


assert phoneme_error_rate(hypotheses, references) == metrics.phoneme_error_rate(hypotheses, references) == 2 / 8
print("PER", phoneme_error_rate(hypotheses, references), "  WER", metrics.word_error_rate(hypotheses, references))

# %% [markdown]
# ## 3.9 With and without attention, trained side by side
#
# Two small models, equal but for the attention, the same words in the same batches, the same number of updates. To stay short we take every tenth word of *train*. The batches hold words of similar length, so that little of them is padding. The learning rate rises, then falls (`one_cycle_rate`).
# The progress bar shows how long each takes.

# %% tags=["nbval-ignore-output"]
EPOCHS = 5
some_words = dict(list(split("train").items())[::10])
pairs = encode_pairs(some_words, SPELLING, SOUNDS)
epochs = [list(batches_by_length(pairs, 2500, seed=epoch)) for epoch in range(EPOCHS)]
num_steps = sum(map(len, epochs))
print(f"{len(some_words):,} words, {len(pairs):,} pairs with a pronunciation, {num_steps} updates")


def train(attention):
    training.seed_everything(0)
    model = RecurrentSeq2Seq(len(SPELLING), len(SOUNDS), attention=attention, d_embed=32, d_hidden=64)
    rate = lambda step: training.one_cycle_rate(step, num_steps, peak=0.01)  # noqa: E731
    return model, training.fit(model, lambda epoch: epochs[epoch], teacher_forced_loss, epochs=EPOCHS, rate=rate)

# %% tags=["nbval-ignore-output"]
small = {"without attention": train(False), "with attention": train(True)}
some_valid = dict(list(split("valid").items())[::10])
print(f"{len(some_valid)} held-out words")
small_rates = {}
for name, (model, history) in small.items():
    small_rates[name] = error_rates(model, some_valid)
    size = sum(parameter.numel() for parameter in model.parameters())
    print(f"{name:18} {size:,} parameters   {history.seconds[-1]:3.0f} s   last loss {history.losses[-1]:.2f}   held-out words: ", end="")
    print(", ".join(f"{key} {100 * value:.0f} %" for key, value in small_rates[name].items()))
assert small["with attention"][1].losses[-1] < 0.85 * small["without attention"][1].losses[-1]
assert small_rates["with attention"]["PER"] < 0.85 * small_rates["without attention"]["PER"]

# %% tags=["nbval-ignore-output"]
losses = {name: torch.tensor(history.losses) for name, (_, history) in small.items()}
ax = plotting.curves(torch.arange(1, EPOCHS + 1), losses, xlabel="epoch", ylabel="mean training loss (nats per symbol)", ax=plotting.new_axes(6.0, 3.4))
ax.set_xticks(range(1, EPOCHS + 1))
ax.set_ylim(bottom=0)
plotting.show(ax, "Training loss by epoch. Both fall; from the second epoch on the model with attention is clearly below the one without.")

# %% [markdown]
# *Notice that the line with attention falls faster and ends below.* It has more parameters and takes longer for each update, so the comparison is not free of charge. But no number of parameters in the *decoder* would remove the bottleneck: it lies between the two.

# %% [markdown]
# ## 3.10 Errors by word length
#
# If the bottleneck is to blame, then attention must help *long* words more than short ones. For that we load the two models that come with the course. They are larger, and were trained on all training words by `python -m course_utils.zoo train recurrent`, again equal but for the attention. They are judged on all test words, which played no part in their making.
#
# **Predict first.** Draw the error rate over the word length, one line for each model. Where do the lines part?

# %% tags=["nbval-ignore-output"]
models = {"without attention": zoo.load("recurrent_no_attention"), "with attention": trained}
groups = [(1, 5), (6, 7), (8, 9), (10, 11), (12, 40)]  # shortest and longest word of each group
test = split("test")
rates = {name: error_rates_by_length(model, test, groups) for name, model in models.items()}
counts = [row["words"] for row in rates["with attention"]]
print("letters   words   PER without   with    WER without        with")
for i, (low, high) in enumerate(groups):
    without, attended = (rates[name][i] for name in models)
    spread = [100 * math.sqrt(row["WER"] * (1 - row["WER"]) / row["words"]) for row in (without, attended)]
    print(f"{low:2} to {high:2} {counts[i]:7} {100 * without['PER']:11.1f} % {100 * attended['PER']:5.1f} %", end="")
    print(f" {100 * without['WER']:8.1f} ± {spread[0]:.1f} % {100 * attended['WER']:5.1f} ± {spread[1]:.1f} %")
gaps = [without["PER"] - attended["PER"] for without, attended in zip(*rates.values(), strict=True)]
assert abs(gaps[0]) < 0.02 and gaps[-1] > 0.04

# %% tags=["nbval-ignore-output"]
lengths = torch.tensor([len(word) for word in test]).float()  # (number of test words,)
sizes = torch.stack([lengths[(lengths >= low) & (lengths <= high)].mean() for low, high in groups])  # (groups,)
axes = plotting.new_axes(9.6, 3.6, columns=2)
for ax, measure, words_for in zip(axes, ("PER", "WER"), ("phoneme", "word"), strict=True):
    lines = {name: torch.tensor([100 * row[measure] for row in rows]) for name, rows in rates.items()}
    plotting.curves(sizes, lines, xlabel="letters in the word (mean of the group)", ylabel=f"{words_for} error rate (%)", ax=ax)
    ax.set_ylim(bottom=0)
plotting.show(axes[0], "Phoneme and word error rate on the test words by word length. The lines run close together for short words; for long words the model without attention rises far above the one with attention.")

# %% [markdown]
# *Notice the right end of each picture.* For short words the two models are close. The longer the word, the further they part: the model without attention loses more and more phonemes, the model with attention does not. The ± in the table is the standard error that comes from having so many words and no more; there are few long ones.
#
# So the bottleneck is real, and attention removes it. For short words there was little to remove.
#
# ### Given the truth, and alone
#
# In training the model read true sounds. Now it reads its own. What does that cost? Both ways on the same test words (those with one accepted pronunciation, every fourth of them):

# %% tags=["nbval-ignore-output"]
single = {word: accepted[0] for word, accepted in test.items() if len(accepted) == 1}
words = list(single)[::4]
source = SPELLING.batch(words)  # (B, L_s)
target = SOUNDS.batch([single[word] for word in words], start=True, end=True)  # (B, L_t)
with torch.no_grad():
    wrong = (trained(source, target[:, :-1]).argmax(-1) != target[:, 1:]) & (target[:, 1:] != PAD_ID)  # (B, L_t - 1)
alone = pronounce(trained, words)  # greedy
wrong_alone = torch.tensor([said != single[word] for word, said in zip(words, alone, strict=True)])  # (B,)
agree = (wrong.any(1) == wrong_alone).sum().item()
print(f"words with a wrong sound: given the truth {100 * wrong.any(1).float().mean():.1f} %, alone {100 * wrong_alone.float().mean():.1f} %")
print(f"the two ways agree on which words are right in {agree} of {len(words)} words")

edits = steps = forced = symbols = 0
for row, said, word in zip(wrong.tolist(), alone, words, strict=True):
    if any(row):
        rest = row.index(True) + 1  # what comes after the first wrong sound
        forced, steps = forced + sum(row[rest:]), steps + max(len(single[word]) + 1 - rest, 0)
        edits, symbols = edits + metrics.edit_distance(said[rest:], single[word][rest:]), symbols + len(single[word][rest:])
print(f"after the first wrong sound, errors per sound: given the truth {forced / steps:.2f}, alone {edits / symbols:.2f}")
assert agree > 0.99 * len(words) and edits / symbols > 1.5 * forced / steps

# %% [markdown]
# The same words are right: as long as the model is right, its own sounds *are* the true ones. After the first mistake the two part. Given the truth, the model is set right at once. Alone, it reads its own mistake, in a place where training never took it, and errs more. This is called **exposure bias**. The teacher-forced loss does not show it, so we measure by decoding.

# %% [markdown]
# ## 3.11 Alignment
#
# The weights $\alpha_{tj}$ of all steps make a table: one row a sound, one column a letter. Nobody told the model which letter belongs to which sound. First a word that it has never seen, then one that it was trained on.

# %% tags=["nbval-ignore-output"]
axes = plotting.new_axes(11.6, 4.2, columns=2)
for ax, word in zip(axes, ("recognition", "attention"), strict=True):
    sounds, _, weights = speak(trained, word)
    assert tuple(sounds[:-1]) in pronunciations()[word] and word[weights[sounds.index("SH")].argmax()] == "t"
    assert word != "attention" or 2 not in weights.argmax(-1)
    seen = "trained on" if split_of(word) == "train" else f"held out ({split_of(word)})"
    plotting.attention_heatmap(weights, sounds, list(word), ax=ax, title=f"{word}: {seen}")
    ax.set(xlabel="letter (key)", ylabel="sound (query)")
plotting.show(axes[0], "Attention weights for recognition and attention, one row a sound, one column a letter. In both the bright cells run down a diagonal; the sound SH near the end looks most at the t of tion.")

# %% [markdown]
# *Notice the diagonal, and compare it with what you wrote down for `nation` at the start: of the ending `tion`, the sound `SH` looks most at the `t`. In `attention` no sound looks most at the second `t` of `tt`.* Reading goes from left to right, so the rows should move to the right, and never back. Two words prove little; over many test words, measured:

# %% tags=["nbval-ignore-output"]
long_words = [word for word in test if len(word) >= 8][::8]
source = SPELLING.batch(long_words)  # (B, L_s)
tokens = greedy_decode(trained, source, max_len=MAX_PHONEMES).tokens  # (B, L_t)
previous = torch.cat((torch.full((len(source), 1), START_ID), tokens[:, :-1]), dim=1)  # (B, L_t): what each step was given
with torch.no_grad(), record_attention(trained) as seen:
    trained(source, previous)
weights = torch.cat(seen.calls("attention"), dim=1)  # (B, L_t, L_s)
real = tokens != PAD_ID  # (B, L_t)
place = (weights * torch.arange(source.shape[1])).sum(-1)  # (B, L_t): where the step looks, on average
forward = (place.diff(dim=1) > 0)[real[:, 1:]].float().mean().item()
count = torch.special.entr(weights).sum(-1).exp()[real].mean().item()
print(f"{len(long_words)} test words of 8 letters or more: {100 * forward:.1f} % of the steps look further right than the step before")
print(f"letters that count in a row (exponential of the entropy, lesson 02): {count:.1f}")
assert forward > 0.95 and count < 4

# %% [markdown]
# The model has found out by itself that one reads from left to right.
#
# **Read it with care.** A weight belongs to a *state*, and a state is not a letter: the GRU has mixed its neighbors into it. How much? We measure by gradients: how strongly does the state in the middle of a word change with each embedding around it, as a share?

# %% tags=["nbval-ignore-output"]
rng, shares = torch.Generator().manual_seed(0), []
for word in [word for word in test if len(word) >= 9][::40]:
    middle = len(word) // 2
    embedded = trained.encoder.embedding(SPELLING.batch([word])).detach().requires_grad_()  # (1, L_s, d_embed)
    states, _ = trained.encoder.gru(embedded)  # (1, L_s, 2 d_hidden)
    directions = torch.randn(8, states.shape[-1], generator=rng)  # (8, 2 d_hidden): eight random mixtures of the state's entries
    gradients = [torch.autograd.grad(states[0, middle] @ direction, embedded, retain_graph=True)[0][0] for direction in directions]
    influence = torch.stack(gradients).square().sum((0, 2))  # (L_s,)
    shares.append(influence[middle - 3 : middle + 4] / influence.sum())
share = torch.stack(shares).mean(0)  # (7,)
print("letters away from its own:", end="")
for offset, part in zip(range(-3, 4), share.tolist(), strict=True):
    print(f"   {offset:+d}: {100 * part:.0f} %", end="")
assert share.argmax() == 3 and share[3] < 0.8

# %% [markdown]
# Its own letter has the largest share, and its neighbors have the rest. So a sound may look at the state *beside* its letter and still find it there. A heatmap shows where a model looks, not what it finds, and not why it decides (lesson 06 comes back to that).

# %% [markdown]
# ## Look
#
# Type any word and press Enter. First the static picture of the widget's first state, then the widget.

# %% tags=["nbval-ignore-output"]
viewer = widgets.alignment_viewer(trained, "knights")
viewer.show_first_state("Alignment of knights: N looks at k and n, AY at n and i, T at the letters from i to t, S at t and s. The model's pronunciation equals the dictionary's; the word is held out.")

# %% [markdown]
# *Each row is a sound and sums to 1. At the right: what the model says, how probable it holds that, and what the dictionary says, if it has the word.* Try your name, a word with silent letters, a word that does not exist. Words with other characters than a to z are refused with a sentence.

# %% tags=["nbval-ignore-output"]
viewer

# %% [markdown]
# ## What goes wrong
#
# **The context from the step after.** An easy slip: the cell runs first, and attention is asked with the *new* state. Nothing fails, and the weights still sum to 1. Luong's order is not wrong in itself; but our model was *trained* in Bahdanau's. The same weights in the other order:

# %% tags=["nbval-ignore-output"]
class ContextFromAfter:
    """The trained model's parts, the context computed after the step instead of before."""

    def __init__(self, model):
        self.model = model

    def eval(self):
        return self

    def start_decoding(self, source, *, max_len=None):
        state = self.model.start_decoding(source)
        return state, torch.zeros_like(state.encoded.summary)  # no context yet

    def decode_step(self, state, tokens):
        (state, context), model = state, self.model
        embedded = model.embedding(tokens)  # (B, d_embed)
        hidden = model.cell(torch.cat((embedded, context), dim=-1), state.hidden)  # reads the context it was left
        context, _ = model.attention(hidden[:, None], state.encoded.states, state.encoded.states, state.encoded.mask)
        logits = model.output(torch.cat((hidden, context[:, 0], embedded), dim=-1))  # (B, V)
        return logits.log_softmax(-1), (replace(state, hidden=hidden), context[:, 0])


some_test = dict(list(test.items())[::12])
before, after = error_rates(trained, some_test)["PER"], error_rates(ContextFromAfter(trained), some_test)["PER"]
print(f"PER: context from the state before {100 * before:.1f} %, from the state after {100 * after:.1f} %")
print("knights:", " ".join(pronounce(ContextFromAfter(trained), ["knights"])[0]))
assert after > 2 * before

# %% [markdown]
# How you would notice: print, for the first step, which state went into the attention. It must be the one that the encoder started.
#
# **The mask after the softmax, without dividing again.** The padding's weights become 0, but the softmax has already shared out the weight. How you would notice: the weights of a short word no longer sum to 1 as soon as a long word is in the same batch. A word must not depend on its neighbors in the batch.

# %%
@torch.no_grad()
def first_weights(batch, mask_after):
    state = trained.start_decoding(SPELLING.batch(batch))
    att, states, mask = trained.attention, state.encoded.states, state.encoded.mask[:, 0]  # (B, L_s, 2 d_hidden), (B, L_s)
    scores = att.v_proj(torch.tanh(att.q_proj(state.hidden)[:, None] + att.k_proj(states)))[..., 0]  # (B, L_s)
    return (torch.softmax(scores, -1) * mask if mask_after else weigh(scores, states, mask)[1])[0, : len(batch[0])]


for name, mask_after in (("before the softmax", False), ("after the softmax", True)):
    for batch in (["box"], ["box", "internationalization"]):
        weights = first_weights(batch, mask_after)
        print(f"mask {name:18} box in a batch of {len(batch)}: weights {weights}   sum {weights.sum():.2f}")

# %% [markdown]
# **The end symbol ignored.** Section 3.7 showed what the decoder says after its end. If the output is read without looking for the end symbol, everything after it counts as insertions. And **an error rate that divides by the wrong thing**: by the length of what the model *said*, or averaged word by word. All four numbers below look like error rates; one is right.

# %% tags=["nbval-ignore-output"]
def share_by(length_of, said, accepted):
    nearest = [min(listed, key=lambda reference: metrics.edit_distance(h, reference)) for h, listed in zip(said, accepted, strict=True)]
    edits = [metrics.edit_distance(h, reference) for h, reference in zip(said, nearest, strict=True)]
    return edits, [length_of(h, reference) for h, reference in zip(said, nearest, strict=True)]


words, accepted = list(some_test), list(some_test.values())
said = pronounce(trained, words)
endless = [[sound for sound in speak(trained, word, max_len=12, stop=False)[0] if not sound.startswith("<")] for word in words]
edits, by_reference = share_by(lambda h, reference: len(reference), said, accepted)
_, by_hypothesis = share_by(lambda h, reference: len(h), said, accepted)
numbers = {
    "right: edits / sounds of the references": sum(edits) / sum(by_reference),
    "divided by the hypotheses' length": sum(edits) / sum(by_hypothesis),
    "averaged word by word": sum(e / n for e, n in zip(edits, by_reference, strict=True)) / len(words),
    "end symbol ignored, 12 steps": metrics.phoneme_error_rate(endless, accepted),
}
for name, number in numbers.items():
    print(f"{name:42} {100 * number:6.2f} %")
assert numbers["right: edits / sounds of the references"] == metrics.phoneme_error_rate(said, accepted)
assert numbers["end symbol ignored, 12 steps"] > 3 * numbers["right: edits / sounds of the references"]

# %% [markdown]
# The second and third are near the first, which is what makes them dangerous. Dividing by the hypothesis rewards a model that says more: ten wrong sounds for a word of two cannot cost more than 1. Averaging word by word makes a sound in a short word count more than one in a long word, so a model that fails on long words would look better than it is.

# %% [markdown]
# ## In practice
#
# - $W_k h_j$ does not depend on the decoder's step. Code that decodes computes it once for each word and keeps it; the cell below counts what that saves. Lesson 07 does the same with keys and values under the name of a cache.
# - Luong's models use the dot product in the place of the additive score, one large product in the place of a $\tanh$ for every pair (lesson 02, section 2.12).
# - The decoder is a loop: step $t$ needs $s_{t-1}$, in training too. Hardware that could do many things at once has to wait. The Transformer has no such loop in training (lesson 10).
# - Names elsewhere: encoder states are *annotations* (Bahdanau), *encoder outputs*, or *memory*; the scores are *energies*; the weights are *alignments*. Giving true symbols with some probability and own symbols otherwise is *scheduled sampling*, one remedy for exposure bias.
# - Real spelling-to-sound systems look a word up in the dictionary first, and ask a model for the rest.

# %%
L_s, L_t, d = 10, 9, 128
states, queries = torch.randn(1, L_s, 2 * d), torch.randn(1, L_t, d)
layer = AdditiveAttention(d, 2 * d, d)
counts = {}
with torch.no_grad():
    for name in ("at every step", "once"):
        with FlopCounterMode(display=False) as counter:
            for t in range(L_t):
                if name == "at every step" or t == 0:
                    keys = layer.k_proj(states)  # (1, L_s, d_att)
                hidden = torch.tanh(layer.q_proj(queries[:, t : t + 1]) + keys)  # (1, L_s, d_att)
                layer.v_proj(hidden)
        counts[name] = counter.get_total_flops() // 2
print({name: f"{count:,} multiplications" for name, count in counts.items()}, f"- {counts['at every step'] / counts['once']:.1f} times as many")

# %% [markdown]
# ## Recap
#
# 1. **Encoder-decoder**: a GRU in both directions reads, a second one writes. Without attention all that it learns of the word is the summary, of the same size for every word: the bottleneck.
# 2. **Attention**: query $s_{t-1}$, keys and values $h_j$, additive score, softmax over the real letters. The order is look, step, speak; the context comes from the state before the step.
# 3. **Teacher forcing** gives the true symbols in training; `target[:, :-1]` goes in, `target[:, 1:]` is compared. Greedy decoding gives its own, until the end symbol. As long as all is right the two are the same; after a mistake they part.
# 4. **PER**: edits to the nearest accepted pronunciation, over all words, divided by the sounds of those pronunciations, once.
# 5. **By length**: short words hardly gain from attention, long words gain much. The alignment runs from left to right; it shows where the model looks, and a state holds its neighbors too.
#
# | symbol | meaning | shape |
# |---|---|---|
# | $L_s$, $L_t$ | letters in the source, symbols in the target | numbers |
# | $V$ | sounds, special symbols included | a number |
# | $r$, $z$ | gates of a GRU: reset, update | $(d_{hidden})$ |
# | $h_j$ | encoder state of letter $j$, both directions | $(2 d_{hidden})$; all: $(B, L_s, 2 d_{hidden})$ |
# | summary | last state of each direction | $(B, 2 d_{hidden})$ |
# | $y_{t-1}$, $E(y_{t-1})$ | previous sound, its embedding | a number; $(d_{embed})$ |
# | $s_t$ | decoder state after step $t$; $s_0$ before the first | $(d_{hidden})$ |
# | $e_{tj}$, $\alpha_{tj}$ | score and weight of letter $j$ at step $t$ | $(B, L_t, L_s)$; each row of weights sums to 1 |
# | $c_t$ | context | $(2 d_{hidden})$ |
# | $D_{ij}$ | edit distance of the first $i$ and first $j$ symbols | $(\lvert a \rvert + 1, \lvert b \rvert + 1)$ |

# %% [markdown]
# ## Check yourself
#
# <details><summary>1. Somebody doubles d_hidden in the model without attention. Does that remove the bottleneck?</summary>
#
# **No, it widens it.** The summary still has one size for all words, so there is always a word that is too long for it. (Nor does a larger *decoder* help: it cannot use what it is not told. "Yes" would need a summary that grows with the word, which is what all states together are.)
# </details>
#
# <details><summary>2. The batch holds the words ox and internationalization. How many letters may ox look at, and what enforces it?</summary>
#
# **Two, by the mask.** All other positions of its row are padding, and their scores become minus infinity before the softmax. (Not "the zeros in its embedding": a padding's state of zeros still gets a score, and so a weight. Not the encoder alone: it does not read the padding, but the tensor of states has the positions all the same.)
# </details>
#
# <details><summary>3. The target is &lt;start&gt; B AA K S &lt;end&gt;. What does the decoder read at the step that should say S, and what is it compared with at the last step?</summary>
#
# **It reads K; the last step is compared with the end symbol.** (Not S: then the model would only have to copy. Not the sound it said itself: that is greedy decoding. And if the end symbol were left out of the comparison, the model would never learn to stop.)
# </details>
#
# <details><summary>4. Accepted is IY DH ER or AY DH ER, the model says AY DH. What does this word add to the PER, above and below the line?</summary>
#
# **1 edit above, 3 sounds below.** The nearest is the second, with one insertion. (Below the line stands neither 2, the length of what was said, nor 6, both accepted ones together.)
# </details>
#
# <details><summary>5. In a heatmap the sound S looks mostly at the letter t, in a word that ends in ts. Is the attention broken?</summary>
#
# **Not necessarily.** The state at *t* has read the *s* as well, in the backward direction, so what the decoder needs may be found there. Section 3.11 measures how much a state holds of its neighbors. (The picture alone proves neither a fault nor its absence; the error rate does.)
# </details>
#
# {{next_steps}}

# %% [markdown]
# ## References
#
# - Bahdanau, Cho, Bengio, *Neural Machine Translation by Jointly Learning to Align and Translate*, 2015 (first posted in 2014), sections 3, 5 and appendix A: the model of this lesson, and the curve over sentence length that ours repeats over word length.
# - Cho et al., *Learning Phrase Representations using RNN Encoder-Decoder for Statistical Machine Translation*, 2014, section 2: the encoder-decoder without attention, and the GRU.
# - Sutskever, Vinyals, Le, *Sequence to Sequence Learning with Neural Networks*, 2014: the other encoder-decoder of that year, with LSTMs.
# - Luong, Pham, Manning, *Effective Approaches to Attention-based Neural Machine Translation*, 2015, section 3: step first, look afterwards, and the scores dot and general.
# - Williams, Zipser, *A Learning Algorithm for Continually Running Fully Recurrent Neural Networks*, 1989: the source of teacher forcing.
# - Bengio, Vinyals, Jaitly, Shazeer, *Scheduled Sampling for Sequence Prediction with Recurrent Neural Networks*, 2015: exposure to one's own mistakes in training.
# - Levenshtein, *Binary Codes Capable of Correcting Deletions, Insertions, and Reversals*, 1966, and Wagner, Fischer, *The String-to-String Correction Problem*, 1974: the distance, and its table.
# - Toshniwal, Livescu, *Jointly Learning to Align and Convert Graphemes to Phonemes with Neural Attention Models*, 2016: our task with attention.
