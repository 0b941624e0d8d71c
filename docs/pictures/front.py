"""Draw the picture at the top of README.md, in light and dark: a gSCAN film and the demo's bars.

daxy demo
python docs/pictures/front.py
"""

from __future__ import annotations

import io
from pathlib import Path

import matplotlib as mpl
from matplotlib import font_manager
from PIL import Image, ImageDraw, ImageFont

import daxy
from daxy.languages.grounded import parse, referent
from daxy.report.primitive_demo import CommandResults, draw
from daxy.runs.folder import RunFolder
from daxy.worlds import raster

RUNS = Path("runs")
HERE = Path(__file__).parent
SIZE = WIDTH, HEIGHT = 1280, 460
SIDE = 372
"""Pixels of the film's grid along a side."""
MARGIN = 24
EXAMPLE = ("D", 43_649)
"""A test of gSCAN (the target lies south-west of the agent) and the number of an example in it."""
DPI = 100
THEMES = {"light": ("#ffffff", "#1f2328"), "dark": ("#0d1117", "#e6edf3")}
"""Paper and ink, as GitHub has them."""


def bars(paper: str, ink: str) -> Image.Image:
    """Return the demo's bars."""
    by_task = {}
    for path in sorted(RUNS.glob("scan-*")):
        config = RunFolder(path).config()
        by_task[config.task] = CommandResults.of(RunFolder(path))
    labels = {
        "trained on a random part": by_task["scan/simple"],
        "trained without these combinations": by_task["scan/addprim_jump"],
    }
    colors = ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color")
    look = {"figure.facecolor": paper, "axes.facecolor": paper, "font.size": 13}
    with mpl.rc_context(look | dict.fromkeys(colors, ink)):
        figure = draw(labels, "One network, two splits of SCAN")
        figure.set_size_inches((WIDTH - SIDE - 3 * MARGIN) / DPI, (HEIGHT - MARGIN) / DPI)
        file = io.BytesIO()
        figure.savefig(file, format="png", dpi=DPI)
    return Image.open(file)


def film(paper: str, ink: str) -> list[Image.Image]:
    """Return a frame for each step of a gSCAN demonstration, with the command below it."""
    test, number = EXAMPLE
    example = daxy.load("gscan/compositional").named[test][number - 1]
    assert example.world is not None
    world, command = example.world, parse(example.source)
    marked = world.placed[referent(command.phrase, world.things)].cell
    states = list(world.course(example.target))
    cells = [state.agent for state in states]
    font = ImageFont.truetype(font_manager.findfont("DejaVu Sans"), 16)
    frames = []
    for place, state in enumerate(states):
        frame = Image.new("RGB", (SIDE, HEIGHT - 2 * MARGIN), paper)
        picture = raster.image(state, marked=marked, path=cells[: place + 1])
        frame.paste(picture.resize((SIDE, SIDE), Image.Resampling.LANCZOS))
        pen = ImageDraw.Draw(frame)
        pen.text((SIDE / 2, SIDE + 22), " ".join(example.source), ink, font, anchor="mm")
        frames.append(frame)
    return frames


def main() -> None:
    """Write both pictures."""
    for theme, (paper, ink) in THEMES.items():
        right, frames = bars(paper, ink), list[Image.Image]()
        for left in film(paper, ink):
            frame = Image.new("RGB", SIZE, paper)
            frame.paste(left, (MARGIN, MARGIN))
            frame.paste(right, (SIDE + 2 * MARGIN, MARGIN // 2))
            frames.append(frame.quantize(128))
        first, *others = frames
        path = HERE / f"front-{theme}.gif"
        durations = [350] * len(others) + [2_000]
        first.save(path, save_all=True, append_images=others, duration=durations, loop=0)


if __name__ == "__main__":
    main()
