"""The laboratory: a topology brought up with its switch, TCP traffic on it, and what was measured.

- run: one run at a time, and a clean machine after it
- ledger: what a run made, for a clean-up after a crash
- network: the dumbbell under Mininet
- traffic: iperf3 between users and server
- tcp: what the senders' kernels saw: retransmissions, reorderings
- fidelity: whether the emulator or the network was the bottleneck
- scenario: how many connections each user opens
- figures: the look of the figures
"""
