internal import DunlinSemantics

extension HTTPSession: CustomStringConvertible {
    /// Where relative targets lead, without user info, and how many requests are running.
    public var description: String {
        let base = configuration.baseURL.map { "\(WebAddress.withoutUserInfo($0)), " } ?? ""
        return "HTTPSession(\(base)\(tasks.all.count) running)"
    }
}
