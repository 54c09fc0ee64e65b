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
# By the end you can build the recurrent encoder-decoder that brought attention into translation, train it to pronounce English words, and show what attention changes and what it doesn't.
#
# {{colab_link}} · short path about 65 minutes with its exercises (45 + 20), everything about 4 hours · builds on lessons 00 to 02

# %% tags=["setup"]
import copy
import hashlib
import math
import sys
from collections import Counter
from dataclasses import replace

import torch
import torch.nn.functional as F
from torch import nn
from tqdm import tqdm

from course_utils import diagrams, metrics, plotting, pretrained, training, widgets
from course_utils.datasets.pronunciations import pronunciations, split, split_of
from course_utils.decoding import greedy_decode
from course_utils.models.recurrent import RecurrentSeq2Seq
from course_utils.pretrained.pronunciation import MAX_PHONEMES, SOUNDS, SPELLING
from course_utils.pretrained.pronunciation import align, error_rates, pronounce
from course_utils.recording import record_attention
from course_utils.results import read_rows
from course_utils.small_models import bottleneck, reordering
from course_utils.tokenizers import END_ID, PAD_ID, START_ID
from course_utils.training.losses import target_symbols, teacher_forced_loss

torch.set_printoptions(precision=3, sci_mode=False, linewidth=100)
torch.set_num_threads(1)  # small tensors: sharing them out takes longer than the work

# %% [markdown]
# **You will learn to**
#
# 1. build a GRU encoder-decoder, and say where its bottleneck is;
# 2. let the decoder attend to all encoder states, with the right query, mask and time step;
# 3. train with teacher forcing, and decode greedily until an end symbol;
# 4. find out by controls what attention is good for, and on which task it shows;
# 5. read an alignment with care, and test what it suggests by changing one state.
#
# Lesson 02 built a soft lookup. Bahdanau, Cho and Bengio put one into a translator in 2014, three years before the Transformer. We use much the same model to pronounce words, a real task that is small enough for a laptop.

# %% [markdown]
# ## Predict first
#
# *Core · 2 minutes*
#
# Say `nation`, `thought` and `box` aloud. How many *sounds* does each have? For every sound, write down which letters you must look at to know it.

# %%
for word in ("nation", "thought", "box"):
    sounds = pronunciations()[word][0]
    print(f"{word:8} {len(word)} letters   {len(sounds)} sounds   {' '.join(sounds)}")

# %% [markdown]
# The symbols are ARPAbet, an alphabet of sounds: `SH` as in *she*, `EY` as in *day*, `TH` as in *thin*. In `thought` four letters make one vowel, and in `box` one letter makes two sounds. What you wrote down is an **alignment**.

# %% [markdown]
# ## 3.1 The task, and a model that has learned it
#
# *Core · 4 minutes*
#
# In a **sequence-to-sequence** task one sequence goes in, another comes out, and their lengths may differ. Ours comes from the CMU Pronouncing Dictionary, without its stress marks. Some words have several **accepted** pronunciations.

# %% tags=["nbval-ignore-output"]
several = sum(len(accepted) > 1 for accepted in pronunciations().values())
print(f"{len(pronunciations()):,} words, {several:,} with several pronunciations")
print({name: f"{len(split(name)):,}" for name in ("train", "valid", "test")})
for accepted in pronunciations()["either"]:
    print("either:", " ".join(accepted))

# %% [markdown]
# Here is a model with attention that was trained on all of *train* and has never seen these words.

# %%
trained = pretrained.load("recurrent_attention")
held_out = ["recognition", "knights", "physics"]
for word, sounds in zip(held_out, pronounce(trained, held_out), strict=True):
    verdict = "right" if sounds in pronunciations()[word] else "wrong"
    print(f"{word:12} {split_of(word):6} {' '.join(sounds):28} {verdict}")

# %% [markdown]
# While it says a sound, the model looks back at the letters, with weights that sum to 1. It was never told which letter belongs to which sound.

# %% tags=["nbval-ignore-output"]
widgets.predict(
    "3.A",
    "The model says SH in recognition. It looks mostly at the last four letters. "
    "How much of that look does each of them get?",
    shares=["t", "i", "o", "n"],
)

# %% tags=["nbval-ignore-output"]
seen = align(trained, "recognition")
last_four = seen.weights[seen.sounds.index("SH"), -4:]  # (4,)
widgets.came_out("3.A", last_four / last_four.sum())

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
# *Point at a sound, and its row (the "query") shows which letters (the "keys") it looked at. The large weights run from the upper left to the lower right.*
#
# The *t* sounds like `SH` because *ion* comes after it, and yet the model hardly looks at *ion*. How does it know? Section 3.8 finds out by surgery.
#
# Letters and sounds become whole numbers. Number 0 is padding, 1 starts and 2 ends a sequence. Targets have both, so that the decoder can begin from one and learn when to stop.

# %%
words = ["nation", "box", "thought"]
source = SPELLING.batch(words)  # (B=3, L_s=7)
first = [pronunciations()[word][0] for word in words]
target = SOUNDS.batch(first, start=True, end=True)  # (B=3, L_t=7)
print("source\n", source, "\ntarget\n", target)

# %% [markdown]
# ## 3.2 The encoder reads: a GRU in both directions
#
# *Core · 5 minutes*
#
# A recurrent network (lesson 00) reads letter by letter and keeps a state. A **gated recurrent unit**, GRU, has two gates, numbers between 0 and 1 for each entry of the state:
#
# - the **update gate** $z$ says what share of the old state is kept;
# - the **reset gate** $r$ says how much of the old state may take part in the *proposal* $n$ for the new one.
#
# With $x$ the embedding of a letter and $h$ the state:
#
# $$r = \sigma(W_r x + b_r + U_r h + b'_r) , \qquad z = \sigma(W_z x + b_z + U_z h + b'_z) ,$$
# $$n = \tanh\big(W_n x + b_n + r \odot (U_n h + b'_n)\big) , \qquad h' = (1 - z) \odot n + z \odot h .$$
#
# $\sigma$ is the sigmoid, and $\odot$ multiplies entry by entry. $x$ has shape $(d_{embed})$, $h$, $b$ and $b'$ have $(d_{hidden})$, the $W$ have $(d_{hidden}, d_{embed})$ and the $U$ have $(d_{hidden}, d_{hidden})$.
#
# Take a state with one entry, $h = 0.8$, and let all weights be 0 but $b_z = \ln 3$. Then $z = \tfrac{3}{1 + 3} = \tfrac34$ and $n = \tanh 0 = 0$, which gives $h' = \tfrac14 \cdot 0 + \tfrac34 \cdot 0.8 = 0.6$. With $U_n = 1$ as well, the proposal is $\tanh(\tfrac12 \cdot 0.8) = 0.38$. Close the reset gate ($b_r = -20$), and it is 0 again.

# %%
def gru_step(x, h, W, U, b, b2):
    (W_r, W_z, W_n), (U_r, U_z, U_n) = W.chunk(3), U.chunk(3)
    (b_r, b_z, b_n), (b2_r, b2_z, b2_n) = b.chunk(3), b2.chunk(3)
    r = torch.sigmoid(x @ W_r.T + b_r + h @ U_r.T + b2_r)  # (B, d_hidden)
    z = torch.sigmoid(x @ W_z.T + b_z + h @ U_z.T + b2_z)  # (B, d_hidden)
    n = torch.tanh(x @ W_n.T + b_n + r * (h @ U_n.T + b2_n))  # (B, d_hidden)
    return (1 - z) * n + z * h  # (B, d_hidden)


# %%
none, U_n = torch.zeros(3, 1), torch.tensor([[0.0], [0.0], [1.0]])
x, h, b2 = torch.zeros(1, 1), torch.tensor([[0.8]]), torch.zeros(3)
cases = {"b_z = ln 3": (none, 0), "U_n = 1 too": (U_n, 0), "reset shut": (U_n, -20)}
for name, (U, b_r) in cases.items():
    after = gru_step(x, h, none, U, torch.tensor([b_r, math.log(3), 0.0]), b2)
    print(f"{name:12} the state 0.80 becomes {after.item():.3f}")

# %%
torch.manual_seed(0)
cell = nn.GRUCell(5, 6)  # keeps its three matrices stacked, in the order r, z, n
x, h = torch.randn(2, 5), torch.randn(2, 6)  # (B, d_embed), (B, d_hidden)
same = torch.allclose(gru_step(x, h, *cell.parameters()), cell(x, h), atol=1e-6)
print("gru_step equals nn.GRUCell:", same)

# %% [markdown]
# Reading forward, you know nothing of the letters to come, so the word is read twice, once from each end, and the two states at letter $j$, put side by side, make the **encoder state** $h_j$, of shape $(2 d_{hidden})$. Its forward half has read the letters up to $j$, its backward half those from $j$ to the end. The **summary** is the last state of each direction, also $(2 d_{hidden})$.

# %%
torch.manual_seed(0)
V = len(SOUNDS)
sizes = {"d_embed": 8, "d_hidden": 16}
plain = RecurrentSeq2Seq(len(SPELLING), V, attention=False, **sizes).eval()
with torch.no_grad():
    encoded = plain.encoder(source)  # three words, padded to 7 letters
    alone = plain.encoder(SPELLING.batch(["box"]))
for name, part in encoded._asdict().items():
    print(f"{name:8} {tuple(part.shape)}")
same = torch.allclose(encoded.states[1, :3], alone.states[0], atol=1e-6)
print("box in the batch has the states of box alone:", same)

# %% [markdown]
# The padding is never read. The mask is True at real letters.

# %% [markdown]
# ## 3.3 The decoder writes, through a bottleneck
#
# *Core · 3 minutes*
#
# The **decoder** is a second GRU. Before attention, all it got was the summary.

# %%
sounds = [*pronunciations()["nation"][0], "<end>"]
plotting.show(diagrams.unrolled(list("nation"), sounds, at=5))

# %% [markdown]
# *All that the decoder learns of the word passes through the box marked summary. It makes the first state, and every step reads it again.*
#
# At step $t$ the decoder reads the sound before, $y_{t-1}$, and a **context** $c_t$:
#
# $$s_0 = \tanh(W_0\, \text{summary} + b_0) , \qquad s_t = \text{GRU}\big([\,E(y_{t-1});\, c_t\,],\; s_{t-1}\big) ,$$
# $$\text{logits}_t = W_o\,[\,s_t;\, c_t;\, E(y_{t-1})\,] + b_o .$$
#
# $s_t$, of shape $(d_{hidden})$, is the decoder's state; $W_0$ has shape $(d_{hidden}, 2 d_{hidden})$. $E$ is the table of the sounds' embeddings, and $[\,;\,]$ puts vectors side by side. The logits have one entry for each of the $V$ sounds. Without attention, $c_t$ is the summary at every step.
#
# How many numbers does the decoder get about `ox`, and how many about `internationalization`?

# %%
for word in ("ox", "nation", "internationalization"):
    with torch.no_grad():
        encoded = plain.encoder(SPELLING.batch([word]))
    numbers, all_states = encoded.summary.numel(), encoded.states.numel()
    print(f"{word:21} {len(word):2} letters", end="   ")
    print(f"summary {numbers}   all states {all_states:3}")

# %% [markdown]
# A long word gets no more numbers than a short one. That is the **bottleneck**.

# %% [markdown]
# ## 3.4 Attention: look, step, speak
#
# *Core · 6 minutes*
#
# Bahdanau's idea was to hand over all the encoder's states, and to let the decoder look the context up anew at every step. Here the trained model has said `N` and is about to say the next sound of `knights`.

# %%
knights = align(trained, "knights")
frame = (list("knights"), knights.sounds, knights.weights)
plotting.show(diagrams.look_step_speak(*frame, at=1))

# %% [markdown]
# *From left to right.* **Look**: the state *before* the step, $s_{t-1}$, asks, and the weights (2 % and more are drawn) say how much each letter answers. **Step**: the GRU reads the context and the sound before, and moves on to $s_t$. **Speak**: the logits come from $s_t$, $c_t$ and the embedding. It's lesson 02's soft lookup, with the **query** $s_{t-1}$ and the encoder's states $h_j$ as both **keys** and **values**.
#
# Two letters and one padding: $h = (4, 0), (0, 8), (9, 9)$, scores $0, \ln 3, 5$. The exponentials of the real ones are 1 and 3, which makes the weights $\tfrac14, \tfrac34, 0$ and the context $\tfrac14 (4, 0) + \tfrac34 (0, 8) = (1, 6)$. The score is lesson 02's additive one:
#
# $$e_{tj} = w_v^\top \tanh(W_q\, s_{t-1} + W_k\, h_j) , \qquad \alpha_{tj} = \frac{e^{e_{tj}}}{\sum_{m \text{ real}} e^{e_{tm}}} , \qquad c_t = \sum_{j \text{ real}} \alpha_{tj}\, h_j .$$
#
# $W_q$ has shape $(d_{att}, d_{hidden})$, $W_k$ has $(d_{att}, 2 d_{hidden})$, $w_v$ has $(d_{att})$. Here is one step for one word.

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
print("step 1:  ", *(f"{a} {w:.2f}  " for a, w in zip("knights", weights, strict=True)))
used = zip("knights", knights.weights[0], strict=True)
print("recorded:", *(f"{a} {w:.2f}  " for a, w in used))

# %% [markdown]
# **Do [exercise 3.1](../exercises/03_seq2seq_with_attention.ipynb) now (15 minutes), then read on.** It asks for all words of a batch at once. Here is the whole model, drawn from a run.

# %%
torch.manual_seed(0)
attentive = RecurrentSeq2Seq(len(SPELLING), V, attention=True, **sizes).eval()
plotting.show(diagrams.decoder_step(attentive, (source, target[:, :6])))

# %% [markdown]
# *Inside the dashed frame everything waits for the step before it, in training too, and the dashed blue arrow is the recurrence. Outside the frame everything runs once.* In training, the Transformer gets rid of the frame (lesson 10).
#
# **Do exercise 3.7 now (5 minutes): find out from its weights which vector a decoder asked with.** Exercises 3.2 and 3.6 go further.

# %% [markdown]
# ## 3.5 Learn with the truth, speak alone
#
# *Core · 6 minutes*
#
# In training, should the decoder read as $y_{t-1}$ what it *said*, or what it *should have said*? Under **teacher forcing** it is given the true sounds.
#
# | step | 1 | 2 | 3 | 4 | 5 | 6 |
# |---|---|---|---|---|---|---|
# | given | `<start>` | `N` | `EY` | `SH` | `AH` | `N` |
# | wanted | `N` | `EY` | `SH` | `AH` | `N` | `<end>` |
#
# The loss is the **cross-entropy**, the mean of $-\ln p$ over all wanted symbols, where $p$ is the probability that the model gave to the right one. The end symbol counts, padding doesn't. For two symbols with $p = \tfrac12$ and $p = \tfrac18$ that is $\tfrac12(\ln 2 + \ln 8) = \ln 4 = 1.39$. (Exercise 3.3 writes a loss for several accepted pronunciations.) A model that guesses evenly pays $\ln V$ for each symbol, and a fresh one about as much.

# %%
right, sure = torch.tensor([0, 0]), torch.tensor([[0.5, 0.5], [0.125, 0.875]])
loss = F.cross_entropy(sure.log(), right)
print(f"worked out {math.log(4):.2f}, cross_entropy {loss:.2f}")
with torch.no_grad():
    fresh = teacher_forced_loss(attentive, (source, target))
print(f"fresh model {fresh:.2f}, even guessing ln {V} = {math.log(V):.2f}")

# %% [markdown]
# Now train two models on every sixth word of *train*, with and without attention. The plain one gets a slightly larger $d_{hidden}$, to have about as many parameters. All else is the same.

# %% tags=["nbval-ignore-output"]
some_words = dict(list(split("train").items())[:: bottleneck.EVERY])
ahead = bottleneck.epochs_of(some_words)  # one list of batches for each epoch
num_steps = sum(map(len, ahead))
print(f"{len(some_words):,} words, {num_steps} updates")


def rate(step):
    return training.one_cycle_rate(step, num_steps, peak=bottleneck.PEAK)

# %% tags=["nbval-ignore-output"]
def train(context, d_hidden):
    training.seed_everything(0)
    model = bottleneck.build(context, d_hidden)
    more = {"epochs": len(ahead), "rate": rate, "weigh": target_symbols}
    return model, training.fit(model, ahead.__getitem__, teacher_forced_loss, **more)


small = {"without attention": train("summary", 34), "with": train("attention", 32)}

# %% tags=["nbval-ignore-output"]
some_valid = dict(list(split("valid").items())[::10])
for name, (model, history) in small.items():
    size = sum(parameter.numel() for parameter in model.parameters())
    per = error_rates(model, some_valid)["PER"]
    print(f"{name:18} {size:,} parameters   loss by epoch", end=" ")
    print(*(f"{loss:.2f}" for loss in history.losses), end="   ")
    print(f"PER {per:.0%}, {len(some_valid)} words of valid")

# %% [markdown]
# The **phoneme error rate**, PER, counts the sounds that must be inserted, deleted or replaced to make the output right, and divides by the number of sounds in the nearest accepted pronunciations (section 3.6). Attention does better here, with one seed and size. Section 3.7 has more.
#
# After training there are no true sounds to give. In **greedy decoding** the decoder reads its own most probable symbol, until that is the end symbol.

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
# Without that `if` the loop runs on to its limit. In a batch, words end at different steps, and those that have ended must wait for the others (exercise 3.4).

# %% [markdown]
# ## 3.6 How wrong, and after the first mistake
#
# *More · 20 minutes*
#
# A pronunciation with one sound missing is better than one that is wrong throughout. The **edit distance** counts the fewest insertions, deletions and substitutions that turn one sequence into the other. From `N AE SH N` to `N EY SH AH N`, substitute `EY` for `AE` and insert `AH`, which makes 2. The computer fills a table. Entry $D_{ij}$ is the distance between the first $i$ symbols of $a$ and the first $j$ of $b$; the bracket is 1 if the symbols differ and 0 if not:
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
print(table)
print("edit distance", metrics.edit_distance(hypothesis, truth))

# %% [markdown]
# The answer is in the lower right corner. A step along the diagonal keeps a sound (no cost) or replaces it, a step to the right inserts one, a step down deletes one.
#
# The PER adds up the edits over all words and divides by the number of sounds in the nearest references, once. The **word error rate**, WER, is the share of words that match none of theirs. Take two words.
#
# - `either`: the model says `AY DH ER`. Accepted are `IY DH ER` and `AY DH ER`. The nearest needs 0 edits and has 3 sounds.
# - `nation`: `N AE SH N` against `N EY SH AH N`: 2 edits, 5 sounds.
#
# PER $= \tfrac{0 + 2}{3 + 5} = 0.25$, WER $= \tfrac12$. A model that says nothing has PER 1, since every sound must be inserted.

# %%
hypotheses = ["AY DH ER".split(), hypothesis]
references = [["IY DH ER".split(), "AY DH ER".split()], [truth]]
print("PER", metrics.phoneme_error_rate(hypotheses, references))
print("WER", metrics.word_error_rate(hypotheses, references))
print("PER of silence", metrics.phoneme_error_rate([[], []], references))

# %% [markdown]
# **Do exercise 3.5 now (20 minutes).** It tells wrong sounds from missing and extra ones.
#
# ### Given the truth, and alone
#
# In training the model read true sounds. Alone, it reads its own. Until its first mistake the two are the same. And afterwards? We count both ways alike, as the edits of the whole word beyond the first mistake, divided by the sounds that come after it. We use every second word of *test* that has one accepted pronunciation only, so that there is no doubt which sound is the mistake.

# %% tags=["nbval-ignore-output"]
widgets.predict(
    "3.B",
    "After its first mistake, the model goes on, once alone and once with the true "
    "sounds to read. How many errors does it make alone for each one that it makes "
    "with the truth?",
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
print(f"alone, a word has {more.mean():.2f} ± {error:.2f} (standard error) more errors")

# %% tags=["nbval-ignore-output"]
widgets.came_out("3.B", round(alone_rate / truth_rate, 2))

# %% [markdown]
# Alone, the model errs more often after a mistake. The usual explanation is **exposure bias** (Ranzato et al., 2016): it now reads its own mistake, a place where training never took it. But the measurement mixes this with something else. A true sound also *tells* the model something about the rest of the word, and the model alone isn't told. Here is a speaker with no bad habits at all, because it knows the exact probabilities. A word is `A A A A` in 60 of 100 cases and `B B B B` in 40. The truth is `B B B B`.

# %%
chances, true = {"AAAA": 0.6, "BBBB": 0.4}, "BBBB"


def exact_speaker(given=""):
    """At each step the next symbol of the most probable word that still fits."""
    said = ""
    for t in range(4):
        before = given[:t] if given else said
        fits = {word: p for word, p in chances.items() if word.startswith(before)}
        said += max(fits, key=fits.get)[t]
    return said

# %%
for name, said in (("with the truth", exact_speaker(true)), ("alone", exact_speaker())):
    further = sum(a != b for a, b in zip(said[1:], true[1:], strict=True))
    print(f"{name:14} says {said}, {further} further errors after the first")

# %% [markdown]
# The exact speaker shows the same kind of gap, and no training could improve it. How much of our model's gap is exposure bias and how much is the missing hint, this measurement can't say. (He et al., 2021, give language models true beginnings to continue, and find the distortion limited.) What is certain is that the training loss shows neither, and that's the reason to measure by decoding.

# %% [markdown]
# ## 3.7 What attention changes
#
# *Core · 9 minutes*
#
# Attention gave the decoder two things at once, the encoder's states and a way to *ask* for those it wants. Two controls, pointer and mean, pull these apart.
#
# | context $c_t$ | what it holds | asks? |
# |---|---|---|
# | **attention** | any state | yes |
# | **pointer** | $h_t$ at step $t$, and the last letter's state once the letters are used up | no |
# | **mean** | all states stirred together, the same at every step | no |
# | **summary** | the last state of each direction | no |
#
# All four still make their first state from the summary. They are trained alike, in four sizes, with nearly equal numbers of parameters in each, from five seeds (pointer and mean from two at the largest size). The counts, on all of *valid*, come with the course (`python -m experiments bottleneck`).

# %%
runs = read_rows("bottleneck")
long = bottleneck.GROUPS[-1][0]  # 12
names = ("parameters", "shortest", "edits", "sounds", "d_hidden")
number = {name: torch.tensor([int(row[name]) for row in runs]) for name in names}

# %%
def per_of(context, shortest):
    """Parameters (sizes,), and PER in percent (sizes, seeds)."""
    ours = torch.tensor([row["context"] == context for row in runs])
    ours &= number["shortest"] == shortest
    widths = number["d_hidden"][ours].unique()
    here = [ours & (number["d_hidden"] == width) for width in widths]
    rates = [100 * number["edits"][rows] / number["sounds"][rows] for rows in here]
    parameters = torch.stack([number["parameters"][rows][0] for rows in here])
    nan = float("nan")  # where there are fewer seeds
    return parameters, nn.utils.rnn.pad_sequence(rates, True, padding_value=nan)

# %% tags=["nbval-ignore-output"]
sizes, with_attention = per_of("attention", long)  # (sizes,), (sizes, seeds)
at = 2  # the third of the four sizes
ends = with_attention[at].mean(), per_of("summary", long)[1][at].mean()
print(f"words of {long} letters or more, {sizes[at]:,} parameters:", end=" ")
print(f"attention {ends[0]:.0f} % of the sounds wrong, summary {ends[1]:.0f} %")
widgets.predict(
    "3.C",
    "And the pointer, which walks one letter a step and never asks?",
    between=(0, 60),
    step=1,
)

# %% [markdown]
# As a landmark, a table gives every letter its most frequent sound.

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
axes = plotting.new_axes(9.0, 3.8, columns=2)
for ax, shortest in zip(axes, groups, strict=True):
    found = {name: per_of(name, shortest)[1] for name in bottleneck.CONTEXTS}
    lines = {name: per.nanmean(1) for name, per in found.items()}
    names = {"xlabel": "parameters", "ylabel": "wrong sounds (%)"}
    plotting.curves(sizes, lines, **names, ax=ax)
    for per in found.values():  # a dot for each seed
        ax.plot(sizes.tolist(), per.tolist(), ".", color="0.45", ms=4, zorder=3)
    ax.axhline(landmark[shortest], color="0.45", linestyle=":")
    ax.text(sizes[-1], landmark[shortest] + 1, "letter by letter", ha="right")
    ax.set(xscale="log", ylim=(0, 70), title=f"words of {groups[shortest]}")
    ax.set_xticks(sizes.tolist(), [f"{size / 1000:.0f}k" for size in sizes.tolist()])
    ax.minorticks_off()
alt = "Wrong sounds by parameters, short words left, long right, a dot for each seed."
plotting.show(axes[0], f"{alt} On long words pointer and attention are far below.")

# %%
print("wrong sounds in % (seeds)", *(f"{size:14,}" for size in sizes.tolist()))
for shortest, name in groups.items():
    found = {context: per_of(context, shortest)[1] for context in bottleneck.CONTEXTS}
    for context, per in found.items():  # (sizes, seeds)
        print(f"{name:18}  {context:9}", end="")
        seeds = [row[~row.isnan()] for row in per]
        print(*(f" {r.mean():4.1f} ± {r.std():3.1f} ({len(r)})" for r in seeds))
mean = {context: per.nanmean(1) for context, per in found.items()}  # long words
closed = (mean["summary"] - mean["pointer"]) / (mean["summary"] - mean["attention"])
print("share of the gap that the pointer closes:", *(f"{c:.0%}" for c in closed))

# %% tags=["nbval-ignore-output"]
widgets.came_out("3.C", round(mean["pointer"][at].item(), 1))

# %% [markdown]
# *Each dot is one seed, ± is the seeds' spread, and the gray dotted line is the table, which beats the smallest summary on long words.* On long words attention is far better than the summary at every size. **But the pointer is nearly as good, and it never asks.** The mean, which gets every state, is no better than the summary.
#
# How far is the blind pointer from where the trained attention looks?

# %% tags=["nbval-ignore-output"]
long_valid = {w: s for w, s in split("valid").items() if len(w) >= long}
apart = []
for word in long_valid:
    looks = align(trained, word).weights[:-1]  # (L_t, L_s), without the end symbol
    place = (looks * torch.arange(len(word))).sum(-1)  # (L_t,): mean place
    pointed = torch.arange(len(place)).clamp(max=len(word) - 1)  # (L_t,)
    apart.append((place - pointed).abs())
near = (torch.cat(apart) < 1.5).float().mean()
print(f"{len(apart)} words of {long} letters or more: for {near:.0%} of the sounds")
print("the pointer is less than 1.5 letters from where attention looks")

# %% [markdown]
# Letters and sounds run nearly in step. If that is what carries the pointer, it should fail once the order changes.
#
# ### Another order
#
# Each source is eight random letters with a mark among them, `abcde|fgh`. Some decoders must say them **as written**, `abcdefgh`; others must begin **from the mark** and wrap around, `fghabcde`. Only the order changes. One more control, the **told** pointer, never asks either, but we put it after the mark, and it walks on from there. One plain pointer gets ten times as many updates, in case it's only slow.

# %% tags=["nbval-ignore-output"]
told, seeds = reordering.TOLD, (0, 1, 2)
kinds = [(order, "pointer") for order in reordering.ORDERS]
kinds += [("from the mark", context) for context in ("attention", told)]
reordered = {}
wanted = [(*kind, seed) for kind in kinds for seed in seeds]
for order, context, seed in tqdm(wanted, desc="models", file=sys.stdout):
    reordered[order, context, seed] = reordering.train(context, order, seed)
longer = 10 * reordering.UPDATES  # takes as long as ten of those models
patient = reordering.train("pointer", "from the mark", 0, updates=longer)

# %% tags=["nbval-ignore-output"]
wrong = {one: reordering.wrong_by_place(m, one[0]) for one, m in reordered.items()}
for order, context in kinds:
    per = [wrong[order, context, seed].mean().item() for seed in seeds]
    rates = "  ".join(f"{rate:6.1%}" for rate in per)
    print(f"{order:14} {context:14} wrong letters, seed by seed: {rates}")
later = reordering.wrong_by_place(patient, "from the mark")  # (L,)
print(f"from the mark  pointer, {longer:,} updates: {later.mean():.1%}")

# %% tags=["nbval-ignore-output"]
found = {"attention": [], told: [], "pointer": []}
for context, per in found.items():
    per.extend(wrong["from the mark", context, seed] for seed in seeds)
found = {context: torch.stack(per) for context, per in found.items()}  # (seeds, L)
found["pointer, 10 times the updates"] = later[None]
places = torch.arange(1, reordering.LENGTH + 1)
lines = {context: 100 * per.mean(0) for context, per in found.items()}

# %% tags=["nbval-ignore-output"]
names = {"xlabel": "place in what is said", "ylabel": "wrong letters (%)"}
ax = plotting.curves(places, lines, **names, ax=plotting.new_axes(7.2, 3.6))
for line, color in zip(ax.lines[1:], (4, 2, 2), strict=True):
    line.set_color(plotting.COLORS[color])  # pointers as in the figure above
for per in found.values():
    ax.plot(places.tolist(), (100 * per.T).tolist(), ".", color="0.45", ms=4)
ax.axhline(95, color="0.45", linestyle=":", label="guessing")  # 1 of 20 is right
ax.set(ylim=(-3, 105), title="said from the mark")
ax.legend(frameon=False, loc="upper left", bbox_to_anchor=(1, 1))
alt = "The pointer is mostly wrong, much less with ten times the updates;"
plotting.show(ax, f"{alt} attention and the told pointer hardly ever are.")

# %% [markdown]
# *Dots are seeds.* As written, the pointer hardly makes a mistake. From the mark it gets most letters wrong, while attention hardly minds. All the pointer lacked was the place, since the one that is told it is right after the same training. With ten times as much, the plain one errs far less, though still more than attention. Where does it keep letters that it hasn't come to yet, or has passed? Exchange its first state, or the encoder states that it visits, for those of another source, and see whose letters it says.

# %%
rng = torch.Generator().manual_seed(2**31)  # drawn in no training
source, target = reordering.make_batch("from the mark", 500, rng)
mark = (source == reordering.MARK).int().argmax(1)  # (B,)
itself = torch.arange(len(source))
other = itself.clone()
for at_letter in mark.unique():  # the other source has its mark at the same place
    rows = itself[mark == at_letter]
    other[rows] = rows.roll(1)


# %%
@torch.no_grad()
def say(first, visited):
    """What is said with the first states and the encoder states of these rows."""
    state = patient.start_decoding(source)
    encoded = state.encoded._replace(states=state.encoded.states[visited])
    state = replace(state, hidden=state.hidden[first], encoded=encoded)
    token, said = torch.full_like(itself, START_ID), []
    for _ in range(reordering.LENGTH):
        log_probs, state = patient.decode_step(state, token)  # (B, V)
        token = log_probs.argmax(-1)  # (B,)
        said.append(token)
    return torch.stack(said, 1)  # (B, L)


# %% tags=["nbval-ignore-output"]
swaps = {"nothing": (itself, itself), "first state": (other, itself)}
swaps["encoder states"] = itself, other
print("exchanged        its own letters: first, later   the other's: first, later")
for part, rows in swaps.items():
    said = say(*rows)
    print(f"{part:14}", end="")
    for whose in (itself, other):
        same = (said == target[whose, 1:-1]).float().mean(0)  # (L,)
        print(f" {same[0]:18.0%} {same[1:].mean():10.0%}", end="")
    print()

# %% [markdown]
# The first state brings the other's first letter about every second time, and hardly any later one. Those come from the encoder states on the way, though less than half come out right beside another first state. And where does attention look?

# %% tags=["nbval-ignore-output"]
rng = torch.Generator().manual_seed(8)
source, target = reordering.make_batch("from the mark", 1, rng)
attends = reordered["from the mark", "attention", 0]
with torch.no_grad(), record_attention(attends) as record:
    attends(source, target[:, :-1])
looks = torch.cat(record.calls("attention"), dim=1)[0]  # (L_t, L_s)
signs = [[reordering.SYMBOLS[i] for i in ids] for ids in (target[0, 1:], source[0])]
ax = plotting.attention_heatmap(looks, *signs, ax=plotting.new_axes(5.2, 4.0))
ax.set(xlabel="the source", ylabel="what is said")
plotting.show(ax, "Weights: first the letters after the mark, then the others.")

# %% [markdown]
# *The looks begin after the mark, run to the end, and jump back to the beginning.* What attention adds is that it **finds the place to read in the source itself**. For pronunciation that place is nearly known in advance. In translation it isn't. In figure 3 of Bahdanau's paper, *European Economic Area* becomes *zone économique européenne*, and there the weights run backwards.

# %% [markdown]
# ## 3.8 Reading an alignment
#
# *Core · 4 minutes*
#
# Type any word and press Enter, your name perhaps.

# %% tags=["nbval-ignore-output"]
typed = widgets.alignment_viewer(trained, "knights")
typed.show_first_state(
    "Alignment of knights: N looks at k and n, AY at n and i, T at the letters from i "
    "to t, S at t and s. The word is held out, and the model is right."
)

# %% tags=["nbval-ignore-output"]
typed

# %% [markdown]
# *Each row is a sound and sums to 1.*
#
# **But a weight belongs to a *state*, and a state is not a letter.** The state at the *t* of `recognition` (section 3.1) has a backward half that has read *ion*. Cut the word after the *t*, and this half has read the *t* alone. We exchange these two halves and nothing else.

# %%
@torch.no_grad()
def next_sound(word, said, other=None, at=7, unseen=()):
    """The next sound; the backward half of state ``at`` is taken from another word."""
    state = trained.start_decoding(SPELLING.batch([word]))
    state.encoded.mask[..., list(unseen)] = False  # no look at these letters
    if other is not None:
        states = state.encoded.states.clone()  # (1, L_s, 2 d_hidden)
        d = states.shape[-1] // 2
        states[0, at, d:] = trained.encoder(SPELLING.batch([other])).states[0, at, d:]
        state = replace(state, encoded=state.encoded._replace(states=states))
    for token in [START_ID, *SOUNDS.encode(said)]:
        log_probs, state = trained.decode_step(state, torch.tensor([token]))
    p, best = log_probs[0].exp().max(0)
    return SOUNDS.symbols[best], p.item()

# %%
so_far, full, cut = "R EH K AH G N IH".split(), "recognition", "recognit"
tries = [(full, None), (full, cut), (cut, None), (cut, full)]
tries += [("knight", None), ("knight", "knights"), ("knights", "knight")]
tries = [(*two_words, ()) for two_words in tries]
tries += [("knights", None, [6]), ("knights", "knight", [6])]
for word, other, unseen in tries:
    said, at = (so_far, 7) if word in (full, cut) else (["N", "AY", "T"], 5)
    taken = f"with the t of {other}" if other else "as it is"
    taken += ", its s hidden" if unseen else ""
    sound, p = next_sound(word, said, other, at, unseen)
    print(f"{word:11} {taken:32} then says {sound:5} ({p:.3f})")

# %%
in_tion, counts = [word for word in split("test") if word.endswith("tion")], Counter()
for word, said in zip(in_tion, pronounce(trained, in_tion), strict=True):
    if said[-3:] == ("SH", "AH", "N"):
        for letter, back in (("the t", 4), ("the letter before", 5)):
            sound, _ = next_sound(word, said[:-3], word[:-3], len(word) - back)
            counts[f"{letter} exchanged", sound] += 1
        ion = range(len(word) - 3, len(word))
        counts["ion hidden", next_sound(word, said[:-3], unseen=ion)[0]] += 1
for (change, sound), n in counts.most_common():
    print(f"words in -tion, with {change}: {n} say {sound}")

# %% [markdown]
# Half a state decides. With *ion* still in the word, the model says `T` if the state at *t* hasn't read it, and in a word without *ion* it says `SH` if the state has. All words of *test* in *-tion* that had their `SH` lose it this way. Exchange the state before that one, or hide *ion* from the look, and all keep it. The model needn't look at *ion*, because the encoder has carried it to the *t*.
#
# `knights` is another case. The *t* of `knights` makes `knight` go on with an `S`, but `knights` doesn't need it, since it looks at its *s* too. Take away either one, and it still says `S`; without both it ends. A heatmap shows where a model looks, not what it finds there.

# %% [markdown]
# ## 3.9 Does a look matter?
#
# *More · 10 minutes*
#
# Does the look move as you read, to the right? We count over many words, beside a landmark, which is the same looks in a random order.

# %% tags=["nbval-ignore-output"]
long_words = [word for word in split("test") if len(word) >= 8][::8]
source = SPELLING.batch(long_words)  # (B, L_s)
tokens = greedy_decode(trained, source, max_len=MAX_PHONEMES).tokens  # (B, L_t)
start = torch.full((len(source), 1), START_ID)
with torch.no_grad(), record_attention(trained) as record:
    trained(source, torch.cat((start, tokens[:, :-1]), dim=1))
weights = torch.cat(record.calls("attention"), dim=1)  # (B, L_t, L_s)
place = (weights * torch.arange(source.shape[1])).sum(-1)  # (B, L_t): mean place
torch.manual_seed(0)
steps = {"as decoded": [], "shuffled": []}
for row, n in zip(place, (tokens != PAD_ID).sum(1), strict=True):
    steps["as decoded"].append(row[:n].diff())
    steps["shuffled"].append(row[:n][torch.randperm(n)].diff())

# %% tags=["nbval-ignore-output"]
for name, found in steps.items():
    forward = (torch.cat(found) > 0).float().mean()
    print(f"{len(long_words)} words, {name}: {forward:.1%} of the steps move right")
box = align(trained, "box")
mean_places = (box.weights * torch.arange(1, 4)).sum(-1)  # (L_t,)
for sound, at_letter in zip(box.sounds, mean_places, strict=True):
    print(f"box: {sound} at {at_letter:.1f}", end="   ")

# %% [markdown]
# The model has found out which way to read. (In `box` the two sounds of the *x*, the third letter, should be read at one place, and the look hardly moves between them.)
#
# How much of a state is its neighbors', in general? Measure by gradients how strongly each letter around the middle of a word can move the state there.

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

# %% [markdown]
# A letter moves its own state (+0) most, and nearly half of the influence comes from its neighbors. One might think that a look could as well be at the states *beside* its letter. To test that, let every step lose the state it looks at most, and share its weight among the others it looks at.

# %% tags=["nbval-ignore-output"]
every_20th = dict(list(split("test").items())[::20])
as_it_is = 100 * error_rates(trained, every_20th)["PER"]
print(f"{len(every_20th)} words of test: {as_it_is:.0f} % of the sounds are wrong")
widgets.predict(
    "3.D",
    "What percentage is wrong when every step loses its best look? "
    "(With more errors than sounds it is more than 100.)",
    between=(0, 200),
    step=5,
)

# %% tags=["nbval-ignore-output"]
class BestHidden(nn.Module):
    """Takes the largest weight away, at every step or at all but those at the end."""

    def __init__(self, attention, spare_end):
        super().__init__()
        self.attention, self.spare_end = attention, spare_end

    def forward(self, query, key, value, mask):
        _, weights = self.attention(query, key, value, mask)
        best = weights.argmax(-1, keepdim=True)  # (B, 1, 1)
        last = mask.sum(-1, keepdim=True) - 1  # (B, 1, 1): the last letter's place
        spared = best == last if self.spare_end else last == 0  # or one letter
        weights = weights.scatter(-1, best, 0.0).where(~spared, weights)
        weights = weights / weights.sum(-1, keepdim=True)
        return weights @ value, weights

# %% tags=["nbval-ignore-output"]
print(f"as it is: {as_it_is:.0f} % wrong")
hidden = []
for name, spare_end in (("at every step", False), ("but not at the last letter", True)):
    blinkered = copy.deepcopy(trained)
    blinkered.attention = BestHidden(trained.attention, spare_end)
    hidden.append(100 * error_rates(blinkered, every_20th)["PER"])
    said = pronounce(blinkered, list(every_20th))
    endless = sum(len(sounds) >= MAX_PHONEMES for sounds in said)
    print(f"hidden {name}: {hidden[-1]:.0f} % wrong, {endless} words never stop")
    for word, sounds in zip(held_out, pronounce(blinkered, held_out), strict=True):
        print(f"   {word:12} {' '.join(sounds)}")

# %% tags=["nbval-ignore-output"]
widgets.came_out("3.D", round(hidden[0]))

# %% [markdown]
# The model falls apart. There are more errors than sounds, since some words never stop and repeat themselves up to the limit. They lack a look at the last letter. Spare only the looks that are mostly there, and every word stops. Even then nearly half of the sounds are wrong. The neighbors' states have read the letter too, yet they don't make up for the one that is missing. (The test is harsh, since in training nothing was ever hidden.) To find out whether a look *matters*, change it and measure. How *few* looks are enough is the open experiment, **exercise 3.8**.

# %% [markdown]
# ## 3.10 Sounds and whole words, by length
#
# *More · 10 minutes*
#
# The two large models that come with the course, one of each kind, were trained on all of *train* with the same recipe. We judge both on all words of *test*.

# %% tags=["nbval-ignore-output"]
two = {"attention": trained, "summary": pretrained.load("recurrent_no_attention")}
rows_of = {k: bottleneck.counts_by_length(two[k], split("test")) for k in two}
per = {k: [row["edits"] / row["sounds"] for row in rows_of[k]] for k in two}
wer = {k: [row["wrong"] / row["words"] for row in rows_of[k]] for k in two}
print("letters   words  PER attention    summary   WER attention       summary")
for i, row in enumerate(rows_of["attention"]):
    low, high, n = row["shortest"], row["longest"], row["words"]
    print(f"{low:2} to {high:2} {n:7}", end="")
    print(f" {per['attention'][i]:13.1%} {per['summary'][i]:10.1%} ", end="")
    for share in (wer["attention"][i], wer["summary"][i]):
        print(f"  {share:6.1%} ± {math.sqrt(share * (1 - share) / n):4.1%}", end="")
    print()

# %% tags=["nbval-ignore-output"]
test_lengths = torch.tensor([len(word) for word in split("test")]).float()  # (words,)
centers = torch.stack([
    test_lengths[(test_lengths >= low) & (test_lengths <= high)].mean()
    for low, high in bottleneck.GROUPS
])  # (5,)
counted = torch.tensor([row["words"] for row in rows_of["attention"]])  # (5,)

# %% tags=["nbval-ignore-output"]
axes = plotting.new_axes(9.0, 3.4, columns=2)
for ax, rates, unit in zip(axes, (per, wer), ("sounds", "words"), strict=True):
    lines = {k: 100 * torch.tensor(rates[k]) for k in two}
    names = {"xlabel": "letters in the word", "ylabel": f"wrong {unit} (%)"}
    plotting.curves(centers, lines, **names, ax=ax)
    ax.set_ylim(0, 14 if unit == "sounds" else 65)
for share in map(torch.tensor, wer.values()):
    bars = (100 * (share * (1 - share) / counted).sqrt()).tolist()
    at_share = centers.tolist(), (100 * share).tolist()
    axes[1].errorbar(*at_share, bars, fmt="none", ecolor="0.45")
alt = "With attention wrong sounds fall with length; wrong words rise with and without."
plotting.show(axes[0], alt)

# %% [markdown]
# *For short words the two are nearly equal, and the gap grows with length. The bars on the right are standard errors.* Bahdanau's figure 2 shows the quality of translations by the length of the sentence. There too the model without attention falls behind as the length grows.
#
# With attention, the share of wrong *sounds* falls with length, while the share of wrong *words* rises. How can both be true? A long word has more chances to go wrong. If each of its $n$ sounds were wrong with the same probability $p$, on its own, the whole word would be right with probability $(1 - p)^n$. With $p = 0.08$ and $n = 4$ sounds, $0.92^4 = 0.72$ are right; with $n = 11$ only $0.92^{11} = 0.40$. Now each group with its own $p$, its PER.

# %% tags=["nbval-ignore-output"]
rows = rows_of["attention"]
overall = sum(row["edits"] for row in rows) / sum(row["sounds"] for row in rows)
print("letters   sounds      PER  wrong words  1 - (1 - p)^n", end="")
print(f"  with p = {overall:.1%} for all")
for row, p, measured in zip(rows, per["attention"], wer["attention"], strict=True):
    n = row["sounds"] / row["words"]
    own, same = 1 - (1 - p) ** n, 1 - (1 - overall) ** n
    print(f"{row['shortest']:2} to {row['longest']:2} {n:7.1f} {p:8.1%}", end=" ")
    print(f"{measured:12.1%} {own:14.1%} {same:15.1%}")

# %% [markdown]
# Length alone would push the share of wrong words far up (last column). The falling PER works against it, and does not win. Measured, fewer words are wrong than the formula says, in every group. Errors gather in some of the words, and spoil fewer than if each fell on its own. Why an English sound is easier in a long word, this table doesn't say.

# %% [markdown]
# ## 3.11 Was the summary too small?
#
# *More · 5 minutes*
#
# It's tempting to conclude that the summary fails because long words don't *fit*. In section 3.7 wider models did better, but they had more parameters everywhere. Here we keep about the same size and give more training. The two large models had all of *train*, six times the words, and more passes over them (`python -m experiments train recurrent`). Their settings aren't those of the short runs either, with dropout, a wider embedding and a lower learning rate. We also ask them for long words that they were trained on.

# %% tags=["nbval-ignore-output"]
bits, numbers = 20 * math.log2(26), two["summary"].first_state.in_features
print(f"20 random letters: {bits:.0f} bits; {numbers} numbers: {32 * numbers:,} bits")
seen_before = [(w, s) for w, s in split("train").items() if len(w) >= long][::15]
for name, model in two.items():
    size = sum(parameter.numel() for parameter in model.parameters())
    short_run = per_of(name, long)[1][-1].mean()
    new, old = (error_rates(model, dict(w))["PER"] for w in (long_valid, seen_before))
    print(f"{name:9} {size:,} parameters: long words {new:.1%} wrong, ", end="")
    print(f"of train {old:.1%}; after little training {short_run:.1f} %")

# %% [markdown]
# With more training and no more room, the summary's errors on long words fall to about half, and on words that it has seen they are fewer still. Its 256 numbers have room for that much. (Attention gains from the training too, and stays ahead.) What held the summary back in the short runs, then, wasn't space alone. A model must also *learn* to pack a word so that every sound can be got out again, and it does that less well for a new word than for one from its training. Whether the further words did it, the further updates or the other settings, and whether the wider models of section 3.7 won by their room or by being easier to train, these runs can't say.

# %% [markdown]
# ## What goes wrong
#
# *More · 6 minutes*
#
# **The mask after the softmax, without dividing again.** The padding's weights become 0, but the softmax has already given it a share, and the weights of a short word no longer sum to 1 once a long word is in the same batch. A word must not depend on its neighbors in the batch.

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

# %% [markdown]
# They are close, which is what makes the wrong ones dangerous. Dividing by what was said rewards a model that says more. Averaging word by word makes a sound in a short word count for more than one in a long word.

# %% [markdown]
# ## In practice
#
# *More · 3 minutes*
#
# - The decoder is a loop, in training too: step $t$ needs $s_{t-1}$. Hardware that could do many things at once has to wait.
# - $W_k h_j$ does not depend on the step. Code that decodes computes it once per word and keeps it. Lesson 07 does the same with keys and values, under the name of a cache.
# - Where the order is known to be kept, a pointer that learns when to move forward is a serious alternative. Aharoni and Goldberg (2017) train one for the endings of words, Raffel et al. (2017) for speech, Wu and Cotterell (2019) for pronunciation too.
# - Names elsewhere: encoder states are *annotations* (Bahdanau), *encoder outputs* or *memory*; scores are *energies*; weights are *alignments*.
# - Giving true symbols with some probability and the model's own otherwise is *scheduled sampling*, one remedy for exposure bias.
# - Real systems look a word up in the dictionary first, and ask a model for the rest.

# %% [markdown]
# ## Recap
#
# *Core · 3 minutes*
#
# 1. **Encoder-decoder**: a GRU in both directions reads, a second one writes. Without attention all the decoder gets is the summary, of one size for every word.
# 2. **Attention**: query $s_{t-1}$, keys and values $h_j$, additive score, softmax over the real letters.
# 3. **Teacher forcing** gives the true symbols in training. Greedy decoding gives the model's own, until the end symbol.
# 4. **What attention is good for**: on pronunciation a pointer that never asks closes most of the gap between summary and attention, and the mean of the states closes none. When the place to read had to be found in the source, the pointer learned far more slowly, unless it was told the place.
# 5. **Alignments**: a weight belongs to a state, and a state has read its neighbors. Exchange one and measure.
#
# | symbol | meaning | shape |
# |---|---|---|
# | $L_s$, $L_t$ | letters in the source, symbols in the target | numbers |
# | $V$ | sounds, special symbols included | a number |
# | $h_j$ | encoder state of letter $j$, both directions | $(2 d_{hidden})$; all: $(B, L_s, 2 d_{hidden})$ |
# | summary | last state of each direction | $(B, 2 d_{hidden})$ |
# | $y_{t-1}$, $E(y_{t-1})$ | previous sound, its embedding | a number; $(d_{embed})$ |
# | $s_t$ | decoder state after step $t$; $s_0$ before the first | $(d_{hidden})$ |
# | $e_{tj}$, $\alpha_{tj}$ | score and weight of letter $j$ at step $t$ | $(B, L_t, L_s)$; each row of weights sums to 1 |
# | $c_t$ | context | $(2 d_{hidden})$ |
#
# Your predictions, and what came out:

# %% tags=["nbval-ignore-output"]
widgets.predictions()

# %% [markdown]
# ## When you need it
#
# *More · 5 minutes*
#
# **Another order, and other scores.** Luong, Pham and Manning (2015) step first and look with the *new* state, $s_t$; the context joins it afterwards, on the way to the logits. Both orders work, each with weights trained for it. They compare three scores: *dot*, $s_t^\top h_j$; *general*, $s_t^\top W h_j$; and *concat*, $w_v^\top \tanh(W\,[\,s_t;\, h_j\,])$. The last one is the additive score, with $W_q$ beside $W_k$ in one matrix.

# %%
W = torch.cat(matrices[:2], dim=1)  # (d_att, d_hidden + 2 d_hidden): W_q beside W_k
s, h_j = state.hidden[0], state.encoded.states[0, 2]
concat = matrices[2] @ torch.tanh(W @ torch.cat((s, h_j)))
additive = matrices[2] @ torch.tanh(matrices[0] @ s + matrices[1] @ h_j)
print(f"concat {concat:.3f}, additive {additive:.3f}")

# %% [markdown]
# **PyTorch's GRU and the paper's.** In Cho et al. (2014) $r$ multiplies $h$ before $U_n$ does; PyTorch, and this lesson, let it multiply $U_n h + b'_n$.
#
# **How the words were split.** A hash of the word decides, the first 8 bytes of its SHA-256 as a number, modulo 20. Remainder 0 is test, 1 is valid, the rest is train. That way a word stays where it is whatever release of the dictionary is installed, and the authors had no choice in it. What the split doesn't do: *attend* and *attended* may fall on different sides.

# %%
for word in ("nation", "knights", "physics"):
    remainder = int.from_bytes(hashlib.sha256(word.encode()).digest()[:8], "big") % 20
    by_hash = {0: "test", 1: "valid"}.get(remainder, "train")
    print(f"{word:8} remainder {remainder:2}: {by_hash}, and it is in {split_of(word)}")

# %% [markdown]
# **A decoder that remembers where it has been.** Chorowski et al. (2015) let the score see the weights of the step before (exercise 3.2). See, Liu and Manning (2017) give it the sum of all earlier weights, the *coverage*, and add a penalty for looking twice at the same place. The first was made for long recordings, where a model that only matches contents gets lost among similar stretches; the second, for summaries that repeat themselves.

# %% [markdown]
# ## Check yourself
#
# *Core · 3 minutes*
#
# <details><summary>1. On pronunciation the blind pointer was nearly as good as attention. Which result shows that on the other task it lacked the place, and not states or training?</summary>
#
# **The told pointer.** It has the same states and training, and never asks either.
# </details>
#
# <details><summary>2. A pointer that walks backwards, from the last letter to the first. On which task would it do as well as attention: strings said in reverse, or strings said from a mark?</summary>
#
# **In reverse.** That order is fixed. From the mark, the place to begin depends on where the mark is, and this pointer begins at the last letter wherever that is.
# </details>
#
# <details><summary>3. The target is &lt;start&gt; B AA K S &lt;end&gt;. What does the decoder read at the step that should say S, and what is it compared with at the last step?</summary>
#
# **It reads K; the last step is compared with the end symbol.** (Not S, or the model would only have to copy.)
# </details>
#
# <details><summary>4. In the heatmap of knights, the sound S looks mostly at the letter t. Is the attention broken?</summary>
#
# **No.** The state at *t* has read the *s* as well, in its backward half, and that's enough to make `knight` end in `S`.
# </details>
#
# {{next_steps}}

# %% [markdown]
# ## References
#
# - Bahdanau, Cho, Bengio, *Neural Machine Translation by Jointly Learning to Align and Translate*, 2015 (first posted in 2014), sections 3, 5 and appendix A: the model of this lesson. Figure 2: quality by sentence length. Figure 3: the alignments.
# - Graves, *Generating Sequences With Recurrent Neural Networks*, 2013, section 5: a soft window a year earlier, which moves along a text while the network writes it in longhand.
# - Cho et al., *Learning Phrase Representations using RNN Encoder-Decoder for Statistical Machine Translation*, 2014, section 2: the encoder-decoder without attention, and the GRU.
# - Sutskever, Vinyals, Le, *Sequence to Sequence Learning with Neural Networks*, 2014: the other encoder-decoder of that year, with LSTMs.
# - Luong, Pham, Manning, *Effective Approaches to Attention-based Neural Machine Translation*, 2015, section 3: step first, look afterwards, and the scores dot, general and concat.
# - Aharoni, Goldberg, *Morphological Inflection Generation with Hard Monotonic Attention*, 2017, and Raffel, Luong, Liu, Weiss, Eck, *Online and Linear-Time Attention by Enforcing Monotonic Alignments*, 2017, and Wu, Cotterell, *Exact Hard Monotonic Attention for Character-Level Transduction*, 2019: pointers that learn when to move forward.
# - Chorowski et al., *Attention-Based Models for Speech Recognition*, 2015: scores that see where the last step looked. See, Liu, Manning, *Get To The Point: Summarization with Pointer-Generator Networks*, 2017: coverage.
# - Williams, Zipser, *A Learning Algorithm for Continually Running Fully Recurrent Neural Networks*, 1989: the source of teacher forcing.
# - Ranzato, Chopra, Auli, Zaremba, *Sequence Level Training with Recurrent Neural Networks*, 2016: what exposure bias is, and one cure. Bengio, Vinyals, Jaitly, Shazeer, *Scheduled Sampling for Sequence Prediction with Recurrent Neural Networks*, 2015: another. He, Zhang, Zhou, Glass, *Exposure Bias versus Self-Recovery: Are Distortions Really Incremental for Autoregressive Text Generation?*, 2021: how large it is in open-ended text.
# - Levenshtein, *Binary Codes Capable of Correcting Deletions, Insertions, and Reversals*, 1966, and Wagner, Fischer, *The String-to-String Correction Problem*, 1974: the distance, and its table.
# - Toshniwal, Livescu, *Jointly Learning to Align and Convert Graphemes to Phonemes with Neural Attention Models*, 2016: our task with attention.
