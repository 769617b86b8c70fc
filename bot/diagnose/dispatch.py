"""The dispatch seam's shape: which parameter is the tool's name, which its arguments."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from bot.diagnose.seams import Seam

_NAMES = ("name", "tool", "tool_name", "action", "action_name", "function", "command")
_ARGUMENTS = ("arguments", "args", "kwargs", "params", "parameters", "tool_args", "inputs")


@dataclass(frozen=True)
class DispatchShape:
    """Parameter names; `call` is the seam called again with other name and arguments."""

    name: str
    arguments: str
    call: str  # e.g. `dispatch_tool(world, {tool}, {arguments})`, to be filled in


def dispatch_shape(seam: Seam) -> DispatchShape | None:
    """The shape of a dispatch function, by annotations, else by usual names; None if unclear."""
    parameters = seam.parameters
    name = _pick(parameters, ("str",), _NAMES)
    arguments = _pick(parameters, ("dict", "Mapping", "MutableMapping"), _ARGUMENTS)
    if name is None or arguments is None or name == arguments:
        return None
    positional = [a.arg for a in (*seam.node.args.posonlyargs, *seam.node.args.args)]
    filled = {name: "{tool}", arguments: "{arguments}"}
    owner = positional[0] if positional and positional[0] in ("self", "cls") else None
    function = f"{owner}.{seam.node.name}" if owner else seam.node.name
    passed = [filled.get(p, p) for p in positional if p != owner]
    passed += [f"{a.arg}={filled.get(a.arg, a.arg)}" for a in seam.node.args.kwonlyargs]
    call = f"{function}({', '.join(passed)})"
    if isinstance(seam.node, ast.AsyncFunctionDef):
        call = f"await {call}"
    return DispatchShape(name, arguments, call)


def _pick(parameters: list[ast.arg], types: tuple[str, ...], names: tuple[str, ...]) -> str | None:
    """The one parameter with a usual name, else the only one with such an annotation."""
    for usual in names:
        if any(p.arg == usual for p in parameters):
            return usual
    fitting = [
        p.arg
        for p in parameters
        if p.annotation is not None
        and ast.unparse(p.annotation).split("[")[0].split(".")[-1] in types
    ]
    return fitting[0] if len(fitting) == 1 else None
