"""JSON values as types."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

from daxy.core.errors import in_one_line

Content = TypeVar("Content")


def check(value: Any, kind: type[Content], name: str = "") -> Content:
    """Return a JSON value as a type.

    Args:
        value: The value.
        kind: A class of fields, or an annotated type.
        name: Start of the error message.

    Raises:
        ValueError: it has not the type; says at which field.
    """
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        problem = str(error).replace("`$`", "it").replace("`$.", "`")
        raise ValueError(f"{name}{in_one_line(problem)}") from None
