"""What the desk does for a tool call."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any, NamedTuple

ORDER_FIELDS = ("status", "total", "item", "city", "customer")
CUSTOMER_FIELDS = ("name", "email", "phone", "tier")
TOOLS = {
    "lookup_order": ("order_id", "field"),
    "lookup_customer": ("customer_id", "field"),
    "cancel_order": ("order_id",),
}


class Reply(NamedTuple):
    result: str
    error: bool


def call(path: Path, tool: str, arguments: dict[str, Any]) -> Reply:
    """Run one tool on the database at `path`; a wrong call is a reply with `error`."""
    if tool not in TOOLS:
        return Reply(f"error: unknown tool {tool}", True)
    takes = TOOLS[tool]
    if len(arguments) != len(takes):
        return Reply(f"error: {tool} takes {len(takes)} arguments, not {len(arguments)}", True)
    for name in takes:
        if name not in arguments:
            return Reply(f"error: missing argument {name}", True)
    with sqlite3.connect(path) as database:
        if tool == "lookup_order":
            return _read(database, "orders", "order", arguments, ORDER_FIELDS)
        if tool == "lookup_customer":
            return _read(database, "customers", "customer", arguments, CUSTOMER_FIELDS)
        return _cancel(database, arguments)


def _read(
    database: sqlite3.Connection,
    table: str,
    kind: str,
    arguments: dict[str, Any],
    fields: tuple[str, ...],
) -> Reply:
    number, field = str(arguments[f"{kind}_id"]), str(arguments["field"])
    row = database.execute(f"select * from {table} where id = ?", (number,)).fetchone()
    if row is None:
        return Reply(f"error: unknown {kind} {number}", True)
    if field not in fields:
        return Reply(f"error: unknown field {field}", True)
    return Reply(row[1 + fields.index(field)], False)


def _cancel(database: sqlite3.Connection, arguments: dict[str, Any]) -> Reply:
    number = str(arguments["order_id"])
    changed = database.execute("update orders set status = 'cancelled' where id = ?", (number,))
    if changed.rowcount == 0:
        return Reply(f"error: unknown order {number}", True)
    return Reply("cancelled", False)
