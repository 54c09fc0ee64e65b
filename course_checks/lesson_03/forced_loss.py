"""3.3 · A loss for words with several right answers."""

import torch

from ..deciding.exercise import Case, Exercise
from ..deciding.wrong_answer import Diagnosis, WrongAnswer, as_numbers, part_of, symptom

TINY = "the probabilities are tiny"
CEILING = 110.0  # minus the logarithm of the smallest number of float32 is 103


def make_case(rng, lengths, L_s, V, pad_id, *labels, size=1.0):
    """``lengths`` has a tuple for each word: how many sounds each of its pronunciations has."""
    real = [symbol for symbol in range(V) if symbol != pad_id]
    start, end, sounds = real[-1], real[-2], torch.tensor(real[:-2])
    most, longest = max(map(len, lengths)), max(max(word) for word in lengths)
    target = torch.full((len(lengths), most, longest + 2), pad_id)
    for rows, word in zip(target, lengths, strict=True):
        for row, (place, length) in zip(rows, enumerate(word), strict=False):
            row[0], row[length + 1] = start, end
            row[1 : length + 1] = sounds[torch.randint(len(sounds), (length,), generator=rng)]
            row[1] = sounds[
                place
            ]  # no pronunciation is there twice; 0 is an ordinary symbol wherever it is not the padding
    source = torch.randint(1, 6, (len(lengths), L_s), generator=rng)
    letters, sounds, output = (torch.randn(shape, generator=rng) for shape in ((6, 6), (V, 6), (6, V)))
    model = {"letters": letters, "sounds": sounds, "output": size * output}
    return Case(*labels, source=source, target=target, pad_id=pad_id, driver=model)


def cases(seed):
    rng = torch.Generator().manual_seed(seed)
    sizes = [
        (((2,),), 3, 5, 0, "one word with one pronunciation"),
        (((3, 2), (2, 3)), 5, 8, 0, "every word has two pronunciations"),
        (((3, 2), (2,), (3, 4, 2)), 4, 9, 7),
        (((1,), (5, 4)), 6, 7, 4),
        (((4, 5), (2,), (3, 2)), 5, 8, 0),
    ]
    unlikely = make_case(rng, ((4, 3), (2,)), 5, 8, 0, TINY, size=150.0)
    return [*(make_case(rng, *each) for each in sizes), unlikely]


def has_a_ceiling(answer: WrongAnswer) -> Diagnosis | None:
    """Something keeps each probability above a small number, as in log(p + 1e-12)."""
    advice = "stay with logarithms to the end: logsumexp needs no small number."
    for index in answer.wrong:
        seen, right = answer.observed[index], answer.expected[index]
        if TINY in answer.cases[index].labels and seen["outcome"] == "returned" and not all(answer.failing):
            parts = [part_of(side["value"], 0, 2) for side in (seen, right)]
            yours, expected = (part and as_numbers(part) for part in parts)
            if yours is not None and yours.dim() == 0 and 0 < yours < min(CEILING, expected / 2):
                only = f"where {TINY} the loss is only {yours:.4g}"
                return symptom(f"{only}: a word's probability cannot fall below a small number.", advice, "a ceiling")
    return None


EXERCISE = Exercise(
    cases,
    returns=("loss", "gradient of the model's weights"),
    driver="drive_forced_loss",
    symptoms=(has_a_ceiling,),
    off_limits=tuple(
        f"course_utils.training.{kind}_loss" for kind in ("teacher_forced", "label_smoothing", "next_symbol")
    ),
    advice="work the example by hand: a product for each pronunciation, a sum for each word, then minus the logarithm.",
)
