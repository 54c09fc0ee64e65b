"""Words that the models were not trained on, of all lengths."""

from course_utils.datasets.pronunciations import Pronunciation, split


def some_words(count: int = 50) -> dict[str, Pronunciation]:
    """That many, spread evenly over the lengths, each with its first pronunciation."""
    words = sorted(split("test").items(), key=lambda item: (len(item[0]), item[0]))
    chosen = [words[int(n * len(words) / count)] for n in range(count)]
    return {word: sounds[0] for word, sounds in chosen}
