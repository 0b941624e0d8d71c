"""Pictures of a world, in the manner of the paper's Figures 2 and 7 (Ruis et al. 2020).

A picture is a list of shapes in units of a cell, from the one at the back to the one in front; the
same list becomes SVG, or pixels. What has size 4 fills most of its cell.
"""

from __future__ import annotations

import io
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from daxy.core.imports import need
from daxy.languages.grounded import Command, Thing, referent
from daxy.worlds.grid import Cell, World

if TYPE_CHECKING:
    from PIL import ImageFont
    from PIL.Image import Image

Kind = Literal["svg", "png", "gif"]
"""What a picture's file is, by the end of its name."""
Point = tuple[float, float]
"""Across and down, in cells."""

FILL = {"red": "#d7263d", "green": "#2e933c", "yellow": "#f4c20d", "blue": "#2464c4"}
GRID, PAPER, EDGE, AGENT, PATH, MARK = (
    *("#c8c8c8", "#ffffff", "#333333", "#e88fb4", "#8a8a8a", "#f08a24"),
)
PIXELS = 64
"""Along the side of a cell, unless asked for otherwise."""
LETTERS = 16
"""Pixels of a line of words below a picture."""
FINER = 4
"""A cell's side is drawn so many times as long, and then made smaller: edges come out smooth."""
FRAME = 350
"""Milliseconds that an action is shown for."""


@dataclass(frozen=True, slots=True)
class Polygon:
    """A filled shape with straight edges."""

    points: tuple[Point, ...]
    fill: str
    edge: str = EDGE


@dataclass(frozen=True, slots=True)
class Ellipse:
    """A filled ellipse along the axes."""

    center: Point
    radii: Point
    fill: str
    edge: str = EDGE


@dataclass(frozen=True, slots=True)
class Line:
    """A line through points."""

    points: tuple[Point, ...]
    color: str
    width: float


Form = Polygon | Ellipse | Line


def scene(
    world: World,
    *,
    marked: Cell | None = None,
    path: Sequence[Cell] = (),
    shades: Sequence[float] = (),
) -> Iterator[Form]:
    """Yield the shapes of a picture.

    Args:
        world: What is drawn.
        marked: A cell with a frame around it: the target's.
        path: Cells that a line goes through, where the agent goes or went.
        shades: A share of one for each cell, row after row; the larger it is, the darker is the
            cell, by its square root: of what is spread evenly over many cells little is seen.
    """
    size = world.size
    yield _box(0, 0, size, size, PAPER, GRID)
    for place, shade in enumerate(shades):
        row, column = divmod(place, size)
        yield _box(column, row, 1, 1, _gray(math.sqrt(shade)), GRID)
    for place in range(1, size):
        yield Line(((place, 0), (place, size)), GRID, 0.02)
        yield Line(((0, place), (size, place)), GRID, 0.02)
    if marked is not None:
        row, column = marked
        yield Line(_corners(column + 0.05, row + 0.05, 0.9, 0.9, closed=True), MARK, 0.06)
    if len(path) > 1:
        yield Line(tuple((column + 0.5, row + 0.5) for row, column in path), PATH, 0.05)
    for thing, (row, column) in world.placed:
        yield from _thing(thing, (column + 0.5, row + 0.5))
    yield _agent(world)


def svg(
    world: World,
    *,
    marked: Cell | None = None,
    path: Sequence[Cell] = (),
    shades: Sequence[float] = (),
) -> str:
    """Return a picture as an SVG document; see `scene`."""
    side = world.size
    forms = "".join(map(_svg, scene(world, marked=marked, path=path, shades=shades)))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{side * PIXELS}" height="{side * PIXELS}"'
        f' viewBox="0 0 {side} {side}">{forms}</svg>\n'
    )


def demonstration(
    world: World,
    command: Command,
    actions: Sequence[str],
    kind: Kind = "svg",
    *,
    shades: Sequence[float] = (),
) -> bytes:
    """Return a picture of what is done for a command: its target marked, and where the agent goes.

    Args:
        world: Where the agent begins.
        command: What is said.
        actions: What is done.
        kind: A document of lines, pixels, or a film.
        shades: See `scene`.

    Raises:
        NoReferent: what the command speaks of is not there, or not one thing.
    """
    marked = world.placed[referent(command.phrase, world.things)].cell
    if kind == "gif":
        return gif(world, actions, marked=marked, shades=shades)
    path = world.path(actions)
    if kind == "png":
        return png(world, marked=marked, path=path, shades=shades)
    return svg(world, marked=marked, path=path, shades=shades).encode()


def image(
    world: World,
    *,
    marked: Cell | None = None,
    path: Sequence[Cell] = (),
    shades: Sequence[float] = (),
    pixels: int = PIXELS,
) -> Image:
    """Return a picture as pixels; see `scene`."""
    need("PIL")
    from PIL import Image, ImageDraw

    scale, side = pixels * FINER, world.size * pixels
    canvas = Image.new("RGB", (side * FINER, side * FINER), PAPER)
    pen = ImageDraw.Draw(canvas)
    for form in scene(world, marked=marked, path=path, shades=shades):
        _paint(pen, form, scale)
    return canvas.resize((side, side), Image.Resampling.BOX)


def in_rows(rows: Sequence[Sequence[tuple[Image, str]]]) -> Image:
    """Return pictures of one size in one, as many in each row, each with words below it."""
    from PIL import Image, ImageDraw, ImageFont

    font, gap = ImageFont.load_default(LETTERS), PIXELS // 2
    size = rows[0][0][0].size
    said = [[_wrapped(words, font, size[0]) for _, words in row] for row in rows]
    lines = max(words.count("\n") + 1 for row in said for words in row)
    across, down = size[0] + gap, size[1] + 2 * LETTERS * lines
    whole = Image.new("RGB", (across * len(rows[0]) - gap, down * len(rows)), PAPER)
    pen = ImageDraw.Draw(whole)
    for row, (pictures, captions) in enumerate(zip(rows, said, strict=True)):
        for column, ((each, _), words) in enumerate(zip(pictures, captions, strict=True)):
            corner = across * column, down * row
            whole.paste(each, corner)
            below = corner[0], corner[1] + size[1] + LETTERS // 4
            pen.multiline_text(below, words, EDGE, font)
    return whole


def _wrapped(words: str, font: ImageFont.FreeTypeFont | ImageFont.ImageFont, wide: int) -> str:
    """Return words in lines that are not wider than so many pixels, if no word is."""
    first, *others = words.split(" ")
    lines = [first]
    for word in others:
        longer = f"{lines[-1]} {word}"
        if font.getlength(longer) > wide:
            lines.append(word)
        else:
            lines[-1] = longer
    return "\n".join(lines)


def png(
    world: World,
    *,
    marked: Cell | None = None,
    path: Sequence[Cell] = (),
    shades: Sequence[float] = (),
) -> bytes:
    """Return a picture as a PNG file; see `scene`."""
    return _file(image(world, marked=marked, path=path, shades=shades), "PNG")


def gif(
    world: World,
    actions: Sequence[str],
    *,
    marked: Cell | None = None,
    shades: Sequence[float] = (),
) -> bytes:
    """Return a film of a world while actions are done, as a GIF file; see `scene`."""
    states = list(world.course(actions))
    cells = [now.agent for now in states]
    first, *others = (
        image(now, marked=marked, path=cells[: place + 1], shades=shades)
        for place, now in enumerate(states)
    )
    return _file(first, "GIF", save_all=True, append_images=others, duration=FRAME, loop=0)


def _thing(thing: Thing, center: Point) -> Iterator[Form]:
    across, down = center
    half, fill = 0.1 + 0.075 * thing.size, FILL[thing.color]
    match thing.shape:
        case "circle":
            yield Ellipse(center, (half, half), fill)
        case "square":
            yield _box(across - half, down - half, 2 * half, 2 * half, fill, EDGE)
        case _:
            wide, lid = 0.7 * half, 0.22 * half
            top, bottom = down - half + lid, down + half - lid
            yield Ellipse((across, bottom), (wide, lid), fill)
            yield _box(across - wide, top, 2 * wide, bottom - top, fill, fill)
            for side in (across - wide, across + wide):
                yield Line(((side, top), (side, bottom)), EDGE, 0.02)
            yield Ellipse((across, top), (wide, lid), fill)


def _agent(world: World) -> Polygon:
    """Return an arrowhead that points where the agent faces."""
    row, column = world.agent
    turn = world.heading * math.pi / 2
    corners = ((0.36, 0.0), (-0.26, 0.26), (-0.12, 0.0), (-0.26, -0.26))
    points = (
        (
            column + 0.5 + ahead * math.cos(turn) - aside * math.sin(turn),
            row + 0.5 + ahead * math.sin(turn) + aside * math.cos(turn),
        )
        for ahead, aside in corners
    )
    return Polygon(tuple(points), AGENT)


def _gray(share: float) -> str:
    """Return white for 0, and the darkest that things still stand out from for 1."""
    level = round(255 - 135 * share)
    return f"#{level:02x}{level:02x}{level:02x}"


def _box(across: float, down: float, wide: float, high: float, fill: str, edge: str) -> Polygon:
    return Polygon(_corners(across, down, wide, high), fill, edge)


def _corners(
    across: float, down: float, wide: float, high: float, *, closed: bool = False
) -> tuple[Point, ...]:
    first = (across, down)
    others = ((across + wide, down), (across + wide, down + high), (across, down + high))
    return (first, *others, *((first,) if closed else ()))


def _svg(form: Form) -> str:
    if isinstance(form, Ellipse):
        (across, down), (wide, high) = form.center, form.radii
        place = f'cx="{across:g}" cy="{down:g}" rx="{wide:g}" ry="{high:g}"'
        return f'<ellipse {place} fill="{form.fill}" stroke="{form.edge}" stroke-width="0.02"/>'
    points = " ".join(f"{across:.4g},{down:.4g}" for across, down in form.points)
    if isinstance(form, Line):
        stroke = f'fill="none" stroke="{form.color}" stroke-width="{form.width:g}"'
        return f'<polyline points="{points}" {stroke}/>'
    stroke = f'stroke="{form.edge}" stroke-width="0.02"'
    return f'<polygon points="{points}" fill="{form.fill}" {stroke}/>'


def _paint(pen: object, form: Form, scale: int) -> None:
    from PIL.ImageDraw import ImageDraw

    assert isinstance(pen, ImageDraw)
    thin = max(1, round(0.02 * scale))
    if isinstance(form, Ellipse):
        (across, down), (wide, high) = form.center, form.radii
        corners = (across - wide, down - high, across + wide, down + high)
        box = tuple(scale * each for each in corners)
        pen.ellipse(box, form.fill, form.edge, thin)
        return
    points = [(scale * across, scale * down) for across, down in form.points]
    if isinstance(form, Line):
        pen.line(points, form.color, max(1, round(form.width * scale)), joint="curve")
    else:
        pen.polygon(points, form.fill, form.edge, thin)


def _file(picture: Image, kind: str, **options: object) -> bytes:
    content = io.BytesIO()
    picture.save(content, kind, **options)
    return content.getvalue()
