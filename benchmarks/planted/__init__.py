"""Which evaluator finds which disclosure, at which dose, and how often is there an alarm without one."""
