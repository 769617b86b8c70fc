import json
from collections.abc import Callable

import pytest

from bot.diagnose.contract import Parameter, Tool, Value, load_contract
from bot.errors import InputError

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "read_book",
            "description": "Read one field of a book.",
            "parameters": {
                "type": "object",
                "properties": {
                    "isbn": {"type": "string", "format": "isbn", "pattern": "^\\d{10}$"},
                    "field": {
                        "oneOf": [
                            {"const": "title", "description": "what it is called"},
                            {"const": "author_id", "description": "who wrote it"},
                        ]
                    },
                    "lang": {"enum": ["en", "de"], "examples": ["en"]},
                },
                "required": ["isbn", "field"],
            },
            "returns": {"author_id": {"format": "author-id"}},
        },
    },
    {"name": "sell", "parameters": {}, "returns": {"format": "receipt"}},
]


def files(**content: str) -> Callable[[str], bytes | None]:
    named = {name.replace("__", "/").replace("_py", ".py"): text for name, text in content.items()}
    return lambda path: named[path].encode() if path in named else None


def check(tools: list[Tool]) -> None:
    read, sell = tools
    assert read.name == "read_book"
    assert read.parameters[0] == Parameter("isbn", pattern="^\\d{10}$", format="isbn")
    assert read.parameters[1].values == (
        Value("title", "what it is called"),
        Value("author_id", "who wrote it"),
    )
    assert read.parameters[2].values == (Value("en"), Value("de"))
    assert not read.parameters[2].required
    assert read.returns == {"author_id": "author-id"}
    assert sell.returns == {"": "receipt"}


def test_a_json_file() -> None:
    read = {"tools.json": json.dumps({"tools": TOOLS}).encode()}.get
    check(load_contract("tools.json", read))


def test_a_literal_in_a_module_and_in_a_package_under_src() -> None:
    code = f"import os\nTOOLS: list = {TOOLS!r}\n"
    check(load_contract("agent:TOOLS", files(agent_py=code)))
    check(load_contract("lib.agent:TOOLS", {"src/lib/agent.py": code.encode()}.get))


@pytest.mark.parametrize(
    ("where", "content", "said"),
    [
        ("tools.json", "", "not JSON"),
        ("tools.json", "[" * 100_000, "not JSON"),
        ("tools.json", "{}", "no list of tools"),
        ("tools.json", '[{"x": 1}]', "tool 1 has no name"),
        ("missing.json", "[]", "not in the harness"),
        ("agent:TOOLS", "TOOLS = make()", "not a plain literal"),
        ("agent:TOOLS", "x = 1", "assigns no TOOLS"),
        ("agent:TOOLS", "def", "does not parse"),
        ("nowhere:TOOLS", "", "names no module"),
    ],
)
def test_each_fault_is_one_clear_sentence(where: str, content: str, said: str) -> None:
    read = {"tools.json": content.encode(), "agent.py": content.encode()}.get
    with pytest.raises(InputError) as caught:
        load_contract(where, read)
    assert said in caught.value.message
