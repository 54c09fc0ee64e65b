"""A browser that tells what goes wrong on the pages of the built site."""

from pathlib import Path

SITE = Path(__file__).parents[2] / "build" / "site"
PICTURES = SITE.with_name("pictures-of-site")
TIMEOUT_MS = 20_000
AXE = Path(__file__).with_name("axe.min.js")


class Visitor:
    """One browser.

    Attributes:
        problems: What went wrong: errors on the console or in scripts, files that are missing, requests that left this machine.
    """

    def __init__(self, chromium: object, url: str) -> None:
        self._chromium, self.url, self.problems = chromium, url, []

    def tab(self, *, width: int = 1280, height: int = 900, dark: bool = False, touch: bool = False) -> object:
        """An empty page of its own, nothing remembered from earlier ones."""
        scheme = "dark" if dark else "light"
        size = {"width": width, "height": height}
        page = self._chromium.new_page(viewport=size, color_scheme=scheme, has_touch=touch, is_mobile=touch)
        page.on(
            "console", lambda message: message.type == "error" and self.problems.append(f"{page.url}: {message.text}")
        )
        page.on("pageerror", lambda error: self.problems.append(f"{page.url}: {error}"))
        page.on(
            "response", lambda answer: answer.status >= 400 and self.problems.append(f"{answer.status}: {answer.url}")
        )
        page.on("request", lambda request: self._own(request.url) or self.problems.append(f"elsewhere: {request.url}"))
        page.route(lambda url: not self._own(url), lambda route: route.abort())
        page.set_default_timeout(TIMEOUT_MS)
        return page

    def phone(self, path: str, **options: object) -> object:
        """A tab on a page of the site as a phone shows it."""
        return self.visit(path, width=390, height=844, touch=True, **options)

    def visit(self, path: str, **options: object) -> object:
        """A tab on a page of the site."""
        page = self.tab(**options)
        page.goto(self.url + path)
        return page

    def _own(self, url: str) -> bool:
        return url.startswith((self.url, "data:", "blob:"))


def serious(page):
    """What axe-core finds that keeps people out: rule, how bad, where."""
    page.add_script_tag(path=AXE)
    violations = page.evaluate(
        "axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations)"
    )
    return [
        (rule["id"], rule["impact"], node["html"][:140], node["failureSummary"][:300])
        for rule in violations
        if rule["impact"] in ("serious", "critical")
        for node in rule["nodes"][:3]
    ]
