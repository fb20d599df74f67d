"""The message of `p4.tmp.p4config` in which programs for BMv2 wrap the switch's JSON; PyPI's p4runtime lacks it.

It is built on import, so it works with every version of protobuf from 3.20 on, like p4runtime's own messages.
"""

from google.protobuf import descriptor_pb2, descriptor_pool
from google.protobuf.internal import builder

_Field = descriptor_pb2.FieldDescriptorProto


def _message(name: str, *fields: tuple[str, int, str]) -> descriptor_pb2.DescriptorProto:
    """A message with fields (name, type, name of the field's message), numbered from 1."""
    message = descriptor_pb2.DescriptorProto(name=name)
    for number, (field, kind, type_name) in enumerate(fields, 1):
        message.field.add(
            name=field, number=number, label=_Field.LABEL_OPTIONAL, type=kind, type_name=type_name or None
        )
    return message


def _file() -> descriptor_pb2.FileDescriptorProto:
    config = _message(
        "P4DeviceConfig",
        ("reassign", _Field.TYPE_BOOL, ""),
        ("extras", _Field.TYPE_MESSAGE, ".p4.tmp.P4DeviceConfig.Extras"),
        ("device_data", _Field.TYPE_BYTES, ""),
    )
    extras = config.nested_type.add(name="Extras")
    extras.field.add(
        name="kv",
        number=1,
        label=_Field.LABEL_REPEATED,
        type=_Field.TYPE_MESSAGE,
        type_name=".p4.tmp.P4DeviceConfig.Extras.KvEntry",
    )
    entry = _message("KvEntry", ("key", _Field.TYPE_STRING, ""), ("value", _Field.TYPE_STRING, ""))
    entry.options.map_entry = True
    extras.nested_type.append(entry)
    file = descriptor_pb2.FileDescriptorProto(name="p4/tmp/p4config.proto", package="p4.tmp", syntax="proto3")
    file.message_type.append(config)
    return file


DESCRIPTOR = descriptor_pool.Default().AddSerializedFile(_file().SerializeToString())
builder.BuildMessageAndEnumDescriptors(DESCRIPTOR, globals())
builder.BuildTopDescriptorsAndMessages(DESCRIPTOR, "p4.tmp.p4config_pb2", globals())
