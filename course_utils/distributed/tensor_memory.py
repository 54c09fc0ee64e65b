"""How many bytes the tensors of a computation take at once, counted exactly, with a limit if you like.

``course_utils.memory`` asks the operating system what a process takes, to a few megabytes. Here each tensor is counted when
an operation makes it and until it is gone, so that small numbers show, and the same on every machine.
"""

import weakref

from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves


class TensorMemory(TorchDispatchMode):
    """Counts, inside a ``with``, the bytes of tensors that PyTorch's operations make there.

    Views share memory and count once. What an operation uses inside itself for a moment is not seen. Tensors that were there
    before do not count, unless they are handed in.

    Args:
        limit: Bytes; an operation whose result passes it raises ``MemoryError``. None: no limit.
        tensors: Tensors that are there already and shall count.
    """

    def __init__(self, *tensors: Tensor, limit: int | None = None) -> None:
        super().__init__()
        if limit is not None and limit < 1:
            raise ValueError(f"limit ({limit}) must be at least 1 byte")
        self.limit, self.now, self.peak = limit, 0, 0
        self._known: set[int] = set()
        for tensor in tensors:
            self._count(tensor)

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        """Run an operation, and count what it has made."""
        result = function(*args, **(kwargs or {}))
        for value in tree_leaves(result):
            if isinstance(value, Tensor):
                self._count(value)
        if self.limit is not None and self.now > self.limit:
            raise MemoryError(
                f"after {function} the tensors take {self.now:,} bytes at once, and the limit is {self.limit:,}"
            )
        return result

    def _count(self, tensor: Tensor) -> None:
        storage = tensor.untyped_storage()
        place = storage.data_ptr()
        if place == 0 or place in self._known:
            return
        self._known.add(place)
        size = storage.nbytes()
        self.now += size
        self.peak = max(self.peak, self.now)
        weakref.finalize(storage, self._forget, place, size)

    def _forget(self, place: int, size: int) -> None:
        self._known.discard(place)
        self.now -= size
