"""Build the messages that a model is asked with."""

import os
import textwrap

WIDTH = 60
MOST_EXAMPLES = 2
ROLE = "You solve tasks with tools."
CLOSING = "Answer with one action."
RULES = [
    "Read before you write.",
    "One step at a time.",
]


def system_message(tools, examples=()):
    parts = [ROLE]
    parts.append(list_tools(tools))
    for rule in RULES:
        parts.append(f"- {rule}")
    shown = examples[:MOST_EXAMPLES]
    if shown:
        parts.append("Examples:")
        parts.extend(render_example(example) for example in shown)
    parts.append(CLOSING)
    return {"role": "system", "content": "\n".join(parts)}


def critic_message(tools, examples=()):
    parts = ["You judge steps."]
    parts.append(list_tools(tools))
    for rule in RULES:
        parts.append(f"* {rule}")
    shown = examples[:MOST_EXAMPLES]
    if shown:
        parts.append("Examples:")
        parts.extend(render_example(example) for example in shown)
    parts.append("Answer yes or no.")
    return {"role": "system", "content": "\n".join(parts)}


def list_tools(tools):
    lines = []
    for name, about in sorted(tools.items()):
        text = textwrap.shorten(about, width=WIDTH, placeholder=" ..")
        lines.append(f"{name}: {text}")
    return "\n".join(lines) or "No tools."


def list_files(paths, root="/work"):
    lines = []
    for path in sorted(paths):
        text = os.path.relpath(path, root)
        lines.append(f"{text}")
    return "\n".join(lines) or "No files."


def render_example(example):
    question, answer = example
    body = textwrap.indent(answer.strip(), "  ")
    return f"Q: {question}\nA:\n{body}"


def task_message(task, paths=(), hint=None):
    text = textwrap.dedent(task).strip()
    sections = [("Task", text)]
    if paths:
        sections.append(("Files", list_files(paths)))
    if hint is not None:
        sections.append(("Hint", hint))
    content = "\n\n".join(f"## {title}\n{body}" for title, body in sections)
    return {"role": "user", "content": content}


def retry_message(task, problem, hint=None):
    text = textwrap.dedent(task).strip()
    sections = [("Task", text)]
    if problem:
        sections.append(("Problem", problem))
    if hint is not None:
        sections.append(("Hint", hint))
    content = "\n\n".join(f"# {title}\n{body}" for title, body in sections)
    return {"role": "user", "content": content}
