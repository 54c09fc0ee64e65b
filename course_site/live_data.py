"""What the live page reads: weights, vocabularies, five words worked out beforehand, words that were held out."""

import base64
import json
import math
import shutil
from pathlib import Path

import torch
from torch import Tensor

from course_utils import pretrained
from course_utils.datasets import written_twice
from course_utils.datasets.documentation import CHARACTERS
from course_utils.datasets.pronunciations import pronunciations, split
from course_utils.decoding import beam_search
from course_utils.files import write_whole
from course_utils.pretrained.pronunciation import MAX_PHONEMES, SOUNDS, SPELLING
from course_utils.pretrained.shipped import FOLDER as WEIGHTS
from course_utils.recording import record_attention
from course_utils.results import read_rows
from course_utils.small_models.induction import LONGEST
from course_utils.tokenizers import END_ID, LETTERS, PAD_ID, PHONEMES, SPECIAL, START_ID
from course_utils.widgets.attention_viewer import MODULE as VIEWER
from course_utils.widgets.attention_viewer import attention_viewer

LIVE = Path(__file__).resolve().parent / "live"
MODELS = ("transformer", "language_model", "induction")
WORDS = ("attention", "phoenix", "knights", "queue", "transformer")
MAX_LETTERS = 60
BEAM_SIZE = 5
NEXT = 4  # sounds listed at each step
COMPACT = {"ensure_ascii": False, "separators": (",", ":"), "allow_nan": False}


def write_live_page(folder: Path) -> None:
    """Put the live page and all that it reads into ``folder``."""
    page = shutil.ignore_patterns("index.html")  # a template: Sphinx writes the page
    shutil.copytree(LIVE, folder, ignore=page, dirs_exist_ok=True)
    shutil.copyfile(VIEWER, folder / VIEWER.name)
    for name in MODELS:
        shutil.copyfile(WEIGHTS / f"{name}.safetensors", folder / f"{name}.safetensors")
    write_whole(folder / "vocabulary.json", json.dumps(vocabulary(), **COMPACT))
    write_whole(folder / "words.json", json.dumps([worked_out(word) for word in WORDS], **COMPACT))
    write_whole(folder / "dictionary.json", json.dumps(dictionary(), **COMPACT))
    write_whole(folder / "induction.json", json.dumps(induction(), **COMPACT))


def vocabulary() -> dict:
    """Symbols in the order of their ids, the special ones first; limits; sizes of the weights for the bar."""
    return {
        "special": SPECIAL,
        "letters": LETTERS,
        "phonemes": PHONEMES,
        "characters": CHARACTERS,
        "start_id": START_ID,
        "end_id": END_ID,
        "max_phonemes": MAX_PHONEMES,
        "max_letters": MAX_LETTERS,
        "bytes": {name: (WEIGHTS / f"{name}.safetensors").stat().st_size for name in MODELS},
    }


def dictionary() -> dict[str, list[str]]:
    """Accepted pronunciations of the words held out of training, and of the words worked out beforehand."""
    held_out, known = split("test"), pronunciations()
    found = dict(held_out) | {word: known[word] for word in WORDS if word in known}
    return {word: [" ".join(sounds) for sounds in accepted] for word, accepted in found.items()}


def induction() -> dict:
    """What the page says of the model of lesson 13, and the bits of ``results/induction.csv`` while it was trained.

    It isn't trained in the browser: 600 updates of 64 strings, 20 letters long on average, are about 390 billion operations,
    of which plain JavaScript does 1.4 to 1.7 billion in a second (measured with ``linear`` of ``live/layers.js`` in Node 20).
    """
    rows = [row for row in read_rows("induction") if row["seed"] == "0" and row["what"] == "lengths 4 to 16"]
    curves = {
        name: {int(row["steps"]): float(row["value"]) for row in rows if row["setting"] == name}
        for name in ("two layers", "one layer")
    }
    steps = sorted(curves["two layers"])
    return {
        "letters": written_twice.LETTERS,
        "longest": LONGEST,
        "bytes": (WEIGHTS / "induction.safetensors").stat().st_size,
        "curve": {
            "steps": steps,
            "two_layers": [curves["two layers"][step] for step in steps],
            "one_layer": [curves["one layer"][step] for step in steps],
            "guessing": math.log2(len(written_twice.LETTERS)),
        },
    }


@torch.no_grad()
def worked_out(word: str) -> dict:
    """What ``pronounce`` of ``live/pronunciation.js`` gives for a word, with weights as text."""
    model = pretrained.load("transformer")
    source = SPELLING.batch([word])  # (1, L_s)
    beams = beam_search(model, source, max_len=MAX_PHONEMES, beam_size=BEAM_SIZE)
    tokens = [token for token in beams.tokens[0, 0].tolist() if token != PAD_ID]
    target = torch.tensor([[START_ID, *tokens[:-1]]])  # (1, L_t)
    with record_attention(model) as seen:
        probs = model(source, target)[0].softmax(-1)  # (L_t, tgt_vocab)
    cross, encoder, decoder = (
        torch.stack(seen.matching(name))[:, 0]  # (num_layers, H, L_q, L_k)
        for name in ("decoder_layers.*.cross_attention", "encoder_layers.*", "decoder_layers.*.self_attention")
    )
    sounds = [SOUNDS.symbols[token] for token in tokens]
    outputs, inputs = [f"→ {sound}" for sound in sounds], [SOUNDS.symbols[START_ID], *sounds[:-1]]
    kinds = {
        "cross-attention": (cross, outputs, list(word)),
        "encoder": (encoder, list(word), list(word)),
        "decoder": (decoder, outputs, inputs),
    }
    viewer = attention_viewer(kinds)
    return {
        "word": word,
        "beams": [
            {"sounds": SOUNDS.decode(row), "prob": round(log_prob.exp().item(), 6)}
            for row, log_prob in zip(beams.tokens[0], beams.log_probs[0], strict=True)
        ],
        "sounds": sounds,
        "alignment": _rounded(cross.mean(dim=(0, 1))),
        "steps": [_likely(row) for row in probs],
        "groups": viewer.groups,
        "weights": base64.b64encode(viewer.weights).decode(),
    }


def _likely(probs: Tensor) -> list:
    best = probs.topk(NEXT)
    return [[SOUNDS.symbols[i], round(p, 5)] for p, i in zip(best.values.tolist(), best.indices.tolist(), strict=True)]


def _rounded(rows: Tensor) -> list:
    return [[round(weight, 4) for weight in row] for row in rows.tolist()]
