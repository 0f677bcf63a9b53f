import Children
import DunlinReactor
import DunlinTesting
import DunlinTypes
import Folders
import Foundation
import Glibc
import Testing

/// A network of its own, made by this test: interfaces, addresses and routes that nobody else has. Gone with its last
/// holder, and with it all that was in it.
final class Namespace: Sendable {
    let name: String
    /// Kept, or `ip` would not find it: it says which program made it.
    private static let prefix = "dunlin-"

    init() throws {
        Self.sweep()
        name = "\(Self.prefix)\(getpid())-\(UInt32.random(in: 0 ..< .max))"
        try Self.ip(["netns", "add", name])
        do { try ip("link", "set", "lo", "up") } catch {
            remove()
            throw error
        }
    }

    deinit {
        remove()
    }

    private func remove() {
        do { try Self.ip(["netns", "del", name]) } catch { Issue.record("left behind: \(name): \(error)") }
    }

    /// What an earlier run left that was killed.
    private static func sweep() {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/run/netns")) ?? []
        for name in names where name.hasPrefix(prefix) {
            guard let pid = Int32(name.dropFirst(prefix.count).prefix { $0 != "-" }), kill(pid, 0) != 0 else {
                continue
            }
            do { try ip(["netns", "del", name]) } catch { Issue.record("cannot be swept: \(name): \(error)") }
        }
    }

    /// A command of `ip` in here.
    func ip(_ arguments: String...) throws { try Self.ip(["-n", name] + arguments) }

    /// Many commands at once.
    func ip(lines: [String]) throws {
        let folder = try Folder()
        try folder.write(lines.joined(separator: "\n"), as: "commands")
        try Self.ip(["-n", name, "-batch", "\(folder.path)/commands"])
    }

    /// A cable to another namespace: what it is called here and there, and the addresses it has at its ends.
    func connect(_ own: String, to other: Namespace, _ its: String, _ addresses: [(String, String)]) throws {
        try ip("link", "add", own, "type", "veth", "peer", "name", its, "netns", other.name)
        for (near, far) in addresses {
            // Without looking whether anybody else has them: they are ready at once.
            let flags = near.contains(":") ? ["nodad"] : []
            try Self.ip(["-n", name, "addr", "add", near, "dev", own] + flags)
            try Self.ip(["-n", other.name, "addr", "add", far, "dev", its] + flags)
        }
        try other.ip("link", "set", its, "up")
        try ip("link", "set", own, "up")
    }

    /// Starts `NetworkPeer`, which is built beside the tests, in here.
    func start(_ arguments: String...) throws -> NetworkProgram { try start(arguments) }

    func start(_ arguments: [String]) throws -> NetworkProgram { try NetworkProgram(arguments, in: self) }

    // MARK: - The program

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    static let program = ["/usr/sbin/ip", "/sbin/ip", "/usr/bin/ip", "/bin/ip"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    fileprivate static func ip(_ arguments: [String]) throws {
        guard let program else { throw Failure(description: "there is no ip") }
        let child = try Child(program, arguments, in: "/")
        guard child.end() else { throw Failure(description: "ip \(arguments.joined(separator: " "))") }
    }

    /// Whether namespaces can be made here: it takes the program, and the right.
    static let areThere: Bool = {
        let name = "\(prefix)\(getpid())-try"
        do {
            try ip(["netns", "add", name])
            try ip(["netns", "del", name])
            return true
        } catch {
            return false
        }
    }()
}

/// A `NetworkPeer` that runs in a namespace; stopped with its last holder.
final class NetworkProgram {
    private let child: Child
    private let folder: Folder
    private let loop: Reactor

    fileprivate init(_ arguments: [String], in namespace: Namespace) throws {
        folder = try Folder()
        loop = try ReactorGroup.shared.reactors()[0]
        try folder.write([], as: "output")
        let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let program = URL(filePath: own).deletingLastPathComponent().appending(path: "NetworkPeer").path
        let output = open("\(folder.path)/output", O_WRONLY | O_CLOEXEC)
        defer { close(output) }
        child = try Child(
            Namespace.program ?? "ip", ["netns", "exec", namespace.name, program] + arguments, in: "/",
            descriptors: [1: output])
    }

    deinit {
        child.stop()
    }

    /// The threads that Dunlin has started there, by name, and how often each was woken.
    var threads: [(name: String, wakes: Int)] {
        let tasks = "/proc/\(child.pid)/task"
        let numbers = (try? FileManager.default.contentsOfDirectory(atPath: tasks)) ?? []
        return numbers.sorted().compactMap { number in
            // "Name:\tdunlin-0", and so on.
            let text = FileManager.default.contents(atPath: "\(tasks)/\(number)/status") ?? Data()
            let pairs = String(decoding: text, as: UTF8.self).split(separator: "\n").map { $0.split(separator: "\t") }
            let value = { (key: String) in pairs.first { $0.first == "\(key):" }?.last.map(String.init) }
            guard let name = value("Name"), name.hasPrefix("dunlin-") else { return nil }
            return (name, Int(value("voluntary_ctxt_switches") ?? "") ?? 0)
        }
    }

    /// It does nothing until it may go on.
    func halt() { child.signal(SIGSTOP) }

    func goOn() { child.signal(SIGCONT) }

    /// How often the kernel had no room for what it had to tell a listener there.
    var lostNews: Int {
        let text = FileManager.default.contents(atPath: "/proc/\(child.pid)/net/netlink") ?? Data()
        // Address, protocol, number, groups, two queues, dump, locks, drops, inode; the first line names them.
        return String(decoding: text, as: UTF8.self).split(separator: "\n").dropFirst()
            .compactMap { $0.split(separator: " ").dropFirst(8).first }.compactMap { Int($0) }.reduce(0, +)
    }

    var lines: [String] { folder.text(of: "output").split(separator: "\n").map(String.init) }

    /// Waits until it has said just this, line by line.
    func says(_ expected: String..., sourceLocation: SourceLocation = #_sourceLocation) async {
        await reaches { $0.count >= expected.count }
        // What follows too soon is too much.
        #expect(lines == expected, sourceLocation: sourceLocation)
    }

    /// Waits until this is the last that it has said.
    func comes(to expected: String, sourceLocation: SourceLocation = #_sourceLocation) async {
        await reaches { $0.last == expected }
        #expect(lines.last == expected, sourceLocation: sourceLocation)
    }

    /// Waits for half a minute; what it has said by then is for the caller to judge.
    private func reaches(_ isSo: ([String]) -> Bool) async {
        do {
            try await eventually("what it should say") { isSo(lines) }
        } catch is NeverCame {
        } catch {
            Issue.record(error)
        }
    }

    func pause(_ duration: Duration) async {
        let end = loop.now().advanced(by: duration.clampedNanoseconds)
        _ = await ValueWaiter<Void>(on: loop).wait(until: end, cancellation: nil)
    }
}

extension Trait where Self == ConditionTrait {
    /// Skipped, loudly, where no network namespaces can be made.
    static var needsNamespaces: Self {
        .enabled("network namespaces want root, CAP_SYS_ADMIN and iproute2: run .ci/install test, and as root") {
            Namespace.areThere
        }
    }
}
