"""Where archive files and attachments lie: a folder, or storage that speaks the protocol of S3."""
