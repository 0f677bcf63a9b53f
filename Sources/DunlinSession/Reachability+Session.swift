extension Reachability.Probe {
    /// A probe that requests `target` with HEAD; any answer counts, whatever its status. The probe retains the session.
    public static func head(
        _ target: HTTP.Target, of session: HTTPSession, every interval: Duration = .seconds(60)
    ) -> Self {
        Self(every: interval) {
            var options = HTTPSession.Options()
            options.validatesResponse = false
            // What is stored says nothing of the server now.
            options.cacheMode = .off
            _ = try await session.head(target, options: options)
            return true
        }
    }
}
