"""Names for the sliders of a widget, for those who hear the page: ipywidgets gives a slider's handle none."""

from collections.abc import Iterable
from pathlib import Path

import anywidget
import ipywidgets
import traitlets

SLIDERS = (ipywidgets.IntSlider, ipywidgets.FloatSlider, ipywidgets.SelectionSlider)


class SliderNames(anywidget.AnyWidget):
    """Shows nothing; ``modules/slider_names.js`` names the sliders of the box that it is put into."""

    _esm = Path(__file__).with_name("modules") / "slider_names.js"
    names = traitlets.List(traitlets.Unicode()).tag(sync=True)


def slider_names(controls: Iterable[ipywidgets.Widget], about: str = "") -> list[SliderNames]:
    """What a box needs as a further child: one ``SliderNames``, or nothing if none of its controls is a slider.

    Args:
        controls: All controls of the box, in their order.
        about: What each name begins with, where a description alone says too little.
    """
    sliders = [control for control in controls if isinstance(control, SLIDERS)]
    return [SliderNames(names=[f"{about} {slider.description}".strip() for slider in sliders])] if sliders else []
