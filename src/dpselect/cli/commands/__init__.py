"""One file for each word that a user types after ``dpselect``; no command imports another."""
