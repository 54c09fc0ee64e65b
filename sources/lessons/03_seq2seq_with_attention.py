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
# By the end you can build the recurrent encoder-decoder that brought attention into translation, train it to pronounce English words, and show what attention changes.
#
# {{colab_link}} · about 125 minutes · builds on lessons 00 to 02

# %% tags=["setup"]
import hashlib
import math
from collections import Counter

import torch
import torch.nn.functional as F
from torch import nn

from course_utils import diagrams, metrics, plotting, pretrained, training, widgets
from course_utils.datasets.pronunciations import pronunciations, split, split_of
from course_utils.decoding import greedy_decode
from course_utils.models.recurrent import RecurrentSeq2Seq
from course_utils.pretrained.pronunciation import MAX_PHONEMES, SOUNDS, SPELLING
from course_utils.pretrained.pronunciation import align, error_rates, pronounce
from course_utils.recording import record_attention
from course_utils.results import read_rows
from course_utils.small_models import bottleneck
from course_utils.tokenizers import END_ID, PAD_ID, START_ID
from course_utils.training.losses import target_symbols, teacher_forced_loss

torch.set_printoptions(precision=3, sci_mode=False, linewidth=100)
torch.set_num_threads(1)  # small tensors: sharing them out takes longer than the work

# %% [markdown]
# **You will learn to**
#
# 1. build a GRU encoder-decoder, and say where its bottleneck is;
# 2. let the decoder attend to all encoder states, with the right query, mask and time step;
# 3. train with teacher forcing, decode greedily until an end symbol, and measure what changes between the two;
# 4. measure a phoneme error rate where a word has several accepted pronunciations;
# 5. compare models with and without attention fairly, and read an alignment with care.
#
# Lesson 02 built a soft lookup. Bahdanau, Cho and Bengio put one into a translator in 2014, three years before the Transformer. (Graves had a soft window over a text a year earlier, in a network that draws handwriting.) They translated sentences. We pronounce words: much the same model, on a task that is real and small enough for a laptop. It will stay with us through the whole course.

# %% [markdown]
# ## Predict first
#
# Say these words aloud: `nation`, `thought`, `box`. How many letters does each have, and how many *sounds*? For every sound, write down which letters you must look at to know it.

# %%
for word in ("nation", "thought", "box"):
    sounds = pronunciations()[word][0]
    print(f"{word:8} {len(word)} letters   {len(sounds)} sounds   {' '.join(sounds)}")

# %% [markdown]
# The symbols are ARPAbet, an alphabet of sounds: `SH` as in *she*, `EY` as in *day*, `TH` as in *thin*. In `thought` four letters make one vowel, and in `box` one letter makes two sounds. What you wrote down is an **alignment**.

# %% [markdown]
# ## 3.1 The task, and a model that has learned it
#
# In a **sequence-to-sequence** task one sequence goes in, another comes out, and their lengths differ. Ours comes from the CMU Pronouncing Dictionary, without its stress marks. Some words have several **accepted** pronunciations. The words are split in three: the model learns from *train*, we make choices on *valid*, and *test* is for the last number.

# %% tags=["nbval-ignore-output"]
several = sum(len(accepted) > 1 for accepted in pronunciations().values())
print(f"{len(pronunciations()):,} words, {several:,} with several pronunciations")
print({name: f"{len(split(name)):,}" for name in ("train", "valid", "test")})
for accepted in pronunciations()["either"]:
    print("either:", " ".join(accepted))

# %% [markdown]
# Here is where we're going: a model with attention, trained beforehand on all of *train*. It has never seen these words.

# %%
trained = pretrained.load("recurrent_attention")
held_out = ["recognition", "knights", "physics"]
assert all(split_of(word) != "train" for word in held_out)
for word, sounds in zip(held_out, pronounce(trained, held_out), strict=True):
    verdict = "right" if sounds in pronunciations()[word] else "wrong"
    print(f"{word:12} {' '.join(sounds):28} {verdict}")

# %% [markdown]
# While it says a sound, the model looks back at the letters, with weights that sum to 1. Nobody ever told it which letter belongs to which sound.

# %% tags=["nbval-ignore-output"]
widgets.predict(
    "3.1",
    "The model says SH in recognition. How does its look divide among the last four?",
    shares=["t", "i", "o", "n"],
)

# %% tags=["nbval-ignore-output"]
seen = align(trained, "recognition")
last_four = seen.weights[seen.sounds.index("SH"), -4:]  # (4,)
widgets.came_out("3.1", last_four / last_four.sum())

# %% tags=["nbval-ignore-output"]
viewer = widgets.attention_viewer(
    {"sounds look at letters": (seen.weights, seen.sounds, list("recognition"))}
)
viewer.show_first_state(
    "Attention weights of recognition, a row for each sound. "
    "The large weights run down a diagonal; SH looks most at the t of tion."
)

# %% tags=["nbval-ignore-output"]
viewer

# %% [markdown]
# *Point at a sound: its row shows where it looked. The large weights run from the upper left to the lower right, as you read.* (A row shares 1 among all letters; the prediction shared 1 among the last four. Layer 0, head 0 is the only one here; lesson 06 has more.) The rest of this lesson builds that model, then asks what the looking is good for.
#
# Letters and sounds become whole numbers. Number 0 is padding, 1 starts and 2 ends a sequence. The target stands between start and end symbol, because the decoder must learn where to begin and when to stop.

# %%
words = ["nation", "box", "thought"]
source = SPELLING.batch(words)  # (B=3, L_s=7)
first = [pronunciations()[word][0] for word in words]
target = SOUNDS.batch(first, start=True, end=True)  # (B=3, L_t=7)
print("source\n", source, "\ntarget\n", target)

# %% [markdown]
# ## 3.2 The encoder reads: a GRU in both directions
#
# A recurrent network (lesson 00) reads one letter after another and keeps a state. A **gated recurrent unit**, GRU, has two gates, which are numbers between 0 and 1 for each entry of the state:
#
# - the **update gate** $z$ says what share of the old state is kept;
# - the **reset gate** $r$ says how much of the old state may take part in the *proposal* $n$ for the new one. With $r = 0$ the proposal comes from the letter alone.
#
# With $x$ the embedding of a letter, shape $(d_{embed})$, and $h$ the state, shape $(d_{hidden})$:
#
# $$r = \sigma(W_r x + b_r + U_r h + c_r) , \qquad z = \sigma(W_z x + b_z + U_z h + c_z) ,$$
# $$n = \tanh\big(W_n x + b_n + r \odot (U_n h + c_n)\big) , \qquad h' = (1 - z) \odot n + z \odot h .$$
#
# $\sigma$ is the sigmoid, and $\odot$ multiplies entry by entry. The $W$ have shape $(d_{hidden}, d_{embed})$, the $U$ have $(d_{hidden}, d_{hidden})$, the biases $b$ and $c$ have $(d_{hidden})$.
#
# By hand, with one entry, $h = 4$, and all weights 0 but $b_z = \ln 3$: $z = \tfrac{3}{1 + 3} = \tfrac34$, $n = \tanh 0 = 0$, so $h' = \tfrac14 \cdot 0 + \tfrac34 \cdot 4 = 3$. Now let $U_n = 1$ as well. Then $r = \tfrac12$, and the proposal is $\tanh(\tfrac12 \cdot 4) = 0.96$. Close the reset gate, $b_r = -20$, and the proposal is back at 0: the 4 is out of sight.

# %%
def gru_step(x, h, W, U, b, c):
    (W_r, W_z, W_n), (U_r, U_z, U_n) = W.chunk(3), U.chunk(3)
    (b_r, b_z, b_n), (c_r, c_z, c_n) = b.chunk(3), c.chunk(3)
    r = torch.sigmoid(x @ W_r.T + b_r + h @ U_r.T + c_r)  # (B, d_hidden)
    z = torch.sigmoid(x @ W_z.T + b_z + h @ U_z.T + c_z)  # (B, d_hidden)
    n = torch.tanh(x @ W_n.T + b_n + r * (h @ U_n.T + c_n))  # (B, d_hidden)
    return (1 - z) * n + z * h  # (B, d_hidden)


# %%
none, U_n = torch.zeros(3, 1), torch.tensor([[0.0], [0.0], [1.0]])
x, h, c = torch.zeros(1, 1), torch.tensor([[4.0]]), torch.zeros(3)
cases = {"by hand": (none, 0), "U_n = 1": (U_n, 0), "reset shut": (U_n, -20)}
for name, (U, b_r) in cases.items():
    after = gru_step(x, h, none, U, torch.tensor([b_r, math.log(3), 0.0]), c)
    print(f"{name:10} the state 4 becomes {after.item():.2f}")

# %%
torch.manual_seed(0)
cell = nn.GRUCell(5, 6)  # keeps its three matrices stacked, in the order r, z, n
x, h = torch.randn(2, 5), torch.randn(2, 6)  # (B, d_embed), (B, d_hidden)
assert torch.allclose(gru_step(x, h, *cell.parameters()), cell(x, h), atol=1e-6)
print("gru_step equals nn.GRUCell")

# %% [markdown]
# By the last letter, the first ones have passed through many gates. So the word is read twice, once from each end, and the two states at letter $j$ are put side by side: the **encoder state** $h_j$, of shape $(2 d_{hidden})$. The **summary** is the last state of each direction, also $(2 d_{hidden})$.

# %%
torch.manual_seed(0)
V = len(SOUNDS)
sizes = {"d_embed": 8, "d_hidden": 16}
plain = RecurrentSeq2Seq(len(SPELLING), V, attention=False, **sizes).eval()
with torch.no_grad():
    encoded = plain.encoder(source)  # three words, padded to 7 letters
    alone = plain.encoder(SPELLING.batch(["box"]))
assert torch.allclose(encoded.states[1, :3], alone.states[0], atol=1e-6)
assert torch.allclose(encoded.summary[1], alone.summary[0], atol=1e-6)
for name, part in encoded._asdict().items():
    print(f"{name:8} {tuple(part.shape)}")

# %% [markdown]
# In the batch `box` comes out as if it were read alone: the padding is never read. The mask, True at real letters, goes on to the attention.

# %% [markdown]
# ## 3.3 The decoder writes, through a bottleneck
#
# The **decoder** is a second GRU. Before attention, all it got was the summary:

# %%
sounds = [*pronunciations()["nation"][0], "<end>"]
plotting.show(diagrams.unrolled(list("nation"), sounds, at=5))

# %% [markdown]
# *Notice the orange line. It carries the last state of each direction, and all that the decoder learns of the word must pass through it.* (It's drawn once; below, every step gets to read the same summary.)
#
# The decoder begins in a state made from the summary, and writes one sound per step. At step $t$ it reads the sound it wrote before, $y_{t-1}$, and a **context** $c_t$:
#
# $$s_0 = \tanh(W_0\, \text{summary} + b_0) , \qquad s_t = \text{GRU}\big([\,E(y_{t-1});\, c_t\,],\; s_{t-1}\big) ,$$
# $$\text{logits}_t = W_o\,[\,s_t;\, c_t;\, E(y_{t-1})\,] + b_o .$$
#
# $s_t$, of shape $(d_{hidden})$, is the decoder's state; $W_0$ has shape $(d_{hidden}, 2 d_{hidden})$. $E$ is the table of the sounds' embeddings, and $[\,;\,]$ puts vectors side by side. The logits have one entry for each of the $V$ sounds. Without attention, $c_t$ is the summary at every step. (Mind the letters: from here on $c_t$ is a context, no longer a bias; $h$ and $s$ are *states*, $e$ will be a score, and $d_{hidden}$ is the size of a state. The size at which lesson 02's additive score adds its two parts is called $d_{att}$ here.)
#
# How many numbers does the decoder get to know about `ox`? And about `internationalization`? Answer before you run the cell.

# %%
for word in ("ox", "nation", "internationalization"):
    with torch.no_grad():
        encoded = plain.encoder(SPELLING.batch([word]))
    numbers, all_states = encoded.summary.numel(), encoded.states.numel()
    print(f"{word:21} {len(word):2} letters", end="   ")
    print(f"summary {numbers}   all states {all_states:3}")

# %% [markdown]
# A long word must pass through no more numbers than a short one. That is the **bottleneck**. Whether it costs anything in practice is a question for section 3.7.

# %% [markdown]
# ## 3.4 Attention: look, step, speak
#
# Bahdanau's idea: don't hand over one summary. Keep all the encoder's states, and let the decoder look the context up anew at every step. Here is one step of the trained model, in three frames. It has said `N` and is about to say the next sound of `knights`.

# %%
knights = align(trained, "knights")
frame = (list("knights"), knights.sounds, knights.weights)
plotting.show(diagrams.unrolled(*frame, at=1, phase="look"))

# %%
plotting.show(diagrams.unrolled(*frame, at=1, phase="step"))

# %%
plotting.show(diagrams.unrolled(*frame, at=1, phase="speak"))

# %% [markdown]
# *Follow the order.* **Look**: the state *before* the step, $s_{t-1}$, asks, and the weights say which letters answer. **Step**: the GRU reads the context and moves on to $s_t$. **Speak**: the logits come from $s_t$, $c_t$ and the embedding. It's the soft lookup of lesson 02, with the **query** $s_{t-1}$, and the encoder's states $h_1, \dots, h_{L_s}$ as both **keys** and **values**.
#
# By hand, for a word of two letters with one padding: $h = (4, 0), (0, 8), (9, 9)$, scores $0, \ln 3, 5$. The exponentials of the real ones are 1 and 3, so the weights are $\tfrac14, \tfrac34, 0$, and the context is $\tfrac14 (4, 0) + \tfrac34 (0, 8) = (1, 6)$. The score is lesson 02's additive one:
#
# $$e_{tj} = w_v^\top \tanh(W_q\, s_{t-1} + W_k\, h_j) , \qquad \alpha_{tj} = \frac{e^{e_{tj}}}{\sum_{m \text{ real}} e^{e_{tm}}} , \qquad c_t = \sum_{j \text{ real}} \alpha_{tj}\, h_j .$$
#
# $W_q$ has shape $(d_{att}, d_{hidden})$, $W_k$ has $(d_{att}, 2 d_{hidden})$, $w_v$ has $(d_{att})$. Sums run over real letters only. As a loop, for one word and one step:

# %%
def look(s, h, real, W_q, W_k, w_v):
    """s (d_hidden,), h (L_s, 2 d_hidden), real (L_s,): the weights of one step."""
    scores = [w_v @ torch.tanh(W_q @ s + W_k @ h_j) for h_j in h]
    powers = [e.exp() * ok for e, ok in zip(scores, real, strict=True)]
    return [power / sum(powers) for power in powers]


att = trained.attention
matrices = att.q_proj.weight, att.k_proj.weight, att.v_proj.weight[0]
with torch.no_grad():
    state = trained.start_decoding(SPELLING.batch(["knights"]))  # hidden is s_0
    weights = look(state.hidden[0], state.encoded.states[0], [True] * 7, *matrices)
assert torch.allclose(torch.stack(weights), knights.weights[0], atol=1e-5)
print("step 1:", *(f"{a} {w:.2f}  " for a, w in zip("knights", weights, strict=True)))

# %% [markdown]
# The loop gives the weights that the trained model used in its first step.
#
# **Do [exercise 3.1](../exercises/03_seq2seq_with_attention.ipynb) now (15 minutes), then read on.** It asks for all words of a batch at once, wherever their padding stands. From here on we use the library's `AdditiveAttention`, which takes any number of queries.
#
# The whole model, drawn from the code that runs:

# %%
torch.manual_seed(0)
attentive = RecurrentSeq2Seq(len(SPELLING), V, attention=True, **sizes).eval()
ax = diagrams.architecture(attentive, (source, target[:, :6]))
plotting.show(ax)

# %% [markdown]
# *Notice what runs once, and what runs at every step.* The first state, at the left, is where the cell starts. Whatever is marked "times" must wait for the step before it, in training too. The Transformer will get rid of that (lesson 10).
#
# **Do exercises 3.2 (a score that knows where it looked last, 20 minutes) and 3.6 (find the bug, 10 minutes) now.**

# %% [markdown]
# ## 3.5 Learn with the truth, speak alone
#
# In training, what should the decoder read as $y_{t-1}$: what it *said*, or what it *should have said*? At first it says nonsense, and there is little to learn from nonsense. So it is given the true sounds. That is **teacher forcing**:
#
# | step | 1 | 2 | 3 | 4 | 5 | 6 |
# |---|---|---|---|---|---|---|
# | given | `<start>` | `N` | `EY` | `SH` | `AH` | `N` |
# | wanted | `N` | `EY` | `SH` | `AH` | `N` | `<end>` |
#
# The loss is the **cross-entropy**: the mean of $-\ln p$ over all wanted symbols, where $p$ is the probability that the model gave to the right one. The end symbol counts, padding doesn't. By hand, for two symbols with $p = \tfrac12$ and $p = \tfrac18$: $\tfrac12(\ln 2 + \ln 8) = \ln 4 = 1.39$.
#
# **Do exercise 3.3 now (10 minutes).** From here on the library's `teacher_forced_loss` does it. A model that guesses evenly pays $\ln V$ for each symbol, and a fresh one should cost about as much:

# %%
right, sure = torch.tensor([0, 0]), torch.tensor([[0.5, 0.5], [0.125, 0.875]])
loss = F.cross_entropy(sure.log(), right)
print(f"by hand {math.log(4):.2f}, cross_entropy {loss:.2f}")
with torch.no_grad():
    fresh = teacher_forced_loss(attentive, (source, target))
print(f"fresh model {fresh:.2f}, even guessing ln {V} = {math.log(V):.2f}")

# %% [markdown]
# Now train two models side by side on every sixth word of *train*: one with attention, one without. Attention adds parameters, so the plain model gets a larger $d_{hidden}$ until both have the same number. Words, batches, updates and learning rates are the same. It takes half a minute to a minute; the bars show how long.

# %% tags=["nbval-ignore-output"]
some_words = dict(list(split("train").items())[:: bottleneck.EVERY])
ahead = bottleneck.epochs_of(some_words)  # one list of batches for each epoch
num_steps = sum(map(len, ahead))
print(f"{len(some_words):,} words, {num_steps} updates")


def rate(step):
    return training.one_cycle_rate(step, num_steps, peak=bottleneck.PEAK)

# %% tags=["nbval-ignore-output"]
def train(attention, d_hidden):
    training.seed_everything(0)
    model = bottleneck.build(attention, d_hidden)
    more = {"epochs": len(ahead), "rate": rate, "weigh": target_symbols}
    return model, training.fit(model, ahead.__getitem__, teacher_forced_loss, **more)


small = {"without attention": train(False, 34), "with attention": train(True, 32)}

# %% tags=["nbval-ignore-output"]
some_valid = dict(list(split("valid").items())[::10])
small_per = {}
for name, (model, history) in small.items():
    size = sum(parameter.numel() for parameter in model.parameters())
    small_per[name] = error_rates(model, some_valid)["PER"]
    print(f"{name:18} {size:,} parameters   loss by epoch", end=" ")
    print(*(f"{loss:.2f}" for loss in history.losses), end="   ")
    print(f"PER {small_per[name]:.0%}, {len(some_valid)} words of valid")
assert small_per["with attention"] < 0.8 * small_per["without attention"]

# %% [markdown]
# (PER is the share of wrong sounds; section 3.6 defines it. The losses are means over all symbols of an epoch.) Attention learns faster here. That was one seed and one size; section 3.7 has more.
#
# After training there are no true sounds to give. In **greedy decoding** the decoder reads its own most probable symbol, and stops when that is the end symbol. For one word:

# %%
@torch.no_grad()
def speak(model, word, max_len=MAX_PHONEMES, stop=True):
    state = model.start_decoding(SPELLING.batch([word]))
    token, sounds = START_ID, []
    for _ in range(max_len):
        log_probs, state = model.decode_step(state, torch.tensor([token]))  # (1, V)
        token = log_probs[0].argmax().item()
        sounds.append(SOUNDS.symbols[token])
        if stop and token == END_ID:
            break
    return sounds


print("stopped:    ", *speak(trained, "knights"))
print("not stopped:", *speak(trained, "knights", max_len=12, stop=False))

# %% [markdown]
# Nothing but that `if` tells the loop to stop. In a batch, words end at different steps, and those that have ended must wait for the others. **Do exercise 3.4 now (15 minutes).** From here on we use the library's `greedy_decode`.

# %% [markdown]
# ## 3.6 How wrong?
#
# A pronunciation with one sound missing is better than one that is wrong throughout. The **edit distance** counts the fewest insertions, deletions and substitutions that turn one sequence into the other. By hand: from `N AE SH N` to `N EY SH AH N`, substitute `EY` for `AE` and insert `AH`. That's 2.
#
# The computer fills a table. Entry $D_{ij}$ is the distance between the first $i$ symbols of $a$ and the first $j$ of $b$. The bracket is 1 if the symbols differ and 0 if not:
#
# $$D_{ij} = \min\big(D_{i-1,j} + 1,\;\; D_{i,j-1} + 1,\;\; D_{i-1,j-1} + [a_i \ne b_j]\big) , \qquad D_{i0} = i , \quad D_{0j} = j .$$

# %%
def edit_table(a, b):
    D = torch.zeros(len(a) + 1, len(b) + 1, dtype=torch.long)
    D[:, 0], D[0] = torch.arange(len(a) + 1), torch.arange(len(b) + 1)
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            diagonal = D[i - 1, j - 1] + (a[i - 1] != b[j - 1])
            D[i, j] = min(D[i - 1, j] + 1, D[i, j - 1] + 1, diagonal)
    return D


hypothesis, truth = "N AE SH N".split(), "N EY SH AH N".split()
table = edit_table(hypothesis, truth)
assert table[-1, -1] == metrics.edit_distance(hypothesis, truth) == 2

# %%
def cheapest_path(D, a, b):
    """True on one cheapest way between the upper left and the lower right corner."""
    i, j = len(a), len(b)
    path = torch.zeros_like(D, dtype=torch.bool)
    path[i, j] = True
    while i or j:
        if i and j and D[i, j] == D[i - 1, j - 1] + (a[i - 1] != b[j - 1]):
            i, j = i - 1, j - 1
        else:
            i, j = (i - 1, j) if i and D[i, j] == D[i - 1, j] + 1 else (i, j - 1)
        path[i, j] = True
    return path

# %%
path, ax = cheapest_path(table, hypothesis, truth), plotting.new_axes(4.2, 3.4)
plotting.number_grid(table, shades=table, marked=path, ordered=True, ax=ax)
ax.set_xticks([j + 0.5 for j in range(6)], ["", *truth])
ax.set_yticks([i + 0.5 for i in range(5)], ["", *hypothesis])
ax.set(xlabel="dictionary", ylabel="model says")
alt = "Edit distances of N AE SH N and N EY SH AH N, darker for more. A framed path"
plotting.show(ax, f"{alt} runs from 0 at the upper left to 2 at the lower right.")

# %% [markdown]
# *Follow the frames from the upper left: a step along the diagonal keeps a sound (no cost) or replaces it, a step to the right inserts one. The answer is in the lower right corner.*
#
# The **phoneme error rate**, PER, adds up the edits over all words and divides by the number of sounds in the references, once. If a word has several accepted pronunciations, the nearest one counts. The **word error rate**, WER, is the share of words that match none of theirs. By hand for two words:
#
# - `either`: the model says `AY DH ER`. Accepted are `IY DH ER` and `AY DH ER`. The nearest needs 0 edits and has 3 sounds.
# - `nation`: `N AE SH N` against `N EY SH AH N`: 2 edits, 5 sounds.
#
# PER $= \tfrac{0 + 2}{3 + 5} = 0.25$, WER $= \tfrac12$. A model that says nothing has PER 1: every sound must be inserted.

# %%
hypotheses = ["AY DH ER".split(), hypothesis]
references = [["IY DH ER".split(), "AY DH ER".split()], [truth]]
print("PER", metrics.phoneme_error_rate(hypotheses, references))
print("WER", metrics.word_error_rate(hypotheses, references))
print("PER of silence", metrics.phoneme_error_rate([[], []], references))

# %% [markdown]
# **Do exercise 3.5 now (10 minutes).**
#
# ### Given the truth, and alone
#
# In training the model read true sounds. Alone, it reads its own. Until its first mistake the two are the same. And afterwards? We count both ways alike: the edits of the whole word beyond the first mistake, divided by the sounds that come after it. To know which sound is the mistake, we take words with one accepted pronunciation only, every second one of *test*.

# %% tags=["nbval-ignore-output"]
widgets.predict(
    "3.2",
    "After its first mistake, how many times as many errors does the model make alone "
    "as it does when it is given the truth?",
    between=(0.5, 4.0),
    step=0.1,
)

# %% tags=["nbval-ignore-output"]
single = {word: listed[0] for word, listed in split("test").items() if len(listed) == 1}
words = list(single)[::2]
source = SPELLING.batch(words)  # (B, L_s)
true_sounds = [single[word] for word in words]
target = SOUNDS.batch(true_sounds, start=True, end=True)  # (B, L_t)
with torch.no_grad():
    picked = trained(source, target[:, :-1]).argmax(-1)  # (B, L_t - 1), given the truth
slips = (picked != target[:, 1:]) & (target[:, 1:] != PAD_ID)  # (B, L_t - 1)
said_alone = pronounce(trained, words)  # greedy
agree = sum(
    bool(slip.any()) == (said != true)
    for slip, said, true in zip(slips, said_alone, true_sounds, strict=True)
)
print(f"the two ways agree on which words are right: {agree / len(words):.1%} of them")
assert agree > 0.995 * len(words)

# %% tags=["nbval-ignore-output"]
forced, alone, rest = [], [], []  # edits beyond the first, and sounds left after it
for true, slip, row, said in zip(true_sounds, slips, picked, said_alone, strict=True):
    left = len(true) - int(slip.float().argmax()) - 1
    if slip.any() and left > 0:
        said_forced = [SOUNDS.symbols[i] for i in row[: len(true) + 1] if i > END_ID]
        forced.append(metrics.edit_distance(said_forced, true) - 1)
        alone.append(metrics.edit_distance(said, true) - 1)
        rest.append(left)

# %% tags=["nbval-ignore-output"]
truth_rate, alone_rate = sum(forced) / sum(rest), sum(alone) / sum(rest)
more = torch.tensor(alone).float() - torch.tensor(forced)  # (words,), paired
error = more.std() / len(more) ** 0.5
print(f"{len(more)} of {len(words)} words go wrong before their last sound")
print(f"errors per sound after that: truth {truth_rate:.2f}, alone {alone_rate:.2f}")
print(f"alone, a word has {more.mean():.2f} ± {error:.2f} more errors")
assert more.mean() > 3 * error

# %% tags=["nbval-ignore-output"]
widgets.came_out("3.2", round(alone_rate / truth_rate, 2))

# %% [markdown]
# As long as the model is right, its own sounds *are* the true ones, so the two ways agree on which words are right. After a mistake they part. Given the truth, the model is set straight at once. Alone, it reads its own mistake, a place where training never took it, and errs more often. The ± is the standard error over the words; each word is compared with itself. This gap is called **exposure bias** (Ranzato et al., 2016). The training loss doesn't show it, so we measure by decoding.

# %% [markdown]
# ## 3.7 What attention changes
#
# Two larger models come with the course. They were trained on all of *train* with the same recipe, one with attention and one without (`python -m experiments train recurrent`). We judge both on all words of *test*.

# %% tags=["nbval-ignore-output"]
by_length = ["words of 1 to 5 letters", "all words alike", "words of 12 or more"]
widgets.predict("3.3", "Which words lose most without attention?", choices=by_length)

# %% tags=["nbval-ignore-output"]
two = {"without": pretrained.load("recurrent_no_attention"), "with": trained}
for name, model in two.items():
    size = sum(parameter.numel() for parameter in model.parameters())
    print(f"{name} attention: {size:,} parameters")
rows_of = {k: bottleneck.counts_by_length(two[k], split("test")) for k in two}
per = {k: [row["edits"] / row["sounds"] for row in rows_of[k]] for k in two}
wer = {k: [row["wrong"] / row["words"] for row in rows_of[k]] for k in two}

# %% tags=["nbval-ignore-output"]
print("letters   words   PER without   with    WER without          with")
for i, row in enumerate(rows_of["with"]):
    low, high, n = row["shortest"], row["longest"], row["words"]
    print(f"{low:2} to {high:2} {n:7}", end="")
    print(f" {per['without'][i]:13.1%} {per['with'][i]:6.1%}", end="")
    for share in (wer["without"][i], wer["with"][i]):
        print(f"  {share:6.1%} ± {math.sqrt(share * (1 - share) / n):4.1%}", end="")
    print()
gaps = [a - b for a, b in zip(per["without"], per["with"], strict=True)]
assert abs(gaps[0]) < 0.02 < 0.04 < gaps[-1]

# %% tags=["nbval-ignore-output"]
widgets.came_out("3.3", by_length[2] if gaps[-1] > 2 * abs(gaps[0]) else by_length[1])

# %% tags=["nbval-ignore-output"]
test_lengths = torch.tensor([len(word) for word in split("test")]).float()  # (words,)
centers = torch.stack([
    test_lengths[(test_lengths >= low) & (test_lengths <= high)].mean()
    for low, high in bottleneck.GROUPS
])  # (5,)
axes = plotting.new_axes(9.0, 3.4, columns=2)
for ax, rates, unit in zip(axes, (per, wer), ("sounds", "words"), strict=True):
    lines = {f"{k} attention": 100 * torch.tensor(rates[k]) for k in two}
    names = {"xlabel": "letters in the word", "ylabel": f"wrong {unit} (%)"}
    plotting.curves(centers, lines, **names, ax=ax)
    ax.set_ylim(bottom=0)
alt = "Wrong sounds and wrong words by word length. With attention wrong sounds fall,"
alt += " without it they are highest for the longest words; wrong words are, for both."
plotting.show(axes[0], alt)

# %% [markdown]
# *Notice the right ends.* For short words the two are nearly equal; for long words the model without attention falls behind.
#
# *And notice the dashed lines.* With attention, the share of wrong *sounds* falls with length, while the share of wrong *words* rises. How can both be true? A long word has more chances to go wrong. If each of its $n$ sounds were wrong with the same probability $p$, on its own, the whole word would be right with probability $(1 - p)^n$. By hand, $p = 0.08$: with $n = 4$ sounds $0.92^4 = 0.72$ are right, with $n = 11$ only $0.92^{11} = 0.40$. Now each group with its own $p$, its PER:

# %% tags=["nbval-ignore-output"]
rows = rows_of["with"]
overall = sum(row["edits"] for row in rows) / sum(row["sounds"] for row in rows)
print("letters   sounds      PER  wrong words  1 - (1 - p)^n", end="")
print(f"  with p = {overall:.1%} for all")
for row, p, measured in zip(rows, per["with"], wer["with"], strict=True):
    n = row["sounds"] / row["words"]
    own, same = 1 - (1 - p) ** n, 1 - (1 - overall) ** n
    print(f"{row['shortest']:2} to {row['longest']:2} {n:7.1f} {p:8.1%}", end=" ")
    print(f"{measured:12.1%} {own:14.1%} {same:15.1%}")
    assert measured < own

# %% [markdown]
# Length alone would push the share of wrong words far up (last column). The falling PER works against it, and does not win. Measured, fewer words are wrong than the formula says, in every group: errors gather in some of the words, so they spoil fewer than if each fell on its own. Why an English sound is easier in a long word, this table doesn't say.
#
# ### Is it the bottleneck?
#
# Those were two runs, and the model with attention has more parameters. So here is a sweep: four sizes, five seeds, the same words, updates and learning rates for all, and for each model with attention a plain one with nearly as many parameters. It takes too long for a notebook (`python -m experiments bottleneck`), so its counts, on all words of *valid*, come with the course. The two models that you trained above are one pair of it.
#
# We also need a landmark: how far does one get with no model at all? Let a table say, for every letter, the sound that it has most often, whatever stands beside it.

# %%
runs = [{name: int(n) for name, n in row.items()} for row in read_rows("bottleneck")]
long = bottleneck.GROUPS[-1][0]  # 12


def per_of(attention, shortest):
    """Parameters (sizes,), and PER in percent (sizes, seeds)."""
    rows = [r for r in runs if (r["attention"], r["shortest"]) == (attention, shortest)]
    parameters = sorted({row["parameters"] for row in rows})
    found = [
        [100 * r["edits"] / r["sounds"] for r in rows if r["parameters"] == size]
        for size in parameters
    ]
    return torch.tensor(parameters), torch.tensor(found)

# %%
heard = {letter: Counter() for letter in SPELLING.symbols}
for word, listed in split("train").items():
    if len(word) == len(listed[0]):  # as many sounds as letters: one for each
        for letter, sound in zip(word, listed[0], strict=True):
            heard[letter][sound] += 1
usual = {letter: n.most_common(1)[0][0] for letter, n in heard.items() if n}
groups, landmark = {1: "1 to 5 letters", long: "12 letters or more"}, {}
for (shortest, name), longest in zip(groups.items(), (5, 40), strict=True):
    ours = {w: s for w, s in split("valid").items() if shortest <= len(w) <= longest}
    by_letter = [[usual[letter] for letter in word] for word in ours]
    landmark[shortest] = 100 * metrics.phoneme_error_rate(by_letter, [*ours.values()])
    print(f"letter by letter, words of {name}: {landmark[shortest]:.1f} % wrong")

# %%
axes = plotting.new_axes(9.0, 3.4, columns=2)
for ax, shortest in zip(axes, groups, strict=True):
    (sizes, yes), (_, without) = per_of(1, shortest), per_of(0, shortest)
    lines = {"without attention": without.mean(1), "with attention": yes.mean(1)}
    names = {"xlabel": "parameters", "ylabel": "wrong sounds (%)"}
    plotting.curves(sizes, lines, **names, ax=ax)
    for row in (*without.T, *yes.T):  # a dot for each seed
        ax.plot(sizes.tolist(), row.tolist(), ".", color="0.45", zorder=3)
    ax.axhline(landmark[shortest], color="0.45", linestyle=":")
    ax.text(sizes[-1], landmark[shortest] + 1, "letter by letter", ha="right")
    ax.set(xscale="log", ylim=(0, 75), title=f"words of {groups[shortest]}")
    ax.set_xticks(sizes.tolist(), [f"{size / 1000:.0f}k" for size in sizes.tolist()])
    ax.minorticks_off()
alt = "Wrong sounds by parameters, short words left, long right, a dot for each seed."
plotting.show(axes[0], f"{alt} For long words the lines are far apart at every size.")

# %%
print("parameters            ", *(f"{size:12,}" for size in sizes.tolist()))
for shortest, name in groups.items():
    gap = per_of(0, shortest)[1] - per_of(1, shortest)[1]  # (sizes, seeds), paired
    print(f"gap, {name:18}", end="")
    for mean, spread in zip(gap.mean(1), gap.std(1), strict=True):
        print(f"   {mean:4.1f} ± {spread:.1f}", end="")
    print()
least, most = per_of(1, long)[1][0], per_of(0, long)[1][-1]  # (seeds,) each
few, many = sizes[0].item(), per_of(0, long)[0][-1].item()
print(f"{name}: with attention, {few:,} parameters: {least.mean():.1f} %")
print(f"{name}: without, {many:,}, {many / few:.0f} times as many: {most.mean():.1f} %")

# %% [markdown]
# *Each dot is one seed, and the dotted line is the table that reads letter by letter. Below the picture: the gap in percentage points, its mean and spread over the seeds.* On long words the smallest plain model doesn't even reach the table. As the models grow, the gap on short words nearly closes. On long words much of it stays. Making the plain model wider does help it, as a wider bottleneck should, but the smallest model with attention reads long words about as well as a plain one with more than twenty times its parameters.
#
# What this doesn't show is that the summary is too *small*. The plain model may only be slower to learn what to put into it: the shipped pair had far more training, and there the gap on long words is smaller (the first table of this section). Either way, handing over all the states is the better bargain.

# %% [markdown]
# ## 3.8 Reading an alignment
#
# Type any word and press Enter: your name, a word with silent letters, a word that doesn't exist. First the static picture, then the widget.

# %% tags=["nbval-ignore-output"]
typed = widgets.alignment_viewer(trained, "knights")
typed.show_first_state(
    "Alignment of knights: N looks at k and n, AY at n and i, T at the letters from i "
    "to t, S at t and s. The word is held out, and the model is right."
)

# %% tags=["nbval-ignore-output"]
typed

# %% [markdown]
# *Each row is a sound and sums to 1.* English is read from left to right, so the look should move to the right and never back. Two words prove little, so let's count over many:

# %% tags=["nbval-ignore-output"]
long_words = [word for word in split("test") if len(word) >= 8][::8]
source = SPELLING.batch(long_words)  # (B, L_s)
tokens = greedy_decode(trained, source, max_len=MAX_PHONEMES).tokens  # (B, L_t)
start = torch.full((len(source), 1), START_ID)
with torch.no_grad(), record_attention(trained) as record:
    trained(source, torch.cat((start, tokens[:, :-1]), dim=1))
weights = torch.cat(record.calls("attention"), dim=1)  # (B, L_t, L_s)
real = tokens != PAD_ID  # (B, L_t)
place = (weights * torch.arange(source.shape[1])).sum(-1)  # (B, L_t): mean place
forward = (place.diff(dim=1) > 0)[real[:, 1:]].float().mean().item()
print(f"{len(long_words)} words: {forward:.1%} of the steps look further to the right")
assert forward > 0.95

# %% [markdown]
# The model has found out by itself which way to read. **But read the picture with care.** A weight belongs to a *state*, and a state is not a letter: the GRU has mixed the neighbors in. How much? Take the state in the middle of a word, and measure by gradients how strongly each letter around it can move it.

# %% tags=["nbval-ignore-output"]
rng, shares = torch.Generator().manual_seed(0), []
for word in [word for word in split("test") if len(word) >= 9][::40]:
    middle = len(word) // 2
    letters = trained.encoder.embedding(SPELLING.batch([word])).detach()
    letters.requires_grad_()
    states, _ = trained.encoder.gru(letters)  # (1, L_s, 2 d_hidden)
    probes = torch.randn(8, states.shape[-1], generator=rng)  # mixtures of entries
    slopes = [
        torch.autograd.grad(states[0, middle] @ probe, letters, retain_graph=True)[0][0]
        for probe in probes
    ]
    moved = torch.stack(slopes).square().sum((0, 2))  # (L_s,)
    shares.append(moved[middle - 3 : middle + 4] / moved.sum())

# %% tags=["nbval-ignore-output"]
share = torch.stack(shares).mean(0)  # (7,)
for offset, part in zip(range(-3, 4), share, strict=True):
    print(f"letter {offset:+d}: {part:.0%}", end="   ")
assert share.argmax() == 3 and share[3] < 0.8

# %% [markdown]
# A letter's own state (+0) is moved most by that letter, but its neighbors have a good part of it. So a sound may look at the state *beside* its letter and find it there. A heatmap shows where a model looks, not what it finds there, and not why it decides (lesson 06 comes back to that). To learn whether a look *matters*, change it and measure: that is the open experiment, **exercise 3.8**.

# %% [markdown]
# ## What goes wrong
#
# **The mask after the softmax, without dividing again.** The padding's weights become 0, but the softmax has already given it a share. How you would notice: the weights of a short word no longer sum to 1 once a long word is in the same batch. A word must not depend on its neighbors in the batch.

# %%
@torch.no_grad()
def first_scores(batch):
    """Scores (L_s,) and mask (L_s,) of the batch's first word, in its first step."""
    state = trained.start_decoding(SPELLING.batch(batch))
    s, (W_q, W_k, w_v) = state.hidden[0], matrices
    scores = [w_v @ torch.tanh(W_q @ s + W_k @ h_j) for h_j in state.encoded.states[0]]
    return torch.stack(scores), state.encoded.mask[0, 0]


for batch in (["box"], ["box", "internationalization"]):
    scores, real = first_scores(batch)
    weights = torch.softmax(scores, -1) * real
    print(f"box in a batch of {len(batch)}: {weights[:3]}   sum {weights.sum():.2f}")

# %% [markdown]
# **An error rate that divides by the wrong thing**: by the length of what the model *said*, or word by word. All three numbers look like error rates; one is right.

# %% tags=["nbval-ignore-output"]
some = list(single)[::12]  # words with one accepted pronunciation
said, rights = pronounce(trained, some), [single[word] for word in some]
edits = [metrics.edit_distance(one, r) for one, r in zip(said, rights, strict=True)]
by_reference = sum(edits) / sum(map(len, rights))
print(f"edits / sounds of the references: {by_reference:.2%}   (this is the PER)")
print(f"edits / sounds that were said:    {sum(edits) / sum(map(len, said)):.2%}")
own = [e / len(r) for e, r in zip(edits, rights, strict=True)]
print(f"mean of the words' own rates:     {sum(own) / len(own):.2%}")
assert by_reference == metrics.phoneme_error_rate(said, [[r] for r in rights])

# %% [markdown]
# They are close, which is what makes the wrong ones dangerous. Dividing by what was said rewards a model that says more. Averaging word by word makes a sound in a short word count for more than one in a long word.

# %% [markdown]
# ## In practice
#
# - The decoder is a loop, in training too: step $t$ needs $s_{t-1}$. Hardware that could do many things at once has to wait.
# - $W_k h_j$ does not depend on the step. Code that decodes computes it once per word and keeps it. Lesson 07 does the same with keys and values, under the name of a cache.
# - Names elsewhere: encoder states are *annotations* (Bahdanau), *encoder outputs* or *memory*; scores are *energies*; weights are *alignments*.
# - Giving true symbols with some probability and the model's own otherwise is *scheduled sampling*, one remedy for exposure bias.
# - Real systems look a word up in the dictionary first, and ask a model for the rest.

# %% [markdown]
# ## Recap
#
# 1. **Encoder-decoder**: a GRU in both directions reads, a second one writes. Without attention all that the decoder gets is the summary, which has one size for every word: the bottleneck.
# 2. **Attention**: query $s_{t-1}$, keys and values $h_j$, additive score, softmax over the real letters. Look, step, speak: the context comes from the state before the step.
# 3. **Teacher forcing** gives the true symbols in training. Greedy decoding gives the model's own, until the end symbol. They agree up to the first mistake; after it, the model alone errs more often.
# 4. **PER**: edits to the nearest accepted pronunciation, over all words, divided once by the sounds of those pronunciations.
# 5. **Fair comparison**: same parameters, same updates, several seeds. Attention helps long words most. An alignment shows where the model looks, and a state holds its neighbors too.
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
#
# Your predictions, and what came out:

# %% tags=["nbval-ignore-output"]
widgets.predictions()

# %% [markdown]
# ## When you need it
#
# **Another order, and other scores.** Luong, Pham and Manning (2015) step first and look with the *new* state, $s_t$; the context joins it afterwards, on the way to the logits. Both orders work, each with weights trained for it. They compare three scores: *dot*, $s_t^\top h_j$; *general*, $s_t^\top W h_j$; and *concat*, $w_v^\top \tanh(W\,[\,s_t;\, h_j\,])$. The last one is the additive score: cut $W$ in two and it is $W_q$ beside $W_k$.

# %%
W = torch.cat(matrices[:2], dim=1)  # (d_att, d_hidden + 2 d_hidden): W_q beside W_k
s, h_j = state.hidden[0], state.encoded.states[0, 2]
concat = matrices[2] @ torch.tanh(W @ torch.cat((s, h_j)))
additive = matrices[2] @ torch.tanh(matrices[0] @ s + matrices[1] @ h_j)
assert torch.allclose(concat, additive, atol=1e-5)
print(f"concat {concat:.3f}, additive {additive:.3f}")

# %% [markdown]
# **PyTorch's GRU and the paper's.** In Cho et al. (2014) $r$ multiplies $h$ before $U_n$ does; PyTorch, and this lesson, let it multiply $U_n h + c_n$.
#
# **How the words were split.** A hash of the word decides: the first 8 bytes of its SHA-256 as a number, modulo 20. Remainder 0 is test, 1 is valid, the rest is train. So a word stays where it is whatever release of the dictionary is installed, and nobody chose. What the split doesn't do: *attend* and *attended* may fall on different sides.

# %%
for word in ("nation", "knights", "physics"):
    remainder = int.from_bytes(hashlib.sha256(word.encode()).digest()[:8], "big") % 20
    assert split_of(word) == {0: "test", 1: "valid"}.get(remainder, "train")
    print(f"{word:8} remainder {remainder:2}: {split_of(word)}")

# %% [markdown]
# **A decoder that remembers where it has been.** Chorowski et al. (2015) let the score see the weights of the step before (exercise 3.2). See, Liu and Manning (2017) give it the sum of all earlier weights, the *coverage*, and add a penalty for looking twice at the same place. The first was made for long recordings, where a model that only matches contents gets lost among similar stretches; the second, for summaries that repeat themselves.

# %% [markdown]
# ## Check yourself
#
# <details><summary>1. Somebody doubles d_hidden in the model without attention. Does that remove the bottleneck?</summary>
#
# **No, it widens it.** The summary still has one size for all words, so there can always be a word that is too long for it. (A larger *decoder* doesn't help either: it can't use what it isn't told.)
# </details>
#
# <details><summary>2. The batch holds the words ox and internationalization. How many letters may ox look at, and what enforces it?</summary>
#
# **Two, and the mask enforces it.** All other positions of its row are padding, and their scores become minus infinity before the softmax. (Zeros in the padding's states wouldn't do: they still get a score, and so a weight.)
# </details>
#
# <details><summary>3. The target is &lt;start&gt; B AA K S &lt;end&gt;. What does the decoder read at the step that should say S, and what is it compared with at the last step?</summary>
#
# **It reads K; the last step is compared with the end symbol.** (Not S: then the model would only have to copy. Not the sound it said itself: that is greedy decoding. And if the end symbol were left out, the model would never learn to stop.)
# </details>
#
# <details><summary>4. Accepted is IY DH ER or AY DH ER, the model says AY DH. What does this word add to the PER, above and below the line?</summary>
#
# **1 edit above, 3 sounds below.** The nearest is the second, with one insertion. (Not 2 below: that is the length of what was said. Not 6: only the nearest one counts.)
# </details>
#
# <details><summary>5. In a heatmap the sound S looks mostly at the letter t, in a word that ends in ts. Is the attention broken?</summary>
#
# **Not necessarily.** The state at *t* has read the *s* as well, in the backward direction, so the decoder may find there what it needs. (The picture alone proves neither a fault nor its absence; the error rate does.)
# </details>
#
# {{next_steps}}

# %% [markdown]
# ## References
#
# - Bahdanau, Cho, Bengio, *Neural Machine Translation by Jointly Learning to Align and Translate*, 2015 (first posted in 2014), sections 3, 5 and appendix A: the model of this lesson, and the curve over sentence length that ours repeats over word length.
# - Graves, *Generating Sequences With Recurrent Neural Networks*, 2013, section 5: the soft window, which moves along a text while the network draws it by hand.
# - Cho et al., *Learning Phrase Representations using RNN Encoder-Decoder for Statistical Machine Translation*, 2014, section 2: the encoder-decoder without attention, and the GRU.
# - Sutskever, Vinyals, Le, *Sequence to Sequence Learning with Neural Networks*, 2014: the other encoder-decoder of that year, with LSTMs.
# - Luong, Pham, Manning, *Effective Approaches to Attention-based Neural Machine Translation*, 2015, section 3: step first, look afterwards, and the scores dot, general and concat.
# - Chorowski et al., *Attention-Based Models for Speech Recognition*, 2015: scores that see where the last step looked. See, Liu, Manning, *Get To The Point: Summarization with Pointer-Generator Networks*, 2017: coverage.
# - Williams, Zipser, *A Learning Algorithm for Continually Running Fully Recurrent Neural Networks*, 1989: the source of teacher forcing.
# - Ranzato, Chopra, Auli, Zaremba, *Sequence Level Training with Recurrent Neural Networks*, 2016: what exposure bias is, and one cure. Bengio, Vinyals, Jaitly, Shazeer, *Scheduled Sampling for Sequence Prediction with Recurrent Neural Networks*, 2015: another.
# - Levenshtein, *Binary Codes Capable of Correcting Deletions, Insertions, and Reversals*, 1966, and Wagner, Fischer, *The String-to-String Correction Problem*, 1974: the distance, and its table.
# - Toshniwal, Livescu, *Jointly Learning to Align and Convert Graphemes to Phonemes with Neural Attention Models*, 2016: our task with attention.
