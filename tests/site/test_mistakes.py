"""The page of mistakes: every exercise, every sentence, and no right answer."""

from course_site.mistakes import escaped, mistakes_page
from course_utils.checks.judges.find import all_entries


def test_every_exercise_and_each_of_its_mistakes_stands_there():
    page = mistakes_page()
    for number, entry in all_entries().items():
        assert f"### {number} · {escaped(entry.title)}" in page
        for fault in getattr(entry, "faults", ()):
            assert escaped(fault.looks_like)[1:] in page
            assert escaped(fault.advice) not in page  # what to try is told to who has tried


def test_no_text_is_taken_for_markup():
    assert escaped("a*b_c $x$ <b> [d](e) `f`") == r"a\*b\_c \$x\$ \<b\> \[d\](e) \`f\`"
