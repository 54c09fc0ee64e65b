"""Lesson 10, the Transformer: what is right, what is wrong, and how it is told."""

import math
import zlib

import torch
import torch.nn.functional as F
from torch import nn

from course_utils import masks, training
from course_utils.decoding import greedy_decode
from course_utils.layers import DecoderLayer, EncoderLayer, InputEmbedding, LayerNorm
from course_utils.models import Transformer, TransformerConfig
from course_utils.positions import SinusoidalPositions

from .exercise import Alternative, Exercise, Mistake, Option, Quiz

_MASKS = tuple(f"course_utils.masks.{name}" for name in ("padding_mask", "causal_mask", "combine_masks"))

# 10.1 -----------------------------------------------------------------------------------------------------------------


def _tokens(rng, lengths, longest, low, high, pad_id):
    """Rows of random ids from ``low`` to ``high - 1`` (never ``pad_id``), each padded on the right."""
    ids = torch.randint(low, high - 1, (len(lengths), longest), generator=rng)
    ids = ids + (ids >= pad_id) * (low <= pad_id < high)
    for row, length in zip(ids, lengths, strict=True):
        row[length:] = pad_id
    return ids


def _mask_inputs(seed):
    rng = torch.Generator().manual_seed(seed)
    inside = {"source": _tokens(rng, (5, 3), 5, 0, 9, 2), "target": _tokens(rng, (3, 5), 5, 0, 9, 2), "pad_id": 2}
    inside["source"][0, 1] = inside["target"][1, 2] = 2  # padding between real symbols
    return [
        {"source": torch.tensor([[3, 4, 5], [6, 0, 0]]), "target": torch.tensor([[1, 7], [1, 0]]), "pad_id": 0},
        {
            "source": _tokens(rng, (7, 4, 6), 7, 3, 12, 0),
            "target": _tokens(rng, (3, 5, 4), 5, 3, 12, 0),
            "pad_id": 0,
        },
        {
            "source": _tokens(rng, (3, 4), 4, 0, 9, 5).flip(1),  # padding on the left
            "target": _tokens(rng, (6, 2), 6, 0, 9, 5).flip(1),
            "pad_id": 5,
        },
        inside,
    ]


def _real(tokens, pad_id):
    return (tokens != pad_id)[:, None, None, :]


def _past(length, diagonal=0):
    return torch.ones(length, length, dtype=torch.bool).tril(diagonal)


def _masks(
    source_mask=lambda source, target, pad_id: _real(source, pad_id),
    target_mask=lambda source, target, pad_id: _real(target, pad_id) & _past(target.shape[1]),
    finish=lambda source_mask, target_mask: (source_mask, target_mask),
):
    """Both masks, one of them made another way."""

    def answer(source, target, pad_id):
        return finish(source_mask(source, target, pad_id), target_mask(source, target, pad_id))

    return answer


def _masks_loop(source, target, pad_id):
    rows = target.tolist()
    length = target.shape[1]
    allowed = [[[[row[j] != pad_id and j <= i for j in range(length)] for i in range(length)]] for row in rows]
    return torch.tensor([[[[i != pad_id for i in row]]] for row in source.tolist()]), torch.tensor(allowed)


def _masks_course(source, target, pad_id):
    causal = masks.causal_mask(target.shape[1])
    return masks.padding_mask(source, pad_id), masks.combine_masks(masks.padding_mask(target, pad_id), causal)


def _open_empty_rows(source_mask, target_mask):
    return source_mask, target_mask | ~target_mask.any(-1, keepdim=True)


def _rows_too(source, target, pad_id):
    real = target != pad_id
    return real[:, None, :, None] & real[:, None, None, :] & _past(target.shape[1])


def _by_length(tokens, pad_id):
    lengths = (tokens != pad_id).sum(1)
    return (torch.arange(tokens.shape[1]) < lengths[:, None])[:, None, None, :]


def _before_padding(tokens, pad_id):
    return ((tokens == pad_id).cumsum(1) == 0)[:, None, None, :]


def _between_ends(tokens, pad_id):
    real = (tokens != pad_id).long()
    return ((real.cumsum(1) > 0) & (real.flip(1).cumsum(1).flip(1) > 0))[:, None, None, :]


def _masks_from(hide):
    """Both masks, with padding found by ``hide(tokens, pad_id)``."""
    return _masks(lambda s, t, p: hide(s, p), lambda s, t, p: hide(t, p) & _past(t.shape[1]))


def _additive(mask):
    return torch.zeros(mask.shape).masked_fill(~mask, -math.inf)


MASKS = Exercise(
    number="10.1",
    title="Masks for a batch of pairs",
    points=3,
    inputs=_mask_inputs,
    reference=_masks(),
    returns=("source_mask", "target_mask"),
    off_limits=_MASKS,
    alternatives=(
        Alternative("loops", _masks_loop),
        Alternative("positions compared", _masks(target_mask=lambda s, t, p: _real(t, p) & _by_position(t.shape[1]))),
        Alternative("product of the masks", _masks(target_mask=lambda s, t, p: _real(t, p) * _past(t.shape[1]))),
        Alternative(
            "everything but the future and padding",
            _masks(target_mask=lambda s, t, p: ~((t == p)[:, None, None] | ~_past(t.shape[1]))),
        ),
        Alternative("the course's own", _masks_course, off_limits=True),
    ),
    mistakes=(
        Mistake(
            "no causal mask",
            _masks(target_mask=lambda s, t, p: _real(t, p).expand(-1, -1, t.shape[1], -1)),
            "a target mask without the future hidden: each position sees the symbol that it is asked for.",
            "join the padding mask with a lower triangle of size (L_t, L_t).",
        ),
        Mistake(
            "padding mask alone",
            _masks(target_mask=lambda s, t, p: _real(t, p)),
            "a target mask of shape (B, 1, 1, L_t): the future is not hidden.",
            "join the padding mask with a lower triangle of size (L_t, L_t).",
        ),
        Mistake(
            "target padding seen",
            _masks(target_mask=lambda s, t, p: _past(t.shape[1]).expand(len(t), 1, -1, -1)),
            "a causal target mask in which the target's padding is seen.",
            "hide the columns of target that hold pad_id as well.",
        ),
        Mistake(
            "causal mask alone",
            _masks(target_mask=lambda s, t, p: _past(t.shape[1])[None, None]),
            "one causal mask for all pairs: the target's padding is seen.",
            "each pair has a padding of its own, so the mask has the batch as its first axis.",
        ),
        Mistake(
            "joined by or",
            _masks(target_mask=lambda s, t, p: _real(t, p) | _past(t.shape[1])),
            "the two conditions are joined by or: a key is seen if it is real or past.",
            "a key must be real AND not in the future: use &.",
        ),
        Mistake(
            "polarity inverted",
            _masks(lambda s, t, p: ~_real(s, p), lambda s, t, p: ~(_real(t, p) & _past(t.shape[1]))),
            "both masks have the other polarity: True marks what is hidden.",
            "here True means may attend; turn both around with ~.",
        ),
        Mistake(
            "the future instead of the past",
            _masks(target_mask=lambda s, t, p: _real(t, p) & _past(t.shape[1]).T),
            "the upper triangle: each position sees itself and the future.",
            "rows are queries and columns keys; keep the lower triangle (tril).",
        ),
        Mistake(
            "diagonal masked",
            _masks(target_mask=lambda s, t, p: _real(t, p) & _past(t.shape[1], -1)),
            "the diagonal is masked too: no position sees the symbol it was just given, and the first sees nothing.",
            "a position may see itself: its label is the NEXT symbol.",
        ),
        Mistake(
            "one step ahead",
            _masks(target_mask=lambda s, t, p: _real(t, p) & _past(t.shape[1], 1)),
            "every position sees one step ahead, and there stands its label.",
            "tril() without a diagonal keeps the past and oneself.",
        ),
        Mistake(
            "target padding in the rows",
            _masks(target_mask=lambda s, t, p: (t != p)[:, None, :, None] & _past(t.shape[1])),
            "the target's padding is hidden as a row (query) and seen as a column (key).",
            "the tokens must end up in the last axis: (B, 1, 1, L_t) before you join.",
        ),
        Mistake(
            "padding rows closed",
            _masks(target_mask=_rows_too),
            "the rows of the padding are closed as well, so that they see nothing at all.",
            "hide padding as a key only; what its rows compute is left out of the loss.",
        ),
        Mistake(
            "source padding in the rows",
            _masks(lambda s, t, p: (s != p)[:, None, :, None]),
            "a source mask of shape (B, 1, L_s, 1): it hides queries instead of keys.",
            "the tokens belong in the last axis: (B, 1, 1, L_s).",
        ),
        Mistake(
            "source mask causal too",
            _masks(lambda s, t, p: _real(s, p) & _past(s.shape[1])),
            "a causal source mask. The source is known as a whole; nothing of it is future.",
            "hide nothing but padding in the source: shape (B, 1, 1, L_s).",
        ),
        Mistake(
            "source padding in the target mask",
            _masks(target_mask=lambda s, t, p: _real(s, p) & _past(t.shape[1])),
            "a target mask made from the padding of the source.",
            "the decoder's self-attention has the target as keys: compare target with pad_id.",
        ),
        Mistake(
            "target padding in the source mask",
            _masks(lambda s, t, p: _real(t, p)),
            "a source mask made from the padding of the target.",
            "encoder and cross-attention have the source as keys: compare source with pad_id.",
        ),
        Mistake(
            "pad id 0 assumed",
            lambda source, target, pad_id: _masks()(source, target, 0),
            "masks that look for 0, whatever pad_id says.",
            "compare with pad_id; in some vocabularies 0 is a real symbol.",
        ),
        Mistake(
            "first pair for all",
            _masks(
                lambda s, t, p: _real(s[:1], p).expand(len(s), -1, -1, -1),
                lambda s, t, p: (_real(t[:1], p) & _past(t.shape[1])).expand(len(t), -1, -1, -1),
            ),
            "the padding of the first pair, used for every pair.",
            "compare the whole of source and target; each row has padding of its own.",
        ),
        Mistake(
            "padding by its number",
            _masks_from(_by_length),
            "padding is counted, and as many places on the right are hidden; here it stands on the left or inside.",
            "compare each id with pad_id instead of counting.",
        ),
        Mistake(
            "everything after padding",
            _masks_from(_before_padding),
            "everything from the first padding on is hidden, real symbols too.",
            "compare each id with pad_id: what stands before it makes no difference.",
        ),
        Mistake(
            "padding at the ends only",
            _masks_from(_between_ends),
            "padding at the ends is hidden, but seen where it stands between real symbols.",
            "compare each id with pad_id, wherever it stands.",
        ),
        Mistake(
            "rows that see nothing opened",
            lambda source, target, pad_id: _open_empty_rows(*_masks()(source, target, pad_id)),
            "rows of the target mask that see nothing were opened: they see padding, and the future.",
            "leave them closed; they belong to padding, and the loss leaves them out.",
        ),
        Mistake(
            "head axis missing",
            _masks(lambda s, t, p: _real(s, p)[:, 0], lambda s, t, p: (_real(t, p) & _past(t.shape[1]))[:, 0]),
            "masks of three axes: against scores (B, H, L_q, L_k) the batch would line up with the heads.",
            "keep an axis of size 1 for the heads: (B, 1, 1, L_s) and (B, 1, L_t, L_t).",
        ),
        Mistake(
            "made for the shifted target",
            _masks(target_mask=lambda s, t, p: _real(t[:, :-1], p) & _past(t.shape[1] - 1)),
            "a target mask one position too short: the last symbol was cut off.",
            "target is already what the decoder is given; use all of it.",
        ),
        Mistake(
            "order exchanged",
            _masks(finish=lambda source_mask, target_mask: (target_mask, source_mask)),
            "the two masks in the other order.",
            "return source_mask, target_mask.",
        ),
        Mistake(
            "zeros and ones",
            _masks(finish=lambda *both: tuple(mask.long() for mask in both)),
            "masks of the numbers 0 and 1.",
            "leave the comparisons as they are: their results are boolean.",
        ),
        Mistake(
            "additive",
            _masks(finish=lambda *both: tuple(map(_additive, both))),
            "additive masks, 0 and minus infinity; asked for are boolean ones.",
            "return booleans: True where the query may attend.",
        ),
    ),
    advice="write both masks down for a source of 3 and a target of 2 symbols; rows are queries, columns keys.",
)


def _by_position(length):
    return torch.arange(length) <= torch.arange(length)[:, None]


# 10.2 -----------------------------------------------------------------------------------------------------------------


def _shift_inputs(seed):
    rng = torch.Generator().manual_seed(seed)
    return [
        {"target": torch.tensor([[1, 5, 4, 2], [1, 6, 2, 0]]), "pad_id": 0},
        {"target": _tokens(rng, (5, 7, 3), 7, 3, 12, 0), "pad_id": 0},
        {"target": _tokens(rng, (2, 5, 4, 3), 5, 0, 9, 7), "pad_id": 7},
        {"target": _tokens(rng, (6, 6), 6, 3, 12, 0), "pad_id": 0},
    ]


def _shift(
    given=lambda target: target[:, :-1],
    labels=lambda target: target[:, 1:],
    count=lambda given, labels, pad_id: (labels != pad_id).sum(),
    finish=lambda given, labels, number: (given, labels, number),
):
    """The shifted pair and the number of labels that count, one of them made another way."""

    def answer(target, pad_id):
        x, y = given(target), labels(target)
        return finish(x, y, count(x, y, pad_id))

    return answer


def _shift_loop(target, pad_id):
    given, labels, number = [], [], 0
    for row in target.tolist():
        given.append(row[:-1])
        labels.append(row[1:])
        number += sum(symbol != pad_id for symbol in row[1:])
    return torch.tensor(given), torch.tensor(labels), number


_NOT_SHIFTED = (
    "the target is not shifted: input and labels are the same, and a model that repeats its input is perfect."
)

SHIFT = Exercise(
    number="10.2",
    title="Shift the target",
    points=2,
    inputs=_shift_inputs,
    reference=_shift(),
    returns=("decoder_input", "labels", "count"),
    alternatives=(
        Alternative("loop over rows", _shift_loop),
        Alternative(
            "narrow",
            _shift(lambda t: t.narrow(1, 0, t.shape[1] - 1), lambda t: t.narrow(1, 1, t.shape[1] - 1)),
        ),
        Alternative("rolled, then cut", _shift(labels=lambda t: t.roll(-1, 1)[:, :-1])),
        Alternative("a Python number", _shift(count=lambda x, y, p: int(y.ne(p).sum()))),
        Alternative("counted by subtraction", _shift(count=lambda x, y, p: y.numel() - (y == p).sum().item())),
    ),
    mistakes=(
        Mistake(
            "not shifted, without the last",
            _shift(labels=lambda t: t[:, :-1]),
            _NOT_SHIFTED,
            "the labels are everything but the FIRST symbol: target[:, 1:].",
        ),
        Mistake(
            "not shifted, without the first",
            _shift(given=lambda t: t[:, 1:]),
            _NOT_SHIFTED,
            "the input is everything but the LAST symbol, so that it begins with the start symbol.",
        ),
        Mistake(
            "not shifted, whole",
            _shift(given=lambda t: t, labels=lambda t: t),
            _NOT_SHIFTED,
            "cut the last symbol off the input, and the first off the labels.",
        ),
        Mistake(
            "backwards",
            _shift(given=lambda t: t[:, 1:], labels=lambda t: t[:, :-1]),
            "input and labels exchanged: the model is asked for the symbol before, not for the next one.",
            "the input begins with the start symbol; the labels end with the end symbol.",
        ),
        Mistake(
            "rolled",
            _shift(given=lambda t: t, labels=lambda t: t.roll(-1, 1)),
            "labels rolled around: the last label of each row is its start symbol.",
            "cut instead of rolling: both parts are one symbol shorter than target.",
        ),
        Mistake(
            "whole input",
            _shift(given=lambda t: t),
            "the input is one longer than the labels: it still has its last symbol.",
            "nothing follows the last symbol, so cut it off the input: target[:, :-1].",
        ),
        Mistake(
            "whole labels",
            _shift(labels=lambda t: t),
            "the labels are one longer than the input: they still have the start symbol.",
            "the start symbol is given, never asked for: target[:, 1:].",
        ),
        Mistake(
            "two steps",
            _shift(given=lambda t: t[:, :-2], labels=lambda t: t[:, 2:]),
            "shifted by two: the model is asked for the symbol after the next.",
            "one step: both parts are one shorter than target.",
        ),
        Mistake(
            "along the batch",
            _shift(given=lambda t: t[:-1], labels=lambda t: t[1:]),
            "the batch was shifted instead of the positions: each sequence is asked for its neighbor.",
            "positions are axis 1: target[:, :-1], with the colon in front.",
        ),
        Mistake(
            "all positions counted",
            _shift(count=lambda x, y, p: y.numel()),
            "the count holds all labels, padding included.",
            "count only labels that differ from pad_id.",
        ),
        Mistake(
            "input counted",
            _shift(count=lambda x, y, p: (x != p).sum()),
            "the count is that of the input's real symbols. In rows that are padded that is one more.",
            "count where the LABELS differ from pad_id: these are the positions of the loss.",
        ),
        Mistake(
            "whole target counted",
            lambda target, pad_id: (target[:, :-1], target[:, 1:], (target != pad_id).sum()),
            "the count is that of the whole target: the start symbols are counted, though they are never asked for.",
            "count where the LABELS differ from pad_id.",
        ),
        Mistake(
            "padding counted",
            _shift(count=lambda x, y, p: (y == p).sum()),
            "the count is that of the padding.",
            "count where the labels differ from pad_id.",
        ),
        Mistake(
            "counted row by row",
            _shift(count=lambda x, y, p: (y != p).sum(1)),
            "one count for each row.",
            "one number for the whole batch: sum over both axes.",
        ),
        Mistake(
            "pad id 0 assumed",
            _shift(count=lambda x, y, p: (y != 0).sum()),
            "the count looks for 0, whatever pad_id says.",
            "compare with pad_id.",
        ),
        Mistake(
            "count missing",
            _shift(finish=lambda x, y, number: (x, y)),
            "two parts; the count is missing.",
            "return decoder_input, labels, count.",
        ),
        Mistake(
            "order exchanged",
            _shift(finish=lambda x, y, number: (y, x, number)),
            "input and labels in the other order.",
            "return decoder_input first: the part that begins with the start symbol.",
        ),
    ),
    advice="print one row of each: the label at position t must be the input at position t + 1.",
)

# 10.3 -----------------------------------------------------------------------------------------------------------------


def _loss_inputs(seed):
    rng = torch.Generator().manual_seed(seed)

    def case(lengths, longest, vocab, smoothing, pad_id, size=1.5):
        low = 0 if pad_id else 1
        return {
            "logits": size * torch.randn(len(lengths), longest, vocab, generator=rng),
            "labels": _tokens(rng, lengths, longest, low, vocab, pad_id),
            "smoothing": smoothing,
            "pad_id": pad_id,
        }

    far = case((3, 2), 3, 5, 0.2, 0)
    far["logits"][0, 1] = torch.tensor([0.0, 500.0, -500.0, 3.0, 1.0])
    return [
        case((2,), 2, 4, 0.1, 0),
        case((5, 2, 3), 5, 7, 0.3, 0),
        case((6, 4), 6, 9, 0.1, 3),
        case((1, 4), 4, 5, 0.0, 0),
        far,
    ]


def _gradient(loss, watched):
    """What reaches ``watched`` from a loss; zeros if nothing does."""
    found = None
    if isinstance(loss, torch.Tensor) and loss.requires_grad and loss.numel() == 1:
        (found,) = torch.autograd.grad(loss.reshape(()), watched, allow_unused=True)
    return torch.zeros_like(watched) if found is None else found


def _call_with_gradient(answer, case):
    """The loss, and the gradient that reaches the logits in a second call."""
    loss = answer(*case.values())
    logits = case["logits"].clone().requires_grad_()
    return loss, _gradient(answer(logits, *list(case.values())[1:]), logits)


def _smooth(labels, vocab, smoothing, pad_id):
    q = torch.full((*labels.shape, vocab), smoothing / (vocab - 2))
    q[..., pad_id] = 0.0
    return q.scatter(-1, labels[..., None], 1.0 - smoothing)


def _loss(
    smooth=_smooth,
    logs=lambda logits: logits.log_softmax(-1),
    join=lambda q, logs: -(q * logs).sum(-1),
    reduce=lambda each, real: each[real].mean(),
):
    """The smoothed loss with one of its parts exchanged."""

    def answer(logits, labels, smoothing, pad_id):
        each = join(smooth(labels, logits.shape[-1], smoothing, pad_id), logs(logits))
        return reduce(each, labels != pad_id)

    return answer


def _q(share, keep=lambda smoothing, other: 1.0 - smoothing, empty=True):
    """Another way to share out: ``share(smoothing, vocab)`` for each other symbol, ``keep`` for the right one."""

    def smooth(labels, vocab, smoothing, pad_id):
        other = share(smoothing, vocab)
        q = torch.full((*labels.shape, vocab), other)
        if empty:
            q[..., pad_id] = 0.0
        return q.scatter(-1, labels[..., None], keep(smoothing, other))

    return smooth


def _loss_rows(logits, labels, smoothing, pad_id):
    losses = []
    for z, label in zip(logits.flatten(0, 1), labels.flatten().tolist(), strict=True):
        if label != pad_id:
            log_probs = z - z.logsumexp(-1)
            others = [v for v in range(len(z)) if v not in (label, pad_id)]
            losses.append(-(1 - smoothing) * log_probs[label] - smoothing * log_probs[others].mean())
    return torch.stack(losses).mean()


def _loss_soft_targets(logits, labels, smoothing, pad_id):
    real = labels != pad_id
    return F.cross_entropy(logits[real], _smooth(labels, logits.shape[-1], smoothing, pad_id)[real])


def _loss_divergence(logits, labels, smoothing, pad_id):
    real = labels != pad_id
    q = _smooth(labels, logits.shape[-1], smoothing, pad_id)[real]
    divergence = F.kl_div(logits[real].log_softmax(-1), q, reduction="batchmean")
    return divergence + torch.special.entr(q).sum(-1).mean()


def _loss_entropy_gone(logits, labels, smoothing, pad_id):
    real = labels != pad_id
    q = _smooth(labels, logits.shape[-1], smoothing, pad_id)[real]
    return F.kl_div(logits[real].log_softmax(-1), q, reduction="batchmean")


def _loss_by_column(logits, labels, smoothing, pad_id):
    """Padding's column is emptied after the labels were written, and nothing else is done about padded labels."""
    q = torch.full_like(logits, smoothing / (logits.shape[-1] - 2)).scatter(-1, labels[..., None], 1.0 - smoothing)
    q[..., pad_id] = 0.0
    return -(q * logits.log_softmax(-1)).sum() / (labels != pad_id).sum()


def _loss_two_sums(logits, labels, smoothing, pad_id):
    logs, real = logits.log_softmax(-1), labels != pad_id
    right = logs.gather(-1, labels[..., None])[..., 0]
    others = logs.sum(-1) - right - logs[..., pad_id]
    each = -(1 - smoothing) * right - smoothing / (logits.shape[-1] - 2) * others
    return (each * real).sum() / real.sum()


def _loss_of_pytorch(logits, labels, smoothing, pad_id):
    flat = logits.flatten(0, 1)
    return F.cross_entropy(flat, labels.flatten(), ignore_index=pad_id, label_smoothing=smoothing)


def _as_if_pad_were_0(logits, labels, smoothing, pad_id):
    return _loss()(logits, labels, smoothing, 0)


SMOOTHING = Exercise(
    number="10.3",
    title="Label smoothing",
    points=4,
    inputs=_loss_inputs,
    reference=_loss(),
    returns=("loss", "gradient of the logits"),
    off_limits=("course_utils.training.label_smoothing_loss",),
    call=_call_with_gradient,
    alternatives=(
        Alternative("loop over positions", _loss_rows),
        Alternative("cross-entropy with soft targets", _loss_soft_targets),
        Alternative("divergence plus entropy", _loss_divergence),
        Alternative("the right one and the others", _loss_two_sums),
        Alternative(
            "summed and divided",
            _loss(reduce=lambda each, real: (each * real).sum() / real.sum()),
        ),
        Alternative(
            "padding removed first",
            lambda z, y, e, p: _loss(reduce=lambda each, real: each.mean())(z[y != p], y[y != p], e, p),
        ),
        Alternative(
            "the course's own",
            lambda z, y, e, p: training.label_smoothing_loss(z, y, smoothing=e, pad_id=p),
            off_limits=True,
        ),
    ),
    mistakes=(
        Mistake(
            "mass on padding",
            _loss(_q(lambda e, v: e / (v - 1), empty=False)),
            "the smoothing puts mass on padding: epsilon is shared by all V - 1 other symbols.",
            "padding is never right: it gets nothing, and V - 2 symbols share epsilon.",
        ),
        Mistake(
            "PyTorch's argument",
            _loss_of_pytorch,
            "PyTorch's label_smoothing: epsilon is shared by ALL symbols, the right one and padding too.",
            "share epsilon among the V - 2 symbols that are neither right nor padding.",
        ),
        Mistake(
            "divided by V - 1",
            _loss(_q(lambda e, v: e / (v - 1))),
            "padding gets nothing, but the others get epsilon / (V - 1): the shares do not sum to 1.",
            "without the right symbol and padding V - 2 are left.",
        ),
        Mistake(
            "divided by V",
            _loss(_q(lambda e, v: e / v)),
            "the others get epsilon / V each: the shares do not sum to 1.",
            "without the right symbol and padding V - 2 are left.",
        ),
        Mistake(
            "right symbol shares too",
            _loss(_q(lambda e, v: e / (v - 2), keep=lambda e, other: 1.0 - e + other)),
            "the right symbol gets a share of epsilon besides its 1 - epsilon.",
            "write 1 - epsilon in its place instead of adding it.",
        ),
        Mistake(
            "not divided",
            _loss(_q(lambda e, v: e)),
            "every other symbol gets the whole epsilon.",
            "epsilon is shared: epsilon / (V - 2) for each.",
        ),
        Mistake(
            "right symbol keeps 1",
            _loss(_q(lambda e, v: e / (v - 2), keep=lambda e, other: 1.0)),
            "the right symbol still gets 1, and epsilon comes on top.",
            "what the others get must come from the right symbol: it keeps 1 - epsilon.",
        ),
        Mistake(
            "exchanged",
            _loss(_q(lambda e, v: (1 - e) / (v - 2), keep=lambda e, other: e)),
            "exchanged: the right symbol gets epsilon and the others share the rest.",
            "the right symbol keeps 1 - epsilon.",
        ),
        Mistake(
            "no smoothing",
            _loss(_q(lambda e, v: 0.0, keep=lambda e, other: 1.0)),
            "the plain cross-entropy: smoothing plays no part.",
            "take epsilon from the right symbol and share it among the others.",
        ),
        Mistake(
            "padding divides",
            _loss(reduce=lambda each, real: (each * real).sum() / real.numel()),
            "the sum leaves padding out, but it is divided by the number of all positions.",
            "divide by the number of labels that are not padding.",
        ),
        Mistake(
            "padding counted",
            _loss(reduce=lambda each, real: each.mean()),
            "the loss counts padding: positions whose label is padding are in the mean.",
            "keep only the positions whose label differs from pad_id.",
        ),
        Mistake(
            "only padding's column emptied",
            _loss_by_column,
            "where the label is padding the other symbols still have their shares, and these are in the sum.",
            "leave such positions out as a whole: the column of padding is one thing, its positions are another.",
        ),
        Mistake(
            "sum",
            _loss(reduce=lambda each, real: each[real].sum()),
            "the sum over the positions; asked for is the mean.",
            "divide by the number of labels that are not padding.",
        ),
        Mistake(
            "divided by the batch",
            _loss(reduce=lambda each, real: each[real].sum() / len(each)),
            "the sum divided by the number of sequences.",
            "divide by the number of labels that are not padding.",
        ),
        Mistake(
            "mean of means",
            _loss(reduce=lambda each, real: ((each * real).sum(1) / real.sum(1)).mean()),
            "the mean of each sequence, then the mean of those: symbols of short sequences count more.",
            "one mean over all real labels of the batch.",
        ),
        Mistake(
            "softmax before log-softmax",
            _loss(logs=lambda z: z.softmax(-1).log_softmax(-1)),
            "a softmax before the log-softmax: probabilities were taken for logits.",
            "give the logits themselves to log_softmax.",
        ),
        Mistake(
            "no logarithm",
            _loss(logs=lambda z: z.softmax(-1)),
            "probabilities instead of their logarithms.",
            "use log_softmax: the loss is minus the expected LOG-probability.",
        ),
        Mistake(
            "logits as they are",
            _loss(logs=lambda z: z),
            "the logits were used as if they were log-probabilities.",
            "apply log_softmax over the last axis first.",
        ),
        Mistake(
            "log of softmax",
            _loss(logs=lambda z: z.softmax(-1).log()),
            "the logarithm of a softmax: a probability that is rounded to 0 has the logarithm minus infinity.",
            "use log_softmax, which never computes the probability.",
        ),
        Mistake(
            "small number added",
            _loss(logs=lambda z: (z.softmax(-1) + 1e-9).log()),
            "a small number was added to the probabilities: no symbol can then cost more than its logarithm.",
            "use log_softmax, which is exact however small the probability.",
        ),
        Mistake(
            "over the positions",
            _loss(logs=lambda z: z.log_softmax(1)),
            "a log-softmax over the positions (dim=1).",
            "normalize over the symbols, the last axis.",
        ),
        Mistake(
            "sign",
            _loss(join=lambda q, logs: (q * logs).sum(-1)),
            "the sign is missing: the better the model, the larger your value.",
            "the loss is MINUS the sum.",
        ),
        Mistake(
            "mean over the symbols",
            _loss(join=lambda q, logs: -(q * logs).mean(-1)),
            "the mean over the V symbols instead of the sum.",
            "the shares already sum to 1: sum over the last axis.",
        ),
        Mistake(
            "entropy taken off",
            _loss_entropy_gone,
            "a Kullback-Leibler divergence: the cross-entropy less the entropy of the smoothed label.",
            "asked for is the cross-entropy itself: minus the sum of q times log p.",
        ),
        Mistake(
            "pad id 0 assumed",
            _as_if_pad_were_0,
            "padding is taken to be 0, whatever pad_id says.",
            "use pad_id both for the shares and for the positions that are left out.",
        ),
        Mistake(
            "without a gradient",
            lambda *given: _loss()(*given).detach(),
            "the value is right, but no gradient reaches the logits: nothing could be learned.",
            "leave out detach, item and no_grad; return the tensor.",
        ),
    ),
    advice="work out one position by hand: V = 4, pad 0, label 2, smoothing 0.1 gives the shares 0, 0.05, 0.9, 0.05.",
)

# 10.4 -----------------------------------------------------------------------------------------------------------------


def _rate_inputs(seed):
    rng = torch.Generator().manual_seed(seed)
    done = int(torch.randint(20, 90, (), generator=rng))
    cases = [(0, 4, 4), (3, 4, 4), (15, 4, 4), (0, 512, 4000), (1, 64, 100), (99, 64, 100), (100, 64, 100)]
    cases += [(done, 128, 50), (5 * done, 256, 30)]
    return [{"done": done, "d_model": d_model, "warmup": warmup} for done, d_model, warmup in cases]


def _call_with_numbers(answer, case):
    """All arguments are numbers, which no answer can change in place."""
    return answer(*case.values())


def _rate(
    step=lambda done: done + 1,
    size=lambda d_model: d_model**-0.5,
    rise=lambda s, w: s * w**-1.5,
    fall=lambda s, w: s**-0.5,
    join=min,
):
    """The schedule with one of its parts exchanged."""

    def answer(done, d_model, warmup):
        s = step(done)
        return size(d_model) * join(fall(s, warmup), rise(s, warmup))

    return answer


def _rate_branches(done, d_model, warmup):
    s = done + 1
    if s < warmup:
        return s / (math.sqrt(d_model) * warmup * math.sqrt(warmup))
    return 1 / math.sqrt(d_model * s)


def _rate_tensor(done, d_model, warmup):
    s = torch.tensor(float(done + 1), dtype=torch.float64)
    return d_model**-0.5 * torch.minimum(s.rsqrt(), s * warmup**-1.5)


def _late(first):
    """Updates done taken for the number of the update, the very first step handled by itself."""
    return lambda done, d_model, warmup: first if done == 0 else _rate(step=lambda d: d)(done, d_model, warmup)


_STEP_0 = (
    "0 was put into the formula: 0 to the power -0.5 is a division by zero.",
    "the formula counts steps from 1, done counts from 0: the next step is done + 1.",
)

RATE = Exercise(
    number="10.4",
    title="The warm-up schedule",
    points=3,
    inputs=_rate_inputs,
    call=_call_with_numbers,
    reference=_rate(),
    returns=("rate",),
    off_limits=("course_utils.training.warmup_rate",),
    atol=1e-12,
    alternatives=(
        Alternative("two branches", _rate_branches),
        Alternative("a tensor", _rate_tensor),
        Alternative("one power", _rate(rise=lambda s, w: s / w**1.5, fall=lambda s, w: 1 / math.sqrt(s))),
        Alternative("by the peak", lambda d, m, w: (m * w) ** -0.5 * min((d + 1) / w, (w / (d + 1)) ** 0.5)),
        Alternative("the course's own", lambda d, m, w: training.warmup_rate(d + 1, m, w), off_limits=True),
    ),
    mistakes=(
        Mistake("step 0", _rate(step=lambda done: done), *_STEP_0),
        Mistake("step 0, divided", _rate(step=lambda d: d, fall=lambda s, w: 1 / s**0.5), *_STEP_0),
        Mistake(
            "step 0 taken for 1",
            _rate(step=lambda done: max(done, 1)),
            "step 0 is replaced by 1, so the first two updates have the same rate and all others come one too late.",
            "count every update from 1: the next step is done + 1.",
        ),
        Mistake(
            "rate 0 at first",
            _late(0.0),
            "the first update has the rate 0 (it does nothing), and all others come one too late.",
            "the next step is done + 1, also for done = 0.",
        ),
        Mistake(
            "counted from 0 in the rise",
            lambda done, d_model, warmup: d_model**-0.5 * min((done + 1) ** -0.5, done * warmup**-1.5),
            "1 was added in the falling part only; the rise still begins at 0.",
            "add 1 once, before either part: s = done + 1.",
        ),
        Mistake(
            "counted from 0 in the fall",
            lambda done, d_model, warmup: d_model**-0.5 * min(max(done, 1) ** -0.5, (done + 1) * warmup**-1.5),
            "1 was added in the rising part only; the fall still counts from 0.",
            "add 1 once, before either part: s = done + 1.",
        ),
        Mistake(
            "rises one step too long",
            lambda d, m, w: m**-0.5 * ((d + 1) * w**-1.5 if d <= w else (d + 1) ** -0.5),
            "done is compared with w, so that the rise goes on for one step too many.",
            "compare s = done + 1 with w, or take the smaller of the two parts.",
        ),
        Mistake(
            "max for min",
            _rate(join=max),
            "the larger of the two parts: the rate is very high at the start and rises without end.",
            "take the smaller: min.",
        ),
        Mistake(
            "no rise",
            _rate(join=lambda fall, rise: fall),
            "the falling part alone: there is no warm-up, and the first step has the largest rate.",
            "take the smaller of the falling and the rising part.",
        ),
        Mistake(
            "no fall",
            _rate(join=lambda fall, rise: rise),
            "the rising part alone: the rate grows without end.",
            "take the smaller of the falling and the rising part.",
        ),
        Mistake(
            "constant after the warm-up",
            _rate(fall=lambda s, w: w**-0.5),
            "a rise, and then a constant rate.",
            "after the warm-up the rate falls with the square root of the step.",
        ),
        Mistake(
            "falls with the step",
            _rate(fall=lambda s, w: 1 / s),
            "a fall with the step itself, not with its square root.",
            "the falling part is s to the power -0.5.",
        ),
        Mistake(
            "falls from the end of the warm-up",
            lambda d, m, w: m**-0.5 * ((d + 1) * w**-1.5 if d < w else w**-0.5 * (d + 2 - w) ** -0.5),
            "the fall counts its steps from the end of the warm-up.",
            "s is the number of the step from the very start, in both parts.",
        ),
        Mistake(
            "warm-up power -1",
            _rate(rise=lambda s, w: s / w),
            "the rise divides by w instead of w to the power 1.5: the two parts do not meet at s = w.",
            "the rising part is s * w ** -1.5.",
        ),
        Mistake(
            "warm-up power -0.5",
            _rate(rise=lambda s, w: s * w**-0.5),
            "the rise divides by the root of w: the two parts do not meet at s = w.",
            "the rising part is s * w ** -1.5.",
        ),
        Mistake(
            "size forgotten",
            _rate(size=lambda d_model: 1.0),
            "d_model plays no part.",
            "multiply by d_model ** -0.5: wider models get smaller rates.",
        ),
        Mistake(
            "root of the size",
            _rate(size=lambda d_model: d_model**0.5),
            "multiplied by the root of d_model; wider models would get larger rates.",
            "the power has a minus sign: d_model ** -0.5.",
        ),
        Mistake(
            "size itself",
            _rate(size=lambda d_model: 1 / d_model),
            "divided by d_model instead of its square root.",
            "multiply by d_model ** -0.5.",
        ),
    ),
    advice="for d_model = 4 and warmup = 4 the steps 1, 4 and 16 have the rates 1/16, 1/4 and 1/8.",
)

# 10.5 -----------------------------------------------------------------------------------------------------------------

_SIZES = ("src_vocab", "tgt_vocab", "num_layers", "d_model", "d_ff", "num_heads", "max_len")


def _model_inputs(seed):
    rng = torch.Generator().manual_seed(seed)
    cases = []
    for sizes, source, target, pad_id in (
        ((8, 9, 2, 4, 6, 2, 12), _tokens(rng, (5, 2), 5, 3, 8, 0), _tokens(rng, (3, 5), 5, 3, 9, 0), 0),
        ((9, 7, 3, 6, 10, 3, 9), _tokens(rng, (3, 5, 4), 5, 0, 9, 2), _tokens(rng, (4, 2, 3), 4, 0, 7, 2), 2),
    ):
        named = dict(zip(_SIZES, sizes, strict=True))
        cases.append({**named, "source": source, "target": target, "pad_id": pad_id, "weights": seed})
    return cases


@torch.no_grad()
def _settle(model, seed):
    """Every parameter random, by its name: whoever has the parameters of the reference has its weights."""
    for name, parameter in model.named_parameters(remove_duplicate=False):
        rng = torch.Generator().manual_seed(seed + zlib.crc32(name.encode()))
        size = 0.3 if parameter.dim() == 1 else parameter.shape[-1] ** -0.5
        parameter.copy_(size * torch.randn(parameter.shape, generator=rng))


def _call_model(answer, case):
    """Parameters of each part and room for positions; then, with known weights, logits and a gradient."""
    *sizes, source, target, pad_id, seed = case.values()
    model = answer(*sizes)
    if not isinstance(model, nn.Module):
        raise TypeError("the class is not an nn.Module")
    counts = {name: sum(p.numel() for p in part.parameters()) for name, part in model.named_children()}
    room = sorted({len(table) for name, table in model.named_buffers() if name.endswith("positions.table")})
    _settle(model, seed)
    logits = model(source, target, pad_id)
    watched = dict(model.named_parameters()).get("source_embedding.tokens.weight")
    found = None
    if watched is not None and isinstance(logits, torch.Tensor) and logits.requires_grad:
        (found,) = torch.autograd.grad(logits.square().mean(), watched, allow_unused=True)
    return {name: count for name, count in counts.items() if count}, room, logits, found


class _Assembled(nn.Module):
    """The whole model in the plainest form; the mistakes below change one method each."""

    def __init__(self, src_vocab, tgt_vocab, num_layers, d_model, d_ff, num_heads, max_len, dropout=(0.0, 0.0)):
        super().__init__()
        self.source_embedding = InputEmbedding(src_vocab, d_model, positions=SinusoidalPositions(d_model, max_len))
        self.target_embedding = InputEmbedding(tgt_vocab, d_model, positions=SinusoidalPositions(d_model, max_len))
        sizes = (d_model, num_heads, d_ff)
        self.encoder_layers = nn.ModuleList(EncoderLayer(*sizes, dropout=dropout[0]) for _ in range(num_layers))
        self.decoder_layers = nn.ModuleList(DecoderLayer(*sizes, dropout=dropout[1]) for _ in range(num_layers))
        self.encoder_norm, self.decoder_norm = LayerNorm(d_model), LayerNorm(d_model)
        self.generator = nn.Linear(d_model, tgt_vocab)

    def source_mask(self, source, target, pad_id):
        return masks.padding_mask(source, pad_id)

    def memory_mask(self, source, target, pad_id):
        return masks.padding_mask(source, pad_id)

    def target_mask(self, source, target, pad_id):
        return masks.padding_mask(target, pad_id) & masks.causal_mask(target.shape[1])

    def embed(self, source, target):
        return self.source_embedding(source), self.target_embedding(target)

    def encode(self, x, mask):
        for layer in self.encoder_layers:
            x = layer(x, mask)
        return self.encoder_norm(x)

    def decode(self, y, memory, target_mask, memory_mask):
        for layer in self.decoder_layers:
            y = layer(y, memory, target_mask=target_mask, memory_mask=memory_mask)
        return self.decoder_norm(y)

    def finish(self, hidden):
        return self.generator(hidden)

    def forward(self, source, target, pad_id):
        given = (source, target, pad_id)
        x, y = self.embed(source, target)
        memory = self.encode(x, self.source_mask(*given))
        return self.finish(self.decode(y, memory, self.target_mask(*given), self.memory_mask(*given)))


def _model(base=_Assembled, **methods):
    return type("Model", (base,), methods)


def _after_init(change):
    """A constructor that goes on with ``change(self)``."""

    def __init__(self, *sizes):
        _Assembled.__init__(self, *sizes)
        change(self)

    return __init__


def _same_layer(self):
    for name in ("encoder_layers", "decoder_layers"):
        layers = getattr(self, name)
        setattr(self, name, nn.ModuleList([layers[0]] * len(layers)))


def _plain_lists(self):
    encoder_layers, decoder_layers = list(self.encoder_layers), list(self.decoder_layers)
    del self.encoder_layers, self.decoder_layers
    self.encoder_layers, self.decoder_layers = encoder_layers, decoder_layers


def _without(*names):
    def change(self):
        for name in names:
            delattr(self, name)

    return change


def _one_layer(self):
    self.encoder_layers, self.decoder_layers = self.encoder_layers[:1], self.decoder_layers[:1]


def _one_embedding(self):
    self.target_embedding = self.source_embedding


def _positions(self, kind=None):
    for embedding in (self.source_embedding, self.target_embedding):
        embedding.positions = kind


def _bare(self, x, mask):
    for layer in self.encoder_layers:
        x = layer(x, mask)
    return x


def _decode_bare(self, y, memory, target_mask, memory_mask):
    for layer in self.decoder_layers:
        y = layer(y, memory, target_mask=target_mask, memory_mask=memory_mask)
    return y


def _decode_restarting(self, y, memory, target_mask, memory_mask):
    for layer in self.decoder_layers:
        hidden = layer(y, memory, target_mask=target_mask, memory_mask=memory_mask)
    return self.decoder_norm(hidden)


def _encode_restarting(self, x, mask):
    for layer in self.encoder_layers:
        memory = layer(x, mask)
    return self.encoder_norm(memory)


def _memory_layer_by_layer(self, source, target, pad_id):
    given = (source, target, pad_id)
    x, y = self.embed(source, target)
    for encoder, decoder in zip(self.encoder_layers, self.decoder_layers, strict=True):
        x = encoder(x, self.source_mask(*given))
        memory = self.encoder_norm(x)
        y = decoder(y, memory, target_mask=self.target_mask(*given), memory_mask=self.memory_mask(*given))
    return self.generator(self.decoder_norm(y))


def _memory_is_the_embedding(self, x, mask):
    return x


def _norm_after_each(self, x, mask):
    for layer in self.encoder_layers:
        x = self.encoder_norm(layer(x, mask))
    return x


def _decode_norm_after_each(self, y, memory, target_mask, memory_mask):
    for layer in self.decoder_layers:
        y = self.decoder_norm(layer(y, memory, target_mask=target_mask, memory_mask=memory_mask))
    return y


def _norms_exchanged(self):
    self.encoder_norm, self.decoder_norm = self.decoder_norm, self.encoder_norm


def _scaled_again(self, source, target):
    factor = self.generator.in_features**0.5
    return factor * self.source_embedding(source), factor * self.target_embedding(target)


def _dropped(encoder, decoder):
    return lambda self, *sizes: _Assembled.__init__(self, *sizes, dropout=(encoder, decoder))


def _fixed(place, value):
    """A constructor that takes no notice of one of its arguments."""
    return lambda self, *sizes: _Assembled.__init__(self, *sizes[:place], value, *sizes[place + 1 :])


def _one_position_table(self):
    self.target_embedding.positions = self.source_embedding.positions


def _generator_tied(self):
    self.generator.weight = self.target_embedding.tokens.weight


def _no_super(self, *sizes):
    self.generator = nn.Linear(sizes[3], sizes[1])


def _course_init(self, *sizes):
    Transformer.__init__(self, TransformerConfig(**dict(zip(_SIZES, sizes, strict=True)), dropout=0.0))


def _course_forward(self, source, target, pad_id):
    causal = masks.padding_mask(target, pad_id) & masks.causal_mask(target.shape[1])
    return Transformer.forward(self, source, target, source_mask=masks.padding_mask(source, pad_id), target_mask=causal)


def _pytorch_norms(self):
    size = self.generator.in_features
    self.encoder_norm, self.decoder_norm = nn.LayerNorm(size), nn.LayerNorm(size)


def _appended(self):
    for name in ("encoder_layers", "decoder_layers"):
        layers = nn.ModuleList()
        for layer in getattr(self, name):
            layers.append(layer)
        setattr(self, name, layers)


def _other_order(self):
    parts = list(self.named_children())
    for name, _ in parts:
        delattr(self, name)
    for name, part in reversed(parts):
        setattr(self, name, part)


def _masks_by_hand(self, source, target, pad_id):
    return (target != pad_id)[:, None, None] & torch.ones(target.shape[1], target.shape[1]).tril().bool()


def _one_position_at_a_time(self, source, target, pad_id):
    forward = _Assembled.forward
    return torch.stack(
        [forward(self, source, target[:, : t + 1], pad_id)[:, -1] for t in range(target.shape[1])], dim=1
    )


_SAME = "all layers of a stack are the same module: it has the parameters of one layer."

MODEL = Exercise(
    number="10.5",
    title="Assemble the model",
    points=6,
    inputs=_model_inputs,
    reference=_Assembled,
    returns=("number of parameters", "room for positions", "logits", "gradient of the source embedding"),
    off_limits=(
        "course_utils.models.transformer.Transformer",
        "torch.nn.Transformer",
        "torch.nn.TransformerEncoder",
        "torch.nn.TransformerDecoder",
    ),
    call=_call_model,
    expects="class",
    alternatives=(
        Alternative("layers appended", _model(__init__=_after_init(_appended))),
        Alternative("parts in another order", _model(__init__=_after_init(_other_order))),
        Alternative("PyTorch's LayerNorm", _model(__init__=_after_init(_pytorch_norms))),
        Alternative("one table of positions for both", _model(__init__=_after_init(_one_position_table))),
        Alternative("target mask by hand", _model(target_mask=_masks_by_hand)),
        Alternative("one position at a time", _model(forward=_one_position_at_a_time)),
        Alternative("the course's own", _model(Transformer, __init__=_course_init, forward=_course_forward), True),
    ),
    mistakes=(
        Mistake(
            "one layer N times",
            _model(__init__=_after_init(_same_layer)),
            _SAME,
            "make a new layer for each place: EncoderLayer(...) for _ in range(num_layers).",
        ),
        Mistake(
            "one layer",
            _model(__init__=_after_init(_one_layer)),
            "one layer in each stack, whatever num_layers says.",
            "make num_layers layers, each new, in an nn.ModuleList.",
        ),
        Mistake(
            "plain lists",
            _model(__init__=_after_init(_plain_lists)),
            "the layers stand in plain Python lists, where nn.Module does not find their parameters.",
            "put them into nn.ModuleList(...), so that they are trained, saved and counted.",
        ),
        Mistake(
            "no final norms",
            _model(
                __init__=_after_init(_without("encoder_norm", "decoder_norm")),
                encode=_bare,
                decode=_decode_bare,
            ),
            "there are no final norms, encoder_norm and decoder_norm.",
            "pre-norm layers need one norm after the last layer of each stack.",
        ),
        Mistake(
            "encoder norm not used",
            _model(encode=_bare),
            "the memory is the last layer's output without the final norm.",
            "return self.encoder_norm(x) from the encoder.",
        ),
        Mistake(
            "decoder norm not used",
            _model(decode=_decode_bare),
            "the hidden vectors reach the generator without the final norm.",
            "apply self.decoder_norm after the last decoder layer.",
        ),
        Mistake(
            "final norms not used",
            _model(encode=_bare, decode=_decode_bare),
            "both final norms are made and neither is used.",
            "apply each after the last layer of its stack.",
        ),
        Mistake(
            "norm after every layer",
            _model(encode=_norm_after_each, decode=_decode_norm_after_each),
            "the final norms are applied after every layer.",
            "apply each once, after the last layer of its stack: outside the loop.",
        ),
        Mistake(
            "norms exchanged",
            _model(
                encode=lambda self, x, mask: self.decoder_norm(_bare(self, x, mask)),
                decode=lambda self, *given: self.encoder_norm(_decode_bare(self, *given)),
            ),
            "the two final norms are exchanged.",
            "encoder_norm belongs to the memory, decoder_norm to the hidden vectors.",
        ),
        Mistake(
            "softmax",
            _model(finish=lambda self, hidden: self.generator(hidden).softmax(-1)),
            "probabilities: a softmax was applied. The loss would apply a log-softmax to them.",
            "return what the generator gives, the logits.",
        ),
        Mistake(
            "log-softmax",
            _model(finish=lambda self, hidden: self.generator(hidden).log_softmax(-1)),
            "log-probabilities. They train well, but asked for are logits.",
            "return what the generator gives; the loss and the decoding normalize.",
        ),
        Mistake(
            "hidden vectors",
            _model(finish=lambda self, hidden: hidden),
            "the hidden vectors; the generator was not applied.",
            "return self.generator(hidden), of shape (B, L_t, tgt_vocab).",
        ),
        Mistake(
            "last position only",
            _model(finish=lambda self, hidden: self.generator(hidden[:, -1])),
            "logits for the last position only.",
            "keep all positions: in training each of them is asked.",
        ),
        Mistake(
            "no causal mask",
            _model(target_mask=lambda self, s, t, p: masks.padding_mask(t, p)),
            "the decoder sees the future: there is no causal mask.",
            "join the target's padding mask with a causal one.",
        ),
        Mistake(
            "target padding seen",
            _model(target_mask=lambda self, s, t, p: masks.causal_mask(t.shape[1])),
            "the decoder's self-attention sees the target's padding.",
            "join the causal mask with the padding mask of the target.",
        ),
        Mistake(
            "no target mask",
            _model(target_mask=lambda self, s, t, p: None),
            "the decoder's self-attention has no mask at all.",
            "give it the causal mask joined with the padding mask of the target.",
        ),
        Mistake(
            "source padding seen",
            _model(source_mask=lambda self, s, t, p: None),
            "the encoder sees the source's padding.",
            "give the padding mask of the source to every encoder layer.",
        ),
        Mistake(
            "memory padding seen",
            _model(memory_mask=lambda self, s, t, p: None),
            "the cross-attention sees the source's padding.",
            "its keys are the source: give it the padding mask of the source.",
        ),
        Mistake(
            "no source mask",
            _model(source_mask=lambda self, s, t, p: None, memory_mask=lambda self, s, t, p: None),
            "the source's padding is seen by the encoder and by the cross-attention.",
            "give both the padding mask of the source.",
        ),
        Mistake(
            "cross-attention with the target's padding",
            _model(memory_mask=lambda self, s, t, p: masks.padding_mask(t, p)),
            "the cross-attention was given the padding mask of the target.",
            "its keys are the source, so it needs the source's mask.",
        ),
        Mistake(
            "cross-attention with the target's mask",
            _model(memory_mask=_Assembled.target_mask),
            "the cross-attention was given the target's mask, causal and all.",
            "its keys are the source, and nothing of the source is future: give it the source's padding mask.",
        ),
        Mistake(
            "masks exchanged",
            _model(memory_mask=_Assembled.target_mask, target_mask=_Assembled.memory_mask),
            "target_mask and memory_mask are exchanged.",
            "target_mask is for self-attention, memory_mask (the source's padding) for cross-attention.",
        ),
        Mistake(
            "pad id 0 assumed",
            _model(forward=lambda self, source, target, pad_id: _Assembled.forward(self, source, target, 0)),
            "padding is taken to be 0, whatever pad_id says.",
            "hand pad_id to the masks.",
        ),
        Mistake(
            "memory is the embedding",
            _model(encode=_memory_is_the_embedding),
            "the decoder looks at the embedded source; the encoder layers are not used.",
            "run the embedded source through every encoder layer and the norm.",
        ),
        Mistake(
            "encoder layers all from the embedding",
            _model(encode=_encode_restarting),
            "each encoder layer gets the embedding; only the last one's output is kept.",
            "feed each layer with the output of the one before: x = layer(x, mask).",
        ),
        Mistake(
            "decoder layers all from the embedding",
            _model(decode=_decode_restarting),
            "each decoder layer gets the embedding; only the last one's output is kept.",
            "feed each layer with the output of the one before.",
        ),
        Mistake(
            "all layers from the embedding",
            _model(encode=_encode_restarting, decode=_decode_restarting),
            "each layer of both stacks gets the embedding; only the last one's output is kept.",
            "feed each layer with the output of the one before.",
        ),
        Mistake(
            "memory of the same layer",
            _model(forward=_memory_layer_by_layer),
            "each decoder layer looks at the output of the encoder layer beside it.",
            "finish the encoder first; every decoder layer gets the same memory.",
        ),
        Mistake(
            "one embedding for both",
            _model(__init__=_after_init(_one_embedding)),
            "source and target share one embedding, though they have vocabularies of their own.",
            "make two: one for src_vocab, one for tgt_vocab.",
        ),
        Mistake(
            "positions forgotten",
            _model(__init__=_after_init(_positions)),
            "no positions are added: the model could not tell one order from another.",
            "hand positions=SinusoidalPositions(d_model, max_len) to each InputEmbedding.",
        ),
        Mistake(
            "scaled again",
            _model(embed=_scaled_again),
            "the embeddings are multiplied by the root of d_model a second time, positions included.",
            "InputEmbedding does that itself.",
        ),
        Mistake(
            "dropout on",
            _model(__init__=_dropped(0.1, 0.1)),
            "dropout is on: the layers' own default is 0.1.",
            "hand dropout=0.0 to every layer.",
        ),
        Mistake(
            "dropout in the encoder",
            _model(__init__=_dropped(0.1, 0.0)),
            "dropout is on in the encoder layers: their own default is 0.1.",
            "hand dropout=0.0 to every layer.",
        ),
        Mistake(
            "dropout in the decoder",
            _model(__init__=_dropped(0.0, 0.1)),
            "dropout is on in the decoder layers: their own default is 0.1.",
            "hand dropout=0.0 to every layer.",
        ),
        Mistake(
            "always two layers",
            _model(__init__=_fixed(2, 2)),
            "two layers in each stack, whatever num_layers says.",
            "make num_layers layers, in a loop or a comprehension.",
        ),
        Mistake(
            "always two heads",
            _model(__init__=_fixed(5, 2)),
            "two heads, whatever num_heads says.",
            "hand num_heads to every layer.",
        ),
        Mistake(
            "max_len ignored",
            _model(__init__=_fixed(6, 5000)),
            "positions for 5000 symbols, whatever max_len says.",
            "hand max_len to SinusoidalPositions.",
        ),
        Mistake(
            "generator tied",
            _model(__init__=_after_init(_generator_tied)),
            "the generator's matrix is that of the target embedding, as in the paper; here it is to have its own.",
            "make the generator an nn.Linear and leave its weights alone.",
        ),
        Mistake(
            "causal encoder",
            _model(source_mask=lambda self, s, t, p: masks.padding_mask(s, p) & masks.causal_mask(s.shape[1])),
            "the encoder has a causal mask. The source is known as a whole; nothing of it is future.",
            "give the encoder the padding mask of the source alone.",
        ),
        Mistake(
            "super().__init__() forgotten",
            _model(__init__=_no_super),
            "the constructor sets a module before nn.Module is ready.",
            "call super().__init__() on the first line of __init__.",
        ),
    ),
    advice="compare your parts, their names and your forward with the tables of the task: what goes where, with which mask.",
)

# 10.6 -----------------------------------------------------------------------------------------------------------------

_IDS = ("start_id", "end_id", "pad_id")


def _stand_in(tables):
    """A model without layers: what it says depends on the step, on all symbols so far, and on the source."""

    def model(source, target):
        before = tables["before"][target].cumsum(1) - tables["before"][target]  # (B, L_t, V), the earlier symbols
        said = tables["last"][target] + before + tables["step"][: target.shape[1]]
        return said + tables["source"][source].sum(1, keepdim=True)

    return model


def _tables(rng, vocab, steps, end_id):
    tables = {name: 1.5 * torch.randn(vocab, vocab, generator=rng) for name in ("last", "before", "source")}
    tables["step"] = torch.randn(steps, vocab, generator=rng)
    for name in ("before", "last", "source"):
        tables[name][:, end_id] = tables[name][:, end_id] * 0.5 - 0.3
    tables["step"][:, end_id] += 1.2 * torch.arange(steps)
    return tables


def _greedy_inputs(seed):
    rng = torch.Generator().manual_seed(seed)
    return [
        _greedy_case(rng, 1, 2, 6, (1, 2, 0), lambda ends: ends == [3]),
        _greedy_case(rng, 4, 3, 7, (4, 0, 3), lambda ends: max(ends) < 7 and min(ends) >= 2 and len(set(ends)) > 2),
        _greedy_case(rng, 3, 5, 5, (2, 5, 1), lambda ends: max(ends) == 99 and min(ends) in (2, 3)),
    ]


def _greedy_case(rng, batch, length, max_len, ids, wanted):
    """Draw until the right answer ends where ``wanted`` says; 99: not within ``max_len``. No special id is said before."""
    start_id, end_id, pad_id = ids
    vocab = 8
    while True:
        tables = _tables(rng, vocab, max_len + 2, end_id)
        case = {
            "source": torch.randint(0, vocab, (batch, length), generator=rng),
            "max_len": max_len,
            **dict(zip(_IDS, ids, strict=True)),
            "tables": tables,
        }
        said = _call_greedy(_greedy(), case).tolist()
        ends = [row.index(end_id) + 1 if end_id in row else 99 for row in said]
        clean = all(i not in (start_id, pad_id) for row, end in zip(said, ends, strict=True) for i in row[: end - 1])
        if wanted(ends) and clean and len({tuple(row) for row in said}) == batch:
            return case


def _call_greedy(answer, case):
    """The answer gets a model made from the case's tables."""
    *given, tables = case.values()
    return answer(_stand_in(tables), *given)


def _greedy(
    choose=lambda logits: logits[:, -1].argmax(-1),
    feed=lambda said: said,
    stop=torch.all,
    steps=lambda max_len: max_len,
    fill=lambda tokens, ended, pad_id: tokens.masked_fill(ended, pad_id),
    finish=lambda said, end_id, pad_id: said[:, 1:],
    ids=lambda start_id, end_id, pad_id: (start_id, end_id, pad_id),
):
    """Greedy decoding with one of its parts exchanged."""

    def answer(model, source, max_len, start_id, end_id, pad_id):
        start_id, end_id, pad_id = ids(start_id, end_id, pad_id)
        said = torch.full((len(source), 1), start_id)
        ended = torch.zeros(len(source), dtype=torch.bool)
        for _ in range(steps(max_len)):
            tokens = fill(choose(model(source, feed(said))), ended, pad_id)
            said = torch.cat((said, tokens[:, None]), dim=1)
            ended = ended | (tokens == end_id)
            if stop(ended):
                break
        return finish(said, end_id, pad_id)

    return answer


def _greedy_row_by_row(model, source, max_len, start_id, end_id, pad_id):
    rows = []
    for b in range(len(source)):
        said = [start_id]
        while len(said) <= max_len and (len(said) == 1 or said[-1] != end_id):
            said.append(int(model(source[b : b + 1], torch.tensor([said]))[0, -1].argmax()))
        rows.append(torch.tensor(said[1:]))
    return nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=pad_id)


def _greedy_in_place(model, source, max_len, start_id, end_id, pad_id):
    said = torch.full((len(source), max_len + 1), pad_id)
    said[:, 0] = start_id
    going = torch.ones(len(source), dtype=torch.bool)
    t = 0
    while t < max_len and going.any():
        scores = model(source, said[:, : t + 1])[:, t]
        said[going, t + 1] = scores.log_softmax(-1).max(-1).indices[going]
        going &= said[:, t + 1] != end_id
        t += 1
    return said[:, 1 : t + 1]


def _greedy_rows_removed(model, source, max_len, start_id, end_id, pad_id):
    output = torch.full((len(source), max_len), pad_id)
    going, said, t = torch.arange(len(source)), torch.full((len(source), 1), start_id), 0
    while t < max_len and len(going):
        tokens = model(source[going], said)[:, -1].argmax(-1)
        output[going, t] = tokens
        kept = tokens != end_id
        going, said, t = going[kept], torch.cat((said, tokens[:, None]), dim=1)[kept], t + 1
    return output[:, :t]


def _pad_after_end(said, end_id, pad_id):
    ends = (said[:, 1:] == end_id).long()
    return said[:, 1:].masked_fill(ends.cumsum(1) - ends > 0, pad_id)


def _greedy_looks_one_step_back(model, source, max_len, start_id, end_id, pad_id):
    said = torch.full((len(source), 1), start_id)
    for _ in range(max_len):
        tokens = model(source, said)[:, -1].argmax(-1).masked_fill(said[:, -1] == end_id, pad_id)
        said = torch.cat((said, tokens[:, None]), dim=1)
        if ((said[:, 1:] == end_id).any(1)).all():
            break
    return said[:, 1:]


def _end_forced(model, source, max_len, start_id, end_id, pad_id):
    output = _greedy()(model, source, max_len, start_id, end_id, pad_id)
    output[~(output == end_id).any(1), -1] = end_id
    return output


class _Steps:
    """A stand-in as ``greedy_decode`` wants it."""

    def __init__(self, model):
        self.model = model

    def start_decoding(self, source, *, max_len):
        return source, torch.zeros(len(source), 0, dtype=torch.long)

    def decode_step(self, state, tokens):
        source, said = state
        said = torch.cat((said, tokens[:, None]), dim=1)
        return self.model(source, said)[:, -1].log_softmax(-1), (source, said)


def _greedy_course(model, source, max_len, start_id, end_id, pad_id):
    ids = {"start_id": start_id, "end_id": end_id, "pad_id": pad_id}
    return greedy_decode(_Steps(model), source, max_len=max_len, **ids).tokens


def _end_becomes_padding(said, end_id, pad_id):
    return said[:, 1:].masked_fill(said[:, 1:] == end_id, pad_id)


def _cut_lists(said, end_id, pad_id):
    return [[i for i in row if i != pad_id] for row in said[:, 1:].tolist()]


GREEDY = Exercise(
    number="10.6",
    title="Greedy decoding",
    points=4,
    inputs=_greedy_inputs,
    reference=_greedy(),
    returns=("tokens",),
    off_limits=("course_utils.decoding.search.greedy_decode", "course_utils.decoding.search.beam_search"),
    call=_call_greedy,
    alternatives=(
        Alternative("row by row", _greedy_row_by_row),
        Alternative("written into a full tensor", _greedy_in_place),
        Alternative("of the log-softmax", _greedy(choose=lambda z: z.log_softmax(-1)[:, -1].max(-1).indices)),
        Alternative("padded afterwards", _greedy(fill=lambda tokens, ended, pad_id: tokens, finish=_pad_after_end)),
        Alternative("rows taken out once they have ended", _greedy_rows_removed),
        Alternative("topk", _greedy(choose=lambda z: z[:, -1].topk(1).indices[:, 0])),
        Alternative("the course's own", _greedy_course, off_limits=True),
    ),
    mistakes=(
        Mistake(
            "stops with the first",
            _greedy(stop=torch.any),
            "decoding stops as soon as one sequence has ended; the others are cut off.",
            "go on until ALL have ended.",
        ),
        Mistake(
            "never stops",
            _greedy(stop=lambda ended: False),
            "max_len symbols whatever happens, also when all sequences have ended.",
            "stop the loop when every sequence has said end_id.",
        ),
        Mistake(
            "ended sequences go on",
            _greedy(fill=lambda tokens, ended, pad_id: tokens),
            "sequences that have ended go on talking while the others finish.",
            "remember which have ended, and give those pad_id.",
        ),
        Mistake(
            "end repeated",
            lambda model, source, max_len, start_id, end_id, pad_id: _greedy()(
                model, source, max_len, start_id, end_id, end_id
            ),
            "after the end, the end symbol is repeated instead of padding.",
            "fill with pad_id once a sequence has ended.",
        ),
        Mistake(
            "looks one step back",
            _greedy_looks_one_step_back,
            "one padding symbol follows the end, then the sequence goes on talking: only the latest symbol is compared.",
            "remember which sequences have ended: ended = ended | (tokens == end_id).",
        ),
        Mistake(
            "end forced",
            _end_forced,
            "a sequence that did not end within max_len got an end symbol in its last place.",
            "return what was said; not every sequence ends.",
        ),
        Mistake(
            "end becomes padding",
            _greedy(finish=_end_becomes_padding),
            "the end symbol was replaced by padding.",
            "keep the end symbol; padding begins after it.",
        ),
        Mistake(
            "start kept",
            _greedy(finish=lambda said, end_id, pad_id: said),
            "the start symbol stands at the front of the output.",
            "it was given, not said: return everything after it.",
        ),
        Mistake(
            "start kept, one step fewer",
            _greedy(finish=lambda said, end_id, pad_id: said, steps=lambda max_len: max_len - 1),
            "the start symbol stands in the output and is counted as one of max_len.",
            "max_len symbols may be said AFTER the start symbol; return only those.",
        ),
        Mistake(
            "one step fewer",
            _greedy(steps=lambda max_len: max_len - 1),
            "one step too few: the start symbol was counted as one of max_len.",
            "up to max_len symbols may be said, the end symbol included.",
        ),
        Mistake(
            "one step more",
            _greedy(steps=lambda max_len: max_len + 1),
            "one step too many.",
            "up to max_len symbols may be said, the end symbol included.",
        ),
        Mistake(
            "last symbol only",
            _greedy(feed=lambda said: said[:, -1:]),
            "the model gets only the last symbol; it forgets what it said before.",
            "feed all symbols so far, the start symbol first.",
        ),
        Mistake(
            "first position read",
            _greedy(choose=lambda logits: logits[:, 0].argmax(-1)),
            "the prediction is read at position 0 at every step.",
            "the next symbol is predicted at the LAST position: logits[:, -1].",
        ),
        Mistake(
            "least probable",
            _greedy(choose=lambda logits: logits[:, -1].argmin(-1)),
            "the least probable symbol is taken.",
            "take the largest logit: argmax.",
        ),
        Mistake(
            "drawn at random",
            _greedy(choose=lambda logits: torch.multinomial(logits[:, -1].softmax(-1), 1)[:, 0]),
            "symbols are drawn at random by their probability.",
            "greedy means: always the most probable one, argmax.",
        ),
        Mistake(
            "start id 1 assumed",
            _greedy(ids=lambda start_id, end_id, pad_id: (1, end_id, pad_id)),
            "decoding begins with 1, whatever start_id says.",
            "begin with start_id.",
        ),
        Mistake(
            "end id 2 assumed",
            _greedy(ids=lambda start_id, end_id, pad_id: (start_id, 2, pad_id)),
            "2 is taken for the end symbol, whatever end_id says.",
            "compare with end_id.",
        ),
        Mistake(
            "pad id 0 assumed",
            _greedy(ids=lambda start_id, end_id, pad_id: (start_id, end_id, 0)),
            "sequences that have ended are filled with 0, whatever pad_id says.",
            "fill with pad_id.",
        ),
        Mistake(
            "positions first",
            _greedy(finish=lambda said, end_id, pad_id: said[:, 1:].T),
            "the result has shape (L_out, B).",
            "the batch comes first: stack or join the steps along axis 1.",
        ),
        Mistake(
            "lists",
            _greedy(finish=_cut_lists),
            "lists of different lengths.",
            "return one tensor (B, L_out), short sequences padded with pad_id.",
        ),
    ),
    advice="decode by hand for two steps: what goes into the model, and at which position is the answer read?",
)

# 10.7 -----------------------------------------------------------------------------------------------------------------


def _bug_inputs(seed):
    rng = torch.Generator().manual_seed(seed)
    cases = []
    for lengths_s, lengths_t, L_s, L_t, vocab, pad_id in (
        ((3, 2), (4, 4), 3, 4, 6, 0),
        ((4, 6, 2), (5, 3, 4), 6, 5, 8, 0),
        ((5, 3), (7, 4), 5, 7, 7, 4),
    ):
        cases.append(
            {
                "source": _tokens(rng, lengths_s, L_s, 0 if pad_id else 1, vocab, pad_id),
                "target": _tokens(rng, lengths_t, L_t, 0 if pad_id else 1, vocab, pad_id),
                "pad_id": pad_id,
                "tables": {
                    name: torch.randn(vocab, vocab, generator=rng) for name in ("target", "source", "place", "last")
                },
            }
        )
    return cases


def _masked_stand_in(tables):
    """A model without layers that looks where its masks allow: an average of the target so far and of the source."""

    def model(source, decoder_input, source_mask, target_mask):
        (batch, length), L_s = decoder_input.shape, source.shape[1]
        seen = target_mask.expand(batch, 1, length, length)[:, 0].to(torch.float32)
        read = source_mask.expand(batch, 1, length, L_s)[:, 0].to(torch.float32)
        place = tables["place"][torch.arange(length) % len(tables["place"])]  # (L_t, V)
        so_far = seen @ (tables["target"][decoder_input] + place) / seen.sum(-1, keepdim=True).clamp(min=1)
        return so_far + tables["last"][decoder_input] + read @ tables["source"][source] / L_s

    return model


def _call_bug(answer, case):
    """The loss with a model made from the case's tables, and the gradient that reaches one of them in a second call."""
    *given, tables = case.values()
    loss = answer(_masked_stand_in(tables), *given)
    watched = tables["target"].clone().requires_grad_()
    return loss, _gradient(answer(_masked_stand_in({**tables, "target": watched}), *given), watched)


def _batch_loss(
    given=lambda target: target[:, :-1],
    labels=lambda target: target[:, 1:],
    causal=_past,
    source_mask=_real,
    target_mask=lambda given, pad_id, causal: _real(given, pad_id) & causal,
    cut=lambda logits: logits,
    loss=lambda logits, labels, pad_id: F.cross_entropy(logits, labels, ignore_index=pad_id),
):
    """The loss of a batch with one of its parts exchanged."""

    def answer(model, source, target, pad_id):
        x, y = given(target), labels(target)
        mask = target_mask(x, pad_id, causal(x.shape[1]))
        logits = cut(model(source, x, source_mask(source, pad_id), mask))
        return loss(logits.flatten(0, 1), y.flatten(), pad_id)

    return answer


def _batch_loss_course(model, source, target, pad_id):
    x, y = target[:, :-1], target[:, 1:]
    mask = masks.combine_masks(masks.padding_mask(x, pad_id), masks.causal_mask(x.shape[1]))
    logits = model(source, x, masks.padding_mask(source, pad_id), mask)
    return training.label_smoothing_loss(logits, y, smoothing=0.0, pad_id=pad_id)


def _batch_loss_loop(model, source, target, pad_id):
    losses = []
    for t in range(target.shape[1] - 1):
        x = target[:, : t + 1]
        mask = _real(x, pad_id) & _past(t + 1)
        logits = model(source, x, _real(source, pad_id), mask)[:, -1].log_softmax(-1)
        y = target[:, t + 1]
        losses.append(-logits.gather(1, y[:, None])[:, 0][y != pad_id])
    return torch.cat(losses).mean()


_AHEAD = (
    "the function as it was: each position sees one step ahead, and there stands its own label.",
    "a position may see itself and the past: tril() without a diagonal.",
)

BUG = Exercise(
    number="10.7",
    title="Find the bug",
    points=3,
    inputs=_bug_inputs,
    reference=_batch_loss(),
    returns=("loss", "gradient of the model"),
    call=_call_bug,
    alternatives=(
        Alternative("the course's masks and loss", _batch_loss_course),
        Alternative("prefix by prefix", _batch_loss_loop),
        Alternative(
            "whole target, last logits cut off", _batch_loss(given=lambda t: t, cut=lambda logits: logits[:, :-1])
        ),
        Alternative("positions compared", _batch_loss(causal=_by_position)),
        Alternative(  # right: padding stands on the right, where no real position looks
            "causal mask alone", _batch_loss(target_mask=lambda given, pad_id, causal: causal[None, None])
        ),
        Alternative(
            "padding removed first",
            _batch_loss(loss=lambda logits, labels, p: F.cross_entropy(logits[labels != p], labels[labels != p])),
        ),
    ),
    mistakes=(
        Mistake("as it was", _batch_loss(causal=lambda length: _past(length, 1)), *_AHEAD),
        Mistake(
            "no causal mask",
            _batch_loss(causal=lambda length: _past(length, length)),
            "no causal mask at all: each position sees the whole target, its label included.",
            "keep the lower triangle: tril().",
        ),
        Mistake(
            "diagonal masked",
            _batch_loss(causal=lambda length: _past(length, -1)),
            "one step too far: now no position sees the symbol that it was just given.",
            "that symbol is no secret, the next one is: tril() without a diagonal.",
        ),
        Mistake(
            "the future instead of the past",
            _batch_loss(causal=lambda length: _past(length).T),
            "the upper triangle: each position sees itself and the future.",
            "keep the lower triangle: tril().",
        ),
        Mistake(
            "not shifted, without the last",
            _batch_loss(labels=lambda target: target[:, :-1]),
            "the labels are the input: a model that repeats what it gets is perfect.",
            "the shift was right; leave it as it was and look at the mask.",
        ),
        Mistake(
            "not shifted, without the first",
            _batch_loss(given=lambda target: target[:, 1:]),
            "the input is the labels: a model that repeats what it gets is perfect.",
            "the shift was right; leave it as it was and look at the mask.",
        ),
        Mistake(
            "logits cut at the wrong end",
            _batch_loss(given=lambda t: t, cut=lambda logits: logits[:, 1:]),
            "the whole target is given, and the first logits are cut off: each position is asked for what it was given.",
            "cut off the LAST logits, or leave the shift as it was and look at the mask.",
        ),
        Mistake(
            "backwards",
            _batch_loss(given=lambda t: t[:, 1:], labels=lambda t: t[:, :-1]),
            "input and labels are exchanged: the model is asked for the symbol before.",
            "the shift was right; leave it as it was and look at the mask.",
        ),
        Mistake(
            "shifted and still ahead",
            _batch_loss(given=lambda t: t[:, 1:], causal=lambda length: _past(length, 1)),
            "the input is now the labels themselves, and each position sees one step ahead besides.",
            "the shift was right; leave it as it was and take the diagonal out of tril.",
        ),
        Mistake(
            "padding counted",
            _batch_loss(loss=lambda logits, labels, pad_id: F.cross_entropy(logits, labels)),
            "the loss counts padding.",
            "keep ignore_index=pad_id.",
        ),
        Mistake(
            "source padding seen",
            _batch_loss(source_mask=lambda source, pad_id: torch.ones_like(_real(source, pad_id))),
            "the source's padding is no longer hidden.",
            "leave the source mask as it was.",
        ),
        Mistake(
            "without a gradient",
            lambda *given: _batch_loss()(*given).detach(),
            "the value is right, but no gradient reaches the model: nothing could be learned.",
            "leave out detach, item and no_grad; return the tensor.",
        ),
        Mistake(
            "diagonal alone",
            _batch_loss(causal=lambda length: torch.eye(length, dtype=torch.bool)),
            "each position sees itself alone; the past is hidden too.",
            "keep the whole lower triangle: tril().",
        ),
        Mistake(
            "sum",
            _batch_loss(loss=lambda z, y, p: F.cross_entropy(z, y, ignore_index=p, reduction="sum")),
            "the sum over the labels; it was a mean.",
            "the loss was right; leave it as it was and look at the mask.",
        ),
        Mistake(
            "softmax first",
            _batch_loss(cut=lambda logits: logits.softmax(-1)),
            "a softmax before cross_entropy, which applies a log-softmax itself.",
            "hand the logits to cross_entropy as they are.",
        ),
    ),
    advice="for 3 positions, write down which inputs position 0 may see, and compare them with its label.",
)

# 10.8, 10.9 -----------------------------------------------------------------------------------------------------------

TOO_GOOD = Quiz(
    number="10.8",
    title="A loss that is too good",
    points=1,
    options={
        "a": Option(
            "The learning rate is too high.",
            "then the loss would jump about or grow; it would not come to rest near its lowest value.",
        ),
        "b": Option(
            "The model has learned the training set by heart.",
            "after 30 steps it has seen most sentences not once. Memory does not come so fast.",
        ),
        "c": Option(
            "The target is not shifted.",
            "repeating the input is learned within a few steps. In decoding it is given the start symbol and repeats it.",
        ),
        "d": Option(
            "Decoding should use beam search.",
            "beam search finds better sequences by the model's own measure; it does not mend a model that learned to repeat.",
        ),
    },
    right="c",
)

TOO_BAD = Quiz(
    number="10.9",
    title="A loss that does not fall",
    points=1,
    options={
        "a": Option(
            "The model ends in a softmax, and cross_entropy applies a log-softmax to the result.",
            "taken for logits, probabilities differ by 1 at most; ln(e + 999) - 1 is as low as the loss can get.",
        ),
        "b": Option(
            "The model ends in a log-softmax, and cross_entropy applies another one.",
            "that changes nothing: log-probabilities are already normalized.",
        ),
        "c": Option(
            "The padding is left out of the loss.",
            "that is as it should be, and it does not keep the loss from falling.",
        ),
        "d": Option(
            "The warm-up is too long.",
            "then learning would be slow, but the share of right symbols could not be at 95 %.",
        ),
    },
    right="a",
)

EXERCISES = (MASKS, SHIFT, SMOOTHING, RATE, MODEL, GREEDY, BUG, TOO_GOOD, TOO_BAD)
