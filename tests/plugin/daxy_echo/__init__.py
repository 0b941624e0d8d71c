"""A task of a language of its own, a task of files, a metric, a format and a model."""
