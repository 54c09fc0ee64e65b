"""The voice of the live page: it knows every sound that the model can say, and they sound as they should."""

import json

import numpy as np
import pytest
from in_live import LIVE
from node import run_node

from course_utils.tokenizers import PHONEMES

pytestmark = pytest.mark.needs("node")
RATE = 16_000  # samples a second


def spoken(*utterances):
    """For each, a list of words, the samples, and what the synthesizer does not know."""
    module = json.dumps((LIVE / "voice.js").as_uri())
    told = f"{json.dumps(utterances)}.map((words) => waveform(words, {RATE}))"
    told = f"{told}.map(({{ samples, unknown }}) => [[...samples], unknown])"
    source = f"import {{ waveform }} from {module};\nprocess.stdout.write(JSON.stringify({told}));"
    return [(np.array(samples), unknown) for samples, unknown in json.loads(run_node(source))]


def spectrum(sound):
    """Frequencies and power of a sound's second half, where it has come to rest."""
    ((samples, _),) = spoken([[sound]])
    middle = samples[int(0.055 * RATE) : int(0.11 * RATE)]
    power = np.abs(np.fft.rfft(middle * np.hanning(len(middle)), 4096)) ** 2
    return np.fft.rfftfreq(4096, 1 / RATE), power


def share(sound, low, high):
    frequency, power = spectrum(sound)
    return power[(frequency >= low) & (frequency < high)].sum() / power.sum()


def test_every_sound_of_the_model_is_known_and_heard():
    for sound, (samples, unknown) in zip(PHONEMES, spoken(*([[sound]] for sound in PHONEMES)), strict=True):
        assert unknown == [] and np.isfinite(samples).all() and 0.01 < np.abs(samples).max() <= 1, sound
    ((_, unknown),) = spoken([["QQ"]])
    assert unknown == ["unknown phoneme: QQ"]


def test_a_longer_word_takes_longer_and_words_are_set_apart():
    words = ([["T", "UW"]], [["T", "UW"] * 4], [["T", "UW"]] * 2)
    short, long, two = (len(samples) for samples, _ in spoken(*words))
    assert long - short == pytest.approx(6 * 0.11 * RATE, abs=2)  # seconds of a sound
    assert two - short == pytest.approx((2 * 0.11 + 0.1) * RATE, abs=2)  # and of a pause


def test_sounds_have_the_formants_of_the_literature():
    """Klatt (1980), table II: the first formant of the vowel of "beet" is at 310 Hz, that of "bah" at 700; "s" is a hiss."""
    assert share("IY", 150, 500) > 0.7 > 0.4 > share("AA", 150, 500)
    assert share("AA", 500, 1500) > 0.5 > share("IY", 500, 1500)
    assert share("S", 3000, 8000) > 0.8 > share("SH", 3000, 8000)
