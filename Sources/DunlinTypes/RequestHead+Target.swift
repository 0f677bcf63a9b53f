/// The parts of the target as they will be written.
extension RequestHead {
    /// The target up to its query.
    public var path: Substring { target.prefix { $0 != "?" } }

    /// The part of the target after its first question mark; nil without one.
    public var query: Substring? {
        target.firstIndex(of: "?").map { target[target.index(after: $0)...] }
    }
}
