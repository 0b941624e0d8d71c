"""Subject, verb and object to subject, object and verb (Grefenstette et al. 2015, Table 1)."""

from __future__ import annotations

from functools import partial

from daxy.languages import itg
from daxy.languages._itg_language import Derivations

LANGUAGE = Derivations(partial(itg.grammar, "svo_sov"))
