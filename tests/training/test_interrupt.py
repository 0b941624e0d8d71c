"""A signal stops training after a checkpoint; the same training resumes from it."""

import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.tiny_training import (
    Listener,
    bits,
    examples,
    last_diverges,
    scripted,
    table,
    training,
    unmoved,
)

from daxy.core.errors import RunFailed
from daxy.training.checkpoint import Checkpoint
from daxy.training.evaluation import EvalResult, EvalSet
from daxy.training.interrupt import ENDING, Interrupted, stop_request

EPOCHS = 3
STRETCHES = EPOCHS * (3 + 1)
"""Three dispatches of two steps and the end, of each epoch."""

each_signal = pytest.mark.parametrize("number", ENDING)


@pytest.fixture(autouse=True)
def heeded() -> Iterator[None]:
    """Ignore no signal, even under `nohup`."""
    ignored = [number for number in ENDING if signal.getsignal(number) is signal.SIG_IGN]
    for number in ignored:
        signal.signal(number, signal.default_int_handler)
    yield
    for number in ignored:
        signal.signal(number, signal.SIG_IGN)


@each_signal
def test_a_signal_is_noted_and_the_handlers_come_back(number: signal.Signals) -> None:
    before = signal.getsignal(number)
    with stop_request() as request:
        assert not request.received
        os.kill(os.getpid(), number)
        assert request.received
    assert signal.getsignal(number) is before


def test_a_second_signal_acts_as_it_would_have() -> None:
    with stop_request() as request:
        os.kill(os.getpid(), signal.SIGINT)
        assert request.received
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)


@each_signal
def test_a_signal_that_is_ignored_stays_ignored(number: signal.Signals) -> None:
    before = signal.signal(number, signal.SIG_IGN)
    try:
        with stop_request() as request:
            os.kill(os.getpid(), number)
            assert not request.received
        assert signal.getsignal(number) is signal.SIG_IGN
    finally:
        signal.signal(number, before)


def test_outside_the_main_thread_nothing_is_noted_and_nothing_breaks() -> None:
    received: list[bool] = []

    def ask() -> None:
        with stop_request() as request:
            received.append(request.received)

    thread = threading.Thread(target=ask)
    thread.start()
    thread.join()
    assert received == [False]


@each_signal
def test_an_interrupted_training_is_saved_and_says_how_it_goes_on(
    number: signal.Signals, tmp_path: Path
) -> None:
    checkpoint = Checkpoint(tmp_path / "state.safetensors")
    interrupted = training(checkpoint=checkpoint, checkpoint_seconds=1e9)
    with pytest.raises(Interrupted, match="its state is saved: the same command resumes") as stop:
        interrupted.fit(Listener(stop_at=1, number=number))
    assert stop.value.exit_code == 130
    assert isinstance(stop.value, RunFailed)
    assert checkpoint.path.exists()


def test_without_a_checkpoint_it_says_that_nothing_is_saved() -> None:
    with pytest.raises(Interrupted, match="nothing was saved"):
        training().fit(Listener(stop_at=1))


def test_interrupted_at_every_stretch_it_ends_in_the_same_bits(tmp_path: Path) -> None:
    undisturbed, expected = training([0, 1], epochs=EPOCHS).fit(Listener())
    checkpoint = Checkpoint(tmp_path / "state.safetensors")
    interruptions = 0
    while True:
        resumed = training([0, 1], epochs=EPOCHS, checkpoint=checkpoint, checkpoint_seconds=1e9)
        try:
            state, position = resumed.fit(Listener(stop_at=1))
            break
        except Interrupted:
            interruptions += 1
    assert interruptions == STRETCHES
    assert bits(state) == bits(undisturbed)
    assert position.best_epoch == expected.best_epoch
    losses = [[record.loss for record in history] for history in position.history]
    assert losses == [[record.loss for record in history] for history in expected.history]


@pytest.mark.parametrize("stretch", [1, 4, 5, 9])
def test_selection_and_stopping_survive_an_interruption(stretch: int, tmp_path: Path) -> None:
    scores = [0.4, 0.4, 0.2], [0.1, 1.0, 0.0]
    undisturbed, expected = training([0, 1], scripted(*scores)).fit(Listener())
    checkpoint = Checkpoint(tmp_path / "state.safetensors")
    validate = scripted(*scores)
    with pytest.raises(Interrupted):
        training([0, 1], validate, checkpoint).fit(Listener(stop_at=stretch))
    state, position = training([0, 1], validate, checkpoint).fit(Listener())
    assert bits(state) == bits(undisturbed)
    assert position.best_epoch == expected.best_epoch == [1, 2]
    assert position.stopped == expected.stopped == [False, True]


@pytest.mark.parametrize("stretch", [6, 7, 8, 9])
def test_divergence_survives_an_interruption(stretch: int, tmp_path: Path) -> None:
    scores = [0.1, 0.2, 0.3], [0.4]
    checkpoint = Checkpoint(tmp_path / "state.safetensors")
    with last_diverges():
        undisturbed, expected = training([0, 1], scripted(*scores)).fit(Listener())
        validate = scripted(*scores)
        with pytest.raises(Interrupted):
            training([0, 1], validate, checkpoint).fit(Listener(stop_at=stretch))
        state, position = training([0, 1], validate, checkpoint).fit(Listener())
    assert bits(state.best) == bits(undisturbed.best)
    assert position.diverged == expected.diverged == [False, True]
    assert [len(each) for each in position.history] == [len(each) for each in expected.history]


def test_a_finished_training_is_not_trained_again(tmp_path: Path) -> None:
    checkpoint = Checkpoint(tmp_path / "state.safetensors")
    state, _ = training(checkpoint=checkpoint).fit(Listener())
    listener = Listener()
    again, _ = training(checkpoint=checkpoint).fit(listener)
    assert listener.calls == 0
    assert bits(again) == bits(state)


def test_it_stops_between_two_programs_that_decode(tmp_path: Path) -> None:
    """The signal comes while the validation set is judged, before the test set is decoded."""
    rows = table().rows(examples())
    settings = {"test": EvalSet([rows[:3]], unmoved), "epochs": EPOCHS}
    undisturbed, expected = training(**settings).fit(Listener())
    checkpoint = Checkpoint(tmp_path / "state.safetensors")
    judged = 0

    def interrupting(replica: int, codes: object) -> EvalResult:
        nonlocal judged
        judged += 1
        if judged == 2:
            os.kill(os.getpid(), signal.SIGINT)
        return EvalResult(0.5, {})

    heard = Listener()
    with pytest.raises(Interrupted, match="its state is saved"):
        training([0], interrupting, checkpoint, checkpoint_seconds=1e9, **settings).fit(heard)
    assert (heard.epochs, len(heard.steps)) == ([1], 6), "the second epoch's steps are not lost"
    heard = Listener()
    state, position = training([0], unmoved, checkpoint, **settings).fit(heard)
    assert (heard.epochs, len(heard.steps)) == ([2, 3], 3)
    assert bits(state) == bits(undisturbed)
    assert position.best_epoch == expected.best_epoch


def test_a_callers_own_handler_of_a_signal_of_many_meanings_stays() -> None:
    heard = list[int]()
    before = signal.signal(signal.SIGUSR1, lambda number, _: heard.append(number))
    try:
        with stop_request() as request:
            os.kill(os.getpid(), signal.SIGUSR1)
            assert heard == [signal.SIGUSR1] and not request.received
    finally:
        signal.signal(signal.SIGUSR1, before)
