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
# By the end you can train a Transformer on a real task, compare models fairly, search with beams, and see which letters each sound looks at.
#
# {{colab_link}} · short path about 70 minutes with its exercises (39 + 29), everything about 3¼ hours · builds on lessons 03 and 10

# %% tags=["setup"]
import math
import random
import time
from collections import Counter

import torch

from course_utils import diagrams, metrics, plotting, pretrained, training, widgets
from course_utils.datasets.batches import (
    batches_by_length,
    encode_pairs,
    share_of_padding,
    source_batches,
)
from course_utils.datasets.pronunciations import pronunciations, split
from course_utils.decoding import beam_search
from course_utils.models import Transformer, TransformerConfig, count_parameters
from course_utils.pretrained.evaluate import BEGIN, END
from course_utils.pretrained.pronounce import main as pronounce_command
from course_utils.pretrained.pronunciation import (
    MAX_PHONEMES,
    SOUNDS,
    SPELLING,
    align,
    error_rates,
    pronounce,
)
from course_utils.recording import record_attention
from course_utils.results import read_rows
from course_utils.tokenizers import PAD_ID, pad
from course_utils.training.losses import target_symbols, teacher_forced_loss

torch.set_printoptions(precision=3, sci_mode=False, linewidth=88)
torch.set_num_threads(1)  # small tensors: threads would only get in each other's way

# %% [markdown]
# **You will learn to**
#
# 1. train a Transformer on real words, and test whether its attention finds the letters;
# 2. put words of unequal length into batches with little padding;
# 3. compare models fairly, with one thing changed, the same budget, several seeds and the same words;
# 4. search with beams, say when the search may stop, and what more beams can and can't mend;
# 5. find out which words and sounds go wrong, and what each part of the model is worth.
#
# Lesson 10 trained a Transformer on made-up sequences, where a rule gave the right answer. English spelling has rules, exceptions, and exceptions to those. As in lesson 03, `nation` becomes `N EY SH AH N`.

# %% [markdown]
# ## Predict first
# *Core · 3 minutes*
#
# A decoder says one symbol after another until it says `end`. This one has three symbols, and its probabilities depend on what it said last.
#
# | after | `X` | `Y` | `Z` | `end` |
# |---|---|---|---|---|
# | nothing | 0.40 | 0.35 | 0.25 | 0 |
# | `X` | 0.20 | 0.20 | 0.20 | 0.40 |
# | `Y` | 0.20 | 0.20 | 0.10 | 0.50 |
# | `Z` | 0.02 | 0.02 | 0.01 | 0.95 |
#
# Greedy decoding takes the most probable symbol at each step, which makes it begin with `X`. The probability of a whole sequence is the product of its steps.

# %%
widgets.predict(
    "11.A",
    "Which sequence is the most probable as a whole?",
    choices=["X end", "Y end", "Z end", "X X end"],
)

# %% tags=["nbval-ignore-output"]
AFTER = {
    "": {"X": 0.40, "Y": 0.35, "Z": 0.25},
    "X": {"X": 0.20, "Y": 0.20, "Z": 0.20, "end": 0.40},
    "Y": {"X": 0.20, "Y": 0.20, "Z": 0.10, "end": 0.50},
    "Z": {"X": 0.02, "Y": 0.02, "Z": 0.01, "end": 0.95},
}
whole = {}
for said in ("X end", "Y end", "Z end", "X X end"):
    before, whole[said] = "", 1.0
    for symbol in said.split():
        whole[said], before = whole[said] * AFTER[before][symbol], symbol
    print(f"{said:8} {whole[said]:.4f}")
widgets.came_out("11.A", max(whole, key=whole.get))

# %% [markdown]
# The first step looks worst for `Z`, and yet `Z end` wins, because after `Z` nearly all of the probability goes to the end. Greedy decoding can't know that when it chooses. Section 11.5 searches better.

# %% [markdown]
# ## 11.1 Words it has never seen
# *Core · 6 minutes*
#
# The words come from the CMU Pronouncing Dictionary, without its stress marks. A word counts as right if what was said is *any* of its listed pronunciations. **A hash of the word** decides where it belongs. We read the first 8 bytes of its SHA-256 as a number, modulo 20. Remainder 0 is *test*, 1 is *valid*, and the rest is *train*.

# %% tags=["nbval-ignore-output"]
words = pronunciations()
print({part: f"{len(split(part)):,}" for part in ("train", "valid", "test")})
several = sum(len(accepted) > 1 for accepted in words.values())
print(f"{100 * several / len(words):.0f} % have several pronunciations, like 'either':")
print(*map(" ".join, words["either"]), sep="   or   ")

# %% [markdown]
# Choices are made on *valid*. *Test* is for the figures at the end, and nothing is chosen by them. The split can't promise everything. If *attended* is in train and *attend* in test, part of what looks like reading may be remembering. (How much harder are words without such a relative? That's the open experiment, exercise 11.7.)
#
# Here is the Transformer that comes with the course, on two words that it was not trained on. For each sound that it says, we draw the cross-attention, the mean over all layers and heads.

# %% tags=["nbval-ignore-output"]
model = pretrained.load("transformer").eval()
c = model.config
sizes = f"d_model {c.d_model}, d_ff {c.d_ff}, {c.num_heads} heads"
print(f"{c.num_layers} + {c.num_layers} layers, {sizes}")
print(f"{count_parameters(model):,} parameters")

# %% tags=["nbval-ignore-output"]
shown = ["gautreaux", "birthrights"]
axes = plotting.new_axes(11.0, 3.9, columns=2)
for ax, word in zip(axes, shown, strict=True):
    found = align(model, word)
    names = [sound.strip("<>") for sound in found.sounds]
    plotting.attention_heatmap(found.weights, names, list(word), ax=ax, title=word)
    ax.set(xlabel="letter (key)", ylabel="sound (query)")
    print(f"{word}: the dictionary has {' or '.join(map(' '.join, words[word]))}")
plotting.show(
    axes[0],
    f"Cross-attention for {' and '.join(shown)}: one row per sound, one column per "
    "letter. The dark cells run to the right, in birthrights with a jump over g and h.",
)

# %% [markdown]
# *Both words are said right. In* birthrights *the darkest cell jumps from the i to the t, over g and h. In* gautreaux *five sounds share nine letters.* The model was told words and their sounds, and never which letter belongs to which sound.
#
# Does it find the letters, or does it go to the right at an even pace? On words with as many letters as sounds the two look alike. We test it on held-out words with at least three letters more than sounds that the model says right, and for consonants only, because there a short list says which letters can write a sound.

# %%
CAN_WRITE = dict(
    pair.split(":")
    for pair in (
        "B:b CH:ctj D:d DH:t F:fpgv G:gqx HH:hwjx JH:jgd K:kcqx L:l M:m N:nkg NG:n "
        "P:p R:r S:sczx SH:sctxh T:td TH:t V:vfw W:wuoq Z:zsx ZH:sgzj"
    ).split()
)
bending = [w for w in split("valid") if max(map(len, words[w])) <= len(w) - 3][::4]

# %% tags=["nbval-ignore-output"]
hits, judged = Counter(), 0
for word in bending:
    found, last = align(model, word), len(word) - 1
    sounds = found.sounds[:-1]
    if tuple(sounds) not in words[word]:
        continue
    for i, sound in enumerate(sounds):
        places = {"letter with most weight": int(found.weights[i].argmax())}
        places["letter at an even pace"] = round(i * last / max(1, len(sounds) - 1))
        places["letter number = sound number"] = i
        if letters := CAN_WRITE.get(sound):
            hits.update(name for name in places if word[places[name]] in letters)
            judged += 1
for name, n in hits.most_common():
    print(f"{name:29} can write the sound: {100 * n / judged:.0f} % of {judged}")

# %% [markdown]
# An even pace would often land on a letter that can't write the sound. The letter with the most weight hardly ever does. So these weights do find letters. (Single heads come in 11.6.)

# %% [markdown]
# ## 11.2 Watching attention find the letters
# *Core · 6 minutes*
#
# We train a small Transformer on an eighth of the training words, two passes over them, with the loop `fit` of lesson 10. Before, during and after, we look at a held-out word with its true sounds given.

# %% tags=["nbval-ignore-output"]
some_words = dict(list(split("train").items())[::8])
# letters and sounds as ids; the target stands between start and end symbol
pairs = encode_pairs(some_words, SPELLING, SOUNDS)
training.seed_everything(0)
sizes = {"num_layers": 2, "d_model": 64, "d_ff": 256, "num_heads": 4, "dropout": 0.0}
config = TransformerConfig(
    len(SPELLING), len(SOUNDS), max_len=64, positions="rotary", **sizes
)
small, EPOCHS = Transformer(config), 2
epochs = [list(batches_by_length(pairs, 1000, seed=epoch)) for epoch in range(EPOCHS)]
num_steps = sum(map(len, epochs))
print(f"{count_parameters(small):,} parameters")
print(f"{len(pairs):,} pairs, {num_steps} updates")

# %%
@torch.no_grad()
def looks_at(model, word, sounds):
    """Cross-attention of all heads, the true sounds given: (heads, L_t, L_s)."""
    given = SOUNDS.batch([sounds], start=True)  # (1, L_t)
    with record_attention(model.eval()) as seen:
        model(SPELLING.batch([word]), given)
    layers = torch.stack(seen.matching("decoder_layers.*.cross_attention"))
    return layers[:, 0].flatten(0, 1)  # (layers, 1, H, L_t, L_s) -> (heads, L_t, L_s)

# %% tags=["nbval-ignore-output"]
watched = shown[1]
sounds = words[watched][0]
pictures, step_losses = {"before": looks_at(small, watched, sounds)}, []


def loss_kept(model, batch):
    loss = teacher_forced_loss(model, batch)
    step_losses.append(loss.item())
    if len(step_losses) == num_steps // 4:
        pictures["after a quarter"] = looks_at(model, watched, sounds)
        model.train()
    return loss


# %% tags=["nbval-ignore-output"]
history = training.fit(
    small,
    lambda epoch: epochs[epoch],
    loss_kept,
    epochs=EPOCHS,
    rate=lambda step: training.one_cycle_rate(step, num_steps, peak=0.006),
    weigh=target_symbols,
)
pictures["at the end"] = looks_at(small, watched, sounds)
pictures["shipped model"] = looks_at(model, watched, sounds)

# %% tags=["nbval-ignore-output"]
print(f"guessing evenly among {len(SOUNDS)} symbols: {math.log(len(SOUNDS)):.2f} nats")
said = ", ".join(f"{loss:.2f}" for loss in history.losses)
print(f"first batch {step_losses[0]:.2f}, mean of the epochs {said} nats per symbol")
for two in (("before", "after a quarter"), ("at the end", "shipped model")):
    axes = plotting.new_axes(11.0, 3.6, columns=2)
    for ax, name in zip(axes, two, strict=True):
        labels = [*sounds, "end"], list(watched)
        mean = pictures[name].mean(dim=0)  # (L_t, L_s)
        plotting.attention_heatmap(mean, *labels, ax=ax, title=name)
        ax.set(xlabel="letter (key)", ylabel="sound (query)")
    plotting.show(
        axes[0], f"Mean cross-attention for {watched}: {two[0]}, {two[1]}. One row per "
        "sound, one column per letter, all on the scale 0 to 1.",
    )  # fmt: skip

# %% [markdown]
# *Nearly even before training; some letters are darker after a quarter of it; at the end most rows have one dark cell.* The small model is *surer* than the shipped one, in this picture. Is it better, too? Here is what both say for words that they never saw, and how dark the darkest cell of a row is, in a single head and in the mean of several.

# %% tags=["nbval-ignore-output"]
samples = [*shown, *[word for word in split("valid") if len(word) == 6][:40:10]]
both = {"small": small, "shipped": model}
said = {name: pronounce(one, samples) for name, one in both.items()}
print(f"{'':12} {'small model':21} {'shipped model':21} dictionary")
for n, word in enumerate(samples):
    ours, shipped = (" ".join(said[name][n]) for name in both)
    print(f"{word:12} {ours:21} {shipped:21} {' or '.join(map(' '.join, words[word]))}")

# %% tags=["nbval-ignore-output"]
def darkest(pictures):  # the darkest cell of a row, averaged
    return torch.stack([picture.amax(-1).mean() for picture in pictures]).mean()


rng = torch.Generator().manual_seed(0)
for name, one in both.items():
    heads = [looks_at(one, word, words[word][0]) for word in bending[::2]]
    eight = [h[torch.randperm(len(h), generator=rng)[:8]].mean(0) for h in heads]
    every = [h.mean(0) for h in heads]
    tops = [h.argmax(-1) for h in heads]  # (heads, L_t) each
    a, b = torch.triu_indices(len(tops[0]), len(tops[0]), 1)  # all pairs of heads
    agree = torch.stack([(t[a] == t[b]).float().mean() for t in tops]).mean()
    print(f"{name:8} darkest cell: one head {darkest(heads):.2f},", end=" ")
    print(f"mean of 8 {darkest(eight):.2f}, of all {darkest(every):.2f};", end=" ")
    print(f"two heads agree on it in {100 * agree:.0f} % of rows")

# %% [markdown]
# A single head of the shipped model is nearly as sure as one of the small model. Its mean is paler. Having sixteen heads instead of eight is hardly the reason, because the mean of eight drawn at random is nearly as pale. What differs is how often two heads agree on a letter, and where they agree less, their mean is blurred. And a dark picture isn't the sign of a good model. The small one is wrong about most of these words.

# %% [markdown]
# ## 11.3 Batches by length
# *More · 8 minutes, and exercise 11.1*
#
# A batch is one tensor, which is why its words are padded to the longest. Padding costs time and teaches nothing. A word of 3 letters and one of 9 make a tensor of $2 \cdot 9 = 18$ places, a third of them padding. Words of similar length belong together.
#
# **Do exercise 11.1 now (15 minutes, {{exercises_link}}), then read on.** What does sorting gain? Here are batches with equally many words each, in random order and sorted by length:

# %% tags=["nbval-ignore-output"]
def padding_of(batches):
    parts = [part for batch in batches for part in batch]
    padded = sum(part.numel() * share_of_padding(part) for part in parts)
    return 100 * padded / sum(part.numel() for part in parts)


def batches_of(order, n):
    groups = [order[i : i + n] for i in range(0, len(order), n)]
    return [tuple(map(pad, zip(*group, strict=True))) for group in groups]


# %% tags=["nbval-ignore-output"]
counts = (8, 32, 128, 512)
mixed = random.Random(0).sample(pairs, len(pairs))
in_order = sorted(mixed, key=lambda pair: (len(pair[0]), len(pair[1])))
orders = {"random order": mixed, "by length": in_order}
shares = {
    name: torch.tensor([padding_of(batches_of(order, n)) for n in counts])
    for name, order in orders.items()
}

# %% tags=["nbval-ignore-output"]
ax = plotting.new_axes(6.0, 3.0)
labels = {"xlabel": "words in a batch", "ylabel": "share of padding (%)"}
plotting.curves(torch.tensor(counts), shares, ax=ax, **labels)
ax.set_ylim(bottom=0)
plotting.show(
    ax, "Share of padding by the size of the batch. In random order it rises with the "
    "batch, to about half; sorted by length it stays far lower, and rises slowly.",
)  # fmt: skip

# %% [markdown]
# *The larger a batch in random order, the longer its longest word, and all others are filled up to that.* Sorted by length, far less is wasted. The price is that a batch holds words of nearly one length. Pairs of equal length change places in every epoch, and the batches come in a new order each time.

# %% [markdown]
# ## 11.4 How good is it? Comparing fairly
# *Core · 9 minutes*
#
# The **word error rate** (WER) is the share of words that match none of their pronunciations; the **phoneme error rate** (PER) counts edits per sound (lesson 03). A rate from $n$ words has a standard error of $\sqrt{\text{WER}\,(1 - \text{WER}) / n}$. (How to fool yourself with such a rate is exercise 11.6.)

# %% tags=["nbval-ignore-output"]
sample = dict(list(split("valid").items())[::8])
gru = pretrained.load("recurrent_attention")
named = {"GRU of lesson 03": gru, "Transformer": model, "small one of 11.2": small}
said_by = {name: pronounce(one, list(sample)) for name, one in named.items()}
references = list(sample.values())
print(f"{len(sample)} words of valid, greedy decoding")
for name, said in said_by.items():
    wer = metrics.word_error_rate(said, references)
    error = 100 * math.sqrt(wer * (1 - wer) / len(sample))
    per = 100 * metrics.phoneme_error_rate(said, references)
    size = f"{count_parameters(named[name]):9,} parameters"
    print(f"{name:18} WER {100 * wer:5.1f} ± {error:.1f} %   PER {per:4.1f} %", size)

# %% [markdown]
# On the whole of valid and test, from the **card** that the course keeps beside the model, these are the figures.

# %% tags=["nbval-ignore-output"]
card = (pretrained.shipped.FOLDER / "pronounce.md").read_text(encoding="utf-8")
table = card.split(BEGIN)[1].split(END)[0].strip().splitlines()
for line in table[:1] + table[2:]:
    print("  ".join(part.strip() for part in line.split("|")[2:-1]))

# %% [markdown]
# Does that show that Transformers are better than GRUs? **No.** Both were trained on all words of train, and nearly everything else differs (`experiments/recipes.py`):
#
# | | GRU with attention | Transformer |
# |---|---|---|
# | parameters | 427,370 | 1,866,410 |
# | epochs | 8 | 30 |
# | optimizer | Adam | Muon for the matrices inside the layers, with weight decay 0.1; Adam for the rest |
# | largest learning rate, share of the steps in which it rises | 0.003, the default share | 0.003, a tenth |
# | label smoothing | none | 0.1 |
# | dropout 0.1 | inside the model, where lesson 03 has it | on embeddings and on what sublayers add |
# | matrix products | 32 bits | 16 bits |
# | second task | none | says the stress of each sound, which the dictionary marks |
#
# Any of these could be the reason, and the last row is even extra information. To find out, change one thing at a time. `python -m experiments comparison` trained four small models with nearly the same number of parameters on the same words, in the same batches, for the same number of updates, with the same smoothing and shape of schedule. The largest learning rate of each was chosen from four, by a short sweep judged on *other* words of valid.
#
# | | model | matrices trained by | beside it, one thing differs |
# |---|---|---|---|
# | 1 | GRU with attention | Adam | |
# | 2 | encoder-decoder Transformer | Adam | the model, against 1 |
# | 3 | encoder-decoder Transformer | **Muon** (see "When you need it") | the optimizer and with it the best learning rate, against 2 |
# | 4 | decoder-only model (lesson 12), on texts like `nation>N EY SH AH N`, with the loss on the sounds alone | Muon | the model, against 3 |

# %%
rows = [row for row in read_rows("comparison") if row["part"] == "run"]
names = list(dict.fromkeys(row["variant"] for row in rows))
widgets.predict(
    "11.B",
    "Same budget, nearly the same size: which of the four has the lowest WER?",
    choices=names,
)

# %% [markdown]
# A landmark first. How far do you get if you say, for each letter, the sound that is most often found at its place? (Counted on words with as many sounds as letters.)

# %% tags=["nbval-ignore-output"]
at_its_place = {}
for word, accepted in split("train").items():
    if len(word) == len(accepted[0]):
        for letter, sound in zip(word, accepted[0], strict=True):
            at_its_place.setdefault(letter, Counter())[sound] += 1
usual_sound = {a: sounds.most_common(1)[0][0] for a, sounds in at_its_place.items()}
guesses = [tuple(usual_sound[letter] for letter in word) for word in sample]
landmark = 100 * metrics.word_error_rate(guesses, references)
print(f"a guess for each letter: WER {landmark:.1f} %,", end=" ")
print(f"PER {100 * metrics.phoneme_error_rate(guesses, references):.1f} %")

# %% tags=["nbval-ignore-output"]
def which_right(row):
    """(words,): the row holds the bits as one hexadecimal number, a 1 before them."""
    return torch.tensor([bit == "1" for bit in f"{int(row['right'], 16):b}"[1:]])


last = {(r["variant"], int(r["seed"])): r for r in rows if r["right"]}
seeds = sorted({seed for _, seed in last})
ending = last[names[0], 0]
judged = len(which_right(ending))
budget = f"one word in 12 of train, {ending['epoch']} epochs"
spent = f"{ending['updates']} updates, {len(seeds)} seeds"
print(f"{budget}, {spent}; {judged} words of valid")

# %% tags=["nbval-ignore-output"]
for name in names:
    ends = [last[name, seed] for seed in seeds]
    wer = "  ".join(row["WER"] for row in ends)
    size = f"{int(ends[0]['parameters']):,} parameters"
    print(f"{name:18} {size}, peak rate {ends[0]['rate']:4}  WER (%) {wer}")
mean_wer = {n: sum(float(last[n, s]["WER"]) for s in seeds) / len(seeds) for n in names}
widgets.came_out("11.B", min(mean_wer, key=mean_wer.get))

# %% [markdown]
# All four were judged on the *same words*, so we can compare word by word. To see how much chance is left, draw the words again and again with replacement (a **paired bootstrap**).

# %% tags=["nbval-ignore-output"]
def wrong_of(name):  # (words,): share of the seeds that are wrong
    found = [which_right(last[name, s]) for s in seeds]
    return 1 - torch.stack(found).float().mean(dim=0)


def paired(a, b, times=2000):
    """Mean of a - b over words, and the middle 95 % of draws of words."""
    difference = 100 * (a - b)  # (words,)
    rng = torch.Generator().manual_seed(0)
    drawn = torch.randint(len(difference), (times, len(difference)), generator=rng)
    low, high = difference[drawn].mean(1).quantile(torch.tensor([0.025, 0.975]))
    return difference.mean().item(), low.item(), high.item()

# %% tags=["nbval-ignore-output"]
def missed(name):  # (words,): of the models that come with the course
    both = zip(said_by[name], references, strict=True)
    return torch.tensor([one not in accepted for one, accepted in both]).float()


for one, other in zip(names, names[1:], strict=False):
    mean, low, high = paired(wrong_of(other), wrong_of(one))
    print(f"{other:19} less {one:18} {mean:+5.1f} points ({low:+.1f} to {high:+.1f})")
mean, low, high = paired(missed("GRU of lesson 03"), missed("Transformer"))
print(f"shipped GRU less shipped Transformer: {mean:+.1f} ({low:+.1f} to {high:+.1f})")

# %% [markdown]
# Surprised? With this budget the GRU is ahead of the Transformer, and the choice of optimizer, each with its own best rate, moves the Transformer far. Between the last two, the interval includes 0, so these words don't tell them apart. The interval says how much the *choice of words* could move a difference. The seeds side by side say how much a fresh start could.
#
# **Does the GRU's lead last?** Three epochs are few. `python -m experiments budgets` trained models 1 and 3 for 9 epochs (three seeds) and for 27 (two seeds), each with a schedule as long as its training. (The learning rate is the better of two, tried for 9 epochs and judged on the other words of valid.)

# %% tags=["nbval-ignore-output"]
longer = read_rows("budgets")
first = [r for r in longer if (r["epochs"], r["seed"]) == ("9", "0")]
rated = {}
for row in sorted(first, key=lambda row: -float(row["sweep_loss"])):
    rated[row["variant"]] = row["rate"]  # the last one has the lowest loss
ends = {(n, 3, s): last[n, s] for n in rated for s in seeds}
for row in longer:
    if row["rate"] == rated[row["variant"]]:
        ends[row["variant"], int(row["epochs"]), int(row["seed"])] = row
budgets = sorted({epochs for _, epochs, _ in ends})
of_budget = {(n, e): [r for k, r in ends.items() if k[:2] == (n, e)]
             for n in rated for e in budgets}  # fmt: skip

# %% tags=["nbval-ignore-output"]
rate_of = lambda rows: torch.tensor([float(row["WER"]) for row in rows])
wers = {key: rate_of(rows) for key, rows in of_budget.items()}
lines = {n: torch.stack([wers[n, e].mean() for e in budgets]) for n in rated}
labels = {"xlabel": "epochs", "ylabel": "WER on valid (%)"}
ax = plotting.new_axes(6.0, 3.2)
plotting.curves(torch.tensor(budgets), lines, ax=ax, **labels)
for (name, epochs), wer in wers.items():
    color = plotting.COLORS[list(lines).index(name)]
    ax.plot([epochs] * len(wer), wer, "o", color=color, ms=4)
    said = "  ".join(f"{one:.1f}" for one in wer)
    print(f"{name:18} {epochs:2} epochs, rate {rated[name]:5} WER (%) {said}")
ax.set(xscale="log", xticks=budgets, xticklabels=budgets)
ax.minorticks_off()
plotting.show(ax, "Word error rate after 3, 9 and 27 epochs, a dot per seed: "
    "the GRU is ahead at 3, and at 27 the dots of the two are mixed.")

# %% tags=["nbval-ignore-output"]
for epochs in budgets:
    rights = [torch.stack(list(map(which_right, of_budget[n, epochs]))) for n in rated]
    wrong = [1 - right.float().mean(dim=0) for right in rights]  # (words,)
    mean, low, high = paired(wrong[1], wrong[0])
    said = " less ".join([*rated][::-1])
    print(f"{epochs:2} epochs: {said} {mean:+.1f} points ({low:+.1f} to {high:+.1f})")
    for n in rated:
        losses = (f"{float(row['valid_loss']):.3f}" for row in of_budget[n, epochs])
        print(f"{n:>28}, loss with true sounds given:", *losses)

# %% [markdown]
# *The lead shrinks with the budget.* From 9 epochs on the interval includes 0, so these words and so few seeds don't tell the two apart. Judged by the loss with the true sounds given, the order has even turned around by then, for every seed. At this size and on these words the GRU is ahead early, and nothing shows that it ends up better. None of this says which of the differences in the first table gives the shipped Transformer its lead over the shipped GRU.

# %% [markdown]
# ## 11.5 Beam search
# *Core · 10 minutes*
#
# Greedy decoding follows one sequence. **Beam search** follows the $K$ most probable ones at once. Here is the decoder of the beginning with two beams and with three.

# %%
def of_the_table(tokens):
    return {t: math.log(p) for t, p in AFTER[tokens[-1] if tokens else ""].items()}


plotting.show(diagrams.beam_tree(diagrams.looked_at(of_the_table, 2)))
plotting.show(diagrams.beam_tree(diagrams.looked_at(of_the_table, 3)))

# %% [markdown]
# *Follow `Z`. With two beams it is dropped at the first step, and with it the best sequence. With three it survives.* Whatever is not among the best $K$ at some step is lost. In detail, for two beams,
#
# 1. the first step gives `X` 0.40, `Y` 0.35 and `Z` 0.25, and the two best go on.
# 2. In the second, each is extended by every symbol, which makes eight candidates in one list. `Y end` with $0.35 \cdot 0.50 = 0.175$ and `X end` with $0.40 \cdot 0.40 = 0.16$ lead. Both have ended. They are **finished**, set aside and never extended. The best two that haven't ended are the beams of the next step.
# 3. May the search stop now? Two are finished, and the better one has 0.175. The best beam has $0.40 \cdot 0.20 = 0.08$, and every further symbol multiplies that by at most 1. It can't win any more, so yes. (White boxes with a solid frame still grew when the search stopped.)
#
# In general, with a sequence $y$ and a source $x$ (log-probabilities are added, because a product of many small numbers becomes 0 in floating point):
#
# $$\ln p(y \mid x) = \sum_{t=1}^{|y|} \ln p(y_t \mid y_1, \dots, y_{t-1}, x) .$$
#
# Does greedy decoding lose anything in our model? Here are two beams against one, on four held-out words picked because it does. (`course_utils.decoding.beam_search` searches for all words of a batch at once.)

# %% tags=["nbval-ignore-output"]
def search(words, K, alpha=0.0):
    best, ids = {}, [SPELLING.encode(word) for word in words]
    options = {"max_len": MAX_PHONEMES, "beam_size": K, "length_penalty": alpha}
    for places, source in source_batches(ids, 128):
        beams = beam_search(model, source, **options)
        for i, place in enumerate(places):
            pairs_of = zip(beams.log_probs[i].tolist(), beams.tokens[i], strict=True)
            best[words[place]] = [
                (log_prob, tuple(SOUNDS.decode(tokens)))
                for log_prob, tokens in pairs_of
                if log_prob > -math.inf
            ]
    return best


# %% tags=["nbval-ignore-output"]
garden_paths = ["javits", "tham", "berets", "stracener"]
for K, best in {K: search(garden_paths, K) for K in (1, 2)}.items():
    for word in garden_paths:
        log_prob, sounds = best[word][0]
        mark = "(in the dictionary)" if sounds in words[word] else ""
        chance = 100 * math.exp(log_prob)
        print(f"K = {K}  {word:10} {chance:4.1f} %  {' '.join(sounds)} {mark}")

# %% [markdown]
# For all four, a choice that looked best at its step led to a worse whole. The second beam kept the other way open.
#
# ### When two beams do worse than one
#
# Step 3 above is easy to get wrong. It is tempting to stop as soon as $K$ sequences are finished. Take *nests*. Greedy decoding says

# %% tags=["nbval-ignore-output"]
def of_the_model(word):
    source, said = SPELLING.batch([word]), SOUNDS.symbols

    @torch.no_grad()
    def log_probs(tokens):
        given = SOUNDS.batch([list(tokens)], start=True)  # (1, tokens + 1)
        after = model(source, given)[0, -1].log_softmax(-1).tolist()  # (V,)
        named = {s.strip("<>"): p for s, p in zip(said, after, strict=True)}
        return {s: p for s, p in named.items() if s.isupper() or s == "end"}

    return log_probs


# %%
def winner(steps):
    ended = [beam for step in steps for beam in step if beam.ended and beam.kept]
    return max(ended, key=lambda beam: beam.log_prob)


# %% tags=["nbval-ignore-output"]
nests, longest = of_the_model("nests"), {"max_len": MAX_PHONEMES}
greedy = winner(diagrams.looked_at(nests, 1, **longest))
print(*greedy.tokens, f"{100 * math.exp(greedy.log_prob):.1f} %")
widgets.predict(
    "11.C",
    "With two beams, if the search stops as soon as two have ended: what does it find?",
    choices=["something more probable", "the same", "something less probable"],
)

# %% tags=["nbval-ignore-output"]
hasty = diagrams.looked_at(nests, 2, hasty=True, **longest)
plotting.show(diagrams.beam_tree(hasty, most=3))
found = winner(hasty).log_prob - greedy.log_prob
kinds = ["something more probable", "the same", "something less probable"]
widgets.came_out("11.C", kinds[1 + (found < -1e-4) - (found > 1e-4)])

# %% [markdown]
# *Look at the solid white box on top of the last step. That is the better sequence. It was the best beam of all and far more probable than anything that had ended, but the search stopped there.* Two others had ended, with 0.07 and with 0.003. And this is the same search, if it waits.

# %% tags=["nbval-ignore-output"]
plotting.show(diagrams.beam_tree(diagrams.looked_at(nests, 2, **longest), most=3))

# %% [markdown]
# The same on six more held-out words, picked because the hasty rule fails on them. Only the rule for stopping changes between the last two columns.

# %% tags=["nbval-ignore-output"]
hard = "nests slemp telecasts hartmarx branning fightmaster gladje".split()
print("probability (%)  greedy  K = 2, hasty  K = 2")
for word in hard:
    asked, chances = of_the_model(word), []
    for K, rule in ((1, {}), (2, {"hasty": True}), (2, {})):
        best = winner(diagrams.looked_at(asked, K, **longest, **rule))
        chances.append(100 * math.exp(best.log_prob))
    print(f"{word:15} {chances[0]:7.1f} {chances[1]:10.1f} {chances[2]:10.1f}")

# %% [markdown]
# No beam had dropped the better sequence. It was still growing when two others, much less probable, had already ended. The search must go on **as long as the best live beam can still win**. With plain probabilities that means as long as it is more probable than the best finished sequence. (If scores are divided by a power of the length, as production code often does, the bound is a different one, and exercise 11.2 asks you for it.)
#
# **Do exercises 11.2 and 11.8 now (29 minutes), then read on.** (Exercise 11.3 does one step for many words in one batch.) And on many words? Against greedy decoding (K = 1), *mended* words become right and *spoiled* ones wrong.

# %% tags=["nbval-ignore-output"]
searched, answers = list(sample), references
found, seconds, right = {}, {}, {}
for K in (1, 2, 5):
    started = time.process_time()
    found[K] = search(searched, K)
    seconds[K] = time.process_time() - started
    right[K] = torch.tensor([found[K][w][0][1] in sample[w] for w in searched])

# %% tags=["nbval-ignore-output"]
for K, one in right.items():
    gain = torch.tensor([found[K][w][0][0] - found[1][w][0][0] for w in searched])
    more, less = (gain > 1e-4).sum(), (gain < -1e-4).sum()
    gained, lost = (one & ~right[1]).sum(), (right[1] & ~one).sum()
    print(f"K = {K}: WER {100 * (1 - one.float().mean()):.1f} %,", end=" ")
    print(f"{more} more probable, {less} less;", end=" ")
    print(f"{gained} mended, {lost} spoiled; {seconds[K]:.1f} s")
mean, low, high = paired(1 - right[5].float(), 1 - right[1].float())
print(f"K = 5 less greedy: {mean:+.2f} points ({low:+.2f} to {high:+.2f})")

# %% tags=["nbval-ignore-output"]
few, worse = searched[::8], 0
for word in few:
    steps = diagrams.looked_at(of_the_model(word), 2, hasty=True, **longest)
    worse += winner(steps).log_prob < found[1][word][0][0] - 1e-4
print(f"hasty, K = 2: less probable than greedy for {worse} of {len(few)} such words")

# %% [markdown]
# A wider search finds a more probable sequence for a few words, and here never a less probable one. Five beams do so for hardly more words than two, and the seconds say what they cost. Some words become right and some wrong; the interval includes 0. Where the *model* holds a wrong pronunciation most probable, searching harder only finds that one more surely. The hasty rule seldom does harm with this model, and the seven words above had to be searched for.

# %% [markdown]
# ## 11.6 All heads, one by one
# *More · 6 minutes, and exercise 11.4*
#
# The picture in 11.1 was a mean. Here are the heads of the decoder's first and last layers, on *birthrights* again.

# %% tags=["nbval-ignore-output"]
@torch.no_grad()
def cross_weights(word):
    found = align(model, word).sounds[:-1]  # what the model says, without the end
    given = SOUNDS.batch([found[:-1]], start=True)  # (1, L_t), one row for each sound
    with record_attention(model) as seen:
        model(SPELLING.batch([word]), given)
    layers = torch.stack(seen.matching("decoder_layers.*.cross_attention"))
    return layers[:, 0], found  # (layers, H, sounds, L_s)

# %% tags=["nbval-ignore-output"]
weights, sounds = cross_weights(watched)
ends = (0, c.num_layers - 1)
titles = [f"layer {layer}, head {head}" for layer in ends for head in range(4)]
heads = weights[list(ends)].flatten(0, 1)  # (8, sounds, L_s)
plotting.show(diagrams.attention_lines(heads, sounds, list(watched), titles))

# %% [markdown]
# *One panel per head: sounds at the left, letters at the right, and the thicker the line, the more weight. (The colors only tell the heads apart.) Which heads run in step with the word?* In layer 0, head 2 does so most clearly. One picture proves nothing, so we measure on other held-out words how many letters count in a row (the exponential of the entropy, lesson 02), and how often the mean place moves to the right from one sound to the next.

# %% tags=["nbval-ignore-output"]
counted, moved, together = [], [], []
for word in [word for word in split("valid") if 8 <= len(word) <= 12][::50]:
    weights, _ = cross_weights(word)
    counted.append(torch.special.entr(weights).sum(-1).exp().mean(-1))  # (layers, H)
    mean = weights.mean(dim=(0, 1))  # (sounds, L_s)
    together.append(torch.special.entr(mean).sum(-1).exp().mean())
    place = (weights * torch.arange(weights.shape[-1])).sum(-1)  # (layers, H, sounds)
    moved.append((place.diff(dim=-1) > 0).float().mean(-1))  # (layers, H)

# %% tags=["nbval-ignore-output"]
print(f"{len(together)} words; letters that count, and steps to the right, by head")
counted, moved = torch.stack(counted).mean(0), torch.stack(moved).mean(0)
for layer in range(c.num_layers):
    heads = zip(counted[layer], moved[layer], strict=True)
    print(f"layer {layer}:", "   ".join(f"{n:.1f} {100 * m:3.0f} %" for n, m in heads))
mean_of_all = torch.stack(together).mean()
print(f"mean over the heads {counted.mean():.1f},", end=" ")
print(f"in the mean of all heads {mean_of_all:.1f}")

# %% [markdown]
# Fewer letters count in a single head than in the mean of all, so different heads look at different letters for the same sound. The heads that move to the right most steadily are in the two layers that the picture leaves out. (Exercise 11.4 turns the weights into one letter per sound.)
#
# **Read it with care.** What a sound looks at is the encoder's *output* at a letter, and the encoder's self-attention has mixed the letters before. A head may look at the letter *beside* the one you expect, and still find there what it needs. An alignment says where the model looks. It doesn't say what it finds there, nor why it decides so. (Lesson 13 has the tools for that.)

# %% [markdown]
# ## 11.7 Which words, which sounds
# *More · 8 minutes*
#
# A single number for all words hides a lot. First, **which words?** The dictionary is full of names and loan words, and doesn't mark them. But they *look* unusual. As a measure of how usual a spelling is we take the mean log-probability of each letter after the two before it, counted on the training words. (It measures letters, not words. The everyday *juice* is spelled in an unusual way.)

# %% tags=["nbval-ignore-output"]
triples, doubles = Counter(), Counter()
for word in split("train"):
    padded = f"^^{word}$"
    triples.update(padded[i - 2 : i + 1] for i in range(2, len(padded)))
    doubles.update(padded[i - 2 : i] for i in range(2, len(padded)))


def usual(word):
    padded, total = f"^^{word}$", 0.0
    for i in range(2, len(padded)):
        seen = triples[padded[i - 2 : i + 1]] + 0.1
        total += math.log(seen / (doubles[padded[i - 2 : i]] + 2.7))
    return total / (len(word) + 1)

# %% tags=["nbval-ignore-output"]
said = dict(zip(sample, said_by["Transformer"], strict=True))
is_wrong = {word: said[word] not in sample[word] for word in sample}
ranked = sorted(sample, key=usual, reverse=True)
rate = []
for n, name in enumerate(("most usual", "usual", "unusual", "least usual")):
    part = ranked[n * len(ranked) // 4 : (n + 1) * len(ranked) // 4]
    rate.append(sum(is_wrong[word] for word in part) / len(part))
    examples = ", ".join(part[:: len(part) // 4][:4])
    print(f"{name:12} WER {100 * rate[-1]:4.1f} %   such as {examples}")
print()
for word in [word for word in sample if is_wrong[word]][::25][:6]:
    print(f"{word:12} said {' '.join(said[word])}; listed {' '.join(sample[word][0])}")

# %% [markdown]
# Unusual spellings go wrong more often. Is it their length? Here is the same for words of about the same length.

# %% tags=["nbval-ignore-output"]
print("letters    words  WER of the more usual half, of the other (%)")
for low, high in ((3, 6), (7, 7), (8, 9), (10, 99)):
    alike = [word for word in ranked if low <= len(word) <= high]
    halves = alike[: len(alike) // 2], alike[len(alike) // 2 :]
    more, other = (100 * sum(map(is_wrong.get, h)) / len(h) for h in halves)
    print(f"{low:2} to {high:2} {len(alike):8} {more:8.1f} {other:8.1f}")

# %% [markdown]
# It isn't only the length. In each row, the less usual half goes wrong more often.
#
# Second, **which sounds?** We line up what was said with the nearest listed pronunciation, by going back through the table of edit distances (lesson 03), and sort the edits by kind: a vowel for a vowel, a consonant for a consonant, and so on.

# %%
def edits_between(said, truth):
    """Pairs (said, true); '-' stands for nothing."""
    if not said or not truth:
        return [(x, "-") for x in said] + [("-", y) for y in truth]
    if said[-1] == truth[-1]:
        return [*edits_between(said[:-1], truth[:-1]), (said[-1], truth[-1])]
    ways = (
        (said[:-1], truth[:-1], (said[-1], truth[-1])),
        (said[:-1], truth, (said[-1], "-")),
        (said, truth[:-1], ("-", truth[-1])),
    )
    a, b, pair = min(ways, key=lambda way: metrics.edit_distance(way[0], way[1]))
    return [*edits_between(a, b), pair]

# %%
print(edits_between("N AE SH N".split(), "N EY SH AH N".split()))

# %% tags=["nbval-ignore-output"]
VOWELS = set("AA AE AH AO AW AY EH ER EY IH IY OW OY UH UW".split())


def kind_of(sound):
    return "nothing" if sound == "-" else "vowel" if sound in VOWELS else "consonant"


confused, totals = Counter(), Counter()
for word in sample:
    edits = [metrics.edit_distance(said[word], right) for right in sample[word]]
    nearest = sample[word][edits.index(min(edits))]
    totals.update(map(kind_of, nearest))
    pairs_of = edits_between(said[word], nearest)
    confused.update(pair for pair in pairs_of if pair[0] != pair[1])

# %% tags=["nbval-ignore-output"]
kinds = Counter()
for (said_one, true_one), n in confused.items():
    kinds[kind_of(said_one), kind_of(true_one)] += n
number = sum(kinds.values())
for (a, b), n in kinds.most_common():
    print(f"{a:9} said for {b:9} {100 * n / number:5.1f} % of {number} edits")

# %% tags=["nbval-ignore-output"]
share = totals["vowel"] / sum(totals.values())
print(f"vowels are {100 * share:.0f} % of all sounds")
for kind in ("vowel", "consonant"):
    pairs_of = [p for p in confused.most_common() if {*map(kind_of, p[0])} == {kind}]
    top = "   ".join(f"{a} for {b} {n} times" for (a, b), n in pairs_of[:5])
    print(f"{kind:9} {top}")
touched = sum(n for pair, n in kinds.items() if "vowel" in pair)
print(f"{100 * touched / number:.0f} % of the edits touch a vowel")
usual_share = {}
for kind, letters in (("vowel", "aeiou"), ("other", "bcdfghjklmnpqrstvwxyz")):
    most = sum(at_its_place[letter].most_common(1)[0][1] for letter in letters)
    usual_share[kind] = most / sum(at_its_place[letter].total() for letter in letters)
    print(f"{kind} letters have their usual sound: {100 * usual_share[kind]:.0f} %")

# %% [markdown]
# Vowels have more than their share of the edits. *Among the consonants, look for sounds that share a spelling: S and Z (an s), CH and K (ch), DH and TH (th).* A vowel letter tells less about its sound than a consonant letter does, as the last lines show (counted as for the landmark). Besides, `AH` is also the *schwa* of unstressed syllables, and the spelling doesn't say which syllable is stressed.

# %% [markdown]
# ## 11.8 One thing taken out at a time
# *More · 8 minutes*
#
# What is each part worth? An **ablation** trains the same small model again and again with one thing removed. `python -m experiments ablation` did so with 2 + 2 layers, `d_model` 64, all training words, few epochs and three seeds, judged on valid. (Its losses are means over batches, which all hold nearly the same number of symbols.) One thing isn't as fair as in 11.4. **All variants were trained with one learning rate**, the full model's. A rate of its own for each was not tried. Differences of a few points may be the rate's.
#
# | variant | what was done |
# |---|---|
# | no positions | no rotary positions: letters and sounds without an order |
# | no scaling | scores not divided by $\sqrt{d_{head}}$, $d_{head} = 16$ |
# | one head | one head of size 64 in place of four of size 16 |
# | no padding mask | attention sees padded places of the source |
# | no causal mask | in training, each sound sees the sounds after it |

# %%
runs = read_rows("ablation")
variants = list(dict.fromkeys(run["variant"] for run in runs))
widgets.predict(
    "11.D",
    "Which variant has the lowest training loss of all?",
    choices=variants,
)

# %%
def column(name, field):
    return [float(run[field]) for run in runs if run["variant"] == name]


print("epochs:", *sorted({int(run["epochs"]) for run in runs}))
print("                 training loss  valid loss  WER on valid (%)")
for name in variants:
    train, valid = (sum(column(name, f)) / 3 for f in ("train_loss", "valid_loss"))
    wer = "  ".join(f"{one:5.1f}" for one in column(name, "valid_WER"))
    print(f"{name:16} {train:13.3f} {valid:11.3f}  {wer}")
lowest = min(variants, key=lambda name: sum(column(name, "train_loss")))
widgets.came_out("11.D", lowest)

# %%
wers = {name: torch.tensor(column(name, "valid_WER")) for name in variants}
axes = plotting.new_axes(11.0, 2.6, columns=2)
near = {name: wer for name, wer in wers.items() if max(wer) < 60}
for ax, some in zip(axes, (wers, near), strict=True):
    plotting.dot_rows(some, xlabel="word error rate on valid (%)", ax=ax)
plotting.show(
    axes[0], "Word error rate of each variant, a dot per seed. Left: all. Right: the "
    "four near 40 to 50 %, with an axis of their own; the full model is lowest.",
)  # fmt: skip

# %% [markdown]
# *Left all variants, right the four close ones with an axis of their own. No dot of another variant overlaps with the full model's.*
#
# - **No causal mask** has the lowest loss, in training and on valid, and gets every word wrong. In training the next sound is in plain sight, and the model learns to copy it. In decoding there is nothing to copy. Decoding shows this, and the loss can't.
# - **No positions**: encoder and cross-attention see a bag of letters, in which *tea* and *eat* are alike. It still gets some words right, perhaps (a guess) because the causal mask tells the decoder how many sounds it has said (8.1), and many letters have a likely sound wherever they are.
# - **One head** has as many parameters and one weighting where four were (lesson 06). **No scaling** makes the scores 4 times as large at the start (lesson 04). Both are a few points worse, after two epochs and at the full model's learning rate. More was not measured.
# - **No padding mask** is the odd one. The training loss is the full model's, and the words are worse. Batches sorted by length have hardly any padding, so in training there was little to go wrong. How many words have padding beside them?

# %% tags=["nbval-ignore-output"]
def padded_words(batches):
    rows = torch.cat([(batch == PAD_ID).any(dim=1) for batch in batches])  # (words,)
    return 100 * rows.float().mean().item()


every_pair = encode_pairs(split("train"), SPELLING, SOUNDS)
ahead = batches_by_length(every_pair, 3000, seed=0)
trained = padded_words([batch.source for batch in ahead])
ids = [SPELLING.encode(word) for word in split("valid")]
decoded = padded_words([source for _, source in source_batches(ids, 256)])
print(f"words with padding: in training {trained:.1f} %, in decoding {decoded:.1f} %")

# %% tags=["nbval-ignore-output"]
for row in read_rows("unmasked"):
    padded, alone = row["padded_WER"], row["alone_WER"]
    full = column("full", "valid_WER")[int(row["seed"])]
    said = f"with padding {padded} %, without {alone} % (the full model {full:.2f} %)"
    print(f"no padding mask, seed {row['seed']}, WER: {said}")

# %% [markdown]
# When it was judged, it met what it had hardly met in training. Is that the reason? Take the padding away. `python -m experiments unmasked` trained this variant again with the same seeds, and let each model say all words twice with the same weights: in batches with padding, and words of one length at a time. The second is the lower rate in each of the last lines, and it is close to the full model's. The model's weights were fine, and the padding was the trouble.
#
# An ablation says what a part is worth *here*, for this task, this size and this training.

# %% [markdown]
# ## What goes wrong
# *More · 3 minutes*
#
# **Judged on words it was trained on.** That flatters a model. Ask which words were held out, and by which rule.

# %% tags=["nbval-ignore-output"]
trained_on = dict(list(split("train").items())[::200])
on_train = error_rates(model, trained_on)["WER"]
on_valid = metrics.word_error_rate(said_by["Transformer"], references)
print(f"WER on {len(trained_on)} training words {100 * on_train:.1f} %,", end=" ")
print(f"on {len(sample)} held-out words {100 * on_valid:.1f} %")

# %% [markdown]
# **Chosen and reported on the same words.** Say you try 30 settings that are all exactly alike. Whichever you take, each word goes wrong with probability 0.3. You take the best of them and report its rate on the words that chose it.

# %%
rng = torch.Generator().manual_seed(0)
wrong = torch.rand(30, 2, 500, generator=rng) < 0.3  # settings, two sets of 500 words
rates = 100 * wrong.float().mean(-1)  # (settings, 2)
best = rates[:, 0].argmin()
print(f"the best of 30 on the words that chose it: {rates[best, 0]:.1f} %")
print(f"the same setting on 500 other words:       {rates[best, 1]:.1f} %")

# %% [markdown]
# The gain was luck, and luck doesn't carry over to other words. That's why valid chooses and test reports.

# %% [markdown]
# ## In practice
# *More · 2 minutes*
#
# - Batches by length are called *bucketing*; a limit in symbols is `max_tokens` in fairseq. Many language models are trained on *packed* texts, several in one row, masked from each other (lesson 05).
# - Beam search is common in translation and speech recognition, often with 4 or 5 beams. In `transformers` it is `generate(num_beams=5, length_penalty=1.0)`. When to stop is an option there, `early_stopping`. `True` is the hasty rule of 11.5, `"never"` stops only when no beam can win, and `False` is a heuristic in between. Open-ended text is *sampled* instead (lesson 12). The cache of lesson 07 has to go with its beam (`reorder` here).
# - Many speech synthesizers look a word up in a dictionary first, and ask a model such as ours only for the rest.

# %% [markdown]
# ## When you need it
# *More · 5 minutes, and exercise 11.5*
#
# **Why the score is divided by the length.** Every further symbol multiplies the probability by a number below 1, so length itself costs something. Two symbols of probability 0.5 each have 0.25 as a whole; four of 0.7 each have 0.24. The short one wins, although each of its symbols is a worse guess. Divided by the length ($\alpha = 1$), the means are compared, and the long one wins: $\ln 0.5 = -0.69$ against $\ln 0.7 = -0.36$.
#
# In general $\text{score}(y) = \ln p(y \mid x) \,/\, |y|^{\alpha}$, where $|y|$ counts all symbols, the end symbol too. Which $\alpha \ge 0$ is best is a choice, and choices are made on valid. Here $\alpha$ ranks what five beams of 11.5 have found:

# %% tags=["nbval-ignore-output"]
lengths, ranked_wrong = [], []
for alpha in (0.0, 0.5, 1.0, 2.0, 4.0):
    key = lambda one, alpha=alpha: one[0] / (len(one[1]) + 1) ** alpha  # noqa: E731
    best = [max(found[5][word], key=key)[1] for word in searched]
    failed = [b not in a for b, a in zip(best, answers, strict=True)]
    ranked_wrong.append(torch.tensor(failed).float())
    lengths.append(sum(map(len, best)) / len(best))
    wrong = 100 * ranked_wrong[-1].mean()
    print(f"alpha {alpha:.1f}: mean length {lengths[-1]:.3f} sounds, WER {wrong:.1f} %")
mean, low, high = paired(ranked_wrong[0], ranked_wrong[2])
print(f"alpha 0 less alpha 1: {mean:+.2f} points ({low:+.2f} to {high:+.2f})")

# %% tags=["nbval-ignore-output"]
spans = [[len(sounds) for _, sounds in found[5][word]] for word in searched]
alike = sum(max(span) - min(span) <= 1 for span in spans) / len(spans)
print(f"candidates at most one sound apart in length: {100 * alike:.0f} % of words")

# %% [markdown]
# *The mean length grows with $\alpha$, but only a little, and the error rate hardly moves.* For most words the candidates have nearly the same length. Where lengths differ much, as in translated sentences, a search without the division favors results that are too short (Wu et al., 2016, section 7).
#
# What if the search itself ranks by the mean ($\alpha = 1$), with the bound of exercise 11.2?

# %% tags=["nbval-ignore-output"]
started = time.process_time()
by_mean = search(searched, 5, alpha=1.0)
spent = time.process_time() - started
both = [(by_mean[word][0], found[1][word][0]) for word in searched]
more = sum(a[0] > b[0] + 1e-4 for a, b in both)
less = [(a, b) for a, b in both if a[0] < b[0] - 1e-4]
mean = [[log_prob / (len(sounds) + 1) for log_prob, sounds in two] for two in less]
higher = sum(a > b for a, b in mean)
print(f"against greedy decoding: {more} more probable, {len(less)} less probable,")
print(f"of which {higher} have the higher mean; {spent:.1f} s")

# %% [markdown]
# In 11.5, the same five beams without the division found nothing less probable than greedy decoding does. With it they sometimes do. The last line says how many of those have the higher mean. That is what the division asks for, and it has nothing to do with when the search stops.

# %% [markdown]
# In a terminal, `python -m course_utils.pretrained pronounce attention` prints the beams and draws the alignment in characters. You can call it from here, too.

# %% tags=["nbval-ignore-output"]
_ = pronounce_command(["attention", "--beams", "3"])

# %% [markdown]
# In the widget, type any word and press Enter. First, the picture of its first state.

# %% tags=["nbval-ignore-output"]
viewer = widgets.pronouncer(model, watched)
viewer.show_first_state(
    f"Alignment of {watched} as a heatmap, one row per sound, one column per letter; "
    "beside it five sequences with their probabilities, and what the dictionary says."
)

# %% tags=["nbval-ignore-output"]
viewer

# %% [markdown]
# *The percentages are those of whole sequences; the rest, up to 100 %, belongs to sequences that are not listed.* Try your own name (exercise 11.5 asks for ten such words), a word that doesn't exist, a word of another language. With "draw number" you see the alignment of another beam. Where does it look when it says something else?
#
# **What about published figures?** The authors of g2p-seq2seq report 30.2 % WER for a Transformer of 3 layers with `d_model` 256, and 33.9 % for Phonetisaurus, an older method. Their sounds have no stress marks either, and their code too accepts any pronunciation that the test file lists, so that is no difference. But the test words are others, and we don't know which pronunciations their file kept. How much difference can that make? Here are our own answers, judged by the first one only.

# %% tags=["nbval-ignore-output"]
said = said_by["Transformer"]
first_only = [accepted[:1] for accepted in references]
for rule, accepted in (("any listed", references), ("the first", first_only)):
    wer = metrics.word_error_rate(said, accepted)
    print(f"{rule:10} pronunciation: {100 * wer:.1f} %")

# %% [markdown]
# **What does Muon do?** Adam scales each number of a gradient by itself. Muon takes a matrix as a whole. It replaces the averaged gradient by the nearest matrix that stretches by the same factor in every direction it acts on, and so directions with a small gradient move as far as those with a large one.
#
# <details><summary>How the shipped model was trained</summary>
#
# `python -m experiments train pronounce`; the recipe is in `experiments/recipes.py`. Muon trains the matrices inside the layers; embeddings, biases, norms and the generator stay Adam's (`course_utils/training/optimizers.py`). Most products are done in 16 bits. And in training the model has a second task. One more layer says the stress of each sound, which the dictionary marks. How much that helps was not measured. Afterwards that layer is thrown away (`experiments/stress.py`). The score on every sixth word of valid after each epoch chose the weights; the file's header has the log of every epoch (`pretrained.training_of("transformer")`), and the card says what was tried.
# </details>

# %% [markdown]
# ## Recap
# *Core · 2 minutes*
#
# 1. **Training**: the loss falls from about the cost of guessing, and cross-attention, nearly even at first, comes to find the letters. In the shipped model, on words with many more letters than sounds, the letter with the most weight can write the sound far more often than a letter at an even pace.
# 2. **Batches**: shuffle, sort by length, cut by a limit in symbols, shuffle again. Padding falls from a large share of the batch to a small one.
# 3. **Comparing**: one thing changed, one budget, several seeds; on the same words, compare word by word; choose on valid, report on test. The GRU that wins after 3 epochs can't be told from the Transformer by its words after 27 (two seeds).
# 4. **Beams**: $K$ sequences at once, log-probabilities added, finished ones set aside. The search may stop when no live beam can win any more; if it stops when $K$ are finished, two beams can do worse than one, though they seldom do here. Wider searches found a more probable sequence for a few words, which needn't be the right one.
# 5. **Errors and parts**: unusual spellings and vowels go wrong most. Without the causal mask the loss is the best and the words are the worst.

# %%
widgets.predictions()

# %% [markdown]
# | symbol | meaning | shape |
# |---|---|---|
# | $s$, $t$, $n$ | longest source, longest target, pairs of a batch | numbers |
# | $y$, $\lvert y \rvert$ | a sequence and its length, end symbol included | ids `(L_out,)`, a number |
# | $K$, $\alpha$ | beams, exponent of the length | numbers |
# | tokens of the beams | sequences of each word, best first | `(B, K, L_out)` |
# | cross-attention | one row per sound, one column per letter | `(layers, H, L_t, L_s)` |

# %% [markdown]
# ## Check yourself
# *Core · 3 minutes*
#
# <details><summary>1. A limit of 2500 symbols. Which batch has more words: one of short words or one of long words?</summary>
#
# **The one of short words.** The limit is on symbols, so more short words fit. (Not "equally many": that would be a limit in words, and a batch of long words would then take far more memory.)
# </details>
#
# <details><summary>2. More beams found a less probable sequence than greedy decoding. Name the first thing to look at.</summary>
#
# **When the search stops.** If it stops as soon as $K$ sequences are finished, a better one may still be growing. (It can also happen with a correct stop, if greedy's path falls out of the best $K$ at some step. And if scores are divided by a power of the length, the search ranks by something else than the probability.)
# </details>
#
# <details><summary>3. Two models have 30 ± 1.5 % and 28 ± 1.5 % on the same words. Can you say that the second is better?</summary>
#
# **Not from these numbers, and not the contrary either.** The words are the same, so compare word by word. If the second mends 25 words of a thousand and spoils 5, that is clear; if it mends 130 and spoils 110, it is not. (Not "the intervals overlap, so they are equal": that forgets the pairing.)
# </details>
#
# <details><summary>4. A model without a causal mask has a far lower loss on held-out words too. Why is that no evidence?</summary>
#
# **Because the loss is computed with the true sounds given, and without the mask the answer is among them.** (It isn't overfitting. The model hasn't learned the words by heart, it has learned to copy.)
# </details>
#
# {{next_steps}}

# %% [markdown]
# ## References
#
# - Graves, *Sequence Transduction with Recurrent Neural Networks*, 2012, algorithm 1: a beam search for a neural sequence model.
# - Wu et al., *Google's Neural Machine Translation System*, 2016, section 7: division by a power of the length, and what it gains in translation.
# - Jordan et al., *Muon: An Optimizer for Hidden Layers in Neural Networks*, 2024; Liu et al., *Muon is Scalable for LLM Training*, 2025, section 2.2 (the size of its updates).
# - Bahdanau, Cho, Bengio, *Neural Machine Translation by Jointly Learning to Align and Translate*, 2015, section 5.2: alignments read from attention.
# - Jain, Wallace, *Attention is not Explanation*, 2019: why an alignment is not a reason.
# - Novak, Minematsu, Hirose, *Phonetisaurus*, 2016: the classical way to do this task.
# - CMU Sphinx, *g2p-seq2seq*: a Transformer for this task, with its figures in the README.
# - Carnegie Mellon University, *The CMU Pronouncing Dictionary*: the words.
