import BenchmarkLoad
import Dunlin
import FoundationEssentials

extension Load {
    /// The job over Dunlin, where it is called.
    func measureJob(_ session: HTTPSession, _ target: HTTP.Target) async throws {
        switch job {
        case .none: break
        case .json: try await measure(GetRecords(session: session, target: target, load: self))
        case .timed:
            let clock = DecoderClock()
            try await measure(TimeRecords(session: session, target: target, load: self, clock: clock), clock)
        case .form: try await measure(PostForm(session: session, target: target))
        case .multipart: try await measure(PostParts(session: session, target: target, file: file))
        case .echo: try await measureEchoes(session, target)
        case .open: try await measureOpening(session, target)
        case .events: try await measure(ReadEvents(session: session, target: target))
        case .deltas: try await measure(ReadDeltas(session: session, target: target))
        case .lines: try await measure(ReadLines(session: session, target: target))
        }
    }
}

private struct GetRecords: Sender {
    let session: HTTPSession
    let target: HTTP.Target
    let load: Load

    func send() async throws -> Reply {
        let records = try await session.get(target, as: [Record].self)
        return Reply(status: 200, length: records.count == load.records ? load.length : records.count)
    }
}

/// The same with a decoder that is timed.
private struct TimeRecords: Sender {
    let session: HTTPSession
    let target: HTTP.Target
    let load: Load
    let clock: DecoderClock

    func send() async throws -> Reply {
        let records = try await session.get(target, as: TimedSerializer(clock: clock)).value
        return Reply(status: 200, length: records.count == load.records ? load.length : records.count)
    }
}

private struct TimedSerializer: ResponseSerializer {
    let clock: DecoderClock

    var accept: String? { "application/json" }

    func serialize(_ response: HTTP.WholeResponse) throws -> [Record] {
        try clock.time { try JSONSerializer([Record].self).serialize(response) }
    }
}

private struct PostForm: Sender {
    let session: HTTPSession
    let target: HTTP.Target

    func send() async throws -> Reply {
        var pairs = HTTP.Query()
        for (name, value) in Form.pairs { pairs.append(name, value) }
        let response = try await session.post(target, body: .form(pairs), as: .bytes)
        return Reply(status: response.status.code, length: response.value.count)
    }
}

private struct PostParts: Sender {
    let session: HTTPSession
    let target: HTTP.Target
    let file: String

    func send() async throws -> Reply {
        let body = try RequestBody.multipart {
            for (name, value) in Form.fields { MultipartPart.field(name, value) }
            MultipartPart.file(Form.fileField, at: file, fileName: Form.fileName, contentType: .jpeg)
        }
        let response = try await session.post(target, body: body, as: .bytes)
        return Reply(status: response.status.code, length: response.value.count)
    }
}
