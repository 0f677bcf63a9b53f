package import Dunlin

/// A body that passes on another, as those do that Dunlin puts around a body that it observes.
package final class WrappingBody: PassedBody {
    package let stream: any TransportResponse.BodyStream

    private init(_ stream: any TransportResponse.BodyStream) {
        self.stream = stream
    }

    package func next() async throws -> Bytes? { try await stream.next() }

    /// The response with its streamed body wrapped.
    package static func wrapped(_ response: TransportResponse) -> TransportResponse {
        guard case .stream(let stream) = response.body else { return response }
        return TransportResponse(
            head: response.head, interim: response.interim, body: .stream(WrappingBody(stream)), hop: response.hop)
    }
}
