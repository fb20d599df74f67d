"""Makes Stratum's configuration for a Tofino from the output folder of the chip's compiler.

Stratum takes one protobuf message as `p4_device_config` (controller/proto/tofino_pipeline.proto). Stratum's tool
bf_pipeline_builder makes the same message from the same files.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

import finsy as fy

from p4sched.p4rt.program import MissingProgramError, Pipeline, read_schema
from p4sched.p4rt.reader import SessionError
from p4sched.proto.tofino_pipeline_pb2 import TofinoPipeline

P4INFO = "p4info.txt"
"""Path of P4Info in the compiler's output: `--p4runtime-files FOLDER/p4info.txt`."""
ARCHITECTURES = ("tna", "t2na")
BINARY_BEGINS = b"\0\0\0H"
"""The tag of the first block of a tofino.bin, its header (p4c, backends/tofino/bf-asm/top_level.cpp)."""
COMPILE = "compile with -o FOLDER --p4runtime-files FOLDER/p4info.txt --p4runtime-force-std-externs"


@dataclass(frozen=True)
class TofinoProgram:
    """The output folder of bf-p4c, or of p4c with the Tofino back end:

    NAME.conf               program, pipes, and their files
    bfrt.json, bf-rt.json   names on the driver's own control plane
    p4info.txt              P4Info, protobuf text
    PIPE/context.json       tables and registers, for the driver
    PIPE/tofino.bin         binary for the chip; tofino2.bin for Tofino 2
    """

    folder: Path

    def pipeline(self) -> Pipeline:
        """Reads all files. Raises SessionError, which names the file, if one is missing or wrong."""
        device = self.device_config()
        schema = self._schema(device.SerializeToString(deterministic=True))
        self._check_that_names_agree(schema, device.runtime_names)
        return Pipeline(schema, schema.p4blob)

    def device_config(self) -> TofinoPipeline:
        """Stratum's configuration, without P4Info."""
        found = _Conf.read(self._conf())
        names = self._json(found.runtime_names)
        device = TofinoPipeline(program=found.program, runtime_names=names)
        for pipe in found.pipes:
            device.profiles.add(
                name=pipe.name,
                context=self._json(f"{pipe.name}/{pipe.context}"),
                binary=self._binary(f"{pipe.name}/{pipe.binary}"),
                pipes=pipe.scope,
            )
        return device

    def _conf(self) -> Path:
        if not self.folder.is_dir():
            raise SessionError(f"{self.folder} is not a folder; give the output folder of the Tofino compiler")
        found = sorted(self.folder.glob("*.conf"))
        if not found:
            raise SessionError(
                f"{self.folder} holds no .conf: it is not the output folder of a Tofino compiler that ended well"
            )
        if len(found) > 1:
            names = ", ".join(path.name for path in found)
            raise SessionError(f"{self.folder} holds several programs: {names}; give each program a folder of its own")
        return found[0]

    def _read(self, name: str) -> bytes:
        path = self.folder / name
        try:
            content = path.read_bytes()
        except OSError as error:
            raise MissingProgramError(f"{path} is missing ({error.strerror}): compile the program again") from error
        if not content:
            raise SessionError(f"{path} is empty: compile the program again")
        return content

    def _json(self, name: str) -> bytes:
        content = self._read(name)
        _parsed(self.folder / name, content)
        return content

    def _binary(self, name: str) -> bytes:
        content = self._read(name)
        if not content.startswith(BINARY_BEGINS):
            raise SessionError(f"{self.folder / name} is not a binary for a Tofino: it does not begin with a header")
        return content

    def _schema(self, device_config: bytes) -> fy.P4Schema:
        path = self.folder / P4INFO
        if not path.is_file():
            raise MissingProgramError(f"{path} is missing: {COMPILE}")
        schema = read_schema(path, device_config)
        if schema.arch not in ARCHITECTURES:
            written_for = f"for '{schema.arch}'" if schema.arch else "for no architecture that it names"
            raise SessionError(f"{path} is of a program {written_for}, not for {' or '.join(ARCHITECTURES)}")
        if not schema.p4info.counters and schema.p4info.externs:
            raise SessionError(f"{path} has the chip's own externs and not P4Runtime's: {COMPILE}")
        return schema

    def _check_that_names_agree(self, schema: fy.P4Schema, runtime_names: bytes) -> None:
        """Raises an error unless each table is both in P4Info and in the driver's names. The driver's names begin with
        the name of the pipe. With --p4runtime-force-std-externs, those of P4Info do not."""
        tables = json.loads(runtime_names).get("tables", ())
        known = {str(table.get("name")) for table in tables if isinstance(table, Mapping)}
        known |= {name.partition(".")[2] for name in known}
        for table in schema.tables:
            if table.name not in known:
                raise SessionError(f"{self.folder / P4INFO} is of another program: the driver knows no '{table.name}'")


@dataclass(frozen=True)
class _Pipe:
    """A pipe in a .conf file; file names are relative to the folder of the pipe."""

    name: str
    context: str
    binary: str
    scope: list[int]


@dataclass(frozen=True)
class _Conf:
    """Content of a .conf file. The compiler writes paths of its own machine, so only the names of the files count."""

    program: str
    runtime_names: str
    pipes: list[_Pipe]

    @classmethod
    def read(cls, path: Path) -> "_Conf":
        """Reads a .conf file. Stratum loads one program on one device, so there must be exactly one."""
        content = _parsed(path, path.read_bytes())
        try:
            (device,) = content["p4_devices"]
            (program,) = device["p4_programs"]
            pipes = [_pipe(pipe) for pipe in program["p4_pipelines"]]
            found = cls(str(program["program-name"]), PurePath(program["bfrt-config"]).name, pipes)
        except KeyError as error:
            raise SessionError(f"{path} does not describe one program on one device: {error} is missing") from error
        except (TypeError, ValueError, AttributeError) as error:
            raise SessionError(f"{path} does not describe one program on one device: {error}") from error
        if not found.program or not pipes:
            raise SessionError(f"{path} does not describe one program on one device: no name, or no pipe")
        return found


def _pipe(pipe: Mapping[str, Any]) -> _Pipe:
    scope = [int(number) for number in pipe["pipe_scope"]]
    context, binary = (PurePath(pipe[key]).name for key in ("context", "config"))
    return _Pipe(PurePath(pipe["p4_pipeline_name"]).name, context, binary, scope)


def _parsed(path: Path, content: bytes) -> Any:
    try:
        found = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise SessionError(f"{path}: not JSON: {error}") from error
    if not isinstance(found, dict):
        raise SessionError(f"{path}: not a JSON object")
    return found
