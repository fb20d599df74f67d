//! Placeholder: see the crate's folder.
