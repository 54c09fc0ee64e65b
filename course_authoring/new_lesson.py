"""A new lesson to start from: its source, its exercises, their checks and a test, small but whole."""

import re
from pathlib import Path

from course_utils.files import write_whole

from .errors import AuthoringError
from .source import STEM

TEMPLATES = Path(__file__).with_name("templates")
FILES = {
    "lesson.py.txt": "sources/lessons/{stem}.py",
    "exercises.py.txt": "sources/exercises/{stem}.py",
    "checks.py.txt": "course_checks/lesson_{number}/__init__.py",
    "running_average.py.txt": "course_checks/lesson_{number}/running_average.py",
    "answers.py.txt": "tests/answers/lesson_{number}/running_average.py",
    "test.py.txt": "tests/checks/lessons/test_lesson_{number}.py",
}
LONGEST_TITLE = 60


def new_lesson(root: Path, name: str, title: str | None = None) -> list[str]:
    """Lay out a lesson that builds and passes every test, for an author to replace its content.

    Args:
        root: The project's folder.
        name: Number and name, such as ``"13_state_spaces"``.
        title: The lesson's title; None: made from the name, such as "State spaces".

    Returns:
        The paths written, relative to ``root``.

    Raises:
        AuthoringError: The name has another form or its number is taken, or the title cannot stand in a heading. Nothing
            is written then.
    """
    if not STEM.fullmatch(name):
        raise AuthoringError("must look like 13_state_spaces: two digits, then lower-case words", repr(name))
    title = name[3:].replace("_", " ").strip().capitalize() if title is None else title.strip()
    if not re.fullmatch(rf"[^\n\"\\|{{}}`]{{1,{LONGEST_TITLE}}}", title):
        raise AuthoringError(
            f"a title has 1 to {LONGEST_TITLE} characters on one line, none of them a double quote, backslash, bar, brace "
            "or backtick",
            repr(title),
        )
    number = name[:2]
    paths = {template: path.format(stem=name, number=number) for template, path in FILES.items()}
    taken = [
        path.relative_to(root).as_posix() for kind in ("lessons", "exercises") for path in _numbered(root, kind, number)
    ]
    taken += [path for path in paths.values() if (root / path).exists() and path not in taken]
    if taken:
        raise AuthoringError(f"there is a lesson {number} already: {', '.join(taken)}", repr(name))
    for path in paths.values():
        folder = (root / path).parent
        own = folder.name == f"lesson_{number}"  # made with the lesson
        if not (folder.parent if own else folder).is_dir():
            raise AuthoringError("there is no such folder here; give the project's folder with --root", path)
    words = {"@STEM@": name, "@TITLE@": title, "@NN@": number, "@N@": str(int(number))}
    texts = {path: _filled(template, words) for template, path in paths.items()}
    for path, text in texts.items():
        write_whole(root / path, text)
    return list(texts)


def _numbered(root: Path, kind: str, number: str) -> list[Path]:
    return sorted((root / "sources" / kind).glob(f"{number}_*.py"))


def _filled(template: str, words: dict[str, str]) -> str:
    text = (TEMPLATES / template).read_text(encoding="utf-8")
    return re.sub("@[A-Z]+@", lambda match: words[match.group()], text)
