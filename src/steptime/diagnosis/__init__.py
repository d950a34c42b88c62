"""Why something is as it is: rules, each in its own file, and the one function that weighs them."""
