"""A look at what a memory does: which number stands where, in the picture and beside it."""

import io
from typing import Any

import numpy as np
import pytest

from daxy.models import memories
from daxy.models.decoding.memory_trace import MemoryTrace
from daxy.report.alignment import Alignment, draw
from daxy.report.memory_plot import MemoryPlot

TOKENS = ["<s>", "a", "|||", "b"]
STRENGTHS = {
    "stack": {"pop": (0, 0), "push": (0, 1)},
    "queue": {"pop": (0, 0), "push": (0, 1)},
    "deque": {
        "top pop": (0, 0),
        "top push": (0, 1),
        "bottom pop": (1, 0),
        "bottom push": (1, 1),
    },
    "superposition": {"push": (0, 0), "pop": (0, 1), "keep": (0, 2)},
}
"""What each operation of a memory is called, and at which end and in which place it stands."""

every_memory = pytest.mark.parametrize("name", STRENGTHS)


def look(name: str) -> tuple[MemoryPlot, Any, Any, Any]:
    """Return a look at four steps, all of whose numbers differ, and those numbers.

    They are the shares, [steps, ends, actions], how much of what each step put in is held,
    [steps, steps], and how much of it is read at each end, [ends, steps, steps].
    """
    kind, draw = memories.get(name), np.random.default_rng(0)
    shares = draw.random((4, kind.ends, len(kind.actions)))
    reads, held = draw.random((4, kind.ends, 4 * kind.ends)), draw.random((4, 4 * kind.ends))
    own = MemoryPlot.of(kind, ["a"], ["b"], MemoryTrace(shares, reads, held))
    # What the first step put in at each end stands first, then what the second did.
    reads, held = (
        sum(each[..., n :: kind.ends] for n in range(kind.ends)) for each in (reads, held)
    )
    return own, shares, held, np.moveaxis(reads, 1, 0)


@every_memory
def test_a_picture_has_a_panel_for_the_strengths_of_each_end_what_is_held_and_each_read(
    name: str,
) -> None:
    panels = look(name)[0].figure.axes
    ends = [" top", " bottom"] if name == "deque" else [""]
    assert [axes.get_ylabel().replace(",\npushed at", "") for axes in panels] == [
        *(f"strength{end}" for end in ends),
        "in memory",
        "contents of the memory",
        *(f"read{end}" for end in ends),
    ]
    named = [axis.get_ticklabels() for axis in (panels[-1].xaxis, panels[-1].yaxis)]
    assert [[text.get_text() for text in axis] for axis in named] == [TOKENS, TOKENS]


@pytest.mark.parametrize(("steps", "named"), [(60, 60), (61, 31), (120, 60)])
def test_every_step_has_a_name_where_there_is_room(steps: int, named: int) -> None:
    shapes = (steps, 1, 2), (steps, 1, steps), (steps, steps)
    inside = MemoryTrace(*map(np.zeros, shapes))
    own = MemoryPlot.of(memories.get("stack"), ["a"] * (steps - 3), ["b"], inside)
    assert len(own.figure.axes[-1].get_xticks()) == named


def test_a_dollar_sign_is_drawn_as_it_is() -> None:
    """In a picture two of them would stand for a formula."""
    stack = memories.get("stack")
    inside = MemoryTrace(np.zeros((4, 1, 2)), np.zeros((4, 1, 4)), np.zeros((4, 4)))
    figures = [
        MemoryPlot.of(stack, ["$x_$"], ["$^$"], inside).figure,
        draw([Alignment(("$x_$",), ("$^$",), np.ones((1, 1), np.float32))]),
    ]
    for figure in figures:
        figure.savefig(io.BytesIO(), format="png")


@every_memory
def test_a_picture_draws_the_share_of_each_operation_and_how_much_is_there(name: str) -> None:
    own, shares, held, _ = look(name)
    panels = own.figure.axes
    for operation, (end, place) in STRENGTHS[name].items():
        steps = {patch.get_label(): patch for patch in panels[end].patches}
        drawn = steps[operation.split()[-1]].get_data()
        np.testing.assert_array_equal(drawn.values, shares[:, end, place])
        # Each step is as wide as its cells in the maps below.
        np.testing.assert_array_equal(drawn.edges, np.arange(5) - 0.5)
    (area,) = panels[own.memory.ends].patches
    np.testing.assert_allclose(area.get_data().values, held.sum(axis=1))


@every_memory
def test_a_picture_maps_what_is_held_and_read_from_left_to_right_on_what_was_put_in_from_below(
    name: str,
) -> None:
    own, _, held, reads = look(name)
    maps = own.figure.axes[own.memory.ends + 1 :]
    for axes, after_step in zip(maps, [held, *reads], strict=True):
        (image,) = axes.images
        assert image.origin == "lower"
        for step, put_in in np.ndindex(4, 4):
            shown = image.get_array()[put_in, step]
            assert shown == pytest.approx(after_step[step, put_in])


@every_memory
def test_the_same_is_told_by_name_and_in_lines(name: str) -> None:
    own, shares, held, reads = look(name)
    told, (_, *lines) = own.as_json, own.lines
    assert told["tokens"] == TOKENS
    expected = {each: shares[:, *place] for each, place in STRENGTHS[name].items()}
    assert list(told["strengths"]) == list(expected)
    for each, strengths in expected.items():
        np.testing.assert_allclose(told["strengths"][each], strengths, atol=5.1e-5)
    np.testing.assert_allclose(told["contents"], held, atol=5.1e-5)
    assert list(told["reads"]) == (["top", "bottom"] if name == "deque" else ["read"])
    np.testing.assert_allclose(list(told["reads"].values()), reads, atol=5.1e-5)
    for step, line in enumerate(lines):
        most = [int(np.argmax(read[step])) for read in reads]
        ending = [
            f"{TOKENS[place]} ({place}) {read[step, place]:.2f}"
            for place, read in zip(most, reads, strict=True)
        ]
        assert line.endswith("  ".join([f"{held[step].sum():4.1f}", *ending]))
    assert len(lines) == len(TOKENS)
