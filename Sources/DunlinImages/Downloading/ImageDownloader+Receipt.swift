public import Dunlin
public import FoundationEssentials

extension ImageDownloader {
    /// What a caller holds of a picture that was asked for.
    ///
    /// Letting go of a receipt cancels nothing: the picture is downloaded, and added to the cache.
    public struct Receipt: Sendable {
        /// The caller's, or one that the downloader made up.
        public let id: UUID
        public let request: Request
        let number: UInt64
        let state: ReceiptState
        let desk: Desk

        /// The picture. Throws what the request ended with; `NetworkError` with code `cancelled` if the receipt was
        /// cancelled, with code `sessionClosed` if the downloader has gone, and `CancellationError` if the task was
        /// cancelled that waits here, which cancels nothing else.
        public var image: ImageBuffer {
            get async throws { try await response.image }
        }

        /// The picture, and where it came from. Throws as `image` does.
        public var response: Response {
            get async throws { try await state.value() }
        }

        /// How far the download is: what is known now, and each change; of several changes that nobody read the last.
        /// It ends when there is an outcome. A picture that was in memory has none.
        public var progress: AsyncStream<Progress> { state.follow() }

        /// Whether there is an outcome already.
        public var isOver: Bool { state.outcome != nil }

        /// Ends this receipt, and no other: whoever waits for it gets `NetworkError` with code `cancelled`. The request
        /// is cancelled with the last receipt for it, and never sent if that was before it began. Has no effect on one
        /// that is over.
        public func cancel() async {
            state.settle(.failure(Self.cancelled(request)))
            await desk.downloader?.leave(number)
        }

        /// Changes the priority of a request that waits.
        public func setPriority(_ priority: HTTP.Priority) async {
            await desk.downloader?.setPriority(priority, of: number)
        }

        static func cancelled(_ request: Request) -> NetworkError {
            NetworkError(
                .cancelled, "ImageDownloader cancelled URL request: \(ShownURL.of(request.target.text))",
                isSafeToRetry: true)
        }
    }

    /// What the downloader is told where nobody can wait for it.
    enum Event: Sendable {
        /// The receipt with this number is cancelled.
        case leave(UInt64)
        /// The request of this download has its turn.
        case turned(UInt64)
        /// Somebody's time may be up.
        case expire
    }

    /// Where receipts and downloads find their downloader as long as it is there.
    final class Desk: Sendable {
        weak let downloader: ImageDownloader?
        /// Read by one task of the downloader's.
        let (stream, events) = AsyncStream<Event>.makeStream()

        init(_ downloader: ImageDownloader) {
            self.downloader = downloader
        }
    }

    /// How much of a picture's bytes has come.
    public struct Progress: Sendable, Hashable {
        public let completed: Int
        /// Nil if the server did not say.
        public let total: Int?
        /// Bytes of `completed` that were there from an earlier download.
        public let resumed: Int

        public var fraction: Double? {
            total.map { $0 > 0 ? min(1, Double(completed) / Double($0)) : 1 }
        }
    }

    /// What became of a request.
    public struct Response: Sendable {
        public enum Source: Sendable, Hashable {
            /// The cache of images.
            case memory
            /// The cache of images, once the server had confirmed that it is still the same.
            case confirmedMemory
            /// The session's HTTP cache.
            case httpCache
            case network
        }

        /// The request of the receipt that this is for, whoever's was sent.
        public let request: Request
        public let receiptID: UUID
        public let source: Source
        /// Nil from memory.
        public let head: ResponseHead?
        /// What the server sent; nil from memory.
        public let content: ResponseImage?
        /// The pixels, filtered; nil for a request that does not decode.
        public let picture: ImageBuffer?

        /// The pixels. Those of a request that does not decode are decoded now, without its filters.
        public var image: ImageBuffer {
            get async throws {
                if let picture { return picture }
                guard let content else {
                    throw NetworkError(.noContent, "the response has neither a decoded picture nor bytes to decode")
                }
                return try await content.decoded()
            }
        }
    }
}
