"""Reading one source: a jupytext py:percent file as cells with tags, and the exercises found among them."""

import ast
import re
from dataclasses import dataclass, field
from pathlib import Path

import jupytext
import yaml

from .errors import AuthoringError

COMMON_TAGS = {"setup", "nbval-ignore-output"}
LESSON_TAGS = COMMON_TAGS | {"whole"}  # a whole class in one cell, folded
EXERCISE_TAGS = COMMON_TAGS | {"exercise", "quiz", "check", "hint", "solution", "mistakes"}
TAGS = {
    "lesson": LESSON_TAGS,
    "exercise": EXERCISE_TAGS,
    "tour": COMMON_TAGS | {"exercise", "quiz", "check", "hint", "whole"},
}
KINDS = {"lessons": "lesson", "exercises": "exercise", "tour": "tour"}  # folder of ``sources`` -> what is in it
STEM = re.compile(r"^\d\d_[a-z0-9_]+$")
CHECKED = re.compile(r'^check\("(\d+)\.', re.MULTILINE)
HEADING = re.compile(r"^(#{1,6}) +(.+?) *$", re.MULTILINE)
EXERCISE_HEADING = re.compile(r"^### (\d+\.\d+) · (.+?) *$", re.MULTILINE)
TIMES = re.compile(r"short path about (\d+) minutes\b.*?, everything about ([\d½¼¾]+) (h|min)")  # with exercises
WORTH = re.compile(r"^(\d+) points? · difficulty ([1-5]) of 5 · (\d+) minutes?(?: · (core|more))?$", re.MULTILINE)


@dataclass(frozen=True)
class Cell:
    """One cell of a source: what it is, what it says, where it stands."""

    kind: str  # "markdown" or "code"
    text: str
    tags: tuple[str, ...]
    ordinal: int  # from 1
    line: int  # of its "# %%" in the source


@dataclass
class SourceExercise:
    """One numbered exercise: its heading and the cells that belong to it."""

    number: str
    title: str
    points: int
    minutes: int
    is_core: bool
    heading: Cell
    answers: list[Cell] = field(default_factory=list)
    check: Cell | None = None
    answer: str = ""  # the name that its check hands over
    explanations: Cell | None = None  # of a quiz: why each option is right or wrong
    mistakes: Cell | None = None  # known mistakes, as edits of the answer


@dataclass(frozen=True)
class Source:
    """One parsed source file."""

    path: str  # relative to the project root, with forward slashes
    kind: str  # "lesson", "exercise", or "tour": a lesson with tasks that checks of the exercises judge
    stem: str
    cells: tuple[Cell, ...]
    exercises: tuple[SourceExercise, ...] = ()

    def error(self, reason: str, cell: Cell | None = None) -> AuthoringError:
        """An error that names this file and, where given, the cell."""
        return AuthoringError(reason, self.path, cell and cell.ordinal, cell and cell.line)

    @property
    def notebook_cells(self) -> tuple[Cell, ...]:
        """The cells that notebooks are made of: all but the tables of known mistakes, which only the checks read."""
        return tuple(cell for cell in self.cells if "mistakes" not in cell.tags)

    @property
    def lesson_number(self) -> int:
        """The number that prefixes the stem; a tour has none."""
        return int(self.stem[:2])

    @property
    def lessons(self) -> set[int]:
        """The lessons whose checks its notebooks use."""
        if self.kind != "tour":
            return {self.lesson_number}
        return {int(number) for cell in self.cells for number in CHECKED.findall(cell.text)}

    @property
    def title(self) -> str:
        """The text of the first heading."""
        return HEADING.search(self.cells[0].text).group(2)

    @property
    def times(self) -> tuple[str, str]:
        """About how long the short path takes and everything, "65 min" and "3½ h"; empty where the first cell doesn't say."""
        found = TIMES.search(self.cells[0].text)
        return (f"{5 * round(int(found[1]) / 5)} min", f"{found[2]} {found[3]}") if found else ("", "")


def read_source(root: Path, path: Path) -> Source:
    """Parse and validate one source.

    Args:
        root: The project's folder.
        path: The ``.py`` file in one of the folders ``KINDS`` of ``root/sources``.

    Raises:
        AuthoringError: The file breaks one of the rules of CONTRIBUTING.md.
    """
    relative = path.relative_to(root).as_posix()
    kind = KINDS[path.parent.name]
    if kind != "tour" and not STEM.match(path.stem):
        raise AuthoringError(
            "the file's name must look like 05_masking.py: two digits, then lower-case words", relative
        )
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as problem:
        raise AuthoringError(f"not UTF-8 text: {problem}", relative) from None
    _require_kernelspec(text, relative)
    source = Source(relative, kind, path.stem, _cells(text, relative))
    allowed = TAGS[kind]
    for cell in source.cells:
        for tag in cell.tags:
            if tag not in allowed:
                raise source.error(f"unknown tag {tag!r} in a {kind} source; known: {', '.join(sorted(allowed))}", cell)
        if cell.kind == "code":
            require_syntax(source, cell, cell.text)
    _require_title(source)
    if kind != "exercise":
        return source
    return Source(source.path, kind, source.stem, source.cells, _exercises(source))


def require_syntax(source: Source, cell: Cell, text: str) -> ast.Module:
    """The syntax tree of ``text``, or an error that names the line in the source."""
    try:
        return ast.parse(text)
    except SyntaxError as problem:
        line = cell.line + (problem.lineno or 1)
        raise source.error(f"syntax error at line {line}: {problem.msg}", cell) from None


def _cells(text: str, relative: str) -> tuple[Cell, ...]:
    starts = [number for number, line in enumerate(text.splitlines(), 1) if re.match(r"# %%(\s|$)", line)]
    cells = jupytext.reads(text, fmt="py:percent").cells
    if len(cells) != len(starts) or not cells:
        raise AuthoringError(
            f"{len(cells)} cells were read but {len(starts)} '# %%' lines stand in the file: "
            "every cell must begin with its own '# %%' line at the left margin, the first right after the header",
            relative,
        )
    return tuple(
        Cell(cell.cell_type, cell.source, tuple(cell.metadata.get("tags", ())), ordinal, line)
        for ordinal, (cell, line) in enumerate(zip(cells, starts, strict=True), 1)
    )


def _require_kernelspec(text: str, relative: str) -> None:
    header = re.match(r"# ---\n(.*?)# ---\n", text, re.DOTALL)
    lines = "" if header is None else re.sub(r"^# ?", "", header.group(1), flags=re.MULTILINE)
    try:
        kernelspec = yaml.safe_load(lines)["jupyter"]["kernelspec"]
        complete = kernelspec["name"] == "python3" and "display_name" in kernelspec
    except (yaml.YAMLError, KeyError, TypeError):
        complete = False
    if not complete:
        raise AuthoringError(
            "missing kernelspec: the header must hold jupyter: kernelspec: with display_name and name: python3, "
            "or JupyterLab stops at a dialog (copy the header of another source)",
            relative,
        )


def _require_title(source: Source) -> None:
    first = source.cells[0]
    parts = first.text.split("\n\n")
    if first.kind != "markdown" or not first.text.startswith("# ") or len(parts) < 2:
        raise source.error("the first cell must be Markdown: a '# ' title, an empty line, one sentence", first)


def _exercises(source: Source) -> tuple[SourceExercise, ...]:
    """The exercises in order, each complete, or the first thing that is wrong."""
    exercises: dict[str, SourceExercise] = {}
    current: SourceExercise | None = None
    for cell in source.cells:
        if "mistakes" in cell.tags:
            _attach_mistakes(source, current, cell)
            continue
        if cell.kind == "markdown" and (heading := HEADING.match(cell.text)) and len(heading.group(1)) <= 3:
            current = _start_exercise(source, cell, exercises)
        roles = {"exercise", "quiz", "check"}.intersection(cell.tags)
        if len(roles) > 1:
            raise source.error(f"tags {', '.join(sorted(roles))} exclude one another", cell)
        if roles and cell.kind != "code":
            raise source.error(f"tag {roles.pop()!r} belongs on a code cell", cell)
        if roles and current is None:
            raise source.error(f"a cell tagged {roles.pop()!r} stands outside an exercise ('### N.M · Title')", cell)
        if current is not None and cell.kind == "markdown" and "solution" in cell.tags:
            current.explanations = cell
        if roles & {"exercise", "quiz"}:
            current.answers.append(cell)
        elif roles:
            _attach_check(source, current, cell)
    for exercise in exercises.values():
        if not exercise.answers:
            raise source.error(f"{exercise.number} has no cell tagged 'exercise' or 'quiz'", exercise.heading)
        if exercise.check is None:
            raise source.error(f"{exercise.number} is an exercise without a check", exercise.heading)
    return tuple(exercises.values())


def _start_exercise(source: Source, cell: Cell, exercises: dict[str, SourceExercise]) -> SourceExercise | None:
    titles = EXERCISE_HEADING.findall(cell.text)
    if not titles:
        return None
    if len(titles) > 1:
        raise source.error("two exercises begin in one cell; give each its own", cell)
    (number, title) = titles[0]
    if number in exercises:
        raise source.error(f"exercise number {number} is used twice", cell)
    if not number.startswith(f"{source.lesson_number}."):
        raise source.error(f"exercise {number} in lesson {source.lesson_number}: the first number must agree", cell)
    worth = WORTH.search(cell.text)
    if worth is None or int(worth.group(1)) < 1:
        raise source.error(
            f"{number} is a check without points: write '3 points · difficulty 2 of 5 · 10 minutes' under its heading",
            cell,
        )
    points, _, minutes, path = worth.groups()
    exercises[number] = SourceExercise(number, title, int(points), int(minutes), path != "more", cell)
    return exercises[number]


def _attach_mistakes(source: Source, exercise: SourceExercise | None, cell: Cell) -> None:
    if cell.kind != "markdown" or cell.tags != ("mistakes",):
        raise source.error("tag 'mistakes' belongs on a Markdown cell, alone", cell)
    if exercise is None or not any("exercise" in answer.tags for answer in exercise.answers):
        raise source.error("known mistakes stand below the cell tagged 'exercise' whose solution they change", cell)
    if exercise.mistakes is not None:
        raise source.error(f"{exercise.number} has two cells tagged 'mistakes'", cell)
    exercise.mistakes = cell


def _attach_check(source: Source, exercise: SourceExercise, cell: Cell) -> None:
    if exercise.check is not None:
        raise source.error(f"{exercise.number} has two checks", cell)
    if not exercise.answers:
        raise source.error(f"the check of {exercise.number} stands before its answer cell", cell)
    calls = [
        node
        for node in ast.walk(require_syntax(source, cell, cell.text))
        if isinstance(node, ast.Call) and getattr(node.func, "id", None) == "check"
    ]
    arguments = [[ast.unparse(argument) for argument in call.args] for call in calls]
    if len(arguments) != 1 or arguments[0][:-1] != [repr(exercise.number)] or not arguments[0][-1].isidentifier():
        raise source.error(
            f"a check cell holds one call, check({exercise.number!r}, the answer's name); "
            f"found {' and '.join(map(ast.unparse, calls)) or 'none'}",
            cell,
        )
    exercise.check, exercise.answer = cell, arguments[0][1]
