"""Running an assembled notebook in a fresh kernel, its outputs kept, and what made them recorded."""

import ast
import hashlib
import re
import subprocess
import sys
from pathlib import Path

from jupyter_client.kernelspec import KernelSpecManager, NoSuchKernel
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbformat import NotebookNode

from .errors import AuthoringError
from .source import Source

WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
PACKAGE = "course_utils"
CELL_TIMEOUT_S = 300


def execute(source: Source, notebook: NotebookNode, root: Path, on_cell=lambda: None) -> None:
    """Run every cell of ``notebook`` in place, in the folder ``notebooks``.

    Args:
        source: Where its cells come from; cell ``i`` of the notebook is cell ``i`` of the source.
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
    client = NotebookClient(
        notebook,
        timeout=CELL_TIMEOUT_S,
        kernel_name=name,
        record_timing=False,
        store_widget_state=False,
        resources={"metadata": {"path": str(root / "notebooks")}},
        on_cell_executed=lambda **_: on_cell(),
    )
    (root / "notebooks").mkdir(exist_ok=True)
    try:
        client.execute(stderr=subprocess.DEVNULL)  # the kernel's own log; what cells print comes as messages
    except CellExecutionError as problem:
        index = _failed_index(notebook)
        reason = f"the cell raises {problem.ename}: {problem.evalue}"
        raise source.error(reason, source.cells[index]) from None
    except (CellTimeoutError, DeadKernelError) as problem:
        raise source.error(f"the notebook did not finish: {type(problem).__name__}: {problem}") from None
    notebook.metadata.language_info = {"name": "python"}
    notebook.metadata.course.update(provenance(notebook, root))
    for index, cell in enumerate(notebook.cells):
        if cell.cell_type == "code":
            _tidy_outputs(source, source.cells[index], cell)


def provenance(notebook: NotebookNode, root: Path) -> dict:
    """What the outputs depend on besides the cells: the Python version, and a digest of the library modules imported."""
    digest = hashlib.sha256()
    for path in _library_files("\n".join(c.source for c in notebook.cells if c.cell_type == "code"), root):
        digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes().replace(b"\r\n", b"\n"))
    return {"python": f"{sys.version_info.major}.{sys.version_info.minor}", "library": digest.hexdigest()[:16]}


def _library_files(code: str, root: Path) -> list[Path]:
    """The library files that ``code`` imports, directly or through one another, sorted."""
    found: set[Path] = set()
    queue = _imported(code, ())
    while queue:
        parts = queue.pop()
        base = root.joinpath(*parts)
        for path in (base.with_suffix(".py"), base / "__init__.py"):
            if path.is_file() and path not in found:
                found.add(path)
                package = parts if path.name == "__init__.py" else parts[:-1]
                queue.extend(_imported(path.read_text(encoding="utf-8"), package))
        if parts[-1:] == ("checks",):  # its files are loaded by the lesson's number, not by an import statement
            queue.extend((*parts, path.stem) for path in base.glob("*.py"))
    return sorted(found)


def _imported(code: str, package: tuple[str, ...]) -> list[tuple[str, ...]]:
    modules = []
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            names = [tuple(alias.name.split(".")) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            base += tuple(node.module.split(".")) if node.module else ()
            names = [base, *((*base, alias.name) for alias in node.names)]
        else:
            continue
        modules.extend(name for name in names if name[:1] == (PACKAGE,))
    return modules


def _failed_index(notebook: NotebookNode) -> int:
    for index, cell in enumerate(notebook.cells):
        if any(output.output_type == "error" for output in cell.get("outputs", ())):
            return index
    return 0


def _tidy_outputs(source: Source, origin, cell: NotebookNode) -> None:
    """Refuse warnings; keep a widget's text, not its view: a view without a kernel is a dead slider or an error box.

    What a cell prints may arrive in one piece or in several, as the clock has it; in the notebook it is one.
    """
    cell.outputs = _joined(cell.outputs)
    for output in cell.outputs:
        if output.output_type == "stream" and output.name == "stderr" and "nbval-ignore-output" not in origin.tags:
            raise source.error(f"the cell writes to stderr: {output.text.strip()[:200]!r}", origin)
        if "data" in output:
            output.data.pop(WIDGET_VIEW, None)
            if "text/plain" in output.data:
                output.data["text/plain"] = re.sub(r" at 0x[0-9a-f]+", "", output.data["text/plain"])


def _joined(outputs: list[NotebookNode]) -> list[NotebookNode]:
    joined: list[NotebookNode] = []
    for output in outputs:
        last = joined[-1] if joined else {}
        if output.output_type == "stream" and last.get("output_type") == "stream" and last["name"] == output.name:
            last["text"] += output.text
        else:
            joined.append(output)
    return joined
