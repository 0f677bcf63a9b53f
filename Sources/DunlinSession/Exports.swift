@_exported public import DunlinContent
@_exported public import DunlinCurl
@_exported public import DunlinReachability
@_exported public import DunlinTrust
