import BenchmarkLoad
import Foundation
import FoundationNetworking

extension Load {
    /// The job over URLSession, with what Foundation has for it.
    func measureJob(_ session: URLSession, _ request: URLRequest) async throws {
        switch job {
        case .none: break
        // URLSession has no part in these scenarios.
        case .echo, .open, .events, .deltas, .lines: throw URLError(.unsupportedURL)
        case .json: try await measure(GetRecords(session: session, request: request, load: self))
        case .timed:
            let clock = DecoderClock()
            try await measure(GetRecords(session: session, request: request, load: self, clock: clock), clock)
        case .form: try await measure(PostForm(session: session, request: request))
        case .multipart:
            try await measure(PostParts(session: session, request: request, file: URL(fileURLWithPath: file)))
        }
    }

    fileprivate func reply(_ records: [Record], status: Int = 200) -> Reply {
        Reply(status: status, length: records.count == self.records ? length : records.count)
    }
}

extension URLResponse {
    fileprivate var status: Int { (self as? HTTPURLResponse)?.statusCode ?? 0 }
}

struct GetRecords: Sender {
    let session: URLSession
    let request: URLRequest
    let load: Load
    var clock: DecoderClock?

    func send() async throws -> Reply {
        let (body, response) = try await session.data(for: request)
        let decode = { try JSONDecoder().decode([Record].self, from: body) }
        return load.reply(try clock?.time(decode) ?? decode(), status: response.status)
    }
}

/// Foundation knows no forms: escaped by hand, with its own escaping.
struct PostForm: Sender {
    let session: URLSession
    let request: URLRequest

    private static let unreserved = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")

    func send() async throws -> Reply {
        var request = request
        request.httpMethod = "POST"
        request.setValue("application/x-www-form-urlencoded", forHTTPHeaderField: "Content-Type")
        let pairs = Form.pairs.map { "\(Self.escaped($0))=\(Self.escaped($1))" }
        request.httpBody = Data(pairs.joined(separator: "&").utf8)
        let (body, response) = try await session.data(for: request)
        return Reply(status: response.status, length: body.count)
    }

    private static func escaped(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? ""
    }
}

/// Nor parts: they are put together in memory, from a file that is mapped.
struct PostParts: Sender {
    let session: URLSession
    let request: URLRequest
    let file: URL

    func send() async throws -> Reply {
        let boundary = "Boundary+\(UUID().uuidString)"
        var request = request
        request.httpMethod = "POST"
        request.setValue("multipart/form-data; boundary=\(boundary)", forHTTPHeaderField: "Content-Type")
        var form = Data()
        for (name, value) in Form.fields {
            let head = "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(name)\"\r\n\r\n"
            form.append(Data("\(head)\(value)\r\n".utf8))
        }
        let named = "name=\"\(Form.fileField)\"; filename=\"\(Form.fileName)\""
        let head = "--\(boundary)\r\nContent-Disposition: form-data; \(named)\r\nContent-Type: \(Form.fileType)\r\n\r\n"
        form.append(Data(head.utf8))
        form.append(try Data(contentsOf: file, options: .alwaysMapped))
        form.append(Data("\r\n--\(boundary)--\r\n".utf8))
        let (body, response) = try await session.upload(for: request, from: form)
        return Reply(status: response.status, length: body.count)
    }
}
