"""The classroom labs: what a lab is, and how a student's work is checked.

| module | what it is |
|---|---|
| `lab` | a lab, its tasks, and the marks that a check gives |
| `catalogue` | the labs of `labs/` |
| `workspace` | a student's folder |
| `stepped` | a lab with a P4 program: the check in stepped time |
| `chip` | the same for a chip: decisions, and whether it fits |
| `answers` | a lab whose answers are numbers and words |
| `functions` | a lab with a controller in Python |
| `students_law` | a student's function in the place of a law, for the run with TCP |
| `decisions` | what a program and its model decide on each packet |
| `rules` | the rule of each scheme once more, in Python: it explains decisions and names mistakes |
| `trace` | the packets of a check |
| `tcp` | the run with TCP at the end of a check |
| `sandbox` | limits for what reads or runs a student's files |
| `grading` | many submissions: marks, JUnit, pages |
| `checking` | a whole check |
| `export` | files for GitHub Classroom and Gradescope |
| `expected` | draws the expected figures again |
| `told`, `page` | a check as text, and as an HTML page |
"""
