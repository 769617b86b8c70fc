"""The embedded model's server: a child process that speaks the OpenAI protocol on loopback.

Run as `python -m bot.llm.server`, it serves until its standard input closes: when the command
that started it dies, however it dies, the server goes too.
"""

from __future__ import annotations

import contextlib
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

from bot.config import ModelTable
from bot.display import printable
from bot.errors import EndpointError
from bot.llm.embedded import SMOLLM2, cache_folder, fetch_model
from bot.sandbox import ProcessLimits, Running, choose_sandbox, start_detached

START_S = 60.0


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
    same; else one is started, and stopped at the end.
    """
    require_server()
    settings = server_settings(table)
    running = find_detached()
    if running is not None and running.settings == settings:
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
    model = fetch_model()
    settings = server_settings(table)
    order = {"model": str(model), "port": port, **settings}
    process = choose_sandbox().start(
        [sys.executable, "-P", "-m", "bot.llm.server", json.dumps(order)],
        cwd=Path.cwd(),
        env=_server_environment(),
        limits=ProcessLimits(wall_s=10**7, memory_mb=1 << 20, open_files=4096, processes=4096),
    )
    try:
        line = process.read_line(START_S)
    except TimeoutError:
        line = None
    except BaseException:
        process.stop()
        raise
    answer = _parse(line)
    if "url" not in answer:
        said = process.stop().stderr.decode("utf-8", "replace")
        why = answer.get("error") or printable(said[-300:]) or "it gave no reason"
        raise EndpointError(
            f"The embedded model's server did not start: {why}.",
            "Try another port, or run `ecdysis model status`.",
        )
    return process, Served(f"{answer['url']}/v1", settings, answer.get("pid"))


def start_detached_server(table: ModelTable, port: int) -> Served:
    """A server that outlives this command. Raises EndpointError where one runs already."""
    require_server()
    if (running := find_detached()) is not None:
        raise EndpointError(
            f"A server is running already at {running.base_url}.",
            "Use it, or stop it first: `ecdysis model stop`.",
        )
    settings = server_settings(table)
    order = {"model": str(fetch_model()), "port": port, "detached": True, **settings}
    log = cache_folder() / "server.log"
    first_line = start_detached(
        [sys.executable, "-P", "-m", "bot.llm.server", json.dumps(order)],
        env=_server_environment(),
        log=log,
    )
    answer = _parse(first_line())
    if "url" not in answer:
        said = log.read_text(encoding="utf-8", errors="replace")
        why = answer.get("error") or printable(said[-300:]) or "it gave no reason"
        raise EndpointError(
            f"The embedded model's server did not start: {why}.",
            f"Try another port; its log is {log}.",
        )
    served = Served(f"{answer['url']}/v1", settings, int(answer["pid"]))
    state = {
        "pid": served.pid,
        "started": process_start(int(answer["pid"])),
        "base_url": served.base_url,
        "settings": settings,
    }
    state_file().write_text(json.dumps(state), encoding="utf-8")
    return served


def _server_environment() -> dict[str, str]:
    """The user's environment, with threads that wait without spinning.

    OpenMP's threads spin by default: on a machine that has anything else to do (the harness's
    own processes first) each step of the model then takes many times as long.
    """
    own = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    return {"OMP_WAIT_POLICY": "passive", **own}


def state_file() -> Path:
    """Where a detached server is written down."""
    return cache_folder() / "server.json"


def find_detached() -> Served | None:
    """The server that `ecdysis model serve --detach` left running, if it is alive."""
    try:
        state = json.loads(state_file().read_text(encoding="utf-8"))
        pid = int(state["pid"])
        if process_start(pid) != state["started"]:
            return None
        return Served(str(state["base_url"]), dict(state["settings"]), pid)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def process_start(pid: int) -> str | None:
    """When a process started, in the kernel's words; tells a recycled pid. None where dead."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()
        return None if fields[0] == "Z" else fields[19]
    except (OSError, IndexError):
        pass
    if Path("/proc/self/stat").exists():
        return None
    try:
        os.kill(pid, 0)
    except OSError:
        return None
    return "unknown"


def stop_detached() -> bool:
    """Stop the detached server; False where none runs."""
    running = find_detached()
    state_file().unlink(missing_ok=True)
    if running is None or running.pid is None:
        return False
    with contextlib.suppress(ProcessLookupError):
        os.kill(running.pid, signal.SIGTERM)
    until = time.monotonic() + 5
    while process_start(running.pid) is not None and time.monotonic() < until:
        time.sleep(0.05)
    return True


def _parse(line: bytes | None) -> dict[str, Any]:
    try:
        answer = json.loads(line or b"{}")
    except ValueError:
        return {}
    return answer if isinstance(answer, dict) else {}


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
            except OSError:
                print(json.dumps({"error": f"port {port} is in use"}), flush=True)
                return 1
    else:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
    # The library prints to the descriptors themselves; ours is kept for the one line.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
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
    line = {"url": server.listening_address, "pid": os.getpid()}
    print(json.dumps(line), file=answers, flush=True)
    if order.get("detached"):
        answers.close()
        threading.Event().wait()
    sys.stdin.buffer.read()
    return 0


if __name__ == "__main__":
    code = serve(json.loads(sys.argv[1]))
    # The library's threads do not end by themselves.
    os._exit(code)
