"""Languages: one grammar and its meaning a file, as the papers print them."""
