"""What can be seen in a wrong answer to any exercise: each symptom is told where it is true, and not by chance."""

import pytest
import torch
from toy_exercises import diagnosis, verdict

RNG = torch.Generator().manual_seed(0)


def drawn(*shapes):
    return [{"x": torch.randn(shape, generator=RNG)} for shape in shapes]


def told(right, cases, rows):
    """Rows of a table: what is right, its cases, and of each wrong answer the name and words of what is told."""
    return [pytest.param(right, cases, *row, id=row[1]) for row in rows]


def doubled(x):
    return 2 * x


SQUARE = drawn((2, 4, 4), (3, 5, 5))
MOVED = told(
    doubled,
    drawn((2, 3, 4), (3, 5, 2)),
    [
        (lambda x: 2 * x.mT, "axes exchanged", "-2 and -1"),
        (lambda x: 2 * x.transpose(0, 1), "axes exchanged", "-3 and -2"),
        (lambda x: (2 * x).mT.reshape(x.shape), "reshaped instead of transposed", "axes -2 and -1"),
        (lambda x: 2 * x.flip(1), "reversed", "along axis -2"),
        (lambda x: (2 * x).softmax(-1), "softmax once more", "softmax over axis -1"),
        (lambda x: -2 * x, "negative", "wrong sign"),
        (lambda x: (2 * x) ** 2, "squared", "square of what is right"),
        (lambda x: 1 - 2 * x, "one minus", "1 minus"),
        (lambda x: (2 * x).relu(), "never negative", "negative"),
        (lambda x: (2 * x).round(decimals=2), "rounded to 2", "is rounded"),
        (lambda x: (2 * x)[:, None], "an axis too many", "at place -3"),
        (lambda x: (2 * x).sum(1), "sum over an axis", "sum of the right result over axis -2"),
        (lambda x: (2 * x).mean(-1), "mean over an axis", "axis -1"),
    ],
) + told(doubled, SQUARE, [(lambda x: 2 * x.mT, "axes exchanged", "-2 and -1")])


def masked(a, b, mask):
    mixed = a @ b + torch.arange(4.0)
    return mixed if mask is None else torch.where(mask, mixed, mixed.exp())


def tensors(mask=True):
    a, b, noise = torch.randn(3, 4, 4, generator=RNG)
    return {"a": a, "b": b, "mask": noise > -0.3 if mask else None}


def count(n, p, sharp):
    return torch.arange(4.0) ** p * n + (torch.arange(4.0) + n).sin() * (1 if sharp else 3)


ARGUMENTS = told(
    masked,
    [tensors(), tensors(), tensors(mask=False)],
    [
        (lambda a, b, mask: masked(b, a, mask), "arguments exchanged", "`a` and `b` are exchanged"),
        (lambda a, b, mask: masked(a, a, mask), "one argument for another", "`a` stands where `b` should"),
        (lambda a, b, mask: masked(a, b, None), "argument ignored", "`mask` is left out"),
        (lambda a, b, mask: masked(a, b, None if mask is None else ~mask), "mask inverted", "`mask` is inverted"),
        (lambda a, b, mask: masked(a, b, None if mask is None else mask.mT), "mask turned", "`mask` are exchanged"),
        (lambda a, b, mask: masked(a.mT, b, mask), "argument turned", "last two axes of `a`"),
        (lambda a, b, mask: masked(-a, b, mask), "argument negated", "`a` has the other sign"),
        (lambda a, b, mask: masked(torch.zeros_like(a), b, mask), "argument ignored", "`a` is all zeros"),
    ],
) + told(
    count,
    [{"n": 3, "p": 0.25, "sharp": True}, {"n": 5, "p": 0.75, "sharp": False}, {"n": 8, "p": 0.5, "sharp": True}],
    [
        (lambda n, p, sharp: count(n + 1, p, sharp), "another number", "for `n` + 1"),
        (lambda n, p, sharp: count(n, 1 - p, sharp), "another number", "for 1 - `p`"),
        (lambda n, p, sharp: count(n, 1 / p, sharp), "another number", "for 1 / `p`"),
        (lambda n, p, sharp: count(n, p, True), "flag ignored", "if `sharp` is True in every case"),
        (lambda n, p, sharp: count(n, p, not sharp), "flag turned", "if `sharp` is turned round"),
    ],
)


def ones(n, m):
    return torch.ones(n, m, dtype=torch.bool)


def causal(n, m):
    return ones(n, m).tril()


RECTANGLES = [{"n": 4, "m": 4}, {"n": 3, "m": 5}, {"n": 6, "m": 6}]
MASKS = told(
    causal,
    RECTANGLES,
    [
        (lambda n, m: ~causal(n, m), "inverted", "the opposite"),
        (lambda n, m: causal(n, m).flip(-1), "mask turned", "reversed along its last axis"),
        (lambda n, m: causal(n, m).flip(-2), "mask turned", "reversed along axis -2"),
        (lambda n, m: ones(n, m).tril(1), "True, all of them right of the diagonal", "should be False"),
        (lambda n, m: ones(n, m).tril(-1), "False, all of them on the diagonal", "should be True"),
        (lambda n, m: causal(n, m) & (torch.arange(m) > 0), "False, all of them in the first column", "should be True"),
    ],
) + told(causal, RECTANGLES[::2], [(lambda n, m: causal(n, m).mT, "mask turned", "its last two axes exchanged")])


def one_more(x, k):
    return x + 1


SIZED = [{"x": torch.randn(2, 9, generator=RNG), "k": 3}, {"x": torch.randn(4, 25, generator=RNG), "k": 7}]
SCALES = told(
    one_more,
    SIZED,
    [
        (lambda x, k: (x + 1) * 2, "constant factor", "times 2"),
        (lambda x, k: (x + 1) * 0.5, "constant factor", "times 1/2"),
        (lambda x, k: (x + 1) * x.shape[-1], "constant factor", "times x.shape[-1]"),
        (lambda x, k: (x + 1) / x.shape[0], "constant factor", "times 1 / x.shape[-2]"),
        (lambda x, k: (x + 1) * x.shape[-1] ** -0.5, "constant factor", "times 1 / the root of x.shape[-1]"),
        (lambda x, k: (x + 1) * k, "constant factor", "times k"),
        (lambda x, k: (x + 1) * 0.7, "constant factor", "times 0.7"),
        (lambda x, k: (x + 1) * (1.3 if k == 3 else 1.9), "factor by case", "another one: 1.3 and 1.9"),
        (lambda x, k: (x + 1) * torch.arange(2.0, len(x) + 2)[:, None], "factor by row", "a factor of its own"),
    ],
)


def weights(x):
    return x.softmax(-1)


def some(x):
    """Weights whose second row is 0."""
    return weights(x) * (torch.arange(x.shape[1]) != 1)[:, None]


def spoilt(x, value):
    result = weights(x).clone()
    result[0, 1] = value
    return result


LAYERS = drawn((2, 4, 5), (3, 6, 4))
PROPERTIES = (
    told(
        weights,
        LAYERS,
        [
            (lambda x: spoilt(x, torch.nan), "NaN", "holds NaN"),
            (lambda x: spoilt(x, torch.inf), "infinity", "holds infinity"),
            (lambda x: weights(x) + x.abs(), "rows do not sum to one", "each should sum to 1"),
            (
                lambda x: weights(x) / 2 if len(x) == 2 else weights(x) * torch.nan,
                *("rows do not sum to one", "sum to 0.5; each should sum to 1"),
            ),
        ],
    )
    + told(
        some,
        LAYERS,
        [(lambda x: some(x) + some(x) * x.abs(), "rows do not sum to one", "; each of them should sum to 1")],
    )
    + told(
        torch.tril,
        LAYERS,
        [
            (lambda x: 2 * x + x.cos(), "zeros are missing", "the future is seen"),
            (lambda x: (x + 1).tril(-1), "zeros too many", "are 0 where"),
        ],
    )
    + told(
        torch.cos,
        LAYERS,
        [(lambda x: x.exp() if len(x) == 2 else x * torch.nan, "NaN", "in other cases of the check")],
    )
)


def counted(n):
    return [(7 * i) % n for i in range(n)]


SEQUENCES = told(
    counted,
    [{"n": 5}, {"n": 8}],
    [
        (lambda n: [*counted(n), 9, 9], "goes on after the right end", "`result`"),
        (lambda n: counted(n)[:-2], "stops too early", "`result`"),
        (lambda n: [9, *counted(n)], "begins too early", "`result`"),
        (lambda n: counted(n)[2:], "lacks its beginning", "`result`"),
    ],
)


def empty_helper(x):
    raise NotImplementedError


SHAPED = [{"x": torch.ones(2, 3)}, {"x": torch.ones(3, 3)}]
STOPS = (
    told(
        lambda x: x + 1,
        SHAPED,
        [
            (
                lambda x: empty_helper(x) if len(x) == 3 else x + 1,
                "calls an empty function",
                "stops inside empty_helper",
            ),
            (lambda: 1, "other parameters", "its parameters are not those of the task"),
            (lambda x: torch.einsum("ij,jk->il", x, x), "letters of an einsum", "the letters of your einsum don't fit"),
            (lambda x: x.view(-1, x.shape[1] / 3), "a size with a fraction", "where a whole one is needed"),
            (
                lambda x: x + torch.softmax(x),
                "arguments of another library",
                "softmax() of PyTorch takes other arguments",
            ),
            (lambda x: x.transpose(0, 1, 2), "arguments of another library", "transpose() of PyTorch takes other"),
            (lambda x: x - x.max(-1, keepdim=True), "values with their places", "max along an axis gives two things"),
            (lambda x: undefined, "stops with NameError", "a name is used"),  # noqa: F821
            (lambda x: x + 1 if len(x) == 3 else {}["a"], "stops with KeyError", "came out right"),
            (lambda x: x + 1 if len(x) == 3 else int("a"), "stops with ValueError", "every input that the task allows"),
        ],
    )
    + told(
        lambda x: x @ x if len(x) == 3 else x + 1,
        SHAPED,
        [(lambda x: x @ x, "shapes do not fit", "In 1 other case of the check it came out right")],
    )
    + told(
        lambda x: x @ x.mT,
        [{"x": torch.ones(2, 3, 4)}, {"x": torch.eye(4).expand(3, 4, 4)}],
        [(lambda x: x @ x.T, "turns all axes", ".T turns all axes")],
    )
)


@pytest.mark.parametrize(
    ("right", "cases", "answer", "name", "words"),
    MOVED + ARGUMENTS + MASKS + SCALES + PROPERTIES + SEQUENCES + STOPS,
)
def test_what_is_told(right, cases, answer, name, words):
    found_by, told_name, sentence = diagnosis(right, answer, *cases)
    assert found_by == "symptom" and told_name.startswith(name) and words in sentence


@pytest.mark.parametrize(
    ("right", "answer", "cases", "names"),
    [
        (doubled, lambda x: (2 * x).mT if len(x) == 2 else 2 * x.flip(0), SQUARE, ("axes exchanged", "reversed")),
        (lambda x: x * 0, lambda x: x * 0 + 1, [{"x": torch.ones(2)}], ("one minus", "exponential")),
        (lambda n: 10 * n, lambda n: 20 * n, [{"n": 3}], ("constant factor",)),
        (lambda n: 1 / (n + 1), lambda n: 99.0, [{"n": 0}, {"n": 4}], ("another number",)),  # 1 / 0 cannot be tried
    ],
)
def test_what_may_be_chance_or_fits_some_cases_only_is_not_told(right, answer, cases, names):
    assert diagnosis(right, answer, *cases)[1] not in names


@pytest.mark.parametrize(
    ("answer", "name", "words"),
    [
        (lambda x: (x[4:], x[:4]), "parts in another order", "high, low"),
        (lambda x: x[:4], "one part alone", "only `low` is returned"),
        (lambda x: (x[:4].flip(0), x[4:]), "reversed", "`low` is right but reversed"),
        (
            lambda x: (x[:4], x[4:].cos().exp()),
            "only high wrong",
            "`low` is right in every case; what is wrong is `high`.",
        ),
    ],
)
def test_several_parts(answer, name, words):
    cases = {"x": torch.arange(8.0)}, {"x": torch.arange(9.0) ** 2}
    found_by, told_name, sentence = diagnosis(lambda x: (x[:4], x[4:]), answer, *cases, returns=("low", "high"))
    assert (found_by, told_name) == ("symptom", name) and words in sentence


def square(x):
    return x * x


def hidden_too_late(x):
    return torch.where(x < 100.0, x * x, (1000.0 * x.exp()).exp())  # inf * 0 on the way back


ROWS = [{"x": torch.tensor([1.0, 2.5])}, {"x": torch.tensor([3.0, -1.5, 2.0])}]


@pytest.mark.parametrize(
    ("answer", "name", "words"),
    [
        (lambda x: x.mul_(x), "changes its input", "`x` in place"),
        (lambda x: (x * x).detach(), "no gradient", "nothing could be learned"),
        (lambda x: x * x.detach(), "another gradient", "not those of the formula"),
        (hidden_too_late, "NaN in the gradient", "the values are right, but the gradient of `x` holds NaN"),
        (lambda x: torch.from_numpy(x.numpy() ** 2), "does not work with gradients", "your code stops"),
        (lambda x: (x * x).double(), "another dtype", "float64, where float32 is right"),
    ],
)
def test_what_lies_beside_the_values(answer, name, words):
    found_by, told_name, sentence = diagnosis(square, answer, *ROWS, gradients=True)
    assert (found_by, told_name) == ("symptom", name) and words in sentence
    assert verdict(square, lambda x: x**2, *ROWS, gradients=True).passed


def test_memory_of_an_earlier_call():
    calls = []

    def answer(x):
        calls.append(1)
        return x * x + (len(calls) > 2)

    found_by, name, sentence = diagnosis(square, answer, *ROWS)
    assert name == "remembers an earlier call" and "the second time" in sentence


def test_the_argument_that_no_gradient_reaches():
    cases = [{"x": torch.ones(2), "y": torch.arange(2.0)}]
    found_by, name, sentence = diagnosis(lambda x, y: x * y, lambda x, y: x * y.detach(), *cases, gradients=True)
    assert (name, sentence) == ("gradient cut", "the values are right, but no gradient reaches `y`.")


def test_float64_computed_in_less():
    decided = verdict(torch.cos, lambda x: x.float().cos().double(), {"x": torch.rand(4, dtype=torch.float64)})
    assert not decided.passed and decided.mistake == "less exact"
