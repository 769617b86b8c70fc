"""A kitchen helper: converts amounts and knows how long food keeps.

Reads a task a line on standard input and writes an episode a line on standard output.
"""

import json
import os
import sys
import urllib.request

UNITS = {"kg": 1000, "l": 1000, "tsp": 5, "tbsp": 15, "cup": 240}
DAYS = {"milk": 7, "cheese": 21, "eggs": 28, "fish": 2, "soup": 4, "rice": 5}

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "convert",
            "description": "How many grams or millilitres an amount is.",
            "parameters": {
                "type": "object",
                "properties": {
                    "amount": {"type": "number", "examples": ["2", "5", "3", "4", "6"]},
                    "unit": {
                        "type": "string",
                        "oneOf": [
                            {"const": "kg", "description": "kilograms, kilos"},
                            {"const": "l", "description": "litres"},
                            {"const": "tsp", "description": "teaspoons"},
                            {"const": "tbsp", "description": "tablespoons"},
                            {"const": "cup", "description": "cups"},
                        ],
                    },
                },
                "required": ["amount", "unit"],
            },
        },
    },
    {
        "type": "function",
        "function": {
            "name": "keeps",
            "description": "How many days a food keeps in the fridge.",
            "parameters": {
                "type": "object",
                "properties": {
                    "food": {
                        "type": "string",
                        "oneOf": [
                            {"const": "milk", "description": "cream, yoghurt"},
                            {"const": "cheese", "description": "cheddar, gouda"},
                            {"const": "eggs", "description": "egg, omelette"},
                            {"const": "fish", "description": "salmon, cod, trout"},
                            {"const": "soup", "description": "broth, stew"},
                            {"const": "rice", "description": "pilaf, risotto"},
                        ],
                    },
                },
                "required": ["food"],
            },
        },
    },
]

SYSTEM = "You help in a kitchen. Answer with one tool line and nothing else."


def start(question: str) -> list[dict]:
    """The messages to begin with."""
    lines = [SYSTEM, "Tools:"]
    for tool in TOOLS:
        function = tool["function"]
        keys = ", ".join(function["parameters"]["properties"])
        lines.append(f"{function['name']}: {keys} ({function['description']})")
    return [
        {"role": "system", "content": "\n".join(lines)},
        {"role": "user", "content": "How much are 4 kg?"},
        {"role": "assistant", "content": "convert: 4, kg"},
        {"role": "user", "content": question},
    ]


def ask(messages: list[dict]) -> dict:
    """The model's answer to the messages, as the endpoint gives it."""
    body = {"model": os.environ["OPENAI_MODEL"], "messages": messages, "max_tokens": 40}
    request = urllib.request.Request(
        os.environ["OPENAI_BASE_URL"] + "/chat/completions",
        json.dumps(body).encode(),
        {
            "Content-Type": "application/json",
            "Authorization": "Bearer " + os.environ["OPENAI_API_KEY"],
        },
    )
    with urllib.request.urlopen(request) as response:
        return json.load(response)["choices"][0]


def read_call(reply: str):
    """(tool, arguments) of the first line that names a tool, or None."""
    for line in reply.splitlines():
        name, colon, rest = line.strip().partition(": ")
        if colon and name in PARAMETERS:
            values = [value.strip() for value in rest.split(",")]
            return name, dict(zip(PARAMETERS[name], values, strict=False))
    return None


PARAMETERS = {
    tool["function"]["name"]: list(tool["function"]["parameters"]["properties"]) for tool in TOOLS
}


def use(tool: str, args: dict) -> str:
    """What a tool says; a wrong call is a text that begins with `error`."""
    try:
        if tool == "convert":
            if args["unit"] not in UNITS:
                return f"error: no such unit {args['unit']}"
            return show(float(args["amount"]) * UNITS[args["unit"]])
        if args["food"] not in DAYS:
            return f"error: no such food {args['food']}"
        return show(DAYS[args["food"]])
    except KeyError as missing:
        return f"error: {tool} needs {missing.args[0]}"
    except ValueError as wrong:
        return f"error: {wrong}"


def show(number: float) -> str:
    return f"{number:g}"


def solve(task: dict) -> dict:
    """One task: at most three replies, the first result is the answer."""
    steps, answer, reason = [], None, "budget"
    messages = start(task["input"]["question"])
    for _ in range(3):
        choice = ask(messages)
        reply = choice["message"]["content"] or ""
        steps.append({"kind": "model", "content": reply, "finish_reason": choice["finish_reason"]})
        call = read_call(reply)
        if call is None:
            steps.append({"kind": "harness", "event": "unparsed_action", "message": reply})
            answer, reason = reply, "no_action"
            break
        tool, args = call
        result = use(tool, args)
        wrong = result.startswith("error")
        steps.append(
            {"kind": "tool", "name": tool, "arguments": args, "result": result, "error": wrong}
        )
        if not wrong:
            answer, reason = result, "answer"
            break
        messages += [
            {"role": "assistant", "content": reply},
            {"role": "user", "content": result},
        ]
    return {"task_id": task["task_id"], "steps": steps, "answer": answer, "end_reason": reason}


def main() -> None:
    for line in sys.stdin:
        print(json.dumps(solve(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
