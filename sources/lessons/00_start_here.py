# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 00 · Start here
#
# By the end you can work with this course, turn sentences into a tensor of shape `(B, L, d_model)`, move its axes without scrambling it, and say what networks before attention could not see.
#
# {{colab_link}} · about 85 minutes · builds on nothing

# %% tags=["setup"]
import math

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from course_checks import NotYet, check, failing_case, hint
from course_utils import attention, diagrams, multi_head, plotting, tokenizers
from course_utils import pretrained, similarity, widgets
from course_utils.pretrained.pronunciation import align

torch.set_printoptions(precision=2, sci_mode=False)

# %% [markdown]
# **You will learn to**
#
# 1. run a lesson, keep a prediction, check an answer and find help;
# 2. turn sentences into a tensor `(B, L, d_model)`, and say what a language model is asked at each position;
# 3. predict what broadcasting, `view`, `transpose` and `permute` do, and notice when content is scrambled;
# 4. read and write `einsum`;
# 5. say what a feed-forward layer, a convolution, a recurrence and attention can see, and what each costs.

# %% [markdown]
# ## Predict first
#
# A small model has learned to pronounce English words. It reads the letters of *knight* and says three sounds, N, AY and T. Before each sound it looks back at the letters and shares its attention out among them; the shares add up to 1.
#
# Which letters does it look at before it says N? Move the sliders, then keep your prediction. (They don't have to add up to 1: the page divides by their sum.)

# %%
widgets.predict("0.1", "Before the sound N, how much does each letter get?",
                shares=list("knight"))

# %% [markdown]
# ## 0.1 Where this leads
#
# Now we ask the model. It comes with the course, trained, and it's small enough to run anywhere.

# %%
model = pretrained.load("recurrent_attention")
knight = align(model, "knight")  # its sounds, and the letters it looked at
print("sounds: ", " ".join(knight.sounds))
widgets.came_out("0.1", knight.weights[0])

# %% [markdown]
# Nobody told the model which letters make which sound. It had words and their sounds to learn from, and found out for itself where to look. Here are the shares for all of its sounds. Type a word of your own and press Enter: your name, or one that nobody has ever said.

# %%
speller = widgets.alignment_viewer(model, "knight")
speller.show_first_state("The letters of knight across, its sounds N, AY, T and the "
    "end sign down. N looks mostly at n and a little at k; AY at i and n; T at the "
    "final t most, then at g and h.")

# %%
speller

# %% [markdown]
# *Each row is one sound, and its shares add up to 1. The dark cells run from the upper left to the lower right, because sounds come in the order of their letters. And notice the silent k, g and h: they aren't spoken, but they are looked at.* The lines on the right say whether the dictionary agrees, and whether the model saw this word in training.
#
# This looking back is called **attention**, and a table of such shares is what you'll see most often in this course. In lesson 03 you build and train this model; by lesson 12 you'll have built a Transformer, and a language model that writes. This is the way:

# %%
plotting.show(diagrams.road_map(here=0))

# %% [markdown]
# *Three stretches: first the idea, then the machine that today's models use, part by part, and then whole models. You are in the filled box.*
#
# Every lesson draws the inside of a model in the same way: a tensor is a card of cells, and the color of its frame and name says what it holds. (A plain grid of numbers, such as those of 0.5, has colors of its own; the line below it says which.) You don't have to learn this legend. Come back when a color puzzles you.

# %%
plotting.show(diagrams.legend())

# %% [markdown]
# ## 0.2 Run, predict, check, ask
#
# **Run.** A notebook is a list of cells. `Shift+Enter` runs one and moves on. Go from top to bottom, because later cells use what earlier ones define. When things get confused, choose *Restart kernel and run all cells*: everything random has a seed, so you get the same numbers again.
#
# **Predict.** You've done it once. A prediction that you kept is shown beside what came out, at once and again at the end of the page. Nobody else sees it, and a wrong one is worth more than none: it tells you where to look. A restart forgets them on this page, but what you kept is in your progress: `import course_utils`, then `course_utils.progress()`, in any notebook, shows which exercises you have passed and what you predicted. It's one small file on your own machine.
#
# **Check.** Each lesson comes with {{exercises_link}}, in a notebook of the same name. You write a function and hand it to `check`. Suppose the task is *divide each number by the sum of its row*, and a student overlooks the words "of its row":

# %%
def shares_wrong(x):
    return x / x.sum()


try:
    check("0.1", shares_wrong)
except NotYet as message:
    print(message)

# %% [markdown]
# Read it from the top: what you'd have earned, the first number that differs, and what the answer looks like. In your own notebook this text appears in place of Python's long error report.
#
# What to try isn't in it yet: often the message is enough, and a mistake that you found yourself you seldom make again. `hint()` says it, and so does the message when the same exercise fails a second time:

# %%
hint()

# %% [markdown]
# Large arguments are named by their shape only. `failing_case()` hands you the numbers themselves, so that you can try your code on them:

# %%
case = failing_case()
print(case["x"])
print(shares_wrong(*case.values()))

# %% [markdown]
# Any right way counts, unless an exercise rules a function out. A loop is fine:

# %%
def shares_loop(x):
    return torch.stack([row / row.sum() for row in x])


check("0.1", shares_loop)

# %% [markdown]
# **Ask.** When you're stuck, take help in this order: the message of the check; `failing_case()`; `hint()`; the hints folded under the check; the section of the lesson; the [glossary](../docs/glossary.md), for a word that you've forgotten; your instructor, with the message copied into your question. You may try as often as you like.

# %% [markdown]
# ## 0.3 From text to a tensor `(B, L, d_model)`
#
# A network computes with numbers, so text goes through four steps. Here are two short sentences.
#
# **Tokens.** The text is cut into pieces, the *tokens*. Here these are words; the model above takes letters. **Ids.** Each distinct token gets a number, its place in the *vocabulary*. **Padding.** A tensor has no rows of unequal length, so the shorter sentence is filled up with an extra token, `<pad>`.

# %%
sentences = ["the cat saw the dog", "birds sing"]
tokens = [sentence.split() for sentence in sentences]
vocabulary = ["<pad>", *sorted({token for row in tokens for token in row})]
ids_of = [[vocabulary.index(token) for token in row] for row in tokens]
ids = tokenizers.pad(ids_of)  # (B, L); fills up with 0, the id of <pad>
(B, L), V = ids.shape, len(vocabulary)
print(vocabulary)
print(ids_of, " -> ", ids.tolist())

# %% [markdown]
# **Embedding.** An id is a name, not a quantity: token 4 isn't twice token 2. So each id picks a row of a table. The table starts out random and is learned like every other weight.

# %%
d_model = 4
torch.manual_seed(0)
embedding = nn.Embedding(V, d_model)
table = embedding.weight.detach()  # (V, d_model)
plotting.show(diagrams.lookup(table, ids, vocabulary, follow=(0, 3)))

# %% [markdown]
# *Follow the second "the": its id is 6, so it gets row 6 of the table. The first "the" has the very same numbers. And the three rows of `<pad>` are numbers too; a network would compute with them if nobody told it not to.*
#
# $$x_{b,i} = E_{\,\mathrm{ids}_{b,i}} , \qquad E \text{ of shape } (V, d_{model}), \qquad x \text{ of shape } (B, L, d_{model}).$$
#
# $B$ counts the sentences of the batch, $L$ the positions, $V$ the entries of the vocabulary; $d_{model}$ is the size of a token's vector. As a loop, and as PyTorch does it:

# %%
x_loop = torch.zeros(B, L, d_model)
for b in range(B):
    for i in range(L):
        x_loop[b, i] = table[ids[b, i]]

x = embedding(ids).detach()  # (B, L, d_model)
assert torch.equal(x, x_loop)
print("x      ", tuple(x.shape), "  the batch")
print("x[0]   ", tuple(x[0].shape), "     the first sentence")
print("x[0, 2]", tuple(x[0, 2].shape), "       its third token,", repr(tokens[0][2]))
print("x[:, 0]", tuple(x[:, 0].shape), "     the first token of every sentence")

# %% [markdown]
# Read `(B, L, d_model)` as *which sentence, which position, which feature*. It's the language of this course.
#
# **What is the tensor for?** A *language model* reads tokens and predicts the next one, at every position at once:

# %%
for i in range(L - 1):
    read, following = tokens[0][: i + 1], tokens[0][i + 1]
    print(f"position {i}: has read {' '.join(read):16}  must say {following}")

# %% [markdown]
# Five tokens give four examples. After "the" it must say "cat" once and "dog" once, and no vector of "the" can tell which. The model has to *look at other positions*. How networks do that is the question of this course.
#
# **Do exercises 0.2 and 0.3 now (20 minutes), then read on.**

# %% [markdown]
# ## Do you need 0.4 to 0.6?
#
# If you've worked with tensors before, answer these on paper, without running anything.
#
# 1. `a` has shape `(8)`, which Python writes `(8,)`, and `b` has shape `(8, 1)`. What is the shape of `a - b`?
# 2. `x` is `[[1, 2, 3], [4, 5, 6]]`. What is the second row of `x.reshape(3, 2)`, and of `x.transpose(0, 1)`?
# 3. `y` has shape `(2, 3, 4)`. What is the shape of `y.permute(2, 0, 1)`?
# 4. What does `torch.einsum("ij,kj->ik", X, Y)` compute?
#
# <details><summary>Answers, and where to go</summary>
#
# 1. `(8, 8)`, every pair. If you said `(8)`, `(8, 1)` or "an error", read 0.4.
# 2. `[3, 4]` and `[2, 5]`. If you said the same for both, read 0.5.
# 3. `(4, 2, 3)`. If you said `(3, 4, 2)`, read 0.5.
# 4. `X @ Y.T`, the dot product of every row of `X` with every row of `Y`. If you weren't sure, read 0.6.
#
# All four right? **Go straight to 0.7**; no later cell needs the ones you skip. Exercises 0.1 (for 0.4), 0.4 and 0.6 (for 0.5) and 0.5 (for 0.6) will tell you if that was rash.
# </details>

# %% [markdown]
# ## 0.4 Broadcasting
#
# Three predictions of a model have shape `(3, 1)`, the three targets have shape `(3)`, and **every prediction is exactly right**.

# %%
widgets.predict("0.2", "What is the mean squared error?", between=(0, 3), step=0.1)

# %%
predictions = torch.tensor([[1.0], [2.0], [3.0]])  # (3, 1)
goals = torch.tensor([1.0, 2.0, 3.0])  # (3,)
difference = predictions - goals
print("shape", tuple(difference.shape))
print(difference)
widgets.came_out("0.2", (difference**2).mean())

# %% [markdown]
# A matrix, and no warning: every prediction minus every target. This is the rule. PyTorch lines two shapes up **from the right**; two sizes fit if they are equal, or if one is 1 or missing. An axis of size 1 is used again and again:
#
#     predictions   (3, 1)
#     goals            (3)
#     difference    (3, 3)
#
# By hand: the column 0, 10, 20 plus the row 1, 2, 3, 4 gives the second row 11, 12, 13, 14.

# %%
column = torch.tensor([[0], [10], [20]])  # (3, 1)
row = torch.tensor([1, 2, 3, 4])  # (4,)
by_loop = torch.zeros(3, 4, dtype=torch.long)
for i in range(3):
    for j in range(4):
        by_loop[i, j] = column[i, 0] + row[j]

assert torch.equal(column + row, by_loop)
print(column + row)

# %% [markdown]
# A sum takes its axis away, so it may no longer line up with what it came from. `keepdim=True` leaves the axis there, with size 1:

# %%
numbers = torch.ones(3, 2)
print("summed:      ", tuple(numbers.sum(dim=-1).shape))
print("with keepdim:", tuple(numbers.sum(dim=-1, keepdim=True).shape))

# %% [markdown]
# **Do exercise 0.1 now (5 minutes), then read on.**

# %% [markdown]
# ## 0.5 `view`, `transpose`, `permute`
#
# Two commands turn the shape `(2, 3)` into `(3, 2)`: `x.reshape(3, 2)` and `x.transpose(0, 1)`.

# %%
widgets.predict("0.3", "x is [[1, 2, 3], [4, 5, 6]]. Are the two results equal?",
                choices=["equal", "same shape, different content", "one is an error"])

# %%
x = torch.tensor([[1, 2, 3], [4, 5, 6]])  # (2, 3)
reshaped, transposed = x.reshape(3, 2), x.transpose(0, 1)  # (3, 2), (3, 2)
owner = torch.tensor([[0, 0, 0], [1, 1, 1]])  # the row that each number comes from
axes = plotting.new_axes(7.5, 2.4, columns=3)
plotting.number_grid(x, shades=owner, ax=axes[0], title="x")
plotting.number_grid(reshaped, shades=owner.reshape(3, 2), ax=axes[1],
                     title="x.reshape(3, 2)")
plotting.number_grid(transposed, shades=owner.T, ax=axes[2], title="x.transpose(0, 1)")
plotting.show(axes[0], "Three grids. x has rows 1 2 3 and 4 5 6. Reshaped: rows 1 2, "
              "3 4, 5 6. Transposed: rows 1 4, 2 5, 3 6.")
same = torch.equal(reshaped, transposed)
widgets.came_out("0.3", "equal" if same else "same shape, different content")

# %% [markdown]
# *The colors are the rows of $x$. The transpose turns each row into a column. The reshape reads the numbers in order and breaks the lines elsewhere, so its second row mixes both colors.*
#
# The same shape, different content, and no error. Here is how that can happen. A tensor is a row of numbers in memory, and a rule that says which of them belongs to which index: the *stride*, how far to jump for one step along each axis.

# %%
for name, tensor in (("x", x), ("reshape", reshaped), ("transpose", transposed)):
    shared = tensor.data_ptr() == x.data_ptr()
    print(f"{name:10} shape {tuple(tensor.shape)}  stride {tensor.stride()}"
          f"  same memory: {shared}")

# %% [markdown]
# No number has moved; only the rule differs.
#
# - `view` keeps the order in memory and **breaks the lines elsewhere**. It splits an axis, or merges neighbors. It can't swap. (`reshape` is `view` where that's possible, and a copy where it isn't.)
# - `transpose(a, b)` **swaps two axes**, by swapping their strides.
# - `permute(...)` puts **all axes in a new order**. Argument $i$ says which *old* axis comes to place $i$.

# %%
cube = torch.arange(24).view(2, 3, 4)  # (B=2, L=3, d=4)
turned = cube.permute(2, 0, 1)  # (4, 2, 3)
for b in range(2):
    for i in range(3):
        for e in range(4):
            assert turned[e, b, i] == cube[b, i, e]
print(tuple(cube.shape), "->", tuple(turned.shape), "entry by entry as expected")

# %% [markdown]
# Try the moves on numbered boxes. Choose one, predict, and look at the frames: they show where an entry of the result comes from. Unless you choose an `einsum` that sums, each color is a row of $x$.

# %%
viewer = widgets.shape_viewer()
viewer.show_first_state("x with rows 0 to 3, 4 to 7, 8 to 11 in three colors; beside "
    "it x.reshape(4, 3), in which the colors run on over the ends of the rows. Entry "
    "[0, 1] is framed in both.")

# %%
viewer

# %% [markdown]
# **What it's for: heads.** From lesson 06 on, attention looks at a sentence in several ways at once. For this the vector of every token is cut into $H$ equal parts, the *heads*, of size $d_{head} = d_{model} / H$:

# %%
x = torch.arange(1, 21).view(1, 5, 4)  # (B=1, L=5, d_model=4)
plotting.show(diagrams.split_merge(x[0], 2, tokens=tokens[0]))

# %% [markdown]
# *Each color is a head. Every head sees all five tokens, and half of each. No row mixes two tokens.* In letters, with $b$ for the sentence, $h$ for the head, $i$ for the position and $e$ for the place inside the head:
#
# $$y_{b,h,i,e} = x_{b,\,i,\;h \cdot d_{head} + e} , \qquad y \text{ of shape } (B, H, L, d_{head}).$$

# %%
H, d_head = 2, 2
y = torch.zeros(1, H, 5, d_head, dtype=torch.long)
for h in range(H):
    for i in range(5):
        for e in range(d_head):
            y[0, h, i, e] = x[0, i, h * d_head + e]

assert torch.equal(y, multi_head.split_heads(x, H))
assert not torch.equal(y, x.view(1, H, 5, d_head))  # the right shape, scrambled
print("head 0 holds", y[0, 0].tolist())

# %% [markdown]
# **Do exercises 0.4 and 0.6 now (20 minutes), then read on.** From here on the course uses the library's `split_heads`.

# %% [markdown]
# ## 0.6 `einsum`
#
# `torch.einsum` writes a sum of products in letters, one letter for each axis. A letter that stands in two operands ties their axes together. A letter that is missing behind the arrow is summed over. So `"id,jd->ij"` reads: *for every i and j, sum over d*,
#
# $$S_{ij} = \sum_{d} X_{id} Y_{jd} .$$
#
# One entry by hand: row 0 of $X$ is 1, 2, 0 and row 1 of $Y$ is 2, 1, 0, so $S_{01} = 1 \cdot 2 + 2 \cdot 1 + 0 \cdot 0 = 4$.

# %%
X = torch.tensor([[1.0, 2.0, 0.0], [0.0, 1.0, 3.0]])  # (2, 3)
Y = torch.tensor([[1.0, 0, 1], [2, 1, 0], [0, 0, 1], [1, 1, 1]])  # (4, 3)

S_loop = torch.zeros(2, 4)
for i in range(2):
    for j in range(4):
        for d in range(3):
            S_loop[i, j] += X[i, d] * Y[j, d]

S = torch.einsum("id,jd->ij", X, Y)  # (2, 4)
assert torch.equal(S, S_loop) and torch.equal(S, similarity.similarity_matrix(X, Y))
plotting.show(diagrams.matmul(X, Y.T, follow=(0, 1), names=("X", "Y.T", "S")))

# %% [markdown]
# *Every cell of $S$ sits where its row of $X$ meets its row of $Y$, which stands above as a column of $Y^\top$. You'll see this picture again: the scores of attention are made this way.*
#
# Read these four before you run the cell. Which axes are left?

# %%
for pattern, operands in (
    ("id->di", (X,)),
    ("id->i", (X,)),
    ("i,j->ij", (X[0], Y[0])),
    ("id,jd->", (X, Y)),
):
    result = torch.einsum(pattern, *operands)
    print(f"{pattern:10} gives shape {tuple(result.shape)}")

# %% [markdown]
# If you use two letters for one axis, nothing ties it together. `"id,je->ij"` runs, and its shape is right, but each row is summed on its own, and then the sums are multiplied:

# %%
print("id,jd->ij", S[0].tolist())
print("id,je->ij", torch.einsum("id,je->ij", X, Y)[0].tolist())

# %% [markdown]
# **Do exercise 0.5 now (10 minutes), then read on.**

# %% [markdown]
# ## 0.7 Who sees whom
#
# Back to the question of 0.3: how can one position use another? Four kinds of layer, each from `(B, L, d)` to `(B, L, d)`:
#
# - **Feed-forward**: two matrices with a ReLU between them, for every position alone, $y_i = W_2^\top \max(0,\, W_1^\top x_i)$, with $W_1$ of shape $(d, d_{ff})$ and $W_2$ of shape $(d_{ff}, d)$.
# - **Convolution**: a window of $k$ positions around each, with a matrix $W_j$ of shape $(d, d)$ for every place in the window, $y_i = \sum_{j=0}^{k-1} W_j^\top\, x_{\,i + j - (k-1)/2}$. Beyond the ends there are zeros.
# - **Recurrence**: a *state* $h_i$ of shape $(d)$ is carried from left to right, $h_i = \tanh(W_x^\top x_i + W_h^\top h_{i-1})$, with $W_x$, $W_h$ of shape $(d, d)$ and $h_{-1} = 0$.
# - **Attention**: a weighted average of all positions, $y_i = \sum_j a_{ij}\, x_j$, whose weights $a_{ij}$ come from the vectors themselves. Lessons 01 to 04 show how; here we take the library's function.
#
# In these formulas a vector is a column. In the code it's a row of `x`, so $W_1^\top x_i$ is written `x @ W_1`.

# %%
rng = torch.Generator().manual_seed(1)
W_1, W_2 = torch.randn(4, 16, generator=rng), torch.randn(16, 4, generator=rng)
W = torch.randn(3, 4, 4, generator=rng) / 2  # (k=3, d, d)


def feed_forward(x):  # (B, L, d)
    return torch.relu(x @ W_1) @ W_2  # (B, L, d_ff) -> (B, L, d)


# %%
def convolution(x):  # (B, L, d)
    padded = F.pad(x, (0, 0, 1, 1))  # zeros before and after: (B, 1 + L + 1, d)
    return sum(padded[:, j : j + x.shape[1]] @ W[j] for j in range(3))  # (B, L, d)


def self_attention(x):  # (B, L, d)
    return attention.scaled_dot_product_attention(x, x, x)[0]  # (B, L, d)


# %%
# from -0.5 to 0.5, as nn.RNN starts them for d = 4
W_x, W_h = torch.rand(2, 4, 4, generator=rng) - 0.5  # (d, d) each


def recurrence(x):  # (B, L, d)
    h, states = torch.zeros(x.shape[0], 4), []  # (B, d)
    for i in range(x.shape[1]):
        h = torch.tanh(x[:, i] @ W_x + h @ W_h)  # (B, d)
        states.append(h)
    return torch.stack(states, dim=1)  # (B, L, d)


# %%
rnn = nn.RNN(4, 4, bias=False, batch_first=True)
rnn.load_state_dict({"weight_ih_l0": W_x.T, "weight_hh_l0": W_h.T})
x = torch.randn(2, 5, 4, generator=rng)  # (B=2, L=5, d=4)
assert torch.allclose(recurrence(x), rnn(x)[0], atol=1e-6)
print("the loop and PyTorch's nn.RNN agree; shape", tuple(recurrence(x).shape))

# %% [markdown]
# Which inputs does an output depend on? A gradient answers: if nudging $x_j$ doesn't move $y_i$, position $i$ can't see position $j$. The function measures this for all pairs, along a random direction of $y_i$, and turns every row into shares.
#
# **Before you run it**, draw four squares of 8 by 8 cells, outputs downward and inputs to the right, and shade what each layer sees.

# %%
def influence(layer, length, d=4):
    """Share of every input position in every output position: (length, length)."""
    rng = torch.Generator().manual_seed(0)
    x = torch.randn(1, length, d, generator=rng).requires_grad_()  # (1, L, d)
    direction = torch.randn(d, generator=rng)
    y = layer(x)[0] @ direction  # (L,)
    rows = []
    for i in range(length):
        (gradient,) = torch.autograd.grad(y[i], x, retain_graph=True)  # (1, L, d)
        rows.append(gradient[0].norm(dim=-1))  # (L,)
    return shares_loop(torch.stack(rows))  # (L, L)


# %%
layers = {"feed-forward": feed_forward, "convolution, k = 3": convolution,
          "recurrence": recurrence, "attention": self_attention}
axes = plotting.new_axes(9.0, 2.6, columns=4)
for ax, (name, layer) in zip(axes, layers.items(), strict=True):
    seen = influence(layer, 8)
    blank = seen.masked_fill(seen == 0, float("nan"))  # exact zeros stay white
    image = ax.imshow(blank, cmap="viridis", vmin=0, vmax=1)
    ax.set(title=name, xlabel="input position", xticks=range(0, 8, 2), yticks=range(8))
axes[0].set_ylabel("output position")
axes[0].figure.colorbar(image, ax=axes, label="share of influence", fraction=0.02)
plotting.show(axes[0], "Four maps of 8 by 8. Feed-forward: the diagonal only. "
              "Convolution: a band three wide. Recurrence: the diagonal and everything "
              "left of it, fading fast. Attention: every cell filled.")

# %% [markdown]
# *Here yellow is a large share, dark blue a small one, and white is exactly zero: that input can't be seen at all. Feed-forward sees itself. The convolution sees a band. The recurrence sees the whole past and nothing of the future, but the past soon gets dark. Attention leaves no white: in one layer, every position can look at every other.*
#
# Why does it get dark? On its way back, the gradient is multiplied at every step by the same matrix $W_h$ and by the slope of the tanh. Many such factors make it vanish, or explode (the numbers are below, under *When you need it*). Gated networks (lesson 03) were invented to remember longer. How far influence reaches in a recurrence, and how far in attention, you'll measure in exercise 0.9.

# %% [markdown]
# ## 0.8 What seeing costs
#
# **The path.** Suppose the first of $n$ tokens has to reach the last. A recurrence needs $n - 1$ steps. A convolution with kernel size $k$ carries it $(k-1)/2$ positions a layer, so it takes $\lceil (n-1) / \frac{k-1}{2} \rceil$ layers. Let's check that: we put a 1 into a row of zeros and count the layers until it arrives. Attention needs one layer, as the gradient shows.

# %%
def layers_needed(n, k):
    signal = torch.zeros(1, 1, n, dtype=torch.float64)  # (B, d, L), as conv1d wants it
    signal[0, 0, 0] = 1.0
    kernel, layers = torch.full((1, 1, k), 1 / k, dtype=torch.float64), 0
    while signal[0, 0, -1] == 0:
        signal, layers = F.conv1d(signal, kernel, padding=(k - 1) // 2), layers + 1
    return layers


print("   n   recurrence   convolution k=3   k=5   attention")
for n in (8, 16, 32, 64):
    counted = [layers_needed(n, k) for k in (3, 5)]
    assert counted == [math.ceil((n - 1) / ((k - 1) / 2)) for k in (3, 5)]
    assert influence(self_attention, n)[-1, 0] > 0
    print(f"{n:4}   {n - 1:10}   {counted[0]:15}   {counted[1]:3}   {1:9}")

# %% [markdown]
# Only the last column doesn't grow. That's one of the arguments of the paper that made attention famous: the shorter the path, the easier it is to learn that two distant words belong together.
#
# **The wait.** Step $i$ of this recurrence can't begin before step $i - 1$ is done, so the steps of a sentence can't be shared out among many cores. In the other three layers all positions are computed at once. (Leave out the tanh, and the recurrence becomes linear; then its steps can be regrouped and run in parallel, by a *scan*. Some recent models do that.)
#
# **The work.** Now count multiplications, in all the matrix products of a layer.

# %%
widgets.predict("0.4", "64 tokens, vectors of size 512. Which layer multiplies least?",
                choices=["attention", "recurrence", "convolution, kernel 3"])

# %% [markdown]
# - Recurrence: two products with a $(d, d)$ matrix for each token, $2nd^2$.
# - Convolution: $k$ of them, $knd^2$.
# - Attention: as you'll build it in lesson 06, it has four such matrices, and it compares all pairs and mixes all pairs, $4nd^2 + 2n^2d$.
#
# PyTorch can count what is really computed; on the device `meta` it does so without computing anything.

# %%
def multiplications(layer, x):
    with FlopCounterMode(display=False) as counter:
        layer(x)
    return counter.get_total_flops() // 2  # it counts a multiplication and an addition


d, n = 512, 64
with torch.device("meta"):
    x, M = torch.zeros(1, n, d), torch.zeros(d, d)  # (B=1, L=n, d), (d, d)
    heads = multi_head.MultiHeadAttention(d, 8, bias=False)
    conv = nn.Conv1d(d, d, 3, padding=1, bias=False)

# %%
counted = {
    "attention": multiplications(lambda x: heads(x, return_weights=True), x),
    # n times one step: x_i @ W_x + h @ W_h
    "recurrence": n * multiplications(lambda x: x[:, 0] @ M + x[:, 1] @ M, x),
    "convolution, kernel 3": multiplications(conv, x.transpose(1, 2)),
}

# %%
assert counted == {"attention": 4 * n * d**2 + 2 * n**2 * d,
                   "recurrence": 2 * n * d**2, "convolution, kernel 3": 3 * n * d**2}
widgets.came_out("0.4", min(counted, key=counted.get))

# %%
print(f"millions, d = {d}")
print("     n   recurrence   convolution   attention   attention / recurrence")
for n in (64, 512, 4096):
    cost = [2 * n * d**2, 3 * n * d**2, 4 * n * d**2 + 2 * n**2 * d]
    millions = "   ".join(f"{c / 1e6:10,.0f}" for c in cost)
    print(f"{n:6}   {millions}   {cost[2] / cost[0]:22.2f}")

# %% [markdown]
# Attention is the most expensive of the three at every length; it costs $(4nd^2 + 2n^2d) / (2nd^2) = 2 + n/d$ times a recurrence. (The paper's table gives orders of growth, $n^2d$ against $nd^2$, and leaves the four matrices out. By these, attention is the cheaper one while $n < d$; count the matrices too, and it isn't.) So attention doesn't save work. What you get for the extra work is the short path, and no position has to wait for another. The $n^2$ will stay with us through the course.
#
# **Do the quiz 0.8 now (5 minutes).** Exercise 0.7 and the experiment 0.9 are for the end of the page.

# %% [markdown]
# ## What goes wrong
#
# **A loss that broadcasts.** A line through the origin is fitted to 20 points with slope 3. The predictions have shape `(20, 1)`; the targets have `(20)` in the first run and `(20, 1)` in the second. Nothing else differs.

# %%
x_line = torch.linspace(-1, 1, 20)[:, None]  # (20, 1)
y_line = 3 * x_line.squeeze(-1)  # (20,)


def fit_slope(targets):
    slope = torch.zeros(1, 1, requires_grad=True)
    for _ in range(100):
        loss = ((x_line @ slope - targets) ** 2).mean()
        (gradient,) = torch.autograd.grad(loss, slope)
        slope = (slope - 0.5 * gradient).detach().requires_grad_()
    return abs(slope.item()), loss.item()  # abs: 0.00, not -0.00


# %%
for name, targets in (("(20)", y_line), ("(20, 1)", y_line[:, None])):
    slope, loss = fit_slope(targets)
    print(f"targets {name:8} slope {slope:.2f}   loss {loss:.2f}")
print(f"variance of the targets {y_line.var(correction=0):.2f}")

# %% [markdown]
# In the first run every prediction is pulled toward *all* targets, that is, toward their mean. The run ends without an error and has learned nothing. How you'd notice: the loss stays at the variance of the targets. How you'd prevent it: compare the two shapes before you subtract.
#
# **A reshape where a transpose was meant.** PyTorch's recurrent layers want `(L, B, d)` unless told otherwise. Let's bring `(B, L, d)` there both ways, and apply a test that finds this mistake in almost any network: *change one sentence; the results of the others must not move.* (Layers that mix sentences on purpose, such as batch normalization, fail it too.)

# %%
torch.manual_seed(2)
layer = nn.RNN(d_model, d_model)  # wants (L, B, d)
x = embedding(ids).detach()  # (B=2, L=5, d=4), the two sentences of 0.3
changed = x.clone()
changed[1] += 1.0  # another second sentence, the same first one
for name, move in (("transpose", lambda t: t.transpose(0, 1)),
                   ("reshape", lambda t: t.reshape(L, B, d_model))):
    before, after = layer(move(x))[0], layer(move(changed))[0]  # (L, B, d) each
    moved = (after[:, 0] - before[:, 0]).abs().max().item()
    print(f"{name:9} the first sentence's states moved by {moved:.2f}")

# %% [markdown]
# After the reshape the sentences are mixed, and every shape is right. Readers have found this mistake in published code; the references name two threads.
#
# **A view is a window, not a copy.** A slice is a view too. If you write into it, you change the original:

# %%
original = torch.arange(6)
window = original[2:4]
window[0] = 99
print(original.tolist())

# %% [markdown]
# ## In practice
#
# - **Which axis comes first?** `nn.RNN`, `nn.GRU` and `nn.MultiheadAttention` take `(L, B, d)` unless you pass `batch_first=True`; `nn.Conv1d` takes `(B, d, L)`. This course writes `(B, L, d)`. Read the page of a layer before you call it for the first time.
# - **Shape comments.** Write the new shape behind every line that changes it, as in `# (B, H, L, d_head)`.
# - **`reshape` or `view`?** Use `view` to split or merge neighbors, `transpose` or `permute` to reorder. If you're about to use `reshape` to make an error go away, draw the boxes first.
# - **Sizes that differ.** Try your code on `B=2, L=5, d=4`, never on `3, 3, 3`: equal sizes hide a swapped axis. The checks do the same.
# - Convolutions and recurrences are still in use, for sound, images and very long sequences. 0.7 and 0.8 show what each of them pays.
#
# **Now do exercises 0.7 and 0.9 (40 minutes).** The last cell of that notebook puts your own answers together: they become the attention of a trained model, on a word of yours.

# %% [markdown]
# ## Recap
#
# What you predicted, and what came out:

# %%
widgets.predictions()

# %% [markdown]
# 1. **Run a lesson, keep a prediction, check an answer, find help.** Top to bottom; keep your guess before you run; read the check's message from the top, take its arguments with `failing_case()`; then hints, lesson, glossary, instructor.
# 2. **From sentences to `(B, L, d_model)`.** Tokens, ids, padding, and a row of the table for each id. A language model is asked at every position for the token that comes next.
# 3. **Moving axes.** Broadcasting lines shapes up from the right; `view` breaks the lines elsewhere; `transpose` and `permute` reorder. A right shape proves nothing: number the boxes, or change one sentence and see what moves.
# 4. **`einsum`.** The same letter ties axes together; a letter missing behind the arrow is summed over.
# 5. **What layers see and cost.** Feed-forward sees itself; a convolution sees a band; a recurrence sees the past, faintly, one step after the other; attention sees everything in one step, and is the most expensive, with a part that grows as $n^2$.
#
# | symbol | meaning | shape |
# |---|---|---|
# | $B$, $L$, $V$ | sentences in a batch, positions, entries of the vocabulary | numbers |
# | $n$ | length of a text, in 0.8 | number |
# | $d_{model}$, or $d$ | size of a token's vector | number |
# | ids | one whole number for each token | $(B, L)$ |
# | $E$ | embedding table | $(V, d_{model})$ |
# | $x$ | a batch of token vectors | $(B, L, d_{model})$ |
# | $H$, $d_{head}$ | number of heads, size of a head; $H \cdot d_{head} = d_{model}$ | numbers |
# | $W_1$, $W_2$ | weights of the feed-forward layer, of width $d_{ff}$ | $(d, d_{ff})$, $(d_{ff}, d)$ |
# | $k$, $W_j$ | kernel size of a convolution, weights of place $j$ in its window | number, $(d, d)$ |
# | $h_i$ | state of a recurrence after position $i$ | $(d)$ |
# | $W_x$, $W_h$ | weights of the recurrence | $(d, d)$ |
# | $a_{ij}$ | weight of position $j$ for position $i$; over $j$ they add up to 1 | $(L, L)$ |

# %% [markdown]
# ## Check yourself
#
# <details><summary>1. An attention table has a row for each of 4 sounds and a column for each of 6 letters. Which of its sums are 1?</summary>
#
# **The four row sums.** Each sound shares out one whole among the letters. (Not the columns: a silent letter may get next to nothing, and a letter may be needed for several sounds. The whole table sums to 4.)
# </details>
#
# <details><summary>2. x has shape (4, 3) and w has shape (4). You want each row of x multiplied by its own number. What happens with x * w, and what would you write?</summary>
#
# **An error: from the right, 3 meets 4.** `x * w[:, None]` has shapes `(4, 3)` and `(4, 1)`. (If x were `(4, 4)`, `x * w` would run and multiply the *columns*: equal sizes hide the mistake.)
# </details>
#
# <details><summary>3. What does einsum("bid,bjd->ij", q, k) compute, and what was probably meant?</summary>
#
# **The products of all pairs, added up over the batch,** because `b` is missing behind the arrow. Probably one table for every sentence was meant. It's no error: any letter may be summed over. (It isn't the mean over the batch either; nothing is divided.)
# </details>
#
# <details><summary>4. A convolution with kernel size 5 should let the first of 41 tokens reach the last. How many layers? And how many steps does a recurrence take?</summary>
#
# **20 layers, 40 steps.** A layer carries 2 positions, and the distance is 40. (41 divided by 5 forgets that only half of the window points one way. 41 steps counts the tokens and not the steps between them.)
# </details>
#
# <details><summary>5. A friend says: "My language model's loss went to zero in one pass over the data." What do you ask first?</summary>
#
# **"Are the targets shifted by one?"** If they equal the inputs, the model only has to copy. The second suspect is a model that sees the future (lesson 05). (Learning the text by heart could bring the loss down too, but hardly in one pass; and a learning rate that is too large makes a loss jump, not vanish.)
# </details>
#
# {{next_steps}}

# %% [markdown]
# ## When you need it
#
# **Your machine.** The course needs no GPU. When you ask for help, send these lines along.

# %% tags=["nbval-ignore-output"]
import os
import platform
from importlib.metadata import version

print("python     ", platform.python_version(), "on", platform.system())
for package in ("torch", "numpy", "matplotlib", "ipywidgets"):
    print(f"{package:11}", version(package))
print("cores      ", os.cpu_count())
apple = "Apple" if torch.backends.mps.is_available() else "none"
cuda = torch.cuda.is_available()
print("GPU        ", torch.cuda.get_device_name() if cuda else apple)

# %% [markdown]
# **The loss of a model that knows nothing.** The loss of a language model is the *cross-entropy*: minus the natural logarithm of the probability that it gave to the right token, averaged over all targets that aren't padding. (`F.cross_entropy` makes the probabilities from scores; the softmax of lesson 02 does that.) A model that knows nothing gives each of the $V$ tokens $1/V$, so its loss is $-\log(1/V) = \log V$. An untrained one should start near that. If it doesn't, look for a mistake.

# %%
torch.manual_seed(1)
# 0.1: small vectors give small scores, so that no token is far ahead by chance
scores = nn.Linear(d_model, V)(0.1 * embedding(ids))  # (B, L, V)
first, following = scores[0, :-1], ids[0, 1:]  # (L-1, V), (L-1,): one sentence
print(f"loss {F.cross_entropy(first, following):.2f}   log V = {math.log(V):.2f}")

# %% [markdown]
# **`contiguous`.** A tensor is *contiguous* if reading its rows one after the other reads the memory in order. After a transpose that's no longer so, and a `view` that would merge such axes is impossible. `contiguous()` copies the numbers into new memory in the new order; `reshape` does that by itself where it must. Prefer `view` where you believe that nothing has to be copied: it tells you when you're wrong.

# %%
turned = torch.tensor([[1, 2, 3], [4, 5, 6]]).transpose(0, 1)  # (3, 2)
try:
    turned.view(6)
except RuntimeError:
    print("view: impossible without a copy")
print("contiguous, then view:", turned.contiguous().view(6).tolist())
assert torch.equal(turned.contiguous().view(6), turned.reshape(6))

# %% [markdown]
# **Vanish or explode.** In 0.7 the gradient was multiplied at every step by $W_h$ and by the slope of the tanh, which is at most 1. What do many multiplications by $W_h$ do? That depends on its *spectral radius*, the largest absolute value among its eigenvalues: in the long run, each multiplication stretches by that factor. Here are five random matrices, each scaled to three radii, and what is left of the first token's gradient after 32 steps.

# %%
def left_after(steps, radius, activation, seed):
    rng = torch.Generator().manual_seed(seed)
    W_x, W_h = torch.randn(2, 4, 4, generator=rng, dtype=torch.float64)  # (d, d) each
    W_h = W_h * radius / torch.linalg.eigvals(W_h).abs().max()
    x = torch.randn(steps + 1, 4, generator=rng, dtype=torch.float64).requires_grad_()
    h = torch.zeros(4, dtype=torch.float64)
    for token in x:
        h = activation(token @ W_x / 4 + h @ W_h)  # (d,)
    (gradient,) = torch.autograd.grad(h.sum(), x)  # (steps + 1, d)
    return gradient[0].norm().item()


# %%
print("left after 32 steps, smallest to largest of five matrices")
print("radius    without tanh       with tanh")
for radius in (0.5, 1.0, 2.0):
    columns = [sorted(left_after(32, radius, f, seed) for seed in range(5))
               for f in (lambda z: z, torch.tanh)]
    print(f"{radius:6}", *(f"{c[0]:8.0e} to {c[-1]:.0e}" for c in columns))
print(f"radius of W_h in 0.7: {torch.linalg.eigvals(W_h).abs().max():.2f}")

# %% [markdown]
# Without the tanh a radius of 0.5 makes the gradient *vanish*, and a radius of 2 makes it *explode*. The tanh makes it smaller still: in every row the right range lies below the left one. So a radius over 1 is not enough to keep the past visible.

# %% [markdown]
# **Dilated convolution.** A window may have gaps: let its places lie 1, $k$, $k^2$, ... positions apart in successive layers, and $m$ layers reach $(k^m - 1)/2$ positions to each side. The number of layers then grows only with the logarithm of $n$.

# %%
for n in (8, 64, 512, 4096):
    layers = next(m for m in range(99) if (3**m - 1) // 2 >= n - 1)
    print(f"n = {n:4}: {layers} dilated layers with kernel 3, {n - 1} ordinary ones")

# %% [markdown]
# ## References
#
# - Vaswani et al., *Attention Is All You Need*, 2017, section 4 and table 1: cost, sequential steps and path length of attention, recurrence and convolution, the argument of 0.8 in the authors' words.
# - Elman, *Finding Structure in Time*, 1990: the kind of recurrence in 0.7, and what it learned about words without being told.
# - Bengio, Simard, Frasconi, *Learning Long-Term Dependencies with Gradient Descent is Difficult*, 1994; Pascanu, Mikolov, Bengio, *On the Difficulty of Training Recurrent Neural Networks*, 2013, section 2: why gradients vanish and explode, with the role of the spectral radius.
# - Martin, Cundy, *Parallelizing Linear Recurrent Neural Nets Over Sequence Length*, 2018: the scan of 0.8.
# - van den Oord et al., *WaveNet: A Generative Model for Raw Audio*, 2016, section 2.1: dilated convolutions, with a picture of how far they see.
# - GitHub, galsang/BiDAF-pytorch issue 17 and timbmg/Sentence-VAE issue 15: two readers find a `view` where a transpose was probably meant, in code that runs.
# - PyTorch documentation, *Broadcasting semantics* and *Tensor Views*: the rules of 0.4 and 0.5 in full.
