"""What is off limits is found in what an answer reaches, and nowhere else."""

import pytest

from course_grader.reading.answers import read_answers
from course_grader.submissions.rebuild import Step

OFF = ("torch.softmax", "torch.nn.functional.softmax", "torch.Tensor.softmax", "course_utils.attention.masked_softmax")
SETUP = Step("given", "import torch\nimport torch.nn.functional as F")


def refused(*texts, off=OFF, name="f"):
    steps = (SETUP, *(Step("answer", text, "2.1") for text in texts))
    return read_answers(steps, {"2.1": name}, {"2.1": off}).refused.get("2.1")


@pytest.mark.parametrize(
    "body",
    [
        "torch.softmax(x, -1)", "F.softmax(x, -1)", "x.softmax(-1)", "x.mT.softmax(-1)", "torch.special.softmax(x, -1)",
        "getattr(torch, 'softmax')(x, -1)", "getattr(torch, 'soft' + 'max')(x, -1)", "getattr(x, name)(-1)",
        "torch.ops.aten.softmax(x, -1)", "torch._C._nn.softmax(x)", "torch._softmax(x, -1, False)", "eval('x')", "exec('y = 1')",
        "__import__('torch').softmax(x)", "globals()['g'](x)", "f.__globals__['g'](x)", "torch.__dict__['softmax'](x)",
        "torch.Tensor.__getattribute__(x, 'softmax')(-1)", "torch.jit.script(x)",
    ],
)  # fmt: skip
def test_detours(body):
    assert refused(f"def f(x):\n    return {body}")


@pytest.mark.parametrize(
    "texts",
    [
        ("from torch import softmax as s\ndef f(x):\n    return s(x, -1)",),
        ("from torch.nn.functional import softmax as f",),
        ("s = torch.softmax", "def f(x):\n    return s(x, -1)"),
        ("f = torch.softmax",),
        ("f = lambda x: torch.softmax(x, -1)",),
        ("def g(x):\n    return h(x)\ndef h(x):\n    return F.softmax(x, -1)\ndef f(x):\n    return g(x)",),
        ("table = {}\ntable['s'] = torch.softmax\ndef f(x):\n    return table['s'](x, -1)",),
        ("table = []\ntable.append(torch.softmax)\ndef f(x):\n    return table[0](x, -1)",),
        ("class A:\n    pass\nA.s = torch.softmax\ndef f(x):\n    return A.s(x, -1)",),
        ("class A:\n    pass\nsetattr(A, 's', torch.softmax)\ndef f(x):\n    return A.s(x, -1)",),
        ("for s in [torch.softmax]:\n    pass\ndef f(x):\n    return s(x, -1)",),
        ("if True:\n    s = torch.softmax\ndef f(x):\n    return s(x, -1)",),
        ("def f(x, s=torch.softmax):\n    return s(x, -1)",),
        ("def w(g):\n    return torch.softmax\n@w\ndef f(x):\n    return x",),
        ("(s := torch.softmax)\ndef f(x):\n    return s(x, -1)",),
        ("%time s = torch.softmax\ndef f(x):\n    return s(x, -1)",),
        ("import importlib\ndef f(x):\n    return importlib.import_module('torch')",),
        ("def f(x):\n    from torch import softmax\n    return softmax(x, -1)",),
        ("def f(x):\n    import ctypes\n    return x",),
        ("from course_utils.attention import masked_softmax\ndef f(x):\n    return masked_softmax(x)",),
        ("from course_utils.checks import engine\nr = engine.find('2.1')\ndef f(x):\n    return r.reference(x)",),
        ("import operator\ndef f(x):\n    return operator.methodcaller('softmax', -1)(x)",),
        ("import scipy.special\ndef f(x):\n    return scipy.special.softmax(x)",),
        ("f = '''not python",),
    ],
)
def test_detours_over_several_lines(texts):
    assert refused(*texts)


@pytest.mark.parametrize(
    "texts",
    [
        ("def f(x):\n    e = (x - x.max()).exp()\n    return e / e.sum()",),
        ("def f(x):\n    return x.exp()\nassert torch.allclose(f(x), torch.softmax(x, -1))",),
        ("def f(x):\n    weights = x.exp()\n    return weights", "weights = torch.softmax(x, -1)"),
        ("def f(x):\n    return x.exp()\nf(x).allclose(F.softmax(x, -1))",),
        ("def softmax(x):\n    return x.exp()\ndef f(x):\n    return softmax(x)",),
        ("class f:\n    def softmax(self, x):\n        return x.exp()\n    def go(self, x):\n        return self.softmax(x)",),
        ("def f(x):\n    'not torch.softmax(x)'\n    # torch.softmax\n    return getattr(x, 'T')",),
        ("def f(x):\n    print('softmax')\n    return x",),
        ("from course_utils.checks import check\ndef f(x):\n    return x\ncheck('2.1', f)",),
        ("%matplotlib inline\n!ls\ndef f(x):\n    return x",),
        ("import numpy as np\ndef f(x):\n    return torch.from_numpy(np.exp(x.numpy()) @ np.dot(x, x))",),
    ],
)  # fmt: skip
def test_honest_answers(texts):
    assert refused(*texts) is None


@pytest.mark.parametrize(
    "body",
    ["q @ k", "np.dot(q, k)", "np.linalg.multi_dot([q, k])", "q.numpy().dot(k)", "q.bmm(k)", "operator.matmul(q, k)"],
)
def test_products(body):
    off = ("torch.bmm", "torch.Tensor.bmm", "torch.matmul", "torch.Tensor.matmul")
    assert refused(f"import numpy as np, operator\ndef f(q, k):\n    return {body}", off=off)
    assert not refused("import numpy as np\ndef f(q, k):\n    return torch.einsum('ij,kj->ik', q, k)", off=off)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("get_ipython().showtraceback = None", "showtraceback"),
        ("import torch\ntorch.isclose = None", "replaces torch.isclose"),
        ("check = print", "replaces check"),
        ("def check(*a):\n    pass", "replaces check"),
        ("from course_utils.checks import engine", "engine"),
        ("import sys\nsys.modules.clear()", "sys.modules"),
        ("import course_utils.checks.probe as p\np.x = 1", "probe"),
    ],
)
def test_tampering_is_noticed(text, said):
    found = read_answers((Step("extra", text),), {}, {})
    assert any(said in line for line in found.noticed) and not found.refused


def test_honest_helpers_are_not_noticed():
    text = "import torch\nx = torch.ones(2)\nx.requires_grad = True\nmodel.weight = x\nfrom course_utils.checks import check"
    assert read_answers((Step("extra", text),), {}, {}).noticed == ()
