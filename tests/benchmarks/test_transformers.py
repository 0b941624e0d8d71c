"""The benchmark of Transformers counts what PyTorch counts."""

from __future__ import annotations

import numpy as np
import pytest
from tests import tiny

from daxy.models import transformer

torch = pytest.importorskip("torch", reason="no PyTorch: the extra `peers` installs it")
benchmark = pytest.importorskip("benchmarks.transformers")
peers = pytest.importorskip("benchmarks.peers.torch_transformer")
flop_counter = pytest.importorskip("torch.utils.flop_counter")

pytestmark = pytest.mark.peer


@pytest.mark.parametrize("name", benchmark.CONFIGS)
def test_the_products_of_a_step_are_those_that_pytorch_counts(name: str) -> None:
    """But for the keys of distances, which a batch has once."""
    config: transformer.Config = benchmark.CONFIGS[name]
    count, source, target = 64, 7, 9
    pairs = tiny.batch(source, target, count=count)
    network = peers.EncoderDecoder(
        peers.TransformerConfig(**vars(config), dropout=0.1, **tiny.SYMBOLS)
    )
    batch = (torch.tensor(np.asarray(codes)).long() for codes in pairs[:2])
    with flop_counter.FlopCounterMode(display=False) as counter:
        network.loss(*batch).backward()
    symbols = tiny.SYMBOLS["target_symbols"]
    expected = count * benchmark.gigaflop(config, source, target, symbols)
    assert counter.get_total_flops() / 1e9 == pytest.approx(expected, rel=0.01)
