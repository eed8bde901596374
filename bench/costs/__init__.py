"""What views were estimated to cost, beside what they cost."""
