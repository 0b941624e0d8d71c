"""Every wrong request gets one line that says what was wrong, where, and what was expected.

To add one, add a row to `REQUESTS`: what the user types, and what they are told. The files that
requests name are in `FILES`; all of it happens in one fresh folder.
"""

from __future__ import annotations

import json
import shlex
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

import daxy
from daxy import tasks

GOOD = b"IN: jump OUT: I_JUMP\n"
FORMAT = "expected `IN: <command> OUT: <actions>` with single spaces"
PREDICTIONS = (
    "expected JSON lines with `prediction` and `key` (or `source`), a JSON array, or Parquet"
)
OBJECT = "expected one JSON object a line"
ORDER = "expected the file in whose order they are (--order FILE), or JSON lines with a `key` each"
NACS = "github.com/facebookresearch/NACS"
TRAIN = "length_split/tasks_train_length.txt"

FILES = {
    "good.txt": GOOD,
    "empty.txt": b"",
    "world.json": b"""{"size": 2, "agent": [0, 0], "things": [
        {"shape": "square", "color": "red", "size": 2, "cell": [1, 1]}]}""",
    "crlf.txt": GOOD + b"IN: walk OUT: I_WALK\r\n",
    "bom.txt": b"\xef\xbb\xbf" + GOOD,
    "latin1.txt": GOOD + b"IN: r\xfcn OUT: I_RUN\n",
    "blank.txt": GOOD + b"\n" + GOOD,
    "no_out.txt": GOOD + b"IN: jump\n",
    "no_in.txt": b"jump OUT: I_JUMP\n",
    "spaces.txt": b"IN: jump  left OUT: I_JUMP\n",
    "text.parquet": b"not Parquet",
    "begun.parquet": b"PAR1",
    "begun.txt": b"PAR1",
    "lines.jsonl": b'{"split": "test", "key": "a", "source": "walk", "target": "I_WALK"}\n',
    "value_twice.jsonl": b'{"key": "a", "prediction": "", "prediction": "I_JUMP"}\n',
    "list.jsonl": b"[1, 2]\n",
    "lines.txt": b"I_JUMP\nI_WALK\n",
    "bad.jsonl": b'{"key": \n',
    "blank.jsonl": b'{"source": "walk", "prediction": ""}\n\n',
    "no_key.jsonl": b'{"prediction": "I_JUMP"}\n',
    "no_prediction.jsonl": b'{"key": "a"}\n',
    "number.jsonl": b'{"key": "a", "prediction": 1}\n',
    "unknown.jsonl": b'{"key": "a", "prediction": ""}\n{"key": "b", "prediction": ""}\n',
    "twice.jsonl": b'{"source": "walk", "prediction": ""}\n' * 2,
    "cr.txt": GOOD.replace(b"\n", b"\r") * 2,
    "empty.jsonl": b"",
    "broken.tar.xz": b"not an archive",
    f"malformed/{TRAIN}": GOOD + b"IN: jump I_JUMP\n",
    f"outside/{TRAIN}": GOOD + b"IN: jump jump OUT: I_JUMP I_JUMP\n",
    f"disagreeing/{TRAIN}": GOOD + b"IN: walk OUT: I_JUMP\n",
    f"proxied/{TRAIN}": GOOD + b"IN: dab OUT: I_DAB\n",
    f"no_test/{TRAIN}": GOOD,
}

REQUESTS = [
    (
        "train scan/simple_p1 nearest --log tensorbord",
        "no tracker named 'tensorbord'; did you mean tensorboard?",
    ),
    (
        "export transduction/copy --split test --shard 1/3 --train-pairs 30",
        "--shard 1/3 is a part of train; leave it out, or ask for --split train",
    ),
    (
        "show transduction/copy --test-max-length 1000000000",
        "test-max-length must be at most 65,536, not 1,000,000,000",
    ),
    (
        "show transduction/gender --max-length 5000 --test-max-length 5000",
        "max-length must be at most 4,096, not 5,000",
    ),
    (
        "show transduction/copy --train-pairs 1000000000",
        "train-pairs must be at most 33,554,432 at a time, with sources of up to 64 tokens, not"
        " 1,000,000,000; --shard 1/N makes a part of them",
    ),
    (
        "show transduction/copy --test-max-length 50000 --test-pairs 50000",
        "test-pairs must be at most 42,949 at a time, with sources of up to 50,000 tokens, not"
        " 50,000",
    ),
    (
        "show transduction/copy --train-pairs 200000000 --max-length 8",
        "train-pairs must be at most 100,000,000 at a time, with sources of up to 8 tokens, not"
        " 200,000,000; --shard 1/N makes a part of them",
    ),
    (
        "train scan/length transducer --memory none --memory-width 4",
        "without a memory there is no memory-width; leave it out",
    ),
    (
        "augment translation/daxy --count 3",
        "no flag '--count'; did you mean --geca.count?; see `daxy augment translation/daxy --help`",
    ),
    (
        "train scan/simple --geca.count 5",
        "no flag '--geca.count' without --augment geca;"
        " see `daxy train scan/simple seq2seq --help`",
    ),
    (
        "train scan/simple --augment geca --geca.cuont 5",
        "no flag '--geca.cuont'; did you mean --geca.count?;"
        " see `daxy train scan/simple seq2seq --help`",
    ),
    (
        "analyse by_length good.txt",
        "good.txt is a file; expected the folder of a run",
    ),
    (
        "show scan/simple_p1 --run good.txt",
        "good.txt is a file; expected the folder of a run",
    ),
    (
        f"show scan/simple_p1 --validation none --example train:{'9' * 5000}",
        f"train has examples 1 to 209, as train:1; not 'train:{'9' * 51}...'",
    ),
    (
        "analyse --test A --draw q.png",
        "--test, --source, --official, --draw and --force need an analysis; expected its name",
    ),
    (
        "show gscan/compositional --grid 4 --resampling 1 --kind simple_trans --shots 0"
        " --example G:1",
        "G has no examples, as the data is chosen",
    ),
    # English and French
    (
        "interpret copular he is hapy .",
        "'he is hapy .': 'hapy' is not what 'he' can be; did you mean 'happy'?",
    ),
    (
        "interpret copular good .",
        "'good .': a sentence begins with elle, elles, he, i, il, ils, je, nous, she, they, tu,"
        " vous, we, you",
    ),
    ("show translation/daxi", "no task named 'translation/daxi'; did you mean translation/daxy?"),
    (
        "show translation/daxy --word daxy",
        "word must be a word of a to z and its translation, as daxy=daxiste, not 'daxy'",
    ),
    (
        "show translation/daxy --word tired=las",
        "'tired' is no new word: 'you aren t tired .' is among the sentences; expected another"
        " --word",
    ),
    ("show translation/daxy --pairs absent.txt", "absent.txt: no such file"),
    (
        "show translation/daxy --pairs good.txt",
        "good.txt: is text with lines `IN: ... OUT: ...`, as SCAN's; expected lines with <English>,"
        " a tab, <French>; the tasks scan/... and nacs/... take it",
    ),
    (
        "show translation/daxy --official good.txt",
        f"good.txt: is text with lines `IN: ... OUT: ...`, as SCAN's; expected a clone of {NACS},"
        " or an archive of it (.zip, .tar.gz, .tar.xz)",
    ),
    (
        "show translation/daxy --pairs good.txt --official good.txt",
        "--pairs and --official are different data; expected one of them",
    ),
    (
        "train translation/daxy --sentences released",
        "the sentences that the papers trained on do not come with daxy;"
        f" expected --official DIR, a clone of {NACS}",
    ),
    (
        "train transduction/copy --train-pairs 9 --test-pairs 7 --test-min-length 65"
        " --test-max-length 65",
        "7 of 7 test targets are longer than --max-decode-length 50: up to 65 tokens, so none can"
        " be right",
    ),
    (
        "train transduction/copy transducer --pop-bias nan",
        "pop-bias must be finite, not nan",
    ),
    (
        "reproduce lake2018/translation --official nowhere.tar.xz",
        "nowhere.tar.xz: no such file or folder",
    ),
    (
        "reproduce bastings2018/table3",
        "the sentences that the papers trained on do not come with daxy;"
        f" expected --official DIR, a clone of {NACS}",
    ),
    (
        "sweep lake2018/grid --cell lstm --cell gru --dry-run",
        "--cell is given twice; expected --cell once, with all values after it",
    ),
    (
        "sweep lake2018/grid --cells lstm --cell gru --dry-run",
        "--cell is given twice; expected --cell once, with all values after it",
    ),
    # verbs and flags
    ("train scan/length --attention=no", "--attention takes no value, not 'no'"),
    ("train --restart=scan/length", "--restart takes no value, not 'scan/length'"),
    ("show scan/length --no_oversample=1", "--no_oversample takes no value, not '1'"),
    (
        "show scan/length --oversample --no-oversample",
        "--oversample and --no-oversample contradict each other",
    ),
    (
        "score scan/length --predictions a.jsonl --predictions=b.jsonl",
        "--predictions is given twice; expected --predictions once",
    ),
    ("tasks scan/filler_num1 ''", "unexpected argument: ''; see `daxy tasks --help`"),
    ("train scan/length --seeds 1000000", "seeds must be at most 10,000, not 1,000,000"),
    ("intrepret scan jump", "no verb named 'intrepret'; did you mean interpret?"),
    ("--hlep", "no flag named '--hlep'; did you mean --help?"),
    (
        "train scan/length --device gpu",  # far from --deduplicate, but for its hyphens
        "no flag '--device'; see `daxy train scan/length seq2seq --help`",
    ),
    (
        "show scan/filler_num1 --split-sead 1",
        "no flag '--split-sead'; did you mean --split-seed?; see `daxy show --help`",
    ),
    (
        "show scan/length --max-lenght 26",
        "no flag '--max-lenght'; did you mean --max-length?; see `daxy show scan/length --help`",
    ),
    (
        "show scan/length --max-length 60",
        "max-length must be from 1 to 47, not 60: no command of SCAN has more than 48 actions",
    ),
    (
        "score scan/filler_num1 --prediction p.jsonl",
        "no flag '--prediction'; did you mean --predictions?; see `daxy score --help`",
    ),
    ("tasks --xyzzy", "no flag '--xyzzy'; see `daxy tasks --help`"),
    ("tasks scan/filler_num1 more", "unexpected argument: more; see `daxy tasks --help`"),
    ("show", "missing: TASK; see `daxy show --help`"),
    ("interpret", "missing: LANGUAGE; see `daxy interpret --help`"),
    ("verify", "missing: FILE; see `daxy verify --help`"),
    ("score scan/length", "expected either --predictions FILE or --run RUN"),
    (
        "show scan/filler_num1 --split-seed",
        "missing: a value after --split-seed; see `daxy show --help`",
    ),
    (
        "tasks --split-seed 5 --no-oversample --official nowhere",
        "--split-seed 5 --official nowhere --no-oversample needs a task; expected its name",
    ),
    # the word None would count as what is not given
    ("papers None", "nothing is named 'None'; leave it out"),
    ("learners --json None", "nothing is named 'None'; leave it out"),
    ("export scan/length --out None", "wrong value for --out: 'None'; leave the flag out"),
    ("show scan/length --official=None", "wrong value for --official: 'None'; leave the flag out"),
    (
        "show transduction/grammar --grammar None",
        "wrong value for --grammar: 'None'; leave the flag out",
    ),
    (
        "reproduce bastings2018/table4 --dry-run --seeds None",
        "wrong value for --seeds: 'None'; leave the flag out",
    ),
    # names
    ("tasks SCAN/LENGTH", "no task named 'SCAN/LENGTH'; did you mean scan/length?"),
    ("train scan/simple SEQ2SEQ", "no learner named 'SEQ2SEQ'; did you mean seq2seq?"),
    ("show scan/addprim_jmp", "no task named 'scan/addprim_jmp'; did you mean scan/addprim_jump?"),
    ("export nacs/lenght", "no task named 'nacs/lenght'; did you mean nacs/length?"),
    (
        "show transduction/svosov --max-length 3",
        "no task named 'transduction/svosov'; did you mean transduction/svo_sov?",
    ),
    ("train nacs/lenght gru", "no task named 'nacs/lenght'; did you mean nacs/length?"),
    ("tasks ?", f"no task named '?'; `daxy tasks` lists all {len(tasks.available())}"),
    ("interpret scam jump", "no language named 'scam'; did you mean scan?"),
    ("interpret svo_sov", "expected a sentence of the grammar, as si1 vi2 oi3 of svo_sov"),
    ("interpret itg a", "itg needs --grammar FILE"),
    ("interpret gender a --grammar x.itg", "--grammar is for itg"),
    ("interpret gender a --world x.json", "--world is for gscan"),
    ("interpret itg a --grammar nope.itg", "nope.itg: no such file"),
    ("interpret svo_sov si1 jump", "word 2 of the source, 'jump', is not the grammar's"),
    (
        "show transduction/grammar",
        "transduction/grammar is of a grammar of yours; expected --grammar FILE",
    ),
    ("show transduction/grammar --grammar nope.itg", "nope.itg: no such file"),
    (
        "interpret 'jump left' twice",
        "no language named 'jump left'; known: copular, gender, gscan, itg, nacs, scan, svo_sov",
    ),
    ("--version scan", "--version stands alone, without 'scan'"),
    # values
    (
        "show scan/filler_num1 --split-seed one",
        "wrong value for --split-seed: 'one'; expected a whole number; see `daxy show --help`",
    ),
    (
        "show scan/filler_num1 --validation-fraction much",
        "wrong value for --validation-fraction: 'much'; expected a number; see `daxy show --help`",
    ),
    (
        "show scan/filler_num1 --validation random",
        "wrong value for --validation: 'random'; expected one of 'published', 'draw', 'dab',"
        " 'length', 'none', 'released-random', 'released-dab', 'released-length'; see"
        " `daxy show --help`",
    ),
    ("export scan/length --format csv", "no format named 'csv'; did you mean tsv?"),
    (
        "export scan/length --format xml",
        "no format named 'xml'; known: gscan-json, hub, joint-text, jsonl, parallel, parquet,"
        " scan-text, tsv",
    ),
    (
        "export scan/length --split dev",
        "no part named 'dev'; known: all, test, train, validation",
    ),
    (
        "export gscan/length --grid 4 --kind simple_trans --resampling 1 --max-length 5"
        " --out a.txt",
        "scan-text has no worlds; expected --format gscan-json, hub, jsonl or parquet",
    ),
    (
        "export scan/length --format gscan-json --out a.txt",
        "gscan-json is for tasks of gSCAN, not for scan/length",
    ),
    (
        "export gscan/length --format gscan-json --out a.txt",
        "gscan-json holds every part; expected --split all",
    ),
    ("show gscan/length --grid 1", "grid must be from 2 to 255, not 1"),
    ("show gscan/length --grid 256", "grid must be from 2 to 255, not 256"),
    (
        "show gscan/length --grid 3",
        "a grid of 3 by 3 has no room for 11 things around a small circle: 7 cells",
    ),
    (
        "train gscan/length seq2seq",
        "seq2seq has no input for worlds, which gscan/length needs; see `daxy learners`",
    ),
    ("train scan/length multimodal", "multimodal needs worlds, and scan/length has none"),
    (
        "train gscan/length multimodal --kernel-sizes 1,2",
        "kernel-sizes must be odd numbers with commas between, not '1,2'",
    ),
    (
        "show scan/length --draw a.png",
        "examples of scan/length have no world to draw; expected --run of a network"
        " with a memory or attention",
    ),
    ("show gscan/length --draw a.jpg", "a.jpg: expected a name that ends in .svg, .png, .gif"),
    ("show gscan/compositional --shots -1", "shots must not be negative: -1"),
    ("show gscan/length --max-length 0", "max-length must be positive, not 0"),
    ("show gscan/length --workers 0", "workers must be positive, not 0"),
    (
        "show gscan/length --train-fraction 1",
        "train fraction must be between 0 and 1, not 1",
    ),
    (
        "tasks gscan/length --validation none",
        "no flag '--validation'; did you mean --validation-fraction?;"
        " see `daxy tasks gscan/length --help`",
    ),
    (
        "show gscan/length --official good.txt --resampling 2",
        "gscan/length takes --official without other choices: the file has made them",
    ),
    ("show scan/length --split-seed -1", "a seed must not be negative: -1"),
    ("verify good.txt --show -1", "--show must not be negative: -1"),
    ("show scan/length --count -1", "--count must not be negative: -1"),
    (
        "show scan/length --count 5 --example train:2",
        "--count is not for --example, --draw or --run; leave it out",
    ),
    (
        "show scan/length --validation-fraction 1",
        "validation fraction must be between 0 and 1, not 1",
    ),
    # training
    (
        "train transduction/copy transducer --protocol grefenstette2015 --train-pairs 20"
        " --shard 1/2",
        "--shard 1/2 is a part of train, and online training does not use train; leave it out,"
        " or say --no-online",
    ),
    ("train", "missing: TASK; see `daxy train --help`"),
    ("train scan/simpel", "no task named 'scan/simpel'; did you mean scan/simple?"),
    ("train scan/length seq3seq", "no learner named 'seq3seq'; did you mean seq2seq?"),
    ("learners seq3seq", "no learner named 'seq3seq'; did you mean seq2seq?"),
    (
        "train scan/length --protocol bastings2019",
        "no protocol named 'bastings2019'; did you mean bastings2018?",
    ),
    (
        "train scan/length --hiden 64",
        "no flag '--hiden'; did you mean --hidden?; see `daxy train scan/length seq2seq --help`",
    ),
    (
        "train scan/length --cell rnn",
        "wrong value for --cell: 'rnn'; expected one of 'srn', 'gru', 'lstm';"
        " see `daxy train scan/length seq2seq --help`",
    ),
    (
        "train scan/simple --select first",
        "wrong value for --select: 'first'; expected one of 'best', 'last', 'perplexity'; see"
        " `daxy train scan/simple seq2seq --help`",
    ),
    (
        "train scan/simple luong --augment geca --geca.count 5 --augment none",
        "--augment is given twice; expected --augment once",
    ),
    (
        "train scan/simple luong --augment geca --geca.novel target",
        "wrong value for --geca.novel: 'target'; expected one of 'both', 'pair';"
        " see `daxy train scan/simple luong --help`",
    ),
    (
        "train scan/simple luong --augment geca --geca.in-place --geca.no-in-place",
        "--geca.in-place and --geca.no-in-place contradict each other",
    ),
    (
        "train scan/simple luong --augment geca --geca.no-in-place=5",
        "--geca.no-in-place takes no value, not '5'",
    ),
    ("augment scan/simple --out .", ". is a folder; expected a file to write"),
    (
        "train scan/length seq2seq --protocol lake2018",
        "seq2seq cannot be fed its own outputs; teacher-forcing must be 1",
    ),
    (
        "train scan/length stacked --protocol lake2018 --epochs 3 --samples 9",
        "epochs (3) and samples (9) exclude each other",
    ),
    ("train scan/length --hidden 0", "hidden must be positive, not 0"),
    ("train scan/length --seeds 0", "seeds must be positive, not 0"),
    ("train scan/length --first-seed -1", "a seed must not be negative: -1"),
    (
        "train scan/length --epochs 0",
        "epochs must be positive, not 0",
    ),
    ("train scan/length --dropout 1", "dropout must be in [0, 1), not 1.0"),
    ("train scan/length --weight-decay -1", "weight-decay must not be negative: -1.0"),
    (
        "train scan/length --no-attention --no-dependency",
        "without attention and without output dependency a decoder has no input at all",
    ),
    (
        "train scan/simple_p1 --hidden 4 --epochs 1 --runs good.txt",
        "cannot write good.txt: it is not a folder",
    ),
    (
        "reproduce bastings2018/table4 --row GRU --column simple --dry-run --runs good.txt"
        " --results none",
        "cannot write good.txt: it is not a folder",
    ),
    # the ledger
    ("papers bastings2018 --results absent", "absent: no such folder"),
    (
        "papers bastings2018 --results good.txt",
        "good.txt: is a file; expected a folder of results",
    ),
    # options that a task does not have
    (
        "show scan/simple --validation length",
        "validation by length is for scan/length, not for scan/simple",
    ),
    (
        "show scan/simple --validation dab",
        "validation by dab is for tasks that add a primitive, such as scan/addprim_jump,"
        " not for scan/simple",
    ),
    (
        "show scan/bastings_jump_num4 --official malformed",
        "malformed: holds no data/scan/add_jump_additional/train.num04; expected a clone of "
        f"{NACS}",
    ),
    # commands outside the grammar
    (
        "interpret gscan walk to circle",
        "not a command: 'walk to [circle]', word 3 cannot be 'circle'; expected a",
    ),
    (
        "interpret scan jump --world good.txt",
        "--world is for gscan",
    ),
    ("interpret gscan push a circle --world absent.json", "absent.json: no such file"),
    (
        "interpret gscan push a circle --world world.json",
        "nothing is a circle: there is a red square of size 2",
    ),
    (
        "interpret scan ''",
        "'' ends too early: word 1 is missing; expected walk, look, run, jump or turn",
    ),
    (
        "interpret scan jump around",
        "'jump around' ends too early: word 3 is missing; expected left or right",
    ),
    (
        "interpret scan jump up",
        "not a command: 'jump [up]', word 2 cannot be 'up'; expected left, right, opposite, around,"
        " twice, thrice, and, after or the end of the command",
    ),
    (
        "interpret scan 'turn left twice thrice'",
        "not a command: 'turn left twice [thrice]', word 4 cannot be 'thrice';"
        " expected and, after or the end of the command",
    ),
    # where to write
    ("export scan/length --format parquet", "parquet needs --out FILE"),
    ("export scan/length --json", "--json needs --out FILE"),
    (
        "export scan/length --split all",
        "scan-text cannot say which part a line is of; expected --split of one part, or --out DIR/",
    ),
    ("export scan/length --out good.txt", "good.txt exists; --force replaces it"),
    (
        "export scan/length --out length.csv",
        "length.csv: no format has this name; expected .txt, .tsv, .src, .trg, .jsonl, .parquet,"
        " or --format",
    ),
    (
        "export scan/length --split validation --validation none",
        "scan/length has no validation examples, as its data is chosen",
    ),
    ("export scan/length --out good.txt/", "good.txt is a file; expected a folder"),
    (
        "export scan/length --sample 5 --split all --out a/",
        "--sample is of one part; expected --split PART",
    ),
    ("export scan/length --seed 1", "--seed needs --sample; leave it out"),
    (
        "export scan/length --split test --sample 4000",
        "sample must be from 1 to the 3,920 examples that there are, not 4,000",
    ),
    (
        "export scan/length --out good.txt/a.txt",
        "cannot write good.txt/a.txt: good.txt is not a folder",
    ),
    # SCAN text
    (
        "verify begun.parquet",
        "begun.parquet: cannot be read as Parquet: Parquet file size is 4 bytes, smaller than the"
        " minimum file footer (8 bytes)",
    ),
    ("verify absent.txt", "absent.txt: no such file"),
    ("verify malformed", "malformed: is a folder; expected a file"),
    (
        "verify empty.txt",
        "empty.txt: the file is empty; expected pairs in a format that `daxy export` writes",
    ),
    (
        "verify crlf.txt",
        "crlf.txt:2: the line ends in CR LF and those before in LF; expected one of them",
    ),
    (
        "verify cr.txt",
        "cr.txt:1: a carriage return (CR) within the line; expected line ends LF, or all CR LF",
    ),
    (
        "verify bom.txt",
        "bom.txt:1: the file starts with a byte order mark; expected UTF-8 without one",
    ),
    (
        "verify latin1.txt",
        "latin1.txt:2: byte 0xfc at column 6 is not UTF-8; expected UTF-8 text",
    ),
    ("verify blank.txt", f"blank.txt:2: blank line; {FORMAT}"),
    ("verify no_out.txt", f"no_out.txt:2: no ` OUT: ` in 'IN: jump'; {FORMAT}"),
    ("verify no_in.txt", f"no_in.txt:1: no `IN: ` at the start of 'jump OUT: I_JUMP'; {FORMAT}"),
    (
        "verify spaces.txt",
        f"spaces.txt:1: two spaces, or one at an end, in 'IN: jump  left OUT: I_JUMP'; {FORMAT}",
    ),
    # official files
    (
        "show scan/length --official absent",
        "absent: no such file or folder",
    ),
    (
        "show scan/length --official absent.tar.xz",
        "absent.tar.xz: no such file or folder",
    ),
    (
        "show scan/length --official good.txt",
        "good.txt: is text with lines `IN: ... OUT: ...`, as SCAN's; expected a clone of "
        f"github.com/brendenlake/SCAN or {NACS}, or an archive of it (.zip, .tar.gz, .tar.xz)",
    ),
    (
        "show scan/simple --official malformed",
        "malformed: holds no simple_split/tasks_train_simple.txt, nor data/scan/simple/train;"
        f" expected a clone of github.com/brendenlake/SCAN or {NACS}",
    ),
    (
        "show scan/length --official no_test",
        "no_test: holds no length_split/tasks_test_length.txt",
    ),
    (
        "show scan/length --official malformed",
        f"malformed/{TRAIN}:2: no ` OUT: ` in 'IN: jump I_JUMP'; {FORMAT}",
    ),
    (
        "export nacs/length --official outside",
        f"outside/{TRAIN}:2: not a command: 'jump [jump]', word 2 cannot be 'jump'; expected left,"
        " right, opposite, around, twice, thrice, and, after or the end of the command",
    ),
    (
        "show scan/length --official disagreeing",
        f"disagreeing/{TRAIN}:2: 'walk' means I_WALK, not 'I_JUMP'",
    ),
    (
        "show scan/length --official proxied",
        f"proxied/{TRAIN}:2: not a command: '[dab]', word 1 cannot be 'dab';"
        " expected walk, look, run, jump or turn",
    ),
    (
        "show scan/length --official broken.tar.xz",
        "broken.tar.xz: is no folder and no archive; expected a clone of"
        f" github.com/brendenlake/SCAN or {NACS}, or an archive of it (.zip, .tar.gz, .tar.xz)",
    ),
    (
        "show scan/length --official other.tar.xz",
        f"other.tar.xz: holds no {TRAIN}, nor data/scan/length/train; expected a clone of"
        f" github.com/brendenlake/SCAN or {NACS}",
    ),
    (
        "show scan/addprim_jump --validation released-dab",
        "the authors' validation sets do not come with daxy; expected --official DIR, a clone of"
        f" {NACS} with data/scan/add_jump/valid.dab.src",
    ),
    (
        "show nacs/simple --validation released-length --official malformed",
        "no released-length set was published for scan/simple; it has released-random",
    ),
    (
        "show scan/length --validation released-length --validation-fraction 0.2",
        "the released validation set is drawn already; leave out --validation-fraction",
    ),
    (
        "show scan/length --validation released-length --official malformed",
        "malformed: holds no data/scan/length/train_wo_valid_length",
    ),
    # predictions
    (
        "score scan/length --predictions value_twice.jsonl",
        f"value_twice.jsonl:1: no JSON: the key 'prediction' is there twice at column 32; {OBJECT}",
    ),
    (
        "score scan/length --predictions begun.txt",
        "begun.txt: cannot be read as Parquet: Parquet file size is 4 bytes, smaller than the"
        " minimum file footer (8 bytes)",
    ),
    ("score scan/length --predictions absent.jsonl", "absent.jsonl: no such file"),
    ("score scan/length --predictions absent.parquet", "absent.parquet: no such file"),
    ("score scan/length --predictions malformed", "malformed: is a folder; expected a file"),
    (
        "score scan/length --predictions list.jsonl",
        f"list.jsonl: an array of predictions alone; {ORDER}",
    ),
    (
        "score scan/length --predictions bad.jsonl",
        f"bad.jsonl:1: no JSON: Expecting value at column 9; {OBJECT}",
    ),
    ("score scan/length --predictions blank.jsonl", f"blank.jsonl:2: blank line; {OBJECT}"),
    (
        "score scan/length --predictions empty.jsonl",
        f"empty.jsonl: the file is empty; {PREDICTIONS}",
    ),
    (
        "score scan/length --predictions no_key.jsonl",
        "no_key.jsonl:1: no `key` or `source` in {'prediction': 'I_JUMP'}",
    ),
    (
        "score scan/length --predictions no_prediction.jsonl",
        "no_prediction.jsonl:1: no `prediction` in {'key': 'a'}",
    ),
    (
        "score scan/length --predictions number.jsonl",
        "number.jsonl:1: 'prediction' is 1; expected a string or a list of strings",
    ),
    (
        "score scan/length --predictions twice.jsonl",
        "twice.jsonl:2: 'walk' was already given on line 1",
    ),
    (
        "score scan/length --predictions unknown.jsonl",
        "unknown.jsonl: 2 of 2 rows are for no test example: 'a' (line 1), 'b' (line 2);"
        " are these predictions for other choices of the data?",
    ),
    (
        "score scan/filler_num0 --predictions all_but_one.jsonl",
        "all_but_one.jsonl: 1 of 1173 predictions are missing: 'jump around right';"
        " --partial scores those that are there",
    ),
    (
        "score scan/length --predictions absent.jsonl --test D",
        "no test named 'D'; known: none",
    ),
    (
        "score gscan/length --grid 4 --resampling 1 --kind simple_trans --predictions a --test D",
        "no test named 'D'; known: A, I",
    ),
    ("score scan/length --predictions lines.txt", f"lines.txt: plain lines; {ORDER}"),
    (
        "score scan/length --predictions lines.txt --order good.txt",
        "good.txt: expected the 2 examples of the predictions; it has 1",
    ),
    (
        "score scan/length --run runs --partial",
        "--partial, --normalize and --order need --predictions",
    ),
    # scores to write
    (
        "score scan/filler_num0 --predictions all_but_one.jsonl --out all_but_one.jsonl",
        "all_but_one.jsonl exists; --force replaces it",
    ),
    (
        "score scan/filler_num0 --predictions all_but_one.jsonl --out all_but_one.jsonl --force",
        "all_but_one.jsonl is the predictions file itself; expected another --out",
    ),
    (
        "score scan/length --predictions absent.jsonl --out scores.json",
        "scores.json: expected a name that ends in .parquet or .jsonl",
    ),
    # what leaves nothing to do
    (
        "show scan/simple_p1 --validation draw --validation-fraction 0.00001",
        "the validation fraction leaves the validation set empty",
    ),
    (
        "train scan/simple_p1 --validation-fraction 0.99999",
        "the validation fraction leaves nothing to train on",
    ),
    ("train scan/length --learning-rate inf", "learning-rate must be finite, not inf"),
]

OF_JSON = {row[0].split()[0]: row for row in REQUESTS if not row[0].startswith("export")}
"""One request a verb. `export` to stdout has no room for an object there: --json asks for --out."""

FAILS_AT_RUN = ("cannot write",)
"""Messages of requests that were right and could not be carried out: exit code 1, not 2."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with all the files that the requests name."""
    folder = tmp_path_factory.mktemp("wrong")
    for name, content in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    with tarfile.open(folder / "other.tar.xz", "w:xz") as archive:
        archive.add(folder / "good.txt", "good.txt")
    sources = [" ".join(source) for source in daxy.load("scan/filler_num0").test.source]
    rows = [{"source": s, "prediction": ""} for s in sources if s != "jump around right"]
    (folder / "all_but_one.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


@pytest.mark.parametrize(("request_", "message"), REQUESTS, ids=[each[:80] for each, _ in REQUESTS])
def test_a_wrong_request_gets_one_line(
    request_: str,
    message: str,
    folder: Path,
    daxy: Callable,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(folder)
    answer = daxy(*shlex.split(request_))
    assert answer.err == f"daxy: {message}\n"
    assert answer.out == "" or "--json" in request_
    assert answer.code == (1 if message.startswith(FAILS_AT_RUN) else 2)


def test_deep_json_is_an_object_or_an_error(daxy: Callable) -> None:
    answer = daxy("interpret", "svo_sov", "--json", "si1", "vi2", *["oi3"] * 600)
    # How deep `json` can write depends on the version of Python.
    deep = "the answer is nested too deeply for JSON; leave out --json, or ask for less"
    assert answer.code == 0 or (answer.code, answer.json["error"]) == (2, deep)


@pytest.mark.parametrize(("request_", "message"), OF_JSON.values(), ids=OF_JSON)
def test_with_json_the_error_is_one_object(
    request_: str,
    message: str,
    folder: Path,
    daxy: Callable,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(folder)
    answer = daxy(*shlex.split(request_), "--json")
    assert answer.json["error"] == message
    assert answer.json["exit_code"] == answer.code
