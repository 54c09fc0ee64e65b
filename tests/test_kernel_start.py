"""Kernels that find their ports taken are started again (conftest.py)."""

import pytest
from nbval import kernel


def test_nbval_starts_kernels_through_it():
    assert kernel.start_new_kernel.__name__ == "started" and kernel.start_new_kernel.__module__ == "conftest"


@pytest.mark.parametrize("failing", [0, 1, 2, 3])
def test_it_tries_three_times(failing):
    tried = []

    def start(*args, **options):
        tried.append((args, options))
        if len(tried) <= failing:
            raise RuntimeError("Kernel died before replying to kernel_info")
        return "manager", "client"

    if failing == 3:
        with pytest.raises(RuntimeError, match="Kernel died"):
            kernel.start_new_kernel(60, _start=start, cwd=".")
    else:
        assert kernel.start_new_kernel(60, _start=start, cwd=".") == ("manager", "client")
    assert tried == [((60,), {"cwd": "."})] * min(failing + 1, 3)
