"""What documents are made of: tables and the cells in them, before anybody writes them down."""
