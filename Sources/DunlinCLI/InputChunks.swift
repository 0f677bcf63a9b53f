import Dunlin
import DunlinCommandLine
import Glibc

/// What comes through a pipe or a device, piece by piece, however much it is.
///
/// Nothing blocks a thread until more comes, so that a request that ends earlier, or takes too long, ends at once.
struct InputChunks: AsyncSequence, Sendable {
    typealias Element = Bytes
    typealias Failure = any Error

    private let descriptor: Descriptor
    private let name: String

    /// An open file, closed with its last owner. Standard input stays open.
    fileprivate final class Descriptor: Sendable {
        let number: Int32
        init(_ number: Int32) { self.number = number }
        deinit { if number != STDIN_FILENO { close(number) } }
    }

    init(_ source: RequestOptions.DataSource) throws(UsageError) {
        guard case .file(let path) = source else {
            (descriptor, name) = (Descriptor(STDIN_FILENO), "standard input")
            return
        }
        let number = open(path, O_RDONLY | O_CLOEXEC)
        guard number >= 0 else { throw InputFile.unreadable(path, errno) }
        (descriptor, name) = (Descriptor(number), "the file \(path)")
    }

    func makeAsyncIterator() -> Iterator { Iterator(descriptor: descriptor, name: name) }

    struct Iterator: AsyncIteratorProtocol {
        fileprivate let descriptor: Descriptor
        fileprivate let name: String
        private var piece = [UInt8](repeating: 0, count: 64 * 1024)

        fileprivate init(descriptor: Descriptor, name: String) {
            (self.descriptor, self.name) = (descriptor, name)
        }

        mutating func next() async throws -> Bytes? {
            while true {
                var ready = pollfd(fd: descriptor.number, events: Int16(POLLIN), revents: 0)
                if poll(&ready, 1, 0) == 0 {
                    try await Task.sleep(for: .milliseconds(10))
                    continue
                }
                let count = read(descriptor.number, &piece, piece.count)
                if count > 0 { return Bytes(Array(piece[..<count])) }
                if count == 0 { return nil }
                if errno != EINTR, errno != EAGAIN {
                    throw UsageError(description: "\(name) cannot be read: \(String(cString: strerror(errno)))")
                }
            }
        }
    }
}
