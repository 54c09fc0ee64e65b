"""The teacher-forced loss."""

import torch
import torch.nn.functional as F

from ...exercise import Case, Exercise, Fault
from ...kit.parts import faults_of


def _cases(seed):
    rng = torch.Generator().manual_seed(seed)
    sizes = (((2,), 3, 5, 0), ((4, 2), 5, 8, 0), ((3, 6, 2), 4, 9, 7), ((1, 5), 6, 7, 4), ((4, 2), 5, 8, 0))
    sharp = _case(rng, (4, 2), 5, 8, 0)
    sharp["_output"] *= 150.0
    sharp.labels = ("the logits are large",)
    return [*(_case(rng, *some) for some in sizes), sharp]


def _case(rng, lengths, L_s, V, pad_id):
    real = [symbol for symbol in range(V) if symbol != pad_id]
    start, end, sounds = real[-1], real[-2], torch.tensor(real[:-2])
    target = torch.full((len(lengths), max(lengths) + 2), pad_id)
    for row, length in enumerate(lengths):
        target[row, 0], target[row, length + 1] = start, end
        target[row, 1 : length + 1] = sounds[torch.randint(len(sounds), (length,), generator=rng)]
    target[0, 1] = sounds[0]  # 0 is an ordinary symbol wherever it is not the padding
    source = torch.randint(1, 6, (len(lengths), L_s), generator=rng)
    letters, sounds, output = (torch.randn(size, generator=rng) for size in ((6, 6), (V, 6), (6, V)))
    return Case(source=source, target=target, pad_id=pad_id, _letters=letters, _sounds=sounds, _output=output)


def _forced_loss(
    model, source, target, pad_id, *, given=lambda target: target[:, :-1], right=lambda target: target[:, 1:],
    ask=lambda model, source, prefix: model(source, prefix), squash=lambda logits: logits,
    arrange=lambda logits: logits.transpose(1, 2), real=lambda prefix, answers, pad_id: answers != pad_id,
    average=lambda losses, real: (losses * real).sum() / real.sum(), finish=lambda loss: loss,
):  # fmt: skip
    prefix, answers = given(target), right(target)
    logits = squash(ask(model, source, prefix))
    losses = F.cross_entropy(arrange(logits), answers, reduction="none")
    return finish(average(losses, real(prefix, answers, pad_id)))


def _own_choices(model, source, prefix):
    said, logits = prefix[:, :1], []
    for _ in range(prefix.shape[1]):
        logits.append(model(source, said)[:, -1])
        said = torch.cat((said, logits[-1].argmax(-1, keepdim=True)), dim=1)
    return torch.stack(logits, 1)


_SHIFT = "feed target[:, :-1] and compare with target[:, 1:]."
_DIVIDE = "add up all losses and divide once by the number of real symbols, (target[:, 1:] != pad_id).sum()."

FAULTS = (
    Fault("not shifted", "the target goes in whole and is compared whole: each position is asked for the symbol it was given.",
        _SHIFT, given=lambda target: target, right=lambda target: target),
    Fault("both without the last", "the last symbol is cut from both sides: each position is asked for the symbol it was "
        "given.", "compare with target[:, 1:], one symbol further.", right=lambda target: target[:, :-1]),
    Fault("both without the first", "the first symbol is cut from both sides: each position is asked for the symbol it was "
        "given.", "feed target[:, :-1], which begins with the start symbol.", given=lambda target: target[:, 1:]),
    Fault("shifted backwards", "shifted the other way: each position is asked for the symbol before it.", _SHIFT,
        given=lambda target: target[:, 1:], right=lambda target: target[:, :-1]),
    Fault("last symbol left out", "the last column is never predicted: the longest word of the batch does not learn to end.",
        "compare with target[:, 1:], end symbol included.", given=lambda target: target[:, :-2],
        right=lambda target: target[:, 1:-1]),
    Fault("padding counted", "the padding counts as if it were a symbol to be predicted.", "leave the positions out whose "
        "right answer is pad_id: ignore_index=pad_id.", real=lambda prefix, answers, pad_id: torch.ones_like(answers)),
    Fault("padding always 0", "the padding is taken to be 0, whatever pad_id says.", "pass ignore_index=pad_id.",
        real=lambda prefix, answers, pad_id: answers != 0),
    Fault("mask of the inputs", "padding is looked for in what goes in: after each end symbol one padding is still predicted.",
        "look for padding in the right answers, target[:, 1:].", real=lambda prefix, answers, pad_id: prefix != pad_id),
    *faults_of("average", _DIVIDE,  # x: the loss of each position
        ("padding zeroed, but counted", "the losses of the padding are 0, but the mean still divides by all positions.",
         lambda x, real: (x * real).mean()),
        ("mean of the words' means", "each word's mean first, then their mean: a symbol of a short word counts more than one "
         "of a long word.", lambda x, real: ((x * real).sum(1) / real.sum(1)).mean()),
        ("sum", "the sum of all losses: it grows with the batch.", lambda x, real: (x * real).sum()),
        ("divided by the batch size", "the sum is divided by the number of words.", lambda x, real: (x * real).sum() / len(real)),
        ("start symbol counted", "the sum is divided by the number of real symbols with the start symbols among them, which "
         "are never predicted.", lambda x, real: (x * real).sum() / (real.sum() + len(real)), "count those of target[:, 1:]."),
        ("one loss a position", "one loss for each position.", lambda x, real: x * real)),
    Fault("own choices fed back", "the model reads its own choices, not the true symbols: that is decoding, not teacher "
        "forcing.", "give the model target[:, :-1], whatever it would have said.", ask=_own_choices),
    Fault("softmax first", "a softmax before the loss: cross_entropy takes the softmax itself, so it is taken twice.", "give "
        "cross_entropy the logits as they are.", squash=lambda logits: logits.softmax(-1)),
    *(Fault(name, "a softmax and then its logarithm: a probability rounded to 0 has the logarithm minus infinity, and one kept "
            "above a small number costs too little.", "use F.cross_entropy, or log_softmax, which never leave the logarithm.",
            squash=squash)
      for name, squash in (("log of softmax", lambda logits: logits.softmax(-1).log()),
                           ("small number added", lambda logits: (logits.softmax(-1) + 1e-9).log()))),
    Fault("reshape for transpose", "the logits were brought to (B, V, L) by reshape: the shape is right, the numbers stand in "
        "other places.", "use transpose(1, 2), or flatten both: logits.flatten(0, 1) and target[:, 1:].flatten().",
        arrange=lambda logits: logits.reshape(len(logits), logits.shape[2], -1)),
    Fault("sign lost", "the loss has the wrong sign: training would make the right symbols less probable.", "the loss is minus "
        "the logarithm of the right symbol's probability.", finish=lambda loss: -loss),
    Fault("no gradient", "no gradient reaches the model (.item(), .detach() or no_grad cut it off), so it could not learn.",
        "return the loss as a tensor with its graph; leave .item() to the line that prints.",
        finish=lambda loss: loss.detach()),
)  # fmt: skip

EXERCISE = Exercise(
    answer="forced_loss", cases=_cases, reference=_forced_loss, returns=("loss", "gradient of the model's weights"),
    faults=FAULTS,
    advice="print target[:, :-1] above target[:, 1:]: in each column, the lower symbol is the answer to the upper one.",
)  # fmt: skip
