"""What recognises text in pictures and words in speech."""
