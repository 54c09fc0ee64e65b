"""What one submission may use."""

from dataclasses import asdict, dataclass

MIB = 2**20
MAX_JSON_VALUES = 200_000  # values in one JSON text from a kernel; the observations of the solutions have 1,500 at most


@dataclass(frozen=True)
class Limits:
    """Limits on one submission.

    Args:
        cell_s: Seconds for one cell, or one run of a check.
        notebook_s: Seconds for the whole notebook, restarts included.
        memory_mb: MiB of memory for all processes of the submission together (and address space for each).
        scratch_mb: MiB of files in its scratch folder, and the same again in shared memory.
        processes: Processes and threads.
        open_files: Open files of one process.
        message_mb: MiB that one reply may take: a cell's error, or an observation. What a cell prints goes nowhere.
        observations_mb: MiB of all observations of a notebook.
        submission_mb: MiB of the handed-in file.
        restarts: How often a kernel that died or hung is started again, to give the other exercises their chance.
    """

    cell_s: float = 60.0
    notebook_s: float = 300.0
    memory_mb: int = 2048
    scratch_mb: int = 64
    processes: int = 64
    open_files: int = 256
    message_mb: int = 4
    observations_mb: int = 8
    submission_mb: int = 16
    restarts: int = 12

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if value <= 0 and name != "restarts":
                raise ValueError(f"{name} ({value}) must be more than 0")
