"""Back-mapping: a command is right if it means the given actions (Bastings et al. 2018, 6.1).

For the source `I_TURN_LEFT I_JUMP I_TURN_LEFT I_JUMP` of NACS, both `jump left twice` and
`jump left and jump left` are right.
"""

from daxy.metrics._metric import Accepted

METRIC = Accepted("back_mapping", "the prediction is a command of SCAN that means the source")
