# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 01 · Dot-product similarity
#
# By the end you can say how alike two vectors are, compare every vector of a batch with every other, and make word vectors in which the neighbors of `float` are `complex` and `int`.
#
# {{colab_link}} · about 65 minutes, exercises not counted · builds on lesson 00

# %% tags=["setup"]
import math

import torch
import torch.nn.functional as F

from course_utils import diagrams, plotting, similarity, widgets
from course_utils.datasets import documentation, word_vectors

torch.set_printoptions(precision=3, sci_mode=False)

# %% [markdown]
# **You will learn to**
#
# 1. compute a dot product by hand, and say what its sign tells you;
# 2. choose between the dot product and the cosine;
# 3. compare all queries with all keys, for a whole batch at once;
# 4. turn one row of scores into a ranking, or into weights;
# 5. make word vectors from a text, and say what their nearness does and doesn't mean.

# %% [markdown]
# ## Predict first
#
# Attention rests on one question: *how alike are these two vectors?* Let's see what a good answer is worth before we work it out.
#
# Every Python comes with a part of its own documentation. The library of this course has read it and has turned each word that stands there at least five times into 100 numbers. Nobody told it what any word means; in 1.5 you'll see where the numbers come from. For now we ask it which words are most like `float`, `left` and `try`.

# %% tags=["nbval-ignore-output"]
library = word_vectors.word_vectors()
V, d = library.vectors.shape
print(f"{V:,} words, each a vector of {d} numbers")
for word in ("float", "left", "try"):
    print(f"{word:6}", ", ".join(other for other, _ in library.nearest(word, 4)))

# %%
widgets.predict(
    "1.1",
    "Which word will be most like `true`?",
    choices=["correct", "false", "boolean", "value", "none of these"],
)

# %% tags=["nbval-ignore-output"]
best = library.nearest("true", 1)[0][0]
known = best in ("correct", "false", "boolean", "value")
print("nearest to true:", best)
widgets.came_out("1.1", best if known else "none of these")

# %% [markdown]
# `false`, of all words! Keep that in mind; section 1.7 comes back to it. (`_stmt`, by the way, is a piece of names such as `try1_stmt` in the grammar. The text is that of Python 3.11, and comes with the course.)
#
# How does the library find them? It computes **one number** for each pair of words, and that number is all we need for the next hour.

# %% [markdown]
# ## 1.1 One number for two arrows
#
# A hundred numbers are hard to picture, so here are three words with two numbers each, made up by us:

# %%
happy = torch.tensor([2.0, 3.0])
joyful = torch.tensor([1.0, 4.0])
sad = torch.tensor([-1.0, -2.0])

ax = plotting.arrows(torch.stack([happy, joyful, sad]), ["happy", "joyful", "sad"])
plotting.show(
    ax,
    "Three arrows from the origin: happy and joyful point up and to the right, close"
    " together; sad points down and to the left.",
)

# %% [markdown]
# *Notice that `happy` and `joyful` point almost the same way, and `sad` the other way.*
#
# Can you think of one number, made from the four coordinates of a pair, that is large for `happy` with `joyful` and negative for `happy` with `sad`? Take a minute before you read on.
#
# One good answer: multiply coordinate by coordinate, then add.

# %%
print("happy · joyful =", 2 * 1 + 3 * 4)
print("happy · sad    =", 2 * (-1) + 3 * (-2))

# %% [markdown]
# That is the **dot product**. For two vectors $a$ and $b$ of the same size $d$,
#
# $$a \cdot b = \sum_{i=1}^{d} a_i \, b_i ,$$
#
# where $a_i$ is coordinate $i$ of $a$. As a loop:

# %%
def dot_loop(a, b):
    total = 0.0
    for i in range(len(a)):
        total += a[i] * b[i]
    return total


for a, b in ((happy, joyful), (happy, sad), (joyful, sad)):
    assert dot_loop(a, b) == torch.dot(a, b)
print("the loop and torch.dot agree")

# %% [markdown]
# **Do exercise 1.1 now (5 minutes), then read on:** {{exercises_link}}. From here on we use `similarity.dot_product` of the course's library.
#
# **What the sign tells you.** A product $a_i b_i$ is positive where the two vectors agree about coordinate $i$ (both positive or both negative), and negative where they disagree. The sum weighs one against the other. Positive means *more or less the same direction*, negative *more or less opposite*. And zero? Then neither side wins: the arrows stand at a right angle, unless one of them is zero itself.

# %%
east, north = torch.tensor([3.0, 0.0]), torch.tensor([0.0, 2.0])
print("east · north =", similarity.dot_product(east, north).item())

# %% [markdown]
# ## 1.2 Length against direction

# %%
widgets.predict(
    "1.2",
    "happy is [2, 3]. Which of the two has the larger dot product with it?",
    choices=["joyful [1, 4]", "noise [40, 0]", "both the same"],
)

# %%
noise = torch.tensor([40.0, 0.0])
for name, vector in (("joyful", joyful), ("noise", noise)):
    print(f"happy · {name:6} = {similarity.dot_product(happy, vector).item():4.0f}")
widgets.came_out("1.2", "noise [40, 0]")

# %% [markdown]
# The long arrow wins, although it points elsewhere. To see why, look at the shadow that `happy` throws on the line of `joyful` when the light falls straight down on that line:

# %%
ax = diagrams.projection(happy, joyful, ("happy", "joyful"))
plotting.show(ax)

# %% [markdown]
# *Notice that the dot product is the length of the shadow (the thick line) times the length of `joyful`.*
#
# The shadow measures direction: it is longest when the two arrows point the same way, shrinks to nothing at a right angle, and falls on the other side (a negative length) beyond that. But it is then multiplied by the length of the other arrow, and `noise` is 40 long. If $\theta$ is the angle between the arrows, the shadow has length $|a| \cos\theta$, so
#
# $$a \cdot b = |a| \, |b| \cos\theta , \qquad |a| = \sqrt{\textstyle\sum_i a_i^2} .$$
#
# Don't take our word for it. The function `atan2` tells the direction of an arrow without any dot product, so we can measure the angle on its own:

# %%
def direction(arrow):
    return math.atan2(arrow[1], arrow[0])  # the angle from the first axis, in radians


for name, vector in (("joyful", joyful), ("noise", noise), ("sad", sad)):
    angle = direction(vector) - direction(happy)
    product = happy.norm() * vector.norm() * math.cos(angle)
    dot = similarity.dot_product(happy, vector)
    print(f"{name:7} angle {math.degrees(angle):7.1f}°", end="   ")
    print(f"lengths x cos {product:6.2f}   dot product {dot:6.2f}")
    assert torch.isclose(product, dot)

# %% [markdown]
# Divide by both lengths and only the direction is left. That is the **cosine similarity**,
#
# $$\cos\theta = \frac{a \cdot b}{|a| \, |b|} ,$$
#
# from -1 (opposite) to 1 (same direction). By hand for `happy` and `joyful`: $14 / (\sqrt{2^2 + 3^2} \cdot \sqrt{1^2 + 4^2})$.

# %%
print(f"happy, joyful by hand  {14 / (13**0.5 * 17**0.5):.3f}")
for name, vector in (("joyful", joyful), ("noise", noise), ("sad", sad)):
    cosine = similarity.cosine_similarity(happy, vector)
    assert torch.isclose(cosine, F.cosine_similarity(happy, vector, dim=0))
    print(f"happy, {name:14}  {cosine:.3f}")

# %% [markdown]
# Now `joyful` is far ahead. **Do exercise 1.2 now (10 minutes), then read on.** It asks what the formula leaves open: what if a vector has no direction at all?
#
# **Which one, when?** If length is an accident, as it is for counts, which grow with how often a word is mentioned, take the cosine. If length means something, such as how sure or how important a thing is, let it count and take the dot product. Attention takes the dot product: a network can learn to make a key long, and that key then gets a higher score from every query that points its way.
#
# **Play.** Below are two arrows, with sliders for their angle and lengths. Before you touch one, say which of the two numbers it will change. (First the starting position as a still picture, then the live figure.)

# %%
explorer = widgets.two_vectors()
explorer.show_first_state(
    "Two arrows at an angle of 45 degrees with lengths 2.0 and 1.5;"
    " their cosine is 0.71, their dot product 2.12."
)

# %%
explorer

# %% [markdown]
# ## 1.3 Every query with every key
#
# In a search, one vector asks and many are asked. From now on we call the vector that asks the **query** and those that are searched the **keys**. Several queries are the rows of a matrix $Q$, the keys are the rows of a matrix $K$, and we want the dot product of every query with every key:

# %%
Q = torch.stack([happy, sad])  # (L_q=2, d=2)
K = torch.stack([joyful, happy, noise])  # (L_k=3, d=2)
ax = diagrams.matmul(
    Q, K.T, names=("Q", "K turned", "S"), rows=["happy", "sad"],
    columns=["joyful", "happy", "noise"],
)  # fmt: skip
plotting.show(ax)

# %% [markdown]
# *Notice that each cell of $S$ stands where its query (a row) and its key (a column) cross. The framed one is the 14 that you know.*
#
# A matrix product multiplies rows with columns, so $K$ has to be turned: its rows become columns. That's what the T says in
#
# $$S = Q K^\top , \qquad S_{ij} = \sum_{e=1}^{d} Q_{ie} \, K_{je} .$$
#
# $Q$ has shape $(L_q, d)$, $K$ has shape $(L_k, d)$, and the **scores** $S$ have shape $(L_q, L_k)$: a row for each query and a column for each key. As a loop:

# %%
S = torch.zeros(2, 3)
for i in range(2):
    for j in range(3):
        S[i, j] = similarity.dot_product(Q[i], K[j])
print(S)

# %% [markdown]
# **A whole batch.** A network works on several sequences at once: `queries` of shape `(B, L_q, d)`, `keys` of shape `(B, L_k, d)`. Item `b` of the queries belongs with item `b` of the keys, and nothing crosses from one item to another. Which axes of the keys have to trade places now, and which one has to stay?
#
# There are two good ways to write it. One is the operator `@`. The other is `einsum`, in which every axis gets a letter. You've read it aloud in lesson 00; as a reminder, here are the lengths of all keys, squared:

# %%
squares = torch.einsum("jd,jd->j", K, K)  # for every j, the sum over d
print(squares, K.norm(dim=-1) ** 2)

# %% [markdown]
# A letter that stands in both operands ties two axes together. A letter that is missing behind the arrow is summed over.
#
# **Do exercises 1.3, 1.4 and 1.6 now (25 minutes), then read on.** From here on we use `similarity.similarity_matrix`, which takes any batch axes in front. PyTorch knows the same product under a name you might not expect: a linear layer whose weights are the keys.

# %%
rng = torch.Generator().manual_seed(0)
queries = torch.randn(2, 5, 3, generator=rng)  # (B=2, L_q=5, d=3)
keys = torch.randn(2, 7, 3, generator=rng)  # (B=2, L_k=7, d=3)
scores = similarity.similarity_matrix(queries, keys)  # (B, L_q, L_k)
layer = torch.nn.Linear(3, 7, bias=False)
layer.weight = torch.nn.Parameter(keys[1])  # (L_k, d)
assert torch.allclose(layer(queries[1]), scores[1], atol=1e-6)
print(tuple(scores.shape))

# %% [markdown]
# ## 1.4 A ranking, or weights
#
# One row of scores can be used in two ways. A **ranking** picks the best and forgets the rest, as a search engine does. Let's rank all words of the documentation for the query `true`, once by dot product and once by cosine:

# %% tags=["nbval-ignore-output"]
row = library.vectors[[library.index("true")]]  # (1, d)
scores = similarity.similarity_matrix(row, library.vectors)[0]  # (V,)
order = scores.argsort(descending=True)[1:6].tolist()  # behind the word itself
lengths = library.vectors.norm(dim=-1)  # (V,)
print("dot product", [f"{library.words[i]} ({lengths[i]:.1f})" for i in order])
names = [word for word, _ in library.nearest("true", 5)]
print("cosine     ", [f"{w} ({lengths[library.index(w)]:.1f})" for w in names])
print(f"median length of all {len(lengths):,} words: {lengths.median():.1f}")

# %% [markdown]
# In brackets are the lengths. By dot product, words with long vectors push to the front, `bacon` and `spam` among them. (The text is about Python, after all.)
#
# A **weighting** keeps everything, more of what is alike and less of what is not. The usual way from the scores $s_1, s_2, \dots$ of one query to weights is the **softmax**,
#
# $$w_j = \frac{e^{s_j}}{\sum_{m} e^{s_m}} ,$$
#
# where $m$ runs over all keys. All weights are positive, and they sum to 1. By hand for `happy`, whose scores with `joyful` and `happy` are 14 and 13: the ratio of the two weights is $e^{14} / e^{13} = e$, so the larger one is $e / (e + 1)$.

# %%
two = similarity.similarity_matrix(Q, K[:2])  # happy and sad with joyful and happy
print("scores \n", two)
print("weights\n", torch.softmax(two, dim=-1))
print(f"by hand {math.e / (math.e + 1):.3f}")

# %% [markdown]
# Only differences count: for `sad`, -9 and -8 give the same two weights, the other way round. So scores that differ little give weights that differ little. Cosines never differ by more than 2, so we multiply them by 5 here to see something; lesson 02 takes this factor, and the softmax, apart. (`similarity.normalize` divides every row by its length. The dot products of such rows are cosines.)

# %%
widgets.predict(
    "1.3",
    "float spreads a weight of 1 over these four keys. How much does each get?",
    shares=["float", "int", "list", "import"],
)

# %% tags=["nbval-ignore-output"]
def word_weights(queries, keys, factor=5.0):
    vectors = [torch.stack([library[w] for w in words]) for words in (queries, keys)]
    directions = [similarity.normalize(v) for v in vectors]
    cosines = similarity.similarity_matrix(*directions)  # (L_q, L_k)
    return torch.softmax(factor * cosines, dim=-1)


four = word_weights(["float"], ["float", "int", "list", "import"])  # (1, 4)
widgets.came_out("1.3", four[0])

# %% tags=["nbval-ignore-output"]
chosen = ["float", "int", "complex", "list", "tuple", "set"]
chosen += ["try", "except", "finally", "left", "right", "import"]
weights = word_weights(chosen, chosen)  # (12, 12)
ax = plotting.attention_heatmap(weights, chosen, chosen)
plotting.show(
    ax,
    "Twelve words as queries and keys. Each row sums to 1; the largest weight falls on"
    " the word itself, the next on the words of its own group: the numbers, the"
    " containers, the parts of a try statement, left and right. import has no group.",
)

# %% [markdown]
# *Notice that each row is one query, and that next to itself it weighs its own group: number types, containers, the parts of a `try` statement, `left` and `right`. A table of weights, queries by keys, is what attention looks like. You'll see it in every lesson from here on.*
#
# **Do exercises 1.5 and 1.8 now (25 minutes), then read on.** In 1.8 every item of a batch meets every item of another: questions that look for their page.

# %% [markdown]
# ## 1.5 Where the vectors come from: company
#
# Two numbers for a word, made up by us, prove nothing. The 100 numbers of the library come from an observation that Zellig Harris made in 1954: the more two words differ in meaning, the more they differ in the words they stand with. So count, for each word, which words stand near it. Six words are enough to see how:

# %%
tiny = "cats chase mice dogs chase cats".split()
tiny_words = ["cats", "chase", "dogs", "mice"]
counts = word_vectors.cooccurrence_counts(tiny, tiny_words, window=1)  # (4, 4)
share = counts.sum(dim=1) / counts.sum()  # (4,)
print(counts)
print("share of all pairs that begin with each word:", share)

# %% [markdown]
# Row `chase` (the second) reads 2, 0, 1, 1: `chase` stands beside `cats` twice, beside `dogs` once, beside `mice` once. The text has five pairs of neighbors, and each counts twice, once from either side. That makes 10.
#
# **What would chance give?** Raw counts favor words that are everywhere: in English, "the" keeps company with everything. So we ask how much *more* often than by chance two words meet. Write each of the 10 pairs on a slip of paper, tear the slips in two, and throw all the first words into one hat and all the second words into another. Now draw one from each hat. The first is `chase` in 4 of 10 draws; the second is `cats` in 2 of 10, whatever the first was. So both happen in $0.4 \cdot 0.2 = 0.08$ of all draws. That is what $P(w) \, P(c)$ means: the pairs you'd get if words ignored each other. But they really met in 2 of 10 pairs, 0.2, which is 2.5 times as often. The logarithm of this ratio is the **pointwise mutual information**,
#
# $$\text{PMI}(w, c) = \ln \frac{P(w, c)}{P(w) \, P(c)} ,$$
#
# with $P(w, c)$ the share of all pairs that are $(w, c)$, $P(w)$ the share of those that begin with $w$, and $P(c)$ the share of those that end with $c$.

# %%
pairs = counts / counts.sum()  # (4, 4)
chance = share[:, None] * share  # (4, 4)
ppmi = torch.log(pairs / chance).clamp(min=0)  # (4, 4)
panels = {"share of all pairs": pairs, "share by chance": chance, "PPMI": ppmi}
axes = plotting.new_axes(10.5, 3.2, columns=3)
for ax, (name, table) in zip(axes, panels.items(), strict=True):
    plotting.similarity_heatmap(table, tiny_words, tiny_words, ax=ax, quantity=name)
plotting.show(
    ax,
    "Three tables of four by four words. For chase and cats: share 0.2, by chance 0.08,"
    " PPMI 0.92.",
)
print(f"chase, cats by hand: {math.log(0.2 / 0.08):.2f}")

# %% [markdown]
# *Follow one cell through the three tables: `chase` with `cats` has 0.20 of the pairs, chance would give 0.08, and ln(0.20 / 0.08) = 0.92. (Each table has a color scale of its own.)*
#
# "Seen less often than by chance" is unreliable in a small text, so negative values are set to zero; that's the first P of PPMI, *positive*. The library does the same, with one refinement that you find behind the recap. Now the real text. What company does `float` keep, by count and by PPMI?

# %% tags=["nbval-ignore-output"]
text = documentation.split_words(documentation.python_documentation())
vocabulary = list(library.words)  # words seen at least five times
counts = word_vectors.cooccurrence_counts(text, vocabulary, window=2)  # (V, V)
ppmi = word_vectors.positive_pmi(counts)  # (V, V)
row = library.index("float")
for name, table in (("count", counts), ("PPMI", ppmi)):
    print(f"{name:6}", [vocabulary[j] for j in table[row].topk(7).indices])
print(f"{len(text):,} words of text; {(ppmi > 0).float().mean():.1%} of cells above 0")

# %% [markdown]
# By count, more than half of the list is company that any word keeps. PPMI moves these words back and brings forward what is special about `float`.

# %% [markdown]
# ## 1.6 From a thousand numbers to a hundred
#
# A row of this table is a vector for a word already, but it's long and almost all zeros. Can we do with fewer numbers? Here is the idea. Give every word $r$ numbers and every word it can meet (its *context*) $r$ numbers too, in such a way that **their dot product rebuilds the cell** as well as possible. The *singular value decomposition* (SVD) finds the best such numbers: no other choice of $r$ numbers comes closer to the table in squared error. PyTorch returns it in three parts: `U` has a row for each word, `Vt` a column for each context, and `sizes` says how much each of their numbers matters, the largest first. Keep the first $r$ of each. Small first, with eight words and nine contexts:

# %% tags=["nbval-ignore-output"]
few = "float int complex left right try except finally".split()
contexts = "number numbers imaginary operand side hand clause handler raised".split()
rows, columns = ([library.index(w) for w in words] for words in (few, contexts))
table = ppmi[rows][:, columns]  # (8, 9)
print("float met imaginary", int(counts[rows[0], columns[2]]), "times")
U, sizes, Vt = torch.linalg.svd(table, full_matrices=False)


def rebuilt(r):
    of_words = U[:, :r] * sizes[:r]  # (8, r)
    of_contexts = Vt[:r].T  # (9, r)
    return similarity.similarity_matrix(of_words, of_contexts)  # (8, 9)

# %% tags=["nbval-ignore-output"]
axes = plotting.new_axes(11, 4.0, columns=2)
panels = {"PPMI": table, "rebuilt from 2 numbers per word": rebuilt(2)}
for ax, (name, cells) in zip(axes, panels.items(), strict=True):
    cells = cells * (cells.abs() >= 0.1)  # leave out what is almost nothing
    plotting.similarity_heatmap(cells, few, contexts, ax=ax, quantity=name)
plotting.show(
    ax,
    "A table of eight words by nine contexts with three blocks: numbers, sides, try"
    " statements. Rebuilt from two numbers per word, the block of the try statements is"
    " gone.",
)
for r in (2, 3):
    lost = (table - rebuilt(r)).square().sum() / table.square().sum()
    print(f"{r} numbers per word lose {lost:.0%} of the squared table")

# %% [markdown]
# *Notice what two numbers keep: two blocks of words that share their company. The block of the `try` statement needs a third. And notice a cell that was 0: `float` never met `imaginary` within two places, yet it gets a value, because its likes did.*
#
# That last point is the hope behind fewer numbers: what many words share is kept, and accidents are lost first. For the whole table we keep 100 numbers for each word, and then we have the vectors of the library. (Here the sizes enter by their root. Why? See behind the recap.)

# %% tags=["nbval-ignore-output"]
U, sizes, _ = torch.linalg.svd(ppmi)  # (V, V), (V,), _
vectors = U[:, :100] * sizes[:100].sqrt()  # (V, 100)
# an SVD leaves the sign of every column open
assert torch.allclose(vectors.abs(), library.vectors.abs(), atol=1e-3)
kept = sizes[:100].square().sum() / sizes.square().sum()
print(f"{tuple(ppmi.shape)} -> {tuple(vectors.shape)}; kept: {kept:.0%} of the squares")

# %% [markdown]
# Only 38% of the squares: that sounds like little. Was the rest accident? Only use can tell, and the neighbors at the top of this page were found with these 100 numbers.
#
# Here is a map of some of these words. It can show two directions of 100, so it says how little that is, and lines join words whose cosine is at least 0.5.

# %% tags=["nbval-ignore-output"]
shown = "float int complex nan left right center aligned try except finally".split()
shown += "raise list tuple set true false while import".split()
some = torch.stack([library[w] for w in shown])  # (n, 100)
unit = similarity.normalize(some)
alike = similarity.similarity_matrix(unit, unit) >= 0.5  # (n, n)
joined = [(shown[i], shown[j]) for i, j in alike.triu(1).nonzero().tolist()]
ax = diagrams.word_map(some, shown, near=joined)
plotting.show(ax)

# %% [markdown]
# *Notice that groups stand together, and that some words stand together here without a line: what holds them apart is in the other 98 directions.*

# %% [markdown]
# ## 1.7 What nearness tells you
#
# A cosine of 0.66, for `true` with `false`: is that much? A number needs something to compare it with.

# %%
widgets.predict(
    "1.4",
    "What is the cosine of two different words of the text, on average over all pairs?",
    between=(-1.0, 1.0),
    step=0.05,
)

# %% tags=["nbval-ignore-output"]
unit = similarity.normalize(library.vectors)  # (V, d)
cosines = similarity.similarity_matrix(unit, unit)  # (V, V)
others = ~torch.eye(len(unit), dtype=torch.bool)  # not a word with itself
nearest = cosines.masked_fill(~others, -1).amax(dim=-1)  # (V,)
pair = cosines[library.index("true"), library.index("false")]
print(f"true with false: {pair:.2f}")
print(f"a word with its nearest, median: {nearest.median():.2f}")
small = cosines[others].abs() < 0.2
print(f"{small.float().mean():.0%} of all pairs lie between -0.2 and 0.2")
widgets.came_out("1.4", cosines[others].mean().item())

# %% [markdown]
# Most pairs of words stand nearly at a right angle, so 0.66 is a lot, even for a nearest neighbor. But why `false`? We can look at the company they share. A context that both keep often has a high PPMI with both, so we sort by the smaller of its two values:

# %% tags=["nbval-ignore-output"]
true, false = library.index("true"), library.index("false")
shared = torch.minimum(ppmi[true], ppmi[false])  # (V,)
for j in shared.topk(8).indices.tolist():
    met = f"{counts[true, j]:3.0f} times with true, {counts[false, j]:3.0f} with false"
    print(f"{vocabulary[j]:14} smaller PPMI {shared[j]:.2f}   {met}")

# %% [markdown]
# Opposites such as `true` and `false`, or `left` and `right`, are used in the same places, so they keep the same company. That's what these vectors tell: *used alike*, not *means the same*. Notice too how thin the evidence is, a handful of meetings for most of these words. A vector that was counted from little text is a guess.
#
# You may have read that such vectors do arithmetic: *king* minus *man* plus *woman* is *queen* (Mikolov, Yih and Zweig, 2013). Is that so here? **Do exercises 1.7 and 1.9 now (40 minutes):** in 1.7 you measure it, beside what a lazy guesser reaches, and in 1.9 you find out how much cosine and PPMI are really worth.

# %% [markdown]
# ## What goes wrong
#
# **Vectors from two different spaces.** Make the same word vectors once more, but count company within five places instead of two. Both sets have the same words and the same shape, so nothing stops you from comparing across:

# %% tags=["nbval-ignore-output"]
wider = word_vectors.word_vectors(window=5)
for name, one in (("window 2", library), ("window 5", wider)):
    found = ", ".join(word for word, _ in one.nearest("left", 4))
    print(f"{name}: left is near {found}")
same = similarity.cosine_similarity(library.vectors, wider.vectors)  # (V,)
print(f"left in one with left in the other: {same[library.index('left')]:.2f}")
print(f"a word with itself across the two, mean: {same.mean():.2f}")

# %% [markdown]
# Within each set the neighbors make sense. Across them a word is hardly more like itself than two words are on average (you saw that number in 1.7). The 100 directions come out of one table and mean nothing in another; even the sign of each is open. Every model chooses its own. *How you'd notice:* compare something with itself. If that isn't near 1, the two sets don't belong together. It happens when keys were stored with one version of a model and queries come from the next.
#
# **Only one side normalized.** Divide the keys by their lengths but not the query, and the ranking of the keys stays right, so the mistake is easily missed. But the scores aren't cosines, and the weights come out wrong. *How you'd notice:* a "cosine" above 1.

# %%
print(f"{similarity.dot_product(happy, similarity.normalize(joyful)):.2f}")

# %% [markdown]
# ## In practice
#
# - Search engines for vectors often store **normalized** keys, so that one fast matrix product gives cosines. The lengths are divided out once, when a key is stored, and not again at every query.
# - A ranking doesn't need the query's length, which is the same for all keys. Weights do: a longer query makes larger differences, and the softmax reacts to those.
# - `F.normalize(x, dim=-1)` and `F.cosine_similarity(a, b, dim=-1)` guard against zero vectors with a small floor `eps` under the length.
# - Word vectors by counting need no training. A Transformer *learns* its vectors, for the task at hand.

# %% [markdown]
# ## Recap
#
# 1. **Compute a dot product, read its sign**: multiply coordinate by coordinate, add. Positive: more or less the same direction; negative: more or less opposite; zero: a right angle, or a zero vector.
# 2. **Dot product or cosine**: the dot product is shadow times length; the cosine is direction alone. Take the cosine where length is an accident, and the dot product where it means something.
# 3. **All with all, in a batch**: $S = QK^\top$ within each item, a row for each query and a column for each key.
# 4. **Ranking and weights**: sort the row, or put it through a softmax, which looks at differences only.
# 5. **Word vectors**: count company, compare with chance (PPMI), keep a hundred numbers for each word (SVD). Near means *used alike*, and only within one set of vectors.
#
# | symbol | meaning | shape |
# |---|---|---|
# | $d$, $L_q$, $L_k$ | size of a vector, number of queries, number of keys | numbers |
# | $a \cdot b$, $\lvert a \rvert$, $\cos\theta$ | dot product, length, cosine similarity | numbers |
# | $Q$, $K$ | queries, keys | $(L_q, d)$, $(L_k, d)$, or with $B$ in front |
# | $S = QK^\top$ | scores | $(L_q, L_k)$, or with $B$ in front |
# | $w$ | weights: a softmax over the keys | as $S$; each row sums to 1 |
# | $P(w, c)$ | share of the pairs of words that are $(w, c)$ | number; the table of PPMI is $(V, V)$ |

# %% tags=["nbval-ignore-output"]
widgets.predictions()

# %% [markdown]
# ## When you need it
#
# <details><summary>Why the dot product is the product of the lengths and the cosine: a proof</summary>
#
# The law of cosines, for the triangle with the sides $a$, $b$ and $a - b$, says $|a - b|^2 = |a|^2 + |b|^2 - 2 |a| |b| \cos\theta$. Multiplied out coordinate by coordinate, $|a - b|^2 = \sum_i (a_i - b_i)^2 = |a|^2 + |b|^2 - 2 \, a \cdot b$. Compare the two: $a \cdot b = |a| |b| \cos\theta$. In more than two dimensions the triangle lies in a plane, so the same holds there.
# </details>
#
# <details><summary>The refinement in the library's PPMI</summary>
#
# A rare context gets a high PMI from a single meeting, since $P(c)$ is so small. The library therefore raises the counts of the contexts to the power 0.75 before it makes them shares, which lifts the rare ones (Levy, Goldberg and Dagan, 2015, section 3.2). With the power 1 it computes what you did by hand: `word_vectors.positive_pmi(counts, smoothing=1.0)`.
# </details>
#
# <details><summary>Why the root of the singular values?</summary>
#
# To rebuild the table, all of the singular value has to be in the product: $U \Sigma$ with $V$, or $U \sqrt\Sigma$ with $V \sqrt\Sigma$. As vectors for words, Levy and Goldberg (2014, section 4.2) found the second better. It shares the size evenly between words and contexts.
# </details>

# %% [markdown]
# ## Check yourself
#
# <details><summary>1. The dot product of a with b is 6. What is it for 3a and -b?</summary>
#
# **-18.** Each factor comes out of the sum: 3 times -1 times 6. (18 forgets the minus, -6 forgets the 3, and 6 forgets both.)
# </details>
#
# <details><summary>2. The cosine of a with b is 0.5. What is it for 3a and -b?</summary>
#
# **-0.5.** The factor 3 changes only the length, which the cosine ignores; the minus turns b around. (-1.5 treats the cosine like a dot product, and no cosine is below -1.)
# </details>
#
# <details><summary>3. Queries have shape (8, 10, 64), keys (8, 20, 64). What is the shape of the scores, and over which dimension would a softmax make weights?</summary>
#
# **(8, 10, 20), over the last.** Each query spreads a weight of 1 over the keys, and the keys are the last axis. (Over dim=-2 the *queries* would compete for each key.)
# </details>
#
# <details><summary>4. Two words never stand near each other in the text. Can their cosine be high?</summary>
#
# **Yes.** The cosine compares the company they keep, not whether they keep each other company. Two spellings of one word may never meet and still be used in the same places. ("No" mixes up a cell of the table with the likeness of two rows.)
# </details>
#
# <details><summary>5. Every score of a query goes up by 100. What happens to its ranking, and to its weights?</summary>
#
# **Nothing, to either.** Sorting looks at the order and the softmax at differences, and neither changes. (If every score were *multiplied* by 100, the ranking would stay and the weights would not.)
# </details>
#
# {{next_steps}}

# %% [markdown]
# ## References
#
# - Harris, *Distributional Structure*, Word 10, 1954: the idea that a difference in meaning goes with a difference in company.
# - Levy, Goldberg, Dagan, *Improving Distributional Similarity with Lessons Learned from Word Embeddings*, 2015, sections 2.1 and 3.2: PPMI and the power 0.75; read it to see how much such details matter.
# - Levy, Goldberg, *Neural Word Embedding as Implicit Matrix Factorization*, 2014, section 4.2: the root of the singular values (equation 13); section 5.2: how close counted vectors come to learned ones.
# - Mikolov, Yih, Zweig, *Linguistic Regularities in Continuous Space Word Representations*, 2013: the arithmetic with words. Linzen, *Issues in Evaluating Semantic Spaces Using Word Analogies*, 2016: what that arithmetic shows, and what it doesn't.
# - Khattab, Zaharia, *ColBERT*, 2020: the search of exercise 1.8, with learned vectors.
# - Vaswani et al., *Attention Is All You Need*, 2017, section 3.2.1: the product $QK^\top$ at the center of the Transformer.
