"""HTML elements, tables and JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from xml.etree.ElementTree import Element, tostring

from daxy.core.errors import visible

Child = Element | str | None


def element(name: str, *children: Child, **attributes: str | int | float) -> Element:
    """Return an element. `written` escapes its texts and attributes.

    In names of attributes, a final underscore is dropped (`class_`) and others become hyphens.
    """
    named = {key.rstrip("_").replace("_", "-"): str(value) for key, value in attributes.items()}
    made = Element(name, named)
    for child in children:
        if isinstance(child, Element):
            made.append(child)
        elif child is not None and len(made):
            made[-1].tail = (made[-1].tail or "") + visible(child)
        elif child is not None:
            made.text = (made.text or "") + visible(child)
    return made


def written(*elements: Element) -> str:
    """Return elements as HTML."""
    return "".join(tostring(each, encoding="unicode", method="html") for each in elements)


def table(head: Mapping[str, str], bodies: Iterable[Sequence[Element]], caption: str) -> Element:
    """Return a table in a box that scrolls sideways where the screen is narrow.

    Args:
        head: Names of the columns, each with the class of its cells.
        bodies: Groups of rows.
        caption: Title for screen readers.
    """
    cells = [element("th", name, scope="col", class_=kind) for name, kind in head.items()]
    made = element(
        "table",
        element("caption", caption, class_="hidden"),
        element("thead", element("tr", *cells)),
        *(element("tbody", *rows) for rows in bodies),
    )
    return element("div", made, class_="scroll", tabindex=0, role="region", aria_label=caption)


def row(head: Mapping[str, str], *cells: Child, class_: str = "plain") -> Element:
    """Return a row of a table; its first cell is its heading."""
    first, *kinds = head.values()
    others = [element("td", cell, class_=kind) for cell, kind in zip(cells[1:], kinds, strict=True)]
    return element("tr", element("th", cells[0], scope="row", class_=first), *others, class_=class_)


def script_json(value: Any) -> str:
    """Return a value as JSON that cannot end the script element that holds it."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
