from harness.patching import (
    apply_all,
    apply_block,
    find_exact,
    find_near,
    split_blocks,
    split_files,
    summarize,
)

CONTENT = "def a():\n    return 1\n\n\ndef b():\n    return 2\n\n\ndef a2():\n    return 1\n"
PATCHES = [
    "",
    "<<<<\n    return 1\n====\n    return 10\n>>>>",
    "<<<<\ndef b():\n    return 3\n====\ndef c():\n    x = 1\n    return x\n>>>>\nrest",
    "<<<<\nnothing like it at all, really\n====\nx\n>>>>\n<<<<\n    return 2\n====\n>>>>",
    "<<<<\ndef b():\n====\n====\n>>>>\n<<<<\nopen",
    ">>>>\n====\n<<<<\n\n====\n\n# one\n>>>>",
    "file a.py\nx = 1\n>>>>\nfile b/c.py\n>>>>\nfile a.py\n====\n>>>>\nfile open",
]


def calls():
    for patch in PATCHES:
        yield lambda p=patch: split_blocks(p)
        yield lambda p=patch: split_files(p)
        for content in (CONTENT, "", "    return 1"):
            yield lambda c=content, p=patch: apply_all(c, p)
            yield lambda c=content, p=patch: apply_all(c, p, strict=True)
            yield lambda c=content, p=patch: summarize(c, p)
    lines = CONTENT.splitlines()
    for wanted in (["    return 1"], ["  return 22"], ["def q():", "    return 2"], [], ["zzz"]):
        yield lambda w=wanted: find_exact(lines, w)
        yield lambda w=wanted: find_near(lines, w)
    yield lambda: apply_block("a\nb", "b", "c\nd")
