"""Many runs of one scenario: scheme x load x seed x parameters, restartable, on this machine or on Dask.

| module | content |
|---|---|
| `plan` | the points of SWEEP.toml |
| `point` | one point: its run and its figures |
| `workers` | processes of this machine, or Dask, which run points |
| `folder` | the stored points, and the sweep that they belong to |
| `table` | all points as one Parquet file |
"""
