"""What it costs: closed forms that turn one guarantee into another."""
