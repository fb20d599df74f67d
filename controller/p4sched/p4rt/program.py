"""A compiled P4 program: BMv2 JSON and P4Info."""

import json
from dataclasses import dataclass
from pathlib import Path

import finsy as fy
from google.protobuf.text_format import ParseError

from p4sched.p4rt.reader import SessionError


@dataclass(frozen=True)
class Program:
    """A compiled P4 program."""

    json: Path
    """BMv2 JSON: the device configuration."""
    p4info: Path
    """P4Info, protobuf text."""

    @classmethod
    def in_folder(cls, folder: Path, name: str) -> "Program":
        """What `p4sched compile p4/NAME.p4 -o FOLDER` wrote."""
        return cls(folder / f"{name}.json", folder / f"{name}.p4info.txtpb")

    def schema(self) -> fy.P4Schema:
        """Reads both files. A corrupt one is named here; the switch could only say that some bytes are wrong."""
        for path in (self.json, self.p4info):
            if not path.is_file():
                raise SessionError(f"{path} is missing; 'p4sched compile PROGRAM.p4 -o {path.parent}' writes it")
        try:
            json.loads(self.json.read_bytes())
        except (ValueError, RecursionError) as error:
            raise SessionError(f"{self.json}: not JSON: {error}") from error
        try:
            return fy.P4Schema(self.p4info, self.json)
        except (ParseError, ValueError, IndexError, KeyError) as error:
            reason = " ".join(str(error).split()) or "empty"
            raise SessionError(f"{self.p4info}: not a P4Info in protobuf text: {reason}") from error
