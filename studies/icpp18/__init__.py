"""The paper icpp18, causal broadcast over VCube trees with aggregation. Start here: `study`."""
