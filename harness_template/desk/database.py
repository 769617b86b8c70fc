"""The desk's SQLite database: the same seeded orders and customers every time."""

from __future__ import annotations

import random
import sqlite3
from pathlib import Path

FILE = "desk.sqlite3"
ORDERS = range(3200, 3700)
CUSTOMERS = range(810, 900)

_FIRST = ["Ada", "Bela", "Cleo", "Dora", "Emil", "Finn", "Gita", "Hugo", "Iris", "Jona"]
_LAST = ["Abel", "Brook", "Cole", "Dahl", "Ebner", "Frost", "Grant", "Holm", "Ivers"]
_CITIES = ["Lisbon", "Oslo", "Vienna", "Dublin", "Prague", "Madrid", "Athens", "Berlin", "Paris"]
_ITEMS = ["lamp", "kettle", "blanket", "mirror", "bicycle", "guitar", "tent", "camera", "desk"]


def create(path: Path) -> None:
    """Write a fresh database with every order and customer to `path`."""
    chance = random.Random(20)
    customers = []
    for number in CUSTOMERS:
        place = number - CUSTOMERS.start
        first, last = _FIRST[place % len(_FIRST)], _LAST[place // len(_FIRST)]
        customers.append(
            (
                str(number),
                f"{first} {last}",
                f"{first}.{last}@example.com".lower(),
                f"555-{chance.randrange(1000, 9999)}",
                chance.choice(["basic", "silver", "gold"]),
            )
        )
    orders = [
        (
            str(number),
            chance.choice(["open", "packed", "shipped"]),
            str(chance.randrange(11, 990)),
            chance.choice(_ITEMS),
            chance.choice(_CITIES),
            str(chance.choice(CUSTOMERS)),
        )
        for number in ORDERS
    ]
    with sqlite3.connect(path) as database:
        # The file lives for one episode: no need to wait for the disk.
        database.execute("pragma synchronous = off")
        database.execute(
            "create table customers (id text primary key, name text, email text, phone text, "
            "tier text)"
        )
        database.execute(
            "create table orders (id text primary key, status text, total text, item text, "
            "city text, customer text)"
        )
        database.executemany("insert into customers values (?, ?, ?, ?, ?)", customers)
        database.executemany("insert into orders values (?, ?, ?, ?, ?, ?)", orders)


def rows(path: Path) -> dict[str, dict[str, tuple[str, ...]]]:
    """Table → id → row, of the database at `path`."""
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as database:
        return {
            table: {row[0]: tuple(row) for row in database.execute(f"select * from {table}")}
            for table in ("customers", "orders")
        }
