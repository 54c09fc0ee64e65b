"""One matrix, two jobs: embedding and generator that share their weights."""

import torch
from torch import nn

from ...exercise import Case, Exercise, Fault
from ...kit.parts import faults_of


def _cases(seed):
    rng = torch.Generator().manual_seed(seed)
    cases = []
    for vocab, d_model, B, L in ((3, 4, 1, 2), (7, 5, 2, 3), (6, 9, 3, 4)):
        ids, hidden = torch.randint(0, vocab, (B, L), generator=rng), torch.randn(B, L, d_model, generator=rng)
        cases.append(Case(vocab=vocab, d_model=d_model, ids=ids, hidden=hidden, _seed=seed))
    return cases


def _share(embedding, generator):
    generator.weight = embedding.weight


def _copy(embedding, generator):
    generator.weight.data.copy_(embedding.weight.data)


def _same_numbers(embedding, generator):
    generator.weight.data = embedding.weight.data


def _ends(
    *, tie=_share, bias=True, first=lambda matrix: None, scale=lambda d: d**0.5, again=lambda d: 1.0,
    scores=lambda ends, hidden: ends.generator(hidden)
):  # fmt: skip
    """The class (Vaswani et al. 2017, section 3.4)."""

    class TiedEnds(nn.Module):
        def __init__(self, vocab, d_model):
            super().__init__()
            vocab, d_model = max(vocab, 1), max(d_model, 1)  # smaller ones are tried on a wrong answer
            self.embedding, self.generator = nn.Embedding(vocab, d_model), nn.Linear(d_model, vocab, bias=bias)
            tie(self.embedding, self.generator)

        def embed(self, ids):
            first(self.embedding.weight.data)
            return self.embedding(ids) * scale(self.embedding.embedding_dim)

        def logits(self, hidden):
            return scores(self, hidden * again(self.embedding.embedding_dim))

    return TiedEnds


_TIE = "let both modules hold the very same nn.Parameter: assign one's weight to the other."
_SCALE = "multiply by the square root of d_model in embed, and nowhere else."
_SCORES = "logits are the generator's output: hidden with each row of the matrix, plus the bias."

_FAULTS = (
    *faults_of("tie", _TIE,
        ("two matrices", "embedding and generator have a matrix each.", lambda embedding, generator: None),
        ("copied once", "the numbers were copied once; there are still two matrices, and training moves them apart.", _copy),
        ("numbers shared, parameters not", "both ends have the same numbers, but in two parameters: an optimizer counts and "
         "moves both.", _same_numbers)),
    *faults_of("bias", "keep the generator's bias: one number for each symbol.",
        ("no bias", "the generator has no bias.", False)),
    *faults_of("scale", _SCALE,
        ("not scaled", "the embedded ids are not multiplied by anything.", lambda d: 1.0),
        ("times d_model", "the embedded ids are multiplied by d_model, not by its root.", lambda d: float(d)),
        ("divided by the root", "the embedded ids are divided by the root of d_model.", lambda d: d**-0.5)),
    Fault("matrix scaled in place", "embed multiplies the shared matrix itself, at every call: the logits change as well.",
        "multiply the vectors that were looked up and leave the matrix as it is.",
        first=lambda matrix: matrix.mul_(matrix.shape[1] ** 0.5), scale=lambda d: 1.0),
    *faults_of("again", _SCALE,
        ("scaled at both ends", "the hidden vectors are multiplied by the root of d_model as well.", lambda d: d**0.5),
        ("divided at the other end", "the hidden vectors are divided by the root of d_model.", lambda d: d**-0.5)),
    *faults_of("scores", _SCORES,
        ("softmax", "probabilities: a softmax was applied.", lambda ends, hidden: ends.generator(hidden).softmax(-1)),
        ("log-softmax", "log-probabilities; asked for are logits.", lambda ends, hidden: ends.generator(hidden).log_softmax(-1)),
        ("bias left out", "the bias is not added.", lambda ends, hidden: hidden @ ends.generator.weight.T),
        ("no gradient to the matrix", "the values are right, but from the logits no gradient reaches the matrix.",
         lambda ends, hidden: hidden @ ends.generator.weight.detach().T + ends.generator.bias)),
)  # fmt: skip

EXERCISE = Exercise(
    answer="TiedEnds", cases=_cases, reference=_ends,
    returns=("number of parameters", "embedded ids", "logits", "embedded ids after an update", "logits after an update"),
    faults=_FAULTS, tries=50,
    advice="count the parameters of your module, and work out the example: which numbers come from the matrix?",
)  # fmt: skip
