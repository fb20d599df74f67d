//! Headers and fields: the storage of a program.

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    pub name: String,
    /// Width in bits; the maximum for a varbit.
    pub width: u32,
    /// Two's complement.
    pub signed: bool,
    /// True if the width varies.
    pub is_varbit: bool,
}

#[derive(Clone, Debug)]
pub struct HeaderType {
    pub name: String,
    pub fields: Vec<Field>,
}

/// An instance of a header or of metadata.
#[derive(Clone, Debug)]
pub struct Header {
    pub name: String,
    /// Index of its type.
    pub ty: usize,
    /// True if it is not part of a packet.
    pub metadata: bool,
}

#[derive(Clone, Debug)]
pub struct Stack {
    pub name: String,
    /// Index of the header type of its elements.
    pub ty: usize,
    /// Indexes of its elements, which are headers.
    pub elements: Vec<usize>,
}

#[derive(Clone, Debug)]
pub struct Union {
    pub name: String,
    pub type_name: String,
    /// Name and header index of each member.
    pub members: Vec<(String, usize)>,
}

/// A stack of header unions.
#[derive(Clone, Debug)]
pub struct UnionStack {
    pub name: String,
    /// Name of its elements' type.
    pub type_name: String,
    /// Indexes of its elements, which are unions.
    pub elements: Vec<usize>,
}
