"""The client for programs without asyncio, made from `mailqueue/client/asynchronous`."""
