"""Networks: an architecture with its configuration and its training."""

from daxy.learners.neural.learner import Neural

LEARNER = Neural
