"""Ask again when a model call fails, waiting longer each time."""

import json
import re
from collections import deque

MAX_ATTEMPTS = 3
MAX_RESUMES = 3
BASE_DELAY = 2
TRANSIENT = ("overloaded", "timeout")
FATAL = ("quota", "denied")


class ModelError(Exception):
    pass


def delay_before(attempt):
    # Seconds; the first attempt does not wait.
    if attempt < 1:
        return 0
    delay = BASE_DELAY * attempt
    return min(delay, 60)


def pause_before(round_number):
    if round_number < 1:
        return 0
    pause = BASE_DELAY * round_number
    return min(pause, 60)


def is_transient(message):
    lowered = message.lower()
    found = re.search(r"status (\d+)", lowered)
    if found and int(found.group(1)) >= 500:
        return True
    return any(word in lowered for word in TRANSIENT)


def is_fatal(message):
    lowered = message.lower()
    found = re.search(r"status (\d+)", lowered)
    if found and int(found.group(1)) == 403:
        return True
    return any(word in lowered for word in FATAL)


def call_model(replies, log):
    attempt = 0
    waited = 0
    while attempt < MAX_ATTEMPTS:
        waited += delay_before(attempt)
        attempt += 1
        reply = replies.popleft() if replies else "error: timeout"
        log.append(f"ask {attempt}")
        if not reply.startswith("error:"):
            return {"text": reply, "attempts": attempt, "waited": waited}
        if is_fatal(reply):
            break
    log.append("gave up")
    raise ModelError(reply)


def resume_model(replies, log):
    attempt = 0
    waited = 0
    while attempt < MAX_RESUMES:
        waited += pause_before(attempt)
        attempt += 1
        reply = replies.popleft() if replies else "error: timeout"
        log.append(f"resume {attempt}")
        if not reply.startswith("error:"):
            return {"text": reply, "attempts": attempt, "waited": waited}
        if is_fatal(reply):
            break
    log.append("stopped")
    raise ModelError(reply)


def run_script(lines):
    log = []
    try:
        result = call_model(deque(lines), log)
    except ModelError as error:
        result = {"error": str(error)}
    return json.dumps(result, sort_keys=True), log


def run_again(lines):
    log = []
    try:
        result = resume_model(deque(lines), log)
    except ModelError as error:
        result = {"error": str(error)}
    return json.dumps(result, sort_keys=True), log
