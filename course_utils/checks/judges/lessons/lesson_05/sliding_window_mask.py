"""A sliding window."""

import operator

import torch

from ...exercise import Exercise, Fault
from ...kit.masks import FORM_FAULTS, TOP_LEFT, WRONG_SIDE, cases_of_numbers, positions
from ...kit.parts import faults_of


def sliding_window_mask(
    L_q, L_k, window, *, start=lambda L_q, L_k: L_k - L_q, past=lambda query, key: key <= query,
    near=lambda query, key, window: query - key < window, join=operator.and_, form=lambda mask: mask,
):  # fmt: skip
    """True where a key is one of the ``window`` newest, ``(L_q, L_k)``; each keyword is one step."""
    query, key = positions(L_q, L_k, start(L_q, L_k))
    return form(join(past(query, key), near(query, key, window)))


def _cases(seed):
    L_q = int(torch.randint(5, 8, (), generator=torch.Generator().manual_seed(seed)))
    sizes = ((3, 3, 2), (4, 4, 2), (2, 6, 3), (5, 7, 1), (4, 4, 3), (L_q, L_q + 2, 4), (3, 5, 9), (2, 5, 3))
    return cases_of_numbers(("L_q", "L_k", "window"), *sizes)


def _sliced(query, key, window):
    first = query - window + 1
    return key >= torch.where(first < 0, (first + len(key)).clamp(min=0), first)


_BOTH = "shift both edges by L_k - L_q."

EXERCISE = Exercise(
    answer="sliding_window_mask", cases=_cases, reference=sliding_window_mask, returns=("mask",), faults=(
        TOP_LEFT, WRONG_SIDE, *FORM_FAULTS,
        *faults_of("form", "two axes are asked for here, (L_q, L_k); the axes of size 1 come where the mask is used.",
            ("four axes", "a mask of shape (1, 1, L_q, L_k), with axes for the batch and the heads.", lambda m: m[None, None]),
            ("three axes", "a mask of shape (1, L_q, L_k), with an axis for the batch or the heads.", lambda m: m[None])),
        Fault("one too wide", "a window off by one: queries see window + 1 keys.", "the query's own position counts; "
            "the oldest key lies window - 1 steps back.", near=lambda q, k, w: q - k <= w),
        Fault("one too narrow", "a window off by one: queries see window - 1 keys.", "window counts the query's own "
            "position once; distances 0 to window - 1 are allowed.", near=lambda q, k, w: q - k < w - 1),
        Fault("window ends before the query",
            "the window ends before the query's own position: no token can see itself.",
            "start at distance 0, and end at window - 1.", past=lambda q, k: k < q, near=lambda q, k, w: q - k <= w),
        Fault("future seen", "the future is not hidden: queries see every later key.",
            "the distance, query minus key, must also be at least 0.", past=lambda q, k: k == k + 0 * q),
        Fault("both sides", "a window to both sides: queries see the future.", "the distance must also be at least 0.",
            past=lambda q, k: k == k + 0 * q, near=lambda q, k, w: (q - k).abs() < w),
        Fault("window not used", "a plain causal mask: the window plays no part.",
            "also hide what lies window or more steps back.", near=lambda q, k, w: k == k + 0 * q),
        Fault("window cut to L_q", "the window is cut to the number of queries: with earlier keys they see too few.",
            "cut nothing; window may be larger than L_q.", near=lambda q, k, w: q - k < min(w, len(q))),
        Fault("one window for all", "all queries have one window, the newest keys of the whole sequence.",
            "count back from each query's own position.", near=lambda q, k, w: (k > len(k) - 1 - w) & (q == q)),
        Fault("joined by or", "the two conditions are joined by or, and one of them always holds.",
            "a key must be past AND near: use &.", join=operator.or_),
        Fault("near edge top-left", "two alignments: the window ends top-left and begins bottom-right.", _BOTH,
            past=lambda q, k: k <= q - (len(k) - len(q))),
        Fault("far edge top-left", "two alignments: the window ends bottom-right and begins top-left, so it is too "
            "wide.", _BOTH, near=lambda q, k, w: q - k - (len(k) - len(q)) < w),
        Fault("negative slice", "a slice that begins at a negative index counts from the end: early queries lose their "
            "keys.", "begin at max(0, position - window + 1).", near=_sliced),
        Fault("blocks", "blocks of window positions: the first query of a block sees itself only.", "ask how far the "
            "key lies behind the query, not in which block the two are.", near=lambda q, k, w: q // w == k // w),
        Fault("outside the window", "the far past is allowed and the window hidden.",
            "allow distances 0 to window - 1.", near=lambda q, k, w: q - k >= w),
        Fault("into the future", "the window looks forward: it holds the query and what comes after it.",
            "the distance is the query's position minus the key's; it must be at least 0.", past=lambda q, k: k >= q,
            near=lambda q, k, w: k - q < w),
    ),
    advice="count the True entries of the last row: there must be min(window, L_k).",
)  # fmt: skip
