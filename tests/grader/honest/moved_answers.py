"""Answers that stand elsewhere than in their cells, and checks that were changed with them."""

import handed_in

from .honest_notebook import find, honest, insert

STUB = "def dot(a, b):\n    # YOUR CODE HERE\n    raise NotImplementedError"
DOT = "def dot(a, b):\n    return (a * b).sum()"
CHECK = 'check("1.1", dot)'


@honest(quick=True, restored=True)
def answer_split(notebook):
    """One half in the answer cell, the other in a new cell before the check."""
    find(notebook, "answer-1-2")["source"] = "def length(x):\n    return x.norm(dim=-1)"
    rest = """
        def cosine(a, b):
            lengths = length(a) * length(b)
            return (a * b).sum(dim=-1) / lengths.masked_fill(lengths == 0, 1.0)
        """
    insert(notebook, "check-1-2", rest)


@honest()
def later_cell_counts(notebook):
    """A first attempt was left in."""
    find(notebook, "answer-1-1")["source"] = DOT.replace("sum", "mean")
    insert(notebook, "check-1-1", DOT)


@honest(restored=True)
def new_cell_beside_the_stub(notebook):
    find(notebook, "answer-1-1")["source"] = STUB
    insert(notebook, "check-1-1", DOT)


@honest(restored=True)
def answer_cell_cut_up(notebook):
    """Split in JupyterLab: the cell below gets an id of its own."""
    find(notebook, "answer-1-6")["source"] = "# my first idea was einsum\n"
    insert(notebook, "check-1-6", find(handed_in.solved(), "answer-1-6")["source"])


@honest(restored=True)
def answer_in_the_checks_cell(notebook):
    find(notebook, "answer-1-1")["source"] = STUB
    find(notebook, "check-1-1")["source"] = f"{DOT}\n\n\n{CHECK}"


@honest(restored=True)
def check_in_the_answers_cell(notebook):
    """The cells were merged."""
    find(notebook, "answer-1-1")["source"] = f"{DOT}\n\n\n{CHECK}"
    notebook["cells"].remove(find(notebook, "check-1-1"))


@honest(restored=True)
def check_edited(notebook):
    """A print and a comment in the check's cell."""
    find(notebook, "check-1-2")["source"] = "# now it works!\nprint(cosine.__name__)\ncheck('1.2',cosine)  # 3 points"


@honest(restored=True)
def everything_in_one_cell(notebook):
    """All answers at the top; their cells are deleted. The experiment stays: it needs a function that the page gives it."""
    answers = [find(notebook, name) for name in handed_in.answer_ids(notebook) if name != "answer-1-9"]
    notebook["cells"] = [cell for cell in notebook["cells"] if cell not in answers]
    insert(notebook, "1-1-a-dot-product-for-pictures-1", "\n\n\n".join(cell["source"] for cell in answers))


@honest()
def helpers_at_the_top(notebook):
    insert(
        notebook, 0, "def product_sum(a, b, dim=None):\n    return (a * b).sum() if dim is None else (a * b).sum(dim)"
    )
    find(notebook, "answer-1-1")["source"] = "def dot(a, b):\n    return product_sum(a, b)"


@honest()
def helpers_before_and_after(notebook):
    """The answer uses a function that is only defined between it and its check."""
    find(notebook, "answer-1-1")["source"] = "def dot(a, b):\n    return scale * add_up(a * b)"
    insert(notebook, "answer-1-1", "scale = 1.0")
    insert(notebook, "check-1-1", "def add_up(products):\n    return products.sum()")


@honest()
def imports_in_a_helper_cell(notebook):
    imports = """
        from math import pi, sqrt
        from torch import einsum as product
        from torch.nn.functional import *
        """
    insert(notebook, "answer-1-4", imports)
    text = 'def all_pairs_einsum(q, k):\n    return product("bid,bjd->bij", q, k)'
    find(notebook, "answer-1-4")["source"] = text


@honest("05")
def compared_with_the_course_in_its_own_cell(notebook):
    """Before the definition, of the same name, and after it."""
    after = """
        import course_utils.masks
        from course_utils.attention import scaled_dot_product_attention
        tokens = torch.tensor([[5, 7, 0]])
        assert (padding_mask(tokens, 0) == course_utils.masks.padding_mask(tokens, 0)).all()
        """
    insert(notebook, "check-5-1", after)
    before = "from course_utils.masks import causal_mask\nwanted = causal_mask(2, 3)\nprint(wanted)"
    insert(notebook, "answer-5-2", before)
    insert(notebook, "check-5-2", "print(causal_mask(2, 3) == wanted)")
    insert(notebook, "check-5-6", "assert reach(causal_mask(3, 3)[None]).sum() == 6")


@honest("02")
def compared_with_pytorch_in_its_own_cell(notebook):
    test = """
        def test_softmax():
            x = torch.randn(3, 4)
            assert torch.allclose(softmax(x), torch.softmax(x, -1))
        test_softmax()
        """
    insert(notebook, "check-2-1", test)
