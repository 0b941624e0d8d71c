"""Letters: a task that is the files of its authors."""

from daxy.core.split import Sizes
from daxy.tasks import FilesTask, OfficialFiles

RELEASED = FilesTask(
    name="letters/released",
    family="letters/released",
    summary="capital letters, of three after two",
    paper="nobody yet",
    rule="as the files have it",
    sizes=Sizes(train=6, test=2),
    metrics=("exact",),
    release=OfficialFiles(
        home="example.org/letters",
        sha256={
            "data/train.tsv": "d766129c71b9117d682e1d62d1fc1380ce3625e8caf533f8a3a0aad82a640707",
            "data/test.tsv": "5d04bbbab7da9949adba5ec1d74a7a8038e194924bc4e1579e3d663debdcaee6",
        },
        licence="CC0-1.0",
    ),
    form="tsv",
    parts={"train": "data/train.tsv", "test": "data/test.tsv"},
)
TASKS = {RELEASED.name: RELEASED}
