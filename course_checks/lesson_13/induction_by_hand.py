"""13.7 · An induction head, made by hand."""

import torch

from ..deciding.exercise import Case, Exercise
from ..deciding.wrong_answer import stops_with, symptom

AGAIN, DIFFERENT = "letters come twice", "different letters followed the earlier copies"


def cases(seed):
    """Strings that begin with the start sign, token 0: the answer gets ``V`` alone, its machine ``ids``."""
    rng = torch.Generator().manual_seed(seed)

    def copies(V, count, length, times):
        rows = [1 + torch.randperm(V - 1, generator=rng)[:length] for _ in range(count)]
        return _started(torch.stack(rows).repeat(1, times))

    def drawn(V, count, length):
        return _started(torch.randint(1, V, (count, length), generator=rng))

    def case(V, ids, *labels):
        return Case(*labels, V=V, ids=ids)

    return [
        case(4, torch.tensor([[0, 1, 2, 3, 1, 2]]), AGAIN),
        case(4, torch.tensor([[0, 1, 2, 3, 1, 2, 2, 2]]), DIFFERENT),
        case(6, copies(6, 4, 5, 2), AGAIN),
        case(27, copies(27, 4, 26, 3), AGAIN),
        case(27, drawn(27, 4, 99), DIFFERENT),
        case(3, drawn(3, 3, 60), DIFFERENT),
        case(12, drawn(12, 5, 20), DIFFERENT),
        case(27, copies(27, 3, 26, 1), "no letter comes twice"),
    ]


def _started(ids):
    return torch.cat([torch.zeros(len(ids), 1, dtype=torch.long), ids], dim=1)


def _values(answer, labels):
    """(what is right, what came back) in the wrong cases with one of these labels that returned numbers."""
    for index in answer.wrong:
        expected, seen = answer.expected[index], answer.observed[index]
        if seen["outcome"] == "returned" and labels & set(answer.cases[index].labels):
            yield expected["value"]["value"], seen["value"]["value"]


def speaks_where_nothing_is_known(answer):
    """Right wherever a letter has a copy, and something else than zeros where it has none."""
    if not answer.returned_everywhere():
        return None
    pairs = list(_values(answer, {AGAIN, DIFFERENT, "no letter comes twice"}))
    silent = [(right.abs().sum(dim=-1) < 0.02, right, found) for right, found in pairs]
    known_right = all(torch.allclose(found[~quiet], right[~quiet], atol=0.03) for quiet, right, found in silent)
    loudest = max((found[quiet].abs().max().item() for quiet, _, found in silent), default=0.0)
    if known_right and 0.01 < loudest < 0.2:
        return symptom(
            "right where a letter has come before; where it comes for the first time, the answer is close to zeros, but not "
            "up to 0.01.",
            "among up to 99 keys, how much weight is left for those that should get none? " + FACTOR,
        )
    if known_right and loudest > 0.01:
        return symptom(
            "right where a letter has come before; where it comes for the first time, the answer isn't zeros.",
            "a softmax has to give its weight away. Give a letter without a copy a place to look that says nothing.",
        )
    return None


def says_too_little(answer):
    """The right letters in the right shares wherever a letter has a copy, but less than 1 in sum."""
    if not answer.returned_everywhere():
        return None
    pairs = list(_values(answer, {AGAIN, DIFFERENT, "no letter comes twice"}))
    sums = []
    for right, found in pairs:
        known, total = right.sum(dim=-1) > 0.5, found.sum(dim=-1)
        shares = found[known] / total[known][:, None]
        if (
            found[~known].abs().max() > 0.01
            or total[known].min() < 0.02
            or not torch.allclose(shares, right[known], atol=0.03)
        ):
            return None
        sums.append(total[known])
    if sums and torch.cat(sums).max() < 1.01:
        return symptom(
            "zeros where they should be, and the right letters elsewhere, but their numbers sum to less than 1: part of the "
            "weight goes to a place that says nothing.",
            "a match has to score clearly more than the place where a letter without a copy looks. " + FACTOR,
        )
    return None


FACTOR = "Softmax turns a difference of s between two scores into a factor of e^s."
TABLE = "compare the keys, shapes and dtypes of your dict with the table in the task."
EXERCISE = Exercise(
    cases,
    returns=("answers of the machine",),
    driver="drive_machine",
    rtol=0.0,
    atol=0.01,
    symptoms=(
        stops_with("a dict of three matrices", "the dict has other keys than the table in the task names.", TABLE),
        stops_with("have the shapes", "the shapes of the three matrices aren't (3 * V, 3 * V).", TABLE),
        stops_with("must be float32", "the three matrices aren't all float32.", TABLE),
        speaks_where_nothing_is_known,
        says_too_little,
    ),
    advice="run run_machine(induction_by_hand(4), torch.tensor([[0, 1, 2, 3, 1, 2]])) and look at the weights row by row: where "
    "should the last two letters look, and where the others?",
)
