"""Broadcasts: mail to a list that a schedule sends, in the form of each API that has them."""
