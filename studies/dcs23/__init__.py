"""The paper dcs23, Dynamic Clock Sets. Start with `study`; `rare`, `sizes` and `best` evaluate result folders."""
