"""What the model is told: its job, its tools, and one example."""

from __future__ import annotations

from typing import Any

Message = dict[str, str]

INSTRUCTIONS = """You answer requests at an order desk. Reply with one tool call and nothing else.
An argument may be a tool call itself."""

EXAMPLE = [
    {"role": "user", "content": "What is the status of order 3101?"},
    {"role": "assistant", "content": "lookup_order(3101, status)"},
]


def build_messages(request: str, tools: list[dict[str, Any]]) -> list[Message]:
    """The conversation up to the user's request."""
    system = f"{INSTRUCTIONS}\n\nTools:\n{describe_tools(tools)}"
    return [
        {"role": "system", "content": system},
        *EXAMPLE,
        {"role": "user", "content": request},
    ]


def describe_tools(tools: list[dict[str, Any]]) -> str:
    """One line a tool, and one for each value that a parameter may take."""
    lines = []
    for tool in tools:
        parameters = tool["parameters"]["properties"]
        lines.append(f"{tool['name']}({', '.join(parameters)}): {tool['description']}")
        for name, schema in parameters.items():
            for choice in schema.get("oneOf", []):
                lines.append(f"  {name} {choice['const']}: {choice['description']}")
    return "\n".join(lines)
