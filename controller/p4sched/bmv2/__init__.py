"""BMv2's command line for a running switch, `simple_switch_CLI`: the same commands, the same output.

| module | holds |
|---|---|
| `runtime.thrift` | the part of the runtime interface that the commands need |
| `connection` | the services of a switch, and the names of its errors |
| `program` | the objects of the loaded program, by name or by a unique suffix of the name |
| `values` | values, keys and parameters, to and from words |
| `cli` | the command line, which joins all commands |
| `tables`, `profiles`, `arrays`, `multicast`, `switch` | the commands, by kind of object |
"""
