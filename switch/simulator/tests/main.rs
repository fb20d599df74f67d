//! Figures and theorems of the papers, and programs compared with models.

mod appendix_b;
mod attack;
mod bbr;
mod bytes;
mod dual_pi2;
mod kernel;
mod lengths_and_ranks;
mod memory;
mod netbench;
mod network;
mod order;
mod packs_figures;
mod programs_in_networks;
mod steady_state;
mod theorems;
