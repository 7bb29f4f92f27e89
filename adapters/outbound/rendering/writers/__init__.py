"""One file for each markup."""
