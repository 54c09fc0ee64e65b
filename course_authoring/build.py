"""Build and check: which notebooks the sources ask for, which of them are up to date, writing them whole."""

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from tqdm import tqdm

from course_utils.files import write_whole

from . import catalogue
from .address import public_address
from .assemble import INSTALL_ID, assemble
from .dependencies import ADDRESS, RECORD, Library, read_record, write_record
from .errors import AuthoringError
from .execute import execute
from .links import Outline
from .readme import readme_text
from .source import KINDS, Source, read_source

BUILT_FOLDERS = ("notebooks", "solutions", "exercises")


@dataclass(frozen=True)
class Target:
    """One notebook to be: where it belongs, what it comes from, its cells without outputs."""

    path: str
    source: Source
    notebook: NotebookNode

    @property
    def executed(self) -> bool:
        """Whether it is run, and its outputs are kept."""
        return self.notebook.metadata.course.kind not in ("exercise", "tour")

    @property
    def shows_its_solution(self) -> bool:
        """Whether it has the outputs of the solution that is built from the same source."""
        return self.notebook.metadata.course.kind == "tour"


def read_sources(root: Path, only: str | None = None) -> tuple[list[Source], list[AuthoringError]]:
    """All sources (or those whose stem begins with ``only``), lessons first, and what is wrong with the rest."""
    paths = [path for folder in KINDS for path in sorted((root / "sources" / folder).glob("*.py"))]
    chosen = [path for path in paths if path.stem.startswith(only or "")]
    if not chosen:
        prefix = "" if only is None else f" that begins with {only!r}"
        raise AuthoringError(f"no source{prefix} was found", "sources")
    sources, errors = [], []
    for path in chosen:
        try:
            source = read_source(root, path)
            catalogue.texts([source])  # what the checks need of it can be read, too
            sources.append(source)
        except AuthoringError as problem:
            errors.append(problem)
    return sources, errors


def targets(root: Path, address: str | None, only: str | None = None) -> tuple[list[Target], list[AuthoringError]]:
    """Every notebook that the sources ask for, and every source that cannot be built."""
    outline = Outline.read(root, address)
    sources, errors = read_sources(root, only)
    notebooks = []
    for source in sources:
        try:
            notebooks.extend(Target(path, source, notebook) for path, notebook in assemble(source, outline).items())
        except AuthoringError as problem:
            errors.append(problem)
    return notebooks, errors


def build(root: Path, only: str | None = None, jobs: int | None = None, force: bool = False) -> list[str]:
    """Write every notebook that is not what its source says, or whose outputs come from another library.

    Lessons and solutions are run for it. Where only prose differs, the outputs that are there are kept. All of them hold the
    public address that the repository has now, or none; what is built alone holds the others'.

    Args:
        root: The project's folder.
        only: Restrict to stems that begin with this, such as ``"05"``.
        jobs: Notebooks run at the same time; None: one a core.
        force: Rebuild even what is up to date.

    Returns:
        The paths written, relative to ``root``.

    Raises:
        ExceptionGroup: of AuthoringError, one for each source that could not be built. The others are written.
    """
    recorded = read_record(root)
    address = recorded.get(ADDRESS) if only else public_address(root)
    chosen, errors = targets(root, address, only)
    written = _write_catalogue(root)
    digests = _digests(root, chosen)
    current = {path for path, digest in digests.items() if recorded.get(path) == digest}
    stale = [target for target in chosen if force or _difference(root, target, current)]
    to_run = [t for t in stale if t.executed and (force or t.path not in current or not _keep_outputs(root, t))]
    cells = sum(cell.cell_type == "code" for target in to_run for cell in target.notebook.cells)
    with tqdm(total=cells, unit="cell", desc="running", disable=not cells) as bar:

        def run(target: Target) -> AuthoringError | None:
            try:
                execute(target.source, target.notebook, root, on_cell=lambda: bar.update())
            except AuthoringError as problem:
                return problem
            return None

        with ThreadPoolExecutor(jobs or os.cpu_count() or 1) as pool:
            failed = {target.path: error for target, error in zip(to_run, pool.map(run, to_run), strict=True) if error}
    errors.extend(failed.values())
    broken = {target.source.path for target in to_run if target.path in failed}
    ran = {target.source.path for target in to_run}
    tours = [t for t in chosen if t.shows_its_solution and t.source.path in ran and t not in stale]
    for target in stale + tours:
        if target.source.path not in broken:  # solution and exercise are written together or not at all
            _fill_tour(root, target)
            write_whole(root / target.path, text_of(target.notebook))
            written.append(target.path)
    recorded |= {target.path: digests[target.path] for target in to_run if target.source.path not in broken}
    if only is None and not errors:
        recorded = {path: recorded[path] for path in digests} | ({ADDRESS: address} if address else {})
    if recorded != read_record(root):
        write_record(root, recorded)
        written.append(RECORD)
    if only is None and not errors:
        readme = readme_text(root, [target.source for target in chosen])
        if readme != (root / "README.md").read_text(encoding="utf-8"):
            write_whole(root / "README.md", readme)
            written.append("README.md")
    if errors:
        raise ExceptionGroup("the build stopped", errors)
    return written


def _write_catalogue(root: Path) -> list[str]:
    """The checks read it when a solution is run, so that it is written before."""
    sources, errors = read_sources(root)
    if errors:
        return []
    changed = catalogue.differing(root, sources)
    for path, text in changed.items():
        write_whole(root / path, text)
    return list(changed)


def check(root: Path, only: str | None = None) -> list[str]:
    """Compare every built notebook with its source, and the library with the one it was run with; nothing is run.

    Returns:
        One line for each notebook that differs, is missing or has no source; empty when all is well.

    Raises:
        ExceptionGroup: of AuthoringError, as ``build``.
    """
    recorded = read_record(root)
    chosen, errors = targets(root, recorded.get(ADDRESS), only)
    if errors:
        raise ExceptionGroup("the check stopped", errors)
    current = {path for path, digest in _digests(root, chosen).items() if recorded.get(path) == digest}
    problems = [f"{target.path}: {reason}" for target in chosen if (reason := _difference(root, target, current))]
    if only is None:
        paths = {target.path for target in chosen}
        present = (path for folder in BUILT_FOLDERS for path in sorted((root / folder).rglob("*.ipynb")))
        problems.extend(
            f"{path.relative_to(root).as_posix()}: orphan: no source builds it; delete it, or put its source back"
            for path in present
            if path.relative_to(root).as_posix() not in paths and ".ipynb_checkpoints" not in path.parts
        )
        readme = readme_text(root, [target.source for target in chosen])
        if readme != (root / "README.md").read_text(encoding="utf-8"):
            problems.append("README.md: its list of lessons is not what the sources say")
        changed = catalogue.differing(root, [target.source for target in chosen])
        problems.extend(f"{path}: not what the exercise sources say; run `make build`" for path in changed)
    return problems


def text_of(notebook: NotebookNode) -> str:
    """The notebook as the text of its file."""
    return nbformat.writes(notebook).rstrip("\n") + "\n"


def _digests(root: Path, chosen: list[Target]) -> dict[str, str]:
    """Path of each notebook that is run -> digest of what it depends on now."""
    library = Library(root)
    return {
        target.path: library.digest([cell.source for cell in _code(target.notebook)], target.source.lessons)
        for target in chosen
        if target.executed
    }


def _code(notebook: NotebookNode) -> list[NotebookNode]:
    """The cells that are run; Colab's own does nothing here, and comes and goes with the public address."""
    return [cell for cell in notebook.cells if cell.cell_type == "code" and cell.id != INSTALL_ID]


def _fill_tour(root: Path, target: Target) -> None:
    """A tour shows what its solution printed and drew, but for what the student is to write and to check."""
    path = root / "solutions" / Path(target.path).name
    if not target.shows_its_solution or not path.is_file():
        return
    ran = {cell.id: cell for cell in _code(nbformat.reads(path.read_text(encoding="utf-8"), as_version=4))}
    for cell in _code(target.notebook):
        if cell.id in ran and not {"exercise", "quiz", "check"}.intersection(cell.metadata.get("tags", ())):
            cell.update(outputs=ran[cell.id].outputs, execution_count=ran[cell.id].execution_count)


def _keep_outputs(root: Path, target: Target) -> bool:
    """Give the target the outputs of the notebook on disk, if that ran the same code."""
    try:
        actual = nbformat.reads((root / target.path).read_text(encoding="utf-8"), as_version=4)
    except Exception:  # there is none, or none that can be read
        return False
    before, now = _code(actual), _code(target.notebook)
    same = [(cell.source, cell.metadata) for cell in before] == [(cell.source, cell.metadata) for cell in now]
    if not same or any(cell.execution_count is None for cell in before if cell.source):
        return False
    for old, new in zip(before, now, strict=True):
        new.update(outputs=old.outputs, execution_count=old.execution_count)
    return True


def _difference(root: Path, target: Target, current: set[str]) -> str | None:
    """What sets the notebook on disk apart from the target, in words; None if nothing does.

    ``current`` are the notebooks that were run with the library as it is now.
    """
    path = root / target.path
    _fill_tour(root, target)
    if not path.is_file():
        return f"missing: run `make build` ({target.source.path})"
    text = path.read_text(encoding="utf-8")
    try:
        actual = nbformat.reads(text, as_version=4)
    except Exception as problem:  # nbformat raises many kinds; each means the same here
        return f"not a readable notebook: {type(problem).__name__}"
    for index, (cell, expected) in enumerate(zip(actual.cells, target.notebook.cells, strict=False)):
        where = f"cell {index + 1} ({expected.id})"
        for key, name in (("cell_type", "type"), ("id", "id"), ("source", "text"), ("metadata", "metadata")):
            if cell.get(key) != expected[key]:
                return f"{where}: its {name} differs from {target.source.path}; edit the source and run `make build`"
        is_run = target.executed and expected.cell_type == "code" and expected.id != INSTALL_ID
        if is_run and expected.source and cell.execution_count is None:
            return f"{where} was never run"
    if len(actual.cells) != len(target.notebook.cells):
        return f"{len(actual.cells)} cells, but {target.source.path} yields {len(target.notebook.cells)}"
    if actual.metadata != target.notebook.metadata:
        return f"the notebook's metadata differs from what {target.source.path} yields"
    if not target.executed and text != text_of(target.notebook):
        return f"not byte for byte what {target.source.path} yields (saved outputs, perhaps)"
    if target.executed and target.path not in current:
        return "the library that it uses has changed since it was run; run `make build`"
    return None
