internal import DunlinReactor
internal import Glibc

extension LoopbackServer {
    /// A file descriptor that is closed exactly once, at the end of its owner's life.
    struct Descriptor: ~Copyable, Sendable {
        let number: Int32

        /// Takes over the result of a system call; a negative number is its failure.
        init(adopting number: Int32) throws(Errno) {
            guard number >= 0 else { throw .last }
            self.number = number
        }

        deinit { _ = Glibc.close(number) }

        /// Gives up the number; its next owner must close it.
        consuming func release() -> Int32 {
            let number = number
            discard self
            return number
        }

        /// Closes the descriptor now rather than at the end of the scope.
        consuming func close() {}
    }
}
