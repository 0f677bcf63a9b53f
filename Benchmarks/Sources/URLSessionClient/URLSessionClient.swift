import BenchmarkLoad
import Foundation
import FoundationNetworking

/// URLSession as an expert drives it: one session, as many connections as callers, no cache to look into.
@main
struct URLSessionClient {
    static func main() async throws {
        let load = try Load()
        guard let url = URL(string: "\(load.scheme)://\(load.host):\(load.port)\(load.path)") else {
            throw URLError(.badURL)
        }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpMaximumConnectionsPerHost = load.concurrency
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        configuration.urlCache = nil
        configuration.httpCookieStorage = nil
        let session = URLSession(configuration: configuration)
        var request = URLRequest(url: url)
        if load.isFresh { request.setValue("close", forHTTPHeaderField: "Connection") }
        if load.job != .none {
            try await load.measureJob(session, request)
        } else if !load.output.isEmpty {
            try await load.measure(Keep(session: session, request: request, output: load.output))
        } else if load.isBulk {
            try await load.measure(Download(request: request, configuration: configuration))
        } else if load.upload > 0 {
            request.httpMethod = "PUT"
            let isOwn = load.file.isEmpty
            let file = isOwn ? try Self.emptyFile(of: load.upload) : URL(fileURLWithPath: load.file)
            defer { if isOwn { unlink(file.path) } }
            try await load.measure(Upload(session: session, request: request, file: file))
        } else {
            try await load.measure(Get(session: session, request: request))
        }
        session.invalidateAndCancel()
    }

    private static func emptyFile(of length: Int) throws -> URL {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("dunlin-upload-\(getpid())")
        let isCreated = FileManager.default.createFile(atPath: file.path, contents: nil)
        guard isCreated else { throw URLError(.cannotCreateFile) }
        try FileHandle(forWritingTo: file).truncate(atOffset: UInt64(length))
        return file
    }
}

struct Get: Sender {
    let session: URLSession
    let request: URLRequest

    func send() async throws -> Reply {
        let (body, response) = try await session.data(for: request)
        return Reply(status: (response as? HTTPURLResponse)?.statusCode ?? 0, length: body.count)
    }
}

struct Download: Sender {
    let request: URLRequest
    let configuration: URLSessionConfiguration

    func send() async throws -> Reply { try await Counter.download(request, configuration) }
}

/// Into a file, by a download task.
struct Keep: Sender {
    let session: URLSession
    let request: URLRequest
    let output: String

    func send() async throws -> Reply {
        let (file, response) = try await session.download(for: request)
        let output = URL(fileURLWithPath: output)
        try FileManager.default.moveItem(at: file, to: output)
        let size = try FileManager.default.attributesOfItem(atPath: output.path)[.size] as? Int ?? 0
        return Reply(status: (response as? HTTPURLResponse)?.statusCode ?? 0, length: size)
    }
}

struct Upload: Sender {
    let session: URLSession
    let request: URLRequest
    let file: URL

    func send() async throws -> Reply {
        let (body, response) = try await session.upload(for: request, fromFile: file)
        return Reply(status: (response as? HTTPURLResponse)?.statusCode ?? 0, length: body.count)
    }
}

/// Counts the bytes of a body and drops them: there is no asynchronous sequence of bytes on Linux.
final class Counter: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    private var count = 0
    private let done: @Sendable (Int, URLResponse?, (any Error)?) -> Void

    init(_ done: @escaping @Sendable (Int, URLResponse?, (any Error)?) -> Void) {
        self.done = done
    }

    static func download(_ request: URLRequest, _ configuration: URLSessionConfiguration) async throws -> Reply {
        try await withCheckedThrowingContinuation { continuation in
            let counter = Counter { count, response, error in
                if let error { return continuation.resume(throwing: error) }
                let status = (response as? HTTPURLResponse)?.statusCode ?? 0
                continuation.resume(returning: Reply(status: status, length: count))
            }
            let session = URLSession(configuration: configuration, delegate: counter, delegateQueue: nil)
            session.dataTask(with: request).resume()
            session.finishTasksAndInvalidate()
        }
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        count += data.count
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        done(count, task.response, error)
    }
}
