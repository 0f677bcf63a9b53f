import Dunlin
import DunlinTesting
import Foundation

/// One errand of a storm of promises, run.
struct PromiseRun: Sendable {
    let errand: PromiseErrand
    let session: HTTPSession
    let servers: PromiseServers
    let folder: String

    /// Returns when the request has ended, however it did.
    func go() async -> PromiseOutcome {
        let start = ContinuousClock.now
        let end: PromiseOutcome.End
        switch errand.cancel {
        case .never: end = await ended()
        case .task(let delay):
            let task = Task { await ended() }
            await pause(delay)
            task.cancel()
            end = await task.value
        case .handle(let delay):
            async let running = ended()
            await pause(delay)
            await session.tasks.cancel(tagged: errand.label)
            end = await running
        }
        return PromiseOutcome(errand: errand, end: end, elapsed: ContinuousClock.now - start)
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
        switch errand.reading {
        case .whole:
            let response = try await session.request(errand.method, target, options: options, as: .bytes)
            return Self.end(response.status, response.fields, response.body)
        case .stream:
            let response = try await session.stream(target, method: errand.method, options: options)
            return Self.end(response.status, response.fields, try await Self.collect(response.body))
        case .scope:
            return try await session.withResponse(from: target, method: errand.method, options: options) { response in
                Self.end(response.status, response.fields, try await Self.collect(response.body))
            }
        case .download: return try await downloaded()
        case .handle, .suspended:
            let task = try session.task(target, method: errand.method, options: options)
            task.resume()
            if errand.reading == .suspended {
                task.suspend()
                await pause(.microseconds(errand.number % 1000))
                task.resume()
            }
            let response = try await task.response
            return Self.end(response.status, response.fields, response.body)
        }
    }

    private func downloaded() async throws -> PromiseOutcome.End {
        let path = "\(folder)/\(errand.number)"
        let response = try await session.download(
            target, method: errand.method, options: options, to: .file(path))
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
    private var secret: String { Secret.text(of: errand.user, at: errand.site) }

    private var target: HTTP.Target {
        let user = errand.way == .userInfo ? "\(errand.user.rawValue):\(secret)@" : ""
        let url = "http://\(user)\(errand.site.host):\(servers.port(of: errand.site))\(errand.target)"
        return HTTP.Target(url)
    }

    private var options: HTTPSession.Options {
        var options = HTTPSession.Options(tags: [errand.label])
        options.validatesResponse = false
        options.fields["Accept-Language"] = errand.language
        if errand.hasOwnHost { options.fields["Host"] = "virtual.test" }
        if let name = errand.constantField { options.fields[name] = "constant" }
        options.cache = errand.mode
        options.coalesces = errand.coalesces
        if errand.isSmall { options.bodyLimit = .value(PromiseErrand.smallest) }
        if let kind = errand.guardKind { options.guard = .value(servers.rules(kind)) }
        if errand.site == .alias {
            options.hostOverrides = [Site.alias.host: .v4(0x7F00_0001, port: servers.port(of: errand.aliasServer))]
        }
        if errand.page == .slow { options.timeouts.total = .milliseconds(30) }
        identify(&options)
        return options
    }

    private func identify(_ options: inout HTTPSession.Options) {
        let user = errand.user
        switch errand.way {
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
