"""Commands for tables."""

from typing import Any

from p4sched.bmv2.base import CONTEXT, at_least, handle, split_at_arrow, words
from p4sched.bmv2.connection import INTERFACE
from p4sched.bmv2.profiles import ProfileCommands, show_named_action
from p4sched.bmv2.program import Action, InputError, Table
from p4sched.bmv2.values import KINDS, action_data, match_key, param_text, tab_text

NONE, ACTION, MEMBER = 0, 1, 2
"""Target of an entry; 3 is a group."""


def show_action(action: Any) -> None:
    if action.action_type == NONE:
        print("EMPTY")
    elif action.action_type == ACTION:
        show_named_action(action.action_name, action.action_data)
    elif action.action_type == MEMBER:
        print(f"Index: member({action.mbr_handle})")
    else:
        print(f"Index: group({action.grp_handle})")


def _show_entry(table: Table, entry: Any) -> None:
    width = max(20, *(len(field.name) for field in table.key)) if table.key else 20
    print(f"Dumping entry {entry.entry_handle:#x}")
    print("Match key:")
    for param, field in zip(entry.match_key, table.key, strict=False):
        print(f"* {field.name:{width}}: {KINDS[param.type].upper():10}{param_text(param, colons=False)}")
    if entry.options.priority is not None and entry.options.priority >= 0:
        print(f"Priority: {entry.options.priority}")
    show_action(entry.action_entry)
    if entry.life is not None:
        print(f"Life: {entry.life.time_since_hit_ms}ms since hit, timeout is {entry.life.timeout_ms}ms")


class TableCommands(ProfileCommands):
    """Commands for tables, their entries and default actions."""

    def _action(self, table: Table, table_name: str, name: str) -> Action:
        action = self.program.action_of(table.actions, name)
        if action is None:
            raise InputError(f"Table {table_name} has no action {name}")
        return action

    def do_show_tables(self, line: str) -> None:
        """List tables defined in the P4 program: show_tables."""
        words(line, 0)
        for _, table in sorted(self.program.tables.all.items()):
            print(table)

    def do_show_actions(self, line: str) -> None:
        """List actions defined in the P4 program: show_actions."""
        words(line, 0)
        for _, action in sorted(self.program.actions.all.items()):
            print(action)

    def do_table_show_actions(self, line: str) -> None:
        """List one table's actions: table_show_actions <table>."""
        [name] = words(line, 1)
        self._show_actions(self._table(name))

    def _show_actions(self, table: Table) -> None:
        for name in sorted(set(table.actions)):
            print(self.program.actions.all[name])

    def do_table_info(self, line: str) -> None:
        """Show a table and its actions: table_info <table>."""
        [name] = words(line, 1)
        table = self._table(name)
        print(table)
        print("*" * 80)
        self._show_actions(table)

    def do_table_num_entries(self, line: str) -> None:
        """Count the entries of a table: table_num_entries <table>."""
        [name] = words(line, 1)
        print(self.standard.bm_mt_get_num_entries(CONTEXT, self._table(name).name))

    def do_table_clear(self, line: str) -> None:
        """Remove all entries of a table, but not its default action: table_clear <table>."""
        [name] = words(line, 1)
        self.standard.bm_mt_clear_entries(CONTEXT, self._table(name).name, False)

    def do_table_set_default(self, line: str) -> None:
        """Set the default action of a table: table_set_default <table> <action> <action parameters>."""
        name, action_name, *params = at_least(line, 2)
        table = self._table(name)
        action = self._action(table, name, action_name)
        data = action_data(action, params)
        print("Setting default action of", name)
        print(f"{'action:':20} {action_name}\n{'runtime data:':20} {tab_text(data)}")
        self.standard.bm_mt_set_default_action(CONTEXT, table.name, action.name, data)

    def do_table_reset_default(self, line: str) -> None:
        """Restore the default action of the program: table_reset_default <table>."""
        [name] = words(line, 1)
        self.standard.bm_mt_reset_default_entry(CONTEXT, self._table(name).name)

    def do_table_add(self, line: str) -> None:
        """Add an entry: table_add <table> <action> <match fields> => <action parameters> [priority].

        A match field is 10.0.0.1 or 0x800 (exact), 10.0.0.0/8 (lpm), 0x1&&&0xff (ternary) or 1->5 (range). Where the
        key has ternary or range fields, a priority follows: the smallest wins.
        """
        name, action_name, *rest = at_least(line, 3)
        table = self._table(name)
        action = self._action(table, name, action_name)
        priority = self._priority(table, rest)
        fields, params = split_at_arrow(rest)
        if len(fields) != len(table.key):
            raise InputError(f"Table {name} needs {len(table.key)} key fields")
        data = action_data(action, params)
        key = match_key(table.key, fields)
        print("Adding entry to", table.kind, "match table", name)
        matches = "\t".join(f"{KINDS[param.type].upper()}-{param_text(param, colons=True)}" for param in key)
        print(f"{'match key:':20} {matches}\n{'action:':20} {action_name}\n{'runtime data:':20} {tab_text(data)}")
        options = INTERFACE.AddOptions(priority)
        added = self.standard.bm_mt_add_entry(CONTEXT, table.name, key, action.name, data, options)
        print("Entry has been added with handle", added)

    def do_table_modify(self, line: str) -> None:
        """Change the action of an entry: table_modify <table> <action> <entry handle> [action parameters]."""
        name, action_name, entry, *params = at_least(line, 3)
        table = self._table(name)
        action = self._action(table, name, action_name)
        number = handle(entry, "entry handle")
        data = action_data(action, params[1:] if params[:1] == ["=>"] else params)
        print("Modifying entry", number, "for", table.kind, "match table", name)
        self.standard.bm_mt_modify_entry(CONTEXT, table.name, number, action.name, data)

    def do_table_delete(self, line: str) -> None:
        """Remove an entry: table_delete <table> <entry handle>."""
        name, entry = words(line, 2)
        table, number = self._table(name), handle(entry, "entry handle")
        print("Deleting entry", number, "from", name)
        self.standard.bm_mt_delete_entry(CONTEXT, table.name, number)

    def do_table_set_timeout(self, line: str) -> None:
        """Set the idle timeout of an entry: table_set_timeout <table> <entry handle> <timeout (ms)>."""
        name, entry, timeout = words(line, 3)
        table = self._table(name)
        if not table.timeouts:
            raise InputError(f"Table {name} does not support entry timeouts")
        number, milliseconds = handle(entry, "entry handle"), handle(timeout, "timeout")
        print("Setting a", milliseconds, "ms timeout for entry", number)
        self.standard.bm_mt_set_entry_ttl(CONTEXT, table.name, number, milliseconds)

    def _indirect_add(self, line: str, *, with_selector: bool) -> None:
        name, *rest = at_least(line, 2)
        table, _ = self._indirect_table(name, with_selector=with_selector)
        priority = self._priority(table, rest)
        fields, behind = split_at_arrow(rest)
        if len(behind) != 1:
            raise InputError("Invalid arguments, could not find handle")
        if len(fields) != len(table.key):
            raise InputError(f"Table {name} needs {len(table.key)} key fields")
        number = handle(behind[0], "handle")
        key = match_key(table.key, fields)
        print("Adding entry to indirect match table", table.name)
        add = self.standard.bm_mt_indirect_ws_add_entry if with_selector else self.standard.bm_mt_indirect_add_entry
        print("Entry has been added with handle", add(CONTEXT, table.name, key, number, INTERFACE.AddOptions(priority)))

    def do_table_indirect_add(self, line: str) -> None:
        """Add an entry with a member: table_indirect_add <table> <match fields> => <member handle> [priority]."""
        self._indirect_add(line, with_selector=False)

    def do_table_indirect_add_with_group(self, line: str) -> None:
        """Add an entry with a group: table_indirect_add_with_group <table> <match fields> => <group> [priority]."""
        self._indirect_add(line, with_selector=True)

    def do_table_indirect_delete(self, line: str) -> None:
        """Remove an entry of an indirect table: table_indirect_delete <table> <entry handle>."""
        name, entry = words(line, 2)
        table, _ = self._indirect_table(name)
        number = handle(entry, "entry handle")
        print("Deleting entry", number, "from", name)
        self.standard.bm_mt_indirect_delete_entry(CONTEXT, table.name, number)

    def do_table_indirect_set_default(self, line: str) -> None:
        """Set the default member of an indirect table: table_indirect_set_default <table> <member handle>."""
        name, member = words(line, 2)
        table, _ = self._indirect_table(name)
        self.standard.bm_mt_indirect_set_default_member(CONTEXT, table.name, handle(member, "handle"))

    def do_table_indirect_set_default_with_group(self, line: str) -> None:
        """Set the default group of an indirect table: table_indirect_set_default_with_group <table> <group handle>."""
        name, group = words(line, 2)
        table, _ = self._indirect_table(name, with_selector=True)
        self.standard.bm_mt_indirect_ws_set_default_group(CONTEXT, table.name, handle(group, "handle"))

    def do_table_indirect_reset_default(self, line: str) -> None:
        """Restore the default of the program in an indirect table: table_indirect_reset_default <table>."""
        [name] = words(line, 1)
        self.standard.bm_mt_indirect_reset_default_entry(CONTEXT, self._table(name).name)

    def do_table_dump_entry(self, line: str) -> None:
        """Show one entry: table_dump_entry <table> <entry handle>."""
        name, entry = words(line, 2)
        table = self._table(name)
        _show_entry(table, self.standard.bm_mt_get_entry(CONTEXT, table.name, handle(entry, "entry handle")))

    def do_table_dump_entry_from_key(self, line: str) -> None:
        """Show the entry with this key: table_dump_entry_from_key <table> <match fields> [priority]."""
        name, *fields = at_least(line, 1)
        table = self._table(name)
        priority = self._priority(table, fields)
        if len(fields) != len(table.key):
            raise InputError(f"Table {name} needs {len(table.key)} key fields")
        key, options = match_key(table.key, fields), INTERFACE.AddOptions(priority)
        _show_entry(table, self.standard.bm_mt_get_entry_from_key(CONTEXT, table.name, key, options))

    def do_table_dump(self, line: str) -> None:
        """Show all entries of a table, its members and groups, and its default action: table_dump <table>."""
        [name] = words(line, 1)
        table = self._table(name)
        entries = self.standard.bm_mt_get_entries(CONTEXT, table.name)
        print("==========\nTABLE ENTRIES")
        for entry in entries:
            print("**********")
            _show_entry(table, entry)
        if table.profile is not None:
            self.dump_profile(table.profile)
        default = self.standard.bm_mt_get_default_entry(CONTEXT, table.name)
        print("==========\nDumping default entry")
        show_action(default)
        print("==========")

    def _complete_table(self, text: str, *_: object) -> list[str]:
        return self.program.tables.completions(text)

    def _complete_table_and_action(self, text: str, line: str, *_: object) -> list[str]:
        return self._complete_with_action(self.program.tables, text, line)

    complete_table_add = complete_table_modify = complete_table_set_default = _complete_table_and_action
    complete_table_show_actions = complete_table_info = complete_table_num_entries = _complete_table
    complete_table_clear = complete_table_reset_default = complete_table_delete = _complete_table
    complete_table_set_timeout = complete_table_dump = complete_table_dump_entry = _complete_table
    complete_table_dump_entry_from_key = complete_table_indirect_add = _complete_table
    complete_table_indirect_add_with_group = complete_table_indirect_delete = _complete_table
    complete_table_indirect_set_default = complete_table_indirect_set_default_with_group = _complete_table
    complete_table_indirect_reset_default = _complete_table
