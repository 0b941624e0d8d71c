"""Flags of verbs that train many runs here or on a cluster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from daxy.cli._flags import Alias
from daxy.cli._verb import Verb
from daxy.core.errors import require


@dataclass(frozen=True, kw_only=True)
class Executed(Verb):
    """A verb whose programs an executor runs."""

    executor: Annotated[Literal["local", "ray"], Alias("--on")] = "local"
    """Run the programs here one by one, or as tasks of a Ray cluster (extra `ray`); `--on` is the
    same flag."""
    address: str | None = None
    """Address of a Ray cluster; by default a local one is started."""
    cpus: int = 1
    """Cores per task of the cluster."""
    gpus: float = 0
    """GPUs per task of the cluster."""
    storage: str | None = None
    """Storage for run folders of machines that do not share a disk: any fsspec URL, such as
    s3://bucket/runs."""
    max_group_size: int | None = None
    """Maximum networks in a program; by default as memory allows."""

    def cluster(self) -> dict[str, Any]:
        """Return the options of a cluster.

        Raises:
            WrongRequest: an option needs a cluster, or has a wrong value.
        """
        size = self.max_group_size
        require(size is None or size > 0, f"--max-group-size must be positive, not {size}")
        names = ("address", "cpus", "gpus", "storage")
        options = {name: getattr(self, name) for name in names}
        if self.executor == "ray":
            return options
        changed = [name for name in names if options[name] != getattr(Executed, name)]
        require(not changed, f"--{changed and changed[0]} needs --executor ray")
        return {}
