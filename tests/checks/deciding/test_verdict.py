"""Messages: short, wrapped, escaped; what to try only where it is asked for."""

from dataclasses import replace

from course_checks.deciding.compare import Difference
from course_checks.deciding.verdict import MAX_LINES, WIDTH, Verdict

LONG = "word " * 200
FAILED = Verdict(
    "5.1",
    2,
    False,
    difference=Difference("mask", "the value differs", "1", "2"),
    called_with="n = 3",
    found_by="symptom",
    looks_like="one too little.",
    advice="count again.",
)


def test_a_message_never_outgrows_the_screen():
    long = replace(
        FAILED, what=LONG, difference=Difference(*[LONG] * 4), called_with=LONG, looks_like=LONG, advice=LONG
    )
    lines = long.text().split("\n")
    assert len(lines) <= MAX_LINES and max(map(len, lines)) <= WIDTH
    for label in ("Called with: ", "It looks like: "):
        assert any(line.startswith(label) for line in lines)


def test_the_shapes_behind_a_long_sentence_are_not_cut():
    message = "The size of tensor a must match the size of tensor b at non-singleton dimension 2, " * 3
    text = replace(FAILED, difference=Difference("your code stopped", f"RuntimeError: {message}(7) against (5)")).text()
    assert "(7) against (5)" in text


def test_points():
    assert Verdict("1.1", 1, True).text() == "✓ 1.1 right · 1 of 1 point"
    assert Verdict("1.1", 2, False, attempted=False).text() == "1.1 not attempted yet · 0 of 2 points"
    assert (Verdict("1.1", 2, True).earned, Verdict("1.1", 2, False).earned) == (2, 0)


def test_what_to_try_can_be_kept_for_later():
    assert "Try: count again." in FAILED.text()
    first = FAILED.text(in_notebook=True, remedy=False)
    assert "count again" not in first and "(hint() says what to try)" in first and "It looks like: one too" in first
    assert "hint()" not in FAILED.text(in_notebook=True) and "hint()" not in FAILED.text(remedy=False)
    assert "hint()" not in replace(FAILED, advice="").text(in_notebook=True, remedy=False)


def test_only_a_notebook_hands_out_the_case():
    assert "failing_case()" in FAILED.text(in_notebook=True) and "failing_case()" not in FAILED.text()
    assert "failing_case()" not in replace(FAILED, called_with="").text(in_notebook=True)


def test_the_right_value_can_be_kept_back():
    assert "expected 2" in FAILED.text() and "expected" not in FAILED.text(show_expected=False)


def test_cases_that_differ_are_said_to_be_where_it_fails():
    assert "Where it fails: one too" in replace(FAILED, found_by="contrast").text()


def test_control_characters_and_html_do_no_harm():
    text = Verdict("1.1", 2, False, what="\x1b[31mred\x07").text()
    assert "\x1b" not in text and "\x07" not in text
    assert "<script>" not in Verdict("1.1", 2, True, explanation="<script>").html()
