"""Accepted translations: the given one, or another with the same meaning.

`you are daxy .` is `tu es daxiste .` or `vous etes daxiste .`: English does not show the number and
the form of address. The papers count only the given translation.
"""

from daxy.metrics._metric import Accepted

METRIC = Accepted("accepted", "the given translation, or another with the same meaning")
