"""What six slides of a lesson show, taken from its notebook and its exercises: nothing is written for a slide."""

import ast
import re
from dataclasses import dataclass

from nbformat import NotebookNode

from .prose import blocks, is_paragraph, sentences

MARK = re.compile(r"\*(?:Core|More)\b[^*]*\*")  # the line under a section's heading
PREDICTION = re.compile(
    r"\[predict (\S+): (.*?)(?: One of: (.*?)\.)? Run this cell to keep your prediction\.\]", re.DOTALL
)
OUTCOME = re.compile(r"Prediction (\S+)\. It came out: (.*?)\.? \(No prediction was kept\.\)", re.DOTALL)
EXERCISE = re.compile(r"### (\d+\.\d+ · .*)\n(.*?(\d+) minutes · core)\n", re.DOTALL)
OFF_THE_PATH = {"What goes wrong", "In practice", "When you need it", "Check yourself", "References", "Recap"}
MOST_MINUTES = 15  # of an exercise in class
MOST_OF_EXERCISE = 250  # words
MOST_WORDS = 70  # of a caption
ON_THE_PAGE = re.compile(
    r"\bexercises?\b|read on|\bsections? \d|sliders|your prediction|press Enter|widget|\bSwitch\b|\bChoose\b|this page|the page"
    r"|the picture say|\b(from|hover|step) (above|over|through)\b|^\W*Below\b|\btable above|\bPoint at|\bplay with"
    r"|in the same way|\bType (a|any)\b|goes wrong\"|\(\*more\*",
    re.I,
)
ELSEWHERE = re.compile(
    r"\b(above|below|earlier|before that|again|section|exercises?|lesson \d+|the same|those|widget)\b", re.I
)
POINTING = re.compile(r"^\W*(It|They|This|These|That|Those|Both|The others?|Another|Then|So|But)\b")


@dataclass(frozen=True)
class Picture:
    """What one cell of a lesson draws: where it stands, what is said before and after it.

    Attributes:
        images: Of each figure the PNG in base 64, and the alternative text.
    """

    section: str
    lead: str
    images: tuple[tuple[str, str], ...]
    caption: str
    score: int = 0


@dataclass(frozen=True)
class Question:
    """A prediction that the lesson asks for, what came out, and what the lesson says to it."""

    name: str
    context: str
    question: str
    choices: tuple[str, ...]
    outcome: str
    explanation: str


@dataclass(frozen=True)
class Deck:
    """Six slides: the lesson, a question, two pictures, an exercise, the recap. All texts are Markdown.

    Attributes:
        exercise: Heading, line of points and minutes, statement, and the code that an answer begins with.
    """

    title: str
    promise: str
    goals: str
    question: Question
    pictures: tuple[Picture, Picture]
    exercise: tuple[str, str, str, str]
    recap: str


def deck(lesson: NotebookNode, exercises: NotebookNode, name: str, chosen: dict | None = None) -> Deck:
    """Take the slides' contents from a built lesson and its exercises.

    Args:
        lesson: The lesson.
        exercises: Its exercises, as students get them.
        name: The lesson's file name, for messages.
        chosen: Where the rules choose badly: ``question`` (a prediction's name) and ``pictures`` (numbers of two sections).

    Raises:
        ValueError: The notebooks lack something that a slide needs; the message names the lesson and the thing.
    """
    first = blocks(lesson.cells[0].source)
    goals, recap = _list_after(lesson, "**You will learn to**"), _list_after(lesson, "## Recap")
    chosen = chosen or {}
    shown, task = pictures(lesson, chosen.get("pictures", ())), class_exercise(exercises)
    asked = [one for one in questions(lesson) if one.name == chosen.get("question", one.name)]
    found = {"a title and a promise": len(first) > 1, '"You will learn to"': goals, '"## Recap"': recap}
    found |= {"two pictures with captions": shown, "a prediction with its outcome": asked}
    found |= {"a core exercise with an answer cell": task}
    for what, there in found.items():
        if not there:
            raise ValueError(f"{name}: no slides, for the notebook lacks {what}")
    return Deck(first[0].lstrip("# "), first[1], goals, asked[0], shown, task, recap)


def _list_after(lesson: NotebookNode, begin: str) -> str:
    """The first numbered list after a line, as Markdown."""
    text = "\n\n".join(cell.source for cell in lesson.cells if cell.cell_type == "markdown")
    after = blocks(text[at:]) if (at := text.find(f"\n{begin}")) >= 0 else []
    return next((block for block in after if block.startswith("1. ")), "")


def pictures(lesson: NotebookNode, sections: tuple[str, ...] = ()) -> tuple[Picture, Picture] | tuple[()]:
    """The two pictures that say most by themselves, in the lesson's order and from two sections if there are two.

    A figure counts that stands on the lesson's path and has a paragraph right after it. It counts more if that is a caption (in
    italics), if the lesson draws a mechanism there, if the section is core, and less the more its texts lean on the page.
    """
    found, section, core = [], "", False
    for at, cell in enumerate(lesson.cells):
        if cell.cell_type == "markdown":
            if heading := re.match(r"##+ (.*)", cell.source):
                section, core = heading[1], "*Core" in cell.source[:200]
            continue
        if section in OFF_THE_PATH or not (shown := _figure(cell)):
            continue
        lead, caption = _lead(lesson.cells, at), _caption(lesson.cells, at, shown[0][1])
        if caption:
            mechanism = "diagrams." in cell.source or "see_through" in cell.source or "show_first_state" in cell.source
            score = 3 * core + 2 * mechanism + bool(lead)
            score += 2 * caption.startswith("*") - len(ELSEWHERE.findall(f"{lead} {caption}"))
            score -= (
                2 * bool(POINTING.match(lead)) + 2 * bool(POINTING.match(caption)) + 2 * (len(caption.split()) < 10)
            )
            found.append((at, Picture(section, lead, shown, caption, score)))
    best = sorted(found, key=lambda entry: (-entry[1].score, entry[0]))
    if sections:
        best = [
            next((entry for entry in best if entry[1].section.startswith(f"{number} ")), None) for number in sections
        ]
    if len(best) < 2 or None in best:
        return ()
    other = next((entry for entry in best[1:] if entry[1].section != best[0][1].section), best[1])
    return tuple(picture for _, picture in sorted((best[0], other), key=lambda entry: entry[0]))


def _figure(cell: NotebookNode) -> tuple[tuple[str, str], ...]:
    outputs = [output for output in cell.get("outputs", ()) if "image/png" in output.get("data", {})]
    return tuple((output.data["image/png"], output.metadata["image/png"]["alt"]) for output in outputs)


def _lead(cells: list[NotebookNode], at: int) -> str:
    """The paragraph that leads to the figure."""
    before = next((cell for cell in reversed(cells[:at]) if cell.cell_type == "markdown"), None)
    text = [block for block in blocks(before.source) if not MARK.fullmatch(block)] if before else []
    if not text or not is_paragraph(text[-1]) or re.match(r"\*[^*]|[a-z]", text[-1]):
        return ""
    return _standing(text[-1])


def _caption(cells: list[NotebookNode], at: int, alt: str) -> str:
    """What the lesson says to the figure right after it, in italics, and as much after that as there is room for.

    Where it says nothing in italics, the figure's own alternative text stands in.
    """
    after = next((cell for cell in cells[at + 1 : at + 3] if cell.cell_type == "markdown"), None)
    text = blocks(after.source) if after else []
    caption = (
        re.match(r"\*([^*].*?[^*])\*(?=\s|$)", text[0], re.DOTALL) if text and not MARK.fullmatch(text[0]) else None
    )
    if caption is None:
        return _short(alt)
    inside = _standing(caption[1])
    return _short(f"*{inside}* {text[0][caption.end() :]}") if inside else ""


def _short(text: str) -> str:
    """Whole sentences, as many as there is room for; one that ends in a colon leads to what is not on the slide."""
    parts = [part for part in sentences(_standing(text)) if not re.match(r"Here (is|are)\b", part)]
    while (
        len(parts) > 1
        and len(" ".join(parts).split()) > MOST_WORDS
        or parts
        and not re.search(r"[.?!][*)]*$", parts[-1])
    ):
        parts.pop()
    return " ".join(parts)


def _standing(paragraph: str) -> str:
    """Without the sentences that send the reader to an exercise, to another section, or to what a slide cannot do."""
    return " ".join(part for part in sentences(paragraph) if not ON_THE_PAGE.search(part))


def questions(lesson: NotebookNode) -> list[Question]:
    """The lesson's predictions whose outcome stands in it, in its order."""
    asked, found, heading = {}, [], 0
    for at, cell in enumerate(lesson.cells):
        if re.match(r"##+ ", cell.source):
            heading = at
        for output in cell.get("outputs", ()):
            plain = output.get("data", {}).get("text/plain", "").strip()
            if said := PREDICTION.fullmatch(plain):
                context = _context(lesson.cells[heading:at])
                asked[said[1]] = (context, said[2], tuple(said[3].split("; ")) if said[3] else ())
            if (came := OUTCOME.match(plain)) and came[1] in asked:
                after = lesson.cells[at + 1] if at + 1 < len(lesson.cells) else cell
                said_to_it = blocks(after.source) if after.cell_type == "markdown" else [""]
                near = lesson.cells[max(0, at - 3) : at + 1]
                caption = re.match(r"\*[^*]", said_to_it[0]) and any(map(_figure, near))
                if not is_paragraph(said_to_it[0]) or caption:  # a caption without its figure says nothing
                    said_to_it = [""]
                found.append(Question(came[1], *asked[came[1]], came[2], _short(said_to_it[0])))
    return found


def _context(cells: list[NotebookNode]) -> str:
    """What the lesson says between the section's heading and the question; the end of it, where it is long."""
    text = [block for cell in cells if cell.cell_type == "markdown" for block in blocks(cell.source)]
    text = [_standing(block) if is_paragraph(block) else block for block in text if not MARK.fullmatch(block)]
    text = [block for block in text if block and not block.startswith("#")]
    while len(" ".join(text).split()) > 130 and len(text) > 1:
        text = text[1:]
    if text and text[-1].endswith(":"):  # it leads to what the page prints
        text[-1] = " ".join(part for part in sentences(text[-1]) if not part.endswith(":"))
    return "\n\n".join(text)


def class_exercise(exercises: NotebookNode) -> tuple[str, str, str, str] | tuple[()]:
    """The core exercise for a class: one answer to write in at most 15 minutes, in few words; else a question with choices."""
    found = []
    for cell, following in zip(exercises.cells, exercises.cells[1:], strict=False):
        head = EXERCISE.match(cell.source)
        if head and following.id.startswith(("answer-", "quiz-")):
            statement, quiz = cell.source[head.end() :].strip(), following.id.startswith("quiz-")
            words = len(statement.split())
            order = (int(head[3]) > MOST_MINUTES or words > MOST_OF_EXERCISE, quiz, words)
            found.append((order, (head[1], head[2], statement, "" if quiz else _signature(following.source))))
    return min(found)[1] if found else ()


def _signature(code: str) -> str:
    """The first line of the function that is to be written."""
    functions = [node for node in ast.parse(code).body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    if not functions:
        return ""
    first = functions[-1]
    body = first.body[0].lineno - 1
    return (
        "\n".join(line for line in code.splitlines()[first.lineno - 1 : body] if not line.strip().startswith("#"))
        or code
    )
