"""Accepted translations: the one that is given, or another way to say the same.

`you are daxy .` is `tu es daxiste .` and `vous etes daxiste .` too: English does not tell whether
one person is spoken to or several, or how. The papers count the one that is given alone; this is
the other score.
"""

from __future__ import annotations

from typing import final

from daxy.metrics._metric import Accepted


@final
class AcceptedTranslation(Accepted):
    """The share of predictions that say in the other language what the source says."""

    name = "accepted"
    summary = "the given translation, or another with the same meaning"


METRIC = AcceptedTranslation()
