"""The client for programs with asyncio; `mailqueue/client/synchronous` is made from it."""
