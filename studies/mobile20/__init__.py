"""The report mobile20, causal broadcast for mobile hosts. Start with `study`."""
