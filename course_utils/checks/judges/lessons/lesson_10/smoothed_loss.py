"""Label smoothing."""

import torch
import torch.nn.functional as F

from ...exercise import Case, Exercise, Fault
from ...kit.padded import padded
from ...kit.parts import faults_of


def _cases(seed):
    rng = torch.Generator().manual_seed(seed)

    def case(lengths, longest, vocab, smoothing, pad_id, *labels, dtype=torch.float32):
        logits = 1.5 * torch.randn(len(lengths), longest, vocab, generator=rng, dtype=dtype)
        ids = padded(rng, lengths, longest, vocab, pad_id, 0 if pad_id else 1)
        exact = dtype == torch.float64  # shares in float32 are as good: their gradients differ in the eighth digit
        given = {"logits": logits, "labels": ids, "smoothing": smoothing, "pad_id": pad_id}
        return Case(*labels, values_only=exact, **given)

    far = case((3, 2), 3, 5, 0.2, 0, "the logits are large")
    far["logits"][0, 1] = torch.tensor([0.0, 500.0, -500.0, 3.0, 1.0])
    return [
        case((2,), 2, 4, 0.1, 0),
        case((5, 2, 3), 5, 7, 0.3, 0),
        case((6, 4), 6, 9, 0.1, 3),
        case((4, 5), 6, 9, 0.2, 5, dtype=torch.float64),
        case((1, 4), 4, 5, 0.0, 0),
        case((4, 4), 4, 6, 0.25, 2, "no label is padding"),
        far,
    ]


def _first_emptied(q, labels, keep, empty):
    return empty(q).scatter(-1, labels[..., None], keep)


def _last_emptied(q, labels, keep, empty):
    return empty(q.scatter(-1, labels[..., None], keep))


def _loss(
    logits, labels, smoothing, pad_id, *,
    share=lambda e, V: e / (V - 2), keep=lambda e, other: 1.0 - e,
    empty=lambda q, pad_id: q.index_fill(-1, torch.tensor(pad_id), 0.0),
    write=_first_emptied, given=lambda logits, pad_id: logits, logs=lambda logits: logits.log_softmax(-1),
    join=lambda q, logs: -(q * logs).sum(-1),
    reduce=lambda each, real: each[real].mean(),
):  # fmt: skip
    """Cross-entropy against smoothed labels (Szegedy et al. 2016, section 7), nothing of them on padding."""
    other = share(smoothing, logits.shape[-1])
    q = write(torch.full_like(logits, other), labels, keep(smoothing, other), lambda q: empty(q, pad_id))
    return reduce(join(q, logs(given(logits, pad_id))), labels != pad_id)


def _of_pytorch(logits, labels, smoothing, pad_id):
    return F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=pad_id, label_smoothing=smoothing)


_SHARES = "without the right symbol and padding V - 2 are left: epsilon / (V - 2) for each of them, 0 for padding."
_KEEPS = "the right symbol keeps 1 - epsilon: write that in its place."
_OUT = "keep only the positions whose label differs from pad_id."
_LOGS = "give the logits themselves to log_softmax over the last axis; it is exact however small a probability is."

_FAULTS = (
    Fault("PyTorch's argument", "PyTorch's label_smoothing: epsilon is shared by ALL symbols, the right one and padding too.",
        _SHARES, whole=_of_pytorch),
    Fault("padding keeps a share", "padding gets a share like the others: its column is never set to 0.", _SHARES,
        empty=lambda q, pad_id: q),
    *faults_of("share", _SHARES,
        ("divided by V - 1", "the others get epsilon / (V - 1) each.", lambda e, V: e / (V - 1)),
        ("divided by V", "the others get epsilon / V each.", lambda e, V: e / V),
        ("not divided", "every other symbol gets the whole epsilon.", lambda e, V: e)),
    *faults_of("keep", _KEEPS,
        ("right symbol shares too", "the right symbol gets a share of epsilon besides its 1 - epsilon.",
         lambda e, other: 1.0 - e + other),
        ("right symbol keeps 1", "the right symbol still gets 1, and what the others get comes on top.", lambda e, other: 1.0)),
    Fault("only padding's column emptied", "where the label is padding the others' shares are left, and are in the sum.",
        _OUT, write=_last_emptied, reduce=lambda each, real: each.sum() / real.sum()),
    *faults_of("reduce", "divide the sum by the number of labels that are not padding.",
        ("padding divides", "the sum leaves padding out, but it is divided by the number of all positions.",
         lambda each, real: (each * real).sum() / real.numel()),
        ("padding counted", "the loss counts padding: positions whose label is padding are in the mean.",
         lambda each, real: each.mean(), _OUT),
        ("sum", "the sum over the positions; asked for is the mean.", lambda each, real: each[real].sum()),
        ("divided by the batch", "the sum is divided by the number of sequences.",
         lambda each, real: each[real].sum() / len(each)),
        ("mean of means", "the mean of each sequence, then the mean of those: short sequences weigh more.",
         lambda each, real: ((each * real).sum(1) / real.sum(1)).mean())),
    *faults_of("logs", _LOGS,
        ("softmax before log-softmax", "a softmax before the log-softmax: probabilities were taken for logits.",
         lambda z: z.softmax(-1).log_softmax(-1)),
        ("no logarithm", "probabilities instead of their logarithms.", lambda z: z.softmax(-1)),
        ("logits as they are", "the logits were used as if they were log-probabilities.", lambda z: z),
        ("log of softmax", "the logarithm of a softmax: a probability rounded to 0 has the logarithm minus infinity.",
         lambda z: z.softmax(-1).log()),
        ("small number added", "no probability is below a small number (added, or by clamp): none costs more than its logarithm.",
         lambda z: (z.softmax(-1) + 1e-9).log()),
        ("over the positions", "a log-softmax over the positions (dim=1).", lambda z: z.log_softmax(1))),
    Fault("padding out of the softmax", "padding was taken out of the softmax too: the others share its probability.",
        "leave the logits as they are, all V of them.", given=lambda z, pad_id: z.index_fill(-1, torch.tensor(pad_id), -1e9)),
    *faults_of("join", "the loss is MINUS the sum of q times log p over the last axis; the shares already sum to 1.",
        ("entropy taken off", "a Kullback-Leibler divergence: the cross-entropy less the entropy of the smoothed label.",
         lambda q, logs: (torch.xlogy(q, q) - q * logs).sum(-1))),
)  # fmt: skip

EXERCISE = Exercise(
    answer="smoothed_loss", cases=_cases, reference=_loss, returns=("loss",), faults=_FAULTS,
    advice="work out one position by hand: V = 4, pad 0, label 2, smoothing 0.1 gives the shares 0, 0.05, 0.9, 0.05.",
)  # fmt: skip
