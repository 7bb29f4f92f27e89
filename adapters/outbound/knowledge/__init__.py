"""What the service knows and how: files made into text, text into vectors, and the models for both."""
