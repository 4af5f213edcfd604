"""What a conforming driver does: requirements, oracle and suites."""
