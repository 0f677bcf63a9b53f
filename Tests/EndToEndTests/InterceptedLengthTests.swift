import Dunlin
import DunlinTesting
import Folders
import Foundation
import Synchronization
import Testing

/// Bodies of interceptors that are longer or shorter than somebody said.
@Suite(.timeLimit(.minutes(10))) struct `The length of an interceptor's body` {
    private typealias Interception = HTTPSession.Interception

    /// Pieces of two bytes, of which so many are announced.
    private final class Made: TransportResponse.BodyStream {
        private let left: Mutex<Int>
        let expectedLength: Int?

        init(_ pieces: Int, announcing length: Int?) {
            left = Mutex(pieces)
            expectedLength = length
        }

        func next() async throws -> Bytes? {
            left.withLock { left in
                left -= 1
                return left < 0 ? nil : "xy"
            }
        }

        var trailers: Fields { Fields() }
        var hop: HTTP.Hop { HTTP.Hop() }
    }

    private enum Way: CaseIterable {
        case whole
        case streamed
        case download
    }

    /// What a caller gets of ten bytes of the server's, in whose place an interceptor puts others.
    private static func bytes(
        _ way: Way, isAroundCall: Bool, _ change: @escaping @Sendable (TransportResponse.Body) -> TransportResponse.Body
    ) async throws -> Bytes {
        let folder = try Folder()
        let got = Mutex(Bytes())
        let interceptor: @Sendable (TransportRequest, HTTPSession.Next) async throws -> TransportResponse = {
            try await $1($0).with { $0.body = change($0.body) }
        }
        try await Stage.with(tolerating: true) {
            $0.interceptors = [isAroundCall ? .call(interceptor) : .exchange(interceptor)]
        } _: { (stage: Stage) async throws in
            let fields: Fields = ["ETag": "\"1\"", "Accept-Ranges": "bytes"]
            stage.server.respond { _ in .response(fields: fields, body: "0123456789") }
            let bytes: Bytes
            switch way {
            case .whole: bytes = try await stage.session.get("x", as: .bytes).value
            case .streamed:
                bytes = try await stage.session.withResponse(from: "x") {
                    try await $0.body.reduce(into: Bytes()) { $0 = Bytes($0.array + $1.array) }
                }
            case .download:
                _ = try await stage.session.download("x", to: .file("\(folder.path)/x"))
                bytes = Bytes(Array(try Data(contentsOf: URL(filePath: "\(folder.path)/x"))))
            }
            #expect(stage.server.requests.count == 1)
            got.withLock { $0 = bytes }
        }
        return got.withLock { $0 }
    }

    @Test(arguments: ["", "short", "much longer than that"], [true, false])
    func `bytes that an interceptor puts in the place of others are whole, whatever the server had said`(
        text: String, isAroundCall: Bool
    ) async throws {
        for way in Way.allCases {
            let bytes = try await Self.bytes(way, isAroundCall: isAroundCall) { _ in .bytes(Bytes(text)) }
            #expect(bytes == Bytes(text), "\(way)")
        }
    }

    /// The length that is announced, and pieces of two bytes.
    static let streams: [(Int?, Int)] = [(nil, 3), (6, 3), (10, 3), (4, 3), (0, 1), (1, 0), (nil, 9), (0, 0)]

    @Test(arguments: streams, [true, false])
    func `a stream of an interceptor's that has another length than it announced is that interceptor's failure`(
        announced: (length: Int?, pieces: Int), isAroundCall: Bool
    ) async throws {
        let (length, pieces) = announced
        for way in Way.allCases {
            func bytes() async throws -> Bytes {
                try await Self.bytes(way, isAroundCall: isAroundCall) { _ in
                    .stream(Made(pieces, announcing: length))
                }
            }
            if length == nil || length == 2 * pieces {
                #expect(try await bytes().count == 2 * pieces, "\(way)")
            } else {
                let error = try await NetworkError.thrown { _ = try await bytes() }
                #expect(error.code == .interceptorFailed && error.reason.contains("announced"), "\(way): \(error)")
            }
        }
    }
}
