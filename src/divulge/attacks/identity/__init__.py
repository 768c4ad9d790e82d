"""Who is alone, singled out or linked."""
