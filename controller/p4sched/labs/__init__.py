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
| `calling` | calls a student's function, in a Python of its own |
| `answered` | what a process that runs a student's Python has written |
| `python_changes` | programs in Python with one change in them |
| `python_mutants` | whether the checks of labs in Python see such a change |
| `mutants` | solutions in P4 with one change in them, and whether the checks see it |
| `probe` | packets that read a student's registers |
| `students_law` | a student's function in place of a law, for the run with TCP |
| `decisions` | what a program and its model decide on each packet |
| `variants` | the decisions of the solution, its mistakes and its mutants |
| `mistakes` | the known mistakes, from the lab's wrong.toml |
| `explanations` | the numbers that a rule in P4 sees of a packet |
| `rules` | the laws of the labs in Python, with the parts that a mistake replaces |
| `trace` | the packets of a check |
| `tcp` | the run with TCP at the end of a check |
| `sandbox`, `syscalls` | limits for what reads or runs a student's files |
| `grading` | many submissions, each in a process of its own |
| `submissions` | which there are, and what each is called |
| `grading_process`, `handed_in` | the process of one submission; how it reads the student's file |
| `graded`, `grades` | a submission with its marks; all of them as CSV, JUnit and pages |
| `checking` | a whole check |
| `export` | files for GitHub Classroom and Gradescope |
| `expected` | draws the expected figures again |
| `shown` | a student's text as it may be shown |
| `told`, `page` | a check as text, and as an HTML page |
"""
