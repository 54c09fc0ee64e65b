"""What an anywidget needs to be alive on a page without a kernel: its module's name and its state, kept beside its output.

They stand in the output's metadata, which neither JupyterLab nor nbval reads; a widget whose arithmetic is done in Python
(ipywidgets) keeps nothing, since without a kernel it would be a dead slider.
"""

import json
from pathlib import Path
from typing import Any

from nbclient import NotebookClient

KEY = "course_widget"  # in the metadata of an output: {"module": ..., "state": {...}, "bytes": {name: base64}}
MODULES = Path("course_utils") / "widgets" / "modules"
MOST_CHARACTERS = 300_000  # of one widget, as JSON; a page of the site is to stay under 3 MB
OF_EVERY_WIDGET = {"layout", "tabbable", "tooltip"}


def published(client: NotebookClient, model_id: str, root: Path) -> dict[str, Any] | None:
    """What to keep of the widget that an output displays; None for one that is nothing without a kernel.

    Args:
        client: One that has run the notebook with ``store_widget_state``.
        model_id: The widget's, from the output.
        root: The project's folder, in which the modules are.

    Raises:
        ValueError: The widget's state is too large to be put on a page.
    """
    state = client.widget_state.get(model_id, {})
    modules = {path.read_text(encoding="utf-8"): path.stem for path in sorted((root / MODULES).glob("*.js"))}
    module = modules.get(state.get("_esm"))
    if module is None:
        return None
    sent = {path[0]: buffer["data"] for path, buffer in client.widget_buffers.get(model_id, {}).items()}
    own = {name: value for name, value in state.items() if name[0] != "_" and name not in OF_EVERY_WIDGET | set(sent)}
    found = {"module": module, "state": own, "bytes": {name: data.replace("\n", "") for name, data in sent.items()}}
    if (size := len(json.dumps(found))) > MOST_CHARACTERS:
        raise ValueError(
            f"the state of this widget ({module}) is {size:,} characters long, too many for a page; at most "
            f"{MOST_CHARACTERS:,}: show fewer tokens, heads or layers"
        )
    return found
