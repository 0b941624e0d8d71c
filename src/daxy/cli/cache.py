"""Show the size of the cache on disk, or clear it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from daxy.cli._result import Result
from daxy.cli._verb import Switch, Verb


@dataclass(frozen=True, kw_only=True)
class Cache(Verb):
    """Show the size of the cache on disk, or clear it.

    The cache holds generated data that takes longer than a second, and compiled programs. It is in
    ~/.cache/daxy. The environment variable DAXY_CACHE names another folder; an empty value turns
    the cache off.

    Example:
        daxy cache
        daxy cache --clear
    """

    clear: Switch = False
    """Delete the data and the compiled programs."""

    def run(self) -> Result:
        """Return the folder with its contents, or the size of what was deleted."""
        from daxy.core import cache

        folder, data, programs = cache.folder(), cache.entries(), cache.programs()
        if self.clear:
            cache.clear()
        total = sum(each.size for each in (*data, *programs))
        facts: dict[str, Any] = {
            "folder": None if folder is None else str(folder),
            "data": [{"name": each.name, "bytes": each.size} for each in data],
            "programs": {"count": len(programs), "bytes": sum(each.size for each in programs)},
            "bytes": total,
            "cleared": self.clear,
        }
        if folder is None:
            why = f"{cache.VARIABLE} is empty, or there is no home folder"
            return Result(data=facts, text=f"no cache: {why}")
        if self.clear:
            return Result(data=facts, text=f"{folder}: {_megabytes(total)} deleted")
        lines = [f"{folder}: {_megabytes(total)}"]
        lines += [f"  {_megabytes(each.size):>10}  {each.name}" for each in data]
        if programs:
            size = _megabytes(facts["programs"]["bytes"])
            lines += [f"  {size:>10}  {len(programs):,} files of compiled programs"]
        return Result(data=facts, text="\n".join(lines))


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.1f} MB"


VERB = Cache
