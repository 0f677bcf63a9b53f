import Dunlin
import DunlinTesting
import Mocking

extension Mocked {
    /// The error of a request whose body can be sent once.
    func errorOfBodySentOnce() async throws -> NetworkError? {
        let (stream, continuation) = AsyncThrowingStream<Bytes, any Error>.makeStream()
        continuation.yield("once")
        continuation.finish()
        return try await networkError { _ = try await session.post("x", body: .stream(stream), as: .string) }
    }
}
