"""What monitoring sees of a running service: figures that are looked up when somebody asks for them."""
