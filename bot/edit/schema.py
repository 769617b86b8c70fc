"""What each operation needs: one typed schema for every `op` of an edit.

Edits keep unknown fields, so a schema takes what it knows and leaves the rest. `number` chooses
among several places with the structure of the anchor, `target_number` among several definitions
of the same dotted name; both count from 1, in the order of the file.
"""

from __future__ import annotations

from keyword import iskeyword
from typing import Annotated, Any, ClassVar, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    PositiveInt,
    ValidationError,
    model_validator,
)

from bot.edit.refusal import Refused
from bot.records import Edit


def _not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("must not be empty")
    return text


Text = Annotated[str, AfterValidator(_not_blank)]
Place = Literal["start", "end", "before", "after"]
Brings = Literal["statements", "expression", "decorator", "parameter", "item"]


class Fields(BaseModel):
    """What every edit says: which file, and the code that it brings."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    # What `code` is to the parser.
    brings: ClassVar[Brings] = "statements"

    file: str
    code: Text


class Targeted(Fields):
    """An edit inside one function or class, or, with an empty target, anywhere in the module."""

    target: str = ""
    target_number: PositiveInt | None = None


class InsertStatements(Targeted):
    place: Place = "start"
    anchor: str = ""
    number: PositiveInt | None = None

    @model_validator(mode="after")
    def _anchored(self) -> InsertStatements:
        _check_anchor(self.place, self.anchor)
        return self


class Rename(Targeted):
    target: Text
    to: Text
    code: str = ""


class ReplaceStatements(Targeted):
    anchor: Text
    number: PositiveInt | None = None


class DeleteStatements(Fields):
    code: str = ""
    target: str = ""
    target_number: PositiveInt | None = None
    anchor: Text
    number: PositiveInt | None = None


class ReplaceExpression(Targeted):
    brings = "expression"

    anchor: Text
    number: PositiveInt | None = None


class ReplaceFunctionBody(Targeted):
    target: Text


class ReplaceFunction(Targeted):
    target: Text
    keep_decorators: bool = True
    keep_comments: bool = True
    keep_async: bool = True


class AddFunction(Targeted):
    place: Literal["before", "after"] = "before"


class AddClass(Targeted):
    place: Place = "before"

    @model_validator(mode="after")
    def _inside(self) -> AddClass:
        if self.place in ("start", "end") and not self.target.strip():
            raise ValueError(f"place {self.place!r} needs a target: the class to put it in")
        return self


class RemoveImport(Fields):
    unused_only: bool = True


class AddDecorator(Targeted):
    brings = "decorator"

    target: Text
    place: Literal["outermost", "innermost"] = "outermost"


class AddField(Targeted):
    target: Text


class AddMethod(Targeted):
    target: Text
    place: Place = "end"
    anchor: str = ""

    @model_validator(mode="after")
    def _anchored(self) -> AddMethod:
        _check_anchor(self.place, self.anchor)
        return self


class AddParameter(Targeted):
    brings = "parameter"

    target: Text
    argument: str = ""


class SetArgument(Targeted):
    brings = "expression"

    anchor: Text
    keyword: Text
    number: PositiveInt | None = None

    @model_validator(mode="after")
    def _named(self) -> SetArgument:
        if not self.keyword.isidentifier() or iskeyword(self.keyword):
            raise ValueError(f"keyword {self.keyword!r} is no name")
        return self


class WrapCall(Targeted):
    brings = "expression"

    anchor: Text
    number: PositiveInt | None = None


class SetDefault(Targeted):
    brings = "expression"

    target: Text
    parameter: Text


class AddImport(Fields):
    pass


class SetConstant(Targeted):
    brings = "expression"

    target: Text
    number: PositiveInt | None = None


class ItemEdit(Targeted):
    """`target` is a constant, or with an anchor the scope that it stands in."""

    brings = "item"

    anchor: str = ""
    number: PositiveInt | None = None

    @model_validator(mode="after")
    def _placed(self) -> ItemEdit:
        if not self.target.strip() and not self.anchor.strip():
            raise ValueError("needs a target, the name of a constant, or an anchor")
        return self


class AppendTo(ItemEdit):
    pass


class RemoveFrom(ItemEdit):
    pass


class EditText(Fields):
    place: Literal["start", "end", "before", "after", "replace"] = "replace"
    anchor: str = ""
    number: PositiveInt | None = None

    @model_validator(mode="after")
    def _anchored(self) -> EditText:
        _check_anchor(self.place, self.anchor)
        return self


SCHEMAS: dict[str, type[Fields]] = {
    "add_class": AddClass,
    "add_decorator": AddDecorator,
    "add_field": AddField,
    "add_function": AddFunction,
    "add_import": AddImport,
    "add_method": AddMethod,
    "add_parameter": AddParameter,
    "append_to": AppendTo,
    "delete_statements": DeleteStatements,
    "edit_text": EditText,
    "insert_statements": InsertStatements,
    "remove_from": RemoveFrom,
    "remove_import": RemoveImport,
    "rename": Rename,
    "replace_expression": ReplaceExpression,
    "replace_function": ReplaceFunction,
    "replace_function_body": ReplaceFunctionBody,
    "replace_statements": ReplaceStatements,
    "set_argument": SetArgument,
    "set_constant": SetConstant,
    "set_default": SetDefault,
    "wrap_call": WrapCall,
}


def read_fields(op: str, edit: Edit) -> Fields:
    """The typed fields of an edit. Refused("unsupported") names what is needed."""
    if op not in SCHEMAS:
        needs = "; ".join(f"{name}: {fields_of(name)}" for name in SCHEMAS)
        raise Refused(
            "unsupported",
            f"There is no operation {op!r}; there are {', '.join(SCHEMAS)}. Fields: {needs}.",
        )
    missing = [name for name in needed_fields(op) if not str(getattr(edit, name, "")).strip()]
    if missing:
        raise Refused("unsupported", f"{op} needs {', '.join(missing)}.")
    try:
        return SCHEMAS[op].model_validate(edit.model_dump())
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        message = first["msg"].removeprefix("Value error, ")
        raise Refused(
            "unsupported",
            f"{op}: {f'{where}: ' if where else ''}{message}. It takes {fields_of(op)}.",
        ) from None


def needed_fields(op: str) -> list[str]:
    """The fields without which an edit cannot be, beside `op`."""
    return [name for name, field in SCHEMAS[op].model_fields.items() if field.is_required()]


def fields_of(op: str) -> str:
    """`file, code; may have target, place, …`."""
    needed = needed_fields(op)
    others = [name for name in SCHEMAS[op].model_fields if name not in needed]
    return ", ".join(needed) + (f"; may have {', '.join(others)}" if others else "")


def _check_anchor(place: Any, anchor: str) -> None:
    if place not in ("start", "end") and not anchor.strip():
        raise ValueError(f"place {place!r} needs an anchor")
