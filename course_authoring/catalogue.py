"""What the checks read of the exercise sources: the catalogue, and in a file of its own whatever tells what is right.

``catalogue.json``: number, title, points, minutes, whether it is core, answer's name, a quiz's options.
``solutions.json``: of a coding exercise the worked solution with what it needs from the notebook around it, and the known
mistakes, which are edits of its text; of a quiz the right letter and why each option is right or wrong.
"""

import ast
import json
import re
import symtable
from pathlib import Path

from .source import Cell, Source, SourceExercise
from .student import split_solution

CATALOGUE, SOLUTIONS = "course_checks/catalogue.json", "course_checks/deciding/solutions.json"
OPTION = re.compile(r"^- \*\*([a-z])\.\*\* (.+(?:\n +.+)*)", re.MULTILINE)


def texts(sources: list[Source]) -> dict[str, str]:
    """Path -> text of both files, in the order of the lessons.

    Raises:
        AuthoringError: A quiz has no right letter, an option is not explained, or a known mistake cannot be made.
    """
    of_lessons = [
        (source, exercise) for source in sources if source.kind == "exercise" for exercise in source.exercises
    ]
    made = {
        CATALOGUE: {exercise.number: _entry(exercise) for _, exercise in of_lessons},
        SOLUTIONS: {exercise.number: _solution(source, exercise) for source, exercise in of_lessons},
    }
    return {path: json.dumps(entries, indent=1, ensure_ascii=False) + "\n" for path, entries in made.items()}


def differing(root: Path, sources: list[Source]) -> dict[str, str]:
    """The files on disk that are not what the sources say: path -> what they should be."""
    return {
        path: text
        for path, text in texts(sources).items()
        if not (root / path).is_file() or (root / path).read_text(encoding="utf-8") != text
    }


def _is_quiz(exercise: SourceExercise) -> bool:
    return any("quiz" in cell.tags for cell in exercise.answers)


def _entry(exercise: SourceExercise) -> dict:
    worth = {"points": exercise.points, "minutes": exercise.minutes, "is_core": exercise.is_core}
    entry = {"title": exercise.title, **worth, "answer": exercise.answer}
    return entry | {"options": _options(exercise.heading)} if _is_quiz(exercise) else entry


def _options(cell: Cell | None) -> dict[str, str]:
    """Letter -> what stands behind it; such a line may go on, indented, on the next ones."""
    return {letter: " ".join(text.split()) for letter, text in OPTION.findall(cell.text if cell else "")}


def _solution(source: Source, exercise: SourceExercise) -> dict:
    if _is_quiz(exercise):
        return _quiz(source, exercise)
    text = "\n\n".join(_solved(source, cell) for cell in exercise.answers)
    defined = {node.name for node in ast.parse(text).body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    if exercise.answer not in defined:  # an experiment: numbers, and nothing that could be called
        if exercise.mistakes is not None:
            raise source.error(
                f"{exercise.number}: its answer is no function or class, so no edit can change it", exercise.mistakes
            )
        return {}
    earlier = [cell for cell in source.cells if cell.ordinal < exercise.answers[0].ordinal and cell.kind == "code"]
    return {
        "before": "\n".join(_needed(source, earlier, _names_used(text))),
        "text": text,
        "mistakes": _mistakes(source, exercise, text),
    }


def _mistakes(source: Source, exercise: SourceExercise, solution: str) -> list[dict]:
    """The table of known mistakes of the source, as data; each of them must be an edit that the solution allows.

    A line ``Try: ...`` holds for the mistakes below it, up to the next; above the first, the exercise's own advice does. In
    an edit, ``old text => new text``, ``\\n`` is a new line, and blanks at the ends count between backticks.
    """
    made: list[dict] = []
    if (cell := exercise.mistakes) is None:
        return made
    advice, looks_like = "", None
    for line in filter(None, map(str.strip, cell.text.split("\n"))):
        old, arrow, new = line.partition(" =>")
        if line.startswith("Try: "):
            advice, looks_like = line.removeprefix("Try: "), None
        elif not arrow:
            looks_like = line
            made.append({"looks_like": looks_like, "advice": advice, "edits": {}})
        elif looks_like is None:
            raise source.error(f"{exercise.number}: no line above the edit {line!r} says what it looks like", cell)
        else:
            old = _part_of_edit(old)
            if old in made[-1]["edits"]:
                raise source.error(f"{exercise.number}: {looks_like!r} changes {old!r} twice", cell)
            made[-1]["edits"][old] = _part_of_edit(new.removeprefix(" "))
    for mistake in made:
        about = f"{exercise.number}: {mistake['looks_like']!r}"
        if not mistake["edits"]:
            raise source.error(f"{about} has no edit, 'old text => new text'", cell)
        text = solution
        for old, new in mistake["edits"].items():
            if old not in text:
                raise source.error(f"{about} changes {old!r}, which the solution does not hold", cell)
            text = text.replace(old, new)
    return made


def _part_of_edit(text: str) -> str:
    between = re.fullmatch(r"`(.*)`", text)
    return (between.group(1) if between else text).replace("\\n", "\n")


def _quiz(source: Source, exercise: SourceExercise) -> dict:
    options, explanations = _options(exercise.heading), _options(exercise.explanations)
    cell = exercise.answers[0]
    lines = [line for region in split_solution(source, cell)[1] for line in region.lines]
    right = re.search(r'= "([a-z])"', "\n".join(lines))
    if right is None or right.group(1) not in options:
        raise source.error(
            f"{exercise.number}: the marked answer must be the letter of one of the options that stand under the heading "
            f"as '- **a.** ...'; they are: {', '.join(options) or 'none'}",
            cell,
        )
    if explanations.keys() != options.keys():
        raise source.error(
            f"{exercise.number}: a Markdown cell tagged 'solution' must say of each option why it is right or wrong, "
            f"'- **a.** ...'; options {', '.join(options)}, explained {', '.join(explanations) or 'none'}",
            exercise.explanations or cell,
        )
    return {"right": right.group(1), "explanations": explanations}


def _solved(source: Source, cell: Cell) -> str:
    """The cell without its markers."""
    kept, _ = split_solution(source, cell)
    return "\n".join(part if isinstance(part, str) else "\n".join(part.lines) for part in kept).strip("\n")


def _needed(source: Source, cells: list[Cell], names: set[str]) -> list[str]:
    """The statements of these cells that give the names a value, with what those need, in the order of the notebook."""
    statements = []
    for cell in cells:
        text = _solved(source, cell)
        statements += [(text, node) for node in ast.parse(text).body]
    needed: list[str] = []
    wanted = set(names)
    for text, node in reversed(statements):
        bound = _names_bound(_text_of(text, node))
        if bound & wanted:
            part = _import_of(node, wanted) if isinstance(node, ast.Import | ast.ImportFrom) else _text_of(text, node)
            needed.append(part)
            wanted = (wanted - bound) | _names_used(part)
    return needed[::-1]


def _import_of(node: ast.Import | ast.ImportFrom, wanted: set[str]) -> str:
    """The import of the wanted names alone."""
    node.names = [alias for alias in node.names if (alias.asname or alias.name.partition(".")[0]) in wanted]
    return ast.unparse(node)


def _text_of(text: str, node: ast.stmt) -> str:
    first = min([node.lineno, *(decorator.lineno for decorator in getattr(node, "decorator_list", ()))])
    return "\n".join(text.split("\n")[first - 1 : node.end_lineno])


def _names_used(text: str) -> set[str]:
    """The names that a piece of code takes from around it, or binds anew there."""
    top = symtable.symtable(text, "solution", "exec")
    names = {name.get_name() for name in top.get_symbols() if not (name.is_imported() or name.is_namespace())}
    inner = top.get_children()
    while inner:
        table = inner.pop()
        names |= {name.get_name() for name in table.get_symbols() if name.is_global()}
        inner += table.get_children()
    return names


def _names_bound(text: str) -> set[str]:
    top = symtable.symtable(text, "solution", "exec")
    return {name.get_name() for name in top.get_symbols() if name.is_assigned() or name.is_imported()}
