"""Pictures of trees: every label has a place of its own."""

from itertools import combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daxy.core.errors import WrongRequest
from daxy.report.trees import GAP, LETTER, draw, placed

LABELS = st.text("ab $_", min_size=1, max_size=12)
TREES = st.recursive(
    st.builds(dict, label=LABELS, children=st.just([])),
    lambda below: st.builds(dict, label=LABELS, children=st.lists(below, min_size=1, max_size=3)),
    max_leaves=12,
)


@given(TREES)
def test_no_label_covers_another_and_children_are_below_their_parent(tree: dict[str, Any]) -> None:
    nodes = placed(tree)
    for one, other in combinations(nodes, 2):
        if one.depth == other.depth:
            room = LETTER * (len(one.label) + len(other.label)) / 2 + GAP
            assert abs(one.center - other.center) >= room - 1e-9
    for node in nodes[1:]:
        assert node.depth == nodes[node.parent].depth + 1
    sides = [LETTER * len(node.label) / 2 for node in nodes]
    assert min(n.center - side for n, side in zip(nodes, sides, strict=True)) >= 0
    assert max(n.center + side for n, side in zip(nodes, sides, strict=True)) <= nodes[0].width


def test_a_deep_tree_is_placed_and_one_too_large_to_see_is_refused() -> None:
    tree: dict[str, Any] = {"label": "a", "children": []}
    for _ in range(2_000):
        tree = {"label": "b", "children": [tree]}
    assert placed(tree)[-1].depth == 2_000
    with pytest.raises(WrongRequest, match="2,001 nodes is too large to draw; at most 1,000"):
        draw([(tree, "")])
