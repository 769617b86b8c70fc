"""`ecdysis completion`: the script by which a shell completes commands and options."""

from __future__ import annotations

import click


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def command(ctx: click.Context, shell: str) -> None:
    """Print the script that lets SHELL complete commands, options and their values.

    \b
    bash  eval "$(ecdysis completion bash)"         in ~/.bashrc
    zsh   eval "$(ecdysis completion zsh)"          in ~/.zshrc
    fish  ecdysis completion fish > ~/.config/fish/completions/ecdysis.fish

    The script asks `ecdysis` itself, so it stays right when the bot is upgraded. bash has to
    be 4.4 or newer.
    """  # noqa: D301 - click wants the character
    from click.shell_completion import get_completion_class

    found = get_completion_class(shell)
    assert found is not None
    name = ctx.find_root().info_name or "ecdysis"
    click.echo(found(ctx.find_root().command, {}, name, "_ECDYSIS_COMPLETE").source())
