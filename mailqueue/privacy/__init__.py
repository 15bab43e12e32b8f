"""Privacy: export and erase all that is stored about a person."""
