"""Who watches operations does not wake PyTorch's compiler, which takes a second and leaves a folder behind."""

import os
import subprocess
import sys

WATCHED = """
import sys
import torch
from course_checks.running.call import Call, Case
from course_checks.running.dispatch import DispatchWatch

class Names(DispatchWatch):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        print(func.overloadpacket)
        return func(*args, **(kwargs or {}))

case = Case(a=torch.ones(2, 3), b=torch.ones(4, 3))
with Names():
    case["a"] @ case["b"].mT
Call(off_limits=("torch.softmax",), most_operations=9).on(lambda a, b: a @ b.mT, case)
print([name for name in sys.modules if name.startswith(("torch._dynamo", "torch._inductor"))])
"""


def test_operations_are_seen_and_the_compiler_sleeps(tmp_path, root):
    env = {**os.environ, "TMPDIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", WATCHED], capture_output=True, text=True, env=env, cwd=root, check=True
    )
    *operations, compiler = done.stdout.splitlines()
    assert "aten.mm" in operations and compiler == "[]"
    assert not list(tmp_path.iterdir())
