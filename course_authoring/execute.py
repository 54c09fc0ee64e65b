"""Running an assembled notebook in a fresh kernel, its outputs kept."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

from jupyter_client.kernelspec import KernelSpecManager, NoSuchKernel
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbformat import NotebookNode

from .assemble import INSTALL_ID
from .errors import AuthoringError
from .source import Cell, Source

WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
CELL_TIMEOUT_S = 300
# In the metadata of an output, which neither JupyterLab nor nbval reads: what an anywidget needs on a page without a kernel,
# {"module": ..., "state": {...}, "bytes": {name: base64}}.
WIDGET_STATE = "course_widget"
WIDGET_MODULES = Path("course_utils") / "widgets" / "modules"
MAX_STATE_CHARACTERS = 300_000  # of one widget, as JSON; a page of the site is to stay under 3 MB
EVERY_WIDGETS_STATE = {"layout", "tabbable", "tooltip"}


def execute(source: Source, notebook: NotebookNode, root: Path, on_cell=lambda: None) -> None:
    """Run every cell of ``notebook`` in place, in the folder ``notebooks``.

    Args:
        source: Where its cells come from.
        notebook: An assembled lesson or solution.
        root: The project's folder.
        on_cell: Called after each code cell, for a progress bar.

    Raises:
        AuthoringError: A cell raises, runs too long, kills its kernel or writes to stderr (a warning that a student
            would see); or no kernel called ``python3`` is installed.
    """
    name = notebook.metadata.kernelspec.name
    try:
        KernelSpecManager().get_kernel_spec(name)
    except NoSuchKernel:
        raise AuthoringError(
            f"missing kernelspec: no kernel called {name!r} is installed here; pip install ipykernel", source.path
        ) from None
    origins = _origins(source, notebook)
    client = NotebookClient(
        notebook,
        timeout=CELL_TIMEOUT_S,
        kernel_name=name,
        record_timing=False,
        store_widget_state=True,  # taken out again below, but for what a page without a kernel can show
        resources={"metadata": {"path": str(root / "notebooks")}},
        on_cell_executed=lambda **_: on_cell(),
    )
    (root / "notebooks").mkdir(exist_ok=True)
    try:
        client.execute(stderr=subprocess.DEVNULL)  # the kernel's own log; what cells print comes as messages
    except CellExecutionError as problem:
        index = _failed_index(notebook)
        reason = f"the cell raises {problem.ename}: {problem.evalue}"
        raise source.error(reason, origins[index]) from None
    except (CellTimeoutError, DeadKernelError) as problem:
        raise source.error(f"the notebook did not finish: {type(problem).__name__}: {problem}") from None
    notebook.metadata.language_info = {"name": "python"}
    notebook.metadata.pop("widgets", None)
    for origin, cell in zip(origins, notebook.cells, strict=True):
        if cell.cell_type == "code":
            _tidy_outputs(source, origin, cell, client, root)


def _origins(source: Source, notebook: NotebookNode) -> list[Cell | None]:
    """For each cell of the notebook the cell of the source; None for the one that the build adds."""
    cells = iter(source.notebook_cells)
    return [None if cell.id == INSTALL_ID else next(cells) for cell in notebook.cells]


def _failed_index(notebook: NotebookNode) -> int:
    for index, cell in enumerate(notebook.cells):
        if any(output.output_type == "error" for output in cell.get("outputs", ())):
            return index
    return 0


def _tidy_outputs(source: Source, origin: Cell | None, cell: NotebookNode, client: NotebookClient, root: Path) -> None:
    """Refuse warnings; keep a widget's text, not its view: a view without a kernel is a dead slider or an error box.

    What a cell prints may arrive in one piece or in several, as the clock has it; in the notebook it is one. Of a progress
    bar, which paints one line again and again, the last state stays.
    """
    cell.outputs = _joined(cell.outputs)
    may_warn = origin is not None and "nbval-ignore-output" in origin.tags
    for output in cell.outputs:
        if output.output_type == "stream" and output.name == "stderr" and not may_warn:
            raise source.error(f"the cell writes to stderr: {output.text.strip()[:200]!r}", origin)
        if output.output_type == "stream":
            output.text = re.sub(r"[^\n]*\r(?=[^\n])", "", output.text)
        if "data" in output:
            view = output.data.pop(WIDGET_VIEW, None)
            state = _state_without_kernel(client, view["model_id"], root) if view else None
            if state is not None:
                if (size := len(json.dumps(state))) > MAX_STATE_CHARACTERS:
                    reason = (
                        f"the state of this widget ({state['module']}) is {size:,} characters long, too many for a page; at "
                        f"most {MAX_STATE_CHARACTERS:,}: show fewer tokens, heads or layers"
                    )
                    raise source.error(reason, origin)
                output.metadata[WIDGET_STATE] = state
            if "text/plain" in output.data:
                output.data["text/plain"] = re.sub(r" at 0x[0-9a-f]+", "", output.data["text/plain"])


def _state_without_kernel(client: NotebookClient, model_id: str, root: Path) -> dict[str, Any] | None:
    """What a displayed widget needs where its JavaScript module runs alone; None for one that computes in Python."""
    state = client.widget_state.get(model_id, {})
    modules = {path.read_text(encoding="utf-8"): path.stem for path in sorted((root / WIDGET_MODULES).glob("*.js"))}
    module = modules.get(state.get("_esm"))
    if module is None:
        return None
    buffers = {path[0]: buffer["data"] for path, buffer in client.widget_buffers.get(model_id, {}).items()}
    not_own = EVERY_WIDGETS_STATE | set(buffers)
    own = {name: value for name, value in state.items() if name[0] != "_" and name not in not_own}
    return {"module": module, "state": own, "bytes": {name: data.replace("\n", "") for name, data in buffers.items()}}


def _joined(outputs: list[NotebookNode]) -> list[NotebookNode]:
    joined: list[NotebookNode] = []
    for output in outputs:
        last = joined[-1] if joined else {}
        if output.output_type == "stream" and last.get("output_type") == "stream" and last["name"] == output.name:
            last["text"] += output.text
        else:
            joined.append(output)
    return joined
