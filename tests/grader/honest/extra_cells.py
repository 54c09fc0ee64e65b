"""Cells that students leave beside their answers: each of them alone, in the middle of lesson 01."""

from pathlib import Path

from handed_in import sections

from .honest_notebook import add, insert

LACKS = {"shadowed_names": frozenset({"1.9"})}  # its answer calls sum

for header, text in sections(Path(__file__).with_name("extra_cells.txt")):
    name, *quick = header.split()
    choices = {"quick": bool(quick), "lacks": LACKS.get(name, frozenset())}
    add(name, "01", lambda notebook, text=text: insert(notebook, "answer-1-3", text), **choices)
LEFT_ON = {
    "gradients_left_off_in_02": ("02", "torch.set_grad_enabled(False)"),
    "double_precision_left_on_in_08": ("08", "torch.set_default_dtype(torch.float64)"),
    "warnings_as_errors_in_02": ("02", "import warnings\nwarnings.simplefilter('error')"),
    "anomalies_watched_in_05": (
        "05",
        "torch.autograd.set_detect_anomaly(True)\ntorch.use_deterministic_algorithms(True)",
    ),
}
for name, (lesson, text) in LEFT_ON.items():
    place = f"answer-{int(lesson)}-1"
    add(name, lesson, lambda notebook, place=place, text=text: insert(notebook, place, text))
