import os
import subprocess
import sys
from pathlib import Path

import torch
from torch.nn import functional as F
from torch.utils.flop_counter import FlopCounterMode

from course_utils.checks.probes.lessons.lesson_07 import Work

WATCHED = """
import sys
import torch
from course_utils.checks.probes.counted import call_counted
from course_utils.checks.probes.guard import off_limits
from course_utils.checks.probes.lessons import lesson_04, lesson_07

def product(a, b):
    return a @ b.mT

case = {"a": torch.ones(2, 3), "b": torch.ones(4, 3)}
call_counted(9, "a loop")(product, case)
with off_limits(("torch.softmax",), product), lesson_04.Blocks([]), lesson_07.Work() as work:
    product(**case)
assert work.multiplications == 2 * 4 * 3
print([name for name in sys.modules if name.startswith(("torch._dynamo", "torch._inductor"))])
"""


def test_who_watches_operations_does_not_wake_the_compiler(tmp_path):
    env = {**os.environ, "TMPDIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", WATCHED],
        capture_output=True,
        text=True,
        env=env,
        cwd=Path(__file__).parents[3],
        check=True,
    )
    assert done.stdout.strip() == "[]"
    assert not list(tmp_path.iterdir())


def test_multiplications_are_counted_as_pytorch_counts_them():
    def several(x, W):
        keys = torch.einsum("bld,hde->bhle", x, W)
        return F.scaled_dot_product_attention(keys, keys, keys), F.linear(x, W[0]), x @ x.mT, x.cumsum(1)

    x, W = torch.ones(2, 5, 8), torch.ones(4, 8, 8)
    for gradients in (True, False):
        with torch.set_grad_enabled(gradients), FlopCounterMode(display=False) as flops:
            several(x, W)
        with torch.set_grad_enabled(gradients), Work() as work:
            several(x, W)
        assert 2 * work.multiplications == flops.get_total_flops() > 0
    assert work.largest == 2 * 4 * 5 * 8
