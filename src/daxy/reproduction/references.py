"""Scores of later papers on daxy's tasks, quoted for orientation.

daxy does not reproduce them, and they enter no comparison. Each has its source. Accuracies are
exact match in per cent.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True, kw_only=True)
class Source:
    """Source of quoted scores."""

    citation: str
    """Authors and year."""
    place: str
    """Title or repository, with the table or section."""


@dataclass(frozen=True, kw_only=True)
class Reference:
    """One quoted score."""

    task: str
    test: str
    """Name of one of several tests; empty for the whole test set."""
    learner: str
    printed: str
    """As the source prints it, such as `98.8 ±1.4` or `≥99`; ± is a standard deviation unless
    `note` says otherwise."""
    source: Source
    note: str

    @property
    def value(self) -> float:
        """The score in per cent; a lower bound where `printed` begins with ≥."""
        return float(self._parts[2])

    @property
    def spread(self) -> float | None:
        """The number after ±; None where the source prints none."""
        return float(self._parts[3]) if self._parts[3] else None

    @property
    def is_lower_bound(self) -> bool:
        """Whether the source says `at least`."""
        return bool(self._parts[1])

    @property
    def _parts(self) -> re.Match[str]:
        match = re.fullmatch(r"(≥?)([\d.]+)(?: ±([\d.]+))?", self.printed)
        assert match is not None, self.printed
        return match


SOURCES = {
    "chaabouni": Source(
        citation="Chaabouni et al. 2021",
        place="Can Transformers jump around right in natural language?",
    ),
    "conklin": Source(
        citation="Conklin et al. 2021",
        place="quoted in Li et al. 2023, Learning to substitute spans",
    ),
    "cgps": Source(
        citation="Li et al. 2019",
        place="Compositional generalization for primitive substitutions; code yli1/CGPS",
    ),
    "cnn": Source(citation="Dessì & Baroni 2019", place="tables of the code robertodessi/SCAN-CNN"),
    "constructions": Source(
        citation="arXiv 2509.20074 (2025)",
        place="Can constructions SCAN compositionality?, abstract",
    ),
    "cpg": Source(
        citation="Klinger et al. 2023",
        place="Compositional program generation (arXiv 2309.16467), abstract",
    ),
    "furrer": Source(
        citation="Furrer et al. 2020",
        place="Pre-training vs. specialized architectures (arXiv 2007.08970)",
    ),
    "lane": Source(
        citation="Liu et al. 2020",
        place="README of the code ContextualSP/compositional_generalization",
    ),
    "mirage": Source(
        citation="Noviello et al. 2025",
        place="A dual-process model of compositional generalization (arXiv 2507.18868), abstract",
    ),
    "ontanon": Source(
        citation="Ontañón et al. 2022",
        place="Making Transformers solve compositional tasks",
    ),
    "prompting": Source(
        citation="Zhou et al. 2023",
        place="Least-to-most prompting enables complex reasoning in large language models",
    ),
    "qiu": Source(
        citation="Qiu et al. 2021",
        place="Systematic generalization on gSCAN: What is nearly solved [...]?, Table 1",
    ),
    "spans": Source(
        citation="Li et al. 2023", place="Learning to substitute spans (arXiv 2306.02840)"
    ),
}
WHOLE = "reported for SCAN as a whole"

SCAN = (
    ("simple", "length", "addprim_turn_left", "addprim_jump", "template_around_right"),
    """
    CNN, best per split             | cnn       | -     | 99.97 ±0.03 | -    | -    | 69.24 ±8.17 | 56.7 ±10.24
    CGPS                            | cgps      | -     | -     | -    | 99.7 | 98.8 ±1.4 | 83.2 ±13.2
    Transformer                     | chaabouni | ± is a standard error | - | - | - | 3.4 ±2.0 | -
    Transformer, relative positions | chaabouni | ± is a standard error | - | - | - | 43.0 ±9.5 | -
    Transformer                     | ontanon   | -     | -     | -    | -    | 0.3 ±0.4  | -
    T5-11B, fine-tuned              | furrer    | -     | -     | -    | -    | 98.3      | 49.2
    LANE                            | lane      | -     | 100   | 100  | -    | 100       | 100
    LSTM + GECA                     | spans     | -     | -     | -    | -    | 95.2      | 84.3
    LSTM + GECA + MAML              | conklin   | -     | -     | -    | -    | 95.8      | 86.2
    LexLearn                        | spans     | -     | -     | -    | -    | 91.2      | 95.3
    LexSym                          | spans     | -     | -     | -    | -    | 100       | 84.0
    Prim2PrimX + MET                | spans     | -     | -     | -    | -    | 7.3       | 97.6
    Comp-IBT                        | spans     | sees 30% of test inputs | - | - | - | 99.6 | 37.8
    SpanSub                         | spans     | -     | -     | -    | -    | 100       | 99.9
    SpanSub + L2S2                  | spans     | -     | -     | -    | -    | 100       | 100
    LSTM, mined constructions       | constructions | - | -     | -    | -    | 47.8      | 20.3
    CPG, grammar given              | cpg       | 14 examples; {whole} | 100 | 100 | 100 | 100 | 100
    Mirage                          | mirage    | meta-trained; {whole} | 99 | 99 | 99 | 99 | 99
    code-davinci-002, least-to-most | prompting | 14 exemplars | ≥99 | 99.7 | ≥99 | ≥99 | -
    code-davinci-002, chain of thought | prompting | -  | -     | 16.2 | -    | -         | -
    """.replace("{whole}", WHOLE),  # noqa: E501 - a row a learner
)
GSCAN = (
    tuple("ABCDEFGH"),
    """
    Kuo et al.      | qiu | - | 96.73 ±0.58 | 94.91 ±1.30 | 67.72 ±10.83 | 11.52 ±8.18 | 76.83 ±2.32 | 98.67 ±0.05 | 1.14 ±0.30 | 20.98 ±1.38
    Heinze-Deml & Bouchacourt | qiu | - | 94.19 ±0.71 | 87.31 ±4.38 | 81.07 ±10.12 | - | 52.8 ±9.96 | - | - | -
    Gao et al.      | qiu | - | 98.60 ±0.95 | 99.08 ±0.69 | 80.31 ±24.51 | 0.16 ±0.12 | 87.32 ±27.38 | 99.33 ±0.46 | - | 33.6 ±20.81
    FiLM            | qiu | - | 98.83 ±0.32 | 94.04 ±7.41 | 60.12 ±8.81 | 0 | 31.64 ±1.04 | 86.45 ±6.67 | 0.04 ±0.03 | 11.71 ±2.34
    Relation network | qiu | - | 97.38 ±0.33 | 49.44 ±8.19 | 19.92 ±9.84 | 0 | 42.17 ±6.22 | 96.59 ±0.94 | 0 | 18.26 ±1.24
    Transformer with cross-modal attention | qiu | - | 99.95 ±0.02 | 99.90 ±0.06 | 99.25 ±0.91 | 0 | 99.02 ±1.16 | 99.98 ±0.01 | 0 | 22.16 ±0.01
    """,  # noqa: E501 - a row a learner
)


@cache
def references() -> tuple[Reference, ...]:
    """Return all quoted scores, benchmark by benchmark."""
    on_scan = _read(*SCAN, {split: (f"scan/{split}", "") for split in SCAN[0]})
    on_gscan = _read(*GSCAN, {test: ("gscan/compositional", test) for test in GSCAN[0]})
    return (*on_scan, *on_gscan)


def of_task(task: str) -> list[Reference]:
    """Return the quoted scores on a task; none for most tasks."""
    return [reference for reference in references() if reference.task == task]


def _read(
    columns: Sequence[str], text: str, places: dict[str, tuple[str, str]]
) -> Iterator[Reference]:
    for line in text.strip().splitlines():
        learner, source, note, *scores = (part.strip() for part in line.split("|"))
        for column, score in zip(columns, scores, strict=True):
            if score == "-":
                continue
            task, test = places[column]
            yield Reference(
                task=task,
                test=test,
                learner=learner,
                printed=score,
                source=SOURCES[source],
                note="" if note == "-" else note,
            )
