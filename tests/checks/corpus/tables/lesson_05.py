"""Answers that the first tables of lesson 05 knew, wrong and right, by exercise and name (generated once; see README.md)."""

import functools
import math
import operator
import torch
import torch.nn.functional as F
from course_utils import attention, masks
from . import Answers, Right, Wrong


def _padding_loop(tokens, pad_id):
    mask = torch.zeros(len(tokens), 1, 1, tokens.shape[1], dtype=torch.bool)
    for b, row in enumerate(tokens.tolist()):
        for j, token in enumerate(row):
            mask[b, 0, 0, j] = token != pad_id
    return mask


def _by_length(tokens, pad_id):
    lengths = (tokens != pad_id).sum(-1)
    return (torch.arange(tokens.shape[1]) < lengths[:, None])[:, None, None]


PADDING = Answers(
    number="5.1",
    alternatives=(
        Right("two loops", _padding_loop),
        Right("ne and unsqueeze", lambda tokens, pad_id: tokens.ne(pad_id).unsqueeze(1).unsqueeze(2)),
        Right("not equal", lambda tokens, pad_id: ~(tokens == pad_id)[:, None, None, :]),
        Right("view", lambda tokens, pad_id: (tokens != pad_id).view(len(tokens), 1, 1, -1)),
        Right("the course's own", lambda tokens, pad_id: masks.padding_mask(tokens, pad_id), off_limits=True),
    ),
    mistakes=(
        Wrong("polarity inverted", lambda tokens, pad_id: (tokens == pad_id)[:, None, None]),
        Wrong("rows instead of columns", lambda tokens, pad_id: (tokens != pad_id)[:, None, :, None]),
        Wrong("rows, polarity inverted", lambda tokens, pad_id: (tokens == pad_id)[:, None, :, None]),
        Wrong("tokens in front", lambda tokens, pad_id: (tokens != pad_id)[:, :, None, None]),
        Wrong("two axes only", lambda tokens, pad_id: tokens != pad_id),
        Wrong("one axis missing", lambda tokens, pad_id: (tokens != pad_id)[:, None]),
        Wrong("pad id 0 assumed", lambda tokens, pad_id: (tokens != 0)[:, None, None]),
        Wrong("positive is real", lambda tokens, pad_id: (tokens > pad_id)[:, None, None]),
        Wrong("first item for all", lambda tokens, pad_id: (tokens[:1] != pad_id).expand_as(tokens)[:, None, None]),
        Wrong("from the lengths", _by_length),
        Wrong(
            "hidden from the first padding on",
            lambda tokens, pad_id: (tokens != pad_id).long().cumprod(-1).bool()[:, None, None],
        ),
        Wrong(
            "hidden behind the last token",
            lambda tokens, pad_id: (tokens != pad_id).flip(-1).long().cummax(-1).values.flip(-1).bool()[:, None, None],
        ),
        Wrong("0 hidden as well", lambda tokens, pad_id: ((tokens != pad_id) & (tokens != 0))[:, None, None]),
        Wrong("zeros and ones", lambda tokens, pad_id: (tokens != pad_id).float()[:, None, None]),
        Wrong(
            "additive",
            lambda tokens, pad_id: torch.zeros(tokens.shape).masked_fill(tokens == pad_id, -math.inf)[:, None, None],
        ),
    ),
)


def _distance(L_q, L_k, offset=None):
    """How far key j lies behind query i, aligned bottom-right unless ``offset`` says otherwise."""
    offset = L_k - L_q if offset is None else offset
    return torch.arange(L_q)[:, None] + offset - torch.arange(L_k)


def _causal_loop(L_q, L_k):
    return torch.tensor([[j <= i + L_k - L_q for j in range(L_k)] for i in range(L_q)])


CAUSAL = Answers(
    number="5.2",
    alternatives=(
        Right("two loops", _causal_loop),
        Right("distances", lambda L_q, L_k: _distance(L_q, L_k) >= 0),
        Right("tril", lambda L_q, L_k: torch.ones(L_q, L_k, dtype=torch.bool).tril(L_k - L_q)),
        Right(
            "old keys, then a triangle",
            lambda L_q, L_k: torch.cat([torch.ones(L_q, L_k - L_q), torch.ones(L_q, L_q).tril()], dim=1).bool(),
        ),
        Right("not triu", lambda L_q, L_k: ~torch.ones(L_q, L_k, dtype=torch.bool).triu(L_k - L_q + 1)),
        Right("last rows of a square", lambda L_q, L_k: torch.ones(L_k, L_k).tril().bool()[L_k - L_q :]),
        Right("the course's own", lambda L_q, L_k: masks.causal_mask(L_q, L_k)[0, 0], off_limits=True),
    ),
    mistakes=(
        Wrong("top-left", lambda L_q, L_k: _distance(L_q, L_k, 0) >= 0),
        Wrong("diagonal masked", lambda L_q, L_k: _distance(L_q, L_k) > 0),
        Wrong("diagonal masked, top-left", lambda L_q, L_k: _distance(L_q, L_k, 0) > 0),
        Wrong("one step ahead", lambda L_q, L_k: _distance(L_q, L_k) >= -1),
        Wrong("polarity inverted", lambda L_q, L_k: _distance(L_q, L_k) < 0),
        Wrong("transposed", lambda L_q, L_k: torch.ones(L_q, L_k, dtype=torch.bool).triu()),
        Wrong("offset on the wrong side", lambda L_q, L_k: _distance(L_q, L_k, L_q - L_k) >= 0),
        Wrong(
            "square, then ones",
            lambda L_q, L_k: torch.cat([torch.ones(L_q, L_q).tril(), torch.ones(L_q, L_k - L_q)], dim=1).bool(),
        ),
        Wrong(
            "open as soon as the lengths differ",
            lambda L_q, L_k: torch.ones(L_q, L_k, dtype=torch.bool).tril(0 if L_q == L_k else L_k),
        ),
        Wrong("square", lambda L_q, L_k: torch.ones(L_q, L_q, dtype=torch.bool).tril()),
        Wrong("zero times infinity", lambda L_q, L_k: torch.ones(L_q, L_k).triu(L_k - L_q + 1) * -math.inf),
        Wrong("additive", lambda L_q, L_k: torch.zeros(L_q, L_k).masked_fill(_distance(L_q, L_k) < 0, -math.inf)),
        Wrong("zeros and ones", lambda L_q, L_k: torch.ones(L_q, L_k).tril(L_k - L_q)),
    ),
)


def _window_loop(L_q, L_k, window):
    mask = torch.zeros(L_q, L_k, dtype=torch.bool)
    for i in range(L_q):
        position = i + L_k - L_q
        mask[i, max(0, position - window + 1) : position + 1] = True
    return mask


def _window_by_slices(L_q, L_k, window):
    mask = torch.zeros(L_q, L_k, dtype=torch.bool)
    for i in range(L_q):
        mask[i, i + L_k - L_q - window + 1 : i + L_k - L_q + 1] = True
    return mask


def _window(keep, offset=None):
    """An answer that keeps what ``keep(distance, window)`` says."""

    def answer(L_q, L_k, window):
        return keep(_distance(L_q, L_k, offset), window)

    return answer


WINDOW = Answers(
    number="5.6",
    alternatives=(
        Right("loop over queries", _window_loop),
        Right("distances", _window(lambda d, w: (d >= 0) & (d < w))),
        Right(
            "tril and triu",
            lambda L_q, L_k, w: torch.ones(L_q, L_k, dtype=torch.bool).tril(L_k - L_q).triu(L_k - L_q - w + 1),
        ),
        Right(
            "one triangle minus another",
            lambda L_q, L_k, w: torch.ones(L_q, L_k).tril(L_k - L_q) > torch.ones(L_q, L_k).tril(L_k - L_q - w),
        ),
        Right(
            "the course's own",
            lambda L_q, L_k, window: masks.sliding_window_mask(L_q, L_k, window=window)[0, 0],
            off_limits=True,
        ),
    ),
    mistakes=(
        Wrong("window one too wide", _window(lambda d, w: (d >= 0) & (d <= w))),
        Wrong("window one too narrow", _window(lambda d, w: (d >= 0) & (d < w - 1))),
        Wrong("own position masked", _window(lambda d, w: (d > 0) & (d <= w))),
        Wrong("both sides", _window(lambda d, w: d.abs() < w)),
        Wrong("window not used", _window(lambda d, w: d >= 0)),
        Wrong("joined by or", _window(lambda d, w: (d >= 0) | (d < w))),
        Wrong("top-left", _window(lambda d, w: (d >= 0) & (d < w), 0)),
        Wrong(
            "near edge top-left",
            lambda L_q, L_k, w: torch.ones(L_q, L_k, dtype=torch.bool).tril().triu(L_k - L_q - w + 1),
        ),
        Wrong(
            "far edge top-left", lambda L_q, L_k, w: torch.ones(L_q, L_k, dtype=torch.bool).tril(L_k - L_q).triu(1 - w)
        ),
        Wrong("slice from a negative index", _window_by_slices),
        Wrong(
            "blocks",
            lambda L_q, L_k, w: (
                (_distance(L_q, L_k) >= 0) & (torch.arange(L_k - L_q, L_k)[:, None] // w == torch.arange(L_k) // w)
            ),
        ),
        Wrong("polarity inverted", _window(lambda d, w: ~((d >= 0) & (d < w)))),
        Wrong("outside the window", _window(lambda d, w: d >= w)),
        Wrong("into the future", _window(lambda d, w: (d <= 0) & (d > -w))),
    ),
)


def _hidden(scores, mask):
    return scores.masked_fill(~mask, -math.inf)


def _log_softmax(scores):
    return scores - scores.logsumexp(dim=-1, keepdim=True)


def _open(mask):
    return mask.any(dim=-1, keepdim=True)


def _bias(scores, mask, fill=-math.inf):
    return scores + torch.zeros_like(scores).masked_fill(~mask.expand_as(scores), fill)


def _by_hand(scores, mask):
    scores = scores.masked_fill(~mask, -math.inf)
    top = scores.amax(-1, keepdim=True).masked_fill(~_open(mask), 0.0)
    powers = (scores - top).exp()
    return powers / powers.sum(-1, keepdim=True).clamp(min=1e-30)


def _masked_rows_loop(scores, mask):
    mask = mask.expand_as(scores)
    rows = []
    for row, keep in zip(scores.reshape(-1, scores.shape[-1]), mask.reshape(-1, scores.shape[-1]), strict=True):
        weights = torch.zeros_like(row)
        seen = keep.nonzero().flatten()
        rows.append(weights if len(seen) == 0 else weights.index_put((seen,), torch.softmax(row[seen], dim=-1)))
    return torch.stack(rows).reshape(scores.shape)


def _open_rows_only(scores, mask):
    chosen = _open(mask)[..., 0].expand(scores.shape[:-1])
    rows = torch.softmax(_hidden(scores, mask)[chosen], dim=-1)
    return torch.zeros_like(scores).index_put(chosen.nonzero(as_tuple=True), rows)


def _exponentials(scores, mask):
    powers = scores.exp() * mask
    return powers / (powers.sum(-1, keepdim=True) + 1e-09)


def _filled_in_place(scores, mask):
    with torch.no_grad():
        scores.masked_fill_(~mask, -1000000000.0)
    return torch.softmax(scores, -1) * mask


EMPTY_ROWS = Answers(
    number="5.5",
    alternatives=(
        Right("loop over rows", _masked_rows_loop),
        Right(
            "finite row first, zeroed afterwards",
            lambda s, m: torch.softmax(s.masked_fill(~(m | ~_open(m)), -math.inf), -1) * _open(m),
        ),
        Right("finite fill, zeroed afterwards", lambda s, m: torch.softmax(s.masked_fill(~m, torch.finfo(s.dtype).min), -1) * m),
        Right(
            "finite fill, empty rows zeroed",
            lambda s, m: torch.softmax(s.masked_fill(~m, torch.finfo(s.dtype).min), -1) * _open(m),
        ),
        Right(
            "lowest of the type, then where",
            lambda s, m: torch.where(m, torch.softmax(s.masked_fill(~m, torch.finfo(s.dtype).min), -1), 0.0),
        ),
        Right("open rows only", _open_rows_only),
        Right("exponentials by hand", _by_hand),
        Right(
            "exponential of the log-softmax",
            lambda s, m: _log_softmax(_hidden(s, m).masked_fill(~_open(m), 0.0)).exp().masked_fill(~m, 0.0),
        ),
        Right(
            "masked_fill and nan_to_num in empty rows",
            lambda s, m: torch.where(_open(m), w := torch.softmax(_hidden(s, m), -1), torch.nan_to_num(w)),
        ),
        Right("masked_fill and where", lambda s, m: torch.where(m, torch.softmax(_hidden(s, m), -1), 0.0)),
        Right("the course's own", lambda s, m: attention.masked_softmax(s, m), off_limits=True),
    ),
    mistakes=(
        Wrong("NaN", lambda s, m: torch.softmax(_hidden(s, m), -1)),
        Wrong("uniform", lambda s, m: torch.softmax(s.masked_fill(~m, -1000000000.0), -1)),
        Wrong("uniform, fill value added", lambda s, m: torch.softmax(_bias(s, m, -1000000000.0), -1)),
        Wrong("NaN in the gradient only", lambda s, m: torch.nan_to_num(torch.softmax(_bias(s, m), -1))),
        Wrong("NaN, minus infinity added", lambda s, m: torch.softmax(_bias(s, m), -1)),
        Wrong("zeroed after the softmax", lambda s, m: torch.softmax(s, -1) * m),
        Wrong(
            "renormalized afterwards",
            lambda s, m: (w := (torch.softmax(s, -1) * m)) / (w.sum(-1, keepdim=True) + 1e-09),
        ),
        Wrong("no shift", _exponentials),
        Wrong("mask not used", lambda s, m: torch.softmax(s, -1)),
        Wrong("polarity inverted", lambda s, m: attention.masked_softmax(s, ~m)),
        Wrong(
            "rows with one hidden key zeroed",
            lambda s, m: torch.softmax(s.masked_fill(~m, -1000000000.0), -1) * m.all(-1, keepdim=True),
        ),
        Wrong("fill value not low enough", lambda s, m: torch.softmax(s.masked_fill(~m, -10000.0), -1) * m),
        Wrong("over the queries", lambda s, m: torch.nan_to_num(torch.softmax(_hidden(s, m), -2))),
        Wrong(
            "empty columns",
            lambda s, m: torch.softmax(_hidden(s, m).masked_fill(~m.any(-2, keepdim=True), 0.0), -1).masked_fill(
                ~m, 0.0
            ),
        ),
        Wrong("scores changed in place", _filled_in_place),
        Wrong("weights left in empty rows", lambda s, m: torch.softmax(s.masked_fill(~(m | ~_open(m)), -math.inf), -1)),
        Wrong("gradient cut", lambda s, m: attention.masked_softmax(s.detach(), m)),
    ),
)


def _with_mask(to_mask, fill=-1000000000.0):
    """The function of the exercise with another mask; ``to_mask(keep, scores)``."""

    def answer(query, key, value, keep):
        scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
        weights = torch.softmax(scores.masked_fill(~to_mask(keep, scores), fill), dim=-1)
        return (weights @ value, weights)

    return answer


BUG = Answers(
    number="5.8",
    alternatives=(
        Right("fill value left as it was", _with_mask(lambda keep, scores: keep.unsqueeze(1).unsqueeze(2))),
        Right("view", _with_mask(lambda keep, scores: keep.view(len(keep), 1, 1, -1))),
        Right("expanded", _with_mask(lambda keep, scores: keep[:, None, None].expand_as(scores))),
        Right("unsqueeze twice at 1", _with_mask(lambda keep, scores: keep.unsqueeze(1).unsqueeze(1))),
        Right(
            "the course's own",
            lambda q, k, v, keep: attention.scaled_dot_product_attention(q, k, v, keep[:, None, None]),
            off_limits=True,
        ),
    ),
    mistakes=(
        Wrong("still rows", _with_mask(lambda keep, scores: keep.unsqueeze(1).unsqueeze(3))),
        Wrong("still rows, minus infinity", _with_mask(lambda keep, scores: keep.unsqueeze(1).unsqueeze(3), -math.inf)),
        Wrong("lined up with the heads", _with_mask(lambda keep, scores: keep[:, None])),
        Wrong("as it comes", _with_mask(lambda keep, scores: keep)),
        Wrong("tokens as heads", _with_mask(lambda keep, scores: keep[:, :, None, None])),
        Wrong("polarity inverted", _with_mask(lambda keep, scores: ~keep[:, None, None])),
        Wrong("first item for all", _with_mask(lambda keep, scores: keep[0])),
        Wrong("any item's padding", _with_mask(lambda keep, scores: keep.any(0))),
        Wrong("fill value not low enough", _with_mask(lambda keep, scores: keep[:, None, None], -10000.0)),
        Wrong(
            "values zeroed",
            lambda q, k, v, keep: _with_mask(lambda keep, s: torch.ones_like(keep)[:, None, None])(
                q, k, v * keep[:, None, :, None], keep
            ),
        ),
        Wrong("mask dropped", _with_mask(lambda keep, scores: torch.ones_like(keep)[:, None, None])),
        Wrong(
            "zeroed after the softmax",
            lambda q, k, v, keep: (
                (w := (torch.softmax(q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5, -1) * keep[:, None, None])) @ v,
                w,
            ),
        ),
    ),
)

EXERCISES = (
    PADDING,
    CAUSAL,
    WINDOW,
    EMPTY_ROWS,
    BUG,
)
