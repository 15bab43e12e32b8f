"""Send APIs compatible with those of other providers; they accept mail as /v1/send does."""
