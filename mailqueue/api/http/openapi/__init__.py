"""The OpenAPI document: operations, their schemas, and the events that webhooks receive."""
