"""The command line, one verb a file. The folder is the registry.

To add a verb, add a module with the name that users type ("Add a verb" in CONTRIBUTING.md has an
example). It has

- a docstring whose first line says in a few words what the verb does (`daxy --help` reads it from
  the source, importing nothing), and
- `VERB`: a frozen keyword-only dataclass that extends `daxy.cli._verb.Verb`. Its fields are the
  flags, with a docstring each; `tyro.conf.Positional` makes arguments. Its docstring is the verb's
  help and ends in an `Example:`. Its method `run() -> Result` does the work. Where the flags depend
  on the request, `variants` yields a class for each benchmark or learner that the words may name.

A verb prints nothing on stdout: `Result.text` (a string, or anything that rich can print) is what a
person gets there and `Result.data` what `--json` gets, as one object. Progress goes to stderr.
`Result.exit_code` is 1 when a check found something. Errors of a user are raised as `DaxyError`;
`main` prints them in one line and returns their exit code. Slow imports go inside `run`.
"""
