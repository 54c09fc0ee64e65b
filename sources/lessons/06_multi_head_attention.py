# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 06 · Multi-head attention
#
# By the end you can write multi-head attention, load its weights into PyTorch's module, and measure what a trained model loses without a head.
#
# {{colab_link}} · short path about 65 minutes with its exercises (38 + 26), everything about 3 hours · builds on lessons 04 and 05

# %% tags=["setup"]
import copy
import itertools
import sys
from unittest.mock import patch

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.flop_counter import FlopCounterMode
from tqdm import tqdm

from course_utils import attention, diagrams, masks, multi_head
from course_utils import plotting, pretrained, widgets
from course_utils.datasets.pronunciations import split
from course_utils.pretrained.pronunciation import SOUNDS, SPELLING, align, error_rates
from course_utils.recording import record_attention
from course_utils.results import read_rows
from course_utils.small_models import two_jobs
from course_utils.tokenizers import END_ID, PAD_ID, START_ID, pad

torch.set_printoptions(precision=3, sci_mode=False, linewidth=88)
torch.set_num_threads(1)  # small tensors: threads would only get in each other's way

# %% [markdown]
# **You will learn to**
#
# 1. say what one fixed weighting can't bring, and test it on a task that wants two heads;
# 2. split a tensor into heads, and merge them without scrambling;
# 3. write multi-head attention for self- and cross-attention, and load its weights into `nn.MultiheadAttention`;
# 4. say what heads cost, and (in a section marked *more*) tell a layer that lacks something from one that is slow;
# 5. find out whether a trained model needs a head, and tell an idle head from one that has a stand-in.
#
# Lesson 04 built one attention, and lesson 05 added masks. Now several attentions run side by side.

# %% [markdown]
# ## Predict first
# *Core · 3 minutes*
#
# A red card and a blue card each have a number on them, and you can't see either. A friend has picked two weights that sum to 1 and told you what they are. Then the friend looks at the cards and tells you the weighted average of the two numbers, and nothing else.

# %%
widgets.predict(
    "6.A",
    "For which numbers are there weights with which you can always work out both?",
    choices=[
        "for all real numbers",
        "for whole numbers from 0 to 10, but not for all real numbers",
        "not even for whole numbers from 0 to 10",
    ],
)

# %%
print("weights 0.75, 0.25:")
for red, blue in ((10, 4), (9, 7), (8.5, 8.5), (8, 10)):
    print(f"  red {red:4}, blue {blue:4}   average {0.75 * red + 0.25 * blue}")
cards = list(itertools.product(range(11), repeat=2))  # whole numbers from 0 to 10
averages = {round(11 / 12 * red + 1 / 12 * blue, 6) for red, blue in cards}
print(f"weights 11/12, 1/12: {len(cards)} pairs, {len(averages)} different averages")
widgets.came_out("6.A", "for whole numbers from 0 to 10, but not for all real numbers")

# %% [markdown]
# For real numbers, no weights will do. One average is one equation with two unknowns. With 0.75 and 0.25 you can add 1 to red and take 3 from blue, and the average doesn't notice. But for whole numbers from 0 to 10 there's a trick. Weights of 11/12 and 1/12 write them like the two digits of a number in base 11, and all 121 pairs come out different. The second number is *smuggled* through a channel that looks too narrow for it. A trained head will smuggle, too.
#
# Back to real numbers. Suppose they are independent and Gaussian, with variance 1. You choose the weights, and then you guess both numbers from their average as well as you can.

# %%
widgets.predict(
    "6.B",
    "What part of the variance of the two numbers is still unknown, at best?",
    between=(0, 0.8),
    step=0.05,
)

# %% [markdown]
# ## 6.1 One head is one weighting
# *Core · 4 minutes*
#
# An attention head gives each query one row of weights $w_j$ over the keys, each at least 0, with sum 1. Its output is one weighted average of the values,
#
# $$o = \sum_{j=1}^{L_k} w_j \, v_j .$$
#
# A value $v_j$ may have many entries, but **all its entries are averaged with the same weights**. With red worth (10, 1) and blue (4, 8), the weights (0.5, 0.5) give (7, 4.5). If you want red's 10 and blue's 8, one head has to mix them. Two heads can bring both.
#
# Do the heads of a trained model look at different things? The Transformer of lesson 11 reads the letters of a word and says its sounds, and for each sound every head gives its weights over the letters. Here it says *knight*:

# %% tags=["nbval-ignore-output"]
pronouncer, word = pretrained.load("transformer").eval(), "knight"
sounds = align(pronouncer, word).sounds  # the last one is "<end>"
given = torch.tensor([[START_ID, *SOUNDS.encode(sounds[:-1])]])  # (1, L_q)
with torch.no_grad(), record_attention(pronouncer) as seen:
    pronouncer(SPELLING.batch([word]), given)
weights = seen["decoder_layers.1.cross_attention"][0]  # (H=4, L_q sounds, L_k letters)
queries = [sound.strip("<>") for sound in sounds]
plotting.show(diagrams.attention_lines(weights, queries, list(word)))

# %% [markdown]
# *The second layer of the decoder. For AY, the vowel of "night", heads 0 and 3 look at the i, head 2 at the g, and head 1 further on at the h. For N, head 0 looks at the silent k, head 3 at the n, and head 1 is already at the i, the letter of the next sound.* A single head would have to blur all of these into one average.
#
# Here are all its layers. Choose a head in the grid and point at a sound:

# %% tags=["nbval-ignore-output"]
layers = torch.stack(seen.matching("decoder_layers.*.cross_attention"))[:, 0]
viewer = widgets.attention_viewer({"sounds to letters": (layers, queries, list(word))})
viewer

# %% [markdown]
# *Find a head that goes through the letters from left to right, and one that doesn't. (Counted from 0, layer 2, head 1 does. Layer 0, head 1 goes back from the g to the n.)*

# %% [markdown]
# ## 6.2 A task that needs two heads
# *Core · 5 minutes*
#
# A picture doesn't show whether the model needs all its heads. In a made-up task we know what is needed. Each sequence has 6 tokens with 4 random numbers each. One token is marked red, another blue. The task is to report red's numbers *and* blue's.

# %%
def two_marks(rng, batch=64, length=6, size=4):
    numbers = torch.randn(batch, length, size, generator=rng)  # (B, L, size)
    order = torch.rand(batch, length, generator=rng).argsort(dim=-1)  # (B, L)
    places = order[:, :2]  # (B, 2): where red and blue are
    marks = F.one_hot(places, length).float().transpose(1, 2)  # (B, L, 2)
    target = numbers[torch.arange(batch)[:, None], places].flatten(1)  # (B, 2 * size)
    return torch.cat([numbers, marks], dim=-1), target  # (B, L, size + 2) first


tokens, target = two_marks(torch.Generator().manual_seed(0), batch=1)
print(tokens[0], "\ntarget", target[0])

# %% [markdown]
# Back to your prediction. One fixed weighting lets only $m = w\,r + (1-w)\,b$ through. The best *linear* guess of $r$ from $m$ leaves $(1-w)^2 / (w^2 + (1-w)^2)$ of its variance unknown, that of $b$ leaves $w^2 / (w^2 + (1-w)^2)$. (For Gaussian numbers no other guess is better.) Measured, with the guess found by least squares:

# %%
rng = torch.Generator().manual_seed(1)
red, blue = torch.randn(2, 400_000, generator=rng)  # (n,) each
for w in (0.5, 0.75, 1.0):
    m = w * red + (1 - w) * blue  # (n,)
    left = [(y - m * (m * y).mean() / (m * m).mean()).var().item() for y in (red, blue)]
    both = f"red {left[0]:.2f}   blue {left[1]:.2f}   mean {sum(left) / 2:.2f}"
    print(f"weight on red {w:4.2f}   unknown of {both}")
widgets.came_out("6.B", round(sum(left) / 2, 2))

# %% [markdown]
# It's one half, *whatever the weights are*. The two parts above add up to 1, and what you gain for red you lose for blue. (Someone who always guesses 0 leaves all of the variance, 1.)
#
# Now heads that learn their weights. In its plainest form multi-head attention is a loop. Each head is an attention of its own as in lesson 04, the outputs are put side by side, and a linear layer `o_proj` reads them all.

# %%
class OneHead(nn.Module):
    def __init__(self, d_in, d_head):
        super().__init__()
        self.q = nn.Linear(d_in, d_head, bias=False)
        self.k = nn.Linear(d_in, d_head, bias=False)
        self.v = nn.Linear(d_in, d_head, bias=False)

    def forward(self, query, memory):
        q, k, v = self.q(query), self.k(memory), self.v(memory)
        return attention.scaled_dot_product_attention(q, k, v)  # lesson 04


# %%
class HeadsInALoop(nn.Module):
    def __init__(self, d_in, d_model, num_heads, d_out, kind=OneHead):
        super().__init__()
        d_head = d_model // num_heads
        self.heads = nn.ModuleList(kind(d_in, d_head) for _ in range(num_heads))
        self.o_proj = nn.Linear(d_model, d_out, bias=False)

    def forward(self, query, memory):
        found = [head(query, memory) for head in self.heads]
        outputs = torch.cat([output for output, _ in found], dim=-1)
        weights = torch.stack([table for _, table in found], dim=1)
        return self.o_proj(outputs), weights  # (B, L_q, d_out), (B, H, L_q, L_k)

# %% [markdown]
# One query, always the same vector of ones, asks the six tokens. We train two heads of size 8, one head of 16 (as many parameters), and, to be fair to it, one of 64, each from five seeds.

# %%
def ask(model, tokens):
    ones = torch.ones(len(tokens), 1, tokens.shape[-1])  # (B, L_q=1, d_in)
    report, weights = model(ones, tokens)
    return report[:, 0], weights[:, :, 0]  # (B, 2 * size), (B, H, L)

# %%
def train_two_marks(d_model, num_heads, seed, size=4, kind=OneHead, steps=120):
    torch.manual_seed(seed)
    rng = torch.Generator().manual_seed(seed)
    model = HeadsInALoop(size + 2, d_model, num_heads, 2 * size, kind)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.03)
    for _ in range(steps):
        tokens, target = two_marks(rng, size=size)
        optimizer.zero_grad()
        F.mse_loss(ask(model, tokens)[0], target).backward()
        optimizer.step()
    return model

# %% tags=["nbval-ignore-output"]
@torch.no_grad()
def error_of(model, size=4):
    tokens, target = two_marks(torch.Generator().manual_seed(99), batch=4000, size=size)
    return F.mse_loss(ask(model, tokens)[0], target)


SIZES = {"2 heads of 8": (16, 2), "1 head of 16": (16, 1), "1 head of 64": (64, 1)}
trained, error = {}, {}
for name, sizes in tqdm(SIZES.items(), unit="setting", file=sys.stdout):
    trained[name] = [train_two_marks(*sizes, seed) for seed in range(5)]
    error[name] = torch.stack([error_of(model) for model in trained[name]])
for name, found in error.items():
    print(f"{name}: error of five seeds {found.min():.3f} to {found.max():.3f}")

# %% [markdown]
# Two heads solve it. A single head doesn't, and four times the width doesn't help it. What it lacks is a second weighting, not size.
#
# The single head does end clearly *below* one half, though. One half is for fixed weights, and a head's weights may depend on the numbers. Through them it smuggles a little more out. The next section traces how, and finds a case in which it's a lot.

# %% [markdown]
# ## Below one half
# *More · 11 minutes*
#
# How does the extra number get out? Large numbers can pull the weights. What would that be good for? The values carry the marks as well as the numbers, and the mark of red, averaged, *is* the weight on red. The output tells which weighting was used. If the weights depend on the numbers, that is one more number about them, smuggled out beside the averages.
#
# So far this is only a story. If it's true, the extra must vanish as soon as we break any link of it, so we break three, one at a time. Keys that see only the marks can't let the numbers pull. Values without marks can't tell the weight. And in a trained head we hold the weights still at their means, and fit the linear layer anew.

# %%
class BlindKeys(OneHead):
    def forward(self, query, memory):
        marks_only = memory * (torch.arange(memory.shape[-1]) >= memory.shape[-1] - 2)
        q, k, v = self.q(query), self.k(marks_only), self.v(memory)
        return attention.scaled_dot_product_attention(q, k, v)


class ValuesWithoutMarks(OneHead):
    def forward(self, query, memory):
        numbers_only = memory * (torch.arange(memory.shape[-1]) < memory.shape[-1] - 2)
        q, k, v = self.q(query), self.k(memory), self.v(numbers_only)
        return attention.scaled_dot_product_attention(q, k, v)

# %%
@torch.no_grad()
def frozen(model):
    fresh, wanted = two_marks(torch.Generator().manual_seed(99), batch=4000)
    weights = ask(model, fresh)[1][:, 0]  # (B, L)
    red, blue = fresh[..., 4].bool(), fresh[..., 5].bool()  # (B, L) each
    places = (red, blue, ~(red | blue))
    fixed = sum(weights[place].mean() * place for place in places)  # (B, L), the means
    average = (fixed[..., None] * fresh[..., :4]).sum(dim=1)  # (B, 4)
    fitted = torch.linalg.lstsq(average[:2000], wanted[:2000]).solution  # (4, 8)
    return F.mse_loss(average[2000:] @ fitted, wanted[2000:])

# %% tags=["nbval-ignore-output"]
controls = {"keys see marks only": BlindKeys, "no marks in values": ValuesWithoutMarks}
for name, kind in controls.items():
    found = [train_two_marks(16, 1, seed, kind=kind) for seed in range(5)]
    error[name] = torch.stack([error_of(model) for model in found])
error["weights held still"] = torch.stack([frozen(m) for m in trained["1 head of 16"]])
wanted = two_marks(torch.Generator().manual_seed(99), batch=4000)[1]  # (B, 8)
fixed = (wanted**2).mean().item() / 2  # half the variance: the best fixed weighting
plotting.show(
    plotting.dot_rows(error, xlabel="mean squared error", landmark=fixed),
    "Error of five seeds for each setting. Two heads: 0. One head of 16 or 64: about "
    "0.4. Keys that see marks only, no marks in values, weights held still: close "
    "to one half, the dashed line.",
)

# %% [markdown]
# *The dashed line is half of the variance. Break any one of the three links, and the extra is gone.*
#
# Now we can also count how much gets through. With $n$ numbers on each card, the output tells $n$ averages and one weight, $n + 1$ numbers about $2n$ unknown ones. If all of that could be used, this part would be left:
#
# $$1 - \frac{n+1}{2n} = \frac{1}{2} - \frac{1}{2n} .$$
#
# That is a count and no proof. (What we can prove is a little less. All that a head hands on is the average of the $n$ numbers and of the two marks, and no linear layer can fill more than $n + 2$ of the $2n$ directions of the report from those. At least $1/2 - 1/n$ is left, for any width and any training. With four numbers on a card that is a quarter.) But the count makes a prediction. The fewer numbers a card has, the more the one extra number helps. With one number on each card, a single head should bring them both. Train a little longer, with four sizes of cards:

# %% tags=["nbval-ignore-output"]
single = {}  # how many numbers are on a card -> three models with one head
for size in (1, 2, 4, 8):
    single[size] = [train_two_marks(16, 1, s, size=size, steps=400) for s in range(3)]
    measured = [f"{error_of(model, size):.3f}" for model in single[size]]
    print(f"{size} on a card: counted {0.5 - 0.5 / size:.4f}, measured", *measured)

# %% [markdown]
# The errors come close to the count and none falls below it. With one number on each card, a single head reports red *and* blue almost perfectly. How? We look at the weight on red in the three models:

# %% tags=["nbval-ignore-output"]
tokens, target = two_marks(torch.Generator().manual_seed(99), batch=4000, size=1)
difference = target[:, 0] - target[:, 1]  # (B,): red's number less blue's
for model in single[1]:
    with torch.no_grad():
        on_red = ask(model, tokens)[1][:, 0][tokens[..., 1].bool()]  # (B,)
    together = torch.corrcoef(torch.stack([on_red, difference]))[0, 1]
    print(f"weight on red {on_red.mean():.2f} ± {on_red.std():.2f}", end=", ")
    print(f"its correlation with the difference of the numbers {together:+.3f}")

# %% [markdown]
# The weight on red stays near one half, and moves a little with the difference of the two numbers. The average tells their sum, the weight on red tells their difference, and $W_o$ makes the small difference large again. (The sign doesn't matter. One of the three models gives the *smaller* number a little more.) A head's weights are a channel too, one number wide, and training finds it by itself. In none of our runs did it bring more than that.

# %% [markdown]
# ## 6.3 Splitting and merging
# *Core · 4 minutes*
#
# We didn't add a second head of full size. We cut the width 16 into two heads of 8. The Transformer of 2017 does the same. It cuts $d_{model} = 512$ into $H = 8$ heads of $d_{head} = 64$, with
#
# $$H \cdot d_{head} = d_{model} .$$
#
# In practice there is no loop over small projections. All heads' matrices are stacked into one of shape `(d_model, d_model)`, which is why more heads take no more parameters. The input is projected once, and the *result* is cut into heads. How?
#
# Let token $t$ have the features $10t, 10t+1, \dots, 10t+5$, which makes each number say where it comes from. Three tokens, $d_{model} = 6$, two heads.

# %%
widgets.predict(
    "6.C",
    "Which nine numbers does head 1, the second head, get?",
    choices=[
        "13 14 15, 20 21 22, 23 24 25",
        "3 4 5, 13 14 15, 23 24 25",
        "1 3 5, 11 13 15, 21 23 25",
    ],
)

# %%
x = (10 * torch.arange(3)[:, None] + torch.arange(6))[None]  # (B=1, L=3, d_model=6)
plotting.show(diagrams.split_merge(x[0], 2))

# %% [markdown]
# *Each color is a head. It gets neighboring features of every token, and merging puts them back where they were.* Head $h$ owns the features $h \cdot d_{head}$ to $(h+1) \cdot d_{head} - 1$. Written as a loop, that is

# %%
def split_loop(x, num_heads):
    d_head = x.shape[-1] // num_heads
    parts = [x[..., h * d_head : (h + 1) * d_head] for h in range(num_heads)]
    return torch.stack(parts, dim=1)  # H times (B, L, d_head) -> (B, H, L, d_head)


head_1 = split_loop(x, 2)[0, 1]  # (L, d_head)
print(head_1)
widgets.came_out("6.C", ", ".join(" ".join(map(str, row)) for row in head_1.tolist()))

# %% [markdown]
# **Do exercise 6.1 now (8 minutes, {{exercises_link}}), then read on.** It asks for such a cut without a loop, on a tensor that a real checkpoint would give you. A wrong way has the right shape, too. "What goes wrong" shows what it does to a model, and exercise 6.2 (5 minutes, when you like) asks you to mend it. The library's pair does what the loop does:

# %%
assert torch.equal(multi_head.split_heads(x.float(), 2), split_loop(x.float(), 2))
assert torch.equal(multi_head.merge_heads(split_loop(x.float(), 2)), x.float())
print("merge after split gives the input back")

# %% [markdown]
# ## 6.4 All heads at once
# *Core · 5 minutes*
#
# Here is the whole cross-attention that drew the lines of 6.1, with its own numbers for *knight*. $X$ has a row for each of the four sounds about to be said, and these rows ask. $M$, the memory, has a row for each of the six letters, and these are asked.

# %% tags=["nbval-ignore-output"]
layer, caught = pronouncer.decoder_layers[1].cross_attention, {}
hook = layer.register_forward_pre_hook(
    lambda _, args, options: caught.update(X=args[0], M=options["key"]),
    with_kwargs=True,
)
with torch.no_grad():
    pronouncer(SPELLING.batch([word]), given)
hook.remove()
X, M = caught["X"], caught["M"]  # (1, L_q=4, d_model=128), (1, L_k=6, d_model=128)
plotting.show(diagrams.multi_head(layer, X[0], M[0], queries, list(word)))

# %% [markdown]
# *Read it from the top. (A thin column is a feature, red above zero and blue below.) First come three projections, and each result is cut into four slices, one color for each head. From there each head goes its own way down its column, through its table of weights and the average of its values to its block of $W_o$. Only at the bottom do they meet, in a sum.* The tables are the lines of 6.1 in numbers.
#
# In the middle there's nothing new. It's the attention of lesson 04 with an axis of heads in front. The whole picture as a formula, without the biases:
#
# $$\operatorname{MultiHead}(X, M) = \operatorname{Concat}(\text{head}_0, \dots, \text{head}_{H-1})\, W_o , \qquad \text{head}_h = \operatorname{Attention}(X W_{q,h},\; M W_{k,h},\; M W_{v,h}) .$$
#
# | symbol | what it is | shape |
# |---|---|---|
# | $X$, $M$ | who asks (`query`), who is asked (`memory`); in self-attention $M = X$ | $(B, L_q, d_{model})$, $(B, L_k, d_{model})$ |
# | $W_{q,h}, W_{k,h}, W_{v,h}$ | head $h$'s part of the input projections | $(d_{model}, d_{head})$ each |
# | $\text{head}_h$ | what head $h$ found | $(B, L_q, d_{head})$ |
# | weights | one table for each head; a mask of shape $(B, 1, L_q, L_k)$ is the same for all | $(B, H, L_q, L_k)$ |
# | $W_o$ | the output projection | $(d_{model}, d_{model})$ |
#
# **Do exercise 6.3 now (18 minutes), then read on.** It asks for all of this, with biases and a mask. Two more can wait. Exercise 6.4 asks for a layout that needs no transpose (15 minutes), and exercise 6.5 has a bug that strikes only batches (15 minutes). The library's module must do the same as our loop once it has the loop's matrices, stacked:

# %%
torch.manual_seed(0)
loop = HeadsInALoop(12, 12, 4, 12)
library = multi_head.MultiHeadAttention(12, 4, bias=False)
library.o_proj.weight.data.copy_(loop.o_proj.weight)
for name in ("q", "k", "v"):
    # one of (d_head=3, d_model=12) for each head
    parts = [head.get_parameter(f"{name}.weight") for head in loop.heads]
    library.get_parameter(f"{name}_proj.weight").data.copy_(torch.cat(parts))

# %%
# (B, L_q, d_model), (B, L_k, d_model)
x, memory = torch.randn(2, 5, 12), torch.randn(2, 7, 12)
with torch.no_grad():
    for name, asked in {"self": x, "cross": memory}.items():
        output, weights = library(x, asked, asked, return_weights=True)
        assert torch.allclose(output, loop(x, asked)[0], atol=1e-6)
        print(f"{name:6} output {tuple(output.shape)}   weights {tuple(weights.shape)}")

# %% [markdown]
# ## 6.5 The output projection adds the heads up
# *Core · 3 minutes*
#
# The formula says "concatenate, then multiply by $W_o$", but the picture shows a sum. Both are right. Cut $W_o$ into $H$ blocks of $d_{head}$ rows, and the product with the concatenation *is* a sum. Each head sends what it found through its own block, and the results are added. With *knight*'s numbers:

# %% tags=["nbval-ignore-output"]
with torch.no_grad():
    output, weights = layer(X, M, M, return_weights=True)
    values = layer.project_key_value(M, M)[1]  # (1, H, L_k, d_head)
    found = (weights @ values)[0]  # (H, L_q, d_head)
    blocks = layer.o_proj.weight.T.unflatten(0, (4, 32))  # (H, d_head, d_model)
    terms = found @ blocks  # (H, L_q, d_model)
    assert torch.allclose(terms.sum(dim=0) + layer.o_proj.bias, output[0], atol=1e-5)
print("the four terms and the bias add up to the layer's output; their lengths:")
for head, lengths in enumerate(terms.norm(dim=-1)):
    said = zip(queries, lengths.tolist(), strict=True)
    print(f"head {head}:", "  ".join(f"{sound} {length:.1f}" for sound, length in said))

# %% [markdown]
# Two things follow. Without $W_o$, head 0 could write only to the first $d_{head}$ features of the output, and head 1 to the next. With it, every head may write anywhere. And a head can be **taken out** of a trained model. Set its block to zero, and its term in the sum is gone. Section 6.8 does that.

# %% [markdown]
# ## 6.6 The same weights in `nn.MultiheadAttention`
# *More · 6 minutes*
#
# PyTorch's module keeps the three input matrices in one parameter, stacked in the order query, key, value.

# %%
torch.manual_seed(1)
ours = multi_head.MultiHeadAttention(12, 4)
theirs = nn.MultiheadAttention(embed_dim=12, num_heads=4, batch_first=True)
for name, parameter in theirs.named_parameters():
    print(f"{name:15} {tuple(parameter.shape)}")

with torch.no_grad():
    for part in ("weight", "bias"):
        parts = [ours.get_parameter(f"{name}_proj.{part}") for name in "qkv"]
        stacked = torch.cat(parts)  # 3 * d_model rows
        theirs.get_parameter(f"in_proj_{part}").copy_(stacked)
        out = ours.get_parameter(f"o_proj.{part}")
        theirs.get_parameter(f"out_proj.{part}").copy_(out)

# %%
causal = masks.causal_mask(5)  # (1, 1, L_q, L_q), True = may attend
hidden = ~causal[0, 0]  # PyTorch: True = may NOT attend
with torch.no_grad():
    want, each = ours(x, x, x, mask=causal, return_weights=True)
    have, by_default = theirs(x, x, x, attn_mask=hidden)
print("same output:", torch.allclose(have, want, atol=1e-6))
print(f"weights: ours {tuple(each.shape)}, PyTorch's {tuple(by_default.shape)}")
print("theirs is the mean:", torch.allclose(by_default, each.mean(dim=1), atol=1e-6))

# %% [markdown]
# There are three traps here. `batch_first` is False unless you say otherwise, which means `(L, B, d_model)`. The mask has the opposite meaning (lesson 05). And the weights that come back are **averaged over the heads** unless you pass `average_attn_weights=False`. ("The whole thing" does, and compares the weights of each head.)

# %% [markdown]
# ## 6.7 What heads cost, and how many to take
# *More · 12 minutes*
#
# For $L$ tokens attending to themselves, count multiplications (the softmax left out):
#
# | step | 1 head of 512 | 8 heads of 64 |
# |---|---|---|
# | four projections | $4 \cdot L \cdot 512 \cdot 512$ | the same: the stacked matrices have the same size |
# | scores | $L \cdot L \cdot 512$ | $8 \cdot L \cdot L \cdot 64$, the same |
# | weighted sums | $L \cdot L \cdot 512$ | $8 \cdot L \cdot L \cdot 64$, the same |
#
# Together $4 L d_{model}^2 + 2 L^2 d_{model}$, and $H$ has dropped out. Let PyTorch count:

# %%
L, d_model = 100, 512
tokens = torch.randn(1, L, d_model, generator=torch.Generator().manual_seed(0))
print(f"the formula: {4 * L * d_model**2 + 2 * L**2 * d_model:,} multiplications")
for num_heads in (1, 8, 64):
    counted = multi_head.MultiHeadAttention(d_model, num_heads)
    with torch.no_grad(), FlopCounterMode(display=False) as counter:
        _, weights = counted(tokens, return_weights=True)
    count = counter.get_total_flops() // 2  # it counts additions too
    size = sum(p.numel() for p in counted.parameters())
    counts = f"{count:,} multiplications, {weights.numel():,} weights"
    print(f"{num_heads:2} heads: {size:,} parameters, {counts}")

# %% [markdown]
# More heads take no more parameters and no more multiplications. They aren't free either, since each head has a table of $L \times L$ weights of its own, to compute and to hold (exercise 6.6, 5 minutes). And every head gets narrower.
#
# How many are best, then? We need a task with more than one job. Each token is a letter with a random number. At each position the model reports
#
# 1. the number of the **previous token** (a job about places), and
# 2. the mean number of all tokens with the **same letter**, itself included (a job about content).
#
# A token's vector is the sum of one vector for its letter, one for its place (lesson 08 is about places), and one times its number. Then comes one attention layer with $d_{model} = 16$, and a linear report (`two_jobs.TwoJobs??` shows the model). Everything but the number of heads stays the same. Here are five seeds each after 120 steps, from a table that `python -m experiments narrow_heads` made in a few minutes, and one of these runs live, to see that it's the same:

# %%
rows = read_rows("narrow_heads")  # 5 numbers of heads, 5 seeds, every 40 steps


def errors_in_table(heads, step):
    at = [row for row in rows if (row["heads"], row["step"]) == (str(heads), str(step))]
    return torch.tensor([[float(row["previous"]), float(row["same"])] for row in at])


wanted = two_jobs.test_batch()[2][:, 1:]  # (B, L - 1, 2 jobs)
guess = (wanted**2).mean().item()

# %% tags=["nbval-ignore-output"]
for heads in (1, 2, 4, 8, 16):
    means = errors_in_table(heads, 120).mean(dim=1)  # (5 seeds,), over both jobs
    size = f"{heads:2} heads of {16 // heads:2}"
    spread = f"{means.min():.4f} to {means.max():.4f}"
    print(f"{size}: median {means.median():.4f}, five seeds {spread}")
((_, live),) = two_jobs.train(16, seed=0, steps=120, every=120)
print(f"16 heads, seed 0, live: {two_jobs.errors(live).mean():.4f}")
print(f"16 heads, seed 0, table: {errors_in_table(16, 120)[0].mean():.4f}")
print(f"someone who always guesses 0: {guess:.3f}; each job", (wanted**2).mean((0, 1)))

# %% [markdown]
# Two heads have the lowest median (with four, one seed is even better than any with two). One head is two hundred times worse, and sixteen heads of size 1 are more than forty times worse. But 120 steps are one budget, and at one budget a layer that *can't* looks like a layer that *isn't there yet*.

# %%
widgets.predict(
    "6.D",
    "With ten times as many steps, whose error falls below 0.01?",
    choices=["one head", "sixteen heads", "both", "neither"],
)

# %% tags=["nbval-ignore-output"]
steps, curves = torch.arange(40, 1201, 40), {}
for heads in (1, 2, 4, 8, 16):
    means = [errors_in_table(heads, step).mean(dim=1) for step in steps.tolist()]
    curves[f"H = {heads}"] = torch.stack(means).median(dim=1).values  # over seeds
ax = plotting.new_axes(7.2, 3.6)
plotting.curves(steps, curves, xlabel="steps", ylabel="median of the error", ax=ax)
ax.axhline(guess, color="0.6", ls="--", lw=1)
ax.set(yscale="log")
ax.legend(ncols=5, loc="center", bbox_to_anchor=(0.57, 0.7), frameon=False)
plotting.show(
    ax,
    "Median error of five seeds against the number of steps, on a log axis. One head "
    "stays at 0.24. Two and four heads fall below 0.01 by step 120, eight and sixteen "
    "a little later, and by step 360 all four are below 0.002.",
)

# %% tags=["nbval-ignore-output"]
print("medians   ", "".join(f"{step:>9} steps" for step in (120, 360, 1200)))
for name, curve in curves.items():
    print(f"{name:10}", "".join(f"{curve[i]:15.4f}" for i in (2, 8, 29)))
print("one head after 1,200 steps, each seed: previous token, same letter")
print(errors_in_table(1, 1200))
widgets.came_out("6.D", "sixteen heads")

# %% [markdown]
# *The gray dashed line is someone who always guesses 0.* The table told two different stories with one kind of number. **Sixteen heads were late.** With three times the steps they are below 0.002, which is less than a third of a percent of the guesser's error. (A small gap remains, as the right end of the solid yellow line shows.) **One head lacks something.** Ten times the steps don't help it, and the last table shows what is missing. Four of its seeds do the first job and leave the second nearly where guessing is, and the fifth does most of the first and some of the second. A single head has one weighting for two jobs.
#
# Why narrow heads are late we haven't tested. (Our guess is that a head of size 1, which compares one number with one number, needs longer to find a useful pair.)
#
# *Attention Is All You Need* asked the same question for translation, with $d_{model} = 512$ (table 3, rows A; higher is better):
#
# | heads | 1 | 4 | 8 | 16 | 32 |
# |---|---|---|---|---|---|
# | BLEU | 24.9 | 25.5 | 25.8 | 25.8 | 25.4 |
#
# The paper says that one head is 0.9 BLEU worse than the best, and that "quality also drops off with too many heads". After 120 steps our numbers made the same U. With more steps its left arm stayed, and nearly all of its right arm went away. Which kind is the paper's right arm? The table has one model for each row, one budget and no spread, and can't tell.

# %% [markdown]
# ## 6.8 Does the model need this head?
# *Core · 7 minutes*
#
# To see whether a model needs a head, set the head's block of $W_o$ to zero and measure what is lost. (That is called an **ablation**.) The model that said *knight* has 16 heads in its cross-attention, four in each of four layers. We measure its loss on 299 words that it has never seen, in nats per symbol.

# %%
widgets.predict(
    "6.E",
    "By what percentage does the loss rise without the most important head?",
    between=(0, 200),
)

# %% tags=["nbval-ignore-output"]
words = dict(list(split("test").items())[::20])  # 299 words
letters = SPELLING.batch(list(words))  # (B, L_s)
said = [[*SOUNDS.encode(sounds[0]), END_ID] for sounds in words.values()]
targets = pad(said)  # (B, L_t)
started = F.pad(targets[:, :-1], (1, 0), value=START_ID)  # what each step is given
with torch.no_grad():
    encoded = pronouncer.encode(letters)  # (B, L_s, d_model): none of the 16 is in it

# %%
def without(places):
    """A copy of the model in which some (layer, head) add nothing."""
    model = copy.deepcopy(pronouncer)
    for layer, head in places:
        weight = model.decoder_layers[layer].cross_attention.o_proj.weight  # (128, 128)
        weight.data[:, 32 * head : 32 * (head + 1)] = 0  # nn.Linear keeps (out, in)
    return model

# %%
count = (targets != PAD_ID).sum().item()  # of all symbols to be said


@torch.no_grad()
def loss_by_word(places, temperature=1):
    """Loss of each word, when every step is given the right sounds before it."""
    model, hide_padding = without(places), masks.padding_mask(letters, PAD_ID)
    hidden = model.decode(started, encoded, memory_mask=hide_padding)  # (B, L_t, 128)
    logits = model.generator(hidden).mT / temperature  # (B, symbols, L_t)
    options = {"ignore_index": PAD_ID, "reduction": "none"}
    return F.cross_entropy(logits, targets, **options).sum(dim=1)  # (B,)


def loss_without(places, temperature=1):
    return loss_by_word(places, temperature).sum().item() / count  # mean over symbols

# %% tags=["nbval-ignore-output"]
places = list(itertools.product(range(4), range(4)))  # (layer, head)
intact = loss_by_word([])  # (B,)
one_out = [loss_by_word([place]) for place in tqdm(places, file=sys.stdout)]
one_out = torch.stack(one_out).view(4, 4, -1)  # (layers, heads, B)
rises = 100 * (one_out.sum(dim=-1) / intact.sum() - 1)  # (layers, heads)
deviation = (one_out - intact).std(dim=-1)  # over the words
print("rise in percent without one, a row for each layer:")
print(rises)
print(f"their standard errors, with {len(words)} words:")
print(100 * deviation * len(words) ** 0.5 / intact.sum())
widgets.came_out("6.E", rises.max().item())

# %% [markdown]
# No single head matters much. (The one rise below zero is within its standard error of zero.) Are these heads idle, then? Take out all sixteen together, and then the four of each layer. The landmark is a guesser who never sees the letters and knows only how frequent each sound is.

# %% tags=["nbval-ignore-output"]
known = list(split("train").values())[::10]
heard = torch.tensor([i for s in known for i in (*SOUNDS.encode(s[0]), END_ID)])
chances = torch.bincount(heard) / len(heard)
guesser = -chances[targets[targets != PAD_ID]].log().mean().item()
whole, none = loss_without([]), loss_without(places)
print(f"sum of the 16 single rises: {whole * rises.sum() / 100:.3f}")
print(f"rise without all 16:        {none - whole:.3f}")
print(f"loss without all 16: {none:.3f}; someone who knows frequencies: {guesser:.3f}")
print(f"without all 16, logits halved: {loss_without(places, temperature=2):.3f}")
for level in range(4):
    four = loss_without([(level, head) for head in range(4)])
    print(f"without all of layer {level}: {100 * (four / whole - 1):+.0f} %")
only = torch.tensor([loss_without(set(places) - {place}) for place in places])
gain, cost = none - only.min(), rises.flatten()[only.argmin()] * whole / 100
print(f"one kept: loss down by {gain:.2f} at best; that one out: up by {cost:.3f}")

# %% [markdown]
# One by one, the sixteen cost little. Together they cost more than thirty times the sum. They are *not* idle. When all the others are gone, the best of them takes 0.9 off the loss by itself, about sixty times what it cost to take it out while they were there. **They stand in for one another**, and taking out one at a time can't show that. The stand-ins sit in other layers too, since losing a whole layer costs only a sixth to a third of the loss. (Without any of them the model is even worse than the guesser, mostly because it's too sure of itself. With its logits halved, most of the difference is gone.)
#
# How many can go? We take out more and more, in five random orders. For the loss, every step is given the right sounds before it. A harder test lets the model speak by itself, here on 120 words:

# %% tags=["nbval-ignore-output"]
rng, few = torch.Generator().manual_seed(0), dict(list(split("test").items())[::50])
losses, wrong = {}, {}
for number in tqdm(range(1, 6), unit="order", file=sys.stdout):
    order = [places[i] for i in torch.randperm(16, generator=rng)]
    curve = [whole, *(loss_without(order[:count]) for count in (4, 8, 12)), none]
    losses[f"order {number}"] = torch.tensor(curve)
    rates = [error_rates(without(order[:count]), few) for count in (0, 4, 8)]
    wrong[f"order {number}"] = torch.tensor([100 * rate["WER"] for rate in rates])

# %% tags=["nbval-ignore-output"]
left, right = plotting.new_axes(9.4, 3.4, columns=2)
at = torch.arange(0, 17, 4)
plotting.curves(at, losses, xlabel="heads out", ylabel="nats", ax=left)
left.axhline(guesser, color="0.6", ls="--", lw=1)
left.set(yscale="log", title="loss, given the right sounds", xticks=range(0, 17, 4))
left.set_yticks([0.3, 0.6, 1, 2, 4], ["0.3", "0.6", "1", "2", "4"], minor=False)
left.minorticks_off()
plotting.curves(at[:3], wrong, xlabel="heads out", ylabel="% of words", ax=right)
right.set(ylim=(0, 100), title="words wrong, speaking by itself", xticks=(0, 4, 8))
plotting.show(
    left,
    "Five random orders. Left: loss against heads taken out, on a log axis; it ends "
    "above the dashed line, a guesser. Right: percentage of words wrong when the model "
    "speaks by itself, with 0, 4 and 8 heads out.",
)

# %% tags=["nbval-ignore-output"]
print("           loss times, 4 and 8 heads out    % of words wrong, 0, 4 and 8 out")
for name, curve in losses.items():
    cost = "".join(f"{curve[i] / whole:12.2f}" for i in (1, 2))
    print(f"{name}:{cost}        ", "".join(f"{rate:10.0f}" for rate in wrong[name]))

# %% [markdown]
# *The gray dashed line is the guesser.* Half of the heads cost a lot. The loss grows by half in the kindest order and more than doubles in two others, and in all orders but one more than half of the words are wrong. Four heads cost much less, a tenth to a quarter of the loss.
#
# Which head stands in for which? Pairs can say. **Exercise 6.7 (15 minutes)** asks you to tell needed, doubled and idle heads apart, and then runs your answer on all pairs of these sixteen.

# %% [markdown]
# ## 6.9 A clear pattern, and the head isn't missed
# *More · 9 minutes*
#
# Do pictures tell what a head is for? In the small models of 6.7 we know which jobs there are. We train the five with four heads again, for 360 steps each, and look at the first one on a sequence. The frames mark cells of equal letters:

# %% tags=["nbval-ignore-output"]
models = []
for seed in tqdm(range(5), unit="model", file=sys.stdout):
    models += [model for _, model in two_jobs.train(4, seed, steps=360, every=360)]
text = "abcabdaebc"
ids = torch.tensor([[two_jobs.LETTERS.index(letter) for letter in text]])  # (1, L)
numbers = torch.randn(1, 10, generator=torch.Generator().manual_seed(3))  # (1, L)
with torch.no_grad():
    tables = models[0](ids, numbers)[1][0]  # (H, L, L)
equal = ids[0][:, None] == ids[0][None, :]  # (L, L)
plotting.show(diagrams.head_maps(tables, list(text), list(text), equal))

# %% [markdown]
# *Head 1 has a line one step below the diagonal, which is the previous token. Head 3 fills the frames and nothing else, which means equal letters. Heads 0 and 2 lean toward the frames, as if they were after equal letters too.* Are they? For each of the 20 heads we measure on 1,000 new sequences what it **looks at** (its mean weight on the previous token, and on tokens of the same letter) and what the model loses **without it** (`two_jobs.looks??` and `two_jobs.without_heads??` show how).

# %% tags=["nbval-ignore-output"]
def errors_alone(model):
    rest = [two_jobs.without_heads(model, [head]) for head in range(4)]
    return torch.stack([two_jobs.errors(left) for left in rest], dim=1)  # (2 jobs, H)


alone = torch.stack([errors_alone(model) for model in models])  # (models, 2 jobs, H)
looked = [two_jobs.looks(model) for model in models]
letters_of_test = two_jobs.test_batch()[0]  # (B, L)
same = letters_of_test[:, :, None] == letters_of_test[:, None, :]  # (B, L, L)
even = (1 / 10, same[:, 1:].float().mean().item())  # what even weights would give

# %% tags=["nbval-ignore-output"]
axes = plotting.new_axes(9.4, 3.6, columns=2)
for job, (ax, name) in enumerate(zip(axes, two_jobs.JOBS, strict=True)):
    points = {f"model {m}": (looked[m][job], alone[m, job]) for m in range(5)}
    labels = {"xlabel": f"weight on {name}", "ylabel": "error without the head"}
    plotting.scatter(points, ax=ax, title=name, **labels)
    ax.axvline(even[job], color="0.6", ls="--", lw=1)
    ax.set(yscale="log", xlim=(-0.03, 1.03))
plotting.show(
    axes[0],
    "Twenty heads of five models: weight on the previous token (left) or the same "
    "letter (right) against the error without the head, on a log axis. Heads with "
    "nearly all their weight there are missed. So are three of model 2 with less.",
)

# %% [markdown]
# *Each mark is one head. The dashed lines are what even weights would give.* The heads at the upper right look at one thing nearly always, and each of them is needed for it. Others put a third of their weight on the previous token, or half of it and more on equal letters, and the model does as well without them. In model 2, three heads share the first job. Each is missed, and none of them looks only at the previous token, on average. But an average can hide a pattern. Here is the weight on the previous token at each place, from the second on, for model 2 and for one head of model 4 that isn't missed:

# %% tags=["nbval-ignore-output"]
_, test_numbers, target = two_jobs.test_batch()


@torch.no_grad()
def off_without(model, head):
    report = two_jobs.without_heads(model, [head])(letters_of_test, test_numbers)[0]
    return (report - target)[:, 1:, 0]  # (B, L - 1): how far off the first job is


for number, head in ((2, 0), (2, 1), (2, 2), (2, 3), (4, 0)):
    with torch.no_grad():
        each = models[number](letters_of_test, test_numbers)[1][:, head]  # (B, L, L)
    row = each.diagonal(-1, dim1=1, dim2=2).mean(dim=0).tolist()  # one for each place
    print(f"model {number}, head {head}:", " ".join(f"{weight:.2f}" for weight in row))

# %% tags=["nbval-ignore-output"]
off = off_without(models[2], 3)
rest = off - test_numbers.mean(dim=1, keepdim=True)  # the mean of all ten taken off
print(f"model 2 without head 3, error of the first job: {(off**2).mean():.3f}")
print(f"the same with the mean of all numbers taken off: {(rest**2).mean():.3f}")
worst_place = (off_without(models[4], 0) ** 2).mean(dim=0).max()
print(f"model 4 without head 0, error at the worst place: {worst_place:.4f}")

# %% [markdown]
# In model 2, heads 0 and 1 have divided up the places. At each place one of them looks at the previous token. The other one spreads its weights and brings, more or less, the mean of all ten numbers, and head 3, which spreads its weights everywhere, takes that mean away again. Without head 3 the report is off by just about that mean, and once we subtract it, most of the error is gone.
#
# Head 0 of model 4 has a pattern, too. At two of the nine places it looks at the previous token with nearly all its weight, but even there the model does as well without it. **A clear pattern doesn't tell you that the head is needed.** (What else one can ask a head, and its path to another, is the subject of lesson 13.)
#
# Is a head that isn't missed alone idle? In 6.8 it wasn't. So take out, together, all heads whose removal alone raises neither error by more than 0.05:

# %% tags=["nbval-ignore-output"]
for number, model in enumerate(models):
    before = two_jobs.errors(model)
    worst = (alone[number] - before[:, None]).amax(dim=0)  # (H,)
    unmissed = [head for head in range(4) if worst[head] < 0.05]
    after = two_jobs.errors(two_jobs.without_heads(model, unmissed))
    one, two = ([f"{error:.5f}" for error in pair.tolist()] for pair in (before, after))
    print(f"model {number}: errors {one}, without heads {unmissed} {two}")

# %% [markdown]
# Here next to nothing changes. Every error stays below 0.001, while one needed head costs a tenth or more. (In model 4 the first error doubles, from tiny to tiny.) These heads are idle by this measure. The same question got the opposite answer in the pronouncer, and only taking heads out *together* could tell the two apart. In the open experiment, **exercise 6.8 (20 minutes)**, you find out how many heads a task needs.

# %% [markdown]
# ## What goes wrong
# *More · 6 minutes*
#
# **Heads split by one `view`, without the transpose.** The shape is right and it runs. But `view` never moves a number; it cuts the same row of numbers differently, and head 0 gets the first half of the sequence. Which tokens can each output depend on? We put the wrong split into the library's module, first with a merge that makes the same mistake backwards, then with the right merge and a causal mask:

# %%
def split_by_view(x, num_heads):
    B, L, d_model = x.shape
    return x.reshape(B, num_heads, L, d_model // num_heads)


def merge_by_view(x):
    return x.reshape(x.shape[0], x.shape[2], -1)


def depends(layer, mask=None):
    x = torch.randn(1, 8, 4, requires_grad=True)
    totals = layer(x, mask=mask)[0].sum(dim=-1)  # (L,): one number for each output
    rows = [torch.autograd.grad(y, x, retain_graph=True)[0][0] for y in totals]
    return (torch.stack(rows).abs().sum(dim=-1) > 0).float()  # (L_out, L_in)

# %%
torch.manual_seed(0)
tested = multi_head.MultiHeadAttention(4, 2)
with patch.object(multi_head, "split_heads", split_by_view):
    leaking = depends(tested, masks.causal_mask(8))
    with patch.object(multi_head, "merge_heads", merge_by_view):
        halves = depends(tested)

# %%
axes = plotting.new_axes(7.6, 3.4, columns=2)
titles = ("split and merged by view", "split by view, causal mask")
for ax, title, table in zip(axes, titles, (halves, leaking), strict=True):
    plotting.attention_heatmap(table, ax=ax, title=title, quantity="1 = depends")
    ax.set(xlabel="token", ylabel="output")
plotting.show(
    axes[0],
    "Which of 8 tokens each of 8 outputs depends on. Left: two blocks that "
    "never meet. Right, with a causal mask: the first outputs depend on tokens "
    "of the second half, the future.",
)

# %% [markdown]
# *On the left the sequence falls into halves that never meet. On the right the first outputs see the future, in spite of the mask.* A leak test (lesson 05) finds the second, but not the first. Does the loss find it? We train two tasks with the right and with the wrong split. One is to copy your own number, the other to report the first token's.

# %% tags=["nbval-ignore-output"]
def train_simple(task, steps=150):
    torch.manual_seed(0)
    rng, layer = torch.Generator().manual_seed(0), multi_head.MultiHeadAttention(16, 2)
    place, number, report = nn.Embedding(8, 16), nn.Linear(1, 16), nn.Linear(16, 1)
    parts = nn.ModuleList([layer, place, number, report])
    optimizer = torch.optim.Adam(parts.parameters(), lr=0.01)
    for step in range(steps + 1):
        # the last is the test
        x = torch.randn(64 if step < steps else 2000, 8, 1, generator=rng)
        target = x if task == "own" else x[:, :1].expand_as(x)  # (B, L, 1)
        loss = F.mse_loss(report(layer(number(x) + place.weight)), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()

# %% tags=["nbval-ignore-output"]
by_view = {"split_heads": split_by_view, "merge_heads": merge_by_view}
for task in ("own", "first"):
    right = train_simple(task)
    with patch.multiple(multi_head, **by_view):
        wrong = train_simple(task)
    print(f"{task:5} token's number: error {right:.3f}, split by view {wrong:.3f}")

# %% [markdown]
# The copy task trains with both, so a falling loss doesn't show that the split is right. In the other task the wrong layer is stuck near one half, because half of the positions can't see the first token (the left panel).
#
# **Reading the mean of the heads.** `nn.MultiheadAttention` returns it by default, and many plots show it. For the first model of 6.9:

# %% tags=["nbval-ignore-output"]
mean = tables.mean(dim=0, keepdim=True)  # (1, L, L)
ax = diagrams.head_maps(mean, list(text), list(text), equal, ["mean of 4 heads"])
plotting.show(ax)

# %% [markdown]
# *Put this beside the four maps of 6.9. If you know the two patterns, you can still find both in the mean. But nothing in it tells you that each job has a head of its own, or that two of the heads do neither.* Ask for the weights of each head.

# %% [markdown]
# ## The whole thing
# *Core · 2 minutes*
#
# Once you've done exercise 6.3, unfold this cell. It's the complete module. The library's has the same four projections and adds what later lessons need (shared keys, a cache, positions).

# %% tags=["whole"]
class MultiHeadAttention(nn.Module):
    """Attention with several heads. Without a memory, the queries ask one another.

    A mask broadcasts to (B, H, L_q, L_k), True = may attend; each query needs a key.
    """

    def __init__(self, d_model, num_heads, bias=True):
        super().__init__()
        if d_model % num_heads:
            raise ValueError(f"{num_heads} heads must divide d_model, {d_model}")
        self.num_heads, self.d_head = num_heads, d_model // num_heads
        self.q_proj = nn.Linear(d_model, d_model, bias=bias)
        self.k_proj = nn.Linear(d_model, d_model, bias=bias)
        self.v_proj = nn.Linear(d_model, d_model, bias=bias)
        self.o_proj = nn.Linear(d_model, d_model, bias=bias)

    def split(self, x):
        """(B, L, d_model) -> (B, H, L, d_head)"""
        B, L, _ = x.shape
        cut = x.reshape(B, L, self.num_heads, self.d_head)  # the last axis alone
        return cut.transpose(1, 2)

    def merge(self, heads):
        """(B, H, L, d_head) -> (B, L, d_model)"""
        B, H, L, d_head = heads.shape
        return heads.transpose(1, 2).reshape(B, L, H * d_head)

    def attend(self, q, k, v, mask):
        """Each head by itself, as in lesson 04; hidden keys get the weight 0."""
        scores = q @ k.transpose(-2, -1) / self.d_head**0.5  # (B, H, L_q, L_k)
        if mask is not None:
            scores = scores.masked_fill(~mask, -torch.inf)
        weights = scores.softmax(dim=-1)  # (B, H, L_q, L_k)
        return weights @ v, weights  # (B, H, L_q, d_head), (B, H, L_q, L_k)

    def forward(self, query, memory=None, mask=None):
        memory = query if memory is None else memory
        q = self.split(self.q_proj(query))  # (B, H, L_q, d_head)
        k = self.split(self.k_proj(memory))  # (B, H, L_k, d_head)
        v = self.split(self.v_proj(memory))  # (B, H, L_k, d_head)
        found, weights = self.attend(q, k, v, mask)
        return self.o_proj(self.merge(found)), weights  # (B, L_q, d_model)

# %% [markdown]
# With the same weights it does the same as the library's and PyTorch's. PyTorch gets the three input matrices stacked and a mask with the opposite meaning:

# %%
torch.manual_seed(0)
mine, library = MultiHeadAttention(12, 4), multi_head.MultiHeadAttention(12, 4)
library.load_state_dict(mine.state_dict())
theirs = nn.MultiheadAttention(12, 4, batch_first=True)
state = mine.state_dict()
packed = {f"out_proj.{part}": state[f"o_proj.{part}"] for part in ("weight", "bias")}
for part in ("weight", "bias"):
    packed[f"in_proj_{part}"] = torch.cat([state[f"{n}_proj.{part}"] for n in "qkv"])
theirs.load_state_dict(packed)
x, memory = torch.randn(2, 5, 12), torch.randn(2, 7, 12)  # (B, L, d_model) each

# %%
causal = masks.causal_mask(5)  # (1, 1, L_q, L_q)
cases = {"self": (x, None), "self, causal": (x, causal), "cross": (memory, None)}
for name, (asked, mask) in cases.items():
    output, weights = mine(x, asked, mask)
    hidden = None if mask is None else ~mask[0, 0]
    options = {"attn_mask": hidden, "average_attn_weights": False}
    others = {
        "library": library(x, asked, asked, mask=mask, return_weights=True),
        "PyTorch": theirs(x, asked, asked, **options),
    }
    for other, (out, table) in others.items():
        assert torch.allclose(table, weights, atol=1e-6)
        same = torch.allclose(out, output, atol=1e-6)
        print(f"{name:13} equal to {other}: {same}")

# %% [markdown]
# ## In practice
# *More · 2 minutes*
#
# - The three input projections are often one matrix product, `qkv_proj` or `c_attn`, cut in three afterwards. Beware of the order. Some checkpoints store all queries, then all keys, then all values; others store them head by head (exercise 6.1).
# - Production code calls `F.scaled_dot_product_attention` on `(B, H, L, d_head)` and never holds the weights. The library does the same, unless it is asked for them.
# - `(B, L, H, d_head)` is the layout of some fused kernels and of JAX code, because it needs no transpose. Read which one a function expects: `F.scaled_dot_product_attention` takes the wrong one without a word, and the heads of one token attend to each other.
# - Names elsewhere: `num_heads` is `n_head`, `nhead`, `num_attention_heads`; `d_model` is `embed_dim`, `n_embd`, `hidden_size`; `o_proj` is `out_proj`, `c_proj`, `dense`.

# %% [markdown]
# ## Recap
# *Core · 2 minutes*
#
# 1. **What one head can't do.** One head is one weighting, the same for all entries of the values. Fixed weights leave half the variance of two independent Gaussian cards unknown. Weights that depend on the numbers smuggle a little more out. Two heads bring both cards.
# 2. **Split and merge.** Head $h$ gets neighboring features of every token, and merging puts them back.
# 3. **One module** does self- and cross-attention, with queries from one sequence, keys and values from another or the same. $W_o$ adds the heads up. PyTorch's module packs query, key and value in this order.
# 4. **Cost.** More heads take no more parameters, but each has a table of weights of its own. (*More*, from 6.7: the multiplications, $4 L d_{model}^2 + 2 L^2 d_{model}$, don't depend on $H$. In the task there one head lacks something, and sixteen narrow ones are mostly late.)
# 5. **Whether a head is needed** is measured by the error without it, alone *and* together with others. The sixteen heads of 6.8 are hardly missed one by one, but they stand in for one another. (*More*, from 6.9: a clear pattern doesn't show that a head is needed, and some heads are idle.)

# %% tags=["nbval-ignore-output"]
widgets.predictions()

# %% [markdown]
# | symbol | meaning | shape |
# |---|---|---|
# | $H$ | number of heads | a number that divides $d_{model}$ |
# | $d_{head}$ | size of one head, $d_{model} / H$ | a number |
# | $q, k, v$ | queries, keys, values of all heads | $(B, H, L_q, d_{head})$, $(B, H, L_k, d_{head})$ |
# | $w$ | weights, for each head its own | $(B, H, L_q, L_k)$; each row sums to 1 |
# | $W_o$ | output projection, a block of $d_{head}$ rows for each head | $(d_{model}, d_{model})$ |
# | `in_proj_weight` | PyTorch's query, key and value projections, stacked | $(3\, d_{model}, d_{model})$ |

# %% [markdown]
# ## Check yourself
# *Core · 3 minutes*
#
# <details><summary>1. A model has one head of size 64 and can't solve the two-marks task. Would a head four times as wide help?</summary>
#
# **Hardly.** In 6.2 the head of 64 is no better than the head of 16. A wider head still has one row of weights for each query.
# </details>
#
# <details><summary>2. x has shape (2, 10, 12), and three heads should each get (10, 4), which makes (2, 3, 10, 4). One program asks <code>view</code> for that shape at once. Another first cuts only the 12 features into 3 times 4, and then swaps two axes. What is the difference?</summary>
#
# **Same shape, other content.** The second gives each head four features of every token. The first cuts the row of numbers in memory into equal runs, and head 0 gets the first third of the sequence.
# </details>
#
# <details><summary>3. You go from 8 heads to 16 at d_model = 512. What happens to the size of a head, to the parameters, and to the number of weights?</summary>
#
# **Halved, the same, doubled.** $d_{head}$ falls from 64 to 32. The stacked matrices stay $512 \times 512$. Each head has its own $L_q \times L_k$ table.
# </details>
#
# <details><summary>4. A heatmap shows a head that always looks at the first token. Without it, the error stays the same. Is it idle?</summary>
#
# **You don't know yet.** It may have a stand-in, like the heads in 6.8. Take it out together with others.
# </details>

# %% [markdown]
# ## When you need it
# *More · 5 minutes*
#
# **Why merging sometimes fails with a message about strides.** Strides say how far apart in memory neighbors along each axis lie (lesson 00). A transpose swaps strides and moves no number. After a matrix product the heads lie in memory one behind another, so the features of one token aren't together, and no `view` can join them. `contiguous()` copies them into order; `reshape` and `flatten` do it by themselves when they must.

# %% tags=["nbval-ignore-output"]
# (B, H, L, d_head), as after a matrix product
heads = torch.arange(12).view(1, 2, 3, 2)
turned = heads.transpose(1, 2)  # (B, L, H, d_head)
print("strides", heads.stride(), "turned", turned.stride())
print("turned is contiguous:", turned.is_contiguous())
try:
    turned.view(1, 3, 4)
except RuntimeError as problem:
    print("RuntimeError:", str(problem).split(".")[0])

# %% [markdown]
# **How much can one head carry?** A head's values pass through $W_{v,h}$ and then through its block of $W_o$. Together that is one matrix of shape $(d_{model}, d_{model})$, but of rank at most $d_{head}$. A head reads $d_{head}$ directions from a token, and writes to $d_{head}$ directions of the output. Its scores go through one such matrix too, $W_{q,h} W_{k,h}^\top$, two thin matrices in place of one square one. Elhage et al. call the first the head's OV circuit (*what* it copies) and the second its QK circuit (*where* it looks). Lesson 13 reads a trained model with these two. Head 0 of the layer that we drew:

# %%
with torch.no_grad():
    # (d_model, d_head) @ (d_head, d_model)
    ov = layer.v_proj.weight[:32].T @ layer.o_proj.weight[:, :32].T
    qk = layer.q_proj.weight[:32].T @ layer.k_proj.weight[:32]
for name, matrix in {"OV": ov, "QK": qk}.items():
    print(name, tuple(matrix.shape), "rank", torch.linalg.matrix_rank(matrix).item())

# %% [markdown]
# **Must $H \cdot d_{head}$ be $d_{model}$?** No, that is a habit. Nothing breaks if the projections lead to another inner size, as long as $W_o$ leads back. In exercise 6.3 they do. In lesson 07 keys and values get fewer heads than queries.
#
# {{next_steps}}

# %% [markdown]
# ## References
#
# - Vaswani et al., *Attention Is All You Need*, 2017, section 3.2.2: multi-head attention, why one head's averaging inhibits it, and 8 heads of size 64. Table 3 (A): the number of heads.
# - Michel, Levy, Neubig, *Are Sixteen Heads Really Better than One?*, 2019, section 3: heads taken out of trained models one at a time, as in 6.8; many are not missed.
# - Voita et al., *Analyzing Multi-Head Self-Attention: Specialized Heads Do the Heavy Lifting, the Rest Can Be Pruned*, 2019: heads for neighboring positions and others in a translator, and what pruning leaves.
# - Jain, Wallace, *Attention is not Explanation*, 2019: why a heatmap alone is weak evidence for what a model uses.
# - Elhage et al., *A Mathematical Framework for Transformer Circuits*, 2021: heads as independent terms of a sum, the view of section 6.5.
