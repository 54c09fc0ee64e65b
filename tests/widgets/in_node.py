"""Runs functions of a widget's JavaScript module in Node, without a page."""

import json
import re
from pathlib import Path

from node import run_node

MODULES = Path(__file__).parents[2] / "course_utils" / "widgets" / "modules"


def in_node(module: str, expression: str, **given: object) -> object:
    """The value of an expression that may use what the module defines and the names that are given.

    NaN and infinite numbers pass both ways.
    """
    names = "".join(f"const {name} = {json.dumps(value)};\n" for name, value in given.items())
    shown = f"JSON.stringify({expression}, (_, x) => Number.isNaN(x) || Math.abs(x) === Infinity ? `#${{x}}` : x)"
    source = f"{(MODULES / module).read_text(encoding='utf-8')}\n{{{names}console.log({shown});}}"
    return json.loads(re.sub(r'"#(-?Infinity|NaN)"', r"\1", run_node(source)))
