"""What callers see of everything: each value is declared here and nowhere else."""
