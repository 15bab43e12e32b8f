"""`mailqueue webhook test`: send a test event to an endpoint."""

from uuid import UUID

import click

from mailqueue.cli.support.answer import json_option, print_result
from mailqueue.cli.support.app import opened, run
from mailqueue.cli.support.output import examples, show
from mailqueue.cli.webhooks.view import connection_per_step
from mailqueue.contract.webhooks import WebhookTest
from mailqueue.webhooks import endpoints, trial
from mailqueue.wiring import webhooks

EXIT_FAILED = 1


@click.command(
    epilog=examples(
        "mailqueue webhook test 0197b8f0-0000-7000-8000-000000000001",
        "mailqueue webhook test 0197b8f0-0000-7000-8000-000000000001 --type email.clicked --json",
    )
)
@click.argument("webhook_id", metavar="ID", type=click.UUID)
@click.option(
    "--type", "kind", metavar="TYPE", help="Event type of the test event.  [default: webhook.test]"
)
@json_option
@click.pass_context
def test(ctx: click.Context, *, webhook_id: UUID, kind: str | None) -> None:
    """Send a test event and print the response. Exit 1 if the endpoint did not accept it."""

    async def tried() -> WebhookTest:
        async with opened() as app:
            found = await endpoints.find(app.conn, None, webhook_id)
        poster = webhooks.poster_of(app.settings)
        try:
            return await trial.try_out(
                connection_per_step,
                found.project_id,
                webhook_id,
                event_type=kind,
                poster=poster,
                master=app.master_key(),
            )
        finally:
            poster.close()

    done = run(tried())
    print_result(done, lambda: _print(done))
    if not done.success:
        ctx.exit(EXIT_FAILED)


def _print(done: WebhookTest) -> None:
    said = show(done.response_body)
    if done.success:
        click.echo(f"the endpoint answered {done.response_status} in {done.latency_ms} ms: {said}")
    else:
        more = f": {said}" if done.response_body else ""
        click.echo(f"error: {show(done.error)} after {done.latency_ms} ms{more}", err=True)
