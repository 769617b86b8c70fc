"""How much of the 5 % error each candidate of an `evolve` run may use.

`evolve` asks for the level of the next comparison, and says afterwards whether the candidate was
accepted. The policy is Online Fallback (Tian and Ramdas, "Online control of the familywise error
rate", 2021, section 3): the k-th comparison has α·γ_k, with γ_k = 6/(π²k²), plus the whole level
of the comparison before it if that one accepted. The chance of *at least one* false accept over
all candidates and generations of the run stays below α, however the p-values depend on each other.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field


@dataclass
class ErrorBudget:
    """Levels for a sequence of comparisons whose number is not known beforehand."""

    alpha: float = 0.05
    used: list[tuple[float, bool]] = field(default_factory=list)

    def level(self) -> float:
        """The level for the next comparison."""
        k = len(self.used) + 1
        own = self.alpha * 6 / (math.pi**2 * k**2)
        inherited = self.used[-1][0] if self.used and self.used[-1][1] else 0.0
        return own + inherited

    def settle(self, accepted: bool) -> None:
        """The comparison at `level()` has ended."""
        self.used.append((self.level(), accepted))
