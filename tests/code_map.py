"""The picture in docs/architecture.md, drawn from the imports: ``python tests/code_map.py`` writes it there.

Boxes are the packages and, of the library, its concepts; an arrow points to what is imported. Where a way round leads there
as well, the direct arrow is left out.
"""

import ast
import re
from pathlib import Path

from course_authoring.dependencies import imported as imported_names

PACKAGES = ("course_utils", "course_checks", "course_grader", "course_authoring", "course_site", "experiments")
CHECKS = {"engine", "catalogue", "running", "deciding", "lessons"}
PAGE = "docs/architecture.md"
FENCE = re.compile(r"```mermaid\n.*?```", re.DOTALL)


def imported(root: Path, path: Path) -> set[tuple[str, str]]:
    """``(package, concept)`` of everything of the project's own that a file imports."""
    package = path.relative_to(root).with_suffix("").parts[:-1]
    names = imported_names(ast.parse(path.read_text(encoding="utf-8")), package)
    return {(name[0], name[1]) for name in names if name[0] in PACKAGES and len(name) > 1}


def concept(root: Path, path: Path) -> tuple[str, str]:
    """Where a file belongs: ``("course_utils", "layers")``."""
    package, name, *_ = path.relative_to(root).parts
    return package, name.removesuffix(".py")


def picture(root: Path) -> str:
    """The whole map as a Mermaid graph."""
    arrows = {
        (_box(root, concept(root, path)), _box(root, target))
        for package in PACKAGES
        for path in (root / package).rglob("*.py")
        for target in imported(root, path)
    }
    for path in (root / "sources").rglob("*.py"):
        arrows |= {("notebooks", _box(root, target)) for target in imported(root, path)}
    arrows = {(start, end) for start, end in arrows if start != end and None not in (start, end)}
    boxes = {box for arrow in arrows for box in arrow} - {*PACKAGES, "notebooks"}
    lines = ["flowchart TD", "  notebooks([the notebooks])"]
    for package, inside in (("course_checks", boxes & CHECKS), ("course_utils", boxes - CHECKS)):
        lines += [f"  subgraph {package}", *(f"    {box}" for box in sorted(inside)), "  end"]
    lines += [f"  {start} --> {end}" for start, end in sorted(_reduced(arrows))]
    return "```mermaid\n" + "\n".join(lines) + "\n```"


def _box(root: Path, place: tuple[str, str]) -> str | None:
    """A concept of the library or of the checks by its name, all lessons as one; of every other package the whole."""
    package, name = place
    if package not in ("course_utils", "course_checks"):
        return package
    if name.startswith("lesson_"):
        return "lessons"
    exists = (root / package / name).is_dir() or (root / package / f"{name}.py").is_file()
    return name if exists and name != "__init__" else None


def _reduced(arrows: set[tuple[str, str]]) -> set[tuple[str, str]]:
    """Without the arrows whose end is reached over another box too."""

    def reached(start: str, without: tuple[str, str]) -> set[str]:
        found, waiting = set(), [start]
        while waiting:
            here = waiting.pop()
            ends = {end for begin, end in arrows if begin == here and (begin, end) != without}
            waiting += ends - found
            found |= ends
        return found

    return {arrow for arrow in arrows if arrow[1] not in reached(arrow[0], arrow)}


if __name__ == "__main__":
    root = Path(__file__).parents[1]
    page = root / PAGE
    page.write_text(FENCE.sub(lambda _: picture(root), page.read_text(encoding="utf-8")), encoding="utf-8")
