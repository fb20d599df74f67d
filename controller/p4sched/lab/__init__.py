"""The laboratory: a topology brought up with its switch, traffic on it, and what was measured.

Experiments:
- experiment: what an experiment is, and how to add one; frame: the way of every experiment
- bench: a network with one scheme on it, observed
- calibrate, time_scale: capacity of this machine, and pace of an experiment on it

Bring-up:
- run: one run at a time, and a clean machine after it
- ledger, processes: what a run made, for a clean-up after a crash
- network: networks as experiments see them; emulated: under Mininet; virtual: in virtual time
- running: the switches of the emulated lab by name
- schemes, ranked_schemes: the schemes of the comparisons, with their queue sizes and their ranks
- programming, fabric: program, routes, users and bottlenecks of a running dumbbell, or of leaves and spines
- controllers: who programs the switches and runs the laws; onos, netcfg: an ONOS in place of the Python controller
- depth: how ingress knows the length of the queues; tuned: control laws in a run; bmv2: its queues, by Thrift
- load_program: program and routes only, for plain `mn`

Traffic:
- scenario: how many connections each user opens
- traffic: long TCP flows between users and server
- ranked_traffic: UDP flows with ranks, and TCP flows of given sizes; sized_flows: flows of random sizes at a load
- ranked_join_leave: flows of rising urgency that join and leave
- probe, probe_stream: a constant stream that shows losses and gaps

Measurement:
- measurement: samples of what each user got
- tcp: what the senders' kernels saw: retransmissions, reorderings
- machine, observation, fidelity: whether the emulator or the network was the bottleneck
"""
