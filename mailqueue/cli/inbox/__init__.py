"""Commands for events of other services and the rules that act on them."""
