"""The policy that decides, from the train split alone, whether a candidate is worth the gate.

`evolve` hands over the comparison of the harness before and after one spec on the train tasks.
Train tasks may be over-fitted, so passing here proves nothing; failing here saves the dear
comparison on the select split, and the error level that it would use up. The default wants more
than twice as many tasks fixed as broken: a candidate that trades tasks for others would also
spoil the comparison of those that it is tried together with. On tasks whose results change from
run to run anyway, no repair can do that; there it is enough that chance alone would rarely give
such a gain.
"""

from __future__ import annotations

from bot.gate.paired_test import Comparison, sign_flip_p_value

FIXED_FOR_BROKEN = 2
RARELY = 0.1


def screen(comparison: Comparison) -> str | None:
    """None when the candidate may go on; else one sentence with its numbers."""
    fixed, broken, net = len(comparison.fixed), len(comparison.broken), float(comparison.net)
    p_value = sign_flip_p_value(comparison.gains.values())
    if net > 0 and (fixed > FIXED_FOR_BROKEN * broken or p_value <= RARELY):
        return None
    return (
        f"On the train split it fixes {fixed} and breaks {broken} of {comparison.tasks} tasks, "
        f"net {round(net, 2):+g}, p = {p_value:.2g}."
    )
