"""Pages for people: ask, see the price and the accuracy, pay, get the answer."""
