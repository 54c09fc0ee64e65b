"""The notebooks' Markdown as HTML that stands by itself: formulas drawn by the browser, links kept as words."""

import re

from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.dollarmath import dollarmath_plugin

from .formulas import mathml

LINK = re.compile(r"</?a\b[^>]*>")


def to_html(markdown: str) -> str:
    """Paragraphs, lists, tables, code and formulas; what a link leads to is not there, so its words stay."""
    return LINK.sub("", _markdown().render(markdown))


def blocks(markdown: str) -> list[str]:
    """The source of each paragraph, list, table, heading or formula, in order; a list is one block."""
    lines, found = markdown.splitlines(), []
    for token in _markdown().parse(markdown):
        if token.level == 0 and token.map and token.nesting >= 0:
            found.append("\n".join(lines[slice(*token.map)]).strip())
    return found


def is_paragraph(block: str) -> bool:
    """Running text, as against a heading, a list, a table, code, HTML or a formula on its own."""
    kinds: list[Token] = _markdown().parse(block)
    return bool(kinds) and kinds[0].type == "paragraph_open" and not block.startswith("$$")


def sentences(paragraph: str) -> list[str]:
    """A paragraph cut after its full stops; what stands in brackets, in stars or between dollar signs stays whole."""
    found = [""]
    for part in re.split(
        r"(?<=[.?!:])(\s+)(?![a-z])|(?<=[.?!:][*)])(\s+)(?![a-z])|(?<=[.?!:]\*\*)(\s+)", paragraph.strip()
    ):
        if part is None:
            continue
        if part.isspace() and all(_closed(found[-1], *pair) for pair in ("()", "**", "$$", "``")):
            found.append("")
        else:
            found[-1] += part
    return [part for part in found if part]


def _closed(text: str, opening: str, closing: str) -> bool:
    return text.count(opening) % 2 == 0 if opening == closing else text.count(opening) <= text.count(closing)


def _markdown() -> MarkdownIt:
    def formula(tex: str, options: dict) -> str:
        return mathml(tex, display=options["display_mode"])

    return MarkdownIt("commonmark").enable("table").use(dollarmath_plugin, double_inline=True, renderer=formula)
