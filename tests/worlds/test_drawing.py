"""Pictures of worlds: every one can be drawn, and shows what is there."""

import io
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from PIL import Image
from tests.worlds.made import actions, worlds

from daxy.core.examples import Example
from daxy.languages.grounded import SHAPES, SIZES, Thing, parse
from daxy.worlds import drawing, raster
from daxy.worlds.grid import HEADINGS, GridCell, Placed
from daxy.worlds.world import World

COMMAND = "push a red small circle cautiously"


def shapes(svg: str) -> list[ElementTree.Element]:
    (group,) = ElementTree.fromstring(svg).iterfind("{*}g")
    return list(group)


def texts(svg: str) -> list[str]:
    return [text.text or "" for text in ElementTree.fromstring(svg).iterfind("{*}text")]


def rgb(color: str) -> tuple[int, ...]:
    return tuple(int(color[place : place + 2], 16) for place in (1, 3, 5))


def pixels_of(picture: Image.Image, color: str) -> int:
    """Return how many pixels have exactly this color."""
    return int((np.asarray(picture) == rgb(color)).all(axis=-1).sum())


@settings(max_examples=30)
@given(worlds(), actions)
def test_any_world_can_be_drawn_with_any_path(world: World, actions: list[str]) -> None:
    path = world.path(actions)
    drawn = shapes(drawing.svg(world, path=path, marked=world.agent))
    wanted = sum(
        {"circle": 1, "square": 1, "cylinder": 5}[thing.shape] for thing, _ in world.placed
    )
    lines = 2 * (world.size - 1) + 1 + (len(path) > 1)
    assert len(drawn) == 1 + lines + wanted + 1
    picture = raster.image(world, path=path, marked=world.agent, pixels=8)
    assert picture.size == (8 * world.size, 8 * world.size)


def test_a_thing_has_its_color_and_is_larger_the_larger_it_is() -> None:
    sizes = list[int]()
    for shape in SHAPES:
        for size in (1, 4):
            thing = Thing(shape, "green", size)
            world = World(2, GridCell(1, 1), (Placed(thing, GridCell(0, 0)),))
            picture = raster.image(world)
            sizes.append(pixels_of(picture, drawing.FILL["green"]))
            assert picture.getpixel((32, 32)) == rgb(drawing.FILL["green"])
    assert sizes[0] < sizes[1]
    assert sizes[2] < sizes[3]
    assert sizes[4] < sizes[5]


def test_the_agent_is_where_it_is_and_a_turn_shows() -> None:
    here, there = World(3, GridCell(0, 0)), World(3, GridCell(2, 2))
    assert raster.image(here).getpixel((32, 32)) == rgb(drawing.AGENT)
    assert raster.image(there).getpixel((160, 160)) == rgb(drawing.AGENT)
    assert drawing.svg(here) != drawing.svg(here.after("turn left"))


def test_the_more_a_cell_has_the_darker_it_is() -> None:
    world = World(2, GridCell(1, 1))
    picture = raster.image(world, shades=[0.0, 1 / 9, 1.0, 0.0])
    levels = [picture.getpixel(place) for place in ((32, 32), (96, 32), (32, 96))]
    assert levels == [(255, 255, 255), (210, 210, 210), (120, 120, 120)]
    cells = shapes(drawing.svg(world, shades=[0.0] * 4))
    assert [cell.get("fill") for cell in cells].count("#ffffff") == 5


def test_what_is_spread_evenly_over_many_cells_is_hardly_seen() -> None:
    picture = raster.image(World(6, GridCell(5, 5)), shades=[1 / 36] * 36)
    assert picture.getpixel((32, 32))[0] > 230


def test_a_film_has_a_frame_for_each_state() -> None:
    world = World(3, GridCell(0, 0))
    film = Image.open(io.BytesIO(raster.gif(world, ["walk", "turn right", "walk"])))
    assert film.format == "GIF"
    assert getattr(film, "n_frames", 1) == 4
    assert Image.open(io.BytesIO(raster.png(world))).size == (192, 192)


def test_a_notebook_shows_the_picture() -> None:
    world = World(3, GridCell(0, 0))
    assert world._repr_svg_() == drawing.svg(world)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("shape", SHAPES)
def test_an_agent_and_the_target_below_it_are_both_visible(shape: str, size: int) -> None:
    thing = Placed(Thing(shape, "red", size), GridCell(0, 0))
    alone = pixels_of(raster.image(World(2, GridCell(1, 1), (thing,))), drawing.FILL["red"])
    for heading in range(len(HEADINGS)):
        shared = World(2, GridCell(0, 0), (thing,), heading)
        picture = raster.image(shared, marked=GridCell(0, 0))
        frame = pixels_of(
            raster.image(World(2, GridCell(1, 1)), marked=GridCell(0, 0)), drawing.MARK
        )
        assert pixels_of(picture, drawing.FILL["red"]) > 0.75 * alone
        assert pixels_of(picture, drawing.AGENT) > 80
        assert pixels_of(picture, drawing.MARK) == frame


@settings(max_examples=10, deadline=None)
@given(worlds(), actions)
def test_the_caption_has_the_command_and_all_actions(world: World, actions: list[str]) -> None:
    caption = drawing.Caption(command=COMMAND, actions=actions)
    said = texts(drawing.svg(world, caption=caption))
    assert " ".join(said) == f"{COMMAND} {', '.join(actions) or '(no actions)'}"
    plain, captioned = raster.image(world), raster.image(world, caption=caption)
    assert captioned.crop((0, 0, *plain.size)).tobytes() == plain.tobytes()
    below = np.asarray(captioned.convert("L"))[plain.height + 1 :]
    assert (below < 128).any()
    assert (below[:, -1] == 255).all()
    assert (below[-1] == 255).all()


def test_a_film_emphasises_the_actions_that_are_done_and_frames_the_moving_target() -> None:
    circle = Placed(Thing("circle", "red", 1), GridCell(0, 1))
    world = World(3, GridCell(0, 0), (circle,))
    done = ["walk", "push", "turn left"]
    command = parse("push a red circle".split())
    film = Image.open(
        io.BytesIO(raster.gif(world, done, **drawing.demonstration_look(world, command, done)))
    )
    dark, corners = list[int](), list[tuple[int, int]]()
    for place in range(4):
        film.seek(place)
        frame = np.asarray(film.convert("RGB"), np.int64)
        dark.append(int((frame[192 + drawing.LEADING + 5 :].sum(axis=-1) < 200).sum()))
        rows, columns = np.nonzero(np.abs(frame - rgb(drawing.MARK)).sum(axis=-1) < 20)
        corners.append((int(rows.min()) // 64, int(columns.min()) // 64))
    assert dark == sorted(set(dark))
    assert corners == [(0, 1), (0, 1), (0, 2), (0, 2)]


def test_an_example_with_any_words_and_any_target_has_a_picture_that_shows_them() -> None:
    world = World(2, GridCell(0, 0))
    for source, target in ((("<b>", "&"), ("fly\x1b", "walk")), (tuple(COMMAND.split()), ())):
        said = " ".join(texts(Example("", source, target, world)._repr_svg_()))
        assert said.startswith(" ".join(source))
        assert ("fly\\x1b, walk" if target else "(no actions)") in said


def test_pictures_stand_in_rows_with_room_between_them() -> None:
    world = World(5, GridCell(0, 0))
    long = drawing.Caption(command=COMMAND, actions=["turn left"] * 40)
    pictures = [raster.image(world, caption=it) for it in (long, drawing.Caption(command=COMMAND))]
    whole = raster.in_rows([pictures, pictures[::-1]])
    left, right = pictures
    assert whole.crop((0, 0, *left.size)).tobytes() == left.tobytes()
    start = whole.width - right.width
    assert start > left.width
    assert whole.crop((start, 0, whole.width, right.height)).tobytes() == right.tobytes()
    assert whole.height > 2 * left.height
