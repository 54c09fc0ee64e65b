from course_utils.diagrams import legend
from course_utils.diagrams.palette import ROLES


def test_every_role_has_its_color_and_its_word():
    said = legend().get_label()
    assert all(role in said for role in ROLES if role not in ("plain", "mask")) and "hidden by a mask" in said
