import pytest
import torch

from course_utils.diagrams import unrolled

WEIGHTS = torch.tensor([[0.7, 0.2, 0.1], [0.1, 0.05, 0.85]])


def said(ax):
    return ax.get_label()


def test_look_step_speak():
    pictures = [unrolled("abc", "XY", WEIGHTS, at=1, phase=phase) for phase in ("look", "step", "speak")]
    assert [said(ax).endswith("Said so far: X Y.") for ax in pictures] == [False, False, True]
    assert all("step 2 looks most at “c” (0.85)" in said(ax) for ax in pictures)
    assert len(pictures[0].texts) < len(pictures[2].texts)


def test_a_line_is_as_thick_as_its_weight():
    lines = sorted(line.get_linewidth() for line in unrolled("abc", "XY", WEIGHTS, at=0).lines)
    assert lines == pytest.approx([0.6 + 5 * w for w in (0.1, 0.2, 0.7)])


def test_the_context_lies_between_and_reaches_the_new_state_after_the_look():
    looks, steps = (unrolled("abc", "XY", WEIGHTS, at=1, phase=phase) for phase in ("look", "step"))
    assert "c2" in [text.get_text() for text in looks.texts] and "s2" not in [text.get_text() for text in looks.texts]
    arrows = [sum(type(patch).__name__ == "FancyArrowPatch" for patch in ax.patches) for ax in (looks, steps)]
    assert arrows[1] == arrows[0] + 1


def test_without_attention_one_vector_is_handed_on():
    assert "one vector, the last state of each direction" in said(unrolled("abc", "XY"))


def test_what_does_not_fit(as_a_user):
    with pytest.raises(ValueError, match=r"weights has shape \(2, 3\); expected \(L_t, L_s\) = \(2, 2\)"):
        unrolled("ab", "XY", WEIGHTS)
    with pytest.raises(ValueError, match=r"at \(2\)"):
        unrolled("abc", "XY", WEIGHTS, at=2)
    with pytest.raises(ValueError, match="phase"):
        unrolled("abc", "XY", WEIGHTS, phase="sing")
    with pytest.raises(ValueError, match=r"source \(11\)"):
        unrolled("a" * 11, "X")
