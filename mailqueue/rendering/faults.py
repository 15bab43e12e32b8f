"""What can be wrong with a template or what it is given."""


class TemplateFault(ValueError):
    """A template cannot be compiled, or not be rendered with these variables; says why."""

    def __init__(self, why: str, *, part: str = "", line: int | None = None) -> None:
        self.why = why
        self.part = part  # subject, html, text; or the name of a layout or partial
        self.line = line
        where = part if line is None else f"{part}, line {line}"
        super().__init__(f"{where}: {why}" if where else why)


class Exceeded(TemplateFault):
    """Rendering was stopped: it takes more steps, characters or time than a mail may."""
