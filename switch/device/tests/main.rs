//! A device as a controller sees it.

mod action_profiles;
mod device;
mod direct_resources;
mod fixture;
mod left_out;
mod other_entities;
mod random_messages;
mod restrictions;
mod table_entries;
mod tofino;
