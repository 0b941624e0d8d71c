"""Pictures of a world as pixels: PNG files and animated GIFs."""

from __future__ import annotations

import io
from base64 import b64encode
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Unpack

from daxy.core.imports import MissingPackage
from daxy.worlds.drawing import (
    LETTERS,
    PAPER,
    PIXELS,
    Ellipse,
    Form,
    Line,
    Look,
    caption_texts,
    picture_size,
    scene,
    valid_actions,
)
from daxy.worlds.grid import Grid

try:
    from PIL import Image, ImageDraw, ImageFont
except ModuleNotFoundError as error:
    raise MissingPackage("PIL") from error

FINER = 4
"""Factor of supersampling, for smooth edges."""
FRAME, LAST_FRAME = 350, 1_400
"""Milliseconds of a frame and of the last frame."""


class Film(bytes):
    """An animated GIF, which a notebook shows."""

    def _repr_html_(self) -> str:
        return f'<img alt="film of a world" src="data:image/gif;base64,{b64encode(self).decode()}">'


def image(world: Grid, *, pixels: int = PIXELS, **look: Unpack[Look]) -> Image.Image:
    """Return a picture as pixels; `pixels` is the length of a cell's side."""
    caption = look.get("caption")
    texts = list(caption_texts(caption, world.size * pixels)) if caption else []
    width, height = picture_size(world, texts, pixels)
    canvas = Image.new("RGB", (width * FINER, height * FINER), PAPER)
    pen = ImageDraw.Draw(canvas)
    for form in scene(world, **look):
        _paint(pen, form, pixels * FINER)
    font = ImageFont.load_default(LETTERS * FINER)
    for text in texts:
        bold = FINER // 4 if text.is_bold else 0
        place = (text.left * FINER, text.base * FINER)
        pen.text(place, text.words, text.color, font, anchor="ls", stroke_width=bold)
    return canvas.resize((width, height), Image.Resampling.BOX)


def in_rows(rows: Sequence[Sequence[Image.Image]]) -> Image.Image:
    """Return pictures of one width, arranged in rows."""
    across = rows[0][0].width + PIXELS // 2
    heights = [max(picture.height for picture in row) + PIXELS // 4 for row in rows]
    whole = Image.new("RGB", (across * len(rows[0]) - PIXELS // 2, sum(heights)), PAPER)
    for place, row in enumerate(rows):
        for column, picture in enumerate(row):
            whole.paste(picture, (across * column, sum(heights[:place])))
    return whole


def png(world: Grid, **look: Unpack[Look]) -> bytes:
    """Return a picture as a PNG file."""
    return _file(image(world, **look), "PNG")


def gif(world: Grid, actions: Sequence[str], **look: Unpack[Look]) -> Film:
    """Return an animated GIF with a frame before the first action and one after each.

    The target's frame follows the target, and the caption emphasises the actions that are done.
    """
    first, *others = _frames(world, actions, look)
    times = [FRAME] * len(others) + [LAST_FRAME]
    return Film(_file(first, "GIF", save_all=True, append_images=others, duration=times, loop=0))


def _frames(world: Grid, actions: Sequence[str], look: Look) -> Iterator[Image.Image]:
    states = list(world.course(valid_actions(actions)))
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


def _paint(pen: ImageDraw.ImageDraw, form: Form, scale: int) -> None:
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


def _file(picture: Image.Image, kind: str, **options: object) -> bytes:
    content = io.BytesIO()
    picture.save(content, kind, **options)
    return content.getvalue()
