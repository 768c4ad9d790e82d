"""How near synthetic rows lie to people: distances and copies."""
