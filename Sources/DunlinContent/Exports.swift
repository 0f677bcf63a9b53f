@_exported public import DunlinJSON
@_exported public import DunlinTypes
