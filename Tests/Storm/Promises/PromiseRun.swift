import Dunlin
import DunlinTesting
import Foundation

/// One call of a storm of promises, run.
struct PromiseRun: Sendable {
    let call: PromiseCall
    let session: HTTPSession
    let servers: PromiseServers
    let folder: String

    /// Returns when the request has ended, however it did.
    func go() async -> PromiseOutcome {
        let start = ContinuousClock.now
        let end: PromiseOutcome.End
        switch call.cancel {
        case .never: end = await ended()
        case .task(let delay):
            let task = Task { await ended() }
            await pause(delay)
            task.cancel()
            end = await task.value
        case .handle(let delay):
            async let running = ended()
            await pause(delay)
            await session.tasks.cancel(tagged: call.label)
            end = await running
        }
        return PromiseOutcome(call: call, end: end, elapsed: ContinuousClock.now - start)
    }

    private func pause(_ duration: Duration) async {
        // Cut short by nobody: the storm's own tasks are never cancelled.
        do { try await Task.sleep(for: duration) } catch { return }
    }

    private func ended() async -> PromiseOutcome.End {
        do {
            return try await response()
        } catch let error as NetworkError {
            return .failure(error.code, text: "\(error)")
        } catch is CancellationError {
            return .cancelledTask
        } catch {
            return .other("\(type(of: error)): \(error)")
        }
    }

    private func response() async throws -> PromiseOutcome.End {
        switch call.reading {
        case .whole:
            let response = try await session.request(target, method: call.method, options: options, as: .bytes)
            return Self.end(response.status, response.fields, response.body)
        case .stream:
            let response = try await session.stream(target, method: call.method, options: options)
            return Self.end(response.status, response.fields, try await Self.collect(response.body))
        case .scope:
            return try await session.withResponse(from: target, method: call.method, options: options) { response in
                Self.end(response.status, response.fields, try await Self.collect(response.body))
            }
        case .download: return try await downloaded()
        case .handle, .suspended:
            let task = try session.task(target, method: call.method, options: options)
            task.resume()
            if call.reading == .suspended {
                task.suspend()
                await pause(.microseconds(call.number % 1000))
                task.resume()
            }
            let response = try await task.response
            return Self.end(response.status, response.fields, response.body)
        }
    }

    private func downloaded() async throws -> PromiseOutcome.End {
        let path = "\(folder)/\(call.number)"
        let response = try await session.download(
            target, method: call.method, options: options, to: .file(path))
        let data = try Data(contentsOf: URL(filePath: path))
        try FileManager.default.removeItem(atPath: path)
        return Self.end(response.status, response.fields, Bytes(data))
    }

    private static func collect(_ body: BodySequence) async throws -> Bytes {
        var whole: [UInt8] = []
        for try await piece in body { whole += piece }
        return Bytes(whole)
    }

    private static func end(_ status: HTTP.Status, _ fields: Fields, _ body: Bytes) -> PromiseOutcome.End {
        let lines = String(decoding: body.array, as: UTF8.self).split(separator: "\n")
        let answers = lines.map { Answered($0) }
        return .response(
            status, head: fields["Promise"].flatMap { Answered($0) }, body: answers.compactMap(\.self),
            bytes: body.count, isText: !answers.contains { $0 == nil })
    }
}

// MARK: - What is asked for

extension PromiseRun {
    private var secret: String { Secret.text(of: call.user, at: call.site) }

    private var target: HTTP.Target {
        let user = call.way == .userInfo ? "\(call.user.rawValue):\(secret)@" : ""
        let url = "http://\(user)\(call.site.host):\(servers.port(of: call.site))\(call.target)"
        return HTTP.Target(url)
    }

    private var options: HTTPSession.Options {
        var options = HTTPSession.Options(tags: [call.label])
        options.validatesResponse = false
        options.fields["Accept-Language"] = call.language
        if call.hasOwnHost { options.fields["Host"] = "virtual.test" }
        if let name = call.constantField { options.fields[name] = "constant" }
        options.cacheMode = call.mode.map { .value($0) } ?? .session
        options.coalesces = call.coalesces
        if call.isSmall { options.bodyLimit = .value(PromiseCall.smallest) }
        if let kind = call.guardKind { options.guard = .value(servers.rules(kind)) }
        if call.site == .alias {
            options.hostOverrides = [Site.alias.host: .v4(0x7F00_0001, port: servers.port(of: call.aliasServer))]
        }
        if call.page == .slow { options.timeouts.total = .milliseconds(30) }
        identify(&options)
        return options
    }

    private func identify(_ options: inout HTTPSession.Options) {
        let user = call.user
        switch call.way {
        case .session, .userInfo: break
        case .none: options.credentials = .none
        case .field: options.fields["Authorization"] = "Bearer \(secret)"
        case .basic: options.credentials = .basic(user: user.rawValue, password: secret)
        case .bearer: options.credentials = .bearer(token: secret)
        case .password: options.credentials = .password(user: user.rawValue, password: secret)
        case .handler: options.authenticationHandler = PromiseServers.handler(of: user)
        case .secretField: options.fields["X-Session-Token"] = secret
        }
    }
}

extension PromiseServers {
    /// Knows a user's password for each site.
    static func handler(of user: User) -> HTTPSession.AuthenticationHandler {
        { challenge in
            guard case .protectionSpace = challenge.kind,
                let site = Site.allCases.first(where: { challenge.origin.host == $0.host })
            else { return .performDefault }
            return .useCredential(.password(user: user.rawValue, password: Secret.text(of: user, at: site)))
        }
    }

    func rules(_ kind: GuardKind) -> HTTPSession.Guard {
        var rules = HTTPSession.Guard.nothing
        rules.allowedAddresses = ["127.0.0.1", "::1"]
        switch kind {
        case .address: rules.allowedAddresses = ["127.0.0.1"]
        case .port: rules.ports = [port(of: .home)]
        case .host: rules.deniedHosts = [Site.away.host]
        }
        return rules
    }
}
