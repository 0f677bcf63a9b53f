import DunlinReactor
import DunlinTesting
import DunlinTypes
import DunlinWire
import Glibc
import Testing

@testable import DunlinTransport

/// A channel over TCP on a loop whose clock stands still; the far end belongs to the test.
final class ChannelPair: Sendable {
    let time = ManualTime()
    let reactor: Reactor
    let channel: Channel
    private let turn: UInt64
    let far: Int32

    /// With `refusesFiles` the kernel sends no files to the channel's socket, only bytes: it says so of a descriptor
    /// that was opened for appending.
    init(refusesFiles: Bool = false) throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        defer { close(listener) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(INADDR_LOOPBACK).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let near = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        let code = withUnsafeMutableBytes(of: &address) { bytes in
            bytes.withMemoryRebound(to: sockaddr.self) { pointer in
                guard bind(listener, pointer.baseAddress, length) == 0, listen(listener, 1) == 0,
                    getsockname(listener, pointer.baseAddress, &length) == 0
                else { return Int32(-1) }
                return connect(near, pointer.baseAddress, length)
            }
        }
        try #require(code == 0)
        far = accept(listener, nil, nil)
        try #require(fcntl(near, F_SETFL, O_NONBLOCK | (refusesFiles ? O_APPEND : 0)) == 0)
        reactor = try Reactor(time: .manual(time))
        channel = try Channel(Socket(adopting: near), on: reactor)
        turn = try #require(channel.beginTurn())
    }

    deinit {
        channel.close()
        reactor.retire()
        close(far)
    }

    func say(_ count: Int) {
        let bytes = [UInt8](repeating: 7, count: count)
        #expect(send(far, bytes, count, Int32(MSG_NOSIGNAL)) == count)
    }

    /// What has come to the far end.
    func hear() -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        let count = recv(far, &bytes, bytes.count, Int32(MSG_DONTWAIT))
        return Array(bytes.prefix(max(count, 0)))
    }

    func hangUp() {
        shutdown(far, Int32(SHUT_WR))
    }

    func context(_ timeouts: Timeouts = Timeouts(), body: RequestBody = .none) -> ExchangeContext {
        let head = RequestHead(method: .get, origin: HTTP.Origin(scheme: .http, host: "a"), target: "/")
        let request = TransportRequest(head: head, body: body, timeouts: timeouts)
        return ExchangeContext(
            request, Cancellation(), ExchangeContext.Terms(WireLimits()), since: time.now, on: reactor)
    }

    func waitForReader() async throws {
        try await eventually("it reads", following: Turns(of: reactor)) {
            reactor.armedDeadlines == 1 && reactor.isResting
        }
    }
}
