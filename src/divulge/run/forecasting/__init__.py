"""What a run will take and can find, told before it begins; a run that does not fit is refused."""
