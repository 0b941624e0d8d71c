"""A product and its gradients are those of plain JAX."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from daxy.kernels.matmul import CACHE_STRIDE, matmul


# A CPU forms the weight's gradient in another way where rows fill a stride of its cache.
@pytest.mark.parametrize("shape", [(4, 6), (6, 4), (5, 5), (3, CACHE_STRIDE // 4)])
def test_the_gradients_of_a_product_are_those_of_a_plain_one(shape: tuple[int, int]) -> None:
    draws = np.random.default_rng(0)
    values, weight = draws.normal(size=(2, 3, shape[0])), draws.normal(size=shape)
    cotangent = draws.normal(size=(2, 3, shape[1]))
    _, pull_back = jax.vjp(matmul, jnp.asarray(values), jnp.asarray(weight))
    to_values, to_weight = pull_back(jnp.asarray(cotangent))
    np.testing.assert_allclose(to_values, cotangent @ weight.T, rtol=1e-5, atol=1e-5)
    expected = np.einsum("bti,bto->io", values, cotangent)
    np.testing.assert_allclose(to_weight, expected, rtol=1e-5, atol=1e-5)
