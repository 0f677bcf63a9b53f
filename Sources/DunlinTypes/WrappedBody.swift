/// A body that reads from another, which may be one of our own sockets'.
package protocol WrappedBody: TransportResponse.BodyStream {
    /// What it reads from; nil if that is not known.
    var source: (any TransportResponse.BodyStream)? { get }
}
