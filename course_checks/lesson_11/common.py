"""What several exercises of lesson 11 share: what is off limits, and how broken rules are told."""

SEARCHES = (
    *(f"course_utils.decoding.search.{name}" for name in ("beam_search", "greedy_decode")),
    "course_utils.diagrams.beams.looked_at",
)


def two_at_most(diagnoses):
    """The first of them, or the first two."""
    first, *more = diagnoses or [None]
    return first.and_also(more[0]) if more else first
