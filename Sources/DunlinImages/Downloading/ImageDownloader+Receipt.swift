public import Dunlin
public import FoundationEssentials

extension ImageDownloader {
    /// A receipt for a requested picture.
    ///
    /// Releasing a receipt cancels nothing: the picture is downloaded and added to the cache.
    public struct Receipt: Sendable {
        /// The caller's ID, or one that the downloader created.
        public let id: UUID
        public let request: Request
        let number: UInt64
        let state: ReceiptState
        let reference: Reference

        /// The picture. Throws the request's error: a `NetworkError` with code `cancelled` if the receipt was
        /// cancelled, with code `sessionShutDown` if the downloader was released; and `CancellationError` if the
        /// awaiting task was cancelled, which cancels nothing else.
        public var image: ImageBuffer {
            get async throws { try await response.image }
        }

        /// The picture, and where it came from. Throws like `image`.
        public var response: Response {
            get async throws { try await state.value() }
        }

        /// The progress of the download: what is known now, then each change; several unread changes are combined. It
        /// ends with the outcome. A picture from memory has no progress.
        public var progress: AsyncStream<Progress> { state.observeProgress() }

        /// Whether there is an outcome.
        public var isOver: Bool { state.outcome != nil }

        /// Ends this receipt only: whoever awaits it gets a `NetworkError` with code `cancelled`. The request is
        /// cancelled with its last receipt, and never sent if it had not begun. No effect if the receipt is over.
        public func cancel() async {
            state.settle(.failure(Self.cancelled(request)))
            await reference.downloader?.leave(number)
        }

        /// Changes the priority of a waiting request.
        public func setPriority(_ priority: HTTP.Priority) async {
            await reference.downloader?.setPriority(priority, of: number)
        }

        static func cancelled(_ request: Request) -> NetworkError {
            NetworkError(
                .cancelled, "ImageDownloader cancelled URL request: \(ShownURL.of(request.target.text))",
                isSafeToRetry: true)
        }
    }

    /// An event for the downloader, from code that cannot wait for it.
    enum Event: Sendable {
        /// The receipt with this number is cancelled.
        case leave(UInt64)
        /// The request of this download has its turn.
        case turned(UInt64)
        /// Some waiter's time may be up.
        case expire
    }

    /// Gives receipts and downloads access to their downloader while it exists.
    final class Reference: Sendable {
        weak let downloader: ImageDownloader?
        /// The events, read by one task of the downloader.
        let (stream, events) = AsyncStream<Event>.makeStream()

        init(_ downloader: ImageDownloader) {
            self.downloader = downloader
        }
    }

    /// How many of a picture's bytes have come.
    public struct Progress: Sendable, Hashable {
        public let completed: Int
        /// The total number of bytes; nil if the server did not declare it.
        public let total: Int?

        public var fraction: Double? {
            total.map { $0 > 0 ? min(1, Double(completed) / Double($0)) : 1 }
        }
    }

    /// The result of a request.
    public struct Response: Sendable {
        public enum Source: Sendable, Hashable {
            /// The cache of images.
            case memory
            /// The cache of images, after the server had confirmed the picture.
            case confirmedMemory
            /// The session's HTTP cache.
            case httpCache
            case network
        }

        /// The request of this receipt, whichever request was sent.
        public let request: Request
        public let receiptID: UUID
        public let source: Source
        /// The response's head; nil from memory.
        public let head: ResponseHead?
        /// What the server sent; nil from memory.
        public let content: ResponseImage?
        /// The filtered pixels; nil for a request that does not decode.
        public let picture: ImageBuffer?

        /// The pixels. For a request that does not decode, they are decoded now, without its filters.
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
