"""What it costs: closed forms that turn one guarantee into another, and the ledger of what was spent."""
