"""GECA: augmenting SCAN and gSCAN, and the same composition without an index.

    python -m benchmarks.geca

Every set is augmented in a process of its own, whose time begins when the set has been made and
whose memory is all that it ever took.
Without an index, each template is compared with all others; that takes the square of the examples,
so the two are measured on a few hundred of them, and have to find the same.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time

from benchmarks.memory import UNIT
from benchmarks.side_by_side import measure, warn_if_busy
from daxy import tasks
from daxy.augmentation import Augmenter, Geca
from daxy.augmentation.geca import BORDER, Codes, Composer, Fragment, cuts, filled
from daxy.core.examples import Examples

SETS = {
    "scan/addprim_jump": 1_000,
    "scan/template_around_right": 1_000,
    "nacs/addprim_jump": 1_000,
    "gscan/compositional": 10_000,
}
"""Tasks and how many examples are added to them."""
FEW = 250


def main() -> None:
    """Print seconds, memory and the ratio."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--few", type=int, default=FEW, help="examples that both are measured on")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        print(json.dumps(augment(arguments.one)))
        return
    warn_if_busy()
    for task in SETS:
        asked = [sys.executable, "-m", "benchmarks.geca", "--one", task]
        answer = subprocess.run(asked, capture_output=True, text=True, check=True)
        found = json.loads(answer.stdout)
        said = f"{found['train']:,} examples, {found['added']:,} added"
        print(
            f"{task}: {said}: {found['seconds']:.1f} s, {found['memory'] / 2**20:,.0f} MiB in all"
        )
    compare(arguments.few)


def augment(task: str) -> dict[str, float]:
    """Return what augmenting a task's training set takes."""
    train = tasks.data(task).load(task).train
    began = time.perf_counter()
    added = Augmenter(train, Geca(count=SETS[task])).augment(0).added
    seconds = time.perf_counter() - began
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * UNIT
    return {"train": len(train), "added": len(added), "seconds": seconds, "memory": memory}


def compare(count: int) -> None:
    """Print how much faster the index is, after both have found the same."""
    train = tasks.data("scan/simple").load("scan/simple").train[:count]
    geca = Geca(draws=1 << 20, count=1 << 20, max_templates=1 << 20, sampling="uniform")

    def ours() -> set[tuple[str, ...]]:
        found = Composer(train, geca).augment(0).compositions
        return {(*each.source, "", *each.target) for each in found}

    def theirs() -> set[tuple[str, ...]]:
        return compared(train)

    assert ours() == theirs()
    timing = measure(ours, theirs, seconds=2.0)
    print(f"{count} examples: {timing.ours:.3f} s; without an index {timing.theirs:.3f} s", end="")
    print(f": {timing.ratio:.1f}x")


def compared(train: Examples) -> set[tuple[str, ...]]:
    """Return every new example, found by comparing each template with all others."""
    words = ["", *sorted({*train.source.symbols, *train.target.symbols})]
    code = {word: chr(number) for number, word in enumerate(words, ord(BORDER))}
    pairs = set(zip(train.source, train.target, strict=True))
    fragments_of: dict[Codes, set[Fragment]] = {}
    for source, target in pairs:
        sequence = "".join(code[word] for word in (*source, "", *target))
        for template, fragment in cuts(sequence, 1, 2) if len(sequence) - 1 <= Geca.longest else ():
            fragments_of.setdefault(template, set()).add(fragment)
    found = {
        filled(template, filling)
        for template, own in fragments_of.items()
        for mine in own
        for theirs in fragments_of.values()
        if mine in theirs
        for filling in theirs - own
        if not all(set("".join(filling)) & set("".join(each)) for each in own)
    }
    sources, targets = ({pair[side] for pair in pairs} for side in (0, 1))
    said = {tuple(words[ord(each) - ord(BORDER)] for each in sequence) for sequence in found}
    return {
        each
        for each in said
        for border in [each.index("")]
        if each[:border] not in sources and each[border + 1 :] not in targets
    }


if __name__ == "__main__":
    main()
