"""What every page has: it opens offline, runs nothing, loads nothing, reads well in light, in dark and on paper.

The templates stand in ``templates/``; jinja2 escapes whatever is put into them.
"""

import functools
from typing import Any

import jinja2

from course_checks.catalogue import catalogue

from ..names import counted, printable
from .lateness import describe_due
from .outcomes import KINDS, words

MOST_LINES = 60  # of a message


def render(template: str, **values: Any) -> str:
    """A whole page."""
    return _environment().get_template(template).render(values)


@functools.cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader(__name__.rpartition(".")[0]),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.globals |= {"KINDS": KINDS, "words": words, "title": title, "counted": counted}
    environment.filters |= {"line": printable, "lines": _lines, "visible": visible, "due": describe_due}
    environment.filters |= {"number": lambda value: f"{value:g}", "days": days}
    return environment


def title(number: str) -> str:
    """An exercise as people call it."""
    return f"{number} · {catalogue()[number].title}" if number in catalogue() else number


def days(count: int) -> str:
    """``1 day``, ``2 days``."""
    return counted(count, "day")


def visible(code: str) -> str:
    """A stranger's code as it is; what cannot be seen is shown as a sign."""
    return "".join(sign if sign.isprintable() or sign in "\n\t" else "\N{REPLACEMENT CHARACTER}" for sign in code)


def _lines(message: str) -> str:
    return "\n".join(printable(line, 500) for line in message.split("\n")[:MOST_LINES])
