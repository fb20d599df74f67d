//! Swaps of programs, and the reset to a program's initial state.

use p4sched_proto::p4::v1 as p4rt;

use super::{Refusal, SwapCode};
use crate::device::Device;
use crate::forwarding::Forwarding;
use crate::program::Program;

impl Device {
    /// Keeps a program for [`Device::swap`]. From then on, requests apply to it. Multicast groups and mirroring
    /// sessions belong to the switch, so the new program keeps them.
    ///
    /// # Errors
    /// If another program already waits for its swap.
    pub fn load_for_swap(&mut self, mut program: Program) -> Result<(), Refusal> {
        if self.waits_for_swap() {
            return Err(SwapCode::OngoingSwap.because("another program waits for its swap"));
        }
        if let Some((forwarding, pipeline)) = self.running_program() {
            let Forwarding {
                nodes,
                multicast,
                clones,
                ..
            } = forwarding;
            for &group in multicast.keys() {
                program.pipeline.mcast_group_set(group as u16, nodes.replicas(group));
            }
            for &session in clones.keys() {
                if let Some(config) = pipeline.clone_session(session as u16) {
                    program.pipeline.clone_session_set(session as u16, config.clone());
                }
            }
            let new = &mut program.forwarding;
            (new.nodes, new.multicast, new.clones) = (nodes.clone(), multicast.clone(), clones.clone());
        }
        self.save(program);
        Ok(())
    }

    /// Makes the program active that [`Device::load_for_swap`] kept.
    ///
    /// # Errors
    /// If no program waits, or the switch cannot run it with its present settings.
    pub fn swap(&mut self) -> Result<(), Refusal> {
        if !self.waits_for_swap() {
            return Err(SwapCode::NoOngoingSwap.because("no program waits for a swap"));
        }
        self.commit_saved()
            .map_err(|fault| SwapCode::ConfigSwapDisabled.because(fault.message))
    }

    /// The configuration of the active program, from which [`Device::restart`] gets the same program again.
    pub fn active_config(&self) -> Option<p4rt::ForwardingPipelineConfig> {
        let (forwarding, _) = self.running_program()?;
        Some(forwarding.config.clone())
    }

    /// Resets the switch to the initial state of `program`, the same program again. As in BMv2, mirroring sessions
    /// stay.
    ///
    /// # Errors
    /// Those of [`Device::commit`].
    pub fn restart(&mut self, mut program: Program) -> Result<(), crate::fault::Fault> {
        if let Some((forwarding, pipeline)) = self.running_program() {
            for &session in forwarding.clones.keys() {
                if let Some(config) = pipeline.clone_session(session as u16) {
                    program.pipeline.clone_session_set(session as u16, config.clone());
                }
            }
            program.forwarding.clones.clone_from(&forwarding.clones);
        }
        self.commit(program)
    }
}
