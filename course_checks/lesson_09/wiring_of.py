"""9.5 · How is it wired?"""

import torch

from ..deciding.exercise import Case, Exercise

WIRINGS = ("no norm", "pre-norm", "post-norm", "sandwich", "lost path")


def cases(seed):
    rng = torch.Generator().manual_seed(seed)

    def case(wiring, d_model, trained):
        labels = [f"the connection is {wiring!r}", "the norms are fresh" if not trained else "the norms are trained"]
        driver = {"wiring": wiring, "trained": trained, "seed": int(torch.randint(10**6, (), generator=rng))}
        return Case(*labels, driver=driver, d_model=d_model)

    return [case(wiring, d, trained) for d, trained in ((8, False), (5, True), (16, True)) for wiring in WIRINGS]


EXERCISE = Exercise(
    cases,
    returns=("name",),
    driver="drive_wiring",
    pairs=60,
    advice="make the five connections yourself, with norms whose weights and biases you have changed, and try your function.",
)
