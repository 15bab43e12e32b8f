"""Opens, clicks and the links by which people unsubscribe: tokens, links, what is put into mail."""
