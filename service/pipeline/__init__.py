"""What comes from and goes to where data lies: watched directories, files that follow a view."""
