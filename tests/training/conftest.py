"""Training in these tests has several stretches an epoch, as long trainings do."""

import pytest

from daxy.training import loop


@pytest.fixture(autouse=True)
def two_steps_in_a_dispatch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "STEPS_PER_DISPATCH", 2)
