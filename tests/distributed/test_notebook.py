"""The processes started from a notebook, whose functions no other process can import."""

import nbformat
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

CELLS = [
    """
import math
import torch
import torch.distributed as dist
from dataclasses import dataclass
from course_utils.distributed.processes import run_on_ranks

STEPS = 3
""",
    """
@dataclass
class Step:
    number: int

    def half(self):
        return self.number / 2


def helper(x):
    return sum(Step(i).half() for i in range(STEPS)) + x
""",
    """
def work(rank, P, x):
    print(f"rank {rank} of {P}")
    total = helper(x) + math.floor(0.5)
    dist.all_reduce(total)
    return total


run_on_ranks(work, 2, torch.tensor([1.0]))
""",
    """
def fails(rank, P):
    if rank == 1:
        print("so far")
        raise ValueError("no such block")
    dist.barrier()


run_on_ranks(fails, 2)
""",
]


def test_functions_of_a_notebook_run_on_ranks_and_errors_are_short():
    notebook = new_notebook(cells=[new_code_cell(text.strip("\n")) for text in CELLS])
    notebook.cells[-1].metadata.tags = ["raises-exception"]
    NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    nbformat.validate(notebook)
    shown = notebook.cells[2].outputs[0].data["text/plain"]
    assert shown == (
        "rank 0: tensor([5.])\n  printed:\n  | rank 0 of 2\nrank 1: tensor([5.])\n  printed:\n  | rank 1 of 2"
    )
    (error,) = notebook.cells[3].outputs
    assert "\n".join(error.traceback).split("\n") == [
        "rank 1 of 2 raised ValueError: no such block",
        '  line 4 of fails: raise ValueError("no such block")',
        "  it had printed:",
        "  | so far",
        "All ranks were ended.",
    ]
