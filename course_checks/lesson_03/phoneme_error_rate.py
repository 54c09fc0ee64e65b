"""3.5 · Phoneme error rate with several accepted pronunciations."""

import torch

from course_utils.metrics import edit_distance

from ..deciding.exercise import Case, Exercise

SOUNDS = ("AA", "B", "CH", "D", "EH", "F", "G", "IY", "K", "L", "M", "N", "OW", "P")


def words(*texts):
    return [text.split() for text in texts]


def cases(seed):
    rng = torch.Generator().manual_seed(seed)
    example = Case(hypotheses=words("R IY D", "AH"), references=[words("R EH D", "R IY D"), words("EY")])
    longer = Case(  # near in share is not near in edits; the nearest is neither first nor shortest nor longest
        "a hypothesis is empty",
        hypotheses=words("N EY SH AH N", "K AE T S", ""),
        references=[words("N AE SH", "N EY SH N", "N AE SH AH N AH L"), words("K AE T"), words("AH V")],
    )
    by_share = Case(  # 2 edits of 3 symbols; 3 edits of 8: the first is nearer, though its share is larger
        hypotheses=words("B D F G K", "L M"), references=[words("D F G", "B D F G K L M N"), words("L IY M", "P")]
    )
    too_long = Case(
        "the rate is above 1", hypotheses=words("P L M G B", "D F G"), references=[words("OW"), words("D EH G")]
    )
    return [example, longer, by_share, too_long, *(drawn(rng, count) for count in (5, 7, 7))]


def drawn(rng, count):
    """Random words with one pronunciation that is nearer than the others, so that ties decide nothing."""
    hypotheses, references = [], []
    for _ in range(count):
        length, others, place = (int(torch.randint(*ends, (), generator=rng)) for ends in ((3, 9), (0, 3), (0, 3)))
        truth = random_sounds(rng, length)
        hypothesis = [*truth[:-1], "ZH"] if length % 2 else [*truth, *random_sounds(rng, 2)]
        accepted = [farther(rng, hypothesis, edit_distance(hypothesis, truth)) for _ in range(others)]
        accepted.insert(min(place, others), truth)
        hypotheses.append(hypothesis)
        references.append(accepted)
    return Case(hypotheses=hypotheses, references=references)


def random_sounds(rng, length):
    return [SOUNDS[i] for i in torch.randint(len(SOUNDS), (length,), generator=rng).tolist()]


def farther(rng, hypothesis, nearest):
    while True:
        sounds = random_sounds(rng, int(torch.randint(2, 8, (), generator=rng)))
        if edit_distance(hypothesis, sounds) > nearest:
            return sounds


EXERCISE = Exercise(
    cases,
    returns=("rate",),
    off_limits=("course_utils.metrics.phoneme_error_rate", "course_utils.metrics.word_error_rate"),
    advice="work the example of the task by hand: nearest pronunciations, their edits, their lengths; then one division.",
)
