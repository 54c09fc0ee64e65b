"""9.8 · Find the bug: a record of the stream."""

import torch

from ..deciding.exercise import Case, Exercise


def cases(seed):
    rng = torch.Generator().manual_seed(seed)

    def case(*labels, sizes, number, dtype=torch.float32, **driver):
        driver |= {"number": number, "seed": int(torch.randint(10**6, (), generator=rng))}
        return Case(*labels, driver=driver, x=torch.randn(sizes, generator=rng).to(dtype))

    return [
        case(sizes=(1, 1, 2), number=2),
        case(sizes=(2, 3, 4), number=3),
        case("a sublayer hands its argument back", sizes=(2, 3, 4), number=3, back=1),
        case(sizes=(1, 4, 3), number=1),
        case(sizes=(3, 2, 5), number=4, dtype=torch.float64),
        case(sizes=(2, 3, 4), number=3),
        case("a sublayer hands its argument back", sizes=(2, 2, 3), number=2, back=0),
        case("a sublayer returns something else at each call, as with dropout", sizes=(2, 3, 4), number=3, changing=1),
    ]


EXERCISE = Exercise(
    cases,
    returns=("streams", "added"),
    driver="drive_record",
    gradients=True,
    pairs=150,
    advice="check the property: streams[n] + added[n] is streams[n + 1], for every n, and x is what it was.",
)
