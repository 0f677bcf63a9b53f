/// Why bytes of a file are not what a cache has written.
package enum CacheRefusal: Error, Sendable, Hashable {
    /// It is no file of a cache, or one of another version.
    case format
    case checksum
    /// It ends too early.
    case truncated
    /// Something stands behind its end.
    case surplus
    /// It has more of something than is ever written.
    case limit
    /// A value that is never written.
    case value
}
