"""Execution: actions are right if they have the effect of the command in the world, in its manner.

The paper accepts a path along the column first (Ruis et al. 2020, section 3), and scores by exact
match all the same.
"""

from daxy.metrics._metric import Accepted

METRIC = Accepted("executes", "the actions have the command's effect, in its manner, on any path")
