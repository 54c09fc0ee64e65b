"""3.5 · Phoneme error rate, by kind of error."""

import torch

from course_utils.metrics import edit_distance

from ..deciding.exercise import Case, Exercise
from ..deciding.wrong_answer import Diagnosis, WrongAnswer, as_numbers, symptom

SOUNDS = ("AA", "B", "CH", "D", "EH", "F", "G", "IY", "K", "L", "M", "N", "OW", "P")


def words(*texts):
    return [text.split() for text in texts]


def cases(seed):
    rng = torch.Generator().manual_seed(seed)
    example = Case(
        hypotheses=words("R IY D", "AH B", "T AE S K"),
        references=[words("R EH D", "R IY D"), words("EY"), words("T AE K S")],
    )
    longer = Case(  # near in share is not near in edits; the nearest is neither first nor shortest nor longest
        "a hypothesis is empty",
        hypotheses=words("N EY SH AH N", "K AE T S", ""),
        references=[words("N AE SH", "N EY SH N", "N AE SH AH N AH L"), words("K AE T"), words("AH V")],
    )
    by_share = Case(  # 2 edits of 3 symbols; 3 edits of 8: the first is nearer, though its share is larger
        hypotheses=words("B D F G K", "L M", "D B D F"),  # from the last, difflib makes 4 edits where 3 are enough
        references=[words("D F G", "B D F G K L M N"), words("L IY M", "P"), words("D G K B")],
    )
    too_long = Case(
        "the rates add up to more than 1",
        hypotheses=words("P L M G B", "D F G"),
        references=[words("OW"), words("D EH G")],
    )
    both = Case(  # an extra sound at one end and a missing one at the other
        "a word has missing and extra sounds",
        hypotheses=words("B D F G K", "L M"),
        references=[words("D F G K P"), words("L")],
    )
    equally_near = Case(
        "two pronunciations are equally near",
        hypotheses=words("AA D ER", "B IY"),
        references=[words("AA D", "IY D ER", "AA D ER Z"), words("B EH", "B IY N", "B")],
    )
    winding = Case(  # going back along diagonals from the end finds 3 missing and 1 extra
        "the way that replaces the most begins with a gap at the end",
        hypotheses=words("K B K AA B"),
        references=[words("K K K B B K AA")],
    )
    shifted = Case(  # replacing all 99 is one edit more: a gap that costs above 1 + 1/98 of a replacement leads there
        "a word has 49 missing and 49 extra sounds",
        hypotheses=[["AA"] * 49 + ["B"] + ["CH"] * 49],
        references=[[["B"] + ["CH"] * 49 + ["D"] * 49]],
    )
    return [
        example,
        longer,
        by_share,
        too_long,
        both,
        equally_near,
        winding,
        *(drawn(rng, count) for count in (5, 7, 7)),
        shifted,
    ]


def drawn(rng, count):
    """Random words with one pronunciation that is nearer than the others; what was said of it has errors of every kind."""
    hypotheses, references = [], []
    for _ in range(count):
        length, others, place = (int(torch.randint(*ends, (), generator=rng)) for ends in ((4, 9), (0, 3), (0, 3)))
        truth = random_sounds(rng, length)
        hypothesis = [*truth[:-1], "ZH"] if length % 2 else [truth[1], truth[0], *truth[2:], *random_sounds(rng, 2)]
        if length % 3 == 0:
            del hypothesis[2]
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


def another_number_of_edits(answer: WrongAnswer) -> Diagnosis | None:
    """The three kinds add up to whole edits in every case, but to more than are needed, or to fewer."""
    more = []
    for case, seen, right in zip(answer.cases, answer.observed, answer.expected, strict=True):
        rates = as_numbers(seen["value"]) if seen["outcome"] == "returned" else None
        if rates is None or rates.shape != (3,) or not rates.isfinite().all():
            return None
        pairs = zip(case["hypotheses"], case["references"], strict=True)
        sounds = sum(len(min(accepted, key=lambda each: edit_distance(said, each))) for said, accepted in pairs)
        edits = float(rates.sum()) * sounds
        if abs(edits - round(edits)) > 1e-4:
            return None
        more.append(round(edits) - round(float(as_numbers(right["value"]).sum()) * sounds))
    places = sum(number != 0 for number in more)
    where = f"in {places} case{'s' * (places != 1)} of the check"
    advice = "for each word compare the sum of your three kinds with edit_distance."
    if places and min(more) >= 0:
        return symptom(f"{where} more edits are counted than are needed.", advice, "more edits than needed")
    if places and max(more) <= 0:
        return symptom(f"{where} fewer edits are counted than any way needs.", advice, "fewer edits than needed")
    return None


EXERCISE = Exercise(
    cases,
    returns=("replaced", "missing", "extra"),
    symptoms=(another_number_of_edits,),
    off_limits=("course_utils.metrics.phoneme_error_rate", "course_utils.metrics.word_error_rate"),
    advice="work the example by hand: nearest pronunciations, their edits of each kind, their lengths; then one division.",
)
