"""Requests and answers against what GitHub publishes of its REST API.

`github_api_facts.json` holds the paths, parameters and types of the endpoints that the bot calls.
Beyond what a schema says, unknown keys are faults: GitHub ignores them, so a typing error in a
field's name would show in no answer.
"""

from __future__ import annotations

import copy
import json
from functools import cache
from pathlib import Path
from typing import Any

from openapi_core import OpenAPI
from openapi_core.exceptions import OpenAPIError
from openapi_core.testing import MockRequest, MockResponse

HOST = "https://api.github.com"
NOT_LISTED = {("GET", "permission")}
"""Endpoints that the bot calls and the document does not hold: method and last word."""


@cache
def _document() -> dict[str, Any]:
    path = Path(__file__).with_name("github_api_facts.json")
    document: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return document


@cache
def _strict() -> OpenAPI:
    return OpenAPI.from_dict(_document())


@cache
def _partial() -> OpenAPI:
    """The document with nothing required in answers: the fake leaves out what nobody reads."""
    document = copy.deepcopy(_document())
    _drop_required(document["components"]["schemas"])
    return OpenAPI.from_dict(document)


def _drop_required(value: Any) -> None:
    if isinstance(value, dict):
        if isinstance(value.get("required"), list):
            del value["required"]
        for part in value.values():
            _drop_required(part)
    elif isinstance(value, list):
        for part in value:
            _drop_required(part)


def check_exchange(
    method: str, path: str, query: dict[str, str], body: Any, status: int, answer: Any
) -> str | None:
    """What is wrong with a request or its answer; None where nothing is."""
    if (method, path.rpartition("/")[2]) in NOT_LISTED:
        return None
    data = b"" if body is None else json.dumps(body).encode()
    request = MockRequest(
        HOST, method.lower(), path, args=query, data=data, content_type="application/json"
    )
    try:
        _strict().validate_request(request)
    except OpenAPIError as error:
        return f"{method} {path}: {error}"
    operation = _operation(method, path)
    known = {_resolve(parameter)["name"] for parameter in operation.get("parameters", [])}
    unknown = sorted(set(query) - known)
    content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    unknown += _unknown_keys(body, content.get("schema", {}))
    if unknown:
        return f"{method} {path}: unknown {', '.join(unknown)}"
    if status >= 300 or status == 204:
        return None
    response = MockResponse(
        json.dumps(answer).encode(), status_code=status, content_type="application/json"
    )
    try:
        _partial().validate_response(request, response)
    except OpenAPIError as error:
        return f"answer to {method} {path}: {error} {error.__cause__}"
    declared = _resolve(operation["responses"].get(str(status), {}))
    schema = declared.get("content", {}).get("application/json", {}).get("schema", {})
    unknown = _unknown_keys(answer, schema)
    return f"answer to {method} {path}: unknown {', '.join(unknown)}" if unknown else None


def _operation(method: str, path: str) -> dict[str, Any]:
    """The operation of a path; the template with the fewest placeholders fits best."""
    parts = path.strip("/").split("/")
    found: list[tuple[int, dict[str, Any]]] = []
    for template, operations in _document()["paths"].items():
        names = template.strip("/").split("/")
        fits = len(names) == len(parts) and all(
            name == part or name.startswith("{") for name, part in zip(names, parts, strict=True)
        )
        if fits and method.lower() in operations:
            found.append((template.count("{"), operations[method.lower()]))
    return min(found, key=lambda item: item[0])[1]


def _resolve(value: dict[str, Any]) -> dict[str, Any]:
    while "$ref" in value:
        target: Any = _document()
        for part in value["$ref"].removeprefix("#/").split("/"):
            target = target[part]
        value = target
    return value


def _unknown_keys(value: Any, schema: dict[str, Any]) -> list[str]:
    """Keys of `value` that no alternative of `schema` has, at any depth."""
    schemas = _alternatives(schema)
    if isinstance(value, list):
        items = [one["items"] for one in schemas if "items" in one]
        return sorted({key for part in value for one in items for key in _unknown_keys(part, one)})
    if not isinstance(value, dict):
        return []
    properties: dict[str, Any] = {}
    for one in schemas:
        properties |= one.get("properties", {})
    if not properties:
        return []
    unknown = [key for key in value if key not in properties]
    for key in value.keys() & properties.keys():
        unknown += [f"{key}.{name}" for name in _unknown_keys(value[key], properties[key])]
    return unknown


def _alternatives(schema: dict[str, Any]) -> list[dict[str, Any]]:
    schema = _resolve(schema)
    found = [schema]
    for word in ("allOf", "oneOf", "anyOf"):
        for part in schema.get(word, []):
            found += _alternatives(part)
    return found
