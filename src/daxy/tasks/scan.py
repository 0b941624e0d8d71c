"""SCAN: navigation commands to actions (Lake & Baroni 2018; Loula et al. 2018).

Every split is a rule or a draw over all 20,910 commands, named as its official files.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from daxy.core.split import Sizes
from daxy.languages import scan
from daxy.tasks._official import NacsFiles, ReleasedValidation
from daxy.tasks._own_files import own_files
from daxy.tasks._predicates import NEVER, ButNot, Composes, Contains, ContainsAny, LongerThan
from daxy.tasks._rules import Added, HoldOut, Proportion, Rule
from daxy.tasks._scan_options import (
    LengthOptions,
    OversamplingOptions,
    PrimitiveOptions,
    ProportionOptions,
    ScanOptions,
    ShotsOptions,
)
from daxy.tasks._scan_task import ScanTask
from daxy.tasks._scan_variants import Shots
from daxy.tasks._task import Task

LAKE_BARONI = "Lake & Baroni 2018, Generalization without systematicity"
LOULA = "Loula, Baroni & Lake 2018, Rearranging the familiar"
BASTINGS = "Bastings et al. 2018, Jump to better conclusions"
CSORDAS = "Csordás, Irie & Schmidhuber 2021, The devil is in the detail"

PRIMITIVES = scan.SCAN.primitives

LENGTH = HoldOut(test=LongerThan(22), sizes=Sizes(train=16_990, test=3_920))

CUTOFFS = {
    **{22: (16_990, 3_920), 24: (17_326, 3_584), 25: (17_774, 3_136), 26: (18_286, 2_624)},
    **{27: (18_734, 2_176), 28: (19_182, 1_728), 30: (19_758, 1_152), 32: (20_206, 704)},
    **{33: (20_462, 448), 36: (20_526, 384), 40: (20_782, 128)},
}
"""Sizes of train and test by the maximum actions of a training command. No command has as many
actions as a number that is left out. Csordás et al. take a tenth of train for validation."""

ADDPRIM_JUMP = HoldOut(
    test=Composes("jump"),
    oversample="jump",
    sizes=Sizes(train=14_670, test=7_706),
)
ADDPRIM_TURN_LEFT = HoldOut(
    test=Composes("turn left"),
    oversample="turn left",
    sizes=Sizes(train=21_890, test=1_208),
)


def template(form: str, sizes: Sizes, verbs: tuple[str, ...] = PRIMITIVES) -> HoldOut:
    """Return the rule that holds out a template for some verbs, and drops `turn` in it."""
    test = ContainsAny(tuple(f"{verb} {form}" for verb in verbs))
    return HoldOut(test=test, drop=Contains(f"turn {form}"), sizes=sizes)


TEMPLATES = {
    "jump_around_right": template("around right", Sizes(train=18_528, test=1_173), ("jump",)),
    "around_right": template("around right", Sizes(train=15_225, test=4_476)),
    "opposite_right": template("opposite right", Sizes(train=15_225, test=4_476)),
    "right": template("right", Sizes(train=15_225, test=4_476)),
}

FILLERS = ("look", "walk", "run")
FILLER_TRAIN_SIZES = (15_225, 16_290, 17_391, 18_528)


def filler(count: int) -> HoldOut:
    """Return the rule that keeps `u around right` in train for the first fillers u."""
    absent = tuple(f"{verb} around right" for verb in FILLERS[count:])
    return HoldOut(
        test=Contains("jump around right"),
        drop=Contains("turn around right"),
        withhold=ContainsAny(absent) if absent else NEVER,
        sizes=Sizes(train=FILLER_TRAIN_SIZES[count], test=1_173),
    )


FIRST_FILLER = ButNot(
    Contains("look around right"),
    ContainsAny(tuple(f"{verb} around right" for verb in ("turn", "walk", "run", "jump"))),
)
"""The 1,065 commands that filler_num1 adds to the train set of filler_num0."""

JUMPS_ADDED = {1: 14_671, 2: 14_670, 4: 14_668, 8: 14_670, 16: 14_665, 32: 14_655}
"""Training lines of `addprim_complex_jump` by the number of composed jump commands in them."""
NACS_JUMPS = {
    0: (14_670, (13_236, 1_278)),
    1: (14_655, (13_224, 1_276)),
    2: (14_655, (13_224, 1_277)),
    4: (14_653, (13_222, 1_279)),
    8: (14_652, (13_221, 1_283)),
    16: (14_648, (13_217, 1_291)),
    32: (14_655, (13_224, 1_307)),
}
"""Lines in the files of Bastings et al. by the same number: train, and train and validation of the
released draw. They repeat each of m commands floor(0.11 * 13,203 / m) times, the oversampling of
SCAN round(13,203 / 9 / m) times."""


def with_jumps(count: int, repetition: int) -> Added:
    """Return `addprim_jump` with composed commands in train, drawn for each repetition."""
    return Added(
        base=ADDPRIM_JUMP,
        pool=ADDPRIM_JUMP.test,
        count=count,
        draw=f"scan/addprim_complex_jump_num{count}_rep{repetition}",
        sizes=Sizes(train=JUMPS_ADDED[count], test=7_706 - count),
    )


def with_nested_jumps(count: int) -> Added:
    """Return `addprim_jump` with the first ones of a draw of 32, none of which is tested."""
    return Added(
        base=ADDPRIM_JUMP,
        pool=ADDPRIM_JUMP.test,
        count=count,
        draw="scan/bastings_jump",
        reserve=32,
        sizes=Sizes(train=JUMPS_ADDED.get(count, 14_670), test=7_674),
        released=Sizes(train=NACS_JUMPS[count][0], test=7_674),
    )


def _nacs(folder: str, train: int, validation: int, **others: ReleasedValidation) -> NacsFiles:
    draw = ReleasedValidation(
        train=f"{folder}/train_wo_valid_random",
        validation=f"{folder}/valid.random",
        sizes=(train, validation),
    )
    validation_sets = {"random": draw, **others}
    return NacsFiles(train=f"{folder}/train", test=f"{folder}/test", validation=validation_sets)


def _nacs_jumps(count: int) -> NacsFiles:
    """Return the files of Bastings et al. with `count` composed commands in train.

    For 0 these are the files of their folder `add_jump`, tested on the same commands.
    """
    folder = "add_jump_additional"
    name = f"{folder}/train.num{count:02}"
    train, with_dab = name, f"{name}.withdab"
    if not count:
        train, with_dab = "add_jump/train", "add_jump/train_with_dab"
    lines, draw = NACS_JUMPS[count]
    twins = lines - 13_203
    return NacsFiles(
        train=train,
        test=f"{folder}/test",
        validation={
            "random": ReleasedValidation(
                train=f"{name}.wo_valid_random",
                validation=f"{folder}/valid.num{count:02}.random",
                sizes=draw,
            ),
            "dab": ReleasedValidation(
                train=with_dab, validation=f"{folder}/valid.dab", sizes=(lines + twins, 7_674)
            ),
        },
    )


NACS = {
    "simple": _nacs("simple", 15_083, 1_645),
    "length": _nacs(
        "length",
        15_311,
        1_679,
        length=ReleasedValidation(
            train="length/train_wo_valid_length",
            validation="length/valid.length",
            sizes=(15_438, 1_552),
        ),
    ),
    "addprim_jump": _nacs(
        "add_jump",
        13_236,
        1_278,
        dab=ReleasedValidation(
            train="add_jump/train_with_dab", validation="add_jump/valid.dab", sizes=(16_137, 7_706)
        ),
    ),
    "addprim_turn_left": _nacs("add_turn_left", 19_719, 2_171),
    **{f"bastings_jump_num{count}": _nacs_jumps(count) for count in NACS_JUMPS},
}
"""Files of Bastings et al. by the name of the split."""


def _least_published_shots(count: int, repetition: int) -> int | None:
    """Return the minimum number of shots in an official file with fewer than `count`."""
    if count == 64:
        return 60
    return 31 if (count, repetition) == (32, 3) else None


def few_shots(count: int, repetition: int) -> Added:
    """Return `filler_num0` with some of the commands that `filler_num1` adds."""
    return Added(
        base=filler(0),
        pool=FIRST_FILLER,
        count=count,
        draw=f"scan/fewshot_num{count}_rep{repetition}",
        sizes=Sizes(train=15_225 + count, test=1_173),
        least_published=_least_published_shots(count, repetition),
    )


def _simple() -> Iterator[ScanTask]:
    folder = "simple_split"
    yield _task(
        "simple",
        "a random fifth of all commands",
        Proportion(share=Fraction(80, 100)),
        LAKE_BARONI,
        folder,
        options=ProportionOptions,
    )
    for percent in (1, 2, 4, 8, 16, 32, 64):
        yield _task(
            f"simple_p{percent}",
            f"all commands after a random {percent}% of them",
            Proportion(share=Fraction(percent, 100)),
            LAKE_BARONI,
            f"{folder}/size_variations",
            family="simple_p{1,2,4,8,16,32,64}",
        )


def _length() -> Iterator[ScanTask]:
    summary = "action sequences longer than any in train"
    yield _task("length", summary, LENGTH, LAKE_BARONI, "length_split", options=LengthOptions)
    for longest, (train, test) in CUTOFFS.items():
        yield _task(
            f"length_cutoff_{longest}",
            f"more than {longest} actions, after up to {longest}",
            HoldOut(test=LongerThan(longest), sizes=Sizes(train=train, test=test)),
            CSORDAS,
            folder=None,
            family="length_cutoff_{22,24,25,26,27,28,30,32,33,36,40}",
        )


def _add_primitive() -> Iterator[ScanTask]:
    folder = "add_prim_split"
    for phrase, rule in (("jump", ADDPRIM_JUMP), ("turn left", ADDPRIM_TURN_LEFT)):
        name = f"addprim_{phrase.replace(' ', '_')}"
        summary = f"`{phrase}` composed, after `{phrase}` alone"
        shots = Shots(pool=rule.test, published=name.replace("addprim", "addprim_complex"))
        options = PrimitiveOptions
        yield _task(name, summary, rule, LAKE_BARONI, folder, options=options, shots=shots)
    for count in JUMPS_ADDED:
        for repetition in range(1, 6):
            yield _task(
                f"addprim_complex_jump_num{count}_rep{repetition}",
                f"`jump` composed, after `jump` alone and {count} composed",
                with_jumps(count, repetition),
                LAKE_BARONI,
                f"{folder}/with_additional_examples",
                family="addprim_complex_jump_num{1,2,4,8,16,32}_rep{1..5}",
                options=OversamplingOptions,
            )
    for count in NACS_JUMPS:
        yield _task(
            f"bastings_jump_num{count}",
            f"7,674 composed `jump` commands, after `jump` alone and {count} composed",
            with_nested_jumps(count),
            f"{BASTINGS}, Tables 2, 6 and 7",
            folder=None,
            family="bastings_jump_num{0,1,2,4,8,16,32}",
            options=OversamplingOptions,
        )


def _templates() -> Iterator[ScanTask]:
    for form, rule in TEMPLATES.items():
        summary = f"`{form.replace('_', ' ')}`, never seen with a primitive"
        if form == "jump_around_right":
            summary = "`jump around right`, after the parts of it in other combinations"
        yield _task(f"template_{form}", summary, rule, LOULA, "template_split")


def _fillers() -> Iterator[ScanTask]:
    shots = Shots(pool=FIRST_FILLER, published="fewshot")
    for count in range(4):
        yield _task(
            f"filler_num{count}",
            f"`jump around right`, after the same with {count} of the other primitives",
            filler(count),
            LOULA,
            "filler_split",
            family="filler_num{0,1,2,3}",
            options=ScanOptions if count else ShotsOptions,
            shots=None if count else shots,
        )


def _few_shots() -> Iterator[ScanTask]:
    for count in (2**power for power in range(11)):
        for repetition in range(1, 6):
            yield _task(
                f"fewshot_num{count}_rep{repetition}",
                f"`jump around right`, and {count} of `look around right` in train",
                few_shots(count, repetition),
                LOULA,
                "few_shot_split",
                family="fewshot_num{1,2,4,...,1024}_rep{1..5}",
            )


def _task(
    name: str,
    summary: str,
    rule: Rule,
    paper: str,
    folder: str | None,
    *,
    family: str = "",
    options: type[ScanOptions] = ScanOptions,
    shots: Shots | None = None,
) -> ScanTask:
    return ScanTask(
        name=f"scan/{name}",
        family=f"scan/{family or name}",
        summary=summary,
        paper=paper,
        rule=str(rule),
        sizes=rule.sizes,
        metrics=("exact",),
        how=rule,
        stem=None if folder is None else f"{folder}/tasks_{{part}}_{name}.txt",
        nacs=NACS.get(name),
        kind=options,
        shots=shots,
    )


def _all() -> Iterator[ScanTask]:
    for benchmark in (_simple, _length, _add_primitive, _templates, _fillers, _few_shots):
        yield from benchmark()


SPLITS = {task.name: task for task in _all()}
FILES = own_files(
    SPLITS["scan/simple"],
    "scan/files",
    summary="your own commands and actions, checked by the grammar",
)
TASKS: Mapping[str, Task[Any]] = {**SPLITS, FILES.name: FILES}
