from bot.llm.canonical import request_digest

ASK = {"model": "m", "messages": [{"role": "user", "content": "hi"}], "temperature": 0}


def test_what_does_not_change_the_answer_does_not_change_the_digest() -> None:
    digest = request_digest(ASK)
    assert digest.startswith("sha256:")
    assert len(digest) == 7 + 64
    assert request_digest({**ASK, "stream": True, "user": "me", "stop": None}) == digest
    assert request_digest({**ASK, "temperature": 0.0}) == digest
    assert request_digest(dict(reversed(ASK.items()))) == digest


def test_what_changes_the_answer_changes_the_digest() -> None:
    others = [
        {**ASK, "temperature": 0.1},
        {**ASK, "seed": 1},
        {**ASK, "messages": [{"role": "user", "content": "hi "}]},
        {**ASK, "max_tokens": 5},
    ]
    assert len({request_digest(body) for body in [ASK, *others]}) == 5
