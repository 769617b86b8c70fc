from harness.retry import (
    delay_before,
    is_fatal,
    is_transient,
    pause_before,
    run_again,
    run_script,
)

SCRIPTS = [
    ["fine"],
    ["error: timeout", "fine"],
    ["error: a", "error: b", "error: c", "error: d", "error: e", "late"],
    ["error: quota", "fine"],
    ["error: status 403", "fine"],
    ["", "fine"],
    [],
]
MESSAGES = ["Overloaded", "status 503", "status 403", "Quota", "status 429", "timeout", "busy", ""]


def calls():
    for number in (-1, 0, 1, 2, 5, 40, 100):
        yield lambda n=number: delay_before(n)
        yield lambda n=number: pause_before(n)
    for message in MESSAGES:
        yield lambda text=message: is_transient(text)
        yield lambda text=message: is_fatal(text)
    for lines in SCRIPTS:
        yield lambda script=lines: run_script(script)
        yield lambda script=lines: run_again(script)
