"""Pictures of a world, in the manner of the paper's Figures 2 and 7 (Ruis et al. 2020).

A picture is a list of shapes in units of a cell, from back to front, and a caption below them. The
same list becomes SVG or pixels. A thing of size 4 fills most of its cell.
"""

from __future__ import annotations

import io
import math
from base64 import b64encode
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from html import escape
from itertools import groupby
from typing import TYPE_CHECKING, Literal, TypedDict, Unpack

from daxy.core.errors import visible
from daxy.core.imports import need
from daxy.languages.grounded import Command, Thing, referent, say
from daxy.worlds.grid import ACTIONS, STAY, GridCell, World

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
LETTERS = 15
"""Font size of the caption, in pixels."""
LEADING = 20
"""Pixels from one line of the caption to the next."""
MARGIN = 6
"""Pixels around the caption."""
NARROWEST = 288
"""Width of a picture with a caption in pixels, at least."""
INK, FAINT = "#1a1a1a", "#767676"
"""Colors of the caption, and of actions that are still to be done."""
CORNER = 0.24
"""Cells from the center of a cell to an agent that shares it with a thing, across and down."""
SHRUNK = 0.7
"""Size of that agent, relative to one that is alone."""
FINER = 4
"""A cell's side is drawn so many times as long, and then made smaller: edges come out smooth."""
FRAME, LAST_FRAME = 350, 1_400
"""Milliseconds that a frame of a film is shown for."""


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


class Film(bytes):
    """An animated GIF, which a notebook shows."""

    def _repr_html_(self) -> str:
        """Return an image for a notebook."""
        return f'<img alt="film of a world" src="data:image/gif;base64,{b64encode(self).decode()}">'


@dataclass(frozen=True, slots=True, kw_only=True)
class Caption:
    """The text below a picture."""

    command: str
    actions: Sequence[str] = ()
    label: str = ""
    """Text before the actions."""
    note: str = ""
    """Text below the actions."""
    done: int | None = None
    """How many actions are done, and emphasised; None: the picture is of no moment."""

    @property
    def pieces(self) -> Iterator[list[tuple[str, bool, str]]]:
        """The paragraphs, as pieces of text that stay on one line: text, is bold, color."""
        yield [(word, True, INK) for word in self.command.split()]
        actions = [f"{action}," for action in self.actions[:-1]] + [*self.actions[-1:]]
        states = (self.done is None or place < self.done for place in range(len(actions)))
        shown = [
            (action, self.done is not None and is_done, INK if is_done else FAINT)
            for action, is_done in zip(actions, states, strict=True)
        ]
        label = [(word, False, INK) for word in self.label.split()]
        yield [*label, *(shown or [("(no actions)", False, FAINT)])]
        if self.note:
            yield [(word, False, FAINT) for word in self.note.split()]


class Look(TypedDict, total=False):
    """What a picture shows besides its world."""

    marked: GridCell | None
    """The target's cell, which gets a frame."""
    path: Sequence[GridCell]
    """Cells that a line connects: the agent's path."""
    shades: Sequence[float]
    """A value from 0 to 1 for each cell, row by row; larger is darker. Shades grow with the square
    root, so that an even spread over many cells stays pale."""
    caption: Caption | None


def scene(world: World, **look: Unpack[Look]) -> Iterator[Form]:
    """Yield the shapes of a picture from back to front; see `Look`."""
    size, path, marked = world.size, look.get("path", ()), look.get("marked")
    yield _box(0, 0, size, size, PAPER, GRID)
    for place, shade in enumerate(look.get("shades", ())):
        row, column = divmod(place, size)
        yield _box(column, row, 1, 1, _gray(math.sqrt(shade)), GRID)
    for place in range(1, size):
        yield Line(((place, 0), (place, size)), GRID, 0.02)
        yield Line(((0, place), (size, place)), GRID, 0.02)
    if len(path) > 1:
        yield Line(tuple((column + 0.5, row + 0.5) for row, column in path), PATH, 0.05)
    for thing, (row, column) in world.placed:
        yield from _thing(thing, (column + 0.5, row + 0.5))
    yield _agent(world)
    if marked is not None:
        row, column = marked
        yield Line(_corners(column + 0.05, row + 0.05, 0.9, 0.9, closed=True), MARK, 0.06)


def svg(world: World, **look: Unpack[Look]) -> str:
    """Return a picture as an SVG document; see `Look`."""
    caption = look.get("caption")
    forms = "".join(map(_svg, scene(world, **look)))
    texts = list(_texts(caption, world.size * PIXELS)) if caption else []
    width, height = _size(world, texts, PIXELS)
    said = f"{caption.command}: {', '.join(caption.actions)}" if caption else "a world"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}"'
        f' viewBox="0 0 {width} {height}" role="img"><title>{escape(visible(said))}</title>'
        f'<rect width="{width}" height="{height}" fill="{PAPER}"/>'
        f'<g transform="scale({PIXELS})">{forms}</g>{"".join(map(_svg_text, texts))}</svg>\n'
    )


def demonstration(
    world: World,
    command: Command,
    actions: Sequence[str],
    kind: Kind = "svg",
    *,
    shades: Sequence[float] = (),
    label: str = "",
    note: str = "",
) -> bytes:
    """Return a picture of a command and actions: the target's frame, the agent's path, a caption.

    Args:
        world: The world at first.
        command: The command.
        actions: Actions of the agent; tokens that are no actions change nothing.
        kind: SVG, PNG, or an animated GIF.
        shades: See `Look`.
        label: See `Caption`.
        note: See `Caption`.

    Raises:
        NoReferent: the command refers to nothing in the world, or to more than one thing.
    """
    look = Look(
        marked=world.placed[referent(command.phrase, world.things)].cell,
        shades=shades,
        caption=Caption(command=" ".join(say(command)), actions=actions, label=label, note=note),
    )
    if kind == "gif":
        return gif(world, actions, **look)
    look["path"] = world.path(known(actions))
    return png(world, **look) if kind == "png" else svg(world, **look).encode()


def prediction(
    world: World,
    command: Command,
    actions: Sequence[str],
    target: Sequence[str],
    kind: Kind = "svg",
    *,
    shades: Sequence[float] = (),
) -> bytes:
    """Return a picture of a network's actions; the caption has the right ones too.

    Raises:
        NoReferent: see `demonstration`.
    """
    note = "right" if tuple(actions) == tuple(target) else f"target: {', '.join(target)}"
    look = {"label": "network:", "note": note}
    return demonstration(world, command, actions, kind, shades=shades, **look)


def image(world: World, *, pixels: int = PIXELS, **look: Unpack[Look]) -> Image:
    """Return a picture as pixels, with so many along the side of a cell; see `Look`."""
    need("PIL")
    from PIL import Image, ImageDraw

    caption = look.get("caption")
    texts = list(_texts(caption, world.size * pixels)) if caption else []
    width, height = _size(world, texts, pixels)
    canvas = Image.new("RGB", (width * FINER, height * FINER), PAPER)
    pen = ImageDraw.Draw(canvas)
    for form in scene(world, **look):
        _paint(pen, form, pixels * FINER)
    font = _font()
    for text in texts:
        bold = FINER // 4 if text.is_bold else 0
        place = (text.left * FINER, text.base * FINER)
        pen.text(place, text.words, text.color, font, anchor="ls", stroke_width=bold)
    return canvas.resize((width, height), Image.Resampling.BOX)


def in_rows(rows: Sequence[Sequence[Image]]) -> Image:
    """Return pictures of one width as one picture."""
    from PIL import Image

    across = rows[0][0].width + PIXELS // 2
    heights = [max(picture.height for picture in row) + PIXELS // 4 for row in rows]
    whole = Image.new("RGB", (across * len(rows[0]) - PIXELS // 2, sum(heights)), PAPER)
    for place, row in enumerate(rows):
        for column, picture in enumerate(row):
            whole.paste(picture, (across * column, sum(heights[:place])))
    return whole


def png(world: World, **look: Unpack[Look]) -> bytes:
    """Return a picture as a PNG file; see `Look`."""
    return _file(image(world, **look), "PNG")


def gif(world: World, actions: Sequence[str], **look: Unpack[Look]) -> Film:
    """Return an animated GIF with a frame before the first action and one after each; see `Look`.

    The target's frame follows the target, and the caption emphasises the actions that are done.
    """
    first, *others = _frames(world, actions, look)
    times = [FRAME] * len(others) + [LAST_FRAME]
    return Film(_file(first, "GIF", save_all=True, append_images=others, duration=times, loop=0))


def _frames(world: World, actions: Sequence[str], look: Look) -> Iterator[Image]:
    states = list(world.course(known(actions)))
    cells = [state.agent for state in states]
    marked, caption = look.get("marked"), look.get("caption")
    target = world.occupied[marked] if marked is not None else None
    for place, state in enumerate(states):
        moment = Look(**look)
        moment["path"] = cells[: place + 1]
        if target is not None:
            moment["marked"] = state.placed[target].cell
        if caption is not None:
            moment["caption"] = replace(caption, done=place)
        yield image(state, **moment)


def known(actions: Sequence[str]) -> list[str]:
    """Return actions, with one that changes nothing for each token that is none."""
    return [action if action in ACTIONS else STAY for action in actions]


@dataclass(frozen=True, slots=True)
class _Text:
    """Words on a line of the caption, in pixels."""

    words: str
    left: float
    base: float
    width: float
    is_bold: bool
    color: str


def _font() -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    """Return the font of captions, so many times as large as it will be."""
    from PIL import ImageFont

    return ImageFont.load_default(LETTERS * FINER)


def _length(words: str) -> float:
    """Return about how wide a text is, in pixels: SVG is written without a package of fonts."""
    return LETTERS * sum(
        0.27 if it in "fijlrt ,:.'()" else 0.83 if it in "mw" else 0.57 for it in words
    )


def _texts(caption: Caption, side: int) -> Iterator[_Text]:
    """Yield the texts of a caption below a grid of so many pixels, one for each style of a line."""
    pieces = _pieces(caption, side)
    for (base, is_bold, color), group in groupby(pieces, _style):
        first, *others = group
        last = others[-1] if others else first
        words = " ".join(piece.words for piece in (first, *others))
        width = last.left + last.width - first.left
        yield _Text(words, first.left, base, width, is_bold, color)


def _style(text: _Text) -> tuple[float, bool, str]:
    """Return the line of a text and how it is printed."""
    return text.base, text.is_bold, text.color


def _pieces(caption: Caption, side: int) -> Iterator[_Text]:
    """Yield the pieces of a caption, each where it stands."""
    space = _length(" ")
    right, base = max(side, NARROWEST) - MARGIN, side
    for paragraph in caption.pieces:
        left = 0.0
        for piece, is_bold, color in paragraph:
            words = visible(piece)
            width = _length(words)
            if not left or left + width > right:
                left, base = float(MARGIN), base + LEADING
            yield _Text(words, left, base, width, is_bold, color)
            left += width + space


def _size(world: World, texts: Sequence[_Text], pixels: int) -> tuple[int, int]:
    """Return the width and height of a picture in pixels."""
    side = world.size * pixels
    if not texts:
        return side, side
    return max(side, NARROWEST), round(texts[-1].base) + MARGIN + LEADING // 4


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
    """Return an arrowhead that points where the agent faces, in a corner if a thing is there."""
    row, column = world.agent
    is_shared = world.agent in world.occupied
    middle, scale = (0.5 + CORNER, SHRUNK) if is_shared else (0.5, 1.0)
    turn = world.heading * math.pi / 2
    cosine, sine = scale * math.cos(turn), scale * math.sin(turn)
    corners = ((0.36, 0.0), (-0.26, 0.26), (-0.12, 0.0), (-0.26, -0.26))
    points = (
        (
            column + middle + ahead * cosine - aside * sine,
            row + middle + ahead * sine + aside * cosine,
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


def _svg_text(text: _Text) -> str:
    # `textLength` holds the layout in any font that the viewer has.
    place = f'x="{text.left:.1f}" y="{text.base:.1f}" textLength="{text.width:.1f}"'
    weight = "bold" if text.is_bold else "normal"
    font = f'font-family="sans-serif" font-size="{LETTERS}" font-weight="{weight}"'
    style = f'{font} lengthAdjust="spacingAndGlyphs" fill="{text.color}"'
    return f"<text {place} {style}>{escape(text.words)}</text>"


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
