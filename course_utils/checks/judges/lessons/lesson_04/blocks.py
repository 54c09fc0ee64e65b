"""Attention in blocks that are read once, with a running maximum, sum and output."""

import torch

from ...exercise import Case, Exercise, Fault
from ...kit.attention import FACTOR_FAULTS_OF_THREE_AXES, attend, eighths

SIZES = (
    (1, 1, 2, 1, [2, 1]), (2, 5, 3, 6, [4, 4, 4]), (3, 4, 16, 2, [3, 1, 5]), (2, 3, 5, 4, [6]), (2, 5, 3, 6, [4, 4, 4]),
)  # fmt: skip
LEVELS = {"very large scores": (512.0,) * 4, "scores that rise by thousands": (-32.0, 0.0, 8.0, 32.0)}


def _cases(seed):
    rng = torch.Generator().manual_seed(seed)
    cases = []
    for place, (B, L_q, d_k, d_v, sizes) in enumerate((*SIZES, (1, 2, 4, 3, [4] * 120))):
        shapes = ((L_q, d_k), (sum(sizes), d_k), (sum(sizes), d_v))
        dtype = torch.float64 if place == 2 else torch.float32
        query, key, value = (torch.randn(B, *shape, generator=rng, dtype=dtype) for shape in shapes)
        cases.append(Case(*["many blocks"] * (place == 5), query=2 * query, key=key, value=value, block_sizes=sizes))
    for label, level in LEVELS.items():
        query, key = eighths(2, 4, 16, rng=rng).double(), eighths(2, 8, 16, rng=rng).double()
        query[..., 0] = torch.tensor([256.0, -256.0, 1.0, 0.0])  # scores of up to 32,768, and as far below 0
        key[..., 0] = torch.tensor(level).repeat_interleave(2)
        value = torch.randn(2, 8, 3, generator=rng).double()
        cases.append(Case(label, query=query, key=key, value=value, block_sizes=[2] * 4))
    return cases


def _in_blocks(
    query, blocks, *, factor=lambda q, *_: q.shape[-1] ** -0.5, start=-torch.inf,
    running=lambda old, scores: torch.maximum(old, scores.amax(-1, keepdim=True)),
    shrink=lambda old, new: (old - new).exp(), keep_sum=lambda total, shrunk: total * shrunk,
    keep_output=lambda output, shrunk: output * shrunk, each=lambda output, total: output,
    finish=lambda output, total: output / total,
):  # fmt: skip
    highest, total, output = query.new_full((*query.shape[:2], 1), start), 0.0, 0.0
    for key, value in blocks:
        scores = query @ key.mT * factor(query, key, value)
        new = running(highest, scores)
        powers, shrunk = (scores - new).exp(), shrink(highest, new)
        total = keep_sum(total, shrunk) + powers.sum(-1, keepdim=True)
        output, highest = each(keep_output(output, shrunk) + powers @ value, total), new
    return finish(output, total)


def _mean_of_blocks(query, blocks):
    total, number = 0.0, 0
    for key, value in blocks:
        total, number = total + attend(query, key, value)[0], number + 1
    return total / number


def _mean_of_kept_blocks(query, blocks):
    outputs = [attend(query, key, value)[0] for key, value in blocks]
    return sum(outputs) / len(outputs)


def _joined(query, blocks):
    keys, values = zip(*blocks, strict=True)
    return attend(query, torch.cat(keys, 1), torch.cat(values, 1))[0]


_BOTH = "when the maximum rises from old to new, multiply sum and output by exp(old - new)."

FAULTS = (
    Fault("sum not shrunk", "the old sum is kept as it was when the maximum rises; the output shrinks.", _BOTH,
          keep_sum=lambda total, shrunk: total),
    Fault("output not shrunk", "the old output is kept as it was when the maximum rises; the sum shrinks.", _BOTH,
          keep_output=lambda output, shrunk: output),
    Fault("nothing shrunk", "old sum and output are kept as they were when the maximum rises.", _BOTH,
          keep_sum=lambda total, shrunk: total, keep_output=lambda output, shrunk: output),
    Fault("sign turned", "every output is NaN: exp(new - old) makes that of the first block, where old is minus infinity and "
          "infinity meets the 0 of the empty sum.", "turn the sign: what is older shrinks, by exp(old - new).",
          shrink=lambda old, new: (new - old).exp()),
    Fault("divided in every block", "the output is divided by the sum in every block, and then goes on as if it were a sum.",
          "add up without dividing, and divide once, after the last block.", each=lambda output, total: output / total,
          finish=lambda output, total: output),
    Fault("divided in every block and at the end", "the output is divided by the sum in every block, and once more at the end.",
          "add up without dividing, and divide once, after the last block.", each=lambda output, total: output / total),
    Fault("read twice", "a second loop over the blocks, which can be read only once.", "find maximum, sum and output in "
          "one and the same loop.", whole=lambda query, blocks: [list(blocks), list(blocks)]),
    Fault("the last block alone", "only the last block counts: what came before it is lost.", "add to the sum and to the "
          "output; do not start them anew in each block.", keep_sum=lambda total, shrunk: 0.0,
          keep_output=lambda output, shrunk: 0.0),
    Fault("never divided", "the sum of exponentials times values, never divided.", "divide by the sum of the exponentials, "
          "once, after the last block.", finish=lambda output, total: output),
    Fault("maximum from zero", "the running maximum begins too high: where all scores lie far below, every exponential is 0, "
          "and 0 / 0 is NaN.", "begin at minus infinity.", start=0.0),
    Fault("no shift", "exponentials of the scores as they are: exp(1000) overflows, exp(-1000) is 0.", "subtract a running "
          "maximum of each query.", start=0.0, running=lambda old, scores: torch.zeros_like(old)),
    Fault("maximum of the block alone", "the maximum of each block alone is subtracted, so exp(old - new) overflows where a "
          "later block has far lower scores.", "take the larger of the old maximum and the block's.",
          running=lambda old, scores: scores.amax(-1, keepdim=True)),
    Fault("maximum of the first block", "the maximum of the first block is subtracted in all of them, so exp overflows where a "
          "later block has far higher scores.", "take the larger of the old maximum and the block's, block by block.",
          running=lambda old, scores: torch.where(old.isinf(), scores.amax(-1, keepdim=True), old)),
    Fault("one maximum for all", "one maximum is subtracted for all queries: those far below it get 0 / 0.",
          "keep one maximum for each query: amax(-1, keepdim=True).",
          running=lambda old, scores: torch.maximum(old, scores.max())),
    Fault("mean of the blocks", "the mean of the blocks' own outputs: every block counts alike, whatever its scores.",
          "divide by a sum over all blocks, not block by block.", whole=_mean_of_blocks),
    Fault("mean of the blocks, all kept", "the mean of the blocks' own outputs, which are all kept until the end: every block "
          "counts alike, whatever its scores.", "divide by a sum over all blocks, not block by block.",
          whole=_mean_of_kept_blocks),
    Fault("all held", "the right output, but something of every block is kept (its keys, scores or output): what you hold grows "
          "with every block.",
          "use up each block before the next one comes, and keep three things: maximum, sum, output.", whole=_joined),
)  # fmt: skip

EXERCISE = Exercise(
    answer="attention_in_blocks", cases=_cases, reference=_in_blocks, faults=(*FACTOR_FAULTS_OF_THREE_AXES, *FAULTS),
    returns=("output", "what you hold"), tries=150,
    advice="go through the example by hand: maximum, sum and output after each block.",
)  # fmt: skip
