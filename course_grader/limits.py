"""What one submission may use."""

from dataclasses import dataclass

MIB = 2**20
MAX_JSON_VALUES = 200_000  # values in one JSON text from a kernel; the observations of the solutions have 1,500 at most


@dataclass(frozen=True)
class Limits:
    """Limits on one submission; s are seconds, mb MiB."""

    cell_s: float = 120.0  # for one cell, or one run of a check
    notebook_s: float = 300.0  # for the whole notebook, restarts included
    memory_mb: int = 2048  # for all processes of the submission together (and address space for each)
    scratch_mb: int = 64  # of files in its scratch folder, and the same again in shared memory
    processes: int = 64  # and threads
    open_files: int = 256  # of one process
    message_mb: int = 4  # of one reply: a cell's error, or an observation; what a cell prints goes nowhere
    observations_mb: int = 8  # of all observations of a notebook
    submission_mb: int = 16  # of the handed-in file
    restarts: int = 12  # of a kernel that died or hung, to give the other exercises their chance
