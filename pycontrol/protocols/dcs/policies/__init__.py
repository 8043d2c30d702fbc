"""When a process expands, where it increments, and who starts rounds: what the paper leaves open. One file a policy."""
