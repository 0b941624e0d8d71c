"""Pictures of worlds: every one can be drawn, and shows what is there."""

import io
from xml.etree import ElementTree

from hypothesis import given, settings
from PIL import Image
from tests.worlds.made import actions, worlds

from daxy.languages.grounded import SHAPES, Thing
from daxy.worlds import drawing
from daxy.worlds.grid import Cell, Placed, World


def tags(svg: str) -> list[str]:
    return [each.tag.rpartition("}")[2] for each in ElementTree.fromstring(svg)]


@settings(max_examples=30)
@given(worlds(), actions)
def test_any_world_can_be_drawn_with_any_path(world: World, actions: list[str]) -> None:
    path = world.path(actions)
    drawn = tags(drawing.svg(world, path=path, marked=world.agent))
    wanted = sum(
        {"circle": 1, "square": 1, "cylinder": 5}[thing.shape] for thing, _ in world.placed
    )
    lines = 2 * (world.size - 1) + 1 + (len(path) > 1)
    assert len(drawn) == 1 + lines + wanted + 1
    picture = drawing.image(world, path=path, marked=world.agent, pixels=8)
    assert picture.size == (8 * world.size, 8 * world.size)


def test_a_thing_has_its_color_and_is_larger_the_larger_it_is() -> None:
    sizes = list[int]()
    for shape in SHAPES:
        for size in (1, 4):
            thing = Thing(shape, "green", size)
            world = World(2, Cell(1, 1), (Placed(thing, Cell(0, 0)),))
            picture = drawing.image(world)
            colors = picture.getcolors(1 << 16)
            assert colors is not None
            red, green, blue = (int(drawing.FILL["green"][n : n + 2], 16) for n in (1, 3, 5))
            sizes.append({color: count for count, color in colors}[red, green, blue])
            assert picture.getpixel((32, 32)) == (red, green, blue)
    assert sizes[0] < sizes[1]
    assert sizes[2] < sizes[3]
    assert sizes[4] < sizes[5]


def test_the_agent_is_where_it_is_and_a_turn_shows() -> None:
    here, there = World(3, Cell(0, 0)), World(3, Cell(2, 2))
    pink = tuple(int(drawing.AGENT[n : n + 2], 16) for n in (1, 3, 5))
    assert drawing.image(here).getpixel((32, 32)) == pink
    assert drawing.image(there).getpixel((160, 160)) == pink
    assert drawing.svg(here) != drawing.svg(here.after("turn left"))


def test_the_more_a_cell_has_the_darker_it_is() -> None:
    world = World(2, Cell(1, 1))
    picture = drawing.image(world, shades=[0.0, 1 / 9, 1.0, 0.0])
    levels = [picture.getpixel(place) for place in ((32, 32), (96, 32), (32, 96))]
    assert levels == [(255, 255, 255), (210, 210, 210), (120, 120, 120)]
    assert drawing.svg(world, shades=[0.0] * 4).count("#ffffff") == 5


def test_what_is_spread_evenly_over_many_cells_is_hardly_seen() -> None:
    picture = drawing.image(World(6, Cell(5, 5)), shades=[1 / 36] * 36)
    assert picture.getpixel((32, 32))[0] > 230


def test_a_film_has_a_frame_for_each_state() -> None:
    world = World(3, Cell(0, 0))
    film = Image.open(io.BytesIO(drawing.gif(world, ["walk", "turn right", "walk"])))
    assert film.format == "GIF"
    assert getattr(film, "n_frames", 1) == 4
    assert Image.open(io.BytesIO(drawing.png(world))).size == (192, 192)


def test_a_notebook_shows_the_picture() -> None:
    world = World(3, Cell(0, 0))
    assert world._repr_svg_() == drawing.svg(world)


def test_words_stand_below_each_picture_and_are_no_wider() -> None:
    picture = drawing.image(World(3, Cell(0, 0)))
    side = picture.width
    few, many = "walk to a circle", "push a red small square while zigzagging " * 3
    whole = drawing.in_rows([[(picture, many.strip()), (picture, few)]] * 2).convert("L")
    assert (whole.width > 2 * side, whole.height > 2 * side) == (True, True)
    gap = whole.width - 2 * side
    assert whole.crop((side, 0, side + gap, whole.height)).getextrema() == (255, 255)
    each = whole.height // 2
    for row in (0, each):
        deep, shallow = (
            whole.crop((left, row + side, left + side, row + each)).point(lambda it: 255 - it)
            for left in (0, side + gap)
        )
        boxes = shallow.getbbox(), deep.getbbox()
        assert boxes[0] is not None
        assert boxes[1] is not None
        assert boxes[0][3] + drawing.LETTERS < boxes[1][3] < each - side
