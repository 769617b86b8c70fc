"""The scorer: a fresh process from the base revision that alone decides the outcome."""

from __future__ import annotations

from typing import Annotated, Any

import orjson
from pydantic import BaseModel, Field, FiniteFloat, ValidationError

from bot.display import printable, scrub
from bot.records import Episode, Outcome
from bot.sandbox import Finished


class ScoreLine(BaseModel):
    """What a scorer prints as its last line."""

    score: Annotated[FiniteFloat, Field(strict=True)] | None = None
    outcome: Outcome
    score_breakdown: dict[str, Any] = Field(default_factory=dict)


def apply_score(episode: Episode, finished: Finished) -> None:
    """Set score and outcome from what the scorer printed.

    A scorer that crashes, hangs or prints something else makes the episode `invalid`: that is
    no failure of the harness.
    """
    problem = ""
    if finished.timed_out:
        problem = "did not end within its time"
    elif finished.code != 0:
        said = scrub(printable(finished.stderr.decode("utf-8", "replace")[-400:]))
        problem = f"exited with {finished.code}" + (f": {said}" if said else "")
    else:
        lines = [line for line in finished.stdout.splitlines() if line.strip()]
        try:
            line = ScoreLine.model_validate(orjson.loads(lines[-1]))
        except (IndexError, orjson.JSONDecodeError):
            problem = "printed no JSON object as its last line"
        except ValidationError as error:
            first = error.errors()[0]
            key = ".".join(str(part) for part in first["loc"]) or "the line"
            problem = f"printed {key} wrong: {first['msg']}"
        else:
            episode.score, episode.outcome = line.score, line.outcome
            episode.score_breakdown = line.score_breakdown
            return
    make_invalid(episode, f"The scorer {problem}.")


def make_invalid(episode: Episode, why: str) -> None:
    """Infrastructure failed: the episode counts neither for nor against the harness."""
    episode.outcome, episode.score, episode.score_breakdown = "invalid", None, {}
    episode.end_reason, episode.error = "infrastructure", why
