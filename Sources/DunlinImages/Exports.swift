@_exported public import DunlinCodecs
