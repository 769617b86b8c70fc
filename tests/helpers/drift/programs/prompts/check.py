from harness.prompts import (
    critic_message,
    list_files,
    list_tools,
    render_example,
    retry_message,
    system_message,
    task_message,
)

TOOLS = {
    "shell": "Runs a command " + "and waits for its end " * 4,
    "edit": "Changes a file",
    "finish": "",
}
EXAMPLES = [("How?", "Like this.\nThen so."), ("Why?", " because "), ("When?", "now")]
TASKS = ["Fix it.", "\n  Two\n    lines\n", ""]


def calls():
    for tools in (TOOLS, {}, {"shell": "a"}):
        yield lambda t=tools: list_tools(t)
        for count in range(4):
            yield lambda t=tools, n=count: system_message(t, EXAMPLES[:n])
            yield lambda t=tools, n=count: critic_message(t, EXAMPLES[:n])
    for example in EXAMPLES:
        yield lambda e=example: render_example(e)
    for task in TASKS:
        for hint in (None, "", "Look twice."):
            for paths in ((), ("/work/b.py", "/work/a/c.py", "/etc/x")):
                yield lambda a=task, b=paths, c=hint: task_message(a, b, c)
                yield lambda a=task, b=paths, c=hint: retry_message(a, " ".join(b), hint=c)
    yield lambda: list_files(["/a/b", "/a"], root="/a")
    yield lambda: list_files([])
