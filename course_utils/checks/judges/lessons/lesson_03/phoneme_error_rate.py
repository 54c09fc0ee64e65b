"""Phoneme error rate with several accepted pronunciations."""

import torch

from course_utils.metrics import edit_distance

from ...exercise import Case, Exercise, Fault
from ...kit.edits import DISTANCE_FAULTS
from ...kit.parts import faults_of

SOUNDS = ("AA", "B", "CH", "D", "EH", "F", "G", "IY", "K", "L", "M", "N", "OW", "P")


def _cases(seed):
    rng = torch.Generator().manual_seed(seed)
    example = Case(hypotheses=["R IY D".split(), ["AH"]], references=[["R EH D".split(), "R IY D".split()], [["EY"]]])
    longer = Case(  # near in share is not near in edits; the nearest is neither first nor shortest nor longest
        "a hypothesis is empty", hypotheses=["N EY SH AH N".split(), "K AE T S".split(), []],
        references=[["N AE SH".split(), "N EY SH N".split(), "N AE SH AH N AH L".split()], ["K AE T".split()], [["AH", "V"]]],
    )  # fmt: skip
    by_share = Case(  # 2 edits of 3 symbols; 3 edits of 8: the first is nearer, though its share is larger
        hypotheses=["B D F G K".split(), ["L", "M"]],
        references=[["D F G".split(), "B D F G K L M N".split()], ["L IY M".split(), ["P"]]],
    )
    references = [[["OW"]], ["D EH G".split()]]
    too_long = Case("the rate is above 1", hypotheses=["P L M G B".split(), "D F G".split()], references=references)
    return [example, longer, by_share, too_long, _drawn(rng, 5), _drawn(rng, 7), _drawn(rng, 7)]


def _drawn(rng, words):
    """Random words with one pronunciation that is nearer than the others, so that ties decide nothing."""
    hypotheses, references = [], []
    for _ in range(words):
        length, others, place = (int(torch.randint(*ends, (), generator=rng)) for ends in ((3, 9), (0, 3), (0, 3)))
        truth = _random_sounds(rng, length)
        hypothesis = [*truth[:-1], "ZH"] if length % 2 else [*truth, *_random_sounds(rng, 2)]
        accepted = [_far(rng, hypothesis, edit_distance(hypothesis, truth)) for _ in range(others)]
        accepted.insert(min(place, others), truth)
        hypotheses.append(hypothesis)
        references.append(accepted)
    return Case(hypotheses=hypotheses, references=references)


def _random_sounds(rng, length):
    return [SOUNDS[i] for i in torch.randint(len(SOUNDS), (length,), generator=rng).tolist()]


def _far(rng, hypothesis, nearest):
    while True:
        found = _random_sounds(rng, int(torch.randint(2, 8, (), generator=rng)))
        if edit_distance(hypothesis, found) > nearest:
            return found


def _rate(
    hypotheses, references, *, counts=lambda hypothesis: True, distance=edit_distance,
    choose=lambda said, accepted: [min(accepted, key=lambda reference: edit_distance(said, reference))],
    length=lambda said, chosen, accepted: sum(map(len, chosen)), finish=lambda edits, lengths: sum(edits) / sum(lengths),
):  # fmt: skip
    edits, lengths = [], []
    for hypothesis, accepted in zip(hypotheses, references, strict=True):
        if counts(hypothesis):
            chosen = choose(hypothesis, accepted)
            edits.append(sum(distance(hypothesis, reference) for reference in chosen))
            lengths.append(length(hypothesis, chosen, accepted))
    return finish(edits, lengths)


def _mean_of_rates(edits, lengths):
    return sum(e / n if n else float(e) for e, n in zip(edits, lengths, strict=True)) / len(edits)


def _best(key):
    return lambda hypothesis, accepted: [min(accepted, key=lambda reference: key(hypothesis, reference))]


def _by_position(said, reference):
    return sum(a != b for a, b in zip(said, reference, strict=False)) + abs(len(said) - len(reference))


_farthest = _best(lambda said, reference: -edit_distance(said, reference))

_DIVIDE = "add up all edits, add up the lengths of the nearest pronunciations, divide once."
_NEAREST = "take the nearest of them, the one with the fewest edits."
_LENGTH = "use the length of the pronunciation whose edits you count."
_EDITS = "use edit_distance."

FAULTS = (
    Fault("divided by the hypothesis", "the edits are divided by the length of the hypotheses: saying more lowers the rate.",
        _DIVIDE, length=lambda said, chosen, accepted: len(said)),
    Fault("divided by the hypothesis, word by word", "each word's edits are divided by its hypothesis, which may be empty.",
        _DIVIDE, length=lambda said, chosen, accepted: len(said),
        finish=lambda edits, lengths: sum(e / n for e, n in zip(edits, lengths, strict=True)) / len(edits)),
    Fault("divided by the longer of the two", "the edits are divided by the longer of hypothesis and pronunciation.", _LENGTH,
        length=lambda said, chosen, accepted: max(len(said), *map(len, chosen))),
    *(Fault(f"length of {which}", f"the length is that of {which} of the accepted pronunciations, whichever of them the "
            "edits are counted to.", _LENGTH, length=lambda said, chosen, accepted, of=of: of(list(map(len, accepted))))
      for which, of in (("the first", lambda sizes: sizes[0]), ("the shortest", min), ("the longest", max), ("all", sum))),
    *faults_of("finish", _DIVIDE,  # e: the edits of each word, n: the lengths
        ("averaged per word", "each word's rate first, then their mean: a sound of a short word counts more than one "
         "of a long word.", _mean_of_rates),
        ("divided by the number of words", "the edits are divided by the number of words: edits per word.",
         lambda e, n: sum(e) / len(e)),
        ("words instead of phonemes", "the share of words with an error: the word error rate.",
         lambda e, n: sum(edits > 0 for edits in e) / len(e), "count edits, divide by phonemes."),
        ("accuracy", "1 minus the rate: the share that is right.", lambda e, n: 1 - sum(e) / sum(n), "return the rate."),
        ("each word cut at 1", "the edits of a word are cut off at its length.",
         lambda e, n: sum(map(min, e, n)) / sum(n), "a word may need more edits than it has phonemes; count them all."),
        ("cut at 1", "the rate is cut off at 1.", lambda e, n: min(1.0, sum(e) / sum(n)), "leave out min: it may be above 1."),
        ("rounded", "a whole-number division: the rest is thrown away.", lambda e, n: sum(e) // sum(n), "divide with /."),
        ("not divided", "the two totals, not yet divided.", lambda e, n: (sum(e), sum(n)), "divide edits by phonemes.")),
    *faults_of("choose", _NEAREST,
        ("first pronunciation only", "only the first accepted pronunciation is looked at.", lambda said, given: given[:1]),
        ("last pronunciation only", "only the last accepted pronunciation is looked at.", lambda said, given: given[-1:]),
        ("shortest pronunciation", "the shortest pronunciation is taken.", _best(lambda said, reference: len(reference))),
        ("farthest pronunciation", "the farthest pronunciation is taken.",
         _farthest, "take the nearest: min, not max."),
        ("nearest by share", "the pronunciation with the lowest rate is taken; the task says: with the fewest edits.",
         _best(lambda said, reference: edit_distance(said, reference) / len(reference)),
         "choose by edit_distance alone, then count its length."),
        ("all pronunciations together", "the edits to all accepted pronunciations are added up, and all their lengths.",
         lambda said, accepted: accepted, "one of them is enough: take the nearest.")),
    *(Fault(f"most edits, length of {which}", "the edits are those to the farthest of the accepted pronunciations, and the "
            f"length is that of {which}.", "take the nearest (min, not max), and its own length.", choose=_farthest,
            length=lambda said, chosen, accepted, of=of: of(list(map(len, accepted))))
      for which, of in (("the first", lambda sizes: sizes[0]), ("the shortest", min), ("the longest", max))),
    Fault("compared position by position throughout", "sounds are compared position by position, in choosing and in counting: "
        "one sound missing makes all that follow wrong.", "use edit_distance (lesson 03, section 3.6), where one missing sound "
        "is one edit.", distance=_by_position, choose=_best(_by_position)),
    Fault("empty ones left out", "words with an empty hypothesis are left out: neither their edits nor their length count.",
        "a word that is not said needs as many edits as it has phonemes.", counts=bool),
    *DISTANCE_FAULTS,
    Fault("letters for phonemes", "the phonemes are joined to one string: edits of letters are counted.", _EDITS,
        distance=lambda a, b: edit_distance("".join(a), "".join(b))),
)  # fmt: skip

EXERCISE = Exercise(
    answer="phoneme_error_rate", cases=_cases, reference=_rate, returns=("rate",), faults=FAULTS,
    advice="work the example of the task by hand: nearest pronunciations, their edits, their lengths; then one division.",
)  # fmt: skip
