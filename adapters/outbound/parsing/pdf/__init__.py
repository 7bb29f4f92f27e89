"""What the reader of PDF files needs from the PDFium library."""
