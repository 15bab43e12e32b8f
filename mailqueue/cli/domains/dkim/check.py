"""`mailqueue dkim check`: a domain's SPF, DKIM, DMARC, MX and tracking records in DNS."""

import click

from mailqueue.cli.domains.dkim.options import name_servers, project_option, resolver_option
from mailqueue.cli.support.answer import execute, json_option, print_result
from mailqueue.cli.support.app import Opened
from mailqueue.cli.support.output import examples, paint, show
from mailqueue.contract.domains import DomainFinding, FindingStatus
from mailqueue.dkim.record import zone_line
from mailqueue.domains import checking
from mailqueue.domains.findings import DomainFindings
from mailqueue.domains.keys import domain_of
from mailqueue.domains.resolver import Resolver
from mailqueue.domains.values import report_of
from mailqueue.tracking import domains

EXIT_NOT_GOOD = 1
_COLOURS = {
    FindingStatus.PASS: "green",
    FindingStatus.WARN: "yellow",
    FindingStatus.FAIL: "red",
    FindingStatus.UNKNOWN: "yellow",
}
_WIDTH = max(map(len, FindingStatus))


@click.command(
    epilog=examples(
        "mailqueue dkim check example.com",
        "mailqueue dkim check example.com --ip 192.0.2.1 --json",
        "mailqueue dkim check example.com --resolver 127.0.0.1:5353",
    )
)
@click.argument("domain")
@project_option
@click.option(
    "--ip",
    metavar="ADDRESS",
    help="IP address that sends the emails; checks SPF and reverse DNS for it.",
)
@resolver_option
@json_option
@click.pass_context
def check(
    ctx: click.Context,
    *,
    domain: str,
    project: str,
    ip: str | None,
    resolver: str | None,
) -> None:
    """Check SPF, DKIM, DMARC, MX and links of DOMAIN in DNS, and print the records to publish.

    Exit 1 when a check failed or DNS did not answer. Results are stored in the table
    mailqueue.domain_checks.
    """

    async def checked(app: Opened) -> DomainFindings:
        servers = Resolver(name_servers(resolver, app.settings.name_servers))
        name, url = domain_of(domain), app.settings.tracking.public_url
        links = await domains.project_of(app.conn, project)
        also = domains.findings_about(name, links, public_url=url, resolver=servers)
        return await checking.check(
            app.conn, project, domain=name, resolver=servers, address=ip, also=also
        )

    report = execute(checked)

    def as_text() -> None:
        for finding in report.findings:
            _print(finding)

    print_result(report_of(report), as_text)
    if not report.is_good:
        ctx.exit(EXIT_NOT_GOOD)


def _print(finding: DomainFinding) -> None:
    word = paint(finding.status.ljust(_WIDTH), colour=_COLOURS[finding.status], bold=True)
    click.echo(f"{word}  {finding.topic}: {show(finding.says)}")
    margin = " " * (_WIDTH + 2)
    for each in finding.found:
        click.echo(f"{margin}found    {show(each)}")
    for wanted in finding.publish:
        line = f"{wanted.name}. IN {wanted.type} {wanted.value}"
        if wanted.type == "TXT":
            line = zone_line(wanted.name, wanted.value)
        click.echo(f"{margin}publish  {line}")
