"""What a release must keep: policies, rules, baselines."""
