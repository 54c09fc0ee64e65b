"""Colors, sizes and limits of all diagrams.

The same color is the same thing in the whole course. The colors are told apart by readers with any common color blindness
(Okabe and Ito, "Color Universal Design", 2008), and every role is written beside its color as well.
"""

from matplotlib.colors import LinearSegmentedColormap

from course_utils.plotting import WEIGHT_COLOR

COLORS = {
    "query": "#0072B2", "key": "#D55E00", "value": "#009E73", "scores": "#5A5A5A", "weights": WEIGHT_COLOR,
    "output": "#9A6A00", "mask": "#8C8C8C", "cache": "#B0307A", "position": "#2A8FBD", "plain": "#404040",
}  # fmt: skip
INK, SOFT, FAINT = "#1F2328", "#59636E", "#D0D7DE"
WARNING = "#C1121F"  # something is wrong here
NAME, SHAPE, LABEL, NUMBER, OPERATION = 13.0, 9.5, 10.0, 9.0, 11.0  # font sizes in points
CELL, SMALL = 0.34, 0.22  # inches; in small cells no numbers are written
PAGE = 9.0  # inches; a wider figure is made smaller by the page, its letters too
MAX_SHOWN = 12  # rows or columns that a grid shows; more are cut, with dots
MAX_NUMBERS = 64  # cells in which numbers are written
DIVERGING = "RdBu_r"
SHADES = {role: LinearSegmentedColormap.from_list(role, ["#FFFFFF", color]) for role, color in COLORS.items()}
