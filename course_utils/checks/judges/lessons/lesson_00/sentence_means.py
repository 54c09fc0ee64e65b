"""Find the bug: padding is counted."""

import torch

from ...exercise import Case, Exercise, Fault


def sentence_means(
    x, ids, pad_id, *, real=torch.ne, total=lambda x, real: (x * real[..., None]).sum(1),
    count=lambda real: real.sum(1, keepdim=True),
):  # fmt: skip
    """The sum over the real tokens, divided by their number."""
    found = real(ids, pad_id)
    return total(x, found) / count(found)


def _cases(seed):
    rng = torch.Generator().manual_seed(seed)
    x = torch.tensor([[[1.0, 3.0], [2.0, 2.0], [6.0, 1.0]], [[8.0, 4.0], [9.0, 9.0], [9.0, 9.0]]])
    cases = [Case(x=x, ids=torch.tensor([[4, 7, 5], [6, 0, 0]]), pad_id=0)]
    for lengths, d, pad in (((5, 2), 3, 0), ((3, 1, 4), 3, 9), ((4, 4, 4), 2, 0), ((2,), 5, -1), ((1, 2, 6, 3), 4, 0)):
        ids = torch.randint(1, 9, (len(lengths), max(lengths)), generator=rng)
        ids[torch.arange(max(lengths)) >= torch.tensor(lengths)[:, None]] = pad
        cases.append(Case(x=torch.randn(*ids.shape, d, generator=rng), ids=ids, pad_id=pad))
    x = torch.randn(2, 4, 3, generator=rng).index_fill(1, torch.tensor([1]), 0.0)
    cases.append(Case("a real vector is all zeros", x=x, ids=torch.tensor([[5, 2, 3, 0], [4, 1, 0, 0]]), pad_id=0))
    return [*cases, Case("0 is an ordinary token", x=x + 1, ids=torch.tensor([[0, 4, 0, 9], [3, 9, 9, 9]]), pad_id=9)]


EXERCISE = Exercise(
    answer="sentence_means", cases=_cases, reference=sentence_means, returns=("means",), faults=(
        Fault("still counted", "the bug is still there: the sum leaves padding out, the number it is divided by does not.",
              "divide by the number of real tokens of each sentence.", count=lambda real: real.shape[1]),
        Fault("padding added", "the vectors of padding are in the sum.", "make them 0 before you add up.",
              total=lambda x, real: x.sum(1)),
        Fault("upside down", "real and padding are exchanged: your average is over the padding.",
              "real tokens are those whose id is not pad_id.", real=torch.eq),
        Fault("one count for all", "every sentence divided by the same number of tokens.",
              "count the real tokens sentence by sentence.", count=lambda real: real.sum(1).max()),
        Fault("counts against features", "numbers of tokens of shape (B,) line up with the features, not the sentences.",
              "keep the axis: (B, 1) lines up with (B, d).", count=lambda real: real.sum(1)),
        Fault("0 taken for padding", "id 0 is taken for padding, whatever pad_id is.", "compare the ids with pad_id.",
              real=lambda ids, pad_id: ids != 0),
    ), advice="take one sentence alone, without padding: its mean must not change when a longer one stands beside it.",
)  # fmt: skip
