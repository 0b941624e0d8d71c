"""The report page in headless Chromium: what a reader sees and does."""

import json
import os
import shutil
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from tests.report.test_page import HOSTILE, TASK, four_runs, made

from daxy.core.errors import visible
from daxy.formats import parquet
from daxy.runs.folder import RunFolder

sync_api = pytest.importorskip("playwright.sync_api", reason="needs the package playwright")

pytestmark = pytest.mark.browser

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PHONE, DESKTOP = {"width": 390, "height": 844}, {"width": 1280, "height": 900}


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
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[RunFolder]:
    return four_runs(tmp_path_factory.mktemp("runs"))


@pytest.fixture(scope="module")
def address(folders: list[RunFolder], tmp_path_factory: pytest.TempPathFactory) -> str:
    """Address of the page about the runs."""
    out = tmp_path_factory.mktemp("page") / "report.html"
    out.write_text(made(folders, out.parent, title=HOSTILE).html, encoding="utf-8")
    return out.as_uri()


@pytest.fixture(params=["light", "dark"])
def colors(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def opened(browser: Any, address: str, request: pytest.FixtureRequest) -> Iterator[Any]:
    """The page on a desktop, in the colors that the test asks for; it must cause no complaint."""
    scheme = request.getfixturevalue("colors") if "colors" in request.fixturenames else "light"
    page = browser.new_page(viewport=DESKTOP, color_scheme=scheme)
    complaints, requests = list[str](), list[str]()
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda each: requests.append(each.url))
    page.goto(address)
    page.wait_for_selector("#examples > li")
    yield page
    page.close()
    assert complaints == []
    assert [url for url in requests if not url.startswith(("data:", "blob:"))] == [address]


def chosen(page: Any, label: str) -> None:
    """Choose a run by the beginning of its name."""
    options = page.locator("#filters select").first.locator("option").all_inner_texts()
    page.get_by_label("Run", exact=True).select_option(
        label=next(each for each in options if each.startswith(label))
    )


ANSWERS = """() => {
  const pages = document.getElementById("pages"), next = pages.querySelector("button:last-child");
  const rows = [];
  for (;;) {
    for (const item of document.querySelectorAll("#examples > li")) {
      rows.push([...item.querySelectorAll("h3, .answers dd")].map((each) => each.textContent));
    }
    if (next.disabled) return rows;
    next.click();
  }
}"""


def answers(page: Any) -> list[tuple[str, str, str]]:
    """Return source, target and prediction of each example, page by page."""
    return [tuple(each) for each in page.evaluate(ANSWERS)]


def test_tokens_are_text(opened: Any) -> None:
    shown = visible(HOSTILE)
    assert opened.title() == shown
    assert opened.locator("h1").inner_text() == shown
    chosen(opened, f"{TASK}, seq2seq, hidden 8")
    opened.locator("#examples mark").first.wait_for()
    assert opened.locator("#examples mark").first.inner_text() == shown
    assert opened.locator("b").count() == 0


@pytest.mark.parametrize("number", [1, 2])
def test_every_prediction_is_unpacked_as_it_was(
    number: int, opened: Any, folders: list[RunFolder]
) -> None:
    folder = folders[number]
    names = "source", "target", "prediction"
    table = parquet.load(folder.predictions, names).select(names).to_pylist()
    rows = [tuple(visible(" ".join(row[name])) for name in names) for row in table]
    config = folder.config()
    hidden = config.learner["config"]["hidden"]
    chosen(opened, f"{TASK}, seq2seq, hidden {hidden}, seed {config.seed}")
    opened.get_by_text(f"{len(rows)} of {len(rows)} examples").wait_for()
    opened.wait_for_timeout(300)
    assert answers(opened) == rows


def test_filters_leave_what_they_say(opened: Any, folders: list[RunFolder]) -> None:
    chosen(opened, f"{TASK}, seq2seq, hidden 4, seed 1")
    opened.get_by_label("Result", exact=True).select_option("Wrong")
    opened.get_by_label("Search", exact=True).fill("around")
    opened.get_by_label("Shortest target length").fill("16")
    table = parquet.load(folders[1].predictions, ("source", "target", "exact"))
    rows = table.to_pylist()
    left = [
        row
        for row in rows
        if not row["exact"] and "around" in row["source"] and len(row["target"]) >= 16
    ]
    assert 0 < len(left) < len(rows)
    opened.get_by_text(f"{len(left)} of {len(rows)} examples, 0 of them right").wait_for()
    assert {row[0] for row in answers(opened)} <= {" ".join(row["source"]) for row in left}
    opened.get_by_label("Search", exact=True).fill("no such token")
    opened.get_by_text(f"0 of {len(rows)} examples").wait_for()
    assert answers(opened) == []


@pytest.mark.parametrize(("shortest", "second"), [(1, "✓ right"), (15, "✗ wrong")])
def test_a_click_shows_the_predictions_of_all_runs(shortest: int, second: str, opened: Any) -> None:
    opened.get_by_label("Longest target length").fill(str(shortest + 13))
    opened.get_by_label("Shortest target length").fill(str(shortest))
    opened.wait_for_timeout(300)
    item = opened.locator("#examples > li").first
    item.get_by_text("Predictions of all 3 runs").click()
    item.locator("details dd").nth(2).wait_for()
    assert item.locator("details dt").all_inner_texts() == [
        "✓ right seq2seq, hidden 4, seed 0",
        f"{second} seq2seq, hidden 4, seed 1",
        "✗ wrong seq2seq, hidden 8, seed 0",
    ]


def test_the_switch_changes_the_colors(opened: Any, colors: str) -> None:
    def lightness() -> float:
        color = opened.evaluate("getComputedStyle(document.body).backgroundColor")
        return sum(map(int, color.removeprefix("rgb(").removesuffix(")").split(", "))) / 765

    assert (lightness() > 0.5) == (colors == "light")
    opened.locator("#theme").click()
    assert (lightness() > 0.5) == (colors == "dark")


@pytest.mark.parametrize("size", [PHONE, DESKTOP], ids=["phone", "desktop"])
def test_nothing_is_wider_than_the_screen(size: dict[str, int], opened: Any) -> None:
    opened.set_viewport_size(size)
    opened.wait_for_timeout(300)
    for details in opened.locator("details").all():
        details.evaluate("each => { each.open = true; }")
    opened.wait_for_timeout(300)
    assert opened.evaluate("document.documentElement.scrollWidth") <= size["width"]
    assert opened.locator("figure svg").first.bounding_box()["width"] <= size["width"]


def test_the_keyboard_reaches_everything_in_order(opened: Any) -> None:
    opened.keyboard.press("Tab")
    assert opened.evaluate("document.activeElement.textContent") == "Skip to the content"
    opened.keyboard.press("Enter")
    assert opened.evaluate("document.activeElement.id") == "main"
    reached = set[str]()
    for _ in range(150):
        opened.keyboard.press("Tab")
        style = "getComputedStyle(document.activeElement).outlineStyle"
        tag = opened.evaluate("document.activeElement.tagName")
        if tag == "BODY":
            break
        assert opened.evaluate(style) != "none", tag
        reached.add(tag)
    assert {"SELECT", "INPUT", "BUTTON", "SUMMARY", "DIV"} <= reached


CONTRAST = """() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgb = (color) => {
    canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = color; canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const level = (color) => color.slice(0, 3).map((part) => part / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
    .reduce((sum, part, at) => sum + part * [0.2126, 0.7152, 0.0722][at], 0);
  const behind = (node) => {
    for (; node; node = node.parentElement) {
      const color = rgb(getComputedStyle(node).backgroundColor);
      if (color[3] === 255) return color;
    }
    return [255, 255, 255];
  };
  const poor = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let text = walk.nextNode(); text; text = walk.nextNode()) {
    const node = text.parentElement;
    const hidden = node.closest("script, noscript, [disabled]") || !node.getClientRects().length;
    if (!text.data.trim() || hidden) continue;
    const style = getComputedStyle(node), color = node.closest("svg") ? style.fill : style.color;
    const [dark, light] = [level(rgb(color)), level(behind(node))].sort((a, b) => a - b);
    const ratio = (light + 0.05) / (dark + 0.05);
    if (ratio < 4.5) poor.push([text.data.trim().slice(0, 40), node.tagName, ratio.toFixed(2)]);
  }
  return poor;
}"""


def test_every_text_has_contrast(opened: Any, colors: str) -> None:
    assert colors in ("light", "dark")
    opened.wait_for_timeout(300)
    assert opened.evaluate(CONTRAST) == []


NAMELESS = """() => {
  const all = (selector) => [...document.querySelectorAll(selector)];
  const named = (node) => node.getAttribute("aria-label")
    || (node.matches("select, input") ? node.labels.length : node.textContent.trim());
  return all("select, input, button, nav, form, [role=img], [role=region]")
    .filter((node) => !named(node))
    .concat(all("img:not([alt])"), all("th:not([scope])"))
    .concat(all("table").filter((node) => !node.caption))
    .map((node) => node.outerHTML.slice(0, 100));
}"""


def test_everything_has_a_name_and_headings_are_in_order(opened: Any) -> None:
    opened.wait_for_timeout(300)
    for details in opened.locator("details").all():
        details.evaluate("each => { each.open = true; }")
    opened.wait_for_timeout(300)
    assert opened.evaluate(NAMELESS) == []
    levels = opened.locator("h1, h2, h3, h4").evaluate_all(
        "nodes => nodes.map((node) => Number(node.tagName[1]))"
    )
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    ids = opened.locator("[id]").evaluate_all("nodes => nodes.map((node) => node.id)")
    assert len(set(ids)) == len(ids)
    assert opened.evaluate("document.documentElement.lang") == "en"


def test_a_chart_tells_what_it_draws_and_has_its_table(opened: Any) -> None:
    figure = opened.locator("#curves figure").first
    figure.locator("svg").wait_for()
    said = figure.locator("svg").get_attribute("aria-label")
    assert "Training loss" in said
    assert "seq2seq, hidden 4, seed 0 from 2 to 1" in said
    figure.get_by_text("Table").click()
    figure.locator("tbody tr").first.wait_for()
    assert figure.locator("tbody tr").all_inner_texts()[0].split("\t") == ["10", "2", "2", "2"]
    data = json.loads(opened.locator("#data").evaluate("node => node.textContent"))
    assert len(data["curves"]) == opened.locator("#curves figure").count()
