"""Commands for multicast: groups have nodes, a node has ports and link aggregation groups (LAGs)."""

import json
from collections.abc import Sequence

from p4sched.bmv2.base import CONTEXT, BaseCommands, at_least, handle, words
from p4sched.bmv2.program import InputError


def number_map(parts: Sequence[str], what: str = "port") -> str:
    """Numbers in the form of the interface: a map of 0s and 1s, whose last digit is number 0."""
    numbers: set[int] = set()
    for word in parts:
        if not word.isdecimal():
            raise InputError(f"'{word}' is not a valid {what} number")
        if int(word) in numbers:
            raise InputError(f"Found duplicate {what} number '{word}'")
        numbers.add(int(word))
    # the longest map that the interface accepts
    if max(numbers, default=0) > 1 << 16:
        raise InputError(f"'{max(numbers)}' is not a valid {what} number")
    return "".join("1" if number in numbers else "0" for number in range(max(numbers, default=-1), -1, -1))


def _ports_and_lags(parts: Sequence[str]) -> tuple[str, str]:
    place = parts.index("|") if "|" in parts else len(parts)
    return number_map(parts[:place]), number_map(parts[place + 1 :], "lag")


def _list_text(numbers: Sequence[int]) -> str:
    return f"[{', '.join(str(number) for number in numbers)}]"


class MulticastCommands(BaseCommands):
    """Commands for groups, nodes and LAGs."""

    def do_mc_mgrp_create(self, line: str) -> None:
        """Create a multicast group: mc_mgrp_create <group>."""
        group = self._group(words(line, 1)[0])
        print("Creating multicast group", group)
        self.multicast.bm_mc_mgrp_create(CONTEXT, group)

    def do_mc_mgrp_destroy(self, line: str) -> None:
        """Remove a multicast group: mc_mgrp_destroy <group>."""
        group = self._group(words(line, 1)[0])
        print("Destroying multicast group", group)
        self.multicast.bm_mc_mgrp_destroy(CONTEXT, group)

    def _group(self, word: str) -> int:
        return handle(word, "multicast group id")

    def do_mc_node_create(self, line: str) -> None:
        """Create a node: mc_node_create <rid> <ports, with blanks between> [ | <lags> ]."""
        word, *rest = at_least(line, 1)
        rid = handle(word, "rid")
        ports, lags = _ports_and_lags(rest)
        print("Creating node with rid", rid, ", port map", ports, "and lag map", lags)
        print("node was created with handle", self.multicast.bm_mc_node_create(CONTEXT, rid, ports, lags))

    def do_mc_node_update(self, line: str) -> None:
        """Give a node other ports: mc_node_update <node handle> <ports, with blanks between> [ | <lags> ]."""
        word, *rest = at_least(line, 2)
        node = handle(word, "node handle")
        ports, lags = _ports_and_lags(rest)
        print("Updating node", node, "with port map", ports, "and lag map", lags)
        self.multicast.bm_mc_node_update(CONTEXT, node, ports, lags)

    def do_mc_node_associate(self, line: str) -> None:
        """Add a node to a group: mc_node_associate <group> <node handle>."""
        group, node = words(line, 2)
        pair = self._group(group), handle(node, "node handle")
        print("Associating node", pair[1], "to multicast group", pair[0])
        self.multicast.bm_mc_node_associate(CONTEXT, *pair)

    def do_mc_node_dissociate(self, line: str) -> None:
        """Remove a node from a group: mc_node_dissociate <group> <node handle>."""
        group, node = words(line, 2)
        pair = self._group(group), handle(node, "node handle")
        print("Dissociating node", pair[1], "from multicast group", pair[0])
        self.multicast.bm_mc_node_dissociate(CONTEXT, *pair)

    def do_mc_node_destroy(self, line: str) -> None:
        """Remove a node: mc_node_destroy <node handle>."""
        node = handle(words(line, 1)[0], "node handle")
        print("Destroying node", node)
        self.multicast.bm_mc_node_destroy(CONTEXT, node)

    def do_mc_set_lag_membership(self, line: str) -> None:
        """Set the ports of a LAG: mc_set_lag_membership <lag> <ports, with blanks between>."""
        word, *rest = at_least(line, 2)
        lag = handle(word, "lag index")
        ports = number_map(rest, "lag")
        print("Setting lag membership:", lag, "<-", ports)
        self.multicast.bm_mc_set_lag_membership(CONTEXT, lag, ports)

    def do_mc_dump(self, line: str) -> None:
        """Show groups, their nodes, and LAGs: mc_dump."""
        words(line, 0)
        found = json.loads(self.multicast.bm_mc_get_entries(CONTEXT))
        upper = {node["handle"]: node for node in found["l1_handles"]}
        lower = {node["handle"]: node for node in found["l2_handles"]}
        print("==========\nMC ENTRIES")
        for group in found["mgrps"]:
            print(f"**********\nmgrp({group['id']})")
            for number in group["l1_handles"]:
                node, leaf = upper[number], lower[upper[number]["l2_handle"]]
                print(f"  -> (L1h={number}, rid={node['rid']})", end=" ")
                print(f"-> (ports={_list_text(leaf['ports'])}, lags={_list_text(leaf['lags'])})")
        print("==========\nLAGS")
        for lag in found["lags"]:
            print(f"lag({lag['id']}) -> ports={_list_text(lag['ports'])}")
        print("==========")
