internal import DunlinRules
public import DunlinTypes

extension TransportRequest {
    /// Returns the request as a shell command for `curl`, as an interceptor or a transport sees it. Effects of a
    /// session's settings, such as redirects and trust, are not included; commands from errors, events, handles and
    /// `Next.curl` include them.
    ///
    /// Secret fields, and values in a query or body whose names look secret, are left out unless `showingSecrets` asks
    /// for them. The session's own `secretFields` are not known here for a query or body.
    public func curl(showingSecrets: Bool = false) -> String {
        RequestRecord(RequestRecord.Source(self), CurlSettings(redirects: .init(follows: false), decodes: false))
            .curl(showingSecrets: showingSecrets)
    }
}
