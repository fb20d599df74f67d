"""The emulated world: Mininet, the kernel's TCP, iperf3 and p4sched-traffic, under the wall clock."""
