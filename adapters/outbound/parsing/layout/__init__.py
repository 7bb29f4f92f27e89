"""Rules on the lines of pages, whatever file they come from: margins, contents, titles, columns, order. Pure."""
