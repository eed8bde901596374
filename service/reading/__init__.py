"""Reading: the rows of an epoch, filtered and ordered, in the formats that clients ask for."""
