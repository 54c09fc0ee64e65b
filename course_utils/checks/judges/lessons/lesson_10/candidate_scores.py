"""Encode once, score many: the log-probabilities of whole candidates."""

import torch

from ...exercise import Case, Exercise, Fault
from ...kit.padded import padded
from ...kit.parts import faults_of
from .symptoms import memory_of_one_row


def _cases(seed):
    rng = torch.Generator().manual_seed(seed)
    cases = []
    for lengths, L_s, vocab, pad_id, dtype in (
        ((3, 4), 2, 5, 0, torch.float32),
        ((6, 3, 5), 4, 8, 0, torch.float32),
        ((4, 7, 5, 3), 3, 9, 6, torch.float64),
        ((3, 5), 5, 7, 2, torch.float32),
        ((4,), 4, 6, 3, torch.float32),
    ):
        source = torch.randint(1, vocab, (1, L_s), generator=rng)
        candidates = padded(rng, lengths, max(lengths), vocab, pad_id, 0 if pad_id else 1)
        labels = ("there is one candidate",) if len(lengths) == 1 else ()
        tables = {name: 1.5 * torch.randn(vocab, vocab, generator=rng, dtype=dtype) for name in ("target", "memory")}
        tables |= {"source": torch.randn(vocab, 3, generator=rng, dtype=dtype)}
        tables |= {"read": torch.randn(3, vocab, generator=rng, dtype=dtype)}
        cases.append(Case(*labels, source=source, candidates=candidates, pad_id=pad_id, _tables=tables))
    return [*cases, _sharp(rng), _long(rng)]


def _sharp(rng):
    """Logits of 500 and -500: the softmax gives some symbols a probability of 0."""
    candidates = torch.randint(1, 6, (3, 7), generator=rng)
    tables = {"target": torch.randn(6, 6, generator=rng, dtype=torch.float64)}
    tables |= {"memory": torch.where(torch.eye(6, dtype=torch.bool).roll(1, 1), 500.0, -500.0).double()}
    tables |= {"source": torch.randn(6, 3, generator=rng).double(), "read": torch.randn(3, 6, generator=rng).double()}
    source = torch.randint(1, 6, (1, 4), generator=rng)
    return Case("some logits are very large", source=source, candidates=candidates, pad_id=0, _tables=tables)


def _long(rng):
    """Two candidates of 300 and 360 symbols: a product of so many probabilities is 0 in floating point."""
    candidates = padded(rng, (361, 301), 361, 9, 0, 1)
    tables = {name: torch.randn(9, 9, generator=rng, dtype=torch.float64) for name in ("target", "memory")}
    tables |= {"source": torch.randn(9, 3, generator=rng).double(), "read": torch.randn(3, 9, generator=rng).double()}
    source = torch.randint(1, 9, (1, 3), generator=rng)
    return Case("the candidates are long", source=source, candidates=candidates, pad_id=0, _tables=tables)


def _scores(
    encode, decode, source, candidates, pad_id, *,
    given=lambda rows: rows[:, :-1], labels=lambda rows: rows[:, 1:], cut=lambda logits: logits,
    asked=lambda source, number: source, logs=lambda logits: logits.log_softmax(-1),
    pick=lambda logs, y: logs.gather(-1, y[..., None])[..., 0], counts=lambda y, pad_id, x: y != pad_id,
    total=lambda each, real: (each * real).sum(1), finish=lambda scores: scores,
):  # fmt: skip
    """Teacher forcing on each candidate, with one memory for all."""
    x, y = given(candidates), labels(candidates)
    memory = encode(asked(source, len(candidates))).expand(len(candidates), -1, -1)
    each = pick(logs(cut(decode(x, memory))), y)
    return finish(total(each, counts(y, pad_id, x)))


_SHIFT = "give decode all but the last symbol of each candidate, and ask for all but the first."
_LOGS = "take logits.log_softmax(-1): each position's probabilities over the vocabulary sum to 1."
_COUNTS = "add up the positions whose label is not padding; the end symbol counts."
_TOTAL = "the logarithm of a product is a sum: add the log-probabilities of each row up, and leave them so."

_FAULTS = (
    Fault("a memory for each candidate", "the source goes through encode once for each candidate.",
        "encode the one row, then show its memory K times with expand.", asked=lambda source, number: source.expand(number, -1)),
    *faults_of("labels", _SHIFT,
        ("labels not shifted", "each position is asked for the symbol that it was given.", lambda rows: rows[:, :-1])),
    *faults_of("given", _SHIFT,
        ("given the labels", "decode is given the labels, so that each position sees its own.", lambda rows: rows[:, 1:])),
    Fault("backwards", "what is given and what is asked for are exchanged.", _SHIFT,
        given=lambda rows: rows[:, 1:], labels=lambda rows: rows[:, :-1]),
    Fault("read one place too late", "the first logits are cut off: each position judges the symbol that it was given.",
        "leave out the LAST logits, not the first.", given=lambda rows: rows, cut=lambda logits: logits[:, 1:]),
    Fault("start scored too", "nothing is shifted: each position, the start included, is asked for the symbol that it was given.",
        _SHIFT, given=lambda rows: rows, labels=lambda rows: rows),
    *faults_of("pick", "at each position take the log-probability of the candidate's own symbol, its label.",
        ("best symbol scored", "each position adds the log-probability of its most probable symbol, whatever the candidate says.",
         lambda logs, y: logs.max(dim=-1).values)),
    *faults_of("logs", _LOGS,
        ("logits added up", "the logits themselves are added up; they are no log-probabilities.", lambda z: z),
        ("probabilities added up", "probabilities are added up, not their logarithms.", lambda z: z.softmax(-1)),
        ("over the positions", "the log-softmax is taken over the positions.", lambda z: z.log_softmax(1)),
        ("over the candidates", "the log-softmax is taken over the candidates.", lambda z: z.log_softmax(0)),
        ("logarithm of a softmax", "the logarithm of a softmax: where a probability comes out as 0, it is minus "
         "infinity.", lambda z: z.softmax(-1).log(), "take logits.log_softmax(-1), which never leaves the logarithm."),
        ("small number added", "no probability is below a small number (added, or by clamp): none costs more than its "
         "logarithm.", lambda z: (z.softmax(-1) + 1e-9).log(), "take logits.log_softmax(-1), which never leaves the logarithm.")),
    *faults_of("counts", _COUNTS,
        ("padding counted", "positions whose label is padding are added too.", lambda y, p, x: torch.ones_like(y)),
        ("end left out", "the last real label of each row, the end symbol, is left out.",
         lambda y, p, x: (y != p) & (torch.arange(y.shape[1]) < (y != p).sum(1, keepdim=True) - 1)),
        ("first left out", "the first label of each row is left out.",
         lambda y, p, x: (y != p) & (torch.arange(y.shape[1]) > 0)),
        ("padding of what is given", "padding is looked for in what decode is given, not in the labels.",
         lambda y, p, x: x != p),
        ("padding is 0", "padding is taken to be 0, whatever pad_id says.", lambda y, p, x: y != 0)),
    *faults_of("total", _TOTAL,
        ("mean", "the mean over a candidate's labels: how long it is does not count any more.",
         lambda each, real: (each * real).sum(1) / real.sum(1)),
        ("mean over all places", "the sum is divided by the number of places, padding included.",
         lambda each, real: (each * real).mean(1)),
        ("one number", "one number for all candidates together.", lambda each, real: (each * real).sum()),
        ("each position", "a number for each position; asked for is one for each candidate.",
         lambda each, real: each * real),
        ("logarithm of a product", "the logarithm of a product of probabilities: a product of many comes out as 0.",
         lambda each, real: torch.where(real, each, 0.0).exp().prod(1).log())),
    *faults_of("finish", _TOTAL,
        ("negated", "the sign is turned: that is a loss.", lambda scores: -scores, "a log-probability is at most 0."),
        ("probabilities", "the probabilities themselves; for long candidates they come out as 0.", torch.exp),
        ("shares of the candidates", "scores that were normalized over the candidates.", lambda s: s.log_softmax(0),
         "a candidate's score does not depend on which others there are.")),
)  # fmt: skip

EXERCISE = Exercise(
    answer="candidate_scores", cases=_cases, reference=_scores, returns=("scores", "rows that went through encode"),
    faults=_FAULTS, symptoms=(memory_of_one_row,),
    advice="work out a candidate of two labels by hand: which position of the logits judges each of them?",
)  # fmt: skip
