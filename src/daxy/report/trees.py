"""Figures of parse trees."""

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
"""A node: its `label` and its `children`."""

LETTER, GAP, LEVEL = 0.085, 0.3, 0.5
"""Width of a letter, gap between labels and height of a level, in inches."""
WIDEST_TEXT, LINE = 4.5, 0.17
"""Maximum width and height of a line of text below a tree, in inches."""
MAX_COLUMNS = 4
"""Maximum number of trees in a row."""
MAX_NODES = 1_000
"""Maximum number of nodes in a figure."""


@dataclass(slots=True)
class Node:
    """A node of a tree with its position."""

    label: str
    depth: int
    parent: int
    """Index of the parent in the list of nodes; the root is its own."""
    width: float = 0.0
    """Width of the node and everything below it, in inches."""
    center: float = 0.0
    """Distance from the left, in inches."""


def placed(tree: Tree) -> list[Node]:
    """Return the nodes of a tree, parents first, so that no two labels overlap."""
    nodes, stack = list[Node](), [(tree, 0, 0)]
    while stack:
        subtree, depth, parent = stack.pop()
        stack += [(child, depth + 1, len(nodes)) for child in reversed(subtree["children"])]
        nodes.append(Node(visible(str(subtree["label"])), depth, parent))
    below = [0.0] * len(nodes)  # width of all children
    for index, node in reversed([*enumerate(nodes)]):
        node.width = max(LETTER * len(node.label) + GAP, below[index])
        if index:
            below[node.parent] += node.width
    left = [0.0] * len(nodes)  # left edge of the next child
    for index, node in enumerate(nodes):
        start = left[node.parent] if index else 0.0
        node.center = start + node.width / 2
        if index:
            left[node.parent] += node.width
        left[index] = start + (node.width - below[index]) / 2
    return nodes


def draw(trees: Sequence[tuple[Tree, str]]) -> Figure:
    """Return a figure of trees, each with a text below it.

    Raises:
        WrongRequest: the trees have too many nodes to be seen.
    """
    from matplotlib.figure import Figure

    panels = [placed(tree) for tree, _ in trees]
    count = sum(map(len, panels))
    require(
        count <= MAX_NODES,
        f"a parse of {count:,} nodes is too large to draw; at most {MAX_NODES:,}",
    )
    across = min(MAX_COLUMNS, len(panels))
    longest = max(len(text) for _, text in trees)
    text_width = min(WIDEST_TEXT, LETTER * longest + GAP)
    width = max(text_width, *(nodes[0].width for nodes in panels))
    texts = [_wrapped(text, width) for _, text in trees]
    height = LEVEL * (1.6 + max(node.depth for nodes in panels for node in nodes))
    height += LINE * max(text.count("\n") + 1 for text in texts)
    rows = -(-len(panels) // across)
    figure = Figure(figsize=(width * across, height * rows))
    figure.subplots_adjust(left=0, right=1, bottom=0, top=1, wspace=0, hspace=0)
    all_axes = figure.subplots(rows, across, squeeze=False).ravel()
    for axes in all_axes:
        axes.set_axis_off()
        axes.set_xlim(0, width)
        axes.set_ylim(-height, 0)
    for axes, nodes, text in zip(all_axes, panels, texts, strict=False):
        _draw(axes, nodes, text, (width - nodes[0].width) / 2)
    return figure


def _draw(axes: Axes, nodes: Sequence[Node], text: str, left: float) -> None:
    for node in nodes:
        x, y = _point(node, left)
        if node.depth:
            above, top = _point(nodes[node.parent], left)
            axes.plot([above, x], [top - 0.1, y + 0.1], color="0.6", linewidth=1, zorder=0)
        # A dollar sign would begin a formula.
        axes.text(x, y, node.label, ha="center", va="center", fontsize=10, parse_math=False)
    low = -LEVEL * (1.2 + max(node.depth for node in nodes))
    middle = sum(axes.get_xlim()) / 2
    axes.text(middle, low, text, ha="center", va="top", fontsize=9, color="0.35", parse_math=False)


def _point(node: Node, left: float) -> tuple[float, float]:
    return left + node.center, -LEVEL * (node.depth + 0.5)


def _wrapped(text: str, width: float) -> str:
    return "\n".join(textwrap.wrap(visible(text), max(1, round((width - GAP) / LETTER))))
