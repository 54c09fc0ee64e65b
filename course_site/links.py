"""Looks at every page of a built site: links and anchors that lead nowhere, what is loaded from elsewhere, pages too large."""

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

MOST_BYTES = 3_000_000  # of a page
LOADING = {("script", "src"), ("img", "src"), ("iframe", "src"), ("source", "src"), ("video", "src"), ("audio", "src")}
LOADING_LINKS = {"stylesheet", "icon", "preload", "modulepreload", "preconnect", "dns-prefetch"}
FROM_ELSEWHERE = re.compile(r"""(?:url\(\s*["']?|@import\s+["'])((?:https?:)?//[^"')]+)""")


@dataclass
class Page:
    """What one page holds: anchors, links (with the tag they stand in), and addresses that it loads."""

    anchors: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    loads: list[str] = field(default_factory=list)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.page = Page()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        self.page.anchors |= {attributes[name] for name in ("id", "name") if name in attributes}
        if tag == "link":
            addresses = self.page.loads if set(attributes.get("rel", "").split()) & LOADING_LINKS else self.page.links
            addresses.append(attributes.get("href", ""))
        elif tag in ("a", "area") and "href" in attributes:
            self.page.links.append(attributes["href"])
        for name in attributes:
            if (tag, name) in LOADING:
                self.page.loads.append(attributes[name])


def problems(site: Path) -> list[str]:
    """One line for each thing that is wrong; empty when all is well."""
    written = [
        path for path in sorted(site.rglob("*.html")) if "_static" not in path.parts
    ]  # there: the theme's templates
    pages = {path.resolve(): _read(path) for path in written}
    if not pages:
        return [f"{site} holds no page"]
    wrong = []
    for path, page in pages.items():
        name = path.relative_to(site.resolve()).as_posix()
        if path.stat().st_size > MOST_BYTES:
            wrong.append(f"{name}: {path.stat().st_size:,} bytes; at most {MOST_BYTES:,}")
        for link in page.links + page.loads:
            if reason := _reason(link, path, pages, site.resolve()):
                wrong.append(f"{name}: {link!r} {reason}")
        wrong += [f"{name}: loads {link!r} from elsewhere" for link in page.loads if urlsplit(link).netloc]
    for path in sorted(site.rglob("*.css")):
        elsewhere = FROM_ELSEWHERE.findall(path.read_text(encoding="utf-8", errors="replace"))
        wrong += [f"{path.relative_to(site).as_posix()}: loads {link!r} from elsewhere" for link in elsewhere]
    return list(dict.fromkeys(wrong))


def _read(path: Path) -> Page:
    reader = _Reader()
    reader.feed(path.read_text(encoding="utf-8"))
    return reader.page


def _reason(link: str, page: Path, pages: dict[Path, Page], site: Path) -> str:
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return ""  # elsewhere: no business of a check that must work offline
    target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
    if target.is_dir():
        target = target / "index.html"
    if not target.is_relative_to(site):
        return "leads out of the site"
    if not target.is_file():
        return "leads nowhere"
    anchor = unquote(parts.fragment)
    if anchor and target in pages and anchor not in pages[target].anchors | {"top"}:
        return "has no such anchor"
    return ""
