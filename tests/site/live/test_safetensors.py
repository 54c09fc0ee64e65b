"""Weights read in JavaScript are the numbers that were written."""

import numpy as np
import pytest
import torch
from in_live import in_live
from safetensors.torch import save_file

pytestmark = pytest.mark.needs("node")


def test_every_16_bit_number():
    read = in_live("return Array.from({ length: 65536 }, (_, bits) => String(safetensors.from_float16(bits)));")
    right = np.arange(65536, dtype=np.uint16).view(np.float16)
    assert np.array_equal(np.array(read, dtype=np.float64), right.astype(np.float64), equal_nan=True)


def test_a_file_of_both_sizes_of_numbers(tmp_path):
    half, whole = torch.tensor([[1.5, -2.25, 3e-7]]).half(), torch.tensor([0.1, 2.0])
    save_file({"a": half, "b.c": whole}, tmp_path / "w", metadata={"model": "x"})
    read = in_live("return safetensors.read(open(file));", file=str(tmp_path / "w"))
    assert read["metadata"] == {"model": "x"}
    assert read["tensors"]["a"]["shape"] == [1, 3]
    assert np.allclose(read["tensors"]["a"]["data"], half.float().numpy(), rtol=0, atol=0)
    assert np.allclose(read["tensors"]["b.c"]["data"], whole.numpy(), rtol=1e-7)


@pytest.mark.parametrize("content", [b"", b"\xff" * 9, b"<html>not found</html>"])
def test_what_is_no_such_file_is_said(content, tmp_path):
    (tmp_path / "w").write_bytes(content)
    body = "try { safetensors.read(open(file)); } catch (error) { return error.message; }"
    assert in_live(body, file=str(tmp_path / "w")).startswith("these are no weights")
