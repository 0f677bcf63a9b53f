/// A body that reads from another, which may be one of Dunlin's own sockets.
package protocol WrappedBody: TransportResponse.BodyStream {
    /// The body that it reads from; nil if that is not known.
    var source: (any TransportResponse.BodyStream)? { get }
}

/// A wrapped body that changes nothing of what it reads, except when its pieces come or who is told of them.
package protocol PassedBody: WrappedBody {
    var stream: any TransportResponse.BodyStream { get }
}

extension PassedBody {
    package var source: (any TransportResponse.BodyStream)? { stream }
    package var expectedLength: Int? { stream.expectedLength }
    package var trailers: Fields { stream.trailers }
    package var hop: HTTP.Hop { stream.hop }
}
