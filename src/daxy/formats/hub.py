"""A folder as the Hugging Face Hub keeps data: Parquet, and a card that names its splits.

`datasets.load_dataset(FOLDER)` opens it, and so does a repository of the hub with the same files.
Columns are `key`, `source` and `target`, and those of `daxy.worlds.arrow`.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import final

from daxy.core.conversions import to_arrow
from daxy.core.errors import WrongFile, require
from daxy.core.files import write_text
from daxy.core.split import PARTS, Provenance
from daxy.formats import parquet
from daxy.formats._format import Format, Parts

DATA = "data"
"""The folder of the files."""
CARD = "README.md"


@final
class Hub(Format):
    """A folder with a card and a Parquet file for each split."""

    name = "hub"
    suffix = ""
    has_parts = True
    has_worlds = True
    is_folder = True

    def write(self, path: Path, parts: Parts, provenance: Provenance) -> None:
        """Write the folder; see `Format.write`."""
        names = {re.sub(r"\W", "_", name): name for name in parts}  # as `datasets` has them
        require(len(names) == len(parts), f"two parts have one name: {', '.join(parts)}")
        others = [file.name for file in _files(path) if file.stem not in names]
        unknown = f"{path / DATA} also has {', '.join(others)}, which would be read as parts"
        require(not others, f"{unknown}; expected a folder without other data")
        for split, name in names.items():
            file = path / DATA / f"{split}.parquet"
            file.parent.mkdir(parents=True, exist_ok=True)
            parquet.save(file, to_arrow(parts[name]))
        counts = {split: len(parts[name]) for split, name in names.items()}
        write_text(path / CARD, _card(counts, provenance))

    def read(self, path: Path) -> Parts:
        """Return the parts of a folder, those that are learned first; see `Format.read`."""
        files = {file.stem: file for file in _files(path)}
        if not files:
            raise WrongFile(
                path, f"has no files {DATA}/*.parquet; expected a folder of {self.name}"
            )
        learned = [name for name in PARTS[:2] if name in files]
        return {
            name: parquet.examples_of(files[name], parquet.load(files[name], ("source", "target")))
            for name in dict.fromkeys([*learned, *files])
        }

    def files(self, path: Path) -> tuple[Path, ...]:
        """Return the card, and the data that is there."""
        return (path / CARD, *_files(path))


def _files(folder: Path) -> list[Path]:
    return sorted((folder / DATA).glob("*.parquet"))


def _card(counts: dict[str, int], about: Provenance) -> str:
    splits = [f"  - split: {name}\n    path: {DATA}/{name}.parquet" for name in counts]
    rows = [f"| {name} | {count:,} |" for name, count in counts.items()]
    facts = {
        "made by": f"{about.generator}; {about.source}",
        "seed": about.seed,
        "options": json.dumps(dict(about.options)),
        "checksum": about.checksum,
    }
    return "\n".join(
        [
            "---",
            f"pretty_name: {json.dumps(about.task)}",
            "configs:",
            "- config_name: default",
            "  data_files:",
            *splits,
            "---",
            f"# {about.task}",
            "",
            f"{about.rule}. Each row has a `key`, which predictions refer to, the tokens of its"
            " `source` and the tokens of its `target`.",
            "",
            "| split | examples |",
            "|---|---|",
            *rows,
            "",
            *(f"- {name}: {value}" for name, value in facts.items()),
            "",
        ]
    )


FORMAT = Hub()
