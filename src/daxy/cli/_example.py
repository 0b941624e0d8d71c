"""One example, or some, as a picture or text: a world, or the memory or attention of a network."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from daxy.cli._picture import save, save_world
from daxy.cli._result import Result

if TYPE_CHECKING:
    from daxy.core.examples import Example, Tokens
    from daxy.learners.neural.predictor import Predictor


def as_strings(example: Example, separator: str = " ") -> dict[str, str]:
    """Return an example as JSON values, its target with a separator."""
    source = " ".join(example.source)
    return {"key": example.key, "source": source, "target": separator.join(example.target)}


def show_attention(network: Predictor, examples: Sequence[Example], picture: Path | None) -> Result:
    """Return a network's predictions and its attention to the words of each source."""
    from daxy.core.examples import Sequences
    from daxy.report.alignment import Alignment, draw

    predictions = network.predict(Sequences.of([example.source for example in examples]))
    rows, alignments, lines = list[dict[str, Any]](), list[Alignment](), list[str]()
    for example, prediction in zip(examples, predictions, strict=True):
        attention = network.alignment(example.source, prediction)
        alignment = Alignment.of(example.source, prediction, attention)
        row = {**as_strings(example), "prediction": " ".join(prediction), **alignment.as_json}
        lines += ["", f"{row['source']}: {row['target']}", f"prediction: {row['prediction']}"]
        lines += [] if picture else ["", *alignment.lines]
        rows.append(row)
        alignments.append(alignment)
    data: dict[str, Any] = {"examples": rows}
    if picture is not None:
        save(draw(alignments), picture)
        data["out"] = str(picture)
        lines += ["", str(picture)]
    return Result(data=data, text="\n".join(lines[1:]))


def show_memory(network: Predictor, example: Example, title: str, picture: Path | None) -> Result:
    """Return a network's prediction with the pushes, pops and reads of its memory."""
    from daxy.core.examples import Sequences
    from daxy.report.memory_plot import MemoryPlot

    # A test set may be longer than the run's own: leave room for its targets, and one token more.
    length = max(network.max_decode_length, len(example.target) + 1)
    (prediction,) = network.predict(Sequences.of([example.source]), max_decode_length=length)
    inside = network.memory_trace(example.source, prediction)
    title = f"{title}: {'right' if prediction == example.target else 'wrong'}"
    trace = MemoryPlot.of(network.memory, example.source, prediction, inside, title)
    data = {**as_strings(example), "prediction": " ".join(prediction), **trace.as_json}
    pair, answer = f"{data['source']}: {data['target']}", f"prediction: {data['prediction']}"
    if picture is None:
        return Result(data=data, text="\n".join([pair, answer, "", *trace.lines]))
    save(trace.figure, picture)
    return Result(data={**data, "out": str(picture)}, text=f"{picture}: {pair}\n{answer}")


def show_world(example: Example, run: Path | None, picture: Path | None) -> Result:
    """Return an example in its world: its target, or the path and attention of a run's network."""
    from daxy.formats import world_json
    from daxy.languages.grounded import parse
    from daxy.worlds.drawing import demonstration_look, prediction_look

    world, command = example.world, parse(example.source)
    data: dict[str, Any] = {**as_strings(example, ", "), "world": world_json.to_json(world)}
    text = f"{data['source']}: {data['target']}"
    actions, shades = example.target, list[float]()
    if run is not None:
        actions, shades = _predict_in_world(run, example)
        rows = [shades[first : first + world.size] for first in range(0, len(shades), world.size)]
        data |= {"prediction": ", ".join(actions), "attention": rows}
        text += f"\nprediction: {data['prediction']}"
    if picture is None:
        return Result(data=data, text="\n".join([text, *_world_lines(example, data)]))
    if run is None:
        look = demonstration_look(world, command, actions)
    else:
        look = prediction_look(world, command, actions, example.target, shades=shades)
    save_world(picture, world, actions, look)
    return Result(data={"out": str(picture), **data}, text=f"{picture}: {text}")


def _world_lines(example: Example, data: dict[str, Any]) -> list[str]:
    from daxy.languages.grounded import parse, referent
    from daxy.worlds.text import as_text

    world = example.world
    marked = world.placed[referent(parse(example.source).phrase, world.things)].cell
    lines = ["", as_text(world, marked)]
    if data.get("attention"):
        lines += ["", "attention to each cell, in per cent:"]
        lines += [" ".join(f"{100 * share:3.0f}" for share in row) for row in data["attention"]]
    return lines


def _predict_in_world(run: Path, example: Example) -> tuple[Tokens, list[float]]:
    """Return the prediction of a run's network, and its attention to each cell, row by row."""
    from daxy.core.examples import Sequences
    from daxy.runs.saved import load_network
    from daxy.worlds.columns import Worlds

    network = load_network(run)
    source, world = Sequences.of([example.source]), Worlds.of([example.world])
    predictions = network.predict(source, world)
    (attention,) = network.attention_to_cells(source, predictions, world)
    return predictions[0], [round(float(share), 4) for share in attention]
