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
# By the end you can tell how alike two vectors are, compare all the queries of a batch with all its keys, and make word vectors of your own that put `complex` and `int` among the nearest neighbors of `float`.
#
# {{colab_link}} · short path about 50 minutes with its exercises (35 + 15), everything about 3 hours · builds on lesson 00

# %% tags=["setup"]
import collections
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
# 5. make word vectors from a text (sections 1.5 and 1.6), and say how near is near in a hundred dimensions.

# %% [markdown]
# ## Predict first
#
# *Core · 2 minutes*
#
# Attention rests on one question: *how alike are these two vectors?*
#
# Every Python comes with a part of its own documentation. The library of this course has read it and has turned each word that occurs at least five times into 100 numbers. It was never told what a word means. (Section 1.5 shows where the numbers come from, and in exercise 1.6 you make them yourself.) Which words are most like `float`, `left` and `try`?

# %% tags=["nbval-ignore-output"]
library = word_vectors.word_vectors()
V, d = library.vectors.shape
print(f"{V:,} words, each a vector of {d} numbers")
for word in ("float", "left", "try"):
    print(f"{word:6}", ", ".join(other for other, _ in library.nearest(word, 4)))

# %%
widgets.predict(
    "1.A",
    "Which word will be most like `true`?",
    choices=["correct", "false", "boolean", "value", "none of these"],
)

# %% tags=["nbval-ignore-output"]
best = library.nearest("true", 1)[0][0]
known = best in ("correct", "false", "boolean", "value")
print("nearest to true:", best)
widgets.came_out("1.A", best if known else "none of these")

# %% [markdown]
# `false`, of all words! Section 1.5 finds out why. (`_stmt`, by the way, is a piece of names such as `try1_stmt` in the grammar. The text is that of Python 3.11, and comes with the course.)
#
# How does the library find them? It computes **one number** for each pair of words, and that number is what this lesson is about.

# %% [markdown]
# ## 1.1 One number for two arrows
#
# *Core · 4 minutes*
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
# *`happy` and `joyful` point almost the same way, `sad` the other way.*
#
# Can you think of one number, made from the four coordinates of a pair, that is large for `happy` with `joyful` and negative for `happy` with `sad`?
#
# One good answer is to multiply coordinate by coordinate and then add.

# %%
print("happy · joyful =", 2 * 1 + 3 * 4)
print("happy · sad    =", 2 * (-1) + 3 * (-2))

# %% [markdown]
# That is the **dot product**. For two vectors $a$ and $b$ of the same size $d$,
#
# $$a \cdot b = \sum_{i=1}^{d} a_i \, b_i ,$$
#
# where $a_i$ is coordinate $i$ of $a$. Here it is as a loop, next to PyTorch's own:

# %%
def dot_loop(a, b):
    total = 0.0
    for i in range(len(a)):
        total += a[i] * b[i]
    return total


for a, b in ((happy, joyful), (happy, sad), (joyful, sad)):
    print(f"loop {dot_loop(a, b):5.0f}   torch.dot {torch.dot(a, b):5.0f}")

# %% [markdown]
# **What the sign tells you.** A product $a_i b_i$ is positive where the two vectors agree on coordinate $i$ (both positive or both negative), and negative where they disagree. The sum weighs one against the other. Positive means *more or less the same direction*, negative *more or less opposite*, and zero a right angle, unless one of the arrows is zero itself.

# %%
east, north = torch.tensor([3.0, 0.0]), torch.tensor([0.0, 2.0])
print("east · north =", similarity.dot_product(east, north).item())

# %% [markdown]
# Nothing in the formula needs an arrow. Two pictures have a dot product too, pixel by pixel. **Do exercise 1.1 now (5 minutes), then read on:** {{exercises_link}}. It asks for a dot product that the loop above can't do.

# %% [markdown]
# ## 1.2 Length against direction
#
# *Core · 5 minutes*

# %%
widgets.predict(
    "1.B",
    "happy is [2, 3]. Which of the two has the larger dot product with it?",
    choices=["joyful [1, 4]", "noise [40, 0]", "both the same"],
)

# %%
noise = torch.tensor([40.0, 0.0])
products = {
    "joyful [1, 4]": similarity.dot_product(happy, joyful).item(),
    "noise [40, 0]": similarity.dot_product(happy, noise).item(),
}
for name, product in products.items():
    print(f"happy · {name} = {product:3.0f}")
widgets.came_out("1.B", max(products, key=products.get))

# %% [markdown]
# The long arrow wins, even though it points somewhere else. To see why, look at the shadow that `happy` throws on the line of `joyful` when the light falls straight down on that line:

# %%
ax = diagrams.projection(happy, joyful, ("happy", "joyful"))
plotting.show(ax)

# %% [markdown]
# *The thick brown line is the shadow. Build a rectangle on it whose other side is as long as `joyful`, and its area is the dot product.*
#
# The shadow measures direction. It's longest when the two arrows point the same way, shrinks to nothing at a right angle, and falls on the other side (a negative length) beyond that. But it is then multiplied by the length of the other arrow, and `noise` is 40 long:

# %%
ax = diagrams.areas(happy, {"joyful": joyful, "noise": noise}, "happy")
plotting.show(ax)

# %% [markdown]
# *Both rectangles on one scale. On `noise` the shadow (the height) is shorter, and the area is still far larger.*
#
# If $\theta$ is the angle between the arrows, the shadow has length $|a| \cos\theta$, so
#
# $$a \cdot b = |a| \, |b| \cos\theta , \qquad |a| = \sqrt{\textstyle\sum_i a_i^2} .$$
#
# The function `atan2` gives the direction of an arrow without any dot product, so we can measure the angle on its own and compare:

# %%
def direction(arrow):
    return math.atan2(arrow[1], arrow[0])  # the angle from the first axis, in radians


for name, vector in (("joyful", joyful), ("noise", noise), ("sad", sad)):
    angle = direction(vector) - direction(happy)
    product = happy.norm() * vector.norm() * math.cos(angle)
    dot = similarity.dot_product(happy, vector)
    print(f"{name:7} angle {math.degrees(angle):7.1f}°", end="   ")
    print(f"lengths x cos {product:6.2f}   dot product {dot:6.2f}")

# %% [markdown]
# Divide by both lengths and only the direction is left. That is the **cosine similarity**,
#
# $$\cos\theta = \frac{a \cdot b}{|a| \, |b|} ,$$
#
# from -1 (opposite) to 1 (same direction). For `happy` and `joyful` that is $14 / (\sqrt{2^2 + 3^2} \cdot \sqrt{1^2 + 4^2})$.

# %%
print(f"happy, joyful by hand  {14 / (13**0.5 * 17**0.5):.3f}")
for name, vector in (("joyful", joyful), ("noise", noise), ("sad", sad)):
    cosine = similarity.cosine_similarity(happy, vector)
    print(f"happy, {name:14}  {cosine:.3f}", end="   ")
    print(f"PyTorch {F.cosine_similarity(happy, vector, dim=0):.3f}")

# %% [markdown]
# Now `joyful` is far ahead.
#
# **Which one, when?** If length is an accident, as it is for counts, which grow with how often a word is mentioned, take the cosine. If length means something, such as how sure or how important a thing is, let it count and take the dot product. Attention takes the dot product: a network can learn to make a key long, and that key then gets a higher score from every query that points its way.
#
# **Play.** Below are two arrows, with sliders for their angle and lengths. Before you touch one, say which of the numbers it will change.

# %%
explorer = widgets.two_vectors()
explorer.show_first_state(
    "Two arrows at an angle of 45 degrees with lengths 2.0 and 1.5, and the shadow of b"
    " on a, 1.06 long; their cosine is 0.71, their dot product 2.12."
)

# %%
explorer

# %% [markdown]
# What if a vector has no direction at all? The formula leaves that open. **Exercise 1.2 (10 minutes) settles it.**

# %% [markdown]
# ## 1.3 Every query with every key
#
# *Core · 5 minutes*
#
# In a search, the vector that asks is the **query**, and the vectors it is compared with are the **keys**. Queries are the rows of a matrix $Q$, keys the rows of a matrix $K$, and we want the dot product of every query with every key:

# %%
Q = torch.stack([happy, sad])  # (L_q=2, d=2)
K = torch.stack([joyful, happy, noise])  # (L_k=3, d=2)
ax = diagrams.matmul(
    Q, K.T, names=("Q", "K turned", "S"), rows=["happy", "sad"],
    columns=["joyful", "happy", "noise"],
)  # fmt: skip
plotting.show(ax)

# %% [markdown]
# *Each cell of $S$ lies where its query (a row) and its key (a column) cross. The framed one is the 14 from above.*
#
# A matrix product multiplies rows with columns, so the rows of $K$ have to become columns. That's what the T says in
#
# $$S = Q K^\top , \qquad S_{ij} = \sum_{e=1}^{d} Q_{ie} \, K_{je} .$$
#
# $Q$ has shape $(L_q, d)$, $K$ has shape $(L_k, d)$, and the **scores** $S$ have shape $(L_q, L_k)$: a row for each query and a column for each key. One cell at a time:

# %%
S = torch.zeros(2, 3)
for i in range(2):
    for j in range(3):
        S[i, j] = similarity.dot_product(Q[i], K[j])
print(S)

# %% [markdown]
# **A whole batch.** A network works on several sequences at once: `queries` of shape `(B, L_q, d)`, `keys` of shape `(B, L_k, d)`. Item `b` of the queries belongs with item `b` of the keys, and nothing crosses from one item to another. Which axes of the keys have to trade places now, and which one has to stay?
#
# You can write it with `@`, or with `einsum`, where every axis gets a letter. As a reminder from lesson 00, here are the squared lengths of all keys:

# %%
squares = torch.einsum("jd,jd->j", K, K)  # for every j, the sum over d
print(squares, K.norm(dim=-1) ** 2)

# %% [markdown]
# A letter that appears in both operands ties two axes together. A letter that is missing after the arrow is summed over. Exercise 1.4 (5 minutes) asks for all pairs of a batch this way; below, `similarity.similarity_matrix` does it, with any batch axes in front. PyTorch has the same product under a name you might not expect. It's a linear layer whose weights are the keys.

# %%
rng = torch.Generator().manual_seed(0)
queries = torch.randn(2, 5, 3, generator=rng)  # (B=2, L_q=5, d=3)
keys = torch.randn(2, 7, 3, generator=rng)  # (B=2, L_k=7, d=3)
scores = similarity.similarity_matrix(queries, keys)  # (B, L_q, L_k)
layer = torch.nn.Linear(3, 7, bias=False)
layer.weight = torch.nn.Parameter(keys[1])  # (L_k, d)
print(tuple(scores.shape))
print(torch.allclose(layer(queries[1]), scores[1], atol=1e-6))

# %% [markdown]
# Is a large dot product the same as a small distance? No. `noise` has the largest dot product with `happy`, and yet its tip is the farthest away of all the keys. But the dot products hold everything you need to work out the distances. **Do exercise 1.3 now (10 minutes), then read on.**

# %% [markdown]
# ## 1.4 A ranking, or weights
#
# *Core · 5 minutes*
#
# One row of scores can be used in two ways. A **ranking** picks the best and forgets the rest, as a search engine does. Let's rank all words of the documentation for the query `true`, once by dot product and once by cosine:

# %% tags=["nbval-ignore-output"]
row = library.vectors[[library.index("true")]]  # (1, d)
scores = similarity.similarity_matrix(row, library.vectors)[0]  # (V,)
order = scores.argsort(descending=True)[1:6].tolist()  # after the word itself
lengths = library.vectors.norm(dim=-1)  # (V,)
print("dot product", [f"{library.words[i]} ({lengths[i]:.1f})" for i in order])
names = [word for word, _ in library.nearest("true", 5)]
print("cosine     ", [f"{w} ({lengths[library.index(w)]:.1f})" for w in names])
print(f"median length of all {len(lengths):,} words: {lengths.median():.1f}")

# %% [markdown]
# In brackets are the lengths. By dot product, words with long vectors push to the front, `bacon` and `spam` among them.
#
# A **weighting** keeps everything, more of what is alike and less of what is not. The usual way from the scores $s_1, s_2, \dots$ of one query to weights is the **softmax**,
#
# $$w_j = \frac{e^{s_j}}{\sum_{m} e^{s_m}} ,$$
#
# where $m$ runs over all keys. All weights are positive, and they sum to 1. Take `happy`, whose scores with `joyful` and `happy` are 14 and 13. The ratio of the two weights is $e^{14} / e^{13} = e$, so the larger one is $e / (e + 1)$.

# %%
two = similarity.similarity_matrix(Q, K[:2])  # happy and sad with joyful and happy
print("scores \n", two)
print("weights\n", torch.softmax(two, dim=-1))
print(f"by hand {math.e / (math.e + 1):.3f}")

# %% [markdown]
# Only differences count. For `sad`, -9 and -8 give the same two weights, the other way around. Cosines never differ by more than 2, and we multiply them by 5 here to see something. We picked the 5 by eye; lesson 02 takes this factor, and the softmax, apart.

# %%
widgets.predict(
    "1.C",
    "float spreads a weight of 1 over these four keys. How much does each get?",
    shares=["float", "int", "list", "import"],
)

# %% tags=["nbval-ignore-output"]
def word_cosines(queries, keys):
    vectors = [torch.stack([library[w] for w in words]) for words in (queries, keys)]
    directions = [similarity.normalize(v) for v in vectors]  # each of length 1
    return similarity.similarity_matrix(*directions)  # (L_q, L_k)


four = word_cosines(["float"], ["float", "int", "list", "import"])  # (1, 4)
four = torch.softmax(5 * four, dim=-1)  # (1, 4)
widgets.came_out("1.C", four[0])

# %% tags=["nbval-ignore-output"]
chosen = ["float", "int", "complex", "list", "tuple", "set"]
chosen += ["try", "except", "finally", "left", "right", "import"]
scores = 5 * word_cosines(chosen, chosen)  # (12, 12)
scores.fill_diagonal_(-torch.inf)  # a word may not choose itself: exp(-inf) is 0
ax = plotting.attention_heatmap(torch.softmax(scores, dim=-1), chosen, chosen)
for edge in (2.5, 5.5, 8.5, 10.5):  # between the groups
    ax.axhline(edge, color="0.4", lw=0.8)
    ax.axvline(edge, color="0.4", lw=0.8)
plotting.show(
    ax,
    "Twelve words as queries and keys, in groups. Each row sums to 1; a word gives"
    " itself nothing and most of its weight to its own group: the numbers, the"
    " containers, the parts of a try statement, left and right. import has no group.",
)

# %% [markdown]
# *We picked words from four groups, and `import` from none. Each row is one query. Since it can't choose itself, a word gives most of its weight to its own group, and `import` spreads it widely. A table of weights, queries by keys, is what attention looks like. You'll see it in every lesson from here on.*
#
# Exercise 1.5 (10 minutes) finds nearest neighbors. In exercise 1.8 (15 minutes) every item of a batch meets every item of another, the way questions look for a page.

# %% [markdown]
# ## 1.5 Where the vectors come from: company
#
# *More · 12 minutes*
#
# Two made-up numbers for a word prove nothing. The 100 numbers of the library come from an observation that Zellig Harris made in 1954. The more two words differ in meaning, the more they differ in the words around them. We can count these: for each word, which words come near it, and how often? Six words are enough to see how.

# %%
tiny = "cats chase mice dogs chase cats".split()
tiny_words = ["cats", "chase", "dogs", "mice"]
counts = word_vectors.cooccurrence_counts(tiny, tiny_words, window=1)  # (4, 4)
share = counts.sum(dim=1) / counts.sum()  # (4,)
print(counts)
print("share of all pairs that begin with each word:", share)

# %% [markdown]
# Row `chase` (the second) reads 2, 0, 1, 1, since `chase` is beside `cats` twice, beside `dogs` once, beside `mice` once. The text has five pairs of neighbors, and each counts twice, once from either side. That makes 10.
#
# **What would chance give?** Raw counts favor words that are everywhere. In English, "the" is near everything. We ask instead how much *more* often than by chance two words meet. Write each of the 10 pairs on a slip of paper, tear the slips in two, and throw all the first words into one hat and all the second words into another. Now draw one from each hat. The first is `chase` in 4 of 10 draws; the second is `cats` in 2 of 10, whatever the first was. So both happen in $0.4 \cdot 0.2 = 0.08$ of all draws. That is what $P(w) \, P(c)$ means, the pairs you'd get if words ignored each other. But they really met in 2 of 10 pairs, 0.2, which is 2.5 times as often. The logarithm of this ratio is the **pointwise mutual information**,
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
for ax, (name, table), bound in zip(axes, panels.items(), (0.2, 0.2, 1.0), strict=True):
    how = {"quantity": name, "bound": bound}  # the two shares on one scale
    plotting.similarity_heatmap(table, tiny_words, tiny_words, ax=ax, **how)
plotting.show(
    ax,
    "Three tables of four by four words. For chase and cats: share 0.2, by chance 0.08,"
    " PPMI 0.92.",
)
print(f"chase, cats by hand: {math.log(0.2 / 0.08):.2f}")

# %% [markdown]
# *Follow one cell through the three tables. `chase` with `cats` has 0.20 of the pairs, chance would give 0.08, and ln(0.20 / 0.08) = 0.92. (The two shares are on one color scale, PPMI has its own.)*
#
# Most pairs never meet, and the logarithm of 0 is minus infinity. PPMI writes 0 there, and also where two words met less often than by chance, and keeps only what is above 0. That's its first P, *positive*. The library does the same, with one refinement (see *When you need it*). Now the real text. What company does `float` keep, by count and by PPMI?

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
# By count, more than half of the list is company that any word keeps. PPMI moves these words back and brings forward what is special about `float`. A row of this table is already a vector for a word.
#
# And why is `true` nearest to `false`? The two also meet each other in the text. Is that the reason, or is it the company they share? A context that both keep often has a high PMI with both, so we sort by the smaller of the two values:

# %% tags=["nbval-ignore-output"]
pair = [library.index("true"), library.index("false")]
both = ppmi[pair].amin(dim=0).topk(10).indices.tolist()
shared = [j for j in both if j not in pair][:8]
for j in shared:
    met = "{:3.0f} times with true, {:3.0f} with false".format(*counts[pair, j])
    print(f"{vocabulary[j]:14} smaller PPMI {ppmi[pair, j].min():.2f}   {met}")

# %% [markdown]
# Now we pretend that `true` never met some of its contexts, and make all the vectors again from the changed counts by the library's recipe (section 1.6 explains its last step, the SVD):

# %% tags=["nbval-ignore-output"]
def pretend(word, never_met):
    changed, i = counts.clone(), library.index(word)
    changed[i, never_met] = changed[never_met, i] = 0
    U, sizes, _ = torch.linalg.svd(word_vectors.positive_pmi(changed))
    vectors = similarity.normalize(U[:, :100] * sizes[:100].sqrt())  # (V, 100)
    return vectors @ vectors[i]  # (V,)

# %% tags=["nbval-ignore-output"]
strong = [j for j in ppmi[pair[0]].topk(30).indices.tolist() if j not in pair + shared]
strikes = {"(as it is)": [], "false": pair[1:], "those 8": shared}
strikes["8 others"] = strong[:8]
own = {j for j in (ppmi[pair[0]] > 0).nonzero().flatten().tolist() if j not in pair}
common = [j for j in own if ppmi[pair[1], j] > 0]  # above 0 for false, too
strikes[f"all {len(common)} in common"] = common
strikes[f"all {len(own) - len(common)} others"] = list(own - set(common))
for name, gone in strikes.items():
    cosines, lost = pretend("true", gone), counts[pair[0], gone].sum()
    first = vocabulary[cosines.argsort(descending=True)[1]]
    print(f"true never met {name:16} ({lost:3.0f} meetings): ", end="")
    print(f"cosine with false {cosines[pair[1]]:.2f}, nearest {first}")

# %% [markdown]
# Mostly it's the company. If `true` had never met `false`, their cosine would be lower, but `false` would still be its nearest neighbor. If you take away the eight contexts they share most, the cosine falls further and another word comes first. Without any of the contexts they have in common, most of it is gone, though the two still meet. Losing meetings isn't enough by itself. Without eight *other* strong contexts the cosine rises, and without all the others it rises further. These two opposites are used in the same places. That's what these vectors tell you: *used alike*, not *means the same*.
#
# Nearness also needs evidence, and the list of contexts is thin, with a handful of meetings for most of them. How often do the neighbors of `true` occur at all?

# %% tags=["nbval-ignore-output"]
frequency = collections.Counter(text)
for word, cosine in library.nearest("true", 6):
    filled = (ppmi[library.index(word)] > 0).sum()
    print(f"{word:14} cosine {cosine:.2f}", end="   ")
    print(f"{frequency[word]:3} times in the text, {filled:3} cells of its row above 0")

# %% [markdown]
# `false` rests on many sentences, `isupper` and `signed_number` on six each, with fewer than ten cells above 0 in their rows. Can you trust a row like that? A test in the next section gives the answer.

# %% [markdown]
# ## 1.6 From a thousand numbers to a hundred
#
# *More · 15 minutes*
#
# These rows are long and almost all zeros. Can we get by with fewer? Here is the idea. Give every word $r$ numbers and every word it can meet (its *context*) $r$ numbers too, in such a way that **their dot product rebuilds the cell** as well as possible. The *singular value decomposition* (SVD) finds the best such numbers: no other choice of $r$ numbers comes closer to the table in squared error. PyTorch returns it in three parts. `U` has a row for each word, `Vt` a column for each context, and `sizes` says how much each of their numbers matters, the largest first. Keep the first $r$ of each. We start small, with eight words and nine contexts, picked by us so that they fall into three groups:

# %% tags=["nbval-ignore-output"]
few = "float int complex left right try except finally".split()
contexts = "number numbers imaginary operand side hand clause handler raised".split()
rows, columns = ([library.index(w) for w in words] for words in (few, contexts))
small = ppmi[rows][:, columns]  # (8, 9)


def rebuilt(table, r):
    U, sizes, Vt = torch.linalg.svd(table, full_matrices=False)
    of_words = U[:, :r] * sizes[:r]  # (8, r)
    of_contexts = Vt[:r].T  # (9, r)
    return similarity.similarity_matrix(of_words, of_contexts)  # (8, 9)

# %% tags=["nbval-ignore-output"]
axes = plotting.new_axes(11, 4.0, columns=2)
panels = {"PPMI": small, "rebuilt from 2 numbers per word": rebuilt(small, 2)}
for ax, (name, cells) in zip(axes, panels.items(), strict=True):
    cells = cells * (cells.abs() >= 0.1)  # leave out what is almost nothing
    how = {"quantity": name, "bound": 5.0}  # one color scale
    plotting.similarity_heatmap(cells, few, contexts, ax=ax, **how)
plotting.show(
    ax,
    "A table of eight words by nine contexts with three blocks: numbers, sides, try"
    " statements. Rebuilt from two numbers per word, the block of the try statements is"
    " gone.",
)
for r in (2, 3):
    lost = (small - rebuilt(small, r)).square().sum() / small.square().sum()
    print(f"{r} numbers per word lose {lost:.0%} of the squared table")

# %% [markdown]
# *Two numbers keep two blocks of words that share their company. The block of the `try` statement needs a third. (Cells below 0.1 are left blank.) And look at `float` with `imaginary`, which was 0 and has become more than 1.*
#
# `float` never met `imaginary` within two places. Where does its value come from? We change one thing at a time and rebuild, now from three numbers, so that each of the three blocks can have one. (With two, the second change would leave the row of `float` empty, because the other two blocks are stronger then and take both numbers.)

# %% tags=["nbval-ignore-output"]
def float_without(*gone):
    table = small.clone()  # (8, 9)
    for context in gone:
        table[few.index("complex"), contexts.index(context)] = 0
    return rebuilt(table, 3)[few.index("float"), :3].tolist()


print(f"{'row of float, rebuilt:':35}", *(f"{c:>10}" for c in contexts[:3]))
for gone in ([], ["imaginary"], ["number", "numbers"]):
    name = "complex never met " + ", ".join(gone) if gone else "as it is"
    print(f"{name:35}", *(f"{abs(cell):10.2f}" for cell in float_without(*gone)))

# %% [markdown]
# The value is on loan from `complex`, the only one of the three that met `imaginary`, and it is lent because the two share `number` and `numbers`. Take away the meetings of `complex` with `imaginary`, or with both of the words they share, and it's gone, while the other cells of `float` stay. Words that share company fill each other's gaps, and that is the hope behind fewer numbers. For all words of the text we keep 100 numbers each. How much of the table is that?

# %% tags=["nbval-ignore-output"]
sizes = torch.linalg.svdvals(ppmi)  # (V,)
kept = sizes[:100].square().sum() / sizes.square().sum()
print(f"100 of {len(ppmi):,} numbers keep {kept:.0%} of the squares")

# %% [markdown]
# That sounds like little. **Do exercise 1.6 now (20 minutes):** you count, weigh with PPMI and keep the first $r$ directions, and your own vectors find the neighbors of `float`.
#
# **What did we lose?** We could compare neighbors, from all numbers and from the library's 100:

# %% tags=["nbval-ignore-output"]
for word in ("float", "left", "true"):
    near = similarity.nearest_neighbors(ppmi[library.index(word)], ppmi, 6)[1].tolist()
    print(f"{word:5} all: {', '.join(vocabulary[i] for i in near[1:])}")
    print(f"      100: {', '.join(other for other, _ in library.nearest(word, 5))}")

# %% [markdown]
# The lists are much alike. All numbers put food from a few examples next to `true`, and the hundred don't, but three lists prove nothing. Here is a test that needs no opinion about meaning. Split the text into two random halves and make a table from each. Can a word's row in the first half find the row of *the same word* in the second? We use words that both halves hold at least ten times, and take the SVD of the first half alone. As a landmark, we also take as many directions *at random*.

# %% tags=["nbval-ignore-output"]
def finds_itself(first, second):  # for each word, whether it is found again
    rows = similarity.normalize(first), similarity.normalize(second)
    best = similarity.similarity_matrix(*rows).argmax(dim=-1)  # (V,)
    return (best == torch.arange(len(best))).float()  # (V,)


def found_again(first, second):
    return finds_itself(first, second).mean().item()

# %% tags=["nbval-ignore-output"]
halves = [word_vectors.two_halves(seed) for seed in range(5)]  # of counts
halves = [tuple(map(word_vectors.positive_pmi, pair)) for pair in halves]
everything = torch.tensor([found_again(*pair) for pair in halves])  # (5,)
V_half = sum(len(first) for first, _ in halves) / 5
print(f"about {V_half:.0f} words, as many numbers each: ", end="")
print(f"{everything.mean():.1%} find themselves ({everything.min():.1%}", end="")
print(f" to {everything.max():.1%} in five splits); a guess {1 / V_half:.1%}")

# %%
widgets.predict(
    "1.D",
    "Of these numbers, how many can the SVD drop before that share falls?",
    choices=["hardly any", "about half", "about three quarters", "nearly all"],
)

# %% tags=["nbval-ignore-output"]
keep = (20, 50, 100, 200)


def by_direction(first, second, seed):
    best = torch.linalg.svd(first)[2].T  # (V, V): a direction in each column
    rng = torch.Generator().manual_seed(seed)
    drawn = torch.randn(best.shape, generator=rng)
    shares = []
    for directions in (best, drawn):
        parts = [directions[:, :r] for r in keep]  # (V, r)
        shares.append([found_again(first @ part, second @ part) for part in parts])
    return shares

# %% tags=["nbval-ignore-output"]
shares = [by_direction(*pair, seed) for seed, pair in enumerate(halves)]
svd, drawn = torch.tensor(shares).permute(1, 2, 0)  # (4, 5) each
curves = {"first r of the SVD": svd, "r at random": drawn}
ax = plotting.runs(
    torch.tensor(keep), curves, levels={"all numbers": everything},
    xlabel="numbers kept for each word, r", ylabel="share of words found again",
)  # fmt: skip
plotting.show(ax, "Words found again, by r, in five splits. The first r of the SVD "
              "reach the band of all numbers at 100; r at random stay below it.")
enough = keep[(svd.mean(dim=1) > everything.mean() - 0.02).int().argmax()]
names = {0.0: "hardly any", 0.5: "about half", 0.75: "about three quarters"}
names[1.0] = "nearly all"
dropped = min(names, key=lambda share: abs(share - (1 - enough / V_half)))
widgets.came_out("1.D", names[dropped])

# %% tags=["nbval-ignore-output"]
for name, rows in (("SVD", svd), ("random", drawn)):
    pairs = zip(keep, rows.mean(dim=1), strict=True)
    print(f"{name:8}", *(f"r={r}: {share:.1%}  " for r, share in pairs))
print(f"all       {everything.mean():.1%}")
ahead = (svd > everything).sum(dim=1).tolist()
ahead = ", ".join(f"r={r}: {n} of 5" for r, n in zip(keep, ahead, strict=True))
print(f"splits in which the SVD's r beat all numbers: {ahead}")

# %% [markdown]
# *Each dot is one split, and the gray band is the range that all numbers reach. A hundred directions do as well as all of them, two hundred a little better, fifty worse. A hundred directions at random are no match.*
#
# Why these directions? The usual claim is that what both halves share comes first and accidents of one half come last. Let's look. We cut each table into the part in the first $r$ directions and the rest, and compare the parts of the two halves with each other, as one long vector each. The landmark is again $r$ directions at random:

# %% tags=["nbval-ignore-output"]
def agreement(first, second):
    return similarity.cosine_similarity(first.flatten(), second.flatten())


whole = torch.stack([agreement(*pair) for pair in halves]).mean()
print(f"halves agree, whole tables: {whole:.2f}")

# %% tags=["nbval-ignore-output"]
for r in keep:
    numbers = []
    for seed, (first, second) in enumerate(halves):
        best = torch.linalg.svd(first)[2].T  # (V, V)
        rng = torch.Generator().manual_seed(seed)
        drawn = torch.linalg.qr(torch.randn(best.shape, generator=rng))[0]  # (V, V)
        parts = best[:, :r], best[:, r:], drawn[:, :r]
        numbers += [agreement(first @ part, second @ part) for part in parts]
        numbers.append(found_again(first @ best[:, r:], second @ best[:, r:]))
    kept, rest, by_chance, found = torch.tensor(numbers).view(5, 4).mean(dim=0)
    print(f"r={r:3}: kept {kept:.2f}, rest {rest:.2f}", end="   ")
    print(f"r at random {by_chance:.2f}   rest alone finds {found:.0%}")

# %% [markdown]
# At every $r$, what is kept agrees more than the whole tables do, and what is thrown away agrees less, while random directions agree no better than the whole. The first directions do hold *more* of what the halves share, but not all of it. Look at the last column. Without its best hundred directions a table still finds most of its words, so the rest isn't all accident. We can do without it all the same, since the first hundred find as many words on their own as the whole table does.
#
# The same test answers the question from section 1.5, whether you can trust a row that was counted from little text. We let in rarer words (at least five times in each half) and sort all words by how many meetings they had:

# %% tags=["nbval-ignore-output"]
quarters = []
for seed in range(5):
    first, second = word_vectors.two_halves(seed, min_count=5)
    order = (first + second).sum(dim=1).argsort()  # fewest meetings first
    tables = map(word_vectors.positive_pmi, (first, second))
    parts = finds_itself(*tables)[order].chunk(4)
    quarters.append([part.mean() for part in parts])
quarters = torch.tensor(quarters)  # (5, 4)
for name, column in (("fewest", 0), ("most", -1)):
    share = quarters[:, column]
    print(f"quarter with the {name:6} meetings: {share.mean():.0%}", end=" ")
    print(f"find themselves ({share.min():.0%} to {share.max():.0%})")

# %% [markdown]
# Words with many meetings nearly always find themselves. Of those with the fewest, about a third don't. Is it the lack of text, or are rare words a different kind of word? We take the quarter with the most meetings and throw most of those meetings away at random, until they have about as many as the rarest quarter:

# %% tags=["nbval-ignore-output"]
def with_few_meetings(seed, rng):
    """Two tables, most of the meetings of the commonest quarter thrown away."""
    tables = word_vectors.two_halves(seed, min_count=5)  # of counts
    meetings = sum(tables).sum(dim=1)  # (V,)
    fewest, _, _, most = meetings.argsort().chunk(4)
    left_over = (meetings[fewest].median() / meetings[most].median()).item()
    for table in tables:
        keeps = torch.full_like(table[most], left_over)
        table[most] = torch.binomial(table[most], keeps, generator=rng)
    tables = [word_vectors.positive_pmi(t).nan_to_num() for t in tables]  # 0/0 is 0
    return tables, {"common words, thinned": most, "rare words": fewest}

# %% tags=["nbval-ignore-output"]
rng = torch.Generator().manual_seed(0)
hits, overlaps = collections.defaultdict(list), collections.defaultdict(list)
for seed in range(5):
    tables, groups = with_few_meetings(seed, rng)
    first, second = (table > 0 for table in tables)  # (V, V)
    for name, group in groups.items():
        hits[name].append(finds_itself(*tables)[group].mean().item())
        in_both, in_one = (first & second)[group].sum(), (first | second)[group].sum()
        overlaps[name].append((in_both / in_one).item())
for name, each in hits.items():
    print(f"{name:21} {sum(each) / 5:.0%} find themselves", end=" ")
    print(f"({min(each):.0%} to {max(each):.0%});", end=" ")
    print(f"{sum(overlaps[name]) / 5:.0%} of their contexts are in both halves")

# %% [markdown]
# Lack of text is enough. With so few meetings, common words do even worse than rare ones. Rare words are a different kind, too, but one that is easier to recognize, and more of their contexts in one half come back in the other. Either way, a vector that was counted from little text is shaky, and so are its neighbors.
#
# Here is a map of some of the library's vectors. It can show two directions of 100, and it says how little that is. Lines join words whose cosine is at least 0.5.

# %% tags=["nbval-ignore-output"]
shown = "float int complex nan try except finally raise".split()
shown += "list tuple set true false while import".split()
some = torch.stack([library[w] for w in shown])  # (n, 100)
alike = word_cosines(shown, shown) >= 0.5  # (n, n)
joined = [(shown[i], shown[j]) for i, j in alike.triu(1).nonzero().tolist()]
ax = diagrams.word_map(some, shown, near=joined)
plotting.show(ax)
for word in ("tuple", "float"):
    print(f"nan with {word}: cosine {word_cosines(['nan'], [word]).item():.2f}")

# %% [markdown]
# *The groups can be seen, but don't trust the distances. `nan` is much nearer to `tuple` than to `float` on the map, and by cosine it's the other way around. What keeps `nan` and `tuple` apart is in the other 98 directions.*

# %% [markdown]
# ## 1.7 How near is near?
#
# *Core · 6 minutes*
#
# `true` and `false` have a cosine of 0.66. Is that much? To tell, we need a landmark. We take vectors of the same size, drawn at random.

# %%
widgets.predict(
    "1.E",
    "Two random directions in 100 dimensions. 95% of all such cosines lie between...",
    choices=["-0.9 and 0.9", "-0.5 and 0.5", "-0.2 and 0.2", "-0.05 and 0.05"],
)

# %% tags=["nbval-ignore-output"]
def cosines_among(vectors):
    unit = similarity.normalize(vectors)
    table = similarity.similarity_matrix(unit, unit)  # (V, V)
    others = ~torch.eye(len(unit), dtype=torch.bool)  # not a vector with itself
    return table[others].view(len(unit), -1)  # (V, V - 1)


rng = torch.Generator().manual_seed(0)
random = cosines_among(torch.randn(V, d, generator=rng))  # as many as words
print(f"true with false: {library.nearest('true', 1)[0][1]:.2f}")
bound = random.abs().flatten().sort().values[int(0.95 * random.numel())].item()
names = {0.9: "-0.9 and 0.9", 0.5: "-0.5 and 0.5", 0.2: "-0.2 and 0.2"}
names[0.05] = "-0.05 and 0.05"
print(f"random: 95% lie between -{bound:.2f} and {bound:.2f}")
widgets.came_out("1.E", names[min(names, key=lambda edge: abs(edge - bound))])

# %% [markdown]
# In the plane, two random arrows are as likely to make one angle as another. In 100 dimensions nearly all pairs are **close to a right angle**, and here is why. Turn the space until one of the two directions is the first axis. The cosine is then the first coordinate of the other. The squares of its $d$ coordinates sum to 1, and none is special, so each square is $1/d$ on average, and a coordinate is typically $1/\sqrt{d}$ in size. Does that hold for other $d$?

# %%
for size in (2, 10, 100, 1000):
    rng = torch.Generator().manual_seed(size)
    drawn = cosines_among(torch.randn(1000, size, generator=rng))
    print(f"d = {size:4}   spread {drawn.std():.3f}   1/sqrt(d) {size**-0.5:.3f}")

# %% [markdown]
# Keep this $\sqrt{d}$ in mind. In lesson 04 it decides how attention scales its scores.
#
# Random vectors are an easy landmark. For a harder one, we shuffle the documentation and make vectors from that. Every word occurs as often as before, but its company, the words around it, is pure chance. The recipe is the library's. Count which words come near each other, compare the counts with chance (PPMI), and squeeze each word's row of the table into 100 numbers (an SVD). Sections 1.5 and 1.6 explain these steps, and you don't need them here.

# %% tags=["nbval-ignore-output"]
ordered = documentation.split_words(documentation.python_documentation())
rng = torch.Generator().manual_seed(0)
mixed = [ordered[i] for i in torch.randperm(len(ordered), generator=rng).tolist()]
met = word_vectors.cooccurrence_counts(mixed, list(library.words), window=2)  # (V, V)
U, sizes, _ = torch.linalg.svd(word_vectors.positive_pmi(met))
shuffled = cosines_among(U[:, :d] * sizes[:d].sqrt())  # (V, V - 1)

# %% tags=["nbval-ignore-output"]
words = cosines_among(library.vectors)  # (V, V - 1)
true_false = library.nearest("true", 1)[0][1]
sets = {"words": words, "shuffled text": shuffled, "random vectors": random}
for name, table in sets.items():
    near = (table.abs() < 0.2).float().mean()
    print(f"{name:14} between -0.2 and 0.2: {near:.0%}", end="   ")
    print(f"nearest, median {table.amax(1).median():.2f}", end="   ")
    print(f"pairs above {true_false:.2f}: {(table > true_false).sum() // 2}")
axes = plotting.new_axes(9.5, 3.0, columns=2)
every = {name: table.flatten() for name, table in sets.items()}
plotting.histograms(every, xlabel="cosine, all pairs", ax=axes[0])
nearest = {name: table.amax(dim=1) for name, table in sets.items()}
plotting.histograms(nearest, xlabel="cosine, each with its nearest", ax=axes[1])
plotting.show(axes[1], "Cosines of words, shuffled text and random vectors. All pairs "
              "look alike; with the nearest, random is lowest, words are highest.")

# %% [markdown]
# *Over all pairs, words look much like random vectors. Look at each word and its nearest neighbor, and you can tell them apart. The shuffled text is in between.*
#
# That 94% of all pairs of words are close to a right angle tells us nothing, since random vectors manage as many. Even these have a nearest neighbor at 0.32 (the median), and in the shuffled text chance company makes it 0.39. But only one pair of the shuffled text gets above the 0.66 of `true` and `false`, compared with 308 pairs of the real one. Yes, 0.66 is a lot.
#
# You may have read that with such vectors, *king* minus *man* plus *woman* is *queen* (Mikolov, Yih and Zweig, 2013). Exercise 1.7 (15 minutes) measures it, next to what a lazy guesser gets. Exercise 1.9 (25 minutes) asks how much the cosine and PPMI are really worth.

# %% [markdown]
# ## What goes wrong
#
# *More · 4 minutes*
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
half = torch.arange(V) % 2 == 0  # every second word
U, _, Vt = torch.linalg.svd(wider.vectors[half].T @ library.vectors[half])
turned = wider.vectors @ (U @ Vt)  # one turn for all, the best for those words
same = similarity.cosine_similarity(library.vectors, turned)[~half]
print(f"one set turned, the other half of the words: {same.mean():.2f}")

# %% [markdown]
# Within each set the neighbors make sense. Across them, a word is hardly nearer to itself than two random vectors are to each other. The two sets know much the same, but each has axes of its own. Turn all of one set in a single way, chosen to suit half of the words, and the words of the *other* half are suddenly near themselves again. Every model has its own axes, too. To find out, compare something with itself. If the cosine isn't near 1, don't compare across the two sets as they are. The mistake happens when keys were stored with one version of a model and queries come from the next.
#
# **Only one side normalized.** Divide the keys by their lengths but not the query, and the ranking of the keys stays right, so the mistake is easily missed. But the scores aren't cosines, and the weights come out wrong. If the query is longer than 1, a "cosine" above 1 can give it away.

# %%
print(f"{similarity.dot_product(happy, similarity.normalize(joyful)):.2f}")

# %% [markdown]
# ## In practice
#
# *More · 2 minutes*
#
# - Search engines for vectors often store **normalized** keys, so that one fast matrix product gives cosines. The lengths are divided out once, when a key is stored, and not again at every query.
# - A ranking doesn't need the query's length, which is the same for all keys. Weights do: a longer query makes larger differences, and the softmax reacts to those.
# - `F.normalize(x, dim=-1)` and `F.cosine_similarity(a, b, dim=-1)` guard against zero vectors with a small floor `eps` under the length.
# - Word vectors by counting need no training. A Transformer *learns* its vectors, for the task at hand.

# %% [markdown]
# ## Recap
#
# *Core · 2 minutes*
#
# 1. **Compute a dot product, read its sign.** Multiply coordinate by coordinate and add up. Positive means more or less the same direction, negative more or less opposite, zero a right angle or a zero vector.
# 2. **Dot product or cosine.** One is shadow times length, the other is direction alone. Take the cosine where length is an accident.
# 3. **All with all, in a batch.** $S = QK^\top$ within each item, a row for each query and a column for each key.
# 4. **Ranking and weights.** Sort the row, or put it through a softmax, which looks at differences only.
# 5. **Word vectors, and how near is near.** Count company, compare with chance (PPMI) and keep the first directions (SVD), as sections 1.5 and 1.6 show. Near means *used alike*. In $d$ dimensions, cosines of random vectors spread by $1/\sqrt{d}$. The nearest neighbors in a shuffled text are closer than those among random vectors, so judge a cosine against both.
#
# | symbol | meaning | shape |
# |---|---|---|
# | $d$, $L_q$, $L_k$ | size of a vector, number of queries, number of keys | numbers |
# | $a \cdot b$, $\lvert a \rvert$, $\cos\theta$ | dot product, length, cosine similarity | numbers |
# | $Q$, $K$ | queries, keys | $(L_q, d)$, $(L_k, d)$, or with $B$ in front |
# | $S = QK^\top$ | scores | $(L_q, L_k)$, or with $B$ in front |
# | $w$ | weights: a softmax over the keys | as $S$; each row sums to 1 |

# %% tags=["nbval-ignore-output"]
widgets.predictions()

# %% [markdown]
# ## When you need it
#
# *More · 4 minutes*
#
# <details><summary>Why the dot product is the product of the lengths and the cosine: a proof</summary>
#
# The law of cosines, for the triangle with the sides $a$, $b$ and $a - b$, says $|a - b|^2 = |a|^2 + |b|^2 - 2 |a| |b| \cos\theta$. Multiplied out coordinate by coordinate, $|a - b|^2 = \sum_i (a_i - b_i)^2 = |a|^2 + |b|^2 - 2 \, a \cdot b$. Compare the two: $a \cdot b = |a| |b| \cos\theta$. In more than two dimensions the triangle lies in a plane, so the same holds there.
# </details>
#
# <details><summary>The refinement in the library's PPMI</summary>
#
# A rare context gets a high PMI from a single meeting, since $P(c)$ is so small. The library therefore raises the counts of the contexts to the power 0.75 before turning them into shares, which lifts the rare ones (Levy, Goldberg and Dagan, 2015, section 3.2). With the power 1 it computes what section 1.5 did step by step: `word_vectors.positive_pmi(counts, smoothing=1.0)`.
# </details>
#
# <details><summary>Why the root of the singular values?</summary>
#
# To rebuild the table, all of the singular value has to be in the product: $U \Sigma$ with $V$, or $U \sqrt\Sigma$ with $V \sqrt\Sigma$. As vectors for words, Levy and Goldberg (2014, section 4.2) found the second better. The sizes enter the library's vectors by their root, as in exercise 1.6. That shares the size evenly between words and contexts.
# </details>

# %% [markdown]
# ## Check yourself
#
# *Core · 4 minutes*
#
# <details><summary>1. The dot product of a with b is 6, and their cosine is 0.5. What are both for 3a and -b?</summary>
#
# **-18 and -0.5.** Each factor comes out of the sum, 3 times -1 times 6. The cosine ignores the 3, which changes only a length, and the minus turns b around. (-1.5 treats the cosine like a dot product, and no cosine is below -1.)
# </details>
#
# <details><summary>2. Queries have shape (8, 10, 64), keys (8, 20, 64). What is the shape of the scores, and over which dimension would a softmax make weights?</summary>
#
# **(8, 10, 20), over the last.** Each query spreads a weight of 1 over the keys, and the keys are the last axis. (Over dim=-2 the *queries* would compete for each key.)
# </details>
#
# <details><summary>3. (Section 1.5.) Two words never come near each other in the text. Can their cosine be high?</summary>
#
# **Yes.** The cosine compares the company they keep, and two spellings of one word can be used in the same places. ("No" confuses one cell of the table with how alike two rows are.)
# </details>
#
# <details><summary>4. Every score of a query goes up by 100. What happens to its ranking, and to its weights?</summary>
#
# **Nothing, to either.** Sorting looks at the order and the softmax at differences, and neither changes. (If every score were *multiplied* by 100, the ranking would stay and the weights would not.)
# </details>
#
# <details><summary>5. In 400 dimensions two vectors have a cosine of 0.1. Is that much?</summary>
#
# **It's two spreads, since $1/\sqrt{400} = 0.05$.** About one random pair in twenty goes beyond two spreads to one side or the other, so for the best of many pairs it's nothing.
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
