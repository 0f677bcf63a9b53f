import BenchmarkLoad
import Dunlin
import FoundationEssentials

extension Load {
    /// The job over Dunlin, where it is called.
    func measureJob(_ session: HTTPSession, _ target: HTTPSession.Target) async throws {
        switch job {
        case .none: break
        case .json: try await measure(GetRecords(session: session, target: target, load: self))
        case .receive: try await measure(Receive(session: session, target: target))
        case .decode:
            let body = try await session.get(target, as: .bytes).value
            try await measure(Decode(body: Data(body), load: self))
        case .form: try await measure(PostForm(session: session, target: target))
        case .multipart: try await measure(PostParts(session: session, target: target, file: file))
        }
    }
}

private struct GetRecords: Sender {
    let session: HTTPSession
    let target: HTTPSession.Target
    let load: Load

    func send() async throws -> Reply {
        let records = try await session.get(target, as: [Record].self)
        return Reply(status: 200, length: records.count == load.records ? load.length : records.count)
    }
}

private struct Receive: Sender {
    let session: HTTPSession
    let target: HTTPSession.Target

    func send() async throws -> Reply {
        Reply(status: 200, length: try await session.get(target, as: Undecoded()).value.count)
    }
}

/// All that the serializer of JSON does but decode.
private struct Undecoded: ResponseSerializer {
    var rules: HTTPSession.ResponseRules { .json }
    var accept: String? { "application/json" }

    func serialize(_ response: HTTPSession.Response<Bytes>) throws -> Data { Data(response.body) }
}

/// Foundation's decoder and nothing around it.
private struct Decode: Sender {
    let body: Data
    let load: Load

    func send() async throws -> Reply {
        let records = try JSONDecoder().decode([Record].self, from: body)
        return Reply(status: 200, length: records.count == load.records ? load.length : records.count)
    }
}

private struct PostForm: Sender {
    let session: HTTPSession
    let target: HTTPSession.Target

    func send() async throws -> Reply {
        var pairs = HTTPSession.Query()
        for (name, value) in Form.pairs { pairs.append(name, value) }
        let response = try await session.post(target, body: .form(pairs), as: .bytes)
        return Reply(status: Int(response.status.code), length: response.value.count)
    }
}

private struct PostParts: Sender {
    let session: HTTPSession
    let target: HTTPSession.Target
    let file: String

    func send() async throws -> Reply {
        let body = try RequestBody.multipart {
            for (name, value) in Form.fields { Part.field(name, value) }
            Part.file(Form.fileField, at: file, fileName: Form.fileName, contentType: .jpeg)
        }
        let response = try await session.post(target, body: body, as: .bytes)
        return Reply(status: Int(response.status.code), length: response.value.count)
    }
}
