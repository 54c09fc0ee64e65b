"""What is off limits raises however it was come by, and works again afterwards."""

import _thread
import asyncio
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.pool import ThreadPool

import pytest
import torch
import torch.nn.functional as F
from torch.nn.functional import softmax as imported_softmax

from course_checks.deciding.off_limits import MATRIX_PRODUCTS
from course_checks.running.guard import OffLimits, off_limits, reads_the_checks, resolve
from course_utils import attention, layers
from course_utils.attention import AdditiveAttention, masked_softmax

X, Q = torch.ones(2, 3), torch.randn(1, 2, 3, 4)
SOFTMAX = ("torch.softmax", "torch.Tensor.softmax", "torch.nn.functional.softmax")
SDPA = ("torch.nn.functional.scaled_dot_product_attention",)
NORM, HEADS = ("torch.nn.functional.layer_norm",), ("torch.nn.MultiheadAttention",)
OWN = "course_utils.attention"


class Subclass(AdditiveAttention):
    pass


CALLS = {
    "function": (SOFTMAX, lambda: torch.softmax(X, -1)),
    "method": (SOFTMAX, lambda: X.softmax(-1)),
    "functional": (SOFTMAX, lambda: F.softmax(X, -1)),
    "imported before": (SOFTMAX, lambda: imported_softmax(X, -1)),
    "name put together": (SOFTMAX, lambda: getattr(torch, "soft" + "max")(X, -1)),
    "ops": (SOFTMAX, lambda: torch.ops.aten.softmax(Q, -1)),
    "one overload": (SOFTMAX, lambda: torch.ops.aten.softmax.int(Q, -1)),
    "private": (SOFTMAX, lambda: torch._softmax(Q, -1, False)),
    "special": (SOFTMAX, lambda: torch.special.softmax(Q, -1)),
    "softmin": (SOFTMAX, lambda: F.softmin(-Q, -1)),
    "another function that needs it": (SOFTMAX, lambda: F.gumbel_softmax(Q)),
    "module": (SOFTMAX, lambda: torch.nn.Softmax(-1)(Q)),
    "private attention": (SDPA, lambda: torch._scaled_dot_product_attention_math(Q, Q, Q)),
    "bound attention": (SDPA, lambda: torch._C._nn.scaled_dot_product_attention(Q, Q, Q)),
    "flash": (SDPA, lambda: torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(Q, Q, Q)),
    "attention module": (HEADS, lambda: torch.nn.MultiheadAttention(4, 2)(Q[0], Q[0], Q[0])),
    "native norm": (NORM, lambda: torch.native_layer_norm(Q, [4], None, None, 1e-5)),
    "operator": (MATRIX_PRODUCTS, lambda: X @ X.T),
    "reflected operator": (MATRIX_PRODUCTS, lambda: X.T.__rmatmul__(X)),
    "linear": (MATRIX_PRODUCTS, lambda: F.linear(X, X)),
    "a product": (MATRIX_PRODUCTS, lambda: torch.ops.aten.bmm(Q[0], Q[0].mT)),
    "the course's own": ((f"{OWN}.masked_softmax",), lambda: masked_softmax(X)),
    "by its module": ((f"{OWN}.masked_softmax",), lambda: attention.masked_softmax(X)),
    "class": ((f"{OWN}.AdditiveAttention",), lambda: AdditiveAttention(2, 3, 4)),
    "subclass": ((f"{OWN}.AdditiveAttention",), lambda: Subclass(2, 3, 4)),
    "handed on": (("course_utils.layers.rms_norm",), lambda: layers.norms.rms_norm(X, torch.ones(3), 1e-6)),
}


@pytest.mark.parametrize("way", CALLS)
def test_what_is_off_limits_raises_and_works_afterwards(way):
    names, call = CALLS[way]
    with off_limits(names, call), pytest.raises(OffLimits):
        call()
    call()


def started(start):
    """What happens in a thread that ``start`` starts to call softmax."""
    found = []

    def call():
        try:
            found.append(torch.softmax(X, -1))
        except OffLimits as problem:
            found.append(problem)

    start(call)
    return found[0]


def by_hand(call):
    done = threading.Lock()
    done.acquire()
    _thread.start_new_thread(lambda: (call(), done.release()), ())
    assert done.acquire(timeout=10)


def as_a_thread(call):
    thread = threading.Thread(target=call)
    thread.start()
    thread.join()


STARTS = {
    "Thread": as_a_thread,
    "a pool": lambda call: ThreadPoolExecutor(1).submit(call).result(),
    "a pool of multiprocessing": lambda call: ThreadPool(1).apply(call),
    "_thread": by_hand,
    "asyncio": lambda call: asyncio.run(asyncio.to_thread(call)),
}


@pytest.mark.parametrize("way", STARTS)
def test_every_thread_that_is_started_meanwhile_is_guarded(way):
    with off_limits(SOFTMAX, None):
        assert isinstance(started(STARTS[way]), OffLimits)
    assert isinstance(started(STARTS[way]), torch.Tensor)


def test_torch_functions_written_in_python():
    from torch.nn.utils.rnn import pad_sequence

    with off_limits(("torch.nn.utils.rnn.pad_sequence",), None), pytest.raises(OffLimits, match="utils.rnn"):
        torch.nn.utils.rnn.pad_sequence([X, X])
    assert pad_sequence([X, X]).shape == (2, 2, 3)


def test_what_is_allowed_is_not_mistaken_for_a_detour():
    with off_limits((*SOFTMAX, *SDPA, *NORM), None):
        Q.exp() / Q.exp().sum(-1, keepdim=True)
        assert torch.log_softmax(X, -1).shape == (2, 3)
        torch.einsum("bhid,bhjd->bhij", Q, Q).logsumexp(-1)
        Q.clone().requires_grad_().square().sum().backward()
        torch.vmap(lambda row: row.sum())(Q[0, 0]).tolist()
    with off_limits(MATRIX_PRODUCTS, None):
        torch.einsum("bhid,bhjd->bhij", Q, Q)


def test_restored_after_an_error():
    with pytest.raises(ZeroDivisionError), off_limits((f"{OWN}.masked_softmax",), lambda: masked_softmax(X)):
        raise ZeroDivisionError
    assert masked_softmax(X).shape == (2, 3)


def test_a_misspelled_name_is_an_error():
    with pytest.raises(ValueError, match=r"torch\.sofmax"):
        resolve("torch.sofmax")


def test_a_part_of_pytorch_that_nobody_imported_is_not_loaded_and_cannot_be():
    code = """
import importlib, sys
from course_checks.running.guard import OffLimits, off_limits
with off_limits(("torch.nn.attention.bias.causal_lower_right", "course_utils.masks.causal_mask"), None):
    assert "torch.nn.attention.bias" not in sys.modules
    import course_utils.models  # which imports what is off limits, and may
    try:
        importlib.import_module("torch.nn.attention.bias")
    except OffLimits as problem:
        print(problem)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == ("torch.nn.attention.bias.causal_lower_right\n", 0), done.stderr


def test_the_operator_is_named_as_it_is_written():
    with off_limits(MATRIX_PRODUCTS, None), pytest.raises(OffLimits, match="also written @"):
        X @ X.T


def handed_in(text):
    space = {"__name__": "__main__"}
    exec(text.replace("FIND", "from course_checks.deciding.find import find"), space)
    return space["answer"]


@pytest.mark.parametrize(
    "text",
    [
        "FIND\ndef answer(a, b):\n    return find('5.2').right(a, b)",
        "FIND\nanswer = find('5.2').right",
        "FIND\nright = find('5.2').right\ndef answer(a, b):\n    return right(a, b)",
        "FIND\nimport functools\nanswer = functools.partial(find('5.2').right)",
        "FIND\nclass answer:\n    def forward(self, x):\n        return find('5.2')",
        "def answer(a, b):\n    FIND\n    return find('5.2').right(a, b)",
        "import importlib\ndef answer(a, b):\n    return importlib.import_module('course_checks.deciding.find')",
        "import course_checks\ndef answer(a, b):\n    return course_checks.engine.find('5.2').right(a, b)",
        "from course_checks import engine\ndef answer(a, b):\n    return engine.SEED",
    ],
)
def test_an_answer_that_reads_the_checks(text):
    answer = handed_in(text)
    assert reads_the_checks(answer)
    with pytest.raises(OffLimits, match="holds the answers"), off_limits((), answer):
        pass


def test_an_answer_that_does_not():
    for line in ("failing_case()", "hint()", "'As course_checks asks.'"):
        text = f"from course_checks import check, failing_case, hint\ndef answer(a, b):\n    {line}\n    return a * b"
        assert not reads_the_checks(handed_in(text))
    for answer in (3, None, len, X, "text"):
        assert not reads_the_checks(answer)
