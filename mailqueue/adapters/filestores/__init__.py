"""Where archive files lie: a folder, or storage that speaks the protocol of S3."""
