"""Word and phoneme error rate over words with several accepted pronunciations."""

import random
from difflib import SequenceMatcher

from course_utils.tokenizers import PHONEMES

from ...exercise import Case, Exercise, Fault
from ...kit.edits import DISTANCE_FAULTS, edits
from ...kit.parts import faults_of


def _rates(
    hypotheses, references, *, choose=lambda d, hypothesis, accepted: min(accepted, key=lambda r: d(hypothesis, r)),
    length=lambda hypothesis, chosen, accepted: len(chosen),
    divide=lambda counts, lengths: sum(counts) / sum(lengths),
    right=lambda hypothesis, accepted: tuple(hypothesis) in accepted,
    words=lambda wrong, counts, references: sum(wrong) / len(wrong), finish=lambda rate: rate, distance=edits,
):  # fmt: skip
    counts, lengths, wrong = [], [], []
    for hypothesis, accepted in zip(hypotheses, references, strict=True):
        chosen = choose(distance, hypothesis, accepted)
        counts.append(distance(hypothesis, chosen))
        lengths.append(length(hypothesis, chosen, accepted))
        wrong.append(not right(hypothesis, accepted))
    return finish(words(wrong, counts, references)), finish(divide(counts, lengths))


A, B, C, D, E, F = "AA", "AE", "AH", "AO", "AW", "AY"
BY_HAND = (  # label; (hypothesis, accepted pronunciations) of each word
    ("every word is right, one by its second pronunciation", ([A, B], [(D,), (A, B)]), ([F], [(F,)])),
    ("a sound is missing at the start", ([B, C, A], [(D, B, C, A)]), ([A, C, D], [(B, A, C, D)])),
    ("sounds were said too much", ([A, D, B, C, E], [(A, B, C)]), ([B], [(A, B)])),
    ("two sounds stand in the other order", ([B, A, C], [(A, B, C)]), ([F, E], [(E, F)])),
    ("the model says far too much", ([A, B, C, D, E, F, A, B], [(A,)]), ([B, B, B, C], [(F,)])),
    ("nothing was said", ([], [(A, B, C), (D, E)]), ([C], [(C,)])),
    ("two pronunciations are equally near, the longer first", ([A, B, C], [(A, B, C, D), (A, B)]), ([E], [(F, E), (A,)])),
    ("two pronunciations are equally near, the shorter first", ([E, D, A, B], [(E, D), (E, D, A, B, C, C)]), ([A], [(A,)])),
    ("three pronunciations are equally near", ([A, B, C], [(B, A, B, C), (A, A, C), (B, C)]), ([F], [(F,)])),
    ("the model says far too much of one word", ([A, B, C, D], [(F,)]), ([A, B, C, D, E], [(A, B, C, D, E)])),
    ("the far pronunciation is as long as what was said", ([A, B, C], [(D, E, F), (A, B, C, E, E)]), ([A], [(B, A, C)])),
    ("a sound comes twice", ([A, A], [(B, A)]), ([A, C, C], [(B, A, C)])),
    ("two sounds are written like another one", (["N", "G"], [("NG",)]), ([A], [(A,)])),
    ("the nearest has the higher share of edits", ([A, B], [(D, A, D, B, E, F), (D, E, F)]), ([B], [(C, B)])),
)  # fmt: skip


def _case(words, *labels):
    return Case(*labels, hypotheses=[said for said, _ in words], references=[accepted for _, accepted in words])


def _cases(seed):
    rng = random.Random(seed)
    cases = [_case(words, label) for label, *words in BY_HAND]
    for count in (3, 4, 5, 6):
        words = []
        for _ in range(count):
            accepted = [tuple(rng.choices(PHONEMES[:6], k=rng.randint(2, 6))) for _ in range(rng.randint(1, 3))]
            said = list(rng.choice(accepted))
            for _ in range(rng.choice((0, 0, 1, 2))):  # edits
                at, kind = rng.randrange(len(said) + 1), rng.choice("ids")
                said[at : at + (kind != "i")] = [] if kind == "d" else rng.choices(PHONEMES[:6])
            words.append((said, accepted))
        cases.append(_case(words))
    return cases


def _in_blocks(a, b):
    steps = SequenceMatcher(None, a, b, autojunk=False).get_opcodes()
    return sum(max(a_to - a_from, b_to - b_from) for kind, a_from, a_to, b_from, b_to in steps if kind != "equal")


def _by(key, step=1):
    return lambda distance, h, accepted: min(accepted[::step], key=lambda r: key(distance(h, r), r))


EXERCISE = Exercise(
    answer="error_rates", cases=_cases, reference=_rates, returns=("word error rate", "phoneme error rate"),
    faults=(
        Fault("first pronunciation only", "only the first pronunciation of each word was looked at.",
            "a word is right if it meets any accepted one; edits count to the nearest.",
            choose=lambda d, h, accepted: accepted[0], right=lambda h, accepted: tuple(h) == accepted[0]),
        *faults_of("right", "a word is right if it meets any accepted pronunciation: tuple(hypothesis) in accepted.",
            ("right by the first only", "a word is right only if it meets the first.", lambda h, some: tuple(h) == some[0]),
            ("all must be met", "a word is right only if it meets all its pronunciations.",
                lambda h, some: all(tuple(h) == one for one in some)),
            ("letters joined", "the letters of the sounds were joined: N and G pass for NG.",
                lambda h, some: "".join(h) in map("".join, some)),
            ("order does not matter", "the right sounds count in any order.", lambda h, some: sorted(h) in map(sorted, some)),
            ("lists never equal tuples", "all are wrong: a list is never equal to a tuple.", lambda h, some: h in some)),
        *faults_of("choose", "take the pronunciation with the fewest edits; of several such the first: min does both.",
            ("edits to the first only", "the edits are counted to the first pronunciation.", lambda d, h, some: some[0]),
            ("farthest", "the edits to the farthest pronunciation.", lambda d, h, some: max(some, key=lambda r: d(h, r))),
            ("nearest by length", "the one whose length is nearest was taken, not that with the fewest edits.",
                lambda d, h, accepted: min(accepted, key=lambda r: abs(len(r) - len(h)))),
            ("last of the nearest", "of several equally near the last was taken.", _by(lambda d, r: d, -1)),
            ("shortest of the nearest", "of several equally near the shortest was taken.", _by(lambda d, r: (d, len(r)))),
            ("longest of the nearest", "of several equally near the longest was taken.", _by(lambda d, r: (d, -len(r)))),
            ("first by the alphabet", "of several equally near the first by the alphabet was taken.", _by(lambda *d_r: d_r)),
            ("nearest by share", "the one with the lowest rate was taken.", _by(lambda d, r: d / len(r)))),
        *faults_of("length", "divide by the sounds of the pronunciations that the edits were counted to.",
            ("divided by the hypothesis", "the edits are divided by what the model said.", lambda h, chosen, some: len(h)),
            ("divided by the longer", "the edits are divided by the longer of hypothesis and pronunciation.",
                lambda h, chosen, some: max(len(h), len(chosen))),
            ("length of the first", "the length is that of the first pronunciation.", lambda h, chosen, some: len(some[0])),
            ("length of all", "the lengths of all pronunciations count.", lambda h, chosen, some: sum(map(len, some)))),
        *faults_of("divide", "two totals over all words, edits and lengths; then one division, and nothing cut off.",
            ("averaged per word", "a rate for each word, then their mean: sounds of short words count more.",
                lambda counts, lengths: sum(e / n for e, n in zip(counts, lengths, strict=True)) / len(counts)),
            ("word cut at its length", "the edits of a word are cut off at its length.",
                lambda counts, lengths: sum(map(min, counts, lengths)) / sum(lengths)),
            ("rate cut at 1", "the phoneme error rate is cut off at 1; it may be more.",
                lambda counts, lengths: min(1.0, sum(counts) / sum(lengths)))),
        *faults_of("words", "count each wrong word once, and divide by the number of words.",
            ("words by pronunciations", "wrong words are divided by the number of all pronunciations.",
                lambda wrong, counts, all_: sum(wrong) / sum(map(len, all_))),
            ("edits per word", "the word error rate holds the edits per word.", lambda _, counts, all_: sum(counts) / len(all_)),
            ("share that is right", "the word error rate holds the share of words that are right.",
                lambda wrong, *_: 1 - sum(wrong) / len(wrong))),
        Fault("percent", "both rates in percent.", "return fractions.", finish=lambda rate: 100 * rate),
        *DISTANCE_FAULTS,
        *faults_of("distance", "each sound that is missing, too much, or another one is one edit; nothing else is.",
            ("no substitution", "one wrong sound costs two edits, one out and one in.", lambda a, b: edits(a, b, substitute=2)),
            ("insertions free", "sounds that were said too much cost nothing.", lambda a, b: edits(a, b, delete=0)),
            ("missing sounds free", "sounds that are missing cost nothing.", lambda a, b: edits(a, b, insert=0)),
            ("blocks of difflib", "the edits in the matching blocks of difflib: there may be fewer.", _in_blocks,
                "fill the table of the edit distance (lesson 03, section 3.8): it finds the fewest."),
            ("a swap is one edit", "two sounds in the other order count as one edit.", lambda a, b: edits(a, b, swap=True)),
            ("border of zeros", "the first row and column of the table are 0; they should count 0, 1, 2, ...",
                lambda a, b: edits(a, b, border=(0, 0))),
            ("first row of zeros", "the first row of the table is 0; it should count 0, 1, 2, ...",
                lambda a, b: edits(a, b, border=(0, 1))),
            ("first column of zeros", "the first column of the table is 0; it should count 0, 1, 2, ...",
                lambda a, b: edits(a, b, border=(1, 0)))),
    ),
    advice="work the example of the task by hand: nearest pronunciation, its edits, its length; then two divisions.",
)  # fmt: skip
