# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 10 · The Transformer
#
# By the end you can assemble the whole encoder-decoder Transformer, train it to copy sequences that it has never seen, find out where that skill ends, and test what each of its attentions is for.
#
# {{colab_link}} · short path about 75 minutes with its exercises (38 + 36), everything about 4 hours · builds on lessons 05, 06, 08 and 09

# %% tags=["setup"]
import copy
import math
import sys

import torch
import torch.nn.functional as F
from torch import nn
from tqdm import tqdm

from course_utils import diagrams, masks, plotting, pretrained, widgets
from course_utils.datasets.tasks import copy_task
from course_utils.decoding import greedy_decode
from course_utils.layers import DecoderLayer, EncoderLayer, InputEmbedding, LayerNorm
from course_utils.models import Transformer, TransformerConfig, count_parameters
from course_utils.positions import SinusoidalPositions
from course_utils.pretrained.pronunciation import SOUNDS, SPELLING, pronounce
from course_utils.recording import record_attention
from course_utils.results import read_rows
from course_utils.tokenizers import END_ID, PAD_ID, START_ID, pad
from course_utils.training import label_smoothing_loss, one_cycle_rate, warmup_rate

torch.set_printoptions(precision=3, sci_mode=False, linewidth=88)
torch.set_num_threads(1)  # small tensors: threads would only get in each other's way

# %% [markdown]
# **You will learn to**
#
# 1. read the picture of the whole model, and write the model down;
# 2. make the masks for a batch of pairs, and shift the target;
# 3. say what label smoothing asks for, and what a perfect score is;
# 4. train the model, and find out what it has learned and what it hasn't;
# 5. test what an attention is for, by hiding, removing and training without it.
#
# You know all the parts, attention (04), masks (05), heads (06), positions (08) and layers (09).

# %% [markdown]
# ## Predict first
# *Core · 3 minutes*
#
# A decoder should say `a b c` and then stop. At each position it is given one symbol and asked for one. Meet a parrot that has learned nothing. It repeats the symbol it was just given.
#
# First we give it `a b c end` and ask for `a b c end`. Then we give it `start a b c` and ask for the same.

# %%
widgets.predict(
    "10.A",
    "How many of the four does the parrot get right, the first and the second time?",
    choices=["3 and 1", "4 and 0", "4 and 3", "0 and 4"],
)

# %%
wanted, right = ["a", "b", "c", "end"], []
for given in (["a", "b", "c", "end"], ["start", "a", "b", "c"]):
    parrot = given  # it repeats what it is given
    right.append(sum(said == asked for said, asked in zip(parrot, wanted, strict=True)))
    print("given", given, "  asked for", wanted, "  right:", right[-1])
widgets.came_out("10.A", f"{right[0]} and {right[1]}")

# %% [markdown]
# What a decoder is given must be **one step behind** what it is asked for. Otherwise a model can look perfect and know nothing, and the loss won't warn you. It goes down, and fast ("What goes wrong" trains such a parrot).

# %% [markdown]
# ## 10.1 The whole model on one page
# *Core · 5 minutes*
#
# Let's begin with a model that is trained already, the one of lesson 11. It reads the letters of a word and says its sounds.

# %% tags=["nbval-ignore-output"]
pronouncer = pretrained.load("transformer").eval()
words = ["knight", "tea", "attention"]
for word, sounds in zip(words, pronounce(pronouncer, words), strict=True):
    print(f"{word:10} {' '.join(sounds)}")

# %% [markdown]
# What is inside? We hand it a batch of two pairs, *nights* and *tea*, and let a function watch which parts run, and draw them with their shapes, sums and masks.

# %% tags=["nbval-ignore-output"]
letters = SPELLING.batch(["nights", "tea"])  # (B=2, L_s=6)
spoken = [SOUNDS.encode("N AY T S".split()), SOUNDS.encode("T IY".split())]
full = pad([[START_ID, *sounds, END_ID] for sounds in spoken])  # (B, L_t + 1 = 6)
given = full[:, :-1]  # (B, L_t=5): see 10.4
inputs = ("letters", "sounds, one step behind")
plotting.show(diagrams.architecture(pronouncer, (letters, given), inputs=inputs))

# %% [markdown]
# *Read it from the bottom up, the encoder on the left, the decoder on the right. Each circle adds what a part gives to the stream that runs past it. What the encoder makes is called the **memory**, and every decoder layer reads it along the orange line.*
#
# The paper's figure 1 has the same parts, and four things differ. Here the norms come *before* each part (pre-norm), there after each sum (post-norm). Here each stack ends with one more norm. Here the positions are rotary (lesson 08) and act inside of self-attention, there they are added to the embeddings. And the paper draws a softmax at the top. The first three are settings of this model:

# %%
settings = pronouncer.config
print("pre-norm:", settings.pre_norm, "  final norm:", settings.final_norm)
print("positions:", settings.positions)

# %% [markdown]
# A source $x$ is to become a target $y$. The model says how probable each next symbol is, given the source and the symbols so far:
#
# $$p(y \mid x) = \prod_{t=1}^{L_t} p(y_t \mid y_1, \dots, y_{t-1},\, x) .$$
#
# Ids go in, `(B, L_s)` and `(B, L_t)`. What comes out is a score for each symbol of the target vocabulary at each position, `(B, L_t, V)`, called **logits**. The softmax is left to the loss, or to the decoding. Three ids are special in this course, 0 for padding, 1 for the start and 2 for the end.

# %% [markdown]
# ## 10.2 Two masks for three attentions
# *Core · 4 minutes*
#
# Words differ in length, so sources and targets are padded. Three attentions need a mask.
#
# | attention | queries | keys | what is hidden | shape of the mask |
# |---|---|---|---|---|
# | encoder, self | source | source | padding of the **source** | `(B, 1, 1, L_s)` |
# | decoder, self | target | target | padding of the **target**, and the future | `(B, 1, L_t, L_t)` |
# | decoder, cross | target | source | padding of the **source** | `(B, 1, 1, L_s)` |
#
# A mask belongs to its *keys*. The first and the last are therefore the same, and two masks are enough. Here is the second one for *tea*:

# %%
padding = masks.padding_mask(given[1:], PAD_ID)  # (1, 1, 1, L_t)
future = masks.causal_mask(5)  # (1, 1, L_t, L_t)
sounds = ["start", "T", "IY", "end", "pad"]
of_tea = {"padding": padding, "the future": future, "both": padding & future}
plotting.show(diagrams.mask_gallery(sounds, of_tea))

# %% [markdown]
# *In the last grid every row is kept from the padding and from the future. The row of padding computes something too, but the loss leaves it out.*
#
# **Do exercise 10.1 now (6 minutes, {{exercises_link}}), then read on.** How would you know that masks are right? Two properties must hold. A pair alone must give what it gives in the batch, and another future must not change the past:

# %% tags=["nbval-ignore-output"]
with torch.no_grad():
    together = pronouncer(letters, given)  # (B, L_t, V)
    alone = pronouncer(letters[1:, :3], given[1:, :4])  # (1, 4, V): no padding
    other = given.clone()
    other[0, 2:] = torch.tensor(SOUNDS.encode(["K", "S", "IY"]))
    moved = (pronouncer(letters, other) - together)[0].abs().amax(dim=-1)  # (L_t,)
off = (together[1, :4] - alone[0]).abs().max().item()
print(f"tea alone or in the batch, largest difference: {off:.4f}")
print("another future from position 2 on, largest change by position:", moved)

# %% [markdown]
# ## 10.3 The base model of the paper, and its parameters
# *More · 9 minutes*
#
# The paper's **base** model has $N = 6$ layers on each side, $d_{model} = 512$, $d_{ff} = 2048$, $H = 8$ heads and, for English to German, a vocabulary of about 37,000 tokens (table 3 and section 5.1). Its norms come after each sum, so there is no final norm. We build it on PyTorch's `meta` device, which keeps shapes and no numbers.

# %%
VOCAB = 37_000
with torch.device("meta"):
    post_norm = {"pre_norm": False, "final_norm": False}
    base = Transformer(TransformerConfig(VOCAB, VOCAB, **post_norm))
for name, part in base.named_children():
    if count_parameters(part):
        times = f"{len(part)} layers" if isinstance(part, nn.ModuleList) else ""
        print(f"{name:18} {times:9} {count_parameters(part):>12,}")
print(f"{'together':28} {count_parameters(base):>12,}")

# %% [markdown]
# Now count with pencil and paper. A linear layer from $m$ to $n$ has $m n + n$ parameters. With $d = d_{model}$,
#
# | part | parameters |
# |---|---|
# | attention, four projections | $4(d^2 + d)$ |
# | feed-forward, up and down | $2\, d\, d_{ff} + d_{ff} + d$ |
# | norm, scale and shift | $2d$ |
# | encoder layer | one attention, one feed-forward, 2 norms |
# | decoder layer | two attentions, one feed-forward, 3 norms |
# | embedding | $V d$, twice |
# | generator | $V d + V$ |

# %%
d, d_ff, V, N = 512, 2048, VOCAB, 6
attention, feed_forward, norm = 4 * (d * d + d), 2 * d * d_ff + d_ff + d, 2 * d
encoder_layer = attention + feed_forward + 2 * norm
decoder_layer = 2 * attention + feed_forward + 3 * norm
layers = N * (encoder_layer + decoder_layer)
together = layers + 2 * V * d + V * d + V
print(f"encoder layer {encoder_layer:,}   decoder layer {decoder_layer:,}")
print(f"all layers {layers:,}   together {together:,}")
assert together == count_parameters(base)

# %% [markdown]
# The paper reports 65 million, though. It translates between two languages with *one* vocabulary and uses **one matrix three times**, as both embeddings and as the generator's weights (section 3.4). A shared matrix counts once. What share of the model is that single matrix?

# %%
widgets.predict(
    "10.B",
    "What percentage of the parameters is in the one shared matrix?",
    between=(0, 100),
)

# %%
base.source_embedding.tokens.weight = base.target_embedding.tokens.weight
base.generator.weight = base.target_embedding.tokens.weight
shared = count_parameters(base)
assert shared == together - 2 * V * d
print(f"shared: {shared:,}")
print(f"65.0 million would need a vocabulary of {(65_000_000 - layers) // (d + 1):,}")
widgets.came_out("10.B", 100 * V * d / shared)

# %% [markdown]
# That is close to the published number, but not equal. The vocabulary would have to be a tenth larger than "about 37,000". The paper doesn't say what makes the difference, and we don't know. Counting is a good test all the same. It finds a part that is missing, or shared by mistake (`[layer] * 6` is one layer six times).
#
# And what does a shared matrix learn from? **Exercise 10.2 (15 minutes)** works out the gradient that reaches it from two sides.

# %% [markdown]
# ## 10.4 The shifted target, and a loss that doesn't ask for certainty
# *Core · 6 minutes*
#
# In training we know the right target. It is used twice, **shifted against itself by one**. The decoder is given everything but the last symbol, and the **labels** are everything but the first.

# %%
names = ["pad", "start", "end", *"abcdefgh"]  # 11 symbols; an id is a place here
full = torch.tensor([[1, 3, 4, 5, 2], [1, 6, 7, 2, 0]])  # (B=2, L_t + 1)
given, labels = full[:, :-1], full[:, 1:]  # (B, L_t=4) each
for row in range(2):
    print("given", [names[i] for i in given[row]])
    print("label", [names[i] for i in labels[row]], "\n")

# %% [markdown]
# At each position the decoder has the *right* symbols up to there, not its own guesses (**teacher forcing**, lesson 03). With the causal mask, all positions are trained in one pass. Where the label is padding, the position is left out of the loss.
#
# Cross-entropy with the right symbol $y$ is $-\log p_y$. It is lowest at $p_y = 1$, so however sure the model is, it asks for more. **Label smoothing** asks for a little less. The right symbol should get $1 - \varepsilon$, and the others share $\varepsilon$:
#
# $$\ell = -\sum_{v=1}^{V} q_v \log p_v , \qquad q_v = \begin{cases} 1 - \varepsilon & v = y \\ 0 & v = \text{pad} \\ \varepsilon / (V - 2) & \text{otherwise.} \end{cases}$$
#
# Why $V - 2$? One symbol is right, and one is padding, which is never right. Take $V = 6$ (pad, start, end, a, b, c), the label `a` and the paper's $\varepsilon = 0.1$. Four symbols share 0.1. Let the model say 0.75 for `a` and 0.05 for each of the others.

# %%
q = torch.tensor([0.0, 0.025, 0.025, 0.9, 0.025, 0.025])  # (V=6,)
p = torch.tensor([0.05, 0.05, 0.05, 0.75, 0.05, 0.05])  # (V,)
by_hand = -(0.9 * math.log(0.75) + 4 * 0.025 * math.log(0.05))
ours = label_smoothing_loss(p.log()[None, None], torch.tensor([[3]]), smoothing=0.1)
theirs = F.cross_entropy(p.log()[None], q[None])  # PyTorch takes shares as a target
assert abs(ours - by_hand) < 1e-6 and abs(theirs - by_hand) < 1e-6
print(f"smoothed {by_hand:.4f}   plain cross-entropy {-math.log(0.75):.4f}")

# %% [markdown]
# What does that ask of a model? Let it give the right symbol $p$ and share the rest evenly among the others, for the 11 symbols above:

# %%
V = 11
p = torch.linspace(0.3, 0.9995, 300)  # (300,)
others = ((1 - p) / (V - 2)).log()  # (300,)
curves = {f"smoothing {e}": -(1 - e) * p.log() - e * others for e in (0.0, 0.1)}
floor = -(0.9 * math.log(0.9) + 0.1 * math.log(0.1 / (V - 2)))  # the entropy of q
best = p[curves["smoothing 0.1"].argmin()].item()

# %%
ax = plotting.new_axes(6.0, 3.2)
plotting.curves(p, curves, xlabel="probability of right symbol", ylabel="loss", ax=ax)
ax.plot([best], [floor], "o", color=plotting.COLORS[1])
spot, arrow = f"lowest: {floor:.3f} at {best:.2f}", {"arrowstyle": "->"}
ax.annotate(spot, (best, floor), (0.58, floor + 0.75), arrowprops=arrow)
plotting.show(
    ax,
    "Loss against the probability of the right symbol. Without smoothing it falls to 0 "
    "at 1. With smoothing 0.1 its lowest point, marked, is at 0.9.",
)

# %% [markdown]
# *The dashed line turns up before 1. Too much certainty costs something.* Its lowest value isn't 0 but the entropy of $q$, and with smoothing a loss of exactly that is a **perfect** score. The training curve will meet it.
#
# Exercise 10.3 (15 minutes) asks for this loss, and 10.9 measures what smoothing changes.

# %% [markdown]
# ## 10.5 A learning rate that warms up
# *More · 8 minutes*
#
# Adam divides each gradient by the size that gradients of that parameter usually have. At its first step it knows just one gradient, so *every* parameter moves by the full learning rate, even where its gradient is tiny:

# %%
parameter = nn.Parameter(torch.zeros(3))
optimizer = torch.optim.Adam([parameter], lr=0.01, betas=(0.9, 0.98), eps=1e-9)
parameter.grad = torch.tensor([5.0, 0.001, -0.00001])
optimizer.step()
print("gradients 5, 0.001, -0.00001; first update", parameter.data)

# %% [markdown]
# (Both `betas` and `eps` are the paper's, section 5.3.) The paper lets the rate rise linearly for $w$ steps of **warm-up**, then fall with the square root of the step,
#
# $$r(s) = d_{model}^{-1/2} \cdot \min\!\left(s^{-1/2},\; s \cdot w^{-3/2}\right) , \qquad s = 1, 2, 3, \dots$$
#
# With $d_{model} = 4$ and $w = 4$ that is $r(1) = \tfrac12 \cdot \min(1, \tfrac18) = \tfrac1{16}$, then $r(4) = \tfrac12 \cdot \min(\tfrac12, \tfrac12) = \tfrac14$ and $r(16) = \tfrac12 \cdot \min(\tfrac14, 2) = \tfrac18$. Beside it we draw a schedule for a short run whose length is known, up along half a cosine and down to nearly 0.

# %%
for s, by_hand in ((1, 1 / 16), (4, 1 / 4), (16, 1 / 8)):
    assert abs(warmup_rate(s, 4, 4) - by_hand) < 1e-12

# %%
shown = range(1, 20001, 50)
paper_rates = {w: [warmup_rate(s, 512, w) for s in shown] for w in (4000, 8000)}
our_rates = [one_cycle_rate(s, 240, 4e-3) for s in range(1, 241)]

# %%
left, right = plotting.new_axes(9.0, 2.8, columns=2)
for (warmup, rates), style in zip(paper_rates.items(), ("-", "--"), strict=True):
    color = plotting.COLORS[warmup > 4000]
    left.plot(shown, rates, style, color=color, label=f"warm-up {warmup}")
left.set(title="the paper's, d_model 512", ylabel="learning rate")
left.legend(frameon=False)
right.plot(range(1, 241), our_rates, color=plotting.COLORS[2])
right.set(title="ours, 240 steps")
for ax in (left, right):
    ax.set(xlabel="step", ylim=0)
plotting.show(
    left,
    "Left: the paper's rate rises in a straight line to a peak at the end of the "
    "warm-up and falls slowly. Right: ours rises and falls along a cosine.",
)

# %% [markdown]
# *After both peaks the two curves on the left are the same.* Whether the warm-up is worth anything, and when, is a question for a measurement. Section 10.7 makes it.
#
# The schedule counts *updates*. For one of them the paper takes a batch of about 25,000 source tokens and as many target tokens (section 5.1). A batch that doesn't fit into your memory can go through in pieces, with one update at the end. **Exercise 10.4 (15 minutes)** asks for pieces that give the very same update; the usual recipe doesn't.

# %% [markdown]
# ## 10.6 Trained live: the copy task
# *Core · 8 minutes*
#
# Ten symbols come in, the same ten should come out. There are 8 ordinary symbols, so there are far too many such sequences to learn by heart. What will a model learn instead?

# %%
LENGTH, VOCAB, STEPS = 10, 11, 240
source, target = copy_task(1, LENGTH, VOCAB, torch.Generator().manual_seed(7))
for name, ids in (("source", source[0]), ("target", target[0])):
    print(name, *(names[i] for i in ids))
print(f"{8**LENGTH:,} sequences, of which {STEPS} batches of 64 show {STEPS * 64:,}")


def small_model():
    torch.manual_seed(0)
    sizes = {"num_layers": 2, "d_model": 64, "d_ff": 128, "num_heads": 4}
    config = TransformerConfig(VOCAB, VOCAB, **sizes, dropout=0.0, max_len=16)
    return Transformer(config)

# %% [markdown]
# **Do exercise 10.5 now (30 minutes) and assemble the model yourself, for several sources at once.** Then unfold the next cell, the complete model for one source, made of the layers of lesson 09. The library's `Transformer`, which we train, has the same parts, and settings and a cache besides.

# %% tags=["whole"]
class WholeTransformer(nn.Module):
    """The encoder-decoder Transformer with the norms first. Padding has the id 0."""

    def __init__(self, src_vocab, tgt_vocab, num_layers, d_model, d_ff, heads, max_len):
        super().__init__()

        def embedding(vocab):
            positions = SinusoidalPositions(d_model, max_len)
            return InputEmbedding(vocab, d_model, positions=positions)

        def stack(kind):
            return nn.ModuleList(kind(d_model, heads, d_ff) for _ in range(num_layers))

        self.source_embedding = embedding(src_vocab)
        self.target_embedding = embedding(tgt_vocab)
        self.encoder_layers, self.encoder_norm = stack(EncoderLayer), LayerNorm(d_model)
        self.decoder_layers, self.decoder_norm = stack(DecoderLayer), LayerNorm(d_model)
        self.generator = nn.Linear(d_model, tgt_vocab)
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.xavier_uniform_(module.weight)
                nn.init.zeros_(module.bias)

    def encode(self, source):
        """Ids (B, L_s) to the memory (B, L_s, d_model) and the mask of its padding."""
        mask = (source != 0)[:, None, None]  # (B, 1, 1, L_s)
        x = self.source_embedding(source)  # (B, L_s, d_model)
        for layer in self.encoder_layers:
            x = layer(x, mask)
        return self.encoder_norm(x), mask

    def decode(self, target, memory, memory_mask):
        """Ids (B, L_t) and the memory to hidden vectors (B, L_t, d_model)."""
        L_t = target.shape[1]
        past = torch.ones(L_t, L_t, dtype=torch.bool, device=target.device).tril()
        mask = (target != 0)[:, None, None] & past  # (B, 1, L_t, L_t)
        x = self.target_embedding(target)  # (B, L_t, d_model)
        for layer in self.decoder_layers:
            x = layer(x, memory, target_mask=mask, memory_mask=memory_mask)
        return self.decoder_norm(x)

    def forward(self, source, target):
        memory, mask = self.encode(source)
        return self.generator(self.decode(target, memory, mask))  # (B, L_t, V)

# %% [markdown]
# With the same weights, both give the same logits:

# %%
whole = WholeTransformer(VOCAB, VOCAB, 2, 64, 128, 4, 16).eval()
library = small_model().eval()
whole.load_state_dict(library.state_dict())
sources, targets = copy_task(4, LENGTH, VOCAB, torch.Generator().manual_seed(9))
sources[:2, 6:], targets[:2, 8:] = PAD_ID, PAD_ID  # two rows of four
with torch.no_grad():
    pairs = [model(sources, targets[:, :-1]) for model in (whole, library)]
print("equal to the library's:", torch.allclose(*pairs, atol=1e-4))

# %% [markdown]
# A training step puts everything together, shift, masks (the model makes them), loss and rate. Every batch is new. Gradients longer than 1 are shortened to 1.

# %%
def update(model, optimizer, loss, rate):
    for group in optimizer.param_groups:
        group["lr"] = rate
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()

# %%
def tens(number, rng):
    return copy_task(number, LENGTH, VOCAB, rng)  # (B, L_s), (B, L_t + 1)


def train(model, batch=tens, shift=True, steps=STEPS, stop=None):
    rng, losses = torch.Generator().manual_seed(0), []
    optimizer = torch.optim.Adam(model.parameters(), betas=(0.9, 0.98), eps=1e-9)
    for step in tqdm(range(1, (stop or steps) + 1), mininterval=1, file=sys.stdout):
        source, target = batch(64, rng)  # (B, L_s), (B, L_t + 1)
        given = target[:, :-1]  # (B, L_t)
        labels = target[:, 1:] if shift else given  # (B, L_t)
        loss = label_smoothing_loss(model(source, given), labels, smoothing=0.1)
        update(model, optimizer, loss, one_cycle_rate(step, steps, peak=4e-3))
        losses.append(loss.item())
    return torch.tensor(losses)

# %% [markdown]
# What could a model reach that never looks at the source? At best it spreads its guess evenly over the 8 symbols and says `end` at the right place. That loss is our landmark. The training takes 10 to 30 seconds:

# %% tags=["nbval-ignore-output"]
share = 0.9 / 8 + (7 / 8) * 0.1 / 9  # of each of the 8 symbols, over all labels
guess = -8 * share * math.log(share) - 2 * (0.1 / 9) * math.log(0.1 / 9)
landmark = (LENGTH * guess + floor) / (LENGTH + 1)  # ten symbols and the end
copier = small_model()
losses = train(copier)
copier.eval()
print(f"last loss {losses[-1]:.3f}   perfect {floor:.3f}   landmark {landmark:.3f}")

# %% tags=["nbval-ignore-output"]
lines = {
    "training": losses,
    "without looking at the source": torch.full((STEPS,), landmark),
    "perfect": torch.full((STEPS,), floor),
}
ax, steps = plotting.new_axes(6.4, 3.2), torch.arange(1, STEPS + 1)
plotting.curves(steps, lines, xlabel="step", ylabel="loss (nats per symbol)", ax=ax)
plotting.show(
    ax,
    "Training loss by step: it falls past the landmark early, and comes to rest on the "
    "entropy of the smoothed labels in the second half.",
)

# %% [markdown]
# *The loss soon falls below the landmark, so the model does look at the source. It comes to rest on the entropy of the smoothed labels.*
#
# But that is a mean over symbols, with a teacher who repairs every mistake. Let's be stricter and let the model decode freely. We give it `start`, append the symbol it finds most probable (the **greedy** choice), and ask again until it says `end`. A sequence counts only if **all** its symbols are right.

# %%
def ask(model, length):
    """Share of 1,000 sequences copied without a mistake, and symbols in each answer."""
    rng = torch.Generator().manual_seed(10**6)  # another seed than in training
    source, target = copy_task(1000, length, VOCAB, rng)
    said = greedy_decode(model, source, max_len=16).tokens  # (1000, L_out)
    said = F.pad(said, (0, 16 - said.shape[1]))  # (1000, 16)
    wanted = F.pad(target[:, 1:], (0, 15 - length))  # (1000, 16)
    right = (said == wanted).all(dim=-1).float().mean().item()
    return right, (said > END_ID).sum(dim=-1)


untrained, trained = ask(small_model().eval(), LENGTH)[0], ask(copier, LENGTH)[0]
print(f"copied without a mistake: untrained {untrained:.1%}, trained {trained:.1%}")

# %% [markdown]
# Has it learned to copy? Every sequence it ever saw had ten symbols. What if we give it nine?

# %%
widgets.predict(
    "10.C",
    "What percentage of 1,000 new sequences of nine symbols does it copy?",
    between=(0, 100),
)

# %% tags=["nbval-ignore-output"]
for length in (5, 7, 8, 9, 10, 11, 12, 14):
    right, count = ask(copier, length)
    tens_said = (count == 10).float().mean()
    print(f"given {length:2}: copied {right:4.0%}   says ten symbols {tens_said:4.0%}")
said = greedy_decode(copier, source[:, :8], max_len=16).tokens[0]
print("source", *(names[i] for i in source[0, :8]), "  says", *(names[i] for i in said))
widgets.came_out("10.C", 100 * ask(copier, 9)[0])

# %% [markdown]
# *It copies none of them, at any of these lengths but ten. Given eight symbols it says the eight and goes on. Given twelve it stops after ten.* In its training all sources ended at the same place, and it had no reason to learn where they end.
#
# If that's the cause, other lengths in training should give another model. We train a second one on 3 to 10 symbols. Now there is real padding on both sides, and the masks of section 10.2 have work to do. It takes 400 steps, 10 to 50 seconds:

# %%
def three_to_ten(number, rng):
    length = torch.randint(3, LENGTH + 1, (number, 1), generator=rng)  # (B, 1)
    source, _ = tens(number, rng)  # (B, L_s)
    source = source.masked_fill(torch.arange(LENGTH) >= length, PAD_ID)
    target = F.pad(source, (1, 1))  # (B, L_t + 1)
    target[:, 0] = START_ID
    return source, target.scatter(1, length + 1, END_ID)


for row in three_to_ten(2, torch.Generator().manual_seed(1))[1]:
    print("target", *(names[i] for i in row))

# %% tags=["nbval-ignore-output"]
second = small_model()
last = train(second, three_to_ten, steps=400)[-1]
second.eval()
print(f"last loss {last:.3f}   perfect {floor:.3f}")
for length in range(3, 11):
    print(f"given {length:2}: copied {ask(second, length)[0]:.1%}")

# %% [markdown]
# Now the model stops where the source stops. What will it do with eleven symbols, one more than it has ever seen?

# %%
widgets.predict(
    "10.D",
    "What percentage of 1,000 new sequences of eleven symbols does it copy?",
    between=(0, 100),
)

# %% [markdown]
# Yours is one run. Five of its kind come with the course (`python -m experiments copiers`), each from a seed of its own. The first has the seed of yours.

# %% tags=["nbval-ignore-output"]
copiers = read_rows("copiers")


def five(without, length):
    key = (without, str(length))
    rows = [row for row in copiers if (row["without"], row["length"]) == key]
    return [float(row["copied"]) for row in rows]  # a seed each


for length in (9, 10, 11, 12):
    right, count = ask(second, length)
    print(f"given {length:2}: copied {right:4.0%}", end="   ")
    print(f"says {count.float().mean():4.1f} symbols on average", end="   ")
    print("five seeds:", *(f"{share:4.0%}" for share in five("nothing", length)))
widgets.came_out("10.D", 100 * ask(second, 11)[0])

# %% [markdown]
# *Within the trained lengths all seeds agree. At eleven the result depends on the seed. At twelve hardly a sequence is right, and your model's answers are too short on average.* All of this is after 400 steps. "It copies sequences that it has never seen" is true of both models, but you can rely on it only at the lengths they were trained on.

# %% [markdown]
# ## 10.7 Do we need the warm-up? And does the order of the norms matter?
# *More · 9 minutes*
#
# The copier has its norms *before* each part (pre-norm), the paper's model *after* each sum (lesson 09). And we trained with a warm-up. That makes four ways, norm before or after, with a warm-up or without one (then the rate starts at its peak of 0.004 and only falls). Sizes, batches and the 240 steps stay the same. (Only norm-before has a final norm, since norm-after ends with a norm anyway.)

# %%
ways = {
    ("before", "yes"): "norm before, warm-up",
    ("before", "no"): "norm before, no warm-up",
    ("after", "yes"): "norm after, warm-up",
    ("after", "no"): "norm after, no warm-up",
}
widgets.predict(
    "10.E",
    "Which of the four ends farthest from a perfect loss?",
    choices=list(ways.values()),
)

# %% [markdown]
# You made one of these runs yourself in 10.6, norm before, warm-up, seed 0. The other nineteen come with the course, five seeds for each way, each with weights and batches of its own; `python -m experiments warmups` makes them all anew.

# %% tags=["nbval-ignore-output"]
rows = read_rows("warmups")
seeds = sorted({int(row["seed"]) for row in rows})
runs, copied = {}, {}
for way in ways:
    mine = [row for row in rows if (row["norm"], row["warmup"]) == way]
    table = torch.tensor([float(row["loss"]) for row in mine])
    runs[way] = table.view(len(seeds), -1)  # (seeds, 24): one for 10 steps
    copied[way] = [float(row["copied"]) for row in mine if row["copied"]]
live = losses.view(-1, 10).mean(dim=1)  # (24,)
off = (runs["before", "yes"][0] - live).abs().max().item()
print(f"your run and the table's differ by at most {off:.4f}; seeds {seeds}")
for way, name in ways.items():
    end, right = runs[way][:, -1], copied[way]
    print(f"{name:24} loss {end.min():.3f} to {end.max():.3f}", end="   ")
    print(f"copied {min(right):.1%} to {max(right):.1%}")

# %% tags=["nbval-ignore-output"]
axes = plotting.new_axes(9.4, 3.2, columns=2)
steps = torch.arange(10, STEPS + 1, 10)  # (24,)
for way, table in runs.items():
    ax, warm = axes[way[0] == "after"], way[1] == "yes"
    color, style = plotting.COLORS[0 if warm else 1], "-" if warm else "--"
    ax.plot(steps, table.median(dim=0).values, style, color=color, label=ways[way])
    low, high = table.min(dim=0).values, table.max(dim=0).values
    ax.fill_between(steps, low, high, color=color, alpha=0.2, lw=0)

# %% tags=["nbval-ignore-output"]
for ax in axes:
    ax.axhline(landmark, color="0.6", ls=":", lw=1)
    ax.axhline(floor, color="0.6", lw=1)
    ax.set(xlabel="step", ylabel="loss (nats per symbol)", ylim=(0.4, 3))
    ax.legend(frameon=False)
plotting.show(
    axes[0],
    "Loss of four ways of training, the median of the seeds and their range. Left, "
    "norm before: with and without a warm-up it comes to rest at a perfect loss. "
    "Right, norm after: with a warm-up too, but without one it falls late and ends "
    "above it.",
)

# %%
gap = {name: runs[way][:, -1] - floor for way, name in ways.items()}  # (seeds,) each
worst = max(gap, key=lambda name: gap[name].median())
others = torch.cat([far for name, far in gap.items() if name != worst])
print(f"{worst}: {gap[worst].min():.3f} to {gap[worst].max():.3f} above a perfect loss")
print(f"the other ways: at most {others.max():.3f} above it")
widgets.came_out("10.E", worst)

# %% [markdown]
# *The solid gray line is a perfect loss, the dotted one the loss of a model that never looks at the source. (With the norm after and a warm-up, one seed's first losses lie above the picture.)* With the norm before each part, the warm-up hardly matters, and the two curves end in the same place. With the norm after each sum it does. Without a warm-up that model learns later, and after 240 steps it isn't all the way down. At this peak rate our copier didn't need its warm-up, and a model with the paper's order of norms was better off with one.
#
# Be careful with what this shows. It is one small model, one task, one peak rate and one number of steps, with five seeds. It doesn't say whether more steps would close the gap, nor why there is one. Xiong et al. below point to gradients near the output that are large at initialization; lesson 09 measures them, and says why that can't be the whole story.

# %% [markdown]
# ## 10.8 One step at a time
# *More · 6 minutes*
#
# **Exercise 10.6 (15 minutes)** asks for greedy decoding of a whole batch, in which sequences end at different steps. The library's `greedy_decode` does it with a cache (lesson 07). And since the source doesn't change while the target grows, neither does the memory. While the pronouncer says *knight*, let's count how often a layer of each side runs:

# %%
calls = {"encoder": 0, "decoder": 0}


def count(side):
    def hook(*_):
        calls[side] += 1

    return hook

# %% tags=["nbval-ignore-output"]
for side in calls:
    layer = getattr(pronouncer, f"{side}_layers")[0]
    layer.register_forward_hook(count(side))
said = pronounce(pronouncer, ["knight"])[0]
print(f"{len(said)} sounds and the end:", calls)

# %% [markdown]
# Encode once, decode many times. Exercise 10.8 builds on that.
#
# Step by step or in one pass, what is said must be the same. Here the second copier decodes 50 sequences, and then gets all that it said at once, one step behind:

# %%
sources, targets = copy_task(50, LENGTH, VOCAB, torch.Generator().manual_seed(8))
said = greedy_decode(second, sources, max_len=LENGTH + 1).tokens  # (B=50, L_t)
with torch.no_grad():
    given = F.pad(said[:, :-1], (1, 0), value=START_ID)  # (B, L_t)
    at_once = second(sources, given).argmax(dim=-1)  # (B, L_t)
print("one pass and eleven steps agree:", torch.equal(said, at_once))

# %% [markdown]
# Step through the decoding of one sequence. Choose layer and head, and whether to see attention to the source or to the target so far. The bars say how probable each next symbol is:

# %% tags=["nbval-ignore-output"]
stepper = widgets.decoding_steps(second, source[0], names, max_len=LENGTH + 1)
stepper.show_first_state(
    "The last step of decoding: weights over the ten source symbols for every step, "
    "and bars with the probability of each next symbol; the bar of end stands out."
)

# %%
stepper

# %% [markdown]
# *The bar that stands out isn't at 1 but near 0.9, which is what the loss asked for. This is the last step, where `end` is said. Go back to step 0 and watch.*

# %% [markdown]
# ## 10.9 What each attention is for
# *Core · 7 minutes*
#
# We look at the second copier, the one that knows several lengths. While it reads 50 sequences of ten symbols, `record_attention` keeps the weights of **all three kinds** of attention. How much weight does each head of cross-attention give to the symbol that is to be said next?

# %% tags=["nbval-ignore-output"]
KINDS = {
    "encoder": "encoder_layers.*.self_attention",
    "decoder": "decoder_layers.*.self_attention",
    "cross-attention": "decoder_layers.*.cross_attention",
}
sources, targets = copy_task(50, LENGTH, VOCAB, torch.Generator().manual_seed(8))
with torch.no_grad(), record_attention(second) as seen:
    second(sources, targets[:, :-1])
looks = {kind: torch.stack(seen.matching(name)) for kind, name in KINDS.items()}
weights = looks["cross-attention"]  # (layers, B, H, L_t, L_s)
for layer, next_one in enumerate(weights.diagonal(dim1=-2, dim2=-1)):
    print(f"layer {layer}, four heads:", next_one.mean(dim=(0, -1)))
print(f"an even share: {1 / LENGTH:.2f}")

# %% tags=["nbval-ignore-output"]
columns, lines = [names[i] for i in sources[0]], [names[i] for i in targets[0, :-1]]
viewer = widgets.attention_viewer({
    "cross-attention": (weights[:, 0], lines, columns),
    "encoder": (looks["encoder"][:, 0], columns, columns),
    "decoder": (looks["decoder"][:, 0], lines, lines),
})
viewer.show_first_state(
    "Cross-attention in layer 0, head 0, a row a step and a column a source symbol: "
    "the weight lies near the diagonal, on the first symbol in the row of start and "
    "on the last in several late rows; in the very last row it is spread."
)

# %%
viewer

# %% [markdown]
# *Each row is a step, named after what the decoder was just given. Even in this head, which has the least, the row of `start` looks at the first source symbol, the next one to be said, and the weight moves on with the steps. Choose other heads for a cleaner diagonal, or look at the two kinds of self-attention.*
#
# A picture is a hint, not a proof (lesson 06). Let's take away what it shows. In cross-attention, each step may see everything *but* the symbol it has to say. For comparison, everything but a symbol one place further on, or two, up to nine.

# %%
widgets.predict(
    "10.F",
    "What percentage of the symbols is still right if each step can't see its own?",
    between=(0, 100),
)

# %% tags=["nbval-ignore-output"]
@torch.no_grad()
def right_without(hidden):
    """Share of right symbols where hidden[t, j] takes source symbol j from step t."""
    memory = second.encode(sources)  # (B, L_s, d_model)
    allowed = ~hidden[None, None]  # (1, 1, L_t, L_s)
    found = second.decode(targets[:, :-1], memory, memory_mask=allowed)
    right = second.generator(found).argmax(dim=-1) == targets[:, 1:]  # (B, L_t)
    return right[:, :LENGTH].float().mean().item()


# %% tags=["nbval-ignore-output"]
own = torch.eye(LENGTH + 1, LENGTH, dtype=torch.bool)  # (L_t, L_s)
alone = right_without(own)
worst = min(right_without(own.roll(far, dims=1)) for far in range(1, LENGTH))
print(f"own symbol hidden {alone:.0%}   by chance {1 / 8:.0%}")
print(f"the worst of nine others hidden {worst:.0%}")
widgets.came_out("10.F", 100 * alone)

# %% [markdown]
# Without the one symbol it has to say, the model is about as good as chance, and without any one other as good as ever. The weights don't only look right, they carry the copy.
#
# And what if a whole kind of attention is missing, in both layers? We put zeros in place of what it adds, or what it adds on average over sequences of all lengths. Neither says anything about the sequence at hand.

# %% tags=["nbval-ignore-output"]
@torch.no_grad()
def average(kind):
    """What each layer's attention of one kind adds, on average over all lengths."""
    model, (stack, part) = copy.deepcopy(second), KINDS[kind].split(".*.")
    source, target = three_to_ten(1000, torch.Generator().manual_seed(5))
    real = (source if kind == "encoder" else target[:, :-1]) != PAD_ID
    means = []

    def keep(module, given, out):
        means.append(out[real].mean(dim=0))

    for layer in getattr(model, stack):
        getattr(layer, part).register_forward_hook(keep)
    model(source, target[:, :-1])
    return means  # (d_model,) for each layer

# %% tags=["nbval-ignore-output"]
@torch.no_grad()
def take_away(kind, length, constants):
    """Shares of right symbols and of right ends with constants in place of a kind."""
    model, (stack, part) = copy.deepcopy(second), KINDS[kind].split(".*.")
    for layer, constant in zip(getattr(model, stack), constants, strict=True):
        getattr(layer, part).o_proj.weight.zero_()
        getattr(layer, part).o_proj.bias.copy_(constant)
    rng = torch.Generator().manual_seed(10**6)
    source, target = copy_task(1000, length, VOCAB, rng)
    right = model(source, target[:, :-1]).argmax(dim=-1) == target[:, 1:]  # (B, L_t)
    return right[:, :-1].float().mean().item(), right[:, -1].float().mean().item()


# %% tags=["nbval-ignore-output"]
parts = {
    "encoder": "encoder's self-attention",
    "decoder": "decoder's self-attention",
    "cross-attention": "cross-attention",
}
print(f"right symbols and right ends{'zeros':>20}{'averages':>16}")
for kind, part in parts.items():
    both = ([torch.zeros(64)] * 2, average(kind))
    for length in (3, 6, 10):
        print(f"no {part:24}{length:4} symbols", end="")
        for constants in both:
            symbols, ends = take_away(kind, length, constants)
            print(f"{symbols:8.0%}{ends:6.0%}", end="  ")
        print()

# %% [markdown]
# *Without cross-attention the model guesses the symbols. Without the decoder's self-attention it fails too, worst in short sequences. Without the encoder's nearly all symbols are right.* That holds for both ways. The end after three symbols is another matter. With zeros in place of the encoder's attention this model always misses it, with averages it often finds it. The zeros can't have failed for lack of information, since the averages hold no more of it. (This depends on the seed. A copier from another one may miss the end with averages too.)
#
# The trained model leans on its decoder's self-attention, then. Does copying *need* it? We train copiers anew, each without one kind from the first update on.

# %%
widgets.predict(
    "10.G",
    "Which of the three can't a copier do without, even if it is trained without it?",
    choices=["cross-attention only", "cross-attention and the decoder's", "all three"],
)

# %% tags=["nbval-ignore-output"]
needed = []
for kind in ("nothing", *parts):
    name = f"without {parts[kind]}" if kind in parts else "whole"
    print(f"{name:32}", end="")
    for length in (3, 6, 10, 11):
        shares = five(kind, length)
        print(f"   {length:2}: {min(shares):4.0%} to {max(shares):4.0%}", end="")
    print()
    needed += [kind] if max(five(kind, LENGTH)) < 0.5 else []
outcomes = {1: "cross-attention only", 2: "cross-attention and the decoder's"}
widgets.came_out("10.G", outcomes.get(len(needed), "all three"))

# %% [markdown]
# *Copied without a mistake at four lengths, the lowest and the highest of five seeds.* Within the trained lengths, a copier can do without the encoder's self-attention, or without the decoder's. (We never took away both.) Only cross-attention is indispensable, as the one way from the source to the target. Taking a part out of a trained model shows what *this model* uses. What the *task* can do without shows when you train without it. (And this is one task, and one small model.)

# %% [markdown]
# ## What goes wrong
# *More · 6 minutes*
#
# **The target isn't shifted.** The labels are what the decoder is given. We train such a parrot for 60 steps, with the batches and rates of the copier's first 60:

# %% tags=["nbval-ignore-output"]
parrot = small_model()
after = train(parrot, shift=False, stop=60)[-1]
parrot.eval()
print(f"loss after 60 steps: parrot {after:.3f}, right training {losses[59]:.3f}")
said = greedy_decode(parrot, source, max_len=6).tokens[0]
print("source", *(names[i] for i in source[0]), "   it says", *(names[i] for i in said))
print(f"copied without a mistake: {ask(parrot, LENGTH)[0]:.0%}")

# %% [markdown]
# Its loss looks splendid. Then it is given `start`, and repeats it. A loss that falls much faster than you can explain is too good to be true, so decode a sequence before you believe it. (Exercise 10.7 has another way to give the label away.)
#
# **A softmax too many.** A softmax in the model, before a loss that applies a log-softmax, takes probabilities for logits. They differ by at most 1, so the loss can't get low. The lowest it can reach is $\ln(e + V - 1) - 1$:

# %%
for size in (11, 1000, 37_000):
    certain = F.one_hot(torch.tensor([0]), size).float()  # (1, V): right and sure
    lowest = F.cross_entropy(certain, torch.tensor([0])).item()
    assert abs(lowest - (math.log(math.e + size - 1) - 1)) < 1e-4
    print(f"V = {size:6}: lowest {lowest:.2f}, guessing evenly {math.log(size):.2f}")

# %% [markdown]
# You notice it by a loss that never gets a full 1 below that of guessing evenly, however good the model is.

# %% [markdown]
# ## In practice
# *More · 2 minutes*
#
# - **Half precision.** On a GPU, `torch.autocast` does the matrix products in 16 bits (bfloat16, say) and the softmax and the loss in float32.
# - **A loop that survives.** `course_utils.training.fit` is the loop of section 10.6 with checkpoints, early stopping and a clean Ctrl-C. Lesson 11 uses it.
# - **Shared matrices.** Here they are an option, `tie_embeddings=True`; elsewhere it is called `tie_word_embeddings`.
# - **Names.** The start symbol is also called `bos` or `sos`, the end symbol `eos`; the generator is `lm_head` or `output_projection`; what the decoder is given is `decoder_input_ids` or `prev_output_tokens`.

# %% [markdown]
# ## Recap
# *Core · 2 minutes*
#
# 1. **The model.** The encoder makes the memory, the decoder looks at the target so far and at the memory, the generator gives logits. The class in 10.6 is all of it.
# 2. **Masks and shift.** The source's padding is hidden from the encoder and from cross-attention, the target's padding and the future from the decoder. The decoder is given `target[:, :-1]` and asked for `target[:, 1:]`.
# 3. **The loss.** Our smoothing gives nothing to padding, and a perfect score is the entropy of the smoothed labels, not 0.
# 4. **Training.** The first model copied new sequences of ten symbols, the only length it knew, and none of the other lengths that we tried. The second copied nearly all sequences of 3 to 10. After its 400 steps, eleven depends on the seed, and at twelve hardly any came out right.
# 5. **What an attention is for.** Each step of the copier looks at the symbol it has to say, and without it the model guesses. This model leans on its decoder's self-attention, but copiers trained without it, or without the encoder's, copy as well at the lengths they know.

# %% tags=["nbval-ignore-output"]
widgets.predictions()

# %% [markdown]
# | symbol | meaning | shape |
# |---|---|---|
# | $x$, $y$ | source and target | ids `(B, L_s)`, `(B, L_t)` |
# | memory | the encoder's output | `(B, L_s, d_model)` |
# | logits | what the generator gives | `(B, L_t, V)` |
# | $\varepsilon$, $q$ | smoothing, and the smoothed label | a number, `(V,)` |

# %% [markdown]
# ## Check yourself
# *Core · 3 minutes*
#
# <details><summary>1. Label smoothing of 0.1, a vocabulary of 11. The training loss has come to rest at 0.545. What should you do?</summary>
#
# **Nothing, it is perfect.** That is the entropy of the smoothed labels, and no model gets lower.
# </details>
#
# <details><summary>2. Which of the three attentions must not see the padding of the source?</summary>
#
# **The encoder's self-attention and the cross-attention.** Both have the source as keys.
# </details>
#
# <details><summary>3. With a teacher, the model has 99 % of the symbols right. Of sequences of 10 symbols decoded freely, roughly how many are without a mistake?</summary>
#
# **About 0.99 to the tenth power, 90 %, if mistakes are independent,** and more if they crowd together in a few hard sequences. That the model reads its own words changes nothing here, since up to its first mistake they are the right ones.
# </details>
#
# <details><summary>4. Without one head, a trained model gets everything wrong. Does its task need such a head?</summary>
#
# **That isn't shown.** This model uses it. Whether the task can do without it shows when you train without it.
# </details>

# %% [markdown]
# ## When you need it
# *More · 10 minutes*
#
# **Where training starts, Xavier initialization.** A sum of $n$ products of independent numbers of mean 0 has $n$ times the variance of one product (lesson 04). A linear layer multiplies the variance of its input by $n_{in} \operatorname{Var}(W)$. To keep it we need $\operatorname{Var}(W) = 1 / n_{in}$, and for the gradients, which run the other way, $1 / n_{out}$. Glorot and Bengio take a value in between, $2 / (n_{in} + n_{out})$, with uniform numbers from $-a$ to $a$ with $a = \sqrt{6 / (n_{in} + n_{out})}$. The library does so for every linear layer. What if the weights are twice as large, in twelve square layers in a row?

# %%
torch.manual_seed(0)
for factor in (0.5, 1.0, 2.0):
    x = torch.randn(64, 256)  # (B, n), standard deviation 1
    for _ in range(12):
        weight = nn.init.xavier_uniform_(torch.empty(256, 256)) * factor
        x = x @ weight.T  # (B, n)
    print(f"weights x {factor}: {x.std():.3g}, to the twelfth {factor**12:.3g}")

# %% [markdown]
# **PyTorch's own label smoothing.** `F.cross_entropy(..., label_smoothing=0.1)` shares $\varepsilon$ among *all* $V$ symbols, the right one and padding included, as Szegedy et al. did, whose classes have no padding. Padding then gets a probability to strive for:

# %%
logits = torch.tensor([[4.0, 0.0, 0.0, 2.0, 1.0, 0.0]])  # (1, V=6): fond of padding
theirs = F.cross_entropy(logits, torch.tensor([3]), label_smoothing=0.1).item()
ours = label_smoothing_loss(logits[None], torch.tensor([[3]]), smoothing=0.1).item()
print(f"PyTorch's argument {theirs:.3f}   nothing on padding {ours:.3f}")

# %% [markdown]
# **The same as `nn.Transformer`.** PyTorch has the whole stack, without embeddings and generator. To carry weights over, you have to translate:
#
# | here | `nn.Transformer` |
# |---|---|
# | `q_proj`, `k_proj`, `v_proj` | stacked in one `in_proj_weight` (lesson 06) |
# | `feed_forward.up_proj`, `.down_proj` | `linear1`, `linear2` |
# | norms of the sublayers | `norm1`, `norm2` (and `norm3`), in the order of the sublayers |
# | pre-norm | `norm_first=True`; the default is post-norm |
# | `(B, L, d_model)` | `batch_first=True`; the default is `(L, B, d_model)` |
# | mask, True = may attend | True = may **not** attend |

# %%
@torch.no_grad()
def copy_attention(ours, theirs):
    for part in ("weight", "bias"):
        parts = [ours.get_parameter(f"{name}_proj.{part}") for name in "qkv"]
        # 3 * d_model rows
        theirs.get_parameter(f"in_proj_{part}").copy_(torch.cat(parts))
    theirs.out_proj.load_state_dict(ours.o_proj.state_dict())

# %%
def copy_layer(ours, theirs):
    copy_attention(ours.self_attention, theirs.self_attn)
    norms = [ours.attention_norm, ours.feed_forward_norm]
    if isinstance(ours, DecoderLayer):
        copy_attention(ours.cross_attention, theirs.multihead_attn)
        norms.insert(1, ours.cross_attention_norm)
    for number, norm in enumerate(norms, start=1):
        getattr(theirs, f"norm{number}").load_state_dict(norm.state_dict())
    theirs.linear1.load_state_dict(ours.feed_forward.up_proj.state_dict())
    theirs.linear2.load_state_dict(ours.feed_forward.down_proj.state_dict())

# %%
options = {"dropout": 0.0, "batch_first": True, "norm_first": True}
stack = nn.TransformerEncoder(
    nn.TransformerEncoderLayer(64, 4, 128, **options),
    2,
    nn.LayerNorm(64),
    enable_nested_tensor=False,
)
theirs = nn.Transformer(64, 4, 2, 2, 128, custom_encoder=stack, **options).eval()
for side in ("encoder", "decoder"):
    layers = getattr(theirs, side).layers
    for ours, other in zip(getattr(copier, f"{side}_layers"), layers, strict=True):
        copy_layer(ours, other)
    norm = getattr(copier, f"{side}_norm")
    getattr(theirs, side).norm.load_state_dict(norm.state_dict())

# %%
padded, given = sources.clone(), targets[:, :-1]  # (B, L_s), (B, L_t)
padded[1, 7:], padded[2, 4:] = PAD_ID, PAD_ID
with torch.no_grad():
    hidden = theirs(
        copier.source_embedding(padded),
        copier.target_embedding(given),
        tgt_mask=~masks.causal_mask(given.shape[1])[0, 0],
        src_key_padding_mask=padded == PAD_ID,
        memory_key_padding_mask=padded == PAD_ID,
        tgt_key_padding_mask=given == PAD_ID,
    )  # (B, L_t, d_model)
    off = (copier.generator(hidden) - copier(padded, given)).abs().max().item()
assert off < 1e-4
print("the same logits to 1e-4, with padding too")

# %% [markdown]
# {{next_steps}}

# %% [markdown]
# ## References
#
# - Vaswani et al., *Attention Is All You Need*, 2017: section 3 and figure 1 for the model, 3.4 for the shared matrix, 5.1 for the vocabulary, 5.3 (equation 3) for the schedule, 5.4 for label smoothing, table 3 for the sizes.
# - Xiong et al., *On Layer Normalization in the Transformer Architecture*, 2020: the gradients of both orders at initialization, and training without a warm-up when the norm comes before; read it beside 10.7.
# - Szegedy et al., *Rethinking the Inception Architecture for Computer Vision*, 2016, section 7: label smoothing, and why.
# - Müller, Kornblith, Hinton, *When Does Label Smoothing Help?*, 2019: smoothed models are less over-confident and better calibrated; read it after exercise 10.9.
# - Izacard, Grave, *Leveraging Passage Retrieval with Generative Models for Open Domain Question Answering*, 2021: the model of exercise 10.5, with up to a hundred sources.
# - Press, Wolf, *Using the Output Embedding to Improve Language Models*, 2017: one matrix for embedding and generator.
# - Glorot, Bengio, *Understanding the Difficulty of Training Deep Feedforward Neural Networks*, 2010, section 4.2: where the variance of the weights comes from.
# - Smith, Topin, *Super-Convergence: Very Fast Training of Neural Networks Using Large Learning Rates*, 2018: a rate that rises and falls in one cycle.
