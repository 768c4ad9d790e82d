"""SDMetrics' constraints: rules that the rows of one table or of several keep or break."""
