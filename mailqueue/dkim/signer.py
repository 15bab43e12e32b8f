"""Writes the DKIM-Signature of a message, and chooses the signed headers (RFC 6376 3.5, 5.4).

RFC 6376 requires only From to be signed. All headers that readers or filters act on are signed,
most of them listed once more than they occur (oversigned): a header added in transit then
invalidates the signature.
"""

from base64 import b64encode
from collections.abc import Mapping, Sequence

from mailqueue.dkim.canonical import body_hash, relaxed_headers
from mailqueue.dkim.keys import SigningKey

# In the order of h=. True: oversigned, listed once more than it occurs.
COVERED: Mapping[bytes, bool] = {
    b"from": True,
    b"sender": True,
    b"reply-to": True,
    b"to": True,
    b"cc": True,
    b"subject": True,
    b"date": True,
    b"message-id": True,
    b"in-reply-to": False,
    b"references": False,
    b"mime-version": True,
    b"content-type": True,
    b"content-transfer-encoding": False,
    b"list-id": False,
    b"list-unsubscribe": True,  # RFC 8058 4 requires both to be signed
    b"list-unsubscribe-post": True,
    b"list-help": False,
    b"auto-submitted": False,
    b"feedback-id": False,
}
_LINE_OCTETS = 72
_KEPT_LISTS = 64
_KEPT_BODIES = 32
_KEPT_BODY_OCTETS = 256 * 1024


class BodyHashes:
    """Cache of body hashes: the body of a campaign is hashed once."""

    def __init__(self) -> None:
        self._kept: dict[
            int, tuple[bytes, bytes]
        ] = {}  # by length, so that few bodies are compared

    def of(self, body: bytes) -> bytes:
        """Return the hash of the canonical body in base64."""
        kept = self._kept.get(len(body))
        if kept is not None and kept[0] == body:
            return kept[1]
        made = b64encode(body_hash(body))
        if len(body) <= _KEPT_BODY_OCTETS:
            if len(self._kept) >= _KEPT_BODIES:
                self._kept.clear()
            self._kept[len(body)] = body, made
        return made


class DomainSigner:
    """Signs the mail of one domain with each of its keys."""

    def __init__(self, keys: Sequence[SigningKey]) -> None:
        self._keys = tuple(keys)
        self._starts = [_start(key) for key in self._keys]
        self._hashes = BodyHashes()
        self._lists: dict[tuple[int, ...], bytes] = {}

    def sign(self, message: bytes, at: int) -> bytes:
        """Return the DKIM-Signature headers to put before the message, one per key, ending in CRLF.

        `message` is as sent, without dot-stuffing; changing a byte afterwards invalidates the
        signature. `at` is the time of signing in seconds since 1970.
        """
        head, _, body = message.partition(b"\r\n\r\n")
        headers = relaxed_headers(head)
        counts = tuple([len(headers[name]) if name in headers else 0 for name in COVERED])
        rest = b" t=%d;\r\n h=%b;\r\n bh=%b;\r\n b=" % (
            at,
            self._names(counts),
            self._hashes.of(body),
        )
        covered = _covered(headers)
        return b"".join(
            [
                _signature(key, start + rest, covered)
                for key, start in zip(self._keys, self._starts, strict=True)
            ]
        )

    def _names(self, counts: tuple[int, ...]) -> bytes:
        found = self._lists.get(counts)
        if found is None:
            if len(self._lists) >= _KEPT_LISTS:
                self._lists.clear()
            found = self._lists[counts] = _list_of_names(counts)
        return found


class Signers:
    """The domains a project signs for; mail of other domains is not signed.

    A key of a parent domain signs for its subdomains, which DMARC's relaxed alignment allows.
    """

    def __init__(
        self, by_domain: Mapping[str, DomainSigner] | None = None, *, is_required: bool = False
    ) -> None:
        self._by_domain = dict(by_domain or {})
        self.is_required = is_required

    def of(self, domain: str) -> DomainSigner | None:
        """Return the signer for a domain in A-labels and lower case, or None."""
        while self._by_domain and domain:
            found = self._by_domain.get(domain)
            if found is not None:
                return found
            domain = domain.partition(".")[2]
        return None


def _start(key: SigningKey) -> bytes:
    return (
        f"v=1; a={key.algorithm}; c=relaxed/relaxed; d={key.domain};\r\n s={key.selector};".encode()
    )


def _covered(headers: Mapping[bytes, Sequence[bytes]]) -> bytes:
    """Return the canonical headers in the order of h=, repeated ones from the last to the first."""
    return b"".join(
        [
            b"%b:%b\r\n" % (name, value)
            for name in COVERED
            if name in headers
            for value in reversed(headers[name])
        ]
    )


def _signature(key: SigningKey, tags: bytes, covered: bytes) -> bytes:
    # The DKIM-Signature header itself, canonical, with b= empty and without a line end.
    made = key.sign(covered + b"dkim-signature:" + tags.replace(b"\r\n ", b" "))
    return b"DKIM-Signature: %b%b\r\n" % (tags, _folded(b64encode(made)))


def _folded(octets: bytes) -> bytes:
    if len(octets) <= _LINE_OCTETS:
        return octets
    lines = [octets[at : at + _LINE_OCTETS] for at in range(0, len(octets), _LINE_OCTETS)]
    return b"\r\n ".join(lines)


def _list_of_names(counts: Sequence[int]) -> bytes:
    names = [
        name
        for (name, is_oversigned), count in zip(COVERED.items(), counts, strict=True)
        for _ in range(count + is_oversigned)
    ]
    lines = [names[0]]
    for name in names[1:]:
        if len(lines[-1]) + len(name) + 1 > _LINE_OCTETS:
            lines[-1] += b":"
            lines.append(name)
        else:
            lines[-1] += b":" + name
    return b"\r\n ".join(lines)
