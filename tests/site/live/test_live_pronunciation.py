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
    [("", "Type a word"), ("c3po", "“3”"), ("日本", "“日”, “本”"), ("a" * 61, "61 letters; 60"), ("attention", "")],
)
def test_what_hinders_a_word_is_said(word, part):
    said = in_live("return pronunciation.word_problem(word, vocabulary);", word=word, vocabulary=vocabulary())
    assert (part in said) if part else said == ""


@pytest.mark.parametrize(
    ("typed", "words", "said"),
    [
        ("attention", ["attention"], ""),
        (" Attention ", ["attention"], ""),
        ("Zürich", ["zurich"], "Read as “zurich”"),
        ("Zu\u0308rich", ["zurich"], "Read as “zurich”"),  # the same, with the two dots as a character of their own
        ("naïve café", ["naive", "cafe"], "Read as 2 words, each by itself: naive, cafe"),
        ("Straße", ["strasse"], "“strasse”"),
        ("Ærøskøbing", ["aeroskobing"], "“aeroskobing”"),
        ("Łódź", ["lodz"], "“lodz”"),
        ("İstanbul", ["istanbul"], "“istanbul”"),
        ("don't", ["dont"], "“dont”"),
        ("rock ’n’ roll", ["rock", "n", "roll"], "3 words"),
        ("New York", ["new", "york"], "each by itself: new, york"),
        ("mother-in-law!", ["mother", "in", "law"], "3 words"),
        ("日本", ["日本"], ""),
        ("한국", ["한국"], ""),
        ("  ", [], ""),
        ("?!", [], ""),
    ],
)
def test_marks_apostrophes_and_spaces_are_read_as_far_as_they_can_be(typed, words, said):
    body = "const words = pronunciation.words_in(typed); return [words, plain_letters.read_as(typed, words)];"
    found, sentence = in_live(body, typed=typed)
    assert found == words
    assert (said in sentence) if said else sentence == ""


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (0.93, 7.6e-15, "fell from 93.0 % to less than one in a million"),
        (0.93, 0.0, "fell from 93.0 % to less than one in a million"),
        (0.93, 8.1e-5, "fell from 93.0 % to about one in 12,000"),
        (0.93, 0.31, "fell from 93.0 % to 31.0 %, by a factor of 3.0"),
        (0.999, 0.002, "fell from 100 % to 0.2 %, by a factor of 500"),
        (0.5, 0.4, "fell from 50.0 % to 40.0 %"),
        (0.4, 0.5, "rose from 40.0 % to 50.0 %"),
        (5e-5, 0.5, "rose from about one in 20,000 to 50.0 %"),
        (1e-9, 1e-12, "stays at less than one in a million"),
    ],
)
def test_a_change_of_a_probability_is_said_without_digits_that_mean_nothing(before, after, said):
    assert in_live("return pronunciation.change(before, after);", before=before, after=after) == said


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
