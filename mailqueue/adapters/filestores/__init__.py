"""Storage for archive files and attachments: a folder, or S3 and compatible services."""
