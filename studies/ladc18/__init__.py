"""The paper ladc18, best-effort broadcast over VCube trees with bundled messages. Start here: `study`."""
