@_exported public import DunlinTypes
