"""Ways of executing training steps, one a file. All run the same traced step, so all train the same."""
