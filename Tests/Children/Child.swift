internal import Foundation
public import Glibc

/// A program that was started here and is stopped by its number.
///
/// Not Foundation's `Process`, which reads beyond the end of the list of open files: with a thousand of them open, as
/// there are when all tests run at once, that may be the end of the parent.
public struct Child: Sendable {
    public struct Failure: Error, CustomStringConvertible {
        public let description: String

        public init(description: String) {
            self.description = description
        }
    }

    /// How a program ended.
    public struct End: Sendable {
        /// What `waitpid` says.
        let raw: Int32

        public var wasKilled: Bool { raw & 0x7F != 0 }
        /// The exit status, or the number of the signal that ended it.
        public var status: Int32 { wasKilled ? raw & 0x7F : raw >> 8 & 0xFF }
    }

    public let pid: pid_t

    /// Our own environment, for those who are to have it.
    public static var ownEnvironment: [String] {
        ProcessInfo.processInfo.environment.map { "\($0.key)=\($0.value)" }
    }

    /// What a sanitizer has been told; without it, one in a child finds faults that are known to be none.
    private static var sanitizerOptions: [String] {
        ["TSAN_OPTIONS", "ASAN_OPTIONS"].compactMap { name in
            ProcessInfo.processInfo.environment[name].map { "\(name)=\($0)" }
        }
    }

    /// `descriptors`: which of ours the child gets, by the number that it has there. Of the standard ones it gets
    /// /dev/null where nothing is said.
    public init(
        _ program: String, _ arguments: [String], in folder: String = "/", environment: [String] = [],
        descriptors: [Int32: Int32] = [:]
    ) throws {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for descriptor: Int32 in 0...2 where descriptors[descriptor] == nil {
            posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0)
        }
        // A duplicate onto itself would keep its close-on-exec flag where the C library is old.
        for (number, own) in descriptors { posix_spawn_file_actions_adddup2(&actions, own, number) }
        // The C library's own way to another folder is not there for Swift; env goes there and becomes the program.
        let env = "/usr/bin/env"
        let command = [env, "-C", folder, program] + arguments
        var words: [UnsafeMutablePointer<CChar>?] = command.map { strdup($0) } + [nil]
        var variables: [UnsafeMutablePointer<CChar>?] =
            (environment + Self.sanitizerOptions).map { strdup($0) } + [nil]
        defer { for word in words + variables { free(word) } }
        // The thread that this runs on may have signals blocked, which a child would inherit and never end by.
        var attributes = posix_spawnattr_t()
        var none = sigset_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        // Nor does it ignore what this process ignores.
        var pipe = sigset_t()
        sigemptyset(&pipe)
        sigaddset(&pipe, SIGPIPE)
        posix_spawnattr_setsigdefault(&attributes, &pipe)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        var pid = pid_t()
        let code = posix_spawn(&pid, env, &actions, &attributes, &words, &variables)
        guard code == 0 else {
            throw Failure(description: "\(program) did not start: \(String(cString: strerror(code)))")
        }
        self.pid = pid
    }

    public func signal(_ number: Int32) { kill(pid, number) }

    /// Returns when it is gone.
    public func stop(by number: Int32 = SIGTERM) {
        kill(pid, number)
        _ = waitForEnd()
    }

    /// Returns when it has ended by itself; whether it says that it did what it should.
    public func end() -> Bool { waitForEnd().raw == 0 }

    /// The same without holding a thread of the pool.
    public func ended() async -> End {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: waitForEnd()) }
        }
    }

    private func waitForEnd() -> End {
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0 && errno == EINTR {}
        return End(raw: status)
    }
}
