/// What `eventually` waited for did not come about in time.
public struct NeverCame: Error, CustomStringConvertible {
    public let what: String
    /// How long it was waited for.
    public let limit: Duration
    /// Where: `Module/File.swift` and the line.
    public let fileID: String
    public let line: Int

    public var description: String { "timed out after \(limit) waiting for: \(what) (\(fileID):\(line))" }
}
