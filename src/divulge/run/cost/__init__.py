"""What a run takes: memory, disk, time."""
