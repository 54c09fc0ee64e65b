from course_utils.diagrams.__main__ import readme_picture


def test_the_picture_of_the_readme_is_the_one_that_is_drawn(root):
    said = readme_picture().get_label()
    assert "“apple” looks most at “red”, weight 0.96" in said
    assert "0.96" in (root / "README.md").read_text(encoding="utf-8")
    assert 0 < (root / "docs" / "attention_flow.png").stat().st_size < 300_000
