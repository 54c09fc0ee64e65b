"""Words pronounced per second by the Transformer that comes with the course: greedy and beam 5, 256 at a time and one by one."""

from course_utils import pretrained
from course_utils.datasets.pronunciations import split
from course_utils.pretrained.evaluate import SEARCHES
from course_utils.pretrained.pronunciation import pronounce

from .measure import median, threads

BATCHED, SINGLE = 1024, 64


def main(repeats: int = 3) -> None:
    """Print the table."""
    print(threads())
    print("search    words at a time   words per second")
    model = pretrained.load("transformer")
    words = list(split("test"))
    for search, decode in SEARCHES.items():
        for size, number in ((256, BATCHED), (1, SINGLE)):
            seconds = median(
                lambda d=decode, s=size, n=number: pronounce(model, words[:n], decode=d, batch_size=s), repeats
            )
            print(f"{search:10}{size:15}{number / seconds:19.0f}")


if __name__ == "__main__":
    main()
