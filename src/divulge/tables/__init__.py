"""Tables of any kind become columns of canonical values."""
