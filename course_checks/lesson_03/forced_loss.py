"""3.3 · The teacher-forced loss."""

import torch

from ..deciding.exercise import Case, Exercise


def make_case(rng, lengths, L_s, V, pad_id, *labels, size=1.0):
    real = [symbol for symbol in range(V) if symbol != pad_id]
    start, end, sounds = real[-1], real[-2], torch.tensor(real[:-2])
    target = torch.full((len(lengths), max(lengths) + 2), pad_id)
    for row, length in enumerate(lengths):
        target[row, 0], target[row, length + 1] = start, end
        target[row, 1 : length + 1] = sounds[torch.randint(len(sounds), (length,), generator=rng)]
    target[0, 1] = sounds[0]  # 0 is an ordinary symbol wherever it is not the padding
    source = torch.randint(1, 6, (len(lengths), L_s), generator=rng)
    letters, sounds, output = (torch.randn(shape, generator=rng) for shape in ((6, 6), (V, 6), (6, V)))
    model = {"letters": letters, "sounds": sounds, "output": size * output}
    return Case(*labels, source=source, target=target, pad_id=pad_id, driver=model)


def cases(seed):
    rng = torch.Generator().manual_seed(seed)
    sharp = make_case(rng, (4, 2), 5, 8, 0, "the logits are large", size=150.0)
    sizes = (((2,), 3, 5, 0), ((4, 2), 5, 8, 0), ((3, 6, 2), 4, 9, 7), ((1, 5), 6, 7, 4), ((4, 2), 5, 8, 0))
    return [*(make_case(rng, *each) for each in sizes), sharp]


EXERCISE = Exercise(
    cases,
    returns=("loss", "gradient of the model's weights"),
    driver="drive_forced_loss",
    off_limits=tuple(
        f"course_utils.training.{kind}_loss" for kind in ("teacher_forced", "label_smoothing", "next_symbol")
    ),
    advice="print what goes in above what is compared: in each column, the lower symbol is the answer to the upper one.",
)
