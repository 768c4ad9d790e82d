"""Attribution: attacks that read a person's target from the synthetic rows with the same keys."""
