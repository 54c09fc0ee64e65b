"""What sees each operation that PyTorch runs while an answer is called, and does not wake PyTorch's compiler."""

from torch.utils._python_dispatch import TorchDispatchMode


class DispatchWatch(TorchDispatchMode):
    """A dispatch mode to derive from: PyTorch's own loads ``torch._dynamo`` on the first operation that it sees.

    That takes a second, and leaves a folder behind in the temporary directory.
    """

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # asked when a class is derived: "yes" wraps its __torch_dispatch__ in the compiler's decorator
