"""Untrusted text in a prompt: cleaned, capped, and fenced so that nothing in it ends the fence.

Trajectories, the words of other roles and what candidates print are data. They reach a role
between two lines that carry a mark made from the digest of all of a run's material: whoever wrote
a part of that material cannot know it, and the same run makes the same prompts again.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass

from bot.display import printable, scrub

MARK_DIGITS = 20

# What the templates of chat models read as the end of a turn, or as another speaker.
_CHAT_MARKER = re.compile(
    r"""
    <(?= / ? [|｜] )                                            # <|im_start|>, </|x|>, fullwidth
    | <(?= / ? (?:s|bos|eos|pad|unk|sop|eop|gmask|mask|sep|cls|endoftext
               |start_of_turn|end_of_turn|begin_of_text|end_of_text|eot_id
               |unused\d+|reserved_\w+|think|tool_calls?|tool_response|tool_outputs?
               |function_calls?|function_results?) \s* / ? > )
    | <(?= <\s* / ? sys \s* >> )
    | \[(?= / ? (?:inst|sys|system_prompt|tool_calls|tool_results|available_tools
               |gmask|mask|bos|eos) \] )
    """,
    re.VERBOSE | re.IGNORECASE,
)
# Tags that only look like another speaker; code may have a use for them, trajectories have none.
_SPEAKER_TAG = re.compile(
    r"<(?=/?\s*(?:system|assistant|user|human|developer|tool|function|instructions?|admin"
    r"|analyst|critic|engineer|moderator|data)\b)",
    re.IGNORECASE,
)
# They show nothing and can carry a message of their own.
_VARIATION_SELECTORS = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef\u115f\u1160\u3164\uffa0]")


def clean(text: str, *, code: bool = False) -> str:
    """`text` without secrets and hidden characters; chat markers are broken by a space.

    With `code`, tags such as `<user>` are left: a harness may write them.
    """
    text = _VARIATION_SELECTORS.sub("", scrub(printable(text, lines=True)))
    text = _CHAT_MARKER.sub(lambda match: f"{match[0]} ", text)
    return text if code else _SPEAKER_TAG.sub("< ", text)


def cut(text: str, limit: int) -> str:
    """At most about `limit` characters of `text`: its start and its end, the rest counted."""
    if len(text) <= limit:
        return text
    head, tail = limit * 2 // 3, limit // 3
    left_out = len(text) - head - tail
    return f"{text[:head]} … [{left_out} characters left out] … {text[-tail:]}"


def indented(text: str) -> str:
    """Every line moved in by four columns: none begins as a line of the prompt does."""
    return "\n".join(f"    {line}" for line in text.split("\n"))


@dataclass(frozen=True)
class Fence:
    """The marks of one run."""

    mark: str

    @classmethod
    def around(cls, material: Iterable[str]) -> Fence:
        """The fence of a run whose prompts hold this material."""
        digest = hashlib.sha256()
        for text in material:
            content = text.encode("utf-8", "surrogatepass")
            digest.update(len(content).to_bytes(8, "big") + content)
        return cls(digest.hexdigest()[:MARK_DIGITS])

    def wrap(self, what: str, text: str, *, code: bool = False) -> str:
        """`text`, cleaned, between the marks. `what` is the bot's own word for it.

        A role that has seen the mark can be made to repeat it: it is taken out of the text.
        """
        inside = re.sub(self.mark, "[mark]", clean(text, code=code), flags=re.IGNORECASE)
        return f"<data {self.mark} {what}>\n{inside}\n</data {self.mark}>"
