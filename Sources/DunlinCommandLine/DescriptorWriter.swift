internal import Dunlin
internal import DunlinDisplay
internal import Glibc
internal import Synchronization

/// Writes to one descriptor, and knows how the last line ended and what went wrong.
///
/// A descriptor that cannot take more now is waited for. After any other failure nothing is written any more; the first
/// failure is kept for whoever asks.
final class DescriptorWriter: Sendable {
    private struct State {
        var last: UInt8?
        var failure: OutputFailure?
    }

    let descriptor: Int32
    let name: String
    let screen: Screen
    private let state = Mutex(State())

    init(_ descriptor: Int32, name: String) {
        (self.descriptor, self.name, screen) = (descriptor, name, Screen(of: descriptor))
    }

    var failure: OutputFailure? { state.withLock { $0.failure } }
    /// Whether the last line has not ended.
    var isWithinLine: Bool { state.withLock { $0.failure == nil && $0.last != nil && $0.last != 0x0A } }

    func write(_ bytes: Bytes) {
        guard failure == nil, !bytes.isEmpty else { return }
        let code = bytes.withUnsafeBytes { DescriptorOutput.write($0, to: descriptor) }
        let last = bytes[bytes.count - 1]
        state.withLock { state in
            if code == 0 { state.last = last } else { state.failure = OutputFailure(name, code) }
        }
    }

    /// Closes the descriptor: some file systems say only then that there was no room.
    func close() {
        guard Glibc.close(descriptor) != 0, errno != EINTR else { return }
        let failure = OutputFailure(name, errno)
        state.withLock { $0.failure = $0.failure ?? failure }
    }
}

/// Output that could not be written.
package struct OutputFailure: Error, Equatable, CustomStringConvertible {
    package let name: String
    private let number: Int32

    init(_ name: String, _ number: Int32) {
        (self.name, self.number) = (name, number)
    }

    /// Whether the reader has gone, who needs no message.
    package var isOfClosedPipe: Bool { number == EPIPE }

    package var description: String {
        number == EBADF ? "\(name) is closed" : "\(name) cannot be written to: \(String(cString: strerror(number)))"
    }
}
