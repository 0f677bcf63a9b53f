@_exported public import DunlinActivity
@_exported public import DunlinTransfers
