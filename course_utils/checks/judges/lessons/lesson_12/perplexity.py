"""Perplexity."""

import math

import torch
import torch.nn.functional as F

from ...exercise import Case, Exercise, Fault
from ...kit.parts import faults_of


def _cases(seed):
    rng = torch.Generator().manual_seed(seed)
    by_hand = torch.tensor([[[0.5, 0.25, 0.25], [0.25, 0.25, 0.5]]]).log()  # (1, 2, 3)
    empty = _scored(rng, ((3, 6, 2), (1, 4, 3), (2, 3, 2)), 9, 4)
    empty.insert(1, (torch.randn(2, 3, 9, generator=rng), torch.full((2, 3), 4)))
    long = [(6 * torch.randn(1, 150, 20, generator=rng), torch.randint(4, 20, (1, 150), generator=rng))]
    return [
        Case(batches=[(by_hand, torch.tensor([[0, 1]]))], pad_id=2),  # 1/2 and 1/4: the root of 8
        Case(batches=_scored(rng, ((2, 6, 4), (3, 3, 2)), 7, 0), pad_id=0),
        Case(batches=_scored(rng, ((3, 6, 2), (1, 4, 3), (2, 3, 2)), 9, 4), pad_id=4),
        Case("there are many badly predicted tokens", batches=long, pad_id=3),
        Case("a batch holds nothing but padding", batches=empty, pad_id=4),
    ]


def _scored(rng, sizes, vocab, pad_id):
    """Batches of unequal size and difficulty; some labels are padding, and what is said of padding is often wrong."""
    batches = []
    for number, (B, L, shortest) in enumerate(sizes):
        labels = torch.randint(0, vocab - 1, (B, L), generator=rng)
        labels = labels + (labels >= pad_id)  # any id but padding
        logits = 1.3 * torch.randn(B, L, vocab, generator=rng)
        logits.scatter_add_(-1, labels[..., None], torch.full((B, L, 1), 2.5 - 1.5 * number))
        lengths = torch.randint(shortest, L + 1, (B,), generator=rng)
        lengths[0] = min(shortest, L - 1)
        labels = labels.masked_fill(torch.arange(L) >= lengths[:, None], pad_id)
        batches.append((logits, labels))
    return batches


_TOTAL = "add up the losses of all tokens, divide once by their number, and take exp once."


def _total(found):
    return sum(losses[real].sum() for losses, real in found)


def _joined(found):
    return torch.cat([losses[real] for losses, real in found])


def _means(found):
    return torch.stack([losses[real].mean() for losses, real in found])


def perplexity(
    batches, pad_id, *, scores=lambda logits, pad_id: logits, real=lambda labels, pad_id: labels != pad_id,
    count=lambda found: sum(int(real.sum()) for _, real in found), mean=lambda found, count: _total(found) / count(found),
    empty=lambda found: 0.0, finish=torch.exp,
):  # fmt: skip
    """exp of the mean loss; each keyword is one step, ``mean`` and ``count`` get losses and which of them count."""
    losses = (F.cross_entropy(scores(z, pad_id).double().mT, labels, reduction="none") for z, labels in batches)
    found = [(loss, real(labels, pad_id)) for loss, (_, labels) in zip(losses, batches, strict=True)]
    return finish(mean(found, count) + empty(found)).item()


def _rows(found):
    return [(row, kept) for losses, real in found for row, kept in zip(losses, real, strict=True)]


def _twice(name, said, mean, split=list):
    """A mean of means as it is, and with those left out that hold no token: they would make it NaN."""
    return faults_of("mean", _TOTAL, (name, said, lambda found, count: mean(_means(split(found)))),
        (f"{name}, no NaN", said, lambda found, count: mean(_means(x for x in split(found) if x[1].any()))),
    )  # fmt: skip


EXERCISE = Exercise(
    answer="perplexity", cases=_cases, reference=perplexity, returns=("perplexity",),
    faults=(
        *_twice("mean of the batches' losses",
            "the mean of the batches' means: a small batch counts as much as a large one.", torch.mean),
        *_twice("mean of the batches' perplexities",
            "the mean of the batches' perplexities: a small batch counts like a large one, and exp was taken too early.",
            lambda means: means.exp().mean().log()),
        *_twice("mean of the sequences' losses",
            "the mean of the sequences' means: a short one counts as much as a long one.", torch.mean, split=_rows),
        *faults_of("mean", _TOTAL,
            ("mean of the tokens' perplexities", "exp was taken of each token's loss, before the mean.",
                lambda found, count: _joined(found).exp().mean().log()),
            ("mean of the probabilities", "one over the mean probability of the right tokens.",
                lambda found, count: -_joined(found).neg().exp().mean().log(), "the mean is taken of the logarithms."),
            ("product", "the probabilities were multiplied: the product of many is 0 in a computer.",
                lambda found, count: -_joined(found).neg().exp().prod().log() / count(found), "add up logarithms."),
            ("exp of the sum", "exp of the total loss: not divided by the number of tokens.", lambda found, count: _total(found)),
            ("first batch only", "the perplexity of the first batch alone: the return stands inside the loop.",
                lambda found, count: _means(found)[0], "return after the loop."),
            ("last batch only", "the perplexity of the last batch alone.", lambda found, count: _means(found)[-1],
                "collect sum and number over all batches.")),
        Fault("divided by the batches", "the total loss was divided by the number of batches.",
            "divide by the number of tokens.", count=len),
        Fault("padding in the number", "padding is left out of the sum but counted in the number.",
            "count the positions whose label is not pad_id.", count=lambda found: sum(loss.numel() for loss, _ in found)),
        Fault("padding counted", "padding counted: its losses are in the sum and its positions in the number.",
            "leave out the positions whose label is pad_id, in both.", real=lambda labels, pad_id: labels == labels),
        Fault("padding is always 0", "padding was taken to be id 0; here it may be any id.",
            "compare the labels with pad_id.", real=lambda labels, pad_id: labels != 0),
        Fault("a batch of padding", "a batch of nothing but padding spoils the result: its mean is 0 / 0, NaN.",
            "add up losses and their number, with reduction='sum'; or leave out a batch without tokens.",
            empty=lambda found: 0.0 if all(real.any() for _, real in found) else math.nan),
        Fault("softmax before cross_entropy", "a softmax before cross_entropy, which takes log-softmax itself.",
            "hand the logits over as they are.", scores=lambda logits, pad_id: logits.softmax(-1)),
        Fault("padding out of the softmax", "padding was taken out of the softmax: the other symbols share its probability.",
            "leave the logits as they are; pad_id says which labels count, nothing else.",
            scores=lambda logits, pad_id: logits.index_fill(-1, torch.tensor(pad_id), -1e9)),
        *faults_of("finish", "cross_entropy uses the natural logarithm, so take exp.",
            ("no exp", "the mean loss came back, in nats.", lambda mean: mean, "the perplexity is exp of it."),
            ("bits", "bits per token came back.", lambda mean: mean / math.log(2),
                "the perplexity is 2 to that power, or exp of the loss in nats."),
            ("math.exp", "math.exp stops where the number is too large.",
                lambda mean: torch.tensor(math.exp(mean), dtype=torch.float64), _TOTAL),
            ("2 to the power of nats", "2 to the power of nats: the bases are mixed.", torch.exp2),
            ("exp of bits", "exp of bits: the bases are mixed.", lambda mean: (mean / math.log(2)).exp()),
            ("sign", "the sign is turned around: your result is 1 / perplexity, which is below 1.", lambda mean: (-mean).exp(),
                "exp of the mean of -log p.")),
    ),
    advice="work the example of the task by hand: two tokens with probabilities 1/2 and 1/4.",
)  # fmt: skip
