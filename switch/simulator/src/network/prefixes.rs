//! The fewest routes that lead to all hosts of a network.
//!
//! Routes are chosen by the longest prefix. A host has a prefix of 24 bits, and an address without a host may lead
//! anywhere. The method is that of Draves, King, Venkatachary and Zill ("Constructing optimal IP routing tables",
//! INFOCOM 1999): from the leaves of the tree of prefixes to its root, the set of next hops that cost the fewest routes
//! is the intersection of the two halves' sets, or their union if they share none. Then, from the root to the leaves, a
//! route is needed where the one inherited is not in the set.

/// Length in bits of the prefix of each host.
const HOST_PREFIX: u16 = 24;

/// A route to all addresses with a prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    pub prefix: [u8; 4],
    /// Length of the prefix.
    pub bits: u16,
    /// Number of the next hop.
    pub next: usize,
}

/// A part of the addresses with at least one host.
struct Part {
    address: u32,
    bits: u16,
    /// The next hops that cost the fewest routes, in order.
    best: Vec<usize>,
    halves: Vec<Part>,
}

/// The fewest routes to hosts with these addresses and next hops.
pub fn fewest(hosts: Vec<([u8; 4], usize)>) -> Vec<Route> {
    let mask = u32::MAX << (32 - HOST_PREFIX);
    let hosts = hosts.into_iter();
    let mut hosts: Vec<(u32, usize)> = hosts
        .map(|(address, next)| (u32::from_be_bytes(address) & mask, next))
        .collect();
    hosts.sort_unstable();
    hosts.dedup();
    let mut routes = Vec::new();
    if !hosts.is_empty() {
        collect(&part(&hosts, 0), None, &mut routes);
    }
    routes
}

/// The part of these hosts, which share the first `bits` bits of their addresses.
fn part(hosts: &[(u32, usize)], bits: u16) -> Part {
    let (address, next) = hosts[0];
    if hosts.len() == 1 || bits == HOST_PREFIX {
        return Part {
            address,
            bits: HOST_PREFIX,
            best: vec![next],
            halves: Vec::new(),
        };
    }
    let middle = hosts.partition_point(|&(address, _)| address << bits >> 31 == 0);
    let (low, high) = hosts.split_at(middle);
    if low.is_empty() || high.is_empty() {
        return part(hosts, bits + 1);
    }
    let halves = vec![part(low, bits + 1), part(high, bits + 1)];
    let (one, other) = (&halves[0].best, &halves[1].best);
    let mut best: Vec<usize> = one.iter().copied().filter(|next| other.contains(next)).collect();
    if best.is_empty() {
        best = one.iter().chain(other).copied().collect();
        best.sort_unstable();
    }
    let address = address & (u32::MAX.checked_shl(32 - u32::from(bits)).unwrap_or(0));
    Part {
        address,
        bits,
        best,
        halves,
    }
}

fn collect(part: &Part, inherited: Option<usize>, routes: &mut Vec<Route>) {
    let next = match inherited {
        Some(next) if part.best.contains(&next) => next,
        _ => {
            let next = part.best[0];
            let (prefix, bits) = (part.address.to_be_bytes(), part.bits);
            routes.push(Route { prefix, bits, next });
            next
        }
    };
    for half in &part.halves {
        collect(half, Some(next), routes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The next hop of the longest prefix that matches.
    fn lookup(routes: &[Route], address: [u8; 4]) -> Option<usize> {
        let address = u32::from_be_bytes(address);
        let matches = |route: &&Route| {
            let mask = u32::MAX.checked_shl(32 - u32::from(route.bits)).unwrap_or(0);
            (address ^ u32::from_be_bytes(route.prefix)) & mask == 0
        };
        routes
            .iter()
            .filter(matches)
            .max_by_key(|route| route.bits)
            .map(|route| route.next)
    }

    #[test]
    fn every_host_is_reached_with_few_routes() {
        // A leaf of a network of 2000 hosts: 16 of its own, all others behind one next hop.
        let address = |host: usize| [10, (host / 200 + 1) as u8, (host % 200 + 1) as u8, 0];
        let next = |host: usize| if (48..64).contains(&host) { host } else { 0 };
        let routes = fewest((0..2000).map(|host| (address(host), next(host))).collect());
        assert!(routes.len() <= 17, "{} routes", routes.len());
        for host in 0..2000 {
            assert_eq!(lookup(&routes, address(host)), Some(next(host)), "host {host}");
        }
    }

    #[test]
    fn hosts_with_next_hops_of_their_own_have_routes_of_their_own() {
        let hosts: Vec<_> = (0..100).map(|host| ([10, 1, host as u8, 0], host % 7)).collect();
        let routes = fewest(hosts.clone());
        assert!(routes.len() <= 100);
        for (address, next) in hosts {
            assert_eq!(lookup(&routes, address), Some(next));
        }
        assert!(fewest(Vec::new()).is_empty());
    }
}
