"""Pictures of a world in the style of Figures 2 and 7 of Ruis et al. (2020).

A picture is a list of shapes in units of a cell, from back to front, and a caption. `svg` renders
it here, and `daxy.worlds.raster` as pixels. A thing of size 4 fills most of its cell.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby
from typing import TypedDict, Unpack

from daxy.core.errors import visible
from daxy.languages.grounded import Command, Thing, referent, say
from daxy.worlds.grid import ACTIONS, STAY, Grid, GridCell

Point = tuple[float, float]
"""Horizontal and vertical position in cells."""

FILL = {"red": "#d7263d", "green": "#2e933c", "yellow": "#f4c20d", "blue": "#2464c4"}
GRID, PAPER, EDGE, AGENT, PATH, MARK = (
    *("#c8c8c8", "#ffffff", "#333333", "#e88fb4", "#8a8a8a", "#f08a24"),
)
PIXELS = 64
"""Default length of a cell's side."""
LETTERS = 15
"""Font size of the caption, in pixels."""
LEADING = 20
"""Pixels from one line of the caption to the next."""
MARGIN = 6
"""Pixels around the caption."""
NARROWEST = 288
"""Width of a picture with a caption in pixels, at least."""
INK, FAINT = "#1a1a1a", "#767676"
"""Colors of the caption and of pending actions."""
CORNER = 0.24
"""Offset in cells of an agent that shares its cell with a thing."""
SHRUNK = 0.7
"""Relative size of that agent."""


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
    """Number of done actions, which are emphasised; None: no emphasis."""

    @property
    def pieces(self) -> Iterator[list[tuple[str, bool, str]]]:
        """Paragraphs as unbreakable pieces: text, is bold, color."""
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
    """Options of a picture."""

    marked: GridCell | None
    """Cell with a frame: the target's."""
    path: Sequence[GridCell]
    """Cells of the agent's path, drawn as a line."""
    shades: Sequence[float]
    """A value from 0 to 1 for each cell, row by row; larger is darker, by the square root."""
    caption: Caption | None


def scene(world: Grid, **look: Unpack[Look]) -> Iterator[Form]:
    """Yield the shapes of a picture from back to front."""
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


def demonstration_look(
    world: Grid,
    command: Command,
    actions: Sequence[str],
    *,
    shades: Sequence[float] = (),
    label: str = "",
    note: str = "",
) -> Look:
    """Return the look of a command and actions: the target's frame, the agent's path, a caption.

    Args:
        world: The initial world.
        command: The command.
        actions: Actions of the agent; other tokens have no effect.
        shades: See `Look`.
        label: See `Caption`.
        note: See `Caption`.

    Raises:
        NoReferent: the command refers to nothing in the world, or to more than one thing.
    """
    return Look(
        marked=world.placed[referent(command.phrase, world.things)].cell,
        shades=shades,
        caption=Caption(command=" ".join(say(command)), actions=actions, label=label, note=note),
        path=world.path(valid_actions(actions)),
    )


def prediction_look(
    world: Grid,
    command: Command,
    actions: Sequence[str],
    target: Sequence[str],
    *,
    shades: Sequence[float] = (),
) -> Look:
    """Return the look of a network's actions; the caption has the target, too.

    Raises:
        NoReferent: see `demonstration_look`.
    """
    note = "right" if tuple(actions) == tuple(target) else f"target: {', '.join(target)}"
    about = {"label": "network:", "note": note}
    return demonstration_look(world, command, actions, shades=shades, **about)


def svg(world: Grid, **look: Unpack[Look]) -> str:
    """Return a picture as an SVG document."""
    caption = look.get("caption")
    forms = "".join(map(_svg, scene(world, **look)))
    texts = list(caption_texts(caption, world.size * PIXELS)) if caption else []
    width, height = picture_size(world, texts, PIXELS)
    title = f"{caption.command}: {', '.join(caption.actions)}" if caption else "a world"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}"'
        f' viewBox="0 0 {width} {height}" role="img"><title>{escape(visible(title))}</title>'
        f'<rect width="{width}" height="{height}" fill="{PAPER}"/>'
        f'<g transform="scale({PIXELS})">{forms}</g>{"".join(map(_svg_text, texts))}</svg>\n'
    )


def valid_actions(actions: Sequence[str]) -> list[str]:
    """Return actions with `stay` in place of tokens that are no actions."""
    return [action if action in ACTIONS else STAY for action in actions]


@dataclass(frozen=True, slots=True)
class Text:
    """Words on a line of the caption; lengths in pixels."""

    words: str
    left: float
    base: float
    width: float
    is_bold: bool
    color: str


def _length(words: str) -> float:
    return LETTERS * sum(
        0.27 if it in "fijlrt ,:.'()" else 0.83 if it in "mw" else 0.57 for it in words
    )


def caption_texts(caption: Caption, side: int) -> Iterator[Text]:
    """Yield the texts of a caption below a grid with this side, one for each style of a line."""
    pieces = _pieces(caption, side)
    for (base, is_bold, color), group in groupby(
        pieces, lambda it: (it.base, it.is_bold, it.color)
    ):
        first, *others = group
        last = others[-1] if others else first
        words = " ".join(piece.words for piece in (first, *others))
        width = last.left + last.width - first.left
        yield Text(words, first.left, base, width, is_bold, color)


def _pieces(caption: Caption, side: int) -> Iterator[Text]:
    """Yield the pieces of a caption with their positions."""
    space = _length(" ")
    right, base = max(side, NARROWEST) - MARGIN, side
    for paragraph in caption.pieces:
        left = 0.0
        for piece, is_bold, color in paragraph:
            words = visible(piece)
            width = _length(words)
            if not left or left + width > right:
                left, base = float(MARGIN), base + LEADING
            yield Text(words, left, base, width, is_bold, color)
            left += width + space


def picture_size(world: Grid, texts: Sequence[Text], pixels: int) -> tuple[int, int]:
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


def _agent(world: Grid) -> Polygon:
    """Return an arrowhead in the agent's heading, in the corner of an occupied cell."""
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


def _svg_text(text: Text) -> str:
    # `textLength` holds the layout in any font that the viewer has.
    place = f'x="{text.left:.1f}" y="{text.base:.1f}" textLength="{text.width:.1f}"'
    weight = "bold" if text.is_bold else "normal"
    font = f'font-family="sans-serif" font-size="{LETTERS}" font-weight="{weight}"'
    style = f'{font} lengthAdjust="spacingAndGlyphs" fill="{text.color}"'
    return f"<text {place} {style}>{escape(text.words)}</text>"
