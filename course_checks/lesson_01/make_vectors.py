"""1.6 · Word vectors from a text."""

import torch

from course_utils.datasets.word_vectors import cooccurrence_counts, positive_pmi

from ..deciding.exercise import Case, Exercise

WORDS = "cats chase the mice mice chase cats dogs chase mice".split()
OUTSIDE = "some words are not in the vocabulary"
OFF_LIMITS = tuple(
    f"course_utils.datasets.word_vectors.{name}"
    for name in ("cooccurrence_counts", "positive_pmi", "two_halves", "word_vectors")
)


def cases(seed):
    rng = torch.Generator().manual_seed(seed)
    made = [Case(OUTSIDE, words=WORDS, vocabulary=["cats", "chase", "dogs", "mice"], window=1, r=2)]
    for V, others, length, window, r in (
        (5, 0, 30, 1, 3),
        (6, 3, 60, 2, 2),
        (7, 2, 90, 3, 4),
        (6, 0, 40, 2, 1),
        (5, 3, 60, 2, 5),
    ):
        labels = [OUTSIDE] if others else []
        made.append(Case(*labels, **text(rng, V, others, length, window, r)))
    return made


def text(rng, V, others, length, window, r):
    """Words drawn at random, of which some follow others; drawn again until the first singular values are far apart."""
    names = [chr(ord("a") + i) for i in torch.randperm(V + others, generator=rng).tolist()]
    while True:
        ids = torch.randint(V + others, (length,), generator=rng)
        follow = torch.rand(length - 1, generator=rng) < 0.4
        ids[1:] = torch.where(follow, (ids[:-1] * 3 + 1) % (V + others), ids[1:])
        words = [names[i] for i in ids.tolist()]
        counts = cooccurrence_counts(words, names[:V], window)
        if counts.sum(dim=1).min() > 0:
            U, sizes, _ = torch.linalg.svd(positive_pmi(counts, smoothing=1.0))
            apart = (sizes - torch.cat([sizes[1:], torch.zeros(1)]))[:r].min() > 0.03
            if apart and (falling(V) @ U[:, :r]).abs().min() > 0.02:
                return {"words": words, "vocabulary": names[:V], "window": window, "r": r}


def compared(case, vectors):
    """Sign and dtype are open: each column is turned so that its sum with these weights is positive."""
    V = len(case["vocabulary"])
    if (
        not isinstance(vectors, torch.Tensor)
        or vectors.dim() != 2
        or len(vectors) != V
        or not vectors.is_floating_point()
    ):
        return vectors
    vectors = vectors.float()  # float64 is as good: no argument says a dtype
    return vectors * torch.where(falling(V) @ vectors < 0, -1.0, 1.0)


def falling(V):
    """1, 1/2, 1/3, ...: the first word decides the sign, unless it says too little."""
    return 1 / torch.arange(1.0, V + 1)  # (V,)


EXERCISE = Exercise(
    cases,
    returns=("vectors",),
    off_limits=OFF_LIMITS,
    compared=compared,
    rtol=1e-3,
    atol=1e-3,
    pairs=300,
    advice="print your counts for the example, then your PPMI, and work out one cell of each with a pencil.",
)
