/// Why bytes of a file are not what a cache has written.
package enum CacheRefusal: Error, Sendable, Hashable {
    /// It is not a cache's file, or has another version.
    case format
    case checksum
    /// It ends too early.
    case truncated
    /// Bytes follow its end.
    case surplus
    /// A number is larger than any that is written.
    case limit
    /// A value is never written.
    case value
}
