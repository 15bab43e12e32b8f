"""The Caddyfile of the stack, made from that of a host."""

from pathlib import Path

CADDY_IMAGE = "caddy:2.10"
SITES = {
    "api.example.com": "api:8025",
    "console.example.com": "console:8081",
    "links.example.com": "api:8026",
}


def caddyfile(root: Path) -> str:
    """Return the Caddyfile of the stack: that of a host, with names of services and access logs."""
    text = (root / "deploy" / "caddy" / "Caddyfile").read_text("utf-8")
    _, _, body = text.partition("{\n")
    body = body.replace("reverse_proxy 127.0.0.1:{args.0}", "reverse_proxy {args.0}")
    body = body.replace("(to_mailqueue) {\n", f"(to_mailqueue) {{\n{ACCESS_LOG}")
    for name, address in SITES.items():
        port = address.partition(":")[2]
        body = body.replace(f"import to_mailqueue {port}\n", f"import to_mailqueue {address}\n")
        body = body.replace(name, name.replace("example.com", "{$DOMAIN}"))
    body = body.replace("postmaster@example.com", "postmaster@{$DOMAIN}")
    return f"{CADDY_HEAD}{{\n{body}"


CADDY_HEAD = """\
# Caddy in front of the containers. Made by make_compose.py from deploy/caddy/Caddyfile.
#
# Access logs go to standard output, which alloy ships to Loki; Loki keeps them for 90 days. They
# have no paths, queries and headers, in which tokens of links and keys are.
"""
ACCESS_LOG = """\
	log {
		output stdout
		format filter {
			wrap json
			fields {
				request>uri delete
				request>headers delete
				request>tls delete
				resp_headers delete
			}
		}
	}
"""
