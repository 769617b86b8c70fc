from harness.schema import (
    brief,
    check_choice,
    check_object,
    check_record,
    check_type,
    message,
    repair,
)

SCHEMA = {
    "path": {"required": True, "pattern": r"[a-z/.]+"},
    "mode": {"choices": ["read", "write"], "default": "read"},
    "count": {"type": "number"},
    "all": {"type": "flag"},
    "lines": {"type": "list", "most": 2},
    "odd": {"type": "shape"},
}
VALUES = [
    {},
    {"path": "a/b.py"},
    {"path": "A B", "mode": "append", "count": "12", "all": "yes", "lines": [1, 2, 3]},
    {"path": "a", "mode": "read", "count": " 7 ", "all": "True", "lines": []},
    {"path": 3, "count": True, "odd": 1, "extra": None, "more": 1},
    {"path": "a long text with many words", "mode": "Write", "count": -1.5, "lines": "ab"},
    {"count": "-3", "all": "TRUE", "mode": None, "lines": [[1, [2]], "x"], "path": ""},
]


def calls():
    for value in VALUES:
        for check in (check_object, check_record):
            yield lambda c=check, v=value: [tuple(p) for p in c(SCHEMA, v)]
            yield lambda c=check, v=value: [tuple(p) for p in c(SCHEMA, v, "call")]
            yield lambda c=check, v=value: message(c(SCHEMA, v, "call"))
            yield lambda c=check, v=value: brief(c(SCHEMA, repair(SCHEMA, v)))
        yield lambda v=value: repair(SCHEMA, v)
    for value in (1, 1.5, True, "x" * 20, [], None, {}):
        for wanted in ("text", "number", "flag", "list", "thing"):
            yield lambda v=value, w=wanted: [tuple(p) for p in check_type("p", v, w)]
        yield lambda v=value: [tuple(p) for p in check_choice("p", v, [1, "x"])]
