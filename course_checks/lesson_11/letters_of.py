"""11.4 · One letter for each sound, never going back."""

import torch

from ..deciding.exercise import Case, Exercise
from ..deciding.wrong_answer import as_numbers, symptom

WAITS = "decide about a letter only when you know what all later sounds can still get from there."


def cases(seed):
    rng = torch.Generator().manual_seed(seed)
    sizes = (
        (1, 1, 3, 4),
        (1, 3, 4, 3),
        (3, 1, 4, 6),
        (2, 3, 5, 7),
        (4, 2, 9, 6),
        (3, 4, 8, 11),
        (2, 3, 5, 7),
        (2, 5, 10, 12),
    )
    drawn = [1.7 * torch.randn(*size, generator=rng) for size in (*sizes, (2, 2, 2, 3))]
    rows = torch.tensor([[0.3, 0.25, 0.45], [0.6, 0.2, 0.2], [0.1, 0.7, 0.2], [0.0, 0.0, 1.0]])
    # The largest sum holds a tiny weight, the largest product does not.
    tiny = torch.tensor([[0.12, 0.08, 0.8], [0.11, 0.09, 0.8], [0.98, 0.012, 0.008], [0.2, 0.3, 0.5]])
    wide = torch.randn(2, 2, 6, 5, generator=rng, dtype=torch.float64)
    written = (rows[None, None], tiny[None, None])
    return [Case(weights=w) for w in (*written, *(w.softmax(-1) for w in (*drawn, wide)))]


def compared(case, letters):
    """Any whole numbers will do: int32 as well as int64."""
    whole = torch.int8, torch.int16, torch.int32, torch.uint8
    return letters.long() if isinstance(letters, torch.Tensor) and letters.dtype in whole else letters


def of_its_paths(answer):
    """What can be seen in the paths by themselves, whatever way they were found."""
    found = []
    for case, seen in zip(answer.cases, answer.observed, strict=True):
        letters = as_numbers(seen["value"]) if seen["outcome"] == "returned" else None
        *_, rows, places = case["weights"].shape
        if letters is None or letters.shape != (rows - 1,):
            return None
        found.append((letters, letters.diff(), rows - 1, places))
    if any((steps < 0).any() for _, steps, _, _ in found):
        return symptom("in some word the letters go back.", WAITS)
    # Where there are more sounds than letters, some have to share one.
    if all((steps > 0).all() for _, steps, sounds, places in found if sounds <= places):
        return symptom(
            "no two sounds share a letter.",
            "a letter may be shared by several sounds: the sound before may end at the same place, too.",
        )
    if all((steps <= 1).all() for _, steps, _, _ in found):
        return symptom(
            "no letter is skipped: each sound has the letter of the sound before or the next one.",
            "a path may jump over letters: before a letter, the sound before may have ended at any letter up to there.",
        )
    if all(letters[-1] == places - 1 for letters, _, _, places in found):
        return symptom(
            "the last sound always has the last letter of the word.",
            "the path may end anywhere: at the letter where the best sum after the last sound is largest.",
        )
    return None


EXERCISE = Exercise(
    cases,
    returns=("letters",),
    compared=compared,
    symptoms=(of_its_paths,),
    off_limits=("course_utils.pretrained.pronunciation.align",),
    advice="work the example by hand: for each sound and letter, the best sum of a path that ends there.",
)
