"""Tests of the harness: no model, no network, no split files."""

import json
import tempfile
import threading
import unittest
from pathlib import Path
from unittest import mock

import scoring
from desk import database
from desk import tools as desk_tools
from desk.__main__ import Desk as DeskServer
from harness import loop
from harness.actions import Action, parse_action
from harness.client import Desk
from harness.model import Reply
from harness.prompt import build_messages
from tasks import generate

TOOLS = json.loads((loop.ROOT / "desk" / "contract.json").read_text(encoding="utf-8"))["tools"]


class ParseAction(unittest.TestCase):
    def test_a_call_is_an_action_with_named_arguments(self):
        self.assertEqual(
            parse_action(" lookup_order(3467, 'city') ", TOOLS),
            Action("lookup_order", {"order_id": "3467", "field": "city"}),
        )

    def test_prose_is_none(self):
        self.assertIsNone(parse_action("The total is 12.", TOOLS))

    def test_an_argument_may_be_a_call(self):
        inner = Action("lookup_order", {"order_id": "3467", "field": "customer"})
        self.assertEqual(
            parse_action("lookup_customer(lookup_order(3467, customer), email)", TOOLS),
            Action("lookup_customer", {"customer_id": inner, "field": "email"}),
        )

    def test_surplus_arguments_are_kept(self):
        self.assertEqual(
            parse_action("cancel_order(3467, now)", TOOLS).arguments,
            {"order_id": "3467", "argument_2": "now"},
        )


class Prompt(unittest.TestCase):
    def test_every_tool_and_value_is_described(self):
        messages = build_messages("Cancel order 3300.", TOOLS)
        for tool in TOOLS:
            self.assertIn(tool["name"], messages[0]["content"])
        self.assertEqual(messages[-1], {"role": "user", "content": "Cancel order 3300."})


class Episodes(unittest.TestCase):
    """The loop with the real desk; the model's replies are given by the test."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.state = Path(folder.name)
        database.create(self.state / database.FILE)
        server = DeskServer(str(self.state / "s"), self.state / database.FILE)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.desk = Desk(str(self.state / "s"))
        self.addCleanup(self.desk.close)

    def run_with(self, *replies):
        task = {"task_id": "t", "input": {"message": "?"}}
        with mock.patch.object(loop, "complete", side_effect=[Reply(r, "stop") for r in replies]):
            return loop.run(task, self.desk, TOOLS)

    def test_a_read_field_is_the_answer(self):
        row = database.rows(self.state / database.FILE)["orders"]["3300"]
        episode = self.run_with("lookup_order(3300, city)")
        self.assertEqual((episode["end_reason"], episode["answer"]), ("answer", row[4]))
        task = {"expected": {"answer": row[4]}}
        self.assertEqual(scoring.score(task, episode, self.state)["outcome"], "pass")

    def test_the_result_of_an_inner_call_is_the_argument(self):
        rows = database.rows(self.state / database.FILE)
        buyer = rows["orders"]["3300"][5]
        episode = self.run_with("lookup_customer(lookup_order(3300, customer), email)")
        self.assertEqual(episode["answer"], rows["customers"][buyer][2])
        self.assertEqual([s["kind"] for s in episode["steps"]], ["model", "tool", "tool"])
        self.assertEqual(episode["steps"][2]["arguments"]["customer_id"], buyer)

    def test_an_error_of_an_inner_call_ends_the_action(self):
        replies = ["cancel_order(lookup_order(3300, colour))"] * loop.MAX_STEPS
        episode = self.run_with(*replies)
        self.assertEqual(
            {s["name"] for s in episode["steps"] if s["kind"] == "tool"}, {"lookup_order"}
        )
        untouched = {"expected": {"cancelled": []}}
        self.assertEqual(scoring.score(untouched, episode, self.state)["outcome"], "pass")

    def test_after_an_error_the_model_may_try_again(self):
        episode = self.run_with("lookup_order(3300, colour)", "lookup_order(3300, status)")
        self.assertEqual([s.get("error") for s in episode["steps"]], [None, True, None, False])
        self.assertEqual(episode["steps"][1]["result"], "error: unknown field colour")

    def test_a_cancellation_changes_that_order_and_no_other(self):
        episode = self.run_with("cancel_order(3300)")
        wanted = {"expected": {"cancelled": ["3300"]}}
        self.assertEqual(scoring.score(wanted, episode, self.state)["outcome"], "pass")
        other = {"expected": {"cancelled": ["3301"]}}
        self.assertEqual(scoring.score(other, episode, self.state)["outcome"], "fail")

    def test_prose_ends_the_episode_and_errors_spend_its_steps(self):
        self.assertEqual(self.run_with("I do not know.")["end_reason"], "no_action")
        self.assertEqual(self.run_with(*["fly(1)"] * loop.MAX_STEPS)["end_reason"], "budget")

    def test_an_exception_is_part_of_the_episode(self):
        task = {"task_id": "t", "input": {"message": "?"}}
        with mock.patch.object(loop, "complete", side_effect=OSError("refused")):
            episode = loop.run(task, self.desk, TOOLS)
        self.assertEqual(episode["end_reason"], "exception")
        self.assertEqual(episode["steps"][-1]["type"], "OSError")
        self.assertIn("harness/loop.py:converse", episode["steps"][-1]["frames"][-1])


class Contract(unittest.TestCase):
    def test_the_desk_takes_what_the_contract_says(self):
        takes = {t["name"]: tuple(t["parameters"]["properties"]) for t in TOOLS}
        self.assertEqual(takes, desk_tools.TOOLS)
        fields = {
            t["name"]: tuple(c["const"] for c in t["parameters"]["properties"]["field"]["oneOf"])
            for t in TOOLS
            if "field" in t["parameters"]["properties"]
        }
        self.assertEqual(
            fields,
            {
                "lookup_order": desk_tools.ORDER_FIELDS,
                "lookup_customer": desk_tools.CUSTOMER_FIELDS,
            },
        )


class Splits(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        generate.write_splits(self.folder)

    def tasks(self, split):
        return [json.loads(line) for line in (self.folder / split).read_text().splitlines()]

    def test_no_two_tasks_ask_the_same(self):
        tasks = [t for s in generate.SPLITS for t in self.tasks(f"{s}.jsonl")]
        for what in ("task_id", "input"):
            seen = [json.dumps(task[what]) for task in tasks]
            self.assertEqual(len(seen), len(set(seen)))

    def test_the_same_seed_gives_the_same_bytes(self):
        before = {path.name: path.read_bytes() for path in self.folder.iterdir()}
        generate.write_splits(self.folder)
        self.assertEqual(before, {path.name: path.read_bytes() for path in self.folder.iterdir()})


if __name__ == "__main__":
    unittest.main()
