"""The policy that decides, from the train split alone, whether a candidate is worth the gate.

`evolve` hands over the comparison of the harness before and after one spec on the train tasks.
Train tasks may be over-fitted, so passing here proves nothing; failing here saves the dear
comparison on the select split, and the error level that it would use up. The default wants more
than twice as many tasks fixed as broken: a candidate that trades tasks for others would also
spoil the comparison of those that it is tried together with.
"""

from __future__ import annotations

from bot.gate.paired_test import Comparison

FIXED_FOR_BROKEN = 2


def screen(comparison: Comparison) -> str | None:
    """None when the candidate may go on; else one sentence with its numbers."""
    if len(comparison.fixed) > FIXED_FOR_BROKEN * len(comparison.broken):
        return None
    return (
        f"On the train split it fixes {len(comparison.fixed)} and breaks "
        f"{len(comparison.broken)} of {comparison.tasks} tasks."
    )
