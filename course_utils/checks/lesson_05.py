"""Lesson 05, masking: what is right, what is wrong, and how it is told."""

import functools
import math
import operator

import torch
import torch.nn.functional as F
from torch import Tensor

from course_utils import attention, masks

from .exercise import Alternative, Exercise, Mistake, Option, Quiz

# 5.1 ------------------------------------------------------------------------------------------------------------------


def _padding_inputs(seed):
    rng = torch.Generator().manual_seed(seed)
    right = torch.randint(1, 9, (2, 7), generator=rng)
    right[0, 4:], right[1, 6:] = 0, 0
    left = torch.randint(0, 7, (3, 5), generator=rng)
    left[0, :2], left[2, :3], left[1, 2] = 9, 9, 0
    return [
        {"tokens": torch.tensor([[5, 7, 0], [4, 0, 0]]), "pad_id": 0},
        {"tokens": right, "pad_id": 0},
        {"tokens": left, "pad_id": 9},
        {"tokens": torch.tensor([[0, 3, 1, 2], [3, 0, 2, 1]]), "pad_id": 2},
    ]


def _padding_loop(tokens, pad_id):
    mask = torch.zeros(len(tokens), 1, 1, tokens.shape[1], dtype=torch.bool)
    for b, row in enumerate(tokens.tolist()):
        for j, token in enumerate(row):
            mask[b, 0, 0, j] = token != pad_id
    return mask


def _by_length(tokens, pad_id):
    lengths = (tokens != pad_id).sum(-1)
    return (torch.arange(tokens.shape[1]) < lengths[:, None])[:, None, None]


PADDING = Exercise(
    number="5.1",
    title="A padding mask",
    points=2,
    inputs=_padding_inputs,
    reference=masks.padding_mask,
    returns=("mask",),
    off_limits=("course_utils.masks.padding_mask",),
    alternatives=(
        Alternative("two loops", _padding_loop),
        Alternative("ne and unsqueeze", lambda tokens, pad_id: tokens.ne(pad_id).unsqueeze(1).unsqueeze(2)),
        Alternative("not equal", lambda tokens, pad_id: ~(tokens == pad_id)[:, None, None, :]),
        Alternative("view", lambda tokens, pad_id: (tokens != pad_id).view(len(tokens), 1, 1, -1)),
        Alternative("the course's own", lambda tokens, pad_id: masks.padding_mask(tokens, pad_id), off_limits=True),
    ),
    mistakes=(
        Mistake(
            "polarity inverted",
            lambda tokens, pad_id: (tokens == pad_id)[:, None, None],
            "a mask of the other polarity: True where the padding is.",
            "here True means may attend, so True belongs to the real tokens.",
        ),
        Mistake(
            "rows instead of columns",
            lambda tokens, pad_id: (tokens != pad_id)[:, None, :, None],
            "a mask of shape (B, 1, L, 1): it hides rows, the queries; padding is to be hidden as a key.",
            "the tokens must end up in the last axis, where the keys are.",
        ),
        Mistake(
            "rows, polarity inverted",
            lambda tokens, pad_id: (tokens == pad_id)[:, None, :, None],
            "two things at once: the tokens stand in the rows (queries), and True marks the padding.",
            "put the tokens in the last axis, and let True mark the real ones.",
        ),
        Mistake(
            "tokens in front",
            lambda tokens, pad_id: (tokens != pad_id)[:, :, None, None],
            "a mask of shape (B, L, 1, 1): the tokens stand where the heads belong.",
            "the order is (B, H, L_q, L_k); the tokens are the keys, the last of the four.",
        ),
        Mistake(
            "two axes only",
            lambda tokens, pad_id: tokens != pad_id,
            "a mask of shape (B, L_k). Against scores (B, H, L_q, L_k) it would line up the batch with the queries.",
            "add two axes of size 1 between the batch and the keys.",
        ),
        Mistake(
            "one axis missing",
            lambda tokens, pad_id: (tokens != pad_id)[:, None],
            "a mask of shape (B, 1, L_k): against four axes it would line up the batch with the heads.",
            "add one more axis of size 1: one for the heads, one for the queries.",
        ),
        Mistake(
            "pad id 0 assumed",
            lambda tokens, pad_id: (tokens != 0)[:, None, None],
            "a mask that looks for 0, whatever pad_id says.",
            "compare with pad_id; in some vocabularies 0 is a real token.",
        ),
        Mistake(
            "positive is real",
            lambda tokens, pad_id: (tokens > pad_id)[:, None, None],
            "every token whose id is below pad_id was hidden as well.",
            "ask whether a token differs from pad_id, not whether it is larger.",
        ),
        Mistake(
            "first item for all",
            lambda tokens, pad_id: (tokens[:1] != pad_id).expand_as(tokens)[:, None, None],
            "the padding of the first sentence, used for every sentence of the batch.",
            "compare the whole of tokens; each row has padding of its own.",
        ),
        Mistake(
            "from the lengths",
            _by_length,
            "a mask that puts all real tokens first. In one of the cases the padding stands on the left or in between.",
            "ask each token by itself whether it is padding.",
        ),
        Mistake(
            "hidden from the first padding on",
            lambda tokens, pad_id: (tokens != pad_id).long().cumprod(-1).bool()[:, None, None],
            "everything behind the first padding is hidden. In some cases the padding stands on the left or in between.",
            "ask each token by itself whether it is padding.",
        ),
        Mistake(
            "hidden behind the last token",
            lambda tokens, pad_id: (tokens != pad_id).flip(-1).long().cummax(-1).values.flip(-1).bool()[:, None, None],
            "only padding behind the last real token is hidden. In some cases it stands on the left or in between.",
            "ask each token by itself whether it is padding.",
        ),
        Mistake(
            "0 hidden as well",
            lambda tokens, pad_id: ((tokens != pad_id) & (tokens != 0))[:, None, None],
            "the token 0 is hidden as well, also where it is no padding.",
            "compare with pad_id alone; in some vocabularies 0 is a real token.",
        ),
        Mistake(
            "zeros and ones",
            lambda tokens, pad_id: (tokens != pad_id).float()[:, None, None],
            "a mask of the numbers 0 and 1. PyTorch would add a float mask to the scores.",
            "leave the comparison as it is: its result is boolean.",
        ),
        Mistake(
            "additive",
            lambda tokens, pad_id: torch.zeros(tokens.shape).masked_fill(tokens == pad_id, -math.inf)[:, None, None],
            "an additive mask, 0 and minus infinity; asked for is a boolean one.",
            "return the comparison itself, with two axes added.",
        ),
    ),
    advice="print mask.shape, and mask[0, 0, 0] next to tokens[0].",
)

# 5.2, 5.6 -------------------------------------------------------------------------------------------------------------


def _causal_inputs(seed):
    rng = torch.Generator().manual_seed(seed)
    cases = [{"L_q": 3, "L_k": 3}, {"L_q": 2, "L_k": 5}, {"L_q": 1, "L_k": 6}, {"L_q": 4, "L_k": 5}]
    L_q = int(torch.randint(4, 8, (), generator=rng))
    return [*cases, {"L_q": L_q, "L_k": L_q + int(torch.randint(2, 6, (), generator=rng))}]


def _distance(L_q, L_k, offset=None):
    """How far key j lies behind query i, aligned bottom-right unless ``offset`` says otherwise."""
    offset = L_k - L_q if offset is None else offset
    return torch.arange(L_q)[:, None] + offset - torch.arange(L_k)


def _call_with_numbers(answer, case):
    """All arguments are numbers, which no answer can change in place."""
    return answer(*case.values())


def _causal_loop(L_q, L_k):
    return torch.tensor([[j <= i + L_k - L_q for j in range(L_k)] for i in range(L_q)])


CAUSAL = Exercise(
    number="5.2",
    title="A causal mask that works with a cache",
    points=3,
    inputs=_causal_inputs,
    call=_call_with_numbers,
    reference=lambda L_q, L_k: masks.causal_mask(L_q, L_k)[0, 0],
    returns=("mask",),
    off_limits=("course_utils.masks.causal_mask", "course_utils.masks.sliding_window_mask"),
    alternatives=(
        Alternative("two loops", _causal_loop),
        Alternative("distances", lambda L_q, L_k: _distance(L_q, L_k) >= 0),
        Alternative("tril", lambda L_q, L_k: torch.ones(L_q, L_k, dtype=torch.bool).tril(L_k - L_q)),
        Alternative(
            "old keys, then a triangle",
            lambda L_q, L_k: torch.cat([torch.ones(L_q, L_k - L_q), torch.ones(L_q, L_q).tril()], dim=1).bool(),
        ),
        Alternative("not triu", lambda L_q, L_k: ~torch.ones(L_q, L_k, dtype=torch.bool).triu(L_k - L_q + 1)),
        Alternative("last rows of a square", lambda L_q, L_k: torch.ones(L_k, L_k).tril().bool()[L_k - L_q :]),
        Alternative("the course's own", lambda L_q, L_k: masks.causal_mask(L_q, L_k)[0, 0], off_limits=True),
    ),
    mistakes=(
        Mistake(
            "top-left",
            lambda L_q, L_k: _distance(L_q, L_k, 0) >= 0,
            "a causal mask aligned top-left: with L_q < L_k your last query misses the newest keys.",
            "query i stands at position i + (L_k - L_q); compare that with j.",
        ),
        Mistake(
            "diagonal masked",
            lambda L_q, L_k: _distance(L_q, L_k) > 0,
            "the diagonal is masked too: no token can see itself.",
            "allow a query its own position: use <=, not <.",
        ),
        Mistake(
            "diagonal masked, top-left",
            lambda L_q, L_k: _distance(L_q, L_k, 0) > 0,
            "two things at once: the diagonal is masked, and the mask is aligned top-left.",
            "use <=, and let query i stand at position i + (L_k - L_q).",
        ),
        Mistake(
            "one step ahead",
            lambda L_q, L_k: _distance(L_q, L_k) >= -1,
            "every query sees one key of the future: the diagonal is off by one.",
            "the last key a query may see is the one at its own position.",
        ),
        Mistake(
            "polarity inverted",
            lambda L_q, L_k: _distance(L_q, L_k) < 0,
            "a mask of the other polarity: True marks the future.",
            "True means may attend; turn it around with ~.",
        ),
        Mistake(
            "transposed",
            lambda L_q, L_k: torch.ones(L_q, L_k, dtype=torch.bool).triu(),
            "the upper triangle: queries see themselves and the future, not the past.",
            "rows are queries and columns keys; keep the lower triangle.",
        ),
        Mistake(
            "offset on the wrong side",
            lambda L_q, L_k: _distance(L_q, L_k, L_q - L_k) >= 0,
            "the shift has the wrong sign: with L_q < L_k the first queries see nothing.",
            "the queries are the last positions, so add L_k - L_q to the query's index.",
        ),
        Mistake(
            "square, then ones",
            lambda L_q, L_k: torch.cat([torch.ones(L_q, L_q).tril(), torch.ones(L_q, L_k - L_q)], dim=1).bool(),
            "the triangle stands at the oldest keys, and the newest ones are open to all queries.",
            "the cached keys come first: the triangle belongs in the last L_q columns.",
        ),
        Mistake(
            "open as soon as the lengths differ",
            lambda L_q, L_k: torch.ones(L_q, L_k, dtype=torch.bool).tril(0 if L_q == L_k else L_k),
            "with L_q < L_k your mask hides nothing. That is right for one new query only.",
            "the new queries may not see one another's future either.",
        ),
        Mistake(
            "square",
            lambda L_q, L_k: torch.ones(L_q, L_q, dtype=torch.bool).tril(),
            "a square mask of the size of the queries.",
            "it needs L_q rows and L_k columns.",
        ),
        Mistake(
            "zero times infinity",
            lambda L_q, L_k: torch.ones(L_q, L_k).triu(L_k - L_q + 1) * -math.inf,
            "a triangle of zeros and ones times minus infinity: 0 times infinity is NaN.",
            "compare indices, or use masked_fill where you need minus infinity.",
        ),
        Mistake(
            "additive",
            lambda L_q, L_k: torch.zeros(L_q, L_k).masked_fill(_distance(L_q, L_k) < 0, -math.inf),
            "an additive mask, 0 and minus infinity; asked for is a boolean one.",
            "return booleans: True where the query may attend.",
        ),
        Mistake(
            "zeros and ones",
            lambda L_q, L_k: torch.ones(L_q, L_k).tril(L_k - L_q),
            "a mask of the numbers 0 and 1. PyTorch would add a float mask to the scores.",
            "make it boolean with .bool(), or build it with dtype=torch.bool.",
        ),
    ),
    advice="write down the mask for L_q=2, L_k=5 by hand: the last query sees all five keys.",
)


def _window_inputs(seed):
    rng = torch.Generator().manual_seed(seed)
    cases = [{"L_q": 4, "L_k": 4, "window": 2}, {"L_q": 2, "L_k": 6, "window": 3}, {"L_q": 5, "L_k": 7, "window": 1}]
    L_q = int(torch.randint(5, 8, (), generator=rng))
    return [*cases, {"L_q": L_q, "L_k": L_q + 2, "window": 4}, {"L_q": 3, "L_k": 5, "window": 9}]


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


WINDOW = Exercise(
    number="5.6",
    title="A sliding window",
    points=2,
    inputs=_window_inputs,
    call=_call_with_numbers,
    reference=lambda L_q, L_k, window: masks.sliding_window_mask(L_q, L_k, window=window)[0, 0],
    returns=("mask",),
    off_limits=("course_utils.masks.causal_mask", "course_utils.masks.sliding_window_mask"),
    alternatives=(
        Alternative("loop over queries", _window_loop),
        Alternative("distances", _window(lambda d, w: (d >= 0) & (d < w))),
        Alternative(
            "tril and triu",
            lambda L_q, L_k, w: torch.ones(L_q, L_k, dtype=torch.bool).tril(L_k - L_q).triu(L_k - L_q - w + 1),
        ),
        Alternative(
            "one triangle minus another",
            lambda L_q, L_k, w: torch.ones(L_q, L_k).tril(L_k - L_q) > torch.ones(L_q, L_k).tril(L_k - L_q - w),
        ),
        Alternative(
            "the course's own",
            lambda L_q, L_k, window: masks.sliding_window_mask(L_q, L_k, window=window)[0, 0],
            off_limits=True,
        ),
    ),
    mistakes=(
        Mistake(
            "window one too wide",
            _window(lambda d, w: (d >= 0) & (d <= w)),
            "a window off by one: queries see window + 1 keys.",
            "the query's own position counts; the oldest key lies window - 1 steps back.",
        ),
        Mistake(
            "window one too narrow",
            _window(lambda d, w: (d >= 0) & (d < w - 1)),
            "a window off by one: queries see window - 1 keys.",
            "window counts the query's own position once; distances 0 to window - 1 are allowed.",
        ),
        Mistake(
            "own position masked",
            _window(lambda d, w: (d > 0) & (d <= w)),
            "the window ends before the query's own position: no token can see itself.",
            "start at distance 0.",
        ),
        Mistake(
            "both sides",
            _window(lambda d, w: d.abs() < w),
            "a window to both sides: queries see the future.",
            "the distance must also be at least 0.",
        ),
        Mistake(
            "window not used",
            _window(lambda d, w: d >= 0),
            "a plain causal mask: the window plays no part.",
            "also hide what lies window or more steps back.",
        ),
        Mistake(
            "joined by or",
            _window(lambda d, w: (d >= 0) | (d < w)),
            "the two conditions are joined by or, and one of them always holds.",
            "a key must be past AND near: use &.",
        ),
        Mistake(
            "top-left",
            _window(lambda d, w: (d >= 0) & (d < w), 0),
            "a window aligned top-left: with L_q < L_k your last query misses the newest keys.",
            "query i stands at position i + (L_k - L_q).",
        ),
        Mistake(
            "near edge top-left",
            lambda L_q, L_k, w: torch.ones(L_q, L_k, dtype=torch.bool).tril().triu(L_k - L_q - w + 1),
            "two alignments: the window ends top-left and begins bottom-right.",
            "shift both edges by L_k - L_q.",
        ),
        Mistake(
            "far edge top-left",
            lambda L_q, L_k, w: torch.ones(L_q, L_k, dtype=torch.bool).tril(L_k - L_q).triu(1 - w),
            "two alignments: the window ends bottom-right, but begins top-left, so that it is too wide.",
            "shift both edges by L_k - L_q.",
        ),
        Mistake(
            "slice from a negative index",
            _window_by_slices,
            "a slice that begins at a negative index counts from the end: your early queries lose their keys.",
            "begin at max(0, position - window + 1).",
        ),
        Mistake(
            "blocks",
            lambda L_q, L_k, w: (
                (_distance(L_q, L_k) >= 0) & (torch.arange(L_k - L_q, L_k)[:, None] // w == torch.arange(L_k) // w)
            ),
            "blocks of window positions instead of a window that slides: the first query of a block sees itself only.",
            "ask how far the key lies behind the query, not in which block the two are.",
        ),
        Mistake(
            "polarity inverted",
            _window(lambda d, w: ~((d >= 0) & (d < w))),
            "a mask of the other polarity: True marks what is hidden.",
            "True means may attend; turn it around with ~.",
        ),
        Mistake(
            "outside the window",
            _window(lambda d, w: d >= w),
            "the far past is allowed and the window hidden.",
            "allow distances from 0 to window - 1.",
        ),
        Mistake(
            "into the future",
            _window(lambda d, w: (d <= 0) & (d > -w)),
            "the window looks forward: it holds the query and what comes after it.",
            "the distance is the query's position minus the key's; it must be at least 0.",
        ),
    ),
    advice="count the True entries of the last row: there must be min(window, L_k).",
)

# 5.3 ------------------------------------------------------------------------------------------------------------------


def _random_mask(shape, rng):
    """Random booleans in which every row allows something and hides something."""
    keep = torch.rand(shape, generator=rng) > 0.4
    one = torch.randint(shape[-1], shape[:-1], generator=rng)
    keep |= F.one_hot(one, shape[-1]).bool()
    return keep & ~F.one_hot((one + 1) % shape[-1], shape[-1]).bool()


def _one_key_mask(shape, rng):
    """One True in every row: its weight is exactly 1, however low the scores and however the softmax is written."""
    return F.one_hot(torch.randint(shape[-1], shape[:-1], generator=rng), shape[-1]).bool()


LOW = -100_000.0  # below any number that an answer may take for "low enough" and float16 can hold


def _low_scores(lead, L_q, L_k, rng):
    """Queries and keys whose scores are all near LOW and ordinary otherwise; exact, in whatever order they are added."""
    query, key = ((4 * torch.randn(*lead, length, 16, generator=rng)).round() / 4 for length in (L_q, L_k))
    query[..., 0], key[..., 0] = 512.0, LOW * 4 / 512  # divided by the root of 16
    return query, key


def _attention_inputs(seed):
    rng = torch.Generator().manual_seed(seed)
    cases = []
    sizes = (
        (1, 2, 3, 2, 1, (2, 3)),
        (2, 5, 7, 4, 3, (2, 5, 7)),
        (3, 4, 6, 8, 5, (3, 1, 6)),
        (2, 3, 5, 2, 4, (3, 5)),
    )
    for batch, length_q, length_k, d_k, d_v, shape in sizes:
        query = torch.randn(batch, length_q, d_k, generator=rng)
        key = torch.randn(batch, length_k, d_k, generator=rng)
        value = torch.randn(batch, length_k, d_v, generator=rng)
        cases.append({"query": query, "key": key, "value": value, "mask": _random_mask(shape, rng)})
    # Half precision, built so that every right way gives the same bits: equal scores, 1, 2 or 4 keys, whole numbers.
    half = {
        "query": torch.zeros(1, 3, 4, dtype=torch.float16),
        "key": torch.randn(1, 6, 4, generator=rng).half(),
        "value": torch.randint(-8, 9, (1, 6, 2), generator=rng).half(),
        "mask": torch.tensor([[1, 0, 0, 0, 0, 0], [1, 1, 0, 0, 0, 0], [1, 0, 1, 1, 1, 0]]).bool(),
    }
    query, key = _low_scores((2,), 3, 5, rng)
    low = {
        "query": query,
        "key": key,
        "value": torch.randn(2, 5, 4, generator=rng),
        "mask": _one_key_mask((2, 3, 5), rng),
    }
    return [*cases, half, low]


def _attend(scores=None, weights=None, scale=None):
    """Attention with one step replaced: ``scores(scores, mask)`` or ``weights(scores, mask)``."""

    def answer(query, key, value, mask):
        raw = query @ key.transpose(-2, -1) / (query.shape[-1] ** 0.5 if scale is None else scale(query))
        w = weights(raw, mask) if weights is not None else torch.softmax((scores or _hidden)(raw, mask), dim=-1)
        return w @ value, w

    return answer


def _hidden(scores, mask):
    return scores.masked_fill(~mask, -math.inf)


def _log_softmax(scores):
    return scores - scores.logsumexp(dim=-1, keepdim=True)


def _attend_loop(query, key, value, mask):
    batch, length_q, d_k = query.shape
    mask = mask.expand(batch, length_q, key.shape[1])
    weights = torch.zeros(mask.shape, dtype=query.dtype)
    for b in range(batch):
        for i in range(length_q):
            seen = mask[b, i].nonzero().flatten()
            scores = torch.stack([(query[b, i] * key[b, j]).sum() for j in seen]) / d_k**0.5
            weights[b, i, seen] = torch.softmax(scores, dim=-1)
    return torch.einsum("bij,bje->bie", weights, value), weights


def _in_float32(query, key, value, mask):
    return tuple(part.to(query.dtype) for part in _attend()(query.float(), key.float(), value.float(), mask))


def _renormalized(scores, mask):
    weights = torch.softmax(scores, dim=-1) * mask
    return weights / weights.sum(-1, keepdim=True)


ATTENTION = Exercise(
    number="5.3",
    title="Masked attention",
    points=3,
    inputs=_attention_inputs,
    reference=attention.scaled_dot_product_attention,
    returns=("output", "weights"),
    off_limits=(
        "torch.nn.functional.scaled_dot_product_attention",
        "course_utils.attention.scaled_dot_product_attention",
        "course_utils.attention.masked_softmax",
    ),
    alternatives=(
        Alternative("loop over queries", _attend_loop),
        Alternative("masked_fill", _attend()),
        Alternative("where", _attend(lambda s, m: torch.where(m, s, -math.inf))),
        Alternative(
            "additive mask", _attend(lambda s, m: s + torch.zeros_like(s).masked_fill(~m.expand_as(s), -math.inf))
        ),
        Alternative("logarithm of the mask", _attend(lambda s, m: s + m.to(s.dtype).log())),
        Alternative("computed in float32", _in_float32),
        Alternative("exponential of the log-softmax", _attend(weights=lambda s, m: _log_softmax(_hidden(s, m)).exp())),
        Alternative("smallest of the type", _attend(lambda s, m: s.masked_fill(~m, torch.finfo(s.dtype).min))),
        Alternative("zeroed and renormalized", _attend(weights=_renormalized)),
        Alternative(
            "PyTorch's own",
            lambda q, k, v, m: (
                F.scaled_dot_product_attention(q, k, v, m),
                F.scaled_dot_product_attention(q, k, torch.eye(k.shape[1], dtype=q.dtype).expand(len(k), -1, -1), m),
            ),
            off_limits=True,
        ),
        Alternative(
            "the course's own",
            lambda q, k, v, m: attention.scaled_dot_product_attention(q, k, v, m),
            off_limits=True,
        ),
    ),
    mistakes=(
        Mistake(
            "mask not used",
            _attend(lambda s, m: s),
            "attention without a mask: the argument is accepted and never used.",
            "hide the scores where the mask is False, before the softmax.",
        ),
        Mistake(
            "polarity inverted",
            _attend(lambda s, m: s.masked_fill(m, -math.inf)),
            "the mask was read the other way round: what it allows is hidden, what it hides is seen.",
            "True means may attend, so fill where the mask is False: ~mask.",
        ),
        Mistake(
            "zeroed after the softmax",
            _attend(weights=lambda s, m: torch.softmax(s, dim=-1) * m),
            "weights were set to 0 after the softmax: the rows no longer sum to 1.",
            "set the scores to minus infinity before the softmax.",
        ),
        Mistake(
            "scores set to 0",
            _attend(lambda s, m: s.masked_fill(~m, 0.0)),
            "hidden scores were set to 0 before the softmax, and exp(0) is 1: hidden keys keep weight.",
            "the score of a hidden key must be minus infinity, whose exponential is 0.",
        ),
        Mistake(
            "boolean added",
            _attend(lambda s, m: s + m.to(s.dtype)),
            "the mask was added to the scores as zeros and ones: that changes the scores by 1 and hides nothing.",
            "an additive mask needs 0 for allowed and minus infinity for hidden.",
        ),
        Mistake(
            "zero times infinity",
            _attend(lambda s, m: s + (~m).to(s.dtype) * -math.inf),
            "every row is NaN. Zeros and ones times infinity do that (0 times infinity is NaN), PLUS infinity does too.",
            "fill instead of multiplying: masked_fill(~mask, minus infinity).",
        ),
        Mistake(
            "fill value not low enough",
            _attend(lambda s, m: s.masked_fill(~m, -1e4)),
            "a fill value such as -1e4 or -65504: where allowed scores lie lower, hidden keys win all the weight.",
            "fill with float('-inf'), below which there is nothing.",
        ),
        Mistake(
            "no shift",
            _attend(weights=lambda s, m: (e := s.exp() * m) / e.sum(-1, keepdim=True)),
            "exponentials without a shift: where all scores are very low each exponential is 0, and 0 / 0 is NaN.",
            "use torch.softmax, or subtract the largest allowed score of each row first.",
        ),
        Mistake(
            "first query's mask for all",
            _attend(lambda s, m: _hidden(s, m[..., :1, :])),
            "the mask of the first query was used for every query.",
            "keep all rows of the mask.",
        ),
        Mistake(
            "output alone",
            lambda *given: _attend()(*given)[0],
            "the output alone.",
            "return both: output, weights.",
        ),
        Mistake(
            "weights first",
            lambda *given: _attend()(*given)[::-1],
            "the two results in the other order: weights first.",
            "return output, weights.",
        ),
        Mistake(
            "weights not masked",
            lambda *given: (_attend()(*given)[0], _attend(lambda s, m: s)(*given)[1]),
            "the output is right, but the weights beside it are those of a softmax without the mask.",
            "hand back the weights that you multiply the values with.",
        ),
        Mistake(
            "fill value too large for half precision",
            _attend(lambda s, m: s.masked_fill(~m, -1e9)),
            "a fill value such as -1e9 or -1e20: no float16 number is that large.",
            "fill with float('-inf'), which every floating-point type has.",
        ),
        Mistake(
            "added fill value too large for half precision",
            _attend(lambda s, m: s + (~m) * -1e9),
            "a fill value such as -1e9 was added: float16 cannot hold it, so the scores became float32.",
            "use masked_fill with float('-inf'); it keeps the dtype.",
        ),
        Mistake(
            "sign lost",
            _attend(lambda s, m: s.masked_fill(~m, 1e4)),
            "hidden scores were set to a large POSITIVE number, so hidden keys get all the weight.",
            "the fill value is minus infinity.",
        ),
        Mistake(
            "over the queries",
            _attend(weights=lambda s, m: torch.nan_to_num(torch.softmax(_hidden(s, m), dim=-2))),
            "a softmax over the queries (dim=-2): your columns sum to 1, your rows should.",
            "normalize over the keys, dim=-1.",
        ),
        Mistake(
            "first item's mask for all",
            _attend(lambda s, m: _hidden(s, m[:1] if m.dim() == 3 else m)),
            "the mask of the first batch item was used for every item.",
            "keep the batch axis of the mask: use mask, not mask[0].",
        ),
        Mistake(
            "not scaled",
            _attend(scale=lambda query: 1.0),
            "the mask is right, but the scores are not divided by sqrt(d_k).",
            "divide by query.shape[-1] ** 0.5, as in lesson 04.",
        ),
        Mistake(
            "divided by d_k",
            _attend(scale=lambda query: query.shape[-1]),
            "the mask is right, but the scores are divided by d_k instead of its square root.",
            "divide by query.shape[-1] ** 0.5.",
        ),
        Mistake(
            "hard maximum",
            _attend(weights=lambda s, m: F.one_hot(_hidden(s, m).argmax(-1), s.shape[-1]).to(s.dtype)),
            "all the weight on the best key that may be seen: a hard maximum.",
            "use a softmax, which gives every allowed key its share.",
        ),
    ),
    advice="print the weights where the mask is False (all must be 0) and the sum of each row (all must be 1).",
)

# 5.4 ------------------------------------------------------------------------------------------------------------------


def _combine_inputs(seed):
    rng = torch.Generator().manual_seed(seed)
    pad = torch.rand(2, 1, 1, 7, generator=rng) > 0.3
    causal = masks.causal_mask(5, 7)
    heads = torch.rand(1, 3, 1, 1, generator=rng) > 0.3
    free = torch.rand(2, 3, 5, 7, generator=rng) > 0.4
    small = torch.tensor([[True, True, False]]), torch.tensor([[True], [False]])
    return [
        {"masks": [*small]},
        {"masks": [torch.tensor([[True, False]]), torch.tensor([[False, False]])]},
        {"masks": [pad, causal]},
        {"masks": [None, pad, None, causal]},
        {"masks": [causal, pad, free, heads]},
        {"masks": [None, None]},
        {"masks": []},
        {"masks": [None, pad]},
    ]


def _call_combine(answer, case):
    result = answer(*case["masks"])
    if isinstance(result, str):
        return f"the text {result!r}"  # so that no text passes for None
    return "no mask (None)" if result is None else result


def _joined(join, skip=True):
    """Masks joined pairwise by ``join``; None skipped or not."""

    def answer(*masks):
        given = [mask for mask in masks if mask is not None] if skip else list(masks)
        return functools.reduce(join, given) if given else None

    return answer


def _combine_loop(*masks):
    result = None
    for mask in masks:
        if mask is None:
            continue
        result = mask if result is None else result & mask
    return result


def _combine_stack(*masks):
    given = [mask for mask in masks if mask is not None]
    return torch.stack(torch.broadcast_tensors(*given)).all(0) if given else None


def _not_any_hidden(given):
    return ~functools.reduce(operator.or_, [~mask for mask in given]) if given else None


def _combine_in_place(*masks):
    given = [mask for mask in masks if mask is not None]
    for mask in given[1:]:
        given[0] &= mask
    return given[0] if given else None


def _all_true_for_none(*masks):
    return _combine_loop(torch.tensor(True), *masks)


COMBINE = Exercise(
    number="5.4",
    title="Combine masks",
    points=2,
    inputs=_combine_inputs,
    call=_call_combine,
    reference=masks.combine_masks,
    returns=("combined mask",),
    off_limits=("course_utils.masks.combine_masks",),
    alternatives=(
        Alternative("loop", _combine_loop),
        Alternative("reduce", _joined(operator.and_)),
        Alternative("logical_and", _joined(torch.logical_and)),
        Alternative("stack and all", _combine_stack),
        Alternative("hidden by any", lambda *given: _not_any_hidden([mask for mask in given if mask is not None])),
        Alternative("product of booleans", _joined(operator.mul)),
        Alternative("the course's own", lambda *given: masks.combine_masks(*given), off_limits=True),
    ),
    mistakes=(
        Mistake(
            "joined by or",
            _joined(operator.or_),
            "masks joined by or (a sum of booleans is one too): what ANY mask allows is seen.",
            "a key must be allowed by ALL masks: join them by and, &.",
        ),
        Mistake(
            "first only",
            lambda *given: next((mask for mask in given if mask is not None), None),
            "the first mask alone; the others are not used.",
            "go on through all masks.",
        ),
        Mistake(
            "last wins",
            lambda *given: next((mask for mask in reversed(given) if mask is not None), None),
            "the last mask alone: each mask replaced the one before.",
            "join each mask to what you have so far.",
        ),
        Mistake(
            "exclusive or",
            _joined(operator.xor),
            "masks joined by exclusive or: what exactly one mask allows.",
            "a key must be allowed by ALL masks: join them by and, &.",
        ),
        Mistake(
            "equal",
            _joined(operator.eq),
            "True where the masks agree, also where both hide.",
            "both must be True: use &, not ==.",
        ),
        Mistake(
            "hidden and",
            lambda *given: _combine_loop(*(None if mask is None else ~mask for mask in given)),
            "the masks were inverted first, as if True meant hidden.",
            "True means may attend; join the masks as they are.",
        ),
        Mistake(
            "result inverted",
            lambda *given: None if (found := _combine_loop(*given)) is None else ~found,
            "the right mask turned around: True marks what is hidden.",
            "leave the last ~ out.",
        ),
        Mistake(
            "None not skipped",
            _joined(operator.and_, skip=False),
            "None was joined like a mask.",
            "leave the entries out that are None before you join the rest.",
        ),
        Mistake(
            "truth of a tensor",
            lambda *given: _combine_loop(*(mask for mask in given if mask)),
            "`if mask` asks a whole tensor for one truth value, which it has not.",
            "ask whether it is None: `if mask is not None`.",
        ),
        Mistake(
            "Python's and",
            _joined(lambda a, b: a and b),
            "the word `and` asks a whole tensor for one truth value, which it has not.",
            "use &, which works entry by entry.",
        ),
        Mistake(
            "two masks only",
            lambda *given: _combine_loop(*[mask for mask in given if mask is not None][:2]),
            "the first two masks are joined; what comes after them is not used.",
            "go on through all masks.",
        ),
        Mistake(
            "empty not provided for",
            lambda *given: functools.reduce(operator.and_, [mask for mask in given if mask is not None]),
            "the masks are joined well, but if none is left the code stops.",
            "return None if nothing is left to join.",
        ),
        Mistake(
            "one None, no mask",
            lambda *given: None if any(mask is None for mask in given) else _combine_loop(*given),
            "one None made the whole result None, so that the other masks are lost.",
            "None means no mask from this side; the others still count.",
        ),
        Mistake(
            "in place",
            _combine_in_place,
            "the first mask is changed in place (&= or logical_and_): its owner loses it, and it cannot grow in shape.",
            "write result = result & mask.",
        ),
        Mistake(
            "all True instead of None",
            _all_true_for_none,
            "without any mask you return a tensor of True; asked for is None.",
            "return None if nothing is left after the entries that are None are taken out.",
        ),
        Mistake(
            "numbers",
            _joined(lambda a, b: a.int() * b.int()),
            "the product of zeros and ones: right in value, but no longer boolean.",
            "use & on the booleans.",
        ),
    ),
    advice="join a padding mask (2, 1, 1, 7) with a causal mask (1, 1, 5, 7): the result has shape (2, 1, 5, 7).",
)

# 5.5 ------------------------------------------------------------------------------------------------------------------


def _empty_row_inputs(seed):
    rng = torch.Generator().manual_seed(seed)
    cases = [{"scores": torch.tensor([[0.0, 1.0, 2.0], [1.0, 0.0, 0.5]]), "mask": torch.tensor([[True] * 2 + [False]])}]
    cases[0]["mask"] = torch.cat([cases[0]["mask"], torch.zeros(1, 3, dtype=torch.bool)])
    full = _random_mask((2, 5, 7), rng)
    full[0, 1], full[1, 4] = False, False
    cases.append({"scores": torch.randn(2, 5, 7, generator=rng), "mask": full})
    pad = _random_mask((3, 1, 6), rng)
    pad[1] = False
    cases.append({"scores": torch.randn(3, 4, 6, generator=rng), "mask": pad})
    hidden = _random_mask((4, 5), rng)
    hidden[2] = False
    scores = torch.randn(4, 5, generator=rng) + 100.0 * torch.tensor([[1.0], [-1.0], [1.0], [0.0]])
    cases.append({"scores": scores + 200.0 * ~hidden, "mask": hidden})
    cases.append({"scores": torch.randn(2, 6, generator=rng) + LOW, "mask": _one_key_mask((2, 6), rng)})
    cases.append({"scores": torch.randn(3, 8, generator=rng), "mask": _random_mask((3, 8), rng)})
    for case in cases:
        case["factors"] = torch.randn(case["scores"].shape, generator=rng)
    return cases


def _call_with_gradient(answer, case):
    """The weights, and the gradient of ``(weights * factors).sum()`` with respect to the scores."""
    scores = case["scores"].requires_grad_()  # the case is a copy already, and a change in place shall be seen
    weights = answer(scores, case["mask"])
    if not isinstance(weights, Tensor):
        return weights, "no gradient"
    seen = weights.detach().clone()
    if not weights.requires_grad or weights.shape != scores.shape:
        return seen, "no gradient: the weights do not depend on the scores"
    (gradient,) = torch.autograd.grad((weights * case["factors"]).sum(), scores, allow_unused=True)
    if gradient is None:
        return seen, "no gradient: the weights do not depend on the scores"
    return seen, gradient


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
    return powers / (powers.sum(-1, keepdim=True) + 1e-9)


def _filled_in_place(scores, mask):
    with torch.no_grad():
        scores.masked_fill_(~mask, -1e9)
    return torch.softmax(scores, -1) * mask


EMPTY_ROWS = Exercise(
    number="5.5",
    title="Rows in which everything is masked",
    points=4,
    inputs=_empty_row_inputs,
    call=_call_with_gradient,
    reference=attention.masked_softmax,
    returns=("weights", "gradient"),
    off_limits=(
        "course_utils.attention.masked_softmax",
        "course_utils.attention.scaled_dot_product_attention",
        "torch.nn.functional.scaled_dot_product_attention",
    ),
    alternatives=(
        Alternative("loop over rows", _masked_rows_loop),
        Alternative(
            "finite row first, zeroed afterwards",
            lambda s, m: torch.softmax(s.masked_fill(~(m | ~_open(m)), -math.inf), -1) * _open(m),
        ),
        Alternative("finite fill, zeroed afterwards", lambda s, m: torch.softmax(s.masked_fill(~m, -1e9), -1) * m),
        Alternative(
            "finite fill, empty rows zeroed", lambda s, m: torch.softmax(s.masked_fill(~m, -1e9), -1) * _open(m)
        ),
        Alternative(
            "lowest of the type, then where",
            lambda s, m: torch.where(m, torch.softmax(s.masked_fill(~m, torch.finfo(s.dtype).min), -1), 0.0),
        ),
        Alternative("open rows only", _open_rows_only),
        Alternative("exponentials by hand", _by_hand),
        Alternative(
            "exponential of the log-softmax",
            lambda s, m: _log_softmax(_hidden(s, m).masked_fill(~_open(m), 0.0)).exp().masked_fill(~m, 0.0),
        ),
        # masked_fill sends no gradient back to what it filled, so that the NaN ends there.
        Alternative("masked_fill and nan_to_num", lambda s, m: torch.nan_to_num(torch.softmax(_hidden(s, m), -1))),
        Alternative("masked_fill and where", lambda s, m: torch.where(m, torch.softmax(_hidden(s, m), -1), 0.0)),
        Alternative("the course's own", lambda s, m: attention.masked_softmax(s, m), off_limits=True),
    ),
    mistakes=(
        Mistake(
            "NaN",
            lambda s, m: torch.softmax(_hidden(s, m), -1),
            "minus infinity everywhere in a row: the softmax divides 0 by 0, and the row becomes NaN.",
            "find the rows in which nothing is allowed (mask.any over the keys) and treat them apart.",
        ),
        Mistake(
            "uniform",
            lambda s, m: torch.softmax(s.masked_fill(~m, -1e9), -1),
            "a row in which everything is masked became uniform: its hidden keys all have the same score.",
            "set the weights to 0 where the mask is False, after the softmax.",
        ),
        Mistake(
            "uniform, fill value added",
            lambda s, m: torch.softmax(_bias(s, m, -1e9), -1),
            "a large negative number was added to the hidden scores: a row with nothing else becomes uniform.",
            "set the weights to 0 where the mask is False, after the softmax.",
        ),
        Mistake(
            "NaN in the gradient only",
            lambda s, m: torch.nan_to_num(torch.softmax(_bias(s, m), -1)),
            "NaN was replaced after the softmax. The weights look right, but the gradient is still NaN.",
            "keep NaN from arising: give such rows finite scores before the softmax, and zero them after it.",
        ),
        Mistake(
            "NaN, minus infinity added",
            lambda s, m: torch.softmax(_bias(s, m), -1),
            "minus infinity was added to a whole row: it becomes NaN, and so does its gradient.",
            "find the rows in which nothing is allowed (mask.any over the keys) and treat them apart.",
        ),
        Mistake(
            "zeroed after the softmax",
            lambda s, m: torch.softmax(s, -1) * m,
            "weights were set to 0 after a softmax over everything: rows that allow something do not sum to 1.",
            "hide the scores before the softmax too.",
        ),
        Mistake(
            "renormalized afterwards",
            lambda s, m: (w := torch.softmax(s, -1) * m) / (w.sum(-1, keepdim=True) + 1e-9),
            "the hidden keys were taken out after the exponentials: if a hidden score is large, nothing is left.",
            "hide the scores first, so that they take no part in the maximum or the sum.",
        ),
        Mistake(
            "no shift",
            _exponentials,
            "exponentials without a shift: exp(100) overflows, and exp(-100000) is 0.",
            "use torch.softmax, or subtract the maximum of the allowed scores of each row.",
        ),
        Mistake(
            "mask not used",
            lambda s, m: torch.softmax(s, -1),
            "a softmax without a mask: the argument is never used.",
            "hide the scores where the mask is False, before the softmax.",
        ),
        Mistake(
            "polarity inverted",
            lambda s, m: attention.masked_softmax(s, ~m),
            "the mask was read the other way round.",
            "True means may attend; fill where it is False.",
        ),
        Mistake(
            "rows with one hidden key zeroed",
            lambda s, m: torch.softmax(s.masked_fill(~m, -1e9), -1) * m.all(-1, keepdim=True),
            "every row that hides anything was set to 0: all was used where any was meant.",
            "a row is empty if mask.any over the keys is False.",
        ),
        Mistake(
            "fill value not low enough",
            lambda s, m: torch.softmax(s.masked_fill(~m, -1e4), -1) * m,
            "a fill value such as -1e4: where the allowed scores lie lower, the hidden keys take the weight first.",
            "fill with float('-inf') in rows that allow something.",
        ),
        Mistake(
            "over the queries",
            lambda s, m: torch.nan_to_num(torch.softmax(_hidden(s, m), -2)),
            "a softmax over the queries (dim=-2): your columns sum to 1, your rows should.",
            "normalize over the keys, dim=-1.",
        ),
        Mistake(
            "empty columns",
            lambda s, m: torch.softmax(_hidden(s, m).masked_fill(~m.any(-2, keepdim=True), 0.0), -1).masked_fill(
                ~m, 0.0
            ),
            "columns, keys that no query may see, were treated apart; it is the rows that may be empty.",
            "mask.any over the keys: dim=-1.",
        ),
        Mistake(
            "scores changed in place",
            _filled_in_place,
            "the weights are right, but the caller's scores were overwritten (masked_fill_, .data or scores[...] =).",
            "use masked_fill without the underscore: it makes a new tensor.",
        ),
        Mistake(
            "weights left in empty rows",
            lambda s, m: torch.softmax(s.masked_fill(~(m | ~_open(m)), -math.inf), -1),
            "an empty row was opened to all keys, and its weights were never taken back.",
            "set the weights to 0 where the mask is False, after the softmax.",
        ),
        Mistake(
            "gradient cut",
            lambda s, m: attention.masked_softmax(s.detach(), m),
            "the weights are right, but cut off from the scores (detach, no_grad or .data): nothing can learn.",
            "compute with the scores as they come.",
        ),
    ),
    advice="print the weights of an empty row, then call backward() and print scores.grad.",
)

# 5.7 ------------------------------------------------------------------------------------------------------------------

LEAK_CASES = {
    "no mask": True,
    "causal": False,
    "one step ahead": True,
    "window of 2": False,
    "only the first query sees the future": True,
    "only the last key leaks": True,
    "running mean": False,
    "future zeroed after the softmax": True,
    "leaks in the second item only": True,
    "one query sees the next key": True,
    "each token by itself": False,
    "mean of the past without itself": False,
    "sees three steps ahead only": True,
    "faint": True,
    "entry by entry": True,
    "normalized first": True,
    "normalized first, causal": False,
}


def _attend_by_name(name):
    """The attention-like function that a case names: ``(B, L, d) -> (B, L, d)``."""

    def attend(x):
        length, size = x.shape[-2:]
        if name == "running mean":
            return x.cumsum(1) / torch.arange(1, length + 1)[:, None]
        if name == "faint":
            return x + 4e-4 * x.mean(1, keepdim=True)
        if name == "entry by entry":  # the last entry of a token passes on to the token before, the others stay apart
            return torch.cat([x[..., :-1], x[..., -1:].roll(-1, 1)], dim=-1)
        if name.startswith("normalized first"):
            x = F.layer_norm(x, (size,), eps=1e-12)
        if name == "mean of the past without itself":
            return F.pad(x, (0, 0, 1, 0))[:, :-1].cumsum(1) / torch.arange(length).clamp(min=1)[:, None]
        w_q, w_k, w_v = _projections(size)
        scores = (x @ w_q) @ (x @ w_k).transpose(-2, -1) / size**0.5
        if name == "future zeroed after the softmax":
            return torch.softmax(scores, -1).tril() @ (x @ w_v)
        # No row is empty, so that a plain softmax will do.
        return torch.softmax(scores.masked_fill(~_leaky_mask(name, len(x), length), -math.inf), -1) @ (x @ w_v)

    return attend


@functools.cache
def _projections(size):
    return torch.randn(3, size, size, generator=torch.Generator().manual_seed(size)) / size**0.5


@functools.cache
def _leaky_mask(name, batch, length):
    distance = _distance(length, length)
    mask = (distance >= 0).expand(batch, length, length).clone()
    if name in ("no mask", "normalized first"):
        mask[:] = True
    elif name == "one step ahead":
        mask |= distance == -1
    elif name == "window of 2":
        mask &= distance < 2
    elif name == "only the first query sees the future":
        mask[:, 0, 1:2] = True
    elif name == "only the last key leaks":
        mask[:, -2:, -1] = True
    elif name == "leaks in the second item only":
        mask[1:] = True
    elif name == "one query sees the next key":
        mask[:, 1:2, 2:3] = True
    elif name == "each token by itself":
        mask &= distance == 0
    elif name == "sees three steps ahead only":
        mask |= distance == -3
    return mask


def _leak_inputs(seed):
    rng = torch.Generator().manual_seed(seed)
    sizes = {"no mask": (1, 3, 2), "causal": (2, 4, 3)}  # the smallest first
    return [{"attend": name, "x": torch.randn(sizes.get(name, (2, 6, 4)), generator=rng)} for name in LEAK_CASES]


def _call_detector(answer, case):
    return answer(_attend_by_name(case["attend"]), case["x"])


def _detector(splits=None, change=None, part=None, atol=1e-6, items=slice(None)):
    """A leak detector: for each split t, ``change`` positions from t on, compare ``part`` of the outputs."""

    def answer(attend, x):
        before = attend(x)
        for t in range(1, x.shape[1]) if splits is None else splits(x.shape[1]):
            after = attend((change or _noise)(x, t))
            where = slice(0, t) if part is None else part(t)
            if not torch.allclose(after[items, where], before[items, where], atol=atol):
                return True
        return False

    return answer


def _shifted(x, t):
    return torch.cat([x[:, :t], x[:, t:] + 1], dim=1)


def _noise(x, t):
    rng = torch.Generator().manual_seed(t)
    return torch.cat([x[:, :t], torch.randn(x[:, t:].shape, generator=rng)], dim=1)


def _ramp(x, t):
    return torch.cat([x[:, :t], x[:, t:] + torch.arange(1, x.shape[-1] + 1)], dim=1)


def _one_entry(x, t):
    changed = x.clone()
    changed[:, t:, 0] += 1
    return changed


def _not_a_number(x, t):
    return torch.cat([x[:, :t], torch.full_like(x[:, t:], math.nan)], dim=1)


def _by_gradient(attend, x):
    leaf = x.clone().requires_grad_()
    out = attend(leaf)
    for i in range(x.shape[1] - 1):
        (gradient,) = torch.autograd.grad((out[:, i] ** 2).sum(), leaf, retain_graph=True)
        if gradient[:, i + 1 :].abs().max() > 0:
            return True
    return False


def _exact(attend, x):
    return any(not torch.equal(attend(_noise(x, t))[:, :t], attend(x)[:, :t]) for t in range(1, x.shape[1]))


def _by_prefix(attend, x):
    return any(not torch.allclose(attend(x[:, :t]), attend(x)[:, :t], atol=1e-5) for t in range(1, x.shape[1]))


def _by_jacobian(attend, x):
    jacobian = torch.autograd.functional.jacobian(attend, x).abs().sum((0, 2, 3, 5))  # (L_q, L_k)
    return bool((jacobian.triu(1) > 1e-7).any())


def _one_at_a_time(attend, x):
    before = attend(x)
    for j in range(1, x.shape[1]):
        changed = x.clone()
        changed[:, j] *= -2
        if (attend(changed)[:, :j] - before[:, :j]).abs().max().item() > 1e-5:
            return True
    return False


def _changed_in_place(attend, x):
    before = attend(x)
    found = False
    for t in range(x.shape[1] - 1, 0, -1):
        x[:, t:] += 1
        found = found or not torch.allclose(attend(x)[:, :t], before[:, :t], atol=1e-6)
    return found


LEAKS = Exercise(
    number="5.7",
    title="Write the leak detector",
    points=4,
    inputs=_leak_inputs,
    call=_call_detector,
    reference=_detector(),
    returns=("leaks",),
    alternatives=(
        Alternative("the future's sign", _detector(change=lambda x, t: torch.cat([x[:, :t], -x[:, t:]], 1))),
        Alternative("another number for each entry", _detector(change=_ramp)),
        Alternative("future set to zero", _detector(change=lambda x, t: torch.cat([x[:, :t], 0 * x[:, t:]], 1))),
        Alternative("one position at a time", _one_at_a_time),
        Alternative("exact comparison", _exact),
        Alternative("gradients", _by_gradient),
        Alternative("jacobian", _by_jacobian),
        Alternative("prefixes", _by_prefix),
        Alternative("large change", _detector(change=lambda x, t: torch.cat([x[:, :t], 20 * _noise(x, t)[:, t:]], 1))),
        Alternative("tolerance 1e-5", _detector(atol=1e-5)),
    ),
    mistakes=(
        Mistake(
            "everything compared",
            _detector(part=lambda t: slice(None)),
            "it says that everything leaks. Comparing the changed positions too does that: of course their outputs change.",
            "compare the outputs before position t only.",
        ),
        Mistake(
            "changed position compared",
            _detector(part=lambda t: slice(0, t + 1)),
            "position t, which was changed, is compared too: the slice is one too long.",
            "change from t on, and compare [:, :t].",
        ),
        Mistake(
            "past changed",
            _detector(change=lambda x, t: torch.cat([x[:, :t] + 1, x[:, t:]], dim=1), part=lambda t: slice(t, None)),
            "the past is changed and the future compared; the future may depend on the past.",
            "change the positions from t on, compare those before t.",
        ),
        Mistake(
            "answer turned around",
            lambda attend, x: not _detector()(attend, x),
            "the answers are the wrong way round: True for what does not leak.",
            "return True if a past output has changed.",
        ),
        Mistake(
            "last position only",
            _detector(splits=lambda length: [length - 1]),
            "only the last position is changed; a leak among earlier positions goes unnoticed.",
            "try every split t from 1 to L - 1.",
        ),
        Mistake(
            "first output only",
            _detector(splits=lambda length: [1]),
            "only the first output is compared; a leak into later outputs goes unnoticed.",
            "try every split t from 1 to L - 1.",
        ),
        Mistake(
            "one split",
            _detector(splits=lambda length: [length // 2]),
            "one split in the middle; a leak between two positions on the same side of it goes unnoticed.",
            "try every split t from 1 to L - 1.",
        ),
        Mistake(
            "last split forgotten",
            _detector(splits=lambda length: range(1, length - 1)),
            "the last split is missing: the last position is never changed alone.",
            "range(1, L) ends at L - 1.",
        ),
        Mistake(
            "first split forgotten",
            _detector(splits=lambda length: range(2, length)),
            "the first split is missing: what the first query sees beyond itself goes unnoticed.",
            "start at t = 1.",
        ),
        Mistake(
            "first item only",
            _detector(items=slice(0, 1)),
            "only the first item of the batch is compared.",
            "compare the whole batch: out[:, :t].",
        ),
        Mistake(
            "future reordered",
            _detector(change=lambda x, t: torch.cat([x[:, :t], x[:, t:].flip(1)], dim=1)),
            "the future is only reordered. Attention does not notice the order of its keys, so the leak stays hidden.",
            "put other numbers there: add something, or draw new ones.",
        ),
        Mistake(
            "one number for all entries",
            _detector(change=_shifted),
            "all entries of a token are moved, or stretched, by the same number; normalizing the token takes that out again.",
            "put other numbers there, a different one for each entry: torch.randn_like.",
        ),
        Mistake(
            "one entry changed",
            _detector(change=_one_entry),
            "only the first entry of each token is changed; a leak through the others goes unnoticed.",
            "change all entries of the positions from t on.",
        ),
        Mistake(
            "too generous",
            _detector(atol=1e-3),
            "differences of a thousandth or more pass for rounding, so that a faint leak goes unnoticed.",
            "compare with a tolerance near 1e-6.",
        ),
        Mistake(
            "neighbors never compared",
            _detector(part=lambda t: slice(0, t - 1)),
            "an output is never compared while its next position changes: a slice is off by one.",
            "change from t on, changed[:, t:], and compare what is before t, [:, :t].",
        ),
        Mistake(
            "NaN in the future",
            _detector(change=_not_a_number),
            "NaN in the future reaches every output: a weight of 0 times NaN is NaN, and a sound mask looks leaky.",
            "change the future to other ordinary numbers.",
        ),
        Mistake(
            "x never changed",
            lambda attend, x: not torch.equal(attend(x), attend(x.clone())),
            "the detector never says that anything leaks: the past is compared with itself, or too generously.",
            "call attend on a changed copy, and compare with a tolerance near 1e-6.",
        ),
        Mistake(
            "in place",
            _changed_in_place,
            "x itself is changed; the caller's data is gone.",
            "work on x.clone().",
        ),
    ),
    advice="print which splits t find a change, and where: (after - before).abs().amax(-1).",
)

# 5.8 ------------------------------------------------------------------------------------------------------------------


def _bug_inputs(seed):
    rng = torch.Generator().manual_seed(seed)
    cases = []
    for batch, heads, length_q, length_k, d_k, d_v in ((1, 2, 3, 3, 4, 2), (2, 4, 6, 6, 3, 5), (3, 2, 5, 7, 4, 3)):
        keep = torch.arange(length_k) < torch.tensor([length_k - 1, 2, length_k - 3])[:batch, None]
        value = torch.randn(batch, heads, length_k, d_v, generator=rng)
        cases.append(
            {
                "query": torch.randn(batch, heads, length_q, d_k, generator=rng),
                "key": torch.randn(batch, heads, length_k, d_k, generator=rng),
                "value": value + 9.0 * ~keep[:, None, :, None],
                "keep": keep,
            }
        )
    square = torch.randn(3, 2, 2, 4, 3, generator=rng)
    keep = torch.tensor([[True, True, True, False], [False, True, True, True]])
    cases.append({"query": square[0], "key": square[1], "value": square[2], "keep": keep})
    query, key = _low_scores((2, 3), 5, 4, rng)
    return [*cases, {"query": query, "key": key, "value": torch.randn(2, 3, 4, 2, generator=rng), "keep": keep}]


def _with_mask(to_mask, fill=-1e9):
    """The function of the exercise with another mask; ``to_mask(keep, scores)``."""

    def answer(query, key, value, keep):
        scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
        weights = torch.softmax(scores.masked_fill(~to_mask(keep, scores), fill), dim=-1)
        return weights @ value, weights

    return answer


BUG = Exercise(
    number="5.8",
    title="Find the bug",
    points=2,
    inputs=_bug_inputs,
    reference=_with_mask(lambda keep, scores: keep[:, None, None, :], -math.inf),
    returns=("output", "weights"),
    alternatives=(
        Alternative("fill value left as it was", _with_mask(lambda keep, scores: keep.unsqueeze(1).unsqueeze(2))),
        Alternative("view", _with_mask(lambda keep, scores: keep.view(len(keep), 1, 1, -1))),
        Alternative("expanded", _with_mask(lambda keep, scores: keep[:, None, None].expand_as(scores))),
        Alternative("unsqueeze twice at 1", _with_mask(lambda keep, scores: keep.unsqueeze(1).unsqueeze(1))),
        Alternative(
            "the course's own",
            lambda q, k, v, keep: attention.scaled_dot_product_attention(q, k, v, keep[:, None, None]),
        ),
    ),
    mistakes=(
        Mistake(
            "still rows",
            _with_mask(lambda keep, scores: keep.unsqueeze(1).unsqueeze(3)),
            "the bug is still there: the mask has shape (B, 1, L, 1) and hides rows, the queries of the padding.",
            "padding is to be hidden as a key: the tokens belong in the last axis.",
        ),
        Mistake(
            "still rows, minus infinity",
            _with_mask(lambda keep, scores: keep.unsqueeze(1).unsqueeze(3), -math.inf),
            "the fill value is changed and the axis is not: the mask still hides rows, now as NaN.",
            "put the tokens in the last axis of the mask.",
        ),
        Mistake(
            "lined up with the heads",
            _with_mask(lambda keep, scores: keep[:, None]),
            "a mask of shape (B, 1, L_k): against four axes it lines up the batch with the heads.",
            "add an axis of size 1 for the heads and one for the queries.",
        ),
        Mistake(
            "as it comes",
            _with_mask(lambda keep, scores: keep),
            "a mask of shape (B, L_k): against four axes it lines up the batch with the queries.",
            "add two axes of size 1 between the batch and the keys.",
        ),
        Mistake(
            "tokens as heads",
            _with_mask(lambda keep, scores: keep[:, :, None, None]),
            "a mask of shape (B, L, 1, 1): the tokens stand where the heads belong.",
            "the keys are the last axis of (B, H, L_q, L_k).",
        ),
        Mistake(
            "polarity inverted",
            _with_mask(lambda keep, scores: ~keep[:, None, None]),
            "the axis is right, but now the real tokens are hidden and the padding is seen.",
            "keep is True at real tokens; leave the ~ of the given code as it was.",
        ),
        Mistake(
            "first item for all",
            _with_mask(lambda keep, scores: keep[0]),
            "the padding of the first item is used for the whole batch.",
            "keep the batch axis.",
        ),
        Mistake(
            "any item's padding",
            _with_mask(lambda keep, scores: keep.any(0)),
            "a key is seen by all items if it is real in any of them.",
            "keep the batch axis.",
        ),
        Mistake(
            "fill value not low enough",
            _with_mask(lambda keep, scores: keep[:, None, None], -1e4),
            "the axis is right, but with this fill value hidden keys win where the allowed scores lie lower still.",
            "leave the fill value as it was, or take minus infinity.",
        ),
        Mistake(
            "values zeroed",
            lambda q, k, v, keep: _with_mask(lambda keep, s: torch.ones_like(keep)[:, None, None])(
                q, k, v * keep[:, None, :, None], keep
            ),
            "the values of the padding are set to 0, but it keeps its share of the weights.",
            "hide the scores before the softmax, as the given code did.",
        ),
        Mistake(
            "mask dropped",
            _with_mask(lambda keep, scores: torch.ones_like(keep)[:, None, None]),
            "the mask is gone: the padding is averaged in.",
            "hide the keys at which keep is False.",
        ),
        Mistake(
            "zeroed after the softmax",
            lambda q, k, v, keep: (
                (w := torch.softmax(q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5, -1) * keep[:, None, None]) @ v,
                w,
            ),
            "the weights of the padding are set to 0 after the softmax: the rows no longer sum to 1.",
            "hide the scores before the softmax, as the given code did.",
        ),
    ),
    advice="print mask.shape and the row of weights of a real token: where keep is False it must be 0.",
)

# 5.9, 5.10 ------------------------------------------------------------------------------------------------------------

CONVENTION = Quiz(
    number="5.9",
    title="Whose True is it?",
    points=1,
    right="b",
    options={
        "a": Option(
            "key_padding_mask=keep",
            "nn.MultiheadAttention reads True as ignore, so this hides every real token and shows the padding.",
        ),
        "b": Option(
            "key_padding_mask=~keep",
            "nn.MultiheadAttention reads True as ignore, the opposite of F.scaled_dot_product_attention.",
        ),
        "c": Option(
            "key_padding_mask=keep.float()",
            "a float mask is added to the scores: it raises the scores of real tokens by 1 and hides nothing.",
        ),
        "d": Option(
            "key_padding_mask=keep[:, None, None, :]",
            "the polarity is still the wrong one, and this argument wants the shape (B, L_k).",
        ),
    },
)

DENOMINATOR = Quiz(
    number="5.10",
    title="Zero after the softmax",
    points=1,
    right="c",
    options={
        "a": Option(
            "On token 0 only: the other weights are 0.",
            "the weight that is left was divided by a sum over all positions, before the zeros were put in.",
        ),
        "b": Option(
            "On nothing: its row is masked entirely.",
            "position 0 may see itself, so one weight of its row stays above 0.",
        ),
        "c": Option(
            "On all tokens: the future is still in the denominator.",
            "the softmax divided by the sum over all positions, so the future scales what the past receives.",
        ),
        "d": Option(
            "On all tokens, and dividing each row by its sum does not help.",
            "dividing by the row's own sum cancels the old denominator, as long as that sum is above 0.",
        ),
    },
)

EXERCISES = (PADDING, CAUSAL, ATTENTION, COMBINE, EMPTY_ROWS, WINDOW, LEAKS, BUG, CONVENTION, DENOMINATOR)
