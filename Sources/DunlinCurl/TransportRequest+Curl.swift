internal import DunlinRules
public import DunlinTypes

extension TransportRequest {
    /// The request as a shell command for `curl`, as an interceptor or a transport has it. What a session's settings
    /// decide, such as redirects and whom to trust, is not in it: the commands of errors, events and handles have that,
    /// and that of `Next.curl`.
    ///
    /// Secret fields, and values in a query or a body whose names look like secrets, are left out, unless
    /// `showingSecrets` asks for them. Of the session's own `secretFields`, values in a query or a body are not known
    /// here.
    public func curl(showingSecrets: Bool = false) -> String {
        RequestRecord(RequestRecord.Source(self), CurlSettings(redirects: .init(follows: false), decodes: false))
            .curl(showingSecrets: showingSecrets)
    }
}
