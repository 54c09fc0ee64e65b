"""How long a student waits: import, checks, slider redraws, lessons; and the explicit attention against PyTorch's own.

Absolute times hold for the machine they were measured on.
"""

import statistics
import subprocess
import sys
from pathlib import Path

import nbformat
import torch
import torch.nn.functional as F
from nbclient import NotebookClient

from course_checks.deciding.exercise import Exercise
from course_checks.deciding.find import all_entries
from course_checks.engine import run
from course_utils import widgets
from course_utils.attention import scaled_dot_product_attention

from .measure import in_turn, median, ratio, seconds, threads

ROOT = Path(__file__).resolve().parent.parent


def import_time() -> float:
    """Seconds that ``import course_utils`` adds to a running interpreter."""
    code = "import time; t = time.perf_counter(); import course_utils; print(time.perf_counter() - t)"
    runs = [subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True) for _ in range(5)]
    return statistics.median(float(done.stdout) for done in runs)


def redraw_times() -> dict[str, float]:
    """Median seconds from a slider's move to the new picture, for each widget."""
    x = torch.linspace(0, 5, 40)
    made = {
        "two_vectors": (widgets.two_vectors(), "angle"),
        "kernel_regression": (widgets.kernel_regression(x, x.sin()), "query"),
        "shape_viewer": (widgets.shape_viewer(), "entry"),
    }
    redraws = {}
    for name, (widget, control) in made.items():
        slider = widget.controls[control]
        steps = iter(range(10**6))

        def move(slider=slider, steps=steps):
            slider.value = slider.min + (next(steps) % 10) * slider.step

        redraws[name] = median(move, 20)
    return redraws


def check_times() -> dict[str, float]:
    """Seconds of each exercise's check on an answer that is wrong and unknown: the longest way through."""

    class Unknown:
        def __init__(self, *arguments):
            raise ValueError

    return {
        number: median(lambda e=e: run(e, Unknown if e.call.expects == "class" else lambda *a: 0.123), 3)
        for number, e in all_entries().items()
        if isinstance(e, Exercise)
    }


def attention_ratio() -> float:
    """Explicit attention, weights handed back, over PyTorch's fused kernel, which has none: (B, H, L, d) = (4, 8, 256, 64)."""
    rng = torch.Generator().manual_seed(0)
    query, key, value = (torch.randn(4, 8, 256, 64, generator=rng) for _ in range(3))
    actions = {
        "explicit": lambda: scaled_dot_product_attention(query, key, value),
        "fused": lambda: F.scaled_dot_product_attention(query, key, value),
    }
    return ratio(in_turn(actions, 20), "explicit", "fused")


def lesson_times() -> dict[str, float]:
    """Seconds to run each lesson from start to end, kernel start included."""
    lessons = {}
    for path in sorted((ROOT / "notebooks").glob("[0-9]*.ipynb")):
        notebook = nbformat.read(path, 4)
        client = NotebookClient(notebook, kernel_name="python3", resources={"metadata": {"path": str(path.parent)}})
        lessons[path.stem] = seconds(lambda client=client: client.execute(stderr=subprocess.DEVNULL))
    return lessons


def main() -> None:
    """Print the table."""
    print(threads())
    print(f"import course_utils                {1000 * import_time():8.2f} ms   (at most 20)")
    for name, value in redraw_times().items():
        print(f"redraw {name:27} {1000 * value:8.1f} ms   (at most 150)")
    checks = check_times()
    slowest = max(checks, key=checks.get)
    print(f"slowest check, {slowest:19} {1000 * checks[slowest]:8.1f} ms   (at most 500; {len(checks)} checks)")
    print(f"explicit / fused attention         {attention_ratio():8.2f} x")
    for name, value in lesson_times().items():
        print(f"lesson {name:27} {value:8.1f} s    (at most 30)")


if __name__ == "__main__":
    main()
