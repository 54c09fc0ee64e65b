"""From the solved text to what a student gets: answers taken out, and proof that none is left."""

import re

from .source import Cell, Source, require_syntax

BEGIN = re.compile(r"^[ \t]*# BEGIN SOLUTION[ \t]*$")
END = re.compile(r"^[ \t]*# END SOLUTION[ \t]*$")
MARKER = re.compile(r"(BEGIN|END)\s+SOLUTION", re.IGNORECASE)
HERE = "# YOUR CODE HERE"
STUB = (HERE, "raise NotImplementedError")


def student_text(source: Source, cell: Cell) -> str:
    """The cell as the student gets it: each solution region replaced by a stub (in a quiz cell: dropped).

    Raises:
        AuthoringError: Markers are unbalanced, nested, misspelled, empty, or stand where no answer is expected.
    """
    kept, regions = split_solution(source, cell)
    is_answer = bool({"exercise", "quiz"}.intersection(cell.tags))
    if regions and not is_answer:
        raise source.error("solution markers in a cell that is not tagged 'exercise' or 'quiz'", cell)
    if is_answer and not regions:
        raise source.error(
            "an answer cell without '# BEGIN SOLUTION' ... '# END SOLUTION': students would get it", cell
        )
    lines = []
    for part in kept:
        if isinstance(part, str):
            lines.append(part)
        else:
            lines.extend(part.indent + line for line in _stub(cell, part))
    text = "\n".join(lines).strip("\n")
    if cell.kind == "code":
        require_syntax(source, cell, text)
    return text


def _stub(cell: Cell, region: "Region") -> tuple[str, ...]:
    """What stands in an answer's place. Where no function holds it, a value is asked for: the cell must run."""
    if "quiz" in cell.tags:
        return ()
    return STUB if region.indent else (HERE,)


class Region:
    """The lines between one pair of markers."""

    def __init__(self, indent: str) -> None:
        self.indent = indent
        self.lines: list[str] = []


def split_solution(source: Source, cell: Cell) -> tuple[list[str | Region], list[Region]]:
    """The cell's lines with each solution region folded into one ``Region``, and the regions alone."""
    kept: list[str | Region] = []
    regions: list[Region] = []
    region: Region | None = None
    for offset, line in enumerate(cell.text.split("\n"), 1):
        where = f"line {cell.line + offset}"
        if BEGIN.match(line):
            if region is not None:
                raise source.error(f"nested '# BEGIN SOLUTION' at {where}", cell)
            region = Region(line[: len(line) - len(line.lstrip())])
            kept.append(region)
            regions.append(region)
        elif END.match(line):
            if region is None:
                raise source.error(f"'# END SOLUTION' at {where} without a '# BEGIN SOLUTION' before it", cell)
            if not any(text.strip() for text in region.lines):
                raise source.error(f"empty solution region ending at {where}", cell)
            region = None
        elif MARKER.search(line):
            raise source.error(f"misspelled solution marker at {where}: {line.strip()!r}", cell)
        elif region is not None:
            region.lines.append(line)
        else:
            kept.append(line)
    if region is not None:
        raise source.error("'# BEGIN SOLUTION' without '# END SOLUTION'", cell)
    return kept, regions


def require_no_leak(source: Source) -> None:
    """Stop if a whole answer can be read in any cell that students get.

    Compared line by line with comments and spacing taken out: every significant line of one solution region inside one
    student cell is a leak. (A bug to be found shares most lines with its mend, so some lines may recur; not all.)
    """
    answers = []
    for cell in source.notebook_cells:
        if "solution" in cell.tags:
            answers.append((cell, _significant(cell.text)))
        else:
            answers.extend((cell, _significant("\n".join(part.lines))) for part in split_solution(source, cell)[1])
    for shown in source.notebook_cells:
        if "solution" in shown.tags:
            continue
        visible = _significant(student_text(source, shown))
        for origin, answer in answers:
            if answer and answer <= visible:
                raise source.error(
                    f"solution text left in a student cell: it holds the whole answer of cell {origin.ordinal} "
                    f"({sorted(answer, key=len)[-1]!r})",
                    shown,
                )


def _significant(text: str) -> frozenset[str]:
    lines = (re.sub(r"\s+", "", line.split("#")[0]) for line in text.split("\n"))
    return frozenset(line for line in lines if len(line) >= 6)
