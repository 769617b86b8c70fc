"""The policy that decides, from the train split alone, whether a candidate is worth the gate.

`evolve` hands over the comparison of the harness before and after one spec on the train tasks.
Train tasks may be over-fitted, so passing here proves nothing; failing here saves the dear
comparison on the select split. The default wants more tasks fixed than broken.
"""

from __future__ import annotations

from bot.gate.paired_test import Comparison


def screen(comparison: Comparison) -> str | None:
    """None when the candidate may go on; else one sentence with its numbers."""
    if comparison.net > 0:
        return None
    return (
        f"On the train split it fixes {len(comparison.fixed)} and breaks "
        f"{len(comparison.broken)} of {comparison.tasks} tasks."
    )
