"""12.4 · Temperature, top-k and top-p."""

import torch

from ..deciding.exercise import Case, Exercise
from ..deciding.wrong_answer import stops_with

MANY = torch.tensor([[0.0, 2.0, 1.0]]).repeat(1, 14).log1p()  # 42 tokens: an unstable sort mixes them
TIE = "tokens are equally probable"


def case(*labels, logits, temperature=1.0, top_k=None, top_p=None):
    return Case(*labels, logits=logits, temperature=temperature, top_k=top_k, top_p=top_p)


def cases(seed):
    rng = torch.Generator().manual_seed(seed)
    by_hand = torch.tensor([[0.5, 0.3, 0.15, 0.05]]).log()
    ties = torch.tensor([[1.0, 3.0, 2.0, 3.0, 2.0, 2.0, -1.0]]).roll(int(torch.randint(2, (), generator=rng)), 1)
    return [
        case(logits=by_hand, top_p=0.6),
        case(logits=by_hand, top_k=2),
        case("`top_p` is reached exactly", TIE, logits=torch.zeros(1, 2), top_p=0.5),  # 1/2 carries no rounding
        case("the sums after top-k reach `top_p` earlier", logits=by_hand, top_k=3, top_p=0.83),
        case(TIE, logits=ties, top_k=3),
        case(TIE, logits=ties, top_k=4, temperature=0.8),
        case(TIE, logits=ties, temperature=0),
        case(TIE, logits=ties, top_p=0.71),  # two of the three tokens with the logit 2 or 3 that come second
        case(TIE, "many tokens are equally probable", logits=MANY, top_k=20),
        case("the temperature is low", logits=torch.tensor([[10.0, 0.0, 9.9], [0.1, 0.0, 0.05]]), temperature=0.05),
        case("the temperature is low", logits=torch.tensor([[0.1, 0.0], [0.3, 0.5]]), temperature=0.4),
        clear(rng, 2, 11, 0.7, None, None),
        clear(rng, 2, 11, 1.6, 5, None),
        clear(rng, 3, 7, 1.0, None, 0.75),
        clear(rng, 2, 9, 1.7, None, 0.7),
        clear(rng, 3, 9, 0.6, 6, 0.8),
        clear(rng, 3, 9, 0.6, 6, 0.8, torch.float64),
        case("`top_k` is larger than V", logits=torch.randn(2, 5, generator=rng), top_k=12),
        case("`top_p` is 0", logits=torch.randn(3, 5, generator=rng), top_p=0.0),
        case(logits=torch.randn(2, 6, generator=rng), top_k=1, top_p=1.0),
        case(logits=torch.randn(3, 6, generator=rng), temperature=0, top_k=2, top_p=0.9),
    ]


def clear(rng, batch, vocab, temperature, top_k, top_p, dtype=torch.float32):
    """Draw until no running sum is near ``top_p``, the rows keep unequal numbers, and it matters where the heat comes."""
    while True:
        logits = 1.5 * torch.randn(batch, vocab, generator=rng).to(dtype)
        drawn = case(logits=logits, temperature=temperature, top_k=top_k, top_p=top_p)
        if top_p is None:
            return drawn
        ways = ((logits / temperature, True), (logits, True), (logits / temperature, False))
        (right, cool, early), far = zip(*(_kept(x, top_k or vocab, top_p, share) for x, share in ways), strict=True)
        differ = (temperature == 1 or (cool != right).all()) and (top_k is None or (early != right).any())
        if all(far) and differ and 1 < right.min() < right.max() < vocab:
            return drawn


def _kept(logits, top_k, top_p, share):
    """How many tokens of each row stay, and whether all sums are clearly above or below ``top_p``."""
    probs = logits.softmax(-1).sort(descending=True).values[:, :top_k]
    sums = (probs / probs.sum(-1, keepdim=True) if share else probs).cumsum(-1)
    return (sums < top_p).sum(-1) + 1, bool((sums - top_p).abs().min() > 5e-3)


EXERCISE = Exercise(
    cases,
    returns=("probabilities",),
    off_limits=("course_utils.decoding.sampling.sampling_distribution",),
    symptoms=(
        stops_with(  # PyTorch's own message does not say what is wrong
            "sort() takes from 1 to 0 positional",
            "sort with stable=True takes the axis by its name only; PyTorch's own message does not say so.",
            "name it: sort(dim=-1, descending=True, stable=True).",
            "axis by position",
        ),
    ),
    pairs=200,
    advice="try it on the probabilities 0.5, 0.3, 0.15, 0.05 and print the result after every step.",
)
