"""Pictures of parses: a node's children stand side by side below it."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from daxy.core.errors import require, visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Tree = Mapping[str, Any]
"""A node: its `label`, and the nodes `below` it."""

LETTER, GAP, LEVEL = 0.085, 0.3, 0.5
"""Inches of a letter, between two labels, and of a level of the tree."""
WIDEST_TEXT, LINE = 4.5, 0.17
"""Inches of a line below a tree across, at most, and down."""
ACROSS = 4
"""Panels side by side, at most."""
MOST = 1_000
"""Nodes of a picture, at most."""


@dataclass(slots=True)
class Node:
    """A label in its place."""

    label: str
    depth: int
    parent: int
    """Position of the parent in the list of nodes; the root is its own."""
    width: float = 0.0
    """Inches that the node and everything below it take."""
    center: float = 0.0
    """Inches from the left."""


def placed(tree: Tree) -> list[Node]:
    """Return the nodes of a tree, parents first, so that no two labels overlap."""
    nodes, waiting = list[Node](), [(tree, 0, 0)]
    while waiting:
        this, depth, parent = waiting.pop()
        here = len(nodes)
        nodes.append(Node(visible(str(this["label"])), depth, parent))
        waiting += [(child, depth + 1, here) for child in reversed(this["children"])]
    below = [0.0] * len(nodes)
    for place in range(len(nodes) - 1, -1, -1):
        node = nodes[place]
        node.width = max(LETTER * len(node.label) + GAP, below[place])
        if place:
            below[node.parent] += node.width
    left = [0.0] * len(nodes)
    for place, node in enumerate(nodes):
        start = left[node.parent] if place else 0.0
        node.center = start + node.width / 2
        if place:
            left[node.parent] += node.width
        left[place] = start + (node.width - below[place]) / 2
    return nodes


def draw(trees: Sequence[tuple[Tree, str]]) -> Figure:
    """Return a picture of trees, each with a text below it.

    Raises:
        WrongRequest: the trees have too many nodes to be seen.
    """
    from matplotlib.figure import Figure

    panels = [placed(tree) for tree, _ in trees]
    count = sum(map(len, panels))
    require(count <= MOST, f"a parse of {count:,} nodes is too large to draw; at most {MOST:,}")
    across = min(ACROSS, len(panels))
    longest = max(len(text) for _, text in trees)
    text_width = min(WIDEST_TEXT, LETTER * longest + GAP)
    wide = max(text_width, *(nodes[0].width for nodes in panels))
    texts = [_wrapped(text, wide) for _, text in trees]
    high = LEVEL * (1.6 + max(node.depth for nodes in panels for node in nodes))
    high += LINE * max(text.count("\n") + 1 for text in texts)
    rows = -(-len(panels) // across)
    figure = Figure(figsize=(wide * across, high * rows))
    figure.subplots_adjust(left=0, right=1, bottom=0, top=1, wspace=0, hspace=0)
    every = figure.subplots(rows, across, squeeze=False).ravel()
    for axes in every:
        axes.set_axis_off()
        axes.set_xlim(0, wide)
        axes.set_ylim(-high, 0)
    for axes, nodes, text in zip(every, panels, texts, strict=False):
        _draw(axes, nodes, text, (wide - nodes[0].width) / 2)
    return figure


def _draw(axes: Axes, nodes: Sequence[Node], text: str, left: float) -> None:
    for node in nodes:
        x, y = _point(node, left)
        if node.depth:
            above, top = _point(nodes[node.parent], left)
            axes.plot([above, x], [top - 0.1, y + 0.1], color="0.6", linewidth=1, zorder=0)
        # A dollar sign is a letter like any other.
        axes.text(x, y, node.label, ha="center", va="center", fontsize=10, parse_math=False)
    low = -LEVEL * (1.2 + max(node.depth for node in nodes))
    middle = sum(axes.get_xlim()) / 2
    axes.text(middle, low, text, ha="center", va="top", fontsize=9, color="0.35", parse_math=False)


def _point(node: Node, left: float) -> tuple[float, float]:
    return left + node.center, -LEVEL * (node.depth + 0.5)


def _wrapped(text: str, wide: float) -> str:
    return "\n".join(textwrap.wrap(visible(text), max(1, round((wide - GAP) / LETTER))))
