"""Messages: short, wrapped, escaped."""

from course_utils.checks.judges.compare import Difference
from course_utils.checks.judges.verdict import MAX_LINES, WIDTH, Verdict

LONG = "word " * 200


def test_a_message_never_outgrows_the_screen():
    verdict = Verdict("1.1", 2, False, what=LONG, difference=Difference(LONG, LONG, LONG, LONG), called_with=LONG,
                      looks_like=LONG, advice=LONG)  # fmt: skip
    lines = verdict.text().split("\n")
    assert len(lines) <= MAX_LINES and max(map(len, lines)) <= WIDTH
    for label in ("Called with: ", "It looks like: "):
        assert any(line.startswith(label) for line in lines)


def test_points_are_said():
    assert Verdict("1.1", 1, True).text() == "✓ 1.1 right · 1 of 1 point"
    assert Verdict("1.1", 2, False, attempted=False).text() == "1.1 not attempted yet · 0 of 2 points"
    assert (Verdict("1.1", 2, True).earned, Verdict("1.1", 2, False).earned) == (2, 0)


def test_control_characters_and_html_do_no_harm():
    text = Verdict("1.1", 2, False, what="\x1b[31mred\x07").text()
    assert "\x1b" not in text and "\x07" not in text
    assert "<script>" not in Verdict("1.1", 2, True, explanation="<script>").html()
