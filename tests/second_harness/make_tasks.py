"""Write tasks/{train,select,test}.jsonl; the same seed gives the same bytes."""

import itertools
import json
import random
from pathlib import Path

from agent import DAYS, UNITS

SIZES = {"train": 30, "select": 60, "test": 30}
NAMES = {
    "kg": ("kg", "kilograms", "kilos"),
    "l": ("l", "litres"),
    "cup": ("cups",),
    "tbsp": ("tablespoons",),
    "tsp": ("teaspoons",),
}
FOOD = {
    "milk": ("milk", "cream", "yoghurt"),
    "cheese": ("cheese", "cheddar", "gouda"),
    "eggs": ("eggs", "omelette"),
    "fish": ("fish", "salmon", "cod", "trout"),
    "soup": ("soup", "stew", "broth"),
    "rice": ("rice", "pilaf", "risotto"),
}


def conversions():
    for unit, names in NAMES.items():
        for name, amount in itertools.product(names, range(2, 12)):
            yield f"How much are {amount} {name}?", float(amount * UNITS[unit])


def metric():
    for unit, names in NAMES.items():
        to = "grams" if unit == "kg" else "millilitres"
        for name, amount in itertools.product(names, range(2, 12)):
            yield f"Convert {amount} {name} to {to}.", float(amount * UNITS[unit])


def keeping():
    for food, names in FOOD.items():
        for name in names:
            for question in (
                f"How many days does {name} keep?",
                f"How long does {name} keep in the fridge?",
                f"How long can I keep {name}?",
            ):
                yield question, float(DAYS[food])


def main():
    chance = random.Random(7)
    families = {"convert": conversions, "metric": metric, "keeps": keeping}
    pools = {name: list(make()) for name, make in families.items()}
    for pool in pools.values():
        chance.shuffle(pool)
    turns = itertools.cycle(["convert", "keeps", "metric", "keeps"])
    number = 0
    for split, size in SIZES.items():
        lines = []
        while len(lines) < size:
            family = next(turns)
            if not pools[family]:
                continue
            question, answer = pools[family].pop()
            number += 1
            lines.append(
                json.dumps(
                    {
                        "format_version": 1,
                        "task_id": f"kitchen-{number}",
                        "input": {"question": question},
                        "expected": {"answer": answer},
                        "tags": [family],
                    }
                )
            )
        path = Path(__file__).parent / "tasks" / f"{split}.jsonl"
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
