"""`divulge completion`."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from divulge.cli.root import cli

__all__ = ["completion"]


@cli.command(short_help="Print a script that completes commands in a shell.")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print a script that completes commands and options in SHELL.

    
    bash: divulge completion bash > ~/.divulge-complete.sh; echo '. ~/.divulge-complete.sh' >> ~/.bashrc
    zsh:  divulge completion zsh > ~/.divulge-complete.zsh; echo '. ~/.divulge-complete.zsh' >> ~/.zshrc
    fish: divulge completion fish > ~/.config/fish/completions/divulge.fish
    """
    found = get_completion_class(shell)
    assert found is not None
    click.echo(found(cli, {}, "divulge", "_DIVULGE_COMPLETE").source())
