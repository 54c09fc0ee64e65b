"""What the live page reads is what its JavaScript would compute."""

import base64
import json

import numpy as np
import pytest
from in_live import in_live

from course_site.live_data import LIVE, MODELS, WORDS, dictionary, vocabulary, worked_out, write_live_page
from course_utils.pretrained.pronunciation import MAX_PHONEMES, SOUNDS, SPELLING
from course_utils.pretrained.shipped import FOLDER
from course_utils.tokenizers import END_ID, START_ID


@pytest.mark.needs("node")
@pytest.mark.parametrize("word", [WORDS[0], WORDS[-1]])
def test_a_word_worked_out_here_is_what_the_page_computes(word):
    body = """
      const found = pronunciation.pronounce(transformer.load(open(file)), word, vocabulary);
      return { ...found, weights: new Uint16Array(found.weights.buffer) };"""
    file = str(FOLDER / "transformer.safetensors")
    found, right = in_live(body, file=file, word=word, vocabulary=vocabulary()), worked_out(word)
    assert found["sounds"] == right["sounds"] and found["groups"] == right["groups"]
    assert [beam["sounds"] for beam in found["beams"]] == [beam["sounds"] for beam in right["beams"]]
    assert np.allclose([b["prob"] for b in found["beams"]], [b["prob"] for b in right["beams"]], atol=1e-4)
    assert np.allclose(found["alignment"], right["alignment"], atol=1e-3)
    for a, b in zip(found["steps"], right["steps"], strict=True):
        assert np.allclose([p for _, p in a], [p for _, p in b], atol=1e-3)
    weights = np.frombuffer(base64.b64decode(right["weights"]), dtype="<u2").astype(int)
    assert np.abs(weights - np.array(found["weights"])).max() < 65


@pytest.mark.needs("node")
def test_the_ids_are_those_of_the_tokenizers():
    body = """return [
      pronunciation.encode(vocabulary.letters, vocabulary, "zebra"),
      pronunciation.encode(vocabulary.phonemes, vocabulary, ["ZH", "AA"]),
      pronunciation.symbol_of(vocabulary.phonemes, vocabulary, 5),
    ];"""
    found = in_live(body, vocabulary=vocabulary())
    assert found == [SPELLING.encode("zebra"), SOUNDS.encode(["ZH", "AA"]), SOUNDS.symbols[5]]
    about = vocabulary()
    assert (about["start_id"], about["end_id"], about["max_phonemes"]) == (START_ID, END_ID, MAX_PHONEMES)


def test_the_dictionary_knows_the_words_that_are_offered():
    known = dictionary()
    assert set(WORDS[:4]) <= set(known)
    assert known["knights"] == ["N AY T S"]


def test_the_page_is_laid_out_whole(tmp_path):
    write_live_page(tmp_path / "live")
    names = {path.name for path in (tmp_path / "live").iterdir()}
    assert "index.html" not in names  # a template: Sphinx writes the page
    assert names >= {path.name for path in LIVE.iterdir()} - {"index.html"} | {"attention_viewer.js"}
    assert (tmp_path / "live" / "klattsch" / "LICENSE").is_file()
    assert names >= {f"{name}.safetensors" for name in MODELS}
    words = json.loads((tmp_path / "live" / "words.json").read_text(encoding="utf-8"))
    assert [one["word"] for one in words] == list(WORDS)


def test_the_live_page_asks_for_nothing_from_elsewhere_and_stays_short():
    for path in LIVE.rglob("*.*"):
        text = path.read_text(encoding="utf-8")
        assert len(text.splitlines()) < 300 or path.parent.name == "klattsch", path.name
        code = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("//"))
        assert "http" not in code and "innerHTML" not in code and "eval(" not in code, path.name
