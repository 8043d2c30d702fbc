"""The report mobile20, causal broadcast for mobile hosts. Start here: `study`."""
