"""A compiled P4 program that a switch can load."""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import finsy as fy
from finsy.proto import p4r
from google.protobuf.text_format import ParseError

from p4sched.errors import MissingError
from p4sched.p4rt.reader import SessionError


@dataclass(frozen=True)
class Pipeline:
    """A program for a switch."""

    schema: fy.P4Schema
    """P4Info and device configuration."""
    does: bytes
    """Part of the device configuration that defines the behaviour. Pipelines with the same value are equal."""

    @property
    def config(self) -> p4r.ForwardingPipelineConfig:
        """The message to the switch. Its cookie is a hash of P4Info and of `does`."""
        config = self.schema.get_pipeline_config()
        digest = hashlib.sha256(config.p4info.SerializeToString(deterministic=True) + self.does).digest()
        config.cookie.cookie = int.from_bytes(digest[:8], "big")
        return config


class MissingProgramError(SessionError, MissingError):
    """A file of a program is missing."""


class Loadable(Protocol):
    """A program that a switch can load."""

    def pipeline(self) -> Pipeline:
        """Reads the files. Raises SessionError, which names the file, if one is missing or wrong."""


@dataclass(frozen=True)
class Program:
    """A program for the embedded switch or for BMv2: BMv2 JSON and P4Info."""

    json: Path
    """BMv2 JSON: the device configuration."""
    p4info: Path
    """P4Info, protobuf text."""

    @classmethod
    def in_folder(cls, folder: Path, name: str) -> "Program":
        """Program that `p4sched compile p4/NAME.p4 -o FOLDER` wrote."""
        return cls(folder / f"{name}.json", folder / f"{name}.p4info.txtpb")

    def schema(self) -> fy.P4Schema:
        """Reads both files. An error names the corrupt file, which the switch could not do."""
        return self.pipeline().schema

    def pipeline(self) -> Pipeline:
        """Reads both files. Ignores the names of sources, which the compiler copies from its command line."""
        for path in (self.json, self.p4info):
            if not path.is_file():
                raise MissingProgramError(f"{path} is missing; 'p4sched compile PROGRAM.p4 -o {path.parent}' writes it")
        text = self.json.read_bytes()
        try:
            does = json.dumps(_without_sources(json.loads(text)), sort_keys=True, separators=(",", ":"))
        except (ValueError, RecursionError) as error:
            raise SessionError(f"{self.json}: not JSON: {error}") from error
        return Pipeline(read_schema(self.p4info, text), does.encode())


def read_schema(p4info: Path, device_config: bytes) -> fy.P4Schema:
    """Reads a P4Info. Raises SessionError for an invalid file."""
    try:
        return fy.P4Schema(p4info, device_config)
    except (ParseError, ValueError, IndexError, KeyError) as error:
        # finsy looks at the first character
        reason = "it is empty" if isinstance(error, IndexError) else " ".join(str(error).split())
        raise SessionError(f"{p4info}: not a P4Info in protobuf text: {reason}") from error


def _without_sources(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_sources(inner) for key, inner in value.items() if key not in ("source_info", "program")}
    return [_without_sources(inner) for inner in value] if isinstance(value, list) else value
