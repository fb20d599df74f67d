"""Many runs of one scenario: scheme x load x seed x parameters, restartable, on this machine or on Dask.

| module | what it is |
|---|---|
| `plan` | what SWEEP.toml asks for: the points |
| `point` | one point: its run, and what is kept of it |
| `workers` | where points run: processes of this machine, or Dask |
| `folder` | what is done already, and what it belongs to |
| `table` | all points as one Parquet file |
"""
