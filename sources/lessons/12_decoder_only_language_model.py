# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 12 · Decoder-only language model
#
# By the end you can build today's kind of language model from its parts, train it, say honestly how good it is, and let it write.
#
# {{colab_link}} · short path about 65 minutes with its exercises (43 + 22), everything about 4 hours · builds on lessons 05, 07, 08, 09 and 10

# %% tags=["setup"]
import math
import time

import torch
import torch.nn.functional as F
from torch import nn

from course_utils import diagrams, plotting, pretrained, widgets
from course_utils.datasets import pronunciations
from course_utils.datasets.documentation import docstrings, documentation_split
from course_utils.datasets.text_windows import TEXT, decode_text, encode_text
from course_utils.datasets.text_windows import seen_before, windows
from course_utils.decoding import generate, sampling_distribution
from course_utils.metrics import text_scores
from course_utils.models import DecoderConfig, DecoderLM, Transformer
from course_utils.models import TransformerConfig, count_parameters
from course_utils.models.ngrams import NGrams
from course_utils.pretrained.pronunciation import pronounce
from course_utils.recording import record_attention
from course_utils.results import read_rows
from course_utils.training import MuonWithAdam, fit, next_symbol_loss
from course_utils.training import one_cycle_rate, seed_everything
from course_utils.widgets.sampling_playground import NAMES, next_symbol_bars

torch.set_printoptions(precision=3, sci_mode=False, linewidth=88)
torch.set_num_threads(1)  # small tensors: threads would only get in each other's way

# %% [markdown]
# This is what you'll build. The model has read Python's documentation letter by letter, and now it writes:

# %% tags=["nbval-ignore-output"]
model = pretrained.load("language_model").requires_grad_(False)
rng = torch.Generator().manual_seed(3)
start = encode_text("\n\nThe ")[None]  # (1, 6)
text = generate(model, start, max_new_tokens=240, temperature=0.7, generator=rng)
print(decode_text(text[0]).strip())

# %% [markdown]
# It means nothing, and yet it sounds like a manual. The whole model fits on one screen, and you know nearly every line of it.
#
# **You will learn to**
#
# 1. say what is left of the encoder-decoder, and build the block that remains;
# 2. train a language model, and say in bits how good it is, beside models that count;
# 3. look at its attention, and find out what breaks beyond the length it was trained on;
# 4. draw the next token by temperature, top-k and top-p;
# 5. (*more*) test whether it copies, and generate with a cache.

# %% [markdown]
# ## Predict first
# *Core · 2 minutes*
#
# Before each character of a text, a language model gives every possible one a probability. To the four that really came next, it had given 1/2, 1/4, 1/8 and 1/8.
#
# Suppose you find out each character by yes/no questions, which the model chooses. A character with probability 1/2 takes one question, one with 1/4 takes two.

# %%
widgets.predict(
    "12.A", "How many questions does a character take on average?", between=(0, 8)
)

# %%
said = torch.tensor([1 / 2, 1 / 4, 1 / 8, 1 / 8])  # what the right characters got
questions = -said.log2()  # (4,)
print(f"questions {questions.tolist()}, on average {questions.mean():.2f}")
print(f"as many as among {2 ** questions.mean():.2f} equally probable characters")
widgets.came_out("12.A", questions.mean().item())

# %% [markdown]
# The first number is called **bits per character**, the second **perplexity**. They say the same thing on two scales.

# %% [markdown]
# ## 12.1 One stack, one text
# *Core · 5 minutes*
#
# The Transformer of lesson 10 has two stacks, because source and target are two texts. A language model has one text, which it continues. The encoder goes, and with it the cross-attention, which has nothing left to look at. What remains is causal self-attention and a feed-forward network, $N$ times. Here is the model, drawn from the code that runs:

# %%
torch.manual_seed(2)
sizes = {"num_layers": 3, "d_model": 24, "d_ff": 40, "num_heads": 6, "num_kv_heads": 2}
tiny = DecoderLM(DecoderConfig(19, max_len=12, **sizes)).eval()
tokens = torch.randint(0, 19, (2, 7))  # (B=2, L=7)
plotting.show(diagrams.architecture(tiny, (tokens,)))

# %% [markdown]
# *One kind of layer, with two residual paths in it, and no second input.*

# %%
widgets.predict(
    "12.B",
    "Same sizes: what percentage of the layers' parameters is left?",
    between=(0, 100),
    step=5,
)

# %%
large = {"num_layers": 6, "d_model": 512, "d_ff": 2048, "num_heads": 8}
with torch.device("meta"):  # shapes without numbers
    both = Transformer(TransformerConfig(1000, 1000, **large))
    encoder, decoder = map(count_parameters, (both.encoder_layers, both.decoder_layers))
    cross = sum(count_parameters(one.cross_attention) for one in both.decoder_layers)
whole, left = encoder + decoder, decoder - cross
print(f"{left / 1e6:.1f} of {whole / 1e6:.1f} million")
widgets.came_out("12.B", 100 * left / whole)

# %% [markdown]
# Every position is trained at once, as in the decoder. Inputs are `ids[:-1]`, labels `ids[1:]`, and the causal mask hides from each position what comes next. We change the future and compare the past:

# %%
changed = tokens.clone()
changed[:, 4:] = (changed[:, 4:] + 1) % 19  # another future, from position 4 on
with torch.no_grad():
    moved = (tiny(changed) - tiny(tokens)).abs().amax(dim=(0, 2)) > 1e-6  # (L,)
moved = moved.nonzero().flatten().tolist()
print("logits that move when tokens 4, 5, 6 change:", moved)

# %% [markdown]
# And what does a *trained* one look at? The model from the top of the page reads a line of code. For each of its 16 heads we measure the mean weight on the letter before, and the weight on all earlier copies of the same letter:

# %% tags=["nbval-ignore-output"]
line = "for name in names: print(name)"


def looks(model, text):
    """The weights (layers, H, L, L) while the model reads a text."""
    with record_attention(model) as seen:
        model(encode_text(text)[None])
    return torch.stack(seen.matching("layers.*"))[:, 0]


# %% tags=["nbval-ignore-output"]
weights, ids = looks(model, line), encode_text(line)
before = weights.diagonal(-1, dim1=-2, dim2=-1).mean(dim=-1)  # (layers, H)
same = (ids[:, None] == ids).tril(-1).float()  # (L, L): an earlier copy of the letter
rows = same.sum(dim=-1) > 0  # letters that have one
copies = (weights * same).sum(dim=-1)[..., rows].mean(dim=-1)  # (layers, H)
even = same.sum(dim=-1) / torch.arange(1, len(ids) + 1)  # if all keys weighed the same
for name, score in (("the letter before", before), ("the same letter", copies)):
    layer, head = divmod(score.argmax().item(), 4)
    print(f"{name:17} most in head {layer}.{head}: {score.max():.2f}")
print(f"an even share on the same letters would be {even[rows].mean():.2f}")
print("the letter before, all heads:", [round(x, 2) for x in before.flatten().tolist()])

# %% [markdown]
# On this line, the head that looks most at the letter before gives it about half of its weight. The head with an eye for the same letter is 0.0, the one you see below. Choose a head, and point at a letter:

# %% tags=["nbval-ignore-output"]
names = [NAMES.get(letter, letter) for letter in line]
viewer = widgets.attention_viewer({"the line": (weights, names, names)})
viewer.show_first_state(
    "Weights of layer 0, head 0 on the 30 letters of the line. The darkest cell "
    "of most rows is on the diagonal. The rows of n show fainter cells at earlier n's."
)

# %%
viewer

# %% [markdown]
# *Most letters give the largest weight to themselves, on the diagonal. In the rows of* n *there is a fainter cell at each earlier* n*. A few letters do something else. The first* r *looks at the letter before, and the first two* a*'s at the space before the* n*. Then try layer 1, head 3.*

# %% [markdown]
# ## 12.2 The block
# *Core · 4 minutes*
#
# Today's block has four parts, and you know three. **RMSNorm** comes before each sublayer (lesson 09), and the attention has **rotary positions** (08) and **grouped queries** (07). $x$ is the stream, $(B, L, d_{model})$:
#
# $$x \leftarrow x + \operatorname{Attention}(\operatorname{RMSNorm}_1(x)) , \qquad x \leftarrow x + \operatorname{SwiGLU}(\operatorname{RMSNorm}_2(x)) .$$
#
# **SwiGLU** is new. The network of 2017 goes up to $d_{ff}$ features, sets what is negative to zero, and comes down. This one goes up **twice**. One branch, the **gate**, passes through a smooth function and then multiplies the other branch, feature by feature:
#
# $$\operatorname{SwiGLU}(x) = W_{down} \, \big( \operatorname{SiLU}(W_{gate}\, x) \odot (W_{up}\, x) \big) , \qquad \operatorname{SiLU}(z) = z \, \sigma(z) = \frac{z}{1 + e^{-z}} .$$
#
# $W_{gate}$ and $W_{up}$ have shape $(d_{ff}, d_{model})$, $W_{down}$ has $(d_{model}, d_{ff})$. With one feature everywhere, $x = 2$ and all weights 1, the gate is $2 \cdot \sigma(2) = 1.762$, the other branch 2, the result 3.523.

# %%
widgets.predict(
    "12.C",
    "And if the gate's weight is -1? A ReLU in its place would give 0.",
    choices=["0 too", "below 0", "above 0"],
)

# %%
for weight in (1.0, -1.0):
    gate = F.silu(torch.tensor(weight * 2.0))
    print(f"gate weight {weight:4.1f}: gate {gate:6.3f}, result {gate * 2:6.3f}")
widgets.came_out("12.C", "below 0")

# %%
z = torch.linspace(-5, 4, 91)
functions = {"SiLU": F.silu(z), "ReLU": z.relu(), "sigmoid": z.sigmoid()}
ax = plotting.curves(z, functions, xlabel="before", ylabel="after the function")
plotting.show(
    ax,
    "SiLU, ReLU and sigmoid. SiLU follows ReLU far from zero, but dips below zero "
    "for negative values and is smooth everywhere.",
)

# %% [markdown]
# *SiLU dips below zero, and has a slope where ReLU has none.* A gated network has three matrices instead of two. To have as many parameters as a ReLU network with $d_{ff} = 4\, d_{model}$, it takes two thirds of that width.
#
# **Do exercise 12.2 now (18 minutes, {{exercises_link}}), then read on.** It asks for the whole block, with a cache. In exercise 12.1 (10 minutes, *more*) you make a gated network multiply exactly. We continue with the library's model, which the tests hold equal to Hugging Face's `LlamaForCausalLM`.

# %% [markdown]
# ## Does the gate pay?
# *More · 3 minutes*
#
# In the small model that you'll train in section 12.4, we replaced SwiGLU by a ReLU network with as many parameters (`python -m experiments gates`). Each network got the best of three learning rates, chosen on one seed, and was then judged on five others, and on one of these after four times the training:

# %% tags=["nbval-ignore-output"]
table = [row for row in read_rows("gates") if row["seed"] != "0"]
for steps in ("300", "1200"):
    runs = {}
    for network in ("SwiGLU", "ReLU"):
        rows = [row for row in table if row["network"] == network]
        runs[network] = [float(row["bits"]) for row in rows if row["steps"] == steps]
        each = [round(bits, 2) for bits in runs[network]]
        print(f"{steps:>4} updates, {network:7} bits on valid {each}")
    ahead = [round(a - b, 2) for a, b in zip(*runs.values(), strict=True)]
    print(f"  ReLU is ahead, seed by seed, by {ahead} bits")

# %% [markdown]
# That's a surprise. In this small model the plain ReLU network is better with every seed, and four times the training hardly changes its lead. Shazeer (2020, table 1) measured the opposite, in a much larger encoder-decoder that was trained for much longer. We haven't found out what makes the difference. We use SwiGLU in what follows because published models do, not because it helps here. What RMSNorm, rotary positions and grouped queries are worth in this model we haven't measured.

# %% [markdown]
# ## 12.3 What counting can do
# *Core · 4 minutes*
#
# The text is Python's language reference, letter by letter, so the vocabulary is tiny and no word is unknown. On its first part a model is **trained**. On the second, *valid*, we **choose** how long to train and at which rate. On the third, *test*, we only **judge**. A figure on the text that you chose by is too good, because you kept what happened to fit it.

# %% tags=["nbval-ignore-output"]
parts = documentation_split()
for name, text in parts._asdict().items():
    print(f"{name:6}{len(text):8,} characters")
V = len(TEXT)
CHARACTERS = V - 3  # padding, start and end have ids too, but never come in the text
print(f"{V} ids, {CHARACTERS} of them characters\n...{parts.train[2000:2200]}...")

# %% [markdown]
# Let $p(c_t \mid c_{<t})$ be the probability that a model gave to the character $c_t$ that really came. Over $T$ characters
#
# $$\text{loss} = -\frac1T \sum_{t=1}^{T} \ln p(c_t \mid c_{<t}) , \qquad \text{perplexity} = e^{\text{loss}} , \qquad \text{bits per character} = \frac{\text{loss}}{\ln 2} .$$
#
# A number alone says little. How far do you get **without any training**, by counting? A model of **pairs** counts which letter follows which, **trigrams** count what follows two letters, **5-grams** what follows four. Long contexts are rare, so each of these is mixed with the one that is shorter by a letter. After a context that came $n$ times, followed by $t$ different letters, the shorter one gets the share $t / (n + t)$ (Witten and Bell, 1991). In the text *abab*, *a* and *b* both have 1/2. After *b*, which was followed once, by *a*, the pair model gives *a* the probability $\frac{1 + 1 \cdot 1/2}{1 + 1} = 0.75$.

# %%
by_hand = NGrams("abab", 2, num_symbols=2)
print(by_hand.probability("", "a"), by_hand.probability("b", "a"))

# %%
widgets.predict(
    "12.D",
    "Knowing nothing, a character costs 6.6 bits. With 5-grams, on the test text?",
    between=(0, 6.6),
    step=0.1,
)

# %% tags=["nbval-ignore-output"]
counted = NGrams(parts.train, 5, CHARACTERS)
orders = {"uniform": 0, "frequencies": 1, "pairs": 2, "trigrams": 3, "5-grams": 5}
bits = {}
for name, order in orders.items():
    bits[name] = counted.bits(parts.test, order).mean().item()
    print(f"{name:12}{bits[name]:5.2f} bits   perplexity {2 ** bits[name]:5.1f}")
widgets.came_out("12.D", bits["5-grams"])

# %% [markdown]
# Beating letter frequencies would prove little. The 5-grams are harder to beat.

# %% [markdown]
# ## 12.4 Trained live, and trained longer
# *Core · 6 minutes*
#
# A model of two blocks, in windows of 128 characters. It takes about twenty seconds on a quiet machine.

# %% tags=["nbval-ignore-output"]
seed_everything(0)
sizes = {"num_layers": 2, "d_model": 128, "d_ff": 344, "num_heads": 4}
small = DecoderLM(DecoderConfig(V, num_kv_heads=2, max_len=512, **sizes))
train_ids, valid_ids, test_ids = (encode_text(text) for text in parts)  # (N,) each
WINDOW, STEPS, EPOCHS = 128, 300, 5
one = windows(train_ids, WINDOW, 8, seed=0)  # all of it: each (8, WINDOW + 1)
print(f"{count_parameters(small):,} parameters")
print(f"reads {STEPS * 8 * WINDOW:,} of {len(train_ids):,} characters")

# %% tags=["nbval-ignore-output"]
# the optimizer of lesson 11, where this PyTorch has it; else Adam with a lower rate
muon = hasattr(torch.optim, "Muon")
peak = 1.2e-2 if muon else 5e-3
history = fit(
    small,
    lambda epoch: one[epoch * STEPS // EPOCHS : (epoch + 1) * STEPS // EPOCHS],
    next_symbol_loss,
    epochs=EPOCHS,
    rate=lambda step: one_cycle_rate(step, STEPS, peak, rise=0.1),
    optimizer=MuonWithAdam(small) if muon else None,
    validate=lambda model: text_scores(model, valid_ids[:4000], length=WINDOW)["loss"],
)
small.requires_grad_(False)
print(f"valid, in bits: {[round(x / math.log(2), 2) for x in history.scores]}")

# %% [markdown]
# (The bar shows nats. Divide by $\ln 2 = 0.693$ for bits.) Now the test text, in windows of 128 characters, as in training. They overlap by half, so that nearly every character has half a window before it (exercise 12.7). Windows of 256 would give it twice as much to read:

# %%
widgets.predict(
    "12.E",
    "Judged in windows of 256 in place of 128, does the live model get better?",
    choices=["better", "the same (within 0.02 bits)", "worse"],
)

# %% tags=["nbval-ignore-output"]
live = text_scores(small, test_ids, length=WINDOW, stride=WINDOW // 2)
twice = text_scores(small, test_ids, length=2 * WINDOW, stride=WINDOW)
print(f"windows of 128: {live['bits']:.2f} bits; windows of 256: {twice['bits']:.2f}")
change = twice["bits"] - live["bits"]
result = "better" if change < 0 else "worse"
if abs(change) <= 0.02:
    result = "the same (within 0.02 bits)"
widgets.came_out("12.E", result)

# %% [markdown]
# More to read, and it does worse. Section 12.7 finds out why. Until then we judge a model in windows as long as those of its training. What does this one write?

# %% tags=["nbval-ignore-output"]
rng = torch.Generator().manual_seed(0)
start = encode_text("The ")[None]  # (1, 4)
sample = generate(small, start, max_new_tokens=120, temperature=0.7, generator=rng)
print(decode_text(sample[0]))

# %% [markdown]
# The shipped model, which wrote the text at the top, has twice as many blocks and has read more, the training text many times over and the docstrings of Python's standard library. We kept the epoch that was best on *valid*.
#
# The 5-grams above have read less, so we count once more, in the training text *and* the docstrings. All of them on the test text:

# %% tags=["nbval-ignore-output"]
judged = text_scores(model, test_ids, length=512, stride=256)
more = docstrings()
counted_more = NGrams(f"{parts.train}\n\n{more}", 5, CHARACTERS)
counted_more = counted_more.bits(parts.test)  # (N - 1,)
rows = bits | {"5-grams, more text": counted_more.mean().item()}
rows |= {"trained live": live["bits"], "shipped": judged["bits"]}
for name, value in sorted(rows.items(), key=lambda row: -row[1]):
    print(f"{name:20}{value:5.2f} bits   perplexity {2**value:6.2f}")

# %% [markdown]
# The shipped model beats everything that we counted. The live one ends up between trigrams and 5-grams, and four times the training takes it past the 5-grams on *valid* ("How the shipped one was trained"). Exercises 12.5 and 12.7 (*more*) build this evaluation.

# %% [markdown]
# ## How the shipped one was trained
# *More · 2 minutes*
#
# The command is `python -m experiments train documentation`, and the model's card is `course_utils/pretrained/data/documentation.md`.

# %% tags=["nbval-ignore-output"]
log = pretrained.training_of("language_model")
epochs = torch.arange(1, len(log["scores"]) + 1)
nats = {"while training": log["losses"], "valid": log["scores"]}
curves = {name: torch.tensor(losses) / math.log(2) for name, losses in nats.items()}
ax = plotting.curves(epochs, curves, xlabel="epoch", ylabel="bits per character")
fitted = text_scores(model, train_ids[80_000:104_000], length=512)["bits"]  # a piece
ax.plot(epochs[-1], fitted, "o", color=plotting.COLORS[0], label="train, afterwards")
plotting.mark_levels(ax, {"5-grams on valid": counted.bits(parts.valid).mean().item()})
ax.set_ylim(0, None)
ax.legend(frameon=False, loc="lower left")
plotting.show(
    ax,
    "Bits by epoch. The training curve falls from 3.6 to 1.5 and stays above the valid "
    "curve, which falls from 1.9 to 1.4. The dot for train, afterwards, is below both.",
)

# %% tags=["nbval-ignore-output"]
size = sum(p.numel() for p in model.parameters())
print(f"best epoch on valid: {1 + curves['valid'].argmin()}; train {fitted:.2f} bits")
print(f"{size:,} parameters, {log['minutes']} minutes on one core")
others = NGrams(parts.train[:80_000] + parts.train[104_000:], 5, CHARACTERS)
piece = parts.train[80_000:104_000]
on_piece, on_valid = (others.bits(t).mean().item() for t in (piece, parts.valid))
print(f"5-grams without that piece: on it {on_piece:.2f}, on valid {on_valid:.2f}")
longer = [row for row in read_rows("gates") if row["steps"] == "1200"]
longer = [float(row["bits"]) for row in longer if row["network"] == "SwiGLU"]
print("on valid: 5-grams", round(counted.bits(parts.valid).mean().item(), 2), end=", ")
print("the live model trained four times as long", [round(x, 2) for x in longer])

# %% [markdown]
# *The training curve runs above the valid curve. It's a mean over an epoch of learning, with dropout on, and over the docstrings too. Afterwards, without dropout, a piece of the training text (the dot) costs less than valid. It isn't the easier text, since 5-grams that haven't counted it pay more for it than for valid. The model has read it many times, and what that saves it doesn't save on new text. On valid, each epoch was better than the one before.* The live model was behind the 5-grams because it stopped early. The last line is from the table of "Does the gate pay?", and there it's ahead.

# %% [markdown]
# ## Is the test text really new?
# *More · 3 minutes*
#
# Manuals repeat themselves. Part of the test text appears word for word in what the models have read, in stretches of 50 characters or more. There memory alone would do, and the figure flatters every model that has some. We look at the two kinds of characters apart (exercise 12.8 finds them):

# %% tags=["nbval-ignore-output"]
late = torch.cat(windows(test_ids, 512, 8))  # (n, 513); we take the second halves
place = 512 * torch.arange(len(late))[:, None] + torch.arange(257, 513)  # (n, 256)
logits = torch.cat([model(some[:, :-1])[:, 256:] for some in late.split(8)])
ours = F.cross_entropy(logits.transpose(1, 2), late[:, 257:], reduction="none")
ours = ours / math.log(2)  # (n, 256), in bits
five = counted_more[place - 1]
seen = seen_before(f"{parts.train}\n\n{more}", parts.test, 50)[place]
print(f"{seen.float().mean():.0%} of these characters were seen in training")
for name, bit in (("5-grams, more text", five), ("shipped", ours)):
    print(f"{name:18} seen {bit[seen].mean():.2f}   new {bit[~seen].mean():.2f} bits")

# %% [markdown]
# The right-hand column is the honest one for text that is really new. You can't compare figures of language models from different texts, or from different splits of one text, and a figure without its split means little.

# %% [markdown]
# ## 12.5 Does it copy?
# *More · 6 minutes*
#
# There is one thing that attention can do and a 5-gram model can't. It can find the place where the same letters came before, and carry on as the text did there. Does our model do that?
#
# We let it read 48 letters a second time, with 16 letters of other text between. For comparison, the first time it reads other letters, or the *same letters shuffled*. The letters to be predicted are the same three times. What the shuffled ones save is due to which letters came before, and only what a true copy saves on top is due to their order. We take random letters, where no knowledge of the language helps, and stretches of the test text, since a model may copy only what looks familiar. There are ten seeds, with eight texts each.

# %%
widgets.predict(
    "12.F",
    "Random letters: what percentage of the bits will the copy save?",
    between=(0, 100),
    step=5,
)

# %%
def two_halves(seed, kind, first, gap):
    """COUNT texts with a second half that is the same whatever the first is."""
    rng = torch.Generator().manual_seed(seed)
    if kind == "random letters":
        a, z = encode_text("az").tolist()
        second, other = torch.randint(a, z + 1, (2, COUNT, SIZE), generator=rng)
    else:
        starts = torch.randint(len(test_ids) - SIZE, (2, COUNT, 1), generator=rng)
        second, other = test_ids[starts + torch.arange(SIZE)]
    starts = torch.randint(len(test_ids) - gap, (COUNT, 1), generator=rng)
    between = test_ids[starts + torch.arange(gap)]  # (COUNT, gap)
    mixed = torch.rand(COUNT, SIZE, generator=rng).argsort(dim=1)  # (COUNT, SIZE)
    ways = {"other": other, "shuffled": second.gather(1, mixed), "copy": second}
    return torch.cat([ways[first], between, second], dim=1)


# %%
SIZE, COUNT = 48, 8


def second_half(model, ids):
    """Bits for a letter of the second half."""
    logits = model(ids[:, :-1])[:, -SIZE:].transpose(1, 2)  # (COUNT, V, SIZE)
    losses = F.cross_entropy(logits, ids[:, -SIZE:], reduction="none")
    return losses.mean().item() / math.log(2)


def halves(model, kind, gap=16, seeds=range(10)):
    """Bits after other letters, after the same ones shuffled, after a copy: (3, 10)."""
    ways = ("other", "shuffled", "copy")
    texts = [[two_halves(s, kind, first, gap) for s in seeds] for first in ways]
    return torch.tensor([[second_half(model, ids) for ids in row] for row in texts])


# %% tags=["nbval-ignore-output"]
found = {}
for kind in ("random letters", "test text"):
    other, shuffled, copy = found[kind] = halves(model, kind)  # (10,) each
    print(f"{kind}: {other.mean():.2f} bits after other letters", end=", ")
    print(f"after the same shuffled {shuffled.mean():.2f}, a copy {copy.mean():.2f}")
    order = shuffled - copy  # (10,), in pairs: the same second half
    spread = f"{order.min():.2f} to {order.max():.2f}"
    print(f"  saved by their order: {order.mean():.2f}, {spread}")
print(f"knowing only that it is one of 26 letters: {math.log2(26):.2f} bits")
other, _, copy = found["random letters"].mean(dim=1)
widgets.came_out("12.F", 100 * (1 - copy / other).item())

# %% [markdown]
# Random letters it hardly copies. (They are unlike anything it has read, and it does worse on them than a guess among 26.) On test text a copy saves more than its shuffled letters with every seed, so the order counts, and the model does copy, in part. But about half of what a copy saves, the shuffled letters save too. **From how far?** We put more text between the two stretches:

# %% tags=["nbval-ignore-output"]
gaps = torch.tensor([16, 80, 208, 400])
after = torch.stack([halves(model, "test text", gap) for gap in gaps.tolist()])
saved = {  # (gaps, seeds) each
    "a copy": after[:, 0] - after[:, 2],
    "its letters, shuffled": after[:, 0] - after[:, 1],
}
order = after[:, 1] - after[:, 2]  # (gaps, seeds)
for gap, copy, row in zip(gaps.tolist(), saved["a copy"], order, strict=True):
    spread = f"{row.min():.2f} to {row.max():.2f}"
    print(f"{gap + SIZE:3} back: a copy saves {copy.mean():.2f} bits", end=", ")
    print(f"by the order {row.mean():.2f}, {spread}")

# %% tags=["nbval-ignore-output"]
xlabel, ylabel = "letters back to the first half", "bits saved, per letter"
ax = plotting.runs(gaps + SIZE, saved, xlabel=xlabel, ylabel=ylabel)
ax.axhline(0, color="0.6", lw=1)
plotting.show(
    ax,
    "Bits saved against other letters, by distance, for a copy and for its letters "
    "shuffled, with a dot for each seed. Both fall towards zero; the copy lies higher.",
)

# %% [markdown]
# *A dot is a seed. A copy near by helps, by its letters and by their order. From a few hundred letters away it hardly does, though the model was trained in windows of 512.*
#
# How does it do that? Olsson et al. (2022) describe a pair of heads that can. One, in an earlier layer, looks at the letter before and notes at each place which letter that was. The other, an **induction head** in a later layer, sits at an *n*, looks for the places whose note says *n*, and says the letter that it finds there. It would be tempting to search the 16 heads for that pattern and be content. But a pattern of weights doesn't show that a head is needed (lesson 06). You'd have to take the head out and ask what a copy still *saves*. That is no longer building a model but looking inside one, and it's what lesson 13 does.

# %% [markdown]
# ## 12.6 Which token next?
# *Core · 6 minutes*
#
# To write, we must choose a symbol. Should it be the most probable one each time (**greedy**), or one drawn at random? Three settings lie in between, applied **in this order**:
#
# 1. **Temperature** $T$ makes the probabilities $\operatorname{softmax}(z / T)$. Below 1 the most probable symbol gains, above 1 all become more alike, and $T = 0$ means greedy.
# 2. **Top-k** keeps only the $k$ most probable symbols, and renormalizes.
# 3. **Top-p** (nucleus sampling) keeps, of these, the fewest most probable ones that reach the probability $p$ *together*. The one that crosses the line stays. It renormalizes again.
#
# Take 0.5, 0.3, 0.15, 0.05. Top-p = 0.6 keeps two, because 0.5 alone is less than 0.6. They become 0.625 and 0.375.

# %%
logits = torch.tensor([0.5, 0.3, 0.15, 0.05]).log()  # (V=4,)
settings = ({"temperature": 0.5}, {"temperature": 2.0}, {"top_k": 2}, {"top_p": 0.6})
for chosen in ({}, *settings, {"top_p": 0.83}, {"top_k": 3, "top_p": 0.83}):
    probs = sampling_distribution(logits, **chosen)
    print(f"{chosen!s:28} {[round(p, 3) for p in probs.tolist()]}")

# %% [markdown]
# Compare the last two lines. Alone, 0.83 takes three symbols. After top-k and its renormalizing, the first two have 0.84 together, and the third one falls. The order matters.
#
# **Do exercise 12.10 now (4 minutes).** Exercise 12.4 (20 minutes, *more*) asks for all three at once. Here is the model after `The `. The outlines are its own probabilities, the filled bars are what we draw from:

# %% tags=["nbval-ignore-output"]
logits = model(encode_text("\n\nThe ")[None])[0, -1]  # (V,)
top = logits.argsort(descending=True)[:12]  # (12,)
symbols = [NAMES.get(TEXT.symbols[i], TEXT.symbols[i]) for i in top.tolist()]
settings = {
    "T = 0.5": {"temperature": 0.5}, "T = 2": {"temperature": 2.0},
    "top-k = 5": {"top_k": 5}, "top-p = 0.8": {"top_p": 0.8},
}
plain = sampling_distribution(logits)[top]  # (12,)
axes = plotting.new_axes(11.0, 2.6, columns=4)
for ax, (name, chosen) in zip(axes, settings.items(), strict=True):
    drawn = sampling_distribution(logits, **chosen)
    left = f"{name}: {int((drawn > 0).sum())} left"
    next_symbol_bars(symbols, plain, drawn[top], ax=ax, title=left, outlined="T = 1")
    ax.set_ylim(0, 0.4)
plotting.show(axes[0], "The twelve most probable letters under four settings.")

# %% tags=["nbval-ignore-output"]
for prompt in ("\n\nThe ", "def __init__(sel"):
    z = model(encode_text(prompt)[None])[0, -1]  # (V,)
    left = sampling_distribution(z, top_p=0.8) > 0
    print(f"after {prompt!r:18} top-p = 0.8 leaves {int(left.sum())}")

# %% [markdown]
# *Temperature rules nothing out, it makes the tail smaller or larger (the count includes three ids that are no characters). Top-k cuts after a fixed number, top-p after a fixed probability, and how many that leaves depends on the prompt.* Try it out. The continuation is drawn with the same random numbers each time:

# %% tags=["nbval-ignore-output"]
prompts = ["The following ", "class Point:\n    def __init__(", "If the argument is "]
playground = widgets.sampling_playground(model, prompts)
playground.show_first_state(
    "Bars of the probabilities of the twelve most probable next characters after the "
    "prompt, and below a continuation of thirty characters."
)

# %%
playground

# %% [markdown]
# **Why not always greedy?** Every single choice is the most probable one, and yet the text tends to run in circles. For six prompts we measure what share of the stretches of 20 characters has come before in the same text:


# %%
def repeated(ids, size=20):
    text = decode_text(ids)
    stretches = [text[i : i + size] for i in range(len(text) - size + 1)]
    return 1 - len(set(stretches)) / len(stretches)


# %% tags=["nbval-ignore-output"]
starts = (
    "A function is ", "If the list is", "For example, a",
    "This is called", "When the value", "The class body",
)  # fmt: skip
alike = torch.stack([encode_text(start) for start in starts])  # (6, 14)
ways = {"greedy": {"temperature": 0.0}, "T = 1": {}, "top-p": {"top_p": 0.9}}
for name, chosen in ways.items():
    rng = torch.Generator().manual_seed(2)
    written = generate(model, alike, max_new_tokens=240, generator=rng, **chosen)
    shares = [repeated(ids) for ids in written]
    spread = f"{min(shares):.0%} to {max(shares):.0%}"
    print(f"{name:7} repeated {sum(shares) / 6:.0%}, the six {spread}")

# %% [markdown]
# ## 12.7 Longer than it was trained for
# *Core · 5 minutes*
#
# A window twice as long made the live model worse. The shipped one was trained in windows of 512 characters and has room for 1,024. Beyond 512, two things are new to it. There are more keys than it has ever shared its weights among. And there are keys further back than any that it has met. To tell the two apart, we change the mask. One lets each layer look at the **latest 512** keys only. The other allows just as many, the latest 448 and those that lie 960 or more back:


# %%
def read(model, ids, mask):
    """The logits (B, L, V) under a mask of our own, the same in each layer."""
    x = model.embedding(ids)  # (B, L, d_model)
    for layer in model.layers:
        x = layer(x, mask)
    return model.generator(model.norm(x))


def bits_by_place(model, texts, mask, pieces, read=read):
    """Bits per character, from the front of the windows to the back: (pieces,)."""
    loss, nats = nn.CrossEntropyLoss(reduction="none"), []
    for ids in texts:
        logits = read(model, ids[:, :-1], mask)  # (B, L, V)
        nats.append(loss(logits.transpose(1, 2), ids[:, 1:]))  # (B, L)
    return torch.cat(nats).unflatten(1, (pieces, -1)).mean(dim=(0, 2)) / math.log(2)


# %%
back = torch.arange(1024)[:, None] - torch.arange(1024)  # (L, L): how far back a key is
allowed = {
    "all keys": back >= 0,
    "the latest 512": (back >= 0) & (back < 512),
    "448 latest, 64 far ones": (back >= 0) & ((back < 448) | (back >= 960)),
}
for name, mask in allowed.items():
    print(f"{name:24} at most {int(mask.sum(dim=1).max())} keys for a query")

# %%
widgets.predict(
    "12.G",
    "Only the latest 512 keys: beyond 512, its bits compared with those up to 512?",
    choices=["as good or better", "worse by up to 1 bit", "worse by more than 1 bit"],
)

# %% tags=["nbval-ignore-output"]
long = windows(test_ids[: 12 * 1024 + 1], 1024, 4)  # 12 windows
found_by_mask = {}
for name, mask in allowed.items():
    found_by_mask[name] = bits_by_place(model, long, mask, 16)

# %% tags=["nbval-ignore-output"]
names = {"xlabel": "characters before", "ylabel": "bits per character"}
ax = plotting.new_axes(6.4, 3.4)
plotting.curves(64 * torch.arange(16) + 32, found_by_mask, ax=ax, **names)
plotting.mark_levels(ax, {"letter frequencies": bits["frequencies"]})
plotting.mark_places(ax, {"trained to here": 512, "far keys from here": 960})
ax.set_ylim(0, 6)
ax.legend(frameon=False, loc="center left")
plotting.show(
    ax,
    "Bits by place in a window of 1,024. With all keys they rise beyond 512, above "
    "letter frequencies. With the latest 512 they stay level. With 64 far keys among "
    "512 they stay level up to 960 and jump there.",
)

# %% tags=["nbval-ignore-output"]
for name, curve in found_by_mask.items():
    near, far, last = curve[:8].mean(), curve[8:].mean(), curve[-1]
    print(f"{name:24} up to 512 {near:.2f}, beyond {far:.2f}, the last 64 {last:.2f}")
curve = found_by_mask["the latest 512"]
gained = (curve[8:].mean() - curve[:8].mean()).item()
choices = "as good or better", "worse by up to 1 bit", "worse by more than 1 bit"
widgets.came_out("12.G", choices[(gained > 0.02) + (gained > 1)])

# %% [markdown]
# *With all keys the model falls apart, and in the end it does worse than letter frequencies. With the latest 512 it stays as good as it was. The third line follows the second up to place 960, where the first of the far keys come into sight, and there it breaks.* So it isn't the number of keys, which is 512 under both masks. It's the distance. ("When you need it" keeps all keys and caps their distance, a cure too.) The live model has the same trouble, and the same mask mends it:

# %% tags=["nbval-ignore-output"]
pairs = windows(test_ids, 2 * WINDOW, 16, stride=WINDOW)
near = back[: 2 * WINDOW, : 2 * WINDOW]
for name, mask in (("all keys", near >= 0), ("128", (near >= 0) & (near < WINDOW))):
    second = bits_by_place(small, pairs, mask, 2)[1].item()
    print(f"live model, {name:8} characters 129 to 256: {second:.2f} bits")
print(f"live model, in windows of {WINDOW}: {live['bits']:.2f} bits")

# %% [markdown]
# With one line of mask and no training, the live model is as good at twice its trained length as within it. That is the **sliding window** of Mistral 7B, whose cache keeps the latest keys only (lesson 14 writes with one). Exercise 12.9 (20 minutes, *more*) takes context away and measures what is lost.

# %% [markdown]
# ## The whole thing
# *Core · 7 minutes*
#
# Once you've done exercise 12.2, unfold this cell, the complete model without a cache.


# %% tags=["whole"]
def linears(**shapes):
    layers = {name: nn.Linear(*shape, bias=False) for name, shape in shapes.items()}
    return nn.ModuleDict(layers)


def split(x, heads):
    """(B, L, H * d_head) -> (B, H, L, d_head)"""
    return x.unflatten(-1, (heads, -1)).transpose(1, 2)


def turn(x, angles):
    """Rotary positions: feature i and feature i + d_head / 2 turn together."""
    a, b = x.chunk(2, dim=-1)  # (B, H, L, d_head / 2) each
    cos, sin = angles.cos(), angles.sin()  # (L, d_head / 2)
    return torch.cat((a * cos - b * sin, b * cos + a * sin), dim=-1)


class Block(nn.Module):
    """Look at yourself and the past, then transform each position."""

    def __init__(self, c):
        super().__init__()
        self.heads, self.kv_heads, d, w = c.num_heads, c.num_kv_heads, c.d_model, c.d_ff
        kv, e = d // self.heads * self.kv_heads, c.norm_eps
        shapes = {"q_proj": (d, d), "k_proj": (d, kv), "v_proj": (d, kv)}
        self.self_attention = linears(**shapes, o_proj=(d, d))
        self.feed_forward = linears(gate_proj=(d, w), up_proj=(d, w), down_proj=(w, d))
        self.attention_norm, self.feed_forward_norm = nn.RMSNorm(d, e), nn.RMSNorm(d, e)

    def forward(self, x, angles, mask):
        y, m = self.attention_norm(x), self.self_attention  # (B, L, d_model)
        q = turn(split(m["q_proj"](y), self.heads), angles)  # (B, H, L, d_head)
        k = turn(split(m["k_proj"](y), self.kv_heads), angles)  # (B, H_kv, L, d_head)
        v = split(m["v_proj"](y), self.kv_heads)  # (B, H_kv, L, d_head)
        k, v = (t.repeat_interleave(self.heads // self.kv_heads, dim=1) for t in (k, v))
        scores = q @ k.mT / q.shape[-1] ** 0.5  # (B, H, L, L)
        weights = scores.masked_fill(~mask, -torch.inf).softmax(dim=-1)
        x = x + m["o_proj"]((weights @ v).transpose(1, 2).flatten(2))  # (B, L, d_model)
        y, m = self.feed_forward_norm(x), self.feed_forward
        return x + m["down_proj"](F.silu(m["gate_proj"](y)) * m["up_proj"](y))


class LanguageModel(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.embedding = nn.Embedding(c.vocab_size, c.d_model)
        self.layers = nn.ModuleList(Block(c) for _ in range(c.num_layers))
        self.norm = nn.RMSNorm(c.d_model, eps=c.norm_eps)
        half = c.d_model // c.num_heads // 2
        self.speeds = c.rope_base ** (-torch.arange(half) / half)  # (d_head / 2,)

    def forward(self, tokens):
        L = tokens.shape[1]
        angles = torch.arange(L)[:, None] * self.speeds  # (L, d_head / 2)
        x, mask = self.embedding(tokens), torch.ones(L, L).tril().bool()
        for layer in self.layers:
            x = layer(x, angles, mask)  # (B, L, d_model)
        return self.norm(x) @ self.embedding.weight.T  # (B, L, V)


# %% [markdown]
# It takes the shipped weights. Here are its logits and its text beside the library's. The plain loop feeds everything so far at each step, and throws away all logits but the last:


# %%
@torch.no_grad()
def write_plainly(model, prompt, new):
    tokens = prompt  # (B, L)
    for _ in range(new):
        logits = model(tokens)[:, -1]  # (B, V)
        tokens = torch.cat((tokens, logits.argmax(dim=-1, keepdim=True)), dim=1)
    return tokens


def write_cached(model, prompt, new):
    return generate(model, prompt, max_new_tokens=new, temperature=0.0)


# %%
mine = LanguageModel(model.config)
state = {k: v for k, v in model.state_dict().items() if k != "generator.weight"}
print(mine.load_state_dict(state))
some = test_ids[None, :200]  # (B=1, L=200)
with torch.no_grad():
    print("logits equal:", torch.allclose(mine(some), model(some), atol=1e-3))
prompt = encode_text("A function is ")[None]
written = write_plainly(mine, prompt, 60)
print("same text:", torch.equal(written, write_cached(model, prompt, 60)))
print(decode_text(written[0]))

# %% [markdown]
# Look at `Block` once more. `q @ k.mT` are the dot products of lesson 01, and `weights @ v` is the soft lookup of 02. The division is from 04, the mask from 05, the heads from 06, the shared keys and values from 07, `turn` from 08, the norms and the two sums from 09. Only the gate is new.
#
# **It can learn other texts too.** Now a smaller one reads the spellings of the pronouncing dictionary, one word a line:

# %% tags=["nbval-ignore-output"]
seed_everything(1)
words = list(pronunciations.split("train"))
lines = "\n".join(words[i] for i in torch.randperm(len(words)).tolist())
lines = windows(encode_text(lines[:160_000]), 64, 16, seed=0)[:150]  # (16, 65) each
sizes = {"num_layers": 2, "d_model": 64, "d_ff": 172, "num_heads": 4}
speller = DecoderLM(DecoderConfig(V, num_kv_heads=2, max_len=64, **sizes))
history = fit(
    speller,
    lambda epoch: lines,
    next_symbol_loss,
    epochs=1,
    rate=lambda step: one_cycle_rate(step, len(lines), peak, rise=0.1),
    optimizer=MuonWithAdam(speller) if muon else None,
)

# %% [markdown]
# It writes a hundred words at each of three temperatures. The first words of the last hundred that aren't in the dictionary go to the model of lesson 11, which says how they sound:

# %% tags=["nbval-ignore-output"]
known = set(pronunciations.pronunciations())
for T in (0.3, 1.5, 0.8):  # the last is the one that goes on
    rng = torch.Generator().manual_seed(0)
    start = encode_text("\n").repeat(100, 1)  # (100, 1): each line begins a word
    settings = {"temperature": T, "top_p": 0.95, "generator": rng}
    out = generate(speller, start, max_new_tokens=16, **settings)
    invented = [decode_text(row[1:]).split("\n")[0] for row in out]
    new = [word for word in invented if word.isalpha() and word not in known]
    met = sum(word in known for word in invented)
    print(f"T = {T}: {met} of 100 are in the dictionary;", *new[:5])
told = pretrained.load("transformer").eval()
for word, sounds in zip(new[:10], pronounce(told, new[:10]), strict=True):
    print(f"{word:16} {' '.join(sounds)}")

# %% [markdown]
# Read a few aloud. Neither model has met these words. One has learned which letters follow one another, the other how letters sound. In the payoff of the exercises, *your* block does the inventing.

# %% [markdown]
# ## 12.8 Generation with a cache
# *More · 10 minutes*
#
# With a cache (lesson 07) each layer keeps its keys and values. The **prefill** feeds the prompt once; after that each **step** feeds the newest token alone.

# %%
plotting.show(diagrams.cache_strip(list("The cat sat"), prompt=4))

# %% [markdown]
# *Each row is a step, each column a position, computed once and then only looked at.*
#
# **Do exercise 12.3 now (15 minutes), then read on.** Exercise 12.6 is a bug that shows only with a cache, and exercise 12.11 asks how the costs grow.
#
# What does it save? One position costs each weight matrix one multiplication per entry, $P$ in all. Its query meets every key, and every value is weighed, which takes $2 L d_{model}$ multiplications in each of $N$ layers.
#
# | | positions computed | multiplications |
# |---|---|---|
# | one step without a cache | $L$ | about $L P + N L^2 d_{model}$ (half of the $L^2$ pairs, twice $d_{model}$) |
# | one step with a cache | 1 | $P + 2 N L d_{model}$ |

# %%
widgets.predict(
    "12.H",
    "One step after 256 tokens: how many times fewer multiplications with the cache?",
    between=(0, 512),
    step=16,
)

# %%
c = model.config
P = sum(p.numel() for p in model.parameters() if p.dim() == 2)
ratios = {}
for length in (16, 64, 256, 1024):
    uncached = length * P + c.num_layers * length**2 * c.d_model
    cached = P + 2 * c.num_layers * length * c.d_model
    ratios[length] = uncached / cached
    millions = f"{uncached / 1e6:7.1f} or {cached / 1e6:.2f} million"
    print(f"L = {length:4}   {millions}   ratio {ratios[length]:5.0f}")
widgets.came_out("12.H", ratios[256])

# %% [markdown]
# For short texts that is about $L$ times less for a step at length $L$. Later it is somewhat less than that, since the cached step looks back at more and more. The clock says less, because a step of a small model also has costs that don't shrink, such as calling Python. Here are the seconds of computing in one thread, the faster of two runs:


# %% tags=["nbval-ignore-output"]
def timed(way, new):
    began = time.process_time()  # without the time that other programs take
    way(model, prompt, new)
    return time.process_time() - began


lengths = torch.tensor([16, 96, 256])
seconds = {}
for name, way in (("without cache", write_plainly), ("with cache", write_cached)):
    times = [min(timed(way, new) for _ in range(2)) for new in lengths.tolist()]
    seconds[name] = torch.tensor(times)  # (3,)
names = {"xlabel": "new tokens", "ylabel": "seconds of computing"}
ax = plotting.curves(lengths, seconds, **names)
ax.set_ylim(0, None)
plotting.show(ax, "Seconds of computing by new tokens, with and without the cache.")

# %% [markdown]
# *Without the cache each token costs more than the one before, so by the count above the upper line bends upward; how much of that the clock shows depends on the machine.* The price is memory: 2 (keys and values) × layers × $H_{kv}$ × positions × $d_{head}$ numbers, as in lesson 07.

# %% [markdown]
# ## 12.9 Source and target in one text
# *More · 4 minutes*
#
# A task with a source and a target needs no encoder either. Write both into one text, with a sign in between, `nation>N EY SH AH N`, and score only what comes after the sign. The letters can reach the sounds in one way only, through *self*-attention, which has to do what cross-attention did. Is that as good?
#
# Lesson 11 compares models at one budget (`python -m experiments comparison`), the same words, as often, in the same batches, with nearly as many parameters, for each the learning rate that was best in a short sweep, and then several seeds. Two of them differ in the model alone, the Transformer of lesson 10 with two and two layers, and a `DecoderLM` with four in its one stack. The budget is small, so errors are many. On words for validation:

# %% tags=["nbval-ignore-output"]
table = read_rows("comparison")
runs = [row for row in table if row["part"] == "run" and row["right"]]  # last epochs
for variant in ("Transformer, Muon", "decoder-only, Muon"):
    for what in ("WER", "PER"):
        rates = [float(row[what]) for row in runs if row["variant"] == variant]
        spread = f"{len(rates)} seeds {min(rates):.1f} to {max(rates):.1f}"
        print(f"{variant:20}{what} {sum(rates) / len(rates):.1f} %, {spread}")

# %% [markdown]
# The ranges of the two models overlap, in both rates. Three seeds can't tell them apart *at this budget*, and about any other budget this table says nothing.
#
# One thing is lost. The encoder's letters see one another in both directions, but in one causal text the *k* of *knight* is read without knowing what follows. A **prefix mask** (lesson 05) would let the letters see one another here too.

# %% [markdown]
# ## What goes wrong
# *More · 3 minutes*
#
# **The temperature divides the probabilities.** After renormalizing, nothing has changed. The sign of it is a slider that does nothing.

# %%
probs = torch.tensor([0.7, 0.2, 0.1])
for T in (0.5, 2.0):
    wrong, right = probs / T, sampling_distribution(probs.log(), temperature=T)
    print(f"T = {T}: wrong {wrong / wrong.sum()}   right {right}")

# %% [markdown]
# **The whole text is fed at each cached step.** Then the cache holds the prompt twice, the second time at wrong positions. A cache with just enough room refuses. One with more room says nothing, and the logits are wrong:

# %%
ids = encode_text("A function is ")[None]  # (B=1, L=14)
for room in (14, 64):
    cache = model.start_cache(1, room)
    model(ids[:, :-1], cache=cache)
    try:
        wrong = model(ids, cache=cache)[0, -1]  # meant: ids[:, -1:] alone
        off = (wrong - model(ids)[0, -1]).abs().max()
        print(f"room for {room}: no error, logits off by up to {off:.1f}")
    except ValueError as error:
        print(f"room for {room}: {error}")

# %% [markdown]
# ## In practice
# *More · 2 minutes*
#
# - **Prefill and steps** are different loads. Prefill computes many positions at once. A step reads all weights and the whole cache for one position, so that memory traffic tends to be its limit (lesson 07). Servers batch the steps of many users, who then share one reading of the weights.
# - **Longer texts.** A sliding window is one way, and the trained length is its limit in each layer. Llama 3 went another way, with a larger base for the angles and long texts in training.
# - **Names.** `temperature`, `top_k`, `top_p` are called so nearly everywhere, but their order isn't the same everywhere, so read the documentation. $d_{ff}$ is `intermediate_size`, $H_{kv}$ is `num_key_value_heads`, the cache is `past_key_values` (Hugging Face).
#
# **Now put it all together.** In the payoff of the {{exercises_link}}, a model made of *your* blocks invents the words, and your own sampling draws them.

# %% [markdown]
# ## Recap
# *Core · 2 minutes*
#
# 1. **What is left** is one causal stack. Its block has RMSNorm before each sublayer, rotary positions, grouped queries and SwiGLU, in which a gate multiplies feature by feature.
# 2. **How good it is** we say in nats, as perplexity, or in bits. Give it beside counted models on the same text, choose on *valid*, judge on *test*, and use windows like those of the training.
# 3. **What it looks at** differs from head to head. Beyond its trained length this model falls apart because of distances that it hasn't met, and a sliding mask mends that.
# 4. **The next token** is drawn after temperature on the logits, then top-k, then top-p, which keeps the crossing token. This model's greedy text repeats itself.
# 5. (*More*) It **copies** familiar text from near by, in part. About half of what a copy saves, its letters would save in any order. **With a cache** you prefill once and then feed one token per step, and the text is the same.
#
# In lesson 01 you began with the dot product of two vectors. Now you can read, line by line, the blocks of many published models (a table is in "When you need it").

# %% tags=["nbval-ignore-output"]
widgets.predictions()

# %% [markdown]
# | symbol | meaning | shape |
# |---|---|---|
# | tokens, labels | `ids[:-1]`, `ids[1:]` | `(B, L)` |
# | $z$ | logits of the next token | `(B, L, V)` |
# | $H$, $H_{kv}$ | query heads, key/value heads | numbers |
# | $W_{gate}, W_{up}$ | up, twice | `(d_ff, d_model)` |
# | $W_{down}$ | down | `(d_model, d_ff)` |
# | cache, for each layer | keys and values so far | `(B, H_kv, L, d_head)` each |
# | $T$, $k$, $p$ | temperature, top-k, top-p | numbers |
# | $P$ | parameters in matrices | a number |

# %% [markdown]
# ## Check yourself
# *Core · 2 minutes*
#
# <details><summary>1. A model has 1 bit per character. What is its perplexity, and what its loss in nats?</summary>
#
# **2, and ln 2, about 0.69.**
# </details>
#
# <details><summary>2. Where does the decoder-only model look at the prompt, now that there is no cross-attention?</summary>
#
# **In self-attention.** Prompt and answer are one text.
# </details>
#
# <details><summary>3. You train five models, take the one that is best on the test text, and report its test figure. What is wrong?</summary>
#
# **It was chosen by the text that it is judged on.** Part of what made it best there is luck, and the luck is in the figure. Choose on valid.
# </details>
#
# <details><summary>4. A model was trained in windows of 512. With all 1,024 keys it falls apart beyond 512, and with the latest 512 it doesn't. Does that alone show that the distance is to blame?</summary>
#
# **No.** The mask takes away far keys, and with them a number of keys. Either could be the cause. The second mask decides, with 512 keys of which some are far.
# </details>

# %% [markdown]
# ## When you need it
# *More · 14 minutes*
#
# **Tokens between letters and words.** Published models read pieces of words. **Byte-pair encoding** (Sennrich et al., 2016) finds them. It starts with letters, joins the pair of neighbors that occurs most often into one new symbol, and repeats. Take *low* five times, *lower* twice, *newest* six times and *widest* three times. The pairs *e s* and *s t* occur 9 times each. The first of them is joined to *es*, then *es t* occurs 9 times and becomes *est*.


# %%
def most_frequent_pair(words):
    """words: a tuple of symbols -> how often it occurs."""
    pairs = {}
    for word, count in words.items():
        for pair in zip(word, word[1:], strict=False):
            pairs[pair] = pairs.get(pair, 0) + count
    return max(pairs, key=pairs.get) if pairs else None  # of several the first


# %%
def join(word, pair):
    joined = []
    for symbol in word:
        if joined and (joined[-1], symbol) == pair:
            joined[-1] += symbol
        else:
            joined.append(symbol)
    return tuple(joined)


# %%
def learn(words, merges):
    found = []
    for _ in range(merges):
        pair = most_frequent_pair(words)
        if pair is None:
            break
        found.append(pair)
        words = {join(word, pair): count for word, count in words.items()}
    return found, words


words = {tuple("low"): 5, tuple("lower"): 2, tuple("newest"): 6, tuple("widest"): 3}
pairs, words = learn(words, 4)
print(" ".join(a + b for a, b in pairs), "->", ["|".join(word) for word in words])

# %% [markdown]
# Now the same on a part of the documentation. A word takes its space along, so that the pieces put together give the text back:

# %% tags=["nbval-ignore-output"]
counts = {}
for word in parts.train[:60_000].replace("\n", " ").split(" "):
    counts[tuple(" " + word)] = counts.get(tuple(" " + word), 0) + 1
pairs, pieces = learn(counts, 150)
letters = sum(len("".join(word)) * n for word, n in pieces.items())
tokens_left = sum(len(word) * n for word, n in pieces.items())
print("last ones joined:", [a + b for a, b in pairs[-8:]])
print(f"{letters / tokens_left:.2f} letters a token after {len(pairs)} merges")
nats = judged["loss"] * letters / tokens_left  # of a token, if letters cost as before
print(f"perplexity per letter {judged['perplexity']:.2f}, token {math.exp(nats):.1f}")

# %% [markdown]
# The last line is about *one* prediction of one text, counted per letter and per token. That's why perplexities of models with different tokens can't be compared. Bits per character (or per byte) can, if you divide the total by the number of characters.
#
# **Is it the distance, or are those keys special?** In section 12.7 the mask that broke the model also changed *which* keys it saw. Now it sees all 1,024, and we change the distance alone. What lies more than 511 back is turned as if it lay 511 back. It's the attention of "The whole thing" with a second set of scores:


# %%
def capped(block, x, angles, mask, limit=511):
    """A Block that sees all keys and turns none by more than ``limit`` steps."""
    m, y = block.self_attention, block.attention_norm(x)  # (B, L, d_model)
    q, k, v = (m[name](y) for name in ("q_proj", "k_proj", "v_proj"))
    q, k, v = split(q, block.heads), split(k, block.kv_heads), split(v, block.kv_heads)
    k, v = (t.repeat_interleave(block.heads // block.kv_heads, dim=1) for t in (k, v))
    near = turn(q, angles) @ turn(k, angles).mT  # (B, H, L, L)
    far = turn(q, angles[limit].expand_as(angles)) @ k.mT  # as if limit back
    scores = torch.where(back > limit, far, near) / q.shape[-1] ** 0.5
    weights = scores.masked_fill(~mask, -torch.inf).softmax(dim=-1)
    x = x + m["o_proj"]((weights @ v).transpose(1, 2).flatten(2))
    y, m = block.feed_forward_norm(x), block.feed_forward
    return x + m["down_proj"](F.silu(m["gate_proj"](y)) * m["up_proj"](y))


# %% tags=["nbval-ignore-output"]
def read_capped(model, ids, mask):
    angles = torch.arange(ids.shape[1])[:, None] * model.speeds  # (L, d_head / 2)
    x = model.embedding(ids)  # (B, L, d_model)
    for block in model.layers:
        x = capped(block, x, angles, mask)
    return model.norm(x) @ model.embedding.weight.T


mine.requires_grad_(False)
curve = bits_by_place(mine, long, allowed["all keys"], 16, read_capped)
print(f"all keys, capped distance: beyond 512 {curve[8:].mean():.2f} bits", end=", ")
print(f"as they are {found_by_mask['all keys'][8:].mean():.2f}")

# %% [markdown]
# With its distances capped, the same model reads all 1,024 keys and stays as good as it was. It was the distance.
#
# **How large is a 7B model?** A block has $2 d^2 + 2 d H_{kv} d_{head}$ numbers in its projections, $3 d\, d_{ff}$ in the network and $2 d$ in the norms; embedding and output matrix have $V d$ each (or share them), the last norm $d$.


# %%
def count_by_hand(V, N, d, d_ff, H, H_kv, tied=True):
    block = 2 * d * d + 2 * d * H_kv * (d // H) + 3 * d * d_ff + 2 * d
    return (1 if tied else 2) * V * d + N * block + d


c = model.config
own = (c.vocab_size, c.num_layers, c.d_model, c.d_ff, c.num_heads, c.num_kv_heads)
assert count_by_hand(*own) == size
print(f"this model {count_by_hand(*own):,}")
print(f"Llama 7B   {count_by_hand(32_000, 32, 4096, 11_008, 32, 32, tied=False):,}")

# %% [markdown]
# **Which parts do published models have?** Reading down, the parts of this lesson came in one after another.
#
# | model | norm | positions | query / key-value heads | network | source |
# |---|---|---|---|---|---|
# | Transformer, base | LayerNorm, after | sinusoidal | 8 / 8 | ReLU | Vaswani et al. 2017, section 3, table 3 |
# | GPT-2 | LayerNorm, before | learned | as many of both | GELU (Radford et al. 2018, section 4.1) | Radford et al. 2019, section 2.3 |
# | Llama 7B | RMSNorm, before | RoPE | 32 / 32 | SwiGLU | Touvron et al. 2023a, section 2, table 2 |
# | Llama 2 70B | RMSNorm, before | RoPE | 64 / 8 | SwiGLU | Touvron et al. 2023b, section 2.2, table 1 |
# | Llama 3 8B | RMSNorm, before | RoPE, base 500,000 | 32 / 8 | SwiGLU | Llama Team 2024, section 3.2, table 3 |
# | Mistral 7B | RMSNorm, before | RoPE, window of 4,096 | 32 / 8 | SwiGLU | Jiang et al. 2023, section 2, table 1 |
# | Qwen2.5 7B | RMSNorm, before | RoPE | 28 / 4, biases on q, k, v | SwiGLU | Qwen Team 2024, section 2, table 1 |
# | Gemma 2B | RMSNorm, before | RoPE | 8 / 1 | GeGLU (GELU as the gate) | Gemma Team 2024, section 2, table 1 |
#
# (Numbers of heads that a paper does not print are those of the published configuration.)

# %% [markdown]
# {{next_steps}}

# %% [markdown]
# ## References
#
# - Radford et al., *Language Models are Unsupervised Multitask Learners* (GPT-2), 2019, section 2.3: one causal stack, pre-norm, and how it is initialized.
# - Touvron et al., *LLaMA: Open and Efficient Foundation Language Models*, 2023a, section 2.2: the block of this lesson; *Llama 2*, 2023b, section 2.2: grouped queries.
# - Llama Team, *The Llama 3 Herd of Models*, 2024, section 3.2. Jiang et al., *Mistral 7B*, 2023, section 2. Qwen Team, *Qwen2.5 Technical Report*, 2024, section 2. Gemma Team, *Gemma: Open Models Based on Gemini Research and Technology*, 2024, section 2.
# - Shazeer, *GLU Variants Improve Transformer*, 2020, section 2: SwiGLU and its relatives; table 1: measured in an encoder-decoder model.
# - Shannon, *Prediction and Entropy of Printed English*, 1951: bits per letter, measured by letting people guess. Witten, Bell, *The Zero-Frequency Problem: Estimating the Probabilities of Novel Events in Adaptive Text Compression*, 1991: how much to trust what was counted. Chen, Goodman, *An Empirical Study of Smoothing Techniques for Language Modeling*, 1998: it compares the ways to mix long and short contexts.
# - Olsson et al., *In-context Learning and Induction Heads*, 2022: the heads of section 12.5. Chen et al., *Extending Context Window of Large Language Models via Positional Interpolation*, 2023: another cure for section 12.7, positions squeezed into the trained range, and then a short training.
# - Fan et al., *Hierarchical Neural Story Generation*, 2018, section 5.4: top-k. Holtzman et al., *The Curious Case of Neural Text Degeneration*, 2020, section 3: top-p; it opens with text of beam search that repeats itself.
# - Sennrich, Haddow, Birch, *Neural Machine Translation of Rare Words with Subword Units*, 2016, section 3.2: byte-pair encoding; the example above is theirs.
