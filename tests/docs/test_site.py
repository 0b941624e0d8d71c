"""The built documentation in headless Chromium: what a reader sees at three widths."""

import functools
import http.server
import importlib.util
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import urldefrag, urljoin, urlsplit

import pytest
from tests.docs.blocks import ROOT

sync_api = pytest.importorskip("playwright.sync_api", reason="needs the package playwright")

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(
        not all(map(importlib.util.find_spec, ("material", "mkdocstrings"))),
        reason="needs the extra `docs`",
    ),
]

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
WIDTHS = (390, 1280, 1920)
EDIT = "https://forge.example/daxy/edit/main/docs/"
WIDER = """() => {
    const wide = document.documentElement.scrollWidth - window.innerWidth;
    const clipped = [...document.querySelectorAll('.md-content *, .md-header, .md-tabs')].filter(
        it => it.clientWidth > 0 && !it.closest('.md-clipboard, .headerlink')
            && (it.getBoundingClientRect().right > window.innerWidth + 1
                || it.scrollWidth > it.clientWidth + 1
                    && ['auto', 'scroll'].includes(getComputedStyle(it).overflowX)));
    return [wide, clipped.slice(0, 3).map(it => it.outerHTML.slice(0, 200))];
}"""
"""How much wider than the window a page is, and its elements that scroll sideways or stick out."""
CONTENT = """() => ({
    headings: [...document.querySelectorAll('.md-content h1, h2, h3, h4')].map(
        it => Number(it.tagName[1])),
    images: [...document.querySelectorAll('.md-content img')].map(
        it => [it.src, it.naturalWidth, it.alt]),
    links: [...document.querySelectorAll('a[href]')].map(it => it.href),
    ids: [...document.querySelectorAll('[id]')].map(it => it.id),
    edit: document.querySelector('a[rel=edit], .md-content__button[href]')?.href ?? null,
})"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built as a repository with an address builds it."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict"]
    environment = {"DAXY_EDIT_URI": EDIT + "{path}", "NO_MKDOCS_2_WARNING": "1"}
    subprocess.run(
        [*command, "--site-dir", str(folder)], cwd=ROOT, env=os.environ | environment, check=True
    )
    return folder


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    """Address of the site on this machine."""
    handler = functools.partial(_Quiet, directory=str(site))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as it is named there
        """Write nothing."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Headless Chromium: that of CHROMIUM, of the system, or of Playwright."""
    named = [os.environ.get("CHROMIUM"), *map(shutil.which, NAMES)]
    with sync_api.sync_playwright() as playwright:
        own = Path(playwright.chromium.executable_path)
        path = next(filter(None, named), str(own) if own.exists() else None)
        if path is None:
            pytest.skip("no Chromium here; install one, or name it in CHROMIUM")
        started = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture(scope="module")
def pages(site: Path, address: str, browser: Any) -> dict[str, dict[str, Any]]:
    """By address: what each page has, how wide it is at each width, and the hosts that it asks."""
    found = dict[str, dict[str, Any]]()
    page, hosts = browser.new_page(), set[str]()
    page.on("request", lambda request: hosts.add(urlsplit(request.url).hostname or ""))
    for file in sorted(site.rglob("index.html")):
        place = urljoin(address, f"{file.parent.relative_to(site).as_posix()}/")
        page.set_viewport_size({"width": WIDTHS[0], "height": 900})
        page.goto(place, wait_until="load")
        page.add_style_tag(content="* { transition: none !important }")
        widths = {}
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            page.evaluate("document.querySelectorAll('details').forEach(it => it.open = true)")
            widths[width] = page.evaluate(WIDER)
        content = page.evaluate(CONTENT)
        found[place] = content | {"widths": widths, "hosts": set(hosts)}
    page.close()
    return found


def test_no_page_scrolls_sideways(pages: dict[str, dict[str, Any]]) -> None:
    for place, page in pages.items():
        for width, (wider, clipped) in page["widths"].items():
            assert wider <= 0 and not clipped, (place, width, wider, clipped)


def test_every_image_loads_and_has_a_description(pages: dict[str, dict[str, Any]]) -> None:
    images = [(place, *image) for place, page in pages.items() for image in page["images"]]
    assert len(images) >= 8
    for place, source, width, description in images:
        assert width > 0, (place, source)
        assert len(description) > 20, (place, source)


def test_every_link_leads_to_a_page_and_a_place_on_it(
    pages: dict[str, dict[str, Any]], site: Path, address: str
) -> None:
    for place, page in pages.items():
        for link in page["links"]:
            target, anchor = urldefrag(link)
            if not target.startswith(address):
                assert urlsplit(target).scheme == "https", (place, link)
                continue
            if target not in pages:
                assert (site / target.removeprefix(address)).is_file(), (place, link)
            elif anchor and not anchor.startswith("__"):
                assert anchor in pages[target]["ids"], (place, link)


def test_headings_are_in_order(pages: dict[str, dict[str, Any]]) -> None:
    for place, page in pages.items():
        levels = page["headings"]
        assert levels.count(1) == 1 and levels[0] == 1, (place, levels)
        steps = [after - before for before, after in pairwise(levels)]
        assert all(step <= 1 for step in steps), (place, levels)


def test_no_page_asks_another_host(pages: dict[str, dict[str, Any]]) -> None:
    assert set().union(*(page["hosts"] for page in pages.values())) == {"127.0.0.1"}


def test_every_page_has_a_link_to_edit_it(pages: dict[str, dict[str, Any]]) -> None:
    for place, page in pages.items():
        assert page["edit"] is not None, place
        assert (ROOT / "docs" / page["edit"].removeprefix(EDIT)).is_file(), page["edit"]


def test_search_finds_a_page(address: str, browser: Any) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(address)
    page.keyboard.press("/")
    page.keyboard.type("interrupted run")
    first = page.locator(".md-search-result__item a").first
    first.wait_for(state="visible", timeout=10_000)
    first.click()
    page.wait_for_url("**/howto/resume/**")
    page.close()


def test_dark_mode_stays_on_the_next_page(address: str, browser: Any) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 900}, color_scheme="light")
    page.goto(address)
    scheme = "document.body.getAttribute('data-md-color-scheme')"
    assert page.evaluate(scheme) == "default"
    page.locator("label[title='Switch to dark mode']").click()
    assert page.evaluate(scheme) == "slate"
    page.goto(urljoin(address, "results/"))
    assert page.evaluate(scheme) == "slate"
    page.close()
