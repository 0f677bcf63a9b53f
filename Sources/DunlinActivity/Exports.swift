@_exported public import DunlinSession
