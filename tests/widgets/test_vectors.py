"""Two vectors: the picture says the numbers that the library computes."""

from course_utils.widgets import two_vectors


def said(widget):
    return widget.figure.texts[0].get_text()


def test_dot_product_and_cosine_of_the_state():
    widget = two_vectors()
    assert "cosine =  0.71" in said(widget) and "a · b  =  2.12" in said(widget)
    widget.controls["angle"].value = 180
    assert "cosine = -1.00" in said(widget) and "a · b  = -3.00" in said(widget)
    widget.controls["length_a"].value = 0
    assert "cosine =  0.00" in said(widget)
