extension NetworkError {
    /// The request as a shell command for `curl`, as it was last sent, to reproduce the failure. Nil for an error that
    /// concerns no request, or one whose request could not be made.
    ///
    /// Secret fields, and values in a query or body whose names look secret, are left out unless `showingSecrets` asks
    /// for them. If the body is too long or cannot be read again, a line below the command says so. The command is made
    /// only when this is called.
    public func curl(showingSecrets: Bool = false) -> String? { command?.curl(showingSecrets: showingSecrets) }

    /// Something that knows a request well enough to write it as a command. It prints nothing of it by itself.
    package protocol CommandSource: AnyObject, Sendable {
        func curl(showingSecrets: Bool) -> String
    }
}
