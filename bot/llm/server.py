"""The embedded model's server: a child process that speaks the OpenAI protocol on loopback.

Run as `python -m bot.llm.server`, it serves until its standard input closes: when the command
that started it dies, however it dies, the server goes too.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from bot.config import ModelTable
from bot.display import printable, scrub
from bot.errors import EndpointError
from bot.llm.embedded import SMOLLM2, cache_folder, fetch_model
from bot.sandbox import ProcessLimits, ResourceLimits, Running

START_S = 60


@dataclass(frozen=True)
class Served:
    """A server that answers: its address, and the settings that its answers depend on."""

    base_url: str
    settings: dict[str, Any]
    pid: int | None = None


def server_settings(table: ModelTable) -> dict[str, Any]:
    """What the embedded server's answers depend on, beside the request."""
    from importlib.metadata import version

    return {
        "gguf_sha256": SMOLLM2.sha256,
        "xllamacpp": version("xllamacpp"),
        "slots": table.slots,
        "context": table.context,
        "prompt_cache": table.prompt_cache,
        "threads": os.cpu_count() or 2,
    }


def require_server() -> None:
    """Raise EndpointError where the server's package is not installed."""
    if find_spec("xllamacpp") is None:
        raise EndpointError(
            "The embedded model needs the package xllamacpp.",
            "Install it: pip install 'ecdysis-bot[embedded]'.",
        )


@contextmanager
def serve_embedded(table: ModelTable) -> Iterator[Served]:
    """The embedded model for as long as it is used.

    A server that `ecdysis model serve --detach` left running is used if its settings are the
    same and it is healthy; else one is started, and stopped at the end.
    """
    from bot.llm.detached import find_detached

    require_server()
    running = find_detached()
    if (
        running is not None
        and running.settings == server_settings(table)
        and is_healthy(running.base_url)
    ):
        yield running
        return
    process, served = start_server(table, port=0)
    try:
        yield served
    finally:
        process.stop(grace_s=2.0)


def start_server(table: ModelTable, port: int) -> tuple[Running, Served]:
    """Start the child and wait until it answers. Raises EndpointError, with what it said."""
    require_server()
    settings = server_settings(table)
    order = {"model": str(fetch_model()), "port": port, **settings}
    process = ResourceLimits().start(
        server_command(order),
        cwd=cache_folder(),
        env=server_environment(),
        limits=ProcessLimits(wall_s=10**7, memory_mb=1 << 20, open_files=4096, processes=4096),
    )
    try:
        try:
            line = process.read_line(START_S + 5)
        except TimeoutError:
            line = None
        return process, served_from(line, settings)
    except ServerSilent as silent:
        if line is None:  # it has ended, or will not: let what it wrote arrive
            time.sleep(0.1)
        raise did_not_start(silent, process.stop().stderr) from None
    except BaseException:
        process.stop()
        raise


class ServerSilent(Exception):
    """The child gave no address; the text is its reason, empty without one."""


def server_command(order: dict[str, Any]) -> list[str]:
    # -P: a `bot` or `json` in the folder where the user stands is not ours to run.
    return [sys.executable, "-P", "-m", "bot.llm.server", json.dumps(order)]


def server_environment() -> dict[str, str]:
    """The user's environment, with threads that wait without spinning.

    OpenMP's threads spin by default: on a machine that has anything else to do (the harness's
    own processes first) each step of the model then takes many times as long.
    """
    own = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    # The child finds this very package, wherever the parent found it.
    root = str(Path(__file__).resolve().parents[2])
    own["PYTHONPATH"] = os.pathsep.join(filter(None, [root, own.get("PYTHONPATH")]))
    return {"OMP_WAIT_POLICY": "passive", **own}


def served_from(line: bytes | None, settings: dict[str, Any]) -> Served:
    """The server whose first line is `line`, once it is healthy. Raises ServerSilent."""
    try:
        answer = json.loads(line or b"{}")
    except ValueError:
        answer = {}
    if not isinstance(answer, dict) or "url" not in answer:
        raise ServerSilent(str(answer.get("error", "")) if isinstance(answer, dict) else "")
    until = time.monotonic() + START_S
    while not is_healthy(answer["url"]):
        if time.monotonic() > until:
            raise ServerSilent("it does not become healthy")
        time.sleep(0.05)
    return Served(f"{answer['url']}/v1", settings, int(answer["pid"]))


def did_not_start(silent: ServerSilent, log: bytes) -> EndpointError:
    """The error for the user: the child's reason, else the end of what it wrote."""
    said = scrub(printable(log.decode("utf-8", "replace")[-300:]))
    why = printable(str(silent), 300) or said or "it gave no reason"
    return EndpointError(
        f"The embedded model's server did not start: {why}.",
        "Try another port, or run `ecdysis model status`.",
    )


def is_healthy(url: str) -> bool:
    """Whether the server at `url` says that it can answer."""
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=5)
    with contextlib.closing(connection):
        try:
            connection.request("GET", "/health")
            return connection.getresponse().status == 200
        except (OSError, http.client.HTTPException):
            return False


def serve(order: dict[str, Any]) -> int:
    """The child's work: load the model, say where it answers, stay until stdin closes."""
    import socket

    port = int(order["port"])
    if port:
        # The server itself reports a port in use only in its log.
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except PermissionError:
                print(json.dumps({"error": f"port {port} needs more rights"}), flush=True)
                return 1
            except OSError:
                print(json.dumps({"error": f"port {port} is in use"}), flush=True)
                return 1
    # The library prints to the descriptors themselves; ours is kept for the one line.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    # Loading happens in the library, where no Python code could end it: the kernel does.
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(START_S)
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = order["model"]
    params.n_parallel = order["slots"]
    params.n_ctx = order["context"] * order["slots"]
    params.cache_prompt = order["prompt_cache"]
    params.hostnames = ["127.0.0.1"]
    params.port = port
    params.n_predict = order["context"]
    params.verbosity = -1
    params.cpuparams.n_threads = order["threads"]
    params.cpuparams_batch.n_threads = order["threads"]
    params.ui = False
    params.model_alias = {"SmolLM2-135M-Instruct"}
    try:
        server = xllamacpp.Server(params)
    except Exception as error:  # the binding raises whatever the library threw
        print(json.dumps({"error": str(error)}), file=answers, flush=True)
        return 1
    signal.alarm(0)
    line = {"url": server.listening_address, "pid": os.getpid()}
    try:
        print(json.dumps(line), file=answers, flush=True)
    except BrokenPipeError:  # whoever wanted it has gone
        return 1
    if order.get("detached"):
        answers.close()
        threading.Event().wait()
    sys.stdin.buffer.read()
    return 0


if __name__ == "__main__":
    code = serve(json.loads(sys.argv[1]))
    # The library's threads do not end by themselves.
    os._exit(code)
