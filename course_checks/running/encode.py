"""Plain data: what crosses from running to deciding, in memory and as bytes.

``encode`` turns any object a student may return into a tree of small dicts, and never runs a method that the student
wrote. ``pack`` turns such a tree into JSON and safetensors, ``unpack`` turns it back: no pickle anywhere.
"""

import contextlib
import json
from fractions import Fraction

import numpy as np
import safetensors.torch
import torch
from torch import Tensor

MAX_DEPTH = 8
MAX_NODES = 1_000  # of what a call returns: the longest right result has 351, and there are up to 42 calls
MAX_NODES_ALONE = 20_000  # of a value that is noted once, an experiment's results
TENSOR_NODES = 5  # a tensor takes as much room as so many numbers
MAX_TEXT = 5_000
MAX_VALUES = 5_000_000
NUMERATOR, DENOMINATOR = Fraction._numerator.__get__, Fraction._denominator.__get__  # slots: no method runs
CARRIED_DTYPES = {
    getattr(torch, name): name for name in "float64 float32 float16 bfloat16 int64 int32 int16 int8 uint8 bool".split()
}

Tree = dict


def encode(value: object, nodes: int = MAX_NODES) -> Tree:
    """Describe ``value`` as a tree; what has no plain form becomes ``{"kind": "other", "type": its type's name}``.

    Args:
        value: Anything at all. It is not changed, and none of its own methods is called.
        nodes: How many values there may be in it, one in another.

    Returns:
        A dict with the key ``kind``: none, bool, int, float, str, tensor, array, list, tuple, dict or other. Tensors are
        detached copies on the CPU; one that is too large, sparse, or of an unusual dtype carries no values. A list, tuple or
        dict that is too long is of the kind other, with its ``length``.
    """
    return _encode(value, MAX_DEPTH, {"nodes": nodes, "values": MAX_VALUES})


def decode(tree: Tree) -> object:
    """The value that a tree made by ``encode`` describes (kind ``other`` becomes None)."""
    kind, value = tree["kind"], tree.get("value")
    if kind in ("none", "other"):
        return None
    if kind == "float":
        return float(value)
    if kind == "int":
        return int(value)
    if kind in ("list", "tuple"):
        items = [decode(item) for item in value]
        return items if kind == "list" else tuple(items)
    if kind == "dict":
        return {decode(key): decode(item) for key, item in value}
    if kind == "array":
        return value.numpy()
    return value


def pack(tree: Tree) -> tuple[str, bytes]:
    """Split a tree into JSON text and a safetensors file that holds its tensors."""
    tensors: dict[str, Tensor] = {}

    def strip(node):
        if isinstance(node, Tensor):
            tensors[name := f"t{len(tensors)}"] = node.contiguous()
            return {"tensor": name}
        if isinstance(node, dict):
            return {key: strip(item) for key, item in node.items()}
        if isinstance(node, list | tuple):
            return [strip(item) for item in node]
        return node

    return json.dumps(strip(tree)), safetensors.torch.save(tensors)


def unpack(text: str, data: bytes) -> Tree:
    """Put a tree made by ``pack`` together again.

    Raises:
        ValueError: The text is not JSON, names a tensor that is not in ``data``, or gives it another shape.
    """
    tensors = safetensors.torch.load(data)

    def fill(node):
        if isinstance(node, dict):
            if node.keys() == {"tensor"}:
                if node["tensor"] not in tensors:
                    raise ValueError(f"observation names a tensor {node['tensor']!r} that was not carried over")
                return tensors[node["tensor"]]
            filled = {key: fill(item) for key, item in node.items()}
            value = filled.get("value")
            if isinstance(value, Tensor) and list(value.shape) != filled.get("shape"):
                raise ValueError(f"a tensor of shape {tuple(value.shape)} came as {filled.get('shape')}")
            return filled
        if isinstance(node, list):
            return [fill(item) for item in node]
        return node

    return fill(json.loads(text))


def type_name(value: object) -> str:
    """The name of the value's type, short and printable, whatever the type does to hide it."""
    try:
        name = type.__getattribute__(type(value), "__name__")
    except Exception:
        return "object"
    return "".join(letter for letter in str(name)[:60] if letter.isprintable())


def _encode(value: object, depth: int, left: dict[str, int]) -> Tree:
    left["nodes"] -= 1
    if depth == 0 or left["nodes"] < 0:
        return {"kind": "other", "type": f"{type_name(value)} (too deep or too long)"}
    if value is None:
        return {"kind": "none"}
    cls = type(value)
    if cls is bool or issubclass(cls, np.bool_):
        return {"kind": "bool", "value": bool(value)}
    if issubclass(cls, int) or issubclass(cls, np.integer):
        number = int.__index__(value) if issubclass(cls, int) else np.generic.item(value)
        short = number.bit_length() < 10_000
        return {"kind": "int", "value": str(number)} if short else {"kind": "other", "type": "int (too long)"}
    if issubclass(cls, float):
        return {"kind": "float", "value": repr(float.__float__(value))}
    if issubclass(cls, np.floating):
        return {"kind": "float", "value": repr(np.generic.__float__(value))}
    if cls is Fraction:  # issubclass would ask the student's subclasses of it
        return _encode_fraction(value)
    if issubclass(cls, str):
        return {"kind": "str", "value": str.__str__(value)[:MAX_TEXT].encode("utf-8", "replace").decode()}
    if issubclass(cls, Tensor) or cls is np.ndarray:
        left["nodes"] -= TENSOR_NODES - 1
        return _encode_array(value) if cls is np.ndarray else _encode_tensor(value, left)
    for base in (list, tuple, dict):
        if issubclass(cls, base):
            length = base.__len__(value)
            if length * (2 if base is dict else 1) > left["nodes"]:
                return {"kind": "other", "type": base.__name__, "length": length}
            if base is dict:
                items = [[_encode(part, depth - 1, left) for part in pair] for pair in dict.items(value)]
            else:
                items = [_encode(item, depth - 1, left) for item in base.__iter__(value)]
            return {"kind": base.__name__, "value": items}
    return {"kind": "other", "type": type_name(value)}


def _encode_fraction(value: Fraction) -> Tree:
    with contextlib.suppress(AttributeError, ArithmeticError):  # not made whole, or too large
        top, bottom = NUMERATOR(value), DENOMINATOR(value)
        if type(top) is type(bottom) is int:
            return {"kind": "float", "value": repr(top / bottom)}
    return {"kind": "other", "type": type_name(value)}


def _encode_tensor(value: Tensor, left: dict[str, int]) -> Tree:
    try:
        with torch.no_grad(), torch._C.DisableTorchFunctionSubclass():
            plain = torch.Tensor.detach(value)
            tree = {
                "kind": "tensor",
                "dtype": str(plain.dtype).removeprefix("torch."),
                "shape": list(torch.Tensor.size(plain)),
                "device": torch.Tensor.__getattribute__(plain, "device").type,
                "value": None,
            }
            fits = plain.layout == torch.strided and plain.dtype in CARRIED_DTYPES and plain.numel() <= left["values"]
            if fits and tree["device"] != "meta":
                left["values"] -= plain.numel()
                copied = torch.Tensor.clone(plain.cpu(), memory_format=torch.contiguous_format).as_subclass(Tensor)
                if type(copied) is not Tensor or list(copied.shape) != tree["shape"]:
                    raise TypeError("a subclass that makes something else of itself")
                copied.flatten()[:1].tolist()  # a tensor without values, such as FakeTensor's, raises here
                tree["value"] = copied
            return tree
    except KeyboardInterrupt:
        raise
    except BaseException:  # a subclass that breaks the tensor interface
        return {"kind": "other", "type": type_name(value)}


def _encode_array(value: np.ndarray) -> Tree:
    tree = {"kind": "array", "dtype": str(value.dtype), "shape": list(value.shape), "device": "cpu", "value": None}
    if value.dtype.kind in "fiub" and value.size <= MAX_VALUES:
        with contextlib.suppress(TypeError):  # a dtype that torch does not have, such as float128
            tree["value"] = torch.from_numpy(np.array(value, order="C", copy=True))
    return tree
