"""Write the three task files. The same seed gives the same bytes: `python -m tasks.generate`.

Each family has several ways to ask; orders and customers are drawn without repetition, so that no
two tasks of any split ask the same.
"""

from __future__ import annotations

import json
import random
import tempfile
from pathlib import Path
from typing import Any

from desk import database

FOLDER = Path(__file__).resolve().parent

SEED = 2026
SPLITS = {"train": 40, "select": 72, "test": 48}
FAMILIES = ("order", "buyer", "customer", "order", "cancel")

ORDER = {
    "status": ["What is the status of order {o}?", "What is the state of order {o}?"],
    "total": ["How much was order {o}?", "What was the amount of order {o}?"],
    "item": ["Which product is in order {o}?", "What was bought in order {o}?"],
    "city": ["What is the shipping address of order {o}?", "What is the destination of order {o}?"],
}
CUSTOMER = {
    "name": ["What is the name of customer {c}?"],
    "email": ["What is the email of customer {c}?", "Give me the email address of customer {c}."],
    "phone": ["What is the phone number of customer {c}?", "How can I call customer {c}?"],
}
BUYER = {
    "name": ["What is the name of the customer who placed order {o}?"],
    "email": ["What is the email of the customer who placed order {o}?"],
    "phone": ["What is the phone number of the customer of order {o}?"],
    "tier": ["Which tier has the customer of order {o}?"],
}
CANCEL = ["Cancel order {o}.", "Please cancel order {o}.", "I want to cancel order {o}."]

Task = dict[str, Any]


def write_splits(target: Path) -> None:
    """Write `train.jsonl`, `select.jsonl` and `test.jsonl` into the folder `target`."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / database.FILE
        database.create(path)
        world = database.rows(path)
    chance = random.Random(SEED)
    orders = chance.sample(sorted(world["orders"]), len(world["orders"]))
    asked = chance.sample([(c, f) for c in sorted(world["customers"]) for f in CUSTOMER], 90)
    number = 0
    for split, size in SPLITS.items():
        lines = []
        for place in range(size):
            family = FAMILIES[place % len(FAMILIES)]
            number += 1
            task = make_task(family, world, orders, asked, chance)
            lines.append(json.dumps({"format_version": 1, "task_id": f"task-{number:04d}", **task}))
        (target / f"{split}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


def make_task(
    family: str,
    world: dict[str, dict[str, tuple[str, ...]]],
    orders: list[str],
    asked: list[tuple[str, str]],
    chance: random.Random,
) -> Task:
    """Input, expectation and tags of one task; takes what it asks about off the lists."""
    if family == "customer":
        customer, field = asked.pop()
        message = chance.choice(CUSTOMER[field]).format(c=customer)
        return task(message, family, answer=customer_field(world, customer, field))
    order = orders.pop()
    if family == "cancel":
        return task(chance.choice(CANCEL).format(o=order), family, cancelled=[order])
    forms = ORDER if family == "order" else BUYER
    field = chance.choice(sorted(forms))
    message = chance.choice(forms[field]).format(o=order)
    row = world["orders"][order]
    if family == "order":
        return task(
            message, family, answer=row[1 + ("status", "total", "item", "city").index(field)]
        )
    return task(message, family, answer=customer_field(world, row[5], field))


def customer_field(world: dict[str, dict[str, tuple[str, ...]]], customer: str, field: str) -> str:
    return world["customers"][customer][1 + ("name", "email", "phone", "tier").index(field)]


def task(message: str, family: str, **expected: Any) -> Task:
    return {"input": {"message": message}, "expected": expected, "tags": [family]}


if __name__ == "__main__":
    write_splits(FOLDER)
