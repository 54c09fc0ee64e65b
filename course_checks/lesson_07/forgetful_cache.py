"""7.8 · A cache that forgets."""

import torch

from ..deciding.exercise import Case, Exercise
from ..deciding.wrong_answer import symptom
from ..running.encode import decode
from .common import CACHES, keeps_for_all


def cases(seed):
    rng = torch.Generator().manual_seed(seed)

    def case(first, latest, new_positions, *labels, shape=(2, 3, 4), overwrite=False):
        batch, heads, d_head = shape
        keys, values = torch.randn(2, batch, heads, sum(new_positions), d_head, generator=rng)
        sizes = {"num_first": first, "num_latest": latest, "new_positions": new_positions}
        return Case(*labels, **sizes, keys=keys, values=values, driver={"overwrite": overwrite})

    return [
        case(1, 2, [2, 1, 3], shape=(1, 1, 2)),
        case(2, 3, [1] * 8),
        case(0, 3, [2, 1, 1, 2], "num_first is 0"),
        case(2, 3, [9, 1, 2], "the first piece is larger than the room"),
        case(3, 1, [2, 2, 1, 5], "the first positions come in two pieces"),
        case(4, 4, [2, 3, 2], "everything fits"),
        case(1, 3, [2, 1, 2, 1], "the tensors handed to update are changed after the call", overwrite=True),
    ]


def how_many(answer):
    """More or fewer positions than there should be, in the first update where that is so."""
    result, case = decode(answer.observed[answer.first].get("value", {"kind": "none"})), answer.cases[answer.first]
    if not isinstance(result, tuple) or not all(
        isinstance(tensor, torch.Tensor) and tensor.dim() == 4 for tensor in result[0]
    ):
        return None
    room, seen = case["num_first"] + case["num_latest"], 0
    for update, (keys, new) in enumerate(zip(result[0], case["new_positions"], strict=False), start=1):
        seen += new
        if keys.shape[2] != min(room, seen):
            sentence = (
                f"after update {update}, with {seen} seen, {keys.shape[2]} positions came back, not {min(room, seen)}."
            )
            return symptom(sentence, "join first, then forget: min(seen, room) are left.", "another number kept")
    return None


EXERCISE = Exercise(
    cases,
    returns=("keys", "values"),
    expects="class",
    driver="drive_forgetful",
    off_limits=CACHES,
    symptoms=(keeps_for_all, how_many),
    advice="feed the positions 1, 2, 3 ... one by one with num_first=1 and num_latest=2, and print what comes back.",
)
