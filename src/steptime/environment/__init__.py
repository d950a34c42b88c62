"""What is installed here, and what a person or a log says about another machine: facts, never conclusions."""
