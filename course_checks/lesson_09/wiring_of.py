"""9.5 · How is it wired?"""

import torch

from ..deciding.exercise import Case, Exercise
from ..deciding.wrong_answer import symptom

FRESH, TRAINED = "the norms are fresh", "the norms are trained"
WIRINGS = ("no norm", "pre-norm", "post-norm", "sandwich", "lost path")


def cases(seed):
    rng = torch.Generator().manual_seed(seed)

    def case(wiring, d_model, trained):
        labels = [f"the connection is {wiring!r}", TRAINED if trained else FRESH]
        driver = {"wiring": wiring, "trained": trained, "seed": int(torch.randint(10**6, (), generator=rng))}
        return Case(*labels, driver=driver, d_model=d_model)

    return [case(wiring, d, trained) for d, trained in ((8, False), (5, True), (16, True)) for wiring in WIRINGS]


def one_kind_of_norms(answer):
    """Wrong with trained norms only, or with fresh ones only; in which of them may be chance, since students draw numbers."""
    wrong = [answer.cases[i].labels for i in answer.wrong]
    if all(TRAINED in labels for labels in wrong):
        return symptom(
            "all connections with fresh norms are told right, some with trained norms are not.",
            "a trained norm has a weight and a bias that you don't know: its output may have any mean and variance, and a "
            "LayerNorm of your own gives something else.",
        )
    if all(FRESH in labels for labels in wrong):
        return symptom(
            "all connections with trained norms are told right, some with fresh norms are not.",
            "a fresh norm leaves zeros as they are, and what is normalized already. Let neither x nor what your sublayer gives "
            "be like that.",
        )
    return None


EXERCISE = Exercise(
    cases,
    returns=("name",),
    driver="drive_wiring",
    symptoms=(one_kind_of_norms,),
    pairs=60,
    advice="make the five connections yourself, with norms whose weights and biases you have changed, and try your function.",
)
