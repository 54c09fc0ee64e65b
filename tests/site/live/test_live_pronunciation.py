"""Words on the live page: what hinders one, how it is shown, what is left without heads."""

import pytest
from by_python import probability
from in_live import in_live

from course_site.live_data import vocabulary
from course_utils.pretrained.shipped import FOLDER
from course_utils.tokenizers import PHONEMES

pytestmark = pytest.mark.needs("node")
FILE = str(FOLDER / "transformer.safetensors")


@pytest.mark.parametrize(
    ("word", "part"),
    [
        ("", "Type a word"),
        ("naïve", "“ï”"),
        ("it's", "“'”"),
        ("two words", "One word at a time"),
        ("日本", "“日”, “本”"),
        ("a" * 61, "61 letters; 60"),
        ("attention", ""),
    ],
)
def test_what_hinders_a_word_is_said(word, part):
    said = in_live("return pronunciation.word_problem(word, vocabulary);", word=word, vocabulary=vocabulary())
    assert (part in said) if part else said == ""


def test_every_sound_has_its_sign():
    signs = in_live("return sounds.map((sound) => pronunciation.ipa([sound]));", sounds=list(PHONEMES))
    assert all(signs) and len(set(signs)) == len(PHONEMES)
    assert in_live('return pronunciation.ipa(["N", "AY", "T", "S"]);') == "naɪts"


def test_heads_are_switched_by_name():
    body = """
      const model = transformer.load(open(file));
      const whole = pronunciation.probability(model, "knights", sounds, vocabulary);
      const heads = Object.entries(model.attentions()).filter(([name]) => name.includes("cross")).flatMap(
        ([name, { num_heads }]) => Array.from({ length: num_heads }, (_, h) => `${name}:${h}`));
      pronunciation.switch_off(model, new Set(heads));
      const without = pronunciation.probability(model, "knights", sounds, vocabulary);
      pronunciation.switch_off(model, new Set());
      return [whole, without, pronunciation.probability(model, "knights", sounds, vocabulary)];"""
    sounds = "N AY T S".split()
    whole, without, again = in_live(body, file=FILE, sounds=sounds, vocabulary=vocabulary())
    assert whole == again == pytest.approx(probability("knights", sounds), abs=1e-3)
    assert without < 1e-3


def test_weights_are_packed_as_the_viewer_takes_them():
    body = """
      const { groups, weights } = pronunciation.packed([
        { name: "a", weights: [[[[1, 0]], [[0.5, 0.5]]]], queries: ["q"], keys: ["k", "l"] },
        { name: "b", weights: [[[[0.25]]]], queries: ["q"], keys: ["k"] }]);
      return [groups.map(({ layers, heads, offset }) => [layers, heads, offset]), new Uint16Array(weights.buffer)];"""
    shapes, numbers = in_live(body)
    assert shapes == [[1, 2, 0], [1, 1, 4]]
    assert numbers == [65534, 0, 32767, 32767, 16384]
