import unittest

import agent


class Agent(unittest.TestCase):
    def test_calls_are_read(self):
        self.assertEqual(
            agent.read_call("Sure.\nconvert: 2, kg"), ("convert", {"amount": "2", "unit": "kg"})
        )
        self.assertIsNone(agent.read_call("2 kg are 2000 g."))

    def test_tools(self):
        self.assertEqual(agent.use("convert", {"amount": "2", "unit": "kg"}), "2000")
        self.assertEqual(
            agent.use("convert", {"amount": "2", "unit": "x"}), "error: no such unit x"
        )
        self.assertEqual(agent.use("keeps", {"food": "fish"}), "2")
        self.assertEqual(agent.use("keeps", {}), "error: keeps needs food")

    def test_every_tool_is_in_the_prompt(self):
        for tool in agent.TOOLS:
            self.assertIn(tool["function"]["name"], agent.start("?")[0]["content"])


if __name__ == "__main__":
    unittest.main()
