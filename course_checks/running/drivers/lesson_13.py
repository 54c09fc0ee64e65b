"""Lesson 13: the machine of two heads that a student's matrices are put into."""

import torch
import torch.nn.functional as F

MATRICES = ("ov_1", "qk_2", "ov_2")


def drive_machine(answer, case):
    """The answer's block after both heads, ``(B, L, V)``."""
    V, ids = case["V"], case["ids"]
    matrices = answer(V)
    if not isinstance(matrices, dict) or set(matrices) != set(MATRICES):
        raise ValueError(f"induction_by_hand must return a dict of three matrices: {', '.join(MATRICES)}")
    found = [matrices[name] for name in MATRICES]
    if not all(isinstance(matrix, torch.Tensor) for matrix in found):
        raise ValueError("induction_by_hand must return a dict of three matrices that are tensors")
    shapes = [tuple(matrix.shape) for matrix in found]
    if set(shapes) != {(3 * V, 3 * V)}:
        raise ValueError(f"the matrices have the shapes {', '.join(map(str, shapes))}; all must be {(3 * V, 3 * V)}")
    if {matrix.dtype for matrix in found} != {torch.float32}:
        raise ValueError("all three matrices must be float32")
    ov_1, qk_2, ov_2 = (matrix.detach() for matrix in found)
    x = F.one_hot(ids, 3 * V).float()  # (B, L, 3 * V)
    x = x + F.pad(x, (0, 0, 1, 0))[:, :-1] @ ov_1.T
    later = torch.ones(ids.shape[1], ids.shape[1], dtype=torch.bool).triu(1)
    weights = (x @ qk_2 @ x.transpose(1, 2)).masked_fill(later, float("-inf")).softmax(dim=-1)
    return (x + weights @ x @ ov_2.T)[..., 2 * V :]
