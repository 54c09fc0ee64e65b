"""A GRU, a Transformer and a decoder-only model under one recipe and budget: ``python -m experiments comparison``.

All have nearly as many parameters and see the same words in the same batches, as often, with the same smoothing and the same
shape of schedule. What differs is the model, or (in one pair) the optimizer alone. Each gets the largest learning rate that a
short sweep finds best on some words for validation; then three seeds run with it and are judged on other such words.

The table has one line for each run and epoch:

``part``
    ``sweep`` (runs of one epoch from seed 0 that choose the rate; ``valid_loss`` is that of ``sweep_words``) or ``run``
    (everything is measured on ``judged_words``).
``variant``
    One of ``VARIANTS``: model and optimizer.
``rate``, ``seed``, ``parameters``
    The schedule's largest learning rate; seed of weights and batches; number of parameters.
``epoch``, ``updates``, ``loss``
    Epochs and updates done; mean loss of the epoch, in nats for each sound, labels smoothed.
``valid_loss``
    Mean loss on words for validation, the true sounds before each being given, labels not smoothed.
``WER``, ``PER``
    Error rates in percent, decoded greedily. Empty in a sweep.
``seconds``
    Training so far, in seconds of processor time of one thread; judging does not count.
``right``
    After a run's last epoch, which words were right: see ``which_right``. Empty otherwise.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from course_utils.datasets.batches import batches_by_length, encode_pairs
from course_utils.datasets.pronunciations import Pronunciation, split
from course_utils.kv_cache import KVCache
from course_utils.metrics import phoneme_error_rate, word_error_rate
from course_utils.models import DecoderConfig, DecoderLM, Transformer, TransformerConfig, count_parameters
from course_utils.models.recurrent import RecurrentSeq2Seq
from course_utils.pretrained.pronunciation import SOUNDS, SPELLING, pronounce
from course_utils.tokenizers import PAD_ID
from course_utils.training import History, fit, one_cycle_rate, seed_everything, teacher_forced_loss
from course_utils.training.losses import target_symbols
from course_utils.training.optimizers import MuonWithAdam

from .runs import Run, rows_of

SEEDS = (0, 1, 2)
RATES = (0.005, 0.01, 0.02, 0.04)
EVERY, SYMBOLS, SMOOTHING = 12, 1500, 0.1  # every twelfth word of train; symbols in a batch
EPOCHS = {"sweep": 1, "run": 3}
RUN = ("part", "variant", "rate", "seed")
FIELDS = (*RUN, "parameters", "epoch", "updates", "loss", "valid_loss", "WER", "PER", "seconds", "right")

Words = Mapping[str, Sequence[Pronunciation]]


@dataclass(frozen=True)
class Written:
    """Where the decoder-only model stands: it has read the letters and the sounds so far."""

    caches: list[KVCache]

    def reorder(self, rows: Int[Tensor, " B_new"]) -> "Written":
        """The given rows of the batch, in that order; a row may be taken several times."""
        return Written([cache.reorder(rows) for cache in self.caches])


class SpellingThenSounds(nn.Module):
    """A decoder-only model that reads ``letters, start, sounds, end`` as one text, and is called like the other models.

    The sounds' ids come after the letters' in one vocabulary. Only the sounds are scored.
    """

    def __init__(self, **sizes: Any) -> None:
        super().__init__()
        self.model = DecoderLM(DecoderConfig(vocab_size=len(SPELLING) + len(SOUNDS), max_len=128, **sizes))

    def forward(self, source: Int[Tensor, "B L_s"], target: Int[Tensor, "B L_t"]) -> Float[Tensor, "B L_t tgt_vocab"]:
        """Logits of the sound after each position of the target, which begins with the start symbol."""
        text = torch.cat((source, (target + len(SPELLING)).masked_fill(target == PAD_ID, PAD_ID)), dim=1)
        order = (text == PAD_ID).sort(dim=1, stable=True).indices  # the padding after the letters goes to the end
        logits = self.model(text.gather(1, order))[..., len(SPELLING) :]  # (B, L_s + L_t, tgt_vocab)
        places = (source != PAD_ID).sum(1, keepdim=True) + torch.arange(target.shape[1])  # (B, L_t)
        return logits.gather(1, places[..., None].expand(-1, -1, logits.shape[-1]))

    def start_decoding(self, source: Int[Tensor, "B L_s"], *, max_len: int) -> Written:
        """Read the letters, all of one length: where the sounds begin is the same in every row."""
        if (source == PAD_ID).any():
            raise ValueError("source is padded; this model decodes words of one length at a time")
        caches = self.model.start_cache(len(source), source.shape[1] + max_len)
        self.model.next_logits(source, cache=caches)
        return Written(caches)

    def decode_step(self, state: Written, tokens: Int[Tensor, " B"]) -> tuple[Float[Tensor, "B tgt_vocab"], Written]:
        """One step: the log-probabilities of the sound after ``tokens``, and the state from which to go on."""
        logits = self.model.next_logits(tokens[:, None] + len(SPELLING), cache=state.caches)
        return logits[:, len(SPELLING) :].log_softmax(-1), state


def gru() -> RecurrentSeq2Seq:
    """The encoder-decoder of lesson 3, with attention."""
    return RecurrentSeq2Seq(len(SPELLING), len(SOUNDS), attention=True, d_embed=48, d_hidden=96)


def transformer() -> Transformer:
    """The encoder-decoder of lesson 10."""
    sizes = {"num_layers": 2, "d_model": 64, "d_ff": 256, "num_heads": 4, "dropout": 0.0, "max_len": 64}
    return Transformer(TransformerConfig(len(SPELLING), len(SOUNDS), positions="rotary", **sizes))


def decoder_only() -> SpellingThenSounds:
    """The language model of lesson 12."""
    return SpellingThenSounds(num_layers=4, d_model=64, d_ff=224, num_heads=4)


VARIANTS: dict[str, tuple[Callable[[], nn.Module], bool]] = {  # and whether Muon trains its matrices
    "GRU, Adam": (gru, False),
    "Transformer, Adam": (transformer, False),
    "Transformer, Muon": (transformer, True),
    "decoder-only, Muon": (decoder_only, True),
}


def train_words() -> Words:
    """The words that every model is trained on."""
    return dict(list(split("train").items())[::EVERY])


def sweep_words() -> Words:
    """The words for validation on which learning rates are compared."""
    return dict(list(split("valid").items())[::20])


def judged_words() -> Words:
    """Other words for validation, on which the runs are judged, in the order of ``right``."""
    return dict(list(split("valid").items())[2::10])


def say(model: nn.Module, words: Words) -> list[Pronunciation]:
    """The sounds of each word, decoded greedily, words of one length at a time."""
    outputs: dict[str, Pronunciation] = {}
    for length in sorted(set(map(len, words))):
        alike = [word for word in words if len(word) == length]
        outputs |= zip(alike, pronounce(model, alike), strict=True)
    return [outputs[word] for word in words]


def as_text(right: Sequence[bool]) -> str:
    """Which words were right, as hexadecimal digits that begin with one more 1, so that no leading zeros are lost."""
    return f"{int('1' + ''.join(str(int(one)) for one in right), 2):x}"


def which_right(text: str) -> Bool[Tensor, " words"]:
    """What ``as_text`` wrote, in the order of the words."""
    return torch.tensor([digit == "1" for digit in f"{int(text, 16):b}"[1:]])


def fitted(model: nn.Module, ahead: Sequence[Sequence[Any]], rate: float, muon: bool, **options: Any) -> History:
    """Train ``model`` on the batches of each epoch, with the recipe of all variants; ``options`` are those of ``fit``."""
    updates = sum(map(len, ahead))
    return fit(
        model,
        ahead.__getitem__,
        partial(teacher_forced_loss, smoothing=SMOOTHING),
        epochs=len(ahead),
        rate=lambda step: one_cycle_rate(step, updates, rate),
        optimizer=MuonWithAdam(model) if muon else None,
        weigh=target_symbols,
        **options,
    )


def run(part: str, variant: str, rate: float, seed: int, *, progress: bool = True) -> list[dict[str, Any]]:
    """Train one model: a row of ``FIELDS`` for each epoch."""
    build, muon = VARIANTS[variant]
    pairs, epochs = encode_pairs(train_words(), SPELLING, SOUNDS), EPOCHS[part]
    ahead = [list(batches_by_length(pairs, SYMBOLS, seed=100 * seed + epoch)) for epoch in range(epochs)]
    seed_everything(seed)
    model = build()
    rows: list[dict[str, Any]] = []
    judging, started = 0.0, time.process_time()

    def judge(model: nn.Module) -> float:
        nonlocal judging
        before = time.process_time()
        values = (part, variant, rate, seed, count_parameters(model), len(rows) + 1)
        values += (sum(map(len, ahead[: len(rows) + 1])), None, *judged(model, part))
        values += (round(before - started - judging, 1),)
        right = values[-2] if len(rows) + 1 == epochs else ""
        rows.append(dict(zip(FIELDS, (*values[:-2], values[-1], right), strict=True)))
        judging += time.process_time() - before
        return -len(rows)  # lower each time: the last epoch's weights are kept, whatever the words for validation say

    history = fitted(model, ahead, rate, muon, validate=judge, progress=progress)
    return [row | {"loss": round(loss, 4)} for row, loss in zip(rows, history.losses, strict=True)]


def judged(model: nn.Module, part: str) -> tuple[float, float | str, float | str, str]:
    """``valid_loss``, ``WER``, ``PER`` and ``right``; only the first of them in a sweep."""
    words = sweep_words() if part == "sweep" else judged_words()
    ahead = list(batches_by_length(encode_pairs(words, SPELLING, SOUNDS), SYMBOLS, seed=0))
    total = sum(teacher_forced_loss(model, batch).item() * target_symbols(batch) for batch in ahead)
    loss = round(total / sum(map(target_symbols, ahead)), 4)
    if part == "sweep":
        return loss, "", "", ""
    outputs, accepted = say(model, words), list(words.values())
    right = [spoken in ways for spoken, ways in zip(outputs, accepted, strict=True)]
    wer, per = (round(100 * error(outputs, accepted), 2) for error in (word_error_rate, phoneme_error_rate))
    return loss, wer, per, as_text(right)


def best_rate(variant: str, rows: Sequence[Mapping[str, str]]) -> float:
    """The rate whose short run had the lowest loss on the words for the sweep."""
    ends = {
        float(row["rate"]): float(row["valid_loss"])
        for row in rows
        if (row["part"], row["variant"], int(row["epoch"])) == ("sweep", variant, EPOCHS["sweep"])
    }
    if not ends:
        raise ValueError(f"the table holds no sweep of variant ({variant!r})")
    return min(ends, key=ends.__getitem__)


def runs(table: Path) -> Iterator[Run]:
    """The sweeps of all variants, then the runs, each with the rate that its sweep found best; one thread for all."""
    torch.set_num_threads(1)
    for variant in VARIANTS:
        for rate in RATES:
            yield _run("sweep", variant, rate, 0)
    for seed in SEEDS:
        for variant in VARIANTS:
            yield _run("run", variant, best_rate(variant, rows_of(table)), seed)


def _run(*setting: Any) -> Run:
    return dict(zip(RUN, setting, strict=True)), partial(run, *setting)
