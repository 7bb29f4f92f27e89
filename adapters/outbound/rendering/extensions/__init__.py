"""What the parser knows beyond CommonMark, one file for each subject."""
