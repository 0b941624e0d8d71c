"""NACS: actions of SCAN, and the commands that mean them (Bastings et al. 2018)."""

from __future__ import annotations

from daxy.languages import scan

LANGUAGE = scan.LANGUAGE
