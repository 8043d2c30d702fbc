"""The paper hash, error detectors on probabilistic clocks. Start here: `study`."""
