"""Other people's attention functions, one file each."""
