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
# At the end you can say how alike two vectors are, find the nearest of more than a thousand, and compare every vector of a batch with every other in one line.
#
# {{colab_link}} · about 45 minutes · builds on lesson 00

# %% tags=["setup"]
import collections

import torch
import torch.nn.functional as F

from course_utils import plotting, similarity, widgets
from course_utils.datasets import documentation, word_vectors

torch.set_printoptions(precision=3, sci_mode=False)

# %% [markdown]
# **You will learn to**
#
# 1. compute a dot product by hand and say what its sign tells you;
# 2. choose between the dot product and the cosine;
# 3. make word vectors from a text and find a word's nearest neighbors;
# 4. compare all queries with all keys, for a whole batch, with `@` and with `einsum`;
# 5. turn similarities into a ranking and into weights.
#
# Attention is built from one question: *how similar are these two vectors?* This lesson answers it. Everything later, up to a full Transformer, asks it again.

# %% [markdown]
# ## Predict first
#
# Three words, each described by two numbers:
#
# - `happy = [2, 3]`
# - `joyful = [1, 4]`
# - `sad = [-1, -2]`
#
# Draw the three arrows on paper, or in your head. Which two point in nearly the same direction? Which two point away from each other? Can you think of one number,
# made from the four coordinates of a pair, that would be large for the first pair and negative for the second? Decide before you read on.

# %%
happy = torch.tensor([2.0, 3.0])
joyful = torch.tensor([1.0, 4.0])
sad = torch.tensor([-1.0, -2.0])

ax = plotting.arrows(torch.stack([happy, joyful, sad]), ["happy", "joyful", "sad"])
plotting.show(ax, "Three arrows from the origin: happy and joyful point up and to the right, close together; sad points down and to the left.")

# %% [markdown]
# *Notice that `happy` and `joyful` open only a small angle, while `sad` points almost exactly the other way.*

# %% [markdown]
# ## 1.1 The dot product
#
# Multiply coordinate by coordinate, then add:
#
# $$a \cdot b = \sum_{i=1}^{d} a_i b_i ,$$
#
# where $a$ and $b$ are vectors of the same size $d$. By hand: `happy` times `joyful` is $2 \cdot 1 + 3 \cdot 4$, and `happy` times `sad` is $2 \cdot (-1) + 3 \cdot (-2)$.

# %%
print("happy · joyful =", 2 * 1 + 3 * 4)
print("happy · sad    =", 2 * (-1) + 3 * (-2))

# %% [markdown]
# One large number and one negative number, from nothing but products and a sum. As a loop, and then without one:

# %%
def dot_loop(a, b):
    total = 0.0
    for i in range(len(a)):
        total += a[i] * b[i]
    return total


print("loop      ", dot_loop(happy, joyful).item(), dot_loop(happy, sad).item())
print("vectorized", (happy * joyful).sum().item(), (happy * sad).sum().item())

# %%
for a, b in ((happy, joyful), (happy, sad), (joyful, sad)):
    assert dot_loop(a, b) == similarity.dot_product(a, b) == torch.dot(a, b)
print("loop, course_utils and PyTorch agree")

# %% [markdown]
# **What the sign means.** Each product $a_i b_i$ is positive where the two vectors agree about coordinate $i$ (both positive or both negative) and negative where they
# disagree. The sum weighs agreement against disagreement: positive means *more or less the same direction*, negative means *more or less opposite*. Zero means
# that neither wins. Geometrically the vectors then stand at a right angle (if neither of them is zero itself):

# %%
east, north = torch.tensor([3.0, 0.0]), torch.tensor([0.0, 2.0])
print("east · north =", similarity.dot_product(east, north).item())

# %% [markdown]
# ## 1.2 Length against direction
#
# **Predict first.** `happy` is `[2, 3]`. Which of these two has the larger dot product with it: `joyful = [1, 4]`, which means nearly the same, or `noise = [40, 0]`, a long
# arrow along the first axis?

# %%
noise = torch.tensor([40.0, 0.0])
print("happy · joyful =", similarity.dot_product(happy, joyful).item())
print("happy · noise  =", similarity.dot_product(happy, noise).item())

# %% [markdown]
# The long one wins, although it points elsewhere. The dot product mixes three things:
#
# $$a \cdot b = |a| \, |b| \cos\theta , \qquad |a| = \sqrt{\textstyle\sum_i a_i^2},$$
#
# two lengths and the angle $\theta$ between the arrows. Divide by both lengths and only the angle is left. That is the **cosine similarity**:
#
# $$\cos\theta = \frac{a \cdot b}{|a| \, |b|} .$$
#
# By hand for `happy` and `joyful`: the lengths are $\sqrt{2^2 + 3^2} = \sqrt{13}$ and $\sqrt{1^2 + 4^2} = \sqrt{17}$.

# %%
by_hand = 14 / (13**0.5 * 17**0.5)
print(f"happy, joyful   by hand {by_hand:.4f}   course_utils {similarity.cosine_similarity(happy, joyful):.4f}")
for name, vector in (("joyful", joyful), ("noise", noise), ("sad", sad)):
    dot, cosine = similarity.dot_product(happy, vector), similarity.cosine_similarity(happy, vector)
    print(f"happy, {name:7}  dot product {dot:6.1f}   cosine {cosine:5.2f}   angle {torch.rad2deg(cosine.acos()):5.1f}°")
assert torch.isclose(similarity.cosine_similarity(happy, joyful), F.cosine_similarity(happy, joyful, dim=0))

# %% [markdown]
# The cosine lies between -1 (opposite) and 1 (same direction), whatever the lengths. It puts `joyful`, 0.94, far above `noise`.
#
# **When to use which.** If length is an accident, as it is for raw counts, which grow with how often a word happens to be mentioned, compare by cosine. If length means something,
# such as how sure or how important a thing is, the dot product lets it count. Attention uses the dot product: the network may learn to make a key long, and a
# longer key scores higher with every query that points its way.

# %% [markdown]
# **Look.** Two arrows, and sliders for their lengths and their angle. Predict first: which of the two numbers at the right will change with a length, and which with the angle? First the starting position as a still picture, then the live figure.

# %%
explorer = widgets.two_vectors()
explorer.show_first_state("Two arrows at an angle of 45 degrees with lengths 2.0 and 1.5; their cosine is 0.71, their dot product 2.12.")

# %%
explorer

# %% [markdown]
# *Notice in the picture that $b$ is the shorter arrow, and that the cosine says nothing about it. A length slider moves the dot product alone; the angle slider moves both numbers.*

# %% [markdown]
# ## 1.3 Word vectors from a real text
#
# Two numbers for a word, made up by us, prove little. Where do real word vectors come from? From an old observation (Firth, 1957): words that mean similar things keep similar company. So
# count, for each word, which words stand near it. The text is a part of Python's own documentation that is installed with Python.

# %% tags=["nbval-ignore-output"]
text = documentation.python_documentation()
words = documentation.split_words(text)
print(f"{len(text):,} characters, {len(words):,} words, {len(set(words)):,} different ones")
print(words[1000:1012])

# %% [markdown]
# **Counting company, small enough to check.** In the six words below, "chase" stands next to "cats" twice, once on each side of it, and next to "mice" and "dogs" once
# each. Entry $(w, c)$ of the table says how often word $w$ and word $c$ stand at most `window` places apart.

# %%
tiny = "cats chase mice dogs chase cats".split()
tiny_words = ["cats", "chase", "dogs", "mice"]
counts = word_vectors.cooccurrence_counts(tiny, tiny_words, window=1)  # (4, 4)
ax = plotting.similarity_heatmap(counts, tiny_words, tiny_words, quantity="count")
plotting.show(ax, "A symmetric four by four table of counts; the row of chase reads 2, 0, 1, 1.")

# %% [markdown]
# *Notice the row of `chase`, and that the table is symmetric: if $w$ stands near $c$, then $c$ stands near $w$.*
#
# Raw counts favor words that are common everywhere: in English, "the" keeps company with everything. So compare each count with what chance would give. Let $P(w, c)$ be the
# share of all counted pairs that are $(w, c)$, and $P(w)$ the share of the pairs that begin with $w$. If words met at random, $P(w, c)$ would be about $P(w) P(c)$. The natural logarithm of the ratio of the two is the *pointwise mutual information*; negative
# values, "seen less often than by chance", are unreliable in a small text and set to zero:
#
# $$\operatorname{PPMI}(w, c) = \max\!\left(0, \; \log \frac{P(w, c)}{P(w)\, P_s(c)}\right).$$
#
# ($P_s$ is $P$ made from counts that were raised to the power 0.75, which keeps very rare companions from getting huge values.) The numbers of one row, by hand and by the library:

# %%
pairs = counts / counts.sum()  # (4, 4), shares of all pairs
smooth = counts.sum(dim=0) ** 0.75 / (counts.sum(dim=0) ** 0.75).sum()  # (4,)
chase = tiny_words.index("chase")
by_hand = torch.log(pairs[chase] / (pairs[chase].sum() * smooth)).clamp(min=0)
print("chase, by hand   ", by_hand)
print("chase, course    ", word_vectors.positive_pmi(counts)[chase])
assert torch.allclose(by_hand, word_vectors.positive_pmi(counts)[chase])

# %% [markdown]
# **Now the real text.** Words seen fewer than five times say too little and are left out. Then the counts within two places, PPMI, and one more step: the table has a column for every
# word, over a thousand numbers for each, most of them zero. A *singular value decomposition* (SVD) finds the 100 directions that keep as much of the rows as 100 directions can, and describes every row
# by those: 100 numbers for each word. (Each direction is weighted by the square root of its *singular value*, which says how much it keeps. Levy and Goldberg, in the references, found that this works better than the full value.)

# %% tags=["nbval-ignore-output"]
frequency = collections.Counter(words)
vocabulary = sorted((w for w, n in frequency.items() if n >= 5), key=lambda w: (-frequency[w], w))
counts = word_vectors.cooccurrence_counts(words, vocabulary, window=2)  # (V, V)
ppmi = word_vectors.positive_pmi(counts)  # (V, V)
left, singular, _ = torch.linalg.svd(ppmi)  # (V, V), (V,), _
vectors = left[:, :100] * singular[:100].sqrt()  # (V, 100)
print(f"V = {len(vocabulary)} words; PPMI {tuple(ppmi.shape)}, {100 * (ppmi > 0).float().mean():.1f} % not zero; vectors {tuple(vectors.shape)}")

# %%
library = word_vectors.word_vectors()  # the same steps, in one call
assert list(library.words) == vocabulary
assert torch.allclose(library.vectors.abs(), vectors.abs(), atol=1e-3)  # an SVD leaves the sign of each column open
print("the lesson's vectors and the library's agree, up to the sign of a column")

# %% [markdown]
# Nobody told this procedure what a word means. **Predict first:** which words of the Python documentation will be nearest to `float`? To `true`? To `left`?

# %% tags=["nbval-ignore-output"]
for word in ("float", "true", "left", "try", "tuple", "exception", "bytes", "import", "string", "method", "dictionary", "generator"):
    neighbors = "   ".join(f"{other} {cosine:.2f}" for other, cosine in library.nearest(word, 4))
    print(f"{word:11} {neighbors}")

# %% [markdown]
# `float` is found near `complex`, `int` and `nan`; `true` near `false`; `left` near `right`; `try` near `finally` and `except` (and near `_stmt`, a piece of names such as `try1_stmt` in the grammar). Opposites are neighbors here: they keep the same company.
# That is what these vectors can and cannot tell: *used alike*, not *means the same*. (The text differs a little between Python versions, and the
# numbers with it.)

# %% [markdown]
# ## 1.4 One query against all keys
#
# In the search for neighbors one vector is compared with all others. From now on we call the vector that asks the **query** and those that are searched the **keys**. With
# the keys as rows of a matrix $K$ of shape $(L_k, d)$ and a query $q$ of shape $(d)$, all dot products come from one product of a matrix and a vector:
#
# $$s = K q , \qquad s_j = \sum_{i=1}^{d} K_{ji} \, q_i , \qquad s \text{ of shape } (L_k).$$

# %%
keys = similarity.normalize(library.vectors)  # (V, d), every row of length 1
query = keys[library.index("float")]  # (d,)

one_by_one = torch.stack([dot_loop(query, key) for key in keys[:50]])  # (50,), the first 50 keys in a loop
at_once = keys @ query  # (V,)
assert torch.allclose(one_by_one, at_once[:50], atol=1e-5)
assert at_once.shape == (len(library.words),)
itself = at_once[library.index("float")]
print(f"one score for each word; the query with itself: {itself:.2f}")

# %% [markdown]
# Because every row was divided by its length first, the dot product *is* the cosine. Skip that step and words with long vectors push to the front:

# %% tags=["nbval-ignore-output"]
raw = library.vectors  # (V, d)
by_dot = (raw @ raw[library.index("true")]).topk(6).indices
by_cosine = (keys @ keys[library.index("true")]).topk(6).indices
for name, found in (("dot product", by_dot), ("cosine", by_cosine)):
    print(f"{name:12}", "   ".join(f"{library.words[i]} (length {raw[i].norm():.1f})" for i in found.tolist()))

# %% [markdown]
# ## 1.5 All queries against all keys
#
# Several queries become the rows of a matrix $Q$ of shape $(L_q, d)$. Every query with every key is then
#
# $$S = Q K^\top , \qquad S_{ij} = \sum_{e=1}^{d} Q_{ie} K_{je} , \qquad S \text{ of shape } (L_q, L_k).$$
#
# The transpose turns the rows of $K$ into columns, so that row $i$ of $Q$ meets row $j$ of $K$. Small numbers first:

# %%
Q = torch.tensor([[2.0, 3.0], [-1.0, -2.0]])  # happy, sad         (L_q=2, d=2)
K = torch.tensor([[1.0, 4.0], [2.0, 3.0], [40.0, 0.0]])  # joyful, happy, noise   (L_k=3, d=2)

S_loop = torch.zeros(2, 3)
for i in range(2):
    for j in range(3):
        S_loop[i, j] = dot_loop(Q[i], K[j])

S = Q @ K.T  # (L_q, L_k)
assert torch.equal(S, S_loop) and torch.equal(S, similarity.similarity_matrix(Q, K))
print(S)

# %% [markdown]
# Now twelve words of the documentation against each other, by cosine.

# %% tags=["nbval-ignore-output"]
chosen = ["float", "int", "complex", "list", "tuple", "set", "try", "except", "finally", "left", "right", "import"]
chosen_keys = torch.stack([keys[library.index(word)] for word in chosen])  # (12, d)
cosines = similarity.similarity_matrix(chosen_keys, chosen_keys)  # (12, 12)
ax = plotting.similarity_heatmap(cosines, chosen, chosen, quantity="cosine")
plotting.show(ax, "Heatmap of the cosines among twelve words. Blocks of high similarity: the numbers, the collections, the parts of a try statement, left and right.")

# %% [markdown]
# *Notice the blocks along the diagonal: number types, collections, the parts of a `try` statement, `left` and `right`. The matrix is symmetric because queries and keys are
# the same vectors here. In attention they need not be.*

# %% [markdown]
# ## 1.6 A whole batch
#
# A network works on several sequences at once: `queries` of shape `(B, L_q, d)` and `keys` of shape `(B, L_k, d)`. Item `b` of the queries belongs with item `b` of
# the keys, and nothing crosses from one item to another. Index by index:

# %%
rng = torch.Generator().manual_seed(0)
queries = torch.randn(2, 5, 3, generator=rng)  # (B=2, L_q=5, d=3)
keys3 = torch.randn(2, 7, 3, generator=rng)  # (B=2, L_k=7, d=3)

S_loop = torch.zeros(2, 5, 7)
for b in range(2):
    for i in range(5):
        for j in range(7):
            S_loop[b, i, j] = (queries[b, i] * keys3[b, j]).sum()

S = queries @ keys3.transpose(-2, -1)  # (B, L_q, d) @ (B, d, L_k) -> (B, L_q, L_k)
S_einsum = torch.einsum("bid,bjd->bij", queries, keys3)  # the three loops, written as letters
for other in (S, S_einsum, torch.bmm(queries, keys3.mT), similarity.similarity_matrix(queries, keys3)):
    assert torch.allclose(S_loop, other, atol=1e-6)
print("five ways, one result of shape", tuple(S.shape))

# %% [markdown]
# Read the einsum aloud: *for every `b`, `i` and `j`, sum over `d`*. A letter in both operands ties two axes together; a letter that is missing behind the arrow is summed
# over. `.transpose(-2, -1)` names the last two axes from the end, so the same line serves a single matrix, a batch, and later a batch of heads.

# %% [markdown]
# ## 1.7 From similarities to a ranking to weights
#
# Similarities can be used in two ways. A **ranking** picks the best and forgets the rest, as a search engine does. A **weighting** keeps everything, more of the similar and less
# of the dissimilar. The usual function that turns the scores $s_1, s_2, \dots$ of one query into weights is the softmax,
#
# $$w_j = \frac{e^{s_j}}{\sum_{m} e^{s_m}} ,$$
#
# where $m$ runs over all keys. It gives positive numbers that sum to 1. Lesson 02 takes it apart; here is a first look.

# %%
scores = Q @ K[:2].T  # happy and sad against joyful and happy: (2, 2)
weights = torch.softmax(scores / 4, dim=-1)  # (2, 2); divided by 4 to keep the weights away from 0 and 1
print("scores\n", scores)
print("ranking of the keys, best first\n", scores.argsort(dim=-1, descending=True))
print("weights\n", weights)
print("each row sums to", weights.sum(dim=-1))

# %% tags=["nbval-ignore-output"]
word_weights = torch.softmax(cosines / 0.3, dim=-1)  # (12, 12)
ax = plotting.attention_heatmap(word_weights, chosen, chosen)
plotting.show(ax, "The cosines of the twelve words turned into weights: each row sums to 1, the largest part on the word itself, the next on the words of its own group; import has no group and keeps most for itself.")

# %% [markdown]
# *Each row is one query, its weights sum to 1, the largest falls on the word itself and the next on its own group (`import` has none here). This picture, weights of queries over keys, is what attention looks like.
# You will see it in every lesson from here on.*

# %% [markdown]
# ## What goes wrong
#
# **`.T` on a batch.** For a matrix `.T` swaps the two axes. The same idea with three axes, to reverse them all, moves the batch axis too. With sizes that differ it fails at once,
# which is lucky. With equal sizes it runs and is wrong, which is why we test with unequal ones.

# %%
def reversed_axes(tensor):
    return tensor.permute(*range(tensor.dim())[::-1])  # what .T means, for any number of axes


try:
    queries @ reversed_axes(keys3)
except RuntimeError as problem:
    print("sizes (2, 5, 3) and (2, 7, 3):", problem)

cube = torch.randn(3, 3, 3, generator=rng)
right, wrong = cube @ cube.transpose(-2, -1), cube @ reversed_axes(cube)
print(f"sizes (3, 3, 3): runs, and {100 * (~torch.isclose(right, wrong)).float().mean():.0f} % of the values are wrong")

# %% [markdown]
# **The zero vector.** It has no direction, so its cosine has no meaning. Written as the formula stands, 0 / 0 gives NaN, and one NaN spreads through every sum that it enters.

# %%
zero = torch.zeros(2)
print("formula     ", (zero @ happy / (zero.norm() * happy.norm())).item())
print("course_utils", similarity.cosine_similarity(zero, happy).item())
print("PyTorch     ", F.cosine_similarity(zero, happy, dim=0).item())

# %% [markdown]
# **Only one side normalized.** The values are no cosines, yet a ranking of keys may still be right, so it is easily missed. How you would notice: a similarity above 1.

# %%
print(f"happy with joyful, only happy normalized: {(similarity.normalize(happy) @ joyful).item():.2f}")

# %% [markdown]
# ## In practice
#
# - Search engines for vectors often store **normalized** keys, so that the fast matrix product gives cosines. Normalize once, when storing, and not at every query.
# - `F.cosine_similarity(a, b, dim=-1)` compares row by row, `F.normalize(x, dim=-1)` divides by the length. Both guard against zero vectors with a small floor `eps` under the length.
# - Ranking does not need the query's length: it is the same for all keys. Weights do, since the softmax reacts to the size of the scores.
# - `A @ B.mT` swaps the last two axes of a batch. `.T` on more than two axes is deprecated in PyTorch, for the reason shown above.
# - Word vectors by counting and SVD are decades older than the Transformer, and they need no training. A Transformer *learns* its vectors, for the task at hand.

# %% [markdown]
# ## Recap
#
# 1. **Compute a dot product, read its sign**: multiply coordinate by coordinate, add. Positive: same direction more or less; negative: opposite; zero: right angle.
# 2. **Dot product or cosine**: the dot product counts length and direction, the cosine direction only. A long vector can win the dot product without pointing the same way.
# 3. **Word vectors**: count company, PPMI, SVD; neighbors are words that are *used* alike.
# 4. **All against all, in a batch**: `Q @ K.transpose(-2, -1)`, or `einsum("bid,bjd->bij", Q, K)`.
# 5. **Ranking and weights**: sort the scores, or softmax them.
#
# | symbol | meaning | shape |
# |---|---|---|
# | $d$, $L_q$, $L_k$ | size of a vector, number of queries, number of keys | numbers |
# | $a \cdot b$, $\lvert a \rvert$, $\cos\theta$ | dot product, length, cosine similarity | numbers |
# | $P(w, c)$ | share of the pairs of words that are $(w, c)$ | number; the table of PPMI is $(V, V)$ |
# | $q$ | one query | $(d)$ |
# | $Q$, $K$ | queries, keys | $(L_q, d)$, $(L_k, d)$, or with $B$ in front |
# | $S = QK^\top$ | scores | $(L_q, L_k)$, or with $B$ in front |
# | $w$ | weights: a softmax over the keys | as $S$; each row sums to 1 |

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
# <details><summary>4. "true" and "false" are near neighbors among our word vectors. Is that a fault of the method?</summary>
#
# **No, it is what was counted.** Both keep the same company: both often follow "return" and "is". The vectors say *used alike*, not *means the same*. (A larger text is no cure as such: it counts the same thing more often.)
# </details>
#
# {{next_steps}}

# %% [markdown]
# ## References
#
# - Salton, Wong, Yang, *A Vector Space Model for Automatic Indexing*, 1975: documents as vectors, compared by their angle; where the idea became practical.
# - Firth, *A Synopsis of Linguistic Theory, 1930-1955*, 1957: where the phrase of a word and the company it keeps comes from.
# - Levy, Goldberg, *Neural Word Embedding as Implicit Matrix Factorization*, 2014, section 4.2: the SVD with the square root of the singular values (equation 13), and section 5.2: how close such vectors come to learned ones.
# - Levy, Goldberg, Dagan, *Improving Distributional Similarity with Lessons Learned from Word Embeddings*, 2015, sections 2.1 and 3.2: PPMI and the power 0.75; the paper shows how much such details matter, next to the choice of the method.
# - Vaswani et al., *Attention Is All You Need*, 2017, section 3.2.1: the product $QK^\top$ at the center of the Transformer.
