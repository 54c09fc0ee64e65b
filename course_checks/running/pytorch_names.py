"""Under which names PyTorch has a function, and which kernels its dispatcher runs for it."""

import functools
from collections.abc import Iterable

import torch

# What the dispatcher runs for a function, by the first letters of the kernel's name, where no other function needs it.
KERNELS = {
    "softmax": ("_softmax", "_safe_softmax"),
    "log_softmax": ("_log_softmax",),
    "scaled_dot_product_attention": ("_scaled_dot_product", "_native_multi_head", "_transform_bias_rescale_qkv"),
    "MultiheadAttention": ("_scaled_dot_product", "_native_multi_head"),
    "layer_norm": ("native_layer_norm",),
    "rms_norm": ("_fused_rms_norm",),
    "group_norm": ("native_group_norm",),
    "batch_norm": ("native_batch_norm", "_native_batch_norm_legit"),
    "gelu": ("gelu",),
    "logsumexp": ("logsumexp",),
    "conv1d": ("convolution", "mkldnn_convolution", "slow_conv", "_slow_conv"),
}
# Where PyTorch keeps a function under its plain word, or with one of these before or after it.
HOLDERS = (
    *("torch", "torch.functional", "torch.nn.functional", "torch.special", "torch.linalg", "torch.sparse", "torch.nested"),
    *("torch._C._nn", "torch._C._special", "torch._C._linalg", "torch.Tensor", "torch._refs"),
)  # fmt: skip
SPELLINGS = ("{}", "{}_", "_{}", "special_{}", "native_{}", "_native_{}_legit")
LAYOUTS = ("CPU", "NestedTensorCPU", "MkldnnCPU", "QuantizedCPU", "SparseCPU", "SparseCsrCPU")  # of tensors on the CPU


@functools.cache
def known_by_pytorch() -> tuple[list[tuple[object, frozenset[str]]], dict[str, list[tuple[str, str]]]]:
    """Each of ``HOLDERS`` with its names; and each operator with the layouts it works on, by its beginning in ``KERNELS``.

    To ask for this takes a while; a process that forks asks once for all.
    """
    holders = [functools.reduce(lambda part, name: getattr(part, name, None), h.split(".")[1:], torch) for h in HOLDERS]
    works = torch._C._dispatch_has_computed_kernel_for_dispatch_key
    operators: dict[str, list[tuple[str, str]]] = {start: [] for kernels in KERNELS.values() for start in kernels}
    beginnings = tuple(f"aten::{start}" for start in operators)
    for operator in filter(lambda name: name.startswith(beginnings), torch._C._dispatch_get_all_op_names()):
        for start in operators:
            if operator.startswith(f"aten::{start}") and "backward" not in operator:
                operators[start] += [
                    (operator, layout) for layout in LAYOUTS if layout == "CPU" or works(operator, layout)
                ]
    return [(holder, frozenset(dir(holder))) for holder in holders if holder is not None], operators


def kernels_of(names: Iterable[str]) -> dict[str, str]:
    """How the kernels of these functions begin, and which function each of them is of."""
    return {start: name for name in names for start in KERNELS.get(word_of(name), ())}


def word_of(name: str) -> str:
    """The word by which a function is known elsewhere too; what ``torch.masked`` calls ``softmax`` is made of the other one."""
    return "" if name.startswith("torch.masked.") else name.rpartition(".")[2]
