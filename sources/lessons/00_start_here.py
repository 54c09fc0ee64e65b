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
# By the end you can work with this course, turn sentences into a tensor of shape `(B, L, d_model)`, move its axes without scrambling it, and say what networks before attention could see, and at what cost.
#
# {{colab_link}} · short path about 55 minutes with its exercises (35 + 20), everything about 3½ hours · builds on nothing
#
# Click into the cell below and press `Shift+Enter`. It runs, and the next one is chosen. Do the same with each cell that you come to. (If you have two hours and would rather see one whole model first, take [the quick tour](quick_tour.ipynb) and come back.)

# %% tags=["setup"]
import math
import warnings
from bisect import bisect_left
from statistics import median

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from course_checks import NotYet, check, failing_case, hint
from course_utils import attention, diagrams, multi_head, plotting, tokenizers
from course_utils import pretrained, similarity, widgets
from course_utils.datasets.pronunciations import split_of
from course_utils.pretrained.pronunciation import align

torch.set_printoptions(precision=2, sci_mode=False)

# %% [markdown]
# **You will learn to**
#
# 1. run a lesson, keep a prediction, check an answer and find help;
# 2. turn sentences into a tensor `(B, L, d_model)`, and say what a language model is asked at each position;
# 3. predict what broadcasting, `view`, `transpose` and `permute` do, and recognize scrambled content;
# 4. read and write `einsum`;
# 5. say what a feed-forward layer, a convolution, a recurrence and attention can see, and what each costs (section 0.8).
#
# Every section is marked **core** or **more**. The core sections are the short path.

# %% [markdown]
# ## Predict first
#
# *Core · 2 minutes*
#
# A small model has learned to pronounce English words. It reads the letters of *knights* and says four sounds, N, AY, T and S. Before each sound it looks back at the letters and shares its attention out among them, and the shares add up to 1.
#
# Which letters does it look at before it says N? Move the sliders, then keep your prediction. (They don't have to add up to 1. The page divides by their sum.)

# %%
widgets.predict("0.A", "Before the sound N, how much does each letter get?",
                shares=list("knights"))

# %% [markdown]
# ## 0.1 Where this leads
#
# *Core · 4 minutes*
#
# Now we ask the model. It comes with the course, trained. Some words of the dictionary were held out, and the model never met them in training. Is *knights* one of them?

# %%
for word in ("knight", "knights"):
    print(f"{word:8} is in the part for {split_of(word)}")
model = pretrained.load("recurrent_attention")
knights = align(model, "knights")  # its sounds, and the letters it looked at
print("sounds:", " ".join(knights.sounds))
widgets.came_out("0.A", knights.weights[0])

# %% [markdown]
# The model has met *knight*, but *knights* was kept for testing. In training it was told only how a word sounds, never which letters make which sound. It found out for itself where to look. Here are the shares for all of its sounds. Type a word of your own, your name or one that you've made up, and press Enter.

# %%
speller = widgets.alignment_viewer(model, "knights")
speller.show_first_state("The letters of knights across, its sounds N, AY, T, S and "
    "the end sign down. N looks mostly at n and a little at k; AY at i and n; T at t "
    "most, then at g and h; S at t even more than at s.")

# %%
speller

# %% [markdown]
# *Each row is one sound, and its shares add up to 1. The dark cells run from the upper left to the lower right. Sound by sound, the model moves along the word. The silent k, g and h get a share too. Two things are odd. AY takes a third of its attention from n, and S looks more at t than at s.* The model doesn't look at bare letters, though. Each letter has a vector that has already taken in its neighbors (lesson 03 shows how), so a share goes to a letter and its surroundings. The lines on the right say whether the dictionary agrees, and whether this word was held out.
#
# This looking back is called **attention**, and a table of such shares is what you'll see most often in this course. You build and train this model in lesson 03, and by lesson 12 you'll have built a language model that writes.

# %%
plotting.show(diagrams.road_map(here=0))

# %% [markdown]
# *The course has three stretches. First comes the idea, then the machine that today's models use, part by part, and then whole models. You are in the filled box.*
#
# Every lesson draws a tensor as a card of cells, and the color of its frame and name says what it holds. Come back to this legend when a color puzzles you.

# %%
plotting.show(diagrams.legend())

# %% [markdown]
# ## 0.2 Run, predict, check, ask
#
# *Core · 5 minutes*
#
# **Run.** You've run a few cells by now. Go from top to bottom, because later cells use what earlier ones define. When things get confused, choose *Restart kernel and run all cells*.
#
# **Predict.** A prediction that you kept is shown beside what came out, at once and again at the end of the page. A wrong one helps too, since you see where you went wrong. It's kept in a small file on your own machine, and only there. After `import course_utils`, in any notebook, `course_utils.progress()` shows what you predicted and which exercises you have passed.
#
# **Check.** Each lesson comes with {{exercises_link}}, in a notebook of the same name. You write a function and hand it to `check`. Suppose the task is to *turn each row of numbers into shares that add up to 1, and give nothing to padding, where `real` is False*. That's exercise 0.1. A student forgets the padding:

# %%
def shares_wrong(x, real):
    return x / x.sum(dim=-1, keepdim=True)


try:
    check("0.1", shares_wrong)
except NotYet as message:
    print(message)

# %% [markdown]
# Read it from the top. It says how many points you have, the first number that differs, and which mistake it looks like. `hint()` says what to try.

# %%
hint()

# %% [markdown]
# `failing_case()` hands you the numbers, so that you can try your code on them.

# %%
case = failing_case()
print(case["x"])
print(case["real"])
print(shares_wrong(*case.values()))

# %% [markdown]
# Any right way counts, unless the exercise rules it out.
#
# **Ask.** When you're stuck, get help in this order: the message of the check, `failing_case()`, `hint()`, the hints folded under the check, the section of the lesson, the [glossary](../docs/glossary.md) for a word that you've forgotten, and your instructor, with the message copied into your question.

# %% [markdown]
# ## 0.3 From text to a tensor `(B, L, d_model)`
#
# *Core · 9 minutes*
#
# A network computes with numbers, so text goes through four steps. Here they are for two short sentences.
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
# **Embedding.** An id is a name, not a quantity. Token 4 isn't twice token 2. Each id picks a row of a table. The table starts out random and is learned like every other weight.

# %%
d_model = 4
torch.manual_seed(0)
embedding = nn.Embedding(V, d_model)
table = embedding.weight.detach()  # (V, d_model)
plotting.show(diagrams.lookup(table, ids, vocabulary, follow=(0, 3)))

# %% [markdown]
# *Follow the second "the". Its id is 6, and it gets row 6 of the table. The first "the" has the very same numbers. The three rows of `<pad>` are numbers too, and a network computes with them unless it's told not to.*
#
# $$x_{b,i} = E_{\,\mathrm{ids}_{b,i}} , \qquad E \text{ of shape } (V, d_{model}), \qquad x \text{ of shape } (B, L, d_{model}).$$
#
# $B$ counts the sentences of the batch, $L$ the positions, and $V$ the entries of the vocabulary, while $d_{model}$ is the size of a token's vector. Here it is as a loop, and as PyTorch does it.

# %%
x_loop = torch.zeros(B, L, d_model)
for b in range(B):
    for i in range(L):
        x_loop[b, i] = table[ids[b, i]]

x = embedding(ids).detach()  # (B, L, d_model)
print("the loop gives the same:", torch.equal(x, x_loop))
print("x      ", tuple(x.shape), "  the batch")
print("x[0]   ", tuple(x[0].shape), "     the first sentence")
print("x[0, 2]", tuple(x[0, 2].shape), "       its third token,", repr(tokens[0][2]))
print("x[:, 0]", tuple(x[:, 0].shape), "     the first token of every sentence")

# %% [markdown]
# Read `(B, L, d_model)` as *which sentence, which position, which feature*.
#
# **What is the tensor for?** A *language model* reads tokens and predicts the next one, at every position at once.

# %%
for i in range(L - 1):
    read, following = tokens[0][: i + 1], tokens[0][i + 1]
    print(f"position {i}: has read {' '.join(read):16}  must say {following}")

# %% [markdown]
# Five tokens give four examples. After "the" the model must say "cat" once and "dog" once. The vector of "the" is the same both times, so from that alone no network can tell which. (Knowing the position would settle it in this sentence, but not in the next one.) It has to *look at other positions*. How networks do that is the question of this course.
#
# **Do exercise 0.3 now (8 minutes), then read on.** If you'd like to write the padding yourself, exercise 0.2 (10 minutes) asks for it.

# %% [markdown]
# ## Do you need sections 0.4 to 0.6?
#
# *Core · 3 minutes*
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
# 1. `(8, 8)`, every pair. If you said `(8)`, `(8, 1)` or "an error", read section 0.4.
# 2. `[3, 4]` and `[2, 5]`. If you said the same for both, read section 0.5.
# 3. `(4, 2, 3)`. If you said `(3, 4, 2)`, read section 0.5.
# 4. `X @ Y.T`, the dot product of every row of `X` with every row of `Y`. If you weren't sure, read section 0.6.
#
# All four right? **Go straight to section 0.7**. A section whose question you got wrong belongs to your short path.
# </details>
#
# **Either way, do exercise 0.7 (12 minutes) before section 0.7.** It's a bug in which padding and broadcasting meet.

# %% [markdown]
# ## 0.4 Broadcasting
#
# *More · 7 minutes*
#
# Three predictions of a model have shape `(3, 1)`, the three targets have shape `(3)`, and **every prediction is exactly right**. Both hold 1, 2 and 3.

# %%
widgets.predict("0.B", "What is the mean squared error?", between=(0, 3), step=0.1)

# %%
predictions = torch.tensor([[1.0], [2.0], [3.0]])  # (3, 1)
goals = torch.tensor([1.0, 2.0, 3.0])  # (3,)
difference = predictions - goals
print("shape", tuple(difference.shape))
print(difference)
widgets.came_out("0.B", (difference**2).mean())

# %% [markdown]
# It's a matrix, every prediction minus every target, and the minus sign gives no warning. PyTorch lines two shapes up **from the right**. Two sizes fit if they are equal, or if one is 1 or missing, and an axis of size 1 is used again and again:
#
#     predictions   (3, 1)
#     goals            (3)
#     difference    (3, 3)
#
# In the same way the column 0, 10, 20 plus the row 1, 2, 3, 4 gives the second row 11, 12, 13, 14.

# %%
column = torch.tensor([[0], [10], [20]])  # (3, 1)
row = torch.tensor([1, 2, 3, 4])  # (4,)
by_loop = torch.zeros(3, 4, dtype=torch.long)
for i in range(3):
    for j in range(4):
        by_loop[i, j] = column[i, 0] + row[j]

print("the loop gives the same:", torch.equal(column + row, by_loop))
print(column + row)

# %% [markdown]
# A sum takes its axis away, so it may no longer line up with what it came from. `keepdim=True` leaves the axis there, with size 1. An index of `None` puts an axis of size 1 wherever you need one.

# %%
numbers = torch.ones(3, 2)
print("summed:      ", tuple(numbers.sum(dim=-1).shape))
print("with keepdim:", tuple(numbers.sum(dim=-1, keepdim=True).shape))
print("[:, None]:   ", tuple(numbers[:, None].shape))

# %% [markdown]
# **Do exercise 0.1 now (10 minutes), then read on.** Section 0.2 showed a wrong answer to it. It forgot the padding, and the shape of `real` doesn't line up by itself.

# %% [markdown]
# ## 0.5 `view`, `transpose`, `permute`
#
# *More · 12 minutes*
#
# Two commands turn the shape `(2, 3)` into `(3, 2)`: `x.reshape(3, 2)` and `x.transpose(0, 1)`.

# %%
widgets.predict("0.C", "x is [[1, 2, 3], [4, 5, 6]]. Are the two results equal?",
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
widgets.came_out("0.C", "equal" if same else "same shape, different content")

# %% [markdown]
# *The colors are the rows of $x$. The transpose turns each row into a column. The reshape reads the numbers in order and breaks the lines elsewhere, so its second row mixes both colors.*
#
# Same shape, different content, and no error. How can that happen? A tensor is a row of numbers in memory, and a rule that says which of them belongs to which index. The rule is the *stride*, how far to jump for one step along each axis.

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
by_loop = torch.zeros(4, 2, 3, dtype=torch.long)
for b in range(2):
    for i in range(3):
        for e in range(4):
            by_loop[e, b, i] = cube[b, i, e]
print("the loop gives the same:", torch.equal(turned, by_loop), tuple(turned.shape))

# %% [markdown]
# Try the moves on numbered boxes. Choose one, predict, and look at the frames, which show where an entry of the result comes from. Each color is a row of $x$, as long as the move adds no numbers up.

# %%
viewer = widgets.shape_viewer()
viewer.show_first_state("x with rows 0 to 3, 4 to 7, 8 to 11 in three colors; beside "
    "it x.reshape(4, 3), in which the colors run on over the ends of the rows. Entry "
    "[0, 1] is framed in both.")

# %%
viewer

# %% [markdown]
# **What it's for.** From lesson 06 on, attention looks at a sentence in several ways at once. For this the vector of every token is cut into $H$ equal parts, the *heads*, of size $d_{head} = d_{model} / H$:

# %%
x = torch.arange(1, 21).view(1, 5, 4)  # (B=1, L=5, d_model=4)
plotting.show(diagrams.split_merge(x[0], 2, tokens=tokens[0]))

# %% [markdown]
# *Each color is a head. Every head sees all five tokens, and half of each. No row mixes two tokens.* In letters, with $b$ for the sentence, $h$ for the head, $i$ for the position and $e$ for the place inside the head,
#
# $$y_{b,h,i,e} = x_{b,\,i,\;h \cdot d_{head} + e} , \qquad y \text{ of shape } (B, H, L, d_{head}).$$

# %%
H, d_head = 2, 2
y = torch.zeros(1, H, 5, d_head, dtype=torch.long)
for h in range(H):
    for i in range(5):
        for e in range(d_head):
            y[0, h, i, e] = x[0, i, h * d_head + e]

print("head 0 holds", y[0, 0].tolist())
by_library, scrambled = multi_head.split_heads(x, H), x.view(1, H, 5, d_head)
print("the library's split_heads gives the same:  ", torch.equal(y, by_library))
print("a view straight to the shape gives the same:", torch.equal(y, scrambled))

# %% [markdown]
# The loop copies every number into new memory. It needn't. **Do exercises 0.4 and 0.6 now (22 minutes), then read on.** In 0.6 you cut the heads without moving a number.

# %% [markdown]
# ## 0.6 `einsum`
#
# *More · 8 minutes*
#
# `torch.einsum` writes a sum of products in letters, one letter for each axis. If the same letter names an axis of both operands, the two axes move in step. A letter that doesn't come back after the arrow is summed over. Read `"id,jd->ij"` as *for every i and j, sum over d*,
#
# $$S_{ij} = \sum_{d} X_{id} Y_{jd} .$$
#
# Take one entry. Row 0 of $X$ is 1, 2, 0 and row 1 of $Y$ is 2, 1, 0, which gives $S_{01} = 1 \cdot 2 + 2 \cdot 1 + 0 \cdot 0 = 4$.

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
# *Every cell of $S$ is where its row of $X$ meets its row of $Y$, drawn above as a column of $Y^\top$. You'll see this picture again, because the scores of attention are made this way. That's why $S$ has the gray frame of scores.*
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
# **Do exercise 0.5 now (12 minutes), then read on.** It asks for the other product in attention, the one that mixes.

# %% [markdown]
# ## 0.7 Who sees whom
#
# *Core · 9 minutes*
#
# How can one position use another? Here are four kinds of layer, each from `(B, L, d)` to `(B, L, d)`.
#
# - **Feed-forward** has two matrices with a ReLU between them, for every position alone, $y_i = W_2^\top \max(0,\, W_1^\top x_i)$, with $W_1$ of shape $(d, d_{ff})$ and $W_2$ of shape $(d_{ff}, d)$.
# - **Convolution** has a window of $k$ positions around each, with a matrix $W_j$ of shape $(d, d)$ for every place in the window, $y_i = \sum_{j=0}^{k-1} W_j^\top\, x_{\,i + j - (k-1)/2}$. Beyond the ends there are zeros.
# - **Recurrence** has a *state* $h_i$ of shape $(d)$ that is carried from left to right, $h_i = \tanh(W_x^\top x_i + W_h^\top h_{i-1})$, with $W_x$, $W_h$ of shape $(d, d)$ and $h_{-1} = 0$.
# - **Attention** is a weighted average of all positions, $y_i = \sum_j a_{ij}\, x_j$, whose weights $a_{ij}$ come from the vectors themselves. Lessons 01 to 04 show how. Here we take the library's function.
#
# A vector is a column in these formulas and a row of `x` in the code, so $W_1^\top x_i$ is written `x @ W_1`.

# %%
rng = torch.Generator().manual_seed(1)
W_1, W_2 = torch.randn(4, 16, generator=rng), torch.randn(16, 4, generator=rng)
W = torch.randn(5, 4, 4, generator=rng) / 2  # (k=5, d, d)


def feed_forward(x):  # (B, L, d)
    return torch.relu(x @ W_1) @ W_2  # (B, L, d_ff) -> (B, L, d)


# %%
def convolution(x, k=3):  # (B, L, d)
    padded = F.pad(x, (0, 0, k // 2, k // 2))  # zeros before and after the positions
    return sum(padded[:, j : j + x.shape[1]] @ W[j] for j in range(k))  # (B, L, d)


def self_attention(x):  # (B, L, d)
    return attention.scaled_dot_product_attention(x, x, x)[0]  # (B, L, d)


# %%
# from -0.5 to 0.5, as nn.RNN starts them for d = 4
W_x, W_h = torch.rand(2, 4, 4, generator=rng) - 0.5  # (d, d) each


def recurrence(x, W_x=W_x, W_h=W_h):  # (B, L, d)
    h, states = torch.zeros(x.shape[0], 4), []  # (B, d)
    for i in range(x.shape[1]):
        h = torch.tanh(x[:, i] @ W_x + h @ W_h)  # (B, d)
        states.append(h)
    return torch.stack(states, dim=1)  # (B, L, d)


# %%
rnn = nn.RNN(4, 4, bias=False, batch_first=True)
rnn.load_state_dict({"weight_ih_l0": W_x.T, "weight_hh_l0": W_h.T})
x = torch.randn(2, 5, 4, generator=rng)  # (B=2, L=5, d=4)
same = torch.allclose(recurrence(x), rnn(x)[0], atol=1e-6)
print("the loop and PyTorch's nn.RNN agree:", same)

# %% [markdown]
# Which inputs does an output depend on? A gradient answers that. If nudging $x_j$ doesn't move $y_i$, position $i$ can't see position $j$. The function measures this for all pairs, along a random direction of $y_i$, and turns every row into shares.
#
# **Before you run it**, draw four squares of 8 by 8 cells, outputs downward and inputs to the right, and shade what each layer sees.

# %%
def influence(layer, length, d=4, seed=0, outputs=None):
    """Share of every input position in every output position, or in those asked for."""
    rng = torch.Generator().manual_seed(seed)
    x = torch.randn(1, length, d, generator=rng).requires_grad_()  # (1, L, d)
    direction = torch.randn(d, generator=rng)
    y = layer(x)[0] @ direction  # (L,)
    rows = []
    for i in outputs or range(length):
        (gradient,) = torch.autograd.grad(y[i], x, retain_graph=True)  # (1, L, d)
        rows.append(gradient[0].norm(dim=-1))  # (L,)
    sizes = torch.stack(rows)  # (L, L), or fewer rows
    return sizes / sizes.sum(dim=-1, keepdim=True)


# %%
layers = {"feed-forward": feed_forward, "convolution, k = 3": convolution,
          "recurrence": recurrence, "attention": self_attention}
maps = diagrams.influence_maps({name: influence(f, 8) for name, f in layers.items()})
plotting.show(maps, "Four maps of 8 by 8. Feed-forward: the diagonal only. "
              "Convolution: a band three wide. Recurrence: the diagonal and everything "
              "left of it, fading fast. Attention: every cell filled.")

# %% [markdown]
# *Yellow is a large share, dark purple a small one, and white is exactly zero, which means that this input can't be seen at all. Feed-forward sees itself. The convolution sees a band. The recurrence sees the whole past and nothing of the future, and here the past soon gets dark. Attention leaves no white.*
#
# **Why does it get dark?** On its way back, the gradient is multiplied at every step by the same matrix $W_h$ and by the slope of the tanh. That makes two suspects, and we can take each of them out of play. If $W_h$ is *orthogonal*, a rotation (perhaps with a reflection), it changes no length. And if we feed in a tenth of each input, the tanh stays near 0, where it's almost a straight line of slope 1. We make one change, then the other, then both.

# %%
def recurrences(seed):
    rng = torch.Generator().manual_seed(seed)
    W_x, W_h = torch.rand(2, 4, 4, generator=rng) - 0.5  # (d, d) each
    turn = nn.init.orthogonal_(torch.empty(4, 4), generator=rng)
    return {"as nn.RNN starts": lambda x: recurrence(x, W_x, W_h),
            "inputs / 10": lambda x: recurrence(x, W_x / 10, W_h),
            "W_h a rotation": lambda x: recurrence(x, W_x, turn),
            "both": lambda x: recurrence(x, W_x / 10, turn),
            "both, inputs / 100": lambda x: recurrence(x, W_x / 100, turn)}


# %%
four = list(recurrences(0).items())[:4]
maps = diagrams.influence_maps({name: influence(f, 8) for name, f in four})
plotting.show(maps, "Four maps of a recurrence. As it starts, the past is dark. With "
              "small inputs, or with a rotation, a little more of it can be seen. "
              "With both changes all inputs up to the diagonal get about the same "
              "share.")

# %%
five = [recurrences(seed) for seed in range(5)]
print("share of the first token in the last output: smallest, median, largest of five")
print(f"{'':22}n = 32, equal {1 / 32:.4f}       n = 320, equal {1 / 320:.4f}")
for name in [*five[0], "attention"]:
    columns = [sorted(influence({**five[seed], "attention": self_attention}[name], n,
                                seed=seed, outputs=[n - 1])[0, 0].item()
                      for seed in range(5)) for n in (32, 320)]
    print(f"{name:18}",
          *(f"{c[0]:9.0e} {median(c):8.1e} {c[-1]:8.0e}" for c in columns))

# %% [markdown]
# *These maps come from one seed. In them each change alone shows somewhat more of the past than the first map, and with both changes every row is shared out almost evenly.* The table takes five seeds. At 32 tokens neither change is enough by itself, and with both the first token keeps about an equal share. A recurrence *can* see the past, then.
#
# For how long? With ten times as many tokens, "both" loses the first one, too. (Zeros in this column are numbers too small for 32 bits.) The tanh still takes a little off at every step, and over 320 steps that adds up. If so, smaller inputs must last longer, and they do. With a hundredth, the first of 320 tokens is still there. The attention in the last row needs no such care at either length. Exercise 0.9 measures how far a recurrence and attention reach, and its solution tries what gates (lesson 03) change.

# %% [markdown]
# ## 0.8 What seeing costs
#
# *More · 15 minutes*
#
# **The path.** How many computations lie between the first of $n$ tokens and the last position? We can let the computer search. Row 0 holds the tokens, the rows above hold what is computed from them, and an arrow leads to everything that is computed from a node. For a convolution and for attention we read the arrows off the gradients of one layer and put as many layers on top of each other as it takes. In a recurrence a token goes into its own state, and a state into the next one.

# %%
def stacked(layer, n):
    sees = influence(layer, n) > 0  # (n, n)
    return lambda node: {(node[0] + 1, i) for i in range(n) if sees[i, node[1]]}


def carried(n):
    def feeds(node):
        row, position = node
        after = position + row  # a token's own state, or the next state
        return {(1, after)} if after < n else set()
    return feeds


# %%
def way_to_last(feeds, n):
    """The nodes of a shortest way from the first token to position n - 1."""
    ways, reached = [[(0, 0)]], {(0, 0)}
    while ways[0][-1][1] < n - 1:
        way = ways.pop(0)
        new = feeds(way[-1]) - reached
        reached |= new
        ways += [[*way, node] for node in sorted(new)]
    return ways[0]


# %%
kinds = {"recurrence": carried,
         "convolution, k = 3": lambda n: stacked(convolution, n),
         "convolution, k = 5": lambda n: stacked(lambda x: convolution(x, 5), n),
         "attention": lambda n: stacked(self_attention, n)}
print("arrows from the first token to the last position")
print(f"{'n':20}", *(f"{n:4}" for n in (8, 16, 32, 64)))
for name, arrows in kinds.items():
    counts = [len(way_to_last(arrows(n), n)) - 1 for n in (8, 16, 32, 64)]
    print(f"{name:20}", *(f"{count:4}" for count in counts))

# %%
panels = {name: (kinds[name](9), way_to_last(kinds[name](9), 9))
          for name in ("recurrence", "convolution, k = 5", "attention")}
plotting.show(diagrams.growing_paths(panels, 9))

# %% [markdown]
# *A chain, a cone and a star. Strong arrows are the shortest way, and filled circles are whatever depends on the first token. Let the text grow, and the chain and the cone grow with it. The star doesn't.* A convolution with kernel size $k$ carries a token $(k-1)/2$ positions a layer, which makes $\lceil (n-1) / \frac{k-1}{2} \rceil$ layers; a recurrence needs $n$ arrows. The paper that made attention famous argues that the shorter the path, the easier it is to learn that two distant words belong together.
#
# **The wait.** Step $i$ of this recurrence can't begin before step $i - 1$ is done, so the steps of a sentence can't be shared out among many cores. In the other layers all positions of a text that's there to be read are computed at once. (When a model *writes*, every kind has to wait for the token before.) Leave out the tanh, and the recurrence becomes linear. Then its steps can be regrouped and run in parallel, by a *scan*, as some recent models do.
#
# **The work.** Now count the multiplications in all the matrix products of a layer. The recurrence above is the smallest of its kind. The recurrences that attention replaced had *gates*, which learn what to keep of the old state. The GRU of lesson 03 is one of them, and the LSTM is another.

# %%
widgets.predict("0.D", "d = 512. Up to what length does attention multiply no more "
                "often than a GRU does?",
                choices=["never", "up to 64 tokens", "up to 512 tokens",
                         "up to 4,096 tokens"])

# %% [markdown]
# PyTorch can count the products that a layer calls for, and on the device `meta` it counts them without computing any. The attention is that of lesson 06, with all four of its matrices.

# %%
def layers_of(d):
    with torch.device("meta"):
        recurrent = {name: kind(d, d, bias=False, batch_first=True) for name, kind in
                     {"recurrence": nn.RNN, "GRU": nn.GRU, "LSTM": nn.LSTM}.items()}
        conv_3 = nn.Conv1d(d, d, 3, padding=1, bias=False)
        conv_7 = nn.Conv1d(d, d, 7, padding=3, bias=False)
        heads = multi_head.MultiHeadAttention(d, 8, bias=False)
    return {**recurrent, "convolution, k = 3": lambda x: conv_3(x.mT),
            "convolution, k = 7": lambda x: conv_7(x.mT),
            "attention": lambda x: heads(x, return_weights=True)}


# %%
def multiplications(layer, n, d):
    with FlopCounterMode(display=False) as counter:
        layer(torch.zeros(1, n, d, device="meta"))  # (B=1, L=n, d)
    return counter.get_total_flops() // 2  # it counts a multiplication and an addition


# %%
d = 512
layers = layers_of(d)
print("multiplications for each token, in units of d * d")
print(f"{'':20}", *(f"n = {n:<4}" for n in (1, 16, 64)))
for name, layer in layers.items():
    counts = [multiplications(layer, n, d) / (n * d**2) for n in (1, 16, 64)]
    print(f"{name:20}", *(f"{count:8.2f}" for count in counts))

# %% [markdown]
# Each number is how many matrices of shape $(d, d)$ a token meets.
#
# - A recurrence has two, and pays $2nd^2$ for $n$ tokens.
# - A GRU has three pairs (two gates, and what it proposes to write), $6nd^2$; an LSTM has four, $8nd^2$.
# - A convolution has one for each place in its window, $knd^2$.
# - Attention has four. It also compares all pairs of tokens and mixes all pairs, and that part grows with the text, $4nd^2 + 2n^2d$.
#
# From which length on does attention cost more than each of the others? The search halves the interval until it finds the shortest such text.

# %%
def costs_more_from(name, d):
    """The shortest text for which attention multiplies more often than this layer."""
    layers, lengths = layers_of(d), range(1, 8 * d)
    each = multiplications(layers[name], 1, d)  # for one token; the next cost the same
    return 1 + bisect_left(lengths, True, key=lambda n: multiplications(
        layers["attention"], n, d) > n * each)


print(f"{'attention costs more than':28} from n, d = 128   from n, d = 512")
for name in layers:
    if name != "attention":
        starts = [costs_more_from(name, d) for d in (128, 512)]
        print(f"  {name:26}", *(f"{start:15}  " for start in starts))
widgets.came_out("0.D", f"up to {costs_more_from('GRU', 512) - 1:,} tokens")

# %%
lengths = [1, 256, 512, 768, 1024, 1536, 2048]
costs = {name: [multiplications(layer, 1, d) / d**2] * len(lengths)
         for name, layer in layers.items()}  # the same at every length, but for one:
costs["attention"] = [multiplications(layers["attention"], n, d) / (n * d**2)
                      for n in lengths]
ax = diagrams.cost_lines(lengths, costs)
ax.set(xticks=[512, 1024, 1536, 2048], title="d = 512")
plotting.show(ax, "Multiplications per token against the length. Attention rises in a "
              "straight line; it crosses the GRU at 512 and the LSTM at 1024 tokens.")

# %% [markdown]
# *Only attention rises. It meets the GRU at $n = d$ and the LSTM at $n = 2d$. The recurrence without gates and the narrow convolution are below it at every length.* The paper compares orders of growth, $n^2 d$ against $nd^2$, and says that attention needs less work than a recurrence while $n < d$. Against a GRU, all matrices counted, that's true to the token. Which one is cheaper depends on the recurrence you have in mind, and on how long your texts are. Whatever the count, attention has the short path, and it reads without waiting. The $n^2$ will stay with us through the course.
#
# **Do the quiz 0.8 now (5 minutes), and the experiment 0.9 (25 minutes) when you have time for it.**

# %% [markdown]
# ## What goes wrong
#
# *More · 6 minutes*
#
# **A loss that broadcasts.** A line through the origin that begins with slope 1 is fitted to 20 points of slope 3. The predictions have shape `(20, 1)`; the targets have `(20)` in the first run and `(20, 1)` in the second. Nothing else differs.

# %%
x_line = torch.linspace(-1, 1, 20)[:, None]  # (20, 1)
y_line = 3 * x_line.squeeze(-1)  # (20,)


def fit_slope(targets):
    slope = torch.ones(1, 1, requires_grad=True)
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
# In the first run every prediction is pulled toward *all* targets, that is, toward their mean. Here that mean is 0, so the slope falls from 1 to 0, away from the 3 that it should find, and the loss ends at the variance of the targets. There's no error. Compare the two shapes before you subtract, or take PyTorch's own loss, which looks at the shapes.

# %%
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    F.mse_loss(x_line, y_line)  # (20, 1) against (20,)
print("F.mse_loss gives a warning:", len(caught) == 1)

# %% [markdown]
# **A reshape where a transpose was meant.** PyTorch's recurrent layers want `(L, B, d)` unless told otherwise. We bring `(B, L, d)` there both ways, and apply a test that works without knowing what the network should compute. *Change one sentence; the results of the others must not move.* (Layers that mix sentences on purpose, such as batch normalization in training, fail it too.)

# %%
torch.manual_seed(2)
layer = nn.RNN(d_model, d_model)  # wants (L, B, d)
x = embedding(ids).detach()  # (B=2, L=5, d=4), the two sentences of section 0.3
changed = x.clone()
changed[1] += 1.0  # another second sentence, the same first one
for name, move in (("transpose", lambda t: t.transpose(0, 1)),
                   ("reshape", lambda t: t.reshape(L, B, d_model))):
    before, after = layer(move(x))[0], layer(move(changed))[0]  # (L, B, d) each
    moved = (after[:, 0] - before[:, 0]).abs().max().item()
    print(f"{name:9} the first sentence's states moved by {moved:.2f}")

# %% [markdown]
# After the reshape the sentences are mixed, though every shape is right. Readers have found this mistake in published code; the references name two threads.
#
# **A view is a window, not a copy.** A slice is a view too. If you write into it, you change the original.

# %%
original = torch.arange(6)
window = original[2:4]
window[0] = 99
print(original.tolist())

# %% [markdown]
# ## In practice
#
# *More · 3 minutes*
#
# - **Which axis comes first?** `nn.RNN`, `nn.GRU` and `nn.MultiheadAttention` take `(L, B, d)` unless you pass `batch_first=True`; `nn.Conv1d` takes `(B, d, L)`. This course writes `(B, L, d)`. Read the page of a layer before you call it for the first time.
# - **Shape comments.** Write the new shape after every line that changes it, as in `# (B, H, L, d_head)`.
# - **`reshape` or `view`?** Use `view` to split or merge neighbors, `transpose` or `permute` to reorder. If you're about to use `reshape` to make an error go away, draw the boxes first.
# - **Sizes that differ.** Try your code on `B=2, L=5, d=4`, never on `3, 3, 3`, since equal sizes hide a swapped axis. The checks do the same.
# - Convolutions and recurrences are still in use, for sound, images and very long sequences. Sections 0.7 and 0.8 show what each of them costs.
#
# The last cell of the {{exercises_link}} puts your own answers together. They become the attention of a trained model, on a word of yours.

# %% [markdown]
# ## Recap
#
# *Core · 2 minutes*
#
# Here is what you predicted, and what came out.

# %%
widgets.predictions()

# %% [markdown]
# 1. **Run a lesson, keep a prediction, check an answer, find help.** Run from top to bottom, and guess before you run. Read the check's message from the top, and take its arguments with `failing_case()`.
# 2. **From sentences to `(B, L, d_model)`.** Tokens, ids, padding, and a row of the table for each id. A language model is asked at every position for the token that comes next.
# 3. **Moving axes.** Broadcasting lines shapes up from the right, `view` breaks the lines elsewhere, and `transpose` and `permute` reorder. A right shape proves nothing. Change one sentence and see what moves.
# 4. **`einsum`.** The same letter means the same axis, and a letter that doesn't come back after the arrow is summed over.
# 5. **What layers see and cost.** Feed-forward sees itself, a convolution sees a band, and attention sees everything in one step. A recurrence sees the past, one step after the other. As PyTorch starts it, the past fades within a few steps. With a rotation for $W_h$ and small inputs it lasts far longer, though not forever. By the count of section 0.8 attention multiplies more often than a recurrence without gates at every length, and less often than a GRU while $n < d$.
#
# | symbol | meaning | shape |
# |---|---|---|
# | $B$, $L$, $V$ | sentences in a batch, positions, entries of the vocabulary | numbers |
# | $n$ | length of a text, in section 0.8 | number |
# | $d_{model}$, or $d$ | size of a token's vector | number |
# | ids | one whole number for each token | $(B, L)$ |
# | $E$ | embedding table | $(V, d_{model})$ |
# | $x$ | a batch of token vectors | $(B, L, d_{model})$ |
# | $H$, $d_{head}$ | number of heads, size of a head; $H \cdot d_{head} = d_{model}$ | numbers |
# | $W_1$, $W_2$ | weights of the feed-forward layer, of width $d_{ff}$ | $(d, d_{ff})$, $(d_{ff}, d)$ |
# | $k$, $W_j$ | kernel size of a convolution, weights of place $j$ in its window | number, $(d, d)$ |
# | $h_i$ | state of a recurrence at position $i$ | $(d)$ |
# | $W_x$, $W_h$ | weights of the recurrence | $(d, d)$ |
# | $a_{ij}$ | weight of position $j$ for position $i$; over $j$ they add up to 1 | $(L, L)$ |

# %% [markdown]
# ## Check yourself
#
# *Core · 3 minutes*
#
# <details><summary>1. An attention table has a row for each of 4 sounds and a column for each of 6 letters. Which of its sums are 1?</summary>
#
# **The four row sums.** Each sound shares out one whole among the letters. (The columns needn't. A silent letter may get next to nothing, and a letter may be needed for several sounds.)
# </details>
#
# <details><summary>2. When a language model says what comes after position 3, it must not have seen position 4. Which of the four layers in section 0.7 may it use as they are?</summary>
#
# **Feed-forward and the recurrence.** Their maps are white to the right of the diagonal. The convolution looks one position ahead or more, and attention looks everywhere. Lesson 05 hides what must not be seen.
# </details>
#
# <details><summary>3. A friend says: "My language model's loss went to zero in one pass over the data." What do you ask first?</summary>
#
# **"Are the targets shifted by one?"** If they equal the inputs, the model only has to copy. The second suspect is a model that sees the future (lesson 05).
# </details>
#
# {{next_steps}}

# %% [markdown]
# ## When you need it
#
# *More · 12 minutes*
#
# **More questions,** on sections 0.4, 0.6 and 0.8.
#
# <details><summary>4. x has shape (4, 3) and w has shape (4). You want each row of x multiplied by its own number. What happens with x * w, and what would you write?</summary>
#
# **An error: from the right, 3 meets 4.** `x * w[:, None]` has shapes `(4, 3)` and `(4, 1)`. (If x were `(4, 4)`, `x * w` would run and multiply the *columns*.)
# </details>
#
# <details><summary>5. What does einsum("bid,bjd->ij", q, k) compute, and what was probably meant?</summary>
#
# **The products of all pairs, added up over the batch,** because `b` doesn't come back after the arrow. Probably one table for every sentence was meant. It isn't an error, since any letter may be summed over.
# </details>
#
# <details><summary>6. A convolution with kernel size 5 should let the first of 41 tokens reach the last. How many layers does it take? And how many times does a recurrence pass its state on?</summary>
#
# **20 layers, 40 times.** A layer carries 2 positions, and the distance is 40. (41 divided by 5 forgets that only half of the window points one way. 41 counts one arrow more, the one that reads the first token in.)
# </details>
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
# **The loss of a model that knows nothing.** The loss of a language model is the *cross-entropy*: minus the natural logarithm of the probability that it gave to the right token, averaged over all targets that aren't padding. (`F.cross_entropy` makes the probabilities from scores; the softmax of lesson 02 does that.) A model that knows nothing gives each of the $V$ tokens $1/V$, so its loss is $-\log(1/V) = \log V$. An untrained one whose scores are small starts near that. If yours starts far above it, its first scores are too large, or there's a mistake.

# %%
torch.manual_seed(1)
# times 0.1: small vectors give small scores, so that no token is far ahead by chance
scores = nn.Linear(d_model, V)(0.1 * embedding(ids))  # (B, L, V)
first, following = scores[0, :-1], ids[0, 1:]  # (L-1, V), (L-1,): one sentence
print(f"loss {F.cross_entropy(first, following):.2f}   log V = {math.log(V):.2f}")

# %% [markdown]
# **`contiguous`.** A tensor is *contiguous* if reading its rows one after the other reads the memory in order. After a transpose it no longer does, and a `view` that would merge such axes is impossible. `contiguous()` copies the numbers into new memory in the new order; `reshape` does that by itself where it must. Prefer `view` where you believe that nothing has to be copied, since it tells you when you're wrong.

# %%
turned = torch.tensor([[1, 2, 3], [4, 5, 6]]).transpose(0, 1)  # (3, 2)
try:
    turned.view(6)
except RuntimeError:
    print("view: impossible without a copy")
print("contiguous, then view:", turned.contiguous().view(6).tolist())
assert torch.equal(turned.contiguous().view(6), turned.reshape(6))

# %% [markdown]
# **Vanish or explode.** In section 0.7 the gradient was multiplied at every step by $W_h$ and by the slope of the tanh, which is at most 1. What do many multiplications by $W_h$ do? That depends on its *spectral radius*, the largest absolute value among its eigenvalues. After many multiplications, each further one stretches by that factor on average. Here are five random matrices, each scaled to three radii, and what is left of the first token's gradient after 32 steps.

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
print(f"radius of W_h in section 0.7: {torch.linalg.eigvals(W_h).abs().max():.2f}")

# %% [markdown]
# Without the tanh a radius of 0.5 makes the gradient *vanish*, and a radius of 2 makes it *explode*. The tanh makes it smaller still. In every row the range with it lies below the range without. A radius over 1 isn't enough to keep the past visible, then. A rotation has radius 1, and keeps it visible, the longer the smaller the inputs to the tanh are (section 0.7).

# %% [markdown]
# **Dilated convolution.** A window may have gaps. Let its places lie 1, $k$, $k^2$, ... positions apart in successive layers, and $m$ layers reach $(k^m - 1)/2$ positions to each side. The number of layers then grows only with the logarithm of $n$.

# %%
for n in (8, 64, 512, 4096):
    layers = next(m for m in range(99) if (3**m - 1) // 2 >= n - 1)
    print(f"n = {n:4}: {layers} dilated layers with kernel 3, {n - 1} ordinary ones")

# %% [markdown]
# ## References
#
# - Vaswani et al., *Attention Is All You Need*, 2017, section 4 and table 1: cost, sequential steps and path length of attention, recurrence and convolution, the argument of section 0.8 in the authors' words.
# - Elman, *Finding Structure in Time*, 1990: the kind of recurrence in section 0.7, and what it learned about words without being told.
# - Bengio, Simard, Frasconi, *Learning Long-Term Dependencies with Gradient Descent is Difficult*, 1994; Pascanu, Mikolov, Bengio, *On the Difficulty of Training Recurrent Neural Networks*, 2013, section 2: why gradients vanish and explode, with the role of the spectral radius.
# - Le, Jaitly, Hinton, *A Simple Way to Initialize Recurrent Networks of Rectified Linear Units*, 2015; Henaff, Szlam, LeCun, *Recurrent Orthogonal Networks and Long-Memory Tasks*, 2016: recurrences that start with an identity or a rotation and remember far.
# - Hochreiter, Schmidhuber, *Long Short-Term Memory*, 1997; Cho et al., *Learning Phrase Representations using RNN Encoder-Decoder for Statistical Machine Translation*, 2014, section 2.3: the LSTM and the GRU.
# - Martin, Cundy, *Parallelizing Linear Recurrent Neural Nets Over Sequence Length*, 2018: the scan of section 0.8.
# - van den Oord et al., *WaveNet: A Generative Model for Raw Audio*, 2016, section 2.1: dilated convolutions, with a picture of how far they see.
# - GitHub, galsang/BiDAF-pytorch issue 17 and timbmg/Sentence-VAE issue 20: two readers find a `view` where a transpose was probably meant, in code that runs.
# - PyTorch documentation, *Broadcasting semantics* and *Tensor Views*: the rules of sections 0.4 and 0.5 in full.
