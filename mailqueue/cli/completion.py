"""`mailqueue completion`: the script with which a shell completes commands and options."""

import click
from click.shell_completion import get_completion_class

from mailqueue.cli.support.output import examples

SHELLS = ("bash", "zsh", "fish")
PROGRAM = "mailqueue"


@click.command(
    epilog=examples(
        "mailqueue completion bash > ~/.mailqueue-completion.bash   # read it in ~/.bashrc",
        "mailqueue completion zsh > ~/.mailqueue-completion.zsh     # in ~/.zshrc, after compinit",
        "mailqueue completion fish > ~/.config/fish/conf.d/mailqueue-completion.fish",
    )
)
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def completion(context: click.Context, *, shell: str) -> None:
    """Print the script that completes commands, options and stored names in a shell.

    It completes the command `mailqueue`, wherever in PATH that is. bash must be 4.4 or newer.
    """
    script = get_completion_class(shell)
    if script is None:
        raise click.UsageError(f"there is no completion for {shell}", context)
    root = context.find_root()
    click.echo(script(root.command, {}, PROGRAM, "_MAILQUEUE_COMPLETE").source())
