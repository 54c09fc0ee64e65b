"""The two attentions of a decoder layer with the bug mended."""

import torch

from ...exercise import Case, Exercise, Fault
from ...kit.layers import padding


def _cases(seed):
    rng = torch.Generator().manual_seed(seed)
    cases = []
    for B, L_t, L_s, H, d_head, turned, dtype in (
        (2, 4, 4, 1, 3, "", torch.float32),
        (2, 5, 7, 2, 4, "source", torch.float32),
        (3, 6, 5, 3, 2, "target", torch.float32),
        (2, 5, 5, 2, 3, "", torch.float32),
        (2, 3, 5, 2, 2, "source", torch.float64),
        (2, 4, 4, 1, 3, "", torch.float32),
    ):
        tokens = {}
        for name, L in (("target", L_t), ("source", L_s)):
            ids = torch.randint(1, 9, (B, L), generator=rng).masked_fill(~padding(rng, B, L)[:, 0, 0], 0)
            tokens[name] = ids.flip(1) if name == turned else ids
        x, memory = (1.5 * torch.randn(B, L, H * d_head, generator=rng).to(dtype) for L in (L_t, L_s))
        seed = int(torch.randint(10**6, (), generator=rng))
        labels = [f"the {turned}'s padding stands on the left"] if turned else []
        cases.append(Case(*labels, x=x, memory=memory, **tokens, _heads=H, _seed=seed))
    return cases


def _kept(tokens):
    return (tokens != 0)[:, None, None, :]


def _causal(rows, columns):
    return torch.ones(rows.shape[1], columns.shape[1], dtype=torch.bool).tril()


def _two_attentions(
    x, memory, target, source, self_attention, cross_attention, *,
    back=lambda t, s: _kept(t) & _causal(t, t),
    attentions=lambda a, c: (a, c),
    first=lambda x, y: x + y,
    keep=lambda memory, s: memory,
    across=lambda t, s: _kept(s),
    second=lambda x, y: x + y,
):  # fmt: skip
    self_attention, cross_attention = attentions(self_attention, cross_attention)
    y = first(x, self_attention(x, mask=back(target, source)))
    memory = keep(memory, source)
    return second(y, cross_attention(y, memory, memory, mask=across(target, source)))


_LEAVE = "leave the target's mask as it was, for self-attention."
_CAUSAL = (
    "cross-attention is causal: target position i sees only the first source positions.",
    "the source is no future: hide its padding and nothing else.",
)
_SUMS = "leave the two sums as they were."
_SEEN = "make a mask of source, True where its tokens are not 0, with the keys on its last axis."

EXERCISE = Exercise(
    answer="two_attentions",
    cases=_cases,
    reference=_two_attentions,
    returns=("output",),
    faults=(
        Fault("as it was", "the function as it was: cross-attention still gets the target's mask.",
            "the keys of cross-attention are the source's tokens: make a mask of source.",
            across=lambda t, s: _kept(t) & _causal(t, t)),
        Fault("target's padding", "no longer causal, but cross-attention still hides the padding of the target.",
            "its keys are the source's tokens: compare source with 0, not target.", across=lambda t, s: _kept(t)),
        Fault("nothing hidden", "nothing of the source is hidden from cross-attention: its padding is seen.", _SEEN,
            across=lambda t, s: None),
        Fault("causal memory", *_CAUSAL, across=lambda t, s: _kept(s) & _causal(t, s)),
        Fault("causal memory, as long as the target", *_CAUSAL, across=lambda t, s: _kept(s) & _causal(t, t)),
        Fault("causal memory, as long as the source", *_CAUSAL, across=lambda t, s: _kept(s) & _causal(s, s)),
        Fault("causal only", "cross-attention is causal, and the padding of the source is seen.", _SEEN,
            across=lambda t, s: _causal(t, s)),
        Fault("counted from the left", "as many source positions are seen, from the left, as the source has tokens: "
            "that is wrong where its padding stands on the left.", "look at each token: source != 0.",
            across=lambda t, s: (torch.arange(s.shape[1]) < (s != 0).sum(1, keepdim=True))[:, None, None]),
        Fault("memory set to 0", "the memory is 0 at the padding, but not masked: padding still takes its share of the "
            "attention.", "a key of zeros has a score too: hide it with a mask.",
            keep=lambda memory, s: memory * (s != 0)[..., None], across=lambda t, s: None),
        Fault("rows instead of columns", "the source's padding was put on the rows, which are the queries.",
            "(B, 1, 1, L_s): the keys are the last axis.", across=lambda t, s: (s != 0)[:, None, :, None]),
        Fault("inverted", "the mask is turned around: only the padding of the source is seen.",
            "True = may attend: source != 0.", across=lambda t, s: ~_kept(s)),
        Fault("one mask for the batch", "the mask of the first source was used for the whole batch.",
            "keep the batch axis.", across=lambda t, s: _kept(s)[:1]),
        Fault("self-attention sees the future", "self-attention lost its causal mask.", _LEAVE,
            back=lambda t, s: _kept(t)),
        Fault("self-attention sees padding", "self-attention no longer hides the target's padding.", _LEAVE,
            back=lambda t, s: _causal(t, t)),
        Fault("no mask for self-attention", "self-attention lost its mask.", _LEAVE, back=lambda t, s: None),
        Fault("source's mask for both", "self-attention got the source's mask, as cross-attention did.",
            "self-attention keeps the target's mask; only cross-attention needs another.", back=lambda t, s: _kept(s)),
        Fault("masks exchanged", "the two masks are exchanged.", "self-attention gets the target's, cross-attention "
            "the source's.", back=lambda t, s: _kept(s), across=lambda t, s: _kept(t) & _causal(t, t)),
        Fault("attentions exchanged", "self_attention and cross_attention are exchanged.", "each looks where its name says.",
            attentions=lambda a, c: (c, a)),
        Fault("nothing added", "x is no longer added, neither around self-attention nor around cross-attention.",
            _SUMS, first=lambda x, y: y, second=lambda x, y: y),
        Fault("nothing added to self-attention", "x is no longer added around self-attention.", _SUMS,
            first=lambda x, y: y),
        Fault("nothing added to cross-attention", "x is no longer added around cross-attention.", _SUMS,
            second=lambda x, y: y),
    ),
    advice="change a padding token of the source: no output may move. Change a real one: every target position may.",
    atol=2e-5,
)  # fmt: skip
