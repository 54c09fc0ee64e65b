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
# At the end you can work with this course, turn sentences into a tensor of shape `(B, L, d_model)`, move its axes without scrambling it, and say what networks before attention could not see.
#
# {{colab_link}} · about 60 minutes · builds on nothing

# %% tags=["setup"]
import math
import os
import platform
from importlib.metadata import version

import torch
import torch.nn.functional as F
from torch import nn

from course_utils import attention, diagrams, plotting, similarity, widgets
from course_utils.checks import NotYet, check

torch.set_printoptions(precision=2, sci_mode=False)

# %% [markdown]
# **You will learn to**
#
# 1. run a lesson, predict before you run, check an answer and find help;
# 2. turn sentences into a tensor `(B, L, d_model)`, and into inputs and targets for next-token prediction;
# 3. predict what broadcasting, `view`, `transpose` and `permute` do, and notice when content is scrambled;
# 4. read and write `einsum`;
# 5. say what a feed-forward layer, a convolution and a recurrence can see, and in how many steps.
#
# Attention itself appears only at the end of this lesson. Before that comes the ground it stands on: every later lesson uses these shapes and these moves.

# %% [markdown]
# ## Predict first
#
# Six numbers in two rows:
#
# $$x = \begin{pmatrix} 1 & 2 & 3 \\ 4 & 5 & 6 \end{pmatrix}$$
#
# Two commands turn the shape `(2, 3)` into `(3, 2)`: `x.reshape(3, 2)` and `x.transpose(0, 1)`. Are the two results equal? Write both down, three rows of two numbers each, before you run the
# next cell.

# %%
x = torch.tensor([[1, 2, 3], [4, 5, 6]])  # (2, 3)
rows = torch.tensor([[0, 0, 0], [1, 1, 1]])  # which row each number comes from
axes = plotting.new_axes(7.5, 2.4, columns=3)
plotting.number_grid(x, shades=rows, ax=axes[0], title="x  (2, 3)")
plotting.number_grid(x.reshape(3, 2), shades=rows.reshape(3, 2), ax=axes[1], title="x.reshape(3, 2)")
plotting.number_grid(x.transpose(0, 1), shades=rows.transpose(0, 1), ax=axes[2], title="x.transpose(0, 1)")
plotting.show(axes[0], "Three grids. x has rows 1 2 3 and 4 5 6. Reshaped: rows 1 2, 3 4, 5 6. Transposed: rows 1 4, 2 5, 3 6.")

# %% [markdown]
# *Notice the colors, one for each row of $x$. The transpose turns rows into columns. The reshape reads the numbers in order and breaks the lines elsewhere: its second row mixes both colors.*
#
# Same shape, other content, and no error. This silent mistake stands in published code too (the references name two cases). By the end of the lesson you will see it coming.

# %% [markdown]
# ## 0.1 How this course works
#
# **Run.** A notebook is a list of cells. `Shift+Enter` runs one and moves on. Run them from top to bottom: later cells use what earlier ones define. When things get confused, choose *Restart kernel and run
# all cells* in the menu; every lesson then gives the same numbers again, because everything random has a seed.
#
# **Predict.** Where a lesson says *predict first*, write your guess down before you run the cell. A wrong guess is worth more than none: it shows you what to look at.
#
# **Check.** Each lesson comes with its own {{exercises_link}}, in a notebook of the same name. You write a function and hand it to `check`. A wrong answer raises an error that you can read. The next
# cell plays a student who answers exercise 0.1, *divide each number by the sum of its row*, and forgets the word "row".

# %%
def shares_wrong(x):
    return x / x.sum()


try:
    check("0.1", shares_wrong)
except NotYet as message:
    print(message)

# %% [markdown]
# Read it from the top: the points, the first number that differs with both values, the arguments that show it, what the answer looks like, what to try. In your own notebook the same text appears as the cell's error. Now an answer that is
# right. It uses a loop; any right way counts, unless the exercise rules a function out:

# %%
def shares_loop(x):
    return torch.stack([row / row.sum() for row in x])


check("0.1", shares_loop)

# %% [markdown]
# **Where to get help.** In this order: the message of the check; the hints folded under each check, from a nudge to pseudocode; the section of the lesson; the glossary, `docs/glossary.md`, for a word that you
# have forgotten; your instructor, with the message of the check copied into your question. You may try as often as you like.

# %% [markdown]
# **How to read the pictures.** A picture of a *mechanism* is drawn from the tensors and the models that the page runs, always in the same way. A tensor is a card of cells; the same color is the same thing in every lesson. You need not learn this legend: come back to it when a color puzzles you.

# %%
plotting.show(diagrams.legend())

# %% [markdown]
# ## 0.2 Your machine
#
# What runs underneath. The course needs no GPU; when you ask for help, send these lines along.

# %% tags=["nbval-ignore-output"]
print("python     ", platform.python_version(), "on", platform.system())
for package in ("torch", "numpy", "matplotlib", "ipywidgets"):
    print(f"{package:11}", version(package))
print("cores      ", os.cpu_count())
gpu = torch.cuda.get_device_name() if torch.cuda.is_available() else "Apple" if torch.backends.mps.is_available() else "none"
print("GPU        ", gpu)

# %% [markdown]
# ## 0.3 From text to a tensor `(B, L, d_model)`
#
# A network computes with numbers, so text goes through four steps. We take two short sentences and watch.
#
# **Step 1, tokens.** A text is cut into pieces, the *tokens*: words here, characters or parts of words in other lessons.

# %%
sentences = ["the cat saw the dog", "birds sing"]
tokens = [sentence.split() for sentence in sentences]
print(tokens)

# %% [markdown]
# **Step 2, ids.** Every different token gets a number, its *id*, the place where it stands in the *vocabulary*. One extra entry, `<pad>`, is kept for what comes next.

# %%
vocabulary = ["<pad>", *sorted({token for sentence in tokens for token in sentence})]
ids_of = [[vocabulary.index(token) for token in sentence] for sentence in tokens]
print(vocabulary)
print(ids_of)

# %% [markdown]
# **Step 3, padding.** A tensor has no rows of unequal length. So the shorter sentence is filled up with the id of `<pad>` until it is as long as the longer one. The batch is now one tensor of whole
# numbers: $B$ sentences, $L$ positions each.

# %%
L = max(len(row) for row in ids_of)
ids = torch.tensor([row + [0] * (L - len(row)) for row in ids_of])  # (B, L)
B, V = len(ids), len(vocabulary)
print("B =", B, "  L =", L, "  V =", V)
print(ids)

# %% [markdown]
# **Step 4, embedding.** An id is a name, not a quantity: token 4 is not twice token 2. So each id picks a row of a table with $V$ rows and $d_{model}$ columns. The table starts out random and is learned
# like any other weight. PyTorch calls it `nn.Embedding`; it is a lookup, nothing more:
#
# $$x_{b,i} = E_{\,\mathrm{ids}_{b,i}} , \qquad E \text{ of shape } (V, d_{model}), \qquad x \text{ of shape } (B, L, d_{model}).$$

# %%
d_model = 4
torch.manual_seed(0)
embedding = nn.Embedding(V, d_model)  # its table: (V, d_model)
table = embedding.weight.detach()  # (V, d_model)

x_loop = torch.zeros(B, L, d_model)
for b in range(B):
    for i in range(L):
        x_loop[b, i] = table[ids[b, i]]

x = table[ids]  # (B, L, d_model): all lookups at once
assert torch.equal(x, x_loop) and torch.equal(x, embedding(ids))
print("loop, indexing and nn.Embedding agree; shape", tuple(x.shape))

# %%
rounded = (x * 10).round() / 10  # one decimal, to fit into the boxes
ax = plotting.number_grid(rounded, shades=(V - 1 - ids)[:, :, None].expand(B, L, d_model), ax=plotting.new_axes(6.6, 3.2))
ax.set_title("x (2, 5, 4): a block for each sentence, a row for each token")
plotting.show(ax, "Two blocks of five rows and four columns. In the first, rows 1 and 4 hold the same numbers; in the second, the last three rows do.")

# %% [markdown]
# *On the left, from the top: the, cat, saw, the, dog. Notice the rows of equal color: "the" stands in the sentence twice and has the same four numbers both times. The three rows of `<pad>` below "birds sing" are numbers as well. A
# network would compute with them if nobody told it not to; lesson 05 shows how to tell it.*
#
# **This shape is the language of the course.** Read `(B, L, d_model)` as *which sentence, which position, which feature*:

# %%
print("x         ", tuple(x.shape), "  the batch")
print("x[0]      ", tuple(x[0].shape), "     the first sentence")
print("x[0, 2]   ", tuple(x[0, 2].shape), "       the vector of its third token,", repr(tokens[0][2]))
print("x[:, 0]   ", tuple(x[:, 0].shape), "     the first token of every sentence")

# %% [markdown]
# ## 0.4 A prediction at every position
#
# A *language model* reads tokens and predicts the next one. **Predict first:** from a sentence of five tokens, how many training examples does it get?

# %%
inputs, targets = ids[:, :-1], ids[:, 1:]  # (B, L-1), (B, L-1)
for i in range(L - 1):
    seen = " ".join(vocabulary[t] for t in inputs[0, : i + 1])
    print(f"position {i}: input {vocabulary[inputs[0, i]]:4} target {vocabulary[targets[0, i]]:4}   it may use: {seen}")

# %% [markdown]
# Four, one at every position but the last, and all of them come from one pass. Inputs and targets are the same ids, shifted by one: the inputs lack the last token, the targets the first. If the shift is
# forgotten, the target of a token is the token itself, and the model learns to copy.
#
# A model hands back a score for every entry of the vocabulary, at every position: shape `(B, L-1, V)`. The smallest one that does so is a linear layer. The loss is the *cross-entropy*: minus the natural
# logarithm of the probability of the right token, averaged over all targets. (`F.cross_entropy` makes the probabilities from the scores; lesson 01 shows how.) Targets that are padding do not count. A model that knows nothing gives each of the $V$ tokens the probability $1/V$, and its loss is
# $-\log(1/V) = \log V$. An untrained one should come near that:

# %%
torch.manual_seed(1)
to_scores = nn.Linear(d_model, V)
scores = to_scores(0.1 * embedding(inputs))  # (B, L-1, V); small inputs, so that no token is favored much
loss = F.cross_entropy(scores.reshape(-1, V), targets.reshape(-1), ignore_index=0)  # (B*(L-1), V), (B*(L-1),)
print("scores", tuple(scores.shape), f"  loss {loss:.2f}   log V = {math.log(V):.2f}")

# %% [markdown]
# This model predicts from the present token alone. After "the" comes "cat" once and "dog" once: no vector of "the" can tell which. The model would have to *look at other positions*. How networks do that
# is the question of this course, and sections 0.9 to 0.12 show the first answers. First the tools.

# %% [markdown]
# ## 0.5 Broadcasting
#
# Two tensors of unequal shape can be added, multiplied, divided, if their shapes fit. PyTorch lines the shapes up **from the right**; two sizes fit if they are equal, or if one is 1 or missing. An axis of size 1 is
# used again and again:
#
#     column   (3, 1)
#     row         (4)
#     result   (3, 4)
#
# By hand: the column 0, 10, 20 plus the row 1, 2, 3, 4 gives in the second row the numbers 11, 12, 13, 14.

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
# Often an axis must be put back first. A sum over the last axis takes that axis away; `keepdim=True` keeps it, with size 1, so that it lines up again:

# %%
numbers = torch.tensor([[1.0, 3.0], [2.0, 2.0], [1.0, 9.0]])  # (3, 2)
totals = numbers.sum(dim=-1, keepdim=True)  # (3, 1)
print("shapes ", tuple(numbers.shape), tuple(numbers.sum(dim=-1).shape), tuple(totals.shape))
print(numbers / totals)  # (3, 2) / (3, 1): every row divided by its own sum
assert torch.equal(numbers / totals, shares_loop(numbers))

# %% [markdown]
# **The mistake it invites.** A model predicts three numbers, shape `(3, 1)`; the targets have shape `(3)`. Every prediction is exactly right. **Predict first:** what is the mean squared error?

# %%
predictions = torch.tensor([[1.0], [2.0], [3.0]])  # (3, 1)
goals = torch.tensor([1.0, 2.0, 3.0])  # (3,)
difference = predictions - goals
print(difference)
print(f"shape {tuple(difference.shape)}, mean squared error {(difference**2).mean():.2f}")
print(f"shapes made equal: mean squared error {((predictions.squeeze(-1) - goals) ** 2).mean():.2f}")

# %% [markdown]
# A matrix: every prediction minus every target, and no warning, since by the rule `(3, 1)` and `(3)` fit. Print the shapes of what you subtract.

# %% [markdown]
# ## 0.6 `view`, `transpose`, `permute`
#
# A tensor is two things: a row of numbers in memory, and a rule that says which of them stands at which index. The rule is the *stride*: how many numbers to jump for one step along each axis.

# %%
x = torch.tensor([[1, 2, 3], [4, 5, 6]])  # (2, 3), in memory 1 2 3 4 5 6
for name, tensor in (("x", x), ("x.view(3, 2)", x.view(3, 2)), ("x.transpose(0, 1)", x.transpose(0, 1))):
    same_memory = tensor.data_ptr() == x.data_ptr()
    print(f"{name:18} shape {tuple(tensor.shape)}  stride {tensor.stride()}  same memory {same_memory}  contiguous {tensor.is_contiguous()}")

# %% [markdown]
# None of these moved a number. They differ in the rule:
#
# - `view(...)` keeps the order in memory and **breaks the lines elsewhere**. It can split an axis into neighbors or merge neighbors. It cannot swap.
# - `transpose(a, b)` **swaps two axes** by swapping their strides.
# - `permute(...)` puts **all axes in a new order**: entry $i$ of its arguments says which old axis comes to place $i$.
# - `reshape(...)` is `view` where that is possible, and a copy first where it is not.
#
# Entry by entry, for three axes:

# %%
cube = torch.arange(24).view(2, 3, 4)  # (B=2, L=3, d=4)
swapped = cube.transpose(1, 2)  # (2, 4, 3)
turned = cube.permute(2, 0, 1)  # (4, 2, 3)
for b in range(2):
    for i in range(3):
        for e in range(4):
            assert cube[b, i, e] == swapped[b, e, i] == turned[e, b, i]
            assert cube[b, i, e] == cube.view(-1)[12 * b + 4 * i + e]  # the strides are 12, 4, 1
print(tuple(cube.shape), tuple(swapped.shape), tuple(turned.shape), "- entry by entry as expected")

# %% [markdown]
# **The mistake it invites.** PyTorch's convolution wants `(B, d, L)` and we have `(B, L, d)`. Both lines below give the right shape. The colors say which position a number comes from.

# %%
batch = torch.arange(16).view(2, 2, 4)  # (B=2, L=2, d=4)
position = torch.tensor([[0], [1]]).expand(2, 2, 4)  # which position of its sentence; shape as batch
axes = plotting.new_axes(9.0, 2.4, columns=3)
for ax, title, move in (
    (axes[0], "batch (B=2, L=2, d=4)", lambda t: t),
    (axes[1], "batch.transpose(1, 2): right", lambda t: t.transpose(1, 2)),
    (axes[2], "batch.reshape(2, 4, 2): scrambled", lambda t: t.reshape(2, 4, 2)),
):
    plotting.number_grid(move(batch), shades=move(position), ax=ax, title=title)
plotting.show(axes[0], "Three pairs of grids. After the transpose each column has one color, a position; after the reshape the upper rows have one color and the lower rows the other.")

# %% [markdown]
# *Notice the columns. In `(B, d, L)` a column should be one position, so one color, as in the middle. On the right each column holds both positions: a reshape has mixed them.*
#
# **`contiguous`.** A tensor is *contiguous* if reading its rows one after the other reads the memory in order. After a transpose this no longer holds. A `view` that would merge such axes is impossible, and PyTorch says so:

# %%
moved = x.transpose(0, 1)  # (3, 2), in memory still 1 2 3 4 5 6
try:
    moved.view(6)
except RuntimeError as problem:
    print("view:", problem)
print("contiguous, then view:", moved.contiguous().view(6))
print("reshape              :", moved.reshape(6))
assert torch.equal(moved.contiguous().view(6), moved.reshape(6))

# %% [markdown]
# `contiguous()` writes the numbers into new memory in the new order; `reshape` does that on its own where it must. Prefer `view` where you believe that nothing has to be copied: it tells you when you are wrong.

# %% [markdown]
# ## 0.7 Splitting `d_model` into heads
#
# From lesson 06 on, the vector of each token is cut into $H$ equal parts, the *heads*, of $d_{head} = d_{model} / H$ numbers. The shape wanted is `(B, H, L, d_head)`: each head sees all positions, and a part of each vector. As a loop:
#
# $$y_{b,h,i,e} = x_{b,\,i,\;h \cdot d_{head} + e} ,$$
#
# where $b$ counts the sentences, $h$ the heads, $i$ the positions and $e$ the places inside a head.

# %%
x = torch.tensor([[[10, 11, 12, 13], [20, 21, 22, 23], [30, 31, 32, 33]]])  # (B=1, L=3, d_model=4)
H, d_head = 2, 2

y_loop = torch.zeros(1, H, 3, d_head, dtype=torch.long)
for h in range(H):
    for i in range(3):
        for e in range(d_head):
            y_loop[0, h, i, e] = x[0, i, h * d_head + e]

right = x.view(1, 3, H, d_head).transpose(1, 2)  # (B, L, H, d_head) -> (B, H, L, d_head)
wrong = x.view(1, H, 3, d_head)  # (B, H, L, d_head) at once
assert torch.equal(right, y_loop) and right.shape == wrong.shape
print("same shape", tuple(right.shape), "- same content:", torch.equal(right, wrong))

# %%
token = torch.tensor([[0], [1], [2]]).expand(3, 4)  # which token each number belongs to
axes = plotting.new_axes(9.0, 2.4, columns=3)
plotting.number_grid(x[0], shades=token, ax=axes[0], title="x: a row for each token")
plotting.number_grid(right[0], shades=token.view(3, H, d_head).transpose(0, 1), ax=axes[1], title="view, then transpose: right")
plotting.number_grid(wrong[0], shades=token.reshape(H, 3, d_head), ax=axes[2], title="view at once: scrambled")
plotting.show(axes[0], "Right: each of the two heads has one row of each of the three tokens. Scrambled: the first head holds token one twice and half of token two.")

# %% [markdown]
# *Notice the rows. After the right split (middle), row $i$ of every head belongs to token $i$: three rows, three colors. In the scrambled version the first head has two rows of the first token and one of the second, and never sees the third.*
#
# A `view` may split the last axis, since the parts are neighbors in memory. It must not carry that split past the axis of positions. That takes the transpose. And the way back is the same in reverse, transpose first:

# %%
back = right.transpose(1, 2).reshape(1, 3, 4)  # (B, H, L, d_head) -> (B, L, H, d_head) -> (B, L, d_model)
assert torch.equal(back, x)
print("split and merged again: equal to x")

# %% [markdown]
# ## 0.8 `einsum` in ten lines
#
# `torch.einsum` says a sum of products in letters. Give each axis of each operand a letter; write behind the arrow the letters that the result keeps. A letter that stands in two operands ties their axes together.
# A letter that is missing behind the arrow is summed over. `"id,jd->ij"` reads: *for every i and j, sum over d*.
#
# $$S_{ij} = \sum_{d} X_{id} Y_{jd}$$

# %%
X = torch.tensor([[1.0, 2.0, 0.0], [0.0, 1.0, 3.0]])  # (2, 3)
Y = torch.tensor([[1.0, 0.0, 1.0], [2.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 1.0, 1.0]])  # (4, 3)

S_loop = torch.zeros(2, 4)
for i in range(2):
    for j in range(4):
        for d in range(3):
            S_loop[i, j] += X[i, d] * Y[j, d]

S = torch.einsum("id,jd->ij", X, Y)  # (2, 4)
assert torch.equal(S, S_loop) and torch.equal(S, X @ Y.T) and torch.equal(S, similarity.similarity_matrix(X, Y))
print(S)  # by hand, entry [0, 1]: 1*2 + 2*1 + 0*0 = 4

# %% [markdown]
# Ten patterns to know, each held to another way of writing it:

# %%
v, w = X[0], X[1]  # (3,), (3,)
batch_x, batch_y, M = torch.stack([X, X + 1]), torch.stack([Y, Y - 1]), Y[:3]  # (2, 2, 3), (2, 4, 3), (3, 3)
for pattern, operands, same in (
    ("id->di", (X,), X.T),
    ("id->", (X,), X.sum()),
    ("id->i", (X,), X.sum(dim=1)),
    ("d,d->", (v, w), v.dot(w)),
    ("i,j->ij", (v, w), v[:, None] * w[None, :]),
    ("id,d->i", (X, v), X @ v),
    ("id,jd->ij", (X, Y), X @ Y.T),
    ("id,de->ie", (X, M), X @ M),
    ("bid,de->bie", (batch_x, M), batch_x @ M),
    ("bid,bjd->bij", (batch_x, batch_y), batch_x @ batch_y.transpose(1, 2)),
):
    result = torch.einsum(pattern, *operands)
    assert torch.equal(result, same)
    print(f"{pattern:14} {' and '.join(str(tuple(t.shape)) for t in operands):24} -> {tuple(result.shape)}")

# %% [markdown]
# **The mistake it invites.** Two letters for one axis. `"id,je->ij"` runs, and has the right shape. Since `d` and `e` are no longer tied, each row is summed on its own:

# %%
print("id,jd->ij", torch.einsum("id,jd->ij", X, Y)[0])
print("id,je->ij", torch.einsum("id,je->ij", X, Y)[0])
assert torch.equal(torch.einsum("id,je->ij", X, Y), X.sum(1)[:, None] * Y.sum(1)[None, :])

# %% [markdown]
# ## 0.9 Before attention: the feed-forward layer
#
# Now to the question of section 0.4: how can one position use another? Three kinds of layer were in use before attention. All of them map `(B, L, d)` to `(B, L, d)`. For each we ask: **on which input positions does an output position depend?**
#
# A gradient answers. If $\partial\, y_i / \partial x_j$ is zero for every input, position $i$ cannot see position $j$. The function below takes one random input, measures for all pairs the size of the gradient (of the sum of the $d$ numbers in $y_i$), and
# divides each row by its sum.

# %%
def influence(layer, length, d=4):
    """Share of every input position in every output position, (length, length), measured by gradients."""
    rng = torch.Generator().manual_seed(0)
    x = torch.randn(1, length, d, generator=rng).requires_grad_()  # (1, L, d)
    y = layer(x)  # (1, L, d)
    rows = []
    for i in range(length):
        (gradient,) = torch.autograd.grad(y[0, i].sum(), x, retain_graph=True)  # (1, L, d)
        rows.append(gradient[0].norm(dim=-1))  # (L,)
    sizes = torch.stack(rows)  # (L, L)
    return sizes / sizes.sum(dim=-1, keepdim=True)


def draw(shares, ax=None, title=""):
    ax = plotting.attention_heatmap(shares, ax=ax, title=title, quantity="share of influence")
    ax.set(xlabel="input position", ylabel="output position")
    return ax


# %% [markdown]
# **Feed-forward.** Two linear maps with a ReLU between them, applied to each position alone:
#
# $$y_i = W_2^\top \max(0,\; W_1^\top x_i + b_1) + b_2 , \qquad W_1 \text{ of shape } (d, d_{ff}), \quad W_2 \text{ of shape } (d_{ff}, d).$$
#
# $d_{ff}$ is the width in between; $b_1$ has the shape $(d_{ff})$, $b_2$ the shape $(d)$. A vector such as $x_i$ is a column in a formula and a row of a tensor in code, so $W^\top x_i$ is written `x @ W`.

# %%
rng = torch.Generator().manual_seed(1)
W_1, b_1 = torch.randn(4, 16, generator=rng), torch.randn(16, generator=rng)  # (d, d_ff), (d_ff,)
W_2, b_2 = torch.randn(16, 4, generator=rng), torch.randn(4, generator=rng)  # (d_ff, d), (d,)


def feed_forward(x):  # (B, L, d)
    hidden = torch.relu(x @ W_1 + b_1)  # (B, L, d_ff)
    return hidden @ W_2 + b_2  # (B, L, d)


x = torch.randn(2, 5, 4, generator=rng)  # (B=2, L=5, d=4)
one_by_one = torch.stack([feed_forward(x[:, i]) for i in range(5)], dim=1)  # (B, L, d)
by_pytorch = F.linear(F.linear(x, W_1.T, b_1).relu(), W_2.T, b_2)  # (B, L, d)
assert torch.allclose(feed_forward(x), one_by_one, atol=1e-5) and torch.allclose(feed_forward(x), by_pytorch, atol=1e-5)
print("all at once, position by position, and PyTorch's F.linear agree")

# %% [markdown]
# **Predict first:** what will the picture of its influence look like?

# %%
ax = draw(influence(feed_forward, 8), title="feed-forward")
plotting.show(ax, "An eight by eight heatmap: 1 on the diagonal, 0 everywhere else.")

# %% [markdown]
# *Notice the diagonal: each position sees itself and nothing else, however wide the layer. All positions can be computed at the same time, but no position ever learns of another.* A Transformer still has such a
# layer in every block, after the attention; lesson 09 builds it.

# %% [markdown]
# ## 0.10 Before attention: convolution
#
# Each position sees a window of $k$ positions around it ($k$ odd, the *kernel size*), and every place $j$ in the window has its own weights $W_j$ of shape $(d, d)$. At the ends the window is filled with zeros:
#
# $$y_i = \sum_{j=0}^{k-1} W_j^\top\, x_{\,i + j - (k-1)/2} .$$

# %%
W = torch.randn(3, 4, 4, generator=rng) / 2  # (k=3, d, d)


def convolution(x):  # (B, L, d)
    reach = (len(W) - 1) // 2  # positions to either side
    padded = F.pad(x, (0, 0, reach, reach))  # (B, L + 2 * reach, d)
    return sum(padded[:, j : j + x.shape[1]] @ W[j] for j in range(len(W)))  # (B, L, d)


by_pytorch = F.conv1d(x.transpose(1, 2), W.permute(2, 1, 0), padding=1).transpose(1, 2)  # (B, d, L) inside
assert torch.allclose(convolution(x), by_pytorch, atol=1e-5)
print("ours and PyTorch's conv1d agree, shape", tuple(by_pytorch.shape))

# %% [markdown]
# Several layers are put on top of each other, with a nonlinearity between them. What a position of the last layer can see of the input is its *receptive field*. **Predict first:** one layer sees 3 positions. How many do two layers see, and three?

# %%
def convolutions(layers):
    def network(x):
        for _ in range(layers):
            x = torch.tanh(convolution(x))
        return x

    return network


axes = plotting.new_axes(12.5, 3.6, columns=3)
for layers, ax in zip((1, 2, 3), axes, strict=True):
    shares = influence(convolutions(layers), 8)
    draw(shares, ax, f"{layers} convolution{'s' if layers > 1 else ''}, kernel 3")
    print(f"layers: {layers}   position 3 sees {(shares[3] > 0).sum()} positions, from {(shares[3] > 0).nonzero().min()} to {(shares[3] > 0).nonzero().max()}")
plotting.show(axes[0], "Three heatmaps: a band along the diagonal that is one, two and three positions wide to either side.")

# %% [markdown]
# *Notice the band: it grows by one position to either side with every layer, until the ends of the text cut it off. (A share below 0.005 is written 0.00; the printed lines count it.) Distant words meet only after many layers.*

# %% [markdown]
# ## 0.11 Before attention: recurrence
#
# A recurrence reads from left to right and carries a *state* $h_i$ of shape $(d)$ along. Each step mixes the new token into the state:
#
# $$h_i = \tanh(W_x^\top x_i + W_h^\top h_{i-1}) , \qquad h_{-1} = 0 , \qquad W_x, W_h \text{ of shape } (d, d).$$

# %%
W_x = 0.25 * torch.randn(4, 4, generator=rng)  # (d, d)
W_h = 0.70 * torch.randn(4, 4, generator=rng)  # (d, d)


def recurrence(x):  # (B, L, d)
    h = torch.zeros(x.shape[0], 4)  # (B, d)
    states = []
    for i in range(x.shape[1]):
        h = torch.tanh(x[:, i] @ W_x + h @ W_h)  # (B, d)
        states.append(h)
    return torch.stack(states, dim=1)  # (B, L, d)


rnn = nn.RNN(4, 4, bias=False, batch_first=True)
rnn.load_state_dict({"weight_ih_l0": W_x.T, "weight_hh_l0": W_h.T})
assert torch.allclose(recurrence(x), rnn(x)[0], atol=1e-6)
print("ours and PyTorch's nn.RNN agree, shape", tuple(recurrence(x).shape))

# %%
ax = draw(influence(recurrence, 8), title="recurrence")
plotting.show(ax, "An eight by eight heatmap, zero above the diagonal. In the lower rows the last three positions hold most of the influence and the first ones little.")

# %% [markdown]
# *Notice the triangle: a state sees the whole past and nothing of the future. In the lower rows the last few tokens hold most of the influence: what was read long ago has passed through many steps.* With these weights, how much is left
# of the first token after more and more steps?

# %%
shares = influence(recurrence, 33)  # (33, 33)
for i in (0, 1, 2, 4, 8, 16, 32):
    print(f"state {i:2}: share of the first token {100 * shares[i, 0]:7.3f} %")

# %% [markdown]
# Every step multiplies the gradient by the same matrix $W_h$ and by the slope of the tanh, which is at most 1. After 32 of them next to nothing is left. Other weights forget more slowly, and gated networks (lesson 03) were
# invented to remember longer, but the number of steps stays the same. And there is a second price: step $i$ cannot begin before step $i-1$ is done, so the steps of one sentence cannot be shared out among many cores.

# %% [markdown]
# ## 0.12 Paths and steps
#
# Take two tokens at distance $n - 1$, the first and the last of $n$. How many layers or steps must information pass through to get from one to the other?
#
# - **Convolution.** A layer with odd kernel size $k$ carries it $(k-1)/2$ positions. So at least $\lceil (n-1) / \frac{k-1}{2} \rceil$ layers are needed.
# - **Dilated convolution**, in which the places of the window lie 1, $k$, $k^2$ ... positions apart in successive layers. After $m$ layers information has gone up to $(k^m - 1)/2$ positions: far fewer layers are needed.
# - **Recurrence.** One step for each position: $n - 1$.
#
# So far the derivation. The next cell measures: it puts a 1 into a long row of zeros and counts the layers until something arrives $n - 1$ positions further.

# %%
def layers_needed(n, k, dilated=False):
    start, kernel = k * n, torch.full((1, 1, k), 1 / k, dtype=torch.float64)  # room to either side
    signal = torch.zeros(1, 1, 2 * start + n, dtype=torch.float64)
    signal[0, 0, start] = 1.0
    layers = 0
    while signal[0, 0, start + n - 1] == 0:
        gap = k**layers if dilated else 1
        signal = F.conv1d(signal, kernel, padding=gap * (k - 1) // 2, dilation=gap)  # same shape
        layers += 1
    return layers


for n in (8, 32, 64):
    for k in (3, 5):
        assert layers_needed(n, k) == math.ceil((n - 1) / ((k - 1) / 2))
        assert k ** (layers_needed(n, k, dilated=True) - 1) < 2 * (n - 1) + 1 <= k ** layers_needed(n, k, dilated=True)
print("measured and derived agree; kernel 3, n = 64:", layers_needed(64, 3), "layers")

# %% [markdown]
# **And attention?** It lets every position look at every other at once. Here is its picture, with the library's function; how it works is the matter of lessons 01 to 04. The function takes three inputs, and here all three are the same token vectors:

# %%
def self_attention(x):  # (B, L, d)
    return attention.scaled_dot_product_attention(x, x, x)[0]  # (B, L, d)


shares = influence(self_attention, 8)  # (8, 8)
print(f"smallest share {shares.min():.4f}")
ax = draw(shares, title="attention, one layer")
plotting.show(ax, "An eight by eight heatmap in which no entry is zero; the shares are uneven and follow no band or triangle.")

# %% [markdown]
# *Notice that no entry is exactly zero, as the smallest share proves, and that the shares follow no band and no triangle: a large share may lie far away, as that of input 7 in output 3. (The diagonal is strong because here each vector is compared with itself, too.)* Now all of them in one table. The steps of the
# recurrence are counted while the code runs. For attention, the gradient proves that after one layer the last position sees the first.

# %%
def recurrence_steps(n):
    x = torch.randn(1, n, 4, generator=torch.Generator().manual_seed(0)).requires_grad_()  # (1, n, d)
    h, steps = torch.tanh(x[:, 0] @ W_x), 0  # the state after the first token
    for i in range(1, n):
        h, steps = torch.tanh(x[:, i] @ W_x + h @ W_h), steps + 1
    (gradient,) = torch.autograd.grad(h.sum(), x)  # (1, n, d)
    assert gradient[0, 0].abs().sum() > 0
    return steps


print("   n   conv k=3   conv k=5   dilated k=3   recurrence   attention")
for n in (8, 16, 32, 64):
    assert influence(self_attention, n)[-1, 0] > 0  # one layer is enough
    counts = layers_needed(n, 3), layers_needed(n, 5), layers_needed(n, 3, dilated=True), recurrence_steps(n), 1
    print("{:4}   {:8}   {:8}   {:11}   {:10}   {:9}".format(n, *counts))

# %% [markdown]
# The column of attention does not grow. This is the argument of Vaswani et al. (2017, section 4, table 1): the shorter the path, the easier it is to learn that two distant words belong together. And inside a layer of attention no
# position has to wait for another.
#
# **The price.** Attention compares all pairs. The same table of the paper counts, up to a constant, $n^2 d$ products for a layer of attention, $n d^2$ for a recurrence, $k n d^2$ for a convolution:

# %%
d = 512
print("     n   attention n²d   recurrence nd²   convolution 3nd²   (millions, d = 512)")
for n in (64, 512, 4096):
    print(f"{n:6}   {n * n * d / 1e6:13,.0f}   {n * d * d / 1e6:14,.0f}   {3 * n * d * d / 1e6:16,.0f}")

# %% [markdown]
# Attention is the cheapest while $n$ is smaller than $d$, level with the recurrence at $n = d$, and, for long texts, the most expensive of the three. That square stays with us through the course.

# %% [markdown]
# ## Look
#
# The moves of this lesson on numbered boxes. Choose an operation and an entry of its result; the frames show where the number comes from. Before each choice, predict the result. First the starting state, `x.reshape(4, 3)`, as a still picture, then the live figure.

# %%
viewer = widgets.shape_viewer()
viewer.show_first_state("x with rows 0 to 3, 4 to 7, 8 to 11 in three colors; beside it x.reshape(4, 3), in which the colors run on over the ends of the rows. Entry [0, 1] is framed in both.")

# %%
viewer

# %% [markdown]
# *Notice in the reshaped picture that the colors run on over the ends of the rows. Then choose `x.transpose(0, 1)`: each color becomes a column. With the einsum patterns, the frames mark all entries that
# go into the result.*

# %% [markdown]
# ## What goes wrong
#
# **A loss that broadcasts.** A line through the origin is fitted to 20 points with slope 3. Predictions have shape `(20, 1)`, targets `(20)` in the first run, `(20, 1)` in the second. Nothing else differs.

# %%
x_line = torch.linspace(-1, 1, 20)[:, None]  # (20, 1)
y_line = 3 * x_line.squeeze(-1)  # (20,)


def fit(targets):
    slope = torch.zeros(1, 1, requires_grad=True)
    for _ in range(100):
        loss = ((x_line @ slope - targets) ** 2).mean()
        (gradient,) = torch.autograd.grad(loss, slope)
        slope = (slope - 0.5 * gradient).detach().requires_grad_()
    return slope.item(), loss.item()


for name, targets in (("(20)", y_line), ("(20, 1)", y_line[:, None])):
    slope, loss = fit(targets)
    print(f"targets {name:8} slope {abs(slope):.2f}   loss {loss:.2f}   (variance of the targets {targets.var(correction=0):.2f})")

# %% [markdown]
# In the first run every prediction is pulled toward *all* targets, that is, toward their mean. It runs to the end and learns nothing. How you would notice: a loss that stays near the variance of the targets. How you would
# prevent it: compare the two shapes before you subtract.
#
# **Reshape where a transpose was meant.** PyTorch's recurrent layers want `(L, B, d)` unless told otherwise. Bring `(B, L, d)` to that shape both ways, run the layer, and apply the test that finds this mistake in any network:
# *change one sentence; the results of the others must not move.*

# %%
torch.manual_seed(2)
layer = nn.RNN(d_model, d_model)  # wants (L, B, d)
x = table[ids]  # (B=2, L=5, d=4), the two sentences of section 0.3
changed = x.clone()
changed[1] += 1.0  # another second sentence, the same first one

for name, move in (("transpose", lambda t: t.transpose(0, 1)), ("reshape", lambda t: t.reshape(L, B, d_model))):
    before, after = layer(move(x))[0], layer(move(changed))[0]  # (L, B, d) each
    shift = (after[:, 0] - before[:, 0]).abs().max().item()
    print(f"{name:9} input {tuple(move(x).shape)}   the first sentence's states moved by {shift:.2f}")

# %% [markdown]
# After the reshape the two sentences are mixed, and no error is raised. The mistake is found in published code: the references name two threads.
#
# **A view is a window, not a copy.** Writing into it changes the original.

# %%
original = torch.arange(6)
window = original.view(2, 3)
window[0, 0] = 99
print("written into the view :", original)
window.clone()[1, 1] = 77
print("written into its clone:", original)

# %% [markdown]
# ## In practice
#
# - **Which axis comes first?** `nn.RNN`, `nn.GRU` and `nn.MultiheadAttention` take `(L, B, d)` unless you pass `batch_first=True`; `nn.Conv1d` takes `(B, d, L)`. This course writes `(B, L, d)` throughout. Read the page of a layer before the first call.
# - **Shape comments.** Write the new shape behind every line that changes it, as in `# (B, H, L, d_head)`. The library of this course also has shapes in its signatures.
# - **`reshape` or `view`.** Use `view` to split or merge neighboring axes, `transpose` or `permute` to reorder them. If you are about to use `reshape` to make an error go away, draw the boxes first.
# - **Sizes that differ.** Try code on `B=2, L=5, d=4`, never on `3, 3, 3`: equal sizes hide a swapped axis. The checks do the same.
# - `F.mse_loss` warns when its two arguments differ in shape; a subtraction that you write yourself does not.
# - Convolutions and recurrences are still in use, for sound, images, and very long sequences. The two tables of 0.12 show what each of them pays.

# %% [markdown]
# ## Recap
#
# 1. **Run, predict, check, help**: top to bottom; write the guess down; read the check's message from the top; hints, glossary, instructor.
# 2. **From text to `(B, L, d_model)`**: tokens, ids, padding, a row of the embedding table for each. Inputs `ids[:, :-1]`, targets `ids[:, 1:]`: a prediction at every position.
# 3. **Moves**: broadcasting lines shapes up from the right; `view` breaks lines elsewhere; `transpose` and `permute` reorder axes. A right shape proves nothing: number the boxes, or change one sentence and see what moves.
# 4. **einsum**: the same letter ties axes together; a letter missing behind the arrow is summed over.
# 5. **What each layer sees**: feed-forward only its own position; a convolution a window that grows with each layer; a recurrence the whole past, through one step for each position; attention everything, in one step, for a price that grows with $n^2$.
#
# | symbol | meaning | shape |
# |---|---|---|
# | $B$, $L$, $V$ | sentences in a batch, positions in a sentence, entries of the vocabulary | numbers |
# | $n$ | length of a text, in 0.12 | number |
# | $d_{model}$ | size of the vector of a token | number |
# | ids | whole numbers, one for each token | $(B, L)$ |
# | $E$ | embedding table | $(V, d_{model})$ |
# | $x$ | a batch of token vectors | $(B, L, d_{model})$ |
# | $H$, $d_{head}$ | number of heads, size of a head; $H \cdot d_{head} = d_{model}$ | numbers |
# | $W_1$, $W_2$ | weights of the feed-forward layer, of width $d_{ff}$ | $(d, d_{ff})$, $(d_{ff}, d)$ |
# | $k$, $W_j$ | kernel size of a convolution, weights of place $j$ of its window | number, $(d, d)$ |
# | $h_i$ | state of a recurrence after position $i$ | $(d)$, in a batch $(B, d)$ |
# | $W_x$, $W_h$ | weights of the recurrence | $(d, d)$ |

# %% [markdown]
# ## Check yourself
#
# <details><summary>1. A tensor of shape (8) minus a tensor of shape (8, 1): what shape has the result, and what stands in it?</summary>
#
# **(8, 8), every entry of the first minus every entry of the second.** Lined up from the right, 8 meets 1 and nothing meets 8. (Not (8): that needs equal shapes. Not (8, 1): the axis of size 1 is stretched. Not an error: every pair fits.)
# </details>
#
# <details><summary>2. x has shape (2, 5, 12). Which of x.view(2, 3, 5, 4) and x.view(2, 5, 3, 4).transpose(1, 2) gives three heads of size 4?</summary>
#
# **The second.** It splits the last axis and then swaps positions and heads. The first has the same shape, but walks through memory in order, so that its first head is filled with the whole first token and parts of the second.
# </details>
#
# <details><summary>3. What does einsum("bid,bjd->ij", q, k) compute, and what is probably meant?</summary>
#
# **The products of all pairs, added up over the batch,** because `b` is missing behind the arrow. Meant is `"bid,bjd->bij"`, one matrix for each item. (It is no error: any letter may be summed over.)
# </details>
#
# <details><summary>4. A convolution with kernel 5 should let the first of 41 tokens reach the last. How many layers? And with a recurrence, how many steps?</summary>
#
# **20 layers, 40 steps.** A layer carries 2 positions, the distance is 40. (Dividing 41 by 5 forgets that only half of the window points one way; 41 steps would count the tokens instead of the steps between them.)
# </details>
#
# <details><summary>5. A friend says: "My loss went to zero in one pass over the data, on next-token prediction." What do you ask first?</summary>
#
# **"Are the targets shifted by one?"** If they equal the inputs, the model copies. A model that sees the future (lesson 05) is the second suspect. (Learning the text by heart could bring the loss to zero as well, but hardly in one pass. A large learning rate makes a loss jump; it does not make it vanish.)
# </details>
#
# {{next_steps}}

# %% [markdown]
# ## References
#
# - Vaswani et al., *Attention Is All You Need*, 2017, section 4 and table 1: cost, sequential steps and path length of attention, recurrence and convolution; the argument of section 0.12 in the authors' words.
# - Elman, *Finding Structure in Time*, 1990: the recurrence of section 0.11, and what it learned about words without being told.
# - Bengio, Simard, Frasconi, *Learning Long-Term Dependencies with Gradient Descent is Difficult*, 1994: why the share of the first token fades.
# - van den Oord et al., *WaveNet: A Generative Model for Raw Audio*, 2016, section 2.1: dilated convolutions, with a picture of how far they see.
# - GitHub, galsang/BiDAF-pytorch issue 17 and timbmg/Sentence-VAE issue 15: two readers find a `view` where a transpose was probably meant, in code that runs.
# - PyTorch documentation, *Broadcasting semantics* and *Tensor Views*: the rules of sections 0.5 and 0.6 in full.
