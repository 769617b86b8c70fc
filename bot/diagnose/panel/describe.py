"""A tool of the contract and a pattern in a few lines."""

from __future__ import annotations

from bot.diagnose.contract import Parameter, Tool
from bot.display import printable
from bot.records import Pattern

LONGEST_FACT = 600


def describe_tool(tool: Tool) -> str:
    """A tool of the contract in a few lines."""
    names = ", ".join(parameter.name for parameter in tool.parameters)
    return "\n".join(
        [f"{tool.name}({names}): {tool.description}", *map(_parameter, tool.parameters)]
    )


def _parameter(parameter: Parameter) -> str:
    said = [parameter.description]
    if not parameter.required:
        said.append("optional")
    if parameter.pattern:
        said.append(f"pattern {parameter.pattern}")
    if parameter.values:
        values = [
            f"{v.const} ({v.description})" if v.description else v.const for v in parameter.values
        ]
        said.append(f"one of {', '.join(values)}")
    return f"  {parameter.name}: {'; '.join(part for part in said if part)}"


def describe_pattern(pattern: Pattern, episodes: int) -> str:
    """The figures of a pattern, and what was worked out about whose fault it is."""
    p_value = pattern.contrast.p_value
    shown = p_value if isinstance(p_value, str) else f"p = {p_value:.3g}"
    attribution = pattern.attribution
    rows = [
        f"key: {pattern.key}",
        f"kind: {pattern.kind}",
        f"where: {pattern.component}",
        f"what it says: {pattern.template}",
        f"layer, at a guess: {pattern.layer}",
        f"runs that fail with it: {pattern.failed_episodes} of {episodes}, "
        f"over {pattern.distinct_tasks} tasks",
        f"passing runs that show it: {pattern.passed_episodes}",
        f"how it goes with failing: {shown}",
        f"so far attributed to: {attribution.label} ({attribution.probability:.2f}): "
        + "; ".join(attribution.reasons),
    ]
    return "\n".join(printable(row, LONGEST_FACT) for row in rows)
