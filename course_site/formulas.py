"""Formulas as MathML, which a browser draws by itself: for pages that have to be whole in one file, without MathJax.

The part of TeX that the lessons use; anything else is an error that names it. MathML Core is described at
https://www.w3.org/TR/mathml-core/.
"""

import re
from collections.abc import Callable
from html import escape

TOKEN = re.compile(r"\\[a-zA-Z]+|\\.|\d+(?:[.,]\d+)*|\s+|.", re.DOTALL)
WORDS = {"ln", "log", "exp", "sin", "cos", "tanh", "min", "max", "det"}
GREEK = dict(
    zip(
        "alpha beta gamma delta varepsilon epsilon eta theta lambda mu pi rho sigma tau phi psi omega".split(),
        "αβγδεϵηθλμπρστϕψω",
        strict=True,
    )
)
LETTERS = GREEK | {
    "ell": "ℓ",
    "infty": "∞",
    "partial": "∂",
    "Sigma": "Σ",
    "Delta": "Δ",
    "Omega": "Ω",
    "Phi": "Φ",
    "top": "⊤",
}
SIGNS = {
    "cdot": "⋅", "times": "×", "odot": "⊙", "oplus": "⊕", "pm": "±", "mid": "∣", "to": "→", "leftarrow": "←", "rightarrow": "→",
    "Rightarrow": "⇒", "ge": "≥", "le": "≤", "ll": "≪", "ne": "≠", "approx": "≈", "sim": "∼", "propto": "∝", "in": "∈",
    "dots": "…", "ldots": "…", "cdots": "⋯", "bmod": " mod ", "{": "{", "}": "}", "%": "%", "_": "_", "|": "‖",
}  # fmt: skip
FENCES = {
    "lvert": "|", "rvert": "|", "lVert": "‖", "rVert": "‖", "lfloor": "⌊", "rfloor": "⌋", "lceil": "⌈", "rceil": "⌉",
    "langle": "⟨", "rangle": "⟩",
}  # fmt: skip
SPACES = {",": 0.17, ";": 0.28, ":": 0.22, " ": 0.25, "!": -0.17, "quad": 1.0, "qquad": 2.0}
SUMS = {"sum": "∑", "prod": "∏"}
SIZES = {"big", "Big", "bigl", "bigr", "Bigl", "Bigr", "left", "right"}
PLAIN = {"text", "operatorname", "mathrm", "mathbf", "textstyle", "displaystyle"}
ABOVE_AND_BELOW = {"_": "munder", "^": "mover", "_^": "munderover"}
BESIDE = {"_": "msub", "^": "msup", "_^": "msubsup"}
ENDS = {"}", "&", r"\\", r"\end", r"\right"}


def mathml(tex: str, *, display: bool = False) -> str:
    """A formula as a ``<math>`` element.

    Args:
        tex: What stands between the dollar signs.
        display: On a line of its own.

    Raises:
        ValueError: The formula uses something of TeX that is not known here, or its braces do not match.
    """
    reader = _Reader(tex)
    body = reader.row()
    if reader.at < len(reader.tokens):
        raise ValueError(f"formula {tex!r}: {reader.tokens[reader.at]!r} ends what was never begun")
    mode = ' display="block"' if display else ""
    return f"<math{mode}>{body}</math>"


class _Reader:
    """Reads a formula from left to right, once."""

    def __init__(self, tex: str) -> None:
        self.tex, self.tokens, self.at = tex, TOKEN.findall(tex), 0
        self.special: dict[str, Callable[[], str]] = {
            r"\frac": self._fraction,
            r"\tfrac": lambda: self._styled(self._fraction, "false"),
            r"\dfrac": lambda: self._styled(self._fraction, "true"),
            r"\sqrt": lambda: f"<msqrt>{self._argument()}</msqrt>",
            r"\bar": lambda: f'<mover accent="true">{self._argument()}<mo>¯</mo></mover>',
            r"\overline": lambda: f'<mover accent="true">{self._argument()}<mo stretchy="true">‾</mo></mover>',
            r"\hat": lambda: f'<mover accent="true">{self._argument()}<mo>^</mo></mover>',
            r"\underbrace": lambda: f"<munder>{self._argument()}<mo>⏟</mo></munder>",
            r"\begin": self._table,
        }

    def row(self) -> str:
        """All up to what ends a group."""
        parts = []
        while self.at < len(self.tokens) and self.tokens[self.at] not in ENDS:
            if (part := self._with_scripts()) is not None:
                parts.append(part)
        return f"<mrow>{''.join(parts)}</mrow>"

    def _next(self) -> str:
        if self.at >= len(self.tokens):
            raise ValueError(f"formula {self.tex!r} ends too early: a brace or an argument is missing")
        self.at += 1
        return self.tokens[self.at - 1]

    def _skip_space(self) -> None:
        while self.at < len(self.tokens) and self.tokens[self.at].isspace():
            self.at += 1

    def _with_scripts(self) -> str | None:
        self._skip_space()
        if self.at >= len(self.tokens) or self.tokens[self.at] in ENDS:
            return None
        above_and_below = self.tokens[self.at] in {r"\sum", r"\prod", r"\min", r"\max", r"\underbrace"}
        base, scripts = self._atom(), {}
        while self.at < len(self.tokens) and self.tokens[self.at] in "^_'":
            sign = self._next()
            scripts["^" if sign == "'" else sign] = "<mo>′</mo>" if sign == "'" else self._argument()
        if not scripts:
            return base
        order = "_^" if len(scripts) == 2 else next(iter(scripts))
        kinds = ABOVE_AND_BELOW if above_and_below else BESIDE
        return f"<{kinds[order]}>{base}{''.join(scripts[sign] for sign in order)}</{kinds[order]}>"

    def _argument(self) -> str:
        self._skip_space()
        if word := self._word():  # not one letter times the next
            return f'<mi style="font-style: italic">{word}</mi>'
        if self.at < len(self.tokens) and self.tokens[self.at][0].isdigit():  # without braces it is one digit
            number = self.tokens[self.at]
            self.tokens[self.at : self.at + 1] = number
        return self._atom()

    def _word(self) -> str:
        end = self.tokens.index("}", self.at) if "}" in self.tokens[self.at :] else self.at
        word = "".join(self.tokens[self.at + 1 : end])
        if self.tokens[self.at : self.at + 1] != ["{"] or not re.fullmatch("[a-z]{3,}", word):
            return ""
        self.at = end + 1
        return word

    def _atom(self) -> str:
        token = self._next()
        if token == "{":
            body = self.row()
            self._expect("}")
            return body
        if token in self.special:
            return self.special[token]()
        name = token[1:] if token[0] == "\\" else ""
        if name in SIZES:
            return self._fence(name)
        if name in PLAIN:
            return self._plain(name)
        if name in SPACES:
            return f'<mspace width="{SPACES[name]}em"></mspace>'
        if name in SUMS:
            return f'<mo movablelimits="true">{SUMS[name]}</mo>'
        if name in WORDS:
            return f'<mrow><mi>{name}</mi><mspace width="0.1em"></mspace></mrow>'
        if name in LETTERS:
            return f"<mi>{LETTERS[name]}</mi>"
        if name in FENCES or name in SIGNS:
            return f'<mo stretchy="false">{FENCES.get(name) or SIGNS[name]}</mo>'
        if name:
            raise ValueError(f"formula {self.tex!r}: {token} is not known; add it to course_site/formulas.py")
        return self._character(token)

    def _character(self, token: str) -> str:
        if token[0].isdigit():
            return f"<mn>{token}</mn>"
        if token.isalpha():
            return f"<mi>{token}</mi>"
        return f'<mo stretchy="false">{escape({"-": "−", "*": "∗"}.get(token, token))}</mo>'

    def _fraction(self) -> str:
        return f"<mfrac>{self._argument()}{self._argument()}</mfrac>"

    def _styled(self, inner: Callable[[], str], display: str) -> str:
        return f'<mstyle displaystyle="{display}">{inner()}</mstyle>'

    def _plain(self, name: str) -> str:
        if name.endswith("style"):
            return self._styled(self.row, str(name == "displaystyle").lower())
        self._skip_space()
        self._expect("{")
        begin = self.at
        while self._next() != "}":
            pass
        words = "".join(self.tokens[begin : self.at - 1]).replace(r"\ ", " ").replace(r"\_", "_").replace("{", "")
        if name == "text":
            return f"<mtext>{escape(words).replace(' ', '&nbsp;')}</mtext>"
        return f'<mi mathvariant="normal">{escape(words)}</mi>'

    def _fence(self, name: str) -> str:
        self._skip_space()
        token = self._next()
        sign = FENCES.get(token[1:]) or SIGNS.get(token[1:]) if token[0] == "\\" else token
        size = "" if name in ("left", "right") else ' minsize="1.4em"'
        opening = "" if sign == "." else f'<mo stretchy="true" symmetric="true"{size}>{escape(sign or "")}</mo>'
        if name != "left":
            return opening
        inside = self.row()
        self._expect(r"\right")
        return f"<mrow>{opening}{inside}{self._fence('right')}</mrow>"

    def _expect(self, wanted: str) -> None:
        if (token := self._next()) != wanted:
            raise ValueError(f"formula {self.tex!r}: {token!r} where {wanted!r} was expected")

    def _name(self) -> str:
        self._expect("{")
        letters = []
        while (token := self._next()) != "}":
            letters.append(token)
        return "".join(letters)

    def _table(self) -> str:
        name = self._name()
        if name == "array":
            self._name()
        rows, cells = [], []
        while True:
            cells.append(f"<mtd>{self.row()}</mtd>")
            token = self._next()
            if token == "&":
                continue
            rows.append(f"<mtr>{''.join(cells)}</mtr>")
            cells = []
            if token == r"\end":
                self._name()
                break
        table = f'<mtable class="{name}">{"".join(rows)}</mtable>'
        left, right = {"cases": "{ ", "pmatrix": "()", "bmatrix": "[]"}.get(name, "  ")
        fenced = [f'<mo stretchy="true">{sign}</mo>' if sign != " " else "" for sign in (left, right)]
        return f"<mrow>{fenced[0]}{table}{fenced[1]}</mrow>"
