"""What every page has: it opens offline, runs nothing, loads nothing, reads well in light, in dark and on paper."""

import html

from ..names import printable

POLICY = "default-src 'none'; style-src 'unsafe-inline'"
STYLE = """
:root{color-scheme:light dark;--text:#1f2328;--faint:#59636e;--line:#d1d9e0;--back:#fff;--code:#f6f8fa;
--right:#1a7f37;--wrong:#9a6700;--limits:#8250df;--stopped:#c2410c;--empty:#6e7781}
@media(prefers-color-scheme:dark){:root{--text:#e6edf3;--faint:#9aa4af;--line:#3d444d;--back:#0d1117;--code:#161b22;
--right:#3fb950;--wrong:#d29922;--limits:#a98bf5;--stopped:#f0763a;--empty:#8b949e}}
*{box-sizing:border-box}
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:var(--text);
background:var(--back);overflow-wrap:anywhere}
h1{font-size:1.6rem;margin:0 0 .2rem}h2{font-size:1.25rem;margin:2rem 0 .5rem}h3{font-size:1.05rem;margin:1.2rem 0 .4rem}
.meta{color:var(--faint);margin-top:0}
pre{white-space:pre-wrap;overflow-wrap:anywhere;margin:.5rem 0 0;font:13px/1.5 ui-monospace,monospace}
pre.code{background:var(--code);border:1px solid var(--line);border-radius:6px;padding:.5rem .7rem}
section{border:1px solid var(--line);border-left:6px solid var(--empty);border-radius:6px;padding:.6rem 1rem;margin:.8rem 0}
.right{border-left-color:var(--right)}.wrong{border-left-color:var(--wrong)}.limits{border-left-color:var(--limits)}
.stopped{border-left-color:var(--stopped)}.empty{border-left-color:var(--empty)}
details{margin-top:.5rem}summary{cursor:pointer;color:var(--faint)}
@media print{:root{color-scheme:light;--text:#000;--faint:#444;--line:#999;--back:#fff;--code:#fff;--right:#1a7f37;
--wrong:#9a6700;--limits:#8250df;--stopped:#c2410c;--empty:#6e7781}
body{max-width:none;margin:0;font-size:11pt;-webkit-print-color-adjust:exact;print-color-adjust:exact}
h2,h3,summary,.head{break-after:avoid}tr,svg{break-inside:avoid}}
""".strip()


def text(value: object, most: int = 120) -> str:
    """One line of a stranger's text, for a page."""
    return html.escape(printable(value, most))


def code(source: str) -> str:
    """A stranger's code as it is, for a page; what cannot be seen is shown as a sign."""
    shown = "".join(
        letter if letter.isprintable() or letter in "\n\t" else "\N{REPLACEMENT CHARACTER}" for letter in source
    )
    return f'<pre class="code">{html.escape(shown)}</pre>'


def document(title: str, parts: list[str], style: str = "") -> str:
    """A whole page; ``parts`` are HTML already."""
    head = [
        "<!DOCTYPE html>",
        f'<html lang="en"><head><meta charset="utf-8"><title>{text(title)}</title>',
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
        f'<meta name="viewport" content="width=device-width"><style>{STYLE}{style}</style></head><body>',
    ]
    return "\n".join([*head, *parts, "</body></html>", ""])
