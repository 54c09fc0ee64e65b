"""Runs the live page's JavaScript in Node."""

import json
from pathlib import Path

from node import run_node

LIVE = Path(__file__).parents[2] / "course_site" / "live"
MODULES = (
    "safetensors",
    "layers",
    "transformer",
    "decoding",
    "plain_letters",
    "pronunciation",
    "text_generation",
    "induction",
)
PRELUDE = """
import { readFileSync } from "node:fs";
const open = (path) => new Uint8Array(readFileSync(path)).buffer;
const plain = (_, x) => ArrayBuffer.isView(x) ? [...x].map((n) => (Number.isFinite(n) ? n : String(n))) : x;
"""


def in_live(body: str, folder: Path = LIVE, **given: object) -> object:
    """What the body of a function returns that may use every name the modules in ``folder`` export, and those given."""
    imports = "".join(
        f"import * as {name} from {json.dumps((folder / f'{name}.js').as_uri())};\n"
        for name in MODULES
        if (folder / f"{name}.js").exists()
    )
    names = "".join(f"const {name} = {json.dumps(value)};\n" for name, value in given.items())
    told = f"const found = (() => {{{body}}})();\nprocess.stdout.write(JSON.stringify(found, plain));"
    source = f"{imports}{PRELUDE}{names}\n{told}"
    return json.loads(run_node(source))
