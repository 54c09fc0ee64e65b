"""The page of mistakes: every exercise, every sentence, and no right answer."""

from course_checks.deciding.find import all_entries
from course_site.mistakes import escaped, mistakes_page


def test_every_exercise_and_each_of_its_mistakes_stands_there():
    page = mistakes_page()
    for number, entry in all_entries().items():
        assert f"### {number} · {escaped(entry.title)}" in page
        for mistake in getattr(entry, "known_mistakes", ()):
            assert escaped(mistake.looks_like)[1:] in page
            advice = escaped(mistake.advice)  # what to try is told to who has tried
            assert not advice or advice not in page


def test_no_text_is_taken_for_markup():
    assert escaped("a*b_c $x$ <b> [d](e) `f`") == r"a\*b\_c \$x\$ \<b\> \[d\](e) \`f\`"
