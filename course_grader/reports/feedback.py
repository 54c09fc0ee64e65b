"""A page for the student: scores, and the same messages as in the notebook. No scripts, nothing from elsewhere."""

import html

from course_utils.checks.catalogue import listed

from ..names import printable

STYLE = """
body{font:16px/1.5 system-ui,sans-serif;max-width:52rem;margin:2rem auto;padding:0 1rem;color:#1f2328;background:#fff}
h1{font-size:1.5rem;margin-bottom:.2rem}.meta{color:#59636e;margin-top:0}
section{border:1px solid #d1d9e0;border-left-width:6px;border-radius:6px;padding:.6rem 1rem;margin:.8rem 0}
.right{border-left-color:#1a7f37}.wrong{border-left-color:#9a6700}.none{border-left-color:#818b98}
h2{font-size:1.05rem;margin:0;display:flex;justify-content:space-between;gap:1rem}
pre{white-space:pre-wrap;overflow-wrap:anywhere;margin:.5rem 0 0;font:13px/1.5 ui-monospace,monospace}
.total{font-size:1.2rem}
""".strip()
POLICY = "default-src 'none'; style-src 'unsafe-inline'"
WORDS = {
    "right": "right", "wrong": "not yet", "not attempted": "not attempted", "missing": "missing",
    "off limits": "uses what is off limits", "unreadable": "could not be judged",
    "syntax error": "code that Python cannot read", "error": "stopped with an error", "not reached": "not reached",
    "time limit": "did not finish in time", "memory": "used too much memory", "output limit": "printed too much",
}  # fmt: skip
EMPTY = ("not attempted", "missing")


def page(student: str, label: str, result: dict) -> str:
    """The student's page.

    Args:
        student: As the folder is called.
        label: What the file is called.
        result: Of ``grade_one``.
    """
    title = f"Lesson {result['lesson']}: feedback" if result["lesson"] else "Feedback"
    parts = [
        "<!DOCTYPE html>",
        f'<html lang="en"><head><meta charset="utf-8"><title>{_text(title)}</title>',
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
        f'<meta name="viewport" content="width=device-width"><style>{STYLE}</style></head><body>',
        f"<h1>{_text(title)}</h1>",
        f'<p class="meta">{_text(student)} · {_text(label or "no file")}</p>',
    ]
    if result["problem"]:
        parts.append(
            f'<section class="none"><h2>This file could not be graded</h2><pre>{_text(result["problem"], 400)}</pre></section>'
        )
    else:
        parts.append(f'<p class="total"><b>{result["earned"]:g} of {result["total"]:g} points</b></p>')
    parts += [_section(exercise) for exercise in result["exercises"]]
    notes = [*result["restored"], *result["events"]]
    if notes:
        items = "".join(f"<li>{_text(line, 300)}</li>" for line in notes)
        parts.append(f"<h2>About the notebook</h2><ul>{items}</ul>")
    return "\n".join([*parts, "</body></html>", ""])


def _section(exercise: dict) -> str:
    outcome = exercise["outcome"]
    tone = "right" if outcome == "right" else "none" if outcome in EMPTY else "wrong"
    name = f"{exercise['number']} · {listed(exercise['number']).title}"
    worth = f"{exercise['earned']:g} of {exercise['points']:g}"
    message = html.escape(exercise["message"])
    more = f"<pre>{message}</pre>" if message else ""
    heading = f"<span>{_text(name)}</span><span>{_text(WORDS[outcome])}, {worth}</span>"
    return f'<section class="{tone}"><h2>{heading}</h2>{more}</section>'


def _text(text: str, most: int = 120) -> str:
    return html.escape(printable(text, most))
