//! A loaded program as P4Runtime sees it: its configuration and every entity that was written.

use std::collections::BTreeMap;
use std::sync::Arc;

use p4sched_dataplane::Pipeline;
use p4sched_proto::p4::v1 as p4rt;

use crate::digest_lists::DigestLists;
use crate::fault::Fault;
use crate::index::Index;
use crate::links::Links;
use crate::nodes::Nodes;
use crate::store::{ProfileStore, TableStore};
use crate::translation::Translation;

/// The control-plane state of a program. Its methods take the program's pipeline as an argument.
#[derive(Debug)]
pub struct Forwarding {
    /// The configuration as the controller set it.
    pub config: p4rt::ForwardingPipelineConfig,
    /// P4Info by identifier.
    pub index: Arc<Index>,
    /// Translates between the controller's values and the data plane's. All other fields hold the data plane's values.
    pub translation: Translation,
    pub(crate) links: Links,
    pub(crate) tables: BTreeMap<u32, TableStore>,
    pub(crate) profiles: BTreeMap<u32, ProfileStore>,
    /// The multicast nodes of BMv2's interface.
    pub(crate) nodes: Nodes,
    pub(crate) multicast: BTreeMap<u32, p4rt::MulticastGroupEntry>,
    pub(crate) clones: BTreeMap<u32, p4rt::CloneSessionEntry>,
    pub(crate) value_sets: BTreeMap<u32, Vec<p4rt::ValueSetMember>>,
    pub(crate) digests: DigestLists,
}

impl Forwarding {
    /// Creates the initial state of a program.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` if P4Info and the program do not belong together.
    pub fn new(config: p4rt::ForwardingPipelineConfig, pipeline: &Pipeline) -> Result<Forwarding, Fault> {
        let Some(p4info) = &config.p4info else {
            return Err(Fault::invalid("the pipeline configuration has no p4info"));
        };
        let (translation, lowered) = Translation::new(p4info, pipeline)?;
        let index = Arc::new(Index::new(&lowered, pipeline)?);
        let referenced = |&id| (id, TableStore::counting(index.references.to_table(id)));
        let tables = index.tables.keys().map(referenced);
        Ok(Forwarding {
            config,
            tables: tables.collect(),
            profiles: index.profiles.keys().map(|&id| (id, ProfileStore::default())).collect(),
            index,
            translation,
            links: Links::new(),
            nodes: Nodes::default(),
            multicast: BTreeMap::new(),
            clones: BTreeMap::new(),
            value_sets: BTreeMap::new(),
            digests: DigestLists::default(),
        })
    }
}
