"""What is off limits raises however it was come by, and works again afterwards."""

import pytest
import torch
import torch.nn.functional as F
from torch.nn.functional import softmax as imported_softmax

from course_utils import attention, layers
from course_utils.attention import AdditiveAttention, masked_softmax
from course_utils.checks.probes.guard import MATRIX_PRODUCTS, OffLimits, off_limits, reads_the_checks, resolve

X = torch.ones(2, 3)
SOFTMAX = ("torch.softmax", "torch.Tensor.softmax", "torch.nn.functional.softmax")


class Subclass(AdditiveAttention):
    pass


@pytest.mark.parametrize(
    "call",
    [
        lambda: torch.softmax(X, -1),
        lambda: X.softmax(-1),
        lambda: F.softmax(X, -1),
        lambda: imported_softmax(X, -1),
        lambda: torch.nn.Softmax(-1)(X),
        lambda: getattr(torch, "soft" + "max")(X, -1),
    ],
)
def test_torch_callables(call):
    with off_limits(SOFTMAX, call), pytest.raises(OffLimits):
        call()
    call()


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("course_utils.attention.masked_softmax", lambda: masked_softmax(X)),
        ("course_utils.attention.masked_softmax", lambda: attention.masked_softmax(X)),
        ("course_utils.attention.AdditiveAttention", lambda: AdditiveAttention(2, 3, 4)),
        ("course_utils.attention.AdditiveAttention", lambda: Subclass(2, 3, 4)),
        ("course_utils.layers.rms_norm", lambda: layers.rms_norm(X, torch.ones(3), 1e-6)),
        ("course_utils.layers.rms_norm", lambda: layers.norms.rms_norm(X, torch.ones(3), 1e-6)),
    ],
)
def test_the_courses_own(name, call):
    with off_limits((name,), call), pytest.raises(OffLimits, match=name):
        call()
    call()


def test_torch_functions_written_in_python():
    from torch.nn.utils.rnn import pad_sequence

    with off_limits(("torch.nn.utils.rnn.pad_sequence",), None), pytest.raises(OffLimits, match="utils.rnn"):
        torch.nn.utils.rnn.pad_sequence([X, X])
    assert pad_sequence([X, X]).shape == (2, 2, 3)


def test_everything_else_works():
    with off_limits((*SOFTMAX, "course_utils.attention.masked_softmax"), lambda: None):
        assert torch.exp(X).sum() > 0 and torch.log_softmax(X, -1).shape == (2, 3)


def test_restored_after_an_error():
    with (
        pytest.raises(ZeroDivisionError),
        off_limits(("course_utils.attention.masked_softmax",), lambda: masked_softmax(X)),
    ):
        raise ZeroDivisionError
    assert masked_softmax(X).shape == (2, 3)


def test_a_misspelled_name_is_an_error():
    with pytest.raises(ValueError, match=r"torch\.sofmax"):
        resolve("torch.sofmax")


@pytest.mark.parametrize(
    "call",
    [
        lambda: X @ X.T,
        lambda: X.T.__rmatmul__(X),
        lambda: X.mm(X.T),
        lambda: torch.linalg.matmul(X, X.T),
        lambda: F.linear(X, X),
    ],
)
def test_matrix_products(call):
    with off_limits(MATRIX_PRODUCTS, call), pytest.raises(OffLimits):
        call()


def test_the_operator_is_named_as_it_is_written():
    with off_limits(MATRIX_PRODUCTS, None), pytest.raises(OffLimits, match="also written @"):
        X @ X.T


SDPA = ("torch.nn.functional.scaled_dot_product_attention",)
Q = torch.randn(1, 2, 3, 4)
DETOURS = {
    "ops": (SOFTMAX, lambda: torch.ops.aten.softmax(Q, -1)),
    "one overload": (SOFTMAX, lambda: torch.ops.aten.softmax.int(Q, -1)),
    "private": (SOFTMAX, lambda: torch._softmax(Q, -1, False)),
    "special": (SOFTMAX, lambda: torch.special.softmax(Q, -1)),
    "softmin": (SOFTMAX, lambda: F.softmin(-Q, -1)),
    "another function that needs it": (SOFTMAX, lambda: F.gumbel_softmax(Q)),
    "module": (SOFTMAX, lambda: torch.nn.Softmax(-1)(Q)),
    "script": (SOFTMAX, lambda: torch.jit.trace(lambda x: x.softmax(-1), Q)(Q)),
    "private attention": (SDPA, lambda: torch._scaled_dot_product_attention_math(Q, Q, Q)),
    "bound attention": (SDPA, lambda: torch._C._nn.scaled_dot_product_attention(Q, Q, Q)),
    "flash": (SDPA, lambda: torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(Q, Q, Q)),
    "attention module": (("torch.nn.MultiheadAttention",), lambda: torch.nn.MultiheadAttention(4, 2)(Q[0], Q[0], Q[0])),
    "native norm": (("torch.nn.functional.layer_norm",), lambda: torch.native_layer_norm(Q, [4], None, None, 1e-5)),
    "a product": (MATRIX_PRODUCTS, lambda: torch.ops.aten.bmm(Q[0], Q[0].mT)),
}


@pytest.mark.parametrize("detour", DETOURS)
def test_detours_are_seen(detour):
    names, call = DETOURS[detour]
    with pytest.raises(OffLimits), off_limits(names, None):
        call()


def test_what_is_allowed_is_not_mistaken_for_a_detour():
    with off_limits((*SOFTMAX, *SDPA, "torch.nn.functional.layer_norm"), None):
        Q.exp() / Q.exp().sum(-1, keepdim=True)
        torch.einsum("bhid,bhjd->bhij", Q, Q).logsumexp(-1)
        Q.requires_grad_().square().sum().backward()
        torch.vmap(lambda row: row.sum())(Q[0, 0]).tolist()
        Q.detach().numpy().sum()
    with off_limits(MATRIX_PRODUCTS, None):
        torch.einsum("bhid,bhjd->bhij", Q, Q)


def handed_in(text):
    namespace = {"__name__": "__main__"}
    exec(text, namespace)
    return namespace["answer"]


@pytest.mark.parametrize(
    "text",
    [
        "from course_utils.checks.judges.find import find\ndef answer(a, b):\n    return find('4.2').with_parts()(a, b)",
        "import course_utils.checks.judges.find as f\nanswer = f.find('4.2').reference",
        "import functools, course_utils.checks.judges.find as f\nanswer = functools.partial(f.find('4.2').reference)",
        "def answer(a, b):\n    from course_utils.checks.judges.find import find\n    return find('4.2').reference(a, b)",
        "import importlib\ndef answer(a, b):\n    return importlib.import_module('course_utils.checks.judges.find')",
        "from course_utils import checks\ndef answer(a, b):\n    return checks.engine.find('4.2').reference(a, b)",
        "from course_utils.checks.judges import find\nclass answer:\n    def forward(self, x):\n        return find.find('4.2')",
    ],
)
def test_an_answer_that_reads_the_checks(text):
    answer = handed_in(text)
    assert reads_the_checks(answer)
    with pytest.raises(OffLimits, match="holds the answers"), off_limits((), answer):
        pass


@pytest.mark.parametrize(
    "text",
    [
        "from course_utils.checks import check, failing_case\ndef answer(a, b):\n    return (a * b).sum()",
        "from course_utils.checks import failing_case\ndef answer(a, b):\n    failing_case()\n    return (a * b).sum()",
        "def answer(a, b):\n    'As course_utils.checks asks.'\n    return (a * b).sum()",
    ],
)
def test_an_answer_that_does_not(text):
    assert not reads_the_checks(handed_in(text))


@pytest.mark.parametrize("answer", [3, None, len, torch.ones(1), "text"])
def test_whatever_is_handed_in_can_be_asked(answer):
    assert not reads_the_checks(answer)
