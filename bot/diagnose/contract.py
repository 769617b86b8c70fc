"""The tool contract: what a harness's tools are called, take and give back.

It is data in the harness's repository, named by `contract` in the table: a JSON file, or
`module:NAME` where NAME is assigned a literal. The form is that of OpenAI's `tools` (with or
without the `{"type": "function", "function": …}` wrapping), parameters as JSON Schema. Of JSON
Schema, `description`, `enum`, `oneOf`/`anyOf` of `const`, `pattern`, `format`, `examples`,
`default` and `required` are read; a tool may say what it gives back under `returns`, a schema of
the same kind, or a map from the value of an argument to such a schema.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from bot.diagnose.seams import module_paths
from bot.errors import InputError


@dataclass(frozen=True)
class Value:
    """One value that a parameter may take."""

    const: str
    description: str = ""


@dataclass(frozen=True)
class Parameter:
    name: str
    description: str = ""
    values: tuple[Value, ...] = ()
    pattern: str | None = None
    format: str | None = None  # the kind of identifier
    examples: tuple[str, ...] = ()
    required: bool = True


@dataclass(frozen=True)
class Tool:
    """`returns`: argument value → format of what the tool gives back then; "" is always."""

    name: str
    description: str = ""
    parameters: tuple[Parameter, ...] = ()
    returns: Mapping[str, str] = field(default_factory=dict)

    def parameter(self, name: str) -> Parameter | None:
        return next((p for p in self.parameters if p.name == name), None)


def load_contract(where: str, read: Callable[[str], bytes | None]) -> list[Tool]:
    """The tools that `where` names (see the module's docstring); `read` gives a file's bytes.

    Raises InputError when the file or name is missing or is not such a contract.
    """
    if ":" in where:
        module, name = where.split(":", 1)
        path, content = _first_readable(module_paths(module), read)
        if content is None:
            raise InputError(
                f"The tool contract {where!r} names no module of the harness.",
                "Correct `contract` in the table.",
            )
        document = _literal(content, name, path)
    else:
        path, content = where, read(where)
        if content is None:
            raise InputError(
                f"The tool contract {where!r} is not in the harness.",
                "Correct `contract` in the table.",
            )
        try:
            document = json.loads(content)
        except (ValueError, RecursionError) as error:
            raise InputError(f"{path} is not JSON: {error}.", "Mend the file.") from None
    return parse_contract(document, path)


def parse_contract(document: Any, where: str) -> list[Tool]:
    """The tools in a parsed document: a list, or an object with a `tools` list."""
    if isinstance(document, dict):
        document = document.get("tools")
    if not isinstance(document, list) or not document:
        raise InputError(f"{where} holds no list of tools.", "See `contract` in the README.")
    tools = []
    for position, entry in enumerate(document, 1):
        body = entry.get("function", entry) if isinstance(entry, dict) else None
        if not isinstance(body, dict) or not isinstance(body.get("name"), str):
            raise InputError(f"{where}: tool {position} has no name.", "Mend the contract.")
        tools.append(_tool(body, entry))
    return tools


def _tool(body: dict[str, Any], entry: dict[str, Any]) -> Tool:
    schema = body.get("parameters") or {}
    properties = schema.get("properties") or {}
    required = set(schema.get("required") or properties)
    return Tool(
        name=body["name"],
        description=str(body.get("description") or ""),
        parameters=tuple(
            _parameter(name, prop if isinstance(prop, dict) else {}, name in required)
            for name, prop in properties.items()
        ),
        returns=_returns(body.get("returns", entry.get("returns"))),
    )


def _parameter(name: str, schema: dict[str, Any], required: bool) -> Parameter:
    return Parameter(
        name=name,
        description=str(schema.get("description") or ""),
        values=_values(schema),
        pattern=schema.get("pattern") if isinstance(schema.get("pattern"), str) else None,
        format=schema.get("format") if isinstance(schema.get("format"), str) else None,
        examples=tuple(str(example) for example in schema.get("examples") or ()),
        required=required,
    )


def _values(schema: dict[str, Any]) -> tuple[Value, ...]:
    choices = schema.get("oneOf") or schema.get("anyOf") or ()
    described = [
        Value(str(c["const"]), str(c.get("description") or c.get("title") or ""))
        for c in choices
        if isinstance(c, dict) and "const" in c
    ]
    return tuple(described) or tuple(Value(str(v)) for v in schema.get("enum") or ())


def _returns(schema: Any) -> dict[str, str]:
    """Formats of what comes back, by argument value; `""` for a plain result."""
    if not isinstance(schema, dict):
        return {}
    if isinstance(schema.get("format"), str):
        return {"": schema["format"]}
    fields = schema.get("properties", schema)
    return {
        str(name): value["format"]
        for name, value in fields.items()
        if isinstance(value, dict) and isinstance(value.get("format"), str)
    }


def _first_readable(
    paths: list[str], read: Callable[[str], bytes | None]
) -> tuple[str, bytes | None]:
    for path in paths:
        content = read(path)
        if content is not None:
            return path, content
    return paths[0], None


def _literal(content: bytes, name: str, path: str) -> Any:
    try:
        module = ast.parse(content)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise InputError(f"{path} does not parse: {error}.", "Mend the module.") from None
    for node in module.body:
        targets: list[ast.expr] = []
        if isinstance(node, ast.Assign):
            targets = node.targets
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            targets = [node.target]
        if any(isinstance(target, ast.Name) and target.id == name for target in targets):
            try:
                assert isinstance(node, ast.Assign | ast.AnnAssign)
                assert node.value is not None
                return ast.literal_eval(node.value)
            except (ValueError, RecursionError):
                raise InputError(
                    f"{path}: {name} is not a plain literal.",
                    "Write the contract as a literal, or as a JSON file.",
                ) from None
    raise InputError(f"{path} assigns no {name}.", "Correct `contract` in the table.")
