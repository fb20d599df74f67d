"""Commands for action profiles. The older commands of BMv2 name a table instead of the profile."""

import sys
from typing import Any

from p4sched.bmv2.base import CONTEXT, BaseCommands, at_least, handle, words
from p4sched.bmv2.program import Action, InputError, Profile
from p4sched.bmv2.values import action_data


def show_named_action(name: str, data: list[bytes]) -> None:
    """Prints an action with its parameters."""
    print(f"Action entry: {name} - {', '.join(value.hex() for value in data)}")


def _show_member(member: Any) -> None:
    print(f"Dumping member {member.mbr_handle}")
    show_named_action(member.action_name, member.action_data)


def _show_group(group: Any) -> None:
    print(f"Dumping group {group.grp_handle}")
    print(f"Members: [{', '.join(str(member) for member in group.mbr_handles)}]")


class ProfileCommands(BaseCommands):
    """Commands for members and groups."""

    def _profile(self, name: str, *, with_selector: bool = False) -> Profile:
        profile = self.program.profiles.get(name)
        if with_selector and not profile.with_selector:
            raise InputError("Cannot run this command on an action profile without selector")
        return profile

    def _profile_action(self, profile: Profile, name: str) -> Action:
        action = self.program.action_of(profile.actions, name)
        if action is None:
            raise InputError(f"Action profile '{profile.name}' has no action '{name}'")
        return action

    def do_act_prof_create_member(self, line: str) -> None:
        """Add a member: act_prof_create_member <action profile> <action> [action parameters]."""
        name, action_name, *params = at_least(line, 2)
        profile = self._profile(name)
        action = self._profile_action(profile, action_name)
        data = action_data(action, params)
        added = self.standard.bm_mt_act_prof_add_member(CONTEXT, profile.name, action.name, data)
        print("Member has been created with handle", added)

    def do_act_prof_delete_member(self, line: str) -> None:
        """Remove a member: act_prof_delete_member <action profile> <member handle>."""
        name, member = words(line, 2)
        profile = self._profile(name)
        self.standard.bm_mt_act_prof_delete_member(CONTEXT, profile.name, handle(member, "member handle"))

    def do_act_prof_modify_member(self, line: str) -> None:
        """Change a member: act_prof_modify_member <action profile> <action> <member handle> [action parameters]."""
        name, action_name, member, *params = at_least(line, 3)
        profile = self._profile(name)
        action, number = self._profile_action(profile, action_name), handle(member, "member handle")
        data = action_data(action, params[1:] if params[:1] == ["=>"] else params)
        self.standard.bm_mt_act_prof_modify_member(CONTEXT, profile.name, number, action.name, data)

    def do_act_prof_create_group(self, line: str) -> None:
        """Add a group: act_prof_create_group <action profile>."""
        [name] = words(line, 1)
        profile = self._profile(name, with_selector=True)
        added = self.standard.bm_mt_act_prof_create_group(CONTEXT, profile.name)
        print("Group has been created with handle", added)

    def do_act_prof_delete_group(self, line: str) -> None:
        """Remove a group: act_prof_delete_group <action profile> <group handle>."""
        name, group = words(line, 2)
        profile = self._profile(name, with_selector=True)
        self.standard.bm_mt_act_prof_delete_group(CONTEXT, profile.name, handle(group, "group handle"))

    def do_act_prof_add_member_to_group(self, line: str) -> None:
        """Add a member to a group: act_prof_add_member_to_group <action profile> <member handle> <group handle>."""
        name, member, group = words(line, 3)
        profile = self._profile(name, with_selector=True)
        pair = handle(member, "member handle"), handle(group, "group handle")
        self.standard.bm_mt_act_prof_add_member_to_group(CONTEXT, profile.name, *pair)

    def do_act_prof_remove_member_from_group(self, line: str) -> None:
        """Take a member out: act_prof_remove_member_from_group <action profile> <member handle> <group handle>."""
        name, member, group = words(line, 3)
        profile = self._profile(name, with_selector=True)
        pair = handle(member, "member handle"), handle(group, "group handle")
        self.standard.bm_mt_act_prof_remove_member_from_group(CONTEXT, profile.name, *pair)

    def do_act_prof_dump(self, line: str) -> None:
        """Show members and groups: act_prof_dump <action profile>."""
        [name] = words(line, 1)
        self.dump_profile(self._profile(name))

    def dump_profile(self, profile: Profile) -> None:
        """Shows members and groups."""
        print("==========\nMEMBERS")
        for member in self.standard.bm_mt_act_prof_get_members(CONTEXT, profile.name):
            print("**********")
            _show_member(member)
        if profile.with_selector:
            print("==========\nGROUPS")
            for group in self.standard.bm_mt_act_prof_get_groups(CONTEXT, profile.name):
                print("**********")
                _show_group(group)

    def do_act_prof_dump_member(self, line: str) -> None:
        """Show one member: act_prof_dump_member <action profile> <member handle>."""
        name, member = words(line, 2)
        profile, number = self._profile(name), handle(member, "member handle")
        _show_member(self.standard.bm_mt_act_prof_get_member(CONTEXT, profile.name, number))

    def do_act_prof_dump_group(self, line: str) -> None:
        """Show one group: act_prof_dump_group <action profile> <group handle>."""
        name, group = words(line, 2)
        profile, number = self._profile(name), handle(group, "group handle")
        _show_group(self.standard.bm_mt_act_prof_get_group(CONTEXT, profile.name, number))

    def _by_table(self, line: str, command: str, *, with_selector: bool = False, old: bool = True) -> None:
        """Runs a command of a profile for the table that uses it."""
        name, *rest = at_least(line, 1)
        _, profile = self._indirect_table(name, with_selector=with_selector)
        if old and profile.tables > 1:
            raise InputError("Legacy command does not work with shared action profiles")
        if old:
            # on stderr, so that the output stays that of the command
            print(f"This is a deprecated command, use '{command}' instead", file=sys.stderr)
        getattr(self, f"do_{command}")(" ".join([profile.name, *rest]))

    def do_table_indirect_create_member(self, line: str) -> None:
        """[DEPRECATED!] As act_prof_create_member, with a table."""
        self._by_table(line, "act_prof_create_member")

    def do_table_indirect_delete_member(self, line: str) -> None:
        """[DEPRECATED!] As act_prof_delete_member, with a table."""
        self._by_table(line, "act_prof_delete_member")

    def do_table_indirect_modify_member(self, line: str) -> None:
        """[DEPRECATED!] As act_prof_modify_member, with a table."""
        self._by_table(line, "act_prof_modify_member")

    def do_table_indirect_create_group(self, line: str) -> None:
        """[DEPRECATED!] As act_prof_create_group, with a table."""
        self._by_table(line, "act_prof_create_group", with_selector=True)

    def do_table_indirect_delete_group(self, line: str) -> None:
        """[DEPRECATED!] As act_prof_delete_group, with a table."""
        self._by_table(line, "act_prof_delete_group", with_selector=True)

    def do_table_indirect_add_member_to_group(self, line: str) -> None:
        """[DEPRECATED!] As act_prof_add_member_to_group, with a table."""
        self._by_table(line, "act_prof_add_member_to_group", with_selector=True)

    def do_table_indirect_remove_member_from_group(self, line: str) -> None:
        """[DEPRECATED!] As act_prof_remove_member_from_group, with a table."""
        self._by_table(line, "act_prof_remove_member_from_group", with_selector=True)

    def do_table_dump_member(self, line: str) -> None:
        """Same as act_prof_dump_member, for a table."""
        self._by_table(line, "act_prof_dump_member", old=False)

    def do_table_dump_group(self, line: str) -> None:
        """Same as act_prof_dump_group, for a table."""
        self._by_table(line, "act_prof_dump_group", old=False)

    def _complete_profile(self, text: str, *_: object) -> list[str]:
        return self.program.profiles.completions(text)

    def _complete_profile_and_action(self, text: str, line: str, *_: object) -> list[str]:
        return self._complete_with_action(self.program.profiles, text, line)

    complete_act_prof_create_member = complete_act_prof_modify_member = _complete_profile_and_action
    complete_act_prof_delete_member = complete_act_prof_create_group = complete_act_prof_delete_group = (
        _complete_profile
    )
    complete_act_prof_add_member_to_group = complete_act_prof_remove_member_from_group = _complete_profile
    complete_act_prof_dump = complete_act_prof_dump_member = complete_act_prof_dump_group = _complete_profile
