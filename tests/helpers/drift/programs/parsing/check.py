from harness.parsing import Parser, parse_json, parse_lines, parse_tagged, strip_fence, strip_quotes

TEXTS = [
    "",
    "   ",
    '```json\n{"tool": "edit", "args": {"a": 1}}\n```',
    '{"args": {"b": 2}}',
    '{"tool": "dance"}',
    "[1]",
    '<tool name="shell">\n  cmd: ls\n  cwd: /tmp:x\n</tool>',
    '<tool name="edit">path: a</tool> <tool name="shell">cmd: b</tool>',
    '<tool name="fly">\n a: b</tool>',
    "tool = edit\npath = a=b\n# note = 1",
    "cmd = ls\n\ncwd = .",
    'tool = "shell"\ncmd: ls',
    '"""\ntext\n"""',
    "```\nunclosed",
    "Thought: I should look\ntool = finish",
    '```\ntool = shell\nCMD = "x"\n```',
]


def session(texts):
    parser = Parser()
    found = [parser.parse(text) for text in texts]
    peeked = [parser.peek(text) for text in texts]
    return found, peeked, parser.describe()


def calls():
    for text in TEXTS:
        for form in (parse_json, parse_lines, parse_tagged, strip_fence, strip_quotes):
            yield lambda form=form, text=text: form(text)
        yield lambda text=text: Parser().parse(text)
        yield lambda text=text: Parser().peek(text)
    yield lambda: session(TEXTS)
    yield lambda: session([])
