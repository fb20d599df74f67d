"""The laboratory: a topology brought up with its switch, TCP traffic on it, and what was measured.

Bring-up:
- experiment: what an experiment is
- run: one run at a time, and a clean machine after it
- ledger, processes: what a run made, for a clean-up after a crash
- network: the topologies under Mininet; running: its switches by name
- schemes: programs, disciplines and queue sizes of the comparison
- programming: program, routes, users and bottleneck of a running dumbbell
- load_program: program and routes only, for plain `mn`

Traffic:
- scenario: how many connections each user opens
- traffic: iperf3 between users and server
- probe, probe_stream: a constant stream that shows losses and gaps

Measurement:
- measurement: samples of what each user got
- tcp: what the senders' kernels saw: retransmissions, reorderings
- machine, observation, fidelity: whether the emulator or the network was the bottleneck
"""
