"""gSCAN in its authors' format, written example by example; `gscan_json` reads it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from daxy.core.examples import Examples, Tokens
from daxy.core.files import write_atomically
from daxy.formats._gscan_vectors import RELEASED, Order, order_of, vector
from daxy.formats._gscan_words import command_words, direction
from daxy.languages.grounded import COLORS, SIZES
from daxy.worlds.columns import code_of, worlds_of
from daxy.worlds.grid import GridCell, Placed
from daxy.worlds.world import World

ColorOrder = Literal["generator", "released"]
"""Order of the bits of colors: that of the authors' generator or of their released files."""

NOUNS = ("square", "cylinder", "circle")
COLORS_OF: Mapping[ColorOrder, Sequence[str]] = {"generator": COLORS, "released": RELEASED}
PARTS: Mapping[str, str] = {
    "train": "train",
    "validation": "dev",
    "A": "test",
    **{"C": "visual", "D": "situational_1", "E": "situational_2", "F": "contextual"},
    **{"G": "adverb_1", "H": "adverb_2", "B": "visual_easier", "I": "target_lengths"},
}
"""Official names of the parts by daxy's, in the order of the files."""
ADVERBS = ("cautiously", "while spinning", "hesitantly", "while zigzagging")


def write(
    path: Path,
    parts: Mapping[str, Examples],
    header: Mapping[str, Any],
    vectors: ColorOrder = "generator",
) -> None:
    """Write a file as the authors' generator does, with fewer spaces.

    Args:
        path: The file.
        parts: Examples by official names of parts.
        header: The other fields; see `header`.
        vectors: Order of the bits of colors.

    Raises:
        RunFailed: the file cannot be written.
    """
    writer = _Writer(order_of(NOUNS, COLORS_OF[vectors]))
    before, after = json.dumps(dict(header) | {"examples": None}).split('"examples": null')

    def fill(temporary: Path) -> None:
        with temporary.open("w", encoding="utf-8") as file:
            file.write(f'{before}"examples": {{')
            for place, (name, examples) in enumerate(parts.items()):
                file.write(f'{", " * (place > 0)}"{name}": [')
                rows = zip(examples.source, examples.target, worlds_of(examples), strict=True)
                for number, row in enumerate(rows):
                    file.write(f"{', ' * (number > 0)}{writer.text(*row)}")
                file.write("]")
            file.write(f"}}{after}")

    write_atomically(path, fill)


def header(
    grid: int, kind: str, train_fraction: float, vectors: ColorOrder = "generator"
) -> dict[str, Any]:
    """Return the header of a file.

    Args:
        grid: Cells along a side.
        kind: The authors' set type.
        train_fraction: Share of train in the examples that no test holds out.
        vectors: Order of the bits of colors.
    """
    colors = COLORS_OF[vectors]
    adverbs = ADVERBS if kind == "adverb" else ()
    moving = () if kind == "simple_intrans" else ("pull", "push")
    rules = ["ROOT -> VP", *["VP -> VP RB"] * (kind == "adverb"), "VP -> VV_intrans 'to' DP"]
    rules += ["VP -> VV_trans DP"] * bool(moving)
    rules += ["DP -> 'a' NP", "NP -> JJ NP", "NP -> NN", "VV_intransitive -> walk"]
    rules += ["VV_transitive -> pull", "VV_transitive -> push"]
    rules += [f"RB -> {word}" for word in adverbs]
    rules += [f"NN -> {word}" for word in NOUNS]
    rules += [f"JJ -> {word}" for word in (*colors, "big", "small")]
    words = {
        "intransitive_verbs": ("walk",),
        "transitive_verbs": moving,
        "nouns": NOUNS,
        "adverbs": adverbs,
        "color_adjectives": colors,
        "size_adjectives": ("big", "small"),
    }
    return {
        "grid_size": grid,
        "type_grammar": kind,
        "grammar": "".join(f"{rule};" for rule in rules),
        "min_object_size": SIZES[0],
        "max_object_size": SIZES[-1],
        "max_recursion": 1,
        "percentage_train": train_fraction,
        "examples": None,
        **{name: {word: word for word in each} for name, each in words.items()},
    }


@dataclass(frozen=True)
class _Writer:
    order: Order
    objects: dict[Placed, str] = field(default_factory=dict[Placed, str])

    def text(self, source: Tokens, target: Tokens, world: World) -> str:
        """Return an example as JSON."""
        command = ",".join(source)
        words = command_words(command)
        things = [self._object(each) for each in world.placed]
        cell, agent = world.target.cell, world.agent
        rows, columns = cell.row - agent.row, cell.column - agent.column
        placed = ", ".join(f'"{number}": {thing}' for number, thing in enumerate(things))
        return (
            f'{{"command": "{command}", "meaning": "{command}", "derivation": "{words.derivation}",'
            f' "situation": {{"grid_size": {world.size}, "agent_position": {_position(agent)},'
            f' "agent_direction": {world.heading}, "target_object": {things[0]},'
            f' "distance_to_target": "{abs(rows) + abs(columns)}",'
            f' "direction_to_target": "{direction(rows, columns)}",'
            f' "placed_objects": {{{placed}}}, "carrying_object": null}},'
            f' "target_commands": "{",".join(target)}", "verb_in_command": "{words.verb}",'
            f' "manner": "{words.manner}", "referred_target": "{words.referred}"}}'
        )

    def _object(self, placed: Placed) -> str:
        if placed not in self.objects:
            shape, color, size = placed.thing
            bits = vector(code_of(placed.thing), self.order)
            words = f'{{"shape": "{shape}", "color": "{color}", "size": "{size}"}}'
            position = f'"position": {_position(placed.cell)}'
            self.objects[placed] = f'{{"vector": "{bits}", {position}, "object": {words}}}'
        return self.objects[placed]


def _position(cell: GridCell) -> str:
    return f'{{"row": "{cell.row}", "column": "{cell.column}"}}'
