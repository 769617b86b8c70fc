"""The turns of an agent: ask, act, look, until it ends."""

import collections
from math import prod

MOST_TURNS = 6
MOST_IDLE = 2
END = "finish"


class Stop(Exception):
    def __init__(self, reason):
        super().__init__(reason)
        self.reason = reason


class Agent:
    def __init__(self, model, tools, budget=100):
        self.model = model
        self.tools = tools
        self.budget = budget
        self.messages = []
        self.counts = collections.Counter()

    def run(self, task):
        self.messages.append(("task", task))
        idle = 0
        turn = 0
        while turn < MOST_TURNS:
            try:
                seen = self.step(turn)
            except Stop as stop:
                return self.close(stop.reason)
            idle = 0 if seen else idle + 1
            if idle > MOST_IDLE:
                return self.close("idle")
            turn += 1
        return self.close("turns")

    def replay(self, actions):
        self.messages.append(("task", "replay"))
        idle = 0
        for turn, action in enumerate(actions):
            if turn == MOST_TURNS:
                return self.close("turns")
            try:
                seen = self.act(action)
            except Stop as stop:
                return self.close(stop.reason)
            idle = 0 if seen else idle + 1
            if idle > MOST_IDLE:
                return self.close("idle")
        return self.close("over")

    def step(self, turn):
        action = self.model(turn, self.messages)
        cost = len(action)
        self.budget -= cost
        if self.budget < 0:
            raise Stop("budget")
        self.messages.append(("action", action))
        return self.act(action)

    def act(self, action):
        name, _, rest = action.partition(" ")
        self.counts[name] += 1
        if name == END:
            raise Stop(rest or "done")
        tool = self.tools.get(name)
        seen = f"unknown tool {name}"
        if tool is not None:
            seen = tool(rest)
        self.messages.append(("seen", seen))
        return seen

    def close(self, reason):
        turns = sum(self.counts.values())
        most = self.counts.most_common(1)
        return {"reason": reason, "turns": turns, "most": most, "messages": list(self.messages)}


def run_scripted(lines, task="go", budget=100):
    queue = collections.deque(lines)

    def model(turn, messages):
        return queue.popleft() if queue else f"wait {turn}"

    agent = Agent(model, make_tools(), budget)
    return agent.run(task)


def run_replay(lines, budget=100):
    agent = Agent(None, make_tools(), budget)
    return agent.replay(lines)


def make_tools():
    def add(rest):
        numbers = [int(word) for word in rest.split() if word.isdigit()]
        return str(sum(numbers))

    def multiply(rest):
        numbers = [int(word) for word in rest.split() if word.isdigit()]
        return str(prod(numbers))

    return {"add": add, "multiply": multiply, "wait": lambda rest: ""}
