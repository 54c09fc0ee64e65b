# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 11 · Learning to pronounce
#
# At the end you can train a Transformer on a real task, search its answers with beams, measure its errors on words it has never seen, and say what each of its parts is worth.
#
# {{colab_link}} · about 100 minutes · builds on lessons 03 and 10

# %% tags=["setup"]
import hashlib
import itertools
import math
import random
from collections import Counter

import torch

from course_utils import metrics, plotting, training, widgets, zoo
from course_utils.datasets.batches import batches_by_length, encode_pairs, share_of_padding, source_batches
from course_utils.datasets.pronunciations import pronunciations, split, split_of
from course_utils.decoding import beam_search, greedy_decode
from course_utils.models import Transformer, TransformerConfig, count_parameters
from course_utils.recording import record_attention
from course_utils.tokenizers import END_ID, PAD_ID, START_ID, pad
from course_utils.training.losses import teacher_forced_loss
from course_utils.zoo import ablation
from course_utils.zoo.evaluate import BEGIN, END, beam_5
from course_utils.zoo.pronounce import main as pronounce_command
from course_utils.zoo.pronunciation import MAX_PHONEMES, SOUNDS, SPELLING, align, error_rates, pronounce

torch.set_printoptions(precision=3, sci_mode=False, linewidth=110)
torch.set_num_threads(1)  # the tensors here are small: sharing them out among threads takes longer than the work

# %% [markdown]
# **You will learn to**
#
# 1. put words of unequal length into batches so that little of them is padding;
# 2. train a Transformer on real words, and judge it on words held out, beside other models and published figures;
# 3. search with beams: by hand, as a loop, in a batch; and say why scores are divided by the length;
# 4. read cross-attention as an alignment, head by head, with due care;
# 5. find out which words and sounds go wrong, and what the model loses when one part is taken out.
#
# Lesson 10 trained a Transformer on made-up sequences. There the right answer was a rule. English spelling has rules, exceptions, and exceptions to those. The task is that of lesson 03, `nation` to `N EY SH AH N`, and so are the words, the sounds and the split. So the two models can be compared.

# %% [markdown]
# ## Predict first
#
# A decoder says one symbol after another, until it says `end`. The table gives its probabilities: one row for what it has said last.
#
# | after | `X` | `Y` | `end` |
# |---|---|---|---|
# | nothing | 0.5 | 0.4 | 0.1 |
# | `X` | 0.3 | 0.3 | 0.4 |
# | `Y` | 0.1 | 0.1 | 0.8 |
#
# Greedy decoding takes the most probable symbol at each step. Which sequence does it say, and how probable is that sequence? Is there a more probable one? Write down both before you run the cell.

# %%
NAMES = ("X", "Y", "end")
AFTER = {None: (0.5, 0.4, 0.1), 0: (0.3, 0.3, 0.4), 1: (0.1, 0.1, 0.8)}  # probabilities of X, Y, end


def probability(sequence):
    return math.prod(AFTER[before][now] for before, now in zip((None, *sequence), sequence, strict=False))


for sequence in ((2,), (0, 2), (1, 2), (0, 0, 2)):
    print(f"{' '.join(NAMES[i] for i in sequence):8} {probability(sequence):.3f}")

# %% [markdown]
# Greedy says `X end`, because `X` looks best at first. `Y end` is more probable as a whole. Whoever decides at the first step alone cannot know. Section 11.5 searches better.

# %% [markdown]
# ## 11.1 The words, and which of them are held out
#
# The CMU Pronouncing Dictionary, without its stress marks. A word counts as right if **any** of its listed pronunciations is met. **A hash of the word** decides where it goes, as in lesson 03: the first 8 bytes of its SHA-256 as a number, modulo 20. 0 is *test*, 1 is *valid*, the rest *train*.

# %% tags=["nbval-ignore-output"]
words = pronunciations()
several = sum(len(accepted) > 1 for accepted in words.values())
print(f"{len(words):,} words, {100 * several / len(words):.0f} % of them with several pronunciations, as either:", *map(" ".join, words["either"]), sep="   ")
print({part: f"{len(split(part)):,}" for part in ("train", "valid", "test")})
for word in ("attention", "recognition", "physics"):
    remainder = int.from_bytes(hashlib.sha256(word.encode()).digest()[:8], "big") % 20
    assert split_of(word) == {0: "test", 1: "valid"}.get(remainder, "train")
    print(f"{word:12} remainder {remainder:2}: {split_of(word)}")

# %% [markdown]
# Decisions are made on *valid*. *Test* is for the report, and nothing is chosen by it. What the split does not promise: *attend* may be in train and *attended* in test. Part of what looks like reading is then remembering; that is so for every random split of this dictionary.

# %% [markdown]
# ## 11.2 Batches by length
#
# A batch is one tensor, so its words are padded to the longest. Padding costs time and teaches nothing. By hand: a word of 3 letters and one of 9 make a tensor of $2 \cdot 9 = 18$ places, of which $9 - 3 = 6$ are padding: a third.
#
# **Predict first.** If words are put together in random order, which share of a batch is padding? And if words of similar length go together?
#
# The course's way is: shuffle, sort by length (a stable sort: equal lengths stay shuffled), cut, shuffle the batches. A batch is full when its symbols, padding included, would pass a limit. For $n$ pairs with longest source $s$ and longest target $t$ that is $n\,(s + t)$. As a loop:

# %%
def cut(order, limit):
    """Pairs in this order, cut into lists: each as long as it fits."""
    groups, s, t = [[]], 0, 0
    for pair in order:
        s, t = max(s, len(pair[0])), max(t, len(pair[1]))
        if (s + t) * (len(groups[-1]) + 1) > limit:
            groups.append([])
            s, t = len(pair[0]), len(pair[1])
        groups[-1].append(pair)
    return groups


def by_length(pairs, limit, seed, sort=True):
    rng, order = random.Random(seed), list(pairs)
    rng.shuffle(order)
    if sort:
        order.sort(key=lambda pair: (len(pair[0]), len(pair[1])))
    groups = cut(order, limit)
    rng.shuffle(groups)  # or the model would see all short words first
    return [(pad([s for s, _ in group]), pad([t for _, t in group])) for group in groups]  # (B, L_s), (B, L_t) each


some_words = dict(list(split("train").items())[::5])
pairs = encode_pairs(some_words, SPELLING, SOUNDS)  # letters and sounds as ids; the target between start and end
mine, library = by_length(pairs, 2500, seed=0), list(batches_by_length(pairs, 2500, seed=0))
assert all(torch.equal(a, b) for ours, theirs in zip(mine, library, strict=True) for a, b in zip(ours, theirs, strict=True))
assert sum(len(source) for source, _ in mine) == len(pairs)
print("the loop and course_utils.datasets.batches.batches_by_length give the same batches")

# %% tags=["nbval-ignore-output"]
def padding_of(batches):
    sizes = torch.tensor([[part.numel(), part.numel() * share_of_padding(part)] for batch in batches for part in batch])
    return (sizes[:, 1].sum() / sizes[:, 0].sum()).item()


limits, shares = (300, 600, 1200, 2500, 5000), {"random order": [], "by length": []}
for limit in limits:
    for name, sort in (("random order", False), ("by length", True)):
        batches = by_length(pairs, limit, seed=0, sort=sort)
        shares[name].append(100 * padding_of(batches))
        if limit == 2500:
            print(f"{name:13} {len(batches)} batches of at most {limit} symbols, {shares[name][-1]:.1f} % of them padding")
assert all(mixed > 3 * sorted_ for mixed, sorted_ in zip(*shares.values(), strict=True))
ax = plotting.curves(torch.tensor(limits), {k: torch.tensor(v) for k, v in shares.items()}, xlabel="symbols in a batch, at most", ylabel="share of padding (%)", ax=plotting.new_axes(6.0, 3.2))
ax.set_ylim(bottom=0)
plotting.show(ax, "Share of padding by the size of the batch. In random order it rises with the batch; sorted by length it stays low.")

# %% [markdown]
# *Notice the upper line: the larger the batch, the longer its longest word, and all others are filled up to that.* Sorted by length little is wasted, whatever the size. The price: a batch holds words of one length only, so its gradient is a little one-sided. Shuffling among equals and shuffling the batches, anew in every epoch, keeps that harmless.

# %% [markdown]
# ## 11.3 A short training
#
# A small Transformer, a fifth of the training words, two epochs: long enough to see it learn. `fit` is the loop of lesson 10 with a progress bar, which shows the time left; `teacher_forced_loss` is the cross-entropy of lesson 03, padding left out; positions are rotary (lesson 08).

# %% tags=["nbval-ignore-output"]
EPOCHS = 2
training.seed_everything(0)
small = Transformer(TransformerConfig(len(SPELLING), len(SOUNDS), num_layers=2, d_model=64, d_ff=256, num_heads=4, dropout=0.0, max_len=64, positions="rotary"))
epochs = [list(batches_by_length(pairs, 2500, seed=epoch)) for epoch in range(EPOCHS)]
num_steps, step_losses = sum(map(len, epochs)), []
print(f"{count_parameters(small):,} parameters, {len(some_words):,} words, {len(pairs):,} pairs, {num_steps} updates")
samples = ["nation", "physics", "recognition"]
before = pronounce(small, samples)


def loss_kept(model, batch):
    loss = teacher_forced_loss(model, batch)
    step_losses.append(loss.item())
    return loss


rate = lambda step: training.one_cycle_rate(step, num_steps, peak=0.005)  # noqa: E731
history = training.fit(small, lambda epoch: epochs[epoch], loss_kept, epochs=EPOCHS, rate=rate)
print(f"guessing evenly among {len(SOUNDS)} symbols costs {math.log(len(SOUNDS)):.2f} nats")
print(f"loss in the first epoch {history.losses[0]:.2f}, in the second {history.losses[1]:.2f}")

# %% tags=["nbval-ignore-output"]
for word, first, after in zip(samples, before, pronounce(small, samples), strict=True):
    shown = " ".join(first[:8]) + (" ..." if len(first) > 8 else "")
    print(f"{word:12} {split_of(word):6} before: {shown:34} after: {' '.join(after)}")
smooth = torch.tensor(step_losses).unfold(0, 10, 5).mean(-1)  # (points,): mean of ten updates, every five
ax = plotting.curves(5.0 * torch.arange(len(smooth)) + 5, {"mean of 10 updates": smooth}, xlabel="update", ylabel="loss (nats per symbol)", ax=plotting.new_axes(6.0, 3.2))
ax.set_ylim(bottom=0)
plotting.show(ax, "Loss by update: it begins near 4, falls steeply, and flattens below 1.")
assert step_losses[0] > 3 and sum(step_losses[-20:]) / 20 < 1.2

# %% [markdown]
# *Notice where it starts: near the cost of guessing evenly, printed above.* Before, the model said a random string of sounds. After, it is not right yet, but what it says resembles the word. Real training goes on for many more epochs, on all words, with a larger model.

# %% [markdown]
# ## 11.4 The model that comes with the course
#
# It was trained by `python -m course_utils.zoo train pronounce`. Its file holds the log of every epoch, so its training can be looked at without repeating it.
#
# One thing differs from lesson 10, besides size and patience: the matrices inside the layers are not Adam's but **Muon**'s. Adam scales each number of a gradient by itself. Muon takes the matrix as a whole: it replaces the averaged gradient by the nearest matrix that stretches in all directions alike, so that directions in which the gradient is small get their share too. Embeddings, biases, norms and the generator stay Adam's (`course_utils/training/optimizers.py`). Of all that was tried in short runs, listed in the model's card, this helped most.

# %% tags=["nbval-ignore-output"]
model, log = zoo.load("transformer"), zoo.training_of("transformer")
c = model.config
print(f"{c.num_layers} layers on each side, d_model {c.d_model}, d_ff {c.d_ff}, {c.num_heads} heads: {count_parameters(model):,} parameters")
print(f"{log['epochs']} epochs, {log['minutes']} minutes, seed {log['seed']}")
number = torch.arange(1, len(log["losses"]) + 1)
left, right = plotting.new_axes(9.6, 3.4, columns=2)
plotting.curves(number, {"training loss": torch.tensor(log["losses"])}, xlabel="epoch", ylabel="nats per symbol", ax=left)
plotting.curves(number, {"valid": 100 * torch.tensor(log["scores"])}, xlabel="epoch", ylabel="word error rate (%)", ax=right)
for ax in (left, right):
    ax.set_ylim(bottom=0)
    ax.xaxis.get_major_locator().set_params(integer=True)
plotting.show(left, "Left: training loss by epoch, falling. Right: word error rate on the words for validation by epoch, falling more and more slowly.")
assert log["scores"][-1] < 0.6 * log["scores"][0]

# %% [markdown]
# *Notice how steeply both fall at first, and how slowly later.* The loss on the left includes label smoothing (lesson 10), so its floor is not 0, and a loss is not what we want in the end. We want right words. The right picture shows what share is still wrong, on every sixth word of *valid*. The weights of the best epoch were kept.
#
# The full account stands in the model's **card**, a page of text beside the weights. Its figures are computed from the weights by `python -m course_utils.zoo evaluate pronounce`, not typed:

# %% tags=["nbval-ignore-output"]
card = (zoo.shipped.FOLDER / "pronounce.md").read_text(encoding="utf-8")
print(card.split(BEGIN)[1].split(END)[0].strip())

# %% [markdown]
# ### How good is that?
#
# To keep it short we take every sixth word of *test*. The **word error rate** (WER) is the share of words that match none of their pronunciations. The **phoneme error rate** (PER) adds up the edits to the nearest one and divides by the number of sounds (lesson 03, section 3.8). The rate of $n$ words has a standard error of $\sqrt{\text{WER}\,(1 - \text{WER}) / n}$.

# %% tags=["nbval-ignore-output"]
sample = dict(list(split("test").items())[::6])
gru = zoo.load("recurrent_attention")
rates = {"GRU with attention (03)": error_rates(gru, sample), "Transformer": error_rates(model, sample), "small one of 11.3": error_rates(small, sample)}
print(f"{len(sample)} held-out words, greedy decoding")
for name, found in rates.items():
    error = math.sqrt(found["WER"] * (1 - found["WER"]) / len(sample))
    print(f"{name:24} WER {100 * found['WER']:5.1f} ± {100 * error:.1f} %   PER {100 * found['PER']:5.1f} %")
print(f"parameters: GRU {count_parameters(gru):,}, Transformer {count_parameters(model):,}")
assert rates["Transformer"]["WER"] < min(0.36, rates["GRU with attention (03)"]["WER"] + 0.03)
assert rates["small one of 11.3"]["WER"] > rates["Transformer"]["WER"] + 0.1

# %% [markdown]
# Look at the ± before you call one model better than the other, and at the two counts of parameters: the comparison is not free of charge. Beside figures by others:

# %%
published = {"g2p-seq2seq, Transformer, 3 layers, d_model 256": 30.2, "Phonetisaurus (weighted finite-state transducers)": 33.9}
for name, wer in published.items():
    print(f"{name:52} WER {wer} %")

# %% [markdown]
# **What differs.** Those figures, reported by the authors of g2p-seq2seq, are on the newest dictionary too, but on *their* split and with *their* conventions: which entries are kept, whether stress counts, what becomes of words with several pronunciations. Each of these can move the rate by more than the distance between two models. So the numbers say that ours is of the usual kind, and no more. To compare, run both on the same words with the same rule, as we did with the GRU.
#
# How much a rule alone can do, shown on our own answers: the same hypotheses, judged by the *first* listed pronunciation only.

# %% tags=["nbval-ignore-output"]
said = pronounce(model, list(sample))
any_listed = metrics.word_error_rate(said, list(sample.values()))
first_listed = metrics.word_error_rate(said, [accepted[:1] for accepted in sample.values()])
print(f"any listed pronunciation {100 * any_listed:.1f} %   the first only {100 * first_listed:.1f} %")
assert first_listed > any_listed

# %% [markdown]
# ## 11.5 Beam search
#
# Greedy decoding follows one sequence. **Beam search** follows the $K$ most probable ones at once. In the tree of the beginning, with $K = 2$:
#
# 1. Step 1: candidates `X` 0.5, `Y` 0.4, `end` 0.1. The two best go on: `X`, `Y`.
# 2. Step 2: each is extended by every symbol, six candidates: `Y end` 0.32, `X end` 0.20, `X X` and `X Y` 0.15, `Y X` and `Y Y` 0.04. The two best have ended: they are **finished**, set aside and never extended. Two are finished, so the search stops.
#
# Best: `Y end`, probability 0.32, which greedy had missed. In general, with $y$ a sequence, $x$ the source, and *log*-probabilities added instead of probabilities multiplied:
#
# $$\ln p(y \mid x) = \sum_{t=1}^{|y|} \ln p(y_t \mid y_1, \dots, y_{t-1}, x) , \qquad \text{score}(y) = \frac{\ln p(y \mid x)}{|y|^{\alpha}} .$$
#
# $|y|$ counts all symbols, the end symbol too; $\alpha \ge 0$ is the exponent of the length, discussed below. As a loop, for one word. `step(prefix)` gives the log-probabilities of the next symbol, shape `(V,)`:

# %%
def beam_loop(step, K, max_len, end_id, alpha=1.0):
    beams, finished = [(0.0, [])], []  # pairs of log-probability and sequence
    for length in range(1, max_len + 1):
        candidates = [(total + lp, [*seq, i]) for total, seq in beams for i, lp in enumerate(step(seq).tolist())]
        candidates.sort(reverse=True)  # of all beams together, not beam by beam
        finished += [c for c in candidates[:K] if c[1][-1] == end_id or length == max_len]
        beams = [c for c in candidates if c[1][-1] != end_id][:K]
        if len(finished) >= K:
            break
    return sorted(((total / len(seq) ** alpha, total, seq) for total, seq in finished), reverse=True)[:K]


def tree(prefix):
    return torch.tensor(AFTER[prefix[-1] if prefix else None]).log()  # (V=3,)


for K in (1, 2):
    print(f"K = {K}:", [(" ".join(NAMES[i] for i in seq), round(math.exp(total), 3)) for _, total, seq in beam_loop(tree, K, 5, end_id=2)])

# %% [markdown]
# With one beam it *is* greedy decoding. How good is it? PyTorch has no beam search, so we compare with the truth: **all** sequences of at most 5 symbols, which here can be counted out. For 39 sounds and words of up to 28 of them nobody could.

# %%
everything = [seq for n in range(1, 6) for seq in itertools.product(range(3), repeat=n) if (seq[-1] == 2) and 2 not in seq[:-1]]
best = max(everything, key=probability)
print(f"{len(everything)} sequences; the most probable: {' '.join(NAMES[i] for i in best)}, {probability(best):.3f}")
assert [*best] == max(beam_loop(tree, 2, 5, end_id=2, alpha=0.0))[2]

# %% [markdown]
# ### In a batch
#
# `course_utils.decoding.beam_search` does the same for a batch of words: the $K$ beams of each word are rows of one tensor, `(B, K)`, and one `topk` over `(B, K * V)` chooses the candidates. A place `p` in that flat table belongs to beam `p // V` and symbol `p % V`. Each row's cache must go with its beam: `state.reorder(parents)`. Forgetting that is the classic mistake (the wrong parent's past). Held equal to the loop, on the real model:

# %%
@torch.no_grad()
def step_of(word):
    source = SPELLING.batch([word])  # (1, L_s)
    return lambda prefix: model(source, torch.tensor([[START_ID, *prefix]]))[0, -1].log_softmax(-1)  # (V,)


beam_words = ["phoenix", "knight", "recognition"]
beams = beam_search(model, SPELLING.batch(beam_words), max_len=MAX_PHONEMES, beam_size=3)  # tokens (B, K=3, L_out)
with torch.no_grad():
    for b, word in enumerate(beam_words):
        for k, (score, total, seq) in enumerate(beam_loop(step_of(word), 3, MAX_PHONEMES, END_ID)):
            assert [i for i in beams.tokens[b, k].tolist() if i != PAD_ID] == seq
            assert abs(beams.scores[b, k].item() - score) < 1e-3 and abs(beams.log_probs[b, k].item() - total) < 1e-2
print("the loop and course_utils.decoding.beam_search find the same sequences, for", len(beam_words), "words at once")

# %% tags=["nbval-ignore-output"]
for b, word in enumerate(beam_words):
    for tokens, log_prob in zip(beams.tokens[b], beams.log_probs[b].exp().tolist(), strict=True):
        sounds = tuple(SOUNDS.decode(tokens))
        print(f"{word:12} {100 * log_prob:5.1f} %   {' '.join(sounds):34} {'in the dictionary' * (sounds in words[word])}")

# %% [markdown]
# The beams are more than a way to a better answer: they show what the model hesitates between. Now on the held-out words, greedy beside five beams:

# %% tags=["nbval-ignore-output"]
by_beam = pronounce(model, list(sample), decode=beam_5)
beam_rates = {"WER": metrics.word_error_rate(by_beam, list(sample.values())), "PER": metrics.phoneme_error_rate(by_beam, list(sample.values()))}
for name, found in (("greedy", rates["Transformer"]), ("5 beams", beam_rates)):
    print(f"{name:8} WER {100 * found['WER']:.1f} %   PER {100 * found['PER']:.2f} %")
differ = [word for word, a, b in zip(sample, said, by_beam, strict=True) if a != b]
right = {name: sum(found[word] in sample[word] for word in differ) for name, found in (("greedy", dict(zip(sample, said, strict=True))), ("beams", dict(zip(sample, by_beam, strict=True))))}
print(f"{len(differ)} of {len(sample)} words come out differently; of those, right: {right}")
assert beam_rates["WER"] <= rates["Transformer"]["WER"] + 0.01 and beam_rates["PER"] <= rates["Transformer"]["PER"] + 0.003
assert len(differ) < 0.1 * len(sample) and rates["Transformer"]["WER"] - beam_rates["WER"] < 0.03

means = []
for decode in (greedy_decode, beam_5):
    found = decode(model, SPELLING.batch(differ), max_len=MAX_PHONEMES)
    means.append(found.log_probs / (found.tokens != PAD_ID).sum(-1))  # (words,): log-probability by the length
share = (means[1] > means[0]).float().mean().item()
print(f"in {100 * share:.0f} % of the words that differ, the beams' sequence has the better score")
assert share > 0.7

# %% [markdown]
# Few words change, and the error rates hardly move. That is no failure of the search: where it says something else, its sequence has the better score, as the last line shows. But better *by the model* is not the same as right. Where the model is wrong, searching harder finds its own opinion, only more exactly. The gain is larger where sequences are long and there are many ways to say the same, as in translation.
#
# ### Why the score is divided by the length
#
# Every further symbol multiplies the probability by a number below 1. So of two sequences the shorter has lost less, whatever it leaves out. By hand: two symbols with probability 0.5 each, against four with 0.7 each.

# %%
for name, factors in (("short", [0.5, 0.5]), ("long", [0.7, 0.7, 0.7, 0.7])):
    total = sum(map(math.log, factors))
    print(f"{name:5} probability {math.exp(total):.3f}   log-probability {total:.3f}   divided by the length {total / len(factors):.3f}")

# %% [markdown]
# As it is, the short one wins, though every one of its symbols is a worse guess. Divided by the length ($\alpha = 1$), means are compared, and the long one wins. On our words:

# %% tags=["nbval-ignore-output"]
every_third = list(sample)[::3]
means = {}
for alpha in (0.0, 1.0):
    decode = lambda *given, alpha=alpha, **options: beam_search(*given, beam_size=8, length_penalty=alpha, **options).best()  # noqa: E731
    found = pronounce(model, every_third, decode=decode)
    means[alpha] = sum(map(len, found)) / len(found)
    print(f"alpha {alpha:.0f}: mean length {means[alpha]:.3f} sounds   WER {100 * metrics.word_error_rate(found, [sample[word] for word in every_third]):.1f} %")
assert means[0.0] <= means[1.0]

# %% [markdown]
# The mean length is never larger without the division. Here the effect is small: a word has about as many sounds however it is said, so all candidates have nearly the same length. Where lengths differ much, as in translated sentences, results without it end far too early.

# %% [markdown]
# ## 11.6 Where it looks: cross-attention as an alignment
#
# In each decoder layer, each head gives every sound a row of weights over the letters. `align` takes their mean, over all heads and layers. Four words; before you look, say which letters each of their sounds needs.

# %% tags=["nbval-ignore-output"]
for pair in (("attention", "knight"), ("through", "phoenix")):
    axes = plotting.new_axes(11.0, 3.9, columns=2)
    for ax, word in zip(axes, pair, strict=True):
        found = align(model, word)
        seen = "trained on" if split_of(word) == "train" else f"held out ({split_of(word)})"
        plotting.attention_heatmap(found.weights, found.sounds, list(word), ax=ax, title=f"{word}: {seen}")
        ax.set(xlabel="letter (key)", ylabel="sound (query)")
    plotting.show(axes[0], f"Cross-attention for {pair[0]} and {pair[1]}, mean over heads and layers: one row a sound, one column a letter; the bright cells run down from left to right.")
for word in ("attention", "knight", "through", "phoenix"):
    sounds = tuple(sound for sound in align(model, word).sounds if sound != "<end>")
    print(f"{word:10} {' '.join(sounds):22} {'right' if sounds in words[word] else 'wrong: ' + ' '.join(words[word][0])}")

# %% [markdown]
# *Notice the diagonal. It was learned: nobody ever said which letter belongs to which sound.* Looking at the right letters is not yet knowing what they say: in *through* the vowel is read from `o` and `u`, as it should be, but the letters *ough* are spoken in half a dozen ways, and whoever has to guess may guess wrong.
#
# Most rows lie on several letters, and one reason is the mean: many heads, each with its own weighting, have been laid on top of each other. Taken one by one:

# %% tags=["nbval-ignore-output"]
@torch.no_grad()
def cross_weights(word):
    source = SPELLING.batch([word])  # (1, L_s)
    tokens = greedy_decode(model, source, max_len=MAX_PHONEMES).tokens  # (1, L_t)
    previous = torch.cat((torch.full((1, 1), START_ID), tokens[:, :-1]), dim=1)  # (1, L_t): what each step was given
    with record_attention(model) as seen:
        model(source, previous)
    return torch.stack(seen.matching("decoder_layers.*.cross_attention"))[:, 0, :, :-1]  # (layers, H, sounds, L_s): the end symbol's row left out


long_words = [word for word in split("test") if 8 <= len(word) <= 12][::20]
counted, moved, together = [], [], []
for word in long_words:
    weights = cross_weights(word)
    counted.append(torch.special.entr(weights).sum(-1).exp().mean(-1))  # (layers, H): letters that count (lesson 02)
    together.append(torch.special.entr(weights.mean(dim=(0, 1))).sum(-1).exp().mean())  # of the mean over layers and heads
    place = (weights * torch.arange(weights.shape[-1])).sum(-1)  # (layers, H, sounds): where it looks, on average
    moved.append((place.diff(dim=-1) > 0).float().mean(-1))  # (layers, H): share of steps to the right
counted, moved = torch.stack(counted).mean(0), torch.stack(moved).mean(0)
print(f"{len(long_words)} held-out words of 8 to 12 letters; for each head: letters that count, and the share of steps to the right")
for layer in range(c.num_layers):
    print(f"layer {layer}:  " + "   ".join(f"{n:.1f} {100 * m:3.0f} %" for n, m in zip(counted[layer], moved[layer], strict=True)))
print(f"letters that count, mean over the heads {counted.mean():.1f}   in the mean of all heads {torch.stack(together).mean():.1f}")
assert moved.max() > 0.8 and counted.min() < 4 and torch.stack(together).mean() > counted.mean() + 0.3

# %% tags=["nbval-ignore-output"]
weights = cross_weights("phoenix")
sounds = align(model, "phoenix").sounds[: weights.shape[2]]
axes = plotting.new_axes(11.0, 3.7, columns=2)
for ax, index, name in zip(axes, (counted.argmin().item(), counted.argmax().item()), ("the sharpest head", "the broadest head"), strict=True):
    layer, head = divmod(index, c.num_heads)
    plotting.attention_heatmap(weights[layer, head], sounds, list("phoenix"), ax=ax, title=f"{name}: layer {layer}, head {head}")
    ax.set(xlabel="letter (key)", ylabel="sound (query)")
plotting.show(axes[0], "Cross-attention of two single heads for phoenix: in the first each row has most of its weight on one letter, in the second some rows have it on several.")

# %% [markdown]
# *Notice where they look for the same sound: not always at the same letter.* A single head is sharper than the mean of all, as the table above says for many words; and heads differ in how far they look and how steadily they move to the right. "Sharpest" and "broadest" come from measuring many words; one picture would not be enough.
#
# **Read it with care.** What a sound looks at is the encoder's *output* at a letter, and the encoder's self-attention has mixed the letters before. So a head may look at the letter *beside* the one that we expect, and still find there what it needs. `ph` makes one `F`: either place may hold it. An alignment says where the model looks, not what it finds there, and not why it decides.

# %% [markdown]
# ## 11.7 Which words, which sounds
#
# One number for all words hides what one could learn from. First: **which words?** Our dictionary is full of names and loan words, and does not mark them. But they *look* unusual. So we measure how usual a spelling is: the mean log-probability of each letter after the two before it, counted on the training words. Then the test words in four equal groups, from the most usual to the least.

# %% tags=["nbval-ignore-output"]
triples, doubles = Counter(), Counter()
for word in split("train"):
    padded = f"^^{word}$"
    for i in range(2, len(padded)):
        triples[padded[i - 2 : i + 1]] += 1
        doubles[padded[i - 2 : i]] += 1


def usual(word):
    padded = f"^^{word}$"
    return sum(math.log((triples[padded[i - 2 : i + 1]] + 0.1) / (doubles[padded[i - 2 : i]] + 2.7)) for i in range(2, len(padded))) / (len(word) + 1)


is_wrong = {word: hypothesis not in sample[word] for word, hypothesis in zip(sample, said, strict=True)}
ranked = sorted(sample, key=usual, reverse=True)
quarters = [ranked[i * len(ranked) // 4 : (i + 1) * len(ranked) // 4] for i in range(4)]
for name, part in zip(("most usual", "usual", "unusual", "least usual"), quarters, strict=True):
    print(f"{name:12} WER {100 * sum(is_wrong[word] for word in part) / len(part):4.1f} %   for example {', '.join(part[:: len(part) // 5][:5])}")
assert sum(is_wrong[word] for word in quarters[3]) > 1.3 * sum(is_wrong[word] for word in quarters[0])

# %% tags=["nbval-ignore-output"]
groups, answer_to = [(1, 5), (6, 7), (8, 9), (10, 30)], dict(zip(sample, said, strict=True))
print("letters   words     WER      PER")
for low, high in groups:
    part = [word for word in sample if low <= len(word) <= high]
    hypotheses = [answer_to[word] for word in part]
    references = [sample[word] for word in part]
    print(f"{low:2} to {high:2}  {len(part):5}  {100 * metrics.word_error_rate(hypotheses, references):5.1f} %  {100 * metrics.phoneme_error_rate(hypotheses, references):5.1f} %")
print()
for word, hypothesis in [(word, hypothesis) for word, hypothesis in zip(sample, said, strict=True) if is_wrong[word]][::30][:10]:
    print(f"{word:14} model: {' '.join(hypothesis):30} dictionary: {' '.join(sample[word][0])}")

# %% [markdown]
# The unusual spellings are wrong clearly more often. Look at the examples: names, words from other languages, and words where one may doubt the dictionary. A spelling such as *-eau* or *-cz* follows the rules of another language, and nothing in the word says which.
#
# Second: **which sounds?** To know what was said in the place of what, hypothesis and reference must be aligned: we go back through the table of edit distances from the lower right corner and note which way each box was reached.

# %%
def edits_between(said, truth):
    """Pairs (said, true); '-' where nothing was said, or nothing should have been."""
    D = [[i + j for j in range(len(truth) + 1)] for i in range(len(said) + 1)]  # only the first row and column stay
    for i, j in itertools.product(range(1, len(said) + 1), range(1, len(truth) + 1)):
        D[i][j] = min(D[i - 1][j] + 1, D[i][j - 1] + 1, D[i - 1][j - 1] + (said[i - 1] != truth[j - 1]))
    i, j, found = len(said), len(truth), []
    while i or j:
        if i and j and D[i][j] == D[i - 1][j - 1] + (said[i - 1] != truth[j - 1]):
            i, j, pair = i - 1, j - 1, (said[i - 1], truth[j - 1])
        elif i and D[i][j] == D[i - 1][j] + 1:
            i, pair = i - 1, (said[i - 1], "-")
        else:
            j, pair = j - 1, ("-", truth[j - 1])
        found.append(pair)
    return found[::-1]


example = edits_between("N AE SH N".split(), "N EY SH AH N".split())
print(example)
assert sum(a != b for a, b in example) == metrics.edit_distance("N AE SH N".split(), "N EY SH AH N".split()) == 2

# %% tags=["nbval-ignore-output"]
VOWELS = set("AA AE AH AO AW AY EH ER EY IH IY OW OY UH UW".split())
confused, totals = Counter(), Counter()
for word, hypothesis in zip(sample, said, strict=True):
    nearest = min(sample[word], key=lambda reference: metrics.edit_distance(hypothesis, reference))
    totals.update(nearest)
    confused.update(pair for pair in edits_between(hypothesis, nearest) if pair[0] != pair[1])
number = sum(confused.values())
vowel_edits = sum(n for (a, b), n in confused.items() if {a, b} <= VOWELS | {"-"})
print(f"{number} edits; {100 * vowel_edits / number:.0f} % concern vowels only, though vowels are {100 * sum(n for s, n in totals.items() if s in VOWELS) / sum(totals.values()):.0f} % of the sounds")
top = [sound for sound, _ in Counter({s: sum(n for pair, n in confused.items() if pair[1] == s) for s in totals}).most_common(8)]
table = torch.tensor([[confused[said_, true] for said_ in top] for true in top])  # (8, 8)
assert vowel_edits > 0.5 * number and "AH" in dict(totals.most_common(3))
ax = plotting.similarity_heatmap(table.float(), top, top, quantity="number of times", title="said in the place of what?")
ax.set(xlabel="said", ylabel="should have been")
plotting.show(ax, "Confusions among the eight sounds that are most often wrong: rows what should have been said, columns what was said; the large numbers lie among the vowels.")

# %% [markdown]
# *Notice which sounds these are: vowels, nearly all or all of them.* That is what English is like: its consonants are spelled much the same everywhere, its vowels are not. `AH`, one of the three most frequent sounds, is also the *schwa* of unstressed syllables, and which syllable is stressed the spelling does not say.

# %% [markdown]
# ## 11.8 One thing taken out at a time
#
# What is each part of the model worth? An **ablation** trains the same small model again and again, with one thing removed. `python -m course_utils.zoo ablate` did so: 2 layers, `d_model` 64, all training words, few epochs (the table says how many), Muon and Adam as for the large model, and each variant with **three seeds**, because a single run may be lucky. It judged them on *valid*.
#
# | variant | what was done |
# |---|---|
# | no positions | no rotary positions: letters and sounds without an order |
# | no scaling | scores not divided by $\sqrt{d_{head}}$, $d_{head} = 16$ |
# | one head | one head of size 64 instead of four of size 16 |
# | no padding mask | attention sees padded places of the source |
# | no causal mask | in training, each sound sees the sounds after it |
#
# **Predict first.** Order the five by the damage they do. For which one will the training loss be the *lowest* of all?

# %%
runs = ablation.read_table()
column = lambda name, field: [float(run[field]) for run in runs if run["variant"] == name]  # noqa: E731
print("epochs:", *sorted({int(run["epochs"]) for run in runs}))
print("variant            runs   training loss   valid loss   valid WER: mean (lowest to highest)")
for name in ablation.VARIANTS:
    wer = column(name, "valid_WER")
    mean = lambda field: sum(column(name, field)) / len(column(name, field))  # noqa: B023, E731
    print(f"{name:18} {len(wer):3} {mean('train_loss'):12.3f} {mean('valid_loss'):14.3f} {mean('valid_WER'):12.1f} %  ({min(wer):.1f} to {max(wer):.1f})")
full = column("full", "valid_WER")
assert all(min(column(name, "valid_WER")) > max(full) for name in ablation.VARIANTS if name != "full")
assert min(ablation.VARIANTS, key=lambda name: min(column(name, "train_loss"))) == "no causal mask"

# %%
axes = plotting.new_axes(10.0, 3.0, columns=2)
close = [name for name in ablation.VARIANTS if max(column(name, "valid_WER")) < 60]
for ax, shown in zip(axes, (list(ablation.VARIANTS), close), strict=True):
    for row, name in enumerate(shown):
        wer = column(name, "valid_WER")
        ax.plot([min(wer), max(wer)], [row, row], color=plotting.COLORS[0], lw=2)
        ax.plot(wer, [row] * len(wer), "o", color=plotting.COLORS[0])
    ax.set_yticks(range(len(shown)), shown)
    ax.invert_yaxis()
    ax.set(xlabel="word error rate on valid (%)")
axes[0].set_xlim(0, 102)
plotting.show(axes[0], "Word error rate of each variant, one dot for each seed: no causal mask and no positions lie far to the right; the others, drawn larger on the right, lie close to the full model, but none of their dots reaches back to its dots.")

# %% [markdown]
# *Notice that the three dots of a variant lie close together, and that no variant overlaps with the full model.* So each part is worth something here. How much, and why:
#
# - **No causal mask** has the lowest loss of all, in training and on valid, and every word wrong. In training the next sound stood in plain sight, so the model learned to copy it. In decoding there is no next sound to copy. The loss cannot show this; decoding does. It is the parrot of lesson 10.
# - **No positions** does great damage: encoder and cross-attention see a bag of letters, in which *tea* and *eat* are alike. What it still gets right is worth a thought: the causal mask tells the decoder how many sounds it has said, and many letters have a likely sound wherever they stand.
# - **One head** has as many parameters as four, and is worse: one weighting for each sound instead of four (lesson 06).
# - **No scaling**: the scores are 4 times as large at the start ($d_{head} = 16$), so the softmax is sharper and its gradient smaller (lesson 04). The model can learn smaller queries; after these few epochs a part of the delay is left.
# - **No padding mask** is the odd one: its training loss is that of the full model, and its words are worse. Batches sorted by length have hardly any padding (11.2), so in training there was little to go wrong, and nothing to learn how to bear it. For decoding, 256 words of *neighboring* lengths go together. How many words are padded in each?

# %% tags=["nbval-ignore-output"]
def padded_words(batches):
    rows = torch.cat([(batch == PAD_ID).any(dim=1) for batch in batches])  # (words,)
    return 100 * rows.float().mean().item()


in_training = padded_words([batch.source for batch in batches_by_length(encode_pairs(split("train"), SPELLING, SOUNDS), 3000, seed=0)])
in_decoding = padded_words([source for _, source in source_batches([SPELLING.encode(word) for word in split("valid")], 256)])
print(f"words with padding: in training {in_training:.1f} %   in decoding {in_decoding:.1f} %")
assert in_decoding > 5 * in_training

# %% [markdown]
# So the model met at the judging what it had hardly met in training. The mask makes the neighbors of a word in its batch meaningless; without it, what a word becomes depends on who stands beside it.
#
# An ablation says what a part is worth *here*: for this task, this size, this training. A longer training often makes up for a missing part.

# %% [markdown]
# ## Look
#
# In a terminal one line does it all: `python -m course_utils.zoo pronounce attention`. It prints the beams and draws the alignment in characters. The same from here:

# %% tags=["nbval-ignore-output"]
assert pronounce_command(["attention", "--beams", "3"]) == 0  # the exit status: all went well

# %% [markdown]
# And the widget: type any word and press Enter. First the static picture of its first state.

# %% tags=["nbval-ignore-output"]
viewer = widgets.pronouncer(model, "phoenix")
viewer.show_first_state("Alignment of phoenix as a heatmap, one row a sound, one column a letter; beside it five sequences with their probabilities, and what the dictionary says.")

# %% [markdown]
# *The percentages are those of whole sequences; what is missing to 100 % belongs to sequences that were not found.* Try your own name, a word that does not exist, a word of another language. With "draw number" you see the alignment of another beam: where does it look when it says something else? Words with other characters than a to z are refused with a sentence.

# %% tags=["nbval-ignore-output"]
viewer

# %% [markdown]
# ## What goes wrong
#
# **Probabilities multiplied.** Products of many small numbers leave the range of floating point: they become 0, all candidates are equal, and the search chooses blindly. How you would notice: all scores are 0 or minus infinity, and only long sequences are affected.

# %%
for length in (10, 100, 400):
    log_probs = torch.full((length,), math.log(0.15))
    print(f"{length:3} symbols: product {log_probs.exp().prod().item():.3g}   sum of the logarithms {log_probs.sum().item():.1f}")

# %% [markdown]
# **Teacher forcing in the evaluation.** If the model is given the true sounds while its phoneme error rate is measured, each mistake is mended at once, and it is told when to stop. How you would notice: the code that measures needs the answer to run. On held-out words with one pronunciation:

# %% tags=["nbval-ignore-output"]
single = {word: accepted[0] for word, accepted in sample.items() if len(accepted) == 1}
source = SPELLING.batch(list(single))  # (B, L_s)
target = SOUNDS.batch(list(single.values()), start=True, end=True)  # (B, L_t)
with torch.no_grad():
    wrong = (model(source, target[:, :-1]).argmax(-1) != target[:, 1:]) & (target[:, 1:] > END_ID)  # (B, L_t - 1): sounds only
forced = (wrong.sum() / (target > END_ID).sum()).item()
alone = metrics.phoneme_error_rate([hypothesis for word, hypothesis in zip(sample, said, strict=True) if word in single], [[sounds] for sounds in single.values()])
print(f"wrong sounds, the true ones given: {100 * forced:.1f} %   phoneme error rate, decoded alone: {100 * alone:.1f} %")
assert alone > forced

# %% [markdown]
# **Judged on words it was trained on.** The easiest way to a splendid number. How you would notice: ask which words were held out, and by which rule.

# %% tags=["nbval-ignore-output"]
trained_on = dict(list(split("train").items())[::100])
on_train = error_rates(model, trained_on)
print(f"WER on {len(trained_on)} training words {100 * on_train['WER']:.1f} %   on {len(sample)} held-out words {100 * rates['Transformer']['WER']:.1f} %")
assert on_train["WER"] < rates["Transformer"]["WER"]

# %% [markdown]
# ## In practice
#
# - **Batches by length** go by the name *bucketing*; a limit in symbols instead of words is `max_tokens` in fairseq. Today's language models go further: they *pack* several short texts into one row and mask them from each other.
# - **Beam search** is the standard in translation and speech recognition, with 4 or 5 beams. In `transformers` it is `generate(num_beams=5, length_penalty=1.0)`, with the same rule for the length. Open-ended text is *sampled* instead (lesson 12): there the most probable sequence is a dull one.
# - **The cache** of lesson 07 goes with every beam: `reorder_cache` in `transformers`, `state.reorder` here.
# - **Cards.** A trained model comes with a page that says on which data it was trained, how it was judged, and what it is not for.
# - **Speech synthesis** looks a word up in a dictionary first, and asks a model such as ours for the rest only.

# %% [markdown]
# ## Recap
#
# 1. **Batches**: shuffled, sorted by length, cut by a limit in symbols, shuffled again. Padding falls from a large share to a few per cent.
# 2. **Training and judging**: the loss falls from the cost of guessing; what counts is the word error rate on held-out words, with its standard error. Figures of others are on other splits and rules.
# 3. **Beam search**: $K$ sequences at once, logarithms added, finished ones set aside, scores divided by the length. It finds what the model holds more probable, which need not be right.
# 4. **Alignment**: the mean over heads and layers runs from left to right; single heads differ much. It says where the model looks.
# 5. **Errors and ablation**: unusual spellings and vowels go wrong. A missing causal mask has the best loss and the worst words.
#
# | symbol | meaning | shape |
# |---|---|---|
# | $s$, $t$, $n$ | longest source, longest target, pairs of a batch | numbers |
# | $y$, $\lvert y \rvert$ | a sequence and its length, end symbol included | ids `(L_out,)`, a number |
# | $K$ | beams | a number |
# | $\alpha$ | exponent of the length | a number |
# | tokens of the beams | sequences of each word, best first | `(B, K, L_out)` |
# | cross-attention | one row a sound, one column a letter | `(layers, H, L_t, L_s)` |

# %% [markdown]
# ## Check yourself
#
# <details><summary>1. A batch limit of 2500 symbols. Which batch has more words: one of short words or one of long words?</summary>
#
# **The one of short words.** The limit is on symbols, so short words fit in larger numbers. (Not "equal numbers": that would be a limit in words, and batches of long words would then be many times as large in memory.)
# </details>
#
# <details><summary>2. Beam search with more beams found a sequence with a higher probability, and the word error rate rose. Is the search broken?</summary>
#
# **Not necessarily.** The search did its work: it found what the model holds more probable. The model is wrong about that word. (Not "the length normalization is missing": that is a possible cause only if the found sequences are shorter.)
# </details>
#
# <details><summary>3. Why may a finished beam not be extended?</summary>
#
# **After the end symbol the sequence is complete.** Its probability is final; what would come behind it has no meaning, and the model was never trained on it. (Not "because its probability would fall": that is true of every extension.)
# </details>
#
# <details><summary>4. Somebody divides the edits by the length of what the model said. Which model profits?</summary>
#
# **One that talks too much.** Superfluous sounds are edits, but they enlarge the divisor too. The references do not depend on the model; divide by them.
# </details>
#
# <details><summary>5. A model without a causal mask reaches a far lower loss, on held-out words as well. Why is that no evidence?</summary>
#
# **Because the loss is computed with the true sounds given, and without the mask the answer is among them.** Held-out words do not help: their answers are given too. Only decoding, without any answer, shows it. (Not "overfitting": the model has not learned the training words by heart, it has learned to copy.)
# </details>
#
# {{next_steps}}

# %% [markdown]
# ## References
#
# - Graves, *Sequence Transduction with Recurrent Neural Networks*, 2012, section 2.3: beam search for neural sequence models.
# - Wu et al., *Google's Neural Machine Translation System*, 2016, section 7: length normalization, and what it gains in translation.
# - Jordan et al., *Muon: An Optimizer for Hidden Layers in Neural Networks*, 2024; Liu et al., *Muon is Scalable for LLM Training*, 2025, section 2.2 (the size of its updates).
# - Bahdanau, Cho, Bengio, *Neural Machine Translation by Jointly Learning to Align and Translate*, 2015, section 5.2: alignments read from attention.
# - Jain, Wallace, *Attention is not Explanation*, 2019: why an alignment is not a reason.
# - Novak, Minematsu, Hirose, *Phonetisaurus: Exploring Grapheme-to-Phoneme Conversion with Joint n-gram Models in the WFST Framework*, 2016: the classical way to do this task.
# - CMU Sphinx, *g2p-seq2seq*: a Transformer for this task, with the published figures of section 11.4 in its README.
# - Yolchuyeva, Németh, Gyires-Tóth, *Transformer based Grapheme-to-Phoneme Conversion*, 2019: the same task, with sizes compared.
# - Carnegie Mellon University, *The CMU Pronouncing Dictionary*: the words.
