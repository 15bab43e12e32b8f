"""With `--json` a command prints a domain as the HTTP API answers it."""

from mailqueue.contract.domains import DkimVerification, DomainReport
from tests.cli.contract.comparing import PROJECT, answers, beside, names_of, same
from tests.cli.support.invoked import Cli


def test_a_domain_and_its_keys_are_printed_as_the_api_answers_them(cli: Cli) -> None:
    key = cli.json("key", "create", "domains", *PROJECT)["key"]
    made = cli.json("dkim", "create", "example.com", "--algorithm", "both", *PROJECT)
    cli.json("dkim", "create", "b.example.com", "--algorithm", "ed25519", *PROJECT)
    cli.json("dkim", "verify", "example.com", "--force", *PROJECT)
    cli.json("project", "set", "shop", "--tracking-domain", "links.example.com")

    same(
        cli,
        {
            ("dkim", "list", *PROJECT): "/v1/dkim",
            ("dkim", "show", "example.com", *PROJECT): "/v1/dkim?domain=example.com",
        },
        {"X-API-Key": key},
    )
    keys = cli.json("dkim", "show", "example.com", *PROJECT)["data"]
    every = cli.json("dkim", "list")["data"]
    paths = [f"/v1/dkim/{one['id']}" for one in keys]
    mine = [one for one in every if one["domain"] == "example.com"]
    assert [beside(one, "project") for one in mine] == keys
    assert answers(cli, paths, {"X-API-Key": key}) == keys
    assert [set(one) for one in made["data"]] == [set(one) for one in keys]
    first, _ = cli.json(
        "dkim", "verify", "example.com", "--resolver", "::1", *PROJECT, exit_code=1
    )["data"]
    assert set(first) == names_of(DkimVerification)
    assert first["key"] == keys[0]
    (rotated, _) = cli.json("dkim", "rotate", "example.com", *PROJECT)["data"]
    gone = cli.json("dkim", "revoke", "example.com", rotated["selector"], *PROJECT, "--yes")
    assert answers(cli, [f"/v1/dkim/{rotated['id']}"], {"X-API-Key": key}) == [gone]

    checked = cli.json("dkim", "check", "example.com", "--resolver", "::1", *PROJECT, exit_code=1)
    assert set(checked) == names_of(DomainReport)
    (domain,) = answers(cli, ["/v1/tracking-domain"], {"X-API-Key": key})
    assert domain["domain"] == "links.example.com"
    assert beside(cli.json("tracking", "show", "shop"), "keys") == domain
    assert beside(cli.json("tracking", "rotate", "shop"), "keys") == domain
