"""What a run leaves: the run file, its readers, and the Allure setup."""
