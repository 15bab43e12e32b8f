"""The files for proxies agree with the limits and names of what is behind them."""

import re

import httpx2

from mailqueue.api.compat.resend.endpoints import BODY_BYTES as RESEND_BYTES
from mailqueue.api.http.requests.body import BODY_BYTES
from mailqueue.api.http.server import KEPT_SECONDS
from mailqueue.api.sending.attachments import MAX_BYTES
from mailqueue.api.suppression.lists import IMPORT_BYTES
from mailqueue.console.contacts.lists import MAX_FILE_BYTES
from mailqueue.settings.environment import load_settings
from mailqueue.web.forms import MAX_BYTES as FORM_BYTES
from mailqueue.wiring.inbound import inbound_tools
from tests.deploy.proxies import CADDYFILE, NGINX_CONF, PORTS, ROOT

LARGEST = max(BODY_BYTES, RESEND_BYTES, MAX_BYTES, IMPORT_BYTES, MAX_FILE_BYTES + FORM_BYTES)


def test_no_limit_of_a_proxy_is_below_those_behind_it() -> None:
    nginx = [
        int(found) for found in re.findall(r"client_max_body_size (\d+)m;", NGINX_CONF.read_text())
    ]
    caddy = [int(found) for found in re.findall(r"max_size (\d+)MiB", CADDYFILE.read_text())]

    assert len(nginx) == len(PORTS)
    assert len(caddy) == 1
    for limit in (*nginx, *caddy):
        assert LARGEST < limit * 1024 * 1024 < LARGEST + 4 * 1024 * 1024
    inbound = inbound_tools(load_settings()).providers
    assert max(one.max_bytes for one in inbound.values()) < LARGEST


def test_proxies_close_idle_connections_first() -> None:
    kept = re.findall(
        r"keepalive(?:_timeout)? (\d+)s", NGINX_CONF.read_text() + CADDYFILE.read_text()
    )

    assert len(kept) == len(PORTS) + 1
    assert max(map(int, kept)) < KEPT_SECONDS


def test_the_client_library_closes_idle_connections_first() -> None:
    kept = httpx2.Limits().keepalive_expiry

    assert kept is not None
    assert kept < KEPT_SECONDS


def test_both_files_have_the_same_names_and_ports() -> None:
    nginx, caddy = NGINX_CONF.read_text(), CADDYFILE.read_text()

    for name, port in PORTS.items():
        assert re.search(rf"server_name {name};", nginx)
        assert f"server 127.0.0.1:{port};" in nginx
        assert re.search(
            rf"^{name} {{\n(.*\n)*?\timport to_mailqueue {port}\n}}", caddy, re.MULTILINE
        )


def test_logs_of_nginx_are_kept_for_90_days_each_and_read_by_no_other_rule() -> None:
    text = (ROOT / "deploy" / "nginx" / "logrotate.conf").read_text("utf-8")
    logged = set(re.findall(r"(?:access|error)_log (/\S+)", NGINX_CONF.read_text("utf-8")))

    for setting in ("daily", "rotate 90", "maxage 90", "ignoreduplicates"):
        assert f"\n    {setting}\n" in text
    assert logged == set(re.findall(r"(/var/log/nginx/\S+)", text))


def test_nothing_that_names_links_is_logged() -> None:
    text = NGINX_CONF.read_text()
    formats = re.findall(r"log_format \w+ ((?:'.*'\s*)+);", text)
    variables = {name for each in formats for name in re.findall(r"\$(\w+)", each)}

    assert len(formats) == 2
    assert not variables & {"request", "request_uri", "uri", "args", "query_string", "http_referer"}
    servers = text.split("\nserver {")[1:]
    for server in servers:
        assert (
            "access_log off;" in server
            or "access_log /var/log/nginx/mailqueue.access.log " in server
        )
        assert (
            "proxy_pass" not in server
            or "error_log /var/log/nginx/mailqueue.error.log emerg;" in server
        )


def test_every_server_of_nginx_has_versions_of_tls_of_its_own() -> None:
    """Those of two places at one level are added: Debian's nginx.conf has TLS 1.0 among its own."""
    outside, *servers = NGINX_CONF.read_text().split("\nserver {")

    assert "ssl_protocols" not in outside
    for server in servers:
        if "listen 443" in server:
            assert "\n    ssl_protocols TLSv1.2 TLSv1.3;\n" in server
        assert "\n    error_log /var/log/nginx/mailqueue.error.log emerg;\n" in server


def test_caddy_is_started_anew_where_it_has_no_interface_for_a_reload() -> None:
    assert "\n\tadmin off\n" in CADDYFILE.read_text()
    for text in (CADDYFILE.read_text(), (ROOT / "docs" / "production.md").read_text()):
        assert "reload caddy" not in text
    assert "`systemctl restart caddy`" in (ROOT / "docs" / "production.md").read_text()
