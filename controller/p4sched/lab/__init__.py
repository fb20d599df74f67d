"""The laboratory: a running topology with its switches, the traffic on it, and the measurements.

Experiments:
- experiment: what an experiment is, and how to add one; comparison: what those with tuned schemes share
- frame: the common steps of all experiments
- bench: a network with one scheme on it, observed
- calibrate, time_scale: capacity of this machine, and speed of an experiment on it

Bring-up:
- run: runs one experiment at a time, and leaves a clean machine
- ledger, processes: list of what a run created, for the clean-up after a crash
- network: the interface of networks; emulated: networks under Mininet; virtual: networks in virtual time
- topology_file: any network, from a file; containers: a network for containerlab and Kathará
- switch_lookup: the switches of the emulated lab by name
- schemes, ranked_schemes: the schemes of the comparisons, with their queue sizes and their ranks
- programming, fabric: program, routes, users and bottlenecks of a running dumbbell, or of leaves and spines
- controllers: the Python controller, which programs the switches and runs the laws; onos, netcfg: ONOS in its place
- depth: source of the queue length in ingress; law_configs: control laws in a run; bmv2: frames that BMv2 loses
- load_program: program and routes only, for plain `mn`

Traffic:
- scenario: how many connections each user opens
- traffic: long TCP flows between users and server; endpoints: their ends; stoppable: the form of all traffic
- ranked_traffic: UDP flows with ranks, and TCP flows of given sizes; sized_flows: flows of random sizes at a load
- ranked_join_leave: flows of rising urgency that join and leave
- probe, probe_stream: a constant stream that shows losses and gaps

Measurement:
- measurement: samples of the bytes of each user
- tcp_counters: retransmissions and reorderings from the kernels of the senders
- machine, observation, fidelity: checks whether the emulator, and not the network, was the bottleneck
"""
