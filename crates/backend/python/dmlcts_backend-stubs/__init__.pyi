# The types of `dmlcts_backend`. PEP 561 has no marker for a module of one file, so they are a package of their own.
# `.ci/run python` compares them with the module.

from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple, Union

__all__ = [
    "Backend", "ArrayBackend", "Desc", "Tensor", "Run", "Invalid", "Unsupported", "Refused",
    "WrongShape", "WrongType", "serve",
    "ALIGNMENT", "DATA_TYPES", "PADDING_MODES", "element_size", "packed_strides", "byte_strides",
    "Walk", "check_tensors", "check_slice", "check_padding", "check_lists", "check_list",
]
__version__: str

DATA_TYPES: Dict[str, Tuple[int, Optional[int]]]
PADDING_MODES: Tuple[str, ...]
Run = Callable[[memoryview, memoryview], None]
ALIGNMENT: int

class Invalid(Exception): ...
class Unsupported(Exception): ...

class Refused(Exception):
    code: int
    def __init__(self, reason: str, code: int) -> None: ...

class WrongShape(Exception): ...
class WrongType(Exception): ...

class Tensor:
    __slots__ = (
        "DataType", "Flags", "DimensionCount", "Sizes", "Strides", "TotalTensorSizeInBytes",
        "GuaranteedBaseOffsetAlignment",
    )
    DataType: int
    Flags: int
    DimensionCount: int
    Sizes: Optional[List[int]]
    Strides: Optional[List[int]]
    TotalTensorSizeInBytes: int
    GuaranteedBaseOffsetAlignment: int

class Desc:
    __slots__ = ("operator", "_run", "_case", "_place")
    operator: str
    def __init__(self, run: Dict[str, Any], case: int, place: int) -> None: ...
    @property
    def InputTensor(self) -> Optional[Tensor]: ...
    @property
    def OutputTensor(self) -> Optional[Tensor]: ...
    # A member of the operator's struct: an integer, a list, None for a null pointer, or the eight bytes of a scalar union.
    def __getattr__(self, name: str) -> Any: ...

class Backend:
    name: str
    version: str
    device: str
    driver: str
    feature_level: str
    can_set_feature_level: bool
    operators: Optional[Sequence[str]]
    data_types: Sequence[str]
    ranks: Tuple[int, int]
    lacks: Union[Dict[str, Dict[str, str]], Sequence[Dict[str, str]]]
    tensor_bytes: Optional[int]
    elements: Optional[int]
    batch_cases: Optional[int]
    busy_cases: Optional[int]
    create_timeout: Optional[float]
    def create(self, desc: Desc) -> Run: ...
    def set_feature_level(self, level: str) -> None: ...

class ArrayBackend(Backend):
    modes: Dict[str, Any]
    narrow_modes: Sequence[str]
    before_first: Optional[int]
    def __init__(self) -> None: ...
    # Arrays are those of NumPy, which the module does not need.
    def slice(
        self, array: Any, starts: List[int], stops: List[Optional[int]], steps: List[int]
    ) -> Any: ...
    def pad(self, array: Any, widths: List[Tuple[int, int]], mode: Any, value: Any) -> Any: ...

def serve(backend: Backend) -> None: ...
def element_size(tensor: Tensor) -> int: ...
def packed_strides(sizes: Sequence[int]) -> List[int]: ...
def byte_strides(tensor: Tensor) -> List[int]: ...
def check_tensors(
    desc: Desc, data_types: Sequence[str] = ..., ranks: Tuple[int, int] = ...
) -> Tuple[Tensor, Tensor]: ...

class Walk(NamedTuple):
    first: int
    length: int
    step: int
    stop: Optional[int]

def check_slice(desc: Desc, source: Tensor, target: Tensor) -> List[Walk]: ...
def check_padding(desc: Desc, source: Tensor, target: Tensor) -> List[Tuple[int, int]]: ...
def check_lists(desc: Desc, source: Tensor, *names: str) -> List[List[int]]: ...
def check_list(name: str, values: Optional[List[int]], rank: int) -> List[int]: ...
