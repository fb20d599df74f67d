"""The lab exercises ("labs"): what a lab is, and how a student's work is checked.

The Mininet environment is `p4sched.lab`.

| module | content |
|---|---|
| `lab` | a lab, its tasks, and the marks of a check |
| `catalogue` | the labs of `labs/` |
| `workspace` | a student's folder |
| `stepped_lab` | a lab with a P4 program: the check in stepped time |
| `chip` | a lab with a program for a chip: decisions, and whether the program fits |
| `answers` | a lab whose answers are numbers and words |
| `functions` | a lab with a controller in Python |
| `calling` | calls a student's function, in its own Python process |
| `python_output` | reads the output of the process that runs a student's Python |
| `python_changes` | Python programs with one change |
| `python_mutants` | tests whether the checks of labs in Python find such a change |
| `mutants` | solutions in P4 with one change, and tests whether the checks find it |
| `register_probe` | packets that read a student's registers |
| `students_law` | a student's function in place of a law, for the run with TCP |
| `decisions` | the decisions of a program and its model on each packet |
| `variants` | the decisions of the solution, its mistakes and its mutants |
| `mistakes` | the known mistakes, from the lab's wrong.toml |
| `explanations` | the numbers behind the decision of a P4 rule on a packet |
| `rules` | the laws of the labs in Python; a mistake replaces a part of them |
| `trace` | the packets of a check |
| `tcp_run` | the run with TCP at the end of a check |
| `sandbox`, `syscalls` | limits for the processes that read or run a student's files |
| `grading` | grades many submissions, each in its own process |
| `submissions` | finds the submissions and their names |
| `grading_process`, `submitted_file` | the process of one submission; how it reads the student's file |
| `graded_submission`, `grades` | a submission with its marks; reports as CSV, JUnit and pages |
| `checking` | a whole check |
| `export` | files for GitHub Classroom and Gradescope |
| `expected_figures` | draws the expected figures again |
| `displayable` | makes a student's text safe to show |
| `result_text`, `page` | a check as text, and as an HTML page |
"""
