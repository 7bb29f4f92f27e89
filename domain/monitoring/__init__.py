"""What operators look at: dead letters, the health of all instances, figures, the findings of the doctor."""
