"""Complete messages, as mail programs write them."""


def raw(*fields: bytes, body: bytes = b"\r\nHello\r\n") -> bytes:
    return b"".join(field + b"\r\n" for field in fields) + body


def simple(*more: bytes) -> bytes:
    return raw(b"From: shop@example.com", b"To: ann@example.com", b"Message-ID: <x@y.zz>", *more)
