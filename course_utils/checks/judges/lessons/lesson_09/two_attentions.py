"""The two attentions of a decoder layer with the bug mended."""

import torch

from ...exercise import Case, Exercise, Fault
from ...kit.layers import padding
from ...kit.parts import faults_of


def _cases(seed):
    rng = torch.Generator().manual_seed(seed)

    def case(B, L_t, L_s, H, d_head, turned="", dtype=torch.float32):
        tokens = {}
        for name, L in (("target", L_t), ("source", L_s)):
            ids = torch.randint(1, 9, (B, L), generator=rng).masked_fill(~padding(rng, B, L)[:, 0, 0], 0)
            tokens[name] = ids.flip(1) if name == turned else ids
        x, memory = (1.5 * torch.randn(B, L, H * d_head, generator=rng).to(dtype) for L in (L_t, L_s))
        number = int(torch.randint(10**6, (), generator=rng))
        labels = [f"the {turned}'s padding stands on the left"] if turned else []
        return Case(*labels, x=x, memory=memory, **tokens, _heads=H, _seed=number)

    first = [case(2, 4, 4, 1, 3), case(2, 5, 7, 2, 4, "source"), case(3, 6, 5, 3, 2, "target"), case(2, 5, 5, 2, 3)]
    return [*first, case(2, 3, 5, 2, 2, "source", torch.float64), case(2, 4, 4, 1, 3)]


def _kept(tokens):
    return (tokens != 0)[:, None, None, :]


def _causal(rows, columns):
    return torch.ones(rows.shape[1], columns.shape[1], dtype=torch.bool).tril()


def _two_attentions(
    x, memory, target, source, self_attention, cross_attention, *,
    back=lambda t, s: _kept(t) & _causal(t, t), first=lambda x, y: x + y, asks=lambda x, y: y,
    keep=lambda memory, s: memory, across=lambda t, s: _kept(s), second=lambda x, y: x + y,
):  # fmt: skip
    y = first(x, self_attention(x, mask=back(target, source)))
    memory = keep(memory, source)
    return second(y, cross_attention(asks(x, y), memory, memory, mask=across(target, source)))


_SEEN = "make a mask of source, True where its tokens are not 0, with the keys on its last axis: (B, 1, 1, L_s)."
_CAUSAL = "cross-attention is causal: target position i sees only the first source positions."
_NO_FUTURE = "the source is no future: hide its padding and nothing else."
_SUMS = "leave the two sums as they were."

EXERCISE = Exercise(
    answer="two_attentions", cases=_cases, reference=_two_attentions, returns=("output",), faults=(
        *faults_of("across", _SEEN,
            ("as it was", "the function as it was: cross-attention still gets the target's mask.",
             lambda t, s: _kept(t) & _causal(t, t)),
            ("target's padding", "no longer causal, but cross-attention still hides the padding of the target.",
             lambda t, s: _kept(t)),
            ("nothing hidden", "nothing of the source is hidden from cross-attention: its padding is seen.",
             lambda t, s: None),
            ("causal memory", _CAUSAL, lambda t, s: _kept(s) & _causal(t, s), _NO_FUTURE),
            ("causal memory, as long as the target", _CAUSAL, lambda t, s: _kept(s) & _causal(t, t), _NO_FUTURE),
            ("causal memory, as long as the source", _CAUSAL, lambda t, s: _kept(s) & _causal(s, s), _NO_FUTURE),
            ("causal only", "cross-attention is causal, and the padding of the source is seen.", _causal),
            ("counted from the left", "as many source positions are seen, from the left, as the source has tokens: that "
             "is wrong where its padding stands on the left.",
             lambda t, s: (torch.arange(s.shape[1]) < (s != 0).sum(1, keepdim=True))[:, None, None]),
            ("rows instead of columns", "the source's padding was put on the rows, which are the queries.",
             lambda t, s: (s != 0)[:, None, :, None]),
            ("inverted", "the mask is turned around: only the padding of the source is seen.", lambda t, s: ~_kept(s)),
            ("one mask for the batch", "the mask of the first source was used for the whole batch.",
             lambda t, s: _kept(s)[:1], "keep the batch axis.")),
        Fault("memory set to 0", "the memory is 0 at the padding, but not masked: padding still takes its share of the "
            "attention.", "a key of zeros has a score too: hide it with a mask.",
            keep=lambda memory, s: memory * (s != 0)[..., None], across=lambda t, s: None),
        Fault("memory cut", "the memory is cut behind the longest source and not masked: the padding of the others is seen.",
            _SEEN, keep=lambda memory, s: memory[:, : int((s != 0).sum(1).max())], across=lambda t, s: None),
        Fault("queries from the input", "cross-attention asks with x as it came: self-attention's result is only added.",
            "let it ask with the x to which self-attention's result has been added.", asks=lambda x, y: x),
        *faults_of("back", "leave the target's mask as it was, for self-attention.",
            ("self-attention sees the future", "self-attention lost its causal mask.", lambda t, s: _kept(t)),
            ("self-attention sees padding", "self-attention no longer hides the target's padding.",
             lambda t, s: _causal(t, t)),
            ("no mask for self-attention", "self-attention lost its mask.", lambda t, s: None),
            ("source's mask for both", "self-attention got the source's mask, as cross-attention did.",
             lambda t, s: _kept(s))),
        Fault("masks exchanged", "the two masks are exchanged.", "self-attention gets the target's, cross-attention "
            "the source's.", back=lambda t, s: _kept(s), across=lambda t, s: _kept(t) & _causal(t, t)),
        Fault("nothing added to self-attention", "x is no longer added around self-attention.", _SUMS,
            first=lambda x, y: y),
        Fault("nothing added to cross-attention", "x is no longer added around cross-attention.", _SUMS,
            second=lambda x, y: y),
    ), advice="change a padding token of the source: no output may move. Change a real one: every target position may.",
    atol=2e-5,
)  # fmt: skip
