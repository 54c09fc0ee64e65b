# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 13 · Looking inside
#
# By the end you can find out what the heads of a trained model do, test it by taking them out, and mend the model with what you found.
#
# {{colab_link}} · short path about 84 minutes with its exercises (58 + 26), everything about 4 hours · builds on lessons 06, 08, 09 and 12

# %% tags=["setup"]
import contextlib
import math

import torch
import torch.nn.functional as F

from course_utils import circuits, diagrams, plotting, pretrained, widgets
from course_utils.circuits import contributions, cut_path, mean_weight, ov_circuit
from course_utils.circuits import qk_circuit, replaced_heads, token_table
from course_utils.datasets.documentation import documentation_split
from course_utils.datasets.text_windows import encode_text
from course_utils.datasets.written_twice import LETTERS, second_half_bits
from course_utils.datasets.written_twice import spelled, twice
from course_utils.pretrained.pronunciation import SOUNDS, SPELLING
from course_utils.pretrained.published import load_published
from course_utils.recording import record_attention
from course_utils.results import read_rows
from course_utils.small_models import induction
from course_utils.tokenizers import START_ID
from course_utils.training import seed_everything

torch.set_printoptions(precision=3, sci_mode=False, linewidth=88)
torch.set_num_threads(1)  # small tensors: threads would only get in each other's way

# %% [markdown]
# A trained model is a heap of numbers that nobody wrote. What do they do? By the end of this page you'll know one small model well enough to repair it. Its texts are random letters, and each string is written twice:

# %%
rng = torch.Generator().manual_seed(5)
for ids in twice(3, 7, rng):  # (14,) each
    print(spelled(ids))

# %% [markdown]
# No letter comes twice within a string. The first half and the first letter of the second have to be guessed. After that you can be certain. Find where the letter came before, look at the letter **after** it, and say that one.
#
# A head that does this is called an **induction head** (Elhage et al., 2021; Olsson et al., 2022). First we'll train a model that has good use for some, and later we'll look for one in lesson 12's.
#
# **You will learn to**
#
# 1. train a model that continues what was written twice, and see when it learns to;
# 2. score heads by what they look at, and say what a score hides;
# 3. write a head as two matrices, and follow what one head hands to another;
# 4. take heads out and cut paths, and tell weights from effects;
# 5. explain a failure, and mend it by hand;
# 6. (*more*) divide a logit among the parts, and use the same tools on other models.

# %% [markdown]
# ## Predict first
# *Core · 2 minutes*
#
# Take two decoder-only models (lesson 12). One has two layers of four heads. The other has one layer of four heads and gets twice as many updates, which takes about as long. A letter costs 4.7 bits if all you know is that it's one of 26.

# %%
widgets.predict(
    "13.A",
    "What will a letter of the second half cost the model with ONE layer, in bits?",
    between=(0, 4.7),
    step=0.1,
)

# %% [markdown]
# ## 13.1 It learns quickly, once it starts
# *Core · 6 minutes*
#
# Here is the one with two layers. Its strings have 4 to 16 letters, and only letters that can be known count in its loss. It takes less than a minute.

# %% tags=["nbval-ignore-output"]
seed_everything(0)
live = induction.small_model()  # 2 layers of 4 heads
induction.train(live, progress=True).requires_grad_(False)
texts = twice(200, 16, torch.Generator().manual_seed(1))  # (200, 32)
print(f"a letter of the second half costs {second_half_bits(live, texts):.2f} bits")

# %% [markdown]
# We trained both models from five seeds and judged them every 25 updates (`python -m experiments induction`):


# %%
def measured(setting, what, last=600):
    """One measure of all runs of a setting: the updates (n,), the values (runs, n)."""
    rows = [row for row in read_rows("induction") if row["setting"] == setting]
    rows = [row for row in rows if row["what"] == what and int(row["steps"]) <= last]
    updates = sorted({int(row["steps"]) for row in rows})
    values = torch.tensor([float(row["value"]) for row in rows])
    return torch.tensor(updates), values.unflatten(0, (-1, len(updates)))


# %%
scores = {"after a copy": measured("two layers", "after a copy")[1]}
bits = {}
for setting in ("two layers", "one layer"):
    updates, bits[setting] = measured(setting, "lengths 4 to 16")

# %%
axes = plotting.new_axes(9.2, 3.2, columns=2)
plotting.bands(updates, bits, xlabel="updates", ylabel="bits for a letter", ax=axes[0])
plotting.mark_levels(axes[0], {"one of 26": math.log2(26)})
names = {"xlabel": "updates", "ylabel": "largest weight of a head"}
plotting.bands(updates, scores, ax=axes[1], **names)
axes[0].set_ylim(0, None), axes[1].set_ylim(0, 1)
plotting.show(
    axes[0],
    "Left, bits by updates. With two layers they fall from 4 to below 1 between 50 and "
    "150 updates and then to nearly 0; with one layer they stay above 2. Right, the "
    "weight after a copy, which rises from 0.05 to about 0.4 in the same updates.",
)

# %%
ends = {"two layers": 600, "one layer": 1200, "one layer, longer": 12_000}
for setting, last in ends.items():
    found = []
    for what in ("lengths 4 to 16", "length 20"):
        values = measured(setting, what, last)[1][:, -1]  # (runs,)
        found.append([round(value, 2) for value in values.tolist()])
    print(f"{setting}, {last:,} updates: {found[0]}, 20 letters {found[1]}")
one = measured("one layer", "lengths 4 to 16", 1200)[1][:, -1]
widgets.came_out("13.A", one.mean().item())

# %% [markdown]
# *The band runs from the lowest to the highest of five runs. The lines below the picture say how all of them ended. With two layers nothing much happens for 50 updates, and within the next hundred the model learns most of its task. In the same updates some head begins to look at the letter after an earlier copy.* Part of the slow start is ours, since the learning rate rises during the first 50 updates. Olsson et al. saw such a drop in language models of many sizes, and call it a **phase change**. One layer doesn't get there in the same time. In one run with 20 times the updates it came to 0.2 bits, but on strings of 20 letters, longer than any in training, it was worse than ever. Whatever it does, it isn't what you're about to see, and we haven't traced it.

# %% [markdown]
# ## 13.2 Who looks where
# *Core · 10 minutes*
#
# From here on we look into a model that was trained like yours and comes with the course, so that your numbers are those of the page:

# %%
model = pretrained.load("induction").requires_grad_(False)
texts = twice(200, 16, torch.Generator().manual_seed(1))  # (200, 32)
print(f"a letter of the second half costs {second_half_bits(model, texts):.2f} bits")

# %% [markdown]
# Eight heads and 200 texts make 1,600 pictures. We turn a guess about a head into a number. A guess such as *it looks at the letter before* names a key for each query, so it's a **mask**. The head's **score** is the weight that it gives to those keys, averaged over the queries that have one. Take a head with these weights on *aba*:

# %%
weights = torch.tensor([[1.0, 0.0, 0.0], [0.75, 0.25, 0.0], [0.25, 0.5, 0.25]])
aba = torch.tensor([[0, 1, 0]])  # (B=1, L=3)
mask = circuits.previous_token_mask(aba)  # (1, 3, 3)
print(mask.int()[0])
print("score", mean_weight(weights[None, None], mask))  # (0.75 + 0.5) / 2

# %% [markdown]
# The first letter has none before it, so the score is the mean of 0.75 and 0.5. (Olsson et al. call the score for induction heads *prefix matching*.) A head that gives all keys the same weight also has a score, the **even share**, and a score says something only beside it. Four guesses about our eight heads:

# %%
HEADS = [(layer, head) for layer in (0, 1) for head in range(4)]
ATTENTION = ["layers.0.self_attention", "layers.1.self_attention"]
guesses = {
    "itself": circuits.current_token_mask(texts),
    "the first letter": circuits.first_token_mask(texts),
    "the letter before": circuits.previous_token_mask(texts),
    "after a copy": circuits.induction_mask(texts),
}
with record_attention(model) as seen:
    model(texts)
print(" " * 18 + "  even ", *(f" {layer}.{head}" for layer, head in HEADS))
for name, mask in guesses.items():
    found = [mean_weight(seen[one], mask).tolist() for one in ATTENTION]
    cells = [f"{score:.2f}" for score in sum(found, [])]
    print(f"{name:18}", f"{circuits.uniform_weight(mask):6.2f} ", *cells)

# %% [markdown]
# All four heads of layer 1 look after a copy. In layer 0, two heads look at the letter before, 0.0 and 0.2, with not quite half of their weight. Half a job is a strange thing for a model that makes hardly any mistakes.

# %%
widgets.predict(
    "13.B",
    "Heads 0.0 and 0.2 give the letter before half of their weight. How is it spread?",
    choices=[
        "with about half at every letter",
        "with nearly all after some letters of the alphabet, hardly any after others",
        "with nearly all up to some position, hardly any after it",
    ],
)

# %%
back = seen[ATTENTION[0]].diagonal(-1, dim1=-2, dim2=-1).mean(dim=0)  # (H, 31)
lines = {"head 0.0": back[0], "head 0.2": back[2], "head 0.3": back[3]}
ax = plotting.new_axes(6.4, 2.8)
names = {"xlabel": "position of the query", "ylabel": "weight on the letter before"}
plotting.curves(torch.arange(1, 32), lines, ax=ax, **names)
plotting.mark_places(ax, {"position 16": 16})
ax.set_ylim(0, 1)
plotting.show(
    ax,
    "Weight on the letter before, by position. Heads 0.0 and 0.2 are near 1 up to "
    "position 15 and near 0 from 16 on; head 0.3 is low everywhere.",
)
early = "with nearly all up to some position, hardly any after it"
widgets.came_out("13.B", early)

# %% [markdown]
# *Up to position 15 the two heads give nearly all of their weight to the letter before, and from 16 on hardly any.* The score of about one half described no letter at all. Keep this cliff in mind. Here is a head of each kind on a string of six letters. The frames mark the letter after an earlier copy:

# %%
six = twice(1, 6, torch.Generator().manual_seed(4))  # (1, 12)
letters = list(spelled(six[0]))
with record_attention(model) as seen:
    model(six)
shown = torch.stack([seen[ATTENTION[0]][0, 2], seen[ATTENTION[1]][0, 1]])  # (2, 12, 12)
framed = circuits.induction_mask(six)[0]  # (12, 12)
names = ["head 0.2", "head 1.1"]
plotting.show(diagrams.head_maps(shown, letters, letters, framed, names))

# %% [markdown]
# *Each has a stripe. Head 0.2 looks one back from each letter but the first. Head 1.1 has nothing to find in the first half, and settles on one letter or another. In the second half it looks mostly at the letter after the earlier copy, five back.*
#
# **Do exercise 13.1 now (12 minutes, {{exercises_link}}), then read on.** You write the detector for induction heads yourself. In exercise 13.2 (10 minutes) you mend a detector with a fault that long texts hide.

# %% [markdown]
# ## 13.3 A head is two matrices
# *Core · 9 minutes*
#
# A picture shows what a head did on one text. What *can* it do? Let $x_i$ be what the attention reads at position $i$, a row of $d_{model}$ features. Put the projections into the formulas of lesson 04, and two products appear:
#
# $$\text{score}_{ij} = x_i \underbrace{\tfrac{1}{\sqrt{d_{head}}} W_q^\top W_k}_{W_{QK}} x_j^\top , \qquad \text{head}_i = \sum_j a_{ij}\, \underbrace{W_o W_v}_{W_{OV}} x_j^\top .$$
#
# $W_q$, $W_k$, $W_v$ are this head's rows, $(d_{head}, d_{model})$, and $W_o$ its columns, $(d_{model}, d_{head})$. Both products are $(d_{model}, d_{model})$. **QK** says where the head looks, **OV** what it carries over. The two can be studied apart (Elhage et al., 2021).
#
# Take two features, $d_{head} = 1$, $W_q = (1, 0)$ and $W_k = (0, 2)$. Then QK is $\begin{pmatrix} 0 & 2 \\ 0 & 0 \end{pmatrix}$, and the head compares the *first* feature of the query with the *second* of the key. The query $(3, 1)$ gives the key $(0, 5)$ the score $3 \cdot 2 \cdot 5 = 30$, and the key $(5, 0)$ a zero. If $W_v = (1, 0)$ and $W_o^\top = (0, 1)$, OV is $\begin{pmatrix} 0 & 0 \\ 1 & 0 \end{pmatrix}$. What it carries over is the first feature of the position that it looks at, and it writes that into the second.
#
# This also answers a question from lesson 04, why there are two matrices for a single product:

# %%
first, second = (layer.self_attention for layer in model.layers)
qk = qk_circuit(first, 2).matrix  # (d_model, d_model)
pair = first.q_proj.weight[32:48], first.k_proj.weight[32:48]  # head 2's rows
print("QK", tuple(qk.shape), "from two matrices of", tuple(pair[0].shape))
print(f"{qk.numel():,} numbers, made of {sum(w.numel() for w in pair):,}")
print("rank", torch.linalg.matrix_rank(qk).item(), "of", len(qk))
print("the product agrees:", torch.allclose(qk, pair[0].T @ pair[1] / 4, atol=1e-6))

# %% [markdown]
# Two thin matrices cost half as much here, and can express only what goes through 16 features. Now we can ask head 0.2 how well *any* two positions fit (QK between the vectors that stand for them, without their letters), and head 1.1 what it says after looking at *any* letter (OV, then the output matrix). What a head reads has gone through a norm. We multiply by the norm's weights but leave out what it divides by, so look at the pattern, not at the size of the numbers.

# %%
norm_0, norm_1 = (layer.attention_norm.weight for layer in model.layers)
E = model.embedding.weight  # (26, d_model)
P = model.positions.table[:32]  # (32, d_model)
U = model.generator.weight * model.norm.weight  # (26, d_model)
by_place = (P * norm_0) @ qk @ (P * norm_0).T  # (32, 32)
says = token_table(ov_circuit(second, 1).matrix, E * norm_1, U)  # (26, 26)

# %%
axes = plotting.new_axes(10.0, 4.2, columns=2)
titles = "QK of head 0.2 on positions", "OV of head 1.1 on letters"
labels = None, list(LETTERS)
for ax, table, title, names in zip(axes, (by_place, says), titles, labels, strict=True):
    plotting.similarity_heatmap(table, names, names, ax=ax, title=title, quantity="")
axes[0].set(xlabel="position of the key", ylabel="position of the query")
axes[1].set(xlabel="letter that it makes more probable", ylabel="letter it looks at")
plotting.show(
    axes[0],
    "Left, a striped square up to position 15, the brightest stripe just under the "
    "diagonal, and nearly nothing outside. Right, a bright diagonal.",
)

# %%
one_back = by_place.diagonal(-1)[:15]  # queries 1 to 15
largest = by_place[1:16].tril().argmax(dim=1) == torch.arange(15)
print(f"queries 1 to 15 whose best key is the one before: {int(largest.sum())} of 15")
own = says.argmax(dim=1) == torch.arange(26)
print(f"letters that head 1.1 makes most probable itself: {int(own.sum())} of 26")

# %% [markdown]
# *The left table is made of diagonal stripes, and the strongest one lies just under the diagonal. It ends at position 15. On the right, looking at a letter makes the same letter more probable, whichever it is.*
#
# Nothing was run for these pictures. They're made of weights alone, and they show both jobs and even the cliff. Exercise 13.3 (*more*) asks for both matrices, with grouped heads, and 13.4 how much two features can copy.

# %% [markdown]
# ## 13.4 One head reads another
# *Core · 7 minutes*
#
# How does a head in layer 1 find the letter after the copy? Its query knows its own letter, say *q*. The key that it wants holds another letter, *f*. What sets this *f* apart? Perhaps that a head in layer 0 looked back from it and wrote down that *q* came before. Here is what that would look like, drawn from heads 0.2 and 1.1 on a short text:

# %%
text = torch.tensor([[LETTERS.index(letter) for letter in "qfwamq"]])  # (1, 6)
with record_attention(model) as seen:
    logits = model(text)
weights = [seen[ATTENTION[0]][0, 2], seen[ATTENTION[1]][0, 1]]
answer = LETTERS[logits[0, -1].argmax()]
how = {"before": weights[0], "copying": weights[1], "says": answer}
plotting.show(diagrams.induction(list("qfwamq"), **how))

# %% [markdown]
# *From below: each letter, the letter that head 0.2 looks at, the note that it could write, and the note that head 1.1 finds.*

# %% [markdown]
# If so, then QK of layer 1 must fit a letter to **what head 0.2 writes about that letter**. That can be computed. OV of the writer turns the letters' vectors into notes, and QK of the reader says how well each letter, as a query, fits each note, as a key:


# %%
def fits(writer, reader):
    """Row: the query's letter. Column: the letter that the writer noted at the key."""
    notes = (E * norm_0) @ ov_circuit(first, writer).matrix.T  # (26, d_model)
    return (E * norm_1) @ qk_circuit(second, reader).matrix @ (notes * norm_1).T


# %%
axes = plotting.new_axes(10.0, 4.2, columns=2)
bound = fits(2, 1).abs().max().item()
for ax, writer in zip(axes, (2, 3), strict=True):
    table, title = fits(writer, 1), f"0.{writer} writes, 1.1 reads"
    names = {"title": title, "quantity": "", "bound": bound}
    plotting.similarity_heatmap(table, list(LETTERS), list(LETTERS), ax=ax, **names)
    ax.set(xlabel="letter in the note", ylabel="letter of the query")
plotting.show(
    axes[0],
    "Left a bright diagonal, right faint cells without order, on one color scale.",
)
for writer in range(4):
    own = [(fits(writer, r).argmax(dim=1) == torch.arange(26)).sum() for r in range(4)]
    print(f"0.{writer}: notes that fit their own letter best", [int(n) for n in own])
print("if each letter took a note at random: 1 of 26")

# %% [markdown]
# *On the left, a query* q *fits a note* q *better than any other note. On the right, what head 0.3 writes is faint, and only a few letters fit their own.* The printed rows say the same for all pairs, the four readers side by side, 26 letters each. Writing into what a later head uses for its **keys** is called **K-composition**. Into queries or values it would be Q- or V-composition.
#
# That's a tidy picture, and still a hypothesis. The parts fit together. Whether the model depends on them is another question.

# %% [markdown]
# ## 13.5 Take it out
# *Core · 10 minutes*
#
# To learn whether a head **matters**, we take it out (**ablation**). In its place we put its own mean, over all texts and positions, so that the rest of the model gets what it's used to, only without any news.

# %%
widgets.predict(
    "13.C",
    "Heads 0.0 and 0.2 have the same stripe. Which costs more bits to take out?",
    choices=["about the same", "0.0, by far", "0.2, by far"],
)


# %%
def bits_without(heads, texts=texts):
    """What a letter of the second half costs when heads hand on their mean."""
    out = {(ATTENTION[layer], head): "mean" for layer, head in heads}
    with replaced_heads(model, out):
        return second_half_bits(model, texts)


print(f"whole model {bits_without([]):.2f}")
for layer in (0, 1):
    each = [f"{bits_without([(layer, head)]):.2f}" for head in range(4)]
    everything = bits_without([(layer, head) for head in range(4)])
    print(f"layer {layer}: without each head {each}, without all four {everything:.2f}")
widgets.came_out("13.C", "0.2, by far")

# %%
for out in ([(0, 0), (0, 2)], [(0, 1), (0, 3)]):
    print(f"without heads {out}: {bits_without(out):.2f}")
for left in range(4):
    out = [(1, head) for head in range(4) if head != left]
    print(f"with 1.{left} as the only head of layer 1: {bits_without(out):.2f}")

# %% [markdown]
# Two surprises. Heads 0.0 and 0.2 look alike, and one costs several times as much as the other. Only without *both* is everything lost, so 0.0 is a spare that does part of the job. And any one head of layer 1 can go, because the others do the same. A single one of them still gets most of the way, if it isn't 1.2. **A weight isn't an effect**, and a head that can be spared isn't a head without a job.
#
# (More than 4.7 bits a letter is possible. A model that's sure of wrong letters pays more than one that knows nothing.)
#
# **Is it the path?** By the hypothesis layer 1 should need what these two heads write for its *keys*, and not for its queries or values. We hide their notes from one of the three and leave them in the stream for everything else (a kind of **path patching**, Wang et al., 2022):


# %%
def bits_with_cut(writers, into):
    """What a letter costs when one input of layer 1's heads can't see some notes."""
    notes = [(ATTENTION[0], writer) for writer in writers]
    with contextlib.ExitStack() as cuts:
        for reader in range(4):
            cuts.enter_context(cut_path(model, notes, (ATTENTION[1], reader), into))
        return second_half_bits(model, texts)


for writers in ([0], [2], [0, 2], [1, 3]):
    cut = {into: round(bits_with_cut(writers, into), 2) for into in ("q", "k", "v")}
    print(f"notes of heads {writers} of layer 0 hidden from {cut}")

# %% [markdown]
# Hiding both notes from the keys costs nearly as much as taking both heads out. Hiding them from queries or values costs nothing, and the notes of the other two heads can be hidden from anything. For this model the hypothesis holds.
#
# That's one seed. With four others it isn't always the same heads that look back, but again their notes are needed for the keys and for nothing else. With one of the four, though, the most expensive head has another job (see *Five seeds*, below).
#
# **Do exercise 13.9 now (4 minutes).** Exercise 13.6 (*more*) cuts a path, and in 13.7 (*more*) you set the matrices of such a machine yourself. Now try some combinations. A click takes a head out and puts its mean over this text in its place, or zeros. The letters in the gray strip are those whose mean is printed below:

# %%
nine = twice(1, 9, torch.Generator().manual_seed(4))[0]  # (18,)
letters = list(spelled(nine))
remover = widgets.head_remover(model, nine, letters, removed=[(ATTENTION[0], 2)])
remover.show_first_state(
    "Head 0.2 is taken out. Its weights, and in the same rows the probability that "
    "the whole model and what is left of it give to the letter that comes next."
)

# %%
remover

# %% [markdown]
# ## 13.6 A failure explained, and mended
# *Core · 9 minutes*
#
# The model was trained on strings of up to 16 letters. Now it gets 20.

# %%
widgets.predict(
    "13.D",
    "Strings of 20 letters, written twice. Which letters of the second half go wrong?",
    choices=[
        "all of them, a little",
        "those at positions 32 and later, which never came in training",
        "those whose letter to copy is at position 16 or later in the first half",
    ],
)

# %%
long = twice(200, 20, torch.Generator().manual_seed(2))  # (200, 40)


def bits_by_letter(ids):
    """Bits for each letter of the second half but its first: (length - 1,)."""
    half = ids.shape[1] // 2
    logits = model(ids)[:, half:-1].transpose(1, 2)  # (n, V, length - 1)
    loss = F.cross_entropy(logits, ids[:, half + 1 :], reduction="none")
    return loss.mean(dim=0) / math.log(2)


# %%
ax = plotting.new_axes(6.4, 2.8)
names = {"xlabel": "position of the letter to copy", "ylabel": "bits"}
bits = {"20 letters": bits_by_letter(long)}
plotting.curves(torch.arange(1, 20), bits, ax=ax, **names)
plotting.mark_places(ax, {"position 16": 16})
ax.xaxis.get_major_locator().set_params(integer=True)
ax.set_ylim(0, None)
plotting.show(
    ax,
    "Bits by position of the letter to copy, near 0 up to 15 and about 15 from 16 on.",
)
late = "those whose letter to copy is at position 16 or later in the first half"
widgets.came_out("13.D", late)
print(f"on average {second_half_bits(model, long):.2f} bits")

# %% [markdown]
# *Another cliff, at the same place as in section 13.2.* The letters at positions 32 to 35 mostly come out right, though no text of the training was that long. Those go wrong whose *copy* lies at position 16 or later. Here is a story that would explain it. In training, position 16 was always in the second half, and there was never anything to copy from there. The heads that look back didn't learn to look back from there, and so no usable notes are written.
#
# It fits two pictures, and that isn't enough. If it's true, then **writing the missing notes must mend the model**, without any training. A head that gives the letter before all its weight hands on that letter's values. We let heads 0.0 and 0.2 do exactly that, everywhere:


# %%
def notes_by_hand(ids, heads=(0, 2)):
    """What heads of layer 0 hand on if every letter looks at the one before it."""
    x = contributions(model, ids).parts["embedding"]  # (n, L, d_model), the stream
    v = first.v_proj(model.layers[0].attention_norm(x)).unflatten(-1, (4, 16))
    before = torch.cat((v[:, :1], v[:, :-1]), dim=1)  # (n, L, H, d_head)
    return {(ATTENTION[0], head): before[:, :, head] for head in heads}


# %%
for length in (16, 20, 26):
    ids = twice(200, length, torch.Generator().manual_seed(2))
    as_is = second_half_bits(model, ids)
    by_hand = []
    for heads in ((0, 2), (1, 3)):
        with replaced_heads(model, notes_by_hand(ids, heads)):
            by_hand.append(f"by heads {heads} {second_half_bits(model, ids):.2f}")
    print(f"{length} letters: as it is {as_is:.2f} bits, notes by hand", *by_hand)

# %% [markdown]
# The control, with the other two heads, mends next to nothing. With the attention weights of heads 0.0 and 0.2 set by hand, a model that failed at 20 letters reads 26, the longest string there is. The heads of layer 1 could do it all along. And we said so beforehand, which shows more than any picture could that we've understood this part.

# %% [markdown]
# ## Five seeds
# *More · 3 minutes*
#
# Does the path of section 13.5 depend on the seed? We trained the model five times and cut the same paths in each. The table has every head of layer 0 that looks at the letter before (with more than half of its weight up to position 15) or that costs more than 0.1 bits to take out:

# %%
found = {}
for row in read_rows("induction"):
    if row["setting"] == "two layers" and row["steps"] == "600":
        found[int(row["seed"]), row["what"]] = float(row["value"])
print("bits more without the head, and with its notes hidden from q, k and v")
print("seed  head  score", *(f"{name:>14}" for name in ("without", "q", "k", "v")))
for seed in range(5):
    for head in range(4):
        score = found[seed, f"letter before, 0.{head}"]
        cuts = [f"0.{head} hidden from {into}" for into in ("q", "k", "v")]
        ways = [f"without 0.{head}", *cuts]
        more = [found[seed, way] - found[seed, "length 16"] for way in ways]
        if score > 0.5 or more[0] > 0.1:
            cells = [f"{bits:14.2f}" for bits in more]
            print(f"{seed:4}   0.{head}  {score:5.2f}", *cells)

# %% [markdown]
# Which heads look back changes from seed to seed. In all five runs their notes are needed for the keys and for nothing else. But that isn't all. With seed 3 the most expensive head, 0.3, hardly looks at the letter before and writes for the *values* of layer 1. With seed 1 a head does that too, and costs much less. What they write, we haven't traced.

# %% [markdown]
# ## Mended by training
# *More · 2 minutes*
#
# By the story of section 13.6 it was the training that never asked for notes from position 16 on. We changed that and trained on longer strings. We also tried rotary positions (lesson 08), for which "the one before" is the same everywhere. Five seeds each:

# %%
print("bits for a letter, lowest to highest of five seeds")
for setting in ("two layers", "up to 26", "rotary"):
    cells = []
    for length in (16, 20, 26):
        _, values = measured(setting, f"length {length}")
        last = values[:, -1]
        cells.append(f"{length} letters {last.min():.2f} to {last.max():.2f}")
    print(f"{setting:11}", ";  ".join(cells))

# %% [markdown]
# Trained on up to 26 letters, even the worst run reads 20 letters for 0.3 bits each, where the best of the others pays more than 3. With rotary positions, trained on 16 at most, it loses little at 20 and more at 26.

# %% [markdown]
# ## A stripe that isn't
# *More · 4 minutes*
#
# One more model, trained for 100 updates on strings of exactly 16 letters:

# %% tags=["nbval-ignore-output"]
fixed = induction.trained(lengths=(16, 16), steps=100)
with record_attention(fixed) as seen:
    fixed(texts)
mask = circuits.induction_mask(texts)
for layer, one in enumerate(ATTENTION):
    print(f"layer {layer}, score after a copy:", mean_weight(seen[one], mask))
best = mean_weight(seen[ATTENTION[0]], mask).argmax()  # in layer 0
print(f"16 letters: {second_half_bits(fixed, texts):.2f} bits")

# %% [markdown]
# It's nearly perfect in a sixth of the time, and its heads have the stripe. One of them is in layer **0**. But a head in layer 0 can't be an induction head, since no earlier head has left it any notes. Before you run the next cell, say what else it could be doing, and which text would show it.

# %% tags=["nbval-ignore-output"]
for length in (10, 20):
    ids = twice(200, length, torch.Generator().manual_seed(2))
    with record_attention(fixed) as seen:
        costs = second_half_bits(fixed, ids)
    far = seen[ATTENTION[0]][:, best].diagonal(-15, dim1=-2, dim2=-1)  # (200, L - 15)
    print(f"{length} letters: {costs:.2f} bits, weight 15 back {far.mean():.2f}")

# %% [markdown]
# The head of layer 0 looks 15 places back, whatever the letters are. With strings of 16 that's always right, so the score can't tell the two apart. Another length can. A detector measures what you ask it on the texts that you give it, and a mechanism is known only when it has had a chance to fail. How many lengths must a model see before it learns the rule? That's exercise 13.8.

# %% [markdown]
# ## Shares of a logit
# *More · 7 minutes*
#
# In a pre-norm model the stream is a **sum** (lesson 09), the embedding plus what each head and each network added. The last norm divides that sum by one number for each position, and the output matrix is linear. Take that number as it is, and each part has its **share** of every logit, and the shares add up. This is called *direct logit attribution*, and exercise 13.5 asks for it. For the right letter, on average over the second half:

# %%
parts = contributions(model, texts)
following = texts.roll(-1, dims=1)  # (200, 32): the letter that comes next
shares = parts.to_logits(following)  # part -> (200, 32)
logits = model(texts).gather(-1, following[..., None]).squeeze(-1)  # (200, 32)
total = torch.stack(list(shares.values())).sum(dim=0)
known = slice(16, 31)  # the positions at which the next letter can be known
for name, share in shares.items():
    mean = share[:, known].mean().item()
    if abs(mean) >= 0.05:
        print(f"{name.replace('.self_attention', ''):22} {mean:6.2f}")
print(f"{'all together':22} {total[:, known].mean():6.2f}")
print("adds up:", torch.allclose(total, logits, atol=1e-4))

# %% [markdown]
# Layer 0 adds nothing to the right letter *directly*, though without it the model is lost. Direct shares can't see what goes by way of later heads. And the largest share belongs to the network of layer 1. Does it know the answer? The **logit lens** (nostalgebraist, 2020) reads the stream early. After each part we ask the last norm and the output matrix what they would say:

# %%
for name, so_far in parts.logits_so_far():
    loss = F.cross_entropy(so_far[:, known].transpose(1, 2), following[:, known])
    name = name.replace(".self_attention", "")
    print(f"after {name:22} {loss / math.log(2):5.2f} bits")

# %% [markdown]
# After the four induction heads the answer is there. The network only makes it louder. The same tools take the pronouncing Transformer of lesson 11 apart, and the shares add up there too:

# %%
told = pretrained.load("transformer").requires_grad_(False)
source = torch.tensor([SPELLING.encode("knight")])  # (B=1, L_s=6)
target = torch.tensor([[START_ID, *SOUNDS.encode(["N", "AY", "T"])]])  # (1, L_t=4)
logits = told(source, target)  # (1, 4, V)
said = logits.argmax(dim=-1)  # N, AY, T and the end
shares = contributions(told, source, target).to_logits(said)
print(f"{'':24}", *(f"{sound:>6}" for sound in ("N", "AY", "T", "end")))
for kind in ("self_attention", "cross_attention", "feed_forward"):
    share = sum(value for name, value in shares.items() if kind in name)[0]
    print(f"{kind:24}", *(f"{value:6.2f}" for value in share.tolist()))
everything = torch.stack(list(shares.values())).sum(dim=0)
top = logits.gather(-1, said[..., None]).squeeze(-1)
print(f"{'all parts':24}", *(f"{value:6.2f}" for value in everything[0].tolist()))
print("adds up:", torch.allclose(everything, top, atol=1e-4))

# %% [markdown]
# The three sounds get more from cross-attention, directly, than from self-attention. With the end symbol it's the other way round, as if what was said so far told the model that the word is over. That's one word, and a guess.

# %% [markdown]
# ## In the language model of lesson 12
# *More · 10 minutes*
#
# Here everything is fainter. The language model reads a stretch of 48 letters twice, with 16 others between. For comparison it reads the stretch after its own letters in another order, and after another stretch. What the copy costs less than the mixed letters is due to the order (section 12.5), and only that could be an induction head's work:

# %% tags=["nbval-ignore-output"]
lm = pretrained.load("language_model").requires_grad_(False)
test = encode_text(documentation_split().test)
rng, size, gap = torch.Generator().manual_seed(0), 48, 16
starts = torch.randint(len(test) - size, (3, 64, 1), generator=rng)
again, other, between = test[starts + torch.arange(size)]  # (64, 48) each
order = torch.rand(64, size, generator=rng).argsort(dim=1)
copied, mixed, fresh = (
    torch.cat((first, between[:, :gap], again), dim=1)  # (64, 112)
    for first in (again, again.gather(1, order), other)
)


# %% tags=["nbval-ignore-output"]
def second_stretch(ids):
    """Bits for a letter of the second stretch."""
    logits = lm(ids[:, :-1])[:, -size:].transpose(1, 2)
    return F.cross_entropy(logits, ids[:, -size:]).item() / math.log(2)


for name, ids in (("other text", fresh), ("mixed", mixed), ("a copy", copied)):
    print(f"after {name:10} {second_stretch(ids):.2f} bits")
whole = second_stretch(mixed) - second_stretch(copied)
print(f"saved by the order: {whole:.2f}")

# %% [markdown]
# Now the detectors. `induction_mask` is of little use on a text of few letters. An *e* has many earlier copies, so even a head that gives all keys the same weight scores high. The mask for this text is narrower, the place after *this* letter in the first stretch:

# %% tags=["nbval-ignore-output"]
shifted = torch.zeros(64, 112, 112, dtype=torch.bool)
query = torch.arange(size + gap, 111)
shifted[:, query, query - size - gap + 1] = True
guesses = {
    "the letter before": circuits.previous_token_mask(copied),
    "the first letter": circuits.first_token_mask(copied),
    "after any copy": circuits.induction_mask(copied),
    "after the copy": shifted,
}

# %% tags=["nbval-ignore-output"]
with record_attention(lm) as seen:
    lm(copied)
for name, mask in guesses.items():
    found = torch.stack([mean_weight(one, mask) for one in seen.matching("layers.*")])
    most = zip(*(part.tolist() for part in found.flatten().topk(2)), strict=True)
    heads = [f"{i // 4}.{i % 4} {weight:.2f}" for weight, i in most]
    print(f"{name:18}", *heads, f"  even share {circuits.uniform_weight(mask):.2f}")

# %% [markdown]
# Head 1.3 looks at the letter before with half of its weight, and 1.2 with a third. Nothing looks at the first letter more than an even share. In many language models the first token is an **attention sink** (Xiao et al., 2023), where heads park attention that they don't need. Here it isn't. And the head that looks most at the right place of a copy gives it a few percent of its weight, where the small model's heads give it nine tenths. Does that matter? We take out each head, and ask what the order still *saves*:

# %% tags=["nbval-ignore-output"]
saved = torch.zeros(4, 4)  # (layers, H)
for layer in range(4):
    for head in range(4):
        with replaced_heads(lm, {(f"layers.{layer}.self_attention", head): "mean"}):
            saved[layer, head] = second_stretch(mixed) - second_stretch(copied)
print(f"saved by the order, a row for each layer (whole model {whole:.2f}):")
print(saved)

# %% [markdown]
# The head with the few percent is 3.1, and without it the order saves about half as much as before, less than without any other. A faint stripe can matter. Is 3.1 an induction head, then? By section 13.4 its keys should need what heads 1.2 and 1.3 write, which look at the letter before the most. We hide their notes from its keys:

# %% tags=["nbval-ignore-output"]
reader = "layers.3.self_attention", 1
writers = [("layers.1.self_attention", head) for head in (2, 3)]
with cut_path(lm, writers, reader, "k"):
    cut = second_stretch(mixed) - second_stretch(copied)
    with record_attention(lm) as seen:
        lm(copied)
print(f"the order saves {cut:.2f} (whole model {whole:.2f})", end=", ")
print(f"weight after the copy {mean_weight(seen[reader[0]], shifted)[1]:.3f}")

# %% [markdown]
# That costs a small part of what 3.1 is worth. So the story of the small model isn't the story of this one, or the notes take another way, through the networks between, which this cut leaves alone. We haven't traced it. That's where most work of this kind begins, and the payoff of the exercises is a place to start.

# %% [markdown]
# ## A published model in your own class
# *More · 6 minutes*
#
# The course's `DecoderLM` can also be a published model. GPT-2 and models in Llama's format differ from ours in switches that `DecoderConfig` has (learned positions, LayerNorm, GELU, biases), and `load_published` reads their files. Whatever an unknown configuration asks for is refused by name. For random models of both families, which Hugging Face's `transformers` wrote, the tests hold the logits equal to 1e-5, with a cache and without. With a network, this fetches GPT-2 once (about 550 MB):
#
# ```python
# # pip install "attention-course[pretrained]"
# from course_utils.pretrained.published import download_published
# download_published("openai-community/gpt2")
# ```
#
# Then the next cell finds it, runs the detectors of this lesson on it, and prints the heads that score highest on random tokens written twice. Without it, it says so. We had no network when this page was made, so no figures of GPT-2 are printed here. Wang et al. (2022, section 3) report induction heads in it, and you can look for yourself. Don't trust the score alone. GPT-2 also has a head that looks at a token which the model is about to say, and makes it *less* likely (**copy suppression**, McDougall et al., 2023). In a text written twice that can be the very place where an induction head looks. A mask can't tell the two apart, but OV can.

# %% tags=["nbval-ignore-output"]
try:
    gpt2 = load_published("openai-community/gpt2").model.requires_grad_(False)
except ValueError as error:
    print(error)
else:
    rng = torch.Generator().manual_seed(0)
    once = torch.randint(1000, 20_000, (8, 40), generator=rng)
    ids = torch.cat((once, once), dim=1)  # (8, 80)
    with record_attention(gpt2) as seen:
        gpt2(ids)
    for name in ("previous_token_mask", "induction_mask"):
        mask = getattr(circuits, name)(ids)
        found = torch.stack([mean_weight(w, mask) for w in seen.matching("layers.*")])
        best = found.flatten().topk(5).indices.tolist()
        print(name, [f"{i // 12}.{i % 12} {found.flatten()[i]:.2f}" for i in best])

# %% [markdown]
# ## What goes wrong
# *More · 3 minutes*
#
# **A detector that is off by one.** If it reads the diagonal itself in place of the one below, a head that looks one back scores 0, and one that looks at itself scores 1. On a picture of 32 positions you won't see the difference:

# %%
with record_attention(model) as seen:
    model(texts)
head = seen[ATTENTION[0]][:, 2, :16, :16]  # head 0.2 in the first half: (200, 16, 16)
for off in (0, -1, -2):
    diagonal = head.diagonal(off, dim1=-2, dim2=-1)
    print(f"diagonal {off:2}: {diagonal.mean():.2f}")

# %% [markdown]
# **Taken out by zeros.** A head that always adds the same vector carries no news, but the rest of the model has been trained with that vector in the stream. Put zeros in its place, and you may measure a shock as well. For single heads of our small model the two ways agree. For three at once they don't, and here the mean costs more. So say which one you used:

# %%
for heads in ([(0, 0)], [(0, 2)], [(1, 1)], [(1, 0), (1, 1), (1, 3)]):
    costs = {}
    for what in ("mean", 0.0):
        with replaced_heads(model, {(ATTENTION[n], head): what for n, head in heads}):
            costs[what] = round(second_half_bits(model, texts), 2)
    print(f"out {heads}: {costs}")

# %% [markdown]
# ## Recap
# *Core · 2 minutes*
#
# 1. **It learns quickly, once it starts.** Within about a hundred updates the model with two layers learns most of the task. One layer, given many more, finds another way.
# 2. **A score** is the mean weight on the keys that a guess names. A mean of one half hid a head that does its whole job, up to position 15.
# 3. **QK** says where a head looks and **OV** what it carries over. Head 0.2 notes the letter before, and the heads of layer 1 compare their letter with these notes (K-composition).
# 4. **A weight isn't an effect.** Of two heads with the same stripe one can nearly be spared, and each induction head can because there are three others. Hiding both notes from the keys broke the model. Hiding them from queries or values did nothing.
# 5. **The failure** beyond 16 letters came from notes that the heads didn't write. Writing them by hand mended it.
# 6. (*More*) **Shares** of a logit add up. They are direct, so what a head does through others isn't in its share.
#
# This was one small model, with four more seeds and a task made for it. Large models are another matter, but they're looked into with the same tools.

# %% tags=["nbval-ignore-output"]
widgets.predictions()

# %% [markdown]
# | symbol | meaning | shape |
# |---|---|---|
# | $W_{QK} = W_q^\top W_k / \sqrt{d_{head}}$ | where a head looks | `(d_model, d_model)`, rank at most `d_head` |
# | $W_{OV} = W_o W_v$ | what it carries over | `(d_model, d_model)`, rank at most `d_head` |
# | mask of a guess | the keys that it names for each query | `(B, L, L)`, boolean |
# | score of a head | mean weight on these keys | a number from 0 to 1 |
# | share of a logit | what a part adds to it directly | `(B, L)` |

# %% [markdown]
# ## Check yourself
# *Core · 3 minutes*
#
# <details><summary>1. A head in the FIRST layer has a score of 0.9 with <code>induction_mask</code>. What do you conclude?</summary>
#
# **That it looks at these places in these texts.** It can't be an induction head, since no earlier head has written anything for it to find. Try texts in which the copy lies at another distance.
# </details>
#
# <details><summary>2. You take out a head that has a beautiful stripe, and nothing gets worse. Name two explanations that need different experiments.</summary>
#
# **Others do the same job** (take them out together), or **nothing reads what it writes** (cut its paths one by one, or look at what OV carries).
# </details>
#
# <details><summary>3. (<em>more</em>) Head 0.2's direct share of the right letter's logit is about 0, and without it the model loses more than a bit. Is that a contradiction?</summary>
#
# **No.** What it writes is read by the heads of layer 1, and counts as their share. Without it and its spare, head 0.0, they find nothing.
# </details>

# %% [markdown]
# {{next_steps}}

# %% [markdown]
# ## References
#
# - Elhage et al., *A Mathematical Framework for Transformer Circuits*, 2021: the stream as a sum, QK and OV circuits, composition, eigenvalues of OV.
# - Olsson et al., *In-context Learning and Induction Heads*, 2022: induction heads in models of many sizes, and the abrupt change while they form.
# - Wang et al., *Interpretability in the Wild: a Circuit for Indirect Object Identification in GPT-2 small*, 2022, section 3: paths between heads, heads taken out by their mean.
# - nostalgebraist, *interpreting GPT: the logit lens*, 2020. Xiao et al., *Efficient Streaming Language Models with Attention Sinks*, 2023: heads that park on the first token.
# - McDougall et al., *Copy Suppression: Comprehensively Understanding an Attention Head*, 2023: a head that turns down what would be copied.
# - Jain, Wallace, *Attention is not Explanation*, 2019: weights and effects, argued for earlier models.
