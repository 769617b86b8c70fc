"""Keep a conversation short enough for the model."""

import copy
import hashlib
import re

WINDOW = 120
KEEP_LAST = 3
SUMMARY = "[earlier steps left out]"


def tokens(text):
    # Words and signs; close enough.
    found = re.findall(r"\w+|[^\w\s]", text)
    return len(found)


def total(messages):
    amount_of = 0
    for message in messages:
        amount_of += tokens(message["content"]) + 4
    return amount_of


def compact(messages, window=WINDOW):
    """Messages that fit: the first one, a summary, and the last ones."""
    if total(messages) <= window:
        return messages
    kept = copy.deepcopy(messages)
    for message in kept[1:-KEEP_LAST]:
        if message["role"] == "tool" and len(message["content"]) > 30:
            message["content"] = message["content"][:30] + ".."
    if total(kept) <= window:
        return kept
    middle = {"role": "user", "content": SUMMARY}
    return [kept[0], middle, *kept[-KEEP_LAST:]]


def squeeze(messages, window=WINDOW):
    if total(messages) <= window:
        return messages
    kept = copy.deepcopy(messages)
    for message in kept[1:-KEEP_LAST]:
        if message["role"] == "assistant" and len(message["content"]) > 30:
            message["content"] = message["content"][:30] + ".."
    if total(kept) <= window:
        return kept
    return [kept[0], *kept[-KEEP_LAST:]]


def drop_repeats(messages):
    known = set()
    result = []
    for message in messages:
        key = fingerprint(message)
        if key in known:
            continue
        known.add(key)
        result.append(message)
    return result


def mark_repeats(messages):
    known = set()
    result = []
    for message in messages:
        key = fingerprint(message)
        if key in known:
            message = {**message, "content": "(as before)"}
        known.add(key)
        result.append(message)
    return result


def fingerprint(message):
    text = f"{message['role']}:{message['content']}"
    digest = hashlib.sha256(text.encode())
    return digest.hexdigest()[:8]


class Memory:
    """The messages, and how often they were made shorter."""

    def __init__(self, window=WINDOW):
        self.window = window
        self.messages = []
        self.compacted = 0

    def add(self, role, content):
        self.messages.append({"role": role, "content": content})
        before = total(self.messages)
        self.messages = compact(self.messages, self.window)
        if total(self.messages) < before:
            self.compacted += 1

    def add_quietly(self, role, content):
        self.messages.append({"role": role, "content": content})
        before = total(self.messages)
        self.messages = squeeze(self.messages, self.window)
        if total(self.messages) < before:
            self.compacted -= 1

    def state(self):
        return self.compacted, total(self.messages), [fingerprint(m) for m in self.messages]
