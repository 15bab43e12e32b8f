"""Errors of templates and their variables."""


class TemplateFault(ValueError):
    """A template cannot be compiled, or not be rendered with these variables."""

    def __init__(self, why: str, *, part: str = "", line: int | None = None) -> None:
        self.why = why
        self.part = part  # subject, html, text; or the name of a layout or partial
        self.line = line
        where = part if line is None else f"{part}, line {line}"
        super().__init__(f"{where}: {why}" if where else why)


class Exceeded(TemplateFault):
    """Rendering was stopped: it exceeded the limit of steps, characters or time of a mail."""
