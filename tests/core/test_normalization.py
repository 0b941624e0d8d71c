import pytest
from hypothesis import given
from hypothesis import strategies as st

from daxy import tasks
from daxy.core.normalization import Normalizer

SCAN = tasks.get("scan/simple")
TOKENS = ("I_TURN_LEFT", "I_JUMP", "I_TURN_RIGHT", "I_WALK")
ACTIONS = Normalizer(
    frozenset((*TOKENS, "I_LOOK", "I_RUN")),
    SCAN.aliases,
)

SPELLINGS = (
    # As papers and prompts write actions.
    "LTURN JUMP RTURN WALK",
    "TURN_LEFT JUMP TURN_RIGHT WALK",
    "TURN LEFT JUMP TURN RIGHT WALK",
    "turn left jump turn right walk",
    "i_turn_left i_jump i_turn_right i_walk",
    "I_Turn_Left I_Jump I_Turn_Right I_Walk",
    "TurnLeft Jump TurnRight Walk",
    "turn-left jump turn-right walk",
    "I-TURN-LEFT I-JUMP I-TURN-RIGHT I-WALK",
    "LEFT_TURN JUMP RIGHT_TURN WALK",
    "I_LTURN I_JUMP I_RTURN I_WALK",
    # With something between them.
    "I_TURN_LEFT, I_JUMP, I_TURN_RIGHT, I_WALK",
    "I_TURN_LEFT,I_JUMP,I_TURN_RIGHT,I_WALK",
    "I_TURN_LEFT; I_JUMP; I_TURN_RIGHT; I_WALK;",
    "LTURN+JUMP+RTURN+WALK",
    "I_TURN_LEFT -> I_JUMP -> I_TURN_RIGHT -> I_WALK",
    "I_TURN_LEFT|I_JUMP|I_TURN_RIGHT|I_WALK",
    "I_TURN_LEFT_I_JUMP_I_TURN_RIGHT_I_WALK",
    # In brackets, quotes, lists.
    "['I_TURN_LEFT', 'I_JUMP', 'I_TURN_RIGHT', 'I_WALK']",
    "`I_TURN_LEFT I_JUMP I_TURN_RIGHT I_WALK`.",
    "**I_TURN_LEFT** **I_JUMP** **I_TURN_RIGHT** **I_WALK**",
    "1. I_TURN_LEFT 2. I_JUMP 3. I_TURN_RIGHT 4. I_WALK",
    "- I_TURN_LEFT - I_JUMP - I_TURN_RIGHT - I_WALK",
    # With a label.
    "Action: I_TURN_LEFT Action: I_JUMP Action: I_TURN_RIGHT Action: I_WALK",
    "OUT:I_TURN_LEFT I_JUMP I_TURN_RIGHT I_WALK",
    "**Actions:** I_TURN_LEFT I_JUMP I_TURN_RIGHT I_WALK",
    "<answer>I_TURN_LEFT I_JUMP I_TURN_RIGHT I_WALK</answer>",
    "Actions: I_TURN_LEFT I_JUMP I_TURN_RIGHT I_WALK",
    "OUT: I_TURN_LEFT I_JUMP I_TURN_RIGHT I_WALK",
    "IN: jump left OUT: I_TURN_LEFT I_JUMP I_TURN_RIGHT I_WALK",
    "The answer is: I_TURN_LEFT I_JUMP I_TURN_RIGHT I_WALK",
    # With symbols that toolkits add.
    "</s> <s> I_TURN_LEFT I_JUMP I_TURN_RIGHT I_WALK </s>",
    "<|endoftext|> I_TURN_LEFT I_JUMP I_TURN_RIGHT I_WALK<|endoftext|>",
    "[/INST] I_TURN_LEFT I_JUMP I_TURN_RIGHT I_WALK <eos>,",
    "<pad> I_TURN_LEFT I_JUMP I_TURN_RIGHT I_WALK</s>",
    "['I_TURN_LEFT', 'I_JUMP', 'I_TURN_RIGHT', 'I_WALK', '<EOS>']",
    "```json ['I_TURN_LEFT', 'I_JUMP', 'I_TURN_RIGHT', 'I_WALK'] ```",
    "I_TURN_LEFT I_JUMP I_TURN_RIGHT I_WALK </s>",
    "<s> I_TURN_LEFT I_JUMP I_TURN_RIGHT I_WALK </s> <pad> <pad>",
    "<SOS> I_TURN_LEFT I_JUMP I_TURN_RIGHT I_WALK <EOS> I_JUMP",
    "[CLS] I_TURN_LEFT I_JUMP I_TURN_RIGHT I_WALK [SEP] [PAD]",
    "<pad> <pad> I_TURN_LEFT I_JUMP I_TURN_RIGHT I_WALK",
    "I_TURN_LEFT I_JUMP I_TURN_RIGHT I_WALK <|endoftext|>",
    "I_TURN_LEFT I_JUMP I_TURN_RIGHT I_WALK EOS",
    "▁I_TURN_LEFT ▁I_JUMP ▁I_TURN_RIGHT ▁I_WALK",
    "ĠI_TURN_LEFT ĠI_JUMP ĠI_TURN_RIGHT ĠI_WALK",
    "I_TURN@@ _LEFT I_JUMP I_TURN@@ _RIGHT I_WALK",
    "Ｉ＿ＴＵＲＮ＿ＬＥＦＴ I_JUMP I_TURN_RIGHT I_WALK",
)


@pytest.mark.parametrize("text", SPELLINGS)
def test_another_spelling_is_read_as_the_actions_it_means(text: str) -> None:
    (read,), changes = ACTIONS.read([text.split()])
    assert read == TOKENS
    assert changes


@pytest.mark.parametrize(
    "text",
    [
        "I_TURN_LEFT <unk>",
        "I_FLY",
        "I_JUMP * 2",
        "JUMP twice",
        "I cannot help",
        "5 7 9",
        # Counts are no numbers of a list.
        "I_TURN_LEFT (2) I_JUMP (2)",
        "I_JUMP × 2.",
        "4. I_TURN_LEFT 1. I_JUMP",
        "1. I_JUMP I_WALK 2. I_RUN",
        # Neither are these marks.
        "I_JUMP [/b] I_WALK",
        "I_JUMP _s I_WALK",
        "I_JUMP (end I_WALK",
        "I_JUMP <blank> I_WALK",
        # Of two answers none is chosen.
        "I_JUMP or: I_WALK",
        "I_JUMP Actions: I_WALK",
        # Words are not joined over a sign.
        "I, TURN, LEFT",
        "I_TURN / LEFT",
    ],
)
def test_nothing_is_guessed(text: str) -> None:
    (read,), _ = ACTIONS.read([text.split()])
    assert not ACTIONS.vocabulary.issuperset(read)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("I_JUMP IN: walk twice OUT: I_WALK I_WALK", "I_JUMP"),
        ("Q: jump A: I_JUMP Q: walk A: I_WALK", "I_JUMP"),
        ("Actions: I_JUMP Command: walk", "I_JUMP"),
        ("I_WALK Command: jump", "I_WALK"),
        ("IN: jump and walk OUT: I_JUMP I_WALK IN: run OUT: I_RUN", "I_JUMP I_WALK"),
        ("<s> </s> I_JUMP", ""),
        ("I_JUMP </s> I_WALK", "I_JUMP"),
    ],
)
def test_only_the_first_answer_counts(text: str, answer: str) -> None:
    (read,), _ = ACTIONS.read([text.split()])
    assert " ".join(read) == answer


def test_the_question_of_nacs_has_actions() -> None:
    nacs = tasks.get("nacs/simple")
    words = Normalizer(frozenset("jump walk and twice".split()), nacs.aliases, nacs.source_name)
    (read,), _ = words.read(["Actions: I_JUMP I_WALK Command: Jump and Walk".split()])
    assert " ".join(read) == "jump and walk"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("<s> he is on . </s>", "he is on ."),
        ("S he is on.", "s he is on ."),
        ("HE'S ON", "he s on"),
        ("we 're tired", "we re tired"),
        ("OUT: I'm tired.", "i m tired ."),
    ],
)
def test_words_of_a_language_are_not_joined(text: str, sentence: str) -> None:
    words = "s he she is on son we re were i m tired retired im out ."
    (read,), _ = Normalizer(frozenset(words.split())).read([text.split()])
    assert " ".join(read) == sentence


def test_the_changes_are_counted_by_prediction() -> None:
    rows = ["JUMP JUMP", "JUMP </s>", "I_JUMP"]
    _, changes = ACTIONS.read(row.split() for row in rows)
    assert changes == {"read JUMP as I_JUMP": 2, "cut at </s>": 1}


@given(st.lists(st.sampled_from(sorted(ACTIONS.vocabulary))))
def test_what_is_spelled_as_the_task_does_is_left_alone(tokens: list[str]) -> None:
    (read,), changes = ACTIONS.read([tokens])
    assert (list(read), changes) == (tokens, {})


@given(st.lists(st.text(max_size=12), max_size=8))
def test_whatever_is_said_is_read_and_reading_again_changes_nothing(words: list[str]) -> None:
    once, _ = ACTIONS.read([words])
    again, _ = ACTIONS.read(once)
    assert [token for row in again for token in row] == [token for row in once for token in row]


def test_tokens_with_spaces_and_signs_are_read_too() -> None:
    grounded = tasks.get("gscan/compositional")
    actions = Normalizer(frozenset(["turn left", "turn right", "walk", "."]), grounded.aliases)
    for text in ("turn left walk .", "Turn_Left, WALK .", "LTURN walk ."):
        (read,), _ = actions.read([text.split()])
        assert read == ("turn left", "walk", ".")
    french = Normalizer(frozenset(["tu", "es", "fatigue", "."]))
    (read,), _ = french.read(["Tu es fatigué.".split()])
    assert read == ("tu", "es", "fatigue", ".")
