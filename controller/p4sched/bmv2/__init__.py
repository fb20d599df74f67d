"""BMv2's command line for a running switch, `simple_switch_CLI`: the same commands, the same output.

| module | holds |
|---|---|
| `runtime.thrift` | the runtime interface, as far as the commands need it |
| `connection` | the services of a switch, and the names of its refusals |
| `program` | what the loaded program has, by name or by an unambiguous end of a name |
| `values` | values, keys and parameters, from words and back |
| `cli` | the command line, and the commands of all kinds |
| `tables`, `profiles`, `arrays`, `multicast`, `switch` | the commands, by kind of object |
"""
