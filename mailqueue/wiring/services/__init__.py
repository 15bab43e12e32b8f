"""The function that runs each listener of SERVICES, with the adapters it needs."""
