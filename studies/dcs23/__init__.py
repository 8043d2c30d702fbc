"""The paper dcs23, Dynamic Clock Sets. Start here: `study`. `rare`, `sizes` and `best` evaluate result folders."""
