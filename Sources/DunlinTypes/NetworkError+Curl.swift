extension NetworkError {
    /// The request as a shell command for `curl`, as it was sent last: paste it into a shell to see the same happen.
    /// Nil for an error that is about no request, or about one that could not be made.
    ///
    /// The values of secret fields, of a query and of a body whose names look like secrets are left out, unless
    /// `showingSecrets` asks for them. A body that is too long or cannot be read again is said in a line below the
    /// command. Nothing is made of this before it is called.
    public func curl(showingSecrets: Bool = false) -> String? { command?.curl(showingSecrets: showingSecrets) }

    /// Knows a request well enough to say it as a command. Prints nothing of it by itself.
    package protocol CommandSource: AnyObject, Sendable {
        func curl(showingSecrets: Bool) -> String
    }
}
